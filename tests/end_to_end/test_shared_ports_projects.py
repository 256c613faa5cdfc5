"""Small parameters through one memory port, from the model to the emitted C++."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace

import pytest
from projects import Compile

from stc.manifest.files import read_manifest
from stc.manifest.schema import Port
from stc.simulation.task_graphs import task_graphs

pytestmark = pytest.mark.heavy


def test_gains_and_biases_of_a_block(compiled: Compile) -> None:
    """One task reads them, through one adapter, from one bank; each word once per launch, though rows are many. What is written
    goes through the same adapter, since it is little."""
    project = compiled("gpt2-tiny", 7)
    project.require_agreement()
    (kernel,) = read_manifest(project.folder).kernels
    by_bundle: dict[str | None, list[Port]] = defaultdict(list)
    for port in kernel.ports:
        by_bundle[port.bundle].append(port)
    (written,) = (port for port in kernel.ports if port.direction == "write")
    assert len({port.bank for port in by_bundle[written.bundle]}) == 1 < len(by_bundle[written.bundle])
    by_bundle[written.bundle].remove(written)
    shared = {bundle: ports for bundle, ports in by_bundle.items() if len(ports) > 1}
    assert shared and None not in shared
    for ports in shared.values():
        assert {port.kind for port in ports} == {"parameter"} and len({port.bank for port in ports}) == 1
        readers = {task.name for task in kernel.tasks for port in ports if port.name in task.reads}
        (reader,) = readers
        counts = [stream.tokens for stream in kernel.streams if stream.producer == reader]
        assert sorted(counts) == sorted(port.words for port in ports)
    total = sum(port.bytes for port in kernel.ports)
    assert sum(port.bytes for ports in shared.values() for port in ports) <= total / 32


def test_it_ends_however_long_loops_take(compiled: Compile) -> None:
    """What holds its parameter takes all of it at once: one writer of many streams closes no cycle of waits."""
    (graph,) = task_graphs(read_manifest(compiled("gpt2-tiny", 7).folder))
    assert graph.holds and all(graph.bridges >= {fifo.name} for fifo in graph.fifos if fifo.consumer in graph.holds)
    assert list(graph.full_in_wait_cycles()) == []
    assert list(replace(graph, holds=frozenset[str]()).full_in_wait_cycles())
