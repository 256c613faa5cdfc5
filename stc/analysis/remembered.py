"""What was found out about a task, for tasks that read the same: estimates are asked for behind many passes and in every report.

Two tasks read the same where the IR in their bodies is equal, names of values included (messages have them), and operands come from
operations of the same kind. `UNREAD` and the depths of FIFOs do not count: a `Remembered` holds what follows from none of them, and
no IR.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping
from typing import Generic, TypeVar

from xdsl.ir import Attribute, Block, Operation, SSAValue

from stc.dialects.dataflow import TaskOp
from stc.dialects.facts import PIPELINE, STORAGE, STYLE
from stc.dialects.stream import StreamType

T = TypeVar("T")
UNREAD = frozenset({PIPELINE.name, STYLE.name, STORAGE.name})
"""What is decided of loops and arrays after their first estimate, by what it says."""


class Remembered(Generic[T]):
    """Answers by task and question; all are forgotten when so many tasks as `most` have some."""

    def __init__(self, most: int = 2048) -> None:
        self._most = most
        self._answers: dict[tuple[Hashable, ...], dict[Hashable, T]] = {}

    def of(self, task: TaskOp, question: Hashable, answer: Callable[[], T]) -> T:
        """What was answered when a task that reads the same was asked the same, else what `answer` returns."""
        text = text_of(task)
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
    return (*(type(value.owner) for value in task.operands), *_of_block(task.body.block, {}))


def _of_block(block: Block, numbers: dict[SSAValue, int]) -> Iterator[Hashable]:
    """`numbers`: of the values so far, in order."""
    yield len(block.args)
    for argument in block.args:
        yield from _defined(argument, numbers)
    for op in block.ops:
        yield from _of_operation(op, numbers)
    yield None


def _of_operation(op: Operation, numbers: dict[SSAValue, int]) -> Iterator[Hashable]:
    yield type(op)
    yield tuple(numbers[operand] for operand in op.operands)
    yield _entries(op.properties)
    yield _entries(op.attributes)
    for result in op.results:
        yield from _defined(result, numbers)
    for region in op.regions:
        yield len(region.blocks)
        for block in region.blocks:
            yield from _of_block(block, numbers)


def _defined(value: SSAValue, numbers: dict[SSAValue, int]) -> tuple[Hashable, Hashable]:
    numbers[value] = len(numbers)
    kind = value.type
    return (StreamType, kind.element_type) if isinstance(kind, StreamType) else kind, value.name_hint


def _entries(entries: Mapping[str, Attribute]) -> tuple[tuple[str, Attribute], ...]:
    return tuple(entry for entry in entries.items() if entry[0] not in UNREAD)
