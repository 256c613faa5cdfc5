"""`set-fifo-depths`: depths that cannot deadlock, before any are optimised."""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass, replace

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from stc.analysis.task_graph import counted, streams_of, task_graph, task_traces
from stc.diagnostics import CompileError
from stc.dialects import stream
from stc.dialects.dataflow import KernelOp, TaskOp
from stc.fifo.depths import DEEPER, SHALLOW, least_depth, provisional_depths, room_of_iterations
from stc.fifo.token_run import grown_depths, least_depth_of
from stc.iteration.firings import Firings, firings
from stc.iteration.size import sampled_values
from stc.iteration.trace import TaskTrace, moving_symbols
from stc.network.graph import Channel, TaskGraph

BUSY_TOKENS = 1 << 16
BUSY_DEPTH = 8
"""A stream that so many tokens cross gets a little more room, so that its ends need not meet at every token."""


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
            set_depths(kernel, rules[self.rule](kernel))


def depths_by_tokens(kernel: KernelOp) -> dict[str, int]:
    """Depths by `provisional_depths`: no run, only the shape of the task graph and token counts."""
    return provisional_depths(task_graph(kernel))


def depths_of_run(
    kernel: KernelOp, begin: Mapping[str, int] | None = None, traces: dict[str, TaskTrace] | None = None
) -> dict[str, int]:
    """Depths by `grown_depths`, at which a run of the token model ends. It starts with `begin`, else with the least depths.

    Where numbers of tokens are known at run time it ends at all values, or at those that are sampled (`sampled_values`): the depths
    of one run are those that the next starts with, and a run that ends does so with deeper FIFOs.

    `traces`: of its tasks, with hardware: then the run ends for pipelines up to `DEEPER` times as deep, each by itself, of their
    style or one that flushes. A bridge of the undirected graph of tasks cannot be part of a deadlock: it is left out of the run.
    """
    found = traces or task_traces(kernel)
    runs = _Runs(task_graph(kernel, found))
    fixed: dict[str, TaskTrace] = {}
    for values in sampled_values(moving_symbols(kernel.symbols, found.values())):
        at_values = {task: fixed.get(task) or trace.at(values) for task, trace in found.items()} if values else found
        fixed = {task: trace for task, trace in at_values.items() if trace is found[task]}
        begin = runs.depths(begin, at_values)
        runs.forget_all_but(set(fixed.values()))
    assert begin is not None
    return dict(begin)


class _Runs:
    """Runs of one network at several values of its symbols: what is known of tasks that do not depend on them is kept."""

    def __init__(self, graph: TaskGraph) -> None:
        self.graph = graph
        self.inside = frozenset(
            channel.name for channel in graph.channels if channel.is_ring or channel.name not in graph.bridges
        )
        self._fired: dict[TaskTrace, Firings] = {}
        self._ends: dict[tuple[str, TaskTrace, TaskTrace], tuple[Channel, int]] = {}
        """By channel, writer and reader: the channel with its tokens, and the depth at which both do not wait at the same time."""

    def forget_all_but(self, traces: Set[TaskTrace]) -> None:
        self._fired = {trace: fired for trace, fired in self._fired.items() if trace in traces}
        self._ends = {key: known for key, known in self._ends.items() if key[1] in traces and key[2] in traces}

    def depths(self, begin: Mapping[str, int] | None, traces: Mapping[str, TaskTrace]) -> dict[str, int]:
        """The depths of one run that starts with `begin`, else with the least."""
        known = [self._known(channel, traces) for channel in self.graph.channels]
        channels = [
            channel if channel.is_ring else replace(channel, depth=_first_depth(channel, least, begin))
            for channel, least in known
            if channel.name in self.inside
        ]
        found = grown_depths([self._firings(trace) for trace in traces.values()], channels)
        fifos = [channel for channel, _ in known if not channel.is_ring]
        retained = begin or {fifo.name: least_depth(fifo) for fifo in fifos}
        return {
            fifo.name: found[fifo.name] if fifo.name in self.inside else max(room_of_iterations(fifo), retained[fifo.name])
            for fifo in fifos
        }

    def _firings(self, trace: TaskTrace) -> Firings:
        if trace not in self._fired:
            self._fired[trace] = firings(trace.only(self.inside), DEEPER)
        return self._fired[trace]

    def _known(self, channel: Channel, traces: Mapping[str, TaskTrace]) -> tuple[Channel, int]:
        writer, reader = traces[channel.producer], traces[channel.consumer]
        key = (channel.name, writer, reader)
        if key not in self._ends:
            (here,) = counted([channel], traces)
            is_run = channel.name in self.inside and not channel.is_ring
            least = least_depth_of(self._firings(writer), self._firings(reader), channel.name) if is_run else 0
            self._ends[key] = here, least
        return self._ends[key]


def _first_depth(fifo: Channel, least: int, begin: Mapping[str, int] | None) -> int:
    """Writer and reader never wait for the stream at the same time, which takes `least`; at most all its tokens are in it."""
    own = begin[fifo.name] if begin is not None else (BUSY_DEPTH if fifo.tokens >= BUSY_TOKENS else SHALLOW)
    return max(own, min(fifo.tokens, least))


def set_depths(kernel: KernelOp, depths: Mapping[str, int]) -> None:
    """Give the streams of `kernel` new depths, by name."""
    for create in streams_of(kernel):
        set_depth(create, depths[create.sym_name.data])


def grow_depths(kernel: KernelOp) -> None:
    """As deep as a run of the token model needs to end, where tasks move their tokens in another order than before."""
    set_depths(kernel, depths_of_run(kernel, {create.sym_name.data: create.result.type.depth for create in streams_of(kernel)}))


def set_depth(create: stream.CreateOp, depth: int) -> None:
    """Give a stream a new depth, inside the tasks it is a port of as well."""
    type_ = create.result.type
    assert isinstance(type_, stream.StreamType)
    deeper = stream.StreamType(type_.element_type, depth)
    for use in list(create.result.uses):
        if isinstance(use.operation, TaskOp):
            Rewriter.replace_value_with_new_type(use.operation.body.block.args[use.index], deeper)
    Rewriter.replace_value_with_new_type(create.result, deeper)
