"""What a cache holds are rounded floats: near a tie rounding errors decide, and the check of a design says where."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from stc.codegen.tolerances import allowed_bf16
from stc.diagnostics import CompileError
from stc.frontend.draws import HUGE, NONFINITE, ONLY_EXAMPLE, Append, Draws, PartSizes
from stc.frontend.export import export
from stc.frontend.exported import ExportedModel
from stc.iteration.size import Symbol
from stc.quantisation.rows import BF16_ROWS, INT8_ROWS
from stc.scalars.bf16 import bits_of, number_of

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


class Rounded(torch.nn.Module):
    """A row that is a sum of floats, rounded to bf16."""

    def forward(self, x: torch.Tensor, cache: torch.Tensor) -> dict[str, torch.Tensor]:
        row = x * 0.1 * 10.0
        (stored,) = BF16_ROWS.returned(row, BF16_ROWS.stored(row))
        return {"rows": stored, "seen": BF16_ROWS.widened((cache,)).sum(0, keepdim=True)}


def test_bits_may_differ_where_noise_reaches_a_tie() -> None:
    """By one place where half of the lower bits are 1 and nothing else, or nearly; rows that were there before by nothing."""
    tie = 1 + 2.0**-8
    x = torch.tensor([[tie, tie + 2.0**-21, tie - 2.0**-12, 1.0, -tie, 1 + 2.0**-7]])
    pos = Symbol("pos", POSITIONS - 1)
    sizes = PartSizes({}, appends={"rows": Append("updated", "cache", 0, pos)})
    inputs = {"x": x, "cache": torch.randn(POSITIONS, 6).to(torch.bfloat16)}
    (reference,) = export(Rounded(), inputs, name="rounded", draws=ONLY_EXAMPLE, sizes=sizes).draws
    golden, before = reference.golden["updated"], reference.unrounded["updated"]
    assert golden.dtype == np.int16 and before.dtype == np.float32
    np.testing.assert_array_equal(golden, torch.from_numpy(before).to(torch.bfloat16).view(torch.int16).numpy())
    np.testing.assert_array_equal(golden[:-1], inputs["cache"].view(torch.int16).numpy()[:-1])
    np.testing.assert_allclose(before[-1], x[0].numpy(), rtol=1e-6)
    allowed, share = allowed_bf16(golden, before, reference.uncertainty["updated"])
    expected = np.zeros((POSITIONS, 6))
    expected[-1, [0, 1, 4]] = 2.0**-7
    np.testing.assert_array_equal(allowed, expected)
    assert 0 < share < 1e-5


def test_near_zero_only_what_is_as_small_may_differ() -> None:
    """Either sign passes, and no number of the same sign that is larger: bits of 3e38 lie between those of 1e-6 and -1e-6."""
    before = np.array([1e-6, 1.0, np.nan, np.inf], np.float32)
    reference = bits_of(before)
    allowed, _ = allowed_bf16(reference, before, np.array([1e-6, 0.0, 0.0, 0.0]))
    assert allowed[0] < 1e-4 and list(allowed[1:]) == [0, 0, 0]
    found = number_of(bits_of(np.array([-1e-6, 0.0, 3e-6, 3e38], np.float32))).astype(np.float64)
    error = np.abs(found - number_of(reference[0]))
    assert list(error <= allowed[0]) == [True, True, True, False]


def test_caches_of_bf16_are_drawn_as_numbers() -> None:
    """What is not there is no number; what is there has the size that the draw says, as bits."""
    pos = Symbol("pos", POSITIONS - 1)
    sizes = PartSizes({"cache": (pos, 6)}, appends={"rows": Append("updated", "cache", 0, pos)})
    inputs = {"x": torch.ones(1, 6), "cache": torch.randn(POSITIONS, 6).to(torch.bfloat16)}
    draws = export(Rounded(), inputs, name="rounded", draws=Draws((HUGE, NONFINITE)), sizes=sizes).draws
    huge, nonfinite = (torch.from_numpy(draw.inputs["cache"]).view(torch.bfloat16) for draw in draws)
    scaled = (inputs["cache"].to(torch.float32) * 1e3).to(torch.bfloat16)
    assert torch.equal(huge[: POSITIONS - 2], scaled[: POSITIONS - 2]) and huge[POSITIONS - 2 :].isnan().all()
    assert nonfinite.isinf().sum() == 2 and nonfinite.isnan().sum() == 7


def test_bf16_is_refused_where_it_is_no_cache() -> None:
    """Whoever gave it to the design, or got it, would have to know that it is bits."""
    x = torch.ones(3, 4)
    for module, inputs, name in ((torch.nn.ReLU(), [x.to(torch.bfloat16)], "input"), (Cast(), [x], "out")):
        with pytest.raises(CompileError, match=rf"{name} has dtype torch\.bfloat16; accepted: float32, integers, bool"):
            export(module, inputs)


class Cast(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.to(torch.bfloat16)
