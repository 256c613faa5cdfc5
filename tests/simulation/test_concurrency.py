"""Several commands at once on one folder: each waits for the other's build, and none takes the other's files for its own."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

pytestmark = pytest.mark.heavy

PROGRAM = """
import sys
from pathlib import Path
from stc.simulation.csim import csim
from stc.simulation.simulate import simulate
from stc.simulation.timing_table import SimulationOptions
what, folder = sys.argv[1], Path(sys.argv[2])
if what == "csim":
    result = csim(folder, optimisation=int(sys.argv[3]))
    print(result.outcome, result.passed)
else:
    result = simulate(folder, SimulationOptions(depth_error=float(sys.argv[3])), optimisation=0)
    print(result.values.outcome, result.ends)
"""


@pytest.fixture
def project(emitted: Callable[[str], Path], tmp_path: Path) -> Path:
    if shutil.which("g++") is None:
        pytest.skip("g++ is needed")
    return shutil.copytree(emitted("matmul"), tmp_path / "project", ignore=shutil.ignore_patterns("build"))


def start(*arguments: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", PROGRAM, *arguments]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ})


def test_three_builds_at_once(project: Path) -> None:
    """Two of the same program, at two levels of g++."""
    running = [start("csim", str(project), level) for level in ("0", "1", "0")]
    ended = [process.communicate() for process in running]
    assert [out.strip() for out, _ in ended] == ["finished True"] * 3, ended
    assert json.loads((project / "build" / "csim.json").read_text())["passed"]
    assert sorted(path.name for path in (project / "build").iterdir() if path.name.startswith(".")) == [".lock"]


def test_each_run_has_its_own_times(project: Path) -> None:
    """The depths that one run is told are not those of another one that goes on meanwhile."""
    factors = ("1", "50", "1", "50")
    alone = [start("simulate", str(project), factor).communicate()[0] for factor in factors[:2]]
    assert alone[0] != alone[1] and all(text.startswith("finished") for text in alone)
    together = [start("simulate", str(project), factor) for factor in factors]
    assert [process.communicate()[0] for process in together] == [alone[0], alone[1]] * 2
