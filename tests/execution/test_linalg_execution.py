"""The reference semantics of tensor-level functions against numpy written down by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from xdsl.dialects import func

from stc.diagnostics import CompileError
from stc.dialects.parsing import parse_module
from stc.execution import emit_structured
from stc.execution.run import execute, translate
from stc_testing.drawn import examples


def run(text: str, *inputs: np.ndarray) -> list[np.ndarray]:
    module = parse_module(text)
    return execute(next(op for op in module.walk() if isinstance(op, func.FuncOp)), list(inputs))


def scalar(op: str, kinds: str, result: str, *values: np.generic) -> np.ndarray:
    """Run one scalar operation; `kinds` is the type printed behind it."""
    types: dict[np.dtype[Any], str] = {np.dtype(np.bool_): "i1", np.dtype(np.int8): "i8", np.dtype(np.int32): "i32"}
    types |= {np.dtype(np.int64): "i64", np.dtype(np.float16): "f16", np.dtype(np.float32): "f32", np.dtype(np.float64): "f64"}
    names = [f"%a{i}" for i in range(len(values))]
    arguments = ", ".join(f"{name}: {types[value.dtype]}" for name, value in zip(names, values, strict=True))
    text = f"func.func @main({arguments}) -> {result} {{ %r = {op} {', '.join(names)} : {kinds} func.return %r : {result} }}"
    return run(text, *(np.asarray(value) for value in values))[0]


F = np.float32
I8, I32 = np.int8, np.int32

SCALARS = [
    ("arith.maximumf", "f32", "f32", (F("nan"), F(1)), F("nan")),
    ("arith.maxnumf", "f32", "f32", (F("nan"), F(1)), F(1)),
    ("arith.minimumf", "f32", "f32", (F("-inf"), F(1)), F("-inf")),
    ("arith.divsi", "i32", "i32", (I32(-7), I32(2)), I32(-3)),
    ("arith.floordivsi", "i32", "i32", (I32(-7), I32(2)), I32(-4)),
    ("arith.ceildivsi", "i32", "i32", (I32(7), I32(2)), I32(4)),
    ("arith.remsi", "i32", "i32", (I32(-7), I32(2)), I32(-1)),
    ("arith.divui", "i8", "i8", (I8(-2), I8(2)), I8(127)),
    ("arith.maxui", "i8", "i8", (I8(-1), I8(1)), I8(-1)),
    ("arith.shrui", "i8", "i8", (I8(-2), I8(1)), I8(127)),
    ("arith.shrsi", "i8", "i8", (I8(-2), I8(1)), I8(-1)),
    ("arith.addi", "i8", "i8", (I8(127), I8(1)), I8(-128)),
    ("arith.addi", "i1", "i1", (np.True_, np.True_), np.False_),
    ("arith.cmpi ult,", "i8", "i1", (I8(1), I8(-1)), np.True_),
    ("arith.cmpi slt,", "i8", "i1", (I8(1), I8(-1)), np.False_),
    ("arith.cmpf olt,", "f32", "i1", (F("nan"), F(1)), np.False_),
    ("arith.cmpf ult,", "f32", "i1", (F("nan"), F(1)), np.True_),
    ("arith.cmpf one,", "f32", "i1", (F("nan"), F(1)), np.False_),
    ("arith.cmpf une,", "f32", "i1", (F("nan"), F(1)), np.True_),
    ("arith.extsi", "i1 to i32", "i32", (np.True_,), I32(-1)),
    ("arith.extui", "i1 to i32", "i32", (np.True_,), I32(1)),
    ("arith.extui", "i8 to i32", "i32", (I8(-1),), I32(255)),
    ("arith.trunci", "i32 to i8", "i8", (I32(300),), I8(44)),
    ("arith.uitofp", "i8 to f32", "f32", (I8(-1),), F(255)),
    ("arith.sitofp", "i8 to f32", "f32", (I8(-1),), F(-1)),
    ("arith.fptosi", "f32 to i32", "i32", (F(-2.7),), I32(-2)),
    ("arith.truncf", "f64 to f32", "f32", (np.float64(0.1),), F(0.1)),
    ("arith.bitcast", "f32 to i32", "i32", (F(1),), I32(0x3F800000)),
    ("arith.negf", "f32", "f32", (F(0),), F(-0.0)),
    ("math.roundeven", "f32", "f32", (F(2.5),), F(2)),
    ("math.round", "f32", "f32", (F(2.5),), F(3)),
    ("math.erf", "f32", "f32", (F(0.5),), F(0.5204998778)),
    ("math.rsqrt", "f32", "f32", (F(4),), F(0.5)),
    ("math.fpowi", "f32, i32", "f32", (F(-2), I32(3)), F(-8)),
    ("math.powf", "f32", "f32", (F(2), F(0.5)), F(2**0.5)),
]


@pytest.mark.parametrize(("op", "kinds", "result", "values", "expected"), SCALARS, ids=lambda value: str(value)[:20])
def test_scalar_operations(op: str, kinds: str, result: str, values: tuple[np.generic, ...], expected: np.generic) -> None:
    found = scalar(op, kinds, result, *values)
    assert found.dtype == expected.dtype
    np.testing.assert_array_equal(found, expected)


def test_four_bit_integers_wrap() -> None:
    text = """func.func @main(%a: i8) -> i8 {
      %n = arith.trunci %a : i8 to i4
      %s = arith.addi %n, %n : i4
      %r = arith.extsi %s : i4 to i8
      func.return %r : i8 }"""
    assert run(text, np.asarray(np.int8(7)))[0] == -2


@examples(15)
@given(st.data())
def test_contractions_agree_with_einsum(data: st.DataObject) -> None:
    """Each loop is in the left factor, the right, both or the result alone, summed or not, of any extent from 1."""
    loops = data.draw(st.integers(1, 5))
    extents = data.draw(st.lists(st.integers(1, 3), min_size=loops, max_size=loops))
    summed = {loop for loop in range(loops) if data.draw(st.booleans())}
    kinds = [(1, 0), (0, 1), (1, 1)]
    membership = [data.draw(st.sampled_from(kinds if loop in summed else [*kinds, (0, 0)])) for loop in range(loops)]
    left, right = (data.draw(st.permutations([loop for loop in range(loops) if membership[loop][side]])) for side in (0, 1))
    result = data.draw(st.permutations([loop for loop in range(loops) if loop not in summed]))
    names = [f"d{loop}" for loop in range(loops)]
    maps = [f"affine_map<({', '.join(names)}) -> ({', '.join(names[loop] for loop in part)})>" for part in (left, right, result)]
    shapes = [[extents[loop] for loop in part] for part in (left, right, result)]
    a, b, c = ("x".join([*map(str, shape), "i32"]) for shape in shapes)
    iterators = ", ".join('"reduction"' if loop in summed else '"parallel"' for loop in range(loops))
    text = f"""func.func @main(%a: tensor<{a}>, %b: tensor<{b}>, %c: tensor<{c}>) -> tensor<{c}> {{
      %r = linalg.generic {{indexing_maps = [{', '.join(maps)}], iterator_types = [{iterators}]}}
          ins(%a, %b : tensor<{a}>, tensor<{b}>) outs(%c : tensor<{c}>) {{
      ^bb0(%x: i32, %y: i32, %z: i32):
        %p = arith.muli %x, %y : i32
        %s = arith.addi %z, %p : i32
        linalg.yield %s : i32
      }} -> tensor<{c}>
      func.return %r : tensor<{c}> }}"""
    random = np.random.default_rng(0)
    inputs = [random.integers(-3, 4, shape, np.int32) for shape in shapes]
    ones = np.ones([extents[loop] for loop in result], np.int32)
    expected = inputs[2] + np.einsum(inputs[0], left, inputs[1], right, ones, result, result)
    np.testing.assert_array_equal(run(text, *inputs)[0], expected)


def test_integer_contraction_is_exact() -> None:
    text = """func.func @main(%a: tensor<3x9xi8>, %b: tensor<9x2xi8>, %o: tensor<3x2xi32>) -> tensor<3x2xi32> {
      %r = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>,
          affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%a, %b : tensor<3x9xi8>, tensor<9x2xi8>) outs(%o : tensor<3x2xi32>) {
      ^bb0(%x: i8, %y: i8, %z: i32):
        %u = arith.extsi %x : i8 to i32
        %v = arith.extsi %y : i8 to i32
        %p = arith.muli %u, %v : i32
        %s = arith.addi %z, %p : i32
        linalg.yield %s : i32
      } -> tensor<3x2xi32>
      func.return %r : tensor<3x2xi32> }"""
    random = np.random.default_rng(1)
    a, b = random.integers(-128, 128, (3, 9), np.int8), random.integers(-128, 128, (9, 2), np.int8)
    start = random.integers(-5, 5, (3, 2), np.int32)
    np.testing.assert_array_equal(run(text, a, b, start)[0], start + a.astype(np.int32) @ b.astype(np.int32))


@pytest.mark.parametrize(("element", "least"), [("i4", -8), ("i8", -128), ("i12", -2048)])
def test_sums_of_products_wrap_around(element: str, least: int) -> None:
    """Found by `stc fuzz --integers`: sums of i4 kept the bits of numpy's int8. So did 300 terms of no factor."""
    text = f"""func.func @main(%a: tensor<3x9x{element}>, %b: tensor<9x2x{element}>, %n: tensor<300x{element}>)
        -> tensor<3x2x{element}> {{
      %c = arith.constant 0 : {element}
      %e = tensor.empty() : tensor<3x2x{element}>
      %o = linalg.fill ins(%c : {element}) outs(%e : tensor<3x2x{element}>) -> tensor<3x2x{element}>
      %r = linalg.generic {{indexing_maps = [affine_map<(m, n, k, l) -> (m, k)>, affine_map<(m, n, k, l) -> (k, n)>,
          affine_map<(m, n, k, l) -> (l)>, affine_map<(m, n, k, l) -> (m, n)>],
          iterator_types = ["parallel", "parallel", "reduction", "reduction"]}}
          ins(%a, %b, %n : tensor<3x9x{element}>, tensor<9x2x{element}>, tensor<300x{element}>) outs(%o : tensor<3x2x{element}>) {{
      ^bb0(%x: {element}, %y: {element}, %w: {element}, %z: {element}):
        %p = arith.muli %x, %y : {element}
        %s = arith.addi %z, %p : {element}
        linalg.yield %s : {element}
      }} -> tensor<3x2x{element}>
      func.return %r : tensor<3x2x{element}> }}"""
    random, host = np.random.default_rng(1), np.int16 if element == "i12" else np.int8
    a, b = random.integers(least, -least, (3, 9)), random.integers(least, -least, (9, 2))
    expected = (300 * (a @ b) - least) % (-2 * least) + least
    np.testing.assert_array_equal(run(text, a.astype(host), b.astype(host), np.zeros(300, host))[0], expected)


def test_access_with_strides_and_offsets() -> None:
    text = """func.func @main(%a: tensor<9xf32>, %b: tensor<3xf32>, %o: tensor<4xf32>) -> tensor<4xf32> {
      %r = linalg.generic {indexing_maps = [affine_map<(i, k) -> (i * 2 + k)>, affine_map<(i, k) -> (k)>,
          affine_map<(i, k) -> (i)>], iterator_types = ["parallel", "reduction"]}
          ins(%a, %b : tensor<9xf32>, tensor<3xf32>) outs(%o : tensor<4xf32>) {
      ^bb0(%x: f32, %y: f32, %z: f32):
        %p = arith.mulf %x, %y : f32
        %s = arith.addf %z, %p : f32
        linalg.yield %s : f32
      } -> tensor<4xf32>
      func.return %r : tensor<4xf32> }"""
    a, b = np.arange(9, dtype=F), np.array([1, 10, 100], F)
    expected = [sum(a[2 * i + k] * b[k] for k in range(3)) for i in range(4)]
    np.testing.assert_array_equal(run(text, a, b, np.zeros(4, F))[0], expected)


def test_reduction_with_an_unknown_body_runs_in_order() -> None:
    text = """func.func @main(%a: tensor<2x4xf32>, %o: tensor<2xf32>) -> tensor<2xf32> {
      %r = linalg.generic {indexing_maps = [affine_map<(i, k) -> (i, k)>, affine_map<(i, k) -> (i)>],
          iterator_types = ["parallel", "reduction"]} ins(%a : tensor<2x4xf32>) outs(%o : tensor<2xf32>) {
      ^bb0(%x: f32, %z: f32):
        %h = arith.constant 5.000000e-01 : f32
        %p = arith.mulf %z, %h : f32
        %s = arith.addf %p, %x : f32
        linalg.yield %s : f32
      } -> tensor<2xf32>
      func.return %r : tensor<2xf32> }"""
    a = np.array([[1, 2, 3, 4], [8, 0, 0, 0]], F)
    np.testing.assert_array_equal(run(text, a, np.zeros(2, F))[0], [((0.5 + 2) / 2 + 3) / 2 + 4, 1])


def test_reductions_in_order_see_strides_and_indices() -> None:
    """Two reduction loops around a transposed result; what is read is no projected permutation of them."""
    text = """func.func @main(%a: tensor<9x2xf32>, %b: tensor<3x5x2xf32>, %o: tensor<2x3xf32>) -> tensor<2x3xf32> {
      %r = linalg.generic {indexing_maps = [affine_map<(i, k, j, l) -> (i * 2 + k, j)>, affine_map<(i, k, j, l) -> (i, k, l)>,
          affine_map<(i, k, j, l) -> (j, i)>], iterator_types = ["parallel", "reduction", "parallel", "reduction"]}
          ins(%a, %b : tensor<9x2xf32>, tensor<3x5x2xf32>) outs(%o : tensor<2x3xf32>) {
      ^bb0(%x: f32, %y: f32, %z: f32):
        %k = linalg.index 1 : index
        %l = linalg.index 3 : index
        %kl = arith.addi %k, %l : index
        %c = arith.index_cast %kl : index to i32
        %f = arith.sitofp %c : i32 to f32
        %h = arith.constant 5.000000e-01 : f32
        %p = arith.mulf %z, %h : f32
        %q = arith.mulf %y, %x : f32
        %s = arith.addf %p, %q : f32
        %t = arith.addf %s, %f : f32
        linalg.yield %t : f32
      } -> tensor<2x3xf32>
      func.return %r : tensor<2x3xf32> }"""
    random = np.random.default_rng(0)
    a, b, o = (random.integers(-4, 5, shape).astype(F) for shape in ((9, 2), (3, 5, 2), (2, 3)))
    expected = o.copy()
    for j, i, k, m in np.ndindex(2, 3, 5, 2):
        expected[j, i] = expected[j, i] / 2 + b[i, k, m] * a[2 * i + k, j] + k + m
    np.testing.assert_array_equal(run(text, a, b, o)[0], expected)


QUANTISED = """
func.func @main(%w: tensor<3x7x5xf32>, %largest: tensor<3x7xf32>) -> (tensor<7x3x5xi8>, tensor<7x3xf32>) {
  %e = tensor.empty() : tensor<7x3x5xi8>
  %q = linalg.generic {indexing_maps = [affine_map<(a, b, c) -> (b, a, c)>, affine_map<(a, b, c) -> (b, a)>,
                       affine_map<(a, b, c) -> (a, b, c)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%w, %largest : tensor<3x7x5xf32>, tensor<3x7xf32>) outs(%e : tensor<7x3x5xi8>) {
  ^bb0(%x: f32, %most: f32, %o: i8):
    %index = linalg.index 2 : index
    %number = arith.index_cast %index : index to i32
    %whole = arith.sitofp %number : i32 to f32
    %moved = arith.addf %x, %whole : f32
    %r = arith.divf %moved, %most : f32
    %i = arith.fptosi %r : f32 to i8
    linalg.yield %i : i8
  } -> tensor<7x3x5xi8>
  %zero = arith.constant 0.0 : f32
  %n = tensor.empty() : tensor<7x3xf32>
  %f = linalg.fill ins(%zero : f32) outs(%n : tensor<7x3xf32>) -> tensor<7x3xf32>
  %m = linalg.generic {indexing_maps = [affine_map<(a, b, c) -> (b, a, c)>, affine_map<(a, b, c) -> (a, b)>],
                       iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%w : tensor<3x7x5xf32>) outs(%f : tensor<7x3xf32>) {
  ^bb0(%x: f32, %o: f32):
    %a = math.absf %x : f32
    %b = arith.maximumf %o, %a : f32
    linalg.yield %b : f32
  } -> tensor<7x3xf32>
  func.return %q, %m : tensor<7x3x5xi8>, tensor<7x3xf32>
}"""


@pytest.mark.parametrize(("at_once", "most"), [(1, 1), (30, 2), (50, 3)])
def test_a_large_space_in_parts_gives_the_same_bits(at_once: int, most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 7 iterations of 15 points one, two and three at a time: one is left over of the last."""
    rng = np.random.default_rng(7)
    w, largest = rng.standard_normal((3, 7, 5), np.float32), rng.uniform(0.5, 1, (3, 7)).astype(np.float32)
    expected = run(QUANTISED, w, largest)
    parts: set[int] = set()
    take = emit_structured.part_of

    def noted(array: Any, axis: int | None, begin: int, end: int) -> Any:
        parts.add(end - begin)
        return take(array, axis, begin, end)

    monkeypatch.setattr(emit_structured, "part_of", noted)
    monkeypatch.setattr(emit_structured, "AT_ONCE", at_once)
    in_parts = run(QUANTISED, w, largest)
    assert parts == {most, 1}, "no part was taken, or another"
    for whole, part in zip(expected, in_parts, strict=True):
        assert whole.dtype == part.dtype and np.array_equal(whole, part)
    assert np.array_equal(in_parts[1], np.abs(w).max(2).T)


def test_what_depends_on_all_iterations_is_never_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sums of floats, which would be added up in another order, and what asks for the number of an iteration."""
    monkeypatch.setattr(emit_structured, "AT_ONCE", 1)
    monkeypatch.setattr(emit_structured, "part_of", None)
    w = np.arange(105, dtype=np.float32).reshape(3, 7, 5)
    text = QUANTISED.replace("arith.maximumf %o, %a", "arith.addf %o, %a").replace("linalg.index 2", "linalg.index 0")
    assert np.array_equal(run(text, w, np.ones((3, 7), np.float32))[1], w.sum(2).T)


def test_arrays_that_nobody_needs_any_more_are_forgotten() -> None:
    """Not those that are returned; what both branches of a choice use, behind it."""
    text = """func.func @main(%c: i1, %x: tensor<4xf32>) -> tensor<4xf32> {
      %e = tensor.empty() : tensor<4xf32>
      %a = linalg.add ins(%x, %x : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
      %b = linalg.add ins(%a, %x : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
      %d = scf.if %c -> (tensor<4xf32>) {
        %f = linalg.add ins(%b, %a : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
        scf.yield %f : tensor<4xf32>
      } else {
        scf.yield %b : tensor<4xf32>
      }
      func.return %d : tensor<4xf32>
    }"""
    function = translate(next(op for op in parse_module(text).walk() if isinstance(op, func.FuncOp)), False)
    source = vars(function)["source"]  # the text that it was compiled from
    forgotten = [line for line in source.splitlines() if line.startswith("    del ")]
    x = np.arange(4, dtype=F)
    assert len(forgotten) == 1 and forgotten[0].count("v") == 2, source
    for taken in (True, False):
        assert np.array_equal(function(np.asarray(taken), x)[0], x * (5 if taken else 3))


def test_a_shape_known_at_run_time_only_is_refused() -> None:
    text = """func.func @main(%a: tensor<2xf32>) -> tensor<2xf32> {
      %n = arith.constant 2 : index
      %e = tensor.empty(%n) : tensor<?xf32>
      %r = tensor.cast %e : tensor<?xf32> to tensor<2xf32>
      func.return %r : tensor<2xf32> }"""
    with pytest.raises(CompileError, match=r"values of type tensor<\?xf32> cannot be executed; accepted: static shapes"):
        run(text, np.zeros(2, F))


def test_tensor_operations() -> None:
    text = """func.func @main(%a: tensor<2x3xf32>, %b: tensor<2x2xf32>) -> (tensor<2x5xf32>, tensor<3x3xf32>, tensor<2x3xf32>) {
      %c = tensor.concat dim(1) %a, %b : (tensor<2x3xf32>, tensor<2x2xf32>) -> tensor<2x5xf32>
      %z = arith.constant 7.000000e+00 : f32
      %p = tensor.pad %a low[1, 0] high[0, 0] {
      ^bb0(%i: index, %j: index):
        tensor.yield %z : f32
      } : tensor<2x3xf32> to tensor<3x3xf32>
      %s = tensor.extract_slice %b[0, 0] [2, 1] [1, 1] : tensor<2x2xf32> to tensor<2x1xf32>
      %r = tensor.insert_slice %s into %a[0, 2] [2, 1] [1, 1] : tensor<2x1xf32> into tensor<2x3xf32>
      func.return %c, %p, %r : tensor<2x5xf32>, tensor<3x3xf32>, tensor<2x3xf32> }"""
    a, b = np.arange(6, dtype=F).reshape(2, 3), -np.ones((2, 2), F)
    joined, padded, inserted = run(text, a, b)
    np.testing.assert_array_equal(joined, np.concatenate([a, b], axis=1))
    np.testing.assert_array_equal(padded, np.vstack([np.full((1, 3), 7, F), a]))
    np.testing.assert_array_equal(inserted, [[0, 1, -1], [3, 4, -1]])


def test_contents_of_an_empty_tensor_show() -> None:
    found = run("func.func @main() -> tensor<2xf32> { %e = tensor.empty() : tensor<2xf32> func.return %e : tensor<2xf32> }")
    assert np.isnan(found[0]).all()


def test_unsupported_operation_is_named_with_its_module() -> None:
    text = """func.func @main(%a: tensor<2xf32>) -> tensor<2xf32> {
      %r = func.call @other(%a) {stc.module = "attn.c_proj"} : (tensor<2xf32>) -> tensor<2xf32>
      func.return %r : tensor<2xf32> }
      func.func private @other(tensor<2xf32>) -> tensor<2xf32>"""
    with pytest.raises(CompileError, match=r"func.call of attn.c_proj: operation cannot be executed"):
        run(text, np.zeros(2, F))


def test_input_of_the_wrong_shape_or_type_is_refused() -> None:
    text = "func.func @main(%a: tensor<2xf32>) -> tensor<2xf32> { func.return %a : tensor<2xf32> }"
    with pytest.raises(CompileError, match=r"input 0 is float32\[3\]; accepted: float32\[2\]"):
        run(text, np.zeros(3, F))
    with pytest.raises(CompileError, match="0 inputs given"):
        run(text)
