"""Operations on external memory: packing on the host, result memory in the kernel."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import MemRefType, StringAttr, SymbolNameConstraint, TensorType
from xdsl.ir import Attribute, Operation, OpResult, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    base,
    irdl_op_definition,
    operand_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.traits import HasParent, Pure
from xdsl.utils.exceptions import VerifyException

from stc.dialects.dataflow.boundary import verify_covers, verify_packed
from stc.dialects.dataflow.kernel import KernelOp
from stc.dialects.effects import OwnsResults
from stc.dialects.itensor.type import ItensorType
from stc.iteration.round_robin import round_robin_parts


def _verify_packing(plain: Attribute, layout: Attribute, packed: Sequence[SSAValue]) -> None:
    if not isinstance(plain, TensorType) or not isinstance(layout, ItensorType):
        raise VerifyException(f"packs {plain} as {layout}, expected a tensor and an itensor type")
    if not packed:
        raise VerifyException("has no packed tensor, expected one, or one per stripe")
    verify_covers("the layout", plain, layout)
    try:
        stripes = striped(layout, len(packed))
    except ValueError as error:
        raise VerifyException(f"has {len(packed)} packed tensors: {error}") from error
    for index, (value, stripe) in enumerate(zip(packed, stripes, strict=True)):
        assert isinstance(value.type, TensorType)
        verify_packed("the packed tensor" if len(packed) == 1 else f"packed tensor {index}", value.type, stripe)


def striped(layout: ItensorType, count: int) -> tuple[ItensorType, ...]:
    """What lies in each of `count` buffers: the tokens of `layout`, split round-robin. ValueError where they do not split."""
    if count > 1 and layout.order.loops and layout.order.dimension_of_loop[-1] is None:
        raise ValueError("the innermost loop is a reuse loop, expected one that moves")
    return tuple(ItensorType.from_order(order, layout.element_type) for order in round_robin_parts(layout.order, count))


class _Packing(IRDLOperation):
    """What pack and unpack share: the order in which the tokens lie."""

    layout_attr = prop_def(prop_name="layout")

    @property
    def layout(self) -> ItensorType:
        """The order of the packed tokens."""
        assert isinstance(self.layout_attr, ItensorType)
        return self.layout_attr


@irdl_op_definition
class PackOp(_Packing):
    """Lay a tensor out in external memory in the order of an itensor type: its distinct tokens in words of L lanes.

    Reuse loops are left out (the DMA reads words again). Runs on the host; for parameters, once. Several results are the stripes of
    the tensor: token t lies in result t mod n, so that n memory ports can be read at once.

    Example: `%p = dataflow.pack %x : tensor<32x1024xf32> as !X -> tensor<4096xvector<8xf32>>`
    """

    name = "dataflow.pack"

    source = operand_def(base(TensorType))
    stripes = var_result_def(base(TensorType))

    traits = traits_def(Pure())
    assembly_format = "$source `:` type($source) `as` $layout `->` type($stripes) attr-dict"

    def __init__(self, source: SSAValue | Operation, layout: ItensorType, *types: TensorType[Attribute]):
        super().__init__(operands=[source], properties={"layout": layout}, result_types=[types])

    @property
    def result(self) -> OpResult:
        """The packed tensor of a pack that does not stripe."""
        (result,) = self.stripes
        return result

    def verify_(self) -> None:
        _verify_packing(self.source.type, self.layout_attr, self.stripes)


@irdl_op_definition
class UnpackOp(_Packing):
    """The inverse of `dataflow.pack`, of all stripes at once.

    Example: `%x = dataflow.unpack %p : tensor<4096xvector<8xf32>> as !X -> tensor<32x1024xf32>`
    """

    name = "dataflow.unpack"

    stripes = var_operand_def(base(TensorType))
    result = result_def(base(TensorType))

    traits = traits_def(Pure())
    assembly_format = "$stripes `:` type($stripes) `as` $layout `->` type($result) attr-dict"

    def __init__(
        self, stripes: Sequence[SSAValue] | SSAValue | Operation, layout: ItensorType, type: TensorType[Attribute]
    ):
        values = [stripes] if isinstance(stripes, SSAValue | Operation) else stripes
        super().__init__(operands=[values], properties={"layout": layout}, result_types=[type])

    @property
    def source(self) -> SSAValue:
        """The packed tensor where it is not striped."""
        (source,) = self.stripes
        return source

    def verify_(self) -> None:
        _verify_packing(self.result.type, self.layout_attr, self.stripes)


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
