"""`set-fifo-depths`: depths that cannot deadlock, before any are optimised."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from xdsl.context import Context
from xdsl.dialects.builtin import IntegerAttr, ModuleOp
from xdsl.ir import SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from stc.analysis.kernel_memory import bits_of
from stc.analysis.task_graph import ends_of, tokens_per_iteration
from stc.analysis.task_programs import TaskActions
from stc.design_space.bounded_run import grown_depths
from stc.design_space.fifo_depths import SHALLOW, StreamEdge, bridge_ends, least_depth, provisional_depths, room_of_iterations
from stc.diagnostics import CompileError
from stc.dialects import stream
from stc.dialects.dataflow import KernelOp, TaskOp
from stc.iteration.task_program import Channel, TaskProgram

BUSY_TOKENS = 1 << 16
BUSY_DEPTH = 8
"""A stream that so many tokens cross gets a little more room, so that its ends need not meet at every token."""


@dataclass(frozen=True)
class SetFifoDepths(ModulePass):
    """Write the depth of every FIFO into its type: enough that the design cannot deadlock, not yet for full speed.

    Options: `rule`: "run" (default) starts with the least depths and lets the token model of the tasks run; whenever nobody
    can go on, the smallest full FIFO that somebody waits for grows (`stc.design_space.bounded_run`). "tokens" runs nothing:
    streams out of a task with several outputs, on a cycle of the undirected task graph, hold all their tokens
    (`stc.design_space.fifo_depths`). `size-fifos` replaces these depths, once the time of every loop is known.

        %s = stream.create @s {stc.tokens = 64} : !stream.stream<vector<8xf32>, depth: 2>
      becomes, where a task on the other branch needs 40 tokens before it yields one,
        %s = stream.create @s {stc.tokens = 64} : !stream.stream<vector<8xf32>, depth: 42>
    """

    name = "set-fifo-depths"

    rule: str = "run"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        rules = {"run": depths_of_run, "tokens": depths_by_tokens}
        if self.rule not in rules:
            raise CompileError(f"rule is '{self.rule}'", where=self.name, accepted=", ".join(rules))
        for kernel in [found for found in op.walk() if isinstance(found, KernelOp)]:
            depths = rules[self.rule](kernel)
            for create in _streams(kernel):
                set_depth(create, depths[create.sym_name.data])


def _streams(kernel: KernelOp) -> list[stream.CreateOp]:
    return [found for found in kernel.body.block.ops if isinstance(found, stream.CreateOp)]


def _rings(kernel: KernelOp) -> list[stream.BufferOp]:
    return [found for found in kernel.body.block.ops if isinstance(found, stream.BufferOp)]


def depths_by_tokens(kernel: KernelOp) -> dict[str, int]:
    """Depths by `provisional_depths`: no run, only the shape of the task graph and token counts."""
    return provisional_depths([edge_of(create) for create in _streams(kernel)], [_names(ring) for ring in _rings(kernel)])


def depths_of_run(kernel: KernelOp, begin: Mapping[str, int] | None = None) -> dict[str, int]:
    """Depths by `grown_depths`, at which a run of the token model ends. It starts with `begin`, else with the least depths."""
    streams, rings = _streams(kernel), _rings(kernel)
    names: dict[SSAValue, str] = {op.result: op.sym_name.data for op in (*streams, *rings)}
    tasks = [task for task in kernel.body.block.ops if isinstance(task, TaskOp)]
    programs = [TaskProgram(task.sym_name.data, TaskActions(task, names)) for task in tasks]
    edges = [edge_of(create) for create in streams]
    bridges = bridge_ends([(edge.producer, edge.consumer) for edge in edges] + [_names(ring) for ring in rings])
    free = {edge.name for edge in edges if frozenset((edge.producer, edge.consumer)) in bridges}
    channels = [_channel(create, edge, edge.name in free) for create, edge in zip(streams, edges, strict=True)]
    if begin is not None:
        channels = [channel if channel.name in free else replace(channel, depth=begin[channel.name]) for channel in channels]
    depths = grown_depths(programs, channels + [_ring_channel(ring) for ring in rings])
    if begin is None:
        return depths | {edge.name: least_depth(edge) for edge in edges if edge.name in free}
    return depths | {edge.name: max(room_of_iterations(edge), begin[edge.name]) for edge in edges if edge.name in free}


def _channel(create: stream.CreateOp, edge: StreamEdge, is_bridge: bool) -> Channel:
    """A stream in the run. A bridge of the undirected graph cannot be part of a deadlock: it is left unbounded there."""
    type_ = create.result.type
    assert isinstance(type_, stream.StreamType)
    depth = edge.tokens if is_bridge else max(least_depth(edge), BUSY_DEPTH if edge.tokens >= BUSY_TOKENS else 0)
    return Channel(edge.name, max(depth, SHALLOW), type_.lanes * bits_of(type_.scalar_type), edge.tokens)


def _ring_channel(ring: stream.BufferOp) -> Channel:
    type_ = ring.result.type
    assert isinstance(type_, stream.BlockType)
    return Channel(ring.sym_name.data, type_.count, 0, type_.count, fixed=True)


def _names(op: stream.CreateOp | stream.BufferOp) -> tuple[str, str]:
    writer, reader = ends_of(op.result)
    return writer.sym_name.data, reader.sym_name.data


def edge_of(create: stream.CreateOp) -> StreamEdge:
    """What the rules for depths look at; CompileError where the token count is missing."""
    tokens = create.attributes.get("stc.tokens")
    if not isinstance(tokens, IntegerAttr):
        raise CompileError("has no token count", where=create.sym_name.data, accepted="the attribute stc.tokens")
    written, read = (tokens_per_iteration(task, create.result) for task in ends_of(create.result))
    return StreamEdge(create.sym_name.data, *_names(create), tokens.value.data, written, read)


def set_depth(create: stream.CreateOp, depth: int) -> None:
    """Give a stream a new depth, inside the tasks it is a port of as well."""
    type_ = create.result.type
    assert isinstance(type_, stream.StreamType)
    deeper = stream.StreamType(type_.element_type, depth)
    for use in list(create.result.uses):
        if isinstance(use.operation, TaskOp):
            Rewriter.replace_value_with_new_type(use.operation.body.block.args[use.index], deeper)
    Rewriter.replace_value_with_new_type(create.result, deeper)
