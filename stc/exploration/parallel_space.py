"""Lanes, rows, copies and adders of every computation as choices, and the parallelism that a point means.

Lanes, rows and copies depend on one another: copies of the loop that lanes run along leave fewer iterations for lanes, and a task
does only so much at once. A choice therefore says *at most*: of the numbers that divide what is left, the largest up to it is
taken. So each point is a design.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import gcd

from stc.design_space.parallelism import MOST_ROWS, Parallelism, Work, divisors, is_a_task, lane_counts
from stc.exploration.problem import Choice, Point, Value

MOST_COPIES = 16
"""Copies of a computation that are explored: each is a task of its own, to be compiled and wired."""


@dataclass(frozen=True)
class ParallelSpace:
    """The choices about `works`, of which `default` is what the compiler decides."""

    works: Sequence[Work]
    default: Mapping[str, Parallelism]

    @cached_property
    def choices(self) -> list[Choice]:
        """Those that have more than one value."""
        found = [*self._copies(), *(choice for work in self.works for choice in self._of(work))]
        return [choice for choice in found if len(choice.values) > 1]

    def parallelism(self, point: Point) -> dict[str, Parallelism]:
        """What a point means, by computation."""
        return {work.name: self._fitted(work, point) for work in self.works}

    def point(self, plan: Mapping[str, Parallelism]) -> dict[str, Value]:
        """The choices that mean `plan`, or what is next to it."""
        said: dict[str, Value] = {}
        for work in self.works:
            chosen = plan[work.name]
            said |= {f"{work.name}.lanes": chosen.lanes, f"{work.name}.rows": chosen.rows, f"{work.name}.parts": chosen.parts}
            said |= {self._named_copies(work): chosen.copies, f"{work.name}.adders_in_luts": chosen.adders_in_luts}
        return {choice.name: _nearest(choice, said[choice.name]) for choice in self.choices}

    @cached_property
    def _families(self) -> dict[int, list[Work]]:
        found: dict[int, list[Work]] = {}
        for work in self.works:
            found.setdefault(work.family, []).append(work)
        return found

    def _named_copies(self, work: Work) -> str:
        return f"{self._families[work.family][0].name}.copies"

    def _copies(self) -> Iterator[Choice]:
        for first, *others in self._families.values():
            common = gcd(first.divided_extent, *(work.divided_extent for work in others))
            values = tuple(count for count in divisors(common) if count <= MOST_COPIES)
            beside = f", and of {len(others)} beside it" if others else ""
            yield _choice(self._named_copies(first), values, self.default[first.name].copies, f"copies of the task{beside}")

    def _of(self, work: Work) -> Iterator[Choice]:
        chosen, name = self.default[work.name], work.name
        yield _choice(f"{name}.lanes", tuple(lane_counts(work.lane_extent)), chosen.lanes, "points of a task at once, at most")
        rows = tuple(row for row in divisors(work.row_extent) if row <= MOST_ROWS)
        yield _choice(f"{name}.rows", rows, chosen.rows, "rows of each lane, at most")
        yield _choice(f"{name}.parts", divisors(work.dealt_extent), chosen.parts, "tasks of each copy, which take groups in turn")
        if work.adders_in_luts.dsp < 0:
            says = "adders of floats of LUTs, not of DSPs"
            yield _choice(f"{name}.adders_in_luts", (False, True), chosen.adders_in_luts, says)

    def _fitted(self, work: Work, point: Point) -> Parallelism:
        def said(what: str, name: str = "") -> int:
            return int(point.get(name or f"{work.name}.{what}", 1))

        copies = said("copies", self._named_copies(work))
        possible = lane_counts(max(1, work.lane_extent // (copies if work.divides_lanes else 1)))
        lanes = max(count for count in possible if count <= said("lanes"))
        adders = bool(point.get(f"{work.name}.adders_in_luts", False))
        for rows in reversed(divisors(max(1, work.row_extent // (copies if work.divides_rows else 1)))):
            if rows <= said("rows") and is_a_task(work, fitted := Parallelism(lanes, copies, rows, adders, said("parts"))):
                return fitted
        return Parallelism(lanes, copies, 1, adders, said("parts"))


def _choice(name: str, values: Sequence[Value], default: Value, says: str) -> Choice:
    return Choice(name, tuple(values) if default in values else tuple(sorted({*values, default})), default, says)


def _nearest(choice: Choice, wanted: Value) -> Value:
    """The value, or the largest below it."""
    return wanted if wanted in choice.values else max((each for each in choice.values if each < wanted), default=choice.values[0])  # pyright: ignore[reportOperatorIssue]
