"""`split-arg-max`: the same place as one comparison after the other finds, of equal terms, infinities, and what is no number."""

from __future__ import annotations

import math

import numpy as np
import pytest
from xdsl.dialects import linalg
from xdsl.dialects.builtin import ModuleOp

from stc.design_space.reduction_splits import arg_max_groups
from stc.dialects.context import make_context
from stc.dialects.parsing import parse_module
from stc.execution.run import execute
from stc.transforms.linalg.split_arg_max import SplitArgMax
from stc_testing.drawn import seeds

FOUND = """
func.func @main(%x: tensor<{shape}xf32> {{stc.name = "x"}})
    -> (tensor<3xf32> {{stc.name = "m"}}, tensor<3xi64> {{stc.name = "i"}}) {{
  %inf = arith.constant {first} : f32
  %c0 = arith.constant 0 : i64
  %a = tensor.empty() : tensor<3xf32>
  %low = linalg.fill ins(%inf : f32) outs(%a : tensor<3xf32>) -> tensor<3xf32>
  %b = tensor.empty() : tensor<3xi64>
  %zero = linalg.fill ins(%c0 : i64) outs(%b : tensor<3xi64>) -> tensor<3xi64>
  %m, %i = linalg.generic {{indexing_maps = [affine_map<({loops}) -> ({loops})>, affine_map<({loops}) -> (r)>,
      affine_map<({loops}) -> (r)>], iterator_types = ["parallel"{reductions}]}}
      ins(%x : tensor<{shape}xf32>) outs(%low, %zero : tensor<3xf32>, tensor<3xi64>) attrs = {{stc.name = "best"}} {{
  ^bb0(%t: f32, %best: f32, %place: i64):
    {index}
    %at = arith.index_cast %d : index to i64
    %max = arith.{extreme}imumf %t, %best : f32
    %more = arith.cmpf {predicate}, %t, %best : f32
    %is = arith.cmpf ord, %best, %best : f32
    %both = arith.andi %more, %is : i1
    %new = arith.select %both, %at, %place : i64
    linalg.yield %max, %new : f32, i64
  }} -> (tensor<3xf32>, tensor<3xi64>)
  return %m, %i : tensor<3xf32>, tensor<3xi64>
}}
"""
INDICES = {
    1: "%d = linalg.index 1 : index",
    3: """%p = linalg.index 1 : index
    %two = arith.constant 2 : index
    %q = arith.muli %p, %two : index
    %s = linalg.index 2 : index
    %u = arith.addi %q, %s : index
    %size = arith.constant {last} : index
    %v = arith.muli %u, %size : index
    %w = linalg.index 3 : index
    %d = arith.addi %v, %w : index""",
}


def found(shape: tuple[int, ...], extreme: str = "max") -> str:
    largest, loops = extreme == "max", ", ".join(["r", *"abc"[: len(shape)]])
    return FOUND.format(
        shape="x".join(map(str, (3, *shape))), loops=loops, reductions=', "reduction"' * len(shape),
        index=INDICES[len(shape)].format(last=shape[-1]), extreme=extreme, predicate="ugt" if largest else "ult",
        first="0xFF800000" if largest else "0x7F800000",
    )  # fmt: skip


def generics(module: ModuleOp) -> int:
    return len([op for op in module.walk() if isinstance(op, linalg.ops.GenericOp)])


def require_same_when_split(module: ModuleOp, x: np.ndarray) -> None:
    before = execute(module, [x])
    SplitArgMax().apply(make_context(), module)
    module.verify()
    assert generics(module) == 2
    for one, other in zip(before, execute(module, [x]), strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("seed", seeds(6))
@pytest.mark.parametrize(
    "shape, extreme", [((640,), "max"), ((80,), "min"), ((96,), "max"), ((8, 2, 16), "max"), ((5, 2, 6), "min")]
)
def test_the_same_place(shape: tuple[int, ...], extreme: str, seed: int) -> None:
    """Of numbers of which many are equal; a row has infinities or nothing else, another one some that are none."""
    random = np.random.default_rng(seed)
    x = random.integers(-3, 3, (3, *shape)).astype(np.float32)
    x[0].flat[random.integers(0, x[0].size, 5)] = random.choice(np.array([-0.0, np.inf, -np.inf], np.float32), 5)
    x[1] = random.choice(np.array([-np.inf, np.inf], np.float32))
    x[2].flat[random.integers(0, x[2].size, random.integers(0, 3))] = np.nan
    module = parse_module(found(shape, extreme))
    require_same_when_split(module, x)


@pytest.mark.parametrize("first, place", [("-5.0", 5), ("-0.0", -1), ("2.0", 639), ("0x7FC00000", 3)])
def test_what_is_there_at_first(first: str, place: int) -> None:
    """Some, all, or none of the terms are better than it; a cast that nobody asks for is no place."""
    text = found((640,)).replace("0xFF800000", first).replace("constant 0 : i64", f"constant {place} : i64")
    module = parse_module(text.replace("%max =", "%unused = arith.index_cast %d : index to i64\n    %max ="))
    x = np.random.default_rng(0).integers(-3, 3, (3, 640)).astype(np.float32)
    x[0], x[1] = -7, np.where(x[1] < 0, -0.0, 0.0)
    require_same_when_split(module, x)


SUM_OF_PRODUCTS = """
func.func @main(%x: tensor<640xf32> {stc.name = "x"}, %f: tensor<f32> {stc.name = "f"}) -> (tensor<f32> {stc.name = "y"}) {
  %zero = arith.constant 0.0 : f32
  %a = tensor.empty() : tensor<f32>
  %b = linalg.fill ins(%zero : f32) outs(%a : tensor<f32>) -> tensor<f32>
  %y = linalg.generic {indexing_maps = [affine_map<(d) -> (d)>, affine_map<(d) -> ()>, affine_map<(d) -> ()>],
      iterator_types = ["reduction"]} ins(%x, %f : tensor<640xf32>, tensor<f32>) outs(%b : tensor<f32>) {
  ^bb0(%t: f32, %g: f32, %s: f32):
    %p = arith.mulf %t, %g : f32
    %n = arith.addf %s, %p : f32
    linalg.yield %n : f32
  } -> tensor<f32>
  return %y : tensor<f32>
}
"""
"""As many operands as an arg-max has, along the same loops."""


@pytest.mark.parametrize("text", [
    found((7,)),  # a prime: nothing divides it
    SUM_OF_PRODUCTS,
    found((640,)).replace("ugt", "oge"),  # of equal ones the last
    found((640,)).replace("arith.cmpf ord, %best, %best", "arith.cmpf ord, %t, %t"),
    found((640,)).replace("arith.maximumf", "arith.maxnumf"),
    found((8, 2, 16)).replace("%q = arith.muli %p, %two", "%q = arith.addi %p, %two"),
    found((640,)).replace("i64", "i8"),  # places wrap around
    found((640,)).replace("constant 0 : i64", f"constant {2**63 - 1} : i64"),  # one that is to be larger than all
])  # fmt: skip
def test_what_is_left_alone(text: str) -> None:
    module = parse_module(text)
    SplitArgMax().apply(make_context(), module)
    assert generics(module) == 1


@pytest.mark.parametrize("extents", [(51200,), (400, 2, 64), (80,), (7,), (1,), (3, 5), (262144,)])
def test_groups_are_all_terms(extents: tuple[int, ...]) -> None:
    groups = arg_max_groups(extents)
    assert tuple(map(math.prod, groups)) == extents
    parts = groups[0][0] * groups[-1][-1] if len(extents) > 1 else groups[0][0] * groups[0][2]
    assert parts**2 <= 2 * math.prod(extents)


def test_groups_of_a_large_head() -> None:
    assert arg_max_groups((400, 2, 64)) == ((16, 25), (2,), (4, 16)) and arg_max_groups((51200,)) == ((16, 200, 16),)
