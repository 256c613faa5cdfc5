"""What iterations of a pipelined loop load that earlier ones stored, proved for the vendor's tool, which proves less.

A tool that cannot tell how far apart two accesses to an array are takes them for neighbours: then a sum is not added to again
before it is stored, however many iterations there are in between.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from xdsl.dialects import memref, scf
from xdsl.dialects.builtin import MemRefType
from xdsl.ir import Operation, SSAValue

from stc.analysis.index_expressions import IndexExpression
from stc.analysis.index_ranges import guards_around
from stc.analysis.loop_schedules import Entry
from stc.analysis.loops import most_trips, pipeline_ii
from stc.analysis.port_pressure import accessed_entries
from stc.analysis.recurrences import flattened_nest, is_computed_from, iterations
from stc.analysis.remembered import Remembered
from stc.dialects.dataflow import TaskOp
from stc.iteration.index_expressions import Computed

MOST_ACCESSES = 1 << 17
"""Accesses of a nest that are enumerated: beyond, two steps of the loop outside stand for all, where indices are sums alone."""


MOST_APART = 1 << 21
"""Of a nest in which the distance depends on where one is, and no step of a loop stands for another."""


@dataclass(frozen=True)
class CarriedDependence:
    """Of all that iterations load from `buffer`, nothing was stored by one of the `distance` - 1 iterations before. `proof` is a
    sentence: what holds, and why."""

    buffer: SSAValue
    distance: int
    proof: str


@dataclass(frozen=True)
class _Access:
    """An iteration accesses `entry` where all `guards` hold."""

    entry: Entry
    stores: bool
    guards: tuple[IndexExpression, ...]


_FOUND = Remembered[tuple[tuple[int, int, int, str], ...]](with_names=False)
"""Distances and proofs, with the numbers of the loop and of the allocation in their task."""


def task_dependences(task: TaskOp) -> dict[scf.ForOp, list[CarriedDependence]]:
    """The `carried_dependences` of the pipelined loops of `task`."""
    ops = list(task.walk())
    loops = [(number, op) for number, op in enumerate(ops) if isinstance(op, scf.ForOp) and pipeline_ii(op) is not None]

    def prove() -> tuple[tuple[int, int, int, str], ...]:
        found = ((number, each) for number, loop in loops for each in carried_dependences(loop))
        return tuple((number, ops.index(_allocation(each)), each.distance, each.proof) for number, each in found)

    proved: dict[scf.ForOp, list[CarriedDependence]] = {loop: [] for _, loop in loops}
    at = dict(loops)
    for number, array, distance, proof in _FOUND.of(task, tuple(at), prove):
        proved[at[number]].append(CarriedDependence(ops[array].results[0], distance, proof))
    return proved


def _allocation(found: CarriedDependence) -> memref.AllocOp:
    owner = found.buffer.owner
    assert isinstance(owner, memref.AllocOp)
    return owner


def carried_dependences(loop: scf.ForOp) -> Iterator[CarriedDependence]:
    """What is proved, and worth saying, of the arrays of the task that `loop` both loads from and stores to."""
    arrays: dict[SSAValue, dict[_Access, None]] = {}
    guards: dict[Operation, tuple[IndexExpression, ...]] = {}
    for op, entry in accessed_entries(loop.body.block, {}):
        if isinstance(entry.buffer.owner, memref.AllocOp):
            if op not in guards:  # which all copies have alike
                guards[op] = tuple(guards_around(op))
            access = _Access(entry, op.results == (), guards[op])
            arrays.setdefault(entry.buffer, {})[access] = None
    for buffer, accesses in arrays.items():
        if len({access.stores for access in accesses}) == 2 and (found := _dependence(loop, buffer, list(accesses))) is not None:
            yield found


def _dependence(loop: scf.ForOp, buffer: SSAValue, accesses: Sequence[_Access]) -> CarriedDependence | None:
    nest, entries = flattened_nest(loop), [access.entry for access in accesses]
    if not all(is_computed_from(nest, entries[0], other) for other in entries):
        return None
    moves_alike = _moves_alike(entries)
    values, count = iterations(nest, max(1, (MOST_ACCESSES if moves_alike else MOST_APART) // len(entries)))
    total = int(np.prod([most_trips(around) for around in nest]))
    if count < total and not moves_alike:
        return None
    if count < total:   # what runs in the first iterations alone, or in the last, says nothing of the others
        accesses = [replace(access, guards=()) for access in accesses]
    distance = _least_distance(accesses, values, count)
    if distance is None or distance < 2:
        return None
    over = f"all {total} iterations" if count == total else f"{count} of {total} iterations, as which the others are"
    return CarriedDependence(buffer, distance, f"what is stored is loaded {distance} iterations later at the soonest, in {over}")


def _least_distance(accesses: Sequence[_Access], values: dict[SSAValue, np.ndarray], count: int) -> int | None:
    """The least number of iterations from a store to a load of the same address; None where none is known."""
    found = [_addresses(access.entry, values, count) for access in accesses]
    if any(at is None for at in found):
        return None
    runs = np.concatenate([_runs(access.guards, values, count) for access in accesses])
    addresses = np.concatenate([at for at in found if at is not None])[runs]
    times = np.tile(np.arange(count), len(accesses))[runs]
    loads = np.repeat([not access.stores for access in accesses], count)[runs]
    # Loads before stores of the same iteration: what this iteration stores is no earlier one's.
    order = np.lexsort((~loads, times, addresses))
    addresses, times, loads = addresses[order], times[order], loads[order]
    last = np.maximum.accumulate(np.where(loads, -1, np.arange(len(addresses))))
    known = loads & (last >= 0)
    known[known] = addresses[last[known]] == addresses[known]
    return int((times[known] - times[last[known]]).min()) if known.any() else None


def _runs(guards: Sequence[IndexExpression], values: dict[SSAValue, np.ndarray], count: int) -> np.ndarray:
    """The iterations in which all guards hold; those that depend on anything else may."""
    holds = np.ones(count, dtype=bool)
    for guard in guards:
        value = guard.evaluate(values) if guard.variables() <= values.keys() else None
        if value is not None:
            holds &= np.asarray(value) != 0
    return holds


def _addresses(entry: Entry, values: dict[SSAValue, np.ndarray], count: int) -> np.ndarray | None:
    assert isinstance(entry.buffer.type, MemRefType)
    address = np.zeros(count, dtype=np.int64)
    for index, extent in zip(entry.indices, entry.buffer.type.get_shape(), strict=True):
        value = index.evaluate(values)
        if value is None:
            return None
        address = address * extent + value
    return address


def _moves_alike(entries: Sequence[Entry]) -> bool:
    """Whether all indices are the same sums up to constants: then the distance between two accesses is the same everywhere."""
    terms = {tuple(index.terms for index in entry.indices) for entry in entries}
    return len(terms) == 1 and not any(isinstance(term, Computed) for indices in terms for index in indices for term, _ in index)
