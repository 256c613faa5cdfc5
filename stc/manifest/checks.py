"""What a manifest says must be possible and must name what there is: whoever reads it may then compute and look up without checks.

That two sides of a FIFO move equally many tokens is another matter (stc.simulation.static_checks).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from pathlib import PurePosixPath
from typing import Any

from stc.diagnostics import CompileError
from stc.iteration.size import Symbol, read_size, symbols_in
from stc.manifest.consequences import Complaint, consequences
from stc.manifest.schema import Kernel, LoopSchedule, Manifest, MemoryTiming
from stc.manifest.sizes import sizes_in

MOST = 2**62
"""Cycles, slots and bytes are counted in 64 bits."""
MOST_LOOP_CYCLES = 10**9
"""Initiation interval and depth of a loop; figures of external memory."""
MOST_COUNT = 2**31 - 1
"""What C++ has as an int: depths of FIFOs, lanes, bits, blocks, iterations and copies of one loop."""


def check_manifest(manifest: Manifest, source: str) -> None:
    """CompileError naming the first field that is wrong; `source` names the file."""
    for check in (_numbers, _sizes, _names, _references, _scalars, consequences, _files):
        for complaint in check(manifest):
            raise CompileError(f"field '{complaint.field}' {complaint.what}", where=source, accepted=complaint.accepted)


# Numbers --------------------------------------------------------------------------------------------------------------


def _numbers(value: object, path: str = "") -> Iterator[Complaint]:
    """Every number of the schema can be counted in 64 bits; `options` are not looked into."""
    if isinstance(value, int) and not -MOST <= value <= MOST:
        yield Complaint(path, f"is {_shown(value)}", f"at most {MOST}")
    elif isinstance(value, float) and not math.isfinite(value):
        yield Complaint(path, f"is {value}", "a number")
    elif is_dataclass(value):
        for field in fields(value):
            if field.name != "options":
                yield from _numbers(getattr(value, field.name), f"{path}.{field.name}" if path else field.name)
    elif isinstance(value, tuple):
        for index, entry in enumerate(value):
            yield from _numbers(entry, f"{path}[{index}]")
    elif isinstance(value, dict):
        for name, entry in value.items():
            yield from _numbers(entry, f"{path}.{name}")


def _shown(value: int) -> str:
    return str(value) if abs(value) < 10**20 else f"{'-' if value < 0 else ''}about 2^{value.bit_length() - 1}"


def _sizes(manifest: Manifest) -> Iterator[Complaint]:
    for path, owner, positive, not_negative in _sized(manifest):
        for least, names in ((1, positive), (0, not_negative)):
            for name in names:
                yield from _at_least(least, getattr(owner, name), f"{path}.{name}" if path else name)
    for k, kernel in enumerate(manifest.kernels):
        for index, loop in enumerate(kernel.schedule):
            yield from _at_most(MOST_LOOP_CYCLES, loop, f"kernels[{k}].schedule[{index}]", ("ii", "depth"))
            yield from _at_most(MOST_COUNT, loop, f"kernels[{k}].schedule[{index}]", ("trip", "unroll"))
        for index, stream in enumerate(kernel.streams):
            yield from _at_most(MOST_COUNT, stream, f"kernels[{k}].streams[{index}]", ("depth", "required", "lanes", "bits"))
            yield from _at_most(MOST_LOOP_CYCLES, stream, f"kernels[{k}].streams[{index}]", ("crossing",))
        for index, block in enumerate(kernel.blocks):
            yield from _at_most(MOST_COUNT, block, f"kernels[{k}].blocks[{index}]", ("count", "bits"))
        for index, task in enumerate(kernel.tasks):
            if task.resources is not None:
                names = [field.name for field in fields(task.resources)]
                yield from _at_most(MOST_COUNT, task.resources, f"kernels[{k}].tasks[{index}].resources", names)
    if manifest.memory is not None:
        yield from _memory(manifest.memory)


def _memory(memory: MemoryTiming) -> Iterator[Complaint]:
    for name in ("clock_mhz", "channel_bytes_per_cycle"):
        if not 0 < (value := getattr(memory, name)) < math.inf:
            yield Complaint(f"memory.{name}", f"is {value}", "a positive number")
    yield from _at_most(MOST_LOOP_CYCLES, memory, "memory", [field.name for field in fields(memory)])


def _at_least(least: int, value: Any, path: str) -> Iterator[Complaint]:
    entries = value.values() if isinstance(value, dict) else value if isinstance(value, tuple) else (value,)
    for entry in entries:
        if entry is not None and not least <= entry < math.inf:
            yield Complaint(path, f"is {entry}", f"at least {least}")


def _at_most(most: int, owner: object, path: str, names: Sequence[str]) -> Iterator[Complaint]:
    for name in names:
        if (value := getattr(owner, name)) is not None and value > most:
            yield Complaint(f"{path}.{name}", f"is {value}", f"at most {most}")


def _sized(manifest: Manifest) -> Iterator[tuple[str, object, tuple[str, ...], tuple[str, ...]]]:
    """Where, whose, which fields (or all their entries) are at least 1 or None, and which at least 0."""
    yield "", manifest, (), ("tolerance",)
    if manifest.memory is not None:
        yield "memory", manifest.memory, ("burst_words", "outstanding_bursts"), ("read_latency", "launch_us")
    for index, tensor in enumerate(manifest.tensors):
        yield f"tensors[{index}]", tensor, ("shape",), ()
    for k, kernel in enumerate(manifest.kernels):
        path = f"kernels[{k}]"
        yield path, kernel, (), ("slr",)
        for index, port in enumerate(kernel.ports):
            yield f"{path}.ports[{index}]", port, ("lanes", "words", "bytes", "shape"), ("bank",)
        for index, task in enumerate(kernel.tasks):
            yield f"{path}.tasks[{index}]", task, (), ("outside_loops",)
            if task.resources is not None:
                yield f"{path}.tasks[{index}].resources", task.resources, (), ("dsp", "lut", "ff", "bram18", "uram")
            if task.work is not None:
                yield f"{path}.tasks[{index}].work", task.work, (), ("products", "at_once", "dsp", "moves")
        for index, stream in enumerate(kernel.streams):
            yield f"{path}.streams[{index}]", stream, ("lanes", "bits", "depth", "required", "tokens"), ("crossing",)
        for index, unit in enumerate(kernel.units):
            yield f"{path}.units[{index}]", unit, (), ("slr",)
        for index, block in enumerate(kernel.blocks):
            yield f"{path}.blocks[{index}]", block, ("count", "bits", "shape"), ("blocks",)
        for index, loop in enumerate(kernel.schedule):
            yield f"{path}.schedule[{index}]", loop, ("trip", "ii", "depth", "unroll"), ("reads", "writes")
            for number, access in enumerate(loop.memory):
                yield f"{path}.schedule[{index}].memory[{number}]", access, ("bytes",), ()


# Names ----------------------------------------------------------------------------------------------------------------


def _names(manifest: Manifest) -> Iterator[Complaint]:
    """What is looked up by name has one of its own."""
    yield from _unique("kernels", [kernel.name for kernel in manifest.kernels])
    yield from _unique("tensors", [tensor.name for tensor in manifest.tensors])
    yield from _unique("host_parts", [part.name for part in manifest.host_parts])
    yield from _unique("draws", [draw.name for draw in manifest.draws])
    for k, kernel in enumerate(manifest.kernels):
        yield from _unique(f"kernels[{k}].ports", [port.name for port in kernel.ports])
        yield from _unique(f"kernels[{k}].tasks", [task.name for task in kernel.tasks])
        yield from _unique(f"kernels[{k}].schedule", [f"{loop.task}.{loop.label}" for loop in kernel.schedule])
        yield from _unique(f"kernels[{k}].units", [unit.name for unit in kernel.units])


def _unique(path: str, names: Sequence[str]) -> Iterator[Complaint]:
    for name, count in Counter(names).items():
        if count > 1:
            yield Complaint(path, f"has '{name}' {count} times", "names that differ")


# References -----------------------------------------------------------------------------------------------------------


def _references(manifest: Manifest) -> Iterator[Complaint]:
    tensors = {tensor.name for tensor in manifest.tensors}
    ports = {kernel.name: {port.name for port in kernel.ports} for kernel in manifest.kernels}
    parts = {part.name for part in manifest.host_parts}
    for index, step in enumerate(manifest.steps):
        path = f"steps[{index}]"
        if step.action == "host-torch":
            yield from _one_of(parts, step.part, f"{path}.part", "host part")
            continue
        yield from _one_of(ports, step.kernel, f"{path}.kernel", "kernel")
        if step.action not in ("launch", "load") or step.port is not None:
            yield from _one_of(ports.get(step.kernel, ()), step.port, f"{path}.port", "port")
        if step.action in ("keep", "restore"):
            kept = {earlier.words or "" for earlier in manifest.steps[: index + 1] if earlier.action == "keep"}
            yield from _one_of(kept, step.words, f"{path}.words", "what is kept before")
        if step.action in ("pack", "unpack") or step.tensor is not None:
            yield from _one_of(tensors, step.tensor, f"{path}.tensor", "tensor")
    for index, copy in enumerate(manifest.copies):
        yield from _one_of(tensors, copy.source, f"copies[{index}].source", "tensor")
        yield from _one_of(tensors, copy.target, f"copies[{index}].target", "tensor")
    for index, part in enumerate(manifest.host_parts):
        for field, role, names in (("takes", "output", part.takes), ("gives", "input", part.gives)):
            known = {tensor.name for tensor in manifest.tensors if tensor.role == role}
            for name in names:
                yield from _one_of(known, name, f"host_parts[{index}].{field}", role)
        if (part.program is None) == (part.source is None):
            yield Complaint(f"host_parts[{index}]", "has not one of program and source", "one of both")
    if manifest.bitstreams and [it.kernel for it in manifest.bitstreams] != [kernel.name for kernel in manifest.kernels]:
        yield Complaint("bitstreams", "is not one for each kernel, in their order", ", ".join(ports))
    yield from _draws(manifest)
    for k, kernel in enumerate(manifest.kernels):
        yield from _of_kernel(kernel, f"kernels[{k}]", set().union(*ports.values()))


def _scalars(manifest: Manifest) -> Iterator[Complaint]:
    """Scalars are inputs of one integer, and sizes are computed from them; what counts at most is their largest value."""
    tensors = {tensor.name: tensor for tensor in manifest.tensors}
    for k, kernel in enumerate(manifest.kernels):
        path = f"kernels[{k}]"
        yield from _unique(f"{path}.scalars", [scalar.symbol for scalar in kernel.scalars])
        largest = {scalar.symbol: scalar.maximum + kernel.steps - 1 for scalar in kernel.scalars}  # in any step
        known = {Symbol(name, maximum) for name, maximum in largest.items() if maximum > 0}
        for index, scalar in enumerate(kernel.scalars):
            tensor = tensors.get(scalar.tensor)
            is_integer = tensor is not None and tensor.element_type in ("i32", "i64") and math.prod(tensor.shape) == 1
            if tensor is None or tensor.role != "input" or not is_integer:
                yield Complaint(f"{path}.scalars[{index}].tensor", f"is '{scalar.tensor}'", "an input of one i32 or i64")
        for where, text in sizes_in(kernel):
            try:
                unknown = set(symbols_in([read_size(text)])) - known
            except ValueError as error:
                yield Complaint(f"{path}.{where}", f"is no size: {error}")
                continue
            if unknown:
                listed = ", ".join(sorted(map(str, known))) or "none"
                yield Complaint(f"{path}.{where}", f"depends on '{min(map(str, unknown))}'", f"scalars of the kernel: {listed}")


def _one_of(known: Collection[str], name: str | None, path: str, kind: str) -> Iterator[Complaint]:
    if name is None or name not in known:
        yield Complaint(path, f"names no {kind}: '{name}'")


def _draws(manifest: Manifest) -> Iterator[Complaint]:
    needed = {tensor.name for tensor in manifest.tensors if tensor.role in ("input", "output")}
    outputs = {tensor.name for tensor in manifest.tensors if tensor.role == "output"}
    for index, draw in enumerate(manifest.draws):
        path = f"draws[{index}]"
        if not (draw.name.isidentifier() and draw.name.isascii()):
            yield Complaint(f"{path}.name", f"is '{draw.name}'", "letters, digits and _")
        if draw.tensors.keys() != needed:
            names = ", ".join(sorted(needed ^ draw.tensors.keys()))
            yield Complaint(f"{path}.tensors", f"has not the inputs and outputs: '{names}'")
        named = {"allowed": draw.allowed, "uncertainty": draw.uncertainty, "decides": draw.decides, "bf16": draw.bf16}
        for field, names in named.items():
            for name in names:
                yield from _one_of(outputs, name, f"{path}.{field}", "output")


def _of_kernel(kernel: Kernel, path: str, all_ports: set[str]) -> Iterator[Complaint]:
    """That each FIFO has one task at either end is not asked here: `stc simulate DIR --static` lists what is wrong with that."""
    tasks = {task.name for task in kernel.tasks}
    own = {port.name for port in kernel.ports}
    channels = {stream.name for stream in kernel.streams} | {block.name for block in kernel.blocks}
    for index, task in enumerate(kernel.tasks):
        for field, names in (("reads", task.reads), ("writes", task.writes), ("guarded", task.guarded or ())):
            for name in names:
                yield from _one_of(own | channels, name, f"{path}.tasks[{index}].{field}", "port, FIFO or block")
        for name in task.work.moves if task.work is not None else ():
            yield from _one_of(own, name, f"{path}.tasks[{index}].work.moves", "port")
    for index, port in enumerate(kernel.ports):
        yield from _one_of(all_ports, port.buffer, f"{path}.ports[{index}].buffer", "port")
        readers = [other.name for other in kernel.ports if other.buffer == port.buffer and other.direction == "read"]
        if port.direction == "write" and (port.updates not in readers if readers else port.updates is not None):
            accepted = f"'{readers[0]}', which reads buffer '{port.buffer}'" if readers else "none, as nobody reads the buffer"
            yield Complaint(f"{path}.ports[{index}].updates", f"is {port.updates!r}", accepted)
    loops = {(loop.task, loop.label): loop for loop in kernel.schedule}
    for index, loop in enumerate(kernel.schedule):
        where = f"{path}.schedule[{index}]"
        yield from _one_of(tasks, loop.task, f"{where}.task", "task")
        for name in (*loop.reads, *loop.writes):
            yield from _one_of(own | channels, name, where, "FIFO or block")
        for access in loop.memory:
            yield from _one_of(own, access.port, f"{where}.memory", "port")
        yield from _parents(loop, loops, where)
    yield from _units(kernel, path)


def _units(kernel: Kernel, path: str) -> Iterator[Complaint]:
    """The arguments of units follow from their tasks, each of which is in one."""
    if not kernel.units:
        return
    found = Counter(task for unit in kernel.units for task in unit.tasks)
    for task in kernel.tasks:
        if found[task.name] != 1:
            yield Complaint(f"{path}.units", f"have task '{task.name}' {found[task.name]} times", "each task in one unit")
    by_name = {task.name: task for task in kernel.tasks}
    scalars = {scalar.name for scalar in kernel.scalars}
    for index, unit in enumerate(kernel.units):
        where = f"{path}.units[{index}]"
        for task in unit.tasks:
            yield from _one_of(by_name, task, f"{where}.tasks", "task")
        for name in unit.scalars:
            yield from _one_of(scalars, name, f"{where}.scalars", "scalar")
        own = [by_name[task] for task in unit.tasks if task in by_name]
        read, written = {name for task in own for name in task.reads}, {name for task in own for name in task.writes}
        streams = [stream.name for stream in kernel.streams]
        arguments = {
            "ports": tuple(port.name for port in kernel.ports if port.name in read | written),
            "receives": tuple(name for name in streams if name in read - written),
            "sends": tuple(name for name in streams if name in written - read),
        }
        for field, names in arguments.items():
            if getattr(unit, field) != names:
                yield Complaint(f"{where}.{field}", f"are {', '.join(getattr(unit, field)) or 'none'}", ", ".join(names) or "none")


def _parents(loop: LoopSchedule, loops: Mapping[tuple[str, str], LoopSchedule], path: str) -> Iterator[Complaint]:
    """Going outwards ends at a loop without parent."""
    seen = {loop.label}
    parent = loop.parent
    while parent is not None:
        if (loop.task, parent) not in loops:
            yield Complaint(f"{path}.parent", f"names no loop of task '{loop.task}': '{parent}'")
            return
        if parent in seen:
            yield Complaint(f"{path}.parent", f"makes loop '{parent}' a part of itself")
            return
        seen.add(parent)
        parent = loops[loop.task, parent].parent


# Files ----------------------------------------------------------------------------------------------------------------


def _files(manifest: Manifest) -> Iterator[Complaint]:
    """All files are in the project's folder."""
    for path, name in _named_files(manifest):
        if name is not None and (PurePosixPath(name).is_absolute() or ".." in PurePosixPath(name).parts):
            yield Complaint(path, f"is '{name}'", "a path inside the project's folder")


def _named_files(manifest: Manifest) -> Iterator[tuple[str, str | None]]:
    yield "kernel_source", manifest.kernel_source
    for index, name in enumerate(manifest.testbench_sources):
        yield f"testbench_sources[{index}]", name
    for index, tensor in enumerate(manifest.tensors):
        yield f"tensors[{index}].file", tensor.file
    for k, kernel in enumerate(manifest.kernels):
        for index, port in enumerate(kernel.ports):
            yield f"kernels[{k}].ports[{index}].file", port.file
    for index, part in enumerate(manifest.host_parts):
        source = () if part.source is None else (part.source.state, *part.source.files)
        for stored in (*source, *((part.program,) if part.program is not None else ())):
            yield f"host_parts[{index}].path", stored.path
        if part.source is not None:
            yield f"host_parts[{index}].source.folder", part.source.folder
            yield f"host_parts[{index}].source.factory", part.source.factory
    for index, draw in enumerate(manifest.draws):
        for field, files in (("tensors", draw.tensors), ("allowed", draw.allowed)):
            for name, stored in files.items():
                yield f"draws[{index}].{field}.{name}.path", stored.path
