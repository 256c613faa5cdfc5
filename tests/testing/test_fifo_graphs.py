"""A few random graphs, compiled, built with time, sized; `benchmarks/fifo_graphs.py` does the same for hundreds."""

from __future__ import annotations

import shutil

import pytest

from stc_testing.fuzzing.graphs import SIZED, GraphCampaign, check_graphs, summary

pytestmark = pytest.mark.heavy


@pytest.mark.skipif(shutil.which("g++") is None, reason="g++ is needed")
def test_sized_depths_suffice_and_none_can_be_less() -> None:
    checks = check_graphs(GraphCampaign(count=2, seed=4, batch=3))
    assert [failure for check in checks for failure in check.failures] == []
    figures = summary(checks)
    assert figures[SIZED] == 2
    assert figures["fifos_above_one"] >= 4
    assert figures["one_below"]["deadlock"] >= 1 and figures["one_below"]["slower"] >= 1
    assert sum(figures["one_below"].values()) == figures["fifos_above_one"]
    assert figures["bits"]["minimal"] < figures["bits"]["worst"]
    assert figures["optimum_known"] == 2


@pytest.mark.skipif(shutil.which("g++") is None, reason="g++ is needed")
def test_a_fifo_is_named_beside_another_that_fixes_the_same_loss() -> None:
    """Its writer waits less long than in the reference run, at one less than its least depth."""
    (check,) = check_graphs(GraphCampaign(count=1, seed=1091, batch=1))
    assert check.seed == 1091 and check.failures == () and check.figures["below"]["slower"] > 1
