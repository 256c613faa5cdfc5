"""`narrow-factors`, executed: no integer changes, and factors are as narrow as what they may be."""

from __future__ import annotations

import re

import numpy as np
import pytest

from stc.dialects.context import make_context
from stc.dialects.parsing import parse_module
from stc.execution.run import execute
from stc.transforms.linalg.narrow_factors import NarrowFactors

HEAD = """
#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>
#id = affine_map<(d0, d1) -> (d0, d1)>
#tr = affine_map<(d0, d1) -> (d1, d0)>
"""
PRODUCT = """
  %zero{n} = arith.constant 0 : {sum}
  %e{n} = tensor.empty() : tensor<{m}x{out}x{sum}>
  %f{n} = linalg.fill ins(%zero{n} : {sum}) outs(%e{n} : tensor<{m}x{out}x{sum}>) -> tensor<{m}x{out}x{sum}>
  %y{n} = linalg.generic {{indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]}}
      ins(%a, %b : tensor<{m}x{k}xi32>, tensor<{k}x{out}xi32>) outs(%f{n} : tensor<{m}x{out}x{sum}>) {{
  ^bb0(%i: i32, %j: i32, %s: {sum}):
    {product}
    %r = arith.addi %s, %p : {sum}
    linalg.yield %r : {sum}
  }} -> tensor<{m}x{out}x{sum}>
"""
AS_I32 = "%p = arith.muli %i, %j : i32"
AS_I64 = "%v = arith.extsi %i : i32 to i64 %w = arith.extsi %j : i32 to i64 %p = arith.muli %v, %w : i64"


def mapped(result: str, source: str, kinds: tuple[str, str], shapes: tuple[str, str], maps: str, body: str) -> str:
    return f"""
  %{result}_empty = tensor.empty() : tensor<{shapes[1]}x{kinds[1]}>
  %{result} = linalg.generic {{indexing_maps = [{maps}], iterator_types = ["parallel", "parallel"]}}
      ins(%{source} : tensor<{shapes[0]}x{kinds[0]}>) outs(%{result}_empty : tensor<{shapes[1]}x{kinds[1]}>) {{
  ^bb0(%i: {kinds[0]}, %o: {kinds[1]}):
    {body}
    linalg.yield %r : {kinds[1]}
  }} -> tensor<{shapes[1]}x{kinds[1]}>"""


SIGNED = "%r = arith.extsi %i : i8 to i32"
UNSIGNED = "%r = arith.extui %i : i8 to i32"
OF_NIBBLES = "%c = arith.constant 15 : i8 %n = arith.andi %i, %c : i8 %r = arith.extsi %n : i8 to i32"
MOVED = "%w = arith.extsi %i : i8 to i32 %c = arith.constant 128 : i32 %r = arith.addi %w, %c : i32"
WIDER = "%w = arith.extsi %i : i8 to i32 %c = arith.constant 200 : i32 %r = arith.muli %w, %c : i32"
WRAPPED = "%w = arith.extsi %i : i8 to i32 %c = arith.constant 30000000 : i32 %r = arith.muli %w, %c : i32"
PAST_I64_FLOATS = """%t = arith.trunci %i : i8 to i4 %w = arith.extui %t : i4 to i64 %c = arith.constant 1152921504606846976 : i64
    %u = arith.addi %w, %c : i64 %v = arith.subi %u, %c : i64 %r = arith.trunci %v : i64 to i32"""
ROUNDED_F32 = """%w = arith.sitofp %i : i8 to f32 %c = arith.constant 67108864.0 : f32
    %u = arith.addf %w, %c : f32 %v = arith.subf %u, %c : f32 %r = arith.fptosi %v : f32 to i32"""
ROUNDED_F16 = """%w = arith.extsi %i : i8 to i16 %c = arith.constant 258 : i16 %u = arith.muli %w, %c : i16
    %v = arith.sitofp %u : i16 to f16 %r = arith.fptosi %v : f16 to i32"""
IS_ZERO = "%c = arith.constant 0 : i8 %z = arith.cmpi eq, %i, %c : i8 %r = arith.extui %z : i1 to i32"


def program(m: int, k: int, n: int, first: str, second: str, *, of_i64: bool = False, users: int = 1) -> str:
    """An m by k activation and the n by k parameter, transposed, become i32, and are multiplied `users` times."""
    kind, product = ("i64", AS_I64) if of_i64 else ("i32", AS_I32)
    results = ", ".join([f"tensor<{m}x{n}x{kind}>"] * users)
    body = mapped("a", "x", ("i8", "i32"), (f"{m}x{k}", f"{m}x{k}"), "#id, #id", first)
    body += mapped("b", "q", ("i8", "i32"), (f"{n}x{k}", f"{k}x{n}"), "#tr, #id", second)
    body += "".join(PRODUCT.format(n=i, m=m, k=k, out=n, sum=kind, product=product) for i in range(users))
    returned = ", ".join(f"%y{i}" for i in range(users))
    arguments = f"%x: tensor<{m}x{k}xi8>, %q: tensor<{n}x{k}xi8> {{stc.parameter}}"
    return f"{HEAD}func.func @main({arguments}) -> ({results}) {{{body}\n  return {returned} : {results}\n}}"


@pytest.mark.parametrize("of_i64", [False, True])
@pytest.mark.parametrize(
    ("first", "second", "kinds"),
    [
        (SIGNED, SIGNED, ("i8", "i8")),
        (UNSIGNED, SIGNED, ("i8", "i8")),
        (MOVED, OF_NIBBLES, ("i8", "i4")),
        (WIDER, UNSIGNED, ("i16", "i8")),
        (IS_ZERO, MOVED, ("i4", "i8")),
        (WRAPPED, SIGNED, ("i32", "i8")),
        (WRAPPED, WRAPPED, ("i32", "i32")),
        (PAST_I64_FLOATS, SIGNED, ("i4", "i8")),
        (ROUNDED_F32, SIGNED, ("i32", "i8")),
        (ROUNDED_F16, SIGNED, ("i32", "i8")),
    ],
    ids=["signed", "unsigned", "moved and nibbles", "wider", "bools", "one wraps around", "both wrap around", "i64", "f32", "f16"],
)
@pytest.mark.parametrize("sizes", [(5, 7, 3), (1, 1, 1), (2, 13, 1)])
def test_integers_are_the_same(sizes: tuple[int, int, int], first: str, second: str, kinds: tuple[str, str], of_i64: bool) -> None:
    module = parse_module(program(*sizes, first, second, of_i64=of_i64))
    m, k, n = sizes
    random = np.random.default_rng(k)
    arrays = [random.integers(-128, 128, shape).astype(np.int8) for shape in ((m, k), (n, k))]
    arrays[0].flat[0], arrays[0].flat[-1], arrays[1].flat[0] = -128, 127, 127
    expected = execute(module.clone(), arrays)
    NarrowFactors().apply(make_context(), module)
    module.verify()
    np.testing.assert_array_equal(execute(module, arrays)[0], expected[0])
    assert factors(str(module)) == [kinds]
    assert not of_i64 or "i32" in kinds or "i32 to i64" not in str(module), "one extension each, which narrow-sums knows"


def factors(text: str) -> list[tuple[str, ...]]:
    """The element types of both factors of each contraction."""
    lines = [line for line in text.splitlines() if '"reduction"' in line]
    return [tuple(re.findall(r"x(i\d+)>", re.findall(r"ins\(.*? : (.*?)\) outs", line)[0])) for line in lines]


def test_several_contractions_share_a_narrow_factor():
    module = parse_module(program(3, 5, 2, UNSIGNED, SIGNED, users=2))
    arrays = [np.arange(15).reshape(3, 5).astype(np.int8) - 7, np.arange(10).reshape(2, 5).astype(np.int8)]
    expected = execute(module.clone(), arrays)
    NarrowFactors().apply(make_context(), module)
    assert factors(str(module)) == [("i8", "i8")] * 2 and str(module).count("trunci") == 2
    for found, wanted in zip(execute(module, arrays), expected, strict=True):
        np.testing.assert_array_equal(found, wanted)
