"""Order propagation: tile sizes and loop orders chosen so that each stream arrives as its reader wants it.

Walks the computations in topological order. Tiles are inherited along shared dimensions, so that elements agree; then the
order of the tile loops is the one that costs least memory, by exact cost: the converters that the producers' orders make
necessary, and the accumulators that a reduction outside a parallel loop makes necessary. So element-wise, layout and
reduction kernels follow their neighbours, and a converter is left only where contractions truly disagree.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import permutations
from math import prod
from typing import TypeAlias

from stc.design_space.tiling import default_order
from stc.iteration.converter import infer_converter
from stc.iteration.normal_form import same_sequence
from stc.iteration.order import Coordinate, Loop, StreamOrder
from stc.iteration.vectorize import largest_divisor, vectorized

LEAST_POINTS = 1024
"""Points of a tile of products below which filling the pipeline anew for each tile takes about as long as computing it."""

MOST_PERMUTED = 6
"""Loops beyond which not all orders are tried: 6! = 720 candidates, each costing some microseconds."""


@dataclass(frozen=True)
class Operand:
    """An operand of a computation: the tensor's name (or key), the loop that indexes each of its dimensions, bytes of one entry.

    `order` is how the tensor streams in, None where the reader may choose (a parameter, or an input not read before).
    """

    tensor: Hashable
    dims: tuple[int, ...]
    entry_bytes: int
    order: StreamOrder | None = None
    is_parameter: bool = False


@dataclass(frozen=True)
class Computation:
    """One linalg op: its iteration space, which loops reduce, and its operands.

    `single`: loops whose trip count is known at run time only (`extents` has the largest), which take one entry at a time.
    `summed`: loops along which whatever reads the results sums them up: groups of a reduction. `of_integers`: whether
    its results are integers, which few sums keep the adder busy with.
    """

    extents: tuple[int, ...]
    reductions: tuple[int, ...]
    inputs: tuple[Operand, ...]
    outputs: tuple[Operand, ...]
    single: tuple[int, ...] = ()
    summed: tuple[int, ...] = ()
    of_integers: bool = False


@dataclass(frozen=True)
class TileSizes:
    """Default tiles of loops that no stream fixes: `columns` for the last dimension of a tensor, `rows` for the one before it
    where no parameter has it (how many rows share one pass over the weights), 1 for all others (batches, heads)."""

    columns: int
    rows: int


@dataclass(frozen=True)
class LoopPlan:
    """Tile sizes per loop, and the tile loops from the outermost inwards."""

    tile: tuple[int, ...]
    order: tuple[int, ...]


Timing: TypeAlias = Callable[[LoopPlan], tuple[float, float]]
"""When the first results of a plan leave, and the last, in cycles of whatever the operands arrive in."""

LATE = 0.05
"""Part of a computation's end, or of its time, by which results may be later for less memory."""


def plan_loops(
    computation: Computation, sizes: TileSizes, decided: Mapping[int, int] | None = None, timing: Timing | None = None
) -> LoopPlan:
    """Tile and order of least memory for one computation, given the orders of its inputs and the tiles `decided` for some loops.

    Where tiles were decided, for speed, `timing` comes first: of orders that end at about the same time those whose first results
    leave at about the same time. Of these, numbers count rather than bytes: each that waits, in a converter or an accumulator, is
    late.
    """
    tile = _in_one_pass(computation, inherited_tiles(computation, sizes, decided or {}), sizes, set(decided or {}))
    plan = LoopPlan(tile, cheapest_order(computation, tile, timing if decided else None, for_speed=bool(decided)))
    return _kept(computation, plan) if decided else plan


MOST_KEPT = 1 << 16
"""Entries of a streamed operand that a task keeps, so that it is not sent again."""

MOST_BESIDE = 1 << 18
"""Entries of a tile of another operand then, which is longer in the same loops; it is there as a whole where it is not consumed as
it arrives."""


def _kept(computation: Computation, plan: LoopPlan) -> LoopPlan:
    """`plan` with longer tiles, where a streamed operand would come again and again: read once, it is kept as a whole. One of
    run-time length cannot be, and is left as it is.

    The order of loops stays: an operand of which all is needed for the first result is waited for in either way. Terms of a sum are
    added in the same order, but a longer tile may have other partial sums (`expand-partial-sums`).
    """
    tile = list(plan.tile)
    for operand in computation.inputs:
        looped = [loop for loop in plan.order if computation.extents[loop] != tile[loop]]
        again = next((place for place, loop in enumerate(looped) if loop not in operand.dims), len(looped))
        inside = {loop for loop in looped[again:] if loop in operand.dims}
        if inside & set(computation.single):
            continue
        longer = [computation.extents[loop] if loop in inside else size for loop, size in enumerate(tile)]
        sizes = [prod(longer[loop] for loop in each.dims) for each in computation.inputs]
        most = [MOST_KEPT if each.order is not None else MOST_BESIDE for each in computation.inputs]
        if operand.order is not None and all(size <= limit for size, limit in zip(sizes, most, strict=True)):
            tile = longer
    return LoopPlan(tuple(tile), plan.order)


# Tiles ----------------------------------------------------------------------------------------------------------------


def inherited_tiles(
    computation: Computation, sizes: TileSizes, decided: Mapping[int, int] | None = None
) -> tuple[int, ...]:
    """The tile of each loop: as decided, else the element extent of the largest stream it indexes, else a default."""
    streams = [operand for operand in computation.inputs if operand.order is not None]
    streams.sort(key=lambda operand: -prod(computation.extents[loop] for loop in operand.dims))
    whole = {loop: computation.extents[loop] for loop in (*_columns_in_one(computation), *_terms_in_one(computation))}
    tiles: dict[int, int] = {**(decided or {}), **whole, **dict.fromkeys(computation.single, 1)}
    for operand in streams:
        assert operand.order is not None
        for loop, extent in zip(operand.dims, operand.order.element, strict=True):
            tiles.setdefault(loop, extent)
    for loop, extent in enumerate(computation.extents):
        if loop not in tiles:
            tiles[loop] = largest_divisor(extent, _default_limit(computation, loop, sizes))
    return _lengthened(computation, tuple(tiles[loop] for loop in range(len(computation.extents))), sizes, set(decided or {}))


def _lengthened(computation: Computation, tile: tuple[int, ...], sizes: TileSizes, decided: set[int]) -> tuple[int, ...]:
    """`tile` with at least LEAST_POINTS, of sums of products whose largest input streams in rows, as a longer tile of it would too.

    So no converter is needed, nor does anything arrive later than the tile's own entries. Rows are taken whole, up to that many
    points (a row of 128 where a default tile is 64); no other dimension is longer than a default tile. Where a size is known at run
    time only, tiles stay: the stream of that size would have to come again, or in another order.
    """
    inputs = [operand for operand in computation.inputs if operand.dims]
    if not computation.reductions or len(inputs) < 2 or computation.single:
        return tile
    largest = max(inputs, key=lambda operand: prod(computation.extents[loop] for loop in operand.dims))
    for loop in reversed(largest.dims):
        if prod(tile) >= LEAST_POINTS or loop in decided:
            break
        most = max(sizes.columns, LEAST_POINTS) if loop == largest.dims[-1] else sizes.columns
        longer = (*tile[:loop], max(tile[loop], largest_divisor(computation.extents[loop], most)), *tile[loop + 1 :])
        if not _streams_in_rows(computation, longer, largest):
            break
        tile = longer
    return tile


def _in_one_pass(computation: Computation, tile: tuple[int, ...], sizes: TileSizes, decided: set[int]) -> tuple[int, ...]:
    """`tile` with as many rows as are to share a pass over the weights, where a stream of fewer would have them read again.

    Rows: points of all parallel loops that no factor of the sum which is a parameter has. They wait in a converter then, on chip.
    """
    reductions = set(computation.reductions)
    weights = [operand for operand in computation.inputs if operand.is_parameter and reductions & set(operand.dims)]
    rows = {*range(len(tile))} - {*reductions, *decided}.union(*(operand.dims for operand in weights))
    if not weights or computation.single:
        return tile
    longer, left = list(tile), sizes.rows
    for loop in sorted(rows, reverse=True):
        longer[loop] = max(tile[loop], largest_divisor(computation.extents[loop], max(1, left)))
        left //= longer[loop]
    order = default_order(len(tile), computation.reductions)
    fewer = parameter_entries(computation, longer, order) < parameter_entries(computation, tile, order)
    return tuple(longer) if fewer else tile


def _streams_in_rows(computation: Computation, tile: Sequence[int], operand: Operand) -> bool:
    """Whether the entries of `operand` come tile by tile, tiles and what is in them in row-major order."""
    if operand.order is None:
        return False
    looped = [loop for loop in operand.dims if computation.extents[loop] != tile[loop]]
    wanted = _enumerated(computation, tile, looped, operand.dims)
    return same_sequence(vectorized(wanted, 1), vectorized(operand.order, 1))


def _columns_in_one(computation: Computation) -> set[int]:
    """Columns of a result that are computed together, since a stream of run-time size without them would be needed again for each
    tile: nothing holds one."""
    again = [operand.dims for operand in computation.inputs if set(operand.dims) & set(computation.single)]
    columns = {operand.dims[-1] for operand in computation.outputs if operand.dims} - set(computation.single)
    return {loop for loop in columns if any(loop not in dims for dims in again)}


def _terms_in_one(computation: Computation) -> set[int]:
    """What a result of run-time size is summed over, at once: it would wait in partial sums as a whole where other loops run inside
    the sum."""
    of_results = {loop for operand in computation.outputs for loop in operand.dims}
    return set(computation.reductions) - set(computation.single) if of_results & set(computation.single) else set()


def _default_limit(computation: Computation, loop: int, sizes: TileSizes) -> int:
    """The largest tile of a loop that no stream fixes."""
    operands = (*computation.outputs, *computation.inputs)
    widest = max(len(operand.dims) for operand in operands)
    of_parameter = any(loop in operand.dims for operand in computation.inputs if operand.is_parameter)
    last_of_widest = any(operand.dims[-1:] == (loop,) for operand in operands if len(operand.dims) == widest)
    column_of_result = of_parameter and any(result.dims[-1:] == (loop,) for result in computation.outputs)
    if last_of_widest or column_of_result:
        return sizes.columns
    is_row = any(len(operand.dims) > 1 and operand.dims[-2] == loop for operand in operands)
    return sizes.rows if is_row and not of_parameter else 1


# Orders ---------------------------------------------------------------------------------------------------------------


def cheapest_order(
    computation: Computation, tile: Sequence[int], timing: Timing | None = None, *, for_speed: bool = False
) -> tuple[int, ...]:
    """The tile-loop order with the least memory that reads no parameter more often than the default order does; by `timing` first.

    `for_speed`: the fewest numbers in memory first, then the least memory. Streams of run-time size come as wanted, where an order
    allows it.
    """
    default = default_order(len(tile), computation.reductions)
    looped = [loop for loop in default if computation.extents[loop] != tile[loop]]
    rest = tuple(loop for loop in default if loop not in looped)
    limit = parameter_tokens(computation, tile, default)
    candidates = [each for each in _candidates(computation, looped) if parameter_tokens(computation, tile, each) <= limit]
    if timing is not None:
        candidates = _soonest(candidates, {each: timing(LoopPlan(tuple(tile), (*each, *rest))) for each in candidates})
    numbers = _of_numbers(computation)
    best = min(
        candidates,
        key=lambda candidate: (
            reordered_at_run_time(computation, tile, candidate),
            memory_cost(numbers, tile, candidate) if for_speed else (),
            memory_cost(computation, tile, candidate),
            parameter_tokens(computation, tile, candidate),
        ),
        default=tuple(looped),
    )
    return (*best, *rest)


def _soonest(candidates: Sequence[tuple[int, ...]], times: Mapping[tuple[int, ...], tuple[float, float]]) -> list[tuple[int, ...]]:
    """Those that end about as soon as any, and of these those that begin to send about as soon as any."""
    end = min((last for _, last in times.values()), default=0.0)
    left = [each for each in candidates if times[each][1] <= (1 + LATE) * end]
    begin = min((times[each][0] for each in left), default=0.0)
    return [each for each in left if times[each][0] <= begin + LATE * (end - begin)]


def _of_numbers(computation: Computation) -> Computation:
    """The computation, of whose memory the bytes are the numbers: an entry of up to 32 bits is one, a pair of sums two."""
    operands = (computation.inputs, computation.outputs)
    inputs, outputs = (tuple(replace(each, entry_bytes=-(-each.entry_bytes // 4)) for each in some) for some in operands)
    return replace(computation, inputs=inputs, outputs=outputs)


def _candidates(computation: Computation, looped: Sequence[int]) -> Iterable[tuple[int, ...]]:
    """Orders of the tiled loops, the default first, so that it wins ties."""
    if len(looped) <= MOST_PERMUTED:
        return permutations(looped)
    follow = [
        tuple(dict.fromkeys([*_streamed_loops(operand), *looped]))
        for operand in computation.inputs
        if operand.order is not None
    ]
    return [tuple(looped), *(tuple(loop for loop in order if loop in looped) for order in follow)]


def _streamed_loops(operand: Operand) -> list[int]:
    """The loops of an input in the order in which its stream moves along them."""
    assert operand.order is not None
    return [operand.dims[dimension] for dimension in operand.order.dimension_of_loop if dimension is not None]


def memory_cost(computation: Computation, tile: Sequence[int], order: Sequence[int]) -> tuple[int, int]:
    """Bytes of converters and accumulators together, and of converters alone, for one loop order."""
    converters = sum(
        converter_cost(operand, input_order(computation, tile, order, operand)) for operand in computation.inputs
    )
    return converters + accumulator_bytes(computation, tile, order), converters


def reordered_at_run_time(computation: Computation, tile: Sequence[int], order: Sequence[int]) -> int:
    """Streams of run-time size that do not come as wanted: no converter takes one."""
    return sum(
        not same_sequence(operand.order, input_order(computation, tile, order, operand))
        for operand in computation.inputs
        if operand.order is not None and set(operand.dims) & set(computation.single)
    )


def converter_cost(operand: Operand, required: StreamOrder) -> int:
    """Bytes of the converter from an input's order to the one wanted; 0 where it can come as wanted."""
    if operand.order is None or same_sequence(operand.order, required):
        return 0
    return infer_converter(operand.order, required).buffer_entries * operand.entry_bytes


def accumulator_bytes(computation: Computation, tile: Sequence[int], order: Sequence[int]) -> int:
    """Bytes of the accumulators beyond one tile of each result: they span the parallel loops inside the first reduction. Whoever
    sums up the results later has accumulators, too, inside the first loop that it sums over (`Computation.summed`)."""
    tiled = [loop for loop in order if computation.extents[loop] != tile[loop]]
    own = _spanned_bytes(computation, tile, tiled, computation.reductions, ())
    return own + _spanned_bytes(computation, tile, tiled, computation.summed, computation.summed)


def _spanned_bytes(
    computation: Computation, tile: Sequence[int], tiled: Sequence[int], reduced: Sequence[int], dropped: Sequence[int]
) -> int:
    """Bytes beyond one tile of what is added up along the loops `reduced`, of which results do not have the loops `dropped`."""
    first = next((position for position, loop in enumerate(tiled) if loop in reduced), len(tiled))
    others = {*reduced, *computation.reductions}
    copies = prod(computation.extents[loop] // tile[loop] for loop in tiled[first:] if loop not in others)
    kept = [(set(result.dims) - set(dropped), result.entry_bytes) for result in computation.outputs]
    return (copies - 1) * sum(prod(tile[loop] for loop in dims) * entry for dims, entry in kept)


def parameter_tokens(computation: Computation, tile: Sequence[int], order: Sequence[int]) -> int:
    """Elements of parameters read from external memory, temporal reuse included."""
    operands = (operand for operand in computation.inputs if operand.is_parameter)
    return sum(input_order(computation, tile, order, operand).token_count for operand in operands)


def parameter_entries(computation: Computation, tile: Sequence[int], order: Sequence[int]) -> int:
    """As many entries."""
    operands = (operand for operand in computation.inputs if operand.is_parameter)
    orders = (input_order(computation, tile, order, operand) for operand in operands)
    return sum(read.token_count * read.element_count for read in orders)


def input_order(
    computation: Computation, tile: Sequence[int], order: Sequence[int], operand: Operand
) -> StreamOrder:
    """The stream an input must come in: all tile loops down to the innermost that moves it (as `tile-linalg` places it)."""
    tiled = [loop for loop in order if computation.extents[loop] != tile[loop]]
    depth = max((tiled.index(loop) + 1 for loop in operand.dims if loop in tiled), default=0)
    return _enumerated(computation, tile, tiled[:depth], operand.dims)


def output_order(
    computation: Computation, tile: Sequence[int], order: Sequence[int], operand: Operand
) -> StreamOrder:
    """The stream a result leaves in: its own tile loops, in order."""
    tiled = [loop for loop in order if computation.extents[loop] != tile[loop] and loop in operand.dims]
    return _enumerated(computation, tile, tiled, operand.dims)


def _enumerated(
    computation: Computation, tile: Sequence[int], loops: Sequence[int], dims: Sequence[int]
) -> StreamOrder:
    space = tuple(Loop(computation.extents[loop] // tile[loop], tile[loop]) for loop in loops)
    coordinates = tuple(Coordinate((loops.index(loop),) if loop in loops else ()) for loop in dims)
    return StreamOrder(tuple(tile[loop] for loop in dims), space, coordinates)
