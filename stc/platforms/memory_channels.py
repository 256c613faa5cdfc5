"""External memory by channels: where buffers lie, which channels ports have in common, and how fast words come from one.

One answer for all who ask: the emitted project (which links ports), the simulation, and, of the rate alone, the sizing of FIFOs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Container, Hashable, Iterable
from typing import TypeVar

import networkx as nx

BURST_BYTES = 64
"""A buffer is padded to a multiple of this."""
BEAT_DIGITS = 6
"""Cycles between words are told to a millionth."""

Buffer = TypeVar("Buffer", bound=Hashable)
Channel = TypeVar("Channel", bound=Hashable)


def channels_in_turn(
    buffers: Iterable[Buffer],
    channels: int,
    updated: Container[Buffer] = (),
    of_ports: Iterable[Collection[Buffer]] = (),
    last: Container[Buffer] = (),
) -> dict[Buffer, int]:
    """The channel, of so many, that each buffer lies in: channel n mod `channels` for the n-th that is named, first come first.

    Those that are `updated` in place come before all others, and those that come `last` behind them: kernels of several projects
    find what they share in one channel (caches, parameters), whatever inputs one has that another has not.
    Those that come through one port (`of_ports`) lie in one channel, as the port is linked to one.
    """
    in_order = sorted(dict.fromkeys(buffers), key=lambda buffer: (buffer not in updated, buffer in last))
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


def shared_channels(linked: Iterable[tuple[Channel, Hashable]]) -> frozenset[Channel]:
    """The channels of which each user gets what the others leave, as only a run knows. `linked`: for each pointer of a kernel the
    channel, and the direction of the port that it comes through, which is one user."""
    users = Counter(channel for channel, _ in set(linked))
    return frozenset(channel for channel, count in users.items() if count > 1)


def padded_bytes(size: int) -> int:
    """Bytes of the buffer that holds `size` bytes of words."""
    return -(-size // BURST_BYTES) * BURST_BYTES


def cycles_per_word(word_bytes: float, channel_bytes_per_cycle: float) -> float:
    """Cycles between two words of a port that has its channel to itself, at least one, to a millionth.

    `word_bytes` with the word's part of the padding.
    """
    return round(max(1.0, word_bytes / channel_bytes_per_cycle), BEAT_DIGITS)
