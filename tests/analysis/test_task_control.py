"""What is counted of a task's control and multiplexers, in IR written by hand."""

from __future__ import annotations

from xdsl.dialects import arith, scf

from stc.analysis.data_multiplexers import multiplexer_luts
from stc.analysis.index_ranges import bits_of_index
from stc.analysis.task_control import task_control
from stc.dialects.dataflow import TaskOp
from stc.dialects.parsing import parse_module
from stc.platforms.control import START, ControlCost, CountedLoop, comparison, pipeline, sequence

CLOCK = 4.0

DESIGN = """
func.func @f() {{
  dataflow.kernel @k() {{
    dataflow.task @t ins() outs() {{
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c3 = arith.constant 3 : index
      %c4 = arith.constant 4 : index
      %c64 = arith.constant 64 : index
      %x = memref.alloc() : memref<64xf32>
      %square = memref.alloc() {{stc.partition = [[0, 0], [1, 0]]}} : memref<4x4xf32>
      %banks = memref.alloc() {{stc.partition = [[0, 0]]}} : memref<4xf32>
      {body}
      dataflow.yield
    }}
    dataflow.yield
  }}
  func.return
}}
"""

PIPELINED = "{stc.pipeline = 1 : i32}"
COPY = """%a = memref.load %x[%i] : memref<64xf32>
  memref.store %a, %x[%i] : memref<64xf32>"""


def task(body: str) -> TaskOp:
    return next(op for op in parse_module(DESIGN.format(body=body), "t.mlir").walk() if isinstance(op, TaskOp))


def loop(body: str, directives: str = PIPELINED, variable: str = "%i", trips: str = "%c64") -> str:
    return f"scf.for {variable} = %c0 to {trips} step %c1 {{ {body} }} {directives}"


def lut(body: str) -> int:
    return task_control(task(body), CLOCK).lut


def built(*listed: ControlCost) -> int:
    return -(-sum(each.lut for each in listed) // 2) + START.lut


def test_a_task_of_one_loop_is_that_loop() -> None:
    listed = pipeline([CountedLoop(64, 64)], 3, 1, 0)
    assert lut(loop(COPY)) == built(listed)


def test_loops_that_are_merged_are_one() -> None:
    nest = [CountedLoop(4, 4, is_used=False), CountedLoop(64, 64)]
    assert lut(loop(loop(COPY), "", "%k", "%c4")) == built(pipeline(nest, 3, 1, 0))


def test_loops_one_after_the_other_are_called() -> None:
    one = pipeline([CountedLoop(64, 64)], 3, 1, 0)
    called = sequence([], calls=2, cycles=0, channels=0, shared=0)
    assert lut(loop(COPY) + "\n" + loop(COPY, variable="%i")) == built(one, one, called)


def test_a_loop_around_others_is_a_state_machine() -> None:
    one = pipeline([CountedLoop(64, 64)], 3, 1, 0)
    called = sequence([CountedLoop(4, 4)], calls=2, cycles=0, channels=0, shared=0)
    assert lut(loop(loop(COPY) + "\n" + loop(COPY), "", "%k", "%c4")) == built(one, one, called)


def test_what_is_computed_between_loops_takes_states() -> None:
    divided = """%one = memref.load %x[%c0] : memref<64xf32>
      %q = arith.divf %one, %one : f32
      memref.store %q, %x[%c0] : memref<64xf32>"""
    assert lut(divided + "\n" + loop(COPY)) >= lut(loop(COPY)) + built(sequence([], 1, 12, 0, 0)) - START.lut


def test_index_arithmetic_by_its_bits() -> None:
    body = "%m = arith.andi %i, %c3 : index\n%e = arith.cmpi eq, %m, %c3 : index\nscf.if %e {" + COPY + "}"
    assert lut(loop(body)) == built(pipeline([CountedLoop(64, 64)], 3, 1, 0)) + comparison(2)


DIFFERENCE = """%m = arith.andi %i, %c3 : index
  %d = arith.subi %i, %c4 : index
  %a = memref.load %x[%m] : memref<64xf32>
  memref.store %a, %x[%d] : memref<64xf32>"""


def test_bits_of_an_index() -> None:
    """Of a variable up to 63, of its remainder, and of a difference that may be negative."""
    found = task(loop(DIFFERENCE))
    mask, difference = (next(op for op in found.walk() if isinstance(op, kind)) for kind in (arith.AndIOp, arith.SubiOp))
    variable = next(op for op in found.walk() if isinstance(op, scf.ForOp)).body.block.args[0]
    assert [bits_of_index(value) for value in (variable, mask.result, difference.result)] == [6, 2, 7]


BANKED = """%m = arith.andi %i, %c3 : index
  %a = memref.load %banks[{load}] : memref<4xf32>
  memref.store %a, %banks[{store}] : memref<4xf32>"""


def copies(body: str, trips: str = "%c4") -> str:
    return loop(body, "{stc.unroll = 0 : i32}", "%l", trips)


def test_an_iteration_that_reads_another_bank_chooses_among_them() -> None:
    assert multiplexer_luts(task(loop(BANKED.format(load="%m", store="%c0")))) == 32
    assert multiplexer_luts(task(loop(BANKED.format(load="%c0", store="%m")))) == 4
    assert multiplexer_luts(task(loop(BANKED.format(load="%c0", store="%c1")))) == 0


def test_copies_that_have_a_bank_each_choose_nothing() -> None:
    lanes = copies("""%a = memref.load %banks[%l] : memref<4xf32>
      memref.store %a, %banks[%l] : memref<4xf32>""")
    assert multiplexer_luts(task(loop(lanes))) == 0


def test_a_bank_that_several_copies_store_to_chooses_among_them() -> None:
    """Each of 4 banks has an entry of one of 4 copies, each of which says which of 4 banks it is for."""
    lanes = copies("""%a = memref.load %x[%l] : memref<64xf32>
      %p = arith.addi %i, %l : index
      %q = arith.andi %p, %c3 : index
      memref.store %a, %banks[%q] : memref<4xf32>""")
    assert multiplexer_luts(task(loop(lanes))) == 4 * 32 + 4 * 4


def test_constants_need_no_multiplexer() -> None:
    assert multiplexer_luts(task(loop("""%z = arith.constant 0.0 : f32
      memref.store %z, %banks[%c0] : memref<4xf32>
      %a = memref.load %x[%i] : memref<64xf32>
      memref.store %a, %banks[%c0] : memref<4xf32>"""))) == 0


def test_a_bank_that_data_choose_is_any() -> None:
    body = """%f = memref.load %x[%i] : memref<64xf32>
      %n = arith.fptosi %f : f32 to i32
      %j = arith.index_cast %n : i32 to index
      %a = memref.load %banks[%j] : memref<4xf32>
      memref.store %a, %x[%i] : memref<64xf32>"""
    assert multiplexer_luts(task(loop(body))) == 32


def test_dimensions_that_one_variable_moves_along_meet_in_few_banks() -> None:
    """4 of the 16 banks."""
    body = """%a = memref.load %square[%k, %k] : memref<4x4xf32>
      memref.store %a, %x[%i] : memref<64xf32>"""
    assert multiplexer_luts(task(loop(loop(body), "", "%k", "%c4"))) == 32


def test_a_loop_far_outside_chooses_as_one_nearby() -> None:
    """Whatever runs inside."""
    body = """%a = memref.load %banks[%k] : memref<4xf32>
      memref.store %a, %x[%i] : memref<64xf32>"""
    assert multiplexer_luts(task(loop(loop(loop(body), "", "%j"), "", "%k", "%c4"))) == 32


def test_a_pipelined_loop_in_another_is_no_module_of_its_own() -> None:
    assert lut(loop(loop(COPY, variable="%k"))) > 0


def test_what_iterations_hand_on() -> None:
    carried = """%z = arith.constant 0 : i32
      %r = scf.for %i = %c0 to %c64 step %c1 iter_args(%s = %z) -> (i32) {
        %t = arith.xori %s, %z : i32
        scf.yield %t : i32
      } {stc.pipeline = 1 : i32}"""
    assert lut(carried) >= built(pipeline([CountedLoop(64, 64, is_used=False)], 2, 1, 0, carried=[32])) - 9


def test_flip_flops_are_those_of_control_and_of_tokens() -> None:
    """A state, that it is over, two for each stage but the first, the counter: an array of the task is counted by itself."""
    depth = 3
    assert task_control(task(loop(COPY)), CLOCK).ff == 1 + 1 + 2 * (depth - 1) + 7 + START.ff


def test_a_bank_that_two_values_are_stored_to_chooses_between_them() -> None:
    """A constant first hides none."""
    stores = """%z = arith.constant 0.0 : f32
      memref.store %z, %banks[%c0] : memref<4xf32>
      %a = memref.load %x[%i] : memref<64xf32>
      memref.store %a, %banks[%c0] : memref<4xf32>
      %b = arith.addf %a, %a : f32
      memref.store %b, %banks[%c0] : memref<4xf32>"""
    assert multiplexer_luts(task(loop(stores))) == 16


def test_banks_are_looked_for_in_all_iterations() -> None:
    """2 of the 4 banks in the first 512."""
    body = """%c8 = arith.constant 8 : index
      %k = arith.shrui %i, %c8 : index
      %a = memref.load %banks[%k] : memref<4xf32>
      memref.store %a, %x[%c0] : memref<64xf32>"""
    assert multiplexer_luts(task("%c1024 = arith.constant 1024 : index\n" + loop(body, trips="%c1024"))) == 32


def test_indices_that_each_copy_knows_take_nothing() -> None:
    lanes = copies("""%p = arith.addi %l, %c1 : index
      %q = arith.addi %p, %c1 : index
      %a = memref.load %x[%q] : memref<64xf32>
      memref.store %a, %x[%q] : memref<64xf32>""")
    alone = copies("""%a = memref.load %x[%l] : memref<64xf32>
      memref.store %a, %x[%l] : memref<64xf32>""")
    assert lut(loop(lanes)) == lut(loop(alone))
