"""Running the processes of a network until all have ended.

Processes are Python generators: each runs until it must wait and yields the port it waits for. It is resumed once a process that
shares that channel has run and the port has become ready; an acyclic network without bounds runs process by process.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from stc.diagnostics import CompileError
from stc.execution.channels import Channel, Port, ReadPort, Ring, RingReader, RingWriter, WritePort
from stc.network.waits import Diagnosis, Stop

Steps = Iterator[tuple[Port, int]]
"""What a process yields: the port it waits for, and how many tokens it has taken from it."""


class Deadlock(CompileError):
    """Every process that has not ended waits for another one.

    `waits` says of each blocked process what it waits for; the message names those of a wait-for cycle.
    """

    def __init__(self, wait_cycle: Sequence[str], waits: Sequence[str], where: str):
        self.waits = tuple(waits)
        others = len(waits) - len(wait_cycle)
        rest = f"; {others} more wait for these" if others else ""
        accepted = "deeper streams, or tasks that take turns in one order"
        super().__init__(f"deadlock: {'; '.join(wait_cycle)}{rest}", where=where, accepted=accepted)


@dataclass(eq=False)
class Process:
    """One task, or one operation that moves tokens."""

    name: str
    ports: Sequence[Port]
    steps: Steps
    waits: tuple[Port, int] | None = None
    ended: bool = False

    def run(self) -> None:
        """Run until it waits or ends."""
        self.waits = next(self.steps, None)
        if self.waits is not None:
            return
        self.ended = True
        for port in self.ports:
            if isinstance(port, WritePort | RingWriter):
                port.channel.ended = True


@dataclass
class _Waiting:
    """Who waits at which channel."""

    by_channel: dict[Channel | Ring, list[Process]] = field(default_factory=dict[Channel | Ring, list[Process]])

    def add(self, process: Process) -> None:
        assert process.waits is not None
        self.by_channel.setdefault(process.waits[0].channel, []).append(process)

    def released_by(self, process: Process) -> Iterator[Process]:
        """Processes that can go on after `process` has run."""
        for port in process.ports:
            waiting = self.by_channel.get(port.channel)
            if not waiting:
                continue
            ready = [other for other in waiting if other.waits is not None and other.waits[0].is_ready()]
            for other in ready:
                waiting.remove(other)
            yield from ready


def run_processes(processes: Sequence[Process], channels: Sequence[Channel | Ring], where: str) -> None:
    """Run all processes to their end.

    CompileError where a process reads more tokens than are written, or tokens are left unread; Deadlock where all wait.
    """
    ready = deque(processes)
    waiting = _Waiting()
    while ready:
        process = ready.popleft()
        process.run()
        if not process.ended:
            waiting.add(process)
        ready.extend(waiting.released_by(process))
    blocked = [process for process in processes if not process.ended]
    if blocked:
        raise _explanation(blocked, where)
    _check_nothing_left(channels, where)


def _explanation(blocked: Sequence[Process], where: str) -> CompileError:
    diagnosis = Diagnosis(_stop(number, blocked) for number in range(len(blocked)))
    if diagnosis.short:
        return _disagreement(blocked[int(diagnosis.short[0].task)], where)
    (cycle, *_) = diagnosis.wait_cycles  # nobody waits for one that has ended: following the waits comes round
    return Deadlock([_wait(blocked[int(stop.task)]) for stop in cycle.stops], [_wait(process) for process in blocked], where)


def _stop(number: int, blocked: Sequence[Process]) -> Stop:
    """Process `number` waits for the one at the other end of the channel at which it stands, or for "nobody" that is left."""
    port, count = _waits(blocked[number])
    reads = isinstance(port, ReadPort | RingReader)
    ends = ((n, end) for n, other in enumerate(blocked) for end in other.ports if end.channel is port.channel)
    others = (n for n, end in ends if isinstance(end, ReadPort | RingReader) != reads)
    kind = "ring" if isinstance(port.channel, Ring) else "fifo"
    occupancy = max((len(queue) for _, queue in port.channel.readers), default=0)
    on = str(next(others, "nobody"))
    return Stop(str(number), "read" if reads else "write", port.channel.name, kind, on, occupancy, port.channel.depth, count)


def _disagreement(process: Process, where: str) -> CompileError:
    """Of a process that waits for one that has ended, or that never was."""
    port, count = _waits(process)
    channel, at = port.channel, f"{where}: {process.name}"
    if isinstance(port, ReadPort | RingReader):
        writer = f"its writer {channel.writer} has ended" if channel.writer else "nothing writes it"
        return CompileError(f"reads token {count} of {channel}, but {writer}", where=at, accepted=f"{count} reads, or more writes")
    readers = " and ".join(reader for reader, _ in channel.readers)
    what = f"{port.describe(count)}, but its reader {readers} has ended"
    return CompileError(what, where=at, accepted="as many reads as writes")


def _waits(process: Process) -> tuple[Port, int]:
    assert process.waits is not None
    return process.waits


def _wait(process: Process) -> str:
    port, count = _waits(process)
    return f"{process.name} {port.describe(count)}"


def _check_nothing_left(channels: Sequence[Channel | Ring], where: str) -> None:
    for channel in channels:
        for reader, queue in channel.readers:
            if queue:
                raise CompileError(
                    f"{len(queue)} tokens of {channel} are left unread by {reader}",
                    where=f"{where}: {channel.writer or 'the kernel boundary'}",
                    accepted="as many reads as writes",
                )
