"""Two blocks of one task, filled and emptied by one loop: iteration after iteration a token comes in, and one goes out.

Round k fills half k mod 2 with block k and empties the other one, of block k - 1; the first only fills, the last only empties.
Where the next token lies is counted: dividing the iteration's number by the trip counts would take a divider for each of them. The
counters go on from round to round, so that all rounds are one pipelined loop.
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
from stc.dialects.facts import COUNTERS
from stc.iteration.converter import ConverterPlan
from stc.iteration.counters import Counter
from stc.iteration.order import StreamOrder
from stc.iteration.size import static
from stc.transforms.index_constant import index_constant
from stc.transforms.stream.loops import before_terminator, coordinates

Move = Callable[[Builder, Sequence[SSAValue], StreamOrder, bool], None]
"""Receives (True) or sends (False) the token of an order whose place in the halves, the half first, is given."""

_WAYS = ("in", "out")


@dataclass(frozen=True)
class _Side:
    """One side of the converter in a round: its tokens, and the variables that count where the next one lies."""

    order: StreamOrder
    counters: Sequence[SSAValue]


def merged_blocks(builder: Builder, plan: ConverterPlan, move: Move) -> None:
    """The loops, at `builder`. `plan` has two blocks."""
    orders = (plan.source_block, plan.target_block)
    most = max(order.token_count for order in orders)
    counters = [counter for order in orders for counter in order_counters(order)]
    names = [f"{what}_{name}" for what, order in zip(_WAYS, orders, strict=True) for name in order_loop_names(order)]
    rounds, body = _loops(builder, plan.iterations + 1, most, counters, names)
    token, counted = body.args[0], body.args[1:]
    inner, split = Builder(InsertPoint.at_end(body)), len(orders[0].loops)
    sides = (_Side(orders[0], counted[:split]), _Side(orders[1], counted[split:]))
    has_block = (
        inner.insert(arith.CmpiOp(rounds, index_constant(inner, plan.iterations), "slt")).result,
        inner.insert(arith.CmpiOp(rounds, index_constant(inner, 0), "sgt")).result,
    )
    halves = (rounds, inner.insert(arith.AddiOp(rounds, index_constant(inner, 1))).result)
    moves = [_moves(inner, side, token, most, what) for side, what in zip(sides, _WAYS, strict=True)]
    for side, runs, has_token, half, receives in zip(sides, has_block, moves, halves, (True, False), strict=True):
        if has_token is not None:
            runs = inner.insert(arith.AndIOp(runs, has_token)).result
        guarded = _guarded(inner, runs)
        parity = guarded.insert(arith.RemUIOp(half, index_constant(guarded, 2))).result
        move(guarded, [parity, *coordinates(guarded, side.order, side.counters)], side.order, receives)
    following = [_following(inner, side, has_token) for side, has_token in zip(sides, moves, strict=True)]
    inner.insert(scf.YieldOp(*following[0], *following[1]))


def _moves(builder: Builder, side: _Side, token: SSAValue, most: int, what: str) -> SSAValue | None:
    """Whether a side has a token left in this round; None where it always has."""
    if side.order.token_count == most:
        return None
    left = builder.insert(arith.CmpiOp(token, index_constant(builder, side.order.token_count), "slt")).result
    left.name_hint = f"{what}_moves"
    return left


def order_counters(order: StreamOrder) -> list[Counter]:
    """What counts each loop of `order`, a token per iteration."""
    stride, counters = 1, list[Counter]()
    for loop in reversed(order.loops):
        counters.append(Counter(order.token_count, stride, static(loop.trip), loop.step))
        stride *= static(loop.trip)
    return counters[::-1]


def _loops(
    builder: Builder, rounds: int, most: int, counters: Sequence[Counter], names: Sequence[str]
) -> tuple[SSAValue, Block]:
    """The nest of all rounds, a perfect one that carries the counters: the variable of a round, and the empty body inside."""
    zero, one = index_constant(builder, 0), index_constant(builder, 1)
    bounds = [index_constant(builder, rounds), index_constant(builder, most)]
    outer, inner = (Block(arg_types=[IndexType() for _ in range(len(counters) + 1)]) for _ in bounds)
    outer.args[0].name_hint, inner.args[0].name_hint = "block", "token"
    for block in (outer, inner):
        for argument, name in zip(block.args[1:], names, strict=True):
            argument.name_hint = name
    builder.insert(scf.ForOp(zero, bounds[0], one, [zero for _ in counters], outer))
    tokens = Builder(InsertPoint.at_end(outer)).insert(scf.ForOp(zero, bounds[1], one, outer.args[1:], inner))
    COUNTERS.put(tokens, tuple((each.turns, each.stride, each.trip, each.step) for each in counters))
    outer.add_op(scf.YieldOp(*tokens.results))
    return outer.args[0], inner


def _guarded(builder: Builder, condition: SSAValue) -> Builder:
    block = Block([scf.YieldOp()])
    builder.insert(scf.IfOp(condition, [], [block]))
    return before_terminator(block)


def _following(builder: Builder, side: _Side, moves: SSAValue | None) -> list[SSAValue]:
    """What the counters of a side are next, where it `moves`: the innermost advances, others where the one inside wraps around."""
    results: list[SSAValue] = []
    for position, (loop, value) in reversed([*enumerate(zip(side.order.loops, side.counters, strict=True))]):
        last = index_constant(builder, (static(loop.trip) - 1) * loop.step)
        ends = builder.insert(arith.CmpiOp(value, last, "eq")).result
        advanced = builder.insert(arith.AddiOp(value, index_constant(builder, loop.step))).result
        following = builder.insert(arith.SelectOp(ends, index_constant(builder, 0), advanced)).result
        results.append(following if moves is None else builder.insert(arith.SelectOp(moves, following, value)).result)
        if position:
            moves = ends if moves is None else builder.insert(arith.AndIOp(moves, ends)).result
            moves.name_hint = f"{value.name_hint}_wraps"
    return results[::-1]
