"""The page: everything that is known about a project and one timed run of it, rendered into one HTML file without references."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined, Template
from markupsafe import Markup
from plotly.offline import get_plotlyjs

from stc.manifest.schema import Kernel, Manifest
from stc.simulation.critical_path import PathPart, critical_path
from stc.simulation.explanation import Explanation
from stc.simulation.path_roles import PathRole, path_roles, role_names
from stc.simulation.projects import ORIGIN
from stc.simulation.simulation_result import SimulationResult
from stc.simulation.utilisation import Utilisation
from stc.tools.report.drawing import BOX_HEIGHT, BOX_WIDTH, drawing
from stc.tools.report.facts import ChannelFacts, KernelFacts, TaskFacts, kernel_facts
from stc.tools.report.figures import curves, timeline
from stc.tools.report.pictures import channel_map, die_plan, phases
from stc.tools.report.tables import (
    Table,
    Value,
    channel_tables,
    compiled_sizing_table,
    die_tables,
    fifo_table,
    loop_table,
    memory_table,
    path_tables,
    port_table,
    resource_tables,
    role_tables,
    sizing_tables,
    stage_table,
    tables_of,
    task_table,
)


@dataclass(frozen=True)
class Tile:
    """A key figure."""

    title: str
    value: str
    note: str
    origin: str


@dataclass(frozen=True)
class Measured:
    """A section that another command may not have filled yet: tables, or what to run for them."""

    tables: tuple[Table, ...]
    origin: str
    otherwise: str


def render_page(
    manifest: Manifest,
    report: Mapping[str, Any],
    sizing: Mapping[str, Any] | None,
    result: SimulationResult,
    explanation: Explanation | None = None,
    use: Utilisation | None = None,
    at: Manifest | None = None,
) -> str:
    """The HTML. `report` is report.json ({} where there is none), `sizing` fifo_sizing.json of `stc size`.

    `explanation`: why the run of `result` could not go on; `use`: what it used of multipliers and ports; `at`: `manifest` at the
    values of its scalars that the run had.
    """
    path = critical_path(result)
    kernels = [kernel_facts(kernel, result, path, key_of(kernel, manifest), use) for kernel in manifest.kernels]
    return template("page.html.j2").render(
        manifest=manifest,
        report=report,
        result=result,
        kernels=[(facts, drawing(facts), task_table(facts), fifo_table(facts)) for facts in kernels],
        tiles=tiles(report, result, kernels, use),
        sections=sections(report, sizing, path, path_roles(at or manifest, result, path), result.launch_cycles),
        channels=channel_tables(result.memory),
        channels_origin=result.memory.origin if result.memory is not None else "",
        channel_map=channel_map(result.memory, manifest.memory.channel_bytes_per_cycle if manifest.memory is not None else None),
        phases=phases(path, role_names(manifest)),
        die_plan=die_plan(report.get("dies")),
        memory=memory_table(report),
        converters=tables_of(report.get("converter_buffers", {}).get("list")),
        proofs=tables_of({key: value for key, value in report.get("proofs", {}).items() if key != "list"}),
        explanation=explanation.text if explanation is not None else None,
        culprits=explanation.culprits if explanation is not None else (),
        ports=port_table(manifest),
        loops=[(kernel.name, loop_table(kernel)) for kernel in manifest.kernels],
        compile_times=compile_times(report),
        timed=ORIGIN,
        notes=getattr(result, "notes", ()),
        box_width=BOX_WIDTH,
        box_height=BOX_HEIGHT,
        data=embedded({**page_data(kernels), "culprits": explanation.culprits if explanation is not None else ()}),
        plotly=plotly_script(),
    )


def render_model(name: str, stages: Sequence[tuple[PathRole, int]], pages: Mapping[str, str]) -> str:
    """The HTML of a model's own page: a row for each stage. `pages`: theirs, relative to this one."""
    return template("model.html.j2").render(name=name, stages=stage_table(stages), pages=pages, timed=ORIGIN)


@cache
def template(name: str) -> Template:
    """Compiled once."""
    environment = Environment(
        loader=PackageLoader("stc.tools.report", "templates"),
        undefined=StrictUndefined,
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(number=number, share=share, written=written)
    return environment.get_template(name)


def key_of(kernel: Kernel, manifest: Manifest) -> str:
    """What begins the keys of a kernel's channels: several kernels may have FIFOs of the same name."""
    return f"{kernel.name}/" if len(manifest.kernels) > 1 else ""


def plotly_script() -> Markup:
    """plotly.js, as it can stand inside a script element."""
    return Markup(get_plotlyjs().replace("</script", "<\\/script"))


def embedded(data: object) -> Markup:
    """JSON that can stand inside a script element."""
    return Markup(json.dumps(data, separators=(",", ":")).replace("<", "\\u003c"))


# What scripts read ----------------------------------------------------------------------------------------------------


def page_data(kernels: list[KernelFacts]) -> dict[str, Any]:
    """Tasks and channels by name for tooltips, curves, and one timeline per kernel (None where it did not end)."""
    return {
        "tasks": {task.name: _task_data(task) for kernel in kernels for task in kernel.tasks},
        "fifos": {channel.key: _channel_data(channel) for kernel in kernels for channel in kernel.channels},
        "timelines": [timeline(kernel) if kernel.cycles is not None else None for kernel in kernels],
    }


def _task_data(task: TaskFacts) -> dict[str, Any]:
    return {
        "kind": task.kind,
        "module": task.module,
        "utilisation": task.utilisation,
        "blocked": task.blocked,
        "critical": task.critical,
        "cause": task.main_cause,
        "time": None
        if task.time is None
        else {
            "begin": task.time.begin,
            "end": task.time.end,
            "busy": task.time.busy,
            "reading": task.time.stalled_reading,
            "writing": task.time.stalled_writing,
        },
        "resources": dict(task.resources),
    }


def _channel_data(channel: ChannelFacts) -> dict[str, Any]:
    data = {key: value for key, value in asdict(channel).items() if key not in ("time", "key")}
    data |= {"highest": channel.highest, "memory": channel.memory_bits}
    if channel.time is not None:
        data |= {"reader": channel.time.stalled_reader, "writer": channel.time.stalled_writer, **curves(channel.time)}
    return data


# Key figures ----------------------------------------------------------------------------------------------------------


def tiles(
    report: Mapping[str, Any], result: SimulationResult, kernels: list[KernelFacts], use: Utilisation | None
) -> list[Tile]:
    """The figures at the top of the page, those that are known."""
    known = (*_time_tiles(result), *_use_tiles(use), *_size_tiles(kernels), *_report_tiles(report), *_error_tiles(result))
    return [tile for tile in known if tile]


def _use_tiles(use: Utilisation | None) -> list[Tile]:
    if use is None:
        return []
    found: list[Tile] = []
    if use.possible:
        done = f"{use.products:,} multiply-accumulates; {use.binding}"
        found.append(Tile("use of DSPs", share(use.products / use.possible), done, f"{ORIGIN}; DSPs estimated"))
    if use.possible_bytes:
        moved = f"{use.bytes:,} bytes, of what its ports could have moved"
        found.append(Tile("use of ports", share(use.bytes / use.possible_bytes), moved, ORIGIN))
    return found


def _time_tiles(result: SimulationResult) -> list[Tile | None]:
    cycles, clock = result.cycles, result.clock_mhz
    if cycles is None:
        return [Tile("cycles", "–", f"the run did not end: {result.values.outcome}", ORIGIN)]
    time = f"{milliseconds(cycles, clock)} at {clock:g} MHz" if clock else "no clock in the manifest"
    first = result.first_output
    return [
        Tile("cycles", f"{cycles:,}", f"{time}, and {result.launch_cycles:,} cycles for launches", ORIGIN),
        Tile("first output", f"{first:,}", "cycle of the first word written", ORIGIN) if first is not None else None,
    ]


def milliseconds(cycles: int, clock_mhz: float) -> str:
    """The time of `cycles`, in µs below a millisecond."""
    micro = cycles / clock_mhz
    return f"{micro:.1f} µs" if micro < 1000 else f"{micro / 1000:,.2f} ms"


def _size_tiles(kernels: list[KernelFacts]) -> list[Tile | None]:
    tasks = sum(len(kernel.tasks) for kernel in kernels)
    channels = [channel for kernel in kernels for channel in kernel.channels]
    bits = sum(channel.memory_bits or 0 for channel in channels if not channel.ring)
    rings = sum(channel.ring for channel in channels)
    known = all(channel.bits is not None for channel in channels)
    note = (f"{bits:,} bits at their depths" if known else "their tokens' bits not known") + f"; {counted(rings, 'ring')} of blocks"
    return [
        Tile("tasks", f"{tasks:,}", f"in {counted(len(kernels), 'kernel')}", "counted in the manifest"),
        Tile("FIFOs", f"{len(channels) - rings:,}", note, "counted in the manifest"),
    ]


def _report_tiles(report: Mapping[str, Any]) -> list[Tile | None]:
    memory, traffic = report.get("memory_bytes"), report.get("external_traffic_bytes")
    found: list[Tile | None] = []
    if (host := report.get("host_parts")) is not None:
        names = ", ".join(part["call"] for part in host["list"])
        found.append(Tile("on the host", counted(len(host["list"]), "call"), f"{names}: in PyTorch, not timed", host["origin"]))
    if (bitstreams := report.get("bitstreams")) is not None and bitstreams["list"]:
        found.append(Tile("bitstreams", f"{len(bitstreams['list'])}", bitstreams["note"], bitstreams["origin"]))
    if memory is not None:
        on_chip = sum(memory[key] for key in ("converters", "fifos", "local"))
        found.append(Tile("on-chip buffers", size(on_chip), "converters, FIFOs, tiles and accumulators", memory["origin"]))
    if traffic is not None:
        moved = traffic["read"] + traffic["written"]
        found.append(Tile("external traffic", size(moved), "per run, both directions", traffic["origin"]))
    return found


def counted(count: int, word: str) -> str:
    """`1 ring`, `2 rings`."""
    return f"{count:,} {word}{'' if count == 1 else 's'}"


def size(count: int) -> str:
    """Bytes in the largest binary unit below them."""
    value = float(count)
    for unit in ("B", "KiB", "MiB"):
        if value < 1024:
            return f"{value:,.0f} B" if unit == "B" else f"{value:,.1f} {unit}"
        value /= 1024
    return f"{value:,.1f} GiB"


def _error_tiles(result: SimulationResult) -> list[Tile | None]:
    if not result.values.outputs:
        return []
    worst = max(result.values.outputs, key=lambda check: check.max_abs_error / (check.max_abs_reference or 1))
    relative = worst.max_abs_error / (worst.max_abs_reference or 1)
    note = f"of max|{worst.name}|; tolerance {worst.tolerance:g}"
    return [Tile("largest error", f"{relative:.1e}", note, "executed: against the golden output")]


# Sections that other commands fill ------------------------------------------------------------------------------------


def sections(
    report: Mapping[str, Any], sizing: Mapping[str, Any] | None, path: Sequence[PathPart], roles: Sequence[PathRole],
    launch: int,
) -> dict[str, Measured]:
    """FIFO sizing, critical path and resources."""
    return {
        "sizing": Measured(
            (*compiled_sizing_table(report.get("fifo_sizing")), *sizing_tables(sizing)),
            _sizing_origin(report, sizing),
            "run stc size DIR",
        ),
        "critical": Measured((*role_tables(roles, launch), *path_tables(path)), ORIGIN, "the run did not end"),
        "resources": Measured(
            (*resource_tables(report.get("resources")), *die_tables(report.get("dies"))),
            _origin(report, "resources"),
            "compile again with this version of stc",
        ),
    }


def _sizing_origin(report: Mapping[str, Any], sizing: Mapping[str, Any] | None) -> str:
    origins = {kernel["origin"]: "when compiling" for kernel in report.get("fifo_sizing", {}).get("kernels") or ()}
    if sizing is not None:
        origins[sizing["origin"]] = "stc size"
    return "; ".join(f"{by}: {origin}" for origin, by in origins.items())


def _origin(report: Mapping[str, Any], section: str) -> str:
    return (report.get(section) or {}).get("origin", "")


def compile_times(report: Mapping[str, Any]) -> list[tuple[str, float, float, list[tuple[str, float]]]]:
    """For each stage its seconds, its share of the longest, and the passes in it."""
    stages = {name: value for name, value in report.get("compile_seconds", {}).items() if name != "origin"}
    longest = max(stages.values(), default=0) or 1
    passes = report.get("pass_seconds", [])
    return [
        (name, seconds, seconds / longest, [(p["pass"], p["seconds"]) for p in passes if p["stage"] == name])
        for name, seconds in stages.items()
    ]


# How figures are written ----------------------------------------------------------------------------------------------


def number(value: Value) -> str:
    """With thousands separators; three significant digits for what is not an integer."""
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str):
        return value
    if isinstance(value, int) or value.is_integer():
        return f"{int(value):,}"
    return f"{value:,.1f}" if abs(value) >= 100 else f"{value:.3g}"


def share(value: float | None) -> str:
    """A share from 0 to 1 as a percentage."""
    if value is None:
        return "–"
    return f"{100 * value:.0f} %" if value >= 0.0995 or value == 0 else f"{100 * value:.1f} %" if value >= 0.0005 else "<0.1 %"


def written(value: Value, kind: str) -> str:
    """A cell of a table."""
    if kind == "share" and isinstance(value, int | float):
        return share(value)
    return number(value)
