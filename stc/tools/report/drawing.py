"""The dataflow graph as shapes: where each box and each edge of the page's SVG lies, in pixels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import log2

from stc.tools.report.facts import ChannelFacts, KernelFacts, TaskFacts
from stc.tools.report.layered_layout import Layout, layered_layout

BOX_WIDTH, BOX_HEIGHT = 158, 52
COLUMN, ROW = 172, 88
MARGIN = 12
LABEL_LETTERS = 21
PORT_SPREAD = 0.7
"""Share of a box's side over which its edges are spread."""


@dataclass(frozen=True)
class Box:
    """A task: its upper left corner and its name in at most two lines."""

    task: TaskFacts
    x: float
    y: float
    lines: tuple[str, ...]


@dataclass(frozen=True)
class Line:
    """A channel: an SVG path, and how wide it is drawn (pixels)."""

    channel: ChannelFacts
    path: str
    width: float


@dataclass(frozen=True)
class Drawing:
    width: float
    height: float
    boxes: tuple[Box, ...]
    lines: tuple[Line, ...]


def drawing(kernel: KernelFacts) -> Drawing:
    """The drawing of a kernel's tasks and of the channels between them."""
    names = {task.name for task in kernel.tasks}
    channels = [channel for channel in kernel.channels if {channel.producer, channel.consumer} <= names]
    layout = layered_layout([task.name for task in kernel.tasks], [(c.producer, c.consumer) for c in channels])
    boxes = tuple(
        Box(task, MARGIN + layout.boxes[task.name][0] * COLUMN - BOX_WIDTH / 2, _top(layout.boxes[task.name][1]), label(task.name))
        for task in kernel.tasks
    )
    starts, ends = _port_shifts(layout, 0), _port_shifts(layout, -1)
    lines = tuple(
        Line(channel, _path(layout, number, starts[number], ends[number]), _width(channel))
        for number, channel in enumerate(channels)
    )
    height = layout.rows * ROW - (ROW - BOX_HEIGHT) + 2 * MARGIN
    return Drawing(layout.width * COLUMN + 2 * MARGIN, height, boxes, lines)


def label(name: str, letters: int = LABEL_LETTERS) -> tuple[str, ...]:
    """`name` in at most two lines of at most `letters`, cut at underscores where possible, shortened in the middle."""
    if len(name) <= letters:
        return (name,)
    if len(name) > 2 * letters:
        name = shortened(name, 2 * letters - 1)
    cut = name.rfind("_", len(name) - letters - 1, letters)
    return (name[: cut + 1], name[cut + 1 :]) if cut > 0 else (name[:letters], shortened(name[letters:], letters))


def shortened(name: str, letters: int) -> str:
    """`name` in at most `letters`, with an ellipsis for its middle."""
    half = (letters - 1) // 2
    return name if len(name) <= letters else f"{name[: letters - 1 - half]}…{name[-half:]}"


def pipeline_order(kernel: KernelFacts) -> list[TaskFacts]:
    """Tasks from producers to consumers, a load right above what it feeds."""
    names = {task.name for task in kernel.tasks}
    edges = [(c.producer, c.consumer) for c in kernel.channels if {c.producer, c.consumer} <= names]
    boxes = layered_layout([task.name for task in kernel.tasks], edges).boxes
    return sorted(kernel.tasks, key=lambda task: (boxes[task.name][1], boxes[task.name][0]))


def _top(row: int) -> float:
    return MARGIN + row * ROW


def _width(channel: ChannelFacts) -> float:
    return 1.25 + 0.35 * log2(1 + (channel.highest if channel.highest is not None else channel.depth))


def _port_shifts(layout: Layout, end: int) -> list[float]:
    """For each edge how far (pixels) from its box's middle it leaves (`end` 0) or arrives (-1): side by side, by where it goes."""
    inward = 1 if end == 0 else -2
    ports: dict[tuple[float, int], list[int]] = {}
    for number, route in enumerate(layout.routes):
        ports.setdefault(route[end], []).append(number)
    shifts = [0.0] * len(layout.routes)
    for numbers in ports.values():
        ordered = sorted(numbers, key=lambda number: layout.routes[number][inward][0])
        step = min(26.0, PORT_SPREAD * BOX_WIDTH / len(ordered))
        for at, number in enumerate(ordered):
            shifts[number] = (at - (len(ordered) - 1) / 2) * step
    return shifts


def _path(layout: Layout, number: int, start: float, end: float) -> str:
    """Curves from box to box, straight where the edge passes a row."""
    route: Sequence[tuple[float, int]] = layout.routes[number]
    (first, top), (last, bottom) = route[0], route[-1]
    down = bottom >= top
    x, y = MARGIN + first * COLUMN + start, _top(top) + (BOX_HEIGHT if down else 0)
    parts = [f"M{x:.1f},{y:.1f}"]
    for at, row in route[1:-1]:
        x, y = MARGIN + at * COLUMN, _top(row) + (0 if down else BOX_HEIGHT)
        parts += [_curve(parts[-1], x, y), f"L{x:.1f},{y + (BOX_HEIGHT if down else -BOX_HEIGHT):.1f}"]
    x, y = MARGIN + last * COLUMN + end, _top(bottom) - 2 if down else _top(bottom) + BOX_HEIGHT + 2
    parts.append(_curve(parts[-1], x, y))
    return " ".join(parts)


def _curve(before: str, x: float, y: float) -> str:
    """A curve from where the path part `before` ends to (x, y), vertical at both ends."""
    from_x, from_y = (float(value) for value in before.rsplit(" ", 1)[-1].lstrip("MLC").split(","))
    middle = (from_y + y) / 2
    return f"C{from_x:.1f},{middle:.1f} {x:.1f},{middle:.1f} {x:.1f},{y:.1f}"
