"""`choose-parallelism` with a schedule: its table is taken, or one sentence says what is wrong with it."""

from __future__ import annotations

from pathlib import Path

import pytest

from stc.design_space.parallelism import Parallelism
from stc.diagnostics import CompileError
from stc.dialects.context import make_context
from stc.dialects.facts import COPIES, LANES, ROWS
from stc.dialects.parsing import parse_module
from stc.transforms.linalg.choose_parallelism import ChooseParallelism, said_parallelism

PROGRAM = """
func.func @main(%x: tensor<12x32xf32> {stc.name = "x"}, %w: tensor<32x48xf32> {stc.name = "w", stc.parameter})
    -> tensor<12x48xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<12x48xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<12x48xf32>) -> tensor<12x48xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>,
      affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<12x32xf32>, tensor<32x48xf32>) outs(%f : tensor<12x48xf32>) attrs = {stc.name = "mm"} {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  } -> tensor<12x48xf32>
  func.return %y : tensor<12x48xf32>
}
"""


def chosen(tmp_path: Path, table: str) -> tuple[object, object, object]:
    path = tmp_path / "schedule.toml"
    path.write_text(table)
    module = parse_module(PROGRAM, "program")
    ChooseParallelism("plan", schedule=str(path)).apply(make_context(), module)
    (generic,) = (op for op in module.walk() if op.name == "linalg.generic")
    return LANES.of(generic), ROWS.of(generic), COPIES.of(generic)


def test_what_it_says_is_taken(tmp_path: Path) -> None:
    assert chosen(tmp_path, "[stc.parallelism]\nmm = { lanes = 8, rows = 3, copies = 2 }\n") == (8, 3, (2, 1, 1))


def test_no_table_is_a_search(tmp_path: Path) -> None:
    path = tmp_path / "schedule.toml"
    path.write_text("[stc.options]\ntile = 8\n")
    assert said_parallelism(str(path)) is None and said_parallelism("") is None


def test_adders_and_parts(tmp_path: Path) -> None:
    path = tmp_path / "schedule.toml"
    path.write_text("[stc.parallelism]\nmm = { lanes = 8, copies = 2, adders_in_luts = true, parts = 3 }\n")
    assert said_parallelism(str(path)) == {"mm": Parallelism(8, 2, 1, True, 3)}


@pytest.mark.parametrize(
    ("table", "complaint"),
    [
        ("stc.parallelism = 3", "it is no table"),
        ("[stc.parallelism]\nmm = 4", "4 is no parallelism; accepted: { lanes = 4"),
        ("[stc.parallelism]\nmm = { lanes = 4 }", "is no parallelism"),
        ("[stc.parallelism]\nmm = { lanes = 4, copies = true }", "is no parallelism"),
        ("[stc.parallelism]\nmm = { lanes = 4, copies = 1, row = 2 }", "is no parallelism"),
        ("[stc.parallelism]\nmm = { lanes = 5, copies = 1 }", "5 lanes of mm do not divide its loop of 48"),
        ("[stc.parallelism]\nmm = { lanes = 4, copies = 5 }", "5 copies of mm do not divide its loop of 12"),
        ("[stc.parallelism]\nmm = { lanes = 4, copies = 2, rows = 4 }", "4 rows of mm do not divide a copy's 6"),
        ("[stc.parallelism]\nmm = { lanes = 48, copies = 1, rows = 12 }", "48 lanes and 12 rows of mm are more than one task"),
        ("[stc.parallelism]\nmm = { lanes = 4, copies = 1, parts = 2 }", "2 parts of mm do not divide its loop of 1"),
        ("[stc.parallelism]\n", "mm has no lanes and copies"),
        ("[stc.parallelism]\nmm = { lanes = 4, copies = 1 }\nnn = { lanes = 1, copies = 1 }", "no computation 'nn'; accepted: mm"),
    ],
)
def test_wrong_tables(table: str, complaint: str, tmp_path: Path) -> None:
    with pytest.raises(CompileError) as caught:
        chosen(tmp_path, table + "\n")
    assert complaint in str(caught.value) and "[stc.parallelism]" in str(caught.value)
