"""What `stc-opt` lists: passes, and the stages of the named pipelines with the passes as they run them."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Mapping, Sequence

from xdsl.passes import ModulePass
from xdsl.utils.arg_spec import ArgSpec, ParameterListType

from stc.extensions import loaded_files, said
from stc.pipeline import PIPELINES, PipelineOptions, Step, hyphenated, stages, steps
from stc.strategies.registry import registered_by
from stc.transforms import UPSTREAM_PASSES, all_passes, our_passes
from stc.transforms.pass_pipeline import describe, documentation, spelled_option
from stc.transforms.registry import PassFactory, PassTable

LONGEST_SUMMARY = 110
"""Characters of a pass's line in the list, behind its name."""


def list_of_passes() -> str:
    """Every pass that `-p` accepts, one line each, by where it comes from; and which packages could not be asked."""
    installed = PassTable({}).installed
    ours = our_passes()
    sections = {
        "stc": ours,
        "xDSL": {name: factory for name, factory in UPSTREAM_PASSES.items() if name not in ours},
        **{str(loaded.path): {name: _constant(kind) for name, kind in loaded.passes.items()} for loaded in loaded_files()},
    }
    for name, offers in installed.offers.items():
        for package, factory in offers.items():
            sections.setdefault(f"package {package}", {})[name] = factory
    lines = [line for title, passes in sections.items() for line in _section(title, passes)]
    for loaded in loaded_files():
        lines += [f"{loaded.path} also has {what}" for what in registered_by(loaded.path)]
    return "\n".join([*lines, *(f"note: {failure}" for failure in installed.failures)])


def _section(title: str, passes: Mapping[str, PassFactory]) -> list[str]:
    width = max(map(len, passes), default=0)
    return [f"{title}:", *(f"  {name:{width}}  {_one_line(factory)}".rstrip() for name, factory in sorted(passes.items()))]


def _constant(kind: type[ModulePass]) -> PassFactory:
    return lambda: kind


def _one_line(factory: PassFactory) -> str:
    """The first sentence of what a pass says of itself."""
    try:
        text = documentation(factory())
    except Exception as error:  # what a package of others needs may be missing
        return f"(cannot be imported: {said(error)})"
    first = " ".join(text.partition("\n\n")[0].split())
    return textwrap.shorten(re.split(r"(?<=[.:]) ", first)[0], LONGEST_SUMMARY, placeholder=" ...")


def list_of_pipelines() -> str:
    """Every pipeline with its options and documentation, its stages, and their passes with the options they are given."""
    return "\n\n".join(f"{describe(factory())}\n\n{_stages(default_steps())}" for factory in PIPELINES.values())


def default_steps() -> list[Step]:
    """What the pipeline runs unless it is told otherwise."""
    return steps(stages(PipelineOptions()))


def _stages(whole: Sequence[Step]) -> str:
    lines: list[str] = []
    stage = None
    for step in whole:
        if step.stage is not stage:
            stage = step.stage
            lines.append(f"    {hyphenated(stage.name)}")
        given = ArgSpec(step.label, {spelled_option(name): value for name, value in _options(step).items()})
        lines.append(f"        {given}")
    return "\n".join(lines)


def _options(step: Step) -> Mapping[str, ParameterListType]:
    return step.one_pass.spec(include_default=True).parameters


# Completion -----------------------------------------------------------------------------------------------------------


def complete_passes(incomplete: str) -> list[str]:
    """Pipelines of passes that continue `incomplete`."""
    done, comma, last = incomplete.rpartition(",")
    return [done + comma + name for name in all_passes() if name.startswith(last)]


def complete_pass(incomplete: str) -> list[str]:
    """Names of passes."""
    return [name for name in all_passes() if name.startswith(incomplete)]


def complete_stage(incomplete: str) -> list[str]:
    """Names of stages."""
    from stc.analysis.stage_legality import STAGES

    return [name for name in map(hyphenated, STAGES) if name.startswith(incomplete)]


def complete_part(incomplete: str) -> list[str]:
    """Names of stages, and of passes as the pipeline runs them."""
    return complete_stage(incomplete) + [step.label for step in default_steps() if step.label.startswith(incomplete)]


def complete_pipeline(incomplete: str) -> list[str]:
    """Names of pipelines."""
    return [name for name in PIPELINES if name.startswith(incomplete)]
