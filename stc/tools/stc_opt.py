"""`stc-opt`: read IR, run passes, print IR; behaves as a user of `mlir-opt` expects."""

from __future__ import annotations

import io
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import typer
from typer.core import TyperCommand
from xdsl.context import Context
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import DiagnosticException

from stc.diagnostics import CompileError
from stc.dialects.context import make_context
from stc.dialects.printing import ExactPrinter
from stc.tools.check_semantics import SemanticsChanged, SemanticsCheck
from stc.tools.command_line import run_app
from stc.tools.expected_errors import expected_errors, unmet
from stc.tools.pass_pipeline import describe, find_pass, read_pipeline
from stc.tools.reading import Reading, read
from stc.tools.source import SPLIT_MARKER, Diagnostic, Source, split_source
from stc.transforms import all_passes

UNUSABLE_INPUT = 2
CHECK_FAILED = 1


@dataclass(frozen=True)
class Printing:
    """Which IR to print besides the result, and how."""

    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    before_all: bool = False
    after_all: bool = False
    folder: Path | None = None
    generic: bool = False

    def text(self, reading: Reading) -> str:
        stream = io.StringIO()
        ExactPrinter(stream=stream, print_generic_format=self.generic).print_op(reading.module)
        return stream.getvalue() + "\n"

    def show(self, reading: Reading, moment: str, name: str) -> None:
        """Print the IR to stderr if it was asked for at this moment ("Before" or "After") of pass `name`."""
        is_before = moment == "Before"
        if (self.before_all if is_before else self.after_all) or name in (self.before if is_before else self.after):
            sys.stderr.write(f"// -----// IR Dump {moment} {name} //----- //\n{self.text(reading)}")

    def store(self, reading: Reading, index: int, name: str) -> None:
        """Write the IR into the folder, if there is one."""
        if self.folder is not None:
            self.folder.mkdir(parents=True, exist_ok=True)
            (self.folder / f"{index:02}_{name}.mlir").write_text(self.text(reading))


@dataclass(frozen=True)
class Options:
    """What to do with each piece of the input."""

    pipeline: list[ModulePass] = field(default_factory=list)
    printing: Printing = Printing()
    verify: bool = True
    allow_unregistered: bool = False
    check_seed: int | None = None
    """Seed of the inputs on which the module is executed before and after each pass; None for no check."""


class CheckFailed(Diagnostic):
    """The input is fine, but a check of what a pass made of it failed."""


def optimise(source: Source, options: Options) -> str:
    """Read, verify, run every pass and verify after each; the resulting text. Raises Diagnostic."""
    context = make_context()
    context.allow_unregistered = options.allow_unregistered
    reading = read(source, context)
    if options.verify:
        reading.verify()
    options.printing.store(reading, 0, "input")
    check = _begin_check(reading, options)
    for index, transformation in enumerate(options.pipeline, start=1):
        options.printing.show(reading, "Before", transformation.name)
        _run(transformation, context, reading)
        if options.verify:
            _verify_after(transformation, reading, options.printing)
        options.printing.show(reading, "After", transformation.name)
        options.printing.store(reading, index, transformation.name)
        if check is not None:
            _check_after(transformation, reading, check)
    return options.printing.text(reading)


def _begin_check(reading: Reading, options: Options) -> SemanticsCheck | None:
    if options.check_seed is None:
        return None
    check = SemanticsCheck(options.check_seed)
    try:
        check.begin(reading.module)
    except CompileError as error:
        raise Diagnostic(reading.source, f"cannot check semantics: {error}") from None
    return check


def _check_after(transformation: ModulePass, reading: Reading, check: SemanticsCheck) -> None:
    try:
        check.after(transformation.name, reading.module)
    except SemanticsChanged as error:
        raise CheckFailed(reading.source, str(error)) from None
    for note in check.notes:
        print(f"stc-opt: note: {note}", file=sys.stderr)
    check.notes.clear()


def _run(transformation: ModulePass, context: Context, reading: Reading) -> None:
    try:
        transformation.apply(context, reading.module)
    except CompileError as error:
        position = reading.source.position(error.where)
        complaint = error if position is None else CompileError(error.what, accepted=error.accepted)
        raise Diagnostic(reading.source, f"pass '{transformation.name}': {complaint}", position) from None
    except DiagnosticException as error:
        raise Diagnostic(reading.source, f"pass '{transformation.name}': {' '.join(str(error).split())}") from None


def _verify_after(transformation: ModulePass, reading: Reading, printing: Printing) -> None:
    """As mlir-opt: IR that a pass left broken is shown, if passes are being looked at, before it is refused."""
    try:
        reading.verify(f"after pass '{transformation.name}': ")
    except Diagnostic:
        printing.show(reading, "After", transformation.name)
        raise


def check_expectations(pieces: list[Source], options: Options) -> int:
    """`--verify-diagnostics`: compare errors with `expected-error` comments; without any, print each error. Exit code."""
    has_expectations = any(expected_errors(piece) for piece in pieces)
    complaints: list[str] = []
    for index, piece in enumerate(pieces):
        diagnostic, text = _outcome(piece, options)
        if has_expectations:
            complaints += unmet(piece, diagnostic)
            continue
        if index > 0:
            print(SPLIT_MARKER)
        print(text if diagnostic is None else diagnostic, end="" if diagnostic is None else "\n")
    for complaint in complaints:
        print(complaint, file=sys.stderr)
    return CHECK_FAILED if complaints else 0


def _outcome(piece: Source, options: Options) -> tuple[Diagnostic | None, str]:
    try:
        return None, optimise(piece, options)
    except Diagnostic as diagnostic:
        return diagnostic, ""


def print_results(pieces: list[Source], options: Options, output: Path | None) -> int:
    """Print (or write) the result of every piece; errors go to stderr. Exit code."""
    results: list[str] = []
    code = 0
    for piece in pieces:
        diagnostic, text = _outcome(piece, options)
        if diagnostic is not None:
            print(diagnostic, file=sys.stderr)
            code = max(code, CHECK_FAILED if isinstance(diagnostic, CheckFailed) else UNUSABLE_INPUT)
        results.append(text)
    joined = f"{SPLIT_MARKER}\n".join(results)
    if code and len(pieces) == 1:
        return code
    if output is None:
        sys.stdout.write(joined)
    else:
        output.write_text(joined)
    return code


def _read_input(file: str) -> Source:
    if file == "-":
        return Source("<stdin>", sys.stdin.read())
    try:
        return Source(file, Path(file).read_text())
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not a text file"
        raise CompileError(f"cannot read it: {reason}", where=file, accepted="a file of MLIR text, or - for stdin") from None


# Command line ---------------------------------------------------------------------------------------------------------


def list_of_passes() -> str:
    """Every pass with its options and documentation."""
    return "\n\n".join(describe(factory()) for factory in all_passes().values())


def _show_passes(requested: bool) -> None:
    if requested:
        typer.echo(list_of_passes())
        raise typer.Exit


def _complete_pipeline(incomplete: str) -> list[str]:
    done, comma, last = incomplete.rpartition(",")
    return [done + comma + name for name in all_passes() if name.startswith(last)]


class _HelpWithPasses(TyperCommand):
    """Lists the passes below the options."""

    def format_epilog(self, ctx, formatter) -> None:  # pyright: ignore  # typer's own types are private
        formatter.write("\nPasses:\n\n")
        formatter.write("\n".join(f"  {line}".rstrip() for line in list_of_passes().splitlines()) + "\n")


app = typer.Typer(pretty_exceptions_enable=False, rich_markup_mode=None)


@app.command(cls=_HelpWithPasses)
def stc_opt(
    file: Annotated[str, typer.Argument(help="MLIR text, or - for stdin.")] = "-",
    passes: Annotated[
        str, typer.Option("-p", "--passes", help="Passes: 'pass{option=value ...},...'.", autocompletion=_complete_pipeline)
    ] = "",
    output: Annotated[Path | None, typer.Option("-o", "--output", help="Write the result here, not to stdout.")] = None,
    split_input_file: Annotated[
        bool, typer.Option("--split-input-file", help="Treat what stands between '// -----' lines as files of their own.")
    ] = False,
    verify_diagnostics: Annotated[
        bool,
        typer.Option(
            "--verify-diagnostics",
            help="Compare errors with '// expected-error @+1 {{text}}' comments; without any, print errors and exit 0.",
        ),
    ] = False,
    verify_each: Annotated[
        bool, typer.Option("--verify-each/--no-verify-each", help="Verify the input and after each pass.")
    ] = True,
    check_semantics: Annotated[
        int | None,
        typer.Option(
            "--check-semantics",
            metavar="[=SEED]",
            help="Execute the module before and after each pass on random inputs, and stop at the first pass that changes a value.",
        ),
    ] = None,
    allow_unregistered_dialect: Annotated[
        bool, typer.Option("--allow-unregistered-dialect", help="Accept operations of unknown dialects.")
    ] = False,
    print_op_generic: Annotated[
        bool, typer.Option("--print-op-generic", help="Print operations in their generic form.")
    ] = False,
    print_ir_before: Annotated[
        list[str] | None, typer.Option("--print-ir-before", help="Print the IR before this pass (repeatable).", metavar="PASS")
    ] = None,
    print_ir_after: Annotated[
        list[str] | None, typer.Option("--print-ir-after", help="Print the IR after this pass (repeatable).", metavar="PASS")
    ] = None,
    print_ir_before_all: Annotated[bool, typer.Option("--print-ir-before-all", help="Print the IR before each pass.")] = False,
    print_ir_after_all: Annotated[bool, typer.Option("--print-ir-after-all", help="Print the IR after each pass.")] = False,
    print_ir_to: Annotated[
        Path | None, typer.Option("--print-ir-to", help="Write the input and the IR after each pass into this folder.")
    ] = None,
    list_passes: Annotated[
        bool, typer.Option("--list-passes", help="List the passes and exit.", callback=_show_passes, is_eager=True)
    ] = False,
) -> None:
    """Run passes over MLIR text and print the result.

    Exit codes: 0 fine, 1 a check failed (expected diagnostics were not met, or a pass changes a value), 2 unusable input.
    """
    try:
        known = all_passes()
        before, after = tuple(print_ir_before or ()), tuple(print_ir_after or ())
        for name in (*before, *after):
            find_pass(name, known)
        printing = Printing(
            before, after, print_ir_before_all, print_ir_after_all, print_ir_to, print_op_generic
        )
        options = Options(read_pipeline(passes, known), printing, verify_each, allow_unregistered_dialect, check_semantics)
        source = _read_input(file)
    except CompileError as error:
        print(f"stc-opt: error: {error}", file=sys.stderr)
        raise typer.Exit(UNUSABLE_INPUT) from None
    pieces = split_source(source) if split_input_file else [source]
    if verify_diagnostics:
        raise typer.Exit(check_expectations(pieces, options))
    raise typer.Exit(print_results(pieces, options, output))


def _with_seed(argument: str) -> str:
    """`--check-semantics` alone takes seed 0, never the next argument."""
    return f"{argument}=0" if argument == "--check-semantics" else argument


def main() -> None:
    """Entry point of the console script."""
    run_app(app, "stc-opt", [_with_seed(argument) for argument in sys.argv[1:]])
