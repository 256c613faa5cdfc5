"""The file that describes a dataflow design which `stc` did not write.

A folder with C++ (kernel, testbench with `main()`, headers) and a file `design.toml`:

    top = "diamond"                       # the function that the testbench calls; each call is one invocation
    sources = ["diamond.cpp", "test.cpp"] # every file to compile; headers of the folder are found by themselves
    tasks = ["load", "split", "store"]    # optional: the task calls of all dataflow bodies, checked
    defines = ["N=64"]                    # optional: macros for the C++ compiler
    include = ["../common"]               # optional: more folders for #include, not instrumented
    default_depth = 4                     # optional: depth of pipelines that no [[loop]] describes; said in a note

    report = "solution1/syn/report"       # optional: the vendor's csynth.xml, or the folder of its *_csynth.xml, for loops that no
                                          # [[loop]] describes

    [[loop]]                              # one per pipelined loop, with the vendor report's figures
    function = "load"
    label = "rows"                        # or line = 12, or neither: the whole body of the function
    ii = 1                                # interval; optional where the pragma states it
    depth = 5                             # iteration latency (csynth.rpt), Depth (log)
    style = "flp"                         # optional: stp, flp, frp; else the pragma's, else stp
    reads = "gmem0"                       # optional: a [[port]] of external memory that each iteration reads a word of
    writes = "gmem1"

    [memory]                              # optional: external memory; without it, memory costs what the depths say
    clock_mhz = 250
    read_latency = 75                     # cycles from a request to its data
    bytes_per_cycle = 51.8                # sustained, per bank
    burst_words = 16
    outstanding_bursts = 16

    [[port]]
    name = "gmem0"
    word_bytes = 64
    bank = 0                              # optional: ports of one bank share its bandwidth

What the file says wins over the pragmas. A loop without timing is refused, not guessed: its depth cannot be read off the C++.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, NoReturn

from stc.diagnostics import CompileError
from stc.simulation.foreign_source import Pipeline
from stc.user_files import toml_of

DESIGN = "design.toml"
STYLES = ("stp", "flp", "frp")
_ACCEPTED_FILE = "a table with top, sources and [[loop]] entries; see docs/foreign_designs.md"


@dataclass(frozen=True)
class LoopEntry:
    """Timing of one pipelined loop (`label` or `line`) or pipelined function (neither), in cycles."""

    function: str
    depth: int
    label: str | None = None
    line: int | None = None
    ii: int | None = None
    style: str | None = None
    reads: str | None = None
    writes: str | None = None

    @property
    def place(self) -> str:
        """In words."""
        if self.label is not None:
            return f"loop {self.label} of {self.function}"
        return f"function {self.function}" if self.line is None else f"the loop at line {self.line} of {self.function}"

    def describes(self, pipeline: Pipeline) -> bool:
        if self.function != pipeline.function:
            return False
        if self.label is None and self.line is None:
            return pipeline.loop is None
        return pipeline.loop is not None and self.label in (None, pipeline.label) and self.line in (None, pipeline.line)


@dataclass(frozen=True)
class MemoryEntry:
    """External memory; the fields of a platform that cost time."""

    clock_mhz: float
    read_latency: int
    bytes_per_cycle: float
    burst_words: int = 16
    outstanding_bursts: int = 16


@dataclass(frozen=True)
class PortEntry:
    """A port to external memory: bytes of the word that one iteration moves, and the bank behind it."""

    name: str
    word_bytes: int
    bank: int | None = None


@dataclass(frozen=True)
class ForeignDesign:
    """A design file as it stands."""

    file: Path
    top: str
    sources: tuple[str, ...]
    tasks: tuple[str, ...] | None
    defines: tuple[str, ...]
    include: tuple[str, ...]
    default_depth: int | None
    loops: tuple[LoopEntry, ...]
    memory: MemoryEntry | None
    ports: tuple[PortEntry, ...]
    report: Path | None = None

    @property
    def directory(self) -> Path:
        return self.file.parent

    @property
    def include_folders(self) -> tuple[Path, ...]:
        return tuple((self.directory / name).resolve() for name in self.include)


# The file ------------------------------------------------------------------------------------------------------------


def is_foreign(directory: Path) -> bool:
    """Whether the folder has a design file and no manifest."""
    return (directory / DESIGN).is_file() and not (directory / "manifest.json").is_file()


def read_design(directory: Path, report: Path | None = None) -> ForeignDesign:
    """The design file of a folder, perhaps with another `report`; CompileError naming the field that is missing, unknown or
    unusable."""
    file = directory / DESIGN
    try:
        content = toml_of(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise CompileError(f"cannot be read ({error})", where=str(file), accepted=_ACCEPTED_FILE) from None
    except ValueError as error:
        raise CompileError(f"not TOML: {error}", where=str(file), accepted=_ACCEPTED_FILE) from None
    design = _Reader(file, content).design()
    return design if report is None else replace(design, report=report)


class _Reader:
    """Takes the fields of one design file."""

    def __init__(self, file: Path, content: dict[str, Any]):
        self.file = file
        self.content = content

    def design(self) -> ForeignDesign:
        known = ("top", "sources", "tasks", "defines", "include", "default_depth", "report", "loop", "memory", "port")
        self.require_known(self.content, known, "")
        tasks = self.strings(self.content, "tasks") if "tasks" in self.content else None
        memory = self.content.get("memory")
        design = ForeignDesign(
            file=self.file.resolve(),
            top=self.take(self.content, "top", str, ""),
            sources=self.strings(self.content, "sources"),
            tasks=tasks,
            defines=self.strings(self.content, "defines", ()),
            include=self.strings(self.content, "include", ()),
            default_depth=self.positive(self.content, "default_depth", "") if "default_depth" in self.content else None,
            loops=tuple(self.loop(e, f"loop[{i}]") for i, e in enumerate(self.tables("loop"))),
            memory=None if memory is None else self.memory(memory),
            ports=tuple(self.port(e, f"port[{i}]") for i, e in enumerate(self.tables("port"))),
            report=self.file.resolve().parent / self.take(self.content, "report", str, "") if "report" in self.content else None,
        )
        self.check(design)
        return design

    def check(self, design: ForeignDesign) -> None:
        if not design.sources:
            self.refuse("'sources' is empty", "the kernel's and the testbench's C++ files")
        for name in design.sources:
            parts = Path(name).parts   # a copy goes to build/sources/NAME: it must not be the file itself, nor lie elsewhere
            if Path(name).is_absolute() or ".." in parts or parts[:1] == ("build",):
                accepted = f"files in {design.directory}, but not in build"
                self.refuse(f"'sources' names a file outside the design: '{name}'", accepted)
            if not (design.directory / name).is_file():
                self.refuse(f"'sources' names no file: '{name}'", f"files in {design.directory}")
        for folder in design.include_folders:
            if not folder.is_dir():
                self.refuse(f"'include' names no folder: '{folder}'", "folders relative to the design file")
        ports = {port.name for port in design.ports}
        for index, loop in enumerate(design.loops):
            for name in (loop.reads, loop.writes):
                if name is not None and name not in ports:
                    self.refuse(f"loop[{index}] names no port: '{name}'", ", ".join(sorted(ports)) or "the name of a [[port]]")
        for name in {loop.reads for loop in design.loops} & {loop.writes for loop in design.loops} - {None}:
            self.refuse(f"port '{name}' is both read and written", "a [[port]] for each direction")
        if design.ports and design.memory is None:
            self.refuse("[[port]] without [memory]", "a [memory] table, or no ports")

    def loop(self, entry: dict[str, Any], where: str) -> LoopEntry:
        self.require_known(entry, tuple(f.name for f in fields(LoopEntry)), where)
        style = self.optional(entry, "style", str, where)
        if style is not None and style not in STYLES:
            self.refuse(f"{where}.style is '{style}'", ", ".join(STYLES))
        return LoopEntry(
            function=self.take(entry, "function", str, where),
            depth=self.positive(entry, "depth", where),
            label=self.optional(entry, "label", str, where),
            line=self.optional(entry, "line", int, where),
            ii=self.positive(entry, "ii", where) if "ii" in entry else None,
            style=style,
            reads=self.optional(entry, "reads", str, where),
            writes=self.optional(entry, "writes", str, where),
        )

    def memory(self, entry: dict[str, Any]) -> MemoryEntry:
        self.require_known(entry, tuple(f.name for f in fields(MemoryEntry)), "memory")
        numbers = {name: self.number(entry, name, "memory") for name in ("clock_mhz", "bytes_per_cycle")}
        counts = {name: self.positive(entry, name, "memory") for name in ("burst_words", "outstanding_bursts") if name in entry}
        return MemoryEntry(read_latency=self.positive(entry, "read_latency", "memory"), **numbers, **counts)

    def port(self, entry: dict[str, Any], where: str) -> PortEntry:
        self.require_known(entry, tuple(f.name for f in fields(PortEntry)), where)
        name, bank = self.take(entry, "name", str, where), self.optional(entry, "bank", int, where)
        return PortEntry(name, self.positive(entry, "word_bytes", where), bank)

    # fields

    def refuse(self, what: str, accepted: str) -> NoReturn:
        raise CompileError(what, where=str(self.file), accepted=accepted)

    def require_known(self, entry: Any, known: tuple[str, ...], where: str) -> None:
        if not isinstance(entry, dict):
            self.refuse(f"'{where}' is not a table", "a table")
        for name in entry:
            if name not in known:
                self.refuse(f"unknown field '{where + '.' if where else ''}{name}'", ", ".join(known))

    def tables(self, name: str) -> list[dict[str, Any]]:
        value = self.content.get(name, [])
        if not isinstance(value, list):
            self.refuse(f"'{name}' is not a list of tables", f"[[{name}]] entries")
        return value

    def take(self, entry: dict[str, Any], name: str, kind: type, where: str) -> Any:
        value = self.optional(entry, name, kind, where)
        if value is None:
            self.refuse(f"{where + ': ' if where else ''}'{name}' is missing", f"{name} = ...")
        return value

    def optional(self, entry: dict[str, Any], name: str, kind: type, where: str) -> Any:
        value = entry.get(name)
        if value is not None and type(value) is not kind:
            accepted = {str: "a string", int: "an integer"}[kind]
            self.refuse(f"'{where + '.' if where else ''}{name}' is {value!r}", accepted)
        return value

    def positive(self, entry: dict[str, Any], name: str, where: str) -> int:
        value = self.take(entry, name, int, where)
        if value < 1:
            self.refuse(f"'{where + '.' if where else ''}{name}' is {value}", "an integer of at least 1")
        return value

    def number(self, entry: dict[str, Any], name: str, where: str) -> float:
        value = entry.get(name)
        if type(value) not in (int, float) or float(entry[name]) <= 0:
            self.refuse(f"'{where}.{name}' is {value!r}", "a positive number")
        return float(entry[name])

    def strings(self, entry: dict[str, Any], name: str, default: tuple[str, ...] | None = None) -> tuple[str, ...]:
        value = entry.get(name, default)
        if not isinstance(value, list | tuple) or not all(isinstance(v, str) for v in value):
            self.refuse(f"'{name}' is {value!r}", "a list of strings")
        return tuple(str(v) for v in value)
