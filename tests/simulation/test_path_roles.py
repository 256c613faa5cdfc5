"""The critical path by what tasks are for, of designs and runs made by hand, and its picture."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from handmade import fifo, loop, manifest

from stc.manifest.schema import Manifest, Task, TaskWork
from stc.simulation.critical_path import PathPart
from stc.simulation.csim import CsimResult
from stc.simulation.path_roles import PathRole, path_roles, role_of, total
from stc.simulation.simulation_result import SimulationResult, TaskTime
from stc.simulation.timing_table import NO_PLATFORM
from stc.tools.report.page import render_model
from stc.tools.report.pictures import MOST_BARS, die_plan, phases

PATH = (
    PathPart("load", 0, 100, 100, "memory"),
    PathPart("load", 100, 102, 2, "work"),
    PathPart("norm", 102, 103, 1, "fifo", "words"),
    PathPart("norm", 103, 143, 40, "work"),
    PathPart("fc", 143, 144, 1, "fifo", "sums"),
    PathPart("fc", 144, 244, 100, "work"),
    PathPart("norm", 244, 254, 10, "work"),
)


def design() -> Manifest:
    """`fc` works for 200 cycles, 80 of them iterations, 40 of them products; `norm` for 50, in a loop of 60 that skips some."""
    made = manifest(
        [fifo("words", "load", "norm", 9), fifo("sums", "norm", "fc", 9)], [loop("fc", "mac", 40, ii=2), loop("norm", "sum", 60)]
    )
    (kernel,) = made.kernels
    tasks = (
        Task("load", "load", None, (), ("words",)),
        Task("norm", "compute", "layer.norm", ("words",), ("sums",)),
        Task("fc", "compute", "layer.fc", ("sums",), (), work=TaskWork(640, 16, 80, {})),
    )
    return replace(made, kernels=(replace(kernel, tasks=tasks),))


def run(invocations: int = 1) -> SimulationResult:
    """Each task took as long in each invocation."""
    busy = {"load": 2, "norm": 50, "fc": 200}
    tasks = tuple(TaskTime(name, ((0, cycles * invocations),), 0, 0, ()) for name, cycles in busy.items())
    ends = tuple(254 * (number + 1) for number in range(invocations))
    return SimulationResult(CsimResult("finished", True, None, 1.0, 0.0, False), {"top": ends}, None, 0, None, tasks, ())


@pytest.mark.parametrize("invocations", [1, 3])
def test_each_cycle_of_the_path_has_one_role_and_one_reason(invocations: int) -> None:
    roles = path_roles(design(), run(invocations), PATH)
    found = [(role.role, role.cycles, role.first) for role in roles]
    assert found == [("load", 102, 0), ("layer.norm", 51, 102), ("layer.fc", 101, 143)]
    for role in roles:
        assert role.work + role.memory + role.fifos + role.start == role.cycles
    load, norm, fc = roles
    assert (load.memory, load.work, load.iterating) == (100, 2, 0)
    assert (norm.iterating, norm.filling, norm.fifos) == (50, 0, 1)   # skipped iterations are no more than all of the work
    assert (fc.iterating, fc.filling, fc.multiplying) == (pytest.approx(40), pytest.approx(60), pytest.approx(20))
    whole = total(roles, "all")
    assert (whole.cycles, whole.memory, whole.fifos, whole.iterating) == (254, 100, 2, pytest.approx(90))


def test_nothing_is_said_of_iterations_of_designs_that_are_not_ours() -> None:
    made = replace(design(), platform=NO_PLATFORM)
    roles = path_roles(made, run(), PATH)
    assert [role.iterating for role in roles] == [None] * 3 and total(roles, "all").filling is None
    assert role_of(Task("fetch", "foreign", None, (), ())) == "fetch"
    assert total((), "none") == PathRole("none")


def test_a_row_for_each_role_and_a_bar_for_each_part() -> None:
    roles = {task.name: role_of(task) for task in design().kernels[0].tasks}
    drawn = phases(PATH, roles)
    assert drawn is not None and len(drawn.bars) == len(PATH)
    assert [words.text for words in drawn.words][:6] == ["load", "layer.norm", "layer.fc", "40.2%", "20.1%", "39.8%"]
    assert "layer.fc: 100 cycles (works) from 144 on, in fc" in {bar.title for bar in drawn.bars}
    ends = [bar.x + bar.width for bar in drawn.bars]
    assert max(ends) <= drawn.width and all(bar.y + bar.height <= drawn.height for bar in drawn.bars)
    assert phases((), roles) is None and phases(PATH[:2], roles) is None


def test_a_long_path_is_drawn_in_few_bars() -> None:
    parts = [PathPart("norm" if at % 2 else "fc", at, at + 1, 1 + 5 * (at % 3 == 0), "work") for at in range(6 * MOST_BARS)]
    drawn = phases(parts, {})
    assert drawn is not None and len(drawn.bars) <= 2 * MOST_BARS
    assert sum(bar.width for bar in drawn.bars) >= 0.99 * (max(bar.x + bar.width for bar in drawn.bars) - drawn.bars[0].x)


def test_a_model_has_a_row_for_each_stage_and_links_to_their_pages() -> None:
    whole = total(path_roles(design(), run(), PATH), "decode")
    html = render_model("twin <b>", [(whole, 18750)], {"decode": "../decode/build/report.html"})
    assert re.findall(r"<td[^>]*>([^<]*)</td>", html) == ["decode", "254", "18,750", "90", "62", "100", "2", "20"]
    assert 'href="../decode/build/report.html"' in html and "twin &lt;b&gt;" in html and "<script" not in html


def test_units_lie_on_their_dies_the_lowest_below() -> None:
    def unit(name: str, die: int, lut: int) -> dict[str, object]:
        return {"unit": name, "die": die, "lut": lut, "dsp": 1, "bram36": 0.5, "uram": 0}

    dies = [{"die": at, "lut": lut, "share_lut": lut / 1000} for at, lut in enumerate((400, 0, 900))]
    wires = [{"between": "0 and 1", "wires": 7, "may_be_used": 10}, {"between": "1 and 2", "wires": 8, "may_be_used": 10}]
    drawn = die_plan({"dies": dies, "units": [unit("a", 0, 100), unit("b", 0, 300), unit("c", 2, 900)], "boundaries": wires})
    assert drawn is not None
    c, a, b = (bar for bar in drawn.bars if bar.look == "unit")
    assert a.y == b.y > c.y and a.x + a.width <= b.x and c.width > b.width > a.width
    assert [words.text for words in drawn.words if "wires" in words.text] == ["8 of 10 wires", "7 of 10 wires"]
    assert die_plan(None) is None and die_plan({"units": [], "dies": []}) is None
