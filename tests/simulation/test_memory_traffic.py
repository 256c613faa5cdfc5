"""What passes through each channel of external memory: counted by the header, and of whole designs, simulated beside estimated."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from conftest import compile_program, run_program
from handmade import fifo, loop, manifest

from stc.manifest.files import read_manifest
from stc.manifest.schema import Manifest, MemoryAccess, MemoryTiming, Port, Task, TaskWork
from stc.simulation.memory_traffic import BINS, ChannelUse, estimated_channels, measured_channels
from stc.simulation.simulate import simulate
from stc.simulation.timing_table import SimulationOptions, linked_table
from stc.tools.compile import CompileRequest, compile_model
from stc_testing.commands import Stc
from stc_testing.small import small_options

heavy = pytest.mark.heavy
LINEAR = Path(__file__).parents[2] / "examples" / "linear_relu.mlir"

PROGRAM = """
#include "stc_sim.h"
#include <cstdio>
using namespace stc_sim;

int main() {
  MemoryTraffic traffic;
  for (int word = 0; word < 100; ++word) traffic.pass(word * 1.2, 1.2, 64, true);   // 120 cycles, one after the other
  for (int word = 0; word < 10; ++word) traffic.pass(100 + word, 1, 16, false);      // of which these overlap with ten
  traffic.pass(1000000.5, 4, 7, true);                                              // spans get longer
  double read = 0, written = 0;
  for (double bytes : traffic.read()) read += bytes;
  for (double bytes : traffic.written()) written += bytes;
  std::printf("%llu %g %g %llu %d\\n", (unsigned long long)traffic.busy(), read, written, (unsigned long long)traffic.span(),
              traffic.read().size() * traffic.span() > 1000000);
}
"""


@heavy
def test_a_cycle_is_busy_once_whoever_moves_a_word_in_it(tmp_path: Path, headers: Path) -> None:
    told = run_program(compile_program(PROGRAM, tmp_path, headers, "-DSTC_SIM_TIMED")).stdout.split()
    assert told == ["124", "6407", "160", "4096", "1"]


# By hand --------------------------------------------------------------------------------------------------------------


def port(name: str, bank: int | None, words: int = 100, direction: str = "read", bundle: str | None = None) -> Port:
    side = "write" if direction == "write" else "read"
    return Port(name, "parameter", side, "f32", 15, words, 60 * words, name, name, (15 * words,), None, bundle=bundle, bank=bank)


def design(*ports: Port, moves: dict[str, int]) -> Manifest:
    """One kernel, whose task `load` moves words of 60 bytes (15 entries) through its ports, in one loop."""
    made = manifest([fifo("words", "load", "fc", 100)], [loop("load", "load_loop", 100), loop("fc", "fc_loop", 100)])
    (kernel,) = made.kernels
    first, *others = kernel.schedule
    first = replace(first, memory=tuple(MemoryAccess(port.name, 60) for port in ports))
    load = Task("load", "load", None, tuple(moves), ("words",), work=TaskWork(0, 0, 0, moves))
    tasks = (load, *(task for task in kernel.tasks if task.name != "load"))
    kernel = replace(kernel, ports=ports, tasks=tasks, schedule=(first, *others))
    return replace(made, kernels=(kernel,), memory=MemoryTiming(250.0, 100, 60.0, 16, 16, 0.0))


def test_an_estimate_says_how_long_ports_could_be_busy_together_and_one_after_the_other() -> None:
    ports = (port("a", 0), port("b", 0, 50), port("c", 1, direction="write"))
    made = design(*ports, moves={"a": 6000, "b": 3000, "c": 60})
    uses = estimated_channels(made, {"top": 1000})
    assert uses is not None and uses.origin.startswith("estimated")
    shared, own = uses.channels
    assert (shared.ports, shared.read, shared.written) == (("a", "b"), 9000, 0)
    assert (shared.busy, shared.busy_most, shared.idle) == (150, 150, 850)   # a word a cycle, of whichever port
    assert shared.share == pytest.approx(0.15)
    assert (own.read, own.written, own.busy, own.busy_most) == (0, 60, 1, 1)
    assert [use.channel for use in uses.busiest_first] == [0, 1]
    slow = replace(made, memory=MemoryTiming(250.0, 100, 90.0, 16, 16, 0.0))   # which brings 1.5 words a cycle, of two ports
    (shared, _) = (estimated_channels(slow, {"top": 1000}) or pytest.fail()).channels
    assert (shared.busy, shared.busy_most, shared.idle) == (100, 150, 900)
    (shared, _) = (estimated_channels(slow, {"top": 90}) or pytest.fail()).channels   # no longer busy than it takes
    assert (shared.busy, shared.busy_most, shared.idle) == (90, 90, 0)
    padded = replace(made, kernels=(replace(made.kernels[0], ports=tuple(replace(each, bytes=80 * each.words) for each in ports)),))
    (shared, _) = (estimated_channels(padded, {"top": 1000}) or pytest.fail()).channels
    assert (shared.busy, shared.busy_most) == (200, 200)   # 150 words of 80 bytes with their padding, of 60 a cycle


def test_ports_of_one_bundle_take_turns() -> None:
    made = design(port("a", 0, bundle="gmem"), port("b", 0, 50, bundle="gmem"), moves={"a": 6000, "b": 3000})
    uses = estimated_channels(made, {"top": None})
    assert uses is not None
    (use,) = uses.channels
    assert (use.busy, use.busy_most, use.idle, use.share, use.read_over_time) == (150, 150, None, None, ())


def test_nothing_is_said_where_nobody_knows_the_memory() -> None:
    made = design(port("a", 0), moves={"a": 6000})
    assert estimated_channels(replace(made, memory=None), {"top": 1}) is None
    assert estimated_channels(design(port("a", None), moves={"a": 6000}), {"top": 1}) is None
    assert linked_table(replace(made, memory=None)) == ""
    older = {"ports": [{"port": "a", "words": 100, "first_write": None}]}   # a project with the simulator of an earlier version
    assert measured_channels(made, older, {"top": (100,)}) is None


def test_bytes_over_time_sum_to_all_bytes_whatever_the_spans() -> None:
    made = design(port("a", 0), moves={})
    read = [60 * (at % 7) for at in range(31)]
    timing = {
        "ports": [{"port": "a", "words": sum(read) // 60, "accesses": sum(read) // 60}],
        "traffic": [{"channel": "top.0", "busy": 90, "span": 32, "read": read, "written": [0] * 31}],
    }
    uses = measured_channels(made, timing, {"top": (400, 977)})
    assert uses is not None
    (use,) = uses.channels
    assert (use.cycles, use.busy, use.idle, use.read) == (977, 90, 887, sum(read))
    assert len(use.read_over_time) == BINS and sum(use.read_over_time) == sum(read) and min(use.read_over_time) >= 0


# Whole designs --------------------------------------------------------------------------------------------------------


def compiled(folder: Path, **options: object) -> Path:
    if shutil.which("g++") is None:
        pytest.skip("g++ is needed")
    compile_model(CompileRequest(str(LINEAR), options=small_options(**options)), folder)
    return folder


def stretches(project: Path, use: ChannelUse) -> int:
    """How often a loop begins to move words of the channel's ports: so many cycles may rounding cost."""
    names = {name.rpartition(".")[2] for name in use.ports}
    found = 0
    for kernel in read_manifest(project).kernels:
        counts = kernel.executions
        moving = [each for each in kernel.schedule if each.ii is not None and names & {access.port for access in each.memory}]
        found += sum(counts.get((each.task, each.parent or ""), 1) for each in moving)
    return found


def require_agreement(project: Path, invocations: int = 1) -> tuple[ChannelUse, ...]:
    result = simulate(project, SimulationOptions(invocations=invocations), optimisation=0)
    report = json.loads((project / "report.json").read_text())
    assert result.passed and result.memory is not None
    said = {use["channel"]: use for use in report["memory_channels"]["channels"]}
    assert said.keys() == {use.channel for use in result.memory.channels}
    for use in result.memory.channels:
        estimate, slack = said[use.channel], stretches(project, use)
        assert use.read == estimate["read"] * invocations and use.written == estimate["written"] * invocations
        assert (estimate["busy"] - slack) * invocations <= use.busy <= (estimate["busy_most"] + slack) * invocations
        assert (use.busy, use.idle) == (use.busy_most, (use.cycles or 0) - use.busy)
    traffic = report["external_traffic_bytes"]
    moved = [sum(side) for side in zip(*((use.read, use.written) for use in result.memory.channels), strict=True)]
    assert moved == [traffic["read"] * invocations, traffic["written"] * invocations]
    return result.memory.channels


@heavy
def test_a_run_moves_the_bytes_that_were_estimated_in_about_as_many_cycles(tmp_path: Path) -> None:
    require_agreement(compiled(tmp_path / "one"), invocations=2)


@heavy
def test_kernels_that_share_channels_one_after_the_other(tmp_path: Path) -> None:
    project = compiled(tmp_path / "two", fusion="separate")
    uses = require_agreement(project)
    assert len(read_manifest(project).kernels) > 1 and any(use.read and use.written for use in uses)


@heavy
def test_one_channel_for_all_ports(tmp_path: Path, stc: Stc) -> None:
    project = compiled(tmp_path / "ddr", platform="kv260")
    (use,) = require_agreement(project)
    assert use.channel == 0 and len(use.ports) == len(read_manifest(project).kernels[0].ports)
    for command in ("simulate", "estimate"):
        told = json.loads(stc(command, project, "--json").stdout)["memory"]
        assert [told["channels"][0][side] for side in ("read", "written")] == [use.read, use.written]
        assert "memory channels by cycles busy" in stc(command, project).stdout
