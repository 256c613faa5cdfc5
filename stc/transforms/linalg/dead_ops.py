"""Erasing tensor-level operations whose results nobody uses."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block
from xdsl.traits import Pure

from stc.analysis.host_work import functions_of
from stc.xdsl_gaps.linalg_effects import has_no_effect


def erase_dead_ops(module: ModuleOp) -> None:
    """Erase unused operations of every function, users before producers."""
    for function in functions_of(module):
        _erase_in(function.body.block)


def _erase_in(block: Block) -> None:
    for op in reversed(list(block.ops)):
        if (has_no_effect(op) or op.has_trait(Pure)) and not any(result.uses for result in op.results):
            op.detach()
            op.erase()
