"""How an itensor of one type reaches a port of another: directly, by a cast, or through a converter."""

from __future__ import annotations

from xdsl.builder import Builder
from xdsl.ir import SSAValue

from stc.analysis.kernel_memory import bytes_of_entries
from stc.diagnostics import CompileError
from stc.dialects.itensor import CastOp, ConverterOp, ItensorType
from stc.iteration.converter import ConverterPlan, infer_converter
from stc.iteration.order import StreamOrder
from stc.iteration.proofs import Differs, Equal, compare_sequences


def plan_connection(source: ItensorType, target: ItensorType) -> ConverterPlan | None:
    """None if z3 (or the normal form) shows that the token sequences are equal, else the smallest converter."""
    match compare_sequences(source.order, target.order):
        case Equal():
            return None
        case Differs():
            return infer_converter(source.order, target.order)
        case unproved:
            raise CompileError(f"streams {source} and {target} could not be compared: {unproved.reason}")


def converter_bytes(source: ItensorType, target: ItensorType) -> int:
    """Bytes of the buffer between two ports, ping-pong included; 0 where they connect directly."""
    plan = plan_connection(source, target)
    return 0 if plan is None else bytes_of_entries(plan.buffer_entries, source.element_type)


def connect(builder: Builder, value: SSAValue, target: ItensorType) -> SSAValue:
    """`value` as an itensor of type `target`, through as little hardware as its order allows."""
    source = value.type
    assert isinstance(source, ItensorType)
    if source == target:
        return value
    plan = plan_connection(source, target)
    if plan is None:
        return _cast(builder, value, target.order)
    return convert(builder, value, plan, target)


def convert(builder: Builder, value: SSAValue, plan: ConverterPlan, target: ItensorType) -> SSAValue:
    """`value` as an itensor of type `target`, through the converter of `plan`, whose orders are respellings of both."""
    converted = ConverterOp(
        _cast(builder, value, plan.source),
        ItensorType.from_order(plan.target, target.element_type),
        plan.shared_loops,
        plan.buffer_shape,
        plan.blocks,
        plan.window,
    )
    builder.insert(converted).result.name_hint = value.name_hint
    return _cast(builder, converted.result, target.order)


def _cast(builder: Builder, value: SSAValue, order: StreamOrder) -> SSAValue:
    assert isinstance(value.type, ItensorType)
    required = ItensorType.from_order(order, value.type.element_type)
    if value.type == required:
        return value
    cast = builder.insert(CastOp(value, required))
    cast.result.name_hint = value.name_hint
    return cast.result
