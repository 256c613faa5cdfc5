"""What every pass may assume of the IR it gets, and must keep, beyond what the verifier asks.

The passes and their analyses enumerate loops, multiply extents and follow values back to where they are made; `stc` emits C++ whose
indices are `int`. IR that breaks one of these rules may be well-formed MLIR, but no pass runs on it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import prod

from xdsl.dialects import arith, func, scf
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    Float32Type,
    IndexType,
    IntegerAttr,
    IntegerType,
    MemRefType,
    ModuleOp,
    TensorType,
    VectorType,
)
from xdsl.dialects.linalg.abstract_ops import LinalgStructuredOperation
from xdsl.dialects.linalg.attrs import IteratorType
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.traits import IsTerminator

from stc.diagnostics import CompileError
from stc.dialects.facts import BOUND, FACTS, PREFIX, UNROLL
from stc.dialects.itensor.type import ItensorType
from stc.dialects.locations import source_location
from stc.dialects.stream.types import BlockType, StreamType
from stc.dialects.verification import Violation, first_violation, name_of
from stc.iteration.order import StreamOrder
from stc.iteration.size import maximum

_SCALARS = frozenset({IndexType, IntegerType, Float32Type})
MOST_COPIES = 1 << 14
"""Each copy of a body is scheduled by itself; the vendor's tool gives up far below."""


@dataclass(frozen=True)
class Precondition:
    """`statement` says the rule; `complaints` yields one sentence for each way in which an operation breaks it."""

    statement: str
    complaints: Callable[[Operation], Iterator[str]]


def first_unmet(module: ModuleOp) -> Violation | None:
    """The first operation of a sound module, in the order of the text, on which no pass runs; None where every pass does."""
    for op in module.walk():
        for complaint in unmet(op):
            return Violation(op, f"'{name_of(op)}' op {complaint}")
    return None


def unmet(op: Operation) -> Iterator[str]:
    """The ways in which an operation breaks preconditions."""
    for precondition in PRECONDITIONS:
        yield from precondition.complaints(op)


def unfit_for_passes(module: ModuleOp) -> Violation | None:
    """The first thing that is wrong with what a pass gets or leaves: a rule of the IR, or a precondition."""
    return first_violation(module) or first_unmet(module)


def require_fit(module: ModuleOp) -> None:
    """CompileError, with `file:line:column` where there is one, for IR that no pass may get."""
    if (violation := unfit_for_passes(module)) is not None:
        raise refused(violation)


def refused(violation: Violation) -> CompileError:
    """That no pass gets such IR, with `file:line:column` where there is one."""
    return CompileError(violation.sentence, where=source_location(violation.operation))


def _nesting(op: Operation) -> Iterator[str]:
    outside = op.parent_op()
    if isinstance(op, func.FuncOp | ModuleOp) and outside is not None and outside.parent_op() is not None:
        yield "stands inside another operation, expected the top of the module"


def _blocks(op: Operation) -> Iterator[str]:
    for region in op.regions:
        if len(region.blocks) > 1:
            yield f"has a region of {len(region.blocks)} blocks, expected one"
        for block in region.blocks:
            ends = block.last_op is not None and block.last_op.has_trait(IsTerminator, value_if_unregistered=True)
            if not ends and not isinstance(op, ModuleOp):
                yield "has a block that does not end in a terminator"


def _loops(op: Operation) -> Iterator[str]:
    if not isinstance(op, scf.ForOp):
        return
    lower, upper, step = (_constant(value) for value in (op.lb, op.ub, op.step))
    if step is not None and step < 1:
        yield f"has step {step}, expected at least 1"
    elif lower is not None and upper is not None and not 0 < upper - lower < BOUND:
        yield f"runs from {lower} to {upper}, expected at least one iteration and fewer than {BOUND}"
    elif (copies := _copies(op)) > MOST_COPIES:
        yield f"is unrolled to {copies} copies of its body, expected at most {MOST_COPIES}"


def _copies(loop: Operation) -> int:
    """How often the body of a loop stands in the hardware: the product of the unrolled loops around it, and of its own."""
    copies, around = 1, loop
    while isinstance(around, scf.ForOp):
        lower, upper, step = (_constant(value) for value in (around.lb, around.ub, around.step))
        if UNROLL.of(around) == 0 and not (lower is None or upper is None or step is None):
            copies *= -(-(upper - lower) // step)
        around = around.parent_op()
    return copies


def _outputs(op: Operation) -> Iterator[str]:
    if not isinstance(op, LinalgStructuredOperation):
        return
    kinds = [kind.data for kind in op.get_iterator_types()]
    if other := set(kinds) - {IteratorType.PARALLEL, IteratorType.REDUCTION}:
        yield f"has a loop of kind '{min(other)}', expected parallel or reduction"
    parallel = {loop for loop, kind in enumerate(kinds) if kind == IteratorType.PARALLEL}
    for output, index in zip(op.outputs, op.get_indexing_maps().data[len(op.inputs) :], strict=True):
        driving = index.data.used_dims_bit_vector()
        if {loop for loop, drives in enumerate(driving) if drives} != parallel:
            yield f"writes {output.type} at {index.data}, expected each parallel loop, and no other, to move it"


def _attributes(op: Operation) -> Iterator[str]:
    for name, value in (*op.attributes.items(), *_entries(op)):
        if name.startswith(PREFIX) and name not in FACTS:
            yield f"has {name}, which says nothing, expected one of {', '.join(FACTS)}, or another prefix"
        elif name in FACTS and (complaint := FACTS[name].complaint(op, value)) is not None:
            yield f"has {name} = {value}, {complaint}"


def _entries(op: Operation) -> Iterator[tuple[str, Attribute]]:
    """What is said of the arguments and results of a function."""
    if isinstance(op, func.FuncOp):
        for entry in (*(op.arg_attrs or ()), *(op.res_attrs or ())):
            yield from entry.data.items()


def _indices(op: Operation) -> Iterator[str]:
    if not isinstance(op, arith.ConstantOp) or not isinstance(op.result.type, IndexType):
        return
    value = _constant(op.result)
    if value is not None and not -BOUND <= value < BOUND:
        yield f"is the index {value}, expected one from {-BOUND} to {BOUND - 1}"


def _constant(value: SSAValue) -> int | None:
    owner = value.owner
    return owner.value.value.data if isinstance(owner, arith.ConstantOp) and isinstance(owner.value, IntegerAttr) else None


def _types(op: Operation) -> Iterator[str]:
    kinds: list[Attribute] = [result.type for result in op.results]
    kinds += [argument.type for region in op.regions for block in region.blocks for argument in block.args]
    if isinstance(op, func.FuncOp):
        kinds += [*op.function_type.inputs, *op.function_type.outputs]
    for kind in kinds:
        if (complaint := _complaint_about(kind)) is not None:
            yield f"has a value of type {kind}, {complaint}"


def _complaint_about(kind: Attribute) -> str | None:
    """What of a type no pass takes; None where all do."""
    if type(kind) in _SCALARS:  # nearly all, and the classes below are slow to ask
        return None
    match kind:
        case TensorType() | MemRefType() | VectorType():
            return _complaint_about_shape(kind.get_shape()) or _complaint_about(kind.get_element_type())
        case StreamType():
            return _complaint_about(kind.element_type) or _complaint_about_count("tokens of depth", kind.depth)
        case BlockType():
            return _complaint_about(kind.buffer_type) or _complaint_about_count("buffers", kind.count)
        case ItensorType():
            return _complaint_about_order(kind.order)
        case _:
            return None


def _complaint_about_shape(shape: Sequence[int]) -> str | None:
    if DYNAMIC_INDEX in shape:
        return "expected a static shape"
    if min(shape, default=1) < 1:
        return "expected extents of at least 1"
    return _complaint_about_count("elements", prod(shape))


def _complaint_about_order(order: StreamOrder) -> str | None:
    """Symbols count with their maximum."""
    trips = [maximum(loop.trip) for loop in order.loops]
    if 0 in trips:
        return "expected a token for some value of its symbols"
    shape = [
        maximum(coordinate.constant) + extent + sum((trips[k] - 1) * order.loops[k].step for k in coordinate.loops)
        for extent, coordinate in zip(order.element, order.coordinates, strict=True)
    ]
    steps = max((loop.step for loop in order.loops), default=1)
    return (
        _complaint_about_shape(shape)
        or _complaint_about_count("tokens", prod(trips))
        or _complaint_about_count("entries of step", steps)
    )


def _complaint_about_count(what: str, count: int) -> str | None:
    return f"which has {count} {what}, expected fewer than {BOUND}" if count >= BOUND else None


PRECONDITIONS = (
    Precondition("Functions stand at the top of the module, and modules in nothing.", _nesting),
    Precondition("A region has at most one block, and but for the module's it ends in a terminator.", _blocks),
    Precondition(
        f"Loops with constant bounds have steps of at least 1, and from 1 to {BOUND - 1} iterations; unrolled nests make at most"
        f" {MOST_COPIES} copies.",
        _loops,
    ),
    Precondition(
        "Loops of linalg operations are parallel or reductions; each output is moved by all parallel loops, and by no reduction.",
        _outputs,
    ),
    Precondition(
        f"Attributes of `stc` are known, have their types, and integers from 0 to {BOUND - 1}; some stand on loops only.",
        _attributes,
    ),
    Precondition(f"Constants of type `index` are from {-BOUND} to {BOUND - 1}.", _indices),
    Precondition(
        f"Shapes are static, with extents of at least 1 and fewer than {BOUND} elements; streams and orders have fewer than"
        f" {BOUND} tokens.",
        _types,
    ),
)
"""Checked before the first pass (unusable input) and after each (a defect of the pass), by `stc-opt` and `stc compile`."""
