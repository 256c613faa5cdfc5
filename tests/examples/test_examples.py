"""The examples run as their README says, and print what they promise."""

from __future__ import annotations

import os
import runpy
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from stc.dialects.context import make_context
from stc.transforms.linalg.recognize_quantization import Recognised, RecognizeQuantization
from stc_testing.small import small_options

EXAMPLES = Path(__file__).parents[2] / "examples"
PROMISES = {
    "custom_module.py": ("gate.weight", "out: largest error", "other inputs agree: True"),
    "levels.sh": ("kernels before fusion: 2, after: 1", "dataflow.task @fc", "dataflow.task @act"),
}
"""What each prints; an example in Python runs in this process, which has PyTorch already."""

pytestmark = [pytest.mark.heavy, pytest.mark.skipif(shutil.which("g++") is None, reason="g++ is needed")]


@pytest.mark.parametrize("name", PROMISES)
def test_example(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    command = [str(EXAMPLES / name), str(tmp_path / "out")]
    if name.endswith(".py"):
        monkeypatch.setattr("sys.argv", command)
        with pytest.raises(SystemExit) as ended:
            runpy.run_path(command[0], run_name="__main__")
        code, printed = ended.value.code, capsys.readouterr().out
    else:
        done = subprocess.run(["bash", *command], capture_output=True, text=True, check=False)
        code, printed = done.returncode, done.stdout + done.stderr
    assert code == 0, printed
    for promise in PROMISES[name]:
        assert promise in printed
    assert f"`{'python ' if name.endswith('.py') else ''}examples/{name} FOLDER`" in (EXAMPLES / "README.md").read_text()


def test_every_example_is_tested() -> None:
    examples = {path.name for path in EXAMPLES.iterdir() if path.suffix in (".py", ".sh")}
    assert examples == {*PROMISES, "own_pass.py", "own_search.py", "quantised_elsewhere.py"}


def test_a_search_of_ones_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """It improves on the default, and leaves a schedule of what it found, in as many lines as the documents say."""
    example = EXAMPLES / "own_search.py"
    assert "def climbed" in (text := example.read_text()) and len(text.partition('"""\n\n')[2].splitlines()) <= 30
    monkeypatch.chdir(EXAMPLES.parent)
    monkeypatch.setattr("sys.argv", [str(example), "examples/linear_relu.mlir", str(tmp_path / "found")])
    runpy.run_path(str(example), run_name="__main__")
    first, *better = capsys.readouterr().out.splitlines()
    assert first.startswith("default: ") and better and all("DSPs" in line for line in better)
    assert tomllib.loads((tmp_path / "found" / "schedule.toml").read_text())["stc"]["parallelism"]
    assert "`python examples/own_search.py examples/linear_relu.mlir FOLDER`" in (EXAMPLES / "README.md").read_text()


@pytest.mark.parametrize("factory", ["fake_quantised", "by_torchao"])
def test_models_quantised_elsewhere_become_integers(factory: str) -> None:
    """The factories that README names; what is compiled of such modules is tested in tests/end_to_end."""
    from stc.frontend.sources import load_model
    from stc.pipeline import part, stages, steps
    from stc.transforms.finding_pass import run_pass

    model, found = load_model(f"{EXAMPLES / 'quantised_elsewhere.py'}:{factory}"), None
    for step in part(steps(stages(small_options())), last=RecognizeQuantization.name):
        found = run_pass(step.one_pass, make_context(), model.module)
    assert isinstance(found, Recognised) and found.integers == ("0", "2") and not found.left
    assert f"`stc compile examples/quantised_elsewhere.py:{factory} " in (EXAMPLES / "README.md").read_text()


def _stc(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [Path(sys.executable).parent / "stc", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, "COLUMNS": "200"})


def test_the_foreign_design(tmp_path: Path) -> None:
    """As docs/foreign_designs.md says: cycles, and with too shallow a FIFO a deadlock that names its fix."""
    page = (EXAMPLES.parent / "docs" / "foreign_designs.md").read_text()
    design = shutil.copytree(EXAMPLES / "foreign", tmp_path / "design", ignore=shutil.ignore_patterns("build"))
    done = _stc("simulate", str(design))
    assert done.returncode == 0, done.stdout + done.stderr
    cycles, interval = "334 cycles", "one invocation per 263 cycles"
    assert done.stdout.startswith(cycles) and interval in done.stdout and "loop depths of design.toml" in done.stdout
    assert cycles in page and "263 cycles" in page and "`stc simulate examples/foreign`" in page
    assert "`stc simulate examples/foreign`" in (EXAMPLES / "README.md").read_text()

    (tmp_path / "depths.json").write_text('{"direct": 8}')
    stuck = _stc("simulate", str(design), "--depths", str(tmp_path / "depths.json"))
    assert stuck.returncode == 1
    assert "deadlock" in stuck.stdout and "set its depth to at least 64" in stuck.stdout
    explained = (EXAMPLES.parent / "docs" / "explanations.md").read_text().split("## Deadlocks")[1].split("\n## ")[0]
    shown = [line.strip() for line in explained.splitlines() if line.startswith("    ")]
    assert len(shown) > 5 and all(line in stuck.stdout for line in shown)
    assert "a depth of 64" in page


def test_wrong_usage_is_exit_code_2() -> None:
    done = subprocess.run([sys.executable, EXAMPLES / "custom_module.py"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (2, "usage: python examples/custom_module.py FOLDER\n")
    shell = subprocess.run(["bash", EXAMPLES / "levels.sh"], capture_output=True, text=True, check=False)
    assert shell.returncode == 2 and "usage" in shell.stderr
