"""How long a graph of computations takes, where each begins with the first operands that others hand it.

Two points describe how a tensor comes to be: which part of its producer's time is over when its first entries leave, and when its
last do. Two more say what its reader does with them: it begins with the first, and has a part of its own time left when it has the
last. They follow from the orders of loops (`stc.design_space.overlap`); the cycles of each computation alone from how much of it
runs at once. FIFOs are taken to be deep enough for nobody to wait for a reader, which FIFO sizing sees to.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import NamedTuple


@dataclass(frozen=True)
class Dependence:
    """A computation reads what `producer` makes.

    `first`, `last`: parts of the producer's time that are over when the reader can begin, and when it has its last operand from
    there. `rest`: the part of the reader's own time that is left then. `outer`: how often the reader takes, one after the other,
    what each copy of the producer makes, where copies divide that otherwise than the reader; 0 where they do not. `fed`: how often
    the producer makes, one after the other, what each copy of the reader takes, where those divide that otherwise; 0 the same.
    """

    producer: str
    first: float
    last: float
    rest: float
    outer: int = 0
    fed: int = 0

    def rest_behind(self, copies: int) -> float:
        """The part of the reader's own time that is left when so many copies of the producer have made the last: all of them end at
        once, and the reader has but begun with what the first made last."""
        return max(self.rest, (1 - 1 / copies) / self.outer) if self.outer and copies > 1 else self.rest


class Span(NamedTuple):
    """`begin` and `end` of a computation. `until`: when it can go on with what copies hand it, or one of those before it, one after
    the other, since the last of these are there; `left`: the part of its own time that it has left then."""

    begin: float
    end: float
    until: float = 0.0
    left: float = 0.0


def _left_behind(each: Dependence, producer: Span, copies: int) -> tuple[float, float]:
    """When a reader can go on, and the part of its own time that is left then: with all but what the first of so many copies of the
    producer made, or with what that can go on with itself, as far as the reader takes it as it comes."""
    if each.outer and copies > 1:
        return producer.begin + each.last * (producer.end - producer.begin), each.rest_behind(copies)
    return producer.until, producer.left + each.rest * (1 - producer.left)


def _last_fed(each: Dependence, producer: Span, cycles: float, copies: int) -> float:
    """When the last of so many copies of a reader, which take `cycles` each, is over with what it is fed for the last time; 0 where
    they are not fed one after the other."""
    if copies == 1 or not each.fed:
        return 0.0
    return producer.begin + each.last * (1 - 1 / (copies * each.fed)) * (producer.end - producer.begin) + cycles / each.fed


def span(
    cycles: float,
    after: Iterable[Dependence],
    spans: Mapping[str, Span],
    copies: Mapping[str, int] = MappingProxyType({}),
    own: int = 1,
) -> Span:
    """Of a computation of `own` copies that takes `cycles` by itself, where those on whom it depends have `spans`, and are so many
    `copies`."""
    begin = end = latest = until = left = 0.0
    for each in after:
        producer = spans[each.producer]
        since, time = producer.begin, producer.end - producer.begin
        first, last = since + each.first * time, since + each.last * time + each.rest * cycles
        if first > begin:
            begin = first
        if each.fed:  # most are not, and it is asked often
            last = max(last, _last_fed(each, producer, cycles, own))
        if last > end:
            end = last
        count = copies.get(each.producer, 1) if each.outer else 1
        if count > 1 or producer.left:  # most have neither, and it is asked often
            then, rest = _left_behind(each, producer, count)
            if then + rest * cycles > latest:
                latest, until, left = then + rest * cycles, then, rest
    return Span(begin, max(end, latest, begin + cycles), until, left)


@dataclass(frozen=True)
class Makespan:
    """Begin and end of computations that take `cycles` by themselves, in topological order, and depend on others as in `after`.
    `copies`: of each, 1 where it is not named. `at_ports`: cycles that memory ports take for what several of them read, in turn.
    `known`: `spans` and `readers`, where they are known."""

    cycles: Mapping[str, int]
    after: Mapping[str, Sequence[Dependence]]
    copies: Mapping[str, int] = field(default_factory=dict[str, int])
    at_ports: int = 0
    known: tuple[Mapping[str, Span], Mapping[str, Sequence[str]]] | None = field(default=None, repr=False, compare=False)

    @cached_property
    def spans(self) -> Mapping[str, Span]:
        """By name."""
        if self.known is not None:
            return self.known[0]
        spans: dict[str, Span] = {}
        for name, cycles in self.cycles.items():
            spans[name] = span(cycles, self.after[name], spans, self.copies, self.copies.get(name, 1))
        return spans

    @cached_property
    def readers(self) -> Mapping[str, Sequence[str]]:
        """Which depend on each."""
        if self.known is not None:
            return self.known[1]
        readers: dict[str, list[str]] = {name: [] for name in self.after}
        for name, after in self.after.items():
            for each in after:
                readers[each.producer].append(name)
        return readers

    def changed(
        self, cycles: Mapping[str, int], copies: Mapping[str, int] = MappingProxyType({}), at_ports: int | None = None
    ) -> Makespan:
        """The same graph with other `cycles` and `copies` for some, and `at_ports`; only what these delay is computed anew."""
        at_ports = self.at_ports if at_ports is None else at_ports
        all_cycles, all_copies, spans = {**self.cycles, **cycles}, {**self.copies, **copies}, dict(self.spans)
        delayed = set(cycles)
        for name, count in copies.items():
            if count != self.copies.get(name, 1):
                delayed.update((name, *self.readers[name]))
        for name, after in self.after.items():
            if name not in delayed:
                continue
            if (new := span(all_cycles[name], after, spans, all_copies, all_copies.get(name, 1))) != spans[name]:
                spans[name] = new
                delayed.update(self.readers[name])
        return Makespan(all_cycles, self.after, all_copies, at_ports, (spans, self.readers))

    @cached_property
    def total(self) -> float:
        """Cycles until the last has ended, and ports have brought all."""
        return max(self.at_ports, max((each.end for each in self.spans.values()), default=0.0))

    @cached_property
    def critical(self) -> Sequence[str]:
        """Those whose cycles the total is made of, from the last backwards."""
        found: list[str] = []
        name = max(self.spans, key=lambda each: self.spans[each].end, default=None)
        while name is not None:
            found.append(name)
            name = self._waited_for(name)
        return found

    def _waited_for(self, name: str) -> str | None:
        """Whom `name` would have to have its operands from sooner, to end sooner."""
        begin, end, *_ = self.spans[name]
        is_late = end > begin + self.cycles[name]

        def bound(each: Dependence) -> float:
            producer, own = self.spans[each.producer], self.cycles[name]
            time = producer.end - producer.begin
            if not is_late:
                return producer.begin + each.first * time
            then, left = _left_behind(each, producer, self.copies.get(each.producer, 1))
            fed = _last_fed(each, producer, own, self.copies.get(name, 1))
            return max(producer.begin + each.last * time + each.rest * own, then + left * own, fed)

        return max(self.after[name], key=bound).producer if self.after[name] else None
