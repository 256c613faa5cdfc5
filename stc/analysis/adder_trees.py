"""Trees of adders in tasks (`build-adder-trees`)."""

from __future__ import annotations

from xdsl.dialects import memref
from xdsl.ir import Operation, SSAValue

from stc.dialects.facts import REGISTERED


def holds_a_tree(buffer: SSAValue) -> bool:
    """Whether the entries of `buffer` are what the adders of a tree hand on: no memory but the registers behind them."""
    stores = [use.operation for use in buffer.uses if isinstance(use.operation, memref.StoreOp)]
    return any(REGISTERED.on(store.value.owner) for store in stores if isinstance(store.value.owner, Operation))
