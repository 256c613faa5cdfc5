"""Two blocks of one task, filled and emptied by one loop: iteration after iteration a token comes in, and one goes out.

Run k fills half k mod 2 with block k and empties the other one, of block k - 1; the first run only fills, the last only empties.
Where the next token lies is counted: dividing the iteration's number by the trip counts would take a divider for each of them.
Nothing that a run stores is loaded in it, and between two runs the pipeline drains.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from xdsl.builder import Builder
from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import IndexType
from xdsl.ir import Block, SSAValue
from xdsl.rewriter import InsertPoint

from stc.analysis.loop_names import order_loop_names
from stc.iteration.converter import ConverterPlan
from stc.iteration.order import Loop, StreamOrder
from stc.iteration.size import static
from stc.transforms.index_constant import index_constant
from stc.transforms.stream.loops import before_terminator, coordinates, loop_nest

Move = Callable[[Builder, Sequence[SSAValue], StreamOrder, bool], None]
"""Receives (True) or sends (False) the token of an order whose place in the halves, the half first, is given."""


@dataclass(frozen=True)
class _Side:
    """One side of the converter in a run: its tokens, and the variables that count where the next one lies."""

    order: StreamOrder
    counters: Sequence[SSAValue]


def merged_blocks(builder: Builder, plan: ConverterPlan, move: Move) -> None:
    """The loops, at `builder`. `plan` has two blocks."""
    orders = (plan.source_block, plan.target_block)
    (run,), once = loop_nest(builder, [Loop(plan.iterations + 1, 1)], ["run"])
    zero, one = index_constant(once, 0), index_constant(once, 1)
    most = index_constant(once, max(order.token_count for order in orders))
    starts = [zero for order in orders for _ in order.loops]
    body = Block(arg_types=[IndexType() for _ in range(len(starts) + 1)])
    body.args[0].name_hint = "token"
    once.insert(scf.ForOp(zero, most, one, starts, body))
    inner = Builder(InsertPoint.at_end(body))
    split = len(orders[0].loops) + 1
    sides = (_Side(orders[0], body.args[1:split]), _Side(orders[1], body.args[split:]))
    for side, what in zip(sides, ("in", "out"), strict=True):
        for counter, name in zip(side.counters, order_loop_names(side.order), strict=True):
            counter.name_hint = f"{what}_{name}"
    last = index_constant(inner, plan.iterations)
    runs = (
        inner.insert(arith.CmpiOp(run, last, "slt")).result,
        inner.insert(arith.CmpiOp(run, index_constant(inner, 0), "sgt")).result,
    )
    halves = (run, inner.insert(arith.AddiOp(run, index_constant(inner, 1))).result)
    advanced: list[SSAValue] = []
    for side, is_running, half, receives in zip(sides, runs, halves, (True, False), strict=True):
        count = index_constant(inner, side.order.token_count)
        moves = inner.insert(arith.CmpiOp(body.args[0], count, "slt")).result
        both = inner.insert(arith.AndIOp(is_running, moves)).result
        guarded = _guarded(inner, both)
        parity = guarded.insert(arith.RemUIOp(half, index_constant(guarded, 2))).result
        move(guarded, [parity, *coordinates(guarded, side.order, side.counters)], side.order, receives)
        advanced += _advanced(inner, side)
    inner.insert(scf.YieldOp(*advanced))


def _guarded(builder: Builder, condition: SSAValue) -> Builder:
    block = Block([scf.YieldOp()])
    builder.insert(scf.IfOp(condition, [], [block]))
    return before_terminator(block)


def _advanced(builder: Builder, side: _Side) -> list[SSAValue]:
    """The counters of the next token: the innermost loop advances, each other one where the one inside it wraps around."""
    results: list[SSAValue] = []
    wraps: SSAValue | None = None
    for loop, value in zip(reversed(side.order.loops), reversed(side.counters), strict=True):
        moved = builder.insert(arith.AddiOp(value, index_constant(builder, loop.step))).result
        end = index_constant(builder, static(loop.trip) * loop.step)
        ends = builder.insert(arith.CmpiOp(moved, end, "sge")).result
        following = builder.insert(arith.SelectOp(ends, index_constant(builder, 0), moved)).result
        if wraps is not None:
            following = builder.insert(arith.SelectOp(wraps, following, value)).result
            ends = builder.insert(arith.AndIOp(wraps, ends)).result
        results.append(following)
        wraps = ends
    return results[::-1]
