"""How many memory ports tensors will take, once `share-ports` has brought small ones through one."""

from __future__ import annotations

from collections.abc import Container, Hashable, Iterable, Mapping
from dataclasses import replace
from typing import TypeVar

from xdsl.dialects.builtin import TensorType
from xdsl.ir import SSAValue
from xdsl.utils.hints import isa

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
    together: dict[int, Packed] = {}
    for value, packed in _packed(shared, memory).items():
        before = together.get(shared[value], replace(packed, size=0))
        together[shared[value]] = replace(packed, size=before.size + packed.size)
    wide = [*together.values()]
    free = sorted((*_packed(alone, memory).values(), *wide), key=lambda packed: packed.size)
    written = _packed(results, memory)
    most = max((*(tensor_bytes(value.type) for value in read), *(packed.size for packed in written.values())), default=0)
    found = set[SSAValue]()
    for result, packed in written.items():
        possible = [each for each in free if each not in wide or not is_small(packed, memory.word_bits)]
        fits = (each for each in possible if each.words == packed.words and each.size + packed.size <= most)
        if (port := next(fits, None)) is not None:
            free.remove(port)
            found.add(result)
    return found


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
