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


@pytest.mark.parametrize(
    ("size", "expected"),
    [("7", 7), ("pos<=9", 4), ("pos<=1", 1), ("min(pos<=9, 3)", 3), ("sum(pos<=8, n<=4, 1)", 7), ("entry(i<=2, 5, 9, 1)", 9)],
)
def test_half_way(size: str, expected: int) -> None:
    assert half_way(read_size(size)) == expected
