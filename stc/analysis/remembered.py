"""What was found out about a task, for tasks that read the same: estimates are asked for behind many passes and in every report.

Two tasks read the same where the IR in their bodies is equal, names of values included (messages have them), and operands come from
operations of the same kind. `UNREAD` and the depths of FIFOs do not count: a `Remembered` holds what follows from none of them, and
no IR. Two tasks compute the same where no more than names, labels and depths differ.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from xdsl.ir import Attribute, Block, Operation, SSAValue

from stc.dialects.dataflow import TaskOp
from stc.dialects.facts import LABEL, PIPELINE, STORAGE, STYLE
from stc.dialects.stream import StreamType

T = TypeVar("T")
UNREAD = frozenset({PIPELINE.name, STYLE.name, STORAGE.name})
"""What is decided of loops and arrays after their first estimate, by what it says."""


class Remembered(Generic[T]):
    """Answers by task and question; all are forgotten when so many tasks as `most` have some. `with_names`: whether names or labels
    are in the answers."""

    def __init__(self, most: int = 2048, *, with_names: bool = True) -> None:
        self._most, self._with_names = most, with_names
        self._answers: dict[tuple[Hashable, ...], dict[Hashable, T]] = {}

    def of(self, task: TaskOp, question: Hashable, answer: Callable[[], T]) -> T:
        """What was answered when a task that reads the same was asked the same, else what `answer` returns."""
        text = text_of(task) if self._with_names else computation_of(task, UNREAD)
        if text not in self._answers:
            if len(self._answers) >= self._most:
                self._answers.clear()
            self._answers[text] = {}
        answers = self._answers[text]
        if question not in answers:
            answers[question] = answer()
        return answers[question]


def text_of(task: TaskOp) -> tuple[Hashable, ...]:
    """What is equal for two tasks that read the same, and for no others."""
    return tuple(_Text(UNREAD, with_names=True).of_task(task))


def computation_of(task: TaskOp, unread: frozenset[str] = frozenset()) -> tuple[Hashable, ...]:
    """What is equal for two tasks that compute the same, in loops that are pipelined alike, and for no others; attributes called
    `unread` do not count."""
    return tuple(_Text(unread | {LABEL.name}, with_names=False).of_task(task))


@dataclass
class _Text:
    """What is read of a task, in order. `numbers`: of the values so far."""

    unread: frozenset[str]
    with_names: bool
    numbers: dict[SSAValue, int] = field(default_factory=dict[SSAValue, int])

    def of_task(self, task: TaskOp) -> Iterator[Hashable]:
        yield from (type(value.owner) for value in task.operands)
        yield from self._of_block(task.body.block)

    def _of_block(self, block: Block) -> Iterator[Hashable]:
        yield len(block.args)
        for argument in block.args:
            yield from self._defined(argument)
        for op in block.ops:
            yield from self._of_operation(op)
        yield None

    def _of_operation(self, op: Operation) -> Iterator[Hashable]:
        yield type(op)
        yield tuple(self.numbers[operand] for operand in op.operands)
        yield self._entries(op.properties)
        yield self._entries(op.attributes)
        for result in op.results:
            yield from self._defined(result)
        for region in op.regions:
            yield len(region.blocks)
            for block in region.blocks:
                yield from self._of_block(block)

    def _defined(self, value: SSAValue) -> tuple[Hashable, Hashable]:
        self.numbers[value] = len(self.numbers)
        kind = value.type
        seen = (StreamType, kind.element_type) if isinstance(kind, StreamType) else kind
        return seen, value.name_hint if self.with_names else None

    def _entries(self, entries: Mapping[str, Attribute]) -> tuple[tuple[str, Attribute], ...]:
        return tuple(entry for entry in entries.items() if entry[0] not in self.unread)
