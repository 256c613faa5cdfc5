"""Building the loop nests of generated tasks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TypeAlias

from xdsl.builder import Builder
from xdsl.dialects import arith, memref, scf
from xdsl.dialects.builtin import IndexType
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.traits import Pure

from stc.analysis.index_expressions import index_expression
from stc.analysis.loop_names import order_loop_names
from stc.analysis.loops import Bounds, constant_bounds, integer_constant
from stc.dialects.dataflow import KernelOp
from stc.dialects.facts import LABEL, UNROLL
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
    return where(builder, all_equal(builder, values)) if values else builder


def where(builder: Builder, condition: SSAValue) -> Builder:
    """A builder for what runs only where a condition holds."""
    guarded = Block([scf.YieldOp()])
    builder.insert(scf.IfOp(condition, [], Region(guarded)))
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


# One loop for several --------------------------------------------------------------------------------------------------


def join_loops(loop: scf.ForOp, *, if_asked: bool = True) -> None:
    """Let a loop be one with those that are all there is in it, of all their iterations. So does the tool, but where the loop must
    not be one with that around it.

    Where anybody asks which iteration it is, the loop inside needs a power of two of iterations, so that no divider says it; else
    both stay, as without `if_asked`. So they do where the loop inside adds to one entry for each iteration of the other: which of
    them is asked for then, and what waits in a register would wait for a memory.

        scf.for %i = 0 to 6 { scf.for %j = 0 to 8 { use(%i, %j) } }
      becomes
        scf.for %k = 0 to 48 { use(%k >> 3, %k & 7) }
    """
    _erase_unused(loop)
    while (inner := _joinable(loop, if_asked=if_asked)) is not None:
        _join(loop, inner)


def _join(loop: scf.ForOp, inner: scf.ForOp) -> None:
    outer, within = _Turns.of(loop), _Turns.of(inner)
    builder = Builder(InsertPoint.before(loop))
    loop.operands = [index_constant(builder, bound) for bound in (0, outer.trip * within.trip, 1)]
    loop.attributes |= inner.attributes
    number = loop.body.block.insert_arg(IndexType(), 0)
    asked = (outer.index, within.index) if outer.uses or within.uses else (within.index,)
    number.name_hint = "_and_".join(index.name_hint for index in asked if index.name_hint is not None) or None
    body = [op for op in inner.body.block.ops if not isinstance(op, scf.YieldOp)]
    for op in body:
        op.detach()
    Rewriter.insert_op(body, InsertPoint.before(inner))
    Rewriter.erase_op(inner)
    within.take_low_bits(loop, number)
    outer.take_high_bits(loop, number, within.trip)
    loop.body.block.erase_arg(loop.body.block.args[1], safe_erase=False)


@dataclass(frozen=True)
class _Turns:
    """A loop with constant `bounds`, and who reads its `index`: operations and the places of their operands."""

    bounds: Bounds
    index: SSAValue
    uses: list[tuple[Operation, int]]

    @staticmethod
    def of(loop: scf.ForOp) -> _Turns:
        """Recorded uses may be of operations that are gone."""
        bounds, index = constant_bounds(loop), loop.body.block.args[0]
        assert bounds is not None
        return _Turns(bounds, index, [(op, at) for op in loop.walk() for at, value in enumerate(op.operands) if value is index])

    @property
    def trip(self) -> int:
        return self.bounds.trip

    def take_low_bits(self, loop: scf.ForOp, number: SSAValue) -> None:
        """Let all that read the index read what it is of the `number` of the iteration of both loops; this is the inner one."""
        mask, others = self.trip - 1, list[tuple[Operation, int]]()
        counts_up = (self.bounds.lower, self.bounds.step) == (0, 1)
        for op, at in self.uses:
            if counts_up and isinstance(op, arith.AndIOp) and _is_in(op.operands[1 - at], mask):
                op.operands[at] = number  # of which it takes no other bits
            else:
                others.append((op, at))
        self._replace(loop, others, lambda builder: arith.AndIOp(number, index_constant(builder, mask)))

    def take_high_bits(self, loop: scf.ForOp, number: SSAValue, trip: int) -> None:
        """The same of the outer, where the inner has `trip` iterations."""
        bits = trip.bit_length() - 1
        self._replace(loop, self.uses, lambda builder: arith.ShRUIOp(number, index_constant(builder, bits)))

    def _replace(
        self, loop: scf.ForOp, uses: Sequence[tuple[Operation, int]], turn: Callable[[Builder], arith.AndIOp | arith.ShRUIOp]
    ) -> None:
        """Let these uses be of the value that the index has in the `turn` of its loop."""
        if not uses:
            return
        builder = Builder(InsertPoint.at_start(loop.body.block))
        value = builder.insert(turn(builder)).result
        if self.bounds.step != 1:
            value = builder.insert(arith.MuliOp(value, index_constant(builder, self.bounds.step))).result
        if self.bounds.lower:
            value = builder.insert(arith.AddiOp(value, index_constant(builder, self.bounds.lower))).result
        value.name_hint = self.index.name_hint
        for op, at in uses:
            op.operands[at] = value


def _is_in(mask: SSAValue, bits: int) -> bool:
    """Whether it is a constant without any other bits."""
    constant = integer_constant(mask)
    return constant is not None and constant & ~bits == 0


def _joinable(loop: scf.ForOp, *, if_asked: bool) -> scf.ForOp | None:
    """The loop that is all there is in `loop`, if both can be one; None where there is none."""
    inside = [op for op in loop.body.block.ops if not op.has_trait(Pure) and not isinstance(op, scf.YieldOp)]
    if len(inside) != 1 or not isinstance(inner := inside[0], scf.ForOp) or set(inner.attributes) - {LABEL.name} or UNROLL.on(loop):
        return None
    if loop.iter_args or inner.iter_args or constant_bounds(loop) is None or (bounds := constant_bounds(inner)) is None:
        return None
    if not _Turns.of(loop).uses and not _Turns.of(inner).uses:
        return inner
    is_power = bounds.trip > 0 and bounds.trip & (bounds.trip - 1) == 0
    return inner if if_asked and is_power and not _adds_in_place(loop, inner) else None


def _adds_in_place(loop: scf.ForOp, inner: scf.ForOp) -> bool:
    """Whether anything is loaded and stored at an address that is another in each iteration of `loop`, but not of `inner`."""
    loaded = {op.memref for op in inner.walk() if isinstance(op, memref.LoadOp)}
    index, inner_index = loop.body.block.args[0], inner.body.block.args[0]
    for store in [op for op in inner.walk() if isinstance(op, memref.StoreOp) and op.memref in loaded]:
        variables = set[SSAValue]().union(*(index_expression(at, {}).variables() for at in store.indices))
        if index in variables and inner_index not in variables:
            return True
    return False


def _erase_unused(root: Operation) -> None:
    """What is computed in `root` and used by nothing there: recorded uses may be of operations that are gone."""
    used = Counter(operand for op in root.walk() for operand in op.operands)
    for op in [each for each in root.walk() if each is not root and each.results and each.has_trait(Pure)][::-1]:
        if not any(used[result] for result in op.results):
            used.subtract(op.operands)
            op.detach()
            op.erase(safe_erase=False)
