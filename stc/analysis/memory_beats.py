"""How fast the external memory behind each port of a kernel is: what the manifest tells the timed simulation, from the IR."""

from __future__ import annotations

from xdsl.dialects.builtin import MemRefType, ModuleOp
from xdsl.ir import SSAValue
from xdsl.utils.hints import isa

from stc.analysis.kernel_memory import tensor_bytes
from stc.analysis.memory_ports import memories_of, memory_ports
from stc.analysis.shared_buffers import buffer_value
from stc.dialects.dataflow import KernelOp
from stc.iteration.trace import MICRO, MemoryBeats
from stc.platforms.memory_channels import channels_in_turn, cycles_per_word, padded_bytes, ports_sharing
from stc.platforms.platform import ExternalMemory


def memory_beats(module: ModuleOp, memory: ExternalMemory, cycle_ns: float) -> dict[SSAValue, MemoryBeats]:
    """By the value that a kernel's tasks know a memory by. Buffers lie in channels as the emitted project links them
    (`stc.platforms.memory_channels`); ports of one kernel that share a channel have equal parts of its bandwidth, all of it each
    where it is arbitrated. Cycles of `cycle_ns`."""
    kernels = [op for op in module.walk() if isinstance(op, KernelOp)]
    ports = {kernel: _ports(kernel) for kernel in kernels}
    places = [(kernel, place) for kernel in kernels for place in kernel.places if place is not None]
    updated = {buffer_value(kernel.inputs[place.operand]) for kernel, place in places}
    buffers = {inside: buffer for kernel in kernels for inside, buffer in ports[kernel]}
    through = [(group, [buffers[inside] for inside in group]) for kernel in kernels for group in memory_ports(kernel)]
    channels = channels_in_turn(buffers.values(), memory.channels, updated, [lying for _, lying in through])
    number = {inside: number for number, (group, _) in enumerate(through) for inside in group}
    latency, bytes_per_cycle = memory.read_cycles(cycle_ns), memory.channel_bytes_per_cycle(cycle_ns)
    found: dict[SSAValue, MemoryBeats] = {}
    for kernel in kernels:
        read = kernel.arguments
        linked = [(channels[buffer], (number[inside], inside in read)) for inside, buffer in ports[kernel]]
        sharing = ports_sharing(linked, memory.sharing)
        for (inside, _), shared in zip(ports[kernel], sharing, strict=True):
            if isa(inside.type, MemRefType):
                cycles = cycles_per_word(_bytes_per_word(inside.type), shared, bytes_per_cycle)
                found[inside] = MemoryBeats(latency, round(cycles * MICRO), inside not in kernel.arguments)
    return found


def _ports(kernel: KernelOp) -> list[tuple[SSAValue, SSAValue]]:
    """What the kernel calls each memory, and the packed tensor outside whose buffer that is; results after operands."""
    outside = dict(zip((*kernel.arguments, *kernel.terminator.arguments), (*kernel.inputs, *kernel.outputs), strict=True))
    return [(inside, buffer_value(outside[inside])) for inside in memories_of(kernel)]


def _bytes_per_word(words: MemRefType) -> float:
    """Of a buffer with its padding."""
    return padded_bytes(tensor_bytes(words)) / words.get_shape()[0]
