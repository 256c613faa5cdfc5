"""Assertions go: hardware raises nothing."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import cf
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from stc.transforms.linalg.bodies import simplify_body


@dataclass(frozen=True)
class DropAssertsPass(ModulePass):
    """Erase every `cf.assert`, and what only its condition needed.

    torch-mlir asserts that a divisor is not 0 and that an index lies inside its table. An accelerator cannot raise; a division by
    zero gives what the arithmetic gives (PyTorch's result too).

    Before:

        ^bb0(%a: f32, %b: f32):
          %c = arith.cmpf one, %a, %zero : f32
          cf.assert %c, "unimplemented: tensor with zero element"
          %d = arith.divf %one, %a : f32

    After:

        ^bb0(%a: f32, %b: f32):
          %d = arith.divf %one, %a : f32
    """

    name = "drop-asserts"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        # An assertion has no results, so that it is dead code like everything that only it uses.
        for found in [nested for nested in op.walk() if isinstance(nested, cf.AssertOp)]:
            if (block := found.parent_block()) is not None:
                simplify_body(block)
