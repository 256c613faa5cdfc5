"""The publication, reproduced: each of its tables and figures beside ours, with the origin of every number.

    python benchmarks/paper.py [TABLE ...] [--models NAME ...] [--measure] [--write] [--json]

Published figures are benchmarks/data/streamtensor.toml. Ours are rows that were measured before, each with its commit: of this
script (benchmarks/data/paper.json) and of others. What has no row says so, with the command that measures it; `--measure` does
that, one row at a time, each kept before the next begins. Rows of real models take minutes, some of them many. `--write` writes
docs/paper.md and docs/paper_sweeps.svg, with all tables.
"""

from __future__ import annotations

import argparse
import json
import shlex
import signal
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, astuple, dataclass, field
from pathlib import Path
from typing import Any

import decode_u55c
import gpu
import paper_rows
import planned_blocks
import platform_blocks
from kept_rows import Rows
from paper_published import STREAMTENSOR, Published, Series, geometric_mean, latency_ms, read, tokens_of
from paper_sweeps import drawn

from stc.diagnostics import CompileError
from stc.platforms.platform import Platform, Resources, load_platform

DOCUMENT = Path(__file__).parents[1] / "docs" / "paper.md"
PICTURE = DOCUMENT.with_name("paper_sweeps.svg")
PLATFORM = load_platform("u55c")
COMMANDS: Mapping[Path, str] = {
    decode_u55c.DATA: "python benchmarks/decode_u55c.py",
    platform_blocks.DATA: "python benchmarks/platform_blocks.py",
}

INTRODUCTION = """# The publication, reproduced

Written by `python benchmarks/paper.py --write`: tables and figures of StreamTensor (MICRO 2025, arXiv 2509.13694) beside ours.
What is published is [a data file](../benchmarks/data/streamtensor.toml), each figure with the place where it stands. What the
paper has in plots alone (tokens per joule of each model, memory of each model, seconds of each stage) was not read off: what its
text says of it is here. Its figures are measured on a card; **none of ours is**.

Of the published, *printed* stands in a table, *quoted* in one that has it from another publication, *text* in a sentence, *range*
is the middle of one that is said, and *derived* follows from the others. What is *second hand* comes from notes on its source,
most of it rounded, and **was not verified in the table itself**; the text was read.

Of ours, *simulated* is run as emitted C++ with estimated depths of loops, *counted* is counted in the IR, *executed* is the clock
of the machine that compiled, *estimated* follows from figures that are assumed, *derived* from others that stand here. What the
host does between launches is in none. `python benchmarks/gpu.py MODEL --keep` measures a GPU of yours, which then stands beside
the published ones.
"""


@dataclass(frozen=True)
class Need:
    """A row that a table has a place for."""

    store: Rows[Any]
    name: str

    @property
    def row(self) -> Any:
        return self.store.known().get(self.name)

    @property
    def script(self) -> str:
        """What measures it, in front of its name."""
        return COMMANDS.get(self.store.data, "python benchmarks/paper.py --measure --row")


@dataclass(frozen=True)
class Beside:
    """A published figure, None for a mean of ratios, and ours over it."""

    published: float | None
    ratio: float | None

    def __str__(self) -> str:
        return " ".join([_cell(self.published), *([] if self.ratio is None else [f"(x {_cell(self.ratio)})"])]).strip()


@dataclass(frozen=True)
class Table:
    """Rows by column, what to know of them, and which measured rows they want."""

    title: str
    note: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Any]]
    needs: Sequence[Need] = ()

    @property
    def missing(self) -> list[Need]:
        return [need for need in self.needs if need.row is None]

    def as_json(self) -> dict[str, Any]:
        cells = [[asdict(cell) if isinstance(cell, Beside) else cell for cell in row] for row in self.rows]
        rows = [dict(zip(self.columns, row, strict=True)) for row in cells]
        commands = [f"{need.script} {shlex.quote(need.name)}" for need in self.missing]
        return {"title": self.title, "note": self.note, "rows": rows, "not measured": commands}

    def markdown(self) -> str:
        lines = [f"## {self.title}", "", *([self.note, ""] if self.note else [])]
        lines += [f"| {' | '.join(self.columns)} |", "|" + " --- |" * len(self.columns)]
        lines += [f"| {' | '.join(map(_cell, row))} |" for row in self.rows]
        for script in dict.fromkeys(need.script for need in self.missing):
            names = "; ".join(shlex.quote(need.name) for need in self.missing if need.script == script)
            lines += ["", f"Not measured: `{script} NAME`, for {names}."]
        return "\n".join([*lines, ""])


def _cell(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:,.0f}" if value >= 1000 else f"{value:.3g}" if value < 100 else f"{value:.1f}"
    return "" if value is None else f"{value:,}" if isinstance(value, int) else str(value)


@dataclass(frozen=True)
class Ours:
    """A figure of ours; `whole`: of a whole model in the published format, so that means may have it."""

    value: float
    origin: str
    whole: bool = True


@dataclass(frozen=True)
class Paper:
    """What is published, and the models that are asked for."""

    published: Published
    models: Sequence[str] = ()
    gpus: Sequence[Series] = field(default_factory=tuple[Series, ...])

    def wants(self, design: str) -> bool:
        """Whether a design `MODEL ...` or `MODEL, ...` is of a model that is asked for."""
        return not self.models or _model_of(design) in self.models

    def layers(self, model: str) -> int:
        """As published, or of the preset."""
        from stc.frontend.presets import PRESETS

        theirs = self.published.models.get(model)
        return theirs.layers if theirs else PRESETS[model].configuration().num_hidden_layers

    def needs(self, store: Rows[Any], names: Iterable[str]) -> list[Need]:
        return [Need(store, name) for name in names if self.wants(name)]


def _model_of(design: str) -> str:
    """Of `MODEL [prompt:tokens]` and `MODEL, ...`."""
    return design.split(" ")[0].rstrip(",")


# Speed ------------------------------------------------------------------------------------------------------------------


def _decoded(paper: Paper, design: str) -> Ours | None:
    """Tokens per second: of the whole model, or of its layers alone at the last position."""
    if (row := decode_u55c.KEPT.known().get(design)) is not None:
        return Ours(row.tokens_per_second(PLATFORM.clock_mhz), f"simulated: {row.measured}")
    model, positions = _model_of(design), 2 * tokens_of(design)
    layer = platform_blocks.KEPT.known().get(f"{model} [{positions}] u55c")
    if layer is None or layer.cycles is None:
        return None
    speed = 1e6 / (paper.layers(model) * (layer.nanoseconds / 1e3 + PLATFORM.launch_us))
    said = "layers alone, floats in attention, all of the plan for one, at the last position"
    return Ours(speed, f"simulated, {said}: {layer.measured}", whole=False)


def _first(paper: Paper, design: str) -> Ours | None:
    """Milliseconds to the first token: of the whole model, or its layers in f32."""
    if (row := decode_u55c.KEPT.known().get(design)) is not None:
        return Ours(row.first_token(PLATFORM.clock_mhz), f"simulated, the prompt token by token: {row.measured}")
    model, tokens = _model_of(design), tokens_of(design)
    layers = paper.layers(model)
    if (block := planned_blocks.ROWS.known().get(f"{model}, {tokens} tokens")) is None:
        return None
    said = "simulated, layers alone, in f32, all of the plan for one"
    return Ours(_milliseconds(layers * block.cycles, layers), f"{said}: {block.measured}", whole=False)


def _milliseconds(cycles: float, launches: int) -> float:
    return cycles / PLATFORM.clock_mhz / 1e3 + launches * PLATFORM.launch_us / 1e3


def _last(paper: Paper, design: str) -> Ours | None:
    first, speed = _first(paper, design), _decoded(paper, design)
    if first is None or speed is None:
        return None
    whole = first.whole and speed.whole
    said = "derived" if whole else "derived from figures that are not of whole models"
    return Ours(latency_ms(first.value, speed.value, tokens_of(design)), said, whole)


def _compared(
    paper: Paper, quantity: str, ours: Callable[[Paper, str], Ours | None], title: str, note: str, needs: Sequence[Need]
) -> Table:
    """Published figures beside ours, a column for each system, and geometric means of ratios of whole models."""
    systems = [*paper.published.of(quantity), *(each for each in paper.gpus if each.quantity == quantity)]
    designs = dict.fromkeys([*(design for system in systems for design in system.designs), *decode_u55c.CASES])
    found = {design: ours(paper, design) for design in designs if paper.wants(design)}
    rows: list[Sequence[Any]] = []
    means: dict[str, list[float]] = {system.system: [] for system in systems}
    for design, own in found.items():
        published = {system.system: system.of(design) for system in systems}
        if own is None and not any(published.values()):
            continue
        ratios = {name: own.value / value for name, value in published.items() if own and value}
        for name, ratio in ratios.items():
            means[name] += [ratio] if own and own.whole else []
        beside = [Beside(value, ratios.get(name)) if value else None for name, value in published.items()]
        rows.append([design, own and own.value, *beside, own.origin if own else "not measured"])
    if any(means.values()):
        geometric = [Beside(None, geometric_mean(ratios)) if ratios else None for ratios in means.values()]
        rows.append(["geometric mean, of whole models", None, *geometric, "derived"])
    origins = [f"* {system.system}: {system.origin}, {system.seen} ({system.source})" for system in systems]
    columns = ("prompt and tokens", "ours", *(system.system for system in systems), "origin of ours")
    return Table(title, "\n".join([f"{note} In brackets: ours over it.", "", *origins]), columns, rows, needs)


def _speeds(paper: Paper) -> list[Need]:
    return paper.needs(decode_u55c.KEPT, decode_u55c.CASES)


def decode(paper: Paper) -> Table:
    note = f"Tokens per second, batch 1, at {PLATFORM.clock_mhz} MHz, with what a launch costs the host. More is better."
    return _compared(paper, "decode", _decoded, "Decode (tables 4 and 5)", note, _speeds(paper))


def ttft(paper: Paper) -> Table:
    note = f"Milliseconds from the prompt to the first token, at {PLATFORM.clock_mhz} MHz, with launches. Less is better."
    return _compared(paper, "ttft", _first, "Time to the first token (tables 4 and 5)", note, _speeds(paper))


def latency(paper: Paper) -> Table:
    note = "Milliseconds from the prompt to the last token: ttft, and all tokens at the speed of decode. Less is better."
    return _compared(paper, "latency", _last, "Latency (tables 4 and 5)", note, _speeds(paper))


def summary(paper: Paper) -> Table:
    """The publication's own ratios, and what its rows give: a check of the data file, whose rows are second hand."""
    rows: list[Sequence[Any]] = []
    for each in paper.published.summaries:
        by_system = {series.system: series for series in paper.published.of(each.quantity)}
        theirs, others = by_system.get(STREAMTENSOR), by_system.get(each.over)
        ratios = [a / b for a, b in zip(theirs.values, others.values, strict=False)] if theirs and others else []
        again = geometric_mean(ratios) if ratios else None
        rows.append([each.quantity, each.design or "GPT-2, all lengths", each.over, each.value, again, f"text: {each.source}"])
    columns = ("quantity", "model", "StreamTensor over", "published", "geometric mean of the rows above", "origin")
    note = """StreamTensor's figure over the other's. Of ttft and latency less is better; energy is tokens per joule: more is
better. How the publication averages over the lengths of GPT-2 it does not say."""
    return Table("What the publication sums up", note, columns, rows)


def models(paper: Paper) -> Table:
    """Table 7 beside the presets that the other tables are of."""
    from stc.frontend.presets import PRESETS

    columns = ("model", "called", "layers", "hidden", "FFN", "heads", "KV heads", "ours")
    names = {"layers": "num_hidden_layers", "hidden": "hidden_size", "heads": "num_attention_heads"}
    rows: list[Sequence[Any]] = []
    for name, model in paper.published.models.items():
        if not paper.wants(name):
            continue
        ours = PRESETS[name].configuration()
        found = {key: getattr(ours, attribute) for key, attribute in names.items()}
        found["ffn"] = getattr(ours, "intermediate_size", None) or 4 * found["hidden"]
        found["kv_heads"] = getattr(ours, "num_key_value_heads", found["heads"])
        differing = [f"{key} {value}" for key, value in found.items() if value != getattr(model, key)]
        configured = [model.called, model.layers, model.hidden, model.ffn, model.heads, model.kv_heads]
        rows.append([name, *configured, "; ".join(differing) or "equal"])
    return Table("Models (table 7)", "As published, second hand, and whether the preset of that name differs.", columns, rows)


# Energy -----------------------------------------------------------------------------------------------------------------


def energy(paper: Paper) -> Table:
    """Joules of a token, of what is known of its speed."""
    rows: list[Sequence[Any]] = []
    for design in filter(paper.wants, decode_u55c.CASES):
        if (row := decode_u55c.KEPT.known().get(design)) is None:
            rows.append([design, "u55c", *[None] * 5, "not measured"])
        else:
            speed = row.tokens_per_second(PLATFORM.clock_mhz)
            rows.append([design, "u55c", speed, *_drawn(PLATFORM, row.resources, row.bytes, speed), f"estimated: {row.measured}"])
    for name, case in platform_blocks.CASES.items():
        row, platform = platform_blocks.KEPT.known().get(name), load_platform(case.platform)
        if row is None or row.cycles is None or not paper.wants(name):
            continue
        layers = paper.layers(case.model)
        speed = 1e6 / (layers * (row.nanoseconds / 1e3 + platform.launch_us))
        design = f"{case.model}, layers alone, position {case.max_seq - 1}"
        figures = _drawn(platform, row.resources, layers * row.bytes, speed)
        rows.append([design, case.platform, speed, *figures, f"estimated: {row.measured}"])
    for system in paper.gpus:
        for design, tokens in zip(system.designs, system.values, strict=True) if system.quantity == "energy" else ():
            if paper.wants(design):
                rows.append([design, system.system, *[None] * 3, 1 / tokens, tokens, f"{system.origin}: {system.source}"])
    said = ", ".join(f"{each.value} for {each.design}" for each in paper.published.summaries if each.quantity == "energy")
    note = f"""Watts are *estimated* from the `[power]` of the platform's file: static, of each resource by the part that is in
use of what the shell leaves, and of each byte that crosses the memory ports. All of that is *assumed*, good to a factor of two
or so, but for a byte of HBM2, which AMD states (remembered, not looked up again); *at most* is the card's limit. No card was
measured. Joules of ours are those of a token of decode; of a GPU that benchmarks/gpu.py measured, those of prompt and tokens, by
token. Published in numbers are ratios alone (StreamTensor's tokens per joule over the A100's: {said}), so that there is none of
ours over it."""
    columns = ("design", "platform", "tokens per second", "watts", "of at most", "joules per token", "tokens per joule", "origin")
    needs = [*_speeds(paper), *paper.needs(platform_blocks.KEPT, platform_blocks.CASES)]
    return Table("Energy (figure 9)", note, columns, rows, needs)


def _drawn(platform: Platform, used: Mapping[str, int], moved: float, speed: float) -> list[float | None]:
    """Watts, the card's, joules of a token, and tokens of a joule; None each where the platform's file says nothing of power."""
    if platform.power is None:
        return [None] * 4
    whole = platform.whole
    taken = Resources(used["lut"], used["ff"], used["bram18"] / 2, used["uram"], used["dsp"])
    share = Resources(*(part / all_ if all_ else 0.0 for part, all_ in zip(astuple(taken), astuple(whole), strict=True)))
    watts = platform.power.watts(share, moved * speed)
    return [watts, platform.power.most_watts, watts / speed, speed / watts]


# Compiles -----------------------------------------------------------------------------------------------------------------


def _found(paper: Paper, cases: Mapping[str, Any]) -> tuple[list[Need], list[paper_rows.Row]]:
    needs = paper.needs(paper_rows.STORE, cases)
    known = paper_rows.STORE.known()
    return needs, [known[need.name] for need in needs if need.name in known]


def memory(paper: Paper) -> Table:
    """Figure 10(a)."""
    needs, found = _found(paper, paper_rows.BLOCKS)
    published, rows = paper.published.ranges["memory"], list[Sequence[Any]]()
    between = f"{100 * published.least:.1f} to {100 * published.most:.1f}"
    for row in found:
        counted = [row.kilobytes(name) for name in ("before_unfused", "before", "converters", "fifos", "local")]
        ratios = [row.per_cent(name) for name in ("streams_over_before_unfused", "streams_over_before", "all_over_before_unfused")]
        rows.append([row.design, *counted, *ratios, row.refusal or f"counted: {row.measured}"])
    note = f"""Intermediate results of a layer, in kB: what passes between linalg operations, unfused and fused, and what is
left of it on chip: (a) converters, (b) FIFOs, (c) tiles inside tasks. Published: {between} % of what it was (text:
{published.source}), without a word on which of the three count, or whether what it was is fused linalg. In W4A8 linear layers
are quantised behind the first fusion, which *unfused* has, and the sums of each group of weights are intermediate results of
their own: what it was is more than in f32, and what is left a smaller share of it."""
    shares = ("(a+b) % of unfused", "(a+b) % of fused", "(a+b+c) % of unfused")
    columns = ("block", "unfused", "fused", "(a)", "(b)", "(c)", *shares, "origin")
    return Table("Memory before and after fusion (figure 10a)", note, columns, rows, needs)


STAGES = ("linalg optimisation", "linalg tiling", "kernel fusion", "dataflow optimisation", "bufferization", "resource allocation",
          "HLS optimisation", "code generation")  # fmt: skip


def compile_time(paper: Paper) -> Table:
    """Figures 10(b) and (c)."""
    needs, found = _found(paper, paper_rows.BLOCKS)
    published = paper.published.ranges["compile"]
    rows: list[Sequence[Any]] = []
    for row in found:
        seconds = [row.stages.get(stage) for stage in STAGES]
        total = sum(filter(None, seconds))
        front = row.stages.get("torch_import", 0.0) + row.stages.get("export", 0.0)
        of_theirs = _model_of(row.design) in paper.published.models
        over = total / ((published.least + published.most) / 2) if total and of_theirs else None
        rows.append([row.design, *seconds, total, over, row.stages.get("packing"), front, f"executed: {row.measured}"])
    note = f"""Seconds by stage, on a machine that others used as well: upper ends. Packing of a layer's parameters, and the
import of PyTorch with the export, are apart; PyTorch's own run, for the results that a design is checked against, is left out.
Published, on another machine: {published.least} to {published.most} s a model (text: {published.source}), more of it in
bufferization and later than before; *over it* is over the middle of that, for want of each model's own: above 1 ours is slower.
The search for lanes is in `linalg tiling`. Profiling by the vendor's tool, which the publication's flow has in between and ours
has not, is in neither."""
    columns = ("block", *STAGES, "all of these", "over it", "packing", "PyTorch, export", "origin")
    return Table("Compile time (figures 10b and 10c)", note, columns, rows, needs)


def fifos(paper: Paper) -> Table:
    """Section 5.3.3: the published strategies and ours."""
    needs, found = _found(paper, paper_rows.FIFOS)
    rows = [[row.design, row.fifo_bits or None, row.cycles, row.refusal or f"counted, simulated: {row.measured}"] for row in found]
    note = """Bits of all FIFOs, and cycles with them, in f32 without a search. A design that does not end with the depths of a
strategy is refused, with the FIFO that is too shallow. `mlp` and `attention` are the modules
of [published.md](published.md), which has figures of an earlier state of the compiler: other designs, and other depths."""
    columns = ("block and strategy", "bits (counted)", "cycles (simulated)", "origin")
    return Table("FIFO strategies (section 5.3.3)", note, columns, rows, needs)


def sweeps(paper: Paper) -> Table:
    """Sections 5.1 and 5.2: what is left to the user."""
    needs, found = _found(paper, paper_rows.SWEEPS)
    rows: list[Sequence[Any]] = []
    for row in found:
        counted = [row.memory.get(name) for name in ("converters", "fifos", "local", "external")]
        figures = [row.groups or None, *counted, row.resources.get("dsp"), row.cycles]
        rows.append([row.design, *figures, row.refusal or f"counted, simulated: {row.measured}"])
    note = """What the publication leaves to a black-box optimiser or to the device, one at a time, on a small block in f32: the
tile size of all loops and the overall unroll size, by their strategies as published, and C_max, bytes on chip of a group. The
published fusion counts converters alone: where FIFOs and tiles do not fit, its plan is refused. Ours counts them, and makes more
groups; bytes are those of all groups together.

![cycles and bytes on chip by each choice](paper_sweeps.svg)"""
    counted = ("converters [bytes]", "FIFOs [bytes]", "tiles [bytes]", "between groups [bytes]")
    columns = ("block and choice", "groups", *counted, "DSPs", "cycles", "origin")
    return Table("Sweeps (sections 5.1 and 5.2)", note, columns, rows, needs)


TABLES: Mapping[str, Callable[[Paper], Table]] = {
    "models": models, "decode": decode, "ttft": ttft, "latency": latency, "summary": summary, "energy": energy, "memory": memory,
    "compile-time": compile_time, "fifos": fifos, "sweeps": sweeps,
}  # fmt: skip


# The command ------------------------------------------------------------------------------------------------------------


def _measure(needs: Sequence[Need]) -> None:
    """One row at a time, each told before it begins."""
    missing = list({(need.store.data, need.name): need for need in needs if need.row is None}.values())
    for number, need in enumerate(missing, 1):
        print(f"{number} of {len(missing)}: {need.name} ...", file=sys.stderr, flush=True)
        for row in need.store.measured([need.name]):
            print(f"    {row.seconds:,.0f} s", file=sys.stderr, flush=True)


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tables", nargs="*", metavar="TABLE", help=f"of {', '.join(TABLES)}; default: all")
    parser.add_argument("--models", nargs="+", default=[], metavar="NAME", help="only designs of these models")
    parser.add_argument("--row", action="append", default=[], metavar="NAME", help="with --measure: only this row; may be repeated")
    parser.add_argument("--measure", action="store_true", help="measure what has no row yet")
    parser.add_argument("--json", action="store_true", help="print the tables as JSON")
    parser.add_argument("--write", action="store_true", help=f"write docs/{DOCUMENT.name} and docs/{PICTURE.name}, with all tables")
    asked = parser.parse_args(arguments)
    if unknown := [name for name in asked.tables if name not in TABLES]:
        parser.error(f"no table is called '{unknown[0]}'; accepted: {', '.join(TABLES)}")
    try:
        published, gpus = read(), gpu.kept()
    except CompileError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    designs = [*published.models, *decode_u55c.CASES, *platform_blocks.CASES, *paper_rows.CASES]
    known = list(dict.fromkeys(_model_of(design) for design in designs))
    if unknown := [name for name in asked.models if name not in known]:
        parser.error(f"no model is called '{unknown[0]}'; accepted: {', '.join(known)}")
    if asked.row and not asked.measure:
        parser.error("--row without --measure; accepted: both")
    paper = Paper(published, asked.models, gpus)
    names = asked.tables or list(TABLES)
    if asked.measure:
        needs = [need for name in names for need in TABLES[name](paper).needs]
        if unknown := [name for name in asked.row if name not in {need.name for need in needs}]:
            parser.error(f"no row is called '{unknown[0]}'; accepted: {'; '.join(dict.fromkeys(need.name for need in needs))}")
        try:
            _measure([need for need in needs if not asked.row or need.name in asked.row])
        except CompileError as error:
            print(f"error: {error}", file=sys.stderr)
            return 2
    tables = {name: TABLES[name](paper) for name in names}
    print(json.dumps({name: table.as_json() for name, table in tables.items()}, indent=1) if asked.json else _all(tables))
    if asked.write:
        complete = Paper(published, (), gpus)
        DOCUMENT.write_text("\n".join([INTRODUCTION, _all({name: table(complete) for name, table in TABLES.items()})]))
        PICTURE.write_text(drawn(list(paper_rows.STORE.known().values())))
    return 0


def _all(tables: Mapping[str, Table]) -> str:
    return "\n".join(table.markdown() for table in tables.values())


if __name__ == "__main__":
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # `| head` ends it without a word
    sys.exit(main(sys.argv[1:]))
