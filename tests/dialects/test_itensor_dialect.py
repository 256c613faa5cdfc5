"""Building the itensor dialect from Python: types and their orders, constructors, verifier messages text cannot reach."""

from __future__ import annotations

import pytest
from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import IndexType, TensorType, VectorType, f32, i8
from xdsl.ir import Block, Region, SSAValue
from xdsl.utils.exceptions import VerifyException

from stc.dialects import itensor
from stc.dialects.itensor import ItensorType
from stc.dialects.itensor.accesses import trip_size
from stc.dialects.itensor.destinations import root_of
from stc.iteration.order import Coordinate, Loop, StreamOrder
from stc.iteration.size import Symbol

LINE = ItensorType.of([4], [2], [4], [0], f32)


def test_type_of_an_order_and_back():
    order = StreamOrder((4, 2), (Loop(4, 2), Loop(2, 1), Loop(2, 4)), (Coordinate((2,)), Coordinate((0,))))
    type = ItensorType.from_order(order, i8)
    assert type.order == order
    assert type.tensor_type == TensorType(i8, [8, 8])
    assert type.tile_type == TensorType(i8, [4, 2])
    assert str(type) == (
        "!itensor.itensor<4x2xi8, iter_space: [4, 2, 2] * [2, 1, 4], iter_map: (d0, d1, d2) -> (d2, d0)>"
    )


def test_sums_are_equal_whatever_their_order():
    assert ItensorType.of([4], [2, 2], [8, 4], [[0, 1]], f32) == ItensorType.of([4], [2, 2], [8, 4], [[1, 0]], f32)


def test_symbolic_type_has_no_static_tensor():
    type = ItensorType.of([1], [Symbol("seq", 8)], [1], [0], f32)
    with pytest.raises(ValueError, match="symbolic"):
        _ = type.tensor_type


def test_malformed_orders_raise():
    with pytest.raises(ValueError, match="map uses d1 but the iteration space has 1 loops"):
        ItensorType.of([4], [2], [4], [1], f32)
    with pytest.raises(VerifyException, match="expected a float, integer or index type"):
        ItensorType.of([4], [2], [4], [0], VectorType(f32, [8]))


def loop(upper: int, step: int, *initial: SSAValue):
    """A loop from 0, its constants before it: (operations, loop, block)."""
    lower, end, by = constants = [arith.ConstantOp.from_int_and_width(value, IndexType()) for value in (0, upper, step)]
    block = Block(arg_types=[IndexType(), *(value.type for value in initial)])
    return constants, scf.ForOp(lower, end, by, initial, Region(block)), block


def test_write_in_a_loop():
    empty = itensor.EmptyOp(LINE)
    tile = Block(arg_types=[LINE.tile_type]).args[0]
    _, nest, block = loop(8, 4, empty.result)
    write = itensor.WriteOp(tile, block.args[1], [block.args[0]])
    block.add_ops([write, scf.YieldOp(write.result)])
    write.verify()
    assert trip_size(nest) == 2
    assert root_of(nest.results[0]) is empty.result


def test_index_of_another_loop_is_refused():
    source = Block(arg_types=[LINE]).args[0]
    _, _first, elsewhere = loop(8, 4)
    _, _second, block = loop(8, 4)
    read = itensor.ReadOp(source, [elsewhere.args[0]])
    block.add_ops([read, scf.YieldOp()])
    with pytest.raises(VerifyException, match="index 0 names a loop that does not enclose the access"):
        read.verify()


def test_read_makes_a_tile_and_needs_an_itensor():
    source = Block(arg_types=[LINE, f32])
    assert itensor.ReadOp(source.args[0], []).result.type == TensorType(f32, [4])
    with pytest.raises(ValueError, match="expected an itensor"):
        itensor.ReadOp(source.args[1], [])


def test_concat_along_a_dimension():
    half = ItensorType.of([4, 2], [2, 2], [4, 2], [0, 1], f32)
    whole = ItensorType.of([4, 2], [2, 4], [4, 2], [0, 1], f32)
    parts = Block(arg_types=[half, half]).args
    concat = itensor.ConcatOp.along(1, parts, whole)
    concat.verify()
    assert concat.offsets == ((0, 0), (0, 4))
    chunk = itensor.ChunkOp(concat.result, [half, half], concat.offsets)
    chunk.verify()


def test_fork_merge_and_converter():
    source = Block(arg_types=[LINE]).args[0]
    fork = itensor.ForkOp(source, 3)
    fork.verify()
    merge = itensor.MergeOp(fork.copies, ItensorType.of([4], [6], [4], [0], f32))
    merge.verify()
    converter = itensor.ConverterOp(source, ItensorType.of([8], [1], [8], [0], f32), 0, [8], blocks=1)
    converter.verify()
    assert (converter.shared_loops, converter.buffer_shape, converter.blocks) == (0, (8,), 1)
