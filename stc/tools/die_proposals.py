"""On which die each task of an emitted design would lie, and the schedule that makes such cuts compute units of their own.

The vendor's tools place a compute unit as a whole, and one that is larger than a die wherever they like: nothing can be told to
them about a task inside. What is proposed here for tasks is a plan until they are units: `--cut` writes the schedule that says so.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from functools import reduce
from math import prod
from pathlib import Path
from typing import Any

import networkx as nx
from rich.table import Table
from rich.text import Text

from stc.analysis.resource_figures import ResourceCount, adapter, fifo, local_memory
from stc.design_space.dies import HANDSHAKE, NAMES, DieGraph, DieLink, DiePlan, Part, assign, greedy_wires
from stc.diagnostics import CompileError
from stc.manifest.schema import Kernel, Manifest
from stc.network.units import complaint_about_link
from stc.platforms.platform import PLATFORM_FILE, Platform, load_platform
from stc.simulation.task_graphs import task_graphs
from stc.tools.atomic_files import write_atomically
from stc.tools.consoles import output
from stc.tools.schedule_file import FILE, with_cut
from stc.transforms.linalg.apply_schedule import OWN_TABLE, read_tables
from stc.transforms.stream.assign_dies import as_resources, crossing_of
from stc.transforms.stream.assign_units import UNITS_TABLE


@dataclass(frozen=True)
class Proposal:
    """`graph`: of groups of tasks that no cut may part, called by the first of `members`; `greedy_wires`: of the baseline, None
    where it finds none; `cycles`: of a crossing."""

    graph: DieGraph
    members: Mapping[str, tuple[str, ...]]
    plan: DiePlan
    greedy_wires: int | None
    cycles: int

    @property
    def dies(self) -> dict[str, int]:
        """The die of each task."""
        return {task: die for name, die in self.plan.dies.items() for task in self.members[name]}

    def as_json(self) -> dict[str, Any]:
        taken = self.graph.taken(self.plan.dies)
        return {
            "origin": "estimated: no synthesis; proposed: nothing is told to the vendor's tools",
            "tasks": self.dies,
            "dies": [{"taken": asdict(some), "may_be_used": asdict(has)} for some, has in zip(taken, self.graph.dies, strict=True)],
            "boundary_wires": self.graph.boundary_wires(self.plan.dies),
            "wires_may_be_used": self.graph.wires,
            "least_wires": self.plan.least_wires,
            "greedy_wires": self.greedy_wires,
            "crossing_fifos": [{**asdict(link), "boundaries": apart} for link, apart in self.crossing()],
            "crossing_cycles": self.cycles,
            "solver_seconds": self.plan.seconds,
        }

    def crossing(self) -> list[tuple[DieLink, int]]:
        """The FIFOs between dies, and how many boundaries each crosses."""
        dies = self.plan.dies
        found = [(link, abs(dies[link.first] - dies[link.second])) for link in self.graph.links]
        return [(link, apart) for link, apart in found if apart]

    def show(self) -> None:
        tasks = self.dies
        table = Table(title="dies that tasks would lie on (proposed), and what a plan may use of them (estimated)")
        for name in ("die", "tasks", *NAMES.values()):
            table.add_column(name, justify="right")
        for die, (taken, has) in enumerate(zip(self.graph.taken(self.plan.dies), self.graph.dies, strict=True)):
            shares = (f"{getattr(taken, kind):,.0f} of {getattr(has, kind):,.0f}" for kind in NAMES)
            table.add_row(str(die), str(list(tasks.values()).count(die)), *shares)
        output.print(table)
        if crossing := self.crossing():
            fifos = Table(title=f"FIFOs that cross, each boundary in {self.cycles} cycles either way")
            for name in ("FIFO", "from", "to", "bits", "boundaries"):
                fifos.add_column(name, overflow="fold")
            for link, apart in crossing:
                bits, ends = f"{link.wires - HANDSHAKE:,}", (f"{end} ({self.plan.dies[end]})" for end in (link.first, link.second))
                fifos.add_row(*(Text(cell) for cell in (link.name, *ends, bits, str(apart))))
            output.print(fifos)
        wires, least = self.graph.crossing_wires(self.plan.dies), self.plan.least_wires
        proved = "no cut has fewer" if wires == least else f"no cut has fewer than {least:,}"
        greedy = "finds no cut that fits" if self.greedy_wires is None else f"{self.greedy_wires:,}"
        output.print(f"{wires:,} wires cross; {proved} (integer program, {self.plan.seconds:.1f} s); the greedy baseline: {greedy}")
        output.print(
            "nothing of this is told to the vendor's tools, which place a compute unit as a whole: "
            "--cut FILE writes a schedule with a unit for each die",
            soft_wrap=True,
        )


def propose(manifest: Manifest, directory: Path) -> Proposal:
    """The dies of all tasks with the fewest wires. CompileError where they fit no dies, or nothing is known of tasks."""
    platform = load_platform(str(directory / PLATFORM_FILE))
    graph, members = _graph(manifest, platform)
    plan = assign(graph)
    crossing = crossing_of(platform)
    return Proposal(graph, members, plan, greedy_wires(graph), crossing.cycles if crossing is not None else 0)


def _graph(manifest: Manifest, platform: Platform) -> tuple[DieGraph, dict[str, tuple[str, ...]]]:
    takes = reduce(lambda found, kernel: _merged(found, _tasks(kernel, platform)), manifest.kernels, dict[str, ResourceCount]())
    tied: nx.Graph[str] = nx.Graph()
    tied.add_nodes_from(takes)
    channels = [channel for graph in task_graphs(manifest) for channel in graph.channels]
    tied.add_edges_from((each.producer, each.consumer) for each in channels if complaint_about_link(each) is not None)
    groups = [tuple(sorted(group, key=list(takes).index)) for group in nx.connected_components(tied)]
    group_of = {task: group[0] for group in groups for task in group}
    ports = {port.name for kernel in manifest.kernels for port in kernel.ports}
    bound = {group_of[task.name] for kernel in manifest.kernels for task in kernel.tasks if ports & {*task.reads, *task.writes}}
    parts = [
        Part(group[0], as_resources(reduce(ResourceCount.plus, (takes[task] for task in group))),
             platform.memory.slr if group[0] in bound else None)
        for group in groups
    ]
    links = [
        DieLink(each.name, group_of[each.producer], group_of[each.consumer], each.bits + HANDSHAKE)
        for each in channels
        if group_of[each.producer] != group_of[each.consumer]
    ]
    crossing = crossing_of(platform)
    wires = None if crossing is None else crossing.wires
    return DieGraph(tuple(parts), tuple(links), platform.usable_of_dies, wires), {group[0]: group for group in groups}


def _merged(found: dict[str, ResourceCount], more: Iterator[tuple[str, ResourceCount]]) -> dict[str, ResourceCount]:
    for task, count in more:
        found[task] = found.get(task, ResourceCount()).plus(count)
    return found


def _tasks(kernel: Kernel, platform: Platform) -> Iterator[tuple[str, ResourceCount]]:
    """What each task takes, with the channels that it reads and the adapters of its ports; a ring as memory of one bank."""
    for task in kernel.tasks:
        if task.resources is None:
            accepted = "a project of this version of stc"
            raise CompileError(f"nothing is known of what task '{task.name}' takes", where=kernel.name, accepted=accepted)
        yield task.name, ResourceCount(**asdict(task.resources))
    for stream in kernel.streams:
        yield stream.consumer, fifo(stream.bits, stream.depth)
    for block in kernel.blocks:
        yield block.consumer, local_memory(block.bits, prod(block.shape), 1).times(block.count)
    user = {name: task.name for task in kernel.tasks for name in (*task.reads, *task.writes)}
    bundles = {port.bundle or port.name: port for port in kernel.ports}
    for port in bundles.values():
        yield user[port.name], adapter(8 * port.bytes // port.words, platform.cycle_ns, platform.memory.word_bits)


def write_cut(proposal: Proposal, directory: Path, out: Path) -> None:
    """Write the project's schedule with a unit for each die that tasks lie on. CompileError where it cannot be."""
    source = directory / FILE
    said = read_tables(str(source)).get(OWN_TABLE, {}).get(UNITS_TABLE, {})
    units = {task: f"die{die}" for task, die in proposal.dies.items() if not said or task in said}
    if len(set(units.values())) < 2:
        raise CompileError("all tasks have room on one die: there is nothing to cut", where=str(directory), accepted="no --cut")
    if out.exists():
        raise CompileError("this file exists", where=str(out), accepted="a new file")
    write_atomically(out, with_cut(source.read_text(encoding="utf-8"), units, str(source)))
