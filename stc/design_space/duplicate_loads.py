"""Which readers of a tensor in external memory get a port of their own, instead of memory on chip.

A tensor that several tasks read enters once and is forked. A branch that has to wait (the residual, which is added when all
else is done) then keeps the tensor in a FIFO; a branch that wants another order keeps it in a converter. Reading the tensor
again, by a DMA of that branch alone, needs neither. It costs traffic and a memory port with its adapter.

A branch is read again where both hold: it saves at least `least_bytes` on chip (the block RAM of one adapter, unless told
otherwise, so that the exchange never costs more than it brings), and each byte saved costs at most `traffic_per_byte` bytes of
traffic per run (a tensor read once more costs about one; an order with many reuse loops costs as many).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from stc.diagnostics import CompileError
from stc.platforms.platform import Platform

TRAFFIC_PER_BYTE = 4.0
"""A choice: FIFOs that hold a quarter of their tensor or more are worth a second reading, converters under reuse loops are not."""


@dataclass(frozen=True)
class Branch:
    """A reader of an outside tensor. `saved_bytes`: of FIFO or converter that a port of its own makes superfluous.
    `traffic_bytes`: read from external memory in addition, per run."""

    name: str
    saved_bytes: int
    traffic_bytes: int


@dataclass(frozen=True)
class DuplicateLoadLimits:
    """`least_bytes`: what a branch has to save; 0 for no branch at all. `traffic_per_byte`: the highest price of a byte saved."""

    least_bytes: int
    traffic_per_byte: float = TRAFFIC_PER_BYTE

    @classmethod
    def of_option(cls, least: int, platform: Platform, where: str) -> DuplicateLoadLimits:
        """What an option of the pass `where` stands for: bytes, 0 for none, -1 for the adapter of a memory port of `platform`."""
        if least < -1:
            accepted = "bytes, 0 for no duplicate loads, -1 for what a port costs"
            raise CompileError(f"least is {least}", where=where, accepted=accepted)
        return cls(platform.memory.adapter_bytes if least == -1 else least)

    def allows(self, branch: Branch) -> bool:
        if self.least_bytes == 0 or branch.saved_bytes < self.least_bytes:
            return False
        return branch.traffic_bytes <= self.traffic_per_byte * branch.saved_bytes


def choose_duplicate_loads(branches: Sequence[Branch], limits: DuplicateLoadLimits, free_ports: int) -> list[Branch]:
    """The branches to read again, at most `free_ports` of them: those that save most, in the order of `branches`."""
    allowed = [branch for branch in branches if limits.allows(branch)]
    best = sorted(allowed, key=lambda branch: -branch.saved_bytes)[: max(0, free_ports)]
    return [branch for branch in allowed if branch in best]


@dataclass(frozen=True)
class ForkedTensor:
    """An outside tensor that is forked, and its branches."""

    tensor: str
    branches: tuple[Branch, ...]


def choose_duplicate_loads_of_forks(forks: Sequence[ForkedTensor], limits: DuplicateLoadLimits, free_ports: int) -> list[Branch]:
    """As `choose_duplicate_loads`, over several forks; each keeps at least the branch that saves least on its first port."""
    candidates: list[Branch] = []
    for fork in forks:
        stays = min(fork.branches, key=lambda branch: branch.saved_bytes)
        candidates += [branch for branch in fork.branches if branch is not stays]
    return choose_duplicate_loads(candidates, limits, free_ports)
