"""Cut tasks out of kernels over streams: what others read from them comes from an argument, what they read goes to a result.

The counterpart of `cut_tasks` after bufferization, where tasks meet at streams rather than at values.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, OpResult, SSAValue

from stc.dialects import stream
from stc.dialects.dataflow import KernelOp, MemoryOp, TaskOp, UnpackOp
from stc.execution.run import main_function
from stc_testing.reduction.engine import Reduction
from stc_testing.reduction.kernel_signature import keep_kernel_results, kernels_of
from stc_testing.reduction.signature import keep_results, returned
from stc_testing.reduction.stream_movers import empty, fill, tokens_of


@dataclass(frozen=True)
class _Ends:
    """Who writes and who reads a stream."""

    create: stream.CreateOp
    writers: frozenset[Operation]
    readers: frozenset[Operation]


def _tasks(module: ModuleOp) -> list[TaskOp]:
    return [op for kernel in kernels_of(module) for op in kernel.body.block.ops if isinstance(op, TaskOp) and not op.results]


def _ends(kernel: KernelOp) -> list[_Ends]:
    return [_ends_of(op) for op in kernel.body.block.ops if isinstance(op, stream.CreateOp)]


def _ends_of(create: stream.CreateOp) -> _Ends:
    uses = [(use.operation, use.index) for use in create.result.uses]
    writers = frozenset(op for op, index in uses if isinstance(op, TaskOp) and index >= len(op.ins))
    return _Ends(create, writers, frozenset(op for op, _ in uses) - writers)


def _streams(module: ModuleOp) -> list[_Ends]:
    return [ends for kernel in kernels_of(module) for ends in _ends(kernel) if ends.writers and ends.readers]


def _cut_range(module: ModuleOp, chosen: range) -> bool:
    return _cut(module, {task for index, task in enumerate(_tasks(module)) if index in chosen})


def _cut_both_ends(module: ModuleOp, chosen: range) -> bool:
    gone: set[Operation] = set()
    for index, ends in enumerate(_streams(module)):
        if index in chosen:
            gone |= ends.writers | ends.readers
    return _cut(module, gone)


def _cut(module: ModuleOp, gone: set[Operation]) -> bool:
    function = main_function(module)
    for kernel in kernels_of(module):
        inside = {op for op in gone if op.parent_op() is kernel}
        if inside and not _cut_in(function, kernel, inside):
            return False
    return bool(returned(function))


def _cut_in(function: func.FuncOp, kernel: KernelOp, gone: set[Operation]) -> bool:
    ends = _ends(kernel)
    missing = [entry for entry in ends if entry.writers & gone and entry.readers - gone]
    left_over = [entry for entry in ends if entry.readers & gone and entry.writers - gone]
    counts = {entry.create: tokens_of(entry.create) for entry in (*missing, *left_over)}
    if None in counts.values() or _shares_buffers(kernel, gone):
        return False
    kernel = _drop_results(function, kernel, gone)
    for op in gone:
        op.detach()
        op.erase()
    for entry in missing:
        fill(function, kernel, entry.create, counts[entry.create] or 0)
    empty(function, kernel, [(entry.create, counts[entry.create] or 0) for entry in left_over])
    return True


def _shares_buffers(kernel: KernelOp, gone: set[Operation]) -> bool:
    """Whether a ring of buffers joins a task that goes with one that stays."""
    buffers = [op for op in kernel.body.block.ops if isinstance(op, stream.BufferOp)]
    users = [{use.operation for use in op.results[0].uses} for op in buffers]
    return any(group & gone and group - gone for group in users)


def _drop_results(function: func.FuncOp, kernel: KernelOp, gone: set[Operation]) -> KernelOp:
    """Without the results that tasks of `gone` write; the function does not return them any more."""
    written = [_is_written_by(value, gone) for value in kernel.terminator.arguments]
    lost: set[SSAValue] = set()
    for result, is_lost in zip(kernel.outputs, written, strict=True):
        if is_lost:
            lost |= _with_unpacked(result)
    values = returned(function)
    keep_results(function, [index for index, value in enumerate(values) if value not in lost])
    for value in lost:
        if isinstance(value, OpResult) and isinstance(value.op, UnpackOp):
            value.op.detach()
            value.op.erase()
    return keep_kernel_results(kernel, [index for index, is_lost in enumerate(written) if not is_lost])


def _with_unpacked(result: OpResult) -> set[SSAValue]:
    return {result, *(use.operation.result for use in result.uses if isinstance(use.operation, UnpackOp))}


def _is_written_by(value: SSAValue, gone: set[Operation]) -> bool:
    is_memory = isinstance(value, OpResult) and isinstance(value.op, MemoryOp)
    return is_memory and any(use.operation in gone for use in value.uses)


CUT_STREAM_TASKS = Reduction("cut tasks over streams", lambda module: len(_tasks(module)), _cut_range)
CUT_STREAM_ENDS = Reduction("cut both ends of streams", lambda module: len(_streams(module)), _cut_both_ends)
