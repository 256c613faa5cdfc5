"""What a task does to its streams, as a sequence of iterations: the token model (`stc.iteration.task_program`)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache

from xdsl.dialects import arith, scf
from xdsl.ir import Block, Operation, SSAValue

from stc.analysis.loops import constant_bounds, integer_constant, is_unrolled
from stc.diagnostics import CompileError
from stc.dialects import stream
from stc.dialects.dataflow import TaskOp
from stc.iteration.task_program import Action

_COMPARE = {
    0: lambda a, b: a == b,
    1: lambda a, b: a != b,
    2: lambda a, b: a < b,
    3: lambda a, b: a <= b,
    4: lambda a, b: a > b,
    5: lambda a, b: a >= b,
    6: lambda a, b: a < b,
    7: lambda a, b: a <= b,
    8: lambda a, b: a > b,
    9: lambda a, b: a >= b,
}
"""arith.cmpi predicates by number, on induction variables, which are never negative."""


@dataclass
class TaskActions:
    """The actions of `task`; channels are called by `names` of the values outside. Iterating twice gives them twice."""

    task: TaskOp
    names: Mapping[SSAValue, str]
    values: dict[SSAValue, int] = field(default_factory=dict)
    guard_ivs: dict[scf.ForOp, set[SSAValue]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.channel = channels_of(self.task, self.names)
        self.outputs = set(self.task.output_ports)
        self.touches, self.has_steps = cache(touches_streams), cache(has_steps)

    def __iter__(self) -> Iterator[Action]:
        return _merged(self._block(self.task.body.block))

    def _block(self, block: Block) -> Iterator[Action]:
        """The actions of one run of a block: accesses between loops happen together."""
        pending = _Accesses()
        release: list[Action] = []
        for op in block.ops:
            match op:
                case stream.ReadOp():
                    pending.read(self.channel[op.stream])
                case stream.WriteOp():
                    pending.write(self.channel[op.stream])
                case stream.AcquireOp():
                    yield from pending.flush()
                    name = self.channel[op.block]
                    if op.block in self.outputs:
                        yield Action(needs_room=(name,))
                        release.append(Action(writes=((name, 1),)))
                    else:
                        yield Action(needs_token=(name,))
                        release.append(Action(reads=((name, 1),)))
                case scf.IfOp() | scf.ForOp() if not self.touches(op):
                    if isinstance(op, scf.ForOp) and not is_unrolled(op):
                        yield from pending.flush()  # what stands behind a loop happens after it
                case scf.IfOp() if self.has_steps(op):
                    yield from pending.flush()
                    taken = self._taken(op)
                    yield from self._block(taken) if taken is not None else ()
                case scf.IfOp():
                    self._branch(op, pending)
                case scf.ForOp() if is_unrolled(op) and not self.has_steps(op):
                    self._unrolled(op, pending)
                case scf.ForOp():
                    yield from pending.flush()
                    yield from self._loop(op)
                case _:
                    continue
        yield from pending.flush()
        yield from release

    def _loop(self, loop: scf.ForOp) -> Iterator[Action]:
        bounds = constant_bounds(loop)
        if bounds is None:
            raise CompileError("loop bounds are not constant", where=self.task.sym_name.data, accepted="constant bounds")
        iv = loop.body.block.args[0]
        if iv not in self._guard_ivs(loop):
            once = list(_merged(self._block(loop.body.block)))
            if len(once) == 1 and bounds.trip > 0:
                yield replace(once[0], iterations=once[0].iterations * bounds.trip)
                return
            for _ in range(bounds.trip):
                yield from once
            return
        for value in range(bounds.lower, bounds.upper, bounds.step):
            self.values[iv] = value
            yield from self._block(loop.body.block)

    def _unrolled(self, loop: scf.ForOp, pending: _Accesses) -> None:
        bounds = constant_bounds(loop)
        assert bounds is not None
        for value in range(bounds.lower, bounds.upper, bounds.step):
            self.values[loop.body.block.args[0]] = value
            self._straight(loop.body.block, pending)

    def _branch(self, op: scf.IfOp, pending: _Accesses) -> None:
        taken = self._taken(op)
        if taken is not None:
            self._straight(taken, pending)

    def _taken(self, op: scf.IfOp) -> Block | None:
        """The block of the branch that runs, None where there is none."""
        region = op.true_region if self._evaluate(op.cond) else op.false_region
        return region.block if region.blocks else None

    def _straight(self, block: Block, pending: _Accesses) -> None:
        """Accesses that belong to the iteration around them."""
        for op in block.ops:
            match op:
                case stream.ReadOp():
                    pending.read(self.channel[op.stream])
                case stream.WriteOp():
                    pending.write(self.channel[op.stream])
                case scf.IfOp() if self.touches(op):
                    self._branch(op, pending)
                case scf.ForOp() if self.touches(op):
                    self._unrolled(op, pending)
                case _:
                    continue

    def _guard_ivs(self, loop: scf.ForOp) -> set[SSAValue]:
        """The values that guards of accesses inside `loop` are computed from: an iteration differs from others only by them."""
        if loop not in self.guard_ivs:
            conditions = [op.cond for op in loop.walk() if isinstance(op, scf.IfOp) and self.touches(op)]
            self.guard_ivs[loop] = values_behind(conditions)
        return self.guard_ivs[loop]

    def _evaluate(self, value: SSAValue) -> int:
        """An index or condition computed from induction variables and constants."""
        if value in self.values:
            return self.values[value]
        op = value.owner
        match op:
            case arith.ConstantOp() if (constant := integer_constant(value)) is not None:
                return constant
            case arith.AddiOp():
                return self._evaluate(op.lhs) + self._evaluate(op.rhs)
            case arith.MuliOp():
                return self._evaluate(op.lhs) * self._evaluate(op.rhs)
            case arith.AndIOp():
                return self._evaluate(op.lhs) & self._evaluate(op.rhs)
            case arith.CmpiOp():
                return int(_COMPARE[op.predicate.value.data](self._evaluate(op.lhs), self._evaluate(op.rhs)))
            case _:
                raise CompileError("control depends on data", where=self.task.sym_name.data, accepted="guards on loop indices")


class _Accesses:
    """Accesses that fire together."""

    def __init__(self) -> None:
        self.reads: dict[str, int] = {}
        self.writes: dict[str, int] = {}

    def read(self, name: str) -> None:
        self.reads[name] = self.reads.get(name, 0) + 1

    def write(self, name: str) -> None:
        self.writes[name] = self.writes.get(name, 0) + 1

    def flush(self) -> Iterator[Action]:
        if self.reads or self.writes:
            yield Action(tuple(self.reads.items()), tuple(self.writes.items()))
            self.reads, self.writes = {}, {}


def _merged(actions: Iterable[Action]) -> Iterator[Action]:
    """Neighbouring equal actions as one with more iterations."""
    held: Action | None = None
    count = 0
    for action in actions:
        if held is not None and _moves_the_same(held, action):
            count += action.iterations
            continue
        if held is not None:
            yield _repeated(held, count)
        held, count = action, action.iterations
    if held is not None:
        yield _repeated(held, count)


def _moves_the_same(first: Action, second: Action) -> bool:
    if first.reads != second.reads or first.writes != second.writes:
        return False
    return not (first.needs_room or first.needs_token or second.needs_room or second.needs_token)


def _repeated(action: Action, count: int) -> Action:
    return action if action.iterations == count else replace(action, iterations=count)


def channels_of(task: TaskOp, names: Mapping[SSAValue, str]) -> dict[SSAValue, str]:
    """The names of the channels behind the ports of `task`; `names` are those of the values outside."""
    ports = zip(task.body.block.args, task.operands, strict=True)
    return {port: names[value] for port, value in ports if value in names}


def has_steps(root: Operation) -> bool:
    """Whether the accesses in `root` happen in steps: in a loop that is left in hardware, or to a block that is acquired first."""
    return any(
        isinstance(op, stream.AcquireOp) or (isinstance(op, scf.ForOp) and not is_unrolled(op) and touches_streams(op))
        for op in root.walk()
    )


def touches_streams(root: Operation) -> bool:
    """Whether anything in `root` reads or writes a stream or takes a block."""
    return any(isinstance(op, stream.ReadOp | stream.WriteOp | stream.AcquireOp) for op in root.walk())


def values_behind(values: Iterable[SSAValue]) -> set[SSAValue]:
    """`values` and everything they are computed from, block arguments included."""
    found: set[SSAValue] = set()
    pending = list(values)
    while pending:
        value = pending.pop()
        if value not in found:
            found.add(value)
            if isinstance(value.owner, Operation):
                pending.extend(value.owner.operands)
    return found
