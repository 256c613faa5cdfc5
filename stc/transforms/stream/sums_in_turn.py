"""What takes the sums of contractions that share their multipliers, one after the other in one task."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import AnyFloat, MemRefType
from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import InsertPoint

from stc.analysis.contraction_tasks import ContractionTask
from stc.analysis.task_graph import ends_of, tasks_behind, tasks_of
from stc.design_space.turns import rows_of_tasks
from stc.dialects.dataflow import KernelOp, TaskOp
from stc.dialects.stream import CreateOp, StreamType
from stc.transforms.stream.in_turn import in_turn
from stc.transforms.stream.names import UniqueNames


@dataclass(frozen=True)
class SumsInTurn:
    """`rows` of tasks, each of which waits for results of the one before; `between`: what hands sums on to them."""

    rows: Sequence[Sequence[TaskOp]]
    between: Collection[TaskOp]

    @classmethod
    def of(cls, kernel: KernelOp, contractions: Iterable[ContractionTask]) -> SumsInTurn:
        """Who takes the sums of `contractions`, before these are one: then everybody waits for everybody.

        Those that have memory ports are left out, and those that another one or a contraction reads without anything between: tasks
        of one unit form no cycle.
        """
        contractions = list(contractions)
        behind = tasks_behind(kernel)
        takers, between = _takers(stream for each in contractions for stream in each.sums)
        inside = takers | {each.task for each in contractions}
        possible = {taker for taker in takers if not _has_port(taker) and inside.isdisjoint(_readers(taker))}
        lanes = {task: _lanes(task) for task in behind if task in possible}
        return cls(rows_of_tasks(lanes, lambda later, before: later in behind[before]), between)

    def build(self, kernel: KernelOp, unit: str, names: UniqueNames) -> None:
        """One task for each row of several, in `unit`, as what hands sums on to them."""
        for row in [row for row in self.rows if len(row) > 1]:
            members = set(row)
            last = [task for task in tasks_of(kernel) if task in members][-1]  # where all streams have been made
            assert last.next_op is not None
            made = in_turn(row, names.fresh(f"{row[0].sym_name.data}_in_turn"), row[0].kind, InsertPoint.before(last.next_op))
            made.unit = unit
        for task in self.between:
            task.unit = unit


def _takers(sums: Iterable[SSAValue]) -> tuple[set[TaskOp], set[TaskOp]]:
    """The first tasks behind streams that compute in floats, and those between, which move or unpack what they take."""
    takers, between, left = set[TaskOp](), set[TaskOp](), list(sums)
    while left:
        task = ends_of(left.pop())[1]
        if _computes_in_floats(task):
            takers.add(task)
        elif task not in between and not _has_port(task):
            between.add(task)
            left += (out for out in task.outs if isinstance(out.owner, CreateOp))
    return takers, between


def _computes_in_floats(task: TaskOp) -> bool:
    return any(_is_computed(op) and isinstance(result.type, AnyFloat) for op in task.walk() for result in op.results)


def _is_computed(op: Operation) -> bool:
    """Whether `op` computes something of operands."""
    return op.name.partition(".")[0] in ("arith", "math") and bool(op.operands)


def _readers(task: TaskOp) -> Iterator[TaskOp]:
    return (ends_of(out)[1] for out in task.outs if isinstance(out.owner, CreateOp))


def _has_port(task: TaskOp) -> bool:
    return any(isinstance(value.type, MemRefType) for value in (*task.ins, *task.outs))


def _lanes(task: TaskOp) -> int:
    """Of the widest token that it takes."""
    return max((value.type.lanes for value in task.ins if isinstance(value.type, StreamType)), default=1)
