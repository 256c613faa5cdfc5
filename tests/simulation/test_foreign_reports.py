"""The vendor's own synthesis reports as figures of a design that stc did not write: names of nests, folders, what is left out."""

from __future__ import annotations

from pathlib import Path

import pytest

from stc.diagnostics import CompileError
from stc.simulation.design_file import read_design
from stc.simulation.foreign_design import InstrumentedDesign, instrument_design
from stc.simulation.profile import LoopName, is_called

SOURCE = """
#include "hls_stream.h"
void fill(hls::stream<int> &s) {
  rows: for (int i = 0; i < 5; i++) {
    only: for (int k = 3; k < 4; k++) {
      cells: for (int j = 0; j < 7; j++) {
#pragma HLS pipeline
        s.write(i + j);
      }
    }
  }
}
void drain(hls::stream<int> &s, int *y) {
  tiles: for (int i = 0; i < 5; i++) {
    once: for (int k = 0; k < 1; k++) {
#pragma HLS pipeline II=1
      for (int j = 0; j < 7; j++) y[i] += s.read();
    }
  }
}
void top(int *y) {
#pragma HLS dataflow
  hls::stream<int> s;
  fill(s);
  drain(s, y);
}
int main() { int y[5] = {0}; top(y); return 0; }
"""


def report(folder: Path, module: str, loop: str, ii: int, depth: int) -> None:
    """As Vitis HLS 2023.2 has it: a file per module, and the loops by their names."""
    folder.mkdir(exist_ok=True, parents=True)
    loops = f"<{loop}><TripCount>35</TripCount><PipelineII>{ii}</PipelineII><PipelineDepth>{depth}</PipelineDepth></{loop}>"
    estimates = f"<PerformanceEstimates><SummaryOfLoopLatency>{loops}</SummaryOfLoopLatency></PerformanceEstimates>"
    user = f"<UserAssignments><TopModelName>{module}</TopModelName></UserAssignments>"
    (folder / f"{module}_csynth.xml").write_text(f"<profile>{user}{estimates}</profile>")


def instrumented(tmp_path: Path) -> InstrumentedDesign:
    (tmp_path / "all.cpp").write_text(SOURCE)
    (tmp_path / "design.toml").write_text('top = "top"\nsources = ["all.cpp"]\nreport = "syn"\n')
    return instrument_design(read_design(tmp_path))


def test_the_name_of_a_nest() -> None:
    nest = [LoopName("cells", False), LoopName("only", True), LoopName("rows", False)]
    assert all(is_called(name, nest) for name in ("cells", "rows_cells", "rows_only_cells", "only_cells"))
    assert not any(is_called(name, nest) for name in ("rows", "only", "rows_only", "cells_rows", "other_cells", "tcells"))
    assert is_called("rows", nest[1:]) and is_called("rows_only", nest[1:]), "a pipelined loop of one iteration may dissolve"


def test_a_folder_of_reports_gives_what_the_design_file_does_not(tmp_path: Path) -> None:
    report(tmp_path / "syn", "fill_Pipeline_rows_cells", "rows_cells", 1, 9)
    report(tmp_path / "syn" / "kernel2", "drain", "tiles", 7, 12)   # `make csynth` has a folder per kernel
    report(tmp_path / "syn", "main", "elsewhere", 1, 2)
    found = instrumented(tmp_path)
    # The tool dissolved the loop that has the pragma, and pipelined the one around it.
    assert {(t.pipeline.label, t.ii, t.depth) for t in found.pipelines} == {("cells", 1, 9), ("tiles", 7, 12)}
    assert len([note for note in found.notes if "no loop of main in the C++ is elsewhere" in note]) == 1


def test_a_row_that_two_loops_may_mean_is_refused(tmp_path: Path) -> None:
    """`rows_only_cells` is the nest of cells, and that of a loop that is labelled only_cells, in another one called rows."""
    body = "{ only_cells: for (int j = 0; j < 7; j++) {\n#pragma HLS pipeline\n s.write(i); } }"
    second = f"rows: for (int i = 0; i < 5; i++) {body}"
    head = "void fill(hls::stream<int> &s) {"
    (tmp_path / "all.cpp").write_text(SOURCE.replace(head, f"{head}\n{second}"))
    (tmp_path / "design.toml").write_text('top = "top"\nsources = ["all.cpp"]\nreport = "syn"\n')
    report(tmp_path / "syn", "fill", "rows_only_cells", 1, 9)
    with pytest.raises(CompileError, match=r"'rows_only_cells' may be each of .* only_cells \(line 4\), cells \(line 9\) of fill"):
        instrument_design(read_design(tmp_path))


def test_loops_that_neither_describes_are_refused(tmp_path: Path) -> None:
    report(tmp_path / "syn", "fill", "rows_cells", 1, 9)
    with pytest.raises(CompileError, match=r"no depth is known for 1 pipelines: .*loop once of drain"):
        instrumented(tmp_path)
    report(tmp_path / "syn", "drain", "tiles", 0, 12)
    with pytest.raises(CompileError, match="ii of 'tiles' is 0"):
        instrumented(tmp_path)
    (tmp_path / "syn" / "drain_csynth.xml").write_bytes(b"\xff\xfe<profile/>")
    with pytest.raises(CompileError, match="cannot read the profile"):
        instrumented(tmp_path)
    for path in (tmp_path / "syn").iterdir():
        path.unlink()
    with pytest.raises(CompileError, match=r"no \*_csynth.xml in it"):
        instrumented(tmp_path)
