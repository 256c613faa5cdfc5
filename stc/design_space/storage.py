"""Which memory each buffer is built of: a small program over all of them, without IR.

Each buffer has options, and each option takes shares of what a plan may use of the device's resources. The largest share in use is
made as small as may be; below `COMFORTABLE` no share matters, and everywhere the sum of all shares decides among equals.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import TypeVar

import pulp

Shares = Mapping[str, float]
"""By resource, a part of what a plan may use of it."""
Option = TypeVar("Option", bound=Hashable)

COMFORTABLE = 0.5
"""A share that costs no speed: what is placed with half of the plan to spare finds room."""
SUM_WEIGHT = 1e-3
"""Of the sum of all shares, against the largest."""
GAP = 1e-4
"""How far above the optimum the choice may be, as a part of it."""
SCALE = 1e4
"""The program counts in hundredths of a per cent, so that single memories are well above the solver's tolerances."""


def choose_memories(buffers: Sequence[Mapping[Option, Shares]], used: Shares) -> list[Option]:
    """The option of each buffer, in order; `used`: what everything else takes. Equal buffers are decided together, the first of
    them for what their options name first. ValueError where a buffer has no option."""
    if not all(buffers):
        raise ValueError("a buffer has no option")
    groups: dict[tuple[tuple[Option, tuple[tuple[str, float], ...]], ...], list[int]] = {}
    for index, options in enumerate(buffers):
        groups.setdefault(_undominated(options), []).append(index)
    chosen: dict[int, Option] = {}
    undecided = {options: indices for options, indices in groups.items() if len(options) > 1}
    taken = dict(used)
    for options, indices in groups.items():
        if len(options) == 1:
            ((option, shares),) = options
            chosen |= dict.fromkeys(indices, option)
            for resource, share in shares:
                taken[resource] = taken.get(resource, 0.0) + len(indices) * share
    for (options, indices), counts in zip(undecided.items(), _counts(undecided, taken), strict=True):
        in_order = [option for (option, _), count in zip(options, counts, strict=True) for _ in range(count)]
        chosen |= dict(zip(indices, in_order, strict=True))
    return [chosen[index] for index in range(len(buffers))]


def _undominated(options: Mapping[Option, Shares]) -> tuple[tuple[Option, tuple[tuple[str, float], ...]], ...]:
    """The options that no other is at most as large as in every resource; the first of equal ones."""

    def is_needless(option: Option, place: int) -> bool:
        mine = options[option]
        return any(
            other is not option
            and all(share <= mine.get(resource, 0.0) for resource, share in its.items())
            and (its != mine or other_place < place)
            for other_place, (other, its) in enumerate(options.items())
        )

    kept = [option for place, option in enumerate(options) if not is_needless(option, place)]
    return tuple((option, tuple(sorted((name, share) for name, share in options[option].items() if share))) for option in kept)


def _counts(groups: Mapping[tuple[tuple[Option, tuple[tuple[str, float], ...]], ...], list[int]], used: Shares) -> list[list[int]]:
    """How many of each group take each of its options."""
    if not groups:
        return []
    problem = pulp.LpProblem("memories", pulp.LpMinimize)
    largest = pulp.LpVariable("largest", SCALE * COMFORTABLE)
    taken = {resource: [pulp.lpSum([SCALE * share])] for resource, share in used.items()}
    variables: list[list[pulp.LpVariable]] = []
    for n, (options, indices) in enumerate(groups.items()):
        picks = [pulp.LpVariable(f"n_{n}_{i}", 0, len(indices), pulp.LpInteger) for i in range(len(options))]
        problem += pulp.lpSum(picks) == len(indices)
        for (_, shares), pick in zip(options, picks, strict=True):
            for resource, share in shares:
                taken.setdefault(resource, []).append(SCALE * share * pick)
        variables.append(picks)
    for terms in taken.values():
        problem += pulp.lpSum(terms) <= largest
    problem += largest + SUM_WEIGHT * pulp.lpSum(term for terms in taken.values() for term in terms)
    problem.solve(pulp.HiGHS(msg=False, gapRel=GAP))
    if pulp.LpStatus[problem.status] != "Optimal":
        raise ValueError(f"the choice of memories has status {pulp.LpStatus[problem.status]}")
    return [[round(pick.value() or 0) for pick in picks] for picks in variables]
