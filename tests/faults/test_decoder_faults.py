"""Every fault of a decoder is caught by whom one would expect, who names its place; without one nobody complains."""

from __future__ import annotations

import pytest
from decoder_faults import DESIGNS, FAULTS, DecoderFault, examine

pytestmark = pytest.mark.heavy


@pytest.mark.parametrize("seeded", FAULTS, ids=lambda seeded: seeded.name)
def test_a_fault_is_caught_and_located(seeded: DecoderFault) -> None:
    verdict = examine(seeded)
    assert verdict.caught_by == seeded.caught_by and seeded.place in verdict.message, verdict


@pytest.mark.parametrize("design", DESIGNS)
def test_without_a_fault_nobody_complains(design: str) -> None:
    after = next(fault.after for fault in FAULTS if fault.design == design)
    assert examine(DecoderFault("none", after, "", lambda module: None, design, "nobody")).caught_by is None
