"""Proof obligations: what the two types of an edge have to satisfy, put to z3 as it stands.

An obligation is stated in the raw numbers of the types (`stc.iteration.nests`): nothing here is simplified, merged or restricted
first, so that a fault in a normal form or in an argument about loops is not shared. `Obligation.put` asks z3 for a counterexample.
That one thing exists for every other is stated without a quantifier: as many things as places, no two in one, leave none empty.

`Obligation.counted` enumerates both sides instead: to say who is right where z3 and another proof disagree.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import islice, product, zip_longest
from math import prod
from typing import Any, Protocol, TypeAlias

from stc.iteration.nests import Nest, entries, positions, tokens, visits
from stc.iteration.order import StreamOrder
from stc.iteration.proofs import Differs, spelled
from stc.iteration.size import Size, Symbol, static, symbols_in, value_at
from stc.iteration.solver import GaveUp, Query, value_of

CROSS_CHECK_RESOURCES = 4_000_000
"""What z3 may spend (its `rlimit`) on a question that another proof answers as well: under a second."""
MOST_COUNTED = 1 << 18
"""Obligations about more steps than these are not counted out."""


@dataclass(frozen=True)
class Holds:
    """There is no counterexample."""


@dataclass(frozen=True)
class Refuted:
    """A counterexample: a sentence that names a token and its coordinates."""

    witness: str

    def __str__(self) -> str:
        return self.witness


@dataclass(frozen=True)
class Undecided:
    """z3 gave up, or the obligation cannot be put to it."""

    reason: str

    def __str__(self) -> str:
        return self.reason


Answer: TypeAlias = Holds | Refuted | Undecided


class Obligation(Protocol):
    """A hashable statement about raw types."""

    def put(self) -> Answer:
        """z3's answer; GaveUp, or ValueError where the obligation has no form for it."""
        ...

    def counted(self) -> Answer:
        """The answer by enumeration; Undecided where that takes more than `MOST_COUNTED` steps."""
        ...


@dataclass(frozen=True)
class NoForm:
    """An obligation that has no form for z3, and why."""

    reason: str

    def put(self) -> Answer:
        return Undecided(self.reason)

    def counted(self) -> Answer:
        return Undecided(self.reason)


@lru_cache(maxsize=8192)
def answer(obligation: Obligation) -> Answer:
    """What z3 says of `obligation`; equal obligations are asked once."""
    try:
        return obligation.put()
    except (GaveUp, ValueError) as error:
        return Undecided(str(error))


# The same sequence --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Same:
    """Two nests have as many steps, of the same values: for every value of their symbols.

    With `parts` the second has one step for every `parts` steps of the first: its step t is step `parts` t + `number` there.
    `elements`: the shapes of a token on either side. `unit`: what a step is to a reader.
    """

    first: Nest
    second: Nest
    elements: tuple[tuple[int, ...], tuple[int, ...]] = ((), ())
    parts: int = 1
    number: int = 0
    unit: str = "tokens"

    def put(self) -> Answer:
        if self.elements[0] != self.elements[1]:
            return self._refuted(0, {})
        query = Query(self._symbols(), CROSS_CHECK_RESOURCES)
        counts = query.count(self.first), query.count(self.second)
        query.require(counts[0] != counts[1] * self.parts)
        if (model := query.model()) is not None:
            return self._refuted(min(model.of(counts[0]) // self.parts, model.of(counts[1])), query.values_in(model))
        query = Query(self._symbols(), CROSS_CHECK_RESOURCES)
        first, second = query.step("first", self.first), query.step("second", self.second)
        query.require(query.equal([first.number], [second.number.times(self.parts, self.number)]))
        query.require(query.differ(first.values, second.values))
        if (model := query.model()) is None:
            return Holds()
        return self._refuted(model.of(second.number), query.values_in(model))

    def counted(self) -> Answer:
        values = {symbol.name: symbol.maximum for symbol in self._symbols()}
        first, second = self.first.at(values), self.second.at(values)
        if max(first.count, second.count) > MOST_COUNTED:
            return Undecided("too many to count out")
        if self.elements[0] != self.elements[1]:
            return self._refuted(0, values)
        sides = islice(first.steps(), self.number, None, self.parts), second.steps()
        token = next((token for token, (there, here) in enumerate(zip_longest(*sides)) if there != here), None)
        return Holds() if token is None and first.count == second.count * self.parts else self._refuted(token or 0, values)

    def _symbols(self) -> tuple[Symbol, ...]:
        nests = (self.first, self.second)
        return symbols_in(size for nest in nests for size in (*nest.trips, *nest.start))

    def _refuted(self, token: int, values: dict[str, int]) -> Refuted:
        if self.elements[0] != self.elements[1]:
            return Refuted(str(Differs(token, None, None, self.elements)))
        there = self.first.at(values).numbered(token * self.parts + self.number)
        here = self.second.at(values).numbered(token)
        text = str(Differs(token, there, here, symbols=tuple(sorted(values.items()))))
        return Refuted(text if self.unit == "tokens" else f"{text} (counted in {self.unit})")


def same_tokens(source: StreamOrder, target: StreamOrder) -> Obligation:
    """Both orders are one sequence of tokens of one shape."""
    return Same(tokens(source), tokens(target), (source.element, target.element))


def same_positions(source: StreamOrder, target: StreamOrder) -> Obligation:
    """Each entry has one row-major position in either tensor, and tokens have as many entries: a reshape.

    ValueError where an extent other than the first is symbolic.
    """
    sizes = (source.element_count,), (target.element_count,)
    return Same(positions(source), positions(target), sizes, unit="entries")


@dataclass(frozen=True)
class SameEntries:
    """The tokens that memory holds, each once, are the same entries in turn, cut into tokens of any shape.

    `moves`: one side is a slice that has become a tensor of its own on the other, so that coordinates count from the first entry.
    """

    source: StreamOrder
    target: StreamOrder
    moves: bool

    def put(self) -> Answer:
        if self.moves and not any(_unfilled(order) is None for order in (self.source, self.target)):
            return Refuted("coordinates count from 0 on neither side")
        return self._same().put()

    def counted(self) -> Answer:
        return self._same().counted()

    def _same(self) -> Same:
        first, second = (entries(order).without_reuse() for order in (self.source, self.target))
        if self.moves:
            first, second = first.from_first(), second.from_first()
        return Same(first, second, unit="entries")


def stacked(part: StreamOrder, parts: int, full: StreamOrder) -> Obligation:
    """`full` has as many tokens, of the same shape, as `parts` streams in the order of `part`."""
    return Same(tokens(full).without_values(), tokens(part).without_values(), (full.element, part.element), parts)


# Parts --------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class SplitPart:
    """`part` is the tokens number, number + parts, ... of `full`: where they lie there, or from 0, as a tensor of its own."""

    full: StreamOrder
    part: StreamOrder
    number: int
    parts: int

    def put(self) -> Answer:
        if self._is_moved() and (fault := _unfilled(self.part)) is not None:
            return Refuted(f"counts from 0, but is no tensor of its own: {fault}")
        return self._same().put()

    def counted(self) -> Answer:
        return self._same().counted()

    def _same(self) -> Same:
        full = tokens(self.full)
        if self._is_moved():
            full = full.moved(tuple(-entry for entry in self._first()))
        return Same(full, tokens(self.part), (self.full.element, self.part.element), self.parts, self.number)

    def _is_moved(self) -> bool:
        return not any(tokens(self.part).start) and any(self._first())

    def _first(self) -> tuple[int, ...]:
        first = tokens(self.full).numbered(self.number)
        if first is None:
            raise ValueError(f"there is no token {self.number} to split")
        return first


@dataclass(frozen=True)
class Cover:
    """Boxes, each at an offset and of a shape, lie in a tensor of `shape`, disjoint, and leave nothing of it out."""

    shape: tuple[int, ...]
    boxes: tuple[tuple[tuple[int, ...], tuple[int, ...]], ...]

    def put(self) -> Answer:
        query = Query(resources=CROSS_CHECK_RESOURCES)
        entry = [query.anything(f"entry_{dimension}") for dimension in range(len(self.shape))]
        boxes = (((0,) * len(self.shape), self.shape), *self.boxes)
        inside, *held = (query.choose(self._is_in(query, entry, *box), query.integer(1), query.integer(0)) for box in boxes)
        query.require(query.sum(held) != inside)
        model = query.model()
        if model is None:
            return Holds()
        return Refuted(f"the entry at {spelled(tuple(map(model.of, entry)))} is in {model.of(query.sum(held))} slices")

    @staticmethod
    def _is_in(query: Query, entry: Sequence[Any], offset: tuple[int, ...], shape: tuple[int, ...]) -> Any:
        sides = zip(entry, offset, shape, strict=True)
        return query.all(*(query.all(at >= start, at < start + extent) for at, start, extent in sides))

    def counted(self) -> Answer:
        if prod(self.shape) > MOST_COUNTED:
            return Undecided("too many to count out")
        held = Counter(entry for offset, shape in self.boxes for entry in _entries_of(offset, shape))
        every = set(_entries_of((0,) * len(self.shape), self.shape))
        wrong = next((entry for entry in sorted(every | held.keys()) if held[entry] != (entry in every)), None)
        return Holds() if wrong is None else Refuted(f"the entry at {spelled(wrong)} is in {held[wrong]} slices")


def _entries_of(offset: tuple[int, ...], shape: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    return product(*(range(start, start + extent) for start, extent in zip(offset, shape, strict=True)))


@dataclass(frozen=True)
class Concatenation:
    """`full` is the `parts`, which begin at `starts` of it, for all values of the symbols: each token of it is one of one part,
    where it lies there, and those of a part keep their order.

    That a token is in the other order is shown by where: at the same counters of all loops, but for the loop along which parts
    begin, whose counter is as much larger as the part begins later. z3 is asked whether that is wrong for any token.
    """

    full: StreamOrder
    parts: tuple[StreamOrder, ...]
    starts: tuple[tuple[Size, ...], ...]

    def put(self) -> Answer:
        for number, (part, start) in enumerate(zip(self.parts, self.starts, strict=True)):
            if part.element != self.full.element:
                return Refuted(str(Differs(0, None, None, (self.full.element, part.element))))
            for question in (self._misplaced, self._disordered, self._lost):
                query = self._query()
                question(query, part, start)
                if (model := query.model()) is not None:
                    return Refuted(f"part {number} where {query.values_in(model)}: {question.__name__.strip('_')} token")
        query = self._query()
        step = query.step("whole", tokens(self.full))
        held = [
            query.choose(self._is_in(query, step.values, part, start), query.integer(1), query.integer(0))
            for part, start in zip(self.parts, self.starts, strict=True)
        ]
        query.require(query.sum(held) != query.integer(1))
        if (model := query.model()) is not None:
            return Refuted(f"where {query.values_in(model)}, token {model.of(step.number)} is in {model.of(query.sum(held))} parts")
        return Holds()

    def counted(self) -> Answer:
        symbols = self._symbols()
        for values in product(*(range(symbol.maximum + 1) for symbol in symbols)):
            at = {symbol.name: value for symbol, value in zip(symbols, values, strict=True)}
            full, found = tokens(self.full).at(at), Counter[tuple[int, ...]]()
            if full.count * prod(symbol.maximum + 1 for symbol in symbols) > MOST_COUNTED:
                return Undecided("too many to count out")
            places = {step: number for number, step in enumerate(full.steps())}
            for part, start in zip(self.parts, self.starts, strict=True):
                nest = tokens(part).at(at).moved(tuple(value_at(size, at) for size in start))
                numbers = [places.get(step, -1) for step in nest.steps()]
                if numbers != sorted(numbers) or -1 in numbers:
                    return Refuted(f"where {at}, a part is in another order than the whole")
                found.update(nest.steps())
            if found != Counter(full.steps()):
                return Refuted(f"where {at}, the parts are not the whole")
        return Holds()

    def _query(self) -> Query:
        return Query(self._symbols(), resources=CROSS_CHECK_RESOURCES)

    def _symbols(self) -> tuple[Symbol, ...]:
        sizes = (size for order in (self.full, *self.parts) for size in order.sizes)
        return symbols_in([*sizes, *(size for start in self.starts for size in start)])

    def _misplaced(self, query: Query, part: StreamOrder, start: tuple[Size, ...]) -> None:
        """A token of the part is at no place of the whole, or at another one."""
        step = query.step("part", tokens(part))
        there = self._there(query, step.counters, part, start)
        moved = [value_of(value) + query.size(size) for value, size in zip(step.values, start, strict=True)]
        nest = tokens(self.full)
        inside = [query.all(at >= 0, at < query.size(trip)) for at, trip in zip(there, nest.trips, strict=True)]
        query.require(query.any(query.negated(query.all(*inside)), query.differ(query.values(nest, there), moved)))

    def _disordered(self, query: Query, part: StreamOrder, start: tuple[Size, ...]) -> None:
        """A token of the part comes behind a later one in the whole."""
        steps = [query.step(f"part{number}", tokens(part)) for number in range(2)]
        there = [replace(step, counters=self._there(query, step.counters, part, start)) for step in steps]
        query.require(query.precedes(*steps), query.negated(query.precedes(*there)))

    def _lost(self, query: Query, part: StreamOrder, start: tuple[Size, ...]) -> None:
        """A token of the whole that lies in the part is none of its."""
        step = query.step("whole", tokens(self.full))
        here = self._here(query, step.counters, part, start)
        nest = tokens(part)
        inside = [query.all(at >= 0, at < query.size(trip)) for at, trip in zip(here, nest.trips, strict=True)]
        moved = [value_of(value) + query.size(size) for value, size in zip(query.values(nest, here), start, strict=True)]
        query.require(self._is_in(query, step.values, part, start))
        query.require(query.any(query.negated(query.all(*inside)), query.differ(step.values, moved)))

    def _is_in(self, query: Query, values: Sequence[Any], part: StreamOrder, start: tuple[Size, ...]) -> Any:
        sides = zip(values, start, part.shape, strict=True)
        return query.all(
            *(query.all(value_of(v) >= query.size(s), value_of(v) < query.size(s) + query.size(e)) for v, s, e in sides)
        )

    def _there(self, query: Query, counters: Sequence[Any], part: StreamOrder, start: tuple[Size, ...]) -> tuple[Any, ...]:
        """Where a token of the part is in the whole: the counters there."""
        own = list(counters)
        found: list[Any] = []
        for loop, dimension in enumerate(self.full.dimension_of_loop):
            counter = query.integer(0) if loop == self._missing(part) else own.pop(0)
            begin = 0 if dimension is None or start[dimension] == 0 else query.size(start[dimension])
            found.append(counter + begin)
        return tuple(found)

    def _here(self, query: Query, counters: Sequence[Any], part: StreamOrder, start: tuple[Size, ...]) -> tuple[Any, ...]:
        """The inverse of `_there`."""
        found: list[Any] = []
        for loop, (counter, dimension) in enumerate(zip(counters, self.full.dimension_of_loop, strict=True)):
            begin = 0 if dimension is None or start[dimension] == 0 else query.size(start[dimension])
            if loop != self._missing(part):
                found.append(counter - begin)
        return tuple(found)

    def _missing(self, part: StreamOrder) -> int | None:
        """The loop of the whole that a part of one entry does not have; ValueError where more are missing."""
        if len(part.loops) == len(self.full.loops):
            return None
        along = {dimension for start in self.starts for dimension, size in enumerate(start) if size != 0}
        loops = [loop for loop, dimension in enumerate(self.full.dimension_of_loop) if dimension in along]
        if len(part.loops) != len(self.full.loops) - 1 or len(loops) != 1:
            raise ValueError("the parts have other loops than the whole")
        return loops[0]


@dataclass(frozen=True)
class Disjoint:
    """No entry that the tokens of `read` have is one of those of `written`, moved by `offset`: for all values of the symbols."""

    read: StreamOrder
    written: StreamOrder
    offset: tuple[Size, ...]

    def put(self) -> Answer:
        query = Query(self._symbols(), resources=CROSS_CHECK_RESOURCES)
        read, written = query.step("read", tokens(self.read)), query.step("written", tokens(self.written))
        starts = [value_of(value) + query.size(size) for value, size in zip(written.values, self.offset, strict=True)]
        sides = zip(map(value_of, read.values), starts, self.read.element, self.written.element, strict=True)
        query.require(*(query.all(there < here + width, here < there + own) for there, here, own, width in sides))
        if (model := query.model()) is None:
            return Holds()
        return self._refuted([model.of(start) for start in starts], query.values_in(model))

    def counted(self) -> Answer:
        symbols = self._symbols()
        for values in product(*(range(symbol.maximum + 1) for symbol in symbols)):
            at = {symbol.name: value for symbol, value in zip(symbols, values, strict=True)}
            read, written = tokens(self.read).at(at), tokens(self.written).at(at)
            if read.count * written.count * prod(symbol.maximum + 1 for symbol in symbols) > MOST_COUNTED:
                return Undecided("too many to count out")
            by = tuple(value_at(size, at) for size in self.offset)
            entries_read = {entry for step in read.steps() for entry in _entries_of(step, self.read.element)}
            for step in written.moved(by).steps():
                if not entries_read.isdisjoint(_entries_of(step, self.written.element)):
                    return self._refuted(step, at)
        return Holds()

    def _symbols(self) -> tuple[Symbol, ...]:
        return symbols_in([*self.read.sizes, *self.written.sizes, *self.offset])

    @staticmethod
    def _refuted(token: Sequence[int], values: dict[str, int]) -> Refuted:
        where = ", ".join(f"{name} = {value}" for name, value in values.items())
        return Refuted(f"{f'where {where}, ' if where else ''}the token written at {spelled(tuple(token))} is read too")


@dataclass(frozen=True)
class Slice:
    """`part` is the tokens of `full` that lie in its slice at `offset`, in their order, at coordinates of the slice.

    Both visit each place of a grid (multiples of the element) once, but for temporal reuse; the slice's places, moved by `offset`,
    are places of the whole; as many tokens lie there on either side. Then each token of the slice is one of the whole, none is left
    out, and what remains is that their positions in the whole are strictly increasing. Static sizes.
    """

    full: StreamOrder
    part: StreamOrder
    offset: tuple[int, ...]

    def put(self) -> Answer:
        if (misplaced := self._misplaced()) is not None:
            return misplaced
        if (fault := _unfilled(self.full)) is not None:
            return Undecided(f"the whole is no grid: {fault}")
        if (fault := _unfilled(self.part)) is not None:
            return Refuted(f"in the slice, {fault}")
        query = Query(resources=CROSS_CHECK_RESOURCES)
        there, here = ([query.step(f"{side}{n}", nest) for n in range(2)] for side, nest in self._sides())
        for full, part in zip(there, here, strict=True):
            query.require(query.equal(full.values, part.values))
        query.require(query.precedes(*here), query.negated(query.precedes(*there)))
        model = query.model()
        if model is None:
            return Holds()
        first, second = (f"token {model.of(p.number)} is token {model.of(w.number)}" for w, p in zip(there, here, strict=True))
        return Refuted(f"the slice has another order than the whole: its {first} there, its later {second}")

    def counted(self) -> Answer:
        (_, full), (_, part) = self._sides()
        if max(full.count, part.count) > MOST_COUNTED:
            return Undecided("too many to count out")
        inside = (step for step in full.steps() if self._is_inside(step))
        for token, (there, here) in enumerate(zip_longest(inside, part.steps())):
            if there != here:
                expected, found = (None if step is None else self._own(step) for step in (there, here))
                return Refuted(str(Differs(token, expected, found)))
        return Holds()

    def _sides(self) -> tuple[tuple[str, Nest], tuple[str, Nest]]:
        return ("whole", visits(self.full)), ("part", visits(self.part).moved((*self.offset, 0)))

    def _is_inside(self, step: tuple[int, ...]) -> bool:
        return all(0 <= entry < extent for entry, extent in zip(self._own(step), self.part.static_shape, strict=True))

    def _own(self, step: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(entry - start for entry, start in zip(step, self.offset, strict=False))

    def _misplaced(self) -> Answer | None:
        """What is wrong with shapes, offset and the number of tokens."""
        if self.full.element != self.part.element:
            return Refuted(str(Differs(0, None, None, (self.full.element, self.part.element))))
        for start, extent, all_of_it, element in zip(
            self.offset, self.part.static_shape, self.full.static_shape, self.full.element, strict=True
        ):
            if start < 0 or start + extent > all_of_it or start % element:
                last = start + extent - 1
                return Refuted(f"entries {start} to {last} are no slice of {all_of_it} entries in tokens of {element}")
        there = _places(self.part) * prod(static(self.full.loops[loop].trip) for loop in self.full.reuse_loops)
        if there != self.part.token_count:
            return Refuted(f"the slice has {self.part.token_count} tokens, but {there} of the whole lie in it")
        return None


def _places(order: StreamOrder) -> int:
    """Tokens that fill the tensor of `order` once."""
    return prod(extent // element for extent, element in zip(order.static_shape, order.element, strict=True))


def _unfilled(order: StreamOrder) -> str | None:
    """Why the tokens of `order` do not visit each multiple of the element once, but for temporal reuse; None where they do.

    By the pigeonhole principle: they lie at multiples of the element, no two at one in one visit, and are as many. ValueError
    where sizes are symbolic.
    """
    reused = prod(static(order.loops[loop].trip) for loop in order.reuse_loops)
    if order.is_empty and _places(order):
        return f"no token visits any of {_places(order)} places"
    if order.token_count != _places(order) * reused:
        return f"{order.token_count} tokens visit {_places(order)} places {reused} times"
    query = Query(resources=CROSS_CHECK_RESOURCES)
    first, second = (query.step(name, visits(order)) for name in ("first", "second"))
    off = query.any(*(value.value % element != 0 for value, element in zip(first.values[:-1], order.element, strict=True)))
    query.require(query.any(off, query.all(query.precedes(first, second), query.equal(first.values, second.values))))
    model = query.model()
    if model is None:
        return None
    place = spelled(tuple(model.of(value) for value in first.values[:-1]))
    return f"tokens {model.of(first.number)} and {model.of(second.number)} are at {place} and not both at places of their own"
