"""The converters of a kernel as trees: a stream, and the orders that converters and casts make of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import networkx as nx
from xdsl.builder import Builder
from xdsl.ir import Block, BlockArgument, Operation, SSAValue, Use
from xdsl.rewriter import InsertPoint, Rewriter

from stc.analysis.kernel_memory import bytes_of
from stc.design_space.converter_trees import ROOT, Node, Stream, Tree
from stc.dialects.dataflow import KernelOp, YieldOp
from stc.dialects.itensor import CastOp, ConverterOp, ItensorType
from stc.transforms.dataflow.connections import connect


@dataclass
class ConverterTree:
    """One stream of a kernel with everything that is converted from it.

    `uses[k]`: the uses of node k that are neither casts nor converters, `direct` those of the stream itself. `ops`: the casts
    and converters between, sources before what reads them.
    """

    root: SSAValue
    kernel: KernelOp
    ops: list[CastOp | ConverterOp] = field(default_factory=list[CastOp | ConverterOp])
    orders: list[ItensorType] = field(default_factory=list[ItensorType])
    parents: list[int] = field(default_factory=list[int])
    uses: list[list[Use]] = field(default_factory=list[list[Use]])
    direct: list[Use] = field(default_factory=list[Use])

    @property
    def type(self) -> ItensorType:
        type_ = self.root.type
        assert isinstance(type_, ItensorType)
        return type_

    def problem(self) -> tuple[Stream, Tree]:
        """The tree as `stc.design_space.converter_trees` sees it."""
        parts = self._parts()

        def readers(uses: Sequence[Use]) -> tuple[int, ...]:
            """Every result that leaves the kernel is a part of its own."""
            return tuple(-1 - use.index if isinstance(use.operation, YieldOp) else parts[use.operation] for use in uses)

        nodes = (Node(type_.order, readers(uses)) for type_, uses in zip(self.orders, self.uses, strict=True))
        root = Node(self.type.order, readers(self.direct))
        return Stream(root, bytes_of(self.type.element_type)), Tree(tuple(nodes), tuple(self.parents))

    def _parts(self) -> dict[Operation, int]:
        """For each op of the kernel the part it is in when this stream is cut out: in one part branches meet again."""
        graph: nx.Graph[object] = nx.Graph()
        own: set[object] = {*self.ops, self.root, self.root.owner}
        for op in self.kernel.body.block.ops:
            if op in own or isinstance(op, YieldOp):
                continue
            graph.add_node(op)
            for operand in op.operands:
                source = operand if isinstance(operand, BlockArgument) else operand.owner
                if isinstance(operand.type, ItensorType) and source not in own:
                    graph.add_edge(source, op)
        components: Iterable[set[object]] = nx.connected_components(graph)
        return {op: part for part, found in enumerate(components) for op in found if isinstance(op, Operation)}

    def rebuild(self, plan: Tree) -> None:
        """Replace the converters by those of `plan`, whose first nodes are this tree's."""
        point = InsertPoint.at_start(self.root.owner) if isinstance(self.root.owner, Block) else InsertPoint.after(self.root.owner)
        builder = Builder(point)
        values: dict[int, SSAValue] = {ROOT: self.root}
        for index in _sources_first(plan):
            parent = plan.parents[index]
            assert parent is not None
            required = ItensorType.from_order(plan.nodes[index].order, self.type.element_type)
            values[index] = connect(builder, values[parent], required)
        for index, uses in enumerate(self.uses):
            for use in uses:
                port = use.operation.operands[use.index].type
                assert isinstance(port, ItensorType)
                use.operation.operands[use.index] = connect(builder, values[index], port)
        for op in reversed(self.ops):
            if not op.result.uses:
                Rewriter.erase_op(op)


def converter_trees(kernel: KernelOp) -> Iterator[ConverterTree]:
    """The trees of `kernel` with at least one converter, in order of their streams."""
    block = kernel.body.block
    values = [*block.args, *(result for op in block.ops if not _only_changes_type(op) for result in op.results)]
    for value in values:
        if isinstance(value.type, ItensorType):
            tree = ConverterTree(value, kernel)
            _collect(tree, value, ROOT)
            if tree.orders:
                yield tree


def _only_changes_type(op: object) -> bool:
    return isinstance(op, CastOp | ConverterOp)


def _collect(tree: ConverterTree, value: SSAValue, node: int) -> None:
    for use in sorted(value.uses, key=lambda use: (_position(use.operation), use.index)):
        user = use.operation
        if isinstance(user, ConverterOp):
            type_ = user.result.type
            assert isinstance(type_, ItensorType)
            tree.ops.append(user)
            tree.orders.append(type_)
            tree.parents.append(node)
            tree.uses.append([])
            _collect(tree, user.result, len(tree.orders) - 1)
        elif isinstance(user, CastOp):
            tree.ops.append(user)
            _collect(tree, user.result, node)
        else:
            (tree.direct if node == ROOT else tree.uses[node]).append(use)


def _position(op: Operation) -> int:
    block = op.parent_block()
    assert block is not None
    return next(index for index, candidate in enumerate(block.ops) if candidate is op)


def _sources_first(plan: Tree) -> list[int]:
    """The nodes of `plan` that are made, each after the one it is converted from."""
    order: list[int] = []
    waiting = [ROOT]
    while waiting:
        node = waiting.pop(0)
        children = [index for index, parent in enumerate(plan.parents) if parent == node]
        order += children
        waiting += children
    return order
