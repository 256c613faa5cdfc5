"""The options of tests and of fuzzing that are not about speed: the cheapest design, without a search."""

from __future__ import annotations

from typing import Any

from stc.pipeline import PipelineOptions
from stc.platforms.budget import SMALL


def small_options(**options: Any) -> PipelineOptions:
    """Options of the pipeline with the budget `small`, and what else is said (`stc.pipeline.PipelineOptions`)."""
    options.setdefault("budget", SMALL)
    return PipelineOptions(**options)
