"""`hoist-constants`: one constant of a kind per task, at its top."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import arith
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, SSAValue
from xdsl.passes import ModulePass

from stc.dialects.dataflow import TaskOp


@dataclass(frozen=True)
class HoistConstants(ModulePass):
    """Move the constants of each task to its top, equal ones merged and unused ones dropped.

    Generated loop nests bring their own bounds; this makes the IR readable again. The printed C++ has literals anyway.

        scf.for ... { %c0_1 = arith.constant 0 : index  scf.for %a = %c0_1 ... }
      becomes
        %c0 = arith.constant 0 : index
        scf.for ... { scf.for %a = %c0 ... }
    """

    name = "hoist-constants"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for task in [found for found in op.walk() if isinstance(found, TaskOp)]:
            _hoist(task)


def _hoist(task: TaskOp) -> None:
    retained: dict[Attribute, SSAValue] = {}
    hoisted: list[arith.ConstantOp] = []
    for constant in [found for found in task.walk() if isinstance(found, arith.ConstantOp)]:
        constant.detach()
        if not constant.result.uses:
            constant.erase()
        elif constant.value in retained:
            constant.result.replace_all_uses_with(retained[constant.value])
            constant.erase()
        else:
            retained[constant.value] = constant.result
            constant.result.name_hint = _hint(constant)
            hoisted.append(constant)
    block = task.body.block
    if hoisted and block.first_op is not None:
        block.insert_ops_before(hoisted, block.first_op)


def _hint(constant: arith.ConstantOp) -> str | None:
    data = getattr(constant.value, "value", None)
    number = getattr(data, "data", None)
    return f"c{number}" if isinstance(number, int) and number >= 0 else constant.result.name_hint
