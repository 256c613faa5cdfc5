"""Translation of structured operations (linalg.generic and every named one) on tiles.

The analysis is done once, when the operation is translated: which loops each value of the body depends on, how operands spread
over the iteration space, which reductions are matrix multiplications. What is left at run time is a handful of numpy calls per
tile. Operations outside this (accesses that are not projected permutations, reductions of another kind) run in the
step-by-step machine.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from xdsl.dialects import arith
from xdsl.dialects.builtin import DYNAMIC_INDEX, MemRefType, TensorType, VectorType
from xdsl.dialects.linalg import ops as linalg
from xdsl.dialects.linalg.abstract_ops import LinalgStructuredOperation
from xdsl.dialects.linalg.attrs import IteratorType
from xdsl.ir import Attribute, BlockArgument, Operation, SSAValue
from xdsl.ir.affine import AffineDimExpr

from stc.dialects.use_def import operations_behind
from stc.execution.contraction_text import Factor, contraction_text
from stc.execution.dtypes import numpy_type
from stc.execution.emit_tensors import is_placeholder
from stc.execution.generic import reduction_of, run_structured
from stc.execution.machine import Machine
from stc.execution.source import Source
from stc.execution.tensors import undefined
from stc.execution.translation import emit, emit_call, emits, free_values


@emits(LinalgStructuredOperation)
def emit_structured(source: Source, op: LinalgStructuredOperation) -> None:
    plan = _plan(op)
    if plan is None:
        _emit_step_by_step(source, op)
        return
    captured = free_values(op)
    function = source.refer(_translate(op, plan, captured, source.where), "tile")
    operands = ["None" if is_placeholder(value) else source.name(value) for value in op.operands]
    call = f"{function}({', '.join([*operands, *(source.name(value) for value in captured)])})"
    if op.results:
        source.line(f"{', '.join(source.define(result) for result in op.results)}, = {call}")
        return
    for index, output in enumerate(op.outputs):
        if index == 0:
            source.line(f"stored = {call}")
        source.line(f"{source.name(output)}[...] = stored[{index}]")


def _emit_step_by_step(source: Source, op: LinalgStructuredOperation) -> None:
    placeholders = [value for value in op.outputs if value not in source.names]
    for value in placeholders:
        emit_blank(source, value)
    if op.results:
        emit_call(source, op)
        for result in op.results:
            source.line(f"{source.name(result)} = {source.name(result)}.copy()")
        return
    used = [*dict.fromkeys((*op.operands, *free_values(op)))]

    def run(*values: Any) -> None:
        machine = Machine()
        machine.values.update(zip(used, values, strict=True))
        for output, result in zip(op.outputs, run_structured(machine, op), strict=True):
            machine.values[output][...] = result

    source.line(f"{source.refer(run, 'run')}({', '.join(source.name(value) for value in used)})")


def emit_blank(source: Source, value: SSAValue) -> None:
    """Storage for a placeholder that is needed after all."""
    kind = value.type
    assert isinstance(kind, TensorType)
    source.assign(value, f"{source.refer(undefined(kind.get_shape(), numpy_type(kind.element_type)), 'blank')}.copy()")


# Analysis -------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Plan:
    """Facts about an operation: the loop of each dimension of each operand, loop extents, reduction loops."""

    dimensions: tuple[tuple[int, ...], ...]
    extents: tuple[int, ...]
    reductions: tuple[int, ...]


def _plan(op: LinalgStructuredOperation) -> _Plan | None:
    """None where the operation is outside what is translated."""
    kinds = [attribute.data for attribute in op.get_iterator_types()]
    dimensions: list[tuple[int, ...]] = []
    extents: dict[int, int] = {}
    for affine, operand in zip(op.get_indexing_maps(), op.operands, strict=True):
        shape = _shape(operand.type)
        if shape is None or not all(isinstance(entry, AffineDimExpr) for entry in affine.data.results):
            return None
        loops = tuple(entry.position for entry in affine.data.results if isinstance(entry, AffineDimExpr))
        if len(set(loops)) != len(loops):
            return None
        dimensions.append(loops)
        extents.update(zip(loops, shape, strict=True))
    if len(extents) != len(kinds) or any(isinstance(value.type, VectorType) for value in op.body.block.args):
        return None
    reductions = tuple(loop for loop, kind in enumerate(kinds) if kind != IteratorType.PARALLEL)
    plan = _Plan(tuple(dimensions), tuple(extents[loop] for loop in range(len(kinds))), reductions)
    return plan if not reductions or _reductions(op) is not None else None


def _shape(kind: Attribute) -> tuple[int, ...] | None:
    if isinstance(kind, TensorType | MemRefType):
        return None if DYNAMIC_INDEX in kind.get_shape() else tuple(kind.get_shape())
    return ()


def _reductions(op: LinalgStructuredOperation) -> list[tuple[np.ufunc, SSAValue]] | None:
    """For each output how its terms are combined, and the term; None where one is of another kind."""
    body = op.body.block
    last = body.last_op
    assert last is not None
    outputs = body.args[len(op.inputs) :]
    found = [reduction_of(value, output, outputs) for value, output in zip(last.operands, outputs, strict=True)]
    known = [plan for plan in found if plan is not None]
    return known if len(known) == len(found) else None


# Text -----------------------------------------------------------------------------------------------------------------


def _translate(
    op: LinalgStructuredOperation, plan: _Plan, captured: Sequence[SSAValue], where: str
) -> Callable[..., Sequence[np.ndarray]]:
    source = Source(where, in_arrays=True)
    body = _Body(source, op, plan)
    parameters = [f"a{index}" for index in range(len(op.operands))]
    for index, value in enumerate(captured):
        source.names[value] = f"outer{index}"
        body.loops[value] = frozenset()
        parameters.append(f"outer{index}")
    results = body.reduced() if plan.reductions else body.parallel()
    source.line(f"return {', '.join(results)},")
    return source.compile(parameters)


def _read_by(op: Operation) -> Sequence[SSAValue]:
    return (*op.operands, *free_values(op))


class _Body:
    """The body of an operation over arrays: one axis per loop, of extent 1 where a value does not depend on the loop."""

    def __init__(self, source: Source, op: LinalgStructuredOperation, plan: _Plan):
        self.source = source
        self.op = op
        self.plan = plan
        self.block = op.body.block
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
            self.source.assign(value, self._spread(f"a{value.index}", self.plan.dimensions[value.index]))
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
        extents = self.plan.extents
        first = min(dimensions)
        if len(dimensions) == len(extents) - first:
            return text  # numpy adds leading axes itself
        shape = tuple(extents[loop] if loop in dimensions else 1 for loop in range(first, len(extents)))
        return f"{text}.reshape({shape})"

    # Results ----------------------------------------------------------------------------------------------------------

    def _yielded(self) -> tuple[SSAValue, ...]:
        last = self.block.last_op
        assert last is not None
        return tuple(last.operands)

    def _outputs(self) -> list[tuple[int, tuple[int, ...], np.dtype]]:
        """For each output its operand index, loops and type."""
        first = len(self.op.inputs)
        return [
            (index, self.plan.dimensions[index], numpy_type(self.block.args[index].type))
            for index in range(first, len(self.op.operands))
        ]

    def parallel(self) -> list[str]:
        """Results where every loop is parallel."""
        results = []
        for value, (_, loops, dtype) in zip(self._yielded(), self._outputs(), strict=True):
            text = self.value(value)
            is_whole = self.loops[value] == frozenset(range(len(self.plan.extents)))
            if is_whole and isinstance(value.owner, Operation) and not _may_share_storage(value.owner):
                results.append(_transposed(text, range(len(loops)), loops))
            else:
                results.append(self._stored(text, loops, dtype))
        return results

    def _stored(self, text: str, loops: tuple[int, ...], dtype: np.dtype) -> str:
        """A new array that holds an array which depends on fewer loops, or belongs to somebody else."""
        name = self.source.fresh("r")
        self.source.line(f"{name} = np.empty({self.plan.extents}, {self.source.refer(dtype, 'dtype')})")
        self.source.line(f"{name}[...] = {text}")
        return _transposed(name, range(len(loops)), loops)

    def reduced(self) -> list[str]:
        """Results of reductions: all terms added up (multiplied, ...) at once, then combined with the initial value."""
        reductions = _reductions(self.op)
        assert reductions is not None
        if not all(self.plan.extents[loop] for loop in self.plan.reductions):
            return [f"np.array(a{index})" for index, _, _ in self._outputs()]  # of nothing
        results = []
        for (combine, term), (index, loops, dtype) in zip(reductions, self._outputs(), strict=True):
            total = self._total(combine, term, loops, dtype)
            results.append(f"np.{combine.__name__}({total}, a{index})")
        return results

    def _total(self, combine: np.ufunc, term: SSAValue, loops: tuple[int, ...], dtype: np.dtype) -> str:
        multiply = term.owner
        if combine is np.add and isinstance(multiply, arith.MulfOp | arith.MuliOp) and dtype != np.bool_:
            total, repeats = contraction_text(
                self._factor(multiply.operands[0]), self._factor(multiply.operands[1]), self.plan.extents, self.plan.reductions
            )
            text = total.text if repeats == 1 else f"{total.text} * {self.source.refer(dtype.type(repeats))}"
            return self._completed(text, total.loops, loops)
        full = f"np.broadcast_to({self.value(term)}, {self.plan.extents})"
        reduced = f"np.{combine.__name__}.reduce({full}, axis={self.plan.reductions}, dtype={self.source.refer(dtype)})"
        retained = [loop for loop in range(len(self.plan.extents)) if loop not in self.plan.reductions]
        return _transposed(reduced, retained, loops)

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
