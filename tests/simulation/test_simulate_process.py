"""How `stc simulate` ends: exit code 1 where the run is at fault, 2 where the input is, and never a traceback."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from handmade import fifo, loop, manifest

from stc.manifest.files import to_json
from stc.manifest.schema import Manifest
from stc.simulation.package import copy_headers
from stc_testing.commands import Stc

pytestmark = pytest.mark.heavy

KERNEL = """#include "kernel.h"
static void split(const int *x, hls::stream<int> &a, hls::stream<int> &b) {
  first: for (int i = 0; i < 7; i++) {
#pragma HLS pipeline II=1 style=flp
    a.write(x[i]);
  }
  second: for (int i = 0; i < 7; i++) {
#pragma HLS pipeline II=1 style=flp
    b.write(x[i]);
  }
}
static void meet(hls::stream<int> &a, hls::stream<int> &b, int *y) {
  meet_loop: for (int i = 0; i < 7; i++) {
#pragma HLS pipeline II=1 style=flp
    y[i] = b.read() - a.read();
  }
}
extern "C" void top(const int *x, int *y) {
#pragma HLS dataflow
  hls::stream<int, 7> a("a");
  hls::stream<int, 2> b("b");
  split(x, a, b);
  meet(a, b, y);
}
"""
HEADER = """#pragma once
#include "hls_stream.h"
extern "C" void top(const int *x, int *y);
"""
TESTBENCH = """#include "kernel.h"
#include "stc_sim.h"
int main(int argc, char **argv) {
  stc_sim::Report report(std::string(argv[1]) + "/build/csim.json");
  int x[7] = {}, y[7], golden[7] = {};
  report.run("top", [&] { top(x, y); });
  report.compare("y", y, golden, 7, 0.0);
  return report.finish();
}
"""
LOOPS = (
    loop("split", "first", 7, 3, writes=["a"]),
    loop("split", "second", 7, 3, writes=["b"]),
    loop("meet", "meet_loop", 7, 2, reads=["b", "a"]),
)


def content(depth: int = 7) -> Manifest:
    return manifest((fifo("a", "split", "meet", 7, depth), fifo("b", "split", "meet", 7)), LOOPS)


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Its compiler builds without optimisation, which takes a third of the time."""
    folder = tmp_path_factory.mktemp("process")
    (folder / "kernel.h").write_text(HEADER)
    (folder / "kernel.cpp").write_text(KERNEL)
    (folder / "testbench.cpp").write_text(TESTBENCH)
    copy_headers(folder / "sim")
    (folder / "quick").write_text('#!/bin/sh\nexec g++ "$@" -O0\n')
    (folder / "quick").chmod(0o755)
    return folder


CASES: dict[str, tuple[Manifest, dict[str, int], tuple[str, ...], int, str]] = {
    "fine": (content(), {}, (), 0, "values passed"),
    "deadlock": (content(), {"a": 3}, (), 1, "no cycle count: deadlock"),
    "limit": (content(), {}, ("--limit", "9"), 1, "beyond the limit of 9"),
    "bad depths": (content(), {"a": -3}, (), 2, "FIFO 'a' has depth -3; accepted: 1 to"),
    "another manifest": (content(5), {}, (), 2, "FIFO 'a' has depth 5 in the manifest, 7 in the C++"),
}


@pytest.mark.parametrize("case", CASES)
def test_exit_codes(project: Path, case: str, stc: Stc, monkeypatch: pytest.MonkeyPatch) -> None:
    described, depths, options, code, told = CASES[case]
    monkeypatch.setenv("CXX", str(project / "quick"))
    (project / "manifest.json").write_text(to_json(described))
    (project / "depths.json").write_text(json.dumps(depths))
    (project / "build").mkdir(exist_ok=True)
    (project / "build" / "simulate.json").unlink(missing_ok=True)
    done = stc("simulate", project, "--depths", project / "depths.json", *options)
    printed = " ".join((done.stdout + done.stderr).split())
    assert done.code == code, printed
    assert told in printed and "Traceback" not in printed
    if code == 2:
        assert done.stdout == "" and not (project / "build" / "simulate.json").exists()
