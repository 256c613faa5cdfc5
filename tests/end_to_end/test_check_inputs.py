"""`--check` on several draws of inputs: an epsilon that was lost passes on the example and shows on others."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from test_removal import replace_constant
from typer.testing import CliRunner

from stc.frontend.exported import ExportedModel
from stc.tools import compile as compile_module
from stc.tools import start
from stc.tools.stc import app
from stc_testing.small import small_options

pytestmark = pytest.mark.heavy

MODULES = """import torch
def norm():
    return torch.nn.RMSNorm(7, eps=2e-6), (torch.randn(3, 7),)
class Cancels(torch.nn.Module):
    def forward(self, x):
        return (x - x.mean(-1, keepdim=True)).sum(-1, keepdim=True) * 1e3, x * 2
def cancels():
    return Cancels(), (torch.randn(3, 33),)
class Extrema(torch.nn.Module):
    def forward(self, x):
        return x.argmax(-1), x.amin(-1), torch.nn.functional.relu6(x), torch.fmax(x, 2 * x - 1), x.softmax(-1)
def extrema():
    return Extrema(), (torch.randn(6, 4),)
class Shifted(Cancels):
    def forward(self, x):
        return tuple(out + 1e-5 for out in super().forward(x))
def shifted():
    return Shifted(), (torch.randn(3, 33),)
class Truth(torch.nn.Module):
    def forward(self, x, mask):
        return x + mask
def truth():
    return Truth(), (torch.randn(3, 4), torch.tensor([True, False, True, True]))
"""


@pytest.fixture
def without_epsilon(monkeypatch: pytest.MonkeyPatch) -> None:
    """The front end loses every epsilon of 2e-6."""
    load = start.load

    def faulty(request: compile_module.CompileRequest) -> ExportedModel:
        model = load(request)
        assert replace_constant(model.module, (2e-6,), 0.0) == 1
        return model

    monkeypatch.setattr(start, "load", faulty)


def test_a_lost_epsilon_fails_on_zeros_and_tiny(tmp_path: Path, without_epsilon: None) -> None:
    (tmp_path / "modules.py").write_text(MODULES)
    out = tmp_path / "out"
    done = CliRunner().invoke(app, ["compile", "--small", f"{tmp_path}/modules.py:norm", "--out", str(out), "--check"])
    assert done.exit_code == 1, done.output
    assert "out[0, 0] on zeros: got" in done.output and "expected 0, allowed error 0; 21 of 21 entries are wrong" in done.output
    check = json.loads((out / "report.json").read_text())["check"]
    verdicts = {draw["name"]: draw["passed"] for draw in check["draws"]}
    assert verdicts == {"example": True, "draw": True, "zeros": False, "tiny": False, "huge": True}
    again = CliRunner().invoke(app, ["csim", str(out), "--inputs", "huge,example", "--json"])
    assert again.exit_code == 0 and [draw["name"] for draw in json.loads(again.output)["draws"]] == ["huge", "example"]
    assert json.loads(again.output)["cached"], "another draw needs no other program"
    assert CliRunner().invoke(app, ["csim", str(out), "--inputs", "zeros"]).exit_code == 1


def test_rounding_noise_does_not_pass(tmp_path: Path) -> None:
    """An output of nothing but rounding errors is undecided on each draw and fails the check; csim says the same of the files."""
    (tmp_path / "modules.py").write_text(MODULES)
    out = tmp_path / "out"
    done = CliRunner().invoke(app, ["compile", "--small", f"{tmp_path}/modules.py:cancels", "--out", str(out), "--check"])
    again = CliRunner().invoke(app, ["csim", str(out)])
    for run in (done, again):
        assert run.exit_code == 1, run.output
        assert "C simulation FAILED (undecided on example, draw, tiny, huge)" in run.output
        assert "out0 on tiny: undecided, rounding errors alone move 3 of 3 entries" in run.output
        assert "out0: undecided wherever its reference is not 0; accepted: example inputs" in run.output
    check = json.loads((out / "report.json").read_text())["check"]
    assert check["undecided"] == ["out0"] and not check["passed"]
    assert {draw["name"]: draw["passed"] for draw in check["draws"]} == {
        "example": False, "draw": False, "zeros": True, "tiny": False, "huge": False
    }
    assert all(output["passed"] for draw in check["draws"] for output in draw["outputs"] if output["name"] == "out1")


def test_a_constant_on_zeros_decides_nothing(tmp_path: Path) -> None:
    """A design that gives the constant wherever its output is drowned would pass: it fails, in stc and in what stc emits."""
    (tmp_path / "modules.py").write_text(MODULES)
    out = tmp_path / "out"
    arguments = ["compile", "--small", f"{tmp_path}/modules.py:shifted", "--out", str(out), "--check"]
    arguments += ["--check-inputs", "example,zeros"]
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 1 and "C simulation FAILED (undecided on example)" in done.output, done.output
    assert json.loads((out / "report.json").read_text())["check"]["undecided"] == ["out0"]
    assert [draw["decides"] for draw in json.loads((out / "manifest.json").read_text())["draws"]] == [["out1"], []]
    host = subprocess.run([sys.executable, out / "host.py", "--device", "csim"], capture_output=True, text=True, check=False)
    assert host.returncode == 1 and "UNDECIDED" in host.stdout and "FAILED" not in host.stdout, host.stdout + host.stderr
    stub = Path(__file__).parents[1] / "runtime" / "xrt_stub"
    subprocess.run(["g++", "-std=c++17", f"-I{stub}", f"-I{out}", out / "host.cpp", "-o", tmp_path / "host", "-ldl"], check=True)
    native = subprocess.run([tmp_path / "host", out / "build" / "kernel.so", out], capture_output=True, text=True, check=False)
    assert native.returncode == 1 and "UNDECIDED" in native.stdout and "FAILED" not in native.stdout, native.stdout
    simulated = subprocess.run(["make", "-C", out, "csim"], capture_output=True, text=True, check=False)
    assert simulated.returncode == 2 and "out0: UNDECIDED" in simulated.stdout, "make passes on the 1 of the program"
    includes = [f"-I{folder}" for folder in (out, out / "sim" / "include")]
    testbench = [out / "vitis_testbench.cpp", out / "build" / "kernel.sim.cpp"]
    subprocess.run(["g++", "-std=c++17", "-w", *includes, *testbench, "-o", tmp_path / "vitis"], check=True)
    for draws, code in ((["example", "zeros"], 1), (["zeros"], 0)):
        found = subprocess.run([tmp_path / "vitis", *draws], cwd=out, capture_output=True, text=True, check=False)
        assert found.returncode == code, found.stdout + found.stderr


def test_nan_in_the_emitted_design(tmp_path: Path) -> None:
    """It spreads and is found where PyTorch says: the draw holds one, and the rows without any stay numbers."""
    (tmp_path / "modules.py").write_text(MODULES)
    out = tmp_path / "out"
    arguments = ["--out", str(out), "--check", "--check-inputs", "example,nonfinite"]
    done = CliRunner().invoke(app, ["compile", "--small", f"{tmp_path}/modules.py:extrema", *arguments])
    assert done.exit_code == 0 and "C simulation passed" in done.output, done.output
    least = np.fromfile(out / "golden" / "nonfinite" / "out1.bin", np.float32)
    assert np.isnan(least).sum() == 1 and np.isfinite(least).sum() >= 3


def test_truth_values_are_inputs(tmp_path: Path) -> None:
    """Bytes at the port, in a manifest that agrees with itself; named where a draw keeps them."""
    (tmp_path / "modules.py").write_text(MODULES)
    done = CliRunner().invoke(app, ["compile", "--small", f"{tmp_path}/modules.py:truth", "--out", f"{tmp_path}/out", "--check"])
    assert done.exit_code == 0 and "C simulation passed" in done.output, done.output
    assert "zeros: mask as in the example" in done.output


def test_outputs_whose_names_meet_after_cleaning(tmp_path: Path) -> None:
    """Each has a name and files of its own, and none takes those of an input."""
    (tmp_path / "names.py").write_text("""import torch
class Names(torch.nn.Module):
    def forward(self, x):
        return {"a b": x + 1, "a_b": x * 2, "a-b": x - 3, "x": x * 5}
def f():
    return Names(), (torch.randn(3, 4),)
""")
    compile_module.compile_model(compile_module.CompileRequest(f"{tmp_path}/names.py:f", options=small_options()), tmp_path / "out")
    golden = {path.name: np.fromfile(path, np.float32) for path in (tmp_path / "out" / "golden" / "draw").glob("*.bin")}
    x = golden["x.bin"]
    for name, expected in (("a_b", x + 1), ("a_b2", x * 2), ("a_b3", x - 3), ("x2", x * 5)):
        assert np.array_equal(golden[f"{name}.bin"], expected), name
