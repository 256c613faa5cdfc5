"""Drop attributes that nothing requires: names, modules, schedules, directives, marks of arguments and results."""

from __future__ import annotations

from collections.abc import Callable

from xdsl.dialects import func
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, ModuleOp
from xdsl.ir import Operation

from stc_testing.reduction.engine import item_wise


def _attributes(module: ModuleOp) -> list[Callable[[], bool]]:
    return [_dropping(op, name) for op in module.walk() for name in op.attributes]


def _dropping(op: Operation, name: str) -> Callable[[], bool]:
    def drop() -> bool:
        del op.attributes[name]
        return True

    return drop


def _marks(module: ModuleOp) -> list[Callable[[], bool]]:
    """What is said about single arguments and results of functions."""
    functions = [op for op in module.walk() if isinstance(op, func.FuncOp)]
    return [
        _unmarking(function, table, index, name)
        for function in functions
        for table in ("arg_attrs", "res_attrs")
        for index, entry in enumerate(_entries(function, table))
        for name in entry.data
    ]


def _unmarking(function: func.FuncOp, table: str, index: int, name: str) -> Callable[[], bool]:
    def drop() -> bool:
        entries = _entries(function, table)
        entries[index] = DictionaryAttr({key: value for key, value in entries[index].data.items() if key != name})
        setattr(function, table, ArrayAttr(entries) if any(entry.data for entry in entries) else None)
        return True

    return drop


def _entries(function: func.FuncOp, table: str) -> list[DictionaryAttr]:
    present: ArrayAttr[DictionaryAttr] | None = getattr(function, table)
    return [] if present is None else list(present.data)


DROP_ATTRIBUTES = item_wise("drop attributes", _attributes)
DROP_MARKS = item_wise("drop attributes of arguments", _marks)
