"""What each channel of external memory does in a run, or would do in as many cycles as were estimated: bytes, cycles busy and idle.

A channel is *busy* in a cycle in which some port moves a word through it: from when the word passes until the port could move its
next one (`stc.platforms.memory_channels.cycles_per_word`), rounded to cycles where a stretch of words begins and ends. Words of a
pipelined loop have such a time. Those that are moved outside of pipelined loops come at once (`stc_sim/clock.h`): they count as
bytes alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import accumulate, pairwise
from math import inf
from typing import Any

from stc.manifest.element_types import word_bytes
from stc.manifest.schema import Kernel, Manifest, Port
from stc.simulation.timing_table import NO_PLATFORM, cycles_between_words, traffic_name

BINS = 48
"""Into so many equal parts the time of a run is cut."""

Spans = tuple[int, Sequence[int]]
"""Cycles of a span, and what was counted in each span from cycle 0 on."""


@dataclass(frozen=True)
class ChannelUse:
    """One channel (`bank` of the linker) in `cycles`, those of all kernels one after the other; None where nobody knows them.

    `ports`: those linked to it. Bytes `read` and `written`, without padding. `busy`: in so many cycles a port moves a word, at most
    in `busy_most`: a run counts them, an estimate does not know which ports do so at the same time. `idle`: in all others, at most.
    `share`: bytes of those that it sustains in `cycles`. `read_over_time`, `written_over_time`: bytes of pipelined loops in `BINS`
    equal parts of the cycles; empty where nothing was run. `card`: whose channel it is, where there are several.
    """

    channel: int
    ports: tuple[str, ...]
    cycles: int | None
    read: int
    written: int
    busy: int
    busy_most: int
    idle: int | None
    share: float | None
    read_over_time: tuple[int, ...] = ()
    written_over_time: tuple[int, ...] = ()
    card: int = 0

    @property
    def name(self) -> str:
        """Its number; a port that no bank is known of has a channel of its own."""
        return str(self.channel) if self.channel >= 0 else "its own"

    @property
    def bytes(self) -> int:
        """Both directions together."""
        return self.read + self.written


@dataclass(frozen=True)
class ChannelUses:
    """All channels that a design uses, by number, and where the figures come from, in words."""

    origin: str
    channels: tuple[ChannelUse, ...]

    @property
    def busiest_first(self) -> list[ChannelUse]:
        return sorted(self.channels, key=lambda use: (-use.busy_most, -use.bytes, use.channel))

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True)
class _Count:
    """What one kernel does to one channel; `over_time`: by direction."""

    read: int
    written: int
    busy: int
    busy_most: int
    over_time: Mapping[str, Spans]


def measured_channels(manifest: Manifest, timing: Mapping[str, Any], ends: Mapping[str, Sequence[int]]) -> ChannelUses | None:
    """Of a run that ended, over all its invocations; None where the manifest does not say how fast memory is, or links no port.

    `timing`: of the run's report; `ends`: of each kernel's invocations. Bytes are of the words that tasks accessed; where `stc` did
    not write the tasks, of those that their pipelined loops were charged.
    """
    if "traffic" not in timing:   # of a project whose simulator is older
        return None
    counted_as = "words" if manifest.platform == NO_PLATFORM else "accesses"
    accesses = {entry["port"]: entry[counted_as] for entry in timing["ports"]}
    traffic = {entry["channel"]: entry for entry in timing["traffic"]}

    def counted(kernel: Kernel, channel: int, ports: Sequence[Port]) -> _Count:
        found = traffic[traffic_name(kernel, channel)]
        moved = {port.name: accesses[port.name] * word_bytes(port) for port in ports}
        over_time: dict[str, Spans] = {side: (found["span"], found[key]) for side, key in (("read", "read"), ("write", "written"))}
        return _Count(*_by_direction(ports, moved), found["busy"], found["busy"], over_time)

    return _uses("executed: bytes; simulated: cycles", manifest, {name: given[-1] for name, given in ends.items()}, counted)


def estimated_channels(manifest: Manifest, cycles: Mapping[str, int | None]) -> ChannelUses | None:
    """Of one launch of each kernel, in so many estimated `cycles`, by name; None as for `measured_channels`.

    Bytes are those that tasks are known to move (`TaskWork`). Ports move their words at their own pace: those of one channel
    perhaps all at the same time, as far as it brings so much, perhaps one after the other.
    """
    memory = manifest.memory
    rate = memory.channel_bytes_per_cycle if memory is not None else inf

    def counted(kernel: Kernel, channel: int, ports: Sequence[Port]) -> _Count:
        moved, pace, in_loops = _bytes_moved(kernel), cycles_between_words(kernel, manifest), _ports_in_loops(kernel)
        busy: dict[tuple[str, str], float] = {}
        brought = 0.0  # bytes with their padding
        for port in ports:
            if port.name in in_loops:
                words = moved.get(port.name, 0) / word_bytes(port)
                busy[port.mover] = busy.get(port.mover, 0.0) + words * pace[port.name]
                brought += words * port.padded_word_bytes
        known = cycles.get(kernel.name)
        most = sum(busy.values()) if known is None else min(sum(busy.values()), known)
        least = min(most, max([brought / rate, *busy.values()]))
        return _Count(*_by_direction(ports, moved), round(least), round(most), {})

    return _uses("estimated: bytes of the IR, cycles at each port's pace", manifest, cycles, counted)


# One design -----------------------------------------------------------------------------------------------------------


def _uses(
    origin: str, manifest: Manifest, cycles: Mapping[str, int | None], counted: Callable[[Kernel, int, Sequence[Port]], _Count]
) -> ChannelUses | None:
    """Kernels one after the other, as the host launches them."""
    memory = manifest.memory
    cards = {it.kernel: it.card for it in manifest.bitstreams}
    linked = {(cards.get(each.name, 0), port.bank) for each in manifest.kernels for port in each.ports if port.bank is not None}
    if memory is None or not linked:
        return None
    known = [cycles.get(kernel.name) for kernel in manifest.kernels]
    begins = list(accumulate((each or 0 for each in known), initial=0))
    total = None if None in known else begins[-1]
    found: list[ChannelUse] = []
    for card, channel in sorted(linked):
        counts: list[tuple[int, int, _Count]] = []
        names: list[str] = []
        for kernel, (begin, end) in zip(manifest.kernels, pairwise(begins), strict=True):
            ports = [port for port in kernel.ports if port.bank == channel and cards.get(kernel.name, 0) == card]
            names += [port.name if len(manifest.kernels) == 1 else f"{kernel.name}.{port.name}" for port in ports]
            counts += [(begin, end, counted(kernel, channel, ports))] if ports else []
        found.append(_use(card, channel, tuple(names), total, counts, memory.channel_bytes_per_cycle))
    return ChannelUses(origin, tuple(found))


def _use(
    card: int, channel: int, ports: tuple[str, ...], cycles: int | None, counts: Sequence[tuple[int, int, _Count]], rate: float
) -> ChannelUse:
    """`counts`: of each kernel, with the cycles from which to which it runs."""
    found = [count for *_, count in counts]
    read, written, busy = sum(each.read for each in found), sum(each.written for each in found), sum(each.busy for each in found)
    return ChannelUse(
        channel, ports, cycles, read, written, busy,
        busy_most=sum(each.busy_most for each in found),
        idle=None if cycles is None else cycles - busy,
        card=card,
        share=(read + written) / (cycles * rate) if cycles else None,
        read_over_time=_in_bins(cycles, [(begin, end, count.over_time.get("read")) for begin, end, count in counts]),
        written_over_time=_in_bins(cycles, [(begin, end, count.over_time.get("write")) for begin, end, count in counts]),
    )


def _in_bins(cycles: int | None, parts: Sequence[tuple[int, int, Spans | None]]) -> tuple[int, ...]:
    """What was counted in spans of several kernels, each from `begin` to `end`, in `BINS` equal parts of all `cycles`; the bytes of
    a span are spread evenly over it. They sum to what was counted."""
    if not cycles or not all(spans is not None for *_, spans in parts):
        return ()
    sums = [0.0] * (BINS + 1)
    for begin, end, spans in parts:
        span, counts = spans or (1, ())
        for at, edge in enumerate(edge * cycles / BINS for edge in range(BINS + 1)):
            sums[at] += _counted_before(edge - begin, span, counts) if edge < end else sum(counts)
    return tuple(round(after) - round(before) for before, after in pairwise(sums))


def _counted_before(cycle: float, span: int, counts: Sequence[int]) -> float:
    whole, rest = divmod(max(0.0, cycle), span)
    full = int(whole)
    return sum(counts[:full]) + (counts[full] * rest / span if full < len(counts) else 0.0)


def _by_direction(ports: Iterable[Port], moved: Mapping[str, int]) -> tuple[int, int]:
    """Bytes read and bytes written, of those moved through each port."""
    sums = {"read": 0, "write": 0}
    for port in ports:
        sums[port.direction] += moved.get(port.name, 0)
    return sums["read"], sums["write"]


def _bytes_moved(kernel: Kernel) -> dict[str, int]:
    """Bytes through each port, of all tasks."""
    moved: dict[str, int] = {}
    for task in kernel.tasks:
        for name, size in (task.work.moves if task.work is not None else {}).items():
            moved[name] = moved.get(name, 0) + size
    return moved


def _ports_in_loops(kernel: Kernel) -> set[str]:
    """Ports whose words pipelined loops move."""
    return {access.port for loop in kernel.schedule if loop.ii is not None for access in loop.memory}
