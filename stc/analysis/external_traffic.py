"""Bytes that DMAs move to and from external memory per run, words as they are (padding and revisits included)."""

from __future__ import annotations

from xdsl.dialects import memref
from xdsl.dialects.builtin import MemRefType, ModuleOp
from xdsl.ir import BlockArgument, SSAValue
from xdsl.utils.hints import isa

from stc.analysis.executions import executions
from stc.analysis.kernel_memory import tensor_bytes
from stc.dialects.dataflow import TaskOp


def external_traffic(module: ModuleOp) -> dict[str, int]:
    """Bytes `read` and `written` by the tasks of all kernels at the stream level. What the host packs is not in it."""
    tasks = [op for op in module.walk() if isinstance(op, TaskOp)]
    return {"read": sum(bytes_read(task) for task in tasks), "written": sum(bytes_written(task) for task in tasks)}


def bytes_read(task: TaskOp) -> int:
    """Bytes of the words that `task` loads from its memory ports per run."""
    loads = [op for op in task.walk() if isinstance(op, memref.LoadOp) and _is_port(op.memref, task)]
    return sum(executions(op, task) * _word_bytes(op.memref) for op in loads)


def bytes_written(task: TaskOp) -> int:
    """Bytes of the words that `task` stores through its memory ports per run."""
    stores = [op for op in task.walk() if isinstance(op, memref.StoreOp) and _is_port(op.memref, task)]
    return sum(executions(op, task) * _word_bytes(op.memref) for op in stores)


def _is_port(memory: SSAValue, task: TaskOp) -> bool:
    return isinstance(memory, BlockArgument) and memory.block is task.body.block


def _word_bytes(memory: SSAValue) -> int:
    words = memory.type
    assert isa(words, MemRefType)
    return tensor_bytes(words) // words.get_shape()[0]
