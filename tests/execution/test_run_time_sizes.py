"""Kernels whose trip counts are known at run time: every value of the symbols, and nothing beyond it is looked at."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.parser import Parser

from stc.diagnostics import CompileError
from stc.dialects.context import make_context
from stc.execution.run import execute

EXAMPLE = Path(__file__).parents[2] / "examples" / "run_time_sizes.mlir"


def module(text: str) -> ModuleOp:
    parsed = Parser(make_context(), text).parse_module()
    parsed.verify()
    return parsed


def run_example(text: str, pos: int) -> tuple[np.ndarray, list[np.ndarray]]:
    """Its rows, with NaN behind `pos` of them, and its results."""
    rows = np.random.default_rng(pos).normal(size=(13, 16)).astype(np.float32)
    rows[pos:] = np.nan
    return rows, execute(module(text), [rows, np.asarray(pos, np.int32)], depths=True)


@pytest.mark.parametrize("pos", range(14))
def test_every_value(pos: int):
    rows, (y, total) = run_example(EXAMPLE.read_text(), pos)
    expected = np.zeros(16, np.float32)
    for row in rows[:pos]:
        expected = expected + row
    np.testing.assert_array_equal(total[0], expected)
    np.testing.assert_array_equal(y[:pos], rows[:pos] + expected)
    assert np.isnan(y[pos:]).all(), "rows that nobody wrote are undefined"


@pytest.mark.parametrize("pos", [-1, 14])
def test_values_out_of_range(pos: int):
    with pytest.raises(CompileError, match=rf"symbol 'pos' is {pos}; accepted: a value from 0 to 13"):
        execute(module(EXAMPLE.read_text()), [np.zeros((13, 16), np.float32), np.asarray(pos, np.int32)])


def test_what_moves_tokens_of_symbolic_sizes_is_refused():
    text = """
    !s = !itensor.itensor<1x1xf32, iter_space: [n<=4, 2] * [1, 1], iter_map: (d0, d1) -> (d0, d1)>
    !t = !itensor.itensor<1x1xf32, iter_space: [2, n<=4] * [1, 1], iter_map: (d0, d1) -> (d1, d0)>
    func.func @main(%x: tensor<4x2xf32>, %i: i32) -> tensor<4x2xf32> {
      %y = dataflow.kernel @k(%a = %x : tensor<4x2xf32> as !s, %n = %i : i32 as !itensor.symbol<n<=4>) -> (tensor<4x2xf32> as !t) {
        %b = itensor.reorder %a : !s to !t
        dataflow.yield %b : !t
      }
      func.return %y : tensor<4x2xf32>
    }"""
    with pytest.raises(CompileError, match=r"@k: 'itensor.reorder' of .*n<=4.*; accepted: integer sizes"):
        execute(module(text), [np.zeros((4, 2), np.float32), np.asarray(1, np.int32)])
