"""Command-line options that several commands of `stc` share: which model, and how to compile it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from stc.diagnostics import CompileError
from stc.manifest.files import MANIFEST
from stc.manifest.model_files import MODEL
from stc.platforms.platform import platform_names

# Which model.
Model = Annotated[
    str | None, typer.Argument(help="A preset (gpt2-medium, ...), a folder of transformers, file.py:factory, or file.mlir.")
]
Config = Annotated[str | None, typer.Option(help="Instead of MODEL: a transformers config.json, its folder, or a hub id.")]
ModelStage = Annotated[
    str,
    typer.Option(
        help="Which part of a language model: prefill (a layer for --seq tokens, behind a cache where --max-seq is given), "
        "decode (a layer for one token behind a cache), head (what follows the last layer), token (a decode layer, or --layers of "
        "them, and the head behind), or model (all of it)."
    ),
]
RunTimeSizes = Annotated[
    bool | None,
    typer.Option(
        "--run-time-sizes", help="Read as many rows of the cache as a scalar of the launch says; whole models always do."
    ),
]
Sequence = Annotated[int, typer.Option(help="Tokens of a preset's prefill.")]
MaxSequence = Annotated[
    int | None, typer.Option("--max-seq", help="Positions of the cache; default: none for prefill, 128 or the model's for decode.")
]
DType = Annotated[
    str, typer.Option(help="Arithmetic of linear layers: f32; w8a8 (int8), w4a8 (int4 weights): --quantize in short.")
]
Weights = Annotated[str | None, typer.Option(help="Folder of safetensors files, or hub:ID; default: random weights.")]
Layer = Annotated[int | None, typer.Option(help="Which decoder layer; default: the preset's first.")]
Host = Annotated[
    list[str] | None,
    typer.Option(
        "--host", metavar="SUBMODULE", help="Run this submodule in PyTorch, on the host between kernels (repeatable); "
        "`stc check` proposes which."
    ),
]
Seed = Annotated[int, typer.Option(help="Seed of random weights and inputs.")]

CheckInputs = Annotated[
    str,
    typer.Option(help="Inputs to check with, of example,draw,zeros,tiny,huge; default: all for small designs, two for large ones."),
]

# How to compile it.
Quantize = Annotated[
    str,
    typer.Option(
        "--quantize",
        metavar="FORMAT",
        help="Linear layers on integers: bits=8|4, group=row|N, scale=f16, activations=token|group, head=8|4|f32, except=PATH, "
        "PATH.bits=...; caches: kv=f32|bf16|int8, attention=f32|int8.",
    ),
]
Tile = Annotated[int, typer.Option(help="Default tile size; a loop takes its largest divisor up to it.", min=1)]
Rows = Annotated[int, typer.Option(help="Most rows of activations that share one pass over weights.", min=1)]
Lanes = Annotated[
    int,
    typer.Option(
        help="Entries of a stream token where no schedule asks for another width; 0: 4 where lanes are searched, else a word of "
        "f32 (16 of 512 bits).", min=0
    ),
]
Budget = Annotated[
    str,
    typer.Option(
        metavar="AMOUNTS",
        help="Search lanes and copies of all computations within dsp, lut, ff, bram, uram, ports: numbers, or shares of the "
        "platform's, as in 'dsp=60%,ports=29' (others: the platform's plan; plan: all of it). small: no search. plan/3: a third "
        "of all but ports.",
    ),
]
Small = Annotated[bool, typer.Option("--small", help="The cheapest design, without a search: --budget small.")]
UniformTiles = Annotated[
    bool, typer.Option("--uniform-tiles", help="One tile size for every loop, instead of what neighbours want.")
]
Schedule = Annotated[
    Path | None,
    typer.Option(help="schedule.toml: tile, order, unroll, vector by op name; of a whole model a folder with STAGE/schedule.toml."),
]
Platform = Annotated[
    str, typer.Option(metavar="NAME|FILE.toml", help=f"Target device: {', '.join(platform_names())}, or a platform file of yours.")
]
OnChip = Annotated[int, typer.Option(help="On-chip bytes for one group; 0: what the platform has.", min=0)]
DuplicateLoad = Annotated[
    int, typer.Option(help="Bytes on chip that reading an input again has to save; 0: never; -1: what a port costs.", min=-1)
]

SerialConverters = Annotated[
    str, typer.Option(help="Whether a converter may receive and send in turn: never, free (where it costs no time), always.")
]

# Who decides: strategies by name (`stc.strategies`).
Tiling = Annotated[str, typer.Option(metavar="STRATEGY", help="Tiles and loop orders: propagated, published, or your own.")]
Fusion = Annotated[
    str, typer.Option(metavar="STRATEGY", help="Groups of kernels: greedy, published, exact, separate, or your own.")
]
Converters = Annotated[str, typer.Option(metavar="STRATEGY", help="Buffers of converters: smallest, published, or your own.")]
Parallelism = Annotated[
    str, typer.Option(metavar="STRATEGY", help="Lanes and copies: shortest or balanced (with a budget), published, or your own.")
]
OverallUnrollSize = Annotated[
    int, typer.Option(help="With --parallelism published: the sum of all unroll factors.", min=0)
]
FifoStrategy = Annotated[
    str,
    typer.Option(metavar="STRATEGY", help="FIFO depths: no-stall, published-normal, published-conservative, or your own."),
]
Units = Annotated[
    str, typer.Option(metavar="STRATEGY", help="Compute units of a kernel: one, memory (apart from the rest), or your own.")
]
Dies = Annotated[
    str, typer.Option(metavar="STRATEGY", help="Die of each compute unit: unassigned, optimum, greedy, or your own.")
]
Groups = Annotated[
    str,
    typer.Option(
        help="together: refuse kernels that, all in one bitstream, take more than a plan may use; unchecked; bitstream-each: one "
        "for each group, loaded in turn; cards: a device for each group."
    ),
]
WeightPorts = Annotated[
    str, typer.Option(help="Memory ports bring the weights of one computation each (apart), or of several in turn (in-turn).")
]
Contractions = Annotated[
    str,
    typer.Option(
        help="Contractions of parameters have multipliers each (apart), or those that are alike and take turns at a port, with "
        "--weight-ports in-turn, the same ones (shared)."
    ),
]
Sums = Annotated[
    str,
    typer.Option(
        help="With --contractions shared: what scales and adds up their sums has operators for each contraction (apart), or those "
        "that wait for one another the same ones (in-turn)."
    ),
]
ElementsPerPort = Annotated[
    int,
    typer.Option(
        help="With --contractions shared: to how many of their tasks a memory port may bring weights, a word to each in turn, "
        "where tasks are more than five of eight ports and take a word in each cycle. FIFOs fill while something else computes.",
        min=1,
    ),
]
Conversions = Annotated[
    str,
    typer.Option(
        help="Floats become short integers, and these floats, by converters (operators: LUTs only), or by additions that give "
        "the same (adders: DSPs, fewer LUTs)."
    ),
]
Layers = Annotated[
    int,
    typer.Option(
        help="How many layers a launch computes, one after the other, with --units memory: the next ones of the weights, else "
        "random ones.",
        min=1,
    ),
]
TokensPerLaunch = Annotated[
    int,
    typer.Option(
        help="How many tokens a launch of all layers and the head computes, each behind the one before, with the embedding on the "
        "device: with --target decoder, or --stage token --layers N --units memory.",
        min=1,
    ),
]
Target = Annotated[
    str,
    typer.Option(
        metavar="stages|decoder",
        help="stages: a design for each stage of a model, whose computations have multipliers and ports each. decoder: a whole "
        "model with one array for all contractions of parameters, whose weights come through all ports in turn, and all layers "
        "and the head in one launch where layers are alike: --stage model --rows 1 --units memory --weight-ports in-turn "
        "--contractions shared --conversions adders --head behind-layers --caches by-position --layers N in short, but for what is "
        "said otherwise.",
    ),
]
Head = Annotated[
    str,
    typer.Option(
        help="With --stage model: the head is a design and a launch of its own (apart), or follows the last layer in the launch "
        "that computes all of them (behind-layers; --stage token is such a launch)."
    ),
]
Caches = Annotated[
    str,
    typer.Option(
        help="Memory has the rows of a cache one head behind the other, each a burst (by-head), or those of all heads at a "
        "position side by side, in one burst, and FIFOs have what comes before its turn (by-position)."
    ),
]
FifoDepths = Annotated[Path | None, typer.Option(help="A JSON object of required depths by FIFO; others are computed.")]
Slack = Annotated[float, typer.Option(help="Part of the cycles that FIFOs (and --minimise-depths) may lose; 0.05 for 5 %.", min=0)]
FifoMargin = Annotated[
    int, typer.Option(help="Per cent of slots that FIFOs get beyond what is required; -1: exactly that.", min=-1)
]
RunAhead = Annotated[int, typer.Option(help="Bytes of all FIFOs that load tasks fill; 0: what each needs.", min=0)]

PipelineStyle = Annotated[
    str, typer.Option(help="How pipelined loops wait: stp; frp (those without memory ports, others stay stp); flp.")
]
UnsafeMath = Annotated[
    bool,
    typer.Option("--unsafe-math", help="Let the vendor's tool reorder float sums (II 4 where they stand alone, last bits differ)."),
]

Load = Annotated[
    list[Path] | None,
    typer.Option(metavar="FILE.py", help="Take the passes and strategies that this Python file defines (repeatable)."),
]
Debug = Annotated[bool, typer.Option("--debug", help="Show the traceback where a pass crashes or a file cannot be imported.")]

AsJson = Annotated[bool, typer.Option("--json", help="Print the report as JSON.")]


def one_model(model: str | None, config: str | None) -> str:
    """What the front end calls the model; CompileError unless it is named in exactly one way."""
    if (model is None) == (config is None):
        complaint = "no model is named" if model is None else "both MODEL and --config name a model"
        raise CompileError(complaint, accepted="MODEL, or --config PATH")
    takes = "csim, simulate, estimate, size, report"
    for file, commands in ((MODEL, f"generate, {takes}"), (MANIFEST, takes)):
        if model is not None and (Path(model) / file).is_file():
            raise CompileError(f"{model} is compiled already", accepted=f"the commands on what is: stc {commands}")
    return f"config:{config}" if model is None else model
