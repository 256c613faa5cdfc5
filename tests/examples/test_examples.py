"""The examples run as their README says, and print what they promise."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
PROMISES = {
    "custom_module.py": ("gate.weight", "out: largest error", "other inputs agree: True"),
    "levels.sh": ("kernels before fusion: 2, after: 1", "dataflow.task @fc", "dataflow.task @act"),
    "own_pass.py": ("as compiled: FIFOs of", "deepened: FIFOs of", "agrees"),
}

pytestmark = pytest.mark.skipif(shutil.which("g++") is None, reason="g++ is needed")


@pytest.mark.parametrize("name", PROMISES)
def test_example(name: str, tmp_path: Path) -> None:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    command = [sys.executable] if name.endswith(".py") else ["bash"]
    done = subprocess.run(
        [*command, EXAMPLES / name, tmp_path / "out"],
        capture_output=True, text=True, check=False, env={**os.environ, "PATH": path},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    for promise in PROMISES[name]:
        assert promise in done.stdout
    assert f"`{'python ' if name.endswith('.py') else ''}examples/{name} FOLDER`" in (EXAMPLES / "README.md").read_text()


def test_every_example_is_tested() -> None:
    assert {path.name for path in EXAMPLES.iterdir() if path.suffix in (".py", ".sh")} == set(PROMISES)
