"""Drop inputs of `linalg.generic` that its body does not use."""

from __future__ import annotations

from collections.abc import Callable

from xdsl.dialects.builtin import ArrayAttr, DenseArrayBase, ModuleOp, i32
from xdsl.dialects.linalg.ops import GenericOp
from xdsl.irdl import AttrSizedOperandSegments

from stc.analysis.generic_loops import generics_in
from stc.dialects.dataflow.schedule import ScheduleAttr
from stc.dialects.facts import SCHEDULE
from stc_testing.reduction.engine import item_wise


def _unused(module: ModuleOp) -> list[Callable[[], bool]]:
    return [
        _dropping(op, index)
        for op in generics_in(module)
        for index in range(len(op.inputs))
        if op.body.block.args[index].first_use is None
    ]


def _dropping(op: GenericOp, index: int) -> Callable[[], bool]:
    def drop() -> bool:
        counts = [len(op.inputs) - 1, len(op.outputs)]
        op.operands = [value for position, value in enumerate(op.operands) if position != index]
        op.properties[AttrSizedOperandSegments.attribute_name] = DenseArrayBase.from_list(i32, counts)
        op.indexing_maps = ArrayAttr([entry for position, entry in enumerate(op.indexing_maps) if position != index])
        op.body.block.erase_arg(op.body.block.args[index])
        schedule = SCHEDULE.of(op)
        if schedule is not None:
            vectors = [shape for position, shape in enumerate(schedule.vectors) if position != index]
            SCHEDULE.put(op, ScheduleAttr.of(schedule.tiles, schedule.loop_order, schedule.unrolls, vectors))
        return True

    return drop


DROP_GENERIC_INPUTS = item_wise("drop unused inputs of generics", _unused)
