"""What one entry of a tensor is computed from: through element-wise generics and reshapes, at each point of a generic's loops."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from math import prod

from xdsl.dialects import tensor
from xdsl.dialects.builtin import FloatAttr, IntegerAttr, TensorType
from xdsl.dialects.linalg.ops import GenericOp, IndexOp
from xdsl.ir import Attribute, BlockArgument, Operation, SSAValue

from stc.analysis.generic_loops import all_dims
from stc.transforms.linalg.generics import is_elementwise, yielded
from stc.transforms.linalg.inline_constants import scalar_constant, uniform_value
from stc.transforms.linalg.reshapes import groups_of


@dataclass(frozen=True)
class Digit:
    """(loop // stride) mod extent: a whole loop, or a part of one that is cut into groups."""

    loop: int
    stride: int
    extent: int


Place = tuple[Digit | None, ...]
"""Where a point is in each dimension of a tensor; None: at 0, of a dimension of one entry."""


@dataclass(frozen=True)
class Definition:
    """What a number is: a constant, what an operation computes from others, or neither of both."""

    constant: FloatAttr | IntegerAttr | None = None
    op: Operation | None = None
    operands: tuple[Point, ...] = ()


@dataclass(eq=False)
class Point:
    """One number at each point of some loops.

    `held`: the tensor that holds it, and where; None of what is computed within the body of a generic. How it is computed is read
    when it is asked for: chains of thousands of operations are ordinary input.
    """

    kind: Attribute
    held: tuple[SSAValue, Place] | None
    _definition: Definition | None
    _reader: PointReader

    @cached_property
    def definition(self) -> Definition:
        if self._definition is not None:
            return self._definition
        return Definition() if self.held is None else self._reader.definition(*self.held)

    @property
    def op(self) -> Operation | None:
        return self.definition.op

    @property
    def operands(self) -> tuple[Point, ...]:
        return self.definition.operands

    @property
    def number(self) -> float | None:
        """Its value where it is a constant."""
        constant = self.definition.constant
        return None if constant is None else constant.value.data

    def is_(self, *kinds: type[Operation]) -> bool:
        return isinstance(self.op, kinds)

    @cached_property
    def digits(self) -> frozenset[Digit]:
        """What it depends on, through as many operations as `MOST_READ`; at most those of the tensor that holds it."""
        behind = list(points_behind([self]))
        is_whole = len(behind) < MOST_READ
        ends = [self] if not is_whole and self.held is not None else [point for point in behind if point.op is None]
        return frozenset(digit for point in ends if point.held is not None for digit in point.held[1] if digit is not None)


MOST_READ = 256
"""Of how many points behind one something is found out."""


def points_behind(roots: Iterable[Point]) -> Iterator[Point]:
    """`roots` and what they are computed from, each once; no more than `MOST_READ`."""
    pending, seen = list(roots), set[Point]()
    while pending and len(seen) < MOST_READ:
        point = pending.pop()
        if point not in seen:
            seen.add(point)
            yield point
            pending.extend(point.operands)


@dataclass
class PointReader:
    """Reads tensors; the same entry of the same tensor is the same point."""

    _read: dict[tuple[SSAValue, Place], Point] = field(default_factory=dict[tuple[SSAValue, Place], Point])

    def read(self, value: SSAValue, place: Place) -> Point:
        """The entry of `value` at `place`, in the first tensor that holds it: behind reshapes, transpositions and repetitions."""
        while (before := _moved_from(value, place)) is not None:
            value, place = before
        if (value, place) not in self._read:
            self._read[value, place] = Point(_element(value), (value, place), None, self)
        return self._read[value, place]

    def definition(self, value: SSAValue, place: Place) -> Definition:
        """How an entry of a tensor is computed."""
        if (constant := uniform_value(value)) is not None:
            return Definition(constant)
        op = value.owner
        if not isinstance(op, GenericOp) or not _is_read_through(op):
            return Definition()
        points: dict[SSAValue, Point] = {}
        for argument, (operand, entry) in zip(op.body.block.args, _operands_at(op, value, place), strict=False):
            points[argument] = self.read(operand, entry) if isinstance(operand.type, TensorType) else self._scalar(operand)
        for inner in list(op.body.block.ops)[:-1]:
            constant = scalar_constant(inner.results[0])
            operands = tuple(points[operand] if operand in points else self._scalar(operand) for operand in inner.operands)
            made = Definition(constant) if constant is not None else Definition(None, inner, operands)
            points[inner.results[0]] = Point(inner.results[0].type, None, made, self)
        found = yielded(op)[_number_of(op, value)]
        return (points[found] if found in points else self._scalar(found)).definition

    def _scalar(self, value: SSAValue) -> Point:
        return Point(value.type, (value, ()), Definition(scalar_constant(value)), self)


def _moved_from(value: SSAValue, place: Place) -> tuple[SSAValue, Place] | None:
    """The tensor and the place that an entry was moved from, as it is."""
    match value.owner:
        case tensor.ExpandShapeOp() as op:
            coarse = _merged(place, groups_of(op))
            return None if coarse is None else (op.src, coarse)
        case tensor.CollapseShapeOp() as op:
            fine = _split(place, groups_of(op))
            return None if fine is None else (op.src, fine)
        case GenericOp() as op if is_elementwise(op):
            argument = yielded(op)[_number_of(op, value)]
            if not isinstance(argument, BlockArgument) or argument.owner is not op.body.block:
                return None
            operand, entry = _operands_at(op, value, place)[argument.index]
            return (operand, entry) if isinstance(operand.type, TensorType) else None
        case _:
            return None


def _number_of(op: GenericOp, value: SSAValue) -> int:
    return next(number for number, result in enumerate(op.results) if result is value)


def _operands_at(op: GenericOp, value: SSAValue, place: Place) -> list[tuple[SSAValue, Place]]:
    """The inputs of an element-wise generic, and where they are read for its result `value` at `place`."""
    dims = all_dims(op)
    assert dims is not None
    loops = dict(zip(dims[len(op.inputs) + _number_of(op, value)], place, strict=True))
    places = [tuple(None if loop is None else loops[loop] for loop in entry) for entry in dims[: len(op.inputs)]]
    return list(zip(op.inputs, places, strict=True))


def _is_read_through(op: GenericOp) -> bool:
    """Whether each entry of the results is computed from single entries of the inputs, and from nothing else."""
    if not is_elementwise(op):
        return False
    block = op.body.block
    if any(isinstance(inner, IndexOp) or inner.regions or len(inner.results) != 1 for inner in list(block.ops)[:-1]):
        return False
    outside = (operand for inner in block.ops for operand in inner.operands if _block_of(operand) is not block)
    return all(scalar_constant(operand) is not None for operand in outside)


def _block_of(value: SSAValue) -> object:
    owner = value.owner
    return owner.parent if isinstance(owner, Operation) else owner


def _element(value: SSAValue) -> Attribute:
    return value.type.element_type if isinstance(value.type, TensorType) else value.type


def _merged(place: Place, groups: Sequence[Sequence[int]]) -> Place | None:
    """The place in a tensor whose dimensions are `groups` of those of `place`; None where that is no digit of one loop."""
    result: list[Digit | None] = []
    for digits in _by_group(place, groups):
        parts = [digit for digit in digits if digit is not None]
        if any(outer.loop != inner.loop or outer.stride != inner.stride * inner.extent for outer, inner in pairwise(parts)):
            return None
        extent = prod(digit.extent for digit in parts)
        result.append(Digit(parts[0].loop, parts[-1].stride, extent) if parts else None)
    return tuple(result)


def _by_group(place: Place, groups: Sequence[Sequence[int]]) -> Iterator[Sequence[Digit | None]]:
    position = 0
    for group in groups:
        yield place[position : position + len(group)]
        position += len(group)


def _split(place: Place, groups: Sequence[Sequence[int]]) -> Place | None:
    """The place in a tensor of which groups of dimensions, of these extents, are the dimensions of `place`."""
    if len(groups) != len(place):
        return None  # of no dimensions: one entry
    result: list[Digit | None] = []
    for digit, extents in zip(place, groups, strict=True):
        stride = prod(extents)
        for extent in extents:
            stride //= extent
            result.append(None if digit is None or extent == 1 else Digit(digit.loop, digit.stride * stride, extent))
    return tuple(result)
