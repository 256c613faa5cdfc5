"""Reductions that tiling would silently change are obstacles; found by review, each once compiled or refused too late."""

from __future__ import annotations

import pytest

from stc.analysis.support import obstacles
from stc.dialects.parsing import parse_module

MAPS = """#id = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#row = affine_map<(d0, d1, d2) -> (d0)>
#two = affine_map<(d0, d1, d2) -> (d0, d1)>"""


def reduction(body: str, *, out_map: str = "#row", out: str = "tensor<4xf32>", initial: str = "%filled") -> str:
    return f"""{MAPS}
    func.func @main(%x: tensor<4x20x40xf32>, %given: {out}) -> {out} {{
      %half = arith.constant 0.5 : f32
      %empty = tensor.empty() : {out}
      %filled = linalg.fill ins(%half : f32) outs(%empty : {out}) -> {out}
      %r = linalg.generic {{indexing_maps = [#id, {out_map}], iterator_types = ["parallel", "reduction", "reduction"]}}
          ins(%x : tensor<4x20x40xf32>) outs({initial} : {out}) {{
      ^bb0(%a: f32, %o: f32):
        {body}
        linalg.yield %s : f32
      }} -> {out}
      func.return %r : {out}
    }}"""


SUM = "%s = arith.addf %o, %a : f32"
DECAY = "%m = arith.mulf %o, %half : f32\n %s = arith.addf %m, %a : f32"


def complaints(text: str) -> list[str]:
    return [obstacle.what for obstacle in obstacles(parse_module(text, "reduction.mlir"))]


def test_sums_are_supported():
    assert complaints(reduction(SUM)) == []
    assert complaints(reduction(SUM, initial="%given")) == []


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        (reduction(DECAY), "result 0 depends on the order of 2 reduction loops"),
        (reduction(SUM, initial="%empty"), "result 0 accumulates onto a tensor that was never filled"),
        (reduction(SUM, out_map="#two", out="tensor<4x20xf32>"), "result 0 is indexed by a reduction loop"),
        (reduction(DECAY, initial="%given"), "result 0 continues from a computed tensor"),
    ],
    ids=["order", "uninitialised", "indexed", "continued"],
)
def test_what_tiling_would_change_is_refused(text: str, complaint: str):
    assert complaint in complaints(text)


DIVISION = """#id = affine_map<(d0) -> (d0)>
func.func @main(%x: tensor<6xi32>) -> tensor<6xi32> {{
  %c = arith.constant {divisor} : i32
  %e = tensor.empty() : tensor<6xi32>
  %f = linalg.fill ins(%c : i32) outs(%e : tensor<6xi32>) -> tensor<6xi32>
  %r = linalg.generic {{indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}}
    ins(%x, %f : tensor<6xi32>, tensor<6xi32>) outs(%e : tensor<6xi32>) {{
  ^bb0(%a: i32, %b: i32, %o: i32):
    %q = {op} %a, {by} : i32
    linalg.yield %q : i32
  }} -> tensor<6xi32>
  func.return %r : tensor<6xi32>
}}"""


@pytest.mark.parametrize("by", ["%b", "%c"])
@pytest.mark.parametrize("op", ["arith.divsi", "arith.divui", "arith.remsi", "arith.remui", "arith.floordivsi"])
def test_division_by_the_constant_zero_is_an_obstacle(op: str, by: str):
    assert complaints(DIVISION.format(divisor=0, op=op, by=by)) == [f"{op} by the constant 0"]
    assert complaints(DIVISION.format(divisor=3, op=op, by=by)) == []
