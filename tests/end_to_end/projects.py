"""What the fixture `compiled` gives."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

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
