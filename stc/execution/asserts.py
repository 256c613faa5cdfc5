"""Dialect `cf` on numpy: assertions check nothing, as on the hardware (see the pass `drop-asserts`)."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import cf

from stc.execution.machine import Machine, Value, implements


@implements(cf.AssertOp)
def run_assert(machine: Machine, op: cf.AssertOp) -> Sequence[Value]:
    return []
