"""`shrink-converters`: line buffers and single blocks where ping-pong is not needed for the rate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast, get_args

from xdsl.builder import Builder
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from stc.design_space.converter_choice import Serial, Surroundings, smallest_plan
from stc.diagnostics import CompileError
from stc.dialects.dataflow import KernelOp, YieldOp
from stc.dialects.itensor import CastOp, ConverterOp, ItensorType
from stc.transforms.dataflow.connections import convert


@dataclass(frozen=True)
class ShrinkConverters(ModulePass):
    """Give every converter the smallest buffer that costs no time worth mentioning (`stc.design_space.converter_choice`).

    Orders are compared once more, vector by vector. A converter whose block is the whole tensor becomes a line buffer where both
    sides move along one dimension; one with two blocks becomes a line buffer, or gets one block, where the time that filling and
    emptying in turn adds is known to be small against that of the kernel.

    Options: `serial`, whether a converter may receive and send in turn: `never`, `free` (default: where it adds no more than 1/16
    to the kernel's time), or `always` (least memory).

        %c = itensor.converter %s {shared_loops = 0, buffer_shape = [128, 64], blocks = 1} : !Rows to !WindowsOfThreeRows
      becomes
        %c = itensor.converter %s {shared_loops = 0, buffer_shape = [3, 64], blocks = 1, window = 0} : !Rows to !WindowsOfThreeRows
    """

    name = "shrink-converters"

    serial: str = "free"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if self.serial not in get_args(Serial):
            raise CompileError(f"serial is '{self.serial}'", where=self.name, accepted=" or ".join(get_args(Serial)))
        for kernel in [found for found in op.walk() if isinstance(found, KernelOp)]:
            cycles = _least_cycles(kernel)
            for converter in [found for found in kernel.body.block.ops if isinstance(found, ConverterOp)]:
                around = Surroundings(cycles, _comes_from_memory(converter.source), _goes_to_memory(converter.result))
                _shrink(converter, around, cast(Serial, self.serial))


def _shrink(converter: ConverterOp, around: Surroundings, serial: Serial) -> None:
    plan = smallest_plan(converter.plan, around, serial)
    if plan.buffer_entries >= converter.plan.buffer_entries:
        return
    target = converter.result.type
    assert isinstance(target, ItensorType)
    Rewriter.replace_op(converter, [], [convert(Builder(InsertPoint.before(converter)), converter.source, plan, target)])


def _least_cycles(kernel: KernelOp) -> int:
    """The most tokens of one stream of `kernel`: it runs at least as many cycles."""
    block = kernel.body.block
    values = [*block.args, *(result for op in block.ops for result in op.results)]
    orders = [value.type.order for value in values if isinstance(value.type, ItensorType)]
    return max((order.token_count for order in orders if order.is_static), default=0)


def _comes_from_memory(value: SSAValue) -> bool:
    while isinstance(value.owner, CastOp):
        value = value.owner.source
    return isinstance(value.owner, Block)


def _goes_to_memory(value: SSAValue) -> bool:
    users = [use.operation for use in value.uses]
    return all(isinstance(user, YieldOp) or (isinstance(user, CastOp) and _goes_to_memory(user.result)) for user in users)
