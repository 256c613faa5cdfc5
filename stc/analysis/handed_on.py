"""What goes from layer to layer of a launch that computes several."""

from __future__ import annotations

from collections.abc import Container

from xdsl.dialects import func, tensor
from xdsl.ir import BlockArgument, SSAValue

from stc.dialects.updates import is_updated


def handed_on(function: func.FuncOp, parameters: Container[SSAValue]) -> set[BlockArgument]:
    """The arguments of `function`, a layer, that the next one takes as this one returned them (`repeat-layers`): those of a type
    that is returned, but for `parameters` and what is updated in place. What else is given is the same for all layers."""
    assert function.body.block.last_op is not None
    returned = [value.type for value in function.body.block.last_op.operands if not isinstance(value.owner, tensor.InsertSliceOp)]
    given = [each for each in function.body.block.args if each not in parameters and not is_updated(each)]
    return {each for each in given if each.type in returned}
