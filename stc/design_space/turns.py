"""Which tensors come through one memory port, and which tasks compute on one set of operators, after one another: without IR."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from itertools import accumulate
from types import MappingProxyType
from typing import TypeVar

Name = TypeVar("Name", bound=Hashable)
Reader = TypeVar("Reader", bound=Hashable)


def after_all(
    readers: Mapping[Name, Collection[Reader]], behind: Mapping[Reader, Collection[Reader]], words: Mapping[Name, object]
) -> Callable[[Name, Name], bool]:
    """Whether all who read one tensor wait for results of each who reads another, and words of both are alike, as those of a port
    are. `behind`: by reader, all who wait for results of it."""

    def may_follow(later: Name, before: Name) -> bool:
        own = readers[later]
        return words[later] == words[before] and all(each in behind[reader] for reader in readers[before] for each in own)

    return may_follow


def chains(
    sizes: Mapping[Name, int], may_follow: Callable[[Name, Name], bool], readers: Mapping[Name, int] = MappingProxyType({})
) -> list[list[Name]]:
    """`sizes`, in topological order of who reads them, as rows of such that each may follow the one before.

    `may_follow(b, a)` is transitive: whoever reads b has to have results of whoever reads a. Each goes to a row that it may follow,
    to one of its own where there is none; so there are as many rows as tensors that are read independently of one another, where
    this order is good. Of several it is one with a tensor of as many `readers` (1 where it is not named), if there is one: each
    reader then has one before it; else one of more, and of no more than there are. Of these it is the one with the fewest bytes.
    """

    def apart(name: Name, row: Sequence[Name]) -> tuple[bool, int]:
        more = readers.get(name, 1) - max(readers.get(other, 1) for other in row)
        return more > 0, abs(more)

    found: list[list[Name]] = []
    for name in sizes:
        possible = [row for row in found if may_follow(name, row[-1])]
        row = min(possible, key=lambda row: (apart(name, row), sum(sizes[other] for other in row)), default=None)
        if row is None:
            found.append([name])
        else:
            row.append(name)
    return found


def rows_of_tasks(lanes: Mapping[Name, int], may_follow: Callable[[Name, Name], bool]) -> list[list[Name]]:
    """Tasks, in topological order, with the lanes of each, as rows of such as each may follow the one before.

    `may_follow(b, a)` is transitive: b has to have results of a. Each goes to the row that has to have the fewest lanes more for
    it, of these to the one with the fewest: the operators of a row are those of its widest task.
    """
    found: list[list[Name]] = []
    for name, count in lanes.items():
        most = [(max(lanes[other] for other in row), row) for row in found if may_follow(name, row[-1])]
        row = min(most, key=lambda each: (max(each[0], count) - each[0], each[0]), default=(0, None))[1]
        if row is None:
            found.append([name])
        else:
            row.append(name)
    return found


def ports_in_turn(needed: Mapping[Name, int], before: Mapping[Name, Collection[Name]]) -> int:
    """Ports of tensors, in topological order, that need so many each: one takes those of tensors that are read `before` it.

    What `before` does not name has ports of its own in any case.
    """
    free: dict[Name, int] = {}
    total = 0
    for name, count in needed.items():
        missing = count
        for other in before.get(name, ()):
            taken = min(missing, free.get(other, 0))
            missing -= taken
            free[other] = free.get(other, 0) - taken
        total += missing
        if name in before:
            free[name] = count
    return total


def dealt_to_ports(names: Sequence[Name], ports: int) -> list[Sequence[Name]]:
    """`names` in order, dealt to so many `ports`, one to each where they are fewer: the first may have one more than the last."""
    each, more = divmod(len(names), ports)
    sizes = [each + (number < more) for number in range(min(ports, len(names)))]
    return [names[end - size : end] for size, end in zip(sizes, accumulate(sizes), strict=True)]
