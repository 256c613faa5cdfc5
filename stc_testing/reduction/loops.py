"""Fewer iterations of `scf.for`: a loop with constant bounds gets one iteration or half of them, or its body is inlined."""

from __future__ import annotations

from collections.abc import Callable

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import IntegerAttr, ModuleOp
from xdsl.ir import SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from stc.dialects.itensor.accesses import trip_size
from stc.dialects.itensor.induction import constant_value
from stc_testing.reduction.engine import Reduction, item_wise


def _shortening(name: str, fewer: Callable[[int], int]) -> Reduction:
    return item_wise(name, lambda module: [_shorten(loop, fewer) for loop in _loops(module)])


def _loops(module: ModuleOp) -> list[scf.ForOp]:
    return [op for op in module.walk() if isinstance(op, scf.ForOp) and trip_size(op) != 0]


def _shorten(loop: scf.ForOp, fewer: Callable[[int], int]) -> Callable[[], bool]:
    def apply() -> bool:
        trips, lower, step = trip_size(loop), constant_value(loop.lb), constant_value(loop.step)
        if not isinstance(trips, int) or lower is None or step is None or not 1 <= fewer(trips) < trips:
            return False
        value = IntegerAttr(lower + step * fewer(trips), loop.ub.type)  # pyright: ignore[reportArgumentType, reportCallIssue]
        bound = arith.ConstantOp(value)
        Rewriter.insert_op(bound, InsertPoint.before(loop))
        loop.operands[1] = bound.result
        return True

    return apply


def _inline(loop: scf.ForOp) -> Callable[[], bool]:
    def apply() -> bool:
        if loop.parent is None:
            return False
        body = loop.body.block
        last = body.last_op
        if not isinstance(last, scf.YieldOp):
            return False
        results: list[SSAValue] = list(last.operands)
        last.detach()
        last.erase()
        for op in list(body.ops):
            op.detach()
            Rewriter.insert_op(op, InsertPoint.before(loop))
        starts = (loop.lb, *loop.iter_args)
        replaced = dict(zip(body.args, starts, strict=True))
        for argument, value in replaced.items():
            argument.replace_all_uses_with(value)
        for result, value in zip(loop.results, results, strict=True):
            result.replace_all_uses_with(replaced.get(value, value))  # pyright: ignore[reportArgumentType, reportCallIssue]
        loop.detach()
        loop.erase()
        return True

    return apply


REDUCE_LOOPS = (
    item_wise("inline loops", lambda module: [_inline(op) for op in module.walk() if isinstance(op, scf.ForOp)]),
    _shortening("run loops once", lambda trips: 1),
    _shortening("halve trip counts", lambda trips: trips // 2),
)
