"""FIFO bits of prefill blocks: all tokens, LP, trimmed, optimum; cycles of each. The table of docs/fifo_sizing.md.

    python benchmarks/fifo_sizing.py [--seq 32] [--rows FILE] [--write] [MODEL ...]

MODEL is whatever `stc compile` takes; default: four decoder blocks. All figures are executed: cycles by the simulation of the
emitted C++ with estimated loop depths. `--rows` keeps the rows of earlier calls, so that blocks can be measured one at a time;
`--write` puts them into docs/fifo_sizing.md.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import tempfile
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from stc.design_space.fifo_trimming import MOST_RUNS
from stc.diagnostics import CompileError
from stc.simulation.design_runs import DesignRuns
from stc.tools.compile import CompileRequest, compile_model
from stc.tools.size import Confirmation, Sizing, size_runs

DOCUMENT = Path(__file__).parents[1] / "docs" / "fifo_sizing.md"
MODELS = ("gpt2-medium", "qwen2.5-0.5b", "tinyllama-1.1b", "gemma3-1b")
NEAR = 1.05
"""Trimmed bits are to be within this of the optimum."""

TEXT = """# FIFO depths

Written by `python benchmarks/fifo_sizing.py --write`. Executed on {cores} cores ({machine}, Python {python}): every cycle count
is that of the emitted C++, simulated with time at these depths, with estimated loop depths. Prefill blocks with random weights.

FIFOs that a load task fills are left out: a stalled DMA costs nothing, and how far it runs ahead has its own budget. Bits are those
of all slots.

* *all tokens*: every FIFO holds all tokens that cross it; its cycles are the reference, those of unlimited FIFOs.
* *LP*: what the linear program of `size-fifos` asks for; *emitted* is that with a margin, rounded up to what costs no more memory.
* *trimmed* (`stc size`): no FIFO can be one less without more cycles or a deadlock; each was run one below.
* *optimum*: the least bits of all depths with the same cycles, proved by runs (`stc/design_space/fifo_optimum.py`).
"""


def measure(model: str, seq: int, most_runs: int) -> dict[str, Any]:
    """One row: compile, build, size."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "project"
        report = compile_model(CompileRequest(model, seq=seq), out)
        return row(model, seq, report, size_runs(DesignRuns.build(out), most_runs=most_runs))


def row(model: str, seq: int, report: dict[str, Any], sizing: Sizing) -> dict[str, Any]:
    optimum = sizing.optimum
    assert optimum is not None
    bound = optimum.bits if optimum.bits is not None else optimum.lower_bound
    return {
        "block": model,
        "tokens": seq,
        "tasks": report["tasks"],
        "FIFOs": len(sizing.fifos) + len(sizing.memory_fed),
        "sized": len(sizing.fifos),
        "bits, all tokens": sizing.worst.bits,
        "LP": _of(sizing.required, "bits"),
        "emitted": sizing.emitted.bits,
        "trimmed": sizing.trimmed.bits,
        "optimum": f"{bound:,}" if optimum.bits is not None else f">= {bound:,}",
        "trimmed/optimum": f"{sizing.trimmed.bits / bound:.3f}",
        "cycles, all tokens": sizing.worst.cycles,
        "cycles, LP": _of(sizing.required, "cycles"),
        "cycles, emitted": _of(sizing.emitted, "cycles"),
        "cycles, trimmed": _of(sizing.trimmed, "cycles"),
        "loop depths doubled": sizing.larger_loop_depths,
        "LP s": _lp_seconds(report),
        "build s": f"{sizing.seconds['build']:.1f}",
        "run s": f"{sizing.seconds['per_run']:.3f}",
        "runs": sizing.runs,
        "trim + optimum s": f"{sizing.seconds['trimming'] + sizing.seconds['optimum']:.1f}",
        "surprises": sizing.surprises,
        "values": "agree" if sizing.values_agree else "DIFFER",
    }


def _of(found: Confirmation | None, name: str) -> Any:
    return "-" if found is None else getattr(found, name) or found.verdict


def _lp_seconds(report: dict[str, Any]) -> str:
    kernels = report.get("fifo_sizing", {}).get("kernels", [])
    return f"{sum(kernel['seconds'] for kernel in kernels):.2f}" if kernels else "-"


def is_as_required(found: dict[str, Any]) -> bool:
    """No cycle lost at LP and trimmed depths, near the optimum where it is known, right, and still ending with deeper loops."""
    reference = found["cycles, all tokens"]
    lost = [found[key] for key in ("cycles, LP", "cycles, emitted", "cycles, trimmed") if found[key] not in ("-", reference)]
    near = found["optimum"].startswith(">=") or float(found["trimmed/optimum"]) <= NEAR
    return not lost and near and found["values"] == "agree" and found["loop depths doubled"] == "finished"


def markdown(rows: list[dict[str, Any]]) -> str:
    """The document."""
    machine = {"cores": os.cpu_count(), "machine": platform.machine(), "python": platform.python_version()}
    lines = [TEXT.format(**machine)]
    for title, columns in SECTIONS:
        lines += [f"## {title}", "", "| " + " | ".join(columns) + " |", "|" + " --- |" * len(columns)]
        lines += ["| " + " | ".join(_shown(entry[column]) for column in columns) + " |" for entry in rows]
        lines.append("")
    return "\n".join(lines)


def _shown(value: Any) -> str:
    return f"{value:,}" if isinstance(value, int) else str(value)


SECTIONS = (
    ("Bits", ("block", "tokens", "FIFOs", "sized", "bits, all tokens", "LP", "emitted", "trimmed", "optimum", "trimmed/optimum")),
    (
        "Cycles",
        ("block", "cycles, all tokens", "cycles, LP", "cycles, emitted", "cycles, trimmed", "loop depths doubled", "values"),
    ),
    ("Seconds", ("block", "LP s", "build s", "run s", "runs", "trim + optimum s", "surprises")),
)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*", help=f"default: {' '.join(MODELS)}")
    parser.add_argument("--seq", type=int, default=32, help="tokens of a preset")
    parser.add_argument("--most-runs", type=int, default=MOST_RUNS, help="about how many runs for trimming and optimum each")
    parser.add_argument("--rows", type=Path, help="JSON file with the rows of earlier calls; new ones are added")
    parser.add_argument("--write", action="store_true", help="write docs/fifo_sizing.md")
    options = parser.parse_args()
    rows: list[dict[str, Any]] = json.loads(options.rows.read_text()) if options.rows and options.rows.is_file() else []
    console = Console(highlight=False)
    for model in options.models if options.models or rows else MODELS:
        try:
            found = measure(model, options.seq, options.most_runs)
        except CompileError as error:
            console.print(f"{model}: {error}", markup=False)
            return 2
        rows = [*(entry for entry in rows if (entry["block"], entry["tokens"]) != (model, options.seq)), found]
        console.print(" ".join(f"{key}={value}" for key, value in found.items()), markup=False, soft_wrap=True)
        if options.rows:
            options.rows.write_text(json.dumps(rows, indent=1) + "\n")
    for title, columns in SECTIONS:
        table = Table(*columns, title=title)
        for entry in rows:
            table.add_row(*(_shown(entry[column]) for column in columns))
        console.print(table)
    if options.write:
        DOCUMENT.write_text(markdown(rows))
    return 0 if all(is_as_required(entry) for entry in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
