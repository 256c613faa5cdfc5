"""Which integers a tensor can hold: fewer than those of its type, where what computes it cuts them to a range."""

from __future__ import annotations

from xdsl.dialects import arith, tensor
from xdsl.dialects.builtin import FloatAttr, IntegerAttr, IntegerType, TensorType
from xdsl.dialects.linalg.ops import FillOp, GenericOp
from xdsl.ir import Attribute, SSAValue

from stc.scalars.packed_products import Interval


def range_of(value: SSAValue, *, is_signed: bool = True) -> Interval:
    """The integers that entries of `value`, a tensor of integers, are among, read with a sign or without."""
    match op := value.owner:
        case tensor.ExpandShapeOp() | tensor.CollapseShapeOp():
            return range_of(op.src, is_signed=is_signed)
        case tensor.ExtractSliceOp():
            return range_of(op.source, is_signed=is_signed)
        case tensor.ConcatOp():
            parts = [range_of(part, is_signed=is_signed) for part in op.inputs]
            return Interval(min(part.least for part in parts), max(part.most for part in parts))
        case FillOp():
            return _of_scalar(op.inputs[0], range_of_type(value, is_signed=is_signed))
        case GenericOp() if (end := op.body.block.last_op) is not None and len(end.operands) == 1:
            return _of_scalar(end.operands[0], range_of_type(value, is_signed=is_signed))
        case _:
            return range_of_type(value, is_signed=is_signed)


def range_of_type(value: SSAValue, *, is_signed: bool = True) -> Interval:
    """The integers that the type of `value`, a tensor, holds."""
    assert isinstance(value.type, TensorType)
    return _of_bits(value.type.element_type, is_signed)


def _of_bits(kind: Attribute, is_signed: bool) -> Interval:
    assert isinstance(kind, IntegerType)
    return Interval.of_bits(kind.width.data) if is_signed else Interval.unsigned(kind.width.data)


def _of_scalar(value: SSAValue, whole: Interval) -> Interval:
    """Of a constant, or of a float that was cut to a range of integers, which it is in the end even if it was NaN."""
    match op := value.owner:
        case arith.ConstantOp(value=IntegerAttr() as number):
            found = Interval(number.value.data, number.value.data)
            return found if found in whole else whole
        case arith.FPToSIOp() | arith.FPToUIOp():
            least, most = _bound(op.input, arith.MaxnumfOp), _bound(_unbounded(op.input), arith.MinnumfOp)
            found = None if least is None or most is None or least > most else Interval(int(least), int(most))
            made = _of_bits(op.result.type, isinstance(op, arith.FPToSIOp))
            return found if found is not None and found in whole and found in made else whole
        case _:
            return whole


def _bound(value: SSAValue, kind: type[arith.MaxnumfOp] | type[arith.MinnumfOp]) -> float | None:
    """The integer of which, and of something else, `value` is the larger (smaller): both have to be written in this order."""
    constant = value.owner.rhs.owner if isinstance(value.owner, kind) else None
    number = constant.value if isinstance(constant, arith.ConstantOp) else None
    return number.value.data if isinstance(number, FloatAttr) and number.value.data.is_integer() else None


def _unbounded(value: SSAValue) -> SSAValue:
    return value.owner.lhs if isinstance(value.owner, arith.MaxnumfOp) else value
