"""Local buffers that a stream fills and one loop nest uses up; and the orders that nest may run in."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod

from xdsl.dialects import memref, scf, vector
from xdsl.dialects.builtin import MemRefType, VectorType
from xdsl.ir import BlockArgument, Operation, SSAValue
from xdsl.traits import Pure

from stc.analysis.index_expressions import IndexExpression, Term, variables_of
from stc.analysis.loop_schedules import ACCESSES, MemoryAccess, buffer_of, entry_of
from stc.analysis.loops import Bounds, constant_bounds, is_unrolled
from stc.dialects import stream
from stc.dialects.dataflow import TaskOp
from stc.iteration.index_expressions import variable

_WITHOUT_EFFECT = frozenset({"arith", "math", "vector", "scf"})
"""Dialects of operations that, accesses apart, only compute, or only say what runs when."""


@dataclass(frozen=True)
class Fill:
    """A perfect nest that does nothing but store `width` lanes at a time until a whole buffer is full.

    They come in as many tokens as there are `reads`, of one width, in the order of their lanes. `loops` are the loops of more than
    one iteration, outermost first; `along` says which runs along each dimension of the buffer.
    """

    root: scf.ForOp
    loops: tuple[scf.ForOp, ...]
    reads: tuple[stream.ReadOp, ...]
    buffer: memref.AllocOp
    along: tuple[scf.ForOp | None, ...]
    width: int

    @property
    def shape(self) -> tuple[int, ...]:
        """Of the buffer."""
        assert isinstance(self.buffer.memref.type, MemRefType)
        return self.buffer.memref.type.get_shape()

    @property
    def iterations(self) -> int:
        """How many fill the buffer."""
        return prod(self.shape) // self.width


@dataclass(frozen=True)
class Use:
    """A perfect nest (`loops`, outermost first) that loads each entry of a filled buffer in its innermost body: in one iteration,
    or once in each of the loops `again`.

    `order` are the same loops in the order in which the tokens come; `along` says which of them runs along each dimension of the
    buffer but the last (None: it has one entry). An iteration uses `entries` neighbouring entries, the
    first of them where `moving`, a loop along the last dimension, is (at 0, where it is None).
    """

    loops: tuple[scf.ForOp, ...]
    order: tuple[scf.ForOp, ...]
    moving: scf.ForOp | None
    entries: int
    loads: tuple[memref.LoadOp, ...]
    along: tuple[scf.ForOp | None, ...]
    again: tuple[scf.ForOp, ...] = ()

    @property
    def iterations(self) -> int:
        return prod(_bounds(loop).trip for loop in self.loops)


def fills(task: TaskOp) -> Iterator[tuple[Fill, Use]]:
    """Each fill of `task` whose only use takes, or may take, its iterations in the order of the tokens."""
    users: dict[SSAValue, list[Operation]] = {}
    for op in task.walk():   # not the recorded uses: passes leave some of operations that are gone
        for value in op.operands:
            users.setdefault(value, []).append(op)
    for read in [op for op in task.walk() if isinstance(op, stream.ReadOp)]:
        if (fill := _fill(read, users)) is not None and (use := _use(fill, users)) is not None:
            yield fill, use


# Filling ----------------------------------------------------------------------------------------------------------------


def _fill(first: stream.ReadOp, users: Mapping[SSAValue, Sequence[Operation]]) -> Fill | None:
    """The fill of which `first` brings the first lanes."""
    tokens = _tokens_beside(first, users)
    if not tokens:
        return None
    store = tokens[0].store
    around: list[scf.ForOp] = []
    inside: set[Operation] = {op for token in tokens for op in (token.read, token.store)}
    while isinstance(parent := first.parent_op() if not around else around[0].parent_op(), scf.ForOp):
        if parent.iter_args or is_unrolled(parent) or constant_bounds(parent) is None or _does_more(parent, inside):
            break
        around.insert(0, parent)
        inside = {parent}
    if not around or not isinstance(store.base.owner, memref.AllocOp):
        return None
    loops = tuple(loop for loop in around if _bounds(loop).trip > 1)
    reads = tuple(token.read for token in tokens)
    fill = Fill(around[0], loops, reads, store.base.owner, (), sum(token.width for token in tokens))
    along = _covering(store, fill.shape, loops, fill.width)
    return None if along is None else replace(fill, along=along)


@dataclass(frozen=True)
class _Token:
    """A token of `width` lanes that is read and stored in the same block, and goes nowhere else; `begin`: where to."""

    read: stream.ReadOp
    store: vector.StoreOp
    width: int
    begin: tuple[IndexExpression, ...]

    def is_behind(self, other: _Token, lanes: int) -> bool:
        """Whether it begins so many lanes behind `other`, in the same row."""
        return self.begin[:-1] == other.begin[:-1] and self.begin[-1].minus(other.begin[-1]) == IndexExpression(lanes)


def _tokens_beside(first: stream.ReadOp, users: Mapping[SSAValue, Sequence[Operation]]) -> list[_Token]:
    """The token that `first` reads, and those of other streams, as wide, that its block stores behind it, one behind the other;
    none where it has other accesses to the buffer."""
    token = _stored_token(first, users)
    if token is None or first.parent is None:
        return []
    beside = [op for op in users[token.store.base] if op.parent is first.parent]
    owners = [op.vector.owner for op in beside if isinstance(op, vector.StoreOp)]
    found = [_stored_token(owner, users) for owner in owners if isinstance(owner, stream.ReadOp)]
    tokens = sorted((each for each in found if each is not None), key=lambda each: each.begin[-1].constant)
    in_row = all(each.width == token.width and each.is_behind(token, place * token.width) for place, each in enumerate(tokens))
    apart = len({each.read.stream for each in tokens}) == len(tokens)
    return tokens if len(tokens) == len(beside) and in_row and apart else []


def _stored_token(read: stream.ReadOp, users: Mapping[SSAValue, Sequence[Operation]]) -> _Token | None:
    (store, *others) = users.get(read.result, [None])
    kind = read.result.type
    if others or not isinstance(store, vector.StoreOp) or store.parent is not read.parent or not isinstance(kind, VectorType):
        return None
    return _Token(read, store, prod(kind.get_shape()), entry_of(store, _of_one_iteration(store)).indices)


def _does_more(loop: scf.ForOp, inside: set[Operation]) -> bool:
    """Whether the body of `loop` has an effect that none of `inside` is."""
    return any(op not in inside and not isinstance(op, scf.YieldOp) and not op.has_trait(Pure) for op in loop.body.block.ops)


def _covering(
    store: vector.StoreOp, shape: Sequence[int], loops: Sequence[scf.ForOp], width: int
) -> tuple[scf.ForOp | None, ...] | None:
    """The loop along each dimension, where each store is to entries of its own and all entries are stored to; else None."""
    loop_of: dict[SSAValue, scf.ForOp] = {loop.body.block.args[0]: loop for loop in loops}
    along: list[scf.ForOp | None] = []
    steps = [1] * (len(shape) - 1) + [width]
    for index, extent, step in zip(entry_of(store, _of_one_iteration(store)).indices, shape, steps, strict=True):
        if index == IndexExpression(0) and extent == step:
            along.append(None)
            continue
        loop = _plain_loop(index, loop_of)
        if loop is None or loop in along or _bounds(loop) != Bounds(0, extent, step):
            return None
        along.append(loop)
    return tuple(along) if set(loops) <= set(along) else None


def _of_one_iteration(op: Operation) -> dict[SSAValue, int]:
    """The variables of the loops around `op` that have one value."""
    known: dict[SSAValue, int] = {}
    while (parent := op.parent_op()) is not None:
        if isinstance(parent, scf.ForOp) and (bounds := constant_bounds(parent)) is not None and bounds.trip == 1:
            known[parent.body.block.args[0]] = bounds.lower
        op = parent
    return known


def _plain_loop(index: IndexExpression, loop_of: Mapping[SSAValue, scf.ForOp]) -> scf.ForOp | None:
    """The loop whose variable `index` is, and nothing else."""
    found = [loop_of[value] for value in index.variables() if value in loop_of]
    return found[0] if len(found) == 1 and index == variable(found[0].body.block.args[0]) else None


def _bounds(loop: scf.ForOp) -> Bounds:
    bounds = constant_bounds(loop)
    assert bounds is not None
    return bounds


# Using ------------------------------------------------------------------------------------------------------------------


def _use(fill: Fill, users: Mapping[SSAValue, Sequence[Operation]]) -> Use | None:
    accesses = [op for op in users[fill.buffer.memref] if not fill.root.is_ancestor(op)]
    loads = [op for op in accesses if isinstance(op, memref.LoadOp)]
    nest = _following(fill, loads)
    if len(loads) < len(accesses) or nest is None:
        return None
    loops = perfect_nest(nest)
    if loops is None or any(_bounds(loop).lower for loop in loops):
        return None
    innermost = loops[-1]
    if any(not innermost.body.block.is_ancestor(load) for load in loads):
        return None
    entries = {entry_of(load, {}).indices for load in loads}
    if len(entries) != 1:
        return None
    use = _matched(fill, loops, entries.pop(), tuple(loads))
    return use if use is not None and (use.order == use.loops or _may_reorder(use.loops, use.order)) else None


def _following(fill: Fill, loads: Sequence[memref.LoadOp]) -> scf.ForOp | None:
    """The loop of the same block with all `loads`; None where it, or anything before it, moves tokens of those streams."""
    op = fill.root.next_op
    ports = {read.stream for read in fill.reads}
    while op is not None:
        if isinstance(op, scf.ForOp) and loads and all(op.is_ancestor(load) for load in loads):
            return None if _moves(op, ports) else op
        if _moves(op, ports):
            return None
        op = op.next_op
    return None


def _moves(root: Operation, ports: set[SSAValue]) -> bool:
    return any(not ports.isdisjoint(op.operands) for op in root.walk())


def perfect_nest(root: scf.ForOp) -> tuple[scf.ForOp, ...] | None:
    """`root` and the loops in it down to the one that is pipelined; None where they are no perfect nest of constant bounds."""
    loops: list[scf.ForOp] = []
    loop = root
    while True:
        if loop.iter_args or is_unrolled(loop) or constant_bounds(loop) is None:
            return None
        loops.append(loop)
        inner = [op for op in loop.body.block.ops if isinstance(op, scf.ForOp) and not is_unrolled(op)]
        if not inner:
            break
        if _does_more(loop, {inner[0]}):
            return None
        loop = inner[0]
    turns = (op for op in loop.body.walk() if isinstance(op, scf.ForOp))
    return tuple(loops) if all(is_unrolled(inner) for inner in turns) else None


def _matched(
    fill: Fill, loops: tuple[scf.ForOp, ...], indices: Sequence[IndexExpression], loads: tuple[memref.LoadOp, ...]
) -> Use | None:
    """The use where iterations take entries in the order of the tokens, whole tokens or a part of one; those that use entries
    again come behind."""
    loop_of: dict[SSAValue, scf.ForOp] = {loop.body.block.args[0]: loop for loop in loops}
    partner: dict[scf.ForOp, scf.ForOp] = {}
    for index, extent, filling in zip(indices[:-1], fill.shape[:-1], fill.along[:-1], strict=True):
        if filling is None:
            continue
        loop = _plain_loop(index, loop_of)
        if loop is None or _bounds(loop) != Bounds(0, extent, 1):
            return None
        partner[filling] = loop
    moving = [loop_of[value] for value in indices[-1].variables() if value in loop_of]
    if len(moving) > 1:
        return None
    last, filling = (moving[0] if moving else None), fill.along[-1]
    entries = fill.shape[-1] if last is None else _bounds(last).step
    if last is not None and (_bounds(last).upper != fill.shape[-1] or not _is_beside(indices[-1], last, entries)):
        return None
    if fill.shape[-1] % entries:
        return None
    if max(entries, fill.width) % min(entries, fill.width):
        return None
    if entries != fill.width and filling is not None and filling is not fill.loops[-1]:
        return None
    if entries < fill.width < fill.shape[-1] and fill.width & (fill.width - 1):
        return None   # within a token would be a remainder, by a divider
    if last is not None and filling is not None:
        partner[filling] = last
    order = [partner[filling] for filling in fill.loops if filling in partner]
    if last is not None and last not in order:
        order.append(last)
    if len(set(order)) < len(order):
        return None
    along = tuple(partner[loop] if loop is not None else None for loop in fill.along[:-1])
    others = [loop for loop in loops if loop not in order]
    if again := tuple(loop for loop in others if _bounds(loop).trip > 1):
        in_turn = [loop for loop in loops if loop in order] == order
        return Use(loops, loops, last, entries, loads, along, again) if in_turn else None
    return Use(loops, (*others, *order), last, entries, loads, along)


def _is_beside(index: IndexExpression, loop: scf.ForOp, entries: int) -> bool:
    """Whether an index is `loop`'s variable plus less than `entries`."""
    lanes = index.minus(variable(loop.body.block.args[0]))
    ranges = {value: _range(value) for value in lanes.variables()}
    known = {value: found for value, found in ranges.items() if found is not None}
    found = lanes.range(known) if len(known) == len(ranges) else None
    return found is not None and found[0] >= 0 and found[1] < entries


# Reordering -------------------------------------------------------------------------------------------------------------


def _may_reorder(loops: Sequence[scf.ForOp], order: Sequence[scf.ForOp]) -> bool:
    """Whether each entry of memory sees the same accesses in the same order, if the nest takes its iterations by `order`.

    Iterations that meet in an entry agree in all loops that the entry is told apart by; so those that are left must keep their
    order among themselves. Tokens, and anything else with an effect, must keep theirs entirely.
    """
    innermost = loops[-1]
    accesses: dict[SSAValue, list[MemoryAccess]] = {}
    for op in innermost.body.walk():
        if isinstance(op, ACCESSES):
            accesses.setdefault(buffer_of(op), []).append(op)
        elif op.dialect_name() not in _WITHOUT_EFFECT:
            return False
    stored = (found for found in accesses.values() if any(not op.results for op in found))
    for found in stored:
        entries = {entry_of(op, {}).indices for op in found}
        if len(entries) != 1 or any(isinstance(op, vector.LoadOp | vector.StoreOp) for op in found):
            return False
        apart = _told_apart(entries.pop(), loops) | {loop for loop in loops if _bounds(loop).trip == 1}
        if [loop for loop in loops if loop not in apart] != [loop for loop in order if loop not in apart]:
            return False
    return True


def _told_apart(indices: Sequence[IndexExpression], loops: Sequence[scf.ForOp]) -> set[scf.ForOp]:
    """The loops in which two iterations agree wherever all `indices` agree: each the only one that moves one of the indices, by
    steps that are wider than what unrolled loops add to it."""
    own: dict[SSAValue, scf.ForOp] = {loop.body.block.args[0]: loop for loop in loops}
    found: set[scf.ForOp] = set()
    for index in indices:
        here = {term: factor for term, factor in index.terms if any(_is_inside(value, loops[0]) for value in variables_of(term))}
        moving = [own[term] for term in here if isinstance(term, SSAValue) and term in own]
        lanes = {term: _range(term) for term in here if not isinstance(term, SSAValue) or term not in own}
        if len(moving) != 1 or None in lanes.values():
            continue
        spread = sum(abs(here[term]) * (span[1] - span[0]) for term, span in lanes.items() if span is not None)
        if spread < abs(here[moving[0].body.block.args[0]]) * _bounds(moving[0]).step:
            found.add(moving[0])
    return found


def _is_inside(value: SSAValue, loop: scf.ForOp) -> bool:
    """Whether a value comes into being in `loop`."""
    return loop.is_ancestor(value.owner)


def _range(term: Term) -> tuple[int, int] | None:
    """The values of an unrolled loop's variable, None of anything else."""
    loop = term.owner.parent_op() if isinstance(term, BlockArgument) and term.index == 0 else None
    bounds = constant_bounds(loop) if isinstance(loop, scf.ForOp) and is_unrolled(loop) else None
    return None if bounds is None or bounds.trip == 0 else (bounds.lower, bounds.lower + (bounds.trip - 1) * bounds.step)
