"""Own kernels run through their C++, built as a program that asks for each token; or, without FIFO depths, through Python.

    @python_kernel("softmax")                     # in a file of --load: what `python = "softmax"` of an own kernel names
    def softmax(x: np.ndarray) -> np.ndarray: ...
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np
from xdsl.dialects.builtin import VectorType

from stc.diagnostics import CompileError
from stc.dialects.dataflow import OwnKernelOp
from stc.dialects.itensor import ItensorType
from stc.dialects.itensor.destinations import root_of
from stc.execution.channels import ReadPort, WritePort
from stc.execution.dtypes import numpy_type
from stc.execution.elementwise import scalar_type
from stc.execution.layout import tensor_of, tokens_of
from stc.execution.scheduler import Steps
from stc.execution.source import Source
from stc.execution.translation import emits
from stc.simulation.own_kernels import OwnProgram, TokenPort

Function = Callable[..., Any]
_FunctionT = TypeVar("_FunctionT", bound=Function)

_FUNCTIONS: dict[str, Function] = {}


def python_kernel(name: str) -> Callable[[_FunctionT], _FunctionT]:
    """Register the decorated function of arrays as `name`: whole tensors in, a tensor (or a tuple of them) out."""

    def register(function: _FunctionT) -> _FunctionT:
        _FUNCTIONS[name] = function
        return function

    return register


@emits(OwnKernelOp)
def emit_own_kernel(source: Source, op: OwnKernelOp) -> None:
    ports = [source.ports[root_of(value)] for value in op.operands]
    python = op.python.data if op.python is not None and not source.bounded else None
    steps = _python_steps(op, ports, source.where, python) if python is not None else _program_steps(op, ports, source.where)
    source.line(f"yield from {source.refer(steps, 'own')}")


def _name(op: OwnKernelOp, where: str) -> str:
    return f"{where}, own kernel {op.function.data} of {op.file.data}"


def _taken(port: ReadPort, count: int) -> Steps:
    """Wait until token `count` is there."""
    while not port.is_ready():
        yield port, count


def _put(port: WritePort, token: np.ndarray) -> Steps:
    while not port.is_ready():
        yield port, 0
    carried = port.channel.token_type
    if carried is not None:
        token = token.reshape(-1).view(numpy_type(scalar_type(carried)))
        token = token if isinstance(carried, VectorType) else token[0]
    for queue in port.queues:
        queue.append(token)


# Python -----------------------------------------------------------------------------------------------------------------


def _python_steps(op: OwnKernelOp, ports: Sequence[Any], where: str, python: str) -> Steps:
    """All tokens in, the function, all tokens out."""
    if python not in _FUNCTIONS:
        accepted = f"one of {', '.join(_FUNCTIONS)}" if _FUNCTIONS else "--load with a file that has it as a @python_kernel"
        raise CompileError(f"no Python function is called '{python}'", where=_name(op, where), accepted=accepted)
    kinds = op.declared_ports
    tensors: list[np.ndarray] = []
    for port, kind in zip(ports[: len(op.ins)], kinds, strict=False):
        tokens: list[np.ndarray] = []
        for count in range(kind.order.token_count):
            yield from _taken(port, count)
            tokens.append(np.asarray(port.queue.popleft()).view(numpy_type(kind.element_type)).reshape(kind.element_shape))
        tensors.append(tensor_of(tokens, kind.order, numpy_type(kind.element_type), _name(op, where)))
    results = _FUNCTIONS[python](*tensors)
    results = results if isinstance(results, tuple) else (results,)
    for index, (port, kind) in enumerate(zip(ports[len(op.ins) :], kinds[len(op.ins) :], strict=True)):
        tensor = _checked(results, index, kind, _name(op, where))
        for token in tokens_of(tensor, kind.order, _name(op, where)):
            yield from _put(port, token)


def _checked(results: tuple[Any, ...], index: int, kind: ItensorType, where: str) -> np.ndarray:
    """Result `index`, of the shape and type of its port."""
    expected = (kind.tensor_shape, np.dtype(numpy_type(kind.element_type)))
    found = np.asarray(results[index]) if index < len(results) else None
    if found is None or (found.shape, found.dtype) != expected:
        what = "is missing" if found is None else f"is {found.dtype}{list(found.shape)}"
        accepted = f"{expected[1]}{list(expected[0])}"
        raise CompileError(f"result {index} of the Python function {what}", where=where, accepted=accepted)
    return found


# C++ --------------------------------------------------------------------------------------------------------------------


def _program_steps(op: OwnKernelOp, ports: Sequence[Any], where: str) -> Steps:
    """What the C++ asks for, token by token; CompileError where it moves another number of tokens than it declares."""
    name = _name(op, where)
    token_ports = [_token_port(op, index, kind) for index, kind in enumerate(op.declared_ports)]
    counts = [0] * len(ports)
    program = OwnProgram(op.source.data, op.file.data, op.function.data, op.template_arguments, token_ports)
    with program.running() as run:
        while (asked := run.asked()) is not None:
            index, data = asked
            if counts[index] == token_ports[index].tokens:
                raise _miscounted(op, token_ports[index], "one more", name)
            if data is None:
                yield from _taken(ports[index], counts[index])
                run.answer(np.ascontiguousarray(ports[index].queue.popleft()).tobytes())
            else:
                yield from _put(ports[index], _token(data, op.declared_ports[index]))
            counts[index] += 1
    for port, count in zip(token_ports, counts, strict=True):
        if count != port.tokens:
            raise _miscounted(op, port, str(count), name)


def _miscounted(op: OwnKernelOp, port: TokenPort, count: str, where: str) -> CompileError:
    verb = "reads" if port.is_read else "writes"
    declared = f"{port.tokens} tokens, as its port declares"
    return CompileError(f"its C++ {verb} {count} of '{port.name}'", where=where, accepted=declared)


def _token(data: bytes, kind: ItensorType) -> np.ndarray:
    return np.frombuffer(data, numpy_type(kind.element_type)).reshape(kind.element_shape)


def _token_port(op: OwnKernelOp, index: int, kind: ItensorType) -> TokenPort:
    dtype, lanes = np.dtype(numpy_type(kind.element_type)), kind.element_shape[-1] if kind.element_shape else 1
    name = op.operands[index].name_hint or f"port {index}"
    return TokenPort(name, index < len(op.ins), kind.order.token_count, lanes, _CPP[dtype.str[1:]], dtype.itemsize * lanes)


_CPP = {"f4": "float", "f2": "half", "i1": "int8_t", "i2": "int16_t", "i4": "int32_t", "i8": "int64_t", "b1": "bool"}
"""C++ types by numpy's."""
