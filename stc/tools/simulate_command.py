"""`stc simulate`: cycles of an emitted design, task by task."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from stc.diagnostics import CompileError
from stc.fifo.depths_file import read_depths
from stc.manifest.schema import Manifest
from stc.manifest.sizes import at_values, scalar_maxima
from stc.simulation.critical_path import critical_path
from stc.simulation.csim import check_timeout
from stc.simulation.depth_cost import DepthCost, depth_cost
from stc.simulation.design_file import is_foreign
from stc.simulation.explanation import Explanation
from stc.simulation.path_roles import PathRole, path_roles, total
from stc.simulation.profile import read_profile, with_profile
from stc.simulation.projects import ORIGIN, project_manifest
from stc.simulation.simulate import SimulationResult, timed_design
from stc.simulation.static_checks import check_statically, refuse_contradictions
from stc.simulation.timing_table import NO_PLATFORM, SimulationOptions, timing_table
from stc.simulation.utilisation import Utilisation
from stc.simulation.waiting import Waiting, waiting_of
from stc.tools.consoles import messages, output
from stc.tools.explaining import explain_simulation, explanation_json, print_static, print_waiting
from stc.tools.simulation_tables import path_json, print_run, role_table
from stc.tools.stages import Told, on_each_stage, stages_of


def simulate_command(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="What `stc compile` wrote, or a folder with design.toml.")],
    depths: Annotated[Path | None, typer.Option(help="JSON object: FIFO names and the depths to run with.")] = None,
    unlimited: Annotated[bool, typer.Option("--unlimited", help="FIFOs with as many slots as needed.")] = False,
    depth_error: Annotated[float, typer.Option(help="Multiply the estimated depth of every pipelined loop.")] = 1.0,
    style: Annotated[str | None, typer.Option(help="Pipeline style instead of the source's: stp, flp, frp.")] = None,
    invocations: Annotated[int, typer.Option(help="Call the design so often, one call after the other.")] = 1,
    limit: Annotated[int | None, typer.Option(help="Give up beyond this cycle.")] = None,
    at: Annotated[list[str] | None, typer.Option(metavar="NAME=N", help="A scalar's value; outputs are not compared.")] = None,
    why: Annotated[str | None, typer.Option(metavar="TASK", help="Show what this task waits for over time.")] = None,
    cost_of_depths: Annotated[
        bool, typer.Option("--cost-of-depths", help="Show which FIFO costs how many cycles, compared with unlimited FIFOs.")
    ] = False,
    static: Annotated[bool, typer.Option("--static", help="Only check the manifest: token counts, cycles, paths.")] = False,
    profile: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Measured IIs and depths: .json, .csv, csynth.xml, or a folder of these.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
    timeout: Annotated[float, typer.Option(help="Seconds after which the run is stopped.")] = 600.0,
) -> None:
    """Run an emitted design with time: cycles per task and in total, and who waits for whom.

    A deadlock is explained: who waits for whom, where the paths part and meet, and the least FIFO depth that fixes it.

    Exit codes: 0 fine, 1 mismatch, deadlock or limit (with --static: a contradiction), 2 unusable project or options.
    """
    if cost_of_depths:
        _check_cost_is_known(static, unlimited, invocations)
    if static:
        _refuse_beside_static({
            "--depths": depths is not None, "--unlimited": unlimited, "--depth-error": depth_error != 1,
            "--style": style is not None, "--invocations": invocations != 1, "--limit": limit is not None,
            "--why": why is not None, "--profile": profile is not None,
        })
    options = SimulationOptions(read_depths(depths), unlimited, depth_error, style, invocations, limit, at=read_values(at or []))
    if unlimited and options.depths:
        raise CompileError("both --depths and --unlimited", accepted="one of them")
    asked = _Asked(options, profile, why, cost_of_depths, timeout)
    # Of a model, each stage is run at the values of the scalars that it has.
    scalars = {name for folder in stages_of(directory).values() for name in scalar_maxima(asked.manifest(folder))}

    def run(folder: Path) -> Told:
        own = scalar_maxima(asked.manifest(folder))
        values = {name: value for name, value in options.at.items() if name in own or name not in scalars}
        if static:
            return _checked_only(folder, values)
        told, row, launch = _simulated(folder, replace(asked, options=replace(options, at=values)))
        if row.cycles:
            rows.append((replace(row, role=folder.name), launch))
        return told

    rows: list[tuple[PathRole, int]] = []
    def together() -> None:
        if rows:
            output.print(role_table("where the cycles of each stage went, by its critical path", "stage", *zip(*rows, strict=True)))

    names = {"--depths": depths is not None, "--profile": profile is not None, "--why": why is not None}
    on_each_stage(directory, run, as_json, names, together)


@dataclass(frozen=True)
class _Asked:
    """How a project is to be run, and what is to be said of it."""

    options: SimulationOptions
    profile: Path | None
    why: str | None
    cost_of_depths: bool
    timeout: float

    def report(self, directory: Path) -> Path | None:
        """The vendor's report of a design that stc did not write."""
        return self.profile.resolve() if self.profile is not None and is_foreign(directory.resolve()) else None

    def manifest(self, directory: Path) -> Manifest:
        return project_manifest(directory.resolve(), self.report(directory))


def _simulated(directory: Path, asked: _Asked) -> tuple[Told, PathRole, int]:
    """One project, run with time; and all of its critical path in a row, with the cycles of launches beside it."""
    report, timeout, why = asked.report(directory), asked.timeout, asked.why
    manifest = at_values(asked.manifest(directory), asked.options.at)
    measured = read_profile(asked.profile, manifest) if asked.profile is not None and report is None else None
    options = replace(asked.options, profile=measured)
    refuse_contradictions(manifest)
    check_timeout(timeout)
    timing_table(manifest, options)   # refuses options before anything is built
    with messages.status("building and running the emitted C++ with time") as status:
        design = timed_design(directory, report=report)
        result = design.run(options, timeout)
        if measured is not None:
            origin = with_profile(manifest, measured).origins["schedule.depth"]
            result = replace(result, notes=(*result.notes, f"loop intervals and depths: {origin}"))
        if result.compared and not result.passed:
            from stc.tools.near_ties import LOOKING_FOR_NEAR_TIES, with_near_ties

            status.update(LOOKING_FOR_NEAR_TIES)
            result = replace(result, values=with_near_ties(directory, result.values))
        waiting = waiting_of(result, why) if why is not None else None
        if not result.passed:
            status.update("looking for the least FIFO depths that fix it")
        explanation = explain_simulation(design, options, result, timeout)
        cost = None
        if asked.cost_of_depths and result.cycles is not None:
            cost = depth_cost(design, options, result, timeout, lambda runs: status.update(f"looking for what costs: run {runs}"))
    use = design.utilisation(result, options)
    ran = manifest if measured is None else with_profile(manifest, measured)
    roles = path_roles(design.as_run(ran, options), result, critical_path(result))
    for note in result.notes:
        messages.print(f"note: {note}", markup=False)

    def show() -> None:
        if waiting is not None:
            print_waiting(waiting, output)
        if cost is not None:
            output.print(cost.text, markup=False, soft_wrap=True)
        if (waiting is None and cost is None) or not result.passed:
            print_result(result, use, origin_of(result, options), explanation, output, roles)

    def as_json() -> dict[str, Any]:
        used = use.as_json() if use is not None else None
        return report_of(result, options, explanation, waiting, cost, roles) | {"utilisation": used}

    return Told(result.passed, as_json, show), total(roles, ""), result.launch_cycles


def read_values(texts: Sequence[str]) -> dict[str, int]:
    """The values that `NAME=N` give; CompileError for any other text."""
    found: dict[str, int] = {}
    for name, is_given, number in (part.partition("=") for text in texts for part in text.split(",")):
        if not is_given or not number.strip().lstrip("-").isdigit():
            raise CompileError(f"--at {name}{is_given}{number}", accepted="a scalar and its value, pos=5")
        found[name.strip()] = int(number)
    return found


def _check_cost_is_known(static: bool, unlimited: bool, invocations: int) -> None:
    """Refuse what --cost-of-depths cannot answer."""
    wrong = {"--static": static, "--unlimited": unlimited, f"{invocations} invocations": invocations != 1}
    for name in (name for name, holds in wrong.items() if holds):
        raise CompileError(f"both --cost-of-depths and {name}", accepted="one call, run at the depths of the design or --depths")


def _refuse_beside_static(given: Mapping[str, bool]) -> None:
    """Nothing is run with --static: what changes a run would be ignored. `given`: whether each option was."""
    for name in (name for name, holds in given.items() if holds):
        raise CompileError(f"both --static and {name}", accepted="--static alone, or with --json; without it the design is run")


def _checked_only(directory: Path, values: Mapping[str, int]) -> Told:
    """One project, whose manifest alone is looked at."""
    manifest = at_values(project_manifest(directory.resolve()), values)
    if manifest.platform == NO_PLATFORM:
        what = "--static of a design that stc did not write, whose FIFOs are known only when it runs"
        raise CompileError(what, where=str(directory), accepted="a folder that `stc compile` wrote")
    report = check_statically(manifest)
    return Told(report.passed, report.as_json, lambda: print_static(report, output))


def origin_of(result: SimulationResult, options: SimulationOptions) -> str:
    """Where the cycles come from, and in what the run differs from the design as it stands."""
    changes = {
        f"FIFO depths replaced: {len(options.depths)}": bool(options.depths),
        "unlimited FIFOs": options.unbounded,
        f"loop depths times {options.depth_error:g}": options.depth_error != 1,
        f"at {', '.join(f'{name} = {value}' for name, value in options.at.items())}, outputs not compared": bool(options.at),
        f"every pipeline {options.style}": options.style is not None,
        "measured figures in place of estimates": options.profile is not None,
    }
    return "; ".join([result.origin or ORIGIN, *(text for text, holds in changes.items() if holds)])


def report_of(
    result: SimulationResult,
    options: SimulationOptions,
    explanation: Explanation | None = None,
    waiting: Waiting | None = None,
    cost: DepthCost | None = None,
    roles: Sequence[PathRole] = (),
) -> dict[str, Any]:
    """Everything, as JSON; `explanation` of a run that did not end, `why` for one task, `cost_of_depths` where it was asked."""
    return {
        "cycles": result.cycles,
        "interval": result.interval,
        "tokens": result.tokens,
        "tokens_per_second": result.tokens_per_second,
        "tokens_per_cpu_second": result.tokens_per_cpu_second,
        "critical_path": path_json(result, roles),
        "explanation": explanation_json(result.values, explanation),
        "why": waiting.as_json() if waiting is not None else None,
        "cost_of_depths": cost.as_json() if cost is not None else None,
        **asdict(result),
        "origin": origin_of(result, options),
    }


def print_result(
    result: SimulationResult,
    use: Utilisation | None,
    origin: str,
    explanation: Explanation | None,
    console: Console,
    roles: Sequence[PathRole] = (),
) -> None:
    """A summary, tasks, FIFOs and the critical path; of a run that did not end, why."""
    if result.cycles is None:
        text = (explanation.text if explanation is not None else result.values.explanation) or ""
        reason = text if result.values.outcome == "finished" else f"{result.values.outcome}\n{text}"
        console.print(f"no cycle count: {reason}", markup=False, soft_wrap=True)
        for kernel, ends in result.ends.items():
            known = ", ".join(f"{end:,}" for end in ends)
            console.print(f"calls of {kernel} that had ended by then: at cycle {known}", markup=False)
        return
    print_run(result, use, origin, console, roles)
