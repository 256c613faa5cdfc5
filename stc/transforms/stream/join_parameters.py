"""`join-parameters`: parameters that a task brings one after the other become one, with one pointer and one loop."""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass
from itertools import groupby
from math import prod

from xdsl.builder import Builder
from xdsl.context import Context
from xdsl.dialects import memref, scf, tensor
from xdsl.dialects.builtin import MemRefType, ModuleOp, TensorType, VectorType
from xdsl.ir import Attribute, BlockArgument, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.traits import Pure
from xdsl.utils.hints import isa

from stc.analysis.host_work import functions_of, host_values
from stc.analysis.loops import constant_bounds
from stc.dialects import stream
from stc.dialects.dataflow import KernelOp, PackOp, TaskKind, TaskOp
from stc.dialects.facts import BEHIND_LAYERS
from stc.dialects.itensor import ItensorType
from stc.dialects.use_def import arguments_behind
from stc.iteration.order import Coordinate, Loop, StreamOrder
from stc.transforms.index_constant import index_constant
from stc.transforms.linalg.generics import shape_of
from stc.transforms.linalg.in_order import in_order
from stc.transforms.stream.kernel_operands import with_operand, without_operands


@dataclass(frozen=True)
class JoinParameters(ModulePass):
    """Let parameters that a load brings into one stream, one after the other, lie one after the other.

    A port whose parameters take turns (`load-in-turn`) has a pointer and a loop for each of them, and each loop a register for a
    word, and a request whose answer it waits for before the next one begins. Where they go to the same reader
    (`share-contractions`) the host puts them into one tensor, in the order in which they are read: all words of the one before
    those of the other. The load is then one loop over one pointer; words come as they did. What follows the last layer
    (`stc.behind_layers`) stays apart from what each layer has. Joined are parameters that nobody else reads, in whole words without
    padding, loaded word by word.

        dataflow.task @load_in_turn ins(%m = %up : memref<4xW>, %n = %down : memref<2xW>) outs(%o = %weights : ...) kind load {
          scf.for %i = %c0 to %c4 step %c1 { %w = memref.load %m[%i]  stream.write %w into %o }
          scf.for %i = %c0 to %c2 step %c1 { %w = memref.load %n[%i]  stream.write %w into %o }
        }
      becomes
        dataflow.task @load_in_turn ins(%m = %weights_words : memref<6xW>) outs(%o = %weights : ...) kind load {
          scf.for %i = %c0 to %c6 step %c1 { %w = memref.load %m[%i]  stream.write %w into %o }
        }
    """

    name = "join-parameters"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for function in functions_of(op):
            parameters = host_values(function)
            for kernel in [found for found in function.walk() if isinstance(found, KernelOp)]:
                for task in [found for found in kernel.body.block.ops if isinstance(found, TaskOp) and found.kind == TaskKind.LOAD]:
                    _join(kernel, task, parameters)


@dataclass(frozen=True)
class _Segment:
    """A loop that sends all words of a parameter into a stream. `port`: the task's argument; `pack`: what lays the words out."""

    loop: scf.ForOp
    port: BlockArgument
    out: BlockArgument
    pack: PackOp

    @property
    def word(self) -> VectorType:
        kind = self.port.type
        assert isa(kind, MemRefType) and isinstance(kind.element_type, VectorType)
        return kind.element_type

    @property
    def joins(self) -> tuple[SSAValue, VectorType, Attribute, bool]:
        """What neighbours have in common that are to be joined: where they go, in what words, of what entries, and whether behind
        the layers."""
        return self.out, self.word, self.pack.layout.element_type, BEHIND_LAYERS.on(self.loop)


def _join(kernel: KernelOp, task: TaskOp, parameters: Container[SSAValue]) -> None:
    """Join what `task` loads in neighbouring loops."""
    moves = [op for op in task.body.block.ops if not op.has_trait(Pure)]
    found = [_segment(kernel, task, op, parameters) if isinstance(op, scf.ForOp) else None for op in moves]
    for _, group in groupby(found, lambda segment: None if segment is None else segment.joins):
        together = [segment for segment in group if segment is not None]
        if len(together) > 1:
            task = _as_one(kernel, task, together)


def _segment(kernel: KernelOp, task: TaskOp, loop: scf.ForOp, parameters: Container[SSAValue]) -> _Segment | None:
    """The segment that `loop` is; None for any other loop, and for what is not to be joined."""
    match list(loop.body.block.ops):
        case [memref.LoadOp() as read, stream.WriteOp() as write, scf.YieldOp()]:
            port, index = read.memref, list(read.indices)
        case _:
            return None
    if not isinstance(port, BlockArgument) or port.block is not task.body.block or not isa(port.type, MemRefType):
        return None
    outside, bounds = task.ins[port.index], constant_bounds(loop)
    if write.value is not read.res or index != [loop.body.block.args[0]] or bounds is None:
        return None
    if (bounds.lower, bounds.upper, bounds.step) != (0, port.type.get_shape()[0], 1) or not port.has_one_use():
        return None
    if not isinstance(outside, BlockArgument) or not outside.has_one_use() or not isinstance(write.stream, BlockArgument):
        return None
    value = kernel.inputs[outside.index]
    pack = value.owner
    if not isinstance(pack, PackOp) or value not in parameters or not value.has_one_use() or len(pack.stripes) > 1:
        return None
    if not arguments_behind(value):
        return None  # a constant, which layers have in common
    word, order = port.type.element_type, pack.layout.order
    if not isinstance(word, VectorType) or not (order.is_static and order.is_exact):
        return None
    entries = bounds.upper * word.element_count()
    return _Segment(loop, port, write.stream, pack) if entries == prod(order.static_shape) else None


def _as_one(kernel: KernelOp, task: TaskOp, segments: Sequence[_Segment]) -> TaskOp:
    """The task with one segment in place of several neighbours."""
    first, *others = segments
    word = first.word
    packed = _packed(kernel, segments, task.outs[first.out.index - len(task.ins)].name_hint)
    assert isa(packed.type, TensorType)
    (count,) = packed.type.get_shape()
    before = [task.ins[segment.port.index] for segment in segments]
    joined = with_operand(kernel, packed, MemRefType(word, [count]))
    port = Rewriter.replace_value_with_new_type(first.port, joined.type)
    port.name_hint = packed.name_hint
    first.loop.operands[1] = index_constant(Builder(InsertPoint.before(first.loop)), count)
    for segment in others:
        Rewriter.erase_op(segment.loop)
    ins = [joined if value is before[0] else value for value in task.ins if value not in before[1:]]
    for segment in others:
        task.body.block.erase_arg(segment.port)
    made = TaskOp(task.sym_name, ins, task.outs, task.detach_region(task.body), [], task.attributes, task.kind, task.unit)
    Rewriter.replace_op(task, made)
    without_operands(kernel, [value for value in before if isinstance(value, BlockArgument)])
    for segment in segments:
        Rewriter.erase_op(segment.pack)
    return made


def _packed(kernel: KernelOp, segments: Sequence[_Segment], name: str | None) -> SSAValue:
    """The words of all, as the host lays them out, in a tensor called `name`."""
    builder = Builder(InsertPoint.before(kernel))
    packs = [segment.pack for segment in segments]
    flat = [in_order(builder, pack.source, pack.layout.order) for pack in packs]
    entries = sum(shape_of(value)[0] for value in flat)
    kind, word = packs[0].layout.element_type, segments[0].word
    together = builder.insert(tensor.ConcatOp(flat, 0, TensorType(kind, [entries]))).results[0]
    lanes = word.element_count()
    order = StreamOrder((lanes,), (Loop(entries // lanes, lanes),), (Coordinate((0,)),))
    words = TensorType(word, [entries // lanes])
    packed = builder.insert(PackOp(together, ItensorType.from_order(order, kind), words)).result
    together.name_hint = packed.name_hint = name
    return packed
