"""A decoder layer behind a cache, from PyTorch to C++ that reads as many rows as there are."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from stc.diagnostics import CompileError
from stc.dialects.context import make_context
from stc.frontend.sources import load_model
from stc.pipeline import PipelineOptions, run_stages, stages
from stc.simulation.simulate import timed_design
from stc.simulation.timing_table import SimulationOptions
from stc.tools.stc import app

pytestmark = pytest.mark.heavy


def test_as_many_rows_as_there_are(tmp_path: Path) -> None:
    """Values at all draws' positions, NaN behind them; the more rows there are, the more cycles."""
    out = tmp_path / "layer"
    words = ["compile", "gpt2-tiny", "--stage", "decode", "--max-seq", "16", "--run-time-sizes", "--out", str(out), "--check"]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0 and done.output.count("│ ok │") == 15, done.output
    timed = timed_design(out)
    cycles = [timed.run(SimulationOptions(at={"pos": pos}), report=None).cycles or 0 for pos in (0, 1, 8, 15, 16)]
    assert sorted(cycles) == cycles and 0 < cycles[0] < cycles[2] < cycles[4]
    shown = CliRunner().invoke(app, ["simulate", str(out), "--at", "pos=3"])
    assert "; values not compared" in shown.output and "at pos = 3, outputs not compared" in shown.output
    with pytest.raises(CompileError, match="accepted: a value from 0 to 16"):
        timed.run(SimulationOptions(at={"pos": 17}), report=None)


def test_what_has_no_run_time_size_is_refused() -> None:
    """Grouped queries are sent again for each row of the cache, by a converter."""
    model = load_model("qwen3-0.6b-tiny", stage="decode", max_seq=16, run_time_sizes=True)
    what = r"@k: a loop of task @self_attn_scores takes sum\(pos<=16, 1\) tokens of one stream and 17 of another"
    with pytest.raises(CompileError, match=f"{what}; accepted: one size for each loop"):
        run_stages(model.module, make_context(), stages(PipelineOptions(kernel_name="k")))
