"""The body of a task in a loop around it, over layers or over steps of a launch: what is repeated, and which words each has."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.builder import Builder
from xdsl.dialects import arith, memref, scf
from xdsl.dialects.builtin import IndexType, MemRefType
from xdsl.ir import Block, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.utils.hints import isa

from stc.analysis.loops import constant_bounds
from stc.diagnostics import CompileError
from stc.dialects.dataflow import TaskOp, YieldOp
from stc.dialects.facts import DRAINS
from stc.dialects.itensor import SizeOp
from stc.iteration.order import Loop
from stc.transforms.index_constant import index_constant
from stc.transforms.stream.loops import loop_at, loop_nest, total


def repeated_ops(task: TaskOp) -> list[Operation]:
    """What a task does each time: all but its constants, the sizes known at run time, and its arrays."""
    return [op for op in task.body.block.ops if not isinstance(op, arith.ConstantOp | SizeOp | memref.AllocOp | YieldOp)]


def repeats(loop: scf.ForOp) -> bool:
    """Whether a loop may have more than one iteration: with one it is no loop to the tool, which drops it with its pragmas."""
    return (bounds := constant_bounds(loop)) is None or bounds.trip > 1


def repeated_block(builder: Builder, name: str, count: int, body: Sequence[Operation] = ()) -> Block:
    """The body of a new loop that runs `count` times; its induction variable is called `name`."""
    lower, upper, step = (index_constant(builder, number) for number in (0, count, 1))
    block = Block([*body, scf.YieldOp()], arg_types=[IndexType()])
    block.args[0].name_hint = name
    builder.insert(scf.ForOp(lower, upper, step, [], block))
    return block


def once(task: TaskOp, body: Sequence[Operation]) -> scf.ForOp:
    """`body` in a loop of one iteration, which ends with it: alone in the loop around it would be one pipeline for all."""
    for op in body:
        op.detach()
    inside = one_iteration(Builder(InsertPoint.before(task.terminator)))
    for op in body:
        inside.insert(op)
    return loop_at(inside)


def one_iteration(builder: Builder) -> Builder:
    """A new loop of one iteration, which drains."""
    _, inside = loop_nest(builder, [Loop(1, 1)], ["once"])
    DRAINS.put(loop_at(inside), None)
    return inside


def stack_ports(task: TaskOp, count: int) -> dict[SSAValue, int]:
    """Give the memory ports of `task` the types that they have outside, of `count` times as many words; the words of each time."""
    words: dict[SSAValue, int] = {}
    for value, port in zip((*task.ins, *task.outs), task.body.block.args, strict=True):
        if isa(value.type, MemRefType) and value.type != port.type:
            words[Rewriter.replace_value_with_new_type(port, value.type)] = value.type.get_shape()[0] // count
    return words


def offset(task: TaskOp, port: SSAValue, words: int, block: Block, where: str) -> None:
    """Let what `task` accesses through `port` in `block`, the body of a loop, be of its iteration, which has so many `words`."""
    start = block.first_op
    assert start is not None
    builder = Builder(InsertPoint.before(start))
    first = builder.insert(arith.MuliOp(block.args[0], index_constant(builder, words))).result
    first.name_hint = "first_word"
    for use in list(port.uses):
        access = use.operation
        if not isinstance(access, memref.LoadOp | memref.StoreOp):
            what = f"task @{task.sym_name.data} uses external memory in '{access.name}'"
            raise CompileError(what, where=where, accepted="memref.load and memref.store")
        place = len(access.operands) - 1
        access.operands[place] = total(Builder(InsertPoint.before(access)), [first, access.operands[place]])
