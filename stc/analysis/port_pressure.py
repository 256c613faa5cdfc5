"""How hard one iteration of a pipelined loop works: accesses per bank of local memory, multiply-accumulates per task."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import prod

import numpy as np
from xdsl.dialects import arith, memref, scf, vector
from xdsl.dialects.builtin import MemRefType, VectorType
from xdsl.dialects.linalg import ops as linalg
from xdsl.ir import Block, BlockArgument, Operation, SSAValue
from xdsl.utils.hints import isa

from stc.analysis.generic_loops import points_at_once
from stc.analysis.index_expressions import IndexExpression, Term, variables_of
from stc.analysis.loop_schedules import ACCESSES, Entry, entry_of
from stc.analysis.loops import constant_bounds, is_unrolled, trip_count, unroll_factor
from stc.analysis.partitions import banks_of
from stc.analysis.recurrences import flattened_nest, in_registers, iterations
from stc.dialects.dataflow import TaskOp
from stc.dialects.facts import STORAGE
from stc.dialects.stream import AcquireOp, BufferOp
from stc.iteration.storage import BankAccesses

MAX_ACCESSES = 2
"""Ports of a bank of local memory: what it can be accessed in a cycle."""


LOADS = (memref.LoadOp, vector.LoadOp)

MOST_ITERATIONS = 512
"""Iterations of a nest in which accesses are looked at: banks repeat long before."""


def accesses_per_bank(loop: scf.ForOp, task: TaskOp) -> Iterator[tuple[SSAValue, int]]:
    """For each local buffer that an iteration of `loop` accesses, the most accesses that it makes to one bank.

    Copies of unrolled loops and lanes of vectors count, equal accesses once, both branches of a guard.
    """
    for buffer, storage, entries in _local_accesses(loop, task):
        yield buffer, _most_in_one_bank([entry for _, entry in entries], storage, loop)


def are_registers(buffer: SSAValue) -> bool:
    """Whether a buffer is an array of a task with a bank for each entry, and not said to be a memory: registers have no ports."""
    return isinstance(buffer.owner, memref.AllocOp) and not STORAGE.on(buffer.owner) and in_registers(buffer)


def bank_accesses(loop: scf.ForOp, task: TaskOp, of: SSAValue | None = None) -> Iterator[tuple[SSAValue, BankAccesses]]:
    """As `accesses_per_bank`, loads and stores also each alone; only those to the buffer `of`, where one is given."""
    for buffer, storage, entries in _local_accesses(loop, task):
        if of in (None, buffer):
            loads, stores = ([entry for kind, entry in entries if (kind in LOADS) == is_load] for is_load in (True, False))
            counts = [_most_in_one_bank(some, storage, loop) for some in (loads, stores, [*loads, *stores])]
            yield buffer, BankAccesses(*counts)


def _local_accesses(loop: scf.ForOp, task: TaskOp) -> Iterator[tuple[SSAValue, Operation, set[tuple[type[Operation], Entry]]]]:
    """The local buffers that an iteration accesses, what decides how each is stored, and its entries; equal accesses are one."""
    accesses: dict[SSAValue, set[tuple[type[Operation], Entry]]] = {}
    for op, entry in accessed_entries(loop.body.block, {}):
        accesses.setdefault(entry.buffer, set()).add((type(op), entry))
    for buffer, entries in accesses.items():
        if (storage := _storage(buffer, task)) is not None:
            yield buffer, storage, entries


def accessed_entries(block: Block, copies: Mapping[SSAValue, int]) -> Iterator[tuple[Operation, Entry]]:
    """Every entry that one run of `block` accesses, `copies` being the values of unrolled loops around it."""
    for op in block.ops:
        if isinstance(op, ACCESSES):
            first = entry_of(op, copies)
            yield op, first
            for lane in range(1, _lanes(op)):
                yield op, Entry(first.buffer, (*first.indices[:-1], first.indices[-1].plus(IndexExpression(lane))))
            continue
        bounds = constant_bounds(op) if isinstance(op, scf.ForOp) and is_unrolled(op) else None
        for inner in (region.block for region in op.regions if region.blocks):
            if bounds is None:
                yield from accessed_entries(inner, copies)
                continue
            for value in range(bounds.lower, bounds.upper, bounds.step):
                yield from accessed_entries(inner, {**copies, inner.args[0]: value})


def _most_in_one_bank(entries: Sequence[Entry], storage: Operation, loop: scf.ForOp) -> int:
    """How many of `entries` are in the bank that an iteration accesses most, at worst.

    Entries whose indices differ by what is known are told apart; those that lie apart by something unknown may meet.
    """
    partition = banks_of(storage)
    if not partition or len(entries) <= 1:
        return len(entries)
    values, count = iterations(flattened_nest(loop), MOST_ITERATIONS)
    alike: dict[tuple[object, ...], list[list[IndexExpression]]] = {}
    for entry in entries:
        split = [_split(entry.indices[dimension], set(values)) for dimension, _ in partition]
        alike.setdefault(tuple(unknown for _, unknown in split), []).append([known for known, _ in split])
    shape = _shape(entries[0].buffer)
    ways = [factor or shape[dimension] for dimension, factor in partition]
    return sum(_most_of_these(rows, ways, values, count) for rows in alike.values())


def _split(index: IndexExpression, moved: set[SSAValue]) -> tuple[IndexExpression, frozenset[tuple[Term, int]]]:
    """What is known of an index in each iteration, and the terms that are not."""
    unknown = frozenset((term, factor) for term, factor in index.terms if not variables_of(term) <= moved)
    return IndexExpression(index.constant, index.terms - unknown), unknown


def _most_of_these(
    rows: Sequence[Sequence[IndexExpression]], ways: Sequence[int], values: Mapping[SSAValue, np.ndarray], count: int
) -> int:
    """How many entries share a bank in some iteration; `rows` are the indices of each entry along dimensions of so many `ways`."""
    banks = np.zeros((len(rows), count), dtype=np.int64)
    for row, indices in enumerate(rows):
        for index, each in zip(indices, ways, strict=True):
            value = index.evaluate(values)
            if value is None:
                return len(rows)
            banks[row] = banks[row] * each + value % each
    together = np.bincount((banks + np.arange(count) * prod(ways)).ravel())
    return int(together.max())


def multiply_accumulates(task: TaskOp) -> int:
    """Float multiply-accumulates that `task` does at once: sums of a product, copies of unrolled loops counted.

    Tiles may be expanded or not: a generic is as many copies as its schedule computes points at once.
    """
    total = 0
    for op in task.walk():
        if is_multiply_accumulate(op):
            total += copies_in(op, task)
    return total


def is_multiply_accumulate(op: Operation) -> bool:
    """Whether `op` is a float sum of a product."""
    return isinstance(op, arith.AddfOp) and any(isinstance(value.owner, arith.MulfOp) for value in op.operands)


def copies_in(op: Operation, root: Operation) -> int:
    """Copies of `op` that unrolled loops inside `root` make."""
    factors: list[int] = []
    current = op.parent_op()
    while current is not None and current is not root:
        if isinstance(current, scf.ForOp):
            factors.append(trip_count(current) if is_unrolled(current) else unroll_factor(current) or 1)
        if isinstance(current, linalg.GenericOp):
            factors.append(points_at_once(current))
        current = current.parent_op()
    return prod(factors)


def _lanes(op: Operation) -> int:
    """Neighbouring entries that an access is to."""
    if not isinstance(op, vector.LoadOp | vector.StoreOp):
        return 1
    type_ = op.result.type if isinstance(op, vector.LoadOp) else op.vector.type
    return prod(type_.get_shape()) if isa(type_, VectorType) else 1


def _storage(buffer: SSAValue, task: TaskOp) -> Operation | None:
    """What decides how a local buffer is stored; None for external memory."""
    owner = buffer.owner
    if isinstance(owner, memref.AllocOp):
        return owner
    if isinstance(owner, AcquireOp) and isinstance(port := owner.block, BlockArgument):
        ring = task.operands[port.index].owner
        return ring if isinstance(ring, BufferOp) else None
    return None


def _shape(buffer: SSAValue) -> tuple[int, ...]:
    assert isa(buffer.type, MemRefType)
    return buffer.type.get_shape()
