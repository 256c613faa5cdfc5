"""How many bits the entries of a tensor of integers take, which may be fewer than those of its type."""

from __future__ import annotations

from xdsl.dialects import arith, tensor
from xdsl.dialects.builtin import IntegerType, TensorType
from xdsl.dialects.linalg.ops import GenericOp, YieldOp
from xdsl.ir import BlockArgument, OpResult, SSAValue
from xdsl.utils.hints import isa

from stc.analysis.generic_loops import GenericLoops
from stc.analysis.integer_bits import bits_of_value
from stc.dialects.use_def import RESHAPES
from stc.transforms.linalg.generics import starts_at_zero


def bits_in_body(value: SSAValue) -> int:
    """Bits, with a sign, that every integer `value` in the body of a generic fits in: of an operand those of its tensor."""
    return bits_of_value(value, known=_bits_of_input)


def _bits_of_input(value: SSAValue) -> int | None:
    if not isinstance(value, BlockArgument) or not isinstance(generic := value.block.parent_op(), GenericOp):
        return None
    return bits_of_entries(generic.operands[value.index]) if value.index < len(generic.inputs) else None


def bits_of_entries(value: SSAValue) -> int:
    """Bits, with a sign, that every entry of a tensor fits in, as far as can be seen from what makes it; of its type at most."""
    owner = value.owner
    if isinstance(owner, (*RESHAPES, tensor.ExtractSliceOp)):
        return bits_of_entries(owner.operands[0])
    if isinstance(owner, tensor.ConcatOp):
        return max(map(bits_of_entries, owner.operands))
    if isinstance(owner, GenericOp) and isinstance(value, OpResult):
        return _bits_of_result(owner, value)
    return _bits_of_type(value)


def _bits_of_result(generic: GenericOp, result: OpResult) -> int:
    """Of a sum, those of a term and of how many there are; but for sums that begin with something else than 0."""
    block = generic.body.block
    yielded = block.last_op
    assert isinstance(yielded, YieldOp)
    made, most = yielded.operands[result.index], _bits_of_type(result)
    loops = GenericLoops(generic)
    if not loops.reductions:
        return min(most, bits_in_body(made))
    total = block.args[len(generic.inputs) + result.index]
    if not isinstance(made.owner, arith.AddiOp) or total not in made.owner.operands or not starts_at_zero(generic):
        return most
    term = next((operand for operand in made.owner.operands if operand is not total), total)
    return min(most, bits_in_body(term) + (loops.terms - 1).bit_length())


def _bits_of_type(value: SSAValue) -> int:
    assert isa(value.type, TensorType)
    kind = value.type.element_type
    assert isinstance(kind, IntegerType)
    return kind.width.data
