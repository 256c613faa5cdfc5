"""The removal test: random weights that can fail. Without any one parameter, the mask or the scale, the check must not pass."""

from __future__ import annotations

import json
import math
import shutil
import subprocess
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import pytest
import torch
from projects import Compile
from xdsl.dialects import arith
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, FloatAttr, ModuleOp

from stc.codegen.project import emit_project
from stc.dialects.context import make_context
from stc.frontend.sources import load_model
from stc.pipeline import run_stages, stages
from stc.simulation.csim import csim
from stc_testing.small import small_options

pytestmark = pytest.mark.heavy

MARGIN = 10
"""By how much each removal must exceed the tolerance."""

TINY_HEAD = 16
PARAMETERS = tuple(
    f"{layer}_{kind}"
    for layer in ("ln_1", "attn_c_attn", "attn_c_proj", "ln_2", "mlp_c_fc", "mlp_c_proj")
    for kind in ("weight", "bias")
)


def removed(name: str, array: np.ndarray) -> np.ndarray:
    """What a parameter is without its effect: gains of a norm are 1, everything else 0."""
    return np.ones_like(array) if name.startswith("ln_") and name.endswith("weight") else np.zeros_like(array)


@pytest.fixture
def copy(compiled: Compile, tmp_path: Path) -> Path:
    """The tiny block, already built, to be damaged."""
    project = compiled("gpt2-tiny")
    assert project.result.passed
    return shutil.copytree(project.folder, tmp_path / "copy")


def excess(folder: Path) -> float:
    """Largest error over the tolerance, by running the binary that is there."""
    done = subprocess.run([folder / "build" / "csim", folder], capture_output=True, text=True, check=False)
    report = json.loads((folder / "build" / "csim.json").read_text())
    (output,) = report["outputs"]
    assert done.returncode == (0 if report["passed"] else 1) and report["outcome"] == "finished"
    if output["nan_mismatches"]:
        return math.inf
    return output["max_abs_error"] / (output["tolerance"] * output["max_abs_reference"])


def test_the_design_itself_passes(copy: Path) -> None:
    assert excess(copy) < 0.1


def test_every_parameter_is_listed(copy: Path) -> None:
    assert sorted(path.stem for path in (copy / "parameters").iterdir()) == sorted(PARAMETERS)


@pytest.mark.parametrize("name", PARAMETERS)
def test_each_parameter_matters(copy: Path, name: str) -> None:
    path = copy / "parameters" / f"{name}.bin"
    path.write_bytes(removed(name, np.frombuffer(path.read_bytes(), np.float32)).tobytes())
    assert excess(copy) > MARGIN


def test_the_mask_matters(copy: Path) -> None:
    path = copy / "golden" / "example" / "mask.bin"
    path.write_bytes(bytes(path.stat().st_size))
    assert excess(copy) > MARGIN


@pytest.mark.full
def test_the_attention_scale_matters(tmp_path: Path) -> None:
    """The scale is a constant of the design: it is replaced in linalg, and the result compiled."""
    model = load_model("gpt2-tiny", seq=8)
    assert replace_constant(model.module, (math.sqrt(TINY_HEAD), 1 / math.sqrt(TINY_HEAD)), 1.0) == 1
    options = small_options(kernel_name="gpt2_tiny")
    run_stages(model.module, make_context(), stages(options))
    emit_project(model.module, model, tmp_path / "out", asdict(options), {})
    result = csim(tmp_path / "out", optimisation=0)
    assert result.outcome == "finished" and not result.passed
    assert excess(tmp_path / "out") > MARGIN


def replace_constant(module: ModuleOp, wanted: tuple[float, ...], value: float) -> int:
    """Replace scalar constants that equal one of `wanted`; how many there were."""
    count = 0
    for op in module.walk():
        if isinstance(op, arith.ConstantOp) and isinstance(op.value, FloatAttr) and op.value.value.data in wanted:
            op.properties["value"] = FloatAttr(value, op.value.type)
            count += 1
        assert not (isinstance(op, arith.ConstantOp) and isinstance(op.value, DenseIntOrFPElementsAttr)), "look into it too"
    return count


# At full size, on PyTorch alone: the design agrees with PyTorch to 1e-4 there, so what PyTorch loses the design would lose.


@dataclass(frozen=True)
class Layer:
    """A full-size layer with its inputs and the output of the undamaged module."""

    module: torch.nn.Module
    inputs: dict[str, torch.Tensor]
    golden: torch.Tensor

    def loss(self, **inputs: torch.Tensor) -> float:
        """Error of the module as it is now, in tolerances of the larger magnitude: the one that is harder to exceed."""
        with torch.no_grad():
            error = (self.module(**{**self.inputs, **inputs}) - self.golden).abs().max()
        magnitude = max(self.golden.abs().max(), (self.golden - self.inputs["x"]).abs().max())
        return float(error / (1e-4 * magnitude))


@pytest.fixture(scope="module")
def medium() -> Layer:
    from stc.frontend.families import build_decoder_layer
    from stc.frontend.presets import find_preset

    preset = find_preset("gpt2-medium")
    built = build_decoder_layer(preset.configuration(), layer=0, seq=32, seed=0, where=preset.name)
    with torch.no_grad():
        return Layer(built.module, built.inputs, built.module(**built.inputs))


@pytest.mark.parametrize("name", PARAMETERS)
def test_each_parameter_matters_at_full_size(medium: Layer, name: str) -> None:
    named = {path.replace(".", "_"): parameter for path, parameter in medium.module.named_parameters()}
    assert sorted(named) == sorted(PARAMETERS)
    kept = named[name].detach().clone()
    with torch.no_grad():
        named[name].copy_(torch.from_numpy(removed(name, kept.numpy())))
        loss = medium.loss()
        named[name].copy_(kept)
    assert loss > MARGIN
    assert medium.loss() == 0


def test_the_mask_matters_at_full_size(medium: Layer) -> None:
    assert medium.loss(mask=torch.zeros_like(medium.inputs["mask"])) > MARGIN


def test_the_scale_matters_at_full_size(medium: Layer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(medium.module.get_submodule("attn"), "scaling", 1.0)
    assert medium.loss() > MARGIN
