"""`lower-converters`: a converter becomes a task that fills blocks and one that drains them, or one task with its own buffer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from xdsl.builder import Builder
from xdsl.context import Context
from xdsl.dialects import arith, memref, vector
from xdsl.dialects.builtin import MemRefType, ModuleOp, VectorType
from xdsl.ir import Attribute, Block, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.utils.hints import isa

from stc.analysis.loop_names import order_loop_names
from stc.dialects import stream
from stc.dialects.dataflow import KernelOp, TaskKind, TaskOp, YieldOp
from stc.dialects.itensor import ConverterOp, ItensorType
from stc.iteration.block_tokens import in_tokens, token_lanes
from stc.iteration.converter import ConverterPlan
from stc.iteration.line_buffer import LineStep
from stc.iteration.order import Loop, StreamOrder
from stc.iteration.regrouping import is_regrouped, wide_and_narrow
from stc.iteration.size import is_static
from stc.transforms.index_constant import index_constant
from stc.transforms.stream.bridges import consumed_stream, produced_stream
from stc.transforms.stream.loops import Symbols, coordinates, loop_nest, order_nest, scalar_ports, total, where_equal
from stc.transforms.stream.merged_blocks import merged_blocks
from stc.transforms.stream.names import UniqueNames, symbols_of


@dataclass(frozen=True)
class LowerConverters(ModulePass):
    """Materialise every `itensor.converter` whose elements are vectors.

    Two blocks whose entries can be the tokens of both sides are a ring between two tasks. The shared loops wrap both. In each
    iteration the writer acquires a block and stores the tokens at their local coordinates; the reader acquires it full and loads
    them in its own order, temporal reuse included.

        %d = itensor.converter %s {shared_loops = 1, buffer_shape = [16, 64], blocks = 2} : !S to !T
      becomes, where both sides move vectors of 8 at multiples of 8,
        %b = stream.buffer @s_buffer : !stream.block<memref<16x8xvector<8xf32>>, count: 2>
        dataflow.task @fill_s ins(%i = %in : ...) outs(%o = %b : ...) { scf.for %k ... { %m = stream.acquire %o ... } }
        dataflow.task @drain_s ins(%i = %b : ...) outs(%o = %out : ...) { ... }

    Other blocks are a buffer of one task, which can be partitioned. One block is filled and emptied in turn:

        %d = itensor.converter %s {shared_loops = 1, buffer_shape = [16, 64], blocks = 1} : !S to !T
      becomes
        dataflow.task @turn_s ins(%i = %in : ...) outs(%o = %out : ...) {
          %m = memref.alloc() : memref<16x64xf32>
          scf.for %k ... { scf.for ... { %v = stream.read %i ... } scf.for ... { ... stream.write %v into %o } }
        }

    Two blocks are filled and emptied at once, by one loop (`stc.transforms.stream.merged_blocks`); in turn, as one block, where
    shared loops run as often as a launch says.

    Where both sides are the same sequence, but for how much of it a token has, the buffer is the wider token, whose parts come or
    go in each iteration of one loop:

        %d = itensor.converter %s {shared_loops = 1, buffer_shape = [16], blocks = 2} : !S to !T
      becomes, from tokens of 4 to tokens of 16,
        dataflow.task @widen_s ins(%i = %in : ...) outs(%o = %out : ...) {
          %m = memref.alloc() : memref<16xf32>
          scf.for %k ... { scf.for %entry = 0 to 16 step 4 {
            %v = stream.read %i  vector.store %v, %m[%entry]
            scf.if %entry == 12 { %t = vector.load %m[0]  stream.write %t into %o } } }
        }

    A converter with a window is one task. In each shared iteration it receives and sends tiles as its schedule says: a loop over
    the part that repeats, with one nest for each tile, whose first line in the circular buffer is a constant.

        %d = itensor.converter %s {shared_loops = 0, buffer_shape = [3, 64], blocks = 1, window = 0} : !S to !T
      becomes
        dataflow.task @lines_s ins(%i = %in : ...) outs(%o = %out : ...) {
          %m = memref.alloc() : memref<3x64xf32>
          scf.for %a ... { %v = stream.read %i ... vector.store %v, %m[...] }     // the first tiles
          scf.for %t ... { scf.for %a ... { receive } scf.for %a ... { send } ... }
          ...
        }
    """

    name = "lower-converters"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for kernel in [found for found in op.walk() if isinstance(found, KernelOp)]:
            names = symbols_of(kernel)
            for converter in [found for found in kernel.body.block.ops if isinstance(found, ConverterOp)]:
                _lower(converter, converter.source.name_hint or "stream", names)


def _lower(converter: ConverterOp, name: str, names: UniqueNames) -> None:
    plan, builder = converter.plan, Builder(InsertPoint.before(converter))
    if plan.window is None and is_regrouped(plan.source, plan.target):
        _regroup(builder, converter, name, names)
    elif plan.blocks == 2 and (lanes := token_lanes(plan)) is not None:
        _ring(builder, converter, plan, lanes, name, names)
    else:
        _one_task(builder, converter, name, names)
    Rewriter.erase_op(converter)


# The same sequence, other tokens -------------------------------------------------------------------------------------------


def _regroup(builder: Builder, converter: ConverterOp, name: str, names: UniqueNames) -> None:
    """A task that keeps the wider token, and moves one of its parts in each iteration."""
    plan = converter.plan
    wide, narrow = wide_and_narrow(plan.source, plan.target)
    kind = "widen" if wide is plan.target else "narrow"
    source = consumed_stream(builder, converter.source)
    target = produced_stream(builder, converter.result, names.fresh(f"{name}_reordered"))

    def fill(body: _Body) -> None:
        buffer = body.builder.insert(memref.AllocOp([], [], MemRefType(_element_type(converter), [wide.element_count]))).memref
        buffer.name_hint = "token"
        _, inside = body.nest(body.builder, wide)
        parts = Loop(wide.element_count // narrow.element_count, narrow.element_count)
        (entry,), inner = loop_nest(inside, [parts], ["entry"])
        if wide is plan.target:
            _move(inner, body, buffer, [entry], narrow, True)
            whole = where_equal(inner, [(entry, wide.element_count - narrow.element_count)])
            _move(whole, body, buffer, [index_constant(whole, 0)], wide, False)
        else:
            whole = where_equal(inner, [(entry, 0)])
            _move(whole, body, buffer, [index_constant(whole, 0)], wide, True)
            _move(inner, body, buffer, [entry], narrow, False)

    _task(converter, names.fresh(f"{kind}_{name}"), source, target, wide, fill)


# Two blocks, two tasks ---------------------------------------------------------------------------------------------------


def _ring(
    builder: Builder, converter: ConverterOp, plan: ConverterPlan, lanes: int, name: str, names: UniqueNames
) -> None:
    token = VectorType(_element_type(converter), [lanes])
    buffer = MemRefType(token, [*plan.buffer_shape[:-1], plan.buffer_shape[-1] // lanes])
    ring_name = names.fresh(f"{name}_buffer")
    ring = builder.insert(stream.BufferOp(ring_name, stream.BlockType(buffer, plan.blocks)))
    ring.result.name_hint = ring_name
    source = consumed_stream(builder, converter.source)
    target = produced_stream(builder, converter.result, names.fresh(f"{name}_reordered"))
    filled, drained = in_tokens(plan.source_block, lanes), in_tokens(plan.target_block, lanes)
    _task(converter, names.fresh(f"fill_{name}"), source, ring.result, filled, lambda body: _store_tokens(body, plan, filled))
    _task(converter, names.fresh(f"drain_{name}"), ring.result, target, drained, lambda body: _load_tokens(body, plan, drained))


def _element_type(converter: ConverterOp) -> Attribute:
    assert isinstance(converter.source.type, ItensorType)
    return converter.source.type.element_type


@dataclass(frozen=True)
class _Body:
    """The body of a new task: where it is built, what it takes and gives, the scalars behind its sizes."""

    builder: Builder
    source: SSAValue
    target: SSAValue
    symbols: Symbols

    def nest(self, builder: Builder, order: StreamOrder) -> tuple[list[SSAValue], Builder]:
        return order_nest(builder, order, self.symbols)

    def shared(self, plan: ConverterPlan) -> Builder:
        """A builder inside the loops that source and target share."""
        names = order_loop_names(plan.source)[: plan.shared_loops]
        return loop_nest(self.builder, plan.shared, names, self.symbols)[1]


def _task(
    converter: ConverterOp, name: str, source: SSAValue, target: SSAValue, order: StreamOrder, fill: Callable[[_Body], None]
) -> None:
    """A task with a body that runs the loops of `order`, inside those that the converter shares."""
    builder, kernel = Builder(InsertPoint.before(converter)), converter.parent_op()
    assert isinstance(kernel, KernelOp)
    block = Block(arg_types=[source.type, target.type])
    block.args[0].name_hint, block.args[1].name_hint = "in", "out"
    into, out_of = block.args
    scalars, symbols = scalar_ports(kernel, block, [*(loop.trip for loop in converter.plan.shared), *order.sizes])
    fill(_Body(Builder(InsertPoint.at_end(block)), into, out_of, symbols))
    Builder(InsertPoint.at_end(block)).insert(YieldOp())
    task = builder.insert(TaskOp(name, [*scalars, source], [target], block, []))
    task.kind = TaskKind.CONVERTER


def _store_tokens(body: _Body, plan: ConverterPlan, order: StreamOrder) -> None:
    once = body.shared(plan)
    buffer = once.insert(stream.AcquireOp(body.target)).buffer
    ivs, inner = body.nest(once, order)
    token = inner.insert(stream.ReadOp(body.source)).result
    inner.insert(memref.StoreOp.get(token, buffer, coordinates(inner, order, ivs)))


def _load_tokens(body: _Body, plan: ConverterPlan, order: StreamOrder) -> None:
    once = body.shared(plan)
    buffer = once.insert(stream.AcquireOp(body.source)).buffer
    ivs, inner = body.nest(once, order)
    token = inner.insert(memref.LoadOp.get(buffer, coordinates(inner, order, ivs))).res
    inner.insert(stream.WriteOp(token, body.target))


# One task ---------------------------------------------------------------------------------------------------------------


def _one_task(builder: Builder, converter: ConverterOp, name: str, names: UniqueNames) -> None:
    """A task with a buffer of its own."""
    plan = converter.plan
    if plan.window is not None:
        kind, hint, shape, loops = "lines", "lines", plan.buffer_shape, _lines
    elif plan.blocks == 1 or not all(is_static(loop.trip) for loop in plan.shared):
        kind, hint, shape, loops = "turn", "block", plan.buffer_shape, _in_turn
    else:
        kind, hint, shape, loops = "merge", "blocks", (2, *plan.buffer_shape), _merged
    source = consumed_stream(builder, converter.source)
    target = produced_stream(builder, converter.result, names.fresh(f"{name}_reordered"))

    def fill(body: _Body) -> None:
        buffer = body.builder.insert(memref.AllocOp([], [], MemRefType(_element_type(converter), shape))).memref
        buffer.name_hint = hint
        loops(body, plan, buffer)

    _task(converter, names.fresh(f"{kind}_{name}"), source, target, plan.target, fill)


def _in_turn(body: _Body, plan: ConverterPlan, buffer: SSAValue) -> None:
    once = body.shared(plan)
    for order, receives in ((plan.source_block, True), (plan.target_block, False)):
        ivs, inner = body.nest(once, order)
        _move(inner, body, buffer, coordinates(inner, order, ivs), order, receives)


def _merged(body: _Body, plan: ConverterPlan, buffer: SSAValue) -> None:
    merged_blocks(
        body.builder, plan, lambda inner, place, order, receives: _move(inner, body, buffer, place, order, receives)
    )


def _move(
    builder: Builder, body: _Body, buffer: SSAValue, place: Sequence[SSAValue], order: StreamOrder, receives: bool
) -> None:
    """Receive a token into `buffer` at `place`, or send the one of `order` that is there."""
    if receives:
        token = builder.insert(stream.ReadOp(body.source)).result
        builder.insert(vector.StoreOp(token, buffer, place))
    else:
        token = builder.insert(vector.LoadOp(buffer, place, _vector(buffer, order))).result
        builder.insert(stream.WriteOp(token, body.target))


def _vector(buffer: SSAValue, order: StreamOrder) -> VectorType:
    assert isa(buffer.type, MemRefType)
    return VectorType(buffer.type.element_type, [order.element_count])


# Lines ----------------------------------------------------------------------------------------------------------------


def _lines(body: _Body, plan: ConverterPlan, buffer: SSAValue) -> None:
    once, schedule = body.shared(plan), plan.line_schedule
    assert schedule is not None
    _tiles(once, body, plan, buffer, schedule.before)
    if schedule.repeats:
        _, repeated = loop_nest(once, [Loop(schedule.repeats, 1)], ["repeat"])
        _tiles(repeated, body, plan, buffer, schedule.body)
    _tiles(once, body, plan, buffer, schedule.after)


def _tiles(builder: Builder, body: _Body, plan: ConverterPlan, lines: SSAValue, steps: Sequence[LineStep]) -> None:
    """One loop nest for each tile that is received or sent."""
    assert plan.tiles is not None and plan.window is not None
    for step in steps:
        order = plan.tiles[0 if step.receives else 1].inside
        ivs, inner = order_nest(builder, order)
        place = coordinates(inner, order, ivs)
        span = order.static_shape[plan.window]
        place[plan.window] = _line(inner, place[plan.window], step.line, span, plan.buffer_shape[plan.window])
        _move(inner, body, lines, place, order, step.receives)


def _line(builder: Builder, offset: SSAValue, start: int, span: int, extent: int) -> SSAValue:
    """`start` + `offset`, an offset below `span`, modulo `extent`: a comparison where a tile wraps around, nothing else."""
    line = total(builder, [offset, index_constant(builder, start)]) if start else offset
    if start + span <= extent:
        return line
    limit = index_constant(builder, extent)
    wraps = builder.insert(arith.CmpiOp(line, limit, "sge")).result
    around = builder.insert(arith.SubiOp(line, limit)).result
    return builder.insert(arith.SelectOp(wraps, around, line)).result
