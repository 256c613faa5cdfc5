"""A pass of one's own, in the pipeline of a compile: every FIFO gets more room than the compiler would give it.

    stc compile examples/linear_relu.mlir --load examples/own_pass.py --after size-fifos=deepen-fifos --out FOLDER

A pass is a dataclass whose fields are its options. What `stc-opt` and `stc compile` show of it, `--help deepen-fifos` among it, is
its docstring. `examples/own_package` offers a pass from an installed package instead.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from stc.diagnostics import CompileError
from stc.dialects.stream import CreateOp
from stc.transforms.stream.set_fifo_depths import set_depth


@dataclass(frozen=True)
class DeepenFifos(ModulePass):
    """Multiply the depth of every FIFO.

    Options: `factor` (default 2).

        %s = stream.create @s : !stream.stream<f32, depth: 2>
      with factor=2 becomes
        %s = stream.create @s : !stream.stream<f32, depth: 4>
    """

    name = "deepen-fifos"

    factor: int = 2

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if self.factor < 1:
            raise CompileError(f"factor is {self.factor}", where=self.name, accepted="at least 1")
        for created in op.walk():
            if isinstance(created, CreateOp):
                set_depth(created, self.factor * created.result.type.depth)
