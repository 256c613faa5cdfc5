"""What the host does, read off `@main`: pack tensors into buffers, launch kernels, unpack results.

Reshapes of inputs and results are free (row-major data stays where it is). Whatever depends on parameters and constants
alone is evaluated when parameters are packed. Parts of the model that PyTorch runs there (`stc.host`) stand between launches. Any
other host work is refused.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from xdsl.dialects import arith, func, tensor
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, ModuleOp, TensorType, VectorType, i32, i64
from xdsl.dialects.linalg import ops as linalg
from xdsl.ir import Block, BlockArgument, Operation, SSAValue

from stc.analysis.host_parts import HostPart, given_arguments, host_parts
from stc.analysis.shared_buffers import buffer_value
from stc.diagnostics import CompileError
from stc.dialects.dataflow import KernelOp, MemoryOp, PackOp, Place, UnpackOp
from stc.dialects.dataflow.memory_ops import striped
from stc.dialects.facts import NAME, PARAMETER
from stc.dialects.itensor import ItensorType, SymbolType
from stc.dialects.updates import scalar_argument
from stc.dialects.use_def import RESHAPES, through_reshapes

TensorRole = Literal["input", "output", "intermediate", "constant"]


@dataclass(frozen=True, eq=False)
class HostValue:
    """A tensor the host holds in row-major form. `value`: where it comes from in `@main`.

    A "constant" is known once parameters are, and becomes a result without passing through a kernel.
    """

    name: str
    role: TensorRole
    type: TensorType
    value: SSAValue


@dataclass(frozen=True, eq=False)
class Buffer:
    """External memory: packed words. `layout` is None where no host step touches it.

    `kind` is that of the ports bound to it. `shape` is that of the tensor it packs, of which `layout` may enumerate one stripe.
    `tensor`: the host tensor packed into or unpacked from it. `source`: of a parameter, the value to evaluate and pack.
    """

    name: str
    kind: Literal["input", "parameter", "output", "intermediate"]
    packed: TensorType
    layout: ItensorType | None
    tensor: HostValue | None
    source: SSAValue | None = None
    shape: tuple[int, ...] = ()


@dataclass(frozen=True)
class HostStep:
    """One action, in order. `tensor`: the host's, packed into or unpacked from `buffer`. `part`: of what PyTorch runs, its name."""

    action: Literal["pack", "launch", "unpack", "host-torch"]
    kernel: KernelOp | None
    buffer: Buffer | None = None
    tensor: HostValue | None = None
    part: str | None = None


@dataclass(frozen=True)
class HostCopy:
    """A result that no kernel makes (an input, a parameter, another result): `target` gets the data of `source`."""

    source: HostValue
    target: HostValue


@dataclass(frozen=True)
class HostPlan:
    """`operands[kernel]` and `results[kernel]` are the buffers of a kernel's operands and results, in order; `scalars[kernel]` the
    inputs that are its scalars.

    `copies` come after all `steps`.
    """

    function: func.FuncOp
    tensors: tuple[HostValue, ...]
    buffers: tuple[Buffer, ...]
    operands: dict[KernelOp, tuple[Buffer, ...]]
    results: dict[KernelOp, tuple[Buffer, ...]]
    scalars: dict[KernelOp, tuple[HostValue, ...]]
    steps: tuple[HostStep, ...]
    copies: tuple[HostCopy, ...] = ()

    @property
    def kernels(self) -> tuple[KernelOp, ...]:
        return tuple(self.operands)


def main_function(module: ModuleOp) -> func.FuncOp:
    """The host function; CompileError where there is none."""
    for operation in module.ops:
        if isinstance(operation, func.FuncOp) and operation.sym_name.data == "main":
            return operation
    raise CompileError("module has no function @main", accepted="one func.func @main, the host")


def host_plan(module: ModuleOp) -> HostPlan:
    """Read the plan of `@main`; CompileError names an operation the host cannot do."""
    return _Planner(main_function(module)).plan()


def argument_name(function: func.FuncOp, index: int) -> str:
    """`stc.name` of an argument, or its position."""
    name = NAME.of(entry_of(function.arg_attrs, index))
    return f"arg{index}" if name is None else name


def is_parameter(function: func.FuncOp, index: int) -> bool:
    return PARAMETER.on(entry_of(function.arg_attrs, index))


def _result_name(function: func.FuncOp, index: int) -> str:
    name = NAME.of(entry_of(function.res_attrs, index))
    return f"result{index}" if name is None else name


def entry_of(attributes: ArrayAttr[DictionaryAttr] | None, index: int) -> DictionaryAttr | None:
    return None if attributes is None else attributes.data[index]


class _Planner:
    def __init__(self, function: func.FuncOp):
        self._function = function
        self._block: Block = function.body.block
        self._tensors: dict[SSAValue, HostValue] = {}
        self._buffers: dict[SSAValue, Buffer] = {}
        self._aliases: list[tuple[SSAValue, str, TensorType]] = []
        self._outputs = self._returned()
        self._from_parameters = self._parameter_values()
        self._operands: dict[KernelOp, tuple[Buffer, ...]] = {}
        self._results: dict[KernelOp, tuple[Buffer, ...]] = {}
        self._scalars: dict[KernelOp, tuple[HostValue, ...]] = {}
        self._steps: list[HostStep] = []
        self._parts = given_arguments(function)
        self._run: set[HostPart] = set()
        # Buffers that hold their data on the device already.
        self._filled: set[Buffer] = set()

    def plan(self) -> HostPlan:
        for operation in self._block.ops:
            if isinstance(operation, KernelOp):
                self._kernel(operation)
            elif not self._is_host_work(operation):
                raise CompileError(f"operation {operation.name} would run on the host at every launch", where="@main",
                                   accepted="pack, unpack, reshapes, and anything on parameters alone")
        for part in host_parts(self._function):
            self._run_part(part)
        if not self._operands:
            raise CompileError("nothing is left to compute: every result is an input, a parameter or a constant", where="@main",
                               accepted="at least one result that is computed from an input")
        buffers = dict.fromkeys(buffer for kernel in self._operands for buffer in
                                (*self._operands[kernel], *self._results[kernel]))
        copies = self._copies()
        packed = {step.tensor for step in self._steps if step.action == "pack"}
        held = dict.fromkeys((*self._tensors.values(), *(copy.source for copy in copies), *(copy.target for copy in copies)))
        tensors = [tensor for tensor in held if tensor.role != "intermediate" or tensor in packed]
        # A result that no later step packs again stays on the device.
        steps = [step for step in self._steps if step.tensor is None or step.tensor in tensors]
        bound = (self._operands, self._results, self._scalars)
        return HostPlan(self._function, tuple(tensors), tuple(buffers), *bound, tuple(steps), tuple(copies))

    # Facts about values ---------------------------------------------------------------------------------------------

    def _returned(self) -> dict[SSAValue, tuple[str, TensorType]]:
        """What `@main` returns, behind reshapes, with the result's name and type."""
        terminator = self._block.last_op
        assert terminator is not None
        returned: dict[SSAValue, tuple[str, TensorType]] = {}
        for index, value in enumerate(terminator.operands):
            name, origin = _result_name(self._function, index), through_reshapes(value)
            assert isinstance(value.type, TensorType)
            if origin in returned:
                self._aliases.append((origin, name, value.type))
            else:
                returned[origin] = (name, value.type)
        return returned

    def _copies(self) -> list[HostCopy]:
        """Results that no kernel writes, or that are another result once more."""
        made = [
            (value, name, kind)
            for value, (name, kind) in self._outputs.items()
            if value not in self._tensors or self._tensors[value].role != "output"
        ]
        return [HostCopy(self._source(value, name), HostValue(name, "output", kind, value)) for value, name, kind in
                (*made, *self._aliases)]

    def _source(self, value: SSAValue, name: str) -> HostValue:
        """The host tensor whose data a result repeats."""
        if value in self._tensors:
            return self._tensors[value]
        if value in self._from_parameters:
            assert isinstance(value.type, TensorType)
            self._tensors[value] = HostValue(f"{name}_constant", "constant", value.type, value)
        elif isinstance(value, BlockArgument):
            return self._host_tensor(value)
        else:
            raise CompileError(f"result '{name}' comes from no kernel", where="@main", accepted="results of kernels")
        return self._tensors[value]

    def _parameter_values(self) -> set[SSAValue]:
        """Values that depend on parameters and constants alone."""
        values: set[SSAValue] = {
            argument for argument in self._block.args if is_parameter(self._function, argument.index)
        }
        for operation in self._block.ops:
            is_launch = isinstance(operation, (KernelOp, UnpackOp))
            if not is_launch and all(operand in values for operand in operation.operands):
                values.update(operation.results)
        return values

    def _is_host_work(self, operation: Operation) -> bool:
        if isinstance(operation, (PackOp, UnpackOp, func.ReturnOp, *RESHAPES)):
            return True
        if isinstance(operation, tensor.ExtractOp) and scalar_argument(operation.result) is not None:
            return True
        return all(result in self._from_parameters for result in operation.results)

    # Parts of the model --------------------------------------------------------------------------------------------------

    def _run_before(self, value: SSAValue) -> None:
        """Let PyTorch run, before it is used, what gives a value."""
        if (part := self._parts.get(through_reshapes(value))) is not None:
            self._run_part(part)

    def _run_part(self, part: HostPart) -> None:
        if part in self._run:
            return
        self._run.add(part)
        for value in part.takes:
            self._run_before(value)
            self._source(through_reshapes(value), part.name)
        for value in part.gives:
            self._host_tensor(value)
        self._steps.append(HostStep("host-torch", None, part=part.name))

    # Kernels --------------------------------------------------------------------------------------------------------

    def _kernel(self, kernel: KernelOp) -> None:
        operands: list[Buffer] = []
        self._scalars[kernel] = tuple(self._scalar(kernel.inputs[port.index]) for port in kernel.symbols.values())
        for value, port in zip(kernel.inputs, kernel.arguments, strict=True):
            if isinstance(port.type, SymbolType):
                continue
            if value not in self._buffers:
                self._buffers[value] = self._operand_buffer(kernel, value)
            buffer = self._buffers[value]
            if buffer.kind != "parameter" and buffer not in self._filled:
                self._filled.add(buffer)
                if buffer.tensor is not None:
                    self._run_before(buffer.tensor.value)
                self._steps.append(HostStep("pack", kernel, buffer, buffer.tensor))
            operands.append(buffer)
        self._operands[kernel] = tuple(operands)
        self._steps.append(HostStep("launch", kernel))
        self._results[kernel] = tuple(self._result_buffer(kernel, index) for index in range(len(kernel.outputs)))
        self._filled.update(self._results[kernel])

    def _scalar(self, value: SSAValue) -> HostValue:
        """The input that a symbol of a kernel is."""
        argument = scalar_argument(value)
        if argument is None or value.type not in (i32, i64):
            what = "a scalar that the host computes" if argument is None else f"a scalar of type {value.type}"
            raise CompileError(what, where="@main", accepted="an input of type i32, or of one i32 or i64")
        self._run_before(argument)
        if argument not in self._tensors:
            name = argument_name(self._function, argument.index)
            kind = argument.type if isinstance(argument.type, TensorType) else TensorType(argument.type, [])
            self._tensors[argument] = HostValue(name, "input", kind, argument)
        return self._tensors[argument]

    def _operand_buffer(self, kernel: KernelOp, value: SSAValue) -> Buffer:
        pack = value.owner
        if not isinstance(pack, PackOp):
            raise CompileError(f"operand of type {value.type} is neither packed nor a kernel's result",
                               where=f"@{kernel.sym_name.data}", accepted="results of dataflow.pack or dataflow.kernel")
        packed, stripe = _packed_type(value, kernel), tuple[SSAValue, ...](pack.stripes).index(value)
        layout, shape = striped(pack.layout, len(pack.stripes))[stripe], pack.layout.tensor_shape
        if pack.source in self._from_parameters:
            return Buffer(self._parameter_name(pack.source), "parameter", packed, layout, None, pack.source, shape)
        if (shared := self._buffers.get(buffer_value(value))) is not None:
            return shared
        held = self._host_tensor(pack.source)
        kind = "input" if held.role == "input" else "intermediate"
        return Buffer(held.name, kind, packed, layout, held, shape=shape)

    def _host_tensor(self, value: SSAValue) -> HostValue:
        """The input (or tensor unpacked before) whose data `value` is."""
        origin = through_reshapes(value)
        if origin in self._tensors:
            return self._tensors[origin]
        if not isinstance(origin, BlockArgument):
            raise CompileError("a kernel operand is computed on the host", where="@main",
                               accepted="inputs, parameters and results of kernels, reshaped")
        assert isinstance(origin.type, TensorType)
        name = argument_name(self._function, origin.index)
        self._tensors[origin] = HostValue(name, "input", origin.type, origin)
        return self._tensors[origin]

    def _parameter_name(self, value: SSAValue) -> str:
        """The name of the parameter whose data a value is, of the first one where it is several; of what is computed its own."""
        origin = value
        while isinstance(origin.owner, Operation) and origin.owner.operands and _moves_data(origin.owner):
            origin = origin.owner.operands[0]
        if isinstance(origin, BlockArgument):
            return argument_name(self._function, origin.index)
        return value.name_hint or "constant"

    def _result_buffer(self, kernel: KernelOp, index: int) -> Buffer:
        result, place = kernel.outputs[index], kernel.places[index]
        packed = _packed_type(result, kernel)
        unpacks = [use.operation for use in result.uses if isinstance(use.operation, UnpackOp)]
        name = result_hint(kernel, index)
        updated = None if place is None else self._updated_buffer(kernel, index, place)
        if not unpacks:
            self._buffers[result] = updated or Buffer(name, "intermediate", packed, None, None)
            return self._buffers[result]
        unpack = unpacks[0]
        assert isinstance(unpack.result.type, TensorType)
        role: TensorRole = "intermediate"
        kind = unpack.result.type
        if unpack.result in self._outputs:
            role, (name, kind) = "output", self._outputs[unpack.result]
        held = self._tensors.get(unpack.result) or HostValue(name, role, kind, unpack.result)
        layout = striped(unpack.layout, len(unpack.stripes))[list(unpack.stripes).index(result)]
        buffer = updated or Buffer(name, role, packed, layout, held, shape=unpack.layout.tensor_shape)
        for other in unpacks:
            self._tensors[other.result] = held
        self._buffers[result] = buffer
        self._steps.append(HostStep("unpack", kernel, buffer, held))
        return buffer

    def _updated_buffer(self, kernel: KernelOp, index: int, place: Place) -> Buffer:
        """The buffer that a result updates; CompileError where somebody else still wants what was in it."""
        value, buffer = kernel.inputs[place.operand], self._buffers[kernel.inputs[place.operand]]
        others = [use.operation for use in value.uses if (use.operation, use.index) != (kernel, place.operand)]
        if buffer.kind == "parameter" or others:
            why = "a parameter" if not others else f"which '{others[0].name}' takes too"
            what = f"result {index} updates {buffer.name}, {why}"
            raise CompileError(what, where=f"@{kernel.sym_name.data}", accepted="an input that this kernel alone takes")
        return buffer


def _moves_data(op: Operation) -> bool:
    """Whether the entries of the results are entries of the operands: nothing is computed."""
    if not isinstance(op, linalg.GenericOp):
        return not isinstance(op, arith.ConstantOp) and not op.regions
    last = op.regions[0].block.last_op
    return last is not None and all(isinstance(value, BlockArgument) for value in last.operands)


def result_hint(kernel: KernelOp, index: int) -> str:
    """What to call a result that has no name of its own: as the kernel and its memory there."""
    memory = kernel.terminator.arguments[index].owner
    own = memory.sym_name.data if isinstance(memory, MemoryOp) else str(index)
    return f"{kernel.sym_name.data}_{own}"


def _packed_type(value: SSAValue, kernel: KernelOp) -> TensorType:
    kind = value.type
    if isinstance(kind, TensorType) and isinstance(kind.element_type, VectorType) and len(kind.get_shape()) == 1:
        return kind
    raise CompileError(f"operand or result of type {kind} is not packed", where=f"@{kernel.sym_name.data}",
                       accepted="tensor<Nxvector<LxT>>")
