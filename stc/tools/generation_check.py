"""What a compiled language model wrote, beside what PyTorch's model would have written."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from stc.manifest.model_schema import ModelManifest


@dataclass(frozen=True)
class Distance:
    """How far the logits behind some tokens are from those of a model in PyTorch behind the same tokens.

    `equal` of `tokens` have the same largest logit; `first`: the number of the first that has not, from 0. `near_ties`: how many
    of the others PyTorch's own two logits of come within the tolerance, as a part of its largest. `worst`: the largest difference
    of a logit, as a part of the largest.
    """

    tokens: int
    equal: int
    first: int | None
    near_ties: int
    worst: float

    def told(self, whose: str) -> str:
        """In one sentence, `whose` tokens the others are."""
        differ = "" if self.first is None else f", the first other is number {self.first + 1}, near-ties: {self.near_ties}"
        return f"{self.equal} of {self.tokens} tokens are {whose}{differ}; logits differ by {self.worst:.1e} of the largest at most"

    @property
    def passed(self) -> bool:
        """Whether no token differs but near-ties."""
        return self.equal + self.near_ties == self.tokens


def distance(logits: np.ndarray, expected: np.ndarray, tolerance: float) -> Distance:
    """`logits`, `expected` [tokens, vocabulary]."""
    rows, chosen, best = np.arange(len(logits)), logits.argmax(1), expected.argmax(1)
    differ = chosen != best
    gap = expected[rows, best] - expected[rows, chosen]
    largest = np.abs(expected).max(1)
    first = int(differ.argmax()) if differ.any() else None
    worst = float(np.abs(logits - expected).max() / largest.max())
    near = int((differ & (gap < tolerance * largest)).sum())
    return Distance(len(logits), int((~differ).sum()), first, near, worst)


@dataclass(frozen=True)
class GenerationCheck:
    """The distances from PyTorch: of the model that computes as the compiled one; where that is quantised, of f32, too."""

    reference: Distance
    f32: Distance | None

    def told(self) -> Iterator[str]:
        """In sentences."""
        name = "PyTorch's" if self.f32 is None else "the quantised reference's"
        yield f"{self.reference.told(name)} (executed by PyTorch behind the same tokens)"
        if self.f32 is not None:
            yield self.f32.told("the f32 model's")


def check_generation(model: ModelManifest, prompt: Sequence[int], written: Sequence[int], logits: np.ndarray) -> GenerationCheck:
    """Of `logits` [written, vocabulary], by which `written` were chosen behind `prompt`.

    The model is read again from where `model` says it is from, and gets all tokens at once. CompileError where it is not there.
    """
    import torch

    from stc.frontend.sources import find_language_model

    source = model.source
    found = find_language_model(source["model"], max_seq=model.max_seq, seed=source["seed"], weights=source["weights"]).model
    tokens = torch.tensor([[*prompt, *written[:-1]]])

    def of(quantize: str) -> Distance:
        with torch.no_grad():
            expected = found.whole(quantize)(tokens, use_cache=True).logits[0].numpy()
        return distance(logits, expected[len(prompt) - 1 :], model.tolerance)

    quantize = source["quantize"]
    return GenerationCheck(of(quantize), of("") if quantize else None)
