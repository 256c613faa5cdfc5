"""Layered drawing of a dataflow graph: rows from producers to consumers, few crossings, straight edges.

The method of Gansner et al., "A technique for drawing directed graphs" (1993): rows and positions are linear programs, the
order within a row comes from median sweeps. Written here because a user would have to install `dot` beside `stc`, and the
libraries that come with pip are GPL (igraph) or do not draw layers (networkx).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import networkx as nx
import pulp

Edge = tuple[str, str]
SWEEPS = 16
BEND_SPACE = 0.3
"""Width that an edge takes in a row it passes, in widths of a box."""
STRAIGHTNESS = (1, 2, 8)
"""Weight of a horizontal step of an edge by how many of its two ends are bends."""
LEAF_WEIGHT = 0.2
"""The same of the only edge of a box: leaves give way to what they hang on."""


@dataclass(frozen=True)
class Layout:
    """`boxes`: centre of each box, in widths of a box from the left, and its row. `routes`: for each edge the points (in the
    same units) where it leaves its box, passes each row between, and arrives; one list per edge, as given.
    """

    boxes: Mapping[str, tuple[float, int]]
    routes: tuple[tuple[tuple[float, int], ...], ...]

    @property
    def width(self) -> float:
        """Widths of a box from the leftmost to the rightmost edge of the drawing."""
        return max((x for x, _ in self.boxes.values()), default=0.0) + 0.5

    @property
    def rows(self) -> int:
        return max((row for _, row in self.boxes.values()), default=-1) + 1


@dataclass(frozen=True)
class _Bend:
    """Where edge number `edge` passes `row`."""

    edge: int
    row: int


_Node = str | _Bend


def layered_layout(boxes: Sequence[str], edges: Sequence[Edge]) -> Layout:
    """A layout of `edges` between `boxes`; edges may be parallel, form cycles, or lead from a box to itself."""
    forward = _without_cycles(boxes, edges)
    rows = _rows(boxes, forward)
    chains = [_chain(number, edge, rows) for number, edge in enumerate(forward)]
    steps = [(upper, lower) for chain in chains for upper, lower in pairwise(chain) if upper != lower]
    order = _ordered(_initial_order(boxes, rows, chains), steps)
    places = _positions(order, steps)
    routes = tuple(
        tuple((places[node], _row(node, rows)) for node in (chain if chain[0] == edge[0] else reversed(chain)))
        for chain, edge in zip(chains, edges, strict=True)
    )
    return Layout({box: (places[box], rows[box]) for box in boxes}, routes)


def crossings(order: Sequence[Sequence[object]], steps: Sequence[tuple[object, object]]) -> int:
    """How many pairs of `steps` cross where the nodes of each row stand in this order."""
    place = {node: at for row in order for at, node in enumerate(row)}
    rows = {node: number for number, row in enumerate(order) for node in row}
    below: dict[int, list[tuple[int, int]]] = {}
    for upper, lower in steps:
        below.setdefault(rows[upper], []).append((place[upper], place[lower]))
    return sum(_inversions([lower for _, lower in sorted(ends)]) for ends in below.values())


def _inversions(values: Sequence[int]) -> int:
    return sum(earlier > later for at, later in enumerate(values) for earlier in values[:at])


# Rows -----------------------------------------------------------------------------------------------------------------


def _without_cycles(boxes: Sequence[str], edges: Sequence[Edge]) -> list[Edge]:
    """The edges, those turned that lead back (in the order of `boxes`) inside a cycle."""
    number = {box: at for at, box in enumerate(boxes)}
    graph = nx.DiGraph(list(edges))
    component = {box: at for at, found in enumerate(nx.strongly_connected_components(graph)) for box in found}
    return [
        (target, source) if component[source] == component[target] and number[source] > number[target] else (source, target)
        for source, target in edges
    ]


def _rows(boxes: Sequence[str], edges: Sequence[Edge]) -> dict[str, int]:
    """A row for each box, below all its producers, such that edges are as short as possible in total."""
    problem = pulp.LpProblem("rows", pulp.LpMinimize)
    row = {box: pulp.LpVariable(f"row{at}", lowBound=0) for at, box in enumerate(boxes)}
    proper = [(source, target) for source, target in edges if source != target]
    nowhere_below = pulp.lpSum(row.values()) * (0.1 / (1 + len(boxes)))  # places boxes without edges
    problem += pulp.lpSum(row[target] - row[source] for source, target in proper) + nowhere_below
    for source, target in proper:
        problem += row[target] - row[source] >= 1
    problem.solve(pulp.HiGHS(msg=False))
    return {box: round(variable.value() or 0) for box, variable in row.items()}


def _chain(number: int, edge: Edge, rows: Mapping[str, int]) -> list[_Node]:
    """The edge cut into steps from row to row."""
    source, target = edge
    return [source, *(_Bend(number, row) for row in range(rows[source] + 1, rows[target])), target]


def _row(node: _Node, rows: Mapping[str, int]) -> int:
    return node.row if isinstance(node, _Bend) else rows[node]


# Order within a row ---------------------------------------------------------------------------------------------------


def _initial_order(boxes: Sequence[str], rows: Mapping[str, int], chains: Sequence[Sequence[_Node]]) -> list[list[_Node]]:
    order: list[list[_Node]] = [[] for _ in range(max(rows.values(), default=-1) + 1)]
    seen: set[_Node] = set()
    for node in (*(node for chain in chains for node in chain), *boxes):
        if node not in seen:
            seen.add(node)
            order[_row(node, rows)].append(node)
    return order


def _ordered(order: list[list[_Node]], steps: Sequence[tuple[_Node, _Node]]) -> list[list[_Node]]:
    """The best order that sweeps down and up come to."""
    above, below = _neighbours(steps, 1), _neighbours(steps, 0)
    best, fewest = [list(row) for row in order], crossings(order, steps)
    for sweep in range(SWEEPS):
        down = sweep % 2 == 0
        numbers = range(1, len(order)) if down else range(len(order) - 2, -1, -1)
        for number in numbers:
            fixed = order[number - 1 if down else number + 1]
            order[number] = _by_median(order[number], fixed, above if down else below)
        _swap_neighbours(order, above, below)
        found = crossings(order, steps)
        if found < fewest:
            best, fewest = [list(row) for row in order], found
    return best


def _neighbours(steps: Sequence[tuple[_Node, _Node]], end: int) -> dict[_Node, list[_Node]]:
    found: dict[_Node, list[_Node]] = {}
    for step in steps:
        found.setdefault(step[end], []).append(step[1 - end])
    return found


def _by_median(row: Sequence[_Node], fixed: Sequence[_Node], neighbours: Mapping[_Node, Sequence[_Node]]) -> list[_Node]:
    """`row` sorted by the median place of each node's neighbours in `fixed`; nodes without any keep their place."""
    place = {node: at for at, node in enumerate(fixed)}
    medians = {node: _median(sorted(place[other] for other in neighbours[node])) for node in row if node in neighbours}
    moved = iter(sorted(medians, key=lambda node: medians[node]))
    return [next(moved) if node in medians else node for node in row]


def _median(values: Sequence[int]) -> float:
    return (values[(len(values) - 1) // 2] + values[len(values) // 2]) / 2


def _swap_neighbours(
    order: list[list[_Node]], above: Mapping[_Node, Sequence[_Node]], below: Mapping[_Node, Sequence[_Node]]
) -> None:
    """Swap neighbours in a row while this removes crossings."""
    for number, row in enumerate(order):
        sides = [(_places(order, number - 1), above), (_places(order, number + 1), below)]
        for at in range(len(row) - 1):
            left, right = row[at], row[at + 1]
            if _crossed(left, right, sides) > _crossed(right, left, sides):
                row[at], row[at + 1] = right, left


def _places(order: Sequence[Sequence[_Node]], number: int) -> dict[_Node, int]:
    return {node: at for at, node in enumerate(order[number])} if 0 <= number < len(order) else {}


def _crossed(
    left: _Node, right: _Node, sides: Sequence[tuple[Mapping[_Node, int], Mapping[_Node, Sequence[_Node]]]]
) -> int:
    """Crossings between the edges of two neighbours in a row."""
    return sum(
        place[one] > place[other]
        for place, neighbours in sides
        for one in neighbours.get(left, ())
        for other in neighbours.get(right, ())
    )


# Positions ------------------------------------------------------------------------------------------------------------


def _positions(order: Sequence[Sequence[_Node]], steps: Sequence[tuple[_Node, _Node]]) -> dict[_Node, float]:
    """Centres of all nodes, in this order and apart, such that edges are as straight as possible."""
    problem = pulp.LpProblem("positions", pulp.LpMinimize)
    nodes = [node for row in order for node in row]
    place = {node: pulp.LpVariable(f"x{at}", lowBound=_space(node) / 2) for at, node in enumerate(nodes)}
    slant = [pulp.LpVariable(f"s{at}", lowBound=0) for at in range(len(steps))]
    degree = Counter(node for step in steps for node in step)
    weights = [LEAF_WEIGHT if 1 in (degree[upper], degree[lower]) else _weight(upper, lower) for upper, lower in steps]
    problem += pulp.lpSum(weight * amount for weight, amount in zip(weights, slant, strict=True))
    for (upper, lower), amount in zip(steps, slant, strict=True):
        problem += amount >= place[upper] - place[lower]
        problem += amount >= place[lower] - place[upper]
    for left, right in _side_by_side(order):
        problem += place[right] - place[left] >= (_space(left) + _space(right)) / 2
    problem.solve(pulp.HiGHS(msg=False))
    return {node: variable.value() or 0.0 for node, variable in place.items()}


def _side_by_side(order: Sequence[Sequence[_Node]]) -> Iterator[tuple[_Node, _Node]]:
    for row in order:
        yield from pairwise(row)


def _space(node: _Node) -> float:
    return BEND_SPACE if isinstance(node, _Bend) else 1.0


def _weight(upper: _Node, lower: _Node) -> int:
    return STRAIGHTNESS[isinstance(upper, _Bend) + isinstance(lower, _Bend)]
