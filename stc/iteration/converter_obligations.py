"""What a converter has to satisfy, put to z3 from its raw types: what `stc.iteration.converter_proofs` says of any two entries.

1. Both sides' shared loops visit the same bases in the same order.
2. Every address lies within the buffer, and in a shared iteration two coordinates never have one address.
3. Each entry of each token that leaves was stored, in this shared iteration, at the address it is loaded from. That something was
   stored at an address follows from counting: the entries that arrive are as many as the block has addresses, each at another.
4. In a line buffer, when a tile is sent each of its lines has been received, and none received since has taken its place.

Where `converter_proofs` argues dimension by dimension, with digits in normal form, nothing of that is used here: a question is
about the counters of all loops of two whole tokens. The addresses are those that the lowering stores to and loads from
(`block_order`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any

from stc.iteration.converter import block_order
from stc.iteration.line_buffer import LineSchedule, LineStep
from stc.iteration.nests import Nest, entries, tokens
from stc.iteration.order import StreamOrder
from stc.iteration.proof_obligations import CROSS_CHECK_RESOURCES, MOST_COUNTED, Answer, Holds, Refuted, Same, Undecided
from stc.iteration.proofs import spelled
from stc.iteration.size import Symbol, minimum, static, symbols_in
from stc.iteration.solver import Model, Query


@dataclass(frozen=True)
class Conversion:
    """A converter from `source` to `target` through blocks of `buffer_shape`; with `window` the line buffer of `schedule`."""

    source: StreamOrder
    target: StreamOrder
    shared: int
    buffer_shape: tuple[int, ...]
    blocks: int
    window: int | None = None
    schedule: LineSchedule | None = None

    def put(self) -> Answer:
        self._require_form()
        bases = Same(_bases(self.source, self.shared), _bases(self.target, self.shared)).put()
        if not isinstance(bases, Holds):
            return bases if isinstance(bases, Undecided) else Refuted(f"blocks of the two sides part, counted in blocks: {bases}")
        steps = [self._stored, self._sent]
        if self.window is not None:
            steps.append(self._lines)
        return next((found for step in steps if not isinstance(found := step(), Holds)), Holds())

    def counted(self) -> Answer:
        """The converter run token by token, for the largest values of its symbols."""
        values = {symbol.name: symbol.maximum for symbol in self._symbols()}
        source, target = self.source.at(values), self.target.at(values)
        if max(order.token_count * order.element_count for order in (source, target)) > MOST_COUNTED:
            return Undecided("too many to count out")
        fault = _run(source, target, self)
        return Holds() if fault is None else Refuted(fault)

    def _require_form(self) -> None:
        if not 0 <= self.shared <= min(len(self.source.loops), len(self.target.loops)):
            raise ValueError(f"there are no {self.shared} loops to share")
        if self.blocks < 1:
            raise ValueError(f"there are {self.blocks} blocks to acquire")
        if not self.source.rank == self.target.rank == len(self.buffer_shape):
            raise ValueError("source, target and buffer are of different ranks")
        if self.window is not None and (self.schedule is None or not 0 <= self.window < self.source.rank):
            raise ValueError("the line buffer has no schedule")

    # Questions ------------------------------------------------------------------------------------------------------------

    def _symbols(self) -> tuple[Symbol, ...]:
        return symbols_in((*self.source.sizes, *self.target.sizes))

    def _query(self) -> Query:
        return Query(self._symbols(), CROSS_CHECK_RESOURCES)

    def _stored(self) -> Answer:
        """Statement 2, and that each address of a block is stored to."""
        holds, _ = self._ask_about_storing(fills=True)
        if holds:
            return Holds()
        holds, fault = self._ask_about_storing(fills=False)
        return Undecided("the entries of a shared iteration do not fill a block") if holds else Refuted(fault)

    def _ask_about_storing(self, fills: bool) -> tuple[bool, str]:
        """Whether nothing is stored wrongly, else what is; with `fills` also whether an address determines the loops' counters, so
        that as many addresses are stored to as there are."""
        query = self._query()
        first, second = (_Entry(query, "source", self.source, self.shared, mark) for mark in ("", "_other"))
        extents = [self._extent(query, first, dimension) for dimension in range(self.source.rank)]
        outside = query.any(*(address.value >= extent for address, extent in zip(first.addresses, extents, strict=True)))
        alike = query.equal([first.iteration, *first.addresses], [second.iteration, *second.addresses])
        apart = query.differ(first.coordinates, second.coordinates)
        wrong = query.any(outside, query.all(alike, apart))
        if fills:
            gaps = query.any(*(a.value >= size for a, size in zip(first.addresses, first.block_sizes, strict=True)))
            wrong = query.any(wrong, gaps, query.all(alike, query.differ(first.visited, second.visited)))
        query.require(wrong)
        model = query.model()
        return (True, "") if model is None else (False, _stored_wrongly(model, first, second, outside))

    def _extent(self, query: Query, entry: _Entry, dimension: int) -> Any:
        return entry.block_sizes[dimension] if dimension == self.window else query.integer(self.buffer_shape[dimension])

    def _sent(self) -> Answer:
        """Statement 3."""
        if not isinstance(filled := self._filled(), Holds):
            return filled
        query = self._query()
        stored, sent = _Entry(query, "source", self.source, self.shared), _Entry(query, "target", self.target, self.shared)
        missing = query.any(*(a.value >= size for a, size in zip(sent.addresses, stored.block_sizes, strict=True)))
        alike = query.equal([stored.iteration, *stored.addresses], [sent.iteration, *sent.addresses])
        query.require(query.any(missing, query.all(alike, query.differ(stored.coordinates, sent.coordinates))))
        model = query.model()
        if model is None:
            return Holds()
        held = "was not received" if model.holds(missing) else f"holds {stored.at(model)}"
        return Refuted(f"{sent.named(model)} needs {sent.at(model)} at address {sent.address(model)}, which {held}")

    def _filled(self) -> Answer:
        """That something is stored wherever something is sent: the other questions are about an entry of either side."""
        query = self._query()
        sent = _Entry(query, "target", self.target, self.shared)
        idle = [loop.trip for loop in self.source.loops[self.shared :] if minimum(loop.trip) == 0]
        query.require(query.any(*(query.size(trip) == 0 for trip in idle)))
        model = query.model()
        return Holds() if model is None else Refuted(f"{sent.named(model)} is sent where nothing is stored")

    def _lines(self) -> Answer:
        """Statement 4."""
        assert self.window is not None and self.schedule is not None
        window, extent, schedule = self.window, self.buffer_shape[self.window], self.schedule
        arriving, leaving = (_tiles(order, self.shared, window) for order in (self.source, self.target))
        if (fault := _unscheduled(schedule, arriving.trip, leaving.trip, extent)) is not None:
            return Refuted(fault)
        query = self._query()
        stored, sent = _Entry(query, "source", self.source, self.shared), _Entry(query, "target", self.target, self.shared)
        line, other = sent.addresses[window].value, stored.addresses[window].value
        now, then = sent.counters[self.shared + leaving.loop], stored.counters[self.shared + arriving.loop]
        faults: list[Any] = [other < then * arriving.step, other >= (then + 1) * arriving.step]
        for moment in _moments(query, schedule):
            first = moment.received * arriving.step if moment.step.receives else moment.sent * leaving.step
            fault = query.any((first - moment.step.line) % extent != 0)
            if not moment.step.receives:
                lost = query.all(then < moment.received, other > line, (other - line) % extent == 0)
                late = line >= moment.received * arriving.step
                together = query.equal([now, stored.iteration], [moment.sent, sent.iteration])
                fault = query.any(fault, query.all(together, query.any(late, lost)))
            faults.append(fault)
        query.require(query.any(*faults, *self._wrapping(query, stored, sent, extent)))
        model = query.model()
        if model is None:
            return Holds()
        return Refuted(f"{sent.named(model)} needs {sent.at(model)}, which a window of {extent} lines does not keep for it")

    def _wrapping(self, query: Query, stored: _Entry, sent: _Entry, extent: int) -> Iterator[Any]:
        """A vector, which lies along the last dimension, that begins at the end of the window and goes on at its start."""
        if self.window != self.source.rank - 1:
            return
        for entry in (stored, sent):
            inside = entry.counters[-1]
            yield (entry.addresses[-1].value - inside) % extent + entry.order.element[-1] > extent


class _Entry:
    """Any one entry of any one token of a side: its coordinates, its address in the block, in which shared iteration it moves."""

    def __init__(self, query: Query, side: str, order: StreamOrder, shared: int, mark: str = ""):
        self.order, self._side = order, side
        entry = query.step(f"{side}{mark}", entries(order))
        self.counters, self.coordinates = entry.counters, entry.values
        loops, inside = self.counters[: len(order.loops)], self.counters[shared:]
        self.iteration = query.number(loops[:shared], [loop.trip for loop in order.loops[:shared]])
        self._number = query.number(loops, [loop.trip for loop in order.loops])
        block = entries(block_order(order, shared)).from_first()
        self.addresses = query.values(block, inside)
        driven = order.dimension_of_loop
        self.visited = [c for index, c in enumerate(self.counters) if index >= len(order.loops) or driven[index] is not None]
        self.block_sizes = [self._size(query, dimension, shared) for dimension in range(order.rank)]

    def _size(self, query: Query, dimension: int, shared: int) -> Any:
        """Entries of a dimension that move in a shared iteration, temporal reuse aside."""
        size = query.integer(self.order.element[dimension])
        for loop in self.order.loops_of(dimension, shared):
            size = size * query.size(self.order.loops[loop].trip)
        return size

    def at(self, model: Model) -> str:
        return spelled(tuple(model.of(value) for value in self.coordinates))

    def address(self, model: Model) -> str:
        return spelled(tuple(model.of(value) for value in self.addresses))

    def named(self, model: Model) -> str:
        return f"token {model.of(self._number)} of the {self._side}"


def _stored_wrongly(model: Model, first: _Entry, second: _Entry, outside: Any) -> str:
    what = f"{first.named(model)} stores {first.at(model)} at address {first.address(model)}"
    return f"{what}, outside of the buffer" if model.holds(outside) else f"{what}, where it has stored {second.at(model)}"


def _bases(order: StreamOrder, shared: int) -> Nest:
    """Where the part of the tensor begins that each shared iteration is for."""
    nest = tokens(order)
    return Nest(nest.trips[:shared], nest.strides[:shared], (0,) * order.rank)


# Line buffers -------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Tiles:
    """The loop, of those inside the shared ones, that moves from tile to tile: its index, iterations, and lines it advances by."""

    loop: int
    trip: int
    step: int


def _tiles(order: StreamOrder, shared: int, window: int) -> _Tiles:
    block = block_order(order, shared)
    outer = next((index for index, loop in enumerate(block.loops) if loop.trip != 1), None)
    if outer is None or block.dimension_of_loop[outer] != window:
        raise ValueError(f"a side does not move along dimension {window} from tile to tile")
    return _Tiles(outer, static(block.loops[outer].trip), block.loops[outer].step)


@dataclass(frozen=True)
class _Moment:
    """A step of a schedule, with the tiles received and sent before it."""

    step: LineStep
    received: Any
    sent: Any


def _moments(query: Query, schedule: LineSchedule) -> Iterator[_Moment]:
    """All steps of a schedule, those of the repeated part in any repetition."""
    turn = query.below("repetition", schedule.repeats) if schedule.repeats else query.integer(0)
    received, sent = query.integer(0), query.integer(0)
    for steps, repeats in ((schedule.before, 1), (schedule.body, schedule.repeats), (schedule.after, 1)):
        receives = sum(step.receives for step in steps)
        gone = turn if steps is schedule.body else query.integer(0)
        now = received + gone * receives, sent + gone * (len(steps) - receives)
        for step in steps if repeats else ():
            yield _Moment(step, *now)
            now = now[0] + int(step.receives), now[1] + int(not step.receives)
        received, sent = received + repeats * receives, sent + repeats * (len(steps) - receives)


def _unscheduled(schedule: LineSchedule, arriving: int, leaving: int, extent: int) -> str | None:
    """What is wrong with the number of steps or their lines, None where there is one step for each tile."""
    for receives, tiles, side in ((True, arriving, "source"), (False, leaving, "target")):
        parts = (schedule.before, 1), (schedule.body, schedule.repeats), (schedule.after, 1)
        steps = sum(repeats * sum(step.receives == receives for step in part) for part, repeats in parts)
        if steps != tiles:
            return f"the schedule has {steps} steps for the {tiles} tiles of the {side}"
    for step in (*schedule.before, *schedule.body, *schedule.after):
        if not 0 <= step.line < extent:
            return f"a tile is to lie at line {step.line} of a window of {extent} lines"
    return None


# Run token by token -------------------------------------------------------------------------------------------------------


def _run(source: StreamOrder, target: StreamOrder, obligation: Conversion) -> str | None:
    """The first fault of a converter that is run on coordinates instead of values, None where there is none (static sizes)."""
    if obligation.window is not None and obligation.schedule is not None:
        arriving, leaving = (_tiles(order, obligation.shared, obligation.window).trip for order in (source, target))
        if (fault := _unscheduled(obligation.schedule, arriving, leaving, obligation.buffer_shape[obligation.window])) is not None:
            return fault
    bases = [list(_bases(order, obligation.shared).steps()) for order in (source, target)]
    if bases[0] != bases[1]:
        return "blocks of the two sides part"
    sides = [_Moves(order, obligation) for order in (source, target)]
    for iteration in range(len(bases[0])):
        held: dict[tuple[int, ...], tuple[int, ...]] = {}
        for receives, tile, tiles in _turns(source, target, obligation):
            for token, place, coordinate in sides[0 if receives else 1].tile(iteration, tile, tiles):
                if receives:
                    stores = f"token {token} of the source stores {spelled(coordinate)}"
                    if any(a >= extent for a, extent in zip(place, obligation.buffer_shape, strict=True)):
                        return f"{stores} at {spelled(place)}, outside of the buffer"
                    if obligation.window is None and held.get(place, coordinate) != coordinate:
                        return f"{stores} over {spelled(held[place])}"
                    held[place] = coordinate
                elif held.get(place) != coordinate:
                    return f"token {token} of the target needs {spelled(coordinate)}, but finds {spelled(held.get(place))}"
    return None


def _turns(source: StreamOrder, target: StreamOrder, obligation: Conversion) -> Iterator[tuple[bool, int, int]]:
    """Whether tokens are received, which tile, and of how many: a block is one."""
    if obligation.window is None or obligation.schedule is None:
        yield True, 0, 1
        yield False, 0, 1
        return
    done = [0, 0]
    trips = [_tiles(order, obligation.shared, obligation.window).trip for order in (source, target)]
    for step in obligation.schedule:
        side = 0 if step.receives else 1
        yield step.receives, done[side], trips[side]
        done[side] += 1


class _Moves:
    """The entries of a side: token, address in the buffer, coordinate."""

    def __init__(self, order: StreamOrder, obligation: Conversion):
        self._order, self._obligation = order, obligation
        self._coordinates = list(tokens(order).steps())
        self._addresses = list(tokens(block_order(order, obligation.shared)).from_first().steps())

    def tile(self, iteration: int, tile: int, tiles: int) -> Iterator[tuple[int, tuple[int, ...], tuple[int, ...]]]:
        inside = len(self._addresses)
        for number in range(tile * inside // tiles, (tile + 1) * inside // tiles):
            token = iteration * inside + number
            for entry in product(*(range(extent) for extent in self._order.element)):
                place = [a + e for a, e in zip(self._addresses[number], entry, strict=True)]
                if (window := self._obligation.window) is not None:
                    place[window] %= self._obligation.buffer_shape[window]
                yield token, tuple(place), tuple(c + e for c, e in zip(self._coordinates[token], entry, strict=True))
