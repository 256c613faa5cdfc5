"""What it takes to compile whole language models: time, peak memory, and how fast parameters are packed.

    python benchmarks/packing.py [--model gpt2:32:8 --model tinyllama-1.1b:64:8] [--folder DIR] [--json] [--write]

A MODEL is a preset (random weights), positions of its cache, and rows of a launch of prefill. Each is compiled in a process of its
own, whose largest resident set is told. Packing begins with the first layer and ends before the head: it draws the layer's weights,
packs, writes and checksums them. --write puts the table into docs/generation.md.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from measured_at import measured_at, write_between

from stc.manifest.model_sharing import sharing
from stc.pipeline import PipelineOptions
from stc.tools.language_model import compile_language_model, model_request

DOCUMENT = Path(__file__).parents[1] / "docs" / "generation.md"
BEGIN, END = "<!-- packing -->\n", "<!-- end of packing -->\n"
MODELS = ("gpt2:32:8", "tinyllama-1.1b:64:8")


@dataclass(frozen=True)
class Row:
    """One model; seconds, and bytes."""

    model: str
    layers: int
    positions: int
    rows: int
    seconds: float
    peak: int
    shared: int
    apart: int
    packing: float

    @property
    def speed(self) -> float:
        """Of packing, in MB/s."""
        return (self.shared + self.apart) / self.packing / 1e6


def measured(text: str, folder: Path | None) -> list[Row]:
    """Compile a model, in this process, into a folder that is kept, if it is given."""
    with tempfile.TemporaryDirectory() as temporary:
        return [measure(text, folder or Path(temporary) / "model")]


def measured_apart(text: str, folder: Path | None) -> list[Row]:
    """The same in a process of its own."""
    own = [] if folder is None else ["--folder", str(folder)]
    command = [sys.executable, __file__, "--json", "--model", text, *own]
    run = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    return [Row(**row) for row in json.loads(run.stdout)]


def measure(text: str, folder: Path) -> Row:
    """Compile a model into a folder."""
    name, positions, rows = text.split(":")
    seen: list[tuple[str, float]] = []
    begin = time.perf_counter()
    request = model_request(name, int(positions), None, 0, PipelineOptions(rows=int(rows), budget="small"))
    model = compile_language_model(request, folder, lambda step: seen.append((step, time.perf_counter())))
    end = time.perf_counter()
    first = next(at for step, at in seen if step.startswith("packing layer"))
    last = next(at for step, at in seen if step.startswith("head:"))
    told, peak = sharing(model), 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return Row(name, model.layer_count, int(positions), int(rows), end - begin, peak, told.shared, told.apart, last - first)


def markdown(rows: Sequence[Row]) -> str:
    """The table."""
    lines = [
        f"Whole models with random weights, f32 (`python benchmarks/packing.py`), *executed* on {os.cpu_count()} cores that other",
        "work shared: times are upper ends. Packing: the layers' weights are drawn, packed, written and checksummed.",
        measured_at(),
        "",
        "| model | layers | positions, rows of prefill | compile | peak memory | parameters of layers, of which twice | packing |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    lines += [
        f"| {row.model} | {row.layers} | {row.positions}, {row.rows} | {row.seconds:,.0f} s | {row.peak / 1e9:.2f} GB | "
        f"{row.shared + row.apart:,} bytes, {row.apart:,} | {row.packing:,.1f} s ({row.speed:,.0f} MB/s) |"
        for row in rows
    ]
    return "\n".join(lines) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", action="append", help=f"may be repeated (default {', '.join(MODELS)})")
    parser.add_argument("--folder", type=Path, help="keep the model, or each of several below it, in this new folder")
    parser.add_argument("--json", action="store_true", help="print the rows as JSON")
    parser.add_argument("--write", action="store_true", help="write the table into docs/generation.md")
    arguments = parser.parse_args()
    models, folder = arguments.model or MODELS, arguments.folder
    if len(models) == 1:
        rows = measured(models[0], folder)
    else:
        folders = [None if folder is None else folder / str(index) for index in range(len(models))]
        rows = [row for text, own in zip(models, folders, strict=True) for row in measured_apart(text, own)]
    table = markdown(rows)
    print(json.dumps([asdict(row) for row in rows], indent=1) if arguments.json else table)
    if arguments.write:
        write_between(DOCUMENT, BEGIN, table, END)
    return 0


if __name__ == "__main__":
    sys.exit(main())
