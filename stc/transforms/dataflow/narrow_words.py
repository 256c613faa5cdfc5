"""What of a kernel lies in narrower words than a port brings: small operands that will share one (`share-ports`), and what follows
them through it."""

from __future__ import annotations

from collections.abc import Collection, Container, Mapping, Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import TensorType, VectorType
from xdsl.ir import Attribute, BlockArgument, Operation, SSAValue

from stc.analysis.behind_layers import is_read_behind_layers, operations_behind_ends
from stc.analysis.kernel_memory import bits_of, tensor_bytes
from stc.analysis.task_graph import leaves_by_one_port, shares_multipliers
from stc.design_space.shared_ports import Packed, is_small, narrow_word
from stc.dialects.dataflow import KernelOp, TaskOp
from stc.dialects.itensor import ItensorType, MergeOp
from stc.iteration.bus_words import power_of_two
from stc.platforms.platform import ExternalMemory
from stc.transforms.dataflow.slices import ports_of_slice


@dataclass(frozen=True)
class NarrowWords:
    """Bits of words that may be narrower than a port, as wide as they can be, of operands and of results, by index."""

    operands: Mapping[int, int]
    results: Mapping[int, int]


@dataclass(frozen=True)
class _AtPort:
    """An operand or a result that will share a port: its number among those, bytes, bits of a token, and what entries those of one
    port have. `is_last`: whether it is read behind the last layer, or made there."""

    index: int
    size: int
    token: int
    scalar: str
    is_last: bool


def narrow_words(
    kernel: KernelOp,
    parameters: Container[SSAValue],
    apart: Container[SSAValue],
    memory: ExternalMemory,
    words: Sequence[TensorType[VectorType] | None],
) -> NarrowWords:
    """Which may be narrower than `words`, those of the operands; None: not asked.

    A port of narrow words takes longer for as many bytes; it may take as long as each other port, if those that are no parameters'
    have theirs and the rest of all parameters is spread evenly: of layers, and of what follows the last. Where a large parameter
    follows these, they have the widest: it comes behind them through their port (`load-in-turn`). A large result that follows the
    layers leaves by that port, in words as narrow as theirs. What one port will bring to several copies (`interleave-loads`) is no
    small one for long. What else is given, but for what is `apart`, has words as narrow where its tokens are no wider: it shares
    the port.
    """
    behind = operations_behind_ends(kernel.body.block)
    known = [port for value, port in zip(kernel.inputs, kernel.arguments, strict=True) if value in parameters]
    asked = [port for value, port in zip(kernel.inputs, kernel.arguments, strict=True) if value not in apart]
    last = {port for port in (*known, *asked) if is_read_behind_layers(port, behind)}
    small = [
        _AtPort(port.index, tensor_bytes(kind), _token_bits(port, kind), _scalar(kind), port in last)
        for port in asked
        if (kind := words[port.index]) is not None and _is_small(kind, memory)
        if not _is_for_shared(port) and ports_of_slice(kernel.inputs[port.index]) is None
    ]
    given = [each for each in small if kernel.inputs[each.index] in parameters]
    others = [each for each in small if each not in given]
    ports = len(kernel.inputs) - len(known) + len(kernel.outputs) - len(kernel.updated)
    narrow, leaving = dict[int, int](), dict[int, int]()
    followed = {_scalar(kind) for port in last if (kind := words[port.index]) is not None and not _is_small(kind, memory)}
    behind_last = _large_results(kernel, behind, memory)
    for scalar in dict.fromkeys(each.scalar for each in given):
        own, left = ([each for each in some if each.scalar == scalar] for some in (given, behind_last))
        bits = memory.word_bits if scalar in followed else 0
        for is_last in {each.is_last for each in (*own, *left)}:
            size = sum(each.size for each in (*own, *left) if each.is_last == is_last)
            total = sum(_bytes(kernel, port) for port in known if (port in last) == is_last)
            bits = max(bits, narrow_word(size, total // max(1, memory.max_ports - ports), memory.word_bits))
        widest = min(memory.word_bits, max(bits, *(each.token for each in (*own, *left))))  # words of a port are alike
        beside = [each for each in others if each.scalar == scalar and each.token <= widest]
        if len(own) + len(beside) > 1:
            narrow |= {each.index: widest for each in (*own, *beside)}
            leaving |= {each.index: widest for each in left}
    return NarrowWords(narrow, leaving)


def _large_results(kernel: KernelOp, behind: Collection[Operation], memory: ExternalMemory) -> list[_AtPort]:
    """The results that are no small ones, are made `behind` the last layer, leave through one port, and update nothing."""
    values = enumerate(zip(kernel.results, kernel.terminator.arguments, kernel.places, strict=True))
    tensors = [
        (index, value.type, inside.type)
        for index, (value, inside, place) in values
        if place is None and inside.owner in behind and _leaves_by_one_port(inside)
        if isinstance(value.type, TensorType) and isinstance(inside.type, ItensorType)
    ]
    return [
        _AtPort(index, tensor_bytes(kind), _bits_of_token(token, kind.element_type), str(kind.element_type), is_last=True)
        for index, kind, token in tensors
        if not is_small(Packed(tensor_bytes(kind), memory.word_bits), memory.word_bits)
    ]


def _leaves_by_one_port(value: SSAValue) -> bool:
    return not isinstance(merge := value.owner, MergeOp) or leaves_by_one_port(merge)


def _scalar(kind: TensorType[VectorType]) -> str:
    return str(kind.element_type.element_type)


def _token_bits(port: BlockArgument, kind: TensorType[VectorType]) -> int:
    assert isinstance(port.type, ItensorType)
    return _bits_of_token(port.type, kind.element_type.element_type)


def _bits_of_token(type_: ItensorType, scalar: Attribute) -> int:
    return power_of_two(type_.order.element_count) * bits_of(scalar)


def _bytes(kernel: KernelOp, port: BlockArgument) -> int:
    return tensor_bytes(kernel.inputs[port.index].type)


def _is_small(kind: TensorType[VectorType], memory: ExternalMemory) -> bool:
    size = tensor_bytes(kind)
    return is_small(Packed(size, 8 * size // kind.get_shape()[0]), memory.word_bits)


def _is_for_shared(port: BlockArgument) -> bool:
    """Whether contractions take it that share their multipliers."""
    return any(isinstance(use.operation, TaskOp) and shares_multipliers(use.operation) for use in port.uses)
