"""`stc run`: the host program of an emitted project on a device."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Annotated

import typer

from stc.diagnostics import CompileError
from stc.manifest.files import read_manifest
from stc.manifest.model_files import MODEL
from stc.runtime.devices import CSIM, XRT
from stc.runtime.xrt.device import built_host, emulation_mode, has_card, simulated_device, simulates
from stc.tools.consoles import messages
from stc.tools.generate_command import DEVICES

CPP, PYTHON = "cpp", "python"


def run_command(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="What `stc compile` wrote.")],
    device: Annotated[str, typer.Option(help=DEVICES)] = CSIM,
    host: Annotated[str, typer.Option(help="cpp (host.cpp) or python (host.py); default: cpp, but python for csim.")] = "",
    xclbin: Annotated[Path | None, typer.Option(metavar="FILE", help="The binary that the host loads.")] = None,
    timeout: Annotated[float, typer.Option(help="Seconds after which the host is stopped.")] = 600.0,
) -> None:
    """Run a project's host program on its golden inputs and compare with the references.

    Behind XRT everything is the vendor's runtime but the device: docs/hosts.md. Of a model, `stc generate` runs all stages.

    Exit codes: 0 within the tolerance, 1 not, 2 unusable project, binary or environment.

    Example: stc run out --device xrt
    """
    if (directory / MODEL).is_file():
        accepted = f"stc generate {directory} --device {device}, or the folder of a stage"
        raise CompileError("this is a model, whose host continues tokens", where=str(directory), accepted=accepted)
    several = bool(read_manifest(directory).bitstreams)
    chosen = _host(device, host)
    if xclbin is not None and device == CSIM:
        raise CompileError("C simulation loads no binary", where=f"--xclbin {xclbin}", accepted="--device xrt, or no --xclbin")
    if xclbin is not None and several and not xclbin.is_dir():
        raise CompileError("no such folder", where=str(xclbin), accepted="that of this project's binaries")
    if xclbin is not None and not several and not xclbin.is_file():
        raise CompileError("no such file", where=str(xclbin), accepted="an xclbin of this project")
    with messages.status("building the host and its device"):
        command, environment = _command(directory.resolve(), device, chosen, xclbin)
    messages.print(f"device: {_told(device)}; host: {'host.cpp' if chosen == CPP else 'host.py'}", markup=False)
    try:
        done = subprocess.run(command, env={**os.environ, **environment}, timeout=timeout, check=False)
    except subprocess.TimeoutExpired:
        raise CompileError(f"the host did not end within {timeout:g} seconds", accepted="--timeout SECONDS") from None
    if done.returncode < 0:
        raise CompileError(f"the host was stopped by signal {-done.returncode}", where=command[0])
    if done.returncode:
        raise typer.Exit(done.returncode)


def _host(device: str, host: str) -> str:
    if device not in (CSIM, XRT) and not device.isdigit():
        raise CompileError(f"--device {device}", accepted="csim, xrt, or the index of a card")
    if device.isdigit() and not has_card():
        raise CompileError("there is no card", where=f"--device {device}", accepted="--device csim, or xrt")
    if host not in ("", CPP, PYTHON):
        raise CompileError(f"--host {host}", accepted=f"{CPP}, {PYTHON}")
    if device == CSIM and host == CPP:
        raise CompileError("host.cpp is written for XRT", where="--host cpp", accepted="--device xrt, or --host python")
    return host or (PYTHON if device == CSIM else CPP)


def _command(project: Path, device: str, host: str, xclbin: Path | None) -> tuple[list[str], dict[str, str]]:
    """What to start, and its environment."""
    if host == PYTHON:
        given = [] if xclbin is None else ["--xclbin", str(xclbin)]
        return [sys.executable, str(project / "host.py"), "--device", device, *given], {}
    program = built_host(project)
    if device == XRT and simulates():
        simulated = simulated_device(project)
        cards = ["0"] * read_manifest(project).cards
        return [str(program), str(xclbin or simulated.xclbin), str(project), *cards], simulated.environment
    manifest = read_manifest(project)
    if manifest.bitstreams:
        return [str(program), str(xclbin or project / "build"), str(project), "0" if device == XRT else device], {}
    binary = xclbin or project / "build" / f"{manifest.name}.xclbin"
    if not binary.is_file():
        raise CompileError("no such file", where=str(binary), accepted=f"--xclbin FILE, or what `make -C {project} xclbin` links")
    return [str(program), str(binary), str(project), "0" if device == XRT else device], {}


def _told(device: str) -> str:
    if device == CSIM:
        return "C simulation"
    if device == XRT and simulates():
        return "C simulation behind XRT's runtime"
    return f"{emulation_mode() or 'card'} {'0' if device == XRT else device}"
