"""Small pictures of the page, drawn as SVG when it is written: channels of memory over time, phases of the critical path, dies.

Each is bars and words at places in pixels; colours are classes of page.css.j2, for light and dark.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from stc.simulation.critical_path import Kind, PathPart
from stc.simulation.memory_traffic import BINS, ChannelUses
from stc.simulation.path_roles import task_of
from stc.tools.report.drawing import shortened

WIDTH, LEFT, RIGHT, TOP, BOTTOM = 1180.0, 190.0, 90.0, 6.0, 22.0
ROW, DIE = 20.0, 54.0
NAME_LETTERS = 26
TICKS = 6
MOST_BARS = 2000
"""Parts of a critical path that are drawn, neighbours of one role and kind as one: the longest."""


@dataclass(frozen=True)
class Bar:
    """`strength`: how much of the colour of its `look` is mixed in, 0 to 100; `title`: what is told where one points at it."""

    x: float
    y: float
    width: float
    height: float
    look: str
    title: str
    strength: float = 100.0


@dataclass(frozen=True)
class Words:
    x: float
    y: float
    text: str
    anchor: Literal["start", "middle", "end"] = "start"


@dataclass(frozen=True)
class Picture:
    """`rules`: where grid lines begin and how far they go, as x, y, width, height."""

    width: float
    height: float
    bars: tuple[Bar, ...]
    words: tuple[Words, ...]
    rules: tuple[tuple[float, float, float, float], ...] = ()
    legend: str = ""


def channel_map(uses: ChannelUses | None, peak: float | None) -> Picture | None:
    """Bytes over time of each channel: read in the upper half of its row, written in the lower. `peak`: bytes per cycle that one
    sustains. None where nothing was run, or moved in loops."""
    channels = [] if uses is None else [use for use in uses.channels if use.read_over_time or use.written_over_time]
    most = max((max((*use.read_over_time, *use.written_over_time)) for use in channels), default=0)
    if not channels or not most:
        return None
    cycles = channels[0].cycles or 1
    step = (WIDTH - LEFT - RIGHT) / BINS
    bars: list[Bar] = []
    words: list[Words] = []
    for row, use in enumerate(channels):
        y = TOP + row * ROW
        name = f"{use.channel} " if use.channel >= 0 else ""
        words.append(Words(LEFT - 8, y + ROW * 0.7, shortened(name + use.ports[0].rpartition(".")[2], NAME_LETTERS), "end"))
        words.append(Words(WIDTH - RIGHT + 8, y + ROW * 0.7, f"busy {use.busy / cycles:.1%}"))
        for half, (side, counts) in enumerate((("read", use.read_over_time), ("written", use.written_over_time))):
            for at, count in ((at, count) for at, count in enumerate(counts) if count):
                span = f"{_edge(at, cycles):,} to {_edge(at + 1, cycles):,}"
                title = f"channel {use.name}: {count:,} bytes {side} in cycles {span}"
                height = (ROW - 3) / 2
                bars.append(Bar(LEFT + at * step, y + half * height, step, height, side, title, 22 + 78 * count / most))
    share = f", {most * BINS / cycles / peak:.1%} of its peak" if peak else ""
    legend = f"darkest: {most:,} bytes in {cycles / BINS:,.0f} cycles{share}; a row is a channel, with its first port"
    return _on_time_axis(len(channels), cycles, bars, words, legend)


def phases(path: Sequence[PathPart], roles: Mapping[str, str]) -> Picture | None:
    """The critical path from its beginning to its end: a row for each role (by the name of a task), in order of time, and what was
    done there. None where there is no path, or one role alone."""
    stretches = _stretches(path, roles)
    rows = {name: row for row, name in enumerate(dict.fromkeys(each.role for each in stretches))}
    if len(rows) < 2:
        return None
    cycles = sum(part.cycles for part in path)
    scale = (WIDTH - LEFT - RIGHT) / cycles
    totals = dict.fromkeys(rows, 0)
    for each in stretches:
        totals[each.role] += each.cycles
    bars: list[Bar] = []
    for each in sorted(stretches, key=lambda each: each.cycles)[-MOST_BARS:]:
        y = TOP + rows[each.role] * ROW + 3
        title = f"{each.role}: {each.cycles:,} cycles ({_DONE[each.kind]}) from {each.begin:,} on, in {each.task}"
        bars.append(Bar(LEFT + each.begin * scale, y, max(0.7, each.cycles * scale), ROW - 7, each.kind, title))
    words = [Words(LEFT - 8, TOP + row * ROW + ROW * 0.7, shortened(name, NAME_LETTERS), "end") for name, row in rows.items()]
    words += [Words(WIDTH - RIGHT + 8, TOP + row * ROW + ROW * 0.7, f"{totals[name] / cycles:.1%}") for name, row in rows.items()]
    return _on_time_axis(len(rows), cycles, bars, words, "")


_DONE = {"work": "works", "memory": "waits for external memory", "fifo": "through FIFOs", "start": "waits for its start"}


def die_plan(section: Mapping[str, Any] | None) -> Picture | None:
    """Units on their dies (report.json, `dies`), each as wide as its part of the LUTs that a plan may use there, and the wires
    between dies; None where they were not assigned."""
    dies, units = (section or {}).get("dies") or [], (section or {}).get("units") or []
    if not dies or not units:
        return None
    whole, pitch = WIDTH - LEFT - RIGHT, DIE + 30
    bars: list[Bar] = []
    words: list[Words] = []
    wires = [f"{each['wires']:,} of {each['may_be_used']:,} wires" for each in (section or {}).get("boundaries") or []]
    for row, die in enumerate(reversed(dies)):
        y, x = TOP + row * pitch, LEFT
        words.append(Words(LEFT - 8, y + DIE / 2 + 4, f"die {die['die']}", "end"))
        words.append(Words(WIDTH - RIGHT + 8, y + DIE / 2 + 4, f"{die['share_lut']:.0%} of LUTs"))
        bars.append(Bar(LEFT, y, whole, DIE, "die", f"die {die['die']}"))
        for unit in (unit for unit in units if unit["die"] == die["die"]):
            share = unit["lut"] * die["share_lut"] / die["lut"] if die["lut"] else 0.0
            width = max(3.0, min(whole - (x - LEFT), share * whole))
            told = f"{unit['unit']}: {unit['lut']:,} LUT, {unit['dsp']:,} DSP, {unit['bram36']:,} BRAM36, {unit['uram']:,} URAM"
            bars.append(Bar(x + 2, y + 3, max(1.0, width - 4), DIE - 6, "unit", told))
            words.append(Words(x + 8, y + DIE / 2 + 4, shortened(unit["unit"], max(3, int(width / 8))) if width > 40 else ""))
            x += width
        if row + 1 < len(dies) and len(wires) == len(dies) - 1:
            words.append(Words(LEFT + whole / 2, y + DIE + 19, wires[len(dies) - 2 - row], "middle"))
    height = TOP + len(dies) * pitch - 30 + TOP
    return Picture(WIDTH, height, tuple(bars), tuple(word for word in words if word.text))


def _edge(at: int, cycles: int) -> int:
    return at * cycles // BINS


def _on_time_axis(rows: int, cycles: int, bars: Sequence[Bar], words: Sequence[Words], legend: str) -> Picture:
    bottom = TOP + rows * ROW
    ticks = list(_ticks(cycles))
    scale = (WIDTH - LEFT - RIGHT) / cycles
    marks = [Words(LEFT + at * scale, bottom + 15, f"{at:,}", "middle") for at in ticks]
    rules = [(LEFT + at * scale, TOP, 1.0, bottom - TOP) for at in ticks]
    return Picture(WIDTH, bottom + BOTTOM, tuple(bars), (*words, *marks), tuple(rules), legend)


def _ticks(cycles: int) -> Iterator[int]:
    """Round cycles from 0 on, some `TICKS` of them."""
    step = 1
    while cycles / step > TICKS:
        step = step * 5 // 2 if str(step)[0] == "2" else step * 2
    yield from range(0, cycles + 1, step)


@dataclass(frozen=True)
class _Stretch:
    """Parts of a path that follow one another, of one role and one kind, from `begin` on; in `task` at first."""

    role: str
    kind: Kind
    task: str
    begin: int
    cycles: int


def _stretches(path: Sequence[PathPart], roles: Mapping[str, str]) -> list[_Stretch]:
    found: list[_Stretch] = []
    begin = 0
    for part in path:
        role = roles.get(task := task_of(part), task)
        if found and (found[-1].role, found[-1].kind) == (role, part.kind):
            found[-1] = replace(found[-1], cycles=found[-1].cycles + part.cycles)
        else:
            found.append(_Stretch(role, part.kind, part.task, begin, part.cycles))
        begin += part.cycles
    return found
