"""Every application of a rewrite pattern leaves IR that passes may get, and that computes what it did."""

from __future__ import annotations

from collections import Counter

import pytest
from notation import ADD_UP, NEGATE, Program
from one_by_one import check_each
from tiled_programs import ADD, PROGRAMS
from xdsl.dialects import func, scf
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, OpResult
from xdsl.pattern_rewriter import PatternRewriter

from stc.analysis.host_work import host_values
from stc.analysis.stream_proofs import prove_streams
from stc.dialects.context import make_context
from stc.dialects.dataflow import KernelOp, TaskOp, YieldOp
from stc.dialects.itensor import ConverterOp, EmptyOp, ItensorType, ReorderOp
from stc.dialects.parsing import parse_module
from stc.dialects.preconditions import unfit_for_passes
from stc.dialects.printing import print_module
from stc.pipeline import part, stages, steps
from stc.tools.check_semantics import check_pass, random_inputs
from stc.transforms import all_passes
from stc.transforms.dataflow.flatten_tasks import InlineTaskOfTasks
from stc.transforms.dataflow.insert_converters import ConnectOrders, ShareReorder
from stc.transforms.dataflow.linalg_to_dataflow import InlineSingleTrip, NestToKernel
from stc.transforms.dataflow.merge_kernels import MergeTwoKernels, NameAfterGroup
from stc.transforms.dataflow.trim_boundaries import DropUnusedKernelResults, EnterOnce
from stc.transforms.linalg.dead_ops import erase_dead_ops
from stc.transforms.linalg.tile_linalg import PATTERNS, PHASES
from stc.transforms.pass_pipeline import read_pipeline
from stc.transforms.stream.lower_tasks import DropUnusedBridge, LowerTask
from stc_testing.small import small_options

KERNELS = "tile-linalg,linalg-to-dataflow,layout-to-dataflow{size=4}"
FUSED = "merge-kernels,trim-boundaries,insert-converters"

RECONVERGENT = (
    Program({"x": (8, 12)})
    .op("a", "ij -> ij", "x", NEGATE, schedule="tile = [4, 4], order = [0, 1]")
    .op("b", "ij -> ij", "a", NEGATE, schedule="tile = [2, 6], order = [1, 0]")
    .op("c", "ij ij -> ij", "a x", ADD, schedule="tile = [8, 2], order = [1, 0]")
    .op("d", "ij ij -> ij", "b c", ADD, schedule="tile = [2, 6], order = [0, 1]")
    .returning("b d")
)
"""Fan-out, reconvergence, an input that is read twice, and a result that is used inside too."""


SCALAR = (
    Program({"x": (4,)})
    .op("s", "i -> ", "x", ADD_UP, initial="0.0", schedule="tile = [2], order = [0]")
    .op("n", " -> ", "s", NEGATE, schedule="tile = [], order = []")
    .returning("n")
)
"""A tensor without dimensions between two kernels."""


def prepared(text: str, passes: str) -> ModuleOp:
    module = parse_module(text)
    for one in read_pipeline(passes, all_passes()):
        one.apply(make_context(), module)
    return module


def count(module: ModuleOp, kind: type) -> int:
    return sum(isinstance(op, kind) for op in module.walk())


TILED = ["order_(0, 1, 2)", "order_(1, 2, 0)", "order_(2, 0, 1)", "tile_[1, 1, 1]", "rank_zero", "many_loops"]
"""Reductions inside and outside parallel loops, and results without dimensions."""


def check_tiling(module: ModuleOp) -> Counter[str]:
    """Apply all patterns, one application at a time; how often each applied."""
    counts: Counter[str] = Counter()
    for phase in PHASES:
        before = -1
        while counts.total() > before:
            before = counts.total()
            counts.update({name: check_each(module, PATTERNS[name]()) for name in phase})
    return counts


@pytest.mark.parametrize("name", TILED)
def test_tiling(name: str) -> None:
    module = parse_module(PROGRAMS[name])
    whole = prepared(PROGRAMS[name], "tile-linalg")
    counts = check_tiling(module)
    erase_dead_ops(module)
    assert counts["tile-outermost-loop"] and print_module(module) == print_module(whole)


def test_tiling_two_reductions_around_parallel_loops() -> None:
    """Loops k, i, l, j of a sum over k and l: what is written last is guarded by both, and what is carried is whole."""
    schedule = "tile = [3, 2, 2, 2], order = [2, 0, 3, 1]"  # of loops i, j, k, l
    program = Program({"x": (4, 6, 4, 6)}).op("s", "kilj -> ij", "x", ADD_UP, initial="0.5", schedule=schedule)
    text = program.returning("s")
    module = parse_module(text)
    counts = check_tiling(module)
    assert counts["tile-outermost-loop"] == 4 and counts["write-in-last-step"] == 1 and counts["sink-guarded-insert"] == 3
    assert counts["carry-whole-tensor"] and counts["fold-insert-into-slice"] and counts["fold-slice-of-slice"]


@pytest.mark.parametrize("text", [RECONVERGENT, *(PROGRAMS[name] for name in TILED)], ids=["reconvergent", *TILED])
def test_nests_become_kernels(text: str) -> None:
    module = prepared(text, "tile-linalg")
    function = next(op for op in module.walk() if isinstance(op, func.FuncOp))
    nests = sum(isinstance(op, scf.ForOp) for op in function.body.block.ops)
    assert check_each(module, NestToKernel(host_values(function))) == nests == count(module, KernelOp)
    check_each(module, InlineSingleTrip())


@pytest.mark.parametrize("text", [RECONVERGENT, PROGRAMS["tile_[4, 8, 12]"], SCALAR], ids=["reconvergent", "matmul", "scalar"])
def test_fusion(text: str) -> None:
    module = prepared(text, f"{KERNELS},choose-groups")
    kernels = count(module, KernelOp)
    assert check_each(module, MergeTwoKernels()) == kernels - 1 > 0
    assert check_each(module, NameAfterGroup()) == 1
    check_each(module, EnterOnce())
    check_each(module, DropUnusedKernelResults())
    assert count(module, ReorderOp) >= kernels - 1
    check_each(module, ShareReorder())
    check_each(module, ConnectOrders())
    assert not count(module, ReorderOp) and (count(module, ConverterOp) or text == SCALAR)


def nest(kernel: KernelOp, name: str) -> None:
    """Put all that a kernel holds into one task."""
    last = kernel.terminator
    types = [value.type for value in last.arguments]
    empties = [EmptyOp(kind) for kind in types if isinstance(kind, ItensorType)]
    body = Block(arg_types=[*(port.type for port in kernel.arguments), *types])
    inside = [op for op in kernel.body.block.ops if op is not last]
    for port, inner in zip(kernel.arguments, body.args, strict=False):
        port.replace_all_uses_with(inner)
    for value, out in zip(last.arguments, body.args[len(kernel.arguments) :], strict=True):
        assert isinstance(value, OpResult) and isinstance(value.op, TaskOp)
        value.op.operands[len(value.op.ins) + value.index] = out
    for op in inside:
        op.detach()
    body.add_ops([*inside, YieldOp(*last.operands)])
    task = TaskOp(name, kernel.arguments, [empty.result for empty in empties], body)
    kernel.body.block.insert_ops_before([*empties, task], last)
    last.operands = list(task.results)


def test_nested_tasks() -> None:
    """Two levels of tasks of tasks are proved as they are, flattened, and then go through every pass of the pipeline."""
    module = prepared(RECONVERGENT, f"{KERNELS},choose-groups,{FUSED}")
    kernel = next(op for op in module.walk() if isinstance(op, KernelOp))
    flat = count(module, TaskOp)
    nest(kernel, "inner")
    nest(kernel, "outer")
    assert unfit_for_passes(module) is None and not prove_streams(module).failures
    before = module.clone()
    assert check_each(module, InlineTaskOfTasks()) == 2 and count(module, TaskOp) == flat
    whole = steps(stages(small_options(lanes=2)))
    for step in part(whole, "flatten-tasks"):
        step.one_pass.apply(make_context(), before)
    assert check_pass(module, before, random_inputs(module)) is None


def test_groups_that_are_interleaved() -> None:
    """Two groups whose kernels alternate in the text: each merge moves what stands in between."""
    module = prepared(RECONVERGENT, KERNELS)
    kernels = [op for op in module.walk() if isinstance(op, KernelOp)]
    for kernel, group in zip(kernels, ("one", "two", "one", "two"), strict=True):
        kernel.group = type(kernel.sym_name)(group)
    assert check_each(module, MergeTwoKernels()) == 2
    check_each(module, EnterOnce())
    assert count(module, KernelOp) == 2


@pytest.mark.heavy
def test_tasks_are_lowered_one_by_one() -> None:
    """In the order of the text and in the reverse: neighbours of a lowered task see itensors through bridges."""
    module = prepared(RECONVERGENT, f"{KERNELS},choose-groups,{FUSED},insert-forks,vectorize-streams{{lanes=2}}")
    for one in read_pipeline("choose-converters,pack-interfaces,lower-converters,lower-layout,lower-dmas", all_passes()):
        one.apply(make_context(), module)
    backwards = module.clone()
    assert check_each(module, LowerTask()) == 4
    check_each(module, DropUnusedBridge())
    tasks = [op for op in backwards.walk() if isinstance(op, TaskOp)]
    inputs, expected = random_inputs(backwards), backwards.clone()
    for task in reversed(tasks):
        LowerTask().match_and_rewrite(task, PatternRewriter(task))
        assert unfit_for_passes(backwards) is None
        assert check_pass(expected, backwards, inputs) is None
