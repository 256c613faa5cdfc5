// The time of one execution of a pipelined loop, and of the external memory that it reads or writes.
#ifndef STC_SIM_LOOP_CLOCK_H
#define STC_SIM_LOOP_CLOCK_H

#ifdef STC_SIM_TIMED

#include "clock.h"

namespace stc_sim {

// A channel whose ports get what the others leave of it. Time is cut into windows of so many bytes each; who asks first, as tasks
// run, takes them. So no more passes in a window than the channel brings, and nothing is lost while somebody asks.
class MemoryChannel {
 public:
  double bytes_per_cycle = 0;

  // When a word of `bytes` that could pass from `at` on begins to.
  double pass(double at, double bytes) {
    std::size_t window = with_room(std::size_t(at) / length);
    const double begin = std::max(at, double(window * length));
    for (; bytes > left_[window]; window = with_room(window)) {
      bytes -= left_[window];
      left_[window] = 0;
    }
    left_[window] -= bytes;
    return begin;
  }

 private:
  static constexpr std::size_t length = 16;

  // The first window from `window` on that has bytes left.
  std::size_t with_room(std::size_t window) {
    std::size_t found = window;
    for (;; found = next_[found]) {
      if (found >= left_.size()) grow(found);
      if (left_[found] > 0) break;
      if (next_[found] == found) next_[found] = found + 1;
    }
    // What was passed over leads there at once the next time.
    while (window != found) {
      const std::size_t next = next_[window];
      next_[window] = found;
      window = next;
    }
    return found;
  }
  void grow(std::size_t window) {
    const std::size_t from = left_.size();
    left_.resize(window + 1024, bytes_per_cycle * length);
    next_.resize(left_.size());
    for (std::size_t at = from; at < next_.size(); ++at) next_[at] = at;
  }

  std::vector<double> left_;          // bytes, by window
  std::vector<std::size_t> next_;     // itself, or, of one that is full, a later one
};

// What passes through a channel over time, whoever may have which part of it: the cycles in which some port moves a word, and
// the bytes of each direction in spans of so many cycles, which get twice as long whenever they would be too many.
class MemoryTraffic {
 public:
  static constexpr std::size_t most_spans = 256;

  // A word begins to pass at `begin`, the next one of its port so many cycles later.
  void pass(double begin, double cycles, double bytes, bool reads) {
    const Cycle from = Cycle(begin + 0.5), until = Cycle(begin + cycles + 0.5);
    if (until / 64 >= busy_.size()) busy_.resize(until / 64 + 1024);
    for (Cycle at = from; at < until; ++at) busy_[at / 64] |= std::uint64_t(1) << (at % 64);
    while (from / span_ >= most_spans) widen();
    (reads ? read_ : written_)[from / span_] += bytes;
  }

  Cycle busy() const {
    Cycle cycles = 0;
    for (const std::uint64_t some : busy_) cycles += Cycle(__builtin_popcountll(some));
    return cycles;
  }
  Cycle span() const { return span_; }
  const std::vector<double> &read() const { return read_; }
  const std::vector<double> &written() const { return written_; }

 private:
  void widen() {
    span_ *= 2;
    for (std::vector<double> *bytes : {&read_, &written_}) {
      for (std::size_t at = 0; at < most_spans; ++at) {
        const double both = at < most_spans / 2 ? (*bytes)[2 * at] + (*bytes)[2 * at + 1] : 0;
        (*bytes)[at] = both;
      }
    }
  }

  std::vector<std::uint64_t> busy_;   // a bit for each cycle
  Cycle span_ = 16;
  std::vector<double> read_ = std::vector<double>(most_spans), written_ = read_;
};

// External memory behind one port. Requests run ahead of the loop by `outstanding` bursts of `burst` words.
struct MemoryPort {
  std::string name;
  Cycle latency = 0;
  double cycles_per_word = 1;
  std::uint64_t burst = 16, outstanding = 16;
  MemoryChannel *channel = nullptr;   // null: a part of it that nobody else gets
  double bytes_per_word = 0;
  MemoryTraffic *traffic = nullptr;   // of the channel that it is linked to; null: nobody asks
  double payload = 0;                 // bytes of a word without padding

  void begin(Cycle at) {
    place_ = slot_ = 0;
    consumed_.assign(outstanding, at);
    next_ = std::max(next_, double(at));
  }
  // When the next word of a loop is there.
  Cycle read() {
    // A burst is requested when the one `outstanding` before it has been taken by the loop.
    if (place_ == 0) next_ = std::max(next_, double(consumed_[slot_] + latency));
    if (channel != nullptr) next_ = channel->pass(next_, bytes_per_word);
    const Cycle there = rounded_up(next_);
    if (traffic != nullptr) traffic->pass(next_, cycles_per_word, payload, true);
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
    // A word that comes as soon as the port looks again starts where the one before ended, within that cycle: else a rate of 1.2
    // cycles would be one of 1.5.
    if (rounded_up(next_) < at) next_ = double(at);
    if (channel != nullptr) next_ = channel->pass(next_, bytes_per_word);
    const Cycle taken = rounded_up(next_);
    if (traffic != nullptr) traffic->pass(next_, cycles_per_word, payload, false);
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
// Stages are numbered from 0. Streams are read in stage 1 and written in the last one, as Vitis HLS schedules them; the loop
// ends two cycles after its last iteration has come there. Accesses of an iteration that need a cycle each are in successive
// stages, which the depth contains: the reads from stage 1 on, the writes up to the last stage.
class LoopClock {
 public:
  LoopClock(const LoopTiming &timing, TaskClock &task) : timing_(timing), task_(task), issued_(task.now) {
    if (timing_.reads != nullptr) timing_.reads->begin(task_.now);
  }

  bool holds_writes() const { return timing_.style == Style::stp; }
  bool buffers_writes() const { return timing_.style == Style::frp; }
  bool writes_memory() const { return timing_.writes != nullptr; }

  // The next iteration begins. When it issues is worked out where somebody asks: most loops compute without streams.
  void begin_iteration() { ++begun_; }

  std::uint64_t begun() const { return begun_; }
  bool moves_memory() const { return timing_.reads != nullptr || timing_.writes != nullptr; }
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
    return true;
  }
  // frp: iterations in flight and outputs that wait share a buffer as deep as the pipeline, for the outputs of so many iterations.
  std::uint64_t room() const { return (timing_.depth + timing_.ii - 1) / timing_.ii + 1; }
  // There is room from cycle `at` on.
  void enter(Cycle at, int channel, Cycle &stalled) {
    if (at <= entered()) return;
    note_blocked(entered(), at, channel, stalled);
    issued_ += at - entered();
  }
  Cycle entered() const { return issued_ + shift_; }

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

  // When something due at pipeline time `due` leaves the pipeline.
  Cycle leaves(Cycle due) const { return due + total_shift_; }

  // What is due at pipeline time `due` cannot leave before `free`: the pipeline stands still until then.
  void wait_for_slot(Cycle due, Cycle free, int channel, Cycle &stalled) {
    const Cycle wanted = due + total_shift_;
    if (free <= wanted) return;
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
    ended_ = ended_ || first_write_ != none_yet;
  }
  // They have been made.
  void end_iteration() {
    if (timing_.reads != nullptr) timing_.reads->consume(real() - offset_);
  }

  // `last`: the pipeline time of the last write.
  void end(Cycle last) {
    settle();
    if (any_) task_.now = std::max(task_.now, std::max(issued_ + last_stage(), last) + 1 + total_shift_) + 1;
  }
  // frp: after that, the last output has left its buffer.
  void end_outputs(Cycle left, int channel, Cycle &stalled) {
    if (left + 2 <= task_.now) return;
    note_blocked(task_.now, left + 2, channel, stalled);
    task_.now = left + 2;
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
  void lost(Cycle from, Cycle cycles, int channel, bool reads, Cycle *stalled) {
    if (stalled != nullptr) *stalled += cycles;
    task_.stalled(channel, reads, from, from + cycles);
  }
  void note_blocked(Cycle wanted, Cycle at, int channel, Cycle &stalled) {
    stalled += at - wanted;
    task_.stalled(channel, false, wanted, at);
  }

  static constexpr Cycle none_yet = ~Cycle(0);
  const LoopTiming &timing_;
  TaskClock &task_;
  std::uint64_t begun_ = 0;   // iterations since the last one that was settled
  Cycle issued_, offset_ = 0, shift_ = 0, total_shift_ = 0;
  Cycle first_write_ = none_yet;        // the offset of the iteration's first write
  // Most cycles, beyond the first, that the accesses or the writes of an iteration took so far.
  Cycle extent_ = 0, write_extent_ = 0;
  bool any_ = false, ended_ = false;   // an iteration issued; one that writes ended
  Queue<Freeze> frozen_;
};

}  // namespace stc_sim

#endif
#endif
