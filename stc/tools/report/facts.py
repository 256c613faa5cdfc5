"""What the page says about tasks and channels: the manifest joined with what the timed run measured."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from math import prod

from stc.manifest.schema import BlockBuffer, Kernel, Stream
from stc.simulation.critical_path import PathPart
from stc.simulation.csim import BlockedTask
from stc.simulation.simulation_result import FifoTime, SimulationResult, TaskTime
from stc.simulation.utilisation import TaskUse, Utilisation


@dataclass(frozen=True)
class TaskFacts:
    """One task. Times are cycles, None where the run did not end; `utilisation` is `busy` over `KernelFacts.cycles`."""

    name: str
    kind: str
    module: str | None
    time: TaskTime | None
    utilisation: float | None
    blocked: str | None
    resources: Mapping[str, int]
    """By kind (dsp, lut, ...); empty where they were not estimated."""
    critical: int = 0
    """Cycles of the critical path that are its own work or its wait for memory."""
    use: TaskUse | None = None
    """Of its multipliers and ports; None where that is not known."""

    @property
    def main_cause(self) -> str | None:
        """The channel (or external memory) it waited longest for."""
        lost: dict[str, int] = {}
        for wait in self.time.waits if self.time is not None else ():
            lost[wait.channel] = lost.get(wait.channel, 0) + wait.cycles
        return max(lost, key=lambda name: lost[name], default=None)


@dataclass(frozen=True)
class ChannelFacts:
    """One FIFO, or ring of blocks (`ring`), called `key` on the page.

    `bits` are those of one token (of one block), None in designs whose manifest lists no FIFOs; `depth` is in tokens (blocks), as
    run; `required` is the depth that sizing asked for; `time` is None where nothing ran.
    """

    key: str
    name: str
    ring: bool
    producer: str
    consumer: str
    bits: int | None
    depth: int
    required: int | None
    storage: str
    tokens: int
    time: FifoTime | None

    @property
    def memory_bits(self) -> int | None:
        return self.bits * self.depth if self.bits is not None else None

    @property
    def highest(self) -> int | None:
        return self.time.highest_occupancy if self.time is not None else None

    @property
    def fullness(self) -> float | None:
        """Highest occupancy over depth, from 0 to 1."""
        return min(1.0, self.highest / self.depth) if self.highest is not None and self.depth else None


@dataclass(frozen=True)
class KernelFacts:
    """One compute unit; `cycles` until its last invocation ended, None where it did not end."""

    name: str
    cycles: int | None
    tasks: tuple[TaskFacts, ...]
    channels: tuple[ChannelFacts, ...]


def kernel_facts(
    kernel: Kernel, result: SimulationResult, path: Sequence[PathPart] = (), key: str = "", use: Utilisation | None = None
) -> KernelFacts:
    """The facts of `kernel` in this run, whose critical path is `path`; `key` begins the keys of its channels."""
    ends = result.ends.get(kernel.name, ())
    cycles = ends[-1] if ends and result.cycles is not None else None
    times = {time.name: time for time in result.tasks} if cycles is not None else {}
    blocked = {entry.task: _blocked(entry) for entry in result.values.blocked}
    fifos = {(fifo.name, fifo.producer, fifo.consumer): fifo for fifo in result.fifos}
    critical = Counter[str]()
    for part in path:
        critical[part.task] += part.cycles if part.kind in ("work", "memory") else 0
    uses = {task.task: task for task in use.tasks} if use is not None else {}
    tasks = tuple(
        TaskFacts(
            name=task.name,
            kind=task.kind,
            module=task.module,
            time=times.get(task.name),
            utilisation=times[task.name].busy / cycles if cycles and task.name in times else None,
            blocked=blocked.get(task.name),
            resources=asdict(task.resources) if task.resources is not None else {},
            critical=critical[task.name],
            use=uses.get(task.name),
        )
        for task in kernel.tasks
    )
    streams = (_fifo(key, stream, fifos) for stream in kernel.streams)
    listed = (*streams, *(_ring(key, block, fifos) for block in kernel.blocks)) or tuple(_unlisted(key, kernel, result))
    return KernelFacts(kernel.name, cycles, tasks, listed)


_Times = Mapping[tuple[str, str, str], FifoTime]
"""By name, producer and consumer: kernels may have FIFOs of the same name."""


def _blocked(entry: BlockedTask) -> str:
    slots = f"{entry.occupancy:,} of {entry.depth:,}" if entry.depth is not None else f"{entry.occupancy:,}"
    return f"waits to {entry.waits_to} {entry.channel} ({slots} slots taken)"


def _unlisted(key: str, kernel: Kernel, result: SimulationResult) -> Iterator[ChannelFacts]:
    """The channels of a design that `stc` did not write: only the run knows them."""
    tasks = {task.name for task in kernel.tasks}
    for fifo in result.fifos:
        if tasks >= {fifo.producer, fifo.consumer}:
            ring, tokens = fifo.kind != "fifo", fifo.tokens // max(1, len(result.ends.get(kernel.name, ())))
            depth = fifo.depth or 0
            ends = (fifo.producer, fifo.consumer)
            yield ChannelFacts(key + fifo.name, fifo.name, ring, *ends, None, depth, None, "", tokens, fifo)


def _fifo(key: str, stream: Stream, times: _Times) -> ChannelFacts:
    time = times.get((stream.name, stream.producer, stream.consumer))
    return ChannelFacts(
        key=key + stream.name,
        name=stream.name,
        ring=False,
        producer=stream.producer,
        consumer=stream.consumer,
        bits=stream.bits,
        depth=stream.depth if time is None or time.depth is None else time.depth,
        required=stream.required,
        storage=stream.storage,
        tokens=stream.tokens,
        time=time,
    )


def _ring(key: str, block: BlockBuffer, times: _Times) -> ChannelFacts:
    return ChannelFacts(
        key=key + block.name,
        name=block.name,
        ring=True,
        producer=block.producer,
        consumer=block.consumer,
        bits=block.bits * prod(block.shape),
        depth=block.count,
        required=None,
        storage="blocks",
        tokens=block.blocks,
        time=times.get((block.name, block.producer, block.consumer)),
    )
