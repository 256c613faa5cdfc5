"""MLIR's syntax for linalg operations that xDSL reads or prints differently.

xDSL 0.74 cannot parse the result list `-> (t1, t2)` of `linalg.generic`, expects `attrs = {...}` on named operations where MLIR
writes the dictionary first, loses `indexing_maps` of matmul, and drops every attribute of transpose, broadcast and reduce. The
classes stay xDSL's own, so that passes and patterns for them apply; only reading and printing is replaced.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from xdsl.dialects.builtin import AffineMapAttr, ArrayAttr, DenseArrayBase, IntegerType, StringAttr, i64
from xdsl.dialects.linalg import ops
from xdsl.dialects.linalg.abstract_ops import ConvOperation, NamedOperation, PoolingOperation
from xdsl.dialects.linalg.attrs import IteratorType, IteratorTypeAttr
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.hints import isa


def reader_of(operation: type[Operation]) -> Callable[[Parser], Operation] | None:
    """The function that reads the custom form of `operation` in MLIR's syntax, or None where xDSL's own is right."""
    if operation is ops.GenericOp:
        return parse_generic
    if operation is ops.ReduceOp:
        return parse_reduce
    if operation in (ops.TransposeOp, ops.BroadcastOp):
        return lambda parser: _parse_reorder(parser, operation)
    if _is_plain_named(operation):
        return lambda parser: _parse_named(parser, operation)
    return None


def printer_of(operation: Operation) -> Callable[[Printer], None] | None:
    """The function that prints what follows the name of `operation`, or None where xDSL's own printing is right."""
    if isinstance(operation, ops.ReduceOp):
        return lambda printer: _print_reduce(operation, printer)
    if isinstance(operation, ops.TransposeOp | ops.BroadcastOp):
        return lambda printer: _print_reorder(operation, printer)
    if isinstance(operation, NamedOperation) and _is_plain_named(type(operation)):
        return lambda printer: _print_named(operation, printer)
    return None


def _is_plain_named(operation: type[Operation]) -> bool:
    return issubclass(operation, NamedOperation) and not issubclass(operation, ConvOperation | PoolingOperation)


# Reading


def _operand_group(parser: Parser, keyword: str) -> Sequence[SSAValue]:
    if parser.parse_optional_keyword(keyword) is None:
        return ()
    position = parser.pos
    parser.parse_punctuation("(")
    names = parser.parse_optional_undelimited_comma_separated_list(
        parser.parse_optional_unresolved_operand, parser.parse_unresolved_operand
    )
    if names is None:
        parser.parse_punctuation(")")
        return ()
    parser.parse_punctuation(":")
    types = parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_type)
    parser.parse_punctuation(")")
    return parser.resolve_operands(names, types, position)


def _result_types(parser: Parser) -> Sequence[Attribute]:
    if parser.parse_optional_punctuation("->") is None:
        return ()
    several = parser.parse_optional_comma_separated_list(parser.Delimiter.PAREN, parser.parse_type)
    if several is not None:
        return several
    return parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_type)


def _trailing_attributes(parser: Parser) -> dict[str, Attribute]:
    if parser.parse_optional_keyword("attrs") is None:
        return {}
    parser.parse_punctuation("=")
    return dict(parser.parse_optional_attr_dict())


def parse_generic(parser: Parser) -> ops.GenericOp:
    """`{indexing_maps = .., iterator_types = ..} ins(..) outs(..) attrs = {..} { body } -> types`."""
    position = parser.pos
    header = dict(parser.parse_optional_attr_dict())
    maps, iterators = header.pop("indexing_maps", None), header.pop("iterator_types", None)
    if not isa(maps, ArrayAttr[AffineMapAttr]):
        parser.raise_error("linalg.generic needs indexing_maps, an array of affine maps", position, parser.pos)
    if not isa(iterators, ArrayAttr[Attribute]):
        parser.raise_error("linalg.generic needs iterator_types, an array", position, parser.pos)
    kinds = [_iterator_type(parser, entry, position) for entry in iterators]
    documentation, library_call = header.pop("doc", None), header.pop("library_call", None)
    inputs, outputs = _operand_group(parser, "ins"), _operand_group(parser, "outs")
    attributes = header | _trailing_attributes(parser)
    body = parser.parse_region()
    operation = ops.GenericOp(
        inputs,
        outputs,
        body,
        maps,
        kinds,
        _result_types(parser),
        documentation if isinstance(documentation, StringAttr) else None,
        library_call if isinstance(library_call, StringAttr) else None,
    )
    operation.attributes |= attributes
    return operation


def _iterator_type(parser: Parser, entry: Attribute, position: int) -> IteratorTypeAttr:
    if isinstance(entry, IteratorTypeAttr):
        return entry
    names = [str(kind) for kind in IteratorType]
    if not isinstance(entry, StringAttr) or entry.data not in names:
        parser.raise_error(f"unknown iterator type {entry}; accepted: {', '.join(names)}", position, parser.pos)
    return IteratorTypeAttr(IteratorType(entry.data))


def _spelled(inputs: Sequence[SSAValue], outputs: Sequence[SSAValue]) -> str:
    return f"ins({', '.join(str(value.type) for value in inputs)}) outs({', '.join(str(value.type) for value in outputs)})"


def _accepted(operation: type[NamedOperation]) -> str:
    """What operands a named operation takes: how many, where it has a map for each."""
    maps = operation.get_irdl_definition().properties.get("indexing_maps")
    default = None if maps is None else maps.default_value
    if not isinstance(default, ArrayAttr):
        return "the inputs and outputs that MLIR defines for it, tensors or scalars of numbers"
    return f"{len(default) - 1} inputs and one output, tensors of numbers"


def _parse_named(parser: Parser, operation: type[Operation]) -> Operation:
    assert issubclass(operation, NamedOperation)
    position = parser.pos
    attributes: dict[str, Attribute] = {}
    if parser.parse_optional_keyword("indexing_maps") is not None:
        parser.parse_punctuation("=")
        attributes["indexing_maps"] = parser.parse_attribute()
    attributes |= parser.parse_optional_attr_dict()
    inputs, outputs = _operand_group(parser, "ins"), _operand_group(parser, "outs")
    attributes |= _trailing_attributes(parser)
    if not inputs or not outputs:
        parser.raise_error(f"{operation.name} needs ins(...) and outs(...)", position, parser.pos)
    types = _result_types(parser)
    try:
        body = operation.get_hidden_region(inputs, outputs)
    except (IndexError, AssertionError, VerifyException):
        what = f"{operation.name} does not take {_spelled(inputs, outputs)}; accepted: {_accepted(operation)}"
        parser.raise_error(what, position, parser.pos)
    known = operation.get_irdl_definition().properties
    return operation.build(
        operands=(inputs, outputs),
        result_types=(types,),
        properties={name: value for name, value in attributes.items() if name in known},
        attributes={name: value for name, value in attributes.items() if name not in known},
        regions=(body,),
    )


def _dimensions(parser: Parser, keyword: str) -> DenseArrayBase[IntegerType]:
    parser.parse_keyword(keyword)
    parser.parse_punctuation("=")
    return DenseArrayBase.from_list(i64, parser.parse_comma_separated_list(parser.Delimiter.SQUARE, parser.parse_integer))


def _single(parser: Parser, keyword: str) -> SSAValue:
    position = parser.pos
    group = _operand_group(parser, keyword)
    if len(group) != 1:
        parser.raise_error(f"expected {keyword}(...) with one operand, found {len(group)}", position, parser.pos)
    return group[0]


def _parse_reorder(parser: Parser, operation: type[Operation]) -> Operation:
    source, target = _single(parser, "ins"), _single(parser, "outs")
    if operation is ops.TransposeOp:
        result = ops.TransposeOp(source, target, _dimensions(parser, "permutation"))
    else:
        result = ops.BroadcastOp(source, target, _dimensions(parser, "dimensions"))
    result.attributes |= parser.parse_optional_attr_dict()
    return result


def parse_reduce(parser: Parser) -> ops.ReduceOp:
    """`ins(..) outs(..) dimensions = [..] {..} (args) { body }`, or MLIR's short form `{ arith.addf } ins(..) ...`."""
    short = _short_payload(parser)
    source, target = _single(parser, "ins"), _single(parser, "outs")
    dimensions = _dimensions(parser, "dimensions")
    attributes = parser.parse_optional_attr_dict()
    if short is None:
        arguments = parser.parse_comma_separated_list(parser.Delimiter.PAREN, parser.parse_argument)
        region = parser.parse_region(arguments)
    else:
        region = _short_body(short, NamedOperation.body_arg_types((source, target)))
    result = ops.ReduceOp(source, target, dimensions, region)
    result.attributes |= attributes
    return result


def _short_payload(parser: Parser) -> type[Operation] | None:
    if parser.parse_optional_punctuation("{") is None:
        return None
    position = parser.pos
    name = parser.parse_identifier()
    parser.parse_optional_attr_dict()
    parser.parse_punctuation("}")
    payload = parser.ctx.get_optional_op(name)
    if payload is None:
        parser.raise_error(f"operation {name} is not registered", position, parser.pos)
    return payload


def _short_body(payload: type[Operation], types: Sequence[Attribute]) -> Region:
    block = Block(arg_types=types)
    # MLIR's short form stands for `payload(accumulator, element)`.
    combined = payload.create(operands=[block.args[1], block.args[0]], result_types=[types[1]])
    block.add_ops([combined, ops.YieldOp(combined.results[0])])
    return Region(block)


# Printing


def _print_group(printer: Printer, keyword: str, values: Sequence[SSAValue]) -> None:
    if not values:
        return
    printer.print_string(f" {keyword}(")
    printer.print_list(values, printer.print_ssa_value)
    printer.print_string(" : ")
    printer.print_list([value.type for value in values], printer.print_attribute)
    printer.print_string(")")


def _print_dictionary(printer: Printer, attributes: Mapping[str, Attribute]) -> None:
    if attributes:
        printer.print_op_attributes(attributes)


def _print_named(operation: NamedOperation, printer: Printer) -> None:
    properties = {name: value for name, value in operation.properties.items() if name != "operandSegmentSizes"}
    maps = properties.pop("indexing_maps", None)
    if maps is not None and maps != _default_maps(operation):
        printer.print_string(" indexing_maps = ")
        printer.print_attribute(maps)
    _print_dictionary(printer, {**properties, **operation.attributes})
    _print_group(printer, "ins", operation.inputs)
    _print_group(printer, "outs", operation.outputs)
    _print_results(operation, printer)


def _default_maps(operation: NamedOperation) -> Attribute | None:
    definition = type(operation).get_irdl_definition().properties.get("indexing_maps")
    return None if definition is None else definition.default_value


def _print_results(operation: Operation, printer: Printer) -> None:
    if not operation.results:
        return
    printer.print_string(" -> ")
    if len(operation.results) == 1:
        printer.print_attribute(operation.results[0].type)
        return
    with printer.in_parens():
        printer.print_list([result.type for result in operation.results], printer.print_attribute)


def _print_dimensions(printer: Printer, keyword: str, dimensions: DenseArrayBase[IntegerType]) -> None:
    printer.print_string(f" {keyword} = ")
    with printer.in_square_brackets():
        printer.print_list(dimensions.get_values(), printer.print_int)


def _print_reorder(operation: ops.TransposeOp | ops.BroadcastOp, printer: Printer) -> None:
    _print_group(printer, "ins", operation.operands[:1])
    _print_group(printer, "outs", operation.operands[1:])
    if isinstance(operation, ops.TransposeOp):
        _print_dimensions(printer, "permutation", operation.permutation)
    else:
        _print_dimensions(printer, "dimensions", operation.dimensions)
    _print_dictionary(printer, operation.attributes)


def _print_reduce(operation: ops.ReduceOp, printer: Printer) -> None:
    _print_group(printer, "ins", operation.operands[:1])
    _print_group(printer, "outs", operation.operands[1:])
    _print_dimensions(printer, "dimensions", operation.dimensions)
    _print_dictionary(printer, operation.attributes)
    printer.print_string(" ")
    with printer.in_parens():
        printer.print_list(operation.region.blocks[0].args, printer.print_block_argument)
    printer.print_string(" ")
    printer.print_region(operation.region, print_entry_block_args=False)
