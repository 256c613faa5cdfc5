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

// Pipeline time does not advance while the pipeline is frozen; real time is pipeline time plus what was frozen before it.
//
// Stages are numbered from 0. Streams are read in stage 1 and written in the last one, as Vitis HLS schedules them; the loop ends two
// cycles after its last iteration has come there. Accesses of an iteration that need a cycle each are in successive stages, which the
// depth contains: the reads from stage 1 on, the writes up to the last stage.
class LoopClock {
 public:
  LoopClock(const LoopTiming &timing, TaskClock &task) : timing_(timing), task_(task), issued_(task.now) {
    if (timing_.reads != nullptr) timing_.reads->begin(task_.now);
  }

  bool holds_writes() const { return timing_.style == Style::stp; }
  bool writes_memory() const { return timing_.writes != nullptr; }

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

  // The iteration under way issues as early as the pipeline allows. Whether it did so just now.
  bool settle() {
    if (begun_ == 0) return false;
    issued_ += (begun_ - !any_) * timing_.ii;
    begun_ = 0;
    any_ = true;
    offset_ = 0;
    first_write_ = none_yet;
    thaw();
    if (timing_.style == Style::frp) wait_for_room();
    return true;
  }
  // The word of external memory that the iteration reads.
  void fetch() {
    if (timing_.reads != nullptr) require(timing_.reads->read(), external_memory, true, nullptr);
  }

  // Something that the iteration needs, a token to read or a block to fill, is there from cycle `at` on. `stalled` counts the
  // cycles lost.
  void require(Cycle at, int channel, bool reads, Cycle *stalled) {
    const Cycle wanted = real();
    if (at <= wanted) return;
    if (timing_.style == Style::stp) {
      freeze(at - wanted);
      lost(wanted, at - wanted, channel, reads, stalled);
    } else {
      // What is in flight flows on, until the pipeline's next freeze.
      while (real() < at) {
        const Cycle from = real(), idle = frozen_.empty() ? at - from : std::min(at - from, frozen_.front().due - reading());
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

  // The pipeline time of what the iteration reads next, and of what it writes next.
  Cycle reading() const { return issued_ + first_stage() + offset_; }
  Cycle due() const { return due(writes_passed()); }
  // Of the write so many cycles after the iteration's first.
  Cycle due(Cycle passed) const { return issued_ + last_stage() - write_extent_ + passed; }
  Cycle last_due() const { return issued_ + last_stage(); }
  // An iteration whose writes take more cycles than those of any before it moves them all to earlier stages.
  bool knows_stages() const { return ended_ && writes_passed() <= write_extent_; }
  Cycle writes_passed() const { return first_write_ == none_yet ? 0 : offset_ - first_write_; }
  void begin_writes() { first_write_ = std::min(first_write_, offset_); }

  // Cycles from what an iteration reads to what it writes then; a pipeline that stops as a whole is pushed on by later iterations.
  Cycle lead() const { return holds_writes() ? 0 : last_stage() - write_extent_ - first_stage(); }

  // Where the loop is, all that it is known to have waited for included.
  Cycle reached() const { return reading() + total_shift_; }

  // When something due at pipeline time `due` enters the FIFO, which has a slot from cycle `free` on.
  Cycle write(Cycle due, Cycle free, int channel, Cycle &stalled) {
    const Cycle wanted = due + total_shift_;
    return timing_.style == Style::frp ? write_to_buffer(wanted, free, channel, stalled) : wanted;
  }

  // What is due at pipeline time `due` cannot leave before `free`: the pipeline stands still until then.
  void wait_for_slot(Cycle due, Cycle free, int channel, Cycle &stalled) {
    const Cycle wanted = due + total_shift_;
    if (free <= wanted || timing_.style == Style::frp) return;
    total_shift_ += free - wanted;
    frozen_.push({due, free - wanted});
    note_blocked(wanted, free, channel, stalled);
  }
  // The same for a word of external memory.
  void store(Cycle due) {
    const Cycle wanted = due + total_shift_, taken = timing_.writes->write(wanted);
    if (taken <= wanted) return;
    task_.stalled(external_memory, false, wanted, taken);
    frozen_.push({due, taken - wanted});
    total_shift_ += taken - wanted;
  }
  // After writes: what they froze delays reads from their pipeline time on.
  void thaw() {
    while (!frozen_.empty() && frozen_.front().due <= reading()) {
      shift_ += frozen_.front().cycles;
      frozen_.pop();
    }
  }

  // All accesses of the iteration are known.
  void end_accesses() {
    extent_ = std::max(extent_, offset_);
    write_extent_ = std::max(write_extent_, writes_passed());
    ended_ = true;
  }
  // They have been made.
  void end_iteration() {
    if (timing_.reads != nullptr) timing_.reads->consume(real() - offset_);
    if (left_ > 0) leaving_.push(last_left_);
    left_ = 0;
  }

  // `last`: the pipeline time of the last write.
  void end(Cycle last) {
    settle();
    if (!any_) return;
    const Cycle flowed_out = std::max(issued_ + last_stage(), last) + 1 + total_shift_;
    if (last_left_ + 1 > flowed_out && full_ != none) note_blocked(flowed_out, last_left_ + 1, full_, *stalled_by_full_);
    task_.now = std::max({task_.now, flowed_out, last_left_ + 1}) + 1;
  }

 private:
  struct Freeze {
    Cycle due, cycles;
  };

  Cycle first_stage() const { return timing_.depth > 1 ? 1 : 0; }
  // A depth that does not hold the accesses one after the other cannot be right: it is at least as large as they need.
  Cycle last_stage() const { return std::max(timing_.depth - 1, first_stage() + extent_); }

  // The cycle in which the iteration reads next.
  Cycle real() const { return reading() + shift_; }

  void freeze(Cycle cycles) {
    shift_ += cycles;
    total_shift_ += cycles;
  }
  // frp: iterations in flight and outputs that wait share a buffer as deep as the pipeline.
  __attribute__((noinline)) void wait_for_room() {
    const std::uint64_t room = (timing_.depth + timing_.ii - 1) / timing_.ii + 1;
    const Cycle now = issued_ + shift_;
    while (!leaving_.empty() && leaving_.front() <= now) leaving_.pop();
    if (leaving_.size() < room) return;
    const Cycle until = leaving_[leaving_.end() - room];
    if (until <= now) return;
    note_blocked(now, until, full_, *stalled_by_full_);
    issued_ += until - now;
  }
  // Each output has a buffer of its own: one that is full does not hold up the others before the pipeline stops.
  __attribute__((noinline)) Cycle write_to_buffer(Cycle wanted, Cycle free, int channel, Cycle &stalled) {
    const Cycle at = std::max(wanted, free);
    if (at >= last_left_ && (free == at || full_ == none)) {
      full_ = channel;
      stalled_by_full_ = &stalled;
    }
    left_ = std::max(left_, at);
    last_left_ = std::max(last_left_, at);
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
  static constexpr Cycle none_yet = ~Cycle(0);
  const LoopTiming &timing_;
  TaskClock &task_;
  std::uint64_t begun_ = 0;   // iterations since the last one that was settled
  Cycle issued_, offset_ = 0, shift_ = 0, total_shift_ = 0;
  Cycle first_write_ = none_yet;        // the offset of the iteration's first write
  Cycle extent_ = 0, write_extent_ = 0; // most cycles, beyond the first, that the accesses or the writes of an iteration took so far
  bool any_ = false, ended_ = false;   // iterations issued, or ended
  Queue<Freeze> frozen_;
  Queue<Cycle> leaving_;                // frp: when the outputs of iterations have left their buffers
  Cycle left_ = 0, last_left_ = 0;      // frp: when the last output of this iteration, or of all, has
  int full_ = none;                     // frp: the channel that last had no slot for one, and the cycles lost to it
  Cycle *stalled_by_full_ = nullptr;
};

}  // namespace stc_sim

#endif
#endif
