"""Loops of which nobody asks which iteration it is are one loop; others stay as they are."""

from __future__ import annotations

import pytest
from xdsl.dialects import scf

from stc.analysis.loops import constant_bounds
from stc.dialects.facts import LABEL
from stc.dialects.parsing import parse_module
from stc.transforms.stream.loops import join_uncounted

NEST = """
func.func @f(%m: memref<4xf32>, %v: f32) {{
  %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %c2 = arith.constant 2 : index  %c6 = arith.constant 6 : index
  scf.for %i = %c1 to %c6 step %c2 {{
    scf.for %j = %c0 to %c6 step %c1 {{
      {}
    }} {}
    {}
  }}
  func.return
}}
"""
STORE, UNUSED = "memref.store %v, %m[%c0] : memref<4xf32>", "%k = arith.addi %i, %j : index  %l = arith.addi %k, %j : index  "
INNERMOST = f"scf.for %k = %c0 to %c2 step %c1 {{ {STORE} }}"
LABELLED = '{stc.label = "inner"}'


def trips(body: str, attributes: str = "", behind: str = "") -> list[int]:
    """Of the loops that are left, the outermost first."""
    module = parse_module(NEST.format(body, attributes, behind))
    loop = next(op for op in module.walk() if isinstance(op, scf.ForOp))
    join_uncounted(loop)
    module.verify()
    if attributes == LABELLED:
        assert LABEL.of(loop) == "inner"
    found = [op for op in module.walk() if isinstance(op, scf.ForOp)]
    return [bounds.trip for each in found if (bounds := constant_bounds(each)) is not None]


@pytest.mark.parametrize(
    ("body", "expected"),
    [(STORE, [18]), (UNUSED + STORE, [18]), (INNERMOST, [36]), (f"{STORE}  {INNERMOST}", [18, 2])],
)
def test_what_nobody_asks_for(body: str, expected: list[int]) -> None:
    assert trips(body) == expected and trips(body, LABELLED) == expected


@pytest.mark.parametrize(
    ("body", "attributes", "behind"),
    [
        (STORE.replace("%c0", "%i"), "", ""),
        (STORE.replace("%c0", "%j"), "", ""),
        (STORE, "{stc.unroll = 0 : i32}", ""),
        (STORE, "", STORE),
    ],
)
def test_what_stays(body: str, attributes: str, behind: str) -> None:
    """Where one of the indices is an address, a loop is no loop, or more happens beside it."""
    assert trips(body, attributes, behind) == [3, 6]
