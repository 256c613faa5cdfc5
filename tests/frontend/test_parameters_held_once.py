"""Parameters of large models are in memory once: shared with PyTorch's, and of all layers together only one at a time."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
import torch

from stc.frontend.exported import AskedFor
from stc.frontend.layers import joined

pytestmark = pytest.mark.heavy


@pytest.mark.parametrize("is_ours", [True, False])
def test_a_module_of_ours_is_not_copied(is_ours: bool) -> None:
    from stc.frontend.export import export

    module = torch.nn.Linear(5, 3)
    found = export(module, [torch.randn(2, 5)], is_ours=is_ours).parameters["weight"]
    assert np.shares_memory(found, module.weight.detach().numpy()) == is_ours
    assert found.flags.writeable != is_ours
    assert np.array_equal(found, module.weight.detach().numpy())


def test_layers_are_put_together_where_one_is_asked_for() -> None:
    asked: Counter[str] = Counter()

    class Noted(dict[str, np.ndarray]):
        def __getitem__(self, name: str) -> np.ndarray:
            asked[name] += 1
            return super().__getitem__(name)

    layers = [Noted(own=np.full(3, layer), shared=np.arange(2)) for layer in range(2)]
    layers.append(Noted(own=np.full(3, 2), shared=np.arange(2), last=np.ones(1)))
    found = joined({"own"}, layers)
    assert list(found) == ["own", "shared", "last"] and len(found) == 3
    assert "own" in found and "first" not in found and not asked
    assert np.array_equal(found["own"], [[0] * 3, [1] * 3, [2] * 3]) and np.array_equal(found["last"], [1])
    assert asked == {"own": 3, "last": 1}
    with pytest.raises(KeyError):
        found["first"]


def test_of_several_places_the_last_counts() -> None:
    found = AskedFor.of({"a": np.zeros(1), "b": np.zeros(1)}, AskedFor({"b": lambda: np.ones(1)}))
    assert {name: float(array[0]) for name, array in found.items()} == {"a": 0, "b": 1}
