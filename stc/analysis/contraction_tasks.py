"""Tasks that do nothing but compute sums of products, one sum of each lane after the other: which may share their multipliers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from xdsl.dialects import arith, memref, scf, vector
from xdsl.dialects.builtin import IntegerAttr
from xdsl.dialects.linalg.ops import FillOp, GenericOp
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.traits import Pure

from stc.analysis.generic_loops import GenericLoops, shape_of
from stc.analysis.loops import constant_bounds, is_before
from stc.analysis.stream_transfers import Users, transfer_of, users_of_values, whole_token
from stc.dialects.dataflow import TaskOp, YieldOp
from stc.dialects.facts import SHARED
from stc.dialects.stream import ReadOp, WriteOp

_WITHOUT_EFFECT = (TaskOp, YieldOp, scf.ForOp, scf.YieldOp, memref.AllocOp)
"""What only says where anything happens."""


@dataclass(frozen=True)
class ContractionTask:
    """A `task` that computes sums of `terms` products in each of `lanes`, as `generic` says, beginning with `zero`; again in each
    iteration of its loops `around`, outermost first.

    In each iteration of the innermost it takes a word of `weights` for each term, and sends the `sums`, so many lanes in a token as
    `sent`, to one stream or to each of several in turn. The other `factors`, one for each term, come in tokens of `taken`; they are
    read anew in each iteration of the first `fresh` loops.
    """

    task: TaskOp
    generic: GenericOp
    zero: IntegerAttr
    around: tuple[scf.ForOp, ...]
    fresh: int
    factors: SSAValue
    taken: int
    weights: SSAValue
    sums: tuple[SSAValue, ...]
    sent: int

    @property
    def terms(self) -> int:
        return GenericLoops(self.generic).terms

    @property
    def lanes(self) -> int:
        return GenericLoops(self.generic).sums

    @property
    def trips(self) -> list[int]:
        """Of the loops around."""
        return [0 if (bounds := constant_bounds(loop)) is None else bounds.trip for loop in self.around]

    @property
    def count(self) -> int:
        """How often it computes a sum of each lane."""
        return prod(self.trips)

    @property
    def kinds(self) -> tuple[Attribute, ...]:
        """The types of a factor, a weight, and a sum."""
        return tuple(argument.type for argument in self.generic.body.block.args)

    def is_like(self, other: ContractionTask) -> bool:
        """Whether the same hardware computes either."""
        same = (self.terms, self.lanes, self.kinds, self.zero) == (other.terms, other.lanes, other.kinds, other.zero)
        return same and self.generic.body.is_structurally_equivalent(other.generic.body)


def contraction_task(task: TaskOp) -> ContractionTask | None:
    """`task` as one, None where it is none: where anything else happens in it, or operands come in another order."""
    generics = [op for op in task.walk() if isinstance(op, GenericOp)]
    fills = [op for op in task.walk() if isinstance(op, FillOp)]
    if len(generics) != 1 or len(fills) != 1 or not SHARED.on(generics[0]) or len(generics[0].operands) != 3:
        return None
    generic, zero, around = generics[0], fills[0].inputs[0].owner, _loops_around(generics[0], task)
    moves = _transfers(task)
    if around is None or not isinstance(zero, arith.ConstantOp) or not isinstance(zero.value, IntegerAttr):
        return None
    if set(moves) != set(generic.operands) or fills[0].outputs[0] is not generic.outputs[0]:
        return None
    factors, weights, sums = (moves[buffer] for buffer in generic.operands)
    blocks: list[Block | None] = [task.body.block, *(loop.body.block for loop in around)]
    if factors.root.parent not in blocks or any(op.parent is not blocks[-1] for op in (fills[0], weights.root, sums.root)):
        return None
    if len(factors.streams) != 1 or len(weights.streams) != 1:
        return None
    before = (factors.root, weights.root, fills[0])
    if not all(is_before(op, generic) for op in before) or not generic.is_before_in_block(sums.root):
        return None
    if _does_more(task, generic, fills[0]) or not _in_order(generic, (factors, weights, sums)):
        return None
    streams = dict[SSAValue, SSAValue](zip(task.body.block.args, (*task.ins, *task.outs), strict=True))
    return ContractionTask(
        task=task,
        generic=generic,
        zero=zero.value,
        around=around,
        fresh=blocks.index(factors.root.parent),
        factors=streams[factors.streams[0]],
        taken=factors.width,
        weights=streams[weights.streams[0]],
        sums=tuple(streams[port] for port in sums.streams),
        sent=sums.width // len(sums.streams),
    )


def _loops_around(generic: GenericOp, task: TaskOp) -> tuple[scf.ForOp, ...] | None:
    """The loops around `generic`, outermost first; None where something else is around it."""
    loops: list[scf.ForOp] = []
    parent = generic.parent_op()
    while parent is not task:
        if not isinstance(parent, scf.ForOp) or parent.iter_args or constant_bounds(parent) is None:
            return None
        loops.insert(0, parent)
        parent = parent.parent_op()
    return tuple(loops)


def _does_more(task: TaskOp, generic: GenericOp, fill: FillOp) -> bool:
    """Whether anything has an effect but the sums, their zero, and the moves of tokens, each with its access to a buffer."""
    inside = {op for root in (generic, fill) for op in root.walk()}
    others = (op for op in task.walk() if op not in inside and not isinstance(op, _WITHOUT_EFFECT))
    effects = [op for op in others if not op.has_trait(Pure, value_if_unregistered=False)]
    moves = [op for op in effects if isinstance(op, ReadOp | WriteOp)]
    accesses = [op for op in effects if isinstance(op, vector.LoadOp | vector.StoreOp)]
    return len(accesses) != len(moves) or len(accesses) + len(moves) < len(effects)


@dataclass(frozen=True)
class _Moved:
    """A whole buffer that `root`, a loop nest or the access to all of it at once, fills from `streams` or drains into them, a token
    of each in turn, `width` lanes in all."""

    root: Operation
    streams: tuple[SSAValue, ...]
    width: int
    loops: Sequence[scf.ForOp] = ()
    along: Sequence[scf.ForOp | None] = ()


def _transfers(task: TaskOp) -> dict[SSAValue, _Moved]:
    """By buffer what fills or drains all of it; none where anything else moves tokens."""
    users = users_of_values(task)
    moves = [op for op in task.walk() if isinstance(op, ReadOp | WriteOp)]
    by_buffer = dict(found for op in moves if (found := _moved(op, users)) is not None)
    return by_buffer if sum(len(moved.streams) for moved in by_buffer.values()) == len(moves) else {}


def _moved(op: ReadOp | WriteOp, users: Users) -> tuple[SSAValue, _Moved] | None:
    """The buffer that `op` moves a part of, or all, and how."""
    transfer = transfer_of(op, users)
    if transfer is not None:
        streams = tuple(move.stream for move in transfer.moves)
        return transfer.buffer.memref, _Moved(transfer.root, streams, transfer.width, transfer.loops, transfer.along)
    access = whole_token(op, users)
    return None if access is None else (access.base, _Moved(access, (op.stream,), prod(shape_of(access.base.type))))


def _in_order(generic: GenericOp, transfers: Sequence[_Moved]) -> bool:
    """Whether all operands come row by row, the terms in the same order, all lanes of a term in a word."""
    loops = GenericLoops(generic)
    factors, weights, sums = ([loop for loop in dims if loops.extents[loop] > 1] for dims in loops.operand_dims)
    lanes = [loop for loop in loops.parallels if loops.extents[loop] > 1]
    row_by_row = all(list(each.loops) == [loop for loop in each.along if loop in each.loops] for each in transfers)
    in_words = len(lanes) == 1 and sums == lanes and weights == [*factors, *lanes] and set(factors) <= set(loops.reductions)
    return row_by_row and in_words and transfers[1].width == loops.extents[lanes[0]]
