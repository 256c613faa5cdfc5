"""kernel.cpp as a target: of `stc-opt` for all that is emitted, of plain `xdsl-opt` for what its parser reads exactly."""

from __future__ import annotations

from io import StringIO
from pathlib import Path

import pytest
from typer.testing import CliRunner
from xdsl.context import Context
from xdsl.dialects import arith
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.exceptions import DiagnosticException
from xdsl.utils.target import Target

from stc.dialects.parsing import parse_module
from stc.tools.compile import compile_model
from stc.tools.request import CompileRequest
from stc.tools.stc_opt import app
from stc.universe import STC_UNIVERSE
from stc_testing.small import small_options

pytestmark = pytest.mark.heavy

LINALG = Path(__file__).parents[2] / "examples" / "linear_relu.mlir"


@pytest.fixture(scope="module")
def design(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("design") / "out"
    compile_model(CompileRequest(str(LINALG), emit_ir=True, options=small_options(tile=4, lanes=4)), out)
    return out


def last_dump(design: Path) -> Path:
    return max((design / "ir").iterdir())


def run(*arguments: str):
    return CliRunner().invoke(app, list(arguments))


def emitted(module: ModuleOp) -> str:
    """By the target that plain `xdsl-opt` finds."""
    target: type[Target] = STC_UNIVERSE.all_targets["hls-cpp"]()
    text = StringIO()
    target().emit(Context(), module, text)
    return text.getvalue()


def test_the_target_prints_what_is_emitted(design: Path) -> None:
    printed = run(str(last_dump(design)), "-t", "hls-cpp")
    assert printed.exit_code == 0 and printed.stdout == (design / "kernel.cpp").read_text()
    assert emitted(parse_module(last_dump(design).read_text())) == printed.stdout


def test_the_whole_pipeline_ends_in_it(design: Path) -> None:
    options = "compile{tile=4 lanes=4 budget=small kernel-name=linear_relu}"
    assert run(str(LINALG), "--pipeline", options, "-t", "hls-cpp").stdout == (design / "kernel.cpp").read_text()


def test_plain_xdsl_opt_refuses_dense_constants_of_floats(design: Path) -> None:
    module = parse_module(last_dump(design).read_text())
    constant = parse_module("%c = arith.constant dense<0.1> : tensor<3xf32>").body.block.first_op
    assert isinstance(constant, arith.ConstantOp)
    constant.detach()
    module.body.block.add_op(constant)
    with pytest.raises(DiagnosticException, match=r"'arith.constant' op has a dense constant of floats.*accepted: stc-opt -t hls"):
        emitted(module)


@pytest.mark.parametrize(
    ("target", "said"),
    [
        ("hls-cp", "unknown target 'hls-cp', did you mean 'hls-cpp'?"),
        ("hls-cpp{platform=none}", "target 'hls-cpp': unknown platform 'none'"),
        ("hls-cpp{board=none}", "target 'hls-cpp' has no option 'board'"),
        ("hls-cpp,hls-cpp", "names 2 targets; accepted: one"),
    ],
)
def test_targets_that_there_are_not(design: Path, target: str, said: str) -> None:
    result = run(str(last_dump(design)), "-t", target)
    assert result.exit_code == 2 and said in result.stderr and "Traceback" not in result.stderr


def test_other_levels_are_refused() -> None:
    result = run(str(LINALG), "-t", "hls-cpp")
    assert result.exit_code == 2 and "linear_relu.mlir: error: target 'hls-cpp': @main: operation linalg.matmul" in result.stderr
