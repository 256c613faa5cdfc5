"""A part of a cache that begins at a row known at run time: at every level, in the emitted C++, its cycles, and what is refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from run_time_modules import lowering, parsed, project
from xdsl.utils.exceptions import VerifyException

from stc.diagnostics import CompileError
from stc.dialects.context import make_context
from stc.execution.run import execute
from stc.frontend.exported import Reference
from stc.iteration.concatenation import concatenation_mismatch, joined
from stc.iteration.order import Coordinate, Loop, StreamOrder
from stc.iteration.proof_obligations import Disjoint, Holds, Refuted, answer
from stc.iteration.size import Size, Symbol, largest_of, least_of, sum_of
from stc.simulation.csim import csim
from stc.simulation.simulate import timed_design
from stc.simulation.timing_table import SimulationOptions
from stc.transforms.finding_pass import run_pass
from stc_testing.levels import levels

EXAMPLE = (Path(__file__).parents[2] / "examples" / "window.mlir").read_text()
ROWS, WINDOW = 8, 4
POS = Symbol("pos", ROWS - 1)
COUNT, BEGIN = "min(pos<=7, 3)", "max(sum(pos<=7, -3), 0)"
MAP = f"(d0, d1 + {BEGIN}, 0)"
PART = f"!itensor.itensor<1x1x16xf32, iter_space: [2, {COUNT}] * [1, 1], iter_map: (d0, d1) -> {MAP}>"


def windowed(window: int) -> str:
    """The example with another window."""
    count, begin = least_of(POS, window - 1), largest_of(sum_of(POS, 1 - window), 0)
    return EXAMPLE.replace(COUNT, str(count)).replace(f" + {BEGIN}", f" + {begin}" if begin != 0 else "")


def arrays(pos: int, window: int = WINDOW, outside: float = np.nan) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    """Inputs and results; rows of the cache that the window does not reach are `outside`."""
    random = np.random.default_rng(pos)
    x, cache = (random.normal(size=(2, rows, 16)).astype(np.float32) for rows in (1, ROWS))
    seen = range(max(pos - window + 1, 0), pos)
    cache[:, [row for row in range(ROWS) if row not in seen]] = outside
    y, updated = x.copy(), cache.copy()
    for row in seen:
        y[:, 0] += cache[:, row]
    updated[:, pos] = x[:, 0]
    return {"x": x, "cache": cache, "pos": np.asarray(pos, np.int32)}, {"y": y, "updated": updated}


@pytest.mark.parametrize("window", [2, WINDOW, ROWS - 1, ROWS, ROWS + 5])
def test_every_level_at_every_position(window: int):
    """Windows shorter than the cache, as long and longer; nothing outside of them is looked at."""
    module = parsed(windowed(window))
    for label, depths in levels(module, lowering()):
        for pos in range(ROWS):
            inputs, golden = arrays(pos, window)
            for found, expected in zip(execute(module, list(inputs.values()), depths=depths), golden.values(), strict=True):
                np.testing.assert_array_equal(found, expected, err_msg=f"{label} at {pos}")


@pytest.mark.heavy
def test_values_and_cycles_of_the_emitted_design(tmp_path: Path):
    """Behind the window every position takes as long."""
    module = parsed(EXAMPLE)
    for step in lowering():
        run_pass(step.one_pass, make_context(), module)
    draws = [Reference(f"pos_{pos}", *arrays(pos)) for pos in range(ROWS)]
    folder = project(module, "window", draws, tmp_path)
    result = csim(folder)
    assert result.passed and len(result.draws) == ROWS
    timed = timed_design(folder)
    cycles = [timed.run(SimulationOptions(at={"pos": pos}), report=None).cycles or 0 for pos in range(ROWS)]
    assert 0 < cycles[0] < cycles[1] < cycles[2] < cycles[3], cycles
    assert len(set(cycles[WINDOW - 1 :])) == 1, cycles


def test_a_window_off_by_one_is_noticed():
    """One row too late is refuted by z3: it is the one that is written. One too early has other values."""
    late = parsed(EXAMPLE.replace(BEGIN, "max(sum(pos<=7, -2), 0)"))
    with pytest.raises(CompileError, match=r"order %cache in kernel @main.*where pos = \d, the token written at .* is read too"):
        for step in lowering(last="verify-streams"):
            run_pass(step.one_pass, make_context(), late)
    inputs, golden = arrays(ROWS - 1)
    found = execute(parsed(EXAMPLE.replace(BEGIN, "max(sum(pos<=7, -4), 0)")), list(inputs.values()))
    assert not np.array_equal(found[0], golden["y"]), "the row before the window is NaN"
    wide = execute(parsed(EXAMPLE.replace(COUNT, "min(pos<=7, 2)")), list(inputs.values()))
    assert not np.array_equal(wide[0], golden["y"]), "a row of the window is left out"


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        (COUNT, "min(pos<=7, 5)", r"enumerates \[2, 9, 16\], expected at most \[2, 8, 16\]"),
        (MAP, "(d0 + pos<=7, d1, 0)", r"enumerates \[9, 3, 16\], expected at most \[2, 8, 16\]"),
        (MAP, "(d0, d1, pos<=7)", "dimension 2 begins at pos<=7 and has not one loop over single"),
    ],
)
def test_parts_that_do_not_lie_in_their_tensor(old: str, new: str, complaint: str):
    with pytest.raises(VerifyException, match=complaint):
        parsed(EXAMPLE.replace(old, new))


JOINED = f"!part = {PART}" + """
!row = !itensor.itensor<1x1x16xf32, iter_space: [2] * [1], iter_map: (d0) -> (d0, 0, 0)>
!all = !itensor.itensor<1x1x16xf32, iter_space: [2, sum(min(pos<=7, 3), 1)] * [1, 1], iter_map: (d0, d1) -> (d0, d1, 0)>
func.func @main(%c: tensor<2x7x16xf32> {stc.name = "cache"}, %x: tensor<2x1x16xf32> {stc.name = "x"}, %p: i32 {stc.name = "pos"})
    -> (tensor<2x4x16xf32> {stc.name = "y"}) {
  %y = dataflow.kernel @main(%cache = %c : tensor<2x7x16xf32> as !part, %new = %x : tensor<2x1x16xf32> as !row,
      %pos = %p : i32 as !itensor.symbol<pos<=7>) -> (tensor<2x4x16xf32> as !all) {
    %seen = itensor.concat %cache, %new at [0, 0, 0], [0, min(pos<=7, 3), 0] : !part, !row to !all
    dataflow.yield %seen : !all
  }
  func.return %y : tensor<2x4x16xf32>
}
"""


def test_a_part_that_is_only_read_and_joined():
    """An operand that nothing updates; z3 agrees that the rows of the part and the new one are the whole."""
    module = parsed(JOINED)
    for step in [None, *lowering()]:
        if step is not None:
            run_pass(step.one_pass, make_context(), module)
        for pos in range(ROWS):
            inputs, _ = arrays(pos)
            (found,) = execute(module, [inputs["cache"][:, :7], inputs["x"], inputs["pos"]])
            seen = np.concatenate([inputs["cache"][:, max(pos - 3, 0) : pos], inputs["x"]], 1)
            np.testing.assert_array_equal(found[:, : seen.shape[1]], seen, err_msg=f"{step and step.label} at {pos}")


def test_a_result_begins_at_0():
    text = JOINED.replace("-> (tensor<2x4x16xf32> as !all)", "-> (tensor<2x7x16xf32> as !part)")
    text = text.replace("yield %seen : !all", "yield %cache : !part").replace("tensor<2x4x16xf32>", "tensor<2x7x16xf32>")
    with pytest.raises(VerifyException, match=r"result 0 has type .* expected one that begins at 0"):
        parsed(text)


# Orders ---------------------------------------------------------------------------------------------------------------


def part(count: Size, begin: Size) -> StreamOrder:
    return StreamOrder((1, 1, 4), (Loop(2, 1), Loop(count, 1)), (Coordinate((0,)), Coordinate((1,), begin), Coordinate()))


SEEN = part(least_of(POS, 3), largest_of(sum_of(POS, -3), 0))


def test_memory_has_what_lies_before_a_part():
    assert SEEN.largest == part(7, 0) and SEEN.shape[1] == sum_of(least_of(POS, 3), largest_of(sum_of(POS, -3), 0))
    assert SEEN.begins == (0, largest_of(sum_of(POS, -3), 0), 0) and SEEN.from_its_begin == part(least_of(POS, 3), 0)
    assert SEEN.at({"pos": 5}).enumerate().tolist() == [[head, row, 0] for head in range(2) for row in (2, 3, 4)]
    assert not part(3, 2).begins_at_run_time


def test_the_new_row_is_proved_to_lie_outside():
    row = StreamOrder((1, 1, 4), (Loop(2, 1),), (Coordinate((0,)), Coordinate(), Coordinate()))
    for read, expected in ((SEEN, Holds), (part(least_of(POS, 3), largest_of(sum_of(POS, -2), 0)), Refuted)):
        disjoint = Disjoint(read, row, (0, POS, 0))
        assert isinstance(answer(disjoint), expected) and isinstance(disjoint.counted(), expected)


def test_a_part_is_joined_as_a_tensor_of_its_own():
    full = joined([SEEN, part(1, 0)], part(8, 0), 1)
    assert full == part(sum_of(least_of(POS, 3), 1), 0)
    assert concatenation_mismatch(full, [SEEN, part(1, 0)], [(0, 0, 0), (0, least_of(POS, 3), 0)]) is None
