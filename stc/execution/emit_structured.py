"""Translation of structured operations (linalg.generic and every named one) on tiles.

The analysis is done once, when the operation is translated: which loops each value of the body depends on, how operands spread
over the iteration space, which reductions are matrix multiplications. What is left at run time is a handful of numpy calls per
tile. Operands whose access is no projected permutation are gathered first. Reductions by add, mul, max and min are recognised in
the body; of any other body the reduction loops run one by one, the parallel ones at once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from math import prod
from typing import Any

import numpy as np
from xdsl.dialects import arith
from xdsl.dialects.builtin import DYNAMIC_INDEX, IntegerType, MemRefType, TensorType
from xdsl.dialects.linalg import ops as linalg
from xdsl.dialects.linalg.abstract_ops import LinalgStructuredOperation
from xdsl.dialects.linalg.attrs import IteratorType
from xdsl.ir import Attribute, Block, BlockArgument, Operation, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineMap

from stc.diagnostics import CompileError
from stc.dialects.use_def import operations_behind
from stc.execution.contraction import Factor, contraction_text
from stc.execution.dtypes import is_native, numpy_type, wrap
from stc.execution.emit_tensors import blank_tensor, is_placeholder
from stc.execution.reductions import reduction_of
from stc.execution.source import Source
from stc.execution.translation import emit, emits, free_values


@emits(LinalgStructuredOperation)
def emit_structured(source: Source, op: LinalgStructuredOperation) -> None:
    maps = [attribute.data for attribute in op.get_indexing_maps()]
    _emit_iteration(source, op, op.body.block, maps, [attribute.data for attribute in op.get_iterator_types()], len(op.inputs))


@emits(linalg.ReduceOp)
def emit_reduce(source: Source, op: linalg.ReduceOp) -> None:
    rank, reduced = len(_shape(source, op, op.input.type)), op.dimensions.get_values()
    kinds = [IteratorType.REDUCTION if d in reduced else IteratorType.PARALLEL for d in range(rank)]
    retained = tuple(AffineDimExpr(d) for d in range(rank) if d not in reduced)
    _emit_iteration(source, op, op.region.block, [AffineMap.identity(rank), AffineMap(rank, 0, retained)], kinds, 1)


def _emit_iteration(
    source: Source, op: Operation, body: Block, maps: Sequence[AffineMap], kinds: Sequence[IteratorType], inputs: int
) -> None:
    """A body over an iteration space; the operands from number `inputs` on are initial values of the results."""
    plan = _plan(source, op, body, maps, kinds, inputs)
    captured = free_values(op)
    function = source.refer(_function(plan, captured, source.where), "tile")
    operands = [_operand(source, plan, value) for value in op.operands]
    call = f"{function}({', '.join([*operands, *(source.name(value) for value in captured)])})"
    if op.results:
        source.line(f"{', '.join(source.define(result) for result in op.results)}, = {call}")
        return
    source.line(f"stored = {call}")
    for index, output in enumerate(op.operands[inputs:]):
        source.line(f"{source.name(output)}[...] = stored[{index}]")


def _operand(source: Source, plan: _Plan, value: SSAValue) -> str:
    if not is_placeholder(value):
        return source.name(value)
    return blank_tensor(source, value.type) if plan.is_in_order else "None"


# Analysis -------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Plan:
    """Facts about an operation: the loop of each dimension of each operand, loop extents, reduction loops.

    `shapes`: of the operands. `gathered`: by operand whose access is no projected permutation, the indices at which it is read for
    each point of `dimensions`.
    `combined`: for each output how its terms are combined, and the term; None where a reduction is of another kind.
    """

    body: Block
    inputs: int
    shapes: tuple[tuple[int, ...], ...]
    dimensions: tuple[tuple[int, ...], ...]
    gathered: dict[int, tuple[np.ndarray, ...]]
    extents: tuple[int, ...]
    reductions: tuple[int, ...]
    combined: list[tuple[np.ufunc, SSAValue]] | None

    @property
    def is_in_order(self) -> bool:
        """Whether reduction loops run one by one."""
        return bool(self.reductions) and self.combined is None

    @property
    def retained(self) -> tuple[int, ...]:
        return tuple(loop for loop in range(len(self.extents)) if loop not in self.reductions)


def _plan(
    source: Source, op: Operation, body: Block, maps: Sequence[AffineMap], kinds: Sequence[IteratorType], inputs: int
) -> _Plan:
    found: dict[int, int] = {}
    shapes = tuple(_shape(source, op, operand.type) for operand in op.operands)
    for affine, shape in zip(maps, shapes, strict=True):
        for entry, extent in zip(affine.results, shape, strict=True):
            if isinstance(entry, AffineDimExpr):
                found[entry.position] = extent
    if len(found) != len(kinds):
        raise CompileError("loop bounds do not follow from the operands", where=source.at(op))
    extents = tuple(found[loop] for loop in range(len(kinds)))
    dimensions: list[tuple[int, ...]] = []
    gathered: dict[int, tuple[np.ndarray, ...]] = {}
    for index, affine in enumerate(maps):
        loops = tuple(entry.position for entry in affine.results if isinstance(entry, AffineDimExpr))
        if len(loops) < len(affine.results) or len(set(loops)) < len(loops):
            loops = tuple(dict.fromkeys((*loops, *sorted(affine.used_dims()))))
            gathered[index] = _places(affine, loops, extents)
        dimensions.append(loops)
    reductions = tuple(loop for loop, kind in enumerate(kinds) if kind != IteratorType.PARALLEL)
    return _Plan(body, inputs, shapes, tuple(dimensions), gathered, extents, reductions, _combined(body, inputs))


def _shape(source: Source, op: Operation, kind: Attribute) -> tuple[int, ...]:
    shape = tuple(kind.get_shape()) if isinstance(kind, TensorType | MemRefType) else ()
    if DYNAMIC_INDEX in shape:
        raise CompileError(f"values of type {kind} cannot be executed", where=source.at(op), accepted="static shapes")
    return shape


def _places(affine: AffineMap, loops: Sequence[int], extents: Sequence[int]) -> tuple[np.ndarray, ...]:
    """The index in each dimension of any affine access, as arrays that together go over `loops`."""
    values = dict(zip(loops, np.indices([extents[loop] for loop in loops], dtype=np.int64, sparse=True), strict=True))
    at = [values.get(loop, 0) for loop in range(len(extents))]
    return tuple(np.asarray(entry.eval(at, [])) for entry in affine.results)  # pyright: ignore[reportArgumentType]


def _combined(body: Block, inputs: int) -> list[tuple[np.ufunc, SSAValue]] | None:
    assert body.last_op is not None
    outputs = body.args[inputs:]
    found = [reduction_of(value, output, outputs) for value, output in zip(body.last_op.operands, outputs, strict=True)]
    known = [plan for plan in found if plan is not None]
    return known if len(known) == len(found) else None


# In parts ---------------------------------------------------------------------------------------------------------------

AT_ONCE = 1 << 24
"""Points of an iteration space whose values are held at once, unless one iteration of the loop that is cut has more: parameters of
all layers of a model have hundreds of millions."""

_OF_ANY_ORDER = (np.maximum, np.minimum)
"""What gives the same bits however terms are combined: sums of floats do not."""


def _function(plan: _Plan, captured: Sequence[SSAValue], where: str) -> Callable[..., Sequence[np.ndarray]]:
    """The body over the whole iteration space: of a large one, some iterations of the outermost loop of its results at a time."""
    loop = next((loop for loop in plan.dimensions[plan.inputs] if plan.extents[loop] > 1), None)
    points = prod(plan.extents)
    if loop is None or points <= AT_ONCE or not _can_be_cut(plan, loop):
        return _translate(plan, captured, where)
    extent = plan.extents[loop]
    block = max(1, AT_ONCE // (points // extent))
    axes = [loops.index(loop) if loop in loops else None for loops in plan.dimensions]
    counts = {block, extent % block} - {0}
    parts = {count: _translate(_with_extent(plan, loop, axes, count), captured, where) for count in counts}

    def whole(*arguments: Any) -> Sequence[np.ndarray]:
        operands, others = arguments[: len(axes)], arguments[len(axes) :]
        results: list[np.ndarray] = []
        for begin in range(0, extent, block):
            end = min(begin + block, extent)
            given = [part_of(array, axis, begin, end) for array, axis in zip(operands, axes, strict=True)]
            found = parts[end - begin](*given, *others)
            if not results:
                results = [np.empty(shape, part.dtype) for shape, part in zip(plan.shapes[plan.inputs :], found, strict=True)]
            for result, axis, part in zip(results, axes[plan.inputs :], found, strict=True):
                part_of(result, axis, begin, end)[...] = part
        return results

    return whole


def _with_extent(plan: _Plan, loop: int, axes: Sequence[int | None], count: int) -> _Plan:
    """The plan of `count` iterations of `loop`, which is at these axes of the operands."""

    def changed(sizes: Sequence[int], at: int | None) -> tuple[int, ...]:
        return tuple(count if index == at else size for index, size in enumerate(sizes))

    return replace(plan, extents=changed(plan.extents, loop), shapes=tuple(map(changed, plan.shapes, axes)))


def _can_be_cut(plan: _Plan, loop: int) -> bool:
    """Whether iterations of `loop` by themselves give the bits that all at once give."""
    takes_index = any(isinstance(op, linalg.IndexOp) and op.dim.value.data == loop for op in plan.body.walk())
    is_exact = not plan.reductions or all(combine in _OF_ANY_ORDER for combine, _ in plan.combined or [(np.add, None)])
    is_in_all = all(loop in loops for loops in plan.dimensions[plan.inputs :])
    return is_in_all and is_exact and not takes_index and not plan.gathered


def part_of(array: Any, axis: int | None, begin: int, end: int) -> Any:
    """Of an operand, None where there is none, what is from one place to another of an axis."""
    return array if array is None or axis is None else array[(slice(None),) * axis + (slice(begin, end),)]


# Text -----------------------------------------------------------------------------------------------------------------


def _translate(plan: _Plan, captured: Sequence[SSAValue], where: str) -> Callable[..., Sequence[np.ndarray]]:
    source = Source(where, in_arrays=True)
    body = _Body(source, plan)
    parameters = [f"a{index}" for index in range(len(plan.dimensions))]
    for index, places in plan.gathered.items():
        source.line(f"a{index} = a{index}[{source.refer(places, 'places')}]")
    for index, value in enumerate(captured):
        source.names[value] = f"outer{index}"
        body.loops[value] = frozenset()
        parameters.append(f"outer{index}")
    results = body.in_order() if plan.is_in_order else body.reduced() if plan.reductions else body.parallel()
    for index, text in enumerate(results, plan.inputs):
        results[index - plan.inputs] = f"{text}.reshape({plan.shapes[index]})" if index in plan.gathered else text
    source.line(f"return {', '.join(results)},")
    return source.compile(parameters)


def _read_by(op: Operation) -> Sequence[SSAValue]:
    return (*op.operands, *free_values(op))


class _Body:
    """The body of an operation over arrays: one axis per loop, of extent 1 where a value does not depend on the loop."""

    def __init__(self, source: Source, plan: _Plan):
        self.source = source
        self.plan = plan
        self.block = plan.body
        self.arrays = [f"a{index}" for index in range(len(plan.dimensions))]
        """The variable of each operand: in order, of what a step reads of it."""
        self.loops: dict[SSAValue, frozenset[int]] = {
            argument: frozenset(loops) for argument, loops in zip(self.block.args, plan.dimensions, strict=True)
        }
        """The loops that each value depends on."""

    # Values -----------------------------------------------------------------------------------------------------------

    def value(self, value: SSAValue) -> str:
        """The variable of a value of the body; what it depends on is translated first."""
        if value in self.source.names:
            return self.source.names[value]
        if isinstance(value, BlockArgument):
            self.source.assign(value, self._spread(self.arrays[value.index], self.plan.dimensions[value.index]))
            return self.source.names[value]
        for op in operations_behind(value, self.source.names, _read_by):
            if isinstance(op, linalg.IndexOp):
                self._index(op)
                continue
            for operand in _read_by(op):
                if isinstance(operand, BlockArgument):
                    self.value(operand)
            emit(self.source, op)
            loops = frozenset[int]().union(*(self.loops[operand] for operand in op.operands))
            self.loops.update(dict.fromkeys(op.results, loops))
        return self.source.names[value]

    def _index(self, op: linalg.IndexOp) -> None:
        loop = op.dim.value.data
        if self.plan.is_in_order and loop in self.plan.reductions:
            self.source.names[op.result], self.loops[op.result] = f"s{loop}", frozenset()
            return
        extent = self.plan.extents[loop]
        shape = [extent if axis == loop else 1 for axis in range(len(self.plan.extents))]
        self.source.names[op.result] = self.source.refer(np.arange(extent, dtype=np.int64).reshape(shape), "index")
        self.loops[op.result] = frozenset((loop,))

    def _spread(self, text: str, dimensions: Sequence[int]) -> str:
        order = sorted(range(len(dimensions)), key=lambda axis: dimensions[axis])
        if order != list(range(len(order))):
            text = f"{text}.transpose({tuple(order)})"
        if not dimensions:
            return text
        extents = self._extents
        first = min(dimensions)
        if len(dimensions) == len(extents) - first:
            return text  # numpy adds leading axes itself
        shape = tuple(extents[loop] if loop in dimensions else 1 for loop in range(first, len(extents)))
        return f"{text}.reshape({shape})"

    @property
    def _extents(self) -> tuple[int, ...]:
        """Of the loops that run at once; 1 of those that run one by one."""
        in_turn = self.plan.reductions if self.plan.is_in_order else ()
        return tuple(1 if loop in in_turn else extent for loop, extent in enumerate(self.plan.extents))

    # Results ----------------------------------------------------------------------------------------------------------

    def _yielded(self) -> tuple[SSAValue, ...]:
        last = self.block.last_op
        assert last is not None
        return tuple(last.operands)

    def _outputs(self) -> list[tuple[int, tuple[int, ...], np.dtype]]:
        """For each output its operand index, loops and type."""
        return [
            (index, self.plan.dimensions[index], numpy_type(self.block.args[index].type))
            for index in range(self.plan.inputs, len(self.plan.dimensions))
        ]

    def parallel(self) -> list[str]:
        """Results where every loop is parallel."""
        results = []
        for value, (_, loops, dtype) in zip(self._yielded(), self._outputs(), strict=True):
            text = self.value(value)
            is_whole = self.loops[value] == frozenset(range(len(self.plan.extents))) and not self.plan.reductions
            if is_whole and isinstance(value.owner, Operation) and not _may_share_storage(value.owner):
                results.append(_transposed(text, range(len(loops)), loops))
            else:
                results.append(self._stored(text, loops, dtype))
        return results

    def _stored(self, text: str, loops: tuple[int, ...], dtype: np.dtype) -> str:
        """A new array that holds an array which depends on fewer loops, or belongs to somebody else."""
        name = self.source.fresh("r")
        self.source.line(f"{name} = np.empty({self._extents}, {self.source.refer(dtype, 'dtype')})")
        self.source.line(f"{name}[...] = {text}")
        retained = self.plan.retained
        if self.plan.reductions:
            name = f"{name}.reshape({tuple(self.plan.extents[loop] for loop in retained)})"
        return _transposed(name, retained, loops)

    def in_order(self) -> list[str]:
        """Results of any reduction: its loops one by one, from the initial values on."""
        states = [f"a{index}" for index, _, _ in self._outputs()]
        with ExitStack() as steps:
            for loop in self.plan.reductions:
                steps.enter_context(self.source.block(f"for s{loop} in range({self.plan.extents[loop]}):"))
            for index, loops in enumerate(self.plan.dimensions):
                if not set(loops).isdisjoint(self.plan.reductions):
                    parts = (f"s{loop}:s{loop} + 1" if loop in self.plan.reductions else ":" for loop in loops)
                    self.arrays[index] = self.source.fresh("b")
                    self.source.line(f"{self.arrays[index]} = a{index}[{', '.join(parts)}]")
            self.source.line(f"{', '.join(states)}, = {', '.join(self.parallel())},")
        return [f"np.array({state})" for state in states]

    def reduced(self) -> list[str]:
        """Results of reductions: all terms added up (multiplied, ...) at once, then combined with the initial value."""
        assert self.plan.combined is not None
        if not all(self.plan.extents[loop] for loop in self.plan.reductions):
            return [f"np.array(a{index})" for index, _, _ in self._outputs()]  # of nothing
        results = []
        for (combine, term), (index, loops, dtype) in zip(self.plan.combined, self._outputs(), strict=True):
            total = self._total(combine, term, loops, dtype)
            results.append(self._cut_back(f"np.{combine.__name__}({total}, a{index})", self.block.args[index].type))
        return results

    def _cut_back(self, text: str, kind: Attribute) -> str:
        """A sum modulo the width of its type; what numpy has no type for, it adds up in a wider one."""
        if not isinstance(kind, IntegerType) or is_native(kind):
            return text
        return f"{self.source.refer(partial(wrap, element=kind), 'wrap')}({text})"

    def _total(self, combine: np.ufunc, term: SSAValue, loops: tuple[int, ...], dtype: np.dtype) -> str:
        multiply = term.owner
        if combine is np.add and isinstance(multiply, arith.MulfOp | arith.MuliOp) and dtype != np.bool_:
            total, repeats = contraction_text(
                self._factor(multiply.operands[0]), self._factor(multiply.operands[1]), self.plan.extents, self.plan.reductions
            )
            text = total.text if repeats == 1 else f"{total.text} * {self.source.refer(np.int64(repeats).astype(dtype))}"
            return self._completed(text, total.loops, loops)
        full = f"np.broadcast_to({self.value(term)}, {self.plan.extents})"
        reduced = f"np.{combine.__name__}.reduce({full}, axis={self.plan.reductions}, dtype={self.source.refer(dtype)})"
        return _transposed(reduced, self.plan.retained, loops)

    def _factor(self, value: SSAValue) -> Factor:
        """A factor of a product with an axis for each loop it depends on."""
        if isinstance(value, BlockArgument):
            return Factor(f"a{value.index}", self.plan.dimensions[value.index])
        text = self.value(value)
        loops = tuple(sorted(self.loops[value]))
        return Factor(f"np.asarray({text}).reshape({tuple(self.plan.extents[loop] for loop in loops)})", loops)

    def _completed(self, text: str, found: tuple[int, ...], loops: tuple[int, ...]) -> str:
        """An array over some loops as one over `loops`, in their order."""
        if set(found) == set(loops):
            return _transposed(text, found, loops)
        present = [loop for loop in loops if loop in found]
        shape = tuple(self.plan.extents[loop] if loop in found else 1 for loop in loops)
        return f"{_transposed(text, found, present)}.reshape({shape})"


def _may_share_storage(op: Operation) -> bool:
    """Whether the result can be the operand's own array: casts between types that numpy represents alike."""
    if isinstance(op, linalg.IndexOp | arith.BitcastOp):
        return True
    return len(op.operands) == 1 and numpy_type(op.operands[0].type) == numpy_type(op.results[0].type)


def _transposed(text: str, found: Sequence[int], required: Sequence[int]) -> str:
    axes = tuple(list(found).index(loop) for loop in required)
    return text if axes == tuple(range(len(axes))) else f"{text}.transpose({axes})"
