"""Scalar arithmetic of dialect `arith` on numpy scalars and, element by element, on arrays, in the exact type."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from xdsl.dialects import arith
from xdsl.dialects.builtin import IntegerType
from xdsl.ir import Operation

from stc.execution.dtypes import numpy_type, unsigned, wrap
from stc.execution.machine import Machine, Value, implements

_Binary = Callable[[Any, Any], Any]


def _truncating_division(left: Value, right: Value) -> Value:
    quotient = np.floor_divide(left, right)
    inexact = np.multiply(quotient, right) != left
    return quotient + (inexact & ((left < 0) != (right < 0))).astype(np.asarray(left).dtype)


def _ceiling_division(left: Value, right: Value) -> Value:
    return -np.floor_divide(-left, right)


_FLOAT_BINARY: dict[type[Operation], _Binary] = {
    arith.AddfOp: np.add,
    arith.SubfOp: np.subtract,
    arith.MulfOp: np.multiply,
    arith.DivfOp: np.divide,
    arith.MaximumfOp: np.maximum,
    arith.MinimumfOp: np.minimum,
    arith.MaxnumfOp: np.fmax,
    arith.MinnumfOp: np.fmin,
}
_SIGNED_BINARY: dict[type[Operation], _Binary] = {
    arith.AddiOp: np.add,
    arith.SubiOp: np.subtract,
    arith.MuliOp: np.multiply,
    arith.DivSIOp: _truncating_division,
    arith.FloorDivSIOp: np.floor_divide,
    arith.CeilDivSIOp: _ceiling_division,
    arith.RemSIOp: np.fmod,
    arith.MaxSIOp: np.maximum,
    arith.MinSIOp: np.minimum,
    arith.ShLIOp: np.left_shift,
    arith.ShRSIOp: np.right_shift,
    arith.AndIOp: np.bitwise_and,
    arith.OrIOp: np.bitwise_or,
    arith.XOrIOp: np.bitwise_xor,
}
_UNSIGNED_BINARY: dict[type[Operation], _Binary] = {
    arith.DivUIOp: np.floor_divide,
    arith.CeilDivUIOp: lambda left, right: np.floor_divide(left, right) + (np.remainder(left, right) != 0),
    arith.RemUIOp: np.remainder,
    arith.MaxUIOp: np.maximum,
    arith.MinUIOp: np.minimum,
    arith.ShRUIOp: np.right_shift,
}
_ON_BOOLEANS: dict[str, _Binary] = {
    "arith.addi": np.not_equal,
    "arith.subi": np.not_equal,
    "arith.muli": np.logical_and,
    "arith.maxsi": np.logical_and,
    "arith.minsi": np.logical_or,
}
"""i1 as a two's-complement integer: 1 is -1, addition is exclusive or."""


def _is_boolean(op: Operation) -> bool:
    return isinstance(kind := op.operands[0].type, IntegerType) and kind.width.data == 1


def _as_result(op: Operation, values: Value) -> Sequence[Value]:
    """Values in the numpy type of the operation's only result, wrapped to its width."""
    kind = op.results[0].type
    return [wrap(np.asarray(values).astype(numpy_type(kind), copy=False)[()], kind)]


@implements(*_FLOAT_BINARY)
def run_float_binary(machine: Machine, op: Operation) -> Sequence[Value]:
    return [_FLOAT_BINARY[type(op)](*machine.operands(op))]


@implements(*_SIGNED_BINARY)
def run_signed_binary(machine: Machine, op: Operation) -> Sequence[Value]:
    function = _ON_BOOLEANS.get(op.name) if _is_boolean(op) else None
    return _as_result(op, (function or _SIGNED_BINARY[type(op)])(*machine.operands(op)))


@implements(*_UNSIGNED_BINARY)
def run_unsigned_binary(machine: Machine, op: Operation) -> Sequence[Value]:
    left, right = (unsigned(value, op.operands[0].type) for value in machine.operands(op))
    return _as_result(op, _UNSIGNED_BINARY[type(op)](left, right))


@implements(arith.NegfOp)
def run_negation(machine: Machine, op: Operation) -> Sequence[Value]:
    return [np.negative(machine.operands(op)[0])]


@implements(arith.SelectOp)
def run_select(machine: Machine, op: Operation) -> Sequence[Value]:
    return [np.where(*machine.operands(op))[()]]


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


@implements(arith.CmpiOp)
def run_compare_integers(machine: Machine, op: arith.CmpiOp) -> Sequence[Value]:
    predicate = op.predicate.value.data
    operands = machine.operands(op)
    if predicate >= _FIRST_UNSIGNED_PREDICATE:
        operands = [unsigned(value, op.lhs.type) for value in operands]
    return [_INTEGER_PREDICATES[predicate](*operands)]


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


@implements(arith.CmpfOp)
def run_compare_floats(machine: Machine, op: arith.CmpfOp) -> Sequence[Value]:
    return [_FLOAT_PREDICATES[op.predicate.value.data](*machine.operands(op))]


@implements(arith.ExtFOp, arith.TruncFOp, arith.SIToFPOp, arith.ExtSIOp, arith.IndexCastOp, arith.TruncIOp)
def run_cast(machine: Machine, op: Operation) -> Sequence[Value]:
    """Casts that keep the (signed) value, or drop high bits."""
    (value,) = machine.operands(op)
    kind = op.results[0].type
    if isinstance(kind, IntegerType) and kind.width.data == 1:
        return [(np.asarray(value) & 1).astype(np.bool_)[()]]
    if _is_boolean(op):
        value = -np.asarray(value).astype(np.int8)
    return _as_result(op, value)


@implements(arith.ExtUIOp, arith.UIToFPOp)
def run_unsigned_cast(machine: Machine, op: Operation) -> Sequence[Value]:
    return _as_result(op, unsigned(machine.operands(op)[0], op.operands[0].type))


@implements(arith.FPToSIOp, arith.FPToUIOp)
def run_float_to_integer(machine: Machine, op: Operation) -> Sequence[Value]:
    """Towards zero. Values out of range are undefined in MLIR; here they are what numpy makes of them."""
    value = np.trunc(machine.operands(op)[0])
    wide = np.asarray(value).astype(np.uint64 if isinstance(op, arith.FPToUIOp) else np.int64)
    return _as_result(op, wide)


@implements(arith.BitcastOp)
def run_bitcast(machine: Machine, op: Operation) -> Sequence[Value]:
    (value,) = machine.operands(op)
    return [np.ascontiguousarray(value).view(numpy_type(op.results[0].type)).reshape(np.shape(value))[()]]
