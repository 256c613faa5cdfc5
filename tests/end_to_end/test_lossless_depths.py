"""Emitted designs at the depths that the LP asks for, and at the emitted ones: as fast as without FIFO limits.

What the schedule has to know of time, by design:
* seed 1014 and `wide.mlir`: words of 512 bits come from external memory, and go there, at less than one per cycle;
* seed 1182: a FIFO of two slots answers a cycle sooner than a deeper one, also in the design without limits;
* seed 44: loops that wait for the ports of their memory are deeper than their longest chain.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from projects import Compile

from stc.simulation.batch import timed_runs
from stc.simulation.design_runs import DesignRuns
from stc_testing.fuzzing.levels import draw_case, emit_case

pytestmark = pytest.mark.heavy

SEEDS = (44, 1014, 1182)


def cycles(runs: DesignRuns) -> tuple[int | None, int | None, int | None]:
    """Without limits, at the emitted depths, at those of the LP."""
    required = {stream.name: stream.required or stream.depth for stream in runs.sized}
    return runs.run(runs.unlimited).cycles, runs.emitted.cycles, runs.run(required).cycles


def test_random_graphs_lose_no_cycle(tmp_path: Path) -> None:
    projects = [tmp_path / f"g{seed}" for seed in SEEDS]
    for seed, project in zip(SEEDS, projects, strict=True):
        emit_case(draw_case(seed), project)
    for name, runs in timed_runs(projects, tmp_path).items():
        unlimited, emitted, required = cycles(runs)
        assert unlimited is not None and emitted == required == unlimited, name
        shallow = runs.run({stream.name: 2 for stream in runs.sized}).cycles
        assert shallow is None or shallow > unlimited, name


def test_kernels_that_store_faster_than_memory_takes_lose_no_cycle(compiled: Compile) -> None:
    runs = DesignRuns.build(compiled(str(Path(__file__).parent / "wide.mlir"), on_chip=1500).folder, optimisation=0)
    unlimited, emitted, required = cycles(runs)
    assert unlimited is not None and emitted == required == unlimited
    shallow = runs.run({stream.name: 2 for stream in runs.sized}).cycles
    assert shallow is not None and shallow > unlimited
