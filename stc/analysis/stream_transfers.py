"""Local buffers between a stream and one loop nest: filled by the stream and used up by the nest, or written by the nest and
drained into the stream; and the orders that nest may run in."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, takewhile
from math import prod
from typing import TypeAlias

from xdsl.dialects import memref, scf, vector
from xdsl.dialects.builtin import MemRefType, VectorType
from xdsl.ir import BlockArgument, Operation, SSAValue
from xdsl.traits import Pure

from stc.analysis.index_expressions import IndexExpression, Term, variables_of
from stc.analysis.loop_schedules import ACCESSES, MemoryAccess, buffer_of, entry_of
from stc.analysis.loops import Bounds, constant_bounds, is_unrolled, loops_between
from stc.dialects import stream
from stc.dialects.dataflow import TaskOp
from stc.iteration.index_expressions import variable

_WITHOUT_EFFECT = frozenset({"arith", "math", "vector", "scf"})
"""Dialects of operations that, accesses apart, only compute, or only say what runs when."""

Users: TypeAlias = Mapping[SSAValue, Sequence[Operation]]


@dataclass(frozen=True)
class Transfer:
    """A perfect nest that does nothing but move `width` lanes at a time between streams and a whole buffer: into it (a fill, where
    `moves` are reads) or out of it (a drain, where they are writes).

    An iteration moves as many tokens as there are `moves`, of one width, in the order of their lanes. `loops` are the loops of more
    than one iteration, outermost first; `along` says which runs along each dimension of the buffer.
    """

    root: scf.ForOp
    loops: tuple[scf.ForOp, ...]
    moves: tuple[stream.ReadOp | stream.WriteOp, ...]
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
        """How many move the whole buffer."""
        return prod(self.shape) // self.width


@dataclass(frozen=True)
class Use:
    """A perfect nest (`loops`, outermost first) that accesses each entry of a buffer in its innermost body: in one iteration, or
    once in each of the loops `again`.

    `order` are the same loops in the order in which the tokens are moved; `along` says which of them runs along each dimension of
    the buffer but the last (None: it has one entry). An iteration accesses `entries` neighbouring entries, the
    first of them where `moving`, a loop along the last dimension, is (at 0, where it is None). `is_sum`: the nest
    of a drain loads the entries that it stores, too.
    """

    loops: tuple[scf.ForOp, ...]
    order: tuple[scf.ForOp, ...]
    moving: scf.ForOp | None
    entries: int
    accesses: tuple[memref.LoadOp | memref.StoreOp, ...]
    along: tuple[scf.ForOp | None, ...]
    again: tuple[scf.ForOp, ...] = ()
    is_sum: bool = False

    @property
    def iterations(self) -> int:
        return prod(_bounds(loop).trip for loop in self.loops)

    @property
    def last_again(self) -> list[tuple[SSAValue, int]]:
        """The variables of the loops `again`, and what they are when an entry is accessed for the last time."""
        return [(loop.body.block.args[0], _bounds(loop).last) for loop in self.again]


def fills(task: TaskOp) -> Iterator[tuple[Transfer, Use]]:
    """Each fill of `task` whose only use takes, or may take, its iterations in the order of the tokens."""
    users = users_of_values(task)
    for read in [op for op in task.walk() if isinstance(op, stream.ReadOp)]:
        if (fill := transfer_of(read, users)) is not None and (use := _use(fill, users)) is not None:
            yield fill, use


def drains(task: TaskOp) -> Iterator[tuple[Transfer, Use]]:
    """Each drain of `task` whose buffer one nest stores to in the order of the tokens: each entry once, or once in each of the
    loops `again`, in whose last iterations it is complete (a sum)."""
    users = users_of_values(task)
    for write in [op for op in task.walk() if isinstance(op, stream.WriteOp)]:
        if (drain := transfer_of(write, users)) is not None and (use := _stores(drain, users)) is not None:
            yield drain, use


def users_of_values(task: TaskOp) -> dict[SSAValue, list[Operation]]:
    """Not the recorded uses: passes leave some of operations that are gone."""
    users: dict[SSAValue, list[Operation]] = {}
    for op in task.walk():
        for value in op.operands:
            users.setdefault(value, []).append(op)
    return users


# Transfers --------------------------------------------------------------------------------------------------------------


def transfer_of(first: stream.ReadOp | stream.WriteOp, users: Users) -> Transfer | None:
    """The transfer of which `first` moves the first lanes."""
    tokens = _tokens_beside(first, users)
    if not tokens:
        return None
    access = tokens[0].access
    around: list[scf.ForOp] = []
    inside: set[Operation] = {op for token in tokens for op in (token.move, token.access)}
    while isinstance(parent := first.parent_op() if not around else around[0].parent_op(), scf.ForOp):
        bounds = constant_bounds(parent)
        if parent.iter_args or is_unrolled(parent) or bounds is None or bounds.trip == 0 or _does_more(parent, inside):
            break
        around.insert(0, parent)
        inside = {parent}
    if not around or not isinstance(access.base.owner, memref.AllocOp):
        return None
    loops = tuple(loop for loop in around if _bounds(loop).trip > 1)
    moves = tuple(token.move for token in tokens)
    transfer = Transfer(around[0], loops, moves, access.base.owner, (), sum(token.width for token in tokens))
    along = _covering(access, transfer.shape, loops, transfer.width)
    return None if along is None else replace(transfer, along=along)


def whole_token(move: stream.ReadOp | stream.WriteOp, users: Users) -> vector.StoreOp | vector.LoadOp | None:
    """The access by which `move` fills or drains all of a buffer at once, in no loop of its own; None where it does not."""
    token = _token(move, users)
    if token is None or not isinstance(buffer := token.access.base.owner, memref.AllocOp):
        return None
    assert isinstance(buffer.memref.type, MemRefType)
    is_whole = token.width == prod(buffer.memref.type.get_shape()) and all(at == IndexExpression(0) for at in token.begin)
    return token.access if is_whole else None


@dataclass(frozen=True)
class _Token:
    """A token of `width` lanes that is read and stored, or loaded and written, in the same block; `begin`: where in the buffer."""

    move: stream.ReadOp | stream.WriteOp
    access: vector.StoreOp | vector.LoadOp
    width: int
    begin: tuple[IndexExpression, ...]

    def is_behind(self, other: _Token, lanes: int) -> bool:
        """Whether it begins so many lanes behind `other`, in the same row."""
        return self.begin[:-1] == other.begin[:-1] and self.begin[-1].minus(other.begin[-1]) == IndexExpression(lanes)


def _tokens_beside(first: stream.ReadOp | stream.WriteOp, users: Users) -> list[_Token]:
    """The token that `first` moves, and those of other streams, as wide, that its block moves beside it, one behind the other;
    none where it has other accesses to the buffer."""
    token = _token(first, users)
    if token is None or first.parent is None:
        return []
    beside = [op for op in users[token.access.base] if op.parent is first.parent]
    found = [_token(move, users) for access in beside for move in _moves_of(access, users) if isinstance(move, type(first))]
    tokens = sorted((each for each in found if each is not None), key=lambda each: each.begin[-1].constant)
    in_row = all(each.width == token.width and each.is_behind(token, place * token.width) for place, each in enumerate(tokens))
    apart = len({each.move.stream for each in tokens}) == len(tokens)
    return tokens if len(tokens) == len(beside) and in_row and apart else []


def _moves_of(access: Operation, users: Users) -> Sequence[Operation]:
    """What brings the token that `access` stores, or takes the one that it loads."""
    match access:
        case vector.StoreOp():
            return [access.vector.owner] if isinstance(access.vector.owner, Operation) else []
        case vector.LoadOp():
            return users.get(access.result, [])
        case _:
            return []


def _token(move: Operation, users: Users) -> _Token | None:
    """What `move` moves, where nothing else happens to it."""
    match move:
        case stream.ReadOp():
            token = move.result
            access = next(iter(users.get(token, [])), None)
        case stream.WriteOp():
            token = move.value
            access = token.owner
        case _:
            return None
    if len(users.get(token, [])) != 1 or not isinstance(access, vector.StoreOp | vector.LoadOp) or access.parent is not move.parent:
        return None
    if not isinstance(token.type, VectorType):
        return None
    return _Token(move, access, prod(token.type.get_shape()), entry_of(access, _of_one_iteration(access)).indices)


def _does_more(loop: scf.ForOp, inside: set[Operation]) -> bool:
    """Whether the body of `loop` has an effect that none of `inside` is."""
    return any(op not in inside and not isinstance(op, scf.YieldOp) and not op.has_trait(Pure) for op in loop.body.block.ops)


def _covering(
    access: vector.StoreOp | vector.LoadOp, shape: Sequence[int], loops: Sequence[scf.ForOp], width: int
) -> tuple[scf.ForOp | None, ...] | None:
    """The loop along each dimension, where each access is to entries of its own and all entries are accessed; else None."""
    loop_of: dict[SSAValue, scf.ForOp] = {loop.body.block.args[0]: loop for loop in loops}
    along: list[scf.ForOp | None] = []
    steps = [1] * (len(shape) - 1) + [width]
    for index, extent, step in zip(entry_of(access, _of_one_iteration(access)).indices, shape, steps, strict=True):
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


def _use(fill: Transfer, users: Users) -> Use | None:
    """The nest behind `fill` that loads from its buffer."""
    accesses = _other_accesses(fill, users)
    loads = tuple(op for op in accesses if isinstance(op, memref.LoadOp))
    nest = _nest_beside(fill, loads)
    if len(loads) < len(accesses) or nest is None:
        return None
    loops = perfect_nest(nest)
    use = None if loops is None else _accessed(fill, loops, loads)
    return use if use is not None and (use.order == use.loops or _may_reorder(use.loops, use.order)) else None


def _stores(drain: Transfer, users: Users) -> Use | None:
    """The nest in front of `drain` that stores to its buffer, in one place; what loads from there is what it adds to."""
    others = _other_accesses(drain, users)
    accesses = tuple(op for op in others if isinstance(op, memref.LoadOp | memref.StoreOp))
    stores = [op for op in accesses if isinstance(op, memref.StoreOp)]
    if len(stores) != 1 or len(accesses) < len(others):
        return None
    store, nest = stores[0], _nest_beside(drain, accesses)
    loops = None if nest is None else loops_around(store, nest)
    if loops is None or (use := _accessed(drain, loops, accesses)) is None:
        return None
    use = replace(use, accesses=(store,), is_sum=len(accesses) > 1)
    in_order = [loop for loop in use.order if _bounds(loop).trip > 1] == [loop for loop in use.loops if _bounds(loop).trip > 1]
    return use if in_order and _stores_each_entry(store, use) else None


def _stores_each_entry(store: memref.StoreOp, use: Use) -> bool:
    """Whether an iteration stores to all its entries, one after the other, whatever the data."""
    lanes: list[scf.ForOp] = []
    parent = store.parent_op()
    while parent is not use.loops[-1]:
        if not isinstance(parent, scf.ForOp):
            return False
        lanes.append(parent)
        parent = parent.parent_op()
    position = entry_of(store, {lane.body.block.args[0]: 0 for lane in lanes if _bounds(lane) == Bounds(0, 1, 1)}).indices[-1]
    if use.moving is not None:
        position = position.minus(variable(use.moving.body.block.args[0]))
    several = [lane for lane in lanes if _bounds(lane) != Bounds(0, 1, 1)]
    if use.entries == 1:
        return not several and position == IndexExpression(0)
    is_each = [_bounds(lane) for lane in several] == [Bounds(0, use.entries, 1)]
    return is_each and position == variable(several[0].body.block.args[0])


def _other_accesses(transfer: Transfer, users: Users) -> list[Operation]:
    """What accesses the buffer of `transfer`, itself left out."""
    return [op for op in users[transfer.buffer.memref] if not transfer.root.is_ancestor(op)]


def _accessed(
    transfer: Transfer, loops: tuple[scf.ForOp, ...], accesses: tuple[memref.LoadOp | memref.StoreOp, ...]
) -> Use | None:
    """What `accesses` do in a nest that has all of them in its innermost body, and where all are to the same entries."""
    if any(_bounds(loop).lower or not _bounds(loop).trip for loop in loops):
        return None
    if any(not loops[-1].body.block.is_ancestor(access) for access in accesses):
        return None
    entries = {entry_of(access, {}).indices for access in accesses}
    return _matched(transfer, loops, entries.pop(), accesses) if len(entries) == 1 else None


def _nest_beside(transfer: Transfer, accesses: Sequence[Operation]) -> scf.ForOp | None:
    """The loop of the same block with all `accesses`, behind a fill or in front of a drain; None where it, or anything in between,
    moves tokens of those streams."""
    is_fill = isinstance(transfer.moves[0], stream.ReadOp)
    ports = {move.stream for move in transfer.moves}
    op = transfer.root.next_op if is_fill else transfer.root.prev_op
    while op is not None:
        if isinstance(op, scf.ForOp) and accesses and all(op.is_ancestor(access) for access in accesses):
            return None if _moves(op, ports) else op
        if _moves(op, ports):
            return None
        op = op.next_op if is_fill else op.prev_op
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
    return tuple(loops) if _is_pipelined(loop) else None


def _is_pipelined(loop: scf.ForOp) -> bool:
    """Whether all loops inside are unrolled."""
    return all(is_unrolled(inner) for inner in loop.body.walk() if isinstance(inner, scf.ForOp))


def loops_around(access: Operation, root: scf.ForOp) -> tuple[scf.ForOp, ...] | None:
    """`root` and the loops in it down to the pipelined one with `access`; None where there is none, bounds are not constant, or
    any is under a condition."""
    around = loops_between(access, root)
    if any(inner.parent_op() is not outer for outer, inner in pairwise(around)):
        return None
    loops = tuple(takewhile(lambda loop: not is_unrolled(loop), around))
    if not loops or any(loop.iter_args or constant_bounds(loop) is None for loop in loops):
        return None
    return loops if _is_pipelined(loops[-1]) else None


def _matched(
    transfer: Transfer,
    loops: tuple[scf.ForOp, ...],
    indices: Sequence[IndexExpression],
    accesses: tuple[memref.LoadOp | memref.StoreOp, ...],
) -> Use | None:
    """The use where iterations access entries in the order of the tokens, whole tokens or a part of one; those that access entries
    again come behind."""
    loop_of: dict[SSAValue, scf.ForOp] = {loop.body.block.args[0]: loop for loop in loops}
    partner: dict[scf.ForOp, scf.ForOp] = {}
    for index, extent, moved in zip(indices[:-1], transfer.shape[:-1], transfer.along[:-1], strict=True):
        if moved is None:
            continue
        loop = _plain_loop(index, loop_of)
        if loop is None or _bounds(loop) != Bounds(0, extent, 1):
            return None
        partner[moved] = loop
    moving = [loop_of[value] for value in indices[-1].variables() if value in loop_of]
    if len(moving) > 1:
        return None
    last, moved = (moving[0] if moving else None), transfer.along[-1]
    entries = transfer.shape[-1] if last is None else _bounds(last).step
    if last is not None and (_bounds(last).upper != transfer.shape[-1] or not _is_beside(indices[-1], last, entries)):
        return None
    if transfer.shape[-1] % entries:
        return None
    if max(entries, transfer.width) % min(entries, transfer.width):
        return None
    if entries != transfer.width and moved is not None and moved is not transfer.loops[-1]:
        return None
    if entries < transfer.width < transfer.shape[-1] and transfer.width & (transfer.width - 1):
        return None   # within a token would be a remainder, by a divider
    if last is not None and last in partner.values():
        return None   # a diagonal
    if last is not None and moved is not None:
        partner[moved] = last
    order = [partner[moved] for moved in transfer.loops if moved in partner]
    if last is not None and last not in order:
        order.append(last)
    if len(set(order)) < len(order):
        return None
    along = tuple(partner[loop] if loop is not None else None for loop in transfer.along[:-1])
    others = [loop for loop in loops if loop not in order]
    if again := tuple(loop for loop in others if _bounds(loop).trip > 1):
        in_turn = [loop for loop in loops if loop in order] == order
        return Use(loops, loops, last, entries, accesses, along, again) if in_turn else None
    return Use(loops, (*others, *order), last, entries, accesses, along)


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
    order among themselves; none meet in a buffer that each allocates. Tokens, and anything else with an effect, must keep theirs
    entirely.
    """
    innermost = loops[-1]
    accesses: dict[SSAValue, list[MemoryAccess]] = {}
    for op in innermost.body.walk():
        if isinstance(op, ACCESSES):
            if not innermost.is_ancestor(buffer_of(op).owner):
                accesses.setdefault(buffer_of(op), []).append(op)
        elif op.dialect_name() not in _WITHOUT_EFFECT and not isinstance(op, memref.AllocOp):
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
    return None if bounds is None or bounds.trip == 0 else (bounds.lower, bounds.last)
