"""Trips that stand in a table, and segments of a stream, at every level and in the emitted C++."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from run_time_modules import lowered, lowering, parsed, project, reference

from stc.execution.run import execute
from stc.frontend.exported import Reference
from stc.manifest.files import read_manifest
from stc.manifest.sizes import at_values
from stc.simulation.simulate import timed_design
from stc.simulation.static_checks import check_statically
from stc.simulation.timing_table import SimulationOptions
from stc_testing.levels import levels

PHASES = (Path(__file__).parents[2] / "examples" / "phases.mlir").read_text()
TRIPS = (3, 0, 5)
MOST = 4
SIZE = f"sum(min(pos<={MOST}, 3), pos<={MOST}"
"""Rows of all phases where each has at most `pos`: a window that differs from phase to phase."""
WINDOWS = (
    PHASES.replace("[9] * [1]", f"[{SIZE}, 1)] * [1]")
    .replace("tensor<9x16xf32>", "tensor<8x16xf32>")
    .replace('{stc.name = "x"})', '{stc.name = "x"}, %q: i32 {stc.name = "pos"})')
    .replace("as !rows) ->", f"as !rows, %pos = %q : i32 as !itensor.symbol<pos<={MOST}>) ->")
    .replace("%rows : !rows)", f"%rows : !rows, %at = %pos : !itensor.symbol<pos<={MOST}>)")
    .replace("entry(phase<=2, 3, 0, 5) of %p", f"min(entry(phase<=2, 3, 0, 5), pos<={MOST}) of %p, %at")
    .replace("segment <1, 8>", f"segment <1, {SIZE})>")
)


def sums(rows: np.ndarray, most: int) -> np.ndarray:
    """What the phases add up of a stream of rows, each of at most so many: in f32, one after the other."""
    results: list[np.ndarray] = []
    begin = 1
    for trips in TRIPS:
        total = rows[0]
        for row in rows[begin : begin + min(trips, most)]:
            total = total + row
        begin += min(trips, most)
        results.append(total)
    return np.stack(results)


def rows_at(count: int, there: int, seed: int) -> np.ndarray:
    """Rows of which the last are not there."""
    rows = np.random.default_rng(seed).normal(size=(count, 16)).astype(np.float32)
    rows[there:] = np.nan
    return rows


def window(pos: int) -> Reference:
    rows = rows_at(8, 1 + sum(min(trips, pos) for trips in TRIPS), pos)
    return reference(f"pos_{pos}", {"x": rows, "pos": np.asarray(pos, np.int32)}, {"y": sums(rows, pos)})


@pytest.mark.parametrize("depths", [False, True])
def test_every_level(depths: bool):
    all_rows, windows = [reference("all", {"x": rows_at(9, 9, 0)}, {})], [window(pos) for pos in range(MOST + 1)]
    for text, draws in ((PHASES, all_rows), (WINDOWS, windows)):
        module = parsed(text)
        for label, has_depths in levels(module, lowering()):
            for draw in draws:
                (found,) = execute(module, list(draw.inputs.values()), depths=depths and has_depths)
                most = int(draw.inputs.get("pos", max(TRIPS)))
                np.testing.assert_array_equal(found, sums(draw.inputs["x"], most), err_msg=f"{label}, {draw.name}")


@pytest.mark.heavy
def test_the_emitted_program(tmp_path: Path):
    design = timed_design(project(lowered(WINDOWS), "windows", [window(pos) for pos in range(MOST, -1, -1)], tmp_path))
    manifest = read_manifest(tmp_path / "windows")
    for pos in range(MOST + 1):
        found, unlimited = (design.run(SimulationOptions(at={"pos": pos}, unbounded=free), report=None) for free in (False, True))
        assert found.passed and found.cycles == unlimited.cycles, pos
        tokens = {fifo.name: fifo.tokens for fifo in found.fifos}
        assert tokens == {"rows_stream": 1 + sum(min(trips, pos) for trips in TRIPS), "sums_stream": 3}
        statically = check_statically(at_values(manifest, {"pos": pos}))
        assert statically.passed and statically.ends and len(statically.counted) == 2
    result = design.run(SimulationOptions())
    assert result.passed
