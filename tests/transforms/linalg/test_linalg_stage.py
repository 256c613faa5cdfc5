"""Every pass of the linalg stage keeps values, and the stage ends in the form that the next one relies on."""

from __future__ import annotations

import subprocess
import sysconfig
from pathlib import Path

import pytest
from programs import FILES, PROGRAMS, TOLERANCE, difference, outputs, run_stage, source
from xdsl.dialects import tensor
from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.dialects.linalg.ops import FillOp, GenericOp
from xdsl.ir import BlockArgument, SSAValue

from stc.analysis.generic_loops import all_dims, reduction_loops
from stc.diagnostics import CompileError
from stc.dialects.parsing import parse_module
from stc.dialects.printing import print_module
from stc.transforms.linalg import LINALG_STAGE
from stc.transforms.linalg.generics import is_contraction

pytestmark = pytest.mark.heavy

EVERYTHING = (*PROGRAMS, *FILES)


@pytest.mark.parametrize("name", EVERYTHING)
def test_each_pass_keeps_values(name: str) -> None:
    module = parse_module(source(name), name)
    expected = outputs(module)
    for step in LINALG_STAGE:
        run_stage(module, (step,))
        error = difference(expected, outputs(module))
        assert error <= TOLERANCE, f"{step} changed the result of {name} by {error:.1e}"


@pytest.mark.parametrize("name", EVERYTHING)
def test_stage_is_idempotent_and_prints_what_it_reads(name: str) -> None:
    module = parse_module(source(name), name)
    run_stage(module)
    text = print_module(module)
    again = parse_module(text, name)
    assert print_module(again) == text
    run_stage(again)
    assert _summary(again) == _summary(module)


def _summary(module: ModuleOp) -> list[str]:
    return sorted(str(op.attributes["stc.name"]) for op in module.walk() if "stc.name" in op.attributes)


@pytest.mark.parametrize("name", EVERYTHING)
def test_generics_have_the_agreed_form(name: str) -> None:
    module = parse_module(source(name), name)
    run_stage(module)
    generics = [op for op in module.walk() if isinstance(op, GenericOp)]
    names = [op.attributes["stc.name"] for op in generics]
    assert len(set(names)) == len(names)
    for op in generics:
        dims = all_dims(op)
        assert dims is not None and all(None not in entry for entry in dims)
        for output in op.outputs:
            assert isinstance(output.owner, FillOp if reduction_loops(op) else tensor.EmptyOp)
            assert output.has_one_use()


def _reshapes_between_generics(module: ModuleOp) -> list[str]:
    found = []
    for op in module.walk():
        if not isinstance(op, tensor.ExpandShapeOp | tensor.CollapseShapeOp) or isinstance(op.src, BlockArgument):
            continue
        if any(use.operation.name != "func.return" for use in op.result.uses):
            found.append(str(op))
    return found


GPT2_GENERICS = [
    *("ln_1_sum", "ln_1_mean", "ln_1_sub", "ln_1_sum_square", "ln_1_rsqrt", "ln_1_add"),
    *("attn_c_attn", "attn_c_attn_add", "attn_scores", "attn_add", "attn_max", "attn_exp", "attn_sum", "attn_div"),
    *("attn_context", "attn_c_proj", "attn_c_proj_add"),
    *("ln_2_sum", "ln_2_mean", "ln_2_sub", "ln_2_sum_square", "ln_2_rsqrt", "ln_2_add"),
    *("mlp_c_fc", "mlp_act", "mlp_c_proj", "mlp_c_proj_add"),
]


def shape_of(value: SSAValue) -> tuple[int, ...]:
    assert isinstance(value.type, TensorType)
    return value.type.get_shape()


def test_gpt2_block_has_few_named_generics_and_heads_as_loops() -> None:
    module = parse_module(source("gpt2_tiny"))
    run_stage(module)
    generics = {str(op.attributes["stc.name"]).strip('"'): op for op in module.walk() if isinstance(op, GenericOp)}
    assert list(generics) == GPT2_GENERICS
    assert not _reshapes_between_generics(module)
    tokens, heads, entries, width = 8, 3, 12, 36
    assert shape_of(generics["attn_c_attn"].results[0]) == (tokens, 3 * heads, entries)
    assert len(reduction_loops(generics["attn_c_proj"])) == 2
    assert shape_of(generics["attn_c_proj"].inputs[1]) == (heads, entries, width)
    contractions = [name for name, op in generics.items() if is_contraction(op)]
    assert contractions == ["attn_c_attn", "attn_scores", "attn_context", "attn_c_proj", "mlp_c_fc", "mlp_c_proj"]
    for name in contractions:
        assert len(list(generics[name].body.block.ops)) == 3, f"something was fused into {name}"


def test_grouped_heads_are_never_repeated() -> None:
    module = parse_module(source("grouped_attention"))
    run_stage(module)
    assert not _reshapes_between_generics(module)
    assert not any(op.name == "linalg.transpose" for op in module.walk())
    kv_heads, repetitions, tokens, entries = 2, 3, 5, 4
    contractions = [op for op in module.walk() if isinstance(op, GenericOp) and is_contraction(op)]
    scores = contractions[3]  # behind the projections to queries, keys and values
    assert [value.type.get_shape() for value in scores.inputs] == [  # pyright: ignore[reportAttributeAccessIssue]
        (kv_heads, repetitions, tokens, entries),
        (kv_heads, tokens, entries),
    ]


def test_incompatible_reshape_stays() -> None:
    module = parse_module(source("incompatible_reshape"))
    run_stage(module)
    assert len(_reshapes_between_generics(module)) == 2


def test_reshapes_with_a_common_refinement_vanish() -> None:
    module = parse_module(source("refinable_reshape"))
    run_stage(module)
    assert not _reshapes_between_generics(module)


def test_host_work_is_not_fused_into_hardware() -> None:
    """Gemma's 1 + weight depends on a parameter alone; with one token its shape would allow fusion."""
    text = """
func.func @main(%x: tensor<6xf32>, %w: tensor<6xf32> {stc.parameter}) -> tensor<6xf32> {
  %e = tensor.empty() : tensor<6xf32>
  %one = arith.constant dense<1.0> : tensor<6xf32>
  %g = linalg.add ins(%w, %one : tensor<6xf32>, tensor<6xf32>) outs(%e : tensor<6xf32>) -> tensor<6xf32>
  %h = linalg.exp ins(%g : tensor<6xf32>) outs(%e : tensor<6xf32>) -> tensor<6xf32>
  %y = linalg.mul ins(%x, %h : tensor<6xf32>, tensor<6xf32>) outs(%e : tensor<6xf32>) -> tensor<6xf32>
  func.return %y : tensor<6xf32>
}"""
    module = parse_module(text)
    run_stage(module)
    bodies = [[op.name for op in g.body.block.ops] for g in module.walk() if isinstance(g, GenericOp)]
    assert bodies == [["arith.constant", "arith.addf", "math.exp", "linalg.yield"], ["arith.mulf", "linalg.yield"]]


REFUSED = {
    "demote-f64: @main: argument or result of type tensor<2xf64>; accepted: f32": (
        "func.func @main(%x: tensor<2xf64>) { func.return }"
    ),
    "demote-f64: arith.constant: constant 1e+300 does not fit f32": (
        "func.func @main() { %c = arith.constant 1.000000e+300 : f64 func.return }"
    ),
    "demote-f64: arith.bitcast: f64 bit pattern is used; accepted: f32": (
        "func.func @main(%i: i64) { %c = arith.bitcast %i : i64 to f64 func.return }"
    ),
}


@pytest.mark.parametrize("refusal", REFUSED)
def test_refusals(refusal: str) -> None:
    name, message = refusal.split(": ", 1)
    with pytest.raises(CompileError) as caught:
        run_stage(parse_module(REFUSED[refusal]), (name,))
    assert str(caught.value) == message


@pytest.mark.parametrize("name", [*FILES, "rank_zero", "incompatible_reshape"])
def test_upstream_verifier_accepts_the_result(name: str) -> None:
    """torch-mlir-opt checks what xDSL's verifiers leave open (reshapes, slices, yielded types)."""
    tool = Path(sysconfig.get_path("scripts")) / "torch-mlir-opt"
    module = parse_module(source(name), name)
    run_stage(module)
    checked = subprocess.run(
        [tool, "--allow-unregistered-dialect"], input=print_module(module), capture_output=True, text=True, check=False
    )
    assert checked.returncode == 0, checked.stderr
