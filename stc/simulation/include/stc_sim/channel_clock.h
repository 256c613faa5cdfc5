// The times of one channel: when each token was written, when each slot became free, and how full it was.
#ifndef STC_SIM_CHANNEL_CLOCK_H
#define STC_SIM_CHANNEL_CLOCK_H

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "queue.h"

namespace stc_sim {

using Cycle = std::uint64_t;

// How a count grew over time, in at most `most` points: every stride-th event, the stride doubling as needed.
class Curve {
 public:
  static constexpr std::size_t most = 1024;

  // Event number `index`, from 0, happens at `at`.
  void count(std::uint64_t index, Cycle at) {
    last_ = at;
    if (__builtin_expect(index == next_, 0)) note(index, at);
  }
  // (cycle, count from that cycle on), the last of `events` included.
  std::vector<std::pair<Cycle, std::uint64_t>> points(std::uint64_t events) const {
    auto all = points_;
    if (events > 0 && all.back().second != events) all.push_back({last_, events});
    return all;
  }

 private:
  __attribute__((noinline)) void note(std::uint64_t index, Cycle at) {
    if (points_.size() == most) thin();
    if (index % stride_ == 0) points_.push_back({at, index + 1});
    next_ = (index / stride_ + 1) * stride_;
  }
  void thin() {
    stride_ *= 2;
    std::size_t kept = 0;
    for (std::size_t i = 0; i < points_.size(); i += 2) points_[kept++] = points_[i];
    points_.resize(kept);
  }

  std::vector<std::pair<Cycle, std::uint64_t>> points_;
  std::uint64_t stride_ = 1, next_ = 0;
  Cycle last_ = 0;
};

// Writes and reads are numbered from 0; the slot of write k is that of read k - depth.
class ChannelClock {
 public:
  Cycle latency = 1;
  Cycle crossing = 0;   // to the reader's die, for a token, and back, for its slot
  Cycle lead = 0;   // cycles from what the writer's iteration reads to the write
  Cycle stalled_reader = 0, stalled_writer = 0;
  std::uint64_t declared_depth = 0;   // of the source, whatever the run was told

  void written(Cycle at, std::uint64_t depth, bool bounded) {
    if (__builtin_expect(writes_.full(), 0)) make_room(depth, bounded);
    produced_.count(writes_.end(), at);
    writes_.push(at);
  }
  // Tokens that are there from the beginning.
  void given(std::uint64_t count) {
    latency = crossing = 0;
    for (; count > 0; --count) {
      produced_.count(writes_.end(), 0);
      writes_.push(0);
    }
  }
  // The read after all those before it.
  void read(Cycle at, std::uint64_t depth, bool bounded) {
    if (__builtin_expect(frees_.full(), 0)) make_room(depth, bounded);
    consumed_.count(frees_.end(), at);
    frees_.push(at + 1 + crossing);
  }
  std::uint64_t tokens() const { return writes_.end(); }
  Cycle readable_at(std::uint64_t index) const { return writes_[index] + latency + crossing; }
  // When write `index` finds a free slot.
  Cycle writable_at(std::uint64_t index, std::uint64_t depth, bool bounded) const {
    return !bounded || index < depth ? 0 : frees_[index - depth];
  }
  // Most tokens in the FIFO at one time, as far as both sides are known.
  std::uint64_t highest() {
    settle();
    return std::max(highest_, writes_.end() > settled_writes_ ? writes_.end() - settled_frees_ : 0);
  }
  std::vector<std::pair<Cycle, std::uint64_t>> produced() const { return produced_.points(writes_.end()); }
  std::vector<std::pair<Cycle, std::uint64_t>> consumed() const { return consumed_.points(frees_.end()); }

 private:
  // Forgets what nobody asks for any more: that is done for many tokens at a time.
  __attribute__((noinline)) void make_room(std::uint64_t depth, bool bounded) {
    settle();
    writes_.drop_before(std::min(frees_.end(), settled_writes_));
    const std::uint64_t reusable = !bounded ? settled_frees_ : writes_.end() > depth ? writes_.end() - depth : 0;
    frees_.drop_before(std::min(reusable, settled_frees_));
    if (writes_.size() * 2 >= writes_.capacity()) writes_.grow();
    if (frees_.size() * 2 >= frees_.capacity()) frees_.grow();
  }

  // Counts the tokens present at each write whose time has come on the reader's side.
  void settle() {
    while (settled_writes_ < writes_.end()) {
      const Cycle at = writes_[settled_writes_];
      while (settled_frees_ < frees_.end() && frees_[settled_frees_] <= at) ++settled_frees_;
      if (settled_frees_ == frees_.end()) return;   // a later read may still come before this write
      highest_ = std::max(highest_, settled_writes_ + 1 - settled_frees_);
      ++settled_writes_;
    }
  }

  Queue<Cycle> writes_, frees_;
  std::uint64_t settled_writes_ = 0, settled_frees_ = 0, highest_ = 0;
  Curve produced_, consumed_;
};

}  // namespace stc_sim
#endif
