"""`raise-fifos`: no FIFO is less deep than a number of tokens."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from stc.dialects.stream import CreateOp
from stc.transforms.stream.set_fifo_depths import set_depth


@dataclass(frozen=True)
class RaiseFifos(ModulePass):
    """Give every FIFO at least `least` tokens.

    Options: `least` (default 8).

        %s = stream.create @s : !stream.stream<f32, depth: 2>
      becomes
        %s = stream.create @s : !stream.stream<f32, depth: 8>
    """

    name = "raise-fifos"

    least: int = 8

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for created in op.walk():
            if isinstance(created, CreateOp):
                set_depth(created, max(self.least, created.result.type.depth))
