"""What MLIR's verifier asks of upstream operations and xDSL 0.74's does not.

Passes rely on it as on the rest: the extents of slices, the types of results, the operands that a dynamic size has.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from math import prod
from typing import Any

from xdsl.dialects import arith, memref, scf, tensor, vector
from xdsl.dialects.arith import CMPF_COMPARISON_OPERATIONS, CMPI_COMPARISON_OPERATIONS
from xdsl.dialects.builtin import DYNAMIC_INDEX, MemRefType, ShapedType, TensorType, VectorType
from xdsl.dialects.linalg import ops as linalg
from xdsl.dialects.linalg.abstract_ops import LinalgStructuredOperation, NamedOperation
from xdsl.ir import Attribute, Operation
from xdsl.utils.hints import isa


def complaints(op: Operation) -> Iterator[str]:
    """What is wrong with an operation that xDSL's verifier accepts."""
    for rule in _rules_of(type(op)):
        yield from rule(op)


@cache
def _rules_of(kind: type[Operation]) -> tuple[Callable[[Any], Iterator[str]], ...]:
    return tuple(rule for kinds, rule in _RULES if issubclass(kind, kinds))


def _structured(op: LinalgStructuredOperation) -> Iterator[str]:
    expected = [output.type for output in op.outputs if isinstance(output.type, TensorType)]
    found = [result.type for result in op.results]
    if expected != found:
        yield f"has results of types ({_listed(found)}), expected those of its outputs, ({_listed(expected)})"


def _body(op: LinalgStructuredOperation) -> Iterator[str]:
    """What the loops take out are entries of the outputs."""
    entries = [_entry_type(output.type) for output in op.outputs]
    last = op.regions[0].block.last_op
    yielded = [] if last is None else [value.type for value in last.operands]
    if yielded != entries:
        yield f"yields ({_listed(yielded)}), expected the entries of its outputs, ({_listed(entries)})"


def _entry_type(kind: Attribute) -> Attribute:
    return kind.get_element_type() if isinstance(kind, TensorType | MemRefType) else kind


def _named(op: NamedOperation) -> Iterator[str]:
    """The body is not printed: it has to be the one that the name stands for."""
    if isinstance(op, linalg.ReduceOp):
        return
    body = type(op).get_hidden_region(op.inputs, op.outputs)
    if not op.regions[0].is_structurally_equivalent(body):
        yield f"has another body than every {op.name} of these operands"


def _index(op: linalg.IndexOp) -> Iterator[str]:
    around = op.parent_op()
    while around is not None and not isinstance(around, LinalgStructuredOperation):
        around = around.parent_op()
    loops = 0 if around is None else len(around.get_iterator_types())
    if not 0 <= op.dim.value.data < loops:
        yield f"names loop {op.dim.value.data} of an operation with {loops} loops"


def _slice(op: tensor.ExtractSliceOp | tensor.InsertSliceOp | memref.SubviewOp) -> Iterator[str]:
    full, part = (op.source.type, op.result.type) if not isinstance(op, tensor.InsertSliceOp) else (op.dest.type, op.source.type)
    if not isa(full, TensorType | MemRefType) or not isa(part, TensorType | MemRefType):
        return
    offsets, sizes, strides = (tuple(values.get_values()) for values in (op.static_offsets, op.static_sizes, op.static_strides))
    shape = full.get_shape()
    if not len(offsets) == len(sizes) == len(strides) == len(shape):
        yield f"has {len(offsets)} offsets, {len(sizes)} sizes and {len(strides)} strides for {full}"
        return
    if isinstance(op, tensor.InsertSliceOp) and op.result.type != full:
        yield f"has a result of type {op.result.type}, expected that of what it is inserted into, {full}"
    if part.get_element_type() != full.get_element_type() or not _without_units(sizes, part.get_shape()):
        yield f"takes {list(sizes)} entries of {full}, which is no {part}"
    for dimension, (offset, size, stride, extent) in enumerate(zip(offsets, sizes, strides, shape, strict=True)):
        known = DYNAMIC_INDEX not in (size, stride, extent)
        first = 0 if offset == DYNAMIC_INDEX else offset
        if known and (first < 0 or size < 0 or stride < 1 or first + max(0, size - 1) * stride >= max(extent, 1)):
            yield f"takes {size} entries of dimension {dimension} from {first} by {stride}, which has {extent}"


def _without_units(sizes: Sequence[int], shape: Sequence[int]) -> bool:
    """Whether `shape` is `sizes` with some extents of 1 left out."""
    rest = list(shape)
    for size in sizes:
        if rest and rest[0] == size:
            rest.pop(0)
        elif size != 1:
            return False
    return not rest


def _pad(op: tensor.PadOp) -> Iterator[str]:
    source, result = op.source.type, op.result.type
    if not isa(source, TensorType) or not isa(result, TensorType):
        return
    last = op.region.block.last_op
    if last is None or [value.type for value in last.operands] != [source.get_element_type()]:
        yield f"does not yield an entry of {source}"
    low, high = tuple(op.static_low.get_values()), tuple(op.static_high.get_values())
    if not len(low) == len(high) == len(source.get_shape()) == len(result.get_shape()):
        yield f"pads {len(low)} and {len(high)} dimensions of {source} to {result}"
        return
    for given, operands in ((low, op.low), (high, op.high)):
        if given.count(DYNAMIC_INDEX) != len(operands):
            yield f"has {len(operands)} amounts for {given.count(DYNAMIC_INDEX)} dynamic ones"
    for before, extent, after, padded in zip(low, source.get_shape(), high, result.get_shape(), strict=True):
        if DYNAMIC_INDEX not in (before, extent, after, padded) and before + extent + after != padded:
            yield f"pads {extent} entries by {before} and {after}, which is not the {padded} of {result}"


def _sizes(op: tensor.EmptyOp | memref.AllocOp) -> Iterator[str]:
    kind, dynamic = op.results[0].type, op.operands
    count = kind.get_shape().count(DYNAMIC_INDEX) if isinstance(kind, ShapedType) else 0
    if count != len(dynamic):
        yield f"has {len(dynamic)} sizes for the {count} dynamic dimensions of {kind}"


def _expansion(op: tensor.ExpandShapeOp) -> Iterator[str]:
    dynamic = tuple(op.static_output_shape.get_values()).count(DYNAMIC_INDEX)
    if dynamic != len(op.dynamic_output_shape):
        yield f"has {len(op.dynamic_output_shape)} extents for its {dynamic} dynamic dimensions"


def _reassociation(op: tensor.ExpandShapeOp | tensor.CollapseShapeOp) -> Iterator[str]:
    """Each dimension of the lower rank has as many entries as those of the higher rank that it stands for."""
    kinds = (op.src.type, op.result.type) if isinstance(op, tensor.CollapseShapeOp) else (op.result.type, op.src.type)
    if not all(isinstance(kind, TensorType) for kind in kinds):
        return
    long, short = (kind.get_shape() for kind in kinds)  # pyright: ignore[reportAttributeAccessIssue]
    groups = [[entry.value.data for entry in group] for group in op.reassociation]  # pyright: ignore
    for group, extent in zip(groups, short, strict=False):  # their number is verified
        extents = [long[dimension] for dimension in group]
        if DYNAMIC_INDEX not in (extent, *extents) and prod(extents) != extent:
            yield f"takes extents {extents} for one of {extent}, expected {prod(extents)}"


def _predicate(op: arith.CmpiOp | arith.CmpfOp) -> Iterator[str]:
    known = CMPI_COMPARISON_OPERATIONS if isinstance(op, arith.CmpiOp) else CMPF_COMPARISON_OPERATIONS
    if not 0 <= op.predicate.value.data < len(known):
        yield f"has predicate {op.predicate.value.data}, expected one from 0 to {len(known) - 1}"


def _lanes(op: vector.LoadOp | vector.StoreOp) -> Iterator[str]:
    lanes, array = (op.result if isinstance(op, vector.LoadOp) else op.vector).type, op.base.type
    if not isa(lanes, VectorType) or not isa(array, MemRefType):
        return
    extents = array.get_shape()[-len(lanes.get_shape()):]
    if any(lane > extent != DYNAMIC_INDEX for lane, extent in zip(lanes.get_shape()[-len(extents):], extents, strict=True)):
        yield f"moves {lanes} of {array}, which has fewer entries in a row"


def _branches(op: scf.IfOp) -> Iterator[str]:
    """Both branches yield the results; without results there need be no second one."""
    expected = [result.type for result in op.results]
    for name, region in (("first", op.true_region), ("second", op.false_region)):
        last = region.blocks[0].last_op if region.blocks else None
        found = [value.type for value in last.operands] if isinstance(last, scf.YieldOp) else []
        if found != expected:
            yield f"yields ({_listed(found)}) in its {name} branch, expected its results, ({_listed(expected)})"


def _listed(kinds: Sequence[Attribute]) -> str:
    return ", ".join(str(kind) for kind in kinds)


_RULES: tuple[tuple[Any, Callable[[Any], Iterator[str]]], ...] = (
    (LinalgStructuredOperation, _structured),
    (LinalgStructuredOperation, _body),
    (NamedOperation, _named),
    (linalg.IndexOp, _index),
    (tensor.ExtractSliceOp | tensor.InsertSliceOp | memref.SubviewOp, _slice),
    (tensor.PadOp, _pad),
    ((arith.CmpiOp, arith.CmpfOp), _predicate),
    (tensor.ExpandShapeOp, _expansion),
    (tensor.ExpandShapeOp | tensor.CollapseShapeOp, _reassociation),
    ((tensor.EmptyOp, memref.AllocOp), _sizes),
    ((vector.LoadOp, vector.StoreOp), _lanes),
    (scf.IfOp, _branches),
)
