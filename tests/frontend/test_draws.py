"""The sets of inputs a design is checked with: what stays valid, what is left out, and what rounding errors alone move."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pytest
import torch
from xdsl.dialects.builtin import ModuleOp

from stc.diagnostics import CompileError
from stc.frontend.draws import (
    DRAWS,
    FOR_LARGE,
    ONLY_EXAMPLE,
    Draws,
    draw_references,
    inputs_of,
    linalg_iterations,
    moved_by_rounding,
    read_draws,
    retained_inputs,
)
from stc.frontend.export import export
from stc.frontend.exported import Arrays, ExportedModel, Reference
from stc.frontend.linalg_file import load_linalg_file
from stc.frontend.rounding_noise import RoundingNoise

pytestmark = pytest.mark.heavy

ALL = Draws(DRAWS, seed=3)
F32 = np.float32


def drawn(name: str, array: np.ndarray) -> np.ndarray:
    return inputs_of(name, {"x": array}, np.random.default_rng(0))["x"]


def exported(module: torch.nn.Module, *inputs: torch.Tensor, draws: Draws = ALL) -> ExportedModel:
    return export(module, inputs, draws=draws)


@pytest.mark.parametrize("array", [np.arange(35).reshape(5, 7), np.arange(3)[:, None], np.tri(5, 7, dtype=bool), np.array(4)])
def test_integers_and_truth_values_stay_valid(array: np.ndarray) -> None:
    """As many of each value in each row: an index is in its range, a mask as open as it was."""
    found = drawn("draw", array)
    axis = -1 if array.ndim and array.shape[-1] > 1 else 0
    sort = np.sort if array.ndim else lambda values, axis: values
    assert found.dtype == array.dtype and np.array_equal(sort(found, axis), sort(array, axis))
    assert not array.ndim or not np.array_equal(found, array)
    assert all(np.array_equal(drawn(name, array), array) for name in ("example", "tiny", "huge"))
    assert not drawn("zeros", array).any(), "of a model without floats"
    beside_floats = inputs_of("zeros", {"x": array, "y": np.ones(3, F32)}, np.random.default_rng(0))
    assert np.array_equal(beside_floats["x"], array)


def test_floats_keep_their_sign_and_bounds() -> None:
    x = np.random.default_rng(1).uniform(0.1, 1, (3, 5)).astype(F32)
    found = drawn("draw", x)
    assert found.dtype == F32 and (found > 0).all() and (found <= x.max()).all() and not np.isin(found, x).any()
    assert not drawn("zeros", -x).any() and not np.signbit(drawn("zeros", -x)).any()
    assert np.array_equal(drawn("tiny", x), x * F32(1e-5)) and np.array_equal(drawn("huge", x), x * F32(1e3))
    assert np.abs(drawn("draw", np.zeros((3, 5), F32))).min() > 0


@pytest.mark.parametrize("closed", [-np.inf, np.finfo(F32).min, np.nan])
def test_masks_stay_masks(closed: float) -> None:
    """What has no finite thousandfold is kept in `huge` alone; closed places stay closed wherever something is scaled."""
    mask = np.where(np.tri(5, 7, dtype=bool), 0, closed).astype(F32)
    assert np.array_equal(drawn("huge", mask), mask, equal_nan=True) and not drawn("zeros", mask).any()
    redrawn, tiny = drawn("draw", mask), drawn("tiny", mask)
    assert np.array_equal((redrawn != 0).sum(-1), (mask != 0).sum(-1)) and np.array_equal(tiny != 0, mask != 0)
    assert not any((np.abs(found[found != 0]) < 1e33).any() for found in (redrawn, tiny))


def test_large_numbers_are_scaled_down() -> None:
    x = np.array([1, -2, 3e36], F32)
    assert not drawn("zeros", x).any() and np.array_equal(drawn("tiny", x), x * F32(1e-5)) and np.array_equal(drawn("huge", x), x)


@pytest.mark.parametrize(("shape", "nans", "infinities"), [((4, 5), 1, 2), ((2,), 1, 1), ((), 1, 0)])
def test_what_is_not_finite(shape: tuple[int, ...], nans: int, infinities: int) -> None:
    found = drawn("nonfinite", np.ones(shape, F32))
    assert (np.isnan(found).sum(), np.isinf(found).sum(), (found == 1).sum()) == (nans, infinities, found.size - nans - infinities)
    assert np.array_equal(drawn("nonfinite", np.arange(4)), np.arange(4))


def test_inputs_kept_are_named() -> None:
    example = {"x": np.ones(3, F32), "big": np.full(3, 1e36, F32), "i": np.arange(3)}
    for name, kept in (("zeros", ("i",)), ("tiny", ("i",)), ("huge", ("big", "i"))):
        reference = Reference(name, inputs_of(name, example, np.random.default_rng(0)), {})
        assert retained_inputs(reference, example) == kept


def test_references_of_a_module() -> None:
    module = torch.nn.Linear(5, 3).eval()
    model = exported(module, torch.randn(4, 5))
    assert tuple(draw.name for draw in model.references) == DRAWS and not model.draws_left_out
    for draw in model.references:
        with torch.no_grad():
            expected = module(torch.from_numpy(draw.inputs["input"]))
        assert np.array_equal(draw.golden["out"], expected.numpy())
    again = exported(module, torch.from_numpy(model.inputs["input"]))
    assert all(np.array_equal(a.inputs["input"], b.inputs["input"]) for a, b in zip(model.draws, again.draws, strict=True))


class Lookup(torch.nn.Module):
    def forward(self, i: torch.Tensor) -> torch.Tensor:
        return i * 3


class Quotient(torch.nn.Module):
    def forward(self, i: torch.Tensor, j: torch.Tensor) -> torch.Tensor:
        return i // j


class Strict(torch.nn.Module):
    """Runs on no zeros, in Python rather than in PyTorch."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if not torch.compiler.is_compiling() and not bool(x.detach().abs().sum() > 0):
            raise RuntimeError("all zeros")
        return x * 2


def test_what_is_left_out_is_said() -> None:
    model = exported(Lookup(), torch.arange(6).reshape(2, 3))
    assert [draw.name for draw in model.references] == ["example", "draw", "zeros"]
    assert not model.references[2].golden["out"].any()
    assert set(model.draws_left_out.values()) == {"its inputs are those of example"}
    divided = exported(Quotient(), torch.arange(6).reshape(2, 3), torch.arange(1, 7).reshape(2, 3))
    assert "ZeroDivisionError" in divided.draws_left_out["zeros"]
    model = exported(Strict(), torch.randn(2, 3))
    assert "zeros" not in [draw.name for draw in model.references] and "all zeros" in model.draws_left_out["zeros"]
    with pytest.raises(CompileError, match=r"does not run on what it is to be checked with.*all zeros"):
        exported(Strict(), torch.randn(2, 3), draws=Draws(("zeros",)))


def test_the_default_follows_the_size() -> None:
    small = exported(torch.nn.Linear(5, 3), torch.randn(4, 5), draws=Draws(None))
    assert len(small.references) == 5 and 4 * 5 * 3 <= linalg_iterations(small.module) <= 4 * 5 * 3 + 3 * 4 * 3 + 5 * 3
    assert Draws(None).names_for(small.module) == DRAWS
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("stc.frontend.draws.MOST_OPERATIONS", linalg_iterations(small.module) - 1)
        assert Draws(None).names_for(small.module) == FOR_LARGE


def test_names_are_checked() -> None:
    assert read_draws("") is None and read_draws("zeros, example,zeros") == ("zeros", "example")
    with pytest.raises(CompileError, match="--check-inputs names 'nan'; accepted: some of example,draw,zeros,tiny,huge,nonfinite"):
        read_draws("nan")


def test_uncertainty_is_that_of_the_model() -> None:
    """Next to nothing where it is well-conditioned; not so for a softmax whose logits are nearly equal and large."""

    def relative(module: torch.nn.Module, x: torch.Tensor) -> float:
        (draw,) = exported(module, x, draws=Draws(("example",))).references
        return float(draw.uncertainty["out"].max() / np.abs(draw.golden["out"]).max())

    assert 0 < relative(torch.nn.Linear(16, 8), torch.randn(7, 16)) < 1e-6
    assert relative(torch.nn.Softmax(-1), 1e6 + torch.randn(3, 5)) > 1e-3


class InPlace(torch.nn.Module):
    """The same cancellation in place, through `out=`, and as functions."""

    def __init__(self, form: str):
        super().__init__()
        self.form = form

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if self.form == "function":
            return x.exp() + 1e4 - 1e4
        if self.form == "out":
            result = torch.empty(x.shape)
            torch.add(x.exp(), 1e4, out=result)
            return torch.sub(result, 1e4)
        return torch.zeros(x.shape).add_(x).exp_().add_(1e4).sub_(1e4)


def uncertainty_of(module: torch.nn.Module, x: torch.Tensor) -> np.ndarray:
    """Of a module that need not be exportable."""

    def run(inputs: Arrays, noise: np.random.Generator | None) -> dict[str, np.ndarray]:
        with torch.no_grad(), nullcontext() if noise is None else RoundingNoise(noise):
            return {"out": module(torch.from_numpy(inputs["x"]).clone()).numpy()}

    (draw,) = draw_references(ONLY_EXAMPLE, ModuleOp([]), {"x": x.numpy()}, run).references
    return draw.uncertainty["out"]


@pytest.mark.parametrize("form", ["function", "out", "in place"])
def test_operations_in_place_make_rounding_errors_too(form: str) -> None:
    """1e4 has a last place of 1e-3, whoever writes the sum."""
    found = uncertainty_of(InPlace(form), torch.zeros(4, 32))
    assert 4e-4 < found.max() < 4e-3


def test_noise_leaves_views_alone() -> None:
    """Nothing is computed by `t_`: a value that is only looked at twice has the noise of one operation."""
    with RoundingNoise(np.random.default_rng(0)):
        made = torch.ones(64, 64) * 1
        before = made.clone().numpy()
        assert np.array_equal(made.t().numpy().T, made.numpy()) and np.array_equal(made.unsqueeze_(0).numpy()[0], made[0].numpy())
    assert np.abs(before - made[0].numpy()).max() <= 2**-23


@pytest.mark.parametrize("shape", [(64, 1), ()])
def test_an_entry_alone_in_its_row_is_moved(shape: tuple[int, ...]) -> None:
    """Every entry cancels, so that none may be left without uncertainty by luck."""
    assert uncertainty_of(InPlace("function"), torch.zeros(shape)).min() > 1e-4


def test_what_leaves_the_finite_numbers_is_uncertain_without_end() -> None:
    """exp(88.7228..) overflows or not as the last place falls; what is infinite or NaN in every run is certain."""

    class Edge(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            edge = torch.full((1, 64), float(torch.finfo(torch.float32).max)) * x
            return torch.cat([edge * (1 + 2**-23), x * torch.inf, x * torch.nan, x], -1)

    found = uncertainty_of(Edge(), torch.ones(1, 1))
    assert np.isinf(found[0, :64]).any() and not found[0, 64:66].any() and found[0, 66] < 1e-6


def test_noise_shrinks_by_a_unit_in_the_last_place_at_most() -> None:
    values = np.array([1.5, -3e38, 0, -np.inf, np.nan, 1e-45], F32)
    moved = moved_by_rounding(np.tile(values, (50, 1)), np.random.default_rng(0))
    assert np.isfinite(moved[:, :3]).all() and (np.abs(moved[:, 0] - 1.5) <= 2**-22).all() and len(set(moved[:, 0])) > 1
    assert not moved[:, 2].any() and np.isinf(moved[:, 3]).all() and np.isnan(moved[:, 4]).all()
    assert moved_by_rounding(np.arange(3), np.random.default_rng(0)).tolist() == [0, 1, 2]


def test_references_of_a_file(tmp_path: Path) -> None:
    path = tmp_path / "twice.mlir"
    path.write_text("""func.func @f(%x: tensor<3x5xf32>, %i: tensor<3x5xi32>) -> (tensor<3x5xf32>, tensor<3x5xi32>) {
  %e = tensor.empty() : tensor<3x5xf32>
  %r = linalg.add ins(%x, %x : tensor<3x5xf32>, tensor<3x5xf32>) outs(%e : tensor<3x5xf32>) -> tensor<3x5xf32>
  return %r, %i : tensor<3x5xf32>, tensor<3x5xi32>
}""")
    model = load_linalg_file(path, ALL)
    assert tuple(draw.name for draw in model.references) == DRAWS
    for draw in model.references:
        assert np.array_equal(draw.golden["out0"], 2 * draw.inputs["arg0"])
        assert np.array_equal(draw.golden["out1"], draw.inputs["arg1"]) and list(draw.uncertainty) == ["out0"]
    assert model.references[0].uncertainty["out0"].any() and not model.references[2].uncertainty["out0"].any()


def test_sums_of_integers_have_no_rounding_errors() -> None:
    """As in `round(x / s) + zero`, which is cut to int8: another integer would be an error of the whole step."""
    rounded, zero = torch.tensor([[3.0, -7.0, 127.0]]), torch.tensor([[5]], dtype=torch.int8)
    with RoundingNoise(np.random.default_rng(0)):
        found = [(rounded + zero - 2.0) * 3 for _ in range(9)]
        moved = [(rounded + 0.1, rounded * 2.0**23, rounded / 3.0) for _ in range(9)]
    assert all(torch.equal(entry, (rounded + 3.0) * 3) for entry in found)
    for kind in zip(*moved, strict=True):
        assert any(not torch.equal(entry, kind[0]) for entry in kind)
