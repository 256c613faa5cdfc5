"""Blocks of whole tokens: where the entries of a released block can be the tokens that both sides move.

A stream of blocks cannot be partitioned (UG1399, Limitations of `hls::stream_of_blocks`): in one cycle a side reaches as many of
its entries as the memory has ports. A side that moves a token per cycle must find it in one entry.
"""

from __future__ import annotations

from stc.iteration.converter import ConverterPlan
from stc.iteration.order import Coordinate, Loop, StreamOrder
from stc.iteration.size import static


def token_lanes(plan: ConverterPlan) -> int | None:
    """Lanes of the entries of a block in which every token of either side is one entry; None where there are no such entries."""
    lanes = plan.source_block.element_count
    sides = (plan.source_block, plan.target_block)
    return lanes if plan.buffer_shape[-1:] and all(_is_made_of(side, lanes, plan.buffer_shape[-1]) for side in sides) else None


def _is_made_of(order: StreamOrder, lanes: int, extent: int) -> bool:
    """Whether each token of `order` is a run of `lanes` entries along the last dimension, of `extent`, and starts at a multiple."""
    if order.element[-1] != lanes or order.element_count != lanes:
        return False
    moves = [static(order.coordinates[-1].constant), extent]
    moves += [order.loops[loop].step for loop in order.loops_of(order.rank - 1) if order.loops[loop].trip != 1]
    return all(move % lanes == 0 for move in moves)


def in_tokens(order: StreamOrder, lanes: int) -> StreamOrder:
    """`order`, whose tokens are such entries, with the coordinate along the last dimension counted in them."""
    own = set(order.loops_of(order.rank - 1))
    loops = tuple(
        Loop(loop.trip, max(1, loop.step // lanes)) if number in own else loop for number, loop in enumerate(order.loops)
    )
    last = order.coordinates[-1]
    coordinates = (*order.coordinates[:-1], Coordinate(last.loops, static(last.constant) // lanes))
    return StreamOrder((*order.element[:-1], 1), loops, coordinates)
