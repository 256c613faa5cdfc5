"""Giving values other shapes, with everything that repeats a shape: constants, reshapes, slices, schedules, the signature."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from xdsl.dialects import arith, func, tensor
from xdsl.dialects.builtin import BytesAttr, DenseArrayBase, DenseIntOrFPElementsAttr, ModuleOp, TensorType, i64
from xdsl.dialects.linalg.abstract_ops import LinalgStructuredOperation
from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import Rewriter

from stc.dialects.dataflow.schedule import ScheduleAttr
from stc.dialects.facts import SCHEDULE


def reshape_values(module: ModuleOp, shapes: Mapping[SSAValue, Sequence[int]]) -> None:
    """Change the shapes of tensors, and what in operations and functions repeats them."""
    for value, shape in shapes.items():
        assert isinstance(value.type, TensorType)
        Rewriter.replace_value_with_new_type(value, TensorType(value.type.element_type, shape, value.type.encoding))
    for op in module.walk():
        _repeat_shapes(op)


def _repeat_shapes(op: Operation) -> None:
    match op:
        case arith.ConstantOp(value=DenseIntOrFPElementsAttr() as value) if isinstance(op.result.type, TensorType):
            op.value = _splat(value, op.result.type)
        case tensor.ExpandShapeOp():
            op.static_output_shape = DenseArrayBase.from_list(i64, op.result.type.get_shape())
        case tensor.ExtractSliceOp():
            _repeat_sizes(op, op.result)
        case tensor.InsertSliceOp():
            _repeat_sizes(op, op.source)
        case func.FuncOp():
            op.update_function_type()
        case _:
            return


def _splat(value: DenseIntOrFPElementsAttr, kind: TensorType[Any]) -> DenseIntOrFPElementsAttr:
    """The splat `value` in another shape; a constant that keeps its shape as it is."""
    if value.get_type() == kind:
        return value
    cell = value.data.data[: value.get_element_type().compile_time_size]
    return DenseIntOrFPElementsAttr(kind, BytesAttr(cell * math.prod(kind.get_shape())))


def _repeat_sizes(op: tensor.ExtractSliceOp | tensor.InsertSliceOp, piece: SSAValue) -> None:
    assert isinstance(piece.type, TensorType)
    if len(op.static_sizes) == len(piece.type.get_shape()):
        op.static_sizes = DenseArrayBase.from_list(i64, piece.type.get_shape())


# Schedules ------------------------------------------------------------------------------------------------------------


def shrink_schedules(module: ModuleOp, extent: Callable[[Operation, int], int | None]) -> None:
    """Make the tiles of every schedule divide the extents of their loops, given by operation and loop (None: as it was)."""
    for op in module.walk():
        schedule = SCHEDULE.of(op)
        if schedule is not None and isinstance(op, LinalgStructuredOperation):
            SCHEDULE.put(op, _shrunk(op, schedule, [extent(op, loop) for loop in range(len(schedule.tiles))]))


def _shrunk(op: LinalgStructuredOperation, schedule: ScheduleAttr, extents: Sequence[int | None]) -> ScheduleAttr:
    tiles = [
        tile if extent is None else largest_divisor(extent, tile) for tile, extent in zip(schedule.tiles, extents, strict=True)
    ]
    unrolls = [largest_divisor(tile, unroll) for tile, unroll in zip(tiles, schedule.unrolls, strict=True)]
    vectors = [
        [
            largest_divisor(tiles[loop], lanes) if loop is not None else lanes
            for loop, lanes in zip(_loops(attribute.data.results), shape, strict=True)
        ]
        for attribute, shape in zip(op.get_indexing_maps(), schedule.vectors, strict=False)
    ]
    return ScheduleAttr.of(tiles, schedule.loop_order, unrolls, vectors)


def _loops(results: Sequence[object]) -> list[int | None]:
    return [getattr(expression, "position", None) for expression in results]


def largest_divisor(extent: int, most: int) -> int:
    """The largest divisor of `extent` up to `most`, at least 1."""
    return max((divisor for divisor in range(1, min(extent, most) + 1) if extent % divisor == 0), default=1)
