"""`pack-interfaces`: tensors in external memory lie in the order in which they stream, in words of the port's width."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.builder import Builder
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, TensorType, VectorType
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint
from xdsl.utils.hints import isa

from stc.analysis.kernel_memory import bits_of
from stc.diagnostics import CompileError
from stc.dialects.dataflow import KernelOp, PackOp, UnpackOp
from stc.dialects.dataflow.boundary import packed_words, stored_type
from stc.dialects.itensor import ItensorType
from stc.iteration.order import StreamOrder
from stc.iteration.size import static
from stc.transforms.dataflow.fuse_kernels import refuse_in_place


@dataclass(frozen=True)
class PackInterfaces(ModulePass):
    """Insert `dataflow.pack` and `dataflow.unpack` on the host, so that each DMA of a kernel is a flat burst.

    A word holds one token, padded to a power of two of lanes, or as many tokens as fill a port of `port_bits` where the
    innermost loop runs over them. Revisits are not stored: the DMA reads again. For parameters packing happens once. A truth
    value (i1) is a byte of external memory.

    Options: `port_bits` (default 512, a power of two).

        %y = dataflow.kernel @f(%a = %x : tensor<8x16xf32> as !X) -> (tensor<8x16xf32> as !Y) {...}
      becomes
        %p = dataflow.pack %x : tensor<8x16xf32> as !X -> tensor<8xvector<16xf32>>
        %q = dataflow.kernel @f(%a = %p : tensor<8xvector<16xf32>> as !X) -> (tensor<8xvector<16xf32>> as !Y) {...}
        %y = dataflow.unpack %q : tensor<8xvector<16xf32>> as !Y -> tensor<8x16xf32>
    """

    name = "pack-interfaces"

    port_bits: int = 512

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if self.port_bits < 8 or self.port_bits & (self.port_bits - 1):
            raise CompileError(f"port_bits is {self.port_bits}", where=self.name, accepted="a power of two of at least 8")
        for kernel in [found for found in op.walk() if isinstance(found, KernelOp)]:
            refuse_in_place([kernel], self.name)
            self._pack_operands(kernel)
            self._unpack_results(kernel)

    def _pack_operands(self, kernel: KernelOp) -> None:
        builder = Builder(InsertPoint.before(kernel))
        for index, (operand, port) in enumerate(zip(list(kernel.inputs), kernel.arguments, strict=True)):
            if isinstance(port.type, ItensorType) and _is_plain(operand.type):
                pack = builder.insert(PackOp(operand, port.type, self._packed_type(port.type)))
                pack.result.name_hint = operand.name_hint
                kernel.operands[index] = pack.result

    def _unpack_results(self, kernel: KernelOp) -> None:
        yielded = [value.type for value in kernel.terminator.arguments]
        if not any(isinstance(inside, ItensorType) for inside in yielded):
            return
        types = [
            self._packed_type(inside) if isinstance(inside, ItensorType) and _is_plain(result.type) else result.type
            for result, inside in zip(kernel.outputs, yielded, strict=True)
        ]
        body = kernel.detach_region(kernel.body)
        packed = KernelOp(kernel.sym_name, kernel.inputs, [], types, body, attributes=kernel.attributes)
        builder = Builder(InsertPoint.before(kernel))
        builder.insert(packed)
        for old, new, inside in zip(list(kernel.outputs), packed.outputs, yielded, strict=True):
            value = new
            if new.type != old.type and isinstance(inside, ItensorType) and isa(old.type, TensorType):
                value = builder.insert(UnpackOp(new, inside, old.type)).result
            new.name_hint = old.name_hint
            value.name_hint = old.name_hint
            old.replace_all_uses_with(value)
        kernel.detach()
        kernel.erase()

    def _packed_type(self, type_: ItensorType) -> TensorType[VectorType]:
        stored = stored_type(type_.element_type)
        lanes = word_lanes(type_.order, self.port_bits // bits_of(stored))
        words = packed_words(type_.order, lanes)
        assert words is not None
        return TensorType(VectorType(stored, [lanes]), [words])


def word_lanes(order: StreamOrder, most: int) -> int:
    """Lanes of one word of external memory: a power of two that holds one token, or several, up to `most` lanes."""
    lanes = 1 << (order.element_count - 1).bit_length()
    if lanes != order.element_count or not order.loops or order.dimension_of_loop[-1] is None:
        return lanes
    trip = static(order.loops[-1].trip)
    while lanes * 2 <= most and trip % 2 == 0:
        lanes, trip = lanes * 2, trip // 2
    return lanes


def _is_plain(type_: object) -> bool:
    return isa(type_, TensorType) and not isa(type_.element_type, VectorType)
