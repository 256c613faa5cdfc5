"""Depths of pipelines: sums along the longest way, by hand."""

from __future__ import annotations

import pytest
from xdsl.dialects import scf

from stc.analysis.loop_schedules import iteration_schedule
from stc.dialects.parsing import parse_module
from stc.platforms.operators import find_operator

CYCLE_NS = 4.0
ADD, MULTIPLY, EXP = 7, 4, 14  # stages at 3.33 ns in data/vitis_operators.csv
LOAD, STORE, ACCESS = 2, 1, 1

TASK = """
func.func @f(%a: memref<16xf32>, %b: memref<16xf32>, %x: f32) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c16 = arith.constant 16 : index
  scf.for %i = %c0 to %c16 step %c1 {{
    {body}
  }}
  return
}}
"""
SUM_OF_PRODUCT = """
    %l = memref.load %a[%i] : memref<16xf32>
    %m = arith.mulf %l, %x : f32
    %s = arith.addf %m, %x : f32
    memref.store %s, %b[%i] : memref<16xf32>
"""
STORED_THEN_LOADED = """
    %e = math.exp %x : f32
    memref.store %e, %b[%i] : memref<16xf32>
    %l = memref.load %b[%i] : memref<16xf32>
    %s = arith.addf %l, %x : f32
    memref.store %s, %a[%i] : memref<16xf32>
"""
CHAIN_OF_COPIES = """
    scf.for %j = %c0 to %c4 step %c1 {
      %l = memref.load %b[%i] : memref<16xf32>
      %s = arith.addf %l, %x : f32
      memref.store %s, %b[%i] : memref<16xf32>
    } {stc.unroll = 0 : i32}
"""
CARRIED_BY_COPIES = """
    %r = scf.for %j = %c0 to %c4 step %c1 iter_args(%s = %x) -> (f32) {
      %t = arith.addf %s, %x : f32
      scf.yield %t : f32
    } {stc.unroll = 0 : i32}
    memref.store %r, %b[%i] : memref<16xf32>
"""
COPIES_SIDE_BY_SIDE = """
    scf.for %j = %c0 to %c4 step %c1 {
      %l = memref.load %b[%j] : memref<16xf32>
      %s = arith.addf %l, %x : f32
      memref.store %s, %b[%j] : memref<16xf32>
    } {stc.unroll = 0 : i32}
"""


@pytest.mark.parametrize(
    ("body", "depth"),
    [
        ("", 1),
        (SUM_OF_PRODUCT, LOAD + MULTIPLY + ADD + STORE),
        (STORED_THEN_LOADED, EXP + ADD + STORE),   # forwarded, not through memory
        (CHAIN_OF_COPIES, LOAD + 4 * ADD + STORE),
        (CARRIED_BY_COPIES, 4 * ADD + STORE),
        (COPIES_SIDE_BY_SIDE, LOAD + ADD + STORE),
    ],
)
def test_the_longest_way_through_an_iteration(body: str, depth: int) -> None:
    module = parse_module(TASK.format(body=body), "task.mlir")
    loop = next(op for op in module.walk() if isinstance(op, scf.ForOp))
    assert iteration_schedule(loop, CYCLE_NS).depth == depth


def test_an_operator_is_taken_from_the_next_shorter_cycle() -> None:
    assert find_operator("fadd_f32_full_dsp", 4.0).stages == 7
    assert find_operator("fadd_f32_full_dsp", 5.0).stages == 5
    assert find_operator("fmul_f32_max_dsp", 2.5).stages == 6
    assert find_operator("fadd_f32_full_dsp", 1.0).clock_ns == 3.33  # none is shorter: the shortest there is
    with pytest.raises(KeyError):
        find_operator("nonsense", 4.0)
