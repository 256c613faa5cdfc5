"""The engine's cycles against a slow simulator that shares nothing with it, on generated pipelines."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from cycle_oracle import Fifo, Pipeline, simulate_slowly
from handmade import Handmade, fifo, loop, manifest

from stc.manifest.schema import Manifest
from stc.simulation.critical_path import critical_path
from stc.simulation.simulate import SimulationResult, TimedDesign
from stc.simulation.timing_table import SimulationOptions

TRIP = 60
SETTINGS = 25

NETWORKS: dict[str, list[tuple[str, dict[str, int], dict[str, int]]]] = {
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
}


def _task_text(name: str, reads: Mapping[str, int], writes: Mapping[str, int]) -> str:
    parameters = ", ".join(f"hls::stream<int> &{f}" for f in (*reads, *writes))
    lines = [f"static void {name}({parameters}) {{", f"  {name}_loop: for (int i = 0; i < {TRIP}; i++) {{",
             "#pragma HLS pipeline II=1 style=flp"]
    lines += [f"    if (i % {every} == 0) (void){f}.read();" for f, every in reads.items()]
    lines += [f"    if (i % {every} == 0) {f}.write(i);" for f, every in writes.items()]
    return "\n".join([*lines, "  }", "}", ""])


def _design(name: str, folder: Path, headers: Path) -> Handmade:
    network = NETWORKS[name]
    names = [f for _, _, writes in network for f in writes]
    text = "".join(_task_text(*task) for task in network)
    text += 'extern "C" void top(const int *, int *) {\n#pragma HLS dataflow\n'
    text += "".join(f'  hls::stream<int, 2> {f}("{f}");\n' for f in names)
    text += "".join(f"  {task}({', '.join((*reads, *writes))});\n" for task, reads, writes in network) + "}\n"
    tasks = [Pipeline(task, TRIP, 1, 1, reads, writes) for task, reads, writes in network]
    return Handmade(text, _manifest(tasks, dict.fromkeys(names, 1)), folder, headers)


def _manifest(tasks: Sequence[Pipeline], latencies: Mapping[str, int]) -> Manifest:
    """`latencies` of FIFOs: those of RAM, which are deeper than two, can be read a cycle later."""
    readers = {f: task.name for task in tasks for f in task.reads}
    streams = [
        fifo(f, task.name, readers[f], -(-TRIP // every), depth=1 + latencies[f])
        for task in tasks for f, every in task.writes.items()
    ]
    loops = [loop(t.name, f"{t.name}_loop", TRIP, t.depth, tuple(t.reads), tuple(t.writes), t.ii) for t in tasks]
    return manifest(streams, loops)


def _random_tasks(name: str, draw: random.Random) -> list[Pipeline]:
    return [
        Pipeline(task, TRIP, draw.choice([1, 1, 2, 3, 7]), draw.choice([1, 2, 3, 5, 11, 23]), reads, writes)
        for task, reads, writes in NETWORKS[name]
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
def built(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, timed_headers: Path) -> Built:
    return Built(request.param, _design(request.param, tmp_path_factory.mktemp("network"), timed_headers).design)


def alone(tasks: Sequence[Pipeline]) -> dict[str, int]:
    """Cycles of each task if it never waited: from the first issue until the last iteration has left."""
    return {task.name: (task.trip - 1) * task.ii + task.depth + 1 for task in tasks}


def test_cycles_of_flushing_pipelines_equal_a_simulation_cycle_by_cycle(built: Built) -> None:
    ended = 0
    for setting in built.settings(SETTINGS, len(built.name)):
        tasks, depths, latencies = setting
        result = built.run(tasks, latencies, SimulationOptions(depths))
        fifos = {f: Fifo(depth, latencies[f]) for f, depth in depths.items()}
        expected = simulate_slowly(tasks, fifos)
        if expected is None:
            assert result.values.outcome == "deadlock", setting
            continue
        ended += 1
        assert {task.name: task.end for task in result.tasks} == expected, setting
        assert {f.name: f.highest_occupancy for f in result.fifos} == {f: fifos[f].highest for f in fifos}, setting
        path = critical_path(result)
        assert sum(part.cycles for part in path) == result.cycles == max(expected.values()), setting
        assert all(0 < part.cycles <= part.end - part.begin for part in path), setting
    assert ended > SETTINGS / 2


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
