"""Replace an operation by something that is there already: an operand, or an earlier value, of the same type. At every depth.

    %b = arith.mulf %a, %a          linalg.yield of %a in place of %b
    %r = scf.for ... iter_args(%t = %s)     %s in place of %r
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from xdsl.dialects import arith, tensor
from xdsl.ir import Operation, OpResult, SSAValue

from stc.dialects.itensor.access_ops import EmptyOp
from stc_testing.reduction.engine import Reduction, item_wise


def bypass(name: str, choose: Callable[[list[SSAValue]], SSAValue]) -> Reduction:
    """The reduction that takes, of all values that would do, the one `choose` takes."""
    return item_wise(name, lambda module: [_bypassing(op, choose) for op in module.walk() if _may_go(op)])


def _may_go(op: Operation) -> bool:
    is_source = isinstance(op, arith.ConstantOp | tensor.EmptyOp | EmptyOp)
    return bool(op.results) and not is_source and any(result.first_use is not None for result in op.results)


def _bypassing(op: Operation, choose: Callable[[list[SSAValue]], SSAValue]) -> Callable[[], bool]:
    def replace() -> bool:
        if op.parent is None or not _may_go(op):
            return False
        chosen: list[SSAValue] = []
        for result in op.results:
            values = _operands_like(op, result) or list(_earlier(op, result))
            if not values:
                return False
            chosen.append(choose(values))
        for result, value in zip(op.results, chosen, strict=True):
            result.replace_all_uses_with(value)
        op.detach()
        op.erase()
        return True

    return replace


def _operands_like(op: Operation, result: OpResult) -> list[SSAValue]:
    return [value for value in op.operands if value.type == result.type and not isinstance(value.owner, tensor.EmptyOp)]


def _earlier(op: Operation, result: OpResult) -> Iterator[SSAValue]:
    """Arguments of the block and results of operations before `op` in it, of the type of `result`, except empty tensors."""
    block = op.parent_block()
    assert block is not None
    yield from (argument for argument in block.args if argument.type == result.type)
    for other in block.ops:
        if other is op:
            return
        if not isinstance(other, tensor.EmptyOp | EmptyOp):
            yield from (value for value in other.results if value.type == result.type)


BYPASS_BY_FIRST = bypass("replace operations by an operand", lambda values: values[0])
BYPASS_BY_LAST = bypass("replace operations by their last operand", lambda values: values[-1])
