"""The memories that arrays and FIFOs may be built of, as `bind_storage` names them (UG1399), and the ports of arrays."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

Memory: TypeAlias = Literal["srl", "lutram", "bram", "uram"]
"""Shift registers, distributed RAM, block RAM, ultra RAM."""

Ports: TypeAlias = Literal["ram_s2p", "ram_2p", "ram_t2p"]
"""What a bank can do in a cycle: read and write; read twice, or read and write; any two accesses."""

FIFO_MEMORIES: tuple[Memory, ...] = get_args(Memory)

ARRAY_MEMORIES: Mapping[Ports, tuple[Memory, ...]] = {
    "ram_s2p": ("lutram", "bram", "uram"),
    "ram_2p": ("lutram", "bram", "uram"),
    "ram_t2p": ("bram", "uram"),
}
"""Distributed RAM has one port that writes."""

READ_LATENCY = 1
"""Cycles from the address to the word, of every array (`latency=`); 1 to 3 are allowed. Loops are scheduled for it."""


@dataclass(frozen=True)
class ArrayStorage:
    """The ports and the memory of each bank of an array."""

    ports: Ports
    memory: Memory

    @property
    def expected(self) -> str | None:
        """What the vendor's tool takes, in words; None where it takes this."""
        if self.ports not in ARRAY_MEMORIES:
            return f"expected ports {', '.join(ARRAY_MEMORIES)} and a memory"
        allowed = ARRAY_MEMORIES[self.ports]
        return None if self.memory in allowed else f"expected {self.ports} in {', '.join(allowed)}"


@dataclass(frozen=True)
class BankAccesses:
    """The most loads and stores that one iteration makes to a bank, each alone, and together."""

    loads: int
    stores: int
    together: int

    def ports(self, interval: int) -> Ports:
        """The least that lets iterations start every `interval` cycles."""
        if self.stores > interval:
            return "ram_t2p"
        return "ram_2p" if self.loads > interval else "ram_s2p"

    def fit(self, ports: Ports, interval: int) -> bool:
        """Whether a bank with these `ports` can serve an iteration every `interval` cycles."""
        match ports:
            case "ram_s2p":
                return max(self.loads, self.stores) <= interval
            case "ram_2p":
                return self.stores <= interval and self.together <= 2 * interval
            case "ram_t2p":
                return self.together <= 2 * interval
