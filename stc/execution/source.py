"""Python source of translated IR, while it is being written.

A task or a function becomes one Python function: SSA values are its local variables, loops are Python loops, tiles are numpy
arrays. Translating once and running the translation is ten times faster than dispatching on each operation of each iteration.

Representation of values: `index` is a Python int in scalar code; other scalars are numpy scalars, tensors, vectors and memrefs
numpy arrays (a memref of vectors has the lanes as its last dimension). Inside structured operations scalars are arrays over the
iteration space (`in_arrays`).
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from xdsl.ir import Operation, SSAValue

from stc.dialects.facts import MODULE, NAME

_INDENT = "    "
_CONTINUES = (_INDENT * 2, f"{_INDENT}el")
"""How a line begins that goes on with the statement of a function before it: in its block, or another branch of it."""
_VARIABLE = re.compile(r"\bv\d+\b")


def location(op: Operation) -> str:
    """Where an operation comes from: its model name, its module path, or its own name."""
    name = NAME.of(op) or MODULE.of(op)
    return f"{op.name} of {name}" if name else op.name


class Source:
    """Text of one Python function, and the objects it refers to."""

    def __init__(self, where: str, *, in_arrays: bool = False, bounded: bool = False):
        self.where = where
        """What errors call the thing being translated."""
        self.in_arrays = in_arrays
        self.bounded = bounded
        """Whether writes to streams wait for room."""
        self.lines: list[str] = []
        self.names: dict[SSAValue, str] = {}
        self.objects: dict[str, Any] = {"np": np}
        self.ports: dict[SSAValue, Any] = {}
        """What the ports of a task are connected to."""
        self.releases: list[list[str]] = [[]]
        """For each open block the lines that give back the buffers acquired in it."""
        self._depth = 1
        self._count = 0

    def at(self, op: Operation) -> str:
        """What errors call `op`."""
        return f"{self.where}: {location(op)}"

    # Names ------------------------------------------------------------------------------------------------------------

    def fresh(self, prefix: str = "v") -> str:
        """A name not used yet."""
        self._count += 1
        return f"{prefix}{self._count}"

    def define(self, value: SSAValue) -> str:
        """A new variable for `value`."""
        return self.names.setdefault(value, self.fresh())

    def name(self, value: SSAValue) -> str:
        """The variable or literal that holds `value`."""
        return self.names[value]

    def refer(self, thing: object, prefix: str = "k") -> str:
        """A global name for a Python object."""
        name = self.fresh(prefix)
        self.objects[name] = thing
        return name

    # Text -------------------------------------------------------------------------------------------------------------

    def line(self, text: str) -> None:
        self.lines.append(_INDENT * self._depth + text)

    def assign(self, value: SSAValue, expression: str) -> None:
        """`value = expression`."""
        self.line(f"{self.define(value)} = {expression}")

    @contextmanager
    def block(self, header: str) -> Generator[None]:
        """An indented block below `header`, never empty."""
        self.line(header)
        self._depth += 1
        before = len(self.lines)
        yield
        if len(self.lines) == before:
            self.line("pass")
        self._depth -= 1

    def forget(self, values: Iterable[SSAValue]) -> None:
        """Let the variable of each value go behind the last statement that names it, as far as it is not returned: where parameters
        of a model are computed, each is an array of up to gigabytes."""
        begins = [number for number, line in enumerate(self.lines) if not line.startswith(_CONTINUES)]
        last = {name: number for number, line in enumerate(self.lines) for name in _VARIABLE.findall(line)}
        gone: dict[int, set[str]] = {}
        for name in {self.names[value] for value in values if value in self.names} & last.keys():
            if (at := bisect_right(begins, last[name])) < len(begins):
                gone.setdefault(begins[at], set()).add(name)
        for number in sorted(gone, reverse=True):
            self.lines.insert(number, f"{_INDENT}del {', '.join(sorted(gone[number]))}")

    def text(self, parameters: Sequence[str]) -> str:
        body = self.lines or [f"{_INDENT}pass"]
        return "\n".join([f"def translated({', '.join(parameters)}):", *body, ""])

    def compile(self, parameters: Sequence[str]) -> Callable[..., Any]:
        """The Python function."""
        text = self.text(parameters)
        space = dict(self.objects)
        exec(compile(text, f"<{self.where}>", "exec"), space)
        function = space["translated"]
        function.source = text
        return function
