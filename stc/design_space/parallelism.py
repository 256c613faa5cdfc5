"""Computations that may be sped up, and what a design takes that speeds them up.

A computation is sped up by lanes (points of its last parallel loop, or terms of a sum, at once, inside one task), by
rows (points of another loop at once, for which each lane's factor is used again) and, once it has as many of both as one task may
have, by copies (tasks side by side on slices of another parallel loop). Computations that hand each other slices have one number of
copies: else tensors would have to be put together and cut again between them.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache, cached_property, lru_cache, reduce
from math import floor
from typing import TypeAlias

from stc.design_space.makespan import Dependence, Makespan
from stc.design_space.tiling import LEAST_INTEGER_SUMS, LEAST_SUMS
from stc.design_space.turns import ports_in_turn, rows_of_tasks
from stc.iteration.vectorize import largest_divisor
from stc.platforms.budget import NOTHING, Counts
from stc.platforms.task_limits import MAX_MULTIPLY_ACCUMULATES, MAX_PARTITIONS

MOST_LANES_PER_TASK = 64
"""What a token may feed (emission rule 18)."""

MOST_ROWS = MAX_PARTITIONS // MOST_LANES_PER_TASK
"""Of a lane: an array of so many rows has all the banks that it may, with tokens of as many entries as a task has lanes."""

PORT_BITS = 512
"""Bits that a memory port brings at once."""

PORT_LANES = PORT_BITS // 32
"""As many entries of f32."""

WORDS_AHEAD = 4096
"""Of a port, that FIFOs of its tasks are taken to hold together, filled ahead: what a block of URAM has entries for. `size-fifos`
gives them what they need, within its part of the memory."""

ONE_PORT = Counts(ports=1)
"""A memory port of which nothing is counted but that it is one."""

PORTS_OF_WEIGHTS = Fraction(3, 4)
"""Of all memory ports, where contractions share multipliers: others bring caches, inputs, and what is small. gpt2-medium has 24 of
32."""


@dataclass(frozen=True)
class Serving:
    """How ports bring parameters to tasks each of which takes a word in every cycle: one to each, but where more than `beyond` take
    some, one to as many `tasks` as that in turn, by no fewer ports than `beyond`. FIFOs have what came while nobody took any."""

    tasks: int
    beyond: int
    sums_in_turn: bool = False
    """Whether those that take the sums of such tasks have operators in common, too."""

    @classmethod
    def of(cls, tasks: int, ports: int, *, sums_in_turn: bool = False) -> Serving:
        """Where a design has so many memory `ports`."""
        return cls(tasks, floor(ports * PORTS_OF_WEIGHTS), sums_in_turn)

    @property
    def most(self) -> int:
        """Tasks that may be served."""
        return self.tasks * self.beyond


PortKey: TypeAlias = tuple[bool, str | int]
"""Of a memory port, or several: whether it writes, and the tensor or the number of those that share it."""


@dataclass(frozen=True)
class MemoryOperand:
    """A tensor in external memory, by name, that a computation reads or makes: do copies divide it? Do their parts (`is_dealt`)?
    `at_once`: how many lanes of it a port brings, None where it does not come lanes wide. `shared`: the number of the port that it
    shares, None: its own. `is_written`: whether it is made, not read. `follows`: the tensors, or numbers of ports that several
    share, that ports which bring it bring before it, if one of them has the time; None: its ports are its own. `part`: of the time
    that a port has, what moving it for one copy takes at most, so that one does for several in turn; of what is made, one for all
    or none. `input`: which one of the computation's, None: a result. `joins`: whether it leaves by a port that brings something
    else, if one is enough. `serving`: how ports bring it to tasks of contractions that share multipliers."""

    tensor: str
    is_divided: bool
    at_once: int | None
    shared: int | None = None
    is_written: bool = False
    follows: frozenset[str | int] | None = None
    is_dealt: bool = False
    part: Fraction = Fraction(1)
    input: int | None = None
    joins: bool = False
    serving: Serving | None = None

    def ports_in_turn(self, parallelism: Parallelism) -> int:
        """Ports each of which moves it for several tasks in turn; 0 where each has its own."""
        tasks, each = self._tasks(parallelism), self._served(parallelism)
        least = 0 if self.serving is None else self.serving.beyond
        count = 0 if each == 1 else max(least, -(-tasks // each))
        return count if count < tasks and (count == 1 or not self.is_written) else 0

    def _tasks(self, parallelism: Parallelism) -> int:
        """Those that take parts of it."""
        return (parallelism.copies if self.is_divided else 1) * (parallelism.parts if self.is_dealt else 1)

    def _served(self, parallelism: Parallelism) -> int:
        """Tasks that a port may bring it to in turn: those that take it seldom, or that take a whole word each time."""
        if self.serving is not None:
            is_word = parallelism.lanes == self.at_once and self._tasks(parallelism) > self.serving.beyond
            return self.serving.tasks if is_word else 1
        is_wide = self.at_once is not None and parallelism.lanes > self.at_once
        return 1 if is_wide else floor(1 / self.part)

    @property
    def key(self) -> PortKey:
        """What it shares its ports with."""
        return self.is_written, self.tensor if self.shared is None else self.shared

    def ports(self, parallelism: Parallelism) -> int:
        """Memory ports it needs."""
        if in_turn := self.ports_in_turn(parallelism):
            return in_turn
        wide = 1 if self.at_once is None else -(-parallelism.lanes // self.at_once)
        return wide * self._tasks(parallelism)

    def further_ports(self, parallelism: Parallelism) -> int:
        """Memory ports for its key, beside those of other keys: none where it joins one of them."""
        count = 1 if self.shared is not None else self.ports(parallelism)
        return 0 if self.joins and count == 1 else count


@dataclass(frozen=True)
class Parallelism:
    """`lanes` per task, `copies` of the task, and `rows` of each lane in a task. `adders_in_luts`: whether its additions of floats
    take LUTs in place of DSPs. `parts`: tasks that each copy is dealt to, iteration by iteration of a further loop."""

    lanes: int
    copies: int
    rows: int = 1
    adders_in_luts: bool = False
    parts: int = 1

    @property
    def tasks(self) -> int:
        """Tasks side by side."""
        return self.copies * self.parts

    @property
    def points(self) -> int:
        """Points computed at once."""
        return self.lanes * self.tasks * self.rows


@dataclass(frozen=True, eq=False)
class Work:
    """One computation: points of its iteration space, what one point at once takes (`point`), what each lane of a task and each
    task do besides (`lane`, `task`), and how it can be sped up. `adders_in_luts`: what a point takes more (and, below 0, less)
    with adders of LUTs.

    `sums`: how many results there are. `lane_extent`: iterations of the loop that is unrolled, 1 where none can be.
    `divided_extent`: of the one that copies divide, 1 for none. `divides_lanes`: whether that is the same loop. `family`:
    computations of one family have one number of copies. `in_luts`: whether it multiplies in LUTs. `row_extent`: iterations
    of the row loop, 1 where none can be unrolled. `divides_rows`: whether copies divide that. `sums_at_once`:
    multiply-accumulates of one point. `lanes_are_terms`: whether lanes run along a reduction. `takes_turns`: whether there
    are several of each sum, since the next term would wait for one (`expand-partial-sums`). `of_integers`: whether sums are,
    so that no adder is waited for: a few take turns, of many terms each has a register until it is over. `after`: on which
    computations it waits, and how long. `shares`: those of the same number, from 1 on, have the operators of a task in common
    where a port brings what they read in turn, and `shared_lanes`; 0 for neither. `turn`: those of the same number, from 1 on,
    have the operators of a task in common, as far as one waits for another: each for those in `turn_behind`; 0 for none.
    `dealt_extent`: iterations of the loop that tasks of a copy may take in turn, 1 where none can be. `once_in`: how often others
    are computed in a launch while it is once, so that it takes that part of its cycles each time. `refill`: cycles that each sum
    takes besides, if its terms are more than lanes: what fills the pipeline of the loop over them, which as many sums as a launch
    says do not share.
    """

    name: str
    points: int
    sums: int
    point: Counts
    lane_extent: int
    divided_extent: int
    divides_lanes: bool
    family: int
    memory: tuple[MemoryOperand, ...] = ()
    in_luts: bool = False
    row_extent: int = 1
    divides_rows: bool = False
    sums_at_once: int = 1
    lanes_are_terms: bool = False
    takes_turns: bool = False
    of_integers: bool = False
    after: tuple[Dependence, ...] = ()
    lane: Counts = NOTHING
    task: Counts = NOTHING
    adders_in_luts: Counts = NOTHING
    shares: int = 0
    shared_lanes: int = 0
    turn: int = 0
    turn_behind: frozenset[str] = frozenset()
    dealt_extent: int = 1
    once_in: int = 1
    refill: int = 0

    @property
    def is_alone(self) -> bool:
        """Whether it has no operators in common with others."""
        return not (self.shares or self.turn)

    def taken(self, parallelism: Parallelism) -> Counts:
        """What it takes without memory ports."""
        taken = self.more(Parallelism(0, 0), parallelism)
        return taken.plus(self.adders_in_luts.times(parallelism.points)) if parallelism.adders_in_luts else taken

    def more(self, before: Parallelism, now: Parallelism) -> Counts:
        """What one takes more than the other, with adders alike."""
        points, tasks = now.points - before.points, now.tasks - before.tasks
        lanes = now.lanes * now.tasks - before.lanes * before.tasks
        amounts = zip(self.point, self.lane, self.task, strict=True)
        return Counts(*[points * of_point + lanes * of_lane + tasks * of_task for of_point, of_lane, of_task in amounts])

    def cycles(self, parallelism: Parallelism) -> int:
        """Cycles for all points, or for the part that counts where it is computed less often than others; of sums no more go on at
        once than have room in the adder's pipeline beside one another, and no more than ports bring that serve several tasks."""
        at_once = parallelism.points
        if not has_sums_enough(self, parallelism):
            at_once = max(1, at_once * self.sums // _least_sums(self, parallelism))
        late = self.points // (parallelism.lanes * ports) - WORDS_AHEAD if (ports := self.ports_of_weights(parallelism)) else 0
        is_cut = parallelism.lanes * self.sums < self.points
        refilled = self.refill * (self.sums // parallelism.copies) if is_cut else 0
        return max(-(-(self.points // at_once + refilled) // self.once_in), -(-late // self.once_in))

    def ports_of_weights(self, parallelism: Parallelism) -> int:
        """Ports that bring what its tasks multiply, where they share multipliers; 0 where they do not."""
        return max((each.ports(parallelism) for each in self.memory if each.serving is not None), default=0)

    def ports(self, parallelism: Parallelism) -> int:
        """Memory ports, if it were alone."""
        return sum(operand.ports(parallelism) for operand in self.memory)


@dataclass(frozen=True)
class MemoryPorts:
    """The memory ports of a design: `needed` of each tensor, or of those that share one, as its most demanding reader does.
    `users`: who reads or makes each, and how, in topological order."""

    users: Mapping[PortKey, Sequence[tuple[str, MemoryOperand]]]
    needed: Mapping[PortKey, int]
    before: Mapping[PortKey, Sequence[PortKey]]

    @classmethod
    def of(cls, works: Sequence[Work], plan: Mapping[str, Parallelism]) -> MemoryPorts:
        users: dict[PortKey, list[tuple[str, MemoryOperand]]] = {}
        for work in works:
            for operand in work.memory:
                users.setdefault(operand.key, []).append((work.name, operand))
        operands = [operand for work in works for operand in work.memory]
        first: dict[PortKey, Sequence[PortKey]] = {each.key: () for each in operands if each.shared is not None}
        before = first | {each.key: [(False, name) for name in each.follows] for each in operands if each.follows is not None}
        return cls(users, {key: _ports_needed(using, plan) for key, using in users.items()}, before)

    @cached_property
    def count(self) -> int:
        """Of all."""
        return ports_in_turn(self.needed, self.before)

    def changed(self, works: Iterable[Work], plan: Mapping[str, Parallelism]) -> MemoryPorts:
        """With what `plan` says of `works` anew."""
        keys = {operand.key for work in works for operand in work.memory}
        return replace(self, needed={**self.needed, **{key: _ports_needed(self.users[key], plan) for key in keys}})


def _ports_needed(users: Iterable[tuple[str, MemoryOperand]], plan: Mapping[str, Parallelism]) -> int:
    return max(operand.further_ports(plan[name]) for name, operand in users)


def memory_ports(plan: Mapping[str, Parallelism], works: Sequence[Work]) -> int:
    """How many a design has."""
    return MemoryPorts.of(works, plan).count


def counts_of(works: Sequence[Work], plan: Mapping[str, Parallelism], port: Counts) -> Counts:
    """What a design takes, `port` for each memory port."""
    return operators_of(works, plan).plus(port.times(memory_ports(plan, works)))


def operators_of(works: Sequence[Work], plan: Mapping[str, Parallelism]) -> Counts:
    """The same without memory ports."""
    total = shared_operators(works, plan)
    for work in works:
        total = total.plus(work.taken(plan[work.name])) if work.is_alone else total
    return total


def shared_operators(works: Iterable[Work], plan: Mapping[str, Parallelism]) -> Counts:
    """What computations take that have operators in common: of each kind as many tasks as ports bring what they read, in turn; of
    those that take turns as many as compute at the same time."""
    works = list(works)
    turns = {work.turn: [each for each in works if each.turn == work.turn] for work in works if work.turn}
    kinds = [(_operators_of_kind, kind) for kind in _kinds(works)] + [(_operators_in_turn, kind) for kind in turns.values()]
    found = (count(tuple(kind), tuple(plan[work.name] for work in kind)) for count, kind in kinds)
    return reduce(Counts.plus, found, NOTHING)


@lru_cache(maxsize=1 << 12)
def _operators_in_turn(kind: tuple[Work, ...], chosen: tuple[Parallelism, ...]) -> Counts:
    """Those of rows of tasks (`stc.design_space.turns`): of each resource the most that a task of the row needs for operators,
    since they compute the same in several lanes, and what each task and lane has for itself. Remembered as `_operators_of_kind`
    is."""
    works = {work.name: (work, each) for work, each in zip(kind, chosen, strict=True)}
    lanes = {(name, number): each.lanes for name, (_, each) in works.items() for number in range(each.tasks)}
    total = NOTHING
    for row in rows_of_tasks(lanes, lambda later, before: before[0] in works[later[0]][0].turn_behind):
        tasks = [(work, replace(each, copies=1, parts=1)) for work, each in (works[name] for name, _ in row)]
        own = reduce(Counts.plus, (work.task.plus(work.lane.times(one.lanes)) for work, one in tasks), NOTHING)
        most = [replace(work, task=NOTHING, lane=NOTHING).taken(one) for work, one in tasks]
        total = total.plus(own).plus(Counts(*map(max, NOTHING, *most)))
    return total


def _kinds(works: Iterable[Work]) -> Collection[Sequence[Work]]:
    """Those of `works` that have operators in common, together."""
    kinds: dict[int, list[Work]] = {}
    for work in works:
        if work.shares:
            kinds.setdefault(work.shares, []).append(work)
    return kinds.values()


@lru_cache(maxsize=1 << 12)
def _operators_of_kind(kind: tuple[Work, ...], chosen: tuple[Parallelism, ...]) -> Counts:
    """Those of a task, as often as there are tasks: one for computations of which one waits for the other. What deals to parts, and
    takes their results in turn, each has for itself. Remembered for the computations of one search, which are what they are by
    identity."""
    task, total = NOTHING, NOTHING
    for work, each in zip(kind, chosen, strict=True):
        task = Counts(*map(max, task, work.taken(replace(each, copies=1, parts=1))))
        total = total.plus(work.task.times(each.tasks - each.copies))
    tasks = {work.name: each.tasks for work, each in zip(kind, chosen, strict=True)}
    return total.plus(task.times(ports_in_turn(tasks, _before_at_port(kind))))


@lru_cache(maxsize=1 << 12)
def _before_at_port(kind: tuple[Work, ...]) -> Mapping[str, Sequence[str]]:
    """For which others each of them waits."""
    return {work.name: tuple(other.name for other in kind if waits_at_port(work, other)) for work in kind}


def waits_at_port(work: Work, other: Work) -> bool:
    """Whether a port that brings something of `work` brings something of `other` before it."""
    before = [name for operand in work.memory for name in operand.follows or ()]
    return any(operand.follows is not None and operand.tensor in before for operand in other.memory)


def begun_with(work: Work, copies: int = 1) -> Parallelism:
    """The least parallelism of a computation, with so many copies."""
    return Parallelism(work.shared_lanes or 1, copies)


def dsps_of_adders(works: Iterable[Work], plan: Mapping[str, Parallelism]) -> Mapping[str, int]:
    """By name, how many DSPs adders of floats take that may be of LUTs."""
    chosen = [(work, plan[work.name]) for work in works]
    fixed = {work.name for work, each in chosen if each.adders_in_luts or work.turn}  # others in turn would have theirs of DSPs
    return {work.name: 0 if work.name in fixed else -work.adders_in_luts.dsp * each.points for work, each in chosen}


def adders_for_luts(given: Mapping[str, int], short: int) -> Iterator[str]:
    """Whose adders are to be of LUTs so that `short` fewer DSPs are taken, if there are as many. `given`: by name, what adders give
    (`dsps_of_adders`).

    LUTs that a DSP costs are the same everywhere, so it is those that give about as many DSPs as are short: the largest that gives
    no more, in the end the smallest.
    """
    left = sorted((name for name, dsps in given.items() if dsps > 0), key=given.__getitem__)
    while short > 0 and left:
        name = left.pop(max(0, bisect_right(left, short, key=given.__getitem__) - 1))
        yield name
        short -= given[name]


def makespan_of(works: Sequence[Work], plan: Mapping[str, Parallelism]) -> Makespan:
    """Cycles from the first operand to the last result, `works` in topological order."""
    after, copies = {work.name: work.after for work in works}, {work.name: plan[work.name].copies for work in works}
    at_ports = cycles_at_ports([work for work in works if work.shares], plan)
    return Makespan({work.name: work.cycles(plan[work.name]) for work in works}, after, copies, at_ports)


def cycles_at_ports(sharing: Iterable[Work], plan: Mapping[str, Parallelism]) -> int:
    """Cycles that ports take at least for the words of computations that share multipliers, where they serve several tasks each."""
    return max((_cycles_of_kind(kind, plan) for kind in _kinds(sharing)), default=0)


def _cycles_of_kind(kind: Sequence[Work], plan: Mapping[str, Parallelism]) -> int:
    if not any(each.serving and each.ports_in_turn(plan[work.name]) for work in kind for each in work.memory):
        return 0
    ports = {work.name: work.ports_of_weights(plan[work.name]) for work in kind}
    words = sum(work.points // (plan[work.name].lanes * work.once_in) for work in kind)
    return words // max(1, ports_in_turn(ports, _before_at_port(tuple(kind))))


def may_be(work: Work, chosen: Parallelism) -> bool:
    """Whether a task may do so many points at once, and has sums enough for the adder, where it computes sums; and whether parts of
    a copy make what they do in the order in which one would."""
    return is_a_task(work, chosen) and has_sums_enough(work, chosen) and may_be_dealt(work, chosen)


def is_a_task(work: Work, chosen: Parallelism) -> bool:
    """Whether a task may do so many points at once."""
    return chosen.lanes * chosen.rows * work.sums_at_once <= MAX_MULTIPLY_ACCUMULATES and chosen.rows <= MOST_ROWS


def may_be_dealt(work: Work, chosen: Parallelism) -> bool:
    """Whether each part of a copy has one group, or each copy as many rows as it has lanes: of several words of rows, a part makes
    all for one group before it gets to the next, and readers would get those of the last part late, while others keep theirs."""
    has_one_word = chosen.copies * (chosen.lanes if work.divides_lanes else 1) == work.divided_extent
    return chosen.parts in (1, work.dealt_extent) or has_one_word


MANY_TERMS = 8 * LEAST_SUMS
"""Of a sum: what it takes to fill the pipeline and to combine partial ones behind it, some 40 cycles, is less than its terms do."""


def has_sums_enough(work: Work, chosen: Parallelism) -> bool:
    """Whether a sum that was added to is not needed before the adder has it; with operators in common sums stay in registers."""
    if work.takes_turns and work.sums <= chosen.copies:  # each task has one, of which several are registers
        return work.points >= LEAST_SUMS * chosen.points
    if work.takes_turns and not work.lanes_are_terms and _has_many_terms(work):  # or one after the other
        return True
    return work.shares > 0 or work.sums == work.points or work.sums >= _least_sums(work, chosen)


def _has_many_terms(work: Work) -> bool:
    return work.points >= MANY_TERMS * work.sums


def _least_sums(work: Work, chosen: Parallelism) -> int:
    """Terms of a sum of integers are added up by a tree, in front of its one adder; other points at once are sums of their own. One
    of many integers stays in a register until it is over, and the next begins."""
    if work.lanes_are_terms:
        return LEAST_INTEGER_SUMS * chosen.copies * chosen.rows
    if work.of_integers and _has_many_terms(work):
        return chosen.points
    return (LEAST_INTEGER_SUMS if work.of_integers else LEAST_SUMS) * chosen.points


@cache
def lane_counts(extent: int) -> Sequence[int]:
    """How many of `extent` iterations may be unrolled: divisors that a few ports bring, each filled at least half."""
    few = [lanes for lanes in divisors(extent) if lanes <= MOST_LANES_PER_TASK]
    return tuple(lanes for lanes in few if lanes <= PORT_LANES or 2 * largest_divisor(lanes, PORT_LANES) >= PORT_LANES)


@cache
def divisors(number: int) -> Sequence[int]:
    """From 1 upwards."""
    return tuple(divisor for divisor in range(1, number + 1) if number % divisor == 0)


# Ports in turn --------------------------------------------------------------------------------------------------------

WAITS_FOR_ALL = 1.0
"""Part of another computation's time that has to be over, and of its own that is left then."""


def in_turns(works: Sequence[Work], parameters: Mapping[str, str], followed: Container[str] = ()) -> list[Work]:
    """`works`, in topological order, where ports bring `parameters` that do not share one otherwise in turn (`load-in-turn`).

    `parameters`: by name, the type of their entries, which those that share a port have in common. What waits for all that read
    what shares a port otherwise may come behind that, through it, if its type is among those of which words there are as wide
    (`followed`).

    A computation then waits until all is read that its ports bring before what it reads: until those have ended that it waits for
    and that read such. What shares a port otherwise is read into arrays, so that nobody waits for that.
    """
    small = _sharing_otherwise(works, parameters)
    behind: dict[str, dict[str, None]] = {}
    read: dict[str, set[str]] = {}
    made: list[Work] = []
    for work in works:
        before = behind[work.name] = {}
        for each in work.after:
            before |= behind[each.producer] | {each.producer: None}
        own = [each for each in work.memory if each.tensor in parameters and each.shared is None and not each.is_written]
        read[work.name] = {each.tensor for each in own}
        earlier = [name for other in before for name in read[other]]
        over = [number for number, (readers, kind) in small.items() if kind in followed and readers <= before.keys()]
        kinds = {**parameters, **{number: small[number][1] for number in over}}
        follows = {each.tensor: frozenset(it for it in (*earlier, *over) if kinds[it] == kinds[each.tensor]) for each in own}
        memory = tuple(replace(each, follows=follows[each.tensor]) if each in own else each for each in work.memory)
        awaited = frozenset[str | int]().union(*follows.values())
        waits = [Dependence(other, WAITS_FOR_ALL, WAITS_FOR_ALL, WAITS_FOR_ALL) for other in before if read[other] & awaited]
        made.append(replace(work, memory=memory, after=(*work.after, *waits)))
    return made


def _sharing_otherwise(works: Sequence[Work], parameters: Mapping[str, str]) -> dict[int, tuple[set[str], str]]:
    """By the number of the port that small `parameters` share: which of `works` read what comes through it, and the type of
    entries."""
    read = [(work.name, each.shared, each.tensor) for work in works for each in work.memory if not each.is_written]
    kinds = {number: parameters[name] for _, number, name in read if number is not None and name in parameters}
    return {number: ({work for work, other, _ in read if other == number}, kind) for number, kind in kinds.items()}
