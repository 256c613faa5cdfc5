"""The example passes: one loaded from its file, one from a package that looks installed, each run as its first lines say; the
second in a process of its own, whose packages are others."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
import tomllib
from contextlib import chdir
from pathlib import Path

import pytest
from typer.testing import CliRunner

from stc.tools.stc import app

pytestmark = pytest.mark.heavy

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
OPTIONS = ["--tile", "4", "--lanes", "4", "--check-inputs", "example"]


def _command(text: str) -> list[str]:
    """The words of the command that a file's first lines give, up to the folder."""
    (found,) = re.findall(r"stc (compile .*) FOLDER", text)
    return shlex.split(found)


def _depths(words: list[str], out: Path, path: str = "") -> list[int]:
    """The depths of the FIFOs of what `stc` makes of a command line; `path`: where more packages are."""
    arguments = [*words, str(out), *OPTIONS]
    if path:
        done = subprocess.run(
            [Path(sys.executable).parent / "stc", *arguments],
            capture_output=True, text=True, check=False, cwd=ROOT, env={**os.environ, "PYTHONPATH": path},
        )
        assert done.returncode == 0, done.stdout + done.stderr
    else:
        with chdir(ROOT):
            ended = CliRunner().invoke(app, arguments)
        assert ended.exit_code == 0, ended.output + repr(ended.exception)
    kernels = json.loads((out / "manifest.json").read_text())["kernels"]
    return [stream["depth"] for kernel in kernels for stream in kernel["streams"]]


@pytest.fixture(scope="module")
def as_compiled(tmp_path_factory: pytest.TempPathFactory) -> list[int]:
    return _depths(["compile", "examples/linear_relu.mlir", "--out"], tmp_path_factory.mktemp("plain") / "plain")


def test_a_pass_from_a_file(tmp_path: Path, as_compiled: list[int]) -> None:
    words = _command((EXAMPLES / "own_pass.py").read_text())
    assert words[-1] == "--out" and "--load" in words
    assert _depths(words, tmp_path / "own") == [2 * depth for depth in as_compiled]
    assert f"`{shlex.join(['stc', *words])} FOLDER" in (EXAMPLES / "README.md").read_text()


def test_a_pass_from_an_installed_package(tmp_path: Path, as_compiled: list[int]) -> None:
    project = (EXAMPLES / "own_package" / "pyproject.toml").read_text()
    installed = _installed(tomllib.loads(project), tmp_path / "site")
    path = os.pathsep.join([str(installed), str(EXAMPLES / "own_package")])
    depths = _depths(_command(project), tmp_path / "own", path)
    assert depths == [max(8, depth) for depth in as_compiled] and depths
    described = subprocess.run(
        [Path(sys.executable).parent / "stc-opt", "--help", "raise-fifos"],
        capture_output=True, text=True, check=False, env={**os.environ, "PYTHONPATH": path},
    )
    assert described.stdout.startswith("raise-fifos{least: int = 8}\n    Give every FIFO at least `least` tokens.")


def _installed(project: dict[str, dict[str, dict[str, dict[str, str]]]], site: Path) -> Path:
    """What an editable installation of the project leaves: its metadata, with the entry points."""
    metadata = site / "own_package-1.0.dist-info"
    metadata.mkdir(parents=True)
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {project['project']['name']}\nVersion: 1.0\n")
    groups = project["project"]["entry-points"]
    lines = [line for group, entries in groups.items() for line in (f"[{group}]", *(f"{k} = {v}" for k, v in entries.items()))]
    (metadata / "entry_points.txt").write_text("\n".join(lines) + "\n")
    return site
