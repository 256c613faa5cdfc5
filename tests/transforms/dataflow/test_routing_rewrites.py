"""`simplify-routing` changes no value: random networks of forks, splits, merges, chunks and concatenations, run twice."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

from stc.dialects.context import make_context
from stc.dialects.dataflow import KernelOp
from stc.dialects.itensor import ChunkOp, ConcatOp, ForkOp, MergeOp, SplitOp
from stc.dialects.parsing import parse_module
from stc.execution.run import execute
from stc.iteration.order import Coordinate, Loop, StreamOrder
from stc.iteration.round_robin import round_robin_parts
from stc.transforms.dataflow.simplify_routing import SimplifyRouting
from stc_testing.drawn import seeds

pytestmark = pytest.mark.heavy

LANES = 2
ROUTING = (ChunkOp, ConcatOp, SplitOp, ForkOp, MergeOp)


def order(rows: int, columns: int) -> StreamOrder:
    """Row-major vectors of `LANES` entries."""
    loops = (Loop(rows, 1), Loop(columns // LANES, LANES))
    return StreamOrder((1, LANES), loops, (Coordinate((0,)), Coordinate((1,))))


def spelled(kind: StreamOrder) -> str:
    text = str(kind)
    head, rest = text.split(", ", 1)
    return f"!itensor.itensor<{head}xf32, {rest}>"


@dataclass(frozen=True)
class Value:
    name: str
    rows: int
    columns: int

    @property
    def type(self) -> str:
        return spelled(order(self.rows, self.columns))


@dataclass
class Network:
    """A kernel of one operand, and every value that nobody has read yet."""

    numbers: random.Random
    lines: list[str] = field(default_factory=list)
    loose: list[Value] = field(default_factory=list)
    count: int = 0

    def fresh(self, rows: int, columns: int) -> Value:
        self.count += 1
        return Value(f"%v{self.count}", rows, columns)

    def take(self) -> Value:
        return self.loose.pop(self.numbers.randrange(len(self.loose)))

    def step(self) -> None:
        self.numbers.choice((self.fork, self.fork, self.split, self.chunk, self.chunk, self.concat, self.concat))()

    def fork(self) -> None:
        source = self.take()
        copies = [self.fresh(source.rows, source.columns) for _ in range(self.numbers.randint(1, 3))]
        types = ", ".join(copy.type for copy in copies)
        self.lines.append(f"{', '.join(c.name for c in copies)} = itensor.fork {source.name} : {source.type} to {types}")
        if len(copies) > 1 and self.numbers.random() < 0.3:
            copies.pop(self.numbers.randrange(len(copies)))
        self.loose += copies

    def split(self) -> None:
        """Split, and merge at once."""
        source = self.take()
        kind = order(source.rows, source.columns)
        fitting = [n for n in (1, 2, 3, 4) if (source.columns // LANES) % n == 0]
        count = self.numbers.choice(fitting)
        types = [spelled(part) for part in round_robin_parts(kind, count)]
        names = [self.fresh(1, 1).name for _ in types]
        self.lines.append(f"{', '.join(names)} = itensor.split {source.name} : {source.type} to {', '.join(types)}")
        merged = self.fresh(source.rows, source.columns)
        self.lines.append(f"{merged.name} = itensor.merge {', '.join(names)} : {', '.join(types)} to {merged.type}")
        self.loose.append(merged)

    def chunk(self) -> None:
        """Cut rows or columns in two or three, at places that are no multiples of each other."""
        source = self.take()
        axis = self.numbers.randrange(2)
        extent, unit = (source.rows, 1) if axis == 0 else (source.columns, LANES)
        places = sorted(self.numbers.sample(range(unit, extent, unit), min(self.numbers.randint(1, 2), extent // unit - 1)))
        bounds = [0, *places, extent]
        parts, offsets = [], []
        for start, end in pairwise(bounds):
            size = end - start
            parts.append(self.fresh(size, source.columns) if axis == 0 else self.fresh(source.rows, size))
            offsets.append([start, 0] if axis == 0 else [0, start])
        types = ", ".join(part.type for part in parts)
        names, at = ", ".join(part.name for part in parts), ", ".join(map(str, offsets))
        self.lines.append(f"{names} = itensor.chunk {source.name} at {at} : {source.type} to {types}")
        self.loose += parts

    def concat(self) -> None:
        """Put together two or more that fit, mostly neighbours in the order in which they were made."""
        first = self.take()
        axis = self.numbers.randrange(2)
        fitting = [v for v in self.loose if (v.columns == first.columns if axis == 0 else v.rows == first.rows)]
        others = fitting[: self.numbers.randint(0, 2)] if self.numbers.random() < 0.7 else fitting[-1:]
        parts = [first, *others] if self.numbers.random() < 0.7 else [*others, first]
        self.loose = [v for v in self.loose if v not in others]
        offsets, start = [], 0
        for part in parts:
            offsets.append([start, 0] if axis == 0 else [0, start])
            start += part.rows if axis == 0 else part.columns
        result = self.fresh(start, first.columns) if axis == 0 else self.fresh(first.rows, start)
        names, types = ", ".join(p.name for p in parts), ", ".join(p.type for p in parts)
        places = ", ".join(map(str, offsets))
        self.lines.append(f"{result.name} = itensor.concat {names} at {places} : {types} to {result.type}")
        self.loose.append(result)


def program(seed: int) -> ModuleOp:
    numbers = random.Random(seed)
    source = Value("%x", numbers.choice((1, 2, 3, 5)), LANES * numbers.choice((1, 2, 4, 6, 7)))
    network = Network(numbers, loose=[source])
    for _ in range(numbers.randint(2, 9)):
        network.step()
    outs = network.loose
    tensors = [f"tensor<{v.rows}x{v.columns}xf32>" for v in outs]
    results = ", ".join(f"{tensor} as {v.type}" for tensor, v in zip(tensors, outs, strict=True))
    names = ", ".join(f"%r{index}" for index in range(len(outs)))
    outer = f"tensor<{source.rows}x{source.columns}xf32>"
    return parse_module(f"""
func.func @main(%in: {outer}) -> ({', '.join(tensors)}) {{
  {names} = dataflow.kernel @k(%x = %in : {outer} as {source.type}) -> ({results}) {{
    {chr(10).join(network.lines)}
    dataflow.yield {', '.join(v.name for v in outs)} : {', '.join(v.type for v in outs)}
  }}
  func.return {names} : {', '.join(tensors)}
}}""")


def routing_ops(module: ModuleOp) -> int:
    return sum(isinstance(op, ROUTING) for op in module.walk())


def simplified(module: ModuleOp) -> ModuleOp:
    SimplifyRouting().apply(make_context(), module)
    module.verify()
    return module


@pytest.mark.parametrize("block", range(3))
def test_values_stay(block: int) -> None:
    fewer = 0
    for seed in seeds(30, 30 * block):
        before, after = program(seed), simplified(program(seed))
        shape = next(iter(before.ops)).body.block.args[0].type.get_shape()  # pyright: ignore[reportAttributeAccessIssue]
        tensor = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
        for expected, found in zip(execute(before, [tensor]), execute(after, [tensor]), strict=True):
            np.testing.assert_array_equal(found, expected, err_msg=f"seed {seed}")
        fewer += routing_ops(before) - routing_ops(after)
        assert str(simplified(after.clone())) == str(after), f"seed {seed}: a second run changes something"
    assert fewer >= 30, "networks are made so that at least one op in each can go"


def test_each_stream_keeps_one_reader() -> None:
    for seed in seeds(40):
        module = simplified(program(seed))
        for op in module.walk():
            if isinstance(op, ROUTING):
                assert all(len(list(result.uses)) <= 1 for result in op.results), f"seed {seed}: {op}"


@pytest.mark.parametrize("other_reader", [False, True])
def test_no_operand_is_left_without_a_reader(other_reader: bool) -> None:
    """A slice of a concat drops the other input only if the stream from memory behind it is read elsewhere too."""
    part, whole = spelled(order(3, 4)), spelled(order(3, 8))
    outer = "tensor<3x4xf32>"
    module = parse_module(
        f"""
func.func @main(%x: {outer}, %y: tensor<3x8xf32>) -> ({outer}, {outer}) {{
  %r, %t = dataflow.kernel @k(%a = %x : {outer} as {part}, %b = %y : tensor<3x8xf32> as {whole})
      -> ({outer} as {part}, {outer} as {part}) {{
    %d, %e = itensor.chunk %b at [0, 0], [0, 4] : {whole} to {part}, {part}
    %f, %g = itensor.fork %a : {part} to {part}, {part}
    %c = itensor.concat %f, %e at [0, 0], [0, 4] : {part}, {part} to {whole}
    %s = itensor.chunk %c at [0, 0] : {whole} to {part}
    dataflow.yield %s, {"%d" if other_reader else "%g"} : {part}, {part}
  }}
  func.return %r, %t : {outer}, {outer}
}}"""
    )
    simplified(module)
    (kernel,) = (op for op in module.walk() if isinstance(op, KernelOp))
    assert all(argument.uses for argument in kernel.arguments)
    assert all(result.uses for op in kernel.body.block.ops for result in op.results)
    assert any(isinstance(op, ConcatOp) for op in module.walk()) != other_reader
