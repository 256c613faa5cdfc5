"""`dataflow.own_kernel`: the body of a task is a C++ function that somebody wrote, with what it declares of itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import TypeAlias, cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    DictionaryAttr,
    IntegerAttr,
    IntegerType,
    StringAttr,
    VectorType,
    i64,
)
from xdsl.ir import Attribute, Data, Operation, Region, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    irdl_attr_definition,
    irdl_op_definition,
    lazy_traits_def,
    opt_prop_def,
    opt_region_def,
    prop_def,
    var_operand_def,
    var_result_def,
)
from xdsl.parser import AttrParser, Parser
from xdsl.printer import Printer
from xdsl.traits import HasParent
from xdsl.utils.exceptions import VerifyException

from stc.dialects.dataflow.syntax import parse_results, print_results
from stc.dialects.dataflow.task import TaskOp
from stc.dialects.effects import AdvancesCursor
from stc.dialects.itensor.type import ItensorType
from stc.dialects.ports import port_name, verify_is_readable, verify_is_writable
from stc.dialects.stream.types import StreamType
from stc.names import cpp_identifier

RESOURCES = ("dsp", "lut", "ff", "bram18", "uram")
"""What an own kernel may say that it takes: as `stc.analysis.resource_figures.ResourceCount` counts."""

_WIDTHS = (1, 8, 16, 32, 64)
"""Bits of integers of which there are vectors in C++ without waste."""

Box: TypeAlias = tuple[tuple[int, int], ...]
"""Iterations of a nest: of each loop those from the first number (included) to the second (excluded)."""


@dataclass(frozen=True)
class OwnLoop:
    """A pipelined nest of the C++ file, outermost loop first: `trips` of its loops, an iteration every `ii` cycles, `depth` stages.

    `label`: of the innermost loop in the file, by which the simulator knows it. `accesses`: for each port the iterations that move
    one token through it, None where none does.
    """

    label: str
    trips: tuple[int, ...]
    ii: int
    depth: int
    accesses: tuple[Box | None, ...]

    def tokens(self, port: int) -> int:
        """How many tokens the nest moves through a port."""
        box = self.accesses[port]
        return 0 if box is None else prod(end - begin for begin, end in box)


@irdl_attr_definition
class OwnLoopAttr(Data[OwnLoop]):
    """What an own kernel declares of one pipelined nest of its C++: label, trip counts, interval, depth, and which iterations move
    a token through each port (`ins`, then `outs`): a range of every loop, or `none`.

    Example: `#dataflow.own_loop<"rows", trips = [8, 24], ii = 1, depth = 40, ports = [[0 to 6, 0 to 24], [2 to 8, 0 to 24]]>`.
    Python: `OwnLoopAttr(OwnLoop("rows", (8, 24), 1, 40, (((0, 6), (0, 24)), ((2, 8), (0, 24)))))`.
    """

    name = "dataflow.own_loop"

    def verify(self) -> None:
        loop = self.data
        where = f"loop {loop.label} of an own kernel"
        if cpp_identifier(loop.label) != loop.label:
            raise VerifyException(f"{where} has a label that emitted code may not use (as macros look, say), expected another")
        if not loop.trips or any(trip < 1 for trip in loop.trips):
            raise VerifyException(f"{where} has trips {list(loop.trips)}, expected one of at least 1 for each loop")
        for what, value in (("ii", loop.ii), ("depth", loop.depth)):
            if value < 1:
                raise VerifyException(f"{where} has {what} {value}, expected at least 1")
        for port, box in enumerate(loop.accesses):
            if box is not None and not _lies_in(box, loop.trips):
                what = f"accesses port {port} in iterations {_spelled(box)}"
                raise VerifyException(f"{where} {what}, expected a range within each of its trips {list(loop.trips)}")

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> OwnLoop:
        with parser.in_angle_brackets():
            label = parser.parse_str_literal()
            _parse_field(parser, "trips")
            trips = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, lambda: _integer(parser))
            _parse_field(parser, "ii")
            ii = _integer(parser)
            _parse_field(parser, "depth")
            depth = _integer(parser)
            _parse_field(parser, "ports")
            boxes = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, lambda: _parse_box(parser))
        return OwnLoop(label, tuple(trips), ii, depth, tuple(boxes))

    def print_parameter(self, printer: Printer) -> None:
        loop = self.data
        ports = ", ".join("none" if box is None else _spelled(box) for box in loop.accesses)
        with printer.in_angle_brackets():
            printer.print_string_literal(loop.label)
            printer.print_string(f", trips = {list(loop.trips)}, ii = {loop.ii}, depth = {loop.depth}, ports = [{ports}]")


def _lies_in(box: Box, trips: tuple[int, ...]) -> bool:
    return len(box) == len(trips) and all(0 <= begin < end <= trip for (begin, end), trip in zip(box, trips, strict=True))


def _spelled(box: Box) -> str:
    return "[" + ", ".join(f"{begin} to {end}" for begin, end in box) + "]"


def _integer(parser: AttrParser) -> int:
    return parser.parse_integer(allow_boolean=False)


def _parse_field(parser: AttrParser, name: str) -> None:
    parser.parse_punctuation(",")
    parser.parse_keyword(name)
    parser.parse_punctuation("=")


def _parse_box(parser: AttrParser) -> Box | None:
    if parser.parse_optional_keyword("none") is not None:
        return None
    return tuple(parser.parse_comma_separated_list(parser.Delimiter.SQUARE, lambda: _parse_range(parser)))


def _parse_range(parser: AttrParser) -> tuple[int, int]:
    begin = _integer(parser)
    parser.parse_keyword("to")
    return begin, _integer(parser)


@irdl_op_definition
class OwnKernelOp(IRDLOperation):
    """The body of a task is `function` of a C++ file, which takes the task's ports as `hls::stream`s, `ins` first.

    `source` is the text of `file`: IR and designs need nothing beside them. `template` are its template arguments, integers. What
    it does to its ports it declares: their orders, by their types (an element is one vector); in `loops` which iterations of which
    pipelined nests, one nest after the other, move a token; `resources` (dsp, lut, ff, bram18, uram; what is missing is 0).
    `python` names a function (`stc.execution.own_kernels.python_kernel`) that gives the same tensors without a C++ compiler.

    `lower-tasks` puts streams in place of itensors, the types into `ports`, and into `model` loops that say what `loops` said:
    each access with its guard, each interval and depth. All that counts and times looks at these; the C++ is what runs. The
    arguments of `model` stand for tokens that the C++ makes.

    Example:

        %r = dataflow.task @t ins(%x = %a : !X) outs(%o = %e : !X) -> !X {
          %y = dataflow.own_kernel @softmax<6, 24> ins(%x : !X) outs(%o : !X) -> !X {file = "softmax.cpp", source = "...",
            loops = [#dataflow.own_loop<"rows", trips = [8, 24], ii = 1, depth = 40,
                                        ports = [[0 to 6, 0 to 24], [2 to 8, 0 to 24]]>],
            resources = {dsp = 9 : i64}}
          dataflow.yield %y : !X
        }
    """

    name = "dataflow.own_kernel"

    function = prop_def(StringAttr)
    template = opt_prop_def(DenseArrayBase[IntegerType])
    file = prop_def(StringAttr)
    source = prop_def(StringAttr)
    loops = opt_prop_def(ArrayAttr[OwnLoopAttr])
    resources = prop_def(DictionaryAttr)
    python = opt_prop_def(StringAttr)
    ports = opt_prop_def(ArrayAttr[ItensorType])
    ins = var_operand_def()
    outs = var_operand_def()
    outputs = var_result_def()
    model = opt_region_def("single_block")

    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    traits = lazy_traits_def(lambda: (AdvancesCursor(), HasParent(TaskOp)))

    def __init__(
        self,
        function: str,
        ins: Sequence[SSAValue],
        outs: Sequence[SSAValue],
        *,
        file: str,
        source: str,
        loops: Sequence[OwnLoop] = (),
        resources: Mapping[str, int] | None = None,
        template: Sequence[int] = (),
        python: str | None = None,
        ports: Sequence[ItensorType] = (),
        model: Region | None = None,
    ):
        properties: dict[str, Attribute | None] = {
            "function": StringAttr(function),
            "template": DenseArrayBase.from_list(i64, list(template)) if template else None,
            "file": StringAttr(file),
            "source": StringAttr(source),
            "loops": ArrayAttr([OwnLoopAttr(loop) for loop in loops]) if loops else None,
            "resources": DictionaryAttr({name: IntegerAttr(count, i64) for name, count in (resources or {}).items()}),
            "python": StringAttr(python) if python is not None else None,
            "ports": ArrayAttr(ports) if ports else None,
        }
        carried = [value.type for value in outs if isinstance(value.type, ItensorType)]
        super().__init__(operands=[ins, outs], result_types=[carried], properties=properties, regions=[[model] if model else []])

    # What it declares -------------------------------------------------------------------------------------------------

    @property
    def declared_loops(self) -> tuple[OwnLoop, ...]:
        return tuple(loop.data for loop in self.loops or ())

    @property
    def declared_ports(self) -> tuple[ItensorType, ...]:
        """The types of `ins`, then `outs`."""
        return tuple(cast(ItensorType, kind) for kind in self.ports or (value.type for value in self.operands))

    @property
    def declared_resources(self) -> dict[str, int]:
        return {name: count.value.data for name, count in self.resources.data.items() if isinstance(count, IntegerAttr)}

    @property
    def template_arguments(self) -> tuple[int, ...]:
        return tuple(int(value) for value in self.template.get_values()) if self.template is not None else ()

    # Verification -----------------------------------------------------------------------------------------------------

    def verify_(self) -> None:
        if cpp_identifier(name := self.function.data) != name:
            raise VerifyException(f"function '{name}' is no C++ identifier that a file may define, expected one")
        for key, count in self.resources.data.items():
            if key not in RESOURCES or not isinstance(count, IntegerAttr) or count.value.data < 0:
                raise VerifyException(f"resources have {key} = {count}, expected {', '.join(RESOURCES)} of at least 0")
        for value in self.ins:
            verify_is_readable(value)
        for value in self.outs:
            verify_is_writable(value)
        if self.ports is None:
            self._verify_on_itensors()
        else:
            self._verify_on_streams(self.declared_ports)

    def _verify_on_itensors(self) -> None:
        for value in self.operands:
            if not isinstance(value.type, ItensorType):
                raise VerifyException(f"port {port_name(value)} has type {value.type}, expected an itensor")
            element = value.type.element_type
            if isinstance(element, IntegerType) and element.width.data not in _WIDTHS:
                what = f"expected floats, or integers of {', '.join(map(str, _WIDTHS))} bits: others are packed in streams"
                raise VerifyException(f"port {port_name(value)} has type {value.type}, {what}")
            if any(extent != 1 for extent in value.type.element_shape[:-1]) or not value.type.order.is_static:
                what = "expected elements that are one vector, and a static order"
                raise VerifyException(f"port {port_name(value)} has type {value.type}, {what}")
        if [result.type for result in self.outputs] != [value.type for value in self.outs]:
            raise VerifyException(f"has {len(self.outputs)} results, expected one for each of its outs, of the same type")
        loops, labels = self.declared_loops, [loop.label for loop in self.declared_loops]
        if not loops or len(set(labels)) < len(labels):
            raise VerifyException(f"declares loops {labels}, expected one or more, of different labels")
        for loop in loops:
            if len(loop.accesses) != len(self.operands):
                what = f"says for {len(loop.accesses)} ports when they are accessed"
                raise VerifyException(f"loop {loop.label} {what}, expected {len(self.operands)}: ins, then outs")
        for index, (value, kind) in enumerate(zip(self.operands, self.declared_ports, strict=True)):
            declared = sum(loop.tokens(index) for loop in loops)
            if declared != kind.order.token_count:
                what = f"declares {declared} tokens of port {port_name(value)}"
                raise VerifyException(f"{what}, expected the {kind.order.token_count} of its type {kind}")

    def _verify_on_streams(self, ports: Sequence[ItensorType]) -> None:
        if self.loops is not None or self.model is None or self.outputs or len(ports) != len(self.operands):
            raise VerifyException("has ports, expected a model in place of loops, a type for each stream, and no results")
        for value, kind in zip(self.operands, ports, strict=True):
            token = VectorType(kind.element_type, [kind.element_shape[-1] if kind.element_shape else 1])
            if not isinstance(value.type, StreamType) or value.type.element_type != token:
                raise VerifyException(f"port {port_name(value)} has type {value.type}, expected a stream of {token}")

    # Syntax -----------------------------------------------------------------------------------------------------------

    @classmethod
    def parse(cls, parser: Parser) -> OwnKernelOp:
        function = parser.parse_symbol_name()
        template = parser.parse_optional_comma_separated_list(parser.Delimiter.ANGLE, lambda: _integer(parser))
        ins, outs = ([*_parse_values(parser)] if parser.parse_optional_keyword(name) else [] for name in ("ins", "outs"))
        results = parse_results(parser)
        properties: dict[str, Attribute] = dict(parser.parse_optional_attr_dict())
        model = parser.parse_region() if parser.parse_optional_keyword("model") is not None else None
        properties["function"] = function
        if template:
            properties["template"] = DenseArrayBase.from_list(i64, template)
        return cls.create_from(properties, ins, outs, results, model)

    @classmethod
    def create_from(
        cls,
        properties: Mapping[str, Attribute],
        ins: Sequence[SSAValue],
        outs: Sequence[SSAValue],
        results: Sequence[Attribute],
        model: Region | None,
    ) -> OwnKernelOp:
        """The operation with these properties, without `operandSegmentSizes`; what is none of its properties is an attribute."""
        own = set(cls.get_irdl_definition().properties)
        op = cls.__new__(cls)
        IRDLOperation.__init__(
            op,
            operands=[ins, outs],
            result_types=[results],
            properties={name: value for name, value in properties.items() if name in own},
            attributes={name: value for name, value in properties.items() if name not in own},
            regions=[[model] if model is not None else []],
        )
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_symbol_name(self.function.data)
        if self.template is not None:
            printer.print_string(f"<{', '.join(map(str, self.template_arguments))}>")
        for keyword, values in (("ins", self.ins), ("outs", self.outs)):
            if values:
                printer.print_string(f" {keyword}")
                with printer.in_parens():
                    printer.print_list(values, lambda value: _print_value(printer, value))
        print_results(printer, [result.type for result in self.outputs])
        shown = {name: value for name, value in self.properties.items() if name not in _SPELLED}
        printer.print_op_attributes({**shown, **self.attributes})
        if self.model is not None:
            printer.print_string(" model ")
            printer.print_region(self.model)


_SPELLED = ("function", "template", "operandSegmentSizes")
"""Properties that the syntax has a place for."""


def _parse_values(parser: Parser) -> list[SSAValue]:
    def value() -> SSAValue:
        operand = parser.parse_unresolved_operand()
        parser.parse_punctuation(":")
        return parser.resolve_operand(operand, parser.parse_type())

    return parser.parse_comma_separated_list(parser.Delimiter.PAREN, value)


def _print_value(printer: Printer, value: SSAValue) -> None:
    printer.print_ssa_value(value)
    printer.print_string(" : ")
    printer.print_attribute(value.type)


def own_kernel_of(task: Operation) -> OwnKernelOp | None:
    """The own kernel that is the body of a task, None where the task is ours."""
    return next((op for region in task.regions for op in region.block.ops if isinstance(op, OwnKernelOp)), None)
