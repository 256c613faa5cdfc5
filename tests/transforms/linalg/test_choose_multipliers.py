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
        (integers(6, 8), "[fc]\nmultipliers = 'bram'", "[fc]: multipliers is 'bram'; accepted: pairs, dsp, lut"),
        (integers(6, 8), "[fc]\nmultipliers = ['lut']", "[fc]: multipliers is ['lut']; accepted: pairs, dsp, lut"),
        (floats(6, 8), "[fc]\nmultipliers = 'lut'", "[fc]: multipliers is 'lut', and no integers are multiplied"),
        (integers(6, 20), "[fc_pairs]\nmultipliers = 'lut'", "[fc_pairs]: multipliers is 'lut' for products that are packed"),
        (integers(6, 20), "[fc_pairs]\nmultipliers = 'dsp'", "[fc_pairs]: multipliers is 'dsp' for products that are packed"),
        (integers(5, 20), "[fc]\nmultipliers = 'pairs'", "[fc]: multipliers is 'pairs', and two rows of it cannot share a DSP"),
        (integers(6, 20), "[gone]\nmultipliers = 'lut'", "no op is called 'gone'; accepted: fc, fc_pairs"),
    ],
)
def test_what_a_schedule_cannot_say(tmp_path: Path, text: str, schedule: str, refusal: str):
    with pytest.raises(CompileError) as error:
        scheduled(text, schedule, tmp_path / "schedule.toml")
    assert refusal in str(error.value)


@pytest.mark.parametrize("table", ["fc", "fc_0", "fc_pairs", "fc_pairs_0"])
@pytest.mark.parametrize(("made_of", "found"), [("pairs", (None, "i40")), ("dsp", ("dsp", "i32")), ("lut", ("lut", "i32"))])
def test_what_a_table_says_holds(tmp_path: Path, table: str, made_of: str, found: tuple[str | None, str]):
    """Also one that was written of pairs, or of the first copy of a contraction, which are made of it behind this pass."""
    module = parse_module(integers(6, 20))
    (tmp_path / "schedule.toml").write_text(f"[{table}]\nmultipliers = '{made_of}'")
    for one_pass in (ChooseMultipliers(schedule=str(tmp_path / "schedule.toml")), PackProducts()):
        one_pass.apply(make_context(), module)
    (product,) = [op for op in module.walk() if isinstance(op, arith.MuliOp)]
    by_default = "_pairs" in table and made_of != "pairs"  # of pairs nothing else can be said: `apply-schedule` refuses it
    assert (MULTIPLIERS.of(product), str(product.result.type)) == ((None, "i40") if by_default else found)


def test_bytes_are_paired_where_a_table_says_so(tmp_path: Path):
    """7 terms at a time, which `pack-products` does not do by itself; 13 is a prime, of which no divisor but 1 has room."""
    bytes_ = integers(6, 35).replace("i4", "i8")
    module = scheduled(bytes_, "[fc]\nmultipliers = 'pairs'", tmp_path / "schedule.toml")
    assert [str(op.result.type) for op in module.walk() if isinstance(op, arith.MuliOp)] == ["i40"]
    with pytest.raises(CompileError, match="two rows of it cannot share a DSP"):
        scheduled(integers(6, 13).replace("i4", "i8"), "[fc]\nmultipliers = 'pairs'", tmp_path / "schedule.toml")


def compiled(stc: Stc, folder: Path, made_of: str, *options: str) -> Path:
    """The project of an int4 matrix-vector product, 256 by 24, whose multipliers are made of this."""
    (folder / "fc.mlir").write_text(integers(256, 24))
    (folder / f"{made_of}.toml").write_text(f"[matmul]\nmultipliers = '{made_of}'")
    out = folder / made_of
    asked = ("--small", "--schedule", folder / f"{made_of}.toml", "--tile", 64, "--out", out, "--check")
    ended = stc("compile", folder / "fc.mlir", *asked, *options)
    assert ended.code == 0, ended.stdout + ended.stderr
    return out


LANES = r"for \(int (\w+) = 0; \1 < (\d+); \1 \+= 1\) \{\n#pragma HLS unroll\n[^}]*?"


@pytest.mark.heavy
def test_the_same_product_by_dsps_and_by_luts(tmp_path: Path, stc: Stc):
    """All equal the same integers bit for bit (`--check` allows no error); 64 pairs or products in as many DSPs, or in none."""
    made = {made_of: compiled(stc, tmp_path, made_of) for made_of in ("pairs", "dsp", "lut")}
    for case in ("example", "draw"):
        golden = {out.joinpath("golden", case, "out.bin").read_bytes() for out in made.values()}
        assert len(golden) == 1 and any(golden.pop())
    text = {made_of: (out / "kernel.cpp").read_text() for made_of, out in made.items()}
    resources = {made_of: json.loads((out / "report.json").read_text())["resources"] for made_of, out in made.items()}

    (pairs,) = re.findall(LANES + r"\(ap_int<27>\)sum", text["pairs"])
    assert "bind_op" not in text["pairs"] and resources["pairs"]["total"]["dsp"] == int(pairs[1]) == 64

    bound = r"const ap_int<12> (product) = .* \* .*;\n#pragma HLS bind_op variable=product op=mul impl="
    (own,) = re.findall(LANES + bound + "dsp\n", text["dsp"])
    assert "ap_int<27>" not in text["dsp"] and resources["dsp"]["total"]["dsp"] == int(own[1]) == 64
    (plain,) = re.findall(LANES + bound + "fabric\n", text["lut"])
    assert "ap_int<27>" not in text["lut"]
    operators = [task["operators"] for task in resources["lut"]["tasks"].values()]
    assert max(found.get("mul_u4_u8", 0) for found in operators) == int(plain[1]) == 64
    assert resources["lut"]["total"]["dsp"] == 0

    for made_of, out in made.items():
        assert f'multipliers = "{made_of}"' in (out / "schedule.toml").read_text()
        again = stc("compile", tmp_path / "fc.mlir", "--schedule", out / "schedule.toml", "--out", tmp_path / "again" / made_of)
        assert again.code == 0, again.stderr
        assert (tmp_path / "again" / made_of / "kernel.cpp").read_text() == text[made_of]


@pytest.mark.heavy
@pytest.mark.parametrize("made_of", ["pairs", "dsp", "lut"])
def test_a_table_holds_for_all_copies(tmp_path: Path, stc: Stc, made_of: str):
    """What is written of the copies gives the same design again."""
    (tmp_path / "fc.mlir").write_text(integers(4096, 24))
    (tmp_path / "asked.toml").write_text(f"[matmul]\nmultipliers = '{made_of}'")
    first, again = tmp_path / "first", tmp_path / "again"
    ended = stc("compile", tmp_path / "fc.mlir", "--budget", "dsp=400", "--schedule", tmp_path / "asked.toml", "--out", first)
    assert ended.code == 0, ended.stderr
    written = (first / "schedule.toml").read_text()
    assert written.count(f'multipliers = "{made_of}"') == written.count("multipliers = ") > 1
    ended = stc("compile", tmp_path / "fc.mlir", "--schedule", first / "schedule.toml", "--out", again)
    assert ended.code == 0, ended.stderr
    assert (again / "kernel.cpp").read_text() == (first / "kernel.cpp").read_text()


@pytest.mark.heavy
def test_a_float_contraction_has_none(tmp_path: Path, stc: Stc):
    (tmp_path / "fc.mlir").write_text(floats(6, 8))
    (tmp_path / "lut.toml").write_text("[matmul]\nmultipliers = 'lut'")
    ended = stc("compile", "--small", tmp_path / "fc.mlir", "--schedule", tmp_path / "lut.toml", "--out", tmp_path / "out")
    assert ended.code == 2 and "multipliers is 'lut', and no integers are multiplied" in ended.stderr
    assert not (tmp_path / "out").exists()


MODEL = """import torch

def mlp():
    return torch.nn.Sequential(torch.nn.Linear(30, 60), torch.nn.ReLU(), torch.nn.Linear(60, 42)), (torch.randn(1, 30),)
"""


@pytest.mark.heavy
def test_a_model_with_few_dsps(tmp_path: Path, stc: Stc):
    """One DSP is too few, and so said; with no more than the message asks for both layers take LUTs, and values agree.

    With 100 one is packed in pairs; the other, 21 pairs of 60 terms, too few for several lanes, is not: it takes LUTs, as long as
    these are not scarcer than DSPs.
    """
    (tmp_path / "model.py").write_text(MODEL)
    model = (tmp_path / "model.py:mlp", "--quantize", "bits=4,group=row")

    def made(folder: str, *options: object) -> tuple[str, str, int]:
        """C++, schedule, and DSPs as estimated."""
        ended, out = stc("compile", *model, *options, "--out", tmp_path / folder), tmp_path / folder
        assert ended.code == 0, ended.stderr
        resources = json.loads((out / "report.json").read_text())["resources"]
        assert resources["origin"] == "estimated: no synthesis"
        return (out / "kernel.cpp").read_text(), (out / "schedule.toml").read_text(), resources["total"]["dsp"]

    refused = stc("compile", *model, "--budget", "dsp=1", "--out", tmp_path / "none")
    assert refused.code == 2 and "choose-parallelism: one point of each computation at once takes" in refused.stderr
    (least,) = re.findall(r"accepted: dsp=(\d+) or more", refused.stderr)
    text, schedule, dsp = made("few", "--budget", f"dsp={least}", "--check")
    assert text.count("op=mul impl=fabric") == schedule.count('multipliers = "lut"') == 2 and dsp <= int(least)

    text, schedule, more = made("more", "--budget", "dsp=100")
    kinds = ("pairs", "dsp", "lut")
    assert {kind: schedule.count(f'multipliers = "{kind}"') for kind in kinds} == {"pairs": 1, "dsp": 0, "lut": 1}
    assert dsp < more <= 100 and "(ap_int<27>)" in text and "op=mul impl=fabric" in text
    assert made("again", "--schedule", tmp_path / "more" / "schedule.toml") == (text, schedule, more)
    text, schedule, _ = made("scarce", "--budget", "dsp=100,lut=25000")
    assert {kind: schedule.count(f'multipliers = "{kind}"') for kind in kinds} == {"pairs": 0, "dsp": 2, "lut": 0}
    assert text.count("op=mul impl=dsp") == 2


@pytest.mark.heavy
@pytest.mark.parametrize(("dsp", "bound"), [(8, True), (100, False)])
def test_luts_where_dsps_are_short(tmp_path: Path, stc: Stc, dsp: int, bound: bool):
    """Chosen by the search, written into the schedule, and with that the same design again."""
    (tmp_path / "fc.mlir").write_text(integers(256, 24))
    first, again = tmp_path / "first", tmp_path / "again"
    ended = stc("compile", tmp_path / "fc.mlir", "--budget", f"dsp={dsp}", "--out", first)
    assert ended.code == 0, ended.stderr
    text = (first / "kernel.cpp").read_text()
    assert ("impl=fabric" in text, "ap_int<27>" in text) == (bound, not bound)
    total = json.loads((first / "report.json").read_text())["resources"]["total"]
    assert total["dsp"] == 0 if bound else 0 < total["dsp"] <= dsp
    assert ('multipliers = "lut"' in (first / "schedule.toml").read_text()) == bound
    ended = stc("compile", tmp_path / "fc.mlir", "--schedule", first / "schedule.toml", "--out", again)
    assert ended.code == 0, ended.stderr
    assert (again / "kernel.cpp").read_text() == text
