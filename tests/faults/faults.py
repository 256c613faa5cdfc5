"""Wrong rewrites, seeded into a healthy compile: what a pass with a defect would leave behind it.

Each fault changes the module right after one pass. `examine` then asks, as a researcher's run would, the verifiers, the proofs of
`verify-streams` and `verify-bounds`, the emission rules, and the execution before and after; the first that complains has caught
it.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TypeVar

from xdsl.dialects import arith, memref, scf, tensor, vector
from xdsl.dialects.builtin import AffineMapAttr, DenseArrayBase, FloatAttr, IntegerAttr, ModuleOp, StringAttr, f32, i64
from xdsl.dialects.linalg.ops import FillOp, GenericOp
from xdsl.ir import Operation, SSAValue
from xdsl.ir.affine import AffineMap
from xdsl.rewriter import InsertPoint, Rewriter

from stc.analysis.emission_rules import check_emission_rules
from stc.analysis.loops import integer_constant
from stc.diagnostics import CompileError
from stc.dialects import stream
from stc.dialects.context import make_context
from stc.dialects.dataflow import PackOp, TaskOp
from stc.dialects.itensor import CastOp, ChunkOp, ConcatOp, ConverterOp, ForkOp, ItensorType, ReadOp
from stc.dialects.locations import source_location
from stc.dialects.parsing import parse_module
from stc.dialects.verification import first_violation
from stc.iteration.order import Coordinate, Loop, StreamOrder
from stc.pipeline import stages, steps
from stc.platforms.platform import load_platform
from stc.tools.check_semantics import SemanticsCheck
from stc.transforms.dataflow.verify_streams import VerifyStreams
from stc.transforms.stream.set_fifo_depths import SetFifoDepths
from stc.transforms.stream.verify_bounds import VerifyBounds
from stc_testing.small import small_options

PROGRAM = Path(__file__).with_name("program.mlir")
OPTIONS = small_options(tile=4, lanes=4, propagate_orders=False)

Op = TypeVar("Op", bound=Operation)


@dataclass(frozen=True)
class Fault:
    """`change` is made to the module after pass `after`; `place` is what the complaint must name."""

    name: str
    after: str
    place: str
    change: Callable[[ModuleOp], None]


@dataclass(frozen=True)
class Verdict:
    """Who caught a fault, and what was said; `caught_by` is None where nobody did."""

    fault: str
    after: str
    caught_by: str | None
    message: str


FAULTS: list[Fault] = []


def fault(after: str, place: str) -> Callable[[Callable[[ModuleOp], None]], Callable[[ModuleOp], None]]:
    """Register a change; its name is the function's."""

    def register(change: Callable[[ModuleOp], None]) -> Callable[[ModuleOp], None]:
        FAULTS.append(Fault(change.__name__, after, place, change))
        return change

    return register


# Examining -------------------------------------------------------------------------------------------------------------


def examine(seeded: Fault) -> Verdict:
    """Compile up to the fault, seed it, and see who complains."""
    module = parse_module(PROGRAM.read_text(), PROGRAM.name)
    check = SemanticsCheck(0)
    check.begin(module)
    context = make_context()
    for step in steps(stages(OPTIONS)):
        step.one_pass.apply(context, module)
        check.has_depths = check.has_depths or step.label == SetFifoDepths.name
        if step.label == seeded.after:
            seeded.change(module)
            return judged(seeded, module, check, EXAMINATIONS)
    raise AssertionError(f"no pass {seeded.after}")


def judged(
    seeded: Fault, module: ModuleOp, check: SemanticsCheck, by: Mapping[str, Callable[[Fault, ModuleOp, SemanticsCheck], None]]
) -> Verdict:
    """The first complaint about a module in which the fault is."""
    for judge, examination in by.items():
        try:
            examination(seeded, module, check)
        except CompileError as complaint:
            return Verdict(seeded.name, seeded.after, judge, " ".join(str(complaint).split()))
    return Verdict(seeded.name, seeded.after, None, "")


def _verify(_: Fault, module: ModuleOp, check: SemanticsCheck) -> None:
    if (violation := first_violation(module)) is not None:
        raise CompileError(str(violation), where=source_location(violation.operation))


def _execute(seeded: Fault, module: ModuleOp, check: SemanticsCheck) -> None:
    check.after(seeded.after, module)


def _prove(module: ModuleOp) -> None:
    for proof in (VerifyStreams(), VerifyBounds()):
        proof.apply(make_context(), module)


EXAMINATIONS: dict[str, Callable[[Fault, ModuleOp, SemanticsCheck], None]] = {
    "type system": _verify,
    "proof": lambda _, module, check: _prove(module),
    "execution": _execute,
    "emission rules": lambda _, module, check: check_emission_rules(module, load_platform("u55c")),
}


# Finding things --------------------------------------------------------------------------------------------------------


def all_of(root: Operation, kind: type[Op]) -> list[Op]:
    return [op for op in root.walk() if isinstance(op, kind)]


def task(module: ModuleOp, name: str) -> TaskOp:
    return next(op for op in all_of(module, TaskOp) if op.sym_name.data == name)


def generic(root: Operation, name: str) -> GenericOp:
    """The computation called `name`."""
    return next(op for op in _generics(root) if op.attributes.get("stc.name") == StringAttr(name))


def _generics(root: Operation) -> Iterator[GenericOp]:
    for op in root.walk():
        if isinstance(op, GenericOp):
            yield op


def loops(root: Operation) -> list[scf.ForOp]:
    return all_of(root, scf.ForOp)


def constant_before(op: Operation, value: int) -> SSAValue:
    """A new index constant."""
    constant = arith.ConstantOp(IntegerAttr.from_index_int_value(value))
    block = op.parent
    assert block is not None
    block.insert_op_before(constant, op)
    return constant.result


def set_map(op: GenericOp, operand: int, results: tuple[int, ...]) -> None:
    """Let an operand be indexed by these loops."""
    maps = list(op.indexing_maps.data)
    count = len(op.iterator_types.data)
    maps[operand] = AffineMapAttr(AffineMap(count, 0, tuple(AffineMap.identity(count).results[loop] for loop in results)))
    op.properties["indexing_maps"] = type(op.indexing_maps)(maps)


def swap_operands(op: Operation, first: int, second: int) -> None:
    op.operands[first], op.operands[second] = op.operands[second], op.operands[first]


def set_order(value: SSAValue, order: StreamOrder) -> None:
    assert isinstance(value.type, ItensorType)
    Rewriter.replace_value_with_new_type(value, ItensorType.from_order(order, value.type.element_type))


def order_of(value: SSAValue) -> StreamOrder:
    assert isinstance(value.type, ItensorType)
    return value.type.order


# Linalg ----------------------------------------------------------------------------------------------------------------


@fault("fold-fills", "turned")
def a_sum_becomes_a_maximum(module: ModuleOp) -> None:
    add = all_of(generic_with_reduction(module), arith.AddfOp)[-1]
    Rewriter.replace_op(add, arith.MaximumfOp(add.lhs, add.rhs))


def generic_with_reduction(module: ModuleOp) -> GenericOp:
    return next(op for op in _generics(module) if len(op.inputs) == 1 and len(op.iterator_types.data) == 2)


@fault("fold-fills", "turned")
def a_sum_starts_at_one(module: ModuleOp) -> None:
    fill = all_of(module, FillOp)[0]
    replacement = arith.ConstantOp(FloatAttr(1.0, f32))
    block = fill.parent
    assert block is not None
    block.insert_op_before(replacement, fill)
    fill.operands[0] = replacement.result


@fault("name-ops", "turned")
def operands_of_a_difference_are_swapped(module: ModuleOp) -> None:
    difference = all_of(module, arith.SubfOp)[0]
    swap_operands(difference, 0, 1)


@fault("name-ops", "turned")
def the_halves_of_a_concatenation_are_swapped(module: ModuleOp) -> None:
    swap_operands(all_of(module, tensor.ConcatOp)[0], 0, 1)


@fault("name-ops", "program.mlir:9")
def a_map_is_swapped(module: ModuleOp) -> None:
    set_map(next(op for op in _generics(module) if len(op.iterator_types.data) == 3), 0, (2, 0))


# Tiled linalg ----------------------------------------------------------------------------------------------------------


@fault("tile-linalg", "turned")
def the_last_reduction_tile_is_dropped(module: ModuleOp) -> None:
    loop = next(loop for loop in loops(module) if len(loops(loop)) == 1)
    loop.operands[1] = constant_before(loop, 8)


@fault("tile-linalg", "tensor.extract_slice")
def a_slice_is_taken_one_entry_too_far(module: ModuleOp) -> None:
    cut = all_of(module, tensor.ExtractSliceOp)[0]
    moved = arith.AddiOp(cut.offsets[0], constant_before(cut, 1))
    block = cut.parent
    assert block is not None
    block.insert_op_before(moved, cut)
    cut.operands[1] = moved.result


@fault("tile-linalg", "turned")
def the_accumulator_is_forgotten_between_tiles(module: ModuleOp) -> None:
    product = next(op for op in _generics(module) if len(op.iterator_types.data) == 3)
    loop = product.parent_op()
    assert isinstance(loop, scf.ForOp)
    product.operands[len(product.inputs)] = loop.iter_args[0]


@fault("tile-linalg", "turned")
def a_result_tile_is_written_to_its_mirror_image(module: ModuleOp) -> None:
    write = next(op for op in all_of(module, tensor.InsertSliceOp) if len(op.offsets) == 2)
    mirrored = arith.SubiOp(constant_before(write, 8), write.offsets[1])
    block = write.parent
    assert block is not None
    block.insert_op_before(mirrored, write)
    write.operands[3] = mirrored.result


# Kernels over itensors -------------------------------------------------------------------------------------------------


@fault("linalg-to-dataflow", "@matmul0")
def a_read_names_its_loops_in_another_order(module: ModuleOp) -> None:
    read = all_of(module, ReadOp)[0]
    swap_operands(read, 1, 2)


@fault("linalg-to-dataflow", "@matmul0")
def a_read_is_hoisted_out_of_its_loop(module: ModuleOp) -> None:
    read = all_of(module, ReadOp)[0]
    loop = read.parent_op()
    assert loop is not None and loop.parent is not None
    read.detach()
    loop.parent.insert_op_before(read, loop)


@fault("linalg-to-dataflow", "@matmul0")
def a_port_forgets_a_reuse_loop(module: ModuleOp) -> None:
    _change_port(module, lambda order: order.without_reuse())


@fault("linalg-to-dataflow", "@matmul0")
def a_port_has_a_step_too_wide(module: ModuleOp) -> None:
    _change_port(
        module,
        lambda order: StreamOrder(
            order.element, (*order.loops[:-1], Loop(order.loops[-1].trip, order.loops[-1].step * 2)), order.coordinates
        ),
    )


@fault("linalg-to-dataflow", "@matmul0")
def a_port_moves_along_the_other_dimension(module: ModuleOp) -> None:
    _change_port(module, lambda order: StreamOrder(order.element, order.loops, order.coordinates[::-1]))


def _change_port(module: ModuleOp, change: Callable[[StreamOrder], StreamOrder]) -> None:
    """The first task's first operand, as the task sees it: outside it stays what it is."""
    first = all_of(module, TaskOp)[0]
    set_order(first.body.block.args[0], change(order_of(first.body.block.args[0])))


# Fused kernels ---------------------------------------------------------------------------------------------------------


@fault("insert-converters", "at %matmul")
def a_converter_buffer_is_one_row_short(module: ModuleOp) -> None:
    converter = all_of(module, ConverterOp)[0]
    shape = list(converter.buffer_shape)
    shape[0] -= 1
    converter.properties["buffer_shape"] = DenseArrayBase.from_list(i64, shape)


@fault("insert-converters", "at %matmul")
def a_converter_shares_a_loop_too_many(module: ModuleOp) -> None:
    converter = all_of(module, ConverterOp)[0]
    converter.properties["shared_loops"] = IntegerAttr(converter.shared_loops + 1, i64)


@fault("insert-converters", "at %matmul")
def a_cast_takes_the_place_of_a_converter(module: ModuleOp) -> None:
    converter = all_of(module, ConverterOp)[0]
    result_type = converter.result.type
    assert isinstance(result_type, ItensorType)
    Rewriter.replace_op(converter, CastOp(converter.source, result_type))


@fault("insert-converters", "at %matmul")
def a_converter_is_missing(module: ModuleOp) -> None:
    converter = all_of(module, ConverterOp)[0]
    converter.result.replace_all_uses_with(converter.source)
    Rewriter.erase_op(converter)


@fault("insert-converters", "turned")
def a_chunk_begins_one_token_late(module: ModuleOp) -> None:
    chunk = all_of(module, ChunkOp)[0]
    chunk.properties["offsets"] = type(chunk.offsets_prop)(
        [DenseArrayBase.from_list(i64, [0, 4]), *list(chunk.offsets_prop.data)[1:]]
    )


@fault("insert-converters", "turned")
def a_concatenation_takes_its_halves_in_the_wrong_order(module: ModuleOp) -> None:
    swap_operands(all_of(module, ConcatOp)[0], 0, 1)


@fault("insert-forks", "%square")
def a_fork_is_missing(module: ModuleOp) -> None:
    fork = all_of(module, ForkOp)[0]
    for branch in fork.copies:
        branch.replace_all_uses_with(fork.source)
    Rewriter.erase_op(fork)


@fault("insert-forks", "%square")
def a_branch_of_a_fork_is_read_twice(module: ModuleOp) -> None:
    fork = all_of(module, ForkOp)[0]
    fork.copies[1].replace_all_uses_with(fork.copies[0])


@fault("vectorize-streams", "turned")
def the_pieces_of_a_tile_are_put_back_in_another_place(module: ModuleOp) -> None:
    put = next(op for op in all_of(module, tensor.InsertSliceOp) if op.offsets)
    loop = put.parent_op()
    assert isinstance(loop, scf.ForOp)
    put.operands[2] = constant_before(put, 0)


@fault("pack-interfaces", "%x into kernel @main")
def a_tensor_is_packed_in_another_order(module: ModuleOp) -> None:
    pack = all_of(module, PackOp)[0]
    swapped = _with_loops_swapped(pack.layout.order, 0, 2)
    pack.properties["layout"] = ItensorType.from_order(swapped, pack.layout.element_type)


def _with_loops_swapped(order: StreamOrder, first: int, second: int) -> StreamOrder:
    """The same coordinates, visited with two loops in each other's place."""
    place = {first: second, second: first}
    loops_ = tuple(order.loops[place.get(index, index)] for index in range(len(order.loops)))
    coordinates = tuple(Coordinate(tuple(place.get(loop, loop) for loop in c.loops), c.constant) for c in order.coordinates)
    return StreamOrder(order.element, loops_, coordinates)


# Tasks over streams ----------------------------------------------------------------------------------------------------


@fault("lower-tasks", "turned")
def the_addresses_of_a_converter_are_swapped(module: ModuleOp) -> None:
    drain = next(op for op in all_of(module, TaskOp) if op.sym_name.data.startswith("drain"))
    load = next(op for op in drain.walk() if isinstance(op, vector.LoadOp | memref.LoadOp))
    load.operands[1] = constant_before(load, 0)


@fault("lower-tasks", "@fork_square")
def a_loop_of_a_reader_runs_once_too_often(module: ModuleOp) -> None:
    fork = next(op for op in all_of(module, TaskOp) if op.sym_name.data.startswith("fork"))
    loop = loops(fork)[0]
    loop.operands[1] = constant_before(loop, 33)


@fault("lower-tasks", "@fork_square")
def a_branch_gets_every_token_but_the_last(module: ModuleOp) -> None:
    fork = next(op for op in all_of(module, TaskOp) if op.sym_name.data.startswith("fork"))
    write = all_of(fork, stream.WriteOp)[-1]
    loop = write.parent_op()
    assert isinstance(loop, scf.ForOp) and loop.parent is not None
    shorter = loop.clone()
    loop.parent.insert_op_after(shorter, loop)
    Rewriter.erase_op(write)
    for extra in all_of(shorter, stream.WriteOp)[:-1]:
        Rewriter.erase_op(extra)
    for read in all_of(shorter, stream.ReadOp):
        read.operands[0] = read.operands[0]
    shorter.operands[1] = constant_before(loop, 31)


@fault("lower-tasks", "turned")
def an_accumulator_is_not_cleared(module: ModuleOp) -> None:
    Rewriter.erase_op(all_of(module, FillOp)[0])


@fault("lower-tasks", "@load_x")
def a_load_begins_one_word_too_far(module: ModuleOp) -> None:
    load_task = next(op for op in all_of(module, TaskOp) if op.sym_name.data.startswith("load"))
    load = all_of(load_task, memref.LoadOp)[0]
    moved = arith.AddiOp(load.indices[0], constant_before(load, 1))
    block = load.parent
    assert block is not None
    block.insert_op_before(moved, load)
    load.operands[1] = moved.result


@fault("set-fifo-depths", "square_copy_1")
def a_fifo_beside_a_reduction_is_too_shallow(module: ModuleOp) -> None:
    give_depth(module, "square_copy_1", 2)


def give_depth(module: ModuleOp, name: str, depth: int) -> None:
    """Let the FIFO called `name` have so many slots."""
    (create,) = (op for op in all_of(module, stream.CreateOp) if op.sym_name.data == name)
    kind = create.result.type
    assert isinstance(kind, stream.StreamType)
    for value in (create.result, *arguments_of(create.result)):
        Rewriter.replace_value_with_new_type(value, stream.StreamType(kind.element_type, depth))


def arguments_of(value: SSAValue) -> Iterator[SSAValue]:
    for use in value.uses:
        if isinstance(use.operation, TaskOp):
            yield use.operation.body.block.args[use.index]


@fault("lower-linalg-to-loops", "turned")
def an_expanded_sum_adds_to_its_neighbour(module: ModuleOp) -> None:
    sums = task(module, "sum")
    store = next(op for op in all_of(sums, memref.StoreOp) if isinstance(op.value.owner, arith.AddfOp))
    store.operands[2] = constant_before(store, 0)


@fault("lower-linalg-to-loops", "in @matmul0 of @main: the index ranges over 0 to 8, outside 0 to 7 (8 entries)")
def an_expanded_loop_runs_once_too_often(module: ModuleOp) -> None:
    store = next(op for op in all_of(task(module, "matmul0"), memref.StoreOp) if isinstance(op.value.owner, arith.AddfOp))
    loop = store.parent_op()
    assert isinstance(loop, scf.ForOp)
    loop.operands[1] = constant_before(loop, 9)


@fault("lower-linalg-to-loops", "in @matmul0 of @main: the index ranges over -7 to 0, outside 0 to 7 (8 entries)")
def an_expanded_index_has_the_wrong_sign(module: ModuleOp) -> None:
    """Reads and writes alike: no value changes where memory wraps around."""
    store = next(op for op in all_of(task(module, "matmul0"), memref.StoreOp) if isinstance(op.value.owner, arith.AddfOp))
    loop = store.parent_op()
    assert isinstance(loop, scf.ForOp) and store.parent is not None and store.parent.first_op is not None
    own = loop.body.block.args[0]
    mirrored = arith.SubiOp(constant_before(store.parent.first_op, 0), own)
    users = [op for op in all_of(loop, memref.LoadOp) + all_of(loop, memref.StoreOp) if op.memref is store.memref]
    store.parent.insert_op_before(mirrored, users[0])
    for op in users:
        op.operands = [mirrored.result if operand is own else operand for operand in op.operands]


@fault("hls-directives", "rule 13")
def a_sum_is_started_again_before_it_is_finished(module: ModuleOp) -> None:
    """All iterations add to the same one of several partial sums; the others, which the first term sets no longer, count zero."""
    store = next(op for op in all_of(module, memref.StoreOp) if isinstance(op.value.owner, arith.AddfOp)
                 and "_partial" in (op.memref.name_hint or ""))
    loads = [op for op in all_of(module, memref.LoadOp) if op.memref is store.memref]
    load = next(op for op in loads if op.indices[0] is store.indices[0])
    begun = next(op for op in all_of(module, arith.SelectOp) if op.rhs is load.res)
    zero, first = constant_before(load, 0), begun.cond
    is_first = arith.CmpiOp(store.indices[0], zero, "eq")
    both = arith.AndIOp(first, is_first.result)
    Rewriter.insert_op([is_first, both], InsertPoint.before(begun))
    begun.operands[0] = both.result
    for other in loads:
        if other is not load and integer_constant(other.indices[0]) != 0:
            other.res.replace_all_uses_with(begun.lhs)
    load.operands[1], store.operands[2] = zero, zero


def main() -> int:
    """Print a verdict per fault; `--json` prints them as the object that benchmarks/streams.py reads."""
    verdicts = [examine(entry) for entry in FAULTS]
    missed = [f"{verdict.fault} (after {verdict.after}) is not caught" for verdict in verdicts if verdict.caught_by is None]
    if "--json" in sys.argv[1:]:
        print(json.dumps({"faults": [asdict(verdict) for verdict in verdicts], "missed": missed}, indent=1))
    else:
        for verdict in verdicts:
            print(f"{verdict.caught_by or 'NOT CAUGHT':14} {verdict.fault} (after {verdict.after}): {verdict.message}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
