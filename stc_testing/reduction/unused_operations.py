"""Erase operations that nobody needs: whose results have no use, or that have no results. At every depth."""

from __future__ import annotations

from collections.abc import Callable

from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.traits import IsTerminator

from stc_testing.reduction.engine import item_wise


def _unused(module: ModuleOp) -> list[Callable[[], bool]]:
    return [_erasing(op) for op in module.walk() if op.results and _may_go(op)]


def _without_results(module: ModuleOp) -> list[Callable[[], bool]]:
    return [_erasing(op) for op in module.walk() if not op.results and _may_go(op)]


def _may_go(op: Operation) -> bool:
    if isinstance(op, ModuleOp | func.FuncOp) or op.has_trait(IsTerminator, value_if_unregistered=True):
        return False
    return all(result.first_use is None for result in op.results)


def _erasing(op: Operation) -> Callable[[], bool]:
    def erase() -> bool:
        if op.parent is None or not _may_go(op):
            return False  # it stood in an operation that is gone
        op.detach()
        op.erase()
        return True

    return erase


ERASE_UNUSED = item_wise("erase unused operations", _unused)
ERASE_EFFECTS = item_wise("erase operations without results", _without_results)
