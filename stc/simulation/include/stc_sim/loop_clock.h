// The time of one execution of a pipelined loop, and of the external memory that it reads or writes.
#ifndef STC_SIM_LOOP_CLOCK_H
#define STC_SIM_LOOP_CLOCK_H

#ifdef STC_SIM_TIMED

#include "clock.h"

namespace stc_sim {

// External memory behind one port. Requests run ahead of the loop by `outstanding` bursts of `burst` words.
struct MemoryPort {
  std::string name;
  Cycle latency = 0;
  double cycles_per_word = 1;
  std::uint64_t burst = 16, outstanding = 16;

  void begin(Cycle at) {
    place_ = slot_ = 0;
    consumed_.assign(outstanding, at);
    next_ = std::max(next_, double(at));
  }
  // When the next word of a loop is there.
  Cycle read() {
    // A burst is requested when the one `outstanding` before it has been taken by the loop.
    if (place_ == 0) next_ = std::max(next_, double(consumed_[slot_] + latency));
    const Cycle there = rounded_up(next_);
    next_ += cycles_per_word;
    return there;
  }
  void consume(Cycle at) {
    consumed_[slot_] = at;
    ++transferred;
    if (++place_ < burst) return;
    place_ = 0;
    if (++slot_ == outstanding) slot_ = 0;
  }
  // When the next word can be taken.
  Cycle write(Cycle at) {
    // A word that comes as soon as the port looks again starts where the one before ended, within that cycle: else a pace of 1.2
    // cycles would be one of 1.5.
    if (rounded_up(next_) < at) next_ = double(at);
    const Cycle taken = rounded_up(next_);
    next_ += cycles_per_word;
    ++transferred;
    if (first_write == 0) first_write = taken;
    return taken;
  }

  std::uint64_t transferred = 0;
  Cycle first_write = 0;

 private:
  static Cycle rounded_up(double at) { return Cycle(std::int64_t(at + 0.999999)); }

  std::uint64_t place_ = 0, slot_ = 0;   // of the next word in its burst; of that burst among the outstanding ones
  std::vector<Cycle> consumed_;
  double next_ = 0;
};

// What the tool chain says of a loop; the pragma's values where it says nothing.
struct LoopTiming {
  Cycle ii = 0, depth = 1;
  Style style = Style::unspecified;
  MemoryPort *reads = nullptr, *writes = nullptr;
};

// Pipeline time `issued_` does not advance while the pipeline is frozen; real time is pipeline time plus what was frozen
// before it.
class LoopClock {
 public:
  LoopClock(const LoopTiming &timing, TaskClock &task) : timing_(timing), task_(task), issued_(task.now) {
    if (timing_.reads != nullptr) timing_.reads->begin(task_.now);
  }

  bool holds_writes() const { return timing_.style == Style::stp; }

  // The next iteration begins. When it issues is worked out where somebody asks: most loops compute without streams.
  void begin_iteration() { ++begun_; }

  // How many iterations began that have to be settled one by one, because each moves a word of external memory.
  std::uint64_t memory_iterations() const {
    return timing_.reads == nullptr && timing_.writes == nullptr ? 0 : begun_;
  }
  void settle_next() {
    const std::uint64_t later = begun_ - 1;
    begun_ = 1;
    settle();
    begun_ = later;
  }

  // The iteration under way issues as early as the pipeline allows.
  void settle() {
    if (begun_ == 0) return;
    issued_ += (begun_ - !any_) * timing_.ii;
    begun_ = 0;
    any_ = true;
    offset_ = 0;
    thaw();
    if (timing_.style == Style::frp) wait_for_room();
    if (timing_.reads != nullptr) require(timing_.reads->read(), external_memory, true, nullptr);
  }

  // Something that the iteration needs, a token to read or a block to fill, is there from cycle `at` on. `stalled` counts the
  // cycles lost.
  void require(Cycle at, int channel, bool reads, Cycle *stalled) {
    settle();
    const Cycle wanted = real();
    if (at <= wanted) return;
    if (timing_.style == Style::stp) {
      freeze(at - wanted);
      lost(wanted, at - wanted, channel, reads, stalled);
    } else {
      // What is in flight flows on, until the pipeline's next freeze.
      while (real() < at) {
        const Cycle from = real(), idle = frozen_.empty() ? at - from : std::min(at - from, frozen_.front().due - under_way());
        lost(from, idle, channel, reads, stalled);
        issued_ += idle;
        thaw();
      }
    }
  }

  // A second access of one iteration to the same side of a channel is a cycle later.
  void next_cycle() {
    ++offset_;
    thaw();
  }

  Cycle read_time() const { return real(); }
  Cycle write_time() const { return due() + total_shift_; }

  // The pipeline time at which what the iteration writes leaves the pipeline.
  Cycle due() const { return under_way() + timing_.depth; }
  Cycle issued() const { return issued_; }

  // Where the loop is, all that it is known to have waited for included.
  Cycle reached() const { return under_way() + total_shift_; }

  // Cycles from the issue of an iteration to its writes; a pipeline that stops as a whole is pushed on by later iterations.
  Cycle lead() const { return holds_writes() ? 0 : timing_.depth; }

  // When something due at pipeline time `due` enters the FIFO, which has a slot from cycle `free` on.
  Cycle write(Cycle due, Cycle free, int channel, Cycle &stalled) {
    const Cycle wanted = due + total_shift_;
    if (timing_.style == Style::frp) return write_to_buffer(wanted, free, channel, stalled);
    wait_for_slot(due, free, channel, stalled);
    return due + total_shift_;
  }

  // What is due at pipeline time `due` cannot leave before `free`: the pipeline stands still until then.
  void wait_for_slot(Cycle due, Cycle free, int channel, Cycle &stalled) {
    const Cycle wanted = due + total_shift_;
    if (free <= wanted || timing_.style == Style::frp) return;
    total_shift_ += free - wanted;
    frozen_.push({due, free - wanted});
    note_blocked(wanted, free, channel, stalled);
  }

  // After the accesses of an iteration: its words of external memory.
  void commit() {
    if (timing_.reads != nullptr) timing_.reads->consume(real() - offset_);
    if (timing_.writes == nullptr) return;
    const Cycle due = issued_ + timing_.depth;
    const Cycle taken = timing_.writes->write(due + total_shift_);
    if (taken <= due + total_shift_) return;
    task_.stalled(external_memory, false, due + total_shift_, taken);
    frozen_.push({due, taken - due - total_shift_});
    total_shift_ = taken - due;
  }

  void end() {
    settle();
    if (!any_) return;
    const Cycle flowed_out = due() + total_shift_;
    if (last_left_ > flowed_out) note_blocked(flowed_out, last_left_, full_, *stalled_by_full_);
    task_.now = std::max({task_.now, flowed_out, last_left_}) + 1;
  }

 private:
  struct Freeze {
    Cycle due, cycles;
  };

  // The pipeline time of what the iteration does next, and the cycle in which it does that.
  Cycle under_way() const { return issued_ + offset_; }
  Cycle real() const { return under_way() + shift_; }

  // Freezes whose pipeline time the iteration has reached.
  void thaw() {
    while (!frozen_.empty() && frozen_.front().due <= under_way()) {
      shift_ += frozen_.front().cycles;
      frozen_.pop();
    }
  }
  void freeze(Cycle cycles) {
    shift_ += cycles;
    total_shift_ += cycles;
  }
  // frp: iterations in flight and outputs that wait share a buffer as deep as the pipeline.
  __attribute__((noinline)) void wait_for_room() {
    const std::uint64_t room = (timing_.depth + timing_.ii - 1) / timing_.ii + 1;
    while (!leaving_.empty() && leaving_.front() <= real()) leaving_.pop();
    if (leaving_.size() < room) return;
    const Cycle until = leaving_[leaving_.end() - room];
    if (until <= real()) return;
    note_blocked(real(), until, full_, *stalled_by_full_);
    issued_ += until - real();
  }
  __attribute__((noinline)) Cycle write_to_buffer(Cycle wanted, Cycle free, int channel, Cycle &stalled) {
    const Cycle at = std::max({wanted, free, last_left_ + (last_left_ > 0)});
    if (free == at || full_ == none) {
      full_ = channel;
      stalled_by_full_ = &stalled;
    }
    last_left_ = at;
    leaving_.push(at);
    return at;
  }
  void lost(Cycle from, Cycle cycles, int channel, bool reads, Cycle *stalled) {
    if (stalled != nullptr) *stalled += cycles;
    task_.stalled(channel, reads, from, from + cycles);
  }
  void note_blocked(Cycle wanted, Cycle at, int channel, Cycle &stalled) {
    stalled += at - wanted;
    task_.stalled(channel, false, wanted, at);
  }

  static constexpr int none = -1000000;
  const LoopTiming &timing_;
  TaskClock &task_;
  std::uint64_t begun_ = 0;   // iterations since the last one that was settled
  Cycle issued_, offset_ = 0, shift_ = 0, total_shift_ = 0, last_left_ = 0;
  bool any_ = false;
  Queue<Freeze> frozen_;
  Queue<Cycle> leaving_;                // frp: when outputs leave the buffer
  int full_ = none;                     // frp: the channel that last had no slot for one, and the cycles lost to it
  Cycle *stalled_by_full_ = nullptr;
};

}  // namespace stc_sim

#endif
#endif
