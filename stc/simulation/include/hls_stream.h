// hls::stream for C simulation: bounded as in hardware, one writer, one reader. See stc_sim/channel.h for what a
// slot is.
#ifndef STC_HLS_STREAM_H
#define STC_HLS_STREAM_H

#include <cstddef>
#include <utility>

#include "stc_sim/engine.h"

namespace hls {

// As in Vitis, stream<T, DEPTH> derives from stream<T, 0>, so that a task takes `hls::stream<T> &` of any depth. What
// simulation needs besides the vendor's interface (../interface) is private: the engine reaches it by `stc_sim::channel_of`.
template <typename Value_, int Depth_ = 0>
class stream;

template <typename Value_>
class stream<Value_, 0> : private stc_sim::Channel {
 public:
  using value_type = Value_;

  stream() : stream(default_depth, nullptr) {}
  stream(const char *name) : stream(default_depth, name) {}
  ~stream() { delete[] ring_; }

  void write(const Value_ &value) {
    begin_write();
    wait_until_writable();
    store(value);
  }

  Value_ read() {
    begin_read();
    wait_until_readable();
    return load();
  }
  void read(Value_ &value) { value = read(); }

  bool write_nb(const Value_ &value) {
    begin_write();
    if (!finds_slot()) return false;
    store(value);
    return true;
  }

  bool read_nb(Value_ &value) {
    begin_read();
    if (!finds_token()) return false;
    value = load();
    return true;
  }

  void operator<<(const Value_ &value) { write(value); }
  void operator>>(Value_ &value) { read(value); }

  bool empty() { return !finds_token(); }
  bool full() { return !finds_slot(); }
  std::size_t size() { return std::size_t(published_ - read_); }
  std::size_t capacity() { return std::size_t(depth()); }

 protected:
  static constexpr std::uint64_t default_depth = 2;

  stream(std::uint64_t depth, const char *name) : Channel("fifo", depth, false, stc_sim::bits_of<Value_>()) {
    if (name != nullptr) set_name(name);
  }

 private:
  void store(const Value_ &value) {
    if (__builtin_expect(written_ - freed_ > mask_ || ring_ == nullptr, 0)) grow();
    ring_[written_ & mask_] = value;
    tap(value);
    take_slot();
  }

  Value_ load() {
    Value_ value = ring_[read_ & mask_];
    take_token();
    return value;
  }

  // Storage follows the occupancy that occurs, not the declared depth: a deep FIFO that stays empty costs nothing.
  void grow() {
    const std::uint64_t old_mask = mask_, capacity = ring_ == nullptr ? 4 : 2 * (mask_ + 1);
    Value_ *const larger = new Value_[capacity];
    mask_ = capacity - 1;
    for (std::uint64_t i = freed_; i != written_; ++i) larger[i & mask_] = std::move(ring_[i & old_mask]);
    delete[] ring_;
    ring_ = larger;
  }

  Value_ *ring_ = nullptr;  // no std::unique_ptr: that is 50 more functions to compile for each type of token
  std::uint64_t mask_ = 0;
};

template <typename Value_, int Depth_>
class stream : public stream<Value_, 0> {
  static_assert(Depth_ > 0, "the depth of an hls::stream is positive");

 public:
  stream() : stream<Value_, 0>(Depth_, nullptr) {}
  stream(const char *name) : stream<Value_, 0>(Depth_, name) {}
};

}  // namespace hls
#endif
