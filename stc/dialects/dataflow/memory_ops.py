"""Operations on external memory: packing on the host, result memory in the kernel."""

from __future__ import annotations

from xdsl.dialects.builtin import MemRefType, StringAttr, SymbolNameConstraint, TensorType
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    base,
    irdl_op_definition,
    operand_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.traits import HasParent, Pure
from xdsl.utils.exceptions import VerifyException

from stc.dialects.dataflow.boundary import verify_covers, verify_packed
from stc.dialects.dataflow.kernel import KernelOp
from stc.dialects.effects import OwnsResults
from stc.dialects.itensor.type import ItensorType


def _verify_packing(plain: Attribute, layout: Attribute, packed: Attribute) -> None:
    if not isinstance(plain, TensorType) or not isinstance(layout, ItensorType) or not isinstance(packed, TensorType):
        raise VerifyException(f"packs {plain} as {layout} to {packed}, expected a tensor, an itensor type and a tensor")
    verify_covers("the layout", plain, layout)
    verify_packed("the packed tensor", packed, layout)


@irdl_op_definition
class PackOp(IRDLOperation):
    """Lay a tensor out in external memory in the order of an itensor type: its distinct tokens in words of L lanes.

    Revisits are left out (the DMA reads words again). Runs on the host; for parameters, once.

    Example: `%p = dataflow.pack %x : tensor<32x1024xf32> as !X -> tensor<4096xvector<8xf32>>`
    """

    name = "dataflow.pack"

    source = operand_def(base(TensorType))
    layout_attr = prop_def(prop_name="layout")
    result = result_def(base(TensorType))

    traits = traits_def(Pure())
    assembly_format = "$source `:` type($source) `as` $layout `->` type($result) attr-dict"

    def __init__(self, source: SSAValue | Operation, layout: ItensorType, type: TensorType[Attribute]):
        super().__init__(operands=[source], properties={"layout": layout}, result_types=[type])

    @property
    def layout(self) -> ItensorType:
        """The order of the packed tokens."""
        assert isinstance(self.layout_attr, ItensorType)
        return self.layout_attr

    def verify_(self) -> None:
        _verify_packing(self.source.type, self.layout_attr, self.result.type)


@irdl_op_definition
class UnpackOp(IRDLOperation):
    """The inverse of `dataflow.pack`.

    Example: `%x = dataflow.unpack %p : tensor<4096xvector<8xf32>> as !X -> tensor<32x1024xf32>`
    """

    name = "dataflow.unpack"

    source = operand_def(base(TensorType))
    layout_attr = prop_def(prop_name="layout")
    result = result_def(base(TensorType))

    traits = traits_def(Pure())
    assembly_format = "$source `:` type($source) `as` $layout `->` type($result) attr-dict"

    def __init__(self, source: SSAValue | Operation, layout: ItensorType, type: TensorType[Attribute]):
        super().__init__(operands=[source], properties={"layout": layout}, result_types=[type])

    @property
    def layout(self) -> ItensorType:
        """The order of the packed tokens."""
        assert isinstance(self.layout_attr, ItensorType)
        return self.layout_attr

    def verify_(self) -> None:
        _verify_packing(self.result.type, self.layout_attr, self.source.type)


@irdl_op_definition
class MemoryOp(IRDLOperation):
    """External memory that becomes a result of the kernel; written by one task and yielded.

    Example: `%y = dataflow.memory @out : memref<4096xvector<8xf32>>`
    """

    name = "dataflow.memory"

    sym_name = prop_def(SymbolNameConstraint())
    result = result_def(base(MemRefType))

    traits = traits_def(OwnsResults(), HasParent(KernelOp))
    assembly_format = "$sym_name attr-dict `:` type($result)"

    def __init__(self, name: str | StringAttr, type: MemRefType[Attribute]):
        super().__init__(
            properties={"sym_name": StringAttr(name) if isinstance(name, str) else name}, result_types=[type]
        )
