"""What MLIR's verifier asks and xDSL's does not: each rule is an error of `stc-opt` at its place."""

from __future__ import annotations

import pytest
from typer.testing import CliRunner

import stc.tools.stc_opt as tool

BROKEN = {
    "results of a linalg operation": (
        "%z = linalg.fill ins(%s : f32) outs(%x : tensor<4xf32>) -> tensor<5xf32>",
        "has results of types (tensor<5xf32>), expected those of its outputs, (tensor<4xf32>)",
    ),
    "slice beyond its tensor": (
        "%z = tensor.extract_slice %x[2] [3] [1] : tensor<4xf32> to tensor<3xf32>",
        "takes 3 entries of dimension 0 from 2 by 1, which has 4",
    ),
    "slice of another type": (
        "%z = tensor.extract_slice %x[0] [3] [1] : tensor<4xf32> to tensor<2xf32>",
        "takes [3] entries of tensor<4xf32>, which is no tensor<2xf32>",
    ),
    "sizes of an empty tensor": (
        "%z = tensor.empty() : tensor<?xf32>",
        "has 0 sizes for the 1 dynamic dimensions of tensor<?xf32>",
    ),
    "entries that are collapsed": (
        "%z = tensor.collapse_shape %x [[0 : i64]] : tensor<4xf32> into tensor<5xf32>",
        "takes extents [4] for one of 5, expected 4",
    ),
    "what a body yields": (
        "%z = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = [\"parallel\"]} outs(%x : tensor<4xf32>)"
        " { ^bb0(%e: f32): linalg.yield %x : tensor<4xf32> } -> tensor<4xf32>",
        "yields (tensor<4xf32>), expected the entries of its outputs, (f32)",
    ),
    "predicate of a comparison": (
        '%z = "arith.cmpf"(%s, %s) <{predicate = 16 : i64, fastmath = #arith.fastmath<none>}> : (f32, f32) -> i1',
        "has predicate 16, expected one from 0 to 15",
    ),
    "what a branch yields": (
        "%c = arith.constant true %y = scf.if %c -> (f32) { scf.yield %s : f32 } else { scf.yield }",
        "yields () in its second branch, expected its results, (f32)",
    ),
    "lanes beyond a row": (
        "%z = vector.load %m[%a, %a] : memref<2x8xf32>, vector<9xf32>",
        "moves vector<9xf32> of memref<2x8xf32>, which has fewer entries in a row",
    ),
}


@pytest.mark.parametrize("broken", BROKEN)
def test_it_is_refused_at_its_place(broken: str) -> None:
    operation, said = BROKEN[broken]
    text = f"""func.func @main(%x: tensor<4xf32>, %m: memref<2x8xf32>, %s: f32, %a: index) {{
  {operation}
  return
}}
"""
    result = CliRunner().invoke(tool.app, [], input=text)
    assert result.exit_code == 2
    assert said in result.output
    assert ":2:" in result.output
    assert "Traceback" not in result.output
