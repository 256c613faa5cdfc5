"""Operations that make, read and write itensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from xdsl.dialects.builtin import IndexType, StringAttr, SymbolNameConstraint, TensorType
from xdsl.ir import Attribute, Data, Operation, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    ParsePropInAttrDict,
    VarConstraint,
    base,
    irdl_attr_definition,
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.traits import NoMemoryEffect
from xdsl.utils.exceptions import VerifyException

from stc.dialects.effects import AdvancesCursor, OwnsResults
from stc.dialects.itensor.accesses import named_loops, verify_access, verify_segment, verify_single_use
from stc.dialects.itensor.destinations import root_of
from stc.dialects.itensor.syntax import parse_size
from stc.dialects.itensor.type import ItensorType
from stc.dialects.ports import verify_is_readable, verify_is_writable
from stc.iteration.order import Loop
from stc.iteration.segments import Segment


@irdl_attr_definition
class SegmentAttr(Data[Segment]):
    """The part of a stream that an access takes: its first token, and how many. Printed as `segment <8, 4>`."""

    name = "itensor.segment"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> Segment:
        with parser.in_angle_brackets():
            position = parser.pos
            first = parse_size(parser)
            parser.parse_punctuation(",")
            tokens = parse_size(parser)
            try:
                return Segment(first, tokens)
            except ValueError as error:
                parser.raise_error(str(error), position)

    def print_parameter(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string(str(self.data))


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
    The optional `init` is the tensor whose storage the token may take. A port that several nests read one after the other is read
    in segments (`stc.iteration.segments`): `indices` are then the loops that enumerate so many tokens, from the first on, and
    the task's verifier has each token of the port in one segment, in program order.

    Example: `%t = itensor.read %a[%i, %j] : !X -> tensor<4x4xf32>`, or `itensor.read %a[%i] into %init : !X -> tensor<4x4xf32>`;
    tokens 8 to 11: `itensor.read %a[%i, %j] segment <8, 4> : !X -> tensor<4x4xf32>`
    """

    name = "itensor.read"

    TILE: ClassVar = VarConstraint("TILE", base(TensorType))

    source = operand_def(base(ItensorType))
    indices = var_operand_def(IndexType)
    init = opt_operand_def(TILE)
    segment_attr = opt_prop_def(SegmentAttr, prop_name="segment")
    result = result_def(TILE)

    irdl_options = (AttrSizedOperandSegments(as_property=True), ParsePropInAttrDict())
    traits = traits_def(AdvancesCursor())
    assembly_format = (
        "$source `[` $indices `]` (`into` $init^)? (`segment` $segment^)? attr-dict `:` type($source) `->` type($result)"
    )

    def __init__(
        self,
        source: SSAValue | Operation,
        indices: Sequence[SSAValue | Operation] = (),
        init: SSAValue | Operation | None = None,
        segment: Segment | None = None,
    ):
        source_type = SSAValue.get(source).type
        if not isinstance(source_type, ItensorType):
            raise ValueError(f"itensor.read of a value of type {source_type}, expected an itensor")
        super().__init__(
            operands=[source, indices, [] if init is None else [init]],
            properties={"segment": None if segment is None else SegmentAttr(segment)},
            result_types=[source_type.tile_type],
        )

    @property
    def itensor_type(self) -> ItensorType:
        type = self.source.type
        assert isinstance(type, ItensorType)
        return type

    @property
    def segment(self) -> Segment | None:
        return None if self.segment_attr is None else self.segment_attr.data

    def verify_(self) -> None:
        _verify_tile("result", self.result.type, self.itensor_type)
        verify_is_readable(root_of(self.source))
        verify_enumerates(self)


@irdl_op_definition
class WriteOp(IRDLOperation):
    """Push a token onto an itensor; the result is the itensor so far (destination-carried).

    A port is written in segments as it is read in them (`itensor.read`).

    Example: `%o2 = itensor.write %tile into %o1[%i, %j] : tensor<4x8xf32> -> !H`
    """

    name = "itensor.write"

    ITENSOR: ClassVar = VarConstraint("ITENSOR", base(ItensorType))

    value = operand_def(base(TensorType))
    destination = operand_def(ITENSOR)
    indices = var_operand_def(IndexType)
    segment_attr = opt_prop_def(SegmentAttr, prop_name="segment")
    result = result_def(ITENSOR)

    irdl_options = (ParsePropInAttrDict(),)
    # Not speculatable: a guarded write must stay behind its guard.
    traits = traits_def(NoMemoryEffect())
    assembly_format = (
        "$value `into` $destination `[` $indices `]` (`segment` $segment^)? attr-dict `:` type($value) `->` type($result)"
    )

    def __init__(
        self,
        value: SSAValue | Operation,
        destination: SSAValue | Operation,
        indices: Sequence[SSAValue | Operation] = (),
        segment: Segment | None = None,
    ):
        super().__init__(
            operands=[value, destination, indices],
            properties={"segment": None if segment is None else SegmentAttr(segment)},
            result_types=[SSAValue.get(destination).type],
        )

    @property
    def itensor_type(self) -> ItensorType:
        type = self.destination.type
        assert isinstance(type, ItensorType)
        return type

    @property
    def segment(self) -> Segment | None:
        return None if self.segment_attr is None else self.segment_attr.data

    def verify_(self) -> None:
        _verify_tile("value", self.value.type, self.itensor_type)
        verify_is_writable(root_of(self.destination))
        verify_single_use(self, self.destination)
        verify_enumerates(self)


def verify_enumerates(access: ReadOp | WriteOp) -> None:
    """Check that the loops that `access` names enumerate its type, or its segment of it."""
    if access.segment is None:
        verify_access(access, access.indices, access.itensor_type.order.loops)
    else:
        verify_segment(access, access.indices, access.segment)


def enumerated_loops(access: ReadOp | WriteOp) -> Sequence[Loop]:
    """The loops that the indices of `access` enumerate: those of its type, or of its segment any that it names."""
    return access.itensor_type.order.loops if access.segment is None else named_loops(access.indices)


def _verify_tile(what: str, type: Attribute, itensor: ItensorType) -> None:
    if type != itensor.tile_type:
        raise VerifyException(f"{what} has type {type}, expected the element {itensor.tile_type} of the itensor")
