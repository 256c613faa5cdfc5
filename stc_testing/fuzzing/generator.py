"""Random well-typed programs of linalg on tensors: `random_program(seed)`, the same text for the same seed.

Kinds of operations are drawn from `KINDS`; operands are values that exist already (recent ones more often), or new inputs,
parameters and constants, so that values branch and meet again. Extents come from a few numbers per program, ones and primes too.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import prod
from typing import TypeAlias

from stc_testing.fuzzing.program import (
    PARALLEL,
    REDUCTION,
    Body,
    Operand,
    Output,
    Program,
    Value,
    dimensions,
    fitting,
    identity,
    is_float,
)
from stc_testing.fuzzing.scalars import FLOAT_BINARY, Reduction, Scalar, binary_functions, reductions, unary_functions

EXTENTS = (1, 2, 2, 3, 3, 4, 4, 5, 6, 7, 8, 8, 9, 11, 12, 13, 15, 16, 17, 24, 32)
MOST_ENTRIES = 640
"""Of any tensor: executing every level and the C simulation stay far below a second."""
MOST_WORK = 8192
"""Iterations of one contraction."""
LARGER_EXTENTS = (1, 2, 3, 4, 5, 6, 7, 8, 8, 12, 13, 16, 16, 16, 24, 31, 32, 32, 48, 64)
"""Of programs for a search, which has more to do where more divides them."""
LARGER = 4
"""How many times as many entries and iterations the products of a layer may have."""
_INTEGERS = ("i32", "i64", "i8")
_WIDTHS = (2, 3, 4, 4, 4, 5, 7, 8, 8, 8, 9, 12, 15, 16, 17, 24, 31, 33, 47, 63)
"""Bits of integers that programs of integers have, those of weights and activations more often."""


@dataclass(frozen=True)
class RandomProgram:
    """Text of one function @main, and how often each kind of operation occurs in it."""

    text: str
    kinds: tuple[str, ...]


def random_program(seed: int, attempt: int = 0, integers: bool = False, searched: bool = False) -> RandomProgram:
    """The program of a seed; `attempt` counts the draws that were discarded before it; `integers`: of integers of random widths;
    `searched`: with larger extents and layers, of which a search has something to speed up."""
    extents = LARGER_EXTENTS if searched else EXTENTS
    layers = LAYERS if searched else {}
    if not integers:
        return _Generator(random.Random(f"{seed}/{attempt}"), of={**KINDS, **layers}, drawn_from=extents).run()
    numbers = random.Random(f"integers {seed}/{attempt}")
    drawn = [f"i{bits}" for bits in dict.fromkeys(numbers.choices(_WIDTHS, k=3))]
    kinds = {**INTEGER_KINDS, **layers}
    return _Generator(numbers, integers=True, elements=(*drawn, "i32"), of=kinds, drawn_from=extents).run()


class DoesNotFit(Exception):
    """The chosen kind of operation has no operands here: another is chosen."""


@dataclass
class _Generator:
    """`elements`: the integers there are; `integers`: whether there are any, None for a draw; `of`: kinds of operations;
    `drawn_from`: the extents there are."""

    random: random.Random
    integers: bool | None = None
    elements: tuple[str, ...] = _INTEGERS
    of: Mapping[str, Kind] = field(default_factory=lambda: KINDS)
    drawn_from: Sequence[int] = EXTENTS
    program: Program = field(default_factory=Program)
    values: list[Value] = field(default_factory=list[Value])
    used: set[str] = field(default_factory=set[str])
    kinds: list[str] = field(default_factory=list[str])

    def run(self) -> RandomProgram:
        self.extents = self.random.choices(self.drawn_from, k=self.random.choice([2, 3, 3, 4]))
        if self.integers is None:
            self.integers = self.random.random() < 0.2
        self.add(self.input(self.shape(self.random.choice([1, 2, 2, 2, 3, 3, 4]))))
        for _ in range(self.random.choice([1, 2, 3, 4, 5, 6, 8, 10] if self.drawn_from is EXTENTS else [1, 1, 2, 2, 3, 4])):
            self.step()
        for _ in range(20):
            if any(value.computed for value in self.values):
                break
            self.step()
        if not any(value.computed for value in self.values):
            self.add(elementwise(self, self.values[0]))
        return RandomProgram(self.program.text(self.results()), tuple(self.kinds))

    def step(self) -> None:
        """One operation of a random kind that fits; a kind that turns out not to fit leaves no lines."""
        while True:
            kind = self.random.choices(list(self.of), [weight for weight, _ in self.of.values()])[0]
            retained = replace(
                self.program,
                arguments=list(self.program.arguments),
                lines=list(self.program.lines),
                scalars=dict(self.program.scalars),
            )
            used, values = set(self.used), list(self.values)
            try:
                made = self.of[kind][1](self)
            except DoesNotFit:
                self.program, self.used, self.values = retained, used, values
                continue
            self.kinds.append(kind)
            for value in made if isinstance(made, list) else [made]:
                self.add(value)
            return

    def add(self, value: Value) -> None:
        self.values.append(value)

    def results(self) -> list[Value]:
        """Everything that nobody reads, and a few values that are read as well."""
        made = [value for value in self.values if value.name[1] == "v"]
        chosen = [value for value in made if value.name not in self.used]
        inside = [value for value in made if value.name in self.used]
        if inside and self.random.random() < 0.3:
            chosen.append(self.random.choice(inside))
        if not any(value.computed for value in chosen):
            chosen.append(next(value for value in made if value.computed))
        if self.random.random() < 0.05:
            chosen.append(self.random.choice(self.values))
        self.random.shuffle(chosen)
        return chosen

    # Choices ----------------------------------------------------------------------------------------------------------

    def shape(self, rank: int) -> tuple[int, ...]:
        for _ in range(50):
            shape = tuple(self.random.choices(self.extents, k=rank))
            if prod(shape) <= MOST_ENTRIES:
                return shape
        return (1,) * rank

    def chance(self, probability: float) -> bool:
        return self.random.random() < probability

    def input(self, shape: Sequence[int], element: str | None = None) -> Value:
        if element is None:
            element = self.random.choice(("f32", *self.elements)) if self.integers else "f32"
        return self.program.argument(shape, element, parameter=False)

    def given(self, shape: Sequence[int], element: str) -> Value:
        """A new input, parameter or constant; later operations may read it too."""
        chosen = self.random.choices(("input", "parameter", "dense", "splat"), (4, 4, 1, 1))[0]
        if chosen in ("dense", "splat") and prod(shape) <= 64:
            count = prod(shape) if chosen == "dense" else 1
            value = self.program.dense(shape, element, [self.literal(element) for _ in range(count)])
        elif chosen == "parameter" and (is_float(element) or self.elements != _INTEGERS):
            value = self.program.argument(shape, element, parameter=True)
        else:
            value = self.input(shape, element)
        self.add(value)
        return value

    def literal(self, element: str) -> str:
        if is_float(element):
            return f"{self.random.randint(-16, 16) / 8:.6e}"
        return self.random.choice(("true", "false")) if element == "i1" else fitting(self.random.randint(-4, 4), element)

    def pick(self, accepts: Callable[[Value], bool] = lambda _: True) -> Value:
        """A value that exists, the recent ones more likely; DoesNotFit where none is accepted."""
        fitting = [value for value in self.values if accepts(value)]
        if not fitting:
            raise DoesNotFit
        recent = fitting[-2:] if self.chance(0.6) else fitting
        return self.random.choice(recent)

    def read(self, *values: Value) -> None:
        self.used |= {value.name for value in values}

    def body(self) -> Body:
        return Body(self.program, inside=self.chance(0.3))

    def shuffled(self, entries: Sequence[int]) -> list[int]:
        return self.random.sample(list(entries), len(entries))

    def reading(self, value: Value, dims: Sequence[int]) -> Operand:
        """`value` read at the loops `dims`; a dimension of extent 1 may also be read at 0, as torch-mlir writes it."""
        indices = [f"d{dim}" for dim in dims]
        return Operand(value, tuple(indices))

    def partner(self, element: str, shape: Sequence[int], accepts: Callable[[Value], bool] = lambda _: True) -> Operand:
        """A second operand for loops of the extents `shape`: a value that exists, permuted or broadcast, or a new one."""
        found = [(value, dims) for value in self.values if value.element == element and accepts(value)
                 if (dims := self._match(value.shape, shape)) is not None]
        if found and self.chance(0.75):
            value, indices = self.random.choice(found)
            return Operand(value, indices)
        rank = self.random.choice([len(shape), len(shape), self.random.randint(0, len(shape))])
        dims = sorted(self.random.sample(range(len(shape)), rank))
        if self.chance(0.2):
            self.random.shuffle(dims)
        ones = [self.chance(0.1) for _ in dims]
        made = self.given([1 if one else shape[dim] for one, dim in zip(ones, dims, strict=True)], element)
        if not accepts(made):
            raise DoesNotFit
        return Operand(made, tuple("0" if one else f"d{dim}" for one, dim in zip(ones, dims, strict=True)))

    def _match(self, source: Sequence[int], shape: Sequence[int]) -> tuple[str, ...] | None:
        """Each dimension of `source` at another loop of its extent, or at 0 where it is 1."""
        straight = list(source) == list(shape[len(shape) - len(source) :]) if len(source) <= len(shape) else False
        if straight and self.chance(0.7):
            return tuple(f"d{k}" for k in range(len(shape) - len(source), len(shape)))
        free = self.shuffled(range(len(shape)))
        indices: list[str] = []
        for extent in source:
            dim = next((dim for dim in free if shape[dim] == extent), None)
            if dim is None and extent != 1:
                return None
            indices.append("0" if dim is None else f"d{dim}")
            free = [entry for entry in free if entry != dim]
        return tuple(indices)

    def result(self, name: str, output: Output, operands: Sequence[Value], *, exact: bool = True, bound: float = 4.0) -> Value:
        """The value an operation made; integers wrap around, so their magnitude is never more than their type's."""
        self.read(*operands)
        is_exact = not is_float(output.element) or (exact and all(value.exact for value in operands))
        if not is_float(output.element):
            bound = 1.0 if output.element == "i1" else min(bound, 2.0 ** (int(output.element[1:]) - 1))
        computed = any(value.computed or value.name[1] == "x" for value in operands)
        return Value(name, output.shape, output.element, is_exact, bound, computed)

    def moved(self, text: str, source: Value, shape: Sequence[int]) -> Value:
        """An operation that moves entries only."""
        self.read(source)
        name = self.program.line(text)
        return replace(source, name=name, shape=tuple(shape))

    def parallel(self, operands: Sequence[Operand], shape: Sequence[int], element: str, body: Body, last: str) -> str:
        """An element-wise generic, whose result may be transposed."""
        dims = self.shuffled(range(len(shape))) if self.chance(0.1) else list(range(len(shape)))
        self._output = Output(tuple(shape[dim] for dim in dims), element, tuple(f"d{dim}" for dim in dims))
        (name,) = self.program.generic([PARALLEL] * len(shape), operands, [self._output], body, [last])
        return name

    def elementwise(
        self, operands: Sequence[Operand], shape: Sequence[int], element: str, body: Body, last: str, exact: bool, bound: float
    ) -> Value:
        name = self.parallel(operands, shape, element, body, last)
        return self.result(name, self._output, [o.value for o in operands], exact=exact, bound=bound)


def _fits(scalar: Scalar, *values: tuple[float, bool]) -> bool:
    """Whether a function may be applied to values of these magnitudes and exactness."""
    return all(bound <= scalar.most and (exact or not scalar.jumps) for bound, exact in values)


# Element-wise ---------------------------------------------------------------------------------------------------------


def elementwise(g: _Generator, source: Value | None = None) -> Value:
    """One to three scalar functions in one generic."""
    source = source or g.pick()
    body, value, bound, exact = g.body(), "%a0", source.bound, source.exact
    for _ in range(g.random.choice([1, 1, 2, 3])):
        fitting = [scalar for scalar in unary_functions(source.element) if _fits(scalar, (bound, exact))]
        if not fitting or not _keeps_range(source.element, bound):
            raise DoesNotFit
        scalar = g.random.choice(fitting)
        value, bound, exact = scalar.build(body, source.element, [value]), scalar.bound(bound), exact and not scalar.rounds
    indices = identity(source.rank)
    if 1 in source.shape and g.chance(0.2):
        indices = tuple("0" if extent == 1 else index for index, extent in zip(indices, source.shape, strict=True))
    return g.elementwise([Operand(source, indices)], source.shape, source.element, body, value, exact, bound)


def _keeps_range(element: str, bound: float) -> bool:
    """i32 and i64 must not wrap around (undefined in C++), others may: the result is cut back in every level."""
    return is_float(element) or element not in ("i32", "i64") or bound < 2.0 ** (int(element[1:]) - 4)


def binary(g: _Generator) -> Value:
    source = g.pick()
    other = g.partner(source.element, source.shape)
    return _combined(g, source, other)


def _combined(g: _Generator, source: Value, other: Operand) -> Value:
    known = [(source.bound, source.exact), (other.value.bound, other.value.exact)]
    fitting = [scalar for scalar in binary_functions(source.element) if _fits(scalar, *known)]
    if not fitting or not _keeps_range(source.element, source.bound * other.value.bound):
        raise DoesNotFit
    scalar = g.random.choice(fitting)
    body = g.body()
    last = scalar.build(body, source.element, ["%a0", "%a1"])
    bound = scalar.bound(source.bound, other.value.bound)
    operands = [Operand(source, identity(source.rank)), other]
    return g.elementwise(operands, source.shape, source.element, body, last, not scalar.rounds, bound)


def residual(g: _Generator) -> list[Value]:
    """A value and a function of it, combined again."""
    source = g.pick()
    function = elementwise(g, source)
    if function.shape != source.shape or function.element != source.element:
        raise DoesNotFit
    return [function, _combined(g, source, Operand(function, identity(source.rank)))]


def named_elementwise(g: _Generator) -> Value:
    """`linalg.add`, `linalg.exp`, ... on equal shapes."""
    source = g.pick(lambda value: value.element != "i1")
    same = [value for value in g.values if value.shape == source.shape and value.element == source.element]
    output = Output(source.shape, source.element, identity(source.rank))
    if is_float(source.element) and g.chance(0.15) and source.bound <= 10:
        return g.result(g.program.named("exp", [source], output), output, [source], exact=False, bound=2.718**source.bound)
    other = g.random.choice(same)
    names = ["add", "sub"] + (["max", "min"] if is_float(source.element) else [])
    name = g.random.choice(names + (["mul"] if source.bound * other.bound < 1e4 else []))
    bound = source.bound * other.bound if name == "mul" else source.bound + other.bound
    if not _keeps_range(source.element, bound):
        raise DoesNotFit
    return g.result(g.program.named(name, [source, other], output), output, [source, other], bound=bound)


def multiple_operands(g: _Generator) -> Value:
    """Three or four operands combined in one body."""
    source = g.pick(lambda value: is_float(value.element) and value.bound < 100)
    others = [g.partner(source.element, source.shape, lambda value: value.bound < 20) for _ in range(g.random.choice([2, 3]))]
    body, last, bound = g.body(), "%a0", source.bound
    for index, other in enumerate(others):
        scalar = g.random.choice([entry for entry in FLOAT_BINARY[:3] if _fits(entry, (bound, True))] or [FLOAT_BINARY[0]])
        last = scalar.build(body, source.element, [last, f"%a{index + 1}"])
        bound = scalar.bound(bound, other.value.bound)
    operands = [Operand(source, identity(source.rank)), *others]
    return g.elementwise(operands, source.shape, source.element, body, last, True, bound)


def compare(g: _Generator) -> Value:
    """Booleans; only exact values are compared, else rounding decides."""
    source = g.pick(lambda value: value.exact and value.element != "i1")
    other = g.partner(source.element, source.shape, lambda value: value.exact)
    body = g.body()
    if is_float(source.element):
        test = f"arith.cmpf {g.random.choice(['ogt', 'olt', 'oge', 'une', 'ult'])}"
    else:
        test = f"arith.cmpi {g.random.choice(['sgt', 'slt', 'sle', 'eq', 'ne', 'ult'])}"
    last = body.op(f"{test}, %a0, %a1 : {source.element}")
    return g.elementwise([Operand(source, identity(source.rank)), other], source.shape, "i1", body, last, True, 1.0)


def select(g: _Generator) -> Value:
    condition = g.pick(lambda value: value.element == "i1")
    among = ["f32", *g.elements] if g.elements != _INTEGERS else ["f32", "f32", "i32"]
    element = g.random.choice(among if g.integers else ["f32"])
    first, second = g.partner(element, condition.shape), g.partner(element, condition.shape)
    body = g.body()
    last = body.op(f"arith.select %a0, %a1, %a2 : {element}")
    operands = [Operand(condition, identity(condition.rank)), first, second]
    return g.elementwise(operands, condition.shape, element, body, last, True, max(first.value.bound, second.value.bound))


def cast(g: _Generator) -> Value:
    """Between integers, booleans and floats; floats become integers only where they are exact and fit."""
    source = g.pick()
    if is_float(source.element):
        if not source.exact or source.bound > 1e6:
            raise DoesNotFit
        operation, target = "arith.fptosi", "i32"
    elif source.element == "i1":
        operation, target = g.random.choice([("arith.uitofp", "f32"), ("arith.extui", "i32"), ("arith.extui", "i8")])
    elif g.chance(0.5):
        if source.bound > 2.0**20:
            raise DoesNotFit
        operation, target = "arith.sitofp", "f32"
    else:
        target = g.random.choice([element for element in g.elements if element != source.element])
        operation = "arith.extsi" if int(target[1:]) > int(source.element[1:]) else "arith.trunci"
        if operation == "arith.extsi" and g.elements != _INTEGERS and g.chance(0.3):
            return _unsigned_cast(g, source, "arith.extui", target)
    body = g.body()
    last = body.op(f"{operation} %a0 : {source.element} to {target}")
    operands = [Operand(source, identity(source.rank))]
    return g.elementwise(operands, source.shape, target, body, last, True, source.bound)


def _unsigned_cast(g: _Generator, source: Value, operation: str, target: str) -> Value:
    """As what the bits of `source` are without a sign."""
    body = g.body()
    last = body.op(f"{operation} %a0 : {source.element} to {target}")
    bound = 2.0 ** int(source.element[1:])
    return g.elementwise([Operand(source, identity(source.rank))], source.shape, target, body, last, True, bound)


def unsigned_float(g: _Generator) -> Value:
    """A float of what the bits of an integer are without a sign."""
    source = g.pick(lambda value: not is_float(value.element) and 1 < int(value.element[1:]) <= 20)
    return _unsigned_cast(g, source, "arith.uitofp", "f32")


def unsigned(g: _Generator) -> Value:
    """A function of the bits without their sign."""
    source = g.pick(lambda value: not is_float(value.element) and value.element != "i1")
    other = g.partner(source.element, source.shape)
    body = g.body()
    operands = [Operand(source, identity(source.rank)), other]
    name = g.random.choice(("maxui", "minui", "divui", "remui", "shrui"))
    right = "%a1" if name in ("maxui", "minui") else body.constant(1 if name == "shrui" else 3, source.element)
    last = body.op(f"arith.{name} %a0, {right} : {source.element}")
    used = operands if right == "%a1" else operands[:1]
    bound = max(source.bound, other.value.bound) if right == "%a1" else 2.0 ** (int(source.element[1:]) - 1)
    return g.elementwise(used, source.shape, source.element, body, last, True, bound)


def positions(g: _Generator) -> Value:
    """Entries that depend on where they stand: a causal mask, or the position added."""
    source = g.pick(lambda value: value.rank >= 1 and is_float(value.element))
    dim = g.random.randrange(source.rank)
    body = g.body()
    if source.rank >= 2 and g.chance(0.6):
        other = g.random.choice([k for k in range(source.rank) if k != dim])
        row, column = body.op(f"linalg.index {dim} : index"), body.op(f"linalg.index {other} : index")
        test = body.op(f"arith.cmpi {g.random.choice(['sge', 'sgt', 'ule'])}, {row}, {column} : index")
        last = body.op(f"arith.select {test}, %a0, {body.constant(g.random.choice(['0.0', '-3.5']), 'f32')} : f32")
    else:
        index = body.op(f"linalg.index {dim} : index")
        narrow = body.op(f"arith.index_cast {index} : index to i32")
        wide = body.op(f"arith.sitofp {narrow} : i32 to f32")
        last = body.op(f"arith.addf %a0, {wide} : f32")
    operands = [Operand(source, identity(source.rank))]
    return g.elementwise(operands, source.shape, source.element, body, last, True, source.bound + max(source.shape))


def several_results(g: _Generator) -> list[Value]:
    """One generic with two results, element-wise or of a reduction."""
    source = g.pick(lambda value: is_float(value.element) and value.bound < 100)
    if g.chance(0.5) and source.rank >= 1:
        return _two_reductions(g, source)
    body = g.body()
    functions = [s for s in unary_functions(source.element) if _fits(s, (source.bound, source.exact))]
    chosen = [g.random.choice(functions) for _ in range(2)]
    yields = [scalar.build(body, source.element, ["%a0"]) for scalar in chosen]
    outputs = [Output(source.shape, source.element, identity(source.rank)) for _ in chosen]
    names = g.program.generic([PARALLEL] * source.rank, [Operand(source, identity(source.rank))], outputs, body, yields)
    return [
        g.result(name, output, [source], exact=not scalar.rounds, bound=scalar.bound(source.bound))
        for name, output, scalar in zip(names, outputs, chosen, strict=True)
    ]


def _two_reductions(g: _Generator, source: Value) -> list[Value]:
    retained, gone = _split(g, source.rank)
    shape = tuple(source.shape[dim] for dim in retained)
    chosen = [g.random.choice(reductions(source.element)) for _ in range(2)]
    body = Body(g.program, inside=False)
    yields = [body.op(f"{entry.operation} %a0, %o{k} : {source.element}") for k, entry in enumerate(chosen)]
    outputs = [Output(shape, source.element, tuple(f"d{dim}" for dim in retained), entry.start) for entry in chosen]
    loops = [REDUCTION if dim in gone else PARALLEL for dim in range(source.rank)]
    names = g.program.generic(loops, [Operand(source, identity(source.rank))], outputs, body, yields)
    count = prod(source.shape[dim] for dim in gone)
    return [
        g.result(name, output, [source], exact=not entry.sums, bound=_reduced(source, entry, count))
        for name, output, entry in zip(names, outputs, chosen, strict=True)
    ]


# Reductions -----------------------------------------------------------------------------------------------------------


def _split(g: _Generator, rank: int) -> tuple[list[int], list[int]]:
    """Dimensions that stay, at times in another order, and those that are reduced (at least one)."""
    count = g.random.choice([1, 1, 1, rank, g.random.randint(1, rank)])
    gone = sorted(g.random.sample(range(rank), count))
    retained = [dim for dim in range(rank) if dim not in gone]
    return (g.shuffled(retained) if g.chance(0.15) else retained), gone


def _reduced(source: Value, reduction: Reduction, count: int) -> float:
    return source.bound * (count if not is_float(source.element) else count**0.5) + 3 if reduction.sums else source.bound


def reduce(g: _Generator) -> Value:
    """Sum, maximum, minimum, ... over some dimensions, which disappear or stay with extent 1."""
    source = g.pick(lambda value: value.rank >= 1)
    retained, gone = _split(g, source.rank)
    return _reduction(g, source, retained, gone, g.random.choice(reductions(source.element)), keep=g.chance(0.3))


def _reduction(
    g: _Generator,
    source: Value,
    retained: Sequence[int],
    gone: Sequence[int],
    reduction: Reduction,
    keep: bool,
    square: bool = False,
) -> Value:
    count = prod(source.shape[dim] for dim in gone)
    if not _keeps_range(source.element, source.bound * count):
        raise DoesNotFit
    extents = {f"d{dim}": extent for dim, extent in enumerate(source.shape)}
    with_gone = ("0" if dim in gone else f"d{dim}" for dim in range(source.rank))
    indices = tuple(with_gone) if keep else tuple(f"d{dim}" for dim in retained)
    output = Output(dimensions(indices, extents), source.element, indices, reduction.start)
    body = Body(g.program, inside=False)
    term = body.op(f"arith.mulf %a0, %a0 : {source.element}") if square else "%a0"
    pair = f"{term}, %o0" if g.chance(0.5) else f"%o0, {term}"
    last = body.op(f"{reduction.operation} {pair} : {source.element}")
    loops = [REDUCTION if dim in gone else PARALLEL for dim in range(source.rank)]
    (name,) = g.program.generic(loops, [Operand(source, identity(source.rank))], [output], body, [last])
    inexact = reduction.sums and is_float(source.element)
    bound = _reduced(source, reduction, count) * (source.bound if square else 1)
    return g.result(name, output, [source], exact=not inexact, bound=bound)


def named_reduce(g: _Generator) -> Value:
    """`linalg.reduce`."""
    source = g.pick(lambda value: value.rank >= 1)
    _, gone = _split(g, source.rank)
    reduction = g.random.choice(reductions(source.element))
    count = prod(source.shape[dim] for dim in gone)
    if not _keeps_range(source.element, source.bound * count):
        raise DoesNotFit
    shape = tuple(extent for dim, extent in enumerate(source.shape) if dim not in gone)
    output = Output(shape, source.element, (), reduction.start)
    e = source.element
    suffix = (
        f" dimensions = {gone}\n    (%in: {e}, %init: {e}) {{\n      %n = {reduction.operation} %in, %init : {e}\n"
        f"      linalg.yield %n : {e}\n    }}"
    )
    name = g.program.named("reduce", [source], output, suffix)
    inexact = reduction.sums and is_float(e)
    return g.result(name, output, [source], exact=not inexact, bound=_reduced(source, reduction, count))


def argument_of_maximum(g: _Generator) -> list[Value]:
    """The maximum along a dimension and its position, as torch-mlir writes it; exact values only, else rounding decides."""
    source = g.pick(lambda value: value.rank >= 1 and value.exact and is_float(value.element))
    dim = g.random.randrange(source.rank)
    retained = tuple(f"d{k}" for k in range(source.rank) if k != dim)
    shape = tuple(extent for k, extent in enumerate(source.shape) if k != dim)
    body = Body(g.program, inside=False)
    index = body.op(f"linalg.index {dim} : index")
    position = body.op(f"arith.index_cast {index} : index to i64")
    largest = body.op(f"arith.maximumf %a0, %o0 : {source.element}")
    greater = body.op(f"arith.cmpf ogt, %a0, %o0 : {source.element}")
    chosen = body.op(f"arith.select {greater}, {position}, %o1 : i64")
    outputs = [Output(shape, source.element, retained, "-inf"), Output(shape, "i64", retained, "0")]
    loops = [REDUCTION if k == dim else PARALLEL for k in range(source.rank)]
    names = g.program.generic(loops, [Operand(source, identity(source.rank))], outputs, body, [largest, chosen])
    return [
        g.result(names[0], outputs[0], [source], bound=source.bound),
        g.result(names[1], outputs[1], [source], bound=float(source.shape[dim])),
    ]


def _along(g: _Generator, source: Value, statistic: Value, dim: int, text: Callable[[Body], str], bound: float) -> Value:
    """An element-wise function of a value and of its statistic along `dim`; always inexact."""
    keep = statistic.rank == source.rank
    dims = tuple("0" if k == dim else f"d{k}" for k in range(source.rank) if keep or k != dim)
    body = g.body()
    last = text(body)
    operands = [Operand(source, identity(source.rank)), Operand(statistic, dims)]
    (name,) = g.program.generic(
        [PARALLEL] * source.rank, operands, [output := Output(source.shape, "f32", identity(source.rank))], body, [last]
    )
    return g.result(name, output, [source, statistic], exact=False, bound=bound)


_SUM, _MAX = reductions("f32")[0], reductions("f32")[2]


def softmax(g: _Generator, scores: Value | None = None) -> Value:
    """Along any dimension of any value, or along the last one of `scores`."""
    source = scores or g.pick(lambda value: value.rank >= 1 and is_float(value.element) and value.bound < 60)
    dim = g.random.randrange(source.rank) if scores is None else source.rank - 1
    keep = g.chance(0.4)
    retained = [k for k in range(source.rank) if k != dim]
    largest = _reduction(g, source, retained, [dim], _MAX, keep)

    def shifted(body: Body) -> str:
        return body.op(f"math.exp {body.op('arith.subf %a0, %a1 : f32')} : f32")

    powers = _along(g, source, largest, dim, shifted, 1.0)
    total = _reduction(g, powers, retained, [dim], _SUM, keep)
    return _along(g, powers, total, dim, lambda body: body.op("arith.divf %a0, %a1 : f32"), 1.0)


def norm(g: _Generator) -> Value:
    """Layer norm or RMS norm along one dimension, with and without a gain."""
    source = g.pick(lambda value: value.rank >= 1 and is_float(value.element) and value.bound < 100)
    dim, keep = g.random.randrange(source.rank), g.chance(0.4)
    retained = [k for k in range(source.rank) if k != dim]
    extent = f"{source.shape[dim]}.0"
    centered = source
    if g.chance(0.5):
        total = _reduction(g, source, retained, [dim], _SUM, keep)

        def minus_mean(body: Body) -> str:
            mean = body.op(f"arith.divf %a1, {body.constant(extent, 'f32')} : f32")
            return body.op(f"arith.subf %a0, {mean} : f32")

        centered = _along(g, source, total, dim, minus_mean, source.bound * 2)
    squares = _reduction(g, centered, retained, [dim], _SUM, keep, square=True)

    def scaled(body: Body) -> str:
        mean = body.op(f"arith.divf %a1, {body.constant(extent, 'f32')} : f32")
        variance = body.op(f"arith.addf {mean}, {body.constant('1.0e-01', 'f32')} : f32")
        root = body.op(f"math.rsqrt {variance} : f32")
        return body.op(f"arith.mulf %a0, {root} : f32")

    normal = _along(g, centered, squares, dim, scaled, 5.0)
    return _combined(g, normal, g.partner("f32", normal.shape)) if g.chance(0.5) else normal


# Contractions ---------------------------------------------------------------------------------------------------------


def _numeric(value: Value) -> bool:
    return value.element != "i1" and (value.bound < 300 if is_float(value.element) else value.bound < 2000)


def contract(g: _Generator) -> Value:
    """A product of two tensors summed over loops, as an einsum: batched, transposed, outer, with several reduction loops."""
    source = g.pick(lambda value: value.rank >= 1 and _numeric(value))
    letters = list(range(source.rank))
    gone = sorted(g.random.sample(letters, g.random.choice([1, 1, 1, min(2, source.rank)])))
    batch = [k for k in letters if k not in gone and g.chance(0.3)]
    extents = list(source.shape)
    more = list(range(source.rank, source.rank + g.random.choice([0, 1, 1, 1, 2])))
    extents += [g.random.choice(g.extents) for _ in more]
    other_dims = [*batch, *gone, *more]
    if g.chance(0.4):
        other_dims = g.shuffled(other_dims)
    required = tuple(extents[dim] for dim in other_dims)
    retained = [k for k in range(len(extents)) if k not in gone]
    shape = tuple(extents[k] for k in retained)
    if max(prod(extents) / MOST_WORK, prod(shape) / MOST_ENTRIES, prod(required) / MOST_ENTRIES) > 1:
        raise DoesNotFit
    if g.chance(0.2):
        retained = g.shuffled(retained)
    other = _factor(g, required, source.element)
    count = prod(extents[k] for k in gone)
    return _product(g, Operand(source, identity(source.rank)), g.reading(other, other_dims), extents, retained, gone, count)


def _factor(g: _Generator, shape: tuple[int, ...], element: str) -> Value:
    found = [value for value in g.values if value.shape == shape and value.element == element and _numeric(value)]
    return g.random.choice(found) if found and g.chance(0.5) else g.given(shape, element)


def _product(
    g: _Generator, left: Operand, right: Operand, extents: Sequence[int], retained: Sequence[int], gone: Sequence[int], count: int
) -> Value:
    element = left.value.element
    bound = left.value.bound * right.value.bound * (count**0.5 if is_float(element) else count)
    if not _keeps_range(element, bound) or bound > 1e5:
        raise DoesNotFit
    kind = "f" if is_float(element) else "i"
    body = Body(g.program, inside=False)
    term = body.op(f"arith.mul{kind} %a0, %a1 : {element}")
    last = body.op(f"arith.add{kind} " + (f"{term}, %o0" if g.chance(0.5) else f"%o0, {term}") + f" : {element}")
    shape = tuple(extents[k] for k in retained)
    start, operands = _start(g, shape, element, kind), [left.value, right.value]
    output = Output(shape, element, tuple(f"d{k}" for k in retained), start.name if isinstance(start, Value) else start)
    loops = [REDUCTION if k in gone else PARALLEL for k in range(len(extents))]
    (name,) = g.program.generic(loops, [left, right], [output], body, [last])
    if isinstance(start, Value):
        operands.append(start)
    return g.result(name, output, operands, exact=False, bound=bound + 4)


def wide_contract(g: _Generator) -> Value:
    """A matrix product of two narrow integers, each extended in its own way, in the type of the sums."""
    source = g.pick(lambda value: value.rank == 2 and not is_float(value.element) and value.element != "i1")
    columns = g.random.choice(g.extents)
    if _size(source, columns) > 1:
        raise DoesNotFit
    return _wide_product(g, source, columns)


def _size(source: Value, columns: int) -> float:
    """Of the product of a matrix with one of so many columns: entries or iterations, by how many are allowed."""
    rows, terms = source.shape
    return max(rows * columns / MOST_ENTRIES, terms * columns / MOST_ENTRIES, rows * terms * columns / MOST_WORK)


def _wide_product(g: _Generator, source: Value, columns: int) -> Value:
    rows, terms = source.shape
    element = g.random.choice([element for element in g.elements if element != source.element])
    is_transposed = g.chance(0.5)
    other = _factor(g, (columns, terms) if is_transposed else (terms, columns), element)
    exts = [g.random.choice(("extsi", "extsi", "extui")) for _ in range(2)]
    widths = [int(value.element[1:]) for value in (source, other)]
    bounds = [value.bound if ext == "extsi" else 2.0**bits for value, ext, bits in zip((source, other), exts, widths, strict=True)]
    bound = bounds[0] * bounds[1] * terms
    fitting_sums = [e for e in ("i32", *g.elements) if int(e[1:]) > max(widths) and _keeps_range(e, bound)]
    if not fitting_sums:
        raise DoesNotFit
    total = g.random.choice(fitting_sums)
    body = Body(g.program, inside=False)
    factors = [body.op(f"arith.{ext} %a{k} : i{bits} to {total}") for k, (ext, bits) in enumerate(zip(exts, widths, strict=True))]
    last = body.op(f"arith.addi %o0, {body.op(f'arith.muli {factors[0]}, {factors[1]} : {total}')} : {total}")
    output = Output((rows, columns), total, ("d0", "d1"), "0")
    operands = [Operand(source, ("d0", "d2")), Operand(other, ("d1", "d2") if is_transposed else ("d2", "d1"))]
    (name,) = g.program.generic([PARALLEL, PARALLEL, REDUCTION], operands, [output], body, [last])
    return g.result(name, output, [source, other], bound=bound)


def _start(g: _Generator, shape: tuple[int, ...], element: str, kind: str) -> Value | str:
    """What a product is added to: zero, or at times another tensor (a bias)."""
    found = [value for value in g.values if value.shape == shape and value.element == element]
    if found and g.chance(0.3):
        return g.random.choice(found)
    return "0.0" if kind == "f" else "0"


_FORMS: dict[str, tuple[str, str, str]] = {
    "matmul": ("mk", "kn", "mn"),
    "batch_matmul": ("bmk", "bkn", "bmn"),
    "matvec": ("mk", "k", "m"),
    "vecmat": ("k", "kn", "n"),
    "batch_matvec": ("bmk", "bk", "bm"),
    "dot": ("k", "k", ""),
}


def named_product(g: _Generator) -> Value:
    """`linalg.matmul`, `linalg.batch_matmul`, ...: one side exists, the other may be new."""
    name = g.random.choice(["matmul", "matmul", "matmul", *_FORMS])
    left, right, out = _FORMS[name]
    swapped = g.chance(0.3)
    mine, others = (right, left) if swapped else (left, right)
    source = g.pick(lambda value: value.rank == len(mine) and _numeric(value))
    extents = dict(zip(mine, source.shape, strict=True))
    extents = {letter: g.random.choice(g.extents) for letter in others if letter not in extents} | extents
    required = tuple(extents[letter] for letter in others)
    shape = tuple(extents[letter] for letter in out)
    if max(prod(extents.values()) / MOST_WORK, prod(shape) / MOST_ENTRIES, prod(required) / MOST_ENTRIES) > 1:
        raise DoesNotFit
    other = _factor(g, required, source.element)
    kind = "f" if is_float(source.element) else "i"
    bound = source.bound * other.bound * (extents["k"] ** 0.5 if kind == "f" else extents["k"])
    if not _keeps_range(source.element, bound) or bound > 1e5:
        raise DoesNotFit
    start = _start(g, shape, source.element, kind)
    output = Output(shape, source.element, (), start.name if isinstance(start, Value) else start)
    inputs = [other, source] if swapped else [source, other]
    result = g.program.named(name, inputs, output)
    operands = [*inputs, start] if isinstance(start, Value) else inputs
    return g.result(result, output, operands, exact=False, bound=bound + 4)


# Layers: what a search speeds up --------------------------------------------------------------------------------------


def _linear(g: _Generator, source: Value, columns: int) -> Value:
    """The product of a matrix with weights, at times with a bias."""
    if _size(source, columns) > LARGER:
        raise DoesNotFit
    if not is_float(source.element):
        return _wide_product(g, source, columns)
    rows, terms = source.shape
    dims = g.random.choice([(1, 2), (2, 1), (2, 1)])
    weight = g.program.argument([(rows, columns, terms)[dim] for dim in dims], source.element, parameter=g.chance(0.8))
    g.add(weight)
    operands = Operand(source, ("d0", "d2")), g.reading(weight, dims)
    made = _product(g, *operands, (rows, columns, terms), (0, 1), (2,), terms)
    if g.chance(0.4):
        bias = g.program.argument((columns,), source.element, parameter=True)
        body = g.body()
        total = body.op(f"arith.addf %a0, %a1 : {source.element}")
        operands = Operand(made, identity(2)), Operand(bias, ("d1",))
        made = g.elementwise(operands, made.shape, made.element, body, total, False, made.bound + 4)
        if made.shape != (rows, columns):  # it was transposed
            raise DoesNotFit
    return made


def _activations(g: _Generator) -> Value:
    """A matrix that a layer is applied to; a new one where there is none."""
    try:
        return g.pick(lambda value: value.rank == 2 and _numeric(value) and value.bound < 40)
    except DoesNotFit:
        return g.given(g.shape(2), g.random.choice(("f32", *g.elements)) if g.integers else "f32")


def _cut(g: _Generator, source: Value, parts: int) -> list[Value]:
    """Equal slices along the last dimension."""
    rows, width = source.shape[0], source.shape[1] // parts
    return [
        g.moved(
            f"tensor.extract_slice {source.name}[0, {part * width}] [{rows}, {width}] [1, 1] : {source.type} to "
            f"{replace(source, shape=(rows, width)).type}", source, (rows, width),
        )
        for part in range(parts)
    ]


def projections(g: _Generator) -> list[Value]:
    """Several matrices that are slices of one product, as queries, keys and values are."""
    source, parts = _activations(g), g.random.choice([2, 3, 3, 4])
    whole = _linear(g, source, parts * g.random.choice(g.extents))
    return [*_cut(g, whole, parts), *([whole] if g.chance(0.1) else [])]


def perceptron(g: _Generator) -> Value:
    """Two products with a function between them."""
    inside = elementwise(g, _linear(g, _activations(g), g.random.choice(g.extents)))
    if inside.rank != 2 or inside.bound > 40 or not _numeric(inside):
        raise DoesNotFit
    return _linear(g, inside, g.random.choice(g.extents))


def matrix_vector(g: _Generator) -> Value:
    """Weights of which each is used once: one row of activations, with or without a dimension for it."""
    terms, columns = g.random.choice((8, 16, 31, 32, 48, 64, 96, 120)), g.random.choice(g.extents)
    if g.chance(0.5):
        return _linear(g, g.given((1, terms), "f32"), columns)
    source, weight = g.given((terms,), "f32"), g.program.argument((columns, terms), "f32", parameter=g.chance(0.4))
    if not _numeric(source):
        raise DoesNotFit
    return _product(g, Operand(weight, ("d0", "d1")), Operand(source, ("d1",)), (columns, terms), (0,), (1,), terms)


def attention(g: _Generator) -> Value:
    """Queries, keys and values of one product, in one head or several, at times masked and projected again."""
    source = _activations(g)
    if not is_float(source.element):
        raise DoesNotFit
    heads, width = g.random.choice([1, 1, 2, 3, 4]), g.random.choice(g.extents)
    queries, keys, values = (_headed(g, part, heads) for part in _cut(g, _linear(g, source, 3 * heads * width), 3))
    rows, last = source.shape[0], 3  # loops: head, row, column, sum
    if heads * rows * rows > LARGER * MOST_ENTRIES:
        raise DoesNotFit
    scores = _sums(g, (queries, (1, 0, 3)), (keys, (2, 0, 3)), (heads, rows, rows, width), last, (0, 1, 2))
    shares = _shares(g, scores, queries.bound * keys.bound, is_masked=g.chance(0.4))
    mixed = _sums(g, (shares, (0, 1, 3)), (values, (3, 0, 2)), (heads, rows, width, rows), last, (1, 0, 2))
    mixed = replace(mixed, bound=values.bound)
    joined = _collapsed(g, mixed, [[0], [1, 2]])
    return _linear(g, joined, g.random.choice(g.extents)) if g.chance(0.5) and joined.bound < 40 else joined


def one_query(g: _Generator) -> Value:
    """Attention of one row to keys and values that are there, as in a decode step."""
    heads, rows, width = g.random.choice([1, 2, 3, 4, 8]), g.random.choice(g.extents), g.random.choice(g.extents)
    if heads * rows * width > LARGER * MOST_ENTRIES:
        raise DoesNotFit
    query = g.given((heads, width), "f32")
    lies = g.random.choice([(0, 1, 2), (1, 0, 2), (0, 2, 1)])  # loops: head, row, column
    keys, values = (g.program.argument([(heads, rows, width)[dim] for dim in lies], "f32", parameter=False) for _ in range(2))
    if not _numeric(query):
        raise DoesNotFit
    scores = _sums(g, (query, (0, 2)), (keys, lies), (heads, rows, width), 2, (0, 1))
    shares = _shares(g, scores, query.bound * keys.bound, is_masked=False)
    mixed = _sums(g, (shares, (0, 1)), (values, lies), (heads, rows, width), 1, (0, 2))
    mixed = replace(mixed, bound=values.bound)
    if g.chance(0.5):
        return mixed
    flat = _collapsed(g, mixed, [[0, 1]])
    text = f"tensor.expand_shape {flat.name} [[0, 1]] output_shape [1, {heads * width}] : {flat.type} into "
    row = g.moved(text + replace(flat, shape=(1, heads * width)).type, flat, (1, heads * width))
    return _linear(g, row, g.random.choice(g.extents))


def _shares(g: _Generator, scores: Value, bound: float, *, is_masked: bool) -> Value:
    """The softmax of scores of that magnitude; `is_masked`: of those before a row's own."""
    rank, body = scores.rank, g.body()
    scaled = body.op(f"arith.mulf %a0, {body.constant(f'{4 / bound:.6e}', 'f32')} : f32")
    if is_masked:
        row, column = body.op(f"linalg.index {rank - 2} : index"), body.op(f"linalg.index {rank - 1} : index")
        seen = body.op(f"arith.cmpi uge, {row}, {column} : index")
        scaled = body.op(f"arith.select {seen}, {scaled}, {body.constant('-inf', 'f32')} : f32")
    made = g.elementwise([Operand(scores, identity(rank))], scores.shape, "f32", body, scaled, False, 30.0)
    if made.shape != scores.shape:  # it was transposed
        raise DoesNotFit
    return softmax(g, made)


def _headed(g: _Generator, source: Value, heads: int) -> Value:
    """Columns as heads and what each has."""
    rows, columns = source.shape
    shape = (rows, heads, columns // heads)
    kind = replace(source, shape=shape).type
    text = f"tensor.expand_shape {source.name} [[0], [1, 2]] output_shape {list(shape)} : {source.type} into {kind}"
    return g.moved(text, source, shape)


def _sums(
    g: _Generator,
    left: tuple[Value, Sequence[int]],
    right: tuple[Value, Sequence[int]],
    extents: Sequence[int],
    gone: int,
    retained: Sequence[int],
) -> Value:
    """A product of two values, each read at its loops, summed over the loop `gone`."""
    return _product(g, g.reading(*left), g.reading(*right), extents, retained, (gone,), extents[gone])


def window(g: _Generator) -> Value:
    """Pooling, or a convolution with one filter, along the last dimension; windows overlap where the stride is small."""
    source = g.pick(lambda value: value.rank >= 1 and value.shape[-1] >= 2 and is_float(value.element) and value.bound < 300)
    size = g.random.randint(2, min(4, source.shape[-1]))
    stride = g.random.choice([1, 1, 2, size])
    count = (source.shape[-1] - size) // stride + 1
    rank = source.rank
    moving = f"d{rank - 1} * {stride} + d{rank}" if stride > 1 else f"d{rank - 1} + d{rank}"
    read = Operand(source, (*identity(rank - 1), moving))
    shape = (*source.shape[:-1], count)
    loops = [*[PARALLEL] * rank, REDUCTION]
    body = Body(g.program, inside=False)
    if g.chance(0.5):
        taps = g.given((size,), "f32")
        last = body.op(f"arith.addf {body.op('arith.mulf %a0, %a1 : f32')}, %o0 : f32")
        reduction, bound = _SUM, source.bound * taps.bound * size**0.5
    else:
        taps = Value(g.program.empty((size,), "f32"), (size,), "f32")
        reduction = g.random.choice(reductions("f32")[:4])
        last = body.op(f"{reduction.operation} %a0, %o0 : f32")
        bound = source.bound * size + 2
    output = Output(shape, "f32", identity(rank), reduction.start)
    (name,) = g.program.generic(loops, [read, Operand(taps, (f"d{rank}",))], [output], body, [last])
    return g.result(name, output, [source, taps], exact=not reduction.sums, bound=bound)


# Movements ------------------------------------------------------------------------------------------------------------


def transpose(g: _Generator) -> Value:
    source = g.pick(lambda value: value.rank >= 2)
    order = g.shuffled(range(source.rank))
    shape = tuple(source.shape[dim] for dim in order)
    output = Output(shape, source.element, identity(source.rank))
    if g.chance(0.5):
        name = g.program.named("transpose", [source], output, f" permutation = {order}")
    else:
        output = replace(output, indices=tuple(f"d{dim}" for dim in order))
        operands = [Operand(source, identity(source.rank))]
        (name,) = g.program.generic([PARALLEL] * source.rank, operands, [output], g.body(), ["%a0"])
    g.read(source)
    return replace(source, name=name, shape=shape)


def broadcast(g: _Generator) -> Value:
    """New dimensions anywhere, by name or by a generic that copies."""
    source = g.pick(lambda value: value.rank <= 3 and value.entries <= 128)
    rank = source.rank + g.random.choice([1, 1, min(2, 4 - source.rank)])
    added = sorted(g.random.sample(range(rank), rank - source.rank))
    rest = iter(source.shape)
    shape = tuple(g.random.choice(g.extents) if dim in added else next(rest) for dim in range(rank))
    if prod(shape) > MOST_ENTRIES:
        raise DoesNotFit
    output = Output(shape, source.element, identity(rank))
    if g.chance(0.5):
        name = g.program.named("broadcast", [source], output, f" dimensions = {added}")
    else:
        operands = [g.reading(source, [dim for dim in range(rank) if dim not in added])]
        (name,) = g.program.generic([PARALLEL] * rank, operands, [output], g.body(), ["%a0"])
    g.read(source)
    return replace(source, name=name, shape=shape)


def collapse(g: _Generator) -> Value:
    source = g.pick(lambda value: value.rank >= 2)
    first = g.random.randrange(source.rank - 1)
    last = g.random.randint(first + 1, source.rank - 1)
    groups = [[k] for k in range(first)] + [list(range(first, last + 1))] + [[k] for k in range(last + 1, source.rank)]
    return _collapsed(g, source, groups)


def _collapsed(g: _Generator, source: Value, groups: list[list[int]]) -> Value:
    shape = tuple(prod(source.shape[k] for k in group) for group in groups)
    kind = replace(source, shape=shape).type
    return g.moved(f"tensor.collapse_shape {source.name} {groups} : {source.type} into {kind}", source, shape)


def _divisors(extent: int) -> list[int]:
    return [divisor for divisor in range(1, extent + 1) if extent % divisor == 0]


def expand(g: _Generator, source: Value | None = None) -> Value:
    """One dimension becomes two or three."""
    source = source or g.pick(lambda value: 1 <= value.rank <= 3)
    dim = g.random.randrange(source.rank)
    outer = g.random.choice(_divisors(source.shape[dim]))
    parts = [outer, source.shape[dim] // outer]
    if source.rank <= 2 and g.chance(0.2):
        inner = g.random.choice(_divisors(parts[1]))
        parts = [outer, inner, parts[1] // inner]
    shape = (*source.shape[:dim], *parts, *source.shape[dim + 1 :])
    groups, position = [], 0
    for k in range(source.rank):
        width = len(parts) if k == dim else 1
        groups.append(list(range(position, position + width)))
        position += width
    kind = replace(source, shape=shape).type
    text = f"tensor.expand_shape {source.name} {groups} output_shape {list(shape)} : {source.type} into {kind}"
    return g.moved(text, source, shape)


def reshape(g: _Generator) -> Value:
    """Everything into one dimension, and apart again where other boundaries lie."""
    source = g.pick(lambda value: value.rank >= 2)
    flat = _collapsed(g, source, [list(range(source.rank))])
    if flat.shape[0] > 1 and g.chance(0.2):
        flat = elementwise(g, flat)
    return expand(g, flat)


def rank_zero(g: _Generator) -> Value:
    """A tensor of one entry without dimensions, and a scalar that is broadcast."""
    source = g.pick(lambda value: value.entries == 1 and value.rank >= 1)
    return g.moved(f"tensor.collapse_shape {source.name} [] : {source.type} into tensor<{source.element}>", source, ())


def extract(g: _Generator) -> Value:
    """A slice, at times with strides or without a dimension of extent 1."""
    source = g.pick(lambda value: value.rank >= 1)
    strides = [g.random.choice([1, 1, 1, 1, 2, 3]) for _ in source.shape]
    whole = [g.chance(0.4) for _ in source.shape]
    offsets = [0 if all_ else g.random.randrange(extent) for all_, extent in zip(whole, source.shape, strict=True)]
    sizes = []
    for all_, extent, offset, stride in zip(whole, source.shape, offsets, strides, strict=True):
        most = (extent - offset - 1) // stride + 1
        sizes.append(most if all_ else g.random.randint(1, most))
    return _sliced(g, source, offsets, sizes, strides)


def _sliced(g: _Generator, source: Value, offsets: list[int], sizes: list[int], strides: list[int]) -> Value:
    shape = sizes
    if g.chance(0.15):
        shape = [size for k, size in enumerate(sizes) if size != 1 or k == 0]
    kind = replace(source, shape=tuple(shape)).type
    return g.moved(f"tensor.extract_slice {source.name}{offsets} {sizes} {strides} : {source.type} to {kind}", source, shape)


def split(g: _Generator) -> list[Value]:
    """A tensor cut into parts along one dimension, as for queries, keys and values."""
    source = g.pick(lambda value: value.rank >= 1 and max(value.shape) >= 2)
    dim = g.random.choice([k for k, extent in enumerate(source.shape) if extent >= 2])
    extent = source.shape[dim]
    if g.chance(0.5):
        count = g.random.choice([d for d in _divisors(extent) if d > 1][:3])
        cuts = [k * extent // count for k in range(1, min(count, 4))]
    else:
        cuts = [g.random.randint(1, extent - 1)]
    parts = []
    for low, high in zip([0, *cuts], [*cuts, extent], strict=True):
        offsets = [low if k == dim else 0 for k in range(source.rank)]
        sizes = [high - low if k == dim else size for k, size in enumerate(source.shape)]
        kind = replace(source, shape=tuple(sizes)).type
        text = f"tensor.extract_slice {source.name}{offsets} {sizes} {[1] * source.rank} : {source.type} to {kind}"
        parts.append(g.moved(text, source, sizes))
    return parts


def concat(g: _Generator) -> Value:
    """Values of shapes that agree but in one dimension; the same value may come twice."""
    source = g.pick(lambda value: value.rank >= 1)
    dim = g.random.randrange(source.rank)

    def agrees(value: Value) -> bool:
        same = value.rank == source.rank and value.element == source.element
        return same and all(a == b for k, (a, b) in enumerate(zip(value.shape, source.shape, strict=True)) if k != dim)

    parts = [source]
    for _ in range(g.random.choice([1, 1, 2])):
        if g.chance(0.3):
            shape = tuple(g.random.choice(g.extents) if k == dim else extent for k, extent in enumerate(source.shape))
            parts.append(g.given(shape, source.element))
        else:
            parts.append(g.pick(agrees))
    g.random.shuffle(parts)
    shape = tuple(sum(p.shape[k] for p in parts) if k == dim else extent for k, extent in enumerate(source.shape))
    if prod(shape) > MOST_ENTRIES:
        raise DoesNotFit
    names, types = ", ".join(p.name for p in parts), ", ".join(p.type for p in parts)
    output = Output(shape, source.element, ())
    name = g.program.line(f"tensor.concat dim({dim}) {names} : ({types}) -> {output.type}")
    bound, exact = max(p.bound for p in parts), all(p.exact for p in parts)
    g.read(*parts)
    return Value(name, shape, source.element, exact, bound, any(p.computed for p in parts))


def pad(g: _Generator) -> Value:
    source = g.pick(lambda value: value.rank >= 1 and is_float(value.element))
    low = [g.random.choice([0, 0, 1, 2]) for _ in source.shape]
    high = [g.random.choice([0, 0, 1, 3]) for _ in source.shape]
    shape = tuple(a + extent + b for a, extent, b in zip(low, source.shape, high, strict=True))
    if prod(shape) > MOST_ENTRIES or sum(low) + sum(high) == 0:
        raise DoesNotFit
    filler = g.program.scalar(g.random.choice(["0.0", "0.0", "-2.5"]), source.element)
    arguments = ", ".join(f"%i{k}: index" for k in range(source.rank))
    text = (
        f"tensor.pad {source.name} low{low} high{high} {{\n  ^bb0({arguments}):\n    tensor.yield {filler} : {source.element}\n"
        f"  }} : {source.type} to {replace(source, shape=shape).type}"
    )
    return g.moved(text, source, shape)


def insert(g: _Generator) -> Value:
    """A tensor placed into a larger one: into a constant, or over entries of another value."""
    source = g.pick(lambda value: value.rank >= 1)
    room = [g.random.choice([0, 0, 1, 2, 3]) for _ in source.shape]
    shape = tuple(extent + more for extent, more in zip(source.shape, room, strict=True))
    if prod(shape) > MOST_ENTRIES:
        raise DoesNotFit
    found = [value for value in g.values if value.shape == shape and value.element == source.element and value is not source]
    target = replace(source, shape=shape)
    if found and g.chance(0.5):
        target = g.random.choice(found)
        g.read(target)
    else:
        zero = "0.0" if is_float(source.element) else "false" if source.element == "i1" else "0"
        target = Value(g.program.filled(shape, source.element, zero), shape, source.element)
    offsets = [g.random.randint(0, more) for more in room]
    text = f"tensor.insert_slice {source.name} into {target.name}{offsets} {list(source.shape)} {[1] * source.rank}"
    g.read(source)
    name = g.program.line(f"{text} : {source.type} into {target.type}")
    computed = source.computed or target.computed
    return Value(name, shape, source.element, source.exact and target.exact, max(source.bound, target.bound), computed)


def copy(g: _Generator) -> Value:
    source = g.pick()
    output = Output(source.shape, source.element, identity(source.rank))
    name = g.program.named("copy", [source], output)
    g.read(source)
    return replace(source, name=name)


def fill(g: _Generator) -> Value:
    """A filled tensor as operand of something."""
    source = g.pick(lambda value: value.element != "i1" and _numeric(value))
    literal = "1.5" if is_float(source.element) else "3"
    if g.chance(0.5):
        name = g.program.filled(source.shape, source.element, literal)
    else:
        name = g.program.line(f"tensor.splat {g.program.scalar(literal, source.element)} : {source.type}", "s")
    return _combined(g, source, Operand(replace(source, name=name, computed=False), identity(source.rank)))


def work_on_parameters(g: _Generator) -> Value:
    """An operation on parameters alone, which the host does."""
    source = g.pick(lambda value: value.name[1] == "p")
    return elementwise(g, source)


Kind: TypeAlias = tuple[float, Callable[[_Generator], Value | list[Value]]]
KINDS: dict[str, Kind] = {
    "elementwise": (10, elementwise),
    "binary": (12, binary),
    "residual": (5, residual),
    "named_elementwise": (4, named_elementwise),
    "multiple_operands": (4, multiple_operands),
    "compare": (1.5, compare),
    "select": (4, select),
    "cast": (2, cast),
    "positions": (2, positions),
    "several_results": (2, several_results),
    "reduce": (8, reduce),
    "named_reduce": (2, named_reduce),
    "argument_of_maximum": (1, argument_of_maximum),
    "softmax": (4, softmax),
    "norm": (4, norm),
    "contract": (8, contract),
    "named_product": (8, named_product),
    "window": (1.5, window),
    "transpose": (6, transpose),
    "broadcast": (4, broadcast),
    "collapse": (3, collapse),
    "expand": (4, expand),
    "reshape": (4, reshape),
    "rank_zero": (1, rank_zero),
    "slice": (4, extract),
    "split": (4, split),
    "concat": (6, concat),
    "pad": (1.5, pad),
    "insert": (1.5, insert),
    "copy": (1, copy),
    "fill": (1.5, fill),
    "work_on_parameters": (1.5, work_on_parameters),
}
"""How likely each kind of operation is, and what adds one."""

LAYERS: dict[str, Kind] = {
    "projections": (16, projections),
    "perceptron": (14, perceptron),
    "matrix_vector": (10, matrix_vector),
    "attention": (20, attention),
    "one_query": (16, one_query),
}
"""More for programs that are searched."""

INTEGER_KINDS: dict[str, Kind] = {
    **KINDS,
    "cast": (10, cast),
    "unsigned": (8, unsigned),
    "unsigned_float": (2, unsigned_float),
    "wide_contract": (25, wide_contract),
}
"""The same for programs of integers."""
