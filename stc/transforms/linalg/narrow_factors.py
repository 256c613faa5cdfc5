"""`narrow-factors`: what contractions of integers multiply is as narrow in memory and in streams as its bounds allow."""

from __future__ import annotations

from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects import arith, tensor
from xdsl.dialects.builtin import IntegerType, ModuleOp, TensorType
from xdsl.dialects.linalg.ops import GenericOp
from xdsl.ir import Block, BlockArgument, Region, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from stc.analysis.generic_loops import Dims, GenericLoops, all_dims, generics_in
from stc.analysis.host_work import functions_of, host_values
from stc.dialects.facts import MODULE
from stc.transforms.linalg.bodies import Body, simplify_body
from stc.transforms.linalg.generics import PARALLEL, build, is_contraction, shape_of, stc_attributes
from stc.transforms.linalg.point_values import Digit, PointReader
from stc.transforms.linalg.quantised_factors import Bounds, integer_bounds

_WIDTHS = (4, 8, 16)


@dataclass(frozen=True)
class NarrowFactors(ModulePass):
    """Cut each factor of a contraction of integers to the narrowest type of 4, 8 or 16 bits that holds all that it may be, with a
    sign or without; the contraction extends it again. A parameter is that narrow in memory then.

    Bounds are those of `recognize-quantization`: read through element-wise generics and reshapes, from types, from clamps, and
    from what parameters hold (`stc.values`). So a model that makes its integers wider before it multiplies them, as PyTorch's
    `_int_mm` is exported, reads the narrow ones.

        %w = linalg.generic ... ins(%q : tensor<5x3xi8>) { extsi } ... -> tensor<3x5xi32>
        %y = linalg.generic {...} ins(%x, %w : tensor<2x5xi32>, tensor<3x5xi32>) { s + x * w } ... -> tensor<2x3xi32>
      becomes
        %n = linalg.generic ... ins(%w : tensor<3x5xi32>) { trunci } ... -> tensor<3x5xi8>
        %y = linalg.generic {...} ins(%x, %n : tensor<2x5xi32>, tensor<3x5xi8>) { s + x * extsi(w) } ... -> tensor<2x3xi32>
    """

    name = "narrow-factors"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for function in functions_of(op):
            host, factors = host_values(function), _Factors()
            for generic in generics_in(function):
                if is_contraction(generic) and generic.results[0] not in host:
                    _narrow(generic, factors)


@dataclass(frozen=True)
class _Narrow:
    """The lower bits of a tensor of integers, all of which they hold, with a sign or without."""

    value: SSAValue
    is_signed: bool


@dataclass
class _Factors:
    reader: PointReader = field(default_factory=PointReader)
    cut: dict[SSAValue, _Narrow] = field(default_factory=dict[SSAValue, _Narrow])
    """By the wide tensor: several contractions may read it."""

    def narrow(self, value: SSAValue, dims: Dims, extents: tuple[int, ...]) -> _Narrow | None:
        """`value`, at these loops, in a narrower type; None where none holds it."""
        if not isinstance(value.type, TensorType) or not isinstance(kind := value.type.element_type, IntegerType):
            return None
        if value not in self.cut:
            place = tuple(None if loop is None else Digit(loop, 1, extents[loop]) for loop in dims)
            bounds = integer_bounds(self.reader.read(value, place))
            narrower = None if bounds is None else _narrowest(bounds, kind.width.data)
            if narrower is None:
                return None
            width, is_signed = narrower
            self.cut[value] = _Narrow(_cut(value, IntegerType(width)), is_signed)
        return self.cut[value]


def _narrowest(bounds: Bounds, bits: int) -> tuple[int, bool] | None:
    """The least width below `bits` that holds integers of these bounds, and whether with a sign."""
    for width in (width for width in _WIDTHS if width < bits):
        if bounds in Bounds.of_bits(width):
            return width, True
        if bounds in Bounds(0, (1 << width) - 1):
            return width, False
    return None


def _cut(value: SSAValue, kind: IntegerType) -> SSAValue:
    """The lower bits of each entry, right behind what makes `value`."""
    assert isinstance(value.type, TensorType)
    owner, shape = value.owner, shape_of(value)
    empty = tensor.EmptyOp((), TensorType(kind, shape))
    body = Body(Block(arg_types=[value.type.element_type, kind]))
    body.end(body.add(arith.TruncIOp(body.block.args[0], kind)))
    every = tuple(range(len(shape)))
    module = {} if isinstance(owner, Block) else MODULE.retained(owner)
    made = build([value], [empty.tensor], Region(body.block), [every, every], [PARALLEL] * len(shape), module)
    made.results[0].name_hint = value.name_hint
    Rewriter.insert_op([empty, made], InsertPoint.at_start(owner) if isinstance(owner, Block) else InsertPoint.after(owner))
    return made.results[0]


def _narrow(generic: GenericOp, factors: _Factors) -> None:
    """Rewrite a contraction some of whose factors are narrower than they come."""
    dims, extents = all_dims(generic), GenericLoops(generic).extents
    assert dims is not None
    found = [factors.narrow(value, entry, extents) for value, entry in zip(generic.inputs, dims, strict=False)]
    if not any(found):
        return
    body = generic.body.clone()
    for argument, narrow in zip(body.block.args, found, strict=False):
        if narrow is not None:
            _extended(argument, narrow)
    simplify_body(body.block)
    inputs = [value if narrow is None else narrow.value for value, narrow in zip(generic.inputs, found, strict=True)]
    made = build(inputs, generic.outputs, body, dims, generic.iterator_types.data, stc_attributes(generic))
    made.results[0].name_hint = generic.results[0].name_hint
    Rewriter.replace_op(generic, made)


def _extended(argument: BlockArgument, narrow: _Narrow) -> None:
    """Let an argument of a body be narrow, and what it stands for be extended from it."""
    wide, block = argument.type, argument.block
    assert isinstance(wide, IntegerType) and isinstance(narrow.value.type, TensorType)
    cut = block.insert_arg(narrow.value.type.element_type, argument.index)
    extension = (arith.ExtSIOp if narrow.is_signed else arith.ExtUIOp)(cut, wide)
    argument.replace_all_uses_with(extension.result)
    block.erase_arg(argument)
    Rewriter.insert_op(extension, InsertPoint.at_start(block))
