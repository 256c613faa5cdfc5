"""Translation of `arith` and `math`: operators where Python's do the same, calls of numpy functions for the rest."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from xdsl.dialects import arith, math
from xdsl.dialects.builtin import IndexType, IntegerAttr, IntegerType, VectorType
from xdsl.ir import Operation

from stc.diagnostics import CompileError
from stc.execution.constants import constant_value
from stc.execution.dtypes import numpy_type
from stc.execution.elementwise import function_of
from stc.execution.source import Source
from stc.execution.translation import emits, refuse

_FLOAT_OPERATORS: dict[type[Operation], str] = {
    arith.AddfOp: "+",
    arith.SubfOp: "-",
    arith.MulfOp: "*",
    arith.DivfOp: "/",
}
_INDEX_OPERATORS: dict[type[Operation], str] = {
    arith.AddiOp: "+",
    arith.SubiOp: "-",
    arith.MuliOp: "*",
    arith.DivUIOp: "//",
    arith.FloorDivSIOp: "//",
    arith.RemUIOp: "%",
    arith.AndIOp: "&",
    arith.OrIOp: "|",
    arith.XOrIOp: "^",
    arith.ShLIOp: "<<",
    arith.ShRUIOp: ">>",
    arith.ShRSIOp: ">>",
}
_BOOLEAN_OPERATORS: dict[type[Operation], str] = {arith.AndIOp: "&", arith.OrIOp: "|", arith.XOrIOp: "^"}
_INDEX_FUNCTIONS: dict[type[Operation], Callable[[int, int], int]] = {
    arith.MaxSIOp: max,
    arith.MaxUIOp: max,
    arith.MinSIOp: min,
    arith.MinUIOp: min,
    arith.CeilDivSIOp: lambda left, right: -(-left // right),
    arith.CeilDivUIOp: lambda left, right: -(-left // right),
    arith.DivSIOp: lambda left, right: abs(left) // abs(right) * (1 if (left < 0) == (right < 0) else -1),
    arith.RemSIOp: lambda left, right: abs(left) % abs(right) * (1 if left >= 0 else -1),
}
_PREDICATES = ("==", "!=", "<", "<=", ">", ">=", "<", "<=", ">", ">=")


@emits(arith.ConstantOp)
def emit_constant(source: Source, op: arith.ConstantOp) -> None:
    if isinstance(op.result.type, IndexType) and isinstance(op.value, IntegerAttr):
        source.names[op.result] = f"({op.value.value.data})"
        return
    try:
        value = constant_value(op.value)
    except CompileError as error:
        raise CompileError(error.what, where=source.at(op), accepted=error.accepted) from None
    source.names[op.result] = source.refer(value, "c")


@emits(*_FLOAT_OPERATORS)
def emit_float_operator(source: Source, op: Operation) -> None:
    left, right = (source.name(operand) for operand in op.operands)
    source.assign(op.results[0], f"{left} {_FLOAT_OPERATORS[type(op)]} {right}")


@emits(*_INDEX_OPERATORS, *_INDEX_FUNCTIONS)
def emit_integer_operation(source: Source, op: Operation) -> None:
    kind = op.results[0].type
    operators = _INDEX_OPERATORS if isinstance(kind, IndexType) else _BOOLEAN_OPERATORS if _is_i1(kind) else {}
    left, right = (source.name(operand) for operand in op.operands)
    if (symbol := operators.get(type(op))) is not None:
        source.assign(op.results[0], f"{left} {symbol} {right}")
    elif isinstance(kind, IndexType) and not source.in_arrays:
        function = _INDEX_FUNCTIONS[type(op)]
        source.assign(op.results[0], f"{source.refer(function, 'f')}({left}, {right})")
    else:
        emit_elementwise(source, op)


def _is_i1(kind: object) -> bool:
    return isinstance(kind, IntegerType) and kind.width.data == 1


@emits(arith.CmpiOp)
def emit_compare(source: Source, op: arith.CmpiOp) -> None:
    if not isinstance(op.lhs.type, IndexType):
        emit_elementwise(source, op)
        return
    source.assign(op.result, f"{source.name(op.lhs)} {_PREDICATES[op.predicate.value.data]} {source.name(op.rhs)}")


@emits(arith.SelectOp)
def emit_select(source: Source, op: arith.SelectOp) -> None:
    if source.in_arrays or isinstance(op.result.type, VectorType):
        emit_elementwise(source, op)
        return
    condition, left, right = (source.name(operand) for operand in op.operands)
    source.assign(op.result, f"{left} if {condition} else {right}")


@emits(arith.IndexCastOp)
def emit_index_cast(source: Source, op: arith.IndexCastOp) -> None:
    if source.in_arrays or _is_i1(op.result.type) or _is_i1(op.input.type):
        emit_elementwise(source, op)
    elif isinstance(op.result.type, IndexType):
        source.assign(op.result, f"int({source.name(op.input)})")
    elif numpy_type(op.result.type) == np.dtype(np.int64):
        source.assign(op.result, f"np.int64({source.name(op.input)})")
    else:
        emit_elementwise(source, op)


def emit_elementwise(source: Source, op: Operation) -> None:
    """A call of the operation's numpy function."""
    function = function_of(op)
    if function is None:
        refuse(source, op)
    arguments = ", ".join(source.name(operand) for operand in op.operands)
    source.assign(op.results[0], f"{source.refer(function, 'f')}({arguments})")


for _operation in (*arith.Arith.operations, *math.Math.operations):
    if _operation not in (
        arith.ConstantOp,
        arith.CmpiOp,
        arith.SelectOp,
        arith.IndexCastOp,
        *_FLOAT_OPERATORS,
        *_INDEX_OPERATORS,
        *_INDEX_FUNCTIONS,
    ):
        emits(_operation)(emit_elementwise)
