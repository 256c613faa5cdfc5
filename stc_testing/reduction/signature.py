"""Editing the signature of a function: arguments come and go, results are returned or not."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import func
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr
from xdsl.ir import Attribute, BlockArgument, SSAValue


def add_argument(function: func.FuncOp, kind: Attribute, hint: str | None) -> BlockArgument:
    """A new last argument of type `kind`."""
    block = function.body.block
    argument = block.insert_arg(kind, len(block.args))
    argument.name_hint = hint
    if function.arg_attrs is not None:
        function.arg_attrs = ArrayAttr([*function.arg_attrs.data, DictionaryAttr({})])
    function.update_function_type()
    return argument


def drop_argument(function: func.FuncOp, argument: BlockArgument) -> None:
    """Remove an argument that has no uses."""
    if function.arg_attrs is not None:
        entries = list(function.arg_attrs.data)
        del entries[argument.index]
        function.arg_attrs = ArrayAttr(entries)
    function.body.block.erase_arg(argument)
    function.update_function_type()


def returned(function: func.FuncOp) -> list[SSAValue]:
    """What the function returns."""
    terminator = function.get_return_op()
    return [] if terminator is None else list(terminator.operands)


def expose(function: func.FuncOp, values: Sequence[SSAValue]) -> None:
    """Return `values`, too."""
    _return(function, [*returned(function), *values], [*_result_attributes(function), *(DictionaryAttr({}) for _ in values)])


def keep_results(function: func.FuncOp, retained: Sequence[int]) -> None:
    """Return only the results at the positions `retained`."""
    values, attributes = returned(function), _result_attributes(function)
    _return(function, [values[index] for index in retained], [attributes[index] for index in retained])


def _result_attributes(function: func.FuncOp) -> list[DictionaryAttr]:
    if function.res_attrs is None:
        return [DictionaryAttr({}) for _ in returned(function)]
    return list(function.res_attrs.data)


def _return(function: func.FuncOp, values: Sequence[SSAValue], attributes: Sequence[DictionaryAttr]) -> None:
    terminator = function.get_return_op()
    assert terminator is not None
    terminator.operands = list(values)
    function.res_attrs = ArrayAttr(attributes) if any(entry.data for entry in attributes) else None
    function.update_function_type()
