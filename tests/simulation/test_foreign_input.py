"""Design files and C++ that cannot be used: what is refused, where, and what would be accepted. Nothing is compiled."""

from __future__ import annotations

from pathlib import Path

import pytest
from foreign_runs import copy_design

from stc.diagnostics import CompileError
from stc.simulation.design_file import read_design
from stc.simulation.foreign_design import InstrumentedDesign, instrument_design
from stc.simulation.projects import project_manifest
from stc.simulation.timing_table import SimulationOptions, timing_table

DESIGN = """
top = "top"
sources = ["k.cpp"]
[[loop]]
function = "f"
label = "rows"
ii = 1
depth = 3
"""
KERNEL = """#include "hls_stream.h"
static void f(const int *x, hls::stream<int> &s) {
  rows: for (int i = 0; i < 4; i++) {
#pragma HLS pipeline II=1
    s.write(x[i]);
  }
}
static void g(hls::stream<int> &s, int *y) { for (int i = 0; i < 4; i++) y[i] = s.read(); }
void top(const int *x, int *y) {
#pragma HLS dataflow
  hls::stream<int> s;
  f(x, s);
  g(s, y);
}
int main() { int x[4] = {}, y[4]; top(x, y); return 0; }
"""
LOOP_OF_G = '[[loop]]\nfunction = "g"\nline = 8\ndepth = 1\n'


def instrumented(folder: Path, design: str = DESIGN + LOOP_OF_G, kernel: str = KERNEL) -> InstrumentedDesign:
    (folder / "design.toml").write_text(design)
    (folder / "k.cpp").write_text(kernel)
    return instrument_design(read_design(folder))


def refusal(folder: Path, design: str = DESIGN + LOOP_OF_G, kernel: str = KERNEL) -> CompileError:
    with pytest.raises(CompileError) as caught:
        instrumented(folder, design, kernel)
    assert caught.value.where is not None and caught.value.accepted
    return caught.value


def test_what_is_accepted(tmp_path: Path) -> None:
    design = instrumented(tmp_path)
    assert [(t.pipeline.function, t.pipeline.label, t.ii, t.depth) for t in design.pipelines] == [
        ("f", "rows", 1, 3), ("g", "VITIS_LOOP_8_1", 1, 1)]
    assert design.tasks == ("f", "g")
    assert design.copies["k.cpp"].count("\n") == KERNEL.count("\n") + 2, "two lines before the first"


@pytest.mark.parametrize(
    ("old", "new", "message", "accepted"),
    [
        ('top = "top"', "", "'top' is missing", "top = ..."),
        ('top = "top"', "top = 3", "'top' is 3", "a string"),
        ('top = "top"', 'top = "tip"', "top function 'tip' is not defined", "one of f, g, top"),
        ('["k.cpp"]', '["k.cpp", "l.cpp"]', "'sources' names no file: 'l.cpp'", "files in"),
        ('["k.cpp"]', "[]", "'sources' is empty", "C++ files"),
        ('["k.cpp"]', '["../k.cpp"]', "'sources' names a file outside the design: '../k.cpp'", "files in"),
        ('["k.cpp"]', '["/tmp/k.cpp"]', "'sources' names a file outside the design: '/tmp/k.cpp'", "files in"),
        ('["k.cpp"]', '["build/k.cpp"]', "'sources' names a file outside the design: 'build/k.cpp'", "but not in build"),
        ("depth = 3", "", "'depth' is missing", "depth = ..."),
        ("depth = 3", "depth = 0", "'loop[0].depth' is 0", "at least 1"),
        ("depth = 3", "depth = 2.5", "'loop[0].depth' is 2.5", "an integer"),
        ("ii = 1", "ii = -1", "'loop[0].ii' is -1", "at least 1"),
        ("ii = 1", "interval = 1", "unknown field 'loop[0].interval'", "function, depth, label"),
        ("ii = 1", 'style = "fast"', "loop[0].style is 'fast'", "stp, flp, frp"),
        ("ii = 1", 'reads = "gmem"', "loop[0] names no port: 'gmem'", "[[port]]"),
        ('function = "f"', 'function = "h"', "loop[0] names no function: 'h'", "f, g, top"),
        ('label = "rows"', 'label = "columns"', "loop[0] describes nothing that costs time: loop columns of f", "rows (line 3)"),
        ('label = "rows"', "line = 77", "the loop at line 77 of f", "rows (line 3)"),
        ('sources =', 'tasks = ["f"]\nsources =', "'tasks' leaves out the task call 'g'", "all task calls"),
        ('sources =', 'tasks = ["f", "g", "h"]\nsources =', "'tasks' names no task call: 'h'", "f, g"),
        ('sources =', 'include = ["nowhere"]\nsources =', "'include' names no folder", "relative to the design file"),
        ("sources =", "port = 3\nsources =", "'port' is not a list of tables", "[[port]]"),
        ("[[loop]]", "[[loop]", "not TOML", "a table with top"),
        ("[[loop]]", '[[port]]\nname = "p"\nword_bytes = 64\n[[loop]]', "[[port]] without [memory]", "no ports"),
    ],
)
def test_design_files(tmp_path: Path, old: str, new: str, message: str, accepted: str) -> None:
    assert DESIGN.count(old) >= 1
    error = refusal(tmp_path, DESIGN.replace(old, new, 1) + LOOP_OF_G)
    assert message in str(error) and accepted in str(error.accepted)


def test_a_loop_without_timing_is_refused_and_named(tmp_path: Path) -> None:
    """Its depth cannot be read off the C++, and a number that nobody gave would be a wrong one."""
    error = refusal(tmp_path, DESIGN)
    assert "no depth is known for 1 pipelines" in error.what
    assert "k.cpp:8 loop VITIS_LOOP_8_1 of g" in error.what
    assert "default_depth" in str(error.accepted)


def test_a_default_depth_is_used_and_said(tmp_path: Path) -> None:
    design = instrumented(tmp_path, "default_depth = 4\n" + DESIGN)
    assert [(t.pipeline.function, t.ii, t.depth) for t in design.pipelines] == [("f", 1, 3), ("g", 1, 4)]
    (note,) = design.notes
    assert "k.cpp:8: loop VITIS_LOOP_8_1 of g runs with the default depth 4 and II 1" in note


DATAFLOW = "#pragma HLS dataflow\n"


@pytest.mark.parametrize(
    ("old", "new", "line", "message"),
    [
        (DATAFLOW, "", 0, "no dataflow body with task calls is reached from 'top'"),
        ("int main()", "int test()", 0, "no file has a main()"),
        ("  f(x, s);", "  if (x) f(x, s);", 12, "'if' in a dataflow body"),
        ("  f(x, s);", "  f(x, s); hls::task t(g, s, y);", 12, "hls::task is not simulated"),
        ("s.read(); }", "s.read();\n#pragma HLS inline\n}", 15, "'g' is called in a dataflow body and inlined"),
        ("i < 4; i++) y[i]", "i < 4; i++)\n#pragma HLS pipeline\n y[i]", 9, "a pipeline pragma between a loop and its body"),
        ("#pragma HLS pipeline II=1", '_Pragma("HLS pipeline II=1")', 4, "a pragma made by a macro"),
        ("hls::stream<int> s;", "hls::stream<int> s; int a[4];\n#pragma HLS stream variable=a type=unsync", 12, "type=unsync"),
        ("for (int i = 0; i < 4; i++) y[i] = s.read();", "do { *y += s.read(); } while (!s.empty());", 8,
         "the condition of a pipelined loop calls a method"),
    ],
)
def test_code(tmp_path: Path, old: str, new: str, line: int, message: str) -> None:
    assert KERNEL.count(old) == 1
    error = refusal(tmp_path, kernel=KERNEL.replace(old, new))
    assert message in error.what
    assert str(error.where).endswith(f"k.cpp:{line}" if line else "design.toml")


def test_options_that_only_emitted_projects_know(tmp_path: Path) -> None:
    manifest = project_manifest(copy_design("pipo", tmp_path))
    with pytest.raises(CompileError, match="the testbench's calls of the top function are the invocations"):
        timing_table(manifest, SimulationOptions(invocations=3))


def test_pipelines_inside_pipelines_do_not_count(tmp_path: Path) -> None:
    """The tool unrolls everything inside a pipelined body, called functions included."""
    inner = "    int v = 0; inner: for (int k = 0; k < 2; k++) {\n#pragma HLS pipeline\n v += x[i]; }\n s.write(v);"
    kernel = KERNEL.replace("    s.write(x[i]);", inner)
    design = instrumented(tmp_path, DESIGN + LOOP_OF_G.replace("8", "11"), kernel)
    assert [t.pipeline.label for t in design.pipelines] == ["rows", "VITIS_LOOP_11_1"]
    assert design.copies["k.cpp"].count("stc_sim::Iteration") == 2
