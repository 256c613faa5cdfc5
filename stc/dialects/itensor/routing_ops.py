"""Operations that split and merge itensors: chunk, concat, fork, split, merge."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import combinations

from xdsl.dialects.builtin import ArrayAttr, DenseArrayBase, IntegerType, i64
from xdsl.ir import Attribute, Operation, SSAValue
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
from xdsl.irdl.declarative_assembly_format import (
    AttributeVariable,
    CustomDirective,
    ParsingState,
    PrintingState,
    irdl_custom_directive,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.hints import isa

from stc.dialects.canonicalization import SaidByTypes
from stc.dialects.effects import OwnsResults
from stc.dialects.itensor.sequences import slice_mismatch, split_mismatch
from stc.dialects.itensor.size_ops import SizeAttr
from stc.dialects.itensor.syntax import parse_size
from stc.dialects.itensor.type import ItensorType
from stc.iteration.concatenation import concatenation_mismatch
from stc.iteration.order import StreamOrder
from stc.iteration.size import Size, is_static, static
from stc.iteration.sized_reshapes import at_largest, dealt, sliced

Offsets = ArrayAttr[DenseArrayBase]


def offsets_attr(offsets: Sequence[Sequence[Size]]) -> ArrayAttr:
    """Integers as an array of them; an offset known at run time as sizes."""
    return ArrayAttr([_offset_attr(offset) for offset in offsets])


def _offset_attr(offset: Sequence[Size]) -> Attribute:
    numbers = [start for start in offset if isinstance(start, int)]
    if len(numbers) == len(offset):
        return DenseArrayBase.from_list(i64, numbers)
    return ArrayAttr([SizeAttr(start) for start in offset])


@irdl_custom_directive
class SliceOffsets(CustomDirective):
    """The offsets of slices, one bracketed list of sizes per slice: `[0, 0], [0, 8]`, or `[0, 0], [0, pos<=8]`."""

    offsets: AttributeVariable

    def parse(self, parser: Parser, state: ParsingState) -> None:
        offsets = [_parse_offset(parser)]
        while parser.parse_optional_punctuation(",") is not None:
            offsets.append(_parse_offset(parser))
        self.offsets.set(state, offsets_attr(offsets))

    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        state.print_whitespace(printer)
        attribute = self.offsets.get(op)
        assert isinstance(attribute, ArrayAttr)
        printer.print_string(", ".join(f"[{', '.join(map(str, offset))}]" for offset in _starts(attribute)))


def _parse_offset(parser: Parser) -> list[Size]:
    return parser.parse_comma_separated_list(parser.Delimiter.SQUARE, lambda: parse_size(parser, allow_negative=True))


def _itensor(value: SSAValue) -> ItensorType:
    type = value.type
    assert isinstance(type, ItensorType)
    return type


@irdl_op_definition
class ChunkOp(IRDLOperation):
    """Result k is the tokens of the source that lie in slice k, in order; other tokens are dropped.

    Slice k starts at `offsets[k]`, from where the source begins, and has the extents of result k's tensor; no element straddles its
    boundary.

    Example, the halves of a `tensor<8x16xf32>`:
    `%a, %b = itensor.chunk %s at [0, 0], [0, 8] : !S to !A, !A`
    """

    name = "itensor.chunk"

    source = operand_def(base(ItensorType))
    slices = var_result_def(base(ItensorType))
    offsets_prop = prop_def(ArrayAttr.constr(DenseArrayBase.constr(i64)), prop_name="offsets")

    custom_directives = (SliceOffsets,)
    traits = traits_def(Pure(), SaidByTypes())
    assembly_format = "$source `at` custom<SliceOffsets>($offsets) attr-dict `:` type($source) `to` type($slices)"

    def __init__(
        self, source: SSAValue | Operation, types: Sequence[ItensorType], offsets: Sequence[Sequence[int]]
    ):
        super().__init__(operands=[source], result_types=[types], properties={"offsets": offsets_attr(offsets)})

    @property
    def offsets(self) -> tuple[tuple[int, ...], ...]:
        """For each slice the coordinate in the source at which it starts."""
        return tuple(tuple(map(static, starts)) for starts in _starts(self.offsets_prop))

    def verify_(self) -> None:
        source = _itensor(self.source)
        begun = ItensorType.from_order(source.order.from_its_begin, source.element_type)
        _verify_slices("result", begun, [_itensor(part) for part in self.slices], self.offsets)


@irdl_op_definition
class ConcatOp(IRDLOperation):
    """The inverse of chunk: input k holds the tokens of the result that lie in slice k; the result type fixes the order.

    Slice k starts at `offsets[k]`; the slices are disjoint and cover the result's tensor. Dimensions that all slices have whole may
    be of sizes known at run time, as those of chunk. Slices that follow one another along such a dimension do so entry by entry, in
    loops that are the result's (`stc.iteration.concatenation`); a part that begins at an entry known at run time is numbered from
    there.

    Example: `%s = itensor.concat %a, %b at [0, 0], [0, 8] : !A, !A to !S`,
    or `itensor.concat %rows, %new at [0, 0], [pos<=15, 0] : !Rows, !Row to !All`
    """

    name = "itensor.concat"

    inputs = var_operand_def(base(ItensorType))
    result = result_def(base(ItensorType))
    offsets_prop = prop_def(ArrayAttr, prop_name="offsets")

    custom_directives = (SliceOffsets,)
    traits = traits_def(Pure(), SaidByTypes())
    assembly_format = "$inputs `at` custom<SliceOffsets>($offsets) attr-dict `:` type($inputs) `to` type($result)"

    def __init__(
        self, inputs: Sequence[SSAValue | Operation], type: ItensorType, offsets: Sequence[Sequence[Size]]
    ):
        super().__init__(operands=[inputs], result_types=[type], properties={"offsets": offsets_attr(offsets)})

    @classmethod
    def along(cls, dimension: int, inputs: Sequence[SSAValue], type: ItensorType) -> ConcatOp:
        """Concatenate along one data dimension, in the order of `inputs`."""
        offsets: list[list[int]] = []
        start = 0
        for value in inputs:
            offsets.append([start if index == dimension else 0 for index in range(type.rank)])
            start += _itensor(value).tensor_shape[dimension]
        return cls(inputs, type, offsets)

    @property
    def offsets(self) -> tuple[tuple[int, ...], ...]:
        """For each input the coordinate in the result at which it starts; ValueError where that is known at run time only."""
        return tuple(tuple(static(start) for start in starts) for starts in self.starts)

    @property
    def starts(self) -> tuple[tuple[Size, ...], ...]:
        """For each input the coordinate in the result at which it starts."""
        return _starts(self.offsets_prop)

    @property
    def is_of_slices(self) -> bool:
        """Whether all sizes are known of the dimensions along which parts follow one another."""
        orders = [_itensor(value).order for value in (*self.inputs, self.result)]
        along = {dimension for start in self.starts for dimension, entry in enumerate(start) if entry != 0}
        return (
            all(is_static(entry) for start in self.starts for entry in start)
            and all(is_static(coordinate.constant) for order in orders for coordinate in order.coordinates)
            and all(is_static(order.loops[loop].trip) for order in orders for each in along for loop in order.loops_of(each))
        )

    def verify_(self) -> None:
        result, inputs = _itensor(self.result), [_itensor(part) for part in self.inputs]
        if not self.is_of_slices:
            self._verify_sizes(result, inputs)
            return
        offsets = self.offsets
        _verify_slices("input", result, inputs, offsets)
        parts, whole = [at_largest(part.order) for part in inputs], at_largest(result.order)
        for first, second in combinations(range(len(inputs)), 2):
            if _overlap(parts[first], offsets[first], parts[second], offsets[second]):
                raise VerifyException(f"inputs {first} and {second} overlap, expected disjoint slices of the result")
        total = sum(part.token_count for part in parts)
        if total != whole.token_count:
            raise VerifyException(
                f"inputs have {total} tokens but result has {whole.token_count}, "
                "expected disjoint inputs that cover the result"
            )

    def _verify_sizes(self, result: ItensorType, inputs: Sequence[ItensorType]) -> None:
        if len(self.starts) != len(inputs):
            raise VerifyException(f"has {len(self.starts)} offsets for {len(inputs)} inputs, expected one per input")
        for index, (part, start) in enumerate(zip(inputs, self.starts, strict=True)):
            if part.tile_type != result.tile_type:
                raise VerifyException(f"input {index} has elements {part.tile_type}, expected {result.tile_type} as the whole")
            if len(start) != result.rank:
                raise VerifyException(f"input {index} has an offset of rank {len(start)}, expected rank {result.rank}")
        mismatch = concatenation_mismatch(result.order, [part.order for part in inputs], self.starts)
        if mismatch is not None:
            raise VerifyException(mismatch)


def _starts(attribute: ArrayAttr) -> tuple[tuple[Size, ...], ...]:
    starts: list[tuple[Size, ...]] = []
    for offset in attribute:
        if isa(offset, DenseArrayBase[IntegerType]):
            starts.append(tuple(offset.get_values()))
        else:
            assert isa(offset, ArrayAttr[SizeAttr])
            starts.append(tuple(entry.data for entry in offset))
    return tuple(starts)


def _verify_slices(
    what: str, full: ItensorType, parts: Sequence[ItensorType], offsets: Sequence[tuple[int, ...]]
) -> None:
    """Check that part k is the tokens of `full` in the slice at `offsets[k]`; `what` is how messages call a part."""
    if len(offsets) != len(parts):
        raise VerifyException(f"has {len(offsets)} offsets for {len(parts)} {what}s, expected one per {what}")
    if not parts:
        raise VerifyException(f"has no {what}, expected at least one")
    for index, (part, offset) in enumerate(zip(parts, offsets, strict=True)):
        _verify_slice(f"{what} {index}", full, part, offset)


def _verify_slice(what: str, full: ItensorType, part: ItensorType, offset: tuple[int, ...]) -> None:
    if part.tile_type != full.tile_type:
        raise VerifyException(f"{what} has elements {part.tile_type}, expected {full.tile_type} as the whole")
    if len(offset) != full.rank:
        raise VerifyException(f"{what} has an offset of rank {len(offset)}, expected rank {full.rank}")
    if not (part.order.is_static and full.order.is_static):
        _verify_sizes_of(what, part.order, partial(sliced, full.order, at_largest(part.order), offset))
    whole, order = at_largest(full.order), at_largest(part.order)
    for dimension, start in enumerate(offset):
        extent, total, element = order.static_shape[dimension], whole.static_shape[dimension], whole.element[dimension]
        if start < 0 or start + extent > total:
            raise VerifyException(
                f"{what} covers {start} to {start + extent} of dimension {dimension}, expected a slice of its {total} entries"
            )
        if start % element or extent % element:
            raise VerifyException(
                f"{what} covers {start} to {start + extent} of dimension {dimension}, which cuts elements of {element}, "
                f"expected multiples of {element}"
            )
    mismatch = slice_mismatch(whole, order, offset)
    if mismatch is not None:
        token, expected, found = mismatch
        raise VerifyException(
            f"token {token} of {what} is at {_spelled(found)}, expected {_spelled(expected)}: the tokens of the whole in "
            "this slice, in its order"
        )


def _verify_sizes_of(what: str, part: StreamOrder, expected: Callable[[], StreamOrder]) -> None:
    """That `part` has the sizes of the whole, as in the order that is `expected`, which raises ValueError where there is none."""
    try:
        if part != (order := expected()):
            raise VerifyException(f"{what} has the order {part}, expected the sizes of the whole: {order}")
    except ValueError as error:
        raise VerifyException(f"{what} does not keep dimensions of run-time size whole: {error}") from error


def _overlap(
    first: StreamOrder, first_offset: tuple[int, ...], second: StreamOrder, second_offset: tuple[int, ...]
) -> bool:
    sides = zip(first.static_shape, first_offset, second.static_shape, second_offset, strict=True)
    return all(start < other_start + other and other_start < start + extent for extent, start, other, other_start in sides)


def _spelled(coordinate: tuple[int, ...] | None) -> str:
    return "the end" if coordinate is None else str(list(coordinate))


@irdl_op_definition
class ForkOp(IRDLOperation):
    """Duplicate an itensor, one copy per consumer; all results have the source's type.

    Example: `%a, %b = itensor.fork %s : !X to !X, !X`
    """

    name = "itensor.fork"

    source = operand_def(base(ItensorType))
    copies = var_result_def(base(ItensorType))

    traits = traits_def(OwnsResults(), SaidByTypes())
    assembly_format = "$source attr-dict `:` type($source) `to` type($copies)"

    def __init__(self, source: SSAValue | Operation, count: int):
        super().__init__(operands=[source], result_types=[[SSAValue.get(source).type] * count])

    def verify_(self) -> None:
        if not self.copies:
            raise VerifyException("has no result, expected at least one")
        for index, copy in enumerate(self.copies):
            if copy.type != self.source.type:
                raise VerifyException(f"result {index} has type {copy.type}, expected the source's type {self.source.type}")


@irdl_op_definition
class SplitOp(IRDLOperation):
    """Split an itensor round-robin to n results: result k has tokens k, k + n, k + 2n, ... of the source; the inverse of `merge`.

    The results say where in the source's tensor their tokens lie (`stc.iteration.round_robin`), so that a tensor that is striped
    over several memory ports, and a task that reads several streams at once, keep true coordinates.

    Example: `%a, %b = itensor.split %s : !S to !A, !B` where `!S` enumerates 1x4 elements of a `tensor<2x16xf32>` row-major, `!A`
    is `itensor<1x4xf32, iter_space: [2, 2] * [1, 8], iter_map: (d0, d1) -> (d0, d1)>` and `!B` has the map
    `(d0, d1) -> (d0, d1 + 4)`.
    """

    name = "itensor.split"

    source = operand_def(base(ItensorType))
    parts = var_result_def(base(ItensorType))

    traits = traits_def(Pure())
    assembly_format = "$source attr-dict `:` type($source) `to` type($parts)"

    def __init__(self, source: SSAValue | Operation, types: Sequence[ItensorType]):
        super().__init__(operands=[source], result_types=[types])

    def verify_(self) -> None:
        if not self.parts:
            raise VerifyException("has no result, expected at least one")
        _verify_split("result", _itensor(self.source), [_itensor(part) for part in self.parts])


def _verify_split(what: str, full: ItensorType, parts: Sequence[ItensorType]) -> None:
    """Check that part k is the tokens k, k + n, ... of `full`; `what` is how messages call a part."""
    for index, part in enumerate(parts):
        if part.tile_type != full.tile_type:
            raise VerifyException(f"{what} {index} has elements {part.tile_type}, expected {full.tile_type} as the whole")
        if not (part.order.is_static and full.order.is_static):
            _verify_sizes_of(f"{what} {index}", part.order, partial(dealt, full.order, at_largest(part.order), len(parts)))
        mismatch = split_mismatch(at_largest(full.order), at_largest(part.order), index, len(parts))
        if mismatch is not None:
            token, expected, found = mismatch
            raise VerifyException(
                f"token {token} of {what} {index} is at {_spelled(found)}, expected {_spelled(expected)}: every "
                f"{len(parts)}. token of the whole from token {index} on"
            )


@irdl_op_definition
class MergeOp(IRDLOperation):
    """Merge n itensors round-robin: the result takes token t from input t mod n.

    The inputs are of one type, or they say where in the result's tensor their tokens lie, as the results of `split` do.

    Example: `%s = itensor.merge %a, %b : !X, !X to !Y` where `!Y` has twice the tokens of `!X`.
    """

    name = "itensor.merge"

    inputs = var_operand_def(base(ItensorType))
    result = result_def(base(ItensorType))

    traits = traits_def(Pure(), SaidByTypes())
    assembly_format = "$inputs attr-dict `:` type($inputs) `to` type($result)"

    def __init__(self, inputs: Sequence[SSAValue | Operation], type: ItensorType):
        super().__init__(operands=[inputs], result_types=[type])

    def verify_(self) -> None:
        if not self.inputs:
            raise VerifyException("has no input, expected at least one")
        first, result = _itensor(self.inputs[0]), _itensor(self.result)
        inputs = [_itensor(value) for value in self.inputs]
        if any(_constants(type) != _constants(first) for type in inputs):
            _verify_split("input", result, inputs)
            return
        for index, type in enumerate(inputs):
            if type != first:
                raise VerifyException(f"input {index} has type {type}, expected the type of input 0 {first}")
        if result.tile_type != first.tile_type:
            raise VerifyException(f"result has elements {result.tile_type}, expected the inputs' {first.tile_type}")
        if not (first.order.is_static and result.order.is_static):
            return
        total = first.order.token_count * len(self.inputs)
        if result.order.token_count != total:
            raise VerifyException(
                f"result has {result.order.token_count} tokens, expected the {total} of {len(self.inputs)} inputs"
            )


def _constants(type: ItensorType) -> tuple[object, ...]:
    """The constants of a type's map: what tells the parts of a split itensor apart."""
    return tuple(coordinate.constant for coordinate in type.order.coordinates)
