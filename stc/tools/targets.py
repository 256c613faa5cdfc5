"""What `--target` stands for: options of one kind of accelerator, where nothing else is said, and what follows from the model."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from stc.diagnostics import CompileError
from stc.pipeline import ADDERS, APART, BEHIND_LAYERS, BY_HEAD, BY_POSITION, IN_TURN, SHARED, PipelineOptions
from stc.quantisation.formats import BF16, read_quantisation
from stc.tools.request import DECODER, STAGES, WHOLE_MODEL, CompileRequest

TARGETS = (STAGES, DECODER)

OF_DECODER: Mapping[str, Any] = {
    "rows": 1, "units": "memory", "weight_ports": IN_TURN, "contractions": SHARED, "sums": IN_TURN, "conversions": ADDERS,
    "head": BEHIND_LAYERS, "caches": BY_POSITION,
}  # fmt: skip
"""Options of a decoder. All contractions of parameters take turns in one array, whose weights each port brings one after the other.
A launch has all layers and the head, which may follow them only where a prompt takes its tokens one by one. A burst brings what all
heads have at all positions, but for models whose prompts have launches of their own."""

OF_PROMPTS: Mapping[str, Any] = {"head": APART, "caches": BY_HEAD}
"""The same of one whose prompts have launches of their own, in place of those."""


def with_target(options: Mapping[str, Any], target: str, given: Collection[str]) -> dict[str, Any]:
    """`options` by name with those of `target` where they are not among the `given` ones, nor excluded by these. CompileError for
    what is no target."""
    if target not in TARGETS:
        raise CompileError(f"--target {target}", accepted=" or ".join(TARGETS))
    if target == STAGES:
        return dict(options)
    found = {**options, **{name: value for name, value in OF_DECODER.items() if name not in given}}
    if found["weight_ports"] == APART and "contractions" not in given:
        found["contractions"] = APART
    if found["contractions"] == APART and "sums" not in given:
        found["sums"] = APART
    if found["rows"] > 1:  # a prompt has launches of its own
        found |= {name: value for name, value in OF_PROMPTS.items() if name not in given}
    return found


def for_layers(request: CompileRequest, kinds: Sequence[str]) -> CompileRequest:
    """`request` for a model with layers of these `kinds`: of a decoder as many layers are in a launch as can be, where it does not
    say how many; the head follows them if these are all, where it does not say where that is. What the target says counts as given:
    schedules do not undo it, but for `sums`: lanes of a schedule were chosen for them as they were then."""
    if request.target != DECODER:
        return request
    options, given = request.options, request.given
    are_single = options.units == PipelineOptions.units or read_quantisation(options.quantize).kv == BF16
    count = options.layers if "layers" in given else 1 if are_single else most_in_a_row(kinds)
    head = options.head if "head" in given or count == len(kinds) else APART
    return replace(request, options=replace(options, layers=count, head=head), given=given | OF_DECODER.keys() - {"sums"})


def most_in_a_row(kinds: Sequence[str]) -> int:
    """The most layers of one kind that each launch can have, where all have as many."""
    return max(count for count in range(1, len(kinds) + 1) if are_rows(kinds, count))


def are_rows(kinds: Sequence[str], count: int) -> bool:
    """Whether layers of these kinds are rows of `count` of one kind."""
    return len(kinds) % count == 0 and all(len({*kinds[first : first + count]}) == 1 for first in range(0, len(kinds), count))


OF_ONE_STAGE = {
    "seq": "--rows N for tokens of a prompt's launch, --max-seq N for positions",
    "layer": "--stage prefill or decode, and no --target: a whole model has all layers",
}
"""Options that say which part of a model is compiled, by name, and what is accepted in their place where all of it is."""


def stage_of(target: str, stage: str, given: Collection[str]) -> str:
    """The stage that is compiled: of a decoder all. CompileError where another one is said, or which part of a whole model."""
    if target == DECODER and "stage" in given and stage != WHOLE_MODEL:
        raise CompileError(f"--target {DECODER} with --stage {stage}", accepted=f"--stage {WHOLE_MODEL}, or no --target")
    if target != DECODER and stage != WHOLE_MODEL:
        return stage
    whole = f"--target {DECODER}" if target == DECODER else f"--stage {WHOLE_MODEL}"
    if (name := next((name for name in OF_ONE_STAGE if name in given), None)) is not None:
        raise CompileError(f"--{name.replace('_', '-')} with {whole}", accepted=OF_ONE_STAGE[name])
    return WHOLE_MODEL
