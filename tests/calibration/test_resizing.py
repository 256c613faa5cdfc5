"""`stc calibrate`: a design compiled once more for the loops that synthesis found, and what is said of it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner
from written_reports import Figures, write_synthesis

from stc.analysis.measured_loops import pipelined_loops
from stc.diagnostics import CompileError
from stc.dialects.context import make_context
from stc.dialects.facts import PIPELINE
from stc.dialects.parsing import parse_module
from stc.manifest.files import read_manifest
from stc.pipeline import places, read_options, stages, steps
from stc.simulation.projects import origin_of_cycles
from stc.tools.stc import app
from stc.transforms.finding_pass import run_pass
from stc.transforms.stream.size_fifos import KernelSizing, SizeFifos

pytestmark = pytest.mark.heavy

LINEAR = Path(__file__).parents[2] / "examples" / "linear_relu.mlir"
SLOWER = ("act", "tile_row")


def stc(*arguments: str | Path) -> str:
    done = CliRunner().invoke(app, [str(argument) for argument in arguments], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.output


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("calibrated") / "design"
    stc("compile", LINEAR, "--small", "--tile", "4", "--lanes", "4", "--fifo-margin", "-1", "--out", out)
    return out


def depths(project: Path) -> dict[str, int]:
    return {stream.name: stream.depth for kernel in read_manifest(project).kernels for stream in kernel.streams}


def reports(folder: Path, project: Path, figures: Figures) -> Path:
    write_synthesis(folder / "reports", read_manifest(project), figures)
    return folder / "reports"


def test_our_own_figures_change_nothing(project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Into the folder that we are in, as every command takes it."""
    (tmp_path / "new").mkdir()
    monkeypatch.chdir(tmp_path / "new")
    found = stc("calibrate", project, "--reports", reports(tmp_path, project, {}), "--no-run", "--out", ".")
    assert "9 pipelined loops reported: 9 as modelled, 0 off" in found and "no FIFO changed" in found
    for name in ("kernel.cpp", "kernel.h", "layout.h", "host.cpp", "connectivity.cfg"):
        assert (tmp_path / "new" / name).read_bytes() == (project / name).read_bytes(), name
    made = read_manifest(tmp_path / "new")
    assert made.origins["schedule.depth"].startswith("9 of 9 loops measured")
    assert origin_of_cycles(made).endswith("with measured depths of 9 of 9 loops, estimated ones of others")
    assert '"act.tile_row" = [1, 12]' in (tmp_path / "new" / "schedule.toml").read_text()


def test_an_interval_of_two_sizes_fifos_as_a_compile_with_it(project: Path, tmp_path: Path) -> None:
    """With II 2 reported and the depth as it was: depths and cycles are those of the IR that asks for II 2."""
    folder = reports(tmp_path, project, {SLOWER: (2, 12)})
    found = json.loads(stc("calibrate", project, "--reports", folder, "--no-run", "--json", "--out", tmp_path / "new"))
    (off,) = [loop for loop in found["loops"] if loop["ii"] != loop["reported_ii"]]
    assert (off["task"], off["loop"], off["reported_ii"]) == (*SLOWER, 2)

    (sizing,) = sized_with_interval_of_two()
    assert found["resized"]["cycles"][1] == sizing.makespan > found["resized"]["cycles"][0]
    assert depths(tmp_path / "new") == {fifo.name: fifo.emitted for fifo in sizing.fifos} != depths(project)
    assert "#pragma HLS pipeline II=2" in (tmp_path / "new" / "kernel.cpp").read_text()


def sized_with_interval_of_two() -> list[KernelSizing]:
    """The example through all passes, in front of `size-fifos` asked for an interval of 2 where it was 1."""
    module, context = parse_module(LINEAR.read_text(), str(LINEAR)), make_context()
    whole = steps(stages(read_options('compile{budget="small" tile=4 lanes=4 fifo-margin=-1 kernel-name="linear_relu"}')))
    for step in whole[: places(whole, SizeFifos.name)[0]]:
        run_pass(step.one_pass, context, module)
    loops = {(task.sym_name.data, label): loop for task, label, loop in pipelined_loops(module)}
    PIPELINE.put(loops[SLOWER], 2)
    return SizeFifos(margin=-1).find(context, module)


def test_nothing_is_written_where_it_is_refused(project: Path, tmp_path: Path) -> None:
    folder, new = reports(tmp_path, project, {}), tmp_path / "new"
    (path,) = folder.rglob("fc_Pipeline_*_tile_row_csynth.xml")
    text = path.read_text()
    path.write_text(text.replace("<TripCount>32<", "<TripCount>33<"))
    with pytest.raises(CompileError, match="this is a report of another design"):
        stc("calibrate", project, "--reports", folder, "--out", new)
    path.write_text(text)
    new.mkdir()
    (new / "mine.txt").write_text("kept")
    with pytest.raises(CompileError, match="output folder is not empty"):
        stc("calibrate", project, "--reports", folder, "--out", new)
    assert (new / "mine.txt").read_text() == "kept"
    other = tmp_path / "other"
    shutil.copytree(project, other)
    (other / "report.json").write_text((project / "report.json").read_text().replace('"loop": "tile_row"', '"loop": "row"'))
    with pytest.raises(CompileError, match="lists other loops than"):
        stc("calibrate", other, "--reports", folder, "--no-run", "--out", tmp_path / "newer")
    shutil.rmtree(other)
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["new", "reports"]
