"""What a search has found at one moment: all that is written or printed of it is of the same trials."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from stc.exploration.problem import Objectives, Origin, Point, Problem, front


@dataclass(frozen=True)
class Found:
    """A finished trial: its number in its study, the point, and what that is worth."""

    number: int
    point: Point
    objectives: Objectives


@dataclass(frozen=True)
class Results:
    """By origin, the trials that are finished, by number: `designs`; and those that no design came of, and why: `failures`."""

    problem: Problem
    designs: Mapping[Origin, Sequence[Found]]
    failures: Mapping[Origin, Sequence[tuple[int, str]]]

    def front(self, origin: Origin) -> list[Found]:
        """Those that fit and that none dominates."""
        return [found for found, _ in front((found, found.objectives) for found in self.designs[origin])]

    def default(self, origin: Origin) -> Found | None:
        """The trial of what the compiler decides by itself; None where it is not finished."""
        default = self.problem.default()
        return next((found for found in self.designs[origin] if found.point == default), None)

    def estimate_of(self, simulated: Found) -> Found | None:
        """The estimate of a design that was simulated; None where there is none, or it is an estimate itself."""
        if simulated.objectives.origin == "estimated":
            return None
        return next((found for found in self.designs["estimated"] if found.point == simulated.point), None)
