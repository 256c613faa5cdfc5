"""Find the pass that breaks a compile, and reduce the IR it got to a small module that still fails in the same way.

    finding = find(module, steps, seed=0)
    reduced = reduce_finding(finding, limit=400)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from stc.diagnostics import CompileError
from stc.dialects.context import make_context
from stc.dialects.parsing import parse_module
from stc.dialects.preconditions import unfit_for_passes
from stc.dialects.printing import print_module
from stc.pipeline import Step
from stc_testing.breaks import Break, BreakKind, Walk
from stc_testing.reduction.engine import Oracle, Reducer
from stc_testing.reduction.level import Level, is_legal_instead, level_of
from stc_testing.reduction.reductions import ALL_REDUCTIONS
from stc_testing.reduction.size import Size, size_of
from stc_testing.reduction.undefined import depends_on_undefined

_SHARE_OF_INPUT = 0.6
"""Of the calls, how many may go into reducing the linalg that the failing pass's input is made from."""


@dataclass(frozen=True)
class Finding:
    """The pass of `steps` (those that ran) at index `first` breaks the compile.

    Where values could not be compared after each pass, any pass from `first` to `last` may be the one. Where a check refused
    what the pass left, `last` is that check. `snapshots[k]` is the IR before pass k.
    """

    steps: tuple[Step, ...]
    first: int
    last: int
    broken: Break
    snapshots: tuple[ModuleOp, ...]
    seed: int

    @property
    def culprits(self) -> tuple[Step, ...]:
        return self.steps[self.first : self.last + 1]

    @property
    def before(self) -> ModuleOp:
        """The IR just before the failing pass."""
        return self.snapshots[self.first]

    def sentence(self) -> str:
        """What breaks, and how."""
        step, names = self.steps[self.first], [step.one_pass.name for step in self.culprits]
        if self.broken.kind == BreakKind.CHECK:
            return f"pass '{step.one_pass.name}' leaves IR that '{names[-1]}' refuses: {self.broken.message}"
        who = f"pass '{names[0]}'" if len(names) == 1 else f"one of the passes {', '.join(names)}"
        return f"{who} {self.broken.kind}: {self.broken.message}"


@dataclass(frozen=True)
class Outcome:
    """A walk through all passes: what broke, if anything, and what could not be checked."""

    finding: Finding | None
    notes: tuple[str, ...] = ()


Begin = Callable[[int, Step], None]


def find(module: ModuleOp, steps: Sequence[Step], seed: int = 0, begin: Begin = lambda index, step: None) -> Outcome:
    """Run the passes on `module`, in place, with every check after each, up to the first that breaks something.

    A refusal (CompileError) of a checking pass is a break of the last pass before which that check still agreed; a refusal by any
    other pass is a finding of kind `REFUSAL`. CompileError where the module itself does not verify.
    """
    if (violation := unfit_for_passes(module)) is not None:
        raise CompileError(f"the input cannot be used: {violation}")
    walk = Walk(module, seed)
    snapshots = [module.clone()]
    for index, step in enumerate(steps):
        begin(index, step)
        broken = walk.step(step)
        if broken is not None:
            return Outcome(_finding(broken, steps[: index + 1], snapshots, seed, walk.unexecuted), tuple(walk.notes))
        snapshots.append(module.clone())
    return Outcome(None, tuple(walk.notes))


def _finding(broken: Break, done: Sequence[Step], snapshots: Sequence[ModuleOp], seed: int, unexecuted: int) -> Finding:
    """What broke after the passes `done`, and since which of them."""
    last = len(done) - 1
    first = last
    if broken.kind == BreakKind.CHECK:
        first = _last_accepted(done[-1].one_pass, snapshots)
    elif broken.kind == BreakKind.ILLEGAL:
        first = max((index for index, step in enumerate(done) if step.one_pass.name == broken.blamed), default=last)
    elif broken.kind in (BreakKind.VALUE, BreakKind.STUCK):
        first = last - max(unexecuted - 1, 0)
    if first == last and broken.kind == BreakKind.CHECK:
        broken = Break(BreakKind.REFUSAL, broken.message, broken.signature)  # nothing led to what the check refuses
    return Finding(tuple(done), first, last, broken, tuple(snapshots), seed)


def _last_accepted(check: ModulePass, snapshots: Sequence[ModuleOp]) -> int:
    """The pass before which `check` agreed and after which it did not; the check itself, the last pass, where it never agreed."""
    last = len(snapshots) - 1
    return next((index for index in range(last - 1, -1, -1) if _accepts(check, snapshots[index])), last)


def _accepts(check: ModulePass, module: ModuleOp) -> bool:
    try:
        check.apply(make_context(), module.clone())
    except Exception:
        return False
    return True


# Reduction ------------------------------------------------------------------------------------------------------------


def still_fails(finding: Finding, lead: Sequence[Step], defined: bool) -> Oracle:
    """Whether a module fails at the culprits in the same way, after the passes of `lead` accepted it and made the same level of it.

    With `defined`, modules whose value depends on the contents of empty tensors do not count.
    """
    target, culprits, seed, level = finding.broken, finding.culprits, finding.seed, level_of(finding.before)

    def fails(module: ModuleOp) -> bool:
        if not _accepted_by(lead, module) or not is_legal_instead(level_of(module), level):
            return False
        walk = Walk(module, seed)
        if walk.results is None and target.kind in (BreakKind.VALUE, BreakKind.STUCK):
            return False
        if defined and target.kind == BreakKind.VALUE and depends_on_undefined(module, walk.inputs):
            return False
        if not _applied(culprits[:-1], module):
            return False
        broken = walk.step(culprits[-1])
        return broken is not None and target.is_like(_alike(broken, target))

    return fails


def _alike(broken: Break, target: Break) -> Break:
    """A refusal of a checking pass has the kind under which it was found."""
    refusals = (BreakKind.CHECK, BreakKind.REFUSAL)
    if broken.kind in refusals and target.kind in refusals:
        return Break(target.kind, broken.message, broken.signature)
    return broken


def _accepted_by(steps: Sequence[Step], module: ModuleOp) -> bool:
    return _applied(steps, module) and (not steps or unfit_for_passes(module) is None)


def _applied(steps: Sequence[Step], module: ModuleOp) -> bool:
    """Run passes in place; whether all of them accepted what they got."""
    context = make_context()
    try:
        for step in steps:
            step.one_pass.apply(context, module)
    except Exception:  # another failure than the one that is being reduced
        return False
    return True


@dataclass
class Reduced:
    """The IR before the failing pass, reduced. `reproduces` says whether the printed text was seen to fail in the same way."""

    text: str
    broken: Break
    before: Size
    after: Size
    calls: int
    reproduces: bool
    module: ModuleOp = field(repr=False)


ReductionProgress = Callable[[str, Size, int], None]


def reduce_finding(
    finding: Finding, limit: int, progress: ReductionProgress = lambda name, size, calls: None
) -> Reduced:
    """Reduce the IR before the failing pass with at most `limit` trial runs.

    Where that IR is made from linalg on tensors, the linalg is reduced first, through all passes in between: there shapes shrink
    consistently, and every level follows.
    """
    begin = _reparsed(finding.before)
    defined = _confirmed(finding, begin)
    if defined is None:
        return _unreduced(finding)
    start = _linalg_start(finding)
    calls = 0
    if start < finding.first:
        begin, calls = _reduce_input(finding, start, int(limit * _SHARE_OF_INPUT), progress) or (begin, calls)
    oracle = still_fails(finding, (), defined)
    reducer = Reducer(oracle, limit, progress, calls)
    module = reducer.run(begin, ALL_REDUCTIONS)
    text = print_module(module)
    return Reduced(
        text, finding.broken, size_of(finding.before), size_of(module, text), reducer.calls, oracle(parse_module(text)), module
    )


def _confirmed(finding: Finding, module: ModuleOp) -> bool | None:
    """Whether values have to be free of what is undefined, as those of `module` itself are or not; None if it does not fail."""
    for defined in (True, False):
        if still_fails(finding, (), defined)(module.clone()):
            return defined
    return None


def _unreduced(finding: Finding) -> Reduced:
    size = size_of(finding.before)
    return Reduced(print_module(finding.before), finding.broken, size, size, 0, False, finding.before)


def _linalg_start(finding: Finding) -> int:
    """The last pass up to the failing one whose input is still linalg on tensors; the failing one where there is none."""
    starts = [index for index in range(finding.first + 1) if level_of(finding.snapshots[index]) == Level.LINALG]
    return starts[-1] if starts else finding.first


def _reduce_input(finding: Finding, start: int, limit: int, progress: ReductionProgress) -> tuple[ModuleOp, int] | None:
    """Reduce the linalg before pass `start`; the IR that it becomes before the failing pass, and the calls used."""
    lead = finding.steps[start : finding.first]
    oracle = still_fails(finding, lead, defined=True)
    begin = _reparsed(finding.snapshots[start])
    if not oracle(begin.clone()):
        return None
    reducer = Reducer(oracle, limit, progress)
    module = reducer.run(begin, ALL_REDUCTIONS)
    _applied(lead, module)
    return _reparsed(module), reducer.calls


def _reparsed(module: ModuleOp) -> ModuleOp:
    """What the printed text stands for: the reduction works on what a reader of its result will have."""
    return parse_module(print_module(module), verify=False)
