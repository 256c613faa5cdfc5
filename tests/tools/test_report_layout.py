"""Layered layout: what any drawing must keep, on graphs drawn by chance, and what the best one is where that can be counted."""

from __future__ import annotations

import random
from itertools import pairwise, product

import pytest

from stc.tools.report.layered_layout import Edge, crossings, layered_layout

APART = 1 - 1e-6


def random_edges(seed: int) -> tuple[list[str], list[Edge]]:
    """A connected graph of 2 to 60 boxes in the order of its edges, with fan-out and parallel edges."""
    chance = random.Random(seed)
    boxes = [f"t{at}" for at in range(chance.choice([2, 3, 7, 13, 29, 60]))]
    edges = [(boxes[chance.randrange(max(0, at - 6), at)], boxes[at]) for at in range(1, len(boxes))]
    extra = [sorted(chance.sample(range(len(boxes)), 2)) for _ in range(len(boxes) // 2)]
    return boxes, [*edges, *((boxes[low], boxes[high]) for low, high in extra)]


@pytest.mark.parametrize("seed", range(12))
def test_rows_descend_and_nothing_overlaps(seed: int):
    boxes, edges = random_edges(seed)
    layout = layered_layout(boxes, edges)
    assert set(layout.boxes) == set(boxes) and len(layout.routes) == len(edges)
    for (source, target), route in zip(edges, layout.routes, strict=True):
        assert (route[0], route[-1]) == (layout.boxes[source], layout.boxes[target])
        assert all(lower == upper + 1 for (_, upper), (_, lower) in pairwise(route))
    for row in range(layout.rows):
        centres = sorted(x for x, at in layout.boxes.values() if at == row)
        assert centres and all(right - left >= APART for left, right in pairwise(centres))
        bends = [x for route in layout.routes for x, at in route[1:-1] if at == row]
        assert all(abs(bend - centre) >= 0.5 for bend in bends for centre in centres)
        assert all(0.5 - 1e-6 <= centre <= layout.width - 0.5 + 1e-6 for centre in centres)


@pytest.mark.parametrize("seed", range(8))
def test_edges_are_as_short_as_possible(seed: int):
    chance = random.Random(seed)
    boxes = [f"t{at}" for at in range(6)]
    edges = [(one, other) for at, one in enumerate(boxes) for other in boxes[at + 1 :] if chance.random() < 0.45]
    layout = layered_layout(boxes, edges)
    heights = [dict(zip(boxes, rows, strict=True)) for rows in product(range(6), repeat=6)]
    spans = (sum(h[target] - h[source] for source, target in edges) for h in heights if all(h[t] > h[s] for s, t in edges))
    assert sum(layout.boxes[target][1] - layout.boxes[source][1] for source, target in edges) == min(spans)


def test_a_chain_is_a_straight_line():
    boxes = [f"t{at}" for at in range(9)]
    layout = layered_layout(boxes, list(pairwise(boxes)))
    assert len({x for x, _ in layout.boxes.values()}) == 1
    assert [row for _, row in layout.boxes.values()] == list(range(9))


def test_loads_stand_right_above_what_they_feed():
    boxes = ["load_a", "load_b", "first", "second", "third"]
    layout = layered_layout(boxes, [("load_a", "first"), ("first", "second"), ("second", "third"), ("load_b", "third")])
    assert layout.boxes["load_b"][1] == layout.boxes["third"][1] - 1
    trunk = {layout.boxes[name][0] for name in ("first", "second", "third")}
    assert len(trunk) == 1


def test_trees_are_drawn_without_crossings():
    boxes = [f"t{at}" for at in range(31)]
    edges = [(boxes[(at - 1) // 2], boxes[at]) for at in range(1, 31)]
    layout = layered_layout(boxes, edges)
    from_left = sorted(boxes, key=lambda box: layout.boxes[box][0])
    order = [[box for box in from_left if layout.boxes[box][1] == row] for row in range(layout.rows)]
    assert crossings(order, edges) == 0


def test_crossings_are_counted():
    assert crossings([["a", "b", "c"], ["x", "y"]], [("a", "y"), ("b", "x"), ("c", "x"), ("c", "y")]) == 2


@pytest.mark.parametrize(
    "edges",
    [
        [("a", "b"), ("b", "c"), ("c", "a")],
        [("b", "a"), ("a", "b"), ("b", "c"), ("c", "c")],
        [("a", "b"), ("a", "b"), ("a", "b"), ("c", "b")],
        [],
    ],
)
def test_cycles_loops_and_parallel_edges_are_drawn(edges: list[Edge]):
    layout = layered_layout(["a", "b", "c"], edges)
    for (source, target), route in zip(edges, layout.routes, strict=True):
        assert (route[0], route[-1]) == (layout.boxes[source], layout.boxes[target])
    rows = [(layout.boxes[source][1], layout.boxes[target][1]) for source, target in edges if source != target]
    assert all(one != other for one, other in rows)


def test_no_boxes():
    layout = layered_layout([], [])
    assert (layout.rows, layout.width, layout.routes) == (0, 0.5, ())
