"""Several layers in one launch: each with its own weights and rows of caches, equal to PyTorch's layers one after the other."""

from __future__ import annotations

import json
import re
import shutil
import tomllib
from pathlib import Path
from typing import Any

import pytest

from stc.diagnostics import CompileError
from stc.manifest.files import read_manifest
from stc.pipeline import PipelineOptions
from stc.platforms.budget import SMALL
from stc.simulation.simulate import simulate
from stc.tools.compile import compile_model
from stc.tools.request import CompileRequest
from stc_testing.commands import Stc, refused

pytestmark = pytest.mark.heavy

DECODE: dict[str, Any] = {"stage": "decode", "max_seq": 12, "run_time_sizes": True}


TOLD = "told.txt"


def compiled(model: str, out: Path, layers: int, budget: str = SMALL, **asked: Any) -> None:
    """Beside `out` is what was said meanwhile."""
    options = PipelineOptions(budget=budget, units="memory", layers=layers)
    told: list[str] = []
    compile_model(CompileRequest(model, options=options, **asked), out, told.append)
    (out.parent / TOLD).write_text("\n".join(told))


@pytest.fixture(scope="module")
def three(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three layers of gpt2-tiny's decode in a launch, and the dumps of its passes: compiled once."""
    out = tmp_path_factory.mktemp("three") / "design"
    compiled("gpt2-tiny", out, 3, emit_ir=True, **DECODE)
    return out


def require_layers(out: Path, layers: int) -> None:
    """Values, cycles as estimated, and weights of so many layers."""
    report = json.loads((out / "report.json").read_text())
    found = simulate(out)
    assert found.passed and found.cycles is not None
    assert abs(found.cycles - report["throughput"]["cycles"]) < 0.05 * found.cycles
    ports = {port["name"]: port["shape"] for port in json.loads((out / "manifest.json").read_text())["kernels"][0]["ports"]}
    weights = [shape for name, shape in ports.items() if "proj_weight" in name or "c_fc_weight" in name]
    assert weights and all(shape[0] == layers for shape in weights)


def test_layers_of_a_launch(three: Path) -> None:
    require_layers(three, 3)


def test_what_takes_long_is_told(three: Path) -> None:
    """Each layer, in the order in which they are exported, parameters, and each draw."""
    told = (three.parent / TOLD).read_text().splitlines()
    assert [step for step in told if step.startswith("export of")] == [f"export of layers: {layer} of 3" for layer in (2, 3)]
    draws = (f"reference of draw '{draw}', and what rounding errors make of it" for draw in ("example", "draw", "huge"))
    at = [told.index(f"code generation: {step}") for step in ("packing parameters", *draws)]
    assert at == sorted(at)


@pytest.mark.parametrize("share", [0.75, 0.5])
def test_a_decoder_is_cut_with_fewer_wires_than_by_the_baseline(three: Path, share: float, tmp_path: Path, stc: Stc) -> None:
    """Its tasks on dies that have room for a share of its DSPs each."""
    design = tmp_path / "design"
    shutil.copytree(three, design)
    tasks = [task.resources for kernel in read_manifest(three).kernels for task in kernel.tasks]
    dsp = int(share / 0.8 * sum(task.dsp for task in tasks if task is not None)) + 1  # of which a plan may use 80 %
    platform = design / "platform.toml"
    text = re.sub(r"^dsp = \d+$", f"dsp = {dsp}", platform.read_text(), flags=re.MULTILINE)
    platform.write_text(re.sub(r"^name = .*$", 'name = "mine"', text, flags=re.MULTILINE))
    done = stc("estimate", design, "--dies", "--json")
    assert (done.code, done.stderr) == (0, "")
    said = json.loads(done.stdout)
    assert 0 < sum(said["boundary_wires"]) == said["least_wires"] < said["greedy_wires"]
    assert len(set(said["tasks"].values())) > 1


@pytest.mark.full
@pytest.mark.parametrize(
    ("model", "layers", "budget", "asked"),
    [
        ("gpt2-tiny", 2, SMALL, {"seq": 5}),
        ("gpt2-tiny", 2, SMALL, {**DECODE, "dtype": "w4a8"}),
        ("qwen2.5-0.5b-tiny", 2, "plan", {"stage": "decode", "run_time_sizes": True}),
        ("gemma3-1b-tiny", 2, SMALL, DECODE),
        ("llama-3.2-1b-tiny", 4, SMALL, DECODE),
    ],
)
def test_layers_of_other_models(tmp_path: Path, model: str, layers: int, budget: str, asked: dict[str, Any]) -> None:
    compiled(model, tmp_path / "design", layers, budget, **asked)
    require_layers(tmp_path / "design", layers)


@pytest.mark.parametrize("name", ["sink-reads", "size-fifos"])
def test_dumps_make_the_same_layers(three: Path, tmp_path: Path, name: str) -> None:
    """In front of `repeat-layers`, and behind it."""
    (dump,) = (three / "ir").glob(f"*_{name}.mlir")
    compile_model(CompileRequest(str(dump)), tmp_path / name)
    assert (tmp_path / name / "kernel.cpp").read_text() == (three / "kernel.cpp").read_text()


def test_a_schedule_makes_the_same_layers(three: Path, tmp_path: Path) -> None:
    """Tasks that passes behind `assign-units` make are not in it."""
    schedule = three / "schedule.toml"
    units = tomllib.loads(schedule.read_text())["stc"]["units"]
    assert units["load_x"] == "memory" and not {"move_x", "send_scalars"} & units.keys()
    options = PipelineOptions(budget=SMALL, units="memory", layers=3, schedule=str(schedule))
    compile_model(CompileRequest("gpt2-tiny", options=options, **DECODE), tmp_path / "again")
    assert (tmp_path / "again" / "kernel.cpp").read_text() == (three / "kernel.cpp").read_text()


def test_what_is_refused(tmp_path: Path, stc: Stc) -> None:
    compile_layers = ("compile", "gpt2-tiny", "--seq", "4", "--small", "--layers", "2", "--out", tmp_path / "out")
    refused(stc(*compile_layers), "layers=2 with units=one", "accepted: a strategy for more units, such as units=memory")
    (tmp_path / "module.py").write_text(
        "import torch\ndef narrower(): return torch.nn.Sequential(torch.nn.Linear(8, 4)), (torch.randn(3, 8),)\n"
    )
    with pytest.raises(CompileError, match="0 pairs of a tensor that goes in and one that comes out"):
        compiled(f"{tmp_path}/module.py:narrower", tmp_path / "narrower", 2)
