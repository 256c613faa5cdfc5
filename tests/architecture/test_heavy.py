"""`make check` refuses what it has no time for, and the compiler of tests compiles what it is given."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from stc.simulation.package import INCLUDE

TESTS = Path(__file__).parents[1]
UNIT = '#include "stc_sim.h"\nint main() { stc_sim::Report report("csim.json"); }\n'


@pytest.mark.parametrize("library", ["torch", "torch_mlir.ir", "transformers"])
def test_a_process_that_imports_torch_ends(library: str) -> None:
    environment = {**os.environ, "PYTHONPATH": str(TESTS / "guard")}
    command = [sys.executable, "-c", f"import {library}"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "mark the test `heavy`" in done.stderr


def test_nothing_is_compiled(tmp_path: Path) -> None:
    (tmp_path / "unit.cpp").write_text("int main() {}\n")
    environment = {**os.environ, "STC_TEST_FAST": "1"}
    done = subprocess.run(["g++", "unit.cpp"], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "make check" in done.stderr


@pytest.mark.heavy
def test_precompiled_headers_are_taken(tmp_path: Path) -> None:
    """g++ goes on without a word where they do not fit, unless it is asked."""
    if shutil.which("g++") is None:
        pytest.skip("g++ is needed")
    (tmp_path / "unit.cpp").write_text(UNIT)
    command = ["g++", "-O3", "-std=c++17", "-march=native", "-I", str(INCLUDE), "-c", "unit.cpp", "-H", "-Winvalid-pch", "-Werror"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    read = [line for line in done.stderr.splitlines() if line.endswith((".h", ".gch"))]
    assert read[0].startswith("! "), read  # `!`: a precompiled header that is used
    assert [line for line in read if str(INCLUDE) in line] == [f". {INCLUDE}/stc_sim.h"]  # whose guard ends it


@pytest.mark.heavy
def test_other_headers_are_precompiled_on_their_own(tmp_path: Path) -> None:
    """A header that somebody changed is the one that counts."""
    changed = tmp_path / "include"
    shutil.copytree(INCLUDE, changed)
    with (changed / "stc_sim.h").open("a") as file:
        file.write("\n#error this header was changed\n")
    (tmp_path / "unit.cpp").write_text(UNIT)
    command = ["g++", "-std=c++17", "-I", str(changed), "-c", "unit.cpp"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "this header was changed" in done.stderr
