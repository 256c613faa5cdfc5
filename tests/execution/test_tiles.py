"""Tiled linalg: tensors are values, whatever storage they share."""

from __future__ import annotations

import numpy as np
import pytest
from small_ir import run

from stc.diagnostics import CompileError

X = np.arange(8, dtype=np.float32)
CONSTANTS = "%c0 = arith.constant 0 : index %c2 = arith.constant 2 : index %c8 = arith.constant 8 : index"
NEGATE = """linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
  ins(%t : tensor<2xf32>) outs(%e : tensor<2xf32>) { ^bb0(%a: f32, %b: f32): %n = arith.negf %a : f32 linalg.yield %n : f32 }
  -> tensor<2xf32>"""


def negated(initial: str, results: str, after: str = "") -> str:
    """A loop that writes the negated tiles of %x into `initial`."""
    count = results.count("%")
    types = ", ".join(["tensor<8xf32>"] * count)
    return f"""func.func @main(%x: tensor<8xf32>) -> ({types}) {{
      {CONSTANTS}
      %d = tensor.empty() : tensor<8xf32>
      %r = scf.for %i = %c0 to %c8 step %c2 iter_args(%o = {initial}) -> (tensor<8xf32>) {{
        %t = tensor.extract_slice %x[%i] [2] [1] : tensor<8xf32> to tensor<2xf32>
        %e = tensor.empty() : tensor<2xf32>
        %g = {NEGATE}
        %s = tensor.insert_slice %g into %o[%i] [2] [1] : tensor<2xf32> into tensor<8xf32>
        scf.yield %s : tensor<8xf32>
      }}
      {after}
      func.return {results} : {types} }}"""


def test_a_loop_fills_its_result() -> None:
    np.testing.assert_array_equal(run(negated("%d", "%r"), X)[0], -X)


def test_an_argument_is_not_overwritten() -> None:
    """The loop reads %x while it writes a tensor that starts as %x."""
    x = X.copy()
    result, again = run(negated("%x", "%r, %x"), x)
    np.testing.assert_array_equal(result, -X)
    np.testing.assert_array_equal(again, X)
    np.testing.assert_array_equal(x, X)


def test_a_result_that_is_changed_further_keeps_its_value() -> None:
    after = """%t = tensor.extract_slice %x[6] [2] [1] : tensor<8xf32> to tensor<2xf32>
      %q = tensor.insert_slice %t into %r[0] [2] [1] : tensor<2xf32> into tensor<8xf32>"""
    result, changed = run(negated("%d", "%r, %q", after), X)
    np.testing.assert_array_equal(result, -X)
    np.testing.assert_array_equal(changed, [6, 7, *-X[2:]])


def test_a_slice_outlives_what_it_was_taken_from() -> None:
    """Rotate in place: the first tile is read, overwritten by the last, and written to the end."""
    text = """func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
      %e = tensor.empty() : tensor<8xf32>
      %o = tensor.insert_slice %x into %e[0] [8] [1] : tensor<8xf32> into tensor<8xf32>
      %a = tensor.extract_slice %o[0] [2] [1] : tensor<8xf32> to tensor<2xf32>
      %b = tensor.extract_slice %o[6] [2] [1] : tensor<8xf32> to tensor<2xf32>
      %p = tensor.insert_slice %b into %o[0] [2] [1] : tensor<2xf32> into tensor<8xf32>
      %q = tensor.insert_slice %a into %p[6] [2] [1] : tensor<2xf32> into tensor<8xf32>
      func.return %q : tensor<8xf32> }"""
    np.testing.assert_array_equal(run(text, X)[0], [6, 7, 2, 3, 4, 5, 0, 1])


def test_an_accumulator_is_read_and_written_in_each_step() -> None:
    """A tensor made once outside starts each inner loop anew."""
    text = f"""func.func @main(%x: tensor<8xf32>) -> tensor<2xf32> {{
      {CONSTANTS}
      %z = arith.constant 0.0 : f32
      %e = tensor.empty() : tensor<2xf32>
      %zero = linalg.fill ins(%z : f32) outs(%e : tensor<2xf32>) -> tensor<2xf32>
      %first = tensor.extract_slice %x[0] [2] [1] : tensor<8xf32> to tensor<2xf32>
      %r = scf.for %j = %c0 to %c2 step %c2 iter_args(%l = %first) -> (tensor<2xf32>) {{
        %s = scf.for %i = %c0 to %c8 step %c2 iter_args(%o = %zero) -> (tensor<2xf32>) {{
          %t = tensor.extract_slice %x[%i] [1] [1] : tensor<8xf32> to tensor<1xf32>
          %u = tensor.insert_slice %t into %o[1] [1] [1] : tensor<1xf32> into tensor<2xf32>
          scf.yield %u : tensor<2xf32> }}
        scf.yield %zero : tensor<2xf32> }}
      func.return %r : tensor<2xf32> }}"""
    np.testing.assert_array_equal(run(text, X)[0], [0, 0])


def test_a_guard_leaves_the_other_value() -> None:
    text = f"""func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {{
      {CONSTANTS}
      %e = tensor.empty() : tensor<8xf32>
      %d = tensor.insert_slice %x into %e[0] [8] [1] : tensor<8xf32> into tensor<8xf32>
      %n = arith.constant -1.0 : f32
      %r = scf.for %i = %c0 to %c8 step %c2 iter_args(%o = %d) -> (tensor<8xf32>) {{
        %is = arith.cmpi eq, %i, %c2 : index
        %s = scf.if %is -> (tensor<8xf32>) {{
          %u = tensor.insert %n into %o[%i] : tensor<8xf32>
          scf.yield %u : tensor<8xf32>
        }} else {{
          scf.yield %o : tensor<8xf32>
        }}
        scf.yield %s : tensor<8xf32> }}
      func.return %r : tensor<8xf32> }}"""
    np.testing.assert_array_equal(run(text, X)[0], [0, 1, -1, 3, 4, 5, 6, 7])


def test_slices_drop_dimensions_of_one() -> None:
    text = """func.func @main(%x: tensor<1x3x1x2xf32>) -> (tensor<2xf32>, tensor<1x2xf32>) {
      %a = tensor.extract_slice %x[0, 2, 0, 0] [1, 1, 1, 2] [1, 1, 1, 1] : tensor<1x3x1x2xf32> to tensor<2xf32>
      %b = tensor.extract_slice %x[0, 1, 0, 0] [1, 1, 1, 2] [1, 1, 1, 1] : tensor<1x3x1x2xf32> to tensor<1x2xf32>
      func.return %a, %b : tensor<2xf32>, tensor<1x2xf32> }"""
    first, second = run(text, np.arange(6, dtype=np.float32).reshape(1, 3, 1, 2))
    np.testing.assert_array_equal(first, [4, 5])
    np.testing.assert_array_equal(second, [[2, 3]])


def test_a_slice_outside_is_an_error() -> None:
    text = negated("%d", "%r").replace("%c8 = arith.constant 8", "%c8 = arith.constant 10")
    with pytest.raises(CompileError, match=r"tensor.extract_slice: entries 8 to 9 outside a dimension of 8 entries"):
        run(text, X)


def test_named_operations_that_are_not_structured() -> None:
    text = """func.func @main(%x: tensor<2x4xf32>) -> tensor<4x2xf32> {
      %z = arith.constant 1.0 : f32
      %e = tensor.empty() : tensor<2xf32>
      %f = linalg.fill ins(%z : f32) outs(%e : tensor<2xf32>) -> tensor<2xf32>
      %s = linalg.reduce ins(%x : tensor<2x4xf32>) outs(%f : tensor<2xf32>) dimensions = [1]
        (%a: f32, %b: f32) { %t = arith.addf %a, %b : f32 linalg.yield %t : f32 }
      %g = tensor.empty() : tensor<2x4xf32>
      %h = linalg.broadcast ins(%s : tensor<2xf32>) outs(%g : tensor<2x4xf32>) dimensions = [1]
      %k = tensor.empty() : tensor<4x2xf32>
      %m = linalg.transpose ins(%h : tensor<2x4xf32>) outs(%k : tensor<4x2xf32>) permutation = [1, 0]
      func.return %m : tensor<4x2xf32> }"""
    np.testing.assert_array_equal(run(text, X.reshape(2, 4))[0], [[7, 23]] * 4)


def test_a_cast_that_changes_nothing_gives_a_tensor_of_its_own() -> None:
    text = """func.func @main(%x: tensor<4xi32>) -> (tensor<4xf32>, tensor<4xf32>) {
      %e = tensor.empty() : tensor<4xf32>
      %y = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
        ins(%x : tensor<4xi32>) outs(%e : tensor<4xf32>) {
        ^bb0(%a: i32, %b: f32): %c = arith.bitcast %a : i32 to f32 linalg.yield %c : f32 } -> tensor<4xf32>
      %z = arith.constant 1.0 : f32
      %c0 = arith.constant 0 : index
      %w = tensor.insert %z into %y[%c0] : tensor<4xf32>
      func.return %w, %w : tensor<4xf32>, tensor<4xf32> }"""
    x = np.zeros(4, np.int32)
    run(text, x)
    np.testing.assert_array_equal(x, np.zeros(4, np.int32))


GATHER = """
func.func @main(%x: tensor<3x5xf32>, %i: tensor<3xi64>) -> tensor<3xf32> {
  %e = tensor.empty() : tensor<3xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
    ins(%i : tensor<3xi64>) outs(%e : tensor<3xf32>) {
  ^bb0(%a: i64, %o: f32):
    %row = linalg.index 0 : index
    %column = arith.index_cast %a : i64 to index
    %v = tensor.extract %x[%row, %column] : tensor<3x5xf32>
    linalg.yield %v : f32
  } -> tensor<3xf32>
  return %r : tensor<3xf32>
}
"""


def test_a_gather_reads_computed_places_within_bounds() -> None:
    x = np.arange(15, dtype=np.float32).reshape(3, 5)
    np.testing.assert_array_equal(run(GATHER, x, np.array([4, 0, 2]))[0], [4, 5, 12])
    with pytest.raises(CompileError, match=r"tensor.extract: index 5 outside a dimension of 5 entries"):
        run(GATHER, x, np.array([4, 5, 2]))
