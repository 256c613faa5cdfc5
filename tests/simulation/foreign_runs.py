"""Runs of the designs in tests/simulation/foreign, copied to a folder of their own first."""

from __future__ import annotations

import shutil
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

import pytest

from stc.simulation.simulate import SimulationResult, simulate

DESIGNS = Path(__file__).parent / "foreign"
UNOPTIMISED = 0


def copy_design(name: str, folder: Path) -> Path:
    """A copy of design `name` in `folder`."""
    target = folder / name
    shutil.copytree(DESIGNS / name, target, ignore=shutil.ignore_patterns("build"))
    return target


@cache
def run_design(name: str) -> SimulationResult:
    """Design `name`, run once with its design file; its testbench must have passed."""
    if shutil.which("g++") is None:
        pytest.skip("g++ is needed")
    result = simulate(copy_design(name, Path(mkdtemp())), optimisation=UNOPTIMISED)
    assert result.passed, result.values.explanation
    return result


def ends(name: str) -> list[int]:
    """The cycle in which each invocation of a design ended."""
    (cycles,) = run_design(name).ends.values()
    return list(cycles)


def calls(name: str, task: str) -> list[tuple[int, int]]:
    """Begin and end of every call of a task."""
    return list(next(t.calls for t in run_design(name).tasks if t.name == task))


def loop(iterations: int, interval: int, depth: int) -> int:
    """Cycles of a pipelined loop that never waits: from its first iteration to the last one's leaving the pipeline."""
    return interval * (iterations - 1) + depth + 1
