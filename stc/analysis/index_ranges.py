"""Which values an index can take, as far as constants, loop bounds and guards around it tell.

The execution of modules leaves out the checks of accesses that these ranges show to be in bounds, and `stc.analysis.index_proofs`
proves all accesses of a design.
"""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.dialects import scf
from xdsl.ir import Block, BlockArgument, Operation, SSAValue

from stc.analysis.index_expressions import IndexExpression, index_expression
from stc.dialects.itensor import SymbolType
from stc.iteration.index_bounds import LoopValues
from stc.iteration.index_expressions import Operator, Range, computed, variable


def range_of(value: SSAValue) -> Range | None:
    """The range of an index; None where it does not follow from constants and loop bounds."""
    index = index_expression(value, {})
    return _range_within(index, loops_of(index.variables()))


def _range_within(index: IndexExpression, loops: dict[SSAValue, LoopValues] | None) -> Range | None:
    return None if loops is None else index.range({name: values.range for name, values in loops.items()})


def loops_of(variables: set[SSAValue]) -> dict[SSAValue, LoopValues] | None:
    """The values of loop variables, and of those that their bounds are computed from; None where one is none, nor a symbol.

    Of a loop whose bounds are not constant all values between the smallest and the largest: `bound_guards` say more.
    """
    found: dict[SSAValue, LoopValues] = {}
    for name in variables:
        if isinstance(name.type, SymbolType):
            found[name] = LoopValues.of(0, name.type.data.maximum + 1, 1)
            continue
        loop = _loop_of(name)
        if loop is None:
            return None
        lower, upper, step = _bounds(loop)
        outer = loops_of(lower.variables() | upper.variables())
        if outer is None or step.terms or step.constant < 1:
            return None
        ranges = {name: values.range for name, values in outer.items()}
        first, last = lower.range(ranges), upper.range(ranges)
        if first is None or last is None:
            return None
        is_constant = not lower.terms and not upper.terms
        values = LoopValues.of(first[0], last[1], step.constant if is_constant else 1)
        found |= {**outer, name: values}
    return found


def bits_of_index(value: SSAValue) -> int | None:
    """Bits of all values of an index, with a sign where some are negative; None where a launch says how large it is, or data."""
    index = index_expression(value, {})
    loops = loops_of(index.variables())
    if any(isinstance(name.type, SymbolType) for name in loops or ()) or (found := _range_within(index, loops)) is None:
        return None
    least, most = found
    return max(least.bit_length(), most.bit_length(), 1) + (least < 0)


def guards_around(op: Operation, root: Operation | None = None) -> Iterator[IndexExpression]:
    """What holds wherever `op` runs in `root`: conditions of branches, and bounds of loops that are not constant."""
    yield from conditions_around(op, root)
    for _, parent in _surroundings(op, root):
        if isinstance(parent, scf.ForOp):
            yield from _bound_guards(parent)


def conditions_around(op: Operation, root: Operation | None = None) -> Iterator[IndexExpression]:
    """The conditions of the branches in `root` that `op` stands in."""
    for block, parent in _surroundings(op, root):
        if isinstance(parent, scf.IfOp):
            condition = index_expression(parent.cond, {})
            yield condition if block.parent is parent.true_region else condition.negated()


def _surroundings(op: Operation, root: Operation | None) -> Iterator[tuple[Block, Operation]]:
    """The blocks around `op` with the operations that hold them, from the innermost, as far as `root`."""
    block: Block | None = op.parent
    while block is not None and (parent := block.parent_op()) is not None and parent is not root:
        yield block, parent
        block = parent.parent


def _bound_guards(loop: scf.ForOp) -> Iterator[IndexExpression]:
    """What bounds that are not constant say of the loop's variable."""
    lower, upper, step = _bounds(loop)
    if not lower.terms and not upper.terms:
        return
    own: IndexExpression = variable(loop.body.block.args[0])
    yield own.less(lower).negated()
    yield own.less(upper)
    if step.constant > 1:
        remainder = computed(Operator.REM, own.minus(lower), step)
        yield computed(Operator.EQUAL, remainder, IndexExpression(0))


def _bounds(loop: scf.ForOp) -> tuple[IndexExpression, IndexExpression, IndexExpression]:
    lower, upper, step = (index_expression(value, {}) for value in (loop.lb, loop.ub, loop.step))
    return lower, upper, step


def _loop_of(value: SSAValue) -> scf.ForOp | None:
    """The loop whose variable a value is."""
    if not isinstance(value, BlockArgument) or value.index != 0:
        return None
    loop = value.block.parent_op()
    return loop if isinstance(loop, scf.ForOp) else None
