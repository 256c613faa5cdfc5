"""`stc simulate`: cycles of an emitted design, task by task."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from stc.diagnostics import CompileError
from stc.simulation.simulate import SimulationResult, TaskTime, simulate
from stc.simulation.timing_table import SimulationOptions

ORIGIN = "executed: cycle-level simulation of the emitted C++, with estimated loop depths"
DEPTHS_ACCEPTED = "a JSON object of FIFO names and integer depths"
CHECK_FAILED = 1

messages = Console(stderr=True, highlight=False, soft_wrap=True)
output = Console(highlight=False, emoji=False)


def simulate_command(
    directory: Annotated[Path, typer.Argument(help="An emitted project, as `stc compile` writes.")],
    depths: Annotated[Path | None, typer.Option(help="JSON object: FIFO names and the depths to run with.")] = None,
    unlimited: Annotated[bool, typer.Option("--unlimited", help="FIFOs with as many slots as needed.")] = False,
    depth_error: Annotated[float, typer.Option(help="Multiply the estimated depth of every pipelined loop.")] = 1.0,
    style: Annotated[str | None, typer.Option(help="Pipeline style instead of the source's: stp, flp, frp.")] = None,
    invocations: Annotated[int, typer.Option(help="Call the design so often, one call after the other.")] = 1,
    limit: Annotated[int | None, typer.Option(help="Give up beyond this cycle.")] = None,
    why: Annotated[str | None, typer.Option(metavar="TASK", help="Show what this task waits for over time.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
    timeout: Annotated[float, typer.Option(help="Seconds after which the run is stopped.")] = 600.0,
) -> None:
    """Run an emitted design with time: cycles per task and in total, and who waits for whom.

    Exit codes: 0 fine, 1 mismatch, deadlock or limit, 2 unusable project or options.
    """
    options = SimulationOptions(read_depths(depths), unlimited, depth_error, style, invocations, limit)
    with messages.status("building and running the emitted C++ with time"):
        result = simulate(directory, options, timeout)
    if as_json:
        output.print_json(json.dumps(report_of(result)))
    elif why is not None:
        print_waits(result, why, output)
    else:
        print_result(result, output)
    if not result.passed:
        raise typer.Exit(CHECK_FAILED)


def read_depths(path: Path | None) -> dict[str, int]:
    """FIFO depths by name from a JSON object."""
    if path is None:
        return {}
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise CompileError(f"cannot read depths ({error})", where=str(path), accepted=DEPTHS_ACCEPTED) from None
    if not isinstance(content, dict) or any(type(depth) is not int for depth in content.values()):
        raise CompileError("not a list of depths", where=str(path), accepted=DEPTHS_ACCEPTED)
    return content


def report_of(result: SimulationResult) -> dict[str, Any]:
    """Everything, as JSON."""
    return {"origin": ORIGIN, "cycles": result.cycles, "interval": result.interval, **asdict(result)}


def print_result(result: SimulationResult, console: Console) -> None:
    """A summary and the busiest tasks."""
    if result.cycles is None:
        console.print(f"no cycle count: {result.values.outcome}", markup=False)
        console.print(result.values.explanation or "", markup=False, soft_wrap=True)
        return
    clock = result.clock_mhz
    time = f" = {result.cycles / clock / 1000:.3f} ms at {clock:g} MHz" if clock else ""
    console.print(f"{result.cycles:,} cycles{time}, and {result.launch_cycles:,} for launches; values "
                  f"{'passed' if result.values.passed else 'FAILED'} ({ORIGIN})", soft_wrap=True)
    if result.first_output is not None:
        console.print(f"first output after {result.first_output:,} cycles")
    if result.interval is not None:
        console.print(f"steady state: one invocation per {result.interval:,} cycles")
    table = Table("task", "begin", "end", "busy", "waits to read", "waits to write", "mostly for", title="tasks by cycles busy")
    for task in sorted(result.tasks, key=lambda task: -task.busy)[:MOST_TASKS]:
        table.add_row(task.name, f"{task.begin:,}", f"{task.end:,}", f"{task.busy:,}", f"{task.stalled_reading:,}",
                      f"{task.stalled_writing:,}", _main_cause(task))
    console.print(table)


MOST_TASKS = 20


def _main_cause(task: TaskTime) -> str:
    totals: dict[str, int] = {}
    for wait in task.waits:
        totals[wait.channel] = totals.get(wait.channel, 0) + wait.cycles
    return max(totals, key=lambda name: totals[name]) if totals else ""


def print_waits(result: SimulationResult, name: str, console: Console) -> None:
    """What one task waits for over time."""
    task = next((task for task in result.tasks if task.name == name), None)
    if task is None:
        names = ", ".join(task.name for task in result.tasks)
        raise CompileError(f"no task is called '{name}'", accepted=names)
    ends = {fifo.name: (fifo.producer, fifo.consumer) for fifo in result.fifos}
    table = Table("from", "to", "cycles lost", "waits to", "for", title=f"what {name} waits for")
    for wait in task.waits:
        producer, consumer = ends.get(wait.channel, ("", ""))
        table.add_row(f"{wait.begin:,}", f"{wait.end:,}", f"{wait.cycles:,}",
                      f"{'read' if wait.reads else 'write'} {wait.channel}", producer if wait.reads else consumer)
    console.print(table)
