// The times of a run as JSON: invocations, tasks with what they waited for, FIFOs with their curves, external memory.
// With STC_SIM_BRIEF in the environment lists of waits and curves are left empty: for searches of many runs.
#ifndef STC_SIM_TIMING_REPORT_H
#define STC_SIM_TIMING_REPORT_H

#ifdef STC_SIM_TIMED

#include "bounds.h"
#include "engine.h"
#include "json.h"

namespace stc_sim {

inline bool brief() {
  static const bool wanted = std::getenv("STC_SIM_BRIEF") != nullptr;
  return wanted;
}

// A list that a brief report leaves empty.
template <class Items>
Items unless_brief(const Items &items) { return brief() ? Items() : items; }

inline std::string cycles_json(Cycle at) { return std::to_string(at); }

inline std::string call_json(const std::pair<Cycle, Cycle> &call) {
  return "[" + cycles_json(call.first) + ", " + cycles_json(call.second) + "]";
}

inline std::string invocation_json(const std::pair<std::string, Cycle> &invocation) {
  return "[" + json_text(invocation.first) + ", " + cycles_json(invocation.second) + "]";
}

inline std::string stall_json(const Stall &stall) {
  return "[" + std::to_string(stall.channel) + ", " + (stall.reads ? "\"read\"" : "\"write\"") + ", " + cycles_json(stall.begin) +
         ", " + cycles_json(stall.end) + ", " + cycles_json(stall.cycles) + "]";
}

inline std::string task_times_json(const TaskTimes &task) {
  return "{" + json_field("task", json_text(task.path)) + ", " + json_field("calls", json_list(task.calls, call_json)) + ", " +
         json_field("stalled_reading", cycles_json(task.stalled_reading)) + ", " +
         json_field("stalled_writing", cycles_json(task.stalled_writing)) + ", " +
         json_field("stalls", json_list(unless_brief(task.stalls), stall_json)) + "}";
}

inline std::string point_json(const std::pair<Cycle, std::uint64_t> &point) {
  return "[" + cycles_json(point.first) + ", " + std::to_string(point.second) + "]";
}

inline std::string channel_times_json(std::pair<std::string, ChannelClock> &channel) {
  ChannelClock &clock = channel.second;
  return "{" + json_field("channel", json_text(channel.first)) + ", " +
         json_field("latency", cycles_json(clock.latency + clock.crossing)) + ", " +
         json_field("crossing", cycles_json(clock.crossing)) + ", " +
         json_field("lead", cycles_json(clock.lead)) + ", " +
         json_field("declared_depth", std::to_string(clock.declared_depth)) + ", " +
         json_field("highest_occupancy", std::to_string(clock.highest())) + ", " +
         json_field("stalled_reader", cycles_json(clock.stalled_reader)) + ", " +
         json_field("stalled_writer", cycles_json(clock.stalled_writer)) + ", " +
         json_field("produced", json_list(unless_brief(clock.produced()), point_json)) + ", " +
         json_field("consumed", json_list(unless_brief(clock.consumed()), point_json)) + "}";
}

inline std::string port_json(const std::pair<const std::string, MemoryPort> &port) {
  return "{" + json_field("port", json_text(port.first)) + ", " +
         json_field("words", std::to_string(port.second.transferred)) + ", " +
         json_field("accesses", std::to_string(port_accesses[port.first].count())) + ", " +
         json_field("first_write", port.second.first_write == 0 ? std::string("null") : cycles_json(port.second.first_write)) + "}";
}

inline std::string bytes_json(const double &bytes) { return std::to_string(std::uint64_t(bytes + 0.5)); }

inline std::string traffic_json(const std::pair<const std::string, MemoryTraffic> &channel) {
  const MemoryTraffic &traffic = channel.second;
  return "{" + json_field("channel", json_text(channel.first)) + ", " + json_field("busy", cycles_json(traffic.busy())) + ", " +
         json_field("span", cycles_json(traffic.span())) + ", " +
         json_field("read", json_list(unless_brief(traffic.read()), bytes_json)) + ", " +
         json_field("written", json_list(unless_brief(traffic.written()), bytes_json)) + "}";
}

inline std::string release_json(const Release &release) {
  return "[" + json_text(release.name) + ", " + json_text(release.from) + "]";
}

// A pipelined loop that ran, as the source has it.
inline std::string loop_json(const TimingTable::Sites::value_type &loop) {
  const LoopSite &site = *loop.first.first;
  return "{" + json_field("function", json_text(loop.first.second)) + ", " + json_field("label", json_text(site.label)) + ", " +
         json_field("line", std::to_string(site.line)) + ", " + json_field("pragma_ii", std::to_string(site.ii)) + ", " +
         json_field("ii", cycles_json(loop.second.ii)) + ", " + json_field("depth", cycles_json(loop.second.depth)) + "}";
}

// Also where a run was abandoned: what its tasks and channels had come to.
inline std::string timing_json() {
  for (const Task *task = scheduler.alive(); task != nullptr; task = task->next_alive) {
    if (!task->done && task->region != nullptr) timeline.end(task->path, task->clock, reached(*task));
  }
  for (Channel *c = scheduler.channels; c != nullptr; c = c->next_alive()) c->keep_clock();
  return "{" + json_field("invocations", json_list(timeline.invocations, invocation_json)) + ",\n  " +
         json_field("tasks", json_list(timeline.tasks, task_times_json)) + ",\n  " +
         json_field("channels", json_list(timeline.channels, channel_times_json)) + ",\n  " +
         json_field("releases", json_list(timeline.releases, release_json)) + ",\n  " +
         json_field("loops", json_list(timing_table().sites(), loop_json)) + ",\n  " +
         json_field("ports", json_list(timing_table().ports, port_json)) + ",\n  " +
         json_field("traffic", json_list(timing_table().traffic, traffic_json)) + "}";
}

}  // namespace stc_sim
#endif
#endif
