"""How many memory ports tensors will take, once `share-ports` has brought small ones through one."""

from __future__ import annotations

from collections.abc import Collection, Container, Hashable, Iterable, Mapping
from dataclasses import replace
from typing import TypeVar

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Operation, SSAValue
from xdsl.utils.hints import isa

from stc.analysis.behind_layers import is_read_behind_layers
from stc.analysis.kernel_memory import bits_of, tensor_bytes
from stc.design_space.shared_ports import Packed, is_small, shared_ports
from stc.platforms.platform import ExternalMemory

Key = TypeVar("Key", bound=Hashable)


def shared_parameters(
    read: Iterable[SSAValue], parameters: Container[SSAValue], memory: ExternalMemory, inputs: Container[SSAValue] = ()
) -> dict[SSAValue, int]:
    """The number of their common port, from 0 on, of those tensors among `read`, of a whole function, that will share one: of
    `parameters`, and of these `inputs`."""
    read = list(dict.fromkeys(read))
    known = [value for value in read if value in parameters or value in inputs]
    return _numbers(_packed(known, memory, parameters), _bytes(read, parameters), memory)


def shared_results(
    results: Iterable[SSAValue], read: Iterable[SSAValue], parameters: Container[SSAValue], memory: ExternalMemory
) -> dict[SSAValue, int]:
    """The same of `results`, none of which is an update in place, of a function that reads `read`."""
    return _numbers(_packed(results, memory), _bytes(read, parameters), memory)


def shared_parts(
    results: Iterable[SSAValue], read: Iterable[SSAValue], parameters: Container[SSAValue], memory: ExternalMemory
) -> dict[SSAValue, int]:
    """The same of `results` that copies make in parts, two at least each."""
    half_of = {value: replace(found, size=-(-found.size // 2)) for value, found in _packed(results, memory).items()}
    halves = {(value, half): found for value, found in half_of.items() for half in (0, 1)}
    numbers = _numbers(halves, _bytes(read, parameters), memory)
    return {value: number for (value, half), number in numbers.items() if (value, 1 - half) in numbers}


def joining_results(
    results: Iterable[SSAValue],
    alone: Iterable[SSAValue],
    shared: Mapping[SSAValue, int],
    read: Iterable[SSAValue],
    memory: ExternalMemory,
) -> set[SSAValue]:
    """Those of `results`, none of which is an update in place, that will leave by a port that brings one of `alone`, tensors that
    share theirs with no other, or those that are `shared`, which have a number in common: each of equal words, and both together no
    more than the largest tensor, of results or `read` (`stc.analysis.memory_ports`). Small ones do not count on the latter, whose
    words may be narrower."""
    free: dict[SSAValue | int, Packed] = {**_packed(alone, memory)}
    for value, packed in _packed(shared, memory).items():
        before = free.get(shared[value], replace(packed, size=0))
        free[shared[value]] = replace(packed, size=before.size + packed.size)
    written = _packed(results, memory)
    most = max((*(tensor_bytes(value.type) for value in read), *(packed.size for packed in written.values())), default=0)
    found = set[SSAValue]()
    for result, packed in written.items():
        fits = [key for key, each in free.items() if each.words == packed.words and each.size + packed.size <= most]
        if port := [key for key in fits if isinstance(key, SSAValue) or not is_small(packed, memory.word_bits)]:
            del free[min(port, key=lambda key: free[key].size)]
            found.add(result)
    return found


def followed_types(
    read: Iterable[SSAValue],
    parameters: Container[SSAValue],
    results: Iterable[SSAValue],
    behind: Collection[Operation],
    memory: ExternalMemory,
) -> set[str]:
    """Types of entries of which ports of small tensors have the widest words: those of large tensors that come behind them, of
    `parameters` that only what is `behind` the layers reads, or leave by them, of `results`, none of which is an update in place.
    None where nothing follows the layers."""
    last = [value for value in read if value in parameters and is_read_behind_layers(value, behind)]
    packed = {value: Packed(tensor_bytes(value.type), memory.word_bits) for value in (*last, *results)}
    large = [value for value, each in packed.items() if not is_small(each, memory.word_bits)]
    return {str(kind.element_type) for value in large if isa(kind := value.type, TensorType)} if behind else set()


def _bytes(read: Iterable[SSAValue], parameters: Container[SSAValue]) -> int:
    return sum(tensor_bytes(value.type) for value in dict.fromkeys(read) if value in parameters)


def _numbers(tensors: Mapping[Key, Packed], total: int, memory: ExternalMemory) -> dict[Key, int]:
    groups = shared_ports(tensors, total, memory.max_ports, memory.word_bits)
    return {key: number for number, group in enumerate(groups) for key in group}


def _packed(
    values: Iterable[SSAValue], memory: ExternalMemory, parameters: Container[SSAValue] = ()
) -> dict[SSAValue, Packed]:
    """By value, of those that are tensors, of one function."""
    tensors = [value for value in values if tensor_bytes(value.type)]
    return {value: _words(value, value not in parameters, memory.word_bits) for value in tensors}


def _words(value: SSAValue, is_awaited: bool, port_bits: int) -> Packed:
    """A tensor as memory will have it, estimated before it is packed: words as wide as the last dimension lets them be."""
    assert isa(value.type, TensorType)
    shape, bits = value.type.get_shape(), bits_of(value.type.element_type)
    last = shape[-1] if shape else 1
    word_bits = bits * min(last & -last, port_bits // bits)
    return Packed(tensor_bytes(value.type), word_bits, str(value.type.element_type), is_awaited)
