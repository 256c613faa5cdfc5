"""Partial sums: the emitted C++ agrees with PyTorch at odd sizes, keeps rule 13, and takes fewer cycles than with single sums."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from stc.manifest.files import read_manifest
from stc.simulation.simulate import SimulationResult, simulate
from stc.tools.compile import CompileRequest, compile_model
from stc.transforms.stream.expand_partial_sums import ExpandPartialSums
from stc_testing.small import small_options

pytestmark = pytest.mark.heavy

MODEL = f"{Path(__file__).parent / 'odd_sums.py'}:factory"


def simulated(out: Path) -> SimulationResult:
    compile_model(CompileRequest(MODEL, options=small_options()), out)
    result = simulate(out, optimisation=0)
    assert result.passed, result.values.explanation
    return result


@pytest.mark.full
@pytest.mark.skipif(shutil.which("g++") is None, reason="g++ is needed")
def test_partial_sums_agree_and_are_faster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    partial = simulated(tmp_path / "partial")
    kernels = read_manifest(tmp_path / "partial").kernels
    slow = [loop for kernel in kernels for loop in kernel.schedule if "accumulation" in (loop.limit or "") and (loop.ii or 1) > 2]
    assert not slow
    monkeypatch.setattr(ExpandPartialSums, "apply", lambda self, ctx, op: None)
    single = simulated(tmp_path / "single")
    kernels = read_manifest(tmp_path / "single").kernels
    assert any("accumulation" in (loop.limit or "") and loop.ii == 7 for kernel in kernels for loop in kernel.schedule)
    assert partial.cycles is not None and single.cycles is not None
    assert partial.cycles < single.cycles
