"""Every converter of a module with its buffer and the least any converter between the two orders could hold."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from xdsl.dialects.builtin import ModuleOp

from stc.analysis.kernel_memory import bytes_of_entries
from stc.dialects.itensor import ConverterOp, ItensorType
from stc.iteration.liveness import least_live_entries
from stc.iteration.regrouping import is_regrouped, wide_and_narrow


@dataclass(frozen=True)
class ConverterFigures:
    """`buffer_bytes` is one block, without the ping-pong factor `blocks`, or the wider token where a converter only regroups
    entries (`is_regrouped`); `window` the dimension along which a line buffer is circular, None for blocks; `least_bytes` the exact
    lower bound, at the largest sizes, None where there is none (`least_live_entries`); `ratio` the bytes of one block over it."""

    name: str
    shared_loops: int
    buffer_shape: tuple[int, ...]
    blocks: int
    window: int | None
    buffer_bytes: int
    least_bytes: int | None
    ratio: float | None


def converter_figures(module: ModuleOp) -> list[ConverterFigures]:
    """The converters of all kernels at the itensor level, in order."""
    return [_figures(op) for op in module.walk() if isinstance(op, ConverterOp)]


def _figures(op: ConverterOp) -> ConverterFigures:
    source, target = op.source.type, op.result.type
    assert isinstance(source, ItensorType) and isinstance(target, ItensorType)
    wide, _ = wide_and_narrow(source.order, target.order)
    keeps_token = op.window is None and is_regrouped(source.order, target.order)
    shape, blocks = (wide.element, 1) if keeps_token else (op.buffer_shape, op.plan.blocks)
    size = bytes_of_entries(prod(shape), source.element_type)
    entries = least_live_entries(source.order.largest, target.order.largest)
    least = None if entries is None else bytes_of_entries(entries, source.element_type)
    return ConverterFigures(
        op.source.name_hint or "stream",
        op.shared_loops,
        shape,
        blocks,
        op.window,
        size,
        least,
        None if not least else size / least,
    )
