// hls::stream_of_blocks for C simulation: a bounded channel of arrays, filled and drained in place under a lock (UG1399).
#ifndef STC_HLS_STREAMOFBLOCKS_H
#define STC_HLS_STREAMOFBLOCKS_H

#include <cstddef>

#include "stc_sim/engine.h"

namespace hls {

template <typename Value_>
class read_lock;
template <typename Value_>
class write_lock;

template <typename Value_, int Depth_ = 2>
class stream_of_blocks;

// As in Vitis, streams of other depths derive from the one of depth 2, which alone takes arguments. A block belongs to the
// writer from acquire to release, then to the reader; its slot is free when the reader releases it. Blocks are reused without
// being cleared, as in hardware.
template <typename Value_>
class stream_of_blocks<Value_, 2> : private stc_sim::Channel {
 public:
  stream_of_blocks(int depth = 2, char *name = nullptr)
      : Channel("stream_of_blocks", std::uint64_t(depth), true),
        blocks_(new Block[std::size_t(depth)]),
        count_(std::uint64_t(depth)) {
    if (name != nullptr) set_name(name);
  }
  ~stream_of_blocks() { delete[] blocks_; }

  bool empty() { return !finds_token(); }
  bool full() { return !finds_slot(); }

 private:
  friend class read_lock<Value_>;
  friend class write_lock<Value_>;

  struct Block {
    Value_ data;
  };

  Value_ &acquire_to_write() {
    if (written_ != committed_) held_twice("write_lock");
    wait_until_block_free();
    Value_ &data = blocks_[written_ % count_].data;
    count_write();
    stamp_block();
    return data;
  }
  Value_ &acquire_to_read() {
    if (read_ != freed_) held_twice("read_lock");
    wait_until_readable();
    Value_ &data = blocks_[read_ % count_].data;
    count_read();
    stamp_read();
    return data;
  }

  [[noreturn]] void held_twice(const char *lock) const {
    stc_sim::Outcome reason;
    reason.kind = "error";
    reason.text = "stream_of_blocks '" + name() + "': a second hls::" + lock + " while one is held";
    stc_sim::scheduler.fail(std::move(reason));
  }

  Block *const blocks_;
  std::uint64_t count_;
};

template <typename Value_, int Depth_>
class stream_of_blocks : public stream_of_blocks<Value_, 2> {
  static_assert(Depth_ > 0, "the depth of an hls::stream_of_blocks is positive");

 public:
  stream_of_blocks() : stream_of_blocks<Value_, 2>(Depth_) {}
};

// Blocks until there is a free block; hands it to the reader at the end of the scope.
template <typename Value_>
class write_lock {
 public:
  write_lock(stream_of_blocks<Value_> &blocks) : blocks_(blocks), data_(blocks.acquire_to_write()) {}
  write_lock(const write_lock &) = delete;
  write_lock &operator=(const write_lock &) = delete;
  ~write_lock() {
    blocks_.tap(data_);
    blocks_.release_filled_block();
  }
  operator Value_ &() { return data_; }
  Value_ &operator=(const Value_ &value) { return data_ = value; }

 private:
  stream_of_blocks<Value_> &blocks_;
  Value_ &data_;
};

// Blocks until there is a filled block; gives it back to the writer at the end of the scope.
template <typename Value_>
class read_lock {
 public:
  read_lock(stream_of_blocks<Value_> &blocks) : blocks_(blocks), data_(blocks.acquire_to_read()) {}
  read_lock(const read_lock &) = delete;
  read_lock &operator=(const read_lock &) = delete;
  ~read_lock() { blocks_.release_read_block(); }
  operator Value_ &() { return data_; }

 private:
  stream_of_blocks<Value_> &blocks_;
  Value_ &data_;
};

}  // namespace hls
#endif
