"""`fold-itensors`: two tasks that pass tiles in step become one."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.builder import Builder
from xdsl.context import Context
from xdsl.dialects import scf, tensor
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.linalg import ops as linalg
from xdsl.ir import Block, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from stc.analysis.loops import enclosing_loops
from stc.analysis.port_pressure import multiply_accumulates
from stc.analysis.task_cycles import computing_cycles, cycles_once
from stc.analysis.task_graph import shares_multipliers
from stc.design_space.folding import Fold, is_worth_folding
from stc.diagnostics import CompileError
from stc.dialects.dataflow import KernelOp, TaskOp
from stc.dialects.facts import ENDS_LAYERS
from stc.dialects.itensor import EmptyOp, ItensorType, ReadOp, WriteOp
from stc.platforms.task_limits import MAX_MULTIPLY_ACCUMULATES
from stc.transforms.dataflow.elementwise_tasks import ElementwiseTask, elementwise_task
from stc.transforms.linalg.name_ops import module_name
from stc.transforms.stream.names import UniqueNames, symbols_of


@dataclass(frozen=True)
class FoldItensors(ModulePass):
    """Fold an itensor whose writer and reader match exactly: the element-wise reader moves to where its tile is written.

    The writer has one output, which that task alone reads, in all of its loops and in the type in which it is written. The tile
    is passed on as a value: the FIFO goes, and the reader's copy of the tile. The reader's other inputs are read in the writer's
    loops, next to the write, or in front of the loop that does not move them. Not folded: a reader that is not element-wise, and
    an input that does not move with the innermost loop where the writer has reductions around the write; and a reader that needs
    a loop of its own behind the last term of sums whose tile the writer computes at once.

    The merged task computes one after the other, so tasks are folded only while that takes no more cycles than `limit` and little
    longer than the longer one alone (`stc.design_space.folding`), and only as far as one task may do their multiply-accumulates at
    once (emission rule 18).

    Options: `limit` in cycles (default 0: those of the slowest task of the kernel); `added` (default 12): how many percent longer
    than the longer task the merged one may take; a few cycles more it may always take.

        %h = dataflow.task @f ins(%p = %x : !X) outs(...) -> !H { scf.for %i ... { ... itensor.write %t into %o[%i] } }
        %y = dataflow.task @g ins(%q = %h : !H) outs(...) -> !Y { scf.for %i ... { %t = itensor.read %q[%i]
                                                                                  %u = linalg.generic ins(%t) ...
                                                                                  itensor.write %u into %o[%i] } }
      becomes
        %y = dataflow.task @f_and_g ins(%p = %x : !X) outs(...) -> !Y { scf.for %i ... { ...
                                                                                  %u = linalg.generic ins(%t) ...
                                                                                  itensor.write %u into %o[%i] } }
    """

    name = "fold-itensors"

    limit: int = 0
    added: int = 12

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if self.limit < 0:
            raise CompileError(f"limit is {self.limit}", where=self.name, accepted="0, or a number of cycles")
        if self.added < 0:
            raise CompileError(f"added is {self.added}", where=self.name, accepted="percent, at least 0")
        for kernel in [found for found in op.walk() if isinstance(found, KernelOp)]:
            self._fold_kernel(kernel)

    def _fold_kernel(self, kernel: KernelOp) -> None:
        tasks = [found for found in kernel.body.block.ops if isinstance(found, TaskOp)]
        cycles = {task.sym_name.data: computing_cycles(task) for task in tasks}
        limit = self.limit or max(cycles.values(), default=0)
        names = symbols_of(kernel)
        waiting = tasks
        while waiting:
            task = waiting.pop(0)
            pair = _pair(task)
            if pair is None:
                continue
            fold = Fold(task.sym_name.data, pair.reader.task.sym_name.data)
            if pair.may_fold() and is_worth_folding(fold, cycles, limit, self.added):
                waiting.remove(pair.reader.task)
                merged = pair.merge(names)
                cycles[merged.sym_name.data] = computing_cycles(merged)
                waiting.insert(0, merged)


@dataclass(frozen=True)
class _Pair:
    """A task that writes a stream in `write`, and the element-wise task that reads it at port `port`."""

    writer: TaskOp
    write: WriteOp
    reader: ElementwiseTask
    port: int

    def may_fold(self) -> bool:
        """Whether they may be one task, as far as they take: what layers end with stays one of its own."""
        is_last = any(ENDS_LAYERS.on(task) for task in (self.writer, self.reader.task))
        return self.fits_one_task() and self.keeps_pipeline() and not is_last

    def fits_one_task(self) -> bool:
        """Whether a task may do as many multiply-accumulates at once as both do (emission rule 18)."""
        return multiply_accumulates(self.writer) + multiply_accumulates(self.reader.task) <= MAX_MULTIPLY_ACCUMULATES

    def keeps_pipeline(self) -> bool:
        """Whether loops that reduce, with the write in a branch behind the last term, stay pipelined: where the writer computes a
        tile of sums at once, so does the reader. A loop there would have all iterations around it wait for one another."""
        made = self.write.value.owner
        is_at_once = isinstance(made, linalg.GenericOp) and cycles_once(made) == 1
        is_last_term = isinstance(self.write.parent_op(), scf.IfOp)
        return not (is_at_once and is_last_term and cycles_once(self.reader.generic) > 1)

    def merge(self, names: UniqueNames) -> TaskOp:
        """The one task, in place of both."""
        writer, reader = self.writer, self.reader.task
        name = names.fresh(f"{writer.sym_name.data}_and_{_name_beside(writer, reader)}")
        shared = self._shared_tiles()
        others = [index for index in range(len(reader.ins)) if index not in shared]
        ins = [*writer.ins, *(reader.ins[index] for index in others)]
        outs, results = list(reader.outs), list(reader.outputs)
        body = self._body(others, shared)
        merged = TaskOp(name, ins, outs, body, [result.type for result in results], writer.attributes, writer.kind)
        Builder(InsertPoint.before(reader)).insert(merged)
        merged.outputs[0].name_hint = results[0].name_hint
        results[0].replace_all_uses_with(merged.outputs[0])
        _erase(reader)
        _erase(writer)
        return merged

    def _shared_tiles(self) -> dict[int, SSAValue]:
        """The reader's ports whose tile the writer has: the stream between them, and streams that both read in the same place."""
        shared = {self.port: self.write.value}
        for index, value in enumerate(self.reader.task.ins):
            for port, own in zip(self.writer.input_ports, self.writer.ins, strict=True):
                if own is value and (read := _only_read(port)) is not None and self._is_read_so(read):
                    shared[index] = read.result
        return shared

    def _is_read_so(self, read: ReadOp) -> bool:
        """Whether the reader's own read would come right after `read`."""
        depth = len(read.indices)
        return list(read.indices) == list(self.write.indices)[:depth] and read.parent_block() is self._place(depth).parent_block()

    def _body(self, others: list[int], shared: dict[int, SSAValue]) -> Block:
        """The writer's block, with the reader's other ports and its computation in it."""
        reader = self.reader.task
        block = self.writer.body.block
        result_type = reader.outputs[0].type
        assert isinstance(result_type, ItensorType)
        tiles = dict(shared)
        for index in others:
            old = reader.input_ports[index]
            port = block.insert_arg(old.type, len(block.args) - 1)
            port.name_hint = old.name_hint
            tiles[index] = self._read(port)
        self._compute(tiles)
        _retype(block.args[-1], result_type)
        return self.writer.body.detach_block(block)

    def _compute(self, tiles: dict[int, SSAValue]) -> None:
        """Insert the reader's computation before the write, and write its result instead."""
        builder = Builder(InsertPoint.before(self.write))
        generic = self.reader.generic
        type_ = generic.results[0].type
        empty = builder.insert(tensor.EmptyOp((), type_)).results[0]
        inputs = [tiles[port] for port in self.reader.ports]
        body = generic.body.clone()
        computed = linalg.GenericOp(inputs, [empty], body, generic.indexing_maps, generic.iterator_types, [type_])
        computed.attributes |= generic.attributes
        builder.insert(computed)
        self.write.operands[0] = computed.results[0]

    def _read(self, port: SSAValue) -> SSAValue:
        """A read of another input: in the loops that enumerate it."""
        assert isinstance(port.type, ItensorType)
        depth = len(port.type.order.loops)
        read = ReadOp(port, list(self.write.indices)[:depth])
        return Builder(InsertPoint.before(self._place(depth))).insert(read).result

    def _place(self, depth: int) -> Operation:
        """What stands directly in the first `depth` loops of the write: the next loop, or the write itself."""
        return self.write if depth == len(self.write.indices) else enclosing_loops(self.write, self.writer)[depth]


def _name_beside(writer: TaskOp, reader: TaskOp) -> str:
    """The reader's name, without the module where the writer's name says it already."""
    name, module = reader.sym_name.data, module_name(reader)
    return name.removeprefix(f"{module}_") if writer.sym_name.data.startswith(module) else name


def _pair(writer: TaskOp) -> _Pair | None:
    """The stream of `writer` that may be folded, None where there is none."""
    if len(writer.outputs) != 1 or len(list(writer.outputs[0].uses)) != 1 or shares_multipliers(writer):
        return None
    use = next(iter(writer.outputs[0].uses))
    if not isinstance(use.operation, TaskOp) or (reader := elementwise_task(use.operation)) is None:
        return None
    writes = [op for op in writer.walk() if isinstance(op, WriteOp)]
    if len(writes) != 1 or writes[0].segment is not None or any(isinstance(op, TaskOp) for op in writer.walk() if op is not writer):
        return None
    pair = _Pair(writer, writes[0], reader, use.index)
    return pair if _runs_in_step(pair) else None


def _runs_in_step(pair: _Pair) -> bool:
    """Whether the reader's loops are those that write the stream, and its other inputs can be read in them."""
    task = pair.reader.task
    space = pair.write.itensor_type.order.loops
    ports = [port.type for port in (*task.input_ports, *task.output_ports)]
    spaces = [port.order.loops for port in ports if isinstance(port, ItensorType)]
    if spaces[-1] != space or any(other != space[: len(other)] for other in spaces):
        return False
    hoisted = any(len(other) < len(space) for other in spaces)
    return not hoisted or len(enclosing_loops(pair.write, pair.writer)) == len(space)


def _only_read(port: SSAValue) -> ReadOp | None:
    uses = [use.operation for use in port.uses]
    return uses[0] if len(uses) == 1 and isinstance(uses[0], ReadOp) and uses[0].segment is None else None


def _retype(value: SSAValue, type_: ItensorType) -> None:
    """Give a destination another type wherever it is carried: through loops, guards and writes."""
    if value.type == type_:
        return
    value = Rewriter.replace_value_with_new_type(value, type_)
    for use in list(value.uses):
        match user := use.operation:
            case scf.ForOp():
                _retype(user.body.block.args[use.index - 2], type_)
                _retype(user.results[use.index - 3], type_)
            case WriteOp():
                _retype(user.result, type_)
            case scf.YieldOp() if isinstance(parent := user.parent_op(), scf.IfOp):
                _retype(parent.results[use.index], type_)
            case _:
                continue


def _erase(task: TaskOp) -> None:
    """Erase a task whose results nobody reads, with the destination made for it."""
    destination = task.outs[0].owner
    task.detach()
    task.erase(safe_erase=False)
    if isinstance(destination, EmptyOp) and not destination.result.uses:
        Rewriter.erase_op(destination)
