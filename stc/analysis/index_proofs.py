"""Proof, index by index, that every access to an array stays within it: local arrays, blocks, bus words, vector lanes.

| method | how |
|---|---|
| constant | the index is a number |
| range, guard, counted, z3 | in every iteration of its loops in which its branch is taken (`stc.iteration.index_bounds`) |
| run time | not proved: the index depends on data. The execution of the IR and the C simulation check it; hardware does not |
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from xdsl.dialects import memref, vector
from xdsl.dialects.builtin import DYNAMIC_INDEX, DenseArrayBase, IntegerType, MemRefType, ModuleOp, VectorType
from xdsl.ir import BlockArgument, Operation, SSAValue

from stc.analysis.index_expressions import IndexExpression, index_expression
from stc.analysis.index_ranges import guards_around, loops_of
from stc.analysis.loops import enclosing_loops
from stc.dialects.dataflow import KernelOp, TaskOp
from stc.dialects.locations import source_location
from stc.dialects.stream import AcquireOp
from stc.iteration.index_bounds import Access, Inside, LoopValues, Outside, Undecided, prove_index

RUN_TIME = "run time"


@dataclass(frozen=True)
class Touched:
    """Along `dimension` of `array`, `op` touches `length` of `extent` entries, from `index` on."""

    op: Operation
    array: SSAValue
    dimension: int
    index: IndexExpression
    length: int
    extent: int

    @property
    def name(self) -> str:
        """`store to tile[0] in @fc`: what is done to which array, along which dimension."""
        verb = _VERBS[type(self.op)]
        return f"{verb} {_name(self.array)}, dimension {self.dimension}{_owner(self.op)}"


@dataclass(frozen=True)
class FailedIndex:
    """An index that leaves its array, or was not decided: `reason` is a sentence; `where` the operation's place, if known."""

    name: str
    reason: str
    where: str | None


@dataclass
class BoundsProofs:
    """The indices of a module: how many each method proved, those left to checks at run time, and failures, in order."""

    by_method: dict[str, int] = field(default_factory=dict[str, int])
    at_run_time: list[str] = field(default_factory=list[str])
    failures: list[FailedIndex] = field(default_factory=list[FailedIndex])
    seconds: float = 0.0

    def report(self) -> dict[str, Any]:
        """What report.json says."""
        return {
            "origin": "proved",
            "indices": sum(self.by_method.values()),
            "by_method": dict(sorted(self.by_method.items())),
            "at_run_time": self.at_run_time,
            "seconds": self.seconds,
        }


def prove_indices(module: ModuleOp) -> BoundsProofs:
    """Decide for every index of every access in `module` whether it stays within its extent; nothing is changed."""
    proofs = BoundsProofs()
    begin = time.perf_counter()
    for touched in (found for op in module.walk() for found in touched_by(op)):
        method = _method(touched)
        if isinstance(method, FailedIndex):
            proofs.failures.append(method)
            continue
        proofs.by_method[method] = proofs.by_method.get(method, 0) + 1
        if method == RUN_TIME:
            proofs.at_run_time.append(touched.name)
    proofs.seconds = time.perf_counter() - begin
    return proofs


def _method(touched: Touched) -> str | FailedIndex:
    """The method that proves an index, or why none does."""
    inner: set[SSAValue] = {loop.body.block.args[0] for loop in enclosing_loops(touched.op)}
    loops = loops_of(touched.index.variables() | inner)
    if loops is None:
        loops = loops_of(touched.index.variables())   # some loop around has bounds that depend on data
    if loops is None:
        return RUN_TIME
    guards = [guard for guard in guards_around(touched.op) if guard.variables() <= set(loops)]
    access = Access(touched.index, touched.length, touched.extent, loops, guards)
    match prove_index(access):
        case Inside(method):
            return method if touched.index.terms or method != "range" else "constant"
        case found:
            return FailedIndex(touched.name, _sentence(touched, loops, found), source_location(touched.op))


# What is accessed -------------------------------------------------------------------------------------------------------

_VERBS: dict[type[Operation], str] = {
    memref.LoadOp: "load from",
    memref.StoreOp: "store to",
    memref.SubviewOp: "view of",
    vector.LoadOp: "load from",
    vector.StoreOp: "store to",
    vector.ExtractOp: "lane of",
    vector.InsertOp: "lane of",
}

_Entry: TypeAlias = SSAValue | int


def touched_by(op: Operation) -> Iterator[Touched]:
    """The indices of an operation, one for each dimension; none of an operation that accesses nothing by index."""
    match op:
        case memref.LoadOp() | memref.StoreOp():
            yield from _entries(op, op.memref, op.indices, [1] * len(op.indices))
        case vector.LoadOp() | vector.StoreOp():
            lanes = op.result.type if isinstance(op, vector.LoadOp) else op.vector.type
            assert isinstance(lanes, VectorType)
            sides = lanes.get_shape()
            yield from _entries(op, op.base, op.indices, [1] * (len(op.indices) - len(sides)) + list(sides))
        case vector.ExtractOp() | vector.InsertOp():
            full = op.vector if isinstance(op, vector.ExtractOp) else op.dest
            positions = _mixed(op.static_position, op.dynamic_position)
            yield from _entries(op, full, positions, [1] * len(positions))
        case memref.SubviewOp():
            offsets = _mixed(op.static_offsets, op.offsets)
            sides = zip(op.static_sizes.get_values(), op.static_strides.get_values(), strict=True)
            yield from _entries(op, op.source, offsets, [(size - 1) * stride + 1 for size, stride in sides])
        case _:
            return


def _entries(op: Operation, array: SSAValue, indices: Sequence[_Entry], lengths: Sequence[int]) -> Iterator[Touched]:
    assert isinstance(array.type, MemRefType | VectorType)
    for dimension, (entry, length) in enumerate(zip(indices, lengths, strict=True)):
        index = IndexExpression(entry) if isinstance(entry, int) else index_expression(entry, {})
        yield Touched(op, array, dimension, index, length, array.type.get_shape()[dimension])


def _mixed(static: DenseArrayBase[IntegerType], dynamic: Sequence[SSAValue]) -> list[_Entry]:
    """Static entries with the dynamic ones filled in."""
    values = iter(dynamic)
    return [next(values) if entry == DYNAMIC_INDEX else int(entry) for entry in static.get_values()]


# What is said -----------------------------------------------------------------------------------------------------------


def _sentence(touched: Touched, loops: dict[SSAValue, LoopValues], found: Outside[SSAValue] | Undecided) -> str:
    allowed = f"0 to {touched.extent - touched.length}"
    entries = f"{touched.extent} entries" + (f", {touched.length} at a time" if touched.length > 1 else "")
    if isinstance(found, Undecided):
        return f"not proved to stay in {allowed} ({entries}): {found.reason}"
    values = f"is {found.value}"
    if found.range is not None and found.range[0] != found.range[1]:
        values = f"ranges over {found.range[0]} to {found.range[1]}"
    involved = [name for name in loops if name in found.iteration and name in touched.index.variables()]
    at = ", ".join(f"%{_hint(name)} = {found.iteration[name]}" for name in involved)
    first = f"; it is {found.value} where {at}" if at else ""
    return f"the index {values}, outside {allowed} ({entries}){first}"


def _name(array: SSAValue) -> str:
    """An array as messages call it, with its extents."""
    assert isinstance(array.type, MemRefType | VectorType)
    shape = "".join(f"[{extent}]" for extent in array.type.get_shape())
    if array.name_hint is None and isinstance(array.owner, AcquireOp):
        return f"the block of {array.owner.block.name_hint or 'a ring'}{shape}"
    hint = array.name_hint or (f"argument {array.index}" if isinstance(array, BlockArgument) else "an array")
    return f"{hint}{shape}"


def _hint(name: SSAValue) -> str:
    return name.name_hint or "i"


def _owner(op: Operation) -> str:
    """` in @task of @kernel`."""
    symbols: list[str] = []
    parent = op.parent_op()
    while parent is not None:
        if isinstance(parent, TaskOp | KernelOp):
            symbols.append(f"@{parent.sym_name.data}")
        parent = parent.parent_op()
    return f" in {' of '.join(symbols)}" if symbols else ""
