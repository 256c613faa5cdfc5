"""`quantize-linear`: contractions with parameters become sums of products of integers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import arith, math, tensor
from xdsl.dialects.builtin import AnyFloat, FloatAttr, IntegerAttr, IntegerType, ModuleOp, TensorType, f16, f32, i32
from xdsl.dialects.linalg.ops import GenericOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from stc.analysis.generic_loops import GenericLoops, all_dims, generics_in
from stc.analysis.host_work import functions_of, host_values
from stc.diagnostics import CompileError
from stc.dialects.facts import MODULE
from stc.quantisation.formats import (
    ACTIVATION_LARGEST,
    GROUP,
    LEAST_ACTIVATION_SCALE,
    SCALES,
    LinearFormat,
    read_quantisation,
)
from stc.transforms.finding_pass import FindingPass
from stc.transforms.linalg.bodies import Body
from stc.transforms.linalg.dead_ops import erase_dead_ops
from stc.transforms.linalg.generics import PARALLEL, REDUCTION, build, combining, filled, shape_of, starts_at_zero
from stc.transforms.linalg.reshapes import expand_shape

_BYTE = IntegerType(8)
_SCALE_TYPES: dict[str, AnyFloat] = {"f16": f16}


@dataclass(frozen=True)
class Along:
    """A tensor, and the loop along each of its dimensions."""

    value: SSAValue
    loops: tuple[int, ...]


@dataclass(frozen=True)
class Linear:
    """A sum over the loop `reduction` of activations times weights, to `result`, which is along the loops of `kept`."""

    generic: GenericOp
    layer: str
    activations: Along
    weights: Along
    kept: tuple[int, ...]
    reduction: int

    @property
    def group(self) -> int:
        """The loop over groups, which is new."""
        return len(self.generic.iterator_types)


@dataclass(frozen=True)
class QuantizeLinear(FindingPass):
    """Compute linear layers on integers: the weights of fixed scales, the activations of scales that each token has.

    Rewrites sums of products of f32 along one loop, of which one factor depends on parameters alone. docs/quantisation.md has the
    arithmetic in formulas, and `stc.quantisation.reference` in PyTorch: the integers, and every sum, are the same. The weights
    are quantised by operations on the parameter, which the host evaluates when it packs parameters: to i8 or i4 in groups along
    the reduction, the last one filled up with zeros, with one scale for each group and output. A sum within a group is i32; groups
    are added up in f32, in ascending order.

    Options: `format`, as `--quantize` takes it: `bits=8` (of weights; or 4), `group=row` (or a length), `scale=f16`,
    `activations=token` (or `group`), `except=PATH` for each module (`stc.module`) that stays f32, and `PATH.bits=4` (`.group`, ...)
    for what is of one alone.

        %y = linalg.generic {...} ins(%x, %w : tensor<5x16xf32>, tensor<24x16xf32>) { s + x * w } ... -> tensor<5x24xf32>
      becomes
        %scale = ... : tensor<24xf16>      // max(f16(max |w| / 127), 2^-14)
        %integers = ... : tensor<24x16xi8> // roundeven(w / scale)
        %s = ... : tensor<5xf32>           // max(max |x| / 127, 2^-126)
        %q = ... : tensor<5x16xi8>         // roundeven(x * (1 / s))
        %sums = linalg.generic {...} ins(%q, %integers : tensor<5x16xi8>, tensor<24x16xi8>) { s + q * w } ... -> tensor<5x24xi32>
        %y = linalg.generic {...} ins(%sums, %scale, %s : ...) { f32(sum) * f32(scale) * s } ... -> tensor<5x24xf32>
    """

    name = "quantize-linear"

    format: str = "bits=8"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        self.find(ctx, op)

    def find(self, ctx: Context, op: ModuleOp) -> tuple[str, ...]:
        """The modules whose contractions were rewritten; '' for one outside of modules."""
        chosen = read_quantisation(self.format)
        found = [linear for function in functions_of(op) for linear in _linears(generics_in(function), host_values(function))]
        chosen.require_known(linear.layer for linear in found)
        rewritten = {linear: own for linear in found if (own := chosen.format_of(linear.layer)) is not None}
        for linear, own in rewritten.items():
            _quantise(linear, own)
        erase_dead_ops(op)
        return tuple(dict.fromkeys(linear.layer for linear in rewritten))


# What is rewritten ----------------------------------------------------------------------------------------------------


def _linears(generics: Sequence[GenericOp], known: set[SSAValue]) -> list[Linear]:
    """The contractions of `generics` with weights that are among the values `known` to the host."""
    return [found for generic in generics if (found := _linear(generic, known)) is not None]


def _linear(generic: GenericOp, known: set[SSAValue]) -> Linear | None:
    dims, combined = all_dims(generic), combining(generic) if len(generic.results) == 1 else None
    if dims is None or any(None in entry for entry in dims) or combined is None or not starts_at_zero(generic):
        return None
    adding, term = combined
    factors = list(term.owner.operands) if isinstance(term.owner, arith.MulfOp) else []
    arguments = list(generic.body.block.args[:2])
    if not isinstance(adding, arith.AddfOp) or len(generic.inputs) != 2 or factors not in (arguments, arguments[::-1]):
        return None
    loops, weights = GenericLoops(generic), [index for index in range(2) if generic.inputs[index] in known]
    if len(weights) != 1 or len(loops.reductions) != 1 or any(argument.type != f32 for argument in generic.body.block.args):
        return None
    first, second = (Along(generic.inputs[index], loops.input_dims[index]) for index in (1 - weights[0], weights[0]))
    reduction, kept = loops.reductions[0], loops.output_dims[0]
    if reduction not in first.loops or reduction not in second.loops or not {*kept} <= {*first.loops, *second.loops}:
        return None
    return Linear(generic, MODULE.of(generic) or "", first, second, kept, reduction)


# Rewriting ------------------------------------------------------------------------------------------------------------


def _quantise(linear: Linear, chosen: LinearFormat) -> None:
    if chosen.scale not in _SCALE_TYPES:
        where = f"{QuantizeLinear.name}, layer '{linear.layer}'"
        raise CompileError(f"scale={chosen.scale}", where=where, accepted=", ".join(f"scale={name}" for name in _SCALE_TYPES))
    writer = _Writer(linear, *chosen.groups(shape_of(linear.weights.value)[linear.weights.loops.index(linear.reduction)]))
    weights = writer.grouped(linear.weights)
    scales = writer.weight_scales(weights, chosen)
    integers = writer.weight_integers(weights, scales, chosen)
    of_groups = chosen.activations == GROUP and writer.count > 1
    activations = writer.grouped(linear.activations) if of_groups else linear.activations
    token_scales = writer.activation_scales(activations)
    quantised = writer.activation_integers(activations, token_scales)
    sums = writer.sums(quantised if of_groups else writer.grouped(quantised), integers)
    result = writer.total(sums, scales, token_scales, of_groups=of_groups)
    result.value.name_hint = linear.generic.results[0].name_hint
    Rewriter.replace_op(linear.generic, [], [result.value])


Write = Callable[[Body, Sequence[SSAValue]], SSAValue]
"""Writes a body whose arguments are these (the accumulator last); what it yields."""


@dataclass(frozen=True)
class _Writer:
    """Writes the operations that replace one contraction, in front of it: `count` groups of `size` terms."""

    linear: Linear
    count: int
    size: int

    def grouped(self, tensor_: Along) -> Along:
        """The dimension along the reduction filled up with zeros, and split into groups and terms; as it is where one is all."""
        if self.count == 1:
            return tensor_
        axis, shape = tensor_.loops.index(self.linear.reduction), shape_of(tensor_.value)
        value = self._filled_up(tensor_.value, axis)
        groups = tuple((self.count, self.size) if index == axis else (extent,) for index, extent in enumerate(shape))
        expanded = expand_shape(value, groups)
        self._insert(expanded)
        return Along(expanded.result, (*tensor_.loops[:axis], self.linear.group, *tensor_.loops[axis:]))

    def weight_scales(self, weights: Along, chosen: LinearFormat) -> Along:
        """max(f16(max |w| / largest), the least normal number)."""
        kind = _SCALE_TYPES[chosen.scale]

        def body(body: Body, values: Sequence[SSAValue]) -> SSAValue:
            quotient = body.add(arith.DivfOp(values[0], body.number(chosen.largest, f32)))
            rounded = body.add(arith.TruncFOp(quotient, kind))
            return body.add(arith.MaximumfOp(rounded, body.number(SCALES[chosen.scale], kind)))

        largest = self._largest(weights)
        return self._generic([largest], largest.loops, kind, body)

    def weight_integers(self, weights: Along, scales: Along, chosen: LinearFormat) -> Along:
        """roundeven(w / scale)."""
        kind = IntegerType(chosen.bits)

        def body(body: Body, values: Sequence[SSAValue]) -> SSAValue:
            scale = body.add(arith.ExtFOp(values[1], f32))
            return _integer(body, body.add(arith.DivfOp(values[0], scale)), chosen.largest, kind)

        return self._generic([weights, scales], weights.loops, kind, body)

    def activation_scales(self, activations: Along) -> Along:
        """max(max |x| / 127, the least normal number)."""

        def body(body: Body, values: Sequence[SSAValue]) -> SSAValue:
            quotient = body.add(arith.DivfOp(values[0], body.number(ACTIVATION_LARGEST, f32)))
            return body.add(arith.MaximumfOp(quotient, body.number(LEAST_ACTIVATION_SCALE, f32)))

        largest = self._largest(activations)
        return self._generic([largest], largest.loops, f32, body)

    def activation_integers(self, activations: Along, scales: Along) -> Along:
        """roundeven(x * (1 / scale))."""

        def reciprocal(body: Body, values: Sequence[SSAValue]) -> SSAValue:
            return body.add(arith.DivfOp(body.number(1.0, f32), values[0]))

        def body(body: Body, values: Sequence[SSAValue]) -> SSAValue:
            return _integer(body, body.add(arith.MulfOp(values[0], values[1])), ACTIVATION_LARGEST, _BYTE)

        inverse = self._generic([scales], scales.loops, f32, reciprocal)
        return self._generic([activations, inverse], activations.loops, _BYTE, body)

    def sums(self, activations: Along, weights: Along) -> Along:
        """Of products, within each group: i32."""

        def body(body: Body, values: Sequence[SSAValue]) -> SSAValue:
            first, second = (body.add(arith.ExtSIOp(value, i32)) for value in values[:2])
            return body.add(arith.AddiOp(values[2], body.add(arith.MuliOp(first, second))))

        kept = self.linear.kept if self.count == 1 else (*self.linear.kept, self.linear.group)
        return self._generic([activations, weights], kept, i32, body, IntegerAttr(0, i32))

    def total(self, sums: Along, scales: Along, token_scales: Along, *, of_groups: bool) -> Along:
        """Times the scales, added up over groups in f32."""

        def scaled(body: Body, values: Sequence[SSAValue]) -> SSAValue:
            return body.add(arith.MulfOp(body.add(arith.SIToFPOp(values[0], f32)), body.add(arith.ExtFOp(values[1], f32))))

        def both(body: Body, values: Sequence[SSAValue]) -> SSAValue:
            return body.add(arith.MulfOp(scaled(body, values), values[2]))

        def added(term: Write) -> Write:
            return lambda body, values: body.add(arith.AddfOp(values[-1], term(body, values)))

        def times(body: Body, values: Sequence[SSAValue]) -> SSAValue:
            return body.add(arith.MulfOp(values[0], values[1]))

        kept, zero = self.linear.kept, FloatAttr(0.0, f32)
        if self.count == 1:
            return self._generic([sums, scales, token_scales], kept, f32, both)
        if of_groups:
            return self._generic([sums, scales, token_scales], kept, f32, added(both), zero)
        total = self._generic([sums, scales], kept, f32, added(scaled), zero)
        return self._generic([total, token_scales], kept, f32, times)

    def _largest(self, tensor_: Along) -> Along:
        """The largest magnitude along the reduction; NaN of what holds one."""

        def body(body: Body, values: Sequence[SSAValue]) -> SSAValue:
            return body.add(arith.MaximumfOp(values[1], body.add(math.AbsFOp(values[0]))))

        kept = tuple(loop for loop in tensor_.loops if loop != self.linear.reduction)
        return self._generic([tensor_], kept, f32, body, FloatAttr(0.0, f32))

    def _filled_up(self, value: SSAValue, axis: int) -> SSAValue:
        shape, kind = shape_of(value), _element(value)
        missing = self.count * self.size - shape[axis]
        if not missing:
            return value
        rest = tuple(missing if index == axis else extent for index, extent in enumerate(shape))
        zeros = self._filled(rest, IntegerAttr(0, kind) if isinstance(kind, IntegerType) else FloatAttr(0.0, f32))
        whole = tuple(shape[axis] + missing if index == axis else extent for index, extent in enumerate(shape))
        concat = tensor.ConcatOp([value, zeros], axis, TensorType(kind, whole))
        self._insert(concat)
        return concat.results[0]

    def _filled(self, shape: Sequence[int], value: FloatAttr | IntegerAttr) -> SSAValue:
        ops = filled(value, shape)
        self._insert(*ops)
        return ops[-1].results[0]

    def _generic(
        self,
        inputs: Sequence[Along],
        kept: tuple[int, ...],
        kind: Attribute,
        write: Write,
        start: FloatAttr | IntegerAttr | None = None,
    ) -> Along:
        """A generic along the loops `kept`, which reduces the other loops of its inputs from `start`."""
        reduced = [loop for loop in dict.fromkeys(loop for entry in inputs for loop in entry.loops) if loop not in kept]
        order = [*kept, *reduced]
        extents = {loop: extent for e in inputs for loop, extent in zip(e.loops, shape_of(e.value), strict=True)}
        shape = [extents[loop] for loop in kept]
        block = Block(arg_types=[*(_element(entry.value) for entry in inputs), kind])
        body = Body(block)
        body.end(write(body, block.args))
        if start is None:
            empty = tensor.EmptyOp((), TensorType(kind, shape))
            self._insert(empty)
            begin = empty.tensor
        else:
            begin = self._filled(shape, start)
        dims = [tuple(order.index(loop) for loop in loops) for loops in (*(entry.loops for entry in inputs), kept)]
        kinds = [PARALLEL] * len(kept) + [REDUCTION] * len(reduced)
        values = [entry.value for entry in inputs]
        made = build(values, [begin], Region(block), dims, kinds, MODULE.retained(self.linear.generic))
        self._insert(made)
        return Along(made.results[0], kept)

    def _insert(self, *ops: Operation) -> None:
        Rewriter.insert_op(list(ops), InsertPoint.before(self.linear.generic))


def _integer(body: Body, value: SSAValue, largest: int, kind: IntegerType) -> SSAValue:
    """`value` rounded to the nearest integer, ties to even, and cut to -largest to largest; NaN becomes largest."""
    rounded = body.add(math.RoundEvenOp(value))
    below = body.add(arith.MinnumfOp(rounded, body.number(largest, f32)))
    return body.add(arith.FPToSIOp(body.add(arith.MaxnumfOp(below, body.number(-largest, f32))), kind))


def _element(value: SSAValue) -> Attribute:
    assert isinstance(value.type, TensorType)
    return value.type.element_type
