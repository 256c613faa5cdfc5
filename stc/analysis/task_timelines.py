"""When a task moves its tokens if its inputs are always there and its outputs never full: from the IR after `hls-directives`.

The same statements as in `stc.analysis.task_programs`, with the time that `stc_sim` charges for them: a pipelined loop, merged
with the loops it is perfectly nested in, issues an iteration every II cycles and drains when it ends; an access outside such a
loop takes a cycle; loops that compute without streams take their time too; a loop that moves words of external memory has the pace
of its port (`stc.analysis.memory_paces`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from math import prod
from types import MappingProxyType

import numpy as np
from xdsl.dialects import memref, scf
from xdsl.ir import Block, Operation, SSAValue

from stc.analysis.executions import index_value, inductions
from stc.analysis.loop_estimates import loop_estimate
from stc.analysis.loop_schedules import buffer_of
from stc.analysis.loops import Bounds, constant_bounds, is_flattened, is_unrolled, pipeline_ii
from stc.analysis.task_programs import channels_of, touches_streams, values_behind
from stc.diagnostics import CompileError, UntimedError
from stc.dialects import stream
from stc.dialects.dataflow import TaskOp
from stc.iteration.task_timeline import TAIL, Cycles, Handover, Loop, MemoryPace, Moment, Node, Port, Repeat, Row, TaskTimeline


def task_timeline(
    task: TaskOp, names: Mapping[SSAValue, str], clock_ns: float, memories: Mapping[SSAValue, MemoryPace] = MappingProxyType({})
) -> TaskTimeline:
    """The timeline of `task`, pipelines as deep as cycles of `clock_ns` make them; channels are called by `names`.

    `memories`: the pace of external memories by their values outside the task; those not named answer at once.
    CompileError where the task has a loop that is not pipelined (before `hls-directives`), or control that depends on data;
    UntimedError where a pipelined loop takes a block in some iterations only.
    """
    ports = zip(task.body.block.args, task.operands, strict=True)
    inside: dict[SSAValue, MemoryPace] = {port: memories[value] for port, value in ports if value in memories}
    builder = _Builder(task, channels_of(task, names), clock_ns, inside)
    return TaskTimeline(task.sym_name.data, builder.block(task.body.block))


@dataclass
class _Builder:
    """Walks a task. `memories`: by port. `values`: the induction variables of the loops around that are not replicated."""

    task: TaskOp
    channel: Mapping[SSAValue, str]
    clock_ns: float
    memories: Mapping[SSAValue, MemoryPace]
    values: dict[SSAValue, int] = field(default_factory=dict[SSAValue, int])

    def __post_init__(self) -> None:
        self.outputs = set(self.task.output_ports)
        self.takes_time, self.depth = cache(_takes_time), cache(self._depth)
        self.behind_guards = cache(self._values_behind_guards)
        self.known: dict[tuple[object, ...], Node] = {}

    def _depth(self, loop: scf.ForOp) -> int:
        return loop_estimate(loop, self.task, self.clock_ns).depth

    def block(self, block: Block) -> Node:
        """What one run of a block does, in order."""
        parts = list(self._parts(block))
        return parts[0] if len(parts) == 1 else Row(tuple(parts))

    def _parts(self, block: Block) -> Iterator[Node]:
        held: list[Node] = []
        for op in block.ops:
            match op:
                case stream.ReadOp():
                    yield _straight((self.channel[op.stream], False))
                case stream.WriteOp():
                    yield _straight((self.channel[op.stream], True))
                case stream.AcquireOp():
                    ring, writes = self.channel[op.block], op.block in self.outputs
                    held.append(_handover(ring, "published" if writes else "freed"))
                    yield _handover(ring, "room" if writes else "taken")
                case scf.IfOp() if self.takes_time(op):
                    region = op.true_region if self._holds(op) else op.false_region
                    yield from self._parts(region.block) if region.blocks else ()
                case scf.ForOp() if is_unrolled(op):
                    yield from self._copies(op) if self.takes_time(op) else ()
                case scf.ForOp():
                    yield self._remembered(op)
                case _:
                    continue
        yield from reversed(held)

    def _holds(self, op: scf.IfOp) -> bool:
        inductions(op.cond)  # refuses what depends on data
        return bool(index_value(op.cond, {iv: np.array(at) for iv, at in self.values.items()}))

    def _copies(self, loop: scf.ForOp) -> Iterator[Node]:
        for value in _range(self._bounds(loop)):
            self.values[loop.body.block.args[0]] = value
            yield from self._parts(loop.body.block)

    def _remembered(self, loop: scf.ForOp) -> Node:
        """A loop, perhaps again at the same values of what its guards look at."""
        seen = tuple(sorted((id(iv), at) for iv, at in self.values.items() if iv in self.behind_guards(loop)))
        key = (loop, seen)
        if key not in self.known:
            self.known[key] = self._loop(loop)
        return self.known[key]

    def _loop(self, loop: scf.ForOp) -> Node:
        if pipeline_ii(loop) is not None or is_flattened(loop):
            return self._flattened(loop)
        if not self.takes_time(loop.body.block):
            name = self.task.sym_name.data
            raise CompileError("a loop is not pipelined", where=name, accepted="the IR after hls-directives")
        if loop.body.block.args[0] in self.behind_guards(loop):
            return Row(tuple(self._copies(loop)))  # its iterations differ
        return Repeat(self.block(loop.body.block), self._bounds(loop).trip)

    def _values_behind_guards(self, root: Operation) -> set[SSAValue]:
        return values_behind(op.cond for op in root.walk() if isinstance(op, scf.IfOp) and self.takes_time(op))

    def _bounds(self, loop: scf.ForOp) -> Bounds:
        bounds = constant_bounds(loop)
        if bounds is None:
            raise CompileError("loop bounds are not constant", where=self.task.sym_name.data, accepted="constant bounds")
        return bounds

    def _flattened(self, outermost: scf.ForOp) -> Node:
        """A pipelined loop with the perfect nest around it, which is one loop in hardware."""
        nest = [outermost]
        while pipeline_ii(nest[-1]) is None:
            nest.append(next(op for op in nest[-1].body.block.ops if isinstance(op, scf.ForOp)))
        innermost = nest[-1]
        interval = pipeline_ii(innermost)
        assert interval is not None
        bounds = [self._bounds(loop) for loop in nest]
        count = prod(each.trip for each in bounds)
        if count == 0:
            return Row(())
        values = {iv: np.array(at) for iv, at in self.values.items()}
        if self.behind_guards(outermost):
            axes = np.meshgrid(*(np.arange(each.lower, each.upper, each.step) for each in bounds), indexing="ij")
            values |= {loop.body.block.args[0]: axis.ravel() for loop, axis in zip(nest, axes, strict=True)}
        depth = self.depth(innermost)
        if any(isinstance(op, stream.AcquireOp) for op in innermost.walk()):
            return self._iterations_with_blocks(innermost.body.block, count, interval, depth, values)
        iterations = _Iterations(count, self.channel, values)
        iterations.block(innermost.body.block, np.array(True))
        return replace(iterations.loop(interval, depth), memory=self._memory(innermost, first_stage(depth)))

    def _memory(self, loop: scf.ForOp, stage: int) -> MemoryPace | None:
        """The external memory that every iteration moves a word of, read in `stage`."""
        if not self.memories:
            return None
        buffers = (buffer_of(op) for op in loop.walk() if isinstance(op, memref.LoadOp | memref.StoreOp))
        found = next((self.memories[buffer] for buffer in buffers if buffer in self.memories), None)
        return found if found is None or found.writes else replace(found, latency=found.latency - stage)

    def _iterations_with_blocks(
        self, body: Block, count: int, interval: int, depth: int, values: Mapping[SSAValue, np.ndarray]
    ) -> Node:
        """A pipelined loop that takes blocks in every iteration: one by one, `interval` cycles apart, and the drain."""
        taken: list[Node] = []
        given: list[Node] = []
        for op in body.ops:
            if isinstance(op, stream.AcquireOp):
                ring, writes = self.channel[op.block], op.block in self.outputs
                first = first_stage(depth)
                late = depth - 1 if writes else first  # it leaves with what was written to it; the next iteration does not wait
                taken.append(Handover(ring, "room" if writes else "taken", first, -first))
                given.append(Handover(ring, "published" if writes else "freed", late - interval, interval - late))
        if len(taken) != sum(isinstance(op, stream.AcquireOp) for op in body.walk()):
            name = self.task.sym_name.data
            raise UntimedError("takes a block under a condition", where=name, accepted="blocks taken by every iteration")
        rows: list[Node] = []
        for number in range(count):
            of_this = {value: at[number : number + 1] if at.ndim else at for value, at in values.items()}
            iteration = _Iterations(1, self.channel, of_this)
            iteration.block(body, np.array(True))
            accesses = iteration.loop(interval, depth)
            rows.append(Row((*taken, replace(accesses, tail=interval), *reversed(given))))
        return Row((*rows, Loop(1, 1, 0, max(0, depth + 1 - interval))))


NO_WRITE = np.iinfo(np.int64).max
"""The offset of the first write of an iteration without one."""


@dataclass
class _Iterations:
    """The accesses of `count` iterations at once: masks and offsets are scalars, or have one entry per iteration.

    A second access to the same side of a channel is a cycle later, and so is all that follows. The first reads are in stage 1, the
    last writes in the last stage, as `stc_sim/loop_clock.h` has it. `first_write`: the offset of the first one of each iteration;
    `passed`: by access, how many cycles after it.
    """

    count: int
    channel: Mapping[SSAValue, str]
    values: dict[SSAValue, np.ndarray]
    offset: np.ndarray = field(default_factory=lambda: np.array(0))
    touched: dict[Port, np.ndarray] = field(default_factory=dict[Port, np.ndarray])
    first_write: np.ndarray = field(default_factory=lambda: np.array(NO_WRITE))
    accesses: dict[Port, list[tuple[np.ndarray, np.ndarray]]] = field(
        default_factory=dict[Port, list[tuple[np.ndarray, np.ndarray]]]
    )

    def block(self, block: Block, mask: np.ndarray) -> None:
        for op in block.ops:
            match op:
                case stream.ReadOp():
                    self._access((self.channel[op.stream], False), mask)
                case stream.WriteOp():
                    self._access((self.channel[op.stream], True), mask)
                case scf.IfOp() if touches_streams(op):
                    inductions(op.cond)
                    holds = index_value(op.cond, dict(self.values)).astype(bool)
                    self.block(op.true_region.block, mask & holds)
                    if op.false_region.blocks:
                        self.block(op.false_region.block, mask & ~holds)
                case scf.ForOp() if touches_streams(op):
                    bounds = constant_bounds(op)
                    assert bounds is not None
                    for value in _range(bounds):
                        self.values[op.body.block.args[0]] = np.array(value)
                        self.block(op.body.block, mask)
                case _:
                    continue

    def _access(self, port: Port, mask: np.ndarray) -> None:
        again = self.touched.get(port, np.array(False)) & mask
        if again.any():
            self.offset = self.offset + again
            self.touched = {key: before & ~again for key, before in self.touched.items()}
        self.touched[port] = self.touched.get(port, np.array(False)) | mask
        if port[1]:
            self.first_write = np.where(mask, np.minimum(self.first_write, self.offset), self.first_write)
        self.accesses.setdefault(port, []).append((mask, self.offset - self.first_write if port[1] else self.offset))

    def loop(self, interval: int, depth: int) -> Loop:
        """All iterations as a loop of a pipeline of `depth` stages."""
        iterations: dict[Port, Cycles] = {}
        late: dict[Port, Cycles] = {}
        last, first_of_writes = self._stages(depth)
        for port, accesses in self.accesses.items():
            issued, offsets = self._accesses(accesses)
            if len(issued):
                iterations[port] = issued
                late[port] = offsets + (first_of_writes[issued] if port[1] else first_stage(depth))
        return Loop(self.count, interval, 0, int(last[-1]) + 2, iterations, late)

    def _stages(self, depth: int) -> tuple[Cycles, Cycles]:
        """The last stage as each iteration has it, and that of its first write: as many cycles before it as iterations so far took
        for their writes."""
        offset = np.broadcast_to(self.offset, self.count)
        passed = np.where(self.first_write == NO_WRITE, 0, offset - self.first_write)
        last = np.maximum(depth - 1, first_stage(depth) + np.maximum.accumulate(offset))
        return last, last - np.maximum.accumulate(passed)

    def _accesses(self, accesses: list[tuple[np.ndarray, np.ndarray]]) -> tuple[Cycles, Cycles]:
        """The iterations that make them, and how many cycles late, in the order in which they happen."""
        issued: list[Cycles] = []
        offsets: list[Cycles] = []
        for mask, offset in accesses:
            taken = np.flatnonzero(np.broadcast_to(mask, self.count))
            issued.append(taken)
            offsets.append(np.broadcast_to(offset, self.count)[taken])
        if len(accesses) == 1:
            return issued[0], offsets[0]
        iterations = np.concatenate(issued)
        order = np.argsort(iterations, kind="stable")
        return iterations[order], np.concatenate(offsets)[order]


def first_stage(depth: int) -> int:
    """The stage, counted from 0, in which a pipeline of `depth` stages reads."""
    return 1 if depth > 1 else 0


def _range(bounds: Bounds) -> range:
    return range(bounds.lower, bounds.upper, bounds.step)


def _straight(port: Port) -> Loop:
    """An access between loops takes a cycle; what is read counts as taken when that is over."""
    at_once = {port: np.zeros(1, dtype=np.int64)}
    return Loop(1, 1, 0, 1, at_once, at_once, kept=1)


def _handover(ring: str, moment: Moment) -> Handover:
    return Handover(ring, moment, 0, TAIL[moment])


def _takes_time(root: Operation | Block) -> bool:
    """Whether anything in `root` takes cycles of its own: an access, or a loop that is left in hardware."""
    return any(
        isinstance(op, stream.ReadOp | stream.WriteOp | stream.AcquireOp)
        or (isinstance(op, scf.ForOp) and op is not root and not is_unrolled(op))
        for op in root.walk()
    )
