"""Rows that replace those of an input at a position known at run time: however PyTorch spells it, one `slice_scatter`.

    cache.index_copy(1, pos, rows)      torch.index_put(cache, (None, pos), rows)       cache.scatter(1, pos.expand(...), rows)
    torch.cat([cache[:, :p], rows, cache[:, p + 1:]], 1)                torch.where(torch.arange(n)[:, None] == pos, rows, cache)

torch-mlir makes a `tensor.insert_slice` at a scalar of it, which `update-in-place` makes an update of the input. What else reads
the cache with its new rows reads the old one and, at the position, the rows: they need not come back from memory.

The position is an input of one integer; or behind it, one after the other, are those of several rows (`pos + torch.arange(n)`).
Anything else stays as it is.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch.fx import Graph, Node
from torch.fx.experimental.symbolic_shapes import ShapeEnv
from torch.fx.passes.shape_prop import _extract_tensor_metadata  # pyright: ignore[reportPrivateUsage]

_aten = torch.ops.aten
_VIEWS = frozenset(
    {_aten.view.default, _aten.reshape.default, _aten.unsqueeze.default, _aten.squeeze.default, _aten.squeeze.dim}
    | {_aten.squeeze.dims, _aten.expand.default, _aten.clone.default, _aten.alias.default, _aten._to_copy.default}
    | {_aten._unsafe_view.default, _aten.detach.default, _aten.lift_fresh_copy.default}
)
"""Operations whose result has the entries of the operand, in the same order or repeated."""
_ARANGES = (_aten.arange.start_step, _aten.arange.start, _aten.arange.default)
_INDEX_PUTS = (_aten.index_put.default, _aten._unsafe_index_put.default)


@dataclass(frozen=True)
class _Append:
    """`rows`, which may have to be broadcast, in place of those of `cache` from `position` on, along `dimension`.

    `position`: an input of one integer; `count`: how many rows there are.
    """

    cache: Node
    rows: Node
    dimension: int
    position: Node
    count: int


def canonicalise_appends(program: torch.export.ExportedProgram) -> None:
    """Rewrite the graph of `program` in place; results, shapes and types stay."""
    graph = program.graph
    for node in list(graph.nodes):
        if (append := _append(node)) is not None and append.cache.op == "placeholder":
            _replace(graph, node, append)
    for node in [node for node in graph.nodes if node.target is _aten._local_scalar_dense.default]:
        if (position := _position(node)) is not None and _shape(position):
            with graph.inserting_before(node):
                node.args = (_call(graph, _aten.view.default, position, []),)
    graph.eliminate_dead_code()
    graph.lint()


def _append(node: Node) -> _Append | None:
    if node.op != "call_function":
        return None
    arguments: Any = node.args
    match node.target:
        case _aten.slice_scatter.default:
            return _of_slice_scatter(*arguments)
        case _aten.scatter.src:
            return _of_scatter(*arguments)
        case _aten.where.self:
            return _of_where(*arguments)
        case _aten.cat.default:
            return _of_cat(*arguments)
        case _ if node.target in _INDEX_PUTS:
            return _of_index_put(*arguments)
        case _:
            return None


def _of_slice_scatter(
    cache: Node, rows: Node, dim: int = 0, start: Node | None = None, end: Node | None = None, step: int = 1
) -> _Append | None:
    dim = dim % len(_shape(cache))
    position, count = _position(start), _shape(rows)[dim]
    if position is None or step != 1 or not _is_behind(end, start, count):
        return None
    return _Append(_whole(cache), _unchanged(rows, start, end), dim, position, count)


def _of_index_put(cache: Node, indices: Sequence[Node | None], rows: Node, accumulate: bool = False) -> _Append | None:
    given = [dim for dim, index in enumerate(indices) if index is not None]
    if accumulate or len(given) != 1 or (found := _positions(indices[given[0]])) is None:
        return None
    (dim,), (position, count) = given, found
    index = indices[dim]
    assert index is not None
    shape = _shape(cache)
    values = [*shape[:dim], *_shape(index), *shape[dim + 1 :]]
    graph = rows.graph
    with graph.inserting_before(_latest(rows, cache)):
        if _shape(rows) != values:
            rows = _call(graph, _aten.expand.default, rows, values)
        if len(_shape(index)) != 1:
            rows = _call(graph, _aten.view.default, rows, [*shape[:dim], count, *shape[dim + 1 :]])
    return _Append(_whole(cache), rows, dim, position, count)


def _of_scatter(cache: Node, dim: int, index: Node, rows: Node) -> _Append | None:
    dim = dim % len(_shape(cache))
    position, shape = _position(index), _shape(cache)
    shape[dim] = 1
    is_row = _shape(index) == shape == _shape(rows)
    return _Append(_whole(cache), rows, dim, position, 1) if position is not None and is_row else None


def _of_where(condition: Node, rows: Node, cache: Node) -> _Append | None:
    comparison, shape = _through_views(condition, _numel(condition)), _shape(cache)
    if comparison.target not in (_aten.eq.Tensor, _aten.eq.Scalar) or list(condition.meta["val"].shape) == [1] * len(shape):
        return None
    missing = len(shape) - len(_shape(condition))
    behind = [dim for dim, extent in enumerate(_shape(condition), missing) if extent != 1]
    left, right = comparison.args
    for numbers, value in ((left, right), (right, left)):
        position = _position(value)
        if position is None or not isinstance(numbers, Node) or len(behind) != 1 or _numel(numbers) != shape[behind[0]]:
            continue
        if not _is_arange(_through_views(numbers, _numel(numbers)), 0, _numel(numbers)):
            continue
        if (row := _one_row(rows, shape, behind[0])) is not None:
            return _Append(_whole(cache), row, behind[0], position, 1)
    return None


def _of_cat(parts: Sequence[Node], dim: int = 0) -> _Append | None:
    if len(parts) != 3 or any(part.target is not _aten.slice.Tensor for part in (parts[0], parts[2])):
        return None
    before, rows, after = parts
    cache = before.args[0]
    assert isinstance(cache, Node)
    dim = dim % len(_shape(cache))
    extent = _shape(cache)[dim]
    first, last = _slice(before, extent), _slice(after, extent)
    count = _shape(rows)[dim]
    if after.args[0] is not cache or (first.dim, last.dim) != (dim, dim) or first.start != 0 or last.end != extent:
        return None
    position = _position(first.end)
    if position is None or not _is_behind(last.start, first.end, count):
        return None
    return _Append(_whole(cache), rows, dim, position, count)


@dataclass(frozen=True)
class _Slice:
    dim: int
    start: object
    end: object


def _slice(node: Node, extent: int) -> _Slice:
    """A slice of stride 1; of another one, without an end."""
    given = dict(enumerate(node.args))
    source = node.args[0]
    assert isinstance(source, Node)
    values: list[Any] = [given.get(index, default) for index, default in ((1, 0), (2, 0), (3, extent), (4, 1))]
    dim, start, end, step = values
    last = extent if end is None or (isinstance(end, int) and end > extent) else end
    return _Slice(dim % len(_shape(source)), start or 0, last if step == 1 else None)


# Positions ------------------------------------------------------------------------------------------------------------


def _position(value: object) -> Node | None:
    """The input of one integer whose value this is: a number, or a tensor that has it everywhere."""
    if not isinstance(value, Node):
        return None
    if value.target is _aten._local_scalar_dense.default:
        value = value.args[0]
        assert isinstance(value, Node)
    elif not isinstance(value.meta.get("val"), torch.Tensor):
        return None
    value = _through_views(value)
    held = value.meta.get("val")
    is_integer = isinstance(held, torch.Tensor) and held.dtype in (torch.int32, torch.int64)
    return value if is_integer and value.op == "placeholder" and _numel(value) == 1 else None


def _positions(index: Node | None) -> tuple[Node, int] | None:
    """The first of consecutive positions, and how many there are."""
    assert index is not None
    count = _numel(index)
    if (position := _position(index)) is not None:
        return (position, 1) if count == 1 else None
    run = _through_views(index, count)
    if run.target in _ARANGES:
        start = run.args[0] if len(run.args) > 1 else None
        return (position, count) if (position := _position(start)) is not None and _is_arange(run, start, count) else None
    if run.target is not _aten.add.Tensor or run.kwargs or len(_shape(index)) != 1:
        return None
    for first, numbers in (run.args, reversed(run.args)):
        position = _position(first)
        arange = _through_views(numbers, count) if isinstance(numbers, Node) else None
        if position is not None and arange is not None and _is_arange(arange, 0, count):
            return position, count
    return None


def _is_arange(node: Node, start: object, count: int) -> bool:
    """Whether a tensor counts from `start` on, in steps of one."""
    if node.target not in _ARANGES or _numel(node) != count:
        return False
    begin = node.args[0] if len(node.args) > 1 else 0
    return bool(begin == start) and (len(node.args) < 3 or bool(node.args[2] == 1))


def _is_behind(end: object, start: object, count: object) -> bool:
    """Whether `end` is `start + count`."""
    if not isinstance(end, Node) or end.target is not operator.add:
        return False
    return tuple(end.args) in ((start, count), (count, start))


# Nodes ----------------------------------------------------------------------------------------------------------------


def _shape(node: Node) -> list[int]:
    return list(node.meta["val"].shape)


def _numel(node: Node) -> int:
    value = node.meta.get("val")
    return value.numel() if isinstance(value, torch.Tensor) else 0


def _through_views(node: Node, numel: int | None = None) -> Node:
    """What `node` shows the entries of, through views of tensors of `numel` entries."""
    while node.target in _VIEWS and isinstance(source := node.args[0], Node) and numel in (None, _numel(source)):
        if node.target is _aten._to_copy.default and source.meta["val"].dtype.is_floating_point:
            return node
        node = source
    return node


def _whole(cache: Node) -> Node:
    """The input that `cache` is, or is a copy of."""
    while cache.target in (_aten.clone.default, _aten.alias.default, _aten.detach.default) and isinstance(cache.args[0], Node):
        cache = cache.args[0]
    return cache


def _unchanged(rows: Node, start: object, end: object) -> Node:
    """What is written by `cache[:, p:p + n] = rows`, which PyTorch copies into the slice first."""
    if rows.target is not _aten.copy.default:
        return rows
    into, what = rows.args[:2]
    assert isinstance(into, Node) and isinstance(what, Node)
    return what if _shape(what) == _shape(into) and what.meta["val"].dtype == into.meta["val"].dtype else rows


def _one_row(rows: Node, shape: Sequence[int], dim: int) -> Node | None:
    """The entries of one position of what is broadcast to `shape`, of which all along `dim` are equal."""
    one = [1 if index == dim else extent for index, extent in enumerate(shape)]
    found = rows
    if rows.target is _aten.expand.default and isinstance(rows.args[0], Node):
        found = rows.args[0]
    missing = len(one) - len(_shape(found))
    if ([1] * missing + _shape(found))[dim] != 1:
        return None
    if _shape(found) == one:
        return found
    with found.graph.inserting_after(found):
        return _call(found.graph, _aten.expand.default, found, one)


def _latest(*nodes: Node) -> Node:
    """The node in front of which all of `nodes` are known."""
    order = {node: index for index, node in enumerate(nodes[0].graph.nodes)}
    return max(nodes, key=lambda node: order[node]).next


def _call(graph: Graph, target: Any, *arguments: Any) -> Node:
    node = graph.call_function(target, tuple(arguments))
    values = [argument.meta["val"] if isinstance(argument, Node) else argument for argument in arguments]
    node.meta["val"] = value = target(*values)
    node.meta["tensor_meta"] = _extract_tensor_metadata(value)  # torch-mlir's importer asks for it
    node.meta |= {key: value for argument in arguments if isinstance(argument, Node) for key, value in argument.meta.items()
                  if key in ("nn_module_stack", "stack_trace")}
    return node


def _replace(graph: Graph, node: Node, append: _Append) -> None:
    """The append in place of `node` where it is a result; elsewhere the cache with the rows at their place."""
    stack = {key: value for key, value in node.meta.items() if key in ("nn_module_stack", "stack_trace")}
    with graph.inserting_before(node):
        position = append.position
        start = graph.call_function(_aten._local_scalar_dense.default, (position,))
        start.meta["val"] = ShapeEnv().create_unbacked_symint()
        end = graph.call_function(operator.add, (start, append.count))
        end.meta["val"] = start.meta["val"] + append.count
        arguments = (append.cache, append.rows, append.dimension, start, end)
        updated = graph.call_function(_aten.slice_scatter.default, arguments)
        updated.meta["val"] = node.meta["val"]
        for made in (start, end, updated):
            made.meta |= stack
    readers = [user for user in node.users if user.op != "output"]
    if readers and append.count == 1:
        with graph.inserting_before(node):
            read = _with_row(graph, append)
        read.meta |= stack
        for reader in readers:
            reader.replace_input_with(node, read)
    node.replace_all_uses_with(updated)


def _with_row(graph: Graph, append: _Append) -> Node:
    """The cache with its new row, without a write to it."""
    shape = _shape(append.cache)
    extent = shape[append.dimension]
    device = append.cache.meta["val"].device
    numbers = graph.call_function(_aten.arange.start_step, (0, extent), {"dtype": torch.int64, "device": device})
    numbers.meta["val"] = append.position.meta["val"].new_empty([extent], dtype=torch.int64)
    number = _call(graph, _aten.view.default, append.position, [])
    here = _call(graph, _aten.eq.Tensor, numbers, number)
    here = _call(graph, _aten.view.default, here, [extent, *[1] * (len(shape) - append.dimension - 1)])
    return _call(graph, _aten.where.self, here, append.rows, append.cache)
