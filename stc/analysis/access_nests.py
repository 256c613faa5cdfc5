"""The loops and guards around an access of an itensor, as they stand in the IR, for `stc.iteration.access_obligations`."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import arith, scf
from xdsl.ir import Operation, OpResult, SSAValue
from xdsl.traits import IsolatedFromAbove

from stc.analysis.index_expressions import index_expression
from stc.analysis.loops import integer_constant
from stc.dialects.itensor.accesses import loop_of_induction_variable
from stc.iteration.access_obligations import PREDICATES, Always, Around, Combined, Comparison, Enumeration, Guard, Sum
from stc.iteration.order import Loop


def enumeration(access: Operation, indices: Sequence[SSAValue], loops: Sequence[Loop]) -> Enumeration:
    """That the executions of `access`, which names `indices`, enumerate `loops`; ValueError where they have no such form."""
    around, guards = _surroundings(access)
    named: list[int] = []
    for position, index in enumerate(indices):
        loop = loop_of_induction_variable(index)
        if loop is None or loop not in around:
            raise ValueError(f"index {position} is not the induction variable of an enclosing scf.for")
        named.append(around.index(loop))
    variables: dict[SSAValue, int] = {loop.body.block.args[0]: position for position, loop in enumerate(around)}
    conditions = tuple(_branch(_guard(guard.cond, variables), is_else) for guard, is_else in guards)
    return Enumeration(tuple(map(_bounds, around)), conditions, tuple(named), tuple(loops))


def _surroundings(access: Operation) -> tuple[list[scf.ForOp], list[tuple[scf.IfOp, bool]]]:
    """The loops around `access`, outermost first, and the scf.ifs, with whether it stands in their else branch."""
    loops: list[scf.ForOp] = []
    guards: list[tuple[scf.IfOp, bool]] = []
    inner, outer = access, access.parent_op()
    while outer is not None and not outer.has_trait(IsolatedFromAbove) and outer.name != "func.func":
        match outer:
            case scf.ForOp():
                loops.append(outer)
            case scf.IfOp():
                guards.append((outer, inner.parent_region() is not outer.true_region))
            case _:
                raise ValueError(f"'{outer.name}' around an access is neither an scf.for nor an scf.if")
        inner, outer = outer, outer.parent_op()
    return loops[::-1], guards


def _bounds(loop: scf.ForOp) -> Around:
    lower, upper, step = (integer_constant(value) for value in (loop.lb, loop.ub, loop.step))
    if lower is None or upper is None or step is None or step < 1:
        raise ValueError("a loop around an access has no constant bounds and positive step")
    return Around(lower, step, max(0, -(-(upper - lower) // step)))


def _guard(condition: SSAValue, variables: dict[SSAValue, int]) -> Guard:
    if (constant := integer_constant(condition)) is not None:
        return Always(constant != 0)
    op = condition.owner if isinstance(condition, OpResult) else None
    match op:
        case arith.CmpiOp():
            return Comparison(PREDICATES[op.predicate.value.data], _sum(op.lhs, variables), _sum(op.rhs, variables))
        case arith.AndIOp() | arith.OrIOp() | arith.XOrIOp():
            how = "all" if isinstance(op, arith.AndIOp) else "any" if isinstance(op, arith.OrIOp) else "odd"
            return Combined(how, (_guard(op.lhs, variables), _guard(op.rhs, variables)))
        case _:
            raise ValueError("a guard is not made of comparisons of induction variables")


def _branch(guard: Guard, is_else: bool) -> Guard:
    return Combined("odd", (guard, Always(True))) if is_else else guard


def _sum(value: SSAValue, variables: dict[SSAValue, int]) -> Sum:
    expression = index_expression(value, {})
    terms: list[tuple[int, int]] = []
    for term, factor in expression.terms:
        if not isinstance(term, SSAValue) or term not in variables:
            raise ValueError("a guard compares something else than sums of induction variables")
        terms.append((variables[term], factor))
    return Sum(expression.constant, tuple(sorted(terms)))
