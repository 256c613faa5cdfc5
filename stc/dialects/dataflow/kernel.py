"""`dataflow.kernel`: the device side, isolated; tensors outside, itensors (later memrefs) inside."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    IndexType,
    IntegerAttr,
    MemRefType,
    NoneAttr,
    StringAttr,
    SymbolNameConstraint,
    TensorType,
    VectorType,
    i64,
)
from xdsl.ir import Attribute, Block, BlockArgument, Operation, Region, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    opt_prop_def,
    prop_def,
    region_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import IsolatedFromAbove, SymbolOpInterface, SymbolTable
from xdsl.utils.exceptions import VerifyException

from stc.diagnostics import CompileError
from stc.dialects.dataflow.boundary import verify_boundary, verify_part, verify_slice_of
from stc.dialects.dataflow.in_place import InPlaceAttr, Place, place_behind, print_behind
from stc.dialects.dataflow.syntax import Binding, parse_bindings, parse_body, print_bindings, print_body, print_view
from stc.dialects.dataflow.task import TaskOp, YieldOp, body_of, yield_of
from stc.dialects.itensor.size_ops import SymbolType
from stc.dialects.itensor.type import ItensorType
from stc.iteration.size import Size, Symbol, symbols_in


@irdl_op_definition
class KernelOp(IRDLOperation):
    """An isolated region that runs on the device; what crosses its boundary goes through external memory.

    Operands are tensors (`as` the itensor or memref they are seen as inside) and scalars, visible to the tasks that take them as
    `ins`. A scalar that sizes depend on is a symbol inside (`%pos = %p : index as !itensor.symbol<pos<=15>`): each symbol of a type
    has one such argument. The body yields the inside views of the results. A result may update a slice of an operand in place; an
    operand not named so is read-only, one that is may be read in part. An operand's itensor may begin at an entry known at run time
    (`iter_map: (d0) -> (d0 + max(sum(pos<=7, -3), 0), 0)`): all of the tensor lies in memory, and the part is read. Conversions at
    the boundary are the DMAs: the types inside are exact and cover their tensor, but for such parts. Kernels of one `group` are to
    become one kernel of that name: `choose-groups` says so, `merge-kernels` does it. `dies (@memory = 0, @body = 1)` behind that
    says on which die of the device each compute unit lies (`assign-dies`); a kernel that is built as one has its own name there.

    Example:

        %y = dataflow.kernel @fc(%a = %x : tensor<8x12xf32> as !X, %pos = %p : index, %cache = %c : tensor<1x64x16xf32> as !C)
            -> (tensor<8x16xf32> as !H, tensor<1x64x16xf32> as !S into %cache at [0, %pos, 0]) {
          ...
          dataflow.yield %r, %s : !H, !S
        }

    Python: `KernelOp("fc", [x], [x_type], [result_type])` has a block with one argument per operand (`kernel.body.block`);
    the caller appends operations and a `YieldOp` of the inside views of the results.
    """

    name = "dataflow.kernel"

    sym_name = prop_def(SymbolNameConstraint())
    inputs = var_operand_def()
    in_place = opt_prop_def(ArrayAttr)
    group = opt_prop_def(SymbolNameConstraint())
    dies_attr = opt_prop_def(DictionaryAttr, prop_name="dies")
    steps_attr = opt_prop_def(IntegerAttr, prop_name="steps")
    outputs = var_result_def()
    body = region_def("single_block")

    traits = traits_def(IsolatedFromAbove(), SymbolOpInterface(), SymbolTable())

    def __init__(
        self,
        name: str | StringAttr,
        inputs: Sequence[SSAValue | Operation],
        argument_types: Sequence[Attribute],
        result_types: Sequence[Attribute],
        body: Region | Block | None = None,
        in_place: Sequence[InPlaceAttr | None] = (),
        attributes: Mapping[str, Attribute] | None = None,
        group: StringAttr | None = None,
        dies: Mapping[str, int] | None = None,
    ):
        values = [SSAValue.get(value) for value in inputs]
        places = [NoneAttr() if place is None else place for place in in_place]
        super().__init__(
            operands=[inputs],
            result_types=[result_types],
            regions=[body_of(body, argument_types, values)],
            properties={
                "sym_name": StringAttr(name) if isinstance(name, str) else name,
                "in_place": ArrayAttr(places) if any(place is not None for place in in_place) else None,
                "group": group,
            },
            attributes=dict(attributes or {}),
        )
        self.dies = dies or {}

    @property
    def units(self) -> tuple[str, ...]:
        """The compute units that it is built as: its own name where it is one."""
        tasks = (op for op in self.body.block.ops if isinstance(op, TaskOp))
        return tuple(dict.fromkeys(task.unit or self.sym_name.data for task in tasks))

    @property
    def started(self) -> set[str]:
        """The compute units that the host starts, with a memory port or a scalar of their own; the others run by themselves."""
        taking = (MemRefType, SymbolType)
        tasks = (op for op in self.body.block.ops if isinstance(op, TaskOp) and op.unit is not None)
        return {task.unit or "" for task in tasks if any(isinstance(value.type, taking) for value in (*task.ins, *task.outs))}

    @property
    def dies(self) -> dict[str, int]:
        """The die of each unit, of none where nothing is assigned."""
        found = {} if self.dies_attr is None else self.dies_attr.data
        return {unit: die.value.data for unit, die in found.items() if isinstance(die, IntegerAttr)}

    @dies.setter
    def dies(self, dies: Mapping[str, int]) -> None:
        self.dies_attr = DictionaryAttr({unit: IntegerAttr(die, i64) for unit, die in dies.items()}) if dies else None

    @property
    def steps(self) -> int:
        """How many of what its units compute, those that nobody starts in a run each, a launch computes."""
        return 1 if self.steps_attr is None else self.steps_attr.value.data

    @steps.setter
    def steps(self, steps: int) -> None:
        self.steps_attr = IntegerAttr(steps, i64) if steps != 1 else None

    @property
    def arguments(self) -> tuple[BlockArgument, ...]:
        """The inside views of the operands."""
        return tuple(self.body.block.args)

    @property
    def terminator(self) -> YieldOp:
        """The yield of a verified kernel."""
        last = self.body.block.last_op
        assert isinstance(last, YieldOp)
        return last

    @property
    def places(self) -> tuple[Place | None, ...]:
        """For each result the slice of an operand that it updates, None for a result of its own."""
        if self.in_place is None:
            return (None,) * len(self.outputs)
        return tuple(place.data if isinstance(place, InPlaceAttr) else None for place in self.in_place)

    @places.setter
    def places(self, places: Sequence[Place | None]) -> None:
        given = [NoneAttr() if place is None else InPlaceAttr(place) for place in places]
        self.in_place = None if all(place is None for place in places) else ArrayAttr(given)

    @property
    def updated(self) -> list[int]:
        """Which operands results update in place, by position."""
        return [place.operand for place in self.places if place is not None]

    def verify_(self) -> None:
        arguments = self.body.block.args
        if len(arguments) != len(self.inputs):
            raise VerifyException(
                f"has {len(arguments)} block arguments, expected {len(self.inputs)}: one per operand"
            )
        updated = {place.operand: place for place in self.places if place is not None}
        for index, (value, argument) in enumerate(zip(self.inputs, arguments, strict=True)):
            if index in updated and isinstance(argument.type, ItensorType):
                verify_part(f"operand {index}", value.type, argument.type, updated[index].layout)
            else:
                verify_boundary(f"operand {index}", value.type, argument.type)
        last = yield_of(self.body.block)
        if len(last.arguments) != len(self.outputs):
            raise VerifyException(
                f"yields {len(last.arguments)} values, expected {len(self.outputs)}: one per result"
            )
        if len(self.places) != len(self.outputs):
            raise VerifyException(
                f"says for {len(self.places)} results what they update in place, expected {len(self.outputs)}"
            )
        for index, (result, value, place) in enumerate(zip(self.outputs, last.arguments, self.places, strict=True)):
            if isinstance(value.type, ItensorType) and value.type.order.begins_at_run_time:
                accepted = "expected one that begins at 0, or is placed at a scalar"
                raise VerifyException(f"result {index} has type {value.type}, {accepted}")
            if place is None:
                verify_boundary(f"result {index}", result.type, value.type)
            else:
                self._verify_in_place(index, result.type, value.type, place)
        self._verify_symbols()
        self._verify_dies()
        if self.steps < 1:
            raise VerifyException(f"computes {self.steps} steps, expected one at least")
        self._verify_updated_once()
        self._verify_read_only()

    def _verify_in_place(self, index: int, outside: Attribute, inside: Attribute, place: Place) -> None:
        if place.operand >= len(self.inputs):
            raise VerifyException(
                f"result {index} updates operand {place.operand} in place, expected one of {len(self.inputs)} operands"
            )
        operand_type = self.inputs[place.operand].type
        if outside != operand_type or not isinstance(operand_type, TensorType):
            raise VerifyException(
                f"result {index} is a {outside} but updates operand {place.operand} of type {operand_type}, "
                "expected the same tensor type"
            )
        for offset, is_operand in zip(place.offsets, place.scalars, strict=True):
            if is_operand and (offset >= len(self.inputs) or not isinstance(self.arguments[offset].type, IndexType | SymbolType)):
                what = "expected an operand of type index, or a symbol"
                raise VerifyException(f"result {index} is placed at operand {offset}, {what}")
        verify_slice_of(f"result {index}", operand_type, inside, self.offsets_of(place), place.layout)

    def offsets_of(self, place: Place) -> tuple[Size | None, ...]:
        """Where a slice begins, along each dimension; None where a scalar that is no symbol says so."""
        found: list[Size | None] = []
        for offset, is_operand in zip(place.offsets, place.scalars, strict=True):
            kind = self.arguments[offset].type if is_operand else None
            found.append(kind.data if isinstance(kind, SymbolType) else None if is_operand else offset)
        return tuple(found)

    def symbolic_offsets_of(self, place: Place) -> tuple[Size, ...]:
        """`offsets_of` a place whose scalars are symbols; CompileError where one is not."""
        offsets = [offset for offset in self.offsets_of(place) if offset is not None]
        if len(offsets) < len(place.offsets):
            accepted = "a symbol, as !itensor.symbol<pos<=N>"
            raise CompileError("a slice begins at a scalar without a maximum", where=f"@{self.sym_name.data}", accepted=accepted)
        return tuple(offsets)

    @property
    def symbols(self) -> dict[Symbol, BlockArgument]:
        """The arguments that sizes depend on."""
        return {argument.type.data: argument for argument in self.arguments if isinstance(argument.type, SymbolType)}

    def _verify_symbols(self) -> None:
        """Each symbol of an itensor has one argument, of its maximum."""
        named = [argument.type.data for argument in self.arguments if isinstance(argument.type, SymbolType)]
        for name, count in Counter(symbol.name for symbol in named).items():
            if count > 1:
                raise VerifyException(f"has {count} arguments for symbol '{name}', expected one")
        results = (result for op in self.body.block.ops for result in op.results)
        for value in (*self.arguments, *results):
            for symbol in symbols_in(value.type.order.sizes) if isinstance(value.type, ItensorType) else ():
                if symbol not in self.symbols:
                    raise VerifyException(f"has a value of type {value.type}, expected an argument of type {SymbolType(symbol)}")

    def _verify_dies(self) -> None:
        """Each unit has one, or none has."""
        if self.dies_attr is None:
            return
        if sorted(self.dies_attr.data) != sorted(self.units):
            has, expected = (", ".join(sorted(names)) or "none" for names in (self.dies_attr.data, self.units))
            raise VerifyException(f"has dies of {has}, expected one for each unit: {expected}")
        if any(not isinstance(die, IntegerAttr) or die.value.data < 0 for die in self.dies_attr.data.values()):
            raise VerifyException("has a die that is none, expected a number from 0")

    def _verify_updated_once(self) -> None:
        updated = self.updated
        for operand in updated:
            if updated.count(operand) > 1:
                raise VerifyException(f"operand {operand} is updated by {updated.count(operand)} results, expected one")
            value = self.inputs[operand]
            is_packed = isinstance(value.type, TensorType) and isinstance(value.type.element_type, VectorType)
            for other, own in enumerate(self.inputs):
                if is_packed and other != operand and own is value:
                    raise VerifyException(
                        f"operand {other} is the buffer that a result updates as operand {operand}, which nothing orders, "
                        "expected a buffer of its own"
                    )

    def _verify_read_only(self) -> None:
        """Operands that no result updates in place are not among the outs of a task."""
        updated = self.updated
        tasks = [operation for operation in self.body.block.ops if isinstance(operation, TaskOp)]
        for task in tasks:
            for value in task.outs:
                if isinstance(value, BlockArgument) and value.index not in updated:
                    raise VerifyException(
                        f"task @{task.sym_name.data} writes operand {value.index}, which no result updates in place, "
                        "expected a read-only operand"
                    )

    # Syntax -----------------------------------------------------------------------------------------------------------

    @classmethod
    def parse(cls, parser: Parser) -> KernelOp:
        name = parser.parse_symbol_name()
        bindings = parse_bindings(parser)
        position = parser.pos
        results: list[tuple[Attribute, Attribute, InPlaceAttr | None]] = []
        if parser.parse_optional_punctuation("->") is not None:
            results = parser.parse_comma_separated_list(
                parser.Delimiter.PAREN, lambda: _parse_result(parser, bindings)
            )
        group = parser.parse_symbol_name() if parser.parse_optional_keyword("group") is not None else None
        dies = _parse_dies(parser) if parser.parse_optional_keyword("dies") is not None else {}
        steps = parser.parse_integer(allow_boolean=False) if parser.parse_optional_keyword("steps") is not None else 1
        attributes = parser.parse_optional_attr_dict_with_keyword(("sym_name", "in_place", "group", "dies", "steps"))
        body = parse_body(parser, bindings, YieldOp)
        last = body.block.last_op
        yielded = [value.type for value in last.operands] if last is not None else []
        if yielded != [inside for _, inside, _ in results]:
            found = ", ".join(str(type) for type in yielded)
            expected = ", ".join(str(inside) for _, inside, _ in results)
            parser.raise_error(f"kernel yields values of types ({found}), expected ({expected})", position)
        kernel = cls(
            name,
            [binding.value for binding in bindings],
            [],
            [outside for outside, _, _ in results],
            body,
            [place for _, _, place in results],
            attributes.data if attributes is not None else None,
            group,
            dies,
        )
        kernel.steps = steps
        return kernel

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_symbol_name(self.sym_name.data)
        print_bindings(printer, self.arguments, self.inputs)
        if self.outputs:
            printer.print_string(" -> ")
            with printer.in_parens():
                printer.print_list(range(len(self.outputs)), lambda index: self._print_result(printer, index))
        if self.group is not None:
            printer.print_string(" group ")
            printer.print_symbol_name(self.group.data)
        if self.dies:
            printer.print_string(" dies ")
            with printer.in_parens():
                printer.print_list(self.dies.items(), lambda entry: _print_die(printer, *entry))
        if self.steps != 1:
            printer.print_string(f" steps {self.steps}")
        printer.print_op_attributes(self.attributes, print_keyword=True)
        print_body(printer, self.body)

    def _print_result(self, printer: Printer, index: int) -> None:
        print_view(printer, self.outputs[index].type, self.terminator.arguments[index].type)
        place = self.places[index]
        if place is None:
            return
        printer.print_string(" into ")
        printer.print_ssa_value(self.arguments[place.operand])
        printer.print_string(" at ")
        with printer.in_square_brackets():
            printer.print_list(
                list(zip(place.offsets, place.scalars, strict=True)),
                lambda offset: self._print_offset(printer, *offset),
            )
        print_behind(printer, place)

    def _print_offset(self, printer: Printer, offset: int, is_operand: bool) -> None:
        if is_operand:
            printer.print_ssa_value(self.arguments[offset])
        else:
            printer.print_string(str(offset))


def _parse_dies(parser: Parser) -> dict[str, int]:
    return dict(parser.parse_comma_separated_list(parser.Delimiter.PAREN, lambda: _parse_die(parser)))


def _parse_die(parser: Parser) -> tuple[str, int]:
    unit = parser.parse_symbol_name().data
    parser.parse_punctuation("=")
    return unit, parser.parse_integer(allow_boolean=False, allow_negative=False)


def _print_die(printer: Printer, unit: str, die: int) -> None:
    printer.print_symbol_name(unit)
    printer.print_string(f" = {die}")


def _parse_result(parser: Parser, bindings: list[Binding]) -> tuple[Attribute, Attribute, InPlaceAttr | None]:
    outside = parser.parse_type()
    inside = parser.parse_type() if parser.parse_optional_keyword("as") is not None else outside
    if parser.parse_optional_keyword("into") is None:
        return outside, inside, None
    operand = _parse_argument_name(parser, bindings)
    parser.parse_keyword("at")
    offsets = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, lambda: _parse_offset(parser, bindings))
    return outside, inside, InPlaceAttr(place_behind(parser, operand, offsets))


def _parse_offset(parser: Parser, bindings: list[Binding]) -> tuple[int, bool]:
    value = parser.parse_optional_integer(allow_boolean=False, allow_negative=False)
    return (value, False) if value is not None else (_parse_argument_name(parser, bindings), True)


def _parse_argument_name(parser: Parser, bindings: list[Binding]) -> int:
    operand = parser.parse_unresolved_operand("expected an argument of the kernel")
    names = [binding.name for binding in bindings]
    if operand.operand_name not in names:
        accepted = ", ".join(f"%{name}" for name in names)
        parser.raise_error(
            f"'%{operand.operand_name}' is not an argument of the kernel, expected one of {accepted}", operand.span
        )
    return names.index(operand.operand_name)
