"""A matrix-vector product multiplies a word of its weights in nearly every cycle: what is used once is consumed as it arrives."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from stc.manifest.files import read_manifest
from stc.simulation.simulate import simulate
from stc.tools.compile import CompileRequest, compile_model
from stc.transforms.stream.fuse_reads import FuseReads
from stc.transforms.stream.sink_reads import SinkReads
from stc_testing.small import small_options

pytestmark = [pytest.mark.heavy, pytest.mark.skipif(shutil.which("g++") is None, reason="g++ is needed")]

MODEL = f"{Path(__file__).parent / 'modules.py'}:matrix_vector"


def words_and_cycles(out: Path, quantize: str) -> tuple[int, int]:
    """Words of 512 bits of the weights, and the cycles that the task is busy which takes most of its time (executed)."""
    compile_model(CompileRequest(MODEL, options=small_options(quantize=quantize, tile=64)), out)
    result = simulate(out, optimisation=0)
    assert result.passed, result.values.explanation
    ports = [port for kernel in read_manifest(out).kernels for port in kernel.ports if port.kind == "parameter"]
    return max(port.bytes for port in ports) // 64, max(task.busy for task in result.tasks)


LONGEST = {"bits=4": 1.15, "": 3.2}
"""Cycles for a word at most: each sum of floats comes up again after four words here, and three cycles for each are a sum's ten."""


@pytest.mark.parametrize("quantize", ["", pytest.param("bits=4", marks=pytest.mark.full)])
def test_a_word_each_cycle(quantize: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    words, cycles = words_and_cycles(tmp_path / "fused", quantize)
    assert words < cycles < LONGEST[quantize] * words
    monkeypatch.setattr(FuseReads, "apply", lambda self, ctx, op: None)
    monkeypatch.setattr(SinkReads, "apply", lambda self, ctx, op: None)
    words, slower = words_and_cycles(tmp_path / "apart", quantize)
    assert slower > 2 * words and slower > 1.5 * cycles
