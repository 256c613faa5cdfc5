"""Emission rules that are facts of the IR, checked on level L6; those of the text: `stc.codegen.vitis_rules`.

    1   a stream has one writer and one reader task, and reads equal writes
    2   no cycle among the tasks of a compute unit
    3   no iteration both writes a stream and reads one that depends on that write
    5   an array between tasks has one writer and one reader, external memory is not written and read in one kernel; what updates
        an operand after it is read waits for those that read it; a step of a launch that reads what an earlier one updated for
        those that update it
    8   what crosses between compute units is a stream of whole bytes, at most 2048 bits
    12  a pipelined loop contains no other loop that is left in hardware; loop bounds are constant, or computed sizes
    13  a pipelined loop starts no iteration before the float sum it continues is there
    14  at most 2 accesses per bank of local memory and cycle, and no more loads or stores than the bank has ports for
    18  an array has at most 1024 partitions, a task does at most 128 float multiply-accumulates at once
    20  a memory port has at most one reading and one writing task
    22  a buffer fits its memory channel
    27  a ring of blocks is not partitioned
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from xdsl.dialects import memref, scf
from xdsl.dialects.builtin import FixedBitwidthType, MemRefType, ModuleOp, VectorType
from xdsl.ir import Operation, SSAValue

from stc.analysis.loops import constant_bounds, is_unrolled, largest_bounds, loop_labels, pipeline_ii
from stc.analysis.partitions import bank_count
from stc.analysis.port_pressure import MAX_ACCESSES, are_registers, bank_accesses, multiply_accumulates
from stc.analysis.recurrences import accumulation_interval
from stc.analysis.remembered import computation_of
from stc.analysis.steps import complaints_about_steps, one_step
from stc.analysis.task_graph import channels_of, task_graph, task_traces, tasks_of, units_of, users_of
from stc.diagnostics import CompileError
from stc.dialects.dataflow import KernelOp, MemoryOp, TaskOp
from stc.dialects.facts import PARTITION, STORAGE
from stc.dialects.stream import BufferOp, CreateOp
from stc.iteration.size import are_equal
from stc.iteration.trace import Access, For, accesses_of_iteration, items_of
from stc.network.graph import TaskGraph
from stc.network.units import complaint_about_link, inside, links_of
from stc.platforms.platform import Platform
from stc.platforms.task_limits import MAX_MULTIPLY_ACCUMULATES, MAX_PARTITIONS

RULES = "emission rules (docs/design/emission_rules.md)"
"""Where a message says that the numbers stand."""


@dataclass(frozen=True)
class RuleViolation:
    """The number of a rule above, and what breaks it."""

    rule: int
    message: str

    def __str__(self) -> str:
        return f"rule {self.rule}: {self.message}"


def check_emission_rules(module: ModuleOp, platform: Platform) -> None:
    """CompileError that lists every violation of the IR rules in `module`."""
    violations = emission_violations(module, platform)
    if violations:
        raise CompileError("; ".join(str(violation) for violation in violations), where=RULES)


def emission_violations(module: ModuleOp, platform: Platform) -> list[RuleViolation]:
    """All violations of the IR rules, kernel by kernel; of several steps of a launch what they are together, and what one is."""
    kernels = [kernel for kernel in module.walk() if isinstance(kernel, KernelOp)]
    steps = [RuleViolation(5, what) for kernel in kernels if kernel.steps > 1 for what in complaints_about_steps(kernel)]
    of_one = [kernel for kernel in one_step(module).walk() if isinstance(kernel, KernelOp)]
    return [*steps, *(violation for kernel in of_one for violation in _kernel_violations(kernel, platform))]


def _kernel_violations(kernel: KernelOp, platform: Platform) -> Iterator[RuleViolation]:
    yield from _task_violations(kernel, platform)
    yield from _ring_violations(kernel)
    yield from _memory_violations(kernel, platform)
    yield from _update_violations(kernel)
    unpaired = list(_end_violations(kernel))
    yield from unpaired
    if not unpaired and not any(_unbounded_loops(task) for task in tasks_of(kernel)):
        yield from _graph_violations(kernel)


def _task_violations(kernel: KernelOp, platform: Platform) -> Iterator[RuleViolation]:
    """Of what tasks compute: one that computes the same as a task without any has none."""
    kept: set[tuple[Hashable, ...]] = set()
    for task in tasks_of(kernel):
        if (computed := computation_of(task)) in kept:
            continue
        found = [*_loop_violations(task), *_array_violations(task), *_pressure_violations(task, platform)]
        if not found:
            kept.add(computed)
        yield from found


# Rules 1 and 5: channels ------------------------------------------------------------------------------------------------


def channel_name(value: SSAValue) -> str:
    """How a message names a stream, block buffer, memory or port."""
    owner = value.owner
    if isinstance(owner, (CreateOp, BufferOp, MemoryOp)):
        return f"@{owner.sym_name.data}"
    return f"%{value.name_hint}" if value.name_hint else "a port"


def _end_violations(kernel: KernelOp) -> Iterator[RuleViolation]:
    for op in channels_of(kernel):
        for what, tasks in zip(("writer", "reader"), users_of(op.result), strict=True):
            if len(tasks) != 1:
                text = f"{channel_name(op.result)} has {len(tasks)} {what} tasks, expected one"
                yield RuleViolation(5 if isinstance(op, BufferOp) else 1, text)


# Rules 1 to 3: counts and cycles ------------------------------------------------------------------------------------------


def _graph_violations(kernel: KernelOp) -> Iterator[RuleViolation]:
    traces = task_traces(kernel)
    graph = task_graph(kernel, traces)
    for channel in graph.channels:
        name, writer, reader = channel.name, channel.producer, channel.consumer
        written, read = (traces[task].token_size(name, task == writer) for task in (writer, reader))
        if not are_equal(written, read):
            yield RuleViolation(1, f"@{name}: @{writer} writes {written} tokens but @{reader} reads {read}")
    units = units_of(kernel)
    yield from _unit_violations(graph, units)
    for cycle in inside(graph, units).cycles:
        yield RuleViolation(2, f"tasks form a cycle: {', '.join(f'@{task}' for task in graph.tasks if task in cycle)}")
        between = {channel.name for channel in graph.channels if {channel.producer, channel.consumer} <= cycle}
        for task in sorted(cycle):
            for loop in (item for item in items_of(traces[task].body) if isinstance(item, For)):
                accesses = (item for item, _ in accesses_of_iteration(loop.body) if isinstance(item, Access))
                if len({access.writes for access in accesses if access.name in between}) == 2:
                    yield RuleViolation(3, f"@{task}: an iteration writes a stream and reads one that depends on it")


def _unit_violations(graph: TaskGraph, units: Mapping[str, str]) -> Iterator[RuleViolation]:
    for task in graph.tasks if units else ():
        if task not in units:
            yield RuleViolation(8, f"@{task} has no unit, and others have")
    for link in links_of(graph, units):
        if what := complaint_about_link(link):
            yield RuleViolation(8, f"{what}, between units {units.get(link.producer)} and {units.get(link.consumer)}")


# Rules 13, 14 and 18: what one iteration asks of memory and arithmetic ------------------------------------------------------


def _pressure_violations(task: TaskOp, platform: Platform) -> Iterator[RuleViolation]:
    name = task.sym_name.data
    for loop, label in loop_labels(task).items():
        interval = pipeline_ii(loop)
        if interval is None or largest_bounds(loop) is None:
            continue
        if interval < (needed := accumulation_interval(loop, platform.cycle_ns)):
            yield RuleViolation(13, f"@{name}: loop {label} has II {interval}, its float sum needs {needed}")
        for buffer, accesses in bank_accesses(loop, task):
            if are_registers(buffer):
                continue
            local = buffer.name_hint or "a buffer"
            if accesses.together > MAX_ACCESSES * interval:
                what = f"loop {label} accesses a bank of {local} {accesses.together} times in {interval} cycles"
                yield RuleViolation(14, f"@{name}: {what}")
            elif (storage := STORAGE.of(_owner(buffer))) is not None and not accesses.fit(storage.ports, interval):
                what = f"loop {label} makes {accesses.loads} loads and {accesses.stores} stores in {interval} cycles"
                yield RuleViolation(14, f"@{name}: {what} to a bank of {local}, which is {storage.ports}")
    if (count := multiply_accumulates(task)) > MAX_MULTIPLY_ACCUMULATES:
        yield RuleViolation(18, f"@{name} does {count} multiply-accumulates at once, at most {MAX_MULTIPLY_ACCUMULATES}")


def _owner(buffer: SSAValue) -> Operation | None:
    return buffer.owner if isinstance(buffer.owner, Operation) else None


# Rule 12: loops ---------------------------------------------------------------------------------------------------------


def _unbounded_loops(task: TaskOp) -> list[scf.ForOp]:
    return [loop for loop in task.walk() if isinstance(loop, scf.ForOp) and largest_bounds(loop) is None]


def _loop_violations(task: TaskOp) -> Iterator[RuleViolation]:
    labels = loop_labels(task)
    where = f"@{task.sym_name.data}"
    for loop in _unbounded_loops(task):
        yield RuleViolation(12, f"{where}: loop {labels[loop]} has no constant bounds")
    for loop in (found for found in labels if is_unrolled(found) and constant_bounds(found) is None):
        yield RuleViolation(12, f"{where}: loop {labels[loop]} is unrolled, expected constant bounds")
    for loop, label in labels.items():
        if pipeline_ii(loop) is None:
            continue
        for inner in loop.body.walk():
            if isinstance(inner, scf.ForOp) and not is_unrolled(inner):
                yield RuleViolation(12, f"{where}: pipelined loop {label} contains loop {labels[inner]}, expected it unrolled")


# Rule 18: arrays --------------------------------------------------------------------------------------------------------


def _array_violations(task: TaskOp) -> Iterator[RuleViolation]:
    for array in (operation for operation in task.walk() if isinstance(operation, memref.AllocOp)):
        count = bank_count(array, array.memref.type)
        if count > MAX_PARTITIONS:
            name = array.memref.name_hint or "an array"
            yield RuleViolation(
                18, f"@{task.sym_name.data}: {name} has {count} partitions, expected at most {MAX_PARTITIONS}"
            )


# Rule 27: rings -----------------------------------------------------------------------------------------------------------


def _ring_violations(kernel: KernelOp) -> Iterator[RuleViolation]:
    for ring in (operation for operation in kernel.body.block.ops if isinstance(operation, BufferOp)):
        if PARTITION.on(ring):
            what = f"{channel_name(ring.result)} is partitioned, which a stream of blocks cannot be"
            yield RuleViolation(27, f"{what}; expected blocks whose entries are whole tokens")


# Rules 5, 20 and 22: external memory --------------------------------------------------------------------------------------


def _memory_violations(kernel: KernelOp, platform: Platform) -> Iterator[RuleViolation]:
    memories = [operation.result for operation in kernel.body.block.ops if isinstance(operation, MemoryOp)]
    of_kernel = tasks_of(kernel)
    reading, writing = (_users(of_kernel, sides) for sides in ([task.ins for task in of_kernel], [task.outs for task in of_kernel]))
    for port in (*kernel.arguments, *memories):
        if not isinstance(port.type, MemRefType):
            continue
        name = channel_name(port)
        readers, writers = reading[port], writing[port]
        if readers and writers:
            yield RuleViolation(5, f"{name} is written and read in one kernel, expected a stream between the tasks")
        for what, tasks in (("reading", readers), ("writing", writers)):
            if len(tasks) > 1:
                names = ", ".join(f"@{task.sym_name.data}" for task in tasks)
                yield RuleViolation(20, f"{name} has {len(tasks)} {what} tasks ({names}), expected one")
        size = memory_bytes(port.type)
        if size > platform.memory.channel_bytes:
            what = f"{name} takes {size} bytes, a channel has {platform.memory.channel_bytes}"
            yield RuleViolation(22, f"{what}, expected it in more ports (lanes, copies), in fewer bits, or of fewer layers")


def _users(tasks: Iterable[TaskOp], sides: Iterable[Iterable[SSAValue]]) -> Mapping[SSAValue, list[TaskOp]]:
    """By value the `tasks` that have it among their own of `sides`."""
    found = defaultdict[SSAValue, list[TaskOp]](list)
    for task, values in zip(tasks, sides, strict=True):
        for value in dict.fromkeys(values):
            found[value].append(task)
    return found


def _update_violations(kernel: KernelOp) -> Iterator[RuleViolation]:
    for value, place in zip(kernel.terminator.arguments, kernel.places, strict=True):
        if place is None or not place.after_read:
            continue
        operand = kernel.arguments[place.operand]
        for writer in [task for task in tasks_of(kernel) if value in task.outs]:
            for reader in [task for task in tasks_of(kernel) if operand in task.ins]:
                if not any(_orders(reader, operand, signal, writer, value) for signal in reader.outs if signal in writer.ins):
                    names = f"@{writer.sym_name.data} writes {channel_name(operand)} before @{reader.sym_name.data} has read it"
                    yield RuleViolation(5, f"{names}, expected a token from the end of the one to the begin of the other")


def _orders(reader: TaskOp, source: SSAValue, signal: SSAValue, writer: TaskOp, target: SSAValue) -> bool:
    """Whether `reader` writes `signal` behind all that it reads of `source`, and `writer` reads it before it writes `target`."""
    sent, loaded = (_places(reader, value) for value in (signal, source))
    received, stored = (_places(writer, value) for value in (signal, target))
    if not sent or not received:
        return False
    return all(place < min(sent) for place in loaded) and all(place > min(received) for place in stored)


def _places(task: TaskOp, value: SSAValue) -> list[int]:
    """Where `task` uses what is `value` outside, as the number of its operation from the first on."""
    ports = {port for port, outside in zip(task.body.block.args, (*task.ins, *task.outs), strict=True) if outside is value}
    return [number for number, op in enumerate(task.walk()) if op is not task and ports & {*op.operands}]


def memory_bytes(kind: MemRefType) -> int:
    """Bytes of a memref of vectors or scalars; lanes are stored without gaps."""
    element, lanes = kind.element_type, 1
    if isinstance(element, VectorType):
        element, lanes = element.element_type, element.get_shape()[0]
    entries = 1
    for extent in kind.get_shape():
        entries *= extent
    width = element.bitwidth if isinstance(element, FixedBitwidthType) else 32
    return entries * lanes * width // 8
