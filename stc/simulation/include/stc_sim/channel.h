// What every stream and block channel has in common: counters, waiting, statistics. Derived classes add only storage.
//
// Five counters, each only growing, say everything about a bounded channel:
//   freed <= read <= published <= committed <= written,   written - freed <= depth
// A write takes a slot (written) and becomes visible (published); a read takes a token (read) and gives its slot back
// (freed). Outside a pipelined iteration the two halves of each happen together. Inside one, `published` and `freed`
// follow when the iteration commits: all its reads and writes fire together.
//
// With time, a write stays in the pipeline until it leaves it: `committed` counts what the iteration is done with, and `published`
// follows. Under a stop-everything pipeline (stp) later iterations have to push it out.
#ifndef STC_SIM_CHANNEL_H
#define STC_SIM_CHANNEL_H

#include <algorithm>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "depths.h"
#include "loop_run.h"
#ifdef STC_SIM_TAPPED
#include "tap.h"
#endif

namespace stc_sim {

// How wide a token is in hardware: types of any width say so themselves.
template <class Value_, class = void>
struct Bits {
  static constexpr std::uint64_t count = 8 * sizeof(Value_);
};
template <class Value_>
struct Bits<Value_, std::void_t<decltype(Value_::width)>> {
  static constexpr std::uint64_t count = Value_::width;
};
template <class Value_>
constexpr std::uint64_t bits_of() {
  return std::is_same<Value_, bool>::value ? 1 : Bits<Value_>::count;
}

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
  // Tokens computed that have not left the pipeline of their loop; and those of them that a pipeline keeps that stops as a whole.
  std::uint64_t leaving_tokens() const { return committed_ - published_; }
  std::uint64_t held_back_tokens() const { return kept_ ? leaving_tokens() : 0; }
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
#ifdef STC_SIM_TAPPED
    tap_ = taps().stream(name_);
#endif
    find_timing();
  }
  bool is_named() const { return named_; }

  // `#pragma HLS stream depth=`. A channel made outside the design belongs to the testbench and has no bound. Blocks are as many as
  // their type says.
  void set_depth(std::uint64_t depth) {
    if (!external_ && depth > 0 && std::string(kind_) == "fifo") depth_ = declared_depth_ = depth;
    find_timing();
  }

  ChannelRecord record() const {
    return {name_, kind_, producer_, consumer_, bounded_, external_, depth_, written_, highest_, published_ - read_, bits_};
  }

  // The second halves of this channel's accesses.
  void publish() {
    stamp_writes();
    committed_ = published_ = written_;
    wake(reader_waiting_);
  }
  void free_slots() {
    stamp_reads();
    freed_ = read_;
    empty_buffer();
    wake(writer_waiting_);
  }

  // A lock on a block was released, perhaps in a loop, whose pipeline then does with the block as with any write.
  void release_filled_block() {
    if (scheduler.loop != nullptr) scheduler.loop->touch();
    commit_write();
  }
  void release_read_block() {
    if (scheduler.loop != nullptr) scheduler.loop->touch();
    free_slots();
  }

  // The channels that one iteration has accessed, see LoopRun.
  Channel *next_written() const { return next_written_; }
  Channel *next_read() const { return next_read_; }
  void follows_written(Channel *next) { next_written_ = next; }
  void follows_read(Channel *next) { next_read_ = next; }

 protected:
  // A FIFO that the testbench made has no bound: it is the world outside.
  Channel(const char *kind, std::uint64_t depth, bool always_bounded, std::uint64_t bits = 0)
      : kind_(kind), external_(!scheduler.in_design()), bounded_(always_bounded || !external_), depth_(depth),
        declared_depth_(depth), bits_(bits) {
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
    keep_clock();
  }

  bool readable() const { return published_ != read_; }
  // A write needs no slot before it leaves its pipeline.
  bool writable() const { return has_slot() || in_pipeline(); }
  bool has_slot() const { return !bounded_ || written_ - freed_ < depth_; }

  void wait_until_readable() {
    settle_loop();
    while (__builtin_expect(!readable(), 0)) wait(reader_waiting_, Wait::read);
  }
  void wait_until_writable() {
    while (__builtin_expect(!writable(), 0)) wait(writer_waiting_, Wait::write);
  }
  // A block is filled in place, so that no pipeline can hold it back.
  void wait_until_block_free() {
    settle_loop();
    while (!has_slot()) wait(writer_waiting_, Wait::write);
  }

  // Whether the running task, which does not wait for it, finds a token (or a slot).
  bool finds_token() { return finds(true); }
  bool finds_slot() { return finds(false); }

  // Before an access: an earlier access of the same iteration to the same side was in an earlier cycle.
  void begin_read() {
    if (__builtin_expect(read_ != freed_, 0)) go_to_next_cycle();
  }
  void begin_write() {
    if (__builtin_expect(written_ != committed_, 0)) go_to_next_cycle();
  }

  void count_write() {
    if (__builtin_expect(written_ == 0, 0)) note_peers(Wait::write);
    ++written_;
    const std::uint64_t occupied = written_ - freed_;
    if (occupied > highest_ && (!bounded_ || occupied <= depth_)) highest_ = occupied;   // what is in a pipeline has no slot yet
  }
  void count_read() {
    if (__builtin_expect(read_ == 0, 0)) note_peers(Wait::read);
    ++read_;
  }

  // After storing or loading the token.
  void take_slot() {
    count_write();
    if (scheduler.loop == nullptr) return publish();
    scheduler.loop->wrote(this);
  }
  void take_token() {
    count_read();
    stamp_read();
    if (scheduler.loop == nullptr) return free_slots();
    scheduler.loop->read(this);
  }

  // A token, or a block, on its way in.
#ifdef STC_SIM_TAPPED
  template <class Value_>
  void tap(const Value_ &value) {
    if (tap_ != nullptr) tap_->add(value);
  }
  Tap *tap_ = nullptr;
#else
  template <class Value_>
  void tap(const Value_ &) {}
#endif

  std::uint64_t written_ = 0, committed_ = 0, published_ = 0, read_ = 0, freed_ = 0;

 private:
  // An access that cannot be in one cycle with an earlier one of the same iteration.
  static __attribute__((noinline)) void go_to_next_cycle() {
    if (scheduler.loop != nullptr) scheduler.loop->next_cycle();
  }

#ifdef STC_SIM_TIMED
 public:
  void commit_write() {
    if (!in_pipeline()) return publish();
    kept_ = scheduler.loop->clock.holds_writes();
    committed_ = written_;
    scheduler.loop->hold(this);
  }

 private:
  // Whether writes of the running task go through a pipeline.
  static bool in_pipeline() { return scheduler.loop != nullptr && !scheduler.is_host(scheduler.current); }
  // What leaves the pipeline of the running task before it reads next may be what others wait for.
  static void settle_loop() {
    if (scheduler.loop != nullptr) scheduler.loop->touch();
  }

  // Answered for the cycle in which the task asks. Where the other end is not that far, the task waits until it is, or until nobody
  // else can go on: then the earliest question is answered with no, because nothing can happen before it any more.
  bool finds(bool reads) {
    if (!scheduler.in_design() || scheduler.is_host(scheduler.current)) return reads ? readable() : writable();
    LoopRun *loop = scheduler.loop;
    TaskClock &task = scheduler.current->clock;
    if (loop != nullptr) loop->prepare_question(reads);
    const Cycle at = loop == nullptr ? task.now : reads ? loop->clock.read_time() : loop->clock.write_time();
    bool found = false;
    do {
      const bool known = reads ? readable() : has_slot();
      if (!known) continue;
      const Cycle from =
          reads ? clock_.readable_at(clock_base_ + read_) : clock_.writable_at(clock_base_ + written_, depth_, bounded_);
      found = from <= at;
      break;
    } while (scheduler.ask(at, reads ? reader_waiting_ : writer_waiting_));
    if (!found && loop == nullptr) ++task.now;
    return found;
  }

  // The running task goes on when the channel lets it, from cycle `at` on.
  void wait_until(Cycle at, bool reads) {
    TaskClock &task = scheduler.current->clock;
    if (at <= task.now) return;
    task.stalled(number_, reads, task.now, at);
    (reads ? clock_.stalled_reader : clock_.stalled_writer) += at - task.now;
    task.now = at;
  }

 protected:
  // The token just taken was there from some cycle on: the iteration, or the task, cannot have been earlier.
  void stamp_read() {
    if (scheduler.is_host(scheduler.current)) return;   // the testbench takes no time
    const Cycle at = clock_.readable_at(clock_base_ + read_ - 1);
    if (LoopRun *loop = scheduler.loop) return loop->clock.require(at, number_, true, &clock_.stalled_reader);
    wait_until(at, true);
    scheduler.require_within_limit(++scheduler.current->clock.now);
  }
  // A block just taken to be filled was free from some cycle on: the iteration, or the task, cannot have been earlier.
  void stamp_block() {
    const Cycle at = clock_.writable_at(clock_base_ + written_ - 1, depth_, bounded_);
    if (LoopRun *loop = scheduler.loop) return loop->clock.require(at, number_, false, &clock_.stalled_writer);
    wait_until(at, false);
  }

 private:
  void stamp_reads() {
    if (scheduler.is_host(scheduler.current)) return;
    const LoopRun *loop = scheduler.loop;
    const Cycle at = loop != nullptr ? loop->clock.read_time() : scheduler.current->clock.now;
    for (std::uint64_t i = freed_; i != read_; ++i) clock_.read(at, depth_, bounded_);
  }
  void stamp_writes() {
    if (scheduler.is_host(scheduler.current)) return clock_.given(written_ - published_);
    for (std::uint64_t i = published_; i != written_; ++i) {
      wait_until(clock_.writable_at(clock_base_ + i, depth_, bounded_), false);
      clock_.written(scheduler.current->clock.now, depth_, bounded_);
      clock_.lead = 0;
      scheduler.require_within_limit(++scheduler.current->clock.now);
    }
  }

 public:
  // The loop's next write to this channel, due at pipeline time `due`, leaves its pipeline once there is a slot.
  void wait_to_publish(LoopClock &loop, Cycle due) {
    while (bounded_ && published_ - freed_ >= depth_) wait(writer_waiting_, Wait::write);
    loop.wait_for_slot(due, next_slot(), number_, clock_.stalled_writer);
  }
  void publish_held(LoopClock &loop, Cycle due) { publish_at(loop.leaves(due), loop.lead()); }

  // A write of a free-running pipeline is out of it at pipeline time `due`, and enters the channel once there is a slot: when,
  // is told `loop` with the number of its iteration.
  void buffer(LoopRun &loop, Cycle due, std::uint64_t iteration) {
    buffer_.push({&loop, loop.clock.leaves(due), iteration});
    clock_.lead = loop.clock.lead();
    empty_buffer();
  }
  bool buffers_output_before(std::uint64_t iteration) const { return !buffer_.empty() && buffer_.front().iteration < iteration; }
  void wait_for_reader() { wait(writer_waiting_, Wait::write); }
  int number() const { return number_; }
  Cycle &stalled_writer() { return clock_.stalled_writer; }

  void keep_clock() {
    if (number_ != unnumbered) timeline.channels[std::size_t(number_)].second = std::move(clock_);
  }

 private:
  struct Buffered {
    LoopRun *loop;
    Cycle wanted;
    std::uint64_t iteration;
  };

  void publish_at(Cycle at, Cycle lead) {
    clock_.written(at, depth_, bounded_);
    clock_.lead = lead;
    ++published_;
    wake(reader_waiting_);
  }
  void empty_buffer() {
    for (; !buffer_.empty() && (!bounded_ || published_ - freed_ < depth_); buffer_.pop()) {
      const Buffered first = buffer_.front();
      const Cycle at = std::max(first.wanted, next_slot());
      publish_at(at, clock_.lead);
      first.loop->output_left(first.iteration, this, at);
    }
  }
  Cycle next_slot() const { return clock_.writable_at(clock_base_ + published_, depth_, bounded_); }

  // A FIFO in RAM can be read a cycle later than one of registers. The depth in the source decides: another one for a run changes
  // slots only.
  Cycle usual_latency() const { return std::string(kind_) == "fifo" && declared_depth_ > 2 ? 2 : 1; }

  // The table may know better; and an earlier invocation has used the same slots.
  void find_timing() {
    if (external_ || !named_) return;
    const TimingTable &table = timing_table();
    const bool is_fifo = std::string(kind_) == "fifo";
    const FifoTiming *fifo = table.fifo(name_);
    if (is_fifo && fifo != nullptr && fifo->depth > 0) depth_ = fifo->depth;
    if (is_fifo && table.unbounded) bounded_ = false;
    if (number_ == unnumbered) {
      number_ = timeline.number_of(name_);
      clock_ = std::move(timeline.channels[std::size_t(number_)].second);
      clock_base_ = clock_.tokens();
    }
    clock_.declared_depth = declared_depth_;
    clock_.latency = fifo != nullptr && fifo->latency > 0 ? fifo->latency : usual_latency();
    clock_.crossing = fifo != nullptr ? fifo->crossing : 0;
  }

  static constexpr int unnumbered = -2;
  int number_ = unnumbered;
  ChannelClock clock_;
  std::uint64_t clock_base_ = 0;   // tokens of earlier invocations
  Queue<Buffered> buffer_;
#else
  void find_timing() {
    if (!external_ && named_ && std::string(kind_) == "fifo") depth_ = depth_table().of(name_, depth_);
  }
  void keep_clock() {}
  static constexpr bool in_pipeline() { return false; }
  static constexpr void settle_loop() {}
  void empty_buffer() {}

 public:
  void commit_write() { publish(); }

 private:
  bool finds(bool reads) {
    if (reads ? readable() : writable()) return true;
    scheduler.poll_failed();
    return false;
  }

 protected:
  void stamp_read() {}
  void stamp_block() {}

 private:
  void stamp_reads() {}
  void stamp_writes() {}
#endif

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
  bool external_, bounded_, named_ = false, kept_ = false;
  std::string name_, producer_, consumer_;
  std::vector<std::string> users_;
  std::uint64_t depth_, declared_depth_, bits_, highest_ = 0;
  Task *reader_waiting_ = nullptr, *writer_waiting_ = nullptr;
  Channel *next_ = nullptr, *previous_ = nullptr;             // all channels alive
  Channel *next_written_ = nullptr, *next_read_ = nullptr;    // those touched by one iteration
};

// What simulation needs of a stream or stream of blocks, which designs cannot reach (a cast that sees private bases).
template <class Value_>
Channel &channel_of(Value_ &variable) {
  return (Channel &)variable;
}

inline void LoopRun::wrote(Channel *channel) {
  touched_ = true;
  channel->follows_written(written_);
  written_ = channel;
}
inline void LoopRun::read(Channel *channel) {
  touched_ = true;
  channel->follows_read(read_);
  read_ = channel;
}

}  // namespace stc_sim
#endif
