"""What reads a reshape has as many copies as what makes that, or other ones, whichever is faster."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from xdsl.dialects import func

from stc.dialects.context import make_context
from stc.dialects.parsing import parse_module
from stc.platforms.platform import Platform
from stc.transforms.linalg import choose_parallelism
from stc.transforms.linalg.choose_parallelism import ChooseParallelism, Computation, Searched
from stc.transforms.linalg.split_arg_max import SplitArgMax

HEAD = Path(__file__).parents[3] / "filecheck_tests/transforms/linalg/choose_parallelism_reshaped.mlir"


def searched(rows: int, budget: str) -> Searched:
    module = parse_module(HEAD.read_text().replace("256x", f"{rows}x"))
    SplitArgMax().apply(make_context(), module)
    found = ChooseParallelism(budget=budget).find(make_context(), module)
    assert found is not None
    return found


@pytest.mark.parametrize("rows", [240, 600, 1000])
@pytest.mark.parametrize("budget", ["dsp=300,ports=8", "dsp=2000,ports=30"])
def test_the_faster_one(rows: int, budget: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Divisors of all rows are more than those of the parts of which the largest is found, which are a power of two."""
    best = searched(rows, budget)
    ways = choose_parallelism._divisions  # pyright: ignore[reportPrivateUsage]
    cycles: list[int] = []
    for number in (0, 1):

        def one(function: func.FuncOp, platform: Platform, number: int = number, **said: bool) -> Iterator[list[Computation]]:
            yield list(ways(function, platform, in_turn=said["in_turn"], shared=said["shared"], layers=int(said["layers"])))[number]

        monkeypatch.setattr(choose_parallelism, "_divisions", one)
        cycles.append(searched(rows, budget).cycles)
    assert best.cycles == min(cycles) and cycles[0] != cycles[1]
