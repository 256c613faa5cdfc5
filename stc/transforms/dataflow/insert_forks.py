"""`insert-forks`: every stream gets exactly one reader."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.builder import Builder
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint

from stc.dialects.dataflow import KernelOp
from stc.dialects.itensor import ForkOp, ItensorType


@dataclass(frozen=True)
class InsertForks(ModulePass):
    """Duplicate every itensor of a kernel that is read more than once, so that each stream has one reader.

        %a = dataflow.task @f ins(... = %x : !X) ...
        %b = dataflow.task @g ins(... = %x : !X) ...
      becomes
        %x0, %x1 = itensor.fork %x : !X to !X, !X
        %a = dataflow.task @f ins(... = %x0 : !X) ...
        %b = dataflow.task @g ins(... = %x1 : !X) ...
    """

    name = "insert-forks"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for kernel in [found for found in op.walk() if isinstance(found, KernelOp)]:
            block = kernel.body.block
            values = [*block.args, *(result for inner in block.ops for result in inner.results)]
            for value in values:
                if isinstance(value.type, ItensorType) and len(list(value.uses)) > 1:
                    _fork(value, block)


def _fork(value: SSAValue, block: Block) -> None:
    uses = sorted(value.uses, key=lambda use: (_position(block, use.operation), use.index))
    point = InsertPoint.at_start(block) if isinstance(value.owner, Block) else InsertPoint.after(value.owner)
    fork = Builder(point).insert(ForkOp(value, len(uses)))
    for use, branch in zip(uses, fork.results, strict=True):
        branch.name_hint = value.name_hint
        use.operation.operands[use.index] = branch


def _position(block: Block, op: object) -> int:
    return next(index for index, candidate in enumerate(block.ops) if candidate is op)
