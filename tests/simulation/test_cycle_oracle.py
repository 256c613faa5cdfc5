"""The engine's cycles against a slow simulator that shares nothing with it, on generated pipelines."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from cycle_oracle import Fifo, Pipeline, Style, simulate_slowly
from handmade import Handmade, fifo, loop, manifest

from stc.manifest.schema import Manifest
from stc.simulation.critical_path import critical_path
from stc.simulation.simulate import SimulationResult, TimedDesign
from stc.simulation.timing_table import SimulationOptions

pytestmark = pytest.mark.heavy

TRIP = 60
SETTINGS = 25

Task = tuple[str, dict[str, int], dict[str, int]]

NETWORKS: dict[str, list[Task]] = {
    "chain of different rates": [
        ("first", {}, {"a": 1}),
        ("second", {"a": 1}, {"b": 3}),
        ("third", {"b": 3}, {"c": 2}),
        ("fourth", {"c": 2}, {}),
    ],
    "fork and join": [
        ("split", {}, {"a": 1, "b": 1}),
        ("pipe", {"a": 1}, {"c": 1}),
        ("meet", {"b": 1, "c": 1}, {}),
    ],
    "two forks, unequal rates": [
        ("source", {}, {"a": 1, "b": 2, "c": 5}),
        ("left", {"a": 1}, {"d": 4, "e": 1}),
        ("right", {"b": 2, "e": 1}, {"f": 2}),
        ("sink", {"c": 5, "d": 4, "f": 2}, {}),
    ],
    "several tokens one after the other": [
        ("source", {}, {"a": 1, "b": 1}),
        ("pack", {"a": 1}, {"c": 1}),
        ("unpack", {"c": 1}, {"d": 1}),
        ("both", {"b": 1, "d": 1}, {"e": 1, "f": 1}),
        ("sink", {"e": 1, "f": 1}, {}),
    ],
}
SHAPES = {"pack": (20, 3, 1), "unpack": (20, 1, 3), "both": (30, 2, 4), "sink": (15, 8, 1)}
"""Of tasks of the last network: iterations, tokens that one of them reads and writes per FIFO, a cycle each."""


def _shape(network: str, task: str) -> tuple[int, int, int]:
    return SHAPES.get(task, (TRIP, 1, 1)) if network == "several tokens one after the other" else (TRIP, 1, 1)


def _pipeline(network: str, task: Task, ii: int, depth: int) -> Pipeline:
    """As slow and as deep as its accesses need, at least."""
    trip, pulls, pushes = _shape(network, task[0])
    least = pulls + pushes if pulls + pushes > 2 else 1
    return Pipeline(task[0], trip, max(ii, pulls, pushes), max(depth, least), *task[1:], pulls, pushes)


def _task_text(task: Pipeline) -> str:
    parameters = ", ".join(f"hls::stream<int> &{f}" for f in (*task.reads, *task.writes))
    lines = [f"static void {task.name}({parameters}) {{", f"  {task.name}_loop: for (int i = 0; i < {task.trip}; i++) {{",
             "#pragma HLS pipeline II=1 style=flp"]
    for count, accesses in ((task.pulls, [(f, every, f"(void){f}.read();") for f, every in task.reads.items()]),
                            (task.pushes, [(f, every, f"{f}.write(i);") for f, every in task.writes.items()])):
        lines.append(f"    for (int k = 0; k < {count}; k++) {{")
        lines += [f"      if (i % {every} == 0) {access}" for _, every, access in accesses]
        lines.append("    }")
    return "\n".join([*lines, "  }", "}", ""])


def _design(name: str, folder: Path, headers: Path) -> Handmade:
    network = NETWORKS[name]
    names = [f for _, _, writes in network for f in writes]
    tasks = [_pipeline(name, task, 1, 1) for task in network]
    text = "".join(_task_text(task) for task in tasks)
    text += 'extern "C" void top(const int *, int *) {\n#pragma HLS dataflow\n'
    text += "".join(f'  hls::stream<int, 2> {f}("{f}");\n' for f in names)
    text += "".join(f"  {task}({', '.join((*reads, *writes))});\n" for task, reads, writes in network) + "}\n"
    return Handmade(text, _manifest(tasks, dict.fromkeys(names, 1)), folder, headers)


def _manifest(tasks: Sequence[Pipeline], latencies: Mapping[str, int]) -> Manifest:
    """`latencies` of FIFOs: those of RAM, which are deeper than two, can be read a cycle later."""
    readers = {f: task.name for task in tasks for f in task.reads}
    streams = [
        fifo(f, task.name, readers[f], -(-task.trip // every) * task.pushes, depth=1 + latencies[f])
        for task in tasks for f, every in task.writes.items()
    ]
    loops = [loop(t.name, f"{t.name}_loop", t.trip, t.depth, tuple(t.reads), tuple(t.writes), t.ii) for t in tasks]
    return manifest(streams, loops)


def _random_tasks(name: str, draw: random.Random) -> list[Pipeline]:
    return [
        _pipeline(name, task, draw.choice([1, 1, 2, 3, 7]), draw.choice([1, 2, 3, 5, 11, 23])) for task in NETWORKS[name]
    ]


def _random_depths(tasks: Sequence[Pipeline], draw: random.Random) -> dict[str, int]:
    return {f: draw.choice([1, 2, 3, 5, 13, 40]) for task in tasks for f in task.writes}


@dataclass(frozen=True)
class Built:
    """A network built once, for runs with other figures."""

    name: str
    design: TimedDesign

    def settings(self, count: int, seed: int) -> Iterator[tuple[list[Pipeline], dict[str, int], dict[str, int]]]:
        """Tasks, FIFO depths and FIFO latencies."""
        draw = random.Random(seed)
        for _ in range(count):
            tasks = _random_tasks(self.name, draw)
            depths = _random_depths(tasks, draw)
            yield tasks, depths, {f: draw.choice([1, 2]) for f in depths}

    def run(self, tasks: Sequence[Pipeline], latencies: Mapping[str, int], options: SimulationOptions) -> SimulationResult:
        return replace(self.design, manifest=_manifest(tasks, latencies)).run(options, 20)


@pytest.fixture(scope="module", params=NETWORKS)
def built(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, headers: Path) -> Built:
    return Built(request.param, _design(request.param, tmp_path_factory.mktemp("network"), headers).design)


def alone(tasks: Sequence[Pipeline]) -> dict[str, int]:
    """Cycles of each task if it never waited: from the first issue until the last iteration has left."""
    return {task.name: (task.trip - 1) * task.ii + task.depth + 1 for task in tasks}


@pytest.mark.parametrize("style", ["flp", "stp", "frp"])
def test_cycles_equal_a_simulation_cycle_by_cycle(built: Built, style: Style) -> None:
    ended = 0
    for setting in built.settings(SETTINGS, len(built.name)):
        tasks, depths, latencies = setting
        result = built.run(tasks, latencies, SimulationOptions(depths, style=style))
        fifos = {f: Fifo(depth, latencies[f]) for f, depth in depths.items()}
        expected = simulate_slowly(tasks, fifos, style)
        if expected is None:
            assert result.values.outcome == "deadlock", setting
            continue
        ended += 1
        assert {task.name: task.end for task in result.tasks} == expected, setting
        assert {f.name: f.highest_occupancy for f in result.fifos} == {f: fifos[f].highest for f in fifos}, setting
        path = critical_path(result)
        assert sum(part.cycles for part in path) == result.cycles == max(expected.values()), setting
        assert all(0 < part.cycles <= part.end - part.begin for part in path), setting
    assert ended > SETTINGS / 4


@pytest.mark.parametrize("style", ["flp", "stp", "frp"])
def test_every_cycle_of_a_task_is_work_or_waiting_once(built: Built, style: str) -> None:
    """Also where it waits on several ports in the same cycles, and where the run is abandoned half-way."""
    outcomes = set[str]()
    for setting in built.settings(SETTINGS // 3, len(style)):
        tasks, depths, latencies = setting
        for limit in (None, 150):
            result = built.run(tasks, latencies, SimulationOptions(depths, style=style, limit=limit))
            outcomes.add(result.values.outcome)
            busy = {task.name: task.busy for task in result.tasks}
            if result.values.outcome == "finished":
                assert busy == alone(tasks), setting
            assert all(0 <= busy[name] <= most for name, most in alone(tasks).items() if name in busy), (setting, busy)
            for task in result.tasks:
                assert task.stalled_reading + task.stalled_writing == sum(wait.cycles for wait in task.waits), setting
    assert {"finished", "limit"} <= outcomes
