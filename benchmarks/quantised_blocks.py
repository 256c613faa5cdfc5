"""Blocks of decoder families in f32, W8A8 and W4A8: bytes of weights and scales, and cycles, beside each other.

    python benchmarks/quantised_blocks.py [--model gpt2] [--stage decode] [--dtype w4a8] [--seq 32] [--tile 64] [--minutes 25]
                                          [--folder DIR] [--rows FILE] [--table] [--json] [--write]

Each block is compiled at full size with the same options, and simulated with time, which also compares its values with the
reference of its arithmetic. Bytes are *counted*: what a launch reads through ports of parameters. Weights and scales are those that
a quantised design does not read as f32; of the f32 design, what it reads beyond the parameters that stay f32 (norms, biases).
Cycles are *simulated*: of the emitted C++, with estimated depths of loops. A token: a launch of the decode block is one, of the
prefill block `--seq`. What is refused, or takes longer than `--minutes`, is a row that says so.

Rows are kept in FILE as they are measured, each in place of an earlier one of its block and arithmetic, with the commit that it was
measured at: what is printed and written is the table of all rows there are (--table: measure none).
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import product
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path

from decode_block import bytes_at
from measured_at import measured_at, write_between

from stc.diagnostics import CompileError
from stc.frontend.draws import EXAMPLE
from stc.manifest.files import read_manifest
from stc.manifest.schema import Manifest
from stc.pipeline import PipelineOptions
from stc.quantisation.formats import DTYPES
from stc.simulation.simulate import timed_design
from stc.tools.compile import CompileRequest, compile_model
from stc.tools.near_ties import with_near_ties

DOCUMENT = Path(__file__).parents[1] / "docs" / "quantisation.md"
ROWS = Path(__file__).parent / "data" / "quantised_blocks.json"
BEGIN, END = "<!-- quantised blocks -->\n", "<!-- end of quantised blocks -->\n"
MODELS = ("gpt2", "gpt2-medium", "qwen2.5-0.5b", "qwen3-0.6b", "tinyllama-1.1b", "llama-3.2-1b", "gemma3-1b")
STAGES = ("decode", "prefill")
THROUGHOUT = f"{DTYPES['w4a8']},activations=group,kv=int8,attention=int8"
FORMATS = {"f32": "", **DTYPES, "w4a8-attention": THROUGHOUT}
COLUMNS = (
    *("block", "arithmetic", "bytes of weights and scales", "of f32's", "of int8's"),
    *("cycles", "of f32's", "busiest task", "values", "measured"),
)
MAX_SEQ = 128
DEFAULT_TILE = 64


@dataclass(frozen=True)
class Case:
    """One block in one arithmetic: `tokens` in a launch."""

    model: str
    stage: str
    tokens: int
    dtype: str
    tile: int


@dataclass(frozen=True)
class Found:
    """What was measured: bytes of all parameters that a launch reads, and of those that are f32; cycles; the task that works for
    most of them, and for how many; whether values agree with the reference, `near_ties` of its integers the other way."""

    parameters: int
    of_f32: int
    cycles: int
    busiest: str
    busy: int
    agrees: bool
    near_ties: int = 0


@dataclass(frozen=True)
class Row:
    """A case, and what was found: None where `problem` says why there is nothing. `seconds` it took; `measured`: when, at what."""

    case: Case
    found: Found | None
    problem: str
    seconds: int
    measured: str


def measure(case: Case, minutes: float, folder: Path) -> Row:
    """One case, in a process of its own, which gets `minutes`."""
    begin = time.perf_counter()
    at = measured_at().removeprefix("Measured on ").removesuffix(".")
    if (_project(case, folder) / "manifest.json").is_file():
        at += ", compiled before"
    processes = get_context("fork")
    receiving, sending = processes.Pipe(duplex=False)
    process = processes.Process(target=_measured, args=(sending, case, folder))
    process.start()
    assert process.pid is not None
    os.setpgid(process.pid, process.pid)  # with whatever it starts: g++, and what that builds
    sending.close()
    found: Found | str = f"no result in {minutes:g} min"
    if receiving.poll(minutes * 60):
        try:
            found = receiving.recv()
        except EOFError:
            found = "ended without a result"
    else:
        os.killpg(process.pid, signal.SIGKILL)
    process.join()
    problem = found if isinstance(found, str) else ""
    return Row(case, None if isinstance(found, str) else found, problem, round(time.perf_counter() - begin), at)


def _project(case: Case, folder: Path) -> Path:
    return folder / f"{case.model}-{case.stage}-{case.tokens}-{case.tile}-{case.dtype}"


def _measured(sending: Connection, case: Case, folder: Path) -> None:
    try:
        sending.send(_found(case, _project(case, folder)))
    except CompileError as error:
        sending.send(str(error))


def _found(case: Case, out: Path) -> Found:
    if not (out / "manifest.json").is_file():
        options = PipelineOptions(tile=case.tile, quantize=FORMATS[case.dtype], budget="small")
        max_seq = MAX_SEQ if case.stage == "decode" else None
        draws = (EXAMPLE,)  # a simulation runs one
        given = CompileRequest(
            case.model, stage=case.stage, seq=case.tokens, options=options, max_seq=max_seq, check_inputs=draws
        )
        compile_model(given, out)
    run = timed_design(out).run(report=None)
    assert run.cycles is not None, f"no end: {out}"
    busiest = max(run.tasks, key=lambda task: task.busy)
    values = with_near_ties(out, run.values)
    ties = max((check.near_ties for check in values.outputs), default=0)
    return Found(*_parameter_bytes(read_manifest(out)), run.cycles, busiest.name, busiest.busy, values.passed, ties)


def _parameter_bytes(manifest: Manifest) -> tuple[int, int]:
    """What a launch reads of parameters, and of those of f32."""
    ports = {port.name: port for kernel in manifest.kernels for port in kernel.ports if port.kind == "parameter"}
    moved = {name: count for name, count in bytes_at(manifest, {}).items() if name in ports}
    return sum(moved.values()), sum(count for name, count in moved.items() if ports[name].element_type == "f32")


# Rows that are kept ---------------------------------------------------------------------------------------------------


def read_rows(file: Path) -> list[Row]:
    """What is kept; nothing where there is no file."""
    if not file.is_file():
        return []
    return [
        Row(**entry | {"case": Case(**entry["case"]), "found": Found(**entry["found"]) if entry["found"] else None})
        for entry in json.loads(file.read_text())
    ]


def keep(row: Row, file: Path) -> None:
    """`row` in place of that of its case, in the order of the table."""
    rows = sorted([*(each for each in read_rows(file) if each.case != row.case), row], key=lambda each: _place(each.case))
    file.write_text(json.dumps([asdict(each) for each in rows], indent=1) + "\n")


def _place(case: Case) -> tuple[object, ...]:
    model = MODELS.index(case.model) if case.model in MODELS else len(MODELS)
    return STAGES.index(case.stage), model, *_block(case), list(FORMATS).index(case.dtype)


def _block(case: Case) -> tuple[str, str, int, int]:
    """What rows that stand beside each other have in common."""
    return case.model, case.stage, case.tokens, case.tile


# The table ------------------------------------------------------------------------------------------------------------


def markdown(rows: Sequence[Row]) -> str:
    """The table."""
    lines = [
        f"Blocks at full size, with the same options (w4a8: `{FORMATS['w4a8']}`; w4a8-attention:",
        f"`{THROUGHOUT}`): bytes of weights and scales that a launch reads,",
        "*counted*; cycles *simulated*; the task that works for most of them (`python benchmarks/quantised_blocks.py`).",
        "",
        f"| {' | '.join(COLUMNS)} |",
        "| --- " * len(COLUMNS) + "|",
    ]
    for row in rows:
        beside = {each.case.dtype: each.found for each in rows if _block(each.case) == _block(row.case)}
        tile = "" if row.case.tile == DEFAULT_TILE else f", tile {row.case.tile}"
        tokens = f" of {row.case.tokens}" if row.case.stage == "prefill" else ""
        block = f"{row.case.model}, {row.case.stage}{tokens}{tile} | {row.case.dtype}"
        cells = _cells(row.found, beside) if row.found else f"{row.problem} | | | | | | "
        lines.append(f"| {block} | {cells} | {row.measured} |")
    return "\n".join(lines) + "\n"


def _cells(found: Found, beside: Mapping[str, Found | None]) -> str:
    """Of one row, from bytes to values; shares of what there is."""
    f32, int8 = beside.get("f32"), beside.get("w8a8")
    stays = next((each.of_f32 for dtype, each in beside.items() if each and dtype != "f32"), None)

    def weights(of: Found | None) -> int | None:
        if of is None or (of is f32 and stays is None):
            return None
        return of.parameters - (stays if of is f32 and stays is not None else of.of_f32)

    own = weights(found)
    shares = [f"{own / other:.3f}" if own is not None and other else "" for other in (weights(f32), weights(int8))]
    cycles = f"{found.cycles:,} | {f'{found.cycles / f32.cycles:.2f}' if f32 else ''}"
    busiest = f"`{found.busiest}` {found.busy:,}"
    values = f"agree, near-ties: {found.near_ties}" if found.near_ties else "agree" if found.agrees else "differ"
    return " | ".join([f"{own:,}" if own is not None else "", *shares, cycles, busiest, values])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", action="append", help="a preset; may be repeated (default: all full-size families)")
    parser.add_argument("--stage", action="append", choices=STAGES, help="may be repeated (default: both)")
    parser.add_argument("--dtype", action="append", choices=FORMATS, help="may be repeated (default: all)")
    parser.add_argument("--seq", type=int, default=32, help="tokens of the prefill block")
    parser.add_argument("--tile", type=int, default=DEFAULT_TILE, help=f"as of stc compile (default {DEFAULT_TILE})")
    parser.add_argument("--minutes", type=float, default=25, help="for each row (default 25)")
    parser.add_argument("--folder", type=Path, help="keep the projects here, or take those that are")
    parser.add_argument("--rows", type=Path, default=ROWS, help="kept rows (default benchmarks/data/quantised_blocks.json)")
    parser.add_argument("--table", action="store_true", help="measure nothing, take the rows there are")
    parser.add_argument("--json", action="store_true", help="print the rows as JSON")
    parser.add_argument("--write", action="store_true", help="write the table into docs/quantisation.md")
    arguments = parser.parse_args()
    wanted = product(arguments.model or MODELS, arguments.stage or STAGES, arguments.dtype or FORMATS)
    with tempfile.TemporaryDirectory() as temporary:
        for model, stage, dtype in () if arguments.table else wanted:
            case = Case(model, stage, arguments.seq if stage == "prefill" else 1, dtype, arguments.tile)
            keep(measure(case, arguments.minutes, arguments.folder or Path(temporary)), arguments.rows)
    rows = read_rows(arguments.rows)
    print(json.dumps([asdict(row) for row in rows], indent=1) if arguments.json else markdown(rows))
    if arguments.write:
        write_between(DOCUMENT, BEGIN, markdown(rows), END)
    return 0


if __name__ == "__main__":
    sys.exit(main())
