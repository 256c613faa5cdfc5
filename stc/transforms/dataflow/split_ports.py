"""`split-ports`: where one stream is too narrow for the tasks at its ends, they are connected by several."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from xdsl.builder import Builder
from xdsl.context import Context
from xdsl.dialects import arith, scf, tensor
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, Block, BlockArgument, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from stc.analysis.lane_demand import LaneDemand
from stc.dialects.dataflow import KernelOp, TaskOp, YieldOp
from stc.dialects.itensor import CastOp, EmptyOp, ForkOp, InstanceOp, ItensorType, MergeOp, ReadOp, SplitOp, WriteOp
from stc.dialects.itensor.destinations import root_of
from stc.dialects.itensor.induction import loop_of_induction_variable
from stc.iteration.order import StreamOrder
from stc.iteration.round_robin import round_robin_parts
from stc.iteration.size import static
from stc.iteration.vectorize import largest_divisor
from stc.transforms.index_constant import index_constant


@dataclass(frozen=True)
class SplitPorts(ModulePass):
    """Give a task n ports where both ends of a stream want at least n times the lanes of a token (after `vectorize-streams`).

    What a port wants is what `vectorize-streams` goes by: the vector shape or unroll factor of its schedule. The vectors of a tile
    are split round-robin over the ports, and the loop over them takes n at once. Outside stand a `split` and a `merge`:
    `simplify-routing` removes them between tasks, which leaves n parallel streams, and `pack-interfaces` at the kernel's boundary,
    which stripes the tensor over n memory ports. Nothing is split where no schedule asks, nor where the stream leads through a
    converter, chunk, concat or reassociate, which pass one token at a time.

        %r = dataflow.task @f ins(%p = %x : !X) ... {
          ... %u = scf.for %b = 0 to 32 step 16 iter_args(%t1 = %t0) {
            %v = itensor.read %p[%i, %b] : !X -> tensor<1x16xf32>
            %t2 = tensor.insert_slice %v into %t1[0, %b] [1, 16] [1, 1]
      becomes
        %x0, %x1 = itensor.split %x : !X to !X0, !X1
        %r = dataflow.task @f ins(%p0 = %x0 : !X0, %p1 = %x1 : !X1) ... {
          ... %v0 = itensor.read %p0[%i] : !X0 -> tensor<1x16xf32>
          %t1 = tensor.insert_slice %v0 into %t0[0, %c0] [1, 16] [1, 1]
          %v1 = itensor.read %p1[%i] : !X1 -> tensor<1x16xf32>
          %t2 = tensor.insert_slice %v1 into %t1[0, %c16] [1, 16] [1, 1]
    """

    name = "split-ports"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for kernel in [found for found in op.walk() if isinstance(found, KernelOp)]:
            demand = LaneDemand(kernel, 1)
            tasks = [found for found in kernel.body.block.ops if isinstance(found, TaskOp)]
            parts = {task: _parts_of_ports(task, demand) for task in tasks}
            for task in tasks:
                if any(count > 1 for count in parts[task].values()):
                    _TaskSplit(task, parts[task]).run()


# Which ports ----------------------------------------------------------------------------------------------------------


def _parts_of_ports(task: TaskOp, demand: LaneDemand) -> dict[SSAValue, int]:
    """For each itensor port of `task` the number of ports it becomes."""
    carried = iter(task.outputs)
    outside = [*task.ins, *(next(carried) if isinstance(value.type, ItensorType) else value for value in task.outs)]
    parts: dict[SSAValue, int] = {}
    for port, value, destination in zip(task.body.block.args, outside, (*task.ins, *task.outs), strict=True):
        if not isinstance(port.type, ItensorType):
            continue
        replaceable = value is destination or isinstance(destination.owner, EmptyOp | InstanceOp)
        count = _streams(port.type.order, demand.lanes(port))
        parts[port] = count if replaceable and _is_direct(value, set()) and _vector_loop(port) is not None else 1
    return parts


def _streams(order: StreamOrder, lanes: int) -> int:
    """How many streams of this order's tokens carry at most `lanes` per cycle, as evenly as the loop over vectors allows."""
    if not order.loops or order.dimension_of_loop[-1] != order.rank - 1 or order.loops[-1].step != order.element[-1]:
        return 1
    return largest_divisor(static(order.loops[-1].trip), max(1, lanes // order.element_count))


def _is_direct(value: SSAValue, seen: set[SSAValue]) -> bool:
    """Whether only tasks, memory, casts and forks stand at the ends of the stream that `value` is."""
    if value in seen:
        return True
    seen.add(value)
    ends = [use.operation for use in value.uses]
    if isinstance(value.owner, Operation):
        ends.append(value.owner)
    for end in ends:
        if isinstance(end, CastOp | ForkOp):
            if not all(_is_direct(other, seen) for other in (*end.operands, *end.results)):
                return False
        elif not isinstance(end, TaskOp | YieldOp):
            return False
    return True


def _vector_loop(port: SSAValue) -> scf.ForOp | None:
    """The loop in which all of `port` crosses, vector by vector, if there is nothing else in it."""
    accesses = [op for op in _task_of(port).walk() if isinstance(op, ReadOp | WriteOp) and _root(op) is port]
    if len(accesses) != 1 or not accesses[0].indices or accesses[0].segment is not None:
        return None
    loop = loop_of_induction_variable(accesses[0].indices[-1])
    access = accesses[0]
    if loop is None or access.parent_op() is not loop or len(loop.iter_args) != 1:
        return None
    others = [op for op in loop.body.block.ops if op is not access and not isinstance(op, scf.YieldOp | arith.ConstantOp)]
    piece = tensor.InsertSliceOp if isinstance(access, ReadOp) else tensor.ExtractSliceOp
    return loop if len(others) == 1 and isinstance(others[0], piece) else None


def _task_of(port: SSAValue) -> TaskOp:
    assert isinstance(port, BlockArgument)
    task = port.block.parent_op()
    assert isinstance(task, TaskOp)
    return task


def _root(access: ReadOp | WriteOp) -> SSAValue:
    return access.source if isinstance(access, ReadOp) else root_of(access.destination)


# Splitting ------------------------------------------------------------------------------------------------------------


@dataclass
class _TaskSplit:
    """Rebuilds one task with several ports for some of its ports."""

    task: TaskOp
    parts: Mapping[SSAValue, int]
    rebuilt: set[scf.IfOp] = field(default_factory=set)

    def run(self) -> None:
        ports = list(self.task.body.block.args)
        operands = list(zip(ports, (*self.task.ins, *self.task.outs), strict=True))
        ins = [v for port, value in operands[: len(self.task.ins)] for v in self._split(port, value)]
        outs = [v for port, value in operands[len(self.task.ins) :] for v in self._destinations(port, value)]
        counts = [self.parts.get(port, 1) for port, _ in operands[len(self.task.ins) :] if isinstance(port.type, ItensorType)]
        for port in ports:
            if self.parts.get(port, 1) > 1:
                self._split_port(port)
        body = self.task.detach_region(self.task.body)
        new = TaskOp(self.task.sym_name, ins, outs, body, attributes=self.task.attributes, kind=self.task.kind)
        builder = Builder(InsertPoint.before(self.task))
        builder.insert(new)
        produced = iter(new.outputs)
        for old, count in zip(list(self.task.outputs), counts, strict=True):
            values = [next(produced) for _ in range(count)]
            _name(values, old.name_hint)
            full: SSAValue = values[0]
            if count > 1:
                assert isinstance(old.type, ItensorType)
                full = builder.insert(MergeOp(values, old.type)).result
                full.name_hint = old.name_hint
            old.replace_all_uses_with(full)
        destinations = list(self.task.outs)
        Rewriter.erase_op(self.task)
        for destination in destinations:
            if isinstance(destination.owner, EmptyOp | InstanceOp) and not destination.uses:
                Rewriter.erase_op(destination.owner)

    def _types(self, port: SSAValue) -> list[ItensorType]:
        assert isinstance(port.type, ItensorType)
        parts = round_robin_parts(port.type.order, self.parts[port])
        return [ItensorType.from_order(order, port.type.element_type) for order in parts]

    def _split(self, port: SSAValue, value: SSAValue) -> Sequence[SSAValue]:
        if self.parts.get(port, 1) == 1:
            return [value]
        split = Builder(InsertPoint.before(self.task)).insert(SplitOp(value, self._types(port)))
        _name(split.parts, value.name_hint)
        return split.parts

    def _destinations(self, port: SSAValue, value: SSAValue) -> Sequence[SSAValue]:
        if self.parts.get(port, 1) == 1:
            return [value]
        builder = Builder(InsertPoint.before(self.task))
        if isinstance(value.owner, InstanceOp):
            name = value.owner.sym_name.data
            return [builder.insert(InstanceOp(f"{name}_{k}", type_)).result for k, type_ in enumerate(self._types(port))]
        return [builder.insert(EmptyOp(type_)).result for type_ in self._types(port)]

    # Inside the task --------------------------------------------------------------------------------------------------

    def _split_port(self, port: SSAValue) -> None:
        assert isinstance(port, BlockArgument)
        loop = _vector_loop(port)
        assert loop is not None
        types = self._types(port)
        new: list[SSAValue] = [port.block.insert_arg(type_, port.index) for type_ in types]
        _name(new, port.name_hint)
        access = next(op for op in loop.body.block.ops if isinstance(op, ReadOp | WriteOp))
        if isinstance(access, ReadOp):
            _several_at_once(loop, new)
        else:
            self._carry(port, new)
        port.block.erase_arg(port)

    def _carry(self, old: SSAValue, new: Sequence[SSAValue]) -> None:
        """Let every op that carries the destination `old` on carry `new` instead."""
        for use in list(old.uses):
            user = use.operation
            if isinstance(user, scf.ForOp):
                if _crosses(user):
                    self._carry(user.results[0], _several_at_once(user, new))
                    Rewriter.erase_op(user)
                else:
                    self._carry_loop(user, old, new)
            elif isinstance(user, scf.YieldOp):
                guard = user.parent_op()
                _replace_operand(user, use.index, new)
                if isinstance(guard, scf.IfOp) and guard not in self.rebuilt:
                    self._carry_guard(guard, use.index, new)
            elif isinstance(user, YieldOp):
                _replace_operand(user, use.index, new)

    def _carry_loop(self, loop: scf.ForOp, old: SSAValue, new: Sequence[SSAValue]) -> None:
        position = list(loop.iter_args).index(old)
        initial = [*loop.iter_args[:position], *new, *loop.iter_args[position + 1 :]]
        block = loop.body.block
        inner = block.args[position + 1]
        arguments: list[SSAValue] = [block.insert_arg(value.type, inner.index) for value in new]
        _name(arguments, inner.name_hint)
        wider = scf.ForOp(loop.lb, loop.ub, loop.step, initial, loop.detach_region(loop.body))
        wider.attributes |= loop.attributes
        outer = _exchange(loop, wider, position, len(new))
        self._carry(inner, arguments)
        block.erase_arg(inner)
        self._carry(outer, wider.results[position : position + len(new)])
        Rewriter.erase_op(loop)

    def _carry_guard(self, guard: scf.IfOp, position: int, new: Sequence[SSAValue]) -> None:
        types: list[Attribute] = [result.type for result in guard.results]
        types[position : position + 1] = [value.type for value in new]
        true_region, false_region = (guard.detach_region(region) for region in list(guard.regions))
        wider = scf.IfOp(guard.cond, types, true_region, false_region)
        self.rebuilt.add(wider)
        outer = _exchange(guard, wider, position, len(new))
        self._carry(outer, wider.results[position : position + len(new)])
        Rewriter.erase_op(guard)


def _exchange(old: Operation, wider: Operation, position: int, count: int) -> SSAValue:
    """Put `wider` before `old`, its results for the others of `old`; the result of `old` that has become `count` of `wider`."""
    Builder(InsertPoint.before(old)).insert(wider)
    for index, result in enumerate(old.results):
        if index != position:
            replacement = wider.results[index if index < position else index + count - 1]
            replacement.name_hint = result.name_hint
            result.replace_all_uses_with(replacement)
    _name(wider.results[position : position + count], old.results[position].name_hint)
    return old.results[position]


def _crosses(loop: scf.ForOp) -> bool:
    """Whether `loop` is a loop over vectors: it writes in its own body."""
    return any(isinstance(op, WriteOp) for op in loop.body.block.ops)


def _several_at_once(loop: scf.ForOp, ports: Sequence[SSAValue]) -> list[SSAValue]:
    """Write out `loop` over the vectors of a tile so that each iteration moves one through every one of `ports`.

    What the loop carries in the end: the tile put together, which replaces the loop, or the destinations written (then the caller
    replaces the loop).
    """
    access = next(op for op in loop.body.block.ops if isinstance(op, ReadOp | WriteOp))
    step, trip = _bounds(access.itensor_type.order)
    carried: list[SSAValue] = [loop.iter_args[0]] if isinstance(access, ReadOp) else list(ports)
    results: list[SSAValue]
    builder = Builder(InsertPoint.before(loop))
    if trip == len(ports):
        results = _iteration(builder, loop, access, ports, carried, None, step)
    else:
        block = Block(arg_types=[loop.body.block.args[0].type, *(value.type for value in carried)])
        block.args[0].name_hint = loop.body.block.args[0].name_hint
        inner = Builder(InsertPoint.at_end(block))
        inner.insert(scf.YieldOp(*_iteration(inner, loop, access, ports, list(block.args[1:]), block.args[0], step)))
        wide = index_constant(builder, step * len(ports))
        results = list(builder.insert(scf.ForOp(loop.lb, loop.ub, wide, carried, block)).results)
    if isinstance(access, ReadOp):
        results[0].name_hint = loop.results[0].name_hint
        Rewriter.replace_op(loop, [], [results[0]])
    return results


def _iteration(
    builder: Builder,
    loop: scf.ForOp,
    access: ReadOp | WriteOp,
    ports: Sequence[SSAValue],
    carried: list[SSAValue],
    iv: SSAValue | None,
    step: int,
) -> list[SSAValue]:
    """One iteration of the wider loop, or all there is where `iv` is None: vector k goes through port k."""
    outer = [*access.indices[:-1], *([iv] if iv is not None else [])]
    old_iv = loop.body.block.args[0]
    for number, port in enumerate(ports):
        place = _place(builder, iv, number * step)
        piece = next(op for op in loop.body.block.ops if isinstance(op, tensor.InsertSliceOp | tensor.ExtractSliceOp))
        offsets: dict[SSAValue, SSAValue] = {old_iv: place}
        if isinstance(access, ReadOp):
            token = builder.insert(ReadOp(port, outer)).result
            mapping = {**offsets, access.result: token, loop.body.block.args[1]: carried[0]}
            carried = [builder.insert(piece.clone(mapping)).results[0]]
        else:
            token = builder.insert(piece.clone(offsets)).results[0]
            carried[number] = builder.insert(WriteOp(token, carried[number], outer)).result
    return carried


def _place(builder: Builder, iv: SSAValue | None, offset: int) -> SSAValue:
    if iv is None:
        return index_constant(builder, offset)
    return builder.insert(arith.AddiOp(iv, index_constant(builder, offset))).result if offset else iv


def _bounds(order: StreamOrder) -> tuple[int, int]:
    return order.loops[-1].step, static(order.loops[-1].trip)


def _replace_operand(op: Operation, index: int, new: Sequence[SSAValue]) -> None:
    op.operands = [*op.operands[:index], *new, *op.operands[index + 1 :]]


def _name(values: Sequence[SSAValue], name: str | None) -> None:
    for number, value in enumerate(values):
        value.name_hint = name if name is None or len(values) == 1 else f"{name}_{number}"
