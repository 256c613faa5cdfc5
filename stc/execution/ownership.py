"""Which tensor may be overwritten by the operation that consumes it, instead of being copied.

Tensors are values: `tensor.insert_slice %s into %d` leaves %d as it was. Its storage may be reused where nobody can tell: %d is
storage made for it alone (`owns_storage`), the operation runs once per %d, and every other use has read it before
(`may_overwrite`). Loop-carried tensors that are overwritten inside the loop are copied at most once, on the way in
(`is_rewritten`).
"""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.dialects import scf, tensor
from xdsl.dialects.builtin import TensorType
from xdsl.dialects.linalg import ops as linalg
from xdsl.dialects.linalg.abstract_ops import LinalgStructuredOperation
from xdsl.ir import Block, BlockArgument, Operation, OpResult, SSAValue, Use

_MAKES_STORAGE = (
    tensor.EmptyOp,
    tensor.InsertSliceOp,
    tensor.InsertOp,
    tensor.ConcatOp,
    tensor.PadOp,
    tensor.SplatOp,
    linalg.FillOp,
    LinalgStructuredOperation,
)
_ONLY_READS = (tensor.ExtractSliceOp, tensor.ExtractOp, tensor.ConcatOp, tensor.PadOp, linalg.FillOp, LinalgStructuredOperation)
_DESTINATION: dict[type[Operation], int] = {tensor.InsertSliceOp: 1, tensor.InsertOp: 1}
"""Operations that overwrite an operand: its index."""


def is_rewritten(loop: scf.ForOp, position: int) -> bool:
    """Whether the tensor carried at `position` is overwritten in the loop, so that it must own its storage."""
    argument = loop.body.block.args[position + 1]
    if not isinstance(argument.type, TensorType):
        return False
    return any(_overwrites(use) for use in argument.uses)


def _overwrites(use: Use) -> bool:
    op = use.operation
    if isinstance(op, scf.ForOp):
        position = use.index - 3
        return position >= 0 and is_rewritten(op, position)
    return _DESTINATION.get(type(op)) == use.index


def may_overwrite(value: SSAValue, op: Operation) -> bool:
    """Whether `op`, which uses `value` last, may take its storage."""
    if not owns_storage(value) or not _runs_once_per(value, op):
        return False
    return all(use.operation is op or _is_harmless(use.operation, op) for use in value.uses) and _used_once_by(value, op)


def _used_once_by(value: SSAValue, op: Operation) -> bool:
    return sum(operand is value for operand in op.operands) == 1


def owns_storage(value: SSAValue) -> bool:
    """Whether the storage of `value` was made for it, and is not part of another value's."""
    if isinstance(value, BlockArgument):
        loop = value.owner.parent_op()
        return isinstance(loop, scf.ForOp) and value.index > 0 and is_rewritten(loop, value.index - 1)
    assert isinstance(value, OpResult)
    match value.op:
        case scf.ForOp() as loop:
            return is_rewritten(loop, value.index) or all(
                may_overwrite(source, user) for source, user in _sources_of_loop(loop, value.index)
            )
        case scf.IfOp() as choice:
            return all(may_overwrite(source, user) for source, user in _sources_of_choice(choice, value.index))
        case op:
            return isinstance(op, _MAKES_STORAGE)


def _sources_of_loop(loop: scf.ForOp, position: int) -> Iterator[tuple[SSAValue, Operation]]:
    last = loop.body.block.last_op
    assert last is not None
    yield loop.iter_args[position], loop
    yield last.operands[position], last


def _sources_of_choice(choice: scf.IfOp, position: int) -> Iterator[tuple[SSAValue, Operation]]:
    for region in (choice.true_region, choice.false_region):
        last = region.block.last_op
        assert last is not None
        yield last.operands[position], last


def _runs_once_per(value: SSAValue, op: Operation) -> bool:
    """Whether no loop stands between the definition of `value` and `op`."""
    home = value.owner if isinstance(value.owner, Block) else value.owner.parent
    while op.parent is not home:
        outer = op.parent_op()
        if not isinstance(outer, scf.IfOp):
            return False
        op = outer
    return True


def _is_harmless(other: Operation, op: Operation) -> bool:
    """Whether `other`, a further user, has only read the value by the time `op` runs, or never runs together with it."""
    first, second, common = _in_common_block(other, op)
    if first is None or second is None or common is None:
        return False
    if first is second:
        return isinstance(first, scf.IfOp)
    return isinstance(other, _ONLY_READS) and first.is_before_in_block(second)


def _in_common_block(first: Operation, second: Operation) -> tuple[Operation | None, Operation | None, Block | None]:
    """The ancestors of both operations in the innermost block that holds both."""
    ancestors = dict(_ancestors(second))
    for block, op in _ancestors(first):
        if block in ancestors:
            return op, ancestors[block], block
    return None, None, None


def _ancestors(op: Operation | None) -> Iterator[tuple[Block, Operation]]:
    while op is not None and op.parent is not None:
        yield op.parent, op
        op = op.parent_op()


def slice_outlives(op: tensor.ExtractSliceOp) -> bool:
    """Whether the source of a slice may be overwritten while the slice is used, so that the slice must be a copy."""
    if _is_carried(op.source):
        return True
    if not owns_storage(op.source):
        return False
    return any(not isinstance(use.operation, _ONLY_READS) for use in op.source.uses if not _is_source(use))


def _is_carried(value: SSAValue) -> bool:
    return isinstance(value, BlockArgument) and isinstance(value.owner.parent_op(), scf.ForOp)


def _is_source(use: Use) -> bool:
    return isinstance(use.operation, tensor.InsertSliceOp) and use.index == 0
