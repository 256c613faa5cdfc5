"""`stc.compile` from Python: the design is called like the module, checked, simulated, looked at."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

import stc
from stc.api import By
from stc.diagnostics import CompileError

pytestmark = pytest.mark.heavy


class Gate(nn.Module):
    """Two results in a dictionary and a constant, one optional input."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(6, 10)

    def forward(self, x: torch.Tensor, scale: torch.Tensor, flag: None = None) -> dict[str, object]:
        h = self.linear(x)
        return {"gate": (torch.sigmoid(h), h * scale), "flag": flag}


@pytest.fixture(scope="module")
def module() -> Gate:
    torch.manual_seed(0)
    return Gate()


@pytest.fixture(scope="module")
def design(module: Gate, tmp_path_factory: pytest.TempPathFactory) -> stc.Design:
    inputs = (torch.randn(3, 6), torch.randn(10))
    return stc.compile(module, inputs, out=tmp_path_factory.mktemp("api") / "gate", tile=4, lanes=2, budget="small")


@pytest.mark.parametrize("by", ["csim", "executor"])
def test_it_is_called_like_the_module(module: Gate, design: stc.Design, by: By) -> None:
    x, scale = torch.randn(3, 6), torch.randn(10)
    expected = module(x, scale)
    for found in (design.run(x, scale, by=by), design.run(x, scale=scale, by=by), *([design(x, scale)] if by == "csim" else [])):
        assert found.keys() == expected.keys() and found["flag"] is None and isinstance(found["gate"], tuple)
        for one, other in zip(found["gate"], expected["gate"], strict=True):
            torch.testing.assert_close(one, other.detach(), rtol=1e-5, atol=1e-5)


def test_it_is_checked_simulated_and_reported(design: stc.Design) -> None:
    assert design.check().passed
    cycles, unbounded = design.simulate().cycles, design.simulate(unbounded=True).cycles
    assert cycles is not None and unbounded is not None and 0 < unbounded <= cycles
    report = design.report()
    assert report["model"] == "gate" and report["groups"] == 1
    assert (design.folder / "schedule.toml").is_file()


def test_the_ir_of_any_level(design: stc.Design) -> None:
    assert "linalg.matmul" in design.ir("input")
    assert design.ir("linalg-tiling") == design.ir("tile-linalg") and "scf.for" in design.ir("tile-linalg")
    assert "dataflow.kernel @gate" in design.ir("kernel-fusion")
    with pytest.raises(CompileError, match="kernel-fusoin"):
        design.ir("kernel-fusoin")
    with pytest.raises(CompileError, match="level is 3; accepted: the name of a pass or a stage, or 'input'"):
        design.ir(3)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ((torch.zeros(3, 7), torch.zeros(10)), r"input x is a tensor \(3, 7\) of torch.float32; accepted: x: \(3, 6\) "),
        ((torch.zeros(3, 6, dtype=torch.float64), torch.zeros(10)), r"input x is a tensor \(3, 6\) of torch.float64"),
        ((torch.zeros(3, 6),), "the arguments do not fit forward: missing a required argument: 'scale'"),
        ((torch.zeros(3, 6), 2.0), "input scale is 2.0"),
        ((torch.zeros(3, 6), torch.zeros(10), torch.zeros(1)), "the design was compiled without input flag"),
    ],
)
def test_other_arguments_are_refused(design: stc.Design, arguments: tuple[object, ...], complaint: str) -> None:
    with pytest.raises(CompileError, match=complaint):
        design(*arguments)


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"tiles": 4}, "there is no option 'tiles', did you mean 'tile'"),
        ({"tile": "4"}, "option 'tile' is '4'; accepted: a value of type int"),
        ({"tile": 0}, "tile is 0; accepted: at least 1"),
        ({"fusion": "greed"}, "unknown fusion strategy 'greed'"),
    ],
)
def test_wrong_options(module: Gate, options: dict[str, Any], complaint: str, tmp_path: Path) -> None:
    with pytest.raises(CompileError, match=complaint):
        stc.compile(module, (torch.randn(3, 6), torch.randn(10)), out=tmp_path / "out", **options)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("module", "inputs", "complaint"),
    [
        (nn.ReLU, (torch.zeros(3),), "module is <class .*ReLU'>; accepted: a torch.nn.Module, made"),
        (nn.ReLU(), torch.zeros(1, 6), "inputs are a Tensor; accepted: a sequence or mapping of tensors"),
        (nn.ReLU(), None, "inputs are a NoneType"),
    ],
)
def test_what_is_no_module_or_no_inputs(module: Any, inputs: Any, complaint: str, tmp_path: Path) -> None:
    with pytest.raises(CompileError, match=complaint):
        stc.compile(module, inputs, out=tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_what_is_no_folder(module: Gate) -> None:
    with pytest.raises(CompileError, match="out is 3; accepted: the path of a folder"):
        stc.compile(module, (torch.randn(3, 6), torch.randn(10)), out=3)  # type: ignore[arg-type]


def test_a_folder_of_its_own_goes_with_the_design() -> None:
    design = stc.compile(nn.ReLU(), {"input": torch.randn(4, 4)}, check_inputs=["example"], budget="small")
    folder = design.folder
    value = torch.randn(4, 4)
    torch.testing.assert_close(design.run(value, by="executor"), value.relu())
    assert folder.is_dir()
    del design
    assert not folder.exists()


def test_importing_stc_imports_nothing_else() -> None:
    code = "import sys, stc; print(sorted(name for name in sys.modules if name.split('.')[0] in ('torch', 'xdsl', 'numpy')))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
    with pytest.raises(AttributeError, match="module 'stc' has no attribute 'Compile'"):
        stc.Compile  # noqa: B018
