"""Arithmetic on integers of 8 and 16 bits, as PyTorch means it.

torch-mlir sums and compares unsigned bytes as signed ones, and crashes where a scalar or a matrix product meets a narrow integer.
An exported program is brought into a form without either: operands are widened to 64 bits, with their own sign, and a result of a
narrow type is cut back to it. Additions, products, shifts and logic are exact modulo 2^n, divisions and comparisons exact.
"""

from __future__ import annotations

import operator

import torch
from torch.fx import Graph, Node
from torch.fx.node import map_arg

NARROW = (torch.uint8, torch.int8, torch.int16)
WIDE = torch.int64
_CONVERT = torch.ops.aten._to_copy.default
_MOVEMENTS = frozenset(
    {"_to_copy", "view", "_unsafe_view", "reshape", "permute", "transpose", "t", "slice", "select", "cat", "stack", "expand"}
    | {"_assert_tensor_metadata", "squeeze", "unsqueeze", "clone", "alias", "detach", "split", "split_with_sizes", "unbind"}
    | {"flip", "repeat"}
)
"""Operations that only move, convert or look at entries."""


def widen_narrow_integers(program: torch.export.ExportedProgram) -> None:
    """Rewrite the graph of `program` in place."""
    for node in list(program.graph.nodes):
        if node.op == "call_function" and isinstance(node.target, torch._ops.OpOverload) and _name(node) not in _MOVEMENTS:
            _widen(program.graph, node)
    program.graph.lint()


def _name(node: Node) -> str:
    return node.target._schema.name.removeprefix("aten::")  # type: ignore[union-attr]


def _widen(graph: Graph, node: Node) -> None:
    operands = [operand for operand in node.all_input_nodes if _dtype(operand) in NARROW]
    if not operands:
        return
    with graph.inserting_before(node):
        wide = {operand: _converted(graph, operand, WIDE) for operand in operands}
    node.args = map_arg(node.args, lambda operand: wide.get(operand, operand))
    kwargs = map_arg(node.kwargs, lambda operand: wide.get(operand, operand))
    node.kwargs = {key: WIDE if value in NARROW else value for key, value in kwargs.items()}
    arguments, keywords = (map_arg(part, lambda operand: operand.meta["val"]) for part in (node.args, node.kwargs))
    computed = node.target(*arguments, **keywords)  # type: ignore[operator]  # of fake tensors: shapes and types
    if isinstance(computed, torch.Tensor):
        _cut_back(graph, node, computed)
        return
    _become(node, computed)
    for result in [user for user in node.users if user.target is operator.getitem]:
        _cut_back(graph, result, computed[result.args[1]])


def _cut_back(graph: Graph, result: Node, computed: torch.Tensor) -> None:
    wanted = _dtype(result)
    _become(result, computed)
    if wanted is None or computed.dtype == wanted:
        return
    with graph.inserting_after(result):
        narrow = _converted(graph, result, wanted)
    result.replace_all_uses_with(narrow, delete_user_cb=lambda user: user is not narrow)


def _converted(graph: Graph, value: Node, dtype: torch.dtype) -> Node:
    node = graph.call_function(_CONVERT, (value,), {"dtype": dtype})
    node.meta = dict(value.meta)
    _become(node, value.meta["val"].to(dtype))
    return node


def _become(node: Node, value: object) -> None:
    """Say of a node that its result is like `value`, in the one place of two where PyTorch keeps that."""
    node.meta.pop("tensor_meta", None)
    node.meta["val"] = value


def _dtype(node: Node) -> torch.dtype | None:
    """Of a node that is one tensor."""
    value = node.meta.get("val")
    return value.dtype if isinstance(value, torch.Tensor) else None
