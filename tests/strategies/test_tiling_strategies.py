"""Tiling strategies: what is checked of a plan, and one tile size for everything beside ours."""

from __future__ import annotations

import pytest

from stc.design_space.order_propagation import TiledOp
from stc.design_space.orders import Computation, LoopPlan, Operand, TileSizes
from stc.strategies.registry import WrongPlan
from stc.strategies.tiling import TILING, TilingProblem, check_loops

PRODUCT = Computation(
    (6, 40, 36), (2,), (Operand("x", (0, 2), 4), Operand("w", (2, 1), 4, is_parameter=True)), (Operand("h", (0, 1), 4),)
)
GELU = Computation((6, 40), (), (Operand("h", (0, 1), 4),), (Operand("y", (0, 1), 4),))
PROBLEM = TilingProblem([TiledOp("fc", PRODUCT), TiledOp("gelu", GELU)], TileSizes(columns=16, rows=128))


@pytest.mark.parametrize(
    ("plan", "complaint"),
    [
        (LoopPlan((6, 7), (0, 1)), "tile 7 of loop 1 of gelu does not divide its extent 40"),
        (LoopPlan((6,), (0,)), "gelu has 1 tiles for its 2 loops"),
        (LoopPlan((6, 8), (1, 1)), r"the order \[1, 1\] of gelu is not each of its 2 loops once"),
    ],
)
def test_wrong_plans(plan: LoopPlan, complaint: str) -> None:
    ours = TILING.decide("propagated", PROBLEM)
    with pytest.raises(WrongPlan, match=complaint):
        check_loops(PROBLEM, {**ours, "gelu": plan})
    with pytest.raises(TypeError, match="'float' object cannot be interpreted as an integer"):
        check_loops(PROBLEM, {**ours, "gelu": LoopPlan((6.0, 8), (0, 1))})  # pyright: ignore[reportArgumentType]
    with pytest.raises(WrongPlan, match="gelu has no tiles"):
        check_loops(PROBLEM, {"fc": ours["fc"]})


def test_neighbours_agree_with_ours_and_not_as_published() -> None:
    ours, theirs = TILING.decide("propagated", PROBLEM), TILING.decide("published", PROBLEM)
    assert ours["fc"].tile[:2] == ours["gelu"].tile == (6, 10)
    assert theirs == {"fc": LoopPlan((6, 10, 12), (0, 1, 2)), "gelu": LoopPlan((6, 10), (0, 1))}
    assert ours["fc"].tile[2] == 12


def test_what_has_a_plan_is_not_asked_for() -> None:
    given = LoopPlan((3, 8), (1, 0))
    problem = TilingProblem([TiledOp("fc", PRODUCT), TiledOp("gelu", GELU, given=given)], PROBLEM.sizes)
    assert [op.name for op in problem.computations] == ["fc"]
    assert TILING.decide("propagated", problem)["gelu"] == given
