"""Inputs read once more instead of kept on chip: values stay, bytes on chip never grow, and what is reported is what was saved."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from notation import ADD_UP, MULTIPLY_ADD, SUBTRACT, Program
from tiled_programs import PROGRAMS, RandomProgram
from token_machine import run
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp

from stc.analysis.duplicate_loads import DuplicateLoad, duplicate_loads_of
from stc.analysis.external_traffic import external_traffic
from stc.analysis.host_trips import host_trips
from stc.analysis.memory_figures import on_chip_bytes
from stc.design_space.duplicate_loads import TRAFFIC_PER_BYTE
from stc.diagnostics import CompileError
from stc.dialects.context import make_context
from stc.dialects.dataflow import KernelOp
from stc.dialects.parsing import parse_module
from stc.execution.run import execute
from stc.pipeline import run_stages, stages
from stc.transforms.dataflow.duplicate_loads_in_order import DuplicateLoadsInOrder
from stc.transforms.stream.duplicate_loads import DuplicateLoads
from stc_testing.drawn import seeds
from stc_testing.small import small_options

pytestmark = pytest.mark.heavy

LEAST = 8
"""Bytes: small enough for the programs here to have something to read again."""


def compiled(text: str, **options: Any) -> ModuleOp:
    """All but the linalg stage."""
    module = parse_module(text)
    after_linalg = [stage for stage in stages(small_options(**options)) if stage.name != "linalg optimisation"]
    run_stages(module, make_context(), after_linalg)
    return module


def decided(module: ModuleOp) -> list[DuplicateLoad]:
    return [entry for op in module.walk() if isinstance(op, KernelOp) for entry in duplicate_loads_of(op)]


def inputs_of(text: str) -> tuple[func.FuncOp, list[np.ndarray]]:
    function = next(op for op in parse_module(text).walk() if isinstance(op, func.FuncOp))
    numbers = np.random.default_rng(1)
    types: list[Any] = [argument.type for argument in function.body.block.args]
    return function, [np.asarray(numbers.standard_normal(kind.get_shape()), np.float32) for kind in types]


def check(text: str, **options: Any) -> list[DuplicateLoad]:
    """Compile with and without re-reading, run the first on streams as deep as their types say; what was decided."""
    module, plain = compiled(text, duplicate_loads=LEAST, **options), compiled(text, duplicate_loads=0, **options)
    assert not decided(plain)
    function, inputs = inputs_of(text)
    for left, right in zip(execute(function, inputs), run(module, inputs), strict=True):
        np.testing.assert_allclose(right, left, rtol=2e-5, atol=2e-5)
    found = decided(module)
    converters, fifos, _ = on_chip_bytes(module)
    converters_before, fifos_before, _ = on_chip_bytes(plain)
    for entry in found:
        assert entry.saved_bytes > 0 and entry.traffic_bytes <= TRAFFIC_PER_BYTE * entry.saved_bytes
    assert converters_before - converters == sum(entry.saved_bytes for entry in found if entry.instead_of == "converter")
    assert converters + fifos <= converters_before + fifos_before
    if not any(entry.instead_of == "converter" for entry in found):  # whose order may pad words differently
        before, after = external_traffic(plain), external_traffic(module)
        assert after["read"] - before["read"] == sum(entry.traffic_bytes for entry in found)
        assert after["written"] == before["written"] > 0
    return found


@pytest.mark.parametrize("name", ["readers_in_different_orders", "readers_with_reuse", "softmax"])
def test_converters_go(name: str) -> None:
    assert any(entry.instead_of == "converter" for entry in check(PROGRAMS[name]))


@pytest.mark.parametrize("name", ["two_maps", "concat_of_one_value", "slices_that_overlap", "primes", "scalars"])
def test_nothing_to_read_again(name: str) -> None:
    """Inputs that one task reads, or several at the same issue rate."""
    assert not check(PROGRAMS[name])


def test_random_programs() -> None:
    """Both kinds occur, and never change a value."""
    kinds: Counter[str] = Counter()
    for seed in seeds(10, 100):
        program = RandomProgram(seed)
        try:
            kinds.update(entry.instead_of for entry in check(program.text(), **program.options()))
        except Exception as error:
            error.add_note(f"seed {seed}")
            raise
    assert kinds["fifo"] >= 2 and kinds["converter"] >= 1


@pytest.mark.parametrize("on_chip", [1700, 2600])
def test_another_order_between_kernels_is_no_saving(on_chip: int) -> None:
    """It would be packed between two launches (1700 bytes), or converted by the kernel that makes the tensor (2600)."""
    text = two_orders_of_a_product("[1, 16]", "[8, 2]")
    options: dict[str, Any] = {"on_chip": on_chip, "propagate_orders": False}
    assert not [entry for entry in check(text, **options) if entry.instead_of == "converter"]
    module = compiled(text, duplicate_loads=LEAST, **options)
    assert len([op for op in module.walk() if isinstance(op, KernelOp)]) == 2
    assert not host_trips(module)


def test_the_order_in_which_a_kernel_left_it() -> None:
    """The reader whose order differs from its port's wants what lies in memory anyway."""
    text, options = two_orders_of_a_product("[8, 2]", "[1, 16]"), {"on_chip": 1700, "propagate_orders": False}
    (entry,) = [entry for entry in check(text, **options) if entry.instead_of == "converter"]
    assert entry.packed_bytes == 0
    trips = [len(host_trips(compiled(text, duplicate_loads=duplicate_loads, **options))) for duplicate_loads in (0, LEAST)]
    assert trips[1] <= trips[0]


def two_orders_of_a_product(first: str, second: str) -> str:
    """A product that fills few bytes on chip, by rows, and two sums of its result in tiles `first` and `second`."""
    program = Program({"x": (8, 12), "w": (12, 16)})
    program.op("n", "ik kj -> ij", "x w", MULTIPLY_ADD, initial="0.0", schedule="tile = [8, 16, 12], order = [0, 1, 2]")
    program.op("a", "ij -> i", "n", ADD_UP, initial="0.0", schedule=f"tile = {first}, order = [0, 1]")
    program.op("b", "ij -> i", "n", ADD_UP, initial="0.0", schedule=f"tile = {second}, order = [0, 1]")
    return program.op("c", "i i -> i", "a b", SUBTRACT, schedule="tile = [8], order = [0]").returning("c")


@pytest.mark.parametrize("one_pass", [DuplicateLoads, DuplicateLoadsInOrder])
def test_option(one_pass: type[DuplicateLoads | DuplicateLoadsInOrder]) -> None:
    with pytest.raises(CompileError, match="least is -2"):
        one_pass(least=-2).apply(make_context(), parse_module(PROGRAMS["softmax"]))


def test_ports_of_the_platform() -> None:
    """31 inputs and a result leave no port to read x again."""
    text = wide_program(30)
    assert [entry.tensor for entry in decided(compiled(text, duplicate_loads=LEAST))] == ["x0"]
    assert not decided(compiled(wide_program(31), duplicate_loads=LEAST))


def wide_program(inputs: int) -> str:
    """x0 - sum(x0), a row each, and then minus every other input."""
    program = Program({f"x{index}": (4, 8) for index in range(inputs)})
    program.op("s", "ij -> i", "x0", ADD_UP, initial="0.0", schedule="tile = [4, 4], order = [1, 0]")
    program.op("d0", "ij i -> ij", "x0 s", SUBTRACT, schedule="tile = [4, 4], order = [1, 0]")
    for index in range(1, inputs):
        program.op(f"d{index}", "ij ij -> ij", f"d{index - 1} x{index}", SUBTRACT, schedule="tile = [4, 4], order = [1, 0]")
    return program.returning(f"d{inputs - 1}")
