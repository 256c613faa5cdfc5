"""A decoder layer behind a cache, from PyTorch to C++ that reads as many rows as there are."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from pathlib import Path

import pytest
from _pytest.mark.structures import ParameterSet
from typer.testing import CliRunner

from stc.diagnostics import CompileError
from stc.frontend.families.configuration import make_configuration
from stc.frontend.presets import PRESETS
from stc.simulation.simulate import timed_design
from stc.simulation.timing_table import SimulationOptions
from stc.tools.stc import app

pytestmark = pytest.mark.heavy


QUANTISED = ("", "kv=bf16", "bits=8,kv=int8", "bits=8,kv=int8,attention=int8")
HERE = (("llama-3.2-1b-tiny", 1, QUANTISED[0], "by-head"), ("tinyllama-1.1b-tiny", 1, QUANTISED[-1], "by-position"))
"""Of the families of which no whole model is in `make test`: `test_generation.py` and `test_quantised_generation.py` have the
others."""


def layers() -> Iterator[ParameterSet]:
    """Presets, the rows of a launch, what is quantised, and how caches lie: those of `HERE`, and the others on request."""
    presets = [preset for preset in PRESETS if preset.endswith("-tiny")]
    for layer in product(presets, (1, 3), QUANTISED, ("by-head", "by-position")):
        yield pytest.param(*layer, marks=() if layer in HERE else pytest.mark.full)


@pytest.mark.parametrize(("preset", "rows", "quantised", "caches"), layers())
def test_as_many_rows_as_there_are(preset: str, rows: int, quantised: str, caches: str, tmp_path: Path) -> None:
    """Values at all draws' positions, NaN behind them; the more rows there are, the more cycles."""
    out = tmp_path / "layer"
    stage = ["decode"] if rows == 1 else ["prefill", "--seq", str(rows)]
    words = ["compile", "--small", preset, "--stage", *stage, "--max-seq", "16", "--run-time-sizes", "--out", str(out), "--check"]
    done = CliRunner().invoke(app, [*words, "--quantize", quantised, "--caches", caches])
    outputs = 5 if "kv=int8" in quantised else 3
    assert done.exit_code == 0 and done.output.count("│ ok │") == 5 * outputs, done.output
    timed = timed_design(out)
    last = 16 - rows
    cycles = [timed.run(SimulationOptions(at={"pos": pos}), report=None).cycles or 0 for pos in (0, 1, 8, last - 1, last)]
    assert sorted(cycles) == cycles and 0 < cycles[0] < cycles[2]
    has_window = preset == "gemma3-1b-tiny"  # of 4: behind it every position takes as long
    assert cycles[2] == cycles[4] if has_window else cycles[2] < cycles[4]
    shown = CliRunner().invoke(app, ["simulate", str(out), "--at", "pos=3"])
    assert "; values not compared" in shown.output and "at pos = 3, outputs not compared" in shown.output
    with pytest.raises(CompileError, match=f"accepted: a value from 0 to {last}"):
        timed.run(SimulationOptions(at={"pos": last + 1}), report=None)


@pytest.mark.full
def test_all_rows_in_tiles(tmp_path: Path) -> None:
    """A part of the cache that is a multiple of a tile, under a mask: the rest of it lies behind."""
    words = ["compile", "--small", "gpt2-tiny", "--stage", "prefill", "--seq", "4", "--max-seq", "12", "--tile", "4"]
    done = CliRunner().invoke(app, [*words, "--check", "--out", str(tmp_path / "layer")])
    assert done.exit_code == 0 and done.output.count("│ ok │") == 15, done.output


COPIES = '''
from stc.design_space.parallelism import Parallelism
from stc.strategies.parallelism import PARALLELISM


@PARALLELISM.strategy("copies")
def copies(problem):
    """Two or three of everything that so many divide."""
    def count(family):
        extents = [work.divided_extent for work in problem.works if work.family == family]
        return next((each for each in (2, 3) if all(extent % each == 0 for extent in extents)), 1)

    return {work.name: Parallelism(1, count(work.family)) for work in problem.works}
'''


def copied() -> Iterator[ParameterSet]:
    presets = [preset for preset in PRESETS if preset.endswith("-tiny")]
    here = (("gpt2-tiny", 3, "by-head"), ("gemma3-1b-tiny", 1, "by-position"))
    for layer in product(presets, (1, 3, 4), ("by-head", "by-position")):
        yield pytest.param(*layer, marks=() if layer in here else pytest.mark.full)


@pytest.mark.parametrize(("preset", "rows", "caches"), copied())
def test_copies_over_heads_share_a_stream_of_run_time_size(preset: str, rows: int, caches: str, tmp_path: Path) -> None:
    """Copies cut caches and masks by heads and rows of queries: values at all draws' positions, as without copies."""
    (tmp_path / "copies.py").write_text(COPIES)
    stage = ["decode"] if rows == 1 else ["prefill", "--seq", str(rows)]
    own = ["--load", str(tmp_path / "copies.py"), "--parallelism", "copies", "--caches", caches]
    words = ["compile", preset, "--stage", *stage, "--max-seq", "16", "--run-time-sizes", *own, "--out", str(tmp_path / "layer")]
    done = CliRunner().invoke(app, [*words, "--check"])
    assert done.exit_code == 0 and done.output.count("│ ok │") == 15, done.output


HEADS = '''
from stc.design_space.parallelism import Parallelism
from stc.strategies.parallelism import PARALLELISM


@PARALLELISM.strategy("heads")
def heads(problem):
    """A copy of attention for each head that shares a key, with all lanes of products."""
    (family,) = [work.family for work in problem.works if work.name == "self_attn_matmul1"]
    lanes = {work.name: work.lane_extent if "_matmul" in work.name else 1 for work in problem.works}
    copies = {work.name: work.divided_extent if work.family == family else 1 for work in problem.works}
    return {work.name: Parallelism(lanes[work.name], copies[work.name]) for work in problem.works}
'''


def test_heads_that_share_a_key_have_a_copy_each(tmp_path: Path) -> None:
    """Three heads to a key, two keys: a lane of the product with values has two sums of integers, one after the other."""
    (tmp_path / "heads.py").write_text(HEADS)
    make_configuration("qwen2", GROUPED, "grouped").save_pretrained(tmp_path / "model")
    own = ["--load", str(tmp_path / "heads.py"), "--parallelism", "heads", "--budget", "dsp=6000"]
    quantised = ["--quantize", "bits=4,group=32,activations=group,kv=int8,attention=int8"]
    words = ["compile", "--config", str(tmp_path / "model"), "--stage", "decode", "--max-seq", "16", "--run-time-sizes", *quantised]
    done = CliRunner().invoke(app, [*words, *own, "--out", str(tmp_path / "layer"), "--check"])
    assert done.exit_code == 0 and done.output.count("│ ok │") == 25, done.output
    said = (tmp_path / "layer" / "schedule.toml").read_text()
    assert "self_attn_matmul1 = { lanes = 32, rows = 1, copies = 3 }" in said, said


GROUPED = {
    "hidden_size": 192, "intermediate_size": 64, "num_hidden_layers": 1, "num_attention_heads": 6, "num_key_value_heads": 2,
    "max_position_embeddings": 64, "vocab_size": 61,
}  # fmt: skip
"""Groups of 32 weights are as long as a head, so that rows of a pair are of two keys, and copies divide the heads of one."""
