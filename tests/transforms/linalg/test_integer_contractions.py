"""Sums of products of integers with scales and zero points, executed: what numpy computes from the numbers they stand for."""

from __future__ import annotations

import numpy as np
import pytest
from xdsl.dialects import func
from xdsl.dialects.linalg.ops import GenericOp
from xdsl.ir import SSAValue
from xdsl.rewriter import Rewriter

from stc.dialects.parsing import parse_module
from stc.execution.run import execute
from stc.transforms.linalg.integer_contractions import Along, ContractionWriter, Quantised

PLACES = """
func.func @main(%x: tensor<{m}x{k}xf32>, %w: tensor<{n}x{k}xf32>, %a: tensor<{m}x{k}xi8>, %q: tensor<{n}x{k}xi8>,
    %s: tensor<{m}{sg}xf32>, %t: tensor<{n}{tg}xf16>, %za: tensor<{m}{sg}xi8>, %zq: tensor<{n}{tg}xi16>) -> tensor<{m}x{n}xf32> {{
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<{m}x{n}xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<{m}x{n}xf32>) -> tensor<{m}x{n}xf32>
  %y = linalg.generic {{indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>,
      affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}}
      ins(%x, %w : tensor<{m}x{k}xf32>, tensor<{n}x{k}xf32>) outs(%f : tensor<{m}x{n}xf32>) {{
  ^bb0(%i: f32, %j: f32, %acc: f32):
    %p = arith.mulf %i, %j : f32
    %r = arith.addf %acc, %p : f32
    linalg.yield %r : f32
  }} -> tensor<{m}x{n}xf32>
  return %y : tensor<{m}x{n}xf32>
}}
"""
M, N, K, GROUP = 0, 1, 2, 3


SIZES = [(1, 1), (12, 12), (12, 4), (13, 4)]
ZEROS = [(False, False), (True, False), (False, True), (True, True)]
WHOLE = [(zeros, k, size) for zeros in ZEROS for k, size in SIZES if k % size == 0 or not all(zeros)]
"""Groups are whole where both factors have zero points."""


@pytest.mark.parametrize(("zeros", "k", "size"), WHOLE)
@pytest.mark.parametrize("of_groups", [False, True])
def test_zero_points_are_corrected_by_sums(zeros: tuple[bool, bool], k: int, size: int, of_groups: bool) -> None:
    """A short last group with zero points of one factor: what fills it up is 0 in both sums."""
    m, n, count = 3, 5, -(-k // size)
    random = np.random.default_rng(k)
    group, of_groups = (f"x{count}" if count > 1 else ""), of_groups and count > 1
    module = parse_module(PLACES.format(m=m, n=n, k=k, tg=group, sg=group if of_groups else ""))
    function = next(op for op in module.ops if isinstance(op, func.FuncOp))
    generic = next(op for op in module.walk() if isinstance(op, GenericOp))
    _, _, a, q, s, t, za, zq = function.body.block.args
    along = (GROUP,) if count > 1 else ()
    writer = ContractionWriter(generic, (M, N), K, count, size)

    def quantised(integers: SSAValue, loop: int, scale: SSAValue, zero: SSAValue | None, along: tuple[int, ...]) -> Quantised:
        loops = (loop, *along)
        return Quantised(Along(integers, (loop, K)), Along(scale, loops), None if zero is None else Along(zero, loops))

    activations = quantised(a, M, s, za if zeros[0] else None, along if of_groups else ())
    result = writer.contraction(activations, quantised(q, N, t, zq if zeros[1] else None, along))
    Rewriter.replace_op(generic, [], [result])
    module.verify()

    def integers(*shape: int) -> np.ndarray:
        return random.integers(-128, 128, shape).astype(np.int8)

    groups = (count,) if count > 1 else ()
    own = groups if of_groups else ()
    given = [integers(m, k), integers(n, k)]
    scales = [random.random((m, *own)).astype(np.float32) + 0.5, random.random((n, *groups)).astype(np.float16) + np.float16(0.5)]
    points = [integers(m, *own), random.integers(-300, 300, (n, *groups)).astype(np.int16)]
    unused = [np.zeros((m, k), np.float32), np.zeros((n, k), np.float32)]
    (found,) = execute(module, [*unused, *given, *scales, *points])

    def real(which: int) -> np.ndarray:
        """What integers stand for, in f64, which holds all of it exactly."""
        rows = (given[which].shape[0], count if (groups if which else own) else 1)
        scale, point = (np.repeat(part.reshape(rows), -(-k // rows[1]) if rows[1] == 1 else size, axis=1)[:, :k] for part in
                        (scales[which].astype(np.float64), points[which].astype(np.float64)))
        return (given[which] - (point if zeros[which] else 0)) * scale

    expected = real(0) @ real(1).T
    np.testing.assert_allclose(found, expected, rtol=0, atol=2e-6 * np.abs(expected).max())
