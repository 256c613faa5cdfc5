"""`stc-opt --stats`: what passes did, counted."""

from __future__ import annotations

from typer.testing import CliRunner
from xdsl.dialects import arith
from xdsl.dialects.builtin import StringAttr

from stc.dialects.parsing import parse_module
from stc.tools.statistics import Statistics
from stc.tools.stc_opt import app

TEXT = """func.func @main(%x: i32) -> i32 {
  %a = arith.addi %x, %x : i32
  %b = arith.addi %x, %x : i32
  %c = arith.muli %a, %b : i32
  func.return %c : i32
}
"""


def test_the_table_has_a_line_for_each_pass():
    result = CliRunner().invoke(app, ["-p", "cse,canonicalize,cse", "--stats"], input=TEXT)
    assert result.exit_code == 0
    assert result.stderr.splitlines() == [
        "cse           erased 1 arith.addi; changed 1 arith.muli",
        "canonicalize  nothing",
        "cse#2         nothing",
    ]


def test_pieces_of_a_file_are_added_up():
    result = CliRunner().invoke(app, ["-p", "cse", "--stats", "--split-input-file"], input=f"{TEXT}// -----\n{TEXT}")
    assert result.stderr == "cse  erased 2 arith.addi; changed 2 arith.muli\n"


def test_what_is_moved_created_and_changed():
    module, statistics = parse_module(TEXT), Statistics()
    first = next(op for op in module.walk() if isinstance(op, arith.AddiOp))
    with statistics.count("own", module):
        first.attributes["test.mark"] = StringAttr("x")
        first.detach()
        module.body.block.add_op(first)
        module.body.block.add_op(arith.ConstantOp.from_int_and_width(1, 8))
    assert str(statistics.by_pass["own"]) == "created 1 arith.constant; moved 1 arith.addi; changed 1 arith.addi"
