"""Stages of a model as one problem: what a token costs, what they take together, and whose schedule is whose."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from toys import Toy

from stc.diagnostics import CompileError
from stc.exploration.problem import OF_STAGES, Objectives, Point
from stc.exploration.stages import StageProblem, StagesProblem
from stc.exploration.study import Exploration
from stc.platforms.budget import Counts


class Counted(Toy):
    """Says what it takes."""

    def evaluate(self, point: Point, simulate: bool = False) -> Objectives:
        found = super().evaluate(point, simulate)
        layouts = {"k_cache": str(point["tile"])} if simulate and self.model != "head" else {}
        return replace(found, beyond={}, taken=Counts(dsp=found.dsp, ports=1)._asdict(), layouts=layouts)


def together(dsp: int = 1000, ports: int = 9) -> StagesProblem:
    launches = {"prefill": (0, 5), "decode": (5, 0), "head": (1, 1)}
    stages = {name: StageProblem(Counted(model=name), *pair) for name, pair in launches.items()}
    return StagesProblem("toys", stages, Counts(dsp=dsp, ports=ports))


def lanes(**given: int) -> Mapping[str, int]:
    return {f"{name}.lanes": value for name, value in given.items()}


def test_tokens_cost_what_their_launches_cost() -> None:
    found = together().evaluate(lanes(prefill=1, decode=2, head=16))
    cycles = {"prefill": 1024, "decode": 512, "head": 64}
    assert found.cycles == 5 * cycles["decode"] + cycles["head"]
    assert found.first_token == 5 * cycles["prefill"] + cycles["head"]
    assert found.dsp == 3 * (1 + 2 + 16) and found.bytes_moved == 6 * 4096 // 16
    assert found.values == (found.cycles, found.on_chip_bytes, found.dsp, found.bytes_moved, found.first_token)
    assert len(found.values) == len(OF_STAGES) and Objectives.of(found.values, "estimated", {}) == replace(found, taken={})


def test_simulated_stages_are_a_simulated_model() -> None:
    assert together().evaluate({}, simulate=True).origin == "simulated"


def test_they_fit_together_or_not() -> None:
    """Each of them alone would fit."""
    assert not together(dsp=48).evaluate(lanes(prefill=4, decode=4, head=8)).beyond
    assert together(dsp=48).evaluate(lanes(prefill=4, decode=8, head=8)).beyond == {"dsp": 12}


def test_each_has_all_ports() -> None:
    """They run one after the other, and a compile of a whole model does not divide ports, either."""
    assert not together(ports=1).evaluate({}).beyond and together(ports=0).evaluate({}).beyond == {"ports": 1}


def test_caches_have_one_layout() -> None:
    """Which only a compile knows."""
    others = {"prefill.tile": 8, "head.tile": 8}
    assert together().evaluate({**others, "decode.tile": 8}, simulate=True).origin == "simulated"
    assert together().evaluate(others).origin == "estimated"
    with pytest.raises(CompileError, match=r"^prefill and decode have k_cache in different layouts; accepted: "):
        together().evaluate(others, simulate=True)


def test_each_has_a_schedule() -> None:
    found = together().schedules(lanes(decode=2))
    assert list(found) == ["prefill/schedule.toml", "decode/schedule.toml", "head/schedule.toml"]
    assert "lanes = 2\n" in found["decode/schedule.toml"] and "lanes = 4\n" in found["head/schedule.toml"]


def test_seeds_are_those_of_all_stages() -> None:
    problem = together()
    begun = problem.seeds()
    assert begun[0] == problem.default() and begun[1] == {**problem.default(), **lanes(prefill=1, decode=1, head=1)}


def test_a_refusal_names_the_stage() -> None:
    with pytest.raises(CompileError, match=r"^decode: two lanes of four entries; accepted: others$"):
        together().evaluate({**lanes(decode=2), "decode.tile": 4})


def test_they_are_searched(tmp_path: Path) -> None:
    journal = str(tmp_path / "trials.journal")
    search = Exploration(together(), journal, seed=1)
    search.estimate(40)
    front = search.results().front("estimated")
    assert len(front) > 1 and all(found.objectives.first_token for found in front)
    search.simulate(6)
    designs, failures = search.results().designs["simulated"], search.results().failures["simulated"]
    assert len(designs) + len(failures) == 6 and all(len(each.objectives.values) == len(OF_STAGES) for each in designs)
    assert designs and all("in different layouts" in why for _, why in failures)
    with pytest.raises(CompileError, match="trials of another problem: its limits"):
        Exploration(together(dsp=7), journal)
