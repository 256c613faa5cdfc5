"""The PyTorch reference of quantised layers, against the formulas of docs/quantisation.md in numpy."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from stc.diagnostics import CompileError
from stc.frontend.rounding_noise import RoundingNoise
from stc.quantisation.formats import LinearFormat, read_quantisation
from stc.quantisation.packed_linear import PackedLinear
from stc.quantisation.packed_weights import GroupedIntegers
from stc.quantisation.reference import QuantisedLinear, linear_layers, quantise_weight, quantised_model

pytestmark = pytest.mark.heavy

TINIEST = np.float32(2.0**-126)


def by_formulas(x: np.ndarray, weight: np.ndarray, chosen: LinearFormat) -> np.ndarray:
    """y[m][n], one entry after the other."""
    count, size = chosen.groups(weight.shape[1])
    result = np.zeros((len(x), len(weight)), np.float32)
    for m, row in enumerate(x):
        for n, column in enumerate(weight):
            total, of_token = np.float32(0), np.float32(0)
            for group in range(count):
                span = slice(group * size, (group + 1) * size)
                scale = max(np.float16(np.abs(column[span]).max() / np.float32(chosen.largest)), np.float16(2.0**-14))
                integers = np.rint(column[span] / np.float32(scale)).astype(int)
                seen = row[span] if chosen.activations == "group" else row
                of_token = max(np.float32(np.abs(seen).max() * np.float32(1 / 127)), TINIEST)
                quantised = np.rint(row[span] * (np.float32(1) / of_token)).astype(int)
                term = np.float32(int(integers @ quantised)) * np.float32(scale)
                total += term * of_token if chosen.activations == "group" else term
            result[m, n] = total if chosen.activations == "group" else total * of_token
    return result


def layer_of(weight: np.ndarray, chosen: LinearFormat) -> QuantisedLinear:
    made = torch.from_numpy(weight)
    return QuantisedLinear(quantise_weight(made, chosen, "fc"), None, chosen.activations)


@pytest.mark.parametrize("factor", [0.0, 1e-44, 1e-39, 1e-5, 1.0, 1e3, 1e37])
@pytest.mark.parametrize("text", ["bits=8", "bits=4,group=8", "bits=4,group=32", "bits=8,group=8,activations=group"])
def test_every_entry_is_as_the_formulas_say(text: str, factor: float):
    """37 terms: a short last group; some scales are the least there is."""
    random, chosen = np.random.default_rng(1), read_quantisation(text).default
    assert chosen is not None
    weight = random.standard_normal((5, 37)).astype(np.float32) * np.array([[1], [1e-4], [1e-6], [0], [1e3]], np.float32)
    weight[0, :8] = 0
    x = (random.standard_normal((3, 37)) * factor).astype(np.float32)
    x[1, 8:16] = 0
    found = layer_of(weight, chosen)(torch.from_numpy(x)).numpy()
    with np.errstate(over="ignore", invalid="ignore"):  # of the largest numbers
        expected = by_formulas(x, weight, chosen)
    np.testing.assert_array_equal(found, expected)


def test_ties_go_to_even():
    """A scale of 1: halves are exact."""
    x = torch.tensor([[127.0, 0.5, 1.5, 2.5, -0.5, -2.5]])
    integers, scales = layer_of(np.eye(1, 6, dtype=np.float32), LinearFormat()).quantised(x)
    assert scales.tolist() == [[1.0]] and integers.flatten().tolist() == [127, 0, 2, 2, 0, -2]


def test_a_quantised_weight_is_near():
    weight = torch.from_numpy(np.random.default_rng(0).standard_normal((6, 37)).astype(np.float32))
    for bits in (4, 8):
        made = quantise_weight(weight, LinearFormat(bits, 16), "fc")
        assert made.integers.shape == (6, 3, 16) and not made.integers[:, 2, 5:].any()
        assert made.integers.abs().amax() == 2 ** (bits - 1) - 1
        scales = made.scales.float().unsqueeze(-1)
        back = (made.integers * scales).flatten(1)[:, :37]
        assert ((back - weight).abs() <= 0.501 * scales.expand(6, 3, 16).flatten(1)[:, :37]).all()


def test_a_token_that_is_no_number_spoils_itself_alone():
    random = np.random.default_rng(2)
    layer = layer_of(random.standard_normal((4, 16)).astype(np.float32), LinearFormat())
    x = torch.from_numpy(random.standard_normal((3, 16)).astype(np.float32))
    expected = layer(x)
    x[1, 3] = float("nan")
    found = layer(x)
    assert torch.isnan(found[1]).all() and torch.equal(found[[0, 2]], expected[[0, 2]])
    x[1, 3] = float("inf")
    assert not torch.isfinite(layer(x)[1]).any()


@pytest.mark.parametrize(
    ("entry", "scale", "complaint"),
    [(float("nan"), "f16", "a weight is infinite or NaN"), (1e9, "f16", "a scale is too large for f16; accepted: scale=bf16")],
)
def test_weights_without_a_scale_are_refused(entry: float, scale: str, complaint: str):
    with pytest.raises(CompileError) as error:
        quantise_weight(torch.tensor([[1.0, entry]]), LinearFormat(scale=scale), "mlp.fc")
    assert complaint in str(error.value) and "mlp.fc" in str(error.value)


def test_layers_are_replaced_for_a_while():
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(9, 8), torch.nn.ReLU(), torch.nn.Linear(8, 3))
    x = torch.randn(4, 9)
    before = model(x)
    quantised = quantised_model(model, read_quantisation("bits=4,group=4,except=2"), "model")
    with quantised.replaced():
        inside = model(x)
    first: torch.nn.Module = layer_of(model[0].get_parameter("weight").detach().numpy(), LinearFormat(4, 4))
    expected = torch.nn.functional.linear(torch.relu(first(x) + model[0].get_parameter("bias")), *model[2].parameters())
    torch.testing.assert_close(inside, expected, rtol=0, atol=0)
    assert torch.equal(model(x), before) and not torch.equal(inside, before)
    assert quantised.used == {"0"} and set(linear_layers(model)) == {"0", "2"}


def test_a_model_without_linear_layers_is_refused():
    with pytest.raises(CompileError, match="there is no linear layer to quantise"):
        quantised_model(torch.nn.Sequential(torch.nn.ReLU()), read_quantisation("bits=8"), "model")


def test_rounding_noise_leaves_integers_as_they_are():
    """Else 5 would be 4 behind a conversion: an error of one unit of the scale, not of the last place."""
    x = torch.linspace(-8, 8, 17)
    with RoundingNoise(np.random.default_rng(0)):
        rounded = torch.round(x * 1.0)
    assert torch.equal(rounded, torch.round(rounded)) and (rounded - x).abs().max() <= 1


@pytest.mark.parametrize("activations", ["token", "group"])
@pytest.mark.parametrize("symmetric", [False, True])
def test_a_packed_layer_has_its_own_integers(activations: str, symmetric: bool):
    """Sums of a (q - z), in integers of any size, and the layer's own form of it: quantised and dequantised."""
    rng = np.random.default_rng(8)
    integers, scales = rng.integers(-8, 8, (6, 40)), rng.uniform(0.01, 1, (6, 3)).astype(np.float16)
    zeros = None if symmetric else rng.integers(-8, 8, (6, 3))
    narrow = None if zeros is None else zeros.astype(np.int8)
    packed = PackedLinear(GroupedIntegers(4, 16, integers.astype(np.int8), scales, narrow), torch.randn(6))
    model = torch.nn.Sequential(packed)
    quantised = quantised_model(model, read_quantisation(f"bits=4,activations={activations},group=128"), "here")
    x = torch.randn(3, 40)
    layer = quantised.layers["0"]
    of_groups = layer.quantised(x)[0].to(torch.int64).numpy()
    assert of_groups.shape == (3, 3, 16) and not of_groups[:, 2, 8:].any()
    centred = np.zeros((6, 48), np.int64)
    centred[:, :40] = integers - (0 if zeros is None else np.repeat(zeros, 16, 1)[:, :40])
    expected = np.einsum("mji,nji->mnj", of_groups, centred.reshape(6, 3, 16))
    assert np.array_equal(layer.sums(layer.quantised(x)[0]).numpy(), expected)
    with quantised.replaced():
        found = model(x)
    with quantised.exported():
        written = model(x)
    assert torch.allclose(found, written, atol=1e-5) and not torch.allclose(found, model(x), atol=1e-5)
    assert torch.allclose(found, model(x), atol=0.5)


def test_a_packed_layer_keeps_its_width():
    weight = GroupedIntegers(4, 8, np.zeros((2, 8), np.int8), np.ones((2, 1), np.float16), None)
    with pytest.raises(CompileError, match=r"0: bits=8 is asked of weights that have 4 bits in the model; accepted: bits=4"):
        quantised_model(torch.nn.Sequential(PackedLinear(weight, None)), read_quantisation("bits=8"), "here")
