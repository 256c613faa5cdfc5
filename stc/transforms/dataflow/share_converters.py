"""`share-converters`: what several converters of one stream have in common is done once."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from stc.design_space.converter_trees import shared_tree
from stc.dialects.dataflow import KernelOp
from stc.transforms.dataflow.converter_trees import converter_trees


@dataclass(frozen=True)
class ShareConverters(ModulePass):
    """Convert a stream that is wanted in several orders at the least memory (`stc.design_space.converter_trees`).

    Converters to the same sequence become one, which is read twice. A converter starts from what another gives where both
    together buffer less. Counted are the buffers with their ping-pong factor, and the FIFOs that hold what one branch of a
    shared stream has to wait with, so that not everything that could be shared is.

        %a = itensor.converter %s {shared_loops = 0, buffer_shape = [64, 64], blocks = 1} : !S to !A    // !A: by columns
        %b = itensor.converter %s {shared_loops = 0, buffer_shape = [64, 64], blocks = 1} : !S to !B    // !B: each column 8 times
      becomes
        %a = itensor.converter %s {shared_loops = 0, buffer_shape = [64, 64], blocks = 1} : !S to !A
        %b = itensor.converter %a {shared_loops = 1, buffer_shape = [64, 4], blocks = 2} : !A to !B
    """

    name = "share-converters"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for kernel in [found for found in op.walk() if isinstance(found, KernelOp)]:
            for tree in list(converter_trees(kernel)):
                stream, present = tree.problem()
                plan = shared_tree(stream, present)
                if plan != present:
                    tree.rebuild(plan)
