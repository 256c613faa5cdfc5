"""`quantize-linear`: contractions with parameters become sums of products of integers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import arith, math
from xdsl.dialects.builtin import FloatAttr, IntegerType, ModuleOp, bf16, f16, f32, i32
from xdsl.dialects.linalg.ops import GenericOp
from xdsl.ir import SSAValue
from xdsl.rewriter import Rewriter

from stc.analysis.generic_loops import generics_in
from stc.analysis.host_work import functions_of, host_values
from stc.design_space.group_fill import filled_groups
from stc.dialects.facts import MODULE
from stc.quantisation.formats import (
    ACTIVATION_LARGEST,
    ACTIVATION_STEP,
    GROUP,
    LEAST_ACTIVATION_SCALE,
    SCALES,
    LinearFormat,
    read_quantisation,
)
from stc.transforms.finding_pass import FindingPass
from stc.transforms.linalg.bodies import Body
from stc.transforms.linalg.dead_ops import erase_dead_ops
from stc.transforms.linalg.integer_contractions import (
    Along,
    ContractionWriter,
    ProductSum,
    Quantised,
    as_f32,
    groups_of,
    is_of_one_row,
    linear_of,
    rows,
)

_BYTE = IntegerType(8)


@dataclass(frozen=True)
class QuantizeLinear(FindingPass):
    """Compute linear layers on integers: the weights of fixed scales, the activations of scales that each token has.

    Rewrites sums of products of f32 along one loop, of which one factor depends on parameters alone. docs/quantisation.md has the
    arithmetic in formulas, and `stc.quantisation.reference` in PyTorch: the integers, and every sum, are the same. The weights
    are quantised by operations on the parameter, which the host evaluates when it packs parameters: to i8 or i4 in groups along
    the reduction, the last one filled up with zeros, with one scale for each group and output. A sum within a group is i32; groups
    are added up in f32, in ascending order.

    Options: `format`, as `--quantize` takes it: `bits=8` (of weights; or 4), `group=row` (or a length), `scale=f16` (or `bf16`),
    `activations=token` (or `group`), `except=PATH` for each module (`stc.module`) that stays f32, and `PATH.bits=4` (`.group`, ...)
    for what is of one alone. What the format says of caches concerns who exports a model, and changes nothing here.
    `tasks` (default 0): how many may compute a contraction of one row of activations side by side; where the rows of all that
    multiply it are so few words of a port (`port-bits`, default 512) that several are left for each, a few groups of zeros follow,
    so that those divide the groups (`stc.design_space.group_fill`).

        %y = linalg.generic {...} ins(%x, %w : tensor<5x16xf32>, tensor<24x16xf32>) { s + x * w } ... -> tensor<5x24xf32>
      becomes
        %scale = ... : tensor<24xf16>      // max(f16(max |w| / 127), 2^-14)
        %integers = ... : tensor<24x16xi8> // roundeven(w / scale)
        %s = ... : tensor<5xf32>           // max(max |x| * f32(1 / 127), 2^-126)
        %q = ... : tensor<5x16xi8>         // roundeven(x * (1 / s))
        %sums = linalg.generic {...} ins(%q, %integers : tensor<5x16xi8>, tensor<24x16xi8>) { s + q * w } ... -> tensor<5x24xi32>
        %y = linalg.generic {...} ins(%sums, %scale, %s : ...) { f32(sum) * f32(scale) * s } ... -> tensor<5x24xf32>
    """

    name = "quantize-linear"

    format: str = "bits=8"
    tasks: int = 0
    port_bits: int = 512

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        self.find(ctx, op)

    def find(self, ctx: Context, op: ModuleOp) -> dict[str, LinearFormat | None]:
        """How the contractions of each module were rewritten, None for those that stay f32; '' for one outside of modules."""
        chosen = read_quantisation(self.format)
        found = [linear for function in functions_of(op) for linear in _linears(generics_in(function), host_values(function))]
        chosen.require_known([*map(_layer, found), *_of_integers(op)])
        formats = {layer: chosen.format_of(layer) for layer in map(_layer, found)}
        quantised = [(linear, own) for linear in found if (own := formats[_layer(linear)]) is not None]
        filled = self._filled(quantised)
        for linear, own in quantised:
            _quantise(linear, own, filled)
        erase_dead_ops(op)
        return formats

    def _filled(self, linears: Sequence[tuple[ProductSum, LinearFormat]]) -> Mapping[tuple[SSAValue, int], int]:
        """How many groups, of so many terms, an activation has for all who multiply it: they share them."""
        counts: dict[tuple[SSAValue, int], int] = {}
        words: dict[tuple[SSAValue, int], int] = {}
        for linear, chosen in linears:
            count, size = groups_of(linear, chosen)
            key = linear.first.value, size
            counts[key] = count
            words[key] = words.get(key, 0) + -(-rows(linear) * chosen.bits // self.port_bits)
        single = {linear.first.value for linear, _ in linears if is_of_one_row(linear)}
        return {key: filled_groups(counts[key], words[key], self.tasks) if key[0] in single else counts[key] for key in counts}


# What is rewritten ----------------------------------------------------------------------------------------------------


def _linears(generics: Sequence[GenericOp], known: set[SSAValue]) -> list[ProductSum]:
    """The contractions of `generics` with weights that are among the values `known` to the host."""
    return [found for generic in generics if (found := linear_of(generic, known)) is not None]


def _of_integers(module: ModuleOp) -> set[str]:
    """The modules that compute on integers before: a path may except them."""
    return {MODULE.of(generic) or "" for generic in generics_in(module) if generic.body.block.args[-1].type == i32}


def _layer(linear: ProductSum) -> str:
    return MODULE.of(linear.generic) or ""


# Rewriting ------------------------------------------------------------------------------------------------------------


def _quantise(linear: ProductSum, chosen: LinearFormat, filled: Mapping[tuple[SSAValue, int], int]) -> None:
    activations, weights = linear.first, linear.second
    _, size = groups_of(linear, chosen)
    writer = ContractionWriter(linear.generic, linear.kept, linear.reduction, filled[activations.value, size], size)
    quantised_weights = _quantised_weights(writer, weights, chosen)
    quantised_activations = _quantised_activations(writer, activations, of_groups=chosen.activations == GROUP)
    result = writer.contraction(quantised_activations, quantised_weights)
    result.name_hint = linear.generic.results[0].name_hint
    Rewriter.replace_op(linear.generic, [], [result])


def _quantised_weights(writer: ContractionWriter, weights: Along, chosen: LinearFormat) -> Quantised:
    """Scales max(f16(max |w| / largest), the least normal number), or bf16, integers roundeven(w / scale)."""
    scale_kind, kind = (f16 if chosen.scale == "f16" else bf16), IntegerType(chosen.bits)

    def scale(body: Body, values: Sequence[SSAValue]) -> SSAValue:
        quotient = body.add(arith.DivfOp(values[0], body.number(chosen.largest, f32)))
        if chosen.scale != "f16":  # of which the least is one of f32, too; nothing is computed in bf16
            return body.add(arith.TruncFOp(body.add(arith.MaximumfOp(quotient, body.number(SCALES[chosen.scale], f32))), bf16))
        rounded = body.add(arith.TruncFOp(quotient, f16))
        return body.add(arith.MaximumfOp(rounded, body.number(SCALES[chosen.scale], f16)))

    def integer(body: Body, values: Sequence[SSAValue]) -> SSAValue:
        return _integer(body, body.add(arith.DivfOp(values[0], as_f32(body, values[1]))), chosen.largest, kind)

    grouped = writer.grouped(weights)
    largest = _largest(writer, grouped)
    scales = writer.generic([largest], largest.loops, scale_kind, scale)
    return Quantised(writer.generic([grouped, scales], grouped.loops, kind, integer), scales)


def _quantised_activations(writer: ContractionWriter, activations: Along, *, of_groups: bool) -> Quantised:
    """Scales max(max |x| * f32(1 / 127), the least normal number), integers roundeven(x * (1 / scale))."""

    def scale(body: Body, values: Sequence[SSAValue]) -> SSAValue:
        part = body.add(arith.MulfOp(values[0], body.number(ACTIVATION_STEP, f32)))
        return body.add(arith.MaximumfOp(part, body.number(LEAST_ACTIVATION_SCALE, f32)))

    def reciprocal(body: Body, values: Sequence[SSAValue]) -> SSAValue:
        return body.add(arith.DivfOp(body.number(1.0, f32), values[0]))

    def integer(body: Body, values: Sequence[SSAValue]) -> SSAValue:
        return _integer(body, body.add(arith.MulfOp(values[0], values[1])), ACTIVATION_LARGEST, _BYTE)

    scaled = writer.grouped(activations) if of_groups else activations
    largest = _largest(writer, scaled)
    scales = writer.generic([largest], largest.loops, f32, scale)
    inverse = writer.generic([scales], scales.loops, f32, reciprocal)
    return Quantised(writer.generic([scaled, inverse], scaled.loops, _BYTE, integer), scales)


def _largest(writer: ContractionWriter, tensor: Along) -> Along:
    """The largest magnitude along the reduction; NaN of what holds one."""

    def body(body: Body, values: Sequence[SSAValue]) -> SSAValue:
        return body.add(arith.MaximumfOp(values[1], body.add(math.AbsFOp(values[0]))))

    kept = writer.in_lanes(tuple(loop for loop in tensor.loops if loop != writer.reduction))
    return writer.generic([tensor], kept, f32, body, FloatAttr(0.0, f32))


def _integer(body: Body, value: SSAValue, largest: int, kind: IntegerType) -> SSAValue:
    """`value` rounded to the nearest integer, ties to even, and cut to -largest to largest; NaN becomes largest."""
    rounded = body.add(math.RoundEvenOp(value))
    below = body.add(arith.MinnumfOp(rounded, body.number(largest, f32)))
    return body.add(arith.FPToSIOp(body.add(arith.MaxnumfOp(below, body.number(-largest, f32))), kind))
