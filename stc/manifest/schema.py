"""Schema of `manifest.json`: what an emitted project is, for every tool that reads it.

Sizes are in the unit their name says; tensors are row-major; files are paths relative to the project folder. A figure of
None is not known yet; `Manifest.origins` says for each kind of figure where it came from (proved, executed, counted,
estimated, published).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

SCHEMA_VERSION = 3
LEFT_OUT = {"left_out": True}
"""Of a field that is not written where it has its default."""

PortKind = Literal["input", "parameter", "output", "intermediate"]
Direction = Literal["read", "write"]


@dataclass(frozen=True)
class OrderLoop:
    """One loop of a stream order; `trip` is an integer, or the text of a symbolic size (`seq<=128`)."""

    trip: int | str
    step: int


@dataclass(frozen=True)
class OrderCoordinate:
    """Coordinate of a token's first entry along one dimension: sum of the values of `loops` plus `constant`."""

    loops: tuple[int, ...]
    constant: int | str = 0


@dataclass(frozen=True)
class Order:
    """A stream order (stc.iteration.order.StreamOrder) as data."""

    element: tuple[int, ...]
    loops: tuple[OrderLoop, ...]
    coordinates: tuple[OrderCoordinate, ...]


@dataclass(frozen=True)
class Port:
    """One argument of a compute unit.

    `buffer`: the buffer bound to it; ports of several kernels that name the same buffer share it. `lanes` of `element_type`
    make a word; the buffer has `bytes`, those of `words` rounded up to 64. `tensor` is the host tensor of `shape` whose
    distinct tokens `order` enumerates into words (see stc.codegen.layout): all of them, or those of one stripe where several ports
    share the tensor. `file`: packed words of a parameter. `updates`: the port of the same kernel that reads the same buffer, which
    this one writes a part of.
    """

    name: str
    kind: PortKind
    direction: Direction
    element_type: str
    lanes: int
    words: int
    bytes: int
    buffer: str
    tensor: str
    shape: tuple[int, ...]
    order: Order | None
    bundle: str | None = None
    bank: int | None = None
    file: str | None = None
    sha256: str | None = None
    updates: str | None = field(default=None, metadata=LEFT_OUT)

    @property
    def mover(self) -> tuple[str, str]:
        """The bundle that it comes through, and in which direction: those of one bundle and direction take turns."""
        return self.bundle or self.name, self.direction

    @property
    def channel(self) -> int | str:
        """The memory channel behind it: its bank; one of its own where that is not known."""
        return self.name if self.bank is None else self.bank

    @property
    def padded_word_bytes(self) -> float:
        """Bytes of a word with its part of the padding."""
        return self.bytes / self.words


@dataclass(frozen=True)
class Scalar:
    """An argument of a compute unit behind its ports: an int, the host tensor `tensor` of one i32, from 0 to `maximum`.

    Sizes in the manifest name it by `symbol`: `sum(pos<=15, 1)`.
    """

    name: str
    tensor: str
    symbol: str
    maximum: int


@dataclass(frozen=True)
class TaskResources:
    """What a task takes of the device; `bram18` are blocks of 18 kbit, `uram` of 288 kbit."""

    dsp: int
    lut: int
    ff: int
    bram18: int
    uram: int


@dataclass(frozen=True)
class TaskWork:
    """What a task does per launch, where scalars are at their maxima: `products` that are summed up, and the bytes that it `moves`
    through ports. Its multipliers begin at most `at_once` products in a cycle; they and their adders are made of `dsp` DSPs (0: of
    LUTs). `size` and `sizes`: of what depends on scalars.
    """

    products: int
    at_once: int
    dsp: int
    moves: dict[str, int]
    size: str | None = field(default=None, metadata=LEFT_OUT)
    sizes: dict[str, str] | None = field(default=None, metadata=LEFT_OUT)


OWN_KERNEL = "own kernel"
"""The kind of a task whose C++ somebody wrote: what the manifest says of it is what was declared."""


@dataclass(frozen=True)
class Task:
    """One function of the kernel: `kind` is compute, load, store, converter, fork, ..., or `OWN_KERNEL`.

    `reads` and `writes` name ports, streams and block buffers; scalars are in neither. `outside_loops`: tokens per launch that it
    moves outside its labelled loops; `guarded`: of the streams it touches under a condition, the tokens it moves there per launch,
    None where data decides: then loops and counts say at most how often. Both are None where nobody has looked. `guarded_sizes`: of
    counts in `guarded` that depend on scalars, which are at the maxima there. `resources`: of the function with its arrays. `work`:
    None where it neither multiplies nor moves words, or where data decides.
    """

    name: str
    kind: str
    module: str | None
    reads: tuple[str, ...]
    writes: tuple[str, ...]
    outside_loops: dict[str, int] | None = None
    guarded: dict[str, int | None] | None = None
    resources: TaskResources | None = None
    guarded_sizes: dict[str, str] | None = field(default=None, metadata=LEFT_OUT)
    work: TaskWork | None = field(default=None, metadata=LEFT_OUT)


@dataclass(frozen=True)
class Stream:
    """One FIFO: `bits` per token, `tokens` that cross per launch; where that depends on scalars at most, and `size` says how many
    (`mul(pos<=15, 2)`).

    `depth` as emitted; `required`: the depth that sizing asked for, before margin and rounding to what costs no more. `crossing`:
    cycles that a token takes to the reader's die, and that the slot it leaves takes back. `order`: in which the tokens are slices
    of a tensor, once per launch or per layer of one; None where they are none.
    """

    name: str
    element_type: str
    lanes: int
    bits: int
    depth: int
    storage: str
    producer: str
    consumer: str
    tokens: int
    required: int | None = None
    size: str | None = field(default=None, metadata=LEFT_OUT)
    crossing: int = field(default=0, metadata=LEFT_OUT)
    order: Order | None = field(default=None, metadata=LEFT_OUT)


@dataclass(frozen=True)
class BlockBuffer:
    """One `hls::stream_of_blocks`: `count` blocks of `shape`, released `blocks` times per launch."""

    name: str
    element_type: str
    shape: tuple[int, ...]
    count: int
    bits: int
    producer: str
    consumer: str
    blocks: int


@dataclass(frozen=True)
class MemoryAccess:
    """External memory touched by one iteration of a loop."""

    port: str
    bytes: int


@dataclass(frozen=True)
class LoopSchedule:
    """One labelled loop. `ii` is None where it is not pipelined; `depth` (cycles of its pipeline) is None until estimated. `trip`:
    its iterations; where that depends on scalars at most, and `size` says how many; where it depends on a loop around it at most.

    `flattened`: the loop is merged into its perfectly nested pipelined child. `reads`/`writes`: tokens per stream and
    iteration, of this loop alone. `limit`: what bounds `ii`, in words; `chain`: the operators whose cycles make up `depth`.
    """

    task: str
    label: str
    parent: str | None
    trip: int
    ii: int | None
    depth: int | None
    unroll: int
    flattened: bool
    reads: dict[str, int]
    writes: dict[str, int]
    memory: tuple[MemoryAccess, ...]
    limit: str | None = None
    chain: str | None = None
    size: str | None = field(default=None, metadata=LEFT_OUT)


@dataclass(frozen=True)
class Unit:
    """One compute unit of a kernel that is built as several: a top function of `tasks`. Its arguments are `ports`, `scalars`, and
    the streams that it `receives` and `sends`: links, whose other end is another unit's. `starts`: whether the host starts it; else
    it runs by itself, whenever there is something to read. `slr`: the die that it is placed on."""

    name: str
    tasks: tuple[str, ...]
    ports: tuple[str, ...]
    scalars: tuple[str, ...]
    receives: tuple[str, ...]
    sends: tuple[str, ...]
    starts: bool
    slr: int | None = None


@dataclass(frozen=True)
class Kernel:
    """What one launch runs: a compute unit of that name, or the `units` where there are several, together. `scalars` come behind
    `ports` among its arguments."""

    name: str
    ports: tuple[Port, ...]
    tasks: tuple[Task, ...]
    streams: tuple[Stream, ...]
    blocks: tuple[BlockBuffer, ...]
    schedule: tuple[LoopSchedule, ...]
    slr: int | None = None
    scalars: tuple[Scalar, ...] = field(default=(), metadata=LEFT_OUT)
    units: tuple[Unit, ...] = field(default=(), metadata=LEFT_OUT)
    steps: int = field(default=1, metadata=LEFT_OUT)
    """A launch computes so many, one after the other; all figures are of one. What the host gives or takes for each has a leading
    dimension, scalars are one more in each, and units that nobody starts run as often."""

    @property
    def built(self) -> tuple[Unit, ...]:
        """Its compute units: itself, where it is one."""
        tasks, ports = tuple(task.name for task in self.tasks), tuple(port.name for port in self.ports)
        whole = Unit(self.name, tasks, ports, tuple(scalar.name for scalar in self.scalars), (), (), True, self.slr)
        return self.units or (whole,)

    def unit_of(self, port: str) -> Unit:
        """The unit among whose arguments a port is."""
        return next(unit for unit in self.built if port in unit.ports)

    def port(self, name: str) -> Port:
        """The port of that name; KeyError where there is none."""
        for port in self.ports:
            if port.name == name:
                return port
        raise KeyError(name)

    @cached_property
    def executions(self) -> Mapping[tuple[str, str], int]:
        """Iterations per launch of each loop, by task and label; 0 where a trip count is not known."""
        loops = {(loop.task, loop.label): loop for loop in self.schedule}

        def executed(loop: LoopSchedule) -> int:
            return loop.trip * (executed(loops[loop.task, loop.parent]) if loop.parent is not None else 1)

        return {key: executed(loop) for key, loop in loops.items()}


def repeated_name(unit: str) -> str:
    """What C simulation calls for all steps of a launch in place of a unit that nobody starts (`stc.simulation.instrument`)."""
    return f"{unit}_steps"


@dataclass(frozen=True)
class MemoryTiming:
    """Time of the platform at `clock_mhz`: cycles from a read request to its data, bytes per cycle that one channel sustains,
    bursts of how many words and how many of them under way at once, and what one launch costs."""

    clock_mhz: float
    read_latency: int
    channel_bytes_per_cycle: float
    burst_words: int
    outstanding_bursts: int
    launch_us: float


@dataclass(frozen=True)
class HostTensor:
    """A tensor the host sees: an input or output of the model (with a file in each draw), one re-packed between kernels, or a
    constant that becomes a result (with its file)."""

    name: str
    role: Literal["input", "output", "intermediate", "constant"]
    element_type: str
    shape: tuple[int, ...]
    file: str | None = None
    sha256: str | None = None


@dataclass(frozen=True)
class Step:
    """One action of the host: pack a tensor into a port, launch a kernel, unpack a port into a tensor, or let PyTorch run the host
    part `part` (then `kernel` is empty). Between bitstreams: load that of `kernel`, which all memory of the device is lost by;
    keep the words of the buffer of a port on the host, or restore them to that of another port, as `words` calls them."""

    action: Literal["pack", "launch", "unpack", "host-torch", "load", "keep", "restore"]
    kernel: str
    port: str | None = None
    tensor: str | None = None
    part: str | None = field(default=None, metadata=LEFT_OUT)
    words: str | None = field(default=None, metadata=LEFT_OUT)


@dataclass(frozen=True)
class Copy:
    """A result without a kernel: after all steps the host tensor `target` gets the data of `source`, in row-major order."""

    source: str
    target: str


@dataclass(frozen=True)
class StoredFile:
    """A file of raw little-endian entries, row-major."""

    path: str
    sha256: str


@dataclass(frozen=True)
class HostSource:
    """How a submodule is made again: by a `factory` of one of `files` (`FILE.py:NAME`, which lie in `folder`), called with
    PyTorch's random numbers from `seed`, with the tensors of `state`. The last tensors that it takes are given by `keywords`."""

    folder: str
    factory: str
    seed: int
    keywords: tuple[str, ...]
    state: StoredFile
    files: tuple[StoredFile, ...]


@dataclass(frozen=True)
class HostPart:
    """A call of the submodule `module` that host.py makes in PyTorch, between kernels. It `takes` host tensors that are outputs,
    and `gives` some that are inputs, of which golden/ has PyTorch's values. `program`: what torch.export stored; else there is a
    `source`. `reason`: why torch.export could not trace it, empty where it could.
    """

    name: str
    module: str
    takes: tuple[str, ...]
    gives: tuple[str, ...]
    program: StoredFile | None = None
    source: HostSource | None = None
    reason: str = ""


@dataclass(frozen=True)
class Draw:
    """One set of inputs with the model's outputs: `tensors` by the name of each input and output.

    `allowed`: for each float output, the error that each of its entries may have (absolute, f64; where the entry is a number),
    negative where the reference is uncertain by as much as the entry, which is then undecided, infinite where rounding errors make
    it infinite or NaN or the reverse; for each output of integers that are rounded floats, how far noise moves them over
    ties. Other outputs are compared exactly. `uncertainty`: for each of these, how much of that is because rounding errors alone
    move the reference, at most, in parts of the output's largest magnitude. `decides`: the float outputs none of whose entries is
    undecided here, where a design that loses its inputs would show: neither they nor the reference are nothing but zeros. `bf16`:
    the outputs of 16 bits that are numbers of bf16, and compared as such; `allowed` is of the numbers.
    """

    name: str
    tensors: dict[str, StoredFile]
    allowed: dict[str, StoredFile]
    uncertainty: dict[str, float]
    decides: tuple[str, ...] = ()
    bf16: tuple[str, ...] = field(default=(), metadata=LEFT_OUT)


@dataclass(frozen=True)
class Bitstream:
    """A binary with one of the kernels, called as that. `card`: the number of its device among those of the project, 0 where all
    bitstreams take turns on one; `folder`: of a project of that card alone."""

    kernel: str
    card: int = 0
    folder: str | None = field(default=None, metadata=LEFT_OUT)


@dataclass(frozen=True)
class Manifest:
    """The whole project. `options`: what `stc compile` was asked; `versions`: of stc and what it stands on.

    `draws`: what the design is checked with; runs that look at one of them only take the first. `tolerance`: that of floats, which
    `Draw.allowed` was made with. `design`: a checksum of the C++ of kernels and layout as emitted; empty where nobody made one.
    `bitstreams`: where there are several, which kernel is in which; else one has all.
    """

    schema_version: int
    name: str
    platform: str
    kernels: tuple[Kernel, ...]
    tensors: tuple[HostTensor, ...]
    steps: tuple[Step, ...]
    tolerance: float
    versions: dict[str, str]
    options: dict[str, Any]
    origins: dict[str, str]
    memory: MemoryTiming | None = None
    copies: tuple[Copy, ...] = ()
    draws: tuple[Draw, ...] = ()
    host_parts: tuple[HostPart, ...] = field(default=(), metadata=LEFT_OUT)
    design: str = field(default="", metadata=LEFT_OUT)
    bitstreams: tuple[Bitstream, ...] = field(default=(), metadata=LEFT_OUT)
    kernel_source: str = "kernel.cpp"
    testbench_sources: tuple[str, ...] = ("testbench.cpp",)

    @property
    def marks(self) -> tuple[str, ...]:
        """What a binary (xclbin) with the kernels of this project contains as text, and one of another project does not."""
        return tuple(self.mark_of(kernel.name) for kernel in self.kernels) if self.design else ()

    def mark_of(self, kernel: str) -> str:
        """What the binary with that kernel contains, of a project whose design has a checksum."""
        return f"stc-{kernel}-{self.design}"

    @property
    def cards(self) -> int:
        """How many devices it runs on."""
        return 1 + max((bitstream.card for bitstream in self.bitstreams), default=0)

    @property
    def takes_turns(self) -> bool:
        """Whether bitstreams are loaded one after the other, on one device."""
        return bool(self.bitstreams) and self.cards == 1

    @property
    def given(self) -> frozenset[str]:
        """The inputs that host parts give: the caller has none of them."""
        return frozenset(name for part in self.host_parts for name in part.gives)

    @property
    def host_note(self) -> str | None:
        """What figures and runs of the kernels alone leave out, in one sentence; None where that is nothing."""
        names = ", ".join(part.name for part in self.host_parts)
        return f"{names}: run by PyTorch in host.py, not counted or timed here; values behind it are PyTorch's" if names else None

    @property
    def notes(self) -> tuple[str, ...]:
        """What figures leave out, a sentence each."""
        return tuple(note for note in (self.host_note, self.links_note) if note is not None)

    @property
    def links_note(self) -> str | None:
        """What figures leave out of what several bitstreams cost, in one sentence; None where there is one."""
        if not self.bitstreams:
            return None
        restored = [self.kernel(step.kernel).port(step.port or "").bytes for step in self.steps if step.action == "restore"]
        loads = sum(step.action == "load" for step in self.steps)
        where = f"{loads} loads of a bitstream a run and " if loads else ""
        crossing = f"{len(restored)} buffers ({sum(restored):,} bytes) that go through the host between {len(self.bitstreams)} "
        return f"not modelled, and in no cycles: {where}{crossing}{'bitstreams' if loads else 'cards'}"

    def decides(self, output: str) -> bool:
        """Whether some draw does."""
        return any(output in draw.decides for draw in self.draws)

    def kernel(self, name: str) -> Kernel:
        """The kernel of that name; KeyError where there is none."""
        for kernel in self.kernels:
            if kernel.name == name:
                return kernel
        raise KeyError(name)

    def has(self, name: str) -> bool:
        """Whether there is a host tensor of that name."""
        return any(tensor.name == name for tensor in self.tensors)

    def tensor(self, name: str) -> HostTensor:
        """The host tensor of that name; KeyError where there is none."""
        for tensor in self.tensors:
            if tensor.name == name:
                return tensor
        raise KeyError(name)
