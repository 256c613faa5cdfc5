"""Sizes: trip counts and constants that may be known only at run time.

A `Size` is an integer, a named symbol with a compiled maximum (a sequence length), or a ceiling division of one (its number
of tiles). Passes that cannot handle a symbol say so through `static`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import prod
from typing import TypeAlias

from stc.diagnostics import CompileError


@dataclass(frozen=True)
class Symbol:
    """A run-time scalar `name` in 1..`maximum`."""

    name: str
    maximum: int

    def __post_init__(self) -> None:
        if not self.name.isidentifier():
            raise ValueError(f"symbol name '{self.name}' is not an identifier")
        if self.maximum < 1:
            raise ValueError(f"symbol '{self.name}' has maximum {self.maximum}, expected at least 1")

    def __str__(self) -> str:
        return f"{self.name}<={self.maximum}"


@dataclass(frozen=True)
class CeilDiv:
    """`symbol` divided by `divisor`, rounded up: the number of tiles of a symbolic extent."""

    symbol: Symbol
    divisor: int

    def __post_init__(self) -> None:
        if self.divisor < 2:
            raise ValueError(f"ceildiv of '{self.symbol.name}' by {self.divisor}, expected a divisor of at least 2")

    def __str__(self) -> str:
        return f"ceildiv({self.symbol}, {self.divisor})"


Size: TypeAlias = int | Symbol | CeilDiv


def maximum(size: Size) -> int:
    """The largest value `size` can take."""
    match size:
        case int():
            return size
        case Symbol():
            return size.maximum
        case CeilDiv():
            return -(-size.symbol.maximum // size.divisor)


def is_static(size: Size) -> bool:
    return isinstance(size, int)


def static(size: Size) -> int:
    """`size` as an integer; ValueError where it is symbolic."""
    if isinstance(size, int):
        return size
    raise ValueError(f"size {size} is symbolic, expected an integer")


def value_at(size: Size, values: Mapping[str, int]) -> int:
    """`size` where each symbol has its value in `values`; CompileError where one has none, or one out of range."""
    match size:
        case int():
            return size
        case Symbol():
            value = values.get(size.name)
            if value is None or not 1 <= value <= size.maximum:
                raise CompileError(f"symbol '{size.name}' is {value}", accepted=f"a value from 1 to {size.maximum}")
            return value
        case CeilDiv():
            return -(-value_at(size.symbol, values) // size.divisor)


def simplified(size: Size) -> Size:
    """`size`, or the integer 1 where it can take no other value: symbols start at 1."""
    return 1 if not isinstance(size, int) and maximum(size) == 1 else size


def symbols_in(sizes: Iterable[Size]) -> tuple[Symbol, ...]:
    """The symbols that `sizes` depend on, by name; ValueError where one name has two maxima."""
    found: dict[str, Symbol] = {}
    for size in sizes:
        if isinstance(size, int):
            continue
        symbol = size.symbol if isinstance(size, CeilDiv) else size
        if (known := found.setdefault(symbol.name, symbol)) != symbol:
            raise ValueError(f"symbol '{symbol.name}' has maximum {known.maximum} and also {symbol.maximum}")
    return tuple(found[name] for name in sorted(found))


def static_product(sizes: tuple[Size, ...]) -> int:
    return prod(static(size) for size in sizes)
