"""`flatten-tasks`: tasks inside tasks become tasks of the kernel."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import arith
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import Operation
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import (
    GreedyRewritePatternApplier,
    PatternRewriter,
    PatternRewriteWalker,
    RewritePattern,
    op_type_rewrite_pattern,
)
from xdsl.rewriter import InsertPoint

from stc.diagnostics import CompileError
from stc.dialects import itensor, stream
from stc.dialects.dataflow import KernelOp, MemoryOp, TaskOp, YieldOp
from stc.dialects.facts import MODULE
from stc.transforms.stream.names import symbols_of

BETWEEN_TASKS = (
    TaskOp,
    YieldOp,
    MemoryOp,
    arith.ConstantOp,
    itensor.EmptyOp,
    itensor.InstanceOp,
    itensor.CastOp,
    itensor.ReassociateOp,
    itensor.ReorderOp,
    itensor.ConverterOp,
    itensor.ChunkOp,
    itensor.ConcatOp,
    itensor.ForkOp,
    itensor.SplitOp,
    itensor.MergeOp,
    stream.CreateOp,
    stream.BufferOp,
    stream.CastOp,
)
"""What may stand between tasks, in a kernel or in a task of tasks."""


@dataclass(frozen=True)
class FlattenTasks(ModulePass):
    """Let the kernel hold all tasks: a task of tasks is its tasks, connected as its ports were.

    A task of tasks is transparent (docs/design/method.md section 2): its ports are the values outside, its results what it yields.
    What it holds besides tasks connects them; constants go into the tasks that take them. A task that also computes is an error.

        %r = dataflow.task @outer ins(%p = %x : !X) outs(%o = %e : !Y) -> !Y {
          %h = itensor.empty : !X
          %s = dataflow.task @first ins(... = %p : !X) outs(... = %h : !X) -> !X {...}
          %t = dataflow.task @second ins(... = %s : !X) outs(... = %o : !Y) -> !Y {...}
          dataflow.yield %t : !Y
        }
      becomes
        %h = itensor.empty : !X
        %s = dataflow.task @first ins(... = %x : !X) outs(... = %h : !X) -> !X {...}
        %r = dataflow.task @second ins(... = %s : !X) outs(... = %e : !Y) -> !Y {...}
    """

    name = "flatten-tasks"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        PatternRewriteWalker(GreedyRewritePatternApplier([InlineTaskOfTasks(), SinkConstant()])).rewrite_module(op)
        for task in op.walk():
            if isinstance(task, TaskOp) and isinstance(outer := task.parent_op(), TaskOp):
                where, accepted = f"@{outer.sym_name.data}", "tasks of tasks that hold only what connects them"
                raise CompileError(f"task holds '{_beside(outer)}' beside tasks", where=where, accepted=accepted)


class InlineTaskOfTasks(RewritePattern):
    """The tasks of a kernel's task take its place."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: TaskOp, rewriter: PatternRewriter) -> None:
        kernel, inside = op.parent_op(), list(op.body.block.ops)
        if not isinstance(kernel, KernelOp) or not any(isinstance(inner, TaskOp) for inner in inside) or _beside(op) is not None:
            return
        names = symbols_of(kernel)
        for inner in inside:
            if isinstance(name := inner.properties.get("sym_name"), StringAttr):
                inner.properties["sym_name"] = StringAttr(names.fresh(name.data))
            if isinstance(inner, TaskOp):
                inner.attributes = MODULE.retained(op) | inner.attributes
        end = op.terminator
        rewriter.inline_block(op.body.block, InsertPoint.before(op), [*op.ins, *op.outs])
        for result, value in zip(op.results, end.arguments, strict=True):
            value.name_hint = result.name_hint or value.name_hint
        rewriter.replace(op, [], end.arguments)
        rewriter.erase(end)


def _beside(task: TaskOp) -> str | None:
    """The name of the first operation of a task of tasks that does more than connect tasks."""
    return next((op.name for op in task.body.block.ops if not isinstance(op, BETWEEN_TASKS)), None)


class SinkConstant(RewritePattern):
    """A constant between tasks moves into those that take it."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: arith.ConstantOp, rewriter: PatternRewriter) -> None:
        users = [use.operation for use in op.result.uses]
        if not isinstance(op.parent_op(), KernelOp) or not all(isinstance(user, TaskOp) for user in users):
            return
        for user in dict.fromkeys(users):
            assert isinstance(user, TaskOp)
            _give(user, op, rewriter)
        rewriter.erase(op)


def _give(task: TaskOp, constant: arith.ConstantOp, rewriter: PatternRewriter) -> None:
    """Let `task` make `constant` itself."""
    taken = [index for index, value in enumerate(task.ins) if value is constant.result]
    ports = [task.input_ports[index] for index in taken]
    copy: Operation = rewriter.insert(constant.clone(), InsertPoint.at_start(task.body.block))
    copy.results[0].name_hint = constant.result.name_hint
    for port in ports:
        rewriter.replace_all_uses_with(port, copy.results[0])
        rewriter.erase_block_argument(port)
    smaller = TaskOp(
        task.sym_name,
        [value for value in task.ins if value is not constant.result],
        task.outs,
        rewriter.move_region_contents_to_new_regions(task.body),
        [result.type for result in task.results],
        task.attributes,
        task.kind,
    )
    rewriter.replace(task, smaller)
