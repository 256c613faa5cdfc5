"""What a compiled language model wrote, beside what PyTorch's model would have written."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from stc.codegen.tolerances import SAFETY
from stc.manifest.model_schema import ModelManifest


@dataclass(frozen=True)
class Distance:
    """How far the logits behind some tokens are from those of a model in PyTorch behind the same tokens.

    `equal` of `tokens` have the same largest logit; `first`: the number of the first that has not, from 0. `near_ties`: how many
    of the others rounding errors decide. `worst`: the largest difference of a logit, as a part of the largest. `noise`: by how
    much rounding errors move the margin of a token that differs, the most of them, as a part of the token's largest logit; None
    where that was not asked.
    """

    tokens: int
    equal: int
    first: int | None
    near_ties: int
    worst: float
    noise: float | None = None

    def told(self, whose: str) -> str:
        """In one sentence, `whose` tokens the others are."""
        differ = "" if self.first is None else f", the first other is number {self.first + 1}, near-ties: {self.near_ties}"
        if self.noise is not None:
            differ += f" (rounding errors move a margin by {self.noise:.1e})"
        return f"{self.equal} of {self.tokens} tokens are {whose}{differ}; logits differ by {self.worst:.1e} of the largest at most"

    @property
    def passed(self) -> bool:
        """Whether no token differs but near-ties."""
        return self.equal + self.near_ties == self.tokens


def distance(
    logits: np.ndarray, expected: np.ndarray, tolerance: float, noisy: Iterable[np.ndarray] | None = None
) -> Distance:
    """`logits`, `expected` [tokens, vocabulary]; `noisy`: what noise of the size of rounding errors makes of `expected`, which is
    asked where a token differs by more than f32 does.

    A margin is a logit of `expected`'s token less that of the token chosen. A token that differs is a near-tie where the expected
    margin is less than `tolerance` of the largest logit; or it is no more than runs with noise move it by, and the margin in
    `logits` is as near to it as an output of a design has to be: `SAFETY` times that. So integers at a tie may become others, as
    they do in the reference; a fault that moves a margin further is found.
    """
    rows, chosen, best = np.arange(len(logits)), logits.argmax(1), expected.argmax(1)

    def margins(of: np.ndarray) -> np.ndarray:
        return of[rows, best].astype(np.float64) - of[rows, chosen]

    differ, margin = chosen != best, margins(expected)
    largest = np.abs(expected).max(1)
    is_near = differ & (margin < tolerance * largest)
    noise = None
    if noisy is not None and (differ & ~is_near).any():
        moved = np.max([np.zeros(len(rows)), *(np.abs(margins(run) - margin) for run in noisy)], axis=0)
        is_near |= differ & (margin <= moved) & (margin - margins(logits) <= SAFETY * moved)
        noise = float((moved / largest)[differ].max())
    first = int(differ.argmax()) if differ.any() else None
    worst = float(np.abs(logits - expected).max() / largest.max())
    return Distance(len(logits), int((~differ).sum()), first, int(is_near.sum()), worst, noise)


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

    from stc.frontend.draws import NOISY_ENTRIES
    from stc.frontend.rounding_noise import RoundingNoise
    from stc.frontend.sources import find_language_model

    source = model.source
    found = find_language_model(source["model"], max_seq=model.max_seq, seed=source["seed"], weights=source["weights"]).model
    tokens = torch.tensor([[*prompt, *written[:-1]]])

    def of(quantize: str, *, with_noise: bool) -> Distance:
        module = found.whole(quantize)

        def run() -> np.ndarray:
            return module(tokens, use_cache=True).logits[0, len(prompt) - 1 :].numpy()

        def noisy() -> Iterator[np.ndarray]:
            random = np.random.default_rng(source["seed"])
            for _ in range(NOISY_ENTRIES):
                with RoundingNoise(random):
                    yield run()

        with torch.no_grad():
            return distance(logits, run(), model.tolerance, noisy() if with_noise else None)

    quantize = source["quantize"]
    return GenerationCheck(of(quantize, with_noise=True), of("", with_noise=False) if quantize else None)
