"""Random programs with reconvergent paths, compiled and run with time: are their sized FIFO depths enough, and is none too many?

    checks = check_graphs(GraphCampaign(count=300, jobs=2), on_check=print)
    assert not any(check.failures for check in checks)

A program counts if at least one of its FIFOs lies on an undirected cycle of tasks. Its design is run at the emitted depths, at what
the LP asks for, minimal, and, for every minimal depth above 1, one below: that must cost cycles or deadlock, and the explanation
must name that FIFO. The emitted C++ of a batch of programs is built as one.
"""

from __future__ import annotations

import multiprocessing
import tempfile
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from dataclasses import asdict, dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

import networkx as nx

from stc.diagnostics import CompileError
from stc.manifest.files import read_manifest
from stc.manifest.schema import Kernel, Manifest
from stc.simulation.batch import timed_runs
from stc.simulation.design_runs import DesignRun, DesignRuns
from stc.simulation.explanation import explain
from stc.simulation.slowness import slow_because
from stc.simulation.task_graphs import all_fifos, memory_fed
from stc.tools.size import Sizing, size_runs
from stc_testing.fuzzing.levels import draw_case, emit_case

SIZED, REFUSED, PLAIN = "sized", "refused", "no reconvergent paths"


@dataclass(frozen=True)
class GraphCampaign:
    """The first `count` graphs that reconverge, of the seeds from `seed` on; `jobs` processes, `batch` seeds each at a time."""

    count: int
    seed: int = 0
    jobs: int = 1
    batch: int = 10
    most_runs: int = 2000


@dataclass(frozen=True)
class GraphCheck:
    """What became of one seed. `figures`: FIFOs, bits, cycles, runs; `failures`: what should not be, in words."""

    seed: int
    verdict: str
    message: str = ""
    figures: Mapping[str, Any] = field(default_factory=dict[str, Any])
    failures: tuple[str, ...] = ()


def check_graphs(campaign: GraphCampaign, on_check: Callable[[GraphCheck], None] = lambda check: None) -> list[GraphCheck]:
    """Until so many graphs were sized; all seeds on the way, in their order."""
    if campaign.jobs == 1:
        batches: Iterable[list[GraphCheck]] = (check_batch(campaign, seeds) for seeds in _batches(campaign))
        return _enough(campaign, batches, on_check)
    context = multiprocessing.get_context("fork")
    with ProcessPoolExecutor(campaign.jobs, mp_context=context) as pool:
        return _enough(campaign, _in_parallel(campaign, pool), on_check)


def _batches(campaign: GraphCampaign) -> Iterable[range]:
    return (range(first, first + campaign.batch) for first in count(campaign.seed, campaign.batch))


def _in_parallel(campaign: GraphCampaign, pool: ProcessPoolExecutor) -> Iterable[list[GraphCheck]]:
    seeds = iter(_batches(campaign))
    running: set[Future[list[GraphCheck]]] = set()
    try:
        while True:
            while len(running) < campaign.jobs:
                running.add(pool.submit(check_batch, campaign, next(seeds)))
            done, running = wait(running, return_when=FIRST_COMPLETED)
            yield from (future.result() for future in done)
    finally:
        for future in running:
            future.cancel()


def _enough(
    campaign: GraphCampaign, batches: Iterable[list[GraphCheck]], on_check: Callable[[GraphCheck], None]
) -> list[GraphCheck]:
    checks: list[GraphCheck] = []
    sized = 0
    for batch in batches:
        for check in batch:
            if sized < campaign.count:
                checks.append(check)
                sized += check.verdict == SIZED
                on_check(check)
        if sized >= campaign.count:
            break
    return sorted(checks, key=lambda check: check.seed)


# One batch --------------------------------------------------------------------------------------------------------------


def check_batch(campaign: GraphCampaign, seeds: Sequence[int]) -> list[GraphCheck]:
    """The graphs of some seeds, built as one program."""
    with tempfile.TemporaryDirectory(prefix="stc-graphs-") as name:
        folder = Path(name)
        emitted = {seed: _emitted(seed, folder / f"g{seed}") for seed in seeds}
        built = _built([folder / f"g{seed}" for seed, check in emitted.items() if check is None], folder)
        return [check or _checked(seed, built[f"g{seed}"], campaign.most_runs) for seed, check in emitted.items()]


def _built(projects: Sequence[Path], folder: Path) -> Mapping[str, DesignRuns | CompileError]:
    """By folder name; where g++ rejects the program, each is built alone, so that the one at fault is known."""
    if not projects:
        return {}
    try:
        return timed_runs(projects, folder)
    except CompileError as error:
        if len(projects) == 1:
            return {projects[0].name: error}
        return {name: built for project in projects for name, built in _built([project], project / "build").items()}


def _emitted(seed: int, project: Path) -> GraphCheck | None:
    """None where the design is to be sized."""
    try:
        emit_case(draw_case(seed), project)
    except CompileError as error:
        return GraphCheck(seed, REFUSED, str(error))
    return None if reconverges(read_manifest(project)) else GraphCheck(seed, PLAIN)


def reconverges(manifest: Manifest) -> bool:
    """Whether a FIFO between computing tasks lies on an undirected cycle of tasks."""
    fed = memory_fed(manifest)
    return any(_has_reconvergent_fifo(kernel, fed) for kernel in manifest.kernels)


def _has_reconvergent_fifo(kernel: Kernel, fed: Collection[str]) -> bool:
    """Each channel as a node of its own, so that two between the same tasks are two paths."""
    graph: nx.Graph[str] = nx.Graph()
    for channel in (*kernel.streams, *kernel.blocks):
        graph.add_edges_from([(f"task {channel.producer}", channel.name), (channel.name, f"task {channel.consumer}")])
    bridges = {name for ends in nx.bridges(graph) for name in ends}
    return any(stream.name not in bridges and stream.name not in fed for stream in kernel.streams)


def _checked(seed: int, runs: DesignRuns | CompileError, most_runs: int) -> GraphCheck:
    if isinstance(runs, CompileError):
        return GraphCheck(seed, SIZED, failures=(str(runs),))
    try:
        sizing = size_runs(runs, most_runs=most_runs)
    except CompileError as error:
        return GraphCheck(seed, SIZED, failures=(str(error),))
    below = [_one_below(runs, sizing, fifo.name) for fifo in sizing.fifos if fifo.minimal > 1]
    failures = [*_not_ending(sizing), *(entry["failure"] for entry in below if entry["failure"])]
    return GraphCheck(seed, SIZED, figures=_figures(runs, sizing, below), failures=tuple(failures))


def _not_ending(sizing: Sizing) -> Iterable[str]:
    named = {"emitted": sizing.emitted, "LP": sizing.required, "minimal": sizing.minimal}
    yield from (f"at the {name} depths it does not end" for name, at in named.items() if at and at.verdict == "does not end")
    if sizing.minimal.verdict == "slower":
        yield "at the minimal depths it is slower"
    if not sizing.values_agree:
        yield "values differ from those expected"
    if sizing.larger_loop_depths != "finished":
        yield f"with loop depths doubled: {sizing.larger_loop_depths}"


def _one_below(runs: DesignRuns, sizing: Sizing, name: str) -> dict[str, Any]:
    """How the design ends with one FIFO one slot below its minimal depth, and whether the explanation names that FIFO."""
    depths = {**sizing.depths, name: sizing.depths[name] - 1}
    run = runs.run(depths)
    assert sizing.worst.cycles is not None
    if run.cycles is not None and run.cycles <= sizing.worst.cycles:
        return {"outcome": "no worse", "named": False, "failure": f"{name} can be one less than {sizing.depths[name]}"}
    named = _named(runs, depths, run, sizing)
    outcome = "slower" if run.cycles is not None else run.outcome
    failure = "" if name in named else f"{name} one below {sizing.depths[name]}: {outcome}, but the explanation names {named}"
    return {"outcome": outcome, "named": name in named, "failure": failure}


def _named(runs: DesignRuns, depths: Mapping[str, int], run: DesignRun, sizing: Sizing) -> tuple[str, ...]:
    def again(more: Mapping[str, int]) -> DesignRun:
        return runs.run({**depths, **more})

    if run.cycles is None:
        explanation = explain(runs.manifest, run, again)
        return () if explanation is None else explanation.culprits
    slowness = slow_because(all_fifos(runs.manifest), depths, run, runs.run(sizing.depths), again)
    return () if slowness is None else slowness.culprits


def _figures(runs: DesignRuns, sizing: Sizing, below: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    optimum = sizing.optimum
    assert optimum is not None
    return {
        "tasks": sum(len(kernel.tasks) for kernel in runs.manifest.kernels),
        "fifos": len(runs.streams),
        "sized": len(sizing.fifos),
        "above_one": len(below),
        "below": {outcome: sum(entry["outcome"] == outcome for entry in below) for outcome in {e["outcome"] for e in below}},
        "named": sum(entry["named"] for entry in below),
        "verdicts": {"emitted": sizing.emitted.verdict, "LP": sizing.required.verdict if sizing.required else None},
        "bits": {
            "worst": sizing.worst.bits,
            "LP": sizing.required.bits if sizing.required else None,
            "emitted": sizing.emitted.bits,
            "minimal": sizing.minimal.bits,
            "descent alone": sizing.descent_alone,
            "optimum": optimum.bits,
            "lower_bound": optimum.lower_bound,
        },
        "cycles": {
            "unlimited": sizing.worst.cycles,
            "LP": sizing.required.cycles if sizing.required else None,
            "emitted": sizing.emitted.cycles,
            "minimal": sizing.minimal.cycles,
        },
        "proof": optimum.proof,
        "surprises": sizing.surprises,
        "runs": runs.count,
        "run_seconds": runs.seconds,
    }


def summary(checks: Sequence[GraphCheck]) -> dict[str, Any]:
    """Sums over all graphs sized."""
    sized = [check.figures for check in checks if check.figures]
    known = [figures["bits"] for figures in sized if figures["bits"]["optimum"] is not None]
    below: dict[str, int] = {}
    for figures in sized:
        for outcome, number in figures["below"].items():
            below[outcome] = below.get(outcome, 0) + number
    ratios = [bits["descent alone"] / bits["optimum"] for bits in known if bits["optimum"]]
    return {
        "origin": "executed: cycle-level simulation of the emitted C++",
        "seeds": len(checks),
        **{verdict: sum(check.verdict == verdict for check in checks) for verdict in (SIZED, REFUSED, PLAIN)},
        "fifos_sized": sum(figures["sized"] for figures in sized),
        "fifos_above_one": sum(figures["above_one"] for figures in sized),
        "one_below": below,
        "explanation_names_it": sum(figures["named"] for figures in sized),
        "failures": [{"seed": check.seed, "failures": check.failures} for check in checks if check.failures],
        "emitted": _counts(figures["verdicts"]["emitted"] for figures in sized),
        "LP": _counts(figures["verdicts"]["LP"] for figures in sized),
        "bits": {kind: sum(figures["bits"][kind] or 0 for figures in sized) for kind in ("worst", "LP", "emitted", "minimal")},
        "bits_where_the_optimum_is_known": {
            kind: sum(bits[kind] for bits in known) for kind in ("minimal", "descent alone", "optimum")
        },
        "optimum_known": len(known),
        "descent_alone_over_optimum": {"largest": max(ratios, default=None), "above_1.05": sum(ratio > 1.05 for ratio in ratios)},
        "surprises": sum(figures["surprises"] for figures in sized),
        "runs": sum(figures["runs"] for figures in sized),
        "seconds_per_run": sum(figures["run_seconds"] for figures in sized) / max(1, sum(figures["runs"] for figures in sized)),
    }


def _counts(entries: Iterable[Any]) -> dict[str, int]:
    found: dict[str, int] = {}
    for entry in entries:
        found[str(entry)] = found.get(str(entry), 0) + 1
    return found


def as_json(checks: Sequence[GraphCheck]) -> dict[str, Any]:
    return {**summary(checks), "graphs": [asdict(check) for check in checks]}
