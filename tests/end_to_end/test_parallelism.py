"""Lanes and copies chosen from a number of DSPs: values stay PyTorch's, DSPs stay within the number, more of them are faster."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
import torch

from stc.analysis.emission_rules import check_emission_rules
from stc.analysis.port_pressure import multiply_accumulates
from stc.analysis.resources import resource_report
from stc.codegen.project import emit_project
from stc.dialects.context import make_context
from stc.dialects.dataflow import TaskOp
from stc.execution.run import execute
from stc.frontend.export import export
from stc.frontend.exported import ExportedModel
from stc.pipeline import PipelineOptions, run_stages, stages
from stc.platforms.platform import load_platform
from stc.simulation.simulate import simulate

pytestmark = pytest.mark.heavy

WORKLOADS = Path(__file__).parents[2] / "benchmarks" / "workloads" / "kernels.py"


def workloads() -> ModuleType:
    specification = importlib.util.spec_from_file_location("kernel_workloads", WORKLOADS)
    assert specification is not None and specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


def compiled(factory: str, sizes: tuple[int, ...], dsp: int) -> ExportedModel:
    torch.manual_seed(0)
    module, inputs = getattr(workloads(), factory)(*sizes)
    model = export(module, inputs, name="kernel")
    run_stages(model.module, make_context(), stages(PipelineOptions(budget=f"dsp={dsp}", kernel_name="kernel")))
    return model


CASES = {
    "gemm": ("gemm", (18, 10, 14), 200),
    "gemm-primes": ("gemm", (7, 5, 3), 100),
    "gemm-one-row": ("gemm", (1, 9, 8), 60),
    "three-products": ("three_products", (12, 10, 6, 4, 9), 160),
    "feed-forward": ("feed_forward", (24, 6, 10), 150),
    "attention": ("attention", (6, 8, 2), 250),
    "atax": ("atax", (15, 14), 80),
    "atax-copies": ("atax", (30, 90), 250),
    "atax-few-dsp": ("atax", (12, 24), 12),
    "atax-fewest-dsp": ("atax", (12, 24), 10),
    "atax-primes": ("atax", (13, 17), 100),
    "atax-one-row": ("atax", (1, 36), 60),
    "atax-one-column": ("atax", (36, 1), 60),
}


LARGER = ("three-products", "feed-forward", "attention", "atax-copies")
"""Of what the others are made of: left to `make test-full`."""


@pytest.mark.parametrize("case", [pytest.param(case, marks=[pytest.mark.full] if case in LARGER else []) for case in CASES])
def test_values_rules_and_dsp(case: str) -> None:
    factory, sizes, dsp = CASES[case]
    model = compiled(factory, sizes, dsp)
    platform = load_platform("u55c")
    check_emission_rules(model.module, platform)
    assert resource_report(model.module, platform)["total"]["dsp"] <= dsp
    arguments = [np.asarray(value) for value in model.arguments.values()]
    for computed, expected in zip(execute(model.module, arguments, depths=True), model.golden.values(), strict=True):
        assert np.abs(computed - expected).max() <= 1e-4 * max(1.0, np.abs(expected).max())


def test_copies_become_tasks() -> None:
    """Beyond the 128 points that one task may do at once, as rows of its lanes; more sums than the adder's latency needs. A point
    takes 3 DSPs where its adder is of LUTs, 5 otherwise."""
    models = [compiled("gemm", (64, 16, 48), dsp) for dsp in (80, 700, 1400)]
    tasks = [[op for op in m.module.walk() if isinstance(op, TaskOp) and op.sym_name.data.startswith("matmul")] for m in models]
    points = [[multiply_accumulates(task) for task in of_model] for of_model in tasks]
    assert [len(of_model) for of_model in points] == [1, 2, 4] and max(map(max, points)) <= 128
    assert all(3 * sum(of_model) <= dsp < 4 * sum(of_model) for of_model, dsp in zip(points, (80, 700, 1400), strict=True))


@pytest.mark.full
def test_more_dsp_are_faster(tmp_path: Path) -> None:
    cycles: list[int] = []
    for dsp in (20, 320):
        model = compiled("gemm", (32, 24, 16), dsp)
        emit_project(model.module, model, tmp_path / str(dsp), {}, report={"model": "kernel"})
        result = simulate(tmp_path / str(dsp), optimisation=0)
        assert result.passed and result.cycles is not None
        cycles.append(result.cycles)
    assert cycles[1] * 4 < cycles[0]
