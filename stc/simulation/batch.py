"""Several emitted projects in one program: the headers, most of the time of a small C++ build, are read once.

Each project's instrumented kernel and testbench stand in a namespace of their own; the program runs the testbench it is told to.

    results = simulate(projects, folder)                       # values; by folder name
    runs = timed_runs(projects, folder)                        # the same programs with time, for any number of runs
"""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from pathlib import Path

from stc.manifest.files import read_manifest
from stc.simulation.ap_types import copy_ap_types, uses_ap_types
from stc.simulation.build import CHECKS, FLAGS, find_compiler, instrumented_kernel, read_sources, run_compiler
from stc.simulation.csim import CsimResult, draws_of, run_draws
from stc.simulation.design_runs import DesignRuns
from stc.simulation.package import AP_TYPES, INCLUDE

HEADERS = ("cstdint", "limits", "string", "vector", "hls_math.h", "hls_stream.h", "hls_streamofblocks.h",
           "hls_vector.h", "stc_sim.h", "stc_sim/engine.h")
TIMEOUT = 60.0
"""Seconds one small design may take."""


def simulate(projects: Sequence[Path], folder: Path) -> dict[str, CsimResult]:
    """Build all projects into one program in `folder` and run each of them; results by the project's folder name.

    The names of their compute units must differ, because these are not in a namespace. CompileError where g++ rejects the program.
    """
    binary = _built(projects, folder, "batch", CHECKS)
    return {project.name: _run(binary, index, project.resolve()) for index, project in enumerate(projects)}


def timed_runs(projects: Sequence[Path], folder: Path) -> dict[str, DesignRuns]:
    """Build all projects with time into one program in `folder`; what runs each of them, by the project's folder name.

    CompileError as for `simulate`. `build_seconds` of each is its share. The program stays in `folder`, which holds one only.
    """
    begin = time.perf_counter()
    binary = _built(projects, folder, "timed_batch", ("-DSTC_SIM_TIMED",))
    share = (time.perf_counter() - begin) / max(1, len(projects))
    return {
        project.name: DesignRuns(read_manifest(project), project.resolve(), [str(binary), str(index)], share, TIMEOUT)
        for index, project in enumerate(projects)
    }


def _built(projects: Sequence[Path], folder: Path, name: str, flags: Sequence[str]) -> Path:
    source, binary = folder / f"{name}.cpp", folder.resolve() / name
    include, headers = ["-I", str(INCLUDE)], list(HEADERS)
    if uses_ap_types((project / "kernel.h").read_text() for project in projects):
        copy_ap_types(folder / AP_TYPES)
        include, headers = [*include, "-I", str(folder / AP_TYPES)], [*headers, "ap_int.h"]
    source.write_text(_program(projects, headers))
    run_compiler([find_compiler(), *FLAGS, *flags, "-O0", *include, str(source), "-o", str(binary)], source)
    return binary


def _without_includes(text: str) -> str:
    """Everything that a file includes has been read before its namespace was opened."""
    return "\n".join(line for line in text.splitlines() if not line.startswith("#include"))


def _inside(namespace: str, text: str) -> str:
    """Names that a file of its own looks up from the outermost scope are looked up in the project's."""
    return re.sub(r"(?<![\w>:])::(?=\w)", f"{namespace}::", text)


def _program(projects: Sequence[Path], headers: Sequence[str]) -> str:
    lines = [f"#include <{header}>" for header in headers]
    for index, project in enumerate(projects):
        (project / "build").mkdir(exist_ok=True)
        lines += ["#undef STC_KERNEL_H", "#undef STC_LAYOUT_H", f"#define main main_{index}", f"namespace project_{index} {{"]
        lines += [f'#include "{project / name}"' for name in ("kernel.h", "layout.h")]
        lines += [_without_includes(instrumented_kernel(read_sources(project)))]
        lines += [_inside(f"project_{index}", _without_includes((project / "testbench.cpp").read_text())), "}", "#undef main"]
    lines.append("int main(int argc, char **argv) {")
    lines.append("  const int chosen = std::stoi(argv[1]);")
    for index in range(len(projects)):
        lines.append(f"  if (chosen == {index}) return project_{index}::main_{index}(argc - 1, argv + 1);")
    lines += ["  return 2;", "}", ""]
    return "\n".join(lines)


def _run(binary: Path, index: int, project: Path) -> CsimResult:
    return run_draws(project, [str(binary), str(index)], draws_of(project), TIMEOUT)
