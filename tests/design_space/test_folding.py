"""Folding never makes a task slower than the slowest, or than the limit, nor much longer than it was."""

from __future__ import annotations

import pytest

from stc.design_space.folding import HANDING_OVER, Fold, is_worth_folding

CYCLES = {"matmul": 10000, "bias": 200}
FOLD = Fold("matmul", "bias")


LIMITS = [(10200, 0, True), (10199, 0, False), (1, 10200, True), (99999, 10199, False)]


@pytest.mark.parametrize(("slowest", "limit", "worth"), LIMITS)
def test_limit(slowest: int, limit: int, worth: bool) -> None:
    assert is_worth_folding(FOLD, CYCLES | {"slowest": slowest}, limit, 12) is worth


@pytest.mark.parametrize(("added", "worth"), [(0, False), (1, False), (2, True)])
def test_turns_that_take_too_long(added: int, worth: bool) -> None:
    """200 cycles more than the longer task's 10,000 are two percent, whatever the slowest task takes."""
    assert is_worth_folding(FOLD, CYCLES | {"slowest": 99999}, 0, added) is worth


@pytest.mark.parametrize(("cycles", "worth"), [(HANDING_OVER, True), (HANDING_OVER + 1, False)])
def test_short_tasks_take_turns(cycles: int, worth: bool) -> None:
    assert is_worth_folding(Fold("exp", "sum"), {"exp": 70, "sum": cycles, "slowest": 99999}, 0, 12) is worth


def test_a_copy_costs_nothing() -> None:
    assert is_worth_folding(Fold("load", "bias"), {"load": 0, "bias": 20}, 0, 0)
