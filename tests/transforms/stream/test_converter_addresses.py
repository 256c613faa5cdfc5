"""The addresses that `lower-converters` computes are those that the converter proofs are about.

The proofs take their addresses from `block_order` and the line schedule; here the index arithmetic of the lowered tasks is run and
compared with them, and what lies at each address with what the two orders say, access by access.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import islice, product, zip_longest
from typing import TypeAlias

import pytest
from xdsl.dialects import arith, memref, scf, vector
from xdsl.dialects.builtin import IntegerAttr, MemRefType, VectorType, f32
from xdsl.ir import Block, SSAValue
from xdsl.utils.hints import isa

from stc.dialects import stream
from stc.dialects.context import make_context
from stc.dialects.dataflow import TaskOp, YieldOp
from stc.dialects.itensor import ItensorType
from stc.dialects.parsing import parse_module
from stc.iteration.block_tokens import token_lanes
from stc.iteration.converter import ConverterPlan, infer_converter
from stc.iteration.converter_proofs import Proved, prove_converter
from stc.iteration.order import Coordinate, Loop, StreamOrder
from stc.transforms import all_passes
from stc.transforms.pass_pipeline import read_pipeline

Access: TypeAlias = tuple[str, tuple[int, ...]]


Binary: TypeAlias = arith.AddiOp | arith.SubiOp | arith.CmpiOp | arith.AndIOp | arith.RemUIOp
_COMPARISONS: dict[int, Callable[[int, int], int]] = {
    0: lambda a, b: int(a == b),
    2: lambda a, b: int(a < b),
    4: lambda a, b: int(a > b),
    5: lambda a, b: int(a >= b),
}
"""By the number of the predicate: eq, slt, sgt, sge."""


class _Accesses:
    """Runs the loops and the index arithmetic of a task, and writes down each access to the buffer."""

    def __init__(self) -> None:
        self.values: dict[SSAValue, int] = {}
        self.seen: list[Access] = []

    def run(self, block: Block) -> list[Access]:
        for op in block.ops:
            match op:
                case arith.ConstantOp():
                    assert isinstance(op.value, IntegerAttr)
                    self.values[op.result] = op.value.value.data
                case arith.AddiOp():
                    self._binary(op, lambda a, b: a + b)
                case arith.SubiOp():
                    self._binary(op, lambda a, b: a - b)
                case arith.CmpiOp():
                    self._binary(op, _COMPARISONS[op.predicate.value.data])
                case arith.AndIOp():
                    self._binary(op, lambda a, b: a & b)
                case arith.RemUIOp():
                    self._binary(op, lambda a, b: a % b)
                case arith.SelectOp():
                    self.values[op.result] = self.values[op.lhs if self.values[op.cond] else op.rhs]
                case scf.ForOp():
                    self._loop(op)
                case scf.IfOp():
                    if self.values[op.cond]:
                        self.run(op.true_region.block)
                case vector.StoreOp() | memref.StoreOp():
                    self.seen.append(("store", self._place(op.indices, op.memref if isinstance(op, memref.StoreOp) else None)))
                case vector.LoadOp() | memref.LoadOp():
                    self.seen.append(("load", self._place(op.indices, op.memref if isinstance(op, memref.LoadOp) else None)))
                case stream.AcquireOp():
                    self.seen.append(("acquire", ()))
                case _:
                    assert isinstance(op, stream.ReadOp | stream.WriteOp | memref.AllocOp | scf.YieldOp | YieldOp), op.name
        return self.seen

    def _loop(self, loop: scf.ForOp) -> None:
        body = loop.body.block
        carried = [self.values[value] for value in loop.iter_args]
        for value in range(self.values[loop.lb], self.values[loop.ub], self.values[loop.step]):
            self.values.update(zip(body.args, [value, *carried], strict=True))
            self.run(body)
            assert body.last_op is not None
            carried = [self.values[value] for value in body.last_op.operands]
        self.values.update(zip(loop.results, carried, strict=True))

    def _binary(self, op: Binary, function: Callable[[int, int], int]) -> None:
        self.values[op.result] = function(self.values[op.lhs], self.values[op.rhs])

    def _place(self, indices: Sequence[SSAValue], tokens: SSAValue | None) -> tuple[int, ...]:
        """In scalars, where the entries of a block of `tokens` are vectors."""
        *outer, last = (self.values[index] for index in indices)
        if tokens is None:
            return *outer, last
        assert isa(tokens.type, MemRefType) and isinstance(tokens.type.element_type, VectorType)
        return *outer, last * tokens.type.element_type.get_shape()[0]


def lowered(plan: ConverterPlan) -> list[list[Access]]:
    """The accesses of each task that the converter becomes."""
    source, target = (ItensorType.from_order(order, f32) for order in (plan.source, plan.target))
    shape = "x".join(map(str, plan.source.static_shape))
    window = "" if plan.window is None else f", window = {plan.window}"
    text = f"""
    func.func @f(%x: tensor<{shape}xf32>) -> tensor<{shape}xf32> {{
      %y = dataflow.kernel @k(%s = %x : tensor<{shape}xf32> as {source}) -> (tensor<{shape}xf32> as {source}) {{
        %a, %b = itensor.fork %s : {source} to {source}, {source}
        %t = itensor.converter %b {{shared_loops = {plan.shared_loops}, buffer_shape = {list(plan.buffer_shape)},
          blocks = {plan.blocks}{window}}} : {source} to {target}
        dataflow.yield %a : {source}
      }}
      func.return %y : tensor<{shape}xf32>
    }}"""
    module = parse_module(text)
    for one_pass in read_pipeline("verify-streams,lower-converters", all_passes()):
        one_pass.apply(make_context(), module)
    tasks = [op for op in module.walk() if isinstance(op, TaskOp)]
    return [_Accesses().run(task.body.block) for task in tasks]


def rows_and_columns(rows: int, columns: int, lanes: int) -> tuple[StreamOrder, StreamOrder]:
    """Vectors row by row, and column of vectors by column."""
    by_rows = StreamOrder((1, lanes), (Loop(rows, 1), Loop(columns, lanes)), (Coordinate((0,)), Coordinate((1,))))
    by_columns = StreamOrder((1, lanes), (Loop(columns, lanes), Loop(rows, 1)), (Coordinate((1,)), Coordinate((0,))))
    return by_rows, by_columns


def tiled(rows: int, columns: int, height: int, lanes: int) -> StreamOrder:
    """Tiles of `height` rows, within each column by column; the tiles are visited twice."""
    loops = (Loop(2, 1), Loop(rows // height, height), Loop(columns, lanes), Loop(height, 1))
    return StreamOrder((1, lanes), loops, (Coordinate((1, 3)), Coordinate((2,))))


def in_tiles(rows: int, columns: int, height: int, lanes: int) -> StreamOrder:
    loops = (Loop(2, 1), Loop(rows // height, height), Loop(height, 1), Loop(columns, lanes))
    return StreamOrder((1, lanes), loops, (Coordinate((1, 2)), Coordinate((3,))))


def interleaved(inner: tuple[int, ...]) -> StreamOrder:
    """The shared loop counts what lies inside a tile: rows 0, 3, 6, 9 of it in one shared iteration."""
    loops = [Loop(3, 1), Loop(4, 3), Loop(2, 4)]
    position = {loop: index + 1 for index, loop in enumerate(inner)}
    nest = (loops[0], *(loops[loop] for loop in inner))
    return StreamOrder((1, 4), nest, (Coordinate((0, position[1])), Coordinate((position[2],))))


WINDOW_SOURCE = StreamOrder((1, 4), (Loop(40, 1), Loop(2, 4)), (Coordinate((0,)), Coordinate((1,))))
WINDOW_TARGET = StreamOrder((1, 4), (Loop(38, 1), Loop(2, 4), Loop(3, 1)), (Coordinate((0, 2)), Coordinate((1,))))

PLANS = {
    "transposed": infer_converter(*rows_and_columns(3, 5, 4)),
    "tiles": infer_converter(in_tiles(12, 5, 4, 2), tiled(12, 5, 4, 2)),
    "interleaved": infer_converter(interleaved((1, 2)), interleaved((2, 1))),
    "merged": infer_converter(in_tiles(12, 6, 4, 2), tiled(12, 3, 4, 4)),
    "lines": infer_converter(WINDOW_SOURCE, WINDOW_TARGET, line_buffers=True),
}


FORMS = {"transposed": "turn", "tiles": "ring", "interleaved": "ring", "merged": "merge", "lines": "lines"}
"""How each plan is lowered, by the name of its task or ring."""


def form_of(plan: ConverterPlan) -> str:
    if plan.window is not None:
        return "lines"
    return "turn" if plan.blocks == 1 else "merge" if token_lanes(plan) is None else "ring"


def places_of(plan: ConverterPlan) -> tuple[list[Access], list[Access]]:
    """What the proofs take each side to do in a shared iteration, in the two tasks of a ring or in one."""
    sides = (("store", plan.source_block), ("load", plan.target_block))
    stores, loads = ([(kind, tuple(place)) for place in order.enumerate().tolist()] for kind, order in sides)
    return stores, loads


def accesses_of(plan: ConverterPlan) -> list[list[Access]]:
    """The same for the whole converter, task by task."""
    stores, loads = places_of(plan)
    acquired: list[Access] = [("acquire", ())]
    match form_of(plan):
        case "lines":
            return lines_of(plan)
        case "turn":
            return [[*stores, *loads] * plan.iterations]
        case "ring":
            return [[*acquired, *side] * plan.iterations for side in (stores, loads)]
        case _:
            return [list(_merged_accesses(plan, stores, loads))]


def _merged_accesses(plan: ConverterPlan, stores: list[Access], loads: list[Access]) -> Iterator[Access]:
    """Run k fills half k mod 2 while the other half, of block k - 1, is emptied."""
    for run in range(plan.iterations + 1):
        for store, load in zip_longest(stores, loads):
            if store is not None and run < plan.iterations:
                yield "store", (run % 2, *store[1])
            if load is not None and run > 0:
                yield "load", ((run - 1) % 2, *load[1])


def lines_of(plan: ConverterPlan) -> list[list[Access]]:
    """What the proofs take the one task of a line buffer to do: the block's addresses, modulo the window."""
    assert plan.line_schedule is not None and plan.tiles is not None and plan.window is not None
    addresses = {
        receives: iter(order.enumerate().tolist()) for receives, order in ((True, plan.source_block), (False, plan.target_block))
    }
    seen: list[Access] = []
    for step in plan.line_schedule:
        for _ in range(plan.tiles[0 if step.receives else 1].inside.token_count):
            place = next(addresses[step.receives])
            place[plan.window] %= plan.buffer_shape[plan.window]
            seen.append(("store" if step.receives else "load", tuple(place)))
    return [seen * plan.iterations]


@pytest.mark.parametrize("name", PLANS)
def test_lowered_addresses_are_the_proved_ones(name: str):
    plan = PLANS[name]
    assert form_of(plan) == FORMS[name]
    outcome = prove_converter(
        plan.source, plan.target, plan.shared_loops, plan.buffer_shape, plan.blocks, plan.window, plan.line_schedule
    )
    assert isinstance(outcome, Proved)
    assert lowered(plan) == accesses_of(plan)


def in_time(plan: ConverterPlan) -> Iterator[Access]:
    """The lowered accesses one after the other, each block of a ring filled before it is emptied; the half comes first."""
    tasks = lowered(plan)
    if form_of(plan) != "ring":
        yield from ((kind, place if form_of(plan) == "merge" else (0, *place)) for kind, place in tasks[0])
        return
    counts = [order.token_count for order in (plan.source_block, plan.target_block)]
    accesses = [iter([access for access in task if access[0] != "acquire"]) for task in tasks]
    for iteration in range(plan.iterations):
        for task, count in zip(accesses, counts, strict=True):
            yield from ((kind, (iteration % 2, *place)) for kind, place in islice(task, count))


@pytest.mark.parametrize("name", PLANS)
def test_what_is_loaded_is_what_the_target_says(name: str):
    """The same, by running: store coordinates at the lowered addresses, and load them."""
    plan = PLANS[name]
    arriving, leaving = (iter(order.enumerate().tolist()) for order in (plan.source, plan.target))
    held: dict[tuple[int, ...], tuple[int, ...]] = {}
    for kind, (half, *place) in in_time(plan):
        order = plan.source if kind == "store" else plan.target
        start = next(arriving if kind == "store" else leaving)
        for entry in product(*(range(extent) for extent in order.element)):
            address = tuple(a + e for a, e in zip(place, entry, strict=True))
            assert all(a < extent for a, extent in zip(address, plan.buffer_shape, strict=True))
            coordinate = tuple(c + e for c, e in zip(start, entry, strict=True))
            if kind == "store":
                held[half, *address] = coordinate
            else:
                assert held[half, *address] == coordinate
    assert next(arriving, None) is None and next(leaving, None) is None
