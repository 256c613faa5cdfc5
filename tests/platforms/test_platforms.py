"""Platform data, operator costs, FIFO storage."""

from __future__ import annotations

import pytest

from stc.diagnostics import CompileError
from stc.platforms.fifo_storage import bram18_blocks, fifo_storage, uram_blocks
from stc.platforms.operators import operator_costs
from stc.platforms.platform import load_platform


def test_u55c() -> None:
    platform = load_platform("u55c")
    assert len(platform.slrs) == 3 and platform.memory.channels == 32
    assert sum(slr.dsp for slr in platform.slrs) == 8304
    assert 30e6 < platform.usable_on_chip_bytes < 40e6


def test_unknown_platform() -> None:
    with pytest.raises(CompileError, match="unknown platform 'u99'; accepted: u55c"):
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


def test_block_counts() -> None:
    assert uram_blocks(512, 4096) == 8
    assert bram18_blocks(32, 512) == 1
    assert bram18_blocks(18, 1024) == 1
    assert bram18_blocks(72, 600) == 4
