"""A GPT-2 block with time: it ends whatever the loop depths are, and what is reported of it holds together."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from stc.simulation.critical_path import critical_path
from stc.simulation.simulate import TimedDesign, timed_design
from stc.simulation.timing_table import SimulationOptions


@pytest.fixture(scope="module")
def block(compiled: Callable) -> TimedDesign:
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
