"""Three hand-written L6 modules: emitted text against golden files, and its C simulation against numpy."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from l6_examples import EXAMPLES, parse, source_of, two_kernels

from stc.codegen.project import emit_project
from stc.diagnostics import CompileError
from stc.dialects.dataflow import KernelOp
from stc.manifest.files import read_manifest
from stc.runtime.accelerator import Accelerator

GOLDEN = Path(__file__).parent / "golden"
TEXTS = ("kernel.h", "kernel.cpp", "layout.h", "connectivity.cfg", "testbench.cpp")
needs_compiler = pytest.mark.skipif(shutil.which("g++") is None, reason="g++ is needed")


@pytest.mark.parametrize("name", EXAMPLES)
@pytest.mark.parametrize("file", TEXTS)
def test_emitted_text(name: str, file: str, emitted: Callable[[str], Path], check_golden: Callable[[Path, str], None]) -> None:
    check_golden(GOLDEN / name / file, (emitted(name) / file).read_text())


@pytest.mark.parametrize("name", ["scaled_sum", "converter"])
def test_kernels_are_called_as_in_the_module(name: str, emitted: Callable[[str], Path]) -> None:
    """Whatever else they hold: `converter` has a ring of blocks."""
    kernels = [op.sym_name.data for op in parse(source_of(name)).walk() if isinstance(op, KernelOp)]
    assert [kernel.name for kernel in read_manifest(emitted(name)).kernels] == kernels


@pytest.mark.heavy
@needs_compiler
@pytest.mark.parametrize("name", [pytest.param("matmul", marks=pytest.mark.optimised), *sorted(EXAMPLES.keys() - {"matmul"})])
def test_make_csim_computes_the_model(name: str, emitted: Callable[[str], Path]) -> None:
    project = emitted(name)
    done = subprocess.run(["make", "csim"], cwd=project, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    report = json.loads((project / "build" / "csim.json").read_text())
    assert report["passed"] and all(output["elements"] for output in report["outputs"])
    ran = {channel["name"]: channel for channel in report["channels"]}
    for stream in read_manifest(project).kernels[0].streams:
        assert (ran[stream.name]["tokens"], ran[stream.name]["depth"]) == (stream.tokens, stream.depth)


@pytest.mark.heavy
@needs_compiler
def test_a_wrong_constant_fails_the_simulation(tmp_path: Path, emitted: Callable[[str], Path]) -> None:
    project = shutil.copytree(emitted("scaled_sum"), tmp_path / "wrong", ignore=shutil.ignore_patterns("build"))
    kernel = project / "kernel.cpp"
    kernel.write_text(kernel.read_text().replace("0.5f", "0.6f"))
    assert subprocess.run(["make", "csim"], cwd=project, capture_output=True, check=False).returncode != 0


def test_project_is_whole(emitted: Callable[[str], Path]) -> None:
    project = emitted("matmul")
    names = {path.relative_to(project).as_posix() for path in project.rglob("*") if path.is_file()}
    assert {"manifest.json", "host.cpp", "host.py", "Makefile", "report.json", "sim/instrument.py", "sim/include/hls_stream.h",
            "golden/example/x.bin", "golden/example/y.bin", "golden/example/y.allowed.bin", "parameters/fc_weight.bin"} <= names


def test_manifest_schedule(emitted: Callable[[str], Path]) -> None:
    kernel = read_manifest(emitted("matmul")).kernels[0]
    loops = {(entry.task, entry.label): entry for entry in kernel.schedule}
    mac, outer = loops["fc", "mac"], loops["fc", "mac_k"]
    assert (mac.trip, mac.ii, mac.parent, outer.flattened) == (4, 3, "mac_k", True)
    assert loops["fc", "write_y"].writes == {"y_stream": 2} and loops["fc", "write_y"].ii == 2
    assert not loops["fc", "tile_k"].flattened
    load = loops["load_x", "words"]
    assert (load.writes, load.memory[0].port, load.memory[0].bytes) == ({"x_stream": 1}, "x", 8)
    assert [task.kind for task in kernel.tasks] == ["load", "load", "compute", "store"]
    assert kernel.tasks[2].module == "mlp.fc"


def test_output_folder_in_use_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "kept.txt").write_text("mine")
    model = EXAMPLES["matmul"].model()
    with pytest.raises(CompileError, match="not empty"):
        emit_project(model.module, model, tmp_path, {}, {})
    assert [path.name for path in tmp_path.iterdir()] == ["kept.txt"]


def test_nothing_is_left_of_a_failed_emission(tmp_path: Path) -> None:
    model = EXAMPLES["matmul"].model()
    broken = type(model)(model.name, model.module, model.inputs, {}, model.golden)
    with pytest.raises(CompileError, match=r"fc\.weight"):
        emit_project(model.module, broken, tmp_path / "out", {}, {})
    assert not list(tmp_path.iterdir())


def test_a_kernel_of_vectors_of_odd_length_at_a_port_is_refused() -> None:
    from stc.codegen.design import design_of
    from stc.platforms.platform import load_platform

    text = source_of("converter").replace("8xvector<4xi32>", "8xvector<3xi32>").replace("%none[0]", "%none[0]")
    text = text.replace("vector<4xi32>", "vector<3xi32>")
    with pytest.raises(CompileError, match="power of two"):
        design_of(parse(text), load_platform("u55c"))


OTHER = "!itensor.itensor<1x8xf32, iter_space: [2, 3] * [8, 1], iter_map: (d0, d1) -> (d1, d0)>"


@pytest.mark.heavy
@needs_compiler
@pytest.mark.parametrize(
    ("layout", "steps"),
    [("!X", ["pack", "launch", "launch", "unpack"]), (OTHER, ["pack", "launch", "unpack", "pack", "launch", "unpack"])],
)
def test_kernels_in_a_row(layout: str, steps: list[str], tmp_path: Path) -> None:
    """Unpacking and packing in one layout cancel; another layout is re-packed by the host."""
    model = EXAMPLES["scaled_sum"].model()
    gain = model.parameters["norm.gain"]
    once = model.inputs["x"] * gain + np.float32(0.5)
    # The second kernel reads tokens in its own order, but multiplies with the gain in the first one's.
    tokens = once.reshape(3, 2, 8).transpose(1, 0, 2).reshape(6, 8) if layout == OTHER else once.reshape(6, 8)
    golden = (tokens * np.tile(gain.reshape(2, 8), (3, 1)) + np.float32(0.5)).reshape(1, 3, 16)
    twice = type(model)("twice", parse(two_kernels(layout)), model.inputs, model.parameters, {"out": golden})
    emit_project(twice.module, twice, tmp_path / "out", {}, {})
    manifest = read_manifest(tmp_path / "out")
    assert [step.action for step in manifest.steps] == steps
    done = subprocess.run(["make", "csim"], cwd=tmp_path / "out", capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    accelerator = Accelerator(tmp_path / "out")
    assert np.array_equal(accelerator(model.inputs)["out"], golden)
