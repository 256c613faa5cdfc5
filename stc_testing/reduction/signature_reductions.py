"""Fewer results and fewer arguments of the function."""

from __future__ import annotations

from collections.abc import Callable

from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import BlockArgument

from stc.execution.run import main_function
from stc_testing.reduction.engine import Reduction, item_wise
from stc_testing.reduction.signature import drop_argument, keep_results, returned


def _result_count(module: ModuleOp) -> int:
    return len(returned(main_function(module)))


def _drop_results(module: ModuleOp, chosen: range) -> bool:
    function = main_function(module)
    retained = [index for index in range(len(returned(function))) if index not in chosen]
    keep_results(function, retained)
    return bool(retained)


def _unused_arguments(module: ModuleOp) -> list[Callable[[], bool]]:
    function = main_function(module)
    return [_dropping(function, argument) for argument in function.body.block.args if argument.first_use is None]


def _dropping(function: func.FuncOp, argument: BlockArgument) -> Callable[[], bool]:
    def drop() -> bool:
        drop_argument(function, argument)
        return True

    return drop


DROP_RESULTS = Reduction("drop results", _result_count, _drop_results)
DROP_ARGUMENTS = item_wise("drop unused arguments", _unused_arguments)
