"""Intensity-aware unrolling (docs/design/method.md section 4): the slowest computation is sped up until DSPs run out.

A computation is sped up by lanes (points of its last parallel loop at once, inside one task), by rows (points of another loop at
once, for which each lane's factor is used again) and, once it has as many of both as one task may have, by copies (tasks side by
side on slices of another parallel loop). Computations that hand each other slices have one number of copies: else tensors would
have to be put together and cut again between them.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from stc.design_space.tiling import LEAST_SUMS
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

ONE_PORT = Counts(ports=1)
"""A memory port of which nothing is counted but that it is one."""


@dataclass(frozen=True)
class MemoryOperand:
    """A tensor in external memory, by name, that a computation reads or makes: do copies divide it? `at_once`: how many lanes of it
    a port brings, None where it does not come lanes wide. `shared`: the number of the port that it shares, None: its own."""

    tensor: str
    is_divided: bool
    at_once: int | None
    shared: int | None = None

    def ports(self, parallelism: Parallelism) -> int:
        """Memory ports it needs."""
        wide = 1 if self.at_once is None else -(-parallelism.lanes // self.at_once)
        return wide * (parallelism.copies if self.is_divided else 1)


@dataclass(frozen=True)
class Parallelism:
    """`lanes` per task, `copies` of the task, and `rows` of each lane in a task."""

    lanes: int
    copies: int
    rows: int = 1

    @property
    def points(self) -> int:
        """Points computed at once."""
        return self.lanes * self.copies * self.rows


@dataclass(frozen=True)
class Work:
    """One computation: points of its iteration space, what one point at once takes (`point`), and how it can be sped up.

    `sums`: how many results there are. `lane_extent`: iterations of the loop that is unrolled, 1 where none can be.
    `divided_extent`: of the one that copies divide, 1 for none. `divides_lanes`: whether that is the same loop. `family`:
    computations of one family have one number of copies. `in_luts`: whether it multiplies in LUTs. `fixed`: what it takes besides.
    `row_extent`: iterations of the row loop, 1 where none can be unrolled. `divides_rows`: whether copies divide that.
    `sums_at_once`: multiply-accumulates of one point.
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
    fixed: Counts = NOTHING

    def cycles(self, parallelism: Parallelism) -> int:
        """Cycles for all points."""
        return -(-self.points // parallelism.points)

    def ports(self, parallelism: Parallelism) -> int:
        """Memory ports, if it were alone."""
        return sum(operand.ports(parallelism) for operand in self.memory)


def memory_ports(plan: Mapping[str, Parallelism], works: Sequence[Work]) -> Mapping[str | int, int]:
    """Memory ports by tensor, or by the number of what share one; a tensor needs as many as the most demanding of its readers."""
    needed: dict[str | int, int] = {}
    for work in works:
        for operand in work.memory:
            name = operand.tensor if operand.shared is None else operand.shared
            ports = operand.ports(plan[work.name]) if operand.shared is None else 1
            needed[name] = max(needed.get(name, 0), ports)
    return needed


def counts_of(works: Sequence[Work], plan: Mapping[str, Parallelism], port: Counts) -> Counts:
    """What a design takes, `port` for each memory port."""
    total = port.times(sum(memory_ports(plan, works).values()))
    for work in works:
        total = total.plus(work.fixed).plus(work.point.times(plan[work.name].points))
    return total


@dataclass(frozen=True)
class _Limits:
    most: Counts
    port: Counts


@dataclass
class _State:
    works: Sequence[Work]
    lanes: dict[str, int] = field(default_factory=dict[str, int])
    copies: dict[int, int] = field(default_factory=dict[int, int])
    rows: dict[str, int] = field(default_factory=dict[str, int])

    def cycles(self, work: Work) -> int:
        return work.cycles(self.of(work))

    def of(self, work: Work) -> Parallelism:
        return Parallelism(self.lanes[work.name], self.copies[work.family], self.rows[work.name])

    def plan(self) -> Mapping[str, Parallelism]:
        return {work.name: self.of(work) for work in self.works}

    def counts(self, port: Counts) -> Counts:
        return counts_of(self.works, self.plan(), port)

    def interval(self) -> int:
        """Cycles of the slowest computation."""
        return max((self.cycles(work) for work in self.works), default=0)

    def fits(self, limits: _Limits) -> bool:
        return not self.counts(limits.port).beyond(limits.most)

    def copied(self) -> _State:
        return _State(self.works, dict(self.lanes), dict(self.copies), dict(self.rows))


WORTH = 0.02
"""Part of the slowest's cycles that a computation beside it has to become shorter by, to be sped up.

Of a block of gpt2-tiny at 7 tokens, by the time model of FIFO sizing: 7,774 cycles on 1,101 DSPs with 0.1, 6,237 on 1,733 with
0.02, 5,810 on 4,293 with 0. So twice the resources gain more than a tenth down to it, and less beyond.
"""


def choose_parallelism(works: Sequence[Work], most: Counts, port: Counts = ONE_PORT) -> Mapping[str, Parallelism]:
    """Lanes and copies for each of `works` within `most`, of which a memory port takes `port`; at least one lane of each.

    The computation with the most cycles left is sped up by the smallest step that it has, until none fits: it sets the interval.
    What the others have more than that interval needs is taken back and spent once more. What is left in the end goes to the others
    in the same way, which shortens the way of the last tile, as long as a step gains `WORTH` of the interval; but for copies in
    LUTs, of which nobody gave a number to spend.

    Rows and copies may want the same factors of a loop, and what was given to rows is not taken back for copies: of the search with
    rows and the one without, the faster.
    """
    without = [replace(work, row_extent=1, divides_rows=False) for work in works]
    found = [_chosen(some, _Limits(most, port)) for some in (works, without)]
    return min(found, key=lambda state: state.interval()).plan()


def _chosen(works: Sequence[Work], limits: _Limits) -> _State:
    one_each = {work.name: 1 for work in works}
    start = _State(works, one_each, {work.family: 1 for work in works}, one_each)
    state = _speed_up(start, limits, only_slowest=True)
    while (better := _speed_up(_relaxed(state), limits, only_slowest=True)).interval() < state.interval():
        state = better
    return _speed_up(state, limits, only_slowest=False)


def _speed_up(state: _State, limits: _Limits, *, only_slowest: bool) -> _State:
    """Steps for the slowest computation, in turn; then, unless `only_slowest`, for those that have one that gains enough."""
    works = state.works
    heap = [(-state.cycles(work), index) for index, work in enumerate(works)]
    heapq.heapify(heap)
    while heap:
        cycles, index = heapq.heappop(heap)
        if -cycles != state.cycles(works[index]):  # its family has become faster since
            heapq.heappush(heap, (-state.cycles(works[index]), index))
            continue
        steps = _steps(state, works[index], copies_in_luts=only_slowest)
        if not only_slowest:
            gained = WORTH * state.interval()
            steps = (step for step in steps if -cycles - step.cycles(works[index]) >= gained)
        faster = next((step for step in steps if step.fits(limits)), None)
        if faster is not None:
            state = faster
            heapq.heappush(heap, (-state.cycles(works[index]), index))
        elif only_slowest:
            break
    return state


def _relaxed(state: _State) -> _State:
    """The same interval with as few points at once as it takes, by as few ports and, of these, as few rows."""
    relaxed = state.copied()
    for work in state.works:
        now = state.of(work)
        lanes, rows = _possible(work, now.copies)
        possible = (replace(now, lanes=lane, rows=row) for lane in lanes for row in rows if lane * row <= now.lanes * now.rows)
        enough = (each for each in possible if _may_be(work, each) and work.cycles(each) <= state.interval())
        fewest = min(enough, key=lambda each: (each.points, work.ports(each), each.rows), default=now)
        relaxed.lanes[work.name], relaxed.rows[work.name] = fewest.lanes, fewest.rows
    return relaxed


def _possible(work: Work, copies: int) -> tuple[list[int], list[int]]:
    """The lanes and the rows that divide what each of the copies has of their loops."""
    lanes = work.lane_extent // (copies if work.divides_lanes else 1)
    rows = work.row_extent // (copies if work.divides_rows else 1)
    return lane_counts(lanes), _divisors(rows)


def _steps(state: _State, work: Work, *, copies_in_luts: bool) -> Iterator[_State]:
    """The ways to speed up `work`: more lanes, as many as a port brings, more rows, more lanes, more copies of its family."""
    now = state.of(work)
    lanes, rows = _possible(work, now.copies)
    wider = [replace(now, lanes=more) for more in lanes if more > now.lanes][:1]
    higher = [replace(now, rows=more) for more in rows if more > now.rows][:1]
    needs_port = any(work.ports(step) > work.ports(now) for step in wider)
    for step in [*higher, *wider] if needs_port else [*wider, *higher]:
        if _may_be(work, step):
            faster = state.copied()
            faster.lanes[work.name], faster.rows[work.name] = step.lanes, step.rows
            yield faster
    if work.point.dsp == 0 and not (work.in_luts and copies_in_luts):
        return
    more = (copies for copies in _divisors(work.divided_extent) if copies > state.copies[work.family])
    steps = [step for copies in more if (step := _with_copies(state, work.family, copies)) is not None]
    faster = [step for step in steps if step.cycles(work) < state.cycles(work)]
    yield from sorted(faster, key=lambda step: _spent(step, work.family))


def _spent(state: _State, family: int) -> tuple[int, int]:
    """DSPs and LUTs for the points of a family."""
    points = [work.point.times(state.of(work).points) for work in state.works if work.family == family]
    return sum(one.dsp for one in points), sum(one.lut for one in points)


def _with_copies(state: _State, family: int, copies: int) -> _State | None:
    """The family with as many copies; lanes and rows along the divided loop are cut to what divides a share. None where that is not
    possible."""
    step = state.copied()
    step.copies[family] = copies
    for work in state.works:
        if work.family != family:
            continue
        if work.divided_extent % copies:
            return None
        share, now = work.divided_extent // copies, state.of(work)
        if work.divides_lanes and work.lane_extent > 1:
            step.lanes[work.name] = max(lanes for lanes in lane_counts(share) if lanes <= now.lanes)
        if work.divides_rows:
            step.rows[work.name] = largest_divisor(share, now.rows)
        then = step.of(work)
        if 2 * then.lanes < now.lanes or 2 * then.rows < now.rows:
            return None  # many narrow tasks instead of few wide ones
        if not _may_be(work, then):
            return None
    return step


def _may_be(work: Work, chosen: Parallelism) -> bool:
    """Whether a task may do so many points at once, and has sums enough for the adder, where it computes sums."""
    if chosen.lanes * chosen.rows * work.sums_at_once > MAX_MULTIPLY_ACCUMULATES or chosen.rows > MOST_ROWS:
        return False
    return work.sums == work.points or work.sums >= LEAST_SUMS * chosen.points


def lane_counts(extent: int) -> list[int]:
    """How many of `extent` iterations may be unrolled: divisors that a few ports bring, each filled at least half."""
    few = [lanes for lanes in _divisors(extent) if lanes <= MOST_LANES_PER_TASK]
    return [lanes for lanes in few if lanes <= PORT_LANES or 2 * largest_divisor(lanes, PORT_LANES) >= PORT_LANES]


def _divisors(number: int) -> list[int]:
    return [divisor for divisor in range(1, number + 1) if number % divisor == 0]
