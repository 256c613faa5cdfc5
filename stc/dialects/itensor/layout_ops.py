"""Operations that change the type of an itensor: cast, reassociate, reorder, converter."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import ArrayAttr, DenseArrayBase, IntegerAttr, i64
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    base,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.hints import isa

from stc.dialects.canonicalization import SaidByTypes
from stc.dialects.itensor.sequences import converter_plan
from stc.dialects.itensor.type import ItensorType
from stc.iteration.converter import ConverterPlan
from stc.iteration.normal_form import same_sequence


def _itensor(value: SSAValue) -> ItensorType:
    type = value.type
    assert isinstance(type, ItensorType)
    return type


def _verify_same_scalars(source: ItensorType, result: ItensorType) -> None:
    if source.element_type != result.element_type:
        raise VerifyException(
            f"source has entries of type {source.element_type} but result has {result.element_type}, expected equal types"
        )


@irdl_op_definition
class CastOp(IRDLOperation):
    """Change the type of an itensor, not its order: both types enumerate the same tokens at the same coordinates.

    The verifier decides by normal forms; symbolic orders whose normal forms differ are left to the pass `verify-streams`.

    Example: `%d = itensor.cast %s : !A to !B` where `!A` has a loop of one iteration that `!B` lacks.
    """

    name = "itensor.cast"

    source = operand_def(base(ItensorType))
    result = result_def(base(ItensorType))

    traits = traits_def(Pure(), SaidByTypes(composes=True))
    assembly_format = "$source attr-dict `:` type($source) `to` type($result)"

    def __init__(self, source: SSAValue | Operation, type: ItensorType):
        super().__init__(operands=[source], result_types=[type])

    def verify_(self) -> None:
        source, result = _itensor(self.source), _itensor(self.result)
        _verify_same_scalars(source, result)
        if source.element_shape != result.element_shape:
            raise VerifyException(
                f"source has elements of shape {list(source.element_shape)} but result has "
                f"{list(result.element_shape)}, expected equal elements"
            )
        if not same_sequence(source.order, result.order) and source.order.is_static and result.order.is_static:
            raise VerifyException(_different_orders(source, result))


def _different_orders(source: ItensorType, result: ItensorType) -> str:
    from stc.iteration.proofs import compare_sequences  # loads z3

    verdict = compare_sequences(source.order, result.order)
    return f"source and result visit coordinates in different orders ({verdict}), expected an equal order or a converter"


@irdl_op_definition
class ReassociateOp(IRDLOperation):
    """Give the same tokens another shape and iteration space, from expand_shape or collapse_shape.

    The sequence of tokens is unchanged: as many tokens with as many entries, each the same row-major contents.

    Example: `%d = itensor.reassociate %s : !A to !B` with elements 4x4 in `!A` and 1x4x4 in `!B`.
    """

    name = "itensor.reassociate"

    source = operand_def(base(ItensorType))
    result = result_def(base(ItensorType))

    traits = traits_def(Pure(), SaidByTypes())
    assembly_format = "$source attr-dict `:` type($source) `to` type($result)"

    def __init__(self, source: SSAValue | Operation, type: ItensorType):
        super().__init__(operands=[source], result_types=[type])

    def verify_(self) -> None:
        source, result = _itensor(self.source), _itensor(self.result)
        _verify_same_scalars(source, result)
        if source.order.element_count != result.order.element_count:
            raise VerifyException(
                f"source has {source.order.element_count} entries per token but result has "
                f"{result.order.element_count}, expected as many"
            )
        if not (source.order.is_static and result.order.is_static):
            return
        if source.order.token_count != result.order.token_count:
            raise VerifyException(
                f"source has {source.order.token_count} tokens but result has {result.order.token_count}, "
                "expected as many"
            )


@irdl_op_definition
class ReorderOp(IRDLOperation):
    """The same tensor in another order, before it is decided how: where two types meet that need not be one sequence.

    Both types are the same, or exact and enumerate one tensor, in elements of any shape. `insert-converters` turns a reorder into
    nothing, a cast or a converter; until then it is what it says, a whole tensor that is received and then sent.

    Example: `%d = itensor.reorder %s : !A to !B` where `!A` goes by rows and `!B` by columns.
    """

    name = "itensor.reorder"

    source = operand_def(base(ItensorType))
    result = result_def(base(ItensorType))

    traits = traits_def(Pure(), SaidByTypes(composes=True))
    assembly_format = "$source attr-dict `:` type($source) `to` type($result)"

    def __init__(self, source: SSAValue | Operation, type: ItensorType):
        super().__init__(operands=[source], result_types=[type])

    def verify_(self) -> None:
        if (complaint := complaint_about_reorder(self.source.type, self.result.type)) is not None:
            raise VerifyException(complaint)


def complaint_about_reorder(source: Attribute, result: Attribute) -> str | None:
    """Why `source` and `result` are no two orders of one tensor; None where they are."""
    if not (isinstance(source, ItensorType) and isinstance(result, ItensorType)):
        return f"source is a {source} and result a {result}, expected itensors"
    if source == result:
        return None
    if source.element_type != result.element_type:
        return f"source has entries of type {source.element_type} but result has {result.element_type}, expected equal types"
    for name, type in (("source", source), ("result", result)):
        if not type.order.is_exact:
            return f"{name} has the inexact type {type}, expected one that visits every coordinate once, up to temporal reuse"
    try:
        shapes = [", ".join(str(extent) for extent in type.order.shape) for type in (source, result)]
    except ValueError as error:
        return str(error)
    if shapes[0] == shapes[1]:
        return None
    return f"source is a tensor of [{shapes[0]}] but result one of [{shapes[1]}], expected one tensor"


@irdl_op_definition
class ConverterOp(IRDLOperation):
    """Change the order of an itensor through a local buffer.

    `shared_loops` outermost loops are the same loops in both types and wrap the converter; `buffer_shape` is the part of the
    tensor that is visited inside them, in entries per data dimension without the gaps that shared loops leave; `blocks` is the
    number of buffers (2: ping-pong, 1: a single one), left open (2) if absent. With `window = d` the buffer is circular along
    data dimension d, an entry lies at its coordinate modulo the extent, and one task receives and sends in turn: a line buffer.
    Where an entry lies is `ConverterPlan.address`.

    Example: `%d = itensor.converter %s {shared_loops = 1, buffer_shape = [4, 16]} : !H to !H2`
    """

    name = "itensor.converter"

    source = operand_def(base(ItensorType))
    result = result_def(base(ItensorType))
    shared_loops_attr = prop_def(IntegerAttr, prop_name="shared_loops")
    buffer_shape_attr = prop_def(DenseArrayBase.constr(i64), prop_name="buffer_shape")
    blocks_attr = opt_prop_def(IntegerAttr, prop_name="blocks")
    window_attr = opt_prop_def(IntegerAttr, prop_name="window")

    traits = traits_def(Pure(), SaidByTypes())

    def __init__(
        self,
        source: SSAValue | Operation,
        type: ItensorType,
        shared_loops: int,
        buffer_shape: Sequence[int],
        blocks: int | None = None,
        window: int | None = None,
    ):
        super().__init__(
            operands=[source],
            result_types=[type],
            properties={
                "shared_loops": IntegerAttr(shared_loops, i64),
                "buffer_shape": DenseArrayBase.from_list(i64, list(buffer_shape)),
                "blocks": None if blocks is None else IntegerAttr(blocks, i64),
                "window": None if window is None else IntegerAttr(window, i64),
            },
        )

    @property
    def shared_loops(self) -> int:
        return self.shared_loops_attr.value.data

    @property
    def buffer_shape(self) -> tuple[int, ...]:
        return self.buffer_shape_attr.get_values()

    @property
    def blocks(self) -> int | None:
        return None if self.blocks_attr is None else self.blocks_attr.value.data

    @property
    def window(self) -> int | None:
        return None if self.window_attr is None else self.window_attr.value.data

    @property
    def plan(self) -> ConverterPlan:
        """What the converter does; ValueError where the properties do not fit the types."""
        source, target = _itensor(self.source).order, _itensor(self.result).order
        blocks = self.blocks if self.blocks is not None else 1 if self.window is not None else 2
        return converter_plan(source, target, self.shared_loops, self.buffer_shape, blocks, self.window)

    def verify_(self) -> None:
        _verify_same_scalars(_itensor(self.source), _itensor(self.result))
        try:
            _ = self.plan
        except ValueError as error:
            raise VerifyException(str(error)) from error

    @classmethod
    def parse(cls, parser: Parser) -> ConverterOp:
        source = parser.parse_unresolved_operand()
        position = parser.pos
        attributes = parser.parse_optional_attr_dict()
        shared_loops, buffer_shape = attributes.pop("shared_loops", None), attributes.pop("buffer_shape", None)
        blocks, window = attributes.pop("blocks", None), attributes.pop("window", None)
        if not isinstance(shared_loops, IntegerAttr):
            parser.raise_error("itensor.converter without shared_loops, expected an integer", position)
        if not isa(buffer_shape, ArrayAttr[IntegerAttr]):
            parser.raise_error("itensor.converter without buffer_shape, expected a list of integers", position)
        if blocks is not None and not isinstance(blocks, IntegerAttr):
            parser.raise_error("itensor.converter with blocks that are not a number, expected an integer", position)
        if window is not None and not isinstance(window, IntegerAttr):
            parser.raise_error("itensor.converter with a window that is not a number, expected a data dimension", position)
        parser.parse_punctuation(":")
        position = parser.pos
        source_type = parser.parse_type()
        parser.parse_keyword("to")
        result_type = parser.parse_type()
        if not isinstance(source_type, ItensorType) or not isinstance(result_type, ItensorType):
            parser.raise_error("itensor.converter between other types, expected itensors", position)
        operation = cls(
            parser.resolve_operand(source, source_type),
            result_type,
            shared_loops.value.data,
            [extent.value.data for extent in buffer_shape],
            None if blocks is None else blocks.value.data,
            None if window is None else window.value.data,
        )
        operation.attributes |= attributes
        return operation

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.source)
        buffer_shape = ", ".join(str(extent) for extent in self.buffer_shape)
        printer.print_string(f" {{shared_loops = {self.shared_loops}, buffer_shape = [{buffer_shape}]")
        if self.blocks is not None:
            printer.print_string(f", blocks = {self.blocks}")
        if self.window is not None:
            printer.print_string(f", window = {self.window}")
        for name, attribute in self.attributes.items():
            printer.print_string(f", {name} = ")
            printer.print_attribute(attribute)
        printer.print_string("} : ")
        printer.print_attribute(self.source.type)
        printer.print_string(" to ")
        printer.print_attribute(self.result.type)
