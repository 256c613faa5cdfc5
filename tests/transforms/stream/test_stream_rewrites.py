"""The rewrites on itensors: values stay on every level below, streams stay free of deadlock, and converters never grow."""

from __future__ import annotations

import random
from math import prod

import pytest
from notation import MULTIPLY_ADD, Program
from rewrite_programs import RowProgram
from tiled_programs import PROGRAMS, RandomProgram
from xdsl.builder import Builder
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.linalg import ops as linalg
from xdsl.rewriter import InsertPoint

from stc.analysis.emission_rules import emission_violations
from stc.analysis.kernel_memory import bytes_of
from stc.analysis.task_cycles import computing_cycles
from stc.diagnostics import CompileError
from stc.dialects.context import make_context
from stc.dialects.dataflow import KernelOp, TaskOp
from stc.dialects.itensor import ConverterOp, ItensorType
from stc.dialects.parsing import parse_module
from stc.dialects.printing import print_module
from stc.execution.run import execute
from stc.iteration.layout_orders import in_order
from stc.iteration.normal_form import normal_form, split_loop
from stc.platforms.platform import load_platform
from stc.tools.check_semantics import check_pass, compare, random_inputs
from stc.transforms import all_passes
from stc.transforms.dataflow.connections import connect
from stc.transforms.dataflow.converter_trees import converter_trees
from stc.transforms.pass_pipeline import read_pipeline
from stc_testing.drawn import seeds

pytestmark = pytest.mark.heavy

REWRITES = ("move-converters", "collapse-converters", "share-converters", "fold-itensors{limit=1000000 added=100}")
BELOW = (
    "insert-forks,vectorize-streams,pack-interfaces,lower-converters,lower-layout,lower-dmas,lower-tasks,set-fifo-depths,"
    "lower-linalg-to-loops"
)


def run(module: ModuleOp, passes: str) -> None:
    for one in read_pipeline(passes, all_passes()):
        one.apply(make_context(), module)
        module.verify()


def fused(text: str, *, rows: int = 8, tile: int = 4) -> ModuleOp:
    module = parse_module(text)
    run(module, f"propagate-orders{{columns={tile} rows={rows}}},tile-linalg,linalg-to-dataflow,layout-to-dataflow")
    run(module, "choose-groups,merge-kernels,trim-boundaries,insert-converters")
    return module


def converter_bytes(module: ModuleOp) -> int:
    return sum(
        prod(op.buffer_shape) * (op.blocks or 2) * bytes_of(op.source.type.element_type)
        for op in module.walk()
        if isinstance(op, ConverterOp) and isinstance(op.source.type, ItensorType)
    )


def check_rewrites(module: ModuleOp, passes: tuple[str, ...] = REWRITES) -> None:
    """Run each rewrite and compare, then lower and run with FIFOs as deep as they came out."""
    inputs = random_inputs(module)
    for one in passes:
        before = module.clone()
        run(module, one)
        assert check_pass(before, module, inputs) is None, one
        assert converter_bytes(module) <= converter_bytes(before), one
    expected = execute(module, inputs)
    run(module, BELOW)
    assert compare(expected, execute(module, inputs, depths=True)) is None


@pytest.mark.parametrize("seed", seeds(6))
def test_rows(seed: int) -> None:
    check_rewrites(fused(RowProgram(seed).text()))


@pytest.mark.parametrize("seed", seeds(3))
def test_random_program(seed: int) -> None:
    check_rewrites(fused(RandomProgram(seed).text()))


PROGRAM_NAMES = ("readers_in_different_orders", "two_maps", "softmax", "reshape_that_reorders", "indices", "same_names")


@pytest.mark.parametrize("name", PROGRAM_NAMES)
def test_program(name: str) -> None:
    check_rewrites(fused(PROGRAMS[name]))


def test_the_random_programs_give_each_rewrite_something_to_do() -> None:
    changed: dict[str, int] = dict.fromkeys(("move-converters", "fold-itensors{limit=1000000 added=100}"), 0)
    for seed in range(12):
        program = fused(RowProgram(seed).text())
        before = print_module(program)
        for one in [one for one, count in changed.items() if count < 2]:
            module = program.clone()
            run(module, one)
            changed[one] += print_module(module) != before
    assert min(changed.values()) >= 2, changed


# Converters that a program rarely has: chains and duplicates --------------------------------------------------------------

SEEDS_WITH_CONVERTERS = (64, 71, 74, 92, 93, 94, 144)


def disturbed(module: ModuleOp, numbers: random.Random) -> ModuleOp:
    """`module` with some readers behind a converter of their own, and some converters behind another one."""
    for kernel in [op for op in module.walk() if isinstance(op, KernelOp)]:
        for tree in list(converter_trees(kernel)):
            for uses in tree.uses:
                for use in uses:
                    wanted = use.operation.operands[use.index].type
                    assert isinstance(wanted, ItensorType)
                    builder = Builder(InsertPoint.before(use.operation))
                    source = tree.root
                    if numbers.random() < 0.5:
                        source = connect(builder, source, _any_order(wanted, numbers))
                    use.operation.operands[use.index] = connect(builder, source, _respelled(wanted))
                    use.operation.operands[use.index] = connect(builder, use.operation.operands[use.index], wanted)
    run(module, "canonicalize")
    return module


def _any_order(like: ItensorType, numbers: random.Random) -> ItensorType:
    shape = like.order.static_shape
    element = [numbers.choice([d for d in range(1, extent + 1) if extent % d == 0]) for extent in shape]
    return ItensorType.from_order(in_order(shape, element, numbers.sample(range(len(shape)), len(shape))), like.element_type)


def _respelled(type_: ItensorType) -> ItensorType:
    order = normal_form(type_.order)
    return ItensorType.from_order(split_loop(order, 0, 1) if order.loops else order, type_.element_type)


@pytest.mark.parametrize("seed", SEEDS_WITH_CONVERTERS)
def test_chains_and_duplicates(seed: int) -> None:
    module = disturbed(fused(RowProgram(seed).text()), random.Random(seed))
    check_rewrites(module, ("collapse-converters", "share-converters"))


def test_chains_and_duplicates_are_undone() -> None:
    """Each is a chance to be smaller; where branches meet again a duplicate may stay."""
    smaller = {"collapse-converters": 0, "share-converters": 0}
    for seed in SEEDS_WITH_CONVERTERS:
        module = disturbed(fused(RowProgram(seed).text()), random.Random(seed))
        for one in smaller:
            before = converter_bytes(module)
            run(module, one)
            smaller[one] += converter_bytes(module) < before
    assert smaller["collapse-converters"] >= 2 and smaller["share-converters"] >= 1, smaller


# Folding --------------------------------------------------------------------------------------------------------------


def tasks_of(module: ModuleOp) -> list[TaskOp]:
    return [op for op in module.walk() if isinstance(op, TaskOp)]


@pytest.mark.parametrize("seed", seeds(4))
def test_no_task_becomes_slower_than_the_slowest(seed: int) -> None:
    module = fused(RowProgram(seed).text())
    slowest = max(computing_cycles(task) for task in tasks_of(module))
    run(module, "fold-itensors")
    assert max(computing_cycles(task) for task in tasks_of(module)) <= slowest


@pytest.mark.parametrize("seed", seeds(4))
def test_no_computation_is_lost(seed: int) -> None:
    def generics(module: ModuleOp) -> int:
        return sum(isinstance(op, linalg.GenericOp) for op in module.walk())

    module = fused(RowProgram(seed).text())
    before, tasks = generics(module), len(tasks_of(module))
    run(module, "fold-itensors{limit=1000000 added=100}")
    assert generics(module) == before
    assert len(tasks_of(module)) <= tasks


def test_limit_forbids() -> None:
    module = fused(PROGRAMS["same_names"])
    for limit, count in ((1, 2), (100_000, 1)):
        attempt = module.clone()
        run(attempt, f"fold-itensors{{limit={limit} added=100}}")
        assert len(tasks_of(attempt)) == count


@pytest.mark.parametrize(
    ("passes", "message"),
    [
        ("fold-itensors{limit=-1}", "fold-itensors: limit is -1; accepted: 0, or a number of cycles"),
        ("fold-itensors{added=-1}", "fold-itensors: added is -1; accepted: percent, at least 0"),
        ("move-converters{lanes=0}", "move-converters: lanes is 0; accepted: at least 1 lane"),
    ],
)
def test_option_is_refused(passes: str, message: str) -> None:
    (one,) = read_pipeline(passes, all_passes())
    with pytest.raises(CompileError) as refusal:
        one.apply(make_context(), ModuleOp([]))
    assert str(refusal.value) == message


@pytest.mark.parametrize(("points", "tasks"), [("[8, 14, 1]", 1), ("[8, 16, 1]", 2)])
def test_no_task_does_more_at_once_than_may_be_emitted(points: str, tasks: int) -> None:
    """112 + 16 multiply-accumulates are the most of emission rule 18, 128 + 16 are too many."""
    matmul = "tile = [8, 112, 4], order = [0, 1, 2]"
    text = (
        Program({"x": (8, 4), "w": (4, 112), "b": (112,)})
        .op("fc", "ik kj -> ij", "x w", MULTIPLY_ADD, initial="0.0", schedule=matmul)
        .op("y", "ij j j -> ij", "fc b b", ("mulf %a0, %a1", "addf %t0, %a2"), schedule="tile = [8, 112], order = [0, 1]")
        .returning("y")
        .replace(f"{matmul}, unroll = [1, 1, 1]", f"{matmul}, unroll = {points}")
        .replace("order = [0, 1], unroll = [1, 1]", "order = [0, 1], unroll = [1, 16]")
    )
    module = fused(text)
    run(module, "fold-itensors{limit=1000000 added=100}")
    assert len(tasks_of(module)) == tasks
    run(module, f"{BELOW},hoist-constants,hls-directives")
    assert not [one for one in emission_violations(module, load_platform("u55c")) if one.rule == 18]
