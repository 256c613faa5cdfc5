"""Which passes a compile runs: those of the pipeline, with a researcher's edits, from the first or from a later one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from xdsl.passes import ModulePass

from stc.diagnostics import CompileError
from stc.pipeline import PipelineOptions, Stage, Step, places, stages, steps
from stc.transforms import all_passes
from stc.transforms.pass_pipeline import read_pipeline

KINDS = ("before", "after", "replace")


@dataclass(frozen=True)
class Edit:
    """Passes (as `-p` takes them, perhaps none) before, after or in place of `place`: a pass or a stage of the pipeline."""

    kind: str
    place: str
    passes: str

    def __str__(self) -> str:
        return f"{self.kind} {self.place}={self.passes}"


def read_edit(text: str) -> Edit:
    """The edit that `str` makes this text of; CompileError for any other text."""
    kind, _, rest = text.partition(" ")
    place, equals, passes = rest.partition("=")
    if kind not in KINDS or not equals:
        raise CompileError(f"'{text}' is no change of a pipeline", accepted=f"{' or '.join(KINDS)} PASS=PASSES")
    return Edit(kind, place, passes)


@dataclass(frozen=True)
class Plan:
    """The passes of a compile: the pipeline with `edits`, or `passes` in its place (as `-p` takes them)."""

    passes: str = ""
    edits: tuple[Edit, ...] = ()

    def steps(self, options: PipelineOptions) -> list[Step]:
        """All passes, ready to run; CompileError for an unknown pass, option or place."""
        if self.passes:
            return steps((Stage("-p", tuple(read_pipeline(self.passes, all_passes()))),))  # wrong options are known now
        return steps(_edited(stages(options), self.edits))


def asked_plan(passes: str, before: Sequence[str], after: Sequence[str], replaced: Sequence[str]) -> Plan:
    """What `-p`, `--before`, `--after` and `--replace` say: PASS=PASSES, or PASS alone for the passes of `-p`.

    CompileError where it is not clear which passes go where.
    """
    asked = [(kind, text) for kind, texts in zip(KINDS, (before, after, replaced), strict=True) for text in texts]
    if nowhere := next((f"--{kind} {text}" for kind, text in asked if not text.partition("=")[0].strip()), None):
        raise CompileError(f"{nowhere} names no place", accepted="PASS=PASSES, where PASS is a pass or a stage of the pipeline")
    bare = [f"--{kind} {text}" for kind, text in asked if "=" not in text]
    if len(bare) > 1 or (bare and not passes):
        raise CompileError(f"passes are missing in {' and '.join(bare)}", accepted="PASS=PASSES, or PASS with -p PASSES, once")
    if passes and asked and not bare:
        kind, text = asked[0]
        raise CompileError(f"-p replaces the pipeline, which --{kind} {text} changes", accepted="one of the two")
    edits = [Edit(kind, *_parted(text, passes)) for kind, text in asked]
    return Plan("" if bare else passes, tuple(edits))


def _parted(text: str, passes: str) -> tuple[str, str]:
    place, equals, own = text.partition("=")
    return place, own if equals else passes


def _edited(sequence: Sequence[Stage], edits: Sequence[Edit]) -> list[Stage]:
    """The stages with all edits made; each names its place in the pipeline as it is without the others."""
    if not edits:
        return list(sequence)
    whole = steps(sequence)
    before: list[list[ModulePass]] = [[] for _ in whole]
    after: list[list[ModulePass]] = [[] for _ in whole]
    retained: list[list[ModulePass] | None] = [None for _ in whole]
    for edit in edits:
        own, found = read_pipeline(edit.passes, all_passes()), places(whole, edit.place)
        if edit.kind == "before":
            before[found[0]] += own
        elif edit.kind == "after":
            after[found[-1]] += own
        else:
            for index in found:
                if retained[index] is not None:
                    raise CompileError(f"'{whole[index].label}' is replaced twice", where=str(edit), accepted="one --replace of it")
                retained[index] = own if index == found[0] else []
    edited: list[Stage] = []
    for stage, own_steps in groupby(enumerate(whole), key=lambda entry: entry[1].stage):
        passes: list[ModulePass] = []
        for index, step in own_steps:
            passes += [*before[index], *([step.one_pass] if retained[index] is None else retained[index] or ()), *after[index]]
        edited.append(replace(stage, passes=tuple(passes)))
    return edited


def as_stages(part: Sequence[Step]) -> list[Stage]:
    """Steps in a row as stages again."""
    return [
        replace(stage, passes=tuple(step.one_pass for step in own)) for stage, own in groupby(part, key=lambda step: step.stage)
    ]
