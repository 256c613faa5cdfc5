"""Intensity-aware unrolling (docs/design/method.md section 4): within a budget, what is most worth it is sped up next."""

from __future__ import annotations

import heapq
import sys
from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property, partial
from itertools import islice
from math import inf
from typing import TypeAlias

from stc.design_space.makespan import Makespan
from stc.design_space.parallelism import (
    ONE_PORT,
    MemoryPorts,
    Parallelism,
    Work,
    adders_for_luts,
    begun_with,
    cycles_at_ports,
    divisors,
    dsps_of_adders,
    is_a_task,
    lane_counts,
    makespan_of,
    may_be,
    may_be_dealt,
    operators_of,
    shared_operators,
)
from stc.iteration.vectorize import largest_divisor
from stc.platforms.budget import Counts


def balanced_parallelism(
    works: Sequence[Work], most: Counts, port: Counts = ONE_PORT, *, leaves_rest: bool = False
) -> Mapping[str, Parallelism]:
    """Lanes, rows and copies for each of `works` within `most`, of which a memory port takes `port`, for the shortest interval.

    The computation with the most cycles left is sped up by the smallest step that it has, until none fits. What the others have
    more than that interval needs is taken back and spent once more. What is left in the end goes to the others in the same way, as
    long as a step gains `WORTH` of the interval; but for copies in LUTs, of which nobody gave a number to spend. With
    `leaves_rest` nobody has more than the interval needs. Rows and copies may want the same factors of a loop, and what was given
    to rows is not taken back for copies: of the search with rows and the one without, the faster.
    """
    _forget_steps()
    budget = _Budget(most, port)
    return min(_balanced_designs(works, budget, leaves_rest=leaves_rest), key=lambda state: state.interval).within(budget)


def shortest_parallelism(
    works: Sequence[Work], most: Counts, port: Counts = ONE_PORT, rank: int = 1
) -> Mapping[str, Parallelism]:
    """The same for the shortest makespan, of `works` in topological order.

    Beginning with several numbers of copies, and with what the best design of the shortest interval needs, the step that shortens
    it most for what it takes comes next, as long as twice the resources gain a tenth of it. Of all that was found, designs of the
    shortest interval among them, the fastest that fits; with `rank` 2 the second of those that differ, and so on to the last.
    """
    _forget_steps()
    budget = _Budget(most, port)
    balanced = _balanced_designs(works, budget)
    lean = _lean(min(balanced, key=lambda state: (not state.fits(budget), state.makespan.total)), budget)
    found = [*balanced, *(_shortest(start, budget) for start in (*_starts(works, budget), lean))]
    found.sort(key=lambda state: (not state.fits(budget), state.makespan.total, budget.share(state.counts(budget))))
    best, *others = found
    fitting = [best.within(budget)]
    for plan in (state.within(budget) for state in others if state.fits(budget)):
        if plan not in fitting:
            fitting.append(plan)
    return fitting[min(rank, len(fitting)) - 1]


@dataclass(frozen=True, eq=False)
class _Budget:
    most: Counts
    port: Counts

    def share(self, taken: Counts) -> float:
        """Parts of all resources that are `taken`, added up."""
        return sum(amount / most for amount, most in zip(taken, self.most, strict=True) if most)


UNLIMITED = _Budget(Counts(*len(Counts._fields) * [sys.maxsize]), ONE_PORT)


@dataclass(frozen=True)
class _State:
    """What was `chosen` for each of `works`, by `families` of one number of copies. `sharing`: those that have operators in common;
    `own`: what the others take, without memory ports. `adders`: DSPs of those that can be of LUTs. `before`: the makespan and the
    ports of another choice, which differs for the computations `differing`."""

    works: Mapping[str, Work]
    families: Mapping[int, Family]
    chosen: Mapping[str, Parallelism]
    sharing: Sequence[Work]
    own: Counts
    adders: Mapping[str, int]
    before: tuple[Makespan, MemoryPorts]
    differing: Collection[str] = ()
    counted: dict[_Budget, Counts] = field(default_factory=dict[_Budget, Counts], repr=False, compare=False)
    """What `counts` has said."""

    @classmethod
    def of(cls, works: Sequence[Work]) -> _State:
        """One point of each at once."""
        chosen = {work.name: begun_with(work) for work in works}
        before = makespan_of(works, chosen), MemoryPorts.of(works, chosen)
        sharing = [work for work in works if not work.is_alone]
        alone = [work for work in works if work.is_alone]
        families = {family: tuple(work for work in works if work.family == family) for family in {work.family for work in works}}
        own, adders = operators_of(alone, chosen), dsps_of_adders(works, chosen)
        return cls({work.name: work for work in works}, families, chosen, sharing, own, adders, before)

    def changed(self, changes: Mapping[str, Parallelism]) -> _State:
        """With what was chosen anew for some."""
        own = self.own
        for name, new in changes.items():
            work = self.works[name]
            own = own.plus(work.more(self.chosen[name], new)) if work.is_alone else own
        chosen, before = {**self.chosen, **changes}, (self.makespan, self.ports)
        adders = {**self.adders, **dsps_of_adders([self.works[name] for name in changes], changes)}
        return _State(self.works, self.families, chosen, self.sharing, own, adders, before, changes)

    @cached_property
    def operators(self) -> Counts:
        """What all of it takes without memory ports."""
        return self.own.plus(shared_operators(self.sharing, self.chosen))

    @cached_property
    def makespan(self) -> Makespan:
        """Cycles from the first operand to the last result."""
        cycles = {name: self.works[name].cycles(self.chosen[name]) for name in self.differing}
        at_ports = cycles_at_ports(self.sharing, self.chosen)
        return self.before[0].changed(cycles, {name: self.chosen[name].copies for name in self.differing}, at_ports)

    @cached_property
    def ports(self) -> MemoryPorts:
        """What it has of them."""
        return self.before[1].changed([self.works[name] for name in self.differing], self.chosen)

    @property
    def interval(self) -> int:
        """Cycles of the slowest computation."""
        return max(self.makespan.cycles.values(), default=0)

    def cycles(self, work: Work) -> int:
        return self.makespan.cycles[work.name]

    def counts(self, budget: _Budget) -> Counts:
        """All that it takes, with as many adders of LUTs as DSPs are short."""
        taken = self.counted.get(budget)
        if taken is None:
            taken = self.operators.plus(budget.port.times(self.ports.count))
            for name in self._in_luts(budget):
                taken = taken.plus(self.works[name].adders_in_luts.times(self.chosen[name].points))
            self.counted[budget] = taken
        return taken

    def within(self, budget: _Budget) -> Mapping[str, Parallelism]:
        """What was chosen, with adders of LUTs where DSPs are short."""
        return {**self.chosen, **{name: replace(self.chosen[name], adders_in_luts=True) for name in self._in_luts(budget)}}

    def _in_luts(self, budget: _Budget) -> Iterator[str]:
        short = self.operators.dsp - budget.most.dsp
        return adders_for_luts(self.adders, short) if short > 0 else iter(())

    def fits(self, budget: _Budget) -> bool:
        return self.counts(budget).fits(budget.most)


# For the interval -----------------------------------------------------------------------------------------------------

WORTH = 0.02
"""Part of the slowest's cycles that a computation beside it has to become shorter by, to be sped up.

Of a block of gpt2-tiny at 7 tokens, by the time model of FIFO sizing: 7,774 cycles on 1,101 DSPs with 0.1, 6,237 on 1,733 with
0.02, 5,810 on 4,293 with 0. So twice the resources gain more than a tenth down to it, and less beyond.
"""


def _balanced_designs(works: Sequence[Work], budget: _Budget, *, leaves_rest: bool = False) -> list[_State]:
    without_rows = [replace(work, row_extent=1, divides_rows=False) for work in works]
    return [_balanced(_State.of(some), budget, leaves_rest=leaves_rest) for some in (works, without_rows)]


def _balanced(start: _State, budget: _Budget, *, leaves_rest: bool) -> _State:
    state = _speed_up(start, budget, only_slowest=True)
    while (better := _speed_up(_relaxed(state), budget, only_slowest=True)).interval < state.interval:
        state = better
    return _relaxed(state) if leaves_rest else _speed_up(state, budget, only_slowest=False)


def _speed_up(state: _State, budget: _Budget, *, only_slowest: bool) -> _State:
    """Steps for the slowest computation, in turn; then, unless `only_slowest`, for those that have one that gains enough."""
    heap = [(-state.cycles(work), name) for name, work in state.works.items()]
    heapq.heapify(heap)
    while heap:
        cycles, name = heapq.heappop(heap)
        work = state.works[name]
        if -cycles != state.cycles(work):  # its family has become faster since
            heapq.heappush(heap, (-state.cycles(work), name))
            continue
        steps = _steps(state, work, copies_in_luts=only_slowest)
        if not only_slowest:
            gained = WORTH * state.interval
            steps = (step for step in steps if -cycles - step.cycles(work) >= gained)
        faster = next((step for step in steps if step.fits(budget)), None)
        if faster is not None:
            state = faster
            heapq.heappush(heap, (-state.cycles(work), name))
        elif only_slowest:
            break
    return state


def _relaxed(state: _State) -> _State:
    """The same interval with as few points at once as it takes, by as few ports and, of these, as few rows."""
    changes: dict[str, Parallelism] = {}
    for name, work in state.works.items():
        enough = (each for each in _fewer(work, state.chosen[name]) if work.cycles(each) <= state.interval)
        changes[name] = next(enough, state.chosen[name])
    return state.changed(changes)


@cache
def _fewer(work: Work, now: Parallelism) -> Sequence[Parallelism]:
    """What takes no more points at once than `now`, with as many copies: the fewest points first, of these the fewest ports, then
    rows."""
    lanes, rows = _possible(work, now.copies)
    possible = (
        replace(now, lanes=lane, rows=row, parts=part) for lane in lanes for row in rows for part in divisors(work.dealt_extent)
    )
    fewer = (each for each in possible if each.points <= now.points and may_be(work, each))
    return tuple(sorted(fewer, key=lambda each: (each.points, work.ports(each), each.rows)))


# For the makespan -----------------------------------------------------------------------------------------------------

LEAST_GAIN = 0.1
"""Part of the makespan that twice the resources have to gain, for the search to go on."""

MOST_COPIES = 8
"""Copies of everything that is begun with."""

MOST_COPY_STEPS = 2
"""Numbers of copies that are tried at a time."""

LEAST_EXCHANGE = 0.01
"""Part of the makespan that it has to gain, if one computation is to be sped up for others to be slowed down."""

MOST_EXCHANGES = 8
"""Steps, those that gain most, for which it is tried whether others can give them room."""

MOST_PARTNERS = 6
"""Computations with which one is sped up together that gains little alone, since they overlap it."""


def _starts(works: Sequence[Work], budget: _Budget) -> Iterator[_State]:
    """One point of each copy, with one copy of everything, two, four, ... as far as families can be divided."""
    copies, previous = 1, None
    while copies <= MOST_COPIES:
        state = _State.of(works)
        for work in works:
            family = state.families[work.family]
            now = [state.chosen[each.name] for each in family]
            state = state.changed(_copied(family, now, largest_divisor(work.divided_extent, copies)) or {})
        if state.chosen != previous and state.fits(budget):
            yield state
        previous, copies = state.chosen, 2 * copies


def _shortest(state: _State, budget: _Budget) -> _State:
    """Steps for the makespan as long as they are worth it; what is not needed for it is taken back, and spent once more; in the end
    one computation gives others what they can do more with."""
    while True:
        faster = state
        while (step := _best_step(faster, budget)) is not None:
            faster = step
        faster = _lean(faster, budget)
        if faster.makespan.total >= state.makespan.total:
            faster = min(_exchanges(state, budget), key=lambda each: each.makespan.total, default=state)
        if faster.makespan.total >= state.makespan.total:
            return state
        state = faster


def _best_step(state: _State, budget: _Budget) -> _State | None:
    """The step that gains the most of the makespan for what it takes; None where none gains as much as `LEAST_GAIN` says."""
    used = budget.share(state.counts(budget)) or 1.0

    def gain(step: _State) -> float:
        more = budget.share(step.counts(budget)) / used - 1
        return (1 - step.makespan.total / state.makespan.total) / max(more, 1e-6)

    best = max(_critical_steps(state, budget), key=gain, default=None)
    return best if best is not None and gain(best) > LEAST_GAIN else None


def _critical_steps(state: _State, budget: _Budget) -> Iterator[_State]:
    """Steps of a critical computation; where one gains little, since others overlap it, with steps of those."""
    for name in state.makespan.critical:
        for step in _fitting(state, name, budget):
            yield step
            yield from _with_partners(step, name, state, budget)


def _with_partners(step: _State, name: str, before: _State, budget: _Budget) -> Iterator[_State]:
    """`step` of a computation with the smallest steps of those that overlap it, until half of what it gains is gained."""
    sped_up, gain = {name}, (before.makespan.cycles[name] - step.makespan.cycles[name]) / 2
    begin, end, *_ = before.makespan.spans[name]
    while len(sped_up) <= MOST_PARTNERS and before.makespan.total - step.makespan.total < gain:
        spans, cycles = step.makespan.spans, step.makespan.cycles
        beside = [other for other in step.makespan.critical if spans[other][0] < end and begin < spans[other][1]]
        partners = sorted((other for other in beside if other not in sped_up), key=cycles.__getitem__, reverse=True)
        found = ((other, each) for other in partners for each in islice(_fitting(step, other, budget), 1))
        partner, further = next(found, (name, None))
        if further is None:
            return
        step = further
        sped_up.add(partner)
        yield step


def _exchanges(state: _State, budget: _Budget) -> Iterator[_State]:
    """Steps of critical computations, those that gain most, for which there is room once others are slowed down."""
    enough = (1 - LEAST_EXCHANGE) * state.makespan.total
    steps = sorted(_critical_steps(state, UNLIMITED), key=lambda step: step.makespan.total)
    for step in steps[:MOST_EXCHANGES]:
        kept = {name for name, one in step.chosen.items() if one.points > state.chosen[name].points}
        if (made := _with_room(step, kept, budget, enough)) is not None:
            yield made


def _with_room(state: _State, kept: Container[str], budget: _Budget, enough: float) -> _State | None:
    """`state` once it fits, since others than `kept` are slower; None where its makespan is not below `enough` on the way.

    What is slower hardly ever makes the whole faster, though it can, where another copy of a producer then counts as the last: such
    a design is not looked for.
    """
    while not state.fits(budget):
        slower = _with_least_loss(state, kept, budget) if state.makespan.total < enough else None
        if slower is None:
            return None
        state = slower
    return state if state.makespan.total < enough else None


def _with_least_loss(state: _State, kept: Container[str], budget: _Budget) -> _State | None:
    """One computation slower: the first that loses nothing of the makespan, else the one that loses least for what it gives."""
    taken, now = budget.share(state.counts(budget)), state.makespan.total
    least, found = inf, None
    for slower in filter(None, (_slower(state, name) for name in state.works if name not in kept)):
        less = taken - budget.share(slower.counts(budget))
        if less > 0 and (loss := (slower.makespan.total - now) / less) < least:
            least, found = loss, slower
            if loss <= 0:
                break
    return found


def _slower(state: _State, name: str) -> _State | None:
    """With fewer points of a computation at once, as many as that leaves."""
    fewer = (each for each in reversed(_fewer(state.works[name], state.chosen[name])) if each.points < state.chosen[name].points)
    return next((state.changed({name: each}) for each in fewer), None)


def _fitting(state: _State, name: str, budget: _Budget) -> Iterator[_State]:
    """Steps of a computation for which there is room: perhaps as the rest of its family computes no more at once than before."""
    for step in _tried(state, name):
        if step.fits(budget):
            yield step
        elif (alone := _alone(step, state, name)) is not None and alone.fits(budget):
            yield alone


def _alone(step: _State, before: _State, name: str) -> _State | None:
    """A step in which only this computation of its family has more points at once than before; None where it has so."""
    changes = dict[str, Parallelism]()
    for other in step.differing:
        now, most = step.chosen[other], before.chosen[other].points
        if other != name and now.points > most:
            fewer = [each for each in _fewer(step.works[other], now) if each.points <= most]
            changes |= {other: fewer[-1]} if fewer else {}
    return step.changed(changes) if changes else None


def _tried(state: _State, name: str) -> Iterator[_State]:
    """More lanes, more rows, a few numbers of copies, more parts, and parts of all in its family."""
    work = state.works[name]
    yield from islice(_undealt(state, work, copies_in_luts=True), 2 + MOST_COPY_STEPS)
    yield from _dealt(state, work)
    if work.dealt_extent > 1:
        yield from _in_groups(state, state.families[work.family])


def _lean(state: _State, budget: _Budget) -> _State:
    """With as few points of each computation at once as are worth what they take: giving them back must not lose more of the
    makespan than taking them would have had to gain (`LEAST_GAIN`). With fewer copies, too, where parts of these do as much."""
    for work in sorted(state.works.values(), key=lambda each: state.chosen[each.name].points, reverse=True):
        state = _given_back(state, (state.changed({work.name: each}) for each in _fewer(work, state.chosen[work.name])), budget)
    for family in state.families.values():
        state = _given_back(state, _in_groups(state, family), budget)
    return state


def _given_back(state: _State, others: Iterable[_State], budget: _Budget) -> _State:
    """The first of `others` that loses no more of the makespan than what it gives back is worth; else `state`."""
    taken, most = budget.share(state.counts(budget)), state.makespan.total
    for other in others:
        given = 1 - budget.share(other.counts(budget)) / taken if taken else 0.0
        if given >= 0 and other.makespan.total <= (1 + LEAST_GAIN * given) * most:
            return other
    return state


def _in_groups(state: _State, family: Family) -> Iterator[_State]:
    """With no more copies of a family, the fewest first, each dealt to parts of a group each, where that makes no fewer tasks of
    what has parts: it is as fast as before, or faster. The others have as few lanes and rows as keep up with it, or are as fast as
    they were. Nothing where computations of the family have different numbers of groups, or of tasks."""
    dealt = [work for work in family if work.dealt_extent > 1]
    kinds = {(work.dealt_extent, state.chosen[work.name].tasks) for work in dealt}
    if len(kinds) != 1:
        return
    ((groups, tasks),) = kinds
    for copies in divisors(state.chosen[family[0].name].copies):
        parts = {work.name: replace(state.chosen[work.name], copies=copies, parts=groups) for work in dealt}
        if copies * groups < tasks or parts[dealt[0].name] == state.chosen[dealt[0].name]:
            continue
        slowest = max(work.cycles(parts[work.name]) for work in dealt)
        kept = {work.name: _keeping_up(work, copies, max(slowest, state.cycles(work))) for work in family if work not in dealt}
        yield state.changed({**kept, **parts})


def _keeping_up(work: Work, copies: int, cycles: int) -> Parallelism:
    """With as few points of each copy as take no more than so many cycles; else those that take the fewest."""
    lanes, rows = _possible(work, copies)
    possible = [Parallelism(lane, copies, row) for lane in lanes for row in rows]
    possible = [each for each in possible if may_be(work, each)] or [begun_with(work, copies)]
    return min(possible, key=lambda each: (max(work.cycles(each), cycles), each.points))


# Steps ----------------------------------------------------------------------------------------------------------------


def _forget_steps() -> None:
    """Of another search: steps are remembered by the computations of one, as long as that goes on."""
    for remembered in (_fewer, _in_a_task, _more_copies):
        remembered.cache_clear()


def _possible(work: Work, copies: int) -> tuple[Sequence[int], Sequence[int]]:
    """The lanes and the rows that divide what each of the copies has of their loops."""
    lanes = work.lane_extent // (copies if work.divides_lanes else 1)
    rows = work.row_extent // (copies if work.divides_rows else 1)
    if work.shares:
        return [count for count in lane_counts(lanes) if count == work.shared_lanes], [1]
    return lane_counts(lanes), divisors(rows)


def _steps(state: _State, work: Work, *, copies_in_luts: bool) -> Iterator[_State]:
    """The ways to speed up `work`: more lanes, as many as a port brings, more rows, more lanes, more copies of its family, more
    parts of each copy."""
    yield from _undealt(state, work, copies_in_luts=copies_in_luts)
    yield from _dealt(state, work)


def _undealt(state: _State, work: Work, *, copies_in_luts: bool) -> Iterator[_State]:
    """Those but for the last."""
    for step in _in_a_task(work, state.chosen[work.name]):
        yield state.changed({work.name: step})
    if work.point.dsp == 0 and not (work.in_luts and copies_in_luts):
        return
    family = state.families[work.family]
    yield from map(state.changed, _more_copies(work, family, tuple(state.chosen[each.name] for each in family)))


@cache
def _in_a_task(work: Work, now: Parallelism) -> Sequence[Parallelism]:
    """With more lanes and with more rows than `now`, whatever takes no more ports first."""
    lanes, rows = _possible(work, now.copies)
    wider = [replace(now, lanes=more) for more in lanes if more > now.lanes][:1]
    higher = [replace(now, rows=more) for more in rows if more > now.rows][:1]
    needs_port = any(work.ports(step) > work.ports(now) for step in wider)
    return tuple(step for step in ([*higher, *wider] if needs_port else [*wider, *higher]) if may_be(work, step))


def _dealt(state: _State, work: Work) -> Iterator[_State]:
    """With more parts of each copy."""
    now = state.chosen[work.name]
    more = (replace(now, parts=parts) for parts in divisors(work.dealt_extent) if parts > now.parts)
    yield from (state.changed({work.name: each}) for each in islice(filter(partial(may_be_dealt, work), more), 1))


Family: TypeAlias = tuple[Work, ...]
"""Computations that have one number of copies."""


@cache
def _more_copies(work: Work, family: Family, now: tuple[Parallelism, ...]) -> Sequence[Mapping[str, Parallelism]]:
    """More copies than `now` of `family`, with which `work` is faster: by what they take."""
    (before,) = (each for one, each in zip(family, now, strict=True) if one is work)
    more = (copies for copies in divisors(work.divided_extent) if copies > before.copies)
    steps = [step for copies in more if (step := _copied(family, now, copies)) is not None]
    faster = [step for step in steps if work.cycles(step[work.name]) < work.cycles(before)]
    return tuple(sorted(faster, key=lambda step: _spent(family, step)))


def _spent(family: Family, chosen: Mapping[str, Parallelism]) -> tuple[int, int]:
    """DSPs and LUTs for the points of a family."""
    taken = [work.taken(chosen[work.name]) for work in family]
    return sum(one.dsp for one in taken), sum(one.lut for one in taken)


SMALL_PART = 0.01
"""Of the points of the largest of a family: what has fewer may have copies whose sums wait for the adder."""


def _copied(family: Family, before: Sequence[Parallelism], copies: int) -> Mapping[str, Parallelism] | None:
    """The family with as many copies; lanes and rows along the divided loop are cut to what divides a share. None where that is not
    possible."""
    changes: dict[str, Parallelism] = {}
    most = SMALL_PART * max(work.points for work in family)
    for work, now in zip(family, before, strict=True):
        if work.divided_extent % copies:
            return None
        share, then = work.divided_extent // copies, replace(now, copies=copies)
        if work.divides_lanes and work.lane_extent > 1:
            then = replace(then, lanes=max(lanes for lanes in lane_counts(share) if lanes <= now.lanes))
        if work.divides_rows:
            then = replace(then, rows=largest_divisor(share, now.rows))
        if 2 * then.lanes < now.lanes or 2 * then.rows < now.rows:
            return None  # many narrow tasks instead of few wide ones
        if work.shares and then.lanes != work.shared_lanes:
            return None
        if not (may_be(work, then) or (work.points < most and is_a_task(work, then))):  # what takes no time need not get faster
            return None
        changes[work.name] = then
    return changes
