// One iteration of a pipelined loop: its stream accesses fire together when the guard leaves scope.
#ifndef STC_SIM_ITERATION_H
#define STC_SIM_ITERATION_H

#include "channel.h"

namespace stc_sim {

enum class Style { unspecified, stp, flp, frp };

// A pipelined loop of the source, known at compile time. `label` is "" where the source has none; `ii` 0 where
// the pragma
// leaves it to the tool. A timing model keeps its state by this address.
struct LoopSite {
  const char *function, *label;
  int line, ii;
  Style style;
};

// Placed by the instrumentation at the start of each pipelined loop body. Nested guards: the innermost counts.
class Iteration {
 public:
  explicit Iteration(const LoopSite &site) : outer_(suspend_outer()) {
    scheduler.firing = {&site, nullptr, nullptr};
  }
  Iteration(const Iteration &) = delete;
  Iteration &operator=(const Iteration &) = delete;
  ~Iteration() {
    Channel::commit();
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

}  // namespace stc_sim
#endif
