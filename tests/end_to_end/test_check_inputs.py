"""`--check` on several draws of inputs: an epsilon that was lost passes on the example and shows on others."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from test_removal import replace_constant
from typer.testing import CliRunner

from stc.frontend.exported import ExportedModel
from stc.tools import compile as compile_module
from stc.tools.stc import app

MODULES = """import torch
def norm():
    return torch.nn.RMSNorm(7, eps=2e-6), (torch.randn(3, 7),)
"""


@pytest.fixture
def without_epsilon(monkeypatch: pytest.MonkeyPatch) -> None:
    """The front end loses every epsilon of 2e-6."""
    load = compile_module.load

    def faulty(request: compile_module.CompileRequest) -> ExportedModel:
        model = load(request)
        assert replace_constant(model.module, (2e-6,), 0.0) == 1
        return model

    monkeypatch.setattr(compile_module, "load", faulty)


def test_a_lost_epsilon_fails_on_zeros_and_tiny(tmp_path: Path, without_epsilon: None) -> None:
    (tmp_path / "modules.py").write_text(MODULES)
    out = tmp_path / "out"
    done = CliRunner().invoke(app, ["compile", f"{tmp_path}/modules.py:norm", "--out", str(out), "--check"])
    assert done.exit_code == 1, done.output
    assert "out[0, 0] on zeros: got" in done.output and "expected 0, allowed error 0; 21 of 21 entries are wrong" in done.output
    check = json.loads((out / "report.json").read_text())["check"]
    verdicts = {draw["name"]: draw["passed"] for draw in check["draws"]}
    assert verdicts == {"example": True, "draw": True, "zeros": False, "tiny": False, "huge": True}
    again = CliRunner().invoke(app, ["csim", str(out), "--inputs", "huge,example", "--json"])
    assert again.exit_code == 0 and [draw["name"] for draw in json.loads(again.output)["draws"]] == ["huge", "example"]
    assert json.loads(again.output)["cached"], "another draw needs no other program"
    assert CliRunner().invoke(app, ["csim", str(out), "--inputs", "zeros"]).exit_code == 1


def test_outputs_whose_names_meet_after_cleaning(tmp_path: Path) -> None:
    """Each has a name and files of its own, and none takes those of an input."""
    (tmp_path / "names.py").write_text("""import torch
class Names(torch.nn.Module):
    def forward(self, x):
        return {"a b": x + 1, "a_b": x * 2, "a-b": x - 3, "x": x * 5}
def f():
    return Names(), (torch.randn(3, 4),)
""")
    compile_module.compile_model(compile_module.CompileRequest(f"{tmp_path}/names.py:f"), tmp_path / "out")
    golden = {path.name: np.fromfile(path, np.float32) for path in (tmp_path / "out" / "golden" / "draw").glob("*.bin")}
    x = golden["x.bin"]
    for name, expected in (("a_b", x + 1), ("a_b2", x * 2), ("a_b3", x - 3), ("x2", x * 5)):
        assert np.array_equal(golden[f"{name}.bin"], expected), name
