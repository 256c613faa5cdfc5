// hls::stream_of_blocks for C simulation: a bounded channel of arrays, filled and drained in place under a lock (UG1399).
#ifndef STC_HLS_STREAMOFBLOCKS_H
#define STC_HLS_STREAMOFBLOCKS_H

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "stc_sim/engine.h"

namespace hls {

template <typename Value_>
class read_lock;
template <typename Value_>
class write_lock;

template <typename Value_, int Depth_ = 2>
class stream_of_blocks;

// What the locks see, whatever the depth. A block belongs to the writer from acquire to release, then to the reader; its slot is
// free when the reader releases it. Blocks are reused without being cleared, as in hardware.
template <typename Value_>
class stream_of_blocks<Value_, 0> : public stc_sim::Channel {
 public:
  void set_depth(std::uint64_t) {}  // the number of blocks is part of the type

  bool empty() { return !finds_token(); }
  bool full() { return !finds_slot(); }

 protected:
  stream_of_blocks(int depth, const char *name)
      : Channel("stream_of_blocks", std::uint64_t(depth), true),
        blocks_(new Block[std::size_t(depth)]),
        count_(std::uint64_t(depth)) {
    if (name != nullptr) set_name(name);
  }

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

  std::unique_ptr<Block[]> blocks_;
  std::uint64_t count_;
};

template <typename Value_, int Depth_>
class stream_of_blocks : public stream_of_blocks<Value_, 0> {
  static_assert(Depth_ > 0, "the depth of an hls::stream_of_blocks is positive");

 public:
  stream_of_blocks() : stream_of_blocks<Value_, 0>(Depth_, nullptr) {}
  explicit stream_of_blocks(const char *name) : stream_of_blocks<Value_, 0>(Depth_, name) {}
  explicit stream_of_blocks(const std::string &name) : stream_of_blocks<Value_, 0>(Depth_, name.c_str()) {}
};

// Blocks until there is a free block; hands it to the reader at the end of the scope.
template <typename Value_>
class write_lock {
 public:
  explicit write_lock(stream_of_blocks<Value_, 0> &blocks) : blocks_(blocks), data_(blocks.acquire_to_write()) {}
  write_lock(const write_lock &) = delete;
  write_lock &operator=(const write_lock &) = delete;
  ~write_lock() { blocks_.hand_over_block(); }
  operator Value_ &() { return data_; }
  Value_ &operator=(const Value_ &value) { return data_ = value; }

 private:
  stream_of_blocks<Value_, 0> &blocks_;
  Value_ &data_;
};

// Blocks until there is a filled block; gives it back to the writer at the end of the scope.
template <typename Value_>
class read_lock {
 public:
  explicit read_lock(stream_of_blocks<Value_, 0> &blocks) : blocks_(blocks), data_(blocks.acquire_to_read()) {}
  read_lock(const read_lock &) = delete;
  read_lock &operator=(const read_lock &) = delete;
  ~read_lock() { blocks_.give_back_block(); }
  operator Value_ &() { return data_; }

 private:
  stream_of_blocks<Value_, 0> &blocks_;
  Value_ &data_;
};

}  // namespace hls
#endif
