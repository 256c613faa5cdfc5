"""`set-fifo-depths`: depths that cannot deadlock, before any are optimised."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import IntegerAttr, ModuleOp
from xdsl.ir import SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from stc.design_space.fifo_depths import StreamEdge, provisional_depths
from stc.diagnostics import CompileError
from stc.dialects import stream
from stc.dialects.dataflow import KernelOp, TaskOp


@dataclass(frozen=True)
class SetFifoDepths(ModulePass):
    """Write the depth of every FIFO into its type, by the provisional rule (field-notes.md).

    2 for a stream that lies on no cycle of the undirected task graph; for any other its token count before revisits.
    `size-fifos` will replace this rule by a linear program.

        %s = stream.create @s {stc.distinct_tokens = 64} : !stream.stream<vector<8xf32>, depth: 2>
      becomes, on a reconvergent path,
        %s = stream.create @s {stc.distinct_tokens = 64} : !stream.stream<vector<8xf32>, depth: 64>
    """

    name = "set-fifo-depths"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for kernel in [found for found in op.walk() if isinstance(found, KernelOp)]:
            creates = [found for found in kernel.body.block.ops if isinstance(found, stream.CreateOp)]
            rings = [found for found in kernel.body.block.ops if isinstance(found, stream.BufferOp)]
            edges = [StreamEdge(c.sym_name.data, *ends_of(c.result), _distinct_tokens(c)) for c in creates]
            depths = provisional_depths(edges, [ends_of(ring.result) for ring in rings])
            for create in creates:
                set_depth(create, depths[create.sym_name.data])


def ends_of(value: SSAValue) -> tuple[str, str]:
    """The names of the task that writes a stream (or ring of buffers) and of the one that reads it."""
    writers = [u.operation for u in value.uses if isinstance(u.operation, TaskOp) and u.index >= len(u.operation.ins)]
    readers = [u.operation for u in value.uses if isinstance(u.operation, TaskOp) and u.index < len(u.operation.ins)]
    if len(writers) != 1 or len(readers) != 1:
        raise CompileError(
            f"has {len(writers)} writers and {len(readers)} readers",
            where=f"stream %{value.name_hint or '?'}",
            accepted="one of each (insert-forks duplicates a stream)",
        )
    return writers[0].sym_name.data, readers[0].sym_name.data


def set_depth(create: stream.CreateOp, depth: int) -> None:
    """Give a stream a new depth, inside the tasks it is a port of as well."""
    type_ = create.result.type
    assert isinstance(type_, stream.StreamType)
    deeper = stream.StreamType(type_.element_type, depth)
    for use in list(create.result.uses):
        if isinstance(use.operation, TaskOp):
            Rewriter.replace_value_with_new_type(use.operation.body.block.args[use.index], deeper)
    Rewriter.replace_value_with_new_type(create.result, deeper)


def _distinct_tokens(create: stream.CreateOp) -> int:
    tokens = create.attributes.get("stc.distinct_tokens")
    if not isinstance(tokens, IntegerAttr):
        raise CompileError("has no token count", where=create.sym_name.data, accepted="the attribute stc.distinct_tokens")
    return tokens.value.data
