"""What ran against what the manifest says of it: a report that mixes two different designs would explain neither."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from stc.diagnostics import CompileError
from stc.manifest.schema import BlockBuffer, LoopSchedule, Manifest, Stream
from stc.simulation.simulation_result import FifoTime, SimulationResult

ACCEPTED = "kernel.cpp and manifest.json as one 'stc compile' wrote them"
MOST_SHOWN = 5


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
    kernels = [kernel for kernel in manifest.kernels if ended or kernel.name in result.ends or len(manifest.kernels) == 1]
    if result.tasks:
        yield from _names("task", (task.name for kernel in kernels for task in kernel.tasks), (task.name for task in result.tasks))
    ran = {fifo.name: fifo for fifo in result.fifos}
    streams = {stream.name: stream for kernel in kernels for stream in kernel.streams}
    blocks = {ring.name: ring for kernel in kernels for ring in kernel.blocks}
    yield from _names("FIFO", streams, (name for name, fifo in ran.items() if fifo.kind == "fifo"))
    yield from _names("ring of blocks", blocks, (name for name, fifo in ran.items() if fifo.kind != "fifo"))
    for name, stream in streams.items():
        if name in ran:
            yield from _fifo_differences(stream, ran[name], invocations if ended else None)
    for name, ring in blocks.items():
        if name in ran:
            yield from _ring_differences(ring, ran[name], invocations if ended else None)
    yield from _loop_differences((loop for kernel in kernels for loop in kernel.schedule), result, ended)


def _names(what: str, listed: Iterable[str], found: Iterable[str]) -> Iterator[str]:
    known, present = dict.fromkeys(listed), dict.fromkeys(found)
    for name in known:
        if name not in present:
            yield f"the manifest lists {what} '{name}', which the C++ has not"
    for name in present:
        if name not in known:
            yield f"the C++ has {what} '{name}', which the manifest does not list"


def _fifo_differences(stream: Stream, ran: FifoTime, invocations: int | None) -> Iterator[str]:
    if ran.declared_depth not in (0, stream.depth):
        yield f"FIFO '{stream.name}' has depth {stream.depth} in the manifest, {ran.declared_depth} in the C++"
    yield from _end_differences(f"FIFO '{stream.name}'", stream.producer, stream.consumer, ran)
    if invocations is not None and ran.tokens != stream.tokens * invocations:
        counted = f"{stream.tokens * invocations:,} tokens in the manifest, {ran.tokens:,} were counted"
        yield f"FIFO '{stream.name}' carries {counted}"


def _ring_differences(ring: BlockBuffer, ran: FifoTime, invocations: int | None) -> Iterator[str]:
    if ran.declared_depth not in (0, ring.count):
        yield f"ring of blocks '{ring.name}' has {ring.count} blocks in the manifest, {ran.declared_depth} in the C++"
    yield from _end_differences(f"ring of blocks '{ring.name}'", ring.producer, ring.consumer, ran)
    if invocations is not None and ran.tokens != ring.blocks * invocations:
        counted = f"{ring.blocks * invocations:,} times in the manifest, {ran.tokens:,} times were counted"
        yield f"ring of blocks '{ring.name}' is handed over {counted}"


def _end_differences(what: str, producer: str, consumer: str, ran: FifoTime) -> Iterator[str]:
    """A FIFO that no token has passed does not know its ends."""
    for verb, listed, found in (("written", producer, ran.producer), ("read", consumer, ran.consumer)):
        if found and found != listed:
            yield f"{what} is {verb} by '{listed}' in the manifest, by '{found}' in the C++"


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
