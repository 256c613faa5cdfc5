"""Sums of products as the text of a matrix multiplication.

Every contraction of two factors over loops is batched: batch axes in both factors and the result, rows in the left only, columns
in the right only, inner axes summed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod


@dataclass(frozen=True)
class Factor:
    """An array whose axes are loops: `loops[k]` is the loop of axis k."""

    text: str
    loops: tuple[int, ...]

    def summed_over(self, loops: Sequence[int]) -> Factor:
        """The factor with `loops` added up."""
        axes = tuple(axis for axis, loop in enumerate(self.loops) if loop in loops)
        if not axes:
            return self
        rest = tuple(loop for loop in self.loops if loop not in loops)
        # By itself numpy adds narrow integers up in int64.
        return Factor(f"np.add.reduce({self.text}, axis={axes}, dtype={self.text}.dtype)", rest)

    def as_matrices(self, groups: Sequence[Sequence[int]], extents: Sequence[int]) -> str:
        """The factor with one axis per group of loops; an empty first group (batch) has none."""
        order = [loop for group in groups for loop in group]
        text = self.text
        axes = tuple(self.loops.index(loop) for loop in order)
        if axes != tuple(range(len(axes))):
            text = f"{text}.transpose({axes})"
        required = [group for index, group in enumerate(groups) if index > 0 or group]
        if any(len(group) != 1 for group in required):
            text = f"{text}.reshape({tuple(prod(extents[loop] for loop in group) for group in required)})"
        return text


def contraction_text(left: Factor, right: Factor, extents: Sequence[int], summed: Sequence[int]) -> tuple[Factor, int]:
    """The sum over loops `summed` of left * right, and how often it must be added up for loops that are in neither."""
    repeats = prod(extents[loop] for loop in summed if loop not in left.loops and loop not in right.loops)
    left = left.summed_over([loop for loop in summed if loop not in right.loops])
    right = right.summed_over([loop for loop in summed if loop not in left.loops])
    both = [loop for loop in left.loops if loop in right.loops]
    inner = [loop for loop in both if loop in summed]
    batch = [loop for loop in both if loop not in summed]
    rows = [loop for loop in left.loops if loop not in both]
    columns = [loop for loop in right.loops if loop not in both]
    first = left.as_matrices((batch, rows, inner), extents)
    second = right.as_matrices((batch, inner, columns), extents)
    text = f"np.matmul({first}, {second})"
    loops = (*batch, *rows, *columns)
    if len(batch) > 1 or len(rows) != 1 or len(columns) != 1:
        text = f"{text}.reshape({tuple(extents[loop] for loop in loops)})"
    return Factor(text, loops), repeats
