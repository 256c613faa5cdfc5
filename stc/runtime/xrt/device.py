"""XRT with the C simulation of a project, or of all stages of a model, as its device: a driver, an xclbin, an environment.

    simulated = simulated_device(folder)
    subprocess.run([host, simulated.xclbin], env={**os.environ, **simulated.environment})
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

from stc.diagnostics import CompileError
from stc.manifest.files import read_manifest
from stc.manifest.model_files import MODEL, read_model
from stc.manifest.schema import Manifest
from stc.platforms.platform import PLATFORM_FILE, ExternalMemory, load_platform
from stc.runtime.shared_kernel import built_library
from stc.runtime.xrt.xclbin import write_xclbin

PACKAGES = "Debian's packages libxrt1 and libxrt-dev (XRT 2.13)"
DRIVER_SOURCE = Path(__file__).with_name("driver.cpp")
LIBRARY_FOLDERS = (Path("/usr/lib/x86_64-linux-gnu"), Path("/usr/lib/aarch64-linux-gnu"), Path("/usr/lib"))
HEADERS = Path("/usr/include/xrt")
VENDOR_DRIVER = "libxrt_noop.so.2"
CARDS = Path("/sys/bus/pci/drivers/xocl")
EMULATION, NOOP = "XCL_EMULATION_MODE", "noop"


@dataclass(frozen=True)
class Simulated:
    """`environment`: what makes XRT take `root`/lib's driver; `xclbin`: what a host loads, a folder where that is several."""

    root: Path
    xclbin: Path

    @property
    def environment(self) -> dict[str, str]:
        return {EMULATION: NOOP, "XILINX_XRT": str(self.root)}


def has_card() -> bool:
    """Whether XRT has a device without us: where the environment chooses one of its drivers, all but that of no device (noop); else
    a card that the vendor's kernel driver has."""
    if mode := emulation_mode():
        return mode != NOOP
    return CARDS.is_dir() and any(":" in entry.name for entry in CARDS.iterdir())


def emulation_mode() -> str | None:
    """The driver that the environment chooses for XRT: hw_emu and sw_emu are the vendor's emulations of a card."""
    return os.environ.get(EMULATION) or None


def vendor_driver() -> Path:
    """XRT's own driver without a device; CompileError where it is not installed."""
    found = next((folder / VENDOR_DRIVER for folder in LIBRARY_FOLDERS if (folder / VENDOR_DRIVER).is_file()), None)
    if found is None or not (HEADERS / "xrt.h").is_file():
        raise CompileError("XRT is not installed", accepted=f"{PACKAGES}, or --device csim")
    return found


def simulated_device(folder: Path) -> Simulated:
    """Build what is not built yet, below `folder/build`; CompileError where something is missing."""
    vendor = vendor_driver()
    folder = folder.resolve()
    projects = _projects(folder)
    root = folder / "build" / "xrt"
    _build_driver(vendor, root / "lib" / VENDOR_DRIVER)
    libraries = [built_library(project, manifest) for project, manifest in projects.items()]
    if (manifest := projects.get(folder)) is not None and manifest.bitstreams:
        for it in manifest.bitstreams:
            # The driver has one device: cards are that, with the kernels of all.
            own = it.kernel if manifest.takes_turns else None
            write_xclbin(root / f"{it.kernel}.xclbin", projects, memory_of(projects), libraries, own)
        return Simulated(root, root)
    xclbin = root / "csim.xclbin"
    write_xclbin(xclbin, projects, memory_of(projects), libraries)
    return Simulated(root, xclbin)


def memory_of(projects: Iterable[Path]) -> ExternalMemory:
    """The memory of the device that projects (folders) are for, as their own files say; CompileError where that is unusable."""
    found = {folder: load_platform(str(folder / PLATFORM_FILE)).memory for folder in projects}
    first, memory = next(iter(found.items()))
    for folder, other in found.items():
        if other != memory:
            what = f"its memory is not that of {first.name}/{PLATFORM_FILE}"
            raise CompileError(what, where=str(folder / PLATFORM_FILE), accepted="stages of one model, compiled together")
    return memory


def built_host(project: Path) -> Path:
    """The C++ host program of a project, compiled against XRT where its source is newer; CompileError where that is impossible."""
    source, host = project / "host.cpp", project / "build" / "host"
    if not source.is_file():
        raise CompileError("no host.cpp here", where=str(project), accepted="a folder written by `stc compile`")
    if host.is_file() and host.stat().st_mtime > max(source.stat().st_mtime, (project / "layout.h").stat().st_mtime):
        return host
    installed = Path(os.environ.get("XILINX_XRT", "/none"))
    include = installed / "include" if (installed / "include").is_dir() else HEADERS
    if not include.is_dir():
        raise CompileError("XRT's headers are not installed", accepted=f"{PACKAGES}, or XILINX_XRT set to the vendor's")
    host.parent.mkdir(exist_ok=True)
    options = ["-std=c++17", "-O2", f"-I{include}", f"-I{project}", f"-L{installed / 'lib'}", "-lxrt_coreutil", "-pthread"]
    _compile([str(source), *options], host, "host.cpp")
    return host


def _projects(folder: Path) -> dict[Path, Manifest]:
    """The project in `folder`, or those of all stages of the model there."""
    if not (folder / MODEL).is_file():
        return {folder: read_manifest(folder)}
    stages = [folder / project.folder for project in read_model(folder).projects]
    return {stage: read_manifest(stage) for stage in stages}


def _build_driver(vendor: Path, library: Path) -> None:
    if library.is_file() and library.stat().st_mtime > max(DRIVER_SOURCE.stat().st_mtime, vendor.stat().st_mtime):
        return
    # Under a name of its own, or the loader would take it for the driver that it wraps.
    options = ["-std=c++17", "-O1", "-Wall", "-fPIC", "-shared", f"-I{HEADERS}", f'-DSTC_REAL_DRIVER="{vendor}"',
               "-Wl,-soname,libstc_csim_driver.so", "-ldl", "-pthread"]
    library.parent.mkdir(parents=True, exist_ok=True)
    _compile([str(DRIVER_SOURCE), *options], library, "driver of C simulation behind XRT")


def _compile(arguments: Sequence[str], target: Path, what: str) -> None:
    """Compile into a folder beside `target`, and rename."""
    compiler = shutil.which("g++")
    if compiler is None:
        raise CompileError("g++ is not installed", accepted="g++ with C++17")
    with tempfile.TemporaryDirectory(prefix=f".{target.name}_", dir=target.parent) as name:
        built = Path(name) / target.name
        done = subprocess.run([compiler, *arguments, "-o", str(built)], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            lines = [line for line in done.stderr.splitlines() if "error" in line] or ["no message"]
            raise CompileError(f"g++ failed: {lines[0]}", where=what, accepted=PACKAGES)
        built.replace(target)


def simulates() -> bool:
    """Whether XRT's first device is the simulated one: where it has no other."""
    return not has_card()


def open_xrt(folder: Path) -> tuple[Any, Any]:
    """pyxrt, or what stands for it, and the first device: a card, or the simulated one (`simulates`), of which the runtime has
    `built_xclbin`; a list of them for a project of several cards, all of them the simulated one where there is none. CompileError
    where XRT or a compiler is missing, RuntimeError where XRT refuses.
    """
    runtime = _pyxrt()
    cards = 1 if (folder / MODEL).is_file() else read_manifest(folder).cards
    if not simulates():
        return runtime, runtime.device(0) if cards == 1 else [runtime.device(card) for card in range(cards)]
    simulated = simulated_device(folder)
    os.environ.update(simulated.environment)  # XRT reads it when it opens its first device
    namespace = SimpleNamespace(**vars(runtime), built_xclbin=simulated.xclbin)
    device = runtime.device(0)
    return namespace, device if cards == 1 else [device] * cards


def _pyxrt() -> ModuleType:
    """The vendor's, or ours over XRT's C functions."""
    try:
        return import_module("pyxrt")
    except ImportError:
        return import_module("stc.runtime.xrt.c_pyxrt")
