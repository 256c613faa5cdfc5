"""`stc csim` and `stc simulate` explain what goes wrong: text, JSON and exit codes, on a small project written by hand."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from stc.diagnostics import CompileError
from stc.manifest.files import to_json
from stc.manifest.schema import SCHEMA_VERSION, Kernel, LoopSchedule, Manifest, Stream, Task
from stc.simulation import build as build_module
from stc.simulation.package import copy_headers
from stc.tools.stc import app

pytestmark = pytest.mark.heavy

KERNEL = """#include "kernel.h"
static void split(const int *x, hls::stream<int> &direct, hls::stream<int> &around) {
  split_loop: for (int i = 0; i < 9; i++) {
#pragma HLS pipeline II=1 style=flp
    direct.write(x[i]); around.write(x[i]);
  }
}
static void total(hls::stream<int> &around, hls::stream<int> &sum) {
  int s = 0;
  total_loop: for (int i = 0; i < 9; i++) {
#pragma HLS pipeline II=1 style=flp
    s += around.read();
  }
  sum.write(s);
}
static void join(hls::stream<int> &direct, hls::stream<int> &sum, int *y) {
  const int s = sum.read();
  join_loop: for (int i = 0; i < 9; i++) {
#pragma HLS pipeline II=1 style=flp
    y[i] = direct.read() + s;
  }
}
extern "C" void top(const int *x, int *y) {
#pragma HLS dataflow
  hls::stream<int, 4> direct("direct");
  hls::stream<int, 2> around("around"), sum("sum");
  split(x, direct, around);
  total(around, sum);
  join(direct, sum, y);
}
"""
TESTBENCH = """#include "kernel.h"
#include "stc_sim.h"
int main(int argc, char **argv) {
  stc_sim::Report report(std::string(argv[1]) + "/build/csim.json");
  int x[9], y[9], golden[9];
  for (int i = 0; i < 9; i++) { x[i] = i; golden[i] = i + 36; }
  report.run("top", [&] { top(x, y); });
  report.compare("y", y, golden, 9, 0.0);
  return report.finish();
}
"""


def _stream(name: str, producer: str, consumer: str, tokens: int, depth: int) -> Stream:
    return Stream(name, "i32", 1, 32, depth, "srl", producer, consumer, tokens)


def _loop(task: str, reads: dict[str, int], writes: dict[str, int]) -> LoopSchedule:
    return LoopSchedule(task, f"{task}_loop", None, 9, 1, 2, 1, False, reads, writes, ())


TASKS = (
    Task("split", "compute", None, (), ("direct", "around"), {}, {}),
    Task("total", "compute", None, ("around",), ("sum",), {"sum": 1}, {}),
    Task("join", "compute", None, ("direct", "sum"), (), {"sum": 1}, {}),
)
STREAMS = (_stream("direct", "split", "join", 9, 4), _stream("around", "split", "total", 9, 2),
           _stream("sum", "total", "join", 1, 2))
LOOPS = (_loop("split", {}, {"direct": 1, "around": 1}), _loop("total", {"around": 1}, {}), _loop("join", {"direct": 1}, {}))
MANIFEST = Manifest(SCHEMA_VERSION, "small", "u55c", (Kernel("top", (), TASKS, STREAMS, (), LOOPS),), (), (), 0.0, {}, {}, {})


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("small")
    (folder / "manifest.json").write_text(to_json(MANIFEST))
    (folder / "kernel.h").write_text('#pragma once\n#include "hls_stream.h"\nextern "C" void top(const int *x, int *y);\n')
    (folder / "kernel.cpp").write_text(KERNEL)
    (folder / "testbench.cpp").write_text(TESTBENCH)
    (folder / "depths.json").write_text('{"direct": 9}')
    copy_headers(folder / "sim")
    return folder


@pytest.fixture(autouse=True)
def quick_build(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build_module, "FLAGS", ("-std=c++17", "-O0", "-w"))


def stc(*arguments: object) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def content(result: Result) -> dict[str, Any]:
    return json.loads(result.stdout)


def test_a_deadlock_is_explained_with_its_fix(project: Path) -> None:
    for command in ("csim", "simulate"):
        text = stc(command, project)
        assert text.exit_code == 1
        assert "FIFO 'direct' is full (4 of 4, stopped at token 4): set its depth to at least 9" in text.stdout
        assert "paths part at split and meet at join" in text.stdout
        told = content(stc(command, project, "--json"))["explanation"]
        assert told["cause"] == "depth" and told["culprits"] == ["direct"] and told["fixes"][0]["depths"] == {"direct": 9}
        assert told["wait_cycles"][0]["parts"] == ["split"] and told["wait_cycles"][0]["empty"] == ["sum", "around"]
        assert json.loads((project / "build" / f"{command}.json").read_text())["outcome"] == "deadlock"   # not that of a trial


def test_the_fix_is_one(project: Path) -> None:
    fine = stc("simulate", project, "--depths", project / "depths.json", "--json")
    assert fine.exit_code == 0 and content(fine)["explanation"] is None and content(fine)["why"] is None


def test_why_tells_phases_in_words_and_json(project: Path) -> None:
    asked = ("simulate", project, "--depths", project / "depths.json", "--why", "join")
    told = stc(*asked)
    assert told.exit_code == 0
    assert told.stdout.startswith("join: cycles 0 to ")
    assert "it waits to read sum" in told.stdout and "because total works" in told.stdout
    why = content(stc(*asked, "--json"))["why"]
    assert why["task"] == "join" and [phase["channel"] for phase in why["phases"]].count("sum") == 1
    assert abs(why["busy"] + sum(why["lost"].values()) - 1) < 1e-9
    unknown = stc("simulate", project, "--depths", project / "depths.json", "--why", "nobody")
    assert isinstance(unknown.exception, CompileError) and "split, total, join" in str(unknown.exception)


def depths_file(tmp_path: Path, **depths: int) -> Path:
    tmp_path.mkdir(exist_ok=True)
    path = tmp_path / "depths.json"
    path.write_text(json.dumps(depths))
    return path


def test_what_depths_cost_is_told_in_words_and_json(project: Path, tmp_path: Path) -> None:
    asked = ("simulate", project, "--cost-of-depths", "--depths", depths_file(tmp_path, direct=9, around=1))
    told = stc(*asked)
    assert told.exit_code == 0, told.output
    now, best = (content(stc("simulate", project, "--depths", depths_file(tmp_path / name, direct=9, **more), "--json"))["cycles"]
                 for name, more in (("slow", {"around": 1}), ("fast", {"around": 9, "sum": 9})))
    first, second = told.stdout.splitlines()
    assert now > best and first == f"{now} cycles, {now - best} more than with unlimited FIFOs ({best})"
    assert second.startswith("FIFO 'around' (split to total, depth 1): ")
    assert second.endswith("set the depth to at least 2 for 'around', which saves all of them")
    cost = content(stc(*asked, "--json"))["cost_of_depths"]
    assert (cost["cycles"], cost["unlimited_cycles"], cost["lost"]) == (now, best, now - best)
    assert cost["culprits"] == ["around"] and cost["causes"][0]["depths"] == {"around": 2} and cost["searched"]
    assert cost["causes"][0]["added_bits"] == 32 and cost["text"] == told.stdout.strip()
    written = json.loads((project / "build" / "simulate.json").read_text())
    assert written["timing"]["invocations"] == [["top", now]]   # not that of a trial


def test_depths_that_cost_nothing(project: Path, tmp_path: Path) -> None:
    asked = ("simulate", project, "--cost-of-depths", "--depths", depths_file(tmp_path, direct=9))
    told = stc(*asked)
    assert told.exit_code == 0 and "cycles: the FIFO depths cost nothing (" in told.stdout
    cost = content(stc(*asked, "--json"))["cost_of_depths"]
    assert cost["lost"] == 0 and cost["causes"] == [] and cost["cycles"] == cost["unlimited_cycles"]
    both = stc(*asked, "--why", "join")
    assert both.exit_code == 0 and both.stdout.startswith("join: cycles 0 to ") and "cost nothing" in both.stdout
    assert content(stc(*asked[:2], *asked[3:], "--json"))["cost_of_depths"] is None


def test_a_deadlock_is_explained_whatever_its_depths_cost(project: Path) -> None:
    told = stc("simulate", project, "--cost-of-depths")
    assert told.exit_code == 1 and "set its depth to at least 9" in told.stdout and "unlimited" not in told.stdout
    found = content(stc("simulate", project, "--cost-of-depths", "--json"))
    assert found["cost_of_depths"] is None and found["explanation"]["culprits"] == ["direct"]


def test_costs_that_cannot_be_told_are_refused(project: Path) -> None:
    for more in (("--static",), ("--unlimited",), ("--invocations", 2)):
        refused = stc("simulate", project, "--cost-of-depths", *more)
        assert isinstance(refused.exception, CompileError) and "--cost-of-depths" in str(refused.exception), more


def test_the_cost_of_depths_of_a_foreign_design_is_as_the_documentation_shows_it(tmp_path: Path) -> None:
    root = Path(__file__).parents[2]
    design = shutil.copytree(root / "tests" / "simulation" / "foreign" / "diamond", tmp_path / "diamond",
                             ignore=shutil.ignore_patterns("build"))
    told = stc("simulate", design, "--cost-of-depths", "--depths", depths_file(tmp_path, b=2, moved=3))
    section = (root / "docs" / "explanations.md").read_text().split("## Slower than it could be")[1].split("\n## ")[0]
    assert told.exit_code == 0
    assert told.stdout.splitlines() == [line[4:] for line in section.splitlines() if line.startswith("    ")]


def test_static_checks_run_nothing(project: Path, tmp_path: Path) -> None:
    (tmp_path / "manifest.json").write_text(to_json(MANIFEST))   # nothing there to build
    text = stc("simulate", tmp_path, "--static")
    assert text.exit_code == 0 and "passed (computed from the manifest, nothing was run)" in text.stdout
    assert "  split to join: by around, sum; or by direct" in text.stdout
    assert "only a run tells: tasks may form a wait-for cycle where one of these is full: direct\n" in text.stdout
    told = content(stc("simulate", tmp_path, "--static", "--json"))
    assert told["passed"] and told["counted"] == ["direct", "around", "sum"] and told["findings"] == []


def test_what_static_checks_would_ignore_is_refused(project: Path, tmp_path: Path) -> None:
    for more in (("--depths", depths_file(tmp_path, direct=9)), ("--unlimited",), ("--depth-error", 2), ("--style", "stp"),
                 ("--invocations", 2), ("--limit", 9), ("--why", "join"), ("--profile", tmp_path / "depths.json")):
        refused = stc("simulate", project, "--static", *more)
        assert isinstance(refused.exception, CompileError) and f"both --static and {more[0]}" in str(refused.exception), more
    foreign = stc("simulate", Path(__file__).parents[2] / "examples" / "foreign", "--static")
    assert isinstance(foreign.exception, CompileError) and "known only when it runs" in str(foreign.exception)


def test_contradictions_fail_the_check_and_are_refused_before_a_run(tmp_path: Path) -> None:
    kernel = MANIFEST.kernels[0]
    wrong = replace(kernel, streams=(replace(STREAMS[0], tokens=10), *STREAMS[1:]))
    (tmp_path / "manifest.json").write_text(to_json(replace(MANIFEST, kernels=(wrong,))))
    checked = stc("simulate", tmp_path, "--static")
    assert checked.exit_code == 1
    assert "error: top.direct: split writes 9 tokens, the manifest says 10" in checked.stdout and "FAILED" in checked.stdout
    refused = stc("simulate", tmp_path)
    assert isinstance(refused.exception, CompileError)
    told = "top.direct: the manifest contradicts itself: split writes 9 tokens, the manifest says 10 (and 1 more"
    assert told in str(refused.exception)
