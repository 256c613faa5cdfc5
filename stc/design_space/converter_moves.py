"""Where the order of a stream changes: before an element-wise computation or after it, by what costs less memory.

An element-wise computation may go through its loops in any order and in tiles of any size, so a converter in front of it may as
well stand behind it. Behind is better where several inputs would be converted but there is one output, where the output's entries
are narrower, or where the converter meets another that undoes it; in front is better where an input is a smaller tensor that is
broadcast.

A move gives some computations in a row another plan: one of them follows an order that one of its streams has or is wanted in,
its neighbours follow it. A move pays where it lowers the bytes of all converters (ping-pong included), and still does with the
tiles of the computations added: larger tiles are no gain, and smaller tiles alone are no reason to move. The move that leaves least
is made, as long as there is one; each lowers the sum, so that this ends.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

from stc.design_space.converter_trees import conversion
from stc.design_space.orders import Computation, LoopPlan, Operand, input_order, output_order
from stc.design_space.tiling import default_unroll
from stc.iteration.layout_orders import nesting
from stc.iteration.normal_form import normal_form
from stc.iteration.order import StreamOrder

LONGEST_ROW = 4
"""The most computations in a row that move together."""


@dataclass(frozen=True)
class MovingTask:
    """An element-wise computation with its present plan. It has one output, which has all of its loops; `lanes` of a tile are
    computed at once."""

    computation: Computation
    plan: LoopPlan
    lanes: int

    @property
    def output(self) -> Operand:
        return self.computation.outputs[0]


@dataclass(frozen=True)
class Network:
    """The streams of a kernel, by keys of tensors.

    `tasks` by name, producers before consumers. `made`: the order of each tensor that comes from elsewhere, `entry_bytes` of each
    tensor; `required`: for each tensor the orders in which others read it. `obliging`: inputs of the kernel with one reader, which
    come in whatever order that wants.
    """

    tasks: Mapping[str, MovingTask]
    made: Mapping[Any, StreamOrder]
    required: Mapping[Any, tuple[StreamOrder, ...]]
    entry_bytes: Mapping[Any, int]
    obliging: frozenset[object] = frozenset()


Plans = Mapping[str, LoopPlan]
"""A plan for each task by name."""


def cheapest_plans(network: Network) -> dict[str, LoopPlan]:
    """The plan of every task after all moves that pay."""
    plans = {name: task.plan for name, task in network.tasks.items()}
    cost = memory_cost(network, plans)
    while True:
        found = [(memory_cost(network, plans | move), move) for move in _moves(network, plans)]
        paying = [entry for entry in found if entry[0].converters < cost.converters and entry[0].total < cost.total]
        if not paying:
            return plans
        cost, move = min(paying, key=lambda entry: (entry[0].total, entry[0].converters))
        plans |= move


@dataclass(frozen=True)
class MemoryCost:
    """Bytes of the converters of all streams that a task makes or reads, and of the tasks' tiles."""

    converters: int
    tiles: int

    @property
    def total(self) -> int:
        return self.converters + self.tiles


def memory_cost(network: Network, plans: Plans) -> MemoryCost:
    """What a network costs when its tasks have these plans."""
    made = dict(network.made)
    required = {tensor: set(map(normal_form, orders)) for tensor, orders in network.required.items()}
    tiles = 0
    for name, task in network.tasks.items():
        made[task.output.tensor] = _output(task, plans[name])
        for operand in task.computation.inputs:
            order = _input(task, plans[name], operand)
            required.setdefault(operand.tensor, set()).add(normal_form(order))
            tiles += order.element_count * operand.entry_bytes
        tiles += made[task.output.tensor].element_count * task.output.entry_bytes
    converters = sum(
        conversion(made[tensor], order).entries * network.entry_bytes[tensor]
        for tensor, orders in required.items()
        if tensor not in network.obliging and tensor in made
        for order in orders
    )
    return MemoryCost(converters, tiles)


def _output(task: MovingTask, plan: LoopPlan) -> StreamOrder:
    return output_order(task.computation, plan.tile, plan.order, task.output)


def _input(task: MovingTask, plan: LoopPlan, operand: Operand) -> StreamOrder:
    return input_order(task.computation, plan.tile, plan.order, operand)


# Moves ----------------------------------------------------------------------------------------------------------------


def _moves(network: Network, plans: Plans) -> Iterator[dict[str, LoopPlan]]:
    """New plans for tasks in a row, for every order that one of them might follow."""
    for row in _rows(network):
        for position, name in enumerate(row):
            task = network.tasks[name]
            for operand in (*task.computation.inputs, task.output):
                for order in _orders_near(network, plans, operand.tensor):
                    move = _follow_along(network, plans, row, position, operand, order)
                    if move is not None and any(plans[moved] != plan for moved, plan in move.items()):
                        yield move


def _rows(network: Network) -> Iterator[tuple[str, ...]]:
    """Tasks of which each but the last has the next as its only reader."""
    for first in network.tasks:
        row = (first,)
        yield row
        while len(row) < LONGEST_ROW and (follower := _only_reader(network, network.tasks[row[-1]].output.tensor)) is not None:
            row = (*row, follower)
            yield row


def _only_reader(network: Network, tensor: object) -> str | None:
    readers = [name for name, task in network.tasks.items() for operand in task.computation.inputs if operand.tensor == tensor]
    return readers[0] if len(readers) == 1 and not network.required.get(tensor) else None


def _orders_near(network: Network, plans: Plans, tensor: object) -> list[StreamOrder]:
    """The orders in which a tensor comes and is wanted now."""
    found = list(network.required.get(tensor, ()))
    if tensor in network.made:
        found.append(network.made[tensor])
    for name, task in network.tasks.items():
        if task.output.tensor == tensor:
            found.append(_output(task, plans[name]))
        found += [_input(task, plans[name], operand) for operand in task.computation.inputs if operand.tensor == tensor]
    return list(dict.fromkeys(normal_form(order.without_reuse()) for order in found))


def _follow_along(
    network: Network, plans: Plans, row: Sequence[str], position: int, operand: Operand, order: StreamOrder
) -> dict[str, LoopPlan] | None:
    """Plans by which task `position` of a row follows the order of one operand, and the others follow it; None where one cannot."""
    move: dict[str, LoopPlan] = {}

    def set_plan(name: str, operand: Operand, order: StreamOrder) -> bool:
        plan = followed(network.tasks[name], plans[name], operand, order, network.obliging)
        if plan is not None:
            move[name] = plan
        return plan is not None

    if not set_plan(row[position], operand, order):
        return None
    for before, name in zip(row[position:], row[position + 1 :], strict=False):
        made = network.tasks[before]
        if not set_plan(name, _operand_of(network.tasks[name], made.output.tensor), _output(made, move[before])):
            return None
    for after, name in zip(row[position::-1], row[:position][::-1], strict=False):
        reader = network.tasks[after]
        read = _operand_of(reader, network.tasks[name].output.tensor)
        if not set_plan(name, network.tasks[name].output, _input(reader, move[after], read)):
            return None
    return move


def _operand_of(task: MovingTask, tensor: object) -> Operand:
    return next(operand for operand in task.computation.inputs if operand.tensor == tensor)


def followed(
    task: MovingTask, plan: LoopPlan, operand: Operand, order: StreamOrder, obliging: frozenset[object] = frozenset()
) -> LoopPlan | None:
    """`plan` changed so that `operand` streams in `order` as far as it goes: its tiles, its loops outside, the others as before.

    None where a dimension has several loops, where fewer points would be computed at once, and where an input of the kernel would
    be read more often.
    """
    if nesting(order) is None:
        return None
    tile = list(plan.tile)
    for loop, extent in zip(operand.dims, order.element, strict=True):
        tile[loop] = extent
    streamed = [operand.dims[dimension] for dimension in order.dimension_of_loop if dimension is not None]
    new = LoopPlan(tuple(tile), tuple(dict.fromkeys((*streamed, *plan.order))))
    if prod(unroll_of(task, new)) < prod(unroll_of(task, plan)):
        return None
    loaded = [read for read in task.computation.inputs if read.tensor in obliging]
    if any(_entries_read(task, new, read) > _entries_read(task, plan, read) for read in loaded):
        return None
    return new


def _entries_read(task: MovingTask, plan: LoopPlan, operand: Operand) -> int:
    """Entries of an input that are read in all, temporal reuse included."""
    order = _input(task, plan, operand)
    return order.token_count * order.element_count


def unroll_of(task: MovingTask, plan: LoopPlan) -> tuple[int, ...]:
    """The unroll factors that go with a plan."""
    dims = [operand.dims for operand in (*task.computation.inputs, *task.computation.outputs)]
    return default_unroll(plan.tile, (), dims, task.lanes)
