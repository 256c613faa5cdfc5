"""The example of an own kernel: compiled as its first lines say, checked against PyTorch, simulated, faster than ours."""

from __future__ import annotations

import json
import re
import shlex
import shutil
from contextlib import chdir
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from stc.tools.stc import app

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "own_kernel"
OPTIONS = ["--small", "--tile", "8", "--lanes", "8"]

pytestmark = [pytest.mark.heavy, pytest.mark.skipif(shutil.which("g++") is None, reason="g++ is needed")]


def _run(*words: str) -> Result:
    """`stc` in this process, from the folder that the example's commands are given in."""
    with chdir(ROOT):
        return CliRunner().invoke(app, words)


def _stc(*words: str) -> str:
    done = _run(*words)
    assert done.exit_code == 0, done.output + repr(done.exception)
    return done.stdout


def _words() -> list[str]:
    """The command of the example's first lines, up to the folder."""
    (found,) = re.findall(r"stc (compile .*?) FOLDER", (EXAMPLE / "softmax.py").read_text().replace("\\\n", " "), re.DOTALL)
    words = shlex.split(found)
    assert f"`{shlex.join(['stc', *words])} FOLDER`" in (ROOT / "examples" / "README.md").read_text()
    return words


def _estimated_cycles(folder: Path) -> int:
    return json.loads((folder / "report.json").read_text())["throughput"]["cycles"]


def test_as_its_first_lines_say(tmp_path: Path) -> None:
    own, ours = tmp_path / "own", tmp_path / "ours"
    words = _words()
    _stc(*words, str(own), *OPTIONS, "--check")
    report, manifest = (json.loads((own / name).read_text()) for name in ("report.json", "manifest.json"))
    (kernel,) = manifest["kernels"]
    (task,) = [task for task in kernel["tasks"] if task["kind"] == "own kernel"]
    (loop,) = [loop for loop in kernel["schedule"] if loop["task"] == task["name"] and loop["ii"]]
    assert (loop["label"], loop["trip"], loop["limit"]) == ("softmax_tokens", 3, "declared by an own kernel")
    assert task["resources"]["dsp"] == 17 * 8 == report["resources"]["parts"]["own kernels, as they declare"]["dsp"]
    assert report["proofs"]["by_method"]["declared"] == 2
    _stc("compile", words[1], "--out", str(ours), *OPTIONS, "--check-inputs", "example")
    assert _estimated_cycles(own) < _estimated_cycles(ours)
    simulated = _stc("simulate", str(own))
    cycles, _, rest = simulated.partition(" cycles")
    assert "values passed" in rest
    assert int(cycles.replace(",", "")) == pytest.approx(_estimated_cycles(own), rel=0.01)  # estimated with unlimited FIFOs


def test_rows_of_a_prime_length(tmp_path: Path) -> None:
    """Tokens of one lane; the IR executed before and after each pass, by Python and, with FIFO depths, by the C++."""
    words = [word.replace(":factory", ":odd") for word in _words()]
    _stc(*words, str(tmp_path / "odd"), *OPTIONS, "--check", "--check-semantics")
    assert "softmax<13, 13, 1>" in (tmp_path / "odd" / "kernel.cpp").read_text()


def test_a_token_too_few_is_found(tmp_path: Path) -> None:
    """The simulation says it, and what the kernel declares."""
    words, files = _words(), shutil.copytree(EXAMPLE, tmp_path / "files")
    source = (files / "softmax.cpp").read_text()
    short = source.replace("if (row < ROWS) {", "if (row < ROWS && row * TOKENS + t < ROWS * TOKENS - 1) {")
    assert short != source
    (files / "softmax.cpp").write_text(short)
    words[words.index("--load") + 1] = str(files / "softmax.py")
    _stc(*words, str(tmp_path / "short"), *OPTIONS, "--check-inputs", "example")
    done = _run("simulate", str(tmp_path / "short"))
    assert done.exit_code == 1, done.output
    assert "1 tokens never read" in done.stdout
    assert "own kernel softmax_0 declares that it reads 72 tokens of" in " ".join(done.stdout.split())
