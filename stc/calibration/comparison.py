"""A project's model beside the vendor's reports: loops, resources, clock and cycles, and in sentences where the model was off."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from math import prod
from typing import Any

from stc.calibration.vendor_reports import Synthesis, Timing, Utilisation, VendorReports
from stc.manifest.schema import Kernel, LoopSchedule, Manifest, Task
from stc.simulation.profile import RESOURCES, with_profile

LARGE = 0.25
"""Part of the model's figure by which the tool's may differ before a sentence is made of it."""
LEAST_DEPTH = 3
"""Stages by which a depth may be off: published loops are within 1 of the model, a few within 3 (docs/estimates.md)."""
LEAST_COUNT: Mapping[str, int] = {"dsp": 8, "lut": 1000, "ff": 1000, "bram18": 4, "uram": 2}
CLOSE_CYCLES = 0.05
MOST_SENTENCES = 8
"""Of loops, and of tasks: those that matter most."""


@dataclass(frozen=True)
class LoopGap:
    """A pipelined loop, as modelled and as reported, in cycles. `iterations`, `fills`: of a launch."""

    task: str
    loop: str
    iterations: int
    fills: int
    ii: int
    reported_ii: int
    depth: int
    reported_depth: int

    @property
    def is_off(self) -> bool:
        return self.ii != self.reported_ii or self.depth != self.reported_depth

    @property
    def extra_cycles(self) -> int:
        """What the tool's loop takes longer in a launch, by itself; negative where it takes less."""
        return (self.iterations - self.fills) * (self.reported_ii - self.ii) + self.fills * (self.reported_depth - self.depth)

    @property
    def is_large(self) -> bool:
        deeper = abs(self.reported_depth - self.depth)
        return self.ii != self.reported_ii or deeper > max(LEAST_DEPTH, LARGE * self.depth)

    @property
    def sentence(self) -> str:
        where = f"loop {self.loop} of {self.task}"
        cost = f"{abs(self.extra_cycles):,} cycles {'more' if self.extra_cycles >= 0 else 'less'} in a launch by itself"
        if self.reported_ii != self.ii:
            return f"{where}: II {self.reported_ii} for {self.ii} ({cost}); what bounds it is in the tool's log ('II Violation')"
        return f"{where}: {self.reported_depth} stages for {self.depth} ({cost})"


@dataclass(frozen=True)
class ResourceGap:
    """What something takes, as modelled and as reported, by kind; a kind that either has no figure of is in neither."""

    of: str
    modelled: Mapping[str, int]
    reported: Mapping[str, int]

    @property
    def large(self) -> list[str]:
        """The kinds that are off by more than `LARGE`."""
        return [name for name, count in self.modelled.items()
                if abs(self.reported[name] - count) > max(LEAST_COUNT[name], LARGE * count)]

    @property
    def sentence(self) -> str:
        named = [f"{self.reported[name]:,} {name.upper()} for {self.modelled[name]:,}" for name in self.large]
        return f"{self.of}: {', '.join(named)}"


@dataclass(frozen=True)
class CyclesOf:
    """Cycles of a launch by where they come from; None where nobody has them."""

    estimated: int | None
    simulated: int | None
    simulated_as_reported: int | None
    synthesis: int | None
    cosimulated: int | None


@dataclass(frozen=True)
class Comparison:
    """What the tool says of a design beside what we said. `silent`: pipelined loops that no report has."""

    reports: VendorReports
    loops: tuple[LoopGap, ...]
    silent: tuple[str, ...]
    tasks: tuple[ResourceGap, ...]
    totals: tuple[ResourceGap, ...]
    clock_ns: float
    cycles: CyclesOf

    @property
    def failures(self) -> tuple[str, ...]:
        """What keeps the design from the card as it is, by the reports."""
        return (*self._wrong, *self._slow)

    @property
    def _wrong(self) -> Iterator[str]:
        for run in self.reports.cosimulation:
            if not run.passed:
                yield f"co-simulation of {run.kernel} failed ({run.file}): do the runs of `make csim` and `make csim-vitis` pass?"

    @property
    def _slow(self) -> Iterator[str]:
        mhz = 1000 / self.clock_ns
        for one in self.reports.synthesis:
            if one.estimated_ns is not None and one.estimated_ns > self.clock_ns:
                asked = f"the {self.clock_ns:g} ns of {mhz:g} MHz"
                yield (f"C synthesis of {one.kernel} estimates {one.estimated_ns:g} ns for {asked}: an operation or a broadcast is "
                       "too long before anything is placed")
        timing = self.reports.timing
        if timing is not None and timing.wns < 0:
            mhz = reached_mhz(timing)
            reached = f"; it would close at {mhz:.0f} MHz" if mhz is not None else ""
            clock = f" of clock {timing.clock}" if timing.clock is not None else ""
            yield f"timing is not met: slack {timing.wns:g} ns{clock}, {timing.failing_endpoints:,} endpoints fail{reached}"
        if timing is not None and timing.whs is not None and timing.whs < 0:
            yield f"hold times are not met: slack {timing.whs:g} ns, which a lower clock does not change"

    @property
    def sentences(self) -> tuple[str, ...]:
        """Each large gap, the dearest first, then what is not comparable."""
        loops = sorted((loop for loop in self.loops if loop.is_large), key=lambda loop: -abs(loop.extra_cycles))
        tasks = sorted((task for task in self.tasks if task.large), key=lambda task: -max(map(abs, _differences(task).values())))
        found = [loop.sentence for loop in loops[:MOST_SENTENCES]]
        found += [task.sentence for task in (*self.totals, *tasks[:MOST_SENTENCES]) if task.large]
        return (*found, *self._about_cycles(), *self._about_the_run())

    def _about_cycles(self) -> Iterator[str]:
        cycles = self.cycles
        model = cycles.simulated_as_reported or cycles.simulated or cycles.estimated
        if model is None or cycles.cosimulated is None:
            return
        off = cycles.cosimulated / model - 1
        if abs(off) <= CLOSE_CYCLES:
            return
        told = f"co-simulation takes {cycles.cosimulated:,} cycles,"
        if cycles.simulated_as_reported is None:
            yield f"{told} the model says {model:,} ({off:+.1%})"
            return
        yield (f"{told} simulation with the reported II and depth {model:,} ({off:+.1%}); what is left is no loop's: the memory of "
               "a co-simulation is not the card's, and code between loops has no cycles in the model")

    def _about_the_run(self) -> Iterator[str]:
        for one in self.reports.synthesis:
            if one.target_ns is not None and abs(one.target_ns - self.clock_ns) > 0.01 * self.clock_ns:
                yield (f"the tool was asked for {one.target_ns:g} ns and the design is scheduled for {self.clock_ns:g} ns: "
                       "depths are of another clock")
        if not self.reports.is_of_this_design:
            yield "no report names a kernel: the timing and utilisation are taken to be of this design"
        if self.silent:
            some = ", ".join(self.silent[:3]) + (", ..." if len(self.silent) > 3 else "")
            yield f"{len(self.silent)} pipelined loops are in no report ({some}): the tool dissolves loops of one iteration"

    def as_json(self) -> dict[str, Any]:
        reports = {**asdict(self.reports), "profile": None, "missing": self.reports.missing}
        return {
            "reports": reports, "loops": [asdict(loop) for loop in self.loops], "silent": self.silent,
            "tasks": [asdict(task) for task in self.tasks], "totals": [asdict(total) for total in self.totals],
            "clock_ns": self.clock_ns, "cycles": asdict(self.cycles), "sentences": self.sentences, "failures": self.failures,
        }  # fmt: skip


def reached_mhz(timing: Timing) -> float | None:
    """The frequency at which the clock with the worst slack would have none; None where the report does not say its period."""
    needed = timing.period_ns - timing.wns if timing.period_ns is not None else 0.0
    return 1000 / needed if needed > 0 else None


def compare(manifest: Manifest, report: Mapping[str, Any], reports: VendorReports, simulated: Sequence[int | None]) -> Comparison:
    """What `manifest` and report.json say beside `reports`. `simulated`: cycles of a run as modelled, and as reported; None where
    there was no run."""
    measured = with_profile(manifest, reports.profile) if reports.profile is not None else manifest
    pairs = list(zip(manifest.kernels, measured.kernels, strict=True))
    origin = reports.profile.origin if reports.profile is not None else ""
    loops = [_loop_gap(ours, loop, theirs) for ours, kernel in pairs
             for loop, theirs in zip(ours.schedule, kernel.schedule, strict=True) if theirs.limit == origin]
    known = {(loop.task, loop.loop) for loop in loops}
    silent = [f"{loop.task}/{loop.label}" for kernel in manifest.kernels for loop in kernel.schedule
              if loop.ii is not None and (loop.task, loop.label) not in known]
    clock = 1000 / manifest.memory.clock_mhz if manifest.memory is not None else 4.0
    modelled, as_reported = simulated
    return Comparison(
        reports, tuple(loops), tuple(silent) if reports.profile is not None else (), tuple(_tasks(manifest, reports)),
        tuple(_totals(report, reports)), clock,
        CyclesOf(_estimated_cycles(report), modelled, as_reported, _sum(reports.synthesis, manifest), _sum_runs(reports, manifest)),
    )  # fmt: skip


def _loop_gap(kernel: Kernel, loop: LoopSchedule, theirs: LoopSchedule) -> LoopGap:
    iterations = kernel.steps * kernel.executions[loop.task, loop.label]
    around = prod(_flattened_trips(kernel, loop))
    return LoopGap(loop.task, loop.label, iterations, iterations // max(1, loop.trip * around), loop.ii or 1, theirs.ii or 1,
                   loop.depth or 1, theirs.depth or 1)


def _flattened_trips(kernel: Kernel, loop: LoopSchedule) -> Iterator[int]:
    """Trips of the loops that `loop` is one pipeline with."""
    loops = {other.label: other for other in kernel.schedule if other.task == loop.task}
    parent = loop.parent
    while parent is not None and loops[parent].flattened:
        yield loops[parent].trip
        parent = loops[parent].parent


def _tasks(manifest: Manifest, reports: VendorReports) -> Iterator[ResourceGap]:
    figures = reports.profile.resources if reports.profile is not None else {}
    for task in (task for kernel in manifest.kernels for task in kernel.tasks):
        if task.name in figures and task.resources is not None:
            yield _gap(f"task {task.name}", _resources(task), figures[task.name])


def _resources(task: Task) -> dict[str, int]:
    return asdict(task.resources) if task.resources is not None else {}


def _totals(report: Mapping[str, Any], reports: VendorReports) -> Iterator[ResourceGap]:
    """All kernels together, by C synthesis and behind route; the whole device has no counterpart in the model."""
    total = {name: int(count) for name, count in (report.get("resources") or {}).get("total", {}).items() if name in RESOURCES}
    routed = [use for use in reports.utilisation if not use.whole_device]
    for what, figures in (("all kernels, C synthesis", reports.synthesis), ("all kernels, placed and routed", routed)):
        if total and reports.covers_all(figures):
            yield _gap(what, total, _added(figures))


def _added(figures: Sequence[Synthesis | Utilisation]) -> dict[str, int]:
    shared = set(RESOURCES).intersection(*(one.resources for one in figures))
    return {name: sum(one.resources[name] for one in figures) for name in RESOURCES if name in shared}


def _gap(of: str, modelled: Mapping[str, int], reported: Mapping[str, int]) -> ResourceGap:
    shared = [name for name in RESOURCES if name in modelled and name in reported]
    return ResourceGap(of, {name: modelled[name] for name in shared}, {name: reported[name] for name in shared})


def _differences(gap: ResourceGap) -> dict[str, float]:
    """By kind, in parts of what is noticed."""
    return {name: (gap.reported[name] - gap.modelled[name]) / LEAST_COUNT[name] for name in gap.modelled}


def _estimated_cycles(report: Mapping[str, Any]) -> int | None:
    cycles = (report.get("throughput") or {}).get("cycles")
    return cycles if isinstance(cycles, int) else None


def _sum(synthesis: Sequence[Synthesis], manifest: Manifest) -> int | None:
    """Of kernels, one after the other; None where a kernel is several units, which run together."""
    latencies = [one.latency for one in synthesis if one.latency is not None]
    return sum(latencies) if len(latencies) == len(manifest.kernels) and not any(k.units for k in manifest.kernels) else None


def _sum_runs(reports: VendorReports, manifest: Manifest) -> int | None:
    """As `_sum`, of co-simulated kernels; None unless all are."""
    cycles = [run.cycles for run in reports.cosimulation if run.cycles is not None]
    together = any(kernel.units for kernel in manifest.kernels)
    return sum(cycles) if len(cycles) == len(manifest.kernels) and not together else None
