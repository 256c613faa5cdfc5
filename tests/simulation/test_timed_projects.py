"""Projects simulated with time: what is printed and reported, and what is refused with no report left behind."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from handmade import fifo, loop, manifest
from typer.testing import CliRunner, Result

from stc.diagnostics import CompileError
from stc.manifest.files import to_json
from stc.manifest.schema import BlockBuffer, LoopSchedule, Manifest, Stream
from stc.simulation import build as build_module
from stc.simulation.package import copy_headers
from stc.simulation.simulate import TimedDesign, timed_design
from stc.simulation.timing_table import SimulationOptions
from stc.tools.stc import app

pytestmark = pytest.mark.heavy

KERNEL = """#include "kernel.h"
typedef int row[5];
static void fetch(const int *x, hls::stream<int> &a) {
  fetch_loop: for (int i = 0; i < 35; i++) {
#pragma HLS pipeline II=1 style=flp
    a.write(x[i]);
  }
}
static void gather(hls::stream<int> &a, hls::stream_of_blocks<row> &rows) {
  for (int r = 0; r < 7; r++) {
    hls::write_lock<row> block(rows);
    gather_loop: for (int i = 0; i < 5; i++) {
#pragma HLS pipeline II=2 style=flp
      block[i] = a.read();
    }
  }
}
static void emit(hls::stream_of_blocks<row> &rows, hls::stream<int> &b) {
  for (int r = 0; r < 7; r++) {
    hls::read_lock<row> block(rows);
    emit_loop: for (int i = 0; i < 5; i++) {
#pragma HLS pipeline II=1 style=flp
      b.write(block[4 - i]);
    }
  }
}
static void put(hls::stream<int> &b, int *y) {
  put_loop: for (int i = 0; i < 35; i++) {
#pragma HLS pipeline II=1 style=flp
    y[i] = b.read();
  }
}
extern "C" void top(const int *x, int *y) {
#pragma HLS dataflow
  hls::stream<int, 3> a("a");
  hls::stream<int, 2> b("b");
  hls::stream_of_blocks<row, 2> rows;
  fetch(x, a);
  gather(a, rows);
  emit(rows, b);
  put(b, y);
}
"""
HEADER = """#pragma once
#include "hls_stream.h"
#include "hls_streamofblocks.h"
extern "C" void top(const int *x, int *y);
"""
TESTBENCH = """#include "kernel.h"
#include "stc_sim.h"
int main(int argc, char **argv) {
  stc_sim::Report report(std::string(argv[1]) + "/build/csim.json");
  int x[35], y[35], golden[35];
  for (int i = 0; i < 35; i++) { x[i] = i; golden[i] = i / 5 * 5 + 4 - i % 5; }
  report.run("top", [&] { top(x, y); });
  report.compare("y", y, golden, 35, 0.0);
  return report.finish();
}
"""
STREAMS = (fifo("a", "fetch", "gather", 35, 3), fifo("b", "emit", "put", 35, 2))
LOOPS = (
    loop("fetch", "fetch_loop", 35, 3, writes=["a"]),
    loop("gather", "gather_loop", 5, 4, reads=["a"], ii=2),
    loop("emit", "emit_loop", 5, 2, writes=["b"]),
    loop("put", "put_loop", 35, 2, reads=["b"]),
)
RING = BlockBuffer("rows", "i32", (5,), 2, 32, "gather", "emit", 7)


def whole(streams: tuple[Stream, ...] = STREAMS, loops: tuple[LoopSchedule, ...] = LOOPS, ring: BlockBuffer = RING) -> Manifest:
    content = manifest(streams, loops)
    kernel = content.kernels[0]
    tasks = tuple(
        replace(
            task,
            reads=(*task.reads, *[ring.name] * (task.name == "emit")),
            writes=(*task.writes, *[ring.name] * (task.name == "gather")),
        )
        for task in kernel.tasks
    )
    return replace(content, kernels=(replace(kernel, tasks=tasks, blocks=(ring,)),))


@pytest.fixture(scope="module", autouse=True)
def quick_build() -> Any:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(build_module, "FLAGS", ("-std=c++17", "-O0", "-w"))
        yield


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("timed_project")
    (folder / "manifest.json").write_text(to_json(whole()))
    (folder / "kernel.h").write_text(HEADER)
    (folder / "kernel.cpp").write_text(KERNEL)
    (folder / "testbench.cpp").write_text(TESTBENCH)
    copy_headers(folder / "sim")
    return folder


@pytest.fixture(scope="module")
def design(project: Path) -> TimedDesign:
    return timed_design(project)


def stc(*arguments: object) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def refusal(result: Result) -> str:
    assert isinstance(result.exception, CompileError), result.output
    return str(result.exception)


def report_of(project: Path) -> Path:
    return project / "build" / "simulate.json"


def test_everything_is_told_in_text_and_in_json(project: Path, design: TimedDesign) -> None:
    text = stc("simulate", project, "--invocations", 3)
    assert text.exit_code == 0, text.output
    content = json.loads(stc("simulate", project, "--invocations", 3, "--json").stdout)
    cycles = content["cycles"]
    assert sum(part["cycles"] for part in content["critical_path"]["parts"]) == cycles
    assert sum(share["cycles"] for share in content["critical_path"]["summary"]) == cycles
    assert content["tokens"] == 3 * (35 + 35 + 7) and content["tokens_per_second"] > 0
    assert content["interval"] == content["ends"]["top"][2] - content["ends"]["top"][1] <= cycles
    assert {f["name"]: f["depth"] for f in content["fifos"]} == {"a": 3, "b": 2, "rows": 2}
    assert all(0 < f["highest_occupancy"] <= f["depth"] for f in content["fifos"])
    for task in content["tasks"]:
        assert task["stalled_reading"] + task["stalled_writing"] < sum(end - begin for begin, end in task["calls"])
    for told in (f"{cycles:,} cycles", f"one invocation per {content['interval']:,} cycles", "tokens per second", "gather works"):
        assert told in text.stdout
    for title in ("tasks by cycles busy", "FIFOs by cycles", "critical path"):
        assert title in text.stdout


Change = Callable[[], Manifest]
DISAGREEMENTS: dict[str, tuple[Change, str]] = {
    "a FIFO more": (lambda: whole((*STREAMS, fifo("c", "emit", "put", 1))), "the manifest lists FIFO 'c', which the C++ has not"),
    "a FIFO less": (lambda: whole(STREAMS[:1]), "the C++ has FIFO 'b', which the manifest does not list"),
    "a task more": (
        lambda: whole((*STREAMS, fifo("c", "nobody", "put", 1))), "the manifest lists task 'nobody', which the C++ has not"
    ),
    "another depth": (lambda: whole((STREAMS[0], fifo("b", "emit", "put", 35, 4))), "FIFO 'b' has depth 4 in the manifest, 2 in"),
    "other ends": (lambda: whole((fifo("a", "put", "gather", 35, 3), STREAMS[1])), "FIFO 'a' is written by 'put' in the manifest"),
    "other tokens": (lambda: whole((STREAMS[0], fifo("b", "emit", "put", 34, 2))), "carries 34 tokens in the manifest, 35 in"),
    "a loop more": (
        lambda: whole(loops=(*LOOPS, loop("put", "other", 1))), "lists pipelined loop 'other' of task 'put', which the C++ has not"
    ),
    "a loop less": (lambda: whole(loops=LOOPS[1:]), "the C++ has a pipelined loop 'fetch_loop' in task 'fetch' at line"),
    "another II": (
        lambda: whole(loops=(LOOPS[0], replace(LOOPS[1], ii=1), *LOOPS[2:])), "loop 'gather_loop' of task 'gather' has II 1 in"
    ),
    "other blocks": (lambda: whole(ring=replace(RING, count=3)), "ring of blocks 'rows' has 3 blocks in the manifest, 2 in"),
    "another ring": (lambda: whole(ring=replace(RING, name="columns")), "the manifest lists ring of blocks 'columns', which"),
    "fewer blocks": (lambda: whole(ring=replace(RING, blocks=6)), "is released 6 times in the manifest, 7 in the C++"),
}


@pytest.mark.parametrize("case", DISAGREEMENTS)
def test_a_manifest_that_disagrees_with_the_cpp_is_refused_without_a_report(design: TimedDesign, case: str) -> None:
    change, sentence = DISAGREEMENTS[case]
    assert design.run().passed and report_of(design.directory).is_file()
    with pytest.raises(CompileError, match="manifest and C\\+\\+ disagree") as refused:
        replace(design, emitted=change()).run()
    assert sentence in str(refused.value)
    assert not report_of(design.directory).exists()


def test_disagreement_shows_where_a_deadlock_hides_the_token_counts(design: TimedDesign) -> None:
    """Some differences are seen even if the run does not end."""
    with pytest.raises(CompileError, match="depth 4 in the manifest"):
        replace(design, emitted=DISAGREEMENTS["another depth"][0]()).run(SimulationOptions(limit=20))
    with pytest.raises(CompileError, match="which the C\\+\\+ has not"):
        replace(design, emitted=DISAGREEMENTS["a FIFO more"][0]()).run(SimulationOptions(limit=20))


def test_kernels_that_were_not_called_before_the_run_stopped_are_no_disagreement(design: TimedDesign) -> None:
    """A deadlock in the first of two kernels is one of the design, not of its manifest."""
    first = whole()
    later = replace(manifest((fifo("c", "begin", "end", 9),)).kernels[0], name="later")
    both = replace(design, emitted=replace(first, kernels=(*first.kernels, later)))
    assert both.run(SimulationOptions(limit=20)).values.outcome == "limit"
    with pytest.raises(CompileError, match="the manifest lists FIFO 'c', which the C\\+\\+ has not"):
        both.run()


def test_the_command_refuses_a_disagreeing_project(project: Path, design: TimedDesign) -> None:
    (project / "manifest.json").write_text(to_json(whole((STREAMS[0], fifo("b", "emit", "put", 35, 4)))))
    try:
        result = stc("simulate", project)
        assert "FIFO 'b' has depth 4 in the manifest, 2 in the C++" in refusal(result)
        assert result.stdout == "" and not report_of(project).exists()
    finally:
        (project / "manifest.json").write_text(to_json(whole()))


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ('{"nobody": 3}', "no FIFO is called 'nobody'; accepted: a, b"),
        ('{"a": 0}', "FIFO 'a' has depth 0; accepted: 1 to"),
        ('{"a": -4}', "FIFO 'a' has depth -4; accepted: 1 to"),
        ('{"a": 2.5}', "FIFO 'a' has depth 2.5; accepted: an integer"),
        ('{"a": "7"}', "FIFO 'a' has depth \"7\"; accepted: an integer"),
        ('{"a": true}', "FIFO 'a' has depth true; accepted: an integer"),
        ('{"a": null}', "FIFO 'a' has depth null; accepted: an integer"),
        ('{"a": 36893488147419103232}', "FIFO 'a' has depth 36893488147419103232; accepted: 1 to"),
        ("[3]", "not a JSON object; accepted: a JSON object"),
        ('{"a": 3, "a": 4}', "cannot read depths ('a' comes twice)"),
        ("{", "cannot read depths"),
        (None, "cannot read depths"),
    ],
)
def test_unusable_depths_are_refused_before_building(project: Path, tmp_path: Path, content: str | None, told: str) -> None:
    if content is not None:
        (tmp_path / "depths.json").write_text(content)
    assert told in refusal(stc("simulate", project, "--depths", tmp_path / "depths.json"))


@pytest.mark.parametrize(
    ("option", "value"),
    [("--depth-error", "0"), ("--depth-error", "-1"), ("--depth-error", "nan"), ("--depth-error", "inf"), ("--limit", "0"),
     ("--limit", "-3"), ("--invocations", "0"), ("--invocations", "1000000"), ("--style", "fast"), ("--timeout", "0"),
     ("--timeout", "nan"), ("--timeout", "inf")],
)
def test_unusable_options_are_refused(project: Path, option: str, value: str) -> None:
    assert "accepted" in refusal(stc("simulate", project, option, value))


def test_depths_and_unlimited_exclude_each_other(project: Path, tmp_path: Path) -> None:
    (tmp_path / "depths.json").write_text('{"a": 3}')
    said = refusal(stc("simulate", project, "--unlimited", "--depths", tmp_path / "depths.json"))
    assert "both --depths and --unlimited; accepted: one of them" in said


@pytest.mark.parametrize(
    ("options", "told"),
    [(("--unlimited",), "unlimited FIFOs"), (("--depth-error", "2"), "loop depths times 2"),
     (("--style", "frp"), "every pipeline frp"), ((), "estimated loop depths")],
)
def test_the_origin_says_in_what_a_run_differs(project: Path, options: tuple[str, ...], told: str) -> None:
    assert json.loads(stc("simulate", project, *options, "--json").stdout)["origin"].endswith(told)


def test_a_run_beyond_the_limit_tells_the_cycle_and_who_was_at_work(project: Path, design: TimedDesign) -> None:
    result = stc("simulate", project, "--limit", 30)
    assert result.exit_code == 1
    assert "no cycle count: limit" in result.stdout
    assert "beyond the limit of 30; still at work:" in result.stdout
    for task in ("gather", "emit", "put"):
        assert f"{task} is at cycle" in result.stdout
    content = json.loads(stc("simulate", project, "--limit", 30, "--json").stdout)
    assert content["cycles"] is None and content["critical_path"] == {"parts": [], "summary": [], "roles": []}
    enough = design.run().cycles
    assert enough is not None
    assert stc("simulate", project, "--limit", enough).exit_code == 0
