"""What `stc simulate` prints of a run that ended: cycles, tasks, FIFOs, and the critical path."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table

from stc.simulation.critical_path import PathShare, critical_path, summary
from stc.simulation.memory_traffic import ChannelUse, ChannelUses
from stc.simulation.path_roles import PathRole, total
from stc.simulation.simulate import SimulationResult, TaskTime
from stc.simulation.utilisation import TaskUse, Utilisation
from stc.tools.check_tables import near_ties_told

MOST_ROWS = 20
MOST_SHARES = 10
MOST_CHANNELS = 8


def path_json(result: SimulationResult, roles: Sequence[PathRole] = ()) -> dict[str, Any]:
    """The critical path in order of time, what makes it up, and by what tasks are for."""
    parts = critical_path(result)
    return {
        "parts": [vars(part) for part in parts],
        "summary": [vars(share) for share in summary(parts)],
        "roles": [{**vars(role), "filling": role.filling} for role in roles],
    }


def print_run(
    result: SimulationResult, use: Utilisation | None, origin: str, console: Console, roles: Sequence[PathRole] = ()
) -> None:
    """Everything about a run that ended, in tables of at most MOST_ROWS rows. `use`: None where it is not known; `roles`: of its
    critical path."""
    _print_totals(result, origin, console)
    if use is not None:
        console.print(f"utilisation ({use.origin}): {use.text}", markup=False, soft_wrap=True)
    console.print(_tasks(result, {task.task: task for task in use.tasks} if use is not None else {}))
    if result.fifos:
        console.print(_fifos(result))
    if result.memory is not None:
        print_channels(result.memory, console)
    console.print(_path(result))
    if any(role.iterating is not None for role in roles):
        console.print(_roles(roles))


def _roles(roles: Sequence[PathRole]) -> Table:
    """The largest of them in the order of the path, and the rest in a row."""
    kept = {role.role for role in sorted(roles, key=lambda role: -role.cycles)[:MOST_ROWS]}
    rest = [role for role in roles if role.role not in kept]
    shown = [role for role in roles if role.role in kept] + ([total(rest, f"{len(rest)} others, all with --json")] if rest else [])
    return role_table("critical path by what tasks are for", "module or kind", [*shown, total(roles, "all")])


def role_table(title: str, what: str, rows: Sequence[PathRole], launches: Sequence[int] = ()) -> Table:
    """Where cycles went: one row each. `launches`: the cycles of these, which are beside those of each row."""
    more = ("and launches",) if launches else ()
    table = _table(title, (what,), "cycles", "iterations", "fill, drain", "waits for memory", "FIFOs", "multiplies", *more)
    for number, row in enumerate(rows):
        table.add_row(row.role, f"{row.cycles:,}", *("" if part is None else f"{part:,.0f}" for part in row.parts),
                      *(f"{cycles:,}" for cycles in launches[number:number + 1]))
    return table


def print_channels(uses: ChannelUses, console: Console) -> None:
    """The channels of external memory, the busiest first, the last row for all that are not shown."""
    table = _table("memory channels by cycles busy", ("channel", "ports"), "bytes read", "written", "busy", "idle", "of its peak")
    shown = uses.busiest_first[:MOST_CHANNELS]
    for use in shown:
        busy = _from_to(use.busy, use.busy_most)
        idle = "" if use.idle is None else _from_to(use.idle - (use.busy_most - use.busy), use.idle)
        share = "" if use.share is None else f"{use.share:.1%}"
        table.add_row(use.name, _ports(use), f"{use.read:,}", f"{use.written:,}", busy, idle, share)
    if rest := uses.busiest_first[MOST_CHANNELS:]:
        sums = (sum(use.read for use in rest), sum(use.written for use in rest))
        most = max(use.busy_most for use in rest)
        table.add_row(f"{len(rest)} others", "all with --json", *(f"{number:,}" for number in sums), f"{most:,} or less")
    console.print(table)
    console.print(f"memory channels: {uses.origin}", markup=False, soft_wrap=True)


def _from_to(least: int, most: int) -> str:
    return f"{least:,}" if least == most else f"{least:,} to {most:,}"


def _ports(use: ChannelUse) -> str:
    return use.ports[0] + (f" and {len(use.ports) - 1} more" if len(use.ports) > 1 else "")


def _print_totals(result: SimulationResult, origin: str, console: Console) -> None:
    cycles = result.cycles or 0
    values = "FAILED" if result.values.failed else "undecided" if result.values.undecided else "passed"
    near = [check for check in result.values.outputs if check.near_ties]
    values = f"{values}, near-ties: {near[0].near_ties}" if near else values if result.compared else "not compared"
    lines = [f"{cycles:,} cycles{_time(result, cycles)}; values {values}", f"origin: {origin}"]
    if result.steps > 1:
        lines.append(f"a launch of {result.steps} steps, {cycles / result.steps:,.0f} cycles each")
    lines += [f"{check.name}: {near_ties_told(check)}" for check in near]
    lines += [why] if (why := result.values.explanation) else []
    if result.launch_cycles > 0:
        lines.append(f"launching costs {result.launch_cycles:,} cycles more{_time(result, result.launch_cycles)}")
    if result.first_output is not None:
        lines.append(f"first output after {result.first_output:,} cycles")
    if result.interval is not None:
        count = min(len(ends) for ends in result.ends.values())
        lines.append(f"steady state: one invocation per {result.interval:,} cycles (the last of {count})")
    if result.tokens_per_second is not None:
        rate = f"{result.tokens_per_second / 1e6:.1f} million tokens per second"
        lines.append(f"simulated {result.tokens:,} tokens in {result.values.seconds:.3f} s: {rate}{_of_processor(result)}")
    for line in lines:
        console.print(line, markup=False, soft_wrap=True)


def _of_processor(result: SimulationResult) -> str:
    rate = result.tokens_per_cpu_second
    return "" if rate is None else f" ({rate / 1e6:.1f} million per second of processor time)"


def _time(result: SimulationResult, cycles: int) -> str:
    return f" = {cycles / result.clock_mhz / 1000:.3f} ms at {result.clock_mhz:g} MHz" if result.clock_mhz else ""


def _table(title: str, names: tuple[str, ...], *numbers: str) -> Table:
    table = Table(title=title, title_justify="left", min_width=70)
    for name in names:
        table.add_column(name, overflow="fold")
    for number in numbers:
        table.add_column(number, justify="right")
    return table


def _title(what: str, count: int, most: int) -> str:
    return what if count <= most else f"{what}: {most} of {count}, all with --json"


def _tasks(result: SimulationResult, uses: Mapping[str, TaskUse]) -> Table:
    title = _title("tasks by cycles busy", len(result.tasks), MOST_ROWS)
    used = ("multiplies", "moves") if uses else ()
    causes = ("bound by",) if uses else ("waits mostly for",)
    table = _table(title, ("task", *causes), "begin", "end", "busy", "waits to read", "waits to write", *used)
    for task in sorted(result.tasks, key=lambda task: -task.busy)[:MOST_ROWS]:
        numbers = (task.begin, task.end, task.busy, task.stalled_reading, task.stalled_writing)
        use = uses.get(task.name)
        cause, shares = (_main_cause(task), []) if use is None else (use.bound_by, _shares(use))
        table.add_row(task.name, cause, *(f"{number:,}" for number in numbers), *shares)
    return table


def _shares(use: TaskUse) -> list[str]:
    return [f"{cycles / use.cycles:.1%}" if cycles else "" for cycles in (use.multiplying, use.moving)]


def _main_cause(task: TaskTime) -> str:
    totals: dict[str, int] = {}
    for wait in task.waits:
        totals[wait.channel] = totals.get(wait.channel, 0) + wait.cycles
    return max(totals, key=lambda name: totals[name]) if totals else ""


def _fifos(result: SimulationResult) -> Table:
    title = _title("FIFOs by cycles that their writers wait for room", len(result.fifos), MOST_ROWS)
    table = _table(title, ("FIFO",), "tokens", "most at once", "of depth", "writer waits", "reader waits")
    for fifo in sorted(result.fifos, key=lambda fifo: (-fifo.stalled_writer, -fifo.highest_occupancy))[:MOST_ROWS]:
        depth = "unlimited" if fifo.depth is None else f"{fifo.depth:,}"
        table.add_row(fifo.name, f"{fifo.tokens:,}", f"{fifo.highest_occupancy:,}", depth, f"{fifo.stalled_writer:,}",
                      f"{fifo.stalled_reader:,}")
    return table


_WORDS = {
    "work": "{} works",
    "memory": "{} waits for external memory",
    "fifo": "tokens and slots pass through FIFO {}",
    "start": "{} waits for what no task of the design does",
}


def _path(result: SimulationResult) -> Table:
    shares = summary(critical_path(result))
    total = max(1, sum(share.cycles for share in shares))
    table = _table("critical path: what the last cycle waited for, back to the first", ("what",), "cycles", "share")
    for share in shares[:MOST_SHARES]:
        table.add_row(_WORDS[share.kind].format(share.name), f"{share.cycles:,}", f"{share.cycles / total:.1%}")
    rest: list[PathShare] = list(shares[MOST_SHARES:])
    if rest:
        cycles = sum(share.cycles for share in rest)
        table.add_row(f"{len(rest)} others, all with --json", f"{cycles:,}", f"{cycles / total:.1%}")
    return table
