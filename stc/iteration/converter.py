"""Converter inference: the smallest buffer that turns one stream order into another (method.md section 5).

The published Algorithm 1 is wrong as printed (it stops at the first data dimension that does not match and compares neither
trip counts nor steps); this follows its paragraph: the longest prefix of loops that both orders share wraps the converter,
and a data dimension is buffered only over what is visited inside that prefix.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import lcm, prod

from stc.iteration.normal_form import normal_form, split_loop
from stc.iteration.order import Loop, StreamOrder
from stc.iteration.size import static


@dataclass(frozen=True)
class ConverterPlan:
    """What a converter does.

    `source` and `target`: both orders, refined so that their first `shared_loops` loops are the same loops.
    `buffer_shape`: entries buffered per data dimension, one block. `blocks`: 2 (ping-pong) where the buffer is reused by
    shared loops, 1 where a single block per invocation suffices.
    """

    source: StreamOrder
    target: StreamOrder
    shared_loops: int
    buffer_shape: tuple[int, ...]

    @property
    def blocks(self) -> int:
        reuses = prod(static(loop.trip) for loop in self.source.loops[: self.shared_loops])
        return 1 if reuses == 1 else 2

    @property
    def buffer_entries(self) -> int:
        """Entries of all blocks."""
        return prod(self.buffer_shape) * self.blocks


def infer_converter(source: StreamOrder, target: StreamOrder) -> ConverterPlan:
    """The plan of the converter from `source` to `target`; ValueError where they are not orders of the same tensor."""
    for side, order in (("source", source), ("target", target)):
        if not order.is_exact:
            raise ValueError(f"converter {side} is not exact: it does not visit every coordinate once up to revisits")
    if source.static_shape != target.static_shape:
        raise ValueError(f"converter source is of shape {source.static_shape}, its target of {target.static_shape}")
    source, target, shared = _share_prefix(normal_form(source), normal_form(target))
    buffer_shape = tuple(source.span(dimension, shared) for dimension in range(source.rank))
    return ConverterPlan(source, target, shared, buffer_shape)


def _share_prefix(source: StreamOrder, target: StreamOrder) -> tuple[StreamOrder, StreamOrder, int]:
    """Refine both orders and count the loops they share from the outside."""
    shared = 0
    while shared < min(len(source.loops), len(target.loops)):
        if source.dimension_of_loop[shared] != target.dimension_of_loop[shared]:
            break
        is_revisit = source.dimension_of_loop[shared] is None
        trips = _common_outer_trips(source.loops[shared], target.loops[shared], is_revisit)
        if trips is None:
            break
        source = _with_outer_trip(source, shared, trips)
        target = _with_outer_trip(target, shared, trips)
        shared += 1
    return source, target, shared


def _common_outer_trips(source: Loop, target: Loop, is_revisit: bool) -> int | None:
    """The trip count of the largest loop that is an outer part of both, None where there is none."""
    if is_revisit:
        return static(source.trip) if source.trip == target.trip else None
    if source == target:
        return static(source.trip)
    covered = static(source.trip) * source.step
    if covered != static(target.trip) * target.step:
        return None
    common_step = lcm(source.step, target.step)
    return None if common_step == covered else covered // common_step


def _with_outer_trip(order: StreamOrder, position: int, trips: int) -> StreamOrder:
    trip = static(order.loops[position].trip)
    return order if trip == trips else split_loop(order, position, trip // trips)
