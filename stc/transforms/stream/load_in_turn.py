"""`load-in-turn`: parameters of computations that wait for one another come through one memory port."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import MemRefType, ModuleOp
from xdsl.ir import BlockArgument, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint
from xdsl.utils.hints import isa

from stc.analysis.host_work import functions_of, host_values
from stc.analysis.kernel_memory import tensor_bytes
from stc.analysis.task_graph import computing_readers, ends_of, tasks_behind, tasks_of
from stc.design_space.turns import after_all, chains
from stc.dialects.dataflow import KernelOp, TaskKind, TaskOp
from stc.dialects.stream import CreateOp
from stc.transforms.stream.in_turn import in_turn
from stc.transforms.stream.names import UniqueNames, symbols_of


@dataclass(frozen=True)
class LoadInTurn(ModulePass):
    """Let a port bring the parameters of several computations, each after the one before, where a later one waits for an earlier.

    Contractions of a decoder follow one another: while one reads its weights, ports of the others would stand idle. So loads of
    which the reader of the next has to have results of the reader of the one before become one task, with pointers of their own,
    which the C++ bundles into one port; who shares with whom says `stc.design_space.turns`. Words come in the order in which they
    did, into the same streams: only when changes. What the next loads has no port before the one before has all its words, so FIFOs
    that loads fill ahead fill later.

    Only words of one type share a port. What deals out words to several (`interleave-loads`) takes its turn, too, and others may
    come behind what brings small ones for several (`share-ports`). Caches, inputs alone, and what several read keep theirs.

        dataflow.task @load_up ins(%m = %up : memref<64x...>) outs(%o = %s : ...) kind load {...}
        dataflow.task @load_down ins(%m = %down : memref<64x...>) outs(%o = %t : ...) kind load {...}
      becomes, where the reader of %t waits for the reader of %s,
        dataflow.task @load_in_turn ins(%m0 = %up, %m1 = %down) outs(%o0 = %s, %o1 = %t) kind load {...}
    """

    name = "load-in-turn"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for function in functions_of(op):
            parameters = host_values(function)
            for kernel in [found for found in function.walk() if isinstance(found, KernelOp)]:
                names, loads = symbols_of(kernel), loads_in_turn(kernel, parameters)
                for row in [row for row in rows_in_turn(kernel, loads) if len(row) > 1]:
                    _merge(min(row, key=loads.index), row, names)


def loads_in_turn(kernel: KernelOp, parameters: Container[SSAValue]) -> list[TaskOp]:
    """The tasks that may share a port."""
    return [load for load in _loads(kernel, parameters) if not _is_forked(load)]


def _loads(kernel: KernelOp, parameters: Container[SSAValue]) -> Iterator[TaskOp]:
    """The tasks that alone read `parameters`, one or with others (also inputs) that share a port, in streams of their own."""
    updated = {kernel.inputs[at] for at in kernel.updated}
    for task in tasks_of(kernel):
        ports = [port for port in task.ins if isinstance(port, BlockArgument) and isa(port.type, MemRefType) and port.has_one_use()]
        read = {kernel.inputs[port.index] for port in ports}
        is_load = task.kind == TaskKind.LOAD and all(isinstance(out.owner, CreateOp) for out in task.outs)
        if is_load and len(ports) == len(task.ins) and updated.isdisjoint(read) and any(value in parameters for value in read):
            yield task


def _word(port: SSAValue) -> str:
    assert isa(port.type, MemRefType)
    return str(port.type.element_type)


def _is_forked(load: TaskOp) -> bool:
    return any(ends_of(out)[1].kind == TaskKind.FORK for out in load.outs)


def rows_in_turn(kernel: KernelOp, loads: Sequence[TaskOp]) -> list[list[TaskOp]]:
    """The `loads` that share a port, in turn."""
    behind = tasks_behind(kernel)
    order = {task: at for at, task in enumerate(behind)}
    readers = {load: {each for out in load.outs for each in computing_readers(out)} for load in loads}
    words = {load: _word(load.ins[0]) for load in loads}
    in_order = sorted(loads, key=lambda load: min(order[reader] for reader in readers[load]))
    sizes = {load: sum(tensor_bytes(port.type) for port in load.ins) for load in in_order}
    waits = after_all(readers, behind, words)

    def may_follow(later: TaskOp, before: TaskOp) -> bool:
        return len(later.ins) == 1 and waits(later, before)

    return chains(sizes, may_follow, {load: len(load.outs) for load in in_order})


def _merge(first: TaskOp, row: Sequence[TaskOp], names: UniqueNames) -> None:
    """One task for the loads of a row, where the `first` of them stands in the kernel: before all readers."""
    assert first.parent is not None
    for out in [out.owner for load in row for out in load.outs]:
        assert isinstance(out, CreateOp)
        out.detach()
        first.parent.insert_op_before(out, first)
    in_turn(row, names.fresh("load_in_turn"), TaskKind.LOAD, InsertPoint.before(first))
