"""Which operations of a module prepare Q, K and V, compute scores and apply them: read off the products around a softmax."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import cast

from xdsl.dialects.linalg.ops import GenericOp
from xdsl.dialects.math import Exp2Op, ExpOp
from xdsl.ir import Operation, SSAValue

from stc.analysis.generic_loops import all_dims, reduction_loops
from stc.transforms.linalg.generics import is_contraction

SCORES, CONTEXT = "scores", "context"
QUERY, KEY, VALUE = "q", "k", "v"

Within = Callable[[Operation], bool]


def attention_roles(operations: Sequence[Operation], module_of: Callable[[Operation], str]) -> dict[Operation, str]:
    """The role of every operation that takes part in an attention: the two products, and what prepares their operands.

    A product whose operand is the softmax of another product applies scores to V. The scores' operand that moves along what the
    softmax sums over is K, the other Q. Preparation is what stands between an operand and the first product, or module, before.
    """
    roles: dict[Operation, str] = {}
    shared: set[Operation] = set()
    for context in [op for op in operations if is_contraction(op)]:
        for role, op in _roles_around(cast(GenericOp, context), module_of):
            if roles.setdefault(op, role) != role:
                shared.add(op)
    return {op: role for op, role in roles.items() if op not in shared}


def _roles_around(context: GenericOp, module_of: Callable[[Operation], str]) -> Iterator[tuple[str, Operation]]:
    """The roles in the attention that ends in the product `context`; nothing where it ends none."""
    for weights in context.inputs:
        found = _softmax_of(weights)
        if found is None:
            continue
        scores, summed = found
        keys = [value for value, moves in _operands(scores) if summed in moves]
        queries = [value for value, _ in _operands(scores) if value not in keys]
        values = [value for value in context.inputs if value is not weights]
        if len(keys) != 1 or len(queries) != 1 or len(values) != 1:
            continue
        yield from ((SCORES, scores), (CONTEXT, context))
        for role, value in ((QUERY, queries[0]), (KEY, keys[0]), (VALUE, values[0])):
            for op in _before(value, lambda op: module_of(op) == module_of(context) and not is_contraction(op)):
                yield role, op


def _softmax_of(weights: SSAValue) -> tuple[GenericOp, int] | None:
    """The product that `weights` are the softmax of, and the loop of it that the softmax sums over."""
    path = list(_before(weights, lambda op: isinstance(op, GenericOp) and not is_contraction(op)))
    generics = [op for op in path if isinstance(op, GenericOp)]
    sums = [generic for generic in generics if reduction_loops(generic)]
    if not sums or not any(isinstance(inner, ExpOp | Exp2Op) for generic in generics for inner in generic.body.block.ops):
        return None
    operands = {operand.owner for generic in generics for operand in generic.inputs}
    products = [op for op in operands if isinstance(op, GenericOp) and is_contraction(op)]
    dims = all_dims(products[0]) if len(products) == 1 else None
    summed = _summed_dimension(sums[0])
    if dims is None or summed is None or len(dims[-1]) <= summed or (loop := dims[-1][summed]) is None:
        return None
    return products[0], loop


def _summed_dimension(reduction: GenericOp) -> int | None:
    """The dimension of its one input that a reduction sums over."""
    dims, loops = all_dims(reduction), reduction_loops(reduction)
    return dims[0].index(loops[0]) if dims is not None and len(loops) == 1 and loops[0] in dims[0] else None


def _operands(product: GenericOp) -> list[tuple[SSAValue, set[int | None]]]:
    """The operands of a product, each with the loops that move it."""
    dims = all_dims(product)
    return [] if dims is None else [(value, set(moves)) for value, moves in zip(product.inputs, dims, strict=False)]


def _before(value: SSAValue, within: Within) -> Iterator[Operation]:
    """The operations that `value` is computed by, back to where `within` ends."""
    seen: set[Operation] = set()
    pending = [value.owner]
    while pending:
        op = pending.pop()
        if not isinstance(op, Operation) or op in seen or not within(op):
            continue
        seen.add(op)
        yield op
        operands = op.inputs if isinstance(op, GenericOp) else op.operands
        pending.extend(operand.owner for operand in operands)
