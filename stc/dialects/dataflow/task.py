"""`dataflow.task` and its terminator."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.dialects import scf
from xdsl.dialects.builtin import StringAttr, SymbolNameConstraint, UnregisteredOp
from xdsl.dialects.utils import AbstractYieldOperation, EnumAttribute
from xdsl.ir import Attribute, Block, BlockArgument, Operation, Region, SpacedOpaqueSyntaxAttribute, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    irdl_attr_definition,
    irdl_op_definition,
    lazy_traits_def,
    opt_prop_def,
    prop_def,
    region_def,
    var_operand_def,
    var_result_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import HasParent, IsolatedFromAbove, IsTerminator, Pure, SymbolOpInterface
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.str_enum import StrEnum

from stc.dialects.dataflow.syntax import (
    parse_bindings,
    parse_body,
    parse_results,
    print_bindings,
    print_body,
    print_results,
)
from stc.dialects.itensor.access_ops import ReadOp, WriteOp
from stc.dialects.itensor.accesses import verify_segments_cover
from stc.dialects.itensor.destinations import root_of
from stc.dialects.itensor.type import ItensorType
from stc.dialects.ports import port_name


def _parents() -> tuple[type[Operation], ...]:
    from stc.dialects.dataflow.kernel import KernelOp

    return (KernelOp, TaskOp)


def _yielding() -> tuple[type[Operation], ...]:
    from stc.dialects.dataflow.own_kernel import OwnKernelOp

    return (*_parents(), OwnKernelOp)


@irdl_op_definition
class YieldOp(AbstractYieldOperation[Attribute]):
    """Terminator of kernels, tasks and models of own kernels; its operands are their results.

    Example: `dataflow.yield %r : !H`, and `dataflow.yield` where there are none.
    """

    name = "dataflow.yield"

    traits = lazy_traits_def(lambda: (IsTerminator(), HasParent(*_yielding()), Pure()))


def body_of(body: Region | Block | None, types: Sequence[Attribute], named_by: Sequence[SSAValue]) -> Region:
    """`body` as a region; where it is None, a block with arguments of `types`, named as the values they stand for."""
    if isinstance(body, Region):
        return body
    if body is None:
        body = Block(arg_types=types)
        for argument, value in zip(body.args, named_by, strict=False):
            argument.name_hint = value.name_hint
    return Region(body)


class TaskKind(StrEnum):
    """What a task is for."""

    COMPUTE = "compute"
    LOAD = "load"
    HOLD = "hold"
    """Takes all that it reads before it writes anything: nobody waits for it but for that."""
    STORE = "store"
    CONVERTER = "converter"
    FORK = "fork"
    SPLIT = "split"
    MERGE = "merge"
    CHUNK = "chunk"
    CONCAT = "concat"


@irdl_attr_definition
class TaskKindAttr(EnumAttribute[TaskKind], SpacedOpaqueSyntaxAttribute):
    """The kind of a task, printed as `kind load`."""

    name = "dataflow.kind"


@irdl_op_definition
class TaskOp(IRDLOperation):
    """A node of the dataflow graph: an isolated region with input ports (`ins`) and output ports (`outs`).

    At the itensor level a task is destination-carried: each itensor among `outs` comes back as a result of the same type, in
    order. At the stream level `outs` are streams, buffers or memrefs and there are no results. Scalars may be `ins`. Tasks
    may contain tasks. `kind` says what the pass that made a task made it for (`TaskKind`); most have none, and compute. `unit`
    names the compute unit that it is part of, where a kernel is built as several (`assign-units`).

    Example:

        %r = dataflow.task @fc ins(%p = %a : !X, %q = %b : !W) outs(%o = %e : !H) -> !H {
          ...
          dataflow.yield %o9 : !H
        }

    At the stream level: `dataflow.task @load_w ins(%w = %weight : memref<64xvector<16xf32>>) outs(%o = %s : !S) kind load unit
    @memory {...}`.

    Python: `TaskOp("fc", [a, b], [e])` has an empty block with three arguments (`task.body.block`, `task.input_ports`,
    `task.output_ports`) and one result; the caller appends operations and a `YieldOp`.
    """

    name = "dataflow.task"

    sym_name = prop_def(SymbolNameConstraint())
    kind_attr = opt_prop_def(TaskKindAttr, prop_name="kind")
    unit_attr = opt_prop_def(SymbolNameConstraint(), prop_name="unit")
    ins = var_operand_def()
    outs = var_operand_def()
    outputs = var_result_def()
    body = region_def("single_block")

    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    traits = lazy_traits_def(lambda: (IsolatedFromAbove(), SymbolOpInterface(), HasParent(*_parents())))

    def __init__(
        self,
        name: str | StringAttr,
        ins: Sequence[SSAValue | Operation],
        outs: Sequence[SSAValue | Operation],
        body: Region | Block | None = None,
        result_types: Sequence[Attribute] | None = None,
        attributes: Mapping[str, Attribute] | None = None,
        kind: TaskKind | None = None,
        unit: str | None = None,
    ):
        values = [SSAValue.get(value) for value in (*ins, *outs)]
        if result_types is None:
            result_types = [type for value in outs if isinstance(type := SSAValue.get(value).type, ItensorType)]
        super().__init__(
            operands=[ins, outs],
            result_types=[result_types],
            regions=[body_of(body, [value.type for value in values], values)],
            properties={
                "sym_name": StringAttr(name) if isinstance(name, str) else name,
                "kind": None if kind is None else TaskKindAttr(kind),
                "unit": None if unit is None else StringAttr(unit),
            },
            attributes=dict(attributes or {}),
        )

    @property
    def kind(self) -> TaskKind | None:
        return None if self.kind_attr is None else self.kind_attr.data

    @kind.setter
    def kind(self, kind: TaskKind) -> None:
        self.kind_attr = TaskKindAttr(kind)

    @property
    def unit(self) -> str | None:
        return None if self.unit_attr is None else self.unit_attr.data

    @unit.setter
    def unit(self, unit: str) -> None:
        self.unit_attr = StringAttr(unit)

    @property
    def input_ports(self) -> tuple[BlockArgument, ...]:
        """The block arguments of `ins`."""
        return tuple(self.body.block.args[: len(self.ins)])

    @property
    def output_ports(self) -> tuple[BlockArgument, ...]:
        """The block arguments of `outs`."""
        return tuple(self.body.block.args[len(self.ins) :])

    @property
    def carried_ports(self) -> tuple[BlockArgument, ...]:
        """The output ports that are itensors: result k carries on the k-th."""
        return tuple(port for port in self.output_ports if isinstance(port.type, ItensorType))

    @property
    def terminator(self) -> YieldOp:
        """The yield of a verified task."""
        last = self.body.block.last_op
        assert isinstance(last, YieldOp)
        return last

    def destination_of_result(self, index: int) -> SSAValue | None:
        carried = [value for value in self.outs if isinstance(value.type, ItensorType)]
        return carried[index] if index < len(carried) else None

    def verify_(self) -> None:
        verify_arguments(self.body.block, [value.type for value in (*self.ins, *self.outs)])
        carried = self.carried_ports
        if [result.type for result in self.outputs] != [port.type for port in carried]:
            raise VerifyException(
                f"has {len(self.outputs)} results of types {spelled(self.outputs)}, expected one per itensor among "
                f"outs: {spelled(carried)}"
            )
        last = verify_terminator(self, self.outputs)
        for index, (value, port) in enumerate(zip(last.arguments, carried, strict=True)):
            root = root_of(value)
            if root is not port and isinstance(root, BlockArgument) and root.owner is self.body.block:
                raise VerifyException(
                    f"yields what was written to {port_name(root)} as result {index}, expected what was written to "
                    f"{port_name(port)}"
                )
        self._verify_accesses()
        self._verify_read_only()
        if self.kind == TaskKind.HOLD:
            self._verify_holds()

    def _verify_holds(self) -> None:
        """All reads stand before all writes, and no condition is around them."""
        from stc.dialects.stream import ReadOp as TokenRead  # which know the dataflow dialect
        from stc.dialects.stream import WriteOp as TokenWrite

        wrote = False
        for op in self.body.block.ops:
            accesses = [inner for inner in op.walk() if isinstance(inner, TokenRead | TokenWrite)]
            reads = any(isinstance(inner, TokenRead) for inner in accesses)
            if reads and (wrote or not all(isinstance(inner, TokenRead) for inner in accesses)):
                raise VerifyException("reads a stream behind or beside a write, expected all reads before: its kind is hold")
            if reads and any(isinstance(inner, scf.IfOp) for inner in op.walk()):
                raise VerifyException("reads a stream under a condition, expected every token to be read: its kind is hold")
            wrote = wrote or bool(accesses)

    def _verify_read_only(self) -> None:
        """What a task of tasks takes, none of them writes."""
        for inner in [op for op in self.body.block.ops if isinstance(op, TaskOp)]:
            for value in inner.outs:
                if value in self.input_ports:
                    raise VerifyException(f"task @{inner.sym_name.data} writes {port_name(value)}, expected one of the outs")

    def _verify_accesses(self) -> None:
        """Each port is read, or written, by one access, or by several that each take a segment of it."""
        accesses: dict[tuple[SSAValue, str], list[ReadOp | WriteOp]] = {}
        for op in self.body.walk():
            if isinstance(op, ReadOp):
                accesses.setdefault((root_of(op.source), "read"), []).append(op)
            elif isinstance(op, WriteOp):
                accesses.setdefault((root_of(op.destination), "written"), []).append(op)
        for (port, what), found in accesses.items():
            try:
                verify_segments_cover([(op, op.segment) for op in found], found[0].itensor_type.order.tokens)
            except VerifyException as error:
                raise VerifyException(f"port {port_name(port)} is {what} {error}") from None

    @classmethod
    def parse(cls, parser: Parser) -> TaskOp:
        name = parser.parse_symbol_name()
        ins = parse_bindings(parser) if parser.parse_optional_keyword("ins") is not None else []
        outs = parse_bindings(parser) if parser.parse_optional_keyword("outs") is not None else []
        results = parse_results(parser)
        kind = TaskKindAttr.parse_parameter(parser) if parser.parse_optional_keyword("kind") is not None else None
        unit = parser.parse_symbol_name().data if parser.parse_optional_keyword("unit") is not None else None
        attributes = parser.parse_optional_attr_dict_with_keyword(("sym_name", "kind", "unit"))
        body = parse_body(parser, [*ins, *outs], YieldOp)
        return cls(
            name,
            [binding.value for binding in ins],
            [binding.value for binding in outs],
            body,
            results,
            attributes.data if attributes is not None else None,
            kind,
            unit,
        )

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_symbol_name(self.sym_name.data)
        for keyword, ports, values in (("ins", self.input_ports, self.ins), ("outs", self.output_ports, self.outs)):
            if ports:
                printer.print_string(f" {keyword}")
                print_bindings(printer, ports, values)
        print_results(printer, [result.type for result in self.outputs])
        if self.kind is not None:
            printer.print_string(f" kind {self.kind.value}")
        if self.unit is not None:
            printer.print_string(" unit ")
            printer.print_symbol_name(self.unit)
        printer.print_op_attributes(self.attributes, print_keyword=True)
        print_body(printer, self.body)


def spelled(values: Sequence[SSAValue]) -> str:
    return "(" + ", ".join(str(value.type) for value in values) + ")"


def verify_arguments(block: Block, types: Sequence[Attribute]) -> None:
    """Check that the block has one argument of each of `types`."""
    if len(block.args) != len(types):
        raise VerifyException(f"has {len(block.args)} block arguments, expected {len(types)}: one per operand")
    for argument, type in zip(block.args, types, strict=True):
        if argument.type != type:
            raise VerifyException(f"has block argument {argument.index} of type {argument.type}, expected {type}")


def verify_terminator(operation: TaskOp, results: Sequence[SSAValue]) -> YieldOp:
    """Check that the body of a task ends in a yield of values of the types of `results`."""
    last = yield_of(operation.body.block)
    if [value.type for value in last.arguments] != [result.type for result in results]:
        raise VerifyException(f"yields values of types {spelled(last.arguments)}, expected {spelled(results)}")
    return last


def yield_of(block: Block) -> YieldOp:
    """The yield that ends `block`; VerifyException where there is none."""
    last = block.last_op
    if not isinstance(last, YieldOp):
        name = last.op_name.data if isinstance(last, UnregisteredOp) else getattr(last, "name", "")
        found = "is empty" if last is None else f"ends in '{name}'"
        raise VerifyException(f"has a body that {found}, expected it to end in 'dataflow.yield'")
    return last
