"""Small hand-written designs, built and run as `stc csim` does, without the rest of the compiler.

Every test body of one module that needs a binary goes through `design`, which compiles a kernel and a testbench body with
little optimisation: what is tested is behaviour, not speed.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from stc.simulation.instrument import instrument
from stc.simulation.package import INCLUDE

HEADERS = '#include "hls_stream.h"\n#include "hls_streamofblocks.h"\n#include "hls_vector.h"\n#include "hls_math.h"\n'
Run = Callable[..., dict[str, Any]]


FLAGS = ("-std=c++17", "-O0", "-Wall", "-Wno-unknown-pragmas", "-Wno-unused", "-Werror", "-I", str(INCLUDE))


def compiler(*arguments: str) -> None:
    done = subprocess.run(["g++", *FLAGS, *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def included(folder: Path) -> Path:
    """All drop-in headers in one."""
    if shutil.which("g++") is None:
        pytest.skip("g++ is needed")
    path = folder / "all.h"
    path.write_text(HEADERS + '#include "stc_sim.h"\n')
    return path


@pytest.fixture(scope="session")
def headers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What small designs are compiled against."""
    return included(tmp_path_factory.mktemp("headers"))


def compile_program(source: str, folder: Path, headers: Path, *flags: str) -> Path:
    """A program from one file of C++, compiled against the drop-in headers."""
    path = folder / "program.cpp"
    path.write_text(source)
    binary = folder / "program"
    compiler(*flags, "-include", str(headers), str(path), "-o", str(binary))
    return binary


def run_program(binary: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([str(binary), *arguments], capture_output=True, text=True, timeout=20, check=False)


@pytest.fixture
def design(tmp_path: Path, headers: Path) -> Run:
    """Instruments `kernel`, runs `body` (which has `report`), and returns the content of csim.json."""

    def run(kernel: str, body: str, *flags: str) -> dict[str, Any]:
        text = instrument(HEADERS + kernel, "kernel.cpp")
        text += f"""
#include "stc_sim.h"
int main() {{
  stc_sim::Report report("{tmp_path}/csim.json");
  {body}
  return report.finish();
}}
"""
        done = run_program(compile_program(text, tmp_path, headers, *flags))
        result: dict[str, Any] = json.loads((tmp_path / "csim.json").read_text())
        assert done.returncode == (0 if result["passed"] else 1), done.stderr
        result["printed"] = done.stdout
        return result

    return run


def channel(result: dict[str, Any], name: str) -> dict[str, Any]:
    return next(c for c in result["channels"] if c["name"] == name)
