"""How many operations an execution runs, counted in the IR: what would take hours is refused before it starts."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from xdsl.dialects import func, scf
from xdsl.dialects.builtin import MemRefType, TensorType
from xdsl.dialects.linalg.abstract_ops import LinalgStructuredOperation
from xdsl.ir import Attribute, Block, Operation, SSAValue

from stc.analysis.index_ranges import loops_of
from stc.diagnostics import CompileError

MOST_STEPS = 100_000_000
"""About a minute: one to five million operations run per second."""

ENTRIES_OF_A_STEP = 64
"""Entries of arrays that may be made for each operation that may run: numpy works on them at a time."""


class TooLong(CompileError):
    """The execution would run more operations than allowed."""


def refuse_long_runs(function: func.FuncOp, most: int) -> None:
    """TooLong where the function runs more than `most` operations, or makes arrays of `ENTRIES_OF_A_STEP` times as many entries.

    A structured operation counts as one.
    """
    entries = sum(_entries(value.type) for op in function.walk() for value in _values_of(op))
    if entries > most * ENTRIES_OF_A_STEP:
        raise TooLong(
            f"executing this takes arrays of {entries:,} entries",
            where=f"@{function.sym_name.data}",
            accepted=f"up to {most * ENTRIES_OF_A_STEP:,}: a smaller design",
        )
    steps = steps_of(function.body.block)
    if steps > most:
        raise TooLong(
            f"executing this runs {steps:,} operations one by one",
            where=f"@{function.sym_name.data}",
            accepted=f"up to {most:,}: a smaller design, or a level with tiles (run the C simulation for scalar loops)",
        )


def _values_of(op: Operation) -> Iterator[SSAValue]:
    yield from op.results
    yield from (argument for region in op.regions for block in region.blocks for argument in block.args)


def _entries(kind: Attribute) -> int:
    return max(0, prod(kind.get_shape())) if isinstance(kind, TensorType | MemRefType) else 0


def steps_of(block: Block) -> int:
    """Operations that run when a block runs once."""
    return sum(_steps(op) for op in block.ops)


def _steps(op: Operation) -> int:
    if isinstance(op, LinalgStructuredOperation):
        return 1
    inside = sum(steps_of(block) for region in op.regions for block in region.blocks)
    return 1 + inside * (trips(op) if isinstance(op, scf.ForOp) else 1)


def trips(loop: scf.ForOp) -> int:
    """The most iterations of a loop, 1 where nothing is known of its bounds. Its trace (`stc.iteration.trace`) would count exactly,
    but there is one of tasks over streams only, and this is asked at every level."""
    variable = loop.body.block.args[0]
    known = loops_of({variable})
    return known[variable].count if known is not None else 1
