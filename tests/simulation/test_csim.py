"""`csim` on a project folder: results, caching, and what is refused."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from stc.diagnostics import CompileError
from stc.manifest.files import to_json
from stc.manifest.schema import SCHEMA_VERSION, Manifest
from stc.simulation import build as build_module
from stc.simulation.csim import csim
from stc.simulation.package import copy_headers

pytestmark = pytest.mark.heavy

KERNEL = """#include "kernel.h"
static void make(hls::stream<float> &a, hls::stream<float> &b) {
  for (int i = 0; i < 4; i++) a.write(float(i));
  for (int i = 0; i < 4; i++) b.write(float(i));
}
static void take(hls::stream<float> &a, hls::stream<float> &b, float *y) {
  for (int i = 0; i < 4; i++) y[i] = a.read() + b.read();
}
extern "C" void top(float *y) {
#pragma HLS dataflow
  hls::stream<float, DEPTH> a("a");
  hls::stream<float, 2> b("b");
  make(a, b);
  take(a, b, y);
}
"""
TESTBENCH = """#include "kernel.h"
#include "stc_sim.h"
int main(int argc, char **argv) {
  std::string dir = argv[1];
  stc_sim::Report report(dir + "/build/csim.json");
  std::vector<float> golden = stc_sim::load<float>(dir + "/golden/y.bin", 4), y(4);
  report.run("top", [&] { top(y.data()); });
  report.compare("y", y.data(), golden.data(), 4, 1e-6);
  return report.finish();
}
"""
MANIFEST = Manifest(SCHEMA_VERSION, "top", "u55c", (), (), (), 1e-6, {}, {}, {})


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(build_module, "FLAGS", ("-std=c++17", "-O0", "-w"))
    (tmp_path / "manifest.json").write_text(to_json(MANIFEST))
    write_header(tmp_path, 4)
    (tmp_path / "kernel.cpp").write_text(KERNEL)
    (tmp_path / "testbench.cpp").write_text(TESTBENCH)
    (tmp_path / "golden").mkdir()
    write_golden(tmp_path, [0.0, 2.0, 4.0, 6.0])
    copy_headers(tmp_path / "sim")
    return tmp_path


def write_header(project: Path, depth: int) -> None:
    (project / "kernel.h").write_text(
        f'#pragma once\n#include "hls_stream.h"\nconst int DEPTH = {depth};\nextern "C" void top(float *y);\n'
    )


def write_golden(project: Path, values: list[float]) -> None:
    import struct

    (project / "golden" / "y.bin").write_bytes(struct.pack(f"<{len(values)}f", *values))


def test_results_and_caching(project: Path) -> None:
    before = {p for p in project.rglob("*") if p.is_file()}
    first = csim(project)
    assert (first.outcome, first.passed, first.cached, first.deadlock) == ("finished", True, False, None)
    assert first.outputs[0].name == "y" and first.outputs[0].max_abs_reference == 6
    assert [(c.name, c.tokens, c.depth) for c in first.channels] == [("a", 4, 4), ("b", 4, 2)]
    written = {p for p in project.rglob("*") if p.is_file()} - before
    assert {p.parent for p in written} == {project / "build"}
    assert csim(project).cached

    write_golden(project, [0.0, 2.0, 4.0, 6.5])
    mismatch = csim(project)
    assert (mismatch.outcome, mismatch.passed, mismatch.cached) == ("finished", False, True)
    assert mismatch.outputs[0].max_abs_error == 0.5

    write_header(project, 2)
    stuck = csim(project)
    assert (stuck.outcome, stuck.passed, stuck.cached) == ("deadlock", False, False)
    assert stuck.deadlock is not None and "make waits to write fifo 'a': 2 of 2 slots taken" in stuck.deadlock
    assert [b.task for b in stuck.blocked] == ["top", "make", "take"]

    write_golden(project, [0.0])
    with pytest.raises(CompileError, match=r"y\.bin has 4 bytes; accepted: 16"):
        csim(project)


def test_crashes_and_endless_designs_are_results(project: Path) -> None:
    (project / "testbench.cpp").write_text("#include <cstdlib>\nint main() { std::abort(); }\n")
    crash = csim(project)
    assert (crash.outcome, crash.passed) == ("crash", False)
    assert crash.explanation == "the simulation died of SIGABRT"
    (project / "testbench.cpp").write_text("int main() { for (volatile int i = 0;;) { i = i; } }\n")
    assert csim(project, timeout=0.3).outcome == "timeout"


def test_missing_compiler(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CXX", raising=False)
    monkeypatch.setenv("PATH", str(project))
    with pytest.raises(CompileError) as caught:
        csim(project)
    assert str(caught.value).startswith("C++ compiler 'g++' not found; accepted: g++ 12 or later")


def test_a_project_that_cannot_be_written_is_refused(project: Path) -> None:
    (project / "build").write_text("")
    with pytest.raises(CompileError, match=r"build: cannot make this folder .*; accepted: a project that you may write in"):
        csim(project)


def test_a_full_disk_is_not_an_error_in_the_source(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compiler = project / "full"
    compiler.write_text("#!/bin/sh\necho 'ld: final link failed: No space left on device' >&2\nexit 1\n")
    compiler.chmod(0o755)
    monkeypatch.setenv("CXX", str(compiler))
    with pytest.raises(CompileError, match=r"g\+\+ cannot write \(No space left on device\)"):
        csim(project)


def test_compile_errors_show_the_first_message(project: Path) -> None:
    (project / "kernel.cpp").write_text(KERNEL.replace("a.read()", "a.fetch()"))
    with pytest.raises(CompileError, match=r"kernel\.cpp:7:\d+: error: .*has no member named .fetch"):
        csim(project)
    (project / "kernel.cpp").write_text(KERNEL.replace("  make(a, b);", "  if (y) make(a, b);"))
    with pytest.raises(CompileError, match=r"kernel\.cpp:13: 'if' in a dataflow body; accepted: "):
        csim(project)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "not an emitted project"),
        ("[", "not valid JSON"),
        ("[]", "the manifest is not an object"),
        (to_json(MANIFEST).replace('"kernel.cpp"', "3"), "'kernel_source' is 3; accepted: str"),
        (to_json(replace(MANIFEST, testbench_sources=())), "'testbench_sources' is empty"),
        (to_json(replace(MANIFEST, kernel_source="other.cpp")), "missing source file"),
    ],
)
def test_unusable_projects(project: Path, content: str | None, message: str) -> None:
    if content is None:
        (project / "manifest.json").unlink()
    else:
        (project / "manifest.json").write_text(content)
    with pytest.raises(CompileError, match=message):
        csim(project)
    assert not (project / "build").exists()
