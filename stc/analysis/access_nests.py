"""The loops and guards around an access of an itensor, as they stand in the IR, for `stc.iteration.access_obligations`."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import scf
from xdsl.ir import Operation, SSAValue
from xdsl.traits import IsolatedFromAbove

from stc.analysis.index_expressions import IndexExpression
from stc.analysis.index_ranges import conditions_around
from stc.analysis.loops import is_tabulated
from stc.dialects.itensor.accesses import trip_size
from stc.dialects.itensor.induction import constant_value
from stc.iteration.access_obligations import Enumeration, LoopAround
from stc.iteration.index_expressions import Computed, Operator
from stc.iteration.order import Loop

_OF_CONDITIONS = (Operator.LESS, Operator.EQUAL, Operator.MIN, Operator.MAX)


def enumeration(access: Operation, indices: Sequence[SSAValue], loops: Sequence[Loop]) -> Enumeration:
    """That the executions of `access`, which names `indices`, enumerate `loops`; ValueError where they have no such form."""
    around: list[scf.ForOp] = []
    outer = access.parent_op()
    while outer is not None and not outer.has_trait(IsolatedFromAbove) and outer.name != "func.func":
        if isinstance(outer, scf.ForOp):
            around.insert(0, outer)
        elif not isinstance(outer, scf.IfOp):
            raise ValueError(f"'{outer.name}' around an access is neither an scf.for nor an scf.if")
        outer = outer.parent_op()
    positions: dict[SSAValue, int] = {loop.body.block.args[0]: position for position, loop in enumerate(around)}
    for position, index in enumerate(indices):
        if index not in positions:
            raise ValueError(f"index {position} is not the induction variable of an enclosing scf.for")
    guards = tuple(conditions_around(access, outer))
    if not all(guard.variables() <= positions.keys() and _compares_sums(guard) for guard in guards):
        raise ValueError("a guard is not made of comparisons of induction variables")
    conditions = tuple(guard.renamed(positions) for guard in guards)
    return Enumeration(tuple(map(_values, around)), conditions, tuple(positions[index] for index in indices), tuple(loops))


def _values(loop: scf.ForOp) -> LoopAround:
    trips, first, step = trip_size(loop), constant_value(loop.lb), constant_value(loop.step)
    if trips is None or first is None or step is None or is_tabulated(loop):
        raise ValueError("a loop around an access has no bounds that are sizes, the same in each iteration around it")
    return LoopAround(first, step, trips)


def _compares_sums(condition: IndexExpression) -> bool:
    computed = [term for term, _ in condition.terms if isinstance(term, Computed)]
    return all(term.kind in _OF_CONDITIONS and all(map(_compares_sums, term.operands)) for term in computed)
