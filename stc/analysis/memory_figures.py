"""Memory before and after fusion (docs/design/architecture.md, "The emitted project is the contract")."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from xdsl.dialects import memref, tensor
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.linalg.abstract_ops import LinalgStructuredOperation
from xdsl.dialects.linalg.ops import FillOp
from xdsl.ir import Operation, SSAValue

from stc.analysis.host_work import functions_of, host_values
from stc.analysis.kernel_memory import bytes_of_entries, tensor_bytes
from stc.dialects.dataflow import KernelOp, TaskKind, TaskOp
from stc.dialects.stream import BufferOp, CreateOp
from stc.dialects.use_def import uses_through


@dataclass(frozen=True)
class MemoryFigures:
    """Bytes. `before`: all tensors passed between linalg ops after the linalg stage; `before_unfused`: the same before
    element-wise fusion. After: `converters` with their ping-pong factor (a), `fifos` at emitted depth (b), `local` tiles and
    accumulators (c). `external`: intermediate tensors passed between kernels through external memory. None: not known, since the
    compile began behind what is measured."""

    before: int | None
    before_unfused: int | None
    converters: int
    fifos: int
    local: int
    external: int

    def report(self) -> dict[str, float | int | None]:
        """All figures with the ratios (a+b)/before and (a+b+c)/before, against fused and unfused linalg."""
        streams = self.converters + self.fifos
        ratios: dict[str, float] = {}
        for name, before in (("before", self.before), ("before_unfused", self.before_unfused)):
            if before:
                ratios[f"streams_over_{name}"] = streams / before
                ratios[f"all_over_{name}"] = (streams + self.local) / before
        return {**asdict(self), **ratios}


def intermediate_bytes(module: ModuleOp) -> int:
    """Bytes of all tensors that one linalg op hands to another, reshapes and slices looked through."""
    total = 0
    for function in functions_of(module):
        known = host_values(function)
        for op in function.body.block.ops:
            if isinstance(op, LinalgStructuredOperation) and not isinstance(op, FillOp):
                total += sum(tensor_bytes(r.type) for r in op.results if r not in known and _reaches_linalg(r))
    return total


_MOVES = (tensor.ExpandShapeOp, tensor.CollapseShapeOp, tensor.ExtractSliceOp, tensor.InsertSliceOp, tensor.ConcatOp)


def _reaches_linalg(value: SSAValue) -> bool:
    return any(isinstance(use.operation, LinalgStructuredOperation) for use in uses_through(value, _MOVES))


def on_chip_bytes(module: ModuleOp) -> tuple[int, int, int]:
    """(converters, FIFOs, kernel-local buffers) of all kernels at the stream level; line buffers are converters."""
    converters = fifos = local = 0
    for op in module.walk():
        match op:
            case BufferOp():
                block = op.result.type
                converters += block.count * tensor_bytes(block.buffer_type)
            case CreateOp():
                fifo = op.result.type
                fifos += bytes_of_entries(fifo.depth * fifo.lanes, fifo.scalar_type)
            case memref.AllocOp() if is_line_buffer(op):
                converters += tensor_bytes(op.memref.type)
            case memref.AllocOp():
                local += tensor_bytes(op.memref.type)
            case _:
                continue
    return converters, fifos, local


def is_line_buffer(op: Operation) -> bool:
    """Whether `op` allocates the buffer of a converter that is one task."""
    if not isinstance(op, memref.AllocOp) or not isinstance(task := op.parent_op(), TaskOp):
        return False
    return task.kind == TaskKind.CONVERTER


def converter_count(module: ModuleOp) -> int:
    """Converters of all kernels at the stream level: buffers between two tasks, and line buffers."""
    return sum(isinstance(op, BufferOp) or is_line_buffer(op) for op in module.walk())


def external_bytes(module: ModuleOp) -> int:
    """Bytes of tensors that leave one kernel and enter another."""
    values = [r for op in module.walk() if isinstance(op, KernelOp) for r in op.results]
    return sum(tensor_bytes(value.type) for value in values if _reaches_kernel(value))


def _reaches_kernel(value: SSAValue) -> bool:
    reached: set[SSAValue] = {value}
    waiting: list[SSAValue] = [value]
    while waiting:
        for use in waiting.pop().uses:
            if isinstance(use.operation, KernelOp):
                return True
            new = [result for result in use.operation.results if result not in reached]
            reached.update(new)
            waiting.extend(new)
    return False
