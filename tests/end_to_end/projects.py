"""What the fixture `compiled` gives."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stc.simulation.csim import CsimResult


@dataclass(frozen=True)
class Project:
    """An emitted project, the report of its compile, and the result of its C simulation."""

    folder: Path
    report: dict[str, Any]
    result: CsimResult

    def require_agreement(self) -> None:
        """It ran to its end and every output is within the tolerance of PyTorch's."""
        assert self.result.outcome == "finished", self.result.explanation
        assert self.result.outputs
        for output in self.result.outputs:
            assert output.passed and output.nan_mismatches == 0, output
        assert self.result.passed


Compile = Callable[..., Project]
"""Of a model, a length, an optimisation level and options of the pipeline."""
