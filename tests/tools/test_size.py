"""`stc size` on a small design with a reconvergent path: a product, and what it was computed of added to it."""

from __future__ import annotations

import json
import shutil
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from stc.fifo.depths_file import read_depths
from stc.manifest.files import read_manifest
from stc.simulation.design_runs import DesignRuns
from stc.simulation.timing_table import SimulationOptions, timing_table
from stc.tools.command_line import run_app
from stc.tools.compile import CompileRequest, compile_model
from stc.tools.size import size_project
from stc.tools.stc import app
from stc_testing.small import small_options

pytestmark = pytest.mark.heavy

PROGRAM = """
#id = affine_map<(d0, d1) -> (d0, d1)>
func.func @forward(%x: tensor<5x7xf32> {stc.name = "x"}, %w: tensor<7x7xf32> {stc.name = "w", stc.parameter})
    -> (tensor<5x7xf32> {stc.name = "out"}) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<5x7xf32>
  %x2 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<5x7xf32>) outs(%e : tensor<5x7xf32>) {
  ^bb0(%in: f32, %out: f32):
    %a = math.exp %in : f32
    linalg.yield %a : f32
  } -> tensor<5x7xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<5x7xf32>) -> tensor<5x7xf32>
  %y = linalg.matmul ins(%x2, %w : tensor<5x7xf32>, tensor<7x7xf32>) outs(%f : tensor<5x7xf32>) -> tensor<5x7xf32>
  %r = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%y, %x2 : tensor<5x7xf32>, tensor<5x7xf32>) outs(%e : tensor<5x7xf32>) {
  ^bb0(%in: f32, %other: f32, %out: f32):
    %a = arith.addf %in, %other : f32
    linalg.yield %a : f32
  } -> tensor<5x7xf32>
  return %r : tensor<5x7xf32>
}
"""

runner = CliRunner()


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Compiled with narrow tokens, so that the reconvergent path has to hold several of them."""
    if shutil.which("g++") is None:
        pytest.skip("g++ is needed")
    folder = tmp_path_factory.mktemp("size")
    (folder / "rows.mlir").write_text(PROGRAM)
    options = ["--lanes", "1", "--tile", "7", "--out", str(folder / "design")]
    done = runner.invoke(app, ["compile", "--small", str(folder / "rows.mlir"), *options])
    assert done.exit_code == 0, done.output
    return folder / "design"


def sized(project: Path, *options: str) -> tuple[int, dict[str, Any]]:
    done = runner.invoke(app, ["size", str(project), "--json", *options])
    return done.exit_code, json.loads(done.stdout)


def test_sizing(project: Path) -> None:
    before = {path.name: path.read_bytes() for path in project.iterdir() if path.is_file()}
    code, content = sized(project)
    assert {path.name: path.read_bytes() for path in project.iterdir() if path.is_file()} == before
    assert json.loads((project / "build" / "fifo_sizing.json").read_text()) == content
    written = json.loads((project / "build" / "depths.json").read_text())
    depths = written["depths"]
    assert f"{content['minimal']['cycles']:,} cycles" in written["proof"]
    assert depths == {fifo["name"]: fifo["minimal"] for fifo in content["fifos"]}
    assert max(depths.values()) > 2
    assert content["worst"]["cycles"] == content["minimal"]["cycles"]
    assert content["minimal"]["bits"] < content["worst"]["bits"]
    assert content["optimum"]["bits"] == content["minimal"]["bits"]
    assert content["larger_loop_depths"] == "finished"
    deeper, unlimited = content["deeper_loops"], DesignRuns.build(project)
    cycles = [unlimited.run(depths, depth_error=2.0).cycles for depths in ({}, unlimited.unlimited)]
    assert cycles[0] is not None and cycles[1] is not None and deeper["lost_by_all"] == cycles[0] - cycles[1]
    assert deeper["loops"] == len(unlimited.loops) > 3 and "/".join(unlimited.loops[0]).count("/") == 1
    one = [unlimited.run({}, depth_error=8.0, deeper_loop=loop).cycles for loop in unlimited.loops]
    assert len(set(one)) > 1, "one loop at a time is not the same for all"
    assert code == (0 if content["emitted"]["verdict"] == "equal" else 1)

    runs = DesignRuns.build(project)
    assert set(depths).isdisjoint(runs.memory_fed)
    assert set(depths) | runs.memory_fed == {stream.name for stream in runs.streams}
    for name, depth in depths.items():
        if depth > 1:
            cycles = runs.run({**depths, name: depth - 1}).cycles
            assert cycles is None or cycles > content["worst"]["cycles"]

    replayed = runner.invoke(app, ["simulate", str(project), "--depths", str(project / "build" / "depths.json"), "--json"])
    assert json.loads(replayed.stdout)["cycles"] == content["minimal"]["cycles"]


def test_slack_buys_bits(project: Path) -> None:
    _, tight = sized(project)
    _, loose = sized(project, "--slack", "0.5")
    assert loose["minimal"]["bits"] < tight["minimal"]["bits"]
    assert tight["worst"]["cycles"] < loose["minimal"]["cycles"] <= 1.5 * tight["worst"]["cycles"]
    assert loose["minimal"]["verdict"] == "within slack"


def test_tables(project: Path) -> None:
    done = runner.invoke(app, ["size", str(project), "--no-optimum"])
    assert "minimal" in done.output and "optimum  " not in done.output.split("depths")[1]
    assert "with loop depths doubled the design at its emitted depths: finished" in " ".join(done.output.split())


def test_an_emitted_design_that_deadlocks_is_said_to(project: Path, tmp_path: Path) -> None:
    """Who waits for whom, and depths that would do."""
    runs = DesignRuns.build(project)
    name, depth = next((s.name, s.depth) for s in runs.sized if runs.run({s.name: 1}).outcome == "deadlock")
    broken = tmp_path / "broken"
    shutil.copytree(project, broken, ignore=shutil.ignore_patterns("build"))
    manifest = json.loads((broken / "manifest.json").read_text())
    for stream in manifest["kernels"][0]["streams"]:
        if stream["name"] == name:
            stream.update(depth=1, required=1)
    (broken / "manifest.json").write_text(json.dumps(manifest))
    kernel = (broken / "kernel.cpp").read_text()
    (broken / "kernel.cpp").write_text(with_depth(kernel, name, depth, 1))
    found = size_project(broken, optimisation=0)
    assert not found.is_confirmed
    assert found.emitted.verdict == "does not end" and found.emitted.cycles is None
    assert found.explanation is not None and "deadlock" in found.explanation and name in found.explanation
    assert found.depths[name] > 1
    assert found.minimal.cycles == found.worst.cycles
    assert "occupancies" in found.start


def test_compile_with_minimisation(project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Required depths are the minimal ones, emitted depths at least these, and the report says what was saved."""
    monkeypatch.setattr("stc.tools.depth_minimisation.size_project", partial(size_project, optimisation=0))
    request = CompileRequest(str(project.parent / "rows.mlir"), options=small_options(lanes=1, tile=7), minimise_depths=0.0)
    report = compile_model(request, tmp_path / "minimal")
    depths = read_depths(project / "build" / "depths.json")
    minimisation = report["fifo_sizing"]["minimisation"]
    assert minimisation["depths"] == depths
    assert minimisation["cycles"]["minimal"] == minimisation["cycles"]["unlimited"]
    assert minimisation == json.loads((tmp_path / "minimal" / "report.json").read_text())["fifo_sizing"]["minimisation"]
    streams = {s.name: s for kernel in read_manifest(tmp_path / "minimal").kernels for s in kernel.streams}
    for name, depth in depths.items():
        required = streams[name].required
        assert required is not None and depth <= required <= streams[name].depth
    assert sum(streams[name].required == depth for name, depth in depths.items()) >= len(depths) - 1


def with_depth(kernel: str, name: str, old: int, new: int) -> str:
    """The source with another depth of one FIFO, in its type and in its pragma."""
    lines = [
        line.replace(f", {old}> {name}", f", {new}> {name}").replace(f"depth={old}", f"depth={new}")
        if f" {name}(" in line or f"variable={name} " in line else line
        for line in kernel.split("\n")
    ]
    changed = "\n".join(lines)
    assert changed != kernel
    return changed


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (["--slack", "-0.1"], "slack is -0.1"),
        (["--slack", "nan"], "slack is nan"),
        (["--slack", "inf"], "slack is inf"),
        (["--most-runs", "0"], "--most-runs"),
    ],
)
def test_unusable_options(project: Path, options: list[str], complaint: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert complaint in refusal(["size", str(project), *options], capfd)


def refusal(arguments: list[str], capfd: pytest.CaptureFixture[str]) -> str:
    """The one line with which the command line refuses `arguments`."""
    with pytest.raises(SystemExit) as ended:
        run_app(app, "stc", arguments)
    assert ended.value.code == 2
    (line,) = capfd.readouterr().err.splitlines()
    return line


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ('"depth": 2,', '"depth": 3,', "has depth 3 in the manifest, 2 in the C++"),
        ('"name": "load_x"', '"name": "load_y"', "names no task: 'load_x'"),
    ],
)
def test_a_manifest_of_another_design_is_refused(
    project: Path, old: str, new: str, complaint: str, capfd: pytest.CaptureFixture[str]
) -> None:
    """Depths for FIFOs that are not those of the C++ would be worth nothing."""
    path = project / "manifest.json"
    written, before = path.read_text(), set((project / "build").glob("*.json"))
    assert old in written
    path.write_text(written.replace(old, new, 1))
    try:
        assert complaint in refusal(["size", str(project)], capfd)
        assert complaint in refusal(["report", str(project)], capfd)
        assert set((project / "build").glob("*.json")) <= before
    finally:
        path.write_text(written)


def test_not_a_project(tmp_path: Path) -> None:
    with pytest.raises(SystemExit) as ended:
        run_app(app, "stc", ["size", str(tmp_path)])
    assert ended.value.code == 2
    assert not list(tmp_path.iterdir())


def test_runs_with_other_depths_keep_the_latency_of_the_emitted_fifo(project: Path) -> None:
    """Else a FIFO of two slots would be faster than one of three: registers are read a cycle earlier than RAM."""
    manifest = read_manifest(project)
    streams = [stream for kernel in manifest.kernels for stream in kernel.streams]
    assert {stream.depth > 2 for stream in streams} == {False, True}
    lines = timing_table(manifest, SimulationOptions(depths={stream.name: 5 for stream in streams})).splitlines()
    for stream in streams:
        assert f"fifo {stream.name} 5 {1 if stream.depth <= 2 else 2}" in lines
