"""Every seeded fault is caught, and the complaint names its place; the healthy compile is not complained about."""

from __future__ import annotations

import pytest
from faults import FAULTS, OPTIONS, Fault, examine

from stc.pipeline import stages, steps

pytestmark = pytest.mark.heavy


def test_there_are_at_least_twenty_at_every_level() -> None:
    assert len(FAULTS) >= 20
    stage_of = {step.label: step.stage.name for step in steps(stages(OPTIONS))}
    assert {stage_of[fault.after] for fault in FAULTS} == set(stage_of.values())


@pytest.mark.parametrize("seeded", FAULTS, ids=lambda seeded: seeded.name)
def test_a_fault_is_caught_and_located(seeded: Fault) -> None:
    verdict = examine(seeded)
    assert verdict.caught_by is not None
    assert seeded.place in verdict.message


@pytest.mark.parametrize("after", sorted({seeded.after for seeded in FAULTS}))
def test_without_a_fault_nobody_complains(after: str) -> None:
    assert examine(Fault("none", after, "", lambda module: None)).caught_by is None
