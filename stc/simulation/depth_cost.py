"""What the FIFO depths of a timed run cost: the same run with unlimited FIFOs, and which FIFO it is that lacks room.

In the run with unlimited FIFOs each holds all its tokens, except that one written by a load task keeps the depth of the source:
how far a DMA runs ahead has its own budget.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from stc.diagnostics import CompileError
from stc.manifest.schema import Manifest
from stc.network.graph import Channel
from stc.simulation.simulate import SimulationResult, TimedDesign
from stc.simulation.slowness import Slowness, slow_because
from stc.simulation.task_graphs import all_fifos, memory_fed
from stc.simulation.timing_table import SimulationOptions


@dataclass(frozen=True)
class DepthCost:
    """Cycles of a run, and with unlimited FIFOs; `slowness`: which FIFOs make the difference, None where the run is no slower."""

    cycles: int
    unlimited: int
    slowness: Slowness | None

    @property
    def text(self) -> str:
        if self.slowness is not None:
            return self.slowness.text
        return f"{self.cycles:,} cycles: the FIFO depths cost nothing ({self.unlimited:,} with unlimited FIFOs)"

    def as_json(self) -> dict[str, Any]:
        found = self.slowness
        told = (found or Slowness(0, (), True, (), 0, "")).as_json()
        return {"cycles": self.cycles, "unlimited_cycles": self.unlimited, **told, "text": self.text}


def depth_cost(
    design: TimedDesign,
    options: SimulationOptions,
    result: SimulationResult,
    timeout: float,
    progress: Callable[[int], None] = lambda runs: None,
) -> DepthCost:
    """What the depths of `result`, a run of `design` with `options` that ended, cost; `progress` hears the number of runs so far.

    CompileError where the design does not end with unlimited FIFOs (one that asks whether there is room may not).
    """
    assert result.cycles is not None, "the run must have ended"
    links = all_fifos(design.manifest) or _links_that_ran(result)
    unlimited = _unlimited(design.manifest, links)
    runs = 0

    def run(depths: Mapping[str, int]) -> SimulationResult:
        nonlocal runs
        runs += 1
        progress(runs)
        return design.run(replace(options, depths=depths, limit=None), timeout, report=None)

    reference = run(unlimited)
    if reference.cycles is None:
        what = f"the design does not end with unlimited FIFOs: {reference.values.outcome}"
        raise CompileError(what, where=str(design.directory), accepted="a design that ends")
    lacking = [link for link in links if options.depths.get(link.name, link.depth) < unlimited[link.name]]
    slowness = slow_because(
        lacking,
        options.depths,
        result,
        reference,
        lambda change: run({**options.depths, **change}),
        there="with unlimited FIFOs",
    )
    return DepthCost(result.cycles, reference.cycles, slowness)


def _links_that_ran(result: SimulationResult) -> list[Channel]:
    """The FIFOs of a design whose manifest knows none, which does not know their widths either: a token counts as one bit."""
    return [
        Channel(fifo.name, fifo.producer, fifo.consumer, fifo.tokens, fifo.declared_depth, 1)
        for fifo in result.fifos
        if fifo.kind == "fifo" and fifo.depth is not None
    ]


def _unlimited(manifest: Manifest, links: list[Channel]) -> dict[str, int]:
    fed = memory_fed(manifest)
    return {link.name: link.depth if link.name in fed else max(1, link.tokens) for link in links}
