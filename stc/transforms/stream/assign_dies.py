"""`assign-dies`: on which die of the device each compute unit lies."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from stc.analysis.kernel_memory import entry_bits
from stc.analysis.resource_figures import ResourceCount
from stc.analysis.resources import ORIGIN, unit_resources
from stc.analysis.task_graph import ends_of, streams_of, tasks_of
from stc.design_space.dies import FITTING, HANDSHAKE, DieGraph, DieLink, Part, complaint_about, greedy_wires
from stc.diagnostics import BeyondBudget, CompileError
from stc.dialects.dataflow import KernelOp, TaskOp
from stc.dialects.stream import CreateOp
from stc.platforms.platform import DEFAULT_PLATFORM, Crossing, Platform, Resources, load_platform, share_of
from stc.strategies.dies import DIES, UNASSIGNED
from stc.transforms.finding_pass import FindingPass
from stc.transforms.linalg.apply_schedule import OWN_TABLE, read_tables
from stc.transforms.pass_pipeline import did_you_mean
from stc.transforms.stream.assign_units import has_port

DIES_TABLE = "dies"


@dataclass(frozen=True)
class AssignDies(FindingPass):
    """Say of each compute unit on which die of the device it lies: connectivity.cfg then has its `slr=`.

    All kernels of the module share the device. Units with memory ports stay at the memory's die. What lies on a die is within what
    a plan may use of it (estimated), and so are the wires between two neighbours. A FIFO whose ends lie on different dies gets the
    cycles that the platform says of a crossing, as many times as dies are apart: each token takes so much longer to its reader,
    and each slot to its writer, in the schedule that FIFOs are sized by and in the simulation. So `size-fifos` and `choose-storage`
    run once more behind this pass. Where units have their dies already, it only checks that they still have room there. A FIFO
    counts at the unit that reads it.

    Options:
    * `strategy`: how dies are chosen (`stc.strategies.dies`): unassigned (default), optimum, greedy.
    * `schedule`: path of a `schedule.toml` whose table `stc.dies` has the die of each unit instead: nothing is solved.
    * `platform`: whose dies they are.

        dataflow.kernel @k(...) -> (...) { ... unit @memory ... unit @body ... }
        %s = stream.create @s {tokens = 64} : !stream.stream<vector<8xf32>, depth: 2>
      becomes, where the body has no room beside the memory's unit
        dataflow.kernel @k(...) -> (...) dies (@memory = 0, @body = 1) { ... unit @memory ... unit @body ... }
        %s = stream.create @s {tokens = 64, crossing = 4} : !stream.stream<vector<8xf32>, depth: 2>
    """

    name = "assign-dies"

    strategy: str = UNASSIGNED
    schedule: str = ""
    platform: str = DEFAULT_PLATFORM

    def find(self, ctx: Context, op: ModuleOp) -> dict[str, Any] | None:
        """What lies where, as report.json has it; None where nothing is assigned."""
        platform = load_platform(self.platform)
        kernels = [found for found in op.walk() if isinstance(found, KernelOp)]
        dies = {_name(kernel, unit): die for kernel in kernels for unit, die in kernel.dies.items()}
        given = {} if dies else _given(self.schedule)
        if not dies and not given and self.strategy == UNASSIGNED:
            return None
        graph = die_graph(kernels, platform)
        where, refusal = self.name, BeyondBudget
        if given:
            dies, where, refusal = dict(given), f"{self.schedule} [{OWN_TABLE}.{DIES_TABLE}]", CompileError
            _require_units(dies, graph, where)
        if dies and (complaint := complaint_about(graph, dies)):
            raise refusal(complaint, where=where, accepted=FITTING)
        dies = dies or self._decided(graph)
        if not dies:
            return None
        for kernel in kernels:
            kernel.dies = {unit: dies[_name(kernel, unit)] for unit in kernel.units}
            for stream in streams_of(kernel):
                stream.crossing = _cycles(kernel, stream, platform)
        return _report(kernels, graph, dies, platform)

    def _decided(self, graph: DieGraph) -> dict[str, int]:
        """By the strategy; BeyondBudget, for which a cheaper design may be made, says which one found none."""
        try:
            return dict(DIES.decide(self.strategy, graph))
        except BeyondBudget as error:
            raise BeyondBudget(error.what, where=f"{DIES.name} strategy '{self.strategy}'", accepted=error.accepted) from None


def die_graph(kernels: list[KernelOp], platform: Platform) -> DieGraph:
    """The units of all kernels, and the links between units of one."""
    crossing = crossing_of(platform)
    parts = [part for kernel in kernels for part in _parts(kernel, platform)]
    links = [link for kernel in kernels for link in _links(kernel)]
    return DieGraph(tuple(parts), tuple(links), platform.usable_of_dies, None if crossing is None else crossing.wires)


def crossing_of(platform: Platform) -> Crossing | None:
    """What the platform says of crossings, None where it has one die; CompileError where it has several and says nothing."""
    if len(platform.slrs) > 1 and platform.crossing is None:
        what = f"the platform has {len(platform.slrs)} dies and no table 'crossing'"
        raise CompileError(what, where=platform.name, accepted="[crossing] with its cycles and wires, or --dies unassigned")
    return platform.crossing if len(platform.slrs) > 1 else None


def as_resources(count: ResourceCount) -> Resources:
    """What a platform counts in blocks of 36 kbit."""
    return Resources(count.lut, count.ff, count.bram18 / 2, count.uram, count.dsp)


def _parts(kernel: KernelOp, platform: Platform) -> Iterator[Part]:
    bound = {_unit(kernel, task) for task in tasks_of(kernel) if has_port(task)}
    for unit, count in unit_resources(kernel, platform.cycle_ns, platform.memory.word_bits).items():
        yield Part(_name(kernel, unit), as_resources(count), platform.memory.slr if unit in bound else None)


def _links(kernel: KernelOp) -> Iterator[DieLink]:
    for stream in streams_of(kernel):
        first, second = (_name(kernel, _unit(kernel, task)) for task in ends_of(stream.result))
        if first != second:
            yield DieLink(stream.sym_name.data, first, second, entry_bits(stream.result.type.element_type) + HANDSHAKE)


def _name(kernel: KernelOp, unit: str) -> str:
    """What a unit is called in the whole design."""
    own = kernel.sym_name.data
    return own if unit == own else f"{own}.{unit}"


def _unit(kernel: KernelOp, task: TaskOp) -> str:
    return task.unit or kernel.sym_name.data


def _cycles(kernel: KernelOp, stream: CreateOp, platform: Platform) -> int:
    first, second = (kernel.dies[_unit(kernel, task)] for task in ends_of(stream.result))
    crossing = crossing_of(platform)
    return 0 if crossing is None else abs(first - second) * crossing.cycles


def _report(kernels: list[KernelOp], graph: DieGraph, dies: Mapping[str, int], platform: Platform) -> dict[str, Any]:
    crossing, wires = crossing_of(platform), graph.boundary_wires(dies)
    cycles = {stream.sym_name.data: stream.crossing for kernel in kernels for stream in streams_of(kernel) if stream.crossing}
    return {
        "origin": f"{ORIGIN}; cycles and wires of a crossing as the platform's file says",
        "units": [{"unit": part.name, "die": dies[part.name], **asdict(part.takes)} for part in graph.parts],
        "dies": [
            {"die": die, **asdict(taken), **_shares(taken, has)}
            for die, (taken, has) in enumerate(zip(graph.taken(dies), graph.dies, strict=True))
        ],
        "boundaries": [
            {"between": f"{below} and {below + 1}", "wires": count, "may_be_used": crossing.wires if crossing else None}
            for below, count in enumerate(wires)
        ],
        "crossing_wires": sum(wires),
        "greedy_wires": greedy_wires(graph),
        "crossing_fifos": [
            {"fifo": link.name, "from": link.first, "to": link.second, "wires": link.wires, "cycles": cycles[link.name]}
            for link in graph.links
            if link.name in cycles
        ],
    }


def _shares(taken: Resources, has: Resources) -> dict[str, float]:
    return {f"share_{kind}": share_of(amount, getattr(has, kind)) for kind, amount in asdict(taken).items()}


def _given(schedule: str) -> Mapping[str, int]:
    """The dies that a schedule says, by unit; CompileError where it cannot be used."""
    table: Any = read_tables(schedule).get(OWN_TABLE, {}).get(DIES_TABLE, {}) if schedule else {}
    if not isinstance(table, dict) or not all(type(die) is int for die in table.values()):
        raise CompileError(f"{OWN_TABLE}.{DIES_TABLE} is no table of dies", where=schedule, accepted="UNIT = DIE")
    return table


def _require_units(dies: Mapping[str, int], graph: DieGraph, where: str) -> None:
    names = [part.name for part in graph.parts]
    for unit in dies:
        if unit not in names:
            raise CompileError(f"no unit is called '{unit}'{did_you_mean(unit, names)}", where=where, accepted=", ".join(names))
