"""Intervals of loops that continue their own results, by hand: operators, memory, and how soon an entry comes up again."""

from __future__ import annotations

import pytest
from xdsl.dialects import scf
from xdsl.dialects.builtin import ModuleOp

from stc.analysis.loop_schedules import entry_of
from stc.analysis.recurrences import accumulation_interval, flattened_nest, reuse_distance
from stc.dialects.parsing import parse_module

CYCLES = [(3.33, 7), (4.0, 7), (5.0, 5)]   # of an adder, data/vitis_operators.csv
LOAD, STORE = 2, 1

TASK = """
func.func @f(%x: f32, %b: memref<64xf32>, %m: memref<8x8xf32>) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c5 = arith.constant 5 : index
  %c7 = arith.constant 7 : index
  %c8 = arith.constant 8 : index
  {body}
  return
}}
"""
NEST = """
  scf.for %k = %c0 to %c7 step %c1 {{
    scf.for %i = %c0 to %c{rows} step %c1 {{
      {index}
      %l = memref.load %b[%e] : memref<64xf32>
      %s = arith.addf %l, %x : f32
      memref.store %s, %b[%e] : memref<64xf32>
    }}
  }}
"""


def loops(body: str) -> list[scf.ForOp]:
    module: ModuleOp = parse_module(TASK.format(body=body), "task.mlir")
    return [op for op in module.walk() if isinstance(op, scf.ForOp)]


def nest(rows: int, index: str) -> scf.ForOp:
    return loops(NEST.format(rows=rows, index=index))[1]


@pytest.mark.parametrize(("clock_ns", "adder"), CYCLES)
def test_a_sum_in_a_register_waits_for_the_adder(clock_ns: float, adder: int) -> None:
    body = """
  scf.for %k = %c0 to %c8 step %c1 {
    %l = memref.load %b[%c3] : memref<64xf32>
    %s = arith.addf %l, %x : f32
    memref.store %s, %b[%c3] : memref<64xf32>
  }
"""
    assert accumulation_interval(loops(body)[0], clock_ns) == adder


@pytest.mark.parametrize(("clock_ns", "adder"), CYCLES)
@pytest.mark.parametrize("rows", [2, 3, 5, 7, 8])
def test_sums_in_memory_wait_for_load_and_store_too(clock_ns: float, adder: int, rows: int) -> None:
    loop = nest(rows, "%e = arith.addi %i, %c0 : index")
    assert accumulation_interval(loop, clock_ns) == -(-(LOAD + adder + STORE) // rows)


def test_a_remainder_decides_which_entry() -> None:
    """k mod 4, over 3 rows: 12 iterations in between; without the remainder, 3."""
    entry = "%p = arith.andi %k, %c3 : index\n %q = arith.muli %p, %c8 : index\n %e = arith.addi %q, %i : index"
    assert accumulation_interval(nest(3, entry), 4.0) == 1
    assert accumulation_interval(nest(3, "%p = arith.muli %k, %c0 : index\n %e = arith.addi %p, %i : index"), 4.0) == 4


def test_the_same_index_computed_twice_is_one_entry() -> None:
    body = """
  scf.for %i = %c0 to %c8 step %c1 {
    scf.for %k = %c0 to %c8 step %c1 {
      %p = arith.addi %i, %c3 : index
      %q = arith.addi %c3, %i : index
      %l = memref.load %b[%p] : memref<64xf32>
      %s = arith.addf %l, %x : f32
      memref.store %s, %b[%q] : memref<64xf32>
    }
  }
"""
    assert accumulation_interval(loops(body)[1], 4.0) == 7


def test_a_chain_through_copies_is_as_long_as_the_copies() -> None:
    """Five additions one after the other, the entry passed from copy to copy: HLS does not reorder sums."""
    body = """
  scf.for %k = %c0 to %c8 step %c1 {
    scf.for %u = %c0 to %c5 step %c1 {
      %l = memref.load %b[%c0] : memref<64xf32>
      %s = arith.addf %l, %x : f32
      memref.store %s, %b[%c0] : memref<64xf32>
    } {stc.unroll = 0 : i32}
  }
"""
    assert accumulation_interval(loops(body)[0], 4.0) == 5 * 7


def test_the_multiplication_before_the_sum_is_not_waited_for() -> None:
    body = """
  scf.for %k = %c0 to %c8 step %c1 {
    %w = memref.load %m[%k, %c0] : memref<8x8xf32>
    %v = arith.mulf %w, %x : f32
    %l = memref.load %b[%c0] : memref<64xf32>
    %s = arith.addf %v, %l : f32
    memref.store %s, %b[%c0] : memref<64xf32>
  }
"""
    assert accumulation_interval(loops(body)[0], 4.0) == 7


def test_a_carried_value_waits_for_its_operators() -> None:
    body = """
  %r = scf.for %k = %c0 to %c8 step %c1 iter_args(%a = %x) -> (f32) {
    %s = arith.mulf %a, %x : f32
    %t = arith.addf %s, %x : f32
    scf.yield %t : f32
  }
"""
    assert accumulation_interval(loops(body)[0], 4.0) == 4 + 7


def test_entries_of_other_iterations_count_only_where_they_meet() -> None:
    """b[i] = b[i - 2] + x comes up two iterations later; b[i] = b[i + 2] + x never."""
    body = """
  scf.for %i = %c2 to %c8 step %c1 {{
    %e = arith.{op} %i, %c2 : index
    %l = memref.load %b[%e] : memref<64xf32>
    %s = arith.addf %l, %x : f32
    memref.store %s, %b[%i] : memref<64xf32>
  }}
"""
    assert accumulation_interval(loops(body.format(op="subi"))[0], 4.0) == 5
    assert accumulation_interval(loops(body.format(op="addi"))[0], 4.0) == 1


@pytest.mark.parametrize(("rows", "mask"), [(1, 3), (2, 1), (3, 7), (5, 3), (7, 1)])
def test_distances_are_those_of_the_sequence_written_out(rows: int, mask: int) -> None:
    loop = nest(rows, f"%n = arith.constant {mask} : index\n %p = arith.andi %k, %n : index\n "
                      "%q = arith.muli %p, %c8 : index\n %e = arith.addi %q, %i : index")
    accesses = [op for op in loop.walk() if op.name in ("memref.load", "memref.store")]
    sequence = [(k & mask) * 8 + i for k in range(7) for i in range(rows)]
    expected = min((later - at for at in range(len(sequence)) for later in range(at + 1, len(sequence))
                    if sequence[later] == sequence[at]), default=None)
    entries = [entry_of(access, {}) for access in accesses]   # pyright: ignore[reportArgumentType]
    assert reuse_distance(flattened_nest(loop), entries[1], entries[0], 100) == expected


def test_a_loop_beside_others_drains_before_it_comes_again() -> None:
    body = """
  scf.for %k = %c0 to %c8 step %c1 {
    memref.store %x, %m[%k, %k] : memref<8x8xf32>
    scf.for %i = %c0 to %c3 step %c1 {
      %l = memref.load %b[%i] : memref<64xf32>
      %s = arith.addf %l, %x : f32
      memref.store %s, %b[%i] : memref<64xf32>
    }
  }
"""
    assert accumulation_interval(loops(body)[1], 4.0) == 1
