"""Schema of `model.json`: a whole language model as emitted projects, one for each stage and kind of layer, and its data.

Files are paths relative to the folder of model.json. Arrays are raw little-endian f32, row-major. One step of a model: rows of
`tokens` (plus rows of `positions`) go through a launch per layer, or per `layers_per_launch` of them, of the prefill or decode
project of its kind, with the layers' parameters; the last row goes to the head, which gives the logits and the next token, with the
parameters of its own project.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from stc.manifest.schema import LEFT_OUT, Order

MODEL_VERSION = 5
"""Of this schema and of how parameters are packed."""

PREFILL, DECODE, HEAD = "prefill", "decode", "head"

BINARY = "build/model.xclbin"
"""Where the model's Makefile puts the binary with the kernels of all stages."""

LAYOUT_VERSION = 2
"""Of what `BufferLayout` says."""


@dataclass(frozen=True)
class CheckedFile:
    """A file of `bytes` bytes."""

    path: str
    bytes: int
    sha256: str


@dataclass(frozen=True)
class Table:
    """An array of f32 in a file."""

    shape: tuple[int, ...]
    file: CheckedFile


@dataclass(frozen=True)
class LaunchCycles:
    """What a launch takes at a position of the cache."""

    position: int
    cycles: int


@dataclass(frozen=True)
class StageProject:
    """An emitted project that computes `rows` rows a launch; or `steps` rows, each of the token that the one before found.
    `manifest`: its manifest.json.

    `cycles`: of one launch, or step of one, by ascending positions, with their origin in words; one entry where they do not depend
    on it, none where nobody knows. `reads_all`: of a layer that reads all rows of its caches but for those of one launch, whose
    mask has the columns of the launch's own rows behind them; they must be numbers. Others read those before the position, and
    nothing else.
    """

    folder: str
    rows: int
    manifest: CheckedFile
    cycles: tuple[LaunchCycles, ...]
    origin: str
    reads_all: bool = False
    steps: int = field(default=1, metadata=LEFT_OUT)

    @property
    def cycles_told(self) -> str:
        """The cycles, with their positions where there are several."""
        told = " / ".join(f"{at.cycles:,}" for at in self.cycles)
        positions = " / ".join(str(at.position) for at in self.cycles)
        return told if len(self.cycles) == 1 else f"{told} (at positions {positions})"

    def cycles_at(self, position: int) -> float | None:
        """Between the positions on a line, outside of them those of the nearest."""
        if not self.cycles:
            return None
        below = max((at for at in self.cycles if at.position <= position), key=lambda at: at.position, default=self.cycles[0])
        above = min((at for at in self.cycles if at.position >= position), key=lambda at: at.position, default=self.cycles[-1])
        share = (position - below.position) / (above.position - below.position) if above.position > below.position else 0
        return below.cycles + share * (above.cycles - below.cycles)


@dataclass(frozen=True)
class BufferLayout:
    """How what several stages use lies on the device: a buffer of `bytes` in the memory bank `bank`, where the tokens of a tensor
    of `shape` lie in `order`, in words of `lanes` (`stc.manifest.schema.Port`)."""

    version: int
    shape: tuple[int, ...]
    element_type: str
    lanes: int
    bytes: int
    bank: int | None
    order: Order


@dataclass(frozen=True)
class LayerParameter:
    """A parameter that each layer has: packed once, `layout.bytes` from `offset` of the layer's file on, and sent to the device
    once. `buffers`: what it is in the project of each stage that takes it so."""

    offset: int
    layout: BufferLayout
    buffers: dict[str, str]


@dataclass(frozen=True)
class LayerKind:
    """Layers that share kernels.

    `caches`: by the name of the input that each stage reads and updates in place, [1, heads, max_seq, entries of a head] as a
    tensor, behind a dimension for the layers of a launch where it computes several. `parameters`: all that the stages take, one
    behind the other. `mask` [max_seq, max_seq] is added to scores, with -inf; `rows`: by the name of an input, a row for each
    position. `stages`: `DECODE`, and `PREFILL` where a launch may take several rows.
    """

    caches: dict[str, BufferLayout]
    parameters: tuple[LayerParameter, ...]
    mask: Table
    rows: dict[str, Table]
    stages: dict[str, StageProject]


@dataclass(frozen=True)
class ModelLayer:
    """The layers of one launch: their kind, and their packed parameters."""

    kind: str
    parameters: CheckedFile


@dataclass(frozen=True)
class ModelManifest:
    """The whole model. `source`: what was compiled; `end_tokens`: those that end a text. `layers`: of each launch, which computes
    `layers_per_launch` of them. `head`: None where the one launch of all layers gives the next token as well.

    `tolerance`: of the f32 figures, as a part of the largest: logits closer to each other are a near-tie. `clock_mhz` and
    `launch_us` (what a launch costs the host): of the platform.
    """

    version: int
    name: str
    source: dict[str, Any]
    max_seq: int
    hidden: int
    vocabulary: int
    kinds: dict[str, LayerKind]
    layers: tuple[ModelLayer, ...]
    layers_per_launch: int
    head: StageProject | None
    tokens: Table
    positions: Table | None
    tokenizer: CheckedFile | None
    end_tokens: tuple[int, ...]
    tolerance: float
    clock_mhz: float
    launch_us: float

    @property
    def layer_count(self) -> int:
        """Of the model."""
        return len(self.layers) * self.layers_per_launch

    @property
    def projects(self) -> tuple[StageProject, ...]:
        """The emitted projects, each once."""
        of_layers = (project for kind in self.kinds.values() for project in kind.stages.values())
        return (*of_layers, *([self.head] if self.head else []))
