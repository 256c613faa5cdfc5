"""Element-wise tasks: recognised, described as a computation, and built anew with other tiles and another loop order."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

from xdsl.builder import Builder
from xdsl.context import Context
from xdsl.dialects import arith, func, scf, tensor
from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.dialects.linalg import ops as linalg
from xdsl.ir import Attribute, Block, BlockArgument, Region, SSAValue
from xdsl.rewriter import InsertPoint

from stc.analysis.generic_loops import GenericLoops, generics_in
from stc.analysis.kernel_memory import bytes_of
from stc.design_space.orders import Computation, LoopPlan, Operand, input_order, output_order
from stc.diagnostics import CompileError
from stc.dialects.dataflow import KernelOp, ScheduleAttr, TaskOp, YieldOp
from stc.dialects.facts import FIXED, SCHEDULE, TILE
from stc.dialects.itensor import EmptyOp, ItensorType, ReadOp, WriteOp
from stc.iteration.normal_form import same_sequence
from stc.transforms.dataflow.linalg_to_dataflow import LinalgToDataflow
from stc.transforms.linalg.tile_linalg import TileLinalg

_NEST = (arith.ConstantOp, scf.ForOp, scf.YieldOp, ReadOp, WriteOp, tensor.EmptyOp, linalg.GenericOp, YieldOp)
"""What an element-wise task consists of."""


@dataclass(frozen=True)
class ElementwiseTask:
    """A task that is one parallel `linalg.generic` on tiles. `ports[k]`: the position among `ins` of the generic's input k."""

    task: TaskOp
    generic: linalg.GenericOp
    ports: tuple[int, ...]
    extents: tuple[int, ...]
    plan: LoopPlan

    @property
    def loops(self) -> GenericLoops:
        return GenericLoops(self.generic)

    @property
    def is_fixed(self) -> bool:
        """Whether a user decided how its loops run."""
        return FIXED.on(self.generic)

    def computation(self, tensors: Sequence[Hashable], output: Hashable) -> Computation:
        """The computation, its operands called `tensors` (one per input of the generic) and `output`."""
        dims = self.loops.operand_dims
        types = [_itensor(self.task.ins[port]) for port in self.ports]
        inputs = [
            Operand(tensor, dim, bytes_of(type_.element_type)) for tensor, dim, type_ in zip(tensors, dims, types, strict=False)
        ]
        result = Operand(output, dims[-1], bytes_of(_itensor(self.task.outputs[0]).element_type))
        return Computation(self.extents, (), tuple(inputs), (result,))

    def rebuilt(self, plan: LoopPlan, unroll: Sequence[int], values: Mapping[int, SSAValue]) -> TaskOp:
        """A new task in front of the old one, with another plan. `values[port]`: what stands for the old `ins`.

        Its `ins` are those values, whatever their types: the caller connects them.
        """
        schedule = ScheduleAttr.of(plan.tile, plan.order, unroll)
        kernel, inputs = _as_kernel(self, schedule)
        inner = next(op for op in kernel.body.block.ops if isinstance(op, TaskOp))
        sources = [kernel.inputs[kernel.body.block.args.index(_argument(value))] for value in inner.ins]
        builder = Builder(InsertPoint.before(self.task))
        out = builder.insert(EmptyOp(_itensor(inner.outputs[0])))
        body = inner.body.clone()
        operands = [values[self.ports[inputs.index(source)]] for source in sources]
        types = [result.type for result in inner.outputs]
        new = builder.insert(TaskOp(self.task.sym_name, operands, [out.result], body, types))
        new.attributes |= self.task.attributes
        new.outputs[0].name_hint = self.task.outputs[0].name_hint
        return new


def _argument(value: SSAValue) -> BlockArgument:
    assert isinstance(value, BlockArgument)
    return value


def _itensor(value: SSAValue) -> ItensorType:
    assert isinstance(value.type, ItensorType)
    return value.type


def elementwise_task(task: TaskOp) -> ElementwiseTask | None:
    """`task` as an element-wise one; None where it is anything else.

    It has one output; every input is an itensor, read once in a tile and used by the one generic in it, whose loops are all
    parallel and all in the output. The types of its ports are those that its schedule gives.
    """
    ops = [op for op in task.walk() if op is not task and not isinstance(op.parent_op(), linalg.GenericOp)]
    generics = generics_in(task)
    if len(generics) != 1 or len(task.outputs) != 1 or not task.ins or not all(isinstance(op, _NEST) for op in ops):
        return None
    generic = generics[0]
    if not all(isinstance(value.type, ItensorType) for value in task.ins):
        return None
    if not _is_parallel(generic):
        return None
    reads = [value.owner for value in generic.inputs]
    if not all(isinstance(read, ReadOp) and len(list(read.result.uses)) == 1 for read in reads):
        return None
    ports = tuple(_argument(read.source).index for read in reads if isinstance(read, ReadOp))
    if sorted(ports) != list(range(len(task.ins))) or not _is_written(generic):
        return None
    found = _planned(task, generic, ports)
    return found if found is not None and _has_types_of_plan(found) else None


def _is_parallel(generic: linalg.GenericOp) -> bool:
    """Whether the generic computes each entry of its one result from entries of its inputs alone."""
    try:
        loops = GenericLoops(generic)
        dims = loops.operand_dims
    except CompileError:
        return False
    block = generic.body.block
    own = {*block.args, *(result for op in block.ops for result in op.results)}
    captures = any(operand not in own for op in block.ops for operand in op.operands)
    nested = any(op.regions for op in block.ops)
    if captures or nested or loops.reductions or len(generic.results) != 1:
        return False
    from_nothing = not block.args[-1].uses and isinstance(generic.outputs[0].owner, tensor.EmptyOp)
    return from_nothing and len(dims[-1]) == len(generic.iterator_types.data)


def _is_written(generic: linalg.GenericOp) -> bool:
    users = [use.operation for use in generic.results[0].uses]
    return len(users) == 1 and isinstance(users[0], WriteOp)


def _planned(task: TaskOp, generic: linalg.GenericOp, ports: tuple[int, ...]) -> ElementwiseTask | None:
    schedule = SCHEDULE.of(generic)
    output = _itensor(task.outputs[0]).order
    if schedule is None or not output.is_static:
        return None
    loops = GenericLoops(generic)
    shape = dict(zip(loops.output_dims[0], output.static_shape, strict=True))
    extents = tuple(shape[loop] for loop in range(len(shape)))
    if schedule.tiles != loops.extents:
        return None
    return ElementwiseTask(task, generic, ports, extents, LoopPlan(schedule.tiles, schedule.loop_order))


def _has_types_of_plan(found: ElementwiseTask) -> bool:
    computation = found.computation(found.ports, None)
    plan = found.plan
    output = output_order(computation, plan.tile, plan.order, computation.outputs[0])
    pairs = [(_itensor(found.task.outputs[0]).order, output)]
    for port, operand in zip(found.ports, computation.inputs, strict=True):
        pairs.append((_itensor(found.task.ins[port]).order, input_order(computation, plan.tile, plan.order, operand)))
    return all(same_sequence(present, planned) for present, planned in pairs)


def _as_kernel(found: ElementwiseTask, schedule: ScheduleAttr) -> tuple[KernelOp, list[SSAValue]]:
    """The computation on whole tensors, tiled and turned into a kernel of one task; and the function's arguments, one per input."""

    def full(value: Attribute, dims: Sequence[int]) -> TensorType[Attribute]:
        assert isinstance(value, TensorType)
        return TensorType(value.element_type, [found.extents[dim] for dim in dims])

    generic, dims = found.generic, found.loops.operand_dims
    types = [full(value.type, dim) for value, dim in zip(generic.operands, dims, strict=True)]
    block = Block(arg_types=types[:-1])
    for argument, port in zip(block.args, found.ports, strict=True):
        argument.name_hint = found.task.body.block.args[port].name_hint
    builder = Builder(InsertPoint.at_end(block))
    empty = builder.insert(tensor.EmptyOp((), types[-1]))
    body = generic.body.clone()
    copy = builder.insert(
        linalg.GenericOp(block.args, empty.results, body, generic.indexing_maps, generic.iterator_types, [types[-1]])
    )
    copy.attributes |= generic.attributes | SCHEDULE.entry(schedule)
    TILE.drop(copy)
    copy.results[0].name_hint = found.task.outputs[0].name_hint
    builder.insert(func.ReturnOp(copy.results[0]))
    module = ModuleOp([func.FuncOp("main", (types[:-1], types[-1:]), Region(block))])
    TileLinalg().apply(Context(), module)
    LinalgToDataflow().apply(Context(), module)
    return next(op for op in module.walk() if isinstance(op, KernelOp)), list(block.args)
