"""Double precision becomes single precision."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from xdsl.context import Context
from xdsl.dialects import arith, func
from xdsl.dialects.builtin import (
    DenseIntOrFPElementsAttr,
    Float64Type,
    FloatAttr,
    ModuleOp,
    TensorType,
    f32,
)
from xdsl.ir import Attribute, Operation
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from stc.diagnostics import CompileError
from stc.transforms.linalg.dead_ops import erase_dead_ops, functions_of
from stc.transforms.linalg.identity_copies import fold_identity_copies
from stc.transforms.linalg.retyping import Retyping


@dataclass(frozen=True)
class DemoteF64Pass(ModulePass):
    """Turn f64 values and arithmetic into f32; `extf`/`truncf` between the two vanish, constants are rounded once.

    torch-mlir computes variances and scalar constants in f64. The function's signature is not touched: an f64 argument or
    result is a CompileError, as is a constant that f32 cannot hold.

    Before:

        %c = arith.constant 1.000000e-05 : f64
        %1 = linalg.generic ... ins(%x : tensor<4xf32>) outs(%0 : tensor<4xf64>) { %e = arith.extf %in : f32 to f64 ... }
        %3 = linalg.generic ... ins(%1 : tensor<4xf64>) outs(%2 : tensor<4xf64>) { %s = arith.addf %in, %c : f64 ... }

    After:

        %c = arith.constant 9.99999974E-6 : f32
        %3 = linalg.generic ... ins(%x : tensor<4xf32>) outs(%2 : tensor<4xf32>) { %s = arith.addf %in, %c : f32 ... }
    """

    name = "demote-f64"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for function in functions_of(op):
            _check_signature(function)
            for nested in list(function.walk()):
                if nested is not function:
                    _demote(nested)
            for nested in list(function.walk()):
                _drop_cast(nested)
        fold_identity_copies(op)
        erase_dead_ops(op)


def _check_signature(function: func.FuncOp) -> None:
    for kind in (*function.function_type.inputs, *function.function_type.outputs):
        if _DEMOTED.of(kind) != kind:
            raise CompileError(f"argument or result of type {kind}", where=f"@{function.sym_name.data}", accepted="f32")


_DEMOTED = Retyping(Float64Type, f32)


def _demote(op: Operation) -> None:
    for region in op.regions:
        for block in region.blocks:
            _DEMOTED.retype(block.args)
    if isinstance(op, arith.BitcastOp) and (_DEMOTED.of(op.result.type), _DEMOTED.of(op.input.type)) != (
        op.result.type,
        op.input.type,
    ):
        raise CompileError("f64 bit pattern is used", where=op.name, accepted="f32")
    _DEMOTED.retype(op.results)
    if isinstance(op, arith.ConstantOp):
        op.properties["value"] = _rounded(op.value)


def _rounded(attribute: Attribute) -> Attribute:
    if isinstance(attribute, FloatAttr) and isinstance(attribute.type, Float64Type):
        return FloatAttr(_round(attribute.value.data), f32)
    if isinstance(attribute, DenseIntOrFPElementsAttr) and isinstance(attribute.get_element_type(), Float64Type):
        kind = TensorType(f32, attribute.get_shape())
        values = np.frombuffer(attribute.data.data, np.float64)
        return DenseIntOrFPElementsAttr.from_list(kind, [_round(float(value)) for value in values])
    return attribute


def _round(value: float) -> float:
    with np.errstate(over="ignore"):
        rounded = float(np.float32(value))
    if np.isinf(rounded) and not np.isinf(value):
        raise CompileError(f"constant {value} does not fit f32", where="arith.constant")
    return rounded


def _drop_cast(op: Operation) -> None:
    if isinstance(op, arith.ExtFOp | arith.TruncFOp) and op.input.type == op.result.type:
        Rewriter.replace_op(op, [], [op.input])
