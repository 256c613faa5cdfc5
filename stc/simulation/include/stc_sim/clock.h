// Time in cycles, kept beside the values: when a token can be read, when a slot can be written, when an iteration issues.
//
// A task never looks at another task's time: tokens and slots carry the cycle from which they can be used, so the result does
// not depend on the order in which fibers run. Without STC_SIM_TIMED everything here is empty and costs nothing.
//
// The model (field-notes.md; measured by others against vendor RTL co-simulation on eight designs):
// * an iteration issues `ii` cycles after the one before it, and not before all the tokens it reads can be read; what it
//   writes enters the FIFO `depth` cycles after that, and not before there is a free slot;
// * a token can be read `latency` cycles after it was written (1, or 2 for a FIFO in RAM), a slot be written again 1
//   cycle after the read;
// * a write that must wait freezes the whole pipeline (stp, flp) or only fills its output buffer (frp); a read that must
//   wait freezes the pipeline with what is in flight (stp), or lets that flow out (flp, frp);
// * a loop ends when its last iteration has left the pipeline; the next begins after that.
#ifndef STC_SIM_CLOCK_H
#define STC_SIM_CLOCK_H

#include <algorithm>
#include <cstdint>
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

#ifdef STC_SIM_TIMED

constexpr bool timed = true;

// A queue of cycles in ascending order, each with its index since the beginning; old ones are dropped.
class Times {
 public:
  std::uint64_t end() const { return end_; }
  std::uint64_t begin() const { return begin_; }
  Cycle operator[](std::uint64_t index) const { return ring_[index & mask_]; }

  void push(Cycle at) {
    if (__builtin_expect(end_ - begin_ > mask_ || ring_.empty(), 0)) grow();
    ring_[end_++ & mask_] = at;
  }
  void drop_before(std::uint64_t index) { begin_ = std::max(begin_, std::min(index, end_)); }

 private:
  void grow() {
    std::vector<Cycle> larger(ring_.empty() ? 8 : 2 * ring_.size());
    for (std::uint64_t i = begin_; i != end_; ++i) larger[i & (larger.size() - 1)] = ring_[i & mask_];
    ring_ = std::move(larger);
    mask_ = ring_.size() - 1;
  }

  std::vector<Cycle> ring_;
  std::uint64_t begin_ = 0, end_ = 0, mask_ = 0;
};

// How a count grew over time, in at most `most` points: every stride-th event, the stride doubling as needed.
class Curve {
 public:
  static constexpr std::size_t most = 1024;

  void count(Cycle at) {
    last_ = at;
    if (events_++ % stride_ != 0) return;
    if (points_.size() == most) thin();
    if ((events_ - 1) % stride_ == 0) points_.push_back({at, events_});
  }
  // (cycle, count from that cycle on), the last event included.
  std::vector<std::pair<Cycle, std::uint64_t>> points() const {
    auto all = points_;
    if (events_ > 0 && all.back().second != events_) all.push_back({last_, events_});
    return all;
  }

 private:
  void thin() {
    stride_ *= 2;
    std::size_t kept = 0;
    for (std::size_t i = 0; i < points_.size(); i += 2) points_[kept++] = points_[i];
    points_.resize(kept);
  }

  std::vector<std::pair<Cycle, std::uint64_t>> points_;
  std::uint64_t events_ = 0, stride_ = 1;
  Cycle last_ = 0;
};

// The times of one channel. Writes and reads are numbered from 0; slot of write k is that of read k - depth.
class ChannelClock {
 public:
  Cycle latency = 1;
  Cycle stalled_reader = 0, stalled_writer = 0;
  Curve produced, consumed;

  void written(Cycle at, std::uint64_t depth, bool bounded) {
    writes_.push(at);
    produced.count(at);
    settle();
    if (bounded && writes_.end() > depth) frees_.drop_before(std::min(writes_.end() - depth, settled_frees_));
    if (!bounded) frees_.drop_before(settled_frees_);
  }
  void read(std::uint64_t index, Cycle at) {
    consumed.count(at);
    frees_.push(at + 1);
    settle();
    writes_.drop_before(std::min(index + 1, settled_writes_));
  }
  std::uint64_t tokens() const { return writes_.end(); }
  Cycle readable_at(std::uint64_t index) const { return writes_[index] + latency; }
  // When write `index` finds a free slot.
  Cycle writable_at(std::uint64_t index, std::uint64_t depth, bool bounded) const {
    return !bounded || index < depth ? 0 : frees_[index - depth];
  }
  // Most tokens in the FIFO at one time, as far as both sides are known.
  std::uint64_t highest() const {
    return std::max(highest_, writes_.end() > settled_writes_ ? writes_.end() - settled_frees_ : 0);
  }

 private:
  // Count the tokens present at each write whose time has come on the reader's side.
  void settle() {
    while (settled_writes_ < writes_.end()) {
      const Cycle at = writes_[settled_writes_];
      while (settled_frees_ < frees_.end() && frees_[settled_frees_] <= at) ++settled_frees_;
      if (settled_frees_ == frees_.end()) return;   // a later read may still come before this write
      highest_ = std::max(highest_, settled_writes_ + 1 - settled_frees_);
      ++settled_writes_;
    }
  }

  Times writes_, frees_;
  std::uint64_t settled_writes_ = 0, settled_frees_ = 0, highest_ = 0;
};

constexpr int external_memory = -1;

// A stretch of time in which a task waited, mostly, for one channel. `cycles` of it were lost.
struct Stall {
  int channel;   // its number, see Timeline; or external_memory
  bool reads;
  Cycle begin, end, cycles;
};

// The time of one task: `now` is the cycle in which its next operation can begin.
class TaskClock {
 public:
  Cycle now = 0, start = 0;
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
    if (stalls.size() == most_stalls) thin();
    stalls.push_back({channel, reads, from, until, until - from});
  }

 private:
  static constexpr std::size_t most_stalls = 4096;

  // Merge neighbours of one kind, further and further apart, until half are left.
  void thin() {
    while (stalls.size() > most_stalls / 2) {
      gap_ *= 4;
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
    }
  }

  Cycle gap_ = 16;
};

// External memory behind one port. Requests run ahead of the loop by `outstanding` bursts of `burst` words.
struct MemoryPort {
  std::string name;
  Cycle latency = 0;
  double cycles_per_word = 1;
  std::uint64_t burst = 16, outstanding = 16;

  void begin(Cycle at) {
    words_ = 0;
    consumed_.assign(outstanding, at);
    next_ = std::max(next_, double(at));
  }
  // When the next word of a loop is there.
  Cycle read() {
    // A burst is requested when the one `outstanding` before it has been taken by the loop.
    if (words_ % burst == 0) next_ = std::max(next_, double(consumed_[words_ / burst % outstanding] + latency));
    const Cycle there = Cycle(next_ + 0.999999);
    next_ += cycles_per_word;
    return there;
  }
  void consume(Cycle at) {
    consumed_[words_ / burst % outstanding] = at;
    ++words_;
    ++transferred;
  }
  // When the next word can be taken.
  Cycle write(Cycle at) {
    next_ = std::max(next_, double(at));
    const Cycle taken = Cycle(next_ + 0.999999);
    next_ += cycles_per_word;
    ++transferred;
    if (first_write == 0) first_write = taken;
    return taken;
  }

  std::uint64_t transferred = 0;
  Cycle first_write = 0;

 private:
  std::uint64_t words_ = 0;
  std::vector<Cycle> consumed_;
  double next_ = 0;
};

// What the tool chain says of a loop; the pragma's values where it says nothing.
struct LoopTiming {
  Cycle ii = 0, depth = 1;
  Style style = Style::unspecified;
  MemoryPort *reads = nullptr, *writes = nullptr;
};

// One execution of a pipelined loop. Pipeline time `issued_` does not advance while the pipeline is frozen; real time is
// pipeline time plus what was frozen before it.
class LoopClock {
 public:
  LoopClock(const LoopTiming &timing, TaskClock &task) : timing_(timing), task_(task), issued_(task.now) {
    if (timing_.reads != nullptr) timing_.reads->begin(task_.now);
  }

  bool holds_writes() const { return timing_.style == Style::stp; }

  // The next iteration begins. When it issues is worked out where somebody asks: most loops compute without streams.
  void begin_iteration() { ++begun_; }

  // Whether somebody asked about the iteration under way.
  bool is_settled() const { return begun_ == 0; }

  // The iteration under way issues as early as the pipeline allows.
  void settle() {
    if (begun_ == 0) return;
    issued_ += (begun_ - !any_) * timing_.ii;
    begun_ = 0;
    any_ = true;
    offset_ = 0;
    thaw();
    if (timing_.style == Style::frp) wait_for_room();
    if (timing_.reads != nullptr) require(timing_.reads->read(), external_memory, nullptr);
  }

  // Loops that touch external memory are settled in every iteration.
  bool uses_memory() const { return timing_.reads != nullptr || timing_.writes != nullptr; }

  // Something that the iteration reads is there from cycle `at` on. `stalled` counts the cycles lost.
  void require(Cycle at, int channel, Cycle *stalled) {
    settle();
    const Cycle wanted = real();
    if (at <= wanted) return;
    if (timing_.style == Style::stp) {
      freeze(at - wanted);
    } else {
      while (real() < at) {
        issued_ += at - real();
        thaw();
      }
    }
    if (stalled != nullptr) *stalled += real() - wanted;
    task_.stalled(channel, true, wanted, real());
  }

  // A second access of one iteration to the same side of a channel is a cycle later.
  void next_cycle() { ++offset_; }

  Cycle read_time() const { return real() + offset_; }

  // The pipeline time at which what the iteration writes leaves the pipeline.
  Cycle due() const { return issued_ + offset_ + timing_.depth; }
  Cycle issued() const { return issued_; }

  // When something due at pipeline time `due` enters the FIFO, which has a slot from cycle `free` on.
  Cycle write(Cycle due, Cycle free, int channel, Cycle &stalled) {
    const Cycle wanted = due + total_shift_;
    if (timing_.style == Style::frp) {
      const Cycle at = std::max({wanted, free, last_left_ + (last_left_ > 0)});
      note_blocked(wanted, at, channel, stalled);
      last_left_ = at;
      leaving_.push(at);
      return at;
    }
    if (free > wanted) {
      total_shift_ += free - wanted;
      frozen_.push_back({due, free - wanted});
      note_blocked(wanted, free, channel, stalled);
    }
    return due + total_shift_;
  }

  // After the accesses of an iteration: its words of external memory.
  void commit() {
    if (timing_.reads != nullptr) timing_.reads->consume(real());
    if (timing_.writes != nullptr) {
      const Cycle due = issued_ + timing_.depth;
      const Cycle taken = timing_.writes->write(due + total_shift_);
      if (taken > due + total_shift_) {
        task_.stalled(external_memory, false, due + total_shift_, taken);
        frozen_.push_back({due, taken - due - total_shift_});
        total_shift_ = taken - due;
      }
    }
  }

  void end() {
    settle();
    if (any_) task_.now = std::max(task_.now, std::max(issued_ + offset_ + timing_.depth + total_shift_, last_left_)) + 1;
  }

 private:
  struct Freeze {
    Cycle due, cycles;
  };

  Cycle real() const { return issued_ + shift_; }

  // Freezes whose pipeline time the issue has reached.
  void thaw() {
    while (head_ < frozen_.size() && frozen_[head_].due <= issued_) shift_ += frozen_[head_++].cycles;
    if (head_ == frozen_.size() && head_ != 0) frozen_.clear(), head_ = 0;
  }
  void freeze(Cycle cycles) {
    shift_ += cycles;
    total_shift_ += cycles;
  }
  // frp: iterations in flight and outputs that wait share a buffer as deep as the pipeline.
  void wait_for_room() {
    const std::uint64_t room = (timing_.depth + timing_.ii - 1) / timing_.ii + 1;
    while (leaving_.end() - leaving_.begin() > 0 && leaving_[leaving_.begin()] <= real()) leaving_.drop_before(leaving_.begin() + 1);
    if (leaving_.end() - leaving_.begin() < room) return;
    const Cycle until = leaving_[leaving_.end() - room];
    if (until > real()) issued_ += until - real();
  }
  void note_blocked(Cycle wanted, Cycle at, int channel, Cycle &stalled) {
    if (at <= wanted) return;
    stalled += at - wanted;
    task_.stalled(channel, false, wanted, at);
  }

  const LoopTiming timing_;
  TaskClock &task_;
  std::uint64_t begun_ = 0;   // iterations since the last one that was settled
  Cycle issued_, offset_ = 0, shift_ = 0, total_shift_ = 0, last_left_ = 0;
  bool any_ = false;
  std::vector<Freeze> frozen_;
  std::size_t head_ = 0;
  Times leaving_;
};

// What is kept of a task call when it has ended; calls of one path are taken together.
struct TaskTimes {
  std::string path;
  std::vector<std::pair<Cycle, Cycle>> calls;   // from, until
  Cycle stalled_reading = 0, stalled_writing = 0;
  std::vector<Stall> stalls;
};

// What outlives the tasks and channels of one invocation of the top function.
class Timeline {
 public:
  std::vector<TaskTimes> tasks;
  std::vector<std::pair<std::string, ChannelClock>> channels;   // by number
  std::vector<std::pair<std::string, Cycle>> invocations;       // of which top function, when it ended

  int number_of(const std::string &channel) {
    for (std::size_t i = 0; i < channels.size(); ++i) {
      if (channels[i].first == channel) return int(i);
    }
    channels.push_back({channel, ChannelClock()});
    return int(channels.size() - 1);
  }

  TaskTimes &of(const std::string &path) {
    for (TaskTimes &task : tasks) {
      if (task.path == path) return task;
    }
    tasks.push_back({path, {}, 0, 0, {}});
    return tasks.back();
  }

  // A task that is called again starts when its earlier call has ended.
  Cycle begin(const std::string &path, Cycle at) {
    const TaskTimes &task = of(path);
    return task.calls.empty() ? at : std::max(at, task.calls.back().second);
  }

  void end(const std::string &path, const TaskClock &clock) {
    TaskTimes &task = of(path);
    task.calls.push_back({clock.start, clock.now});
    task.stalled_reading += clock.stalled_reading;
    task.stalled_writing += clock.stalled_writing;
    task.stalls.insert(task.stalls.end(), clock.stalls.begin(), clock.stalls.end());
  }
};

inline Timeline timeline;

#else

constexpr bool timed = false;

struct ChannelClock {};
struct TaskClock {};

#endif

}  // namespace stc_sim
#endif
