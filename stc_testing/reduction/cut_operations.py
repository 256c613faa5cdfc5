"""Cut operations out of a function: what others took from them becomes arguments, what only they took becomes results.

    %a = f(%x)                      func(%x, %b)
    %b = g(%a)        becomes       %a = f(%x)
    %c = h(%b)                      %c = h(%b)
    return %c                       return %c, %a
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import arith, tensor
from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.ir import Operation, OpResult, SSAValue, Use

from stc.dialects.dataflow.boundary import is_scalar
from stc.execution.run import main_function
from stc_testing.reduction.engine import Reduction
from stc_testing.reduction.signature import add_argument, expose, keep_results, returned


def _candidates(module: ModuleOp) -> list[Operation]:
    return list(main_function(module).body.block.ops)[:-1]


def _cut(module: ModuleOp, chosen: range) -> bool:
    function = main_function(module)
    gone = [op for index, op in enumerate(_candidates(module)) if index in chosen]
    inside = set(gone)
    inputs = values_before(gone, inside)
    retained = [index for index, value in enumerate(returned(function)) if value.owner not in inside]
    keep_results(function, retained)
    for result in [result for op in gone for result in op.results]:
        if not any(not is_within(use, inside) for use in result.uses):
            continue
        if not (isinstance(result.type, TensorType) or is_scalar(result.type)):
            return False
        replacement = add_argument(function, result.type, result.name_hint)
        result.replace_uses_with_if(replacement, lambda use: not is_within(use, inside))
    erase_all(gone)
    expose(function, [value for value in inputs if value.first_use is None and _is_computed(value)])
    return bool(returned(function))


def values_before(gone: Sequence[Operation], inside: set[Operation]) -> list[SSAValue]:
    """Results of other operations that `gone` uses, each once, in order."""
    found: dict[SSAValue, None] = {}
    for op in gone:
        for nested in op.walk():
            for value in nested.operands:
                if isinstance(value, OpResult) and enclosing(value.op, op.parent_block()) not in inside:
                    found[value] = None
    return list(found)


def enclosing(op: Operation, block: object) -> Operation | None:
    """The operation of `block` that is `op` or holds it."""
    current: Operation | None = op
    while current is not None and current.parent_block() is not block:
        current = current.parent_op()
    return current


def is_within(use: Use, operations: set[Operation]) -> bool:
    """Whether a use belongs to one of `operations` or to what they hold."""
    current: Operation | None = use.operation
    while current is not None:
        if current in operations:
            return True
        current = current.parent_op()
    return False


def erase_all(operations: Sequence[Operation]) -> None:
    """Erase operations whose results are used by none but themselves."""
    for op in reversed(operations):
        op.detach()
        op.erase(safe_erase=False)


def _is_computed(value: SSAValue) -> bool:
    return isinstance(value.type, TensorType) and not isinstance(value.owner, tensor.EmptyOp | arith.ConstantOp)


CUT_OPERATIONS = Reduction("cut operations", lambda module: len(_candidates(module)), _cut)
