"""`choose-multipliers`, and `multipliers` of a schedule: the same values by DSPs and by LUTs, counted in the C++ and estimated."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from xdsl.dialects import arith
from xdsl.dialects.builtin import ModuleOp

from stc.diagnostics import CompileError
from stc.dialects.context import make_context
from stc.dialects.facts import MULTIPLIERS
from stc.dialects.parsing import parse_module
from stc.transforms.linalg.apply_schedule import ApplySchedule
from stc.transforms.linalg.choose_multipliers import ChooseMultipliers
from stc.transforms.linalg.pack_products import PackProducts
from stc_testing.commands import Stc

CONTRACTION = """
func.func @main(%x: tensor<1x{k}x{t}> {{stc.name = "x"}}, %w: tensor<{n}x{k}x{w}> {{stc.name = "fc.weight", stc.parameter}})
    -> (tensor<1x{n}x{s}> {{stc.name = "out"}}) {{
  %zero = arith.constant 0{dot} : {s}
  %e = tensor.empty() : tensor<1x{n}x{s}>
  %f = linalg.fill ins(%zero : {s}) outs(%e : tensor<1x{n}x{s}>) -> tensor<1x{n}x{s}>
  %y = linalg.generic {{indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>,
      affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}}
      ins(%x, %w : tensor<1x{k}x{t}>, tensor<{n}x{k}x{w}>) outs(%f : tensor<1x{n}x{s}>) attrs = {{stc.name = "fc"}} {{
  ^bb0(%a: {t}, %b: {w}, %sum: {s}):
    {body}
    linalg.yield %r : {s}
  }} -> tensor<1x{n}x{s}>
  return %y : tensor<1x{n}x{s}>
}}
"""
INTEGERS = """%c = arith.extsi %a : i8 to i32  %d = arith.extsi %b : i4 to i32
    %p = arith.muli %d, %c : i32  %r = arith.addi %sum, %p : i32"""
FLOATS = "%p = arith.mulf %a, %b : f32  %r = arith.addf %sum, %p : f32"


def integers(n: int, k: int) -> str:
    return CONTRACTION.format(n=n, k=k, t="i8", w="i4", s="i32", dot="", body=INTEGERS)


def floats(n: int, k: int) -> str:
    return CONTRACTION.format(n=n, k=k, t="f32", w="f32", s="f32", dot=".0", body=FLOATS)


def scheduled(text: str, schedule: str, path: Path) -> ModuleOp:
    """`text` with what `schedule` says, as far as the passes that read it."""
    path.write_text(schedule)
    module, context = parse_module(text), make_context()
    for one_pass in (ChooseMultipliers(schedule=str(path)), PackProducts(), ApplySchedule(str(path))):
        one_pass.apply(context, module)
    module.verify()
    return module


@pytest.mark.parametrize(
    ("text", "schedule", "refusal"),
    [
        (integers(6, 8), "[fc]\nmultipliers = 'bram'", "[fc]: multipliers is 'bram'; accepted: dsp or lut"),
        (integers(6, 8), "[fc]\nmultipliers = ['lut']", "[fc]: multipliers is ['lut']; accepted: dsp or lut"),
        (floats(6, 8), "[fc]\nmultipliers = 'lut'", "[fc]: multipliers is 'lut', and no integers are multiplied"),
        (integers(6, 20), "[fc_pairs]\nmultipliers = 'lut'", "[fc_pairs]: multipliers is 'lut' for products that are packed"),
        (integers(6, 20), "[gone]\nmultipliers = 'lut'", "no op is called 'gone'; accepted: fc, fc_pairs"),
    ],
)
def test_what_a_schedule_cannot_say(tmp_path: Path, text: str, schedule: str, refusal: str):
    with pytest.raises(CompileError) as error:
        scheduled(text, schedule, tmp_path / "schedule.toml")
    assert refusal in str(error.value)


@pytest.mark.parametrize(("made_of", "pairs"), [("dsp", True), ("lut", False)])
def test_pairs_are_for_dsps(tmp_path: Path, made_of: str, pairs: bool):
    module = scheduled(integers(6, 20), f"[fc]\nmultipliers = '{made_of}'", tmp_path / "schedule.toml")
    (product,) = [op for op in module.walk() if isinstance(op, arith.MuliOp)]
    assert (MULTIPLIERS.of(product), str(product.result.type)) == ((None, "i48") if pairs else ("lut", "i32"))


def compiled(stc: Stc, folder: Path, made_of: str, *options: str) -> Path:
    """The project of an int4 matrix-vector product, 256 by 24, whose multipliers are made of this."""
    (folder / "fc.mlir").write_text(integers(256, 24))
    (folder / f"{made_of}.toml").write_text(f"[matmul]\nmultipliers = '{made_of}'")
    out = folder / made_of
    asked = ("--schedule", folder / f"{made_of}.toml", "--tile", 64, "--out", out, "--check")
    ended = stc("compile", folder / "fc.mlir", *asked, *options)
    assert ended.code == 0, ended.stdout + ended.stderr
    return out


LANES = r"for \(int (\w+) = 0; \1 < (\d+); \1 \+= 1\) \{\n#pragma HLS unroll\n[^}]*?"


@pytest.mark.heavy
def test_the_same_product_by_dsps_and_by_luts(tmp_path: Path, stc: Stc):
    """Both equal the same integers bit for bit (`--check` allows no error); 64 pairs in as many DSPs, 64 plain products in none."""
    made = {made_of: compiled(stc, tmp_path, made_of) for made_of in ("dsp", "lut")}
    for case in ("example", "draw"):
        golden = {out.joinpath("golden", case, "out.bin").read_bytes() for out in made.values()}
        assert len(golden) == 1 and any(golden.pop())
    text = {made_of: (out / "kernel.cpp").read_text() for made_of, out in made.items()}
    resources = {made_of: json.loads((out / "report.json").read_text())["resources"] for made_of, out in made.items()}

    (pairs,) = re.findall(LANES + r"\(ap_int<27>\)sum", text["dsp"])
    assert "bind_op" not in text["dsp"] and resources["dsp"]["total"]["dsp"] == int(pairs[1]) == 64

    bound = r"const ap_int<12> (product) = .* \* .*;\n#pragma HLS bind_op variable=product op=mul impl=fabric\n"
    (plain,) = re.findall(LANES + bound, text["lut"])
    assert "ap_int<27>" not in text["lut"]
    operators = [task["operators"] for task in resources["lut"]["tasks"].values()]
    assert max(found.get("mul_u4_u8", 0) for found in operators) == int(plain[1]) == 64
    assert resources["lut"]["total"]["dsp"] == 0

    written = (made["lut"] / "schedule.toml").read_text()
    assert 'multipliers = "lut"' in written and "multipliers" not in (made["dsp"] / "schedule.toml").read_text()
    again = stc("compile", tmp_path / "fc.mlir", "--schedule", made["lut"] / "schedule.toml", "--out", tmp_path / "again")
    assert again.code == 0, again.stderr
    assert (tmp_path / "again" / "kernel.cpp").read_text() == text["lut"]


@pytest.mark.heavy
def test_a_float_contraction_has_none(tmp_path: Path, stc: Stc):
    (tmp_path / "fc.mlir").write_text(floats(6, 8))
    (tmp_path / "lut.toml").write_text("[matmul]\nmultipliers = 'lut'")
    ended = stc("compile", tmp_path / "fc.mlir", "--schedule", tmp_path / "lut.toml", "--out", tmp_path / "out")
    assert ended.code == 2 and "multipliers is 'lut', and no integers are multiplied" in ended.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.heavy
@pytest.mark.parametrize(("dsp", "bound"), [(8, True), (100, False)])
def test_luts_where_dsps_are_short(tmp_path: Path, stc: Stc, dsp: int, bound: bool):
    """Chosen by the search, written into the schedule, and with that the same design again."""
    (tmp_path / "fc.mlir").write_text(integers(256, 24))
    first, again = tmp_path / "first", tmp_path / "again"
    ended = stc("compile", tmp_path / "fc.mlir", "--dsp", dsp, "--out", first)
    assert ended.code == 0, ended.stderr
    text = (first / "kernel.cpp").read_text()
    assert ("impl=fabric" in text, "ap_int<27>" in text) == (bound, not bound)
    total = json.loads((first / "report.json").read_text())["resources"]["total"]
    assert total["dsp"] == 0 if bound else 0 < total["dsp"] <= dsp
    assert ('multipliers = "lut"' in (first / "schedule.toml").read_text()) == bound
    ended = stc("compile", tmp_path / "fc.mlir", "--schedule", first / "schedule.toml", "--out", again)
    assert ended.code == 0, ended.stderr
    assert (again / "kernel.cpp").read_text() == text
