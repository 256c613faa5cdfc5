// A design and a testbench that stc did not write: the testbench's main() calls the top function as it always did.
//
// The instrumented copies wrap two bodies: that of main() in run_testbench(), and that of the top function in call_top(). Each call
// of the top function is one invocation of the design. What main() returns, or gives to exit(), is the check of the values:
// 0 passes, as in the vendor's C simulation.
#ifndef STC_SIM_FOREIGN_H
#define STC_SIM_FOREIGN_H

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <optional>
#include <type_traits>

#include "report.h"

namespace stc_sim {

inline Report &foreign_report() {
  static Report *report = new Report("csim.json");   // never destroyed: written when the program exits
  return *report;
}

[[noreturn]] inline void finish_foreign(int returned) {
  std::cout.flush();
  std::fflush(nullptr);
  Report &report = foreign_report();
  if (report.runs() == 0) {
    report.refuse("the testbench never called the top function" +
                  (returned == 0 ? std::string() : ": it returned " + std::to_string(returned)));
  }
  if (returned != 0) report.refuse("the testbench returned " + std::to_string(returned));
  const int code = report.finish();
  std::fflush(nullptr);
  std::_Exit(code);
}

// An assertion that fails, or an exception that nobody catches: what is known by then is reported.
inline void report_abort(int) {
  std::signal(SIGABRT, SIG_DFL);
  Report &report = foreign_report();
  const std::string calls = std::to_string(report.runs()) + (report.runs() == 1 ? " call" : " calls") + " of the top function";
  if (scheduler.in_design()) {
    report.abort("error", "the design was aborted after " + calls);
  } else {
    const std::string when = report.runs() == 0 ? "before it called the top function" : "after " + calls;
    report.abort("finished", "the testbench was aborted " + when);
  }
  finish_foreign(0);
}

template <class Body_>
int run_testbench(Body_ body) {
  // What the report needs is made before the handler is registered, and so outlives it.
#ifdef STC_SIM_TIMED
  timing_table();
#else
  depth_table();
#endif
  foreign_report();
  std::signal(SIGABRT, &report_abort);
  ::on_exit([](int status, void *) { finish_foreign(status); }, nullptr);
  finish_foreign(body());
}

template <class Body_>
auto call_top(const char *name, Body_ body) {
  using Result = decltype(body());
  if constexpr (std::is_void_v<Result>) {
    if (!foreign_report().run(name, body)) finish_foreign(0);
  } else {
    std::optional<Result> result;
    if (!foreign_report().run(name, [&] { result.emplace(body()); })) finish_foreign(0);
    return *result;
  }
}

}  // namespace stc_sim
#endif
