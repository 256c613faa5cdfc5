"""Make schedules trivial: a tile as large as its loop (no tile loop), no unrolling, loops in their own order."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.linalg.abstract_ops import LinalgStructuredOperation

from stc.dialects.dataflow.schedule import ScheduleAttr
from stc.dialects.facts import SCHEDULE
from stc_testing.reduction.engine import Reduction, item_wise
from stc_testing.reduction.extents import Extents
from stc_testing.reduction.shapes import largest_divisor

Change = Callable[[ScheduleAttr, Sequence[int]], ScheduleAttr]
"""A schedule with the extents of its loops -> another."""


def _changing(name: str, change: Change) -> Reduction:
    return item_wise(name, lambda module: _items(module, change))


def _items(module: ModuleOp, change: Change) -> list[Callable[[], bool]]:
    structured = [op for op in module.walk() if isinstance(op, LinalgStructuredOperation) and op.res]
    scheduled = [op for op in structured if SCHEDULE.on(op)]
    if not scheduled:
        return []
    extents = Extents(module)
    return [_item(op, [extents.extent((op, loop)) for loop in range(op.get_num_loops())], change) for op in scheduled]


def _item(op: LinalgStructuredOperation, extents: Sequence[int], change: Change) -> Callable[[], bool]:
    def apply() -> bool:
        schedule = SCHEDULE.of(op)
        if schedule is None or len(schedule.tiles) != len(extents):
            return False
        SCHEDULE.put(op, change(schedule, extents))
        return SCHEDULE.of(op) != schedule

    return apply


def _whole(schedule: ScheduleAttr, extents: Sequence[int]) -> ScheduleAttr:
    return ScheduleAttr.of(extents, schedule.loop_order, schedule.unrolls, schedule.vectors)


def _halved(schedule: ScheduleAttr, extents: Sequence[int]) -> ScheduleAttr:
    tiles = [largest_divisor(extent, max(1, tile // 2)) for extent, tile in zip(extents, schedule.tiles, strict=True)]
    return ScheduleAttr.of(tiles, schedule.loop_order, [1] * len(tiles), ())


def _plain(schedule: ScheduleAttr, extents: Sequence[int]) -> ScheduleAttr:
    return ScheduleAttr.of(schedule.tiles, range(len(extents)), [1] * len(extents), ())


TRIVIAL_SCHEDULES = (
    _changing("drop tile loops", _whole),
    _changing("drop unrolling and loop orders", _plain),
    _changing("halve tiles", _halved),
)
