"""What an operation of a task costs in hardware: pipeline stages and resources, from published reports.

Where no report has an operator, its cost is composed of those that have one, along the way vendor libraries compute it, or stands
in data/assumed_operators.csv; such figures are *assumed*, all others *published*. Data are f32 or integers. What is computed and
has no figure is refused: nothing counts as free by default but what is named here (WIRES, index arithmetic, booleans).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from math import prod
from typing import NoReturn

from xdsl.dialects import arith, memref, vector
from xdsl.dialects.builtin import AnyFloat, Float16Type, Float32Type, Float64Type, IntegerType, VectorType
from xdsl.dialects.linalg.ops import GenericOp
from xdsl.dialects.utils import FastMathFlag
from xdsl.ir import Attribute, Operation, SSAValue

from stc.analysis.adder_trees import holds_a_tree
from stc.analysis.integer_bits import bits_of_value, low_zeros
from stc.analysis.loops import integer_constant
from stc.analysis.reciprocals import constant_divisor, exact_factor, is_reciprocal
from stc.diagnostics import CompileError
from stc.dialects.facts import ADDERS, MULTIPLIERS, REGISTERED, Multipliers
from stc.dialects.stream import ReadOp, WriteOp
from stc.platforms.operators import ASSUMED, OperatorCost, find_operator
from stc.scalars.packed_products import FACTOR_BITS, OTHER_FACTOR_BITS, SUM_BITS
from stc.scalars.table import MULTIPLY, RECIPROCAL, ROWS, Unit


@dataclass(frozen=True)
class HardwareCost:
    """Cycles from operands to result, and resources of one instance. `origin` is published, assumed, or none for wires."""

    stages: int
    dsp: int = 0
    ff: int = 0
    lut: int = 0
    origin: str = "none"

    def then(self, other: HardwareCost) -> HardwareCost:
        """Both, one after the other."""
        origin = ASSUMED if ASSUMED in (self.origin, other.origin) else self.origin
        return HardwareCost(
            self.stages + other.stages, self.dsp + other.dsp, self.ff + other.ff, self.lut + other.lut, origin
        )

    def times(self, copies: int) -> HardwareCost:
        """So many of them side by side."""
        return HardwareCost(self.stages, self.dsp * copies, self.ff * copies, self.lut * copies, self.origin)


WIRE = HardwareCost(0)
"""Arithmetic on indices and booleans, selections, moves between lanes: chained into the cycle of what they feed."""

MEMORY_LOAD = HardwareCost(2)
"""Address, then data: local memory of block RAM, as Vitis HLS schedules it."""

MEMORY_STORE = HardwareCost(1)
STREAM_ACCESS = HardwareCost(1)

FORWARD = HardwareCost(1)
"""The choice between what this iteration stored under a condition and what memory holds (fitted, benchmarks/vitis_loops.py)."""

_COUNTERS = ((12, 0), (18, 1))
_WIDE_COUNTER = 3


def counter_stages(trips: int) -> int:
    """Cycles before an iteration's first operation in which its loop's counter, conditions and addresses are computed.

    By the bits that count `trips`, all loops of a flattened nest together: fitted to the published depths of
    benchmarks/data/vitis_loops.csv, at 3.33 ns.
    """
    return next((stages for bits, stages in _COUNTERS if trips.bit_length() <= bits), _WIDE_COUNTER)


def head_start(op: Operation) -> int:
    """Cycles by which the next addition of a reassociated sum starts before this one leaves its adder.

    Fitted to the published interval of 4 for the adder of 5 stages (benchmarks/data/vitis_loops.csv, at 3.33 ns).
    """
    return 1 if may_reassociate(op) else 0


ADD_IN_LUTS = "fadd_f32_no_dsp"
"""Fewer stages than the adder of DSPs, too: the vendor's tool takes it by itself for sums that it may reassociate."""

WIRES = frozenset({arith.ConstantOp, *(kind for kind, row in ROWS.items() if row.unit is Unit.WIRES)})
"""What takes no operator; multiplexers are not counted (stc.analysis.resource_figures says so)."""

PRODUCTS = {
    (8, 4): "mul_u4_u8",
    (9, 8): "mul_u8_u9",
    (FACTOR_BITS, OTHER_FACTOR_BITS): "mul_u9_u11",
    (32, 32): "mul_i32",
    (64, 64): "mul_u64_u66",
}
"""Integer multipliers by the bits of both factors: the next wider that is published. One DSP takes 27 x 18 bits, as it does the
published 9 x 11; 32 x 32: assumed."""

WIDEST_OF_LUTS = 9
"""Bits of a factor up to which the vendor's tool takes LUTs by itself (the published reports of 4 by 8 and 8 by 9 bits)."""

IN_A_CHAIN = "dsp_chain_48"
"""A DSP that adds its product to the sum of the one below it, and keeps that in its register."""

_ONE_DSP = PRODUCTS[FACTOR_BITS, OTHER_FACTOR_BITS]

_NO_DSP = {factors: name for factors, name in PRODUCTS.items() if max(factors) <= WIDEST_OF_LUTS}
_PRODUCTS_OF: Mapping[Multipliers | None, Mapping[tuple[int, int], str]] = {
    None: PRODUCTS,
    "pairs": PRODUCTS,
    "dsp": {factors: name for factors, name in PRODUCTS.items() if factors not in _NO_DSP},
    "lut": _NO_DSP
    | {
        (16, 16): "mul_lut_16_16",
        (FACTOR_BITS, OTHER_FACTOR_BITS): "mul_lut_27_18",
        (32, 32): "mul_lut_32_32",
        (64, 64): "mul_lut_64_64",
    },
}
"""The multipliers of a product by what it is said to be made of (`MULTIPLIERS`). Those of LUTs that are not published: assumed."""

_OF_BITS = (arith.ShLIOp, arith.ShRSIOp, arith.ShRUIOp, arith.AndIOp, arith.OrIOp)
"""What moves, drops or sets bits where one operand is a constant: nothing is computed then."""

WIDTHS = (8, 16, 32, 64)
"""Of dividers, and of logic on integers."""


def hardware_cost(op: Operation, clock_ns: float) -> HardwareCost:
    """The cost of one instance of `op` in a design scheduled for cycles of `clock_ns`; CompileError where there is no figure."""
    match op:
        case memref.LoadOp() | vector.LoadOp():
            return MEMORY_LOAD
        case memref.StoreOp() | vector.StoreOp():
            return MEMORY_STORE
        case ReadOp() | WriteOp():
            return STREAM_ACCESS
        case _:
            return _chain(_parts(op), _is_composed(op), clock_ns).times(_copies(op))


def _is_composed(op: Operation) -> bool:
    """Whether no published operator is the whole of `op`."""
    row = ROWS.get(type(op))
    return isinstance(op, arith.MuliOp) or (row is not None and row.floats is not None and not row.is_published)


def short_adder_cost(op: Operation, clock_ns: float) -> HardwareCost:
    """The cost of `op`, a float addition, built for few stages and without DSPs."""
    return _cost(find_operator(ADD_IN_LUTS, clock_ns)).times(_copies(op))


def adders_of(generic: GenericOp) -> list[arith.AddfOp]:
    """The additions of floats in the body of `generic`."""
    return [op for op in generic.body.block.ops if isinstance(op, arith.AddfOp)]


def may_reassociate(op: Operation) -> bool:
    """Whether `op` is a float addition or subtraction that the vendor's tool may take in another order (`fastmath<reassoc>`)."""
    return isinstance(op, arith.AddfOp | arith.SubfOp) and FastMathFlag.REASSOC in op.fastmath.data


def _is_product(op: arith.DivfOp) -> bool:
    """Whether the vendor's tool multiplies instead: by an exact reciprocal always, by another constant's where that is allowed."""
    if FastMathFlag.ALLOW_RECIP in op.fastmath.data:
        return constant_divisor(op) is not None
    return exact_factor(op) is not None


def operators_of(op: Operation) -> Counter[str]:
    """Operators of the table that one instance of `op` is made of, all lanes counted; none for wires, memory and streams."""
    copies = _copies(op)
    return Counter({name: count * copies for name, count in Counter(_parts(op)).items()})


def _parts(op: Operation) -> tuple[str, ...]:
    """The operators of the table one after the other from an operand of `op` to its result, for one lane."""
    if type(op) in WIRES or not op.name.startswith(("arith.", "math.")):
        return ()
    types = [_element(value.type) for value in (*op.operands, *op.results)]
    floats = {kind for kind in types if isinstance(kind, AnyFloat)}
    if not floats:
        return _integer_parts(op, max((kind.width.data for kind in types if isinstance(kind, IntegerType)), default=1))
    if isinstance(op, arith.MulfOp) and floats == {Float64Type()}:
        return ("dmul_f64",)
    if isinstance(op, arith.ExtFOp) and floats == {Float16Type(), Float32Type()}:
        return ("fpext_f16_no_dsp",)
    _refuse_unless(floats == {Float32Type()}, op)
    if isinstance(op, arith.DivfOp) and _is_product(op):
        return (MULTIPLY,)
    if is_reciprocal(op):
        return (RECIPROCAL,)
    if ADDERS.of(op) == "lut":
        return (ADD_IN_LUTS,)
    row = ROWS.get(type(op))
    if row is None or row.floats is None:
        _refuse(op)
    return row.floats


def _integer_parts(op: Operation, width: int) -> tuple[str, ...]:
    """Of an operation on integers of `width` bits; indices and booleans (1) take no operator: counters (emission rule 16)."""
    if width == 1:
        return ()
    _refuse_unless(width <= max(WIDTHS), op)
    unit = ROWS[type(op)].unit if type(op) in ROWS else None
    if unit is Unit.MULTIPLIER:
        return (multiplier(op),)
    if isinstance(op, _OF_BITS) and integer_constant(op.rhs) is not None:  # where MLIR puts constants
        return ()
    if isinstance(op, arith.AddiOp) and (zeros := max(map(low_zeros, op.operands))):
        width = max(1, bits_of_value(op.result) - zeros)  # the other operand's lowest bits are the sum's
    table = min(known for known in WIDTHS if known >= width)
    if REGISTERED.on(op):
        return (f"int_sum_{table}",)
    names = {Unit.DIVIDER: f"div_i{table}", Unit.LOGIC: f"int_logic_{table}"}
    if unit not in names:
        _refuse(op)
    if is_added_by_multiplier(op):
        return (IN_A_CHAIN,) if _goes_to_a_tree(op.results[0]) else ()
    return (names[unit],)


def _goes_to_a_tree(value: SSAValue) -> bool:
    """Whether a tree of adders takes `value`, or the DSP after this one in a chain in front of it."""
    users = [use.operation for use in value.uses]
    return any(isinstance(user, memref.StoreOp) and holds_a_tree(user.memref) for user in users)


def multiplier(op: Operation) -> str:
    """The operator of the table that a product of integers takes: one for its factors before they were extended."""
    wide, narrow = sorted((_factor_bits(operand) for operand in op.operands), reverse=True)
    return next(name for (most, other), name in _PRODUCTS_OF[MULTIPLIERS.of(op)].items() if wide <= most and narrow <= other)


def multiplies_in_luts(op: Operation) -> bool:
    """Whether the vendor's tool takes LUTs for a product of integers of which nothing is said."""
    return multiplier(op) in _NO_DSP.values()


def _factor_bits(value: SSAValue) -> int:
    """Bits, with a sign, of a factor: an extension is none to a multiplier."""
    return bits_of_value(value, depth=int(isinstance(value.owner, arith.ExtSIOp | arith.ExtUIOp)))


def is_added_by_multiplier(op: Operation) -> bool:
    """Whether this adds a product, which nothing else takes, in the DSP that makes it: its adder has 48 bits.

    Not where the product is bound to a DSP by name: the vendor's tool may then not make one operator of both (UG1399, bind_op).
    """
    if not isinstance(op, arith.AddiOp) or not isinstance(kind := _element(op.result.type), IntegerType):
        return False
    return kind.width.data <= SUM_BITS and any(_is_single_product(operand) for operand in op.operands)


def _is_single_product(value: SSAValue) -> bool:
    product = value.owner
    if isinstance(product, arith.ExtSIOp) and value.has_one_use():
        value, product = product.input, product.input.owner
    if not isinstance(product, arith.MuliOp) or MULTIPLIERS.on(product):
        return False
    return value.has_one_use() and multiplier(product) == _ONE_DSP


def _refuse_unless(known: bool, op: Operation) -> None:
    if not known:
        _refuse(op)


def _refuse(op: Operation) -> NoReturn:
    types = sorted({str(_element(value.type)) for value in (*op.operands, *op.results)})
    what = f"no figures of time and resources for {op.name} on {', '.join(types)}"
    raise CompileError(what, accepted="operations on f32, f16 made f32, and operations on integers of at most 64 bits")


def _copies(op: Operation) -> int:
    """How many are computed side by side: lanes; a maximum that keeps NaN compares twice (`a > b || a != a`)."""
    comparisons = 2 if isinstance(op, arith.MaximumfOp | arith.MinimumfOp) else 1
    return comparisons * (_lanes(op.results[0].type) if op.results else 1)


def _lanes(kind: Attribute) -> int:
    return prod(kind.get_shape()) if isinstance(kind, VectorType) else 1


def _element(kind: Attribute) -> Attribute:
    return kind.element_type if isinstance(kind, VectorType) else kind


@cache
def _chain(parts: tuple[str, ...], composed: bool, clock_ns: float) -> HardwareCost:
    """Operators one after the other; `composed`: to compute something else, which makes an assumption of it."""
    if not parts:
        return WIRE
    total = HardwareCost(0, origin=ASSUMED if composed else "published")
    for part in parts:
        total = total.then(_cost(find_operator(part, clock_ns)))
    return total


def _cost(cost: OperatorCost) -> HardwareCost:
    return HardwareCost(cost.stages, cost.dsp, cost.ff, cost.lut, cost.origin)
