"""Indices that leave their array: `csim` ends with a sentence that names the line, the index, the array and the task.

One design with many faults, of which the environment chooses one: it is built once.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from stc.manifest.files import to_json
from stc.manifest.schema import SCHEMA_VERSION, Direction, HostTensor, Kernel, Manifest, Port
from stc.simulation.csim import CsimResult, csim
from stc.simulation.instrument import instrument
from stc.simulation.instrument import main as instrument_main
from stc.simulation.package import copy_headers
from stc.tools.stc import app

pytestmark = pytest.mark.heavy

KERNEL = """#include "kernel.h"
typedef float block[2][6];
static void load(const float *x, hls::stream<lanes> &in) {
  float tile[2][4];
  for (int c = 0; c < 4; c++) {
    tile[fault == 1 ? -c : 0][c] = x[c + (fault == 2 ? 1 : 0)];
  }
  lanes v;
  for (int c = 0; c < 4; c++)
    v[c + (fault == 3 ? 1 : 0)] = tile[0][c];
  if (fault == 4) (&tile[0][0])[8] = 1; else if (fault == 10) std::memset(&tile[0][0], 0, sizeof tile + atoi("4"));
  in.write(v);
}
static void fill(hls::stream<lanes> &in, hls::stream_of_blocks<block, 2> &blocks) {
  hls::write_lock<block> b(blocks);
  lanes v = in.read();
  for (int c = 0; c < 4; c++)
    b[1][c + (fault == 5 ? 3 : 0)] = v[c];
}
static void store(hls::stream_of_blocks<block, 2> &blocks, float *y) {
  hls::read_lock<block> b(blocks);
  words: for (int i = 0; i < 4; i++) {
#pragma HLS pipeline II=1
    y[fault == 6 ? i - 3 : i] = b[fault == 7 ? 2 : 1][i];
  }
  if (fault == 8) *(y + 4) = 0;
  if (fault == 9) y[4] = INT_MAX + fault;
}
extern "C" void top(const float *x, float *y) {
#pragma HLS dataflow
  hls::stream<lanes, 2> in("in");
  hls::stream_of_blocks<block, 2> blocks;
  load(x, in);
  fill(in, blocks);
  store(blocks, y);
}
"""
HEADER = """#pragma once
#include <climits>
#include <cstdlib>
#include <cstring>
#include "hls_stream.h"
#include "hls_streamofblocks.h"
#include "hls_vector.h"
typedef hls::vector<float, 4> lanes;
static const int fault = std::atoi(std::getenv("FAULT"));
extern "C" void top(const float *x, float *y);
"""
TESTBENCH = """#include "kernel.h"
#include "stc_sim.h"
int main(int, char **argv) {
  stc_sim::Report report(std::string(argv[1]) + "/build/csim.json");
  std::vector<float> x = {1, 2, 3, 4, 5, 6, 7, 8}, y(8);   // larger than the ports: only their extents tell
  report.run("top", [&] { top(x.data(), y.data()); });
  report.compare("y", y.data(), x.data(), 4, 1e-6);
  return report.finish();
}
"""


def port(name: str, direction: Direction) -> Port:
    """Of four words of one float."""
    kind = "input" if direction == "read" else "output"
    return Port(name, kind, direction, "f32", 1, 4, 64, name, name, (4,), None)


TENSORS = (HostTensor("x", "input", "f32", (4,)), HostTensor("y", "output", "f32", (4,)))
TOP = Kernel("top", (port("x", "read"), port("y", "write")), (), (), (), ())
MANIFEST = to_json(Manifest(SCHEMA_VERSION, "top", "u55c", (TOP,), TENSORS, (), 1e-6, {}, {}, {}))


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("faults")
    for name, text in (("kernel.cpp", KERNEL), ("kernel.h", HEADER), ("testbench.cpp", TESTBENCH), ("manifest.json", MANIFEST)):
        (folder / name).write_text(text)
    copy_headers(folder / "sim")
    return folder


def run(project: Path, fault: int, monkeypatch: pytest.MonkeyPatch) -> CsimResult:
    monkeypatch.setenv("FAULT", str(fault))
    return csim(project, optimisation=0)


def test_a_healthy_design_passes(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    result = run(project, 0, monkeypatch)
    assert (result.outcome, result.passed) == ("finished", True)


@pytest.mark.parametrize(
    ("fault", "sentence"),
    [
        (1, "kernel.cpp:6: index -1 of an array 'float [2][4]' is outside 0 to 1, in task load: tile[fault == "),
        (2, "kernel.cpp:6: index 4 of memory port x is outside 0 to 3, in task load: tile["),
        (3, "kernel.cpp:10: index 4 of an hls::vector of 4 lanes is outside 0 to 3, in task load: v[c + "),
        (5, "kernel.cpp:18: index 6 of an array 'float [6]' is outside 0 to 5, in task fill: b[1][c + (fault == "),
        (6, "kernel.cpp:24: index -3 of memory port y is outside 0 to 3, in task store: y["),
        (7, "kernel.cpp:24: index 2 of an array 'float [2][6]' is outside 0 to 1, in task store: y["),
        (8, " of memory port y from word 4 is outside 0 to 3, in task store"),
        (9, "kernel.cpp:27: index 4 of memory port y is outside 0 to 3, in task store: if (fault == 9) y[4] = "),
    ],
)
def test_an_index_outside_is_a_sentence(project: Path, monkeypatch: pytest.MonkeyPatch, fault: int, sentence: str) -> None:
    result = run(project, fault, monkeypatch)
    assert (result.outcome, result.passed) == ("error", False)
    assert result.explanation is not None and sentence in result.explanation
    assert "\n" not in result.explanation


@pytest.mark.parametrize(
    ("fault", "sentence"),
    [
        (0, None),
        (4, "kernel.cpp:11: store to address"),
        (10, "kernel.cpp:11: stack-buffer-overflow, WRITE of size 36, in load (AddressSanitizer)"),
        (5, "kernel.cpp:18: index 6 of an array 'float [6]' is outside 0 to 5, in task fill"),
        (9, "kernel.cpp:27: signed integer overflow: 9 + 2147483647 cannot be represented in type 'int'"),
    ],
)
def test_under_sanitizers(project: Path, monkeypatch: pytest.MonkeyPatch, fault: int, sentence: str | None) -> None:
    """What no extent tells: a pointer beyond a local array in a fiber, and arithmetic without a result."""
    monkeypatch.setenv("FAULT", str(fault))
    result = csim(project, optimisation=0, sanitized=True)
    assert (result.outcome, result.passed) == (("finished", True) if sentence is None else ("error", False))
    if sentence is not None:
        assert result.explanation is not None and sentence in result.explanation and "\n" not in result.explanation


def test_on_the_command_line(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAULT", "6")
    done = CliRunner().invoke(app, ["csim", str(project)])
    assert done.exit_code == 1
    assert "index -3 of memory port y is outside 0 to 3" in done.output


def test_only_parameters_that_get_a_port_are_checked_pointers() -> None:
    """Lines stay where they were; functions that get local arrays, and designs without extents, stay as they are."""
    source = KERNEL.replace("static void fill", "static float sum(const float *row) { return row[0]; }\nstatic void fill")
    copy = instrument(source, "kernel.cpp", {"top": {"x": 4, "y": 4}})
    assert "load(stc_sim::Words<const float > x," in copy and "float *row" in copy
    assert 'stc_sim::words("x", x, 4)' in copy
    assert copy.count("\n") == source.count("\n") + 2
    assert "stc_sim::words(" not in instrument(source, "kernel.cpp")
    assert re.search(r'extern "C" void top\(const float \*x, float \*y\)', copy)


def test_instrumentation_by_itself_reads_the_manifest(project: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """As the Makefile of a project runs it."""
    source, copy = tmp_path / "kernel.cpp", tmp_path / "kernel.sim.cpp"
    source.write_text(KERNEL)
    assert instrument_main([str(source), str(copy)]) == 0 and "stc_sim::words(" not in copy.read_text()
    (tmp_path / "manifest.json").write_text(MANIFEST)
    assert instrument_main([str(source), str(copy)]) == 0 and 'stc_sim::words("x", x, 4)' in copy.read_text()
    for content in ("", "[]", "{}", '{"kernels": [{"name": "top"}]}'):
        (tmp_path / "manifest.json").write_text(content)
        assert instrument_main([str(source), str(copy)]) == 2
        assert "manifest.json: not a manifest; accepted: one that 'stc compile' wrote" in capsys.readouterr().err
