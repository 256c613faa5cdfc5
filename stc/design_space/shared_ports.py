"""Which parameters come through one memory port together: the rule, without IR."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from stc.platforms.adapters import ADAPTER_BRAM18, adapter_width
from stc.platforms.memories import memory_cost

Name = TypeVar("Name", bound=Hashable)


@dataclass(frozen=True)
class Packed:
    """A tensor in external memory: `size` bytes in words of `word_bits`, whose entries are of type `scalar`."""

    size: int
    word_bits: int
    scalar: str = "f32"


def shared_ports(parameters: Mapping[Name, Packed], total: int, ports: int) -> list[list[Name]]:
    """Groups of `parameters` that one port each brings, of equal words, in the order given.

    A parameter is in a group where the array that holds it takes fewer blocks of RAM than the adapter of a port of its own would.
    Smallest first, as long as all of them are no more than the equal part of one of so many `ports` in `total`, the bytes of all
    parameters, which all stages of a model have in common: so no other port waits for theirs, but for the latency that each pays
    in turn. What would be alone keeps its port.
    """
    small = [name for name, packed in parameters.items() if _array_bram18(packed) < ADAPTER_BRAM18[adapter_width(packed.word_bits)]]
    left, chosen = total // ports, set[Name]()
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
    return memory_cost("bram", "ram_s2p", packed.word_bits, -(-8 * packed.size // packed.word_bits)).bram18
