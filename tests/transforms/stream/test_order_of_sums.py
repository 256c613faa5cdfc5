"""`expand-partial-sums` keeps what is summed, in the order that its documentation states; computed here with numpy, in steps."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.memref import AllocOp

from stc.dialects.context import make_context
from stc.dialects.parsing import parse_module
from stc.execution.run import execute
from stc.transforms.stream.expand_partial_sums import ExpandPartialSums

F = np.float32
LENGTH = 60
COMBINE: dict[str, tuple[str, Callable[[np.float32, np.float32], np.float32]]] = {
    "addf": ("0.0", np.add), "mulf": ("1.0", np.multiply),
    "maximumf": ("-1.0e+30", np.maximum), "minimumf": ("1.0e+30", np.minimum),
}
WAITING = {"addf": 2 + 7 + 1, "mulf": 2 + 4 + 1, "maximumf": 2 + 2 + 1, "minimumf": 2 + 2 + 1}
"""Cycles from the load of a sum to its store."""

DESIGN = """
func.func @main(%x: tensor<60xf32>) -> tensor<60xf32> {{
  %p = dataflow.pack %x : tensor<60xf32> as !V -> tensor<60xvector<1xf32>>
  %q = dataflow.kernel @k(%in = %p : tensor<60xvector<1xf32>> as memref<60xvector<1xf32>>)
      -> (tensor<60xvector<1xf32>> as memref<60xvector<1xf32>>) {{
    %out = dataflow.memory @out : memref<60xvector<1xf32>>
    dataflow.task @t ins(%m = %in : memref<60xvector<1xf32>>) outs(%o = %out : memref<60xvector<1xf32>>) {{
      {constants}
      %zero = arith.constant {start} : f32
      %b = memref.alloc() : memref<60xf32>
      %sum = memref.alloc() : memref<{rows}xf32>
      %r = memref.alloc() : memref<60xf32>
      scf.for %i = %c0 to %c60 step %c1 {{
        %w = memref.load %m[%i] : memref<60xvector<1xf32>>
        %e = vector.extract %w[0] : f32 from vector<1xf32>
        memref.store %e, %b[%i] : memref<60xf32>
        memref.store %e, %r[%i] : memref<60xf32>
      }}
      {body}
      scf.for %i = %c0 to %c60 step %c1 {{
        %e = memref.load %r[%i] : memref<60xf32>
        %w = vector.broadcast %e : f32 to vector<1xf32>
        memref.store %w, %o[%i] : memref<60xvector<1xf32>>
      }}
      dataflow.yield
    }}
    dataflow.yield %out : memref<60xvector<1xf32>>
  }}
  %y = dataflow.unpack %q : tensor<60xvector<1xf32>> as !V -> tensor<60xf32>
  func.return %y : tensor<60xf32>
}}
""".replace("!V", "!itensor.itensor<1xf32, iter_space: [60] * [1], iter_map: (d0) -> (d0)>")
CONSTANTS = "\n".join(f"%c{n} = arith.constant {n} : index" for n in range(61))


def design(body: str, operator: str, rows: int = 1) -> ModuleOp:
    start = COMBINE[operator][0]
    return parse_module(DESIGN.format(constants=CONSTANTS, start=start, body=body, rows=rows), "sums.mlir")


def fill(rows: int) -> str:
    return f"scf.for %i = %c0 to %c{rows} step %c1 {{ memref.store %zero, %sum[%i] : memref<{rows}xf32> }}"


def add(operator: str, at: str = "%c0", value: str = "%i", rows: int = 1) -> str:
    return f"""%a = memref.load %b[{value}] : memref<60xf32>
      %s = memref.load %sum[{at}] : memref<{rows}xf32>
      %t = arith.{operator} %a, %s : f32
      memref.store %t, %sum[{at}] : memref<{rows}xf32>"""


def read(at: str = "%c0", rows: int = 1, to: str = "%c0") -> str:
    return f"%y = memref.load %sum[{at}] : memref<{rows}xf32> memref.store %y, %r[{to}] : memref<60xf32>"


def partial_count(module: ModuleOp) -> int:
    """How many partial sums each became; 1 where the pass left them."""
    buffers = [op.memref for op in module.walk() if isinstance(op, AllocOp)]
    kinds = [buffer.type for buffer in buffers if (buffer.name_hint or "").endswith("_partial")]
    return kinds[0].get_shape()[0] if kinds else 1


def expanded(module: ModuleOp, count: int | None, monkeypatch: pytest.MonkeyPatch) -> ModuleOp:
    if count is not None:
        monkeypatch.setattr("stc.transforms.stream.expand_partial_sums.cheapest_count", lambda shape, interval: count)
    ExpandPartialSums().apply(make_context(), module)
    module.verify()
    return module


class Partial:
    """Partial sums as documented: iteration n of the reduction adds to number n modulo `count`; neighbours are combined."""

    def __init__(self, operator: str, count: int) -> None:
        start, self.combine = COMBINE[operator]
        self.sums = [F(float(start))] * count

    def add(self, number: int, value: np.float32) -> None:
        at = number % len(self.sums)
        self.sums[at] = F(self.combine(value, self.sums[at]))

    def total(self) -> np.float32:
        level = list(self.sums)
        while len(level) > 1:
            level = [F(self.combine(level[i], level[i + 1])) for i in range(0, len(level), 2)]
        return level[0]


def inputs(operator: str) -> np.ndarray:
    values = np.random.default_rng(3).standard_normal(LENGTH).astype(F)
    return F(1) + values / F(16) if operator == "mulf" else values


def agree(module: ModuleOp, x: np.ndarray, expected: Sequence[np.float32]) -> None:
    np.testing.assert_array_equal(execute(module, [x])[0][: len(expected)], np.array(expected, dtype=F))


@pytest.mark.parametrize("operator", COMBINE)
@pytest.mark.parametrize("count", [None, 2, 8, 16])
@pytest.mark.parametrize("trip", [2, 3, 13, 60])
def test_one_loop(trip: int, count: int | None, operator: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Odd trip counts, and fewer iterations than sums: those that get nothing keep what leaves the others as they are."""
    body = fill(1) + f"scf.for %i = %c0 to %c{trip} step %c1 {{ {add(operator)} }}" + read()
    x, before = inputs(operator), Partial(operator, 1)
    for i in range(trip):
        before.add(i, x[i])
    agree(design(body, operator), x, [before.total()])
    module = expanded(design(body, operator), count, monkeypatch)
    if count is not None:
        assert partial_count(module) == count
    after = Partial(operator, partial_count(module))
    for i in range(trip):
        after.add(i, x[i])
    agree(module, x, [after.total()])


@pytest.mark.parametrize("operator", COMBINE)
@pytest.mark.parametrize("count", [2, 16])
@pytest.mark.parametrize(("outer", "inner"), [(5, 7), (7, 1), (1, 7), (4, 8)])
def test_two_loops(outer: int, inner: int, count: int, operator: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A reduction over both loops of a nest: its iterations are numbered through."""
    body = fill(1) + f"""scf.for %k = %c0 to %c{outer} step %c1 {{ scf.for %i = %c0 to %c{inner} step %c1 {{
      %u = arith.muli %k, %c{inner} : index
      %v = arith.addi %u, %i : index
      {add(operator, value="%v")} }} }}""" + read()
    x = inputs(operator)
    module = expanded(design(body, operator), count, monkeypatch)
    after = Partial(operator, count)
    for n in range(outer * inner):
        after.add(n, x[n])
    assert partial_count(module) == count
    agree(module, x, [after.total()])


@pytest.mark.parametrize("operator", COMBINE)
@pytest.mark.parametrize("count", [2, 4])
@pytest.mark.parametrize("tile", [2, 5])
def test_tiles_that_each_show_the_sum_so_far(tile: int, count: int, operator: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Filled once, added to by every tile, read after each: partial sums are kept between tiles, numbers start anew in each."""
    tiles = 4
    body = fill(1) + f"""scf.for %k = %c0 to %c{tiles} step %c1 {{
      scf.for %i = %c0 to %c{tile} step %c1 {{
        %u = arith.muli %k, %c{tile} : index
        %v = arith.addi %u, %i : index
        {add(operator, value="%v")} }}
      {read(to="%k")} }}"""
    x = inputs(operator)
    module = expanded(design(body, operator), count, monkeypatch)
    assert partial_count(module) == count
    after, expected = Partial(operator, count), list[np.float32]()
    for k in range(tiles):
        for i in range(tile):
            after.add(i, x[k * tile + i])
        expected.append(after.total())
    agree(module, x, expected)


@pytest.mark.parametrize("operator", COMBINE)
@pytest.mark.parametrize(("rows", "terms"), [(1, 9), (2, 7), (3, 13), (5, 11)])
def test_rows_side_by_side(rows: int, terms: int, operator: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows innermost, as the compiler emits them; each row's reduction index decides. Nothing changes where rows are enough."""
    body = fill(rows) + f"""scf.for %k = %c0 to %c{terms} step %c1 {{ scf.for %j = %c0 to %c{rows} step %c1 {{
      %u = arith.muli %k, %c{rows} : index
      %v = arith.addi %u, %j : index
      {add(operator, at="%j", value="%v", rows=rows)} }} }}
      scf.for %j = %c0 to %c{rows} step %c1 {{ {read("%j", rows, "%j")} }}"""
    x = inputs(operator)
    module = expanded(design(body, operator, rows), 4, monkeypatch)
    count = 4 if rows < WAITING[operator] else 1
    assert partial_count(module) == count
    expected: list[np.float32] = []
    for j in range(rows):
        after = Partial(operator, count)
        for k in range(terms):
            after.add(k, x[k * rows + j])
        expected.append(after.total())
    agree(module, x, expected)


@pytest.mark.parametrize(("first", "step", "count"), [(0, 2, 4), (0, 4, 4), (0, 3, 1), (1, 1, 1)])
def test_a_loop_is_numbered_where_shifts_and_masks_can(first: int, step: int, count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Loops from 0 by powers of two; others are left as they are."""
    body = fill(1) + f"scf.for %i = %c{first} to %c29 step %c{step} {{ {add('addf')} }}" + read()
    x = inputs("addf")
    module = expanded(design(body, "addf"), None, monkeypatch)
    if count == 1:
        assert partial_count(module) == 1
    after = Partial("addf", partial_count(module))
    assert (len(after.sums) > 1) == (count > 1)
    for number, i in enumerate(range(first, 29, step)):
        after.add(number, x[i])
    agree(module, x, [after.total()])


def test_not_a_number_and_infinities_survive(monkeypatch: pytest.MonkeyPatch) -> None:
    body = fill(1) + f"scf.for %i = %c0 to %c13 step %c1 {{ {add('maximumf')} }}" + read()
    x = inputs("maximumf")
    x[[4, 7]] = np.nan, np.inf
    assert np.isnan(execute(expanded(design(body, "maximumf"), 8, monkeypatch), [x])[0][0])
