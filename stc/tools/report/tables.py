"""Tables of the page: columns with units, rows with raw values (the page writes them out), and where the figures come from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from stc.manifest.schema import Kernel, Manifest
from stc.simulation.critical_path import PathPart, summary
from stc.simulation.memory_traffic import ChannelUses
from stc.simulation.path_roles import PathRole, total
from stc.tools.report.facts import ChannelFacts, KernelFacts

Kind = Literal["text", "name", "number", "share"]
Value = str | int | float | None


@dataclass(frozen=True)
class Column:
    """`kind`: how cells are written: words, an identifier, a number, a share (0 to 1) as a percentage."""

    title: str
    kind: Kind = "text"
    unit: str = ""


@dataclass(frozen=True)
class Row:
    """`fifo`: the channel whose curves a click on the row shows."""

    cells: tuple[Value, ...]
    fifo: str | None = None


@dataclass(frozen=True)
class Table:
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    caption: str = ""


TASK_COLUMNS = (
    Column("task", "name"),
    Column("kind"),
    Column("module", "name"),
    Column("begin", "number", "cycle"),
    Column("end", "number", "cycle"),
    Column("busy", "number", "cycles"),
    Column("busy", "share", "of the run"),
    Column("waits to read", "number", "cycles"),
    Column("waits to write", "number", "cycles"),
    Column("waits mostly for", "name"),
    Column("multiplies", "share", "of the run"),
    Column("its port moves", "share", "of the run"),
    Column("bound by"),
)


def task_table(kernel: KernelFacts) -> Table:
    """Times of each task, and what they use where resources were estimated."""
    kinds = list(dict.fromkeys(kind for task in kernel.tasks for kind in task.resources))
    rows = []
    for task in kernel.tasks:
        time = task.time
        times: tuple[Value, ...] = (None,) * 7
        if time is not None:
            times = (time.begin, time.end, time.busy, task.utilisation, time.stalled_reading, time.stalled_writing, task.main_cause)
        use = task.use
        used = (None,) * 3 if use is None else (_share(use.multiplying, use.cycles), _share(use.moving, use.cycles), use.bound_by)
        rows.append(Row((task.name, task.kind, task.module, *times, *used, *(task.resources.get(kind, 0) for kind in kinds))))
    return Table((*TASK_COLUMNS, *(Column(RESOURCES[kind], "number") for kind in kinds)), tuple(rows))


LOOP_COLUMNS = (
    Column("task", "name"),
    Column("loop", "name"),
    Column("trips", "number"),
    Column("II", "number", "cycles"),
    Column("depth", "number", "cycles"),
    Column("unrolled", "number"),
    Column("what bounds the II"),
    Column("operators in its depth"),
)


def loop_table(kernel: Kernel) -> Table:
    """The pipelined loops: initiation interval, depth of the pipeline, and why."""
    rows = tuple(
        Row((loop.task, loop.label, loop.trip or None, loop.ii, loop.depth, loop.unroll, loop.limit, loop.chain))
        for loop in kernel.schedule
        if loop.ii is not None
    )
    return Table(LOOP_COLUMNS, rows)


FIFO_COLUMNS = (
    Column("FIFO", "name"),
    Column("from", "name"),
    Column("to", "name"),
    Column("token", "number", "bits"),
    Column("depth", "number", "tokens"),
    Column("required", "number", "tokens"),
    Column("highest", "number", "tokens"),
    Column("highest", "share", "of depth"),
    Column("memory", "number", "bits"),
    Column("storage"),
    Column("tokens", "number", "per launch"),
    Column("reader waited", "number", "cycles"),
    Column("writer waited", "number", "cycles"),
)


def fifo_table(kernel: KernelFacts) -> Table:
    """Every FIFO and ring of blocks with its size and how full it got."""
    sized = any(channel.required is not None for channel in kernel.channels)
    hidden = () if sized else (5,)
    columns = tuple(column for at, column in enumerate(FIFO_COLUMNS) if at not in hidden)
    rows = tuple(
        Row(tuple(cell for at, cell in enumerate(_fifo_cells(channel)) if at not in hidden), channel.key)
        for channel in kernel.channels
    )
    return Table(columns, rows)


def _fifo_cells(channel: ChannelFacts) -> tuple[Value, ...]:
    time = channel.time
    return (
        channel.name,
        channel.producer,
        channel.consumer,
        channel.bits,
        channel.depth,
        channel.required,
        channel.highest,
        channel.fullness,
        channel.memory_bits,
        channel.storage,
        channel.tokens,
        time.stalled_reader if time is not None else None,
        time.stalled_writer if time is not None else None,
    )


NOT_KNOWN = "not known"
"""What is said of a figure that was measured before the IR was written with which the compile began."""

MEMORY_ROWS = (
    ("before_unfused", "intermediates before: linalg, unfused"),
    ("before", "intermediates before: linalg, fused"),
    ("converters", "(a) converters, ping-pong included"),
    ("fifos", "(b) FIFOs at emitted depth"),
    ("local", "(c) tiles and accumulators"),
    ("external", "intermediates in external memory"),
)
"""Keys of report.json, `memory_bytes`, and what they are."""
_AFTER = ("before", "converters", "fifos", "local", "external")
"""Those that are compared with the first."""


def memory_table(report: Mapping[str, Any]) -> Table | None:
    """Bytes of intermediates before and after, and what crosses the memory ports."""
    memory = report.get("memory_bytes")
    if memory is None:
        return None
    before = memory.get("before_unfused")
    rows = [
        Row((words, NOT_KNOWN if (size := memory[key]) is None else size, _share(size, before if key in _AFTER else None)))
        for key, words in MEMORY_ROWS
        if key in memory
    ]
    traffic = report.get("external_traffic_bytes", {})
    rows += [Row((f"memory ports per run: {key}", traffic[key], None)) for key in ("read", "written") if key in traffic]
    return Table((Column("memory"), Column("bytes", "number"), Column("share", "share", "of unfused linalg")), tuple(rows))


def _share(part: float | None, total: float | None) -> float | None:
    return part / total if part is not None and total else None


def port_table(manifest: Manifest) -> Table:
    """The memory ports."""
    columns = (
        Column("port", "name"),
        Column("kind"),
        Column("tensor", "name"),
        Column("word", "number", "lanes"),
        Column("type", "name"),
        Column("words", "number"),
        Column("buffer", "number", "bytes"),
        Column("bundle", "name"),
        Column("bank", "number"),
    )
    rows = tuple(
        Row((port.name, port.kind, port.tensor, port.lanes, port.element_type, port.words, port.bytes, port.bundle, port.bank))
        for kernel in manifest.kernels
        for port in kernel.ports
    )
    return Table(columns, rows)


SHARE_COLUMNS = (Column("what"), Column("of", "name"), Column("cycles", "number"), Column("share", "share", "of the path"))
PATH_COLUMNS = (
    Column("from", "number", "cycle"),
    Column("to", "number", "cycle"),
    Column("cycles", "number"),
    Column("task", "name"),
    Column("spent on"),
    Column("FIFO", "name"),
)
PATH_WORDS = {"work": "work", "fifo": "way through a FIFO", "memory": "wait for external memory", "start": "wait for its start"}
"""Kinds of parts of a critical path in words."""


def path_tables(path: Sequence[PathPart]) -> tuple[Table, ...]:
    """A critical path by what makes it up, most first, and from its beginning to its end."""
    if not path:
        return ()
    cycles = sum(part.cycles for part in path)
    shares = tuple(Row((PATH_WORDS[entry.kind], entry.name, entry.cycles, entry.cycles / cycles)) for entry in summary(path))
    parts = tuple(
        Row((part.begin, part.end, part.cycles, part.task, PATH_WORDS[part.kind], part.channel), part.channel or None)
        for part in path
    )
    return (Table(SHARE_COLUMNS, shares, "what makes it up"), Table(PATH_COLUMNS, parts, "from beginning to end"))


ROLE_COLUMNS = (
    Column("module, or kind of task"),
    Column("cycles", "number"),
    Column("share", "share", "of the path"),
    Column("iterations", "number", "cycles"),
    Column("pipelines fill and drain", "number", "cycles"),
    Column("waits for memory", "number", "cycles"),
    Column("through FIFOs", "number", "cycles"),
    Column("multipliers busy", "number", "cycles"),
)


def role_tables(roles: Sequence[PathRole], launch: int) -> tuple[Table, ...]:
    """A critical path by what its tasks are for, in the order in which it comes to them, and what `launch` cycles cost besides."""
    if not roles:
        return ()
    cycles = sum(role.cycles for role in roles)
    rows = [
        Row((role.role, role.cycles, role.cycles / cycles, *map(_whole, role.parts)))
        for role in (*roles, total(roles, "all of it"))
    ]
    rows += [Row(("launches, beside the path", launch, None, None, None, None, None, None))] if launch else []
    return (Table(ROLE_COLUMNS, tuple(rows), "where its cycles went, by what tasks are for"),)


def stage_table(stages: Sequence[tuple[PathRole, int]]) -> Table:
    """All of the critical path of each stage of a model, under the stage's name, and the cycles of its launches."""
    columns = (Column("stage"), Column("cycles", "number"), Column("launches", "number", "cycles beside"), *ROLE_COLUMNS[3:])
    rows = (
        Row((role.role, role.cycles, launch, *map(_whole, role.parts)))
        for role, launch in stages
    )
    return Table(columns, tuple(rows))


def _whole(cycles: float | None) -> int | None:
    return None if cycles is None else round(cycles)


CHANNEL_COLUMNS = (
    Column("channel"),
    Column("ports", "name"),
    Column("read", "number", "bytes"),
    Column("written", "number", "bytes"),
    Column("busy", "number", "cycles"),
    Column("idle", "number", "cycles"),
    Column("busy", "share", "of the run"),
    Column("moved", "share", "of its peak"),
)


def channel_tables(uses: ChannelUses | None) -> tuple[Table, ...]:
    """The channels of external memory, the busiest first."""
    if uses is None:
        return ()
    rows = (
        Row((use.name, ", ".join(use.ports), use.read, use.written, use.busy, use.idle,
             _share(use.busy, use.cycles), use.share))
        for use in uses.busiest_first
    )
    return (Table(CHANNEL_COLUMNS, tuple(rows)),)


COMPILED_COLUMNS = (
    Column("kernel", "name"),
    Column("strategy"),
    Column("makespan", "number", "cycles"),
    Column("worst case", "number", "bits"),
    Column("LP", "number", "bits"),
    Column("required", "number", "bits"),
    Column("emitted", "number", "bits"),
    Column("solved in", "number", "seconds"),
    Column("by"),
)


def compiled_sizing_table(section: Mapping[str, Any] | None) -> tuple[Table, ...]:
    """What was decided when compiling (report.json, `fifo_sizing`), a row per kernel; its FIFOs stand in `fifo_table`."""
    if section is None or section["kernels"] is None:
        return ()
    rows = []
    for kernel in section["kernels"]:
        bits = (kernel["bits"].get(key) for key in ("worst_case", "lp", "required", "emitted"))
        rows.append(Row((kernel["kernel"], kernel["strategy"], kernel["makespan"], *bits, kernel["seconds"], kernel["solver"])))
    return (Table(COMPILED_COLUMNS, tuple(rows), "when compiling"),)


SIZING_ROWS = (("worst", "all tokens (unlimited)"), ("required", "LP"), ("emitted", "emitted"), ("minimal", "minimal"))
"""Keys of fifo_sizing.json, each a choice of depths that was run, and what it is."""

SIZED_COLUMNS = (
    Column("FIFO", "name"),
    Column("token", "number", "bits"),
    Column("tokens", "number", "per launch"),
    Column("LP", "number", "depth"),
    Column("emitted", "number", "depth"),
    Column("occupied", "number", "of unlimited"),
    Column("minimal", "number", "depth"),
    Column("optimum", "number", "depth"),
)


def sizing_tables(sizing: Mapping[str, Any] | None) -> tuple[Table, ...]:
    """What `stc size` found (fifo_sizing.json): the whole design at each choice of depths, and each FIFO."""
    if sizing is None:
        return ()
    columns = (
        Column("FIFO depths"),
        Column("cycles", "number"),
        Column("verdict"),
        Column("size", "number", "bits"),
        Column("memory", "number", "bits"),
    )
    runs = [(words, sizing[key]) for key, words in SIZING_ROWS if sizing.get(key) is not None]
    rows = [Row((words, run["cycles"], run["verdict"], run["bits"], run["memory_bits"])) for words, run in runs]
    optimum = sizing.get("optimum")
    if optimum is not None and optimum["bits"] is not None:
        rows.append(Row(("optimum", None, f"deduced: {optimum['proof']}", optimum["bits"], None)))
    elif optimum is not None:
        rows.append(Row(("optimum", None, f"not known: {optimum['lower_bound']:,} bits or more", None, None)))
    keys = ("name", "bits", "tokens", "required", "emitted", "occupied", "minimal", "best")
    fifos = tuple(Row(tuple(fifo[key] for key in keys), fifo["name"]) for fifo in sizing["fifos"])
    return (Table(columns, tuple(rows), "by stc size"), Table(SIZED_COLUMNS, fifos))


RESOURCES = {"dsp": "DSP", "lut": "LUT", "ff": "FF", "bram18": "BRAM (18 kbit)", "uram": "URAM"}
"""Kinds of resources in manifest.json and report.json, and their names."""


def resource_tables(section: Mapping[str, Any] | None) -> tuple[Table, ...]:
    """What the design takes by what it is for, and which share that is of what a plan may use (report.json, `resources`)."""
    if section is None:
        return ()
    parts = {**section["parts"], "total": section["total"]}
    rows = tuple(Row((words(name), *(count[kind] for kind in RESOURCES))) for name, count in parts.items())
    shares = {"all dies": section["share"], **{f"die {at} alone": share for at, share in enumerate(section["share_of_slr"])}}
    used = tuple(Row((name, *(share[kind] for kind in RESOURCES))) for name, share in shares.items())
    kernels = section.get("kernels") or {}
    alone = tuple(Row((name, *(kernel["share"][kind] for kind in RESOURCES))) for name, kernel in kernels.items())
    share = tuple(Column(title, "share") for title in RESOURCES.values())
    return (
        Table((Column("for"), *(Column(title, "number") for title in RESOURCES.values())), rows),
        Table((Column("share of what may be used of"), *share), used),
        *([Table((Column("share of all dies, by kernel"), *share), alone)] if len(alone) > 1 else []),
    )


def die_tables(section: Mapping[str, Any] | None) -> tuple[Table, ...]:
    """Which compute unit lies on which die, what is used of each, and what crosses (report.json, `dies`); none where unassigned."""
    named = {"units": "compute units", "dies": "dies", "boundaries": "wires between dies", "crossing_fifos": "FIFOs that cross"}
    return tuple(table for key, caption in named.items() for table in tables_of((section or {}).get(key), caption))


def tables_of(section: object, caption: str = "") -> tuple[Table, ...]:
    """Tables for a section of report.json whose keys are its own: plain figures in one, then each list and each group.

    A list of objects becomes a table with their keys as columns, or one after the other where they hold tables themselves;
    an `origin` at the top is left to the caller.
    """
    if isinstance(section, Mapping):
        return _tables_of_group(section, caption)
    if not isinstance(section, Sequence) or not section or not all(isinstance(entry, Mapping) for entry in section):
        return ()
    if any(_has_table(value) for entry in section for value in entry.values()):
        return tuple(table for entry in section for table in _tables_of_group(entry, caption))
    return (_table_of_list(section, caption),)


def _tables_of_group(section: Mapping[str, Any], caption: str) -> tuple[Table, ...]:
    plain = {key: value for key, value in section.items() if (key != "origin" or caption) and not _has_table(value)}
    alike = _alike(section)
    rows = tuple(Row((words(key), _cell(value))) for key, value in plain.items())
    own = (Table((Column("figure"), Column("value", "number")), rows, caption),)
    nested = (
        table
        for key, value in section.items()
        if _has_table(value) and key not in alike
        for table in tables_of(value, f"{caption}: {words(key)}" if caption else words(key))
    )
    side_by_side = (_table_of_list([{"": words(key), **section[key]} for key in alike], caption),) if alike else ()
    return (*(own if plain else ()), *side_by_side, *nested)


def _alike(section: Mapping[str, Any]) -> list[str]:
    """Keys of the largest set of groups in `section` that have the same plain figures, such as several choices of depths."""
    groups: dict[tuple[str, ...], list[str]] = {}
    for key, value in section.items():
        if isinstance(value, Mapping) and value and not any(_has_table(entry) for entry in value.values()):
            groups.setdefault(tuple(value), []).append(key)
    largest = max(groups.values(), key=len, default=[])
    return largest if len(largest) > 1 else []


def _table_of_list(entries: Sequence[Mapping[str, Any]], caption: str) -> Table:
    keys = list(dict.fromkeys(key for entry in entries for key in entry))
    columns = tuple(Column(words(key), "number" if _numbers(entries, key) else "name") for key in keys)
    return Table(columns, tuple(Row(tuple(_cell(entry.get(key)) for key in keys)) for entry in entries), caption)


def words(key: str) -> str:
    """A key of report.json as words."""
    return key.replace("_", " ")


def _has_table(value: object) -> bool:
    """Whether `value` is more than a figure or a list of figures."""
    return isinstance(value, Mapping) or (isinstance(value, list | tuple) and any(isinstance(entry, Mapping) for entry in value))


def _numbers(entries: Sequence[Mapping[str, Any]], key: str) -> bool:
    return all(isinstance(entry.get(key), int | float | None) for entry in entries)


def _cell(value: object) -> Value:
    if value is None or isinstance(value, str | int | float):
        return value
    if isinstance(value, Mapping):
        return ", ".join(f"{words(str(key))} {entry}" for key, entry in value.items())
    if isinstance(value, Sequence):
        return (" × " if all(isinstance(entry, int) for entry in value) else ", ").join(str(entry) for entry in value)
    return str(value)
