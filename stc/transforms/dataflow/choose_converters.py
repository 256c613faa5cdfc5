"""`choose-converters`: line buffers and single blocks where ping-pong is not needed for the rate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast, get_args

from xdsl.builder import Builder
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from stc.design_space.converter_choice import Serial, Surroundings
from stc.diagnostics import CompileError
from stc.dialects.dataflow import KernelOp, TaskOp, YieldOp
from stc.dialects.itensor import CastOp, ConverterOp, ItensorType
from stc.iteration.converter import ConverterPlan
from stc.iteration.order import StreamOrder
from stc.strategies.converters import CONVERTERS, Conversion, ConverterProblem
from stc.transforms.dataflow.connections import convert
from stc.transforms.stream.names import UniqueNames


@dataclass(frozen=True)
class ChooseConverters(ModulePass):
    """Give every converter the smallest buffer that costs no time worth mentioning (`stc.design_space.converter_choice`), or what
    another `strategy` chooses (`stc.strategies.converters`).

    Orders are compared once more, vector by vector. A converter whose block is the whole tensor becomes a line buffer where both
    sides move along one dimension; one with two blocks becomes a line buffer, or gets one block, where the time that filling and
    emptying in turn adds is known to be small against that of the kernel.

    Options: `serial`, whether a converter may receive and send in turn: `never`, `free` (default: where it adds no more than 1/16
    to the kernel's time), or `always` (least memory); `strategy` (default smallest).

        %c = itensor.converter %s {shared_loops = 0, buffer_shape = [128, 64], blocks = 1} : !Rows to !WindowsOfThreeRows
      becomes
        %c = itensor.converter %s {shared_loops = 0, buffer_shape = [3, 64], blocks = 1, window = 0} : !Rows to !WindowsOfThreeRows
    """

    name = "choose-converters"

    serial: str = "free"
    strategy: str = CONVERTERS.default

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if self.serial not in get_args(Serial):
            raise CompileError(f"serial is '{self.serial}'", where=self.name, accepted=" or ".join(get_args(Serial)))
        for kernel in [found for found in op.walk() if isinstance(found, KernelOp)]:
            names = UniqueNames()
            converters = [found for found in kernel.body.block.ops if isinstance(found, ConverterOp)]
            by_name = {names.fresh(_edge(found)): found for found in converters}
            cycles = _least_cycles(kernel)
            conversions = [_conversion(name, converter, cycles) for name, converter in by_name.items()]
            plans = CONVERTERS.decide(self.strategy, ConverterProblem(conversions, cast(Serial, self.serial)))
            for name, converter in by_name.items():
                if plans[name] != converter.plan:
                    _replace(converter, plans[name])


def _conversion(name: str, converter: ConverterOp, cycles: int) -> Conversion:
    source, target = _origin(converter.source), _destination(converter.result)
    around = Surroundings(cycles, isinstance(source.owner, Block), _goes_to_memory(converter.result))
    return Conversion(name, _order(source), _order(target), converter.plan, around)


def _edge(converter: ConverterOp) -> str:
    """What an edge is called: by the tasks (or ports of the kernel) that a converter stands between."""
    producer, consumer = _origin(converter.source), _destination(converter.result).get_user_of_unique_use()
    ends = [producer.owner, consumer]
    names = [end.sym_name.data if isinstance(end, TaskOp) else None for end in ends]
    return f"{names[0] or producer.name_hint or 'input'} to {names[1] or converter.result.name_hint or 'output'}"


def _replace(converter: ConverterOp, plan: ConverterPlan) -> None:
    target = converter.result.type
    assert isinstance(target, ItensorType)
    Rewriter.replace_op(converter, [], [convert(Builder(InsertPoint.before(converter)), converter.source, plan, target)])


def _order(value: SSAValue) -> StreamOrder:
    assert isinstance(value.type, ItensorType)
    return value.type.order


def _least_cycles(kernel: KernelOp) -> int:
    """The most tokens of one stream of `kernel`: it runs at least as many cycles."""
    block = kernel.body.block
    values = [*block.args, *(result for op in block.ops for result in op.results)]
    orders = [value.type.order for value in values if isinstance(value.type, ItensorType)]
    return max((order.token_count for order in orders if order.is_static), default=0)


def _origin(value: SSAValue) -> SSAValue:
    """`value` before casts, which change how an order is spelled."""
    while isinstance(value.owner, CastOp):
        value = value.owner.source
    return value


def _destination(value: SSAValue) -> SSAValue:
    """`value` behind casts, as far as each has one reader."""
    while (use := value.get_user_of_unique_use()) is not None and isinstance(use, CastOp):
        value = use.result
    return value


def _goes_to_memory(value: SSAValue) -> bool:
    users = [use.operation for use in value.uses]
    return all(isinstance(user, YieldOp) or (isinstance(user, CastOp) and _goes_to_memory(user.result)) for user in users)
