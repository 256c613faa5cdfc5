"""What control takes in Vitis HLS: counters of loops, comparisons, multiplexers, state machines, handshakes of FIFOs.

From the utilisation tables of published reports, version 2022.2 to 2025.1 (`data/vitis_control.csv` has the modules):

* An addition, a subtraction or a comparison of w bits takes w + 7 LUTs (comparisons fewer until 2022.2).
* A multiplexer takes LUTs by its inputs alone: 9 for 2, 14 for 3, then 5 to 6 for each more, whatever its width.
* A pipelined loop, with the loops around it that are merged with it, is a module: two multiplexers that say when it is over and
  which stages work (one where it has a single stage), two for each counter, one for each FIFO and each channel of a memory port.
* What runs one after the other is a state machine: a multiplexer with an input for each state.

These are estimates of the vendor's tool, which Vivado then makes smaller: `BUILT` of them is counted.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import ceil, prod

BUILT = 0.5
"""Part of the LUTs of reports that is left once Vivado has built them. Of six published tasks that stream it was 0.1, 0.25, 0.27,
0.28, 0.3 and 0.42, of three whole kernels, their operators included, 0.47, 0.62 and 0.63."""

INT_BITS = 32
"""Of an index that is computed from what only a launch says: the tool narrows others."""

STREAM_CHANNELS, READ_CHANNELS, WRITE_CHANNELS = 1, 2, 3
"""Handshakes of a FIFO; of a memory port that is read (AR, R), or written (AW, W, B)."""

GATES = 10
"""LUTs of the gates that say whether a module may go on: 2 to 22 in reports."""

SHALLOW = 4
"""Tokens of the FIFOs of which the least control was published."""

_PER_INPUT, _LESS = 5.65, 2.9
"""Of multiplexers with more than two inputs: gives the published ones of up to ten."""


@dataclass(frozen=True)
class ControlCost:
    """LUTs and FFs."""

    lut: int = 0
    ff: int = 0

    def plus(self, other: ControlCost) -> ControlCost:
        return ControlCost(self.lut + other.lut, self.ff + other.ff)

    @property
    def built(self) -> ControlCost:
        """What is left of what a report lists."""
        return ControlCost(ceil(BUILT * self.lut), self.ff)


START = ControlCost(lut=5, ff=5)
"""The FIFO that starts a task, as Vivado built it: 2 to 6 LUTs, 4 or 5 FFs."""


def fifo(depth: int, *, in_blocks: bool) -> ControlCost:
    """Of a FIFO of so many tokens, besides its memory, as Vivado built it: reports do not tell them apart."""
    if in_blocks:
        return ControlCost(lut=40, ff=35)
    return ControlCost(lut=12, ff=13) if depth <= SHALLOW else ControlCost(lut=20, ff=25)


def arithmetic(bits: int) -> int:
    """LUTs of an addition, a subtraction or a comparison of so many bits."""
    return bits + 7


def multiplexer(inputs: int) -> int:
    """LUTs of a multiplexer of control, as wide as may be; of one input it is a wire."""
    return 0 if inputs < 2 else 9 if inputs == 2 else round(_PER_INPUT * inputs - _LESS)


@dataclass(frozen=True)
class CountedLoop:
    """A loop with its `trips`, and the value at which its variable ends; None: a launch says so. `is_used`: whether anything is
    computed from the variable."""

    trips: int | None
    end: int | None
    is_used: bool = True

    @property
    def bits(self) -> int:
        """Of its variable."""
        return INT_BITS if self.end is None else max(1, self.end.bit_length())


def pipeline(nest: Sequence[CountedLoop], depth: int, interval: int, channels: int, carried: Sequence[int] = ()) -> ControlCost:
    """A pipelined loop of `depth` stages that begins an iteration each `interval` cycles, innermost of a `nest` of merged loops.

    `channels`: handshakes of what it reads and writes; `carried`: bits of what else iterations hand on.
    """
    counters = list(_counters(nest))
    over = multiplexer(2) * (2 if depth > 1 else 1)
    begin_anew = sum(loop.bits for loop in nest if loop.is_used) if len(nest) > 1 else 0
    lut = over + multiplexer(2) * channels + multiplexer(interval + 1 if interval > 1 else 1) + GATES + begin_anew
    lut += sum(2 * multiplexer(2) + 2 * arithmetic(bits) for bits in counters) + 2 * multiplexer(2) * len(carried)
    return ControlCost(lut, 1 + interval + 2 * (depth - 1) + sum(counters) + sum(carried))


def _counters(nest: Sequence[CountedLoop]) -> Iterator[int]:
    """The counters of merged loops, by their bits: of all iterations; variables that are used; and for each of these one of the
    iterations inside, after which it goes on."""
    if len(nest) == 1:
        yield nest[0].bits
        return
    yield _iterations(nest)
    last = len(nest) - 1
    inside = {place + 1 for place, loop in enumerate(nest[:-1]) if loop.is_used}
    if nest[last].is_used or last in inside:
        yield nest[last].bits
    yield from (loop.bits for loop in nest[:-1] if loop.is_used)
    yield from (_iterations(nest[place:]) for place in inside if place != last)


def _iterations(nest: Sequence[CountedLoop]) -> int:
    """Bits of a counter of all iterations of a nest."""
    known = prod(loop.trips for loop in nest if loop.trips is not None)
    return known.bit_length() + INT_BITS * sum(loop.trips is None for loop in nest)


def sequence(loops: Sequence[CountedLoop], calls: int, cycles: int, channels: int, shared: int) -> ControlCost:
    """What runs `calls` of pipelined loops one after the other, and takes so many `cycles` between them, inside of `loops`.

    `channels`: handshakes of what it reads and writes, itself or in those; of which `shared` are used in several places.
    """
    states = 2 + cycles + 2 * calls + len(loops)
    lut = multiplexer(states + 1) + multiplexer(2) * (1 + channels) + multiplexer(3) * shared + GATES
    lut += sum(multiplexer(2) + 2 * arithmetic(loop.bits) for loop in loops)
    return ControlCost(lut, 1 + states + calls + sum(loop.bits for loop in loops))


# Multiplexers of data -------------------------------------------------------------------------------------------------


def bank_multiplexer(banks: int, bits: int) -> int:
    """LUTs that bring an entry of `bits` of one of so many banks: a LUT of six inputs has a bit of one of four, or two bits of
    one of two; wider ones are joined by multiplexers of the slice."""
    return 0 if banks < 2 else ceil(bits / 2) if banks == 2 else bits * ceil(banks / 4)


def bank_decoder(banks: int) -> int:
    """LUTs that say which of so many banks is written."""
    return 0 if banks < 2 else banks
