"""How far computations overlap: what the orders of their loops say about when results leave, and when operands are needed."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod

from stc.design_space.makespan import Dependence
from stc.design_space.orders import Computation, LoopPlan, Operand, input_order
from stc.iteration.converter import infer_converter
from stc.iteration.normal_form import same_sequence
from stc.iteration.order import StreamOrder


@dataclass(frozen=True)
class Arrival:
    """A tensor that `producer` makes: the parts of its time that are over when the first and the last entries leave."""

    producer: str
    first: float
    last: float

    def of_slice(self, order: StreamOrder, shape: Sequence[int], offsets: Sequence[int], sizes: Sequence[int]) -> Arrival:
        """When a slice arrives of a tensor of `shape` that comes in `order`: between its first and its last entry along the
        outermost loop that moves through what it leaves out."""
        cut = [dim for dim, extent in enumerate(shape) if sizes[dim] < extent]
        outer = 1
        for number, loop in enumerate(order.loops):
            dimension = next((dim for dim in cut if number in order.coordinates[dim].loops), None)
            if dimension is not None:
                begin, end = offsets[dimension], offsets[dimension] + sizes[dimension]
                part = (self.last - self.first) / (outer * shape[dimension])
                return replace(self, first=self.first + begin * part, last=self.last - (shape[dimension] - end) * part)
            assert isinstance(loop.trip, int)
            outer *= loop.trip
        return self


def result_of(name: str, computation: Computation, plan: LoopPlan) -> Arrival:
    """When the results of a computation arrive: the first tile in the last iteration of each loop that reduces, the first of the
    others."""
    begin, share = _position(computation, plan, computation.reductions)
    return Arrival(name, begin + share, 1.0)


def dependences(
    computation: Computation, plan: LoopPlan, arrivals: Mapping[Hashable, Sequence[Arrival]]
) -> Iterator[Dependence]:
    """On whom a computation waits whose operands that others make arrive as in `arrivals`, in the orders that they have.

    What only changes each entry of a sum may become one task with it, in turn with the sum: only where that takes little longer
    (`stc.design_space.folding`), and is not counted.
    """
    for operand in computation.inputs:
        if operand.order is None or not arrivals.get(operand.tensor):
            continue
        held = _held(operand.order, input_order(computation, plan.tile, plan.order, operand))
        rest = 1.0 - _last_operand(computation, plan, operand)
        for each in arrivals[operand.tensor]:
            first = each.first + held * (each.last - each.first)
            yield Dependence(each.producer, first, each.last, rest)


def _held(order: StreamOrder, required: StreamOrder) -> float:
    """The part of a tensor that a converter between two orders holds before it sends anything on."""
    if same_sequence(order, required):
        return 0.0
    return prod(infer_converter(order, required).buffer_shape) / prod(order.static_shape)


def _last_operand(computation: Computation, plan: LoopPlan, operand: Operand) -> float:
    """The part of its time after which a computation reads the last tile of `operand` for the first time."""
    return _position(computation, plan, operand.dims)[0]


def _position(computation: Computation, plan: LoopPlan, last: Sequence[int]) -> tuple[float, float]:
    """Where in its time a computation begins the tile that is the last one in the loops `last`, the first in others; and what part
    a tile takes."""
    begin, share = 0.0, 1.0
    for loop in plan.order:
        trips = computation.extents[loop] // plan.tile[loop]
        share /= trips
        begin += (trips - 1) * share if loop in last else 0.0
    return begin, share
