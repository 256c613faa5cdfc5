"""Scalar operations as C++ expressions: a table from operation to text, with the fewest parentheses.

Precedences follow C++ (a smaller number binds tighter). Bit and logical operators ask for parentheses around every compound
operand, because few readers know their precedence.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from xdsl.dialects import arith, math, scf
from xdsl.dialects.builtin import IndexType, IntegerType
from xdsl.ir import Attribute, Block, BlockArgument, Operation, SSAValue

from stc.analysis.index_expressions import Term, index_expression
from stc.analysis.loops import constant_bounds
from stc.codegen.cpp_types import scalar_type, unsigned_type
from stc.diagnostics import CompileError

PRIMARY, UNARY, PRODUCT, SUM, SHIFT, RELATION, EQUALITY, BITS, LOGIC, TERNARY = range(10)


@dataclass(frozen=True)
class Expression:
    """C++ text, the precedence of its outermost operator, and whether it reads memory (then it must not move past writes)."""

    text: str
    precedence: int = PRIMARY
    reads_memory: bool = False

    def within(self, limit: int) -> str:
        """The text, in parentheses where its operator binds looser than `limit`."""
        return self.text if self.precedence <= limit else f"({self.text})"


@dataclass(frozen=True)
class Form:
    """How an operation prints: a template over its operands, its precedence, the loosest operand precedences that need no
    parentheses, and the name of a variable that holds the result."""

    template: str
    precedence: int
    limits: tuple[int, ...]
    name: str


def _infix(operator: str, precedence: int, name: str) -> Form:
    return Form(f"{{0}} {operator} {{1}}", precedence, (precedence, precedence - 1), name)


def _strict(operator: str, precedence: int, name: str) -> Form:
    """An infix operator whose compound operands are always parenthesised."""
    return Form(f"{{0}} {operator} {{1}}", precedence, (UNARY, UNARY), name)


def _call(function: str, arity: int = 1) -> Form:
    arguments = ", ".join(f"{{{index}}}" for index in range(arity))
    name = function.removeprefix("hls::")
    return Form(f"{function}({arguments})", PRIMARY, (TERNARY,) * arity, f"{name}_value")


# Helpers of kernel.h, defined there only where a kernel uses them (see `helpers.py`).
MAXIMUM, MINIMUM = "maximum", "minimum"
QUOTIENT, FLOOR_QUOTIENT, REMAINDER = "int_quotient", "int_floor_quotient", "int_remainder"

FORMS: dict[type[Operation], Form] = {
    arith.AddfOp: _infix("+", SUM, "sum"),
    arith.SubfOp: _infix("-", SUM, "difference"),
    arith.MulfOp: _infix("*", PRODUCT, "product"),
    arith.DivfOp: _infix("/", PRODUCT, "quotient"),
    arith.NegfOp: Form("-{0}", UNARY, (PRIMARY,), "negated"),
    arith.MaximumfOp: _call(MAXIMUM, 2),
    arith.MinimumfOp: _call(MINIMUM, 2),
    arith.MaxnumfOp: _call("hls::fmax", 2),
    arith.MinnumfOp: _call("hls::fmin", 2),
    arith.AddiOp: _infix("+", SUM, "sum"),
    arith.SubiOp: _infix("-", SUM, "difference"),
    arith.MuliOp: _infix("*", PRODUCT, "product"),
    arith.ShLIOp: _strict("<<", SHIFT, "shifted"),
    arith.ShRSIOp: _strict(">>", SHIFT, "shifted"),
    arith.AndIOp: _strict("&", BITS, "bits"),
    arith.OrIOp: _strict("|", BITS, "bits"),
    arith.XOrIOp: _strict("^", BITS, "bits"),
    math.ExpOp: _call("hls::exp"),
    math.Exp2Op: _call("hls::exp2"),
    math.ExpM1Op: _call("hls::expm1"),
    math.LogOp: _call("hls::log"),
    math.Log2Op: _call("hls::log2"),
    math.Log10Op: _call("hls::log10"),
    math.Log1pOp: _call("hls::log1p"),
    math.SqrtOp: _call("hls::sqrt"),
    math.RsqrtOp: _call("hls::rsqrt"),
    math.CbrtOp: _call("hls::cbrt"),
    math.TanhOp: _call("hls::tanh"),
    math.SinhOp: _call("hls::sinh"),
    math.CoshOp: _call("hls::cosh"),
    math.SinOp: _call("hls::sin"),
    math.CosOp: _call("hls::cos"),
    math.TanOp: _call("hls::tan"),
    math.AtanOp: _call("hls::atan"),
    math.Atan2Op: _call("hls::atan2", 2),
    math.ErfOp: _call("hls::erf"),
    math.PowFOp: _call("hls::pow", 2),
    math.AbsFOp: _call("hls::fabs"),
    math.AbsIOp: _call("hls::abs"),
    math.FloorOp: _call("hls::floor"),
    math.CeilOp: _call("hls::ceil"),
    math.TruncOp: _call("hls::trunc"),
    math.RoundOp: _call("hls::round"),
    math.RoundEvenOp: _call("hls::rint"),
    math.CopySignOp: _call("hls::copysign", 2),
    math.FmaOp: _call("hls::fma", 3),
}

_BOOLEAN_FORMS: dict[type[Operation], Form] = {
    arith.AndIOp: _strict("&&", LOGIC, "both"),
    arith.OrIOp: _strict("||", LOGIC, "either"),
    arith.XOrIOp: _strict("!=", EQUALITY, "differs"),
    arith.AddiOp: _strict("!=", EQUALITY, "differs"),
    arith.MuliOp: _strict("&&", LOGIC, "both"),
}

_UNSIGNED_FORMS: dict[type[Operation], tuple[str, int]] = {
    arith.DivUIOp: ("/", PRODUCT),
    arith.RemUIOp: ("%", PRODUCT),
    arith.ShRUIOp: (">>", SHIFT),
}

# Integer operations whose C++ result is wider than the operands' type and must be cut back.
_WIDENING = (arith.AddiOp, arith.SubiOp, arith.MuliOp, arith.ShLIOp)

_SIGNED_COMPARISONS = ("==", "!=", "<", "<=", ">", ">=")
_ORDERED_COMPARISONS = {"oeq": "==", "ogt": ">", "oge": ">=", "olt": "<", "ole": "<=", "une": "!="}
# An unordered comparison is the negation of the opposite ordered one.
_UNORDERED_COMPARISONS = {"ugt": "<=", "uge": "<", "ult": ">=", "ule": ">"}


def expression(operation: Operation, operands: list[Expression]) -> Expression | None:
    """The C++ expression of a scalar operation, or None where it is not one; CompileError where it has no C++ form."""
    build = _SPECIAL.get(type(operation))
    if build is not None:
        text, precedence = build(operation, operands)
    else:
        form = _form(operation)
        if form is None:
            return None
        arguments = [operand.within(limit) for operand, limit in zip(operands, form.limits, strict=True)]
        text, precedence = form.template.format(*arguments), form.precedence
        text, precedence = _cut_back(operation, text, precedence)
    return Expression(text, precedence, any(operand.reads_memory for operand in operands))


def result_name(operation: Operation) -> str:
    """What to call a variable that holds the operation's result."""
    if isinstance(operation.results[0].type, IndexType):
        return "position"
    form = _form(operation)
    return form.name if form is not None else "value"


def _form(operation: Operation) -> Form | None:
    if operation.results and operation.results[0].type == IntegerType(1) and type(operation) in _BOOLEAN_FORMS:
        return _BOOLEAN_FORMS[type(operation)]
    return FORMS.get(type(operation))


def _cut_back(operation: Operation, text: str, precedence: int) -> tuple[str, int]:
    """Narrow integers wrap around: C++ would compute in a wider type."""
    kind = operation.results[0].type
    if not isinstance(operation, _WIDENING) or not isinstance(kind, IntegerType) or kind.width.data in (1, 32, 64):
        return text, precedence
    return f"{scalar_type(kind)}({text})", PRIMARY


# Operations whose text depends on more than their kind -----------------------------------------------------------------


def _cast(kind: Attribute, operand: Expression) -> tuple[str, int]:
    return f"({scalar_type(kind)}){operand.within(UNARY)}", UNARY


def _plain_cast(operation: Operation, operands: list[Expression]) -> tuple[str, int]:
    return _cast(operation.results[0].type, operands[0])


def _sign_extension(operation: Operation, operands: list[Expression]) -> tuple[str, int]:
    text, precedence = _cast(operation.results[0].type, operands[0])
    return (f"-{text}", UNARY) if operation.operands[0].type == IntegerType(1) else (text, precedence)


def _unsigned_source_cast(operation: Operation, operands: list[Expression]) -> tuple[str, int]:
    """A conversion that takes its operand's bits as unsigned."""
    source = f"({unsigned_type(operation.operands[0].type)}){operands[0].within(UNARY)}"
    return _cast(operation.results[0].type, Expression(source, UNARY))


def _unsigned_target_cast(operation: Operation, operands: list[Expression]) -> tuple[str, int]:
    kind = operation.results[0].type
    return _cast(kind, Expression(f"({unsigned_type(kind)}){operands[0].within(UNARY)}", UNARY))


def _index_cast(operation: Operation, operands: list[Expression]) -> tuple[str, int]:
    source, target = operation.operands[0].type, operation.results[0].type
    if {str(source), str(target)} <= {"index", "i32"}:
        return operands[0].text, operands[0].precedence
    return _cast(target, operands[0])


def _as_unsigned(operation: Operation, operands: list[Expression]) -> list[str]:
    kind = operation.operands[0].type
    return [f"({unsigned_type(kind)}){operand.within(UNARY)}" for operand in operands]


_DIVISIONS = {"/": QUOTIENT, "%": REMAINDER}


def _unsigned_infix(operation: Operation, operands: list[Expression]) -> tuple[str, int]:
    operator, _precedence = _UNSIGNED_FORMS[type(operation)]
    kind = operation.results[0].type
    if isinstance(kind, IndexType) and operands[1].text.isdigit():
        simple = _power_of_two_form(operator, operands, int(operands[1].text))
        if simple is not None:
            return simple
    if isinstance(kind, IntegerType) and operator in _DIVISIONS:
        division = f"{_DIVISIONS[operator]}<{unsigned_type(kind)}>({operands[0].text}, {operands[1].text})"
        return f"({scalar_type(kind)}){division}", UNARY
    left, right = _as_unsigned(operation, operands)
    return f"({scalar_type(kind)})({left} {operator} {right})", UNARY


def _power_of_two_form(operator: str, operands: list[Expression], divisor: int) -> tuple[str, int] | None:
    """Quotient and remainder of an index (never negative) by a power of two, as shift and mask."""
    if divisor < 1 or divisor & (divisor - 1) or operator not in "/%":
        return None
    if operator == "/":
        return f"{operands[0].within(UNARY)} >> {divisor.bit_length() - 1}", SHIFT
    return f"{operands[0].within(UNARY)} & {divisor - 1}", BITS


def _data_division(operator: str, helper: str) -> Callable[[Operation, list[Expression]], tuple[str, int]]:
    """Division of counters as an operator (which emission rule 16 then judges), of data by a helper of kernel.h: a divider."""

    def build(operation: Operation, operands: list[Expression]) -> tuple[str, int]:
        kind = operation.results[0].type
        if isinstance(kind, IndexType):
            return f"{operands[0].within(PRODUCT)} {operator} {operands[1].within(UNARY)}", PRODUCT
        return f"{helper}<{scalar_type(kind)}>({operands[0].text}, {operands[1].text})", PRIMARY

    return build


def _floor_division(operation: Operation, operands: list[Expression]) -> tuple[str, int]:
    divisor = operands[1].text
    if isinstance(operation.results[0].type, IntegerType):
        return _data_division("/", FLOOR_QUOTIENT)(operation, operands)
    if divisor.isdigit() and int(divisor) > 0 and int(divisor) & (int(divisor) - 1) == 0:
        return f"{operands[0].within(UNARY)} >> {int(divisor).bit_length() - 1}", SHIFT
    raise CompileError(f"{operation.name} by {divisor} has no HLS form", accepted="a constant power of two")


def _integer_comparison(operation: Operation, operands: list[Expression]) -> tuple[str, int]:
    assert isinstance(operation, arith.CmpiOp)
    predicate = operation.predicate.value.data
    if predicate >= len(_SIGNED_COMPARISONS) and all(_is_never_negative(operand) for operand in operation.operands):
        predicate -= 4   # the same for what has no sign
    if predicate < len(_SIGNED_COMPARISONS):
        operator, sides = _SIGNED_COMPARISONS[predicate], [operand.within(SHIFT) for operand in operands]
    else:
        operator, sides = _SIGNED_COMPARISONS[predicate - 4], _as_unsigned(operation, operands)
    return f"{sides[0]} {operator} {sides[1]}", EQUALITY if operator in ("==", "!=") else RELATION


def _is_never_negative(value: SSAValue) -> bool:
    """Whether an index is a sum of constants and induction variables that count from 0 or more, each at least 0 times."""
    if not isinstance(value.type, IndexType):
        return False
    index = index_expression(value, {})
    return index.constant >= 0 and all(factor > 0 and _counts_up(term) for term, factor in index.terms)


def _counts_up(term: Term) -> bool:
    block = term.owner if isinstance(term, BlockArgument) else None
    loop = block.parent_op() if isinstance(block, Block) else None
    bounds = constant_bounds(loop) if isinstance(loop, scf.ForOp) and term is loop.body.block.args[0] else None
    return bounds is not None and bounds.lower >= 0 and bounds.step > 0


def _float_comparison(operation: Operation, operands: list[Expression]) -> tuple[str, int]:
    assert isinstance(operation, arith.CmpfOp)
    predicate = arith.CMPF_COMPARISON_OPERATIONS[operation.predicate.value.data]
    left, right = (operand.within(SHIFT) for operand in operands)
    if predicate in _ORDERED_COMPARISONS:
        operator = _ORDERED_COMPARISONS[predicate]
        return f"{left} {operator} {right}", EQUALITY if operator in ("==", "!=") else RELATION
    if predicate in _UNORDERED_COMPARISONS:
        return f"!({left} {_UNORDERED_COMPARISONS[predicate]} {right})", UNARY
    match predicate:
        case "one":
            return f"{left} < {right} || {left} > {right}", LOGIC
        case "ueq":
            return f"!({left} < {right} || {left} > {right})", UNARY
        case "ord":
            return f"{left} == {left} && {right} == {right}", LOGIC
        case "uno":
            return f"{left} != {left} || {right} != {right}", LOGIC
        case _:
            return ("true" if predicate == "true" else "false"), PRIMARY


def _select(operation: Operation, operands: list[Expression]) -> tuple[str, int]:
    condition, chosen, other = operands
    return f"{condition.within(LOGIC)} ? {chosen.within(LOGIC)} : {other.within(LOGIC)}", TERNARY


def _choice(operator: str, is_unsigned: bool) -> Callable[[Operation, list[Expression]], tuple[str, int]]:
    """Integer minimum or maximum as a select."""

    def build(operation: Operation, operands: list[Expression]) -> tuple[str, int]:
        left, right = operands[0].within(UNARY), operands[1].within(UNARY)
        sides = _as_unsigned(operation, operands) if is_unsigned else [left, right]
        return f"{sides[0]} {operator} {sides[1]} ? {left} : {right}", TERNARY

    return build


_SPECIAL: dict[type[Operation], Callable[[Operation, list[Expression]], tuple[str, int]]] = {
    arith.CmpiOp: _integer_comparison,
    arith.CmpfOp: _float_comparison,
    arith.SelectOp: _select,
    arith.MaxSIOp: _choice(">", False),
    arith.MinSIOp: _choice("<", False),
    arith.MaxUIOp: _choice(">", True),
    arith.MinUIOp: _choice("<", True),
    arith.DivSIOp: _data_division("/", QUOTIENT),
    arith.RemSIOp: _data_division("%", REMAINDER),
    arith.DivUIOp: _unsigned_infix,
    arith.RemUIOp: _unsigned_infix,
    arith.ShRUIOp: _unsigned_infix,
    arith.FloorDivSIOp: _floor_division,
    arith.IndexCastOp: _index_cast,
    arith.SIToFPOp: _plain_cast,
    arith.FPToSIOp: _plain_cast,
    arith.TruncIOp: _plain_cast,
    arith.TruncFOp: _plain_cast,
    arith.ExtFOp: _plain_cast,
    arith.ExtSIOp: _sign_extension,
    arith.ExtUIOp: _unsigned_source_cast,
    arith.UIToFPOp: _unsigned_source_cast,
    arith.FPToUIOp: _unsigned_target_cast,
}
SCALAR_OPERATIONS: frozenset[type[Operation]] = frozenset({*FORMS, *_SPECIAL})
