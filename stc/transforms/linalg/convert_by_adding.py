"""Conversions between floats and short integers by an addition: the adder has DSPs, a converter only LUTs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import arith, math
from xdsl.dialects.builtin import FloatAttr, ModuleOp, f32, i32
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import PatternRewriter, PatternRewriteWalker, RewritePattern, op_type_rewrite_pattern

from stc.analysis.generic_loops import generics_in
from stc.analysis.host_work import functions_of, host_values
from stc.transforms.linalg.entry_bits import bits_in_body
from stc.transforms.linalg.inline_constants import scalar_constant

MAGIC = 12582912.0
"""1.5 * 2^23: a float of this size counts in ones, so that what is added to it is rounded, half to even, into its lowest bits."""

MAGIC_BITS = 0x4B400000
"""The same as an integer. Of its lowest 22 bits all are 0."""

_GREATER, _LESS = 2, 4
"""The predicates `ogt` and `olt` of `arith.cmpf`."""

LARGEST = 1 << 22
"""Integers below it, and not below its negative, are added without leaving the numbers from 2^23 to 2^24."""


@dataclass(frozen=True)
class _Bound:
    """Operations that cut off at `limit` the number that the first of them reads; above, if `is_upper`. A NaN becomes the limit."""

    operations: Sequence[Operation]
    limit: float
    is_upper: bool

    @property
    def number(self) -> SSAValue:
        return self.operations[0].operands[0]

    def of(self, number: SSAValue) -> list[Operation]:
        """The same of another number."""
        made: dict[SSAValue, SSAValue] = {self.number: number}
        return [operation.clone(made) for operation in self.operations]


def _bound(value: SSAValue) -> _Bound | None:
    """What cuts `value` off: `minnumf`, `maxnumf`, or the choice that `torch.clamp` becomes."""
    match value.owner:
        case arith.MinnumfOp() | arith.MaxnumfOp() as op if (limit := _constant(op.rhs)) is not None:
            return _Bound([op], limit, isinstance(op, arith.MinnumfOp))
        case arith.SelectOp() as op if isinstance(compared := op.cond.owner, arith.CmpfOp):
            limit, predicate = _constant(compared.rhs), compared.predicate.value.data
            if limit is None or predicate not in (_LESS, _GREATER) or (op.lhs, op.rhs) != (compared.lhs, compared.rhs):
                return None
            return _Bound([compared, op], limit, predicate == _LESS)
        case _:
            return None


class RoundByAdding(RewritePattern):
    """fptosi of a rounded number between two constants"""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: arith.FPToSIOp, rewriter: PatternRewriter) -> None:
        last = _bound(op.input)
        first = _bound(last.number) if last is not None else None
        if last is None or first is None or not isinstance(rounding := first.number.owner, math.RoundEvenOp):
            return
        kind = op.result.type
        if rounding.operand.type != f32 or not _leaves_few_bits(first, last) or kind.width.data >= 32:
            return
        begun = first.of(rounding.operand)  # what is cut off at integers is rounded to the same before and behind
        ended = last.of(begun[-1].results[0])
        made = [*begun, *ended, magic := arith.ConstantOp(FloatAttr(MAGIC, f32))]
        made += [moved := arith.AddfOp(ended[-1].results[0], magic), bits := arith.BitcastOp(moved.result, i32)]
        rewriter.replace(op, [*made, arith.TruncIOp(bits.result, kind)])
        for old in (*reversed(last.operations), *reversed(first.operations), rounding):
            if not any(result.uses for result in old.results):
                rewriter.erase(old)


def _leaves_few_bits(first: _Bound, last: _Bound) -> bool:
    """Whether integers below `LARGEST` are between both, and nothing else."""
    limits = (first.limit, last.limit)
    return first.is_upper != last.is_upper and all(limit.is_integer() and abs(limit) < LARGEST for limit in limits)


def _constant(value: SSAValue) -> float | None:
    constant = scalar_constant(value)
    return constant.value.data if isinstance(constant, FloatAttr) else None


class ConvertByAdding(RewritePattern):
    """sitofp of an integer of few bits"""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: arith.SIToFPOp, rewriter: PatternRewriter) -> None:
        if op.input.type != i32 or op.result.type != f32 or 1 << (bits_in_body(op.input) - 1) > LARGEST:
            return
        magic, number = arith.ConstantOp.from_int_and_width(MAGIC_BITS, 32), arith.ConstantOp(FloatAttr(MAGIC, f32))
        moved = arith.AddiOp(op.input, magic)
        as_float = arith.BitcastOp(moved.result, f32)
        rewriter.replace(op, [magic, number, moved, as_float, arith.SubfOp(as_float.result, number)])


@dataclass(frozen=True)
class ConvertByAddingPass(ModulePass):
    """Round numbers to short integers, and make floats of sums of such, by adding 1.5 * 2^23.

    A float between 2^23 and 2^24 counts in ones: what is added to 1.5 * 2^23 is rounded, half to even, and stands in the lowest 22
    bits, negative numbers as integers have them; and an integer that is added to the bits of that float is what the float is more.
    So both conversions are an addition of floats (2 DSPs, some 200 LUTs) in place of a converter (LUTs only: some 550 to make a
    float, three times that to round). They give the same, bit for bit, where the number is known to be below 2^22:

    * `math.roundeven` behind which the number is cut off at two integers (`arith.minnumf` and `arith.maxnumf`, or the choices that
      `torch.clamp` becomes), and `arith.fptosi`: the quantisation of activations. It is cut off in front then, which changes
      nothing, since that is at integers (NaN as before).
    * `arith.sitofp` of 32 bits, where what computes its operand fits in 23 bits with a sign
      (`stc.transforms.linalg.entry_bits`): sums within a group of short integers.

    What the host computes stays as it is.

    Before:

        %r = math.roundeven %x : f32
        %n = arith.minnumf %r, %c127 : f32
        %m = arith.maxnumf %n, %cm127 : f32
        %i = arith.fptosi %m : f32 to i8

    After:

        %n = arith.minnumf %x, %c127 : f32
        %m = arith.maxnumf %n, %cm127 : f32
        %magic = arith.constant 12582912.0 : f32
        %s = arith.addf %m, %magic : f32
        %b = arith.bitcast %s : f32 to i32
        %i = arith.trunci %b : i32 to i8
    """

    name = "convert-by-adding"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        walkers = [PatternRewriteWalker(pattern, apply_recursively=False) for pattern in (RoundByAdding(), ConvertByAdding())]
        for function in functions_of(op):
            host = host_values(function)
            for generic in [each for each in generics_in(function) if not set(each.results) <= host]:
                for walker in walkers:
                    walker.rewrite_region(generic.body)
