"""External memory by channels: where buffers lie, how the ports of a kernel share channels, and how fast words then come.

One answer for all who ask: the emitted project (which links ports), the sizing of FIFOs, and the simulation.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Hashable, Iterable, Sequence
from typing import TypeVar

BURST_BYTES = 64
"""A buffer is padded to a multiple of this."""
BEAT_DIGITS = 6
"""Cycles between words are told to a millionth."""

Buffer = TypeVar("Buffer", bound=Hashable)


def channels_in_turn(buffers: Iterable[Buffer], channels: int, updated: Container[Buffer] = ()) -> dict[Buffer, int]:
    """The channel, of so many, that each buffer lies in: channel n mod `channels` for the n-th that is named, first come first.

    Those that are `updated` in place come before all others: kernels of several projects that share them find them in one channel.
    """
    in_order = sorted(dict.fromkeys(buffers), key=lambda buffer: buffer not in updated)
    return {buffer: number % channels for number, buffer in enumerate(in_order)}


def ports_sharing(linked: Sequence[int | None]) -> tuple[int, ...]:
    """For each port of a kernel, linked to the channel that `linked` gives: how many ports of it are, itself included."""
    count = Counter(linked)
    return tuple(count[channel] for channel in linked)


def padded_bytes(size: int) -> int:
    """Bytes of the buffer that holds `size` bytes of words."""
    return -(-size // BURST_BYTES) * BURST_BYTES


def cycles_per_word(word_bytes: float, sharing: int, channel_bytes_per_cycle: float) -> float:
    """Cycles between two words of a port, at least one, to a millionth.

    `word_bytes` with the word's part of the padding. The `sharing` ports of the channel have equal parts of its
    `channel_bytes_per_cycle`, also while the others are idle (assumed; pessimistic).
    """
    return round(max(1.0, word_bytes * sharing / channel_bytes_per_cycle), BEAT_DIGITS)
