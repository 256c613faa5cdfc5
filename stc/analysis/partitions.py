"""Into which banks arrays are cut: the attribute `stc.partition` of an allocation or a ring of buffers."""

from __future__ import annotations

from math import prod

from xdsl.dialects.builtin import ArrayAttr, IntegerAttr, MemRefType
from xdsl.ir import Operation

PARTITION = "stc.partition"


def partition_of(storage: Operation) -> list[tuple[int, int]]:
    """(dimension, factor) pairs; factor 0 is one bank per entry, others deal entries to banks in turn. Dimensions count from 0."""
    attribute = storage.attributes.get(PARTITION)
    if not isinstance(attribute, ArrayAttr):
        return []
    pairs: list[tuple[int, int]] = []
    for entry in attribute:
        assert isinstance(entry, ArrayAttr)
        dimension, factor = (number.value.data for number in entry if isinstance(number, IntegerAttr))
        pairs.append((dimension, factor))
    return pairs


def bank_count(storage: Operation, kind: MemRefType) -> int:
    """Banks of each array of type `kind` that `storage` makes."""
    return prod(factor or kind.get_shape()[dimension] for dimension, factor in partition_of(storage))
