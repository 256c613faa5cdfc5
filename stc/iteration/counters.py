"""Counters that stand for digits of an iteration's number, so that no divider computes them. Free of IR.

A loop of n iterations can carry, beside its own variable, the values that loops inside one another would have: the innermost
advances in every iteration, each other one where the one inside it wraps around. What such a counter holds is a digit of the
iteration's number in mixed radix; that it does is shown by induction, whatever computes the next value.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from stc.iteration.index_expressions import IndexExpression, Operator, V, computed, variable


@dataclass(frozen=True)
class Counter:
    """In iteration t below `turns` it holds t / `stride` mod `trip` * `step`, in those after 0. All are positive."""

    turns: int
    stride: int
    trip: int
    step: int

    def value(self, turn: IndexExpression[V], most: int) -> IndexExpression[V]:
        """What it holds in iteration `turn` of a loop of `most` iterations."""
        digit = turn.divided(self.stride)
        if self.stride * self.trip < self.turns:
            digit = computed(Operator.REM, digit, IndexExpression(self.trip))
        digit = digit.times(self.step)
        if self.turns >= most:
            return digit
        return computed(Operator.SELECT, turn.less(IndexExpression(self.turns)), digit, IndexExpression(0))


def count_as_said(counters: Mapping[V, Counter], following: Sequence[IndexExpression[V]], turn: V, most: int) -> bool:
    """Whether `counters`, all 0 before the first of `most` iterations, hold what they say in every run of the loop.

    `following`: what the next iteration holds, in the order of `counters`, computed from them and from `turn`, the number of the
    iteration. By induction: if it is true in iteration t, it is in t + 1, and after the last one all are 0 again, as before the
    first: the next run of the loop may go on with them.
    """
    turns = np.arange(most)
    closed = [counter.value(variable(turn), most) for counter in counters.values()]
    held = [np.broadcast_to(np.asarray(value.evaluate({turn: turns})), turns.shape) for value in closed]
    values = {turn: turns, **dict(zip(counters, held, strict=True))}
    for now, expression in zip(held, following, strict=True):
        if now[0] != 0 or not expression.variables() <= values.keys():
            return False
        then = expression.evaluate(values)
        if then is None or not np.array_equal(np.broadcast_to(np.asarray(then), turns.shape), np.roll(now, -1)):
            return False
    return True
