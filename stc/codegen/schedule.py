"""The manifest's schedule: what each labelled loop of a task does per iteration."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from xdsl.dialects import memref, scf
from xdsl.dialects.builtin import MemRefType
from xdsl.ir import BlockArgument, Operation, SSAValue

from stc.analysis.loop_estimates import LoopEstimate, loop_estimate
from stc.analysis.loops import constant_bounds, is_flattened, is_unrolled, loop_labels, pipeline_ii, unroll_factor
from stc.codegen.cpp_types import token_bits
from stc.codegen.design import TaskDesign
from stc.dialects.dataflow import TaskOp
from stc.dialects.stream import AcquireOp, ReadOp, WriteOp
from stc.manifest.schema import LoopSchedule, MemoryAccess


def task_schedule(task: TaskDesign, clock_ns: float) -> list[LoopSchedule]:
    """One entry per loop that is left in hardware, in source order; depths for cycles of `clock_ns`."""
    names = dict(zip(task.op.body.block.args, task.arguments, strict=True))
    labels = loop_labels(task.op)
    return [_entry(task, loop, labels, names, clock_ns) for loop in labels if not is_unrolled(loop)]


def _entry(
    task: TaskDesign, loop: scf.ForOp, labels: dict[scf.ForOp, str], names: dict[BlockArgument, str], clock_ns: float
) -> LoopSchedule:
    reads: dict[str, int] = {}
    writes: dict[str, int] = {}
    memory: dict[str, int] = {}
    for access in accesses_per_iteration(loop):
        name = names.get(access.port)  # pyright: ignore[reportArgumentType]
        if name is None:
            continue
        if access.bytes:
            memory[name] = memory.get(name, 0) + access.bytes * access.times
        else:
            side = writes if access.is_write else reads
            side[name] = side.get(name, 0) + access.times
    bounds = constant_bounds(loop)
    parent = loop.parent_op()
    while parent is not None and not isinstance(parent, scf.ForOp):
        parent = parent.parent_op() if parent is not task.op else None
    ii = pipeline_ii(loop)
    estimate = loop_estimate(loop, task.op, clock_ns) if ii is not None else None
    return LoopSchedule(
        task=task.name,
        label=labels[loop],
        parent=labels[parent] if parent is not None else None,
        trip=bounds.trip if bounds is not None else 0,
        ii=ii,
        depth=estimate.depth if estimate is not None else None,
        unroll=unroll_factor(loop) or 1,
        flattened=is_flattened(loop),
        reads=reads,
        writes=writes,
        memory=tuple(MemoryAccess(port, size) for port, size in memory.items()),
        limit=_limit(ii, estimate) if ii is not None and estimate is not None else None,
        chain=estimate.chain_text if estimate is not None else None,
    )


def _limit(ii: int, estimate: LoopEstimate) -> str:
    """What bounds the interval: the estimate's reason where the interval is its own."""
    return estimate.limit.reason if ii == estimate.ii else f"asked for; the estimate is {estimate.ii}: {estimate.limit.reason}"


@dataclass(frozen=True)
class _Access:
    """A stream access (bytes 0) or memory access that one iteration makes `times` times."""

    port: SSAValue
    is_write: bool
    times: int
    bytes: int = 0


def accesses_per_iteration(loop: scf.ForOp | TaskOp) -> Iterator[_Access]:
    """Accesses of the loop (or of a task outside its loops) itself: those in unrolled loops inside count, those in others do not.

    Guards count as taken.
    """
    yield from _accesses(loop, 1)


def _accesses(parent: Operation, times: int) -> Iterator[_Access]:
    for region in parent.regions:
        for operation in region.block.ops if region.blocks else ():
            match operation:
                case ReadOp():
                    yield _Access(operation.stream, False, times)
                case WriteOp():
                    yield _Access(operation.stream, True, times)
                case AcquireOp():
                    yield _Access(operation.block, operation.block in _outputs(operation), times)
                case memref.LoadOp():
                    yield _Access(operation.memref, False, times, _word_bytes(operation.memref))
                case memref.StoreOp():
                    yield _Access(operation.memref, True, times, _word_bytes(operation.memref))
                case scf.ForOp() if is_unrolled(operation):
                    bounds = constant_bounds(operation)
                    yield from _accesses(operation, times * (bounds.trip if bounds is not None else 1))
                case scf.IfOp():
                    yield from _accesses(operation, times)
                case _:
                    pass


def _outputs(operation: AcquireOp) -> tuple[SSAValue, ...]:
    port = operation.block
    owner = port.owner.parent_op() if isinstance(port, BlockArgument) else None
    return owner.output_ports if isinstance(owner, TaskOp) else ()


def _word_bytes(array: SSAValue) -> int:
    assert isinstance(array.type, MemRefType)
    return token_bits(array.type.element_type) // 8
