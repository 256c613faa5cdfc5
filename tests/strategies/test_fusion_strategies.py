"""Fusion strategies: what is checked of groups, and that a researcher's groups become the design's."""

from __future__ import annotations

import pytest

from stc.design_space.fusion import FusionEdge, FusionKernel
from stc.diagnostics import CompileError
from stc.strategies.fusion import FUSION, FusionProblem, check_groups, in_order, joined
from stc.strategies.registry import WrongPlan

PROBLEM = FusionProblem(
    [FusionKernel(name, 10) for name in "abcd"],
    [FusionEdge("a", "b", 4), FusionEdge("a", "c", 4), FusionEdge("b", "d", 4), FusionEdge("c", "d", 4)],
    on_chip=40,
)


@pytest.mark.parametrize(
    ("groups", "complaint"),
    [
        ([["a", "b", "c", "d", "e"]], "there is no kernel 'e'"),
        ([["a", "b"], ["c"]], "kernel 'd' is in no group"),
        ([["a", "b"], ["c", "d", "a"]], "kernel 'a' is in several groups"),
        ([["a", "b"], ["c", "d"], []], "a group is empty"),
        ([["a", "d"], ["b", "c"]], "the groups of 'a' and 'b' wait for each other"),
        ([["a", "b", "c", "d"]], "the group of 'a' needs 56 bytes on chip, on-chip allows 40"),
    ],
)
def test_wrong_groups(groups: list[list[str]], complaint: str) -> None:
    with pytest.raises(WrongPlan, match=complaint):
        check_groups(PROBLEM, groups)


def test_groups_may_come_in_any_order() -> None:
    groups = [["d", "c"], ["b", "a"]]
    check_groups(PROBLEM, groups)
    assert in_order(PROBLEM, groups) == [["a", "b"], ["c", "d"]]


def test_ours() -> None:
    assert len(FUSION.decide("separate", PROBLEM)) == 4
    assert FUSION.decide("greedy", PROBLEM) == [["a", "b", "c"], ["d"]]
    with pytest.raises(CompileError, match="unknown fusion strategy 'greed'; accepted: greedy, published, exact, separate"):
        FUSION.decide("greed", PROBLEM)


def test_published_fusion_lets_every_source_open_a_group() -> None:
    """Two sources that meet: one group for us, two as published."""
    kernels = [FusionKernel(name, 10) for name in "abc"]
    problem = FusionProblem(kernels, [FusionEdge("a", "c", 0), FusionEdge("b", "c", 0)], 1000)
    assert FUSION.decide("greedy", problem) == [["a", "b", "c"]]
    assert FUSION.decide("published", problem) == [["a"], ["b", "c"]]


def test_published_fusion_counts_converters_only() -> None:
    """30 bytes of kernels, 50 of a FIFO and 8 of converters, under 40 bytes: it takes them for 8, and its group is refused."""
    kernels = [FusionKernel(name, 10) for name in "abc"]
    edges = [FusionEdge("a", "b", 4, 50), FusionEdge("b", "c", 4)]
    with pytest.raises(CompileError, match="the group of 'a' needs 88 bytes on chip, on-chip allows 40"):
        FUSION.decide("published", FusionProblem(kernels, edges, 40))
    assert FUSION.decide("published", FusionProblem(kernels, edges, 88)) == [["a", "b", "c"]]
    wide = [FusionEdge("a", "b", 60), FusionEdge("b", "c", 60)]
    assert FUSION.decide("published", FusionProblem(kernels, wide, 100)) == [["a", "b"], ["c"]]


def test_kernels_of_one_update_are_one_group_with_what_is_between_them() -> None:
    kernels = [FusionKernel(name, 10) for name in "abcd"]
    problem = FusionProblem(kernels, [FusionEdge("a", "b", 0), FusionEdge("b", "c", 0)], 30)
    groups = [["a"], ["b"], ["c"], ["d"]]
    assert sorted(map(sorted, joined(problem, groups, [["a", "c"]]))) == [["a", "b", "c"], ["d"]]
    assert sorted(map(sorted, joined(problem, groups, [["a", "d"]]))) == [["a", "d"], ["b"], ["c"]]
    assert joined(problem, groups, []) == groups
    with pytest.raises(CompileError, match="kernels a, d, c read and update one tensor, and need 40 bytes on chip together"):
        joined(problem, groups, [["a", "d", "c"]])
