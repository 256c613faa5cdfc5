"""`load-in-turn`: parameters of computations that wait for one another come through one memory port."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import networkx as nx
from xdsl.context import Context
from xdsl.dialects.builtin import MemRefType, ModuleOp
from xdsl.ir import BlockArgument
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint
from xdsl.utils.hints import isa

from stc.analysis.host_work import functions_of, host_values
from stc.analysis.kernel_memory import tensor_bytes
from stc.analysis.task_graph import computing_reader, ends_of, tasks_of
from stc.design_space.turns import chains
from stc.dialects import stream
from stc.dialects.dataflow import KernelOp, TaskKind, TaskOp
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

    Only words of one type share a port. What `share-ports` has put together, caches, inputs, and what several read keep theirs.

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
                names, position = symbols_of(kernel), {each: at for at, each in enumerate(kernel.body.block.ops)}
                may_share = {index for index, value in enumerate(kernel.inputs) if value in parameters} - set(kernel.updated)
                for row in _rows(kernel, [load for load in tasks_of(kernel) if _is_flat(load, may_share)]):
                    if len(row) > 1:
                        _merge(min(row, key=position.__getitem__), row, names)


def _is_flat(load: TaskOp, may_share: set[int]) -> bool:
    """Whether a task does nothing but read one of these inputs of the kernel into one stream."""
    if load.kind != TaskKind.LOAD or len(load.ins) != 1 or len(load.outs) != 1:
        return False
    port, out = load.ins[0], load.outs[0]
    if not isinstance(port, BlockArgument) or not isa(port.type, MemRefType) or not isinstance(out.owner, stream.CreateOp):
        return False
    return port.index in may_share and port.has_one_use() and ends_of(out)[1].kind != TaskKind.FORK


def _rows(kernel: KernelOp, loads: list[TaskOp]) -> Iterator[list[TaskOp]]:
    """The `loads` that share a port, in turn."""
    behind = _behind(kernel)
    readers = {load: computing_reader(load.outs[0]) for load in loads}
    order = {task: at for at, task in enumerate(behind)}
    by_words: dict[str, dict[TaskOp, int]] = {}
    for load in sorted(loads, key=lambda load: order[readers[load]]):
        words = load.ins[0].type
        assert isa(words, MemRefType)
        by_words.setdefault(str(words.element_type), {})[load] = tensor_bytes(words)
    for sizes in by_words.values():
        yield from chains(sizes, lambda later, before: readers[later] in behind[readers[before]])


def _behind(kernel: KernelOp) -> Mapping[TaskOp, set[TaskOp]]:
    """By task, in topological order, all those that wait for results of it."""
    graph: nx.DiGraph[TaskOp] = nx.DiGraph()
    graph.add_nodes_from(tasks_of(kernel))
    for task in tasks_of(kernel):
        channels = (out for out in task.outs if isinstance(out.owner, stream.CreateOp | stream.BufferOp))
        graph.add_edges_from((task, ends_of(channel)[1]) for channel in channels)
    return {task: nx.descendants(graph, task) for task in nx.topological_sort(graph)}


def _merge(first: TaskOp, row: list[TaskOp], names: UniqueNames) -> None:
    """One task for the loads of a row, where the `first` of them stands in the kernel: before all readers."""
    for load in row:
        create = load.outs[0].owner
        assert isinstance(create, stream.CreateOp) and first.parent is not None
        create.detach()
        first.parent.insert_op_before(create, first)
    in_turn(row, names.fresh("load_in_turn"), TaskKind.LOAD, InsertPoint.before(first))
