"""Multiplexers between the banks of local arrays and what computes on them."""

from __future__ import annotations

import numpy as np
from xdsl.dialects import memref
from xdsl.dialects.builtin import MemRefType
from xdsl.ir import Operation, SSAValue
from xdsl.utils.hints import isa

from stc.analysis.kernel_memory import entry_bits
from stc.analysis.loop_schedules import Entry
from stc.analysis.loops import enclosing_loops, is_unrolled
from stc.analysis.partitions import banks_of
from stc.analysis.port_pressure import LOADS, MOST_ITERATIONS, accessed_entries
from stc.analysis.recurrences import iterations
from stc.dialects.dataflow import TaskOp
from stc.platforms.control import bank_decoder, bank_multiplexer


def multiplexer_luts(task: TaskOp) -> int:
    """LUTs that choose among the banks of arrays of `task`: where an access is to another one from iteration to iteration."""
    seen: set[tuple[bool, Entry]] = set()
    luts, turns = 0, _Turns()
    for op, entry in accessed_entries(task.body.block, {}):
        key = isinstance(op, LOADS), entry
        if key in seen or not isinstance(storage := entry.buffer.owner, memref.AllocOp):
            continue
        seen.add(key)
        kind = entry.buffer.type
        assert isa(kind, MemRefType)
        banks = turns.banks(op, entry, storage, kind.get_shape())
        luts += bank_multiplexer(banks, entry_bits(kind.element_type)) if key[0] else bank_decoder(banks)
    return luts


class _Turns:
    """The values of loop variables in the iterations that are looked at, by the innermost loop."""

    def __init__(self) -> None:
        self._values: dict[Operation | None, dict[SSAValue, np.ndarray]] = {}

    def banks(self, op: Operation, entry: Entry, storage: memref.AllocOp, shape: tuple[int, ...]) -> int:
        """How many banks an access is to, in one iteration or another; all of a dimension where that is not known."""
        total = 1
        for dimension, factor in banks_of(storage):
            index, ways = entry.indices[dimension], factor or shape[dimension]
            if ways > 1 and index.terms:
                value = index.evaluate(self._around(op))
                total *= ways if value is None else len(np.unique(np.asarray(value) % ways))
        return total

    def _around(self, op: Operation) -> dict[SSAValue, np.ndarray]:
        loops = [loop for loop in enclosing_loops(op) if not is_unrolled(loop)]
        innermost = loops[-1] if loops else None
        if innermost not in self._values:
            self._values[innermost] = iterations(loops, MOST_ITERATIONS)[0]
        return self._values[innermost]
