"""Contractions that take turns at a port share multipliers, in a unit of their own: same values, fewer multipliers."""

from __future__ import annotations

import json
import re
import shutil
import tomllib
from pathlib import Path

import pytest

from stc.manifest.files import read_manifest
from stc.pipeline import PipelineOptions
from stc.simulation.simulate import simulate
from stc.simulation.simulation_result import SimulationResult
from stc.tools.compile import CompileRequest, compile_model
from stc_testing.commands import Stc, refused

pytestmark = [pytest.mark.heavy, pytest.mark.skipif(shutil.which("g++") is None, reason="g++ is needed")]

MLP = """
from collections import OrderedDict

import torch

class Mlp(torch.nn.Module):
    def __init__(self, more):
        super().__init__()
        self.more = more
        self.up, self.gate, self.down = torch.nn.Linear(24, 36), torch.nn.Linear(24, 36), torch.nn.Linear(36, 24)

    def forward(self, x):
        return self.down(torch.relu(self.up(x)) * self.gate(x + self.more if self.more else x))

def mlp():
    torch.manual_seed(0)
    return Mlp(1), (torch.randn(1, 24),)

def gated():
    torch.manual_seed(0)
    return Mlp(0), (torch.randn(1, 24),)

def wide():
    torch.manual_seed(0)
    layers = torch.nn.Linear(32, 96), torch.nn.ReLU(), torch.nn.Linear(96, 24)
    return torch.nn.Sequential(OrderedDict(zip(("up", "act", "down"), layers))), (torch.randn(1, 32),)
"""
"""Of two activations, of one, and without a gate."""
FORMAT = "bits=8,group=12,activations=group"
COPIES = """[stc.parallelism]
up_max_abs = { lanes = 1, copies = 1 }
up_scale = { lanes = 1, copies = 1 }
up_reciprocal = { lanes = 1, copies = 1 }
up_quantise = { lanes = 3, copies = 1 }
up_matmul0 = { lanes = 12, copies = 1 }
up_matmul1 = { lanes = 2, copies = 1 }
add = { lanes = 1, copies = 1 }
gate_max_abs = { lanes = 1, copies = 1 }
gate_scale = { lanes = 1, copies = 1 }
gate_reciprocal = { lanes = 1, copies = 1 }
gate_quantise = { lanes = 3, copies = 1 }
gate_matmul0 = { lanes = 12, copies = 1 }
gate_matmul1 = { lanes = 2, copies = 1 }
up_select = { lanes = 3, copies = 1 }
down_max_abs = { lanes = 1, copies = 1 }
down_scale = { lanes = 1, copies = 1 }
down_reciprocal = { lanes = 1, copies = 1 }
down_quantise = { lanes = 2, copies = 1 }
down_matmul0 = { lanes = 12, copies = 2 }
down_matmul1 = { lanes = 3, copies = 2 }
down_add = { lanes = 4, copies = 2 }
"""


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> str:
    file = tmp_path_factory.mktemp("model") / "mlp.py"
    file.write_text(MLP)
    return f"{file}:mlp"


@pytest.fixture(scope="module")
def shared(source: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Groups of 12: tokens of no power of two, for `down` of 3 groups and so of another number of sums than `up`. It has two
    copies, where a search gives it a part for each group."""
    folder = tmp_path_factory.mktemp("contractions") / "shared"
    (given := folder.with_name("given.toml")).write_text(COPIES)
    options = PipelineOptions(quantize=FORMAT, weight_ports="in-turn", contractions="shared", schedule=str(given))
    compile_model(CompileRequest(source, options=options), folder)
    return folder


def test_values_and_cycles(shared: Path) -> None:
    ran = simulate(shared, optimisation=0)
    assert ran.passed and ran.values.outcome == "finished"
    assert ran.cycles == json.loads((shared / "report.json").read_text())["throughput"]["cycles"]


@pytest.fixture(scope="module")
def in_turn(source: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same, of which what takes the sums takes turns, too."""
    folder = tmp_path_factory.mktemp("sums") / "in_turn"
    (given := folder.with_name("given.toml")).write_text(COPIES)
    options = PipelineOptions(
        quantize=FORMAT, weight_ports="in-turn", contractions="shared", sums="in-turn", schedule=str(given)
    )
    compile_model(CompileRequest(source, options=options), folder)
    return folder


def test_sums_in_turn_have_operators_in_common(shared: Path, in_turn: Path) -> None:
    """Values and cycles as estimated; a copy of `down` and what takes sums of `up` are one task. What takes those of `gate` is read
    by that of `up`, so that it stays, as does the other copy."""
    apart, ran = simulate(shared, optimisation=0), simulate(in_turn, optimisation=0)
    assert ran.passed and ran.values.outcome == "finished"
    assert ran.cycles == json.loads((in_turn / "report.json").read_text())["throughput"]["cycles"]
    assert ran.cycles is not None and apart.cycles is not None and ran.cycles < 1.02 * apart.cycles

    def dsps(design: Path) -> dict[str, int]:
        (kernel,) = read_manifest(design).kernels
        return {task.name: task.resources.dsp for task in kernel.tasks if task.resources is not None and "matmul1" in task.name}

    before, behind = dsps(shared), dsps(in_turn)
    (merged,) = behind.keys() - before.keys()
    gone = before.keys() - behind.keys()
    assert merged == "up_matmul1_and_select_in_turn" and len(gone) == 2
    assert max(before[name] for name in gone) <= behind[merged] < sum(before[name] for name in gone)


def test_copies_of_the_last_one_compute_on_the_multipliers_of_both_first_ones(shared: Path) -> None:
    """`down` waits for `up` and `gate`, each for itself: two arrays, each with a copy of it behind one of them."""
    (kernel,) = read_manifest(shared).kernels
    chosen = tomllib.loads((shared / "schedule.toml").read_text())["stc"]["parallelism"]
    apart = {name: chosen[f"{name}_matmul0"]["lanes"] * chosen[f"{name}_matmul0"]["copies"] for name in ("up", "gate", "down")}
    assert apart == {"up": 12, "gate": 12, "down": 24}
    work = {task.name: task.work for task in kernel.tasks if task.work is not None and task.work.products}
    arrays = [work[name] for name in ("array", "array_2")]
    assert [one.at_once for one in arrays] == [12, 12]
    assert sum(one.products for one in arrays) == 3 * 24 * 36
    assert not [name for name in work if name.endswith("matmul0")]


def test_parts_of_a_copy_take_groups_in_turn(source: str, tmp_path: Path) -> None:
    """Of 3 groups each part of a copy of `down` has one, and a task; two of the six are those of `up` and `gate`."""
    changed, count = re.subn("(down_matmul0 = .*copies = 2)", r"\1, parts = 3", COPIES)
    (tmp_path / "given.toml").write_text(changed)
    options = PipelineOptions(quantize=FORMAT, weight_ports="in-turn", contractions="shared", schedule=str(tmp_path / "given.toml"))
    compile_model(CompileRequest(source, options=options), tmp_path / "out")
    (kernel,) = read_manifest(tmp_path / "out").kernels
    work = {task.name: task.work for task in kernel.tasks if task.work is not None and task.work.products}
    parts = [one.products for name, one in work.items() if re.match(r"down_matmul0_\d_\d", name)]
    assert count == 1 and parts == 4 * [24 * 36 // 6]
    assert simulate(tmp_path / "out", optimisation=0).passed


IN_TURN = """[stc.parallelism]
up_max_abs = { lanes = 2, copies = 2 }
up_scale = { lanes = 1, copies = 2 }
up_reciprocal = { lanes = 1, copies = 2 }
up_quantise = { lanes = 4, copies = 2 }
up_matmul0 = { lanes = 16, copies = 3 }
up_matmul1 = { lanes = 1, copies = 3 }
act = { lanes = 1, copies = 3 }
down_max_abs = { lanes = 2, copies = 3 }
down_scale = { lanes = 1, copies = 3 }
down_reciprocal = { lanes = 1, copies = 3 }
down_quantise = { lanes = 1, copies = 3 }
down_matmul0 = { lanes = 6, copies = 2, parts = 3 }
down_matmul1 = { lanes = 1, copies = 2 }
down_add = { lanes = 4, copies = 2 }
"""


def test_copies_take_groups_in_turn_where_parts_read_them(source: str, tmp_path: Path) -> None:
    """Each part of `down` reads one copy of `up`, whose groups it wants in the order in which that makes them: nobody puts what
    three copies make together, and nobody takes it apart. Scales of activations alone are joined."""
    (tmp_path / "given.toml").write_text(IN_TURN)
    given, quantize = str(tmp_path / "given.toml"), "bits=4,group=16,activations=group"
    options = PipelineOptions(quantize=quantize, weight_ports="in-turn", contractions="shared", schedule=given)
    compile_model(CompileRequest(source.replace(":mlp", ":wide"), options=options), tmp_path / "out")
    (kernel,) = read_manifest(tmp_path / "out").kernels
    moved = [task.name for task in kernel.tasks if task.name.startswith(("concat_down", "chunk_down", "merge_down"))]
    assert moved and not [name for name in moved if "quantise" in name]
    assert simulate(tmp_path / "out", optimisation=0).passed


def test_the_search_gives_each_group_a_part(source: str, tmp_path: Path) -> None:
    """Then rows of `down` come one word after the other, and what reads them has one copy."""
    options = PipelineOptions(quantize=FORMAT, budget="dsp=100,ports=10", weight_ports="in-turn", contractions="shared")
    compile_model(CompileRequest(source, options=options), tmp_path / "out")
    chosen = tomllib.loads((tmp_path / "out" / "schedule.toml").read_text())["stc"]["parallelism"]
    assert (chosen["down_matmul0"]["copies"], chosen["down_matmul0"]["parts"], chosen["down_matmul1"]["copies"]) == (1, 3, 1)
    assert simulate(tmp_path / "out", optimisation=0).passed


GATED = """[stc.parallelism]
up_max_abs = { lanes = 1, copies = 1 }
up_scale = { lanes = 1, copies = 1 }
up_reciprocal = { lanes = 1, copies = 1 }
up_quantise = { lanes = 3, copies = 1 }
up_and_gate_matmul0 = { lanes = 12, copies = 3 }
up_and_gate_matmul1 = { lanes = 2, copies = 3 }
up_select = { lanes = 3, copies = 1 }
down_max_abs = { lanes = 1, copies = 1 }
down_scale = { lanes = 1, copies = 1 }
down_reciprocal = { lanes = 1, copies = 1 }
down_quantise = { lanes = 2, copies = 1 }
down_matmul0 = { lanes = 12, copies = 1, parts = 3 }
down_matmul1 = { lanes = 3, copies = 1 }
down_add = { lanes = 4, copies = 1 }
"""


def test_products_of_one_activation_are_one(source: str, tmp_path: Path) -> None:
    """Each copy has a third of the rows of both, behind which a part of `down` follows: no more multipliers than copies have."""
    (tmp_path / "given.toml").write_text(GATED)
    options = PipelineOptions(quantize=FORMAT, weight_ports="in-turn", contractions="shared", schedule=str(tmp_path / "given.toml"))
    compile_model(CompileRequest(source.replace(":mlp", ":gated"), options=options), tmp_path / "out")
    (kernel,) = read_manifest(tmp_path / "out").kernels
    work = {task.name: task.work for task in kernel.tasks if task.work is not None and task.work.products}
    arrays = [work.pop(name) for name in ("array", "array_2", "array_3")]
    assert [(one.at_once, one.products) for one in arrays] == 3 * [(12, 24 * 36)]
    assert not [name for name in work if "matmul0" in name]
    assert simulate(tmp_path / "out", optimisation=0).passed


def test_the_array_is_a_unit(shared: Path) -> None:
    """It starts by itself; what it gets and sends leads to the other unit and back."""
    (kernel,) = read_manifest(shared).kernels
    rest, array = kernel.units
    parts = [f"{name}{part}" for name in ("array", "array_2") for part in ("", "_hand_out", "_send")]
    assert (rest.starts, array.starts) == (True, False) and sorted(array.tasks) == sorted(parts)
    linked = (shared / "connectivity.cfg").read_text()
    ends = re.findall(r"^stream_connect=(\w+)_1\.(\w+):(\w+)_1\.", linked, re.MULTILINE)
    assert {(one, other) for one, _, other in ends} == {(rest.name, array.name), (array.name, rest.name)}
    assert {"array_weights", "array_2_weights"} <= {stream for one, stream, _ in ends if one == rest.name}
    text = (shared / "kernel.cpp").read_text()
    assert text.count("style=frp") == 2, "the loops of the sums flush"


@pytest.mark.parametrize("sums", ["apart", "in-turn"])
def test_a_schedule_gives_it_back(sums: str, source: str, tmp_path: Path, stc: Stc, request: pytest.FixtureRequest) -> None:
    shared: Path = request.getfixturevalue("in_turn" if sums == "in-turn" else "shared")
    schedule = shared / "schedule.toml"
    said = tomllib.loads(schedule.read_text())["stc"]
    assert said["options"]["contractions"] == "shared" and set(said["units"].values()) == {"main", "array"}
    assert said["options"]["sums"] == sums
    done = stc("compile", source, "--schedule", schedule, "--out", tmp_path / "again")
    assert done.code == 0, done.stderr
    for name in ("kernel.cpp", "connectivity.cfg", "manifest.json", "schedule.toml"):
        assert (tmp_path / "again" / name).read_bytes() == (shared / name).read_bytes(), name


def test_what_is_no_such_option(source: str, tmp_path: Path, stc: Stc) -> None:
    out = ("--out", tmp_path / "out")
    done = stc("compile", source, "--weight-ports", "in-turn", "--contractions", "in-turn", *out)
    refused(done, "contractions is 'in-turn'; accepted: apart or shared")
    done = stc("compile", source, "--contractions", "shared", *out)
    refused(done, "contractions=shared with weight-ports=apart; accepted: weight-ports=in-turn, which says what takes turns")
    done = stc("compile", source, "--sums", "in-turn", *out)
    refused(done, "sums=in-turn with contractions=apart; accepted: contractions=shared, whose sums come one after the other")
    done = stc("compile", source, "--sums", "shared", *out)
    refused(done, "sums is 'shared'; accepted: apart or in-turn")
    done = stc("compile", source, "--elements-per-port", 2, *out)
    refused(done, "elements-per-port=2 with contractions=apart; accepted: contractions=shared, which makes tasks that")


def test_a_budget_that_its_lanes_do_not_fit(source: str, tmp_path: Path, stc: Stc) -> None:
    options = ("--weight-ports", "in-turn", "--contractions", "shared", "--quantize", FORMAT, "--budget", "dsp=5")
    done = stc("compile", source, *options, "--out", tmp_path / "out")
    refused(done, "one point of each computation at once, and the lanes of those that share multipliers, takes", "the budget has 5")


def faulty(shared: Path, folder: Path, pattern: str, text: str) -> SimulationResult:
    """What comes of a copy whose kernel has another text at one place."""
    shutil.copytree(shared, folder)
    changed, count = re.subn(pattern, text, (folder / "kernel.cpp").read_text(), count=1, flags=re.DOTALL)
    assert count == 1
    (folder / "kernel.cpp").write_text(changed)
    return simulate(folder, optimisation=0)


def test_a_sum_too_few_is_seen(shared: Path, tmp_path: Path) -> None:
    """What `down` waits for does not come: the last sum of `up` is handed to nobody."""
    ran = faulty(shared, tmp_path / "few", r"(void array_hand_out\(.*?token < )6;", r"\g<1>5;")
    assert ran.values.outcome == "deadlock"
    assert "waits to read fifo 'up_matmul0_stream': " in str(ran.values.explanation)
    assert "5 tokens written, 5 read; writer is array_hand_out" in str(ran.values.explanation)


def test_parts_in_another_order_are_seen(shared: Path, tmp_path: Path) -> None:
    """Weights of `down` for `up`, and the other way round."""
    both = r"(void load_in_turn\([^{]*\{\n[^\n]*\n)(.*?)(  int8_t packed2.*?\n)(\}\n)"
    ran = faulty(shared, tmp_path / "order", both, r"\1\3\2\4")
    (out,) = ran.values.outputs
    assert ran.values.outcome == "finished" and not ran.passed and out.wrong == out.elements == 24
