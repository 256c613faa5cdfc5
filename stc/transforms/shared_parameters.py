"""How many memory ports tensors will take, once `share-ports` has brought small ones through one."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from dataclasses import replace

from xdsl.dialects.builtin import TensorType
from xdsl.ir import SSAValue
from xdsl.utils.hints import isa

from stc.analysis.kernel_memory import bits_of, tensor_bytes
from stc.design_space.parallelism import PORT_BITS
from stc.design_space.shared_ports import Packed, shared_ports
from stc.platforms.platform import ExternalMemory


def shared_parameters(
    read: Iterable[SSAValue], parameters: Container[SSAValue], memory: ExternalMemory, inputs: Container[SSAValue] = ()
) -> dict[SSAValue, int]:
    """The number of their common port, from 0 on, of those tensors among `read`, of a whole function, that will share one: of
    `parameters`, and of these `inputs`.
    """
    read = list(dict.fromkeys(read))
    known = [value for value in read if value in parameters or value in inputs]
    return _shared({value: packed(value, value not in parameters) for value in known}, _bytes(read, parameters), memory)


def shared_results(
    results: Iterable[SSAValue], read: Iterable[SSAValue], parameters: Container[SSAValue], memory: ExternalMemory
) -> dict[SSAValue, int]:
    """The same of `results`, none of which is an update in place, of a function that reads `read`."""
    return _shared({value: packed(value, True) for value in results}, _bytes(dict.fromkeys(read), parameters), memory)


def _bytes(read: Iterable[SSAValue], parameters: Container[SSAValue]) -> int:
    return sum(tensor_bytes(value.type) for value in read if value in parameters)


def shared_parts(
    results: Iterable[SSAValue], read: Iterable[SSAValue], parameters: Container[SSAValue], memory: ExternalMemory
) -> dict[SSAValue, int]:
    """The same of `results` that copies make in parts, two at least each."""
    halves = {(value, half): replace(found, size=-(-found.size // 2)) for value in results for half in range(2)
              if (found := packed(value, True)).size}  # fmt: skip
    groups = shared_ports(halves, _bytes(dict.fromkeys(read), parameters), memory.max_ports)
    return {value: number for number, group in enumerate(groups) for value, half in group if (value, 1 - half) in group}


def _shared(tensors: Mapping[SSAValue, Packed], total: int, memory: ExternalMemory) -> dict[SSAValue, int]:
    sizes = {value: found for value, found in tensors.items() if found.size}
    return {value: number for number, group in enumerate(shared_ports(sizes, total, memory.max_ports)) for value in group}


def packed(value: SSAValue, is_awaited: bool) -> Packed:
    """A tensor as memory will have it, estimated before it is packed: words as wide as the last dimension lets them be."""
    assert isa(value.type, TensorType)
    shape, bits = value.type.get_shape(), bits_of(value.type.element_type)
    last = shape[-1] if shape else 1
    return Packed(
        tensor_bytes(value.type), bits * min(last & -last, PORT_BITS // bits), str(value.type.element_type), is_awaited
    )
