"""`stc compile --confirm N`: the search's best designs are run, and the fastest is kept.

The search knows designs by its model of time, before anything is tiled; FIFO sizing knows the loops that came to be; a run of the
emitted C++ knows the FIFOs as well. What is kept has its place among the search's designs in the options (`search_rank`), so that
the schedule gives it again without a run.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from stc.simulation.simulate import simulate

ORIGIN = "search: by its model, before tiling; sizing: estimated; simulation: executed, the emitted C++ with estimated loop depths"

Emit = Callable[[Path], None]
"""Writes a design as a project into a new folder."""


@dataclass(frozen=True)
class ConfirmedDesign:
    """A design of the search: its `rank` there, and cycles by the model of the search, by FIFO sizing and by simulation; None where
    it was not searched (the cheapest design), sizing did not say, or the run did not end."""

    rank: int
    search: int | None
    sizing: int | None
    simulation: int | None


@dataclass
class Confirmation:
    """The designs that were run so far."""

    designs: list[ConfirmedDesign] = field(default_factory=list[ConfirmedDesign])
    _sources: set[str] = field(default_factory=set[str])

    def run(self, design: ConfirmedDesign, emit: Emit) -> bool:
        """Run what `emit` writes, unless it was run before; whether it is new."""
        with tempfile.TemporaryDirectory(prefix="stc-confirm-") as folder:
            project = Path(folder) / "project"
            emit(project)
            source = (project / "kernel.cpp").read_text(encoding="utf-8")
            if source in self._sources:
                return False
            self._sources.add(source)
            self.designs.append(replace(design, simulation=simulate(project).cycles))
            return True

    @property
    def kept(self) -> ConfirmedDesign:
        """The fastest; the first of those that are as fast."""
        return min(self.designs, key=lambda each: (each.simulation is None, each.simulation or 0))

    def report(self) -> dict[str, Any]:
        """The section "confirmation" of report.json."""
        return {"origin": ORIGIN, "kept": self.kept.rank, "designs": [asdict(design) for design in self.designs]}
