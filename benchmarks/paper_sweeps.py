"""The picture of the sweeps of benchmarks/paper.py: cycles and bytes on chip by tile size, unroll size and C_max, as SVG."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import log2

import paper_rows

WIDTH, HEIGHT, EDGE, GAP = 260, 180, 46, 34
"""Of a panel, and what is around it, in pixels."""
COLOURS: Mapping[str, str] = {"cycles": "#1f6fb2", "bytes on chip": "#c4571a"}


def drawn(rows: Sequence[paper_rows.Row]) -> str:
    """One panel for each choice, each curve by its own largest value; refused designs are gaps, marked on the axis."""
    knobs = ("tile size", "unroll size", "C_max")
    panels = [_panel(knob, _points(rows, knob), EDGE + number * (WIDTH + EDGE)) for number, knob in enumerate(knobs)]
    wide, high = EDGE + len(knobs) * (WIDTH + EDGE), HEIGHT + EDGE + 2 * GAP
    block = f"{paper_rows.TINY}, {paper_rows.TINY_TOKENS} tokens"
    told = f"{block}; each curve from 0 to its own largest value, over the logarithm of the choice"
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide} {high}" font-family="sans-serif" font-size="11">',
        "<title>Cycles and bytes on chip by tile size, unroll size and C_max</title>",
        f'<rect width="{wide}" height="{high}" fill="white"/>', *panels,
        f'<text x="{EDGE}" y="{high - 8}" fill="#444">{told}</text>', "</svg>", "",
    ])  # fmt: skip


Point = tuple[int, float | None, float | None]


def _points(rows: Sequence[paper_rows.Row], knob: str) -> list[Point]:
    """By value of the choice: cycles and bytes, None for what was refused."""
    found: list[Point] = []
    for row in rows:
        before, _, value = row.design.rpartition(" ")
        if row.design in paper_rows.SWEEPS and before.endswith(f"tokens, {knob}"):
            on_chip = sum(row.memory[name] for name in ("converters", "fifos", "local")) if row.memory else None
            found.append((int(value), row.cycles, on_chip))
    return sorted(found)


def _panel(knob: str, points: Sequence[Point], left: int) -> str:
    bottom, top = GAP + HEIGHT, GAP
    lines = [f'<text x="{left + WIDTH / 2}" y="{top - 14}" text-anchor="middle" font-weight="bold">{knob}</text>']
    lines.append(f'<path d="M{left} {top}V{bottom}H{left + WIDTH}" fill="none" stroke="#444"/>')
    if len(points) < 2:
        return "\n".join([*lines, f'<text x="{left + 8}" y="{top + 20}">not measured</text>'])
    first, last = log2(points[0][0]), log2(points[-1][0])

    def across(value: int) -> float:
        return left + (log2(value) - first) / (last - first) * WIDTH

    for value, cycles, _ in points:
        mark = f"{value:,}" if cycles is not None else f"{value:,} refused"
        lines.append(f'<text x="{across(value):.0f}" y="{bottom + 14}" text-anchor="middle" font-size="9">{mark}</text>')
    for number, (name, colour) in enumerate(COLOURS.items()):
        known = [(value, figure) for value, *figures in points if (figure := figures[number]) is not None]
        most = max((figure for _, figure in known), default=1) or 1
        places = [(across(value), bottom - figure / most * HEIGHT * 0.9) for value, figure in known]
        path = " ".join(f"{x:.0f},{y:.0f}" for x, y in places)
        lines.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        lines += [f'<circle cx="{x:.0f}" cy="{y:.0f}" r="3" fill="{colour}"/>' for x, y in places]
        told = f"{name}, at most {most:,.0f}"
        lines.append(f'<text x="{left + WIDTH}" y="{bottom + 30 + 14 * number}" text-anchor="end" fill="{colour}">{told}</text>')
    return "\n".join(lines)
