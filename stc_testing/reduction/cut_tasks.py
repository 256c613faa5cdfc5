"""Cut tasks and converters out of kernels over itensors: what others took from them comes from outside, what only they took goes
there. The counterpart of `cut_operations` one level down.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, OpResult

from stc.dialects.dataflow import KernelOp, UnpackOp
from stc.dialects.itensor import EmptyOp, ItensorType
from stc.execution.run import main_function
from stc_testing.reduction.cut_operations import erase_all, is_within, values_before
from stc_testing.reduction.engine import Reduction
from stc_testing.reduction.kernel_signature import add_operand, add_results, keep_kernel_results, kernels_of
from stc_testing.reduction.signature import add_argument, returned


def _candidates(module: ModuleOp) -> list[tuple[KernelOp, Operation]]:
    """Operations between itensors, with their kernels."""
    return [(kernel, op) for kernel in kernels_of(module) for op in kernel.body.block.ops if _is_between_itensors(op)]


def _is_between_itensors(op: Operation) -> bool:
    return bool(op.results) and all(isinstance(result.type, ItensorType) for result in op.results)


def _cut(module: ModuleOp, chosen: range) -> bool:
    function = main_function(module)
    gone = [entry for index, entry in enumerate(_candidates(module)) if index in chosen]
    for kernel in dict.fromkeys(kernel for kernel, _ in gone):
        if not _cut_in(function, kernel, [op for other, op in gone if other is kernel]):
            return False
    return bool(returned(function))


def _cut_in(function: func.FuncOp, kernel: KernelOp, gone: Sequence[Operation]) -> bool:
    inside = set(gone)
    inputs = values_before(gone, inside)
    kernel = _drop_results_of(function, kernel, inside)
    for result in [result for op in gone for result in op.results]:
        if any(not is_within(use, inside) for use in result.uses) and not _replace(function, kernel, result, inside):
            return False
    erase_all(gone)
    add_results(function, kernel, [v for v in inputs if v.first_use is None and not isinstance(v.owner, EmptyOp)])
    return True


def _drop_results_of(function: func.FuncOp, kernel: KernelOp, inside: set[Operation]) -> KernelOp:
    """Take the results of the kernel that `inside` made from the host instead."""
    made = [value.owner in inside for value in kernel.terminator.arguments]
    for result in [result for result, is_made in zip(kernel.outputs, made, strict=True) if is_made]:
        for use in list(result.uses):
            if isinstance(use.operation, UnpackOp):
                _take_from_host(function, use.operation.result)
                use.operation.detach()
                use.operation.erase()
        if result.first_use is not None:
            _take_from_host(function, result)
    return keep_kernel_results(kernel, [index for index, is_made in enumerate(made) if not is_made])


def _take_from_host(function: func.FuncOp, value: OpResult) -> None:
    value.replace_all_uses_with(add_argument(function, value.type, value.name_hint))


def _replace(function: func.FuncOp, kernel: KernelOp, result: OpResult, inside: set[Operation]) -> bool:
    assert isinstance(result.type, ItensorType)
    argument = add_operand(function, kernel, result.type, result.name_hint)
    if argument is None:
        return False
    result.replace_uses_with_if(argument, lambda use: not is_within(use, inside))
    return True


CUT_TASKS = Reduction("cut tasks", lambda module: len(_candidates(module)), _cut)
