"""One trace of a task: what it does to the channels and memories it shares with others, in program order. Free of IR.

A trace is a small program of accesses: loops, branches whose conditions are expressions of loop variables
(`stc.iteration.index_expressions`), accesses, and blocks of rings that are held. Its size is that of the text, however often loops
run. Trip counts are sizes: integers, and what is made of symbols, to which `TaskTrace.at` gives values.

Everything else is a query:

* `tokens`, `executions`: how often an access happens, as products of trip counts and of the points at which guards hold;
* `accesses_of_iteration`, `TaskTrace.most_per_iteration`: what one iteration of a loop moves;
* `steps`: loops, repetitions and lock events in order, of which the next two are views. An outer loop is split where
  a guard changes, not at every iteration, and so is a merged nest (`Nest.cases`);
* `stc.iteration.firings`: without time: which numbered firing moves which token;
* `stc.iteration.task_timeline`: in time: which cycle does, where loops know their interval and depth (`Pipeline`).
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from math import prod
from typing import Any, ClassVar, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from stc.diagnostics import CompileError, UntimedError
from stc.iteration.index_expressions import Computed, IndexExpression, Operator, computed, expression_of, variable
from stc.iteration.pipeline_style import Style
from stc.iteration.size import Size, Symbol, maximum, minimum, product_of, static, sum_of, symbols_in, value_at

Port: TypeAlias = tuple[str, bool]
"""A channel or memory by name, and whether it is written."""

Variable: TypeAlias = Hashable
Condition: TypeAlias = IndexExpression[Any]

MAX_GRID = 1 << 24
"""A condition on several loops at once is evaluated at all their points, up to so many."""

MICRO = 1_000_000
"""Cycles per beat of a memory are in millionths, as the simulation is told them."""


@dataclass(frozen=True)
class MemoryBeats:
    """External memory behind a loop that moves one bus word (a beat) per iteration.

    `latency`: cycles from the begin of the loop to its first word, where it reads. `micro`: cycles per beat, in millionths.
    `writes`: whether the loop writes its words. Words that are read are on their way before they are asked for, as many as it
    takes. A word that is written is taken when the memory is done with the one before.
    """

    latency: int
    micro: int
    writes: bool


@dataclass(frozen=True)
class Pipeline:
    """The hardware of a loop: an iteration every `interval` cycles, `depth` stages, external memory that every iteration moves a
    word of."""

    interval: int
    depth: int
    style: Style = "stp"
    memory: MemoryBeats | None = None


# The program ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Access:
    """A token of a stream, or a word of `bytes` of a memory (0: a stream)."""

    name: str
    writes: bool
    bytes: int = 0

    @property
    def port(self) -> Port:
        return self.name, self.writes


@dataclass(frozen=True)
class Hold:
    """A block of `ring` is taken, to be filled (`writes`) or emptied, and given back at the end of the block of items it is in."""

    ring: str
    writes: bool
    bytes: ClassVar[int] = 0

    @property
    def name(self) -> str:
        return self.ring

    @property
    def port(self) -> Port:
        return self.ring, self.writes


@dataclass(frozen=True, eq=False)
class Branch:
    """`then` where the condition is not 0, else `other`."""

    condition: Condition
    then: Block
    other: Block = ()


@dataclass(frozen=True, eq=False)
class For:
    """`trips` iterations, `variable` taking `lower`, `lower + step`, ...

    `unroll`: None, or by how much; 0: completely, so that it is no loop in hardware. `merged`: hardware makes one loop of this and
    of the one loop in it. `pipeline`: of an innermost loop whose hardware is known.
    """

    variable: Variable
    trips: Size
    body: Block
    lower: int = 0
    step: int = 1
    unroll: int | None = None
    merged: bool = False
    pipeline: Pipeline | None = None
    label: str = ""

    @property
    def is_unrolled(self) -> bool:
        return self.unroll == 0

    @property
    def count(self) -> int:
        """CompileError where it is known only at run time."""
        if not isinstance(self.trips, int):
            where = f"loop {self.label}"
            raise CompileError(f"runs {self.trips} times, known at run time only", where=where, accepted="TaskTrace.at")
        return self.trips

    @property
    def values(self) -> NDArray[np.int64]:
        return self.lower + self.step * np.arange(self.count, dtype=np.int64)


Item: TypeAlias = Access | Hold | Branch | For
Block: TypeAlias = tuple[Item, ...]


@dataclass(frozen=True, eq=False)
class TaskTrace:
    """A task by name."""

    name: str
    body: Block
    _sizes: dict[Port, Size] = field(default_factory=dict[Port, Size], init=False, repr=False)
    _most: dict[Port, int] = field(default_factory=dict[Port, int], init=False, repr=False)
    """By port tokens, and the most of an iteration, as they were asked for: networks ask again for each value of their symbols."""

    def at(self, values: Mapping[str, int]) -> TaskTrace:
        """The same where each symbol has its value in `values`; this one where nothing depends on a symbol.

        CompileError where a symbol has no value, or one out of range.
        """
        body = _block_at(self.body, values)
        return self if body is self.body else TaskTrace(self.name, body)

    def only(self, names: Collection[str]) -> TaskTrace:
        """What it does to these channels and memories."""
        return TaskTrace(self.name, _block_of(self.body, names))

    @cached_property
    def symbols(self) -> frozenset[str]:
        """What trip counts depend on."""
        trips = [item.trips for item in items_of(self.body) if isinstance(item, For)]
        return frozenset(symbol.name for symbol in symbols_in(trips))

    @cached_property
    def largest(self) -> TaskTrace:
        """The same where every loop makes the most iterations that it can."""
        if not self.symbols:
            return self
        sizes = [item.trips for item in items_of(self.body) if isinstance(item, For)]
        return TaskTrace(self.name, _block_largest(self.body, {symbol.name: symbol.maximum for symbol in symbols_in(sizes)}))

    def tokens(self, name: str, writes: bool) -> int:
        """How many tokens (blocks, words) of `name` the task moves. CompileError where that is known at run time only."""
        size = self.token_size(name, writes)
        if isinstance(size, int):
            return size
        verb = "writes" if writes else "reads"
        raise CompileError(f"{verb} {size} tokens of '{name}', known at run time only", where=self.name, accepted="TaskTrace.at")

    def token_size(self, name: str, writes: bool) -> Size:
        """As `tokens`, as a size. CompileError where a guard looks at a loop of a run-time trip count."""
        required = (name, writes)
        if required not in self._sizes:
            found = (points(loops, guards) for item, loops, guards in placed(self.body) if _port(item) == required)
            self._sizes[required] = sum_of(*found)
        return self._sizes[required]

    def most_per_iteration(self, name: str, writes: bool) -> int:
        """The most tokens of `name` that one iteration of any loop moves, or the task outside its loops; 1 where it moves none.

        A loop that is unrolled by a factor is one whose iterations do the work of that many.
        """
        port = (name, writes)
        if port not in self._most:
            loops = [item for item in items_of(self.body) if isinstance(item, For) and not item.is_unrolled]
            bodies = [(self.body, 1), *((loop.body, min(loop.unroll or 1, maximum(loop.trips))) for loop in loops)]
            self._most[port] = max(1, *(_tokens_in(body, port) * copies for body, copies in bodies))
        return self._most[port]

    def bytes(self, writes: bool) -> int:
        """How many bytes of memories it moves."""
        words = ((item, static(points(loops, guards))) for item, loops, guards in placed(self.body) if isinstance(item, Access))
        return sum(item.bytes * count for item, count in words if item.writes == writes)


def moving_symbols(symbols: Iterable[Symbol], traces: Iterable[TaskTrace]) -> tuple[Symbol, ...]:
    """`symbols`, none where each task moves the same tokens at all values of them (they are in addresses alone)."""
    found = tuple(symbols)
    largest = {symbol.name: symbol.maximum for symbol in found}
    return found if any(trace.at(largest) is not trace for trace in traces) else ()


def _port(item: Item) -> Port | None:
    return item.port if isinstance(item, Access | Hold) else None


def _block_at(block: Block, values: Mapping[str, int]) -> Block:
    """`block` itself where nothing in it depends on a symbol."""
    found = tuple(_item_at(item, values) for item in block)
    return block if all(new is old for new, old in zip(found, block, strict=True)) else found


def _item_at(item: Item, values: Mapping[str, int]) -> Item:
    match item:
        case For():
            trips, body = value_at(item.trips, values), _block_at(item.body, values)
            return item if trips == item.trips and body is item.body else replace(item, trips=trips, body=body)
        case Branch():
            condition, then, other = item.condition.at(values), _block_at(item.then, values), _block_at(item.other, values)
            is_same = condition is item.condition and then is item.then and other is item.other
            return item if is_same else Branch(condition, then, other)
        case _:
            return item


def _block_largest(block: Block, maxima: Mapping[str, int]) -> Block:
    return tuple(_item_largest(item, maxima) for item in block)


def _item_largest(item: Item, maxima: Mapping[str, int]) -> Item:
    match item:
        case For():
            return replace(item, trips=maximum(item.trips), body=_block_largest(item.body, maxima))
        case Branch():
            return Branch(item.condition.at(maxima), _block_largest(item.then, maxima), _block_largest(item.other, maxima))
        case _:
            return item


def _block_of(block: Block, names: Collection[str]) -> Block:
    """What `block` does to `names`; branches and unrolled loops without any are left out."""
    return tuple(retained for item in block if (retained := _item_of(item, names)) is not None)


def _item_of(item: Item, names: Collection[str]) -> Item | None:
    match item:
        case For():
            body = _block_of(item.body, names)
            return replace(item, body=body) if body or not item.is_unrolled else None
        case Branch():
            then, other = _block_of(item.then, names), _block_of(item.other, names)
            return Branch(item.condition, then, other) if then or other else None
        case _:
            return item if item.name in names else None


def items_of(block: Block) -> Iterator[Item]:
    """Every item in the text of a block."""
    for item in block:
        yield item
        match item:
            case For():
                yield from items_of(item.body)
            case Branch():
                yield from items_of(item.then)
                yield from items_of(item.other)
            case _:
                continue


Guard: TypeAlias = tuple[Condition, bool]
"""A condition, and whether it must hold."""


def placed(
    block: Block, loops: tuple[For, ...] = (), guards: tuple[Guard, ...] = ()
) -> Iterator[tuple[Access | Hold, tuple[For, ...], tuple[Guard, ...]]]:
    """Every access with the loops around it, outermost first, and what has to hold."""
    for item in block:
        match item:
            case For():
                yield from placed(item.body, (*loops, item), guards)
            case Branch():
                yield from placed(item.then, loops, (*guards, (item.condition, True)))
                yield from placed(item.other, loops, (*guards, (item.condition, False)))
            case _:
                yield item, loops, guards


def accesses_of_iteration(block: Block, times: int = 1) -> Iterator[tuple[Access | Hold, int]]:
    """What the items themselves move, and how often: unrolled loops in them count whole, other loops do not, branches as taken."""
    for item in block:
        match item:
            case For() if item.is_unrolled:
                yield from accesses_of_iteration(item.body, times * item.count)
            case For():
                continue
            case Branch():
                yield from accesses_of_iteration(item.then, times)
                yield from accesses_of_iteration(item.other, times)
            case _:
                yield item, times


def _tokens_in(body: Block, port: Port) -> int:
    return sum(times for item, times in accesses_of_iteration(body) if isinstance(item, Access) and item.port == port)


# Guards ---------------------------------------------------------------------------------------------------------------


def points(loops: tuple[For, ...], guards: tuple[Guard, ...]) -> Size:
    """How many iterations of a nest there are at which all guards hold; CompileError where that depends on data, or where a guard
    looks at a loop of a run-time trip count other than to hold in its last iteration."""
    if not guards:
        return product_of(*(loop.trips for loop in loops))
    last = {condition: loop for loop in loops if (condition := _is_last(loop)) is not None}
    guards = tuple((part, required) for condition, required in guards for part in (_parts(condition) if required else [condition]))
    pinned = {last[condition] for condition, required in guards if required and condition in last}
    loops = tuple(loop for loop in loops if loop not in pinned)
    guards = tuple((condition, required) for condition, required in guards if not required or last.get(condition) not in pinned)
    involved = {variable for condition, _ in guards for variable in condition.variables()}
    if involved - {loop.variable for loop in loops}:
        raise CompileError("control depends on data", accepted="guards on loop indices")
    free = [loop.trips for loop in loops if loop.variable not in involved]
    axes = tuple(loop for loop in loops if loop.variable in involved)
    grid = Grid.of(axes, [condition for condition, _ in guards], {})
    holds = grid.everywhere
    for condition, required in guards:
        holds = holds & (grid.holds(condition, {}) == required)
    return product_of(*free, int((grid.sizes * holds).sum()))


def _is_last(loop: For) -> Condition | None:
    """That a loop of run-time trips is in its last iteration; None of one that may have none, or of other trips."""
    if isinstance(loop.trips, int) or minimum(loop.trips) < 1:
        return None
    trips = expression_of(loop.trips, {symbol: variable(symbol.name) for symbol in symbols_in([loop.trips])})
    return computed(Operator.EQUAL, variable(loop.variable), trips.plus(IndexExpression(-1)).times(loop.step))


def _parts(condition: Condition) -> Iterator[Condition]:
    """The conditions that a condition is a conjunction of."""
    ((term, factor),) = condition.terms if len(condition.terms) == 1 else ((None, 0),)
    if condition.constant == 0 and factor == 1 and isinstance(term, Computed) and term.kind is Operator.MIN:
        for operand in term.operands:
            yield from _parts(operand)
    else:
        yield condition


def leaves(condition: Condition) -> Iterator[Condition]:
    """The conditions that a condition is a conjunction, disjunction or negation of."""
    if len(condition.terms) == 1:
        ((term, factor),) = condition.terms
        is_condition = (condition.constant, factor) in ((0, 1), (1, -1)) and isinstance(term, Computed)
        if is_condition and term.kind in (Operator.MIN, Operator.MAX):
            for operand in term.operands:
                yield from leaves(operand)
            return
    yield condition


def _changes(condition: Condition, loop: For, known: Mapping[Variable, int]) -> NDArray[np.int64]:
    """The iterations of a loop, the first left out, in which a condition on it alone has another value than before."""
    value = condition.evaluate({**_arrays(known), loop.variable: loop.values})
    return np.flatnonzero(np.diff(np.broadcast_to(_defined(value), loop.count))) + 1


def _defined(value: NDArray[np.int64] | int | None) -> NDArray[np.int64] | int:
    if value is None:
        raise CompileError("a guard has no value", accepted="no division by zero, or of a negative number")
    return value


def _arrays(known: Mapping[Variable, int]) -> dict[Variable, NDArray[np.int64]]:
    return {variable: np.array(value) for variable, value in known.items()}


@dataclass(frozen=True, eq=False)
class Grid:
    """The iterations of a nest, cut where a guard changes: `cuts[k]` are the iterations of loop k where a part begins. Guards have
    one value in each cell."""

    loops: tuple[For, ...]
    cuts: tuple[NDArray[np.int64], ...]

    @staticmethod
    def of(loops: tuple[For, ...], conditions: list[Condition], known: Mapping[Variable, int]) -> Grid:
        """Cut for these conditions, on the loops and on what is `known`; one on several loops at once cuts each iteration of them.

        CompileError where those have more than `MAX_GRID` points.
        """
        at = {loop.variable: index for index, loop in enumerate(loops)}
        found: list[list[NDArray[np.int64]]] = [[np.zeros(min(loop.count, 1), dtype=np.int64)] for loop in loops]
        for leaf in (leaf for condition in conditions for leaf in leaves(condition)):
            axes = [at[variable] for variable in leaf.variables() if variable in at]
            if len(axes) == 1:
                found[axes[0]].append(_changes(leaf, loops[axes[0]], known))
                continue
            if (size := prod(loops[axis].count for axis in axes)) > MAX_GRID:
                raise CompileError(f"a guard depends on loops of {size} iterations in all", accepted=f"at most {MAX_GRID}")
            for axis in axes:
                found[axis].append(np.arange(loops[axis].count, dtype=np.int64))
        return Grid(loops, tuple(np.unique(np.concatenate(cuts)) for cuts in found))

    @property
    def everywhere(self) -> NDArray[np.bool_]:
        return np.ones([len(cuts) for cuts in self.cuts], dtype=bool)

    def holds(self, condition: Condition, known: Mapping[Variable, int]) -> NDArray[np.bool_]:
        """Whether a condition holds, by cell."""
        axes = np.meshgrid(*self.cuts, indexing="ij") if self.cuts else []
        values = {loop.variable: loop.lower + loop.step * axis for loop, axis in zip(self.loops, axes, strict=True)}
        value = _defined(condition.evaluate(_arrays(known) | values))
        return np.broadcast_to(np.asarray(value, dtype=bool), self.everywhere.shape)

    @cached_property
    def lengths(self) -> tuple[NDArray[np.int64], ...]:
        return tuple(np.diff(np.append(cuts, loop.count)) for cuts, loop in zip(self.cuts, self.loops, strict=True))

    @property
    def sizes(self) -> NDArray[np.int64]:
        """The number of iterations in each cell."""
        found = np.ones((), dtype=np.int64)
        for lengths in self.lengths:
            found = found[..., None] * lengths
        return found

    def iterations(self, cells: NDArray[np.bool_]) -> NDArray[np.int64]:
        """The numbers, ascending, of the iterations of the merged nest that are in these cells."""
        if cells.all():
            return np.arange(prod(loop.count for loop in self.loops), dtype=np.int64)
        found = [self._of_cell(cell) for cell in np.argwhere(cells)]
        return np.sort(np.concatenate(found)) if len(found) > 1 else (found[0] if found else np.zeros(0, dtype=np.int64))

    def _of_cell(self, cell: NDArray[np.int64]) -> NDArray[np.int64]:
        numbers = np.zeros(1, dtype=np.int64)
        for loop, cuts, lengths, part in zip(self.loops, self.cuts, self.lengths, cell.tolist(), strict=True):
            inside = cuts[part] + np.arange(int(lengths[part]), dtype=np.int64)
            numbers = (numbers[:, None] * loop.count + inside).ravel()
        return numbers


# Steps ----------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Case:
    """What some iterations of a nest do: `accesses` in order, in `iterations` (numbers in the merged nest, ascending)."""

    iterations: NDArray[np.int64]
    accesses: tuple[Port, ...]


@dataclass(frozen=True, eq=False)
class Nest:
    """A loop, or a nest that hardware merges, outermost first, and the accesses of an iteration with what has to hold.

    `known`: the variables of the loops around it. `pipeline`: its hardware, where that is known.
    """

    loops: tuple[For, ...]
    accesses: tuple[tuple[Port, tuple[Guard, ...]], ...]
    known: Mapping[Variable, int] = field(default_factory=dict[Variable, int])

    @property
    def pipeline(self) -> Pipeline | None:
        return self.loops[-1].pipeline

    @property
    def count(self) -> int:
        return prod(loop.count for loop in self.loops)

    @cached_property
    def cases(self) -> tuple[Case, ...]:
        """One for every sequence of accesses that iterations make."""
        conditions = [condition for _, guards in self.accesses for condition, _ in guards]
        grid = Grid.of(self.loops, conditions, self.known)
        made = np.array([self._made(grid, guards) for _, guards in self.accesses], dtype=bool)
        if not len(made):
            return ()
        flat = made.reshape(len(made), -1)
        kinds, kind_of = np.unique(flat, axis=1, return_inverse=True)
        found: list[Case] = []
        for number, kind in enumerate(kinds.T):
            if kind.any():
                cells = (kind_of.reshape(-1) == number).reshape(made.shape[1:])
                ports = tuple(port for (port, _), is_made in zip(self.accesses, kind.tolist(), strict=True) if is_made)
                found.append(Case(grid.iterations(cells), ports))
        return tuple(found)

    def _made(self, grid: Grid, guards: tuple[Guard, ...]) -> NDArray[np.bool_]:
        made = grid.everywhere
        for condition, required in guards:
            made = made & (grid.holds(condition, self.known) == required)
        return made


@dataclass(frozen=True)
class Straight:
    """Accesses between loops, in order; without time they happen together."""

    ports: tuple[Port, ...]


Moment = Literal["write_acquire", "write_release", "read_acquire", "read_release"]
"""A block of a ring is acquired to be filled, released, acquired to be emptied, and released again. The same of a FIFO: a write
acquires a slot and releases a token, a read acquires the token and releases its slot."""


@dataclass(frozen=True)
class LockEvent:
    """The next block of `ring` is acquired or released: which of both, and by which side, is its `moment`."""

    ring: str
    moment: Moment


@dataclass(frozen=True, eq=False)
class Holding:
    """A merged nest whose iterations each take blocks of `rings` (and whether to fill them) first and give them back in the end."""

    rings: tuple[Port, ...]
    nest: Nest


@dataclass(frozen=True, eq=False)
class InTurn:
    """One after the other."""

    parts: tuple[Step, ...]


@dataclass(frozen=True, eq=False)
class Repeated:
    """`body`, `count` times in a row."""

    body: Step
    count: int


Step: TypeAlias = Nest | Straight | LockEvent | Holding | InTurn | Repeated


def steps(trace: TaskTrace) -> Step:
    """What a task does, in order. CompileError where a trip count is known at run time only, UntimedError where a pipelined loop
    takes a block under a condition."""
    return _Steps({}, {}).of(trace.body)


def has_steps(block: Block) -> bool:
    """Whether `block` has parts that happen in turn: a loop that is left in hardware, or a block of a ring that is held."""
    return any(isinstance(item, Hold) or (isinstance(item, For) and not item.is_unrolled) for item in items_of(block))


class _Steps:
    """Goes through the items of one block. `known`: the variables around it; `found`: loops by what their guards look at."""

    def __init__(self, known: Mapping[Variable, int], found: dict[tuple[object, ...], Step]) -> None:
        self.known, self.found = dict(known), found
        self.parts: list[Step] = []
        self.pending: list[Port] = []

    def of(self, block: Block) -> Step:
        self._block(block)
        self._flush()
        return self.parts[0] if len(self.parts) == 1 else InTurn(tuple(self.parts))

    def _flush(self) -> None:
        if self.pending:
            self.parts.append(Straight(tuple(self.pending)))
            self.pending = []

    def _block(self, block: Block) -> None:
        held: list[Step] = []
        for item in block:
            match item:
                case Access():
                    if not item.bytes:
                        self.pending.append(item.port)
                case Hold():
                    self._flush()
                    self.parts.append(LockEvent(item.ring, "write_acquire" if item.writes else "read_acquire"))
                    held.append(LockEvent(item.ring, "write_release" if item.writes else "read_release"))
                case Branch():
                    holds = item.condition.evaluate(_arrays(self.known))
                    self._block(item.then if _defined(holds) else item.other)
                case For() if item.is_unrolled:
                    for value in item.values.tolist():
                        self.known[item.variable] = value
                        self._block(item.body)
                case For():
                    self._flush()
                    self.parts.append(self._loop(item))
        if held:
            self._flush()
            self.parts += reversed(held)

    def _loop(self, loop: For) -> Step:
        """A loop, perhaps again at the same values of what guards in it look at."""
        conditions = [item.condition for item in items_of(loop.body) if isinstance(item, Branch)]
        seen = {variable for condition in conditions for variable in condition.variables()}
        key = (loop, *((variable, value) for variable, value in self.known.items() if variable in seen))
        if key not in self.found:
            self.found[key] = self._new_loop(loop, conditions)
        return self.found[key]

    def _new_loop(self, loop: For, conditions: list[Condition]) -> Step:
        if loop.count == 0:
            return InTurn(())
        if loop.merged or loop.pipeline is not None or not has_steps(loop.body):
            return self._nest(loop)
        cuts = Grid.of((loop,), _known_in(conditions, loop, self.known), self.known).cuts[0]
        parts: list[Step] = []
        for begin, end in pairwise([*cuts.tolist(), loop.count]):
            inside = _Steps({**self.known, loop.variable: loop.lower + loop.step * begin}, self.found)
            body = inside.of(loop.body)
            parts.append(body if end - begin == 1 else Repeated(body, end - begin))
        return parts[0] if len(parts) == 1 else InTurn(tuple(parts))

    def _nest(self, outermost: For) -> Step:
        loops = [outermost]
        while loops[-1].merged:
            loops.append(next(item for item in loops[-1].body if isinstance(item, For)))
        body = loops[-1].body
        accesses = tuple(_guarded(body, ()))
        nest = Nest(tuple(loops), accesses, dict(self.known))
        rings = tuple((item.ring, item.writes) for item in body if isinstance(item, Hold))
        if len(rings) != sum(isinstance(item, Hold) for item in items_of(body)):
            raise UntimedError("takes a block under a condition", where=outermost.label, accepted="blocks taken by every iteration")
        return Holding(rings, nest) if rings else nest


def _known_in(conditions: list[Condition], loop: For, known: Mapping[Variable, int]) -> list[Condition]:
    """The parts of conditions that look at a loop, as conditions of it alone.

    Where a part looks at loops inside as well, each iteration is one of its own.
    """
    found: list[Condition] = []
    for leaf in (leaf for condition in conditions for leaf in leaves(condition)):
        seen = leaf.variables()
        if loop.variable in seen:
            alone = seen <= {loop.variable, *known}
            found.append(leaf if alone else IndexExpression(0, frozenset({(loop.variable, 1)})))
    return found


def _guarded(
    block: Block, guards: tuple[Guard, ...], fixed: tuple[tuple[Variable, int], ...] = ()
) -> Iterator[tuple[Port, tuple[Guard, ...]]]:
    """The accesses of an iteration in order, with what has to hold; unrolled loops are written out."""
    for item in block:
        match item:
            case Access():
                if not item.bytes:
                    yield item.port, guards
            case Branch():
                condition = item.condition.at(dict(fixed))
                yield from _guarded(item.then, (*guards, (condition, True)), fixed)
                yield from _guarded(item.other, (*guards, (condition, False)), fixed)
            case For():
                for value in item.values.tolist():
                    yield from _guarded(item.body, guards, (*fixed, (item.variable, value)))
            case Hold():
                continue
