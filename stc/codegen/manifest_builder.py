"""The manifest of a design."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from importlib.metadata import PackageNotFoundError, version
from types import MappingProxyType
from typing import Any

from xdsl.ir import SSAValue

from stc.analysis.loop_estimates import MEASURED
from stc.analysis.resources import task_resources
from stc.analysis.task_graph import channels_of, task_graph, task_traces
from stc.codegen.cpp_types import split_token, token_bits
from stc.codegen.design import Design, KernelDesign, PortDesign, StreamDesign, TaskDesign, UnitDesign
from stc.codegen.host_plan import Buffer, HostStep, HostValue
from stc.codegen.names import Scope
from stc.codegen.parameters import DataFile
from stc.codegen.schedule import accesses_outside_loops, guarded_streams, run_time_size, task_schedule, task_work
from stc.dialects.dataflow import KernelOp
from stc.dialects.itensor import SymbolType
from stc.dialects.stream import CreateOp
from stc.manifest.layouts import order_of
from stc.manifest.schema import (
    SCHEMA_VERSION,
    BlockBuffer,
    Copy,
    Draw,
    HostPart,
    HostTensor,
    Kernel,
    Manifest,
    MemoryTiming,
    Order,
    Port,
    Scalar,
    Step,
    Stream,
    Task,
    TaskResources,
    Unit,
)
from stc.names import comment_text, file_name, identifier
from stc.platforms.platform import Platform

ORIGINS = {
    "streams.tokens": "counted: executions of every access, from constant loop bounds and guards",
    "streams.depth": "decided before emission (stream types of the IR)",
    "streams.required": "computed from estimated loop depths, or given; report.json says which",
    "schedule.trip": "counted from constant loop bounds",
    "schedule.ii": "requested by pragma, as estimated (limit says why); not confirmed by synthesis",
    "schedule.depth": "estimated: longest way through an iteration (chain), with operators of published reports, else assumed",
    "tasks.resources": "estimated: operators of published reports, else assumed; arrays by partition; report.json says how",
    "tasks.work": "counted: executions of products that are summed up, and of accesses of memory; DSPs as in tasks.resources",
    "memory": "published figures of the platform",
    "golden": "executed: the reference runs of the model",
    "draws.allowed": "tolerance, and by how much rounding errors move the reference in runs with noise (executed)",
}
_PACKAGES = ("stc", "xdsl", "torch", "torch-mlir", "transformers", "numpy")


def tensor_names(design: Design) -> dict[HostValue, str]:
    """A file and variable name for every host tensor of a design."""
    return names_of_tensors(design.host.tensors)


def names_of_tensors(tensors: Sequence[HostValue]) -> dict[HostValue, str]:
    """A file and variable name for each, unique among them; inputs and outputs choose first."""
    scope = Scope()
    ordered = sorted(tensors, key=lambda tensor: tensor.role == "intermediate")
    return {tensor: scope.declare(tensor.name) for tensor in ordered}


def build_manifest(
    name: str,
    design: Design,
    files: dict[PortDesign, DataFile],
    constants: dict[HostValue, DataFile],
    draws: Sequence[Draw],
    platform: Platform,
    options: dict[str, Any],
    tolerance: float,
    host_parts: Sequence[HostPart] = (),
    steps: Mapping[str, int] = MappingProxyType({}),
) -> Manifest:
    """The manifest; `files` are the packed parameters by port, `constants` of constant host tensors. `host_parts` name tensors as
    the model does. `steps` of a launch, by kernel, where `design` is that of one of them."""
    names = tensor_names(design)
    buffers = buffer_names(design)
    unpacked = {(step.kernel, step.buffer): step.tensor for step in design.host.steps if step.kernel and step.action == "unpack"}
    each = (_kernel(kernel, files, names, buffers, platform, unpacked) for kernel in design.kernels)
    kernels = tuple(_of_steps(kernel, steps.get(kernel.name, 1)) for kernel in each)
    return Manifest(
        schema_version=SCHEMA_VERSION,
        name=file_name(name),
        platform=platform.name,
        kernels=kernels,
        tensors=tuple(_tensor(tensor, names[tensor], constants.get(tensor)) for tensor in design.host.tensors),
        steps=tuple(_step(step, design, names) for step in design.host.steps),
        tolerance=tolerance,
        versions=_versions(),
        options=options,
        origins=_origins(kernels),
        memory=_memory_timing(platform),
        copies=tuple(Copy(names[copy.source], names[copy.target]) for copy in design.host.copies),
        draws=tuple(draws),
        host_parts=tuple(_host_part(part, names) for part in host_parts),
    )


def _of_steps(kernel: Kernel, steps: int) -> Kernel:
    """A launch of several steps begins so much before the maximum of its scalars."""
    scalars = tuple(replace(scalar, maximum=scalar.maximum - (steps - 1)) for scalar in kernel.scalars)
    return kernel if steps == 1 else replace(kernel, steps=steps, scalars=scalars)


def _origins(kernels: Sequence[Kernel]) -> dict[str, str]:
    """Where figures come from; of loops, how many were measured."""
    pipelined = [loop for kernel in kernels for loop in kernel.schedule if loop.ii is not None]
    measured = sum(loop.limit == MEASURED for loop in pipelined)
    if not measured:
        return dict(ORIGINS)
    said = f"{measured} of {len(pipelined)} loops measured (reports of the vendor's tool); else "
    return ORIGINS | {name: said + ORIGINS[name] for name in ("schedule.ii", "schedule.depth")}


def _host_part(part: HostPart, names: Mapping[HostValue, str]) -> HostPart:
    by_model = {(tensor.role, tensor.name): name for tensor, name in names.items()}
    takes = tuple(by_model["output", name] for name in part.takes)
    return replace(part, takes=takes, gives=tuple(by_model["input", name] for name in part.gives))


def buffer_names(design: Design) -> dict[Buffer, str]:
    """Each buffer is called as the first port bound to it."""
    names: dict[Buffer, str] = {}
    for kernel in design.kernels:
        for port in kernel.ports:
            names.setdefault(port.buffer, port.name)
    return names


def _kernel(
    kernel: KernelDesign,
    files: dict[PortDesign, DataFile],
    names: dict[HostValue, str],
    buffers: dict[Buffer, str],
    platform: Platform,
    unpacked: Mapping[tuple[KernelOp, Buffer | None], HostValue | None],
) -> Kernel:
    """`unpacked`: the host tensors that buffers become behind a kernel."""
    cycle_ns = platform.cycle_ns
    dies = kernel.op.dies if len(platform.slrs) > 1 else {}  # what has one die has no name for it
    slrs = {task.name: dies.get(task.op.unit or kernel.op.sym_name.data) for task in kernel.tasks}
    values: list[SSAValue] = [op.result for op in channels_of(kernel.op)]
    sizes = task_traces(kernel.op)
    channels = dict(zip(values, task_graph(kernel.op, sizes).channels, strict=True))
    tasks = {task.op.sym_name.data: task.name for task in kernel.tasks}
    streams = [
        Stream(
            name=stream.name,
            element_type=_token_type(stream),
            lanes=stream.type.lanes,
            bits=token_bits(stream.type.element_type),
            depth=stream.type.depth,
            storage=stream.memory,
            producer=tasks[channels[stream.value].producer],
            consumer=tasks[channels[stream.value].consumer],
            tokens=channels[stream.value].tokens,
            required=_required(stream),
            crossing=channels[stream.value].crossing,
            size=run_time_size(sizes[channels[stream.value].producer].token_size(channels[stream.value].name, True)),
            order=_order(stream),
        )
        for stream in kernel.streams
    ]
    blocks = [
        BlockBuffer(
            name=block.name,
            element_type=str(split_token(block.type.buffer_type.element_type)[0]),
            shape=tuple(block.type.buffer_type.get_shape()),
            count=block.type.count,
            bits=token_bits(block.type.buffer_type.element_type),
            producer=tasks[channels[block.value].producer],
            consumer=tasks[channels[block.value].consumer],
            blocks=channels[block.value].tokens,
        )
        for block in kernel.blocks
    ]
    return Kernel(
        name=kernel.name,
        ports=tuple(_port(port, kernel, files.get(port), names, buffers, unpacked) for port in kernel.ports),
        tasks=tuple(_task(task, cycle_ns) for task in kernel.tasks),
        streams=tuple(streams),
        blocks=tuple(blocks),
        schedule=tuple(entry for task in kernel.tasks for entry in task_schedule(task, cycle_ns)),
        scalars=tuple(
            Scalar(scalar.name, names[scalar.tensor], scalar.symbol.name, scalar.symbol.maximum) for scalar in kernel.scalars
        ),
        units=tuple(_unit(unit, slrs[unit.tasks[0].name]) for unit in kernel.units) if len(kernel.units) > 1 else (),
        slr=next(iter(dies.values())) if len(dies) == 1 else None,
    )


def _token_type(stream: StreamDesign) -> str:
    """The element type of a token, as the manifest calls it: a symbol is a number that counts something."""
    scalar, _ = split_token(stream.type.element_type)
    return "index" if isinstance(scalar, SymbolType) else str(scalar)


def _unit(unit: UnitDesign, slr: int | None) -> Unit:
    lists = (unit.tasks, unit.ports, unit.scalars, unit.receives, unit.sends)
    tasks, ports, scalars, receives, sends = (tuple(entry.name for entry in entries) for entries in lists)
    return Unit(unit.name, tasks, ports, scalars, receives, sends, unit.starts, slr)


def _required(stream: StreamDesign) -> int | None:
    """What `size-fifos` asked for, None where it has not run."""
    assert isinstance(stream.value.owner, CreateOp)
    return stream.value.owner.required_depth


def _order(stream: StreamDesign) -> Order | None:
    """In which order a tensor crosses; None where its tokens are not slices of one."""
    assert isinstance(stream.value.owner, CreateOp)
    carried = stream.value.owner.carries
    return order_of(carried.order) if carried is not None else None


def _task(task: TaskDesign, cycle_ns: float) -> Task:
    outside, (guarded, sizes) = accesses_outside_loops(task), guarded_streams(task)
    module = comment_text(task.module) if task.module is not None else None
    resources = TaskResources(**asdict(task_resources(task.op, cycle_ns)))
    work, kind = task_work(task, cycle_ns), comment_text(task.kind)
    return Task(task.name, kind, module, task.reads, task.writes, outside, guarded, resources, sizes, work)


def _memory_timing(platform: Platform) -> MemoryTiming:
    memory = platform.memory
    return MemoryTiming(
        clock_mhz=1000 / platform.cycle_ns,
        read_latency=memory.read_cycles(platform.cycle_ns),
        channel_bytes_per_cycle=memory.channel_bytes_per_cycle(platform.cycle_ns),
        burst_words=memory.burst_words,
        outstanding_bursts=memory.outstanding_bursts,
        launch_us=platform.launch_us,
    )


def _port(
    port: PortDesign,
    kernel: KernelDesign,
    file: DataFile | None,
    names: dict[HostValue, str],
    buffers: dict[Buffer, str],
    unpacked: Mapping[tuple[KernelOp, Buffer | None], HostValue | None],
) -> Port:
    layout, tensor = port.buffer.layout, port.buffer.tensor
    if port.is_written:
        tensor = unpacked.get((kernel.op, port.buffer), tensor)
    readers = (other.name for other in kernel.ports if other.buffer is port.buffer and not other.is_written)
    buffer_name = identifier(port.buffer.name)
    return Port(
        name=port.name,
        kind="output" if port.is_written and port.buffer.kind == "input" else port.buffer.kind,
        direction="write" if port.is_written else "read",
        element_type=port.element.name,
        lanes=port.lanes,
        words=port.words,
        bytes=port.bytes,
        buffer=buffers[port.buffer],
        tensor=names.get(tensor, buffer_name) if tensor is not None else buffer_name,
        shape=port.buffer.shape,
        order=order_of(layout.order) if layout is not None else None,
        bundle=port.bundle,
        bank=port.bank,
        file=file.path if file is not None else None,
        sha256=file.sha256 if file is not None else None,
        updates=next(readers, None) if port.is_written else None,
    )


def _tensor(tensor: HostValue, name: str, file: DataFile | None) -> HostTensor:
    return HostTensor(
        name=name,
        role=tensor.role,
        element_type=str(tensor.type.element_type),
        shape=tuple(tensor.type.get_shape()),
        file=file.path if file is not None else None,
        sha256=file.sha256 if file is not None else None,
    )


def _step(step: HostStep, design: Design, names: dict[HostValue, str]) -> Step:
    if step.action == "host-torch" or step.kernel is None:
        return Step("host-torch", "", part=step.part)
    kernel = next(kernel for kernel in design.kernels if kernel.op is step.kernel)
    if step.buffer is None:
        return Step("launch", kernel.name)
    port = design.port_of(step.kernel, step.buffer, step.action == "unpack")
    assert step.tensor is not None
    return Step(step.action, kernel.name, port.name, names[step.tensor])


def _versions() -> dict[str, str]:
    versions: dict[str, str] = {}
    for package in _PACKAGES:
        try:
            versions[package] = version(package)
        except PackageNotFoundError:
            versions[package] = "not installed"
    return versions
