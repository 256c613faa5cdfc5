"""What `stc-opt` lists: passes, and the stages of the named pipelines with the passes as they run them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.utils.arg_spec import ArgSpec, ParameterListType

from stc.analysis.stage_legality import STAGES
from stc.pipeline import PIPELINES, PipelineOptions, Step, hyphenated, stages, steps
from stc.transforms import all_passes
from stc.transforms.pass_pipeline import describe, spelled_option
from stc.transforms.registry import PassFactory


def list_of_passes(passes: Mapping[str, PassFactory]) -> str:
    """Every pass with its options and documentation."""
    return "\n\n".join(describe(factory()) for factory in passes.values())


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
    return [name for name in map(hyphenated, STAGES) if name.startswith(incomplete)]


def complete_part(incomplete: str) -> list[str]:
    """Names of stages, and of passes as the pipeline runs them."""
    return complete_stage(incomplete) + [step.label for step in default_steps() if step.label.startswith(incomplete)]


def complete_pipeline(incomplete: str) -> list[str]:
    """Names of pipelines."""
    return [name for name in PIPELINES if name.startswith(incomplete)]
