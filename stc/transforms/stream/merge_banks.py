"""`merge-banks`: an array has no more banks than loops that take time need."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod

from xdsl.context import Context
from xdsl.dialects import memref, scf
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from stc.analysis.executions import executions
from stc.analysis.kernel_memory import entry_bits
from stc.analysis.loop_estimates import innermost_loops
from stc.analysis.loop_schedules import ACCESSES, buffer_of
from stc.analysis.loops import declared_depth, most_trips, pipeline_ii
from stc.analysis.partitions import bank_count
from stc.analysis.port_pressure import bank_accesses
from stc.analysis.resource_figures import local_memory
from stc.design_space.parallelism import divisors
from stc.dialects.dataflow import TaskOp
from stc.dialects.facts import PARTITION, PIPELINE
from stc.iteration.storage import ArrayStorage

WORTH = 0.01
"""Part of a task's cycles that fewer banks of all its arrays may cost."""

BLOCKS = ArrayStorage("ram_s2p", "bram")
"""What banks are counted in: a bank takes a block, however few words it has. A block that writes two words a cycle holds half as
many bits of each, so that nothing is gained if banks are merged for that."""


@dataclass(frozen=True)
class MergeBanks(ModulePass):
    """Cut arrays into fewer banks where that saves block RAM and costs next to no time.

    An array has the banks that each of its loops needs to start an iteration every cycle. Where a loop that only fills it, a wide
    token at a time, needs most of them, nearly all hold a few words, and a block each. With fewer banks that loop takes longer: as
    many cycles per iteration as it loads from one bank, or stores to it. All arrays of a task together may lengthen its pipelined
    loops by a hundredth of what these take; the loop with the most to do is hardly ever among them.

    An array of which each entry is a bank (registers) stays.

        %x = memref.alloc() {stc.partition = [[0, 8], [1, 16]]} : memref<16x1024xf32>
        scf.for ... { ... vector.store %token, %x[%row, %column] ... : vector<16xf32> } {stc.pipeline = 1 : i32}  (1,024 iterations)
        scf.for ... { ... memref.load %x[...] of 8 rows ... } {stc.pipeline = 1 : i32}  (524,288 iterations)
      becomes
        %x = memref.alloc() {stc.partition = [[0, 8], [1, 4]]} : memref<16x1024xf32>
        scf.for ... { ... } {stc.pipeline = 4 : i32}
        scf.for ... { ... } {stc.pipeline = 1 : i32}
    """

    name = "merge-banks"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for task in [found for found in op.walk() if isinstance(found, TaskOp)]:
            arrays = [found for found in task.walk() if isinstance(found, memref.AllocOp) and PARTITION.on(found)]
            loops = [loop for loop in innermost_loops(task) if pipeline_ii(loop) is not None and declared_depth(loop) is None]
            allowed = WORTH * sum(_runs(loop, task) * (pipeline_ii(loop) or 1) for loop in loops)
            for array in arrays:
                users = [loop for loop in loops if _uses(loop, array)]
                users.sort(key=lambda loop: _runs(loop, task), reverse=True)  # the one that costs most is asked first
                allowed -= _merge(array, users, task, allowed)


def _runs(loop: scf.ForOp, task: TaskOp) -> int:
    """Iterations of `loop` in a run of its task."""
    return executions(loop, task) * most_trips(loop)


def _uses(loop: scf.ForOp, array: memref.AllocOp) -> bool:
    return any(isinstance(op, ACCESSES) and buffer_of(op) is array.memref for op in loop.walk())


def _merge(array: memref.AllocOp, users: Sequence[scf.ForOp], task: TaskOp, allowed: float) -> float:
    """Give `array` fewer banks, and `users` their intervals with these; cycles that it costs, at most `allowed`."""
    cost = 0.0
    for dimension, factor in PARTITION.of(array) or ():
        for fewer in _fewer(array, dimension, factor):
            before, cycles = PARTITION.of(array) or (), [_cycles(loop, array, task) for loop in users]
            PARTITION.put(array, _with_factor(before, dimension, fewer))
            intervals = _intervals(array, users, cycles, task, allowed - cost)
            if intervals is None:
                PARTITION.put(array, before)
                continue
            cost += sum(_runs(loop, task) * (then - (pipeline_ii(loop) or 1)) for loop, then in zip(users, intervals, strict=True))
            for loop, then in zip(users, intervals, strict=True):
                PIPELINE.put(loop, then)
            break
    if not PARTITION.of(array):
        PARTITION.drop(array)
    return cost


def _fewer(array: memref.AllocOp, dimension: int, factor: int) -> Iterator[int]:
    """Factors of `dimension` below `factor` with fewer blocks in all, beginning with the fewest blocks."""
    others = bank_count(array, array.memref.type) // max(1, factor)
    blocks = {fewer: _blocks(array, others * fewer) for fewer in divisors(factor)}
    return iter(sorted((fewer for fewer in blocks if blocks[fewer] < blocks[factor]), key=lambda fewer: (blocks[fewer], -fewer)))


def _blocks(array: memref.AllocOp, banks: int) -> int:
    kind = array.memref.type
    return local_memory(entry_bits(kind.element_type), prod(kind.get_shape()), banks, BLOCKS).bram18


def _with_factor(partition: Sequence[tuple[int, ...]], dimension: int, factor: int) -> tuple[tuple[int, ...], ...]:
    changed = ((cut, factor if cut == dimension else before) for cut, before in partition)
    return tuple((cut, ways) for cut, ways in changed if ways != 1)


def _cycles(loop: scf.ForOp, array: memref.AllocOp, task: TaskOp) -> int:
    """In which a bank that reads and writes a word a cycle makes the accesses of an iteration."""
    return next((max(found.loads, found.stores) for _, found in bank_accesses(loop, task, array.memref)), 0)


def _intervals(
    array: memref.AllocOp, users: Sequence[scf.ForOp], before: Sequence[int], task: TaskOp, allowed: float
) -> list[int] | None:
    """The intervals of loops as banks are now, where accesses took so many cycles `before`; None where they cost more than is
    `allowed`."""
    intervals: list[int] = []
    for loop, cycles in zip(users, before, strict=True):
        now, then = pipeline_ii(loop) or 1, _cycles(loop, array, task)
        intervals.append(max(now, then) if then > cycles else now)
        allowed -= _runs(loop, task) * (intervals[-1] - now)
        if allowed < 0:
            return None
    return intervals
