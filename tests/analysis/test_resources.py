"""Resources by hand: operators shared between loops, arrays by bank, FIFOs and adapters as published."""

from __future__ import annotations

from collections import Counter

import pytest

from stc.analysis.resource_figures import ResourceCount, adapter, fifo, local_memory
from stc.analysis.resources import resource_report, task_operators, task_resources
from stc.dialects.dataflow import TaskOp
from stc.dialects.parsing import parse_module
from stc.platforms.platform import load_platform

ADD, MULTIPLY = "fadd_f32_full_dsp", "fmul_f32_max_dsp"

DESIGN = """
func.func @f() {{
  dataflow.kernel @k() {{
    dataflow.task @t ins() outs() {{
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c5 = arith.constant 5 : index
      %c64 = arith.constant 64 : index
      %x = memref.alloc() : memref<64x5xf32>
      %y = memref.alloc() {{stc.partition = [[0, 0]]}} : memref<5xf32>
      scf.for %i = %c0 to %c64 step %c1 {{
        scf.for %l = %c0 to %c5 step %c1 {{
          %a = memref.load %x[%i, %l] : memref<64x5xf32>
          %m = arith.mulf %a, %a : f32
          %s = arith.addf %m, %a : f32
          memref.store %s, %x[%i, %l] : memref<64x5xf32>
        }} {{stc.unroll = 0 : i32}}
      }} {{stc.pipeline = {ii} : i32}}
      scf.for %i = %c0 to %c64 step %c1 {{
        %a = memref.load %x[%i, %c0] : memref<64x5xf32>
        %b = arith.addf %a, %a : f32
        %c = arith.addf %b, %a : f32
        %d = arith.addf %c, %a : f32
        memref.store %d, %y[%c0] : memref<5xf32>
      }} {{stc.pipeline = 1 : i32}}
      dataflow.yield
    }}
    dataflow.yield
  }}
  func.return
}}
"""


def task(ii: int) -> TaskOp:
    return next(op for op in parse_module(DESIGN.format(ii=ii), "d.mlir").walk() if isinstance(op, TaskOp))


@pytest.mark.parametrize(("ii", "expected"), [(1, {ADD: 5, MULTIPLY: 5}), (2, {ADD: 3, MULTIPLY: 3}), (5, {ADD: 3, MULTIPLY: 1})])
def test_loops_share_operators_and_slow_loops_use_them_again(ii: int, expected: dict[str, int]) -> None:
    """Five lanes over `ii` cycles; the second loop needs three adders, which the first has."""
    assert task_operators(task(ii)) == Counter(expected)


def test_a_task() -> None:
    found = task_resources(task(1), 4.0)
    assert found.dsp == 5 * 2 + 5 * 3
    assert found.bram18 == 1            # 320 x 32 bit
    assert found.ff >= 5 * 32 + 5 * 318 + 5 * 143


def test_the_clock_decides_which_operator() -> None:
    assert task_resources(task(1), 5.0).ff < task_resources(task(1), 4.0).ff   # a shallower adder has fewer registers


@pytest.mark.parametrize(
    ("bits", "entries", "banks", "expected"),
    [
        (32, 16, 16, ResourceCount(ff=512)),
        (32, 32, 1, ResourceCount(lut=32, ff=32)),
        (32, 33, 1, ResourceCount(bram18=1)),
        (32, 2048, 4, ResourceCount(bram18=4)),
        (32, 2049, 4, ResourceCount(bram18=8)),
        (7, 1, 1, ResourceCount(ff=7)),
    ],
)
def test_arrays_by_bank(bits: int, entries: int, banks: int, expected: ResourceCount) -> None:
    assert local_memory(bits, entries, banks) == expected


def test_fifos_and_adapters() -> None:
    assert fifo(512, 4096).uram == 8 and fifo(32, 512).bram18 == 1 and fifo(32, 2).bram18 == 0
    assert adapter(512, 4.0) == ResourceCount(lut=2695, ff=3521, bram18=30)
    assert adapter(33, 4.0).bram18 == 16


def test_parts_add_up_and_are_compared_with_the_plan() -> None:
    platform = load_platform("u55c")
    report = resource_report(parse_module(DESIGN.format(ii=1), "d.mlir"), platform)
    for name, total in report["total"].items():
        assert total == sum(part[name] for part in report["parts"].values())
    assert report["share"]["dsp"] == pytest.approx(25 / (0.8 * 8304))
    assert [share["dsp"] for share in report["share_of_slr"]] == pytest.approx([25 / 0.8 / dsp for dsp in (2664, 2784, 2856)])
