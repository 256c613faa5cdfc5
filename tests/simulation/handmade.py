"""Designs written by hand or generated, built once with time and run at any depths, without a project folder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from conftest import HEADERS, compile_program

from stc.manifest.schema import SCHEMA_VERSION, Kernel, LoopSchedule, Manifest, Stream, Task
from stc.simulation.build import Build
from stc.simulation.instrument import instrument
from stc.simulation.simulate import SimulationResult, TimedDesign
from stc.simulation.timing_table import SimulationOptions


def fifo(name: str, producer: str, consumer: str, tokens: int, depth: int = 2) -> Stream:
    return Stream(name, "i32", 1, 32, depth, "srl", producer, consumer, tokens)


def loop(
    task: str, label: str, trip: int, depth: int = 1, reads: Sequence[str] = (), writes: Sequence[str] = (), ii: int = 1
) -> LoopSchedule:
    return LoopSchedule(task, label, None, trip, ii, depth, 1, False, dict.fromkeys(reads, 1), dict.fromkeys(writes, 1), ())


def manifest(streams: Sequence[Stream], loops: Sequence[LoopSchedule] = ()) -> Manifest:
    names = list(dict.fromkeys(name for s in streams for name in (s.producer, s.consumer)))
    tasks = tuple(
        Task(name, "compute", None, tuple(s.name for s in streams if s.consumer == name),
             tuple(s.name for s in streams if s.producer == name))
        for name in names
    )
    kernel = Kernel("top", (), tasks, tuple(streams), (), tuple(loops))
    return Manifest(SCHEMA_VERSION, "handmade", "u55c", (kernel,), (), (), 0.0, {}, {}, {})


def fork_join(depth: int, summed: int = 16) -> str:
    """Side `direct`, `depth` deep, waits for the total of `summed` of the other side's 16 tokens: with less room it deadlocks."""
    return f"""
static void split(const int *x, hls::stream<int> &direct, hls::stream<int> &around) {{
  split_loop: for (int i = 0; i < 16; i++) {{
#pragma HLS pipeline II=1 style=flp
    direct.write(x[i]);
    around.write(x[i]);
  }}
}}
static void total(hls::stream<int> &in, hls::stream<int> &out) {{
  int sum = 0;
  total_loop: for (int i = 0; i < {summed}; i++) {{
#pragma HLS pipeline II=1 style=flp
    sum += in.read();
  }}
  out.write(sum);
}}
static void join(hls::stream<int> &direct, hls::stream<int> &sum, int *y) {{
  int s = sum.read();
  join_loop: for (int i = 0; i < 16; i++) {{
#pragma HLS pipeline II=1 style=flp
    y[i] = direct.read() + s;
  }}
}}
extern "C" void top(const int *x, int *y) {{
#pragma HLS dataflow
  hls::stream<int, {depth}> direct("direct");
  hls::stream<int, 2> around("around"), sum("sum");
  split(x, direct, around);
  total(around, sum);
  join(direct, sum, y);
}}
"""


class Handmade:
    """A design and its manifest; `run` runs it with depths by name."""

    def __init__(self, kernel: str, content: Manifest, folder: Path, headers: Path, call: str = "top(x.data(), y.data())"):
        source = instrument(HEADERS + kernel, "kernel.cpp")
        source += f"""
#include "stc_sim.h"
int main() {{
  stc_sim::Report report("csim.json");
  std::vector<int> x(4096, 1), y(4096);
  report.run("top", [&] {{ {call}; }});
  return report.finish();
}}
"""
        binary = compile_program(source, folder, headers, "-DSTC_SIM_TIMED")
        (folder / "build").mkdir()
        self.manifest = content
        self.design = TimedDesign(folder, content, Build(binary, False), 0.0)

    def run(self, depths: Mapping[str, int], style: str | None = None, unbounded: bool = False) -> SimulationResult:
        return self.design.run(SimulationOptions(depths=depths, style=style, unbounded=unbounded), 20)

    def ends(self, depths: Mapping[str, int]) -> bool:
        return self.run(depths).values.outcome == "finished"

    def least(self, name: str, depths: Mapping[str, int], most: int) -> int:
        """The least depth of one FIFO at which the design ends, by trying each."""
        return next(depth for depth in range(1, most + 1) if self.ends({**depths, name: depth}))
