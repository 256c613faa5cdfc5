"""Fewer operands and results of kernels: those that nobody uses."""

from __future__ import annotations

from collections.abc import Callable

from xdsl.dialects.builtin import ModuleOp

from stc.dialects.dataflow import KernelOp
from stc_testing.reduction.engine import Reduction, item_wise
from stc_testing.reduction.kernel_signature import drop_operand, keep_kernel_results, kernels_of


def _unused_operands(module: ModuleOp) -> list[Callable[[], bool]]:
    return [
        _dropping(kernel, argument.index)
        for kernel in kernels_of(module)
        for argument in kernel.arguments
        if argument.first_use is None
    ]


def _dropping(kernel: KernelOp, index: int) -> Callable[[], bool]:
    def drop() -> bool:
        drop_operand(kernel, index)
        return True

    return drop


def _unused_results(module: ModuleOp) -> list[tuple[KernelOp, int]]:
    return [(kernel, result.index) for kernel in kernels_of(module) for result in kernel.outputs if result.first_use is None]


def _drop_results(module: ModuleOp, chosen: range) -> bool:
    gone = [entry for index, entry in enumerate(_unused_results(module)) if index in chosen]
    for kernel in dict.fromkeys(kernel for kernel, _ in gone):
        dropped = [index for other, index in gone if other is kernel]
        keep_kernel_results(kernel, [index for index in range(len(kernel.outputs)) if index not in dropped])
    return True


DROP_KERNEL_OPERANDS = item_wise("drop unused operands of kernels", _unused_operands)
DROP_KERNEL_RESULTS = Reduction("drop unused results of kernels", lambda module: len(_unused_results(module)), _drop_results)
