// One iteration of a pipelined loop: its stream accesses fire together when the guard leaves scope.
#ifndef STC_SIM_ITERATION_H
#define STC_SIM_ITERATION_H

#include "channel.h"

namespace stc_sim {

#ifdef STC_SIM_TIMED
inline void require_within_limit(Cycle at) {
  static const Cycle limit = timing_table().limit;
  if (__builtin_expect(at <= limit, 1)) return;
  Outcome reason;
  reason.kind = "limit";
  reason.text = "task " + scheduler.current->path + " is at cycle " + std::to_string(at) + ", beyond the limit of " +
                std::to_string(limit);
  scheduler.fail(std::move(reason));
}
#endif

// Placed by the instrumentation at the start of each pipelined loop body. Nested guards: the innermost counts.
class Iteration {
 public:
  explicit Iteration(LoopRun &run) : outer_(suspend_outer()) {
    scheduler.firing = {&run.site, &run, nullptr, nullptr};
#ifdef STC_SIM_TIMED
    run.clock.begin_iteration();
    if (run.clock.uses_memory()) run.clock.settle();
#endif
  }
  Iteration(const Iteration &) = delete;
  Iteration &operator=(const Iteration &) = delete;
  ~Iteration() {
#ifdef STC_SIM_TIMED
    LoopRun &run = *scheduler.firing.run;
    if (scheduler.firing.written != nullptr) run.clock.settle();
    Channel::commit();
    if (run.clock.is_settled()) {
      run.clock.commit();
      run.release(run.clock.issued());
      require_within_limit(run.clock.read_time());
    }
#else
    Channel::commit();
#endif
    scheduler.firing = outer_;
  }

 private:
  // What the enclosing iteration has done so far lies in earlier cycles than all of this one.
  static Firing suspend_outer() {
    if (scheduler.firing.site != nullptr) Channel::commit();
    return scheduler.firing;
  }

  const Firing outer_;
};

#ifdef STC_SIM_TIMED

inline LoopRun::LoopRun(const LoopSite &loop)
    : site(loop), clock(timing_table().of(loop), scheduler.current->clock) {}

inline LoopRun::~LoopRun() {
  if (scheduler.failed()) return;
  release(~Cycle(0));
  clock.end();
  require_within_limit(scheduler.current->clock.now);
}

inline void LoopRun::release(Cycle reached) {
  while (first_held_ < held_.size() && held_[first_held_].due <= reached) {
    const Held next = held_[first_held_++];
    next.channel->publish_held(clock, next.due);
  }
  if (first_held_ == held_.size() && first_held_ != 0) held_.clear(), first_held_ = 0;
}

#else

inline LoopRun::LoopRun(const LoopSite &loop) : site(loop) {}
inline LoopRun::~LoopRun() {}

#endif

}  // namespace stc_sim
#endif
