"""How often an operation runs: trip counts of the loops around it, under guards on their induction variables."""

from __future__ import annotations

from collections.abc import Callable
from math import prod

import numpy as np
from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Block, BlockArgument, Operation, SSAValue

from stc.analysis.loops import Bounds, constant_bounds, enclosing_loops
from stc.diagnostics import CompileError

# Guards are evaluated over the whole grid of the loops they depend on, up to this many points.
MAX_GRID = 1 << 24

_ARITHMETIC: dict[type[Operation], Callable[..., np.ndarray]] = {
    arith.AddiOp: np.add,
    arith.SubiOp: np.subtract,
    arith.MuliOp: np.multiply,
    arith.AndIOp: np.bitwise_and,
    arith.OrIOp: np.bitwise_or,
    arith.XOrIOp: np.bitwise_xor,
    arith.DivUIOp: np.floor_divide,
    arith.RemUIOp: np.remainder,
    arith.DivSIOp: np.floor_divide,
    arith.RemSIOp: np.remainder,
    arith.IndexCastOp: np.array,
    arith.ShLIOp: np.left_shift,
    arith.ShRUIOp: np.right_shift,
    arith.SelectOp: np.where,
}
_COMPARISONS = (np.equal, np.not_equal, np.less, np.less_equal, np.greater, np.greater_equal,
                np.less, np.less_equal, np.greater, np.greater_equal)


def executions(operation: Operation, root: Operation) -> int:
    """How often `operation` runs per run of `root`.

    CompileError where a loop has no constant bounds or a guard depends on more than induction variables and constants.
    """
    loops = {loop.body.block.args[0]: _bounds(loop) for loop in enclosing_loops(operation, root)}
    guards = _guards(operation, root)
    involved = {induction for guard, _ in guards for induction in inductions(guard)}
    free = prod(bounds.trip for induction, bounds in loops.items() if induction not in involved)
    return free * _guarded_points({i: loops[i] for i in loops if i in involved}, guards)


def _bounds(loop: scf.ForOp) -> Bounds:
    bounds = constant_bounds(loop)
    if bounds is None:
        raise CompileError("loop bounds are not constant", where=str(loop.attributes.get("stc.label", "scf.for")))
    return bounds


def _guards(operation: Operation, root: Operation) -> list[tuple[SSAValue, bool]]:
    """Conditions of the branches around `operation`, with the value they must have."""
    guards: list[tuple[SSAValue, bool]] = []
    block: Block | None = operation.parent_block()
    while block is not None:
        parent = block.parent_op()
        if parent is None or parent is root:
            break
        if isinstance(parent, scf.IfOp):
            guards.append((parent.cond, block is parent.true_region.block))
        block = parent.parent_block()
    return guards


def inductions(value: SSAValue) -> set[BlockArgument]:
    """The induction variables a value depends on; CompileError where it depends on anything else but constants."""
    if isinstance(value, BlockArgument):
        if isinstance(value.block.parent_op(), scf.ForOp) and value.index == 0:
            return {value}
        raise CompileError("a guard depends on data", accepted="guards on induction variables and constants")
    owner = value.owner
    assert isinstance(owner, Operation)
    if isinstance(owner, arith.ConstantOp):
        return set()
    if type(owner) not in _ARITHMETIC and not isinstance(owner, arith.CmpiOp):
        raise CompileError(f"a guard depends on {owner.name}", accepted="guards on induction variables and constants")
    return {induction for operand in owner.operands for induction in inductions(operand)}


def _guarded_points(loops: dict[BlockArgument, Bounds], guards: list[tuple[SSAValue, bool]]) -> int:
    if not guards:
        return 1
    trips = [bounds.trip for bounds in loops.values()]
    if prod(trips) > MAX_GRID:
        raise CompileError(f"a guard depends on loops of {prod(trips)} iterations in all", accepted=f"at most {MAX_GRID}")
    axes = np.meshgrid(*(np.arange(b.trip) * b.step + b.lower for b in loops.values()), indexing="ij") if loops else []
    values: dict[SSAValue, np.ndarray] = dict(zip(loops, axes, strict=True))
    holds = np.ones(trips, dtype=bool)
    for guard, wanted in guards:
        holds &= index_value(guard, values).astype(bool) == wanted
    return int(holds.sum())


def index_value(value: SSAValue, values: dict[SSAValue, np.ndarray]) -> np.ndarray:
    """An index or condition computed from constants and the induction variables in `values`, which also remembers it."""
    if value not in values:
        values[value] = _computed(value, values)
    return values[value]


def _computed(value: SSAValue, values: dict[SSAValue, np.ndarray]) -> np.ndarray:
    owner = value.owner
    if isinstance(owner, arith.ConstantOp):
        assert isinstance(owner.value, IntegerAttr)
        return np.array(owner.value.value.data)
    assert isinstance(owner, Operation)
    operands = [index_value(operand, values) for operand in owner.operands]
    if isinstance(owner, arith.CmpiOp):
        return _COMPARISONS[owner.predicate.value.data](*operands)
    return _ARITHMETIC[type(owner)](*operands)
