"""The page of `stc explore`: its fronts as pictures and tables, in one file without references to others than its schedules."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from stc.exploration.problem import Origin, Point, Problem
from stc.exploration.results import Found, Results
from stc.tools.report.page import embedded, plotly_script, template
from stc.tools.schedule_file import FILE

HINTS: Mapping[Origin, str] = {
    "estimated": "Bytes on chip are those of arrays and converters: an estimate knows no FIFOs.",
    "simulated": "Bytes on chip are those of arrays, converters and FIFOs.",
}
SOURCES: Mapping[Origin, str] = {
    "estimated": "estimated: cycles and resources by the model of the search, bytes from the orders of loops; nothing was compiled",
    "simulated": "executed: cycles by the emitted C++ with time; bytes counted in the IR; DSPs estimated, no synthesis",
}
MOST_FAILED = 5
"""Trials without a design that the page says something of."""

MOST_UNLIKE = 6
"""Choices unlike the default's that a row names."""


@dataclass(frozen=True)
class Row:
    """A design of a front. `unlike`: in what it is not the default; `estimated`: which estimate is of the same design."""

    number: int
    figures: tuple[int, ...]
    schedule: str
    unlike: str
    is_default: bool
    estimated: int | None


@dataclass(frozen=True)
class Part:
    """All of one origin."""

    origin: Origin
    designs: int
    front: tuple[Row, ...]
    hint: str
    source: str
    default_note: str
    failed: tuple[str, ...]


def schedule_of(problem: Problem, found: Found, folder: str) -> str:
    """What `--schedule` takes to make a design of a front again, whose designs are in `folder`, each in one by its number."""
    own, paths = f"{folder}/{found.number}", list(problem.schedules(found.point))
    return f"{own}/{FILE}" if paths == [FILE] else own


def render_explored(results: Results, folders: Mapping[Origin, str]) -> str:
    """The HTML. `folders`: where the designs of each front are."""
    problem = results.problem
    default, titles = problem.default(), list(problem.objectives.values())
    pairs = [pair for pair in combinations(range(len(titles)), 2) if 0 in pair or 2 in pair]
    parts: list[Part] = []
    drawn: list[dict[str, object]] = []
    for origin, folder in folders.items():
        found, front, known = results.designs[origin], results.front(origin), results.default(origin)
        failed = results.failures[origin]
        if not found and not failed:
            continue
        rows = tuple(_row(each, schedule_of(problem, each, folder), default, results.estimate_of(each)) for each in front)
        lines = tuple(f"Trial {number} has no design: {why}." for number, why in failed[-MOST_FAILED:])
        parts.append(Part(origin, len(found), rows, HINTS[origin], SOURCES[origin], _default_note(known, front, titles), lines))
        numbers = {each.number for each in front}
        others = [each for each in found if not each.objectives.beyond and each.number not in numbers]
        shown = {"others": others, "front": front, "default": [known] if known is not None else []}
        drawn.append({"origin": origin, **{name: _points(designs) for name, designs in shown.items()}})
    return template("explored.html.j2").render(
        name=problem.name,
        parts=parts,
        pairs=pairs,
        titles=titles,
        data=embedded({"parts": drawn, "pairs": pairs, "titles": titles}),
        plotly=plotly_script(),
    )


def _row(found: Found, schedule: str, default: Point, estimate: Found | None) -> Row:
    estimated = None if estimate is None else estimate.number
    unlike, is_default = _unlike(found.point, default), found.point == default
    return Row(found.number, found.objectives.values, schedule, unlike, is_default, estimated)


def _points(designs: Sequence[Found]) -> list[tuple[int, tuple[int, ...]]]:
    return [(each.number, each.objectives.values) for each in designs]


def _unlike(point: Point, default: Point) -> str:
    changed = [f"{name} {value}" for name, value in point.items() if value != default[name]]
    more = len(changed) - MOST_UNLIKE
    return ", ".join(changed[:MOST_UNLIKE]) + (f" and {more} more" if more > 0 else "")


def _default_note(default: Found | None, front: Sequence[Found], titles: Sequence[str]) -> str:
    """Where the default is, if it is not in the front."""
    if default is None or default in front:
        return ""
    figures = ", ".join(f"{value:,} {title}" for value, title in zip(default.objectives.values, titles, strict=True))
    return f"The default, design {default.number}, is not in it: {figures}."
