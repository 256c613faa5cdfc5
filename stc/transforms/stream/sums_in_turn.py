"""What takes the sums of contractions that share their multipliers, one after the other in one task."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from xdsl.ir import SSAValue
from xdsl.rewriter import InsertPoint

from stc.analysis.contraction_tasks import ContractionTask
from stc.analysis.float_work import computes_in_floats
from stc.analysis.kernel_memory import entry_bits
from stc.analysis.task_graph import ends_of, tasks_behind, tasks_of
from stc.design_space.turns import rows_of_tasks
from stc.dialects.dataflow import KernelOp, TaskOp
from stc.dialects.facts import MODULE
from stc.dialects.stream import BlockType, CreateOp, StreamType
from stc.network.units import may_link
from stc.transforms.stream.assign_units import has_port
from stc.transforms.stream.in_turn import in_turn
from stc.transforms.stream.names import UniqueNames


@dataclass(frozen=True)
class SumsInTurn:
    """`rows` of several tasks, each of which waits for results of the one before; `between`: what hands sums on to them alone."""

    rows: Sequence[Sequence[TaskOp]]
    between: Collection[TaskOp]

    @classmethod
    def of(cls, kernel: KernelOp, contractions: Sequence[ContractionTask]) -> SumsInTurn:
        """Who takes the sums of `contractions`, which are alike, before these are one: then everybody waits for everybody.

        Those are left out that cannot be in a unit of their own (`_may_move`), and those that another one or a contraction reads
        without anything between: tasks of one unit form no cycle.
        """
        behind, own = tasks_behind(kernel), {each.task for each in contractions}
        takers, handing = _takers([stream for each in contractions for stream in each.sums], own)
        possible = {taker for taker in takers if _may_move(taker) and (takers | own).isdisjoint(_readers(taker))}
        lanes = {task: _lanes(task) for task in behind if task in possible}
        rows = [row for row in rows_of_tasks(lanes, lambda later, before: later in behind[before]) if len(row) > 1]
        return cls(rows, _in_front_of({task for row in rows for task in row}, handing, own))

    def build(self, kernel: KernelOp, unit: str, names: UniqueNames) -> None:
        """One task for each row, in `unit`, as what hands sums on to them."""
        for row in self.rows:
            members, modules = set(row), {MODULE.of(task) for task in row}
            last = [task for task in tasks_of(kernel) if task in members][-1]  # where all streams have been made
            assert last.next_op is not None and len({task.kind for task in row}) == 1
            made = in_turn(row, names.fresh(f"{row[0].sym_name.data}_in_turn"), row[0].kind, InsertPoint.before(last.next_op))
            made.unit = unit
            if len(modules) == 1 and (module := modules.pop()) is not None:
                MODULE.put(made, module)
        for task in self.between:
            task.unit = unit


def _takers(sums: Sequence[SSAValue], contractions: Collection[TaskOp]) -> tuple[set[TaskOp], set[TaskOp]]:
    """The first tasks behind streams that compute in floats, and those in front of them, which move or unpack what they take."""
    takers, handing, left = set[TaskOp](), set[TaskOp](), list(sums)
    while left:
        task = ends_of(left.pop())[1]
        if computes_in_floats(task):
            takers.add(task)
        elif task not in handing and task not in contractions and _may_move(task):
            handing.add(task)
            left += (out for out in task.outs if isinstance(out.owner, CreateOp))
    return takers, handing


def _in_front_of(members: Collection[TaskOp], handing: Collection[TaskOp], contractions: Collection[TaskOp]) -> set[TaskOp]:
    """Those of `handing` that take nothing but sums, and hand them on to `members` alone."""
    found = set(handing)
    while True:
        inside, sources = found.union(members), found.union(contractions)
        kept = {task for task in found if inside.issuperset(_readers(task)) and sources.issuperset(_writers(task))}
        if kept == found:
            return found
        found = kept


def _readers(task: TaskOp) -> Iterator[TaskOp]:
    return (ends_of(out)[1] for out in task.outs if isinstance(out.owner, CreateOp))


def _writers(task: TaskOp) -> Iterator[TaskOp]:
    return (ends_of(value)[0] for value in task.ins if isinstance(value.owner, CreateOp))


def _may_move(task: TaskOp) -> bool:
    """Whether a task may be in another unit than its neighbours: it has no memory port and no ring, and all its streams may be
    links."""
    kinds = [value.type for value in (*task.ins, *task.outs)]
    if has_port(task) or any(isinstance(kind, BlockType) for kind in kinds):
        return False
    return all(may_link(entry_bits(kind.element_type)) for kind in kinds if isinstance(kind, StreamType))


def _lanes(task: TaskOp) -> int:
    """Of the widest token that it takes."""
    return max((value.type.lanes for value in task.ins if isinstance(value.type, StreamType)), default=1)
