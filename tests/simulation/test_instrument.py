"""The instrumented copy: line structure, what is left alone, what is refused."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from stc.simulation.instrument import InstrumentError, instrument
from stc.simulation.package import INCLUDE, INSTRUMENT, copy_headers


def body(source: str) -> str:
    return instrument(source, "k.cpp").split("\n", 2)[2]


def test_lines_stay_where_they_were() -> None:
    source = """void f(int *a) {
  for (int i = 0; i < 4; i++)
  {
#pragma HLS pipeline II=2 \\
    style=flp
    a[i] = i;
  }
}
void top(int *a) {
#pragma HLS dataflow
  f(
    a // the array, "a) {
  );
}
"""
    copy = body(source)
    assert copy.count("\n") == source.count("\n")
    for number, line in enumerate(source.split("\n")):
        assert copy.split("\n")[number].find(line.strip()[:12]) >= 0
    assert '{"f", "", 3, int(2), stc_sim::Style::flp}' in copy


def test_nothing_to_do_changes_nothing() -> None:
    source = r"""
// #pragma HLS dataflow
/* #pragma HLS pipeline { */
const char *s = "} #pragma HLS dataflow \" {", c = '"', d = '\'';
const char *r = R"x(" } #pragma HLS pipeline )x";
int hex = 0x1'000, e = 1e+5;
#define BEGIN {
#if 0
#endif
void f() { int x[2] = {1, 2}; for (;;) { /* { */ } }
"""
    assert body(source) == source


def test_labels_and_kinds_of_loops() -> None:
    source = """void f(int n) {
  outer: for (int i = 0; i < n; i++) { inner: while (n > 0) {
#pragma HLS pipeline
  n--; } }
  switch (n) { case 1: for (;;) {
#pragma HLS PIPELINE II=1
  } }
  do {
#pragma HLS pipeline off
  } while (n);
  last: do {
#pragma HLS pipeline rewind II = 3
  } while (n);
}
"""
    copy = body(source)
    assert '"inner", 2, int(0), stc_sim::Style::unspecified' in copy
    assert '"f", "", 5, int(1)' in copy
    assert '"last", 11, int(3)' in copy
    assert copy.count("LoopSite") == 3


def test_calls_declarations_and_depths() -> None:
    source = """void top(int *x, int n) {
#pragma HLS dataflow
  hls::stream<ns::pair<int, 3>, 4> a("a"), b[2];
#pragma HLS stream variable=a depth=8 type=fifo
#pragma HLS stream variable=b,c depth=SIZE
  const int k = 3;
  ns::load<float, 4>(x, a);
  run: use(a, b[k - 1], n, -1, &x[2]);
  for (int i = 0; i < 2; i++)
    each(i + 1, b[i]);
  obj.go(b);
  return;
}
"""
    copy = body(source)
    assert 'stc_sim::name_channel(a, "a"); stc_sim::name_channel(b, "b");' in copy
    assert "stc_sim::set_depth(a, 8);" in copy
    assert "stc_sim::set_depth(b, SIZE); stc_sim::set_depth(c, SIZE);" in copy
    assert 'stc_region.spawn("ns::load<float,4>"' in copy
    assert ', stc_sim::local("a", a), stc_sim::local("b", b [ k - 1]), n, - 1, & x [ 2]);' in copy
    assert ', i + 1, stc_sim::local("b", b [ i]));' in copy
    assert 'stc_region.spawn("obj.go"' in copy
    assert "{ stc_region.join(); return; }" in copy


@pytest.mark.parametrize(
    ("statement", "line", "message"),
    [
        ("if (n) f(x);", 3, "'if' in a dataflow body"),
        ("while (n) f(x);", 3, "'while' around task calls in a dataflow body"),
        ("{ int y; f(y); }", 3, "a nested block in a dataflow body"),
        ("x[0] = 1;", 3, "neither a declaration nor a task call"),
        ("int m; f(m + 1);", 3, "computes with 'm'"),
        ("f(n < 2);", 3, "'<' in an argument of a task call"),
        ("for (int i = 0; i < 2; i++) { hls::stream<int> s; f(s); }", 3, "ends before the tasks that use it"),
        ("hls_thread_local hls::task t(f, x);", 3, "hls::task is not simulated"),
        ("f(x,\n#ifdef A\nn);", 4, "a preprocessor line inside a task call"),
        ("\n#pragma HLS pipeline\n", 4, "one body is both dataflow and pipelined"),
        ('_Pragma("HLS inline") f(x);', 3, "a pragma made by a macro cannot be seen"),
    ],
)
def test_refusals_name_line_and_alternative(statement: str, line: int, message: str) -> None:
    with pytest.raises(InstrumentError) as caught:
        instrument(f"void top(int *x, int n) {{\n#pragma HLS dataflow\n{statement}\n}}\n", "k.cpp")
    assert message in caught.value.message
    assert caught.value.line == line
    assert caught.value.accepted


@pytest.mark.parametrize(
    ("source", "line", "message"),
    [
        ("void f() {\n(\n}\n", 3, "'}' closes nothing"),
        ("void f() {\n", 1, "'{' is never closed"),
        ("int a;\n/* no end", 2, "a string or comment is never closed"),
        ('\nchar *s = "no end\n;', 2, "a string or comment is never closed"),
        ("void f(int n) {\nif (n) {\n#pragma HLS pipeline\n} }", 3, "outside a loop or function body"),
        ("void f(int n) {\nif (n) {\n#pragma HLS dataflow\n} }", 2, "outside a function or for body"),
        ("void f() {\n#pragma HLS pipeline style=fast\n}", 2, "unknown pipeline style 'fast'"),
    ],
)
def test_sources_that_cannot_be_read(source: str, line: int, message: str) -> None:
    with pytest.raises(InstrumentError) as caught:
        instrument(source, "k.cpp")
    assert (message in caught.value.message, caught.value.line) == (True, line)


@pytest.mark.heavy
def test_standalone_and_compiler_messages_point_to_the_original(tmp_path: Path) -> None:
    kernel = tmp_path / "kernel.cpp"
    kernel.write_text("void f(int &a);\nvoid top() {\n#pragma HLS dataflow\n  int a;\n  f(a,\n    1);\n}\n")
    copy_headers(tmp_path / "sim")
    target = tmp_path / "copy.cpp"
    command = [sys.executable, "-I", str(tmp_path / "sim" / "instrument.py"), str(kernel), str(target)]
    assert subprocess.run(command, check=False).returncode == 0
    done = subprocess.run(
        ["g++", "-std=c++17", "-fsyntax-only", "-I", str(tmp_path / "sim" / "include"), str(target)],
        capture_output=True,
        text=True,
        check=False,
    )
    first = next(line for line in done.stderr.splitlines() if "error:" in line)
    assert first.startswith(f"{kernel}:5:") and "too many arguments" in first

    kernel.write_text("void top() {\n#pragma HLS dataflow\n  goto x;\n}\n")
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.startswith(f"{kernel}:3: 'goto' in a dataflow body; accepted: ")


def test_the_copied_folder_is_complete(tmp_path: Path) -> None:
    copy_headers(tmp_path / "sim")
    original = {p.relative_to(INCLUDE) for p in INCLUDE.rglob("*") if p.is_file()}
    assert {
        p.relative_to(tmp_path / "sim/include") for p in (tmp_path / "sim/include").rglob("*") if p.is_file()
    } == original
    assert (tmp_path / "sim" / "instrument.py").read_text() == INSTRUMENT.read_text()
