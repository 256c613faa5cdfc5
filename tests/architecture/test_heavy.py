"""`make check` refuses what it has no time for, and the compiler of tests compiles what it is given."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from stc.simulation.ap_types import copy_ap_types
from stc.simulation.package import INCLUDE

TESTS = Path(__file__).parents[1]
UNIT = '#include "stc_sim.h"\nint main() { stc_sim::Report report("csim.json"); return report.finish(); }\n'


@pytest.mark.parametrize("library", ["torch", "torch_mlir.ir", "transformers"])
def test_a_process_that_imports_torch_ends(library: str) -> None:
    environment = {**os.environ, "PYTHONPATH": str(TESTS / "guard")}
    command = [sys.executable, "-c", f"import {library}"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "mark the test `heavy`" in done.stderr


def test_files_that_import_torch_say_that_they_are_heavy() -> None:
    """In a line of their own: otherwise `make check` ends while it collects them."""
    for path in TESTS.rglob("test_*.py"):
        lines = path.read_text(encoding="utf-8").splitlines()
        if any(re.match(r"(import|from) (torch|torch_mlir|transformers)\b", line) for line in lines):
            assert any(line.startswith("pytestmark") and "pytest.mark.heavy" in line for line in lines), path


def test_nothing_is_compiled(tmp_path: Path) -> None:
    (tmp_path / "unit.cpp").write_text("int main() {}\n")
    environment = {**os.environ, "STC_TEST_FAST": "1"}
    done = subprocess.run(["g++", "unit.cpp"], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "make check" in done.stderr


Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module")
def precompiled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Empty for the first test, and with what two units need for all others: it takes seconds to make."""
    return tmp_path_factory.mktemp("precompiled")


@pytest.fixture
def compiler(tmp_path: Path, precompiled: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """g++ in an empty folder."""
    if shutil.which("g++") is None:
        pytest.skip("g++ is needed")
    monkeypatch.setenv("STC_TEST_PRECOMPILED", str(precompiled))
    (tmp_path / "unit.cpp").write_text(UNIT)

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(["g++", *arguments], cwd=tmp_path, capture_output=True, text=True, check=False)

    return run


FLAGS = ("-std=c++17", "-Winvalid-pch", "-Werror", "-I")
"""And a folder of headers; g++ goes on without a word where precompiled ones do not fit, unless it is asked."""


@pytest.mark.heavy
def test_precompiled_headers_are_taken(compiler: Run) -> None:
    """By the second who needs them, at whatever level."""
    for level, uses in (("-O3", False), ("-O1", True)):
        done = compiler(*FLAGS, str(INCLUDE), level, "-march=native", "-c", "unit.cpp", "-H")
        assert done.returncode == 0, done.stderr
        read = [line for line in done.stderr.splitlines() if line.endswith((".h", ".gch"))]
        assert read[0].startswith("! ") == uses, read  # `!`: a precompiled header that is used
    assert [line for line in read if str(INCLUDE) in line] == [f". {INCLUDE}/stc_sim.h"]  # whose guard ends it


@pytest.mark.heavy
def test_the_vendors_integers_are_precompiled_where_they_are_used(tmp_path: Path, compiler: Run) -> None:
    copy_ap_types(tmp_path / "types")
    (tmp_path / "unit.cpp").write_text(UNIT.replace("\n", '\n#include "ap_int.h"\nap_int<5> five = 5;\n', 1))
    command = [*FLAGS, str(INCLUDE), "-I", "types", "-c", "unit.cpp", "-H", "-w"]
    read = [compiler(*command) for _ in range(2)][1]
    assert read.returncode == 0 and read.stderr.startswith("! ") and "ap_private.h" not in read.stderr, read.stderr


@pytest.mark.heavy
@pytest.mark.parametrize("at_once", [False, True])
def test_the_engine_is_compiled_once(at_once: bool, tmp_path: Path, compiler: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """A program with precompiled headers brings none of its functions, and does what one without them does."""
    assert [compiler(*FLAGS, str(INCLUDE), "-c", "unit.cpp").returncode for _ in range(2)] == [0, 0]
    said: list[str] = []
    for name in ("with", "without"):
        with monkeypatch.context() as patch:
            if name == "without":
                patch.delenv("STC_TEST_PRECOMPILED")
            steps = [["unit.cpp"]] if at_once else [["-c", "unit.cpp", "-o", f"{name}.o"], [f"{name}.o"]]
            for step in steps:
                flags = [*FLAGS, str(INCLUDE)] if "unit.cpp" in step else []
                done = compiler(*flags, *step, *([] if "-c" in step else ["-o", name]))
                assert done.returncode == 0, done.stderr
        (tmp_path / "csim.json").unlink(missing_ok=True)
        ran = subprocess.run([tmp_path / name], cwd=tmp_path, capture_output=True, text=True, check=False)
        said.append(f"{ran.returncode} {ran.stdout}{ran.stderr}")
        if not at_once:
            symbols = subprocess.run(["nm", tmp_path / f"{name}.o"], capture_output=True, text=True, check=True).stdout
            assert (" W _ZN7stc_sim6Report12channel_json" in symbols) == (name == "without")
    assert said[0] == said[1]


@pytest.mark.heavy
def test_other_headers_are_precompiled_on_their_own(tmp_path: Path, compiler: Run) -> None:
    """A header that somebody changed is the one that counts."""
    own = tmp_path / "include"
    (own / "stc_sim").mkdir(parents=True)
    for header in INCLUDE.glob("hls_*.h"):
        (own / header.name).write_text("")  # as many as there are, which takes no time
    report = own / "stc_sim" / "report.h"
    report.write_text("struct Report {\n  Report(const char *) {}\n  int finish() { return 0; }\n};\n")
    (own / "stc_sim.h").write_text('#pragma once\n#include "stc_sim/report.h"\nnamespace stc_sim { using ::Report; }\n')
    command = [*FLAGS, str(own), "-c", "unit.cpp", "-H"]
    assert [compiler(*command).returncode for _ in range(2)] == [0, 0]
    assert compiler(*command).stderr.startswith("! ")
    with report.open("a") as file:
        file.write("\n#error this header was changed\n")
    for _ in range(2):
        done = compiler(*command)
        assert done.returncode == 1
        assert "this header was changed" in done.stderr


@pytest.mark.heavy
def test_headers_that_come_before_are_not_mixed_with_ours(tmp_path: Path, compiler: Run) -> None:
    """As those that own kernels are executed with."""
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "hls_stream.h").write_text("int own() { return 0; }\n")
    (tmp_path / "unit.cpp").write_text('#include "hls_stream.h"\nint main() { return own(); }\n')
    for _ in range(2):
        done = compiler("-std=c++17", "-I", "own", f"-I{INCLUDE}", "unit.cpp", "-o", "unit")
        assert done.returncode == 0, done.stderr
