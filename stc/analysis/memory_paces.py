"""How fast the external memory behind each port of a kernel is: what the manifest tells the timed simulation, from the IR."""

from __future__ import annotations

from collections import Counter

from xdsl.dialects.builtin import MemRefType, ModuleOp
from xdsl.ir import SSAValue
from xdsl.utils.hints import isa

from stc.analysis.kernel_memory import tensor_bytes
from stc.dialects.dataflow import KernelOp
from stc.iteration.task_timeline import MICRO, MemoryPace
from stc.platforms.platform import ExternalMemory

BURST_BYTES = 64
"""A buffer is padded to a multiple of this."""


def memory_paces(module: ModuleOp, memory: ExternalMemory, cycle_ns: float) -> dict[SSAValue, MemoryPace]:
    """By the value that a kernel's tasks know a memory by. Buffers lie in channels in turn, as the emitted project links them;
    ports of one kernel that share a channel share its bandwidth. Cycles of `cycle_ns`."""
    channels: dict[SSAValue, int] = {}
    latency, bytes_per_cycle = memory.read_cycles(cycle_ns), memory.channel_bytes_per_cycle(cycle_ns)
    found: dict[SSAValue, MemoryPace] = {}
    for kernel in [op for op in module.walk() if isinstance(op, KernelOp)]:
        ports = [*zip(kernel.arguments, kernel.inputs, strict=True), *zip(kernel.terminator.arguments, kernel.outputs, strict=True)]
        channel = {inside: channels.setdefault(buffer, len(channels) % memory.channels) for inside, buffer in ports}
        sharing = Counter(channel.values())
        for inside, _ in ports:
            if isa(inside.type, MemRefType):
                cycles = max(1.0, _bytes_per_word(inside.type) * sharing[channel[inside]] / bytes_per_cycle)
                found[inside] = MemoryPace(latency, round(cycles * MICRO), inside not in kernel.arguments)
    return found


def _bytes_per_word(words: MemRefType) -> float:
    """Of a buffer with its padding."""
    size = -(-tensor_bytes(words) // BURST_BYTES) * BURST_BYTES
    return size / words.get_shape()[0]
