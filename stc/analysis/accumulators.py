"""Sums that are kept in local memory: where they are set, added to and read, and what it takes to keep several of each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import TypeAlias

import numpy as np
from xdsl.dialects import arith, memref, scf, vector
from xdsl.dialects.builtin import FloatAttr, IntegerAttr, MemRefType
from xdsl.ir import Block, Operation, SSAValue
from xdsl.traits import Pure

from stc.analysis.index_expressions import IndexExpression, Term, variables_of
from stc.analysis.loop_schedules import Entry, entry_of
from stc.analysis.loops import constant_bounds, loops_between
from stc.dialects.dataflow import TaskOp

Combiner: TypeAlias = (
    arith.AddiOp | arith.AddfOp | arith.MulfOp | arith.MaximumfOp | arith.MinimumfOp | arith.MaxnumfOp | arith.MinnumfOp
)
COMBINERS = (arith.AddiOp, arith.AddfOp, arith.MulfOp, arith.MaximumfOp, arith.MinimumfOp, arith.MaxnumfOp, arith.MinnumfOp)
_ROUNDING = (arith.AddfOp, arith.MulfOp)
_NEUTRAL: dict[type[Operation], float] = {arith.AddiOp: 0, arith.AddfOp: 0.0, arith.MulfOp: 1.0}
MOST_POINTS = 1 << 20


@dataclass(frozen=True)
class Accumulator:
    """A local buffer that is filled with a constant (`fills`), added to in one place, and read elsewhere (`readers`)."""

    task: TaskOp
    buffer: memref.AllocOp
    load: memref.LoadOp
    combiner: Combiner
    store: memref.StoreOp
    fills: tuple[memref.StoreOp, ...]
    readers: tuple[memref.LoadOp | vector.LoadOp, ...]

    @property
    def begin(self) -> arith.ConstantOp:
        """What the first of `fills` sets it to."""
        constant = self.fills[0].value.owner
        assert isinstance(constant, arith.ConstantOp)
        return constant

    @property
    def rounds(self) -> bool:
        """Whether another order of combining gives another rounding; false for integers, maxima and minima."""
        return isinstance(self.combiner, _ROUNDING)

    @property
    def type(self) -> MemRefType:
        """Of the buffer."""
        assert isinstance(self.buffer.memref.type, MemRefType)
        return self.buffer.memref.type


def accumulators(task: TaskOp) -> Iterator[Accumulator]:
    """The accumulators of `task`: buffers that are used in no other way."""
    users: dict[SSAValue, list[Operation]] = {}
    for op in task.walk():   # not the recorded uses: passes leave some of operations that are gone
        for value in op.operands:
            users.setdefault(value, []).append(op)
    for buffer in [op for op in task.walk() if isinstance(op, memref.AllocOp)]:
        found = _accumulator(task, buffer, users)
        if found is not None:
            yield found


def _accumulator(task: TaskOp, buffer: memref.AllocOp, users_of: Mapping[SSAValue, list[Operation]]) -> Accumulator | None:
    users = users_of.get(buffer.memref, [])
    stores = [op for op in users if isinstance(op, memref.StoreOp) and op.memref is buffer.memref]
    loads = [op for op in users if isinstance(op, memref.LoadOp | vector.LoadOp)]
    sums = [pair for store in stores if (pair := _summand(store, users_of)) is not None]
    if len(stores) + len(loads) != len(users) or len(sums) != 1:
        return None
    (load, combiner, store) = sums[0]
    fills = tuple(op for op in stores if op is not store)
    if not fills or not all(_is_neutral(fill, combiner) for fill in fills):
        return None
    readers = tuple(op for op in loads if op is not load)
    return Accumulator(task, buffer, load, combiner, store, fills, readers) if readers else None


def _summand(
    store: memref.StoreOp, users_of: Mapping[SSAValue, list[Operation]]
) -> tuple[memref.LoadOp, Combiner, memref.StoreOp] | None:
    """The load and the combiner of `x[i] = x[i] + ...`, where both values serve nothing else."""
    combiner = store.value.owner
    if not isinstance(combiner, COMBINERS) or len(users_of[combiner.result]) != 1:
        return None
    for operand in (combiner.lhs, combiner.rhs):
        load = operand.owner
        if isinstance(load, memref.LoadOp) and load.memref is store.memref and len(users_of[load.res]) == 1:
            same_block = load.parent is store.parent
            return (load, combiner, store) if same_block and entry_of(load, {}) == entry_of(store, {}) else None
    return None


def _is_neutral(fill: memref.StoreOp, combiner: Combiner) -> bool:
    """Whether combining with the filled value again changes nothing."""
    constant = fill.value.owner
    if not isinstance(constant, arith.ConstantOp) or not isinstance(constant.value, FloatAttr | IntegerAttr):
        return False
    neutral = _NEUTRAL.get(type(combiner))
    return neutral is None or constant.value.value.data == neutral


# Reading ----------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Reading:
    """A reader: all that it reads in the loops of `place` (the reader itself where there are none), `nest` adds to in one run."""

    nest: Operation
    place: Operation


def reading(sums: Accumulator, reader: memref.LoadOp | vector.LoadOp) -> Reading | None:
    """Before what `reader`'s entries must be complete; None where that is not so simple."""
    blocks = _blocks_around(sums.store)
    statement: Operation = reader
    place: Operation = reader
    while (block := statement.parent) is not None and block not in blocks:
        parent = block.parent_op()
        if parent is None or parent is sums.task:
            return None
        place = parent if isinstance(parent, scf.ForOp) else place
        statement = parent
    nest = blocks.get(block) if block is not None else None
    if nest is None or nest is statement or any(statement.is_ancestor(fill) for fill in sums.fills):
        return None
    return Reading(nest, place) if _covered(sums, nest, reader, statement) else None


def _blocks_around(op: Operation) -> dict[Block, Operation]:
    """Each block around `op`, with the operation in it that holds `op` (or is it)."""
    found: dict[Block, Operation] = {}
    current: Operation | None = op
    while current is not None and (block := current.parent) is not None and not isinstance(current, TaskOp):
        found[block] = current
        current = block.parent_op()
    return found


def loops_inside(root: Operation, op: Operation) -> list[scf.ForOp]:
    """The loops around `op` from `root` (included) inwards, outermost first."""
    return [] if op is root else loops_between(op, root)


def _covered(sums: Accumulator, nest: Operation, reader: memref.LoadOp | vector.LoadOp, statement: Operation) -> bool:
    """Whether all that `reader` reads in a run of `statement` is added to in one run of `nest`."""
    added = _entries(sums, entry_of(sums.store, {}), loops_inside(nest, sums.store), 1)
    lanes = prod(reader.result.type.get_shape()) if isinstance(reader, vector.LoadOp) else 1
    read = _entries(sums, entry_of(reader, {}), loops_inside(statement, reader), lanes)
    return added is not None and read is not None and read <= added


def _entries(sums: Accumulator, entry: Entry, loops: Sequence[scf.ForOp], lanes: int) -> set[tuple[object, int]] | None:
    """Which entries of the buffer are touched while `loops` run: (what loops outside contribute, flat index)."""
    moved = set[SSAValue](loop.body.block.args[0] for loop in loops)
    variables = entry.variables
    inside = [loop for loop in loops if loop.body.block.args[0] in variables]
    if prod(_trip(loop) for loop in inside) * lanes > MOST_POINTS:
        return None
    outside = tuple(_outside(index, moved) for index in entry.indices)
    if None in outside:
        return None
    values: dict[SSAValue, np.ndarray] = {}
    ranges = [_range(loop) for loop in inside]
    for loop, grid in zip(inside, np.meshgrid(*ranges, indexing="ij") if ranges else [], strict=True):
        values[loop.body.block.args[0]] = grid.ravel()
    address: np.ndarray | int = 0
    for index, extent in zip(entry.indices, sums.type.get_shape(), strict=True):
        value = index.evaluate(values)
        if value is None:
            return None
        address = address * extent + value
    flat = np.unique(np.atleast_1d(np.asarray(address)))
    return {(outside, int(start) + lane) for start in flat for lane in range(lanes)}


def _outside(index: IndexExpression, moved: set[SSAValue]) -> frozenset[tuple[Term, int]] | None:
    """The terms of an index that do not move; None where one moves with both."""
    mixed = any(variables_of(term) & moved and variables_of(term) - moved for term, _ in index.terms)
    return None if mixed else index.without(moved)


def _range(loop: scf.ForOp) -> np.ndarray:
    bounds = constant_bounds(loop)
    assert bounds is not None
    return np.arange(bounds.lower, bounds.upper, bounds.step)


def _trip(loop: scf.ForOp) -> int:
    bounds = constant_bounds(loop)
    return bounds.trip if bounds is not None else MOST_POINTS + 1


def is_covered(sums: Accumulator, nest: scf.ForOp, store: memref.StoreOp) -> bool:
    """Whether `store` sets each entry of the buffer while `nest`, around it, runs."""
    entries = _entries(sums, entry_of(store, {}), loops_inside(nest, store), 1)
    return entries is not None and len(entries) == prod(sums.type.get_shape())


# Filling ----------------------------------------------------------------------------------------------------------------


def fill_nest(fill: memref.StoreOp) -> Operation:
    """The perfect nest of loops that does nothing but this fill, or the store itself."""
    statement: Operation = fill
    while isinstance(parent := statement.parent_op(), scf.ForOp) and not parent.iter_args:
        others = [op for op in parent.body.block.ops if op is not statement and not op.has_trait(Pure)]
        if any(not isinstance(op, scf.YieldOp) for op in others):
            break
        statement = parent
    return statement
