"""`lower-layout`: forks, splits, merges, chunks and concatenations become tasks; casts and reassociations cost nothing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from xdsl.builder import Builder
from xdsl.context import Context
from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import ModuleOp, i1
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint

from stc.analysis.loop_names import order_loop_names
from stc.dialects import stream
from stc.dialects.dataflow import KernelOp, TaskKind, TaskOp, YieldOp
from stc.dialects.itensor import CastOp, ChunkOp, ConcatOp, ForkOp, ItensorType, MergeOp, ReassociateOp, SplitOp
from stc.iteration.order import Loop, StreamOrder
from stc.iteration.size import Size, maximum, product_of
from stc.iteration.sized_reshapes import at_largest
from stc.transforms.index_constant import index_constant
from stc.transforms.stream.bridges import consumed_stream, produced_stream, reconnect
from stc.transforms.stream.loops import (
    Symbols,
    before_terminator,
    coordinates,
    loop_nest,
    order_nest,
    scalar_ports,
)
from stc.transforms.stream.names import UniqueNames, symbols_of

Op = TypeVar("Op", bound=Operation)


@dataclass(frozen=True)
class LowerLayout(ModulePass):
    """Materialise the operations that only move tokens.

    A fork copies each token to all its results; a split gives one to each result in turn, a merge takes one from each input; a
    chunk passes each token to the slice it lies in; a concat takes each token from the input it comes from. A concat of slices that
    is a part of one of run-time sizes is no task of its own: that one takes its tokens, too. Casts and reassociations rename a
    stream.

        %a, %b = itensor.fork %s : !X to !X, !X
      becomes
        dataflow.task @fork_s ins(%i = %in : ...) outs(%p = %a : ..., %q = %b : ...) {
          scf.for %i = %c0 to %tokens step %c1 {
            %v = stream.read %i : ...
            stream.write %v into %p : ...
            stream.write %v into %q : ...
          }
          dataflow.yield
        }
    """

    name = "lower-layout"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for kernel in [found for found in op.walk() if isinstance(found, KernelOp)]:
            names = symbols_of(kernel)
            for found in list(kernel.body.block.ops):
                match found:
                    case ForkOp():
                        _lower(found, names, "fork", found.source.name_hint, _fork)
                    case SplitOp():
                        _lower(found, names, "split", found.source.name_hint, _split)
                    case MergeOp():
                        _lower(found, names, "merge", found.result.name_hint, _merge)
                    case ChunkOp():
                        _lower(found, names, "chunk", found.source.name_hint, _chunk)
                    case ConcatOp() if _goes_into_another(found):
                        continue  # which is lowered with it
                    case ConcatOp():
                        _lower(found, names, "concat", found.result.name_hint, _concat)
                    case CastOp() | ReassociateOp():
                        _rename(found)
                    case _:
                        continue


def _rename(op: CastOp | ReassociateOp) -> None:
    builder = Builder(InsertPoint.before(op))
    source = consumed_stream(builder, op.source)
    bridge = builder.insert(stream.ToItensorOp(source, op.result.type))  # pyright: ignore[reportArgumentType]
    bridge.result.name_hint = op.result.name_hint
    reconnect(builder, op.result, source, bridge.result)
    op.detach()
    op.erase()


@dataclass(frozen=True)
class _Body:
    """The body of a new task: where it is built, what it reads and writes, the scalars behind its sizes."""

    builder: Builder
    ins: Sequence[SSAValue]
    outs: Sequence[SSAValue]
    symbols: Symbols


def _lower(
    op: Op,
    names: UniqueNames,
    kind: str,
    hint: str | None,
    body: Callable[[Op, _Body], None],
) -> None:
    name = names.fresh(f"{kind}_{hint or 'stream'}")
    builder = Builder(InsertPoint.before(op))
    parts = [part for operand in op.operands if (part := _part_of_another(operand)) is not None]
    ins = [consumed_stream(builder, operand) for operand in _sources(op)]
    outs = [
        produced_stream(builder, result, names.fresh(_stream_name(op, index, hint)))
        for index, result in enumerate(op.results)
    ]
    block = Block(arg_types=[value.type for value in (*ins, *outs)])
    for index, argument in enumerate(block.args):
        argument.name_hint = f"in{index}" if index < len(ins) else f"out{index - len(ins)}"
    ports = tuple(block.args)
    kernel = op.parent_op()
    assert isinstance(kernel, KernelOp)
    scalars, symbols = scalar_ports(kernel, block, _sizes(op))
    body(op, _Body(Builder(InsertPoint.at_end(block)), ports[: len(ins)], ports[len(ins) :], symbols))
    Builder(InsertPoint.at_end(block)).insert(YieldOp())
    task = builder.insert(TaskOp(name, [*scalars, *ins], outs, block, []))
    task.kind = TaskKind(kind)
    for lowered in (op, *parts):
        lowered.detach()
        lowered.erase()


def _sources(op: Operation) -> list[SSAValue]:
    """What the task of `op` takes: its operands, and in place of a concatenation that goes into it those of that."""
    parts = [(value, _part_of_another(value)) for value in op.operands]
    return [source for value, part in parts for source in ((value,) if part is None else part.inputs)]


def _part_of_another(value: SSAValue) -> ConcatOp | None:
    """The concatenation that makes `value`, where it goes into another."""
    return value.owner if isinstance(value.owner, ConcatOp) and _goes_into_another(value.owner) else None


def _goes_into_another(op: ConcatOp) -> bool:
    """Whether a concatenation of slices is but a part of one of run-time sizes."""
    users = [use.operation for use in op.result.uses]
    return op.is_of_slices and len(users) == 1 and isinstance(users[0], ConcatOp) and not users[0].is_of_slices


def _stream_name(op: Operation, index: int, hint: str | None) -> str:
    """A stream is called after what it carries: a copy, a part or a slice of the value `hint`, or that value itself."""
    word = "copy" if isinstance(op, ForkOp) else "part" if isinstance(op, SplitOp) else None
    own = op.results[index].name_hint
    if word is None and own is not None:
        return f"{own}_stream"
    stem = hint or "stream"
    return f"{stem}_{word or 'part'}_{index}" if len(op.results) > 1 else f"{stem}_stream"


def _order(value: SSAValue) -> StreamOrder:
    assert isinstance(value.type, ItensorType)
    return value.type.order


def _sizes(op: Operation) -> Sequence[Size]:
    """What the loops of the task depend on."""
    if isinstance(op, ChunkOp):
        return _order(op.source).from_its_begin.sizes
    if isinstance(op, ConcatOp):
        return [*_order(op.result).sizes, *(size for start in op.starts for size in start)]
    return [_rounds(op)]


def _rounds(op: Operation) -> Size:
    """How often an operation moves a token through each of its ends that have the fewest."""
    orders = [_order(value) for value in (*op.operands, *op.results)]
    counts = [product_of(*(loop.trip for loop in order.loops)) for order in orders]
    return min(counts, key=maximum)


def _each_round(op: Operation, body: _Body) -> Builder:
    return loop_nest(body.builder, [Loop(_rounds(op), 1)], ["token"], body.symbols)[1]


def _fork(op: ForkOp, body: _Body) -> None:
    inner = _each_round(op, body)
    token = inner.insert(stream.ReadOp(body.ins[0])).result
    for out in body.outs:
        inner.insert(stream.WriteOp(token, out))


def _split(op: SplitOp, body: _Body) -> None:
    inner = _each_round(op, body)
    for target in body.outs:
        inner.insert(stream.WriteOp(inner.insert(stream.ReadOp(body.ins[0])).result, target))


def _merge(op: MergeOp, body: _Body) -> None:
    inner = _each_round(op, body)
    for source in body.ins:
        inner.insert(stream.WriteOp(inner.insert(stream.ReadOp(source)).result, body.outs[0]))


def _chunk(op: ChunkOp, body: _Body) -> None:
    order = _order(op.source).from_its_begin
    ivs, inner = order_nest(body.builder, order, body.symbols)
    token = inner.insert(stream.ReadOp(body.ins[0])).result
    place = coordinates(inner, order, ivs)
    for out, result, offset in zip(body.outs, op.results, op.offsets, strict=True):
        # Slices keep dimensions of run-time size whole, so that no guard looks at a size.
        then = _guarded(inner, place, at_largest(order), offset, at_largest(_order(result)).static_shape)
        then.insert(stream.WriteOp(token, out))


def _concat(op: ConcatOp, body: _Body) -> None:
    if not op.is_of_slices:
        _concat_of_sizes(op, body)
        return
    ivs, inner = order_nest(body.builder, _order(op.result), body.symbols)
    _take(op, inner, ivs, body.ins, body.outs[0])


def _take(op: ConcatOp, inner: Builder, ivs: Sequence[SSAValue], sources: Sequence[SSAValue], out: SSAValue) -> None:
    """A token of a concatenation of slices, at the indices `ivs` of the loops of its result, from where it comes."""
    order = at_largest(_order(op.result))  # parts have dimensions of run-time size whole, so that no guard looks at a size
    place = coordinates(inner, order, ivs)
    last, begun = len(sources) - 1, [0] * order.rank
    for position, (source, value, offset) in enumerate(zip(sources, op.inputs, op.offsets, strict=True)):
        # One branch per iteration, and HLS sees that: the output takes one token per cycle.
        extents, otherwise = at_largest(_order(value)).static_shape, inner
        if position < last:
            inner, otherwise = _branches(inner, place, order, offset, extents, begun)
        inner.insert(stream.WriteOp(inner.insert(stream.ReadOp(source)).result, out))
        inner = otherwise
        ends = [start + extent for start, extent in zip(offset, extents, strict=True)]
        along = [dimension for dimension, end in enumerate(ends) if end < order.static_shape[dimension]]
        if len(along) == 1 and list(offset) == begun:   # what is left begins behind it
            begun[along[0]] = ends[along[0]]


def _concat_of_sizes(op: ConcatOp, body: _Body) -> None:
    """Parts of run-time sizes follow one another: a nest each, inside the loops around the one along which they do.

    A guard in one nest would look at a size in each iteration, and how often it holds would be no size.
    """
    order = _order(op.result)
    (dimension,) = {dimension for start in op.starts for dimension, size in enumerate(start) if size != 0}
    (along,) = order.loops_of(dimension)
    names = order_loop_names(order)
    outside, inner = loop_nest(body.builder, order.loops[:along], names[:along], body.symbols)
    sources = iter(body.ins)
    for part in op.inputs:
        own = [_order(part).loops[loop] for loop in _order(part).loops_of(dimension)]  # none of a part of one entry
        loops = [*own, *order.loops[along + 1 :]]
        ivs, innermost = loop_nest(inner, loops, names[len(names) - len(loops) :], body.symbols)
        if (inside := _part_of_another(part)) is not None:
            _take(inside, innermost, [*outside, *ivs], [next(sources) for _ in inside.inputs], body.outs[0])
        else:
            innermost.insert(stream.WriteOp(innermost.insert(stream.ReadOp(next(sources))).result, body.outs[0]))


def _guarded(
    builder: Builder, place: Sequence[SSAValue], order: StreamOrder, offset: Sequence[int], extents: Sequence[int]
) -> Builder:
    """A builder that runs only for tokens inside the slice at `offset` of `extents`; `builder` itself if all are."""
    condition = _inside(builder, place, order, offset, extents, [0] * order.rank)
    if condition is None:
        return builder
    block = Block([scf.YieldOp()])
    builder.insert(scf.IfOp(condition, [], Region(block)))
    return before_terminator(block)


def _branches(
    builder: Builder,
    place: Sequence[SSAValue],
    order: StreamOrder,
    offset: Sequence[int],
    extents: Sequence[int],
    begun: Sequence[int],
) -> tuple[Builder, Builder]:
    """A builder that runs for tokens inside the slice at `offset` of `extents`, and one that runs for all others.

    `begun`: where the tokens begin for which `builder` runs.
    """
    condition = _inside(builder, place, order, offset, extents, begun)
    assert condition is not None, "a part of a concatenation is not all of it"
    return _either(builder, condition)


def _either(builder: Builder, condition: SSAValue) -> tuple[Builder, Builder]:
    """A builder that runs where `condition` holds, and one that runs where it does not."""
    inside, outside = Block([scf.YieldOp()]), Block([scf.YieldOp()])
    builder.insert(scf.IfOp(condition, [], Region(inside), Region(outside)))
    return before_terminator(inside), before_terminator(outside)


def _inside(
    builder: Builder,
    place: Sequence[SSAValue],
    order: StreamOrder,
    offset: Sequence[int],
    extents: Sequence[int],
    begun: Sequence[int],
) -> SSAValue | None:
    """Whether a token, none of which lies before `begun`, is inside the slice at `offset` of `extents`; None if all are."""
    tests: list[SSAValue] = []
    for dimension, (start, extent) in enumerate(zip(offset, extents, strict=True)):
        end = start + extent
        if start > begun[dimension]:
            tests.append(builder.insert(arith.CmpiOp(place[dimension], index_constant(builder, start), "sge")).result)
        if end < order.static_shape[dimension]:
            tests.append(builder.insert(arith.CmpiOp(place[dimension], index_constant(builder, end), "slt")).result)
    if not tests:
        return None
    condition = tests[0]
    for test in tests[1:]:
        condition = builder.insert(arith.AndIOp(condition, test, i1)).result
    return condition
