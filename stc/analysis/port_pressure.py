"""How hard one iteration of a pipelined loop works: accesses per bank of local memory, multiply-accumulates per task."""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil, prod

from xdsl.dialects import arith, linalg, memref, scf, vector
from xdsl.dialects.builtin import ArrayAttr, IntegerAttr, MemRefType, VectorType
from xdsl.ir import BlockArgument, Operation, SSAValue
from xdsl.utils.hints import isa

from stc.analysis.generic_loops import points_at_once
from stc.analysis.loops import is_unrolled, trip_count, unroll_factor
from stc.analysis.task_programs import values_behind
from stc.dialects.dataflow import TaskOp
from stc.dialects.stream import AcquireOp, BufferOp

MAX_ACCESSES = 2
"""Ports of a bank of local memory: what it can be accessed in a cycle."""


def memory_interval(loop: scf.ForOp, task: TaskOp) -> int:
    """Cycles that the accesses of one iteration of `loop` take where each bank of local memory has two ports."""
    return max((ceil(count / MAX_ACCESSES) for _, count in accesses_per_bank(loop, task)), default=1)


def accesses_per_bank(loop: scf.ForOp, task: TaskOp) -> Iterator[tuple[SSAValue, float]]:
    """For each local buffer that an iteration of `loop` accesses, how many entries of one bank, were they spread evenly.

    Copies of unrolled loops count where their induction variable moves the access; equal accesses count once.
    """
    entries: dict[SSAValue, int] = {}
    seen: set[object] = set()
    for op in loop.walk():
        match op:
            case memref.LoadOp() | memref.StoreOp():
                buffer, indices, lanes = op.memref, tuple(op.indices), 1
            case vector.LoadOp() | vector.StoreOp():
                buffer, indices, lanes = op.base, tuple(op.indices), _lanes(op)
            case _:
                continue
        key = (type(op), buffer, indices)
        if key in seen or _storage(buffer, task) is None:
            continue
        seen.add(key)
        entries[buffer] = entries.get(buffer, 0) + lanes * _copies(op, loop, values_behind(indices))
    for buffer, count in entries.items():
        yield buffer, count / _banks(buffer, task)


def multiply_accumulates(task: TaskOp) -> int:
    """Float multiply-accumulates that `task` does at once: sums of a product, copies of unrolled loops counted.

    Tiles may be expanded or not: a generic is as many copies as its schedule computes points at once.
    """
    total = 0
    for op in task.walk():
        if isinstance(op, arith.AddfOp) and any(isinstance(value.owner, arith.MulfOp) for value in op.operands):
            total += _copies(op, task, None)
    return total


def _copies(op: Operation, root: Operation, moving: set[SSAValue] | None) -> int:
    """Copies of `op` that unrolled loops inside `root` make (`moving`: only those whose induction variable is among these)."""
    factors: list[int] = []
    current = op.parent_op()
    while current is not None and current is not root:
        if isinstance(current, scf.ForOp) and (moving is None or current.body.block.args[0] in moving):
            factor = unroll_factor(current)
            factors.append(trip_count(current) if is_unrolled(current) else factor or 1)
        if isinstance(current, linalg.GenericOp) and moving is None:
            factors.append(points_at_once(current))
        current = current.parent_op()
    return prod(factors)


def _lanes(op: vector.LoadOp | vector.StoreOp) -> int:
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


def _banks(buffer: SSAValue, task: TaskOp) -> int:
    """Banks a buffer is partitioned into."""
    storage = _storage(buffer, task)
    assert isa(buffer.type, MemRefType)
    return bank_count(storage, buffer.type) if storage is not None else 1


def bank_count(storage: Operation, kind: MemRefType) -> int:
    """Banks into which `storage` (an allocation, a ring of buffers) partitions its arrays of type `kind`."""
    partition = storage.attributes.get("stc.partition")
    if not isinstance(partition, ArrayAttr):
        return 1
    banks = 1
    for entry in partition:
        assert isinstance(entry, ArrayAttr)
        dimension, factor = (number.value.data for number in entry if isinstance(number, IntegerAttr))
        banks *= factor or kind.get_shape()[dimension]
    return banks
