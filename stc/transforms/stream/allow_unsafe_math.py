"""`allow-unsafe-math`: what the vendor's tool may do to float arithmetic, said on each operation."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import arith
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.utils import FastMathFlag
from xdsl.passes import ModulePass

from stc.dialects.dataflow import TaskOp

_FLAGS = arith.FastMathFlagsAttr((FastMathFlag.REASSOC, FastMathFlag.ALLOW_RECIP))


@dataclass(frozen=True)
class AllowUnsafeMath(ModulePass):
    """Let the vendor's tool reassociate float additions and multiply by reciprocals of constants (its option
    `config_compile -unsafe_math_optimizations`, which the emitted synthesis script then sets).

    With it the tool sums in one place at II 4, with an adder of 5 stages and no DSPs, instead of 7 (at 3.33 and 4 ns), and
    divides by any constant in 4 stages instead of 12. Estimates follow the flags. Nothing is computed differently here: C
    simulation keeps the order that is written, the card may not, so that its last bits may differ.

    Operations inside tasks only; in the pipeline with `unsafe-math=true`.

        %t = arith.addf %s, %v : f32
      becomes
        %t = arith.addf %s, %v fastmath<reassoc,arcp> : f32
    """

    name = "allow-unsafe-math"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for task in (found for found in op.walk() if isinstance(found, TaskOp)):
            for nested in task.walk():
                if isinstance(nested, arith.AddfOp | arith.SubfOp | arith.MulfOp | arith.DivfOp):
                    nested.fastmath = _FLAGS
