"""Neither the rule for tiles and loop orders nor the one for FIFO depths changes a value or lets a design hang."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from tiled_programs import RandomProgram
from token_machine import run
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp, StringAttr

from stc.analysis.host_work import functions_of
from stc.design_space.order_propagation import Propagation
from stc.design_space.orders import TileSizes
from stc.dialects.context import make_context
from stc.dialects.dataflow import KernelOp
from stc.dialects.itensor import ItensorType
from stc.dialects.parsing import parse_module
from stc.execution.run import execute
from stc.iteration.normal_form import same_sequence
from stc.iteration.order import StreamOrder
from stc.pipeline import Stage, run_stages, stages
from stc.transforms import all_passes
from stc.transforms.linalg.propagate_orders import TilingGraph
from stc.transforms.pass_pipeline import read_pipeline
from stc_testing.drawn import seeds
from stc_testing.small import small_options

pytestmark = pytest.mark.heavy

DEPTHS = "resource allocation"
RULES = ("run", "tokens")


class MostlyFree(RandomProgram):
    """A random program in which few ops have a schedule already, so that the rule decides and has some to respect."""

    def _schedule(self, extents: list[int]) -> str | None:
        return super()._schedule(extents) if self.random.random() < 0.25 else None


def inputs_of(function: func.FuncOp) -> list[np.ndarray]:
    numbers = np.random.default_rng(0)
    types: list[Any] = [argument.type for argument in function.body.block.args]
    return [np.asarray(numbers.standard_normal(kind.get_shape()), np.float32) for kind in types]


def split(sequence: tuple[Stage, ...]) -> tuple[list[Stage], list[Stage]]:
    """The stages before depths are set and the others, the linalg stage left out."""
    names = [stage.name for stage in sequence]
    return list(sequence[1 : names.index(DEPTHS)]), list(sequence[names.index(DEPTHS) :])


def with_rule(after: list[Stage], rule: str) -> list[Stage]:
    """Depths by `rule`; reading inputs again, which sets depths anew by the default rule, is left out."""
    passes = after[0].passes
    assert passes[1] == "set-fifo-depths"
    return [replace(after[0], passes=(passes[0], f'set-fifo-depths{{rule="{rule}"}}')), *after[1:]]


@cache
def compiled(seed: int, propagate_orders: bool) -> tuple[str, ModuleOp, list[Stage]]:
    """The program, the design before depths are set, and the stages left."""
    program = MostlyFree(seed)
    text = program.text()
    module = parse_module(text)
    chosen: dict[str, Any] = {**program.options(), "rows": program.random.choice([1, 2, 4, 128])}
    before, after = split(stages(small_options(propagate_orders=propagate_orders, **chosen)))
    run_stages(module, make_context(), before)
    return text, module, after


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("propagate_orders", [True, False], ids=["propagated", "default"])
@pytest.mark.parametrize("seed", seeds(6))
def test_values_and_progress(seed: int, propagate_orders: bool, rule: str) -> None:
    text, design, after = compiled(seed, propagate_orders)
    function = next(op for op in parse_module(text).walk() if isinstance(op, func.FuncOp))
    inputs = inputs_of(function)
    module = design.clone()
    run_stages(module, make_context(), with_rule(after, rule))
    for expected, found in zip(execute(function, inputs), run(module, inputs), strict=True):
        assert expected.shape == found.shape and expected.dtype == found.dtype
        np.testing.assert_allclose(found, expected, rtol=2e-5, atol=2e-5)


TO_KERNELS = "tile-linalg,linalg-to-dataflow,layout-to-dataflow{size=4}"


def kernel_orders(module: ModuleOp) -> dict[str, StreamOrder]:
    """How each kernel's results stream, by name."""
    found: dict[str, StreamOrder] = {}
    for kernel in (op for op in module.walk() if isinstance(op, KernelOp)):
        for result, inside in zip(kernel.results, kernel.terminator.arguments, strict=True):
            assert isinstance(inside.type, ItensorType) and result.name_hint is not None
            found[result.name_hint] = inside.type.order
    return found


@pytest.mark.parametrize("seed", seeds(20))
def test_orders_are_predicted_as_kernels_will_have_them(seed: int) -> None:
    """What orders are chosen by is what tiling and the layout kernels make of them: else costs are counted wrongly."""
    module = parse_module(MostlyFree(seed).text())
    (function,) = functions_of(module)
    for op in function.body.block.ops:
        if op.results and "stc.name" not in op.attributes:
            op.attributes["stc.name"] = StringAttr(op.results[0].name_hint or "")
    graph = TilingGraph(function, 16)
    orders = Propagation(graph.nodes, TileSizes(columns=4, rows=4)).orders
    predicted = {value.name_hint: orders[name] for value, name in graph.names.items() if name in orders}
    for one in read_pipeline(f"propagate-orders{{columns=4 rows=4 lanes=4}},{TO_KERNELS}", all_passes()):
        one.apply(make_context(), module)
    made = kernel_orders(module)
    assert [name for name, order in made.items() if not same_sequence(predicted[name], order)] == []
