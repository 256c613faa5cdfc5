"""What an operation of a task costs in hardware: pipeline stages and resources, from published reports.

Where no report has an operator, its cost is composed of those that have one, along the way vendor libraries compute it; such
figures are *assumed*, all others *published*.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cache
from math import prod

from xdsl.dialects import arith, math, memref, vector
from xdsl.dialects.builtin import AnyFloat, VectorType
from xdsl.ir import Attribute, Operation

from stc.dialects.stream import ReadOp, WriteOp
from stc.platforms.operators import OperatorCost, find_operator


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
        origin = "assumed" if "assumed" in (self.origin, other.origin) else self.origin
        return HardwareCost(
            self.stages + other.stages, self.dsp + other.dsp, self.ff + other.ff, self.lut + other.lut, origin
        )

    def times(self, copies: int) -> HardwareCost:
        """So many of them side by side."""
        return HardwareCost(self.stages, self.dsp * copies, self.ff * copies, self.lut * copies, self.origin)


WIRE = HardwareCost(0)
"""Integer arithmetic on indices, selections, moves between lanes: chained into the cycle of what they feed."""

MEMORY_LOAD = HardwareCost(2)
"""Address, then data: local memory of block RAM, as Vitis HLS schedules it."""

MEMORY_STORE = HardwareCost(1)
STREAM_ACCESS = HardwareCost(1)

ADD, MULTIPLY, DIVIDE, ROOT = "fadd_f32_full_dsp", "fmul_f32_max_dsp", "fdiv_f32_no_dsp", "fsqrt_f32_no_dsp"
RECIPROCAL, EXPONENTIAL, COMPARE, CONVERT = "frecip_f32_full_dsp", "fexp_f32_full_dsp", "fcmp_f32_no_dsp", "sitofp_i32_no_dsp"

PUBLISHED: dict[type[Operation], str] = {
    arith.AddfOp: ADD,
    arith.SubfOp: "fsub_f32_full_dsp",
    arith.MulfOp: MULTIPLY,
    arith.DivfOp: DIVIDE,
    arith.CmpfOp: COMPARE,
    arith.MaximumfOp: COMPARE,
    arith.MinimumfOp: COMPARE,
    arith.MaxnumfOp: COMPARE,
    arith.MinnumfOp: COMPARE,
    arith.SIToFPOp: CONVERT,
    arith.UIToFPOp: CONVERT,
    arith.FPToSIOp: CONVERT,
    arith.FPToUIOp: CONVERT,
    math.SqrtOp: ROOT,
    math.ExpOp: EXPONENTIAL,
}

_POLYNOMIAL = (MULTIPLY, ADD) * 5

COMPOSED: dict[type[Operation], tuple[str, ...]] = {
    math.RsqrtOp: (ROOT, RECIPROCAL),
    math.FmaOp: (MULTIPLY, ADD),
    vector.FMAOp: (MULTIPLY, ADD),
    math.Exp2Op: (MULTIPLY, EXPONENTIAL),
    math.ExpM1Op: (EXPONENTIAL, ADD),
    math.LogOp: (RECIPROCAL, *_POLYNOMIAL),
    math.Log2Op: (RECIPROCAL, *_POLYNOMIAL, MULTIPLY),
    math.Log10Op: (RECIPROCAL, *_POLYNOMIAL, MULTIPLY),
    math.Log1pOp: (ADD, RECIPROCAL, *_POLYNOMIAL),
    math.TanhOp: (EXPONENTIAL, ADD, DIVIDE),
    math.SinhOp: (EXPONENTIAL, RECIPROCAL, ADD),
    math.CoshOp: (EXPONENTIAL, RECIPROCAL, ADD),
    # Abramowitz and Stegun 7.1.26: a polynomial of 1 / (1 + px), times exp(-x^2).
    math.ErfOp: (MULTIPLY, ADD, RECIPROCAL, *_POLYNOMIAL, EXPONENTIAL, MULTIPLY, ADD),
    math.PowFOp: (RECIPROCAL, *_POLYNOMIAL, MULTIPLY, EXPONENTIAL),
    math.CbrtOp: (RECIPROCAL, *_POLYNOMIAL, EXPONENTIAL),
    math.SinOp: (MULTIPLY, *_POLYNOMIAL),
    math.CosOp: (MULTIPLY, *_POLYNOMIAL),
    math.TanOp: (MULTIPLY, *_POLYNOMIAL, DIVIDE),
    math.AtanOp: (RECIPROCAL, *_POLYNOMIAL),
    math.Atan2Op: (DIVIDE, *_POLYNOMIAL),
    math.FloorOp: (CONVERT, CONVERT),
    math.CeilOp: (CONVERT, CONVERT),
    math.TruncOp: (CONVERT, CONVERT),
    math.RoundOp: (CONVERT, CONVERT),
    math.RoundEvenOp: (CONVERT, CONVERT),
}


REDUCED = {"add": ADD, "mul": MULTIPLY, "maximumf": COMPARE, "minimumf": COMPARE, "maxnumf": COMPARE, "minnumf": COMPARE}
"""Operators of `vector.reduction` by its kind."""


def hardware_cost(op: Operation, clock_ns: float) -> HardwareCost:
    """The cost of one instance of `op` in a design scheduled for cycles of `clock_ns`."""
    match op:
        case memref.LoadOp() | vector.LoadOp():
            return MEMORY_LOAD
        case memref.StoreOp() | vector.StoreOp():
            return MEMORY_STORE
        case ReadOp() | WriteOp():
            return STREAM_ACCESS
        case arith.MuliOp() | arith.DivSIOp() | arith.DivUIOp() | arith.RemSIOp() | arith.RemUIOp():
            return WIRE   # on loop indices, by constants: counters (emission rule 16)
        case vector.ReductionOp() if _is_float(op):
            return _chain(REDUCED[op.kind.data.value], _lanes(op.operands[0].type), clock_ns)
        case _ if _is_float(op):
            return _arithmetic(type(op), clock_ns).times(_lanes(op.results[0].type) if op.results else 1)
        case _:
            return WIRE


def operators_of(op: Operation) -> Counter[str]:
    """Operators of the table that one instance of `op` is made of, all lanes counted; none for wires, memory and streams."""
    if not _is_float(op):
        return Counter()
    if isinstance(op, vector.ReductionOp):
        return Counter({REDUCED[op.kind.data.value]: _lanes(op.operands[0].type)})
    names = (PUBLISHED[type(op)],) if type(op) in PUBLISHED else COMPOSED.get(type(op), ())
    lanes = _lanes(op.results[0].type) if op.results else 1
    return Counter({name: count * lanes for name, count in Counter(names).items()})


def _chain(operator: str, length: int, clock_ns: float) -> HardwareCost:
    """Operators one after the other, as a reduction is printed: HLS does not reorder sums of floats."""
    total = HardwareCost(0, origin="published")
    for _ in range(length):
        total = total.then(_published(find_operator(operator, clock_ns)))
    return total


def _lanes(kind: Attribute) -> int:
    return prod(kind.get_shape()) if isinstance(kind, VectorType) else 1


def _is_float(op: Operation) -> bool:
    types = [value.type for value in (*op.operands, *op.results)]
    return any(isinstance(t.element_type if isinstance(t, VectorType) else t, AnyFloat) for t in types)


@cache
def _arithmetic(kind: type[Operation], clock_ns: float) -> HardwareCost:
    if kind in PUBLISHED:
        return _published(find_operator(PUBLISHED[kind], clock_ns))
    if kind not in COMPOSED:
        return WIRE
    total = HardwareCost(0, origin="assumed")
    for part in COMPOSED[kind]:
        total = total.then(_published(find_operator(part, clock_ns)))
    return total


def _published(cost: OperatorCost) -> HardwareCost:
    return HardwareCost(cost.stages, cost.dsp, cost.ff, cost.lut, "published")
