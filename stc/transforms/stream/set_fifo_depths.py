"""`set-fifo-depths`: depths that cannot deadlock, before any are optimised."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import IntegerAttr, ModuleOp
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from stc.analysis.task_graph import ends_of, tokens_per_iteration
from stc.design_space.fifo_depths import StreamEdge, provisional_depths
from stc.diagnostics import CompileError
from stc.dialects import stream
from stc.dialects.dataflow import KernelOp, TaskOp


@dataclass(frozen=True)
class SetFifoDepths(ModulePass):
    """Write the depth of every FIFO into its type, by the rule of `stc.design_space.fifo_depths`.

    A stream out of a task with several outputs, on a cycle of the undirected task graph, holds all its tokens; any other
    two, or what keeps an iteration of its writer and one of its reader from waiting for each other. `size-fifos` will
    replace this rule by a linear program.

        %s = stream.create @s {stc.tokens = 64} : !stream.stream<vector<8xf32>, depth: 2>
      becomes, behind a fork whose branches meet again,
        %s = stream.create @s {stc.tokens = 64} : !stream.stream<vector<8xf32>, depth: 64>
    """

    name = "set-fifo-depths"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for kernel in [found for found in op.walk() if isinstance(found, KernelOp)]:
            creates = [found for found in kernel.body.block.ops if isinstance(found, stream.CreateOp)]
            rings = [found for found in kernel.body.block.ops if isinstance(found, stream.BufferOp)]
            edges = [_edge(create) for create in creates]
            depths = provisional_depths(edges, [_names(ring) for ring in rings])
            for create in creates:
                set_depth(create, depths[create.sym_name.data])


def _names(op: stream.CreateOp | stream.BufferOp) -> tuple[str, str]:
    writer, reader = ends_of(op.result)
    return writer.sym_name.data, reader.sym_name.data


def _edge(create: stream.CreateOp) -> StreamEdge:
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
