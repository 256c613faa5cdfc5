"""`stc fuzz --run-time-sizes`: what it draws is there in part, and what is wrong at some number of rows alone is seen."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from stc.dialects.dataflow import KernelOp, Place
from stc.dialects.parsing import parse_module
from stc.iteration.size import Size, is_static, least_of, maximum, sum_of
from stc_testing.drawn import seeds
from stc_testing.fuzzing.campaign import run_campaign
from stc_testing.fuzzing.levels import AGREED, FAILED, Outcome
from stc_testing.fuzzing.run_time_programs import APPEND, KINDS, Rows, draw_run_time_program
from stc_testing.fuzzing.run_time_sizes import RunTimeCampaign, check_run_time_case, draw_run_time_case

pytestmark = pytest.mark.heavy

AGREEING = 19
"""A seed whose program compiles, and the next two."""

APPENDING = 4
"""A seed whose program compiles and appends to its first input."""


def test_a_seed_gives_one_program() -> None:
    assert draw_run_time_case(7) == draw_run_time_case(7)
    programs = [draw_run_time_program(seed) for seed in range(80)]
    assert len({program.text for program in programs}) == 80
    assert {kind for program in programs for kind in program.kinds} == {*KINDS, APPEND}
    assert all((program.append is not None) == (APPEND in program.kinds) for program in programs)
    assert any(program.size != program.symbol for program in programs), "windows"


def test_programs_parse_at_every_number_of_rows() -> None:
    for seed in seeds(20):
        program = draw_run_time_program(seed)
        for text in (program.text, *(program.static(position) for position in range(program.symbol.maximum + 1))):
            parse_module(text).verify()


def test_what_is_not_there_is_unusable() -> None:
    for seed in range(6):
        case = draw_run_time_case(seed)
        assert [draw.position for draw in case.draws][-1] == 0
        for draw in case.draws:
            rows = case.program.rows(draw.position)
            for array, kind in zip(draw.inputs, case.program.inputs.values(), strict=False):
                there = tuple(slice(rows + label.more if isinstance(label, Rows) else label) for label in kind)
                assert np.isfinite(array[there]).all() and np.isnan(array).sum() == array.size - array[there].size


@pytest.mark.parametrize("seed", seeds(4))
def test_all_levels_agree(seed: int) -> None:
    outcome = check_run_time_case(draw_run_time_case(seed), None)
    assert outcome.verdict != FAILED, f"{outcome.place}: {outcome.message}"


def test_the_emitted_programs_agree() -> None:
    report = run_campaign(RunTimeCampaign(count=3, seed=AGREEING))
    assert [outcome.verdict for outcome in report.outcomes] == [AGREED] * 3, report.outcomes
    assert all(outcome.simulated for outcome in report.outcomes)


def test_a_row_too_many_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Right where all rows are there: at any other number of them one behind the others is read."""
    monkeypatch.setattr("stc.analysis.run_time_sizes._checked", lambda sizes, _: tuple(map(_one_more, sizes)))
    outcome = check_run_time_case(draw_run_time_case(AGREEING), None, with_mlir=False)
    assert outcome.verdict == FAILED and outcome.place == "size-streams", outcome
    assert "changes what the module computes" in outcome.message


def test_rows_in_place_agree() -> None:
    """All of the cache is compared: what was read, the rows that are new, and NaN behind them."""
    case = draw_run_time_case(APPENDING)
    assert case.program.append is not None
    dimension, count = case.program.append.dimension, case.program.append.count
    for draw in case.draws:
        before, after = (np.moveaxis(array, dimension, 0) for array in (draw.inputs[0], draw.golden[-1]))
        new = slice(draw.position, draw.position + count)
        assert np.isfinite(after[: new.stop]).all() and np.isnan(after[new.stop :]).all()
        np.testing.assert_array_equal(after[: new.start], before[: new.start])
    report = run_campaign(RunTimeCampaign(count=1, seed=APPENDING))
    assert [outcome.verdict for outcome in report.outcomes] == [AGREED], report.outcomes
    assert report.as_json()["in_place_agreed"] == 1 and report.outcomes[0].simulated


def test_rows_in_place_one_off_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Written a row too far, but for the last position."""

    def shifted(kernel: KernelOp, place: Place) -> tuple[Size, ...]:
        return tuple(map(_one_more, right(kernel, place)))

    right = KernelOp.symbolic_offsets_of
    monkeypatch.setattr(KernelOp, "symbolic_offsets_of", shifted)
    outcome = check_run_time_case(draw_run_time_case(APPENDING), None, with_mlir=False)
    assert outcome.verdict == FAILED and outcome.place == "lower-dmas", outcome
    assert "changes what the module computes" in outcome.message


def _one_more(size: Size) -> Size:
    return size if is_static(size) else least_of(sum_of(size, 1), maximum(size))


def test_a_failure_is_written(tmp_path: Path) -> None:
    RunTimeCampaign(count=1, seed=AGREEING).store(Outcome(AGREEING, FAILED, "cse", "wrong"), tmp_path)
    assert (tmp_path / f"{AGREEING}.mlir").read_text() == draw_run_time_program(AGREEING).text
    assert f"stc fuzz --count 1 --seed {AGREEING} --run-time-sizes" in (tmp_path / f"{AGREEING}.txt").read_text()
