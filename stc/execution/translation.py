"""IR to Python, operation by operation: the registry of emitters. Nothing here knows any of them.

    @emits(scf.ForOp)
    def emit_for(source: Source, op: scf.ForOp) -> None: ...

An emitter writes statements that compute the operation's results into `source`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NoReturn, TypeVar

from xdsl.ir import Block, Operation, SSAValue
from xdsl.traits import IsTerminator

from stc.diagnostics import CompileError
from stc.execution.source import Source
from stc.scalars.bf16 import ACCEPTED, computes_in_bf16

Emitter = Callable[[Source, Any], None]
_EmitterT = TypeVar("_EmitterT", bound=Emitter)

_EMITTERS: dict[type[Operation], Emitter] = {}


def emits(*operations: type[Operation]) -> Callable[[_EmitterT], _EmitterT]:
    """Register the decorated function as the translation of these operations and of classes derived from them."""

    def register(emitter: _EmitterT) -> _EmitterT:
        for operation in operations:
            _EMITTERS[operation] = emitter
        return emitter

    return register


def emit_block(source: Source, block: Block) -> tuple[SSAValue, ...]:
    """Translate a block; buffers acquired in it are given back at its end. Returns the operands of its terminator."""
    source.releases.append([])
    yielded: tuple[SSAValue, ...] = ()
    for op in block.ops:
        if op.has_trait(IsTerminator):
            yielded = tuple(op.operands)
            break
        emit(source, op)
    for text in source.releases.pop():
        source.line(text)
    return yielded


def emit(source: Source, op: Operation) -> None:
    """Translate one operation; CompileError where it has no semantics here."""
    if computes_in_bf16(op):
        raise CompileError("arithmetic in bf16", where=source.at(op), accepted=ACCEPTED)
    for kind in type(op).__mro__:
        if (emitter := _EMITTERS.get(kind)) is not None:
            emitter(source, op)
            return
    refuse(source, op)


def refuse(source: Source, op: Operation) -> NoReturn:
    """CompileError: `op` has no semantics here."""
    raise CompileError("operation cannot be executed", where=source.at(op))


def evaluate(op: Operation, values: Mapping[SSAValue, Any], where: str) -> list[Any]:
    """The results of one operation by itself; `values`: of all that it uses."""
    source = Source(where)
    used = [*dict.fromkeys((*op.operands, *free_values(op)))]
    parameters = [source.define(value) for value in used]
    emit(source, op)
    source.line(f"return [{', '.join(source.name(result) for result in op.results)}]")
    return source.compile(parameters)(*(values[value] for value in used))


def free_values(op: Operation) -> list[SSAValue]:
    """What the regions of `op` use of the values around it, each once."""
    inside = [inner for region in op.regions for block in region.blocks for outer in block.ops for inner in outer.walk()]
    blocks = {block for region in op.regions for block in region.blocks}
    blocks |= {block for inner in inside for region in inner.regions for block in region.blocks}
    made_inside = set(inside)
    found: dict[SSAValue, None] = {}
    for inner in inside:
        for operand in inner.operands:
            if operand.owner not in made_inside and operand.owner not in blocks:
                found[operand] = None
    return list(found)
