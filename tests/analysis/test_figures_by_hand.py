"""Intervals, depths and operators of whole loops, and blocks of memories, derived on paper from the published tables."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from xdsl.dialects import arith, math
from xdsl.dialects.builtin import BFloat16Type, Float16Type, Float64Type, FloatAttr, IntegerType, bf16, f16, f32, f64
from xdsl.ir import Attribute, Block, Operation

from stc.analysis.loop_estimates import LoopEstimate, innermost_loops, loop_estimate
from stc.analysis.operator_library import WIRES, hardware_cost, operators_of
from stc.analysis.resource_figures import ResourceCount, fifo, local_memory
from stc.analysis.resources import kernel_parts, task_operators
from stc.diagnostics import CompileError
from stc.dialects.dataflow import KernelOp, TaskOp
from stc.dialects.parsing import parse_module
from stc.platforms import control
from stc.platforms.operators import find_operator
from stc.scalars.table import EMITTED, ROWS, Unit

CLOCK = 4.0
LOAD, STORE = 2, 1

DESIGN = """
func.func @f() {{
  dataflow.kernel @k() {{
    dataflow.task @t ins() outs() {{
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c2 = arith.constant 2 : index
      %c3 = arith.constant 3 : index
      %c6 = arith.constant 6 : index
      %c24 = arith.constant 24 : index
      %n = arith.constant {n} : index
      %zero = arith.constant 0.0 : f32
      %x = memref.alloc() {{stc.partition = [[0, {ways}]]}} : memref<256xf32>
      %y = memref.alloc() : memref<256xf32>
      %one = memref.alloc() : memref<1xf32>
      %sums = memref.alloc() : memref<{n}xf32>
      %banked = memref.alloc() {{stc.partition = [[0, 0]]}} : memref<{n}xf32>
      %ints = memref.alloc() : memref<256x{integer}>
      %counts = memref.alloc() : memref<256x{integer}>
      {body}
      dataflow.yield
    }}
    dataflow.yield
  }}
  func.return
}}
"""


def task(body: str, n: int = 1, ways: int = 2, integer: str = "i32") -> TaskOp:
    module = parse_module(DESIGN.format(body=body, n=n, ways=ways, integer=integer), "t.mlir")
    return next(op for op in module.walk() if isinstance(op, TaskOp))


def estimate(body: str, clock_ns: float = CLOCK, **options: Any) -> LoopEstimate:
    found = task(body, **options)
    return loop_estimate(next(innermost_loops(found)), found, clock_ns)


def loop(body: str, trip: str = "%c24", variable: str = "%i") -> str:
    return f"scf.for {variable} = %c0 to {trip} step %c1 {{ {body} }}"


def sum_into(buffer: str, index: str, shape: int, value: str = "%v") -> str:
    return f"""%s = memref.load {buffer}[{index}] : memref<{shape}xf32>
      %t = arith.addf %s, {value} : f32
      memref.store %t, {buffer}[{index}] : memref<{shape}xf32>"""


VALUE = "%v = memref.load %y[%i] : memref<256xf32>"

# Loop-carried dependences ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("clock_ns", "adder"), [(3.33, 7), (4.0, 7), (5.0, 5), (2.5, 10), (2.0, 12)])
def test_a_float_sum_in_one_place(clock_ns: float, adder: int) -> None:
    """2.5 and 2 ns are not published: as many stages as take the 7 x 3.33 = 23.31 ns of the published adder."""
    found = estimate(loop(VALUE + sum_into("%one", "%c0", 1)), clock_ns)
    assert (found.ii, found.depth) == (adder, LOAD + adder + STORE)
    assert found.origin == ("assumed" if clock_ns < 3.33 else "published")


@pytest.mark.parametrize(("sums", "in_memory", "in_registers"),
                         [(1, 7, 7), (2, 5, 4), (6, 2, 2), (7, 2, 1), (8, 2, 1), (13, 1, 1)])
def test_independent_sums_in_turn(sums: int, in_memory: int, in_registers: int) -> None:
    """ceil(10 / K) through a memory (load 2, adder 7, store 1), ceil(7 / K) where each sum is a register."""
    def nest(buffer: str) -> str:
        return loop(loop(VALUE.replace("%i", "%k") + sum_into(buffer, "%i", sums), "%n"), variable="%k")

    assert estimate(nest("%sums"), n=sums).ii == in_memory
    assert estimate(nest("%banked"), n=sums).ii == in_registers


INDEX = """%d = memref.load %ints[%i] : memref<256xi32>
      %e = arith.index_cast %d : i32 to index"""


@pytest.mark.parametrize("index", ["", "%j = arith.addi %e, %i : index", "%j = arith.muli %e, %i : index"])
def test_an_entry_that_data_decide_may_be_the_same_in_the_next_iteration(index: str) -> None:
    """A histogram of floats: load 2, adder 7, store 1; the position itself takes a load more."""
    found = estimate(loop(VALUE + INDEX + index + sum_into("%x", "%j" if index else "%e", 256)), ways=1)
    assert (found.ii, found.depth, found.limit.kind) == (10, LOAD + LOAD + 7 + STORE, "accumulation")


def test_a_histogram_of_integers_waits_for_the_memory_alone() -> None:
    body = INDEX + """
      %j = arith.addi %e, %i : index
      %s = memref.load %counts[%j] : memref<256xi32>
      %t = arith.addi %s, %d : i32
      memref.store %t, %counts[%j] : memref<256xi32>"""
    assert (estimate(loop(body)).ii, estimate(loop(body)).depth) == (LOAD + STORE, 2 * LOAD + STORE)
    body = body.replace("%counts", "%ints")   # where the positions themselves change, their load is waited for, too
    assert estimate(loop(body)).ii == 2 * LOAD + STORE


def test_entries_at_positions_unknown_to_each_other() -> None:
    """x[p + i] = x[q + i] + v, with p and q from elsewhere: q may be p - 1."""
    body = """%p0 = memref.load %ints[%c0] : memref<256xi32>
      %p = arith.index_cast %p0 : i32 to index
      %q0 = memref.load %ints[%c1] : memref<256xi32>
      %q = arith.index_cast %q0 : i32 to index
    """ + loop(VALUE + """
      %a = arith.addi %p, %i : index
      %b = arith.addi %{read}, %i : index
      %s = memref.load %x[%b] : memref<256xf32>
      %t = arith.addf %s, %v : f32
      memref.store %t, %x[%a] : memref<256xf32>""")
    assert estimate(body.replace("{read}", "q"), ways=1).ii == 10
    assert estimate(body.replace("{read}", "p"), ways=1).ii == 1


def test_an_integer_sum_of_floats() -> None:
    """The conversion (3) is not waited for; the addition is chained."""
    found = estimate(loop(VALUE + """
      %w = arith.fptosi %v : f32 to i32
      %s = memref.load %ints[%c0] : memref<256xi32>
      %t = arith.addi %s, %w : i32
      memref.store %t, %ints[%c0] : memref<256xi32>"""))
    assert (found.ii, found.depth, found.origin) == (1, LOAD + 3 + STORE, "assumed")


def test_a_float_sum_of_integers() -> None:
    found = estimate(loop("%w = memref.load %ints[%i] : memref<256xi32> %v = arith.sitofp %w : i32 to f32"
                          + sum_into("%one", "%c0", 1)))
    assert (found.ii, found.depth) == (7, LOAD + 3 + 7 + STORE)


def test_a_half_made_a_float() -> None:
    """Two stages (assumed), longer with the product behind them than the load."""
    found = estimate(loop(VALUE + """
      %h = arith.constant 1.5 : f16
      %e = arith.extf %h : f16 to f32
      %square = arith.mulf %e, %e : f32
      %term = arith.mulf %square, %v : f32""" + sum_into("%one", "%c0", 1).replace("%v", "%term")))
    assert (found.ii, found.depth, found.origin) == (7, 2 + 4 + 4 + 7 + STORE, "assumed")


@pytest.mark.parametrize("operator", ["maximumf", "minimumf", "maxnumf", "minnumf"])
def test_a_maximum_in_one_place(operator: str) -> None:
    found = estimate(loop(VALUE + sum_into("%one", "%c0", 1).replace("addf", operator)))
    assert (found.ii, found.depth) == (2, LOAD + 2 + STORE)


def test_loops_of_one_iteration_carry_nothing() -> None:
    inner = loop(VALUE + sum_into("%one", "%c0", 1), "%c1")
    assert estimate(loop(inner, "%c1", "%k")).ii == 1
    assert estimate(loop(inner, "%c3", "%k")).ii == 7    # flattened: three additions to one entry


def test_a_loop_that_is_not_flattened() -> None:
    """With a store beside it the inner loop starts anew: three rows, each added to once before the drain."""
    beside = "memref.store %zero, %y[%k] : memref<256xf32>"
    inner = loop(VALUE + sum_into("%sums", "%i", 3), "%n")
    assert estimate(loop(beside + inner, variable="%k"), n=3).ii == 1
    assert estimate(loop(inner, variable="%k"), n=3).ii == 4   # ceil(10 / 3)


# Memory ports ------------------------------------------------------------------------------------------------------------


def reads(scale: int, second: int, trip: str = "%c6") -> str:
    """x[scale (3 i + u)] and, `second` further, one more, for three copies u."""
    return loop(f"""
      %scale = arith.constant {scale} : index
      %far = arith.constant {second} : index
      scf.for %u = %c0 to %c3 step %c1 {{
        %a = arith.muli %i, %c3 : index
        %b = arith.addi %a, %u : index
        %e = arith.muli %b, %scale : index
        %g = arith.addi %e, %far : index
        %p = memref.load %x[%e] : memref<256xf32>
        %q = memref.load %x[%g] : memref<256xf32>
        %r = arith.addf %p, %q : f32
        memref.store %r, %y[%b] : memref<256xf32>
      }} {{stc.unroll = 0 : i32}}""", trip)


@pytest.mark.parametrize(
    ("scale", "second", "ways", "in_one_bank"),
    [
        (1, 0, 2, 2),    # 3 i, 3 i + 1, 3 i + 2: two of them alike modulo 2; the second read is the first
        (1, 3, 2, 3),    # six neighbours over two banks
        (2, 6, 2, 6),    # even entries only: one bank does it all
        (2, 7, 2, 3),    # three even, three odd
        (2, 6, 4, 3),    # 0 2 0 2 0 2 modulo 4
        (1, 1, 3, 2),    # 3 i ... 3 i + 3: four entries (shared ones are read once)
        (5, 100, 1, 6),
        (1, 3, 8, 1),
    ],
)
def test_reads_of_one_bank(scale: int, second: int, ways: int, in_one_bank: int) -> None:
    """Two ports a bank and cycle; %y, not partitioned, takes three stores: two cycles at least."""
    found = estimate(reads(scale, second), ways=ways)
    expected = max(-(-in_one_bank // 2), 2)
    assert (found.ii, found.limit.kind) == (expected, "memory ports")
    assert found.depth == LOAD + 7 + STORE + expected - 1
    if in_one_bank > 4:
        assert f"%x is accessed {in_one_bank} times in one bank" in found.limit.reason


def test_reads_at_positions_that_data_decide_may_share_a_bank() -> None:
    body = loop("""scf.for %u = %c0 to %c6 step %c1 {
        %d = memref.load %ints[%u] : memref<256xi32>
        %e = arith.index_cast %d : i32 to index
        %g = arith.addi %e, %u : index
        %p = memref.load %x[%g] : memref<256xf32>
        memref.store %p, %one[%c0] : memref<1xf32>
      } {stc.unroll = 0 : i32}""")
    assert estimate(body, ways=6).ii == 3   # six accesses, perhaps all in one of the six banks


# Operators ---------------------------------------------------------------------------------------------------------------


def test_exponential_and_division() -> None:
    body = loop(VALUE + """%e = math.exp %v : f32
      %q = arith.divf %e, %v : f32
      memref.store %q, %y[%i] : memref<256xf32>""")
    found = estimate(body)
    assert (found.ii, found.depth, found.chain_text) == (1, 2 + 14 + 12 + 1, "load 2 + exp 14 + divf 12 + store 1")
    assert task_operators(task(body)) == Counter({"fexp_f32_full_dsp": 1, "fdiv_f32_no_dsp": 1})


@pytest.mark.parametrize(("operator", "comparisons"), [("maximumf", 2), ("minimumf", 2), ("maxnumf", 1), ("minnumf", 1)])
def test_a_maximum_that_keeps_what_is_no_number_compares_twice(operator: str, comparisons: int) -> None:
    """It is emitted as `(a > b || a != a) ? a : b`."""
    body = loop(VALUE + sum_into("%one", "%c0", 1).replace("addf", operator))
    assert task_operators(task(body)) == Counter({"fcmp_f32_no_dsp": comparisons})


def test_a_chain_of_selections_takes_the_comparison_alone() -> None:
    body = loop(VALUE + """%c = arith.cmpf olt, %v, %zero : f32
      %p = arith.select %c, %v, %zero : f32
      %q = arith.select %c, %p, %v : f32
      memref.store %q, %y[%i] : memref<256xf32>""")
    assert estimate(body).depth == LOAD + 2 + STORE


@pytest.mark.parametrize(
    ("width", "operation", "stages", "dsp"),
    [
        (8, "muli", 1, 0), (16, "muli", 1, 1), (32, "muli", 2, 3), (64, "muli", 5, 16),
        (8, "divsi", 12, 0), (16, "remui", 20, 0), (32, "divui", 36, 0), (64, "remsi", 68, 0),
        (8, "addi", 0, 0), (64, "maxsi", 0, 0), (32, "shrsi", 0, 0),
    ],
)
def test_integers_on_data_take_time_and_space(width: int, operation: str, stages: int, dsp: int) -> None:
    body = loop(f"""%a = memref.load %ints[%i] : memref<256xi{width}>
      %b = arith.{operation} %a, %a : i{width}
      memref.store %b, %ints[%i] : memref<256xi{width}>""")
    found = estimate(body, integer=f"i{width}")
    assert (found.ii, found.depth) == (1, LOAD + stages + STORE)
    (name, count), = task_operators(task(body, integer=f"i{width}")).items()
    cost = find_operator(name, CLOCK)
    assert (count, cost.dsp) == (1, dsp) and cost.lut >= min(width, 6)


@pytest.mark.parametrize(
    ("wide", "narrow", "extension", "operators"),
    [
        (8, 4, "extsi", {"mul_u4_u8": 1, "int_logic_64": 1}),
        (8, 8, "extsi", {"mul_u8_u9": 1, "int_logic_64": 1}),
        (8, 8, "extui", {"mul_u9_u11": 1}),  # with a sign both have 9 bits
        (27, 18, "extsi", {"mul_u9_u11": 1}),
        (28, 8, "extsi", {"mul_i32": 1, "int_logic_64": 1}),
        (27, 19, "extsi", {"mul_i32": 1, "int_logic_64": 1}),
    ],
)
def test_a_product_takes_the_multiplier_of_its_factors_which_also_adds(
    wide: int, narrow: int, extension: str, operators: dict[str, int]
) -> None:
    """Factors count as wide as they were before they were extended; one DSP multiplies 27 by 18 bits and adds 48."""
    body = loop(f"""%s = memref.load %ints[%i] : memref<256xi48>
      %a = arith.trunci %s : i48 to i{wide}
      %b = arith.trunci %s : i48 to i{narrow}
      %c = arith.{extension} %a : i{wide} to i47
      %d = arith.{extension} %b : i{narrow} to i47
      %p = arith.muli %c, %d : i47
      %q = arith.extsi %p : i47 to i48
      %t = arith.addi %q, %s : i48
      memref.store %t, %ints[%i] : memref<256xi48>""")
    assert task_operators(task(body, integer="i48")) == Counter(operators)


@pytest.mark.parametrize(
    ("wide", "narrow", "made_of", "operators", "dsp", "lut"),
    [
        (8, 4, "lut", {"mul_u4_u8": 1, "int_logic_64": 1}, 0, 40),
        (8, 8, "lut", {"mul_u8_u9": 1, "int_logic_64": 1}, 0, 49),
        (16, 11, "lut", {"mul_lut_16_16": 1, "int_logic_64": 1}, 0, 16 * 16),
        (27, 18, "lut", {"mul_lut_27_18": 1, "int_logic_64": 1}, 0, 27 * 18),
        (28, 8, "lut", {"mul_lut_32_32": 1, "int_logic_64": 1}, 0, 32 * 32),
        (33, 8, "lut", {"mul_lut_64_64": 1, "int_logic_64": 1}, 0, 64 * 64),
        (8, 4, "dsp", {"mul_u9_u11": 1, "int_logic_64": 1}, 1, 6),
        (28, 8, "dsp", {"mul_i32": 1, "int_logic_64": 1}, 3, 50),
    ],
)
def test_a_product_takes_the_multiplier_that_it_is_bound_to(
    wide: int, narrow: int, made_of: str, operators: dict[str, int], dsp: int, lut: int
) -> None:
    """Also where the vendor's tool would take the other; bound to a DSP it may not be added there, either (UG1399, bind_op)."""
    body = loop(f"""%s = memref.load %ints[%i] : memref<256xi48>
      %a = arith.trunci %s : i48 to i{wide}
      %b = arith.trunci %s : i48 to i{narrow}
      %c = arith.extsi %a : i{wide} to i48
      %d = arith.extsi %b : i{narrow} to i48
      %p = arith.muli %c, %d {{stc.multipliers = "{made_of}"}} : i48
      %t = arith.addi %p, %s : i48
      memref.store %t, %ints[%i] : memref<256xi48>""")
    made = task(body, integer="i48")
    assert task_operators(made) == Counter(operators)
    cost = next(hardware_cost(op, CLOCK) for op in made.walk() if isinstance(op, arith.MuliOp))
    assert (cost.dsp, cost.lut, cost.origin) == (dsp, lut, "assumed")


def test_a_product_that_is_also_used_otherwise_is_added_beside_its_multiplier() -> None:
    body = loop("""%s = memref.load %ints[%i] : memref<256xi16>
      %p = arith.muli %s, %s : i16
      %t = arith.addi %p, %s : i16
      %u = arith.xori %p, %t : i16
      memref.store %u, %ints[%i] : memref<256xi16>""")
    assert task_operators(task(body, integer="i16")) == Counter({"mul_u9_u11": 1, "int_logic_16": 2})


def test_bits_that_a_constant_moves_take_no_operator():
    """Two weights of 4 bits beside one another: both are cut out of a byte by wires, and 27 - 23 bits are added;
    by a number that is not known a shifter moves them."""
    body = loop("""%s = memref.load %ints[%i] : memref<256xi8>
      %four = arith.constant 4 : i8
      %far = arith.constant 23 : i32
      %high = arith.shrsi %s, %four : i8
      %up = arith.shli %s, %four : i8
      %low = arith.shrsi %up, %four : i8
      %wide = arith.extsi %high : i8 to i32
      %other = arith.extsi %low : i8 to i32
      %moved = arith.shli %wide, %far : i32
      %pair = arith.addi %moved, %other : i32
      %cut = arith.trunci %pair : i32 to i8
      %unknown = arith.shli %cut, %cut : i8
      %three = arith.constant 3 : i8
      %kept = arith.andi %unknown, %three : i8
      memref.store %kept, %ints[%i] : memref<256xi8>""")
    assert task_operators(task(body, integer="i8")) == Counter({"int_logic_8": 2})


def scalar(kind: type[Operation], element: Attribute) -> Operation:
    """An operation of this kind on values of one type, not verified."""
    return kind.create(operands=Block(arg_types=[element, element]).args, result_types=[element])


@pytest.mark.parametrize("element", [f16, bf16, f64])
@pytest.mark.parametrize("kind", [arith.AddfOp, arith.MulfOp, arith.DivfOp, arith.MaximumfOp])
def test_other_floats_are_not_taken_for_f32(
    kind: type[Operation], element: Float16Type | BFloat16Type | Float64Type
) -> None:
    op = scalar(kind, element)
    if (kind, element) == (arith.MulfOp, f64):
        assert (hardware_cost(op, CLOCK).stages, hardware_cost(op, CLOCK).dsp) == (8, 8)   # published
        return
    for ask in (lambda: hardware_cost(op, CLOCK), lambda: operators_of(op)):
        with pytest.raises(CompileError, match=f"no figures .* on {element}; accepted: operations on f32"):
            ask()


def test_a_division_of_one_is_a_reciprocal() -> None:
    """Published: 14 stages, 8 DSPs, 115 LUTs. Of another number, or by one that is known, it is none."""
    one, two = (arith.ConstantOp(FloatAttr(value, f32)).result for value in (1.0, 2.0))
    value = Block(arg_types=[f32]).args[0]
    cost = hardware_cost(arith.DivfOp(one, value), CLOCK)
    assert (cost.stages, cost.dsp, cost.lut, cost.origin) == (14, 8, 115, "published")
    for others in ((two, value), (value, one), (one, two)):
        assert "frecip_f32_full_dsp" not in operators_of(arith.DivfOp(*others))


def test_nothing_that_is_computed_is_free() -> None:
    """Every scalar operation that has a C++ form: it has a figure, or is named as a wire."""
    conversions = {arith.TruncFOp, arith.ExtFOp}   # to and from types that are refused
    for kind in EMITTED - WIRES - conversions:
        element = f32 if ROWS[kind].floats else IntegerType(32)
        cost = hardware_cost(scalar(kind, element), CLOCK)
        assert cost.lut > 0 and (cost.stages > 0 or ROWS[kind].unit is Unit.LOGIC), kind
    with pytest.raises(CompileError, match="no figures"):
        hardware_cost(scalar(math.FPowIOp, f32), CLOCK)
    with pytest.raises(CompileError, match="no figures"):
        hardware_cost(scalar(arith.AddiOp, IntegerType(128)), CLOCK)


# Memories ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("bits", "entries", "banks", "expected"),
    [
        (32, 31, 1, ResourceCount(lut=32, ff=32)), (32, 32, 1, ResourceCount(lut=32, ff=32)), (32, 33, 1, ResourceCount(bram18=1)),
        (32, 511, 1, ResourceCount(bram18=1)), (32, 512, 1, ResourceCount(bram18=1)), (32, 513, 1, ResourceCount(bram18=2)),
        (16, 1024, 1, ResourceCount(bram18=1)), (16, 1025, 1, ResourceCount(bram18=2)),
        (8, 2048, 1, ResourceCount(bram18=1)), (8, 2049, 1, ResourceCount(bram18=2)),
        (64, 512, 1, ResourceCount(bram18=2)), (64, 513, 1, ResourceCount(bram18=4)),
        (8, 64, 1, ResourceCount(lut=16, ff=8)), (8, 65, 1, ResourceCount(lut=32, ff=8)), (8, 128, 1, ResourceCount(lut=32, ff=8)),
        (8, 129, 1, ResourceCount(bram18=1)), (32, 100, 3, ResourceCount(bram18=3)), (32, 96, 3, ResourceCount(lut=96, ff=96)),
    ],
)
def test_arrays_one_below_at_and_above_a_step(bits: int, entries: int, banks: int, expected: ResourceCount) -> None:
    assert local_memory(bits, entries, banks) == expected


@pytest.mark.parametrize(
    ("bits", "depth", "lut", "bram18", "uram"),
    [
        (32, 2, 32, 0, 0), (32, 32, 32, 0, 0), (32, 33, 40, 0, 0), (32, 64, 40, 0, 0), (32, 65, 80, 0, 0), (32, 128, 80, 0, 0),
        (32, 129, 0, 1, 0), (32, 512, 0, 1, 0), (32, 513, 0, 2, 0), (32, 1024, 0, 2, 0), (32, 1025, 0, 3, 0),
        (512, 2, 512, 0, 0), (512, 3, 592, 0, 0), (512, 128, 1184, 0, 0), (512, 129, 0, 15, 0), (512, 513, 0, 29, 0),
        (512, 2047, 0, 57, 0), (512, 2048, 0, 0, 8), (512, 4096, 0, 0, 8), (512, 4097, 0, 0, 16), (1, 1024, 32, 0, 0),
    ],
)
def test_fifos_one_below_at_and_above_a_step(bits: int, depth: int, lut: int, bram18: int, uram: int) -> None:
    """Shift registers: a LUT per bit and 32 tokens; distributed RAM: 8 for 7 bits and 64 tokens; besides the control of each."""
    found, own = fifo(bits, depth), control.fifo(depth, in_blocks=bram18 + uram > 0)
    assert (found.lut - own.lut, found.bram18, found.uram) == (lut, bram18, uram)


@pytest.mark.parametrize(
    ("shape", "count", "expected"),
    [
        ("24", 1, ResourceCount(lut=32, ff=32)), ("24", 2, ResourceCount(lut=64, ff=64)),     # 768 bits each stay distributed
        ("100", 1, ResourceCount(bram18=1)), ("100", 2, ResourceCount(bram18=2)), ("100", 3, ResourceCount(bram18=3)),
        ("1", 2, ResourceCount(ff=64)),
    ],
)
def test_rings_are_as_many_memories_as_blocks(shape: str, count: int, expected: ResourceCount) -> None:
    module = parse_module(f"""func.func @f() {{ dataflow.kernel @k() {{
      %ring = stream.buffer @ring : !stream.block<memref<{shape}xf32>, count: {count}>
      dataflow.yield }} func.return }}""", "k.mlir", verify=False)
    kernel = next(op for op in module.walk() if isinstance(op, KernelOp))
    assert kernel_parts(kernel, CLOCK)["rings of blocks"] == expected
