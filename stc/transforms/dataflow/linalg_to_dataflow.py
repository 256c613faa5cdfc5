"""`linalg-to-dataflow`: every tiled nest becomes a kernel whose ports are itensors."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from xdsl.builder import Builder
from xdsl.context import Context
from xdsl.dialects import arith, linalg, scf, tensor
from xdsl.dialects.builtin import DYNAMIC_INDEX, ModuleOp, StringAttr, TensorType
from xdsl.ir import Block, BlockArgument, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.utils.hints import isa

from stc.analysis.host_work import functions_of, host_values
from stc.analysis.loops import constant_of, loops_between, trip_count
from stc.analysis.support import place
from stc.diagnostics import CompileError
from stc.dialects.dataflow import KernelOp, TaskOp, YieldOp
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
    all loops around its slice (those that do not move it are revisits); a result's type has the loops that move it, the
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
            known = host_values(function)
            for nest in [found for found in function.body.block.ops if isinstance(found, scf.ForOp)]:
                if not set(nest.results) <= known:
                    _NestToKernel(nest).replace()
        erase_dead_ops(op)
        for function in functions_of(op):
            known = host_values(function)
            for left in function.body.block.ops:
                if isinstance(left, linalg.GenericOp) and not set(left.results) <= known:
                    raise CompileError("it is in no loops over tiles", where=place(left), accepted="a schedule, and tile-linalg")


@dataclass
class _NestToKernel:
    """Moves one nest into a kernel."""

    nest: scf.ForOp
    sources: list[SSAValue] = field(default_factory=list)
    types: list[ItensorType] = field(default_factory=list)

    def replace(self) -> None:
        reads = [op for op in self.nest.walk() if isinstance(op, tensor.ExtractSliceOp) and self._is_outside(op.source)]
        writes = self._writes()
        result_types = [self._type_of_write(slices) for slices in writes]
        name = task_name(self.nest)
        self._check_captures()
        for read in reads:
            self._port(read)
        task_block = Block(arg_types=[*self.types, *result_types])
        kernel_block = Block(arg_types=self.types)
        self._hint(kernel_block.args, self.sources)
        self._hint(task_block.args, self.sources)
        for argument in task_block.args[len(self.types) :]:
            argument.name_hint = "out"

        results = list(self.nest.results)
        anchor = Builder(InsertPoint.after(self.nest))
        self._import_constants(task_block)
        self._rewrite_reads(reads, task_block.args)
        self._rewrite_writes(writes, result_types)
        tensor_types = [result.type for result in results]
        uses = [list(result.uses) for result in results]
        outs = [EmptyOp(result_type) for result_type in result_types]
        for index, result_type in enumerate(result_types):
            self.nest.operands[3 + index] = task_block.args[len(self.types) + index]
            Rewriter.replace_value_with_new_type(self.nest.results[index], result_type)
        self.nest.detach()
        task_block.add_op(self.nest)
        task_block.add_op(YieldOp(*self.nest.results))
        task = TaskOp(name, kernel_block.args, [out.result for out in outs], task_block, result_types)
        task.attributes |= {key: self.nest.attributes.pop(key) for key in list(self.nest.attributes)}
        kernel_block.add_ops([*outs, task, YieldOp(*task.results)])
        kernel = anchor.insert(KernelOp(name, self.sources, [], tensor_types, kernel_block))
        kernel.attributes |= task.attributes
        _require_sound(kernel)
        for index, value in enumerate(kernel.results):
            for use in uses[index]:
                use.operation.operands[use.index] = value
            value.name_hint = results[index].name_hint
        _inline_single_trip(task)

    # Ports ------------------------------------------------------------------------------------------------------------

    def _is_outside(self, value: SSAValue) -> bool:
        owner = value.owner
        block = owner if isinstance(owner, Block) else owner.parent_block()
        return block is self.nest.parent_block()

    def _port(self, read: tensor.ExtractSliceOp) -> None:
        loops = self._loops_around(read)
        self.sources.append(read.source)
        self.types.append(self._itensor(read, read.source, loops))

    def _loops_around(self, op: Operation) -> list[scf.ForOp]:
        """The loops that enumerate a slice: all around it but one that runs once and moves nothing."""
        return [loop for loop in loops_between(op, self.nest) if not _runs_once(loop)]

    def _itensor(
        self, op: tensor.ExtractSliceOp | tensor.InsertSliceOp, whole: SSAValue, loops: Sequence[scf.ForOp]
    ) -> ItensorType:
        assert isa(whole.type, TensorType)
        if set(op.static_strides.get_values()) - {1}:
            raise CompileError(f"'{op.name}' is strided", where=task_name(self.nest), accepted="slices of stride 1")
        element = tuple(op.static_sizes.get_values())
        spaces = tuple(Loop(trip_count(loop), constant_of(loop.step)) for loop in loops)
        position = {loop.body.block.args[0]: index for index, loop in enumerate(loops)}
        try:
            order = StreamOrder(element, spaces, tuple(coordinates_of(op, position)))
        except ValueError as error:
            raise CompileError(f"'{op.name}' is no slice of a stream: {error}", where=task_name(self.nest)) from None
        return ItensorType.from_order(order, whole.type.element_type)

    def _writes(self) -> list[list[tensor.InsertSliceOp]]:
        """For each result of the nest the insert_slices that build it."""
        found: list[list[tensor.InsertSliceOp]] = [[] for _ in self.nest.results]
        for op in self.nest.walk():
            if isinstance(op, tensor.InsertSliceOp) and (index := self._result_of(op.dest)) is not None:
                found[index].append(op)
        for index, slices in enumerate(found):
            if len(slices) != 1:
                raise CompileError(
                    f"result {index} is written by {len(slices)} insert_slices", where=task_name(self.nest), accepted="exactly one"
                )
        return found

    def _result_of(self, value: SSAValue) -> int | None:
        """Which result of the nest a loop-carried value is."""
        while isinstance(value, BlockArgument):
            loop = value.block.parent_op()
            assert isinstance(loop, scf.ForOp)
            if loop is self.nest:
                return value.index - 1
            value = loop.iter_args[value.index - 1]
        return None

    def _type_of_write(self, slices: Sequence[tensor.InsertSliceOp]) -> ItensorType:
        return self._itensor(slices[0], slices[0].dest, self._loops_of_write(slices[0]))

    def _loops_of_write(self, write: tensor.InsertSliceOp) -> list[scf.ForOp]:
        moving = {use for offset in write.offsets for use in terms_of(offset)}
        return [loop for loop in loops_between(write, self.nest) if loop.body.block.args[0] in moving]

    # Rewriting --------------------------------------------------------------------------------------------------------

    def _rewrite_reads(self, reads: Iterable[tensor.ExtractSliceOp], ports: Sequence[SSAValue]) -> None:
        for read, port in zip(reads, ports, strict=False):
            ivs = [loop.body.block.args[0] for loop in self._loops_around(read)]
            Rewriter.replace_op(read, ReadOp(port, ivs))

    def _rewrite_writes(self, writes: Sequence[Sequence[tensor.InsertSliceOp]], types: Sequence[ItensorType]) -> None:
        for (write,), itensor in zip(writes, types, strict=True):
            ivs = [loop.body.block.args[0] for loop in self._loops_of_write(write)]
            self._retype_chain(write.dest, itensor)
            new = WriteOp(write.source, write.dest, ivs)
            Rewriter.replace_op(write, new, safe_erase=False)
            self._retype_users(new.result, itensor)

    def _retype_chain(self, value: SSAValue, itensor: ItensorType) -> None:
        """Retype the loop-carried block arguments from the write outwards."""
        while isinstance(value, BlockArgument):
            loop = value.block.parent_op()
            assert isinstance(loop, scf.ForOp)
            index = value.index - 1
            Rewriter.replace_value_with_new_type(value, itensor)
            if loop is self.nest:
                return
            value = loop.iter_args[index]

    def _retype_users(self, value: SSAValue, itensor: ItensorType) -> None:
        """Retype the results of loops and branches the written itensor is yielded through, up to the nest."""
        for use in list(value.uses):
            if not isinstance(use.operation, scf.YieldOp):
                continue
            parent = use.operation.parent_op()
            if parent is self.nest or parent is None:
                continue
            result = Rewriter.replace_value_with_new_type(parent.results[use.index], itensor)
            self._retype_users(result, itensor)

    def _check_captures(self) -> None:
        """CompileError where the nest uses an outside value that is neither sliced, nor a constant, nor its destination."""
        for op in self.nest.walk():
            for operand in op.operands if op is not self.nest else ():
                is_slice = isinstance(op, tensor.ExtractSliceOp) and operand is op.source
                if self._is_outside(operand) and not is_slice and not isinstance(operand.owner, arith.ConstantOp):
                    raise CompileError(
                        f"'{op.name}' uses a {operand.type} from outside",
                        where=task_name(self.nest),
                        accepted="slices of tensors, and constants",
                    )

    def _import_constants(self, block: Block) -> None:
        """Clone the scalar constants the nest uses from outside: tasks are isolated (constant tensors come in by ports)."""
        builder = Builder(InsertPoint.at_end(block))
        clones: dict[SSAValue, SSAValue] = {}
        for op in [self.nest, *self.nest.walk()]:
            for index, operand in enumerate(op.operands):
                owner = operand.owner
                if isa(operand.type, TensorType) or not (isinstance(owner, arith.ConstantOp) and self._is_outside(operand)):
                    continue
                if operand not in clones:
                    clones[operand] = builder.insert(owner.clone()).result
                    clones[operand].name_hint = operand.name_hint
                op.operands[index] = clones[operand]

    @staticmethod
    def _hint(args: Sequence[BlockArgument], sources: Sequence[SSAValue]) -> None:
        for arg, source in zip(args, sources, strict=False):
            arg.name_hint = source.name_hint


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
    for key in ("stc.name", "stc.module"):
        if isinstance(name := op.attributes.get(key), StringAttr) and name.data:
            return identifier(name.data)
    return "task"


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


def _inline_single_trip(task: TaskOp) -> None:
    """Dissolve the outermost loop if it runs once and its induction variable is not used (a nest without loops)."""
    loop = next(op for op in task.body.block.ops if isinstance(op, scf.ForOp))
    if not _runs_once(loop):
        return
    body = loop.body.block
    terminator = body.last_op
    assert isinstance(terminator, scf.YieldOp)
    yielded = list(terminator.operands)
    terminator.detach()
    terminator.erase()
    body.args[0].name_hint = None  # else the bound that replaces it would be called after the loop
    Rewriter.inline_block(body, InsertPoint.before(loop), [loop.lb, *loop.iter_args])
    Rewriter.replace_op(loop, [], yielded)
