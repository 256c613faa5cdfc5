"""`lower-tasks`: tasks over itensors become tasks over streams and local buffers (bufferization)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from xdsl.builder import Builder
from xdsl.context import Context
from xdsl.dialects import memref, scf, tensor, vector
from xdsl.dialects.builtin import DYNAMIC_INDEX, IndexType, MemRefType, ModuleOp, TensorType, VectorType
from xdsl.dialects.linalg import ops as linalg
from xdsl.ir import Attribute, Block, Operation, OpResult, Region, SSAValue
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import PatternRewriter, PatternRewriteWalker, RewritePattern, op_type_rewrite_pattern
from xdsl.rewriter import InsertPoint
from xdsl.utils.hints import isa

from stc.diagnostics import CompileError
from stc.dialects import itensor, stream
from stc.dialects.dataflow import KernelOp, OwnKernelOp, TaskOp, YieldOp
from stc.dialects.facts import NAME
from stc.dialects.itensor import ItensorType
from stc.transforms.index_constant import index_constant
from stc.transforms.stream.bridges import consumed_stream, produced_stream, token_type
from stc.transforms.stream.models import own_kernel_on_streams
from stc.transforms.stream.names import symbols_of


@dataclass(frozen=True)
class LowerTasks(ModulePass):
    """Lower every task whose ports are itensors of vectors.

    Each result becomes a stream (bridged by `stream.to_itensor`), each input the stream behind it
    (`stream.from_itensor`). Tensors inside a task live in local buffers: destination-passing style says which value may
    take over whose storage, and a destination that is used twice is copied. Reads put vectors into tiles, writes take
    them out:

        %v = itensor.read %p[%i, %a] : !X -> tensor<1x8xf32>
        %t1 = tensor.insert_slice %v into %t0[%a, 0] [1, 8] [1, 1] : tensor<1x8xf32> into tensor<16x8xf32>
      becomes
        %v = stream.read %p : !stream.stream<vector<8xf32>, depth: 2>
        vector.store %v, %buffer[%a, %c0] : memref<16x8xf32>, vector<8xf32>

    Elements that are not vectors (run `vectorize-streams` first) and tensors without a buffer are errors.
    """

    name = "lower-tasks"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        PatternRewriteWalker(LowerTask(), apply_recursively=False).rewrite_module(op)
        PatternRewriteWalker(DropUnusedBridge()).rewrite_module(op)


class LowerTask(RewritePattern):
    """A task on itensors becomes one on streams; its neighbours see itensors through bridges until it is their turn."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: TaskOp, rewriter: PatternRewriter) -> None:
        kernel = op.parent_op()
        if not isinstance(kernel, KernelOp) or not any(isinstance(result.type, ItensorType) for result in op.results):
            return
        names = symbols_of(kernel)
        ins = [consumed_stream(rewriter, value) if isinstance(value.type, ItensorType) else value for value in op.ins]
        read = [result for result in op.results if result.uses]
        produced = [produced_stream(rewriter, result, names.fresh(_stream_name(op, result.index))) for result in read]
        block = Block(arg_types=[value.type for value in (*ins, *produced)])
        outs = dict(zip(op.carried_ports, op.results, strict=True))
        retained = [*op.input_ports, *(port for port, result in outs.items() if result in read)]
        for old, new in zip(retained, block.args, strict=True):
            new.name_hint = old.name_hint
        unread: set[SSAValue] = {port for port, result in outs.items() if result not in read}
        _Bufferizer(op, block, dict(zip(retained, block.args, strict=True)), unread).run()
        destinations = [value.owner for value in op.outs]
        rewriter.replace(op, TaskOp(op.sym_name.data, ins, produced, block, [], op.attributes, op.kind), [None] * len(op.results))
        for out in destinations:
            if isinstance(out, itensor.EmptyOp | itensor.InstanceOp) and not out.result.uses:
                rewriter.erase(out)


class DropUnusedBridge(RewritePattern):
    """An itensor of a stream that nobody takes goes."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: stream.ToItensorOp, rewriter: PatternRewriter) -> None:
        if not op.result.uses:
            rewriter.erase(op)


def _stream_name(task: TaskOp, index: int) -> str:
    """A stream is called after the value it carries."""
    suffix = f"_{index}" if len(task.results) > 1 else ""
    return f"{task.results[index].name_hint or task.sym_name.data + suffix}_stream"


@dataclass
class _Bufferizer:
    """Rebuilds a task's body over streams and memrefs in `block`."""

    task: TaskOp
    block: Block
    values: dict[SSAValue, SSAValue]
    """Scalars and streams: old value to new."""
    unread: set[SSAValue] = field(default_factory=set)
    """Itensors that nobody reads (the maximum, where only its position is wanted): nothing is written to them."""
    buffers: dict[SSAValue, SSAValue] = field(default_factory=dict)
    """Tensors: value to the memref that holds it."""
    vectors: dict[SSAValue, SSAValue] = field(default_factory=dict)
    """Tokens just read, not yet in any buffer."""

    def run(self) -> None:
        old = self.task.body.block
        body = Builder(InsertPoint.at_end(self.block))
        self.allocations: list[memref.AllocOp] = []
        self._ops(body, old)
        body.insert(YieldOp())
        if self.block.first_op is not None:
            Builder(InsertPoint.before(self.block.first_op)).insert(self.allocations)

    # Dispatch ---------------------------------------------------------------------------------------------------------

    def _ops(self, builder: Builder, block: Block) -> None:
        for op in block.ops:
            match op:
                case YieldOp() | scf.YieldOp() | tensor.EmptyOp() | itensor.EmptyOp():
                    continue
                case itensor.ReadOp():
                    token = builder.insert(stream.ReadOp(self.values[op.source]))
                    self.vectors[op.result] = token.result
                case itensor.WriteOp() if op.destination in self.unread:
                    self.unread.add(op.result)
                case itensor.WriteOp():
                    builder.insert(stream.WriteOp(self._token(builder, op.value), self.values[op.destination]))
                    self.values[op.result] = self.values[op.destination]
                case OwnKernelOp():
                    builder.insert(own_kernel_on_streams(op, self.values))
                    self.values |= dict(zip(op.outputs, (self.values[value] for value in op.outs), strict=True))
                case tensor.InsertSliceOp():
                    self._insert_slice(builder, op)
                case tensor.ExtractSliceOp():
                    self._extract_slice(builder, op)
                case linalg.FillOp():
                    buffer = self._destination(builder, op.outputs[0], op)
                    builder.insert(linalg.FillOp([self.values[op.inputs[0]]], [buffer], [])).attributes |= op.attributes
                    self.buffers[op.results[0]] = buffer
                case linalg.GenericOp():
                    self._generic(builder, op)
                case scf.ForOp():
                    self._for(builder, op)
                case scf.IfOp():
                    self._if(builder, op)
                case _:
                    self._scalar(builder, op)

    def _scalar(self, builder: Builder, op: Operation) -> None:
        if any(isa(value.type, TensorType) for value in (*op.operands, *op.results)) or op.regions:
            raise CompileError(f"'{op.name}' has no form on buffers", where=self.task.sym_name.data, accepted="linalg on tiles")
        clone = op.clone(dict(self.values))
        for old, new in zip(op.results, clone.results, strict=True):
            new.name_hint = old.name_hint
            self.values[old] = new
        builder.insert(clone)

    # Tensors ----------------------------------------------------------------------------------------------------------

    def _allocate(self, type_: Attribute, hint: str | None) -> SSAValue:
        assert isa(type_, TensorType)
        allocation = memref.AllocOp([], [], MemRefType(type_.element_type, type_.get_shape()))
        allocation.memref.name_hint = hint
        self.allocations.append(allocation)
        return allocation.memref

    def _buffer(self, builder: Builder, value: SSAValue) -> SSAValue:
        """The memref that holds `value`; a token just read is stored into one first."""
        if value in self.vectors and value not in self.buffers:
            buffer = self._allocate(value.type, value.name_hint or _name_of_read(value))
            zero = self._zero(builder)
            _store(builder, self.vectors[value], buffer, [zero] * len(_shape(value)))
            self.buffers[value] = buffer
        if value not in self.buffers:
            raise CompileError(
                f"tensor of type {value.type} has no buffer",
                where=self.task.sym_name.data,
                accepted="tiles read or computed in the task",
            )
        return self.buffers[value]

    def _destination(self, builder: Builder, value: SSAValue, user: Operation) -> SSAValue:
        """A memref `user` may overwrite, which starts with the contents of `value` (none if it is an empty tensor).

        The value's own buffer serves if nobody else uses it, and if it is made anew whenever `user` runs.
        """
        if isinstance(value.owner, tensor.EmptyOp):
            return self._allocate(value.type, value.name_hint or _name_of_tile(user, value))
        buffer = self._buffer(builder, value)
        block = value.owner if isinstance(value.owner, Block) else value.owner.parent_block()
        if len(list(value.uses)) <= 1 and block is user.parent_block():
            return buffer
        copy = self._allocate(value.type, value.name_hint)
        builder.insert(memref.CopyOp(buffer, copy))
        return copy

    def _token(self, builder: Builder, value: SSAValue) -> SSAValue:
        """The vector that a tile of one vector holds."""
        if value in self.vectors:
            return self.vectors[value]
        if isinstance(piece := value.owner, tensor.ExtractSliceOp) and value not in self.buffers:
            indices = self._indices(builder, piece)
            return _load(builder, self._buffer(builder, piece.source), indices, token_type(value.type))
        buffer = self._buffer(builder, value)
        return _load(builder, buffer, [self._zero(builder)] * len(_shape(value)), token_type(value.type))

    def _generic(self, builder: Builder, op: linalg.GenericOp) -> None:
        inputs = [self._buffer(builder, v) if isa(v.type, TensorType) else self.values[v] for v in op.inputs]
        outs = [self._destination(builder, value, op) for value in op.outputs]
        body = op.body.clone()
        for inner in body.walk():
            for index, operand in enumerate(inner.operands):
                if operand in self.values:
                    inner.operands[index] = self.values[operand]
        new = builder.insert(linalg.GenericOp(inputs, outs, body, op.indexing_maps, op.iterator_types, []))
        new.attributes |= op.attributes
        self.buffers |= dict(zip(op.results, outs, strict=True))

    def _insert_slice(self, builder: Builder, op: tensor.InsertSliceOp) -> None:
        into = self._accumulating(builder, op)
        self.buffers[op.result] = into
        indices = self._indices(builder, op)
        if op.source in self.vectors:
            _store(builder, self.vectors[op.source], into, indices)
            return
        source = self._buffer(builder, op.source)
        if not _is_view_of(source, into, op):
            builder.insert(memref.CopyOp(source, self._view(builder, into, op)))

    def _accumulating(self, builder: Builder, op: tensor.InsertSliceOp) -> SSAValue:
        """The buffer an insert_slice writes to: the destination's own, since slices are read before they are replaced."""
        if isinstance(op.dest.owner, tensor.EmptyOp):
            return self._allocate(op.dest.type, op.dest.name_hint or "tile")
        others = [use.operation for use in op.dest.uses if use.operation not in (op, _without_branch(op))]
        if all(isinstance(other, tensor.ExtractSliceOp) for other in others):
            return self._buffer(builder, op.dest)
        return self._destination(builder, op.dest, op)

    def _extract_slice(self, builder: Builder, op: tensor.ExtractSliceOp) -> None:
        if all(isinstance(use.operation, itensor.WriteOp) for use in op.result.uses):
            return  # `_token` loads the vector where it is written
        self.buffers[op.result] = self._view(builder, self._buffer(builder, op.source), op)

    def _view(self, builder: Builder, buffer: SSAValue, op: tensor.ExtractSliceOp | tensor.InsertSliceOp) -> SSAValue:
        dynamic = [self.values[offset] for offset in op.offsets]
        assert isa(buffer.type, MemRefType)
        sizes = op.static_sizes.get_values()
        static = op.static_offsets.get_values()
        view_type = memref.SubviewOp.from_static_parameters(
            buffer, buffer.type, [0] * len(sizes), sizes, [1] * len(sizes)
        ).result.type
        mixed = iter(dynamic)
        offsets = [next(mixed) if offset == DYNAMIC_INDEX else offset for offset in static]
        return builder.insert(memref.SubviewOp.get(buffer, offsets, sizes, [1] * len(sizes), view_type)).result

    def _indices(self, builder: Builder, op: tensor.ExtractSliceOp | tensor.InsertSliceOp) -> list[SSAValue]:
        dynamic = iter(op.offsets)
        return [
            self.values[next(dynamic)] if offset == DYNAMIC_INDEX else self._constant(builder, offset)
            for offset in op.static_offsets.get_values()
        ]

    # Control ----------------------------------------------------------------------------------------------------------

    def _for(self, builder: Builder, op: scf.ForOp) -> None:
        old = op.body.block
        block = Block(arg_types=[IndexType()])
        block.args[0].name_hint = old.args[0].name_hint
        self.values[old.args[0]] = block.args[0]
        for arg, init in zip(old.args[1:], op.iter_args, strict=True):
            if init in self.unread:
                self.unread.add(arg)
            elif isinstance(init.type, ItensorType):
                self.values[arg] = self.values[init]
            else:
                self.buffers[arg] = self._destination(builder, init, op)
        inner = Builder(InsertPoint.at_end(block))
        self._ops(inner, old)
        terminator = old.last_op
        assert isinstance(terminator, scf.YieldOp)
        for arg, yielded, result in zip(old.args[1:], terminator.operands, op.results, strict=True):
            self._carry(inner, arg, yielded, result)
        inner.insert(scf.YieldOp())
        lower, upper, step = (self.values[value] for value in (op.lb, op.ub, op.step))
        builder.insert(scf.ForOp(lower, upper, step, [], block)).attributes |= op.attributes

    def _carry(self, builder: Builder, arg: SSAValue, yielded: SSAValue, result: SSAValue) -> None:
        if arg in self.unread:
            self.unread.add(result)
            return
        if isinstance(arg.type, ItensorType):
            self.values[result] = self.values[arg]
            return
        buffer, new = self.buffers[arg], self._buffer(builder, yielded)
        if new is not buffer:
            builder.insert(memref.CopyOp(new, buffer))
        self.buffers[result] = buffer

    def _if(self, builder: Builder, op: scf.IfOp) -> None:
        """The branch works on what its results are without it; CompileError where the other branch computes something too."""
        otherwise = op.false_region.block.last_op
        assert isinstance(otherwise, scf.YieldOp)
        if otherwise is not op.false_region.block.first_op:
            raise CompileError("both branches compute", where=self.task.sym_name.data, accepted="a guard without an else branch")
        then = Block()
        inner = Builder(InsertPoint.at_end(then))
        self._ops(inner, op.true_region.block)
        changed = op.true_region.block.last_op
        assert changed is not None
        for result, value, new in zip(op.results, otherwise.operands, changed.operands, strict=True):
            if value in self.unread:
                self.unread.add(result)
            elif isinstance(result.type, ItensorType):
                self.values[result] = self.values[value]
            else:
                self.buffers[result] = self._changed_by(builder, value, op)
                if (made := self._buffer(inner, new)) is not self.buffers[result]:
                    inner.insert(memref.CopyOp(made, self.buffers[result]))
        inner.insert(scf.YieldOp())
        builder.insert(scf.IfOp(self.values[op.cond], [], Region(then)))

    def _changed_by(self, builder: Builder, value: SSAValue, op: scf.IfOp) -> SSAValue:
        """The buffer of `value` if nobody but the guarded branch uses it, each time that it is made; else a copy."""
        if _is_owned_by(value, op):
            return self._buffer(builder, value)
        copy = self._allocate(value.type, value.name_hint)
        builder.insert(memref.CopyOp(self._buffer(builder, value), copy))
        return copy

    # Scalars ----------------------------------------------------------------------------------------------------------

    def _zero(self, builder: Builder) -> SSAValue:
        return self._constant(builder, 0)

    def _constant(self, builder: Builder, value: int) -> SSAValue:
        return index_constant(builder, value)


def _without_branch(op: tensor.InsertSliceOp) -> Operation | None:
    """What yields the destination of `op` unchanged where the guard that `op` stands in does not hold."""
    guard = op.parent_op()
    return guard.false_region.block.last_op if isinstance(guard, scf.IfOp) and _is_owned_by(op.dest, guard) else None


def _is_owned_by(value: SSAValue, op: scf.IfOp) -> bool:
    """Whether `value` is made where `op` stands, and used inside it alone."""
    block = value.owner if isinstance(value.owner, Block) else value.owner.parent_block()
    return block is op.parent_block() and all(op.is_ancestor(use.operation) for use in value.uses)


def _name_of_read(value: SSAValue) -> str | None:
    """What a token just read is called: as the port it comes from."""
    return value.owner.source.name_hint if isinstance(value.owner, itensor.ReadOp) else None


def _name_of_tile(op: Operation, value: SSAValue) -> str:
    """What the tile that `op` makes is called: as the operation, numbered where it makes several."""
    name = NAME.of(op)
    if name is None:
        return "tile"
    return f"{name}_{list(op.operands).index(value)}" if len(op.results) > 1 else name


def _shape(value: SSAValue) -> Sequence[int]:
    assert isa(value.type, TensorType)
    return value.type.get_shape()


def _is_view_of(source: SSAValue, buffer: SSAValue, op: tensor.InsertSliceOp) -> bool:
    """Whether `source` is already the part of `buffer` that `op` would copy it to."""
    view = source.owner
    if not isinstance(view, memref.SubviewOp) or view.source is not buffer:
        return False
    piece = _origin(op.source)
    return (
        isinstance(piece, tensor.ExtractSliceOp)
        and piece.static_offsets == op.static_offsets
        and tuple(piece.offsets) == tuple(op.offsets)
        and piece.static_sizes == op.static_sizes
    )


def _origin(value: SSAValue) -> Operation | Block:
    """The op whose buffer a chain of destination-passing ops works in."""
    owner = value.owner
    if isinstance(value, OpResult) and isinstance(owner, linalg.GenericOp):
        return _origin(owner.outputs[value.index])
    return owner


def _store(builder: Builder, token: SSAValue, buffer: SSAValue, indices: Sequence[SSAValue]) -> None:
    """Put the lanes of `token` into `buffer` from `indices` on, along the last dimension."""
    if indices:
        builder.insert(vector.StoreOp(token, buffer, indices))
        return
    assert isa(token.type, VectorType)
    scalar = token.type.element_type
    lane = builder.insert(vector.ExtractOp(token, [0], scalar)).result
    builder.insert(memref.StoreOp.get(lane, buffer, []))


def _load(builder: Builder, buffer: SSAValue, indices: Sequence[SSAValue], type_: VectorType) -> SSAValue:
    if indices:
        return builder.insert(vector.LoadOp(buffer, indices, type_)).result
    scalar = builder.insert(memref.LoadOp.get(buffer, [])).res
    return builder.insert(vector.BroadcastOp(scalar, type_)).results[0]
