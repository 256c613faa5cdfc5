"""`duplicate-loads`: a deep FIFO that only keeps an input for later becomes a second DMA of that input."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from xdsl.builder import Builder
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import Block, BlockArgument, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from stc.analysis.duplicate_loads import DuplicateLoad, record_duplicate_loads
from stc.analysis.external_traffic import bytes_read
from stc.analysis.kernel_memory import bytes_of_entries
from stc.analysis.memory_ports import memory_ports
from stc.analysis.task_graph import ends_of, streams_of, task_graph
from stc.design_space.duplicate_loads import Branch, DuplicateLoadLimits, ForkedTensor, choose_duplicate_loads_of_forks
from stc.dialects import stream
from stc.dialects.dataflow import KernelOp, TaskKind, TaskOp
from stc.fifo.depths import least_depth
from stc.network.graph import Channel
from stc.platforms.budget import SMALL, most_ports
from stc.platforms.platform import load_platform
from stc.transforms.stream.kernel_operands import with_operand
from stc.transforms.stream.names import UniqueNames, symbols_of
from stc.transforms.stream.set_fifo_depths import depths_of_run, set_depths


@dataclass(frozen=True)
class DuplicateLoads(ModulePass):
    """Give branches of a forked input a DMA of their own where their FIFO would hold much of the tensor.

    It follows `set-fifo-depths`: the depth that the bounded run found for a branch says how long that branch has to wait (a
    residual waits for all that happens beside it). The new DMA reads the same packed buffer in the same order, when its
    reader asks for it; the fork loses a branch, and goes with its last but one. Then depths are found again: what else
    was deep because of that branch becomes shallow. `stc.design_space.duplicate_loads` decides: bytes saved against traffic added.
    The kernel's attribute `stc.duplicate_loads` says what was decided.

    Options: `least`: bytes a branch has to save (default -1: the block RAM that the adapter of a memory port takes on
    `platform`; 0: none is read again), `platform` (default u55c), `budget` (default small: all of the
    platform's), whose memory ports are kept as well.

        dataflow.task @load_x ins(%x) outs(%x_stream)
        dataflow.task @fork_x ins(%x_stream) outs(%a : depth 2, %b : depth 4096)
      becomes
        dataflow.task @load_x ins(%x) outs(%x_stream)
        dataflow.task @load_x_2 ins(%x_again) outs(%x_stream_2 : depth 2)
    """

    name = "duplicate-loads"

    least: int = -1
    platform: str = "u55c"
    budget: str = SMALL

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        platform = load_platform(self.platform)
        limits, most = DuplicateLoadLimits.of_option(self.least, platform, self.name), most_ports(self.budget, self.platform)
        for kernel in [found for found in op.walk() if isinstance(found, KernelOp)]:
            forks = _forked_inputs(kernel)
            free_ports = most - len(memory_ports(kernel))
            channels = task_graph(kernel).by_name if forks else {}
            problem = [fork.problem(channels) for fork in forks]
            chosen = {branch.name for branch in choose_duplicate_loads_of_forks(problem, limits, free_ports)}
            if not chosen:
                continue
            names = symbols_of(kernel)
            done = [entry for fork in forks for entry in _read_again(kernel, fork, chosen, names)]
            set_depths(kernel, depths_of_run(kernel))
            record_duplicate_loads(kernel, [entry.duplicate_load() for entry in done])


@dataclass(frozen=True)
class _ForkedInput:
    """`load` reads an operand of the kernel and writes `source`, which `fork` copies."""

    load: TaskOp
    source: stream.CreateOp
    fork: TaskOp

    @property
    def tensor(self) -> str:
        return self.load.operands[0].name_hint or self.load.sym_name.data

    @property
    def branches(self) -> dict[str, stream.CreateOp]:
        """The branches by the name of their stream."""
        creates = [value.owner for value in self.fork.outs]
        return {create.sym_name.data: create for create in creates if isinstance(create, stream.CreateOp)}

    def problem(self, channels: Mapping[str, Channel]) -> ForkedTensor:
        """What a branch saves: the bytes of its FIFO, but for what it still takes between a DMA and its reader."""
        traffic, written = bytes_read(self.load), channels[self.source.sym_name.data].written
        found: list[Branch] = []
        for name, create in self.branches.items():
            needed = least_depth(replace(channels[name], written=written))
            found.append(Branch(name, max(0, _fifo_bytes(create) - needed * _token_bytes(create)), traffic))
        return ForkedTensor(self.tensor, tuple(found))


@dataclass(frozen=True)
class _Done:
    """A branch that has got a DMA of its own; `before`: bytes of its FIFO until then."""

    tensor: str
    create: stream.CreateOp
    before: int
    traffic: int

    def duplicate_load(self) -> DuplicateLoad:
        reader = ends_of(self.create.result)[1].sym_name.data
        return DuplicateLoad(self.tensor, reader, "fifo", self.before - _fifo_bytes(self.create), self.traffic)


def _token_bytes(create: stream.CreateOp) -> int:
    type_ = create.result.type
    assert isinstance(type_, stream.StreamType)
    return bytes_of_entries(type_.lanes, type_.scalar_type)


def _fifo_bytes(create: stream.CreateOp) -> int:
    type_ = create.result.type
    assert isinstance(type_, stream.StreamType)
    return type_.depth * _token_bytes(create)


def _forked_inputs(kernel: KernelOp) -> list[_ForkedInput]:
    found: list[_ForkedInput] = []
    for create in streams_of(kernel):
        writer, reader = ends_of(create.result)
        if writer.kind == TaskKind.LOAD and reader.kind == TaskKind.FORK and _reads_an_operand(writer):
            found.append(_ForkedInput(writer, create, reader))
    return found


def _reads_an_operand(task: TaskOp) -> bool:
    return len(task.operands) == 2 and isinstance(task.operands[0], BlockArgument)


def _read_again(kernel: KernelOp, fork: _ForkedInput, chosen: Collection[str], names: UniqueNames) -> list[_Done]:
    """Detach the branches `chosen` from `fork`: each gets a copy of the load on a port of its own."""
    leaving = [create for name, create in fork.branches.items() if name in chosen]
    if not leaving:
        return []
    done = [_Done(fork.tensor, create, _fifo_bytes(create), bytes_read(fork.load)) for create in leaving]
    remaining = _without_branches(fork.fork, [create.result for create in leaving])
    for create in leaving:
        create.sym_name = StringAttr(names.fresh(fork.source.sym_name.data))
        create.result.name_hint = create.sym_name.data
        _copy_load(kernel, fork.load, create, names)
    if len(remaining.outs) == 1:
        _drop_fork(remaining, fork.source)
    return done


def _copy_load(kernel: KernelOp, load: TaskOp, create: stream.CreateOp, names: UniqueNames) -> None:
    first = load.operands[0]
    assert isinstance(first, BlockArgument)
    port = with_operand(kernel, kernel.inputs[first.index], first.type)
    port.name_hint = first.name_hint
    body = load.body.clone()
    Rewriter.replace_value_with_new_type(body.block.args[1], create.result.type)
    copy = TaskOp(names.fresh(load.sym_name.data), [port], [create.result], body, [], attributes=load.attributes, kind=load.kind)
    Builder(InsertPoint.after(create)).insert(copy)


def _without_branches(fork: TaskOp, dropped: Sequence[SSAValue]) -> TaskOp:
    """The fork with the outputs `dropped` taken out."""
    block = fork.body.block
    ports = {value: port for value, port in zip(fork.operands, block.args, strict=True) if value in dropped}
    for port in ports.values():
        for use in list(port.uses):
            write = use.operation
            Rewriter.erase_op(write)
        block.erase_arg(port)
    outs = [value for value in fork.outs if value not in dropped]
    body = fork.detach_region(fork.body)
    smaller = TaskOp(fork.sym_name, fork.ins, outs, body, [], attributes=fork.attributes, kind=fork.kind)
    Builder(InsertPoint.before(fork)).insert(smaller)
    Rewriter.erase_op(fork)
    return smaller


def _drop_fork(fork: TaskOp, source: stream.CreateOp) -> None:
    """A fork of one branch is a wire: its reader reads what it read."""
    branch = fork.outs[0].owner
    assert isinstance(branch, stream.CreateOp)
    Rewriter.erase_op(fork)
    for use in list(branch.result.uses):
        task, index = use.operation, use.index
        task.operands[index] = source.result
        assert isinstance(task, TaskOp) and isinstance(task.body.block, Block)
        Rewriter.replace_value_with_new_type(task.body.block.args[index], source.result.type)
    Rewriter.erase_op(branch)
