"""`interleaved`: slices of a tensor, token by token in turn, is what a round-robin split takes apart again."""

from __future__ import annotations

import random

import numpy as np
import pytest

from stc.iteration.layout_orders import in_order
from stc.iteration.normal_form import same_sequence
from stc.iteration.order import StreamOrder
from stc.iteration.round_robin import interleaved, round_robin_parts, taken_in_turn, without_constants
from stc.iteration.vectorize import vectorized


def random_slice(generator: random.Random) -> StreamOrder:
    """An exact order of a small tensor, tiled or cut into vectors."""
    rank = generator.randint(1, 3)
    element = [generator.choice([1, 2, 3]) for _ in range(rank)]
    extents = [size * generator.choice([1, 2, 5]) for size in element]
    order = in_order(extents, element, generator.sample(range(rank), rank))
    return vectorized(order, generator.choice([1, 2, 4])) if generator.random() < 0.5 else order


@pytest.mark.parametrize("seed", range(30))
def test_splitting_undoes_interleaving(seed: int):
    generator = random.Random(seed)
    part, parts = random_slice(generator), generator.choice([2, 3, 7])
    dimension = generator.randrange(part.rank)
    whole = interleaved(part, parts, dimension)
    extent = part.static_shape[dimension]
    assert whole.static_shape == tuple(e * parts if d == dimension else e for d, e in enumerate(part.static_shape))
    assert whole.is_exact
    for number, one in enumerate(round_robin_parts(whole, parts)):
        assert same_sequence(without_constants(one), part)
        offset = np.array([number * extent if d == dimension else 0 for d in range(part.rank)])
        assert (one.enumerate() == part.enumerate() + offset).all()


def test_one_slice_is_the_tensor():
    part = in_order([4, 6], [2, 3], [1, 0])
    assert interleaved(part, 1, 0) == part


@pytest.mark.parametrize("parts", [1, 2, 3])
@pytest.mark.parametrize("run", [1, 2, 3, 4, 6, 12, 18, 36])
def test_runs_of_several_tensors_in_turn(parts: int, run: int):
    part = in_order([4, 6, 6], [2, 1, 2], [1, 0, 2])  # loops of 6, 2, 3 iterations
    if run in (2, 4):
        with pytest.raises(ValueError, match=f"runs of {run} tokens do not end with loops of 6, 2, 3"):
            taken_in_turn(part, parts, 5, run)
        return
    own = part.enumerate().reshape(-1, run, 3)
    expected = np.stack([own + np.array([5 * number, 0, 0]) for number in range(parts)], axis=1)
    np.testing.assert_array_equal(taken_in_turn(part, parts, 5, run).enumerate(), expected.reshape(-1, 3))


def test_a_run_that_ends_inside_a_loop():
    part = in_order([4, 6], [1, 1], [0, 1])
    own = part.enumerate().reshape(-1, 3, 2)
    expected = np.stack([own, own + np.array([4, 0])], axis=1).reshape(-1, 2)
    np.testing.assert_array_equal(taken_in_turn(part, 2, 4, 3).enumerate(), expected)
