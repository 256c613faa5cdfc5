"""Mutated IR through the passes: it is refused in a sentence, or every pass keeps it sound and what it computes.

    originals = read_originals([Path("filecheck_tests")])
    outcome = check_mutant(draw_mutant(7, originals))
    assert outcome.verdict != FAILED, outcome.message

Originals are the inputs of lit tests: each is mutated and goes through the passes of its `RUN` line, then through the rest of their
stage and the next one. What the reader, the verifier or a pass refuses is fine; a crash, IR that does not verify, that breaks
a precondition or that is not read back as it was printed, a changed value, and a run without end are failures.
"""

from __future__ import annotations

import re
import shlex
import signal
import time
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from random import Random
from zlib import crc32

from xdsl.dialects.builtin import ModuleOp

from stc.analysis.stage_legality import STAGES, illegal_ops
from stc.analysis.support import obstacles
from stc.diagnostics import CompileError
from stc.dialects.context import make_context
from stc.dialects.parsing import parse_module
from stc.dialects.preconditions import first_unmet, unfit_for_passes
from stc.dialects.printing import print_module
from stc.dialects.verification import first_violation
from stc.pipeline import Stage, Step, part, read_options, stages, steps
from stc.platforms.budget import SMALL
from stc.tools.reading import read
from stc.tools.reproducer import pipeline_text
from stc.tools.source import Diagnostic, Source, split_source
from stc.transforms import all_passes
from stc.transforms.pass_pipeline import read_pipeline
from stc_testing.breaks import Break, BreakKind, Walk
from stc_testing.fuzzing.campaign import Campaign
from stc_testing.fuzzing.levels import AGREED, FAILED, REFUSED, Outcome, described
from stc_testing.fuzzing.mutations import Mutant, mutate
from stc_testing.reduction.undefined import depends_on_undefined

SECONDS_OF_A_MUTANT = 20
"""Processor time; the originals take fractions of a second."""
MOST_STEPS = 1_000_000
"""Operations and entries of arrays that are worth executing; a larger mutant goes through the passes without."""
ATTEMPTS = 16
"""Seven of eight mutants are refused by the reader or the verifier; of those with a single mutation, three of four."""
READING, PRINTING = "reading", "printing"
"""Where a mutant may be refused, and fail, that is no pass."""
_RUN = re.compile(r"^// RUN: (?:not )?stc-opt %s ([^|\n]*)", re.MULTILINE)


@dataclass(frozen=True)
class Original:
    """One module of a lit test, and what runs on it. `name`: folder, file and number of the piece."""

    name: str
    module: ModuleOp
    steps: tuple[Step, ...]


@dataclass(frozen=True)
class DrawnMutant:
    """A mutant of `original`, always the same for a seed."""

    seed: int
    original: Original
    mutant: Mutant


# Originals ------------------------------------------------------------------------------------------------------------


def read_originals(paths: Sequence[Path]) -> list[Original]:
    """All readable modules of the lit tests in some folders or files; CompileError where there is none."""
    files = sorted(file for path in paths for file in (path.rglob("*.mlir") if path.is_dir() else [path]))
    found = [original for file in files for original in _originals_of(file)]
    if not found:
        where = ", ".join(str(path) for path in paths)
        raise CompileError("no lit test with a module", where=where, accepted="a folder with *.mlir files that have RUN lines")
    return found


def _originals_of(file: Path) -> Iterator[Original]:
    text = file.read_text()
    run = _RUN.search(text)
    if run is None:
        return
    try:
        to_run = _steps_of(run[1].replace("%S", str(file.parent)))
    except CompileError:  # a test of what is said of such a pipeline
        return
    for index, piece in enumerate(split_source(Source(str(file), text))):
        module = re.sub(r"^\s*//.*\n", "", piece.text, flags=re.MULTILINE).lstrip("\n")
        try:
            yield Original(f"{file.parent.name}/{file.name}#{index}", parse_module(module, verify=False), to_run)
        except CompileError:
            continue


def _steps_of(arguments: str) -> tuple[Step, ...]:
    """What a `RUN` line runs, and what follows it in the pipeline."""
    words = iter(shlex.split(arguments))
    given = {word: next(words, "") for word in words if word in ("-p", "--from", "--until", "--pipeline")}
    whole = steps(stages(read_options(given.get("--pipeline") or f"compile{{budget={SMALL}}}")))
    own: list[Step] = []
    if given.keys() - {"-p"}:
        own = part(whole, given.get("--from", ""), given.get("--until", ""))
    own += steps([Stage("", tuple(read_pipeline(given.get("-p", ""), all_passes())))])
    return (*own, *_following(own, whole)) if own else tuple(steps([Stage("", ("canonicalize", "cse"))]))


def _following(own: Sequence[Step], whole: Sequence[Step]) -> Sequence[Step]:
    """The rest of the stage that the last pass belongs to, and the next stage."""
    places = [index for index, step in enumerate(whole) if step.one_pass.name == own[-1].one_pass.name]
    if not places:
        return ()
    ends = [index + 1 for index, step in enumerate(whole) if step.ends_stage and index >= places[0]]
    return whole[places[0] + 1 : ends[min(1, len(ends) - 1)]]


def draw_mutant(seed: int, originals: Sequence[Original]) -> DrawnMutant:
    """The mutant of a seed: of four seeds the first takes any mutant, the others one that passes get, if some attempts find one,
    with a single mutation each."""
    random = Random(f"mutant {seed}")
    original = max(originals, key=lambda each: crc32(f"{seed} {each.name}".encode()))  # a new lit test changes few mutants
    mutant = mutate(original.module, random)
    for _ in range(ATTEMPTS if seed % 4 else 0):
        if _is_accepted(mutant.text):
            break
        mutant = mutate(original.module, random, most=1)
    return DrawnMutant(seed, original, mutant)


def _is_accepted(text: str) -> bool:
    try:
        return unfit_for_passes(parse_module(text)) is None
    except CompileError:
        return False


# One mutant -----------------------------------------------------------------------------------------------------------


def check_mutant(drawn: DrawnMutant) -> Outcome:
    """What becomes of a mutant; `place` is the pass, or what else refused it or failed."""
    begin = time.process_time()
    run = _Run(drawn)
    try:
        with _limited(SECONDS_OF_A_MUTANT):
            verdict, message = run.judge()
    except _OutOfTime:
        verdict, message = FAILED, f"did not end within {SECONDS_OF_A_MUTANT} s"
    except Exception as error:
        verdict, message = FAILED, described(error)
    seconds = time.process_time() - begin
    return Outcome(drawn.seed, verdict, run.place, message, (*drawn.mutant.mutations, *run.passed), seconds=seconds)


class _OutOfTime(BaseException):
    """No `Exception`, so that nobody takes it for one of a pass."""


@contextmanager
def _limited(seconds: float) -> Generator[None]:
    def end(number: int, frame: object) -> None:
        raise _OutOfTime

    before = signal.signal(signal.SIGPROF, end)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


class _Run:
    """A mutant on its way through the passes. `passed`: the names of those that took it."""

    def __init__(self, drawn: DrawnMutant):
        self.drawn, self.place = drawn, READING
        self.passed: list[str] = []

    def judge(self) -> tuple[str, str]:
        """Verdict and message."""
        text = self.drawn.mutant.text
        try:
            reading = read(Source("mutant.mlir", text), make_context())
            reading.require(first_violation)
            reading.require(first_unmet)
            self._require_round_trip(reading.module)
        except Diagnostic as refusal:
            return REFUSED, refusal.message
        walk = Walk(reading.module, seed=self.drawn.seed, most_steps=MOST_STEPS)
        round_trip = Random(self.drawn.seed).randrange(len(self.drawn.original.steps))
        for step in self.drawn.original.steps:
            self.place = step.one_pass.name
            broken = walk.step(step)
            if broken is not None:
                is_refusal = self._is_refusal(broken, walk, step.stage.name)
                return REFUSED if is_refusal else FAILED, f"{broken.kind}: {broken.message}{_frames(broken)}"
            if len(self.passed) == round_trip:
                self._require_round_trip(walk.module)
            self.passed.append(self.place)
        self.place = ""
        return AGREED, ""

    def _require_round_trip(self, module: ModuleOp) -> None:
        """What is accepted prints, parses and verifies; only names may change."""
        place, self.place = self.place, PRINTING if self.place == READING else self.place
        text = print_module(module)
        again = parse_module(text, f"<after {self.place}>")
        if not again.is_structurally_equivalent(module):
            raise AssertionError("is something else after it was printed and parsed")
        self.place = place

    def _lacks_pass(self, given: ModuleOp, stage: str) -> bool:
        """Whether the pass that removes something of the input before the end of `stage` is none of those that run."""
        removers = {op.remover for op in illegal_ops(given, stage)} - {None}
        return not removers <= {step.one_pass.name for step in self.drawn.original.steps}

    def _is_refusal(self, broken: Break, walk: Walk, stage: str) -> bool:
        """Whether the input is at fault: refused, with operations that none of the passes clears, or of undefined value."""
        given = parse_module(self.drawn.mutant.text)
        match broken.kind:
            case BreakKind.REFUSAL | BreakKind.CHECK:
                return True
            case BreakKind.ILLEGAL:
                return self._lacks_pass(given, stage) or _is_stray(given) or _is_unsupported(given, broken.message.split("'")[1])
            case BreakKind.VALUE | BreakKind.STUCK:
                return depends_on_undefined(given, walk.inputs)
            case _:
                return False


def _is_stray(module: ModuleOp) -> bool:
    """Whether operations may stand where they do after no stage, and no pass removes them."""
    found = [{op.operation for op in illegal_ops(module, stage) if op.remover is None} for stage in STAGES]
    return bool(set.intersection(*found))


def _is_unsupported(module: ModuleOp, name: str) -> bool:
    """Whether `stc compile` refuses the module, which has such an operation."""
    return any(op.name == name for op in module.walk()) and bool(obstacles(module))


def _frames(broken: Break) -> str:
    return f" [{' < '.join(reversed(broken.frames))}]" if broken.frames else ""


# Many -----------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class MutationCampaign(Campaign):
    """`count` mutants of the lit tests in `sources`, from `seed` on, checked by `jobs` processes at a time."""

    batch: int = 50
    sources: tuple[Path, ...] = ()
    what = "mutants"

    def prepare(self) -> None:
        _originals(self.sources)

    def outcomes(self, seeds: Sequence[int]) -> Iterator[Outcome]:
        originals = _originals(self.sources)
        for seed in seeds:
            yield check_mutant(draw_mutant(seed, originals))

    def again(self, seed: int) -> str:
        sources = " ".join(f"--source {path}" for path in self.sources)
        return f"stc fuzz --mutate {sources} --count 1 --seed {seed}"

    def store(self, outcome: Outcome, out: Path) -> None:
        """OUT/SEED.mlir, and SEED.txt: what failed, and how to see it again."""
        drawn, stem = draw_mutant(outcome.seed, _originals(self.sources)), out / str(outcome.seed)
        out.mkdir(parents=True, exist_ok=True)
        stem.with_suffix(".mlir").write_text(drawn.mutant.text)
        passes = pipeline_text([step.one_pass for step in drawn.original.steps])
        lines = (
            f"{outcome.place}: {outcome.message}",
            "",
            self.again(outcome.seed),
            f"stc-opt {stem.with_suffix('.mlir')} -p '{passes}' --check-semantics",
            "",
            f"{drawn.original.name}: {', '.join(drawn.mutant.mutations)}",
            "",
        )
        stem.with_suffix(".txt").write_text("\n".join(lines))


@cache
def _originals(sources: tuple[Path, ...]) -> list[Original]:
    return read_originals(sources)
