"""Every level computes what linalg computes, after every pass; linalg itself is compared with MLIR's own execution engine."""

from __future__ import annotations

from typing import Any

import numpy as np
import programs
import pytest
import tiled_programs
from notation import MULTIPLY_ADD, Program
from xdsl.dialects.builtin import ModuleOp

from stc.dialects.context import make_context
from stc.dialects.parsing import parse_module
from stc.dialects.printing import print_module
from stc.execution.run import execute, main_function
from stc.pipeline import Stage, run_stages, stages
from stc.tools.check_semantics import SemanticsCheck, compare, random_inputs
from stc_testing.small import small_options

pytestmark = pytest.mark.heavy

GELU = (
    "mulf %a0, %a0",
    "mulf %a0, %t0",
    "addf %a0, %t1",
    "math.tanh %t2 : f32",
    "addf %a0, %t3",
    "mulf %a0, %t4",
)


def running_example() -> str:
    program = tiled_programs.matmul("[4, 8, 4]", "[0, 1, 2]")
    return program.op("act", "ij -> ij", "fc", GELU, schedule="tile = [4, 4], order = [0, 1]").returning("act")


def several_groups() -> str:
    program = tiled_programs.matmul("[4, 8, 4]", "[0, 1, 2]")
    program.op("a", "ij -> ij", "fc", ("negf %a0",), schedule="tile = [4, 8], order = [0, 1]")
    program.op("b", "ij -> ji", "a", ("negf %a0",), schedule="tile = [4, 8], order = [1, 0]")
    return program.returning("b")


def reduction_outermost() -> str:
    program = Program({"x": (6, 8), "w": (8, 10)})
    schedule = "tile = [2, 5, 2], order = [2, 0, 1]"
    return program.op("y", "ik kj -> ij", "x w", MULTIPLY_ADD, initial="0.0", schedule=schedule).returning("y")


LARGER = "grouped_attention"

SMALL: dict[str, tuple[str, dict[str, Any]]] = {
    "running example": (running_example(), {}),
    "several groups": (several_groups(), {"on_chip": 700}),
    "reduction outermost": (reduction_outermost(), {"lanes": 2}),
    **{
        name: (tiled_programs.PROGRAMS[name], {"tile": 4, "lanes": 4})
        for name in (
            "softmax",
            "primes",
            "concat",
            "slices_that_overlap",
            "reshape_that_reorders",
            "reshape_to_rank_zero",
            "padded_words_reused",
            "result_and_intermediate",
            "readers_with_reuse",
            "indices",
            "two_reductions",
        )
    },
}


def compile_checked(text: str, options: dict[str, Any], *, with_linalg: bool) -> None:
    """Run the pipeline, executing the module after every pass, with the real depths once they are set."""
    module = parse_module(text)
    check = SemanticsCheck(seed=1)
    check.begin(module)

    def observe(_: Stage, name: str, now: ModuleOp) -> None:
        check.after(name, now)
        if name in ("set-fifo-depths", "hls-directives", "size-fifos"):
            assert check.results is not None
            assert compare(check.results, execute(now, check.inputs, depths=True)) is None

    chosen = [stage for stage in stages(small_options(**options)) if with_linalg or stage.name != "linalg optimisation"]
    run_stages(module, make_context(), chosen, [observe])
    assert not check.notes


@pytest.mark.parametrize("name", SMALL)
def test_every_level_of_a_small_program(name: str) -> None:
    text, options = SMALL[name]
    compile_checked(text, options, with_linalg=False)


@pytest.mark.parametrize("name", [pytest.param(name, marks=pytest.mark.full if name == LARGER else ()) for name in programs.FILES])
def test_every_level_of_a_block(name: str) -> None:
    compile_checked(programs.source(name), {}, with_linalg=True)


@pytest.mark.parametrize("name", ["incompatible_reshape", "gpt2_tiny"])
def test_linalg_agrees_with_mlir(name: str) -> None:
    reference = pytest.importorskip("stc.frontend.reference")
    module = parse_module(programs.source(name))
    function = main_function(module)
    inputs = programs.random_inputs(function)
    found = execute(module, inputs)
    expected = [np.zeros_like(array) for array in found]
    reference.execute_linalg(print_module(module), function.sym_name.data, inputs, expected, name)
    assert programs.difference(expected, found) <= 1e-5


@pytest.mark.full
def test_full_size_block_at_the_fused_level() -> None:
    from stc.frontend.sources import load_model

    model = load_model("gpt2-medium", stage="prefill", seq=32, dtype="f32", seed=0, weights=None, layer=0)
    inputs = random_inputs(model.module)
    expected = execute(model.module, inputs)
    upto_fusion = stages(small_options())[:3]
    run_stages(model.module, make_context(), upto_fusion)
    assert programs.difference(expected, execute(model.module, inputs)) <= 1e-5
