"""Writing the body of a `linalg.generic`, and rewriting inside one: dead code, equal sub-expressions, operands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects import arith
from xdsl.dialects.builtin import AnyFloat, FloatAttr, IndexType, IntegerAttr, IntegerType
from xdsl.dialects.linalg.ops import GenericOp, IndexOp, YieldOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.rewriter import Rewriter
from xdsl.traits import IsTerminator

from stc.analysis.generic_loops import Dims
from stc.transforms.linalg.generics import build

_COMMUTATIVE = (
    *(arith.AddfOp, arith.MulfOp, arith.MaximumfOp, arith.MinimumfOp, arith.MaxnumfOp, arith.MinnumfOp),
    *(arith.AddiOp, arith.MuliOp, arith.MaxSIOp, arith.MinSIOp, arith.MaxUIOp, arith.MinUIOp),
    *(arith.AndIOp, arith.OrIOp, arith.XOrIOp),
)


def value_key(op: Operation, operands: Sequence[object]) -> tuple[object, ...]:
    """What makes two scalar operations compute the same from `operands` (numbers of values).

    The order of operands is ignored where it does not matter.
    """
    ordered = sorted(operands, key=repr) if isinstance(op, _COMMUTATIVE) else operands
    properties = tuple(sorted(op.properties.items(), key=lambda item: item[0]))
    return (op.name, tuple(ordered), properties, tuple(result.type for result in op.results))


def simplify_body(block: Block) -> None:
    """Merge equal operations and changes of width of a body, then erase those that nobody uses. Bodies have no side effects."""
    _merge_changes_of_width(block)
    _merge_equal_operations(block)
    for op in reversed(list(block.ops)):
        if not op.has_trait(IsTerminator) and not any(result.uses for result in op.results):
            Rewriter.erase_op(op)


def _merge_changes_of_width(block: Block) -> None:
    """An extension of an extension is one (but one without a sign, of one with a sign), and so is what is cut of one, or made a
    float of one."""
    for op in list(block.ops):
        if isinstance(op, arith.SIToFPOp) and isinstance(op.input.owner, arith.ExtSIOp):
            Rewriter.replace_op(op, arith.SIToFPOp(op.input.owner.input, op.result.type))
            continue
        if not isinstance(op, arith.ExtSIOp | arith.ExtUIOp | arith.TruncIOp):
            continue
        inner, wanted = op.input.owner, op.result.type
        if not isinstance(inner, arith.ExtSIOp | arith.ExtUIOp):
            continue
        if isinstance(inner, arith.ExtSIOp) and isinstance(op, arith.ExtUIOp):
            continue
        narrow = inner.input
        assert isinstance(narrow.type, IntegerType) and isinstance(wanted, IntegerType)
        if narrow.type == wanted:
            Rewriter.replace_op(op, [], [narrow])
        elif narrow.type.width.data < wanted.width.data:
            Rewriter.replace_op(op, type(inner)(narrow, wanted))
        else:
            Rewriter.replace_op(op, arith.TruncIOp(narrow, wanted))


def _merge_equal_operations(block: Block) -> None:
    numbers: dict[SSAValue, int] = {}
    known: dict[tuple[object, ...], Operation] = {}

    def number(value: SSAValue) -> int:
        return numbers.setdefault(value, len(numbers))

    for op in list(block.ops):
        if op.has_trait(IsTerminator) or op.regions:
            continue
        key = value_key(op, [number(operand) for operand in op.operands])
        first = known.setdefault(key, op)
        if first is op:
            continue
        Rewriter.replace_op(op, [], first.results)


def merge_equal_inputs(
    inputs: Sequence[SSAValue], dims: Sequence[Dims], block: Block
) -> tuple[list[SSAValue], list[Dims]]:
    """Drop inputs that nobody uses or that repeat an earlier one with the same map; `block` loses their arguments.

    `inputs` and `dims` describe the first arguments of the block.
    """
    retained: list[tuple[SSAValue, Dims]] = []
    position: dict[tuple[SSAValue, Dims], int] = {}
    for value, entry in zip(inputs, dims, strict=True):
        argument = block.args[len(retained)]
        if (value, entry) in position:
            argument.replace_all_uses_with(block.args[position[value, entry]])
        elif argument.uses:
            position[value, entry] = len(retained)
            retained.append((value, entry))
            continue
        block.erase_arg(argument)
    return [value for value, _ in retained], [entry for _, entry in retained]


def with_simplified_inputs(op: GenericOp, dims: Sequence[Dims]) -> GenericOp | None:
    """The op without unused and repeated inputs, or None where there are none to drop or a loop would lose its bound."""
    body = op.body.clone()
    count = len(op.inputs)
    simplify_body(body.block)
    inputs, retained = merge_equal_inputs(op.inputs, dims[:count], body.block)
    bounded = {loop for entry in (*retained, *dims[count:]) for loop in entry}
    kinds = op.iterator_types.data
    if len(inputs) == count or not bounded.issuperset(range(len(kinds))):
        body.drop_all_references()
        return None
    return build(inputs, op.outputs, body, [*retained, *dims[count:]], kinds, op.attributes)


@dataclass(frozen=True)
class Body:
    """The body of a generic that is being written."""

    block: Block

    def add(self, op: Operation) -> SSAValue:
        self.block.add_op(op)
        return op.results[0]

    def constant(self, value: int, kind: IntegerType | IndexType) -> SSAValue:
        return self.add(arith.ConstantOp(IntegerAttr(value, kind)))

    def number(self, value: float, kind: AnyFloat) -> SSAValue:
        return self.add(arith.ConstantOp(FloatAttr(value, kind)))

    def is_first(self, loop: int) -> SSAValue:
        """Whether this is the first iteration of `loop`."""
        index = self.add(IndexOp(loop))
        return self.add(arith.CmpiOp(index, self.constant(0, IndexType()), "eq"))

    def end(self, result: SSAValue) -> None:
        self.block.add_op(YieldOp(result))
