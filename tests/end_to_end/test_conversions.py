"""Short integers by adders: the emitted C++ has neither converters nor `rint`, and the values of the reference."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from stc.simulation.csim import csim
from stc.tools.compile import CompileRequest, compile_model
from stc_testing.commands import Stc, refused
from stc_testing.small import small_options

pytestmark = [pytest.mark.heavy, pytest.mark.skipif(shutil.which("g++") is None, reason="g++ is needed")]

LINEAR = """
import torch

def linear():
    return torch.nn.Linear(24, 10), (torch.randn(2, 24),)
"""


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> str:
    file = tmp_path_factory.mktemp("model") / "linear.py"
    file.write_text(LINEAR)
    return f"{file}:linear"


def test_rounded_and_converted_by_adding(source: str, tmp_path: Path) -> None:
    """On all input sets: zeros, tiny, huge."""
    options = small_options(conversions="adders", quantize="bits=4,group=8,activations=group")
    compile_model(CompileRequest(source, options=options), tmp_path / "out")
    kernel = (tmp_path / "out" / "kernel.cpp").read_text()
    assert "bits_of_float(" in kernel and "float_of_bits(" in kernel and "rint(" not in kernel
    result = csim(tmp_path / "out", optimisation=0)
    assert result.outcome == "finished" and result.passed


def test_another_word_is_refused(source: str, tmp_path: Path, stc: Stc) -> None:
    done = stc("compile", source, "--conversions", "luts", "--out", tmp_path / "out")
    refused(done, "conversions is 'luts'; accepted: operators or adders")
