"""A model as a problem, and `stc explore` on it: what is estimated, simulated, written and refused."""

from __future__ import annotations

import json
import random
import shutil
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

import stc
from stc.diagnostics import CompileError
from stc.exploration.problem import OF_STAGES, CannotEvaluate, Point, Problem
from stc.exploration.study import Exploration
from stc.platforms.platform import load_platform
from stc.tools import explored_model
from stc.tools.explored_model import ExploredModel
from stc.tools.stc import app
from stc_testing.drawn import seeds

pytestmark = pytest.mark.heavy

ROOT = Path(__file__).parents[2]
LINEAR = str(ROOT / "examples" / "linear_relu.mlir")
sys.path.insert(0, str(ROOT / "tests" / "tools"))


@pytest.fixture(scope="module")
def problem() -> ExploredModel:
    found = stc.explored_model(LINEAR)
    assert isinstance(found, ExploredModel)
    return found


def schedule_of(problem: Problem, point: Point) -> str:
    (text,) = problem.schedules(point).values()
    return text


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, list(arguments))


def error_of(result: Result) -> CompileError:
    assert isinstance(result.exception, CompileError), result.output
    return result.exception


def by_lanes(problem: Problem, seed: int) -> Point:
    drawn = random.Random(seed)
    return {**problem.default(), **{choice.name: drawn.choice(choice.values) for choice in problem.space if choice.is_estimated}}


def test_the_default_is_what_a_compile_decides(problem: Problem, tmp_path: Path) -> None:
    done = run("compile", LINEAR, "--out", str(tmp_path / "design"))
    assert done.exit_code == 0, done.output
    compiled = tomllib.loads((tmp_path / "design" / "schedule.toml").read_text())
    own = tomllib.loads(schedule_of(problem, problem.default()))
    assert own == {**compiled, "stc": {name: compiled["stc"][name] for name in ("options", "parallelism")}}


def test_the_default_is_among_the_seeds_and_fits(problem: Problem) -> None:
    begun = problem.seeds()
    assert begun[0] == problem.default() and len(begun) >= 3
    assert all(not problem.evaluate(point).beyond for point in begun)
    assert len({problem.evaluate(point).dsp for point in begun}) > 1


def test_an_estimate_is_near_the_design(problem: Problem) -> None:
    """Of one point of each computation at once: bytes moved are counted in both, and the model knows all that it takes."""
    ones = {choice.name: 1 for choice in problem.space if choice.name.endswith((".lanes", ".copies", ".rows"))}
    slow = {**problem.default(), **{name: value for name, value in ones.items() if not name.startswith("options.")}}
    estimated, simulated = problem.evaluate(slow), problem.evaluate(slow, simulate=True)
    assert (estimated.origin, simulated.origin) == ("estimated", "simulated")
    assert estimated.bytes_moved == simulated.bytes_moved
    assert estimated.dsp == pytest.approx(simulated.dsp, rel=0.2)
    assert estimated.cycles == pytest.approx(simulated.cycles, rel=0.2)
    assert estimated.cycles > problem.evaluate(problem.default()).cycles


@pytest.mark.parametrize("seed", seeds(1, first=3))
def test_any_point_is_a_design(problem: Problem, seed: int) -> None:
    """Its C++ is built and run, and computes what it should, or one sentence says why there is none."""
    point = by_lanes(problem, seed)
    found = problem.evaluate(point, simulate=True)
    assert found.origin == "simulated" and found.cycles > 0
    assert tomllib.loads(schedule_of(problem, point))["stc"]["options"]["tile"] == point["options.tile"]


def test_what_a_user_says_is_no_choice() -> None:
    fixed = stc.explored_model(LINEAR, tile=8)
    assert "options.tile" not in fixed.default()
    assert tomllib.loads(schedule_of(fixed, fixed.default()))["stc"]["options"]["tile"] == 8


def test_designs_of_another_tile_are_of_another_search(tmp_path: Path) -> None:
    """What stands on the command line holds for all designs of a storage."""
    Exploration(stc.explored_model(LINEAR, tile=8), str(tmp_path / "trials.journal")).estimate(1)
    with pytest.raises(CompileError, match=r"its tile \(8\) is not that asked for \(16\)"):
        Exploration(stc.explored_model(LINEAR, tile=16), str(tmp_path / "trials.journal"))


def test_a_search_is_of_what_files_hold(problem: ExploredModel, tmp_path: Path) -> None:
    """Not of their names: another file at the same path is another problem, the same one at another path is the same."""
    text, platform = Path(LINEAR).read_text(), load_platform("u55c").text.replace('name = "u55c"', 'name = "mine"', 1)
    assert 'name = "mine"' in platform
    model = tmp_path / "model.mlir"

    def identity(linear: str, device: str, name: str) -> dict[str, Any]:
        model.write_text(linear)
        (tmp_path / name).write_text(device)
        return dict(stc.explored_model(model, tile=8, platform=str(tmp_path / name)).identity)

    first = identity(text, platform, "one.toml")
    assert identity(text, platform, "two.toml") == first
    assert identity(text, platform + "# changed\n", "one.toml") != first
    other = identity(_with_other_constant(text), platform, "one.toml")
    assert {name for name in first if other[name] != first[name]} == {"module_sha256"}
    assert {"run_time_sizes", "stc_version"} <= problem.identity.keys()


def _with_other_constant(text: str) -> str:
    changed = text.replace("0.000000e+00", "1.000000e-01").replace(" 0.0 ", " 0.1 ")
    assert changed != text
    return changed


def test_what_is_missing_here_fails_no_design(problem: ExploredModel, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patched:
        patched.setenv("CXX", "no-such-compiler")
        with pytest.raises(CannotEvaluate, match=r"^no design can be simulated: C\+\+ compiler 'no-such-compiler' not found"):
            problem.evaluate(problem.default(), simulate=True)
        assert "C++ compiler 'no-such-compiler' not found" in str(error_of(run("explore", LINEAR, "--simulate", "1", "--out", "x")))
    usage = shutil.disk_usage(".")._replace(free=0)
    monkeypatch.setattr(explored_model.shutil, "disk_usage", lambda _: usage)
    monkeypatch.setattr(explored_model, "compile_from", _fails)
    with pytest.raises(CannotEvaluate, match="no design can be simulated: the disk is full"):
        problem.evaluate(problem.default(), simulate=True)


def test_refusals_name_no_file_that_is_gone(problem: ExploredModel, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(explored_model, "compile_from", _fails)
    with pytest.raises(CompileError, match=r"^design/kernel.cpp:3: wrong design.toml; accepted: another than design.toml"):
        problem.evaluate(problem.default(), simulate=True)


def _fails(start: Any, folder: Path, *_: Any, **__: Any) -> None:
    given = folder.with_name("design.toml")
    assert given.is_file()
    raise CompileError(f"wrong {given}", where=f"{folder}/kernel.cpp:3", accepted=f"another than {given}")


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"budget": "small"}, "--budget small: lanes and copies are not searched; accepted: plan, or amounts"),
        ({"layers": 2, "units": "memory"}, "--layers 2"),
        ({"propagate_orders": False}, "--uniform-tiles leaves no orders of loops to explore"),
    ],
)
def test_models_that_leave_nothing_to_explore(options: dict[str, Any], complaint: str) -> None:
    with pytest.raises(CompileError, match=f"^{complaint}"):
        stc.explored_model(LINEAR, **options)


def test_a_folder_of_fronts(tmp_path: Path) -> None:
    """Written, gone on with, refused for another model, and looked at."""
    out = tmp_path / "explored"
    done = run("explore", LINEAR, "--trials", "12", "--simulate", "1", "--search-seed", "1", "--out", str(out))
    assert done.exit_code == 0, done.output
    assert "12 estimated designs" in done.stdout and "the default" in done.stdout and "per minute" in done.stdout
    found = json.loads((out / "front.json").read_text())
    for name in found["objectives"]:
        assert min(design[name] for design in found["estimated"]["front"]) <= found["estimated"]["default"][name]
    fewest = min(found["estimated"]["front"], key=lambda design: design["dsp"])
    made = run("compile", LINEAR, "--schedule", str(out / fewest["schedule"]), "--out", str(tmp_path / "design"))
    assert made.exit_code == 0, made.output
    said = tomllib.loads((tmp_path / "design" / "schedule.toml").read_text())["stc"]
    assert said["parallelism"] == tomllib.loads((out / fewest["schedule"]).read_text())["stc"]["parallelism"]
    (simulated,) = found["simulated"]["front"]
    assert simulated["origin"] == "simulated" and (out / simulated["schedule"]).is_file()

    again = run("explore", LINEAR, "--trials", "12", "--simulate", "1", "--out", str(out))
    assert again.exit_code == 0 and "per minute" not in again.stdout
    assert json.loads((out / "front.json").read_text()) == found
    before = (out / "trials.journal").read_bytes()
    other = error_of(run("explore", LINEAR, "--budget", "dsp=2000", "--trials", "20", "--out", str(out)))
    assert "trials of another problem: its budget (plan) is not that asked for (dsp=2000)" in str(other)
    assert (out / "trials.journal").read_bytes().startswith(before)
    _look_at(out / "index.html", tmp_path, len(found["estimated"]["front"]))


def _look_at(page: Path, scratch: Path, designs: int) -> None:
    from browser import TELL, browse, told

    script = TELL + "tell([...document.querySelectorAll('.chart')].map((one) => one.querySelectorAll('.point').length));"
    shown = browse(page, scratch, script=script)
    assert not shown.console and not shown.requested
    counts = told(shown)
    assert isinstance(counts, list) and len(counts) == 10 and all(count >= 2 for count in counts)
    rows = [each for each in shown.elements if each.attributes.get("id", "").startswith("estimated-design-")]
    assert len(rows) == designs
    linked = [each.attributes["href"] for each in shown.elements if "toml" in each.attributes.get("href", "")]
    assert len(linked) > designs and all((page.parent / path).is_file() for path in linked)


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ((), "there is no --out; accepted: --out DIR, or --worker"),
        (("--worker",), "--worker without --storage"),
        (("--worker", "--storage", "x", "--out", "y"), "--worker with --out"),
        (("--worker", "--storage", "{folder}/none.journal"), "there is no such journal to join"),
        (("--out", "{folder}"), "{folder}: it is in use; accepted: a new or empty folder, or one of an exploration"),
    ],
)
def test_wrong_folders_and_storages(arguments: tuple[str, ...], complaint: str, tmp_path: Path) -> None:
    (tmp_path / "kept").write_text("mine")
    given = [argument.format(folder=tmp_path) for argument in arguments]
    assert complaint.format(folder=tmp_path) in str(error_of(run("explore", LINEAR, *given)))
    assert [path.name for path in tmp_path.iterdir()] == ["kept"]


def test_stages_of_a_model_share_the_budget(tmp_path: Path) -> None:
    options = ("--stage", "model", "--max-seq", "7", "--rows", "3")
    done = run("explore", "gpt2-tiny", *options, "--trials", "9", "--search-seed", "1", "--out", str(tmp_path))
    assert done.exit_code == 0, done.output
    found = json.loads((tmp_path / "front.json").read_text())
    assert list(found["objectives"]) == list(OF_STAGES) and found["estimated"]["designs"] == 9
    default, front = found["estimated"]["default"], found["estimated"]["front"]
    for name in OF_STAGES:
        assert min(each[name] for each in front) <= default[name]
    assert default["first_token"] > default["cycles"]  # three tokens at once, the same head; of others stages differ more
    for each in front:
        written = {path.parent.name for path in (tmp_path / each["schedule"]).glob("*/schedule.toml")}
        assert written == {"prefill", "decode", "head"}


def test_a_schedule_that_does_not_fit(problem: Problem, tmp_path: Path) -> None:
    """Of a point, within a budget that its design is beyond: one sentence, and no folder."""
    path = tmp_path / "schedule.toml"
    path.write_text(schedule_of(problem, problem.default()))
    refused = run("compile", LINEAR, "--schedule", str(path), "--budget", "dsp=40", "--out", str(tmp_path / "design"))
    message = str(error_of(refused))
    assert message.startswith(f"{path}: the design takes") and "of 40 within --budget dsp=40" in message
    assert not (tmp_path / "design").exists()
