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


_MODULAR = frozenset({"add", "sub", "rsub", "mul", "bitwise_and", "bitwise_or", "bitwise_xor"})
"""Operations whose result, cut back, is the same for all constants that are equal modulo 2^n."""


def widen_narrow_integers(program: torch.export.ExportedProgram) -> list[tuple[Node, str, str]]:
    """Rewrite the graph of `program` in place; the nodes for which that is not possible, why, and what would be accepted."""
    refused: list[tuple[Node, str, str]] = []
    for node in list(program.graph.nodes):
        if node.op != "call_function" or not isinstance(node.target, torch._ops.OpOverload) or _name(node) in _MOVEMENTS:  # pyright: ignore[reportPrivateUsage]
            continue
        for dtype in {dtype for operand in node.all_input_nodes if (dtype := _dtype(operand)) in NARROW}:
            bounds = torch.iinfo(dtype)
            if any(not bounds.min <= value <= bounds.max for value in _constants(node)):
                accepted = f"constants from {bounds.min} to {bounds.max}"
                refused.append((node, f"{node.target} of {dtype} with a constant outside its range", accepted))
        _widen(program.graph, node)
    program.graph.lint()
    return refused


def _constants(node: Node) -> list[int]:
    """The integers that an operation combines with entries."""
    if _name(node) in _MODULAR:
        return []
    names = [argument.name for argument in node.target._schema.arguments if "number" in str(argument.type).lower()]  # type: ignore[union-attr]
    bound = dict(zip([argument.name for argument in node.target._schema.arguments], node.args, strict=False))  # type: ignore[union-attr]
    values = {**bound, **node.kwargs}
    return [value for name in (*names, "other") if isinstance(value := values.get(name), int)]


def _name(node: Node) -> str:
    return node.target._schema.name.removeprefix("aten::")  # type: ignore[union-attr]


def _widen(graph: Graph, node: Node) -> None:
    operands = [operand for operand in node.all_input_nodes if _dtype(operand) in NARROW]
    if not operands:
        return
    # A tensor of rank 0 does not widen the others: it is brought into their type.
    common = _common_type(node)
    lone = [operand for operand in node.all_input_nodes if common in NARROW and _dtype(operand) in (torch.int32, WIDE)]
    with graph.inserting_before(node):
        wide = {operand: _converted(graph, operand, WIDE) for operand in operands}
        wide |= {operand: _converted(graph, _converted(graph, operand, common), WIDE) for operand in lone if common is not None}
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


def _common_type(node: Node) -> torch.dtype | None:
    """The type in which an entry-wise operation of two tensors computes."""
    values = [operand.meta["val"] for operand in node.all_input_nodes if _dtype(operand) not in (None, torch.bool)]
    is_entrywise = torch.Tag.pointwise in node.target.tags  # type: ignore[union-attr]
    return torch.result_type(*values) if is_entrywise and len(values) == 2 else None


def _cut_back(graph: Graph, result: Node, computed: torch.Tensor) -> None:
    required = _dtype(result)
    _become(result, computed)
    if required is None or computed.dtype == required:
        return
    with graph.inserting_after(result):
        narrow = _converted(graph, result, required)
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
