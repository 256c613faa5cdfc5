"""The trace of a task (`stc.iteration.trace`), from its IR at the stream level: the only walk of its body for what it accesses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from xdsl.dialects import memref, scf
from xdsl.dialects.builtin import MemRefType
from xdsl.ir import Block, SSAValue
from xdsl.utils.hints import isa

from stc.analysis.index_expressions import index_expression
from stc.analysis.kernel_memory import tensor_bytes
from stc.analysis.loop_estimates import loop_estimate
from stc.analysis.loop_schedules import buffer_of
from stc.analysis.loops import is_flattened, is_unrolled, largest_bounds, loop_labels, pipeline_ii, pipeline_style, unroll_factor
from stc.diagnostics import CompileError
from stc.dialects import stream
from stc.dialects.dataflow import OwnKernelOp, TaskOp
from stc.dialects.itensor import SymbolType
from stc.dialects.itensor.accesses import symbol_of, trip_size
from stc.iteration import trace
from stc.iteration.size import Size, Symbol, substituted
from stc.iteration.trace import Access, Branch, For, Hold, Item, MemoryBeats, Pipeline, TaskTrace


@dataclass(frozen=True)
class Hardware:
    """What the pipelines of a task are like: as deep as cycles of `clock_ns` make them, in front of `memories` by their values
    outside the task; those not named answer at once."""

    clock_ns: float
    memories: Mapping[SSAValue, MemoryBeats] = field(default_factory=dict[SSAValue, MemoryBeats])


def task_trace(task: TaskOp, names: Mapping[SSAValue, str], hardware: Hardware | None = None) -> TaskTrace:
    """The trace of `task`; channels and memories are called by `names` of the values outside, others are left out. What computes a
    value inside that has a name is an access, too, which writes.

    CompileError where control depends on data, or bounds of loops do.
    """
    ports = zip(task.body.block.args, task.operands, strict=True)
    inside: dict[SSAValue, str] = {**names, **{port: names[value] for port, value in ports if value in names}}
    return TaskTrace(task.sym_name.data, tuple(_Walk(task, inside, hardware).items(task.body.block)))


@dataclass
class _Walk:
    task: TaskOp
    names: Mapping[SSAValue, str]
    hardware: Hardware | None
    loops: dict[SSAValue, scf.ForOp] = field(default_factory=dict[SSAValue, scf.ForOp])
    values: dict[Symbol, int] = field(default_factory=dict[Symbol, int])

    @cached_property
    def outputs(self) -> set[SSAValue]:
        return set(self.task.output_ports)

    @cached_property
    def labels(self) -> dict[scf.ForOp, str]:
        return loop_labels(self.task)

    @cached_property
    def memories(self) -> dict[SSAValue, MemoryBeats]:
        beats = self.hardware.memories if self.hardware is not None else {}
        ports = zip(self.task.body.block.args, self.task.operands, strict=True)
        return {port: beats[value] for port, value in ports if value in beats}

    def items(self, block: Block) -> Iterator[Item]:
        for op in block.ops:
            match op:
                case stream.ReadOp() if op.stream in self.names:
                    yield Access(self.names[op.stream], False)
                case stream.WriteOp() if op.stream in self.names:
                    yield Access(self.names[op.stream], True)
                case stream.AcquireOp() if op.block in self.names:
                    yield Hold(self.names[op.block], op.block in self.outputs)
                case memref.LoadOp() | memref.StoreOp() if op.memref in self.names:
                    yield Access(self.names[op.memref], isinstance(op, memref.StoreOp), _word_bytes(op.memref))
                case scf.ForOp():
                    yield from self._loop(op)
                case scf.IfOp():
                    yield from self._branch(op)
                case OwnKernelOp() if op.model is not None:
                    yield from self.items(op.model.block)
                case _ if op.results and op.results[0] in self.names:
                    yield Access(self.names[op.results[0]], True)
                case _:
                    continue

    def _branch(self, op: scf.IfOp) -> Iterator[Item]:
        then, other = (tuple(self.items(region.block)) if region.blocks else () for region in (op.true_region, op.false_region))
        if not then and not other:
            return
        condition = index_expression(op.cond, {})
        symbols = {value: value.type.data.name for value in condition.variables() if isinstance(value.type, SymbolType)}
        if condition.variables() - self.loops.keys() - symbols.keys():
            if self.hardware is not None or any(not isinstance(item, For) for item in trace.items_of((*then, *other))):
                where = self.task.sym_name.data
                raise CompileError("control depends on data", where=where, accepted="guards on loop indices")
            return
        names: dict[SSAValue, trace.Variable] = {value: symbols.get(value, value) for value in condition.variables()}
        yield Branch(condition.renamed(names), then, other)

    def _loop(self, loop: scf.ForOp) -> Iterator[Item]:
        self.loops[loop.body.block.args[0]] = loop
        symbol, trips = symbol_of(loop), trip_size(loop)
        if symbol is None:
            yield from self._repeated(loop, trips, 0)
            return
        for value in range(symbol.maximum + 1):  # what loops inside look up differs: one loop of one iteration for each
            self.values[symbol] = value
            yield from self._repeated(loop, 1, value)
        del self.values[symbol]

    def _repeated(self, loop: scf.ForOp, trips: Size | None, first: int) -> Iterator[Item]:
        """`loop` with `trips` iterations, from iteration `first` on."""
        variable, bounds, body = loop.body.block.args[0], largest_bounds(loop), tuple(self.items(loop.body.block))
        if not body and (is_unrolled(loop) or (bounds is None and self.hardware is None)):
            return
        if bounds is None or trips is None:
            where = self.task.sym_name.data
            raise CompileError("loop bounds are not constant", where=where, accepted="constant bounds, or an itensor.size")
        unroll, merged, label = unroll_factor(loop), self.hardware is not None and is_flattened(loop), self.labels[loop]
        lower, trips = bounds.lower + first * bounds.step, substituted(trips, self.values)
        yield For(variable, trips, body, lower, bounds.step, unroll, merged, self._pipeline(loop), label)

    def _pipeline(self, loop: scf.ForOp) -> Pipeline | None:
        interval = pipeline_ii(loop)
        if self.hardware is None or interval is None:
            return None
        depth = loop_estimate(loop, self.task, self.hardware.clock_ns).depth
        return Pipeline(interval, depth, pipeline_style(loop), self._memory(loop))

    def _memory(self, loop: scf.ForOp) -> MemoryBeats | None:
        """The external memory that every iteration moves a word of."""
        if not self.memories:
            return None
        buffers = (buffer_of(op) for op in loop.walk() if isinstance(op, memref.LoadOp | memref.StoreOp))
        return next((self.memories[buffer] for buffer in buffers if buffer in self.memories), None)


def _word_bytes(memory: SSAValue) -> int:
    words = memory.type
    assert isa(words, MemRefType)
    return tensor_bytes(words) // words.get_shape()[0]
