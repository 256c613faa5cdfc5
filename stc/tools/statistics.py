"""What passes do to a module, counted: `stc-opt --stats`.

Operations are told apart by identity, so that this holds for any pass, whether it rewrites in place or builds anew.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

_State = tuple[object, ...]


@dataclass(frozen=True)
class Changes:
    """Operations by name that a pass created, erased, moved to another block, or changed (attributes, operands or types)."""

    created: Counter[str]
    erased: Counter[str]
    moved: Counter[str]
    changed: Counter[str]

    def __add__(self, other: Changes) -> Changes:
        return Changes(
            self.created + other.created, self.erased + other.erased, self.moved + other.moved, self.changed + other.changed
        )

    def __str__(self) -> str:
        counts = {"created": self.created, "erased": self.erased, "moved": self.moved, "changed": self.changed}
        parts = [f"{word} {_listed(names)}" for word, names in counts.items() if names]
        return "; ".join(parts) or "nothing"


def _listed(names: Counter[str]) -> str:
    return ", ".join(f"{count} {name}" for name, count in sorted(names.items(), key=lambda entry: (-entry[1], entry[0])))


@dataclass
class Statistics:
    """What each pass did, by its label, of all modules together."""

    by_pass: dict[str, Changes] = field(default_factory=dict[str, Changes])

    @contextmanager
    def count(self, label: str, module: ModuleOp) -> Generator[None]:
        """Around a pass over `module`."""
        before = _states(module)
        yield
        done = _changes(before, _states(module))
        self.by_pass[label] = self.by_pass[label] + done if label in self.by_pass else done

    def table(self) -> str:
        """A line for each pass."""
        width = max(map(len, self.by_pass), default=0)
        return "".join(f"{label:{width}}  {changes}\n" for label, changes in self.by_pass.items())


def _states(module: ModuleOp) -> dict[Operation, _State]:
    """What is compared of each operation; the dictionary keeps erased operations alive, so that no other takes their identity."""
    return {
        op: (
            op.parent,
            dict(op.attributes),
            dict(op.properties),
            tuple(op.operands),
            tuple(result.type for result in op.results),
            tuple(argument.type for region in op.regions for block in region.blocks for argument in block.args),
        )
        for op in module.walk()
    }


def _changes(before: dict[Operation, _State], after: dict[Operation, _State]) -> Changes:
    retained = [op for op in after if op in before]
    return Changes(
        Counter(op.name for op in after if op not in before),
        Counter(op.name for op in before if op not in after),
        Counter(op.name for op in retained if before[op][0] is not after[op][0]),
        Counter(op.name for op in retained if before[op][1:] != after[op][1:]),
    )
