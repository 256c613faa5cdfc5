"""Loops in one another are one loop where nobody asks which iteration it is, or its number says so without a divider."""

from __future__ import annotations

import numpy as np
import pytest
from xdsl.dialects import arith, memref, scf
from xdsl.ir import SSAValue

from stc.analysis.index_expressions import index_expression
from stc.analysis.loops import constant_bounds
from stc.dialects.facts import LABEL
from stc.dialects.parsing import parse_module
from stc.transforms.stream.loops import join_loops

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
    join_loops(loop)
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
    """Where one of the indices is an address and a divider would have to say it, a loop is no loop, or more happens beside it."""
    assert trips(body, attributes, behind) == [3, 6]


ASKED = """
func.func @f(%m: memref<99x99xf32>, %v: f32) {{
  %c0 = arith.constant 0 : index  %c3 = arith.constant 3 : index
  %l0 = arith.constant {0} : index  %u0 = arith.constant {1} : index  %s0 = arith.constant {2} : index
  %l1 = arith.constant {3} : index  %u1 = arith.constant {4} : index  %s1 = arith.constant {5} : index
  scf.for %i = %l0 to %u0 step %s0 {{
    scf.for %j = %l1 to %u1 step %s1 {{
      %low = arith.andi %j, %c3 : index
      memref.store %v, %m[{6}] : memref<99x99xf32>
    }}
  }}
  func.return
}}
"""


@pytest.mark.parametrize("address", ["%i, %j", "%c0, %j", "%i, %c0", "%low, %c0", "%low, %j"])
@pytest.mark.parametrize("ranges", [(0, 7, 1, 0, 8, 1), (1, 6, 2, 3, 19, 2), (0, 5, 1, 1, 5, 1), (2, 9, 3, 0, 64, 2)])
def test_who_asks_is_told_in_the_same_order(address: str, ranges: tuple[int, ...]) -> None:
    """The addresses of all iterations, one after the other, are those of the nest."""
    module = parse_module(ASKED.format(*ranges, address))
    join_loops(next(op for op in module.walk() if isinstance(op, scf.ForOp)))
    module.verify()
    (loop,) = [op for op in module.walk() if isinstance(op, scf.ForOp)]
    bounds = constant_bounds(loop)
    (store,) = [op for op in module.walk() if isinstance(op, memref.StoreOp)]
    assert bounds is not None and (bounds.lower, bounds.step) == (0, 1)
    turns: dict[SSAValue, np.ndarray] = {loop.body.block.args[0]: np.arange(bounds.trip)}
    found = [np.broadcast_to(np.asarray(index_expression(at, {}).evaluate(turns)), bounds.trip) for at in store.indices]
    names = {"%i": lambda i, j: i, "%j": lambda i, j: j, "%low": lambda i, j: j & 3, "%c0": lambda i, j: 0}
    expected = [tuple(names[name](i, j) for name in address.split(", ")) for i in range(*ranges[:3]) for j in range(*ranges[3:])]
    assert list(zip(*(each.tolist() for each in found), strict=True)) == expected


def test_low_bits_are_those_of_the_number() -> None:
    """What a lane is chosen by takes no mask more than it had."""
    module = parse_module(ASKED.format(0, 6, 1, 0, 8, 1, "%low, %c0"))
    join_loops(next(op for op in module.walk() if isinstance(op, scf.ForOp)))
    assert [op.name for op in module.walk() if isinstance(op, arith.AndIOp | arith.ShRUIOp)] == ["arith.andi"]


def joined(text: str) -> list[int]:
    """Of the loops that are left, the outermost first."""
    module = parse_module(text)
    join_loops(next(op for op in module.walk() if isinstance(op, scf.ForOp)))
    module.verify()
    return [bounds.trip for op in module.walk() if isinstance(op, scf.ForOp) and (bounds := constant_bounds(op)) is not None]


SUM = """
func.func @f(%m: memref<6xf32>, %x: memref<6x8xf32>) {{
  %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %c6 = arith.constant 6 : index  %c8 = arith.constant 8 : index
  scf.for %i = %c0 to %c6 step %c1 {{
    scf.for %j = %c0 to %c{trips} step %c1 {{
      %a = memref.load %m[%{at}] : memref<6xf32>
      %b = memref.load %x[%i, %j] : memref<6x8xf32>
      %c = arith.addf %a, %b : f32
      memref.store %c, %m[%{at}] : memref<6xf32>
    }}
  }}
  func.return
}}
"""


@pytest.mark.parametrize(
    ("at", "trips", "expected"), [("i", 8, [6, 8]), ("j", 8, [48]), ("c0", 8, [48]), ("j", 1, [6]), ("j", 0, [6, 0])]
)
def test_sums(at: str, trips: int, expected: list[int]) -> None:
    """A sum for each iteration of the loop around would go through memory, by an address of one number; so it stays. Loops without
    iterations have no number of one."""
    assert joined(SUM.format(at=at, trips=trips)) == expected


@pytest.mark.parametrize(
    ("trips", "expected"), [((3, 4, 8), [96]), ((3, 5, 8), [3, 5, 8]), ((3, 8, 5), [24, 5]), ((8, 4, 2), [64])]
)
def test_three_loops(trips: tuple[int, ...], expected: list[int]) -> None:
    """As far as the loops inside have powers of two of iterations, from the outermost on; under a condition, too."""
    text = """
      func.func @f(%m: memref<9x9x9xf32>, %v: f32) {
        %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index
        %t0 = arith.constant T0 : index  %t1 = arith.constant T1 : index  %t2 = arith.constant T2 : index
        scf.for %i = %c0 to %t0 step %c1 { scf.for %j = %c0 to %t1 step %c1 { scf.for %k = %c0 to %t2 step %c1 {
          %first = arith.cmpi eq, %j, %c0 : index
          scf.if %first { memref.store %v, %m[%i, %j, %k] : memref<9x9x9xf32> }
        } } }
        func.return
      }"""
    for place, trip in enumerate(trips):
        text = text.replace(f"T{place}", str(trip))
    assert joined(text) == expected
