"""What `choose-parallelism` knows of launches of several layers, and of readers behind copies."""

from __future__ import annotations

from dataclasses import replace

import pytest
from xdsl.dialects.linalg.ops import GenericOp
from xdsl.passes import PassPipeline

from stc.analysis.handed_on import handed_on
from stc.analysis.host_work import functions_of, host_values
from stc.design_space.parallelism import MemoryPorts, Parallelism
from stc.dialects.context import make_context
from stc.dialects.parsing import parse_module
from stc.platforms.platform import load_platform
from stc.transforms.dataflow.update_in_place import UpdateInPlace
from stc.transforms.linalg.choose_parallelism import Computation, computations
from stc.transforms.shared_parameters import followed_types, joining_results

LAYER = """
#i = affine_map<(i, k) -> (i)>  #k = affine_map<(i, k) -> (k)>  #ik = affine_map<(i, k) -> (i, k)>
#e = affine_map<(i) -> (i)>  #n = affine_map<(i) -> ()>
func.func @main(%x: tensor<64xf32>, %w: tensor<64x64xf32> {stc.parameter}, %v: tensor<64x64xTYPE> {stc.parameter})
    -> (tensor<64xf32>, tensor<f32>) {
  %zero = arith.constant 0.0 : f32
  %a = tensor.empty() : tensor<64xf32>
  %b = linalg.fill ins(%zero : f32) outs(%a : tensor<64xf32>) -> tensor<64xf32>
  %y = linalg.generic {indexing_maps = [#ik, #ik, #k, #i], iterator_types = ["parallel", "reduction"]}
      ins(%w, %v, %x : tensor<64x64xf32>, tensor<64x64xTYPE>, tensor<64xf32>) outs(%b : tensor<64xf32>)
      attrs = {stc.name = "product"} {
  ^bb0(%p: f32, %o: TYPE, %q: f32, %c: f32):
    %m = arith.mulf %p, %q : f32
    %s = arith.addf %c, %m : f32
    linalg.yield %s : f32
  } -> tensor<64xf32>
  %z = linalg.generic {indexing_maps = [#e, #e], iterator_types = ["parallel"]} ins(%y : tensor<64xf32>) outs(%a : tensor<64xf32>)
      attrs = {stc.name = "double"} {
  ^bb0(%p: f32, %c: f32):
    %s = arith.addf %p, %p : f32
    linalg.yield %s : f32
  } -> tensor<64xf32>
  %d = tensor.empty() : tensor<f32>
  %g = linalg.fill ins(%zero : f32) outs(%d : tensor<f32>) -> tensor<f32>
  %t = linalg.generic {indexing_maps = [#e, #n], iterator_types = ["reduction"]} ins(%z : tensor<64xf32>) outs(%g : tensor<f32>)
      attrs = {stc.name = "total"} {
  ^bb0(%p: f32, %c: f32):
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  } -> tensor<f32>
  func.return %z, %t : tensor<64xf32>, tensor<f32>
}
"""


def computed(layers: int, *, in_turn: bool = False, other: str = "f32") -> dict[str, Computation]:
    (function,) = functions_of(parse_module(LAYER.replace("TYPE", other), "layer"))
    found = computations(function, load_platform("u55c"), in_turn=in_turn, layers=layers)
    return {each.work.name: each for each in found}


def test_a_reader_that_is_not_divided_alike_takes_copies_one_after_the_other():
    found = computed(1)
    assert [each.outer for each in found["double"].work.after] == [0]  # a copy for each
    assert [each.outer for each in found["total"].work.after] == [1]


@pytest.mark.parametrize(
    ("layers", "in_turn", "other", "joins"),
    [(1, False, "f32", False), (3, False, "f32", True), (3, True, "f32", True), (3, True, "f16", True)],
)
def test_a_result_leaves_by_a_port_that_brings_something(layers: int, in_turn: bool, other: str, joins: bool):
    """Of several layers, which are one kernel; the input's port, that takes its turn with none."""
    found = computed(layers, in_turn=in_turn, other=other)
    written = [each for each in found["double"].work.memory if each.is_written]
    assert [each.joins for each in written] == [joins]
    works = [each.work for each in found.values()]
    plan = {work.name: Parallelism(1, 1) for work in works}
    alone = [replace(work, memory=tuple(replace(each, joins=False) for each in work.memory)) for work in works]
    assert MemoryPorts.of(alone, plan).count - MemoryPorts.of(works, plan).count == joins


def test_one_port_takes_one_result():
    (function,) = functions_of(parse_module(LAYER.replace("TYPE", "f32"), "layer"))
    x, w, _ = function.body.block.args
    assert function.body.block.last_op is not None
    large, single = function.body.block.last_op.operands
    memory = load_platform("u55c").memory
    assert joining_results([large, single], [w], {}, [w], memory) == set()  # both together were more than the largest
    assert joining_results([large, single], [x, w], {}, [x, w], memory) == {large}  # words of one entry join none
    product = next(op for op in function.body.block.ops if isinstance(op, GenericOp)).results[0]
    assert len(joining_results([large, product], [x, w], {}, [x, w], memory)) == 1
    assert joining_results([large, product], [], {x: 0, w: 0}, [x, w], memory) == set()  # of small ones words may be narrow


WIDE = """
func.func @main(%x: tensor<64x64xf32>, %w: tensor<4096x64xf32>) -> (tensor<2048x64xf32>, tensor<1024x64xf32>) {
  %y = tensor.empty() : tensor<2048x64xf32>
  %z = tensor.empty() : tensor<1024x64xf32>
  func.return %y, %z : tensor<2048x64xf32>, tensor<1024x64xf32>
}
"""


def test_a_large_result_leaves_by_a_port_of_small_ones():
    (function,) = functions_of(parse_module(WIDE, "wide"))
    x, w = function.body.block.args
    assert function.body.block.last_op is not None
    results = [*function.body.block.last_op.operands]
    memory = load_platform("u55c").memory
    assert joining_results(results, [], {x: 0}, [x, w], memory) == {results[0]}  # one takes one
    assert joining_results(results, [x], {x: 0}, [x, w], memory) == {*results}
    assert followed_types([w], {w}, results, set(), memory) == set()  # nothing follows the layers
    behind = [op for op in function.body.block.ops if results[0] in op.results]
    assert followed_types([w], {w}, [], behind, memory) == set()  # layers read it, too
    assert followed_types([w], {w}, results, behind, memory) == {"f32"}


CACHED = """
!C = !itensor.itensor<1x4xf32, iter_space: [8] * [1], iter_map: (d0) -> (d0, 0)>
!N = !itensor.itensor<4xf32, iter_space: [] * [], iter_map: () -> (0)>
func.func @main(%x: tensor<4xf32>, %mask: tensor<8x4xf32>, %cache: tensor<8x4xf32>, %g: tensor<4xf32> {stc.parameter},
                %p: i32 {stc.name = "pos"}) -> (tensor<4xf32>, tensor<8x4xf32>) {
  %y, %r = dataflow.kernel @k(%a = %x : tensor<4xf32> as !N, %m = %mask : tensor<8x4xf32> as !C,
      %c = %cache : tensor<8x4xf32> as !C, %b = %g : tensor<4xf32> as !N) -> (tensor<4xf32> as !N, tensor<4xf32> as !N) {
    dataflow.yield %a, %b : !N, !N
  }
  %row = tensor.expand_shape %r [[0, 1]] output_shape [1, 4] : tensor<4xf32> into tensor<1x4xf32>
  %at = arith.index_cast %p : i32 to index
  %u = tensor.insert_slice %row into %cache[%at, 0] [1, 4] [1, 1] : tensor<1x4xf32> into tensor<8x4xf32>
  func.return %y, %u : tensor<4xf32>, tensor<8x4xf32>
}
"""


def test_what_goes_from_layer_to_layer_is_the_same_behind_updates_in_place():
    """A mask of the cache's type is no tensor that a layer returns, before a kernel updates the cache and behind."""
    module, context = parse_module(CACHED, "cached"), make_context()
    for _ in range(2):
        (function,) = functions_of(module)
        arguments = function.body.block.args
        assert handed_on(function, arguments, host_values(function), 3) == {arguments[0]}
        assert handed_on(function, arguments, host_values(function), 1) == set()
        PassPipeline((UpdateInPlace(),)).apply(context, module)
