"""How many memory ports tensors will take, once `share-ports` has brought small parameters through one."""

from __future__ import annotations

from collections.abc import Container, Iterable

from xdsl.dialects.builtin import TensorType
from xdsl.ir import SSAValue
from xdsl.utils.hints import isa

from stc.analysis.kernel_memory import bits_of, tensor_bytes
from stc.design_space.parallelism import PORT_BITS
from stc.design_space.shared_ports import Packed, shared_ports
from stc.platforms.platform import ExternalMemory


def shared_parameters(
    read: Iterable[SSAValue], parameters: Container[SSAValue], memory: ExternalMemory
) -> dict[SSAValue, int]:
    """The number of their common port, from 0 on, of those tensors among `read`, of a whole function, that will share one.

    Estimated before tensors are packed: words as wide as the last dimension lets them be.
    """
    packed = {value: _packed(value) for value in dict.fromkeys(read) if value in parameters and tensor_bytes(value.type)}
    groups = shared_ports(packed, sum(tensor_bytes(value.type) for value in packed), memory.max_ports)
    return {value: number for number, group in enumerate(groups) for value in group}


def _packed(value: SSAValue) -> Packed:
    assert isa(value.type, TensorType)
    shape, bits = value.type.get_shape(), bits_of(value.type.element_type)
    last = shape[-1] if shape else 1
    return Packed(tensor_bytes(value.type), bits * min(last & -last, PORT_BITS // bits), str(value.type.element_type))
