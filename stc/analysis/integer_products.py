"""Products of integers in the bodies of generics, and what their multipliers are made of."""

from __future__ import annotations

from xdsl.dialects import arith
from xdsl.dialects.builtin import IntegerType
from xdsl.dialects.linalg.ops import GenericOp

from stc.dialects.facts import MULTIPLIERS, Multipliers
from stc.scalars.packed_products import FACTOR_BITS


def integer_products(generic: GenericOp) -> list[arith.MuliOp]:
    """The products of integers, other than indices and booleans, in the body of `generic`."""
    products = [op for op in generic.body.block.ops if isinstance(op, arith.MuliOp)]
    return [op for op in products if isinstance(op.result.type, IntegerType) and op.result.type.width.data > 1]


def multipliers_of(generic: GenericOp) -> Multipliers | None:
    """What the integer multipliers of `generic` are said to be made of, or are since they multiply two weights at once."""
    products = integer_products(generic)
    if any(is_of_a_pair(product) for product in products):
        return "pairs"
    return next((MULTIPLIERS.of(product) for product in products), None)


def is_of_a_pair(product: arith.MuliOp) -> bool:
    """Whether a factor holds two weights (`pack-products`)."""
    owners = [operand.owner for operand in product.operands]
    return any(isinstance(owner, arith.ExtSIOp) and owner.input.type == IntegerType(FACTOR_BITS) for owner in owners)
