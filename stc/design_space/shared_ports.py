"""Which parameters come through one memory port together: the rule, without IR."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from stc.platforms.fifo_storage import bram18_blocks
from stc.platforms.platform import ExternalMemory

Name = TypeVar("Name", bound=Hashable)


@dataclass(frozen=True)
class Packed:
    """A tensor in external memory: `size` bytes in words of `word_bits`, whose entries are of type `scalar`."""

    size: int
    word_bits: int
    scalar: str = "f32"


def shared_ports(parameters: Mapping[Name, Packed], total: int, memory: ExternalMemory) -> list[list[Name]]:
    """Groups of `parameters` that one port each brings, of equal words, in the order given; `total`: bytes of all that ports bring.

    A parameter is in a group where the array that holds it takes fewer blocks of RAM than the adapter of a port of its own would.
    Smallest first, as long as all of them are no more than a port's equal part of `total`: so no other port waits for theirs. What
    would be alone keeps its port.
    """
    small = [name for name, packed in parameters.items() if _array_bram18(packed) < memory.adapter_bram18]
    left, chosen = total // memory.max_ports, set[Name]()
    for name in sorted(small, key=lambda name: parameters[name].size):
        left -= parameters[name].size
        if left < 0:
            break
        chosen.add(name)
    groups: dict[tuple[int, str], list[Name]] = {}
    for name in (name for name in parameters if name in chosen):
        packed = parameters[name]
        groups.setdefault((packed.word_bits, packed.scalar), []).append(name)
    return [group for group in groups.values() if len(group) > 1]


def _array_bram18(packed: Packed) -> int:
    return bram18_blocks(packed.word_bits, -(-8 * packed.size // packed.word_bits))
