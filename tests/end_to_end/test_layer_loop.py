"""Layers in a loop on the device that two compute units close (examples/layer_loop.mlir): sized, executed, simulated, explained."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import numpy as np
import pytest

from stc.diagnostics import CompileError
from stc.dialects.context import make_context
from stc.dialects.parsing import parse_module
from stc.execution.run import execute
from stc.pipeline import part, run_stages, stages, steps
from stc.simulation.simulate import SimulationOptions, simulate
from stc.tools.plan import as_stages
from stc_testing.commands import Stc, refused
from stc_testing.small import small_options

pytestmark = pytest.mark.heavy

EXAMPLE = Path(__file__).parents[2] / "examples" / "layer_loop.mlir"
BEHIND_BUFFERIZATION = ("--from", "resource-allocation", "--small")
needs_compiler = pytest.mark.skipif(shutil.which("g++") is None, reason="g++ is needed")


def program(layers: int, words: int) -> str:
    """The example with so many layers, of so many tokens each."""
    text = EXAMPLE.read_text().replace("40xvector", f"{layers * words}xvector").replace("[5, 8]", f"[{layers}, {words}]")
    text = text.replace("8xvector", f"{words}xvector").replace("5x32xf32", f"{layers}x{4 * words}xf32")
    text = text.replace("[8] *", f"[{words}] *").replace("tensor<32xf32>", f"tensor<{4 * words}xf32>")
    text = text.replace("<8x4xf32>", f"<{words}x4xf32>")
    counts = {"%c8": words, "%c5": layers, "%c40": layers * words}
    for name, count in counts.items():
        text = re.sub(rf"{name} = arith.constant \d+", f"{name} = arith.constant {count}", text)
    return re.sub(r"(@move.*?%c4 = arith.constant) 4", rf"\1 {layers - 1}", text, flags=re.DOTALL)


def computed(x: np.ndarray, w: np.ndarray) -> np.ndarray:
    for weights in w:
        x = x * weights + x.sum(dtype=np.float32)
    return x


SIZES = [(5, 8), (2, 1), (2, 3), (7, 5)]


@pytest.mark.parametrize(("layers", "words"), SIZES)
def test_every_level_computes_all_layers(layers: int, words: int) -> None:
    """As it is written, and behind each pass that it still takes, with FIFOs as deep as they say."""
    module = parse_module(program(layers, words))
    draw = np.random.default_rng(layers)
    x, w = draw.normal(size=4 * words).astype(np.float32), draw.normal(size=(layers, 4 * words)).astype(np.float32)
    expected = computed(x, w)
    tail = part(steps(stages(small_options(kernel_name="main"))), first="set-fifo-depths")
    for number in range(1, len(tail) + 1):
        module = parse_module(program(layers, words))
        run_stages(module, make_context(), as_stages(tail[:number]))
        (found,) = execute(module, [x, w], depths=True)
        assert np.abs(found - expected).max() <= 1e-4 * max(1.0, np.abs(expected).max()), tail[number - 1].label


@needs_compiler
@pytest.mark.parametrize(("layers", "words"), SIZES)
def test_the_schedule_has_the_cycles_of_the_simulation(layers: int, words: int, tmp_path: Path, stc: Stc) -> None:
    path, out = tmp_path / "loop.mlir", tmp_path / "out"
    path.write_text(program(layers, words))
    assert stc("compile", path, *BEHIND_BUFFERIZATION, "--out", out).code == 0
    result = simulate(out, optimisation=0)
    (sizing,) = json.loads((out / "report.json").read_text())["fifo_sizing"]["kernels"]
    assert result.passed and result.cycles is not None and result.cycles == sizing["makespan"]
    assert len(re.findall("#pragma HLS loop_flatten off", (out / "kernel.cpp").read_text())) == 2
    deeper = simulate(out, SimulationOptions(depth_error=2), optimisation=0)
    assert deeper.passed and deeper.cycles is not None and deeper.cycles >= result.cycles


@needs_compiler
def test_a_token_short_is_explained_across_units(tmp_path: Path, stc: Stc) -> None:
    """The copies of a layer wait for its sum: their storage is a layer's tokens."""
    assert stc("compile", EXAMPLE, *BEHIND_BUFFERIZATION, "--out", tmp_path / "out").code == 0
    (tmp_path / "depths.json").write_text('{"kept": 7}')
    told = stc("simulate", tmp_path / "out", "--depths", tmp_path / "depths.json")
    assert told.code == 1 and "FIFO 'kept' is full (7 of 7, stopped at token 7): set its depth to at least 8" in told.stdout
    static = stc("simulate", tmp_path / "out", "--static")
    assert static.code == 0 and re.search(r"tasks of several units form a cycle: \w+, ", static.stdout)


def test_pipelines_that_keep_their_last_tokens_are_refused() -> None:
    """Whose next ones depend on them: no depth of FIFOs would help. Those that flush keep none."""
    for style, ends in (("stp", False), ("frp", True)):
        module = parse_module(EXAMPLE.read_text().replace(" {stc.drains}", ""))
        tail = part(steps(stages(small_options(kernel_name="main", pipeline_style=style))), first="set-fifo-depths")
        if ends:
            run_stages(module, make_context(), as_stages(tail))
            continue
        with pytest.raises(CompileError, match="tasks wait for each other at any FIFO depth: copy waits to read token 8 of 40"):
            run_stages(module, make_context(), as_stages(tail))


def test_a_cycle_in_one_unit_is_refused(tmp_path: Path, stc: Stc) -> None:
    (tmp_path / "loop.mlir").write_text(EXAMPLE.read_text().replace("unit @body", "unit @mover"))
    ended = stc("compile", tmp_path / "loop.mlir", *BEHIND_BUFFERIZATION, "--out", tmp_path / "out")
    refused(ended, "rule 2: tasks form a cycle: @move, @copy, @sum, @layer")


def test_published_sizing_knows_no_cycles(stc: Stc, tmp_path: Path) -> None:
    words = [*BEHIND_BUFFERIZATION, "--fifo-strategy", "published-normal", "--out", tmp_path / "out"]
    refused(stc("compile", EXAMPLE, *words), "fifos strategy 'published-normal'", "tasks form a cycle: ")
