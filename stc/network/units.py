"""Compute units: which part of a kernel's tasks each is, and what may cross between them (emission rules 2, 8 and 26)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from stc.network.graph import Channel, TaskGraph

MOST_LINK_BITS = 2048
"""Of a token that crosses between units: the widest stream port that the linker joins."""


def links_of(graph: TaskGraph, units: Mapping[str, str]) -> list[Channel]:
    """The channels between tasks of different units; `units` by task."""
    return [channel for channel in graph.channels if units.get(channel.producer) != units.get(channel.consumer)]


def inside(graph: TaskGraph, units: Mapping[str, str]) -> TaskGraph:
    """`graph` without its links: what has to be free of cycles."""
    links = {channel.name for channel in links_of(graph, units)}
    return replace(graph, channels=tuple(channel for channel in graph.channels if channel.name not in links))


def complaint_about(graph: TaskGraph, units: Mapping[str, str]) -> str | None:
    """What is wrong with these units, by task, as one clause; None where nothing is."""
    if not units:
        return None
    if unknown := [task for task in units if task not in graph.tasks]:
        return f"there is no task '{unknown[0]}'"
    for task in graph.tasks:
        if task not in units:
            return f"task '{task}' has no unit"
        if not re.fullmatch(r"[A-Za-z]\w*", units[task]):
            return f"task '{task}' is in unit '{units[task]}', expected a C++ identifier"
    for channel in links_of(graph, units):
        if what := complaint_about_link(channel):
            return f"{what} between units {units[channel.producer]} and {units[channel.consumer]}"
    if cycle := inside(graph, units).cycle():
        return f"tasks {', '.join(cycle)} of unit {units[cycle[0]]} form a cycle"
    return None


def may_link(bits: int) -> bool:
    """Whether tokens of so many bits may go from unit to unit: whole bytes, and no more than a link has."""
    return bits <= MOST_LINK_BITS and bits % 8 == 0


def complaint_about_link(channel: Channel) -> str | None:
    """Why a channel cannot be a link; None where it can."""
    if channel.is_ring:
        return f"'{channel.name}' is a ring of blocks, expected a stream"
    if not may_link(channel.bits):
        return f"'{channel.name}' has tokens of {channel.bits} bits, expected whole bytes up to {MOST_LINK_BITS} bits"
    return None
