"""`narrow-sums`, executed: the pass changes no integer, also of factors that wrap around in a narrower type first."""

from __future__ import annotations

import numpy as np
import pytest

from stc.dialects.context import make_context
from stc.dialects.parsing import parse_module
from stc.execution.run import execute
from stc.transforms.linalg.narrow_sums import NarrowSumsPass

SUM = """
func.func @main(%a: tensor<1x4xi8>, %b: tensor<4x1xi8>) -> tensor<1x1xi32> {{
  %zero = arith.constant 0 : i64
  %e = tensor.empty() : tensor<1x1xi64>
  %f = linalg.fill ins(%zero : i64) outs(%e : tensor<1x1xi64>) -> tensor<1x1xi64>
  %s = linalg.generic {{indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>,
      affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}}
      ins(%a, %b : tensor<1x4xi8>, tensor<4x1xi8>) outs(%f : tensor<1x1xi64>) {{
  ^bb0(%i: i8, %j: i8, %sum: i64):
    %x = arith.extsi %i : i8 to {kind}
    %square = arith.muli %x, %x : {kind}
    %cube = arith.muli %square, %x : {kind}
    {widen}
    %z = arith.extsi %j : i8 to i64
    %p = arith.muli %y, %z : i64
    %r = arith.addi %sum, %p : i64
    linalg.yield %r : i64
  }} -> tensor<1x1xi64>
  %g = tensor.empty() : tensor<1x1xi32>
  %t = linalg.generic {{indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>],
      iterator_types = ["parallel", "parallel"]}} ins(%s : tensor<1x1xi64>) outs(%g : tensor<1x1xi32>) {{
  ^bb0(%i: i64, %o: i32):
    %c = arith.trunci %i : i64 to i32
    linalg.yield %c : i32
  }} -> tensor<1x1xi32>
  return %t : tensor<1x1xi32>
}}
"""
WRAPPING = SUM.format(kind="i16", widen="%y = arith.extsi %cube : i16 to i64")
WIDE = SUM.format(kind="i64", widen="%y = arith.muli %cube, %x : i64")


@pytest.mark.parametrize(("text", "narrowed"), [(WRAPPING, False), (WIDE, True)])
def test_integers_are_the_same(text: str, narrowed: bool) -> None:
    module = parse_module(text)
    arrays = [np.array([[100, -100, 99, 3]], np.int8), np.array([[1], [2], [3], [4]], np.int8)]
    (expected,) = execute(module.clone(), arrays)
    NarrowSumsPass().apply(make_context(), module)
    module.verify()
    assert ("xi64>" not in str(module)) == narrowed
    np.testing.assert_array_equal(execute(module, arrays)[0], expected)


AS_WIDE = """
func.func @main(%a: tensor<2x3xi{width}>, %b: tensor<5x3xi{width}>) -> tensor<2x5xi{cut}> {{
  %zero = arith.constant 0 : i{width}
  %e = tensor.empty() : tensor<2x5xi{width}>
  %f = linalg.fill ins(%zero : i{width}) outs(%e : tensor<2x5xi{width}>) -> tensor<2x5xi{width}>
  %s = linalg.generic {{indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>,
      affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}}
      ins(%a, %b : tensor<2x3xi{width}>, tensor<5x3xi{width}>) outs(%f : tensor<2x5xi{width}>) {{
  ^bb0(%i: i{width}, %j: i{width}, %sum: i{width}):
    %p = arith.muli %i, %j : i{width}
    %r = arith.addi %p, %sum : i{width}
    linalg.yield %r : i{width}
  }} -> tensor<2x5xi{width}>
  %g = tensor.empty() : tensor<2x5xi{cut}>
  %t = linalg.generic {{indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>],
      iterator_types = ["parallel", "parallel"]}} ins(%s : tensor<2x5xi{width}>) outs(%g : tensor<2x5xi{cut}>) {{
  ^bb0(%i: i{width}, %o: i{cut}):
    %c = arith.trunci %i : i{width} to i{cut}
    linalg.yield %c : i{cut}
  }} -> tensor<2x5xi{cut}>
  return %t : tensor<2x5xi{cut}>
}}
"""


@pytest.mark.parametrize(("width", "cut"), [(32, 5), (63, 32), (64, 1)])
def test_factors_as_wide_as_the_sum_are_cut(width: int, cut: int) -> None:
    module = parse_module(AS_WIDE.format(width=width, cut=cut))
    random = np.random.default_rng(0)
    arrays = [random.integers(-(2**31), 2**31, (rows, 3)).astype(np.int64 if width > 32 else np.int32) for rows in (2, 5)]
    (expected,) = execute(module.clone(), arrays)
    NarrowSumsPass().apply(make_context(), module)
    module.verify()
    assert f"linalg.fill ins(%s : i{cut})" in str(module)
    np.testing.assert_array_equal(execute(module, arrays)[0], expected)
