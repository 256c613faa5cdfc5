"""Tasks that do nothing but read a tensor from memory and send it on: what passes rearrange that are about memory ports."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from xdsl.dialects.builtin import MemRefType
from xdsl.ir import BlockArgument, Operation, SSAValue
from xdsl.utils.hints import isa

from stc.dialects import stream
from stc.dialects.dataflow import KernelOp, TaskKind, TaskOp
from stc.fifo.depths import SHALLOW
from stc.transforms.stream.lower_dmas import port_name
from stc.transforms.stream.names import UniqueNames


@dataclass(frozen=True)
class FlatLoad:
    """A task that does nothing but read `words`, by the kernel's operand `port`, and write `out`."""

    task: TaskOp
    words: MemRefType
    out: stream.CreateOp
    port: int

    @property
    def name(self) -> str:
        port = self.task.operands[0]
        assert isinstance(port, BlockArgument)
        return port_name(port, port.index)


def flat_loads(kernel: KernelOp, of: Collection[SSAValue]) -> list[FlatLoad]:
    """Those of `kernel`, in order, that alone read one of the operands `of`, and write one stream."""
    return [load for op in kernel.body.block.ops if (load := _flat(op)) is not None and kernel.inputs[load.port] in of]


def _flat(op: Operation) -> FlatLoad | None:
    if not isinstance(op, TaskOp) or op.kind != TaskKind.LOAD or len(op.ins) != 1 or len(op.outs) != 1:
        return None
    port, out = op.ins[0], op.outs[0].owner
    if not isinstance(port, BlockArgument) or not isa(port.type, MemRefType) or not isinstance(out, stream.CreateOp):
        return None
    return FlatLoad(op, port.type, out, port.index) if port.has_one_use() else None


def arriving_words(load: FlatLoad, names: UniqueNames) -> stream.CreateOp:
    """A stream that brings a load its words, in place of memory."""
    (count,) = load.words.get_shape()
    create = stream.CreateOp(names.fresh(f"{load.name}_words"), stream.StreamType(load.words.element_type, SHALLOW), count, count)
    create.result.name_hint = create.sym_name.data
    return create
