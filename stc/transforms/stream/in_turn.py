"""Tasks one after the other in one task: so they need one port, or one set of operators."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.builder import Builder
from xdsl.ir import Block
from xdsl.rewriter import InsertPoint, Rewriter

from stc.dialects.dataflow import TaskKind, TaskOp, YieldOp
from stc.dialects.facts import BEHIND_LAYERS


def in_turn(tasks: Sequence[TaskOp], name: str, kind: TaskKind | None, at: InsertPoint) -> TaskOp:
    """One task that does what `tasks` do, in this order, in place of them."""
    ins, outs = [value for task in tasks for value in task.ins], [value for task in tasks for value in task.outs]
    block = Block(arg_types=[value.type for value in (*ins, *outs)])
    made_ins, made_outs = iter(block.args[: len(ins)]), iter(block.args[len(ins) :])
    for task in tasks:
        own = task.body.block
        for index, old in enumerate(own.args):
            mine = next(made_ins if index < len(task.ins) else made_outs)
            mine.name_hint = old.name_hint
            old.replace_all_uses_with(mine)
        terminator = own.last_op
        assert terminator is not None
        Rewriter.erase_op(terminator)
        Rewriter.inline_block(own, InsertPoint.at_end(block))
    Builder(InsertPoint.at_end(block)).insert(YieldOp())
    behind_layers = BEHIND_LAYERS.entry(None) if all(BEHIND_LAYERS.on(task) for task in tasks) else {}
    made = TaskOp(name, ins, outs, block, [], behind_layers, kind=kind)
    Rewriter.insert_op(made, at)
    for task in tasks:
        Rewriter.erase_op(task)
    return made
