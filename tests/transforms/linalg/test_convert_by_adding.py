"""`convert-by-adding`: the same bits as rounding and converting, for ties, numbers that are none, and all sums of few bits."""

from __future__ import annotations

import numpy as np
import pytest
from xdsl.dialects import arith, math
from xdsl.dialects.builtin import ModuleOp

from stc.dialects.context import make_context
from stc.dialects.parsing import parse_module
from stc.execution.run import execute
from stc.transforms.linalg.convert_by_adding import ConvertByAddingPass
from stc.transforms.linalg.pack_products import PackProducts

NUMBERS = np.array(
    [0.0, -0.0, 0.5, 1.5, -0.5, -2.5, 126.5, 127.5, -126.5, -127.5, 0.49999997, 1e30, -1e30, np.inf, -np.inf, np.nan, 1e-45],
    np.float32,
)

CUTS = {
    "minnum": "%c = arith.minnumf %r, %most : f32\n    %d = arith.maxnumf %c, %least : f32",
    "maxnum first": "%c = arith.maxnumf %r, %least : f32\n    %d = arith.minnumf %c, %most : f32",
    "clamp": """%p = arith.cmpf olt, %r, %most : f32
    %c = arith.select %p, %r, %most : f32
    %q = arith.cmpf ogt, %c, %least : f32
    %d = arith.select %q, %c, %least : f32""",
}

ROUNDED = """
func.func @main(%x: tensor<{count}xf32> {{stc.name = "x"}}) -> (tensor<{count}xi{bits}> {{stc.name = "y"}}) {{
  %e = tensor.empty() : tensor<{count}xi{bits}>
  %y = linalg.generic {{indexing_maps = [affine_map<(a) -> (a)>, affine_map<(a) -> (a)>], iterator_types = ["parallel"]}}
      ins(%x : tensor<{count}xf32>) outs(%e : tensor<{count}xi{bits}>) attrs = {{stc.name = "y"}} {{
  ^bb0(%a: f32, %b: i{bits}):
    %most = arith.constant {most} : f32
    %least = arith.constant {least} : f32
    %r = math.roundeven %a : f32
    {cut}
    %i = arith.fptosi %d : f32 to i{bits}
    linalg.yield %i : i{bits}
  }} -> tensor<{count}xi{bits}>
  return %y : tensor<{count}xi{bits}>
}}
"""


def rounding(cut: str, bits: int = 8, most: float = 127.0, least: float = -127.0) -> str:
    return ROUNDED.format(count=len(NUMBERS), bits=bits, most=most, least=least, cut=CUTS[cut])


def converted(text: str) -> ModuleOp:
    module = parse_module(text)
    ConvertByAddingPass().apply(make_context(), module)
    module.verify()
    return module


def kinds(module: ModuleOp) -> set[type]:
    return {type(op) for op in module.walk()}


@pytest.mark.parametrize("cut", CUTS)
@pytest.mark.parametrize(("bits", "most", "least"), [(8, 127.0, -127.0), (4, 7.0, -8.0), (16, 32767.0, -32768.0)])
def test_rounded_numbers_are_the_same(cut: str, bits: int, most: float, least: float) -> None:
    text = rounding(cut, bits, most, least)
    module = converted(text)
    assert math.RoundEvenOp not in kinds(module) and arith.FPToSIOp not in kinds(module)
    (before,), (after,) = (execute(each, [NUMBERS]) for each in (parse_module(text), module))
    assert np.array_equal(before, after)


@pytest.mark.parametrize(
    "text",
    [
        rounding("minnum", most=127.5),
        rounding("minnum", 32, 4194304.0, -1.0),
        rounding("minnum").replace("maxnumf %c, %least", "minnumf %c, %least"),
        rounding("minnum").replace("math.roundeven", "math.floor"),
        rounding("clamp").replace("select %p, %r, %most", "select %p, %most, %r"),
        rounding("clamp").replace("olt", "ogt"),
    ],
    ids=["no integer", "too large", "one side", "another rounding", "the other way round", "another comparison"],
)
def test_other_roundings_stay(text: str) -> None:
    assert str(converted(text)) == str(parse_module(text))


SUMS = """
func.func @main(%x: tensor<1x{k}xi8> {{stc.name = "x"}}, %w: tensor<4x{k}xi{bits}> {{stc.name = "w", stc.parameter}})
    -> (tensor<1x4xf32> {{stc.name = "y"}}) {{
  %zero = arith.constant {zero} : i32
  %e = tensor.empty() : tensor<1x4xi32>
  %f = linalg.fill ins(%zero : i32) outs(%e : tensor<1x4xi32>) -> tensor<1x4xi32>
  %s = linalg.generic {{indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>,
      affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}}
      ins(%x, %w : tensor<1x{k}xi8>, tensor<4x{k}xi{bits}>) outs(%f : tensor<1x4xi32>) attrs = {{stc.name = "s"}} {{
  ^bb0(%a: i8, %b: i{bits}, %t: i32):
    %c = arith.extsi %a : i8 to i32
    %d = arith.extsi %b : i{bits} to i32
    %p = arith.muli %d, %c : i32
    %u = arith.addi %t, %p : i32
    linalg.yield %u : i32
  }} -> tensor<1x4xi32>
  %g = tensor.empty() : tensor<1x4xf32>
  %y = linalg.generic {{indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>],
      iterator_types = ["parallel", "parallel"]}} ins(%s : tensor<1x4xi32>) outs(%g : tensor<1x4xf32>) attrs = {{stc.name = "y"}} {{
  ^bb0(%a: i32, %b: f32):
    %c = arith.sitofp %a : i32 to f32
    linalg.yield %c : f32
  }} -> tensor<1x4xf32>
  return %y : tensor<1x4xf32>
}}
"""


@pytest.mark.parametrize(
    ("bits", "k", "is_packed"), [(4, 128, False), (4, 1024, False), (8, 64, False), (8, 16, False), (4, 128, True), (8, 16, True)]
)
def test_sums_of_few_bits_are_the_same_floats(bits: int, k: int, is_packed: bool) -> None:
    """The longest sums of each sign, whose conversion is exact, packed two in a multiplier or not."""
    text = SUMS.format(k=k, bits=bits, zero=0)
    module = parse_module(text)
    if is_packed:
        PackProducts(terms=2).apply(make_context(), module)
    ConvertByAddingPass().apply(make_context(), module)
    assert arith.SIToFPOp not in kinds(module)
    least = -(1 << (bits - 1))
    for x in (-128, 127, 0, 1):
        w = np.array([[least] * k, [-least - 1] * k, [0] * k, [1] + [0] * (k - 1)], np.int8)
        (before,), (after,) = (execute(each, [np.full((1, k), x, np.int8), w]) for each in (parse_module(text), module))
        assert np.array_equal(before, after)


@pytest.mark.parametrize(("bits", "k", "zero"), [(8, 256, 0), (4, 16, 5)], ids=["24 bits", "begins with something else"])
def test_sums_that_may_be_larger_stay(bits: int, k: int, zero: int) -> None:
    text = SUMS.format(k=k, bits=bits, zero=zero)
    assert str(converted(text)) == str(parse_module(text))


@pytest.mark.parametrize("number", [(1 << 22) - 1, -(1 << 22), 0, 1, -1])
def test_all_integers_below_the_largest_are_exact(number: int) -> None:
    """What the two operations give, in numpy: of integers that fit in 23 bits with a sign, and of no more."""
    magic = np.float32(12582912.0)
    assert float((np.int32(number) + np.int32(0x4B400000)).view(np.float32) - magic) == number
    assert float((np.int32(1 << 22) + np.int32(0x4B400000)).view(np.float32) - magic) == 1 << 22
    assert float((np.int32((1 << 22) + 3) + np.int32(0x4B400000)).view(np.float32) - magic) != (1 << 22) + 3
