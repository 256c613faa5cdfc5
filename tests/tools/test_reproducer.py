"""A pass that crashes leaves one line on the terminal and a file that shows the crash again."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import pytest
from typer.testing import CliRunner
from xdsl.context import Context
from xdsl.dialects.builtin import ArrayAttr, ModuleOp, UnitAttr
from xdsl.dialects.linalg.ops import GenericOp
from xdsl.passes import ModulePass

import stc.transforms as transforms
from stc.diagnostics import CompileError, PassCrashed
from stc.dialects.context import make_context
from stc.dialects.parsing import parse_module
from stc.pipeline import BrokenByPass, Stage
from stc.tools.reproducer import pipeline_text, recorded_pipeline, run_or_reproduce
from stc.tools.stc_opt import app
from stc.transforms.linalg.default_tile_size import DefaultTileSize

TEXT = """func.func @main(%x: tensor<3x5xf32>) -> tensor<3x5xf32> {
  %e = tensor.empty() : tensor<3x5xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]} ins(%x : tensor<3x5xf32>) outs(%e : tensor<3x5xf32>) {
  ^bb0(%a: f32, %b: f32):
    %s = math.tanh %a : f32
    linalg.yield %s : f32
  } -> tensor<3x5xf32>
  func.return %r : tensor<3x5xf32>
}
"""


class Mark(ModulePass):
    """Marks the module."""

    name = "mark"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        op.attributes["test.marked"] = UnitAttr()


@dataclass(frozen=True)
class CrashIfMarked(ModulePass):
    """Crashes with a message of two lines where the module is marked."""

    name = "crash-if-marked"

    some_option: int = 1

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if "test.marked" in op.attributes:
            raise KeyError("first\nsecond")


class LoseMap(ModulePass):
    """Leaves an operation with a map too few."""

    name = "lose-map"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for found in op.walk():
            if isinstance(found, GenericOp):
                found.indexing_maps = ArrayAttr(found.indexing_maps.data[1:])


class Refuse(ModulePass):
    """Refuses everything."""

    name = "refuse"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        raise CompileError("no")


@pytest.fixture(autouse=True)
def registered(monkeypatch: pytest.MonkeyPatch) -> None:
    for one_pass in (Mark, CrashIfMarked, LoseMap, Refuse):
        monkeypatch.setitem(transforms.UPSTREAM_PASSES, one_pass.name, lambda one_pass=one_pass: one_pass)


def run(*arguments: str, text: str = TEXT):
    return CliRunner().invoke(app, list(arguments), input=text)


@pytest.mark.parametrize(
    ("passes", "rest", "said"),
    [
        ("mark,crash-if-marked{some-option=3},cse", "crash-if-marked{some-option=3},cse", "'crash-if-marked' crashes: KeyError: "),
        ("mark,lose-map", "lose-map", "after pass 'lose-map': 'linalg.generic' op expected the number of indexing_map (1)"),
    ],
)
def test_the_file_shows_the_crash_again(tmp_path: Path, passes: str, rest: str, said: str) -> None:
    path = tmp_path / "crash.mlir"
    result = run("-p", passes, "--crash-reproducer", str(path))
    assert (result.exit_code == 2 and result.exception is None) or isinstance(result.exception, SystemExit)
    first = result.stderr.splitlines()[0]
    assert said in first and first.endswith(f"; reproducer: {path}") and "Traceback" not in result.stderr
    text = path.read_text()
    assert recorded_pipeline(text, "").pipeline == rest
    assert "test.marked" in text
    again = run(str(path), "--run-reproducer", "--crash-reproducer", str(tmp_path / "again.mlir"))
    assert said in again.stderr and again.exit_code == 2
    assert run(str(path)).exit_code == 0


def test_without_an_option_the_file_is_a_new_one_in_the_temporary_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    names = {re.search(r"reproducer: (\S+)", run("-p", "mark,crash-if-marked").stderr).group(1) for _ in range(2)}  # pyright: ignore
    assert len(names) == 2 and all(Path(name).parent == tmp_path and Path(name).is_file() for name in names)


def test_a_reproducer_that_cannot_be_written_does_not_hide_the_crash(tmp_path: Path) -> None:
    result = run("-p", "mark,crash-if-marked", "--crash-reproducer", str(tmp_path / "no" / "such.mlir"))
    assert result.exit_code == 2
    assert "'crash-if-marked' crashes: KeyError: " in result.stderr and "such.mlir: cannot write the reproducer" in result.stderr


def test_a_refusal_leaves_no_file(tmp_path: Path) -> None:
    result = run("-p", "mark,refuse", "--crash-reproducer", str(tmp_path / "no"))
    assert result.exit_code == 2 and "pass 'refuse': no" in result.stderr and not list(tmp_path.iterdir())


def test_expected_errors_leave_no_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    text = f"// expected-error @unknown {{{{crashes: KeyError}}}}\n{TEXT}"
    assert run("-p", "mark,crash-if-marked", "--verify-diagnostics", text=text).exit_code == 0
    assert not list(tmp_path.iterdir())


def test_not_a_reproducer() -> None:
    result = run("--run-reproducer")
    assert result.exit_code == 2 and "not a reproducer; accepted: a file with a line" in result.stderr


def test_a_compile_names_the_pass_and_the_file(tmp_path: Path) -> None:
    path = tmp_path / "crash.mlir"
    sequence = [Stage("one", ("mark", DefaultTileSize(size=2))), Stage("two", ("crash-if-marked", "cse"))]
    with pytest.raises(PassCrashed, match=rf"pass 'crash-if-marked' crashes: KeyError: .*; reproducer: {path}"):
        run_or_reproduce(parse_module(TEXT), make_context(), sequence, path=path)
    text = path.read_text()
    assert recorded_pipeline(text, "").pipeline == "crash-if-marked,cse" and "stc.schedule" in text


def test_what_a_stage_should_have_removed_is_a_crash_of_the_compile(tmp_path: Path) -> None:
    path = tmp_path / "crash.mlir"
    with pytest.raises(PassCrashed, match=r"'linalg.generic' op may not stand at function level after stage") as caught:
        run_or_reproduce(parse_module(TEXT), make_context(), [Stage("kernel fusion", ("mark", "cse"))], path=path)
    assert isinstance(caught.value.__cause__, BrokenByPass) and recorded_pipeline(path.read_text(), "").pipeline == "cse"


def test_a_refused_compile_stays_a_refusal(tmp_path: Path) -> None:
    with pytest.raises(CompileError, match="no"):
        run_or_reproduce(parse_module(TEXT), make_context(), [Stage("one", (Refuse(),))], path=tmp_path / "no")
    assert not list(tmp_path.iterdir())


def test_only_options_that_are_not_defaults_are_spelled() -> None:
    assert pipeline_text([CrashIfMarked(), CrashIfMarked(4), DefaultTileSize(size=8)]) == (
        "crash-if-marked,crash-if-marked{some-option=4},default-tile-size{size=8}"
    )
