"""What a compile makes where nothing is said of a budget: right, within the plan, and no slower than the cheapest design."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from stc.diagnostics import CompileError
from stc.pipeline import PipelineOptions
from stc.platforms.budget import PLAN, SMALL
from stc.simulation.simulate import simulate
from stc.tools.compile import compile_model
from stc.tools.request import CompileRequest
from stc_testing.commands import Stc

pytestmark = pytest.mark.heavy

MODULES = """import torch
from torch import nn

def linears(*sizes):
    torch.manual_seed(0)
    rows, *widths = sizes
    layers = [nn.Linear(*pair) for pair in zip(widths, widths[1:])]
    return nn.Sequential(*(part for layer in layers for part in (layer, nn.GELU()))), (torch.randn(rows, widths[0]),)

def ones(): return linears(1, 1, 1)
def primes(): return linears(13, 7, 31, 17)
def one_row(): return linears(1, 37, 53)
def mlp(): return linears(7, 64, 97, 64)
def softmax(): return nn.Sequential(nn.Linear(16, 13), nn.Softmax(-1)), (torch.randn(7, 16),)
def norm(): return nn.Sequential(nn.LayerNorm(29), nn.Linear(29, 12)), (torch.randn(5, 29),)
def conv(): return nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU()), (torch.randn(1, 3, 9, 11),)
"""
FULL = pytest.mark.full


def compiled(model: str, out: Path, budget: str = PLAN, **asked: Any) -> int:
    """The estimated cycles of a design."""
    options = PipelineOptions(budget=budget)
    report = compile_model(CompileRequest(model, options=options, check_inputs=("example",), **asked), out)
    return report["throughput"]["cycles"]


OFTEN, SELDOM = ("primes", "softmax"), ("ones", "one_row", "mlp", "norm", "conv")


@pytest.mark.parametrize("name", [*OFTEN, *(pytest.param(name, marks=FULL) for name in SELDOM)])
def test_small_modules(tmp_path: Path, name: str) -> None:
    (tmp_path / "modules.py").write_text(MODULES)
    model = f"{tmp_path}/modules.py:{name}"
    least = compiled(model, tmp_path / "small", SMALL)
    assert compiled(model, tmp_path / "plan") <= least
    fast = simulate(tmp_path / "plan")
    assert fast.passed and fast.cycles is not None and fast.cycles <= least


TWINS = ("gpt2", "qwen2.5-0.5b", "qwen3-0.6b", "tinyllama-1.1b", "llama-3.2-1b", "gemma3-1b", "gpt2-medium")
STAGES: dict[str, dict[str, Any]] = {"decode": {"stage": "decode", "max_seq": 16, "run_time_sizes": True}, "prefill": {"seq": 7}}


@pytest.mark.parametrize("dtype", ["f32", pytest.param("w4a8", marks=FULL)])
@pytest.mark.parametrize("stage", ["decode", pytest.param("prefill", marks=FULL)])
@pytest.mark.parametrize("name", [pytest.param(name, marks=[] if name == "gpt2" else FULL) for name in TWINS])
def test_twins(tmp_path: Path, name: str, stage: str, dtype: str) -> None:
    """Rows of a cache that are there in part meet lanes, partial sums and copies."""
    least = compiled(f"{name}-tiny", tmp_path / "small", SMALL, dtype=dtype, **STAGES[stage])
    assert compiled(f"{name}-tiny", tmp_path / "plan", dtype=dtype, **STAGES[stage]) <= least
    assert simulate(tmp_path / "plan").passed


def test_where_nothing_fits_the_plan_is_an_aim(tmp_path: Path, stc: Stc) -> None:
    """A part of the plan that is too small for a point of each computation: told, and the cheapest design instead."""
    (tmp_path / "modules.py").write_text(MODULES)
    ended = stc("compile", f"{tmp_path}/modules.py:primes", "--budget", "plan/500", "--out", tmp_path / "aim")
    assert ended.code == 0 and "takes" in ended.stderr and "instead, the cheapest design (--small)" in ended.stderr, ended.stderr
    ended = stc("compile", f"{tmp_path}/modules.py:primes", "--small", "--out", tmp_path / "small")
    assert (tmp_path / "aim" / "kernel.cpp").read_text() == (tmp_path / "small" / "kernel.cpp").read_text()
    assert json.loads((tmp_path / "aim" / "manifest.json").read_text())["options"]["budget"] == SMALL


def test_small_and_another_budget_are_two_things(tmp_path: Path, stc: Stc) -> None:
    for budget in ("plan", "dsp=5"):
        ended = stc("generate", "gpt2-tiny", "--tokens", "1", "--small", "--budget", budget)
        assert ended.code == 2 and f"--small and --budget {budget}; accepted: one of both" in ended.stderr
    with pytest.raises(CompileError, match="budget has '/0'; accepted: / and a number from 1"):
        PipelineOptions(budget="plan/0")
