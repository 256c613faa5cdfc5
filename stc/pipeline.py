"""The named pipeline: which passes make up each stage of a compile (docs/design/method.md section 3).

Stage names are the published ones, so that compile times can be compared stage by stage. A researcher swaps a pass by
building another sequence of `Stage`s, or runs any part of it with `stc-opt --from ... --until ...`.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, get_args

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.utils.arg_spec import ArgSpecConvertible

from stc.design_space.converter_choice import Serial
from stc.design_space.parallelism import Serving
from stc.diagnostics import CompileError
from stc.dialects.preconditions import refused
from stc.dialects.reverification import Reverification
from stc.manifest.bitstreams import SEPARATE
from stc.platforms.budget import PLAN, SMALL, Budget, searched_limits
from stc.platforms.fifo_storage import MARGIN
from stc.platforms.platform import DEFAULT_PLATFORM, load_platform
from stc.quantisation.formats import BF16, read_quantisation
from stc.strategies.registry import decision
from stc.transforms import all_passes
from stc.transforms.finding_pass import run_pass
from stc.transforms.linalg import LINALG_STAGE
from stc.transforms.pass_pipeline import LISTS, NamedPass, did_you_mean, name_pipeline, read_pipeline, ready

DECIDED_BY = {
    "tiling": "tiling",
    "fusion": "fusion",
    "converters": "converters",
    "parallelism": "parallelism",
    "fifo_strategy": "fifos",
    "units": "units",
    "dies": "dies",
}
"""Options that name a strategy, and for which decision (`stc.strategies.registry`)."""

UNCHECKED, TOGETHER = "unchecked", "together"
"""Whether all kernels have to fit the plan together, where they are linked into one bitstream."""
GROUPS = (UNCHECKED, TOGETHER, *SEPARATE)

APART, IN_TURN = "apart", "in-turn"
"""Whether memory ports bring the parameters of one computation each, or of several."""

OPERATORS, ADDERS = "operators", "adders"
"""What makes floats of integers, and integers of floats: converters of the vendor's, or, of few bits, adders of floats."""

SHARED = "shared"
"""Contractions that take turns at a port compute on one set of multipliers; else each has its own (`APART`)."""

BEHIND_LAYERS = "behind-layers"
"""The head of a whole model follows its last layer in one launch; else it has a launch, and a design, of its own (`APART`)."""

BY_HEAD, BY_POSITION = "by-head", "by-position"
"""Memory has the rows of a cache one head behind the other, or those of all heads at a position side by side: one burst."""

_WORDS_OF = {
    "weight_ports": (APART, IN_TURN), "conversions": (OPERATORS, ADDERS), "contractions": (APART, SHARED),
    "sums": (APART, IN_TURN), "head": (APART, BEHIND_LAYERS), "caches": (BY_HEAD, BY_POSITION),
}  # fmt: skip
"""What these options may be."""

WIDEST_WORD_BITS = 512
"""Of a memory port where nothing else is said to passes: the widest that there is."""

NARROW_TOKENS = 4
"""The same where lanes are chosen, and tokens as wide as these where it matters. A block of gpt2-medium at 32 tokens with 4 copies
of every computation takes 888,593 LUTs and 651,156 cycles with 16 entries, 784,689 and 670,414 with 4; at one token 366,278 and
114,130 with 16, 330,950 and 115,318 with 4 (estimated)."""


@dataclass(frozen=True)
class PipelineOptions(ArgSpecConvertible):
    """What a user may decide about a compile.

    `tile`: default tile size. `rows`: rows of activations that share one pass over the weights. `propagate_orders`: choose tiles
    and loop orders by what neighbours want, rather than one tile size for everything. `lanes`: entries of a token where no
    schedule asks for another width, 0 for a word of a memory port in f32, but at most `NARROW_TOKENS` where lanes are searched.
    `on_chip`: bytes for a group, 0 for what the platform has. `duplicate_loads`: bytes on chip that reading an input once more has
    to save, 0 for none, -1 for what a memory port costs.
    `serial_converters`: whether a converter may receive and send in turn: never, free (where it costs no time), always.
    `budget`: within which lanes and copies of the computations are chosen, and what integers are multiplied in
    (`stc.platforms.budget`); plan for what the platform's plan allows, small for `lanes` everywhere and no copies.
    `search_within`: a budget of which the search knows instead, since what it chose within `budget` took more; empty for none.
    `search_rank`: which of the designs that the search finds is taken, 1 for the best by its model.
    `groups`: together refuses a design whose kernels, all in one bitstream, take more than the platform's plan allows; unchecked;
    bitstream-each and cards: each kernel is a bitstream of its own, all in turn on one device, or each on a device of its own.
    `overall_unroll_size`: points of all computations that may run at once, for the strategies that are bounded by it (published).
    `schedule`: path of a `schedule.toml`, empty for none. `kernel_name`: what the accelerator is called. `fifo_depths`: path of a
    JSON object of required depths by FIFO, empty for none. `tiling`, `fusion`, `converters`, `parallelism`, `fifo_strategy`,
    `units`, `dies`: the strategies (`stc.strategies`) that choose tiles and orders, groups of kernels, converters, lanes and
    copies, depths, the compute units that a kernel is built as, and the die of each.
    `pipeline_style`: of all loops (stp, flp), or of those without memory ports (frp).
    `slack`: part of the cycles that FIFOs may lose; `fifo_margin`: per cent that their depths get beyond what is required, -1 for
    exactly that; `weight_ports`: whether ports bring the parameters of one computation each (apart), or of several that wait for
    one another (in-turn); `contractions`: whether those that are alike and get their parameters in turn share their multipliers
    (shared; apart); `sums`: whether what takes sums of those has operators in common, too (in-turn), or for each its own (apart);
    `elements_per_port`: how many tasks of those each port brings parameters, a word to each in turn; `conversions`: what makes
    short integers of floats, and floats of them (operators, adders: `convert-by-adding`); `head`: whether that of a whole model is
    a design of its own (apart), or follows the layers, which are all in one launch (behind-layers); `caches`: whether memory has
    the positions of a head together (by-head), or the heads of a position (by-position), which one burst reads, and FIFOs hold
    until their turn; `tokens_per_launch`: how many tokens a launch of all layers and the head computes, each behind the one
    before, with an embedding on the device; `position_rows`: those of a table of positions that the model adds to it, 0 where
    there is none; `run_ahead`: bytes of all FIFOs together that load tasks of one tensor fill, 0 for what each needs.
    `quantize`: which linear layers compute on integers, and how (`stc.quantisation.formats`), empty for none.
    `unsafe_math`: whether the vendor's tool may reassociate float additions and multiply by reciprocals of constants.
    """

    name: ClassVar[str] = "compile"

    platform: str = DEFAULT_PLATFORM
    tile: int = 16
    rows: int = 128
    lanes: int = 0
    propagate_orders: bool = True
    on_chip: int = 0
    duplicate_loads: int = -1
    serial_converters: str = "free"
    budget: str = PLAN
    search_within: str = ""
    search_rank: int = 1
    overall_unroll_size: int = 0
    schedule: str = ""
    kernel_name: str = ""
    tiling: str = "propagated"
    fusion: str = "greedy"
    converters: str = "smallest"
    parallelism: str = "shortest"
    fifo_strategy: str = "no-stall"
    units: str = "one"
    dies: str = "unassigned"
    groups: str = UNCHECKED
    weight_ports: str = APART
    contractions: str = APART
    sums: str = APART
    elements_per_port: int = 1
    conversions: str = OPERATORS
    layers: int = 1
    head: str = APART
    caches: str = BY_HEAD
    tokens_per_launch: int = 1
    position_rows: int = 0
    fifo_depths: str = ""
    slack: int | float = 0.0
    fifo_margin: int = MARGIN
    run_ahead: int = 0
    unsafe_math: bool = False
    pipeline_style: str = "stp"
    quantize: str = ""

    def __post_init__(self) -> None:
        """Refuse at once, by the name the user gave it, what some pass would refuse later; CompileError."""
        numbers = {"tile": 1, "rows": 1, "lanes": 0, "on_chip": 0, "duplicate_loads": -1, "overall_unroll_size": 0}
        numbers |= {"search_rank": 1, "layers": 1, "elements_per_port": 1, "tokens_per_launch": 1}
        numbers |= {"slack": 0, "fifo_margin": -1, "run_ahead": 0}
        for name, least in numbers.items():
            if (value := getattr(self, name)) < least:
                raise CompileError(f"{name} is {value}", accepted=f"at least {least}")
        if self.is_searched:
            Budget.parse(self.budget)
        if self.search_within:
            Budget.parse(self.search_within)
        if self.serial_converters not in get_args(Serial):
            raise CompileError(f"serial-converters is '{self.serial_converters}'", accepted=" or ".join(get_args(Serial)))
        if self.groups not in GROUPS:
            raise CompileError(f"groups is '{self.groups}'", accepted=f"{', '.join(GROUPS[:-1])} or {GROUPS[-1]}")
        if self.groups in SEPARATE and self.dies != PipelineOptions.dies:
            what = f"groups={self.groups} with dies={self.dies}, which places the units of all groups on one device"
            raise CompileError(what, accepted=f"dies={PipelineOptions.dies}, or groups={UNCHECKED} or {TOGETHER}")
        for name, words in _WORDS_OF.items():
            if (word := getattr(self, name)) not in words:
                raise CompileError(f"{name.replace('_', '-')} is '{word}'", accepted=" or ".join(words))
        if self.contractions == SHARED and self.weight_ports != IN_TURN:
            what = f"contractions={SHARED} with weight-ports={self.weight_ports}"
            raise CompileError(what, accepted=f"weight-ports={IN_TURN}, which says what takes turns")
        if self.sums == IN_TURN and self.contractions != SHARED:
            what = f"sums={IN_TURN} with contractions={self.contractions}"
            raise CompileError(what, accepted=f"contractions={SHARED}, whose sums come one after the other")
        if self.elements_per_port > 1 and self.contractions != SHARED:
            what = f"elements-per-port={self.elements_per_port} with contractions={self.contractions}"
            raise CompileError(what, accepted=f"contractions={SHARED}, which makes tasks that take parameters in turn")
        if self.layers > 1 and self.units == PipelineOptions.units:
            what = f"layers={self.layers} with units={self.units}"
            raise CompileError(what, accepted="a strategy for more units, such as units=memory")
        if read_quantisation(self.quantize).kv == BF16 and self.layers > 1:
            raise CompileError(f"layers={self.layers} with kv={BF16}", accepted="kv=f32 or kv=int8, or a launch for each layer")
        for name, decided in DECIDED_BY.items():
            if (value := getattr(self, name)) != getattr(type(self), name):  # ours need not be imported to be known
                decision(decided).find(value)

    @property
    def is_searched(self) -> bool:
        """Whether lanes and copies are."""
        return self.budget != SMALL

    @property
    def token_lanes(self) -> int:
        """Entries of a token where no schedule asks for another width."""
        wide = self.word_bits // 32
        return self.lanes or (min(NARROW_TOKENS, wide) if self.is_searched else wide)

    @property
    def word_bits(self) -> int:
        """Bits of a word of the platform's memory ports; CompileError where there is no such platform."""
        return load_platform(self.platform).memory.word_bits


REPEAT_LAYERS = "repeat-layers"
"""The pass behind which a module computes all layers of a launch."""


@dataclass(frozen=True)
class Stage:
    """A published stage and the passes that make it up: as `stc-opt -p` spells them, or ready to run."""

    name: str
    passes: tuple[str | ModulePass, ...]


def stages(options: PipelineOptions) -> tuple[Stage, ...]:
    """The whole compile, from linalg on tensors to what is printed."""
    schedule = (f'apply-schedule{{path="{options.schedule}"}}',) if options.schedule else ()
    if options.propagate_orders:
        sizes = f"columns={options.tile} rows={options.rows} lanes={options.token_lanes}"
        tiles = f'propagate-orders{{{sizes} strategy="{options.tiling}"}}'
    else:
        tiles = f"default-tile-size{{size={options.tile} lanes={options.token_lanes}}}"
    on = f'platform="{options.platform}"'
    limits = f'budget="{_in_one_spelling(options.budget)}" {on}'
    searched = f'budget="{_in_one_spelling(options.search_within or options.budget)}" {on}'
    overall = f" overall-unroll-size={options.overall_unroll_size}" if options.overall_unroll_size else ""
    rank = f" rank={options.search_rank}" if options.search_rank > 1 else ""
    turns = " in-turn=true" if options.weight_ports == IN_TURN else ""
    alike = " shared=true" if options.contractions == SHARED else ""
    alike += " sums-in-turn=true" if options.sums == IN_TURN else ""
    alike += f" elements-per-port={options.elements_per_port}" if options.elements_per_port > 1 else ""
    repeated = f" layers={options.layers}" if options.layers > 1 else ""
    scheduled = f' schedule="{options.schedule}"' if options.schedule else ""
    others = f"{overall}{rank}{turns}{alike}{repeated}{scheduled}"
    chosen = f'choose-parallelism{{{searched} strategy="{options.parallelism}"{others}}}'
    decided = options.is_searched or options.schedule
    multipliers = (f'choose-multipliers{{{searched}{turns}{alike}{repeated}{scheduled}}}',) if decided else ()
    slices = f"split-slices{{{searched}}}"
    words = _words(options, "port-bits")
    narrow = f"narrow=true {on}{repeated}" if options.weight_ports == IN_TURN else ""
    pairs = _with_options("pack-products", words)
    adders = ("convert-by-adding",) if options.conversions == ADDERS else ()
    splits = (f"split-reductions{{{searched}}}", "split-arg-max")
    # What is merged is one computation to all that follows: its multipliers are chosen behind that, and other slices then.
    copied = options.is_searched or options.overall_unroll_size
    merged = (slices, "merge-contractions") if copied and options.contractions == SHARED else ()
    parallel = (slices, pairs, *adders, "transpose-operands", *splits, chosen, "distribute-parallel")
    if not copied:
        parallel = (pairs, *adders, "transpose-operands{parameters-only=true}")  # which costs nothing
    name = f' kernel-name="{options.kernel_name}"' if options.kernel_name else ""

    # Where weights are as the model stores them: later reshapes spread a reduction over several loops.
    quantised = LINALG_STAGE.index("propagate-reshapes")
    # What widens the factors of attention goes into its products: else a reshape may come in between.
    widened = ("fold-transposes", "fuse-elementwise", "narrow-sums")
    beside = f" tasks={tasks}" + _words(options, " port-bits") if (tasks := _tasks_of_weights(options)) else ""
    padded = (f'pad-hidden{{format="{options.quantize}"{beside}}}',) if tasks else ()
    quantize = (*padded, f'quantize-linear{{format="{options.quantize}"{beside}}}', *widened) if options.quantize else ()
    several = options.units != PipelineOptions.units or options.contractions == SHARED
    units = (f'assign-units{{strategy="{options.units}"{scheduled}}}',) if several else ()
    depths = (
        # Resource allocation, but it needs the time of every loop; the published stages have no place behind them.
        f'size-fifos{{strategy="{options.fifo_strategy}" slack={options.slack} depths="{options.fifo_depths}"{scheduled} '
        f'margin={options.fifo_margin} run-ahead={options.run_ahead} {limits}}}',
        f"choose-storage{{{limits}{scheduled}}}",  # of FIFOs as deep as they are now
    )
    dies = f'assign-dies{{strategy="{options.dies}"{scheduled} {on}}}'
    # By what FIFOs take; which then get deeper where they cross, so that it is checked once more.
    placed = (dies, *depths, dies) if options.dies != PipelineOptions.dies else ()
    layers = (_with_options(REPEAT_LAYERS, f"count={options.layers}", words),) if options.layers > 1 else ()
    table = f"positions={options.position_rows}" if options.position_rows else ""
    count = f"count={options.tokens_per_launch} {on}"
    steps = (_with_options("repeat-steps", count, table),) if options.tokens_per_launch > 1 else ()
    marked = ("mark-behind-layers",) if options.layers > 1 else ()
    shared = f"share-ports{{{on}{turns}{repeated}}}"
    interleaved, in_turn = (("interleave-loads",), ("load-in-turn",)) if options.weight_ports == IN_TURN else ((), ())
    sums = _with_options("share-contractions", "sums-in-turn=true" if options.sums == IN_TURN else "")
    sharing = (sums, "join-parameters") if options.contractions == SHARED else ()
    style = "" if options.pipeline_style == "stp" else f' style="{options.pipeline_style}"'

    def duplicate_loads(what: str) -> str:
        return f'duplicate-loads{what}{{least={options.duplicate_loads} {limits}}}'

    return (
        Stage("linalg optimisation", (*LINALG_STAGE[:quantised], *quantize, *LINALG_STAGE[quantised:])),
        Stage("linalg tiling", (*merged, *multipliers, *parallel, *schedule, tiles, "tile-linalg")),
        Stage(
            "kernel fusion",
            (
                "linalg-to-dataflow",
                f"layout-to-dataflow{{size={options.tile}}}",
                f'choose-groups{{on-chip={options.on_chip} {on} strategy="{options.fusion}"{name}{turns}{repeated}}}',
                "merge-kernels",
                "trim-boundaries",
                "insert-converters",
            ),
        ),
        Stage(
            "dataflow optimisation",
            (
                # Whole tiles, before forks: tasks are rebuilt and joined by their tile loops, and a stream is still one value.
                "flatten-tasks",
                f"move-converters{{lanes={options.token_lanes}}}",  # may leave converters in a row, and several of one stream
                "collapse-converters",  # before sharing, which also makes rows of converters, where they are smaller
                "share-converters",
                "fold-itensors",  # after moving, which rebuilds tasks of one computation only
                "insert-forks",
                _with_options("vectorize-streams", f"lanes={options.token_lanes}", _words(options, "bits")),
                duplicate_loads("-in-order"),
                "split-ports",
                "simplify-routing",
                f'choose-converters{{serial="{options.serial_converters}" strategy="{options.converters}"}}',
                "size-streams",  # behind all that is decided for the largest sizes
                "update-in-place",
                *((f"interleave-slices{{{on}}}",) if options.caches == BY_POSITION else ()),
                _with_options("pack-interfaces", words, narrow),
                f"cancel-packs{{on-chip={options.on_chip} {on}}}",
                "verify-streams",
            ),
        ),
        Stage("bufferization", ("lower-converters", "lower-layout", "lower-dmas", "lower-tasks")),
        Stage(
            "resource allocation",
            (*marked, *interleaved, shared, *in_turn, *sharing, "set-fifo-depths", duplicate_loads("")),
        ),
        Stage(
            "HLS optimisation",
            (
                "lower-linalg-to-loops",
                *(("allow-unsafe-math",) if options.unsafe_math else ()),
                "build-adder-trees",  # whose latency decides what follows
                f"expand-partial-sums{{{on}}}",
                "fuse-fills",  # behind what knows sums by what sets them
                f"fuse-writes{{{on}}}",  # before reads, for which it matters what an iteration takes
                f"fuse-reads{{{on}}}",  # behind partial sums: an interchange keeps the order of each
                f"sink-reads{{{on}}}",
                *units,
                *layers,  # behind fusion, which is within a layer; before directives, which loops over layers get, too
                "hoist-constants",
                f"hls-directives{{{on}{style}}}",
                *(("merge-banks",) if options.is_searched else ()),
                f"relax-intervals{{{on}}}",  # before FIFOs are sized for what pipelines hold
                *(("send-scalars",) if units else ()),
                *((f'apply-measurements{{schedule="{options.schedule}"}}',) if options.schedule else ()),
                *depths,
                *placed,
                *steps,  # behind all that is decided for one step, as which its figures are
                "verify-bounds",
            ),
        ),
    )


def _words(options: PipelineOptions, name: str) -> str:
    """The option of a pass that says how wide words of memory ports are, empty where they are as wide as any."""
    return "" if options.word_bits == WIDEST_WORD_BITS else f"{name}={options.word_bits}"


def _tasks_of_weights(options: PipelineOptions) -> int:
    """How many tasks of contractions may share multipliers: to as many ports bring weights, and they have DSPs for half of the
    products of a word of int4; 0 where none do, or nothing is searched."""
    limits = searched_limits(options.search_within or options.budget, options.platform)
    if options.contractions != SHARED or limits is None:
        return 0
    return min(Serving.of(options.elements_per_port, limits.ports).most, limits.dsp // (options.word_bits // 8))


def _with_options(name: str, *options: str) -> str:
    """A pass with those options that are not empty."""
    said = " ".join(filter(None, options))
    return f"{name}{{{said}}}" if said else name


def _in_one_spelling(budget: str) -> str:
    return budget if budget == SMALL else str(Budget.parse(budget))


@dataclass
class PipelineRun:
    """Seconds by stage, and by pass within it; what passes found, by label (`stc.transforms.finding_pass`)."""

    by_stage: dict[str, float] = field(default_factory=dict[str, float])
    by_pass: list[tuple[str, str, float]] = field(default_factory=list[tuple[str, str, float]])
    found: dict[str, Any] = field(default_factory=dict[str, Any])

    def add(self, stage: str, name: str, seconds: float) -> None:
        self.by_stage[stage] = self.by_stage.get(stage, 0.0) + seconds
        self.by_pass.append((stage, name, seconds))


Observer = Callable[[Stage, str, ModuleOp], None]
"""Called after each pass with the module as the pass left it."""


def run_stages(
    module: ModuleOp,
    context: Context,
    sequence: Sequence[Stage],
    observers: Sequence[Observer] = (),
    begin_pass: Callable[[Stage, str], None] = lambda stage, name: None,
    run: PipelineRun | None = None,
) -> PipelineRun:
    """Run every pass of every stage on `module`, in place, and check the IR after each (`begin_pass` is told before). What is found
    on the way is in `run`, where that is given.

    After a published stage, only the operations that may be left are. Raises CompileError where the input is refused, which the
    preconditions of all passes may do; any other exception is a defect of the pass it comes from.
    """
    run, checks = run or PipelineRun(), Reverification()
    if (violation := checks.unfit_for_passes(module)) is not None:
        raise refused(violation)
    for step in steps(sequence):
        stage, name = step.stage, step.one_pass.name
        begin_pass(stage, name)
        begin = time.perf_counter()
        if (found := run_pass(step.one_pass, context, module)) is not None:
            run.found[step.label] = found
        if (violation := checks.unfit_for_passes(module)) is not None:
            raise BrokenByPass(str(violation))
        if step.ends_stage:
            _require_legal(module, stage)
        run.add(stage.name, name, time.perf_counter() - begin)
        for observer in observers:
            observer(stage, name, module)
    return run


class BrokenByPass(Exception):
    """A defect of a pass: it left IR that is unsound, or an operation that its stage should have removed."""


def _require_legal(module: ModuleOp, stage: Stage) -> None:
    from stc.analysis.stage_legality import STAGES, illegal_ops  # knows every scalar operation: numpy, a tenth of a second

    if stage.name in STAGES and (found := next(illegal_ops(module, stage.name), None)) is not None:
        raise BrokenByPass(str(found))


@dataclass(frozen=True)
class Step:
    """One pass of a pipeline. `label`: its name, with `#2` behind it where it runs for the second time."""

    stage: Stage
    named: NamedPass[ModulePass]
    label: str
    ends_stage: bool

    @cached_property
    def one_pass(self) -> ModulePass:
        """The pass, ready to run; imported now."""
        return self.named.make()


def steps(sequence: Sequence[Stage]) -> list[Step]:
    """The passes of all stages, in order; each is imported when it is asked for."""
    passes, seen = all_passes(), Counter[str]()
    result: list[Step] = []
    for stage in sequence:
        own: list[NamedPass[ModulePass]] = []
        for entry in stage.passes:
            own += [ready(entry)] if isinstance(entry, ModulePass) else name_pipeline(entry, passes)
        for index, named in enumerate(own):
            seen[named.name] += 1
            label = named.name if seen[named.name] == 1 else f"{named.name}#{seen[named.name]}"
            result.append(Step(stage, named, label, index == len(own) - 1))
    return result


PIPELINES: Mapping[str, Callable[[], type[PipelineOptions]]] = {PipelineOptions.name: lambda: PipelineOptions}
"""The named pipelines: `stages` of their options."""


def read_options(text: str) -> PipelineOptions:
    """The pipeline that `text` names, `compile{tile=8 rows=64}`; CompileError says which name or option is unknown."""
    found = read_pipeline(text, PIPELINES, "pipeline")
    if len(found) != 1:
        raise CompileError(f"'{text}' names {len(found)} pipelines", accepted="one, 'compile{option=value ...}'")
    return found[0]


def part(whole: Sequence[Step], first: str = "", last: str = "") -> list[Step]:
    """The steps from `first` to `last`, both included; each names a stage or a pass, empty for either end.

    A stage may be written with hyphens, and small. CompileError for an unknown name, or where `last` comes before `first`.
    """
    begin = places(whole, first)[0] if first else 0
    end = places(whole, last)[-1] if last else len(whole) - 1
    if begin > end:
        raise CompileError(f"'{last}' comes before '{first}' in the pipeline", accepted="a part in the order of the pipeline")
    return list(whole[begin : end + 1])


def places(whole: Sequence[Step], name: str) -> list[int]:
    """The steps that `name` stands for: one pass, or all of a stage."""
    by_name = {hyphenated(step.stage.name): step.stage.name for step in whole}
    stage = {hyphenated(stage).lower(): stage for stage in by_name.values()}.get(hyphenated(name).lower())
    found = [i for i, step in enumerate(whole) if (step.label == name if stage is None else step.stage.name == stage)]
    if not found:
        near = did_you_mean(name, [*by_name, *(step.label for step in whole)])
        accepted = f"one of `stc-opt {LISTS['pipeline']}`"
        raise CompileError(f"the pipeline has no stage or pass '{name}'{near}", accepted=accepted)
    return found


def hyphenated(stage: str) -> str:
    """The name of a stage as one word: `kernel-fusion`."""
    return stage.replace(" ", "-")
