"""Shrink extents, consistently over the whole module: to 1, to 2, to half, by one."""

from __future__ import annotations

from collections.abc import Callable

from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.ir import Operation, SSAValue

from stc_testing.reduction.engine import Reduction
from stc_testing.reduction.extents import Extents, Place
from stc_testing.reduction.shapes import reshape_values, shrink_schedules


def shrinking(name: str, smaller: Callable[[int], int]) -> Reduction:
    """The reduction that gives each class of dimensions `smaller(extent)`, where that is smaller and at least 1."""

    def items(extents: Extents) -> list[Place]:
        return [root for root in extents.classes() if 1 <= smaller(extents.extent(root)) < extents.extent(root)]

    def apply(module: ModuleOp, chosen: range) -> bool:
        extents = Extents(module)
        targets: dict[Place, int] = {}
        for index, root in enumerate(items(extents)):
            if index not in chosen or root in targets:
                continue
            new = extents.consequences(root, smaller(extents.extent(root)))
            if new is not None and not (new.keys() & targets.keys()):
                targets |= new
        _resize(extents, targets)
        return bool(targets)

    return Reduction(name, lambda module: len(items(Extents(module))), apply)


def _resize(extents: Extents, targets: dict[Place, int]) -> None:
    shapes: dict[SSAValue, list[int]] = {}
    loops: dict[tuple[Operation, int], int] = {}
    for root, extent in targets.items():
        for owner, dim in extents.members(root):
            if isinstance(owner, Operation):
                loops[owner, dim] = extent
                continue
            assert isinstance(owner.type, TensorType)
            shapes.setdefault(owner, list(owner.type.get_shape()))[dim] = extent
    shrink_schedules(extents.module, lambda op, loop: loops.get((op, loop)))
    reshape_values(extents.module, shapes)


SHRINK_EXTENTS = (
    shrinking("shrink extents to 1", lambda extent: 1),
    shrinking("shrink extents to 2", lambda extent: 2),
    shrinking("halve extents", lambda extent: extent // 2),
    shrinking("shrink extents by one", lambda extent: extent - 1),
)
