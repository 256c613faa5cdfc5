"""Which contractions are alike, and how many lanes all of them may have; each reason why one is not."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import pytest
from xdsl.dialects import func
from xdsl.dialects.linalg.ops import GenericOp

from stc.analysis.generic_loops import generics_in, name_of
from stc.analysis.host_work import host_values
from stc.analysis.run_time_sizes import RunTimeSizes
from stc.dialects.parsing import parse_module
from stc.transforms.linalg.alike_contractions import Alike, alike_contractions

BODY = """
    %0 = arith.extsi %p : i8 to i32
    %1 = arith.extsi %q : {kind} to i32
    %2 = arith.muli %0, %1 : i32
    %3 = arith.addi %r, %2 : i32"""


@dataclass(frozen=True)
class Product:
    """y[g, n] = the sum over k of x[g, k] w[g, k, n], of integers."""

    columns: int = 32
    terms: int = 16
    groups: int = 2
    kind: str = "i4"
    body: str = BODY
    weights: str = ", stc.parameter"
    swapped: bool = False
    rows: int = 0

    def text(self, name: str) -> tuple[str, str]:
        """What the function takes, and what it does."""
        x, y = f"{self.groups}x{self.terms}xi8", f"{self.groups}x{self.columns}xi32"
        w = f"{self.groups}x{self.terms}x{self.columns}x{self.kind}"
        maps = ["(g, n, k) -> (g, k)", "(g, n, k) -> (g, k, n)", "(g, n, k) -> (g, n)"]
        kinds = '["parallel", "parallel", "reduction"]'
        if self.rows:
            x, y = f"{self.rows}x{x}", f"{self.rows}x{y}"
            maps = ["(m, g, n, k) -> (m, g, k)", "(m, g, n, k) -> (g, k, n)", "(m, g, n, k) -> (m, g, n)"]
            kinds = '["parallel", "parallel", "parallel", "reduction"]'
        operands = [(f"%{name}_x", x, "%p: i8", maps[0]), (f"%{name}_w", w, f"%q: {self.kind}", maps[1])]
        if self.swapped:
            operands.reverse()
        values, types, arguments, read = zip(*operands, strict=True)
        taken = f"%{name}_x: tensor<{x}>, %{name}_s: tensor<{y}>, %{name}_w: tensor<{w}> {{stc.name = \"{name}_w\"{self.weights}}}"
        done = f"""
  %{name} = linalg.generic {{indexing_maps = [{", ".join(f"affine_map<{each}>" for each in (*read, maps[2]))}],
      iterator_types = {kinds}}} ins({", ".join(values)} : {", ".join(f"tensor<{each}>" for each in types)})
      outs(%{name}_s : tensor<{y}>) attrs = {{stc.name = "{name}"}} {{
  ^bb0({", ".join(arguments)}, %r: i32):{self.body.format(kind=self.kind)}
    linalg.yield %3 : i32
  }} -> tensor<{y}>"""
        return taken, done


def always(_one: GenericOp, _other: GenericOp) -> bool:
    return True


def found(take_turns: Callable[[GenericOp, GenericOp], bool] = always, **products: Product) -> dict[str, Alike]:
    texts = [product.text(name) for name, product in products.items()]
    alike = alike_of(", ".join(taken for taken, _ in texts), "".join(done for _, done in texts), take_turns)
    return {name_of(generic) or "": each for generic, each in alike.items()}


def alike_of(taken: str, done: str, take_turns: Callable[[GenericOp, GenericOp], bool] = always) -> Mapping[GenericOp, Alike]:
    module = parse_module(f"func.func @main({taken}) {{{done}\n  return\n}}")
    (function,) = (op for op in module.ops if isinstance(op, func.FuncOp))
    return alike_contractions(generics_in(function), host_values(function), RunTimeSizes(function), take_turns)


ONE = Product()


def test_two_are_alike_whatever_their_results_and_groups_are() -> None:
    assert found(a=ONE, b=replace(ONE, columns=96, groups=5)) == {"a": Alike(1, 32), "b": Alike(1, 32)}


def test_lanes_are_those_that_all_may_have() -> None:
    """Of 48 and 64 columns 16; of 24 and 36 columns 12."""
    for columns, lanes in (((48, 64), 16), ((24, 36), 12)):
        alike = found(a=replace(ONE, columns=columns[0]), b=replace(ONE, columns=columns[1]))
        assert alike == dict.fromkeys("ab", Alike(1, lanes))


def test_those_with_one_lane_in_common_have_lanes_of_their_own() -> None:
    """Of 35 and 36 columns they would have one at a time; a third one is like that with which it has more."""
    assert found(a=replace(ONE, columns=35), b=replace(ONE, columns=36)) == {}
    alike = found(a=replace(ONE, columns=35), b=replace(ONE, columns=36), c=replace(ONE, columns=72))
    assert alike == dict.fromkeys("bc", Alike(1, 36))
    assert found(a=replace(ONE, columns=1), b=replace(ONE, columns=1)) == {}


def test_kinds_are_numbered() -> None:
    other = replace(ONE, terms=8)
    alike = found(a=replace(ONE, terms=4), b=other, c=ONE, d=ONE, e=other)
    assert {name: each.number for name, each in alike.items()} == {"b": 1, "c": 2, "d": 2, "e": 1}


def test_only_those_that_take_turns_with_another() -> None:
    """b and c do so; a, which has fewer lanes, and d do not."""

    def take_turns(one: GenericOp, other: GenericOp) -> bool:
        return {name_of(one), name_of(other)} == {"b", "c"}

    assert found(take_turns, a=replace(ONE, columns=8), b=ONE, c=ONE, d=ONE) == {"b": Alike(1, 32), "c": Alike(1, 32)}
    assert found(lambda one, other: False, a=ONE, b=ONE) == {}


DIFFERENT = {
    "terms": replace(ONE, terms=8),
    "weights of another width": replace(ONE, kind="i8"),
    "signs": replace(ONE, body=BODY.replace("%1 = arith.extsi", "%1 = arith.extui")),
    "multipliers": replace(ONE, body=BODY.replace("muli %0, %1", 'muli %0, %1 {{stc.multipliers = "lut"}}')),
    "what is done with the sum": replace(ONE, body=BODY.replace("addi %r, %2", "subi %r, %2")),
}


@pytest.mark.parametrize("what", DIFFERENT)
def test_another_kind(what: str) -> None:
    other = DIFFERENT[what]
    assert found(a=ONE, b=other) == {} and set(found(a=ONE, b=other, c=other, d=ONE)) == set("abcd")


NONE_AT_ALL = {
    "weights are an input": replace(ONE, weights=""),
    "weights come first": replace(ONE, swapped=True),
    "several rows have the same weights": replace(ONE, rows=3),
    "nothing is multiplied": replace(ONE, body=BODY.replace("muli", "addi")),
    "one column of one group, so lanes are terms": replace(ONE, columns=1, groups=1),
}


@pytest.mark.parametrize("why", NONE_AT_ALL)
def test_no_such_contraction(why: str) -> None:
    assert found(a=NONE_AT_ALL[why], b=NONE_AT_ALL[why]) == {}


INTO = """
  %{name} = linalg.generic {{
      indexing_maps = [affine_map<(n, k) -> (k)>, affine_map<(n, k) -> (k, n)>, affine_map<(n, k) -> {result}>],
      iterator_types = ["parallel", "{k}"]}} ins(%{name}x, %{name}w : tensor<16xi32>, tensor<16x32xi32>)
      outs(%{name}s : tensor<{shape}>) {{
  ^bb0(%p: i32, %q: i32, %r: {kind}):
    %0 = arith.muli %p, %q : i32
    {done}
    linalg.yield %3 : {kind}
  }} -> tensor<{shape}>"""
FLOATS = {"result": "(n)", "k": "reduction", "shape": "32xf32", "kind": "f32",
          "done": "%1 = arith.sitofp %0 : i32 to f32  %3 = arith.addf %r, %1 : f32"}  # fmt: skip
EACH = {"result": "(n, k)", "k": "parallel", "shape": "32x16xi32", "kind": "i32", "done": "%3 = arith.addi %0, %0 : i32"}
INTEGERS = {**FLOATS, "shape": "32xi32", "kind": "i32", "done": "%3 = arith.addi %r, %0 : i32"}


@pytest.mark.parametrize(("facts", "number"), [(FLOATS, 0), (EACH, 0), (INTEGERS, 2)])
def test_only_sums_and_only_of_integers(facts: dict[str, str], number: int) -> None:
    weights, sums = 'tensor<16x32xi32> {stc.name = "w", stc.parameter}', f"tensor<{facts['shape']}>"
    taken = ", ".join(f"%{name}x: tensor<16xi32>, %{name}s: {sums}, %{name}w: {weights}" for name in "ab")
    assert len(alike_of(taken, "".join(INTO.format(name=name, **facts) for name in "ab"))) == number
