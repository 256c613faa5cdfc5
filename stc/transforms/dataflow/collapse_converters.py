"""`collapse-converters`: converters in a row become one."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from stc.design_space.converter_trees import collapsed_tree
from stc.dialects.dataflow import KernelOp
from stc.transforms.dataflow.converter_trees import converter_trees


@dataclass(frozen=True)
class CollapseConverters(ModulePass):
    """Convert directly to the last of several orders in a row, or not at all where the last is the first again.

    Casts between are seen through. An order in the middle that somebody else reads stays, and the last one comes directly from
    the first only where that is less in total (buffers with their ping-pong factor, and FIFOs as in `share-converters`).

        %a = itensor.converter %s {shared_loops = 0, buffer_shape = [64, 64], blocks = 1} : !S to !A
        %b = itensor.converter %a {shared_loops = 0, buffer_shape = [64, 64], blocks = 1} : !A to !B
      becomes
        %b = itensor.converter %s {shared_loops = 1, buffer_shape = [4, 64], blocks = 2} : !S to !B
    """

    name = "collapse-converters"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for kernel in [found for found in op.walk() if isinstance(found, KernelOp)]:
            for tree in list(converter_trees(kernel)):
                stream, present = tree.problem()
                plan = collapsed_tree(stream, present)
                if plan != present:
                    tree.rebuild(plan)
