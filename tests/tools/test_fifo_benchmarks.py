"""What benchmarks/fifo_sizing.py and benchmarks/fifo_graphs.py write and find missed, of rows made up to miss what is required."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from stc_testing.fuzzing.graphs import PLAIN, SIZED, GraphCheck, as_json

pytestmark = pytest.mark.heavy


@pytest.fixture(scope="module")
def sizing(benchmark_module: Callable[[str], ModuleType]) -> ModuleType:
    return benchmark_module("fifo_sizing")


@pytest.fixture(scope="module")
def graphs(benchmark_module: Callable[[str], ModuleType]) -> ModuleType:
    return benchmark_module("fifo_graphs")


def made_up(sizing: ModuleType, **changed: Any) -> Any:
    values = {
        "design": "gpt2-medium", "tokens": 32, "tasks": 42, "fifos": 45, "sized": 31,
        "bits": {"all tokens": 5_000_000, "LP": 70_000, "emitted": 80_000, "minimal": 60_000},
        "cycles": dict.fromkeys(("all tokens", "LP", "emitted", "minimal"), 12_000),
        "descent_alone": 61_000, "optimum": 60_000, "at_least": 60_000, "proof": "search",
        "larger_loop_depths": "finished", "values_agree": True,
        "lp": 0.2, "preparation": 0.1, "build_seconds": 7.0, "run_seconds": 0.1, "runs": 99, "search_seconds": 12.5, "surprises": 0,
    }  # fmt: skip
    return sizing.Row(**{**values, **changed})


MISSED = (
    ({"cycles": {"all tokens": 12_000, "LP": 12_006, "emitted": 12_000, "minimal": 12_000}},
     "at the LP depths 6 of 12,000 cycles are lost (0.05 %)"),
    ({"cycles": {"all tokens": 12_000, "LP": 12_000, "emitted": None, "minimal": 12_000}}, "at the emitted depths it does not end"),
    ({"optimum": 50_000}, "bits of the descent are 1.220 times the optimum (required: at most 1.05)"),
    ({"lp": 1.25}, "the linear program took 1.25 s (required: less than 1)"),
    ({"larger_loop_depths": "deadlock"}, "the emitted design does not end with all loop depths doubled: deadlock"),
    ({"values_agree": False}, "values differ from PyTorch's"),
)  # fmt: skip


@pytest.mark.parametrize("changed, said", MISSED)
def test_each_requirement_is_missed_in_words(sizing: ModuleType, changed: dict[str, Any], said: str) -> None:
    assert sizing.missed(made_up(sizing)) == []
    row = made_up(sizing, **changed)
    assert sizing.missed(row) == [said]
    assert f"* gpt2-medium: {said}." in sizing.markdown([made_up(sizing, design="gemm"), row])


def test_a_design_that_the_lp_did_not_size_loses_nothing_there(sizing: ModuleType) -> None:
    bits = {"all tokens": 5_000, "LP": None, "emitted": 800, "minimal": 600}
    row = made_up(sizing, bits=bits, cycles={"all tokens": 9, "LP": None, "emitted": 9, "minimal": 9}, lp=None, preparation=None)
    assert not [said for said in sizing.missed(row) if "LP" in said or "linear" in said]


def test_an_optimum_that_is_not_known_is_no_miss_but_is_said(sizing: ModuleType) -> None:
    row = made_up(sizing, optimum=None, at_least=50_000, proof="not known")
    assert sizing.missed(row) == []
    text = sizing.markdown([row])
    assert ">= 50,000 | <= 1.220" in text and "No design misses any." in text
    assert "* gpt2-medium: the optimum is not known; bits of the descent are at most 1.220 times it." in text


def test_tables_are_as_wide_as_their_heads(sizing: ModuleType) -> None:
    text = sizing.markdown([made_up(sizing), made_up(sizing, design="gemm", tokens=None, lp=None, preparation=None)])
    tables = [line for line in text.splitlines() if line.startswith("|")]
    widths = [line.count("|") for line in tables]
    assert len(tables) == 3 * 4
    assert all(len(set(widths[first : first + 4])) == 1 for first in (0, 4, 8))


def test_rows_come_back_from_json_in_the_order_of_the_designs(sizing: ModuleType, tmp_path: Path) -> None:
    rows = [made_up(sizing, design=name) for name in ("mine.mlir", "atax", "gpt2-medium")]
    file = tmp_path / "rows.json"
    file.write_text(json.dumps([asdict(row) for row in rows]))
    assert sizing._read_rows(file) == rows
    assert [row.design for row in sizing._in_order(rows)] == ["gpt2-medium", "atax", "mine.mlir"]


def test_workloads_are_those_of_the_kernel_table(sizing: ModuleType) -> None:
    """All five, compiled with the DSPs published for them, beside every preset of full size."""
    assert sizing.DESIGNS[-5:] == ("FeedForward", "MHSA", "gemm", "3mm", "atax")
    assert not [name for name in sizing.DESIGNS if name.endswith("-tiny")] and "gemma3-1b" in sizing.DESIGNS
    request = sizing.compile_request(sizing.PUBLISHED["gemm"])
    assert request.options.budget == "dsp=2552" and request.model.endswith("workloads/kernels.py:gemm")


def test_the_budget_of_runs_is_what_the_time_affords(sizing: ModuleType) -> None:
    assert sizing.affordable_runs(300, 0.5, 6000) == 600
    assert sizing.affordable_runs(300, 0.001, 6000) == 6000
    assert sizing.affordable_runs(1, 20.0, 6000) == 1


def test_report_seconds_are_those_of_all_kernels(sizing: ModuleType) -> None:
    kernels = [{"seconds": 0.25, "preparation_seconds": 1.0}, {"seconds": 0.5, "preparation_seconds": 0.5}]
    report = {"fifo_sizing": {"kernels": kernels}}
    assert sizing.lp_seconds(report, "seconds") == 0.75 and sizing.lp_seconds(report, "preparation_seconds") == 1.5
    assert sizing.lp_seconds({}, "seconds") is None


def graph(seed: int, emitted: int, failures: tuple[str, ...] = ()) -> GraphCheck:
    figures = {
        "sized": 7, "above_one": 3, "below": {"deadlock": 1, "slower": 2}, "named": 3 - len(failures),
        "verdicts": {"emitted": "equal" if emitted == 500 else "slower", "LP": "equal"},
        "bits": {"worst": 900, "LP": 90, "emitted": 100, "minimal": 80, "descent alone": 88, "optimum": 80, "lower_bound": 80},
        "cycles": {"unlimited": 500, "LP": 500, "emitted": emitted, "minimal": 500}, "surprises": 0, "runs": 40, "run_seconds": 0.2,
    }  # fmt: skip
    return GraphCheck(seed, SIZED, figures=figures, failures=failures)


def test_graphs_of_several_files_are_written(graphs: ModuleType, tmp_path: Path) -> None:
    """Each seed once; lost cycles and failures by seed."""
    said = "x one below 3: slower, but the explanation names ()"
    files = [tmp_path / "one.json", tmp_path / "two.json"]
    files[0].write_text(json.dumps(as_json([graph(1, 500), GraphCheck(2, PLAIN), graph(3, 500)])))
    files[1].write_text(json.dumps(as_json([graph(3, 512), graph(9, 500, (said,))])))
    text = graphs.document(graphs.read_checks(files))
    assert "| seeds drawn | 4: 3 sized, 1 no reconvergent paths, 0 refused |" in text
    assert "| each of those one less | 3 deadlock, 6 slower |" in text
    assert "| the explanation names that FIFO | 8 of 9 |" in text
    assert "| cycles at emitted depths, against unlimited | 2 equal, 1 slower |" in text
    assert "| largest descent alone/optimum; graphs above 1.05 | 1.100; 3 |" in text
    assert "* seed 3, emitted depths: 12 of 500 cycles are lost" in text
    assert f"* seed 9: {said}" in text


def test_graphs_without_failures_say_so(graphs: ModuleType) -> None:
    text = graphs.document([graph(1, 500)])
    assert re.search(r"^Measured on \d{4}-\d\d-\d\d(, outside a checkout| at commit \w+( with changes)?)\.$", text, re.MULTILINE)
    assert "None." in text and "Nothing." in text
