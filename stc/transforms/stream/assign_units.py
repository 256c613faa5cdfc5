"""`assign-units`: which compute unit each task is part of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from xdsl.context import Context
from xdsl.dialects.builtin import MemRefType, ModuleOp
from xdsl.passes import ModulePass

from stc.analysis.task_graph import task_graph, tasks_of, units_of
from stc.diagnostics import CompileError
from stc.dialects.dataflow import KernelOp, TaskOp
from stc.network.graph import TaskGraph
from stc.network.units import complaint_about
from stc.strategies.units import ONE, UNITS, UnitProblem
from stc.transforms.linalg.apply_schedule import OWN_TABLE, read_tables
from stc.transforms.pass_pipeline import did_you_mean

UNITS_TABLE = "units"
REST = "main"
"""The unit of all tasks that nobody has put into one of their own."""


@dataclass(frozen=True)
class AssignUnits(ModulePass):
    """Build a kernel as several compute units: say of each task which one it is part of.

    A stream between tasks of different units is a link: a stream port of either unit, which the linker joins by a FIFO of the
    stream's depth. All units of a kernel run together in a launch. A unit without memory ports starts by itself (`ap_ctrl_none`),
    and gets scalars as tokens (`send-scalars`); the host starts the others. Inside a unit tasks form no cycle; between units they
    may. A link is a FIFO of whole bytes, 2048 bits at most; a ring of blocks stays in one unit. A unit that another pass has given
    a task (`share-contractions`) is kept, unless a schedule says another.

    Options:
    * `strategy`: how the units are chosen (`stc.strategies.units`): one (default), or memory, which puts what has memory ports in
      one unit and all else in another.
    * `schedule`: path of a `schedule.toml` whose table `stc.units` has the unit of each task instead.

        dataflow.task @load_x ins(%m = %x : memref<4xvector<4xf32>>) outs(%o = %s : !S) kind load {...}
        dataflow.task @act ins(%i = %s : !S) outs(%o = %t : !S) {...}
      becomes, with strategy=memory,
        dataflow.task @load_x ins(%m = %x : memref<4xvector<4xf32>>) outs(%o = %s : !S) kind load unit @memory {...}
        dataflow.task @act ins(%i = %s : !S) outs(%o = %t : !S) unit @body {...}
    """

    name = "assign-units"

    strategy: str = ONE
    schedule: str = ""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        given = _given(self.schedule)
        kernels = [found for found in op.walk() if isinstance(found, KernelOp)]
        _require_tasks(given, kernels, self.schedule)
        for kernel in kernels:
            graph = task_graph(kernel)
            units = {task: given[task] for task in graph.tasks if task in given}
            if not units:
                units = self._decided(kernel, graph)
            elif complaint := complaint_about(graph, units):
                raise CompileError(complaint, where=f"{self.schedule} [{OWN_TABLE}.{UNITS_TABLE}]", accepted=UNITS.accepted)
            for task in tasks_of(kernel):
                if task.sym_name.data in units:
                    task.unit = units[task.sym_name.data]

    def _decided(self, kernel: KernelOp, graph: TaskGraph) -> Mapping[str, str]:
        """What the strategy says of the tasks that are not in a unit of their own already."""
        placed = {task: unit for task, unit in units_of(kernel).items() if unit != REST}
        ports = frozenset(task.sym_name.data for task in tasks_of(kernel) if has_port(task))
        units = UNITS.decide(self.strategy, UnitProblem(graph.without(placed), ports - set(placed)))
        if not placed:
            return units
        units = {**(units or dict.fromkeys(graph.tasks, REST)), **placed}
        if complaint := complaint_about(graph, units):
            raise CompileError(complaint, where=self.name, accepted=UNITS.accepted)
        return units


def has_port(task: TaskOp) -> bool:
    """Whether a task at the stream level reads or writes external memory."""
    return any(isinstance(value.type, MemRefType) for value in (*task.ins, *task.outs))


def _given(schedule: str) -> Mapping[str, str]:
    """The units that a schedule says, by task; CompileError where it cannot be used."""
    table: Any = read_tables(schedule).get(OWN_TABLE, {}).get(UNITS_TABLE, {}) if schedule else {}
    if not isinstance(table, dict) or not all(isinstance(unit, str) for unit in table.values()):
        raise CompileError(f"{OWN_TABLE}.{UNITS_TABLE} is no table of units", where=schedule, accepted="TASK = 'unit'")
    return table


def _require_tasks(given: Mapping[str, str], kernels: list[KernelOp], schedule: str) -> None:
    names = [task.sym_name.data for kernel in kernels for task in tasks_of(kernel)]
    for task in given:
        if task not in names:
            some = ", ".join(names[:8]) + (", ..." if len(names) > 8 else "")
            raise CompileError(f"no task is called '{task}'{did_you_mean(task, names)}", where=schedule, accepted=some)
