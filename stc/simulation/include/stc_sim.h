// C simulation of a Vitis HLS dataflow design without vendor tools: the header a testbench includes.
//
//     stc_sim::Report report("build/csim.json");
//     std::vector<float> x = stc_sim::load<float>("golden/x.bin", 1024), out(1024), golden = ...;
//     report.run("top", [&] { top(x.data(), out.data()); });
//     report.compare("out", out.data(), golden.data(), golden.size(), 1e-4);
//     return report.finish();
//
// The design is the copy that `instrument.py` makes of kernel.cpp: each task call of a `#pragma HLS dataflow`
// body runs on
// a fiber of its own, FIFOs have their real depths, and a design that cannot go on is explained at once.
//
//   stc_sim/fiber.h      stacks and the switch between them
//   stc_sim/scheduler.h  tasks, who runs next, how a run ends
//   stc_sim/bounds.h     indices that leave their array
//   stc_sim/channel.h    slots and tokens, waiting, statistics
//   stc_sim/tap.h        what crosses a stream, and what a task rounds, in files
//   stc_sim/clock.h      time: of tasks; channel_clock.h: of FIFOs; loop_clock.h: of pipelined loops and memory
//   stc_sim/loop_run.h   a pipelined loop and its iterations
//   stc_sim/iteration.h  the firing rule of pipelined iterations
//   stc_sim/region.h     dataflow regions: spawning, release of variables, joining
//   stc_sim/diagnosis.h  explanations
//   stc_sim/report.h     comparison and csim.json
//   stc_sim/foreign.h    testbenches that stc did not write
#ifndef STC_SIM_H
#define STC_SIM_H

#include "stc_sim/report.h"

#endif
