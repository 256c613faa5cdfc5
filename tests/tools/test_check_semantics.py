"""`--check-semantics` stops at the pass that changes a value, and says which."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner
from xdsl.context import Context
from xdsl.dialects import arith
from xdsl.dialects.builtin import AffineMapAttr, ArrayAttr, IntegerAttr, ModuleOp
from xdsl.dialects.linalg import ops as linalg
from xdsl.ir.affine import AffineMap
from xdsl.passes import ModulePass

import stc.tools.stc as compiler
import stc.tools.stc_opt as tool
from stc import pipeline
from stc.dialects.parsing import parse_module
from stc.tools.check_semantics import check_pass, compare, random_inputs
from stc.tools.command_line import run_app

TEXT = """func.func @main(%x: tensor<3x3xf32>, %w: tensor<3x3xf32>) -> (tensor<3x3xf32> {stc.name = "out"}) {
  %e = tensor.empty() : tensor<3x3xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]} ins(%x, %w : tensor<3x3xf32>, tensor<3x3xf32>) outs(%e : tensor<3x3xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<3x3xf32>
  func.return %r : tensor<3x3xf32>
}
"""


class SwapMap(ModulePass):
    """Reads the second operand transposed."""

    name = "swap-map"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        generic = next(found for found in op.walk() if isinstance(found, linalg.GenericOp))
        first, _, last = generic.indexing_maps.data
        swapped = AffineMapAttr(AffineMap.from_callable(lambda i, j: (j, i)))
        generic.indexing_maps = ArrayAttr([first, swapped, last])


def test_a_swapped_map_is_seen() -> None:
    before, after = parse_module(TEXT), parse_module(TEXT)
    SwapMap().apply(Context(), after)
    inputs = random_inputs(before)
    difference = check_pass(before, after, inputs)
    assert difference is not None and difference.index == (0, 1) and difference.name == "out"
    assert difference.before == repr(float(inputs[0][0, 1] + inputs[1][0, 1]))
    assert check_pass(before, parse_module(TEXT), inputs) is None


@pytest.mark.parametrize(("passes", "code"), [("canonicalize,cse", 0), ("canonicalize,swap-map,cse", 1)])
def test_command_line(monkeypatch: pytest.MonkeyPatch, passes: str, code: int) -> None:
    known = tool.all_passes()
    monkeypatch.setattr(tool, "all_passes", lambda: {**known, "swap-map": lambda: SwapMap})
    result = CliRunner().invoke(tool.app, ["-", "-p", passes, "--check-semantics=1"], input=TEXT)
    assert result.exit_code == code
    assert ("pass 'swap-map' changes what the module computes: result 0 (out) differs first at [0, 1]" in result.stderr) == (
        code == 1
    )


@pytest.mark.heavy
@pytest.mark.parametrize("broken", ["drop-unit-dims", "insert-forks", None])
def test_a_compile_stops_at_the_pass_that_changes_a_value(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str], broken: str | None
) -> None:
    """Some pass of the compile also swaps a map: it is named, exit code 1, nothing is written; without, all passes are checked."""
    known = pipeline.all_passes()
    original = known[broken or "insert-forks"]()

    class AlsoSwaps(ModulePass):
        name = original.name

        def apply(self, ctx: Context, op: ModuleOp) -> None:
            original().apply(ctx, op)
            SwapMap().apply(ctx, op)

    if broken is not None:
        monkeypatch.setattr(pipeline, "all_passes", lambda: {**known, broken: lambda: AlsoSwaps})
    (tmp_path / "sums.mlir").write_text(TEXT)
    out = tmp_path / "out"
    with pytest.raises(SystemExit) as ended:
        run_app(compiler.app, "stc", ["compile", "--small", str(tmp_path / "sums.mlir"), "--out", str(out), "--check-semantics"])
    printed = capsys.readouterr()
    if broken is None:
        assert ended.value.code == 0 and json.loads((out / "report.json").read_text())["semantics"]["passes_checked"] > 40
        return
    assert ended.value.code == 1 and not out.exists()
    assert printed.err.splitlines()[-1].startswith(f"stc: error: pass '{broken}' changes what the module computes: result 0 (out)")


def test_what_counts_as_different() -> None:
    a = np.array([1.0, np.inf, np.nan, 1e-9], np.float32)
    assert compare([a], [a + np.array([1e-6, 0, 0, 1e-7], np.float32)]) is None
    for entry, value in ((0, 1.1), (1, -np.inf), (2, 0.0), (3, np.nan)):
        other = a.copy()
        other[entry] = value
        difference = compare([a], [other])
        assert difference is not None and difference.index == (entry,)
    integers = np.array([1, 2**30], np.int32)
    difference = compare([integers], [integers + np.array([0, 1], np.int32)])
    assert difference is not None and difference.before == str(2**30)


def test_a_pass_that_leaves_something_that_cannot_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """A kernel that loses a token: the last read of a loop is dropped."""
    text = """func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  %y = dataflow.kernel @k(%a = %x : tensor<8xf32> as !V) -> (tensor<8xf32> as !V) {
    %e = itensor.empty : !V
    %r = dataflow.task @copy ins(%p = %a : !V) outs(%o = %e : !V) -> !V {
      %c0 = arith.constant 0 : index
      %n = arith.constant 8 : index
      %c2 = arith.constant 2 : index
      %f = scf.for %i = %c0 to %n step %c2 iter_args(%q = %o) -> (!V) {
        %t = itensor.read %p[%i] : !V -> tensor<2xf32>
        %w = itensor.write %t into %q[%i] : tensor<2xf32> -> !V
        scf.yield %w : !V
      }
      dataflow.yield %f : !V
    }
    dataflow.yield %r : !V
  }
  func.return %y : tensor<8xf32>
}
""".replace("!V", "!itensor.itensor<2xf32, iter_space: [4] * [2], iter_map: (d0) -> (d0)>")

    class ShortenLoop(ModulePass):
        name = "shorten-loop"

        def apply(self, ctx: Context, op: ModuleOp) -> None:
            bound = next(found for found in op.walk() if isinstance(found, arith.ConstantOp) and found.result.name_hint == "n")
            bound.value = IntegerAttr.from_index_int_value(6)

    known = tool.all_passes()
    monkeypatch.setattr(tool, "all_passes", lambda: {**known, "shorten-loop": lambda: ShortenLoop})
    result = CliRunner().invoke(tool.app, ["-", "-p", "shorten-loop", "--no-verify-each", "--check-semantics=0"], input=text)
    assert result.exit_code == 1
    assert "pass 'shorten-loop' left a module that cannot be executed: @k: result 0: reads token 3 of itensor %r" in result.stderr
