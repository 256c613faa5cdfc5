"""Shifts by constants for which MLIR and C++ have no result are refused."""

from __future__ import annotations

import pytest

from stc.analysis.support import obstacles
from stc.dialects.parsing import parse_module


@pytest.mark.parametrize(("bits", "is_refused"), [(0, False), (31, False), (32, True), (-1, True)])
@pytest.mark.parametrize("shift", ["shli", "shrsi", "shrui"])
def test_shifts_by_the_width(shift: str, bits: int, is_refused: bool) -> None:
    row = "tensor<5xi32>"
    module = parse_module(f"""func.func @main(%x: {row}) -> {row} {{
      %e = tensor.empty() : {row}
      %k = arith.constant {bits} : i32
      %r = linalg.generic {{indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}}
        ins(%x : {row}) outs(%e : {row}) {{
      ^bb0(%a: i32, %b: i32):
        %c = arith.{shift} %a, %k : i32
        linalg.yield %c : i32
      }} -> {row}
      return %r : {row}
    }}""")
    found = [f"{entry.what}; accepted: {entry.accepted}" for entry in obstacles(module)]
    refusal = f"arith.{shift} of i32 by {bits}; accepted: shifts by less than the width of the type"
    assert found == ([refusal] if is_refused else [])
