"""Multiply-accumulates per cycle: what is counted, and that a default design uses its lanes."""

from __future__ import annotations

from pathlib import Path

import pytest

from stc.analysis.throughput import multiply_accumulates, throughput_report
from stc.dialects.parsing import parse_module
from stc.tools.compile import CompileRequest, compile_model

pytestmark = pytest.mark.heavy

MODULE = """
func.func @main(%x: tensor<5x7xf32>, %w: tensor<7x3xf32> {stc.parameter}) -> tensor<5x3xf32> {
  %e = tensor.empty() : tensor<5x3xf32>
  %c = arith.constant 0.000000e+00 : f32
  %f = linalg.fill ins(%c : f32) outs(%e : tensor<5x3xf32>) -> tensor<5x3xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d2, d1)>,
    affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%x, %w : tensor<5x7xf32>, tensor<7x3xf32>) outs(%f : tensor<5x3xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %p, %o : f32
    linalg.yield %s : f32
  } -> tensor<5x3xf32>
  return %y : tensor<5x3xf32>
}
"""
RESOURCES = {"total": {"dsp": 50}, "share": {"dsp": 0.01}}


def test_products_of_reductions_are_counted() -> None:
    assert multiply_accumulates(parse_module(MODULE)) == 5 * 7 * 3


def test_kernels_run_one_after_the_other() -> None:
    found = throughput_report(600, [100, 200], RESOURCES, "small")
    assert (found["cycles"], found["per_cycle"], found["plan_dsp"]) == (300, 2.0, 5000)


def test_a_kernel_without_time_leaves_the_speed_unknown() -> None:
    found = throughput_report(600, [100, None], RESOURCES, "small")
    assert (found["cycles"], found["per_cycle"]) == (None, None)


def test_a_linear_layer_uses_its_lanes_by_default(tmp_path: Path) -> None:
    """PyTorch keeps weights transposed; the host packs them so that 16 columns lie side by side."""
    (tmp_path / "model.py").write_text(
        "import torch\n\n\ndef make():\n    torch.manual_seed(0)\n    return torch.nn.Linear(64, 48), (torch.randn(8, 64),)\n"
    )
    report = compile_model(CompileRequest(f"{tmp_path}/model.py:make"), tmp_path / "out")
    speed = report["throughput"]
    assert speed["multiply_accumulates"] == 8 * 64 * 48
    assert speed["per_cycle"] > 8
