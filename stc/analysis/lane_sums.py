"""Sums of lanes: terms that the copies of an unrolled loop make at once, and add to one entry (`build-adder-trees`)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from xdsl.dialects import arith, memref, scf
from xdsl.dialects.builtin import AnyFloat, IntegerType
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.traits import Pure

from stc.analysis.loop_schedules import entry_of
from stc.analysis.loops import Bounds, constant_bounds, is_unrolled
from stc.analysis.operator_library import is_added_by_multiplier
from stc.design_space.adder_trees import chain_length
from stc.scalars.table import EXTREMES, ROWS

ADDED_IN_TREES = (arith.AddiOp, arith.AddfOp, *EXTREMES)
"""What a tree does with two numbers."""


@dataclass(frozen=True)
class LaneSum:
    """A nest of unrolled `loops`, outermost first, along one of which (`terms`) all that is done is `store`: sum[...] + `term`.

    `computed`: all operations of the nest in front of the sum, in order, those of outer loops included.
    """

    loops: tuple[scf.ForOp, ...]
    terms: scf.ForOp
    computed: tuple[Operation, ...]
    load: memref.LoadOp
    add: Operation
    store: memref.StoreOp

    @property
    def term(self) -> SSAValue:
        left, right = self.add.operands
        return right if left is self.load.res else left

    @property
    def kind(self) -> Attribute:
        """The type of the sum, and of its terms."""
        return self.add.results[0].type

    @property
    def count(self) -> int:
        """Terms that are there at once."""
        return trips_of(self.terms).trip

    @property
    def chain(self) -> int:
        """As many of them as are added up one after the other."""
        return chain_length(self.count, adds_in_dsp=is_added_by_multiplier(self.add))


def lane_sum(outermost: Operation) -> LaneSum | None:
    """The sum that the unrolled nest in `outermost` makes of terms that are there at once; None where it is none."""
    if not isinstance(outermost, scf.ForOp) or not is_unrolled(outermost) or _is_in_nest(outermost):
        return None
    nest = _unrolled_nest(outermost)
    if nest is None:
        return None
    loops, ops = nest
    match ops[-1] if ops else None:
        case memref.StoreOp() as store if isinstance(add := store.value.owner, ADDED_IN_TREES):
            load = next((side.owner for side in add.operands if _continues(side, store)), None)
        case _:
            return None
    others = [op for op in ops if op not in (load, add, store)]
    if not isinstance(load, memref.LoadOp) or not all(_is_computed(op) for op in others):
        return None
    if not (add.results[0].has_one_use() and load.res.has_one_use()) or not isinstance(add.results[0].type, IntegerType | AnyFloat):
        return None
    if any(isinstance(op, memref.LoadOp) and op.memref is store.memref for op in others):
        return None
    variables = {value for index in entry_of(store, {}).indices for value in index.variables()}
    along = [loop for loop in loops if loop.body.block.args[0] not in variables and trips_of(loop).trip > 1]
    if len(along) != 1 or trips_of(along[0]).lower != 0 or trips_of(along[0]).step != 1:
        return None
    lane = along[0].body.block.args[0]
    if any(lane in op.operands for op in behind([*store.indices, *load.indices], others)):
        return None  # an entry that is looked up for each lane
    return LaneSum(loops, along[0], tuple(others), load, add, store)


def _is_computed(op: Operation) -> bool:
    """Whether `op` changes nothing (an operation on scalars, which xDSL does not call pure in every case) or loads."""
    return type(op) in ROWS or op.has_trait(Pure) or isinstance(op, memref.LoadOp)


def _is_in_nest(loop: scf.ForOp) -> bool:
    around = loop.parent_op()
    return isinstance(around, scf.ForOp) and is_unrolled(around) and _unrolled_nest(around) is not None


def _unrolled_nest(outermost: scf.ForOp) -> tuple[tuple[scf.ForOp, ...], list[Operation]] | None:
    """The loops of a nest that is unrolled altogether, with nothing but pure operations around the innermost body, and what is
    computed in it, in order; None where it is no such nest."""
    loops, ops, loop = list[scf.ForOp](), list[Operation](), outermost
    while True:
        if not is_unrolled(loop) or loop.iter_args or constant_bounds(loop) is None:
            return None
        loops.append(loop)
        own = [op for op in loop.body.block.ops if not isinstance(op, scf.YieldOp)]
        inner = [op for op in own if isinstance(op, scf.ForOp)]
        ops += [op for op in own if op not in inner]
        if not inner:
            return tuple(loops), ops
        if len(inner) > 1 or not all(op.has_trait(Pure) for op in own if op not in inner):
            return None
        loop = inner[0]


def _continues(value: SSAValue, store: memref.StoreOp) -> bool:
    """Whether `value` is what the entry held to which `store` goes."""
    return isinstance(load := value.owner, memref.LoadOp) and entry_of(load, {}) == entry_of(store, {})


def trips_of(loop: scf.ForOp) -> Bounds:
    """The bounds of a loop of a nest that is unrolled."""
    bounds = constant_bounds(loop)
    assert bounds is not None
    return bounds


def behind(values: Sequence[SSAValue], among: Sequence[Operation]) -> Iterator[Operation]:
    """Those operations of `among` that `values` are computed from."""
    waiting = list(values)
    while waiting:
        if isinstance(op := waiting.pop().owner, Operation) and op in among:
            yield op
            waiting += op.operands
