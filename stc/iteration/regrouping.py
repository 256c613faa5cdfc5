"""Streams that are the same sequence of entries, in tokens of other sizes."""

from __future__ import annotations

from stc.iteration.normal_form import same_sequence
from stc.iteration.order import StreamOrder
from stc.iteration.vectorize import vectorized


def wide_and_narrow(source: StreamOrder, target: StreamOrder) -> tuple[StreamOrder, StreamOrder]:
    """Both, the one of larger tokens first."""
    return (target, source) if target.element_count > source.element_count else (source, target)


def is_regrouped(source: StreamOrder, target: StreamOrder) -> bool:
    """Whether the tokens of one order are parts of the other's, row-major, one token after the other: each several entries of a
    row. Static orders without reuse loops."""
    if not (source.is_static and target.is_static) or source.reuse_loops or target.reuse_loops:
        return False
    wide, narrow = wide_and_narrow(source, target)
    lanes = narrow.element[-1] if narrow.rank else 1
    if wide.element_count == narrow.element_count or narrow.element_count != lanes or wide.element[-1] % lanes:
        return False
    return same_sequence(vectorized(wide, lanes), narrow)
