"""Facts about one `linalg.generic`: its loops, and which loop drives which dimension of which operand.

A map is handled as `Dims`: for each dimension of the operand the loop that drives it, or None for the constant 0 (a dimension
of extent 1 that every iteration shares).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import TypeAlias

from xdsl.dialects.builtin import ShapedType
from xdsl.dialects.linalg.attrs import IteratorType
from xdsl.dialects.linalg.ops import GenericOp, IndexOp
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineDimExpr, AffineMap
from xdsl.utils.hints import isa

from stc.diagnostics import CompileError
from stc.dialects.facts import MODULE, NAME, SCHEDULE

Dims: TypeAlias = tuple[int | None, ...]


def dims_of(affine: AffineMap) -> Dims | None:
    """The loops that drive an operand's dimensions; None for maps that are no projected permutation (up to zeros)."""
    dims: list[int | None] = []
    for expression in affine.results:
        if isinstance(expression, AffineDimExpr) and expression.position not in dims:
            dims.append(expression.position)
        elif isinstance(expression, AffineConstantExpr) and expression.value == 0:
            dims.append(None)
        else:
            return None
    return tuple(dims)


def all_dims(op: GenericOp) -> list[Dims] | None:
    """Dims of every operand, inputs first; None where one of them is no projected permutation."""
    dims = [dims_of(attribute.data) for attribute in op.indexing_maps]
    known = [entry for entry in dims if entry is not None]
    return known if len(known) == len(dims) else None


def loop_count(op: GenericOp) -> int:
    return len(op.iterator_types)


def extents_of(op: GenericOp) -> tuple[int, ...]:
    """Extent of each loop."""
    extents = [1] * loop_count(op)
    for attribute, operand in zip(op.indexing_maps, op.operands, strict=True):
        for expression, size in zip(attribute.data.results, shape_of(operand.type), strict=True):
            if isinstance(expression, AffineDimExpr):
                extents[expression.position] = size
    return tuple(extents)


def reduction_loops(op: GenericOp) -> tuple[int, ...]:
    return tuple(loop for loop, kind in enumerate(op.iterator_types) if kind.data != IteratorType.PARALLEL)


@dataclass(frozen=True)
class GenericLoops:
    """The iteration space of a generic whose maps are projected permutations (level L1)."""

    op: GenericOp

    @cached_property
    def operand_dims(self) -> tuple[tuple[int, ...], ...]:
        """For each operand (inputs, then outputs) the loop that indexes each of its dimensions."""
        return tuple(self._dims_of(index) for index in range(len(self.op.operands)))

    def _dims_of(self, index: int) -> tuple[int, ...]:
        affine_map = self.op.indexing_maps.data[index].data
        dims = dims_of(affine_map)
        if dims is None or None in dims:
            raise CompileError(
                f"operand {index} is indexed by {affine_map}",
                where=name_of(self.op),
                accepted="maps whose results are distinct loops",
            )
        return tuple(loop for loop in dims if loop is not None)

    @property
    def input_dims(self) -> tuple[tuple[int, ...], ...]:
        return self.operand_dims[: len(self.op.inputs)]

    @property
    def output_dims(self) -> tuple[tuple[int, ...], ...]:
        return self.operand_dims[len(self.op.inputs) :]

    @cached_property
    def extents(self) -> tuple[int, ...]:
        """The trip count of every loop, from the shapes of the operands it indexes."""
        _ = self.operand_dims   # refused where a map has no loops of its own
        return extents_of(self.op)

    @cached_property
    def reductions(self) -> tuple[int, ...]:
        return reduction_loops(self.op)

    @cached_property
    def parallels(self) -> tuple[int, ...]:
        return tuple(loop for loop in range(len(self.extents)) if loop not in self.reductions)

    @property
    def terms(self) -> int:
        """Of each sum: iterations of all reductions together."""
        return prod(self.extents[loop] for loop in self.reductions)

    @property
    def sums(self) -> int:
        """Entries of a result: iterations of all parallel loops together."""
        return prod(self.extents[loop] for loop in self.parallels)


def points_at_once(generic: GenericOp) -> int:
    """Points of the iteration space that the schedule of a generic computes in one cycle; 1 where it has none."""
    schedule = SCHEDULE.of(generic)
    return 1 if schedule is None else prod(schedule.unrolls)


def generics_in(root: Operation) -> list[GenericOp]:
    """Every `linalg.generic` in `root`, in order."""
    return [op for op in root.walk() if isinstance(op, GenericOp)]


def asked_loops(generic: GenericOp) -> set[int]:
    """The loops whose index the body asks for."""
    return {op.dim.value.data for op in generic.body.walk() if isinstance(op, IndexOp)}


def shape_of(type_: Attribute) -> tuple[int, ...]:
    """The static shape of a tensor or memref type; () for a scalar."""
    return type_.get_shape() if isa(type_, ShapedType) else ()


def name_of(op: GenericOp | SSAValue | object) -> str | None:
    """The readable name an op carries: `stc.name`, else the PyTorch module it came from."""
    if isinstance(op, Operation):
        for fact in (NAME, MODULE):
            if (name := fact.of(op)) is not None:
                return name
    return getattr(op, "name", None)
