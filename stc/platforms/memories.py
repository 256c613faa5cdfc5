"""The memories of UltraScale+ devices: what blocks of each hold, and what a memory of a width and depth takes of them.

`data/memories.csv` has a row for each shape: so many `blocks` (LUTs, BRAM18 or URAM) hold `words` of `width` bits each, with the
`ports` that are named (those of `bind_storage`, or of a FIFO), stacked up to the `deepest` memory (0: any).
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cache
from importlib import resources
from math import ceil

from stc.platforms.platform import BRAM18_BYTES, URAM_BYTES, Resources


@dataclass(frozen=True)
class Shape:
    """A row of the table."""

    memory: str
    ports: frozenset[str]
    blocks: int
    width: int
    words: int
    deepest: int

    def holds(self, words: int) -> bool:
        return not self.deepest or words <= self.deepest

    def count(self, bits: int, words: int) -> int:
        """Blocks of a memory of `words` of `bits` each."""
        return self.blocks * ceil(bits / self.width) * ceil(words / self.words)


@dataclass(frozen=True)
class MemoryCost:
    """What a memory takes: LUTs, blocks of BRAM18 or of URAM."""

    lut: int = 0
    bram18: int = 0
    uram: int = 0

    def times(self, count: int) -> MemoryCost:
        return MemoryCost(count * self.lut, count * self.bram18, count * self.uram)

    def share(self, usable: Resources) -> float:
        """The part of a device with these `usable` resources, summed over kinds: what makes different memories comparable.

        On a device without ultra RAM block RAM takes its place, with as many bits.
        """
        blocks = self.bram18 if usable.uram else self.bram18 + self.uram * (URAM_BYTES // BRAM18_BYTES)
        return self.lut / usable.lut + blocks / (2 * usable.bram36) + (self.uram / usable.uram if usable.uram else 0)


@cache
def shapes() -> tuple[Shape, ...]:
    """All rows of the table, in the file's order."""
    text = resources.files("stc.platforms").joinpath("data", "memories.csv").read_text()
    return tuple(
        Shape(row["memory"], frozenset(row["ports"].split()), *(int(row[name]) for name in ("blocks", "width", "words", "deepest")))
        for row in csv.DictReader(text.splitlines())
    )


@cache
def memory_cost(memory: str, ports: str, bits: int, words: int) -> MemoryCost:
    """The cost in the best shape of a memory of `words` of `bits` each; as deep as may be, where it is deeper than any.

    KeyError where such a memory has no such ports.
    """
    fitting = [shape for shape in shapes() if shape.memory == memory and ports in shape.ports]
    if not fitting:
        raise KeyError(f"{memory} has no {ports}")
    count = min(shape.count(bits, words) for shape in [shape for shape in fitting if shape.holds(words)] or fitting[-1:])
    return MemoryCost(**{{"bram": "bram18", "uram": "uram"}.get(memory, "lut"): count})


def can_hold(memory: str, ports: str, words: int) -> bool:
    """Whether a memory with these `ports` may be `words` deep."""
    return any(shape.memory == memory and ports in shape.ports and shape.holds(words) for shape in shapes())
