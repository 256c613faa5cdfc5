"""`share-contractions`: contractions that follow one another compute on one set of multipliers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from math import gcd, lcm, prod
from typing import TypeAlias

from xdsl.builder import Builder
from xdsl.context import Context
from xdsl.dialects import arith, memref
from xdsl.dialects.builtin import MemRefType, ModuleOp, VectorType
from xdsl.dialects.linalg.ops import YieldOp as Yielded
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from stc.analysis.contraction_tasks import ContractionTask, contraction_task
from stc.analysis.kernel_memory import bits_of
from stc.analysis.task_graph import ends_of, tasks_behind, tasks_of
from stc.design_space.parallelism import divisors
from stc.dialects.dataflow import KernelOp, TaskKind, TaskOp, YieldOp
from stc.dialects.facts import BEHIND_LAYERS, MODULE, STYLE
from stc.dialects.stream import CreateOp, StreamType, WriteOp
from stc.iteration.order import Loop
from stc.transforms.index_constant import index_constant
from stc.transforms.stream.assign_units import REST
from stc.transforms.stream.loops import loop_at, loop_nest, where, where_equal
from stc.transforms.stream.lower_linalg_to_loops import PointLoop, point_loops
from stc.transforms.stream.mark_behind_layers import mark_behind_layers, mark_operations_behind_layers
from stc.transforms.stream.names import UniqueNames, symbols_of
from stc.transforms.stream.sums_in_turn import SumsInTurn
from stc.transforms.stream.token_moves import pass_on, receive, send

ARRAY = "array"
"""The compute unit of the shared multipliers."""

WIDEST_TOKEN_BITS = 512
"""Of what a shared contraction sends its sums in; wider only as a contraction had sent them."""


@dataclass(frozen=True)
class ShareContractions(ModulePass):
    """Let contractions whose weights come through one port, one after the other, compute on one set of multipliers.

    While one contraction of a decoder computes, the multipliers of those before and behind it stand still, since each waits for
    what the one before makes. Where a load task brings the weights of several (`load-in-turn`), each after those of one that it
    waits for, and their tasks compute the same sums and do nothing else (`stc.shared`: as many terms and lanes, the same operation
    on each), one task takes all of these weights as one flat stream and computes one sum of each lane after the other, whoever
    wants it. It knows nothing of whose they are: a task in front of it sends the activations in the order in which the sums need
    them, those of the first contraction, then those of the second. Sums leave from where they are added up, once all terms are
    over, some lanes at a time, so that one multiplexer serves all contractions; a task behind hands them out, in that order. Terms
    and lanes that leave are iterations of one loop, whose pipeline never waits to be empty.

    What a sum is handed on to may be what the next contraction waits for: the three tasks are a compute unit of their own
    (`unit @array`), since tasks of one unit form no cycle. The loop flushes (`frp`): it has no memory port, and what it would keep
    when it stops is what brings new activations.

        dataflow.task @load_in_turn ins(%m0 = %up, %m1 = %down) outs(%o0 = %s, %o1 = %t) kind load {...}
        dataflow.task @up ins(%x = %a, %w = %s) outs(%y = %b) { scf.for 2 times { read x, w; linalg.generic ...; write } }
        dataflow.task @down ins(%x = %c, %w = %t) outs(%y = %d) { scf.for 3 times { read x, w; linalg.generic ...; write } }
      becomes
        dataflow.task @load_in_turn ins(%m0 = %up, %m1 = %down) outs(%o = %words) kind load unit @main {...}
        dataflow.task @send ins(%a, %c) outs(%factors) unit @array {...}
        dataflow.task @array ins(%factors, %words) outs(%sums) unit @array { scf.for 5 times { scf.for ... } }
        dataflow.task @hand_out ins(%sums) outs(%b, %d) unit @array {...}

    What takes the sums and computes in floats (scales of groups, sums over them, a bias) follows in the same order, so that of
    those who wait for one another only one computes at a time. With `sums-in-turn` they are one task as well, in that unit, with a
    loop for each: the loops of a task have operators in common. Who has a memory port or a ring, and whom another one reads without
    anything between, stays as it is.

    Options:
    * `sums-in-turn` (default false): whether that is done.

        dataflow.task @scale_up ins(%b, %scales) outs(%e) { scf.for 2 times { read b, scales; linalg.generic ...; write } }
        dataflow.task @scale_down ins(%d, %others) outs(%f) { scf.for 3 times { read d, others; linalg.generic ...; write } }
      becomes
        dataflow.task @scale_up_in_turn ins(%b, %scales, %d, %others) outs(%e, %f) unit @array { scf.for 2 ...; scf.for 3 ... }
    """

    name = "share-contractions"

    sums_in_turn: bool = False

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for kernel in [found for found in op.walk() if isinstance(found, KernelOp)]:
            names = symbols_of(kernel)
            rows = list(_rows(kernel))
            sums = [SumsInTurn.of(kernel, alike) for alike in _kinds(rows)] if self.sums_in_turn else []
            for row in rows:
                _Array(row, names).build()
            for each in sums:
                each.build(kernel, ARRAY, names)
            if rows:
                for task in tasks_of(kernel):
                    task.unit = task.unit or REST


def _rows(kernel: KernelOp) -> Iterator[Sequence[ContractionTask]]:
    """Contractions that take turns: what they compute is the same, one load task brings their weights, in this order, and each
    waits for the one before. So rows do not wait for one another in a circle: it would be one of the tasks that there were."""
    found = [each for task in tasks_of(kernel) if (each := contraction_task(task)) is not None and _keeps_up(each)]
    by_weights, behind = {each.weights: each for each in found}, tasks_behind(kernel)
    for load in [task for task in tasks_of(kernel) if task.kind == TaskKind.LOAD]:
        rows: list[list[ContractionTask]] = []
        for streams in _one_after_the_other(load):
            free = list(rows)  # words of one place come in turn: those of two tasks are no row
            for each in [by_weights[out] for out in streams if out in by_weights]:
                row = next((row for row in free if each.is_like(row[-1]) and each.task in behind[row[-1].task]), None)
                if row is None:
                    rows.append(row := [])
                else:
                    free.remove(row)
                row.append(each)
        yield from (row for row in rows if len(row) > 1)


def _kinds(rows: Sequence[Sequence[ContractionTask]]) -> Collection[Sequence[ContractionTask]]:
    """The contractions of all rows that are alike, together."""
    kinds: list[list[ContractionTask]] = []
    for row in rows:
        like = next((kind for kind in kinds if kind[0].is_like(row[0])), None)
        if like is None:
            kinds.append(like := [])
        like += row
    return kinds


def _keeps_up(each: ContractionTask) -> bool:
    """Whether sums that leave on several streams at once may leave one token after the other, as those of the array do: in no more
    cycles than they have terms."""
    return len(each.sums) == 1 or each.lanes // each.sent <= each.terms


def _is_token(lanes: int, row: Sequence[ContractionTask], most: int) -> bool:
    """Whether so many lanes are whole tokens, of all streams that a contraction sends to, or equal parts of one: at most the widest
    of them, or `most`."""
    fits = all(lanes % (each.sent * len(each.sums)) == 0 or each.sent % lanes == 0 for each in row)
    return fits and lanes <= max(*(each.sent for each in row), most)


def _one_after_the_other(load: TaskOp) -> list[Sequence[SSAValue]]:
    """The streams that a task fills, place by place; but for those that it fills in several."""
    outside = dict[SSAValue, SSAValue](zip(load.output_ports, load.outs, strict=True))
    filled = [[op.stream for op in part.walk() if isinstance(op, WriteOp)] for part in load.body.block.ops]
    places = Counter(stream for streams in filled for stream in set(streams))
    return [[outside[port] for port in dict.fromkeys(streams) if places[port] == 1] for streams in filled]


# What takes their place -------------------------------------------------------------------------------------------------

_Fill: TypeAlias = Callable[[Builder, Sequence[SSAValue], Sequence[SSAValue]], None]
"""Writes the body of a task whose ports of either kind are given."""


class _Array:
    """The tasks that compute a row of contractions one after the other."""

    def __init__(self, row: Sequence[ContractionTask], names: UniqueNames) -> None:
        self._row, self._names, self._first = row, names, row[0]
        members = {each.task for each in row}
        kernel = row[0].task.parent_op()
        assert isinstance(kernel, KernelOp)
        self._last = [task for task in tasks_of(kernel) if task in members][-1]
        """Where all streams of the row have been made."""
        taken = gcd(*(each.taken for each in row))
        self._at_once = taken & -taken
        """Factors in a token: a power of two, else which of them is next would be a remainder, by a divider."""
        self._count = sum(each.count for each in row)
        bits, sent = bits_of(self._first.kinds[2]), lcm(*(each.sent * len(each.sums) for each in row))
        self._apart = max(lanes for lanes in divisors(sent) if _is_token(lanes, row, WIDEST_TOKEN_BITS // bits))
        """Lanes that leave at once."""

    def build(self) -> None:
        first, row = self._first, self._row
        factor, weight, sum_ = first.kinds
        name = self._names.fresh("array")
        factors = self._stream(f"{name}_factors", factor, self._at_once, self._count * first.terms // self._at_once)
        weights = self._stream(f"{name}_weights", weight, first.lanes, self._count * first.terms)
        sums = self._stream(f"{name}_sums", sum_, self._apart, self._count * first.lanes // self._apart)
        self._load(weights)
        self._task(self._names.fresh(f"{name}_send"), [each.factors for each in row], [factors], self._send)
        self._task(name, [factors, weights], [sums], self._compute)
        self._task(self._names.fresh(f"{name}_hand_out"), [sums], [port for each in row for port in each.sums], self._hand_out)
        for each in row:
            own = each.weights.owner
            Rewriter.erase_op(each.task)
            assert isinstance(own, Operation)
            Rewriter.erase_op(own)

    def _stream(self, name: str, kind: Attribute, lanes: int, tokens: int) -> SSAValue:
        load, _ = ends_of(self._first.weights)
        create = CreateOp(self._names.fresh(name), StreamType(VectorType(kind, [lanes])), tokens, tokens)
        create.result.name_hint = create.sym_name.data
        Rewriter.insert_op(create, InsertPoint.before(load))
        return create.result

    def _task(self, name: str, ins: Sequence[SSAValue], outs: Sequence[SSAValue], fill: _Fill) -> None:
        block = Block(arg_types=[value.type for value in (*ins, *outs)])
        for port, value in zip(block.args, (*ins, *outs), strict=True):
            port.name_hint = value.name_hint
        fill(Builder(InsertPoint.at_end(block)), block.args[: len(ins)], block.args[len(ins) :])
        Builder(InsertPoint.at_end(block)).insert(YieldOp())
        task = TaskOp(name, ins, outs, block, [], unit=ARRAY)
        if len(modules := {MODULE.of(each.task) for each in self._row} - {None}) == 1:
            MODULE.put(task, next(iter(modules)) or "")
        if all(BEHIND_LAYERS.on(each.task) for each in self._row):
            mark_behind_layers(task)
        Rewriter.insert_op(task, InsertPoint.before(self._last))

    def _load(self, weights: SSAValue) -> None:
        """Let the load task send all weights of the row through one stream."""
        load, _ = ends_of(self._first.weights)
        taken = {each.weights for each in self._row}
        kept = [out for out in load.outs if out not in taken]
        block, count = load.body.block, len(load.ins)
        port = block.insert_arg(weights.type, len(block.args))
        port.name_hint = weights.name_hint
        for at in reversed(range(count, count + len(load.outs))):
            if load.outs[at - count] in taken:
                block.args[at].replace_all_uses_with(port)
                block.erase_arg(block.args[at])
        ins, body = list(load.ins), load.body.detach_block(block)
        made = TaskOp(load.sym_name, ins, [*kept, weights], body, [], load.attributes, load.kind)
        Rewriter.insert_op(made, InsertPoint.before(load))
        Rewriter.erase_op(load)

    def _send(self, builder: Builder, ins: Sequence[SSAValue], outs: Sequence[SSAValue]) -> None:
        """The factors of each contraction in turn, as often as it takes them: as they arrive, and then what is held of them."""
        first = self._first
        is_held = any(each.taken > self._at_once or prod(each.trips[each.fresh :]) > 1 for each in self._row)
        held = _buffer(builder, "held", first.kinds[0], first.terms) if is_held else None
        for each, port in zip(self._row, ins, strict=True):
            loops = [Loop(trip, 1) for trip in each.trips]
            hints = [loop.body.block.args[0].name_hint or "i" for loop in each.around]
            before = set(builder.insertion_point.block.ops)
            _, inside = loop_nest(builder, loops[: each.fresh], hints[: each.fresh])
            visits = prod(each.trips[each.fresh :])
            (at,), fill = loop_nest(inside, [Loop(first.terms // each.taken, each.taken)], ["entry"])
            if each.taken == self._at_once:
                visits -= 1
                pass_on(fill, port, outs[0], (held, at) if held is not None and visits else None)
            elif held is not None:
                receive(fill, port, held, at)
            if held is not None and visits:
                _, again = loop_nest(inside, [Loop(visits, 1)] if visits > 1 else [], ["visit"] if visits > 1 else [])
                (at,), again = loop_nest(again, [Loop(first.terms // self._at_once, self._at_once)], ["entry"])
                send(again, held, at, outs[0])
            _mark(each, builder, before)

    def _compute(self, builder: Builder, ins: Sequence[SSAValue], outs: Sequence[SSAValue]) -> None:
        """One sum of each lane after the other, then some lanes after the other, in one loop: two would each wait until the other's
        pipeline is empty."""
        first, (factor, weight, sum_) = self._first, self._first.kinds
        factors = _buffer(builder, "factors", factor, self._at_once)
        words, sums = (_buffer(builder, name, kind, first.lanes) for name, kind in (("words", weight), ("sums", sum_)))
        zero = builder.insert(arith.ConstantOp(first.zero)).result
        steps = first.terms + first.lanes // self._apart
        (_, step), each_step = loop_nest(builder, [Loop(self._count, 1), Loop(steps, 1)], ["sum", "step"])
        STYLE.put(loop_at(each_step), "frp")
        start, terms = index_constant(each_step, 0), index_constant(each_step, first.terms)
        inside = where(each_step, each_step.insert(arith.CmpiOp(step, terms, "slt")).result)
        at = start
        if self._at_once > 1:
            at = inside.insert(arith.RemUIOp(step, index_constant(inside, self._at_once))).result
        fresh = where_equal(inside, [(at, 0)] if self._at_once > 1 else [])
        receive(fresh, ins[0], factors, start)
        receive(inside, ins[1], words, start)
        is_first = inside.insert(arith.CmpiOp(step, start, "eq")).result
        (lane,), point = point_loops(inside, [PointLoop("lane", first.lanes, first.lanes)], "array")
        before = point.insert(memref.LoadOp.get(sums, [lane])).res
        so_far = point.insert(arith.SelectOp(is_first, zero, before)).result
        values = [point.insert(memref.LoadOp.get(factors, [at])).res, point.insert(memref.LoadOp.get(words, [lane])).res, so_far]
        body = first.generic.body.clone().block
        for argument, value in zip(body.args, values, strict=True):
            argument.replace_all_uses_with(value)
        for op in list(body.ops):
            if isinstance(op, Yielded):
                point.insert(memref.StoreOp.get(op.operands[0], sums, [lane]))
                Rewriter.erase_op(op)
                break
            op.detach()
            point.insert(op)
        leaving = where(each_step, each_step.insert(arith.CmpiOp(step, terms, "sge")).result)
        lane = start
        if first.lanes > self._apart:
            over = leaving.insert(arith.SubiOp(step, terms)).result
            lane = leaving.insert(arith.MuliOp(over, index_constant(leaving, self._apart))).result
        send(leaving, sums, lane, outs[0])

    def _hand_out(self, builder: Builder, ins: Sequence[SSAValue], outs: Sequence[SSAValue]) -> None:
        """The sums of each contraction in turn, in tokens as it sent them."""
        lanes = [max(each.sent, self._apart) for each in self._row]
        held = {entries: _buffer(builder, "held", self._first.kinds[2], entries) for entries in lanes}
        left = iter(outs)
        for each, entries in zip(self._row, lanes, strict=True):
            before, ports = set(builder.insertion_point.block.ops), list(islice(left, len(each.sums)))
            at_once = each.sent * len(ports)
            count = each.count * each.lanes // max(at_once, self._apart)
            if at_once > self._apart:
                _join(builder, count, ins[0], held[entries], ports)
            else:
                _cut(builder, count, ins[0], held[entries], ports)
            _mark(each, builder, before)


def _cut(builder: Builder, count: int, source: SSAValue, held: SSAValue, outs: Sequence[SSAValue]) -> None:
    """`count` times a token of `source`, through `held` in tokens of `outs`, one of each in turn."""
    entries, lanes = _lanes(source), _lanes(outs[0])
    nest = [
        ("token", Loop(count, 1)), ("lane", Loop(entries // (len(outs) * lanes), len(outs) * lanes)), ("port", Loop(len(outs), 1)),
    ]  # fmt: skip
    of, inside = _nest(builder, nest)
    fresh = where_equal(inside, [(of[name], 0) for name in ("lane", "port") if name in of])
    receive(fresh, source, held, index_constant(fresh, 0))
    at = of["lane"] if "lane" in of else index_constant(inside, 0)
    for number, out in enumerate(outs):
        now = where_equal(inside, [(of["port"], number)] if "port" in of else [])
        send(now, held, now.insert(arith.AddiOp(at, index_constant(now, number * lanes))).result if number else at, out)


def _join(builder: Builder, count: int, source: SSAValue, held: SSAValue, outs: Sequence[SSAValue]) -> None:
    """`count` times a token of each of `outs`, of several of `source`, put together in `held`."""
    part, lanes = _lanes(source), _lanes(outs[0])
    nest = [("token", Loop(count, 1)), ("port", Loop(len(outs), 1)), ("lane", Loop(lanes // part, part))]
    of, inside = _nest(builder, nest)
    receive(inside, source, held, of["lane"] if "lane" in of else index_constant(inside, 0))
    for number, out in enumerate(outs):
        last = {"lane": lanes - part, "port": number}
        done = where_equal(inside, [(of[name], value) for name, value in last.items() if name in of])
        send(done, held, index_constant(done, 0), out)


def _nest(builder: Builder, named: Sequence[tuple[str, Loop]]) -> tuple[Mapping[str, SSAValue], Builder]:
    """The loops of a nest by name: the outermost, and those of several iterations. The tool drops others, with their pragmas."""
    nest = [named[0], *(each for each in named[1:] if each[1].trip != 1)]
    ivs, inside = loop_nest(builder, [loop for _, loop in nest], [name for name, _ in nest])
    return dict(zip((name for name, _ in nest), ivs, strict=True)), inside


def _lanes(stream: SSAValue) -> int:
    assert isinstance(stream.type, StreamType)
    return stream.type.lanes


def _mark(each: ContractionTask, builder: Builder, before: Collection[Operation]) -> None:
    """Let what was built for a contraction, behind these operations, say whether that follows the last layer."""
    if BEHIND_LAYERS.on(each.task):
        mark_operations_behind_layers(op for op in builder.insertion_point.block.ops if op not in before)


def _buffer(builder: Builder, name: str, kind: Attribute, entries: int) -> SSAValue:
    buffer = builder.insert(memref.AllocOp([], [], MemRefType(kind, [entries]))).memref
    buffer.name_hint = name
    return buffer
