"""Memory effects of operations on sequences of tokens, which differ from those of memory."""

from __future__ import annotations

from collections.abc import Set as AbstractSet

from xdsl.ir import Operation
from xdsl.traits import EffectInstance, MemoryEffect, MemoryEffectKind


class OwnsResults(MemoryEffect):
    """Each result is a thing of its own (a FIFO, a placeholder, a branch of a fork).

    Two such operations are never merged, though they look alike; one whose results are unused may be erased.
    """

    @classmethod
    def get_effects(cls, op: Operation) -> AbstractSet[EffectInstance]:
        return frozenset(EffectInstance(MemoryEffectKind.ALLOC, result) for result in op.results)


_READ_AND_WRITE = frozenset((EffectInstance(MemoryEffectKind.READ), EffectInstance(MemoryEffectKind.WRITE)))


class AdvancesCursor(MemoryEffect):
    """The operation moves the cursor of a port: it is never merged, hoisted or erased."""

    @classmethod
    def get_effects(cls, op: Operation) -> AbstractSet[EffectInstance]:
        return _READ_AND_WRITE
