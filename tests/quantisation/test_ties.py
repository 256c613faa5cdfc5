"""Integers of a cache are rounded floats: near a tie rounding errors decide, and the check of a design says where."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from stc.frontend.draws import ONLY_EXAMPLE, Append, Draws, PartSizes
from stc.frontend.export import export
from stc.frontend.exported import ExportedModel
from stc.iteration.size import Symbol
from stc.quantisation.rows import INT8_ROWS

pytestmark = pytest.mark.heavy
POSITIONS = 40


class Appended(torch.nn.Module):
    """A row that is a sum of floats, quantised: its second entry lies at a tie where `x` says so."""

    def forward(self, x: torch.Tensor, cache: torch.Tensor, scales: torch.Tensor) -> dict[str, torch.Tensor]:
        row, scale = INT8_ROWS.stored(x * 0.1 * 10.0)
        return {"rows": row, "row_scales": scale, "seen": (cache * scales).sum(0, keepdim=True)}


def exported(second: float) -> ExportedModel:
    before = {"cache": torch.ones(POSITIONS, 3, dtype=torch.int8), "scales": torch.ones(POSITIONS, 1)}
    inputs = {"x": torch.tensor([[127.0, second, 3.0]]), **before}
    pos = Symbol("pos", POSITIONS - 1)
    appends = {"rows": Append("updated", "cache", 0, pos), "row_scales": Append("updated_scales", "scales", 0, pos)}
    return export(Appended(), inputs, name="appended", draws=Draws(ONLY_EXAMPLE.names), sizes=PartSizes({}, appends=appends))


@pytest.mark.parametrize(("second", "moved"), [(1.5, 1.0), (1.25, 0.0)])
def test_what_noise_moves_over_a_tie_is_uncertain(second: float, moved: float) -> None:
    (reference,) = exported(second).draws
    expected = np.zeros((POSITIONS, 3))
    expected[-1, 1] = moved
    np.testing.assert_array_equal(reference.uncertainty["updated"], expected)
