// Why nothing can go on, in words and in fields.
#ifndef STC_SIM_DIAGNOSIS_H
#define STC_SIM_DIAGNOSIS_H

#include <sstream>

#include "iteration.h"

namespace stc_sim {

inline std::uint64_t Scheduler::transfers() const {
  std::uint64_t sum = finished_channels_.size();
  for (const Channel *c = channels; c != nullptr; c = c->next_alive()) sum += c->tokens_written() + c->tokens_read();
  return sum;
}

inline Blocked describe(const Task &task) {
  Blocked b;
  b.task = task.path;
  if (const LoopRun *loop = &task == scheduler.current ? scheduler.loop : task.loop) {
    b.loop = loop->site.label;
    b.line = loop->site.line;
  }
  if (task.wait == Wait::none) {
    b.waits_to = "poll";
  } else if (task.wait == Wait::join) {
    b.waits_to = "join";
  } else if (task.wait == Wait::acquire) {
    b.waits_to = "acquire";
    b.channel = task.acquires;
    b.kind = "variable";
    b.peer = task.acquires_from->path;
  } else {
    const Channel &c = *task.channel;
    b.waits_to = task.wait == Wait::read ? "read" : "write";
    b.channel = c.name();
    b.kind = c.kind();
    const std::string &seen = task.wait == Wait::read ? c.producer() : c.consumer();
    b.peer = seen.empty() ? c.peer_of(task.path) : seen;
    b.peer_started = !seen.empty();
    b.bounded = c.bounded();
    b.occupancy = c.occupancy() - c.leaving_tokens();
    b.depth = c.depth();
    b.written = c.tokens_written() - (c.leaving_tokens() - c.held_back_tokens());
    b.read = c.tokens_read();
    b.uncommitted_reads = c.uncommitted_reads();
    b.held_back = c.held_back_tokens();
  }
  return b;
}

inline std::string sentence(const Blocked &b) {
  std::ostringstream text;
  text << "  " << b.task;
  if (b.waits_to == "join") {
    text << " waits for its tasks to end";
  } else if (b.waits_to == "poll") {
    text << " polls without success";
  } else if (b.waits_to == "acquire") {
    text << " waits for " << b.peer << " to return and release '" << b.channel << "'";
  } else {
    const bool reads = b.waits_to == "read";
    text << " waits to " << b.waits_to << " " << b.kind << " '" << b.channel << "': " << b.occupancy;
    if (b.bounded) text << " of " << b.depth;
    text << " slots taken, " << b.written << " tokens written, " << b.read << " read";
    if (b.uncommitted_reads > 0) text << " (" << b.uncommitted_reads << " by an iteration that has not committed)";
    if (b.held_back > 0) text << " (" << b.held_back << " of the written ones still in the writer's pipeline)";
    text << "; " << (reads ? "writer " : "reader ") << (b.peer.empty() ? "unknown" : "is " + b.peer)
         << (b.peer_started || b.peer.empty() ? "" : ", which has not come to it");
  }
  if (b.line > 0) {
    text << "; in loop " << (b.loop.empty() ? "" : b.loop + " ") << "at line " << b.line;
  }
  return text.str();
}

inline void Scheduler::stalled(const char *kind) {
  Outcome reason;
  reason.kind = kind;
  for (const Task *task = alive_; task != nullptr; task = task->next_alive) {
    if (!task->done) reason.blocked.insert(reason.blocked.begin(), describe(*task));
  }
  if (!session_) reason.blocked.push_back(describe(host_));
  reason.text = std::string(kind) + ": no task can go on, " + std::to_string(reason.blocked.size()) + " have not ended";
  for (const Blocked &b : reason.blocked) reason.text += "\n" + sentence(b);
  fail(std::move(reason));
}

#ifdef STC_SIM_TIMED
inline std::string progress(const Task &task, Cycle at) {
  std::string text = "\n  " + task.path + " is at cycle " + std::to_string(at);
  const Blocked b = describe(task);
  if (b.waits_to == "read" || b.waits_to == "write") text += ", " + b.waits_to + "s " + b.kind + " '" + b.channel + "'";
  if (b.line > 0) text += ", in loop " + b.loop + (b.loop.empty() ? "" : " ") + "at line " + std::to_string(b.line);
  return text;
}

inline void Scheduler::beyond_limit(Cycle at) const {
  Outcome reason;
  reason.kind = "limit";
  reason.text = "task " + current->path + " is at cycle " + std::to_string(at) + ", beyond the limit of " +
                std::to_string(timeline.limit) + "; still at work:";
  std::vector<const Task *> working;
  for (const Task *task = alive_; task != nullptr; task = task->next_alive) {
    if (!task->done && task->region != nullptr && task->wait != Wait::join) working.push_back(task);
  }
  for (auto task = working.rbegin(); task != working.rend(); ++task) {
    reason.text += progress(**task, *task == current ? at : stc_sim::reached(**task));
  }
  scheduler.fail(std::move(reason));
}
#endif

// Every channel of the design and of the testbench, ended or alive, by name.
inline std::vector<ChannelRecord> channel_records() {
  std::vector<ChannelRecord> records = scheduler.finished_channels();
  for (const Channel *c = scheduler.channels; c != nullptr; c = c->next_alive()) records.push_back(c->record());
  std::stable_sort(records.begin(), records.end(),
                   [](const ChannelRecord &a, const ChannelRecord &b) { return a.name < b.name; });
  return records;
}

// After a run that ended: a token nobody read means that producer and consumer disagree on how many there are.
inline Outcome check_leftovers() {
  Outcome outcome;
  for (const ChannelRecord &c : channel_records()) {
    if (c.left_over == 0 || c.external) continue;
    outcome.ok = false;
    outcome.kind = "leftover";
    outcome.text += (outcome.text.empty() ? "" : "\n") + c.kind + " '" + c.name + "': " + std::to_string(c.left_over) +
                    " tokens never read (" + std::to_string(c.tokens) + " written by " + c.producer + ", reader " +
                    (c.consumer.empty() ? "never started on it" : c.consumer) + ")";
  }
  return outcome;
}

}  // namespace stc_sim
#endif
