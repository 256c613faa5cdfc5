"""The loop of delta debugging: try to leave out much, then less, until nothing more can go.

    reducer = Reducer(fails, limit=400)
    small = reducer.run(module, ALL_REDUCTIONS)
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from xdsl.dialects.builtin import ModuleOp

from stc.dialects.printing import print_module
from stc.dialects.verification import first_violation
from stc_testing.reduction.size import Size, size_of

Oracle = Callable[[ModuleOp], bool]
"""Whether a module, which verifies, still fails in the same way. It may change the module it is given."""


@dataclass(frozen=True)
class Reduction:
    """One way to make a module smaller, item by item.

    `count` says how many items a module has; `apply` removes (or shrinks) a range of them in place, and returns False where it
    cannot, having perhaps changed the module. Both are deterministic.
    """

    name: str
    count: Callable[[ModuleOp], int]
    apply: Callable[[ModuleOp, range], bool]


def item_wise(name: str, items: Callable[[ModuleOp], Sequence[Callable[[], bool]]]) -> Reduction:
    """A reduction whose items can be left out one after another, the last first; a range fails where none of them can be."""

    def apply(module: ModuleOp, chosen: range) -> bool:
        actions = items(module)
        done = [actions[index]() for index in reversed(chosen)]
        return any(done)

    return Reduction(name, lambda module: len(items(module)), apply)


@dataclass
class Reducer:
    """Makes modules smaller while `fails` says that they still fail; asks it at most `limit` times.

    A module is offered to `fails` only if it is smaller, verifies, and was not offered before. `progress` is told the name of
    what is tried, the size so far and the number of calls.
    """

    fails: Oracle
    limit: int
    progress: Callable[[str, Size, int], None] = lambda name, size, calls: None
    calls: int = 0
    _offered: set[bytes] = field(default_factory=set[bytes])

    def run(self, module: ModuleOp, reductions: Sequence[Reduction]) -> ModuleOp:
        """The smallest module found; `module` itself stays as it is."""
        size = size_of(module)
        while True:
            before = size
            for reduction in reductions:
                module, size = self._exhaust(module, size, reduction)
            if size == before or self.calls >= self.limit:
                return module

    def _exhaust(self, module: ModuleOp, size: Size, reduction: Reduction) -> tuple[ModuleOp, Size]:
        """Apply one reduction to ranges of its items: all, then halves, quarters, ..., single ones."""
        length = reduction.count(module)
        while length > 0:
            start = 0
            while start < (count := reduction.count(module)) and self.calls < self.limit:
                self.progress(reduction.name, size, self.calls)
                accepted = self._attempt(module, size, reduction, range(start, min(start + length, count)))
                if accepted is None:
                    start += length
                else:
                    module, size = accepted
            length //= 2
        return module, size

    def _attempt(self, module: ModuleOp, size: Size, reduction: Reduction, chosen: range) -> tuple[ModuleOp, Size] | None:
        candidate = module.clone()
        if not reduction.apply(candidate, chosen) or first_violation(candidate) is not None:
            return None
        text = print_module(candidate)
        smaller = size_of(candidate, text)
        if smaller >= size or not self._is_new(text):
            return None
        self.calls += 1
        return (candidate, smaller) if self.fails(candidate.clone()) else None

    def _is_new(self, text: str) -> bool:
        digest = hashlib.sha256(text.encode()).digest()
        if digest in self._offered:
            return False
        self._offered.add(digest)
        return True
