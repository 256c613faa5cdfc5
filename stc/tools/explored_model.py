"""A model as a problem for `stc.exploration`: everything that its `schedule.toml` decides, estimated or built and run.

The model is exported and brought to the pass that chooses parallelism once. An estimate then goes no further than the orders of
loops; what is copied alike is copied once. A simulation is a whole compile of the point's `schedule.toml`.
"""

from __future__ import annotations

import hashlib
import shutil
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property, lru_cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

from xdsl.dialects.builtin import ModuleOp

from stc.analysis.generic_loops import name_of
from stc.analysis.host_work import functions_of
from stc.design_space.order_propagation import TiledOp, TilingNode
from stc.design_space.orders import TileSizes
from stc.design_space.parallelism import Parallelism, Serving, counts_of
from stc.design_space.parallelism_search import shortest_parallelism
from stc.diagnostics import CompileError, PassCrashed
from stc.dialects.context import make_context
from stc.exploration.estimate import graph_estimate
from stc.exploration.loop_space import LoopSpace
from stc.exploration.parallel_space import ParallelSpace
from stc.exploration.problem import OBJECTIVES, CannotEvaluate, Choice, Objectives, Point, Value, point_of
from stc.manifest.files import read_manifest
from stc.manifest.layouts import of_entries
from stc.manifest.model_files import cache_layout
from stc.pipeline import IN_TURN, SHARED, PipelineOptions, Step, places, run_stages
from stc.platforms.budget import Counts, searched_limits
from stc.platforms.platform import load_platform
from stc.simulation.build import find_compiler
from stc.simulation.simulate import simulate
from stc.strategies.parallelism import PARALLELISM, ParallelismProblem
from stc.strategies.tiling import TILING, TilingProblem
from stc.tools.budget_fit import fit_of_report
from stc.tools.compile import compile_from
from stc.tools.plan import as_stages
from stc.tools.request import CompileRequest
from stc.tools.schedule_file import FILE, NOT_IN_FILE, schedule_text, with_schedule
from stc.tools.start import Start, start_of
from stc.transforms.linalg.apply_schedule import decided_schedules
from stc.transforms.linalg.choose_parallelism import ChooseParallelism, Computation, computations, give_parallelism, port_counts
from stc.transforms.linalg.distribute_parallel import DistributeParallel
from stc.transforms.linalg.propagate_orders import PropagateOrders, TilingGraph

PARTS = (2, 4, 8, 16, 32)
"""Of the budget, within each of which a search gives a point to begin with."""

DISTRIBUTED = 64
"""Ways to copy computations whose graphs are kept: about a megabyte each."""

ESTIMATED: Mapping[str, tuple[tuple[Value, ...], str]] = {
    "tile": ((4, 8, 16, 32, 64), "tile of a last dimension that no stream fixes"),
    "rows": ((8, 32, 128), "rows of activations that share one pass over weights"),
}
SIMULATED: Mapping[str, tuple[tuple[Value, ...], str]] = {
    "lanes": ((0, 4, 8, 16), "entries of a token where no schedule says"),
    "duplicate_loads": ((-1, 0), "bytes on chip that reading an input again has to save"),
    "serial_converters": (("never", "free", "always"), "whether a converter receives and sends in turn"),
    "fusion": (("greedy", "separate"), "groups of kernels"),
    "converters": (("smallest", "published"), "buffers of converters"),
    "fifo_strategy": (("no-stall", "published-normal", "published-conservative"), "FIFO depths"),
    "slack": ((0.0, 0.05, 0.2), "part of the cycles that FIFOs may lose"),
    "fifo_margin": ((-1, 10, 50), "per cent of slots beyond what is required"),
    "run_ahead": ((0, 4096, 65536), "bytes of FIFOs that loads fill"),
    "pipeline_style": (("stp", "frp", "flp"), "how pipelined loops wait"),
}
"""Options of the pipeline by the field of `PipelineOptions`: values that are explored, and what they are. Estimates see the former;
what the latter do shows in simulations. Options that change what is computed, or for which device, are no choices."""

_OF_MODEL = ("model", "stage", "seq", "max_seq", "run_time_sizes", "seed", "weights", "layer")
"""What a request says of the model."""

LEAST_FREE = 1 << 20
"""Bytes of the temporary folder: with fewer left, a failure says nothing of the design."""

OPTION = "options."
"""Begins the names of such choices."""


@dataclass
class ExploredModel:
    """The problem of one stage of a model. `start`: the model before all passes; it is not changed. `shared`: inputs that other
    stages have, too, and in the same layout."""

    start: Start
    progress: Callable[[str], None] = lambda _: None
    shared: Sequence[str] = ()
    _prefix: ModuleOp = field(init=False, repr=False)

    def __post_init__(self) -> None:
        options = self.start.options
        if self.start.begin:
            what = "the model is IR behind passes that decide about it"
            raise CompileError(what, where=self.start.request.model, accepted="a model, or linalg on tensors that no pass has seen")
        require_searched(options)
        if options.layers > 1:
            raise CompileError(f"--layers {options.layers}", accepted="a launch of one layer: each is explored alone")
        if not options.propagate_orders:
            raise CompileError("--uniform-tiles leaves no orders of loops to explore", accepted="a compile without it")
        self._prefix = self.start.model.module.clone()
        run_stages(self._prefix, make_context(), as_stages(self._steps))
        self._distributed = lru_cache(DISTRIBUTED)(self._distributed_graph)

    @property
    def name(self) -> str:
        request = self.start.request
        return f"{self.start.model.name}, {request.stage}"

    @property
    def objectives(self) -> Mapping[str, str]:
        return OBJECTIVES

    @property
    def identity(self) -> Mapping[str, Any]:
        request, options = self.start.request, asdict(self._options)
        said = {name: getattr(request, name) for name in _OF_MODEL}
        platform = load_platform(self._options.platform)
        choices = {choice.name for choice in self.space}
        left_out = {*NOT_IN_FILE, "platform", *(name for name in options if f"{OPTION}{name}" in choices)}
        said |= {name: value for name, value in options.items() if name not in left_out}
        said |= {"platform": platform.name, "platform_sha256": _digest(platform.text)}
        said |= {"module_sha256": _digest(str(self._prefix)), "stc_version": version("stc")}
        return {**said, "choices": {choice.name: list(choice.values) for choice in self.space}, "default": dict(self.default())}

    @property
    def space(self) -> Sequence[Choice]:
        return self._space

    @cached_property
    def _space(self) -> list[Choice]:
        return [*self._parallel.choices, *self._loops.choices, *_option_choices(self._options, self.start.request.given)]

    def default(self) -> Point:
        return point_of(self.space, self._parallel.point(self._parallel.default))

    def seeds(self) -> Sequence[Point]:
        problem, found = self._problem, [self.default()]
        for parts in PARTS:
            most = Counts(*[count // parts for count in problem.most])._replace(ports=problem.most.ports)
            plan = shortest_parallelism(problem.works, most, problem.port)
            found.append(point_of(self.space, self._parallel.point(plan)))
        found.append(point_of(self.space, self._parallel.point({work.name: Parallelism(1, 1) for work in problem.works})))
        return [point for number, point in enumerate(found) if point not in found[:number]]

    def evaluate(self, point: Point, simulate: bool = False) -> Objectives:
        point = point_of(self.space, point)
        return self._simulated(point) if simulate else self._estimated(point)

    def schedules(self, point: Point) -> Mapping[str, str]:
        point = point_of(self.space, point)
        plan, options = self._parallel.parallelism(point), _chosen_options(self._options, point)
        module = self._prefix.clone()
        for computed in self._computed(module):
            give_parallelism(computed, plan[computed.work.name])
        DistributeParallel().apply(make_context(), module)
        tiler = PropagateOrders(options.tile, options.rows, options.token_lanes, options.tiling)
        for function in functions_of(module):
            graph = TilingGraph(function, options.token_lanes)
            nodes = [node for node in graph.nodes if isinstance(node, TiledOp)]
            names = {node.name: self._copied(graph, node) for node in nodes}
            plans = self._loops.changed(_tiled(graph.nodes, options), point, names)
            for node in nodes:
                tiler.schedule(graph.generics[node.name], plans[node.name], node)
        return {FILE: schedule_text(options, decided_schedules(module), None, (), {}, {}, {}, plan, {})}

    # Estimates --------------------------------------------------------------------------------------------------------

    def _estimated(self, point: Point) -> Objectives:
        plan, options = self._parallel.parallelism(point), _chosen_options(self._options, point)
        graph = self._distributed(tuple((chosen.copies, chosen.parts) for chosen in plan.values()))
        nodes = [_with_parallelism(node, plan, graph.names) for node in graph.nodes]
        plans = self._loops.changed(_tiled(nodes, options), point, graph.names)
        works = {work.name: work for work in self._problem.works}
        cycles = {name: works[work].cycles(plan[work]) for name, work in graph.names.items()}
        found = graph_estimate(nodes, plans, cycles, TileSizes(options.tile, options.rows))
        taken = counts_of(self._problem.works, plan, self._problem.port)
        beyond, counts = taken.beyond(self._problem.most), taken._asdict()
        return Objectives(found.cycles, found.on_chip_bytes, taken.dsp, found.bytes_moved, "estimated", beyond, taken=counts)

    def _distributed_graph(self, tasks: tuple[tuple[int, int], ...]) -> _Graph:
        module = self._prefix.clone()
        for computed, (copies, parts) in zip(self._computed(module), tasks, strict=True):
            give_parallelism(computed, Parallelism(1, copies, parts=parts))
        DistributeParallel().apply(make_context(), module)
        nodes: list[TilingNode] = []
        names: dict[str, str] = {}
        for function in functions_of(module):
            graph = TilingGraph(function, self._options.token_lanes)
            nodes += graph.nodes
            names |= {node.name: self._copied(graph, node) for node in graph.nodes if isinstance(node, TiledOp)}
        return _Graph(nodes, names)

    def _copied(self, graph: TilingGraph, node: TiledOp) -> str:
        """The computation that a node is, or is a copy of."""
        name = str(name_of(graph.generics[node.name]))
        known = {str(name_of(computed.generic)): computed.work.name for computed in self._base}
        while name and name not in known:
            name = name.rpartition("_")[0]
        return known[name]

    def _computed(self, module: ModuleOp) -> list[Computation]:
        """The computations of a clone, in the order of ours."""
        own = [op for function in functions_of(self._prefix) for op in function.body.block.ops]
        theirs = [op for function in functions_of(module) for op in function.body.block.ops]
        twin = dict(zip(own, theirs, strict=True))
        return [replace(computed, generic=twin[computed.generic]) for computed in self._base]

    @property
    def _options(self) -> PipelineOptions:
        return self.start.options

    @cached_property
    def _steps(self) -> Sequence[Step]:
        """What runs before parallelism is chosen."""
        return self.start.steps[: places(self.start.steps, ChooseParallelism.name)[0]]

    @cached_property
    def _base(self) -> list[Computation]:
        platform = load_platform(self._options.platform)
        functions = functions_of(self._prefix)
        if len(functions) != 1:
            raise CompileError(f"the model has {len(functions)} functions", where=self.start.request.model, accepted="one")
        options = self._options
        limits = searched_limits(options.search_within or options.budget, options.platform)
        assert limits is not None
        serving = Serving.of(options.elements_per_port, limits.ports, sums_in_turn=options.sums == IN_TURN)
        serving = serving if options.contractions == SHARED else None
        in_turn = options.weight_ports == IN_TURN
        return computations(functions[0], platform, in_turn=in_turn, serving=serving, layers=options.layers)

    @cached_property
    def _problem(self) -> ParallelismProblem:
        options = self._options
        most = searched_limits(options.search_within or options.budget, options.platform)
        assert most is not None
        port = port_counts(load_platform(options.platform))
        return ParallelismProblem([computed.work for computed in self._base], most, port=port, rank=options.search_rank)

    @cached_property
    def _parallel(self) -> ParallelSpace:
        return ParallelSpace(self._problem.works, PARALLELISM.decide(self._options.parallelism, self._problem))

    @cached_property
    def _loops(self) -> LoopSpace:
        graph = TilingGraph(functions_of(self._prefix)[0], self._options.token_lanes)
        ops = [node for node in graph.nodes if isinstance(node, TiledOp)]
        return LoopSpace([replace(op, name=self._copied(graph, op)) for op in ops])

    # Simulations ------------------------------------------------------------------------------------------------------

    def _simulated(self, point: Point) -> Objectives:
        try:
            find_compiler()
            scratch = tempfile.TemporaryDirectory(prefix="stc-explore-")
        except (CompileError, OSError) as error:
            raise CannotEvaluate(f"no design can be simulated: {error}") from None
        with scratch as folder:
            try:
                return self.simulated_in(Path(folder) / "design", self.schedules(point)[FILE])
            except (CompileError, PassCrashed, OSError) as error:
                if shutil.disk_usage(folder).free < LEAST_FREE:
                    raise CannotEvaluate("no design can be simulated: the disk is full", where=tempfile.gettempdir()) from error
                if isinstance(error, CompileError):
                    raise _without(folder, error) from error
                raise

    def simulated_in(self, folder: Path, schedule: str) -> Objectives:
        """Compile the model by `schedule` into the new `folder`, build and run its C++. CompileError for what cannot be made, does
        not end, or computes something else than PyTorch."""
        given = folder.with_name(f"{folder.name}.toml")
        given.write_text(schedule, encoding="utf-8")
        options = with_schedule(replace(self._options, schedule=str(given)), ())
        model = replace(self.start.model, module=self.start.model.module.clone())
        request = replace(self.start.request, options=options)
        start = Start(request, model, options, request.plan.steps(options), 0, self.start.source)
        report = compile_from(start, folder, self.progress, {"torch_import": 0.0, "export": 0.0}, is_named=False)
        self.progress("building and running the emitted C++ with time")
        result = simulate(folder)
        if result.cycles is None or not result.passed:
            outcome = result.values.outcome if result.cycles is None else "values differ from the reference's"
            raise CompileError(f"the design did not pass its simulation: {outcome}", accepted="another point")
        memory, traffic = report["memory_bytes"], report["external_traffic_bytes"]
        on_chip = sum(memory[part] for part in ("converters", "fifos", "local"))
        dsp, moved = report["resources"]["total"]["dsp"], traffic["read"] + traffic["written"]
        taken = fit_of_report(options, report).emitted._asdict()
        manifest = read_manifest(folder)
        layouts = {name: str(of_entries(cache_layout(manifest, name, folder.name))) for name in self.shared}
        return Objectives(result.cycles, on_chip, dsp, moved, "simulated", taken=taken, layouts=layouts)


def _without(folder: str, error: CompileError) -> CompileError:
    """The same said of files by their names in `folder`, which nobody can look into afterwards."""
    def short(text: str | None) -> str | None:
        return None if text is None else text.replace(f"{folder}/", "")

    return CompileError(error.what.replace(f"{folder}/", ""), where=short(error.where), accepted=short(error.accepted))


def require_searched(options: PipelineOptions) -> None:
    """CompileError where lanes and copies are not for a search to choose."""
    if not options.is_searched or options.overall_unroll_size:
        raise CompileError("lanes and copies are not searched", where=f"--budget {options.budget}", accepted="plan, or amounts")


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def explored_model(request: CompileRequest, progress: Callable[[str], None] = lambda _: None) -> ExploredModel:
    """The problem of what `request` names; CompileError where it is unusable."""
    progress("export to linalg")
    start = start_of(request)
    progress("passes before parallelism is chosen")
    return ExploredModel(start, progress)


@dataclass(frozen=True)
class _Graph:
    """The nodes of a model whose computations are copied, and by node of which computation it is a copy."""

    nodes: Sequence[TilingNode]
    names: Mapping[str, str]


def _with_parallelism(node: TilingNode, plan: Mapping[str, Parallelism], names: Mapping[str, str]) -> TilingNode:
    if not isinstance(node, TiledOp):
        return node
    chosen = plan[names[node.name]]
    return replace(node, terms=chosen.lanes) if node.lanes_are_terms else replace(node, lanes=chosen.lanes, rows=chosen.rows)


def _tiled(nodes: Sequence[TilingNode], options: PipelineOptions) -> Mapping[str, Any]:
    return TILING.decide(options.tiling, TilingProblem(nodes, TileSizes(options.tile, options.rows)))


def _option_choices(options: PipelineOptions, given: frozenset[str]) -> list[Choice]:
    """Options that the user did not say; what a compile without a word takes is a value of each."""
    found: list[Choice] = []
    for table, is_estimated in ((ESTIMATED, True), (SIMULATED, False)):
        for name, (values, says) in table.items():
            own = getattr(options, name)
            if name not in given:
                found.append(Choice(f"{OPTION}{name}", values if own in values else (own, *values), own, says, is_estimated))
    return found


def _chosen_options(options: PipelineOptions, point: Point) -> PipelineOptions:
    said: dict[str, Any] = {name.removeprefix(OPTION): value for name, value in point.items() if name.startswith(OPTION)}
    return replace(options, **said)
