"""What the stages of a model share of its parameters, and what they do not, and why."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from stc.manifest.layouts import differing, told
from stc.manifest.model_files import MODEL
from stc.manifest.model_schema import LayerKind, LayerParameter, ModelManifest

MOST_TOLD = 3
"""Parameters of which a sentence says why they are not shared."""


@dataclass(frozen=True)
class Sharing:
    """Bytes of the packed parameters of all layers: `shared`, that all stages of a layer take, and `apart`, that some take.
    `reasons`: why these are not others', too; one for each parameter."""

    shared: int
    apart: int
    reasons: tuple[str, ...]

    def __str__(self) -> str:
        told = f"{self.shared:,} bytes of parameters, which all stages of a layer take"
        if not self.apart:
            return told
        first, others = self.reasons[:MOST_TOLD], len(self.reasons) - MOST_TOLD
        more = f"; and {others} others ({MODEL} has all layouts)" if others > 0 else ""
        return f"{told}; {self.apart:,} that do not lie alike: {'; '.join(first)}{more}"


def sharing(model: ModelManifest) -> Sharing:
    """That of a model's layers."""
    sizes = {True: 0, False: 0}
    for layer in model.layers:
        kind = model.kinds[layer.kind]
        for parameter in kind.parameters:
            sizes[_is_shared(kind, parameter)] += parameter.layout.bytes
    reasons = dict.fromkeys(reason for kind in model.kinds.values() for reason in _reasons(kind))
    return Sharing(sizes[True], sizes[False], tuple(reasons))


def _is_shared(kind: LayerKind, parameter: LayerParameter) -> bool:
    return parameter.buffers.keys() == kind.stages.keys()


def _reasons(kind: LayerKind) -> Iterator[str]:
    """Of each parameter that not all stages take, beside what another stage has under its name."""
    for parameter in kind.parameters:
        if _is_shared(kind, parameter):
            continue
        (stage, name), *_ = parameter.buffers.items()
        others = [it for it in kind.parameters if it is not parameter and name in it.buffers.values()]
        if not others:
            yield f"{name} ({stage} alone has it)"
        elif others[0].offset > parameter.offset:  # of a pair, the first says it
            entries = differing(parameter.layout, others[0].layout)
            other = next(iter(others[0].buffers))
            lie = f"{told(parameter.layout, entries)} for {stage}, {told(others[0].layout, entries)} for {other}"
            yield f"{name} ({lie if entries else f'computed in another way for {other}'})"
