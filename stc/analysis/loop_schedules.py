"""One iteration of a pipelined loop, scheduled as soon as possible: its depth, its longest chain, what it carries to later ones.

An estimate; no vendor tool is asked. An operation starts when its operands are there, without limits on resources: the
initiation interval accounts for those. What is stored to an entry of local memory and loaded from it in the same iteration is
forwarded without the memory (the compiler sees both indices); where the store has a condition that the load has not, a cycle
chooses between what was stored and what is in memory. Copies of unrolled loops run side by side, unless one hands a value to the
next. External memory answers at once here: its latency belongs to the port.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import TypeAlias

from xdsl.dialects import memref, scf, vector
from xdsl.ir import Block, Operation, SSAValue

from stc.analysis.index_expressions import IndexExpression, index_expression
from stc.analysis.loops import constant_bounds, is_unrolled
from stc.analysis.operator_library import FORWARD, MEMORY_LOAD, MEMORY_STORE, HardwareCost, hardware_cost, short_adder_cost

MemoryAccess: TypeAlias = memref.LoadOp | memref.StoreOp | vector.LoadOp | vector.StoreOp
ACCESSES = (memref.LoadOp, memref.StoreOp, vector.LoadOp, vector.StoreOp)


@dataclass(frozen=True)
class Entry:
    """An entry of local memory, or the first of a vector of them: the buffer and its indices."""

    buffer: SSAValue
    indices: tuple[IndexExpression, ...]

    @property
    def variables(self) -> set[SSAValue]:
        """What its indices are computed from."""
        return set[SSAValue]().union(*(index.variables() for index in self.indices))


@dataclass(frozen=True)
class ChainLink:
    """An operation on a chain: its name, cycles, the origin of that figure, the chain before it; `op` in the IR, if it is one."""

    operator: str
    stages: int
    origin: str
    before: ChainLink | None
    op: Operation | None = None


def links(chain: ChainLink | None) -> list[ChainLink]:
    """The operations of a chain, first to last."""
    found: list[ChainLink] = []
    while chain is not None:
        found.append(chain)
        chain = chain.before
    return found[::-1]


@dataclass(frozen=True)
class Path:
    """A way through an iteration: its cycles, and the operations on it that take any."""

    cycles: int = 0
    chain: ChainLink | None = None

    def then(self, op: Operation, cost: HardwareCost, name: str = "") -> Path:
        """The way with `op` at its end, called `name` or as the operation is."""
        if cost.stages == 0:
            return self
        return Path(self.cycles + cost.stages, ChainLink(name or operator_name(op), cost.stages, cost.origin, self.chain, op))


START = Path()
Source: TypeAlias = Entry | int
"""Where a value of an earlier iteration comes in: an entry that is loaded, or the number of a value the loop carries."""


@dataclass(frozen=True)
class Circuit:
    """A value of an earlier iteration comes in at `source`; what is computed from it leaves at `target`, `path` later.

    Where both are entries of memory, `path` begins with the load and ends with the store.
    """

    source: Source
    target: Source
    path: Path


@dataclass(frozen=True)
class IterationSchedule:
    """What one iteration takes: `longest` is the longest way through it."""

    longest: Path
    circuits: tuple[Circuit, ...]

    @property
    def depth(self) -> int:
        """Cycles from the first operation to the last, at least 1."""
        return max(1, self.longest.cycles)


def iteration_schedule(loop: scf.ForOp, clock_ns: float, short_adders: Set[Operation] = frozenset()) -> IterationSchedule:
    """The schedule of one iteration of `loop`, for cycles of `clock_ns`; `short_adders` are built for few stages, without DSPs."""
    schedule = _Scheduler(clock_ns, _rewritten(loop), short_adders)
    block = loop.body.block
    for number, argument in enumerate(block.args[1:]):
        schedule.values[argument] = _Arrival(START, {number: START})
    schedule.run(block, {})
    for number, value in enumerate(_yielded(block)):
        for source, path in schedule.values.get(value, _NOTHING).since.items():
            schedule.circuits[source, number] = path
    circuits = tuple(Circuit(source, target, path) for (source, target), path in schedule.circuits.items())
    return IterationSchedule(schedule.longest, circuits)


@dataclass(frozen=True)
class _Arrival:
    """When a value is there: the longest way to it, and the longest from each source it is computed from."""

    path: Path
    since: Mapping[Source, Path]

    def then(self, op: Operation, cost: HardwareCost, name: str = "") -> _Arrival:
        """What `op` makes of it."""
        return _Arrival(
            self.path.then(op, cost, name), {source: way.then(op, cost, name) for source, way in self.since.items()}
        )


_NOTHING = _Arrival(START, {})


@dataclass(frozen=True)
class _Stored:
    """What was stored to an entry, under the conditions `guards`, outermost first."""

    value: _Arrival
    guards: tuple[Block, ...]


@dataclass
class _Scheduler:
    clock_ns: float
    rewritten: set[SSAValue]
    short_adders: Set[Operation]
    values: dict[SSAValue, _Arrival] = field(default_factory=dict[SSAValue, _Arrival])
    stored: dict[Entry, _Stored] = field(default_factory=dict[Entry, _Stored])
    guards: tuple[Block, ...] = ()
    circuits: dict[tuple[Source, Source], Path] = field(default_factory=dict[tuple[Source, Source], Path])
    longest: Path = START

    def run(self, block: Block, copies: Mapping[SSAValue, int]) -> None:
        """Schedule the operations of `block`; `copies` are the values of unrolled loops around."""
        for op in block.ops:
            match op:
                case scf.ForOp():
                    self._unrolled(op, copies)
                case scf.IfOp():
                    self._guarded(op, copies)
                case scf.YieldOp():
                    pass
                case memref.LoadOp() | vector.LoadOp():
                    self._load(op, entry_of(op, copies))
                case memref.StoreOp() | vector.StoreOp():
                    self._store(op, entry_of(op, copies))
                case _:
                    self._computed(op, _latest(self._arrivals(op.operands)))

    def _arrivals(self, values: Sequence[SSAValue]) -> Iterator[_Arrival]:
        return (self.values[value] for value in values if value in self.values)

    def _computed(self, op: Operation, operands: _Arrival) -> _Arrival:
        cost = short_adder_cost(op, self.clock_ns) if op in self.short_adders else hardware_cost(op, self.clock_ns)
        arrival = operands.then(op, cost)
        path = arrival.path
        for result in op.results:
            self.values[result] = arrival
        if path.cycles > self.longest.cycles:
            self.longest = path
        return arrival

    def _load(self, op: memref.LoadOp | vector.LoadOp, entry: Entry) -> None:
        handed = self.stored.get(entry)
        if handed is not None and handed.guards == self.guards[: len(handed.guards)]:
            self.values[op.results[0]] = handed.value
            return
        arrival = _latest(self._arrivals(op.indices))
        if entry.buffer in self.rewritten:
            arrival = _Arrival(arrival.path, {**arrival.since, entry: START})
        loaded = self._computed(op, arrival)
        if handed is not None:
            self.values[op.results[0]] = _latest(iter((loaded, handed.value.then(op, FORWARD, "forward"))))

    def _store(self, op: memref.StoreOp | vector.StoreOp, entry: Entry) -> None:
        value = op.value if isinstance(op, memref.StoreOp) else op.vector
        operands = _latest(self._arrivals([value, *op.indices]))
        self.stored[entry] = _Stored(operands, self.guards)
        written = self._computed(op, operands)
        for source, path in written.since.items():
            if isinstance(source, Entry) and source.buffer is entry.buffer:
                self.circuits[source, entry] = path

    def _unrolled(self, loop: scf.ForOp, copies: Mapping[SSAValue, int]) -> None:
        """All copies; the values carried from one to the next make a chain."""
        body, bounds = loop.body.block, constant_bounds(loop)
        carried = [self.values.get(value, _NOTHING) for value in loop.iter_args]
        known = range(bounds.lower, bounds.upper, bounds.step) if bounds is not None and is_unrolled(loop) else ()
        for value in known or (None,):
            self.values.update(zip(body.args[1:], carried, strict=True))
            self.run(body, copies if value is None else {**copies, body.args[0]: value})
            carried = [self.values.get(result, _NOTHING) for result in _yielded(body)]
        self.values.update(zip(loop.results, carried, strict=True))

    def _guarded(self, op: scf.IfOp, copies: Mapping[SSAValue, int]) -> None:
        """Both branches are there; results are chosen by the condition."""
        chosen = [[self.values.get(op.cond, _NOTHING)] for _ in op.results]
        outside = self.guards
        for region in op.regions:
            for block in region.blocks:
                self.guards = (*outside, block)
                self.run(block, copies)
                for ways, value in zip(chosen, _yielded(block), strict=False):
                    ways.append(self.values.get(value, _NOTHING))
        self.guards = outside
        self.values.update((result, _latest(iter(ways))) for result, ways in zip(op.results, chosen, strict=True))


def _latest(arrivals: Iterator[_Arrival]) -> _Arrival:
    path, since = START, dict[Source, Path]()
    for arrival in arrivals:
        if arrival.path.cycles > path.cycles:
            path = arrival.path
        for source, way in arrival.since.items():
            if source not in since or way.cycles > since[source].cycles:
                since[source] = way
    return _Arrival(path, since)


def _yielded(block: Block) -> Sequence[SSAValue]:
    return block.last_op.operands if isinstance(block.last_op, scf.YieldOp) else ()


def _rewritten(loop: scf.ForOp) -> set[SSAValue]:
    """Buffers that are both loaded from and stored to."""
    loaded = {buffer_of(op) for op in loop.walk() if isinstance(op, memref.LoadOp | vector.LoadOp)}
    return loaded & {buffer_of(op) for op in loop.walk() if isinstance(op, memref.StoreOp | vector.StoreOp)}


def buffer_of(access: MemoryAccess) -> SSAValue:
    """The array that an access is to."""
    return access.memref if isinstance(access, memref.LoadOp | memref.StoreOp) else access.base


def entry_of(access: MemoryAccess, copies: Mapping[SSAValue, int]) -> Entry:
    """What an access is to, in the copy of unrolled loops with these values."""
    return Entry(buffer_of(access), tuple(index_expression(index, copies) for index in access.indices))


def operator_name(op: Operation) -> str:
    """An operation as a table names it: without its dialect, `stream.read` and the like whole."""
    dialect, _, name = op.name.partition(".")
    if dialect in ("memref", "vector") and isinstance(op, ACCESSES):
        return name
    return name if dialect in ("arith", "math") else op.name


MEMORY_CYCLES = MEMORY_LOAD.stages + MEMORY_STORE.stages
"""Of a circuit through memory, what the memory takes."""
