"""Which tensors come through one memory port together: the rule, without IR."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

from stc.platforms.adapters import WIDEST, adapter_bram18
from stc.platforms.memories import memory_cost

Name = TypeVar("Name", bound=Hashable)

Words: TypeAlias = tuple[int, str]

LATENCY_CYCLES = 100
"""Until the first word is there."""


@dataclass(frozen=True)
class Packed:
    """A tensor in external memory: `size` bytes in words of `word_bits`, whose entries are of type `scalar`. `is_awaited`: whether
    a launch begins or ends with it, as with its inputs and results."""

    size: int
    word_bits: int
    scalar: str = "f32"
    is_awaited: bool = False

    @property
    def words(self) -> Words:
        """What words have in common that come through one port."""
        return self.word_bits, self.scalar

    @property
    def part(self) -> int:
        """Bytes that a port could move in the time that it takes."""
        return self.size + (LATENCY_CYCLES * self.word_bits // 8 if self.is_awaited else 0)


def shared_ports(tensors: Mapping[Name, Packed], total: int, ports: int, widest: int = WIDEST) -> list[list[Name]]:
    """Groups of `tensors` that one port each brings, of equal words, in the order given, where ports have at most `widest` bits.

    A tensor is in a group where the array that holds it takes fewer blocks of RAM than the adapter of a port of its own.
    Smallest first, as long as those of a group are no more than the equal part of one of so many `ports` in `total`, the bytes of
    all parameters, which all stages of a model have in common: so no other port waits for theirs, but for the latency that each
    pays in turn, which counts for what a launch begins or ends with. What would be alone keeps its port.
    """
    small = [name for name, packed in tensors.items() if is_small(packed, widest)]
    left, chosen = dict[Words, int](), set[Name]()
    for name in sorted(small, key=lambda name: tensors[name].part):
        packed = tensors[name]
        left.setdefault(packed.words, total // ports)
        if packed.part <= left[packed.words]:
            left[packed.words] -= packed.part
            chosen.add(name)
    groups: dict[Words, list[Name]] = {}
    for name in (name for name in tensors if name in chosen):
        groups.setdefault(tensors[name].words, []).append(name)
    return [group for group in groups.values() if len(group) > 1]


def is_small(packed: Packed, widest: int = WIDEST) -> bool:
    """Whether the array that holds a tensor takes fewer blocks of RAM than the adapter of a port."""
    array = memory_cost("bram", "ram_s2p", packed.word_bits, -(-8 * packed.size // packed.word_bits))
    return array.bram18 < adapter_bram18(packed.word_bits, widest)


NARROWEST_BITS = 128
"""Of the words of a port that several tensors share; an adapter is no cheaper below."""


def narrow_word(size: int, available: int, widest: int = WIDEST) -> int:
    """Bits of the narrowest words in which a port brings `size` bytes while others bring `available` bytes each in words of
    `widest` bits: what holds the words, and takes tokens out of them, is as wide."""
    bits = min(NARROWEST_BITS, widest)
    while bits < widest and size * widest > available * bits:
        bits *= 2
    return bits
