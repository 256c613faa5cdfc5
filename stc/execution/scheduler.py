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

Steps = Iterator[tuple[Port, int]]
"""What a process yields: the port it waits for, and how many tokens it has taken from it."""


class Deadlock(CompileError):
    """Every process that has not ended waits for another one.

    `waits` says of each blocked process what it waits for; the message names those that wait for each other in a circle.
    """

    def __init__(self, circle: Sequence[str], waits: Sequence[str], where: str):
        self.waits = tuple(waits)
        others = len(waits) - len(circle)
        rest = f"; {others} more wait for these" if others else ""
        super().__init__(
            f"deadlock: {'; '.join(circle)}{rest}", where=where, accepted="deeper streams, or tasks that take turns in one order"
        )


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
    for process in blocked:
        assert process.waits is not None
        port, count = process.waits
        if isinstance(port, ReadPort | RingReader) and (port.channel.ended or not port.channel.writer):
            writer = f"its writer {port.channel.writer} has ended" if port.channel.writer else "nothing writes it"
            return CompileError(
                f"reads token {count} of {port.channel}, but {writer}",
                where=f"{where}: {process.name}",
                accepted=f"{count} reads, or more writes",
            )
    return Deadlock([_wait(process) for process in _circle(blocked)], [_wait(process) for process in blocked], where)


def _wait(process: Process) -> str:
    assert process.waits is not None
    port, count = process.waits
    return f"{process.name} {port.describe(count)}"


def _circle(blocked: Sequence[Process]) -> list[Process]:
    """Processes each of which waits for the next, and the last for the first."""
    path = [blocked[0]]
    while True:
        following = _waited_for(path[-1], blocked)
        if following is None:
            return path
        if following in path:
            return path[path.index(following) :]
        path.append(following)


def _waited_for(process: Process, blocked: Sequence[Process]) -> Process | None:
    """The blocked process at the other end of the channel at which `process` waits."""
    assert process.waits is not None
    port = process.waits[0]
    other_side = (WritePort, RingWriter) if isinstance(port, ReadPort | RingReader) else (ReadPort, RingReader)
    for other in blocked:
        if any(isinstance(end, other_side) and end.channel is port.channel for end in other.ports):
            return other
    return None


def _check_nothing_left(channels: Sequence[Channel | Ring], where: str) -> None:
    for channel in channels:
        for reader, queue in channel.readers:
            if queue:
                raise CompileError(
                    f"{len(queue)} tokens of {channel} are left unread by {reader}",
                    where=f"{where}: {channel.writer or 'the kernel boundary'}",
                    accepted="as many reads as writes",
                )
