"""The task graphs of an emitted project, from its manifest."""

from __future__ import annotations

from stc.manifest.schema import Kernel, Manifest
from stc.network.graph import Channel, TaskGraph


def task_graphs(manifest: Manifest) -> tuple[TaskGraph, ...]:
    """The graph of each kernel of `manifest`."""
    return tuple(_graph(kernel) for kernel in manifest.kernels)


def _graph(kernel: Kernel) -> TaskGraph:
    fifos = [Channel(s.name, s.producer, s.consumer, s.tokens, s.depth, s.bits, crossing=s.crossing) for s in kernel.streams]
    rings = [Channel(b.name, b.producer, b.consumer, b.blocks, b.count, b.bits, is_ring=True) for b in kernel.blocks]
    loads, holds, deals = (frozenset(task.name for task in kernel.tasks if task.kind == kind) for kind in ("load", "hold", "chunk"))
    return TaskGraph(kernel.name, tuple(task.name for task in kernel.tasks), (*fifos, *rings), loads, holds, deals=deals)


def memory_fed(manifest: Manifest) -> frozenset[str]:
    """The FIFOs of all kernels that a task fills which loads, or holds what was loaded."""
    return frozenset[str]().union(*(graph.memory_fed for graph in task_graphs(manifest)))


def all_fifos(manifest: Manifest) -> list[Channel]:
    """The FIFOs of all kernels of `manifest`."""
    return [fifo for graph in task_graphs(manifest) for fifo in graph.fifos]
