"""The options of `stc compile`, in one place: every command that compiles takes them all.

    @including(asked=asked_compile)
    def command(asked: Asked, out: ...) -> None: ...
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from stc.pipeline import PipelineOptions
from stc.platforms.fifo_storage import MARGIN
from stc.tools.command_line import debugging
from stc.tools.listings import complete_part, complete_passes
from stc.tools.loading import load_all
from stc.tools.options import (
    Budget,
    CheckInputs,
    Config,
    Converters,
    Debug,
    Dsp,
    DType,
    DuplicateLoad,
    FifoDepths,
    FifoMargin,
    FifoStrategy,
    Fusion,
    Lanes,
    Layer,
    Load,
    MaxSequence,
    Model,
    ModelStage,
    OverallUnrollSize,
    Parallelism,
    PipelineStyle,
    Platform,
    Rows,
    RunAhead,
    RunTimeSizes,
    Schedule,
    Seed,
    Sequence,
    SerialConverters,
    Slack,
    Tile,
    Tiling,
    UniformTiles,
    UnsafeMath,
    Weights,
    one_model,
)
from stc.tools.plan import asked_plan
from stc.tools.schedule_file import with_schedule

if TYPE_CHECKING:
    from stc.tools.request import CompileRequest


def including(**makers: Callable[..., Any]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command the options of each maker, which makes one argument of the command from them."""

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        taken = {name: tuple(inspect.signature(maker, eval_str=True).parameters.values()) for name, maker in makers.items()}
        own = [entry for entry in inspect.signature(command, eval_str=True).parameters.values() if entry.name not in makers]

        def run(**values: Any) -> None:
            made = {name: maker(**{e.name: values.pop(e.name) for e in taken[name]}) for name, maker in makers.items()}
            command(**made, **values)

        run.__name__, run.__doc__, run.__annotations__ = command.__name__, command.__doc__, {}
        shared = [entry.replace(kind=inspect.Parameter.KEYWORD_ONLY) for entries in taken.values() for entry in entries]
        # Typer reads options from the signature.
        run.__signature__ = inspect.Signature(  # pyright: ignore[reportFunctionMemberAccess]
            [*shared, *(entry.replace(kind=inspect.Parameter.KEYWORD_ONLY) for entry in own)]
        )
        return run

    return decorate


@dataclass(frozen=True)
class Asked:
    """What the options say: the compile, and what is done with its result. `debug`: whether tracebacks are shown."""

    request: CompileRequest
    check: bool
    debug: bool


def asked_compile(
    ctx: typer.Context,
    model: Model = None,
    config: Config = None,
    stage: ModelStage = "prefill",
    seq: Sequence = 32,
    max_seq: MaxSequence = None,
    run_time_sizes: RunTimeSizes = None,
    dtype: DType = "f32",
    weights: Weights = None,
    layer: Layer = None,
    seed: Seed = 0,
    tile: Tile = 16,
    rows: Rows = 128,
    lanes: Lanes = 16,
    dsp: Dsp = 0,
    uniform_tiles: UniformTiles = False,
    schedule: Schedule = None,
    platform: Platform = "u55c",
    budget: Budget = 0,
    duplicate_loads: DuplicateLoad = -1,
    serial_converters: SerialConverters = "free",
    tiling: Tiling = "propagated",
    fusion: Fusion = "greedy",
    converters: Converters = "smallest",
    parallelism: Parallelism = "balanced",
    overall_unroll_size: OverallUnrollSize = 0,
    fifo_strategy: FifoStrategy = "no-stall",
    fifo_depths: FifoDepths = None,
    slack: Slack = 0.0,
    fifo_margin: FifoMargin = MARGIN,
    run_ahead: RunAhead = 0,
    unsafe_math: UnsafeMath = False,
    pipeline_style: PipelineStyle = "stp",
    passes: Annotated[
        str,
        typer.Option("-p", "--passes", help="Run these passes in place of the pipeline's.", autocompletion=complete_passes),
    ] = "",
    before: Annotated[
        list[str] | None,
        typer.Option(metavar="PASS[=PASSES]", help="Run PASSES (or -p's) before PASS (repeatable).", autocompletion=complete_part),
    ] = None,
    after: Annotated[
        list[str] | None,
        typer.Option(metavar="PASS[=PASSES]", help="Run PASSES (or -p's) after PASS (repeatable).", autocompletion=complete_part),
    ] = None,
    replace: Annotated[
        list[str] | None,
        typer.Option(metavar="PASS[=PASSES]", help="Run PASSES (or -p's) in place of PASS.", autocompletion=complete_part),
    ] = None,
    first: Annotated[
        str,
        typer.Option("--from", metavar="STAGE|PASS", help="MODEL is IR: begin with this pass.", autocompletion=complete_part),
    ] = "",
    crash_reproducer: Annotated[
        Path | None, typer.Option(metavar="FILE", help="If a pass crashes, write the IR it got here, not to the temporary folder.")
    ] = None,
    emit_ir: Annotated[bool, typer.Option("--emit-ir", help="Keep the IR after each pass in OUT/ir.")] = False,
    minimise_depths: Annotated[
        bool,
        typer.Option(
            "--minimise-depths", help="Run the design with time, take the least FIFO depths that lose no cycles, emit again."
        ),
    ] = False,
    check: Annotated[bool, typer.Option("--check", help="Build the emitted C++, run it, compare with PyTorch.")] = False,
    check_semantics: Annotated[
        bool,
        typer.Option("--check-semantics", help="Execute the IR before and after each pass; stop at one that changes a value."),
    ] = False,
    check_inputs: CheckInputs = "",
    load: Load = None,
    debug: Debug = False,
) -> Asked:
    """All of them, files of `--load` imported. CompileError for what cannot be."""
    from stc.frontend.draws import read_draws
    from stc.tools.request import CompileRequest

    with debugging(debug):
        load_all(load or ())
        options = PipelineOptions(
            platform=platform,
            tile=tile,
            rows=rows,
            lanes=lanes,
            dsp=dsp,
            propagate_orders=not uniform_tiles,
            budget=budget,
            duplicate_loads=duplicate_loads,
            serial_converters=serial_converters,
            tiling=tiling,
            fusion=fusion,
            converters=converters,
            parallelism=parallelism,
            overall_unroll_size=overall_unroll_size,
            fifo_strategy=fifo_strategy,
            fifo_depths=str(fifo_depths or ""),
            slack=slack,
            fifo_margin=fifo_margin,
            run_ahead=run_ahead,
            schedule=str(schedule or ""),
            unsafe_math=unsafe_math,
            pipeline_style=pipeline_style,
        )
        options = with_schedule(options, _given(ctx))
        request = CompileRequest(
            one_model(model, config),
            stage,
            seq,
            dtype,
            seed,
            weights,
            layer,
            emit_ir,
            options,
            crash_reproducer,
            options.slack if minimise_depths else None,
            check_semantics,
            read_draws(check_inputs),
            asked_plan(passes, before or (), after or (), replace or ()),
            first,
            _given(ctx),
            max_seq,
            run_time_sizes,
        )
    return Asked(request, check, debug)


def _given(ctx: typer.Context) -> frozenset[str]:
    """The options that stand on the command line, by the names of the fields they set."""
    spelled = {"uniform_tiles": "propagate_orders", "config": "model", "passes": "plan", "before": "plan", "after": "plan"}
    spelled |= {"replace": "plan"}
    found = [name for name in ctx.params if getattr(ctx.get_parameter_source(name), "name", "") == "COMMANDLINE"]
    return frozenset(spelled.get(name, name) for name in found)


