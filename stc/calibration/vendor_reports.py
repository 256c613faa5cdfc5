"""The vendor's reports of a project, found below a folder: synthesis, co-simulation, timing and utilisation.

What is read, and where the tool writes it (Vitis HLS and Vivado 2023.2; structure as in reports that others have published):

    csynth.xml, NAME_csynth.xml   syn/report, of a synthesis          clock asked and estimated, latency, loops, resources
    NAME_cosim.rpt                sim/report, of a co-simulation      a table: Status, Latency(Clock Cycles) min, avg, max
    *.rpt "Design Timing Summary" behind route                        WNS, TNS; Clock Summary, Intra Clock Table
    *.rpt "Site Type"             report_utilization                  the whole device, the shell included
    *.rpt "LUTAsMem"              report_accelerator_utilization      a row for each kernel, and for each compute unit

Text reports are told apart by what they say, as their names depend on who ran the tool.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isfinite
from pathlib import Path
from typing import TypeVar
from xml.etree import ElementTree

from stc.diagnostics import CompileError
from stc.manifest.schema import Manifest
from stc.simulation.profile import ONE_RUN, XML_RESOURCES, Profile, read_modules, read_xml
from stc.user_files import reason_of

MARK_FILE = "design.txt"
"""Beside the reports that `make csynth` copies: the marks of the design that they are of, as `Manifest.marks` has them."""
MOST_FILES = 100_000
MOST_NS = 1e6
"""Of a clock period: a kilohertz is none of a card."""
HEAD_BYTES = 4 << 20
"""Of a text report: its summary is in front; the paths behind it may be long."""
_STAGES = ("postroute", "routed", "placed", "synth")
"""In names of reports, of the later stage first."""
_BRAM18_OF_TILE = 2
_KERNEL_USE, _DEVICE_USE = re.compile(r"\bLUTAsMem\b"), re.compile(r"\|\s*Site Type\s*\|\s*Used\s*\|")
_KINDS = (re.compile(r"Latency\(Clock Cycles\)|Design Timing Summary"), _KERNEL_USE, _DEVICE_USE)
"""What the text reports that are read say; that of one die has a table of sites too, but no column `Used`."""
SITES = {"CLB LUTs": "lut", "Slice LUTs": "lut", "CLB Registers": "ff", "Registers": "ff", "Slice Registers": "ff", "DSPs": "dsp",
         "DSP Slices": "dsp", "Block RAM Tile": "bram18", "URAM": "uram"}  # fmt: skip
COLUMNS = {"LUT": "lut", "REG": "ff", "BRAM": "bram18", "URAM": "uram", "DSP": "dsp"}


@dataclass(frozen=True)
class Synthesis:
    """C synthesis of one kernel. Clock periods in ns, `latency` in cycles as the tool estimates it; None where it does not say."""

    file: str
    kernel: str
    part: str
    target_ns: float | None
    estimated_ns: float | None
    latency: int | None
    resources: Mapping[str, int]


@dataclass(frozen=True)
class Cosimulation:
    """RTL run on the testbench: whether its results were right, and cycles of a call on average; None where they are not given."""

    file: str
    kernel: str
    passed: bool
    cycles: int | None


@dataclass(frozen=True)
class Timing:
    """The last timing summary: slack in ns (`whs`: of hold times), the clock that has it and its period.

    None where it does not say, and where the worst path is between two clocks."""

    file: str
    wns: float
    tns: float
    failing_endpoints: int
    whs: float | None
    clock: str | None
    period_ns: float | None


@dataclass(frozen=True)
class Utilisation:
    """What is used behind synthesis or route: by a kernel, or of the whole device."""

    file: str
    of: str
    whole_device: bool
    resources: Mapping[str, int]


@dataclass(frozen=True)
class VendorReports:
    """All that was found below a folder, for a design with these top functions: `kernels`, or the units that they are built as.

    Loops and resources of tasks are those of `profile`, None where there was no synthesis."""

    folder: str
    kernels: tuple[str, ...]
    profile: Profile | None
    synthesis: tuple[Synthesis, ...]
    cosimulation: tuple[Cosimulation, ...]
    timing: Timing | None
    utilisation: tuple[Utilisation, ...]

    @property
    def is_of_this_design(self) -> bool:
        """Whether any report names a kernel: timing, and utilisation of the device, name none."""
        return bool(self.synthesis or self.cosimulation or any(not use.whole_device for use in self.utilisation))

    @property
    def missing(self) -> tuple[str, ...]:
        """Kinds of reports that are not there, in words."""
        found = {
            "C synthesis (csynth.xml)": self.synthesis, "co-simulation (*_cosim.rpt)": self.cosimulation,
            "timing summary (*timing_summary*.rpt)": self.timing, "utilisation (*util*.rpt)": self.utilisation,
        }  # fmt: skip
        seen = {one.kernel for one in self.synthesis}
        others = (f"C synthesis of {name}" for name in self.kernels if seen and name not in seen)
        return (*(name for name, reports in found.items() if not reports), *others)

    def covers_all(self, figures: Sequence[Synthesis | Cosimulation | Utilisation]) -> bool:
        """Whether there is one of each top function, so that their sum is that of the design."""
        return {one.of if isinstance(one, Utilisation) else one.kernel for one in figures} == {*self.kernels}


def read_reports(folders: Sequence[Path], manifest: Manifest) -> VendorReports:
    """The reports below `folders` that are of the design of `manifest`.

    CompileError where there are none, where they are of another design, and where one cannot be read.
    """
    if none := next((folder for folder in folders if not folder.is_dir()), None):
        raise CompileError("no folder of reports", where=str(none), accepted="the folder that the vendor's tool left reports in")
    files = [*dict.fromkeys(path for folder in folders for path in _files(folder))]
    source = ", ".join(map(str, folders))
    tops = {unit.name: kernel.name for kernel in manifest.kernels for unit in kernel.built}
    _check_marks([path for path in files if path.name == MARK_FILE], manifest)
    synthesis = _synthesis([path for path in files if path.name.endswith("csynth.xml")], tops)
    heads = ((path, _head(path)) for path in files if path.suffix == ".rpt")
    texts = {path: text for path, text in heads if any(kind.search(text) for kind in _KINDS)}  # of many that say other things
    cosimulation = _cosimulation(texts, tops)
    timing, utilisation = _timing(texts), _utilisation(texts, tops)
    if not (synthesis or cosimulation or timing or utilisation):
        accepted = f"csynth.xml, *_cosim.rpt, timing and utilisation reports of {', '.join(tops)}"
        raise CompileError("no report of the vendor's tool below it", where=source, accepted=accepted)
    modules = [path for path in files if path.name.endswith("_csynth.xml")] or [path for path in files if path.name == "csynth.xml"]
    profile = read_modules(modules, source, manifest) if synthesis else None
    return VendorReports(source, tuple(tops), profile, synthesis, cosimulation, timing, utilisation)


def _files(folder: Path) -> list[Path]:
    found: list[Path] = []
    for path in sorted(folder.rglob("*")):
        if path.suffix in (".xml", ".rpt", ".txt") and os.path.isfile(path):  # False, too, where it may not be looked at
            found.append(path)
        if len(found) > MOST_FILES:
            raise CompileError(f"more than {MOST_FILES:,} files", where=str(folder), accepted="the folder of one run of the tool")
    return found


def _check_marks(files: Sequence[Path], manifest: Manifest) -> None:
    """CompileError where `make csynth` noted another design beside its reports."""
    for path in files:
        marks = [mark for mark in _head(path).split() if mark.startswith("stc-")]
        if marks and manifest.marks and not set(marks) & set(manifest.marks):
            what = f"reports of another design ({marks[0]})"
            raise CompileError(what, where=str(path.parent), accepted=f"reports of this one ({', '.join(manifest.marks)})")


def _head(path: Path) -> str:
    """The first `HEAD_BYTES` of a text; bytes that are none are replaced, for hosts and users may be named in any encoding."""
    try:
        with path.open("rb") as file:
            return file.read(HEAD_BYTES).decode("utf-8", errors="replace")
    except OSError as error:
        raise CompileError(f"cannot read it ({reason_of(error)})", where=str(path), accepted="a report that you may read") from None


Key = TypeVar("Key")
Report = TypeVar("Report", Synthesis, Cosimulation, Utilisation)


def _add(found: dict[Key, Report], key: Key, one: Report) -> None:
    """Add a report to those that were found; a copy counts once. CompileError where two of a thing differ: which counts?"""
    known = found.setdefault(key, one)
    if replace(known, file="") != replace(one, file=""):
        raise CompileError(f"says something else than {known.file}", where=one.file, accepted=ONE_RUN)


# C synthesis ------------------------------------------------------------------------------------------------------------


def _synthesis(files: Sequence[Path], tops: Mapping[str, str]) -> tuple[Synthesis, ...]:
    """Of each kernel; CompileError where there are reports, all of others."""
    found: dict[tuple[str, str], Synthesis] = {}
    others: dict[str, Path] = {}
    for path in files:
        root = read_xml(path)
        top = (root.findtext("UserAssignments/TopModelName") or "").strip()
        if top in tops:
            _add(found, (top, path.name), _of_synthesis(root, top, path))
        elif path.name == "csynth.xml":
            others[top] = path
    if others and not found:
        top, path = next(iter(others.items()))
        raise CompileError(f"reports of another design ('{top}')", where=str(path), accepted=f"reports of {', '.join(tops)}")
    return tuple({one.kernel: one for one in reversed(found.values())}.values())[::-1]


def _of_synthesis(root: ElementTree.Element, kernel: str, path: Path) -> Synthesis:
    area, timing, overall = (root.find(name) for name in (
        "AreaEstimates/Resources", "PerformanceEstimates/SummaryOfTimingAnalysis", "PerformanceEstimates/SummaryOfOverallLatency",
    ))  # fmt: skip
    resources = {ours: _integer(area.findtext(theirs), path) for theirs, ours in XML_RESOURCES.items()} if area is not None else {}
    latency = overall.findtext("Worst-caseLatency") if overall is not None else None
    return Synthesis(
        str(path), kernel, (root.findtext("UserAssignments/Part") or "").strip(),
        _positive(root.findtext("UserAssignments/TargetClockPeriod"), path),
        _positive(timing.findtext("EstimatedClockPeriod"), path) if timing is not None else None,
        _integer(latency, path), {name: count for name, count in resources.items() if count is not None},
    )  # fmt: skip


def _integer(text: str | None, path: Path) -> int | None:
    """A count; None where the tool does not know (`undef`, `?`, `-`, a range). CompileError for a negative one."""
    text = (text or "").strip()
    if re.fullmatch(r"-\d+", text):
        raise CompileError(f"a count of {text}", where=str(path), accepted="0 or more")
    try:
        return int(text) if text.isdecimal() else None
    except ValueError:  # more digits than Python converts
        raise CompileError(f"a count of {len(text):,} digits", where=str(path), accepted="what the tool counts") from None


def _positive(text: str | None, path: Path) -> float | None:
    """A clock period in ns; CompileError for what is none."""
    if text is None or not text.strip():
        return None
    found = re.fullmatch(r"\d+(\.\d+)?", text.strip())
    if found is None or not 0 < float(text) < MOST_NS:
        accepted = f"nanoseconds above 0 and below {MOST_NS:,.0f}"
        raise CompileError(f"a clock period of '{text.strip():.40}'", where=str(path), accepted=accepted)
    return float(text)


# Co-simulation ----------------------------------------------------------------------------------------------------------


def _cosimulation(texts: Mapping[Path, str], tops: Mapping[str, str]) -> tuple[Cosimulation, ...]:
    found: dict[str, Cosimulation] = {}
    others: list[Path] = []
    for path, text in texts.items():
        if "Latency(Clock Cycles)" not in text or not path.name.endswith("_cosim.rpt"):
            continue
        name = path.name.removesuffix("_cosim.rpt")
        if name not in tops:
            others.append(path)
            continue
        rows = [row for row in _rows(text) if len(row) >= 5 and row[0] in ("Verilog", "VHDL", "SystemC") and row[1] != "NA"]
        if not rows:
            what = "no row of a language that was simulated"
            raise CompileError(what, where=str(path), accepted="a co-simulation report with a status of Pass or Fail")
        _, status, _, average, *_ = rows[0]
        _add(found, name, Cosimulation(str(path), name, status == "Pass", _integer(average, path)))
    if others and not found:
        name = others[0].name.removesuffix("_cosim.rpt")
        what = f"a co-simulation of another design ('{name}')"
        raise CompileError(what, where=str(others[0]), accepted=f"one of {', '.join(tops)}")
    return tuple(found.values())


# Vivado -----------------------------------------------------------------------------------------------------------------


def _timing(texts: Mapping[Path, str]) -> Timing | None:
    """Of the last stage that there is a report of, the worst."""
    reports = {path: text for path, text in texts.items() if "Design Timing Summary" in text}
    last = _of_last_stage(reports)
    return min((_of_timing(reports[path], path) for path in last), key=lambda timing: timing.wns, default=None)


def _of_last_stage(paths: Iterator[Path] | Mapping[Path, str]) -> list[Path]:
    """Those of the latest stage, by their names."""
    ranked = {path: _stage(path) for path in paths}
    return [path for path, rank in ranked.items() if rank == min(ranked.values())]


def _stage(path: Path) -> int:
    """Which of `_STAGES` a report is of, by its name; their number where it does not say."""
    return next((rank for rank, stage in enumerate(_STAGES) if stage in path.name), len(_STAGES))


def _of_timing(text: str, path: Path) -> Timing:
    summary = _columns_behind(text, "Design Timing Summary", "WNS(ns)")
    figures = summary[0][:3] if summary else []
    if len(figures) < 3 or not all(_is_number(text) for text in figures):
        what = "its Design Timing Summary has no WNS"
        raise CompileError(what, where=str(path), accepted="the report of report_timing_summary behind place or route")
    wns, tns, failing = float(figures[0]), float(figures[1]), round(float(figures[2]))
    clocks = [row for row in _columns_behind(text, "Intra Clock Table", "WNS(ns)") if len(row) > 1 and _is_number(row[1])]
    worst = min(clocks, key=lambda row: float(row[1]), default=None)
    periods = {row[0]: _period(row) for row in _columns_behind(text, "Clock Summary", "Waveform(ns)")}
    name = worst[0] if worst is not None and float(worst[1]) == wns else None  # else the worst path is between two clocks
    whs = float(summary[0][4]) if len(summary[0]) > 4 and _is_number(summary[0][4]) else None
    return Timing(str(path), wns, tns, failing, whs, name, periods.get(name) if name is not None else None)


def _columns_behind(text: str, heading: str, column: str) -> list[list[str]]:
    """Words of the rows of the table below the line `| heading`, up to an empty line."""
    lines = iter(text.partition(f"| {heading}")[2].splitlines())
    for line in lines:
        if column in line:
            break
    rows: list[list[str]] = []
    for line in lines:
        words = line.split()
        if rows and not words:
            break
        if words and set(line) - set("- "):
            rows.append(words)
    return rows


def _period(row: Sequence[str]) -> float | None:
    """`clk  {0.000 2.000}  4.000  250.000`: the number behind the waveform."""
    behind = " ".join(row).partition("}")[2].split()
    return float(behind[0]) if behind and _is_number(behind[0]) else None


def _is_number(text: str) -> bool:
    return re.fullmatch(r"-?\d+(\.\d+)?", text) is not None and isfinite(float(text))


def _utilisation(texts: Mapping[Path, str], tops: Mapping[str, str]) -> tuple[Utilisation, ...]:
    """Of kernels, and of whole designs, each of the last stage."""
    found: dict[tuple[str, bool], Utilisation] = {}
    for one in (*_of_kernels(texts, tops), *_of_devices(texts)):
        _add(found, (one.of, one.whole_device), one)
    return tuple(found.values())


def _of_kernels(texts: Mapping[Path, str], tops: Mapping[str, str]) -> Iterator[Utilisation]:
    kernels = {path: text for path, text in texts.items() if _KERNEL_USE.search(text)}
    for path in _of_last_stage(kernels):
        header = next((row for row in _rows(kernels[path]) if row[0] == "Name"), [])
        own = [row for row in _rows(kernels[path]) if row[0] in tops and len(row) == len(header)]
        if not own:
            what = "utilisation of another design: it has a row of no kernel of this one"
            raise CompileError(what, where=str(path), accepted=f"a report with {', '.join(tops)}")
        for row in own:
            counts = {COLUMNS[name]: _count(name, cell, path) for name, cell in zip(header, row, strict=True) if name in COLUMNS}
            yield Utilisation(str(path), row[0], False, counts)


def _of_devices(texts: Mapping[Path, str]) -> Iterator[Utilisation]:
    """Of what was placed: of synthesis there is a report for each block of a link, and none of them is the device."""
    devices = {path: text for path, text in texts.items() if _DEVICE_USE.search(text) and not _KERNEL_USE.search(text)}
    for path in (path for path in _of_last_stage(devices) if _stage(path) != _STAGES.index("synth")):
        rows = {row[0].rstrip("*"): row for row in reversed(_rows(devices[path])) if row[0].rstrip("*") in SITES and len(row) > 1}
        if rows:
            design = re.search(r"^\| Design\s*: (\S+)", devices[path], re.MULTILINE)
            counts = {SITES[name]: _count(name, row[1], path) for name, row in rows.items()}
            yield Utilisation(str(path), design.group(1) if design else path.name, True, counts)


def _count(name: str, cell: str, path: Path) -> int:
    """A number in front of its share, `9875 [  0.95%]`; of block RAM tiles (36 kbit) in halves. CompileError for what is none."""
    text = cell.partition("[")[0].strip()
    if not _is_number(text):
        raise CompileError(f"'{name}' is '{cell:.40}'", where=str(path), accepted="a count, as in '9875' or '9875 [  0.95%]'")
    number = float(text)
    return round(number * _BRAM18_OF_TILE) if name in ("BRAM", "Block RAM Tile") else round(number)


def _rows(text: str) -> list[list[str]]:
    """The cells of all lines of tables of a report."""
    lines = (line.strip() for line in text.splitlines())
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("|") and len(line) > 1]
