"""Structured operations (linalg.generic and every named one, by its region and maps), vectorised over the iteration space.

An operand becomes an array with one axis per loop, of extent 1 where the operand does not depend on the loop, so that numpy's
broadcasting does the iteration. Reductions by add, mul, max and min are recognised in the body; of any other body with
reduction loops these are executed in order, vectorised over the parallel ones.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product

import numpy as np
from xdsl.dialects import arith
from xdsl.dialects.linalg import ops as linalg
from xdsl.dialects.linalg.abstract_ops import LinalgStructuredOperation
from xdsl.dialects.linalg.attrs import IteratorType
from xdsl.ir import Block, BlockArgument, Operation, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineMap

from stc.diagnostics import CompileError
from stc.dialects.use_def import depends_on, operations_behind
from stc.execution.contraction import contract
from stc.execution.machine import Machine, Value, implements, location

_REDUCTIONS: dict[str, np.ufunc] = {
    "arith.addf": np.add,
    "arith.addi": np.add,
    "arith.mulf": np.multiply,
    "arith.muli": np.multiply,
    "arith.maximumf": np.maximum,
    "arith.minimumf": np.minimum,
    "arith.maxnumf": np.fmax,
    "arith.minnumf": np.fmin,
    "arith.maxsi": np.maximum,
    "arith.minsi": np.minimum,
    "arith.andi": np.bitwise_and,
    "arith.ori": np.bitwise_or,
}
_PRODUCTS = (arith.MulfOp, arith.MuliOp)


def run_structured(machine: Machine, op: LinalgStructuredOperation) -> list[np.ndarray]:
    """Results of a structured operation on tensors."""
    maps = [attribute.data for attribute in op.get_indexing_maps()]
    kinds = [attribute.data for attribute in op.get_iterator_types()]
    return iterate(machine, op, op.body.block, maps, kinds, machine.operands(op), len(op.outputs))


def iterate(
    machine: Machine,
    op: Operation,
    body: Block,
    maps: Sequence[AffineMap],
    kinds: Sequence[IteratorType],
    operands: Sequence[Value],
    output_count: int,
) -> list[np.ndarray]:
    """Execute a body over an iteration space; the last `output_count` operands are initial values of the results."""
    extents = _extents(op, maps, operands, len(kinds))
    inputs = len(operands) - output_count
    reductions = [loop for loop, kind in enumerate(kinds) if kind != IteratorType.PARALLEL]
    spread = [_over_loops(value, affine, extents) for value, affine in zip(operands, maps, strict=True)]
    machine.loop_indices.append(_index_arrays(extents))
    if not reductions:
        results = machine.run(body, spread)
    elif (vectorised := _reduce(machine, body, spread, inputs, extents, reductions)) is not None:
        results = vectorised
    else:
        results = _reduce_in_order(machine, body, spread, inputs, extents, reductions)
    machine.loop_indices.pop()
    retained = [1 if loop in reductions else extent for loop, extent in enumerate(extents)]
    return [
        _from_loops(np.broadcast_to(result, retained), affine, initial)
        for result, affine, initial in zip(results, maps[inputs:], operands[inputs:], strict=True)
    ]


def _extents(op: Operation, maps: Sequence[AffineMap], operands: Sequence[Value], loops: int) -> list[int]:
    found: dict[int, int] = {}
    for affine, value in zip(maps, operands, strict=True):
        for expression, size in zip(affine.results, np.shape(value), strict=True):
            if isinstance(expression, AffineDimExpr):
                found[expression.position] = size
    if len(found) != loops:
        raise CompileError("loop bounds do not follow from the operands", where=location(op))
    return [found[loop] for loop in range(loops)]


def _index_arrays(extents: Sequence[int]) -> list[np.ndarray]:
    rank = len(extents)
    return [
        np.arange(extent, dtype=np.int64).reshape([extent if axis == loop else 1 for axis in range(rank)])
        for loop, extent in enumerate(extents)
    ]


def _over_loops(value: Value, affine: AffineMap, extents: Sequence[int]) -> Value:
    """An operand as an array over the iteration space, extent 1 for loops it does not depend on."""
    if not np.shape(value):
        return np.asarray(value).reshape([1] * len(extents))
    positions = [e.position if isinstance(e, AffineDimExpr) else None for e in affine.results]
    if None in positions or len(set(positions)) != len(positions):
        return _gather(value, affine, extents)
    order = sorted(range(len(positions)), key=lambda dimension: positions[dimension] or 0)
    shape = [extent if loop in positions else 1 for loop, extent in enumerate(extents)]
    return np.transpose(value, order).reshape(shape)


def _gather(value: np.ndarray, affine: AffineMap, extents: Sequence[int]) -> np.ndarray:
    """Any affine access, by index arrays."""
    loops = _index_arrays(extents)
    indices = [np.asarray(expression.eval(loops, [])) for expression in affine.results]  # pyright: ignore[reportArgumentType]
    gathered = value[tuple(indices)]
    return gathered.reshape([1] * (len(extents) - gathered.ndim) + list(gathered.shape))


def _from_loops(result: np.ndarray, affine: AffineMap, initial: np.ndarray) -> np.ndarray:
    """A result over the iteration space (reduced loops have extent 1) as a tensor in its map's order."""
    dimensions = [e.position for e in affine.results if isinstance(e, AffineDimExpr)]
    rest = [loop for loop in range(result.ndim) if loop not in dimensions]
    ordered = result.transpose(*dimensions, *rest).reshape(initial.shape)
    return np.ascontiguousarray(ordered.astype(initial.dtype, copy=False)).reshape(initial.shape)


def _reduce(
    machine: Machine,
    body: Block,
    spread: Sequence[Value],
    inputs: int,
    extents: Sequence[int],
    reductions: Sequence[int],
) -> list[Value] | None:
    """Reductions recognised in the body, each over all its loops at once; None where one is not."""
    terminator = body.last_op
    if terminator is None:
        return None
    outputs = body.args[inputs:]
    plans = [reduction_of(value, out, outputs) for value, out in zip(terminator.operands, outputs, strict=True)]
    known = [plan for plan in plans if plan is not None]
    if len(known) != len(plans):
        return None
    evaluate = _lazy(machine, body, spread)
    results = []
    for (function, term), initial in zip(known, spread[inputs:], strict=True):
        total = _total(evaluate, function, term, extents, reductions)
        results.append(function(total, initial))
    return results


def _total(
    evaluate: Callable[[SSAValue], Value],
    function: np.ufunc,
    term: SSAValue,
    extents: Sequence[int],
    reductions: Sequence[int],
) -> Value:
    if function is np.add and isinstance(multiply := term.owner, _PRODUCTS):
        return contract(evaluate(multiply.operands[0]), evaluate(multiply.operands[1]), extents, reductions)
    reduced = np.broadcast_to(evaluate(term), extents)
    return function.reduce(reduced, axis=tuple(reductions), keepdims=True, dtype=reduced.dtype)


def reduction_of(
    value: SSAValue, output: BlockArgument, outputs: Sequence[BlockArgument]
) -> tuple[np.ufunc, SSAValue] | None:
    """(combining function, term) where value is combine(output, term) and term depends on no output."""
    op = value.owner
    if not isinstance(op, Operation) or (function := _REDUCTIONS.get(op.name)) is None or len(op.operands) != 2:
        return None
    first, second = op.operands
    if output not in (first, second) or first is second:
        return None
    term = second if first is output else first
    return None if depends_on(term, outputs) else (function, term)


def _lazy(machine: Machine, body: Block, spread: Sequence[Value]) -> Callable[[SSAValue], Value]:
    """Evaluate values of a body on demand, so that products need not be formed before they are summed."""
    machine.values.update(zip(body.args, spread, strict=True))
    done: set[SSAValue] = set()

    def evaluate(value: SSAValue) -> Value:
        for op in operations_behind(value, done, lambda op: op.operands if op.parent is body else ()):
            if op.parent is body:
                machine.execute(op)
                done.update(op.results)
        found = np.asarray(machine.values[value])
        return found if found.ndim else found.reshape([1] * len(spread[0].shape))

    return evaluate


def _reduce_in_order(
    machine: Machine,
    body: Block,
    spread: Sequence[Value],
    inputs: int,
    extents: Sequence[int],
    reductions: Sequence[int],
) -> list[Value]:
    """Any body: reduction loops step by step, parallel loops at once."""
    state: list[Value] = list(spread[inputs:])
    all_indices = machine.loop_indices.pop()
    for step in product(*(range(extents[loop]) for loop in reductions)):
        at = dict(zip(reductions, step, strict=True))
        machine.loop_indices.append([_at(index, at) for index in all_indices])
        state = machine.run(body, [*(_at(value, at) for value in spread[:inputs]), *state])
        machine.loop_indices.pop()
    machine.loop_indices.append(all_indices)
    return state


def _at(value: np.ndarray, at: dict[int, int]) -> np.ndarray:
    where = [
        slice(at[axis], at[axis] + 1) if axis in at and size > 1 else slice(None)
        for axis, size in enumerate(value.shape)
    ]
    return value[tuple(where)]


@implements(linalg.IndexOp)
def run_index(machine: Machine, op: linalg.IndexOp) -> Sequence[Value]:
    return [machine.loop_indices[-1][op.dim.value.data]]

