"""Facts about one `linalg.generic`: its loops, and which loop indexes which dimension of which operand."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import cast

from xdsl.dialects.builtin import ShapedType
from xdsl.dialects.linalg import GenericOp, IteratorType
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.ir.affine import AffineDimExpr
from xdsl.utils.hints import isa

from stc.diagnostics import CompileError
from stc.dialects.dataflow import ScheduleAttr


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
        dims = [expr.position for expr in affine_map.results if isinstance(expr, AffineDimExpr)]
        if len(dims) != len(affine_map.results) or len(set(dims)) != len(dims):
            raise CompileError(
                f"operand {index} is indexed by {affine_map}",
                where=name_of(self.op),
                accepted="maps whose results are distinct loops",
            )
        return tuple(dims)

    @property
    def input_dims(self) -> tuple[tuple[int, ...], ...]:
        return self.operand_dims[: len(self.op.inputs)]

    @property
    def output_dims(self) -> tuple[tuple[int, ...], ...]:
        return self.operand_dims[len(self.op.inputs) :]

    @cached_property
    def extents(self) -> tuple[int, ...]:
        """The trip count of every loop, from the shapes of the operands it indexes."""
        known: dict[int, int] = {}
        for value, dims in zip(self.op.operands, self.operand_dims, strict=True):
            known |= dict(zip(dims, shape_of(value.type), strict=True))
        return tuple(known[loop] for loop in range(len(self.op.iterator_types.data)))

    @cached_property
    def reductions(self) -> tuple[int, ...]:
        kinds = (attribute.data for attribute in self.op.iterator_types.data)
        return tuple(loop for loop, kind in enumerate(kinds) if kind == IteratorType.REDUCTION)

    @cached_property
    def parallels(self) -> tuple[int, ...]:
        return tuple(loop for loop in range(len(self.extents)) if loop not in self.reductions)


def points_at_once(generic: GenericOp) -> int:
    """Points of the iteration space that the schedule of a generic computes in one cycle; 1 where it has none."""
    schedule = generic.attributes.get("stc.schedule")
    return prod(schedule.unrolls) if isinstance(schedule, ScheduleAttr) else 1


def generics_in(root: Operation) -> list[GenericOp]:
    """Every `linalg.generic` in `root`, in order."""
    return [cast(GenericOp, op) for op in root.walk() if isinstance(op, GenericOp)]


def shape_of(type_: Attribute) -> tuple[int, ...]:
    """The static shape of a tensor or memref type; () for a scalar."""
    return type_.get_shape() if isa(type_, ShapedType) else ()


def name_of(op: GenericOp | SSAValue | object) -> str | None:
    """The readable name an op carries: `stc.name`, else the PyTorch module it came from."""
    attributes = getattr(op, "attributes", {})
    for key in ("stc.name", "stc.module"):
        if key in attributes:
            return attributes[key].data
    return getattr(op, "name", None)
