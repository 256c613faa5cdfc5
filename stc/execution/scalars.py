"""Scalar arithmetic of dialect `arith` on numpy scalars and, element by element, on arrays, in the exact type."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from xdsl.dialects import arith
from xdsl.dialects.builtin import IntegerType, bf16
from xdsl.ir import Operation

from stc.execution.dtypes import numpy_type, unsigned, wrap
from stc.execution.elementwise import Function, elementwise, scalar_type
from stc.scalars.bf16 import bits_of, number_of
from stc.scalars.table import ROWS, Sign

_Binary = Callable[..., Any]


_ON_BOOLEANS: dict[str, _Binary] = {
    "arith.addi": np.not_equal,
    "arith.subi": np.not_equal,
    "arith.muli": np.logical_and,
    "arith.maxsi": np.logical_and,
    "arith.minsi": np.logical_or,
}
"""i1 as a two's-complement integer: 1 is -1, addition is exclusive or."""


def _of(sign: Sign) -> list[type[Operation]]:
    """The operations of `arith` whose numpy function is in the table, by how they take their operands."""
    return [kind for kind, row in ROWS.items() if row.numpy is not None and row.sign is sign and kind in _ARITHMETIC]


_ARITHMETIC = frozenset(arith.Arith.operations)


def _function(op: Operation) -> _Binary:
    function = ROWS[type(op)].numpy
    assert function is not None
    return function


def _is_boolean(op: Operation) -> bool:
    return isinstance(kind := scalar_type(op.operands[0].type), IntegerType) and kind.width.data == 1


def _as_result(op: Operation, function: Function) -> Function:
    """`function` with its values in the numpy type of the operation's only result, wrapped to its width."""
    kind = scalar_type(op.results[0].type)
    dtype = numpy_type(kind)
    return lambda *operands: wrap(np.asarray(function(*operands)).astype(dtype, copy=False)[()], kind)


@elementwise(*_of(Sign.FLOAT))
def on_floats(op: Operation) -> Function:
    return _function(op)


@elementwise(*_of(Sign.SIGNED))
def on_signed(op: Operation) -> Function:
    return _as_result(op, _ON_BOOLEANS.get(op.name, _function(op)) if _is_boolean(op) else _function(op))


@elementwise(*_of(Sign.UNSIGNED))
def on_unsigned(op: Operation) -> Function:
    function, kind = _function(op), scalar_type(op.operands[0].type)
    return _as_result(op, lambda left, right: function(unsigned(left, kind), unsigned(right, kind)))


@elementwise(arith.SelectOp)
def select(_: Operation) -> Function:
    return lambda condition, left, right: np.where(condition, left, right)[()]


_INTEGER_PREDICATES: tuple[_Binary, ...] = (
    np.equal,
    np.not_equal,
    np.less,
    np.less_equal,
    np.greater,
    np.greater_equal,
    np.less,
    np.less_equal,
    np.greater,
    np.greater_equal,
)
_FIRST_UNSIGNED_PREDICATE = 6


@elementwise(arith.CmpiOp)
def compare_integers(op: arith.CmpiOp) -> Function:
    predicate, kind = op.predicate.value.data, scalar_type(op.lhs.type)
    compare = _INTEGER_PREDICATES[predicate]
    if predicate < _FIRST_UNSIGNED_PREDICATE:
        return compare
    return lambda left, right: compare(unsigned(left, kind), unsigned(right, kind))


def _ordered(compare: _Binary) -> _Binary:
    return lambda left, right: compare(left, right) & ~(np.isnan(left) | np.isnan(right))


def _unordered(compare: _Binary) -> _Binary:
    return lambda left, right: compare(left, right) | np.isnan(left) | np.isnan(right)


_COMPARISONS: tuple[_Binary, ...] = (
    np.equal,
    np.greater,
    np.greater_equal,
    np.less,
    np.less_equal,
    np.not_equal,
)
_FLOAT_PREDICATES: tuple[_Binary, ...] = (
    lambda left, right: np.zeros(np.broadcast_shapes(np.shape(left), np.shape(right)), np.bool_)[()],
    *(_ordered(compare) for compare in _COMPARISONS),
    lambda left, right: ~(np.isnan(left) | np.isnan(right)),
    *(_unordered(compare) for compare in _COMPARISONS),
    lambda left, right: np.isnan(left) | np.isnan(right),
    lambda left, right: np.ones(np.broadcast_shapes(np.shape(left), np.shape(right)), np.bool_)[()],
)
"""In MLIR's numbering: false, oeq ogt oge olt ole one, ord, ueq ugt uge ult ule une, uno, true."""


@elementwise(arith.CmpfOp)
def compare_floats(op: arith.CmpfOp) -> Function:
    return _FLOAT_PREDICATES[op.predicate.value.data]


@elementwise(arith.ExtFOp, arith.TruncFOp, arith.SIToFPOp, arith.ExtSIOp, arith.IndexCastOp, arith.TruncIOp)
def cast(op: Operation) -> Function:
    """Casts that keep the (signed) value, or drop high bits."""
    kind = scalar_type(op.results[0].type)
    if kind == bf16:
        return bits_of
    if scalar_type(op.operands[0].type) == bf16:
        return number_of
    if isinstance(kind, IntegerType) and kind.width.data == 1:
        return lambda value: (np.asarray(value) & 1).astype(np.bool_)[()]
    if _is_boolean(op):
        return _as_result(op, lambda value: -np.asarray(value).astype(np.int8))
    return _as_result(op, lambda value: value)


@elementwise(arith.ExtUIOp, arith.UIToFPOp)
def unsigned_cast(op: Operation) -> Function:
    kind = scalar_type(op.operands[0].type)
    return _as_result(op, lambda value: unsigned(value, kind))


@elementwise(arith.FPToSIOp, arith.FPToUIOp)
def float_to_integer(op: Operation) -> Function:
    """Towards zero. Values out of range are undefined in MLIR; here they are what numpy makes of them."""
    wide = np.uint64 if isinstance(op, arith.FPToUIOp) else np.int64
    return _as_result(op, lambda value: np.asarray(np.trunc(value)).astype(wide))


@elementwise(arith.BitcastOp)
def bitcast(op: Operation) -> Function:
    dtype = numpy_type(scalar_type(op.results[0].type))
    return lambda value: np.ascontiguousarray(value).view(dtype).reshape(np.shape(value))[()]
