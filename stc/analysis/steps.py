"""A module of which a launch computes several steps, and the same of one."""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.builder import Builder
from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import IndexType, IntegerAttr, ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import InsertPoint
from xdsl.traits import Pure

from stc.analysis.loops import constant_bounds
from stc.dialects.dataflow import KernelOp, TaskOp
from stc.dialects.facts import STEPS
from stc.dialects.stream import ReadOp, WriteOp


def one_step(module: ModuleOp) -> ModuleOp:
    """What `module` does in the first step of a launch, on the memories of all (`repeat-steps`): it is a design of its own, whose
    figures are those of a step; `module` itself where a launch computes one."""
    if all(kernel.steps == 1 for kernel in module.walk() if isinstance(kernel, KernelOp)):
        return module
    copy = module.clone()
    for op in list(copy.walk()):
        if isinstance(op, KernelOp):
            op.steps = 1
        elif isinstance(op, scf.ForOp) and STEPS.on(op):
            one = arith.ConstantOp(IntegerAttr(1, IndexType()))
            op.operands[1] = Builder(InsertPoint.before(op)).insert(one).result
    return copy


def complaints_about_steps(kernel: KernelOp) -> Iterator[str]:
    """What is wrong with the steps of a launch, as clauses: a task that the host starts has one loop over all of them, and one that
    reads what an earlier step updates waits for it at the end of each."""
    tasks = [op for op in kernel.body.block.ops if isinstance(op, TaskOp)]
    for task in tasks:
        bounds = [constant_bounds(loop) for loop in _step_loops(task)]
        expected = [kernel.steps] if task.unit in kernel.started else []
        if [found.trip if found is not None else 0 for found in bounds] != expected:
            trips = " and ".join(str(found.trip) if found else "?" for found in bounds) or "no"
            wanted = f"{kernel.steps} in one loop" if expected else "none, in a unit that nobody starts"
            yield f"@{task.sym_name.data} computes {trips} steps, expected {wanted}"
    for writer, reader in updates_and_reads(kernel):
        if not _passed_on(tasks, _at_end(writer, WriteOp)) & _at_end(reader, ReadOp):
            names = f"@{reader.sym_name.data} reads in a step what @{writer.sym_name.data} wrote in the one before"
            yield f"{names}, and does not wait for it"


def updates_and_reads(kernel: KernelOp) -> list[tuple[TaskOp, TaskOp]]:
    """Each task that writes what is updated in place, with each that reads it."""
    pairs = dict[tuple[TaskOp, TaskOp], None]()
    for value, place in zip(kernel.terminator.arguments, kernel.places, strict=True):
        if place is not None:
            readers = [use.operation for use in kernel.arguments[place.operand].uses if isinstance(use.operation, TaskOp)]
            writers = [use.operation for use in value.uses if isinstance(use.operation, TaskOp)]
            pairs |= dict.fromkeys((writer, reader) for writer in writers for reader in readers)
    return list(pairs)


def _step_loops(task: TaskOp) -> list[scf.ForOp]:
    return [op for op in task.body.block.ops if isinstance(op, scf.ForOp) and STEPS.on(op)]


def _at_end(task: TaskOp, kind: type[ReadOp] | type[WriteOp]) -> set[SSAValue]:
    """The streams that a task reads, or writes, in a loop at the end of each step, which another loop is in front of."""
    found = set[SSAValue]()
    ports: dict[SSAValue, SSAValue] = dict(zip(task.body.block.args, (*task.ins, *task.outs), strict=True))
    for loop in _step_loops(task):
        effects: list[Operation] = [op for op in loop.body.block.ops if not op.has_trait(Pure) and not isinstance(op, scf.YieldOp)]
        if len(effects) > 1 and isinstance(effects[-1], scf.ForOp):
            found |= {ports[op.stream] for op in effects[-1].walk() if isinstance(op, kind) and op.stream in ports}
    return found


def _passed_on(tasks: list[TaskOp], sent: set[SSAValue]) -> set[SSAValue]:
    """These streams, and those by which tasks that take nothing else hand on what they carry."""
    return sent | {out for task in tasks if {*task.ins} and {*task.ins} <= sent for out in task.outs}
