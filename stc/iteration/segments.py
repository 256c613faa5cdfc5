"""Segments: parts of a stream that accesses of one port take one after the other. Free of IR.

A stream is one affine nest of tokens, and one access of a task usually takes all of them. Where a task has several nests that use
the same port in turn, each takes a *segment*: so many tokens, from a first one on, counted in the order of the stream.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from stc.iteration.size import Size, are_equal, minimum, product_of, sum_of


@dataclass(frozen=True)
class Segment:
    """The `tokens` tokens of a stream from token `first` on (the first token is 0)."""

    first: Size
    tokens: Size

    def __post_init__(self) -> None:
        for what, size in (("first token", self.first), ("number of tokens", self.tokens)):
            if minimum(size) < 0:
                raise ValueError(f"segment has {what} {size}, which may be {minimum(size)}, expected at least 0")

    @property
    def end(self) -> Size:
        """The token behind the last."""
        return sum_of(self.first, self.tokens)

    def scaled(self, pieces: int) -> Segment:
        """The segment where each token crosses in `pieces` tokens."""
        return Segment(product_of(self.first, pieces), product_of(self.tokens, pieces))

    def __str__(self) -> str:
        return f"{self.first}, {self.tokens}"


def complaint_about_cover(segments: Sequence[Segment], tokens: Size) -> str | None:
    """Why `segments`, in the order of their accesses, are not the `tokens` tokens of a stream once each; None where they are."""
    end: Size = 0
    for position, segment in enumerate(segments):
        if not are_equal(segment.first, end):
            before = "the stream begins" if position == 0 else f"segment {position - 1} ends"
            return f"segment {position} begins at token {segment.first}, expected {end}, where {before}"
        end = segment.end
    if not are_equal(end, tokens):
        return f"the last ends at token {end}, expected {tokens}, all tokens of the stream"
    return None
