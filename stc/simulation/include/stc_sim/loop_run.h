// One execution of a pipelined loop, from its first iteration to the last one's end.
#ifndef STC_SIM_LOOP_RUN_H
#define STC_SIM_LOOP_RUN_H

#include "scheduler.h"
#include "timing_table.h"

namespace stc_sim {

// Placed by the instrumentation around each pipelined loop.
class LoopRun {
 public:
  explicit LoopRun(const LoopSite &site);
  LoopRun(const LoopRun &) = delete;
  LoopRun &operator=(const LoopRun &) = delete;
  ~LoopRun();

  const LoopSite &site;

#ifdef STC_SIM_TIMED
  LoopClock clock;

  // A write of a pipeline that stops as a whole: it leaves when later iterations, or the loop's end, push it out.
  void hold(Channel *channel) { held_.push_back({channel, clock.due()}); }
  void release(Cycle reached);

 private:
  struct Held {
    Channel *channel;
    Cycle due;
  };
  std::vector<Held> held_;
  std::size_t first_held_ = 0;
#endif
};

}  // namespace stc_sim
#endif
