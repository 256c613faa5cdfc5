"""benchmarks/run_ahead.py: elements by what they take, its tables and its picture, without a simulation."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from xml.etree import ElementTree

import pytest

from stc.design_space.fluid_model import Demand, Launch
from stc.manifest.schema import Kernel, Stream, Task, Unit


def stream(name: str, bits: int, producer: str, consumer: str, depth: int = 2) -> Stream:
    return Stream(name, "i8", bits // 8, bits, depth, "uram", producer, consumer, tokens=100)


@pytest.fixture(scope="module")
def run_ahead(benchmark_module: Callable[[str], ModuleType]) -> ModuleType:
    return benchmark_module("run_ahead")


def test_elements_are_found_by_what_they_take(run_ahead: ModuleType) -> None:
    """Tasks of a unit without ports that one load task sends words to, and another task activations."""
    tasks = tuple(Task(name, kind, None, (), ()) for name, kind in (("load", "load"), ("send", "compute"), ("own", "compute")))
    streams = (stream("words", 512, "load", "own", 1219), stream("factors", 64, "send", "own"), stream("x", 64, "load", "send"))
    memory = Unit("memory", ("load",), ("p",), (), (), (), starts=True)
    units = (memory, Unit("array", ("send", "own"), (), (), (), (), starts=False))
    own, *others = run_ahead.elements_of([Kernel("k", (), tasks, streams, (), (), units=units)])
    assert not others
    assert (own.task, own.weights, own.factors, own.words, own.depth) == ("own", "words", "factors", 100, 1219)


def test_what_is_printed(run_ahead: ModuleType) -> None:
    of = Launch([Demand(500, 1000)], 0.0, 0.8, 1.0, 4)
    depths = [{"depth": depth, "simulated": 1700 - depth, "model": of.cycles(depth)} for depth in (16, 64, 256)]
    arrays = [
        {"ports": ports, "elements_per_port": each, "depth": depth, "model": of.with_array(ports, each).cycles(depth)}
        for each in (1, 2) for ports in (2, 4) for depth in (64, 4096)
    ]  # fmt: skip
    found = {"own_depth": 64, "ports": 4, "at": "pos=3", "depths": depths, "arrays": arrays, "measured": "Measured."}
    assert "| 256 | 1,444 | " in run_ahead.markdown_of(found)
    assert [table.row_count for table in run_ahead.tables_of(found)] == [3, 8]
    svg = ElementTree.fromstring(run_ahead.picture_of(found))
    assert len(svg.findall(".//{*}circle")) == 3 + 1 + 1
    assert len(svg.findall(".//{*}polyline")) == 3


@pytest.mark.parametrize("most", [10, 37, 99, 448_453, 1_000_000, 199_999])
def test_ticks_are_few_and_round(run_ahead: ModuleType, most: int) -> None:
    ticks = list(run_ahead._ticks(most))
    assert 2 <= len(ticks) <= 5
    assert ticks[-1] <= most and ticks[0] == ticks[1] - ticks[0]
    assert len(str(ticks[0]).rstrip("0")) == 1
