"""`size-fifos`: FIFO depths from a schedule of the tasks, so that no cycle is lost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from xdsl.context import Context
from xdsl.dialects import scf
from xdsl.dialects.builtin import ModuleOp

from stc.analysis.loops import pipeline_ii, pipeline_style
from stc.analysis.measured_loops import measured_loops
from stc.analysis.memory_beats import memory_beats
from stc.analysis.stage_legality import illegal_ops
from stc.analysis.task_graph import streams_of, task_graph, task_traces
from stc.analysis.task_traces import Hardware
from stc.diagnostics import CompileError, UntimedError
from stc.dialects.dataflow import KernelOp
from stc.fifo.depths import DEEPER, SHALLOW, least_depth
from stc.fifo.depths_file import read_depths
from stc.fifo.emission import emitted_depth
from stc.fifo.network_run import Network, earliest_run
from stc.fifo.run_ahead import deepest_within, depths_ahead
from stc.iteration.pipeline_style import Style
from stc.iteration.size import Symbol, are_all_sampled, sampled_values
from stc.iteration.task_timeline import task_timeline
from stc.iteration.trace import TaskTrace, moving_symbols
from stc.network.graph import Channel, TaskGraph
from stc.platforms.budget import PLAN, limits_or_plan
from stc.platforms.fifo_storage import MARGIN
from stc.platforms.platform import BRAM18_BYTES, URAM_BYTES, load_platform
from stc.strategies.fifos import FIFOS, FifoPlan, FifoProblem
from stc.transforms.finding_pass import FindingPass
from stc.transforms.linalg.apply_schedule import OWN_TABLE, read_tables
from stc.transforms.stream.set_fifo_depths import depths_of_run, set_depth

LEVEL = "the IR after hls-directives"
AHEAD = 8
"""Of the memory on chip that the budget has, the part (one in so many) that FIFOs get so that load tasks run ahead, where nobody
asks for more. In the token design of gpt2-medium that is some 3,600 words for each of 16 ports of weights and 2 of caches."""
MOST_DEPTH = (1 << 31) - 1
"""Of a FIFO: it is an int of the C++."""


def what_is_proved(styles: frozenset[Style]) -> str:
    """What a run of the token model proves for a kernel whose pipelines are of these `styles`."""
    ends = f"a run of the token model ends, with loops of any depth up to {DEEPER} times the estimate, each by itself"
    if not styles:
        return "a run of the token model ends, whatever time tasks take"
    if styles == frozenset[Style](["stp"]):
        return f"{ends}, and of any style (stp, frp, flp)"
    if "stp" not in styles:
        return f"{ends}, as long as they flush (frp, flp)"
    return f"{ends}, and of the style they have, or of one that flushes (frp, flp)"


@dataclass(frozen=True)
class SizedFifo:
    """One FIFO. `occupancy`: the slots that the schedule needs (None where the schedule leaves it out); `grown`: how many more the
    run to the end needed; `required`: the depth asked for; `emitted`: that with margin, rounded up to what costs the same."""

    name: str
    bits: int
    tokens: int
    memory_fed: bool
    before: int
    occupancy: int | None
    grown: int
    required: int
    emitted: int


@dataclass(frozen=True)
class CyclesAt:
    """The cycles of a schedule at these values of symbols."""

    values: Mapping[str, int]
    cycles: int


@dataclass(frozen=True)
class KernelSizing:
    """What was found for one kernel. `makespan`: cycles of the schedule with the latencies of the FIFOs that are emitted, None
    where no schedule was asked for; of a kernel with symbols at their maxima, and `elsewhere` at the other values for which there
    is one. `seconds`: of the solver; `preparation_seconds`: from the curves of all tasks to the program. `untimed`: why there is no
    schedule, where one was asked for."""

    kernel: str
    origin: str
    strategy: str
    fifos: tuple[SizedFifo, ...]
    makespan: int | None = None
    solver: str | None = None
    seconds: float = 0.0
    preparation_seconds: float = 0.0
    untimed: str | None = None
    elsewhere: tuple[CyclesAt, ...] = ()

    def report(self) -> dict[str, Any]:
        """For report.json: totals of bits, and every FIFO."""
        bits = {
            "worst_case": sum(f.bits * f.tokens for f in self.fifos),
            "lp": sum(f.bits * (f.required if f.occupancy is None else max(SHALLOW, f.occupancy)) for f in self.fifos),
            "required": sum(f.bits * f.required for f in self.fifos),
            "emitted": sum(f.bits * f.emitted for f in self.fifos),
        }
        return {**asdict(self), "bits": bits}


@dataclass(frozen=True)
class SizeFifos(FindingPass):
    """Write the depth of every FIFO into its type, from a schedule of all tasks in cycles.

    The schedule comes from a linear program (`stc.fifo.lp`) over the times at which tasks move their tokens, which
    need initiation intervals and pipeline depths: that is why this allocation of resources comes after `hls-directives`, while
    `set-fifo-depths` has given the levels before it depths at which they can be executed. Load and store tasks have the cycles per
    beat of external memory (`stc.analysis.memory_beats`), and a FIFO of two slots answers a cycle sooner than a deeper one. What
    the schedule does not know: a load task that is held up keeps the gaps between words that came slower than one per cycle in its
    pipeline, which may cost a cycle or two where it goes on (1 of 9,376 in gpt2-tiny); `stc size` finds that by running the
    design, and `compile --minimise-depths` takes depths that do not lose it. From the depths of the schedule a run of the token
    model then goes to its end, whatever time tasks take; a FIFO that it fills grows, so that the design ends with pipelines up to
    twice as deep as estimated, of the style they have or of one that flushes (`stc.iteration.firings`): one that is `stp` may be
    `frp` or `flp`, but not the other way round. Rings of blocks keep their size. A FIFO that a load task fills keeps its depth
    where that loses no cycle: a DMA that waits costs nothing. Where words come with gaps (bursts begin anew, ports are shared)
    it is as deep as the task has to run ahead for them to be there when they are needed (`stc.fifo.run_ahead`), within an eighth
    of the memory that the budget has, which all kernels share: those that want more than an equal part get that; not where all
    depths are given. Where tasks feed each other, as compute units do, all run as
    early as they can, but for what only feeds them, which is held up until its tokens are needed (`stc.fifo.just_in_time`). A
    kernel whose tasks are not modelled in time (blocks taken under a condition in a pipelined loop) keeps the depths of
    `set-fifo-depths` as what is required. Where sizes are known at run time there is a schedule at their maxima, in the middle
    and at 1, and a run to the end at every value, or at some where these are many: the depths are enough for each. What one
    schedule needs the next ones have for nothing (`FifoProblem.given`; a strategy may ignore it).

    Options:
    * `strategy`: "no-stall" (default) loses no cycle against unlimited FIFOs; "published-normal" lets every task keep its own issue
      rate, "published-conservative" stretches it to that of the slowest; or another (`stc.strategies.fifos`).
    * `slack`: part of the cycles that may be lost for smaller FIFOs, 0.05 for 5 %.
    * `depths`: path of a JSON object of required depths by FIFO, used instead of the program's; other FIFOs are scheduled.
    * `schedule`: path of a `schedule.toml` whose table `stc.fifos` has such depths; those of `depths` count more.
    * `margin`: per cent added to the required depth before it is rounded up to the largest that costs the same, -1 to emit exactly
      what is required.
    * `run-ahead`: bytes that FIFOs filled by load tasks may have together, shared out evenly; 0: what each needs.
    * `budget`: the limits (`stc.platforms.budget`; default plan, and small is the same), of which FIFOs have a part to run ahead.
    * `platform`: whose memories and cycle time count.

        %s = stream.create @s {tokens = 64} : !stream.stream<vector<8xf32>, depth: 42>
      becomes, where 20 tokens wait in the schedule
        %s = stream.create @s {tokens = 64, required_depth = 20} : !stream.stream<vector<8xf32>, depth: 64>
    """

    name = "size-fifos"

    strategy: str = FIFOS.default
    slack: int | float = 0.0
    depths: str = ""
    schedule: str = ""
    margin: int = MARGIN
    run_ahead: int = 0
    budget: str = PLAN
    platform: str = "u55c"

    def find(self, ctx: Context, op: ModuleOp) -> list[KernelSizing]:
        """What was found, kernel by kernel."""
        return self.size(op, {**_scheduled_depths(self.schedule), **read_depths(Path(self.depths) if self.depths else None)})

    def size(self, op: ModuleOp, given: Mapping[str, int]) -> list[KernelSizing]:
        """Size the FIFOs of `op`, those in `given` for the depths that it requires, by name; what was found, kernel by kernel.

        CompileError for an option, a module of an earlier level, or a name that no FIFO has.
        """
        self._check_options()
        if (found := next(illegal_ops(op, "HLS optimisation"), None)) is not None:
            raise CompileError(f"'{found.operation.name}' op is of an earlier level", where=self.name, accepted=LEVEL)
        platform = load_platform(self.platform)
        hardware = Hardware(platform.cycle_ns, memory_beats(op, platform.memory, platform.cycle_ns))
        kernels = [_Kernel(found, hardware) for found in op.walk() if isinstance(found, KernelOp)]
        known = [fifo.name for kernel in kernels for fifo in kernel.graph.fifos]
        _require_known(given, known, self.depths or self.schedule or self.name)
        sizings: list[KernelSizing] = []
        for kernel in kernels:
            if not kernel.graph.fifos:
                raise CompileError("has no streams", where=f"kernel @{kernel.op.sym_name.data}", accepted=LEVEL)
            sizing = self._size(kernel, given, self._most_ahead // len(kernels))
            for create, fifo in zip(streams_of(kernel.op), sizing.fifos, strict=True):
                create.required_depth = fifo.required
                set_depth(create, fifo.emitted)
            sizings.append(sizing)
        return sizings

    def _check_options(self) -> None:
        FIFOS.find(self.strategy)
        for name, least in (("slack", 0), ("margin", -1), ("run_ahead", 0)):
            if (value := getattr(self, name)) < least:
                raise CompileError(f"{name.replace('_', '-')} is {value}", where=self.name, accepted=f"at least {least}")

    @property
    def _most_ahead(self) -> int:
        """Bits that FIFOs of all kernels may have for load tasks to run ahead."""
        most = limits_or_plan(self.budget, self.platform)
        return 8 * (most.bram * BRAM18_BYTES + most.uram * URAM_BYTES) // AHEAD

    def _size(self, kernel: _Kernel, given: Mapping[str, int], most_ahead: int) -> KernelSizing:
        graph = kernel.graph
        plans: list[FifoPlan] = []
        found, untimed = None, None
        ahead = self._ahead(graph)
        if any(fifo.name not in given for fifo in graph.sized):
            try:
                plans = self._plans(kernel)
                found = replace(plans[0], slots=_most_slots(plans))
                ahead = ahead or self._needed_ahead(kernel, plans, most_ahead)
            except UntimedError as error:
                untimed = str(error)
        slots = found.slots if found is not None else {}
        least = {fifo.name: max(least_depth(fifo), slots.get(fifo.name, 0)) for fifo in graph.sized}  # room of one iteration
        before = {fifo.name: fifo.depth for fifo in graph.fifos}
        wanted = before | (least if untimed is None else {}) | ahead | dict(given)
        ends = depths_of_run(kernel.op, wanted, kernel.traces)
        if found is not None and not found.may_grow:
            self._require_enough(graph, {name: wanted[name] for name in found.slots}, ends)
        fifos = tuple(self._sized(graph, fifo, slots, wanted, ends) for fifo in graph.fifos)
        timed = zip(plans, kernel.networks, strict=True) if plans else ()
        cycles = [kernel.cycles_of(plan, fifos, network) for plan, network in timed]
        origin, method = "read from a file", "given"
        if found is not None:
            origin, method = f"computed from {_depths_told(kernel.op)}", self.strategy
        elif untimed is not None:
            origin, method = "kept from set-fifo-depths, as there is no schedule", "token run"
        return KernelSizing(
            kernel.op.sym_name.data,
            f"{origin}; {what_is_proved(self._styles(kernel))}{kernel.values_told}",
            method,
            fifos,
            cycles[0] if cycles else None,
            found.solver if found is not None else None,
            found.seconds if found is not None else 0.0,
            found.preparation_seconds if found is not None else 0.0,
            untimed,
            tuple(
                CyclesAt(values, some)
                for values, some in zip(kernel.scheduled_at[1:], cycles[1:], strict=bool(cycles))
                if some is not None
            ),
        )

    def _plans(self, kernel: _Kernel) -> list[FifoPlan]:
        """One for each of the values at which there is a schedule. What those before need the next ones have."""
        usable, plans = load_platform(self.platform).usable, list[FifoPlan]()
        for network in kernel.networks:
            problem = FifoProblem(network, usable, self.slack, _most_slots(plans))
            plans.append(FIFOS.decide(self.strategy, problem))
        return plans

    def _require_enough(self, graph: TaskGraph, depths: Mapping[str, int], ends: Mapping[str, int]) -> None:
        """CompileError where the design does not end at `depths`, but at `ends`."""
        for name, depth in depths.items():
            if ends[name] > depth:
                edge = f"{graph.by_name[name].producer} to {graph.by_name[name].consumer}"
                raise CompileError(
                    f"the design does not end with {depth} slots of FIFO '{name}' ({edge}), but with {ends[name]}",
                    where=f"fifos strategy '{self.strategy}'",
                    accepted=f"depths at which it ends, as of strategy {FIFOS.default}",
                )

    def _styles(self, kernel: _Kernel) -> frozenset[Style]:
        loops = (op for op in kernel.op.walk() if isinstance(op, scf.ForOp))
        return frozenset(pipeline_style(loop) for loop in loops if pipeline_ii(loop) is not None)

    def _ahead(self, graph: TaskGraph) -> dict[str, int]:
        """Depths of FIFOs that load tasks fill, out of the budget for them."""
        if not graph.fed or self.run_ahead == 0:
            return {}
        share = self.run_ahead * 8 // len(graph.fed)
        return {fifo.name: max(fifo.depth, min(fifo.tokens, share // fifo.bits)) for fifo in graph.fed}

    def _needed_ahead(self, kernel: _Kernel, plans: Sequence[FifoPlan], most: int) -> dict[str, int]:
        """Depths of FIFOs that load tasks fill at which no cycle is lost, and those that `plans` count on, as far as so many bits
        go; UntimedError without a schedule."""
        fed = kernel.graph.fed
        depths = depths_ahead(kernel.networks, fed)
        for fifo in fed:
            counted_on = max((plan.ahead.get(fifo.name, 0) for plan in plans), default=0)
            if counted_on > max(fifo.depth, depths.get(fifo.name, 0)):
                depths[fifo.name] = counted_on
        return deepest_within(most, fed, depths)

    def _sized(
        self, graph: TaskGraph, fifo: Channel, slots: Mapping[str, int], wanted: Mapping[str, int], ends: Mapping[str, int]
    ) -> SizedFifo:
        name, bits, tokens, required = fifo.name, fifo.bits, fifo.tokens, ends[fifo.name]
        fed = name in graph.memory_fed
        emitted = required if self.margin < 0 or fed else emitted_depth(bits, tokens, required, self.margin)
        return SizedFifo(name, bits, tokens, fed, fifo.depth, slots.get(name), required - wanted[name], required, emitted)


@dataclass
class _Kernel:
    """A kernel, what its tasks do on `hardware`, and their graph."""

    op: KernelOp
    hardware: Hardware

    @cached_property
    def traces(self) -> dict[str, TaskTrace]:
        return task_traces(self.op, self.hardware)

    @cached_property
    def graph(self) -> TaskGraph:
        return task_graph(self.op, self.traces)

    @cached_property
    def symbols(self) -> tuple[Symbol, ...]:
        """What the numbers of tokens depend on."""
        return moving_symbols(self.op.symbols, self.traces.values())

    @property
    def scheduled_at(self) -> tuple[dict[str, int], ...]:
        """The values of symbols for which there is a schedule: the maxima, the middle, 1; not those where a FIFO has no token."""
        largest, *others = [
            {symbol.name: max(1, symbol.maximum // part) for symbol in self.symbols}
            for part in (1, 2, max((symbol.maximum for symbol in self.symbols), default=1))
        ]
        return (largest, *(values for values in others if values != largest and self._moves_tokens(values)))

    def _moves_tokens(self, values: Mapping[str, int]) -> bool:
        """Whether each FIFO has a token at these values of symbols."""
        traces = {name: trace.at(values) for name, trace in self.traces.items()}
        return all(traces[fifo.producer].tokens(fifo.name, True) for fifo in self.graph.fifos)

    @property
    def values_told(self) -> str:
        """At which values of symbols it was scheduled and run."""
        if not (symbols := self.symbols):
            return ""
        told = "; ".join(", ".join(f"{name} = {value}" for name, value in values.items()) for values in self.scheduled_at)
        ran = "all values" if are_all_sampled(symbols) else f"{len(sampled_values(symbols))} values, the ends among them"
        return f"; scheduled at {told}; run to the end at {ran} of {', '.join(str(symbol) for symbol in symbols)}"

    @cached_property
    def networks(self) -> list[Network]:
        """At all values at which there is a schedule; UntimedError where a task cannot be timed."""
        return [self.network(values) for values in self.scheduled_at]

    def network(self, values: Mapping[str, int]) -> Network:
        """All tasks in time, at these values of symbols; FIFOs to be sized hold all their tokens."""
        unlimited = self.graph.with_depths({fifo.name: fifo.tokens for fifo in self.graph.sized})
        return Network([task_timeline(trace.at(values) if values else trace) for trace in self.traces.values()], unlimited)

    def cycles_of(self, plan: FifoPlan, fifos: Sequence[SizedFifo], network: Network) -> int | None:
        """The cycles of `plan`, that of one of `networks`, once its shift registers that had to grow are memories, which answer a
        cycle later."""
        planned = plan.makespan
        before = ((fifo.before if fifo.memory_fed else plan.slots.get(fifo.name, 0), fifo.emitted) for fifo in fifos)
        if planned is None or not any(had <= SHALLOW < has for had, has in before):
            return planned
        emitted = network.with_depths({fifo.name: fifo.emitted for fifo in fifos})
        return max(planned, earliest_run(emitted).makespan)


def _most_slots(plans: Sequence[FifoPlan]) -> dict[str, int]:
    """Of each FIFO the most that a plan has."""
    names = plans[0].slots if plans else ()
    return {name: max(plan.slots.get(name, 0) for plan in plans) for name in names}


def _scheduled_depths(path: str) -> dict[str, int]:
    """Depths by name from the table `stc.fifos` of a schedule; CompileError where it cannot be used."""
    depths = read_tables(path).get(OWN_TABLE, {}).get("fifos", {}) if path else {}
    if not isinstance(depths, dict) or any(type(depth) is not int for depth in depths.values()):
        raise CompileError("stc.fifos is no table of depths", where=path, accepted="NAME = DEPTH for every FIFO")
    return depths


def _depths_told(kernel: KernelOp) -> str:
    """Where the depths of the kernel's loops come from."""
    measured = len(measured_loops(kernel))
    return f"measured depths of {measured} loops, estimated ones of others" if measured else "estimated loop depths"


def _require_known(given: Mapping[str, int], known: list[str], where: str) -> None:
    for name, depth in given.items():
        if name not in known:
            raise CompileError(f"no FIFO is called '{name}'", where=where, accepted=_some(known))
        if not 1 <= depth <= MOST_DEPTH:
            raise CompileError(f"FIFO '{name}' has depth {depth}", where=where, accepted=f"from 1 to {MOST_DEPTH}")


def _some(names: list[str]) -> str:
    shown = ", ".join(names[:8])
    return shown if len(names) <= 8 else f"{shown}, ... ({len(names)} FIFOs)"
