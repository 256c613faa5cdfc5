"""Modules whose parameters wrap others: exported with the plain ones as parameters."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from stc.execution.run import execute
from stc.frontend.export import export
from stc.frontend.wrapped_tensors import unwrapped, wrapping_of
from stc_testing.quantised_modules import Scaled, wrapped_weights

pytestmark = pytest.mark.heavy


def test_what_is_wrapped_is_what_is_exported() -> None:
    x = torch.randn(5, 7)
    model = export(wrapped_weights()[0], (x,))
    assert model.parameter_names == ("0.weight._bytes", "0.weight._scale", "0.bias")
    (found,) = execute(model.module, list(model.arguments.values()))
    np.testing.assert_allclose(found, wrapped_weights()[0](x).detach().numpy(), rtol=1e-5, atol=1e-5)


def test_tensors_are_wrapped_again_as_they_were() -> None:
    weight = wrapped_weights()[0].get_parameter("0.weight")
    plain = unwrapped({"weight": weight, "bias": torch.ones(3)})
    assert list(plain) == ["weight._bytes", "weight._scale", "bias"]
    again = wrapping_of(weight).around("weight", plain)
    assert isinstance(again, Scaled) and torch.equal(again.plain(), weight.plain())  # type: ignore[operator]  # pyright: ignore
