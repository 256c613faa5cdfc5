"""Scalar functions of random programs: how each is written, and what is known of its values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import exp

from xdsl.dialects import arith, math
from xdsl.ir import Operation

from stc.scalars.table import ROWS
from stc_testing.fuzzing.program import Body, is_float

Build = Callable[[Body, str, Sequence[str]], str]
"""(body, element type, operands) -> name of the result."""


@dataclass(frozen=True)
class Scalar:
    """A function of one or two numbers of one type.

    `bound`: magnitude of the result from those of the operands. `most`: largest magnitude it is applied to. `rounds`: libraries may
    differ in the last bit. `jumps`: not continuous, so that only exact values may go in.
    """

    name: str
    build: Build
    bound: Callable[..., float]
    most: float = 1e4
    rounds: bool = False
    jumps: bool = False


def _float(name: str) -> Build:
    return lambda body, e, xs: body.op(f"arith.{name} {', '.join(xs)} : {e}")


def _math(name: str) -> Build:
    return lambda body, e, xs: body.op(f"math.{name} {', '.join(xs)} : {e}")


def _then(*steps: Build) -> Build:
    """Functions of one number, one after the other."""

    def build(body: Body, e: str, xs: Sequence[str]) -> str:
        value = xs[0]
        for step in steps:
            value = step(body, e, [value])
        return value

    return build


def _with(name: str, literal: str | int, *, left: bool = False) -> Build:
    """An operation with a constant, on its right or on its left."""

    def build(body: Body, e: str, xs: Sequence[str]) -> str:
        constant = body.constant(literal, e)
        pair = (constant, xs[0]) if left else (xs[0], constant)
        return body.op(f"{name if '.' in name else f'arith.{name}'} {', '.join(pair)} : {e}")

    return build


def _square(body: Body, e: str, xs: Sequence[str]) -> str:
    return body.op(f"arith.mulf {xs[0]}, {xs[0]} : {e}")


def _silu(body: Body, e: str, xs: Sequence[str]) -> str:
    return body.op(f"arith.mulf {xs[0]}, {_sigmoid(body, e, xs)} : {e}")


def _row(operation: type[Operation], name: str = "", most: float = 1e4) -> Scalar:
    """An operation by itself, as its row in stc.scalars.table has it."""
    row = ROWS[operation]
    assert row.bound is not None, operation.name
    build: Build = lambda body, e, xs: body.op(f"{operation.name} {', '.join(xs)} : {e}")  # noqa: E731
    return Scalar(name or operation.name.partition(".")[2], build, row.bound, most, row.rounds, row.jumps)


_sigmoid = _then(_float("negf"), _math("exp"), _with("addf", "1.0"), _with("divf", "1.0", left=True))
_erf_part = _then(_with("mulf", "0.70710678118654757"), _math("erf"), _with("addf", "1.0"), _with("mulf", "5.0e-01"))


def _gelu(body: Body, e: str, xs: Sequence[str]) -> str:
    return body.op(f"arith.mulf {xs[0]}, {_erf_part(body, e, xs)} : {e}")


def _leaky(body: Body, e: str, xs: Sequence[str]) -> str:
    positive = body.op(f"arith.cmpf ogt, {xs[0]}, {body.constant('0.0', e)} : {e}")
    small = body.op(f"arith.mulf {xs[0]}, {body.constant('1.25e-01', e)} : {e}")
    return body.op(f"arith.select {positive}, {xs[0]}, {small} : {e}")


def _multiply_add(body: Body, e: str, xs: Sequence[str]) -> str:
    return body.op(f"math.fma {xs[0]}, {xs[0]}, {xs[-1]} : {e}")


def _clamp(body: Body, e: str, xs: Sequence[str]) -> str:
    return _then(_with("maximumf", "-1.0"), _with("minimumf", "7.5e-01"))(body, e, xs)


def _cubed(body: Body, e: str, xs: Sequence[str]) -> str:
    return body.op(f"math.fpowi {xs[0]}, {body.constant(3, 'i32')} : {e}, i32")


_positive = (_math("absf"), _with("addf", "5.0e-01"))

FLOAT_UNARY: tuple[Scalar, ...] = (
    _row(arith.NegfOp, "neg"),
    _row(math.AbsFOp, "abs"),
    Scalar("square", _square, lambda x: x * x, most=100),
    Scalar("scaled", _with("mulf", "-7.5e-01"), lambda x: x),
    Scalar("shifted", _with("addf", "1.25"), lambda x: x + 1.25),
    Scalar("reflected", _with("subf", "2.5e-01", left=True), lambda x: x + 0.25),
    Scalar("relu", _with("maximumf", "0.0"), lambda x: x),
    Scalar("clamped", _clamp, lambda x: 1.0),
    Scalar("leaky_relu", _leaky, lambda x: x),
    Scalar("exp", _then(_with("minimumf", "2.0"), _math("exp")), lambda x: exp(2.0), rounds=True),
    Scalar("exp2", _then(_with("minimumf", "3.0"), _math("exp2")), lambda x: 8.0, rounds=True),
    Scalar("decay", _then(_math("absf"), _float("negf"), _math("exp")), lambda x: 1.0, rounds=True),
    Scalar("log", _then(*_positive, _math("log")), lambda x: 8.0, rounds=True),
    Scalar("log1p", _then(_math("absf"), _math("log1p")), lambda x: 8.0, rounds=True),
    Scalar("sqrt", _then(*_positive, _math("sqrt")), lambda x: x**0.5 + 1),
    Scalar("rsqrt", _then(_square, _with("addf", "1.0"), _math("rsqrt")), lambda x: 1.0, most=100, rounds=True),
    _row(math.TanhOp),
    _row(math.ErfOp),
    _row(math.SinOp, most=20),
    _row(math.CosOp, most=20),
    _row(math.AtanOp),
    Scalar("sigmoid", _sigmoid, lambda x: 1.0, most=50, rounds=True),
    Scalar("silu", _silu, lambda x: x, most=50, rounds=True),
    Scalar("gelu", _gelu, lambda x: x, rounds=True),
    Scalar("inverse", _then(*_positive, _with("divf", "1.0", left=True)), lambda x: 2.0),
    Scalar("power", _then(*_positive, _with("math.powf", "1.5")), lambda x: (x + 0.5) ** 1.5, most=100, rounds=True),
    Scalar("cubed", _cubed, lambda x: x**3, most=20, rounds=True),
    Scalar("multiply_add", _multiply_add, lambda x: x * x + x, most=100, rounds=True),
    _row(math.FloorOp),
    _row(math.CeilOp),
    _row(math.RoundEvenOp, "rounded"),
)


def _divided(body: Body, e: str, xs: Sequence[str]) -> str:
    return body.op(f"arith.divf {xs[0]}, {_then(*_positive)(body, e, [xs[1]])} : {e}")


def _gated(body: Body, e: str, xs: Sequence[str]) -> str:
    return body.op(f"arith.mulf {xs[0]}, {_sigmoid(body, e, [xs[1]])} : {e}")


FLOAT_BINARY: tuple[Scalar, ...] = (
    _row(arith.AddfOp, "add"),
    _row(arith.SubfOp, "sub"),
    _row(arith.MulfOp, "mul", most=100),
    Scalar("div", _divided, lambda x, y: 2 * x),
    _row(arith.MaximumfOp, "maximum"),
    _row(arith.MinimumfOp, "minimum"),
    _row(arith.MaxnumfOp, "maxnum"),
    Scalar("gate", _gated, lambda x, y: x, most=50, rounds=True),
)

INTEGER_UNARY: tuple[Scalar, ...] = (
    Scalar("negi", _with("subi", 0, left=True), lambda x: x),
    Scalar("tripled", _with("muli", 3), lambda x: 3 * x),
    Scalar("plus", _with("addi", 5), lambda x: x + 5),
    Scalar("doubled", _with("shli", 1), lambda x: 2 * x),
    Scalar("halved", _with("shrsi", 1), lambda x: x),
    Scalar("masked", _with("andi", 5), lambda x: 5.0),
    Scalar("flipped", _with("xori", 3), lambda x: x + 3),
    Scalar("positive", _with("maxsi", 0), lambda x: x),
    Scalar("capped", _with("minsi", 2), lambda x: x + 2),
    Scalar("thirds", _with("divsi", 3), lambda x: x),
    Scalar("floor_thirds", _with("floordivsi", 3), lambda x: x + 1),
    Scalar("remainder", _with("remsi", 3), lambda x: 3.0),
)
INTEGER_BINARY: tuple[Scalar, ...] = (
    *(_row(kind) for kind in (arith.AddiOp, arith.SubiOp, arith.MuliOp, arith.MaxSIOp, arith.MinSIOp)),
    *(_row(kind) for kind in (arith.AndIOp, arith.OrIOp, arith.XOrIOp)),
)
BOOLEAN_UNARY: tuple[Scalar, ...] = (Scalar("not", _with("xori", "true"), lambda x: 1.0),)
BOOLEAN_BINARY: tuple[Scalar, ...] = tuple(scalar for scalar in INTEGER_BINARY if scalar.name in ("andi", "ori", "xori"))


def unary_functions(element: str) -> tuple[Scalar, ...]:
    if is_float(element):
        return FLOAT_UNARY
    return BOOLEAN_UNARY if element == "i1" else INTEGER_UNARY


def binary_functions(element: str) -> tuple[Scalar, ...]:
    if is_float(element):
        return FLOAT_BINARY
    return BOOLEAN_BINARY if element == "i1" else INTEGER_BINARY


@dataclass(frozen=True)
class Reduction:
    """An associative operation and what it starts from; `sums`: floats depend on the order, magnitudes grow with the count."""

    name: str
    operation: str
    start: str
    sums: bool = False


def reductions(element: str) -> tuple[Reduction, ...]:
    if is_float(element):
        return (
            Reduction("sum", "arith.addf", "0.0", sums=True),
            Reduction("sum_from", "arith.addf", "1.5", sums=True),
            Reduction("max", "arith.maximumf", "-inf"),
            Reduction("min", "arith.minimumf", "inf"),
            Reduction("maxnum", "arith.maxnumf", "-inf"),
        )
    if element == "i1":
        return (Reduction("any", "arith.ori", "false"), Reduction("all", "arith.andi", "true"))
    lowest = -(2 ** (int(element[1:]) - 1))
    return (
        Reduction("sum", "arith.addi", "0", sums=True),
        Reduction("sum_from", "arith.addi", "3", sums=True),
        Reduction("max", "arith.maxsi", str(lowest)),
        Reduction("min", "arith.minsi", str(-lowest - 1)),
    )
