"""The token model: what a task does to the channels it shares with other tasks, iteration by iteration, and how big they are."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Action:
    """`iterations` firings, each moving `reads` and `writes` tokens per channel at once.

    It also waits, without moving anything, for a token in each channel of `needs_token` and for room in each of `needs_room`:
    a block of a ring is taken before it is filled and handed over afterwards.
    """

    reads: tuple[tuple[str, int], ...] = ()
    writes: tuple[tuple[str, int], ...] = ()
    iterations: int = 1
    needs_token: tuple[str, ...] = ()
    needs_room: tuple[str, ...] = ()


@dataclass(frozen=True)
class TaskProgram:
    """What a task does to its channels, in order."""

    name: str
    actions: Iterable[Action]


@dataclass(frozen=True)
class Channel:
    """A channel at its least `depth` (tokens), each token of `bits`; all `tokens` together need no more.

    A fixed one (a ring of buffers) does not grow.
    """

    name: str
    depth: int
    bits: int
    tokens: int
    fixed: bool = False
