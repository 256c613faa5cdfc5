"""`--fusion exact`: several kernels in one project, which compute what PyTorch does, and pass less between them."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from stc.strategies.fusion import FUSION, FusionProblem, Groups
from stc_testing.commands import Stc

pytestmark = [pytest.mark.heavy, pytest.mark.skipif(shutil.which("g++") is None, reason="g++ is needed")]


def test_a_block_in_groups_of_least_traffic(tmp_path: Path, stc: Stc) -> None:
    asked: list[tuple[int, int]] = []

    def compared(problem: FusionProblem) -> Groups:
        exact, greedy = (FUSION.decide(name, problem) for name in ("exact", "greedy"))
        asked.append((problem.external_bytes(exact), problem.external_bytes(greedy)))
        return exact

    FUSION.registered["compared"] = compared
    try:
        words = ("gpt2-tiny", "--seq", "5", "--small", "--fusion", "compared", "--on-chip", "12288", "--check")
        done = stc("compile", *words, "--check-inputs", "example", "--out", tmp_path / "out")
    finally:
        del FUSION.registered["compared"]
    assert done.code == 0 and "C simulation passed" in done.stdout, done.stderr
    ((exact, greedy),) = asked
    assert exact < greedy and "not proved" not in done.stderr
    report = json.loads((tmp_path / "out" / "report.json").read_text())
    assert report["groups"] > 1 and 0 < report["memory_bytes"]["external"] <= exact, "each is read at least once"
