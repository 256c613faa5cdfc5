"""Which converter reads from which: one stream that is wanted in several orders, at the least memory.

Every reader of a stream that wants another order has a converter. Two of them may share one (and read what it gives twice), and
one may start from what another gives, where the two orders differ less from each other than from the stream: matrices in 32x64
tiles wanted by columns, once as they are and once each column block eight times, need one buffer for the whole tensor and one of
a column block, not two of the whole.

What is shared is forked, and a fork goes on only when all of its branches have room. Branches that meet again downstream may wait
for each other, so that a FIFO holds what the others run ahead. The estimate here: where branches of a stream meet, all but one
hold the stream whole, except those that enter a converter without shared loops, which takes in everything before it gives
anything. This counts depths before they are known, rather too high than too low, so that what is shared is worth it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from math import prod
from typing import TypeAlias

from stc.iteration.converter import infer_converter
from stc.iteration.normal_form import same_sequence
from stc.iteration.order import StreamOrder

ROOT = -1
"""The stream itself, as a parent."""
MOST_TREES = 8192
"""As many trees are tried one by one, each costing some ten microseconds: 5 orders have 6^5 = 7776. Of more, one parent after the
other is changed while that is cheaper."""


@dataclass(frozen=True)
class Node:
    """An order in which the stream is available. `readers`: for each reader that is no converter the part of the design it is in;
    readers in one part meet again. A node without readers is there only for others."""

    order: StreamOrder
    readers: tuple[int, ...] = ()


@dataclass(frozen=True)
class Stream:
    """A stream, by its own order and direct readers as `root`, and the bytes of one of its entries."""

    root: Node
    entry_bytes: int


@dataclass(frozen=True)
class Tree:
    """For each node what it is converted from: `ROOT`, the index of another node, or None where the node is not made at all."""

    nodes: tuple[Node, ...]
    parents: tuple[int | None, ...]


def tree_bytes(stream: Stream, tree: Tree) -> int:
    """Bytes of the converters of `tree`, ping-pong included, and of the FIFOs by the estimate above."""
    total = 0
    for index in (ROOT, *(i for i, parent in enumerate(tree.parents) if parent is not None)):
        node = _node(stream, tree, index)
        children = [i for i, parent in enumerate(tree.parents) if parent == index]
        conversions = [conversion(node.order, tree.nodes[child].order) for child in children]
        total += stream.entry_bytes * sum(made.entries for made in conversions)
        branches = [frozenset((part,)) for part in node.readers]
        absorbing = [False] * len(branches) + [made.absorbs for made in conversions]
        branches += [_parts_below(tree, child) for child in children]
        total += stream.entry_bytes * _waiting(branches, absorbing) * node.order.token_count * node.order.element_count
    return total


def _waiting(branches: Sequence[frozenset[int]], absorbing: Sequence[bool]) -> int:
    """How many branches of a fork are counted as holding the whole stream."""
    meets = [any(first & second for j, second in enumerate(branches) if i != j) for i, first in enumerate(branches)]
    holding = sum(meet and not absorbs for meet, absorbs in zip(meets, absorbing, strict=True))
    return min(holding, max(0, sum(meets) - 1))


@dataclass(frozen=True)
class Conversion:
    """`entries` of buffer between two orders; `absorbs`: whether everything goes in before anything comes out."""

    entries: int
    absorbs: bool


@lru_cache(maxsize=4096)
def conversion(source: StreamOrder, target: StreamOrder) -> Conversion:
    """What lies between two orders of one tensor; nothing where they are the same sequence."""
    if same_sequence(source, target):
        return Conversion(0, absorbs=False)
    plan = infer_converter(source, target)
    return Conversion(plan.buffer_entries, absorbs=plan.shared_loops == 0 and plan.window is None)


def _node(stream: Stream, tree: Tree, index: int) -> Node:
    return stream.root if index == ROOT else tree.nodes[index]


def _parts_below(tree: Tree, index: int) -> frozenset[int]:
    """The parts of the design that node `index` feeds, through other nodes too."""
    below = [_parts_below(tree, child) for child, parent in enumerate(tree.parents) if parent == index]
    return frozenset(tree.nodes[index].readers).union(*below)


# Choices --------------------------------------------------------------------------------------------------------------


def shared_tree(stream: Stream, tree: Tree) -> Tree:
    """The cheapest tree in which any node may be converted from any other; `tree` itself where none is cheaper.

    Of trees of many orders (`MOST_TREES`) a cheap one.
    """
    count = len(tree.nodes)
    choices = [[ROOT, *(j for j in range(count) if j != i), *_left_out(node)] for i, node in enumerate(tree.nodes)]
    return _cheapest(tree, choices, lambda found: (tree_bytes(stream, found), found != tree, *_effort(stream, found)))


def collapsed_tree(stream: Stream, tree: Tree) -> Tree:
    """The cheapest tree in which nodes are converted from what they are now, directly or at some removes.

    Nodes that nobody reads are left out where that is cheaper, or as cheap: fewer converters in a row come first. Of trees of many
    orders (`MOST_TREES`) a cheap one.
    """
    choices = [[*_ancestors(tree, index), *_left_out(node)] for index, node in enumerate(tree.nodes)]
    return _cheapest(tree, choices, lambda found: (tree_bytes(stream, found), *_effort(stream, found)))


Parent: TypeAlias = int | None


def _left_out(node: Node) -> tuple[None, ...]:
    """The choice not to make a node: only where nobody reads it."""
    return () if node.readers else (None,)


def _cheapest(tree: Tree, choices: Sequence[Sequence[Parent]], cost: Callable[[Tree], tuple[int, ...]]) -> Tree:
    """The tree of least `cost` with a parent of `choices` for each node; `tree` where none costs less."""
    if prod(map(len, choices)) <= MOST_TREES:
        return min([tree, *_trees(tree.nodes, choices)], key=cost)
    best, last = tree, None
    while best != last:
        last = best
        for index, parents in enumerate(choices):
            best = min([best, *_with_other_parent(best, index, parents)], key=cost)
    return best


def _trees(nodes: tuple[Node, ...], choices: Sequence[Sequence[Parent]]) -> Iterator[Tree]:
    return filter(_is_tree, (Tree(nodes, parents) for parents in product(*choices)))


def _with_other_parent(tree: Tree, index: int, parents: Sequence[Parent]) -> Iterator[Tree]:
    """`tree` with another parent for one node, without the nodes that then are there for nobody."""
    for parent in parents:
        found = list(tree.parents)
        found[index] = parent
        if _is_tree(changed := Tree(tree.nodes, tuple(found))):
            yield _without_loose_ends(changed)


def _without_loose_ends(tree: Tree) -> Tree:
    retained = tuple(
        parent if node.readers or index in tree.parents else None
        for index, (node, parent) in enumerate(zip(tree.nodes, tree.parents, strict=True))
    )
    return tree if retained == tree.parents else _without_loose_ends(Tree(tree.nodes, retained))


def _ancestors(tree: Tree, index: int) -> list[int]:
    found: list[int] = []
    while index != ROOT:
        parent = tree.parents[index]
        assert parent is not None
        found.append(index := parent)
    return found


def _is_tree(tree: Tree) -> bool:
    """Whether every node that is made hangs on the root, and none on one that is not made."""
    for index, parent in enumerate(tree.parents):
        seen = {index}
        while parent is not None and parent != ROOT:
            if parent in seen or tree.parents[parent] is None:
                return False
            seen.add(parent)
            parent = tree.parents[parent]
    return True


def _effort(stream: Stream, tree: Tree) -> tuple[int, int]:
    """What decides where memory is equal: converters in a row, summed over all nodes (latency), and the tokens they take in."""
    made = [(index, parent) for index, parent in enumerate(tree.parents) if parent is not None]
    depth = sum(len(_ancestors(tree, index)) for index, _ in made)
    return depth, sum(_node(stream, tree, parent).order.token_count for _, parent in made)
