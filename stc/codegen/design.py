"""A module at level L6 as the emitters see it: kernels, ports, streams, blocks and tasks, each with its C++ name.

Names are unique in the whole project, so that functions, ports and `pack_NAME` never collide.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from xdsl.dialects.builtin import MemRefType, ModuleOp, VectorType
from xdsl.ir import SSAValue

from stc.analysis.emission_rules import check_emission_rules
from stc.analysis.memory_ports import memories_of, memory_ports
from stc.analysis.storage import memory_of
from stc.analysis.task_graph import units_of
from stc.analysis.task_traces import task_trace
from stc.codegen.cpp_types import token_bits
from stc.codegen.host_plan import Buffer, HostPlan, HostValue, host_plan
from stc.codegen.names import Scope
from stc.diagnostics import CompileError
from stc.dialects.dataflow import KernelOp, MemoryOp, TaskOp, own_kernel_of
from stc.dialects.facts import MODULE
from stc.dialects.itensor import SymbolType
from stc.dialects.stream import BlockType, BufferOp, CreateOp, ReadOp, StreamType, WriteOp
from stc.iteration.size import Symbol
from stc.iteration.storage import Memory
from stc.iteration.trace import TaskTrace
from stc.manifest.element_types import ElementType, element_type
from stc.manifest.schema import OWN_KERNEL
from stc.platforms.memory_channels import channels_in_turn, padded_bytes
from stc.platforms.platform import ExternalMemory, Platform


@dataclass(frozen=True)
class PortDesign:
    """A pointer argument of a kernel. `value`: what the kernel's body calls it. `bank`: pseudo-channel."""

    name: str
    buffer: Buffer
    value: SSAValue
    is_written: bool
    element: ElementType
    lanes: int
    words: int
    bundle: str
    bank: int

    @property
    def word_bytes(self) -> int:
        return self.lanes * self.element.bits // 8

    @property
    def bytes(self) -> int:
        """Size of the buffer: the words', padded."""
        return padded_bytes(self.words * self.word_bytes)

    @property
    def packing(self) -> str:
        """For comments: `8 words of 4`."""
        return f"{self.words} word{'' if self.words == 1 else 's'} of {self.lanes}"


@dataclass(frozen=True)
class ScalarDesign:
    """A scalar argument of a kernel, behind its pointers: the input `tensor` of the host, from 0 to `symbol.maximum`."""

    name: str
    tensor: HostValue
    value: SSAValue
    symbol: Symbol


@dataclass(frozen=True)
class StreamDesign:
    """A FIFO."""

    name: str
    value: SSAValue
    type: StreamType
    memory: Memory


@dataclass(frozen=True)
class BlockDesign:
    """A ring of buffers; `typedef`: of one buffer."""

    name: str
    typedef: str
    value: SSAValue
    type: BlockType


@dataclass(frozen=True)
class TaskDesign:
    """A function; `arguments` are the names of what it is called with, in order."""

    name: str
    kind: str
    module: str | None
    op: TaskOp
    arguments: tuple[str, ...]

    @property
    def reads(self) -> tuple[str, ...]:
        """The ports, streams and blocks among what it takes: not the scalars."""
        ins = zip(self.op.ins, self.arguments[: len(self.op.ins)], strict=True)
        return tuple(name for value, name in ins if not isinstance(value.type, SymbolType))

    @property
    def writes(self) -> tuple[str, ...]:
        return self.arguments[len(self.op.ins) :]

    @cached_property
    def accesses(self) -> TaskTrace:
        """What it does to what it is called with, by the names of that."""
        return task_trace(self.op, dict(zip(self.op.operands, self.arguments, strict=True)))

    def taken(self) -> tuple[str, ...]:
        """The names of all its `ins`, scalars included."""
        return self.arguments[: len(self.op.ins)]

    def given(self) -> tuple[str, ...]:
        """The names of its `outs`."""
        return self.writes


@dataclass(frozen=True)
class UnitDesign:
    """One compute unit: a top function of `tasks`, with the `streams` and `blocks` between them. Its arguments are `ports`,
    `scalars`, and the links that it `receives` and `sends`."""

    name: str
    ports: tuple[PortDesign, ...]
    scalars: tuple[ScalarDesign, ...]
    receives: tuple[StreamDesign, ...]
    sends: tuple[StreamDesign, ...]
    streams: tuple[StreamDesign, ...]
    blocks: tuple[BlockDesign, ...]
    tasks: tuple[TaskDesign, ...]

    @property
    def starts(self) -> bool:
        """Whether the host starts it; else it runs by itself."""
        return bool(self.ports or self.scalars)

    @property
    def arguments(self) -> list[str]:
        """The names of what it is called with, in order."""
        return [argument.name for argument in (*self.ports, *self.scalars, *self.receives, *self.sends)]


@dataclass(frozen=True)
class KernelDesign:
    """What one launch runs: a compute unit, or several that streams join."""

    name: str
    op: KernelOp
    ports: tuple[PortDesign, ...]
    scalars: tuple[ScalarDesign, ...]
    streams: tuple[StreamDesign, ...]
    blocks: tuple[BlockDesign, ...]
    tasks: tuple[TaskDesign, ...]
    units: tuple[UnitDesign, ...]

    @property
    def steps(self) -> int:
        """How often units that nobody starts run in a launch."""
        return self.op.steps

    @property
    def links(self) -> tuple[StreamDesign, ...]:
        """The streams between units."""
        return tuple(stream for unit in self.units for stream in unit.sends)


@dataclass(frozen=True)
class Design:
    """The whole project. `memory`: the platform's."""

    kernels: tuple[KernelDesign, ...]
    host: HostPlan
    memory: ExternalMemory

    def port_of(self, kernel: KernelOp, buffer: Buffer, is_written: bool) -> PortDesign:
        """The port of `kernel` that reads or writes `buffer`."""
        ports = next(design.ports for design in self.kernels if design.op is kernel)
        return next(port for port in ports if port.buffer is buffer and port.is_written == is_written)


def checked_design(module: ModuleOp, platform: Platform) -> Design:
    """The design of a module that keeps all emission rules; CompileError names the rule that it breaks."""
    # A fresh copy: uses left over by erased operations would hide that a value has one use only.
    module = module.clone()
    check_emission_rules(module, platform)
    return design_of(module, platform)


def design_of(module: ModuleOp, platform: Platform) -> Design:
    """Name and describe everything in `module`; CompileError where it does not fit the platform's ports."""
    plan = host_plan(module)
    project = Scope()
    names = {kernel: project.declare(_kernel_name(kernel)) for kernel in plan.kernels}
    updated = {buffer for kernel in plan.kernels for buffer in plan.results[kernel] if buffer in plan.operands[kernel]}
    # What projects share that update the same buffers, of which one may have inputs that another has not.
    inputs = {buffer for buffer in plan.buffers if updated and buffer.kind == "input"} - updated
    banks = channels_in_turn(plan.buffers, platform.memory.channels, updated, _buffers_of_ports(plan), inputs)
    channels = Scope(project)   # of all kernels: a FIFO has one name in the whole project
    kernels = [_kernel(kernel, names[kernel], plan, project, channels, platform, banks) for kernel in plan.kernels]
    _require_room(kernels, plan, platform)
    return Design(tuple(kernels), plan, platform.memory)


def _require_room(kernels: Sequence[KernelDesign], plan: HostPlan, platform: Platform) -> None:
    """CompileError where the buffers that lie in one channel are more than it holds.

    Those that the host sends or fetches count twice: host.cpp has two of each, one for the next or the last draw.
    """
    moved = {id(step.buffer) for step in plan.steps if step.buffer is not None}
    ports = [port for kernel in kernels for port in kernel.ports]
    sizes = {id(port.buffer): (port.bank, port.bytes * (1 + (id(port.buffer) in moved)), port.name) for port in ports}
    for bank in sorted({bank for bank, _, _ in sizes.values()}):
        lying = sorted(((size, name) for at, size, name in sizes.values() if at == bank), reverse=True)
        if (total := sum(size for size, _ in lying)) > (most := platform.memory.channel_bytes):
            what = f"channel {bank} has buffers of {total} bytes, the largest {lying[0][1]} with {lying[0][0]}"
            raise CompileError(what, where=platform.name, accepted=f"at most {most} bytes in a channel")


def _kernel_name(kernel: KernelOp) -> str:
    """Its name, but none that an array of a testbench beside it may have: these are called `x_buffer` for a port `x`."""
    name = kernel.sym_name.data
    return f"{name}_kernel" if name.endswith(("_tensor", "_buffer", "_reference", "_allowed")) else name


def _kernel(
    kernel: KernelOp, name: str, plan: HostPlan, project: Scope, scope: Scope, platform: Platform, banks: Mapping[Buffer, int]
) -> KernelDesign:
    """`scope`: where streams and rings are named."""
    ports = _ports(kernel, plan, project, platform, banks)
    streams: list[StreamDesign] = []
    blocks: list[BlockDesign] = []
    held = zip(kernel.symbols.items(), plan.scalars[kernel], strict=True)
    scalars = [ScalarDesign(project.declare(symbol.name), tensor, port, symbol) for (symbol, port), tensor in held]
    names: dict[SSAValue, str] = {port.value: port.name for port in (*ports, *scalars)}
    for operation in kernel.body.block.ops:
        match operation:
            case CreateOp():
                assert isinstance(operation.result.type, StreamType)
                names[operation.result] = scope.declare(operation.sym_name.data)
                streams.append(StreamDesign(names[operation.result], operation.result, operation.result.type, memory_of(operation)))
            case BufferOp():
                assert isinstance(operation.result.type, BlockType)
                ring = names[operation.result] = scope.declare(operation.sym_name.data)
                blocks.append(BlockDesign(ring, scope.declare(f"{ring}_block"), operation.result, operation.result.type))
            case TaskOp() | MemoryOp():
                pass
            case _ if operation is kernel.body.block.last_op:
                pass
            case _:
                raise CompileError(f"operation {operation.name} in a kernel", where=f"@{kernel.sym_name.data}",
                                   accepted="memories, streams, buffers and tasks")
    operations = [operation for operation in kernel.body.block.ops if isinstance(operation, TaskOp)]
    tasks = tuple(_task(operation, project, scope, names) for operation in operations)
    whole = UnitDesign(name, ports, tuple(scalars), (), (), tuple(streams), tuple(blocks), tasks)
    units = tuple(_unit(whole, unit, project) for unit in dict.fromkeys(units_of(kernel).values()))
    return KernelDesign(name, kernel, ports, tuple(scalars), tuple(streams), tuple(blocks), tasks, units or (whole,))


def _unit(whole: UnitDesign, unit: str, project: Scope) -> UnitDesign:
    """The part of a kernel whose tasks are in `unit`."""
    tasks = tuple(task for task in whole.tasks if task.op.unit == unit)
    read, written = ({name for task in tasks for name in names(task)} for names in (TaskDesign.taken, TaskDesign.given))
    touched = read | written
    return UnitDesign(
        project.declare(f"{whole.name}_{unit}"),
        tuple(port for port in whole.ports if port.name in touched),
        tuple(scalar for scalar in whole.scalars if scalar.name in touched),
        tuple(stream for stream in whole.streams if stream.name in read - written),
        tuple(stream for stream in whole.streams if stream.name in written - read),
        tuple(stream for stream in whole.streams if stream.name in read & written),
        tuple(block for block in whole.blocks if block.name in touched),
        tasks,
    )


def _buffers_of_ports(plan: HostPlan) -> Iterator[list[Buffer]]:
    """The buffers behind each port of each kernel."""
    for kernel in plan.kernels:
        buffers = {value: buffer for value, buffer, _ in _pointers(kernel, plan)}
        yield from ([buffers[value] for value in port] for port in memory_ports(kernel))


def _pointers(kernel: KernelOp, plan: HostPlan) -> list[tuple[SSAValue, Buffer, bool]]:
    """What the body of `kernel` calls each memory, its buffer, and whether it is written."""
    operands, results = plan.operands[kernel], plan.results[kernel]
    sides = [False] * len(operands) + [True] * len(results)
    return list(zip(memories_of(kernel), (*operands, *results), sides, strict=True))


def _ports(
    kernel: KernelOp, plan: HostPlan, project: Scope, platform: Platform, banks: Mapping[Buffer, int]
) -> tuple[PortDesign, ...]:
    """The ports of `kernel`; all ports of a buffer are linked to the bank that it lies in."""
    through, memory = memory_ports(kernel), platform.memory
    if len(through) > memory.max_ports:
        raise CompileError(
            f"kernel has {len(through)} memory ports", where=f"@{kernel.sym_name.data}",
            accepted=f"at most {memory.max_ports} on {platform.name}; fuse parameters into fewer tensors, or split the kernel",
        )
    bundles = {value: f"gmem{number}" for number, port in enumerate(through) for value in port}
    ports: list[PortDesign] = []
    for value, buffer, is_written in _pointers(kernel, plan):
        element, lanes, words = _word(value, buffer, memory.word_bits)
        name = project.declare(f"{buffer.name}_update" if is_written and buffer in plan.operands[kernel] else buffer.name)
        ports.append(PortDesign(name, buffer, value, is_written, element, lanes, words, bundles[value], banks[buffer]))
    return tuple(ports)


def _word(value: SSAValue, buffer: Buffer, most: int) -> tuple[ElementType, int, int]:
    """Element type, lanes and count of a port's words, checked against the `most` bits that a memory port takes."""
    if not isinstance(value.type, MemRefType) or not isinstance(value.type.element_type, VectorType):
        raise CompileError(f"port of type {value.type}", where=buffer.name, accepted="memref<Nxvector<LxT>>")
    word = value.type.element_type
    element, lanes = element_type(str(word.element_type)), word.get_shape()[0]
    bits = token_bits(word)
    if lanes & (lanes - 1) or bits > most:
        raise CompileError(f"port words of {lanes} x {element.name}", where=buffer.name,
                           accepted=f"a power of two of lanes, at most {most} bits")
    return element, lanes, value.type.get_shape()[0]


def _task(operation: TaskOp, project: Scope, scope: Scope, names: dict[SSAValue, str]) -> TaskDesign:
    # The function must not have the name of anything in the kernel that calls it.
    name = operation.sym_name.data
    while scope.is_taken(name) and not project.is_taken(name):
        name = f"{name}_task"
    name = project.declare(name, used_in=scope)
    return TaskDesign(
        name,
        _kind(operation),
        MODULE.of(operation),
        operation,
        tuple(names[value] for value in (*operation.ins, *operation.outs)),
    )


def _kind(task: TaskOp) -> str:
    """The kind that a pass gave it, or what the task's ports say."""
    if own_kernel_of(task) is not None:
        return OWN_KERNEL
    if task.kind is not None:
        return task.kind.value
    if any(isinstance(value.type, MemRefType) for value in task.ins):
        return "load"
    if any(isinstance(value.type, MemRefType) for value in task.outs):
        return "store"
    if any(isinstance(value.type, BlockType) for value in (*task.ins, *task.outs)):
        return "converter"
    return "fork" if _only_copies(task) and len(task.outs) > 1 else "compute"


def _only_copies(task: TaskOp) -> bool:
    """Whether every token written is a token just read."""
    writes = [operation for operation in task.walk() if isinstance(operation, WriteOp)]
    return bool(writes) and all(isinstance(write.value.owner, ReadOp) for write in writes)
