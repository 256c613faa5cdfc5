"""Groups in bitstreams of their own, in turn on one device or each on a card: hosts, files, and mistakes that are caught."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from stc.diagnostics import CompileError
from stc.manifest.files import read_manifest
from stc.runtime.accelerator import Accelerator
from stc.simulation.simulate import simulate
from stc.tools.compile import CompileRequest, compile_model
from stc_testing.commands import Stc, refused
from stc_testing.small import small_options
from stc_testing.xrt import require_xrt

pytestmark = [pytest.mark.heavy, pytest.mark.skipif(shutil.which("g++") is None, reason="g++ is needed")]

LINEAR = Path(__file__).parents[2] / "examples" / "linear_relu.mlir"
FIRST, SECOND = "linear_relu_0", "linear_relu_1"


def compiled_as(groups: str, out: Path, **options: str) -> Path:
    chosen = small_options(lanes=16, groups=groups, **({"fusion": "separate"} | options))
    compile_model(CompileRequest(str(LINEAR), options=chosen), out)
    return out


@pytest.fixture(scope="module")
def in_turn(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compiled_as("bitstream-each", tmp_path_factory.mktemp("groups") / "in_turn")


@pytest.fixture(scope="module")
def on_cards(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compiled_as("cards", tmp_path_factory.mktemp("groups") / "on_cards")


def passed(text: str) -> int:
    return len(re.findall(r"^out: .*: passed$", text, re.MULTILINE))


def draws_of(project: Path) -> int:
    return len(read_manifest(project).draws)


def test_hosts_load_each_bitstream_before_its_kernel(in_turn: Path, stc: Stc) -> None:
    """On the vendor's runtime, in C++ once for all draws, in Python once for each."""
    require_xrt()
    count = draws_of(in_turn)
    for host, loads in (("cpp", 1), ("python", count)):
        done = stc("run", in_turn, "--device", "xrt", "--host", host)
        said = done.stdout
        assert done.code == 0 and passed(said) == count, said + done.stderr
        assert [said.count(f"{name}, loading its bitstream") for name in (FIRST, SECOND)] == [loads, loads]


def test_each_bitstream_is_linked_alone(in_turn: Path) -> None:
    linked = {name: (in_turn / f"connectivity.{name}.cfg").read_text() for name in (FIRST, SECOND)}
    assert all(re.findall(r"^nk=(\w+):", text, re.MULTILINE) == [name] for name, text in linked.items())
    assert not (in_turn / "connectivity.cfg").exists()
    made = subprocess.run(["make", "-n", "xclbin"], cwd=in_turn, capture_output=True, text=True, check=True).stdout
    links = re.findall(r"v\+\+ -l .*--config (\S+).*\n.*--temp_dir (\S+) (\S+) -o (\S+)", made)
    assert links == [(f"connectivity.{name}.cfg", f"build/link.{name}", f"build/{name}.xo", f"build/{name}.link.xclbin")
                     for name in (FIRST, SECOND)]
    manifest = read_manifest(in_turn)
    assert all(f"--key-value USER:{manifest.mark_of(name)}:1 --output build/{name}.xclbin" in made for name in (FIRST, SECOND))


def test_reports_say_what_no_figure_has(in_turn: Path, stc: Stc) -> None:
    report = json.loads((in_turn / "report.json").read_text())
    note = "not modelled, and in no cycles: 2 loads of a bitstream a run and 1 buffers (512 bytes) that go through the host"
    assert report["bitstreams"]["note"].startswith(note)
    assert [it["kernel"] for it in report["bitstreams"]["list"]] == [FIRST, SECOND]
    assert note in " ".join(json.loads(stc("estimate", in_turn, "--json").stdout)["notes"])
    taken = [kernel["total"]["dsp"] for kernel in report["resources"]["kernels"].values()]
    assert sum(taken) == report["resources"]["total"]["dsp"] and min(taken) > 0
    refused(stc("estimate", in_turn, "--dies"), "its kernels are in 2 bitstreams, which have all dies each")


FAULTS = {
    "buffers not given back": ("self.units, self.banks, self.buffers = {}, {}, {}  #", "lost = dict(self.buffers)  #", None,
                               "another xclbin is loaded while the host has 3 buffers of the one before, whose memory is lost"),
    "words not restored": ('self._write(port, self.words[step["words"]])', "pass", "FAILED",
                           f"argument 'linear_relu_0_fc_2_2' of {SECOND} is a buffer that nothing was sent to"),
    "words kept too late": ('self._keep(port, step["words"])', 'self._load(step["kernel"]); self._keep(port, step["words"])',
                            "FAILED", "FAILED"),
}
"""What is replaced in host.py, and what our own device and XRT's say; None where ours does not notice."""

NOTICED = [(fault, "csim") for fault, (_, _, ours, _) in FAULTS.items() if ours] + [(fault, "xrt") for fault in FAULTS]


@pytest.mark.parametrize(("fault", "device"), NOTICED)
def test_mistakes_of_hosts_are_noticed(fault: str, device: str, in_turn: Path) -> None:
    old, new, ours, theirs = FAULTS[fault]
    expected = (ours if device == "csim" else theirs) or ""
    if device == "xrt":
        require_xrt()
    text = (in_turn / "host.py").read_text()
    assert text.count(old) == 1
    host = in_turn / f"faulty_{device}.py"
    host.write_text(text.replace(old, new))
    done = subprocess.run([sys.executable, str(host), "--device", device], capture_output=True, text=True, check=False)
    assert done.returncode in (1, 2) and re.search(expected, done.stdout + done.stderr), done.stdout + done.stderr
    assert "Traceback" not in done.stderr


def test_buffers_do_not_stay_on_a_device_that_loads_in_turn(in_turn: Path) -> None:
    accelerator = Accelerator(in_turn)
    inputs = accelerator.golden("input")
    for use in (lambda: accelerator(inputs, resident=["x"]), lambda: accelerator.fetch("x"), lambda: accelerator.allocated("x")):
        with pytest.raises(CompileError, match=r"input 'x' cannot stay on the device|would be one of 2 bitstreams"):
            use()
    np.testing.assert_allclose(accelerator(inputs)["out"], accelerator.golden("output")["out"], atol=1e-5)


def test_each_card_is_a_project_of_its_own(on_cards: Path, stc: Stc) -> None:
    """What runs alone on a card takes what the card before gives, and all cards in turn give what PyTorch does."""
    whole = read_manifest(on_cards)
    assert [(it.kernel, it.card, it.folder) for it in whole.bitstreams] == [(FIRST, 0, "card0"), (SECOND, 1, "card1")]
    cards = [on_cards / it.folder for it in whole.bitstreams if it.folder is not None]
    assert [kernel.name for card in cards for kernel in read_manifest(card).kernels] == [FIRST, SECOND]
    first, second = (simulate(card, optimisation=0) for card in cards)
    assert first.passed and second.passed and first.cycles and second.cycles
    assert json.loads((on_cards / "report.json").read_text())["throughput"]["cycles"] == first.cycles + second.cycles
    gives, takes = (read_manifest(card).draws for card in cards)
    words = "linear_relu_0_fc_2_words"
    assert all(one.tensors[words].sha256 == other.tensors[words].sha256 for one, other in zip(gives, takes, strict=True))
    accelerator = Accelerator(on_cards)
    found, expected = accelerator(accelerator.golden("input"))["out"], accelerator.golden("output")["out"]
    np.testing.assert_allclose(found, expected, atol=1e-5)
    assert "of tensors '*_words', the IR as emitted" in read_manifest(cards[0]).origins["golden"]
    require_xrt()
    done = stc("run", on_cards, "--device", "xrt", "--host", "python")
    assert done.code == 0 and passed(done.stdout) == len(whole.draws), done.stdout + done.stderr


def test_a_card_that_gets_something_else_gives_something_else(on_cards: Path) -> None:
    """The words that cross decide: none of what the cards are checked with is a constant."""
    card = Accelerator(on_cards / "card1")
    zeros = {name: np.zeros_like(array) for name, array in card.golden("input").items()}
    assert np.abs(card(zeros)["out"] - card.golden("output")["out"]).max() > 0.1


@pytest.mark.parametrize("groups", ["bitstream-each", "cards"])
def test_one_group_is_one_bitstream(groups: str, tmp_path: Path) -> None:
    out = compiled_as(groups, tmp_path / "out", fusion="greedy")
    assert read_manifest(out).bitstreams == () and (out / "connectivity.cfg").is_file() and not (out / "card0").exists()
    assert json.loads((out / "report.json").read_text())["bitstreams"]["note"] == "one group: one bitstream, on one card"


def small_platform(folder: Path, dsp: int) -> Path:
    """A device of one budget: so many DSPs on each of three dies, of which a plan may use 80 %."""
    text = (Path(__file__).parents[2] / "stc" / "platforms" / "data" / "u280.toml").read_text()
    path = folder / "mine.toml"
    path.write_text(re.sub(r"^dsp = \d+$", f"dsp = {dsp}", text, flags=re.MULTILINE).replace('name = "u280"', 'name = "mine"'))
    return path


def test_each_group_may_take_the_whole_budget(tmp_path: Path, stc: Stc) -> None:
    """112 DSPs in all, 80 the larger group: a plan of 96 has room for each alone."""
    words = ("compile", LINEAR, "--small", "--lanes", "16", "--fusion", "separate", "--platform", small_platform(tmp_path, 40))
    refused(stc(*words, "--groups", "together", "--out", tmp_path / "together"), "take 112 DSP of 96 (16 too many)")
    done = stc(*words, "--groups", "bitstream-each", "--out", tmp_path / "each")
    assert done.code == 0 and "linear_relu_0, 80 DSP (83 %)" in done.stdout and "does not fit" not in done.stdout, done.stdout


def test_contradictions_are_one_sentence(tmp_path: Path, stc: Stc) -> None:
    words = ("compile", LINEAR, "--small", "--out", tmp_path / "out")
    refused(stc(*words, "--groups", "cards", "--dies", "optimum", "--units", "memory"),
            "groups=cards with dies=optimum, which places the units of all groups on one device")
    refused(stc(*words, "--groups", "card"), "groups is 'card'; accepted: unchecked, together, bitstream-each or cards")


def test_binaries_are_a_folder(in_turn: Path, tmp_path: Path, stc: Stc) -> None:
    require_xrt()
    refused(stc("run", in_turn, "--device", "xrt", "--xclbin", tmp_path / "none"), "no such folder")
    done = subprocess.run([sys.executable, in_turn / "host.py", "--device", "xrt", "--xclbin", tmp_path],
                          capture_output=True, text=True, check=False)
    assert done.returncode == 2 and f"{FIRST}.xclbin: file is missing; accepted: what `make xclbin` links" in done.stderr
