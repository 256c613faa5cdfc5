"""Constants and vectors of a task as C++: lanes become unrolled loops."""

from __future__ import annotations

from xdsl.dialects import arith, vector
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, MemRefType, VectorType
from xdsl.ir import Operation, SSAValue

from stc.codegen.body import BodyPrinter, Handler
from stc.codegen.cpp_types import is_packed, retained_dimensions
from stc.codegen.expressions import Expression, expression, result_name
from stc.codegen.literals import literal
from stc.diagnostics import CompileError
from stc.scalars.forms import PRIMARY, SUM, UNARY
from stc.scalars.table import EMITTED


def _lanes(value: SSAValue) -> int:
    """Lanes of a vector value of rank 1."""
    assert isinstance(value.type, VectorType)
    return value.type.get_shape()[0]


def _print_constant(printer: BodyPrinter, operation: Operation) -> None:
    assert isinstance(operation, arith.ConstantOp)
    attribute = operation.value
    if not isinstance(attribute, DenseIntOrFPElementsAttr):
        text = literal(attribute)
        printer.bind(operation.result, Expression(text, UNARY if text.startswith("-") else PRIMARY))
        return
    if not isinstance(operation.result.type, VectorType):
        raise CompileError(f"constant of type {operation.result.type} in a task", where=printer.where, accepted="vectors")
    texts = [literal(entry) for entry in attribute.iter_attrs()]
    if len(set(texts)) == 1:
        printer.bind(operation.result, Expression(texts[0]))
        printer.splats.add(operation.result)
        return
    listed = "{" + ", ".join(texts) + "}"
    if is_packed(operation.result.type):
        printer.lane_array(operation.result, operation.result.name_hint or "constant", listed)
    else:
        printer.declare(operation.result, Expression(listed), "constant")


def _new_vector(printer: BodyPrinter, value: SSAValue, wish: str) -> str:
    """A vector variable without value."""
    printer.mutable.add(value)
    if is_packed(value.type):
        return printer.lane_array(value, value.name_hint or wish)
    name = printer.scope.declare(value.name_hint or wish)
    printer.lines.add(f"{printer.typedefs.value_type(value.type)} {name};")
    printer.bind(value, Expression(name))
    return name


def _print_elementwise(printer: BodyPrinter, operation: Operation) -> None:
    """A scalar operation on vectors, lane by lane."""
    result = operation.results[0]
    name = _new_vector(printer, result, result_name(operation))

    def statement(lane: str) -> str:
        operands = [
            Expression(printer.lane(operand, lane) if isinstance(operand.type, VectorType) else printer.text(operand, 0))
            for operand in operation.operands
        ]
        built = expression(operation, operands)
        if built is None:
            raise printer.refusal(operation)
        return f"{name}[{lane}] = {printer.sum_in_its_adder(operation, built).text};"

    printer.lane_loop(name, _lanes(result), statement)


def _print_broadcast(printer: BodyPrinter, operation: Operation) -> None:
    assert isinstance(operation, vector.BroadcastOp)
    result = operation.results[0]
    source = printer.value(operation.source)
    if source.precedence != PRIMARY or "(" in source.text:
        named = printer.scope.declare("scalar")
        printer.lines.add(f"const {printer.typedefs.value_type(operation.source.type)} {named} = {source.text};")
        source = Expression(named)
    printer.bind(result, source)
    printer.splats.add(result)


def _print_vector_load(printer: BodyPrinter, operation: Operation) -> None:
    assert isinstance(operation, vector.LoadOp)
    array = printer.text(operation.base, 0)
    indices = _retained_indices(printer, operation)
    name = _new_vector(printer, operation.result, f"{array}_values")
    printer.lane_loop(name, _lanes(operation.result), lambda lane: f"{name}[{lane}] = {_at_lane(array, indices, lane)};")


def _print_vector_store(printer: BodyPrinter, operation: Operation) -> None:
    assert isinstance(operation, vector.StoreOp)
    array = printer.text(operation.base, 0)
    indices = _retained_indices(printer, operation)
    stored = printer.lanes(operation.vector)
    printer.flush()
    printer.lane_loop(array, _lanes(operation.vector), lambda lane: f"{_at_lane(array, indices, lane)} = {stored(lane)};")


def _retained_indices(printer: BodyPrinter, operation: vector.LoadOp | vector.StoreOp) -> list[Expression]:
    """The indices of an access along the dimensions that the array has in C++; lanes run along the last."""
    assert isinstance(operation.base.type, MemRefType)
    return [printer.value(operation.indices[dimension]) for dimension in retained_dimensions(operation.base.type)]


def _at_lane(array: str, indices: list[Expression], lane: str) -> str:
    """Entry of an array `lane` further along its last dimension."""
    last = indices[-1]
    terms = [term for term in (last.within(SUM), lane) if term != "0"]
    moved = " + ".join(terms) or "0"
    return array + "".join(f"[{index.text}]" for index in indices[:-1]) + f"[{moved}]"


def _position(printer: BodyPrinter, operation: vector.ExtractOp | vector.InsertOp) -> str:
    positions = operation.get_mixed_position()
    if len(positions) != 1:
        what = f"{operation.name} with {len(positions)} positions"
        raise CompileError(what, where=printer.where, accepted="vectors of rank 1")
    position = positions[0]
    return str(position) if isinstance(position, int) else printer.text(position)


def _print_extract(printer: BodyPrinter, operation: Operation) -> None:
    assert isinstance(operation, vector.ExtractOp)
    position = _position(printer, operation)
    # A variable that is changed in place must not change before its lane is used: treat it as a read of memory.
    text = printer.lane(operation.vector, position)
    printer.define(operation.result, Expression(text, reads_memory=operation.vector in printer.mutable))


def _print_insert(printer: BodyPrinter, operation: Operation) -> None:
    assert isinstance(operation, vector.InsertOp)
    position = _position(printer, operation)
    source = printer.text(operation.source)
    if is_packed(operation.dest.type):
        before, name = printer.lanes(operation.dest), _new_vector(printer, operation.result, "vector")
        printer.lane_loop(name, _lanes(operation.result), lambda lane: f"{name}[{lane}] = {before(lane)};")
        printer.lines.add(f"{name}[{position}] = {source};")
        return
    destination = printer.vector(operation.dest)
    printer.flush()
    if operation.dest not in printer.mutable or not operation.dest.has_one_use():
        copied = destination
        destination = printer.scope.declare(operation.result.name_hint or "vector")
        printer.lines.add(f"{printer.typedefs.value_type(operation.result.type)} {destination} = {copied};")
    printer.lines.add(f"{destination}[{position}] = {source};")
    printer.bind(operation.result, Expression(destination))
    printer.mutable.add(operation.result)


def scalar_or_vector(printer: BodyPrinter, operation: Operation) -> None:
    """An arithmetic operation on scalars or, lane by lane, on vectors."""
    if isinstance(operation.results[0].type, VectorType):
        _print_elementwise(printer, operation)
    else:
        printer.scalar(operation)


VECTORS: dict[type[Operation], Handler] = {
    **dict.fromkeys(EMITTED, scalar_or_vector),
    arith.ConstantOp: _print_constant,
    vector.BroadcastOp: _print_broadcast,
    vector.LoadOp: _print_vector_load,
    vector.StoreOp: _print_vector_store,
    vector.ExtractOp: _print_extract,
    vector.InsertOp: _print_insert,
}
