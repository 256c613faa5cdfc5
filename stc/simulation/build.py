"""Build the C simulation of an emitted project, or of a foreign design: instrument, compile, link. Writes only under DIR/build.

Objects are kept with a hash of everything that went into them, so that an unchanged project is not compiled again.
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import os
import shutil
import subprocess
from collections.abc import Generator, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from stc.diagnostics import CompileError
from stc.manifest.files import MANIFEST, read_manifest
from stc.simulation import sanitizers
from stc.simulation.ap_types import copy_ap_types, uses_ap_types
from stc.simulation.design_file import ForeignDesign, is_foreign, read_design
from stc.simulation.foreign_design import InstrumentedDesign, instrument_design
from stc.simulation.instrument import InstrumentError, instrument, port_extents
from stc.simulation.package import AP_TYPES, FOLDER, INCLUDE, include_folders

# No fast-math: masks are -inf. No contraction: the result must not depend on whether the host has fused multiply-add.
FLAGS = ("-std=c++17", "-march=native", "-ffp-contract=off", "-w")
# Only the compiler's part of a sanitizer: stc_sim/bounds.h answers its calls.
CHECKS = ("-fsanitize=bounds", "-fno-sanitize-recover=bounds")
_FLAGS: Mapping[str, Sequence[str]] = {
    "csim": CHECKS,
    "csim_sanitized": sanitizers.FLAGS,
    "csim_tapped": (*CHECKS, "-DSTC_SIM_TAPPED"),
    "simulate": ("-DSTC_SIM_TIMED",),
}
"""What tells one program from another."""
DEFAULT_OPTIMISATION = 3
TIMED_OPTIMISATION = 1
"""Of a program with time, which spends it in the engine: gpt2-medium's decode block in W4A8 is built in 90 seconds and run in 1.8,
at level 3 in 360 and 2.0; its block of 32 tokens in f32 in 50 and 4.2, at level 3 in 137 and 3.8. Without time the latter is built
in 39 and run in 12.1, at level 3 in 76 and 4.9. To size FIFOs, which takes many runs, level 3 is sooner from 217 runs
of that block on."""
UNWRITABLE = (errno.ENOSPC, errno.EDQUOT, errno.EACCES, errno.EROFS)
WRITABLE = "a project that you may write in, such as a copy of this one"
COMPILER_ACCEPTED = "g++ 12 or later on PATH, or the environment variable CXX"


@dataclass(frozen=True)
class SimulationSources:
    """What the manifest of a project says about its C simulation; names are relative to `directory`.

    `extents`: words of each memory port, by top function (of a kernel, and of each unit) and port.
    """

    directory: Path
    kernel: str
    testbenches: tuple[str, ...]
    extents: dict[str, dict[str, int]] = field(default_factory=dict[str, dict[str, int]])

    @property
    def build(self) -> Path:
        return self.directory / "build"

    @property
    def include(self) -> Path:
        return self.directory / FOLDER / "include"


@dataclass(frozen=True)
class Build:
    """The simulation binary, whether nothing had to be compiled for it, and what the user should know about its sources."""

    binary: Path
    cached: bool
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Units:
    """What is compiled: files, folders for #include, files that all of them depend on, and macros."""

    directory: Path
    files: tuple[Path, ...]
    include: tuple[Path, ...]
    headers: tuple[Path, ...]
    defines: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def build(self) -> Path:
        return self.directory / "build"


def read_sources(directory: Path) -> SimulationSources:
    """Kernel and testbench names from DIR/manifest.json (`kernel_source`, `testbench_sources`), each checked to exist."""
    if not (directory / MANIFEST).is_file():
        raise CompileError(
            "not an emitted project",
            where=str(directory),
            accepted="a folder with manifest.json, as 'stc compile' writes, or with a design.toml (docs/foreign_designs.md)",
        )
    manifest = read_manifest(directory)
    extents = port_extents(directory / MANIFEST)
    sources = SimulationSources(directory, manifest.kernel_source, manifest.testbench_sources, extents)
    if not sources.testbenches:
        raise CompileError("field 'testbench_sources' is empty", where=str(directory / MANIFEST), accepted="at least one file")
    for name in (sources.kernel, *sources.testbenches):
        if not (directory / name).is_file():
            raise CompileError(
                "missing source file", where=str(directory / name), accepted="the file the manifest names"
            )
    if not sources.include.is_dir():
        raise CompileError(
            "missing headers", where=str(sources.include), accepted="the folder that 'stc compile' writes"
        )
    return sources


def compiler_path() -> str | None:
    """Path of the C++ compiler, $CXX, else g++; None where it is not there."""
    return shutil.which(os.environ.get("CXX") or "g++")


def find_compiler() -> str:
    """Path of the C++ compiler: $CXX, else g++."""
    found = compiler_path()
    if found is None:
        raise CompileError(f"C++ compiler '{os.environ.get('CXX') or 'g++'}' not found", accepted=COMPILER_ACCEPTED)
    return found


def instrumented_kernel(sources: SimulationSources) -> str:
    path = sources.directory / sources.kernel
    try:
        return instrument(path.read_text(encoding="utf-8"), str(path), sources.extents)
    except InstrumentError as error:
        raise CompileError(error.message, where=f"{path}:{error.line}", accepted=error.accepted) from None
    except UnicodeDecodeError as error:
        raise CompileError(f"not UTF-8 ({error.reason})", where=str(path)) from None


def build(
    directory: Path,
    optimisation: int = DEFAULT_OPTIMISATION,
    timed: bool = False,
    sanitized: bool = False,
    report: Path | None = None,
    tapped: bool = False,
) -> Build:
    """Make DIR/build/csim (DIR/build/simulate where `timed`, csim_sanitized where `sanitized`, csim_tapped where `tapped`) up to
    date. A source that g++ rejects is a CompileError with its first message.

    `optimisation` is g++'s level: small designs are built sooner at 0 than they run faster at 3. One process at a time builds.
    """
    kind = "simulate" if timed else "csim_sanitized" if sanitized else "csim_tapped" if tapped else "csim"
    if is_foreign(directory):
        design = read_design(directory, report)
        instrumented = instrument_design(design)
        with _alone(directory / "build"):
            return _built(foreign_units(design, instrumented), optimisation, kind)
    sources = read_sources(directory)
    with _alone(sources.build):
        return _built(emitted_units(sources), optimisation, kind)


@contextmanager
def _alone(folder: Path) -> Generator[None]:
    """Wait until nobody else builds in `folder`; the lock goes with the process that holds it, however that ends."""
    with (_writable(folder) / ".lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _built(units: Units, optimisation: int, name: str) -> Build:
    compiler = find_compiler()
    flags = (f"-O{optimisation}", *FLAGS, *_FLAGS[name], *(f"-D{define}" for define in units.defines))
    common = _common_hash(units, compiler, flags)
    objects = [units.build / f"{name}_{index}_{unit.stem}.o" for index, unit in enumerate(units.files)]
    with ThreadPoolExecutor(max_workers=os.cpu_count() or 1) as pool:
        compiled = list(
            pool.map(
                lambda pair: _compile([compiler, *flags], units, common, *pair), zip(units.files, objects, strict=True)
            )
        )
    binary = units.build / name
    cached = not any(compiled) and binary.is_file()
    if not cached:
        linked = binary.with_suffix(".linked")   # whatever interrupts the linker: `binary` is whole or the old one
        libraries = sanitizers.LINKED if name == "csim_sanitized" else ()
        run_compiler([compiler, *libraries, *map(str, objects), "-o", str(linked)], binary)
        linked.replace(binary)
    return Build(binary, cached, units.notes)


def emitted_units(sources: SimulationSources) -> Units:
    """The instrumented kernel and the testbenches of an emitted project; writes the copy."""
    kernel_copy = sources.build / (Path(sources.kernel).stem + ".sim.cpp")
    kernel_copy.write_text(instrumented_kernel(sources), encoding="utf-8")
    directory = sources.directory
    headers = (*directory.glob("*.h"), *directory.glob("*.hpp"), *(directory / FOLDER).rglob("*.h"))
    files = (kernel_copy, *(directory / name for name in sources.testbenches))
    return Units(directory, files, tuple(include_folders(directory)), headers)


def foreign_units(design: ForeignDesign, instrumented: InstrumentedDesign) -> Units:
    """Copies of all files of a foreign design, in DIR/build/sources; the drop-in headers are those of this package."""
    folder = design.directory / "build" / "sources"
    shutil.rmtree(folder, ignore_errors=True)
    for name, text in instrumented.copies.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    headers = (*(folder / name for name in instrumented.copies if name not in design.sources), *INCLUDE.rglob("*.h"))
    others = tuple(path for given in design.include_folders for path in given.rglob("*") if path.is_file())
    texts = [*instrumented.copies.values(), *(path.read_text("utf-8", "replace") for path in others)]
    ap_types = _ap_types(folder.parent / AP_TYPES, texts)
    include = (INCLUDE, *ap_types, folder, *design.include_folders)
    files = tuple(folder / name for name in design.sources)
    return Units(design.directory, files, include, (*headers, *others), design.defines, instrumented.notes)


def _ap_types(folder: Path, texts: Iterable[str]) -> tuple[Path, ...]:
    """The folder, with AMD's arbitrary precision types, where the texts use them."""
    if not uses_ap_types(texts):
        return ()
    copy_ap_types(folder)
    return (folder,)


def _writable(folder: Path) -> Path:
    """The folder of all that is built and reported, made if need be; CompileError where nothing can be written there."""
    try:
        folder.mkdir(exist_ok=True)
    except OSError as error:
        raise CompileError(f"cannot make this folder ({error.strerror})", where=str(folder), accepted=WRITABLE) from None
    if not os.access(folder, os.W_OK | os.X_OK):
        raise CompileError("this folder cannot be written", where=str(folder), accepted=WRITABLE)
    return folder


def _common_hash(units: Units, compiler: str, flags: Sequence[str]) -> bytes:
    """Hash of what every object depends on: compiler, flags, and all headers of the project."""
    digest = hashlib.sha256()
    version = subprocess.run([compiler, "--version"], capture_output=True, text=True, check=False).stdout
    digest.update("\0".join([compiler, version, *flags, str(units.directory)]).encode())
    for header in sorted(units.headers):
        digest.update(str(header).encode() + b"\0" + header.read_bytes() + b"\0")
    return digest.digest()


def _compile(command: Sequence[str], units: Units, common: bytes, unit: Path, target: Path) -> bool:
    """Compile one file unless its object is up to date; returns whether it had to be."""
    key = hashlib.sha256(common + unit.read_bytes()).hexdigest()
    key_file = target.with_suffix(".key")
    if target.is_file() and key_file.is_file() and key_file.read_text(encoding="ascii") == key:
        return False
    key_file.unlink(missing_ok=True)
    includes = [word for folder in units.include for word in ("-I", str(folder))]
    run_compiler([*command, *includes, "-c", str(unit), "-o", str(target)], unit)
    key_file.write_text(key, encoding="ascii")
    return True


def run_compiler(command: Sequence[str], where: Path, failure: str = "g++ rejects it") -> None:
    """Run g++; CompileError with `failure` and its first message, naming `where`, if it fails."""
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    if done.returncode == 0:
        return
    lines = done.stderr.splitlines()
    if reason := next((text for text in map(os.strerror, UNWRITABLE) if text in done.stderr), None):
        raise CompileError(f"g++ cannot write ({reason})", where=str(where))
    first = next((line for line in lines if "error:" in line or "undefined reference" in line), None)
    message = first or (lines[0] if lines else f"exit code {done.returncode}")
    raise CompileError(f"{failure}: {message.strip()}", where=str(where))
