"""Reading and building `linalg.generic`: kinds of bodies, maps (stc.analysis.generic_loops). No rewriting of programs here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.dialects import arith, tensor
from xdsl.dialects.builtin import AffineMapAttr, FloatAttr, IntegerAttr, ShapedType, TensorType
from xdsl.dialects.linalg.attrs import IteratorTypeAttr
from xdsl.dialects.linalg.ops import FillOp, GenericOp, YieldOp
from xdsl.ir import Attribute, Block, BlockArgument, Operation, Region, SSAValue
from xdsl.ir.affine import AffineExpr, AffineMap

from stc.analysis.generic_loops import Dims, all_dims, loop_count, reduction_loops
from stc.dialects.facts import ENDS_LAYERS, NAME
from stc.dialects.use_def import depends_on, values_behind

PARALLEL = IteratorTypeAttr.parallel()
REDUCTION = IteratorTypeAttr.reduction()
_PRODUCTS = (arith.MulfOp, arith.MuliOp)
_SUMS = (arith.AddfOp, arith.AddiOp)


def shape_of(value: SSAValue) -> tuple[int, ...]:
    """Static shape; () for scalars."""
    return value.type.get_shape() if isinstance(value.type, ShapedType) else ()


def tensor_like(value: SSAValue, shape: Sequence[int]) -> TensorType:
    """The type of a value with another shape."""
    assert isinstance(value.type, TensorType)
    return TensorType(value.type.element_type, shape)


def to_map(loops: int, dims: Dims) -> AffineMapAttr:
    """The indexing map of an operand in an iteration space of `loops` loops."""
    results = (AffineExpr.constant(0) if loop is None else AffineExpr.dimension(loop) for loop in dims)
    return AffineMapAttr(AffineMap(loops, 0, tuple(results)))


def output_arguments(op: GenericOp) -> Sequence[BlockArgument]:
    return op.body.block.args[len(op.inputs) :]


def yielded(op: GenericOp) -> Sequence[SSAValue]:
    terminator = op.body.block.last_op
    assert isinstance(terminator, YieldOp)
    return terminator.operands


def is_elementwise(op: Operation) -> bool:
    """One value per iteration: all loops parallel, results in a permutation of all loops, no initial value read."""
    if not isinstance(op, GenericOp) or reduction_loops(op) or (dims := all_dims(op)) is None:
        return False
    if any(argument.uses for argument in output_arguments(op)):
        return False
    return all(covers_all(entry, loop_count(op)) for entry in dims[len(op.inputs) :])


def covers_all(dims: Dims, loops: int) -> bool:
    """Whether a map is a permutation of all loops."""
    return None not in dims and len(dims) == loops


def is_copy(op: Operation) -> bool:
    """An element-wise generic that only moves its single input (transposition, broadcast); not what layers end with."""
    if not is_elementwise(op) or ENDS_LAYERS.on(op):
        return False
    assert isinstance(op, GenericOp)
    return len(op.inputs) == 1 and len(op.results) == 1 and yielded(op)[0] is op.body.block.args[0]


def combining(op: GenericOp, result: int = 0) -> tuple[Operation, SSAValue] | None:
    """(operation, term) where the body combines the accumulator with a term that does not depend on it."""
    value = yielded(op)[result]
    output = output_arguments(op)[result]
    owner = value.owner
    if not isinstance(owner, Operation) or len(owner.operands) != 2 or output not in owner.operands:
        return None
    first, second = owner.operands
    term = second if first is output else first
    if term is output or depends_on(term, output_arguments(op), op.body.block):
        return None
    return owner, term


def is_contraction(op: Operation) -> bool:
    """A sum over reduction loops of a product of at least two inputs that do not move together."""
    if not isinstance(op, GenericOp) or not reduction_loops(op) or len(op.results) != 1:
        return False
    found = combining(op)
    if found is None or not isinstance(found[0], _SUMS) or not isinstance(found[1].owner, _PRODUCTS):
        return False
    dims = all_dims(op)
    if dims is None:
        return False
    left, right = (_loops_below(operand, op, dims) for operand in found[1].owner.operands)
    return bool(left) and bool(right) and left != right


def starts_at_zero(generic: GenericOp) -> bool:
    """Whether its one result is accumulated in a tensor that is filled with 0."""
    if len(generic.outputs) != 1:
        return False
    fill = generic.outputs[0].owner
    constant = fill.operands[0].owner if isinstance(fill, FillOp) else None
    if not isinstance(constant, arith.ConstantOp):
        return False
    match constant.value:
        case FloatAttr() | IntegerAttr() as number:
            return number.value.data == 0
        case _:
            return False


def _loops_below(value: SSAValue, op: GenericOp, dims: Sequence[Dims]) -> frozenset[int]:
    """Loops that a value of the body depends on through the inputs."""
    read = values_behind([value], op.body.block)
    loops = (loop for argument in op.body.block.args if argument in read for loop in dims[argument.index])
    return frozenset(loop for loop in loops if loop is not None)


def build(
    inputs: Sequence[SSAValue],
    outputs: Sequence[SSAValue],
    body: Region,
    dims: Sequence[Dims],
    iterators: Sequence[Attribute],
    attributes: Mapping[str, Attribute],
) -> GenericOp:
    """A generic on tensors with these maps; results are of the outputs' types."""
    maps = [to_map(len(iterators), entry) for entry in dims]
    op = GenericOp(inputs, outputs, body, maps, iterators, [output.type for output in outputs])
    op.attributes.update(attributes)
    return op


def transposed(value: SSAValue, order: Sequence[int], name: str | None = None) -> tuple[tensor.EmptyOp, GenericOp]:
    """`value` with its dimensions in another order: an empty tensor, and a copy, called `name`."""
    shape = shape_of(value)
    empty = tensor.EmptyOp((), tensor_like(value, [shape[dimension] for dimension in order]))
    entry = empty.tensor.type.element_type
    block = Block(arg_types=[entry, entry])
    block.add_op(YieldOp(block.args[0]))
    dims: list[Dims] = [tuple(range(len(shape))), tuple(order)]
    copy = build([value], [empty.tensor], Region(block), dims, [PARALLEL] * len(shape), {} if name is None else NAME.entry(name))
    copy.results[0].name_hint = name or value.name_hint
    return empty, copy


def filled(value: FloatAttr | IntegerAttr, shape: Sequence[int]) -> tuple[Operation, ...]:
    """A tensor of `shape` that holds `value` everywhere: the constant, what is filled, and the fill."""
    constant = arith.ConstantOp(value)
    empty = tensor.EmptyOp((), TensorType(value.type, shape))
    return constant, empty, FillOp((constant.result,), (empty.tensor,), (empty.tensor.type,))


def started_alike(value: SSAValue, shape: Sequence[int]) -> list[Operation]:
    """A tensor of `shape` that starts as `value` does: empty, or filled with the same. The last op makes it."""
    empty = tensor.EmptyOp((), tensor_like(value, shape))
    if not isinstance(fill := value.owner, FillOp):
        return [empty]
    return [empty, FillOp(fill.inputs, [empty.tensor], [empty.tensor.type])]


def stc_attributes(op: Operation) -> dict[str, Attribute]:
    """The attributes of ours that an op's replacement keeps."""
    return {key: value for key, value in op.attributes.items() if key.startswith("stc.")}
