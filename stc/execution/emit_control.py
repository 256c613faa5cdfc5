"""Translation of `scf`: loops and choices with carried values. Itensors are carried by name only: their accesses act on ports."""

from __future__ import annotations

from xdsl.dialects import cf, scf
from xdsl.dialects.builtin import TensorType
from xdsl.ir import Block, Operation, SSAValue

from stc.dialects.itensor import ItensorType
from stc.execution.ownership import is_rewritten, may_overwrite
from stc.execution.source import Source
from stc.execution.translation import emit_block, emits


@emits(scf.ForOp)
def emit_for(source: Source, op: scf.ForOp) -> None:
    block = op.body.block
    induction, *arguments = block.args
    last = block.last_op
    assert last is not None
    carried: list[tuple[int, str]] = []
    for position, (argument, initial, result) in enumerate(zip(arguments, op.iter_args, op.results, strict=True)):
        if isinstance(argument.type, ItensorType):
            continue
        name = source.define(argument)
        source.names[result] = name
        carried.append((position, name))
        source.line(f"{name} = {_moved(source, initial, op, is_rewritten(op, position))}")
    bounds = ", ".join(source.name(bound) for bound in (op.lb, op.ub, op.step))
    with source.block(f"for {source.define(induction)} in range({bounds}):"):
        yielded = emit_block(source, block)
        targets, values = [], []
        for position, name in carried:
            value = _moved(source, yielded[position], last, is_rewritten(op, position))
            if value != name:
                targets.append(name)
                values.append(value)
        if targets:
            source.line(f"{', '.join(targets)} = {', '.join(values)}")


def _moved(source: Source, value: SSAValue, user: Operation, rewritten: bool) -> str:
    """The value as a loop carries it: a copy if the loop overwrites it and its storage is not to be had."""
    name = source.name(value)
    if rewritten and isinstance(value.type, TensorType) and not may_overwrite(value, user):
        return f"{name}.copy()"
    return name


@emits(scf.IfOp)
def emit_if(source: Source, op: scf.IfOp) -> None:
    results = [(index, source.define(result)) for index, result in enumerate(op.results) if _is_carried(result)]
    with source.block(f"if {source.name(op.cond)}:"):
        _emit_branch(source, op.true_region.block, results)
    if op.false_region.blocks:
        with source.block("else:"):
            _emit_branch(source, op.false_region.block, results)


def _emit_branch(source: Source, block: Block, results: list[tuple[int, str]]) -> None:
    yielded = emit_block(source, block)
    for index, name in results:
        source.line(f"{name} = {source.name(yielded[index])}")


def _is_carried(value: SSAValue) -> bool:
    return not isinstance(value.type, ItensorType)


@emits(cf.AssertOp)
def emit_assert(_source: Source, _op: cf.AssertOp) -> None:
    """Nothing: assertions check nothing, as on the hardware (see the pass `drop-asserts`)."""
