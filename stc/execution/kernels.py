"""Kernels: tensors outside, tokens or memory inside. What crosses the boundary is what the DMAs do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from xdsl.dialects.builtin import MemRefType, TensorType, VectorType
from xdsl.ir import Attribute, SSAValue

from stc.diagnostics import CompileError
from stc.dialects.dataflow import KernelOp, PackOp, TaskOp, UnpackOp
from stc.dialects.dataflow.in_place import Place
from stc.dialects.dataflow.memory_ops import striped
from stc.dialects.itensor import AdvanceOp, IndexSymbolOp, ItensorType, SizeOp, SymbolType
from stc.execution import movers
from stc.execution.channels import Channel
from stc.execution.dtypes import numpy_type
from stc.execution.layout import pack, tensor_of, tokens_of, tokens_of_words, unpack, unpack_into, words_of_tokens
from stc.execution.network import Bound, Network
from stc.execution.source import Source
from stc.execution.translation import emits
from stc.iteration.size import symbols_in, value_at


@emits(KernelOp)
def emit_kernel(source: Source, op: KernelOp) -> None:
    bounded = source.bounded

    def run(*operands: Any) -> list[np.ndarray]:
        return run_kernel(op, operands, bounded)

    targets = "".join(f"{source.define(result)}, " for result in op.outputs)
    call = f"{source.refer(run, 'kernel')}({', '.join(source.name(value) for value in op.inputs)})"
    source.line(f"{targets}= {call}" if targets else call)


@emits(PackOp)
def emit_pack(source: Source, op: PackOp) -> None:
    lanes = _lanes(op.stripes[0].type)
    assert lanes is not None
    shape, orders = op.layout.tensor_shape, [stripe.order for stripe in striped(op.layout, len(op.stripes))]

    def run(tensor: np.ndarray) -> list[np.ndarray]:
        return [pack(tensor, order, lanes, shape) for order in orders]

    targets = "".join(f"{source.define(result)}, " for result in op.stripes)
    source.line(f"{targets}= {source.refer(run, 'pack')}({source.name(op.source)})")


@emits(UnpackOp)
def emit_unpack(source: Source, op: UnpackOp) -> None:
    shape, orders = op.layout.tensor_shape, [stripe.order for stripe in striped(op.layout, len(op.stripes))]
    # Booleans lie in external memory as bytes.
    dtype = numpy_type(op.layout.element_type)

    def run(*stripes: np.ndarray) -> np.ndarray:
        tensor = np.empty(shape, dtype)
        for words, order in zip(stripes, orders, strict=True):
            unpack_into(tensor, words, order)
        return tensor

    source.assign(op.result, f"{source.refer(run, 'unpack')}({', '.join(source.name(value) for value in op.stripes)})")


@emits(SizeOp)
def emit_size(source: Source, op: SizeOp) -> None:
    size, names = op.size, [symbol.name for symbol in symbols_in([op.size])]

    def run(*scalars: int) -> int:
        return value_at(size, dict(zip(names, scalars, strict=True)))

    source.assign(op.result, f"{source.refer(run, 'size')}({', '.join(source.name(value) for value in op.symbols)})")


@emits(IndexSymbolOp)
def emit_index_symbol(source: Source, op: IndexSymbolOp) -> None:
    source.assign(op.result, source.name(op.index))


@emits(AdvanceOp)
def emit_advance(source: Source, op: AdvanceOp) -> None:
    symbol = op.symbol

    def run(value: int, step: int) -> int:
        return value_at(symbol, {symbol.name: value + step})

    source.assign(op.result, f"{source.refer(run, 'advance')}({source.name(op.source)}, {source.name(op.step)})")


def _lanes(kind: Attribute) -> int | None:
    """Entries of a word where a tensor is packed, else None."""
    element = kind.element_type if isinstance(kind, TensorType) else None
    return element.get_shape()[0] if isinstance(element, VectorType) else None


def run_kernel(op: KernelOp, operands: Sequence[Any], bounded: bool) -> list[np.ndarray]:
    """The results of a kernel on its operands (tensors, packed tensors, scalars)."""
    where = f"@{op.sym_name.data}"
    network = Network(where, bounded, _symbol_values(op, operands), _runs(op))
    updated = {place.operand: place for place in op.places if place is not None}
    for argument, outside in zip(op.arguments, operands, strict=True):
        network.bound[argument] = _inside(network, argument, outside, argument.index in updated)
    for value, place in zip(op.terminator.arguments, op.places, strict=True):
        if place is not None and isinstance(value.type, MemRefType):  # two names of one memory
            network.bound[value] = network.bound[op.arguments[place.operand]]
    yielded = network.build(op.body.block)
    results = [_Result(network, value, bound) for value, bound in zip(op.terminator.arguments, yielded, strict=True)]
    for index, result in enumerate(results):
        result.connect(f"result {index}")
    for argument, outer, outside in zip(op.arguments, op.inputs, operands, strict=True):
        if isinstance(argument.type, ItensorType) and network.bound[argument].readers:
            tensor, place = outside, updated.get(argument.index)
            if place is not None:  # read in part, perhaps
                extents = argument.type.order.largest.static_shape
                tensor = _unpacked(outside, place, where)[tuple(slice(extent) for extent in extents)]
            split = tokens_of if place is not None or _lanes(outer.type) is None else tokens_of_words
            tokens = split(tensor, argument.type.order, f"{where}: operand {argument.index}", network.values)
            _feed(network.bound[argument], tokens)
    network.run()
    return [
        result.outside(operands, outer.type, place, f"{where}: result {index}")
        for index, (result, outer, place) in enumerate(zip(results, op.outputs, op.places, strict=True))
    ]


def _runs(op: KernelOp) -> dict[str, int]:
    """How often tasks run whose units nobody starts, where a launch computes several steps."""
    if op.steps == 1:
        return {}
    tasks = [task for task in op.body.block.ops if isinstance(task, TaskOp)]
    return {task.sym_name.data: op.steps for task in tasks if task.unit not in op.started}


def _symbol_values(op: KernelOp, operands: Sequence[Any]) -> dict[str, int]:
    """The value of each symbol of a kernel; CompileError where one is out of range."""
    values = {symbol.name: int(operands[argument.index]) for symbol, argument in op.symbols.items()}
    return {symbol.name: value_at(symbol, values) for symbol in op.symbols}


def _inside(network: Network, argument: SSAValue, outside: Any, is_updated: bool) -> Bound:
    """What an operand is inside: a channel, memory (a copy if it is updated in place), or a scalar."""
    if isinstance(argument.type, ItensorType):
        channel = network.channel(argument)
        channel.writer, channel.ended = "the kernel boundary", True
        return channel
    if isinstance(argument.type, SymbolType):
        return int(outside)
    return np.array(outside) if is_updated and isinstance(argument.type, MemRefType) else outside


def _feed(channel: Channel, tokens: list[np.ndarray]) -> None:
    """Put all tokens of an operand where its readers find them."""
    for _, queue in channel.readers:
        queue.extend(tokens)


class _Result:
    """A result on its way out."""

    def __init__(self, network: Network, value: SSAValue, bound: Bound):
        self.network = network
        self.kind = value.type
        self.bound = bound
        self.tokens: list[np.ndarray] = []

    def connect(self, name: str) -> None:
        if isinstance(self.kind, ItensorType):
            reader, count = self.bound.read_by(name), self.network.order_of(self.kind).token_count
            self.network.process(name, [reader], movers.collect(reader, count, self.tokens))

    def outside(self, operands: Sequence[Any], outer: Attribute, place: Place | None, where: str) -> np.ndarray:
        """The tensor that leaves the kernel."""
        if not isinstance(self.kind, ItensorType):
            return self.bound
        dtype, lanes = numpy_type(self.kind.element_type), _lanes(outer)
        if lanes is not None and place is None:
            return words_of_tokens(self.tokens, self.kind.order, lanes, dtype, where, self.network.values)
        tensor = tensor_of(self.tokens, self.kind.order, dtype, where, self.network.values)
        return tensor if place is None else _updated(operands, tensor, place, where)


def _unpacked(outside: np.ndarray, place: Place, where: str) -> np.ndarray:
    """The tensor in an operand that is updated."""
    return np.array(outside) if place.layout is None else unpack(outside, place.layout.order, where)


def _updated(operands: Sequence[Any], tensor: np.ndarray, place: Place, where: str) -> np.ndarray:
    """The operand with a slice replaced by `tensor`; CompileError where the slice does not lie in it."""
    outside = operands[place.operand]
    full = _unpacked(outside, place, where)
    offsets = [
        int(operands[offset]) if is_operand else offset for offset, is_operand in zip(place.offsets, place.scalars, strict=True)
    ]
    for dimension, (offset, extent, total) in enumerate(zip(offsets, tensor.shape, full.shape, strict=True)):
        if not 0 <= offset <= total - extent:
            raise CompileError(
                f"entries {offset} to {offset + extent - 1} of dimension {dimension} are outside its {total}", where=where
            )
    full[tuple(slice(offset, offset + extent) for offset, extent in zip(offsets, tensor.shape, strict=True))] = tensor
    return full if place.layout is None else pack(full, place.layout.order, outside.shape[1])
