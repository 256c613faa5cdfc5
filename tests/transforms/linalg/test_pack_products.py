"""`pack-products`: z3 proves the rewritten bodies for all operands; longest sums and odd shapes are executed, as C++ too."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import z3
from xdsl.dialects import arith
from xdsl.dialects.builtin import IntegerAttr, IntegerType, ModuleOp
from xdsl.dialects.linalg import ops as linalg
from xdsl.ir import Operation, SSAValue

from stc.dialects.context import make_context
from stc.dialects.parsing import parse_module
from stc.execution.run import execute
from stc.scalars.packed_products import Interval, packing
from stc.transforms.linalg import pack_products
from stc.transforms.linalg.pack_products import Contraction, PackProducts
from stc_testing.commands import Stc

CONTRACTION = """
func.func @main(%x: tensor<{m}x{k}xi{x}> {{stc.name = "x"}}, %w: tensor<{n}x{k}xi{w}> {{stc.name = "fc.weight", stc.parameter}})
    -> (tensor<{m}x{n}xi32> {{stc.name = "out"}}) {{
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<{m}x{n}xi32>
  %f = linalg.fill ins(%zero : i32) outs(%e : tensor<{m}x{n}xi32>) -> tensor<{m}x{n}xi32>
  %y = linalg.generic {{indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>,
      affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}}
      ins(%x, %w : tensor<{m}x{k}xi{x}>, tensor<{n}x{k}xi{w}>) outs(%f : tensor<{m}x{n}xi32>) attrs = {{stc.name = "fc"}} {{
  ^bb0(%a: i{x}, %b: i{w}, %s: i32):
    %c = arith.extsi %a : i{x} to i32
    %d = arith.extsi %b : i{w} to i32
    %p = arith.muli %d, %c : i32
    %t = arith.addi %s, %p : i32
    linalg.yield %t : i32
  }} -> tensor<{m}x{n}xi32>
  return %y : tensor<{m}x{n}xi32>
}}
"""


def contraction(m: int, n: int, k: int, w: int = 4, x: int = 8, unsigned: str = "") -> str:
    """y[m][n] = sum over k of x[m][k] w[n][k], of so many bits; `unsigned`: which of x and w have no sign."""
    text = CONTRACTION.format(m=m, n=n, k=k, w=w, x=x)
    for name, argument in (("x", "%a"), ("w", "%b")):
        text = text.replace(f"extsi {argument}", f"extui {argument}") if name in unsigned else text
    return text


def packed(text: str, terms: int = 2) -> ModuleOp:
    module = parse_module(text)
    PackProducts(terms=terms).apply(make_context(), module)
    module.verify()
    return module


def named(module: ModuleOp) -> list[linalg.GenericOp]:
    """What makes pairs, what sums their products, what takes both sums out."""
    return [op for op in module.walk() if isinstance(op, linalg.GenericOp)]


# Proved ---------------------------------------------------------------------------------------------------------------

BINARY: dict[type[Operation], Callable[[Any, Any], Any]] = {
    arith.AddiOp: lambda a, b: a + b,
    arith.MuliOp: lambda a, b: a * b,
    arith.AndIOp: lambda a, b: a & b,
    arith.OrIOp: lambda a, b: a | b,
    arith.ShLIOp: lambda a, b: a << b,
    arith.ShRSIOp: lambda a, b: a >> b,
    arith.ShRUIOp: z3.LShR,
}


def computed(generic: linalg.GenericOp, operands: list[z3.BitVecRef], half: int) -> z3.BitVecRef:
    """What the body yields of bit vectors, in iteration `half` of every loop."""
    block = generic.body.block
    values: dict[SSAValue, Any] = dict(zip(block.args, operands, strict=True))
    for op in block.ops:
        if isinstance(op, linalg.YieldOp):
            return values[op.operands[0]]
        given = [values[operand] for operand in op.operands]
        kind = op.results[0].type
        width = kind.width.data if isinstance(kind, IntegerType) else 64
        match op:
            case arith.ConstantOp(value=IntegerAttr() as number):
                value = z3.BitVecVal(number.value.data, width)
            case linalg.IndexOp():
                value = z3.BitVecVal(half, width)
            case arith.ExtSIOp():
                value = z3.SignExt(width - given[0].size(), given[0])
            case arith.ExtUIOp():
                value = z3.ZeroExt(width - given[0].size(), given[0])
            case arith.TruncIOp():
                value = z3.Extract(width - 1, 0, given[0])
            case arith.CmpiOp():
                value = given[0] == given[1]
            case arith.SelectOp():
                value = z3.If(*given)
            case _:
                value = BINARY[type(op)](*given)
        values[op.results[0]] = value
    raise AssertionError("a body without an end")


def width(sums: linalg.GenericOp) -> int:
    """Bits of what a generic makes."""
    kind = sums.body.block.args[-1].type
    assert isinstance(kind, IntegerType)
    return kind.width.data


def counterexample(module: ModuleOp, w: int, x: int, most: int | None = None, unsigned: str = "") -> z3.ModelRef | None:
    """Operands of one product pair, with magnitudes of `most`, for which a half of it is not the product."""
    wide_weight, wide_activation = (z3.ZeroExt if name in unsigned else z3.SignExt for name in "wx")
    pairs, sums, both = named(module)[-3:]
    activation, weights = z3.BitVec("x", x), [z3.BitVec(f"w{half}", w) for half in range(2)]
    pair = z3.BitVecVal(0, 8 if w <= 4 else 16)
    for half, weight in enumerate(weights):
        pair = computed(pairs, [weight, pair], half)
    total = computed(sums, [activation, pair, z3.BitVecVal(0, width(sums))], 0)
    for half, weight in enumerate(weights):
        solver = z3.Solver()
        for operand in (activation, *weights):
            solver.add(*([operand >= -most, operand <= most] if most is not None else []))
        found = computed(both, [total, z3.BitVecVal(0, 32)], half)
        solver.add(found != wide_weight(32 - w, weight) * wide_activation(32 - x, activation))
        if solver.check() != z3.unsat:
            return solver.model()
    return None


CUT = """
  %cut_e = tensor.empty() : tensor<{shape}xi8>
  %cut_{name} = linalg.generic {{indexing_maps = [affine_map<(a, b) -> (a, b)>, affine_map<(a, b) -> (a, b)>],
      iterator_types = ["parallel", "parallel"]}} ins(%{name} : tensor<{shape}xf32>) outs(%cut_e : tensor<{shape}xi8>) {{
  ^bb0(%a: f32, %b: i8):
    %most = arith.constant {most}.0 : f32
    %least = arith.constant -{most}.0 : f32
    %n = arith.minnumf %a, %most : f32
    %m = arith.maxnumf %n, %least : f32
    %i = arith.fptosi %m : f32 to i8
    linalg.yield %i : i8
  }} -> tensor<{shape}xi8>
"""


def cut_contraction(m: int, n: int, k: int, most: int = 127) -> str:
    """Of int8, both factors f32 cut to magnitudes of `most`."""
    text = contraction(m, n, k, 8).replace(f"%x: tensor<{m}x{k}xi8>", f"%x: tensor<{m}x{k}xf32>")
    text = text.replace(f"%w: tensor<{n}x{k}xi8>", f"%w: tensor<{n}x{k}xf32>").replace("ins(%x, %w", "ins(%cut_x, %cut_w")
    cuts = [CUT.format(name=name, shape=shape, most=most) for name, shape in (("x", f"{m}x{k}"), ("w", f"{n}x{k}"))]
    return text.replace("  %zero =", cuts[0] + cuts[1].replace("cut_e", "cut_f") + "  %zero =", 1)


def test_magnitudes_of_127_have_room_for_16_terms():
    """As quantised weights and activations have them: one term more has none."""
    cut = Interval(-127, 127)
    assert (found := packing(cut, cut)) is not None and (found.shift, found.longest_sum) == (19, 16)
    module = packed(cut_contraction(3, 6, 32), 16)
    x, w = (np.full(shape, 1000 * sign, np.float32) for shape, sign in (((3, 32), 1), ((6, 32), -1)))
    for left, right in ((x, w), (w[:3], x[:1].repeat(6, 0)), (x, x[:1].repeat(6, 0))):
        expected = np.full((3, 6), 32 * 127 * 127 * np.sign(left[0, 0] * right[0, 0]))
        np.testing.assert_array_equal(execute(module, [left, right])[0], expected)
    assert len([op for op in named(module) if "fc" in str(op.attributes.get("stc.name"))]) == 3
    assert len(named(packed(cut_contraction(3, 6, 17), 16))) == 3  # 17 is a prime: nothing is packed, both cuts are there


@pytest.mark.parametrize(("most", "terms"), [(127, 16), (100, 26), (128, 7)])
def test_what_cuts_a_factor_decides_its_range(most: int, terms: int):
    """128 is beyond int8: the whole type then."""
    module = packed(cut_contraction(1, 2, terms, most), terms)
    assert len(named(module)) == 5
    assert len(named(packed(cut_contraction(1, 2, terms, most), terms + 1))) == 3


@pytest.mark.full
def test_both_products_of_cut_factors_come_out():
    assert counterexample(packed(cut_contraction(1, 2, 16), 16), 8, 8, 127) is None


BYTES = [pytest.param(8, 8, unsigned, marks=pytest.mark.full) for unsigned in ("", "x", "w", "wx")]
WIDTHS = [(4, 8, ""), (3, 8, ""), (5, 6, ""), (4, 8, "x"), (4, 8, "w"), (4, 8, "wx"), (3, 7, "wx"), *BYTES]


@pytest.mark.parametrize(("w", "x", "unsigned"), WIDTHS)
def test_both_products_come_out_for_all_operands(w: int, x: int, unsigned: str):
    module = packed(contraction(1, 2, 2, w, x, unsigned))
    assert len(named(module)) == 3 and counterexample(module, w, x, unsigned=unsigned) is None


def test_a_sign_that_is_none_is_found():
    module = packed(contraction(1, 2, 2, unsigned="w"))
    assert counterexample(module, 4, 8) is not None and counterexample(module, 4, 8, unsigned="wx") is not None


def interval(bits: int, name: str, unsigned: str) -> Interval:
    return Interval.unsigned(bits) if name in unsigned else Interval.of_bits(bits)


NIBBLES = [(4, unsigned, terms) for unsigned in ("", "x", "wx") for terms in (2, 7, 512)]


@pytest.mark.parametrize(("w", "unsigned", "terms"), [*NIBBLES, (8, "", 2), (8, "", 7), (8, "w", 2), (8, "wx", 2)])
def test_all_sums_that_have_room_come_out(w: int, unsigned: str, terms: int):
    """Of so many terms: 2^s times the sum of w1 * x, plus that of w0 * x."""
    longest = packing(interval(w, "w", unsigned), interval(8, "x", unsigned))
    assert longest is not None
    _, sums, both = named(packed(contraction(1, 2, terms, w, unsigned=unsigned)))
    room = longest.of_sums(terms, 0)
    assert room.bits == width(sums)
    low, high = z3.BitVecs("low high", room.bits)
    total = (high << room.shift) + low
    fails = [computed(both, [total, z3.BitVecVal(0, 32)], half) != z3.Extract(31, 0, sums) for half, sums in enumerate((low, high))]
    solver = z3.Solver()
    solver.add(z3.Or(fails), low >= room.low.least, low <= room.low.most, high <= room.high.most)
    solver.push()
    solver.add(high >= room.high.least)
    assert solver.check() == z3.unsat
    solver.pop()
    solver.add(high >= room.high.least - 1)
    assert solver.check() == z3.sat


def test_a_wrong_shift_is_found(monkeypatch: pytest.MonkeyPatch):
    ours = vars(pack_products)["_both"]

    def shifted(found: Contraction) -> Contraction:
        return replace(found, packed=replace(found.packed, shift=found.packed.shift - 1))

    monkeypatch.setattr(pack_products, "_both", lambda generic, found, *rest: ours(generic, shifted(found), *rest))
    assert counterexample(packed(contraction(1, 2, 2)), 4, 8) is not None


# Executed -------------------------------------------------------------------------------------------------------------


def extremes(rng: np.random.Generator, held: Interval, shape: tuple[int, int]) -> list[np.ndarray]:
    drawn = rng.integers(held.least, held.most, shape, endpoint=True)
    return [drawn, np.full(shape, held.least), np.full(shape, held.most), np.zeros(shape, int)]


def stored(values: np.ndarray, bits: int) -> np.ndarray:
    """As arrays of so many bits hold them: with a sign, also where what reads them sees none."""
    return np.where(values >= 1 << bits - 1, values - (1 << bits), values).astype(np.int8)


def wrong(text: str, w: int = 4, x: int = 8, terms: int = 2, unsigned: str = "") -> bool:
    """Whether some weights and activations, among them the largest products, are summed to something else."""
    rng, found = np.random.default_rng(0), False
    before, after = parse_module(text), packed(text, terms)
    (m, k), (n, _) = (list(argument.type.get_shape()) for argument in before.body.block.first_op.body.block.args)  # pyright: ignore
    for weights in extremes(rng, interval(w, "w", unsigned), (n, k)):
        for activations in extremes(rng, interval(x, "x", unsigned), (m, k)):
            expected = activations.astype(np.int32) @ weights.astype(np.int32).T
            given = [stored(activations, x), stored(weights, w)]
            np.testing.assert_array_equal(execute(before, given)[0], expected)
            found = found or not np.array_equal(execute(after, given)[0], expected)
    return found


@pytest.mark.parametrize(
    ("m", "n", "k", "w", "x", "unsigned"),
    [
        (3, 6, 30, 4, 8, ""),
        (1, 2, 2047, 4, 8, ""),
        (2, 10, 2 * 2047, 4, 8, ""),
        (5, 2, 35, 8, 8, ""),
        (2, 4, 11, 3, 5, ""),
        (2, 6, 49, 7, 8, ""),
        (1, 2, 1028, 4, 8, "x"),
        (3, 4, 1092, 4, 8, "w"),
        (2, 2, 548, 4, 8, "wx"),
        (2, 6, 8, 8, 8, "x"),
        (3, 2, 8, 8, 8, "w"),
        (1, 4, 6, 8, 8, "wx"),
        (2, 4, 33, 3, 5, "wx"),
    ],
)
def test_sums_are_the_same(m: int, n: int, k: int, w: int, x: int, unsigned: str):
    text = contraction(m, n, k, w, x, unsigned)
    assert not wrong(text, w, x, unsigned=unsigned)
    assert len(named(packed(text))) == 3


@pytest.mark.parametrize(("k", "w", "unsigned"), [(2048, 4, ""), (8, 8, ""), (1029, 4, "x"), (549, 4, "wx"), (3, 8, "wx")])
def test_one_term_too_many_is_found(k: int, w: int, unsigned: str, monkeypatch: pytest.MonkeyPatch):
    ours = vars(pack_products)["_with_rows"]
    room = packing(interval(w, "w", unsigned), interval(8, "x", unsigned))
    assert room is not None and room.longest_sum == k - 1

    def longer(*given: object) -> Contraction:
        return replace(ours(*given), block=k, packed=room)

    text = contraction(1, 2, k, w, unsigned=unsigned)
    assert not wrong(text, w, unsigned=unsigned)
    monkeypatch.setattr(pack_products, "_with_rows", longer)
    assert wrong(text, w, unsigned=unsigned)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (contraction(4, 5, 8), "an odd number of rows"),
        (contraction(4, 6, 13, 8), "no divisor of 13 but 1"),
        (contraction(4, 6, 8).replace(", stc.parameter", ""), "two activations"),
        (contraction(4, 6, 8, 16), "weights of 16 bits"),
        (contraction(4, 6, 8).replace("muli %d, %c", "muli %c, %c"), "weights that no product takes"),
        (contraction(1, 6, 8).replace("-> (m, k)>", "-> (0, k)>"), "rows at 0"),
    ],
)
def test_what_stays(text: str, why: str):
    assert len(named(packed(text))) == 1, why


def test_without_integers_no_reshape_moves():
    """Reshapes that travel split the loops of others, for which a schedule may stand there already."""
    text = """func.func @main(%x: tensor<6xf32>) -> tensor<2x3xf32> {
      %e = tensor.empty() : tensor<6xf32>
      %y = linalg.exp ins(%x : tensor<6xf32>) outs(%e : tensor<6xf32>) -> tensor<6xf32>
      %z = tensor.expand_shape %y [[0, 1]] output_shape [2, 3] : tensor<6xf32> into tensor<2x3xf32>
      return %z : tensor<2x3xf32>
    }"""
    module = parse_module(text)
    before = str(module)
    PackProducts().apply(make_context(), module)
    assert str(module) == before


@pytest.mark.parametrize(("terms", "places"), [(1, 9), (2, 9), (6, 3), (7, 3)])
def test_sums_over_two_loops_stay_within_their_room(terms: int, places: int):
    """Bytes have room for 7 products: none of 9 at a time, 6 where 3 places have 2 terms each."""
    text = contraction(1, 6, 14, 8).replace("-> (m, k)>", "-> (j, k)>").replace("-> (n, k)>", "-> (n, j, k)>")
    text = text.replace("(m, n, k)", "(m, n, j, k)").replace('"reduction"', '"reduction", "reduction"')
    text = text.replace("tensor<1x14x", f"tensor<{places}x14x").replace("tensor<6x14x", f"tensor<6x{places}x14x")
    after, rng = packed(text, terms), np.random.default_rng(0)
    assert len(named(after)) == (3 if (terms, places) == (6, 3) else 1)
    for weights in (np.full((6, places, 14), -128, np.int8), rng.integers(-128, 127, (6, places, 14)).astype(np.int8)):
        activations = np.full((places, 14), -128, np.int8)
        expected = np.einsum("jk,njk->n", activations.astype(np.int32), weights.astype(np.int32))
        np.testing.assert_array_equal(execute(after, [activations, weights])[0], expected[None])


def test_a_loop_that_no_input_has():
    text = contraction(3, 6, 8).replace("-> (m, k)>", "-> (k)>").replace("tensor<3x8xi8>", "tensor<8xi8>")
    after, rng = packed(text), np.random.default_rng(0)
    activations, weights = rng.integers(-128, 127, 8).astype(np.int8), rng.integers(-8, 7, (6, 8)).astype(np.int8)
    assert len(named(after)) == 3
    expected = weights.astype(np.int32) @ activations.astype(np.int32)
    np.testing.assert_array_equal(execute(after, [activations, weights])[0], np.stack([expected] * 3))


ASKED_FOR = ("-p", "pack-products{terms=7}", "--replace", "pack-products")


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("k", "w", "unsigned", "options"), [(35, 8, "", ASKED_FOR), (37, 4, "", ()), (37, 4, "x", ()), (37, 4, "wx", ())]
)
def test_packed_products_as_cpp(tmp_path: Path, stc: Stc, k: int, w: int, unsigned: str, options: tuple[str, ...]):
    """Nibbles in every compile, bytes on request: half as many multipliers as rows, and of 27 by 8 bits, 9 where x has no sign."""
    (tmp_path / "fc.mlir").write_text(contraction(3, 6, k, w, unsigned=unsigned))
    out = tmp_path / "out"
    ended = stc("compile", "--small", tmp_path / "fc.mlir", *options, "--out", out, "--check")
    assert ended.code == 0, ended.stderr
    activation = r"\(ap_int<9>\)\(uint8_t\)\w" if "x" in unsigned else r"\w"
    assert re.search(rf"\(ap_int<27>\)(sum|\(shifted \+ value\))\s+\* {activation}", (out / "kernel.cpp").read_text())
    assert " on 3 DSP " in ended.stdout


@pytest.mark.heavy
@pytest.mark.parametrize(("w", "n", "k"), [(4, 256, 24), (8, 128, 7)])
def test_half_a_dsp_for_each_product_a_cycle(tmp_path: Path, stc: Stc, w: int, n: int, k: int):
    """As estimated, and as counted in the C++: a word of weights in a cycle, in half as many multipliers."""
    (tmp_path / "fc.mlir").write_text(contraction(1, n, k, w))
    out = tmp_path / "out"
    ended = stc("compile", "--small", tmp_path / "fc.mlir", *ASKED_FOR, "--tile", 64, "--out", out)
    assert ended.code == 0, ended.stderr
    ports, weights = json.loads((out / "manifest.json").read_text())["kernels"][0]["ports"], 512 // w
    (port,) = [port for port in ports if port["kind"] == "parameter"]
    assert port["lanes"] == weights // 2 and port["element_type"] == f"i{2 * w}"
    resources = json.loads((out / "report.json").read_text())["resources"]
    assert resources["total"]["dsp"] == weights // 2
    unrolled = r"for \(int (\w+) = 0; \1 < (\d+); \1 \+= 1\) \{\n#pragma HLS unroll\n(?:[^}]*\n)?[^}]*\(ap_int<27>\)sum"
    (found,) = re.findall(unrolled, (out / "kernel.cpp").read_text())
    assert int(found[1]) == weights // 2
