"""Building sums of products of integers in groups, with scales and zero points (docs/quantisation.md)."""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass, replace
from math import prod

from xdsl.dialects import arith, tensor
from xdsl.dialects.builtin import AnyFloat, FloatAttr, IntegerAttr, IntegerType, TensorType, f32, i32
from xdsl.dialects.linalg.ops import GenericOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from stc.analysis.generic_loops import GenericLoops, all_dims
from stc.dialects.facts import MODULE
from stc.quantisation.formats import LinearFormat
from stc.transforms.linalg.bodies import Body
from stc.transforms.linalg.generics import PARALLEL, REDUCTION, build, combining, filled, shape_of, starts_at_zero
from stc.transforms.linalg.reshapes import expand_shape


@dataclass(frozen=True)
class Along:
    """A tensor, and the loop along each of its dimensions."""

    value: SSAValue
    loops: tuple[int, ...]

    @property
    def element(self) -> Attribute:
        assert isinstance(self.value.type, TensorType)
        return self.value.type.element_type


@dataclass(frozen=True)
class ProductSum:
    """The sum over the loop `reduction` of products of two tensors, f32, to a result along the loops of `kept`."""

    generic: GenericOp
    first: Along
    second: Along
    kept: tuple[int, ...]
    reduction: int


def product_sum(generic: GenericOp) -> ProductSum | None:
    """What a generic sums up, from 0, where that is products of entries of two tensors of f32, along one loop."""
    dims, combined = all_dims(generic), combining(generic) if len(generic.results) == 1 else None
    if dims is None or any(None in entry for entry in dims) or combined is None or not starts_at_zero(generic):
        return None
    adding, term = combined
    factors = list(term.owner.operands) if isinstance(term.owner, arith.MulfOp) else []
    arguments = list(generic.body.block.args[:2])
    if not isinstance(adding, arith.AddfOp) or len(generic.inputs) != 2 or factors not in (arguments, arguments[::-1]):
        return None
    loops = GenericLoops(generic)
    if len(loops.reductions) != 1 or any(argument.type != f32 for argument in generic.body.block.args):
        return None
    first, second = (Along(value, along) for value, along in zip(generic.inputs, loops.input_dims, strict=True))
    reduction, kept = loops.reductions[0], loops.output_dims[0]
    if reduction not in first.loops or reduction not in second.loops or not {*kept} <= {*first.loops, *second.loops}:
        return None
    return ProductSum(generic, first, second, kept, reduction)


def linear_of(generic: GenericOp, known: Container[SSAValue]) -> ProductSum | None:
    """What a generic sums up, where that is products of activations, which come first, and weights among the values `known` to the
    host."""
    read = product_sum(generic)
    if read is None or (read.first.value in known) is (read.second.value in known):
        return None
    return read if read.second.value in known else replace(read, first=read.second, second=read.first)


def groups_of(linear: ProductSum, chosen: LinearFormat) -> tuple[int, int]:
    """How many groups the reduction has, and how long each is."""
    return chosen.groups(shape_of(linear.second.value)[linear.second.loops.index(linear.reduction)])


def rows(linear: ProductSum) -> int:
    """Sums for one row of activations."""
    extents = zip(linear.second.loops, shape_of(linear.second.value), strict=True)
    return prod(extent for loop, extent in extents if loop != linear.reduction)


def is_of_one_row(linear: ProductSum) -> bool:
    """Whether there is one row of activations."""
    return prod(shape_of(linear.generic.results[0])) == rows(linear)


Factor = Along | FloatAttr | IntegerAttr
"""A tensor, or one number for all points."""


@dataclass(frozen=True)
class Quantised:
    """Integers that stand for (integer - zero) * scale.

    `integers`: of at most 8 bits with a sign, along what the factor of the contraction is along; with the loop over groups in front
    of the reduction, or still without. `scale` (a float) and `zero` (integers of at most 32 bits; None: 0
    everywhere) have no entry for each term of the reduction: they are along other loops of `integers`, the one over groups among
    them.
    """

    integers: Along
    scale: Factor
    zero: Factor | None = None


Write = Callable[[Body, Sequence[SSAValue]], SSAValue]
"""Writes a body whose arguments are these (the accumulator last); what it yields."""


@dataclass(frozen=True)
class ContractionWriter:
    """Writes operations in front of a contraction: a sum over the loop `reduction`, to a result along the loops of `kept`.

    The reduction is cut into `count` groups of `size` terms; a short last one is filled up with zeros.
    """

    replaced: GenericOp
    kept: tuple[int, ...]
    reduction: int
    count: int
    size: int

    @property
    def group(self) -> int:
        """The loop over groups, which is new."""
        return len(self.replaced.iterator_types)

    def contraction(self, activations: Quantised, weights: Quantised) -> SSAValue:
        """What both factors come to, f32: docs/quantisation.md has the order of additions and products.

        Where both have zero points, groups are whole: of a short one, other terms than its own would be counted.
        """
        assert activations.zero is None or weights.zero is None or self._terms_missing(activations.integers) == 0
        activations, weights = (replace(factor, integers=self.grouped(factor.integers)) for factor in (activations, weights))
        return self._total(self._sums(activations.integers, weights.integers), activations, weights)

    def contraction_of_floats(self, activations: Along, weights: Quantised) -> SSAValue:
        """What floats and integers with scales come to, f32: sums within each group of floats times integers less their zero
        points, times the scale of the group; groups are added up."""
        terms = [self.grouped(activations), self.grouped(weights.integers), *([] if weights.zero is None else [weights.zero])]

        def product(body: Body, values: Sequence[SSAValue]) -> SSAValue:
            integer = values[1]
            if weights.zero is not None:
                integer = body.add(arith.SubiOp(_widened(body, integer), _widened(body, values[2])))
            return body.add(arith.MulfOp(values[0], body.add(arith.SIToFPOp(integer, f32))))

        def scaled(body: Body, values: Sequence[SSAValue]) -> SSAValue:
            return body.add(arith.MulfOp(values[0], as_f32(body, values[1])))

        zero = FloatAttr(0.0, f32)
        if self.count == 1:
            sums = self.generic(terms, self.kept, f32, _added(product), zero)
            return self.generic([sums, weights.scale], self.kept, f32, scaled).value
        sums = self.generic(terms, self.in_lanes((*self.kept, self.group)), f32, _added(product), zero)
        return self.generic([sums, weights.scale], self.kept, f32, _added(scaled), zero).value

    def grouped(self, tensor_: Along) -> Along:
        """The dimension along the reduction filled up with zeros, and split into groups and terms; what has none as it is."""
        if self.count == 1 or self.group in tensor_.loops or self.reduction not in tensor_.loops:
            return tensor_
        axis, shape = tensor_.loops.index(self.reduction), shape_of(tensor_.value)
        value = self._filled_up(tensor_.value, axis)
        groups = tuple((self.count, self.size) if index == axis else (extent,) for index, extent in enumerate(shape))
        expanded = expand_shape(value, groups)
        self.insert(expanded)
        return Along(expanded.result, (*tensor_.loops[:axis], self.group, *tensor_.loops[axis:]))

    def generic(
        self,
        inputs: Sequence[Factor],
        kept: tuple[int, ...],
        kind: Attribute,
        write: Write,
        start: FloatAttr | IntegerAttr | None = None,
    ) -> Along:
        """A generic along the loops `kept`, which reduces the other loops of its inputs from `start`; numbers are in its body."""
        tensors = [entry for entry in inputs if isinstance(entry, Along)]
        reduced = [loop for loop in dict.fromkeys(loop for entry in tensors for loop in entry.loops) if loop not in kept]
        order = [*kept, *reduced]
        extents = {loop: extent for e in tensors for loop, extent in zip(e.loops, shape_of(e.value), strict=True)}
        shape = [extents[loop] for loop in kept]
        block = Block(arg_types=[*(entry.element for entry in tensors), kind])
        body, arguments = Body(block), iter(block.args)
        values = [next(arguments) if isinstance(e, Along) else body.add(arith.ConstantOp(e)) for e in inputs]
        body.end(write(body, [*values, *arguments]))
        if start is None:
            empty = tensor.EmptyOp((), TensorType(kind, shape))
            self.insert(empty)
            begin = empty.tensor
        else:
            begin = self._filled(shape, start)
        dims = [tuple(order.index(loop) for loop in loops) for loops in (*(entry.loops for entry in tensors), kept)]
        kinds = [PARALLEL] * len(kept) + [REDUCTION] * len(reduced)
        made = build([entry.value for entry in tensors], [begin], Region(block), dims, kinds, MODULE.retained(self.replaced))
        self.insert(made)
        return Along(made.results[0], kept)

    def in_lanes(self, loops: tuple[int, ...]) -> tuple[int, ...]:
        """`loops`, that over groups in front of the last loop of results, along which lanes lie."""
        if self.group not in loops or not self.kept or (lanes := self.kept[-1]) not in loops:
            return loops
        others = [loop for loop in loops if loop != self.group]
        at = others.index(lanes)
        return (*others[:at], self.group, *others[at:])

    def insert(self, *ops: Operation) -> None:
        Rewriter.insert_op(list(ops), InsertPoint.before(self.replaced))

    def _sums(self, activations: Along, weights: Along) -> Along:
        """Of products, within each group: i32."""

        def body(body: Body, values: Sequence[SSAValue]) -> SSAValue:
            first, second = (_widened(body, value) for value in values[:2])
            return body.add(arith.AddiOp(values[2], body.add(arith.MuliOp(first, second))))

        kept = self.kept if self.count == 1 else self.in_lanes((*self.kept, self.group))
        return self.generic([activations, weights], kept, i32, body, IntegerAttr(0, i32))

    def _sum_of(self, integers: Along) -> Along:
        """Of integers, within each group: i32."""

        def body(body: Body, values: Sequence[SSAValue]) -> SSAValue:
            return body.add(arith.AddiOp(values[1], _widened(body, values[0])))

        kept = self.in_lanes(tuple(loop for loop in integers.loops if loop != self.reduction))
        return self.generic([integers], kept, i32, body, IntegerAttr(0, i32))

    def _total(self, sums: Along, activations: Quantised, weights: Quantised) -> SSAValue:
        """Without what zero points add, times the scales, added up over groups in f32."""
        corrections = self._corrections(activations, weights)
        inputs = [sums, *(entry for pair in corrections for entry in pair), weights.scale]
        last = len(inputs) - 1

        def scaled(body: Body, values: Sequence[SSAValue]) -> SSAValue:
            exact = self._corrected(body, values[:last], activations, weights)
            return body.add(arith.MulfOp(body.add(arith.SIToFPOp(exact, f32)), as_f32(body, values[last])))

        def both(body: Body, values: Sequence[SSAValue]) -> SSAValue:
            return body.add(arith.MulfOp(scaled(body, values), as_f32(body, values[last + 1])))

        def times(body: Body, values: Sequence[SSAValue]) -> SSAValue:
            return body.add(arith.MulfOp(values[0], as_f32(body, values[1])))

        kept, zero = self.kept, FloatAttr(0.0, f32)
        if self.count == 1:
            return self.generic([*inputs, activations.scale], kept, f32, both).value
        if isinstance(activations.scale, Along) and self.group in activations.scale.loops:
            return self.generic([*inputs, activations.scale], kept, f32, _added(both), zero).value
        total = self.generic(inputs, kept, f32, _added(scaled), zero)
        return self.generic([total, activations.scale], kept, f32, times).value

    def _corrections(self, activations: Quantised, weights: Quantised) -> list[tuple[Factor, Along]]:
        """For each factor with zero points: those, and the sums of the other's integers. Of parameters the host computes them."""
        factors = ((activations, weights), (weights, activations))
        return [(one.zero, self._sum_of(other.integers)) for one, other in factors if one.zero is not None]

    def _corrected(self, body: Body, values: Sequence[SSAValue], activations: Quantised, weights: Quantised) -> SSAValue:
        """sum (a - za) (q - zq) = sum a q - za sum q - zq sum a + n za zq, where `values` are sum a q, za, sum q, zq, sum a."""
        result, zeros = values[0], [_widened(body, value) for value in values[1::2]]
        for zero, total in zip(zeros, values[2::2], strict=True):
            result = body.add(arith.SubiOp(result, body.add(arith.MuliOp(zero, total))))
        if activations.zero is None or weights.zero is None:
            return result
        product = body.add(arith.MuliOp(zeros[0], zeros[1]))
        return body.add(arith.AddiOp(result, body.add(arith.MuliOp(product, body.constant(self.size, i32)))))

    def _filled_up(self, value: SSAValue, axis: int) -> SSAValue:
        shape, kind = shape_of(value), Along(value, ()).element
        missing = self.count * self.size - shape[axis]
        if not missing:
            return value
        rest = tuple(missing if index == axis else extent for index, extent in enumerate(shape))
        zeros = self._filled(rest, IntegerAttr(0, kind) if isinstance(kind, IntegerType) else FloatAttr(0.0, f32))
        whole = tuple(shape[axis] + missing if index == axis else extent for index, extent in enumerate(shape))
        concat = tensor.ConcatOp([value, zeros], axis, TensorType(kind, whole))
        self.insert(concat)
        return concat.results[0]

    def _terms_missing(self, integers: Along) -> int:
        """How many zeros fill up the last group."""
        cut = (loop in (self.group, self.reduction) for loop in integers.loops)
        return self.count * self.size - prod(extent for extent, of in zip(shape_of(integers.value), cut, strict=True) if of)

    def _filled(self, shape: Sequence[int], value: FloatAttr | IntegerAttr) -> SSAValue:
        ops = filled(value, shape)
        self.insert(*ops)
        return ops[-1].results[0]


def _added(term: Write) -> Write:
    return lambda body, values: body.add(arith.AddfOp(values[-1], term(body, values)))


def _widened(body: Body, value: SSAValue) -> SSAValue:
    return value if value.type == i32 else body.add(arith.ExtSIOp(value, i32))


def as_f32(body: Body, value: SSAValue) -> SSAValue:
    """A scale as f32."""
    assert isinstance(value.type, AnyFloat)
    return value if value.type == f32 else body.add(arith.ExtFOp(value, f32))
