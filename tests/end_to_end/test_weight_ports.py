"""Weights of computations that wait for one another through one memory port: same values, fewer ports."""

from __future__ import annotations

import json
import re
import shutil
import tomllib
from pathlib import Path

import pytest

from stc.manifest.files import read_manifest
from stc.simulation.simulate import simulate
from stc.tools.compile import CompileRequest, compile_model
from stc_testing.commands import Stc, refused
from stc_testing.small import small_options

pytestmark = [pytest.mark.heavy, pytest.mark.skipif(shutil.which("g++") is None, reason="g++ is needed")]

MLP = """
import torch

class Mlp(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.up, self.gate, self.down = torch.nn.Linear(96, 130), torch.nn.Linear(96, 130), torch.nn.Linear(130, 66)

    def forward(self, x):
        return self.down(torch.relu(self.up(x)) * self.gate(x))

def mlp():
    return Mlp(), (torch.randn(3, 96),)
"""


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> str:
    file = tmp_path_factory.mktemp("model") / "mlp.py"
    file.write_text(MLP)
    return f"{file}:mlp"


@pytest.fixture(scope="module")
def designs(source: str, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folders = {ports: tmp_path_factory.mktemp("ports") / ports for ports in ("apart", "in-turn")}
    for ports, folder in folders.items():
        compile_model(CompileRequest(source, options=small_options(weight_ports=ports)), folder)
    return folders


def bundles(folder: Path) -> int:
    return json.loads((folder / "report.json").read_text())["memory_ports"]


def test_one_of_both_first_products_hands_its_port_on(designs: dict[str, Path]):
    """`up` and `gate` are read beside one another; `down` waits for both, and comes through the port of one. Biases are added
    behind products, and come behind their weights, through the same ports: without one of their own, nor arrays."""
    assert bundles(designs["in-turn"]) == bundles(designs["apart"]) - 2
    assert "load_shared" not in (designs["in-turn"] / "kernel.cpp").read_text()
    (kernel,) = read_manifest(designs["in-turn"]).kernels
    weights = [port for port in kernel.ports if port.kind == "parameter" and port.tensor.endswith("weight")]
    assert len({port.bundle for port in weights}) == 2 and len({(port.bundle, port.bank) for port in weights}) == 2
    apart, turned = (simulate(folder, optimisation=0) for folder in designs.values())
    assert apart.passed and turned.passed and apart.cycles and turned.cycles
    estimates = [json.loads((folder / "report.json").read_text())["throughput"]["cycles"] for folder in designs.values()]
    assert [apart.cycles, turned.cycles] == estimates


def test_groups_are_of_the_ports_that_come_to_be(source: str, tmp_path: Path, stc: Stc):
    """Five ports, for x, biases, both first products and the result: with a sixth for `down` the kernels are two groups."""
    text = (Path(__file__).parents[2] / "stc" / "platforms" / "data" / "u55c.toml").read_text()
    platform = tmp_path / "few.toml"
    platform.write_text(re.sub(r"max_ports = \d+", "max_ports = 5", text))
    groups = dict[str, int]()
    for weights in ("apart", "in-turn"):
        done = stc("compile", source, "--small", "--platform", platform, "--weight-ports", weights, "--out", tmp_path / weights)
        assert done.code == 0, done.stderr
        groups[weights] = json.loads((tmp_path / weights / "report.json").read_text())["groups"]
    assert groups == {"apart": 2, "in-turn": 1}


def test_a_schedule_says_it(designs: dict[str, Path], source: str, tmp_path: Path, stc: Stc):
    schedule = designs["in-turn"] / "schedule.toml"
    assert tomllib.loads(schedule.read_text())["stc"]["options"]["weight_ports"] == "in-turn"
    done = stc("compile", source, "--schedule", schedule, "--out", tmp_path / "again")
    assert done.code == 0, done.stderr
    assert (tmp_path / "again" / "kernel.cpp").read_bytes() == (designs["in-turn"] / "kernel.cpp").read_bytes()


def test_another_word_is_refused(source: str, tmp_path: Path, stc: Stc):
    done = stc("compile", source, "--weight-ports", "shared", "--out", tmp_path / "out")
    refused(done, "weight-ports is 'shared'; accepted: apart or in-turn")
