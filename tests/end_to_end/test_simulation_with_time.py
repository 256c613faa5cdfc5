"""Emitted projects with time: they end whatever the loop depths are, and what is reported of them holds together."""

from __future__ import annotations

from pathlib import Path

import pytest
from projects import Compile

from stc.simulation.critical_path import critical_path
from stc.simulation.simulate import TimedDesign, timed_design
from stc.simulation.timing_table import SimulationOptions

pytestmark = pytest.mark.heavy


@pytest.fixture(scope="module")
def block(compiled: Compile) -> TimedDesign:
    return timed_design(compiled("gpt2-tiny").folder, optimisation=0)


def test_it_ends_with_wrong_loop_depths(block: TimedDesign) -> None:
    """The estimate of every pipelined loop's depth may be off by far; only the cycles change."""
    cycles: list[int] = []
    for error in (0.25, 1.0, 2.0, 5.0):
        result = block.run(SimulationOptions(depth_error=error))
        assert result.passed, result.values.explanation
        assert result.cycles is not None
        cycles.append(result.cycles)
    assert cycles == sorted(cycles) and cycles[0] < cycles[-1]


@pytest.mark.parametrize(
    "options",
    [SimulationOptions(), SimulationOptions(unbounded=True), SimulationOptions(style="frp"), SimulationOptions(style="stp")],
    ids=["emitted", "unlimited", "frp", "stp"],
)
def test_what_is_reported_holds_together(block: TimedDesign, options: SimulationOptions) -> None:
    result = block.run(options)
    assert result.passed, result.values.explanation
    assert sum(part.cycles for part in critical_path(result)) == result.cycles == max(task.end for task in result.tasks)
    assert result.first_output is not None and result.cycles is not None and 0 < result.first_output < result.cycles
    for task in result.tasks:
        assert 0 < task.busy <= task.end - task.begin
        assert task.stalled_reading + task.stalled_writing == sum(wait.cycles for wait in task.waits)
    streams = {stream.name: stream for kernel in block.manifest.kernels for stream in kernel.streams}
    for fifo in result.fifos:
        assert 0 < fifo.highest_occupancy <= (fifo.depth or fifo.tokens)
        if fifo.name in streams:
            assert fifo.tokens == streams[fifo.name].tokens


def test_invocations_overlap_and_settle_to_an_interval(block: TimedDesign) -> None:
    result = block.run(SimulationOptions(invocations=5))
    assert result.cycles is not None and result.interval is not None
    assert 0 < result.interval < result.cycles
    ends = next(iter(result.ends.values()))
    assert result.interval == ends[4] - ends[3] == ends[3] - ends[2]
    assert result.tokens == 5 * block.run().tokens


def test_kernels_one_after_the_other(compiled: Compile) -> None:
    """Every kernel of a project has its cycles, and a name in the result is one task or FIFO of the whole project."""
    project = timed_design(compiled(str(Path(__file__).parent / "wide.mlir"), on_chip=1500).folder, optimisation=0)
    result = project.run(SimulationOptions(invocations=2))
    assert result.passed, result.values.explanation
    kernels = project.manifest.kernels
    assert len(kernels) > 1
    assert set(result.ends) == {kernel.name for kernel in kernels}
    assert result.cycles is not None and result.cycles == sum(ends[0] for ends in result.ends.values())
    assert result.first_output is not None and result.cycles - result.ends[kernels[-1].name][0] < result.first_output
    streams = {stream.name: stream for kernel in kernels for stream in kernel.streams}
    assert len(streams) == sum(len(kernel.streams) for kernel in kernels)
    fifos = {fifo.name: fifo for fifo in result.fifos if fifo.kind == "fifo"}
    assert {name: fifo.tokens for name, fifo in fifos.items()} == {name: 2 * stream.tokens for name, stream in streams.items()}
    assert sorted(task.name for task in result.tasks) == sorted(task.name for kernel in kernels for task in kernel.tasks)
    for kernel in kernels:
        ends = [task.end for task in result.tasks if task.name in result.kernel_tasks[kernel.name]]
        assert max(ends) == result.ends[kernel.name][-1]
    assert sum(part.cycles for part in critical_path(project.run())) == result.cycles
