"""Sizes: trip counts and constants that may be known only at run time.

A `Size` is an integer, a named symbol from 0 to a compiled maximum (a position, a number of rows), or a sum, product, minimum,
maximum or ceiling division of sizes: `min(pos + 1, window)`, a number of tiles or tokens. None of these falls where an operand
grows. An entry of a table is a size as well: the trips of a phase, the window of a layer.

Sizes are made by `Symbol` and the functions `sum_of`, `product_of`, `least_of`, `largest_of`, `ceildiv` and `entry_of`, which bring
them into one spelling: what can take one value only is an integer, nested sums are one sum, operands of a minimum that are never
the least are left out. `read_size` reads the spelling again.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import TypeAlias

from stc.diagnostics import CompileError


@dataclass(frozen=True)
class Symbol:
    """A run-time scalar `name` in 0..`maximum`."""

    name: str
    maximum: int

    def __post_init__(self) -> None:
        if not self.name.isidentifier():
            raise ValueError(f"symbol name '{self.name}' is not an identifier")
        if self.name in SYNTAX:
            raise ValueError(f"symbol name '{self.name}' is taken by sizes such as {self.name}(pos<=7, 4)")
        if self.maximum < 1:
            raise ValueError(f"symbol '{self.name}' has maximum {self.maximum}, expected at least 1")

    def __str__(self) -> str:
        return f"{self.name}<={self.maximum}"


@dataclass(frozen=True)
class Sum:
    """Sizes added up, an integer (of any sign) last."""

    terms: tuple[Size, ...]

    def __str__(self) -> str:
        return _call("sum", self.terms)


@dataclass(frozen=True)
class Product:
    """Sizes multiplied, none of them ever below 0, an integer last."""

    factors: tuple[Size, ...]

    def __str__(self) -> str:
        return _call("mul", self.factors)


@dataclass(frozen=True)
class Least:
    """The least of some sizes."""

    operands: tuple[Size, ...]

    def __str__(self) -> str:
        return _call("min", self.operands)


@dataclass(frozen=True)
class Largest:
    """The largest of some sizes."""

    operands: tuple[Size, ...]

    def __str__(self) -> str:
        return _call("max", self.operands)


@dataclass(frozen=True)
class CeilDiv:
    """`size` divided by `divisor`, rounded up: the number of tiles of a symbolic extent."""

    size: Size
    divisor: int

    def __str__(self) -> str:
        return _call("ceildiv", (self.size, self.divisor))


@dataclass(frozen=True)
class Entry:
    """Entry `index` (from 0 on) of a table."""

    index: Symbol
    entries: tuple[int, ...]

    def __str__(self) -> str:
        return _call("entry", (self.index, *self.entries))


Size: TypeAlias = int | Symbol | Sum | Product | Least | Largest | CeilDiv | Entry


def _call(name: str, operands: Iterable[Size]) -> str:
    return f"{name}({', '.join(str(operand) for operand in operands)})"


# Making -------------------------------------------------------------------------------------------------------------------


def sum_of(*sizes: Size) -> Size:
    """The sum, as one sum with its integers added up last. An integer may be negative."""
    terms = [term for size in sizes for term in (size.terms if isinstance(size, Sum) else (size,))]
    constant = sum(term for term in terms if isinstance(term, int))
    symbolic = sorted((term for term in terms if not isinstance(term, int)), key=str)
    if not symbolic:
        return constant
    if constant == 0 and len(symbolic) == 1:
        return symbolic[0]
    return Sum((*symbolic, *((constant,) if constant else ())))


def product_of(*sizes: Size) -> Size:
    """The product, as one product with its integers multiplied last; ValueError where a factor may be negative."""
    if (negative := next((size for size in sizes if minimum(size) < 0), None)) is not None:
        raise ValueError(f"product with {negative}, which may be {minimum(negative)}, expected at least 0")
    factors = [factor for size in sizes for factor in (size.factors if isinstance(size, Product) else (size,))]
    constant = prod(factor for factor in factors if isinstance(factor, int))
    symbolic = sorted((factor for factor in factors if not isinstance(factor, int)), key=str)
    if not symbolic or constant == 0:
        return constant
    if constant == 1 and len(symbolic) == 1:
        return symbolic[0]
    return Product((*symbolic, *((constant,) if constant != 1 else ())))


def least_of(*sizes: Size) -> Size:
    """The least of `sizes`, without those that are never below all others."""
    return _best_of(Least, sizes, lambda a, b: maximum(a) <= minimum(b))


def largest_of(*sizes: Size) -> Size:
    """The largest of `sizes`, without those that are never above all others."""
    return _best_of(Largest, sizes, lambda a, b: minimum(a) >= maximum(b))


def ceildiv(size: Size, divisor: int) -> Size:
    """`size` divided by `divisor`, rounded up; ValueError where `divisor` is below 1."""
    if divisor < 1:
        raise ValueError(f"ceildiv of {size} by {divisor}, expected a divisor of at least 1")
    constant = size.factors[-1] if isinstance(size, Product) else size
    if isinstance(size, Product) and isinstance(constant, int) and constant % divisor == 0:
        return product_of(*size.factors[:-1], constant // divisor)
    return size if divisor == 1 else simplified(CeilDiv(size, divisor))


def entry_of(index: Size, *entries: int) -> Size:
    """Entry `index` of a table; ValueError where it has not one of each value of `index`, or one below 0."""
    if not isinstance(index, Symbol) or len(entries) != index.maximum + 1 or min(entries) < 0:
        found = f"entry({', '.join(map(str, (index, *entries)))})"
        raise ValueError(f"{found} is none, expected a symbol, and for each value of it an entry from 0 on")
    return simplified(Entry(index, entries))


def _best_of(kind: type[Least] | type[Largest], sizes: Iterable[Size], covers: Callable[[Size, Size], bool]) -> Size:
    """`kind` of `sizes` without those that another one `covers` for all values of the symbols."""
    flat = [operand for size in sizes for operand in (size.operands if isinstance(size, kind) else (size,))]
    if not flat:
        raise ValueError("no sizes, expected at least one")
    chosen: list[Size] = []
    for operand in sorted(set(flat), key=lambda size: (isinstance(size, int), str(size))):
        if any(covers(other, operand) for other in chosen):
            continue
        chosen = [*(other for other in chosen if not covers(operand, other)), operand]
    return chosen[0] if len(chosen) == 1 else kind(tuple(chosen))


SYNTAX: dict[str, Callable[..., Size]] = {"sum": sum_of, "mul": product_of, "min": least_of, "max": largest_of, "ceildiv": ceildiv,
                                          "entry": entry_of}
"""How sizes are written in types: the name before the parentheses, and what makes it."""


# Asking -------------------------------------------------------------------------------------------------------------------


def operands_of(size: Size) -> tuple[Size, ...]:
    """The sizes that `size` is made of; none of an integer or symbol."""
    match size:
        case Sum():
            return size.terms
        case Product():
            return size.factors
        case Least() | Largest():
            return size.operands
        case CeilDiv():
            return (size.size,)
        case Entry():
            return (size.index,)
        case _:
            return ()


def entries_in(size: Size) -> Iterator[Entry]:
    """The entries of tables that `size` is made of."""
    if isinstance(size, Entry):
        yield size
    for operand in operands_of(size):
        yield from entries_in(operand)


def evaluated(size: Size, value_of: Callable[[Symbol], int], entry: Callable[[Entry], int] | None = None) -> int:
    """`size` where each symbol has the value that `value_of` gives it, and each entry, if `entry` is given, that of `entry`."""
    match size:
        case int():
            return size
        case Symbol():
            return value_of(size)
        case Entry():
            return size.entries[value_of(size.index)] if entry is None else entry(size)
        case CeilDiv():
            return -(-evaluated(size.size, value_of, entry) // size.divisor)
        case _:
            return _OF_VALUES[type(size)](evaluated(operand, value_of, entry) for operand in operands_of(size))


_OF_VALUES: dict[type, Callable[[Iterable[int]], int]] = {Sum: sum, Product: prod, Least: min, Largest: max}


def maximum(size: Size) -> int:
    """What `size` is never above: its largest value, but where several entries depend on one symbol."""
    return evaluated(size, lambda symbol: symbol.maximum, lambda entry: max(entry.entries))


def minimum(size: Size) -> int:
    """What `size` is never below: its least value, but where several entries depend on one symbol."""
    return evaluated(size, lambda symbol: 0, lambda entry: min(entry.entries))


def half_way(size: Size) -> int:
    """The size, at least 1, where each of its symbols has half of its maximum: about the mean over the positions of a sequence."""
    return max(1, evaluated(size, lambda symbol: symbol.maximum // 2))


def is_static(size: Size) -> bool:
    return isinstance(size, int)


MOST_VALUES = 128
"""Of all symbols together: so many values are looked at one by one where each takes a run of a design."""

MOST_COMPARED = 256
"""The same where each takes an evaluation of two sizes."""


def sampled_values(symbols: Iterable[Symbol], most: int = MOST_VALUES) -> tuple[dict[str, int], ...]:
    """Values of `symbols` at which something is looked at, the largest first: all, if these are at most `most`, else for each the
    ends, their neighbours and the middle."""
    found = {symbol.name: symbol for symbol in symbols}
    ranges: list[Iterable[int]] = [range(symbol.maximum, -1, -1) for symbol in found.values()]
    if not are_all_sampled(found.values(), most):
        ends = [(symbol.maximum, symbol.maximum - 1, symbol.maximum // 2, 1, 0) for symbol in found.values()]
        ranges = [sorted(set(each), reverse=True) for each in ends]
    return tuple(dict(zip(found, values, strict=True)) for values in product(*ranges))


def are_all_sampled(symbols: Iterable[Symbol], most: int = MOST_VALUES) -> bool:
    """Whether `sampled_values` are all there are."""
    return prod(symbol.maximum + 1 for symbol in symbols) <= most


def are_equal(first: Size, second: Size) -> bool:
    """Whether two sizes are the same for all values of their symbols: multiplied out, or one by one where these are few."""
    symbols = symbols_in((first, second))
    if _monomials(first) == _monomials(second):
        return True
    everywhere = sampled_values(symbols, MOST_COMPARED) if are_all_sampled(symbols, MOST_COMPARED) else ()
    return bool(everywhere) and all(value_at(first, values) == value_at(second, values) for values in everywhere)


def _monomials(size: Size) -> Counter[tuple[Size, ...]]:
    """`size` multiplied out: how often each product of symbols (and of what is no sum or product) is added up; () for 1."""
    if is_static(size):
        found = Counter({(): static(size)})
    elif isinstance(size, Sum):
        found = Counter[tuple[Size, ...]]()
        for term in size.terms:
            found.update(_monomials(term))
    elif isinstance(size, Product):
        found = Counter[tuple[Size, ...]]({(): 1})
        for factor in map(_monomials, size.factors):
            some, found = found, Counter[tuple[Size, ...]]()
            for (a, m), (b, n) in product(some.items(), factor.items()):
                found[tuple(sorted((*a, *b), key=str))] += m * n
    else:
        found = Counter[tuple[Size, ...]]({(size,): 1})
    return found


class RunTimeSizeError(ValueError):
    """A size is known at run time only, where whoever asks needs an integer."""


def static(size: Size) -> int:
    """`size` as an integer; RunTimeSizeError where it is symbolic."""
    if isinstance(size, int):
        return size
    raise RunTimeSizeError(f"size {size} is symbolic, expected an integer")


def value_at(size: Size, values: Mapping[str, int]) -> int:
    """`size` where each symbol has its value in `values`; CompileError where one has none, or one out of range."""

    def value_of(symbol: Symbol) -> int:
        value = values.get(symbol.name)
        if value is None or not 0 <= value <= symbol.maximum:
            raise CompileError(f"symbol '{symbol.name}' is {value}", accepted=f"a value from 0 to {symbol.maximum}")
        return value

    return evaluated(size, value_of)


def substituted(size: Size, values: Mapping[Symbol, int]) -> Size:
    """`size` where some symbols have values."""
    match size:
        case int():
            return size
        case Symbol():
            return values.get(size, size)
        case Entry():
            return size.entries[values[size.index]] if size.index in values else size
        case CeilDiv():
            return ceildiv(substituted(size.size, values), size.divisor)
        case _:
            return _MAKERS[type(size)](*(substituted(operand, values) for operand in operands_of(size)))


_MAKERS: dict[type, Callable[..., Size]] = {Sum: sum_of, Product: product_of, Least: least_of, Largest: largest_of}


def simplified(size: Size) -> Size:
    """`size`, or an integer where it can take no other value."""
    least = minimum(size)
    return least if least == maximum(size) else size


def symbols_in(sizes: Iterable[Size]) -> tuple[Symbol, ...]:
    """The symbols that `sizes` depend on, by name; ValueError where one name has two maxima."""
    found: dict[str, Symbol] = {}
    for symbol in _symbols(sizes):
        if (known := found.setdefault(symbol.name, symbol)) != symbol:
            raise ValueError(f"symbol '{symbol.name}' has maximum {known.maximum} and also {symbol.maximum}")
    return tuple(found[name] for name in sorted(found))


def _symbols(sizes: Iterable[Size]) -> Iterator[Symbol]:
    for size in sizes:
        if isinstance(size, Symbol):
            yield size
        yield from _symbols(operands_of(size))


def read_size(text: str) -> Size:
    """The size that is spelled `text`, as `str` spells it; ValueError where it is none."""
    tokens = re.findall(r"-?\d+|\w+|<=|[(),]|\S", text)
    size, end = _read(tokens, 0)
    if end != len(tokens):
        raise ValueError(f"'{text}' goes on with '{tokens[end]}', expected a size")
    return size


def _read(tokens: Sequence[str], at: int) -> tuple[Size, int]:
    """The size that begins at a token, and where it ends."""
    token, following = (*tokens[at : at + 2], "", "")[:2]
    if re.fullmatch(r"-?\d+", token):
        return int(token), at + 1
    if following == "<=" and at + 2 < len(tokens) and tokens[at + 2].isdigit():
        return Symbol(token, int(tokens[at + 2])), at + 3
    if token not in SYNTAX or following != "(":
        raise ValueError(f"'{token}' is no size, expected an integer, 'name<=maximum', or one of {', '.join(SYNTAX)} of sizes")
    operands: list[Size] = []
    at += 1
    while not operands or (at < len(tokens) and tokens[at] == ","):
        operand, at = _read(tokens, at + 1)
        operands.append(operand)
    if at >= len(tokens) or tokens[at] != ")":
        raise ValueError(f"'{token}(' has no ')'")
    if token == "ceildiv" and (len(operands) != 2 or not isinstance(operands[1], int)):
        raise ValueError("expected 'ceildiv(size, divisor)' with an integer as divisor")
    return SYNTAX[token](*operands), at + 1
