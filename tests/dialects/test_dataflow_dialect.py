"""Building kernels, tasks and streams from Python."""

from __future__ import annotations

import pytest
from xdsl.dialects.builtin import IndexType, MemRefType, TensorType, VectorType, f32
from xdsl.ir import Block
from xdsl.utils.exceptions import VerifyException

from stc.dialects import dataflow, stream
from stc.dialects.dataflow import InPlaceAttr, KernelOp, Place, ScheduleAttr, TaskOp, YieldOp
from stc.dialects.itensor import EmptyOp, ItensorType, SymbolType
from stc.dialects.stream import BlockType, StreamType
from stc.iteration.bus_words import packed_words
from stc.iteration.size import Symbol

LINE = ItensorType.of([4], [2], [4], [0], f32)


def test_kernel_with_a_task():
    x = Block(arg_types=[LINE.tensor_type]).args[0]
    x.name_hint = "x"
    kernel = KernelOp("k", [x], [LINE], [LINE.tensor_type])
    assert kernel.arguments[0].name_hint == "x"
    empty = EmptyOp(LINE)
    task = TaskOp("t", [kernel.arguments[0]], [empty.result])
    assert [port.type for port in (*task.input_ports, *task.output_ports)] == [LINE, LINE]
    assert [result.type for result in task.outputs] == [LINE]
    task.body.block.add_op(YieldOp(task.output_ports[0]))
    kernel.body.block.add_ops([empty, task, YieldOp(task.outputs[0])])
    kernel.verify()
    assert kernel.places == (None,)
    assert task.destination_of_result(0) is empty.result


def test_kernel_updates_an_operand_in_place():
    cache, position = Block(arg_types=[TensorType(f32, [16]), IndexType()]).args
    whole = MemRefType(f32, [16])
    place = Place(0, (1,), (True,))
    kernel = KernelOp("k", [cache, position], [whole, IndexType()], [cache.type], in_place=[InPlaceAttr(place)])
    empty = EmptyOp(LINE)
    kernel.body.block.add_ops([empty, YieldOp(empty.result)])
    kernel.verify()
    assert kernel.places == (place,)
    assert "into %0 at [%1]" in str(kernel) or "at [" in str(kernel)


def test_schedule():
    schedule = ScheduleAttr.of([16, 8], [1, 0], [1, 8], [[1, 8]])
    assert (schedule.tiles, schedule.loop_order, schedule.unrolls, schedule.vectors) == (
        (16, 8),
        (1, 0),
        (1, 8),
        ((1, 8),),
    )
    with pytest.raises(VerifyException, match="each of the loops 0 to 1 once"):
        ScheduleAttr.of([16, 8], [1, 1], [1, 8])


def test_symbolic_boundary_has_the_extent_of_the_maximum():
    type = ItensorType.of([1], [Symbol("seq", 8)], [1], [0], f32)
    x, n = Block(arg_types=[TensorType(f32, [8]), IndexType()]).args
    kernel = KernelOp("k", [x, n], [type, SymbolType(Symbol("seq", 8))], [])
    kernel.body.block.add_op(YieldOp())
    kernel.verify()


@pytest.mark.parametrize(
    ("entries", "lanes", "words"), [(8, 8, 4), (16, 8, 8), (4, 8, 2), (7, 8, 4), (3, 8, 2), (3, 2, None), (1, 16, 1)]
)
def test_packed_words(entries: int, lanes: int, words: int | None):
    type = ItensorType.of([entries], [3, 4], [1, entries], [1], f32)
    assert packed_words(type.order, lanes) == words


def test_stream_operations():
    type = StreamType(VectorType(f32, [8]), 4)
    assert (type.depth, type.lanes, type.scalar_type) == (4, 8, f32)
    create = stream.CreateOp("s", type)
    read = stream.ReadOp(create.result)
    assert read.result.type == VectorType(f32, [8])
    stream.WriteOp(read.result, create.result).verify()
    buffer = stream.BufferOp("b", BlockType(MemRefType(f32, [4, 4])))
    acquire = stream.AcquireOp(buffer.result)
    assert acquire.buffer.type == MemRefType(f32, [4, 4])
    with pytest.raises(ValueError, match="expected a stream"):
        stream.ReadOp(read.result)
    with pytest.raises(ValueError, match="expected a block"):
        stream.AcquireOp(create.result)


def test_dialects_export_what_they_define():
    assert {operation.name for operation in dataflow.Dataflow.operations} == {
        "dataflow.kernel",
        "dataflow.task",
        "dataflow.own_kernel",
        "dataflow.yield",
        "dataflow.pack",
        "dataflow.unpack",
        "dataflow.memory",
    }
