"""The kernels of an emitted project as a shared library: the instrumented copy of kernel.cpp and one entry per kernel."""

from __future__ import annotations

import ctypes
import hashlib
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from threading import Lock

from stc.diagnostics import CompileError
from stc.manifest.element_types import element_type
from stc.manifest.files import read_manifest
from stc.manifest.schema import Kernel, Manifest, Port
from stc.simulation.package import FOLDER, include_folders

MESSAGE_BYTES = 1 << 16
# Without -fno-gnu-unique the simulation engine's inline variables would be one object for all libraries of a process: a
# deadlock in one design would stop the next.
# -O3 compiles for almost twice as long, and what it gives runs no faster (GPT-2, a token 1.5 s, stories260K 0.013 s).
FLAGS = ("-std=c++17", "-O1", "-march=native", "-ffp-contract=off", "-w", "-fPIC", "-fno-gnu-unique")

_RUNNING = Lock()
"""The simulation engine runs one design at a time, and whoever opens a project again gets the library that is loaded."""


def shared_kernels(project: Path) -> SharedKernels:
    """Build (or reuse, if nothing is newer) the library below `project/build` and load it."""
    manifest = read_manifest(project)
    return SharedKernels(manifest, ctypes.CDLL(str(built_library(project, manifest))))


def built_library(project: Path, manifest: Manifest) -> Path:
    """The library below `project/build`, built where something is newer, or where another `stc` built it in another way."""
    library = project / "build" / "kernel.so"
    sources = [project / manifest.kernel_source, project / "kernel.h", project / "manifest.json"]
    shim = _shim(manifest)
    if not _built_from(library, shim) or any(source.stat().st_mtime > library.stat().st_mtime for source in sources):
        _build(project, manifest, library, shim)
    return library


def _built_from(library: Path, shim: str) -> bool:
    return library.is_file() and _recipe(shim).encode() in library.read_bytes()


def _recipe(shim: str) -> str:
    """What a library contains that is built from `shim` with `FLAGS`: in the file itself, as nothing beside it could be as new."""
    return f"stc-recipe-{hashlib.sha256(' '.join([*FLAGS, shim]).encode()).hexdigest()}"


class SharedKernels:
    """Launches kernels on the memory of ctypes buffers."""

    def __init__(self, manifest: Manifest, library: ctypes.CDLL):
        self.manifest = manifest
        self._library = library

    def launch(self, kernel: str, addresses: list[int], scalars: Sequence[int] = ()) -> str | None:
        """Run a kernel on one address per port, and its scalars; None, or what stopped it (a deadlock, tokens left over)."""
        message = ctypes.create_string_buffer(MESSAGE_BYTES)
        arguments = (ctypes.c_void_p * len(addresses))(*addresses)
        values = (ctypes.c_int * len(scalars))(*scalars)
        with _RUNNING:
            passed = self._library[f"stc_launch_{kernel}"](arguments, values, message, ctypes.c_size_t(MESSAGE_BYTES))
        return None if passed else message.value.decode(errors="replace")


def _build(project: Path, manifest: Manifest, library: Path, shim: str) -> None:
    compiler = shutil.which("g++")
    if compiler is None:
        raise CompileError("g++ is not installed", accepted="g++ with C++17")
    build = project / "build"
    build.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".launch_", dir=build) as name:  # others may build it at the same time
        unit, linked = (Path(name) / file for file in ("kernel.launch.cpp", library.name))
        _run([sys.executable, str(project / FOLDER / "instrument.py"), str(project / manifest.kernel_source), str(unit)])
        with unit.open("a") as file:  # one unit: the headers take as long as the kernel
            file.write(f'{shim}extern "C" {{ extern const char stc_recipe[]; const char stc_recipe[] = "{_recipe(shim)}"; }}\n')
        includes = [f"-I{folder}" for folder in include_folders(project)]
        _run([compiler, *FLAGS, *includes, "-c", str(unit), "-o", str(unit.with_suffix(".o"))])
        _run([compiler, "-shared", str(unit.with_suffix(".o")), "-o", str(linked)])
        linked.replace(library)


def _run(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        lines = (done.stderr or done.stdout).strip().splitlines()
        errors = [line for line in lines if "error" in line] or lines or ["no message"]
        raise CompileError(f"{Path(command[0]).name} failed: {errors[0]}", where="C simulation of the kernel")


def _shim(manifest: Manifest) -> str:
    """C entries that call the top functions through the simulation engine."""
    lines = [
        "// Entry points for the C-simulation device; see stc/runtime/shared_kernel.py.",
        "#include <cstdio>",
        '#include "kernel.h"',
        '#include "stc_sim.h"',
        _table(manifest),
    ]
    return "\n".join([*lines, *(_entry(kernel) for kernel in manifest.kernels)]) + "\n"


def _table(manifest: Manifest) -> str:
    """What the device behind XRT has to know of the kernels, as text in the library (stc/runtime/xrt/driver.cpp): ports of so many
    bytes, which a launch reads (r), writes (w) or writes a part of (u), and the units that hosts start, with their arguments."""
    lines = [f"mark {mark}" for mark in manifest.marks]
    for kernel in manifest.kernels:
        lines.append(f"kernel {kernel.name}")
        lines += [f"port {port.name} {port.bytes} {_use(port)}" for port in kernel.ports]
        lines += [f"scalar {scalar.name}" for scalar in kernel.scalars]
        for unit in kernel.built:
            if unit.starts:
                lines += [f"unit {unit.name}", *(f"argument {name}" for name in (*unit.ports, *unit.scalars))]
    text = "\n".join(f'"{line}\\n"' for line in lines)
    return f'extern "C" {{ extern const char stc_kernels[]; const char stc_kernels[] =\n{text}; }}'


def _use(port: Port) -> str:
    return "r" if port.direction == "read" else "u" if port.updates is not None else "w"


def _entry(kernel: Kernel) -> str:
    pointers = [f"({_word(port)} *)arguments[{index}]" for index, port in enumerate(kernel.ports)]
    arguments = ", ".join([*pointers, *(f"scalars[{index}]" for index in range(len(kernel.scalars)))])
    return f"""
extern "C" int stc_launch_{kernel.name}(void **arguments, const int *scalars, char *message, size_t size) {{
  const stc_sim::Outcome outcome = stc_sim::run("{kernel.name}", [&] {{ {kernel.name}({arguments}); }});
  std::snprintf(message, size, "%s", outcome.text.c_str());
  return outcome.ok;
}}"""


def _word(port: Port) -> str:
    element = element_type(port.element_type)
    return f"ap_uint<{element.bits * port.lanes}>" if element.is_packed else f"hls::vector<{element.c_type}, {port.lanes}>"
