"""The command line of `stc-opt`, in process: exit codes, places of errors, expected diagnostics."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner
from xdsl.context import Context
from xdsl.dialects import arith
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

import stc.tools.stc_opt as tool
from stc.diagnostics import CompileError
from stc.dialects.parsing import parse_module
from stc.dialects.verification import first_violation
from stc.tools.source import Source, split_source

GOOD = "func.func @f() {\n  func.return\n}\n"
BAD = "func.func @f() {\n  %0 = itensor.fork %x : i32 to i32\n  func.return\n}\n"
LATE = "func.func @f() {\n  %s = arith.addi %c, %c : i32\n  %c = arith.constant 1 : i32\n  func.return\n}\n"


def run(*arguments: str, text: str = GOOD):
    return CliRunner().invoke(tool.app, [*arguments], input=text)


def test_round_trip():
    result = run("-")
    assert result.exit_code == 0
    assert "func.func @f()" in result.stdout


def test_error_has_line_column_and_caret():
    result = run(text=LATE)
    assert result.exit_code == 2
    lines = result.stderr.splitlines()
    assert lines[0].startswith("<stdin>:2:8: error: 'arith.addi' uses %c where it is not defined")
    assert lines[1:] == ["  %s = arith.addi %c, %c : i32", "       ^"]


@pytest.mark.parametrize("option", ["-o", "--print-ir-to"])
def test_a_file_that_cannot_be_written(option: str, tmp_path: Path):
    (tmp_path / "file").write_text("")
    with pytest.raises(CompileError, match=r"file/below.*: cannot write it: Not a directory; accepted: "):
        CliRunner().invoke(tool.app, [option, str(tmp_path / "file" / "below")], input=GOOD, catch_exceptions=False)


def test_a_verifier_that_fails_itself_is_an_error_at_its_operation(monkeypatch: pytest.MonkeyPatch):
    def verify(op: arith.AddiOp) -> None:
        raise IndexError("tuple index out of range")

    monkeypatch.setattr(arith.AddiOp, "verify_", verify)
    result = run(text=LATE)
    assert result.exit_code == 2
    assert result.stderr.splitlines()[0] == "<stdin>:2:8: error: 'arith.addi' op IndexError: tuple index out of range"


def test_a_use_before_definition_names_its_operation_once():
    violation = first_violation(parse_module(LATE, verify=False))
    assert str(violation).count("arith.addi") == 1


@pytest.mark.parametrize(
    ("text", "first", "caret"),
    [
        ("$ x", "<stdin>:1:1: error: Unexpected character: $", 0),
        (f'"{"a" * 200}', "<stdin>:1:1: error: End of file reached before closing string literal.", 0),
        (f'module attributes {{a = "{"a" * 200}}}', "<stdin>:1:24: error: End of file reached before closing string", 23),
    ],
)
def test_text_that_is_not_made_of_tokens(text: str, first: str, caret: int):
    result = run(text=text)
    assert result.exit_code == 2
    lines = result.stderr.splitlines()
    assert lines[0].startswith(first) and lines[2] == f"{' ' * caret}^"


def test_one_bad_piece_does_not_hide_the_others():
    result = run("--split-input-file", text=f"{GOOD}// -----\n{BAD}// -----\n{GOOD}")
    assert result.exit_code == 2
    assert result.stdout.count("func.func @f()") == 2
    assert "<stdin>:6:" in result.stderr


def test_pieces_keep_the_line_numbers_of_the_file():
    pieces = split_source(Source("f", "a\n// -----\nb\n// -----\nc"))
    assert [piece.text for piece in pieces] == ["a\n", "\n\nb\n", "\n\n\n\nc"]


@pytest.mark.parametrize(
    ("comment", "code"),
    [
        ("// expected-error @below {{uses %c where it is not defined}}", 0),
        ("// expected-error @+1 {{uses %c}}", 0),
        ("// expected-error @unknown {{uses %c}}", 0),
        ("// expected-error @+2 {{uses %c}}", 1),
        ("// expected-error @below {{something else}}", 1),
    ],
)
def test_expected_errors(comment: str, code: int):
    lines = LATE.splitlines()
    assert run("--verify-diagnostics", text="\n".join([lines[0], comment, *lines[1:]])).exit_code == code


def test_expected_error_that_does_not_come():
    result = run("--verify-diagnostics", text=f"// expected-error @below {{{{nothing}}}}\n{GOOD}")
    assert result.exit_code == 1
    assert "<stdin>:1: error: expected error 'nothing' was not produced" in result.stderr


class Refuse(ModulePass):
    """Refuses everything."""

    name = "refuse"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        raise CompileError("cannot do it", where="<stdin>:2:3", accepted="nothing")


class Break(ModulePass):
    """Leaves IR that does not verify."""

    name = "break"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        next(iter(op.body.block.ops)).attributes.clear()
        block = next(iter(op.body.block.ops)).regions[0].block
        block.erase_op(next(iter(block.ops)))


@pytest.fixture
def passes(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(tool, "all_passes", lambda: {"refuse": lambda: Refuse, "break": lambda: Break})


def test_refusal_of_a_pass_is_shown_where_it_points(passes: None):
    result = run("-p", "refuse")
    assert result.exit_code == 2
    assert result.stderr == (
        "<stdin>:2:3: error: pass 'refuse': cannot do it; accepted: nothing\n  func.return\n  ^\n"
    )


def test_broken_ir_names_the_pass(passes: None):
    result = run("-p", "break", "--print-ir-after-all")
    assert result.exit_code == 2
    assert "error: after pass 'break': 'func.func' op" in result.stderr
    assert "IR Dump After break" in result.stderr
    assert run("-p", "break", "--no-verify-each").exit_code == 0


def test_help_of_a_pass_is_its_documentation(passes: None):
    assert run("--help-pass", "refuse").stdout == "refuse\n    Refuses everything.\n"
    assert "--list-passes lists them, --help PASS says all about one" in run("--help").stdout


def test_version():
    assert run("--version").stdout.startswith("stc-opt 0.")


def test_output_file(tmp_path: Path):
    target = tmp_path / "out.mlir"
    assert run("-", "-o", str(target)).exit_code == 0
    assert "func.func @f()" in target.read_text()
