"""A dataflow design that `stc` did not write: its design file held against its C++, and what follows for the simulation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from stc.diagnostics import CompileError
from stc.simulation.design_file import ForeignDesign, LoopEntry
from stc.simulation.foreign_source import ForeignSource, Function, Loop, Pipeline
from stc.simulation.instrument import InstrumentError
from stc.simulation.profile import LoopName, MeasuredLoop, meant, read_figures

HEADER_SUFFIXES = (".h", ".hh", ".hpp", ".hxx", ".inc", ".tpp")


@dataclass(frozen=True)
class TimedPipeline:
    """A pipeline of the C++ with the figures that hold; `ii` is 0 where the pragma's text says it."""

    pipeline: Pipeline
    ii: int
    depth: int
    entry: LoopEntry | None


@dataclass(frozen=True)
class InstrumentedDesign:
    """Copies of all files by their path relative to the folder, what is pipelined in them, the functions that are called as tasks,
    and what the user should know."""

    copies: Mapping[str, str]
    pipelines: tuple[TimedPipeline, ...]
    tasks: tuple[str, ...]
    notes: tuple[str, ...]


def instrument_design(design: ForeignDesign, header: str = "stc_sim/foreign.h") -> InstrumentedDesign:
    """The copies of all files, each pipeline with the figures of the design file.

    CompileError where the file names what is not there, where a pipeline has no depth, or the C++ cannot be followed.
    """
    return _Instrumentation(design).result(header)


class _Instrumentation:
    def __init__(self, design: ForeignDesign):
        self.design = design
        self.notes: list[str] = []
        self.files = {name: self.parse(name) for name in self.file_names()}
        self.functions = self.find_functions()
        self.measured = self.read_report()
        self.used_rows: set[MeasuredLoop] = set()

    def file_names(self) -> list[str]:
        folder = self.design.directory
        headers = sorted(
            path.relative_to(folder).as_posix()
            for path in folder.rglob("*")
            if path.suffix in HEADER_SUFFIXES and path.is_file() and path.relative_to(folder).parts[0] != "build"
        )
        return [*self.design.sources, *headers]

    def parse(self, name: str) -> ForeignSource:
        path = self.design.directory / name
        try:
            return ForeignSource(path.read_text(encoding="utf-8").replace("\r\n", "\n"))
        except InstrumentError as error:
            raise CompileError(error.message, where=f"{path}:{error.line}", accepted=error.accepted) from None
        except UnicodeDecodeError as error:
            raise CompileError(f"not UTF-8 ({error.reason})", where=str(path)) from None

    def where(self, name: str, line: int) -> str:
        return f"{self.design.directory / name}:{line}"

    def find_functions(self) -> dict[str, list[tuple[str, Function]]]:
        found: dict[str, list[tuple[str, Function]]] = {}
        for name, source in self.files.items():
            for function in source.functions:
                found.setdefault(function.name, []).append((name, function))
        tops = found.get(self.design.top, [])
        if len(tops) != 1:
            known = ", ".join(sorted(set(found) - {"main"}))
            what = f"top function '{self.design.top}' " + ("is not defined" if not tops else f"is defined {len(tops)} times")
            accepted = f"one of {known}" if known else "a function that one of the sources defines"
            raise CompileError(what, where=str(self.design.file), accepted=accepted)
        if "main" not in found:
            raise CompileError("no file has a main()", where=str(self.design.file), accepted="a testbench among the sources")
        return found

    def read_report(self) -> tuple[MeasuredLoop, ...]:
        return () if self.design.report is None else read_figures(self.design.report, self.modules()).loops

    def modules(self) -> list[str]:
        """What may be a module in hardware: functions, and loops of dataflow bodies."""
        processes = {source.process_of(loop) for source in self.files.values() for loop in source.loops}
        return sorted({*self.functions, *(name for name in processes if name is not None)})

    def result(self, header: str) -> InstrumentedDesign:
        timed = self.timed_pipelines()
        copies: dict[str, str] = {}
        for name, source in self.files.items():
            active = {t.pipeline.begin: (t.pipeline, t.entry.style if t.entry is not None else None) for t in timed[name]}
            try:
                path = str(self.design.directory / name)
                copies[name] = source.copy(path, self.design.top, active, header)
                source.refuse_inlined_tasks(self.inlined())
            except InstrumentError as error:
                raise CompileError(error.message, where=self.where(name, error.line), accepted=error.accepted) from None
        self.check_tasks()
        tasks = sorted({call.task for source in self.files.values() for call in source.task_calls})
        pipelines = tuple(t for entries in timed.values() for t in entries)
        return InstrumentedDesign(copies, pipelines, tuple(tasks), tuple(self.notes))

    def inlined(self) -> dict[str, str]:
        return {
            name: self.where(*next((file, f.line) for file, f in found if f.inlined))
            for name, found in self.functions.items()
            if any(f.inlined for _, f in found)
        }

    def check_tasks(self) -> None:
        """The task list of the file is that of the C++."""
        found = {call.task: self.where(name, call.line) for name, source in self.files.items() for call in source.task_calls}
        if not found:
            what = f"no dataflow body with task calls is reached from '{self.design.top}'"
            raise CompileError(what, where=str(self.design.file), accepted="#pragma HLS dataflow in a function with task calls")
        if self.design.tasks is None:
            return
        for task in self.design.tasks:
            if task not in found:
                accepted = ", ".join(sorted(found))
                raise CompileError(f"'tasks' names no task call: '{task}'", where=str(self.design.file), accepted=accepted)
        for task, where in found.items():
            if task not in self.design.tasks:
                raise CompileError(f"'tasks' leaves out the task call '{task}'", where=where, accepted="all task calls, or no list")

    # pipelines

    def timed_pipelines(self) -> dict[str, list[TimedPipeline]]:
        """Per file the pipelines that cost time: those of functions reached from the top outside any pipelined body."""
        chosen = {name: self.pipelines_of(source) for name, source in self.files.items()}
        reached = self.reached_functions(chosen)
        timed: dict[str, list[TimedPipeline]] = {name: [] for name in self.files}
        missing: list[str] = []
        used: set[LoopEntry] = set()
        for name, source in self.files.items():
            inside = [p for p in chosen[name] if any(f.open <= p.begin <= f.close for f in reached[name])]
            for pipeline in inside:
                entry = self.entry_for(pipeline)
                used.update([entry] if entry is not None else [])
                depth = entry.depth if entry is not None else self.default_depth(name, pipeline)
                if depth is None:
                    missing.append(f"{self.where(name, pipeline.line)} {_describe(pipeline)}")
                    continue
                timed[name].append(TimedPipeline(pipeline, self.interval(name, pipeline, entry), depth, entry))
            for loop in self.loops_without_timing(source, chosen[name], reached[name]):
                if self.design.default_depth is None:
                    missing.append(f"{self.where(name, loop.line)} {_describe(source.pipeline_of(loop))}")
                    continue
                pipeline = source.pipeline_of(loop)
                timed[name].append(TimedPipeline(pipeline, 1, self.design.default_depth, None))
                self.note_default(name, pipeline, " and II 1")
        self.refuse_unused(used)
        for row in self.measured:
            if row not in self.used_rows:
                self.notes.append(f"{self.design.report}: no loop of {row.task} in the C++ is {row.loop}: it is left out")
        if missing:
            accepted = "a [[loop]] entry for each, with the vendor report's interval and iteration latency; or default_depth"
            what = f"no depth is known for {len(missing)} pipelines: {'; '.join(missing)}"
            raise CompileError(what, where=str(self.design.file), accepted=accepted)
        self.refuse_ambiguous([t for entries in timed.values() for t in entries])
        return timed

    def pipelines_of(self, source: ForeignSource) -> list[Pipeline]:
        """Outermost pipelines of a file: by pragma, or because the design file describes them."""
        found = list(source.pipelines)
        bodies = {p.begin for p in found}
        candidates = [source.pipeline_of(loop) for loop in source.loops]
        candidates += [source.pipeline_of_function(function) for function in source.functions]
        found += [p for p in candidates if p.begin not in bodies and self.entry_for(p) is not None]
        return [p for p in found if not any(o.begin < p.begin and p.end <= o.end and o is not p for o in found)]

    def entry_for(self, pipeline: Pipeline) -> LoopEntry | None:
        """What the design file says of it, else the vendor's report."""
        given = next((entry for entry in self.design.loops if entry.describes(pipeline)), None)
        row = next((row for row in self.measured if self.is_measured(pipeline, row)), None)
        if row is not None:
            self.used_rows.add(row)
        if given is not None or row is None:
            return given
        return LoopEntry(row.task, row.depth, label=pipeline.label, ii=row.ii)

    def is_measured(self, pipeline: Pipeline, row: MeasuredLoop) -> bool:
        """Whether the row of the report is about this loop."""
        if pipeline.loop is None:
            return False
        source = next(s for s in self.files.values() if any(loop is pipeline.loop for loop in s.loops))
        if row.task != (source.process_of(pipeline.loop) or pipeline.function):
            return False
        loops = {loop.keyword: loop for loop in source.loops if loop.function == pipeline.loop.function}
        nests = {at: [LoopName(o.label, source.runs_once(o)) for o in source.nest(loop)] for at, loop in loops.items()}
        called = [loops[at] for at in meant(row.loop, nests)]
        if pipeline.loop in called:
            self.refuse_unclear(row, called)
        return pipeline.loop in called

    def refuse_unclear(self, row: MeasuredLoop, called: Sequence[Loop]) -> None:
        """Of loops in each other the outermost is the pipeline, of others none is."""
        if all(one.contains(other.keyword) or other.contains(one.keyword) for one, other in combinations(called, 2)):
            return
        names = ", ".join(f"{loop.label} (line {loop.line})" for loop in called)
        what = f"'{row.loop}' may be each of the loops {names} of {row.task}"
        raise CompileError(what, where=str(self.design.report), accepted="a [[loop]] entry for each in the design file")

    def reached_functions(self, chosen: Mapping[str, list[Pipeline]]) -> dict[str, list[Function]]:
        """Per file the functions that run outside pipelined bodies: calls from there are part of the pipeline around them."""
        reached: set[tuple[str, Function]] = set()
        waiting = list(self.functions[self.design.top])
        while waiting:
            name, function = waiting.pop()
            if (name, function) in reached:
                continue
            reached.add((name, function))
            for callee, at in function.calls:
                if not any(p.begin <= at <= p.end for p in chosen[name]):
                    waiting += self.functions.get(callee, [])
        return {name: [f for file, f in reached if file == name] for name in self.files}

    def loops_without_timing(self, source: ForeignSource, chosen: list[Pipeline], reached: list[Function]) -> Iterator[Loop]:
        """Innermost loops that run one iteration after the other, for all that is known."""
        functions = [f for f in reached if f.name not in ("main",)]
        for loop in source.loops:
            if not any(f.open <= loop.keyword <= f.close for f in functions) or source.is_in_region(loop):
                continue
            inside_pipeline = any(p.begin <= loop.keyword <= p.end for p in chosen)
            around_pipeline = any(loop.contains(p.begin) for p in chosen)
            if inside_pipeline or around_pipeline or source.is_unrolled(loop):
                continue
            inner = [o for o in source.loops if o.keyword != loop.keyword and loop.contains(o.keyword)]
            if any(not source.is_unrolled(o) for o in inner) or self.calls_loops(source, loop):
                continue
            yield loop

    def calls_loops(self, source: ForeignSource, loop: Loop) -> bool:
        """Whether its iterations call functions of the design, which account for their own time."""
        name = next(n for n, s in self.files.items() if s is source)
        around = [f for _, f in self.functions_of(name) if f.open <= loop.keyword <= f.close]
        calls = [callee for f in around for callee, at in f.calls if loop.contains(at)]
        return any(self.has_time(callee, set()) for callee in calls)

    def functions_of(self, name: str) -> list[tuple[str, Function]]:
        return [(file, f) for found in self.functions.values() for file, f in found if file == name]

    def has_time(self, callee: str, seen: set[str]) -> bool:
        if callee in seen:
            return False
        seen.add(callee)
        for name, function in self.functions.get(callee, []):
            source = self.files[name]
            own = [p for p in source.pipelines if function.open <= p.begin <= function.close]
            loops = [o for o in source.loops if function.open < o.keyword < function.close and not source.is_unrolled(o)]
            if own or loops or any(self.has_time(c, seen) for c, _ in function.calls):
                return True
        return False

    def default_depth(self, name: str, pipeline: Pipeline) -> int | None:
        if self.design.default_depth is not None:
            self.note_default(name, pipeline, "")
        return self.design.default_depth

    def note_default(self, name: str, pipeline: Pipeline, more: str) -> None:
        depth = self.design.default_depth
        self.notes.append(f"{self.where(name, pipeline.line)}: {_describe(pipeline)} runs with the default depth {depth}{more}")

    def interval(self, name: str, pipeline: Pipeline, entry: LoopEntry | None) -> int:
        """The file's II, else the pragma's; 0 where that is no number and the C++ compiler must work it out."""
        ii = entry.ii if entry is not None else None
        stated = pipeline.ii
        if ii is not None and stated is not None and stated.isdigit() and int(stated) != ii:
            where = self.where(name, pipeline.line)
            self.notes.append(f"{where}: {_describe(pipeline)} has II={stated} in its pragma, {ii} in the design file, which wins")
        if ii is None and stated is None:
            where = self.where(name, pipeline.line)
            self.notes.append(f"{where}: {_describe(pipeline)} has no II in its pragma nor in the design file: 1 is taken")
            return 1
        return ii or (int(stated) if stated is not None and stated.isdigit() else 0)

    def refuse_unused(self, used: set[LoopEntry]) -> None:
        for index, entry in enumerate(self.design.loops):
            if entry in used:
                continue
            functions = {f for f in self.functions if f != "main"}
            if entry.function not in functions:
                what, accepted = f"loop[{index}] names no function: '{entry.function}'", ", ".join(sorted(functions))
            else:
                what, accepted = f"loop[{index}] describes nothing that costs time: {entry.place}", self.loops_of(entry.function)
            raise CompileError(what, where=str(self.design.file), accepted=accepted)

    def loops_of(self, function: str) -> str:
        labels = [f"{o.label} (line {o.line})" for s in self.files.values() for o in s.loops if o.function == function]
        return f"one of its loops: {', '.join(labels)}" if labels else "neither label nor line: it has no loops"

    def refuse_ambiguous(self, timed: list[TimedPipeline]) -> None:
        """The timing table knows a pipeline by function and label."""
        seen: dict[tuple[str, str], TimedPipeline] = {}
        for entry in timed:
            key = (entry.pipeline.function, entry.pipeline.label)
            other = seen.setdefault(key, entry)
            if other is not entry and (other.ii, other.depth) != (entry.ii, entry.depth):
                what = f"two functions '{key[0]}' have a loop {key[1]} each (lines {other.pipeline.line}, {entry.pipeline.line})"
                raise CompileError(what, where=str(self.design.file), accepted="different labels, or the same timing")


def _describe(pipeline: Pipeline) -> str:
    return f"function {pipeline.function}" if pipeline.loop is None else f"loop {pipeline.label} of {pipeline.function}"
