"""Random programs of which some rows are there at run time: `draw_run_time_program(seed)`, the same for the same seed.

Dimensions are labelled: an integer is an extent, `Rows(k)` is as many as there are rows, and k more that concatenations brought.
What is drawn depends on labels alone, so that the same program can be written for any number of rows: its static text for n rows
is the reference for what the program of run-time size computes where n rows are there.

Of some programs the first input is a cache: longer than the rows that are read of it, and returned as the last result with rows
that the program computes from the position on. The static text returns these rows alone.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

import numpy as np

from stc.iteration.size import Size, Symbol, least_of, maximum, value_at
from stc_testing.fuzzing.generator import DoesNotFit
from stc_testing.fuzzing.program import PARALLEL, REDUCTION, Body, Operand, Output, Program, Value
from stc_testing.fuzzing.scalars import FLOAT_BINARY, FLOAT_UNARY, Scalar

POSITION = "pos"
MOST_ROWS = 9
MOST_MORE = 3
"""Rows that concatenations add at most."""
APPEND = "append"
APPENDING = 0.4
"""The share of programs with a cache."""


@dataclass(frozen=True)
class Rows:
    """As many as there are, and `more`."""

    more: int = 0


Label: TypeAlias = int | Rows
Kind: TypeAlias = tuple[Label, ...]


@dataclass(frozen=True)
class Append:
    """`count` rows along `dimension`, the last result of the static text, replace those of the first input from a position on."""

    dimension: int
    count: int

    def onto(self, cache: np.ndarray, rows: np.ndarray, position: int) -> np.ndarray:
        """All of the cache with these rows."""
        whole = cache.copy()
        whole[(slice(None),) * self.dimension + (slice(position, position + self.count),)] = rows
        return whole


@dataclass(frozen=True)
class RunTimeProgram:
    """A program and its texts. `size`: how many rows there are at a value of the symbol; `inputs`, `results`: labels by name.

    `append`: of a program that updates its first input in place.
    """

    seed: int
    attempt: int
    symbol: Symbol
    size: Size
    text: str
    inputs: dict[str, Kind]
    results: tuple[Kind, ...]
    kinds: tuple[str, ...]
    append: Append | None

    def rows(self, position: int) -> int:
        return value_at(self.size, {self.symbol.name: position})

    def shape(self, kind: Kind) -> tuple[int, ...]:
        """With all rows that there may be."""
        most = self.rows(self.symbol.maximum)
        return tuple(most + label.more if isinstance(label, Rows) else label for label in kind)

    def static(self, position: int) -> str:
        """The same program of the rows that are there at a position."""
        return _Generator(self.seed, self.attempt, self.rows(position)).run().text


def draw_run_time_program(seed: int, attempt: int = 0) -> RunTimeProgram:
    """The program of a seed; `attempt` counts the draws that were discarded before it."""
    return _Generator(seed, attempt, None).run()


@dataclass
class _Generator:
    """`rows`: how many the text is written for; None: for all, with sizes that say how many there are."""

    seed: int
    attempt: int
    rows: int | None
    program: Program = field(default_factory=Program)
    values: list[tuple[Value, Kind]] = field(default_factory=list[tuple[Value, Kind]])
    used: set[str] = field(default_factory=set[str])
    inputs: dict[str, Kind] = field(default_factory=dict[str, Kind])
    drawn: list[str] = field(default_factory=list[str])
    append: Append | None = None

    def run(self) -> RunTimeProgram:
        self.random = random.Random(f"run time {self.seed}/{self.attempt}")
        most = self.random.randint(2, MOST_ROWS)
        self.symbol, window = Symbol(POSITION, most), self.random.randint(1, most)
        self.size: Size = least_of(self.symbol, window) if self.random.random() < 0.2 and window < most else self.symbol
        self.count = maximum(self.size) if self.rows is None else self.rows
        self.width, self.height, self.depth = self.random.sample((2, 3, 4, 5, 6, 8, 12), 3)
        row = self._cached() if random.Random(f"cache {self.seed}/{self.attempt}").random() < APPENDING else None
        if row is None:
            self.given((Rows(), self.width))
        for _ in range(self.random.choice([1, 2, 2, 3, 3, 4, 5, 6])):
            self._draw()
        if row is not None and self.values[0][0].name not in self.used:
            self._add("unary", *self._unary_of(*self.values[0]))
        results = [(value, kind) for value, kind in self.values if value.name not in self.used and value.computed]
        results = [entry for entry in results if entry != row][-3:]
        if not results:
            name, value, kind = "unary", *self.unary()
            self.drawn.append(name)
            results = [(value, kind)]
        kinds, returned = tuple(kind for _, kind in results), [value for value, _ in results]
        if row is not None:
            kinds, returned = (*kinds, row[1]), [*returned, self._updated(row[0])]
        text = self.program.text(returned, [self.symbol.name] if self.rows is None else [])
        drawn = tuple(sorted(set(self.drawn)))
        return RunTimeProgram(
            self.seed, self.attempt, self.symbol, self.size, text, self.inputs, kinds, drawn, self.append
        )

    def _draw(self) -> None:
        while True:
            name, (_, add) = self.random.choices(list(KINDS.items()), [weight for weight, _ in KINDS.values()])[0]
            try:
                value, kind = add(self)
            except DoesNotFit:
                continue
            self._add(name, value, kind)
            return

    def _add(self, name: str, value: Value, kind: Kind) -> None:
        self.values.append((value, kind))
        self.drawn.append(name)

    # A cache ----------------------------------------------------------------------------------------------------------

    def _cached(self) -> tuple[Value, Kind]:
        """Make the first value the beginning of a cache, and the rows that are appended to it, which the program may read, too."""
        kind: Kind = self.random.choice([(Rows(), self.width), (self.width, Rows()), (self.height, Rows(), self.width)])
        along, count = kind.index(Rows()), self.random.randint(1, MOST_MORE)
        self.append = Append(along, count)
        there, kind_of_new = self.given(kind, self.append), (*kind[:along], count, *kind[along + 1 :])
        new, _ = self._unary_of(self.given(kind_of_new, may_be_parameter=False), kind_of_new)
        if self.random.random() < 0.5:
            total, _ = self._reduced(there, kind, along, "arith.addf", "0.0")
            dims, body = range(len(kind)), self.body()
            operands = [(new, dims), (total, [dim for dim in dims if dim != along])]
            last = body.op("arith.addf %a0, %a1 : f32")
            new, _ = self.generic(kind_of_new, operands, dims, body, last, new.bound + total.bound)
        self._add(APPEND, new, kind_of_new)
        return new, kind_of_new

    def _beginning(self, value: Value, kind: Kind) -> Value:
        """What is read of the cache; its name says that it is an input."""
        zeros, ones = ([number] * len(kind) for number in (0, 1))
        part = replace(value, shape=self.extents(kind))
        text = f"tensor.extract_slice {value.name}{zeros} {list(part.shape)} {ones} : {value.type} to {part.type}"
        return replace(part, name=self.program.line(text, "x"))

    def _updated(self, row: Value) -> Value:
        """The cache with the rows at the position; the rows themselves where the text is static."""
        if self.rows is not None:
            return row
        assert self.append is not None
        cache = self.program.arguments[0][0]
        at = self.program.line(f"arith.index_cast %{self.symbol.name} : i32 to index", "i")
        offsets = ", ".join(at if dim == self.append.dimension else "0" for dim in range(row.rank))
        text = f"{row.name} into {cache.name}[{offsets}] {list(row.shape)} {[1] * row.rank} : {row.type} into {cache.type}"
        return replace(cache, name=self.program.line(f"tensor.insert_slice {text}"))

    # Values -----------------------------------------------------------------------------------------------------------

    def extents(self, kind: Kind) -> tuple[int, ...]:
        return tuple(self.count + label.more if isinstance(label, Rows) else label for label in kind)

    def given(self, kind: Kind, append: Append | None = None, may_be_parameter: bool = True) -> Value:
        """A new input, or a parameter where all of it is there; of a cache that rows are appended to, its beginning."""
        run_time = [isinstance(label, Rows) for label in kind]
        is_parameter = self.random.random() < 0.4 and not any(run_time) and may_be_parameter
        shape = self.extents(kind) if append is None or self.rows is not None else self.cache_extents(kind, append)
        value = self.program.argument(shape, "f32", is_parameter)
        self.inputs[value.name[1:]] = kind
        if any(run_time) and self.rows is None:
            sizes = ", ".join(f"#itensor.size<{self.size if isinstance(label, Rows) else label}>" for label in kind)
            self.program.attributes[value.name] = f", stc.sizes = [{sizes}]"
            value = value if append is None else self._beginning(value, kind)
        self.values.append((value, kind))
        return value

    def cache_extents(self, kind: Kind, append: Append) -> tuple[int, ...]:
        """Room for what is appended at the last position."""
        return tuple(self.symbol.maximum + append.count if isinstance(label, Rows) else label for label in kind)

    def pick(self, accepts: Callable[[Kind], bool] = lambda kind: True, most: float = 1e3) -> tuple[Value, Kind]:
        """A value that exists, recent ones more often."""
        found = [(value, kind) for value, kind in self.values if accepts(kind) and value.bound <= most]
        if not found:
            raise DoesNotFit
        return self.random.choices(found, range(1, len(found) + 1))[0]

    def partner(self, kind: Kind) -> Value:
        """A value of a kind, at times a new one: not of rows behind which others were put, of which the memory has no tensor."""
        is_plain = all(not isinstance(label, Rows) or label.more == 0 for label in kind)
        if is_plain and self.random.random() < 0.4:
            return self.given(kind)
        return self.pick(lambda other: other == kind)[0]

    def generic(
        self, loops: Kind, operands: Sequence[tuple[Value, Sequence[int]]], result: Sequence[int], body: Body, last: str,
        bound: float, start: str | None = None,
    ) -> tuple[Value, Kind]:  # fmt: skip
        """One operation over `loops`; each operand with the loops of its dimensions. Loops that the result lacks are reduced."""
        kind = tuple(loops[loop] for loop in result)
        output = Output(self.extents(kind), "f32", tuple(f"d{loop}" for loop in result), start)
        read = [Operand(value, tuple(f"d{loop}" for loop in dims)) for value, dims in operands]
        kinds = [PARALLEL if loop in result else REDUCTION for loop in range(len(loops))]
        (name,) = self.program.generic(kinds, read, [output], body, [last])
        self.used |= {value.name for value, _ in operands}
        return Value(name, output.shape, "f32", False, bound, _reads_input(value for value, _ in operands)), kind

    def body(self) -> Body:
        return Body(self.program, inside=self.random.random() < 0.3)

    # Operations -------------------------------------------------------------------------------------------------------

    def unary(self) -> tuple[Value, Kind]:
        return self._unary_of(*self.pick())

    def _unary_of(self, value: Value, kind: Kind) -> tuple[Value, Kind]:
        scalar = self._fitting(FLOAT_UNARY, value.bound)
        body, dims = self.body(), range(len(kind))
        return self.generic(kind, [(value, dims)], dims, body, scalar.build(body, "f32", ["%a0"]), scalar.bound(value.bound))

    def binary(self) -> tuple[Value, Kind]:
        """With a value of its kind, or of some of its dimensions."""
        value, kind = self.pick()
        dims = list(range(len(kind)))
        some = dims if self.random.random() < 0.5 else sorted(self.random.sample(dims, self.random.randint(1, len(dims))))
        other = self.partner(tuple(kind[dim] for dim in some))
        bound = max(value.bound, other.bound)
        scalar, body = self._fitting(FLOAT_BINARY, bound), self.body()
        operands = [(value, dims), (other, some)]
        names = ["%a0", "%a1"]
        if self.random.random() < 0.5:
            operands.reverse()
        return self.generic(kind, operands, dims, body, scalar.build(body, "f32", names), scalar.bound(bound, bound))

    def _fitting(self, scalars: Sequence[Scalar], bound: float) -> Scalar:
        fitting = [scalar for scalar in scalars if bound <= scalar.most and not scalar.jumps]
        if not fitting:
            raise DoesNotFit
        return self.random.choice(fitting)

    def reduce(self) -> tuple[Value, Kind]:
        value, kind = self.pick(lambda kind: len(kind) > 1, most=100)
        gone = self.random.randrange(len(kind))
        operation, start = self.random.choice([("arith.addf", "0.0"), ("arith.addf", "1.5"), ("arith.maximumf", "-1.0")])
        return self._reduced(value, kind, gone, operation, start)

    def _reduced(self, value: Value, kind: Kind, gone: int, operation: str, start: str) -> tuple[Value, Kind]:
        dims, body = range(len(kind)), self.body()
        last = body.op(f"{operation} %a0, %o0 : f32")
        return self.generic(kind, [(value, dims)], [dim for dim in dims if dim != gone], body, last, 16 * value.bound, start)

    def concat(self) -> tuple[Value, Kind]:
        """With rows that are always there, behind those that may be or before them."""
        value, kind = self.pick(lambda kind: any(isinstance(label, Rows) and label.more < MOST_MORE for label in kind))
        along = next(dim for dim, label in enumerate(kind) if isinstance(label, Rows))
        label = kind[along]
        assert isinstance(label, Rows)
        count = self.random.randint(1, MOST_MORE - label.more)
        other = self.partner((*kind[:along], count, *kind[along + 1 :]))
        parts = [value, other] if self.random.random() < 0.8 else [other, value]
        joined = (*kind[:along], Rows(label.more + count), *kind[along + 1 :])
        output = Output(self.extents(joined), "f32", ())
        names, types = ", ".join(part.name for part in parts), ", ".join(part.type for part in parts)
        name = self.program.line(f"tensor.concat dim({along}) {names} : ({types}) -> {output.type}")
        self.used |= {part.name for part in parts}
        bound = max(part.bound for part in parts)
        return Value(name, output.shape, "f32", False, bound, _reads_input(parts)), joined

    def product(self) -> tuple[Value, Kind]:
        """Of two matrices over the dimension that they share."""
        left, (first, second) = self._matrix()
        shared, kept = self.random.choice([(first, second), (second, first)])
        extents: list[Label] = [self.height, self.depth, self.width]
        free = self.random.choice(extents if isinstance(kept, Rows) else [*extents, Rows()])
        if free in (shared, kept):
            raise DoesNotFit
        kind = (free, shared) if self.random.random() < 0.5 else (shared, free)
        right = self.partner(kind)
        loops: Kind = (kept, free, shared)
        body = self.body()
        last = body.op(f"arith.addf %o0, {body.op('arith.mulf %a0, %a1 : f32')} : f32")
        dims = [[loops.index(label) for label in own] for own in ((first, second), kind)]
        if max(left.bound, right.bound) > 30:
            raise DoesNotFit
        return self.generic(loops, [(left, dims[0]), (right, dims[1])], [0, 1], body, last, 8 * left.bound * right.bound, "0.0")

    def _matrix(self) -> tuple[Value, tuple[Label, Label]]:
        value, kind = self.pick(lambda kind: len(kind) == 2 and kind[0] != kind[1], most=30)
        return value, (kind[0], kind[1])

    def softmax(self) -> tuple[Value, Kind]:
        """Along the last dimension, which has an entry at least."""

        def has_entries(kind: Kind) -> bool:
            return len(kind) == 2 and not (isinstance(kind[-1], Rows) and kind[-1].more == 0)

        value, kind = self.pick(has_entries, most=50)
        most, outer = self._reduced(value, kind, 1, "arith.maximumf", "-inf")
        shifted = self._beside(value, kind, most, outer, lambda body: _exp(body, body.op("arith.subf %a0, %a1 : f32")))
        total, _ = self._reduced(shifted, kind, 1, "arith.addf", "0.0")
        ratio = self._beside(shifted, kind, total, outer, lambda body: body.op("arith.divf %a0, %a1 : f32"))
        return replace(ratio, bound=1.0), kind

    def _beside(self, value: Value, kind: Kind, other: Value, outer: Kind, build: Callable[[Body], str]) -> Value:
        body, dims = self.body(), range(len(kind))
        return self.generic(kind, [(value, dims), (other, range(len(outer)))], dims, body, build(body), value.bound)[0]


def _reads_input(values: Iterable[Value]) -> bool:
    """Not parameters alone, which are the host's work."""
    return any(value.computed or value.name.startswith("%x") for value in values)


def _exp(body: Body, value: str) -> str:
    return body.op(f"math.exp {value} : f32")


KINDS: dict[str, tuple[float, Callable[[_Generator], tuple[Value, Kind]]]] = {
    "unary": (3, _Generator.unary),
    "binary": (4, _Generator.binary),
    "reduce": (3, _Generator.reduce),
    "concat": (3, _Generator.concat),
    "product": (4, _Generator.product),
    "softmax": (1.5, _Generator.softmax),
}
"""How likely each kind of operation is, and what adds one."""
