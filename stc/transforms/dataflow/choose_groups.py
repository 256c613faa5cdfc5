"""`choose-groups`: which kernels become one accelerator."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import networkx as nx
from xdsl.context import Context
from xdsl.dialects import func, tensor
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import Attribute, Operation, OpResult, SSAValue
from xdsl.passes import ModulePass

from stc.analysis.handed_on import handed_on
from stc.analysis.host_parts import given_arguments
from stc.analysis.host_work import functions_of, host_values
from stc.analysis.kernel_memory import bytes_of_entries, itensor_bytes, local_bytes, tensor_bytes
from stc.analysis.run_time_sizes import RunTimeSizes
from stc.analysis.task_graph import ports_of_results
from stc.design_space.fusion import FusionEdge, FusionKernel
from stc.design_space.turns import after_all, chains, dealt_to_ports
from stc.diagnostics import CompileError
from stc.dialects.dataflow import KernelOp
from stc.dialects.itensor import ItensorType, complaint_about_reorder
from stc.dialects.itensor.type import at_largest
from stc.dialects.updates import is_inserted, is_update, is_updated
from stc.dialects.use_def import RESHAPES, through_reshapes, used_by, uses_through
from stc.fifo.depths import SHALLOW
from stc.platforms.platform import load_platform
from stc.strategies.fusion import FUSION, FusionProblem, in_order, joined
from stc.transforms.dataflow.connections import converter_bytes
from stc.transforms.dataflow.kernel_results import refuse_in_place
from stc.transforms.dataflow.slices import ports_of_slice
from stc.transforms.linalg.tile_linalg import element_type
from stc.transforms.shared_parameters import shared_parameters, shared_results
from stc.transforms.stream.names import UniqueNames


@dataclass(frozen=True)
class ChooseGroups(ModulePass):
    """Choose, under a budget of on-chip memory, which kernels are merged into one (docs/design/method.md section 5).

    Sets the `group` of every kernel: the name of the kernel it is to become a part of. What a group costs is its kernels' tiles and
    accumulators, and for each tensor that stays inside its FIFO and the converter between the two orders. Kernels with work of the
    host in between (its own, or a part of the model that PyTorch runs there: `stc.host`) stay apart, and so do those that together
    have more memory ports than the platform. Kernels that read a tensor
    that is updated in place, and those that make what is written to it, become one, whatever the strategy says.

    Options: `on-chip` in bytes (default 0: what `platform` has on chip), `platform` (default u55c), `kernel-name` of
    the groups (default: the function's name), with an index where there are several, `strategy` that chooses them (default greedy;
    `stc.strategies.fusion`), `in-turn` (default false): whether ports will bring parameters of several kernels, one after the other
    (`load-in-turn`, and `interleave-loads`), `layers` (default 1): how many a launch will compute, which is the work of one kernel
    (`repeat-layers`): of more than one layer all kernels become one, whatever the strategy says.

        %h = dataflow.kernel @a(%x = %in : tensor<8x8xf32> as !X) -> (tensor<8x8xf32> as !H) {...}
        %y = dataflow.kernel @b(%p = %h : tensor<8x8xf32> as !P) -> (tensor<8x8xf32> as !Y) {...}
      becomes
        %h = dataflow.kernel @a(%x = %in : tensor<8x8xf32> as !X) -> (tensor<8x8xf32> as !H) group @main {...}
        %y = dataflow.kernel @b(%p = %h : tensor<8x8xf32> as !P) -> (tensor<8x8xf32> as !Y) group @main {...}
    """

    name = "choose-groups"

    on_chip: int = 0
    platform: str = "u55c"
    kernel_name: str = ""
    strategy: str = FUSION.default
    in_turn: bool = False
    layers: int = 1

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        platform = load_platform(self.platform)
        on_chip = self.on_chip or platform.usable_on_chip_bytes
        for function in functions_of(op):
            _order_by_host_parts(function, self.name)
            kernels = [found for found in function.body.block.ops if isinstance(found, KernelOp)]
            if not kernels:
                continue
            refuse_in_place(kernels, self.name)
            keys = UniqueNames()
            by_key = {keys.fresh(kernel.sym_name.data): kernel for kernel in kernels}
            read = [operand for kernel in kernels for operand in _outside(kernel)]
            known, sizes, memory = host_values(function), RunTimeSizes(function), platform.memory
            inputs = {operand for operand in read if not is_updated(operand) and not sizes.single(operand)}
            inputs -= handed_on(function, inputs, known, self.layers)
            shared = shared_parameters(read, known, memory, inputs)
            written = [result for kernel in kernels for result in _retained(kernel)]
            stored = shared_results(written if self.layers == 1 else (), read, known, memory)
            edges = list(_edges(function, {kernel: key for key, kernel in by_key.items()}, on_chip))
            if self.in_turn:
                shared |= _interleaved(kernels, known, shared)
                stored |= _put_together(kernels, stored)
                shared |= _in_turn(by_key, edges, known, shared)
            nodes = [_node(key, kernel, shared, stored) for key, kernel in by_key.items()]
            together = [[*by_key]] if self.layers > 1 else _updating(function, {kernel: key for key, kernel in by_key.items()})
            problem = FusionProblem(nodes, edges, on_chip, platform.memory.max_ports, together)
            groups = in_order(problem, joined(problem, FUSION.decide(self.strategy, problem), together))
            stem = self.kernel_name or function.sym_name.data
            for index, group in enumerate(groups):
                name = StringAttr(stem if len(groups) == 1 else f"{stem}_{index}")
                for key in group:
                    by_key[key].group = name


def _updating(function: func.FuncOp, key_of: Mapping[KernelOp, str]) -> list[list[str]]:
    """For each tensor that is updated in place, the kernels that read it or part of it, and those that make what is written to it.

    One kernel has to do both: launches of two could only be ordered by the host.
    """
    found: dict[SSAValue, list[str]] = {}
    for insert in function.body.block.ops:
        if not isinstance(insert, tensor.InsertSliceOp) or not is_update(insert):
            continue
        made = through_reshapes(insert.source)
        kernels = [made.owner, *(use.operation for use in uses_through(insert.dest, (*RESHAPES, tensor.ExtractSliceOp)))]
        keys = [key_of[kernel] for kernel in kernels if isinstance(kernel, KernelOp)]
        found.setdefault(insert.dest, []).extend(keys)
    return [list(dict.fromkeys(keys)) for keys in found.values()]


def _interleaved(
    kernels: Sequence[KernelOp], parameters: Container[SSAValue], shared: Mapping[SSAValue, int]
) -> dict[SSAValue, int]:
    """The number of the port that brings each slice of a parameter for one of several copies (`stc.ports`)."""
    slices: dict[tuple[int, SSAValue], list[SSAValue]] = {}
    for operand in [each for kernel in kernels for each in _outside(kernel) if each in parameters and each not in shared]:
        if (said := ports_of_slice(operand)) is not None:
            slices.setdefault(said, []).append(operand)
    rows = [row for (ports, _), operands in slices.items() for row in dealt_to_ports(operands, ports)]
    return {operand: number for number, row in enumerate(rows, len({*shared.values()})) for operand in row}


def _put_together(kernels: Sequence[KernelOp], stored: Mapping[SSAValue, int]) -> dict[SSAValue, int]:
    """The number of the port by which results leave of copies that say that one is enough: those that one operation puts together.
    """
    made = [result for kernel in kernels if ports_of_results(kernel) == 1 for result in _retained(kernel) if result not in stored]
    users = {result: next(use.operation for use in result.uses if not isinstance(use.operation, KernelOp)) for result in made}
    numbers = {user: number for number, user in enumerate(dict.fromkeys(users.values()), len({*stored.values()}))}
    return {result: numbers[user] for result, user in users.items()}


def _in_turn(
    kernels: Mapping[str, KernelOp], edges: Iterable[FusionEdge], parameters: Container[SSAValue], shared: Mapping[SSAValue, int]
) -> dict[SSAValue, int]:
    """The number of the port that brings each parameter which shares none otherwise: one port those that wait for one another."""
    graph: nx.DiGraph[str] = nx.DiGraph()
    graph.add_nodes_from(kernels)
    graph.add_edges_from((edge.producer, edge.consumer) for edge in edges)
    readers: dict[SSAValue, set[str]] = {}
    for key, kernel in kernels.items():
        for operand in _outside(kernel):
            if operand in parameters and operand not in shared:
                readers.setdefault(operand, set()).add(key)
    behind = {key: nx.descendants(graph, key) for key in kernels}
    words = {value: element_type(value.type) for value in readers}
    rows = chains({value: tensor_bytes(value.type) for value in readers}, after_all(readers, behind, words))
    return {value: number for number, row in enumerate(rows, len({*shared.values()})) for value in row}


def _node(key: str, kernel: KernelOp, shared: Mapping[SSAValue, int], stored: Mapping[SSAValue, int]) -> FusionKernel:
    """`shared`, `stored`: the numbers of ports that operands share, and results."""
    read, written = (
        frozenset(f"port {numbers[value]}" if value in numbers else str(id(value)) for value in values)
        for values, numbers in ((_outside(kernel), shared), (_retained(kernel), stored))
    )
    return FusionKernel(key, local_bytes(kernel), read, written)


def _outside(kernel: KernelOp) -> list[SSAValue]:
    """The operands of a kernel that no kernel makes."""
    return [operand for operand in kernel.inputs if not isinstance(operand.owner, KernelOp)]


def _retained(kernel: KernelOp) -> list[SSAValue]:
    """The results of a kernel that are not for kernels only, nor updates: those go through the port that reads what they update."""
    others = [result for result in kernel.results if any(not isinstance(use.operation, KernelOp) for use in result.uses)]
    return [result for result in others if not is_inserted(result)]


def _edges(function: func.FuncOp, key_of: Mapping[KernelOp, str], on_chip: int) -> Iterator[FusionEdge]:
    """What keeping each tensor on chip costs; more than `on_chip` where it is no stream, or passes through the host."""
    behind: dict[SSAValue, list[KernelOp]] = {}
    names: dict[SSAValue, str] = {}
    parts = given_arguments(function)

    def makers(value: SSAValue) -> list[KernelOp]:
        """The kernels that a value comes from, through the host."""
        if value in parts:
            return list(dict.fromkeys(far for taken in parts[value].takes for far in makers(taken)))
        return behind.get(value, [])

    for op in function.body.block.ops:
        if isinstance(op, KernelOp):
            for operand, port in zip(op.inputs, op.arguments, strict=True):
                cost = _stream_bytes(operand, port.type) or (on_chip + 1, 0)
                kept = any(not isinstance(use.operation, KernelOp) for use in operand.uses)
                tensor = (names.setdefault(operand, f"tensor {len(names)}"), tensor_bytes(operand.type), kept)
                yield from (FusionEdge(key_of[far], key_of[op], *cost, *tensor) for far in makers(operand))
        reached = [op] if isinstance(op, KernelOp) else [*dict.fromkeys(far for value in used_by(op) for far in makers(value))]
        behind |= dict.fromkeys(op.results, reached)


def _order_by_host_parts(function: func.FuncOp, where: str) -> None:
    """Bring the operations into an order in which also those that use what a part on the host gives stand behind those that make
    what it takes; CompileError where there is none."""
    parts = given_arguments(function)
    if not parts:
        return
    block = function.body.block
    ops = list(block.ops)
    number = {op: index for index, op in enumerate(ops)}

    def needed(value: SSAValue) -> set[int]:
        if value in parts:
            return set[int]().union(*(needed(taken) for taken in parts[value].takes))
        return {number[value.owner]} if isinstance(value.owner, Operation) and value.owner in number else set()

    graph: nx.DiGraph[int] = nx.DiGraph()
    graph.add_nodes_from(number.values())
    graph.add_edges_from((first, index) for op, index in number.items() for value in used_by(op) for first in needed(value))
    try:
        order = list(nx.lexicographical_topological_sort(graph))
    except nx.NetworkXUnfeasible:
        what = "an operation computes what a part on the host takes, and needs what it gives"
        raise CompileError(what, where=where, accepted="parts (--host) that a pass does not fuse around") from None
    if order != sorted(order):
        for op in ops:
            op.detach()
        block.add_ops(ops[index] for index in order)


def _stream_bytes(value: SSAValue, required: Attribute) -> tuple[int, int] | None:
    """Bytes of the converter and of the FIFO between two kernels, None where `value` is no stream from one to the other."""
    if not (isinstance(value, OpResult) and isinstance(value.op, KernelOp)):
        return None
    source = value.op.terminator.operands[value.index].type
    if complaint_about_reorder(source, required) is not None:
        return None
    assert isinstance(source, ItensorType) and isinstance(required, ItensorType)
    return converter_bytes(*map(at_largest, (source, required))), _fifo_bytes(value.op, value, at_largest(source))


def _fifo_bytes(producer: KernelOp, value: OpResult, type_: ItensorType) -> int:
    """The most a FIFO for `value` can come to hold, before depths are decided.

    Two elements, unless the producer has another way out: then one branch may have to wait for the other with all of the
    tensor (`stc.design_space.fifo_depths`).
    """
    has_branches = len(producer.results) > 1 or len(list(value.uses)) > 1
    element = bytes_of_entries(type_.order.element_count, type_.element_type)
    return itensor_bytes(type_) if has_branches else min(itensor_bytes(type_), SHALLOW * element)
