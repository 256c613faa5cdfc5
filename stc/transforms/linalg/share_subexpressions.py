"""Operations that compute the same are computed once."""

from __future__ import annotations

from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects import arith, tensor
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.linalg.ops import FillOp, GenericOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter
from xdsl.traits import IsTerminator

from stc.analysis.generic_loops import extents_of
from stc.transforms.linalg.bodies import value_key
from stc.transforms.linalg.dead_ops import erase_dead_ops, functions_of
from stc.transforms.linalg.generics import yielded
from stc.transforms.linalg.inline_constants import scalar_constant

_PURE = (
    arith.ConstantOp,
    tensor.ExpandShapeOp,
    tensor.CollapseShapeOp,
    tensor.ExtractSliceOp,
    tensor.InsertSliceOp,
    tensor.ConcatOp,
    tensor.PadOp,
    tensor.FromElementsOp,
)


@dataclass(frozen=True)
class ShareSubexpressionsPass(ModulePass):
    """Merge equal generics, reshapes, slices and constants of a function.

    Two generics are equal when their loops, results and bodies are, as expressions over the same tensors read through the
    same maps: the order of operands and of commutative operations does not matter, nor how often an operand is listed, nor
    which module the op came from (the first one's stays). Fills and empty tensors are compared by what they hold.

    Before:

        %1 = linalg.generic ... ins(%x : tensor<4x8xf32>) outs(%f : tensor<4xf32>) { %s = arith.addf %a, %b ... }
        %2 = linalg.generic ... ins(%x : tensor<4x8xf32>) outs(%g : tensor<4xf32>) { %s = arith.addf %b, %a ... }
        use(%1, %2)

    After:

        %1 = linalg.generic ... ins(%x : tensor<4x8xf32>) outs(%f : tensor<4xf32>) { %s = arith.addf %a, %b ... }
        use(%1, %1)
    """

    name = "share-subexpressions"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for function in functions_of(op):
            _Sharing().run(function.body.block)
        erase_dead_ops(op)


@dataclass
class _Sharing:
    """Numbers expressions: equal expressions get equal numbers."""

    numbers: dict[object, int] = field(default_factory=dict)
    known: dict[object, Operation] = field(default_factory=dict)

    def run(self, block: Block) -> None:
        for op in list(block.ops):
            key = self._key(op)
            if key is None:
                continue
            first = self.known.setdefault(key, op)
            if first is op:
                continue
            Rewriter.replace_op(op, [], first.results)

    def _key(self, op: Operation) -> object | None:
        if isinstance(op, GenericOp):
            return self._generic_key(op)
        if isinstance(op, _PURE):
            return (type(op), tuple(op.operands), tuple(sorted(op.properties.items())), tuple(op.result_types))
        return None

    def _generic_key(self, op: GenericOp) -> object:
        maps = op.indexing_maps.data
        count = len(op.inputs)
        numbers: dict[SSAValue, int] = {}
        for argument, value, indexing in zip(op.body.block.args, op.operands, maps, strict=True):
            kind = "input" if argument.index < count else "initial"
            numbers[argument] = self._number((kind, _contents(value), indexing))
        for nested in op.body.block.ops:
            if nested.has_trait(IsTerminator):
                break
            key = value_key(nested, [self._value(operand, numbers) for operand in nested.operands])
            for index, result in enumerate(nested.results):
                numbers[result] = self._number((key, index))
        initials = tuple(_contents(value) for value in op.outputs)
        results = tuple(self._value(value, numbers) for value in yielded(op))
        return (op.iterator_types, extents_of(op), results, initials, maps[count:], tuple(op.result_types))

    def _value(self, value: SSAValue, numbers: dict[SSAValue, int]) -> int:
        found = numbers.get(value)
        return self._number(("outside", value)) if found is None else found

    def _number(self, key: object) -> int:
        return self.numbers.setdefault(key, len(self.numbers))


def _contents(value: SSAValue) -> object:
    """What a tensor holds, as far as that is known without running the program; else the value itself."""
    owner = value.owner
    if isinstance(owner, tensor.EmptyOp):
        return ("empty", value.type)
    if isinstance(owner, FillOp) and (constant := scalar_constant(owner.inputs[0])) is not None:
        return ("fill", constant, value.type)
    return value
