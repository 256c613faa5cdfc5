"""`choose-parallelism`: lanes and copies of every computation, within a budget."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import reduce
from math import prod
from typing import Any

from networkx.utils import UnionFind
from xdsl.context import Context
from xdsl.dialects import func, tensor
from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.dialects.linalg.ops import GenericOp
from xdsl.ir import Operation, OpResult, SSAValue, Use
from xdsl.utils.hints import isa

from stc.analysis.behind_layers import operations_behind_layers
from stc.analysis.float_work import computes_in_floats
from stc.analysis.generic_loops import GenericLoops, asked_loops, generics_in, name_of, shape_of
from stc.analysis.handed_on import handed_on
from stc.analysis.host_work import functions_of, host_values
from stc.analysis.integer_products import multipliers_of
from stc.analysis.kernel_memory import bits_of, tensor_bytes
from stc.analysis.operator_library import adders_of, hardware_cost, short_adder_cost
from stc.analysis.port_pressure import is_multiply_accumulate
from stc.analysis.resource_figures import adapter
from stc.analysis.run_time_sizes import RunTimeSizes
from stc.design_space.makespan import Dependence
from stc.design_space.order_propagation import Propagation, TiledOp
from stc.design_space.orders import TileSizes
from stc.design_space.parallelism import (
    MOST_LANES_PER_TASK,
    MOST_ROWS,
    PORT_LANES,
    MemoryOperand,
    Parallelism,
    Serving,
    Work,
    begun_with,
    counts_of,
    in_turns,
    is_a_task,
    lane_counts,
    makespan_of,
    shared_operators,
    waits_at_port,
)
from stc.design_space.partial_sums import most_terms_at_once
from stc.design_space.tiling import default_unroll, reduction_unroll, row_loop
from stc.diagnostics import BeyondBudget, CompileError
from stc.dialects.dataflow.boundary import stored_type
from stc.dialects.facts import ADDERS, COPIES, DEALT, ENDS_LAYERS, LANES, PORTS, ROWS, SHARED
from stc.dialects.updates import is_updated
from stc.dialects.use_def import RESHAPES, through_reshapes, uses_through
from stc.iteration.size import Size, half_way, is_static
from stc.iteration.vectorize import largest_divisor
from stc.platforms.budget import NOTHING, PLAN, SMALL, Counts, searched_limits
from stc.platforms.platform import Platform, load_platform
from stc.platforms.task_limits import MAX_MULTIPLY_ACCUMULATES
from stc.strategies.parallelism import PARALLELISM, ParallelismPlan, ParallelismProblem
from stc.strategies.registry import WrongPlan
from stc.transforms.finding_pass import FindingPass
from stc.transforms.linalg.alike_contractions import Alike, alike_contractions
from stc.transforms.linalg.apply_schedule import OWN_TABLE, read_tables
from stc.transforms.linalg.propagate_orders import PropagateOrders, TilingGraph
from stc.transforms.linalg.reshapes import source_dimension
from stc.transforms.linalg.term_lanes import is_folded, is_in_turn, lanes_are_terms, of_integers
from stc.transforms.linalg.tile_linalg import element_type
from stc.transforms.shared_parameters import followed_types, joining_results, shared_parameters, shared_parts
from stc.transforms.stream.names import UniqueNames

BALANCED = "balanced"
"""The strategy that asks for the shortest interval (`stc.strategies.parallelism`)."""

MOVEMENTS = (*RESHAPES, tensor.ExtractSliceOp, tensor.ConcatOp)
"""What hands tensors on without a memory port."""


@dataclass(frozen=True)
class Searched:
    """What a design takes by the model of the search (`expected`), its cycles from the first operand to the last result, and those
    of its slowest computation (`interval`). `most_points`: of its largest computation. `plan`: what was decided, by computation;
    `is_given`: whether a schedule did."""

    expected: Counts = NOTHING
    cycles: int = 0
    interval: int = 0
    most_points: int = 0
    plan: ParallelismPlan = field(default_factory=dict[str, Parallelism])
    is_given: bool = False

    def plus(self, other: Searched) -> Searched:
        most, is_given = max(self.most_points, other.most_points), self.is_given or other.is_given
        expected, cycles = self.expected.plus(other.expected), self.cycles + other.cycles
        return Searched(expected, cycles, max(self.interval, other.interval), most, {**self.plan, **other.plan}, is_given)

    @property
    def least_cycles_without(self) -> int:
        """Cycles of a design without a search are no fewer: one task for each computation."""
        return self.most_points // MOST_LANES_PER_TASK


@dataclass(frozen=True)
class ChooseParallelism(FindingPass):
    """Decide, within `budget`, how many points of each generic are computed at once: lanes and rows of a task, and copies of it.

    What shortens the whole most for what it takes is sped up next (`stc.design_space.parallelism_search`): when computations begin
    and end follows from the orders of their loops, if these are chosen for lanes as wide as a port. Another `strategy` may decide
    (`stc.strategies.parallelism`). Lanes run along the last parallel loop, where every operand that it indexes has it last; rows
    along another, so that each weight is used for several at once and one memory port feeds as many multipliers as a task may have
    (128, emission rule 18). Where no parallel loop has lanes, terms are the lanes: of a sum of integers, of an extreme, or of a
    single sum of floats. Copies divide the outermost parallel loop, or another along which much more of the work around the generic
    can be divided too; what reads a reshape, of which it reduces slices for others that combine these at once, as what finds the
    largest of a product's rows (`split-arg-max`), has as many as what makes that, or others, whichever is found to be faster. Loops
    that run as often as a launch says are gone through one by one, and counted as if symbols had half of their maxima: what a
    sequence needs on the average. Decisions are the attributes `stc.lanes` and `stc.rows`, which `propagate-orders` follows, and
    `stc.copies`, which `distribute-parallel` carries out. DSPs
    are counted per point from the operators of the body. Where they are short and LUTs are not, adders of floats are of LUTs
    (`stc.adders`), which have fewer stages, too.

    What is counted is DSPs, LUTs, FFs and blocks of RAM: of operators as in estimates, of no fewer memory ports than come to be, of
    control, FIFOs and arrays by what blocks of models took, since nothing is tiled yet. `stc compile` counts again in the end.
    Copies of what takes no DSPs are made where it multiplies in LUTs (`stc.multipliers`). A budget with fewer DSPs than one point
    of each computation at once takes is an error.

    Options: `budget` (default small: nothing is decided; plan, or amounts as in dsp=60%,ports=29: `stc.platforms.budget`),
    `platform` (default u55c), whose cycle the operators are scheduled for,
    `strategy` (default shortest; balanced: for the interval alone); `overall-unroll-size` for the strategies that are bounded by it
    (published); `rank` (default 1): which of the designs that the strategy finds is taken, the best first, the last one where there
    are fewer; `in-turn` (default false): whether ports will bring parameters of several computations, one after the other
    (`load-in-turn`), and several copies what each takes seldom, word by word in turn (`stc.ports`, `interleave-loads`);
    `shared` (default false): whether contractions that are alike will share their multipliers (`share-contractions`): they get as
    many lanes as all of them may have, and the attribute `stc.shared`, and of those that wait for one another only one takes any;
    where rows are too few for copies of so many lanes, or fewer copies of what follows do, parts of each copy take groups in turn
    (`stc.dealt`); `sums-in-turn` (default false): with `shared`, whether what takes their sums will have operators in common, too;
    `elements-per-port` (default 1): with `shared`, to how many of its tasks each port brings parameters, a word to
    each in turn, where they are more than ports and a word is what a task takes in a cycle: FIFOs have what came while none did;
    `layers` (default 1): how many a launch will compute one after the other, before what is behind the last (`stc.ends_layers`);
    `schedule` (path of a `schedule.toml`): what its table `stc.parallelism` says is taken, and nothing is searched.

        %y = linalg.generic {"parallel", "parallel", "reduction"} ins(%x, %w : tensor<64x128xf32>, tensor<128x96xf32>) ...
      becomes, with budget="dsp=1300",
        %y = linalg.generic ... attrs = {stc.lanes = 16 : i32, stc.rows = 8 : i32, stc.copies = array<i64: 2, 1, 1>}
    """

    name = "choose-parallelism"

    budget: str = SMALL
    platform: str = "u55c"
    strategy: str = PARALLELISM.default
    overall_unroll_size: int = 0
    rank: int = 1
    in_turn: bool = False
    shared: bool = False
    sums_in_turn: bool = False
    elements_per_port: int = 1
    layers: int = 1
    schedule: str = ""

    def find(self, ctx: Context, op: ModuleOp) -> Searched | None:
        """What the designs of all functions take, and what they would without a search; None where nothing is decided."""
        most = searched_limits(PLAN if self.overall_unroll_size and self.budget == SMALL else self.budget, self.platform)
        if most is None:
            return None
        given = said_parallelism(self.schedule)
        searched = reduce(Searched.plus, (self._decide(one, most, given) for one in functions_of(op)), Searched())
        if given is not None and (unknown := sorted(set(given) - set(searched.plan))):
            known = ", ".join(searched.plan)
            raise CompileError(f"there is no computation '{unknown[0]}'", where=where_said(self.schedule), accepted=known)
        return searched

    def _decide(self, function: func.FuncOp, most: Counts, given: ParallelismPlan | None) -> Searched:
        platform = load_platform(self.platform)
        serving = Serving.of(self.elements_per_port, most.ports, sums_in_turn=self.sums_in_turn) if self.shared else None
        ways = list(_divisions(function, platform, self.in_turn, serving, self.layers))
        rank = self.rank
        if rank > len(ways):  # the best of each way come first, then those behind the best in turn
            ways, rank = ways[(rank - 1) % len(ways) :][:1], (rank - 1) // len(ways) + 1
        found: list[tuple[Searched, Sequence[Computation]]] = []
        refused: list[CompileError] = []
        for computed in ways:
            within = rank if len(ways) == 1 else 1
            try:
                found.append((self._searched(computed, platform, most, given, within), computed))
            except CompileError as error:
                refused.append(error)
        if not found:
            raise refused[0]
        is_balanced = self.strategy == BALANCED
        found.sort(key=lambda each: (not each[0].expected.fits(most), is_balanced and each[0].interval, each[0].cycles))
        searched, computed = found[min(rank, len(found)) - 1 if len(ways) > 1 else 0]
        for each in computed:
            give_parallelism(each, searched.plan[each.work.name])
        return searched

    def _searched(
        self, computed: Sequence[Computation], platform: Platform, most: Counts, given: ParallelismPlan | None, rank: int
    ) -> Searched:
        works = [each.work for each in computed]
        sharing = [work for work in works if not work.is_alone]
        least = sum(work.point.plus(work.adders_in_luts).dsp for work in works if work.is_alone)
        least += shared_operators(sharing, {work.name: begun_with(work) for work in sharing}).dsp
        if least > most.dsp:
            lanes = ", and the lanes of those that share multipliers," if sharing else ""
            what = f"one point of each computation at once{lanes} takes {least} DSPs, the budget has {most.dsp}"
            raise BeyondBudget(what, where=self.name, accepted=f"dsp={least} or more")
        problem = ParallelismProblem(works, most, self.overall_unroll_size, port_counts(platform), rank)
        if given is None:
            chosen = as_wide_as_made(computed, PARALLELISM.decide(self.strategy, problem))
        else:
            chosen = {name: plan for name, plan in given.items() if name in {work.name for work in works}}
            _require_plan(problem, chosen, where_said(self.schedule))
        most_points, makespan = max((work.points for work in works), default=0), makespan_of(works, chosen)
        interval, cycles = max(makespan.cycles.values(), default=0), round(makespan.total)
        return Searched(counts_of(works, chosen, problem.port), cycles, interval, most_points, chosen, is_given=given is not None)


def as_wide_as_made(computed: Sequence[Computation], plan: ParallelismPlan) -> ParallelismPlan:
    """`plan`, where what reads a reshape copy by copy has as many lanes at least as what makes that: a stream is as wide as its
    narrowest end, and what writes several tokens at once takes a cycle for each, also for the sums that are not over yet."""
    changed = dict(plan)
    for each in [one for one in computed if one.made_by is not None]:
        now, least = plan[each.work.name], plan[each.made_by or ""].lanes
        possible = [replace(now, lanes=lanes) for lanes in lane_counts(each.work.lane_extent) if lanes >= now.lanes]
        possible = [one for one in possible if is_a_task(each.work, one)] or [now]
        changed[each.work.name] = next((one for one in possible if one.lanes >= least), possible[-1])
    return changed


def give_parallelism(computation: Computation, decision: Parallelism) -> None:
    """Attach what was decided to the generic."""
    loop, dealt, generic = computation.divided, computation.dealt, computation.generic
    LANES.put(generic, decision.lanes)
    if computation.work.shares:
        SHARED.put(generic, None)
    if decision.rows > 1:
        ROWS.put(generic, decision.rows)
    if any(ports := computation.ports_in_turn(decision)):
        PORTS.put(generic, ports)
    if decision.adders_in_luts:
        for adder in adders_of(generic):
            ADDERS.put(adder, "lut")
    if loop is not None and decision.copies > 1:
        COPIES.put(generic, tuple(decision.copies if at == loop else 1 for at in range(len(generic.iterator_types))))
    if dealt is not None and decision.parts > 1:
        DEALT.put(generic, tuple(decision.parts if at == dealt else 1 for at in range(len(generic.iterator_types))))


# What a schedule says -------------------------------------------------------------------------------------------------

PARALLELISM_TABLE = "parallelism"
"""Of the table that is about no op: lanes, rows and copies of each computation, and whether its adders are of LUTs."""

_ENTRIES = "{ lanes = 4, rows = 1, copies = 2 }, perhaps with adders_in_luts = true or parts = 2"


def where_said(schedule: str) -> str:
    """The place of that table, for messages."""
    return f"{schedule} [{OWN_TABLE}.{PARALLELISM_TABLE}]"


def said_parallelism(schedule: str) -> ParallelismPlan | None:
    """What a schedule says; None where there is none, or it says nothing. CompileError for what is no plan."""
    table: Any = read_tables(schedule).get(OWN_TABLE, {}).get(PARALLELISM_TABLE) if schedule else None
    if table is None:
        return None
    if not isinstance(table, dict):
        raise CompileError("it is no table", where=where_said(schedule), accepted=f"NAME = {_ENTRIES}")
    return {name: _said_of_one(entry, f"{where_said(schedule)} {name}") for name, entry in table.items()}


def _said_of_one(entry: Any, where: str) -> Parallelism:
    numbers, flag = ("lanes", "rows", "copies", "parts"), "adders_in_luts"
    fits = isinstance(entry, dict) and set(entry) <= {*numbers, flag} and {"lanes", "copies"} <= set(entry)
    if not fits or type(entry.get(flag, False)) is not bool or any(type(entry.get(name, 1)) is not int for name in numbers):
        raise CompileError(f"{entry!r} is no parallelism", where=where, accepted=_ENTRIES)
    return Parallelism(entry["lanes"], entry["copies"], entry.get("rows", 1), entry.get(flag, False), entry.get("parts", 1))


def _require_plan(problem: ParallelismProblem, plan: ParallelismPlan, where: str) -> None:
    """CompileError where what a schedule says does not fit the computations."""
    try:
        PARALLELISM.check(problem, plan)
    except WrongPlan as error:
        raise CompileError(str(error), where=where, accepted=PARALLELISM.accepted) from None
    wrong = next((work for work in problem.works if not is_a_task(work, plan[work.name])), None)
    if wrong is not None:
        chosen = plan[wrong.name]
        what = f"{chosen.lanes} lanes and {chosen.rows} rows of {wrong.name} are more than one task computes at once"
        accepted = f"at most {MAX_MULTIPLY_ACCUMULATES} multiply-accumulates, and {MOST_ROWS} rows"
        raise CompileError(what, where=where, accepted=accepted)


def port_counts(platform: Platform) -> Counts:
    """What a memory port takes: its adapter, as wide as any."""
    bits = platform.memory.word_bits
    taken = adapter(bits, platform.cycle_ns, bits)
    return Counts(taken.dsp, taken.lut, taken.ff, taken.bram18, taken.uram, ports=1)


@dataclass(frozen=True)
class Computation:
    """A generic that the device computes, as work to be sped up. `divided`: the loop that copies of it divide; `dealt`: the one of
    which parts of a copy take turns. `made_by`: what makes the tensor of which it reads a reshape, if both are divided alike."""

    generic: GenericOp
    divided: int | None
    dealt: int | None
    work: Work
    made_by: str | None = None

    def ports_in_turn(self, decision: Parallelism) -> tuple[int, ...]:
        """Ports that move what copies divide, each for several in turn: of each input, and of results; 0 where each copy has its
        own."""
        counts = {operand.input: operand.ports_in_turn(decision) for operand in self.work.memory}
        return tuple(counts.get(index, 0) for index in (*range(len(self.generic.inputs)), None))


def _divisions(
    function: func.FuncOp, platform: Platform, in_turn: bool, serving: Serving | None, layers: int
) -> Iterator[list[Computation]]:
    """The computations of `function`, and where that makes a difference once more with readers of reshapes that are divided for
    themselves: what makes them may have copies that do not divide the reshape."""
    joined = computations(function, platform, in_turn=in_turn, serving=serving, layers=layers, joined=True)
    yield joined
    apart = computations(function, platform, in_turn=in_turn, serving=serving, layers=layers)
    if _families(apart) != _families(joined):
        yield apart


def _families(computed: Sequence[Computation]) -> list[int]:
    """Of each computation the first one of its family."""
    families = [each.work.family for each in computed]
    return [families.index(family) for family in families]


def computations(
    function: func.FuncOp,
    platform: Platform,
    *,
    in_turn: bool = False,
    serving: Serving | None = None,
    layers: int = 1,
    joined: bool = False,
) -> list[Computation]:
    """The generics of `function` that the device computes, in order. `in_turn`: whether ports will bring large parameters
    of several one after the other; `serving`: how these ports bring words to contractions that are alike, and will share their
    multipliers, None where they will not; `layers`: how many a launch computes, before what follows the last; `joined`: whether
    readers of reshapes are divided as what makes these."""
    parameters = host_values(function)
    generics = [op for op in generics_in(function) if not set(op.results) <= parameters]
    along = _SharedLoops(generics, parameters, sizes := RunTimeSizes(function), joined=joined)
    divided = {op: along.divided_loop(op) for op in generics}
    families = {op: along.family(op, divided[op]) for op in generics}
    names = _Names(parameters, platform.memory.word_bits, families, in_turn)
    names.handed_on = handed_on(function, function.body.block.args, parameters, layers)
    made = {op: names.fresh(name_of(op) or op.name) for op in generics}
    whole = [source for op in generics for value in _read_whole(op, sizes) for source, _ in names.sources(value, made)]
    inputs = {argument for argument in function.body.block.args if not is_updated(argument)}
    names.ports = shared_parameters(whole, parameters, platform.memory, inputs - names.handed_on)
    results = function.body.block.last_op.operands if function.body.block.last_op is not None else ()
    leaving = [value for value in results if not isinstance(value.owner, tensor.InsertSliceOp)]
    stored = leaving if layers == 1 else ()
    names.stores = shared_parts(stored, whole, parameters, platform.memory)
    behind = operations_behind_layers(function)
    followed = followed_types(whole, parameters, leaving, behind, platform.memory)
    wide = {value: number for value, number in names.ports.items() if str(element_type(value.type)) in followed}
    if layers > 1:  # which are one kernel: several may not count on it
        beside = {str(element_type(value.type)) for value in wide} if in_turn else None
        alone = _alone(whole, parameters, names.ports, inputs, beside)
        names.joining = joining_results(leaving, alone, wide, whole, platform.memory)
    works = {
        op: _work(op, divided[op], families[op], sizes.loops_of(op), platform.cycle_ns, made, names)
        for op in generics
    }
    after = {op: [_with_copies(op, *each, divided, families) for each in found] for op, found in _dependences(function).items()}
    done = [replace(work, after=_renamed(after.get(op, ()), made)) for op, work in works.items()]
    if in_turn:
        kinds = {names.tensor(value): str(element_type(value.type)) for value in whole if value in parameters}
        done = in_turns(done, kinds, followed)
    finished = dict(zip(works, done, strict=True))

    def take_turns(one: GenericOp, other: GenericOp) -> bool:
        return waits_at_port(finished[one], finished[other]) or waits_at_port(finished[other], finished[one])

    alike = alike_contractions(generics, parameters, sizes, take_turns) if serving else {}
    dealt = {op: along.dealt_loop(op, divided[op]) if op in alike else None for op in generics}
    finished = {op: replace(work, once_in=layers) if op in behind else work for op, work in finished.items()}
    if serving is not None and alike:
        finished = {op: replace(work, task=_control(serving)) for op, work in finished.items()}
        finished |= {op: _sharing(finished[op], each, op, dealt[op], serving) for op, each in alike.items()}
        finished = _with_turns(finished, _takers_of_sums(alike)) if serving.sums_in_turn else finished
    done = list(finished.values())
    makers = {reader: made[maker] for reader, maker in along.makers.items() if families[reader] == families[maker]}
    return [Computation(op, divided[op], dealt[op], work, makers.get(op)) for op, work in zip(works, done, strict=True)]


def _control(serving: Serving) -> Counts:
    """What a task takes beside those that share multipliers."""
    if serving.tasks > 1:
        return CONTROL_BESIDE_SHARED
    return CONTROL_WITH_SUMS_IN_TURN if serving.sums_in_turn else CONTROL_WITH_SHARED


def _sharing(work: Work, alike: Alike, generic: GenericOp, dealt: int | None, serving: Serving) -> Work:
    """With what contractions that are alike have in common. What it has of its parameters comes as `serving` says."""
    loops = GenericLoops(generic)
    extent = 1 if dealt is None else loops.extents[dealt]
    memory = tuple(each if each.follows is None else replace(each, is_dealt=True, serving=serving) for each in work.memory)
    shared = replace(work, shares=alike.number, shared_lanes=alike.lanes, row_extent=1, divides_rows=False)
    lane = work.lane.plus(Counts(ff=-_bank(generic).ff))  # sums leave from where they are kept
    lane = lane.plus(SHARED_LANE) if serving.tasks > 1 else lane
    return replace(shared, memory=memory, dealt_extent=extent, lane=lane)


def _with_turns(works: Mapping[GenericOp, Work], turns: Mapping[GenericOp, int]) -> dict[GenericOp, Work]:
    """`works`, in topological order: those that have `turns`, by number, know which of their number they wait for."""
    waits: dict[str, frozenset[str]] = {}
    for work in works.values():
        named = [each.producer for each in work.after]
        waits[work.name] = frozenset(named).union(*(waits.get(name, frozenset()) for name in named))
    numbers = {works[op].name: number for op, number in turns.items()}
    behind = {op: frozenset(name for name in waits[works[op].name] if numbers.get(name) == turns[op]) for op in turns}
    first = frozenset[str]().union(*behind.values())  # for which another one waits
    turns = {op: number for op, number in turns.items() if behind[op] or works[op].name in first}
    return {op: replace(work, turn=turns[op], turn_behind=behind[op]) if op in turns else work for op, work in works.items()}


def _takers_of_sums(alike: Mapping[GenericOp, Alike]) -> dict[GenericOp, int]:
    """What computes in floats and takes sums of contractions that are `alike`, as they are or unpacked, with the number of these:
    the first of each. Those are left out that another one or a contraction reads without anything between, as
    `share-contractions` does."""
    found, seen = dict[GenericOp, int](), set[Operation]()
    for contraction, each in alike.items():
        left = list(_users(contraction))
        while left:
            op = left.pop()
            if op in seen or op in alike:
                continue
            seen.add(op)
            if isinstance(op, GenericOp) and computes_in_floats(op):
                found[op] = each.number
            else:
                left += _users(op)
    inside = {*found, *alike}
    return {op: number for op, number in found.items() if inside.isdisjoint(_users(op))}


def _users(op: Operation) -> Iterator[Operation]:
    return (use.operation for result in op.results for use in result.uses)


def _read_whole(generic: GenericOp, sizes: RunTimeSizes) -> Iterator[SSAValue]:
    """The inputs of which as much is there in every launch."""
    trips = sizes.loops_of(generic)
    for value, dims in zip(generic.inputs, GenericLoops(generic).input_dims, strict=True):
        if all(is_static(trips[loop]) for loop in dims):
            yield value


def _dependences(function: func.FuncOp) -> Mapping[GenericOp, Sequence[tuple[GenericOp, Dependence]]]:
    """Whom each generic waits for, if loops are ordered as `propagate-orders` would where all have the lanes of a port."""
    graph = TilingGraph(function, PORT_LANES)
    nodes = [_with_lanes(node) if isinstance(node, TiledOp) else node for node in graph.nodes]
    found = Propagation(nodes, TileSizes(PORT_LANES, PropagateOrders.rows)).after
    return {graph.generics[name]: [(graph.generics[each.producer], each) for each in after] for name, after in found.items()}


def _alone(
    read: Iterable[SSAValue],
    parameters: Container[SSAValue],
    ports: Container[SSAValue],
    inputs: Container[SSAValue],
    in_turn: Container[str] | None,
) -> list[SSAValue]:
    """The tensors among `read` that have memory ports for themselves, unlike those of which `ports` says otherwise: `inputs`, and
    parameters that have none of their type to take turns with, where they do (`in_turn`, types that may come behind small ones)."""
    own = [value for value in dict.fromkeys(read) if (value in parameters or value in inputs) and value not in ports]
    types = Counter(element_type(value.type) for value in own if value in parameters)
    free = {kind for kind, count in types.items() if in_turn is None or (count == 1 and str(kind) not in in_turn)}
    return [value for value in own if value in inputs or element_type(value.type) in free]


def _with_copies(
    reader: GenericOp,
    producer: GenericOp,
    dependence: Dependence,
    divided: Mapping[GenericOp, int | None],
    families: Mapping[GenericOp, int],
) -> tuple[GenericOp, Dependence]:
    """With how often the reader takes what copies of the producer make, one after the other, and how often that makes what copies
    of the reader take: not where both are divided alike. As if both had loops in the order of the producer's dimensions, as what
    is made row by row has."""
    if families[producer] == families.get(reader):
        return producer, dependence
    loops = GenericLoops(producer)
    dims = [loops.extents[dim] for dim in loops.output_dims[0]]
    outer = loops.output_dims[0].index(divided[producer]) if divided[producer] is not None else None
    fed = _dimension_divided(reader, producer, divided.get(reader))
    rounds = [0 if place is None else prod(dims[:place]) for place in (outer, fed)]
    return producer, replace(dependence, outer=rounds[0], fed=rounds[1])


def _dimension_divided(reader: GenericOp, producer: GenericOp, loop: int | None) -> int | None:
    """The dimension of what `producer` makes that the `loop` of the reader, or of a reshape that it reads, runs along."""
    for value, dims in zip(reader.inputs, GenericLoops(reader).input_dims, strict=True):
        made, places = _unshaped(value)
        if made.owner is producer and loop in dims:
            return places[dims.index(loop)]
    return None


def _with_lanes(op: TiledOp) -> TiledOp:
    results = op.computation.outputs[0].dims if op.computation.outputs else ()
    if op.lanes_are_terms:
        return replace(op, terms=op.terms or largest_divisor(op.computation.extents[op.computation.reductions[-1]], PORT_LANES))
    return replace(op, lanes=op.lanes or largest_divisor(op.computation.extents[results[-1]], PORT_LANES)) if results else op


def _renamed(after: Sequence[tuple[GenericOp, Dependence]], made: Mapping[GenericOp, str]) -> tuple[Dependence, ...]:
    return tuple(replace(each, producer=made[producer]) for producer, each in after if producer in made)


class _Names(UniqueNames):
    """Names of computations and of the tensors in external memory. `host`: what it computes; `ports`: of tensors that share one;
    `stores`: of results in parts that do; `joining`: results that leave by a port that brings something else; `handed_on`: from
    layer to layer, so that one port brings the first. `port_bits`: of a word of a memory port. `families`: of computations.
    `in_turn`: whether ports move what they do for several copies in turn."""

    def __init__(self, host: Container[SSAValue], port_bits: int, families: Mapping[GenericOp, int], in_turn: bool) -> None:
        super().__init__()
        self.in_turn = in_turn
        self.host = host
        self.port_bits = port_bits
        self.families = families
        self.handed_on = set[SSAValue]()
        self._tensors: dict[SSAValue, str] = {}
        self.ports: Mapping[SSAValue, int] = {}
        self.stores: Mapping[SSAValue, int] = {}
        self.joining: Container[SSAValue] = ()

    def tensor(self, value: SSAValue) -> str:
        if value not in self._tensors:
            self._tensors[value] = self.fresh(value.name_hint or "tensor")
        return self._tensors[value]

    def sources(self, value: SSAValue, made: Container[object]) -> Iterator[tuple[SSAValue, bool]]:
        """The tensors in external memory that `value` is, or consists of, and whether it is put together of several; what the host
        computes is there as it is."""
        owner = value.owner
        if value not in self.host and isinstance(owner, MOVEMENTS):
            is_joined = isinstance(owner, tensor.ConcatOp)
            for operand in owner.operands if is_joined else owner.operands[:1]:
                yield from ((source, is_joined or inner) for source, inner in self.sources(operand, made))
        elif owner not in made:
            yield value, False

    def part_of_port(self, value: SSAValue, dims: Sequence[int], generic: GenericOp) -> Fraction:
        """The part of a port's time that a parameter takes, each entry of which `generic` needs for one of a tensor on chip that
        comes of more bytes of another parameter, as the scale of a group's sum; or a result that it makes of such a tensor."""
        loops, is_made = GenericLoops(generic), value.owner is generic
        if not self.in_turn or not (is_made or self._is_own(value)):
            return Fraction(1)
        met = [
            self._bytes_behind(other, generic)
            for other, others in zip(generic.inputs, loops.input_dims, strict=True)
            if not self._is_own(other) and (is_made or all(loop in dims or loops.extents[loop] == 1 for loop in others))
            if all(loop in others or loops.extents[loop] == 1 for loop in dims)
        ]
        size = max(met, default=0)
        return min(Fraction(tensor_bytes(value.type), size), Fraction(1)) if size else Fraction(1)

    def _is_own(self, value: SSAValue) -> bool:
        """Whether it is a parameter that shares its port with none."""
        return value in self.host and value not in self.ports

    def _bytes_behind(self, value: SSAValue, reader: GenericOp) -> int:
        """Of the largest parameter that `value` is made of, by the last of those, on its way to `reader`, that read any; of those
        that are divided alike."""
        made = through_reshapes(value).owner
        if not isinstance(made, GenericOp) or self.families.get(made) != self.families[reader]:
            return 0
        own = [tensor_bytes(each.type) for each in made.inputs if self._is_own(each)]
        return max(own or [self._bytes_behind(each, made) for each in made.inputs], default=0)


def _work(
    generic: GenericOp,
    divided: int | None,
    family: int,
    trips: Sequence[Size],
    cycle_ns: float,
    made: Mapping[GenericOp, str],
    names: _Names,
) -> Work:
    loops, last = GenericLoops(generic), _lane_loop(generic)
    counted = [half_way(trip) for trip in trips]
    at_once = [extent if is_static(trip) else 1 for extent, trip in zip(loops.extents, trips, strict=True)]  # else one by one
    given = at_once, loops.reductions, loops.operand_dims, max(loops.extents, default=1)
    terms = lanes_are_terms(generic) and is_static(trips[loops.reductions[-1]])
    possible = reduction_unroll(*given, of_integers=True) if terms else default_unroll(*given)
    lane_extent = most_terms_at_once(prod(possible)) if terms and is_in_turn(generic) else prod(possible)
    row = None if terms else row_loop(loops.extents, loops.reductions, loops.input_dims, loops.output_dims)
    return Work(
        name=made[generic],
        points=prod(counted),
        sums=prod(counted[loop] for loop in loops.parallels),
        point=_point(generic, cycle_ns),
        lane_extent=lane_extent,
        divided_extent=loops.extents[divided] if divided is not None else 1,
        divides_lanes=divided is not None and divided == last,
        family=family,
        row_extent=at_once[row] if row is not None else 1,
        divides_rows=row is not None and divided == row,
        sums_at_once=max(1, sum(map(is_multiply_accumulate, generic.body.block.ops))),
        lanes_are_terms=terms,
        takes_turns=(terms and is_in_turn(generic)) or _is_folded_at_run_time(generic, trips),
        of_integers=of_integers(generic),
        memory=tuple(_memory_operands(generic, divided, made, names)),
        in_luts=multipliers_of(generic) == "lut",
        lane=_lane(generic),
        task=CONTROL,
        adders_in_luts=_in_luts(generic, cycle_ns),
        refill=REFILL if terms and not all(is_static(trips[loop]) for loop in loops.parallels) else 0,
    )


REFILL = 12
"""Cycles that fill the pipeline of a sum of integers: a score of 64 terms, 32 at once, took 13 for each position (*simulated*)."""


def _is_folded_at_run_time(generic: GenericOp, trips: Sequence[Size]) -> bool:
    """Whether each result is made of as many entries of one tensor as a launch says, one result after the other: a score's maximum,
    or sum, as it comes."""
    reductions = GenericLoops(generic).reductions
    return is_folded(generic) and len(reductions) == 1 and not is_static(trips[reductions[0]])


def _lane_loop(generic: GenericOp) -> int | None:
    """The loop of which points run at once as lanes."""
    loops = GenericLoops(generic)
    if lanes_are_terms(generic):
        return loops.reductions[-1]
    return loops.output_dims[0][-1] if loops.output_dims[0] else None


CONTROL = Counts(lut=530, ff=630)
"""Of a task, its FIFOs and those beside it. Fitted to gpt2-medium in W4A8 with 24 tasks that share multipliers, of some 300 others:
with 420 LUTs 791,044 and some 762,000 were expected of two plans, 811,418 and 795,535 came to be (*estimated*), and 1,049,263 FFs
of a third for which 1,091,651 were expected with 770."""

CONTROL_WITH_SHARED = Counts(lut=430, ff=400)
"""Of a task where others share multipliers, each with a port of its own: `CONTROL`, less what loads of small parameters do not take
that send tokens, not words (`share-ports`): 34,218 LUTs and 80,805 FFs (*estimated*) of gpt2-medium with some 300 tasks."""

CONTROL_WITH_SUMS_IN_TURN = Counts(lut=270, ff=480)
"""The same where sums of these take turns (`share-contractions{sums-in-turn=true}`). Of gpt2-medium with 312 tasks 790,953 LUTs and
1,045,583 FFs were expected with `CONTROL`, while loads sent words, and 741,864 and 1,080,386 came to be (*estimated*)."""

CONTROL_BESIDE_SHARED = Counts(lut=228, ff=414)
"""Of a task where others share multipliers, and ports serve several of these, while loads of small parameters sent words. Plans
with one at each port came out right with `CONTROL` then; with this, gpt2-medium took two searches, and up to 2 % more cycles.
LUTs were fitted, with those of `SHARED_LANE`, to estimates of whole models in W4A8: 760,955 of gpt2-medium (389 tasks, 20 that
share), and some 814,000 with two tasks at a port (408, 32; 854,270, less eight that came to share none), where 734,613 were
expected; 752,508 of qwen2.5-0.5b (375, 19) are 1 % more than expected. FFs are those of gpt2-medium alone: 1,132,000, which were
expected of the first, and some 1,226,000 of the second (1,276,687)."""

SHARED_LANE = Counts(lut=50, ff=84)
"""Of each lane of a task that shares its multipliers then, beside what its product takes: what hands it activations and hands out
its sums, with their FIFOs. Fitted as said while all sums left at once, less what that took by the estimates of a task."""

BITS_OF_A_LUT = 2
"""Bits of an operand for which its FIFO and arrays take a LUT, and two FFs. With a LUT for each bit 791,063 LUTs were expected of
gpt2-medium in W4A8, and 780,351 of two layers of qwen2.5-0.5b with the head, where 724,686 and 654,676 came to be in estimates."""

SUM_BANK = Counts(bram=1)
"""Of each sum that is computed at once: the bank that it is kept in. Of integers, which wait for no adder, it is registers, or
LUTRAM for the few that take turns: the W4A8 head of gpt2-medium has 55 BRAM18 of arrays where 573 were counted with banks."""


def _point(generic: GenericOp, cycle_ns: float) -> Counts:
    """What a point at once takes: its operators, and banks where sums are kept."""
    costs = [hardware_cost(op, cycle_ns) for op in generic.body.block.ops]
    operators = Counts(sum(cost.dsp for cost in costs), sum(cost.lut for cost in costs), sum(cost.ff for cost in costs))
    return operators.plus(_bank(generic)) if GenericLoops(generic).reductions else operators


def _bank(generic: GenericOp) -> Counts:
    """What keeps a sum."""
    if not of_integers(generic):
        return SUM_BANK
    bits = sum(bits_of(element_type(result.type)) for result in generic.results)
    return Counts(ff=bits)  # LUTs are in what is fitted to a task and its lanes


def _lane(generic: GenericOp) -> Counts:
    """What a lane of a task takes besides: FIFOs and arrays as wide as its tokens; rows come one after the other."""
    bits = sum(bits_of(argument.type) for argument in generic.body.block.args)
    return Counts(lut=bits // BITS_OF_A_LUT, ff=bits)


def _in_luts(generic: GenericOp, cycle_ns: float) -> Counts:
    """What a point takes more with adders of LUTs, where nothing is said about them."""
    more = NOTHING
    for adder in adders_of(generic):
        if not ADDERS.on(adder):
            now, then = hardware_cost(adder, cycle_ns), short_adder_cost(adder, cycle_ns)
            more = more.plus(Counts(then.dsp - now.dsp, then.lut - now.lut, then.ff - now.ff))
    return more


def _memory_operands(
    generic: GenericOp, divided: int | None, made: Mapping[GenericOp, str], names: _Names
) -> Iterator[MemoryOperand]:
    """What `generic` reads from external memory, and what of its results goes there, both looked for behind slices; but for updates
    in place, which go through the port that reads what they update. Small results are stored through one port.

    No fewer ports than are emitted: a tensor whose neighbour on chip has narrower tokens comes through fewer.
    """
    loops, last = GenericLoops(generic), _lane_loop(generic)
    for index, (value, dims) in enumerate(zip(generic.inputs, loops.input_dims, strict=True)):
        at_once = _entries_at_once(value, names.port_bits) if dims and dims[-1] == last else None
        for source, is_joined in names.sources(value, made):  # what is put together is cut behind its loads
            of_one = source in names.handed_on
            is_divided = divided in dims and not (is_joined or of_one)
            port, part = names.ports.get(source), names.part_of_port(value, dims, generic) if is_divided else Fraction(1)
            yield MemoryOperand(names.tensor(source), is_divided, None if of_one else at_once, port, part=part, input=index)
    for value, dims in zip(generic.results, loops.output_dims, strict=True):
        at_once = None if loops.reductions else _entries_at_once(value, names.port_bits)  # sums leave one by one
        is_divided = divided in dims
        for use in uses_through(value, MOVEMENTS):
            if use.operation not in made and not isinstance(use.operation, tensor.InsertSliceOp):
                stored = use.operation.operands[use.index]
                port, part = names.stores.get(stored), names.part_of_port(value, dims, generic) if is_divided else Fraction(1)
                joins = stored in names.joining
                yield MemoryOperand(names.tensor(stored), is_divided, at_once, port, is_written=True, part=part, joins=joins)


def _entries_at_once(value: SSAValue, port_bits: int) -> int:
    """How many entries of a tensor a memory port of so many bits brings, in the scalars that words hold for them."""
    assert isa(value.type, TensorType)
    return port_bits // bits_of(stored_type(value.type.element_type, PORT_LANES))


# What copies divide ---------------------------------------------------------------------------------------------------

Loop = tuple[GenericOp, int]

WORTH_OUTERMOST = 0.8
"""Share of the work along the most shared loop that makes an outer loop preferable: its copies hand on whole rows, in order."""


def _unshaped(value: SSAValue) -> tuple[SSAValue, Sequence[int | None]]:
    """What `value` is a reshape of, or itself, and the dimension of that which each of `value` divides as well, or None."""
    places: Sequence[int | None] = range(len(shape_of(value.type)))
    while isinstance(op := value.owner, tensor.ExpandShapeOp | tensor.CollapseShapeOp):
        value, places = op.src, [None if place is None else source_dimension(op, place) for place in places]
    return value, places


def _may_be_divided_alike(reader: GenericOp, loop: int) -> bool:
    """Whether copies of what a `reader` of a reshape reads may be copies of it, too, without anything else having to have as many:
    what it makes along its `loop` is combined at once, by readers that reduce that."""
    loops = GenericLoops(reader)
    uses = [(use, dims) for result, dims in zip(reader.results, loops.output_dims, strict=True) for use in result.uses]
    return loops.extents[loop] > 1 and all(loop in dims and _reduces(use, dims.index(loop)) for use, dims in uses)


def _reduces(use: Use, dimension: int) -> bool:
    """Whether a generic reduces a dimension of one of its inputs."""
    if not isinstance(reader := use.operation, GenericOp) or use.index >= len(reader.inputs):
        return False
    loops = GenericLoops(reader)
    return loops.input_dims[use.index][dimension] in loops.reductions


class _SharedLoops:
    """Which loops of which generics run along the same dimension of the tensors between them."""

    def __init__(self, generics: Sequence[GenericOp], parameters: set[SSAValue], sizes: RunTimeSizes, *, joined: bool):
        self._sizes = sizes
        self._shared = UnionFind()
        """Loops along one dimension."""
        self._divided_alike = UnionFind()
        """Those of them that have as many copies."""
        self._readers: dict[Loop, list[tuple[GenericOp, int, Sequence[int]]]] = {}
        self._summed: dict[Loop, bool] = {}
        self._order = {generic: index for index, generic in enumerate(generics)}
        self.makers: dict[GenericOp, GenericOp] = {}
        """Of readers of reshapes that are divided as what makes these."""
        for generic in [op for op in generics if not ENDS_LAYERS.on(op)]:  # behind which copies are others
            for value, dims in zip(generic.inputs, GenericLoops(generic).input_dims, strict=True):
                made, places = _unshaped(value)
                producer = made.owner
                if not isinstance(producer, GenericOp) or not isinstance(made, OpResult) or value in parameters:
                    continue
                made_by = GenericLoops(producer).output_dims[made.index]
                for place, own in zip(places, dims, strict=True):
                    if place is not None and (made is value or (joined and _may_be_divided_alike(generic, own))):
                        self._readers.setdefault((producer, made_by[place]), []).append((generic, own, dims))
                        self._shared.union((producer, made_by[place]), (generic, own))
                        if not self._repeats_at_run_time(generic, dims):
                            self._divided_alike.union((producer, made_by[place]), (generic, own))
                        if made is not value:
                            self.makers[generic] = producer
        self._work: dict[Loop, int] = {}
        self._families: dict[Loop, int] = {}
        for generic in generics:
            for loop in self._divisible(generic):
                root = self._shared[generic, loop]
                self._work[root] = self._work.get(root, 0) + prod(GenericLoops(generic).extents)
                self._families.setdefault(self._divided_alike[generic, loop], len(self._families))

    def _repeats_at_run_time(self, generic: GenericOp, dims: Sequence[int]) -> bool:
        """Whether `generic` reads a tensor of known size, along `dims`, in loops of run-time size, as a score a query, for each
        position of a cache: who makes that is divided along the same dimension, but may have other copies."""
        trips = self._sizes.loops_of(generic)
        return not all(map(is_static, trips)) and all(is_static(trips[loop]) for loop in dims)

    def divided_loop(self, generic: GenericOp) -> int | None:
        """The loop that copies of `generic` divide: the outermost, unless much more of the work around it lies along another. What
        readers only sum up along a loop is divided along another, if there is one: else each copy would have a part of every
        sum."""
        divisible = [] if ENDS_LAYERS.on(generic) else self._divisible(generic)
        loops = [loop for loop in divisible if not self._is_summed((generic, loop))] or divisible
        shared = {loop: self._work[self._shared[generic, loop]] for loop in loops}
        return next((loop for loop in loops if shared[loop] >= WORTH_OUTERMOST * max(shared.values())), None)

    def dealt_loop(self, generic: GenericOp, divided: int | None) -> int | None:
        """The loop whose iterations parts of a copy may take in turn: the outermost beside the `divided` one and that of lanes that
        what is no parameter has, too, so that its tokens come in turn, as well; None where there is none."""
        loops = GenericLoops(generic)
        possible = [loop for loop in self._divisible(generic) if loop not in (divided, _lane_loop(generic))]
        return next((loop for loop in possible if loop in loops.input_dims[0]), None)

    def family(self, generic: GenericOp, loop: int | None) -> int:
        """The same number for generics that hand each other slices."""
        return -1 - self._order[generic] if loop is None else self._families[self._divided_alike[generic, loop]]

    def _is_summed(self, loop: Loop) -> bool:
        """Whether all readers of what is made along `loop` only sum that up, at once or behind what changes each entry: they take
        each entry once."""
        if loop not in self._summed:
            readers = self._readers.get(loop, ())
            self._summed[loop] = bool(readers) and all(self._only_sums(*reader) for reader in readers)
        return self._summed[loop]

    def _only_sums(self, reader: GenericOp, own: int, dims: Sequence[int]) -> bool:
        loops = GenericLoops(reader)
        if own in loops.reductions:
            return all(at in dims or extent == 1 for at, extent in enumerate(loops.extents))
        return not loops.reductions and self._is_summed((reader, own))

    def _divisible(self, generic: GenericOp) -> list[int]:
        """The loops that every result has, whose index nobody asks for, and of which as much is there in every launch."""
        loops, trips = GenericLoops(generic), self._sizes.loops_of(generic)
        asked = asked_loops(generic)
        common = set(loops.output_dims[0]).intersection(*loops.output_dims)
        possible = [loop for loop in loops.parallels if loop in common and loop not in asked and is_static(trips[loop])]
        return [loop for loop in possible if loops.extents[loop] > 1]
