"""Order propagation against brute force: every permutation of the tile loops, under a model of streams of its own."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations, product
from math import prod
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import assume, event, given
from hypothesis import strategies as st

from stc.design_space.orders import (
    Computation,
    LoopPlan,
    Operand,
    TileSizes,
    inherited_tiles,
    input_order,
    memory_cost,
    output_order,
    parameter_tokens,
    plan_loops,
)
from stc.iteration.converter import infer_converter
from stc.iteration.layout_orders import row_major
from stc.iteration.order import Coordinate, Loop, StreamOrder
from stc_testing.drawn import examples

MOST_TOKENS = 1500
EXTENTS = [1, 2, 3, 4, 6, 8]
SIZES = TileSizes(columns=4, rows=4)


# Random computations --------------------------------------------------------------------------------------------------


def divisors(extent: int) -> list[int]:
    return [divisor for divisor in range(1, extent + 1) if extent % divisor == 0]


@st.composite
def exact_orders(draw: st.DrawFn, shape: tuple[int, ...]) -> StreamOrder:
    """Up to two loops per dimension in any nesting, and sometimes a reuse loop."""
    element: list[int] = []
    nest: list[tuple[Loop, int | None]] = []
    for dimension, extent in enumerate(shape):
        size = draw(st.sampled_from(divisors(extent)))
        trips = extent // size
        inner = draw(st.sampled_from([1, trips, *divisors(trips)]))
        element.append(size)
        loops = [Loop(inner, size), Loop(trips // inner, size * inner)]
        nest += [(loop, dimension) for loop in loops if loop.trip != 1]
    if draw(st.integers(0, 3)) == 0:
        nest.append((Loop(2, 1), None))
    nest = draw(st.permutations(nest))
    driving = [tuple(at for at, (_, driven) in enumerate(nest) if driven == dimension) for dimension in range(len(shape))]
    return StreamOrder(tuple(element), tuple(loop for loop, _ in nest), tuple(Coordinate(loops) for loops in driving))


@st.composite
def computations(draw: st.DrawFn) -> Computation:
    """1 to 4 loops, some of which reduce or are summed later, and 1 to 3 inputs: parameters, streams and inputs that nobody has
    read yet."""
    extents = tuple(draw(st.lists(st.sampled_from(EXTENTS), min_size=1, max_size=4)))
    loops = list(range(len(extents)))
    reductions = tuple(loop for loop in loops if draw(st.integers(0, 2)) == 0)
    parallel = [loop for loop in loops if loop not in reductions]
    inputs = [draw(operands(extents, f"t{index}")) for index in range(draw(st.integers(1, 3)))]
    result = Operand("result", tuple(draw(st.permutations(parallel))), draw(st.sampled_from([2, 4])))
    summed = tuple(loop for loop in parallel if draw(st.integers(0, 3)) == 0)
    return Computation(extents, reductions, tuple(inputs), (result,), summed=summed)


@st.composite
def operands(draw: st.DrawFn, extents: tuple[int, ...], name: str) -> Operand:
    dims = tuple(draw(st.permutations(range(len(extents))))[: draw(st.integers(0, len(extents)))])
    kind = draw(st.sampled_from(["parameter", "stream", "stream", "free"]))
    shape = tuple(extents[loop] for loop in dims)
    order = draw(exact_orders(shape)) if kind == "stream" else None
    return Operand(name, dims, draw(st.sampled_from([2, 4])), order, kind == "parameter")


# The model ------------------------------------------------------------------------------------------------------------


class Step(NamedTuple):
    """A tile loop: its trip count, and the dimension of the port that it moves."""

    trip: int
    dimension: int | None


def port_nest(computation: Computation, plan: LoopPlan, dims: tuple[int, ...]) -> list[Step]:
    """The loops around an access: all that are tiled, those inside the innermost one that moves the port peeled off."""
    nest = [
        Step(computation.extents[loop] // plan.tile[loop], dims.index(loop) if loop in dims else None)
        for loop in tiled(computation, plan)
    ]
    while nest and nest[-1].dimension is None:
        nest.pop()
    return nest


def sequence(element: tuple[int, ...], nest: list[Step]) -> list[tuple[int, ...]]:
    """The first entry of every token, by running the loops."""
    found: list[tuple[int, ...]] = [(0,) * len(element)]
    for trip, dimension in nest:
        found = [
            tuple(c + step * element[d] if d == dimension else c for d, c in enumerate(at)) for at in found for step in range(trip)
        ]
    return found


def tokens_of(order: StreamOrder) -> list[tuple[int, ...]]:
    return [tuple(map(int, token)) for token in order.enumerate()]


def converter_bytes(computation: Computation, plan: LoopPlan, operand: Operand) -> int:
    """By enumeration whether there is a converter; its size is inference's, which has proofs of its own."""
    if operand.order is None:
        return 0
    element, nest = tuple(plan.tile[loop] for loop in operand.dims), port_nest(computation, plan, operand.dims)
    if operand.order.element == element and tokens_of(operand.order) == sequence(element, nest):
        return 0
    driving = [tuple(at for at, step in enumerate(nest) if step.dimension == d) for d in range(len(element))]
    loops = tuple(Loop(step.trip, 1 if step.dimension is None else element[step.dimension]) for step in nest)
    wanted = StreamOrder(element, loops, tuple(Coordinate(loops) for loops in driving))
    return infer_converter(operand.order, wanted).buffer_entries * operand.entry_bytes


def accumulated_bytes(computation: Computation, plan: LoopPlan) -> int:
    """Entries that are begun and not finished at the same time, its own ones and those of whoever sums up the results later."""
    own = begun_bytes(computation, plan, computation.reductions)
    reduced = (*computation.reductions, *computation.summed)
    return own + (begun_bytes(computation, plan, reduced, computation.summed) if computation.summed else 0)


def begun_bytes(computation: Computation, plan: LoopPlan, reduced: tuple[int, ...], summed: tuple[int, ...] | None = None) -> int:
    """By running the tile loops; one tile is there anyway. `summed`: what is added up is of results, as they are finished."""
    order = [loop for loop in tiled(computation, plan) if summed is None or loop not in computation.reductions]
    steps = sequence((1,) * len(order), [Step(computation.extents[loop] // plan.tile[loop], at) for at, loop in enumerate(order)])
    kept = [at for at, loop in enumerate(order) if loop not in reduced]
    visits = [tuple(step[at] for at in kept) for step in steps]
    first: dict[tuple[int, ...], int] = {}
    last: dict[tuple[int, ...], int] = {}
    for time, tile in enumerate(visits):
        first.setdefault(tile, time)
        last[tile] = time
    most = max(sum(first[tile] <= time <= last[tile] for tile in first) for time in range(len(visits)))
    (result,) = computation.outputs
    return (most - 1) * prod(plan.tile[loop] for loop in result.dims if loop not in reduced) * result.entry_bytes


def cost(computation: Computation, plan: LoopPlan) -> tuple[int, int]:
    converters = sum(converter_bytes(computation, plan, operand) for operand in computation.inputs)
    return converters + accumulated_bytes(computation, plan), converters


def parameter_reads(computation: Computation, plan: LoopPlan) -> int:
    read = (operand.dims for operand in computation.inputs if operand.is_parameter)
    return sum(prod(step.trip for step in port_nest(computation, plan, dims)) for dims in read)


def in_default_order(computation: Computation, tile: tuple[int, ...]) -> LoopPlan:
    loops = range(len(tile))
    return LoopPlan(tile, tuple(sorted(loops, key=lambda loop: (loop in computation.reductions, loop))))


def tiled(computation: Computation, plan: LoopPlan) -> list[int]:
    """The loops that remain, in order: a loop of one tile is none."""
    return [loop for loop in plan.order if computation.extents[loop] > plan.tile[loop]]


def is_small(computation: Computation) -> bool:
    return prod(computation.extents) <= MOST_TOKENS


# Properties -----------------------------------------------------------------------------------------------------------


@examples(37)
@given(computations())
def test_the_order_is_the_cheapest_that_reads_parameters_no_more_often(computation: Computation):
    assume(is_small(computation))
    plan = plan_loops(computation, SIZES)
    default = in_default_order(computation, plan.tile)
    reads = parameter_reads(computation, default)
    assert sorted(plan.order) == list(range(len(computation.extents)))
    assert parameter_reads(computation, plan) <= reads

    every = [LoopPlan(plan.tile, order) for order in permutations(range(len(plan.tile)))]
    admissible = [other for other in every if parameter_reads(computation, other) <= reads]
    least = min(cost(computation, other) for other in admissible)
    assert cost(computation, plan) == least == memory_cost(computation, plan.tile, plan.order)
    if (*cost(computation, default), reads) == (*least, parameter_reads(computation, plan)):
        assert tiled(computation, plan) == tiled(computation, default), "ties keep the default order"
    event("default" if tiled(computation, plan) == tiled(computation, default) else "reordered")


def entries_of(order: StreamOrder) -> list[tuple[int, ...]]:
    """Every entry of a tensor as it crosses: token by token, row-major in each."""
    inside = list(product(*map(range, order.element)))
    return [tuple(np.add(token, entry)) for token in order.enumerate() for entry in inside]


@examples(37)
@given(computations())
def test_longer_tiles_take_what_comes_next(computation: Computation):
    """Where a tile is longer than the elements of its largest input, that input's entries come in the order of the tiles."""
    tile = inherited_tiles(computation, SIZES)
    streams = [operand for operand in computation.inputs if operand.order is not None]
    for operand in streams:
        assert operand.order is not None
        longer = [at for at, loop in enumerate(operand.dims) if tile[loop] > operand.order.element[at]]
        others = [other for other in streams if len(other.dims) >= len(operand.dims) and other is not operand]
        if not longer or others:
            continue
        wanted = input_order(computation, tile, operand.dims, operand)
        assert entries_of(wanted) == entries_of(operand.order)
        event("longer")


# K of attention, as a cache brings it: a row of 64 entries for each of 96 positions of a head.
ROWS = StreamOrder((1, 1, 64), (Loop(12, 1), Loop(96, 1)), (Coordinate((0,)), Coordinate((1,)), Coordinate()))


def scores(rows: StreamOrder, single: tuple[int, ...] = ()) -> Computation:
    """Products of one row of Q and all rows of K for each head, summed along rows."""
    q = Operand("q", (0, 2), 4, StreamOrder((1, 64), (Loop(12, 1),), (Coordinate((0,)), Coordinate())))
    k = Operand("k", (0, 1, 2), 4, rows)
    return Computation((12, 96, 64), (2,), (q, k), (Operand("result", (0, 1), 4),), single)


def test_short_rows_are_taken_together():
    assert inherited_tiles(scores(ROWS), TileSizes(columns=64, rows=4)) == (1, 48, 64)  # the largest divisor of 96 up to 64


def test_rows_that_come_in_halves_are_one_tile():
    """A head of 128 at a default tile of 64: sums of a half row at a time would leave one lane to work."""
    halves = (Coordinate((0,)), Coordinate((1,)), Coordinate((2,)))
    k = Operand("k", (0, 1, 2), 4, StreamOrder((1, 1, 64), (Loop(12, 1), Loop(96, 1), Loop(2, 64)), halves))
    q = Operand("q", (0, 2), 4, StreamOrder((1, 64), (Loop(12, 1), Loop(2, 64)), (Coordinate((0,)), Coordinate((1,)))))
    long = Computation((12, 96, 128), (2,), (q, k), (Operand("result", (0, 1), 4),))
    assert inherited_tiles(long, TileSizes(columns=64, rows=4)) == (1, 48, 128)


def test_a_row_of_a_run_time_size_is_taken_alone():
    assert inherited_tiles(scores(ROWS, single=(1,)), TileSizes(columns=64, rows=4)) == (1, 1, 64)


def test_no_tile_grows_beside_a_stream_of_run_time_size():
    """Longer tiles of other rows would have that stream come in another order, which nothing makes of it."""
    rows = StreamOrder((1, 1, 16), (Loop(96, 1), Loop(8, 1)), (Coordinate((0,)), Coordinate((1,)), Coordinate()))
    q = Operand("q", (0, 1, 3), 4, rows)
    k = Operand("k", (2, 3), 4, StreamOrder((1, 16), (Loop(4, 1),), (Coordinate((0,)), Coordinate())))
    run_time = Computation((96, 8, 4, 16), (3,), (q, k), (Operand("result", (0, 1, 2), 4),), single=(2,))
    assert inherited_tiles(run_time, TileSizes(columns=64, rows=4))[:2] == (1, 1)
    assert inherited_tiles(replace(run_time, single=()), TileSizes(columns=64, rows=4))[:2] == (48, 8)


def test_rows_of_another_order_are_taken_alone():
    turned = StreamOrder((1, 1, 64), (Loop(96, 1), Loop(12, 1)), (Coordinate((1,)), Coordinate((0,)), Coordinate()))
    assert inherited_tiles(scores(turned), TileSizes(columns=64, rows=4)) == (1, 1, 64)


@examples(37)
@given(computations())
def test_tiles(computation: Computation):
    tile = plan_loops(computation, SIZES).tile
    assert all(extent % size == 0 for extent, size in zip(computation.extents, tile, strict=True))

    def entries(operand: Operand) -> int:
        return prod(computation.extents[loop] for loop in operand.dims)

    streams = [operand for operand in computation.inputs if operand.order is not None]
    for loop, size in enumerate(tile):
        readers = [operand for operand in streams if loop in operand.dims]
        if readers:
            largest = max(readers, key=entries)
            assert largest.order is not None
            inherited = largest.order.element[largest.dims.index(loop)]
            assert size == inherited or inherited < size <= SIZES.columns
        else:
            assert size <= max(SIZES.columns, SIZES.rows)


@examples(37)
@given(computations())
def test_orders_of_ports_are_what_the_loops_visit(computation: Computation):
    assume(is_small(computation))
    plan = plan_loops(computation, SIZES)
    for operand in computation.inputs:
        element = tuple(plan.tile[loop] for loop in operand.dims)
        expected = sequence(element, port_nest(computation, plan, operand.dims))
        order = input_order(computation, plan.tile, plan.order, operand)
        assert order.element == element and tokens_of(order) == expected
    for operand in computation.outputs:
        element = tuple(plan.tile[loop] for loop in operand.dims)
        own = [step for step in port_nest(computation, plan, operand.dims) if step.dimension is not None]
        order = output_order(computation, plan.tile, plan.order, operand)
        assert order.element == element and order.is_exact and tokens_of(order) == sequence(element, own)


# By hand --------------------------------------------------------------------------------------------------------------


def rows_then_columns(rows: int, columns: int, tile: tuple[int, int]) -> StreamOrder:
    loops = (Loop(rows // tile[0], tile[0]), Loop(columns // tile[1], tile[1]))
    return StreamOrder(tile, loops, (Coordinate((0,)), Coordinate((1,))))


def matmul(rows: int, width: int, columns: int, order: StreamOrder | None) -> Computation:
    """y[i, j] = x[i, k] w[k, j] over loops i, j, k; w is a parameter."""
    x = Operand("x", (0, 2), 4, order)
    w = Operand("w", (2, 1), 4, None, is_parameter=True)
    return Computation((rows, columns, width), (2,), (x, w), (Operand("y", (0, 1), 4),))


def test_a_reduction_goes_outside_where_the_input_is_longer_than_the_result_is_wide():
    """x (one row block of 16 x 64) would be buffered to be read for every j: 4096 bytes. Accumulators for two tiles of j
    instead of one cost 1024 bytes. w is read once either way."""
    computation = matmul(16, 64, 32, rows_then_columns(16, 64, (16, 16)))
    plan = plan_loops(computation, TileSizes(columns=16, rows=16))
    assert plan.tile == (16, 16, 16)
    assert plan.order.index(2) < plan.order.index(1)
    assert memory_cost(computation, plan.tile, plan.order) == (1024, 0)
    assert memory_cost(computation, plan.tile, (0, 1, 2)) == (4096, 4096)


def test_a_reduction_stays_inside_where_the_result_is_wide():
    """Eight tiles of j: 7 more accumulators are 7168 bytes, two buffers for a row block of x (16 x 32) are 4096."""
    computation = matmul(32, 32, 128, rows_then_columns(32, 32, (16, 16)))
    plan = plan_loops(computation, TileSizes(columns=16, rows=16))
    assert plan == LoopPlan((16, 16, 16), (0, 1, 2))
    assert memory_cost(computation, plan.tile, plan.order) == (4096, 4096)
    assert memory_cost(computation, plan.tile, (0, 2, 1)) == (7168, 0)


def test_no_order_that_reads_a_parameter_more_often():
    """x comes by columns: following it would read b, which only i indexes, once per column."""
    order = StreamOrder((4, 4), (Loop(4, 4), Loop(4, 4)), (Coordinate((1,)), Coordinate((0,))))
    computation = Computation((16, 16), (), (Operand("x", (0, 1), 4, order), Operand("b", (0,), 4, is_parameter=True)), ())
    assert plan_loops(computation, SIZES).order == (0, 1)
    free = Computation((16, 16), (), (Operand("x", (0, 1), 4, order), Operand("b", (0,), 4)), ())
    assert plan_loops(free, SIZES).order == (1, 0)


def test_ties_keep_the_default_order():
    """A square sum of a tensor and its transpose: either order needs the same converter."""
    order = rows_then_columns(8, 8, (4, 4))
    x, t = Operand("x", (0, 1), 4, order), Operand("t", (1, 0), 4, order)
    for inputs in ((x, t), (t, x)):
        computation = Computation((8, 8), (), inputs, (Operand("y", (0, 1), 4),))
        assert plan_loops(computation, SIZES) == LoopPlan((4, 4), (0, 1))
        assert memory_cost(computation, (4, 4), (0, 1)) == memory_cost(computation, (4, 4), (1, 0))
    assert plan_loops(Computation((8, 8), (), (Operand("x", (1, 0), 4),), (Operand("y", (0, 1), 4),)), SIZES).order == (0, 1)


def grouped_matmul(groups: int, size: int, columns: int, entry_bytes: int = 4) -> Computation:
    """s[g, j] = x[g, i] w[g, i, j] over loops g, j, i, for one row; whoever reads it sums over groups. x comes group by group."""
    x = Operand("x", (0, 2), 1, StreamOrder((1, size), (Loop(groups, 1),), (Coordinate((0,)), Coordinate())))
    w = Operand("w", (0, 2, 1), 1, None, is_parameter=True)
    return Computation((groups, columns, size), (2,), (x, w), (Operand("s", (0, 1), entry_bytes),), summed=(0,), of_integers=True)


def test_sums_over_groups_that_come_later_count_for_speed():
    """Of 6 groups of 16 to 768 columns the 96 entries wait, of 48 groups to 32 columns the sums: so the reader of either may begin
    as soon as possible."""
    wide, long = grouped_matmul(6, 16, 768), grouped_matmul(48, 16, 32)
    for computation, outermost in ((wide, 1), (long, 0)):
        plan = plan_loops(computation, TileSizes(16, 16), {1: 16})
        assert plan.order[0] == outermost


def test_for_speed_numbers_count_and_not_their_bytes():
    """A square product of bytes with sums of 4 bytes: 60 sums beyond a tile's wait as long as 60 bytes of x would, and x is 64."""
    computation = grouped_matmul(16, 4, 64)
    assert plan_loops(computation, TileSizes(4, 4), {1: 4}).order[0] == 0
    assert plan_loops(computation, TileSizes(4, 4)).order[0] == 1


@pytest.mark.parametrize(("columns", "outermost"), [(36, 0), (40, 1)])
def test_a_pair_of_sums_is_two_numbers(columns: int, outermost: int):
    """Of 48 bits: 32 pairs beyond a tile wait as long as the 64 entries of x would, 36 longer."""
    computation = grouped_matmul(16, 4, columns, entry_bytes=6)
    assert plan_loops(computation, TileSizes(4, 4), {1: 4}).order[0] == outermost


def rows_of_weights(batches: int, rows: int, terms: int, columns: int) -> Computation:
    """y[b, m, j] = x[b, m, i] w[i, j] over loops b, m, j, i; x comes row by row, in tiles of 4 terms."""
    element, extents = (1, 1, 4), (batches, rows, terms)
    x = Operand("x", (0, 1, 3), 1, row_major(extents, element))
    w = Operand("w", (3, 2), 1, None, is_parameter=True)
    return Computation((batches, rows, columns, terms), (3,), (x, w), (Operand("y", (0, 1, 2), 4),))


@pytest.mark.parametrize(
    ("batches", "rows", "most", "expected"), [(1, 13, 16, (1, 13)), (3, 5, 16, (3, 5)), (3, 7, 16, (1, 7)), (2, 34, 16, (2, 2))]
)
def test_rows_share_a_pass_over_the_weights(batches: int, rows: int, most: int, expected: tuple[int, int]):
    """x comes row by row: in tiles of one, each row would read the weights again; most of a pass is what was asked for."""
    computation = rows_of_weights(batches, rows, 12, 8)
    plan = plan_loops(computation, TileSizes(4, most))
    assert plan.tile[:2] == expected
    passes = batches * rows // prod(expected)
    assert parameter_tokens(computation, plan.tile, plan.order) * plan.tile[2] * plan.tile[3] <= passes * 12 * 8


def test_weights_that_stay_on_chip_are_passed_once():
    """A tile of all weights is read once, whatever the rows: these come as they are."""
    assert plan_loops(rows_of_weights(1, 13, 4, 4), TileSizes(4, 16)).tile == (1, 1, 4, 4)


def test_who_sums_later_spares_no_sums_of_the_computation_itself() -> None:
    """The wide result that `test_a_reduction_stays_inside_where_the_result_is_wide` has, of which the next product sums up rows."""
    computation = replace(matmul(32, 32, 128, rows_then_columns(32, 32, (16, 16))), summed=(1,))
    assert plan_loops(computation, TileSizes(columns=16, rows=16)).order == (0, 1, 2)
    assert memory_cost(computation, (16, 16, 16), (0, 2, 1)) == (7168, 0)


def test_an_operand_that_would_come_again_is_kept():
    """Columns outside, terms inside: x would be sent once for each tile of columns. So one tile has all terms; the order stays."""
    x = Operand("x", (0, 2), 4, StreamOrder((4, 8), (Loop(8, 8),), (Coordinate(), Coordinate((0,)))))
    w, y = Operand("w", (2, 1), 4, is_parameter=True), Operand("y", (0, 1), 4)
    computation = Computation((4, 64, 64), (2,), (x, w), (y,))

    def late(plan: LoopPlan) -> tuple[float, float]:
        """Results leave at once where columns are outside."""
        return float(plan.order.index(1)), 1.0

    plan = plan_loops(computation, TileSizes(4, 4), {1: 16}, late)
    assert plan.order.index(1) < plan.order.index(2) and plan.tile == (4, 16, 64)
    assert plan_loops(computation, TileSizes(4, 4), {1: 16}).tile == (4, 16, 8)
    wide = replace(x, dims=(0, 2), order=StreamOrder((4, 8), (Loop(4096, 8),), (Coordinate(), Coordinate((0,)))))
    long = Computation((4, 64, 32768), (2,), (wide, w), (y,))
    assert plan_loops(long, TileSizes(4, 4), {1: 16}, late).tile == (4, 16, 8)


def test_an_operand_of_run_time_size_that_would_come_again_is_not_kept_in_part():
    """Keys of two heads, again for each of seven queries, which are outside: both heads in a tile would spare no reading."""
    keys = StreamOrder((1, 1, 64), (Loop(2, 1), Loop(512, 1)), (Coordinate((0,)), Coordinate((1,)), Coordinate()))
    queries = StreamOrder((1, 1, 64), (Loop(2, 1), Loop(7, 1)), (Coordinate((0,)), Coordinate((1,)), Coordinate()))
    k, q, y = Operand("k", (0, 2, 3), 1, keys), Operand("q", (0, 1, 3), 1, queries), Operand("y", (0, 1, 2), 4)
    computation = Computation((2, 7, 512, 64), (3,), (q, k), (y,), single=(2,), of_integers=True)

    def queries_outside(plan: LoopPlan) -> tuple[float, float]:
        return float(plan.order.index(1)), 1.0

    plan = plan_loops(computation, TileSizes(16, 128), {3: 64}, queries_outside)
    assert plan.order[0] == 1 and plan.tile == (1, 1, 1, 64)
