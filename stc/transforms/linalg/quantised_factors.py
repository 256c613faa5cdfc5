"""Which factors of a contraction are integers times a scale, whoever wrote them, and what the integers are computed from."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import ceil, floor, inf

from xdsl.dialects import arith, math
from xdsl.dialects.builtin import BFloat16Type, Float16Type, Float32Type, Float64Type, IntegerType, f32
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, BlockArgument, Operation

from stc.dialects.facts import VALUES
from stc.transforms.linalg.point_values import MOST_READ, Digit, Point

_EXACT: Mapping[type[Attribute], int] = {BFloat16Type: 2**8, Float16Type: 2**11, Float32Type: 2**24, Float64Type: 2**53}
"""Up to here a type of floats holds every integer."""


@dataclass(frozen=True)
class Bounds:
    """The least and the largest a number may be; infinite where nothing is known. `is_whole`: whether it is always an integer."""

    least: float
    most: float
    is_whole: bool = True

    @classmethod
    def of_bits(cls, bits: int) -> Bounds:
        return cls(-(1 << bits - 1), (1 << bits - 1) - 1)

    def __contains__(self, other: Bounds) -> bool:
        return self.least <= other.least and other.most <= self.most

    @property
    def size(self) -> float:
        """The largest magnitude."""
        return max(-self.least, self.most)

    def minus(self, other: Bounds) -> Bounds:
        return Bounds(self.least - other.most, self.most - other.least, self.is_whole and other.is_whole)


UNBOUNDED, UNKNOWN = Bounds(-inf, inf), Bounds(-inf, inf, is_whole=False)


@dataclass(frozen=True)
class Dequantised:
    """(integers - zero) * scale; `zero` None: 0. `bounds` are of integers, `zero_bounds` of zero points."""

    integers: Point
    bounds: Bounds
    scale: Point
    zero: Point | None
    zero_bounds: Bounds

    @property
    def largest(self) -> float:
        """The largest magnitude of a difference."""
        return self.bounds.minus(self.zero_bounds).size

    def groups(self, reduction: int) -> set[Digit]:
        """The parts of the loop `reduction` along which scales and zero points have entries."""
        points = [self.scale] if self.zero is None else [self.scale, self.zero]
        return {digit for point in points for digit in point.digits if digit.loop == reduction}


def dequantised(point: Point, reduction: int, extent: int) -> Dequantised | None:
    """What `point` is of integers and a scale that all terms of `reduction` (of `extent`) share, or all of a group; else None."""
    if not point.is_(arith.MulfOp):
        return None
    for integers, scale in (point.operands, point.operands[::-1]):
        if scale.kind != f32 or not _is_of_groups(scale, reduction, extent):
            continue
        if (found := _difference(integers, scale, reduction, extent)) is not None:
            return found
    return None


def looks_quantised(point: Point, reduction: int) -> bool:
    """Whether some narrow integers, one for each term, are behind `point` and only float arithmetic between."""
    pending, seen = [point], set[Point]()
    while pending and len(seen) < MOST_READ:
        found = pending.pop()
        if found in seen:
            continue
        seen.add(found)
        if _is_narrow(found, reduction):
            return True
        if found.is_(arith.MulfOp, arith.AddfOp, arith.SubfOp, arith.DivfOp, arith.ExtFOp, arith.TruncFOp, arith.NegfOp):
            pending.extend(found.operands)
    return False


def _is_narrow(point: Point, reduction: int) -> bool:
    along = any(digit.loop == reduction for digit in point.digits)
    return along and (bounds := integer_bounds(point)) is not None and 2 <= bounds.most - bounds.least < 2.0**16


def _is_of_groups(point: Point, reduction: int, extent: int) -> bool:
    """Whether it is one number for each group of terms of `reduction`, or for all."""
    along = [digit for digit in point.digits if digit.loop == reduction]
    return not along or (len(along) == 1 and along[0].stride > 1 and along[0].stride * along[0].extent == extent)


def _difference(point: Point, scale: Point, reduction: int, extent: int) -> Dequantised | None:
    while point.is_(arith.SIToFPOp, arith.ExtSIOp) and (inner := point.operands[0]).is_(arith.SubiOp, arith.ExtSIOp):
        if integer_bounds(inner) is None:
            return None
        point = inner
    if (bounds := integer_bounds(point)) is None:
        return None
    if point.is_(arith.SubfOp, arith.SubiOp):
        integers, zero = point.operands
        of_integers, of_zero = integer_bounds(integers), integer_bounds(zero)
        if of_integers is None or of_zero is None or not _is_of_groups(zero, reduction, extent):
            return Dequantised(point, bounds, scale, None, Bounds(0, 0))
        if _is_exact(point, of_integers.minus(of_zero)):
            none = of_zero == Bounds(0, 0)
            return Dequantised(integers, of_integers, scale, None if none else zero, of_zero)
    return Dequantised(point, bounds, scale, None, Bounds(0, 0))


def _is_exact(difference: Point, bounds: Bounds) -> bool:
    """Whether a difference between `bounds` neither wraps around nor is rounded."""
    if isinstance(difference.kind, IntegerType):
        return bounds in Bounds.of_bits(difference.kind.width.data)
    return bounds.size <= _EXACT[Float32Type]


# Integers -------------------------------------------------------------------------------------------------------------


def integer_bounds(point: Point) -> Bounds | None:
    """Between what a number lies that is an integer at every point; None of what need not be one, or is read too far behind."""
    known: dict[Point, Bounds] = {}
    pending, opened = [point], set[Point]()
    while pending:
        current = pending[-1]
        waiting = [operand for operand in _told_from(current) if operand not in known]
        if current in opened or not waiting or current in known:
            known.setdefault(current, _bounds(current, known))
            pending.pop()
        elif len(opened) == MOST_READ:
            return None
        else:
            opened.add(current)
            pending.extend(waiting)
    return known[point] if known[point].is_whole else None


def _told_from(point: Point) -> tuple[Point, ...]:
    """The operands that say something of the bounds of a result."""
    if point.is_(arith.SelectOp):
        return (*point.operands[0].operands, *point.operands[1:]) if point.operands[0].is_(arith.CmpfOp) else point.operands[1:]
    return point.operands if type(point.op) in _RULES or point.is_(*_UNSIGNED) else ()


def _bounds(point: Point, known: Mapping[Point, Bounds]) -> Bounds:
    if (number := point.number) is not None:
        return Bounds(number, number, number == floor(number)) if abs(number) < inf else UNKNOWN
    if point.op is None:
        return _bounds_of_leaf(point)
    if point.is_(arith.SelectOp):
        return _of_selection(point, known)
    if point.is_(*_UNSIGNED):
        return _fitting(point, _of_unsigned(point.operands[0], known[point.operands[0]]))
    rule = _RULES.get(type(point.op))
    return _fitting(point, UNKNOWN if rule is None else rule(*(known[operand] for operand in point.operands)))


def _bounds_of_leaf(point: Point) -> Bounds:
    """What parameters are said to hold, else what their type holds."""
    value = None if point.held is None else point.held[0]
    if isinstance(value, BlockArgument):
        function = value.owner.parent_op()
        entries = function.arg_attrs if isinstance(function, FuncOp) else None
        if entries is not None and (said := VALUES.of(entries.data[value.index])) is not None:
            return Bounds(said[0], said[1])
    return _fitting(point, UNKNOWN)


def _fitting(point: Point, bounds: Bounds) -> Bounds:
    """`bounds` of an exact result; what its type holds where that may wrap around, nothing known where a float may be rounded to
    the next number beyond them. Rounded, a float stays an integer."""
    if not isinstance(point.kind, IntegerType):
        exact = _EXACT.get(type(point.kind), 0)
        least = bounds.least if abs(bounds.least) <= exact else -inf
        most = bounds.most if abs(bounds.most) <= exact else inf
        return Bounds(least, most, bounds.is_whole)
    held = Bounds.of_bits(point.kind.width.data)
    return Bounds(bounds.least, bounds.most) if bounds in held else held


def _of_selection(point: Point, known: Mapping[Point, Bounds]) -> Bounds:
    """Of a clamp, such as `x < low ? low : x`, or else of both values."""
    condition, chosen, other = point.operands
    first, second = known[chosen], known[other]
    if isinstance(condition.op, arith.CmpfOp):
        predicate = condition.op.predicate.value.data
        compared = condition.operands if predicate in _LESS else condition.operands[::-1] if predicate in _GREATER else ()
        if _are(compared, (chosen, other), known):
            return _shared(first, second, min)
        if _are(compared, (other, chosen), known):
            return _shared(first, second, max)
    return Bounds(min(first.least, second.least), max(first.most, second.most), first.is_whole and second.is_whole)


_LESS, _GREATER = frozenset({4, 5, 11, 12}), frozenset({2, 3, 9, 10})
"""Predicates of `arith.cmpf`: less (or equal), greater (or equal), ordered and not."""


def _are(points: tuple[Point, ...], others: tuple[Point, ...], known: Mapping[Point, Bounds]) -> bool:
    """Whether points are the others, or the same constants."""

    def same(point: Point, other: Point) -> bool:
        return point is other or (known[point].least == known[point].most and known[point] == known[other])

    return len(points) == len(others) and all(map(same, points, others))


def _shared(first: Bounds, second: Bounds, of: Callable[[float, float], float]) -> Bounds:
    return Bounds(of(first.least, second.least), of(first.most, second.most), first.is_whole and second.is_whole)


def _sum(first: Bounds, second: Bounds) -> Bounds:
    return Bounds(first.least + second.least, first.most + second.most, first.is_whole and second.is_whole)


def _product(first: Bounds, second: Bounds) -> Bounds:
    is_whole = first.is_whole and second.is_whole
    if inf in (first.size, second.size):
        return Bounds(-inf, inf, is_whole)
    corners = [x * y for x in (first.least, first.most) for y in (second.least, second.most)]
    return Bounds(min(corners), max(corners), is_whole)


def _rounded(first: Bounds) -> Bounds:
    """In whatever direction."""
    least, most = first.least, first.most
    return Bounds(least if least == -inf else floor(least), most if most == inf else ceil(most))


def _masked(first: Bounds, second: Bounds) -> Bounds:
    """Of bits that both have: no more than either, where that has no sign."""
    most = [bounds.most for bounds in (first, second) if bounds.least >= 0]
    return Bounds(0, min(most)) if most else UNBOUNDED


def _shifted(first: Bounds, second: Bounds) -> Bounds:
    """To the right by a constant number of bits, with the sign."""
    if second.least != second.most or not 0 <= second.least < 64 or first.size == inf:
        return UNBOUNDED
    return Bounds(first.least // 2**second.least, first.most // 2**second.least)


def _of_unsigned(narrow: Point, bounds: Bounds) -> Bounds:
    """Of the bits of an integer, read without a sign."""
    assert isinstance(narrow.kind, IntegerType)
    return bounds if bounds.least >= 0 else Bounds(0, (1 << narrow.kind.width.data) - 1)


_UNSIGNED = (arith.ExtUIOp, arith.UIToFPOp)

_RULES: Mapping[type[Operation], Callable[..., Bounds]] = {
    **dict.fromkeys((arith.AddfOp, arith.AddiOp), _sum),
    **dict.fromkeys((arith.SubfOp, arith.SubiOp), lambda x, y: x.minus(y)),
    **dict.fromkeys((arith.MulfOp, arith.MuliOp), _product),
    **dict.fromkeys((arith.MinimumfOp, arith.MinnumfOp, arith.MinSIOp), lambda x, y: _shared(x, y, min)),
    **dict.fromkeys((arith.MaximumfOp, arith.MaxnumfOp, arith.MaxSIOp), lambda x, y: _shared(x, y, max)),
    **dict.fromkeys((arith.ExtSIOp, arith.TruncIOp, arith.SIToFPOp, arith.ExtFOp, arith.TruncFOp), lambda x: x),
    **dict.fromkeys((math.RoundEvenOp, math.RoundOp, math.FloorOp, math.CeilOp, math.TruncOp, arith.FPToSIOp), _rounded),
    arith.AndIOp: _masked,
    arith.ShRSIOp: _shifted,
}
"""What an operation comes to."""
