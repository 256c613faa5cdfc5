"""What ran against what the manifest says of it: a report that mixes two different designs would explain neither."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass

from stc.diagnostics import CompileError
from stc.manifest.schema import OWN_KERNEL, BlockBuffer, Kernel, LoopSchedule, Manifest, Stream
from stc.simulation.simulation_result import FifoTime, SimulationResult

ACCEPTED = "kernel.cpp and manifest.json as one 'stc compile' wrote them"
MOST_SHOWN = 5
FIFO, RING = "FIFO", "ring of blocks"


def check_against_manifest(manifest: Manifest, result: SimulationResult, invocations: int, where: str) -> None:
    """CompileError if the C++ that ran has other tasks, FIFOs, blocks or pipelined loops than the manifest, or other depths,
    initiation intervals, ends of FIFOs or (of a run that ended) token counts. `where`: the project."""
    differences = list(_differences(manifest, result, invocations))
    if not differences:
        return
    shown = "; ".join(differences[:MOST_SHOWN])
    more = f"; and {len(differences) - MOST_SHOWN} more" if len(differences) > MOST_SHOWN else ""
    raise CompileError(f"manifest and C++ disagree: {shown}{more}", where=where, accepted=ACCEPTED)


def _differences(manifest: Manifest, result: SimulationResult, invocations: int) -> Iterator[str]:
    ended = result.values.outcome == "finished"
    kernels = [kernel for kernel in manifest.kernels if ended or len(manifest.kernels) == 1 or _began(kernel, result)]
    if result.tasks:
        yield from _names("task", (task.name for kernel in kernels for task in kernel.tasks), (task.name for task in result.tasks))
    ran = {fifo.name: fifo for fifo in result.fifos}
    own = {task.name for kernel in kernels for task in kernel.tasks if task.kind == OWN_KERNEL}
    streams = [_fifo(stream, own) for kernel in kernels for stream in kernel.streams]
    rings = [_ring(ring) for kernel in kernels for ring in kernel.blocks]
    yield from _names(FIFO, (fifo.name for fifo in streams), (name for name, fifo in ran.items() if fifo.kind == "fifo"))
    yield from _names(RING, (ring.name for ring in rings), (name for name, fifo in ran.items() if fifo.kind != "fifo"))
    for channel in (*streams, *rings):
        if channel.name in ran:
            yield from _channel_differences(channel, ran[channel.name], invocations if ended else None)
    yield from _loop_differences((loop for kernel in kernels for loop in kernel.schedule), result, ended)


def _began(kernel: Kernel, result: SimulationResult) -> bool:
    """Whether a kernel of several was called before the run stopped, in it perhaps."""
    ran = {task.name for task in result.tasks}
    return kernel.name in result.ends or any(task.name in ran for task in kernel.tasks)


def _names(what: str, listed: Iterable[str], found: Iterable[str]) -> Iterator[str]:
    known, present = dict.fromkeys(listed), dict.fromkeys(found)
    for name in known:
        if name not in present:
            yield f"the manifest lists {what} '{name}', which the C++ has not"
    for name in present:
        if name not in known:
            yield f"the C++ has {what} '{name}', which the manifest does not list"


@dataclass(frozen=True)
class _Channel:
    """A FIFO or a ring of blocks as the manifest has it; `room` and `traffic` put its slots and its tokens in words."""

    kind: str
    name: str
    producer: str
    consumer: str
    slots: int
    tokens: int
    room: str
    traffic: str
    is_declared: bool = False


def _fifo(stream: Stream, own: Collection[str]) -> _Channel:
    """`own`: tasks that are own kernels."""
    room, traffic, declared = "has depth {}", "carries {:,} tokens", stream.producer in own
    return _Channel(FIFO, stream.name, stream.producer, stream.consumer, stream.depth, stream.tokens, room, traffic, declared)


def _ring(ring: BlockBuffer) -> _Channel:
    room, traffic = "has {} blocks", "is released {:,} times"
    return _Channel(RING, ring.name, ring.producer, ring.consumer, ring.count, ring.blocks, room, traffic)


def _channel_differences(listed: _Channel, ran: FifoTime, invocations: int | None) -> Iterator[str]:
    """`invocations`: None where the run did not end. A channel that no token has passed does not know its ends."""
    what = f"{listed.kind} '{listed.name}'"
    if ran.declared_depth not in (0, listed.slots):
        yield f"{what} {listed.room.format(listed.slots)} in the manifest, {ran.declared_depth} in the C++"
    for verb, end, found in (("written", listed.producer, ran.producer), ("read", listed.consumer, ran.consumer)):
        if found and found != end:
            yield f"{what} is {verb} by '{end}' in the manifest, by '{found}' in the C++"
    if invocations is not None and ran.tokens != listed.tokens * invocations:
        declared = f" (own kernel {listed.producer} declares it)" if listed.is_declared else ""
        yield f"{what} {listed.traffic.format(listed.tokens * invocations)} in the manifest{declared}, {ran.tokens:,} in the C++"


def _loop_differences(schedule: Iterable[LoopSchedule], result: SimulationResult, ended: bool) -> Iterator[str]:
    listed: Mapping[tuple[str, str], LoopSchedule] = {(loop.task, loop.label): loop for loop in schedule if loop.ii is not None}
    ran = {(loop.task, loop.label): loop for loop in result.loops}
    for key, loop in listed.items():
        if key not in ran and ended and result.loops:
            yield f"the manifest lists pipelined loop '{loop.label}' of task '{loop.task}', which the C++ has not"
    for key, found in ran.items():
        entry = listed.get(key)
        if entry is None:
            label = f"'{found.label}'" if found.label else "without a label"
            at = f"task '{found.task}' at line {found.line}"
            yield f"the C++ has a pipelined loop {label} in {at}, which the manifest does not list"
        elif found.pragma_ii not in (0, entry.ii):
            yield f"loop '{found.label}' of task '{found.task}' has II {entry.ii} in the manifest, {found.pragma_ii} in the C++"
