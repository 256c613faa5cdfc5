"""Operations that make, read and write itensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from xdsl.dialects.builtin import IndexType, StringAttr, SymbolNameConstraint, TensorType
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    ParsePropInAttrDict,
    VarConstraint,
    base,
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.traits import NoMemoryEffect
from xdsl.utils.exceptions import VerifyException

from stc.dialects.effects import AdvancesCursor, OwnsResults
from stc.dialects.itensor.accesses import verify_access, verify_single_use
from stc.dialects.itensor.destinations import root_of
from stc.dialects.itensor.type import ItensorType
from stc.dialects.ports import verify_is_readable, verify_is_writable


@irdl_op_definition
class EmptyOp(IRDLOperation):
    """Placeholder for the destination of destination-carried writes, before fusion.

    Example: `%e = itensor.empty : !itensor.itensor<4x8xf32, iter_space: [2, 2] * [4, 8], iter_map: (d0, d1) -> (d0, d1)>`
    """

    name = "itensor.empty"

    result = result_def(base(ItensorType))

    traits = traits_def(OwnsResults())
    assembly_format = "attr-dict `:` type($result)"

    def __init__(self, type: ItensorType):
        super().__init__(result_types=[type])


@irdl_op_definition
class InstanceOp(IRDLOperation):
    """An itensor that becomes a named FIFO: the destination of a task after fusion.

    Example: `%f = itensor.instance @fc_to_gelu : !H`
    """

    name = "itensor.instance"

    sym_name = prop_def(SymbolNameConstraint())
    result = result_def(base(ItensorType))

    traits = traits_def(OwnsResults())
    assembly_format = "$sym_name attr-dict `:` type($result)"

    def __init__(self, name: str | StringAttr, type: ItensorType):
        super().__init__(
            properties={"sym_name": StringAttr(name) if isinstance(name, str) else name}, result_types=[type]
        )


@irdl_op_definition
class ReadOp(IRDLOperation):
    """Pull the next token of an itensor.

    `indices` are the induction variables of the loops that enumerate the port, one per loop of its type, outermost first.
    The optional `init` is the tensor whose storage the token may take.

    Example: `%t = itensor.read %a[%i, %j, %k] : !X -> tensor<4x4xf32>`, or `itensor.read %a[%i] into %init : !X -> tensor<4x4xf32>`
    """

    name = "itensor.read"

    TILE: ClassVar = VarConstraint("TILE", base(TensorType))

    source = operand_def(base(ItensorType))
    indices = var_operand_def(IndexType)
    init = opt_operand_def(TILE)
    result = result_def(TILE)

    irdl_options = (AttrSizedOperandSegments(as_property=True), ParsePropInAttrDict())
    traits = traits_def(AdvancesCursor())
    assembly_format = (
        "$source `[` $indices `]` (`into` $init^)? attr-dict `:` type($source) `->` type($result)"
    )

    def __init__(
        self,
        source: SSAValue | Operation,
        indices: Sequence[SSAValue | Operation] = (),
        init: SSAValue | Operation | None = None,
    ):
        source_type = SSAValue.get(source).type
        if not isinstance(source_type, ItensorType):
            raise ValueError(f"itensor.read of a value of type {source_type}, expected an itensor")
        super().__init__(
            operands=[source, indices, [] if init is None else [init]], result_types=[source_type.tile_type]
        )

    @property
    def itensor_type(self) -> ItensorType:
        type = self.source.type
        assert isinstance(type, ItensorType)
        return type

    def verify_(self) -> None:
        _verify_tile("result", self.result.type, self.itensor_type)
        verify_is_readable(root_of(self.source))
        verify_access(self, self.indices, self.itensor_type.order.loops)


@irdl_op_definition
class WriteOp(IRDLOperation):
    """Push a token onto an itensor; the result is the itensor so far (destination-carried).

    Example: `%o2 = itensor.write %tile into %o1[%i, %j] : tensor<4x8xf32> -> !H`
    """

    name = "itensor.write"

    ITENSOR: ClassVar = VarConstraint("ITENSOR", base(ItensorType))

    value = operand_def(base(TensorType))
    destination = operand_def(ITENSOR)
    indices = var_operand_def(IndexType)
    result = result_def(ITENSOR)

    # Not speculatable: a guarded write must stay behind its guard.
    traits = traits_def(NoMemoryEffect())
    assembly_format = "$value `into` $destination `[` $indices `]` attr-dict `:` type($value) `->` type($result)"

    def __init__(
        self,
        value: SSAValue | Operation,
        destination: SSAValue | Operation,
        indices: Sequence[SSAValue | Operation] = (),
    ):
        super().__init__(operands=[value, destination, indices], result_types=[SSAValue.get(destination).type])

    @property
    def itensor_type(self) -> ItensorType:
        type = self.destination.type
        assert isinstance(type, ItensorType)
        return type

    def verify_(self) -> None:
        _verify_tile("value", self.value.type, self.itensor_type)
        verify_is_writable(root_of(self.destination))
        verify_single_use(self, self.destination)
        verify_access(self, self.indices, self.itensor_type.order.loops)


def _verify_tile(what: str, type: Attribute, itensor: ItensorType) -> None:
    if type != itensor.tile_type:
        raise VerifyException(f"{what} has type {type}, expected the element {itensor.tile_type} of the itensor")
