"""Parameters evaluated, packed and checksummed; golden arrays, and what may differ from them, as files."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import networkx
import numpy as np
from xdsl.dialects import func
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr
from xdsl.dialects.linalg.ops import GenericOp
from xdsl.ir import Block, Operation, Region, SSAValue

from stc.analysis.kernel_memory import tensor_bytes
from stc.codegen.design import PortDesign
from stc.codegen.host_plan import HostPlan, argument_name, entry_of
from stc.diagnostics import CompileError
from stc.dialects.facts import VALUES
from stc.execution.layout import pack, word_bytes
from stc.execution.run import execute
from stc.manifest.element_types import numpy_type
from stc.manifest.files import digest


@dataclass(frozen=True)
class DataFile:
    """A file of the project: raw little-endian bytes and their checksum."""

    path: str
    data: bytes

    @property
    def sha256(self) -> str:
        return digest(self.data)


def parameter_files(
    ports: Sequence[tuple[PortDesign, HostPlan]], parameters: Mapping[str, np.ndarray]
) -> Iterator[DataFile]:
    """For each of `ports`, which move parameters, in this order: its packed words, padded with zeros to the buffer's size."""
    tensors = evaluate_each([(_source(port), plan.function) for port, plan in ports], parameters)
    for (port, _), tensor in zip(ports, tensors, strict=True):
        buffer, element = port.buffer, port.element
        assert buffer.layout is not None
        words = pack(tensor.astype(numpy_type(element.name), copy=False), buffer.layout.order, port.lanes, buffer.shape)
        data = word_bytes(words, element.bits)
        yield DataFile(f"parameters/{port.name}.bin", data + bytes(port.bytes - len(data)))


def _source(port: PortDesign) -> SSAValue:
    assert port.buffer.source is not None
    return port.buffer.source


def golden_file(draw: str, name: str, element_type: str, shape: tuple[int, ...], array: np.ndarray) -> DataFile:
    """An input or reference output of a draw as the host has it, row-major; CompileError where it does not fit its type."""
    if tuple(array.shape) != shape:
        raise CompileError(f"array has shape {list(array.shape)}", where=name, accepted=f"{list(shape)}")
    kind = numpy_type(element_type)
    if array.dtype != kind:
        raise CompileError(f"array has type {array.dtype}", where=name, accepted=str(kind))
    return DataFile(f"golden/{draw}/{name}.bin", np.ascontiguousarray(array).tobytes())


def allowed_file(draw: str, name: str, allowed: np.ndarray) -> DataFile:
    """The error that each entry of a float output may have, f64; negative where it is undecided (stc.codegen.tolerances)."""
    return DataFile(f"golden/{draw}/{name}.allowed.bin", np.ascontiguousarray(allowed, "<f8").tobytes())


def constant_file(name: str, value: SSAValue, plan: HostPlan, parameters: Mapping[str, np.ndarray]) -> DataFile:
    """A tensor that depends on parameters and constants alone, row-major."""
    (array,) = evaluate([value], plan.function, parameters)
    return DataFile(f"constants/{name}.bin", np.ascontiguousarray(array).tobytes())


@dataclass(frozen=True)
class Recipe:
    """How a tensor is computed from the model's parameters called `names`: by the one function of one result in `text`, by the
    reference semantics of linalg. Equal recipes give equal tensors."""

    names: tuple[str, ...]
    text: str


def recipe_of(value: SSAValue, function: func.FuncOp) -> Recipe:
    """That of a tensor that depends on parameters and constants alone."""
    names, computed = _computed([value], function)
    for operation in computed.walk():
        for held in (*operation.results, *(arg for region in operation.regions for block in region.blocks for arg in block.args)):
            held.name_hint = None
    return Recipe(names, str(computed))


def evaluate(values: Sequence[SSAValue], function: func.FuncOp, parameters: Mapping[str, np.ndarray]) -> list[np.ndarray]:
    """Tensors that depend on parameters and constants alone, by the reference semantics of linalg: however many entries they have,
    since all of them are to be packed."""
    names, computed = _computed(values, function)
    return execute(computed, [_parameter(name, parameters) for name in names], most_steps=sys.maxsize)


def _computed(values: Sequence[SSAValue], function: func.FuncOp) -> tuple[tuple[str, ...], func.FuncOp]:
    """The parameters that `values` depend on, and the function that computes them from those."""
    needed = set[SSAValue]().union(*map(_slice_of, values))
    arguments = [argument for argument in function.body.block.args if argument in needed]
    body = Block(arg_types=[argument.type for argument in arguments])
    mapping: dict[SSAValue, SSAValue] = dict(zip(arguments, body.args, strict=True))
    for operation in function.body.block.ops:
        if any(result in needed for result in operation.results):
            body.add_op(operation.clone(mapping))
    body.add_op(func.ReturnOp(*(mapping[value] for value in values)))
    types = ([argument.type for argument in arguments], [value.type for value in values])
    names = tuple(argument_name(function, argument.index) for argument in arguments)
    made = func.FuncOp("parameter", types, Region(body))
    said = [VALUES.retained(entry_of(function.arg_attrs, argument.index)) for argument in arguments]
    if any(said):
        made.arg_attrs = ArrayAttr([DictionaryAttr(entry) for entry in said])
    return names, made


def evaluate_each(sources: Sequence[tuple[SSAValue, func.FuncOp]], parameters: Mapping[str, np.ndarray]) -> Iterator[np.ndarray]:
    """Each of `sources`, with its function, in order: together with others that are computed from a tensor of at least their size
    which it is computed from, too, so that this is computed once. Till the last of those is there, all are kept."""
    together = networkx.Graph()
    for value, _ in sources:
        together.add_node(value)
        together.add_edges_from((value, made) for made in _slice_of(value) if _is_worth_sharing(made, value))
    ready: dict[int, np.ndarray] = {}
    for number, (value, function) in enumerate(sources):
        if number not in ready:
            related = networkx.node_connected_component(together, value)
            group = [at for at, (other, _) in enumerate(sources) if at >= number and other in related]
            ready |= zip(group, evaluate([sources[at][0] for at in group], function, parameters), strict=True)
        yield ready.pop(number)


def _is_worth_sharing(made: SSAValue, value: SSAValue) -> bool:
    """Whether `made`, which `value` is computed from, is computed itself, and no smaller."""
    is_computed = isinstance(made.owner, GenericOp) and bool(made.owner.inputs)
    return is_computed and tensor_bytes(made.type) >= tensor_bytes(value.type)


def _parameter(name: str, parameters: Mapping[str, np.ndarray]) -> np.ndarray:
    if name not in parameters:
        raise CompileError("the model gives no value for this parameter", where=name, accepted=", ".join(parameters))
    return parameters[name]


def _slice_of(value: SSAValue) -> set[SSAValue]:
    """All values `value` depends on, itself included."""
    needed: set[SSAValue] = set()
    pending = [value]
    while pending:
        current = pending.pop()
        if current in needed:
            continue
        needed.add(current)
        if isinstance(current.owner, Operation):
            needed.update(current.owner.results)
            pending.extend(current.owner.operands)
            pending.extend(_captured(current.owner))
    return needed


def _captured(operation: Operation) -> list[SSAValue]:
    """Values from outside that the operation's regions use."""
    inside = set(operation.walk())
    blocks = {block for inner in inside for region in inner.regions for block in region.blocks}
    return [
        operand
        for inner in inside
        for operand in inner.operands
        if inner is not operation and operand.owner not in inside and operand.owner not in blocks
    ]
