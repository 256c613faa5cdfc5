"""Tiles and loop orders of sums as choices, beside what order propagation decides for them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from stc.design_space.order_propagation import TiledOp
from stc.design_space.orders import LoopPlan
from stc.design_space.parallelism import divisors
from stc.exploration.problem import Choice, Point

PROPAGATED = "propagated"
LEAST_TERMS = 8
"""Of a tile: with fewer, filling the pipeline anew takes longer than the sum."""


@dataclass(frozen=True)
class LoopSpace:
    """The choices about `ops`, before they are copied. Sums alone have any: other computations follow their neighbours."""

    ops: Sequence[TiledOp]

    @cached_property
    def choices(self) -> list[Choice]:
        """Which tile loop is the outermost, and how many terms of the last sum are in a tile."""
        return [choice for op in self.ops if _is_sum(op) for choice in _of(op)]

    def changed(self, plans: Mapping[str, LoopPlan], point: Point, names: Mapping[str, str]) -> dict[str, LoopPlan]:
        """`plans` of copies, as a point says of the computation that each, by `names`, is a copy of."""
        return {name: _changed(plan, self._known[names[name]], point) for name, plan in plans.items()}

    @cached_property
    def _known(self) -> dict[str, TiledOp]:
        return {op.name: op for op in self.ops}


def _is_sum(op: TiledOp) -> bool:
    computation = op.computation
    return len(computation.inputs) > 1 and bool(computation.reductions) and not computation.single


def _of(op: TiledOp) -> Iterator[Choice]:
    known = op.computation
    loops = [str(loop) for loop, extent in enumerate(known.extents) if extent > 1]
    yield Choice(f"{op.name}.outermost", (PROPAGATED, *loops), PROPAGATED, "the loop over tiles that is the outermost")
    terms = [count for count in divisors(known.extents[known.reductions[-1]]) if count >= LEAST_TERMS]
    if not op.lanes_are_terms and len(terms) > 1:
        yield Choice(f"{op.name}.terms", (PROPAGATED, *map(str, terms)), PROPAGATED, "terms of the last sum in a tile")


def _changed(plan: LoopPlan, op: TiledOp, point: Point) -> LoopPlan:
    outermost, terms = (str(point.get(f"{op.name}.{what}", PROPAGATED)) for what in ("outermost", "terms"))
    tile, order = list(plan.tile), list(plan.order)
    if terms != PROPAGATED:
        tile[op.computation.reductions[-1]] = int(terms)
    if outermost != PROPAGATED:
        order.remove(int(outermost))
        order.insert(0, int(outermost))
    return LoopPlan(tuple(tile), tuple(order))

