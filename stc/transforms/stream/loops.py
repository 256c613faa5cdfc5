"""Building the loop nests of generated tasks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import TypeAlias

from xdsl.builder import Builder
from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import IndexType
from xdsl.ir import Block, Region, SSAValue
from xdsl.rewriter import InsertPoint

from stc.analysis.loop_names import order_loop_names
from stc.dialects.dataflow import KernelOp
from stc.dialects.itensor import SizeOp
from stc.iteration.order import Loop, StreamOrder
from stc.iteration.size import Size, Symbol, product_of, static, symbols_in
from stc.transforms.index_constant import index_constant

Symbols: TypeAlias = Mapping[Symbol, SSAValue]
"""The scalars behind the symbols of sizes."""


def loop_nest(
    builder: Builder, loops: Sequence[Loop], names: Sequence[str], symbols: Symbols = MappingProxyType({})
) -> tuple[list[SSAValue], Builder]:
    """A perfect nest over loop *values* (0 to trip * step by step): induction variables, and a builder for the innermost body.

    `names`: of the loops, outermost first. The bounds are placed before the nest; symbolic ones are computed from `symbols`.
    """
    bounds = [
        (
            index_constant(builder, 0),
            index_of_size(builder, product_of(loop.trip, loop.step), symbols),
            index_constant(builder, loop.step),
        )
        for loop in loops
    ]
    ivs: list[SSAValue] = []
    for name, (lower, upper, step) in zip(names, bounds, strict=True):
        block = Block([scf.YieldOp()], arg_types=[IndexType()])
        block.args[0].name_hint = name
        builder.insert(scf.ForOp(lower, upper, step, [], block))
        ivs.append(block.args[0])
        builder = before_terminator(block)
    return ivs, builder


def index_of_size(builder: Builder, size: Size, symbols: Symbols) -> SSAValue:
    """A size as an index, computed from the scalars behind its symbols."""
    if isinstance(size, int):
        return index_constant(builder, size)
    return builder.insert(SizeOp(size, [symbols[symbol] for symbol in symbols_in([size])])).result


def scalar_ports(kernel: KernelOp, block: Block, sizes: Iterable[Size]) -> tuple[list[SSAValue], Symbols]:
    """What a task in `kernel` whose body is `block` has to take for these sizes, and the new arguments that stand for it."""
    scalars = {symbol: kernel.symbols[symbol] for symbol in symbols_in(sizes)}
    ports: dict[Symbol, SSAValue] = {}
    for symbol, scalar in scalars.items():
        ports[symbol] = argument = block.insert_arg(scalar.type, len(ports))
        argument.name_hint = scalar.name_hint or symbol.name
    return list(scalars.values()), ports


def order_nest(
    builder: Builder, order: StreamOrder, symbols: Symbols = MappingProxyType({})
) -> tuple[list[SSAValue], Builder]:
    """The perfect nest over all loops of `order`, called after the dimensions they run along."""
    return loop_nest(builder, order.loops, order_loop_names(order), symbols)


def before_terminator(block: Block) -> Builder:
    """A builder that appends to a terminated block."""
    assert block.last_op is not None
    return Builder(InsertPoint.before(block.last_op))


def loop_at(builder: Builder) -> scf.ForOp:
    """The loop whose body `builder` appends to."""
    loop = builder.insertion_point.block.parent_op()
    assert isinstance(loop, scf.ForOp)
    return loop


def coordinates(builder: Builder, order: StreamOrder, ivs: Sequence[SSAValue], start: int = 0) -> list[SSAValue]:
    """The coordinate of the current token along each dimension.

    `ivs` are the values of the order's loops from position `start` on; the loops before contribute nothing, so that the
    result is local to one iteration of them.
    """
    results: list[SSAValue] = []
    for dimension in range(order.rank):
        terms = [ivs[loop - start] for loop in order.loops_of(dimension, start)]
        offset = static(order.coordinates[dimension].constant)
        if offset or not terms:
            terms.append(index_constant(builder, offset))
        results.append(total(builder, terms))
    return results


def where_equal(builder: Builder, values: Sequence[tuple[SSAValue, int]]) -> Builder:
    """A builder for what runs only where each index has the value beside it; `builder` itself where nothing is asked."""
    if not values:
        return builder
    guarded = Block([scf.YieldOp()])
    builder.insert(scf.IfOp(all_equal(builder, values), [], Region(guarded)))
    return before_terminator(guarded)


def all_equal(builder: Builder, values: Sequence[tuple[SSAValue, int]]) -> SSAValue:
    """Whether each index, of at least one, has the value beside it."""
    each = [builder.insert(arith.CmpiOp(value, index_constant(builder, wanted), "eq")).result for value, wanted in values]
    met = each[0]
    for other in each[1:]:
        met = builder.insert(arith.AndIOp(met, other)).result
    return met


def total(builder: Builder, terms: Sequence[SSAValue]) -> SSAValue:
    """The sum of at least one index."""
    result = terms[0]
    for term in terms[1:]:
        result = builder.insert(arith.AddiOp(result, term)).result
    return result
