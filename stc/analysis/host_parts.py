"""Parts of a model that PyTorch runs on the host, between kernels: they take results of a function, and give arguments of it.

No operation stands for them. What they give depends on what they take all the same, so that kernels before and behind one stay
apart, in that order.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from xdsl.dialects import func
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr
from xdsl.ir import SSAValue

from stc.dialects.facts import HOST
from stc.dialects.use_def import used_by


@dataclass(frozen=True)
class HostPart:
    """`takes`: what the function returns for it; `gives`: the arguments that it gives."""

    name: str
    takes: tuple[SSAValue, ...]
    gives: tuple[SSAValue, ...]


def host_parts(function: func.FuncOp) -> tuple[HostPart, ...]:
    """Those of a function, as their results stand there."""
    block = function.body.block
    if function.res_attrs is None or block.last_op is None:
        return ()
    takes = _by_part(function.res_attrs, block.last_op.operands)
    gives = _by_part(function.arg_attrs, block.args)
    return tuple(HostPart(name, tuple(taken), tuple(gives.get(name, ()))) for name, taken in takes.items())


def given_arguments(function: func.FuncOp) -> dict[SSAValue, HostPart]:
    """The part that each argument comes from, of those that one gives."""
    return {value: part for part in host_parts(function) for value in part.gives}


def given_from(values: Iterable[SSAValue], function: func.FuncOp) -> set[SSAValue]:
    """The arguments that parts give and that depend on some of `values`."""
    parts, reached = host_parts(function), set(values)
    given: set[SSAValue] = set()
    while parts:
        for op in function.body.block.ops:
            if not reached.isdisjoint(used_by(op)):
                reached.update(op.results)
        new = {value for part in parts if not reached.isdisjoint(part.takes) for value in part.gives} - given
        if not new:
            break
        given |= new
        reached |= new
    return given


def _by_part(entries: ArrayAttr[DictionaryAttr] | None, values: Iterable[SSAValue]) -> dict[str, list[SSAValue]]:
    found: dict[str, list[SSAValue]] = {}
    for entry, value in zip(entries or (), values, strict=bool(entries)):
        if (name := HOST.of(entry)) is not None:
            found.setdefault(name, []).append(value)
    return found
