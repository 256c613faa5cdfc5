"""Which operations may be left after which stage: the table against the pipeline, and modules stopped at every stage."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest
from xdsl.context import Context
from xdsl.dialects import arith
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from stc.analysis.stage_legality import STAGES, Place, illegal_ops
from stc.dialects.context import make_context
from stc.dialects.parsing import parse_module
from stc.pipeline import BrokenByPass, Stage, run_stages, stages, steps
from stc_testing.small import small_options

NAMES = list(STAGES)
PLACES: tuple[Place, ...] = ("function", "kernel", "task", "body")
LEVELS = Path(__file__).parents[2] / "filecheck_tests" / "levels"
PIPELINE = stages(small_options(tile=4, rows=4, lanes=4))
STAGE_OF = {step.one_pass.name: NAMES.index(step.stage.name) for step in steps(PIPELINE)}

MOVEMENTS = """
#m = affine_map<(d0, d1) -> (d0, d1)>
#t = affine_map<(d0, d1) -> (d1, d0)>
func.func @main(%x: tensor<6x10xf32> {stc.name = "x"}, %w: tensor<2x6xf32> {stc.name = "w", stc.parameter})
    -> (tensor<12x6xf32> {stc.name = "y"}) {
  %e = tensor.empty() : tensor<10x6xf32>
  %t = linalg.generic {indexing_maps = [#t, #m], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<6x10xf32>) outs(%e : tensor<10x6xf32>) {
  ^bb0(%a: f32, %o: f32):
    %b = arith.addf %a, %a : f32
    linalg.yield %b : f32
  } -> tensor<10x6xf32>
  %d = tensor.empty() : tensor<2x6xf32>
  %v = linalg.generic {indexing_maps = [#m, #m], iterator_types = ["parallel", "parallel"]}
      ins(%w : tensor<2x6xf32>) outs(%d : tensor<2x6xf32>) {
  ^bb0(%a: f32, %o: f32):
    %b = arith.mulf %a, %a : f32
    linalg.yield %b : f32
  } -> tensor<2x6xf32>
  %y = tensor.concat dim(0) %t, %v : (tensor<10x6xf32>, tensor<2x6xf32>) -> tensor<12x6xf32>
  func.return %y : tensor<12x6xf32>
}
"""
"""A transposition with another order on either side, a concatenation, and work on a parameter alone."""

PROGRAMS = {"levels": (LEVELS / "1_linalg.mlir").read_text(), "movements": MOVEMENTS}


@pytest.fixture(scope="module", params=list(PROGRAMS))
def stopped(request: pytest.FixtureRequest) -> list[ModuleOp]:
    """A program after each stage."""
    module = parse_module(PROGRAMS[request.param])
    texts: list[ModuleOp] = []
    for stage in PIPELINE:
        run_stages(module, make_context(), [stage])
        texts.append(module.clone())
    return texts


def test_the_table_has_the_stages_of_the_pipeline():
    assert [stage.name for stage in PIPELINE] == NAMES


def test_each_removal_is_by_a_pass_of_its_stage():
    for index, name in enumerate(NAMES):
        for removal in STAGES[name].removals:
            assert STAGE_OF[removal.by] == index, removal
            assert not removal.operations & STAGES[name].at(removal.place), removal


def test_what_a_stage_no_longer_allows_has_a_pass_that_removes_it():
    for before, after in itertools.pairwise(NAMES):
        for place in PLACES[:-1]:  # bodies go with the operation around them
            gone = STAGES[before].at(place) - STAGES[after].at(place)
            removed = {op for removal in STAGES[after].removals if removal.place == place for op in removal.operations}
            assert gone <= removed, (after, place, gone - removed)


@pytest.mark.parametrize("index", range(len(NAMES)), ids=NAMES)
def test_a_stage_leaves_what_it_may(stopped: list[ModuleOp], index: int):
    assert not list(illegal_ops(stopped[index], NAMES[index]))


@pytest.mark.parametrize("index", range(1, len(NAMES)), ids=NAMES[1:])
def test_a_module_that_stopped_earlier_is_not_legal_later(stopped: list[ModuleOp], index: int):
    """The passes that are blamed are those that have not run yet; where none removes anything, all is legal."""
    for earlier in range(index):
        blamed = [found.remover for found in illegal_ops(stopped[earlier], NAMES[index])]
        assert None not in blamed
        assert all(earlier < STAGE_OF[remover] <= index for remover in blamed if remover)
        removers = {removal.by for name in NAMES[earlier + 1 : index + 1] for removal in STAGES[name].removals}
        must_remove = bool(removers - {"flatten-tasks"})  # no pass makes tasks of tasks
        assert bool(blamed) == must_remove, (NAMES[earlier], NAMES[index])


@pytest.mark.parametrize("index", range(len(NAMES) - 1), ids=NAMES[:-1])
def test_what_only_later_stages_make_is_not_legal_yet(stopped: list[ModuleOp], index: int):
    """A module two kinds of level ahead: no pass should have put its operations there."""
    ahead = stopped[-1] if index >= NAMES.index("kernel fusion") else stopped[NAMES.index("kernel fusion")]
    assert any(found.remover is None for found in illegal_ops(ahead, NAMES[index]))


@pytest.mark.parametrize(
    ("operation", "stage", "where", "blame"),
    [
        ("cf.assert %c, \"no\"", "linalg optimisation", "at function level", "'drop-asserts' should have removed it"),
        ("%s = tensor.splat %f : tensor<4xf32>", "linalg optimisation", "at function level", "'generalize-named-ops' should"),
        ("%s = arith.addf %f, %f : f32", "linalg tiling", "at function level", "no pass should have put it there"),
        ("scf.for %i = %n to %n step %n { }", "linalg optimisation", "at function level", "no pass should have put it there"),
        ("scf.for %i = %n to %n step %n { }", "kernel fusion", "at function level", "'linalg-to-dataflow' should have"),
    ],
)
def test_the_message_says_where_and_who(operation: str, stage: str, where: str, blame: str):
    module = parse_module(f"func.func @f(%c: i1, %f: f32, %n: index) {{\n  {operation}\n  func.return\n}}")
    (found,) = list(illegal_ops(module, stage))
    assert f"may not stand {where} after stage '{stage}': {blame}" in str(found)


def test_a_body_may_not_keep_integer_powers():
    text = MOVEMENTS.replace("%b = arith.addf %a, %a : f32", "%n = arith.constant 2 : i32\n    %b = math.fpowi %a, %n : f32, i32")
    (found,) = list(illegal_ops(parse_module(text), "linalg optimisation"))
    assert (found.place, found.remover) == ("body", "expand-functions")


def test_host_work_may_stay():
    """What parameters alone decide stays linalg to the end, the same on an input does not."""
    assert not list(illegal_ops(_copy(", stc.parameter"), "HLS optimisation"))
    assert {found.operation.name for found in illegal_ops(_copy(""), "HLS optimisation")} == {"linalg.generic"}


def _copy(attribute: str) -> ModuleOp:
    return parse_module(f"""
func.func @main(%w: tensor<4xf32> {{stc.name = "w"{attribute}}}) -> tensor<4xf32> {{
  %e = tensor.empty() : tensor<4xf32>
  %y = linalg.generic {{indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}}
      ins(%w : tensor<4xf32>) outs(%e : tensor<4xf32>) {{
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  }} -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}}""")


class LeavesArithmetic(ModulePass):
    """A pass that leaves an operation where it has no business."""

    name = "leaves-arithmetic"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        function = next(iter(op.ops))
        block = function.regions[0].block
        assert block.first_op is not None
        block.insert_op_before(arith.AddiOp(block.args[0], block.args[0]), block.first_op)


def test_run_stages_refuses_what_a_pass_of_its_own_left():
    """As a defect of the pass: not a CompileError. A stage of another name may do as it likes."""
    text = "func.func @f(%n: i32) { func.return }"
    run_stages(parse_module(text), make_context(), [Stage("my own", (LeavesArithmetic(),))])
    with pytest.raises(BrokenByPass, match=r"'arith.addi' op may not stand at function level after stage 'linalg opt"):
        run_stages(parse_module(text), make_context(), [Stage("linalg optimisation", (LeavesArithmetic(),))])
