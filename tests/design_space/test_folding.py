"""Folding never makes a task slower than the slowest, or than the limit."""

from __future__ import annotations

import pytest

from stc.design_space.folding import Fold, folded_cycles, is_worth_folding

CYCLES = {"matmul": 1000, "bias": 60, "slowest": 1020}
FOLD = Fold("matmul", "bias", 40)


def test_stream_cycles_are_saved() -> None:
    assert folded_cycles(FOLD, CYCLES) == 1020


@pytest.mark.parametrize(("slowest", "limit", "worth"), [(1020, 0, True), (1019, 0, False), (1, 1020, True), (9999, 1019, False)])
def test_limit(slowest: int, limit: int, worth: bool) -> None:
    assert is_worth_folding(FOLD, CYCLES | {"slowest": slowest}, limit) is worth
