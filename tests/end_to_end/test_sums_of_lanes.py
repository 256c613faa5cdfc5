"""Contractions whose terms are the lanes, as C++: odd numbers of them, trees alone and behind chains of DSPs."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from stc.runtime.accelerator import Accelerator
from stc.simulation.csim import csim
from stc.tools.compile import compile_model
from stc.tools.request import CompileRequest
from stc_testing.small import small_options

pytestmark = [pytest.mark.heavy, pytest.mark.skipif(shutil.which("g++") is None, reason="g++ is needed")]

TEXT = """
func.func @main(%x: tensor<{m}x{k}xi8> {{stc.name = "x"}}, %w: tensor<{n}x{k}x{of}> {{{parameter}stc.name = "w"}})
    -> (tensor<{m}x{n}xi32> {{stc.name = "y"}}) {{
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<{m}x{n}xi32>
  %z = linalg.fill ins(%zero : i32) outs(%e : tensor<{m}x{n}xi32>) -> tensor<{m}x{n}xi32>
  %y = linalg.generic {{
    indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>],
    iterator_types = ["parallel", "parallel", "reduction"]
  }} ins(%x, %w : tensor<{m}x{k}xi8>, tensor<{n}x{k}x{of}>) outs(%z : tensor<{m}x{n}xi32>) {{
  ^bb0(%a: i8, %b: {of}, %s: i32):
    %c = arith.extsi %a : i8 to i32
    %d = arith.extsi %b : {of} to i32
    %p = arith.muli %c, %d : i32
    %t = arith.addi %s, %p : i32
    linalg.yield %t : i32
  }} -> tensor<{m}x{n}xi32>
  func.return %y : tensor<{m}x{n}xi32>
}}
"""


@dataclass(frozen=True)
class Case:
    """[m, k] of int8 by [n, k] of `of`, in so many `lanes`, of which `leaves` (the lanes, or chains of them) make a tree."""

    m: int
    n: int
    k: int
    leaves: int
    of: str = "i4"
    is_parameter: bool = False


CASES = {
    "a power of two": Case(3, 5, 48, 16),
    "odd": Case(2, 3, 26, 13),
    "of bytes": Case(1, 3, 45, 15, "i8"),
    "pairs": Case(1, 2, 64, 2, is_parameter=True),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_values(case: Case, tmp_path: Path) -> None:
    """Also at the extremes, whose sums are the longest."""
    path, out = tmp_path / "product.mlir", tmp_path / "project"
    given = "stc.parameter, " if case.is_parameter else ""
    path.write_text(TEXT.format(m=case.m, n=case.n, k=case.k, of=case.of, parameter=given))
    compile_model(CompileRequest(str(path), options=small_options()), out)
    cpp = (out / "kernel.cpp").read_text()
    assert f"_terms[{case.leaves}];" in cpp
    assert cpp.count("bind_op variable=sum op=add impl=fabric latency=1") == (case.leaves - 1).bit_length()
    result = csim(out, optimisation=0)
    assert result.passed, result.explanation
    if case.is_parameter:
        return
    rng, most = np.random.default_rng(case.k), 1 << int(case.of[1:]) - 1
    drawn = rng.integers(-128, 128, (case.m, case.k)), rng.integers(-most, most, (case.n, case.k))
    for x, w in (drawn, (np.full_like(drawn[0], -128), np.full_like(drawn[1], -most))):
        y = Accelerator(out)({"x": x.astype(np.int8), "w": w.astype(np.int8)})["y"]
        assert np.array_equal(y, x @ w.T)
