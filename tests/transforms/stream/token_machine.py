"""A cross-check on the stream level: tasks as coroutines over bounded FIFOs, word by word, independent of the emitted C++.

    outputs = run(module, inputs)

Runs modules after `lower-linalg-to-loops`. Memory that nobody wrote is NaN (or the smallest integer), a FIFO left with tokens in
it, an access out of bounds and a deadlock are errors.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from xdsl.dialects import func, memref, scf, tensor, vector
from xdsl.dialects.builtin import MemRefType, ModuleOp, TensorType, VectorType
from xdsl.ir import Block, Operation, SSAValue

from stc.dialects import dataflow, stream
from stc.dialects.dataflow.memory_ops import striped
from stc.execution.dtypes import numpy_type
from stc.execution.elementwise import function_of
from stc.execution.layout import pack, unpack_into
from stc.execution.translation import evaluate
from stc.execution.undefined import undefined

Value = Any
Handler = Callable[["TokenMachine", Any], Sequence[Value]]
Steps = Generator[None, None, None]
"""A task yields whenever it has to wait."""


_HANDLERS: dict[type[Operation], Handler] = {}
"""Operations whose semantics are written here, apart from the executor's own registry: two models, not one."""


def implements(operation: type[Operation]) -> Callable[[Handler], Handler]:
    def register(handler: Handler) -> Handler:
        _HANDLERS[operation] = handler
        return handler

    return register


class TokenMachine:
    """Operation by operation: the executor's tensors and scalars, with the memory, vectors and kernels of this file."""

    def __init__(self) -> None:
        self.values: dict[SSAValue, Value] = {}

    def operands(self, op: Operation) -> list[Value]:
        return [self.values[operand] for operand in op.operands]

    def run(self, block: Block, arguments: Sequence[Value]) -> list[Value]:
        """Execute a block on arguments; returns the operands of its terminator."""
        self.values.update(zip(block.args, arguments, strict=True))
        *inner, last = block.ops
        for op in inner:
            self.execute(op)
        return self.operands(last)

    def execute(self, op: Operation) -> None:
        self.values.update(zip(op.results, self._results(op), strict=True))

    def _results(self, op: Operation) -> Sequence[Value]:
        if (handler := _HANDLERS.get(type(op))) is not None:
            return handler(self, op)
        if (function := function_of(op)) is not None:
            return [function(*self.operands(op))]
        return evaluate(op, self.values, "token machine")


class Deadlock(AssertionError):
    """Every unfinished task waits."""


@dataclass
class Fifo:
    """A stream, or the full blocks of a ring."""

    name: str
    depth: int
    tokens: deque[Any] = field(default_factory=deque)
    taken: int = 0
    """Blocks that are being written or read: they occupy room as well."""
    moves: int = 0
    """Tokens pushed and popped so far, and blocks released."""

    @property
    def is_full(self) -> bool:
        return len(self.tokens) + self.taken >= self.depth


@dataclass
class Task:
    """One running task. `writes` says of a ring port whether this task fills it."""

    name: str
    machine: TokenMachine
    outs: frozenset[SSAValue]

    def block(self, block: Block) -> Steps:
        acquired: list[tuple[Fifo, Any]] = []
        for op in block.ops:
            yield from self.op(op, acquired)
        for fifo, filled in acquired:
            fifo.taken -= 1
            fifo.moves += 1
            if filled is not None:
                fifo.tokens.append(filled)

    def op(self, op: Operation, acquired: list[tuple[Fifo, Any]]) -> Steps:
        values = self.machine.values
        match op:
            case scf.YieldOp() | dataflow.YieldOp():
                pass
            case scf.ForOp():
                carried = [values[value] for value in op.iter_args]
                for value in range(values[op.lb], values[op.ub], values[op.step]):
                    values.update(zip(op.body.block.args, [np.int64(value), *carried], strict=True))
                    yield from self.block(op.body.block)
                    last = op.body.block.last_op
                    carried = [values[result] for result in last.operands] if last is not None else []
                values.update(zip(op.results, carried, strict=True))
            case scf.IfOp():
                if values[op.cond]:
                    yield from self.block(op.true_region.block)
                elif op.false_region.blocks:
                    yield from self.block(op.false_region.block)
            case stream.ReadOp():
                fifo = values[op.stream]
                while not fifo.tokens:
                    yield
                values[op.result] = fifo.tokens.popleft()
                fifo.moves += 1
            case stream.WriteOp():
                fifo = values[op.stream]
                while fifo.is_full:
                    yield
                fifo.tokens.append(values[op.value])
                fifo.moves += 1
            case stream.AcquireOp():
                yield from self._acquire(op, acquired)
            case _:
                self.machine.execute(op)

    def _acquire(self, op: stream.AcquireOp, acquired: list[tuple[Fifo, Any]]) -> Steps:
        fifo = self.machine.values[op.block]
        if op.block in self.outs:
            while fifo.is_full:
                yield
            buffer = _fresh(op.buffer.type)
            acquired.append((fifo, buffer))
        else:
            while not fifo.tokens:
                yield
            buffer = fifo.tokens.popleft()
            acquired.append((fifo, None))
        fifo.taken += 1
        self.machine.values[op.buffer] = buffer


def _fresh(type_: object) -> np.ndarray:
    assert isinstance(type_, MemRefType)
    element = type_.element_type
    lanes = element.get_shape() if isinstance(element, VectorType) else ()
    scalar = element.element_type if isinstance(element, VectorType) else element
    return undefined((*type_.get_shape(), *lanes), numpy_type(scalar))


# Memory and vectors ---------------------------------------------------------------------------------------------------


def _row(buffer: np.ndarray, indices: Sequence[Value], width: int) -> np.ndarray:
    """`width` entries along the last dimension, from `indices` on, as a view."""
    *outer, start = (int(index) for index in indices)
    assert all(0 <= i < n for i, n in zip(outer, buffer.shape, strict=False)), f"{indices} is outside {buffer.shape}"
    assert start >= 0 and start + width <= buffer.shape[-1], f"{indices} + {width} is outside {buffer.shape}"
    return buffer[(*outer, slice(start, start + width))]


def _place(buffer: np.ndarray, indices: Sequence[Value]) -> tuple[int, ...]:
    assert all(0 <= i < n for i, n in zip(indices, buffer.shape, strict=False)), f"{indices} is outside {buffer.shape}"
    return tuple(int(index) for index in indices)


@implements(tensor.EmptyOp)
def run_empty(_: TokenMachine, op: tensor.EmptyOp) -> Sequence[Value]:
    kind = op.tensor.type
    assert isinstance(kind, TensorType)
    return [undefined(kind.get_shape(), numpy_type(kind.element_type))]


@implements(memref.AllocOp)
def _alloc(machine: TokenMachine, op: memref.AllocOp) -> Sequence[Value]:
    return [_fresh(op.memref.type)]


@implements(memref.LoadOp)
def _load(machine: TokenMachine, op: memref.LoadOp) -> Sequence[Value]:
    buffer, *indices = machine.operands(op)
    value = buffer[_place(buffer, indices)]
    return [value.copy() if isinstance(value, np.ndarray) else value]


@implements(memref.StoreOp)
def _store(machine: TokenMachine, op: memref.StoreOp) -> Sequence[Value]:
    value, buffer, *indices = machine.operands(op)
    buffer[_place(buffer, indices)] = value
    return []


@implements(memref.CopyOp)
def _copy(machine: TokenMachine, op: memref.CopyOp) -> Sequence[Value]:
    source, target = machine.operands(op)
    target[...] = source
    return []


@implements(vector.LoadOp)
def _vector_load(machine: TokenMachine, op: vector.LoadOp) -> Sequence[Value]:
    buffer, *indices = machine.operands(op)
    return [_row(buffer, indices, op.result.type.get_shape()[0]).copy()]  # pyright: ignore[reportAttributeAccessIssue]


@implements(vector.StoreOp)
def _vector_store(machine: TokenMachine, op: vector.StoreOp) -> Sequence[Value]:
    value, buffer, *indices = machine.operands(op)
    _row(buffer, indices, len(value))[...] = value
    return []


@implements(vector.ExtractOp)
def _extract(machine: TokenMachine, op: vector.ExtractOp) -> Sequence[Value]:
    source, *dynamic = machine.operands(op)
    assert not dynamic
    return [source[tuple(op.static_position.get_values())]]


@implements(vector.BroadcastOp)
def _broadcast(machine: TokenMachine, op: vector.BroadcastOp) -> Sequence[Value]:
    return [np.broadcast_to(machine.operands(op)[0], op.results[0].type.get_shape()).copy()]  # pyright: ignore


# Boundary -------------------------------------------------------------------------------------------------------------


@implements(dataflow.PackOp)
def _pack(machine: TokenMachine, op: dataflow.PackOp) -> Sequence[Value]:
    kind: Any = op.stripes[0].type
    parts = striped(op.layout, len(op.stripes))
    tensor, lanes = np.asarray(machine.values[op.source]), kind.element_type.get_shape()[0]
    return [pack(tensor, part.order, lanes, tensor.shape) for part in parts]


@implements(dataflow.UnpackOp)
def _unpack(machine: TokenMachine, op: dataflow.UnpackOp) -> Sequence[Value]:
    stripes = machine.operands(op)
    tensor = np.empty(op.layout.tensor_shape, stripes[0].dtype)
    for words, part in zip(stripes, striped(op.layout, len(stripes)), strict=True):
        unpack_into(tensor, words, part.order)
    return [tensor]


@implements(dataflow.KernelOp)
def _kernel(machine: TokenMachine, op: dataflow.KernelOp) -> Sequence[Value]:
    values: dict[SSAValue, Any] = dict(zip(op.body.block.args, machine.operands(op), strict=True))
    fifos: list[Fifo] = []
    running: dict[str, Steps] = {}
    for inner in op.body.block.ops:
        match inner:
            case stream.CreateOp():
                type_: Any = inner.result.type
                fifos.append(Fifo(inner.sym_name.data, type_.depth))
                values[inner.result] = fifos[-1]
            case stream.BufferOp():
                ring: Any = inner.result.type
                fifos.append(Fifo(inner.sym_name.data, ring.count))
                values[inner.result] = fifos[-1]
            case dataflow.MemoryOp():
                values[inner.result] = _fresh(inner.result.type)
            case dataflow.TaskOp():
                running[inner.sym_name.data] = _start(inner, values)
            case dataflow.YieldOp():
                pass
            case _:
                raise AssertionError(f"{inner.name} is left in kernel @{op.sym_name.data}")
    _finish(running, fifos)
    return [values[value] for value in op.terminator.arguments]


def _start(task: dataflow.TaskOp, values: dict[SSAValue, Any]) -> Steps:
    machine = TokenMachine()
    args = task.body.block.args
    machine.values |= {arg: values[value] for arg, value in zip(args, task.operands, strict=True)}
    return Task(task.sym_name.data, machine, frozenset[SSAValue](args[len(task.ins) :])).block(task.body.block)


def _finish(running: dict[str, Steps], fifos: Sequence[Fifo]) -> None:
    """Run all tasks, each until it waits, until none is left."""
    before = -1
    while running:
        for name, steps in list(running.items()):
            if next(steps, "done") == "done":
                del running[name]
        moves = sum(fifo.moves for fifo in fifos)
        if running and moves == before:
            raise Deadlock(f"tasks {list(running)} wait; full: {[fifo.name for fifo in fifos if fifo.is_full]}")
        before = moves
    left = [fifo.name for fifo in fifos if fifo.tokens]
    assert not left, f"tokens are left in {left}"


def run(module: ModuleOp, inputs: Sequence[np.ndarray]) -> list[np.ndarray]:
    """The results of @main on `inputs`."""
    function = next(op for op in module.walk() if isinstance(op, func.FuncOp))
    with np.errstate(all="ignore"):
        return [np.asarray(value) for value in TokenMachine().run(function.body.block, list(inputs))]
