"""The engine's cycles against a slow simulator that shares nothing with it, on generated pipelines."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from cycle_oracle import Fifo, Pipeline, simulate_slowly
from handmade import Handmade, fifo, loop, manifest

from stc.manifest.schema import Manifest
from stc.simulation.critical_path import critical_path
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


@pytest.mark.parametrize("name", NETWORKS)
def test_cycles_of_flushing_pipelines_equal_a_simulation_cycle_by_cycle(name: str, tmp_path: Path, timed_headers: Path) -> None:
    design = _design(name, tmp_path, timed_headers)
    draw = random.Random(len(name))
    ended = 0
    for _ in range(SETTINGS):
        tasks = _random_tasks(name, draw)
        depths = _random_depths(tasks, draw)
        latencies = {f: draw.choice([1, 2]) for f in depths}
        result = replace(design.design, manifest=_manifest(tasks, latencies)).run(SimulationOptions(depths), 20)
        fifos = {f: Fifo(depth, latencies[f]) for f, depth in depths.items()}
        expected = simulate_slowly(tasks, fifos)
        setting = (tasks, depths, latencies)
        if expected is None:
            assert result.values.outcome == "deadlock", setting
            continue
        ended += 1
        assert {task.name: task.end for task in result.tasks} == expected, setting
        assert {f.name: f.highest_occupancy for f in result.fifos} == {f: fifos[f].highest for f in fifos}, setting
        assert all(0 <= task.busy <= task.end for task in result.tasks), setting
        path = critical_path(result)
        assert sum(part.cycles for part in path) == result.cycles == max(expected.values()), setting
        assert all(0 < part.cycles <= part.end - part.begin for part in path), setting
    assert ended > SETTINGS / 2
