"""Editing the boundary of a kernel: operands and results come and go, together with the function around it."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.builder import Builder
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp, TensorType, VectorType
from xdsl.ir import Attribute, BlockArgument, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from stc.dialects.dataflow import KernelOp, PackOp, UnpackOp
from stc.dialects.dataflow.boundary import packed_words, stored_type
from stc.dialects.itensor import ItensorType
from stc.execution.run import main_function
from stc_testing.reduction.signature import add_argument, expose


def kernels_of(module: ModuleOp) -> list[KernelOp]:
    """Kernels directly in the function whose boundary can be edited: none of their results updates an operand in place."""
    return [op for op in main_function(module).body.block.ops if isinstance(op, KernelOp) and op.in_place is None]


def add_operand(function: func.FuncOp, kernel: KernelOp, kind: ItensorType, hint: str | None) -> BlockArgument | None:
    """A new operand seen as `kind` inside, from a new argument of the function; None where no tensor can be seen so."""
    if not _is_boundary(kind):
        return None
    outside: SSAValue = add_argument(function, kind.tensor_type, hint)
    if _is_packed(kernel):
        outside = Builder(InsertPoint.before(kernel)).insert(PackOp(outside, kind, _packed(kind))).result
        outside.name_hint = hint
    kernel.operands = [*kernel.operands, outside]
    argument = kernel.body.block.insert_arg(kind, len(kernel.body.block.args))
    argument.name_hint = hint
    return argument


def drop_operand(kernel: KernelOp, index: int) -> None:
    """Remove an operand that nothing inside uses."""
    kernel.body.block.erase_arg(kernel.body.block.args[index])
    kernel.operands = [value for position, value in enumerate(kernel.operands) if position != index]


def add_results(function: func.FuncOp, kernel: KernelOp, values: Sequence[SSAValue]) -> KernelOp:
    """Return itensors of the body from the kernel and from the function, too; values that no tensor can hold are left out."""
    kinds = [(value, value.type) for value in values if isinstance(value.type, ItensorType) and _is_boundary(value.type)]
    packed = _is_packed(kernel)
    outside = [_packed(kind) if packed else kind.tensor_type for _, kind in kinds]
    count = len(kernel.outputs)
    yielded = [*kernel.terminator.arguments, *(value for value, _ in kinds)]
    new = rebuilt(kernel, yielded, [*kernel.result_types, *outside], range(count))
    builder = Builder(InsertPoint.after(new))
    plain: list[SSAValue] = list(new.outputs[count:])
    if packed:
        plain = [
            builder.insert(UnpackOp(result, kind, kind.tensor_type)).result
            for result, (_, kind) in zip(plain, kinds, strict=True)
        ]
    expose(function, plain)
    return new


def keep_kernel_results(kernel: KernelOp, retained: Sequence[int]) -> KernelOp:
    """Return only the results at the positions `retained`; the others have no uses."""
    values = [kernel.terminator.arguments[index] for index in retained]
    return rebuilt(kernel, values, [kernel.outputs[index].type for index in retained], retained)


def rebuilt(kernel: KernelOp, yielded: Sequence[SSAValue], types: Sequence[Attribute], positions: Sequence[int]) -> KernelOp:
    """The kernel with other results; new result k takes the place of the old one at `positions[k]`, where there is one."""
    kernel.terminator.operands = list(yielded)
    body = kernel.detach_region(kernel.body)
    new = KernelOp(kernel.sym_name, kernel.inputs, [], types, body, attributes=kernel.attributes)
    Rewriter.insert_op(new, InsertPoint.before(kernel))
    for result, position in zip(new.outputs, positions, strict=False):
        result.name_hint = kernel.outputs[position].name_hint
        kernel.outputs[position].replace_all_uses_with(result)
    kernel.detach()
    kernel.erase()
    return new


def _is_boundary(kind: ItensorType) -> bool:
    return kind.order.is_static and kind.order.is_exact


def _is_packed(kernel: KernelOp) -> bool:
    types = [*(value.type for value in kernel.inputs), *kernel.result_types]
    return any(isinstance(kind, TensorType) and isinstance(kind.element_type, VectorType) for kind in types)


def _packed(kind: ItensorType) -> TensorType[VectorType]:
    """One token in a word of a power of two of lanes."""
    lanes = 1 << (kind.order.element_count - 1).bit_length()
    return TensorType(VectorType(stored_type(kind.element_type, lanes), [lanes]), [packed_words(kind.order, lanes) or 1])
