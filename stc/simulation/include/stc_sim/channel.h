// What every stream and block channel has in common: counters, waiting, statistics. Derived classes add only storage.
//
// Four counters, each only growing, say everything about a bounded channel:
//   freed <= read <= published <= written,   written - freed <= depth
// A write takes a slot (written) and becomes visible (published); a read takes a token (read) and gives its slot back
// (freed). Outside a pipelined iteration the two halves of each happen together. Inside one, `published` and `freed`
// follow when the iteration commits: all its reads and writes fire together.
//
// Timing (a later extension) hooks in at exactly four places: count_write, publish, count_read, free_slots.
#ifndef STC_SIM_CHANNEL_H
#define STC_SIM_CHANNEL_H

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "scheduler.h"

namespace stc_sim {

class Channel {
 public:
  Channel(const Channel &) = delete;
  Channel &operator=(const Channel &) = delete;

  const std::string &name() const { return name_; }
  const char *kind() const { return kind_; }
  bool bounded() const { return bounded_; }
  bool external() const { return external_; }
  std::uint64_t depth() const { return depth_; }
  std::uint64_t tokens_written() const { return written_; }
  std::uint64_t tokens_read() const { return read_; }
  std::uint64_t occupancy() const { return written_ - freed_; }
  std::uint64_t uncommitted_reads() const { return read_ - freed_; }
  const std::string &producer() const { return producer_; }
  const std::string &consumer() const { return consumer_; }
  Channel *next_alive() const { return next_; }

  // A task was given this channel, which does not mean that it has used it yet.
  void add_user(const std::string &task) {
    if (std::find(users_.begin(), users_.end(), task) == users_.end()) users_.push_back(task);
  }

  // The task at the other end: the last one given the channel that neither is `task` nor contains it.
  std::string peer_of(const std::string &task) const {
    for (auto user = users_.rbegin(); user != users_.rend(); ++user) {
      if (task.compare(0, user->size(), *user) != 0 || (task.size() > user->size() && task[user->size()] != '.')) {
        return *user;
      }
    }
    return "";
  }

  void set_name(const char *name) {
    name_ = scheduler.path_below_top(name);
    named_ = true;
  }
  bool is_named() const { return named_; }

  // `#pragma HLS stream depth=`. A channel made outside the design belongs to the testbench and has no bound.
  void set_depth(std::uint64_t depth) {
    if (bounded_ && depth > 0) depth_ = depth;
  }

  ChannelRecord record() const {
    return {name_, kind_, producer_, consumer_, bounded_, external_, depth_, written_, highest_, published_ - read_};
  }

  // The second halves of this channel's accesses.
  void publish() {
    published_ = written_;
    wake(reader_waiting_);
  }
  void free_slots() {
    freed_ = read_;
    wake(writer_waiting_);
  }

  // Ends the current cycle of the iteration under way: all that it wrote and read so far takes effect.
  static void commit() {
    for (Channel *c = std::exchange(scheduler.firing.written, nullptr); c != nullptr; c = c->next_written_) c->publish();
    for (Channel *c = std::exchange(scheduler.firing.read, nullptr); c != nullptr; c = c->next_read_) c->free_slots();
  }

 protected:
  // A FIFO that the testbench made has no bound: it is the world outside.
  Channel(const char *kind, std::uint64_t depth, bool always_bounded)
      : kind_(kind), external_(!scheduler.in_design()), bounded_(always_bounded || !external_), depth_(depth) {
    name_ = scheduler.path_below_top("(unnamed)");
    next_ = scheduler.channels;
    if (next_ != nullptr) next_->previous_ = this;
    scheduler.channels = this;
  }

  ~Channel() {
    if (scheduler.failed()) return;  // neighbours may lie on an abandoned stack
    if (next_ != nullptr) next_->previous_ = previous_;
    (previous_ != nullptr ? previous_->next_ : scheduler.channels) = next_;
    scheduler.keep(record());
  }

  bool readable() const { return published_ != read_; }
  bool writable() const { return !bounded_ || written_ - freed_ < depth_; }

  void wait_until_readable() {
    while (__builtin_expect(!readable(), 0)) wait(reader_waiting_, Wait::read);
  }
  void wait_until_writable() {
    while (__builtin_expect(!writable(), 0)) wait(writer_waiting_, Wait::write);
  }

  // Before an access: an earlier access of the same iteration to the same side was in an earlier cycle.
  void begin_read() {
    if (__builtin_expect(read_ != freed_, 0)) commit();
  }
  void begin_write() {
    if (__builtin_expect(written_ != published_, 0)) commit();
  }

  void count_write() {
    if (__builtin_expect(written_ == 0, 0)) note_peers(Wait::write);
    ++written_;
    const std::uint64_t occupied = written_ - freed_;
    if (occupied > highest_) highest_ = occupied;
  }
  void count_read() {
    if (__builtin_expect(read_ == 0, 0)) note_peers(Wait::read);
    ++read_;
  }

  // After storing or loading the token.
  void take_slot() {
    count_write();
    if (scheduler.firing.site == nullptr) {
      publish();
    } else {
      next_written_ = scheduler.firing.written;
      scheduler.firing.written = this;
    }
  }
  void take_token() {
    count_read();
    if (scheduler.firing.site == nullptr) {
      free_slots();
    } else {
      next_read_ = scheduler.firing.read;
      scheduler.firing.read = this;
    }
  }

  std::uint64_t written_ = 0, published_ = 0, read_ = 0, freed_ = 0;

 private:
  void wait(Task *&slot, Wait what) {
    if (slot != nullptr && slot != scheduler.current) conflict(slot, what);
    note_peers(what);
    slot = scheduler.current;
    scheduler.block(what, this);
  }

  static void wake(Task *&slot) {
    if (slot == nullptr) return;
    Task *task = slot;
    slot = nullptr;
    scheduler.make_ready(task);
  }

  void note_peers(Wait what) {
    std::string &peer = what == Wait::read ? consumer_ : producer_;
    if (peer.empty()) peer = scheduler.current->path;
  }

  [[noreturn]] void conflict(const Task *other, Wait what) const {
    Outcome reason;
    reason.kind = "error";
    reason.text = std::string(kind_) + " '" + name_ + "' has two " + (what == Wait::read ? "readers: " : "writers: ") +
                  other->path + " and " + scheduler.current->path;
    scheduler.fail(std::move(reason));
  }

  const char *kind_;
  bool external_, bounded_, named_ = false;
  std::string name_, producer_, consumer_;
  std::vector<std::string> users_;
  std::uint64_t depth_, highest_ = 0;
  Task *reader_waiting_ = nullptr, *writer_waiting_ = nullptr;
  Channel *next_ = nullptr, *previous_ = nullptr;             // all channels alive
  Channel *next_written_ = nullptr, *next_read_ = nullptr;    // those touched by one iteration
};

}  // namespace stc_sim
#endif
