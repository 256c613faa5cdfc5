"""Copies that move nothing."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.linalg.ops import GenericOp
from xdsl.rewriter import Rewriter

from stc.analysis.generic_loops import all_dims
from stc.transforms.linalg.generics import is_copy


def fold_identity_copies(module: ModuleOp) -> None:
    """Replace generics that copy their only input unchanged and in the same order by that input."""
    for op in list(module.walk()):
        if isinstance(op, GenericOp) and is_identity_copy(op):
            Rewriter.replace_op(op, [], [op.inputs[0]])


def is_identity_copy(op: GenericOp) -> bool:
    if not is_copy(op) or op.inputs[0].type != op.results[0].type:
        return False
    dims = all_dims(op)
    return dims is not None and dims[0] == dims[1]
