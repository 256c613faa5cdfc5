// One execution of a pipelined loop, from its first iteration to the last one's end, and the iterations of it.
#ifndef STC_SIM_LOOP_RUN_H
#define STC_SIM_LOOP_RUN_H

#include <algorithm>
#include <deque>
#include <vector>

#include "scheduler.h"
#include "timing_table.h"

namespace stc_sim {

// Placed by the instrumentation around each pipelined loop. Nested ones: the innermost counts.
class LoopRun {
 public:
  explicit LoopRun(const LoopSite &site);
  LoopRun(const LoopRun &) = delete;
  LoopRun &operator=(const LoopRun &) = delete;
  ~LoopRun();

  const LoopSite &site;

  // Most iterations only compute: what they cost here must vanish in the optimiser. An access to a channel touches.
  void begin_iteration() {
    touched_ = false;
#ifdef STC_SIM_TIMED
    clock.begin_iteration();
    ++iteration_;
#endif
  }
  bool touched() const { return touched_; }
  void end_iteration();

  void wrote(Channel *channel);
  void read(Channel *channel);

  // Ends the current cycle of the iteration under way: all that it wrote and read so far takes effect.
  void commit_accesses();

  // The accesses so far lie in earlier cycles than what follows in this iteration.
  void split_iteration();

#ifdef STC_SIM_TIMED
  LoopClock clock;

  // The number of the one under way.
  std::uint64_t iteration() const { return iteration_; }

  void touch() {
    if (__builtin_expect(one_by_one() > 1, 0)) settle_earlier(1);
    if (clock.settle()) begin_accesses();
    touched_ = true;
  }

  // The iteration goes on a cycle later: an access cannot be in one cycle with an earlier one.
  void next_cycle() {
    split_iteration();
    clock.next_cycle();
    ++cycle_;
    release_before(clock.reading());
  }

  // Before a question about the cycle in which the iteration under way reads, or in which its writes leave: whatever is out by then
  // is given to the others, whose answer may depend on it.
  void prepare_question(bool reads) {
    touch();
    if (!reads) commit_accesses();
    release_before((reads ? clock.reading() : clock.due()) + 1);
  }

  // A write: it leaves when the pipeline has come that far.
  void hold(Channel *channel);

  // frp: one of the outputs of iteration `number` entered `channel` at cycle `at`.
  void output_left(std::uint64_t number, Channel *channel, Cycle at);

 private:
  void begin_accesses();
  void end_accesses();
  void release_before(Cycle pipeline_time);
  void release_committed();
  void settle_earlier(std::uint64_t left);

  // How many iterations began that cannot be settled at once: each moves a word of external memory, or may find no room (frp).
  std::uint64_t one_by_one() const { return clock.moves_memory() || !outputs_.empty() ? clock.begun() : 0; }

  struct Held {
    Channel *channel;         // none for a word of external memory
    Cycle due;
    std::uint64_t cycle, iteration;   // of accesses, or that wrote something, by number
  };
  void hold(Held write);
  Queue<Held> held_;          // in the order of `due`
  std::vector<Held> open_;    // of the iteration under way, before all its accesses are known: `due` counts from its first write
  std::uint64_t iteration_ = 0;
  std::uint64_t cycle_ = 0, last_cycle_ = 0;   // of accesses: under way, and of the last write
  Cycle last_due_ = 0;

  // frp: the iterations that wrote something, those left out that began the queue and have left their buffers.
  struct Outputs {
    std::uint64_t waiting;    // how many have not entered their channels
    Cycle left;               // when the last one of those that have did
    Channel *last;
  };
  std::deque<Outputs> outputs_;
  std::uint64_t outputs_gone_ = 0;
  bool writes_ = false;       // whether the iteration under way is one of them
  std::vector<Channel *> outputs_to_;

  std::uint64_t count_output(Channel *channel);
  void wait_for_room();
  Outputs wait_for_outputs(std::uint64_t count);
#else
  void touch() { touched_ = true; }
  void next_cycle() { split_iteration(); }

 private:
#endif
  LoopRun *const outer_;
  Channel *written_ = nullptr, *read_ = nullptr;   // what the iteration has not committed
  bool touched_ = false;
};

// Placed by the instrumentation at the start of each pipelined loop body: the stream accesses of an iteration fire together
// when it leaves scope.
class Iteration {
 public:
  explicit Iteration(LoopRun &run) : run_(run) { run.begin_iteration(); }
  Iteration(const Iteration &) = delete;
  Iteration &operator=(const Iteration &) = delete;
  ~Iteration() {
    if (run_.touched()) run_.end_iteration();
  }

 private:
  LoopRun &run_;
};

}  // namespace stc_sim
#endif
