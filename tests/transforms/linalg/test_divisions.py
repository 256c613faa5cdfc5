"""What reads a reshape has as many copies as what makes that, or other ones, whichever is faster."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from xdsl.dialects import func

from stc.analysis.host_work import functions_of
from stc.design_space.parallelism import Parallelism, Serving
from stc.dialects.context import make_context
from stc.dialects.parsing import parse_module
from stc.platforms.platform import Platform, load_platform
from stc.transforms.linalg import choose_parallelism
from stc.transforms.linalg.choose_parallelism import ChooseParallelism, Computation, Searched, computations
from stc.transforms.linalg.split_arg_max import SplitArgMax

HEAD = Path(__file__).parents[3] / "filecheck_tests/transforms/linalg/choose_parallelism_reshaped.mlir"


def searched(rows: int, budget: str) -> Searched:
    module = parse_module(HEAD.read_text().replace("256x", f"{rows}x"))
    SplitArgMax().apply(make_context(), module)
    found = ChooseParallelism(budget=budget).find(make_context(), module)
    assert found is not None
    return found


@pytest.mark.parametrize(("made", "read", "lanes"), [(1, 1, 1), (4, 1, 4), (3, 2, 4), (4, 16, 16), (64, 1, 16)])
def test_as_wide_as_what_makes_it(made: int, read: int, lanes: int) -> None:
    """What finds the largest of rows has as many lanes as the product, or as many as there are: 16."""
    module = parse_module(HEAD.read_text())
    SplitArgMax().apply(make_context(), module)
    (function,) = functions_of(module)
    computed = computations(function, load_platform("u55c"), joined=True)
    plan = {each.work.name: Parallelism(1, 2) for each in computed}
    plan |= {"logits": Parallelism(made, 2), "max_partial": Parallelism(read, 2)}
    wide = choose_parallelism.as_wide_as_made(computed, plan)
    assert wide == {**plan, "max_partial": Parallelism(lanes, 2)}


@pytest.mark.parametrize(("joined", "fed"), [(True, 0), (False, 1)])
def test_copies_that_are_divided_otherwise_are_fed_one_after_the_other(joined: bool, fed: int) -> None:
    module = parse_module(HEAD.read_text())
    SplitArgMax().apply(make_context(), module)
    (function,) = functions_of(module)
    works = {each.work.name: each.work for each in computations(function, load_platform("u55c"), joined=joined)}
    assert [each.fed for each in works["max_partial"].after] == [fed]


@pytest.mark.parametrize("rows", [240, 600, 1000])
@pytest.mark.parametrize("budget", ["dsp=300,ports=8", "dsp=2000,ports=30"])
def test_the_faster_one(rows: int, budget: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Divisors of all rows are more than those of the parts of which the largest is found, which are a power of two."""
    best = searched(rows, budget)
    ways = choose_parallelism._divisions  # pyright: ignore[reportPrivateUsage]
    cycles: list[int] = []
    for number in (0, 1):

        def one(
            function: func.FuncOp, platform: Platform, in_turn: bool, serving: Serving | None, layers: int, number: int = number
        ) -> Iterator[list[Computation]]:
            yield list(ways(function, platform, in_turn, serving, layers))[number]

        monkeypatch.setattr(choose_parallelism, "_divisions", one)
        cycles.append(searched(rows, budget).cycles)
    assert best.cycles == min(cycles) and cycles[0] != cycles[1]
