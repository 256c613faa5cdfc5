"""External memory by channels: where buffers lie, how the ports of a kernel share channels, and how fast words then come.

One answer for all who ask: the emitted project (which links ports), the sizing of FIFOs, and the simulation.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Container, Hashable, Iterable, Sequence
from typing import TypeVar

import networkx as nx

from stc.platforms.platform import Sharing

BURST_BYTES = 64
"""A buffer is padded to a multiple of this."""
BEAT_DIGITS = 6
"""Cycles between words are told to a millionth."""

Buffer = TypeVar("Buffer", bound=Hashable)


def channels_in_turn(
    buffers: Iterable[Buffer], channels: int, updated: Container[Buffer] = (), of_ports: Iterable[Collection[Buffer]] = ()
) -> dict[Buffer, int]:
    """The channel, of so many, that each buffer lies in: channel n mod `channels` for the n-th that is named, first come first.

    Those that are `updated` in place come before all others: kernels of several projects that share them find them in one channel.
    Those that come through one port (`of_ports`) lie in one channel, as the port is linked to one.
    """
    in_order = sorted(dict.fromkeys(buffers), key=lambda buffer: buffer not in updated)
    together: nx.Graph[Buffer] = nx.Graph()
    together.add_nodes_from(in_order)
    for port in of_ports:
        nx.add_path(together, port)
    found: dict[Buffer, int] = {}
    number = 0
    for buffer in in_order:
        if buffer not in found:
            found |= dict.fromkeys(nx.node_connected_component(together, buffer), number % channels)
            number += 1
    return found


def ports_sharing(linked: Sequence[tuple[int | None, Hashable]], sharing: Sharing = "equal") -> tuple[int, ...]:
    """For each pointer of a kernel, by the channel that it is linked to and the direction of the port that it comes through: among
    how many such directions of ports of the kernel that use the channel it is divided at any time, its own included.

    One where it is arbitrated: then each gets what the others leave, which only a run knows.
    """
    if sharing == "arbitrated":
        return (1,) * len(linked)
    count = Counter(channel for channel, _ in set(linked))
    return tuple(count[channel] for channel, _ in linked)


def padded_bytes(size: int) -> int:
    """Bytes of the buffer that holds `size` bytes of words."""
    return -(-size // BURST_BYTES) * BURST_BYTES


def cycles_per_word(word_bytes: float, sharing: int, channel_bytes_per_cycle: float) -> float:
    """Cycles between two words of a port, at least one, to a millionth.

    `word_bytes` with the word's part of the padding. The `sharing` ports of the channel have equal parts of its
    `channel_bytes_per_cycle`, also while the others are idle (assumed; pessimistic).
    """
    return round(max(1.0, word_bytes * sharing / channel_bytes_per_cycle), BEAT_DIGITS)
