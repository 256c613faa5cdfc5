"""Compile time by stage for a GPT-2-medium block (prefill, 32 tokens), and what the C simulation of the result takes.

    python benchmarks/compile_time.py [--model gpt2-medium] [--seq 32] [--json]

All figures but the published range are executed on this machine, once, in one process. The published range is StreamTensor's
(MICRO 2025), per model and before vendor HLS; it includes what its table includes, on another machine.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import platform
import resource
import sys
import tempfile
from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from stc.diagnostics import CompileError
from stc.simulation.csim import CsimResult, csim
from stc.tools.compile import CompileRequest, compile_model
from stc.tools.consoles import result_console

PUBLISHED_SECONDS = (26.8, 63.4)
APART = ("torch_import", "export", "references", "packing")
"""Importing PyTorch, exporting, and what it computes to compare with, which are not the compiler's own time, and packing, as in the
publication."""


def measure(model: str, seq: int, folder: Path) -> dict[str, Any]:
    """Compile into `folder`, build and run; seconds and bytes."""
    report = compile_model(CompileRequest(model, seq=seq), folder)
    # A process counts the memory of the one it was forked from as its own: the compiler's children would show its peak.
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as small:
        result, simulation_peak = small.submit(simulate, folder).result()
    seconds = {name: value for name, value in report["compile_seconds"].items() if name != "origin"}
    return {
        "origin": "executed",
        "model": model,
        "seq": seq,
        "machine": _machine(),
        "seconds": seconds,
        "compiler_seconds": sum(value for name, value in seconds.items() if name not in APART),
        "total_seconds": sum(seconds.values()),
        "published_seconds": {"origin": "published: StreamTensor, MICRO 2025", "range": PUBLISHED_SECONDS},
        "csim": {"build_seconds": result.build_seconds, "run_seconds": result.seconds, "passed": result.passed},
        "peak_bytes": {"compile": _peak_bytes(resource.RUSAGE_SELF), "C simulation (g++ or the binary)": simulation_peak},
    }


def simulate(folder: Path) -> tuple[CsimResult, int]:
    """Build and run the C simulation; its result, and the bytes of the largest process that took."""
    return csim(folder), _peak_bytes(resource.RUSAGE_CHILDREN)


def _peak_bytes(who: int) -> int:
    return resource.getrusage(who).ru_maxrss * 1024


def _machine() -> dict[str, Any]:
    return {
        "cores": len(os.sched_getaffinity(0)),
        "processor": _processor(),
        "load": round(os.getloadavg()[0], 1),
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
    }


def _processor() -> str:
    path = Path("/proc/cpuinfo")
    lines = path.read_text().splitlines() if path.is_file() else []
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), platform.processor())


def show(figures: Mapping[str, Any], console: Console) -> None:
    """The figures as tables."""
    machine = figures["machine"]
    console.print(
        f"{figures['model']}, prefill, {figures['seq']} tokens; executed on {machine['cores']} cores ({machine['processor']}), "
        f"load {machine['load']}, Python {machine['python']}, {machine['system']}"
    )
    times = Table("stage", "seconds", title="compile time")
    for name, seconds in figures["seconds"].items():
        if name not in APART:
            times.add_row(name, f"{seconds:.2f}")
    times.add_section()
    times.add_row("compiler", f"{figures['compiler_seconds']:.2f}")
    for name in APART:
        times.add_row(name.replace("_", " "), f"{figures['seconds'][name]:.2f}")
    times.add_section()
    times.add_row("all", f"{figures['total_seconds']:.2f}")
    low, high = figures["published_seconds"]["range"]
    times.add_row("StreamTensor, per model (published)", f"{low} - {high}")
    console.print(times)
    check = figures["csim"]
    rest = Table("C simulation and memory", "")
    rest.add_row("build", f"{check['build_seconds']:.1f} s")
    rest.add_row("run", f"{check['run_seconds']:.1f} s")
    rest.add_row("agrees with PyTorch", "yes" if check["passed"] else "NO")
    for name, size in figures["peak_bytes"].items():
        rest.add_row(f"peak memory, {name}", f"{size / 2**20:.0f} MiB")
    console.print(rest)


def main() -> int:
    parser = argparse.ArgumentParser(description="Compile time by stage, beside the published range.")
    parser.add_argument("--model", default="gpt2-medium")
    parser.add_argument("--seq", type=int, default=32)
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    arguments = parser.parse_args()
    try:
        with tempfile.TemporaryDirectory() as folder:
            figures = measure(arguments.model, arguments.seq, Path(folder) / "project")
    except CompileError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    if arguments.json:
        print(json.dumps(figures, indent=1))
    else:
        show(figures, result_console())
    return 0 if figures["csim"]["passed"] else 1


if __name__ == "__main__":
    sys.exit(main())
