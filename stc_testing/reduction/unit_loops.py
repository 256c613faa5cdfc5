"""Remove loops of one iteration, with the dimensions of extent 1 that they index, over the whole module."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from xdsl.dialects.builtin import AffineMapAttr, ArrayAttr, ModuleOp, TensorType
from xdsl.dialects.linalg.ops import GenericOp
from xdsl.ir import Operation, SSAValue
from xdsl.ir.affine import AffineExpr, AffineMap

from stc.dialects.dataflow.schedule import ScheduleAttr
from stc.dialects.facts import SCHEDULE
from stc_testing.reduction.engine import Reduction
from stc_testing.reduction.extents import Extents
from stc_testing.reduction.shapes import reshape_values

_T = TypeVar("_T")


def _remove(module: ModuleOp, chosen: range) -> bool:
    extents = Extents(module)
    dims: dict[SSAValue, set[int]] = {}
    loops: dict[Operation, set[int]] = {}
    for index, root in enumerate(extents.removable()):
        if index not in chosen:
            continue
        for owner, dim in extents.members(root):
            if isinstance(owner, Operation):
                loops.setdefault(owner, set()).add(dim)
            else:
                dims.setdefault(owner, set()).add(dim)
    shapes = {value: _without(_shape(value), gone) for value, gone in dims.items()}
    for op in module.walk():
        if isinstance(op, GenericOp) and (op in loops or any(value in dims for value in op.operands)):
            _drop_loops(op, sorted(loops.get(op, ())), [sorted(dims.get(value, ())) for value in op.operands])
    reshape_values(module, shapes)
    return bool(shapes)


def _drop_loops(op: GenericOp, loops: Sequence[int], dims: Sequence[Sequence[int]]) -> None:
    count = len(op.iterator_types)
    retained = [loop for loop in range(count) if loop not in loops]
    renamed = [AffineExpr.dimension(retained.index(loop)) if loop in retained else AffineExpr.constant(0) for loop in range(count)]
    maps: list[AffineMapAttr] = []
    for attribute, gone in zip(op.indexing_maps, dims, strict=True):
        results = [expression.replace_dims_and_symbols(renamed, []) for expression in _without(attribute.data.results, gone)]
        maps.append(AffineMapAttr(AffineMap(len(retained), 0, tuple(results))))
    op.indexing_maps = ArrayAttr(maps)
    op.iterator_types = ArrayAttr(_without(op.iterator_types.data, loops))
    schedule = SCHEDULE.of(op)
    if schedule is not None:
        SCHEDULE.put(op, _of_loops(schedule, retained, dims))


def _of_loops(schedule: ScheduleAttr, retained: Sequence[int], dims: Sequence[Sequence[int]]) -> ScheduleAttr:
    return ScheduleAttr.of(
        [schedule.tiles[loop] for loop in retained],
        [retained.index(loop) for loop in schedule.loop_order if loop in retained],
        [schedule.unrolls[loop] for loop in retained],
        [_without(shape, gone) for shape, gone in zip(schedule.vectors, dims, strict=False)],
    )


def _without(entries: Sequence[_T], gone: Sequence[int] | set[int]) -> list[_T]:
    return [entry for index, entry in enumerate(entries) if index not in gone]


def _shape(value: SSAValue) -> tuple[int, ...]:
    assert isinstance(value.type, TensorType)
    return value.type.get_shape()


REMOVE_UNIT_LOOPS = Reduction("remove loops of one iteration", lambda module: len(Extents(module).removable()), _remove)
