"""What a foreign testbench says of the values, and how a run without time treats foreign designs."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path

import pytest
from foreign_runs import UNOPTIMISED, copy_design
from rich.console import Console
from typer.testing import CliRunner

from stc.diagnostics import CompileError
from stc.simulation.csim import CsimResult, DrawCheck, csim
from stc.simulation.simulate import simulate
from stc.tools.check_tables import print_check
from stc.tools.simulate_command import print_result
from stc.tools.size import size_project
from stc.tools.stc import app

pytestmark = pytest.mark.heavy

SOURCE = """
#include <cassert>
#include <cstdlib>
#include <iostream>
#include "hls_stream.h"
static void f(int x, hls::stream<int> &s) {
  assert(x < 7);
  s.write(x);
}
static void g(hls::stream<int> &s, int *y) { *y = s.read(); }
int top(int x, int *y) {
#pragma HLS dataflow
  hls::stream<int> s;
  f(x, s);
  g(s, y);
  return 5;
}
int main() {
  const int mode = std::atoi(std::getenv("MODE"));
  int y = 0;
  if (mode == 0) return 0;
  if (mode == 4) return 6;
  assert(mode != 5);
  const bool right = top(mode, &y) == 5 && y == mode;
  std::cout << "returned" << std::endl;
  if (mode == 1) std::exit(right ? 0 : 9);
  assert(mode != 3 && "as it was");
  if (mode == 6) top(7, &y);
  return right ? 3 : 9;
}
"""


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("testbench")
    (folder / "all.cpp").write_text(SOURCE)
    (folder / "design.toml").write_text('top = "top"\nsources = ["all.cpp"]\n')
    return folder


def in_mode(project: Path, mode: int, monkeypatch: pytest.MonkeyPatch) -> CsimResult:
    monkeypatch.setenv("MODE", str(mode))
    return csim(project, optimisation=UNOPTIMISED)


def test_what_main_returns_is_the_check(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    never = in_mode(project, 0, monkeypatch)
    assert not never.passed and never.explanation == "the testbench never called the top function"
    left_by_exit = in_mode(project, 1, monkeypatch)
    assert left_by_exit.passed and left_by_exit.cached
    assert [(use.name, use.tokens, use.producer, use.consumer) for use in left_by_exit.channels] == [("s", 1, "f", "g")]
    wrong = in_mode(project, 2, monkeypatch)
    assert (wrong.outcome, wrong.passed, wrong.explanation) == ("finished", False, "the testbench returned 3")


def test_a_testbench_that_stops_early_says_so_and_what_was_known_by_then(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    returned = in_mode(project, 4, monkeypatch)
    assert returned.explanation == "the testbench never called the top function: it returned 6"
    before = in_mode(project, 5, monkeypatch)
    assert str(before.explanation).startswith("the testbench was aborted before it called the top function: ")
    assert "mode != 5" in str(before.explanation)
    after = in_mode(project, 3, monkeypatch)
    assert (after.outcome, after.passed) == ("finished", False) and [use.tokens for use in after.channels] == [1]
    assert str(after.explanation).startswith("the testbench was aborted after 1 call of the top function: ")
    assert "as it was" in str(after.explanation)
    in_the_design = in_mode(project, 6, monkeypatch)
    assert in_the_design.outcome == "error" and "the design was aborted after 1 call of the top function: " in str(
        in_the_design.explanation
    )


def test_cycles_that_are_known_are_kept(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ends = {}
    for mode in (1, 3, 4, 6):
        monkeypatch.setenv("MODE", str(mode))
        result = simulate(project, optimisation=UNOPTIMISED)
        ends[mode] = result.ends.get("top", ())
        assert result.cycles == (ends[mode][0] if mode in (1, 3) else None)
    assert ends[1] == ends[3] == ends[6] and len(ends[1]) == 1 and ends[4] == ()


def printed(show: Callable[[Console], None]) -> str:
    console = Console(width=150, record=True, file=io.StringIO())
    show(console)
    return console.export_text()


def test_a_testbench_without_calls_is_said_to_be_one(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing has `finished` and no values are wrong."""
    monkeypatch.setenv("MODE", "0")
    timed = simulate(project, optimisation=UNOPTIMISED)
    text = printed(lambda console: print_result(timed, None, "executed", None, console))
    assert text == "no cycle count: the testbench never called the top function\n"
    monkeypatch.setattr("stc.tools.check_tables.output", console := Console(width=150, record=True, file=io.StringIO()))
    print_check(in_mode(project, 0, monkeypatch), None)
    assert "C simulation FAILED (its testbench did not pass) in" in console.export_text()
    with pytest.raises(CompileError, match="no cycles are known even with unlimited FIFOs: the testbench never called the top"):
        size_project(project, optimisation=UNOPTIMISED)


def test_what_is_not_checked_is_said(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MODE", "1")
    result = CliRunner().invoke(app, ["csim", str(project)])
    assert result.exit_code == 0 and "not checked: indices into what the testbench hands to the top function" in result.output


def test_the_draw_that_failed_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    draws = [DrawCheck("example", "finished", True, None, 0.0, []), DrawCheck("huge", "error", False, "index 7", 0.0, [])]
    monkeypatch.setattr("stc.tools.check_tables.output", console := Console(width=150, record=True, file=io.StringIO()))
    print_check(CsimResult("error", False, "index 7", 0.0, 0.0, False, draws=draws), None)
    assert "C simulation FAILED (error) on huge in" in console.export_text()


def test_without_time_arrays_between_tasks_need_no_figures(tmp_path: Path) -> None:
    assert csim(copy_design("pipo", tmp_path), optimisation=UNOPTIMISED).passed


def test_an_array_as_fifo_has_no_known_time(tmp_path: Path) -> None:
    project = copy_design("pipo", tmp_path)
    source = project / "blur.cpp"
    source.write_text(source.read_text().replace("type=pipo depth=3", "depth=3"))
    line = next(i for i, text in enumerate(source.read_text().splitlines(), 1) if "HLS STREAM" in text)
    with pytest.raises(CompileError, match="has no known time; accepted: hls::stream, or type=pipo") as caught:
        simulate(project, optimisation=UNOPTIMISED)
    assert f"blur.cpp:{line}" in str(caught.value)
