"""The named pipeline: which passes make up each stage of a compile (method.md section 3).

Stage names are the published ones, so that compile times can be compared stage by stage. A researcher swaps a pass by
building another sequence of `Stage`s, or runs any part of it with `stc-opt -p`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from stc.tools.pass_pipeline import read_pipeline
from stc.transforms import all_passes
from stc.transforms.linalg import LINALG_STAGE


@dataclass(frozen=True)
class PipelineOptions:
    """What a user may decide about a compile.

    `tile`: default tile size. `rows`: rows of activations that
    share one pass over the weights. `propagate_orders`: choose tiles and loop orders by what neighbours want, rather than
    one tile size for everything. `lanes`: most entries of a token. `budget`: on-chip bytes for a group, 0 for what the platform
    has. `schedule`: path of a `schedule.toml`, empty for none. `kernel_name`: what the accelerator is called.
    """

    platform: str = "u55c"
    tile: int = 16
    rows: int = 128
    lanes: int = 16
    propagate_orders: bool = True
    budget: int = 0
    schedule: str = ""
    kernel_name: str = ""


@dataclass(frozen=True)
class Stage:
    """A published stage and the passes that make it up: as `stc-opt -p` spells them, or ready to run."""

    name: str
    passes: tuple[str | ModulePass, ...]


def stages(options: PipelineOptions) -> tuple[Stage, ...]:
    """The whole compile, from linalg on tensors to what is printed."""
    schedule = (f'apply-schedule{{path="{options.schedule}"}}',) if options.schedule else ()
    if options.propagate_orders:
        tiles = f"propagate-orders{{columns={options.tile} rows={options.rows} lanes={options.lanes}}}"
    else:
        tiles = f"default-tile-size{{size={options.tile} lanes={options.lanes}}}"
    name = f' kernel-name="{options.kernel_name}"' if options.kernel_name else ""
    return (
        Stage("linalg optimisation", LINALG_STAGE),
        Stage("linalg tiling", (*schedule, tiles, "tile-linalg")),
        Stage(
            "kernel fusion",
            (
                "linalg-to-dataflow",
                f"layout-to-dataflow{{size={options.tile}}}",
                f'fuse-kernels{{budget={options.budget} platform="{options.platform}"{name}}}',
            ),
        ),
        Stage(
            "dataflow optimisation",
            ("insert-forks", f"vectorize-streams{{lanes={options.lanes}}}", "pack-interfaces"),
        ),
        Stage("bufferization", ("lower-converters", "lower-layout", "lower-dmas", "lower-tasks")),
        Stage("resource allocation", ("set-fifo-depths",)),
        Stage("HLS optimisation", ("expand-tiles", "hoist-constants", "hls-directives")),
    )


@dataclass
class Timings:
    """Seconds by stage, and by pass within it."""

    by_stage: dict[str, float] = field(default_factory=dict[str, float])
    by_pass: list[tuple[str, str, float]] = field(default_factory=list[tuple[str, str, float]])

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
) -> Timings:
    """Run every pass of every stage on `module`, in place, and verify the IR after each (`begin_pass` is told before).

    Raises CompileError where the input is refused; any other exception is a defect of the pass it comes from.
    """
    timings = Timings()
    for stage, name, one_pass in _instantiated(sequence):
        begin_pass(stage, name)
        begin = time.perf_counter()
        one_pass.apply(context, module)
        module.verify()
        timings.add(stage.name, name, time.perf_counter() - begin)
        for observer in observers:
            observer(stage, name, module)
    return timings


def _instantiated(sequence: Sequence[Stage]) -> Iterator[tuple[Stage, str, ModulePass]]:
    passes = all_passes()
    for stage in sequence:
        for entry in stage.passes:
            for one_pass in [entry] if isinstance(entry, ModulePass) else read_pipeline(entry, passes):
                yield stage, one_pass.name, one_pass
