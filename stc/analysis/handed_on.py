"""What goes from layer to layer of a launch that computes several."""

from __future__ import annotations

from collections.abc import Container, Iterable

from xdsl.dialects import func, tensor
from xdsl.ir import OpResult, SSAValue

from stc.dialects.dataflow import KernelOp, UnpackOp
from stc.dialects.updates import is_updated
from stc.dialects.use_def import arguments_behind, through_reshapes


def handed_on(
    function: func.FuncOp, values: Iterable[SSAValue], parameters: Container[SSAValue], layers: int
) -> set[SSAValue]:
    """Those of `values` that are made of what a layer, `function`, takes as the one before returned it (`repeat-layers`): of
    arguments of a type that is returned, but `parameters` and what is updated in place. What else is given is the same for all
    `layers`; with one there is none."""
    if layers == 1:
        return set()
    assert function.body.block.last_op is not None
    returned = {value.type for value in function.body.block.last_op.operands if not _is_update(value)}
    updated = {argument for kernel in function.walk() if isinstance(kernel, KernelOp)
               for index in kernel.updated for argument in arguments_behind(kernel.inputs[index])}  # fmt: skip
    given = {each for each in function.body.block.args if not (each in parameters or each in updated or is_updated(each))}
    goes_round = {each for each in given if each.type in returned}
    return {value for value in values if goes_round & {*arguments_behind(value)}}


def _is_update(value: SSAValue) -> bool:
    """Whether a returned tensor is an argument updated in place, before and behind `update-in-place`."""
    made = through_reshapes(value)
    if isinstance(made.owner, UnpackOp):
        made = made.owner.stripes[0]
    if isinstance(made, OpResult) and isinstance(made.owner, KernelOp):
        return made.owner.places[made.index] is not None
    return isinstance(made.owner, tensor.InsertSliceOp)
