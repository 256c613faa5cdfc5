"""How scalar operations print in C++: templates with precedences, from which parentheses follow.

Precedences follow C++ (a smaller number binds tighter). Bit and logical operators ask for parentheses around every compound
operand, because few readers know their precedence.
"""

from __future__ import annotations

from dataclasses import dataclass

PRIMARY, UNARY, PRODUCT, SUM, SHIFT, RELATION, EQUALITY, BITS, LOGIC, TERNARY = range(10)


@dataclass(frozen=True)
class Form:
    """How an operation prints: a template over its operands, its precedence, the loosest operand precedences that need no
    parentheses, and the name of a variable that holds the result."""

    template: str
    precedence: int
    limits: tuple[int, ...]
    name: str


def infix(operator: str, precedence: int, name: str) -> Form:
    return Form(f"{{0}} {operator} {{1}}", precedence, (precedence, precedence - 1), name)


def strict(operator: str, precedence: int, name: str) -> Form:
    """An infix operator whose compound operands are always parenthesised."""
    return Form(f"{{0}} {operator} {{1}}", precedence, (UNARY, UNARY), name)


def connective(operator: str, name: str) -> Form:
    """Of comparisons, which need no parentheses; the other connective does."""
    return Form(f"{{0}} {operator} {{1}}", LOGIC, (EQUALITY, EQUALITY), name)


def call(function: str, arity: int = 1) -> Form:
    arguments = ", ".join(f"{{{index}}}" for index in range(arity))
    name = function.removeprefix("hls::")
    return Form(f"{function}({arguments})", PRIMARY, (TERNARY,) * arity, f"{name}_value")


RECIPROCAL_OF = Form("hls::recip({1})", PRIMARY, (TERNARY, TERNARY), "reciprocal")
"""Of a division of 1."""

# Helpers of kernel.h, defined there only where a kernel uses them (see `stc.codegen.helpers_h`).
MAXIMUM, MINIMUM = "maximum", "minimum"
UNPACK, PACK = "unpack_lanes", "pack_lanes"
QUOTIENT, FLOOR_QUOTIENT, REMAINDER = "int_quotient", "int_floor_quotient", "int_remainder"
FLOAT_OF_BITS, BITS_OF_FLOAT = "float_of_bits", "bits_of_float"
