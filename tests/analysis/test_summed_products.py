"""Products that tasks sum up: as many as linear algebra has, whatever loops, lanes, pairs and sizes become of them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from stc.analysis.throughput import throughput_report
from stc.manifest.files import read_manifest
from stc.manifest.schema import TaskWork
from stc.manifest.sizes import at_values
from stc.pipeline import PipelineOptions
from stc.tools.compile import CompileRequest, compile_model
from stc_testing.small import small_options

pytestmark = pytest.mark.heavy

RESOURCES = {"total": {"dsp": 50}, "share": {"dsp": 0.01}}


def works(folder: Path, model: str, inputs: str, options: PipelineOptions | None = None) -> tuple[Path, dict[str, TaskWork]]:
    """What the tasks of a compiled model do, by name."""
    source = f"import torch\n\n\ndef make():\n    torch.manual_seed(0)\n    return {model}, ({inputs},)\n"
    (folder / "model.py").write_text(source)
    request = CompileRequest(f"{folder}/model.py:make", options=options or small_options())
    compile_model(request, folder / "out")
    return folder / "out", worked(folder / "out")


def worked(project: Path, **values: int) -> dict[str, TaskWork]:
    kernels = at_values(read_manifest(project), values).kernels
    return {task.name: task.work for kernel in kernels for task in kernel.tasks if task.work is not None}


@pytest.mark.parametrize("sizes", [(8, 64, 48), (7, 5, 3), (1, 13, 1)])
def test_a_linear_layer(tmp_path: Path, sizes: tuple[int, int, int]) -> None:
    rows, inner, columns = sizes
    project, found = works(tmp_path, f"torch.nn.Linear({inner}, {columns})", f"torch.randn({rows}, {inner})")
    assert sum(work.products for work in found.values()) == rows * inner * columns
    (work,) = (work for work in found.values() if work.products)
    assert work.dsp == 5 * work.at_once, "a multiplier of 3 DSPs and an adder of 2"
    report = json.loads((project / "report.json").read_text())
    use = report["utilisation"]
    assert (use["products"], use["cycles"]) == (rows * inner * columns, report["throughput"]["cycles"])
    assert sum(sum(work.moves.values()) for work in found.values()) == use["bytes"]
    traffic = report["external_traffic_bytes"]
    assert use["bytes"] == traffic["read"] + traffic["written"]
    if rows == 8:
        assert use["products"] / use["cycles"] > 8, "16 columns lie side by side"


def test_scales_and_gains_are_no_products_of_sums(tmp_path: Path) -> None:
    """Of a norm the squares are summed up; x times a gain plus a bias is no sum that goes on."""
    _, found = works(tmp_path, "torch.nn.LayerNorm(24)", "torch.randn(5, 24)")
    ((name, products),) = [(name, work.products) for name, work in found.items() if work.products]
    assert "sum_square" in name and products == 5 * 24


def test_each_of_a_pair_counts(tmp_path: Path) -> None:
    options = small_options(quantize="bits=4")
    _, found = works(tmp_path, "torch.nn.Linear(64, 32)", "torch.randn(3, 64)", options)
    (name,) = (name for name, work in found.items() if work.products)
    work = found[name]
    assert "pairs" in name and work.products == 3 * 64 * 32
    assert work.at_once == 2 * work.dsp, "half a DSP for each"


def test_products_follow_the_position(tmp_path: Path) -> None:
    """Attention over what the cache holds: at position 0 one row, at 15 sixteen."""
    request = CompileRequest("gpt2-tiny", stage="decode", max_seq=16, run_time_sizes=True, options=small_options())
    compile_model(request, tmp_path / "out")
    first, last = (worked(tmp_path / "out", pos=pos) for pos in (0, 15))
    moved = {name for name in first if first[name].products != last[name].products}
    assert {name for name in moved if 16 * first[name].products == last[name].products} == moved
    assert len(moved) == 2 and all("scores" in name or "context" in name for name in moved)
    assert sum(work.products for work in last.values()) - sum(work.products for work in first.values()) == 2 * 15 * 32
    assert any(first[name].moves != last[name].moves for name in first), "rows of the caches"


def test_kernels_run_one_after_the_other() -> None:
    assert throughput_report([100, 200], RESOURCES, "small")["cycles"] == 300
    assert throughput_report([100, 200], RESOURCES, "small")["plan_dsp"] == 5000


def test_a_kernel_without_time_leaves_the_speed_unknown() -> None:
    assert throughput_report([100, None], RESOURCES, "small")["cycles"] is None
