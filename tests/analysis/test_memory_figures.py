"""Memory figures of small modules, with every number worked out by hand."""

from __future__ import annotations

import pytest
from xdsl.dialects.builtin import IntegerType, MemRefType, ModuleOp, VectorType, f16, f32, i1
from xdsl.parser import Parser

from stc.analysis.kernel_memory import bits_of, bytes_of, itensor_bytes, local_bytes, tensor_bytes
from stc.analysis.memory_figures import MemoryFigures, external_bytes, intermediate_bytes, on_chip_bytes
from stc.diagnostics import CompileError
from stc.dialects.context import make_context
from stc.dialects.itensor import ItensorType
from stc.iteration.order import Coordinate, Loop, StreamOrder


def parse(text: str) -> ModuleOp:
    module = Parser(make_context(), text).parse_module()
    module.verify()
    return module


MAPS = """
#id = affine_map<(d0, d1) -> (d0, d1)>
#turned = affine_map<(d0, d1) -> (d1, d0)>
"""


def exp(result: str, source: str, shape: str, map_: str = "#id", result_shape: str | None = None) -> str:
    """An element-wise linalg op on an f32 tensor."""
    result_shape = result_shape or shape
    return f"""
  {result}_init = tensor.empty() : tensor<{result_shape}xf32>
  {result} = linalg.generic {{indexing_maps = [{map_}, #id], iterator_types = ["parallel", "parallel"]}}
      ins({source} : tensor<{shape}xf32>) outs({result}_init : tensor<{result_shape}xf32>) {{
  ^bb0(%in : f32, %out : f32):
    %e = math.exp %in : f32
    linalg.yield %e : f32
  }} -> tensor<{result_shape}xf32>"""


def function(body: str, result: str = "%d : tensor<8x4xf32>", arguments: str = "%x : tensor<8x4xf32>") -> ModuleOp:
    _, type_ = result.split(" : ")
    return parse(f"{MAPS}func.func @main({arguments}) -> {type_} {{{body}\n  func.return {result}\n}}")


def test_a_chain_counts_what_one_op_hands_to_the_next():
    """%a and %b, 8*4*4 = 128 bytes each; %d is a result, %x an input."""
    module = function(exp("%a", "%x", "8x4") + exp("%b", "%a", "8x4") + exp("%d", "%b", "8x4"))
    assert intermediate_bytes(module) == 2 * 128


def test_a_tensor_with_two_readers_counts_once():
    body = exp("%a", "%x", "8x4") + exp("%b", "%a", "8x4") + exp("%d", "%a", "8x4")
    assert intermediate_bytes(function(body)) == 128


def test_reshapes_are_looked_through_and_do_not_count():
    body = (
        exp("%a", "%x", "8x4")
        + "\n  %flat = tensor.collapse_shape %a [[0, 1]] : tensor<8x4xf32> into tensor<32xf32>"
        + "\n  %wide = tensor.expand_shape %flat [[0, 1]] output_shape [2, 16] : tensor<32xf32> into tensor<2x16xf32>"
        + exp("%d", "%wide", "2x16")
    )
    assert intermediate_bytes(function(body, "%d : tensor<2x16xf32>")) == 128


def test_reshape_to_the_result_is_no_intermediate():
    body = exp("%a", "%x", "8x4") + "\n  %flat = tensor.collapse_shape %a [[0, 1]] : tensor<8x4xf32> into tensor<32xf32>"
    assert intermediate_bytes(function(body, "%flat : tensor<32xf32>")) == 0


def test_work_on_parameters_is_the_hosts():
    """%t is a transposed weight: 0 bytes; %a is 128."""
    body = (
        exp("%t", "%w", "4x8", "#turned", "8x4")
        + exp("%u", "%t", "8x4")
        + exp("%a", "%x", "8x4")
        + """
  %d = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a, %u : tensor<8x4xf32>, tensor<8x4xf32>) outs(%x : tensor<8x4xf32>) {
  ^bb0(%p : f32, %q : f32, %out : f32):
    %s = arith.addf %p, %q : f32
    linalg.yield %s : f32
  } -> tensor<8x4xf32>"""
    )
    module = function(body, arguments="%x : tensor<8x4xf32>, %w : tensor<4x8xf32> {stc.parameter}")
    assert intermediate_bytes(module) == 128


def test_fills_and_accumulator_inputs():
    """The filled accumulator is no intermediate; the product, 8*4*4 bytes, is."""
    body = """
  %zero = arith.constant 0.0 : f32
  %init = tensor.empty() : tensor<8x4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%init : tensor<8x4xf32>) -> tensor<8x4xf32>
  %m = linalg.matmul ins(%x, %w : tensor<8x16xf32>, tensor<16x4xf32>) outs(%f : tensor<8x4xf32>) -> tensor<8x4xf32>""" + exp(
        "%d", "%m", "8x4"
    )
    module = function(body, arguments="%x : tensor<8x16xf32>, %w : tensor<16x4xf32> {stc.parameter}")
    assert intermediate_bytes(module) == 128


# The stream level -----------------------------------------------------------------------------------------------------

TWO_KERNELS = """
!X = !itensor.itensor<1x8xf32, iter_space: [4, 2] * [1, 8], iter_map: (d0, d1) -> (d0, d1)>
!P = tensor<8xvector<8xf32>>
!M = memref<8xvector<8xf32>>
func.func @main(%x : tensor<4x16xf32>) -> tensor<4x16xf32> {
  %xp = dataflow.pack %x : tensor<4x16xf32> as !X -> !P
  %h = dataflow.kernel @first(%m = %xp : !P as !M) -> (!P as !M) {
    %out = dataflow.memory @out : !M
    %s = stream.create @s : !stream.stream<vector<8xf32>, depth: 34>
    %t = stream.create @t : !stream.stream<vector<3xi4>, depth: 5>
    %u = stream.create @u : !stream.stream<i1, depth: 2>
    %b = stream.buffer @b : !stream.block<memref<16x64xf16>, count: 2>
    %c = stream.buffer @c : !stream.block<memref<3x5xf32>, count: 1>
    dataflow.task @work outs(%o = %s : !stream.stream<vector<8xf32>, depth: 34>) {
      %acc = memref.alloc() : memref<4x4xf32>
      %words = memref.alloc() : memref<6xvector<8xi8>>
      dataflow.yield
    }
    dataflow.yield %out : !M
  }
  %hu = dataflow.unpack %h : !P as !X -> tensor<4x16xf32>
  %hp = dataflow.pack %hu : tensor<4x16xf32> as !X -> !P
  %y = dataflow.kernel @second(%m = %hp : !P as !M) -> (!P as !M) {
    %out = dataflow.memory @out : !M
    dataflow.yield %out : !M
  }
  %yu = dataflow.unpack %y : !P as !X -> tensor<4x16xf32>
  func.return %yu : tensor<4x16xf32>
}
"""


def test_on_chip_bytes():
    """Converters: 2*16*64*2 + 1*3*5*4. FIFOs: 34 * 8*4 + 5 * 3*4 bits + 2*1 bits, whole bytes of each. Local: 4*4*4 + 6*8*1."""
    assert on_chip_bytes(parse(TWO_KERNELS)) == (4096 + 60, 1088 + 8 + 1, 64 + 48)


def test_external_bytes_are_between_kernels():
    """%h, 4*16*4 bytes, goes to the second kernel; %y only to the host."""
    assert external_bytes(parse(TWO_KERNELS)) == 256


def test_report_has_both_ratios():
    report = MemoryFigures(before=1000, before_unfused=2000, converters=100, fifos=50, local=50, external=0).report()
    assert report["streams_over_before"] == 0.15 and report["all_over_before"] == 0.2
    assert report["streams_over_before_unfused"] == 0.075 and report["all_over_before_unfused"] == 0.1
    assert {name: report[name] for name in ("before", "converters", "fifos", "local", "external")} == {
        "before": 1000, "converters": 100, "fifos": 50, "local": 50, "external": 0,
    }  # fmt: skip


def test_report_of_a_design_without_intermediates_has_no_ratio():
    report = MemoryFigures(0, 0, 4, 4, 4, 0).report()
    assert not any("over" in name for name in report)


# Kernels before fusion ------------------------------------------------------------------------------------------------


def test_local_bytes_are_tiles_read_and_made():
    """One 4x4 tile read and a 4x4 accumulator: 2 * 64 bytes."""
    module = parse("""
!X = !itensor.itensor<4x4xf32, iter_space: [2] * [4], iter_map: (d0) -> (d0, 0)>
func.func @main(%x : tensor<8x4xf32>) -> tensor<8x4xf32> {
  %y = dataflow.kernel @copy(%a = %x : tensor<8x4xf32> as !X) -> (tensor<8x4xf32> as !X) {
    %e = itensor.empty : !X
    %r = dataflow.task @copy ins(%p = %a : !X) outs(%o = %e : !X) -> !X {
      %c0 = arith.constant 0 : index
      %c4 = arith.constant 4 : index
      %c8 = arith.constant 8 : index
      %acc = tensor.empty() : tensor<4x4xf32>
      %last = scf.for %i = %c0 to %c8 step %c4 iter_args(%o0 = %o) -> (!X) {
        %t = itensor.read %p[%i] : !X -> tensor<4x4xf32>
        %w = itensor.write %t into %o0[%i] : tensor<4x4xf32> -> !X
        scf.yield %w : !X
      }
      dataflow.yield %last : !X
    }
    dataflow.yield %r : !X
  }
  func.return %y : tensor<8x4xf32>
}
""")
    assert local_bytes(module) == 128


def test_itensor_bytes_leave_reuse_out():
    order = StreamOrder((4, 4), (Loop(2, 4), Loop(3, 4), Loop(5, 4)), (Coordinate((0,)), Coordinate((2,))))
    assert itensor_bytes(ItensorType.from_order(order, f16)) == 8 * 20 * 2


def test_sizes_of_scalars():
    assert [bits_of(type_) for type_ in (f32, f16, i1, IntegerType(4))] == [32, 16, 1, 4]
    assert [bytes_of(type_) for type_ in (f32, f16, i1, IntegerType(4), IntegerType(12))] == [4, 2, 1, 1, 2]
    assert [tensor_bytes(MemRefType(VectorType(type_, [8]), [4])) for type_ in (i1, IntegerType(4), IntegerType(12))] == [4, 16, 48]
    assert tensor_bytes(f32) == 0
    with pytest.raises(CompileError, match="no size is known for elements of type"):
        bits_of(VectorType(f32, [8]))
