"""What the fixture `compiled` gives."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from stc.execution.layout import entries_of_bytes, unpack
from stc.iteration.order import Coordinate, Loop, StreamOrder
from stc.manifest.element_types import ElementType, element_type
from stc.manifest.schema import Port
from stc.simulation.csim import CsimResult, csim


@dataclass(frozen=True)
class Project:
    """An emitted project, its report.json, and the result of its C simulation, which is built when it is asked for."""

    folder: Path
    report: dict[str, Any]
    optimisation: int

    @cached_property
    def result(self) -> CsimResult:
        return csim(self.folder, optimisation=self.optimisation)

    def require_agreement(self) -> None:
        """It ran to its end and every output is within the tolerance of PyTorch's."""
        assert self.result.outcome == "finished", self.result.explanation
        assert self.result.outputs
        for output in self.result.outputs:
            assert output.passed and output.nan_mismatches == 0, output
        assert self.result.passed


Compile = Callable[..., Project]
"""Of a model, a length, an optimisation level and options of the pipeline."""


def order_of(port: Port) -> StreamOrder:
    assert port.order is not None
    loops = tuple(Loop(int(loop.trip), loop.step) for loop in port.order.loops)
    coordinates = tuple(Coordinate(coordinate.loops, int(coordinate.constant)) for coordinate in port.order.coordinates)
    return StreamOrder(port.order.element, loops, coordinates)


def parameter_in(project: Path, port: Port) -> tuple[np.ndarray, ElementType]:
    """The tensor that the words of a parameter hold."""
    assert port.file is not None
    kind = element_type(port.element_type)
    entries = entries_of_bytes((project / port.file).read_bytes(), kind.bits, np.dtype(kind.numpy))
    return unpack(entries[: port.words * port.lanes].reshape(port.words, port.lanes), order_of(port), port.name), kind
