"""Ports of isolated regions: which block arguments are read and which are written.

`dataflow.task` has such ports; the accesses of the `itensor` and `stream` dialects check their direction here, so that
these dialects need not know the task.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from xdsl.ir import BlockArgument, SSAValue
from xdsl.utils.exceptions import VerifyException


@runtime_checkable
class HasPorts(Protocol):
    """An operation whose operands `ins`, then `outs`, are the block arguments of its only region."""

    @property
    def input_ports(self) -> Sequence[BlockArgument]: ...

    @property
    def output_ports(self) -> Sequence[BlockArgument]: ...

    def destination_of_result(self, index: int) -> SSAValue | None:
        """The outs operand that result `index` carries on."""
        ...


def _owner(port: SSAValue) -> HasPorts | None:
    if not isinstance(port, BlockArgument):
        return None
    parent = port.owner.parent_op()
    return parent if isinstance(parent, HasPorts) else None


def port_name(port: SSAValue) -> str:
    """How a message names a port: its SSA name where it has one."""
    if port.name_hint is not None:
        return f"%{port.name_hint}"
    return f"argument {port.index}" if isinstance(port, BlockArgument) else "the operand"


def verify_is_readable(port: SSAValue) -> None:
    """VerifyException if `port` is an `outs` argument of a task."""
    owner = _owner(port)
    if owner is not None and port not in owner.input_ports:
        raise VerifyException(f"reads {port_name(port)}, an outs port, expected an ins port")


def verify_is_writable(port: SSAValue) -> None:
    """VerifyException if `port` is an `ins` argument of a task."""
    owner = _owner(port)
    if owner is not None and port not in owner.output_ports:
        raise VerifyException(f"writes {port_name(port)}, an ins port, expected an outs port")
