"""`linalg-to-dataflow`: every tiled nest becomes a kernel whose ports are itensors."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from xdsl.builder import Builder
from xdsl.context import Context
from xdsl.dialects import arith, func, scf, tensor
from xdsl.dialects.builtin import DYNAMIC_INDEX, ModuleOp, TensorType
from xdsl.dialects.linalg import ops as linalg
from xdsl.ir import Block, BlockArgument, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import PatternRewriter, PatternRewriteWalker, RewritePattern, op_type_rewrite_pattern
from xdsl.rewriter import InsertPoint
from xdsl.utils.hints import isa

from stc.analysis.host_work import functions_of, host_values
from stc.analysis.loops import constant_of, loops_between, trip_count
from stc.analysis.support import place
from stc.diagnostics import CompileError
from stc.dialects.dataflow import KernelOp, TaskOp, YieldOp
from stc.dialects.facts import MODULE, NAME
from stc.dialects.itensor import EmptyOp, ItensorType, ReadOp, WriteOp
from stc.dialects.verification import first_violation
from stc.iteration.order import Coordinate, Loop, StreamOrder
from stc.names import identifier
from stc.transforms.linalg.dead_ops import erase_dead_ops


@dataclass(frozen=True)
class LinalgToDataflow(ModulePass):
    """Turn each top-level `scf.for` nest over tiles into a `dataflow.kernel` holding one task.

    Loop trips and steps give the iteration space, slice offsets the map, slice sizes the element: an extract_slice of an
    outside tensor becomes an `itensor.read`, an insert_slice into the result an `itensor.write`. An input's type has
    all loops around its slice (those that do not move it are reuse loops); a result's type has the loops that move it, the
    others (reductions) being guarded to their last step. Work on parameters alone stays outside.

        %y = scf.for %i = %c0 to %c8 step %c4 iter_args(%o = %e) -> (tensor<8xf32>) {
          %t = tensor.extract_slice %x[%i] [4] [1] : tensor<8xf32> to tensor<4xf32>
          %u = linalg.generic ... ins(%t) outs(%init) ...
          %n = tensor.insert_slice %u into %o[%i] [4] [1] : tensor<4xf32> into tensor<8xf32>
          scf.yield %n
        }
      becomes
        %y = dataflow.kernel @f(%a = %x : tensor<8xf32> as !X) -> (tensor<8xf32> as !X) {
          %e = itensor.empty : !X
          %r = dataflow.task @f ins(%p = %a : !X) outs(%o = %e : !X) -> !X {
            %z = scf.for %i = %c0 to %c8 step %c4 iter_args(%o1 = %o) -> (!X) {
              %t = itensor.read %p[%i] : !X -> tensor<4xf32>
              %u = linalg.generic ... ins(%t) outs(%init) ...
              %n = itensor.write %u into %o1[%i] : tensor<4xf32> -> !X
              scf.yield %n
            }
            dataflow.yield %z : !X
          }
          dataflow.yield %r : !X
        }
    """

    name = "linalg-to-dataflow"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for function in functions_of(op):
            PatternRewriteWalker(NestToKernel(host_values(function))).rewrite_region(function.body)
        PatternRewriteWalker(InlineSingleTrip()).rewrite_module(op)
        erase_dead_ops(op)
        for function in functions_of(op):
            known = host_values(function)
            for left in function.body.block.ops:
                if isinstance(left, linalg.GenericOp) and not set(left.results) <= known:
                    raise CompileError("it is in no loops over tiles", where=place(left), accepted="a schedule, and tile-linalg")


@dataclass
class NestToKernel(RewritePattern):
    """A nest at the top of a function, but for those that the host evaluates, becomes a kernel of one task."""

    host: set[SSAValue]

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: scf.ForOp, rewriter: PatternRewriter) -> None:
        if not isinstance(op.parent_op(), func.FuncOp) or set(op.results) <= self.host:
            return
        reads, writes = _reads(op), _writes(op)
        _check_captures(op)
        name, sources = task_name(op), [read.tensor for read in reads]
        inputs, outputs = [read.type for read in reads], [write.type for write in writes]
        inside, device = Block(arg_types=[*inputs, *outputs]), Block(arg_types=inputs)
        for ports in (inside.args, device.args):
            for port, source in zip(ports, sources, strict=False):
                port.name_hint = source.name_hint
        for port in inside.args[len(inputs) :]:
            port.name_hint = "out"

        kernel = rewriter.insert(KernelOp(name, sources, [], [result.type for result in op.results], device), InsertPoint.after(op))
        for result, left in zip(op.results, kernel.results, strict=True):
            left.name_hint = result.name_hint
            rewriter.replace_all_uses_with(result, left)
        _import_constants(op, inside)
        for read, port in zip(reads, inside.args, strict=False):
            rewriter.replace(read.op, ReadOp(port, read.indices))
        for index, write in enumerate(writes):
            _write_stream(op, write, rewriter)
            op.operands[3 + index] = inside.args[len(inputs) + index]
            rewriter.replace_value_with_new_type(op.results[index], write.type)
        op.detach()
        inside.add_ops([op, YieldOp(*op.results)])
        empties = [EmptyOp(kind) for kind in outputs]
        task = TaskOp(name, device.args, [empty.result for empty in empties], inside, outputs, op.attributes)
        op.attributes.clear()
        device.add_ops([*empties, task, YieldOp(*task.results)])
        kernel.attributes |= task.attributes
        _require_sound(kernel)


class InlineSingleTrip(RewritePattern):
    """A task's outermost loop that runs once, and whose induction variable is not used, is what it holds."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: scf.ForOp, rewriter: PatternRewriter) -> None:
        if not isinstance(op.parent_op(), TaskOp) or not _runs_once(op):
            return
        body, end = op.body.block, op.body.block.last_op
        assert isinstance(end, scf.YieldOp)
        body.args[0].name_hint = None  # else the bound that replaces it would be called after the loop
        rewriter.inline_block(body, InsertPoint.before(op), [op.lb, *op.iter_args])
        rewriter.replace(op, [], end.operands)
        rewriter.erase(end)


# What a nest accesses -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Access:
    """A slice of a tensor outside a nest, or of a result of it, and the loops that enumerate it."""

    op: tensor.ExtractSliceOp | tensor.InsertSliceOp
    tensor: SSAValue
    loops: Sequence[scf.ForOp]
    type: ItensorType

    @property
    def indices(self) -> list[SSAValue]:
        return [loop.body.block.args[0] for loop in self.loops]


def _reads(nest: scf.ForOp) -> list[Access]:
    """The slices of tensors outside. All loops around one enumerate it, but for a loop that runs once and moves nothing."""
    slices = [op for op in nest.walk() if isinstance(op, tensor.ExtractSliceOp) and _is_outside(nest, op.source)]
    return [_access(nest, op, op.source, [loop for loop in loops_between(op, nest) if not _runs_once(loop)]) for op in slices]


def _writes(nest: scf.ForOp) -> list[Access]:
    """For each result of the nest the insert_slice that builds it. The loops that move it enumerate it; others are guarded."""
    found: list[list[tensor.InsertSliceOp]] = [[] for _ in nest.results]
    for op in nest.walk():
        if isinstance(op, tensor.InsertSliceOp) and (index := _result_of(nest, op.dest)) is not None:
            found[index].append(op)
    accesses: list[Access] = []
    for index, slices in enumerate(found):
        if len(slices) != 1:
            complaint = f"result {index} is written by {len(slices)} insert_slices"
            raise CompileError(complaint, where=task_name(nest), accepted="exactly one")
        op = slices[0]
        moving = {use for offset in op.offsets for use in terms_of(offset)}
        loops = [loop for loop in loops_between(op, nest) if loop.body.block.args[0] in moving]
        accesses.append(_access(nest, op, op.dest, loops))
    return accesses


def _access(
    nest: scf.ForOp, op: tensor.ExtractSliceOp | tensor.InsertSliceOp, full: SSAValue, loops: Sequence[scf.ForOp]
) -> Access:
    assert isa(full.type, TensorType)
    if set(op.static_strides.get_values()) - {1}:
        raise CompileError(f"'{op.name}' is strided", where=task_name(nest), accepted="slices of stride 1")
    element = tuple(op.static_sizes.get_values())
    spaces = tuple(Loop(trip_count(loop), constant_of(loop.step)) for loop in loops)
    position = {loop.body.block.args[0]: index for index, loop in enumerate(loops)}
    try:
        order = StreamOrder(element, spaces, tuple(coordinates_of(op, position)))
    except ValueError as error:
        raise CompileError(f"'{op.name}' is no slice of a stream: {error}", where=task_name(nest)) from None
    return Access(op, full, loops, ItensorType.from_order(order, full.type.element_type))


def _is_outside(nest: scf.ForOp, value: SSAValue) -> bool:
    owner = value.owner
    return (owner if isinstance(owner, Block) else owner.parent_block()) is nest.parent_block()


def _result_of(nest: scf.ForOp, value: SSAValue) -> int | None:
    """Which result of the nest a loop-carried value is."""
    while isinstance(value, BlockArgument):
        loop = value.block.parent_op()
        assert isinstance(loop, scf.ForOp)
        if loop is nest:
            return value.index - 1
        value = loop.iter_args[value.index - 1]
    return None


def _check_captures(nest: scf.ForOp) -> None:
    """CompileError where the nest uses an outside value that is neither sliced, nor a constant, nor its destination."""
    for op in nest.walk():
        for operand in op.operands if op is not nest else ():
            is_slice = isinstance(op, tensor.ExtractSliceOp) and operand is op.source
            if _is_outside(nest, operand) and not is_slice and not isinstance(operand.owner, arith.ConstantOp):
                raise CompileError(
                    f"'{op.name}' uses a {operand.type} from outside",
                    where=task_name(nest),
                    accepted="slices of tensors, and constants",
                )


# Rewriting ------------------------------------------------------------------------------------------------------------


def _write_stream(nest: scf.ForOp, write: Access, rewriter: PatternRewriter) -> None:
    """Write to a stream in place of the insertion, and carry the stream through the loops and branches around it."""
    assert isinstance(write.op, tensor.InsertSliceOp)
    value = write.op.dest
    while isinstance(value, BlockArgument):
        loop = value.block.parent_op()
        assert isinstance(loop, scf.ForOp)
        index = value.index - 1
        rewriter.replace_value_with_new_type(value, write.type)
        if loop is nest:
            break
        value = loop.iter_args[index]
    new = WriteOp(write.op.source, write.op.dest, write.indices)
    rewriter.replace(write.op, new, safe_erase=False)
    _retype_users(nest, new.result, write.type, rewriter)


def _retype_users(nest: scf.ForOp, value: SSAValue, kind: ItensorType, rewriter: PatternRewriter) -> None:
    """Retype the results of loops and branches that `value` is yielded through, up to the nest."""
    for use in list(value.uses):
        parent = use.operation.parent_op()
        if isinstance(use.operation, scf.YieldOp) and parent is not nest and parent is not None:
            result = rewriter.replace_value_with_new_type(parent.results[use.index], kind)
            _retype_users(nest, result, kind, rewriter)


def _import_constants(nest: scf.ForOp, block: Block) -> None:
    """Clone the scalar constants the nest uses from outside: tasks are isolated (constant tensors come in by ports)."""
    builder = Builder(InsertPoint.at_end(block))
    clones: dict[SSAValue, SSAValue] = {}
    for op in [nest, *nest.walk()]:
        for index, operand in enumerate(op.operands):
            owner = operand.owner
            if isa(operand.type, TensorType) or not (isinstance(owner, arith.ConstantOp) and _is_outside(nest, operand)):
                continue
            if operand not in clones:
                clones[operand] = builder.insert(owner.clone()).result
                clones[operand].name_hint = operand.name_hint
            op.operands[index] = clones[operand]


def _require_sound(kernel: KernelOp) -> None:
    """CompileError where loops and slices do not enumerate tensors as the types of a kernel's ports say it."""
    if (violation := first_violation(kernel)) is not None:
        where, accepted = kernel.sym_name.data, "loops over tiles that cover each tensor"
        raise CompileError(f"the nest makes no kernel: {violation.sentence}", where=where, accepted=accepted)


def terms_of(offset: SSAValue) -> list[SSAValue]:
    """The summands of an offset."""
    if isinstance(add := offset.owner, arith.AddiOp):
        return [*terms_of(add.lhs), *terms_of(add.rhs)]
    return [offset]


def task_name(op: Operation) -> str:
    """The identifier of the task that `op` becomes: its `stc.name`, else its module, else `task`."""
    return identifier(NAME.of(op) or MODULE.of(op) or "task")


def coordinates_of(
    op: tensor.ExtractSliceOp | tensor.InsertSliceOp, position: Mapping[BlockArgument, int]
) -> Iterable[Coordinate]:
    """The map of a slice: each offset as a sum of loops plus a constant."""
    dynamic = iter(op.offsets)
    for static in op.static_offsets.get_values():
        if static != DYNAMIC_INDEX:
            yield Coordinate((), static)
            continue
        loops: list[int] = []
        constant = 0
        for term in terms_of(next(dynamic)):
            if isinstance(term, BlockArgument) and term in position:
                loops.append(position[term])
            else:
                constant += constant_of(term)
        yield Coordinate(tuple(loops), constant)


def _runs_once(loop: scf.ForOp) -> bool:
    return trip_count(loop) == 1 and not loop.body.block.args[0].uses
