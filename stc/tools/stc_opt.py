"""`stc-opt`: read IR, run passes, print IR; behaves as a user of `mlir-opt` expects."""

from __future__ import annotations

import sys
import traceback
from contextlib import nullcontext
from dataclasses import dataclass, field
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from xdsl.context import Context
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import DiagnosticException
from xdsl.utils.target import Target

from stc.diagnostics import CompileError
from stc.dialects.context import make_context
from stc.dialects.dataflow import PROVENANCE
from stc.dialects.preconditions import first_unmet, unfit_for_passes
from stc.dialects.printing import print_module
from stc.dialects.verification import first_violation
from stc.pipeline import hyphenated, part, read_options, stages, steps
from stc.tools.command_line import run_app, show_cause
from stc.tools.crashes import crash_sentence
from stc.tools.expected_errors import expected_errors, unmet
from stc.tools.listings import (
    complete_part,
    complete_pass,
    complete_passes,
    complete_pipeline,
    complete_stage,
    list_of_passes,
    list_of_pipelines,
)
from stc.tools.loading import load_all
from stc.tools.options import Debug, Load
from stc.tools.quick_command import QuickCommand
from stc.tools.reading import Reading, read
from stc.tools.reproducer import Recorded, recorded_pipeline, reproducer_of, versions
from stc.tools.source import SPLIT_MARKER, Diagnostic, Source, split_source
from stc.tools.statistics import Statistics
from stc.tools.stopwatch import Stopwatch
from stc.transforms import all_passes
from stc.transforms.finding_pass import run_pass
from stc.transforms.pass_pipeline import describe, find_pass, read_pipeline
from stc.user_files import reason_of

if TYPE_CHECKING:
    from stc.tools.check_semantics import SemanticsCheck

UNUSABLE_INPUT = 2
CHECK_FAILED = 1


def _write(path: Path, text: str, makes_folder: bool = False) -> None:
    """Write a file that an option names; CompileError where that cannot be done."""
    try:
        if makes_folder:
            path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    except OSError as error:
        raise CompileError(f"cannot write it: {error.strerror}", where=str(path), accepted="a path that can be written") from None


@dataclass(frozen=True)
class Printing:
    """Which IR to print besides the result, and how."""

    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    before_all: bool = False
    after_all: bool = False
    folder: Path | None = None
    generic: bool = False
    aliases: bool = True

    def text(self, reading: Reading) -> str:
        return print_module(reading.module, aliases=self.aliases, generic=self.generic)

    def show(self, reading: Reading, moment: str, name: str) -> None:
        """Print the IR to stderr if it was asked for at this moment ("Before" or "After") of pass `name`."""
        is_before = moment == "Before"
        if (self.before_all if is_before else self.after_all) or name in (self.before if is_before else self.after):
            sys.stderr.write(f"// -----// IR Dump {moment} {name} //----- //\n{self.text(reading)}")

    def store(self, reading: Reading, index: int, name: str) -> None:
        """Write the IR into the folder, if there is one."""
        if self.folder is not None:
            _write(self.folder / f"{index:02}_{name}.mlir", self.text(reading), makes_folder=True)


@dataclass(frozen=True)
class Options:
    """What to do with each piece of the input."""

    pipeline: list[ModulePass] = field(default_factory=list)
    stage_ends: tuple[tuple[int, str], ...] = ()
    """After how many passes which stage is over, so that only what it may leave may be left."""
    printing: Printing = Printing()
    verify: bool = True
    allow_unregistered: bool = False
    check_seed: int | None = None
    """Seed of the inputs on which the module is executed before and after each pass; None for no check."""
    reproduces: bool = True
    """Whether a defect of a pass leaves a reproducer file, at `crash_reproducer` or else in the temporary folder."""
    crash_reproducer: Path | None = None
    debug: bool = False
    """Whether the traceback of a pass that crashes is shown."""
    target: Target | None = None
    """What prints the result, if not the printer of IR."""
    statistics: Statistics | None = None
    """Told what each pass does, if asked for; all pieces together."""
    watch: Stopwatch = field(default_factory=Stopwatch)
    """Told what takes how long; all pieces together."""


class CheckFailed(Diagnostic):
    """The input is fine, but a check of what a pass made of it failed."""


class PassDefect(Diagnostic):
    """The input is fine, but a pass crashed, or left IR that does not verify."""


def optimise(source: Source, options: Options) -> str:
    """Read, verify, run every pass and check what each leaves; the resulting text. Raises Diagnostic."""
    context, watch = make_context(), options.watch
    context.allow_unregistered = options.allow_unregistered
    with watch.measure("(read)"):
        reading = read(source, context)
    if options.verify:
        with watch.measure("(verify)"):
            reading.require(first_violation)
    if options.pipeline:
        reading.require(first_unmet)
    with watch.measure("(print)"):
        options.printing.store(reading, 0, "input")
    check = _begin_check(reading, options)
    _check_stages(0, reading, options)
    for index, transformation in enumerate(options.pipeline, start=1):
        try:
            _one_pass(index, transformation, context, reading, options, check)
        except PassDefect as defect:
            raise _with_reproducer(defect, options, index - 1) from None
    if PROVENANCE in reading.module.attributes:
        _advance(reading, options)
    with watch.measure("(print)"):
        return options.printing.text(reading) if options.target is None else _emitted(options.target, context, reading, options)


def _advance(reading: Reading, options: Options) -> None:
    """A dump of a compile says what it follows now, so that `stc compile` goes on behind it."""
    from stc.tools.provenance import advance

    try:
        advance(reading.module, [transformation.name for transformation in options.pipeline])
    except CompileError as error:  # what the dump says of itself is not understood
        raise Diagnostic(reading.source, str(error)) from None


def _emitted(target: Target, context: Context, reading: Reading, options: Options) -> str:
    """The text that a target makes of the module; Diagnostic where it refuses it."""
    text = StringIO()
    try:
        target.emit(context, reading.module, text)
    except (CompileError, DiagnosticException) as error:
        raise Diagnostic(reading.source, f"target '{target.name}': {' '.join(str(error).split())}") from None
    except Exception as error:  # one of xDSL's, which expects other IR
        if options.debug:
            traceback.print_exception(error)
        raise Diagnostic(reading.source, f"target '{target.name}' crashes: {type(error).__name__}: {error}") from None
    return text.getvalue()


def _one_pass(
    index: int,
    transformation: ModulePass,
    context: Context,
    reading: Reading,
    options: Options,
    check: SemanticsCheck | None,
) -> None:
    """Run a pass, the `index`-th from one, and check what it leaves."""
    printing, watch = options.printing, options.watch
    with watch.measure("(print)"):
        printing.show(reading, "Before", transformation.name)
    label = _label(index, options.pipeline)
    counting = nullcontext() if options.statistics is None else options.statistics.count(label, reading.module)
    with counting, watch.measure(label):
        _run(transformation, context, reading, options.debug)
    if options.verify:
        with watch.measure("(verify)"):
            _verify_after(transformation, reading, printing)
    with watch.measure("(print)"):
        printing.show(reading, "After", transformation.name)
        printing.store(reading, index, transformation.name)
    _check_stages(index, reading, options)
    if check is not None:
        with watch.measure("(check semantics)"):
            _check_after(transformation, reading, check)


def _label(index: int, pipeline: list[ModulePass]) -> str:
    """The name of the `index`-th pass from one, with `#2` behind it where it runs for the second time."""
    name = pipeline[index - 1].name
    count = sum(other.name == name for other in pipeline[:index])
    return name if count == 1 else f"{name}#{count}"


def _check_stages(index: int, reading: Reading, options: Options) -> None:
    """What the stages that are over after `index` passes may not have left is a failed check."""
    for end, stage in options.stage_ends:
        if end != index:
            continue
        from stc.analysis.stage_legality import illegal_ops

        with options.watch.measure("(check stage)"):
            found = next(illegal_ops(reading.module, stage), None)
        if found is not None:
            raise CheckFailed(reading.source, str(found), reading.positions.of(found.operation))


def _begin_check(reading: Reading, options: Options) -> SemanticsCheck | None:
    if options.check_seed is None:
        return None
    from stc.tools.check_semantics import SemanticsCheck

    check = SemanticsCheck(options.check_seed)
    try:
        with options.watch.measure("(check semantics)"):
            check.begin(reading.module)
    except CompileError as error:
        raise Diagnostic(reading.source, f"cannot check semantics: {error}") from None
    except Exception as error:  # the executor met IR that no pass leaves
        raise Diagnostic(reading.source, f"cannot check semantics: {type(error).__name__}: {error}") from None
    return check


def _check_after(transformation: ModulePass, reading: Reading, check: SemanticsCheck) -> None:
    from stc.tools.check_semantics import SemanticsChanged

    try:
        check.after(transformation.name, reading.module)
    except SemanticsChanged as error:
        raise CheckFailed(reading.source, str(error)) from None
    for note in check.notes:
        print(f"stc-opt: note: {note}", file=sys.stderr)
    check.notes.clear()


def _run(transformation: ModulePass, context: Context, reading: Reading, debug: bool) -> None:
    try:
        run_pass(transformation, context, reading.module)
    except CompileError as error:
        position = reading.source.position(error.where)
        is_said = position is not None or error.where == transformation.name
        complaint = CompileError(error.what, accepted=error.accepted) if is_said else error
        raise Diagnostic(reading.source, f"pass '{transformation.name}': {complaint}", position) from None
    except DiagnosticException as error:
        raise Diagnostic(reading.source, f"pass '{transformation.name}': {' '.join(str(error).split())}") from None
    except (Exception, SystemExit) as error:  # a pass may also call sys.exit: then nothing would be printed, and nothing said
        if debug:
            traceback.print_exception(error)
        raise PassDefect(reading.source, crash_sentence(transformation.name, error)) from None


def _with_reproducer(defect: PassDefect, options: Options, index: int) -> PassDefect:
    """The defect of the pass at `index`, with the name of a file that shows it again."""
    if not options.reproduces:
        return defect
    context = make_context()
    context.allow_unregistered = options.allow_unregistered
    begin = read(defect.source, context).module
    reproducer = reproducer_of(begin, options.pipeline, index, defect.message)
    try:
        note = f"reproducer: {reproducer.write(options.crash_reproducer)}"
    except CompileError as error:  # what the pass did matters more
        note = str(error)
    return PassDefect(defect.source, f"{defect.message}; {note}", defect.position)


def _verify_after(transformation: ModulePass, reading: Reading, printing: Printing) -> None:
    """As mlir-opt: IR that a pass left broken is shown, if passes are being looked at, before it is refused."""
    try:
        reading.require(unfit_for_passes, f"after pass '{transformation.name}': ")
    except Diagnostic as found:
        printing.show(reading, "After", transformation.name)
        raise PassDefect(found.source, found.message, found.position) from None


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
        _write(output, joined)
    return code


def _read_input(file: str) -> Source:
    if file == "-":
        return Source("<stdin>", sys.stdin.read())
    try:
        return Source(file, Path(file).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        reason = reason_of(error)
        raise CompileError(f"cannot read it: {reason}", where=file, accepted="a file of MLIR text, or - for stdin") from None


# Command line ---------------------------------------------------------------------------------------------------------


def _shown(passes: bool, pipelines: bool, one_pass: str) -> str:
    """What is asked for in place of a run, if anything."""
    if passes:
        return list_of_passes()
    if pipelines:
        return list_of_pipelines()
    return describe(find_pass(one_pass, all_passes())) if one_pass else ""


def _show_version(requested: bool) -> None:
    if requested:
        typer.echo(f"stc-opt {versions()}")
        raise typer.Exit


def _passes_to_run(pipeline: str, first: str, last: str, passes: str) -> tuple[list[ModulePass], list[tuple[int, str]]]:
    """What the options name, in order: the part of the pipeline, then the passes; and where which published stage ends."""
    named = pipeline or first or last
    chosen = part(steps(stages(read_options(pipeline or "compile"))), first, last) if named else []
    ends = [(index, step.stage.name) for index, step in enumerate(chosen, start=1) if step.ends_stage]
    return [step.one_pass for step in chosen] + read_pipeline(passes, all_passes()), ends


def _target(text: str) -> Target | None:
    """What `-t` names, with its options; CompileError where there is no such target."""
    if not text:
        return None
    from xdsl.targets import get_all_targets

    from stc.codegen.hls_target import ExactHlsCppTarget

    found = read_pipeline(text, {**get_all_targets(), ExactHlsCppTarget.name: lambda: ExactHlsCppTarget}, "target")
    if len(found) != 1:
        raise CompileError(f"'{text}' names {len(found)} targets", accepted="one")
    return found[0]


def _stage_named(name: str) -> str:
    """A stage, written with hyphens or not; CompileError where there is none of that name."""
    from stc.analysis.stage_legality import STAGES

    by_name = {hyphenated(stage): stage for stage in STAGES}
    if hyphenated(name) not in by_name:
        raise CompileError(f"unknown stage '{name}'", accepted=", ".join(by_name))
    return by_name[hyphenated(name)]


app = typer.Typer(pretty_exceptions_enable=False, rich_markup_mode=None)


@app.command(cls=QuickCommand, epilog="Passes: --list-passes lists them, --help PASS says all about one.")
def stc_opt(
    file: Annotated[str, typer.Argument(help="MLIR text, or - for stdin.")] = "-",
    passes: Annotated[
        str, typer.Option("-p", "--passes", help="Passes: 'pass{option=value ...},...'.", autocompletion=complete_passes)
    ] = "",
    pipeline: Annotated[
        str,
        typer.Option(
            "--pipeline",
            help="Run the pipeline of `stc compile`, 'compile{option=value ...}' (--list-pipelines), before the passes of -p.",
            autocompletion=complete_pipeline,
        ),
    ] = "",
    first: Annotated[
        str,
        typer.Option("--from", metavar="STAGE|PASS", help="Run the pipeline from here.", autocompletion=complete_part),
    ] = "",
    last: Annotated[
        str,
        typer.Option("--until", metavar="STAGE|PASS", help="Run the pipeline up to and with this.", autocompletion=complete_part),
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
    check_stage: Annotated[
        str,
        typer.Option(
            "--check-stage",
            metavar="STAGE",
            help="Refuse operations that this stage should have removed from the result (checked after each stage of a pipeline).",
            autocompletion=complete_stage,
        ),
    ] = "",
    crash_reproducer: Annotated[
        Path | None,
        typer.Option(
            "--crash-reproducer",
            metavar="FILE",
            help="If a pass crashes or leaves broken IR, write what it got here, not to a new file in the temporary folder.",
        ),
    ] = None,
    run_reproducer: Annotated[
        bool, typer.Option("--run-reproducer", help="FILE is a reproducer: run the passes that its header names.")
    ] = False,
    allow_unregistered_dialect: Annotated[
        bool, typer.Option("--allow-unregistered-dialect", help="Accept operations of unknown dialects.")
    ] = False,
    print_op_generic: Annotated[
        bool, typer.Option("--print-op-generic", help="Print operations in their generic form.")
    ] = False,
    aliases: Annotated[
        bool, typer.Option("--aliases/--no-aliases", help="Name long types and maps at the top of the printed module.")
    ] = True,
    print_ir_before: Annotated[
        list[str] | None,
        typer.Option(
            "--print-ir-before", help="Print the IR before this pass (repeatable).", metavar="PASS", autocompletion=complete_pass
        ),
    ] = None,
    print_ir_after: Annotated[
        list[str] | None,
        typer.Option(
            "--print-ir-after", help="Print the IR after this pass (repeatable).", metavar="PASS", autocompletion=complete_pass
        ),
    ] = None,
    print_ir_before_all: Annotated[bool, typer.Option("--print-ir-before-all", help="Print the IR before each pass.")] = False,
    print_ir_after_all: Annotated[bool, typer.Option("--print-ir-after-all", help="Print the IR after each pass.")] = False,
    print_ir_to: Annotated[
        Path | None, typer.Option("--print-ir-to", help="Write the input and the IR after each pass into this folder.")
    ] = None,
    timing: Annotated[
        bool, typer.Option("--timing", help="Print to stderr how long each pass took, and verification and checks beside them.")
    ] = False,
    load: Load = None,
    debug: Debug = False,
    target: Annotated[
        str, typer.Option("-t", "--target", metavar="TARGET", help="Print the result as hls-cpp (kernel.cpp), or a target of xDSL.")
    ] = "",
    stats: Annotated[bool, typer.Option("--stats", help="Print to stderr what each pass did, counted.")] = False,
    list_passes: Annotated[bool, typer.Option("--list-passes", help="List the passes, one line each, and exit.")] = False,
    list_pipelines: Annotated[
        bool, typer.Option("--list-pipelines", help="List the stages of the pipeline, their passes and its options, and exit.")
    ] = False,
    help_pass: Annotated[str, typer.Option("--help-pass", hidden=True)] = "",
    version: Annotated[
        bool, typer.Option("--version", help="Show the versions and exit.", callback=_show_version, is_eager=True)
    ] = False,
) -> None:
    """Run passes over MLIR text and print the result.

    To see a program at some level: `stc-opt FILE --until kernel-fusion`; to go on from there: `--from dataflow-optimisation`; to
    try a pass where it belongs: `--until insert-forks -p my-pass`.

    Exit codes: 0 fine, 1 a check failed (expected diagnostics were not met, a pass changes a value or leaves what its stage
    should remove), 2 unusable input.
    """
    try:
        load_all(load or ())
        if text := _shown(list_passes, list_pipelines, help_pass):
            print(text)
            raise typer.Exit
        known = all_passes()
        before, after = tuple(print_ir_before or ()), tuple(print_ir_after or ())
        for name in (*before, *after):
            find_pass(name, known)
        printing = Printing(
            before, after, print_ir_before_all, print_ir_after_all, print_ir_to, print_op_generic, aliases
        )
        source = _read_input(file)
        recorded = recorded_pipeline(source.text, source.name) if run_reproducer else Recorded("")
        load_all(recorded.files)
        to_run, ends = _passes_to_run(pipeline, first, last, ",".join(filter(None, (recorded.pipeline, passes))))
        if check_stage:
            ends.append((len(to_run), _stage_named(check_stage)))
        options = Options(
            to_run,
            tuple(ends),
            printing,
            verify_each,
            allow_unregistered_dialect,
            check_semantics,
            reproduces=not verify_diagnostics,
            crash_reproducer=crash_reproducer,
            debug=debug,
            target=_target(target),
            statistics=Statistics() if stats else None,
        )
    except CompileError as error:
        if debug:
            show_cause(error)
        print(f"stc-opt: error: {error}", file=sys.stderr)
        raise typer.Exit(UNUSABLE_INPUT) from None
    pieces = split_source(source) if split_input_file else [source]
    code = check_expectations(pieces, options) if verify_diagnostics else print_results(pieces, options, output)
    if options.statistics is not None:
        sys.stdout.flush()
        sys.stderr.write(options.statistics.table())
    if timing:
        sys.stdout.flush()
        sys.stderr.write(options.watch.table())
    raise typer.Exit(code)


def _spelled(arguments: list[str]) -> list[str]:
    """`--check-semantics` alone takes seed 0, never the next argument; `--help` takes the next one, if there is one: a pass."""
    words = [f"{argument}=0" if argument == "--check-semantics" else argument for argument in arguments]
    if "--help" in words[:-1] and not words[(place := words.index("--help")) + 1].startswith("-"):
        words[place : place + 2] = [f"--help-pass={words[place + 1]}"]
    return words


def main() -> None:
    """Entry point of the console script."""
    run_app(app, "stc-opt", _spelled(sys.argv[1:]))
