"""What the host does: everything that depends on parameters and constants alone (docs/design/method.md section 2).

Such values are evaluated once, when parameters are packed; they never become hardware.
"""

from __future__ import annotations

from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue
from xdsl.traits import IsTerminator

from stc.dialects.facts import PARAMETER
from stc.dialects.use_def import used_by


def functions_of(module: ModuleOp) -> list[func.FuncOp]:
    """Functions that have a body."""
    return [op for op in module.walk() if isinstance(op, func.FuncOp) and op.body.blocks]


def parameter_indices(function: func.FuncOp) -> tuple[int, ...]:
    """Positions of the arguments that carry `stc.parameter`."""
    if function.arg_attrs is None:
        return ()
    return tuple(i for i, attributes in enumerate(function.arg_attrs.data) if PARAMETER.on(attributes))


def host_values(function: func.FuncOp) -> set[SSAValue]:
    """The values of `function` that are known once parameters are: parameters, constants, and whatever only they reach."""
    block = function.body.block
    known: set[SSAValue] = {block.args[index] for index in parameter_indices(function)}
    for op in block.ops:
        if op.has_trait(IsTerminator):
            continue
        inside = {result for nested in op.walk() for result in nested.results}
        inside |= {arg for nested in op.walk() for region in nested.regions for b in region.blocks for arg in b.args}
        used = {*used_by(op)} - inside
        if used <= known:
            known |= set(op.results)
    return known
