"""Compute units on dies: where they lie, what that costs in cycles, and what is refused."""

from __future__ import annotations

import json
import re
import shutil
import tomllib
from math import ceil
from pathlib import Path

import pytest

from stc.manifest.files import read_manifest
from stc.simulation.simulate import SimulationOptions, simulate
from stc.tools.compile import CompileRequest, compile_model
from stc_testing.commands import Stc, refused
from stc_testing.small import small_options

pytestmark = [pytest.mark.heavy, pytest.mark.skipif(shutil.which("g++") is None, reason="g++ is needed")]

LINEAR = Path(__file__).parents[2] / "examples" / "linear_relu.mlir"
PLATFORMS = Path(__file__).parents[2] / "stc" / "platforms" / "data"


@pytest.fixture(scope="module")
def together(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Both units on the die of the memory, where all fits."""
    folder = tmp_path_factory.mktemp("dies") / "together"
    compile_model(CompileRequest(str(LINEAR), options=small_options(units="memory", dies="optimum")), folder)
    return folder


def apart(together: Path, out: Path, die: int) -> Path:
    """The schedule of that design with its body on another die, its FIFOs not yet sized."""
    text = (together / "schedule.toml").read_text()
    moved = re.sub(r'("linear_relu.body") = 0', rf"\1 = {die}", text)
    out.write_text(re.sub(r"\[stc\.(fifos|memories)\]\n([^\n\[]+\n)+", "", moved))
    return out


def test_a_crossing_costs_what_the_estimate_says(together: Path, tmp_path: Path, stc: Stc) -> None:
    """Two boundaries of four cycles each, for each token and for each slot: FIFOs are as deep as that takes."""
    schedule, out = apart(together, tmp_path / "schedule.toml", 2), tmp_path / "apart"
    done = stc("compile", LINEAR, "--schedule", schedule, "--out", out)
    assert done.code == 0 and "FIFOs cross, in up to 8 cycles either way" in done.stdout, done.stderr
    (kernel,) = read_manifest(out).kernels
    crossing = {link for unit in kernel.units for link in unit.sends}
    assert {stream.name: stream.crossing for stream in kernel.streams} == {s.name: 8 * (s.name in crossing) for s in kernel.streams}
    assert [unit.slr for unit in kernel.units] == [0, 2]
    assert set(re.findall(r"^slr=.*$", (out / "connectivity.cfg").read_text(), re.MULTILINE)) == {
        "slr=linear_relu_memory_1:SLR0", "slr=linear_relu_body_1:SLR2",
    }
    near, far = (simulate(project, optimisation=0) for project in (together, out))
    estimates = [json.loads((project / "report.json").read_text())["throughput"]["cycles"] for project in (together, out)]
    assert near.passed and far.passed and near.cycles and far.cycles and [near.cycles, far.cycles] == estimates
    assert near.cycles + 16 + 2 == far.cycles  # there and back again, through FIFOs that are memories now: no cycle is lost between
    depths = {stream.name: stream.depth for stream in read_manifest(together).kernels[0].streams}
    shallow = {name: depths[name] for name in crossing}
    assert (simulate(out, SimulationOptions(depths=shallow), optimisation=0).cycles or 0) > far.cycles


def test_a_schedule_gives_the_same_dies_back(together: Path, tmp_path: Path, stc: Stc) -> None:
    said = tomllib.loads((together / "schedule.toml").read_text())["stc"]
    assert said["dies"] == {"linear_relu.memory": 0, "linear_relu.body": 0} and said["options"]["dies"] == "optimum"
    assert stc("compile", LINEAR, "--schedule", together / "schedule.toml", "--out", tmp_path / "again").code == 0
    for name in ("kernel.cpp", "connectivity.cfg", "schedule.toml", "manifest.json"):
        assert (tmp_path / "again" / name).read_text() == (together / name).read_text()


def test_what_is_edited_so_that_it_cannot_be_is_one_sentence(together: Path, tmp_path: Path, stc: Stc) -> None:
    text = (together / "schedule.toml").read_text()
    (tmp_path / "schedule.toml").write_text(text.replace('"linear_relu.memory" = 0', '"linear_relu.memory" = 1'))
    done = stc("compile", LINEAR, "--schedule", tmp_path / "schedule.toml", "--out", tmp_path / "out")
    what = "schedule.toml [stc.dies]: 'linear_relu.memory' is on die 1, its memory ports are at die 0; accepted: "
    assert done.code == 2 and what in done.stderr and len(done.stderr.splitlines()) == 1, done.stderr
    assert not (tmp_path / "out").exists()


def small_dies(folder: Path, dsp: int, name: str = "mine") -> Path:
    """A platform whose dies have few DSPs, of which a plan may use 80 %."""
    text = re.sub(r"^dsp = \d+$", f"dsp = {dsp}", (PLATFORMS / "u280.toml").read_text(), flags=re.MULTILINE)
    path = folder / f"{name}.toml"
    path.write_text(text.replace('name = "u280"', f'name = "{name}"'))
    return path


def test_what_does_not_fit_is_one_sentence(tmp_path: Path, stc: Stc) -> None:
    platform = small_dies(tmp_path, 10)
    words = ("--small", "--lanes", "16", "--units", "memory", "--platform", platform, "--out", tmp_path / "out")
    done = stc("compile", LINEAR, "--dies", "optimum", *words)
    assert done.code == 2 and len(done.stderr.splitlines()) == 1 and re.search(
        r"dies strategy 'optimum': no assignment to 3 die\(s\) fits: at best die \d lacks \d+ of \d+ DSP "
        r"\(8 may be used; 'linear_relu.body' takes \d+\); accepted: a smaller design, .*", done.stderr
    ), done.stderr


def test_cuts_inside_a_kernel_become_units(together: Path, tmp_path: Path, stc: Stc) -> None:
    """Tasks that no die has room for together: what is proposed is what the schedule of the cut makes."""
    shutil.copytree(together, tmp_path / "project")
    tasks = {task.name: task.resources.dsp for task in read_manifest(together).kernels[0].tasks if task.resources is not None}
    assert sorted(count > 0 for count in tasks.values())[-2:] == [True, True]
    room = max(tasks.values())
    platform = small_dies(tmp_path, ceil(room / 0.8))
    shutil.copy(platform, tmp_path / "project" / "platform.toml")
    (tmp_path / "project" / "schedule.toml").write_text(without_units((together / "schedule.toml").read_text()))
    done = stc("estimate", tmp_path / "project", "--dies", "--json", "--cut", tmp_path / "cut.toml")
    said = json.loads(done.stdout)
    assert done.code == 0 and set(said["tasks"].values()) == {0, 1} and said["least_wires"] == sum(said["boundary_wires"])
    assert all(said["tasks"][task] == 0 for task in tasks if task.startswith(("load", "store")))
    words = ("--schedule", tmp_path / "cut.toml", "--platform", platform)
    done = stc("compile", LINEAR, *words, "--out", tmp_path / "out")
    assert done.code == 0 and "linear_relu.die0 on 0, linear_relu.die1 on 1" in done.stdout, done.stderr
    (kernel,) = read_manifest(tmp_path / "out").kernels
    assert {task: int(unit.name[-1]) for unit in kernel.units for task in unit.tasks} == said["tasks"]
    refused(stc("estimate", tmp_path / "project", "--dies", "--cut", tmp_path / "cut.toml"), "this file exists")
    refused(stc("estimate", together, "--dies", "--cut", tmp_path / "none.toml"), "all tasks have room on one die")
    refused(stc("estimate", together, "--cut", tmp_path / "none.toml"), "--cut without --dies; accepted: both")
    refused(stc("estimate", together, "--dies", "--all"), "--dies with --all or --profile, which are of loops")


def without_units(schedule: str) -> str:
    """As of a kernel that is one unit."""
    one = re.sub(r"\[stc\.(units|dies)\]\n([^\n\[]+\n)+", "", schedule)
    return one.replace('units = "memory"', 'units = "one"').replace('dies = "optimum"', 'dies = "unassigned"')


def test_groups_in_one_bitstream(tmp_path: Path, stc: Stc) -> None:
    words = ("compile", LINEAR, "--small", "--lanes", "16", "--fusion", "separate", "--platform", small_dies(tmp_path, 10), "--out")
    words = (*words, tmp_path / "out")
    accepted = "unchecked, together, bitstream-each or cards"
    assert stc(*words, "--groups", "apart").stderr == f"stc: error: groups is 'apart'; accepted: {accepted}\n"
    done = stc(*words, "--groups", "together")
    assert done.code == 2 and re.match(
        r"stc: error: --groups together: 2 group\(s\) in one bitstream take \d+ DSP of 24 \(\d+ too many\) that a plan may use of "
        r"[^;]+mine\.toml; accepted: a smaller --budget, [^\n]+\n$", done.stderr
    ), done.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("option", [("--dies", "optimum"), ("--groups", "together")])
def test_stages_of_a_whole_model_share_the_dies(option: tuple[str, str], tmp_path: Path, stc: Stc) -> None:
    """Each assigned alone would get a die that others have, too."""
    words = ("compile", "gpt2-tiny", "--stage", "model", "--small", "--units", "memory", *option, "--out", tmp_path / "out")
    refused(stc(*words), f"{' '.join(option)}: each stage would be looked at alone, and one binary has all of a whole model")
    assert not (tmp_path / "out").exists()
