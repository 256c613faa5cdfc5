"""Converters between random orders, executed at every level: blocks, single blocks and line buffers, windows that overlap."""

from __future__ import annotations

import random
import shutil
import subprocess
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from notation import MULTIPLY_ADD, Program
from tiled_programs import RandomProgram
from token_machine import run
from xdsl.dialects.builtin import ModuleOp, VectorType, f32
from xdsl.dialects.memref import AllocOp
from xdsl.dialects.scf import ForOp

from stc.analysis.emission_rules import emission_violations
from stc.analysis.loops import pipeline_ii
from stc.analysis.memory_figures import converter_count, is_line_buffer, on_chip_bytes
from stc.analysis.stream_proofs import prove_streams
from stc.codegen.project import emit_project
from stc.dialects.context import make_context
from stc.dialects.dataflow import TaskKind, TaskOp
from stc.dialects.itensor import ItensorType
from stc.dialects.parsing import parse_module
from stc.dialects.stream import BlockType, BufferOp
from stc.execution.run import execute, main_function
from stc.frontend.exported import ExportedModel
from stc.iteration.block_tokens import token_lanes
from stc.iteration.converter import ConverterPlan, infer_converter, line_buffer_of, single_block_of
from stc.iteration.order import Coordinate, Loop, StreamOrder
from stc.iteration.regrouping import is_regrouped
from stc.iteration.vectorize import vectorized
from stc.pipeline import run_stages, stages
from stc.platforms.platform import load_platform
from stc.transforms import all_passes
from stc.transforms.pass_pipeline import read_pipeline
from stc_testing.drawn import seeds
from stc_testing.small import small_options

pytestmark = pytest.mark.heavy

LANES = 4
SEEDS = 90
EXECUTED = (*seeds(30), 77)
"""77: the one of SEEDS that notices a block of whole tokens whose steps are counted in entries."""
STREAM = "pack-interfaces,lower-converters,lower-layout,lower-dmas,lower-tasks,set-fifo-depths"
EMITTED = "lower-linalg-to-loops,hoist-constants,hls-directives"


class RandomOrders:
    """Two orders of one tensor: the source exact, the target perhaps with windows that overlap."""

    def __init__(self, seed: int):
        self.random = random.Random(seed)
        target = [self._covering(overlaps=self.random.random() < 0.5) for _ in range(self.random.choice([1, 2, 2, 3]))]
        self.extents = [element + sum((trip - 1) * step for trip, step in loops) for element, loops in target]
        self.target = self._shuffled(target)
        self.source = self._shuffled([self._tiling(extent) for extent in self.extents])

    def _covering(self, overlaps: bool) -> tuple[int, list[tuple[int, int]]]:
        """Element extent, and (trip, step) of loops that visit all they span."""
        element = span = self.random.choice([1, 2, 3, 4])
        loops: list[tuple[int, int]] = []
        for _ in range(self.random.choice([0, 1, 1, 2])):
            trip, step = self.random.choice([2, 3, 5, 6]), self.random.randint(1, span) if overlaps else span
            loops.append((trip, step))
            span += (trip - 1) * step
        return element, loops

    def _tiling(self, extent: int) -> tuple[int, list[tuple[int, int]]]:
        element = step = self._divisor(extent)
        loops: list[tuple[int, int]] = []
        while step < extent:
            trip = self._divisor(extent // step)
            loops.append((trip, step))
            step *= trip
        return element, loops

    def _divisor(self, number: int) -> int:
        return self.random.choice([divisor for divisor in range(1, number + 1) if number % divisor == 0])

    def _shuffled(self, dimensions: Sequence[tuple[int, list[tuple[int, int]]]]) -> StreamOrder:
        """The order with its loops by dimension, or in any order; sometimes something is visited again."""
        nest = [(Loop(trip, step), dim) for dim, (_, loops) in enumerate(dimensions) for trip, step in loops[::-1]]
        if self.random.random() < 0.2:
            nest.append((Loop(2, 1), -1))
        if self.random.random() < 0.5:
            self.random.shuffle(nest)
        driving = [tuple(index for index, (_, dim) in enumerate(nest) if dim == wanted) for wanted in range(len(dimensions))]
        element = tuple(element for element, _ in dimensions)
        order = StreamOrder(element, tuple(loop for loop, _ in nest), tuple(Coordinate(loops) for loops in driving))
        return vectorized(order, LANES)


def plans(seed: int) -> list[ConverterPlan]:
    """The converters that may stand between the two orders of `seed`."""
    orders = RandomOrders(seed)
    plan = infer_converter(orders.source, orders.target)
    lines = line_buffer_of(plan)
    return [plan, *([single_block_of(plan)] if plan.blocks == 2 else []), *([lines] if lines is not None else [])]


def listed(target: StreamOrder) -> StreamOrder:
    """The tokens of `target` as the rows of a matrix, one below the other."""
    rows = Loop(target.token_count, 1)
    return StreamOrder((1, target.element_count), (rows,), (Coordinate((0,)), Coordinate()))


def module_of(plan: ConverterPlan) -> ModuleOp:
    """A kernel that converts a tensor and sends out its tokens, one below the other.

    (The reassociation is for the test alone: it keeps the tokens, but not the entries' places in one tensor.)
    """
    source, target, rows = (ItensorType.from_order(order, f32) for order in (plan.source, plan.target, listed(plan.target)))
    shape = "x".join(str(extent) for extent in plan.source.static_shape)
    result = f"tensor<{plan.target.token_count}x{plan.target.element_count}xf32>"
    window = "" if plan.window is None else f", window = {plan.window}"
    properties = f"shared_loops = {plan.shared_loops}, buffer_shape = {list(plan.buffer_shape)}, blocks = {plan.blocks}{window}"
    return parse_module(f"""
        func.func @main(%x : tensor<{shape}xf32> {{stc.name = "x"}}) -> ({result} {{stc.name = "y"}}) {{
          %r = dataflow.kernel @k(%p = %x : tensor<{shape}xf32> as {source}) -> ({result} as {rows}) {{
            %c = itensor.converter %p {{{properties}}} : {source} to {target}
            %f = itensor.reassociate %c : {target} to {rows}
            dataflow.yield %f : {rows}
          }}
          func.return %r : {result}
        }}""")


def expected(plan: ConverterPlan, tensor: np.ndarray) -> np.ndarray:
    extents = plan.target.element
    tokens = [
        tensor[tuple(slice(first, first + extent) for first, extent in zip(token, extents, strict=True))]
        for token in plan.target.enumerate().tolist()
    ]
    return np.array(tokens).reshape(plan.target.token_count, plan.target.element_count)


def numbered(plan: ConverterPlan) -> np.ndarray:
    return np.arange(np.prod(plan.source.static_shape), dtype=np.float32).reshape(plan.source.static_shape)


@cache
def platform():
    return load_platform("u55c")


def lower(module: ModuleOp, passes: str) -> None:
    for one in read_pipeline(passes, all_passes()):
        one.apply(make_context(), module)
        module.verify()


@pytest.mark.parametrize("seed", EXECUTED)
def test_every_level_sends_the_tokens_of_the_target(seed: int) -> None:
    for plan in plans(seed):
        module, tensor = module_of(plan), numbered(plan)
        tokens = expected(plan, tensor)
        np.testing.assert_array_equal(execute(module, [tensor])[0], tokens)
        assert [edge.kind for edge in prove_streams(module).edges].count("converter") == 1
        lower(module, STREAM)
        np.testing.assert_array_equal(execute(module, [tensor])[0], tokens)
        lower(module, EMITTED)
        np.testing.assert_array_equal(run(module, [tensor])[0], tokens)
        assert emission_violations(module, platform()) == []


def compiled(text: str, **options: Any) -> ModuleOp:
    """The program with every converter as small as it can be, its values checked."""
    function = main_function(parse_module(text))
    numbers = np.random.default_rng(0)
    types: list[Any] = [argument.type for argument in function.body.block.args]
    inputs = [np.asarray(numbers.standard_normal(kind.get_shape()), np.float32) for kind in types]
    module = parse_module(text)
    sequence = stages(small_options(serial_converters="always", **options))
    run_stages(module, make_context(), [stage for stage in sequence if stage.name != "linalg optimisation"])
    for wanted, found in zip(execute(function, inputs), run(module, inputs), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=2e-5, atol=2e-5)
    return module


@pytest.mark.parametrize("seed", seeds(10))
def test_programs_with_serial_converters(seed: int) -> None:
    program = RandomProgram(seed)
    module = compiled(program.text(), **program.options())
    assert not any(isinstance(op, BufferOp) for op in module.walk()), "one block is filled and emptied by one task"


def test_rows_in_other_tiles_become_a_line_buffer() -> None:
    """Tiles of 4 rows to tiles of 6: 8 lines are held, where ping-pong would hold twice 12."""
    program = Program({"x": (24, 12), "v": (12, 8), "w": (8, 4)})
    program.op("y", "ik kj -> ij", "x v", MULTIPLY_ADD, initial="0.0", schedule="tile = [4, 4, 12], order = [0, 1, 2]")
    program.op("z", "ik kj -> ij", "y w", MULTIPLY_ADD, initial="0.0", schedule="tile = [6, 4, 4], order = [0, 1, 2]")
    module = compiled(program.returning("z"), on_chip=10**6)
    assert [str(op.memref.type) for op in module.walk() if isinstance(op, AllocOp) and is_line_buffer(op)] == ["memref<8x8xf32>"]
    assert converter_count(module) == 1
    assert on_chip_bytes(module)[0] == 8 * 8 * 4


def of_kind(wanted: Callable[[ConverterPlan], object]) -> ConverterPlan:
    """The first converter among the seeds that is as wanted."""
    return next(plan for seed in range(SEEDS) for plan in plans(seed) if wanted(plan))


def is_merged(plan: ConverterPlan) -> bool:
    return plan.blocks == 2 and token_lanes(plan) is None and not regroups(plan)


def regroups(plan: ConverterPlan) -> bool:
    return plan.window is None and is_regrouped(plan.source, plan.target)


SIMULATED: dict[str, Callable[[ConverterPlan], object]] = {
    "lines, repeating": lambda plan: plan.line_schedule is not None and plan.line_schedule.repeats > 1,
    "lines, overlapping, inside shared loops": lambda p: p.window is not None and p.shared_loops and not p.target.is_exact,
    "lines along vectors": lambda plan: plan.window == plan.source.rank - 1 and plan.target.element[-1] > 1,
    "ring of tokens": lambda plan: plan.blocks == 2 and (token_lanes(plan) or 0) > 1,
    "merged": lambda plan: is_merged(plan) and plan.source.element_count != plan.target.element_count,
    "narrower tokens": lambda plan: regroups(plan) and plan.source.element_count > plan.target.element_count,
    "wider tokens": lambda plan: regroups(plan) and plan.source.element_count < plan.target.element_count,
    "merged, overlapping": lambda plan: is_merged(plan) and not plan.target.is_exact and plan.target.element_count > 1,
}


@pytest.mark.parametrize("seed", range(0, SEEDS, 9))
def test_blocks_of_two_tasks_hold_whole_tokens(seed: int) -> None:
    """Nothing partitions a block, so every access is to one entry, and every loop still moves a token per cycle."""
    for plan in (plan for plan in plans(seed) if plan.window is None):
        module = module_of(plan)
        lower(module, f"{STREAM},{EMITTED}")
        rings = [op.result.type for op in module.walk() if isinstance(op, BufferOp)]
        assert len(rings) == (plan.blocks == 2 and token_lanes(plan) is not None and not regroups(plan))
        for ring in rings:
            assert isinstance(ring, BlockType) and ring.count == 2 and isinstance(ring.buffer_type.element_type, VectorType)
        tasks = [op for op in module.walk() if isinstance(op, TaskOp) and op.kind == TaskKind.CONVERTER]
        assert {pipeline_ii(op) for task in tasks for op in task.walk() if isinstance(op, ForOp)} <= {1, None}


@pytest.mark.skipif(shutil.which("g++") is None, reason="g++ is needed")
@pytest.mark.parametrize("kind", SIMULATED)
def test_emitted_converter(kind: str, tmp_path: Path) -> None:
    """The C++ of a converter, built and run."""
    plan = of_kind(SIMULATED[kind])
    module, tensor = module_of(plan), numbered(plan)
    lower(module, f"{STREAM},{EMITTED}")
    model = ExportedModel("lines", module, {"x": tensor}, {}, {"y": expected(plan, tensor)})
    emit_project(module, model, tmp_path / "project", {"platform": "u55c"}, {"name": "lines"})
    # The tool cannot see how far apart the accesses to the halves are: it is told so. All rounds are one pipelined loop.
    text = (tmp_path / "project" / "kernel.cpp").read_text()
    assert is_merged(plan) == ("#pragma HLS dependence variable=blocks" in text)
    assert "loop_flatten off" not in text
    done = subprocess.run(["make", "csim"], cwd=tmp_path / "project", capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_all_kinds_occur() -> None:
    """The seeds that are executed reach what they are there for."""
    found = [plan for seed in EXECUTED for plan in plans(seed)]
    lines = [plan for plan in found if plan.window is not None]
    assert sum(plan.blocks == 2 for plan in found) >= 10
    assert len(lines) >= 12
    assert sum(not plan.target.is_exact for plan in lines) >= 5
    assert sum(plan.line_schedule is not None and plan.line_schedule.repeats > 1 for plan in lines) >= 1
    assert sum(plan.shared_loops > 0 for plan in lines) >= 2
    assert any(plan.window == plan.source.rank - 1 for plan in lines)
