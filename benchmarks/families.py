"""Prefill blocks of every decoder family, compiled and checked against PyTorch: the table of docs/families.md.

    python benchmarks/families.py [--seq 32 --seq 100] [--tiny] [--write] [NAME ...]

All figures are executed on this machine (times, errors) or counted in the IR (memory, tasks, FIFOs). `--write` puts the table
into docs/families.md.
"""

from __future__ import annotations

import argparse
import os
import platform
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from measured_at import measured_at
from rich.table import Table

from stc.diagnostics import CompileError
from stc.frontend.presets import PRESETS
from stc.pipeline import PipelineOptions
from stc.simulation.csim import csim
from stc.tools.compile import CompileRequest, compile_model
from stc.tools.consoles import result_console

DOCUMENT = Path(__file__).parents[1] / "docs" / "families.md"
COLUMNS = (
    "block", "tokens", "compile s", "csim s", "groups", "tasks", "FIFOs", "converters",
    "before kB", "unfused kB", "(a) kB", "(b) kB", "(c) kB", "(a+b)/unfused", "error/max|out|", "error/max|out-x|",
)  # fmt: skip
FRONT_END = ("origin", "torch_import", "export", "references")


def measure(name: str, seq: int) -> dict[str, Any]:
    """One row: compile, build, run, compare."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "project"
        report = compile_model(CompileRequest(name, seq=seq, options=PipelineOptions(budget="small")), out)
        begin = time.perf_counter()
        result = csim(out)
        check = result.outputs[0]
        memory = report["memory_bytes"]
        seconds = {stage: value for stage, value in report["compile_seconds"].items() if stage not in FRONT_END}
        change = check.max_abs_reference_minus_input
        return {
            "block": name,
            "tokens": seq,
            "compile s": f"{sum(seconds.values()):.1f}",
            "csim s": f"{time.perf_counter() - begin:.1f}",
            **{column: report[key] for column, key in (("groups", "groups"), ("tasks", "tasks"), ("FIFOs", "fifos"))},
            "converters": report["converters"],
            "before kB": f"{memory['before'] / 1e3:.0f}",
            "unfused kB": f"{memory['before_unfused'] / 1e3:.0f}",
            "(a) kB": f"{memory['converters'] / 1e3:.0f}",
            "(b) kB": f"{memory['fifos'] / 1e3:.0f}",
            "(c) kB": f"{memory['local'] / 1e3:.0f}",
            "(a+b)/unfused": f"{100 * memory['streams_over_before_unfused']:.1f} %",
            "error/max|out|": f"{check.max_abs_error / check.max_abs_reference:.1e}" if result.passed else result.outcome,
            "error/max|out-x|": f"{check.max_abs_error / change:.1e}" if change else "-",
        }


def markdown(rows: list[dict[str, Any]]) -> str:
    """The document."""
    lines = [
        "# Decoder families",
        "",
        "Written by `python benchmarks/families.py --write`. Prefill blocks with random weights in f32, without a "
        "search (`--small`); times and errors executed "
        f"on {os.cpu_count()} cores ({platform.machine()}, Python {platform.python_version()}), memory, tasks and FIFOs counted in "
        "the IR: (a) converters with their ping-pong factor, (b) FIFOs at emitted depth, (c) tiles and accumulators. *compile s* "
        "leaves out importing PyTorch and the export; *csim s* is building and running the emitted C++.",
        "",
        measured_at(),
        "",
        "| " + " | ".join(COLUMNS).replace("|out", "\\|out").replace("out|", "out\\|").replace("-x|", "-x\\|") + " |",
        "|" + " --- |" * len(COLUMNS),
    ]
    lines += ["| " + " | ".join(str(row[column]) for column in COLUMNS) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="presets; default: all full-size ones")
    parser.add_argument("--seq", type=int, action="append", help="tokens; may be repeated (default 32 and 100)")
    parser.add_argument("--tiny", action="store_true", help="the tiny twins instead")
    parser.add_argument("--write", action="store_true", help="write docs/families.md")
    arguments = parser.parse_args()
    names = arguments.names or [name for name in PRESETS if name.endswith("-tiny") == arguments.tiny]
    console = result_console()
    rows: list[dict[str, Any]] = []
    for name in names:
        for seq in arguments.seq or (32, 100):
            try:
                rows.append(measure(name, seq))
            except CompileError as error:
                console.print(f"{name} at {seq} tokens: {error}", markup=False)
                return 2
            console.print(" ".join(f"{key}={value}" for key, value in rows[-1].items()), markup=False, soft_wrap=True)
    table = Table(*COLUMNS)
    for row in rows:
        table.add_row(*(str(row[column]) for column in COLUMNS))
    console.print(table)
    if arguments.write:
        DOCUMENT.write_text(markdown(rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
