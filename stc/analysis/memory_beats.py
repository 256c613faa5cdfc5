"""How fast the external memory behind each port of a kernel is: what the manifest tells the timed simulation, from the IR."""

from __future__ import annotations

from xdsl.dialects.builtin import MemRefType, ModuleOp
from xdsl.ir import SSAValue
from xdsl.utils.hints import isa

from stc.analysis.kernel_memory import tensor_bytes
from stc.analysis.memory_ports import memories_of
from stc.dialects.dataflow import KernelOp
from stc.iteration.trace import MICRO, MemoryBeats
from stc.platforms.memory_channels import cycles_per_word, padded_bytes
from stc.platforms.platform import ExternalMemory


def memory_beats(module: ModuleOp, memory: ExternalMemory, cycle_ns: float) -> dict[SSAValue, MemoryBeats]:
    """By the value that a kernel's tasks know a memory by: each as if it had its channel to itself. Cycles of `cycle_ns`."""
    latency, bytes_per_cycle = memory.read_cycles(cycle_ns), memory.channel_bytes_per_cycle(cycle_ns)
    found: dict[SSAValue, MemoryBeats] = {}
    for kernel in [op for op in module.walk() if isinstance(op, KernelOp)]:
        for inside in memories_of(kernel):
            if isa(inside.type, MemRefType):
                cycles = cycles_per_word(_bytes_per_word(inside.type), bytes_per_cycle)
                found[inside] = MemoryBeats(latency, round(cycles * MICRO), inside not in kernel.arguments)
    return found


def _bytes_per_word(words: MemRefType) -> float:
    """Of a buffer with its padding."""
    return padded_bytes(tensor_bytes(words)) / words.get_shape()[0]
