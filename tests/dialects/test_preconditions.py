"""What no pass gets: each precondition, said at its place before a pass runs, and after a pass breaks it."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner
from xdsl.context import Context
from xdsl.dialects import scf
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

import stc.tools.stc_opt as tool
from stc.diagnostics import CompileError, PassCrashed
from stc.dialects.context import make_context
from stc.dialects.parsing import parse_module
from stc.pipeline import Stage, run_stages
from stc.tools.reproducer import run_or_reproduce

LOOP = """func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {{
  %a = arith.constant {lower} : index
  %b = arith.constant {upper} : index
  %c = arith.constant {step} : index
  %r = scf.for %i = %a to %b step %c iter_args(%t = %x) -> (tensor<4xf32>) {{
    scf.yield %t : tensor<4xf32>
  }}
  return %r : tensor<4xf32>
}}
"""


def _loop(lower: int, upper: int, step: int) -> str:
    return LOOP.format(lower=lower, upper=upper, step=step)


def _typed(kind: str) -> str:
    return f"func.func @main() {{\n  %e = tensor.empty() : {kind}\n  return\n}}\n"


def _empty(order: str) -> str:
    return f"func.func @main() {{\n  %e = itensor.empty : !itensor.itensor<{order}>\n  return\n}}\n"


UNMET = {
    "step": (_loop(0, 4, 0), "5:8", "'scf.for' op has step 0, expected at least 1"),
    "negative step": (_loop(4, 0, -1), "5:8", "'scf.for' op has step -1, expected at least 1"),
    "trips": (_loop(-5, 2**31 - 1, 1), "5:8", "runs from -5 to 2147483647, expected at least one"),
    "no trips": (_loop(4, 4, 1), "5:8", "runs from 4 to 4, expected at least one iteration and fewer than 2147483648"),
    "unrolled": (
        _loop(0, 2**15, 1).replace("\n  }\n", "\n  } {stc.unroll = 0 : i32}\n"),
        "5:8",
        "is unrolled to 32768 copies of its body, expected at most 16384",
    ),
    "kind of loop": (
        "func.func @main(%y: tensor<4xf32>) {\n"
        '  %z = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = ["window"]} '
        "outs(%y : tensor<4xf32>) {\n  ^bb0(%b: f32):\n    linalg.yield %b : f32\n  } -> tensor<4xf32>\n  return\n}\n",
        "2:8",
        "has a loop of kind 'window', expected parallel or reduction",
    ),
    "attribute": (
        "func.func @main(%x: tensor<4xf32> {stc.name = 5 : i32}) {\n  return\n}\n",
        "1:1",
        "'func.func' op has stc.name = 5 : i32, expected string",
    ),
    "output": (
        "func.func @main(%x: tensor<4x4xf32>, %y: tensor<4xf32>) {\n"
        '  %z = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>],'
        ' iterator_types = ["parallel", "parallel"]} ins(%x : tensor<4x4xf32>) '
        "outs(%y : tensor<4xf32>) {\n  ^bb0(%a: f32, %b: f32):\n    linalg.yield %a : f32\n  } -> tensor<4xf32>\n  return\n}\n",
        "2:8",
        "'linalg.generic' op writes tensor<4xf32> at (d0, d1) -> (d0), expected each parallel loop, and no other, to move it",
    ),
    "index": (_loop(0, 10**12, 1), "3:8", "'arith.constant' op is the index 1000000000000, expected one from -2147483648 to"),
    "extent": (_typed("tensor<4x0xf32>"), "2:8", "type tensor<4x0xf32>, expected extents of at least 1"),
    "dynamic": (
        "func.func @main(%x: tensor<?xf32>) {\n  return\n}\n",
        "1:1",
        "a value of type tensor<?xf32>, expected a static shape",
    ),
    "elements": (_typed("tensor<65536x32768xf32>"), "2:8", "which has 2147483648 elements, expected fewer than 2147483648"),
    "tokens": (
        _empty("4xf32, iter_space: [65536, 32768] * [4, 1], iter_map: (d0, d1) -> (d0)"),
        "2:8",
        "which has 2147483648 tokens, expected fewer than 2147483648",
    ),
    "depth": (
        "func.func @main() {\n  %s = stream.create @s : !stream.stream<f32, depth: 1000000000000>\n  return\n}\n",
        "2:8",
        "which has 1000000000000 tokens of depth, expected fewer than 2147483648",
    ),
    "blocks": (
        "func.func @main(%x: i1) {\n  cf.cond_br %x, ^a, ^b\n^a:\n  return\n^b:\n  return\n}\n",
        "1:1",
        "'func.func' op has a region of 3 blocks, expected one",
    ),
    "nesting": (
        "func.func @main() {\n  func.func @inner() {\n    return\n  }\n  return\n}\n",
        "2:3",
        "'func.func' op stands inside another operation, expected the top of the module",
    ),
}


@pytest.mark.parametrize("rule", UNMET)
def test_stc_opt_says_it_at_its_place_before_the_first_pass(rule: str):
    text, place, complaint = UNMET[rule]
    result = CliRunner().invoke(tool.app, ["-p", "share-subexpressions"], input=text)
    assert result.exit_code == 2 and result.stdout == ""
    first = result.stderr.splitlines()[0]
    assert first.startswith(f"<stdin>:{place}: error: ") and complaint in first


@pytest.mark.parametrize("rule", UNMET)
def test_a_pipeline_refuses_it(rule: str):
    text, place, complaint = UNMET[rule]
    with pytest.raises(CompileError) as caught:
        run_stages(parse_module(text, "given.mlir"), make_context(), [Stage("some", ("share-subexpressions",))])
    line = place.split(":")[0]
    assert (caught.value.where or "").startswith(f"given.mlir:{line}:") and complaint in caught.value.what


@pytest.mark.parametrize("rule", UNMET)
def test_without_a_pass_it_is_mlir_like_any_other(rule: str):
    assert CliRunner().invoke(tool.app, [], input=UNMET[rule][0]).exit_code == 0


def test_the_largest_trip_count_is_accepted():
    assert CliRunner().invoke(tool.app, ["-p", "share-subexpressions"], input=_loop(0, 2**31 - 1, 1)).exit_code == 0


class StopsTheLoop(ModulePass):
    """Leaves a loop whose step is its lower bound, 0."""

    name = "stop-the-loop"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for loop in op.walk():
            if isinstance(loop, scf.ForOp):
                loop.operands[2] = loop.lb


def test_a_pass_that_breaks_one_is_at_fault(tmp_path: Path):
    with pytest.raises(PassCrashed, match=r"after pass 'stop-the-loop': 'scf\.for' op has step 0"):
        sequence = [Stage("some", (StopsTheLoop(),))]
        run_or_reproduce(parse_module(_loop(0, 4, 1)), make_context(), sequence, path=tmp_path / "reproducer.mlir")
