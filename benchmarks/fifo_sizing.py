"""FIFO bits of prefill blocks and single kernels: all tokens, LP, minimal, optimum; cycles of each: docs/fifo_sizing.md.

    python benchmarks/fifo_sizing.py [--seq 32] [--rows FILE] [--missing] [--seconds 240] [--write] [DESIGN ...]

DESIGN is a workload of benchmarks/kernels.py, compiled with the DSPs published for it, or whatever `stc compile` takes; default:
one block of every preset of full size, and all workloads. All figures are executed: cycles by the simulation of the emitted C++
with estimated loop depths. `--rows` keeps the rows of earlier calls, so that designs can be measured one at a time; `--missing`
measures only those without one; `--write` puts all rows into docs/fifo_sizing.md. Exit code 1 where a row misses what is required
of it, which is said; 2 where a design is refused.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from kernels import PUBLISHED, compile_request
from measured_at import measured_at
from rich.console import Console
from rich.status import Status
from rich.table import Table

from stc.diagnostics import CompileError
from stc.fifo.depth_search import MOST_RUNS
from stc.frontend.presets import PRESETS
from stc.pipeline import PipelineOptions
from stc.simulation.design_runs import DesignRuns
from stc.tools.compile import CompileRequest, compile_model
from stc.tools.size import Progress, Sizing, size_runs

DOCUMENT = Path(__file__).parents[1] / "docs" / "fifo_sizing.md"
DESIGNS = (*(name for name in PRESETS if not name.endswith("-tiny")), *PUBLISHED)
NEAR = 1.05
"""Minimal bits are to be within this of the optimum."""
LP_SECONDS = 1.0
"""The linear program of a design is to be solved in less."""
DEPTHS = ("LP", "emitted", "minimal")
"""What is compared with *all tokens*."""

TEXT = """# FIFO depths

Written by `python benchmarks/fifo_sizing.py --write`. Executed on {cores} cores ({machine}, Python {python}): every cycle count
is that of the emitted C++, simulated with time at these depths, with estimated loop depths. Prefill blocks have random weights;
FeedForward to atax are the kernels of [kernels.md](kernels.md), with as many DSPs as there.

FIFOs that a load task fills are left out: a stalled DMA costs nothing, and how far it runs ahead has its own budget. Bits are those
of all slots.

* *all tokens*: every FIFO holds all tokens that cross it; its cycles are the reference, those of unlimited FIFOs.
* *LP*: what the linear program of `size-fifos` asks for; *emitted* is that with a margin, rounded up to what costs no more memory.
* *minimal* (`stc size`): no FIFO can be one less without more cycles or a deadlock; each was run one below.
* *optimum*: the least bits of all depths with the same cycles, deduced from runs (`stc/fifo/optimum.py`) on the
  premise that more slots never cost cycles; *surprises* are runs that contradict it, and with any there is no optimum. ">=" is the
  bound where the budget of runs ended before. `stc size` takes the optimum where it is known; *descent alone* is what minimisation
  came to by itself.
"""


@dataclass(frozen=True)
class Row:
    """What was found for a design; `tokens` of a prefill block. `bits` and `cycles` by depths: "all tokens" and `DEPTHS`.

    None: the LP did not size it, or no end. `descent_alone`, `at_least` (bits) and `proof` as in `Sizing` and `Optimum`; `lp` and
    `preparation`: seconds.
    """

    design: str
    tokens: int | None
    tasks: int
    fifos: int
    sized: int
    bits: Mapping[str, int | None]
    cycles: Mapping[str, int | None]
    descent_alone: int
    optimum: int | None
    at_least: int
    proof: str
    larger_loop_depths: str
    values_agree: bool
    lp: float | None
    preparation: float | None
    build_seconds: float
    run_seconds: float
    runs: int
    search_seconds: float
    surprises: int

    @property
    def over_optimum(self) -> float:
        """Bits that minimisation came to by itself over the optimum, or over what that is at least."""
        return self.descent_alone / (self.at_least if self.optimum is None else self.optimum)

    @property
    def key(self) -> tuple[str, int | None]:
        return self.design, self.tokens


def measure(design: str, seq: int, seconds: float, most_runs: int, progress: Progress = lambda _: None) -> Row:
    """Compile, build, size; looking for the optimum takes about so many seconds. CompileError where it is refused."""
    published = PUBLISHED.get(design)
    request = compile_request(published) if published else CompileRequest(design, seq=seq, options=PipelineOptions(budget="small"))
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "project"
        report = compile_model(request, out, progress)
        progress("building with time")
        runs = DesignRuns.build(out)
        fastest = min(runs.emitted.seconds, runs.run(runs.unlimited).seconds)
        affordable = affordable_runs(seconds, fastest, most_runs)
        return row(design, None if published else seq, report, size_runs(runs, most_runs=affordable, progress=progress))


def affordable_runs(seconds: float, run_seconds: float, most: int) -> int:
    """In so many seconds, at least one."""
    return max(1, min(most, int(seconds / max(run_seconds, 1e-4))))


def row(design: str, tokens: int | None, report: Mapping[str, Any], sizing: Sizing) -> Row:
    assert sizing.optimum is not None
    at = {"all tokens": sizing.worst, "LP": sizing.required, "emitted": sizing.emitted, "minimal": sizing.minimal}
    return Row(
        design=design,
        tokens=tokens,
        tasks=report["tasks"],
        fifos=len(sizing.fifos) + len(sizing.memory_fed),
        sized=len(sizing.fifos),
        bits={name: found.bits if found else None for name, found in at.items()},
        cycles={name: found.cycles if found else None for name, found in at.items()},
        descent_alone=sizing.descent_alone,
        optimum=sizing.optimum.bits,
        at_least=sizing.optimum.lower_bound,
        proof=sizing.optimum.proof,
        larger_loop_depths=sizing.larger_loop_depths,
        values_agree=sizing.values_agree,
        lp=lp_seconds(report, "seconds"),
        preparation=lp_seconds(report, "preparation_seconds"),
        build_seconds=sizing.seconds["build"],
        run_seconds=sizing.seconds["per_run"],
        runs=sizing.runs,
        search_seconds=sizing.seconds["minimisation"] + sizing.seconds["optimum"],
        surprises=sizing.surprises,
    )


def lp_seconds(report: Mapping[str, Any], name: str) -> float | None:
    """Of all kernels of a design; None where `size-fifos` sized none."""
    kernels = report.get("fifo_sizing", {}).get("kernels", [])
    return sum(kernel[name] for kernel in kernels) if kernels else None


# What is required --------------------------------------------------------------------------------------------------------


def missed(entry: Row) -> list[str]:
    """Each requirement that a row misses, in words."""
    return list(_missed(entry))


def _missed(entry: Row) -> Iterator[str]:
    yield from (said for name in DEPTHS if (said := _lost(entry, name)))
    if entry.optimum is not None and entry.over_optimum > NEAR:
        yield f"bits of the descent are {entry.over_optimum:.3f} times the optimum (required: at most {NEAR})"
    if entry.lp is not None and entry.lp >= LP_SECONDS:
        yield f"the linear program took {entry.lp:.2f} s (required: less than {LP_SECONDS:g})"
    if entry.larger_loop_depths != "finished":
        yield f"the emitted design does not end with all loop depths doubled: {entry.larger_loop_depths}"
    if not entry.values_agree:
        yield "values differ from PyTorch's"


def _lost(entry: Row, name: str) -> str | None:
    """The cycles lost at some depths, in words."""
    reference, cycles = entry.cycles["all tokens"], entry.cycles[name]
    assert reference is not None
    if entry.bits[name] is None:
        return None
    if cycles is None:
        return f"at the {name} depths it does not end"
    lost = cycles - reference
    return f"at the {name} depths {lost:,} of {reference:,} cycles are lost ({_percent(lost / reference)})" if lost > 0 else None


def _percent(part: float) -> str:
    return f"{100 * part:.2g} %"


# The tables --------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Section:
    """A table: how each of its columns, by name, is read off a row."""

    title: str
    columns: Mapping[str, Callable[[Row], str]]

    def lines(self, rows: Sequence[Row]) -> list[list[str]]:
        return [[cell(entry) for cell in self.columns.values()] for entry in rows]


def _number(value: int | None) -> str:
    return "-" if value is None else f"{value:,}"


def _seconds(value: float | None, digits: int) -> str:
    return "-" if value is None else f"{value:.{digits}f}"


def _cycles(entry: Row, name: str) -> str:
    return "does not end" if entry.bits[name] is not None and entry.cycles[name] is None else _number(entry.cycles[name])


def _difference(entry: Row, name: str) -> str:
    cycles, reference = entry.cycles[name], entry.cycles["all tokens"]
    return "-" if cycles is None or reference is None else _number(cycles - reference)


SECTIONS = (
    Section(
        "Bits",
        {
            "design": lambda row: row.design,
            "tokens": lambda row: _number(row.tokens),
            "tasks": lambda row: str(row.tasks),
            "FIFOs": lambda row: str(row.fifos),
            "sized": lambda row: str(row.sized),
            "all tokens": lambda row: _number(row.bits["all tokens"]),
            "LP": lambda row: _number(row.bits["LP"]),
            "emitted": lambda row: _number(row.bits["emitted"]),
            "minimal": lambda row: _number(row.bits["minimal"]),
            "descent alone": lambda row: _number(row.descent_alone),
            "optimum": lambda row: f">= {row.at_least:,}" if row.optimum is None else f"{row.optimum:,}",
            "descent alone/optimum": lambda row: f"{'<= ' if row.optimum is None else ''}{row.over_optimum:.3f}",
        },
    ),
    Section(
        "Cycles",
        {
            "design": lambda row: row.design,
            "all tokens": lambda row: _cycles(row, "all tokens"),
            "LP": lambda row: _cycles(row, "LP"),
            "emitted": lambda row: _cycles(row, "emitted"),
            "minimal": lambda row: _cycles(row, "minimal"),
            "lost by LP": lambda row: _difference(row, "LP"),
            "lost by emitted": lambda row: _difference(row, "emitted"),
            "lost by minimal": lambda row: _difference(row, "minimal"),
            "loop depths doubled": lambda row: row.larger_loop_depths,
            "values": lambda row: "agree" if row.values_agree else "DIFFER",
        },
    ),
    Section(
        "Seconds",
        {
            "design": lambda row: row.design,
            "LP": lambda row: _seconds(row.lp, 2),
            "its preparation": lambda row: _seconds(row.preparation, 2),
            "build": lambda row: _seconds(row.build_seconds, 1),
            "one run": lambda row: _seconds(row.run_seconds, 3),
            "runs": lambda row: _number(row.runs),
            "minimisation and optimum": lambda row: _seconds(row.search_seconds, 1),
            "proof of the optimum": lambda row: row.proof,
            "runs that were faster with less room": lambda row: _number(row.surprises),
        },
    ),
)


def markdown(rows: Sequence[Row]) -> str:
    """The document."""
    machine = {"cores": os.cpu_count(), "machine": platform.machine(), "python": platform.python_version()}
    lines = [TEXT.format(**machine), measured_at(), ""]
    for section in SECTIONS:
        head = [list(section.columns), ["---"] * len(section.columns)]
        lines += [f"## {section.title}", "", *(f"| {' | '.join(line)} |" for line in (*head, *section.lines(rows))), ""]
    return "\n".join([*lines, "## What misses its requirement", "", *verdicts(rows), ""])


def verdicts(rows: Sequence[Row]) -> list[str]:
    """A list of what is missed, after what is required; and of the optima not known."""
    required = f"""\
Required: no cycle lost, bits of the descent at most {NEAR} times the optimum where it is known, the linear program of a design
solved in less than {LP_SECONDS:g} s, values equal to PyTorch's, and an end with all loop depths doubled."""
    found = [f"* {entry.design}: {'; '.join(missed(entry))}." for entry in rows if missed(entry)]
    unknown = [
        f"* {entry.design}: the optimum is not known; bits of the descent are at most {entry.over_optimum:.3f} times it."
        for entry in rows
        if entry.optimum is None
    ]
    return [required, "", *(found or ["No design misses any."]), *(["", *unknown] if unknown else [])]


def _read_rows(file: Path | None) -> list[Row]:
    return [Row(**entry) for entry in json.loads(file.read_text())] if file and file.is_file() else []


def _in_order(rows: Sequence[Row]) -> list[Row]:
    """As the designs are listed; others, as they came, behind."""
    return sorted(rows, key=lambda row: DESIGNS.index(row.design) if row.design in DESIGNS else len(DESIGNS))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("designs", nargs="*", metavar="DESIGN", help=f"default: {' '.join(DESIGNS)}")
    parser.add_argument("--seq", type=int, default=32, help="tokens of a block")
    parser.add_argument("--seconds", type=float, default=240, help="for the optimum of one design, about")
    parser.add_argument("--most-runs", type=int, default=10 * MOST_RUNS, help="runs for minimisation and optimum each, about")
    parser.add_argument("--rows", type=Path, help="JSON file with the rows of earlier calls; new ones are added")
    parser.add_argument("--missing", action="store_true", help="measure only what has no row in --rows yet")
    parser.add_argument("--write", action="store_true", help="write docs/fifo_sizing.md")
    options = parser.parse_args()
    rows = _read_rows(options.rows)
    console, messages = Console(highlight=False), Console(stderr=True, highlight=False)
    refused = False
    given = options.designs or (DESIGNS if options.missing or not rows else ())
    for design in given:
        key = (design, None if design in PUBLISHED else options.seq)
        if options.missing and key in {entry.key for entry in rows}:
            continue
        try:
            with messages.status(design) as status:
                found = measure(design, options.seq, options.seconds, options.most_runs, _told(status, design))
        except CompileError as error:
            console.print(f"{design}: {error}", markup=False, soft_wrap=True)
            refused = True
            continue
        rows = _in_order([*(entry for entry in rows if entry.key != key), found])
        console.print(f"{design}: {json.dumps(asdict(found))}", markup=False, soft_wrap=True)
        if options.rows:
            options.rows.write_text(json.dumps([asdict(entry) for entry in rows], indent=1) + "\n")
    _print(rows)
    if options.write and rows:
        DOCUMENT.write_text(markdown(rows))
    return 2 if refused else 1 if any(missed(entry) for entry in rows) else 0


def _told(status: Status, design: str) -> Progress:
    return lambda step: status.update(f"{design}: {step}")


def _print(rows: Sequence[Row]) -> None:
    console = Console(highlight=False, width=200)
    for section in SECTIONS:
        table = Table(*section.columns, title=section.title)
        for line in section.lines(rows):
            table.add_row(*line)
        console.print(table)
    for line in verdicts(rows):
        console.print(line, markup=False, soft_wrap=True)


if __name__ == "__main__":
    sys.exit(main())
