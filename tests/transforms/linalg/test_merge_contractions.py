"""`merge-contractions` keeps values, and leaves alone what is not the same but for parameters."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest
from xdsl.dialects import linalg, tensor
from xdsl.dialects.builtin import ModuleOp

from stc.dialects.context import make_context
from stc.dialects.parsing import parse_module
from stc.execution.run import execute
from stc.transforms.linalg.merge_contractions import MergeContractions
from stc_testing.drawn import seeds

PROGRAM = """
#x = affine_map<(r, n, k) -> (k)>
#w = affine_map<(r, n, k) -> {weights}>
#sums = affine_map<(r, n, k) -> (r, n)>
#all = affine_map<(r, n) -> (r, n)>
#turned = affine_map<(r, n) -> (n, r)>
func.func @main(%x: tensor<6xi8> {{stc.name = "x"}}, %z: tensor<6xi8> {{stc.name = "z"}},
    %u: {kind} {{stc.name = "u"{parameter}}}, %v: {kind} {{stc.name = "v"{parameter}}}) -> ({results}) {{
  %zero = arith.constant 0 : i32  %also = arith.constant 0 : i32  %one = arith.constant 1 : i32
  %e = tensor.empty() : tensor<3x5xi32>  %t = tensor.empty() : tensor<5x3xi32>
  %f = linalg.fill ins(%zero : i32) outs(%e : tensor<3x5xi32>) -> tensor<3x5xi32>
  %g = linalg.fill ins(%also : i32) outs(%e : tensor<3x5xi32>) -> tensor<3x5xi32>
  %h = linalg.fill ins(%one : i32) outs(%e : tensor<3x5xi32>) -> tensor<3x5xi32>
  %d = arith.constant dense<7> : tensor<3x5xi32>
  {first}
  {second}
  {reader}
  return {values} : {results}
}}
"""
SUM = """linalg.generic {indexing_maps = [#x, #w, #sums], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%{x}, %{w} : tensor<6xi8>, {kind}) outs(%{start} : tensor<3x5xi32>) attrs = {stc.name = "{name}"} {
  ^bb0(%p: i8, %q: i8, %s: i32):
    %i = arith.extsi %p : i8 to i32  %j = arith.extsi %q : i8 to i32
    %m = arith.muli %i, %j : i32  %n = arith.{add} %s, %m : i32  linalg.yield %n : i32
  } -> tensor<3x5xi32>"""
READ = """%y = linalg.generic {{indexing_maps = [#{map}, #{map}, #{map}], iterator_types = ["parallel", "parallel"]}}
    ins(%{one}, %{other} : tensor<3x5xi32>, tensor<3x5xi32>) outs(%e : tensor<3x5xi32>) {{
  ^bb0(%p: i32, %q: i32, %s: i32):  %m = arith.subi %p, %q : i32  linalg.yield %m : i32
  }} -> tensor<3x5xi32>"""
KINDS = {"(k, r, n)": "tensor<6x3x5xi8>", "(r, k, n)": "tensor<3x6x5xi8>", "(n, k, r)": "tensor<5x6x3xi8>"}
WHOLE = "tensor<3x5xi32>"


def contraction(name: str, kind: str, x: str = "x", w: str = "u", start: str = "f", add: str = "addi") -> str:
    changes = {"{x}": x, "{w}": w, "{start}": start, "{add}": add, "{kind}": kind, "{name}": name}
    text = SUM
    for old, new in changes.items():
        text = text.replace(old, new)
    return f"%{name} = {text}"


def program(weights: str = "(k, r, n)", other: Mapping[str, str] | None = None, **changed: str) -> str:
    kind = KINDS[weights]
    first = contraction("a", kind)
    second = contraction("b", kind, **{"w": "v", **(other or {})})
    said = {
        "weights": weights, "kind": kind, "parameter": ", stc.parameter", "first": first, "second": second,
        "reader": READ.format(map="all", one="a", other="b"), "values": "%y", "results": WHOLE,
    }  # fmt: skip
    return PROGRAM.format(**{**said, **changed})


def merged(text: str, seed: int = 0) -> ModuleOp:
    """The module behind the pass, which has to make the same of random inputs."""
    random = np.random.default_rng(seed)
    module = parse_module(text)
    shapes = [(6,), (6,), *2 * [tuple(map(int, text.split("%u: tensor<")[1].split("xi8")[0].split("x")))]]
    inputs = [random.integers(-9, 9, shape, np.int8) for shape in shapes]
    before = execute(module, inputs)
    MergeContractions().apply(make_context(), module)
    module.verify()
    for one, other in zip(before, execute(module, inputs), strict=True):
        np.testing.assert_array_equal(one, other)
    return module


def contractions(module: ModuleOp) -> int:
    return sum(isinstance(op, linalg.ops.GenericOp) and len(op.iterator_types) > 2 for op in module.walk())


@pytest.mark.parametrize("seed", seeds(3))
@pytest.mark.parametrize("weights", KINDS)
@pytest.mark.parametrize("start", ["f", "g"])
def test_one_contraction_of_two(weights: str, start: str, seed: int) -> None:
    """However weights lie, and though each fill has a constant of its own."""
    module = merged(program(weights, {"start": start}), seed)
    assert contractions(module) == 1 and any(isinstance(op, tensor.ExtractSliceOp) for op in module.walk())


def test_the_reader_may_take_the_second_first() -> None:
    """Though parameters of the second are computed behind the first."""
    kind = KINDS["(k, r, n)"]
    own = "%w = tensor.collapse_shape %v [[0, 1], [2]] : tensor<6x3x5xi8> into tensor<18x5xi8>"
    again = f"%vv = tensor.expand_shape %w [[0, 1], [2]] output_shape [6, 3, 5] : tensor<18x5xi8> into {kind}"
    second = f"{own}\n  {again}\n  {contraction('b', kind, w='vv')}"
    text = program(second=second, reader=READ.format(map="all", one="b", other="a"))
    assert contractions(merged(text)) == 1


@pytest.mark.parametrize(
    "text",
    [
        program(other={"x": "z"}),  # another activation
        program(other={"start": "h"}),  # another beginning
        program(other={"start": "d"}),
        program(other={"add": "subi"}),  # another body
        program(parameter=""),  # of nothing that the host knows
        program(values="%y, %a", results=f"{WHOLE}, {WHOLE}"),  # one of them is used otherwise, too
        program(reader=READ.format(map="all", one="a", other="a"), values="%y, %b", results=f"{WHOLE}, {WHOLE}"),
    ],
)
def test_what_stays(text: str) -> None:
    assert contractions(merged(text)) == 2


def test_both_begin_with_what_is_no_fill() -> None:
    kind = KINDS["(k, r, n)"]
    both = program(first=contraction("a", kind, start="d"), second=contraction("b", kind, w="v", start="d"))
    assert contractions(merged(both)) == 2


FOLLOWED = """%c = linalg.generic {{indexing_maps = [#{turn}, #turned], iterator_types = ["parallel", "parallel"]}}
    ins(%a : tensor<3x5xi32>) outs(%t : tensor<5x3xi32>) {{
  ^bb0(%p: i32, %s: i32):  %m = arith.addi %p, %p : i32  linalg.yield %m : i32
  }} -> tensor<5x3xi32>
  %d1 = linalg.generic {{indexing_maps = [#{turn}, #turned], iterator_types = ["parallel", "parallel"]}}
    ins(%b : tensor<3x5xi32>) outs(%t : tensor<5x3xi32>) {{
  ^bb0(%p: i32, %s: i32):  %m = arith.addi %p, %p : i32  linalg.yield %m : i32
  }} -> tensor<5x3xi32>
  %y = linalg.generic {{indexing_maps = [#all, #all, #all], iterator_types = ["parallel", "parallel"]}}
    ins(%c, %d1 : tensor<5x3xi32>, tensor<5x3xi32>) outs(%t : tensor<5x3xi32>) {{
  ^bb0(%p: i32, %q: i32, %s: i32):  %m = arith.subi %p, %q : i32  linalg.yield %m : i32
  }} -> tensor<5x3xi32>"""


def test_what_follows_in_another_order_stays() -> None:
    """Rows of sums are columns behind it: the last loop of either is not that of the other."""
    text = program(reader=FOLLOWED.format(turn="all"), results="tensor<5x3xi32>")
    assert contractions(merged(text)) == 2
