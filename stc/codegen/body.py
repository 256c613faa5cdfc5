"""Statements of a task: the operations of level L6 as C++.

A pure scalar operation with one use in its own block becomes part of the expression that uses it; everything else becomes a
`const` variable. Reads of memory take part in that, but never move past a write, a stream access or a loop.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from xdsl.dialects import arith, memref, scf
from xdsl.dialects.builtin import IndexType, VectorType
from xdsl.ir import Block, Operation, SSAValue

from stc.analysis.dependences import CarriedDependence
from stc.codegen.cpp_types import Typedefs, is_packed, scalar_type
from stc.codegen.expressions import Expression, expression, product_type, result_name
from stc.codegen.names import Scope
from stc.codegen.source_lines import SourceLines
from stc.diagnostics import CompileError
from stc.dialects.facts import ADDERS, MULTIPLIERS, REGISTERED, Adders, Multipliers
from stc.dialects.stream import WriteOp
from stc.scalars.forms import PACK, PRIMARY, TERNARY, UNARY, UNPACK

MAX_EXPRESSION = 72
SHORT_INDEX = 2   # blanks in `first_column + column`
# Operations that take a vector whole.
_WHOLE = (WriteOp, memref.StoreOp, scf.YieldOp, scf.ForOp)
# Operations whose text repeats an operand, which then must be a name or a literal.
_REPEATING = (arith.MaxSIOp, arith.MinSIOp, arith.MaxUIOp, arith.MinUIOp, arith.CmpfOp)

_IMPLEMENTATIONS: Mapping[Multipliers, str] = {"dsp": "dsp", "lut": "fabric"}
"""What multipliers are made of, as `bind_op` calls it. Pairs are bound to nothing: `pack-products` makes other products of them."""

_ADDERS: Mapping[Adders, str] = {"dsp": "fulldsp", "lut": "fabric"}
"""The same of adders of floats."""


class BodyPrinter:
    """Prints the blocks of one task into `lines`.

    `names`: C++ text of the task's block arguments. `written_ports`: those the task writes. `block_types`: C++ array type of
    those that are blocks. `labels`: of every loop. `dependences`: what is proved of loops. `handlers`: how each operation prints.
    `where`: for complaints.
    """

    def __init__(
        self,
        lines: SourceLines,
        typedefs: Typedefs,
        handlers: Mapping[type[Operation], Handler],
        names: Mapping[SSAValue, str],
        labels: Mapping[scf.ForOp, str],
        dependences: Mapping[scf.ForOp, Sequence[CarriedDependence]],
        written_ports: frozenset[SSAValue] = frozenset(),
        block_types: Mapping[SSAValue, str] | None = None,
        where: str = "",
    ):
        self.lines = lines
        self.typedefs = typedefs
        self.labels = labels
        self.dependences = dependences
        self.written_ports = written_ports
        self.block_types = block_types or {}
        self.where = where
        self.scope = Scope()
        # Vector variables that may be changed in place, and vector constants with one value in all lanes.
        self.mutable: set[SSAValue] = set()
        self.splats: set[SSAValue] = set()
        # Arrays that hold the lanes of packed vectors (`is_packed`): these have no `[lane]` of their own.
        self._arrays: dict[SSAValue, str] = {}
        self.loop_depth = 0
        self._handlers = handlers
        self._values = {value: Expression(name) for value, name in names.items()}
        self._deferred: dict[SSAValue, Expression] = {}
        self._labels = Scope()
        for label in labels.values():
            self._labels.declare(label)
        for name in (*names.values(), *self.block_types.values()):
            self.scope.declare(name)

    # Operations -----------------------------------------------------------------------------------------------------

    def statements(self, block: Block) -> None:
        """Print the operations of a block, its terminator excepted, in the current scope."""
        for operation in block.ops:
            if operation is not block.last_op:
                self._operation(operation)

    def _operation(self, operation: Operation) -> None:
        handler = self._handlers.get(type(operation))
        if handler is None:
            raise self.refusal(operation)
        handler(self, operation)

    def scalar(self, operation: Operation) -> None:
        """A scalar arithmetic operation: inlined into its use or a variable."""
        built = expression(operation, [self.value(operand) for operand in operation.operands])
        if built is None:
            raise self.refusal(operation)
        if isinstance(operation, arith.MuliOp) and (made_of := MULTIPLIERS.of(operation)) is not None:
            self._bound_product(operation, built, made_of)
        elif REGISTERED.on(operation):
            self._registered_sum(operation, built)
        elif ADDERS.on(operation):
            self.bind(operation.results[0], self.sum_in_its_adder(operation, built))
        else:
            self.define(operation.results[0], built)

    def sum_in_its_adder(self, operation: Operation, built: Expression) -> Expression:
        """`built`, in a variable that holds nothing but this sum where it is said what its adder is made of (UG1399, bind_op)."""
        made_of = ADDERS.of(operation)
        if made_of is None:
            return built
        name = self.scope.declare(operation.results[0].name_hint or "sum")
        kind = operation.results[0].type
        self.lines.add(f"const {scalar_type(kind.element_type if isinstance(kind, VectorType) else kind)} {name} = {built.text};")
        self.lines.pragma(f"bind_op variable={name} op=fadd impl={_ADDERS[made_of]}")
        return Expression(name)

    def _registered_sum(self, operation: Operation, built: Expression) -> None:
        """A variable that holds nothing but this sum of integers, with a register behind its adder (UG1399, bind_op)."""
        name = self.scope.declare(operation.results[0].name_hint or "sum")
        self.lines.add(f"const {scalar_type(operation.results[0].type)} {name} = {built.text};")
        self.lines.pragma(f"bind_op variable={name} op=add impl=fabric latency=1")
        self.bind(operation.results[0], Expression(name))

    def _bound_product(self, product: arith.MuliOp, built: Expression, made_of: Multipliers) -> None:
        """A variable that holds nothing but `product`, with the pragma that says what its multiplier is made of."""
        if made_of not in _IMPLEMENTATIONS:
            what = f"a product is marked stc.multipliers = '{made_of}', and is none of two that share a DSP"
            raise CompileError(what, where=self.where, accepted=f"what `pack-products` leaves, or {', '.join(_IMPLEMENTATIONS)}")
        kind, name = product_type(product), self.scope.declare(product.result.name_hint or "product")
        self.lines.add(f"const {scalar_type(kind)} {name} = {built.text};")
        self.lines.pragma(f"bind_op variable={name} op=mul impl={_IMPLEMENTATIONS[made_of]}")
        cast = "" if kind == product.result.type else f"({scalar_type(product.result.type)})"
        self.bind(product.result, Expression(f"{cast}{name}", UNARY if cast else PRIMARY))

    def refusal(self, operation: Operation) -> CompileError:
        """The complaint about an operation that has no C++ form."""
        return CompileError(f"operation {operation.name} has no HLS form", where=self.where, accepted="operations of level L6")

    # Values ---------------------------------------------------------------------------------------------------------

    def value(self, value: SSAValue) -> Expression:
        """The expression of a value; a deferred one is used up."""
        if value in self._deferred:
            return self._deferred.pop(value)
        if value not in self._values:
            raise CompileError("a value is used before it is printed", where=self.where)
        return self._values[value]

    def text(self, value: SSAValue, limit: int = TERNARY) -> str:
        """The text of a value, in parentheses where its operator binds looser than `limit`."""
        return self.value(value).within(limit)

    def is_bound(self, value: SSAValue) -> bool:
        """Whether `value` has a name or text of its own already."""
        return value in self._values

    def bind(self, value: SSAValue, bound: Expression) -> None:
        """Let `value` print as `bound` from now on."""
        self._values[value] = bound

    def flush(self) -> None:
        """Turn pending reads of memory into variables: the next statement may change memory."""
        for value, pending in list(self._deferred.items()):
            if pending.reads_memory:
                del self._deferred[value]
                self.declare(value, pending)

    def declare(self, value: SSAValue, initial: Expression, wish: str | None = None) -> None:
        """A `const` variable for `value`."""
        if wish is None and isinstance(value.owner, Operation):
            wish = result_name(value.owner)
        name = self.scope.declare(value.name_hint or wish or "value")
        self.lines.add(f"const {self.typedefs.value_type(value.type)} {name} = {initial.text};")
        self.bind(value, Expression(name))
        if is_packed(value.type) and any(not isinstance(use.operation, _WHOLE) for use in value.uses):
            self.lines.add(f"{UNPACK}({name}, {self.lane_array(value, f'{name}_lanes')});")

    def define(self, value: SSAValue, initial: Expression, wish: str | None = None) -> None:
        """Let `initial` become part of the only expression that uses `value`, or a variable."""
        users = [use.operation for use in value.uses]
        if not users:
            return
        assert isinstance(value.owner, Operation)
        if isinstance(value.type, IndexType) and initial.text.count(" ") <= SHORT_INDEX:
            self.bind(value, initial)   # an index that is short reads better in brackets than by a name, as often as it is used
            return
        is_alone = len(users) == 1 and users[0].parent_block() is value.owner.parent_block()
        if is_alone and not is_packed(value.type) and len(initial.text) <= MAX_EXPRESSION and not isinstance(users[0], _REPEATING):
            self._deferred[value] = initial
        else:
            self.declare(value, initial, wish)

    # Lanes ----------------------------------------------------------------------------------------------------------

    def lane_array(self, value: SSAValue, wish: str, initial: str | None = None) -> str:
        """An array for the lanes of a packed vector, of which `vector` makes a word."""
        assert isinstance(value.type, VectorType)
        name = self.scope.declare(wish)
        declared = f"{scalar_type(value.type.element_type)} {name}[{value.type.get_shape()[0]}]"
        self.lines.add(f"{declared};" if initial is None else f"const {declared} = {initial};")
        self.lines.pragma(f"array_partition variable={name} type=complete dim=1")
        self._arrays[value] = name
        return name

    def lanes(self, value: SSAValue) -> Callable[[str], str]:
        """The text of each lane of a vector value."""
        if value in self.splats:
            text = self.text(value, 0)
            return lambda lane: text
        if is_packed(value.type) and value not in self._arrays:
            what = f"a loop or branch hands on a {value.type}, of which lanes are used"
            raise CompileError(what, where=self.where, accepted="vectors of floats and of integers of 8, 16, 32 or 64 bits")
        array = self._arrays[value] if value in self._arrays else self.text(value, 0)
        return lambda lane: f"{array}[{lane}]"

    def lane(self, value: SSAValue, lane: str) -> str:
        """The text of one lane of a vector value."""
        return self.lanes(value)(lane)

    def vector(self, value: SSAValue) -> str:
        """The text of a whole vector (or scalar) value."""
        if value in self.splats and is_packed(value.type):
            assert isinstance(value.type, VectorType)
            text, name = self.text(value), self.lane_array(value, "lanes")
            self.splats.discard(value)
            self.lane_loop(name, value.type.get_shape()[0], lambda lane: f"{name}[{lane}] = {text};")
        elif value in self.splats:
            return f"{self.typedefs.value_type(value.type)}({self.text(value)})"
        is_made_of_lanes = value in self._arrays and not self.is_bound(value)
        return f"{PACK}({self._arrays[value]})" if is_made_of_lanes else self.text(value)

    def lane_loop(self, subject: str, lanes: int, statement: Callable[[str], str]) -> None:
        """An unrolled loop over the lanes of `subject`, with one statement; a single lane needs no loop."""
        if lanes == 1:
            self.lines.add(statement("0"))
            return
        label = self._labels.declare(f"{subject}_lane")
        index = Scope(self.scope).declare("lane")
        with self.lines.block(f"{label}: for (int {index} = 0; {index} < {lanes}; {index} += 1)"):
            self.lines.pragma("unroll")
            self.lines.add(statement(index))


Handler: TypeAlias = Callable[[BodyPrinter, Operation], None]
