"""Aliases in printed modules: what is named, in which order, and that the text reads back, here and in MLIR."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from stc.diagnostics import CompileError
from stc.dialects.parsing import parse_module
from stc.dialects.printing import LONGEST_INLINE, print_module
from stc.frontend.reference import optimiser_path
from stc.tools.source import Source, split_source

pytestmark = pytest.mark.heavy

ROOT = Path(__file__).parents[2] / "filecheck_tests"
ORDER = "iter_space: [2, 4] * [4, 2], iter_map: (d0, d1) -> (d0, d1)"
LONG = f"!itensor.itensor<4x2xf32, {ORDER}>"
OTHER = f"!itensor.itensor<4x2xf16, {ORDER}>"
SHORT = "!itensor.itensor<f32, iter_space: [] * [], iter_map: () -> ()>"


def _definitions(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.startswith(("#", "!"))]


def _modules() -> list[tuple[str, str]]:
    """Every piece of every lit test that is valid IR by itself."""
    pieces: list[tuple[str, str]] = []
    for path in sorted(ROOT.rglob("*.mlir")):
        for number, piece in enumerate(split_source(Source(path.name, path.read_text()))):
            pieces.append((f"{path.relative_to(ROOT)}-{number}", piece.text))
    return pieces


@pytest.mark.parametrize("generic", [False, True], ids=["custom", "generic"])
def test_every_tested_module_reads_back(generic: bool):
    aliased = 0
    for name, text in _modules()[:: 3 if generic else 1]:
        try:
            module = parse_module(text)
        except CompileError:
            continue  # a test of errors
        short = print_module(module, generic=generic)
        spelled_out = print_module(module, aliases=False, generic=generic)
        assert print_module(parse_module(short), aliases=False, generic=generic) == spelled_out, name
        assert print_module(parse_module(spelled_out), generic=generic) == short, name
        assert not _definitions(spelled_out), name
        aliased += bool(_definitions(short))
    assert aliased > 15


def test_a_type_is_named_when_it_is_mentioned_twice_and_long():
    arguments = f"%a: {LONG}, %b: {OTHER}, %c: {LONG}, %d: tensor<4xf32>, %e: tensor<4xf32>"
    text = print_module(parse_module(f"func.func @f({arguments}) {{ func.return }}"))
    assert _definitions(text) == [f"!itensor = {LONG}"]
    assert f"(%a: !itensor, %b: {OTHER}, %c: !itensor, %d: tensor<4xf32>, %e: tensor<4xf32>)" in text


def test_a_short_type_is_not_named():
    stream = "!stream.stream<vector<16xf32>, depth: 34>"
    assert len(stream) <= LONGEST_INLINE
    assert not _definitions(print_module(parse_module(f"func.func @f(%a: {stream}, %b: {stream}) {{ func.return }}")))


def test_names_are_numbered_by_kind_in_order_of_first_mention():
    text = print_module(
        parse_module(
            f'func.func @f(%a: {OTHER}, %b: {LONG}, %c: {LONG}, %d: {SHORT}, %e: {SHORT}, %f: {OTHER}) attributes {{'
            "m = [affine_map<(d0) -> (0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (0)>]} { func.return }"
        )
    )
    assert _definitions(text) == [
        "#map = affine_map<(d0) -> (0)>",
        "#map1 = affine_map<(d0) -> (d0)>",
        f"!itensor = {OTHER}",
        f"!itensor1 = {LONG}",
        f"!itensor2 = {SHORT}",
    ]
    assert "(%a: !itensor, %b: !itensor1, %c: !itensor1, %d: !itensor2, %e: !itensor2, %f: !itensor)" in text


def test_names_of_the_input_are_forgotten():
    """A module whose own aliases have our names, for other things, is printed with ours."""
    given = f"#map1 = affine_map<(d0) -> (d0)>\n!itensor1 = {LONG}\n"
    text = f"{given}func.func @f(%a: !itensor1, %b: !itensor1) attributes {{m = #map1}} {{ func.return }}"
    assert _definitions(print_module(parse_module(text))) == ["#map = affine_map<(d0) -> (d0)>", f"!itensor = {LONG}"]


def test_maps_inside_types_and_of_affine_operations():
    text = """
func.func @f(%a: memref<4x4xf32, affine_map<(d0, d1) -> (d1, d0)>>, %n: index) -> index {
  %0 = affine.apply affine_map<(d0)[s0] -> (d0 + s0)> (%n)[%n]
  %1 = affine.min affine_map<(d0) -> (d0, 4)> (%n)
  func.return %0 : index
}
"""
    printed = print_module(parse_module(text))
    assert "memref<4x4xf32, #map>" in printed and "affine.apply #map1" in printed and "affine.min #map2" in printed
    assert print_module(parse_module(printed)) == printed


def test_mlir_reads_linalg_with_aliases():
    """MLIR's own tool sees the same module, aliases or not."""
    module = parse_module((ROOT / "levels" / "2_tiled.mlir").read_text())
    command = [str(optimiser_path()), "-allow-unregistered-dialect", "-"]
    seen = [
        subprocess.run(command, input=print_module(module, aliases=aliases), capture_output=True, text=True, check=True).stdout
        for aliases in (True, False)
    ]
    assert seen[0] == seen[1]
    assert "#map = affine_map" in seen[0]
