"""What iterations of a pipelined loop load that earlier ones stored, proved for the vendor's tool, which proves less.

A tool that cannot tell how far apart two accesses to an array are takes them for neighbours: then a sum is not added to again
before it is stored, however many iterations there are in between.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from xdsl.dialects import memref, scf
from xdsl.dialects.builtin import MemRefType
from xdsl.ir import Block, Operation, SSAValue

from stc.analysis.index_expressions import IndexExpression
from stc.analysis.loop_schedules import Entry
from stc.analysis.loops import constant_bounds, trip_count
from stc.analysis.port_pressure import accessed_entries
from stc.analysis.recurrences import flattened_nest, is_computed_from, iterations
from stc.iteration.index_expressions import Computed

MOST_ACCESSES = 1 << 17
"""Accesses of a nest that are enumerated: beyond, two steps of the loop outside stand for all, where indices are sums alone."""


@dataclass(frozen=True)
class CarriedDependence:
    """Of all that iterations load from `buffer`, nothing was stored by one of the `distance` - 1 iterations before; None: by none
    of this run of the loop. `proof` is a sentence: what holds, and why."""

    buffer: SSAValue
    distance: int | None
    proof: str


def carried_dependences(loop: scf.ForOp) -> Iterator[CarriedDependence]:
    """What is proved, and worth saying, of the arrays of the task that `loop` both loads from and stores to."""
    accesses: dict[SSAValue, tuple[set[Entry], set[Entry]]] = {}
    for op, entry in accessed_entries(loop.body.block, {}):
        if isinstance(entry.buffer.owner, memref.AllocOp):
            accesses.setdefault(entry.buffer, (set(), set()))[op.results == ()].add(entry)
    for buffer, (loaded, stored) in accesses.items():
        if loaded and stored and (found := _dependence(loop, buffer, list(stored), list(loaded))) is not None:
            yield found


def _dependence(loop: scf.ForOp, buffer: SSAValue, stored: Sequence[Entry], loaded: Sequence[Entry]) -> CarriedDependence | None:
    nest = flattened_nest(loop)
    if (apart := _dimension_apart(nest, stored, loaded)) is not None:
        what = f"index {apart + 1} of what is stored is never that of what is loaded"
        return CarriedDependence(buffer, None, f"no iteration loads what one stored, since {what}")
    if not all(is_computed_from(nest, store, load) for store in stored for load in loaded):
        return None
    values, count = iterations(nest, max(1, MOST_ACCESSES // (len(stored) + len(loaded))))
    total = int(np.prod([trip_count(around) for around in nest]))
    if count < total and not _moves_alike([*stored, *loaded]):
        return None
    distance = _least_distance(stored, loaded, values, count)
    if distance is None or distance < 2:
        return None
    over = f"all {total} iterations" if count == total else f"{count} of {total} iterations, as which the others are"
    return CarriedDependence(buffer, distance, f"what is stored is loaded {distance} iterations later at the soonest, in {over}")


def _least_distance(
    stored: Sequence[Entry], loaded: Sequence[Entry], values: dict[SSAValue, np.ndarray], count: int
) -> int | None:
    """The least number of iterations from a store to a load of the same address; None where none is known."""
    found = [_addresses(entry, values, count) for entry in (*stored, *loaded)]
    if any(at is None for at in found):
        return None
    addresses = np.concatenate([at for at in found if at is not None])
    times = np.tile(np.arange(count), len(stored) + len(loaded))
    loads = np.arange(len(addresses)) >= len(stored) * count
    # Loads before stores of the same iteration: what this iteration stores is no earlier one's.
    order = np.lexsort((~loads, times, addresses))
    addresses, times, loads = addresses[order], times[order], loads[order]
    last = np.maximum.accumulate(np.where(loads, -1, np.arange(len(addresses))))
    known = loads & (last >= 0)
    known[known] = addresses[last[known]] == addresses[known]
    return int((times[known] - times[last[known]]).min()) if known.any() else None


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


def _dimension_apart(nest: Sequence[scf.ForOp], stored: Sequence[Entry], loaded: Sequence[Entry]) -> int | None:
    """A dimension along which no index of `stored` is one of `loaded` in the same run of `nest`, None where there is none."""
    for dimension in range(len(stored[0].indices)):
        sides = [{entry.indices[dimension] for entry in entries} for entries in (stored, loaded)]
        variables = set[SSAValue]().union(*(index.variables() for side in sides for index in side))
        ranges = [_range_outside(variable, nest[0]) for variable in variables]
        if len(ranges) != 1 or ranges[0] is None:
            continue
        values = {next(iter(variables)): ranges[0]}
        if not any(_ever_meet(store, load, values) for store in sides[0] for load in sides[1]):
            return dimension
    return None


def _ever_meet(store: IndexExpression, load: IndexExpression, values: dict[SSAValue, np.ndarray]) -> bool:
    first, second = store.evaluate(values), load.evaluate(values)
    return first is None or second is None or bool(np.any(np.equal(first, second)))


def _range_outside(variable: SSAValue, root: Operation) -> np.ndarray | None:
    """All values of an induction variable of a loop around `root`, None of anything else."""
    loop = variable.owner.parent_op() if isinstance(variable.owner, Block) else None
    if not isinstance(loop, scf.ForOp) or variable is not loop.body.block.args[0] or not loop.is_ancestor(root) or loop is root:
        return None
    bounds = constant_bounds(loop)
    return np.arange(bounds.lower, bounds.upper, bounds.step) if bounds is not None else None
