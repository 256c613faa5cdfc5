"""Passes of a researcher's own: from files given with --load, and from installed packages."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from stc import extensions
from stc.diagnostics import CompileError, PassCrashed
from stc.dialects.context import make_context
from stc.dialects.parsing import parse_module
from stc.pipeline import Stage
from stc.tools import stc_opt as tool
from stc.tools.reproducer import recorded_pipeline, run_or_reproduce
from stc.transforms import all_passes
from stc.transforms.registry import Installed, PassTable

TEXT = "func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {\n  func.return %x : tensor<3xf32>\n}\n"
OWN = '''
from dataclasses import dataclass

from xdsl.dialects.builtin import IntegerAttr
from xdsl.passes import ModulePass
from xdsl.transforms.canonicalize import CanonicalizePass  # not its own


@dataclass(frozen=True)
class Mark(ModulePass):
    """Mark the module. It does
    no more than that.

    Options: `value`."""

    name = "mark"

    value: int = 1

    def apply(self, ctx, op):
        if self.value < 0:
            raise KeyError("negative")
        op.attributes["test.mark"] = IntegerAttr(self.value, 32)
'''


@pytest.fixture
def own(tmp_path: Path) -> Path:
    path = tmp_path / "own.py"
    path.write_text(OWN)
    return path


def run(*arguments: str | Path, text: str = TEXT):
    return CliRunner().invoke(tool.app, tool._spelled([str(argument) for argument in arguments]), input=text)  # pyright: ignore[reportPrivateUsage]


def test_a_loaded_file_brings_the_passes_that_it_defines(own: Path) -> None:
    assert run("-p", "mark").exit_code == 2
    result = run("--load", own, "-p", "mark{value=7},cse")
    assert result.exit_code == 0 and "test.mark = 7 : i32" in result.stdout
    assert list(extensions.loaded_files()[0].passes) == ["mark"]
    assert run("--load", own, "--load", own, "-p", "mark").exit_code == 0, "once more is no clash"


def test_what_is_loaded_is_listed_and_described(own: Path) -> None:
    listed = run("--load", own, "--list-passes").stdout.splitlines()
    assert listed[listed.index(f"{own}:") + 1] == "  mark  Mark the module."
    assert run("--load", own, "--help", "mark").stdout.startswith("mark{value: int = 1}\n    Mark the module. It does\n    no more")
    assert "unknown pass 'marks', did you mean 'mark'?" in run("--load", own, "--help", "marks").stderr


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (OWN.replace('"mark"', '"cse"'), ": there is another pass 'cse'; accepted: another name"),
        (OWN.replace('"mark"', '"merge-kernels"'), ": there is another pass 'merge-kernels'; accepted: another name"),
        (OWN + OWN.replace("Mark(", "Again("), ": two passes are called 'mark'"),
        (OWN.replace("@dataclass(frozen=True)", ""), ": pass 'mark' has options or a constructor and is no dataclass; accepted: a"),
        (
            OWN.replace("@dataclass(frozen=True)", "").replace("value: int = 1", "def __init__(self, value): ..."),
            ": pass 'mark' has options or a constructor",
        ),
        ("x = 1\ny = unknown\n", ":2: cannot be imported: NameError: name 'unknown' is not defined; accepted: a Python file"),
        ("import sys\nsys.exit(3)\n", ":2: cannot be imported: SystemExit: 3"),
        ("def f(:\n", ":1: cannot be imported: SyntaxError: "),
        ("x = 1\n", ": defines nothing of its own; accepted: a file with a ModulePass, a dialect or a strategy"),
        (None, ": no such Python file; accepted: --load FILE.py"),
    ],
)
def test_a_file_that_cannot_be_used_is_one_sentence(tmp_path: Path, text: str | None, said: str) -> None:
    path = tmp_path / "own.py"
    if text is not None:
        path.write_text(text)
    result = run("--load", path, "-p", "cse")
    assert result.exit_code == 2 and f"stc-opt: error: {path}{said}" in result.stderr
    assert len(result.stderr.splitlines()) == 1


DIALECT = """from xdsl.dialects.builtin import i32
from xdsl.ir import Dialect
from xdsl.irdl import IRDLOperation, irdl_op_definition, result_def
@irdl_op_definition
class Answer(IRDLOperation):
    name = "mine.answer"
    result = result_def(i32)
    assembly_format = "attr-dict `:` type($result)"
Mine = Dialect("mine", [Answer], [])
"""


def test_a_dialect_of_a_loaded_file_parses(tmp_path: Path) -> None:
    (path := tmp_path / "mine.py").write_text(DIALECT)
    text = "func.func @f() -> i32 {\n  %0 = mine.answer : i32\n  return %0 : i32\n}\n"
    assert run("-p", "canonicalize", text=text).exit_code != 0
    result = run("--load", path, "-p", "canonicalize", text=text)
    assert result.exit_code == 0 and "%0 = mine.answer : i32" in result.stdout, result.stderr
    (clash := tmp_path / "clash.py").write_text(DIALECT.replace('"mine"', '"stream"'))
    refused = run("--load", clash, "-p", "canonicalize", text=text)
    assert refused.exit_code == 2 and f"{clash}: there is another dialect 'stream'; accepted: another name" in refused.stderr


def test_two_files_that_clash_are_both_named(tmp_path: Path, own: Path) -> None:
    (other := tmp_path / "other.py").write_text(OWN)
    result = run("--load", own, "--load", other, "-p", "mark")
    assert result.exit_code == 2 and f"{other}: there is another pass 'mark' in {own}; accepted: another name" in result.stderr


def test_a_file_may_bring_strategies_only(tmp_path: Path) -> None:
    path = tmp_path / "alone.py"
    path.write_text(
        "from stc.strategies.fusion import FUSION\n\n\n"
        "@FUSION.strategy('alone')\ndef alone(problem):\n    return [[kernel] for kernel in problem.kernels]\n"
    )
    result = run("--load", path, "--list-passes")
    assert result.exit_code == 0 and f"{path} also has fusion strategy 'alone'" in result.stdout


def test_debug_shows_the_traceback_of_a_file_and_of_a_pass(tmp_path: Path, own: Path) -> None:
    quiet, loud = (run("--load", own, "-p", "mark{value=-1}", *more).stderr for more in ((), ("--debug",)))
    assert "Traceback" not in quiet and "pass 'mark' crashes: KeyError" in quiet
    assert 'raise KeyError("negative")' in loud and "pass 'mark' crashes: KeyError" in loud
    (tmp_path / "wrong.py").write_text("unknown\n")
    assert "Traceback" in run("--load", tmp_path / "wrong.py", "--debug").stderr


def test_a_pass_that_ends_the_process_is_a_crash_and_not_a_success(own: Path) -> None:
    own.write_text(OWN.replace('raise KeyError("negative")', "raise SystemExit(0)"))
    result = run("--load", own, "-p", "mark{value=-1}")
    assert result.exit_code == 2 and "pass 'mark' crashes: SystemExit: 0" in result.stderr
    (mark,) = (kind for file in extensions.loaded_files() for kind in file.passes.values())
    sequence = [Stage("own", (mark(value=-1),))]  # pyright: ignore[reportCallIssue]
    with pytest.raises(PassCrashed, match="pass 'mark' crashes: SystemExit: 0"):
        run_or_reproduce(parse_module(TEXT), make_context(), sequence, path=own.with_name("crash.mlir"))


def test_a_reproducer_loads_the_file_again(tmp_path: Path, own: Path) -> None:
    path = tmp_path / "crash.mlir"
    run("--load", own, "-p", "cse,mark{value=-1}", "--crash-reproducer", path)
    assert recorded_pipeline(path.read_text(), "").files == (str(own),)
    extensions.forget_files()
    again = run(path, "--run-reproducer")
    assert "pass 'mark' crashes: KeyError: 'negative'" in again.stderr and again.exit_code == 2


def test_upstream_passes_are_available() -> None:
    assert run("-p", "convert-scf-to-cf,dce,licm").exit_code == 0


# Installed packages ---------------------------------------------------------------------------------------------------


def table(**offers: dict[str, str]) -> PassTable:
    """A table over packages that offer passes, `name -> what it is`; `fails` cannot be imported."""
    asked = {name: {package: (lambda kind=kind: kind) for package, kind in by.items()} for name, by in offers.items()}
    failures = (CompileError("package 'fails' cannot be imported: ImportError: no"),) if "failing" in offers else ()
    return PassTable({"ours": lambda: "ours"}, lambda: Installed(asked, failures))  # pyright: ignore


def test_packages_are_asked_only_for_names_that_we_lack() -> None:
    def never() -> Installed:
        raise AssertionError("asked")

    known = PassTable({"ours": lambda: None}, never)  # pyright: ignore
    assert known["ours"]() is None and "ours" in known


def test_a_name_that_two_packages_offer_is_refused() -> None:
    both = table(twice={"a": "A", "b": "B"}, once={"a": "C"})
    assert both["once"]() == "C" and sorted(both) == ["once", "ours", "twice"]
    with pytest.raises(CompileError, match="pass 'twice' is offered by packages 'a' and 'b'; accepted: one of them"):
        both["twice"]


def test_a_package_that_cannot_be_imported_is_named_where_a_name_is_missing() -> None:
    with pytest.raises(CompileError, match="unknown pass 'missing', and package 'fails' cannot be imported: ImportError: no"):
        table(failing={})["missing"]
    with pytest.raises(KeyError):
        table()["missing"]


def _installed(folder: Path, name: str, text: str) -> None:
    """What `pip install` leaves of a package with one module and an entry point."""
    (folder / f"{name}.py").write_text(text)
    metadata = folder / f"{name}-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text(f"[xdsl.universe]\n{name} = {name}:UNIVERSE\n")


@pytest.mark.heavy
def test_entry_points_of_installed_packages(tmp_path: Path) -> None:
    universe = "\nfrom xdsl.universe import Universe\nUNIVERSE = Universe(all_passes={'mark': lambda: Mark})\n"
    _installed(tmp_path, "theirs", OWN + universe)
    _installed(tmp_path, "broken", "import no_such_module")

    def stc_opt(*arguments: str) -> subprocess.CompletedProcess[str]:
        code = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); from stc.tools.entry import stc_opt; stc_opt()"
        return subprocess.run([sys.executable, "-c", code, *arguments], input=TEXT, capture_output=True, text=True, check=False)

    done = stc_opt("-p", "mark{value=5}")
    assert done.returncode == 0 and "test.mark = 5 : i32" in done.stdout, done.stderr
    listed = stc_opt("--list-passes").stdout
    assert "package theirs:\n  mark  Mark the module.\n" in listed and "package 'broken' cannot be imported: Module" in listed
    missing = stc_opt("-p", "missing")
    assert missing.returncode == 2 and "unknown pass 'missing', and " in missing.stderr
    assert "package 'broken' cannot be imported: ModuleNotFoundError" in missing.stderr


def test_all_passes_has_ours_first() -> None:
    assert all_passes()["cse"]().name == "cse"
