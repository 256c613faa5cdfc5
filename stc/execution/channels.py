"""Sequences of tokens at run time: Kahn channels, and rings of buffers.

A channel has one writer and, before forks are inserted, any number of readers, each with a queue of its own. Tokens are numpy
arrays that nobody changes once they are written. `depth` bounds how many tokens wait in a queue; None does not bound.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import Any

from xdsl.ir import Attribute

from stc.diagnostics import CompileError

Queue = deque[Any]


@dataclass(eq=False)
class Channel:
    """A sequence of tokens. `kind` is how messages call it: "stream" or "itensor"."""

    name: str
    kind: str = "itensor"
    depth: int | None = None
    token_type: Attribute | None = None
    """What a stream carries; a `stream.cast` is the same stream with another idea of it."""
    writer: str = ""
    ended: bool = False
    """Whether its writer has finished."""
    readers: list[tuple[str, Queue]] = field(default_factory=list[tuple[str, Queue]])

    def __str__(self) -> str:
        return f"{self.kind} {self.name}"

    def read_by(self, reader: str) -> ReadPort:
        """A new reader, from the first token on. CompileError for a second reader of a stream."""
        if self.readers and self.kind != "itensor":
            raise CompileError(
                f"{self} is read by {self.readers[0][0]} and by {reader}", where=reader, accepted="one reader (fork the stream)"
            )
        queue: Queue = deque()
        self.readers.append((reader, queue))
        return ReadPort(self, queue)

    def written_by(self, writer: str) -> WritePort:
        """The only writer; CompileError for a second one."""
        if self.writer:
            raise CompileError(f"{self} is written by {self.writer} and by {writer}", where=writer, accepted="one writer")
        self.writer = writer
        return WritePort(self)

    @property
    def occupancy(self) -> str:
        """How many tokens wait, as a message says it."""
        waiting = max((len(queue) for _, queue in self.readers), default=0)
        return f"{waiting} of {self.depth} tokens" if self.depth is not None else f"{waiting} tokens"


@dataclass(eq=False)
class ReadPort:
    """A reader's side of a channel."""

    channel: Channel
    queue: Queue

    def is_ready(self) -> bool:
        return bool(self.queue)

    def describe(self, count: int) -> str:
        return f"waits for token {count} of {self.channel} (empty)"


@dataclass(eq=False)
class WritePort:
    """A writer's side of a channel."""

    channel: Channel

    @property
    def queues(self) -> list[Queue]:
        return [queue for _, queue in self.channel.readers]

    def is_ready(self) -> bool:
        depth = self.channel.depth
        return depth is None or all(len(queue) < depth for _, queue in self.channel.readers)

    def describe(self, _count: int) -> str:
        return f"waits for room in {self.channel} ({self.channel.occupancy})"


@dataclass(eq=False)
class Ring:
    """Buffers passed from one writer to one reader, `depth` of them in all (None: as many as are asked for)."""

    name: str
    depth: int | None
    writer: str = ""
    reader: str = ""
    ended: bool = False
    taken: int = 0
    """Buffers being written or read."""
    filled: Queue = field(default_factory=deque[Any])

    def __str__(self) -> str:
        return f"ring {self.name}"

    def read_by(self, reader: str) -> RingReader:
        if self.reader:
            raise CompileError(f"{self} is read by {self.reader} and by {reader}", where=reader, accepted="one reader")
        self.reader = reader
        return RingReader(self)

    def written_by(self, writer: str) -> RingWriter:
        if self.writer:
            raise CompileError(f"{self} is written by {self.writer} and by {writer}", where=writer, accepted="one writer")
        self.writer = writer
        return RingWriter(self)

    @property
    def readers(self) -> list[tuple[str, Queue]]:
        return [(self.reader or "nobody", self.filled)]


@dataclass(eq=False)
class RingReader:
    """The side that takes filled buffers."""

    ring: Ring

    @property
    def channel(self) -> Ring:
        return self.ring

    @property
    def queue(self) -> Queue:
        return self.ring.filled

    def is_ready(self) -> bool:
        return bool(self.ring.filled)

    def describe(self, count: int) -> str:
        return f"waits for buffer {count} of {self.ring} (none is filled)"


@dataclass(eq=False)
class RingWriter:
    """The side that fills buffers."""

    ring: Ring

    @property
    def channel(self) -> Ring:
        return self.ring

    @property
    def queues(self) -> list[Queue]:
        return [self.ring.filled]

    def is_ready(self) -> bool:
        return self.ring.depth is None or len(self.ring.filled) + self.ring.taken < self.ring.depth

    def describe(self, _count: int) -> str:
        ring = self.ring
        return f"waits for a free buffer of {ring} ({len(ring.filled)} filled, {ring.taken} in use, {ring.depth} in all)"


Port = ReadPort | WritePort | RingReader | RingWriter
