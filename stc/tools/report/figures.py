"""Data of the charts that plotly draws in the page: the timeline of tasks and the token curves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from stc.simulation.simulation_result import FifoTime, Wait
from stc.tools.report.drawing import pipeline_order, shortened
from stc.tools.report.facts import KernelFacts, TaskFacts

BUSY, READING, WRITING = "--busy", "--reading", "--writing"
"""Colours by their names in page.css.j2: the page's script looks them up, for light and dark."""
LINE_HEIGHT = 21
BAR = 0.78
NAME_LETTERS = 30


def timeline(kernel: KernelFacts) -> dict[str, Any]:
    """Plotly figure: for each task a bar from start to end, over it what it waited for.

    A wait's thickness is the share of cycles it lost: a task that reads every fourth cycle waits three quarters of the time.
    """
    tasks = [task for task in pipeline_order(kernel) if task.time is not None]
    waits = [(line, task, wait) for line, task in enumerate(tasks) for wait in _waits(task)]
    return {
        "data": [
            _calls(tasks),
            _wait_bars("waits to read", READING, [entry for entry in waits if entry[2].reads]),
            _wait_bars("waits to write", WRITING, [entry for entry in waits if not entry[2].reads]),
        ],
        "layout": {
            "barmode": "overlay",
            "height": 110 + LINE_HEIGHT * len(tasks),
            "margin": {"l": 220, "r": 16, "t": 36, "b": 44},
            "legend": {"orientation": "h", "x": 0, "y": 1, "xanchor": "left", "yanchor": "bottom"},
            "hovermode": "closest",
            "xaxis": {"title": {"text": "cycle"}, "tickformat": ",d", "range": [0, kernel.cycles], "zeroline": False},
            "yaxis": {
                "tickmode": "array",
                "tickvals": list(range(len(tasks))),
                "ticktext": [shortened(task.name, NAME_LETTERS) for task in tasks],
                "range": [len(tasks) - 0.4, -0.6],
                "showgrid": False,
                "zeroline": False,
                "fixedrange": True,
            },
        },
    }


def _waits(task: TaskFacts) -> Sequence[Wait]:
    return [wait for wait in task.time.waits if wait.end > wait.begin] if task.time is not None else []


def _calls(tasks: Sequence[TaskFacts]) -> dict[str, Any]:
    calls = [(line, task, *call) for line, task in enumerate(tasks) if task.time is not None for call in task.time.calls]
    return {
        "type": "bar",
        "orientation": "h",
        "name": "busy",
        "base": [begin for _, _, begin, _ in calls],
        "x": [end - begin for _, _, begin, end in calls],
        "y": [line for line, *_ in calls],
        "width": BAR,
        "marker": {"color": BUSY, "line": {"width": 0}},
        "customdata": [f"{task.name}<br>busy {_busy(task)} of the cycles {begin:,} to {end:,}" for _, task, begin, end in calls],
        "hovertemplate": "%{customdata}<extra></extra>",
    }


def _busy(task: TaskFacts) -> str:
    return f"{task.time.busy:,}" if task.time is not None else ""


def _wait_bars(name: str, colour: str, waits: Sequence[tuple[int, TaskFacts, Wait]]) -> dict[str, Any]:
    return {
        "type": "bar",
        "orientation": "h",
        "name": name,
        "base": [wait.begin for _, _, wait in waits],
        "x": [wait.end - wait.begin for _, _, wait in waits],
        "y": [line for line, _, _ in waits],
        "width": [BAR * min(1.0, wait.cycles / (wait.end - wait.begin)) for _, _, wait in waits],
        "marker": {"color": colour, "line": {"width": 0}},
        "customdata": [
            f"{task.name}<br>{name} {wait.channel}<br>{wait.cycles:,} of the cycles {wait.begin:,} to {wait.end:,}"
            for _, task, wait in waits
        ],
        "hovertemplate": "%{customdata}<extra></extra>",
    }


def curves(fifo: FifoTime) -> dict[str, list[int]]:
    """Cycles and counts of the tokens produced and consumed, as flat lists."""
    return {
        "produced_at": [at for at, _ in fifo.produced],
        "produced": [count for _, count in fifo.produced],
        "consumed_at": [at for at, _ in fifo.consumed],
        "consumed": [count for _, count in fifo.consumed],
    }
