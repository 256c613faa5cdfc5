"""Chains of operations longer than Python's stack, and with more paths than could be counted."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from xdsl.dialects import arith
from xdsl.dialects.linalg.ops import GenericOp

from stc.dialects.context import make_context
from stc.dialects.parsing import parse_module
from stc.dialects.use_def import depends_on, operations_behind, through_reshapes, uses_through, values_behind
from stc.execution.run import execute
from stc.pipeline import run_stages, stages
from stc_testing.small import small_options

LENGTH = sys.getrecursionlimit() + 50


def chain(step: str, length: int) -> str:
    """An element-wise operation of `length` steps, from `%v0` on."""
    steps = "\n".join(f"%v{i + 1} = {step.format(f'%v{i}')} : i32" for i in range(length))
    return f"""func.func @main(%x: tensor<3x5xi32>) -> tensor<3x5xi32> {{
  %k = arith.constant 1 : i32
  %e = tensor.empty() : tensor<3x5xi32>
  %r = linalg.generic {{indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
    iterator_types = ["parallel", "parallel"]}} ins(%x : tensor<3x5xi32>) outs(%e : tensor<3x5xi32>) {{
  ^bb0(%a: i32, %b: i32):
    %v0 = arith.addi %a, %k : i32
    {steps}
    linalg.yield %v{length} : i32
  }} -> tensor<3x5xi32>
  return %r : tensor<3x5xi32>
}}"""


@pytest.mark.parametrize(("step", "length"), [("arith.addi {0}, %k", LENGTH), ("arith.addi {0}, {0}", 80)])
def test_each_operation_once_after_what_it_needs(step: str, length: int) -> None:
    module = parse_module(chain(step, length), "chain")
    (generic,) = (op for op in module.walk() if isinstance(op, GenericOp))
    body = generic.body.block
    assert body.last_op is not None
    (last,) = body.last_op.operands
    sums = [op for op in operations_behind(last) if isinstance(op, arith.AddiOp)]
    assert sums == [op for op in body.ops if isinstance(op, arith.AddiOp)]
    assert depends_on(last, [body.args[0]]) and not depends_on(last, [body.args[1]])
    assert len(values_behind([last], body)) == length + 3
    known, rest = {op.result for op in sums[: length // 2]}, sums[length // 2 :]
    assert [op for op in operations_behind(last, known) if isinstance(op, arith.AddiOp)] == rest


def test_reshapes() -> None:
    steps = [
        f"%v{i + 1} = tensor.collapse_shape %v{i} [[0, 1]] : tensor<3x5xf32> into tensor<15xf32>"
        if i % 2 == 0
        else f"%v{i + 1} = tensor.expand_shape %v{i} [[0, 1]] output_shape [3, 5] : tensor<15xf32> into tensor<3x5xf32>"
        for i in range(LENGTH + LENGTH % 2)
    ]
    last = f"%v{len(steps)}"
    text = "\n".join(steps)
    head, end = "func.func @main(%v0: tensor<3x5xf32>) -> tensor<3x5xf32> {", f"return {last} : tensor<3x5xf32> }}"
    module = parse_module(f"{head}\n{text}\n{end}", "reshapes")
    function = next(iter(module.ops))
    block = function.regions[0].block
    assert block.last_op is not None
    assert through_reshapes(block.last_op.operands[0]) is block.args[0]
    assert [use.operation for use in uses_through(block.args[0])] == [block.last_op]
    run_stages(module, make_context(), stages(small_options())[:1])


def test_long_bodies_are_optimised_and_executed() -> None:
    module = parse_module(chain("arith.addi {0}, %k", LENGTH), "chain")
    x = np.arange(15, dtype=np.int32).reshape(3, 5)
    run_stages(module, make_context(), stages(small_options())[:1])
    assert np.array_equal(execute(module, [x])[0], x + LENGTH + 1)
