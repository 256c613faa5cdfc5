"""`stc size`: the FIFO depths of a design, confirmed and minimised by running it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from stc.fifo.depth_search import MOST_RUNS
from stc.tools.consoles import messages, output
from stc.tools.size import DEPTHS, Confirmation, Sizing, size_project, write_sizing
from stc.tools.stages import Told, on_each_stage

MOST_LISTED = 40
"""FIFOs in the table; the file has all."""
REQUIRED = "required (by the LP, or --minimise-depths)"
"""The manifest has the depths that sizing asked for, not who did: `--minimise-depths` replaces those of the linear program."""


def size_command(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="What `stc compile` wrote, or a folder with a design.toml.")],
    slack: Annotated[float, typer.Option(help="Part of the cycles that may be lost: 0.05 for 5 %.")] = 0.0,
    optimum: Annotated[bool, typer.Option("--optimum/--no-optimum", help="Also look for the least bits of all.")] = True,
    most_runs: Annotated[int, typer.Option(help="Runs that minimisation and the optimum may take each, about.", min=1)] = MOST_RUNS,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Confirm the FIFO depths of a design by running it, and minimise them to the least that lose no cycles.

    No minimal FIFO can be one less without the run being slower or not ending. Depths that load tasks write to stay as they are.
    Writes DIR/build/fifo_sizing.json and DIR/build/depths.json (for `stc simulate DIR --depths`).

    Exit code 1 if the design as it is (with its emitted depths, or those given with C++ that stc did not write) is slower than with
    unlimited FIFOs (beyond the slack), wrong, or does not end: "not confirmed" says which.
    """

    def run(folder: Path) -> Told:
        with messages.status("starting") as status:
            sizing = size_project(folder, slack, most_runs, optimum, status.update)
        write_sizing(sizing, folder)
        return Told(sizing.is_confirmed, sizing.as_json, lambda: print_sizing(sizing, folder, output))

    on_each_stage(directory, run, as_json)


def print_sizing(sizing: Sizing, directory: Path, console: Console) -> None:
    """Two tables: the whole design at each choice of depths, and its FIFOs."""
    table = Table("FIFO depths", "cycles", "", "bits", "bits of memory", title=f"{len(sizing.fifos)} FIFOs sized ({sizing.origin})")
    rows = {
        "all tokens (unlimited)": sizing.worst,
        REQUIRED: sizing.required,
        sizing.stated: sizing.emitted,
        "minimal": sizing.minimal,
    }
    for name, found in rows.items():
        if found is not None:
            table.add_row(name, _cycles(found), found.verdict, f"{found.bits:,}", f"{found.memory_bits:,}")
    _add_optimum(table, sizing)
    console.print(table)
    console.print(_depths(sizing))
    console.print(f"minimisation began with {sizing.start}; {sizing.runs} runs of {1000 * sizing.seconds['per_run']:.1f} ms")
    console.print(f"with loop depths doubled the design at its {sizing.stated} depths: {sizing.deeper_loops}", markup=False)
    fed = len(sizing.memory_fed)
    if fed:
        console.print(f"{fed} FIFOs are written by load tasks and keep their depth ({sizing.memory_fed_bits:,} bits)")
    if sizing.surprises:
        console.print(f"{sizing.surprises} runs were faster with less room: no optimum can be deduced")
    elif sizing.optimum is not None:
        console.print(f"the optimum holds if more room never costs cycles, which none of {sizing.runs} runs contradicts")
    if sizing.explanation is not None:
        console.print(sizing.explanation, markup=False)
    for failure in sizing.failures:
        console.print(f"not confirmed: {failure}", markup=False)
    console.print(f"written: {directory / 'build' / DEPTHS}", markup=False)


def _cycles(found: Confirmation) -> str:
    return "-" if found.cycles is None else f"{found.cycles:,}"


def _add_optimum(table: Table, sizing: Sizing) -> None:
    if sizing.optimum is None:
        return
    if sizing.optimum.bits is None:
        table.add_row("optimum", "", "not known", f"{sizing.optimum.lower_bound:,} or more", "")
    else:
        table.add_row("optimum", "", f"deduced: {sizing.optimum.proof}", f"{sizing.optimum.bits:,}", "")


def _depths(sizing: Sizing) -> Table:
    table = Table("FIFO", "bits", "tokens", "required", sizing.stated, "occupied", "minimal", "optimum", title="depths")
    for fifo in sorted(sizing.fifos, key=lambda fifo: -fifo.bits * fifo.minimal)[:MOST_LISTED]:
        depths = (fifo.required, fifo.emitted, fifo.occupied, fifo.minimal, fifo.best)
        table.add_row(fifo.name, str(fifo.bits), str(fifo.tokens), *("" if depth is None else str(depth) for depth in depths))
    return table
