"""Multiplexers between the banks of local arrays and what computes on them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import prod

import numpy as np
from xdsl.dialects import arith, memref, scf, vector
from xdsl.dialects.builtin import MemRefType
from xdsl.ir import Operation, SSAValue
from xdsl.utils.hints import isa

from stc.analysis.adder_trees import holds_a_tree
from stc.analysis.index_expressions import IndexExpression
from stc.analysis.kernel_memory import entry_bits
from stc.analysis.loop_schedules import Entry
from stc.analysis.loops import enclosing_loops, is_unrolled, most_trips
from stc.analysis.partitions import banks_of, ways_of
from stc.analysis.port_pressure import accessed_entries
from stc.analysis.recurrences import iterations
from stc.dialects.dataflow import TaskOp
from stc.platforms.control import bank_decoder, bank_multiplexer

MOST_LOOKED_AT = 1 << 14
"""Iterations in which the banks of an access are looked at; of one in more, all."""


def multiplexer_luts(task: TaskOp) -> int:
    """LUTs that choose among the banks of arrays of `task`: for a load that is from another one from iteration to iteration, and in
    front of a bank that several stores are to. Equal accesses are one."""
    seen: set[tuple[SSAValue | None, Entry]] = set()
    luts, around = 0, _Iterations()
    writers: dict[memref.AllocOp, Counter[int]] = {}
    for op, entry in accessed_entries(task.body.block, {}):
        stored = _stored(op)
        if (stored, entry) in seen or not isinstance(storage := entry.buffer.owner, memref.AllocOp) or not banks_of(storage):
            continue
        if holds_a_tree(entry.buffer):  # wires and registers between adders
            continue
        seen.add((stored, entry))
        banks = around.banks(op, entry, storage)
        if stored is None:
            luts += bank_multiplexer(len(banks), _bits(storage))
            continue
        luts += bank_decoder(len(banks))
        if not isinstance(stored.owner, arith.ConstantOp):  # which registers are set to without a multiplexer
            writers.setdefault(storage, Counter()).update(banks)
    for storage, counts in writers.items():
        luts += sum(bank_multiplexer(count, _bits(storage)) for count in counts.values())
    return luts


def _bits(storage: memref.AllocOp) -> int:
    kind = storage.memref.type
    assert isa(kind, MemRefType)
    return entry_bits(kind.element_type)


def _stored(op: Operation) -> SSAValue | None:
    """What an access stores, None where it loads."""
    return op.value if isinstance(op, memref.StoreOp) else op.vector if isinstance(op, vector.StoreOp) else None


class _Iterations:
    """The values that the variables of loops have together, by the loops that are asked for."""

    def __init__(self) -> None:
        self._values: dict[tuple[scf.ForOp, ...], tuple[dict[SSAValue, np.ndarray], int]] = {}

    def banks(self, op: Operation, entry: Entry, storage: memref.AllocOp) -> Sequence[int]:
        """The numbers of the banks that an access is to, in one iteration or another; all where that is not known."""
        kind = storage.memref.type
        assert isa(kind, MemRefType)
        ways = ways_of(storage, kind)
        indices = {dimension: _within(entry.indices[dimension], count) for dimension, count in ways.items()}
        needed = {name for index in indices.values() for name in index.variables()}
        loops = tuple(loop for loop in enclosing_loops(op) if not is_unrolled(loop) and loop.body.block.args[0] in needed)
        if len(loops) < len(needed) or prod(most_trips(loop) for loop in loops) > MOST_LOOKED_AT:
            return range(prod(ways.values()))
        if loops not in self._values:
            self._values[loops] = iterations(list(loops), MOST_LOOKED_AT)
        values, count = self._values[loops]
        numbers = np.zeros(count, dtype=np.int64)
        for dimension, each in ways.items():
            value = indices[dimension].evaluate(values)
            if value is None:
                return range(prod(ways.values()))
            numbers = numbers * each + np.asarray(value) % each
        return [int(number) for number in np.unique(numbers)]


def _within(index: IndexExpression, ways: int) -> IndexExpression:
    """The index without terms that lead to the same of so many banks."""
    return IndexExpression(index.constant, frozenset((term, factor) for term, factor in index.terms if factor % ways))
