"""Platform data, operator costs, FIFO storage."""

from __future__ import annotations

import pytest

from stc.diagnostics import CompileError
from stc.platforms.fifo_storage import fifo_storage
from stc.platforms.memories import MemoryCost, can_hold, memory_cost
from stc.platforms.operators import operator_costs
from stc.platforms.platform import load_platform


def test_u55c() -> None:
    platform = load_platform("u55c")
    assert len(platform.slrs) == 3 and platform.memory.channels == 32
    assert sum(slr.dsp for slr in platform.slrs) == 8304
    assert 30e6 < platform.usable_on_chip_bytes < 40e6


def test_unknown_platform() -> None:
    accepted = "kv260, u280, u55c, v80, or the path of a platform file"
    with pytest.raises(CompileError, match=f"unknown platform 'u99'; accepted: {accepted}"):
        load_platform("u99")


def test_operator_costs() -> None:
    rows = operator_costs()
    assert len(rows) == 25
    assert any(row.operator == "fmul_f32_max_dsp" and row.stages == 4 and row.dsp == 3 for row in rows)


@pytest.mark.parametrize(
    ("bits", "depth", "storage"),
    [(512, 2, "srl"), (32, 32, "srl"), (32, 64, "lutram"), (128, 64, "lutram"), (32, 160, "bram"), (512, 4096, "uram"),
     (32, 1024, "bram"), (1024, 64, "bram")],
)
def test_fifo_storage(bits: int, depth: int, storage: str) -> None:
    assert fifo_storage(bits, depth) == storage


@pytest.mark.parametrize(
    ("memory", "ports", "bits", "words", "cost"),
    [
        ("uram", "fifo", 512, 4096, MemoryCost(uram=8)), ("uram", "ram_s2p", 73, 5, MemoryCost(uram=2)),
        ("bram", "fifo", 32, 512, MemoryCost(bram18=1)), ("bram", "fifo", 18, 1024, MemoryCost(bram18=1)),
        ("bram", "fifo", 72, 600, MemoryCost(bram18=4)),
        # Two ports that read are 18 bits wide; one bit is a block up to 16,384 deep.
        ("bram", "ram_s2p", 32, 512, MemoryCost(bram18=1)), ("bram", "ram_2p", 32, 512, MemoryCost(bram18=2)),
        ("bram", "ram_t2p", 32, 1024, MemoryCost(bram18=2)), ("bram", "ram_s2p", 1, 16384, MemoryCost(bram18=1)),
        # 8 LUTs are 14 bits of 32 words or 7 bits of 64 with a port for each of read and write; a LUT a read otherwise.
        ("lutram", "ram_s2p", 32, 32, MemoryCost(lut=24)), ("lutram", "ram_s2p", 32, 33, MemoryCost(lut=40)),
        ("lutram", "ram_s2p", 32, 128, MemoryCost(lut=80)), ("lutram", "ram_2p", 32, 64, MemoryCost(lut=64)),
        ("lutram", "ram_2p", 31, 32, MemoryCost(lut=32)), ("srl", "fifo", 32, 33, MemoryCost(lut=64)),
    ],
)
def test_memories_in_their_best_shape(memory: str, ports: str, bits: int, words: int, cost: MemoryCost) -> None:
    assert memory_cost(memory, ports, bits, words) == cost


def test_what_memories_cannot_be() -> None:
    with pytest.raises(KeyError, match="lutram has no ram_t2p"):
        memory_cost("lutram", "ram_t2p", 32, 32)
    assert not can_hold("lutram", "ram_t2p", 2)
    assert can_hold("lutram", "ram_s2p", 256) and not can_hold("lutram", "ram_s2p", 257)
    assert can_hold("uram", "ram_2p", 4096) and not can_hold("uram", "ram_2p", 4097)   # a cascade answers later
    assert can_hold("uram", "fifo", 1 << 20) and can_hold("bram", "ram_2p", 1 << 20)
