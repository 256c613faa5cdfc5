"""`set-fifo-depths`: depths that cannot deadlock, before any are optimised."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from stc.analysis.kernel_memory import bits_of
from stc.analysis.task_graph import ends_of, tokens_per_iteration
from stc.analysis.task_traces import Hardware, task_trace
from stc.diagnostics import CompileError
from stc.dialects import stream
from stc.dialects.dataflow import KernelOp, TaskOp
from stc.fifo.depths import SHALLOW, StreamEdge, bridge_ends, least_depth, provisional_depths, room_of_iterations
from stc.fifo.token_run import Channel, grown_depths, least_depth_of
from stc.iteration.firings import Firings, firings

BUSY_TOKENS = 1 << 16
BUSY_DEPTH = 8
"""A stream that so many tokens cross gets a little more room, so that its ends need not meet at every token."""


DEEPER = 2
"""Loop depths are estimates: the design ends if any of them are up to so many times as deep."""


@dataclass(frozen=True)
class SetFifoDepths(ModulePass):
    """Write the depth of every FIFO into its type: enough that the design cannot deadlock, not yet for full speed.

    Options: `rule`: "run" (default) starts with the least depths and lets the token model of the tasks run; whenever nobody
    can go on, the smallest full FIFO that somebody waits for grows (`stc.fifo.token_run`). "tokens" runs nothing:
    streams out of a task with several outputs, on a cycle of the undirected task graph, hold all their tokens
    (`stc.fifo.depths`). `size-fifos` replaces these depths, once the time of every loop is known.

        %s = stream.create @s {tokens = 64} : !stream.stream<vector<8xf32>, depth: 2>
      becomes, where a task on the other branch needs 40 tokens before it yields one,
        %s = stream.create @s {tokens = 64} : !stream.stream<vector<8xf32>, depth: 42>
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


def depths_of_run(kernel: KernelOp, begin: Mapping[str, int] | None = None, hardware: Hardware | None = None) -> dict[str, int]:
    """Depths by `grown_depths`, at which a run of the token model ends. It starts with `begin`, else with the least depths.

    `hardware`: what loops are made into; then the run ends for pipelines up to `DEEPER` times as deep, each by itself, of
    their style or one that flushes. A bridge of the undirected graph of tasks cannot be part of a deadlock: it is left out of the
    run.
    """
    edges = [edge_of(create) for create in _streams(kernel)]
    rings = _rings(kernel)
    bridges = bridge_ends([(edge.producer, edge.consumer) for edge in edges] + [_names(ring) for ring in rings])
    free = {edge.name for edge in edges if frozenset((edge.producer, edge.consumer)) in bridges}
    names: dict[SSAValue, str] = {
        op.result: op.sym_name.data for op in (*_streams(kernel), *rings) if op.sym_name.data not in free
    }
    tasks = [task for task in kernel.body.block.ops if isinstance(task, TaskOp)]
    fired = {task.sym_name.data: firings(task_trace(task, names, hardware), DEEPER) for task in tasks}
    channels = [
        _channel(create, edge, _room_to_go_on(edge, fired), begin)
        for create, edge in zip(_streams(kernel), edges, strict=True)
        if edge.name not in free
    ]
    found = grown_depths(list(fired.values()), channels + [_ring_channel(ring) for ring in rings])
    kept = begin or {edge.name: least_depth(edge) for edge in edges}
    return found | {edge.name: max(room_of_iterations(edge), kept[edge.name]) for edge in edges if edge.name in free}


def _room_to_go_on(edge: StreamEdge, fired: Mapping[str, Firings]) -> int:
    """Writer and reader never wait for the stream at the same time; at most all its tokens are in it."""
    return min(edge.tokens, least_depth_of(fired[edge.producer], fired[edge.consumer], edge.name))


def _channel(create: stream.CreateOp, edge: StreamEdge, least: int, begin: Mapping[str, int] | None) -> Channel:
    """A stream in the run."""
    type_ = create.result.type
    assert isinstance(type_, stream.StreamType)
    own = begin[edge.name] if begin is not None else (BUSY_DEPTH if edge.tokens >= BUSY_TOKENS else SHALLOW)
    return Channel(edge.name, max(own, least), type_.lanes * bits_of(type_.scalar_type), edge.tokens)


def _ring_channel(ring: stream.BufferOp) -> Channel:
    type_ = ring.result.type
    assert isinstance(type_, stream.BlockType)
    return Channel(ring.sym_name.data, type_.count, 0, type_.count, fixed=True)


def _names(op: stream.CreateOp | stream.BufferOp) -> tuple[str, str]:
    writer, reader = ends_of(op.result)
    return writer.sym_name.data, reader.sym_name.data


def edge_of(create: stream.CreateOp) -> StreamEdge:
    """What the rules for depths look at; CompileError where the token count is missing."""
    if create.tokens is None:
        raise CompileError("has no token count", where=create.sym_name.data, accepted="stream.create with its tokens")
    written, read = (tokens_per_iteration(task, create.result) for task in ends_of(create.result))
    return StreamEdge(create.sym_name.data, *_names(create), create.tokens, written, read)


def set_depth(create: stream.CreateOp, depth: int) -> None:
    """Give a stream a new depth, inside the tasks it is a port of as well."""
    type_ = create.result.type
    assert isinstance(type_, stream.StreamType)
    deeper = stream.StreamType(type_.element_type, depth)
    for use in list(create.result.uses):
        if isinstance(use.operation, TaskOp):
            Rewriter.replace_value_with_new_type(use.operation.body.block.args[use.index], deeper)
    Rewriter.replace_value_with_new_type(create.result, deeper)
