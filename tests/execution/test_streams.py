"""Tasks over streams, rings and memory, written by hand: values, and what is said where they do not fit together."""

from __future__ import annotations

import numpy as np
import pytest
from small_ir import MEMORY, S, V, load, loop, run, store, streaming

from stc.diagnostics import CompileError
from stc.execution.scheduler import Deadlock
from stc.execution.work import TooLong

X = np.arange(8, dtype=np.float32)
STREAM = f"%s = stream.create @s : {S}"
RING = "!stream.block<memref<4x2xf32>, count: 1>"


@pytest.mark.parametrize("depths", [False, True])
def test_tokens_pass_in_order(depths: bool) -> None:
    np.testing.assert_array_equal(run(streaming(f"{STREAM} {load('%s')} {store('%s')}"), X, depths=depths)[0], X)


def test_tasks_may_stand_in_any_order() -> None:
    np.testing.assert_array_equal(run(streaming(f"{STREAM} {store('%s')} {load('%s')}"), X, depths=True)[0], X)


def both_ways(first: str, second: str) -> str:
    """Two streams from one task, read one after the other: all of the first, then all of the second."""
    write = f"""%v = memref.load %m[%i] : {MEMORY} stream.write %v into %o : {S} stream.write %v into %p : {S}"""
    read = f"""%c0 = arith.constant 0 : index %n = arith.constant 4 : index %c1 = arith.constant 1 : index
      scf.for %i = %c0 to %n step %c1 {{ %v = stream.read {first} : {S} memref.store %v, %m[%i] : {MEMORY} }}
      scf.for %i = %c0 to %n step %c1 {{
        %v = stream.read {second} : {S}
        %w = memref.load %m[%i] : {MEMORY}
        %z = arith.addf %v, %w : vector<2xf32>
        memref.store %z, %m[%i] : {MEMORY} }}"""
    return streaming(f"""%s = stream.create @s : {S} %t = stream.create @t : {S}
      dataflow.task @split ins(%m = %in : {MEMORY}) outs(%o = %s : {S}, %p = %t : {S}) {{ {loop(write)} dataflow.yield }}
      dataflow.task @sum ins(%a = %s : {S}, %b = %t : {S}) outs(%m = %out : {MEMORY}) {{ {read} dataflow.yield }}""")


def test_a_deadlock_names_tasks_streams_and_occupancy() -> None:
    text = both_ways("%a", "%b")
    np.testing.assert_array_equal(run(text, X)[0], X + X)
    with pytest.raises(Deadlock) as caught:
        run(text, X, depths=True)
    message = str(caught.value)
    assert "@split waits for room in stream @t (2 of 2 tokens)" in message
    assert "@sum waits for token 3 of stream @s (empty)" in message
    assert len(caught.value.waits) == 2


def test_left_over_tokens_are_an_error() -> None:
    with pytest.raises(CompileError, match=r"@load: 1 tokens of stream @s are left unread by @store"):
        run(streaming(f"{STREAM} {load('%s')} {store('%s', trips=3)}"), X)


def test_reading_more_than_was_written_is_an_error() -> None:
    with pytest.raises(CompileError, match=r"@store: reads token 3 of stream @s, but its writer @load has ended"):
        run(streaming(f"{STREAM} {load('%s', trips=3)} {store('%s')}"), X)


def test_writing_more_than_is_read_is_an_error_of_the_loops_not_a_deadlock() -> None:
    with pytest.raises(CompileError, match=r"@load: waits for room in stream @s .*, but its reader @store has ended") as caught:
        run(streaming(f"{STREAM} {load('%s')} {store('%s', trips=1)}"), X, depths=True)
    assert not isinstance(caught.value, Deadlock)


def test_a_stream_that_nothing_writes() -> None:
    with pytest.raises(CompileError, match=r"reads token 0 of stream @s, but nothing writes it"):
        run(streaming(f"{STREAM} {store('%s')}"), X)


def test_a_stream_has_one_writer_and_one_reader() -> None:
    with pytest.raises(CompileError, match="is written by @load and by @again"):
        run(streaming(f"{STREAM} {load('%s')} {load('%s', name='again')} {store('%s')}"), X)
    second = store("%s").replace("@store", "@other")
    with pytest.raises(CompileError, match="is read by @store and by @other"):
        run(streaming(f"{STREAM} {load('%s')} {store('%s')} {second}"), X)


def test_access_out_of_bounds() -> None:
    with pytest.raises(CompileError, match=r"@load: memref.load: index 4 outside a dimension of 4 entries"):
        run(streaming(f"{STREAM} {load('%s', trips=5)} {store('%s', trips=5)}"), X)


def test_scalar_work_has_a_limit() -> None:
    with pytest.raises(TooLong, match="one by one"):
        run(streaming(f"{STREAM} {load('%s', trips=10**9)} {store('%s')}"), X)


@pytest.mark.parametrize("depths", [False, True])
def test_rings_release_whole_buffers(depths: bool) -> None:
    """Fill a block row by row, read it out backwards, with every access there is on the way."""
    fill = f"""%b = stream.acquire %o : {RING} -> memref<4x2xf32>
      %c0 = arith.constant 0 : index %n = arith.constant 4 : index %c1 = arith.constant 1 : index
      %t = memref.alloc() : memref<4x2xf32>
      scf.for %i = %c0 to %n step %c1 {{
        %v = memref.load %m[%i] : {MEMORY}
        %e = vector.extract %v[1] : f32 from vector<2xf32>
        %w = vector.broadcast %e : f32 to vector<2xf32>
        %f = vector.extract %v[0] : f32 from vector<2xf32>
        %z = vector.insert %f, %w [0] : f32 into vector<2xf32>
        vector.store %z, %t[%i, %c0] : memref<4x2xf32>, vector<2xf32> }}
      "memref.copy"(%t, %b) : (memref<4x2xf32>, memref<4x2xf32>) -> ()"""
    drain = f"""%b = stream.acquire %i : {RING} -> memref<4x2xf32>
      %c0 = arith.constant 0 : index %n = arith.constant 4 : index %c1 = arith.constant 1 : index
      %c3 = arith.constant 3 : index
      scf.for %k = %c0 to %n step %c1 {{
        %r = arith.subi %c3, %k : index
        %row = memref.subview %b[%r, 0] [1, 2] [1, 1] : memref<4x2xf32> to memref<1x2xf32, strided<[2, 1], offset: ?>>
        %v = vector.load %row[%c0, %c0] : memref<1x2xf32, strided<[2, 1], offset: ?>>, vector<2xf32>
        memref.store %v, %m[%k] : {MEMORY} }}"""
    text = streaming(f"""%b = stream.buffer @b : {RING}
      dataflow.task @fill ins(%m = %in : {MEMORY}) outs(%o = %b : {RING}) {{ {fill} dataflow.yield }}
      dataflow.task @drain ins(%i = %b : {RING}) outs(%m = %out : {MEMORY}) {{ {drain} dataflow.yield }}""")
    np.testing.assert_array_equal(run(text, X, depths=depths)[0], X.reshape(4, 2)[::-1].reshape(8))


def test_a_cast_stream_keeps_its_bits() -> None:
    other = "!stream.stream<vector<2xi32>, depth: 2>"
    body = loop(f"""%v = stream.read %s : {other} %w = arith.bitcast %v : vector<2xi32> to vector<2xf32>
      memref.store %w, %m[%i] : {MEMORY}""")
    text = streaming(f"""{STREAM} {load("%s")} %t = stream.cast %s : {S} to {other}
      dataflow.task @store ins(%s = %t : {other}) outs(%m = %out : {MEMORY}) {{ {body} dataflow.yield }}""")
    np.testing.assert_array_equal(run(text, X)[0], X)


def test_tasks_of_tasks_are_transparent() -> None:
    inner = f"""%t = stream.create @t : {S}
      {load("%t").replace("%in", "%a")} {store("%t").replace("%out", "%z")} dataflow.yield"""
    text = streaming(f"dataflow.task @outer ins(%a = %in : {MEMORY}) outs(%z = %out : {MEMORY}) {{ {inner} }}")
    np.testing.assert_array_equal(run(text, X)[0], X)


def test_merge_takes_turns_and_forks_copy() -> None:
    twice = "!itensor.itensor<2xf32, iter_space: [2, 4] * [8, 2], iter_map: (d0, d1) -> (d0 + d1)>"
    text = f"""func.func @main(%x: tensor<8xf32>) -> tensor<16xf32> {{
      %y = dataflow.kernel @k(%a = %x : tensor<8xf32> as {V}) -> (tensor<16xf32> as {twice}) {{
        %b, %c = itensor.fork %a : {V} to {V}, {V}
        %j = itensor.merge %b, %c : {V}, {V} to {twice}
        dataflow.yield %j : {twice}
      }}
      func.return %y : tensor<16xf32> }}"""
    np.testing.assert_array_equal(run(text, X)[0], np.repeat(X.reshape(4, 2), 2, axis=0).reshape(16))


def test_a_result_updates_a_slice_of_an_operand() -> None:
    half = "!itensor.itensor<2xf32, iter_space: [2] * [2], iter_map: (d0) -> (d0)>"
    text = f"""func.func @main(%x: tensor<4xf32>, %c: tensor<8xf32>, %p: index) -> tensor<8xf32> {{
      %y = dataflow.kernel @k(%a = %x : tensor<4xf32> as {half}, %cache = %c : tensor<8xf32> as {V}, %pos = %p : index)
          -> (tensor<8xf32> as {half} into %cache at [%pos]) {{
        dataflow.yield %a : {half}
      }}
      func.return %y : tensor<8xf32> }}"""
    new = -np.ones(4, np.float32)
    np.testing.assert_array_equal(run(text, new, X, np.array(3))[0], [0, 1, 2, -1, -1, -1, -1, 7])
    with pytest.raises(CompileError, match="entries 5 to 8 of dimension 0 are outside its 8"):
        run(text, new, X, np.array(5))
