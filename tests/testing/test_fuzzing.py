"""`stc fuzz`: the generator repeats itself, covers its kinds, and the runner sees what is wrong and says where."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

import pytest
from typer.testing import CliRunner
from xdsl.context import Context
from xdsl.dialects import arith
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

import stc.pipeline as pipeline
import stc_testing.fuzzing.campaign as campaign
from stc.diagnostics import CompileError
from stc.dialects.parsing import parse_module
from stc.platforms.budget import SMALL, Budget, searched_limits
from stc.platforms.platform import load_platform
from stc.tools.installed_commands import add_installed_commands
from stc.tools.stc import app
from stc_testing.drawn import seeds
from stc_testing.fuzzing.campaign import Campaign, CampaignReport, IntegerCampaign, reason_of, run_campaign
from stc_testing.fuzzing.generator import INTEGER_KINDS, KINDS, LAYERS, random_program
from stc_testing.fuzzing.levels import AGREED, CHOSEN, FAILED, FOR_SPEED, REFUSED, Case, Outcome, check_case, draw_case
from stc_testing.fuzzing.program import as_double
from stc_testing.fuzzing.run_time_sizes import draw_run_time_case
from stc_testing.fuzzing.schedules import BUDGETS, RANDOM, STRATEGIES

pytestmark = pytest.mark.heavy

add_installed_commands(app, "fuzz")

COVERED = 200


def test_a_seed_gives_one_program_and_one_way_to_compile_it() -> None:
    assert [draw_case(seed) for seed in range(5)] == [draw_case(seed) for seed in range(5)]
    assert len({random_program(seed).text for seed in range(50)}) == 50


def test_every_kind_occurs() -> None:
    programs = [random_program(seed) for seed in range(COVERED)]
    assert {kind for program in programs for kind in program.kinds} == set(KINDS)


def test_element_types_options_and_schedules_vary() -> None:
    texts = [random_program(seed).text for seed in range(COVERED)]
    for element in ("f32", "i1", "i8", "i32", "i64"):
        assert any(f"x{element}>" in text for text in texts)
    assert any("stc.parameter" in text for text in texts) and any("dense<" in text for text in texts)
    options = [draw_case(seed).options for seed in range(40)]
    for name in ("tile", "rows", "lanes", "propagate_orders", "on_chip"):
        assert len({getattr(entry, name) for entry in options}) > 1


def test_programs_of_integers_have_many_widths_and_kinds() -> None:
    programs = [random_program(seed, integers=True) for seed in range(COVERED)]
    assert {kind for program in programs for kind in program.kinds} == set(INTEGER_KINDS)
    for element in ("i2", "i3", "i4", "i12", "i33", "i63"):
        assert sum(f"x{element}>" in program.text for program in programs) > COVERED // 50, element
    assert all(any(f"arith.{op}" in program.text for program in programs) for op in ("extui", "divui", "shrui", "uitofp"))
    assert draw_case(3, integers=True) == draw_case(3, integers=True) != draw_case(3)


@pytest.mark.parametrize("seed", seeds(3))
def test_every_level_of_a_program_of_integers_agrees(seed: int) -> None:
    outcome = check_case(draw_case(seed, integers=True), None)
    assert outcome.verdict != FAILED, outcome


def test_every_program_parses_and_verifies_in_f32_and_in_f64() -> None:
    for seed in seeds(30):
        text = random_program(seed).text
        parse_module(text).verify()
        parse_module(as_double(text)).verify()


def test_values_called_like_a_type_keep_their_names() -> None:
    assert as_double("%f32 = arith.addf %f64, %f32_1 : vector<4xf32>") == "%f32 = arith.addf %f64, %f32_1 : vector<4xf64>"


@pytest.mark.parametrize("seed", seeds(5))
def test_all_levels_agree(seed: int) -> None:
    outcome = check_case(draw_case(seed), None)
    assert outcome.verdict == AGREED, f"{outcome.place}: {outcome.message}"
    assert outcome.by_mlir and not outcome.simulated


def test_the_emitted_programs_agree() -> None:
    report = run_campaign(Campaign(count=2, seed=100, jobs=1))
    assert [outcome.verdict for outcome in report.outcomes] == [AGREED] * 2, report.outcomes
    assert all(outcome.simulated for outcome in report.outcomes)


# With a search --------------------------------------------------------------------------------------------------------

SPED_UP = 7
"""A seed of which the search divides a computation into copies."""

MULTIPLYING = 5
"""A seed of a program with a product of matrices."""


def test_a_budget_is_the_options_of_its_programs_and_random_takes_several() -> None:
    assert draw_case(3).options.budget == SMALL
    cases = [draw_case(seed, budget="dsp=400,ports=6") for seed in range(8)]
    assert {case.options.budget for case in cases} == {"dsp=400,ports=6"}
    assert {case.options.parallelism for case in cases} == set(STRATEGIES)
    assert len({draw_case(seed, budget=RANDOM).options.budget for seed in range(8)}) > 2
    assert draw_run_time_case(3, "plan").options.budget == "plan"
    for budget in BUDGETS:
        searched_limits(budget, "u55c")


def test_programs_for_a_search_have_layers() -> None:
    for integers, others in ((False, KINDS), (True, INTEGER_KINDS)):
        programs = [random_program(seed, integers=integers, searched=True) for seed in range(COVERED // 2)]
        kinds = [set(program.kinds) for program in programs]
        assert set().union(*kinds) >= set(LAYERS) and not set().union(*kinds) - {*LAYERS, *others}
        assert sum(bool(drawn & set(LAYERS)) for drawn in kinds) > COVERED // 5
        for program in programs[:10]:
            parse_module(program.text).verify()


@pytest.mark.parametrize("seed", seeds(3, 3))
def test_all_levels_of_a_searched_program_agree(seed: int) -> None:
    outcome = check_case(draw_case(seed, budget=RANDOM), None)
    assert outcome.verdict == AGREED and outcome.budget != SMALL, f"{outcome.place}: {outcome.message}"


def test_what_a_search_does_is_counted() -> None:
    report = run_campaign(Campaign(count=1, seed=SPED_UP, budget="plan"))
    assert [outcome.verdict for outcome in report.outcomes] == [AGREED], report.outcomes
    assert report.as_json()["searched"] == 1 and report.outcomes[0].simulated
    assert {"lanes", "copies"} <= set(report.sped_up) <= {*CHOSEN, *FOR_SPEED}


def test_dsps_that_are_too_few_are_doubled() -> None:
    outcome = check_case(draw_case(MULTIPLYING, budget="dsp=1,ports=20"), None, with_mlir=False)
    assert outcome.verdict == AGREED
    assert Budget.parse(outcome.budget).limits(load_platform("u55c")).dsp in (1 << shift for shift in range(1, 10))


def test_the_budget_is_in_what_shows_a_failure_again(tmp_path: Path) -> None:
    strategy = draw_case(0, integers=True, budget="dsp=300").options.parallelism
    found = Outcome(0, FAILED, "cse", "wrong", budget="dsp=600")
    IntegerCampaign(count=1, budget="dsp=300").store(found, tmp_path)
    text = (tmp_path / "0.txt").read_text()
    assert "stc fuzz --count 1 --seed 0 --budget 'dsp=300' --integers" in text
    assert f"--budget 'dsp=600' --parallelism {strategy}" in text
    Campaign(count=1).store(Outcome(1, FAILED, "cse", "wrong"), tmp_path)
    text = (tmp_path / "1.txt").read_text()
    assert "stc fuzz --count 1 --seed 1\n" in text and "--budget 'small'" in text


@pytest.mark.parametrize("budget", ["dsp=lots", "dsp=999999", "more"])
def test_what_is_no_budget_is_refused_at_once(budget: str, tmp_path: Path) -> None:
    with pytest.raises(CompileError, match="budget"):
        CliRunner().invoke(app, ["fuzz", "--budget", budget, "--out", str(tmp_path)], catch_exceptions=False)


# What is wrong is seen ------------------------------------------------------------------------------------------------


class LosesAnAddition(ModulePass):
    """Makes the first float addition a subtraction."""

    name = "hoist-constants"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for found in op.walk():
            if isinstance(found, arith.AddfOp):
                Rewriter.replace_op(found, arith.SubfOp(found.lhs, found.rhs))
                return


class Crashes(ModulePass):
    """A defect that is no refusal."""

    name = "hoist-constants"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        raise KeyError("no such thing")


def _replace(monkeypatch: pytest.MonkeyPatch, broken: type[ModulePass]) -> None:
    known = pipeline.all_passes()
    monkeypatch.setattr(pipeline, "all_passes", lambda: {**known, broken.name: lambda: broken})


def _fuzz(out: Path, *more: str) -> tuple[int, dict[str, object]]:
    arguments = ["fuzz", "--count", "2", "--csim-every", "0", "--mlir-every", "0", "--json", "--out", str(out), *more]
    result = CliRunner().invoke(app, arguments)
    return result.exit_code, json.loads(result.stdout)


def test_a_wrong_pass_is_found_named_and_repeatable(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    _replace(monkeypatch, LosesAnAddition)
    code, figures = _fuzz(tmp_path / "found")
    failures = figures["failures"]
    assert code == 1 and isinstance(failures, list) and failures
    for failure in failures:
        assert failure["place"] == "hoist-constants"
        assert "pass 'hoist-constants' changes what the module computes: result" in failure["message"]
        written = tmp_path / "found" / f"{failure['seed']}.mlir"
        assert written.read_text() == draw_case(failure["seed"]).text
        assert f"stc fuzz --count 1 --seed {failure['seed']}" in written.with_suffix(".txt").read_text()
    seed = failures[0]["seed"]
    again, alone = _fuzz(tmp_path / "again", "--count", "1", "--seed", str(seed))
    assert again == 1 and alone["failures"] == failures[:1]


def test_an_exception_is_a_failure(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    _replace(monkeypatch, Crashes)
    code, figures = _fuzz(tmp_path, "--count", "1")
    failures = figures["failures"]
    assert code == 1 and isinstance(failures, list)
    assert failures[0]["place"] == "hoist-constants" and "KeyError" in failures[0]["message"]


def test_no_failure_is_exit_code_zero(tmp_path: Path) -> None:
    code, figures = _fuzz(tmp_path, "--count", "1")
    assert (code, figures["agreed"], figures["failed"]) == (0, 1, 0)
    assert not list(tmp_path.iterdir())


def test_a_folder_that_cannot_be_written_is_refused_at_once(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(CompileError, match=f"--out: cannot write to {tmp_path}/file; accepted: a folder"):
        CliRunner().invoke(app, ["fuzz", "--count", "1", "--out", str(tmp_path / "file" / "out")], catch_exceptions=False)


def test_a_process_that_dies_costs_one_seed(monkeypatch: pytest.MonkeyPatch) -> None:
    def dies(case: Case, project: Path | None, with_mlir: bool) -> Outcome:
        seed = case.seed
        if seed == 2:
            os.kill(os.getpid(), signal.SIGKILL)
        return Outcome(seed, AGREED)

    monkeypatch.setattr(campaign, "check_case", dies)
    report = run_campaign(Campaign(count=5, csim_every=0, batch=3))
    assert [outcome.seed for outcome in report.failed] == [2]
    assert report.failed[0].message == "the process died of SIGKILL"
    assert len(report.of(AGREED)) == 4


def test_a_process_that_does_not_end_costs_one_seed(monkeypatch: pytest.MonkeyPatch) -> None:
    def hangs(case: Case, project: Path | None, with_mlir: bool) -> Outcome:
        seed = case.seed
        if seed == 1:
            signal.pause()
        return Outcome(seed, AGREED)

    monkeypatch.setattr(campaign, "check_case", hangs)
    monkeypatch.setattr(campaign, "SECONDS_OF_A_SEED", 2)
    monkeypatch.setattr(campaign, "PATIENCE", 1)
    report = run_campaign(Campaign(count=3, csim_every=0))
    assert [(outcome.seed, outcome.message) for outcome in report.failed] == [(1, "did not end within 2 s")]


def test_a_process_that_computes_for_ever_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    def computes(case: Case, project: Path | None, with_mlir: bool) -> Outcome:
        while case.seed == 0:
            pass
        return Outcome(case.seed, AGREED)

    monkeypatch.setattr(campaign, "check_case", computes)
    monkeypatch.setattr(campaign, "SECONDS_OF_A_SEED", 1)
    monkeypatch.setattr(campaign, "PATIENCE", 1000)
    report = run_campaign(Campaign(count=1, csim_every=0))
    assert [(outcome.seed, outcome.message) for outcome in report.failed] == [(0, "did not end within 1 s")]


def test_refusals_are_counted_by_reason() -> None:
    messages = ["generic of matmul_3: 12 partitions", "generic of matmul_4: 7 partitions", "too wide"]
    outcomes = [Outcome(seed, REFUSED, "tile-linalg", message) for seed, message in enumerate(messages)]
    report = CampaignReport([*outcomes, Outcome(3, FAILED, "cse", "wrong")])
    assert [seeds for _, seeds in report.refusals] == [[0, 1], [2]]
    assert reason_of(messages[0]) == reason_of(messages[1]) != reason_of(messages[2])
    assert report.as_json()["refused"] == 3 and report.as_json()["failed"] == 1
