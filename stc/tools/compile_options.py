"""The options of `stc compile`, in one place: every command that compiles takes them all.

    @including(asked=asked_compile)
    def command(asked: Asked, out: ...) -> None: ...
"""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer

from stc.diagnostics import CompileError
from stc.pipeline import PipelineOptions
from stc.platforms.budget import SMALL
from stc.tools import options as said
from stc.tools.command_line import debugging
from stc.tools.listings import complete_part, complete_passes
from stc.tools.loading import load_all
from stc.tools.plan import asked_plan
from stc.tools.request import STAGES, WHOLE_MODEL, CompileRequest, in_folder, with_dtype
from stc.tools.schedule_file import with_schedule
from stc.tools.targets import stage_of, with_target

MODEL: Mapping[str, Any] = {
    "model": said.Model, "config": said.Config, "stage": said.ModelStage, "seq": said.Sequence, "max_seq": said.MaxSequence,
    "run_time_sizes": said.RunTimeSizes, "dtype": said.DType, "weights": said.Weights, "layer": said.Layer, "seed": said.Seed,
    "host": said.Host,
}
"""The options that say which model, by the field of `CompileRequest`."""

PIPELINE: Mapping[str, Any] = {
    "quantize": said.Quantize,
    "tile": said.Tile, "rows": said.Rows, "lanes": said.Lanes, "budget": said.Budget, "small": said.Small,
    "uniform_tiles": said.UniformTiles, "schedule": said.Schedule, "platform": said.Platform,
    "on_chip": said.OnChip, "duplicate_loads": said.DuplicateLoad,
    "serial_converters": said.SerialConverters, "tiling": said.Tiling, "fusion": said.Fusion, "converters": said.Converters,
    "parallelism": said.Parallelism, "overall_unroll_size": said.OverallUnrollSize, "fifo_strategy": said.FifoStrategy,
    "fifo_depths": said.FifoDepths, "slack": said.Slack, "fifo_margin": said.FifoMargin, "run_ahead": said.RunAhead,
    "unsafe_math": said.UnsafeMath, "pipeline_style": said.PipelineStyle, "units": said.Units, "dies": said.Dies,
    "groups": said.Groups, "weight_ports": said.WeightPorts,
    "contractions": said.Contractions, "sums": said.Sums, "elements_per_port": said.ElementsPerPort,
    "conversions": said.Conversions, "layers": said.Layers, "head": said.Head, "caches": said.Caches,
    "tokens_per_launch": said.TokensPerLaunch,
}
"""The options that decide about passes, by the field of `PipelineOptions`."""

_DEFAULTS = {
    **{field.name: field.default for kind in (CompileRequest, PipelineOptions) for field in fields(kind)},
    "model": None, "config": None, "schedule": None, "fifo_depths": None, "uniform_tiles": False, "small": False,
}

_Maker = TypeVar("_Maker", bound=Callable[..., Any])


def declaring(options: Mapping[str, Any]) -> Callable[[_Maker], _Maker]:
    """Give a maker that takes `**options` these: by name what Typer reads. Their defaults are those of the fields."""

    def decorate(maker: _Maker) -> _Maker:
        taken = inspect.signature(maker, eval_str=True).parameters.values()
        own = [entry for entry in taken if entry.kind is not entry.VAR_KEYWORD]
        named = [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=_DEFAULTS[name], annotation=kind)
                 for name, kind in options.items()]
        # A context is positional, and so first.
        signature = inspect.Signature(sorted([*named, *own], key=lambda entry: entry.kind))
        maker.__signature__ = signature  # pyright: ignore[reportFunctionMemberAccess]
        return maker

    return decorate


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


@declaring(MODEL)
def asked_model(**options: Any) -> CompileRequest:
    """The model that they name, and nothing else; CompileError unless it is named in exactly one way."""
    named = said.one_model(options.pop("model"), options.pop("config"))
    model, options["weights"] = in_folder(named, options["weights"])
    options["host"] = tuple(options["host"]) if options["host"] else None
    return CompileRequest(model, **options)


@declaring({**MODEL, **PIPELINE})
def asked_compile(
    ctx: typer.Context,
    *,
    target: said.Target = STAGES,
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
    confirm: Annotated[
        int,
        typer.Option(metavar="N", help="Compile and run the search's best N designs, keep the fastest; 0: no runs.", min=0),
    ] = 0,
    check: Annotated[bool, typer.Option("--check", help="Build the emitted C++, run it, compare with PyTorch.")] = False,
    check_semantics: Annotated[
        bool,
        typer.Option("--check-semantics", help="Execute the IR before and after each pass; stop at one that changes a value."),
    ] = False,
    check_inputs: said.CheckInputs = "",
    load: said.Load = None,
    debug: said.Debug = False,
    **options: Any,
) -> Asked:
    """All of them, files of `--load` imported. CompileError for what cannot be."""
    from stc.frontend.draws import read_draws

    with debugging(debug):
        load_all(load or ())
        of_passes: dict[str, Any] = {name: options[name] for name in PIPELINE if name not in ("uniform_tiles", "small")}
        of_passes |= {name: str(options[name] or "") for name in ("schedule", "fifo_depths")}
        of_passes["budget"] = budget_of(ctx, options["budget"], small=options["small"])
        of_passes = with_target(of_passes, target, given_options(ctx))
        chosen = PipelineOptions(**of_passes, propagate_orders=not options["uniform_tiles"])
        options["stage"] = stage_of(target, options["stage"], given_options(ctx))
        given = given_options(ctx) | ({"quantize"} if "dtype" in given_options(ctx) else frozenset())
        chosen = with_dtype(chosen, options["dtype"])
        if options["stage"] != WHOLE_MODEL:  # whose stages have a schedule each
            chosen = with_schedule(chosen, given)
        request = dataclasses.replace(
            asked_model(**{name: options[name] for name in MODEL}),
            emit_ir=emit_ir,
            options=chosen,
            crash_reproducer=crash_reproducer,
            minimise_depths=chosen.slack if minimise_depths else None,
            check_semantics=check_semantics,
            check_inputs=read_draws(check_inputs),
            plan=asked_plan(passes, before or (), after or (), replace or ()),
            first=first,
            confirm=confirm,
            given=given_options(ctx),
            target=target,
        )
    return Asked(request, check, debug)


def budget_of(ctx: typer.Context, budget: str, *, small: bool) -> str:
    """What --budget and --small say together; CompileError where that is two things."""
    if small and budget != SMALL and _is_said(ctx, "budget"):
        raise CompileError(f"--small and --budget {budget}", accepted="one of both")
    return SMALL if small else budget


def _is_said(ctx: typer.Context, name: str) -> bool:
    """Whether an option stands on the command line."""
    return getattr(ctx.get_parameter_source(name), "name", "") == "COMMANDLINE"


def given_options(ctx: typer.Context) -> frozenset[str]:
    """The options that stand on the command line, by the names of the fields they set."""
    spelled = {"uniform_tiles": "propagate_orders", "config": "model", "passes": "plan", "before": "plan", "after": "plan"}
    spelled |= {"replace": "plan", "small": "budget"}
    found = [name for name in ctx.params if _is_said(ctx, name)]
    return frozenset(spelled.get(name, name) for name in found)


