"""Run-time sizes at every level of the compile: each value of the symbols, and nothing beyond it is looked at."""

from __future__ import annotations

import numpy as np
import pytest
from run_time_modules import DOUBLINGS, EXAMPLE, Doubling, lowering, parsed

from stc.dialects.context import make_context
from stc.execution.run import execute
from stc.iteration.size import sampled_values
from stc.transforms.finding_pass import run_pass
from stc_testing.levels import levels


@pytest.mark.heavy
@pytest.mark.parametrize("doubling", DOUBLINGS, ids=lambda each: each.name)
def test_a_task_at_every_level(doubling: Doubling):
    module = parsed(doubling.text)
    for label, depths in levels(module, lowering()):
        for values in sampled_values(doubling.symbols):
            inputs, expected = doubling.arrays(values)
            (found,) = execute(module, inputs, depths=depths)
            np.testing.assert_array_equal(found, expected, err_msg=f"{label} at {values}")


@pytest.mark.parametrize("depths", [False, True])
def test_paths_that_meet_again(depths: bool):
    """The FIFO beside the sum is deep enough for every number of rows."""
    module = parsed(EXAMPLE)
    for step in lowering():
        run_pass(step.one_pass, make_context(), module)
    for pos in range(14):
        rows = np.random.default_rng(pos).normal(size=(13, 16)).astype(np.float32)
        rows[pos:] = np.nan
        y, total = execute(module, [rows, np.asarray(pos, np.int32)], depths=depths)
        np.testing.assert_allclose(total[0], rows[:pos].sum(0), rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(y[:pos], rows[:pos] + total, rtol=1e-5, atol=1e-6)
        assert np.isnan(y[pos:]).all()
