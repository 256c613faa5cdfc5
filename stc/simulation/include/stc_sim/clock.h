// Time in cycles, kept beside the values: when a token can be read, when a slot can be written, when an iteration issues.
//
// A task never looks at another task's time: tokens and slots carry the cycle from which they can be used, so the result does
// not depend on the order in which fibers run; but where ports share a channel as they need it, who asks first in that order gets a
// word first, within what FIFOs let a task run ahead. Without STC_SIM_TIMED everything here is empty and costs nothing.
//
// The model (docs/design/emission_rules.md; fitted to published co-simulations of the vendor's RTL):
// * an iteration issues `ii` cycles after the one before it and is then in stage 0 of `depth`; it reads in stage 1, and not
//   before all its tokens can be read, and writes in stage `depth` - 1, and not before there are free slots;
// * a second access of one iteration to the same side of a channel is a cycle later, and so is what follows it there: `depth`
//   contains that, reads begin in stage 1 and writes end in the last;
// * an iteration that takes a block to fill it waits for a free one as for a token, and hands it over as it writes a token;
// * a token can be read `latency` cycles after it was written (1, or 2 for a FIFO in RAM), a slot be written again 1
//   cycle after the read;
// * a write that must wait freezes the whole pipeline (stp, flp) or only fills its output buffer (frp); a read that must
//   wait freezes the pipeline with what is in flight (stp), or lets that flow out (flp, frp);
// * a loop ends `depth` + 1 cycles after its last iteration issued, as the vendor counts; the next begins after that.
//
//   clock.h          this: the time of tasks, and what is kept of it
//   channel_clock.h  the time of FIFOs and blocks
//   loop_clock.h     the time of pipelined loops, and of external memory
#ifndef STC_SIM_CLOCK_H
#define STC_SIM_CLOCK_H

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace stc_sim {

using Cycle = std::uint64_t;

enum class Style { unspecified, stp, flp, frp };

// A pipelined loop of the source, known at compile time. `label` is "" where the source has none; `ii` 0 where the pragma
// leaves it to the tool.
struct LoopTiming;
struct LoopSite {
  const char *function, *label;
  int line, ii;
  Style style;
  mutable const LoopTiming *timing = nullptr;   // looked up at its first run
};

}  // namespace stc_sim

#ifdef STC_SIM_TIMED

#include "channel_clock.h"

namespace stc_sim {

constexpr bool timed = true;

constexpr int external_memory = -1;
constexpr int first_release = -2;   // Stall::channel of release k is first_release - k

// A stretch of time in which a task waited, mostly, for one channel. `cycles` of it were lost.
struct Stall {
  int channel;   // its number, see Timeline; or external_memory, or a release
  bool reads;
  Cycle begin, end, cycles;
};

// The time of one task: `now` is the cycle in which its next operation can begin.
class TaskClock {
 public:
  Cycle now = 0, start = 0, called = 0;   // called: when its region began, which may be before the task was free
  Cycle stalled_reading = 0, stalled_writing = 0;
  std::vector<Stall> stalls;

  void stalled(int channel, bool reads, Cycle from, Cycle until) {
    (reads ? stalled_reading : stalled_writing) += until - from;
    if (!stalls.empty()) {
      Stall &last = stalls.back();
      if (last.channel == channel && last.reads == reads && from <= last.end + gap_) {
        last.end = std::max(last.end, until);
        last.cycles += until - from;
        return;
      }
    }
    begin_stall(channel, reads, from, until);
  }

 private:
  static constexpr std::size_t most_stalls = 4096;

  __attribute__((noinline)) void begin_stall(int channel, bool reads, Cycle from, Cycle until) {
    if (stalls.size() == most_stalls) thin();
    stalls.push_back({channel, reads, from, until, until - from});
  }

  // Merge neighbours of one kind, further and further apart only while more than half are left: so the gap never outgrows the run.
  void thin() {
    for (;; gap_ *= 4) {
      std::size_t kept = 0;
      for (std::size_t i = 1; i < stalls.size(); ++i) {
        Stall &last = stalls[kept];
        const Stall &next = stalls[i];
        const bool same = last.channel == next.channel && last.reads == next.reads;
        if (next.begin <= last.end + gap_ && (same || next.cycles * 8 < last.cycles || gap_ > 1u << 20)) {
          last.end = std::max(last.end, next.end);
          last.cycles += next.cycles;
        } else {
          stalls[++kept] = next;
        }
      }
      stalls.resize(kept + 1);
      if (stalls.size() <= most_stalls / 2) return;
    }
  }

  Cycle gap_ = 16;
};

// What is kept of a task call when it has ended; calls of one path are taken together.
struct TaskTimes {
  std::string path;
  std::vector<std::pair<Cycle, Cycle>> calls;   // from, until
  Cycle stalled_reading = 0, stalled_writing = 0;
  std::vector<Stall> stalls;
};

// A variable that one task releases to another when it returns.
struct Release {
  std::string name, from;
};

// What outlives the tasks and channels of one invocation of the top function.
class Timeline {
 public:
  Cycle limit = ~Cycle(0);   // a task that gets beyond it ends the run
  std::vector<TaskTimes> tasks;
  std::vector<std::pair<std::string, ChannelClock>> channels;   // by number
  std::vector<std::pair<std::string, Cycle>> invocations;       // of which top function, when it ended
  std::vector<Release> releases;

  int number_of(const std::string &channel) {
    for (std::size_t i = 0; i < channels.size(); ++i) {
      if (channels[i].first == channel) return int(i);
    }
    channels.emplace_back(channel, ChannelClock());
    return int(channels.size() - 1);
  }

  int number_of_release(const char *name, const std::string &from) {
    for (std::size_t i = 0; i < releases.size(); ++i) {
      if (releases[i].from == from && releases[i].name == name) return first_release - int(i);
    }
    releases.push_back({name, from});
    return first_release - int(releases.size() - 1);
  }

  TaskTimes &of(const std::string &path) {
    for (TaskTimes &task : tasks) {
      if (task.path == path) return task;
    }
    tasks.push_back({path, {}, 0, 0, {}});
    return tasks.back();
  }

  // When the blocks of an array between tasks were done with, once per invocation of their region, by the array's name.
  std::map<std::string, std::vector<Cycle>> blocks_done;

  // When a task may fill the array again: it has `count` blocks.
  Cycle block_free(const std::string &name, std::uint64_t count) {
    const std::vector<Cycle> &done = blocks_done[name];
    return done.size() < count ? 0 : done[done.size() - count];
  }

  // A task that is called again starts when its earlier call has ended.
  Cycle begin(const std::string &path, Cycle at) {
    const TaskTimes &task = of(path);
    return task.calls.empty() ? at : std::max(at, task.calls.back().second);
  }

  void end(const std::string &path, const TaskClock &clock, Cycle at) {
    TaskTimes &task = of(path);
    task.calls.push_back({clock.start, at});
    task.stalled_reading += clock.stalled_reading;
    task.stalled_writing += clock.stalled_writing;
    task.stalls.insert(task.stalls.end(), clock.stalls.begin(), clock.stalls.end());
  }
};

inline Timeline timeline;

}  // namespace stc_sim

#else

namespace stc_sim {

constexpr bool timed = false;

struct ChannelClock {};
struct TaskClock {};

}  // namespace stc_sim

#endif
#endif
