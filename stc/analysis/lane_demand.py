"""How many lanes per cycle the computations at the two ends of an itensor ask for, from the schedules inside the tasks."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from math import gcd

from xdsl.dialects import scf, tensor
from xdsl.dialects.linalg.ops import GenericOp
from xdsl.ir import Block, BlockArgument, Operation, OpResult, SSAValue, Use

from stc.analysis.generic_loops import GenericLoops, shape_of
from stc.analysis.kernel_memory import bits_of
from stc.dialects.dataflow import KernelOp, OwnKernelOp, TaskOp, YieldOp
from stc.dialects.dataflow.boundary import stored_type
from stc.dialects.facts import SCHEDULE
from stc.dialects.itensor import (
    CastOp,
    ChunkOp,
    ConcatOp,
    ConverterOp,
    ForkOp,
    ItensorType,
    MergeOp,
    ReadOp,
    ReassociateOp,
    SplitOp,
    WriteOp,
)
from stc.dialects.updates import is_inserted, is_updated
from stc.iteration.normal_form import same_sequence
from stc.iteration.vectorize import smallest_divisor, vectorized

ROUTING = (CastOp, ForkOp, ReassociateOp, ChunkOp, ConcatOp, SplitOp, MergeOp)
"""Ops whose operands and results carry tokens of one width."""


@dataclass
class LaneDemand:
    """Which itensors of `kernel` must have tokens of one width, and how wide the tasks at their ends want them.

    A port wants the lanes of its operand's vector shape, if the schedule has one; else the unroll factor of the loop along the
    operand's last dimension, and at least `default`. What n streams are joined to (`concat`, `merge`) passes one token a cycle of
    all n: a port that writes one of them wants n times its unroll factor, or the next number that divides the last extent, unless
    the schedule has another width than `default`, which `propagate-orders` writes where nobody asked for one. So does a port that
    reads one of n streams that one is taken apart to (`chunk`), also behind a converter that changes no order. A stream is as wide
    as all its ports want: of unequal wishes the least, since nothing is gained by bringing more than the other end takes. But sums
    leave with their last addition, as many at once as are added (`fuse-writes`): so wide are their tokens, where that is a power of
    two or a row, a multiple of what is wanted, and no more than `bits`. What no port has a wish for is as wide as what a converter
    makes of it, the least of several, where that is then the same sequence. The tokens of an own kernel are what its C++ says. What
    one of `widened` joins is as wide as who reads all of it wants, whatever those want who read the same streams before.
    """

    kernel: KernelOp
    default: int
    bits: int = 0
    widened: Collection[ConcatOp] = ()
    _fixed: dict[SSAValue, int] = field(default_factory=dict[SSAValue, int])
    _parent: dict[SSAValue, SSAValue] = field(default_factory=dict[SSAValue, SSAValue])
    _required: dict[SSAValue, int] = field(default_factory=dict[SSAValue, int])
    _extents: dict[SSAValue, int] = field(default_factory=dict[SSAValue, int])
    _joined: dict[SSAValue, int] = field(default_factory=dict[SSAValue, int])
    _made: dict[SSAValue, int] = field(default_factory=dict[SSAValue, int])
    _summed: dict[SSAValue, int] = field(default_factory=dict[SSAValue, int])
    _adopted: dict[SSAValue, int] = field(default_factory=dict[SSAValue, int])
    _updated: set[SSAValue] = field(init=False)

    def __post_init__(self) -> None:
        for op in self.kernel.walk():
            if op is not self.kernel and op not in self.widened:
                self._unite_ports(op)
        for value in {*self._parent, *self._parent.values()}:
            root = self._root(value)
            self._extents[root] = gcd(self._extents.get(root, 0), _last_extent(value))
        for op in self.kernel.body.block.ops:
            if isinstance(op, ConcatOp | MergeOp) and op not in self.widened:
                joined = self._root(op.result)
                self._joined[joined] = max(_streams_of(op.result), self._joined.get(joined, 1))
        for op in self.kernel.walk():
            if isinstance(op, ReadOp | WriteOp):
                self._require(op)
            elif isinstance(op, OwnKernelOp):
                self._fixed |= {self._root(value): token_lanes(value) for value in op.operands}
        for op in reversed(list(self.kernel.body.block.ops)):
            if isinstance(op, ConverterOp):
                self._as_behind(op)
        ports = zip(self.kernel.inputs, self.kernel.arguments, strict=True)
        results = zip(self.kernel.outputs, self.kernel.terminator.arguments, strict=True)
        self._updated = {self._root(inside) for outside, inside in ports if is_updated(outside)}
        self._updated |= {self._root(inside) for outside, inside in results if is_inserted(outside)}

    def lanes(self, value: SSAValue) -> int:
        """The width wanted of the tokens of an itensor inside the kernel."""
        root = self._root(value)
        return self._fixed.get(root) or self._with_sums(root, self._required.get(root, self.default))

    def is_updated(self, value: SSAValue) -> bool:
        """Whether its tokens lie in a tensor that kernels update, which others read that know nothing of this one's wishes."""
        return self._root(value) in self._updated

    def extent(self, value: SSAValue) -> int:
        """What the width of its tokens must divide: the last extents of all elements with tokens of that width."""
        return self._extents.get(self._root(value), _last_extent(value))

    def _with_sums(self, root: SSAValue, lanes: int) -> int:
        """As many as sums are added at once, where whoever takes fewer finds its part of a token without a divider."""
        summed = self._summed.get(root, 1)
        return summed if summed > lanes and _is_found(lanes, summed, self._extents[root]) else lanes

    def _require(self, access: ReadOp | WriteOp) -> None:
        """What the computations behind it want, where a schedule says."""
        stream = self._root(access.source if isinstance(access, ReadOp) else access.destination)
        wanted = self._wanted_to_write(access, stream) if isinstance(access, WriteOp) else self._wanted_to_read(access, stream)
        if wanted is not None:
            self._required[stream] = min(wanted, self._required.get(stream, wanted))

    def _wanted_to_read(self, access: ReadOp, stream: SSAValue) -> int | None:
        own, beside = required_lanes(access, self.default, 1), _streams_beside(access.source)
        if own is None or beside == 1:
            return own
        of_all = smallest_divisor(self._extents[stream], required_lanes(access, self.default, beside) or own)
        is_whole = of_all & (of_all - 1) == 0 or of_all <= _most_lanes(access, self.bits)  # else it is cut, wherever that is
        return of_all if is_whole and _is_found(own, of_all, self._extents[stream]) else own

    def _wanted_to_write(self, access: WriteOp, stream: SSAValue) -> int | None:
        """Notes, too, what is made at once, and how much of that are sums."""
        joined = self._joined.get(stream, 1)
        if (wanted := required_lanes(access, self.default, joined)) is None:
            return None
        summed = _summed_lanes(access, self.bits) or 1
        made = required_lanes(access, 1, joined) or 1
        self._summed[stream] = max(summed, self._summed.get(stream, 1))
        self._made[stream] = max(made, summed, self._made.get(stream, 1))
        return wanted if joined == 1 else smallest_divisor(self._extents[stream], wanted)

    def _as_behind(self, converter: ConverterOp) -> None:
        """Let what a converter reads have the tokens of what it makes, where it is the same sequence then, and they are narrower,
        or no computation has a wish before it."""
        stream, lanes = self._root(converter.source), self.lanes(converter.result)
        is_free = stream not in self._required or stream in self._adopted
        lanes = min(lanes, self._adopted.get(stream, lanes))
        is_narrower = stream in self._made and self._made[stream] <= lanes < self.lanes(converter.source)
        if stream in self._fixed or not (is_narrower or (is_free and lanes > self.default)):
            return
        whole = all(self.extent(value) % lanes == 0 for value in (converter.source, converter.result))
        if whole and _is_one_sequence(converter, lanes):
            self._required[stream] = lanes
            if is_free:
                self._adopted[stream] = lanes

    # Values of one stream ---------------------------------------------------------------------------------------------

    def _unite_ports(self, op: Operation) -> None:
        for first, second in _same_stream(op):
            if isinstance(first.type, ItensorType) and isinstance(second.type, ItensorType):
                self._parent[self._root(first)] = self._root(second)

    def _root(self, value: SSAValue) -> SSAValue:
        while (parent := self._parent.get(value, value)) is not value:
            value = parent
        return value


def _same_stream(op: Operation) -> Iterator[tuple[SSAValue, SSAValue]]:
    """Pairs of values that `op` makes carry the same tokens, or tokens of the same width."""
    match op:
        case TaskOp():
            yield from zip((*op.ins, *op.outs), op.body.block.args, strict=True)
            carried = [value for value in op.outs if isinstance(value.type, ItensorType)]
            yield from zip(carried, op.outputs, strict=False)
        case YieldOp() | scf.YieldOp() if isinstance(parent := op.parent_op(), TaskOp | scf.ForOp | scf.IfOp):
            yield from zip(op.operands, parent.results, strict=False)
        case scf.ForOp():
            yield from zip(op.iter_args, op.body.block.args[1:], strict=True)
            yield from zip(op.iter_args, op.results, strict=True)
        case WriteOp():
            yield op.destination, op.result
        case OwnKernelOp():
            yield from zip(op.outs, op.outputs, strict=False)
        case _ if isinstance(op, ROUTING):
            values = (*op.operands, *op.results)
            yield from ((values[0], value) for value in values[1:])
        case _:
            pass


def _last_extent(value: SSAValue) -> int:
    assert isinstance(value.type, ItensorType)
    return value.type.order.element[-1] if value.type.order.rank else 1


# What a computation wants ---------------------------------------------------------------------------------------------


def required_lanes(access: ReadOp | WriteOp, default: int, joined: int) -> int | None:
    """Lanes that the computations behind `access` want of its port, None where no schedule says; see `LaneDemand`. `joined`: how
    many streams its stream is joined with, or taken apart with, itself among them."""
    uses = _consumers(access.result) if isinstance(access, ReadOp) else _producers(access.value)
    wishes = [wish for use in uses if (wish := _wish(use, default, joined)) is not None]
    return max(wishes, default=None)


def _is_found(taken: int, lanes: int, extent: int) -> bool:
    """Whether whoever takes so many of a token of `lanes` entries at once finds them without a divider, and such tokens make up the
    `extent`."""
    return extent % lanes == 0 and lanes % taken == 0 and (lanes & (lanes - 1) == 0 or lanes == extent)


def _summed_lanes(access: WriteOp, bits: int) -> int | None:
    """Of how many sums a computation adds to at once what `access` writes; None where it writes no sums, no schedule says, or they
    are wider, as they are stored, than a token of so many bits."""
    lanes = [found for use in _producers(access.value) if (found := _added_at_once(use)) is not None]
    return max(lanes) if lanes and max(lanes) <= _most_lanes(access, bits) else None


def _most_lanes(access: ReadOp | WriteOp, bits: int) -> int:
    """Of a token of so many bits, whose entries are as they are stored."""
    return bits // bits_of(stored_type(access.itensor_type.element_type, bits)) if bits else 0


def _added_at_once(use: Use) -> int | None:
    """Of operand `use` of a generic, a result: to how many of its sums in a row a cycle adds; None where they are no sums, or no
    schedule says."""
    generic = use.operation
    assert isinstance(generic, GenericOp)
    schedule, loops = SCHEDULE.of(generic), GenericLoops(generic)
    if schedule is None or not loops.reductions or not loops.operand_dims[use.index]:
        return None
    return min(schedule.unrolls[loops.operand_dims[use.index][-1]], shape_of(generic.operands[use.index].type)[-1])


def token_lanes(value: SSAValue) -> int:
    """Lanes of the tokens of an itensor of vectors."""
    assert isinstance(value.type, ItensorType)
    return value.type.element_shape[-1] if value.type.element_shape else 1


def _consumers(tile: SSAValue) -> Iterator[Use]:
    """The operands of generics that a token read becomes, once its tile is put together."""
    for use in tile.uses:
        match use.operation:
            case GenericOp():
                yield use
            case tensor.InsertSliceOp() as op:
                yield from _consumers(op.result)
            case scf.YieldOp() as op if isinstance(parent := op.parent_op(), scf.ForOp):
                yield from _consumers(parent.results[use.index])
            case _:
                continue


def _producers(tile: SSAValue) -> Iterator[Use]:
    """The outputs of generics from which a token written comes."""
    if not isinstance(tile, OpResult):
        return
    match tile.op:
        case GenericOp() as op:
            yield Use(op, len(op.inputs) + tile.index)
        case tensor.ExtractSliceOp() as op:
            yield from _producers(op.source)
        case tensor.InsertSliceOp() as op:
            yield from _producers(op.source)
        case scf.ForOp() | scf.IfOp() as op:
            last = op.regions[0].block.last_op
            assert isinstance(last, scf.YieldOp)
            yield from _producers(last.operands[tile.index])
        case _:
            return


def _streams_of(value: SSAValue) -> int:
    """How many it is joined of, those that are joined before counted one by one; 1 where it is not."""
    join = value.owner
    return sum(map(_streams_of, join.inputs)) if isinstance(join, ConcatOp | MergeOp) else 1


def _streams_beside(value: SSAValue) -> int:
    """To how many streams one is taken apart of which `value`, inside a task or not, is one; 1 where it is not."""
    match value:
        case BlockArgument(block=Block() as block, index=index):
            match block.parent_op():
                case TaskOp() as task:
                    return _streams_beside((*task.ins, *task.outs)[index])
                case scf.ForOp() as loop if index > 0:
                    return _streams_beside(loop.iter_args[index - 1])
                case _:
                    return 1
        case OpResult(op=ChunkOp() as chunk):
            return len(chunk.slices) * _streams_beside(chunk.source)
        case OpResult(op=ForkOp() | CastOp() | ReassociateOp() as passing):
            return _streams_beside(passing.operands[0])
        case OpResult(op=ConverterOp() as converter) if _is_one_sequence(converter, 1):
            return _streams_beside(converter.source)
        case _:
            return 1


def _is_one_sequence(converter: ConverterOp, lanes: int) -> bool:
    """Whether its two sides are the same sequence of vectors of so many lanes."""
    orders = [value.type.order for value in (converter.source, converter.result) if isinstance(value.type, ItensorType)]
    return same_sequence(*(vectorized(order, lanes) for order in orders))


def _wish(use: Use, default: int, joined: int) -> int | None:
    """Lanes that operand `use` of a generic wants, `joined` times those of its tile, which are at most its last extent."""
    generic = use.operation
    assert isinstance(generic, GenericOp)
    schedule, shape = SCHEDULE.of(generic), shape_of(generic.operands[use.index].type)
    if schedule is None or not shape:
        return None
    if schedule.vectors:
        said = min(schedule.vectors[use.index][-1], shape[-1])
        if joined == 1 or said != default:  # which is what is said where nobody asked
            return said
    innermost = GenericLoops(generic).operand_dims[use.index][-1]
    return max(default, joined * min(schedule.unrolls[innermost], shape[-1]))
