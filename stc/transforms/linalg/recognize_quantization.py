"""`recognize-quantization`: contractions of what was quantised and dequantised become sums of products of integers."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Sequence
from dataclasses import dataclass, replace

from xdsl.context import Context
from xdsl.dialects import arith
from xdsl.dialects.builtin import AnyFloat, FloatAttr, IntegerAttr, IntegerType, ModuleOp, f16, i32
from xdsl.ir import Attribute, BlockArgument, SSAValue
from xdsl.rewriter import Rewriter

from stc.analysis.generic_loops import GenericLoops, generics_in
from stc.analysis.host_work import functions_of, host_values
from stc.dialects.facts import MODULE, NAME
from stc.transforms.finding_pass import FindingPass
from stc.transforms.linalg.bodies import Body
from stc.transforms.linalg.dead_ops import erase_dead_ops
from stc.transforms.linalg.generics import shape_of
from stc.transforms.linalg.integer_contractions import (
    Along,
    ContractionWriter,
    Factor,
    ProductSum,
    Quantised,
    product_sum,
)
from stc.transforms.linalg.point_values import Digit, Place, Point, PointReader
from stc.transforms.linalg.quantised_factors import Bounds, Dequantised, dequantised, integer_bounds, looks_quantised
from stc.transforms.linalg.reshapes import collapse_shape

_BYTE, _HALF = IntegerType(8), IntegerType(4)
_MOST = 2.0**31 - 1


@dataclass(frozen=True)
class Recognised:
    """What became of the contractions of quantised factors, by the path of their module ('' outside of modules).

    `integers`: those that are of integers now; `weights`: those of floats and of integers that parameters hold; `scales`: the
    parameters that their scales are read from, by name; `left`: which stayed f32, and why.
    """

    integers: tuple[str, ...] = ()
    weights: tuple[str, ...] = ()
    scales: tuple[tuple[str, str], ...] = ()
    left: tuple[tuple[str, str], ...] = ()

    def report(self) -> dict[str, object]:
        left = [{"layer": layer, "why": why} for layer, why in self.left]
        return {"layers": list(self.integers), "weights": list(self.weights), "left": left}


@dataclass(frozen=True)
class RecognizeQuantization(FindingPass):
    """Compute on integers where a model dequantises both factors of a contraction: (a - za) * sa by (q - zq) * sq.

    What each entry of a factor is computed from is read through element-wise generics and reshapes. A factor is quantised where it
    is a product of integers of at most 8 bits, by their types, by what parameters hold (`stc.values`) or because they are rounded
    and cut to bounds, and of a scale that all terms of the reduction share, or all terms of each group. A zero point of the same
    kind may be subtracted from the integers. The integers, scales and zero points are those of the model; what is new is the order
    of sums: docs/quantisation.md has it, and `quantize-linear` makes the same structure. What has at most 16 values becomes i4.

    Both factors may be activations, as in attention. Where parameters alone are quantised, the device reads their integers: floats
    times integers less their zero points are summed within each group, and the sums multiplied by scales. Contractions of which an
    activation alone is quantised stay, and so do those whose sums need more than 32 bits; report.json says which, and why.

        %d = linalg.generic ... ins(%a, %s : tensor<5x64xi8>, tensor<5xf32>) { f32(a) * s } ... -> tensor<5x64xf32>
        %w = linalg.generic ... ins(%q, %t : tensor<24x64xi8>, tensor<24xf32>) { f32(q) * t } ... -> tensor<24x64xf32>
        %y = linalg.generic {...} ins(%d, %w : tensor<5x64xf32>, tensor<24x64xf32>) { s + x * w } ... -> tensor<5x24xf32>
      becomes
        %sums = linalg.generic {...} ins(%a, %q : tensor<5x64xi8>, tensor<24x64xi8>) { s + a * q } ... -> tensor<5x24xi32>
        %y = linalg.generic {...} ins(%sums, %t, %s : ...) { f32(sum) * t * s } ... -> tensor<5x24xf32>
    """

    name = "recognize-quantization"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        self.find(ctx, op)

    def find(self, ctx: Context, op: ModuleOp) -> Recognised:
        """What was found, also where nothing was rewritten."""
        found = Recognised()
        for function in functions_of(op):
            host = host_values(function)
            reader = PointReader()
            for generic in generics_in(function):
                if generic.results[0] in host or (read := product_sum(generic)) is None:
                    continue
                found = _with(found, read, _Contraction.of(read, reader, host))
        if found.integers or found.weights:
            erase_dead_ops(op)
        return found


def _with(found: Recognised, read: ProductSum, contraction: _Contraction) -> Recognised:
    """`found`, and what becomes of one contraction, which is rewritten where it can be."""
    layer = MODULE.of(read.generic) or ""
    if contraction.why_not is not None:
        return replace(found, left=(*found.left, (layer, contraction.why_not)))
    if not contraction.factors:
        return found
    names = [name for factor in contraction.factors for name in _parameters(factor.scale)]
    contraction.rewrite()
    found = replace(found, scales=(*found.scales, *((layer, name) for name in names)))
    if len(contraction.factors) == 1:
        return replace(found, weights=(*found.weights, layer))
    return replace(found, integers=(*found.integers, layer))


def _parameters(scale: Point) -> Iterable[str]:
    """The names of the parameters that hold a scale as it is."""
    value = scale.held[0] if scale.held is not None else None
    if isinstance(value, BlockArgument):
        function = value.owner.parent_op()
        entries = getattr(function, "arg_attrs", None)
        if entries is not None and (name := NAME.of(entries.data[value.index])) is not None:
            yield name


@dataclass(frozen=True)
class _Contraction:
    """A contraction: its factors where both are quantised, or the one that parameters hold, or why it stays f32; neither where
    nothing is quantised. `other`: what a single factor is multiplied by."""

    read: ProductSum
    other: Along
    factors: tuple[Dequantised, ...] = ()
    why_not: str | None = None

    @classmethod
    def of(cls, read: ProductSum, reader: PointReader, host: Container[SSAValue]) -> _Contraction:
        loops, terms = GenericLoops(read.generic), _terms(read)
        inputs = (read.second, read.first) if read.first.value in host else (read.first, read.second)  # weights behind
        points = [reader.read(entry.value, _place(entry, loops)) for entry in inputs]
        looks = [looks_quantised(point, read.reduction) for point in points]
        if not any(looks):
            return cls(read, inputs[0])
        found = [dequantised(point, read.reduction, terms) for point in points]
        factors = tuple(factor for factor, looked in zip(found, looks, strict=True) if factor is not None and looked)
        if looks == [True, False] or (not all(looks) and inputs[1].value not in host):
            return cls(read, inputs[0], why_not="only one factor is quantised")
        why_not = _why_not(factors, looks.count(True), read, inputs[0])
        return cls(read, inputs[0], factors) if why_not is None else cls(read, inputs[0], why_not=why_not)

    def rewrite(self) -> None:
        builder = _builder(self.factors, self.read)
        factors = [builder.quantised(factor) for factor in self.factors]
        write = builder.writer
        result = write.contraction(*factors) if len(factors) > 1 else write.contraction_of_floats(self.other, *factors)
        result.name_hint = self.read.generic.results[0].name_hint
        Rewriter.replace_op(self.read.generic, [], [result])


def _place(entry: Along, loops: GenericLoops) -> Place:
    return tuple(Digit(loop, 1, loops.extents[loop]) for loop in entry.loops)


def _why_not(factors: Sequence[Dequantised], looked: int, read: ProductSum, other: Along) -> str | None:
    """Why a contraction stays f32 of which so many factors look quantised; `other`: the factor in front, also of a single one."""
    if len(factors) < looked:
        return "a factor is not (integers - zero points) * scale, with one scale for all terms or for each group of them"
    if any(factor.bounds.most - factor.bounds.least > 255 for factor in factors):
        return "its integers have more than 8 bits"
    sizes = _sizes(factors, read)
    if len(sizes) > 1:
        return f"its scales are of groups of {' and '.join(map(str, sorted(sizes)))} terms"
    if looked > 1 and min(sizes, default=_terms(read)) * factors[0].largest * factors[1].largest > _MOST:
        return "sums within a group need more than 32 bits"
    builder = _builder(factors, read)
    integers = [_narrowest(factor.integers) for factor in factors]
    zeros = [_narrowest(factor.zero) for factor in factors if factor.zero is not None]
    points = [*integers, *zeros, *(_stored(factor.scale) for factor in factors)]
    if any(not builder.is_along(found) for point in points for found in builder.read_from(point)):
        return "what it is quantised from is cut otherwise than its loops"
    if builder.is_repeated(integers, other):
        return "its integers are repeated along a loop"
    return None


def _terms(read: ProductSum) -> int:
    return GenericLoops(read.generic).extents[read.reduction]


def _sizes(factors: Iterable[Dequantised], read: ProductSum) -> set[int]:
    """How many terms share scales and zero points; empty where all do."""
    return {digit.stride for factor in factors for digit in factor.groups(read.reduction)}


def _builder(factors: Iterable[Dequantised], read: ProductSum) -> _Builder:
    loops, terms = GenericLoops(read.generic), _terms(read)
    size = min(_sizes(factors, read), default=terms)
    return _Builder(ContractionWriter(read.generic, read.kept, read.reduction, terms // size, size), loops)


# Building -------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Builder:
    """Tensors of what points are, along the loops of a contraction."""

    writer: ContractionWriter
    loops: GenericLoops

    def quantised(self, factor: Dequantised) -> Quantised:
        """The integers moved to where the narrowest type with a sign begins, and their zero points with them."""
        bounds = factor.bounds
        kind = _HALF if bounds.most - bounds.least < 16 else _BYTE
        least = Bounds.of_bits(kind.width.data).least
        moved = 0 if bounds in Bounds.of_bits(kind.width.data) else int(bounds.least - least)
        integers = self._integers(factor.integers, bounds, moved, kind)
        return Quantised(integers, self._scale(factor.scale), self._zero(factor, moved))

    def _integers(self, point: Point, bounds: Bounds, moved: int, kind: IntegerType) -> Along:
        point = _narrowest(point)
        if point.kind == kind and not moved and (as_is := self._as_is(point)) is not None:
            return as_is

        def narrowed(body: Body, value: SSAValue) -> SSAValue:
            if isinstance(value.type, AnyFloat):
                below = body.add(arith.MinnumfOp(value, body.number(bounds.most, value.type)))
                cut = body.add(arith.MaxnumfOp(below, body.number(bounds.least, value.type)))
                value = body.add(arith.FPToSIOp(cut, i32 if moved else kind))
            return _moved(body, value, moved, kind)

        return self._computed(point, kind, narrowed)

    def _scale(self, point: Point) -> Factor:
        if isinstance(constant := point.definition.constant, FloatAttr):
            return constant
        return self._tensor(_stored(point))

    def _zero(self, factor: Dequantised, moved: int) -> Factor | None:
        if factor.zero is None or factor.zero_bounds.least == factor.zero_bounds.most:
            number = int(factor.zero_bounds.least) - moved
            return IntegerAttr(number, i32) if number else None
        point = _narrowest(factor.zero)
        if not moved and isinstance(point.kind, IntegerType) and point.kind.width.data <= 32:
            return self._tensor(point)

        def widened(body: Body, value: SSAValue) -> SSAValue:
            if isinstance(value.type, AnyFloat):
                value = body.add(arith.FPToSIOp(value, i32))
            return _moved(body, value, moved, i32)

        return self._computed(point, i32, widened)

    def _tensor(self, point: Point) -> Along:
        """A tensor of a point: the one that holds it, or a new one."""
        return self._as_is(point) or self._computed(point, point.kind, lambda body, value: value)

    def _as_is(self, point: Point) -> Along | None:
        """The tensor that holds a point, where it is along loops of the contraction."""
        if point.held is None:
            return None
        value, place = point.held
        along = [self._loop(digit) for digit in place if digit is not None]
        loops = [loop for loop in along if loop is not None]
        if len(loops) < len(along) or len({*loops}) < len(loops):
            return None
        return Along(self._without_units(value, place), tuple(loops))

    def _loop(self, digit: Digit) -> int | None:
        if digit.stride == 1 and digit.extent == self.loops.extents[digit.loop]:
            return digit.loop
        if digit.loop != self.writer.reduction or self.writer.count == 1:
            return None
        groups = {(1, self.writer.size): digit.loop, (self.writer.size, self.writer.count): self.writer.group}
        return groups.get((digit.stride, digit.extent))

    def _without_units(self, value: SSAValue, place: Place) -> SSAValue:
        """A tensor without the dimensions of which each point is at 0."""
        if None not in place:
            return value
        groups: list[list[int]] = []
        leading: list[int] = []
        for digit, extent in zip(place, shape_of(value), strict=True):
            if digit is not None:
                groups.append([*leading, extent])
                leading = []
            elif groups:
                groups[-1].append(extent)
            else:
                leading.append(extent)
        collapsed = collapse_shape(value, tuple(map(tuple, groups)))
        self.writer.insert(collapsed)
        return collapsed.result

    def _computed(self, point: Point, kind: Attribute, last: _Last) -> Along:
        """What `last` makes of a point, written as a generic over the tensors that it is computed from."""
        inputs: dict[Point, Along] = {}
        for found in self.read_from(point):
            along = self._as_is(found)
            assert along is not None, "a contraction was accepted that reads a tensor otherwise than along its loops"
            inputs[found] = along
        if any(self.writer.group in entry.loops for entry in inputs.values()):
            inputs = {found: self.writer.grouped(entry) for found, entry in inputs.items()}

        def write(body: Body, values: Sequence[SSAValue]) -> SSAValue:
            return last(body, _written(body, point, dict(zip(inputs, values, strict=False))))

        loops = sorted({loop for entry in inputs.values() for loop in entry.loops}, key=self._order)
        return self.writer.generic(list(inputs.values()), tuple(loops), kind, write)

    def _order(self, loop: int) -> tuple[bool, bool, int]:
        return loop == self.writer.reduction, loop == self.writer.group, loop

    def read_from(self, point: Point) -> list[Point]:
        """The nearest points behind one, or itself, that a tensor holds along loops of the contraction, else leaves."""
        found: dict[Point, None] = {}
        pending = [point]
        while pending:
            current = pending.pop()
            if current.definition.constant is None and (current.op is None or self.is_along(current)):
                found[current] = None
            else:
                pending.extend(current.operands)
        return list(found)

    def is_along(self, point: Point) -> bool:
        """Whether a tensor holds a point, along loops of the contraction: along the terms of groups beside the groups alone."""
        if point.held is None or any(self._loop(digit) is None for digit in point.held[1] if digit is not None):
            return False
        return (self.reached(point) & self._terms) != {self.writer.reduction} or self.writer.count == 1

    def reached(self, point: Point) -> set[int]:
        """The loops along which a tensor holds a point; a whole reduction is its groups and their terms."""
        place = () if point.held is None else point.held[1]
        loops = {self._loop(digit) for digit in place if digit is not None and not self._is_all_terms(digit)}
        return {loop for loop in loops if loop is not None} | (self._terms if any(map(self._is_all_terms, place)) else set())

    def is_repeated(self, integers: Sequence[Point], single: Along) -> bool:
        """Whether integers are the same for several terms, or for all results along a loop; `single`: what one factor alone is
        multiplied by."""
        each = [{loop for found in self.read_from(point) for loop in self.reached(found)} for point in integers]
        along = set().union(*each, single.loops if len(each) == 1 else ())
        results = {loop for loop in self.writer.kept if self.loops.extents[loop] > 1}
        return not results <= along or not all(self._terms <= loops for loops in each)

    @property
    def _terms(self) -> frozenset[int]:
        """The loops that are summed over, new ones of groups included."""
        return frozenset({self.writer.reduction} if self.writer.count == 1 else {self.writer.reduction, self.writer.group})

    def _is_all_terms(self, digit: Digit | None) -> bool:
        return digit == Digit(self.writer.reduction, 1, self.loops.extents[self.writer.reduction])


_Last = Callable[[Body, SSAValue], SSAValue]


def _narrowest(point: Point) -> Point:
    """The same integer before it was made wider, or a float."""
    while point.is_(arith.SIToFPOp, arith.UIToFPOp, arith.ExtSIOp, arith.ExtUIOp, arith.ExtFOp):
        (inner,) = point.operands
        if (bounds := integer_bounds(inner)) is None or bounds != integer_bounds(point):
            break
        point = inner
    return point


def _stored(scale: Point) -> Point:
    """The same scale as it is before it was made wider."""
    while scale.is_(arith.ExtFOp) and scale.operands[0].kind == f16:
        scale = scale.operands[0]
    return scale


def _moved(body: Body, value: SSAValue, by: int, kind: IntegerType) -> SSAValue:
    """An integer less `by`, as `kind`, in which the difference fits."""
    if by:
        wide = value if _bits(value) >= 32 else body.add(arith.ExtSIOp(value, i32))
        assert isinstance(wide.type, IntegerType)
        value = body.add(arith.SubiOp(wide, body.constant(by, wide.type)))
    if _bits(value) == kind.width.data:
        return value
    return body.add((arith.TruncIOp if _bits(value) > kind.width.data else arith.ExtSIOp)(value, kind))


def _bits(value: SSAValue) -> int:
    assert isinstance(value.type, IntegerType)
    return value.type.width.data


def _written(body: Body, point: Point, known: dict[Point, SSAValue]) -> SSAValue:
    """The operations that compute `point` from what is `known`, in the body."""
    if point not in known:
        constant, op = point.definition.constant, point.op
        if constant is not None:
            known[point] = body.add(arith.ConstantOp(constant))
        else:
            assert op is not None
            operands = [_written(body, operand, known) for operand in point.operands]
            known[point] = body.add(op.clone(dict(zip(op.operands, operands, strict=True))))
    return known[point]
