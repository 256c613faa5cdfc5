"""`carry-bf16`: numbers of bf16 are carried as their bits."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from xdsl.context import Context
from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    BFloat16Type,
    DenseIntOrFPElementsAttr,
    FloatAttr,
    FunctionType,
    IntegerAttr,
    ModuleOp,
    TensorType,
    f32,
    i16,
    i32,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from stc.analysis.host_work import functions_of
from stc.analysis.support import place
from stc.diagnostics import CompileError
from stc.scalars.bf16 import ACCEPTED, NAN, bits_of, computes_in_bf16
from stc.transforms.linalg.retyping import Retyping


@dataclass(frozen=True)
class CarryBf16(ModulePass):
    """Carry numbers of bf16 as i16: their bits, which are the upper half of an f32. No later level has a type for them.

    f32 is rounded to the nearest number of bf16, ties to even, by integers: the upper half is one more where the lower half is
    more than half of it, or half and the upper one odd. What is too large becomes infinite by itself; a NaN might not stay one, and
    becomes 0x7fc0. f32 is made of the bits by a shift. Tensors, arguments and results have the other type; arithmetic in bf16 is a
    CompileError.

        %b = linalg.generic ... ins(%x : tensor<4xf32>) { arith.truncf %in : f32 to bf16 } ... -> tensor<4xbf16>
        %y = linalg.generic ... ins(%b : tensor<4xbf16>) { arith.extf %in : bf16 to f32 } ... -> tensor<4xf32>
      becomes
        %b = linalg.generic ... ins(%x : tensor<4xf32>) {
          %upper, %lower = bits(%in) >> 16, bits(%in) & 0xffff
          trunci(%in is NaN ? 0x7fc0 : %upper + (%lower + 0x7fff + (%upper & 1) >> 16)) } ... -> tensor<4xi16>
        %y = linalg.generic ... ins(%b : tensor<4xi16>) { bitcast(extui(%in) << 16) } ... -> tensor<4xf32>
    """

    name = "carry-bf16"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for function in functions_of(op):
            operations = [nested for nested in function.walk() if nested is not function]
            for nested in operations:
                if computes_in_bf16(nested):
                    raise CompileError("arithmetic in bf16", where=place(nested), accepted=ACCEPTED)
            for block in function.body.blocks:
                _CARRIED.retype(block.args)
            for nested in operations:
                _carry(nested)
            kinds = function.function_type
            function.function_type = FunctionType.from_lists([*map(_CARRIED.of, kinds.inputs)], [*map(_CARRIED.of, kinds.outputs)])


_CARRIED = Retyping(BFloat16Type, i16)


def _carry(op: Operation) -> None:
    for region in op.regions:
        for block in region.blocks:
            _CARRIED.retype(block.args)
    if isinstance(op, arith.TruncFOp) and isinstance(op.result.type, BFloat16Type):
        _replace(op, _rounded(op.input))
    elif isinstance(op, arith.ExtFOp) and op.input.type == i16:
        _replace(op, _widened(op.input))
    elif isinstance(op, arith.ConstantOp) and _CARRIED.of(op.result.type) != op.result.type:
        op.properties["value"] = _bits(op.value)
        _CARRIED.retype(op.results)
    else:
        _CARRIED.retype(op.results)


def _replace(op: Operation, made: list[Operation]) -> None:
    Rewriter.insert_op(made, InsertPoint.before(op))
    made[-1].results[0].name_hint = op.results[0].name_hint
    Rewriter.replace_op(op, [], [made[-1].results[0]])


def _rounded(number: SSAValue) -> list[Operation]:
    """The bits of the nearest number of bf16. No sum is beyond 17 bits."""
    bits, half, one, below, most = arith.BitcastOp(number, i32), *map(_integer, (16, 1, 0xFFFF, 0x7FFF))
    upper, lower = arith.ShRUIOp(bits, half), arith.AndIOp(bits, below)
    odd = arith.AndIOp(upper, one)
    nearly = arith.AddiOp(lower, most)
    up = arith.AddiOp(nearly, odd)
    carry = arith.ShRUIOp(up, half)
    nearest = arith.AddiOp(upper, carry)
    is_nan, nan = arith.CmpfOp(number, number, "une"), _integer(NAN)
    chosen = arith.SelectOp(is_nan, nan, nearest)
    of_constants = [half, one, below, most, nan]
    return [*of_constants, bits, upper, lower, odd, nearly, up, carry, nearest, is_nan, chosen, arith.TruncIOp(chosen, i16)]


def _widened(bits: SSAValue) -> list[Operation]:
    """The f32 of which these are the upper half."""
    wide, half = arith.ExtUIOp(bits, i32), _integer(16)
    return [wide, half, shifted := arith.ShLIOp(wide, half), arith.BitcastOp(shifted, f32)]


def _integer(value: int) -> arith.ConstantOp:
    return arith.ConstantOp(IntegerAttr(value, i32))


def _bits(attribute: Attribute) -> Attribute:
    if isinstance(attribute, FloatAttr):
        return IntegerAttr(int(bits_of(np.float32(attribute.value.data))), i16)
    if isinstance(attribute, DenseIntOrFPElementsAttr):
        bits = bits_of(np.array(attribute.get_values(), np.float32))
        return DenseIntOrFPElementsAttr.from_list(TensorType(i16, attribute.get_shape()), bits.reshape(-1).tolist())
    raise CompileError(f"a constant of bf16 {attribute}", where="arith.constant", accepted="numbers and dense tensors")
