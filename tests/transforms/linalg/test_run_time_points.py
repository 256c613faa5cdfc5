"""`choose-parallelism` counts loops whose trips a launch says by what they are half-way: it speeds up what a sequence needs."""

from __future__ import annotations

import pytest

from stc.analysis.host_work import functions_of
from stc.dialects.parsing import parse_module
from stc.iteration.size import half_way, read_size
from stc.platforms.platform import load_platform
from stc.transforms.linalg.choose_parallelism import computations

ROWS = """
func.func @main(%x: tensor<33x8xf32> {stc.name = "x"SIZES}, %p: i32 {stc.name = "pos"}) -> tensor<33xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<33xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<33xf32>) -> tensor<33xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(i, k) -> (i, k)>, affine_map<(i, k) -> (i)>],
      iterator_types = ["parallel", "reduction"]} ins(%x : tensor<33x8xf32>) outs(%f : tensor<33xf32>) {
  ^bb0(%a: f32, %c: f32):
    %s = arith.addf %c, %a : f32
    linalg.yield %s : f32
  } -> tensor<33xf32>
  func.return %y : tensor<33xf32>
}
"""
SIZES = ", stc.sizes = [#itensor.size<sum(pos<=32, 1)>, #itensor.size<8>]"


@pytest.mark.parametrize(("sizes", "rows"), [("", 33), (SIZES, 17)])
def test_points_of_loops_that_a_launch_sizes(sizes: str, rows: int) -> None:
    module = parse_module(ROWS.replace("SIZES", sizes), "rows")
    (function,) = functions_of(module)
    (sums,) = computations(function, load_platform("u55c"))
    assert (sums.work.points, sums.work.sums) == (8 * rows, rows)


SCORES = """
#rows = affine_map<(h, d) -> (h, d)>
#query = affine_map<(h, t, d) -> (h, d)>
#key = affine_map<(h, t, d) -> (h, t, d)>
#score = affine_map<(h, t, d) -> (h, t)>
#scores = affine_map<(h, t) -> (h, t)>
func.func @main(%x: tensor<4x8xf32>, %k: tensor<4x33x8xf32> {stc.name = "k"SIZES}, %p: i32 {stc.name = "pos"}) -> tensor<4x33xf32> {
  %zero = arith.constant 0.0 : f32
  %of_rows = tensor.empty() : tensor<4x8xf32>
  %q = linalg.generic {indexing_maps = [#rows, #rows], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<4x8xf32>) outs(%of_rows : tensor<4x8xf32>) attrs = {stc.name = "query"} {
  ^bb0(%a: f32, %o: f32):
    %twice = arith.addf %a, %a : f32
    linalg.yield %twice : f32
  } -> tensor<4x8xf32>
  %e = tensor.empty() : tensor<4x33xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4x33xf32>) -> tensor<4x33xf32>
  %s = linalg.generic {indexing_maps = [#query, #key, #score], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%q, %k : tensor<4x8xf32>, tensor<4x33x8xf32>) outs(%f : tensor<4x33xf32>) attrs = {stc.name = "score"} {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %product = arith.mulf %a, %b : f32
    %sum = arith.addf %c, %product : f32
    linalg.yield %sum : f32
  } -> tensor<4x33xf32>
  %y = linalg.generic {indexing_maps = [#scores, #scores], iterator_types = ["parallel", "parallel"]}
      ins(%s : tensor<4x33xf32>) outs(%e : tensor<4x33xf32>) attrs = {stc.name = "scaled"} {
  ^bb0(%a: f32, %o: f32):
    %twice = arith.addf %a, %a : f32
    linalg.yield %twice : f32
  } -> tensor<4x33xf32>
  func.return %y : tensor<4x33xf32>
}
"""
OF_CACHE = ", stc.sizes = [#itensor.size<4>, #itensor.size<sum(pos<=32, 1)>, #itensor.size<8>]"


@pytest.mark.parametrize(("sizes", "apart"), [("", False), (OF_CACHE, True)])
def test_a_query_has_copies_of_its_own_where_it_meets_a_cache(sizes: str, apart: bool) -> None:
    """What comes of the scores has as many as these."""
    (function,) = functions_of(parse_module(SCORES.replace("SIZES", sizes), "scores"))
    family = {each.work.name: each.work.family for each in computations(function, load_platform("u55c"))}
    assert (family["query"] != family["score"]) is apart
    assert family["score"] == family["scaled"]


@pytest.mark.parametrize(
    ("size", "expected"),
    [("7", 7), ("pos<=9", 4), ("pos<=1", 1), ("min(pos<=9, 3)", 3), ("sum(pos<=8, n<=4, 1)", 7), ("entry(i<=2, 5, 9, 1)", 9)],
)
def test_half_way(size: str, expected: int) -> None:
    assert half_way(read_size(size)) == expected
