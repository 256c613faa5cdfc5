"""Into which banks arrays are cut: the attribute `stc.partition` of an allocation. The blocks of a ring are never cut.

ARRAY_PARTITION and ARRAY_RESHAPE are not supported on a stream of blocks (UG1399, Limitations of `hls::stream_of_blocks`), nor does
anything else give a block more than one bank.
"""

from __future__ import annotations

from math import prod

from xdsl.dialects import memref
from xdsl.dialects.builtin import MemRefType
from xdsl.ir import Operation

from stc.dialects.facts import PARTITION


def banks_of(storage: Operation) -> list[tuple[int, int]]:
    """The (dimension, factor) pairs that the tool follows: those of an array of a task."""
    return [(dimension, factor) for dimension, factor in PARTITION.of(storage) or ()] if isinstance(storage, memref.AllocOp) else []


def ways_of(storage: Operation, kind: MemRefType) -> dict[int, int]:
    """By dimension that is cut: into how many banks, of each array of type `kind` that `storage` makes."""
    return {dimension: factor or kind.get_shape()[dimension] for dimension, factor in banks_of(storage)}


def bank_words(storage: Operation, kind: MemRefType) -> int:
    """Entries of the largest bank: what does not divide an extent leaves banks that are not full."""
    ways = ways_of(storage, kind)
    return prod(-(-extent // ways.get(dimension, 1)) for dimension, extent in enumerate(kind.get_shape()))


def bank_count(storage: Operation, kind: MemRefType) -> int:
    """Banks of each array of type `kind` that `storage` makes."""
    return prod(ways_of(storage, kind).values())
