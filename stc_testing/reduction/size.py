"""How large a module is: what a reduction must make smaller."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects import arith, func, scf
from xdsl.dialects.builtin import ModuleOp, ShapedType
from xdsl.ir import Attribute, Block, Operation
from xdsl.traits import IsTerminator

from stc.dialects.facts import SCHEDULE
from stc.dialects.itensor.accesses import trip_size
from stc.dialects.itensor.type import ItensorType
from stc.dialects.printing import print_module
from stc.iteration.size import maximum


@dataclass(frozen=True, order=True)
class Size:
    """Compared entry by entry, so that fewer operations win over smaller extents, and those over shorter text.

    `operations`: all but constants, terminators, functions and the module. `volume`: the sum of extents and trip counts over
    values, loops and schedules. `characters`: of the printed module.
    """

    operations: int
    volume: int
    characters: int

    def __str__(self) -> str:
        return f"{self.operations} ops, {self.characters:,} bytes"


def size_of(module: ModuleOp, text: str | None = None) -> Size:
    """The size of `module`, whose printed form is `text`."""
    operations = [op for op in module.walk() if not isinstance(op, ModuleOp)]
    counted = sum(not _is_frame(op) for op in operations)
    volume = sum(_volume(op) for op in operations)
    return Size(counted, volume, len(print_module(module) if text is None else text))


def _is_frame(op: Operation) -> bool:
    return isinstance(op, func.FuncOp | arith.ConstantOp) or op.has_trait(IsTerminator, value_if_unregistered=False)


def _volume(op: Operation) -> int:
    types = [result.type for result in op.results]
    types += [argument.type for block in _blocks(op) for argument in block.args]
    total = sum(_extents(kind) for kind in types)
    if isinstance(op, scf.ForOp):
        total += maximum(trip_size(op) or 1)
    schedule = SCHEDULE.of(op)
    return total + (0 if schedule is None else sum(schedule.tiles))


def _blocks(op: Operation) -> list[Block]:
    return [block for region in op.regions for block in region.blocks]


def _extents(kind: Attribute) -> int:
    if isinstance(kind, ItensorType):
        return sum(kind.element_shape) + sum(maximum(loop.trip) for loop in kind.order.loops)
    return sum(kind.get_shape()) if isinstance(kind, ShapedType) else 0
