"""`mark-behind-layers`: tasks say whether they are of what follows the last layer."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import memref
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass
from xdsl.traits import Pure

from stc.analysis.behind_layers import end_of_layers
from stc.analysis.task_graph import tasks_behind
from stc.dialects.dataflow import KernelOp, TaskOp
from stc.dialects.facts import BEHIND_LAYERS


@dataclass(frozen=True)
class MarkBehindLayers(ModulePass):
    """Say of each task behind the one with which layers end (`stc.ends_layers`), and of what it does, that it is.

    What is in front of that task, or beside it, `repeat-layers` repeats; what is behind it follows the last layer. Passes in
    between let one task do what several of both did (`load-in-turn`, `share-contractions`): then the operations in it tell them
    apart. What works for tasks behind the layers alone, such as the load of a parameter, is of what follows, too. Nothing
    changes where no task ends layers.

        dataflow.task @end ins(%s) outs(%y) attributes {stc.ends_layers} {...}
        dataflow.task @load ins(%w) outs(%t) kind load { scf.for ... {...} }
        dataflow.task @head ins(%y, %t) outs(%z) { scf.for ... {...} }
      becomes
        dataflow.task @end ins(%s) outs(%y) attributes {stc.ends_layers} {...}
        dataflow.task @load ins(%w) outs(%t) kind load attributes {stc.behind_layers} { scf.for ... {...} {stc.behind_layers} }
        dataflow.task @head ins(%y, %t) outs(%z) attributes {stc.behind_layers} { scf.for ... {...} {stc.behind_layers} }
    """

    name = "mark-behind-layers"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for kernel in [found for found in op.walk() if isinstance(found, KernelOp)]:
            if (end := end_of_layers(kernel)) is None:
                continue
            behind = tasks_behind(kernel)
            for task, waiting in behind.items():
                if task in behind[end] or (waiting and waiting <= behind[end] and task is not end):
                    mark_behind_layers(task)


def mark_behind_layers(task: TaskOp) -> None:
    """Say it of `task`, and of each operation at its top that does anything."""
    mark_operations_behind_layers((task, *task.body.block.ops))


def mark_operations_behind_layers(ops: Iterable[Operation]) -> None:
    """Say it of those of `ops` that do anything; arrays are for all that a task does."""
    for op in ops:
        if not op.has_trait(Pure) and not isinstance(op, memref.AllocOp):
            BEHIND_LAYERS.put(op, None)
