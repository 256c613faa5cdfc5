"""Whether a module is still fit for passes behind one of them: what the pass left as it was is not checked again.

The rules of an upstream operation, and our preconditions on it, read the operation and what makes its operands, what stands in it,
and what stands around it. It is checked again where one of these has changed. The rules of other operations follow values through
whole tasks: they are checked again where anything in the innermost isolated operation around them (task, kernel, function) has.
The rules of scalar and memory operations (`ALONE`) read nothing but types and attributes: one that is like another is not checked.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from functools import cache
from typing import TypeAlias

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, ErasedSSAValue, Operation
from xdsl.traits import IsolatedFromAbove, SymbolUserOpInterface

from stc.dialects.dataflow import KernelOp, TaskOp
from stc.dialects.preconditions import unfit_for_passes, unmet
from stc.dialects.verification import Violation
from stc.xdsl_gaps.dominance import uses_before_definition
from stc.xdsl_gaps.verifier_rules import complaints

UPSTREAM = {"affine", "arith", "builtin", "func", "linalg", "math", "memref", "scf", "tensor", "vector"}
"""Dialects whose verifiers were read: none looks further than said above, but for users of symbols."""
ALONE = {"arith", "math", "memref", "vector"}
"""Those of them whose operations without regions, but for terminators, have rules on their own types and attributes only."""
CLOSED = (TaskOp, KernelOp)
"""Ours that only read themselves and what stands in them."""

_Record = tuple[list[object], list[list[Operation]]]
"""What rules read of an operation itself; what stands in it."""
_Likeness: TypeAlias = tuple[Hashable, ...]
"""All that rules read of an operation of `ALONE`."""


class Reverification:
    """Checks one module again and again, between changes."""

    def __init__(self) -> None:
        self._before: dict[Operation, _Record] = {}
        """What the rules read of each operation itself, when all of them held."""
        self._sound: set[_Likeness] = set()

    def unfit_for_passes(self, module: ModuleOp) -> Violation | None:
        """As `stc.dialects.preconditions.unfit_for_passes`, which gives the answer where there is one."""
        visit = _Visit(self._before, self._sound)
        try:
            visit.operation(module, None, [], is_forced=False)
            is_sound = next(uses_before_definition(module), None) is None
        except Exception:  # verifiers raise anything
            is_sound = False
        self._before = visit.now if is_sound else {}
        return None if is_sound else unfit_for_passes(module)


class _Visit:
    """Raises an exception where a rule does not hold."""

    def __init__(self, before: dict[Operation, _Record], sound: set[_Likeness]) -> None:
        self.before, self.sound = before, sound
        self.now: dict[Operation, _Record] = {}

    def operation(self, operation: Operation, around: Operation | None, far: list[Operation], *, is_forced: bool) -> bool:
        """Whether the operation, or something in it, has changed, or `is_forced`: then its rules hold.

        What looks further and stands in the same isolated operation goes to `far`, to be checked if that turns out to have changed.
        """
        blocks = [block for region in operation.regions for block in region.blocks]
        record, contents = _read(operation, around, blocks), [[*block.ops] for block in blocks]
        self.now[operation] = record, contents
        before = self.before.get(operation, ([], []))
        own = is_forced or before[0] != record
        changed = own or before[1] != contents
        isolated = bool(blocks) and operation.has_trait(IsolatedFromAbove)
        inside: list[Operation] = [] if isolated else far
        for block, inner_operations in zip(blocks, contents, strict=True):
            if block.parent not in operation.regions:
                raise ValueError
            for inner in inner_operations:
                if inner.parent is not block:
                    raise ValueError
                forced = own and not (isolated and inner.next_op is not None)
                changed |= self.operation(inner, operation, inside, is_forced=forced)
        if isolated and changed:
            for inner in inside:
                _check(inner)
        if _looks_far(type(operation)):
            far.append(operation)
        elif changed:
            self._check(operation)
        return changed

    def _check(self, operation: Operation) -> None:
        """As `_check`, of operations that are alike once."""
        likeness = _likeness(operation) if _stands_alone(operation) else None
        if likeness is None or likeness not in self.sound:
            _check(operation)
        if likeness is not None:
            self.sound.add(likeness)


def _read(operation: Operation, around: Operation | None, blocks: list[Block]) -> list[object]:
    """What rules read of one operation, and of what makes the operands of one with regions: the bounds of loops.

    Values stand for their types: where a type changes, another value takes the place.
    """
    operands = [*operation.operands]
    record: list[object] = [
        operands,
        operation.results,
        operation.properties.copy(),
        operation.attributes.copy(),
        around,
        operation.next_op is None,
    ]
    if blocks:
        record += [value.owner.properties.copy() for value in operands if isinstance(value.owner, Operation)]
        record += [[block, *block.args] for block in blocks]
    return record


@cache
def _looks_far(kind: type[Operation]) -> bool:
    return kind not in CLOSED and (kind.name.partition(".")[0] not in UPSTREAM or kind.has_trait(SymbolUserOpInterface))


def _stands_alone(operation: Operation) -> bool:
    """Whether its rules read nothing but its `_likeness`: the last operation of a block has to be a terminator."""
    is_alone = operation.name.partition(".")[0] in ALONE and not operation.regions and operation.next_op is not None
    return is_alone and not any(isinstance(operand, ErasedSSAValue) for operand in operation.operands)


def _likeness(operation: Operation) -> _Likeness:
    return (
        type(operation),
        tuple(operand.type for operand in operation.operands),
        tuple(result.type for result in operation.results),
        tuple(operation.properties.items()),
        tuple(operation.attributes.items()),
    )


def _check(operation: Operation) -> None:
    operation.verify(verify_nested_ops=False)
    if next(_complaints(operation), None) is not None:
        raise ValueError


def _complaints(operation: Operation) -> Iterator[str]:
    yield from complaints(operation)
    yield from unmet(operation)
