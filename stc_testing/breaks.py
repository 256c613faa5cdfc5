"""What it means that a pass breaks a compile, and finding out whether it does: every check of `stc`, after one pass.

    walk = Walk(module, seed=0)          # executes it
    broken = walk.step(step)             # applies the pass in place, then verifies, executes and compares
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import DiagnosticException

from stc.analysis.stage_legality import STAGES, illegal_ops
from stc.diagnostics import CompileError
from stc.dialects.context import make_context
from stc.dialects.preconditions import unfit_for_passes
from stc.execution.run import execute, main_function
from stc.execution.work import MOST_STEPS, TooLong, refuse_long_runs
from stc.pipeline import Step
from stc.tools.check_semantics import compare, random_inputs, result_names
from stc.tools.crashes import innermost_frames, one_line, spelled_error

CHECKING_PASSES = frozenset({"verify-streams", "verify-bounds"})
"""Passes that only look: where one refuses, the IR it got is at fault, hence a pass before it."""
_SEVERE = 1e-3
"""A relative error that no rounding explains: while reducing, a severe difference may not fade into a rounding."""


class BreakKind(StrEnum):
    """How a pass breaks a compile; the value completes "pass 'x' ..."."""

    CRASH = "crashes"
    INVALID = "leaves IR that does not verify"
    ILLEGAL = "leaves what its stage should have removed"
    STUCK = "leaves IR that cannot be executed"
    VALUE = "changes what the module computes"
    CHECK = "leaves IR that a check refuses"
    REFUSAL = "refuses the input"


@dataclass(frozen=True)
class Break:
    """One failure. `signature` is the class of its message: what must stay equal while the IR around it shrinks.

    `error` is the largest difference relative to the largest magnitude of the result (`VALUE` only), infinite where shapes, types
    or finiteness differ. `frames` are the innermost frames of a crash, innermost last. `blamed` is the pass that should have done
    something (`ILLEGAL` only), None where it is the last one that ran.
    """

    kind: BreakKind
    message: str
    signature: str
    error: float = 0.0
    frames: tuple[str, ...] = ()
    blamed: str | None = None

    def is_like(self, other: Break) -> bool:
        """Whether `other` is the same failure, perhaps of a smaller module."""
        same = self.kind == other.kind and self.signature == other.signature
        return same and other.error >= min(self.error, _SEVERE)


class Walk:
    """Takes one module through passes, in place, with every check after each.

    `notes` says what could not be checked. Values are compared with those of the last module that was executed: `unexecuted` counts
    the passes since then. What takes more than `most_steps` operations is not executed.
    """

    def __init__(self, module: ModuleOp, seed: int, most_steps: int = MOST_STEPS):
        self.module = module
        self.most_steps = most_steps
        self.context = make_context()
        self.notes: list[str] = []
        self.unexecuted = 0
        self.results: list[np.ndarray] | None = None
        self.inputs: list[np.ndarray] = []
        self.names: list[str] = []
        try:
            refuse_long_runs(main_function(module), most_steps)
            self.inputs = random_inputs(module, seed)
            self.names = result_names(module)
            self.results = execute(module, self.inputs, most_steps=most_steps)
        except Exception as error:
            self.notes.append(f"values are not compared, since the input cannot be executed: {spelled_error(error)}")

    def step(self, step: Step) -> Break | None:
        """Apply a pass and check what it left; the first failure."""
        return self._applied(step.one_pass) or self._verified() or self._legal(step) or self._executed(step.one_pass.name)

    def _applied(self, one_pass: ModulePass) -> Break | None:
        try:
            one_pass.apply(self.context, self.module)
        except (CompileError, DiagnosticException) as error:
            kind = BreakKind.CHECK if one_pass.name in CHECKING_PASSES else BreakKind.REFUSAL
            return Break(kind, one_line(error), message_class(_complaint(error)))
        except Exception as error:
            return crash_of(error)
        return None

    def _verified(self) -> Break | None:
        violation = unfit_for_passes(self.module)
        if violation is None:
            return None
        return Break(BreakKind.INVALID, str(violation), message_class(str(violation)))

    def _legal(self, step: Step) -> Break | None:
        if not step.ends_stage or step.stage.name not in STAGES:
            return None
        found = next(illegal_ops(self.module, step.stage.name), None)
        if found is None:
            return None
        return Break(BreakKind.ILLEGAL, str(found), message_class(str(found)), blamed=found.remover)

    def _executed(self, name: str) -> Break | None:
        if self.results is None:
            return None
        self.unexecuted += 1
        try:
            results = execute(self.module, self.inputs, most_steps=self.most_steps)
        except TooLong as refusal:
            self.notes.append(f"values are not compared after '{name}': {refusal}")
            return None
        except CompileError as error:
            return Break(BreakKind.STUCK, one_line(error), message_class(_complaint(error)))
        except Exception as error:  # the executor met IR that nobody should have left
            signature = f"{type(error).__name__} in the executor"
            return Break(BreakKind.STUCK, spelled_error(error), signature, frames=innermost_frames(error))
        broken = changed_value(self.results, results, self.names)
        self.results, self.unexecuted = results, 0
        return broken


def crash_of(error: Exception) -> Break:
    """The break that an unexpected exception of a pass is."""
    frames = innermost_frames(error)
    where = re.sub(r":\d+", "", frames[-1]) if frames else ""
    return Break(BreakKind.CRASH, spelled_error(error), f"{type(error).__name__} in {where}", frames=frames)


def changed_value(before: Sequence[np.ndarray], after: Sequence[np.ndarray], names: Sequence[str]) -> Break | None:
    """The break that a difference between two lists of results is."""
    difference = compare(before, after, names)
    if difference is None:
        return None
    error = _largest_error(before, after)
    text = str(difference) if np.isinf(error) else f"{difference} (largest error {error:.2g} of the result's magnitude)"
    return Break(BreakKind.VALUE, text, "shape" if not difference.index and np.isinf(error) else "value", error)


def _largest_error(before: Sequence[np.ndarray], after: Sequence[np.ndarray]) -> float:
    if len(before) != len(after):
        return float("inf")
    return max((_relative_error(old, new) for old, new in zip(before, after, strict=True)), default=0.0)


def _relative_error(old: np.ndarray, new: np.ndarray) -> float:
    """Largest difference over largest magnitude; infinite where shapes, types or what is not finite differ."""
    if old.shape != new.shape or old.dtype != new.dtype:
        return float("inf")
    old, new = old.astype(np.float64), new.astype(np.float64)
    finite = np.isfinite(old)
    if not np.array_equal(finite, np.isfinite(new)) or not np.array_equal(old[~finite], new[~finite], equal_nan=True):
        return float("inf")
    scale = np.max(np.abs(old[finite]), initial=0.0)
    error = np.max(np.abs(old[finite] - new[finite]), initial=0.0)
    if error == 0:
        return 0.0
    return float(error / scale) if scale else float("inf")


# Messages -------------------------------------------------------------------------------------------------------------


def message_class(message: str) -> str:
    """A message without what depends on the module at hand: numbers, names, types, lists."""
    text = re.sub(r"[%@!#][\w.$-]+", "~", message)
    while (shorter := re.sub(r"<[^<>]*>|\([^()]*\)|\[[^\[\]]*\]", "", text)) != text:
        text = shorter
    return " ".join(re.sub(r"\d+", "#", text).split())


def _complaint(error: BaseException) -> str:
    """The message without its place."""
    return f"{type(error).__name__}: {error.what}" if isinstance(error, CompileError) else one_line(error)
