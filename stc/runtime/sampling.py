"""The next token from logits: greedily, or drawn from those that are most probable."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from stc.diagnostics import CompileError

ACCEPTED = "temperature,top-p,seed, such as 0.8,0.9,1: a temperature above 0, a top-p in (0, 1], a whole seed"


@dataclass(frozen=True)
class Sampling:
    """Draw from the fewest tokens that together have probability `top_p`, at `temperature`; equal seeds draw equally."""

    temperature: float
    top_p: float
    seed: int

    def __post_init__(self):
        if not (0 < self.temperature < np.inf and 0 < self.top_p <= 1 and self.seed >= 0):
            raise CompileError(f"sampling with {self.temperature},{self.top_p},{self.seed}", accepted=ACCEPTED)

    def token(self, logits: np.ndarray, random: np.random.Generator) -> int:
        """A token, for logits in one dimension."""
        scaled = (logits.astype(np.float64) - logits.max()) / self.temperature
        probable = np.exp(scaled)
        probable /= probable.sum()
        order = np.argsort(-probable, kind="stable")
        kept = order[: int(np.searchsorted(np.cumsum(probable[order]), self.top_p)) + 1]
        return int(random.choice(kept, p=probable[kept] / probable[kept].sum()))


def read_sampling(text: str) -> Sampling | None:
    """The sampling that `text` says (`temperature,top-p,seed`), None where it is empty; CompileError where it says none."""
    if not text:
        return None
    try:
        temperature, top_p, seed = text.split(",")
        return Sampling(float(temperature), float(top_p), int(seed))
    except ValueError:
        raise CompileError(f"--sample {text}", accepted=ACCEPTED) from None


def margin(logits: np.ndarray) -> float:
    """How far the two largest logits lie apart, as a part of the largest magnitude; infinite where there is one alone."""
    if logits.size < 2:
        return np.inf
    second, first = np.partition(logits, -2)[-2:]
    return float(first - second) / max(float(np.abs(logits[np.isfinite(logits)]).max(initial=0)), float(np.finfo(np.float32).tiny))
