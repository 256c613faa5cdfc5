"""What operators, memories and adapters take of a device: the mathematics of the estimate, without IR."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import astuple, dataclass
from math import ceil

from stc.iteration.storage import ArrayStorage, Memory
from stc.platforms import control
from stc.platforms.adapters import WIDEST, adapter_bram18, adapter_width
from stc.platforms.fifo_storage import fifo_storage
from stc.platforms.memories import MemoryCost, memory_cost
from stc.platforms.operators import find_operator
from stc.platforms.platform import Resources, share_of

ASSUMPTIONS = (
    "operators as published for the clock (stc/platforms/data/vitis_operators.csv); those without a report composed of others",
    "what reports leave out is assumed (stc/platforms/data/assumed_operators.csv): FF and LUT of divisions, roots, comparisons and "
    "conversions, integer products of 32 bit and divisions; integer products of more than 9 bits that are bound to LUTs, a LUT for "
    "each pair of bits; other integer operations take a LUT per bit",
    "loops of one task run one after the other and share operators of a kind: the most that any loop needs, not their sum",
    "a pipelined loop that starts an iteration every II cycles uses an operator II times",
    "a bank of one entry is registers; the memory of other arrays and of FIFOs is chosen (choose-storage) and counted in the best "
    "shape that UltraScale+ blocks have for its ports (stc/platforms/data/memories.csv), with a register behind LUTs",
    "a ring of n blocks is n times the memory of one: up to 1024 bits LUTRAM of two ports, beyond block RAM",
    "a memory port of w bits has the adapter published for the next width (32, 256, 512 bit); where none is wider than 128 bit, "
    "one assumed between those of 32 and 256",
    "control of tasks: half (assumed) of what published reports list for loop variables, FIFOs and states "
    "(stc/platforms/control.py); a LUT for each bit of a sum of indices, half a LUT of a comparison; of a FIFO as Vivado builds it "
    "12 to 50 LUT besides its memory",
    "flip-flops of control as reports list them: counters, states, two for each stage, and each token that no array keeps; 400 LUT "
    "and 400 FF per kernel are assumed",
    "multiplexers between banks of arrays and operators take a LUT for each bit of one of four; those between operators that lanes "
    "share are not counted",
)
"""Said with every estimate."""

LUTRAM_BITS = 1024
"""The largest bank that is kept in LUTs."""

@dataclass(frozen=True)
class ResourceCount:
    """Counts; `bram18` are blocks of 18 kbit, `uram` of 288 kbit."""

    dsp: int = 0
    lut: int = 0
    ff: int = 0
    bram18: int = 0
    uram: int = 0

    def plus(self, other: ResourceCount) -> ResourceCount:
        return ResourceCount(*(mine + its for mine, its in zip(astuple(self), astuple(other), strict=True)))

    def times(self, count: int) -> ResourceCount:
        return ResourceCount(*(count * own for own in astuple(self)))

    def shares_of(self, budget: Resources) -> dict[str, float]:
        """Each as a share of what `budget` has; of what it has none of, as a share of one."""
        available = {"dsp": budget.dsp, "lut": budget.lut, "ff": budget.ff, "bram18": 2 * budget.bram36, "uram": budget.uram}
        return {name: share_of(getattr(self, name), amount) for name, amount in available.items()}


KERNEL_CONTROL = ResourceCount(lut=400, ff=400)


def operators(counts: Mapping[str, int], clock_ns: float) -> ResourceCount:
    """So many operators by their name in the table, scheduled for cycles of `clock_ns`."""
    total = ResourceCount()
    for name, count in counts.items():
        cost = find_operator(name, clock_ns)
        total = total.plus(ResourceCount(cost.dsp, cost.lut, cost.ff).times(count))
    return total


def local_memory(bits: int, entries: int, banks: int, storage: ArrayStorage | None = None) -> ResourceCount:
    """An array of `entries` of `bits` each in `banks`; None: of two ports, in the memory that is assumed where none is chosen."""
    deep = ceil(entries / banks)
    if deep <= 1:
        return ResourceCount(ff=bits * entries)
    if storage is None:
        storage = ArrayStorage("ram_2p", "lutram") if bits * deep <= LUTRAM_BITS else ArrayStorage("ram_s2p", "bram")
    return _in_memory(storage.memory, memory_cost(storage.memory, storage.ports, bits, deep), bits).times(banks)


def fifo(bits: int, depth: int, memory: Memory | None = None) -> ResourceCount:
    """A FIFO of `depth` tokens of `bits` each; None: in the memory that is assumed where none is chosen."""
    memory = memory or fifo_storage(bits, depth)
    own = of_control(control.fifo(depth, in_blocks=memory in ("bram", "uram")))
    return _in_memory(memory, memory_cost(memory, "fifo", bits, depth), bits).plus(own)


def of_control(cost: control.ControlCost) -> ResourceCount:
    """What control takes."""
    return ResourceCount(lut=cost.lut, ff=cost.ff)


def _in_memory(memory: Memory, cost: MemoryCost, bits: int) -> ResourceCount:
    """With the register behind LUTs, which block and ultra RAM have inside."""
    return ResourceCount(lut=cost.lut, ff=bits if memory in ("srl", "lutram") else 0, bram18=cost.bram18, uram=cost.uram)


def adapter(bits: int, clock_ns: float, widest: int = WIDEST) -> ResourceCount:
    """The adapter of a memory port with words of `bits`, on a platform whose ports have at most `widest`."""
    width = adapter_width(bits, widest)
    cost = find_operator(f"m_axi_adapter_{width}b", clock_ns)
    return ResourceCount(cost.dsp, cost.lut, cost.ff, adapter_bram18(bits, widest))
