"""Subscripts of translated accesses, with bounds checks where constants do not prove them in bounds.

Numpy clips slices and wraps negative indices; here both are errors that name the operation.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn

import numpy as np
from xdsl.dialects.builtin import DYNAMIC_INDEX, DenseArrayBase, IntegerType
from xdsl.ir import Operation, SSAValue

from stc.analysis.index_ranges import range_of
from stc.diagnostics import CompileError
from stc.execution.source import Source

Entry = SSAValue | int


def mixed(static: DenseArrayBase[IntegerType], dynamic: Sequence[SSAValue]) -> list[Entry]:
    """Static entries with the dynamic ones filled in."""
    values = iter(dynamic)
    return [next(values) if entry == DYNAMIC_INDEX else int(entry) for entry in static.get_values()]


def static_entries(source: Source, op: Operation, entries: Sequence[Entry], what: str) -> list[int]:
    """Entries that must be integers; CompileError for others."""
    if any(isinstance(entry, SSAValue) for entry in entries):
        raise CompileError(f"dynamic {what} cannot be executed", where=source.at(op), accepted="integers")
    return [entry for entry in entries if isinstance(entry, int)]


def entry_text(source: Source, entry: Entry) -> str:
    return str(entry) if isinstance(entry, int) else source.name(entry)


def checked(source: Source, op: Operation, entry: Entry, length: int, extent: int) -> str:
    """The text of an offset; `length` entries from it on must lie within `extent`, else CompileError when it runs."""
    low, high = (entry, entry) if isinstance(entry, int) else range_of(entry) or (-1, extent)
    text = entry_text(source, entry)
    if low < 0 or high + length > extent:
        last = extent - length
        inside = f"np.all((0 <= {text}) & ({text} <= {last}))" if source.in_arrays else f"0 <= {text} <= {last}"
        source.line(f"if not {inside}: {_complaint(source, op, length, extent)}({text})")
    return text


def _complaint(source: Source, op: Operation, length: int, extent: int) -> str:
    where = source.at(op)

    def outside(value: int | np.ndarray) -> NoReturn:
        indices = np.atleast_1d(value)
        index = indices[(indices < 0) | (indices > extent - length)][0]
        span = f"index {index}" if length == 1 else f"entries {index} to {index + length - 1}"
        raise CompileError(f"{span} outside a dimension of {extent} entries", where=where)

    return source.refer(outside, "outside")


def element_subscript(source: Source, op: Operation, indices: Sequence[SSAValue], shape: Sequence[int]) -> str:
    """`i, j` of one entry; `...` for rank 0."""
    texts = [checked(source, op, index, 1, extent) for index, extent in zip(indices, shape, strict=True)]
    return ", ".join(texts) or "()"


def row_subscript(source: Source, op: Operation, indices: Sequence[SSAValue], shape: Sequence[int], width: int) -> str:
    """`i, j:j + width`: entries along the last dimension."""
    *outer, start = indices
    texts = [checked(source, op, index, 1, extent) for index, extent in zip(outer, shape[:-1], strict=True)]
    first = checked(source, op, start, width, shape[-1])
    return ", ".join([*texts, f"{first}:{first} + {width}"])


def slice_subscript(
    source: Source,
    op: Operation,
    offsets: Sequence[Entry],
    sizes: Sequence[int],
    strides: Sequence[int],
    extents: Sequence[int],
    retained: Sequence[bool],
) -> str:
    """The subscript of a slice; dimensions that are not kept (of size 1) are dropped. Empty where it is everything."""
    if all(retained) and list(sizes) == list(extents) and all(offset == 0 for offset in offsets):
        return ""
    texts: list[str] = []
    for offset, size, stride, extent, keep in zip(offsets, sizes, strides, extents, retained, strict=True):
        span = (size - 1) * stride + 1
        start = checked(source, op, offset, span, extent)
        if not keep:
            texts.append(start)
        elif size == extent and stride == 1:
            texts.append(":")
        else:
            texts.append(f"{start}:{start} + {span}" + (f":{stride}" if stride != 1 else ""))
    return ", ".join(texts) or "()"


def retained_dimensions(sizes: Sequence[int], shape: Sequence[int]) -> list[bool]:
    """Which dimensions of a slice of `sizes` a (rank-reduced) tensor of `shape` keeps; the others have size 1.

    Of several dimensions of size 1 it does not matter which are dropped: the first are kept.
    """
    required = list(shape)
    retained: list[bool] = []
    for size in sizes:
        keep = bool(required) and required[0] == size
        if keep:
            required.pop(0)
        retained.append(keep)
    return retained
