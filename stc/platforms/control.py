"""What control takes in Vitis HLS: counters of loops, comparisons, multiplexers, state machines, handshakes of FIFOs.

From the utilisation tables of published reports, version 2022.2 to 2025.1 (`data/vitis_control.csv` has the modules):

* An addition, a subtraction or a comparison of w bits takes w + 7 LUTs (comparisons fewer until 2022.2).
* A multiplexer takes LUTs by its inputs alone: 9 for 2, 14 for 3, then 5 to 6 for each more, whatever its width.
* A pipelined loop, with the loops around it that are merged with it, is a module: two multiplexers that say when it is over and
  which stages work (one where it has a single stage), two for each counter, one for each FIFO and each channel of a memory port.
* What runs one after the other is a state machine: a multiplexer with an input for each state.
* Flip-flops are those of counters and states, two for each stage but the first, and of each token that is read and kept.

These are estimates of the vendor's tool, of which Vivado leaves a part (`data/vitis_built.csv`): `BUILT` of the LUTs are counted.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import ceil, prod

BUILT = 0.5
"""Part of listed control that is counted. Assumed: of small published tasks that stream 0.1 to 0.42 was left, of those with wide
data, which are more than control, 0.18 to 1.2, of whole kernels 0.47 to 0.63."""

INT_BITS = 32
"""Of an index that is computed from what only a launch says: the tool narrows others."""

STREAM_CHANNELS, READ_CHANNELS, WRITE_CHANNELS = 1, 2, 3
"""Handshakes of a FIFO; of a memory port that is read (AR, R), or written (AW, W, B)."""

GATES = 10
"""Of the gates that say whether a module may go on: 2 to 22 in the reports of `data/vitis_control.csv`."""


@dataclass(frozen=True)
class ControlCost:
    """LUTs and FFs."""

    lut: int = 0
    ff: int = 0

    def plus(self, other: ControlCost) -> ControlCost:
        return ControlCost(self.lut + other.lut, self.ff + other.ff)


START = ControlCost(5, 5)
"""The FIFO that starts a task: 2 to 6 LUTs as Vivado built them (Su-gif-cpu/stream1 @08a89988, for a 7-series device)."""

SHALLOW = 4
"""Tokens of the FIFOs of which the least control was published."""

_PER_INPUT, _LESS = 5.65, 2.9
"""Of multiplexers with more than two inputs: gives the published ones of up to ten."""


def fifo(depth: int, *, in_blocks: bool) -> ControlCost:
    """Of a FIFO of so many tokens, besides its memory, as Vivado built it: reports do not tell them apart.

    Of 4 tokens 9 to 12 LUTs, of 32 17 to 20, of 128 in block RAM 41 (Su-gif-cpu/stream1 @08a89988, for a 7-series device), of 512
    in block RAM 50 (asandeep1/FPGA_ECE8893 2026_Spring/lab2 @f2e8fcaf, for UltraScale+).
    """
    if in_blocks:
        return ControlCost(50, 41)
    return ControlCost(12, 13) if depth <= SHALLOW else ControlCost(20, 25)


def arithmetic(bits: int) -> int:
    """LUTs of a sum, a difference or a comparison of so many bits, as listed."""
    return bits + 7


def multiplexer(inputs: int) -> int:
    """LUTs of a multiplexer of control, as wide as may be, as listed; of one input it is a wire."""
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
    """A pipelined loop of `depth` stages that begins an iteration each `interval` cycles, innermost of a `nest` of merged loops, as
    listed. `channels`: handshakes of what it reads and writes; `carried`: bits of the values that iterations hand on besides."""
    counted = list(counters(nest))
    over = multiplexer(2) * (2 if depth > 1 else 1)
    begin_anew = sum(loop.bits for loop in nest if loop.is_used) if len(nest) > 1 else 0
    luts = over + multiplexer(2) * channels + multiplexer(interval + 1 if interval > 1 else 1) + GATES + begin_anew
    luts += sum(2 * multiplexer(2) + 2 * arithmetic(bits) for bits in counted) + 2 * multiplexer(2) * len(carried)
    return ControlCost(luts, 1 + interval + 2 * (depth - 1) + sum(counted) + sum(carried))


def counters(nest: Sequence[CountedLoop]) -> Iterator[int]:
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
    """What runs `calls` of pipelined loops one after the other, with so many `cycles` between them, inside of `loops`, as listed.

    `channels`: handshakes of what it reads and writes, itself or in those; of which `shared` are used in several places.
    """
    states = 2 + cycles + 2 * calls + len(loops)
    luts = multiplexer(states + 1) + multiplexer(2) * (1 + channels) + multiplexer(3) * shared + GATES
    luts += sum(multiplexer(2) + 2 * arithmetic(loop.bits) for loop in loops)
    return ControlCost(luts, 1 + states + calls + sum(loop.bits for loop in loops))


# As a device has it ---------------------------------------------------------------------------------------------------


def addition(bits: int) -> int:
    """LUTs of a sum or a difference: a carry chain with one for each bit."""
    return bits


def comparison(bits: int) -> int:
    """LUTs of a comparison: one for each two bits."""
    return ceil(bits / 2)


def bank_multiplexer(sources: int, bits: int) -> int:
    """LUTs that bring `bits` of one of so many sources: a LUT of six inputs has a bit of one of four, or two bits of one of two;
    wider ones are joined by multiplexers of the slice."""
    return 0 if sources < 2 else ceil(bits / 2) if sources == 2 else bits * ceil(sources / 4)


def bank_decoder(banks: int) -> int:
    """LUTs that say which of so many banks is written."""
    return 0 if banks < 2 else banks
