"""The graph of the tasks of a kernel (`stc.network.graph`) from its IR, and the traces of all tasks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

import networkx as nx
from xdsl.dialects.linalg.ops import GenericOp
from xdsl.ir import Operation, SSAValue

from stc.analysis.kernel_memory import bits_of
from stc.analysis.task_traces import Hardware, task_trace
from stc.diagnostics import CompileError
from stc.dialects.dataflow import KernelOp, TaskKind, TaskOp
from stc.dialects.facts import PORTS, SHARED
from stc.dialects.itensor import CastOp, ConverterOp, ForkOp, MergeOp
from stc.dialects.stream import BlockType, BufferOp, CreateOp, StreamType
from stc.iteration.trace import TaskTrace
from stc.network.graph import Channel, TaskGraph


def tasks_of(kernel: KernelOp) -> list[TaskOp]:
    return [op for op in kernel.body.block.ops if isinstance(op, TaskOp)]


def units_of(op: Operation) -> dict[str, str]:
    """The compute unit of each task in `op`, by name; none where kernels are one unit each."""
    tasks = (task for task in op.walk() if isinstance(task, TaskOp))
    return {task.sym_name.data: task.unit for task in tasks if task.unit is not None}


def channels_of(kernel: KernelOp) -> list[CreateOp | BufferOp]:
    """What makes the streams and rings of blocks of a kernel."""
    return [op for op in kernel.body.block.ops if isinstance(op, CreateOp | BufferOp)]


def streams_of(kernel: KernelOp) -> list[CreateOp]:
    return [op for op in kernel.body.block.ops if isinstance(op, CreateOp)]


def users_of(value: SSAValue) -> tuple[list[TaskOp], list[TaskOp]]:
    """The tasks that write a stream or ring of blocks, and those that read it."""
    tasks = list(dict.fromkeys(use.operation for use in value.uses if isinstance(use.operation, TaskOp)))
    return [task for task in tasks if value in task.outs], [task for task in tasks if value in task.ins]


def ends_of(value: SSAValue) -> tuple[TaskOp, TaskOp]:
    """The task that writes a stream (or ring of blocks) and the one that reads it; CompileError unless there is one each."""
    writers, readers = users_of(value)
    if len(writers) != 1 or len(readers) != 1:
        raise CompileError(
            f"has {len(writers)} writers and {len(readers)} readers",
            where=f"stream %{value.name_hint or '?'}",
            accepted="one of each (insert-forks duplicates a stream)",
        )
    return writers[0], readers[0]


def computing_reader(value: SSAValue) -> TaskOp:
    """The first task behind a stream that reads something else, too, or ends there: what forks and splits hand it on to."""
    return computing_readers(value)[0]


def computing_readers(value: SSAValue) -> list[TaskOp]:
    """All of these, in the order in which they are handed it."""
    reader = ends_of(value)[1]
    streams = [out for out in reader.outs if isinstance(out.owner, CreateOp)]
    goes_on = len(reader.ins) == 1 and streams and streams[0] is reader.outs[0]
    return [each for out in streams for each in computing_readers(out)] if goes_on else [reader]


def shares_multipliers(task: TaskOp) -> bool:
    """Whether `task` computes on what others compute on, too (`stc.shared`): who they are follows from whose words come in turn."""
    return any(map(SHARED.on, task.walk()))


def ports_of_results(op: TaskOp | KernelOp) -> int:
    """How many memory ports store what generics in it and their copies make (`stc.ports`); 0 where each has its own."""
    return max((ports[-1] for each in op.walk() if isinstance(each, GenericOp) and (ports := PORTS.of(each))), default=0)


def leaves_by_one_port(merge: MergeOp) -> bool:
    """Whether the tasks that make what is merged say that one port is enough for what they make together."""
    return all(_is_for_one_port(part) for part in merge.inputs)


def _is_for_one_port(value: SSAValue) -> bool:
    while isinstance(value.owner, ForkOp | CastOp | ConverterOp):
        value = value.owner.operands[0]
    return isinstance(value.owner, TaskOp) and ports_of_results(value.owner) == 1


def tasks_behind(kernel: KernelOp) -> Mapping[TaskOp, set[TaskOp]]:
    """By task, in topological order, all those that wait for results of it; as they stand where units wait for one another."""
    graph: nx.DiGraph[TaskOp] = nx.DiGraph()
    graph.add_nodes_from(tasks_of(kernel))
    for task in tasks_of(kernel):
        channels = (out for out in task.outs if isinstance(out.owner, CreateOp | BufferOp))
        graph.add_edges_from((task, ends_of(channel)[1]) for channel in channels)
    in_order = nx.topological_sort(graph) if nx.is_directed_acyclic_graph(graph) else tasks_of(kernel)
    return {task: nx.descendants(graph, task) for task in in_order}


def task_traces(kernel: KernelOp, hardware: Hardware | None = None) -> dict[str, TaskTrace]:
    """By task what it does to the channels of `kernel`; CompileError where that depends on data."""
    names: dict[SSAValue, str] = {op.result: op.sym_name.data for op in channels_of(kernel)}
    return {task.sym_name.data: task_trace(task, names, hardware) for task in tasks_of(kernel)}


def task_graph(kernel: KernelOp, traces: Mapping[str, TaskTrace] | None = None) -> TaskGraph:
    """The tasks of `kernel` and its channels, with the tokens that cross them according to their writers, at most.

    `traces`: of its tasks, if they are at hand, perhaps at some values of the symbols. CompileError unless each channel has one
    writer and one reader, and where a count depends on data.
    """
    tasks = tasks_of(kernel)
    loads, holds, deals = (
        frozenset(task.sym_name.data for task in tasks if task.kind == kind)
        for kind in (TaskKind.LOAD, TaskKind.HOLD, TaskKind.CHUNK)
    )
    channels = tuple(map(_uncounted, channels_of(kernel)))
    turns = frozenset(task.sym_name.data for task in tasks if task.sym_name.data in loads and len(task.outs) > 1)
    graph = TaskGraph(kernel.sym_name.data, tuple(task.sym_name.data for task in tasks), channels, loads, holds, turns, deals)
    return replace(graph, channels=counted(channels, task_traces(kernel) if traces is None else traces))


def counted(channels: Iterable[Channel], traces: Mapping[str, TaskTrace]) -> tuple[Channel, ...]:
    """The same channels with the tokens that tasks move at most that do as `traces` say, by task."""
    return tuple(_counted(channel, traces[channel.producer].largest, traces[channel.consumer].largest) for channel in channels)


def _uncounted(op: CreateOp | BufferOp) -> Channel:
    producer, consumer = (task.sym_name.data for task in ends_of(op.result))
    kind = op.result.type
    if isinstance(op, BufferOp):
        assert isinstance(kind, BlockType)
        return Channel(op.sym_name.data, producer, consumer, 0, kind.count, is_ring=True)
    assert isinstance(kind, StreamType)
    bits = kind.lanes * bits_of(kind.scalar_type)
    return Channel(op.sym_name.data, producer, consumer, 0, kind.depth, bits, crossing=op.crossing)


def _counted(channel: Channel, producer: TaskTrace, consumer: TaskTrace) -> Channel:
    name, tokens = channel.name, producer.tokens(channel.name, writes=True)
    if channel.is_ring:
        return replace(channel, tokens=tokens)
    written, read = producer.most_per_iteration(name, writes=True), consumer.most_per_iteration(name, writes=False)
    return replace(channel, tokens=tokens, written=written, read=read)
