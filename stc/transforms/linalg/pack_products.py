"""`pack-products`: two integer products that share an activation take one multiplier."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from xdsl.context import Context
from xdsl.dialects import arith, tensor
from xdsl.dialects.builtin import IntegerAttr, IntegerType, ModuleOp, TensorType, i32
from xdsl.dialects.linalg.ops import GenericOp
from xdsl.ir import Attribute, Block, BlockArgument, Region, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from stc.analysis.generic_loops import Dims, GenericLoops, all_dims, generics_in, name_of
from stc.analysis.host_work import functions_of, host_values
from stc.analysis.integer_products import multipliers_of
from stc.analysis.integer_ranges import range_of, range_of_type
from stc.design_space.parallelism import PORT_BITS
from stc.dialects.facts import NAME
from stc.iteration.reshape import positions, without_units
from stc.iteration.vectorize import largest_divisor
from stc.scalars.packed_products import FACTOR_BITS, PackedProducts, packing
from stc.transforms.linalg.bodies import Body
from stc.transforms.linalg.generics import (
    PARALLEL,
    REDUCTION,
    build,
    combining,
    filled,
    shape_of,
    starts_at_zero,
    stc_attributes,
)
from stc.transforms.linalg.propagate_reshapes import PropagateReshapesPass
from stc.transforms.linalg.split_loops import split_by_operand

_FACTOR = IntegerType(FACTOR_BITS)
_HALF = 4
"""Bits of a weight that is packed into a byte with another; wider ones take two bytes."""


WORTH_PACKING = 17
"""Terms of a sum before both halves are taken out of it, from which on that costs less than the products."""


@dataclass(frozen=True)
class Contraction:
    """Sums of products of an activation and a weight: which inputs they are, and how two weights are packed."""

    generic: GenericOp
    activation: int
    weight: int
    rows: int
    """The parallel loop along which weights are paired."""
    apart: int
    """How many iterations of that loop the rows of a pair are apart."""
    reduction: int
    """The loop that is cut into blocks."""
    block: int
    """Terms of that loop that are summed before both sums are taken apart."""
    packed: PackedProducts
    unsigned: frozenset[int]
    """Inputs that are extended without a sign."""

    def extension(self, operand: int) -> type[arith.ExtSIOp] | type[arith.ExtUIOp]:
        """What an input is extended with."""
        return arith.ExtUIOp if operand in self.unsigned else arith.ExtSIOp

    @property
    def sum_type(self) -> IntegerType:
        """The type of a sum of products of pairs."""
        return IntegerType(self.packed.bits)

    @property
    def terms(self) -> int:
        """As many of all loops that are summed over."""
        loops = GenericLoops(self.generic)
        return self.block * prod(loops.extents[loop] for loop in loops.reductions if loop != self.reduction)


@dataclass(frozen=True)
class PackProducts(ModulePass):
    """Multiply an activation by two weights at once, in integer contractions whose products are as short as that needs.

    A multiplier of a DSP48E2 takes 27 by 18 bits and adds up 48; a DSP58 (27 by 24, 58) does the same with the same pairs. Two rows
    of a parameter become one factor, w1 * 2^s + w0: as far apart as a word of memory has pairs (of 512 bits 64 of i4, 32 of i8), so
    that lanes lie along rows in both halves of the result.
    Behind a sum of as many terms as 48 bits have room for (2047 of i4 by i8, 7 of i8 by i8, 16 where both are in -127 to 127;
    548 of i4 by i8 without signs, which `extui` takes) a second computation takes both sums out of it, and adds up those of longer
    reductions. A sum has 40 bits where its terms have room there, and s is as small as they allow, whatever the types hold, or if
    that is too much, what is known of the factors. The host makes the pairs. Integers come out the same.

    What has an odd number of rows, two activations for operands, or multipliers of another kind (`choose-multipliers`), stays.
    What is said to have pairs is packed whatever `terms` is.

    Options: `terms` (default 17): where fewer can be summed before both sums are taken apart, nothing is packed. So int8 by int8 is
    on request (`terms=16`): sums of 40 bits that are taken apart every 16 terms cost more cycles than the products, which take LUTs
    otherwise, and no DSP. `port-bits` (default 512): the words of memory ports.

        %y = linalg.generic {...} ins(%x, %w : tensor<4x32xi8>, tensor<6x32xi4>) { s + extsi(x) * extsi(w) } ... -> tensor<4x6xi32>
      becomes
        %v = tensor.expand_shape %w [[0, 1], [2]] : tensor<6x32xi4> into tensor<2x3x32xi4>
        %pairs = linalg.generic {...} ins(%v : tensor<2x3x32xi4>) { w0 | w1 << 4 } ... -> tensor<3x32xi8>
        %sums = linalg.generic {"parallel", "parallel", "reduction"} ins(%x, %pairs) { (w1 * 2^17 + w0) * x } ... -> tensor<4x3xi40>
        %both = linalg.generic {"parallel", "parallel", "parallel"} ins(%sums : tensor<4x3xi40>) ... -> tensor<4x2x3xi32>
        %y = tensor.collapse_shape %both [[0], [1, 2]] : tensor<4x2x3xi32> into tensor<4x6xi32>
    """

    name = "pack-products"

    terms: int = WORTH_PACKING
    port_bits: int = PORT_BITS

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        found = [
            contraction
            for function in functions_of(op)
            for parameters in [host_values(function)]
            for generic in generics_in(function)
            if (contraction := packed_contraction(generic, parameters, self.port_bits)) is not None
            and (multipliers_of(generic) == "pairs" or contraction.terms >= self.terms)
            and multipliers_of(generic) in (None, "pairs")
        ]
        for contraction in found:
            _pack(contraction)
        if found:
            PropagateReshapesPass().apply(ctx, op)


# What is packed -------------------------------------------------------------------------------------------------------


def packed_contraction(generic: GenericOp, parameters: set[SSAValue], port_bits: int = PORT_BITS) -> Contraction | None:
    """How `generic` would be packed in pairs, where memory ports have words of so many bits; None where it cannot be."""
    if set(generic.results) <= parameters or not starts_at_zero(generic) or generic.body.block.args[-1].type != i32:
        return None
    found = combining(generic)
    if found is None or not isinstance(found[0], arith.AddiOp) or not isinstance(product := found[1].owner, arith.MuliOp):
        return None
    factors = [_extended(operand, generic) for operand in product.operands]
    unsigned = frozenset(factor.index for factor in factors if factor is not None and not factor.is_signed)
    if len(generic.inputs) != 2 or {factor.index for factor in factors if factor is not None} != {0, 1}:
        return None
    if any(None in dims for dims in all_dims(generic) or [(None,)]):
        return None
    weights = [index for index in range(2) if generic.inputs[index] in parameters]
    if len(weights) != 1:
        return None
    (weight,) = weights
    return _with_rows(generic, 1 - weight, weight, unsigned, port_bits)


@dataclass(frozen=True)
class _Factor:
    """The argument of a body that a factor of a product is with more bits, and how it is extended."""

    index: int
    is_signed: bool


def _extended(value: SSAValue, generic: GenericOp) -> _Factor | None:
    owner = value.owner
    source = owner.input if isinstance(owner, arith.ExtSIOp | arith.ExtUIOp) else None
    if not isinstance(source, BlockArgument) or source.owner is not generic.body.block:
        return None
    return _Factor(source.index, isinstance(owner, arith.ExtSIOp))


def _with_rows(
    generic: GenericOp, activation: int, weight: int, unsigned: frozenset[int], port_bits: int
) -> Contraction | None:
    loops = GenericLoops(generic)
    factors = (weight, activation)
    packed = packing(*(range_of(generic.inputs[at], is_signed=at not in unsigned) for at in factors))
    rows = [
        loop
        for loop in loops.input_dims[weight]
        if loop in loops.parallels and loop not in loops.input_dims[activation] and loops.extents[loop] % 2 == 0
    ]
    reductions = [loop for loop in loops.input_dims[weight] if loop in loops.reductions]
    if packed is None or not rows or not reductions:
        return None
    extent = loops.extents[reductions[-1]]
    others = loops.terms // extent
    blocks = [size for size in range(1, extent + 1) if extent % size == 0 and size * others <= packed.longest_sum]
    if not blocks:
        return None
    terms = blocks[-1] * others
    whole = packing(*(range_of_type(generic.inputs[at], is_signed=at not in unsigned) for at in factors))
    # By types where these have room: else contractions whose factors have other bounds would not be alike.
    packed = packed if whole is None or whole.longest_sum < terms else whole
    packed = packed.of_sums(terms, FACTOR_BITS + _bits(generic, activation) + (activation in unsigned))  # as C++ multiplies exactly
    row, apart = _paired_rows(loops, rows, port_bits // _pair_type(_bits(generic, weight)).width.data)  # those of a word
    return Contraction(generic, activation, weight, row, apart, reductions[-1], blocks[-1], packed, unsigned)


def _paired_rows(loops: GenericLoops, rows: Sequence[int], lanes: int) -> tuple[int, int]:
    """Which loop is paired, and how far apart the rows of a pair are: results of `lanes` pairs lie side by side, in both halves.

    The last loop where it is long enough; else one outside of it, of which whole lines are paired then.
    """
    last = loops.output_dims[0][-1]
    if last not in rows:
        return rows[-1], 1
    apart = largest_divisor(loops.extents[last] // 2, lanes)
    others = [loop for loop in rows if loop != last]
    return (others[-1], 1) if others and apart < min(lanes, loops.extents[last]) else (last, apart)


def _bits(generic: GenericOp, operand: int) -> int:
    kind = generic.body.block.args[operand].type
    assert isinstance(kind, IntegerType)
    return kind.width.data


def _pair_type(bits: int) -> IntegerType:
    """What holds two weights of so many bits."""
    return IntegerType(2 * _HALF if bits <= _HALF else 4 * _HALF)


# Rewriting ------------------------------------------------------------------------------------------------------------


def _pack(found: Contraction) -> None:
    """Pairs of weights, sums of their products, and what is taken out of those, in place of the contraction."""
    loops = GenericLoops(found.generic)
    rows = without_units((loops.extents[found.rows] // (2 * found.apart), 2)) + without_units((found.apart,))
    parts = {found.rows: rows, found.reduction: _blocks(found, loops)}
    groups = tuple(parts.get(loop, (loops.extents[loop],)) for loop in loops.input_dims[found.weight])
    split = split_by_operand(found.generic, found.weight, groups)
    assert split is not None
    Rewriter.insert_op(split.ops, InsertPoint.before(found.generic))
    ((generic,), results) = [op for op in split.ops if isinstance(op, GenericOp)], split.results
    Rewriter.replace_op(found.generic, [], results)
    numbers = positions(tuple(parts.get(loop, (extent,)) for loop, extent in enumerate(loops.extents)))
    half = numbers[found.rows][len(rows) - 1 - (found.apart > 1)]
    blocks = numbers[found.reduction][0] if len(parts[found.reduction]) == 2 else None
    pairs = _pairs(generic, found, half)
    sums = _sums(generic, found, pairs, half, blocks)
    Rewriter.replace_op(generic, _both(generic, found, sums, half, blocks))


def _blocks(found: Contraction, loops: GenericLoops) -> tuple[int, ...]:
    count = loops.extents[found.reduction] // found.block
    return (count, found.block) if count > 1 else (found.block,)


def _pairs(generic: GenericOp, found: Contraction, half: int) -> SSAValue:
    """The two weights of each pair in one integer, the first in its low half; the host makes them."""
    weight = found.weight
    value, dims = generic.inputs[weight], GenericLoops(generic).input_dims[weight]
    pair = _pair_type(_bits(generic, weight))
    block = Block(arg_types=[_element(value), pair])
    body = Body(block)
    wide = body.add(found.extension(weight)(block.args[0], pair))
    low = body.add(arith.AndIOp(wide, body.constant((1 << pair.width.data // 2) - 1, pair)))
    high = body.add(arith.ShLIOp(wide, body.constant(pair.width.data // 2, pair)))
    part = body.add(arith.SelectOp(body.is_first(dims.index(half)), low, high))
    body.end(body.add(arith.OrIOp(block.args[1], part)))
    outer = tuple(number for number, loop in enumerate(dims) if loop != half)
    kinds = [REDUCTION if loop == half else PARALLEL for loop in dims]
    name = f"{value.name_hint or name_of(generic)}_pairs"
    extents = shape_of(value)
    return _made(generic, [value], pair, [tuple(range(len(dims))), outer], kinds, extents, block, name)


def _sums(generic: GenericOp, found: Contraction, pairs: SSAValue, half: int, blocks: int | None) -> SSAValue:
    """Sums of activations times pairs: `generic` without the loop over halves, with one result for each block of terms."""
    loops = GenericLoops(generic)
    number = {loop: loop - (loop > half) for loop in range(len(loops.extents)) if loop != half}
    activation = generic.inputs[found.activation]
    pair = _element(pairs)
    block = Block(arg_types=[_element(activation), pair, found.sum_type])
    body = Body(block)
    bits = body.constant(pair.width.data // 2, pair)
    extended, shifted = found.extension(found.weight), arith.ShRUIOp if found.weight in found.unsigned else arith.ShRSIOp
    low = body.add(extended(body.add(shifted(body.add(arith.ShLIOp(block.args[1], bits)), bits)), i32))
    high = body.add(extended(body.add(shifted(block.args[1], bits)), i32))
    both = body.add(arith.AddiOp(body.add(arith.ShLIOp(high, body.constant(found.packed.shift, i32))), low))
    factor = body.add(arith.ExtSIOp(body.add(arith.TruncIOp(both, _FACTOR)), found.sum_type))
    signed = block.args[0]
    if found.activation in found.unsigned:  # with a sign of its own: C++ multiplies factors with signs exactly
        signed = body.add(arith.ExtUIOp(signed, IntegerType(_element(activation).width.data + 1)))
    product = body.add(arith.MuliOp(factor, body.add(arith.ExtSIOp(signed, found.sum_type))))
    body.end(body.add(arith.AddiOp(block.args[2], product)))
    kept = _with_blocks([loop for loop in loops.output_dims[0] if loop != half], blocks)
    operands = [loops.input_dims[found.activation], [loop for loop in loops.input_dims[found.weight] if loop != half], kept]
    kinds = [REDUCTION if loop in loops.reductions and loop != blocks else PARALLEL for loop in number]
    dims = [tuple(number[loop] for loop in operand) for operand in operands]
    extents = [loops.extents[loop] for loop in number]
    return _made(generic, [activation, pairs], found.sum_type, dims, kinds, extents, block, f"{name_of(generic)}_pairs")


def _both(generic: GenericOp, found: Contraction, sums: SSAValue, half: int, blocks: int | None) -> GenericOp:
    """Both sums of each pair, taken out of `sums` and added up over blocks: what `generic` computes."""
    shift, kind = found.packed.shift, found.sum_type
    block = Block(arg_types=[kind, i32])
    loops, body = GenericLoops(generic), Body(block)
    result = loops.output_dims[0]
    low = body.add(arith.ExtSIOp(body.add(arith.TruncIOp(block.args[0], IntegerType(shift))), i32))
    carry = body.add(arith.AndIOp(body.add(arith.ShRUIOp(block.args[0], body.constant(shift - 1, kind))), body.constant(1, kind)))
    above = body.add(arith.ShRSIOp(block.args[0], body.constant(shift, kind)))
    high = body.add(arith.TruncIOp(body.add(arith.AddiOp(above, carry)), i32))
    part = body.add(arith.SelectOp(body.is_first(result.index(half)), low, high))
    body.end(part if blocks is None else body.add(arith.AddiOp(block.args[1], part)))
    read = _with_blocks([number for number, loop in enumerate(result) if loop != half], None if blocks is None else len(result))
    kinds = [PARALLEL] * len(result) + ([] if blocks is None else [REDUCTION])
    dims: list[Dims] = [tuple(read), tuple(range(len(result)))]
    start = generic.outputs[0]
    if blocks is None:  # nothing is added to it
        Rewriter.insert_op(empty := tensor.EmptyOp((), start.type), InsertPoint.before(generic))
        start = empty.tensor
    made = build([sums], [start], Region(block), dims, kinds, stc_attributes(generic))
    made.results[0].name_hint = generic.results[0].name_hint
    return made


def _with_blocks(loops: list[int], blocks: int | None) -> list[int]:
    """The dimensions of sums: that of blocks in front of the last, along which lanes lie."""
    return loops if blocks is None else [*loops[:-1], blocks, loops[-1]]


def _made(
    before: GenericOp,
    inputs: Sequence[SSAValue],
    kind: IntegerType,
    dims: Sequence[Sequence[int]],
    kinds: Sequence[Attribute],
    extents: Sequence[int],
    block: Block,
    name: str,
) -> SSAValue:
    """A generic in front of `before`, accumulated from 0. `extents`: of its loops, also of those that no input has."""
    zeros = filled(IntegerAttr(0, kind), [extents[loop] for loop in dims[-1]])
    attributes = stc_attributes(before) | NAME.entry(name)
    made = build(inputs, [zeros[-1].results[0]], Region(block), [tuple(along) for along in dims], kinds, attributes)
    made.results[0].name_hint = name
    Rewriter.insert_op([*zeros, made], InsertPoint.before(before))
    return made.results[0]


def _element(value: SSAValue) -> IntegerType:
    assert isinstance(value.type, TensorType)
    kind = value.type.element_type
    assert isinstance(kind, IntegerType)
    return kind
