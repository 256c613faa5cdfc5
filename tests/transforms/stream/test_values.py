"""From tiling to directives nothing changes the values: every program, token by token over bounded FIFOs, against linalg."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tiled_programs import PROGRAMS, RandomProgram, matmul
from token_machine import run
from xdsl.dialects import func

from stc.dialects.context import make_context
from stc.dialects.parsing import parse_module
from stc.execution.run import execute
from stc.pipeline import run_stages, stages
from stc_testing.drawn import seeds
from stc_testing.small import small_options

pytestmark = pytest.mark.heavy

OPTIONS: dict[str, dict[str, Any]] = {
    "primes": {"tile": 4},
    "ones": {"tile": 4},
    "softmax": {"lanes": 2},
    "concat": {"tile": 2, "lanes": 1},
}
"""Where the defaults would not reach what the program is about."""


def check(text: str, **options: Any) -> None:
    """Compile all but the linalg stage, run, and compare."""
    module = parse_module(text)
    function = next(op for op in module.walk() if isinstance(op, func.FuncOp))
    numbers = np.random.default_rng(0)
    types: list[Any] = [argument.type for argument in function.body.block.args]
    inputs = [np.asarray(numbers.standard_normal(kind.get_shape()), np.float32) for kind in types]
    expected = execute(function, inputs)
    after_linalg = [stage for stage in stages(small_options(**options)) if stage.name != "linalg optimisation"]
    run_stages(module, make_context(), after_linalg)
    found = run(module, inputs)
    for left, right in zip(expected, found, strict=True):
        assert left.shape == right.shape and left.dtype == right.dtype
        np.testing.assert_allclose(right, left, rtol=2e-5, atol=2e-5)


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name: str) -> None:
    check(PROGRAMS[name], **OPTIONS.get(name, {}))


@pytest.mark.parametrize("lanes", [1, 4])
def test_lanes(lanes: int) -> None:
    check(matmul("[4, 8, 4]", "[2, 0, 1]").returning("fc"), lanes=lanes)


@pytest.mark.parametrize("seed", seeds(4))
def test_random_program(seed: int) -> None:
    program = RandomProgram(seed)
    check(program.text(), **program.options())


def test_several_groups() -> None:
    program = matmul("[4, 8, 4]", "[0, 1, 2]")
    program.op("a", "ij -> ij", "fc", ("negf %a0",), schedule="tile = [4, 8], order = [0, 1]")
    program.op("b", "ij -> ji", "a", ("negf %a0",), schedule="tile = [4, 8], order = [1, 0]")
    check(program.returning("b"), on_chip=700)
