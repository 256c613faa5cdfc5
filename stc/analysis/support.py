"""What of a model cannot be compiled, all of it at once, before any pass has run.

Whatever depends on parameters and constants alone is host work (`stc.analysis.host_work`) and is not judged here: the reference
semantics evaluate it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from xdsl.dialects import arith, cf, func, math, tensor
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    BFloat16Type,
    DenseIntOrFPElementsAttr,
    Float16Type,
    Float32Type,
    Float64Type,
    FloatAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    ModuleOp,
    ShapedType,
    TensorType,
)
from xdsl.dialects.linalg import ops as linalg
from xdsl.dialects.linalg.abstract_ops import LinalgStructuredOperation
from xdsl.dialects.linalg.attrs import IteratorType
from xdsl.ir import Attribute, BlockArgument, Operation, SSAValue
from xdsl.ir.affine import AffineBinaryOpExpr, AffineBinaryOpKind, AffineConstantExpr, AffineDimExpr, AffineExpr, AffineMap
from xdsl.traits import IsTerminator
from xdsl.utils.hints import isa

from stc.analysis.host_work import functions_of, host_values, parameter_indices
from stc.analysis.loops import integer_constant
from stc.diagnostics import Obstacle
from stc.dialects.facts import MODULE, NAME, UNSUPPORTED
from stc.dialects.locations import source_location
from stc.dialects.updates import is_offset, is_update, scalar_argument
from stc.dialects.use_def import depends_on, through_reshapes
from stc.scalars.bf16 import ACCEPTED as BF16_ACCEPTED
from stc.scalars.bf16 import computes_in_bf16
from stc.scalars.table import EMITTED, ROWS, Unit

INTEGER_WIDTHS = range(1, 65)
TYPES_ACCEPTED = "f32, signless integers of 1 to 64 bits"

_FLOATS = (Float32Type, Float64Type, BFloat16Type)
_STRUCTURED = (LinalgStructuredOperation, linalg.BroadcastOp, linalg.ReduceOp)
_MOVEMENTS = (
    tensor.EmptyOp,
    tensor.ExpandShapeOp,
    tensor.CollapseShapeOp,
    tensor.ExtractSliceOp,
    tensor.InsertSliceOp,
    tensor.ConcatOp,
    tensor.PadOp,
    tensor.SplatOp,
    tensor.FromElementsOp,
)
_DIVISIONS = tuple(kind for kind, row in ROWS.items() if row.unit is Unit.DIVIDER)
_SHIFTS = (arith.ShLIOp, arith.ShRSIOp, arith.ShRUIOp)
_REMOVED_BY_PASSES = (cf.AssertOp, math.FPowIOp, math.Log2Op, linalg.YieldOp, linalg.IndexOp, arith.ConstantOp)


def obstacles(module: ModuleOp) -> list[Obstacle]:
    """Everything in the functions of a module of linalg on tensors that cannot become hardware, in program order."""
    found = [obstacle for function in functions_of(module) for obstacle in _of_function(function)]
    return list(dict.fromkeys(found))


def _of_function(function: func.FuncOp) -> Iterator[Obstacle]:
    yield from _of_signature(function)
    host = host_values(function)
    for op in function.body.block.ops:
        if not op.has_trait(IsTerminator) and not (op.results and set(op.results) <= host):
            yield from _of_operation(op)
    yield from _of_results(function, host)


# Function -------------------------------------------------------------------------------------------------------------


def _of_signature(function: func.FuncOp) -> Iterator[Obstacle]:
    """Of arguments and results; a parameter of f16 is widened by the host, or by what reads it."""
    kinds, parameters = function.function_type, parameter_indices(function)
    for attributes, types, role in (
        (function.arg_attrs, kinds.inputs, "argument"),
        (function.res_attrs, kinds.outputs, "result"),
    ):
        for index, kind in enumerate(types):
            name = NAME.of(attributes.data[index]) if attributes is not None else None
            label = str(index) if name is None else name
            if isinstance(_element(kind), Float64Type):
                yield Obstacle(f"{role} {label}", f"type {kind}", TYPES_ACCEPTED)
            is_parameter = role == "argument" and index in parameters
            yield from _of_type(kind, f"{role} {label}", (*_FLOATS, Float16Type) if is_parameter else _FLOATS)


def _of_results(function: func.FuncOp, host: set[SSAValue]) -> Iterator[Obstacle]:
    terminator = function.body.block.last_op
    returned = [through_reshapes(value) for value in terminator.operands] if terminator is not None else []
    if all(_is_given(function, value) or value in host for value in returned):
        yield Obstacle(
            f"@{function.sym_name.data}",
            "nothing is left to compute: every result is an input, a parameter or a constant",
            "at least one result that is computed from an input",
        )


def _is_given(function: func.FuncOp, value: SSAValue) -> bool:
    """Whether a value is an argument, and does not stand for something unsupported that was taken out."""
    if not isinstance(value, BlockArgument):
        return False
    return function.arg_attrs is None or not UNSUPPORTED.on(function.arg_attrs.data[value.index])


def _element(kind: Attribute) -> Attribute:
    return kind.element_type if isa(kind, TensorType) else kind


def _of_type(kind: Attribute, where: str, floats: tuple[type[Attribute], ...] = _FLOATS) -> Iterator[Obstacle]:
    element = _element(kind)
    is_integer = isinstance(element, IntegerType) and element.width.data in INTEGER_WIDTHS and element == IntegerType(element.width)
    if not (is_integer or isinstance(element, (*floats, IndexType))):
        yield Obstacle(where, f"type {kind}", TYPES_ACCEPTED)
    shape = kind.get_shape() if isinstance(kind, ShapedType) else ()
    if any(extent == DYNAMIC_INDEX for extent in shape):
        yield Obstacle(where, f"dynamic shape {kind}", "static shapes")
    elif 0 in shape:
        yield Obstacle(where, f"empty tensor {kind}", "dimensions of at least one entry")


# Operations -----------------------------------------------------------------------------------------------------------


def place(op: Operation) -> str:
    """How a user finds an operation: its PyTorch module path and linalg name, with `file:line:column` where there is one."""
    path = MODULE.of(op)
    label = f"{path} ({op.name})" if path else op.name
    location = source_location(op)
    return label if location is None else f"{label} at {location}"


def _of_operation(op: Operation) -> Iterator[Obstacle]:
    where = place(op)
    for result in op.results:
        yield from _of_type(result.type, where)
    match op:
        case tensor.PadOp():
            yield from _of_padding(op, where)
        case tensor.ExtractSliceOp():
            if op.offsets or op.sizes or op.strides:
                yield Obstacle(where, "a slice at positions known at run time only", "constant offsets, sizes and strides")
        case tensor.InsertSliceOp():
            is_strided = any(stride != 1 for stride in op.static_strides.get_values())
            is_constant = not (op.offsets or op.sizes or op.strides or (is_strided and not _is_filled(op.dest)))
            if not is_constant and not is_update(op):
                accepted = "constant offsets, or an input that is updated at scalars, and stride 1"
                yield Obstacle(where, "entries are replaced at run-time or strided positions", accepted)
        case linalg.FillOp():
            yield from _of_fill(op, where)
        case _ if isinstance(op, _STRUCTURED):
            yield from _of_structured(op, where)
        case tensor.ExtractOp() if scalar_argument(op.result) is not None and is_offset(op):
            return
        case _ if not isinstance(op, (*_MOVEMENTS, *_REMOVED_BY_PASSES)) and type(op) not in EMITTED:
            yield Obstacle(where, f"{op.name} has no form in hardware", "linalg operations, slices, concatenations and reshapes")
        case _:
            return


def _of_padding(op: tensor.PadOp, where: str) -> Iterator[Obstacle]:
    amounts = (*op.static_low.get_values(), *op.static_high.get_values())
    terminator = op.region.block.last_op
    value = terminator.operands[0] if terminator is not None and terminator.operands else None
    if op.low or op.high or min(amounts, default=0) < 0 or value is None or not _is_constant(value):
        yield Obstacle(where, "padding by run-time amounts or with computed values", "constant amounts and one constant value")


def _of_fill(op: linalg.FillOp, where: str) -> Iterator[Obstacle]:
    if not _is_constant(op.inputs[0]):
        yield Obstacle(where, "a tensor is filled with a computed scalar", "a constant, or a tensor of rank 0 that is broadcast")


def _is_filled(value: SSAValue) -> bool:
    """Whether a tensor holds one constant everywhere."""
    owner = value.owner
    if isinstance(owner, linalg.FillOp):
        return _is_constant(owner.inputs[0])
    if isinstance(owner, linalg.GenericOp):
        last, first = owner.body.block.last_op, owner.body.block.args[0]
        return len(owner.inputs) == 1 and last is not None and last.operands[0] is first and _is_constant(owner.inputs[0])
    return isinstance(owner, arith.ConstantOp) and isinstance(dense := owner.value, DenseIntOrFPElementsAttr) and dense.is_splat()


def _is_constant(value: SSAValue) -> bool:
    return isinstance(owner := value.owner, arith.ConstantOp) and isinstance(owner.value, FloatAttr | IntegerAttr)


def _of_structured(op: Operation, where: str) -> Iterator[Obstacle]:
    if isinstance(op, LinalgStructuredOperation):
        maps = [attribute.data for attribute in op.get_indexing_maps()]
        count = len(op.inputs)
        for index, affine in enumerate(maps):
            if (reason := _of_map(affine, is_output=index >= count)) is not None:
                yield Obstacle(where, f"operand {index} is read at {affine}: {reason}", MAPS_ACCEPTED)
    if isinstance(op, linalg.GenericOp):
        yield from _of_reduction(op, where)
    for nested in op.walk():
        if nested is op:
            continue
        if isinstance(nested, _DIVISIONS) and _is_zero(nested.operands[1]):
            yield Obstacle(where, f"{nested.name} by the constant 0", "divisors that are not 0")
        if isinstance(nested, _SHIFTS) and (bits := _shifted_out(nested)) is not None:
            what = f"{nested.name} of {nested.results[0].type} by {bits}"
            yield Obstacle(where, what, "shifts by less than the width of the type")
        if isinstance(nested, tensor.ExtractOp):
            yield Obstacle(where, _LOOKUP.format(kind=nested.tensor.type), _LOOKUP_ACCEPTED)
        elif computes_in_bf16(nested):
            yield Obstacle(where, f"{nested.name} in bf16", BF16_ACCEPTED)
        elif not isinstance(nested, _REMOVED_BY_PASSES) and type(nested) not in EMITTED:
            yield Obstacle(where, f"{nested.name} has no form in HLS C++", "arithmetic, comparisons, select, casts, functions")


def _is_zero(value: SSAValue) -> bool:
    """Whether a scalar is known to be 0: a constant, or an entry of a constant tensor of zeros."""
    if isinstance(value, BlockArgument) and isinstance(generic := value.block.parent_op(), linalg.GenericOp):
        return value.index < len(generic.inputs) and _is_zero(generic.inputs[value.index])
    match value.owner:
        case linalg.FillOp() as fill:
            return _is_zero(fill.inputs[0])
        case arith.ConstantOp(value=IntegerAttr(value=number)):
            return number.data == 0
        case arith.ConstantOp(value=DenseIntOrFPElementsAttr() as dense):
            return dense.is_splat() and dense.get_values()[0] == 0
        case _:
            return False


def _shifted_out(shift: Operation) -> int | None:
    """By how many bits a number is shifted, where that is a constant for which MLIR and C++ have no result."""
    kind, bits = shift.results[0].type, integer_constant(shift.operands[1])
    is_defined = bits is None or not isinstance(kind, IntegerType) or 0 <= bits < kind.width.data
    return None if is_defined else bits


def _of_reduction(op: linalg.GenericOp, where: str) -> Iterator[Obstacle]:
    """What of the results of a generic depends on more than tiling keeps: their initial values, the order of the loops."""
    kinds = [attribute.data for attribute in op.iterator_types.data]
    reductions = {loop for loop, kind in enumerate(kinds) if kind != IteratorType.PARALLEL}
    arguments = op.body.block.args[len(op.inputs) :]
    last = op.body.block.last_op
    for index, (result, initial, argument) in enumerate(zip(op.results, op.outputs, arguments, strict=True)):
        if not result.uses:
            continue
        affine = op.indexing_maps.data[len(op.inputs) + index].data
        if any(isinstance(e, AffineDimExpr) and e.position in reductions for e in affine.results):
            yield Obstacle(where, f"result {index} is indexed by a reduction loop", "results indexed by parallel loops")
        if argument.uses and isinstance(initial.owner, tensor.EmptyOp):
            yield Obstacle(where, f"result {index} accumulates onto a tensor that was never filled", "an initial value")
        combines = last is not None and _combines(last.operands[index], argument, arguments)
        is_started = isinstance(initial.owner, tensor.EmptyOp | linalg.FillOp)
        if reductions and not combines and not (is_started or _is_filled(initial)):
            yield Obstacle(where, f"result {index} continues from a computed tensor", "a constant initial value, or a sum with it")
        if len(reductions) > 1 and not combines:
            yield Obstacle(
                where,
                f"result {index} depends on the order of {len(reductions)} reduction loops",
                "sums, products, minima, maxima, and, or, xor of terms that do not use the accumulator; or one reduction loop",
            )


_ASSOCIATIVE = (
    *(arith.AddfOp, arith.MulfOp, arith.MaximumfOp, arith.MinimumfOp, arith.MaxnumfOp, arith.MinnumfOp),
    *(arith.AddiOp, arith.MuliOp, arith.MaxSIOp, arith.MinSIOp, arith.MaxUIOp, arith.MinUIOp),
    *(arith.AndIOp, arith.OrIOp, arith.XOrIOp),
)


def _combines(value: SSAValue, accumulator: SSAValue, accumulators: Sequence[SSAValue]) -> bool:
    """Whether `value` is the accumulator combined with a term free of accumulators, in any order with the same result."""
    owner = value.owner
    if not isinstance(owner, _ASSOCIATIVE) or list(owner.operands).count(accumulator) != 1:
        return False
    (term,) = [operand for operand in owner.operands if operand is not accumulator]
    return not depends_on(term, accumulators)


_LOOKUP = "entries of a {kind} are looked up at computed positions (embedding, gather, flip, diagonal)"
_LOOKUP_ACCEPTED = "slices at constant offsets, a product with one-hot rows, or the looked-up rows as an input"
MAPS_ACCEPTED = "each dimension indexed by one loop, or by the sum of two (a window)"


def _of_map(affine: AffineMap, *, is_output: bool) -> str | None:
    """Why an operand cannot be read through this map; None if it can."""
    loops = [expression.position for expression in affine.results if isinstance(expression, AffineDimExpr)]
    if len(set(loops)) != len(loops):
        return "one loop drives two dimensions"
    for expression in affine.results:
        is_zero = isinstance(expression, AffineConstantExpr) and expression.value == 0
        if isinstance(expression, AffineDimExpr) or is_zero:
            continue
        if is_output or not _is_window(expression):
            return f"{expression} is no loop"
    return None


def _is_window(expression: AffineExpr) -> bool:
    if not isinstance(expression, AffineBinaryOpExpr) or expression.kind != AffineBinaryOpKind.Add:
        return False
    return all(_is_scaled_loop(side) for side in (expression.lhs, expression.rhs))


def _is_scaled_loop(expression: AffineExpr) -> bool:
    match expression:
        case AffineDimExpr():
            return True
        case AffineBinaryOpExpr(AffineBinaryOpKind.Mul, AffineDimExpr(), AffineConstantExpr() as factor):
            return factor.value > 0
        case _:
            return False


