"""Tasks that fill a stream from an argument of the function, or empty it into a result."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.builder import Builder
from xdsl.dialects import arith, func, memref, scf
from xdsl.dialects.builtin import IntegerAttr, IntegerType, MemRefType, TensorType, VectorType
from xdsl.ir import Attribute, Block, SSAValue
from xdsl.rewriter import InsertPoint

from stc.dialects import stream
from stc.dialects.dataflow import KernelOp, MemoryOp, PackOp, TaskOp, YieldOp
from stc.dialects.itensor import ItensorType
from stc_testing.reduction.kernel_signature import rebuilt
from stc_testing.reduction.signature import add_argument, expose


def tokens_of(create: stream.CreateOp) -> int | None:
    """The tokens that cross a stream, None where it does not say so or external memory cannot hold them as they are."""
    kind = create.result.type
    assert isinstance(kind, stream.StreamType)
    is_truth = isinstance(kind.scalar_type, IntegerType) and kind.scalar_type.width.data == 1
    return None if is_truth else create.tokens


def fill(function: func.FuncOp, kernel: KernelOp, create: stream.CreateOp, tokens: int) -> None:
    """A task right behind `create` that writes `tokens` tokens, which a new argument of the function holds."""
    kind = create.result.type
    assert isinstance(kind, stream.StreamType)
    outside: SSAValue = add_argument(function, _plain_type(kind, tokens), create.sym_name.data)
    if isinstance(kind.element_type, VectorType):
        layout = ItensorType.of([kind.lanes], [tokens], [kind.lanes], [0], kind.scalar_type)
        packed = TensorType(kind.element_type, [tokens])
        outside = Builder(InsertPoint.before(kernel)).insert(PackOp(outside, layout, packed)).result
    kernel.operands = [*kernel.operands, outside]
    memory = kernel.body.block.insert_arg(MemRefType(kind.element_type, [tokens]), len(kernel.body.block.args))
    task = TaskOp(_free_name(kernel, f"fill_{create.sym_name.data}"), [memory], [create.result])
    index, body = _counting(task, tokens)
    value = body.insert(memref.LoadOp.get(task.input_ports[0], [index]))
    body.insert(stream.WriteOp(value, task.output_ports[0]))
    body.insert(scf.YieldOp())
    Builder(InsertPoint.after(create)).insert(task)


def empty(function: func.FuncOp, kernel: KernelOp, streams: Sequence[tuple[stream.CreateOp, int]]) -> KernelOp:
    """Tasks at the end of the kernel that read streams of so many tokens into new results of the kernel and the function."""
    memories: list[SSAValue] = []
    types: list[Attribute] = []
    for create, tokens in streams:
        kind = create.result.type
        assert isinstance(kind, stream.StreamType)
        memory = MemoryOp(_free_name(kernel, f"all_of_{create.sym_name.data}"), MemRefType(kind.element_type, [tokens]))
        task = TaskOp(_free_name(kernel, f"empty_{create.sym_name.data}"), [create.result], [memory.result])
        index, body = _counting(task, tokens)
        value = body.insert(stream.ReadOp(task.input_ports[0]))
        body.insert(memref.StoreOp.get(value, task.output_ports[0], [index]))
        body.insert(scf.YieldOp())
        Builder(InsertPoint.before(kernel.terminator)).insert(memory)
        Builder(InsertPoint.before(kernel.terminator)).insert(task)
        memories.append(memory.result)
        types.append(TensorType(kind.element_type, [tokens]))
    count = len(kernel.outputs)
    new = rebuilt(kernel, [*kernel.terminator.arguments, *memories], [*kernel.result_types, *types], range(count))
    expose(function, new.outputs[count:])
    return new


def _plain_type(kind: stream.StreamType[Attribute], tokens: int) -> TensorType[Attribute]:
    return TensorType(kind.scalar_type, [tokens * kind.lanes])


def _counting(task: TaskOp, tokens: int) -> tuple[SSAValue, Builder]:
    """A loop over `tokens` iterations as the body of a task: its index, and a builder in it."""
    builder = Builder(InsertPoint.at_end(task.body.block))
    zero, many, one = (builder.insert(arith.ConstantOp(IntegerAttr.from_index_int_value(value))) for value in (0, tokens, 1))
    block = Block(arg_types=[zero.result.type])
    builder.insert(scf.ForOp(zero.result, many.result, one.result, [], block))
    builder.insert(YieldOp())
    return block.args[0], Builder(InsertPoint.at_end(block))


def _free_name(kernel: KernelOp, name: str) -> str:
    taken = {getattr(op, "sym_name").data for op in kernel.body.block.ops if hasattr(op, "sym_name")}  # noqa: B009
    return next(candidate for candidate in (name, *(f"{name}_{k}" for k in range(len(taken)))) if candidate not in taken)
