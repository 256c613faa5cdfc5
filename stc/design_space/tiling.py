"""Tile sizes and loop orders (docs/design/method.md section 4)."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from stc.iteration.vectorize import largest_divisor

MOST_LANES = 16
"""The most points of a tile that are computed at once by default: a port's width of f32."""

LEAST_SUMS = 8
"""Sums that a task keeps in flight, one after the other: about what the adder's latency takes to fill."""

LEAST_INTEGER_SUMS = 4
"""The same of integers, which are added in a cycle: about what loading and storing a sum takes."""


def default_tiles(extents: Sequence[int], default_tile_size: int) -> tuple[int, ...]:
    """One default for every loop: the largest divisor of its extent that is not above the default."""
    return tuple(largest_divisor(extent, default_tile_size) for extent in extents)


def default_unroll(
    tiles: Sequence[int], reductions: Sequence[int], operand_dims: Sequence[Sequence[int]], lanes: int
) -> tuple[int, ...]:
    """The innermost point loop runs in parallel where that means the lanes of a vector, the others step by step.

    Point loops have reductions outside and parallel loops inside (docs/design/method.md section 4). The last parallel loop with
    more than one point is unrolled over its tile if every operand it indexes has it as its last dimension (so that the entries it
    touches are lanes, which lie in different banks), by the largest divisor of the tile that is at most `lanes`.
    """
    parallel = [loop for loop, tile in enumerate(tiles) if loop not in reductions and tile > 1]
    unroll = [1] * len(tiles)
    if parallel:
        innermost = parallel[-1]
        in_lanes = all(dims[-1] == innermost for dims in operand_dims if innermost in dims)
        if in_lanes:
            unroll[innermost] = largest_divisor(tiles[innermost], lanes)
    return tuple(unroll)


def reduction_unroll(
    tiles: Sequence[int], reductions: Sequence[int], operand_dims: Sequence[Sequence[int]], lanes: int, *, of_integers: bool = False
) -> tuple[int, ...]:
    """For what `default_unroll` leaves point by point: terms of a sum in parallel, added one after the other, in their order.

    The last reduction, where it is the last dimension of every operand that it indexes, so that its terms come as lanes: by the
    largest divisor of its tile that is at most `lanes`, and few enough for the sums of a tile to hide half of the adders' latency:
    with `LEAST_SUMS` for each lane an iteration begins in every cycle, with the half allowed here in about every second one.
    Integers have none to hide: their terms are added up in a tree (`build-adder-trees`), and that sum in a cycle.
    """
    unroll = [1] * len(tiles)
    if reductions and all(dims[-1] == reductions[-1] for dims in operand_dims if reductions[-1] in dims):
        sums = prod(tile for loop, tile in enumerate(tiles) if loop not in reductions)
        most = lanes if of_integers else max(1, min(lanes, 2 * sums // LEAST_SUMS))
        unroll[reductions[-1]] = largest_divisor(tiles[reductions[-1]], most)
    return tuple(unroll)


def row_loop(
    extents: Sequence[int], reductions: Sequence[int], input_dims: Sequence[Sequence[int]], output_dims: Sequence[Sequence[int]]
) -> int | None:
    """The loop along which points of sums may run at once beside the lanes: each lane's factor is used for several rows.

    The last parallel loop that every result has, but no factor that comes in lanes; nor may it be the last dimension of another,
    whose tokens run along it, or the loop of the lanes (`default_unroll`). None where there is no such loop.
    """
    if not reductions or not output_dims or not output_dims[0]:
        return None
    last = output_dims[0][-1]
    lanes = {last} if all(dims[-1] == last for dims in input_dims if last in dims) else set[int]()
    in_lanes = {loop for dims in input_dims if dims and dims[-1] == last for loop in dims}
    ends = {dims[-1] for dims in input_dims if dims}
    possible = (loop for loop in reversed(output_dims[0]) if loop not in lanes | in_lanes | ends and extents[loop] > 1)
    return next((loop for loop in possible if all(loop in dims for dims in output_dims)), None)


def default_order(loop_count: int, reductions: Sequence[int]) -> tuple[int, ...]:
    """Tile loops, outermost first: parallel loops outside, reductions inside, otherwise as written."""
    parallel = [loop for loop in range(loop_count) if loop not in reductions]
    return (*parallel, *reductions)
