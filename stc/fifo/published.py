"""FIFO depths as published: token counts of equations 1 and 2 at the delays of a linear program over paths.

A kernel is three numbers: D, the cycle of its first token; II, the cycles between two; L, when it is done. The program minimises
the sum of the delays of all edges, such that along every path between two kernels they add up to at least the longest sum of D
between these two. Paths are enumerated, as the publication writes it down: beyond `MOST_PATHS` that is refused. The count of tokens
then follows from the delay of the edge (`stc.fifo.curves.published_tokens`). *Normal* equalisation leaves II as it is;
*conservative* stretches it until all kernels take as long as the slowest.

Our reading where the publication is silent: a kernel that reads and writes at different rates has an II for each of its ports;
tasks joined by a buffer (the two halves of a converter) are one kernel; the target reads its first token when it starts.

Against ours (`stc.fifo.sizing`): bursts and pauses are not seen, the sum of delays knows neither widths nor rates, and a FIFO at
delay D gets no slot at all. Whether a design ends at these depths has to be found out by running it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import ceil

import networkx as nx
import pulp

from stc.diagnostics import CompileError
from stc.fifo.curves import IssueRate, published_tokens
from stc.fifo.network_run import Network, own_rate_run
from stc.iteration.task_timeline import Cycles

MOST_PATHS = 10_000
"""Paths between kernels that are written down as constraints."""


@dataclass(frozen=True)
class Edge:
    """A FIFO between two kernels. `source`, `target`: when tokens are written, and when they are read."""

    name: str
    source_kernel: str
    target_kernel: str
    source: IssueRate
    target: IssueRate


def published_slots(network: Network, conservative: bool = False) -> dict[str, int]:
    """The slots of each FIFO to be sized as published, but at least the one that hardware has.

    CompileError for more than `MOST_PATHS` paths and for tasks that form a cycle, UntimedError where tasks wait for blocks of
    each other.
    """
    if cycle := network.graph.cycle():
        raise CompileError(f"tasks form a cycle: {', '.join(cycle)}", accepted="an acyclic graph of tasks, as it was published for")
    edges = _edges(network, conservative)
    delays = least_delays([(edge.name, edge.source_kernel, edge.target_kernel, edge.source.first) for edge in edges])
    return {edge.name: max(1, published_tokens(edge.source, edge.target, delays[edge.name])) for edge in edges}


def _edges(network: Network, conservative: bool) -> list[Edge]:
    run = own_rate_run(network)
    kernel_of = _kernels(network)
    latency: dict[str, int] = {}
    for task, kernel in kernel_of.items():
        latency[kernel] = max(latency.get(kernel, 1), run.ends[task])
    slowest = max(latency.values(), default=1)

    def rate(cycles: Cycles, kernel: str) -> IssueRate:
        first, last = int(cycles[0]), int(cycles[-1])
        interval = (last - first) / (len(cycles) - 1) if len(cycles) > 1 else 1.0
        return IssueRate(len(cycles), max(first, 0), interval * (slowest / latency[kernel] if conservative else 1))

    return [
        Edge(fifo.name, source, target, rate(run.written[fifo.name], source), rate(run.needed[fifo.name], target))
        for fifo in network.graph.sized
        for source, target in [(kernel_of[fifo.producer], kernel_of[fifo.consumer])]
    ]


def _kernels(network: Network) -> dict[str, str]:
    """By task the first of those that it shares buffers with: together they are one kernel."""
    together: nx.Graph[str] = nx.Graph()
    names = [task.name for task in network.tasks]
    together.add_nodes_from(names)
    by_ring: dict[str, str] = {}
    for task in network.tasks:
        together.add_edges_from((by_ring.setdefault(ring, task.name), task.name) for ring in task.rings)
    return {task: min(group, key=names.index) for group in nx.connected_components(together) for task in group}


def least_delays(edges: Sequence[tuple[str, str, str, int]]) -> dict[str, int]:
    """The delays of least sum by edge (name, source, target, D): along every path at least the longest sum of D between its ends.

    CompileError for more than `MOST_PATHS` paths.
    """
    first = {name: cycle for name, _, _, cycle in edges}
    by_ends: dict[tuple[str, str], list[tuple[str, ...]]] = {}
    for count, (ends, path) in enumerate(_paths(edges)):
        if count == MOST_PATHS:
            raise CompileError(
                f"more than {MOST_PATHS} paths between kernels, each of which is a constraint", accepted="no-stall"
            )
        by_ends.setdefault(ends, []).append(path)
    problem = pulp.LpProblem("delays", pulp.LpMinimize)
    delays = {name: pulp.LpVariable(f"delay_{n}", 0) for n, name in enumerate(first)}
    problem += pulp.lpSum(delays.values())
    for paths in by_ends.values():
        longest = max(sum(first[name] for name in path) for path in paths)
        for path in paths:
            problem += pulp.lpSum(delays[name] for name in path) >= longest
    problem.solve(pulp.HiGHS(msg=False))
    return {name: ceil((delay.value() or 0) - 1e-6) for name, delay in delays.items()}


def _paths(edges: Sequence[tuple[str, str, str, int]]) -> Iterator[tuple[tuple[str, str], tuple[str, ...]]]:
    """Every path that meets no kernel twice: its ends, and its edges."""
    leaving: Mapping[str, list[tuple[str, str]]] = {source: [] for _, source, _, _ in edges}
    for name, source, target, _ in edges:
        leaving[source].append((name, target))
    for begin in leaving:
        under_way: list[tuple[str, tuple[str, ...], frozenset[str]]] = [(begin, (), frozenset({begin}))]
        while under_way:
            kernel, path, met = under_way.pop()
            for name, target in leaving.get(kernel, ()):
                if target not in met:
                    yield (begin, target), (*path, name)
                    under_way.append((target, (*path, name), met | {target}))
