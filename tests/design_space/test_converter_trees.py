"""Trees of converters: what may be shared and collapsed, and when it pays."""

from __future__ import annotations

import random

import pytest

from stc.design_space import converter_trees
from stc.design_space.converter_trees import ROOT, Node, Stream, Tree, collapsed_tree, shared_tree, tree_bytes
from stc.iteration.layout_orders import in_order
from stc.iteration.order import Coordinate, Loop, StreamOrder

ROWS = in_order((8, 16), (1, 16), (0, 1))
COLUMNS = in_order((8, 16), (8, 2), (0, 1))
COLUMNS_TWICE = StreamOrder((8, 2), (Loop(8, 2), Loop(2, 1)), (Coordinate(), Coordinate((0,))))
HALF_COLUMNS = in_order((8, 16), (4, 2), (1, 0))


def stream(*readers: int, order: StreamOrder = ROWS, entry_bytes: int = 4) -> Stream:
    return Stream(Node(order, readers), entry_bytes)


def test_bytes_of_separate_converters() -> None:
    tree = Tree((Node(COLUMNS, (0,)), Node(COLUMNS_TWICE, (1,))), (ROOT, ROOT))
    assert tree_bytes(stream(), tree) == 2 * 128 * 4


def test_start_from_another() -> None:
    tree = Tree((Node(COLUMNS, (0,)), Node(COLUMNS_TWICE, (1,))), (ROOT, ROOT))
    shared = shared_tree(stream(), tree)
    assert shared.parents == (ROOT, 0)
    assert tree_bytes(stream(), shared) == 128 * 4 + 2 * 16 * 4


def test_branches_that_meet_hold_the_stream() -> None:
    """From COLUMNS its reader and the other converter go on: 8 tokens of 16 entries wait, as much as is saved and more."""
    tree = Tree((Node(COLUMNS, (5,)), Node(COLUMNS_TWICE, (5,))), (ROOT, ROOT))
    assert tree_bytes(stream(), Tree(tree.nodes, (ROOT, 0))) == 128 * 4 + 2 * 16 * 4 + 128 * 4
    assert shared_tree(stream(), tree) == tree


def test_same_sequence_is_converted_once_where_branches_part() -> None:
    spelled = StreamOrder((8, 2), (Loop(2, 8), Loop(4, 2)), (Coordinate(), Coordinate((0, 1))))
    apart = Tree((Node(COLUMNS, (0,)), Node(spelled, (1,))), (ROOT, ROOT))
    assert shared_tree(stream(), apart).parents == (ROOT, 0)
    meeting = Tree((Node(COLUMNS, (0,)), Node(spelled, (0,))), (ROOT, ROOT))
    assert shared_tree(stream(), meeting) == meeting


def test_an_absorbing_converter_never_makes_its_fork_wait() -> None:
    """The stream itself is read too: that branch may wait, the converter's not, so the stream is held once at most."""
    converter = Tree((Node(COLUMNS, (3,)),), (ROOT,))
    assert tree_bytes(stream(3), converter) == 128 * 4 + 128 * 4
    assert tree_bytes(stream(4), converter) == 128 * 4


def test_middle_that_nobody_reads_goes() -> None:
    chain = Tree((Node(COLUMNS), Node(HALF_COLUMNS, (0,))), (ROOT, 0))
    assert collapsed_tree(stream(), chain).parents == (None, ROOT)


def test_middle_that_is_read_stays_where_it_is_cheaper() -> None:
    chain = Tree((Node(COLUMNS, (1,)), Node(HALF_COLUMNS, (0,))), (ROOT, 0))
    assert collapsed_tree(stream(), chain) == chain


def test_back_to_the_first_order() -> None:
    chain = Tree((Node(COLUMNS), Node(ROWS, (0,))), (ROOT, 0))
    collapsed = collapsed_tree(stream(), chain)
    assert collapsed.parents == (None, ROOT)
    assert tree_bytes(stream(), collapsed) == 0


@pytest.mark.parametrize("count", [5, 6, 12])
def test_any_number_of_duplicates_becomes_one(count: int) -> None:
    duplicates = Tree(tuple(Node(COLUMNS, (reader,)) for reader in range(count)), (ROOT,) * count)
    assert tree_bytes(stream(), shared_tree(stream(), duplicates)) == 128 * 4


@pytest.mark.parametrize("count", [3, 12])
def test_a_row_of_any_length_collapses(count: int) -> None:
    """All trees of 12 converters in a row would be 12! of them."""
    nodes = tuple(Node(COLUMNS if index % 2 else HALF_COLUMNS) for index in range(count - 1))
    chain = Tree((*nodes, Node(ROWS, (0,))), tuple(range(ROOT, count - 1)))
    collapsed = collapsed_tree(stream(), chain)
    assert collapsed.parents == (*(None,) * (count - 1), ROOT)


def random_tree(numbers: random.Random) -> tuple[Stream, Tree]:
    """Up to four orders of one tensor, some reused, each from any earlier one; the last of every branch has a reader."""
    shape = numbers.choice([(4, 6), (7, 5), (1, 8), (8, 12)])

    def order() -> StreamOrder:
        element = [numbers.choice([d for d in range(1, extent + 1) if extent % d == 0]) for extent in shape]
        plain = in_order(shape, element, numbers.sample([0, 1], 2))
        if numbers.random() < 0.6:
            return plain
        place = numbers.randint(0, len(plain.loops))
        moved = tuple(Coordinate(tuple(loop + (loop >= place) for loop in c.loops), c.constant) for c in plain.coordinates)
        return StreamOrder(plain.element, (*plain.loops[:place], Loop(numbers.randint(2, 3), 1), *plain.loops[place:]), moved)

    count = numbers.randint(1, 4)
    parents = [numbers.randint(ROOT, index - 1) for index in range(count)]
    nodes = []
    for index in range(count):
        must = index not in parents
        readers = tuple(numbers.randint(0, 2) for _ in range(numbers.randint(1 if must else 0, 2)))
        nodes.append(Node(order(), readers))
    plain = in_order(shape, [1, shape[1]], (0, 1))
    return Stream(Node(plain, tuple(numbers.choices([0, 1, 2], k=numbers.randint(0, 1)))), 4), Tree(tuple(nodes), tuple(parents))


@pytest.mark.parametrize("most", [0, converter_trees.MOST_TREES])
@pytest.mark.parametrize("seed", range(40))
def test_choices_are_trees_and_never_dearer(seed: int, most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether all trees are tried or one parent after the other."""
    monkeypatch.setattr(converter_trees, "MOST_TREES", most)
    whole, tree = random_tree(random.Random(seed))
    for chosen in (shared_tree(whole, tree), collapsed_tree(whole, tree)):
        assert tree_bytes(whole, chosen) <= tree_bytes(whole, tree)
        for index, node in enumerate(chosen.nodes):
            path = [index]
            while (parent := chosen.parents[path[-1]]) is not None and parent != ROOT:
                path.append(parent)
                assert len(path) <= len(chosen.nodes)
            assert parent == ROOT or (not node.readers and len(path) == 1)


@pytest.mark.parametrize("seed", range(40))
def test_choices_are_stable(seed: int) -> None:
    whole, tree = random_tree(random.Random(seed))
    once = shared_tree(whole, tree)
    kept = [index for index, parent in enumerate(once.parents) if parent is not None]
    if len(kept) == len(once.nodes):
        assert shared_tree(whole, once) == once
