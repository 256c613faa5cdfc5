"""Proof, edge by edge, that each consumer of an itensor gets the token sequence of its type (docs/design/method.md section 7).

An edge is a place where one type meets another, or a type meets loops: a value at a port of a task, an access, a cast, a
reassociation, a reorder, a converter, a chunk, a concatenation, a fork, a split, a merge, and the boundary of a kernel. What is
read has a writer, a task accesses each of its ports, and once forks have been inserted each stream has one reader. `method` says
how an edge was shown:

| method | how |
|---|---|
| type | both types are the same |
| verifier | the rule of the operation's verifier, asked once more |
| normal form | both sides have one normal form |
| closed form | an exact argument about loops (`stc.iteration.converter_proofs`, `stc.iteration.restriction`) |
| z3 | the solver alone found no symbol values and token that differ |
| counted | all tokens, all addresses of a dimension, or all readers were enumerated |
| assumed | not proved: bus words of external memory that come from where nobody sees how they were laid out |

Where two types meet that are not one and the same, and where loops run over a run-time size, z3 is asked as well, from the types as
they are spelled
(`stc.iteration.proof_obligations`): `stc.analysis.proof_cross_check` says what is made of both answers.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from functools import lru_cache, partial
from itertools import chain
from typing import Any, Literal, TypeAlias

from xdsl.dialects import scf
from xdsl.dialects.builtin import ModuleOp, TensorType, VectorType
from xdsl.ir import Attribute, BlockArgument, Operation, OpResult, SSAValue, Use
from xdsl.utils.exceptions import VerifyException

from stc.analysis.access_nests import enumeration
from stc.analysis.proof_cross_check import Z3, Contradiction, NotProved, Open, Wrong, judged
from stc.dialects import stream
from stc.dialects.dataflow import KernelOp, OwnKernelOp, PackOp, TaskOp, UnpackOp, YieldOp
from stc.dialects.dataflow.boundary import verify_boundary, verify_part, verify_slice_of
from stc.dialects.dataflow.in_place import Place
from stc.dialects.dataflow.memory_ops import striped
from stc.dialects.itensor import (
    CastOp,
    ChunkOp,
    ConcatOp,
    ConverterOp,
    EmptyOp,
    ForkOp,
    InstanceOp,
    ItensorType,
    MergeOp,
    ReadOp,
    ReassociateOp,
    ReorderOp,
    SplitOp,
    SymbolType,
    WriteOp,
)
from stc.dialects.itensor.access_ops import enumerated_loops, verify_enumerates
from stc.dialects.itensor.destinations import root_of
from stc.dialects.itensor.sequences import MOST_TOKENS_COUNTED, slice_mismatch
from stc.dialects.locations import source_location
from stc.iteration.bus_words import in_one_width, slot
from stc.iteration.concatenation import concatenation_mismatch
from stc.iteration.converter_obligations import Conversion
from stc.iteration.converter_proofs import ConverterFault, Proved, prove_converter
from stc.iteration.flattening import flattened
from stc.iteration.normal_form import normal_form
from stc.iteration.order import Loop, StreamOrder
from stc.iteration.proof_obligations import (
    Concatenation,
    Cover,
    Disjoint,
    NoForm,
    Obligation,
    SameEntries,
    Slice,
    SplitPart,
    answer,
    same_positions,
    same_tokens,
    stacked,
)
from stc.iteration.proofs import Differs, Equal, compare_sequences
from stc.iteration.restriction import restricted
from stc.iteration.round_robin import round_robin_parts, without_constants
from stc.iteration.size import Size, Symbol, are_equal, minimum
from stc.iteration.sized_reshapes import at_largest, dealt, resized, sliced

Solver: TypeAlias = Literal["normal-form", "both", "z3"]
"""What z3 is asked: what no other proof decides; all edges between types that are not one and the same, and accesses to what has a
run-time size; all accesses as well."""


@dataclass(frozen=True)
class ProvedEdge:
    """An edge that was shown to be right: `kind` is what meets there, `seconds` how long the proof took, `z3_seconds` of it z3.

    `has_run_time_size`: it was shown for all values of the symbols that its types name.
    """

    name: str
    kind: str
    method: str
    z3: Z3
    seconds: float
    z3_seconds: float
    has_run_time_size: bool = False


@dataclass(frozen=True)
class FailedEdge:
    """An edge that is wrong, or was not proved: `reason` is a sentence; `where` the operation's place in its text, if known.

    `is_contradiction`: two proofs answer differently, which is a defect of stc.
    """

    name: str
    kind: str
    reason: str
    where: str | None
    is_contradiction: bool = False

    def __str__(self) -> str:
        return f"{self.kind} {self.name}: {self.reason}"


@dataclass
class StreamProofs:
    """The edges of a module, in the order of its operations."""

    edges: list[ProvedEdge] = field(default_factory=list)
    failures: list[FailedEdge] = field(default_factory=list)

    @property
    def seconds(self) -> float:
        return sum(edge.seconds for edge in self.edges)

    @property
    def by_method(self) -> dict[str, int]:
        """How many edges each method proved."""
        methods = sorted({edge.method for edge in self.edges})
        return {method: sum(edge.method == method for edge in self.edges) for method in methods}

    @property
    def gave_up(self) -> int:
        """Edges that another proof shows, and about which z3 gave up."""
        return sum(edge.z3 == "gave up" for edge in self.edges)

    def report(self) -> dict[str, Any]:
        """What report.json says."""
        return {
            "origin": "proved",
            "edges": len(self.edges),
            "by_method": self.by_method,
            "z3": {
                "asked": sum(edge.z3 != "not asked" for edge in self.edges),
                "confirmed": sum(edge.z3 == "confirmed" for edge in self.edges),
                "alone": sum(edge.z3 == "alone" for edge in self.edges),
                "gave_up": self.gave_up,
                "for_all_run_time_sizes": sum(edge.has_run_time_size and edge.z3 in ("confirmed", "alone") for edge in self.edges),
                "seconds": sum(edge.z3_seconds for edge in self.edges),
            },
            "seconds": self.seconds,
            "list": [asdict(edge) for edge in self.edges],
        }


@dataclass(frozen=True)
class _Edge:
    """An edge to prove: `prove` returns the method, or raises NotProved, VerifyException or ValueError (undecided).

    `obligation`: what z3 is asked, None where both types are the same or where it is not about types.
    It raises ValueError where it has no form.
    """

    op: Operation
    kind: str
    name: str
    prove: Callable[[], str]
    obligation: Callable[[], Obligation | None] = lambda: None


def prove_streams(module: ModuleOp, solver: Solver = "both") -> StreamProofs:
    """Prove every edge of every kernel of `module` and of the packed tensors between them; nothing is changed.

    What was proved before, for another pass, is proved again: the seconds are those of the proofs.
    """
    for cached in (compare_sequences, _sliced, _split, answer):
        cached.cache_clear()
    proofs = StreamProofs()
    for edge in chain.from_iterable(map(_edges_of, module.walk())):
        try:
            proofs.edges.append(_proved(edge, solver))
        except (NotProved, VerifyException) as error:
            is_contradiction = isinstance(error, Contradiction)
            proofs.failures.append(FailedEdge(edge.name, edge.kind, str(error), source_location(edge.op), is_contradiction))
    return proofs


def _proved(edge: _Edge, solver: Solver) -> ProvedEdge:
    """Raises NotProved or VerifyException where it is wrong or undecided."""
    begin = time.perf_counter()
    _require_same_scalars(edge.op)
    try:
        first: str | Wrong | Open = edge.prove()
    except (Wrong, Open) as error:
        first = error
    except ValueError as error:
        first = Open(str(error))
    middle = time.perf_counter()
    proof = judged(first, _obligation(edge) if _is_asked(edge, solver) else None)
    end = time.perf_counter()
    z3_seconds = 0.0 if proof.z3 == "not asked" else end - middle
    return ProvedEdge(edge.name, edge.kind, proof.method, proof.z3, end - begin, z3_seconds, _has_run_time_size(edge.op))


def _has_run_time_size(op: Operation) -> bool:
    return any(isinstance(value.type, ItensorType) and not value.type.order.is_static for value in (*op.operands, *op.results))


def _is_asked(edge: _Edge, solver: Solver) -> bool:
    is_counted = isinstance(edge.op, ReadOp | WriteOp) and not _has_run_time_size(edge.op)
    return solver == "z3" or (solver == "both" and not is_counted)


def _obligation(edge: _Edge) -> Obligation | None:
    try:
        return edge.obligation()
    except ValueError as error:
        return NoForm(str(error))


# Which edges there are ----------------------------------------------------------------------------------------------------

_MOVES_ALONG = (YieldOp, stream.FromItensorOp, stream.ToItensorOp)
"""Operations that hand itensors on as they are: their types are checked where tasks, kernels and accesses use them."""

_MOVES_ALONG_IN_TASKS = (scf.ForOp, scf.IfOp, scf.YieldOp)
"""And these, around accesses, which say in which loops and under which guards they stand."""


def _edges_of(op: Operation) -> Iterator[_Edge]:
    match op:
        case KernelOp():
            yield from _boundary_edges(op)
        case UnpackOp():
            for index, stripe in enumerate(op.stripes):
                name = f"{_named(stripe)} unpacked to {_named(op.result)}"
                reader = striped(op.layout, len(op.stripes))[index]
                ends = stripe, reader
                yield _Edge(op, "boundary", name, partial(_packed_alike, *ends), partial(_packed_obligation, *ends))
        case TaskOp():
            yield from _port_edges(op)
        case EmptyOp() | InstanceOp():
            for use in op.result.uses:
                if not _is_destination(use):
                    yield _Edge(use.operation, "source", f"{_named(op.result)} in {_owner(op)}", partial(_unwritten, use.operation))
        case ReadOp() | WriteOp():
            value = op.source if isinstance(op, ReadOp) else op.destination
            kind = "read" if isinstance(op, ReadOp) else "write"
            name = f"{_named(value)} in {_owner(op)}"
            yield _Edge(op, kind, name, partial(_access, op), partial(_enumeration, op))
        case OwnKernelOp():
            for value in op.operands:
                yield _Edge(op, "own kernel", f"{_named(value)} in {_owner(op)}", partial(_declared, op))
        case CastOp():
            orders = _order(op.source), _order(op.result)
            yield _Edge(op, "cast", _between(op), partial(_equal, *orders), partial(_same, *orders))
        case ReassociateOp():
            source, result = _order(op.source), _order(op.result)
            largest = at_largest(source), at_largest(result)
            yield _Edge(op, "reassociate", _between(op), partial(_reshaped, source, result), partial(same_positions, *largest))
        case ReorderOp():
            yield _Edge(op, "reorder", _between(op), partial(_verified, op))
        case ConverterOp():
            yield _Edge(op, "converter", _between(op), partial(_converter, op), partial(_conversion, op))
        case ChunkOp():
            yield from _slice_edges(op, "chunk", op.source, op.slices, op.offsets)
        case ConcatOp() if not op.is_of_slices:
            sides = _order(op.result), tuple(_order(value).from_its_begin for value in op.inputs), op.starts
            name = f"parts of {_named(op.result)}"
            yield _Edge(op, "concat", name, partial(_concatenated, *sides), partial(Concatenation, *sides))
        case ConcatOp():
            yield from _slice_edges(op, "concat", op.result, op.inputs, op.offsets)
            yield _Edge(op, "concat", f"cover of {_named(op.result)}", partial(_verified, op), partial(_cover, op))
        case ForkOp():
            for copy in op.copies:
                values = op.source, copy
                yield _Edge(op, "fork", _between(op), partial(_equal_types, *values), partial(_same_values, *values))
        case SplitOp():
            for index, part in enumerate(op.parts):
                name = f"part {index} of {_named(op.source)}"
                sides, which = (_order(op.source), _order(part)), (index, len(op.parts))
                largest = map(at_largest, sides)
                yield _Edge(op, "split", name, partial(_split, *sides, *which), partial(SplitPart, *largest, *which))
        case MergeOp():
            yield from _merge_edges(op)
        case _ if _handles_itensors(op):
            yield _Edge(op, "unknown", f"'{op.name}' in {_owner(op)}", partial(_unknown, op))
        case _:
            return


def _handles_itensors(op: Operation) -> bool:
    """Whether an operation of a kernel may change what crosses a stream."""
    around = _around(op)
    if around is None or isinstance(op, _MOVES_ALONG) or (isinstance(op, _MOVES_ALONG_IN_TASKS) and isinstance(around, TaskOp)):
        return False
    return any(isinstance(value.type, ItensorType) for value in (*op.operands, *op.results))


def _boundary_edges(kernel: KernelOp) -> Iterator[_Edge]:
    name = kernel.sym_name.data
    updated = {place.operand: place for place in kernel.places if place is not None}
    for index, (outside, port) in enumerate(zip(kernel.inputs, kernel.arguments, strict=True)):
        if isinstance(port.type, ItensorType):
            label = f"{_named(outside)} into kernel @{name}"
            if index in updated:
                proof = partial(_enters_in_part, outside, port.type, f"operand {index}", updated[index].layout)
                yield _Edge(kernel, "boundary", label, proof, partial(_laid_out_obligation, outside, updated[index].layout))
                continue
            proof = partial(_enters, kernel, index, port.type)
            yield _Edge(kernel, "boundary", label, proof, partial(_packed_obligation, outside, port.type))
    for index, (result, inside) in enumerate(zip(kernel.outputs, kernel.terminator.arguments, strict=True)):
        if isinstance(inside.type, ItensorType):
            label = f"{_named(inside)} out of kernel @{name}"
            yield _Edge(kernel, "boundary", label, partial(_leaves, kernel, index, result, inside.type))
    for place, inside in zip(kernel.places, kernel.terminator.arguments, strict=True):
        if place is not None and isinstance(inside.type, ItensorType):
            port = kernel.arguments[place.operand]
            label = f"{_named(port)} in kernel @{name}, read and updated in one launch"
            ends = kernel, place, port, inside
            yield _Edge(kernel, "order", label, partial(_ordered, *ends), partial(_disjoint, *ends))
    if _is_forked(kernel):
        yield _Edge(kernel, "readers", f"of streams in kernel @{name}", partial(_one_reader_each, kernel))


def _port_edges(task: TaskOp) -> Iterator[_Edge]:
    values, ports = (*task.ins, *task.outs), (*task.input_ports, *task.output_ports)
    for value, port in zip(values, ports, strict=True):
        if isinstance(value.type, ItensorType):
            name = f"{_named(value)} at {_named(port)} of @{task.sym_name.data}"
            yield _Edge(task, "port", name, partial(_port, task, value, port), partial(_same_values, value, port))
    for port, result in zip(task.carried_ports, task.outputs, strict=True):
        name = f"{_named(port)} of @{task.sym_name.data} as {_named(result)}"
        yield _Edge(task, "port", name, partial(_equal_types, port, result), partial(_same_values, port, result))


def _slice_edges(
    op: Operation, kind: str, full: SSAValue, parts: Sequence[SSAValue], offsets: Sequence[Sequence[int]]
) -> Iterator[_Edge]:
    for index, (part, offset) in enumerate(zip(parts, offsets, strict=True)):
        name = f"slice {index} of {_named(full)}"
        sides = _order(full).from_its_begin, _order(part)
        yield _Edge(op, kind, name, partial(_sliced, *sides, offset), partial(Slice, *map(at_largest, sides), offset))


def _merge_edges(op: MergeOp) -> Iterator[_Edge]:
    result, inputs = _order(op.result), [_order(value) for value in op.inputs]
    if len(set(inputs)) == 1 and inputs[0].is_exact:  # tensors of their own, not parts of one
        stack = inputs[0], len(inputs), result
        yield _Edge(op, "merge", _between(op), partial(_stacked, *stack), partial(stacked, *stack))
        return
    for index, part in enumerate(inputs):
        split_into = result, part, index, len(inputs)
        name = f"part {index} of {_named(op.result)}"
        yield _Edge(op, "merge", name, partial(_split, *split_into), partial(SplitPart, *split_into))


# How each is proved -------------------------------------------------------------------------------------------------------


def _equal(source: StreamOrder, target: StreamOrder) -> str:
    if source == target:
        return "type"
    match compare_sequences(source, target):
        case Equal(method):
            return method
        case Differs() as difference:
            raise Wrong(str(difference))
        case unproved:
            raise Open(str(unproved), unproved.reason)


def _same(source: StreamOrder, target: StreamOrder) -> Obligation | None:
    return None if source == target else same_tokens(source, target)


def _same_values(source: SSAValue, target: SSAValue) -> Obligation | None:
    return _same(_order(source), _order(target))


_SAME_SCALARS = (CastOp, ReassociateOp, ReorderOp, ConverterOp, ChunkOp, ConcatOp, ForkOp, SplitOp, MergeOp)
"""Operations that change at most the order, never what an entry is."""


def _require_same_scalars(op: Operation) -> None:
    if not isinstance(op, _SAME_SCALARS):
        return
    sources, results = (
        [value.type.element_type for value in values if isinstance(value.type, ItensorType)] for values in (op.operands, op.results)
    )
    if len({*sources, *results}) > 1:
        raise NotProved(f"entries are of type {_listed(sources)} in the source but of {_listed(results)} in the target")


def _listed(types: list[Attribute]) -> str:
    return ", ".join(sorted({str(type) for type in types}))


def _equal_types(source: SSAValue, target: SSAValue) -> str:
    first, second = source.type, target.type
    assert isinstance(first, ItensorType) and isinstance(second, ItensorType)
    if first.element_type != second.element_type:
        raise NotProved(f"entries are of type {first.element_type} in the source but of {second.element_type} in the target")
    return _equal(first.order, second.order)


def _port(task: TaskOp, value: SSAValue, port: BlockArgument) -> str:
    """A port has the type of its value and is accessed; what a task writes to, no other has written to."""
    if port.index < len(task.ins):
        if not port.uses.get_length():
            raise NotProved(f"{_named(port)} is never read, expected a task that takes every token of its inputs")
    else:
        if not any(root_of(destination) is port for destination in _written_in(task)):
            raise NotProved(f"{_named(port)} is never written, expected a task that sends every token of its outputs")
        if isinstance(value.owner, Operation) and not isinstance(value.owner, EmptyOp | InstanceOp):
            raise NotProved(f"{_named(value)} has been written by '{value.owner.name}', expected an empty destination")
    return _equal_types(value, port)


def _written_in(task: TaskOp) -> Iterator[SSAValue]:
    for op in task.body.walk():
        if isinstance(op, WriteOp):
            yield op.destination
        elif isinstance(op, OwnKernelOp | TaskOp):
            yield from op.outs


def _is_destination(use: Use) -> bool:
    """Whether an operand is only written to: an output of a task, or what is carried through loops to a write."""
    match use.operation:
        case TaskOp() as task:
            return use.index >= len(task.ins)
        case WriteOp():
            return use.index == 1
        case OwnKernelOp() as own:
            return use.index >= len(own.ins)
        case scf.ForOp() | scf.YieldOp():
            return True
        case _:
            return False


def _unwritten(reader: Operation) -> str:
    raise NotProved(f"taken by {_user(reader)} but written by nobody")


def _access(op: ReadOp | WriteOp) -> str:
    try:
        verify_enumerates(op)
    except VerifyException as error:  # a rule of form: z3 may still find that the accesses are right
        raise Open(str(error)) from None
    return "verifier"


def _enumeration(op: ReadOp | WriteOp) -> Obligation:
    return enumeration(op, op.indices, enumerated_loops(op))


def _verified(op: Operation) -> str:
    op.verify_()
    return "verifier"


def _declared(op: OwnKernelOp) -> str:
    """That its C++ moves the tokens of its ports, in their order, is what it says; as many as its loops, the verifier knows."""
    op.verify_()
    return "declared"


def _concatenated(full: StreamOrder, parts: tuple[StreamOrder, ...], starts: tuple[tuple[Size, ...], ...]) -> str:
    if (mismatch := concatenation_mismatch(full, parts, starts)) is not None:
        raise Open(mismatch)
    return "closed form"


def _cover(op: ConcatOp) -> Obligation:
    shapes = (at_largest(_order(value)).static_shape for value in op.inputs)
    return Cover(at_largest(_order(op.result)).static_shape, tuple(zip(op.offsets, shapes, strict=True)))


def _unknown(op: Operation) -> str:
    raise NotProved(f"not proved: there is no rule for '{op.name}'")


def _reshaped(source: StreamOrder, target: StreamOrder) -> str:
    """Entries keep their row-major position, and tokens their number of entries; sizes known at run time stay where they are."""
    if source.element_count != target.element_count:
        raise Wrong(f"tokens have {source.element_count} entries in the source but {target.element_count} in the target")
    try:
        if (expected := resized(source, at_largest(target))) != target:
            raise Wrong(f"the target is {target}, expected the sizes of the source: {expected}")
    except ValueError as error:
        raise Wrong(str(error)) from None
    verdict = compare_sequences(flattened(at_largest(source)), flattened(at_largest(target)))
    if isinstance(verdict, Differs):
        raise Wrong(f"row-major position of an entry changes: {verdict} (counted in entries)")
    if not isinstance(verdict, Equal):
        raise Open(str(verdict), verdict.reason)
    return verdict.method


def _converter(op: ConverterOp) -> str:
    outcome = prove_converter(*_converter_parts(op))
    if isinstance(outcome, Proved):
        return outcome.method
    raise Wrong(str(outcome)) if isinstance(outcome, ConverterFault) else Open(str(outcome), outcome.reason)


def _conversion(op: ConverterOp) -> Obligation:
    return Conversion(*_converter_parts(op))


def _converter_parts(op: ConverterOp):
    blocks = op.blocks if op.blocks is not None else 2 if op.window is None else 1
    schedule = None if op.window is None else op.plan.line_schedule
    return _order(op.source), _order(op.result), op.shared_loops, op.buffer_shape, blocks, op.window, schedule


@lru_cache(maxsize=4096)
def _sliced(full: StreamOrder, part: StreamOrder, offset: tuple[int, ...]) -> str:
    """`part` is the tokens of `full` in its slice at `offset`; sizes known at run time stay whole."""
    if not (full.is_static and part.is_static):
        if (expected := sliced(full, at_largest(part), offset)) != part:
            raise Wrong(f"the slice is {part}, expected the sizes of the whole: {expected}")
        return _sliced(at_largest(full), at_largest(part), offset)
    if full.element != part.element:
        raise Wrong(f"tokens are of shape {list(full.element)} in the whole but of {list(part.element)} in the slice")
    inside = restricted(full, offset, part.static_shape)
    if inside is not None:
        _equal(inside, part)
        return "closed form"
    if full.token_count > MOST_TOKENS_COUNTED:
        raise Open(f"not proved: the slice is no nest of loops, and {full.token_count} tokens are too many to count")
    if (mismatch := slice_mismatch(full, part, offset)) is not None:
        token, expected, found = mismatch
        raise Wrong(str(Differs(token, expected, found)))
    return "counted"


@lru_cache(maxsize=4096)
def _split(full: StreamOrder, part: StreamOrder, number: int, parts: int) -> str:
    """`part` is the tokens number, number + parts, ... of `full`, at their coordinates or, as a tensor of its own, from 0."""
    if not (full.is_static and part.is_static):
        if (whole := dealt(full, at_largest(part), parts)) != part:
            raise Wrong(f"the part is {part}, expected the sizes of the whole: {whole}")
        return _split(at_largest(full), at_largest(part), number, parts)
    expected = round_robin_parts(normal_form(full), parts)[number]
    return _equal(without_constants(expected) if part.is_exact else expected, part)


def _stacked(part: StreamOrder, parts: int, full: StreamOrder) -> str:
    """`full` has as many tokens of the same shape as `parts` tensors in the order of `part`."""
    if part.element != full.element:
        raise Wrong(f"tokens are of shape {list(part.element)} in the inputs but of {list(full.element)} in the result")
    return _equal(_counting(parts, part), _counting(1, full))


def _counting(times: int, order: StreamOrder) -> StreamOrder:
    """An order of nothing with `times` as many tokens as `order`: only the number of its tokens is left."""
    return StreamOrder((), (Loop(times, 1), *(Loop(loop.trip, 1) for loop in order.loops)), ())


def _is_forked(kernel: KernelOp) -> bool:
    """Whether forks have been inserted: there is one, or the boundary is packed, which comes after."""
    boundary = (value.type for value in (*kernel.inputs, *kernel.outputs))
    is_packed = any(isinstance(type, TensorType) and isinstance(type.element_type, VectorType) for type in boundary)
    return is_packed or any(isinstance(op, ForkOp) for op in kernel.body.block.ops)


def _one_reader_each(kernel: KernelOp) -> str:
    block = kernel.body.block
    for value in (*block.args, *(result for op in block.ops for result in op.results)):
        users = [_user(use.operation) for use in value.uses]
        if isinstance(value.type, ItensorType) and len(users) > 1:
            raise NotProved(f"{_named(value)} is taken by {' and '.join(sorted(users))}, expected one reader, or a fork")
    return "counted"


def _user(op: Operation) -> str:
    return f"@{op.sym_name.data}" if isinstance(op, TaskOp) else f"'{op.name}'"


# The boundary of kernels --------------------------------------------------------------------------------------------------


def _enters(kernel: KernelOp, index: int, inside: ItensorType) -> str:
    outside = kernel.inputs[index]
    verify_boundary(f"operand {index}", outside.type, inside)
    _require_written(kernel, outside, inside.order)
    return _packed_alike(outside, inside)


def _require_written(reader: KernelOp, outside: SSAValue, read: StreamOrder) -> None:
    """Of what another kernel wrote, one reads what that one wrote, at every value of the symbols.

    Both find it where it lies at the maximum (`_packed_alike`); behind it lies what nobody wrote.
    """
    writer = outside.owner
    if not isinstance(writer, KernelOp) or not isinstance(outside, OpResult):
        return
    inside = writer.terminator.arguments[outside.index].type
    if not isinstance(inside, ItensorType) or (inside.order.is_static and read.is_static):
        return
    written, theirs, ours = inside.order, _scalars(writer), _scalars(reader)
    for symbol in theirs.keys() & ours.keys():
        if theirs[symbol] is not ours[symbol]:
            scalars = f"{_named(theirs[symbol])} where it is written, but {_named(ours[symbol])} here"
            raise NotProved(f"{symbol} is {scalars}, expected one scalar")
    try:
        extents = list(zip(written.shape, read.shape, strict=False))
    except ValueError as error:
        raise NotProved(str(error)) from None
    for dimension, (there, taken) in enumerate(extents):
        if not are_equal(there, taken):
            raise NotProved(f"{taken} entries of dimension {dimension} are read, expected the {there} that were written")


def _scalars(kernel: KernelOp) -> dict[Symbol, SSAValue]:
    """What each symbol of a kernel is outside."""
    ends = zip(kernel.arguments, kernel.inputs, strict=True)
    return {port.type.data: outside for port, outside in ends if isinstance(port.type, SymbolType)}


def _leaves(kernel: KernelOp, index: int, result: OpResult, inside: ItensorType) -> str:
    place = kernel.places[index]
    if place is None:
        verify_boundary(f"result {index}", result.type, inside)
        return "type"
    outside = kernel.inputs[place.operand].type
    assert isinstance(outside, TensorType)
    verify_slice_of(f"result {index}", outside, inside, kernel.offsets_of(place), place.layout)
    return "type"


def _enters_in_part(outside: SSAValue, inside: ItensorType, what: str, layout: ItensorType | None) -> str:
    """What is updated may be read in part: the words lie as the kernel's `layout` says, of which `inside` is the beginning."""
    verify_part(what, outside.type, inside, layout)
    return "type" if layout is None else _packed_alike(outside, layout)


def _laid_out_obligation(outside: SSAValue, layout: ItensorType | None) -> Obligation | None:
    return None if layout is None else _packed_obligation(outside, layout)


def _ordered(kernel: KernelOp, place: Place, port: BlockArgument, written: SSAValue) -> str:
    """Nothing that is written is read in the same launch, or the writing waits for the reading: memory ports order nothing."""
    if place.after_read or not port.uses or not isinstance(port.type, ItensorType):
        return "declared" if place.after_read else "type"
    read, offsets = port.type.order, kernel.offsets_of(place)
    for dimension, offset in enumerate(offsets):
        if offset is None:
            continue
        if are_equal(read.shape[dimension], offset) or read.largest.static_shape[dimension] <= minimum(offset):
            return "closed form"
    at = ", ".join("a scalar" if offset is None else str(offset) for offset in offsets)
    accepted = "accepted: parts without a common entry, or the order 'after read'"
    raise Open(f"what is read ({port.type}) and what is written ({written.type} at [{at}]) may be the same; {accepted}")


def _disjoint(kernel: KernelOp, place: Place, port: BlockArgument, written: SSAValue) -> Obligation | None:
    if place.after_read or not port.uses or not isinstance(port.type, ItensorType):
        return None
    if any(offset is None for offset in kernel.offsets_of(place)):
        raise ValueError("it is written at a scalar without a maximum")
    return Disjoint(port.type.order, _order(written), kernel.symbolic_offsets_of(place))


def _packed_alike(packed: SSAValue, reader: ItensorType) -> str:
    """The entries of a packed tensor lie in the order in which `reader` takes them, where it is known who laid them out.

    Memory holds each distinct token once; a reuse loop reads words again. Tokens of several widths are the same entries where they
    follow one another without padding. What is symbolic lies, at any value, where it lies at the maximum: equal places there are
    equal places at every value, and what is there at it is another question (`_require_written`).
    """
    layout = _layout_of(packed)
    if layout is None:
        is_packed = isinstance(packed.type, TensorType) and isinstance(packed.type.element_type, VectorType)
        return "assumed" if is_packed else "type"
    first, second = layout.order.largest.without_reuse(), reader.order.largest.without_reuse()
    if first.element != second.element and any(_is_padded(order, packed) for order in (first, second)):
        raise NotProved(f"tokens of {list(first.element)} and of {list(second.element)} entries lie in words with padding")
    if _is_moved(layout.order, reader.order):
        first, second = without_constants(first), without_constants(second)
    return _equal(*in_one_width(first, second))


def _packed_obligation(packed: SSAValue, reader: ItensorType) -> Obligation | None:
    layout = _layout_of(packed)
    if layout is None or layout.order.largest == reader.order.largest:
        return None
    return SameEntries(layout.order.largest, reader.order.largest, _is_moved(layout.order, reader.order))


def _is_moved(first: StreamOrder, second: StreamOrder) -> bool:
    """Whether a slice is a tensor of its own on one side: which slice, the split or merge said."""
    return first.is_exact != second.is_exact


def _is_padded(order: StreamOrder, packed: SSAValue) -> bool:
    assert isinstance(packed.type, TensorType) and isinstance(packed.type.element_type, VectorType)
    return slot(order.element_count, packed.type.element_type.get_shape()[0]) != order.element_count


def _layout_of(packed: SSAValue) -> ItensorType | None:
    """The order in which the words of a packed tensor were written, None for a plain tensor or one whose origin is not seen."""
    if not isinstance(packed.type, TensorType) or not isinstance(packed.type.element_type, VectorType):
        return None
    match packed.owner:
        case PackOp() if isinstance(packed, OpResult):
            return striped(packed.owner.layout, len(packed.owner.stripes))[packed.index]
        case KernelOp() if isinstance(packed, OpResult):
            place = packed.owner.places[packed.index]
            inside = packed.owner.terminator.arguments[packed.index].type if place is None else place.layout
            return inside if isinstance(inside, ItensorType) else None
        case _:
            return None


# Names --------------------------------------------------------------------------------------------------------------------


def _order(value: SSAValue) -> StreamOrder:
    assert isinstance(value.type, ItensorType)
    return value.type.order


def _named(value: SSAValue) -> str:
    return f"%{value.name_hint}" if value.name_hint else "an unnamed value"


def _between(op: Operation) -> str:
    sources, results = (", ".join(map(_named, values)) for values in (op.operands, op.results))
    return f"{sources} to {results} in {_owner(op)}"


def _owner(op: Operation) -> str:
    around = _around(op)
    return "no kernel" if around is None else f"@{around.sym_name.data}"


def _around(op: Operation) -> TaskOp | KernelOp | None:
    """The task or kernel around an operation."""
    around = op.parent_op()
    while around is not None and not isinstance(around, TaskOp | KernelOp):
        around = around.parent_op()
    return around
