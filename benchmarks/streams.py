"""Streams of the family blocks: memory on chip, converters and orders, proofs, fuzzing, seeded faults. One command for all figures.

    python benchmarks/streams.py [--seq 32] [--tiny] [--write] [--proofs] [NAME ...]
                                 [--fuzz N | --fuzz-result FILE] [--faults | --faults-result FILE]

Every section says where its figures come from: counted in the IR, proved, executed. `--fuzz-result` and `--faults-result` read what
`stc fuzz --json` and the fault runner have printed; `--fuzz N` and `--faults` run them first. `--write` puts the tables into
docs/streams.md. `--proofs` compiles only up to `verify-streams`, for that section alone.
Exit code 1 where a figure misses what is required of it.

The fault runner prints a JSON object with one list of objects, a row each, and perhaps `missed`, a list of sentences.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from measured_at import measured_at
from rich.console import Console
from rich.measure import measure_renderables
from rich.table import Table

from stc.analysis.stream_proofs import Solver, prove_streams
from stc.diagnostics import CompileError
from stc.dialects.context import make_context
from stc.frontend.presets import PRESETS
from stc.pipeline import PipelineOptions, part, stages, steps
from stc.platforms.platform import load_platform
from stc.tools.compile import Recorder, design_report
from stc.tools.consoles import result_console
from stc.tools.request import CompileRequest, load
from stc.transforms.dataflow.verify_streams import VerifyStreams, require_proved

DOCUMENT = Path(__file__).parents[1] / "docs" / "streams.md"
MOST_ON_CHIP = 0.148
"""(a+b) over unfused linalg: what StreamTensor (MICRO 2025) publishes, without saying over which linalg."""
MOST_CONVERTER_RATIO = 1.25
MOST_PROOF_SECONDS = 10.0
MOST_REFUSED = 0.02
FUZZ = (str(Path(sys.executable).parent / "stc"), "fuzz", "--json")
FAULTS = (sys.executable, str(Path(__file__).parents[1] / "tests" / "faults" / "faults.py"), "--json")

Report = Mapping[str, Any]


@dataclass(frozen=True)
class Section:
    """A table with its heading and a paragraph that says where the figures come from. `missed`: requirements not met."""

    title: str
    origin: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    missed: Sequence[str] = ()

    def table(self) -> Table:
        table = Table(*self.columns, title=self.title, caption=self.origin)
        for row in self.rows:
            table.add_row(*row)
        return table

    def markdown(self) -> str:
        lines = [self.columns, ["---"] * len(self.columns), *self.rows]
        cells = [[" ".join(cell.replace("|", "\\|").split()) for cell in line] for line in lines]
        return "\n".join([f"## {self.title}", "", self.origin, "", *(f"| {' | '.join(line)} |" for line in cells)]) + "\n"


@dataclass(frozen=True)
class Measured:
    """A block compiled twice: `chosen` with propagated orders, `uniform` with one tile size and order for everything.

    `refused`: why the second was not possible, where it was not. `accesses`: the proofs once more, with accesses put to z3.
    """

    block: str
    tokens: int
    chosen: Report
    uniform: Report | None
    refused: str = ""
    accesses: Report | None = None

    @property
    def label(self) -> list[str]:
        return [self.block, str(self.tokens)]


def measure(name: str, seq: int) -> Measured:
    """Import a preset once and run all passes on it in both ways. CompileError where it is refused with propagated orders."""
    request = CompileRequest(name, seq=seq, options=PipelineOptions(budget="small"))
    model = load(request)
    options = request.options
    chosen = _report(model.module.clone(), options)
    accesses = proofs_of(model.module.clone(), options, "z3")
    try:
        uniform = _report(model.module.clone(), replace(options, propagate_orders=False))
    except CompileError as error:
        return Measured(name, seq, chosen, None, str(error), accesses)
    return Measured(name, seq, chosen, uniform, "", accesses)


def measure_proofs(name: str, seq: int) -> Measured:
    """The proofs of a preset alone."""
    request = CompileRequest(name, seq=seq, options=PipelineOptions(budget="small"))
    module = load(request).module
    by_types, by_accesses = (proofs_of(module.clone(), request.options, solver) for solver in ("both", "z3"))
    return Measured(name, seq, {"proofs": by_types}, None, accesses=by_accesses)


def proofs_of(module: Any, options: PipelineOptions, solver: Solver) -> Report:
    """What is proved of `module` (changed) behind the passes before `verify-streams`; CompileError where an edge is not."""
    context = make_context()
    for step in part(steps(stages(options)), last=VerifyStreams.name)[:-1]:
        step.one_pass.apply(context, module)
    proofs = prove_streams(module, solver)
    require_proved(proofs)
    return proofs.report()


def _report(module: Any, options: PipelineOptions) -> Report:
    return design_report(module, options, Recorder())


# Sections -------------------------------------------------------------------------------------------------------------


def memory_section(blocks: Sequence[Measured]) -> Section:
    """(a+b) against unfused and fused linalg, and what duplicate loads of inputs do."""
    rows: list[list[str]] = []
    missed: list[str] = []
    for block in blocks:
        memory, duplicate_loads = block.chosen["memory_bytes"], block.chosen["duplicate_loads"]
        traffic = block.chosen["external_traffic_bytes"]
        share = memory["streams_over_before_unfused"]
        if share >= MOST_ON_CHIP:
            missed.append(f"{block.block} at {block.tokens} tokens keeps {_percent(share)} on chip")
        rows.append([
            *block.label,
            *(str(block.chosen[key]) for key in ("groups", "tasks", "fifos")),
            *(_kilobytes(memory[key]) for key in ("before", "before_unfused", "converters", "fifos", "local")),
            _percent(share),
            _percent(memory["streams_over_before"]),
            str(len(duplicate_loads["list"])),
            _kilobytes(duplicate_loads["saved_bytes"]),
            _kilobytes(duplicate_loads["traffic_bytes"]),
            _kilobytes(traffic["read"] + traffic["written"]),
        ])
    return Section(
        "Memory on chip",
        "Counted in the IR: *fused* and *unfused* are the bytes of all tensors passed between linalg ops after and before "
        "element-wise fusion, (a) converters with their ping-pong factor, (b) FIFOs at emitted depth (from a schedule and a run of "
        f"the token model), (c) tiles and accumulators. Required: (a+b)/unfused below {_percent(MOST_ON_CHIP)}. "
        "*duplicate loads*: inputs that a second DMA reads again instead of a deep FIFO or a converter, the bytes on chip that "
        "saves and "
        "the traffic it adds per run, beside *all traffic* of the memory ports, in words with their padding. "
        "The adapter of a memory port "
        f"({_kilobytes(load_platform(PipelineOptions().platform).memory.adapter_bytes)} kB of block RAM) is not counted in (a) or "
        "(b): only what saves more than that is read again.",
        ("block", "tokens", "groups", "tasks", "FIFOs", "fused kB", "unfused kB", "(a) kB", "(b) kB", "(c) kB", "(a+b)/unfused",
         "(a+b)/fused", "duplicate loads", "saved kB", "added traffic kB", "all traffic kB"),
        rows,
        missed,
    )  # fmt: skip


@dataclass(frozen=True)
class Converters:
    """Totals over the converters of a design, in bytes; `least` sums exact lower bounds, over the `counted` ones that have one."""

    count: int
    one_block: int
    all_blocks: int
    counted: int
    counted_bytes: int
    least: int

    @property
    def ratio(self) -> float | None:
        return self.counted_bytes / self.least if self.least else None

    @property
    def factor(self) -> float | None:
        return self.all_blocks / self.one_block if self.one_block else None


def converters_of(report: Report) -> Converters:
    entries = report["converter_buffers"]["list"]
    counted = [entry for entry in entries if entry["least_bytes"] is not None]
    return Converters(
        len(entries),
        sum(entry["buffer_bytes"] for entry in entries),
        sum(entry["buffer_bytes"] * entry["blocks"] for entry in entries),
        len(counted),
        sum(entry["buffer_bytes"] for entry in counted),
        sum(entry["least_bytes"] for entry in counted),
    )


def order_section(blocks: Sequence[Measured]) -> Section:
    """Converters and FIFOs with one tile size for everything, and with propagated orders."""
    rows: list[list[str]] = []
    for block in blocks:
        after = converters_of(block.chosen)
        if block.uniform is None:
            before = ["refused", "-", "-", "-", "-"]
        else:
            uniform = converters_of(block.uniform)
            before = [str(uniform.count), _kilobytes(uniform.one_block), _kilobytes(uniform.all_blocks), *_fifos(block.uniform)]
        chosen = [str(after.count), _kilobytes(after.one_block), _kilobytes(after.all_blocks), *_fifos(block.chosen)]
        rows.append([*block.label, *before, *chosen])
    return Section(
        "Order propagation",
        "Counted in the IR after all dataflow passes. "
        "*before*: one tile size and one rule for loop orders everywhere (`--uniform-tiles`); "
        "*after*: tiles and loop orders chosen so that neighbours agree (`propagate-orders`, the default). Converters without and "
        "with their ping-pong factor; FIFOs at emitted depth, which depend on the orders as well.",
        ("block", "tokens", *(f"{column} {when}" for when in ("before", "after") for column in
                              ("converters", "kB", "kB, ping-pong", "FIFO kB", "(a+b)/unfused"))),
        rows,
    )  # fmt: skip


def _fifos(report: Report) -> list[str]:
    memory = report["memory_bytes"]
    return [_kilobytes(memory["fifos"]), _percent(memory["streams_over_before_unfused"])]


def converter_section(blocks: Sequence[Measured]) -> Section:
    """Converter bytes against their lower bounds, by block and in total."""
    totals = [converters_of(block.chosen) for block in blocks]
    together = Converters(*(sum(values) for values in zip(*(_numbers(total) for total in totals), strict=True)))
    rows = [[*block.label, *_bounds(total)] for block, total in zip(blocks, totals, strict=True)]
    rows.append(["all", "", *_bounds(together)])
    is_missed = together.ratio is not None and together.ratio > MOST_CONVERTER_RATIO
    return Section(
        "Converters against their lower bounds",
        "Bytes inferred from the two types of each converter; the lower bound is exact, the largest number of live elements, "
        f"counted token by token. Required: the total without the ping-pong factor within {MOST_CONVERTER_RATIO} of the bound. "
        "*bounded*: for how many the sequence was short enough to count.",
        ("block", "tokens", "converters", "bounded", "kB", "bound kB", "ratio", "ping-pong factor"),
        rows,
        [f"converters take {together.ratio:.2f} of their lower bound"] if is_missed and together.ratio is not None else [],
    )


def _numbers(total: Converters) -> list[int]:
    return [total.count, total.one_block, total.all_blocks, total.counted, total.counted_bytes, total.least]


def _bounds(total: Converters) -> list[str]:
    ratio, factor = total.ratio, total.factor
    return [
        str(total.count),
        str(total.counted),
        _kilobytes(total.one_block),
        _kilobytes(total.least),
        "-" if ratio is None else f"{ratio:.2f}",
        "-" if factor is None else f"{factor:.2f}",
    ]


_Z3 = ("asked", "confirmed", "alone", "gave_up")
"""Figures of a report's `proofs.z3`, in the order of the table."""


def proof_section(blocks: Sequence[Measured]) -> Section:
    """What `verify-streams` proved, by which method, in which time."""
    proved = [(block, block.chosen["proofs"]) for block in blocks if "proofs" in block.chosen]
    methods = list(dict.fromkeys(method for _, proofs in proved for method in proofs["by_method"]))
    rows = [
        [*block.label, str(proofs["edges"]), *(str(proofs["by_method"].get(method, 0)) for method in methods),
         *(str(proofs["z3"][figure]) for figure in _Z3), f"{proofs['seconds']:.2f}", *_accesses([block])]
        for block, proofs in proved
    ]  # fmt: skip
    seconds = sum(proofs["seconds"] for _, proofs in proved)
    edges = sum(proofs["edges"] for _, proofs in proved)
    counts = [str(sum(proofs["by_method"].get(method, 0) for _, proofs in proved)) for method in methods]
    figures = [sum(proofs["z3"][figure] for _, proofs in proved) for figure in _Z3]
    rows.append(["all", "", str(edges), *counts, *map(str, figures), f"{seconds:.2f}", *_accesses(blocks)])
    missed = [f"proofs take {seconds:.1f} s"] if seconds > MOST_PROOF_SECONDS else []
    missed += [f"z3 did not decide {figures[-1]} edges"] if figures[-1] else []
    missed += [f"{block.block} has no proofs in its report" for block in blocks if "proofs" not in block.chosen]
    return Section(
        "Proofs",
        "Proved by `verify-streams` for every edge and converter of the fused kernels, by method; seconds executed here. "
        "*asked*: edges whose two types are not one and the same, each put to z3 as well, from the types as they are spelled; "
        "*confirmed* by it, proved by it *alone*, or *gave up*; the seconds are those of all proofs, nearly all z3's. "
        "*with accesses*: `verify-streams{solver=z3}`, which puts the bounds, steps and guards around each access to z3 as well. "
        f"Required: all blocks together within {MOST_PROOF_SECONDS:.0f} s, and no edge on which z3 gives up.",
        ("block", "tokens", "edges", *methods, "z3: asked", "confirmed", "alone", "gave up", "seconds", "with accesses: asked",
         "confirmed", "seconds"),
        rows,
        missed,
    )


def _accesses(blocks: Sequence[Measured]) -> list[str]:
    """What z3 was asked and confirmed, and the seconds, where accesses are put to it as well."""
    reports = [block.accesses for block in blocks]
    if any(report is None for report in reports):
        return ["-", "-", "-"]
    asked, confirmed = (sum(report["z3"][figure] for report in reports if report) for figure in ("asked", "confirmed"))
    return [str(asked), str(confirmed), f"{sum(report['seconds'] for report in reports if report):.2f}"]


def fuzz_section(content: Mapping[str, Any]) -> Section:
    """Verdicts, and why programs were refused or failed, from what `stc fuzz --json` prints."""
    programs, refused, failed = (int(content[key]) for key in ("programs", "refused", "failed"))
    share = refused / programs if programs else 0.0
    rows = [[key.replace("_", " "), _text(value)] for key, value in content.items() if isinstance(value, int | float)]
    rows.append(["refused, share", _percent(share)])
    rows += [[f"refused: {entry['reason']}", str(entry["count"])] for entry in content["refusals"]]
    rows += [[f"failed: seed {entry['seed']}, {entry['place']}", entry["message"]] for entry in content["failures"]]
    missed = [f"{failed} of {programs} random programs failed"] if failed else []
    missed += [f"{_percent(share)} of {programs} random programs were refused"] if share >= MOST_REFUSED else []
    return Section(
        "Random programs",
        "Executed by `stc fuzz`: every program compiles, and all levels, the emitted C++ and MLIR's execution engine agree, or it "
        f"is refused with a message. Required: none fails, fewer than {_percent(MOST_REFUSED)} are refused.",
        ("figure", "value"),
        rows,
        missed,
    )


def faults_section(content: Mapping[str, Any]) -> Section:
    """A row for each seeded fault, in the columns that the runner gives."""
    tables = [value for key, value in content.items() if key != "missed" and isinstance(value, list)]
    if len(tables) != 1:
        raise CompileError(f"has {len(tables)} lists", where="result of the seeded faults", accepted="one, an object per fault")
    columns = list(dict.fromkeys(key for entry in tables[0] for key in entry))
    return Section(
        "Seeded faults",
        "Executed: wrong rewrites put into passes one at a time, what caught each of them, and the place that was named.",
        [column.replace("_", " ") for column in columns],
        [[_text(entry.get(column, "")) for column in columns] for entry in tables[0]],
        [str(sentence) for sentence in content.get("missed", ())],
    )


def _text(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _kilobytes(count: int) -> str:
    return f"{count / 1e3:.0f}" if count >= 1e5 else f"{count / 1e3:.1f}"


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


BLOCK_SECTIONS: tuple[Callable[[Sequence[Measured]], Section], ...] = (
    memory_section,
    order_section,
    converter_section,
    proof_section,
)


# Other tools ----------------------------------------------------------------------------------------------------------


def result_of(command: Sequence[str], file: Path | None) -> Mapping[str, Any]:
    """The JSON object in `file`, or else what `command` prints; CompileError where there is none."""
    try:
        content = json.loads(_printed_by(command) if file is None else file.read_text())
    except (OSError, ValueError) as error:
        content, problem = None, str(error)
    else:
        problem = "it is not an object"
    if not isinstance(content, dict):
        where = str(file) if file is not None else " ".join(command)
        raise CompileError(f"gives no JSON object: {problem}", where=where, accepted="what the tool prints with --json")
    return content


def _printed_by(command: Sequence[str]) -> str:
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False).stdout


def other_sections(arguments: argparse.Namespace) -> list[Section]:
    """The sections that were asked for."""
    sections: list[Section] = []
    if arguments.fuzz or arguments.fuzz_result:
        command = (*FUZZ, "--count", str(arguments.fuzz))
        sections.append(fuzz_section(result_of(command, arguments.fuzz_result)))
    if arguments.faults or arguments.faults_result:
        sections.append(faults_section(result_of(FAULTS, arguments.faults_result)))
    return sections


def with_section(text: str, section: Section) -> str:
    """docs/streams.md with one section written anew."""
    begin = text.index(f"## {section.title}\n")
    end = text.find("\n## ", begin)
    return text[:begin] + section.markdown() + (text[end:] if end >= 0 else "")


def document(sections: Sequence[Section]) -> str:
    """docs/streams.md."""
    head = (
        "# Streams of the family blocks\n\n"
        "Written by `python benchmarks/streams.py --write`: prefill blocks with random weights in f32, "
        f"on {os.cpu_count()} cores ({platform.machine()}, Python {platform.python_version()}).\n\n{measured_at()}\n"
    )
    return "\n".join([head, *(section.markdown() for section in sections)])


def print_tables(console: Console, sections: Sequence[Section]) -> None:
    """All tables as wide as their figures need, on narrow terminals and in files too: a figure that is cut is worth nothing."""
    for section in sections:
        table = section.table()
        unlimited = console.options.update(max_width=10_000)
        console.width = max(console.width, measure_renderables(console, unlimited, [table]).maximum)
        console.print(table)


def arguments_of(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="presets; default: all full-size ones")
    parser.add_argument("--seq", type=int, action="append", help="tokens; may be repeated (default 32)")
    parser.add_argument("--tiny", action="store_true", help="the tiny twins instead")
    parser.add_argument("--write", action="store_true", help=f"write docs/{DOCUMENT.name}")
    parser.add_argument("--proofs", action="store_true", help="only the proofs")
    parser.add_argument("--fuzz", type=int, default=0, metavar="N", help="run stc fuzz on N random programs")
    parser.add_argument("--fuzz-result", type=Path, metavar="FILE", help="what `stc fuzz --json` printed")
    parser.add_argument("--faults", action="store_true", help="run the seeded faults")
    parser.add_argument("--faults-result", type=Path, metavar="FILE", help="what the fault runner printed")
    return parser.parse_args(argv)


def main(argv: Sequence[str] | None = None) -> int:
    arguments = arguments_of(argv)
    names = arguments.names or [name for name in PRESETS if name.endswith("-tiny") == arguments.tiny]
    console = result_console()
    blocks: list[Measured] = []
    try:
        for name in names:
            for seq in arguments.seq or (32,):
                console.print(f"{name}, {seq} tokens", markup=False)
                blocks.append(measure_proofs(name, seq) if arguments.proofs else measure(name, seq))
        chosen = (proof_section,) if arguments.proofs else BLOCK_SECTIONS
        sections = [*(section(blocks) for section in chosen), *other_sections(arguments)]
    except CompileError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    print_tables(console, sections)
    if arguments.write:
        DOCUMENT.write_text(with_section(DOCUMENT.read_text(), sections[0]) if arguments.proofs else document(sections))
    missed = [sentence for section in sections for sentence in section.missed]
    for sentence in missed:
        console.print(f"missed: {sentence}", markup=False)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
