"""Parameters that the host computes: what several of them are computed from is computed once."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from xdsl.dialects import func
from xdsl.ir import SSAValue
from xdsl.parser import Parser

from stc.codegen import parameters as module
from stc.codegen.parameters import evaluate_each
from stc.dialects.context import make_context

IR = """
#id = affine_map<(d0, d1) -> (d0, d1)>
func.func @main(%w: tensor<4x3xf32> {stc.name = "w"}, %v: tensor<2x3xf32> {stc.name = "v"}) -> () {
  %e = tensor.empty() : tensor<4x3xf32>
  %scaled = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
    ins(%w : tensor<4x3xf32>) outs(%e : tensor<4x3xf32>) {
    ^bb0(%a: f32, %o: f32):
      %s = arith.addf %a, %a : f32
      linalg.yield %s : f32
    } -> tensor<4x3xf32>
  %upper = tensor.extract_slice %scaled[0, 0] [2, 3] [1, 1] : tensor<4x3xf32> to tensor<2x3xf32>
  %lower = tensor.extract_slice %scaled[2, 0] [2, 3] [1, 1] : tensor<4x3xf32> to tensor<2x3xf32>
  %other = tensor.extract_slice %v[1, 0] [1, 3] [1, 1] : tensor<2x3xf32> to tensor<1x3xf32>
  func.return
}
"""


def named(function: func.FuncOp) -> dict[str, SSAValue]:
    values = [*function.body.block.args, *(result for op in function.body.block.ops for result in op.results)]
    return {value.name_hint: value for value in values if value.name_hint is not None}


def test_what_is_computed_alike_is_computed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    parsed = Parser(make_context(), IR).parse_module()
    (function,) = [op for op in parsed.walk() if isinstance(op, func.FuncOp)]
    made: list[int] = []
    execute = module.execute

    def counted(target: Any, inputs: Any, most_steps: int) -> list[np.ndarray]:
        made.append(len(inputs))
        return execute(target, inputs, most_steps=most_steps)

    monkeypatch.setattr(module, "execute", counted)
    arrays = {"w": np.arange(12, dtype=np.float32).reshape(4, 3), "v": np.ones((2, 3), np.float32)}
    wanted = ["e", "lower", "v", "other", "upper", "lower"]
    found = list(evaluate_each([(named(function)[name], function) for name in wanted], arrays))
    doubled = 2 * arrays["w"]
    expected = [doubled[2:], arrays["v"], arrays["v"][1:], doubled[:2], doubled[2:]]
    for array, right in zip(found[1:], expected, strict=True):
        np.testing.assert_array_equal(array, right)
    assert made == [0, 1, 1, 1], "once for both halves of w, whose constant is another's, too, once for v, for a row of it"
