"""Use-def chains: what a value is computed from, and what becomes of it.

They are walked with lists rather than by calls: chains of thousands of operations are ordinary input.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Sequence

from xdsl.dialects import tensor
from xdsl.ir import Block, BlockArgument, Operation, OpResult, SSAValue, Use

RESHAPES = (tensor.ExpandShapeOp, tensor.CollapseShapeOp, tensor.CastOp)
"""What leaves the row-major data of a tensor as they are."""


def operands_of(op: Operation) -> Sequence[SSAValue]:
    return op.operands


def used_by(op: Operation) -> list[SSAValue]:
    """What an operation uses, in its regions too."""
    return [operand for nested in op.walk() for operand in nested.operands]


def values_behind(values: Iterable[SSAValue], block: Block | None = None) -> set[SSAValue]:
    """`values` and everything they are computed from (in `block`, where it is given), block arguments included."""
    found: set[SSAValue] = set()
    pending = list(values)
    while pending:
        value = pending.pop()
        if value not in found:
            found.add(value)
            if isinstance(value.owner, Operation) and (block is None or value.owner.parent is block):
                pending.extend(value.owner.operands)
    return found


def depends_on(value: SSAValue, origins: Iterable[SSAValue], block: Block | None = None) -> bool:
    """Whether `value` is one of `origins` or computed from one (in `block`, where it is given)."""
    return not values_behind([value], block).isdisjoint(origins)


def operations_behind(
    value: SSAValue,
    known: Container[SSAValue] = (),
    operands: Callable[[Operation], Sequence[SSAValue]] = operands_of,
) -> list[Operation]:
    """The operations that compute `value` from block arguments and from what is `known`, each once, after what it needs.

    `operands` says which values an operation needs.
    """
    order: dict[Operation, None] = {}
    opened: set[Operation] = set()
    pending = [value]
    while pending:
        value = pending[-1]
        op = value.owner if isinstance(value, OpResult) else None
        if op is None or op in order or value in known:
            pending.pop()
        elif op in opened:
            order[op] = None
            pending.pop()
        else:
            opened.add(op)
            pending.extend(reversed(operands(op)))
    return list(order)


def arguments_behind(value: SSAValue) -> list[BlockArgument]:
    """The block arguments that `value` is made of."""
    found = [operand for op in operations_behind(value) for operand in op.operands] + [value]
    return [each for each in found if isinstance(each, BlockArgument)]


def through_reshapes(value: SSAValue) -> SSAValue:
    """The value whose row-major data `value` is."""
    while isinstance(value.owner, RESHAPES):
        value = value.owner.operands[0]
    return value


def uses_through(value: SSAValue, views: tuple[type[Operation], ...] = RESHAPES) -> Iterator[Use]:
    """The uses of `value`, and instead of those by `views` the uses of their results, in order."""
    pending = list(reversed(list(value.uses)))
    while pending:
        use = pending.pop()
        if isinstance(use.operation, views):
            pending.extend(reversed([inner for result in use.operation.results for inner in result.uses]))
        else:
            yield use
