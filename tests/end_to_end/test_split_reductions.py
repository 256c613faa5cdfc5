"""Reductions split for lanes and copies: values stay PyTorch's, and each copy reads its part of a matrix through its own port."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn
from xdsl.dialects.linalg.ops import GenericOp

from stc.analysis.emission_rules import check_emission_rules
from stc.codegen.project import emit_project
from stc.dialects.context import make_context
from stc.execution.run import execute
from stc.frontend.export import export
from stc.frontend.exported import ExportedModel
from stc.pipeline import PipelineOptions, run_stages, stages
from stc.platforms.platform import load_platform
from stc.simulation.simulate import SimulationResult, simulate
from stc.transforms.linalg.split_reductions import SplitReductions

pytestmark = pytest.mark.heavy


class Computation(nn.Module):
    def __init__(self, function: Callable[..., torch.Tensor]):
        super().__init__()
        self.function = function

    def forward(self, *inputs: torch.Tensor) -> torch.Tensor:
        return self.function(*inputs)


def compiled(function: Callable[..., torch.Tensor], shapes: tuple[tuple[int, ...], ...], dsp: int) -> ExportedModel:
    torch.manual_seed(0)
    model = export(Computation(function), tuple(torch.randn(shape) for shape in shapes), name="kernel")
    run_stages(model.module, make_context(), stages(PipelineOptions(budget=f"dsp={dsp}", kernel_name="kernel")))
    return model


CASES = {
    "product": (lambda a, x: a @ x, ((6, 40), (40,))),
    "product-of-a-computed-matrix": (lambda a, x: torch.relu(a) @ x, ((9, 45), (45,))),
    "product-of-a-computed-vector": (lambda a, x: a @ torch.exp(x), ((5, 26), (26,))),
    "dot": (lambda a, x: torch.dot(a, x), ((35,), (35,))),
    "batched": (lambda a, x: (a @ x.unsqueeze(-1)).squeeze(-1), ((3, 4, 30), (3, 30))),
    "both-sides": (lambda a, x, y: a.t() @ x + (a @ y).sum(), ((24, 18), (24,), (18,))),
    "there-and-back": (lambda a, x: torch.relu(a.t() @ torch.relu(a @ x)), ((20, 33), (33,))),
    "back-and-there": (lambda a, x: a @ (a.t() @ x), ((20, 33), (20,))),
}


@pytest.mark.parametrize("case", CASES)
def test_values_and_rules(case: str) -> None:
    function, shapes = CASES[case]
    model = compiled(function, shapes, 200)
    check_emission_rules(model.module, load_platform("u55c"))
    arguments = [np.asarray(value) for value in model.arguments.values()]
    for computed, expected in zip(execute(model.module, arguments, depths=True), model.golden.values(), strict=True):
        assert np.abs(computed - expected).max() <= 1e-4 * max(1.0, np.abs(expected).max())


def simulated(out: Path) -> SimulationResult:
    model = compiled(lambda a, x: a.t() @ (a @ x), ((48, 144), (144,)), 700)
    emit_project(model.module, model, out, {}, report={"model": "kernel"})
    result = simulate(out, optimisation=0)
    assert result.passed, result.values.explanation
    return result


@pytest.mark.full
def test_lanes_and_copies_are_faster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    split = simulated(tmp_path / "split")
    monkeypatch.setattr(SplitReductions, "apply", lambda self, ctx, op: None)
    whole = simulated(tmp_path / "whole")
    ports = [sum(task.name.startswith("load") for task in result.tasks) for result in (split, whole)]
    assert ports == [2 * 4 + 1, 2]  # the matrix for four copies of either product, and the vector
    assert split.cycles is not None and whole.cycles is not None
    assert 2 * split.cycles < whole.cycles


def linalg_of(reassociate: bool) -> list[GenericOp]:
    model = export(Computation(lambda a, x: a @ x), (torch.randn(6, 40), torch.randn(40)), name="kernel")
    sequence = stages(PipelineOptions(budget="dsp=100"))
    run_stages(model.module, make_context(), sequence[:1])
    SplitReductions(budget="dsp=100", reassociate=reassociate).apply(make_context(), model.module)
    return [op for op in model.module.walk() if isinstance(op, GenericOp)]


def test_sums_of_floats_keep_their_order_on_request() -> None:
    assert [len(linalg_of(reassociate)) for reassociate in (True, False)] == [2, 1]
