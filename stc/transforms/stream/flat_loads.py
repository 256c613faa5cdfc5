"""Tasks that do nothing but read a tensor from memory and send it on: what passes rearrange that are about memory ports."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from xdsl.dialects.builtin import MemRefType
from xdsl.ir import BlockArgument, Operation, SSAValue
from xdsl.utils.hints import isa

from stc.dialects import stream
from stc.dialects.dataflow import KernelOp, TaskKind, TaskOp
from stc.transforms.stream.lower_dmas import port_name


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
    """Those of `kernel`, in order, that alone read one of the operands `of`."""
    return [load for op in kernel.body.block.ops if (load := _flat(op)) is not None and kernel.inputs[load.port] in of]


def _flat(op: Operation) -> FlatLoad | None:
    if not isinstance(op, TaskOp) or op.kind != TaskKind.LOAD or len(op.operands) != 2:
        return None
    port, out = op.operands
    if not isinstance(port, BlockArgument) or not isa(port.type, MemRefType) or not isinstance(out.owner, stream.CreateOp):
        return None
    return FlatLoad(op, port.type, out.owner, port.index) if port.has_one_use() else None
