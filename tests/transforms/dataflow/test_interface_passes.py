"""Widths, several ports, packing and its cancellation: random programs keep their values from level to level."""

from __future__ import annotations

import random
from math import prod

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

from stc.analysis.host_trips import host_trips
from stc.dialects.context import make_context
from stc.dialects.dataflow import KernelOp, PackOp, UnpackOp
from stc.dialects.itensor import ItensorType, MergeOp, SplitOp
from stc.dialects.parsing import parse_module
from stc.execution.run import execute
from stc.iteration.order import Coordinate, Loop, StreamOrder
from stc.iteration.round_robin import round_robin_parts
from stc.iteration.vectorize import largest_divisor
from stc.transforms import all_passes
from stc.transforms.pass_pipeline import read_pipeline
from stc_testing.drawn import seeds

pytestmark = pytest.mark.heavy

TO_STREAMS = "lower-converters,lower-layout,lower-dmas,lower-tasks,set-fifo-depths"


def apply(module: ModuleOp, pipeline: str) -> ModuleOp:
    for one_pass in read_pipeline(pipeline, all_passes()):
        one_pass.apply(make_context(), module)
        module.verify()
    return module


def inputs_of(module: ModuleOp) -> list[np.ndarray]:
    function = next(iter(module.ops))
    numbers = np.random.default_rng(1)
    kinds = [argument.type.get_shape() for argument in function.body.block.args]  # pyright: ignore[reportAttributeAccessIssue]
    return [numbers.integers(-8, 8, shape).astype(np.float32) for shape in kinds]


def require_same(expected: list[np.ndarray], module: ModuleOp, inputs: list[np.ndarray], *, depths: bool = False) -> None:
    """Small integers in f32: sums are exact in any order."""
    for left, right in zip(expected, execute(module, inputs, depths=depths), strict=True):
        np.testing.assert_array_equal(right, left)


# Several ports --------------------------------------------------------------------------------------------------------


def schedule(numbers: random.Random, extents: list[int], parallel: list[int], operands: list[list[int]]) -> str:
    tile = [numbers.choice([d for d in range(1, extent + 1) if extent % d == 0 and d <= 24]) for extent in extents]
    order = numbers.sample(range(len(extents)), len(extents))
    unroll = [tile[loop] if loop in parallel and numbers.random() < 0.6 else 1 for loop in range(len(extents))]
    vectors: list[list[int]] = []
    if numbers.random() < 0.5:
        for dims in operands:
            width = numbers.choice([d for d in range(1, tile[dims[-1]] + 1) if tile[dims[-1]] % d == 0])
            vectors.append([*[1] * (len(dims) - 1), width])
    return f"#dataflow.schedule<tile = {tile}, order = {order}, unroll = {unroll}, vector = {vectors}>"


def matmul_and_more(seed: int) -> str:
    """A matmul, a sum over its rows and a negation of it: fan-out, reconvergence, any tiles, orders, unroll factors, vectors."""
    numbers = random.Random(seed)
    m, n, k = numbers.choice((1, 3, 4, 6)), numbers.choice((6, 8, 12, 16, 24, 7)), numbers.choice((1, 2, 5, 6))
    id2, row = "affine_map<(i, j) -> (i, j)>", "affine_map<(i, j) -> (i)>"
    product = schedule(numbers, [m, n, k], [0, 1], [[0, 2], [2, 1], [0, 1]])
    negation = schedule(numbers, [m, n], [0, 1], [[0, 1], [0, 1]])
    scaled = schedule(numbers, [m, n], [0, 1], [[0, 1], [0], [0, 1]])
    total = schedule(numbers, [m, n], [0], [[0, 1], [0]])
    return f"""
func.func @main(%x: tensor<{m}x{k}xf32>, %w: tensor<{k}x{n}xf32>) -> (tensor<{m}x{n}xf32>, tensor<{m}x{n}xf32>) {{
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<{m}x{n}xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<{m}x{n}xf32>) -> tensor<{m}x{n}xf32>
  %y = linalg.generic {{indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>,
      affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]}}
      ins(%x, %w : tensor<{m}x{k}xf32>, tensor<{k}x{n}xf32>) outs(%f : tensor<{m}x{n}xf32>)
      attrs = {{stc.name = "product", stc.schedule = {product}}} {{
  ^bb0(%a: f32, %b: f32, %c: f32):
    %m = arith.mulf %a, %b : f32
    %s = arith.addf %m, %c : f32
    linalg.yield %s : f32
  }} -> tensor<{m}x{n}xf32>
  %e1 = tensor.empty() : tensor<{m}x{n}xf32>
  %z = linalg.generic {{indexing_maps = [{id2}, {id2}], iterator_types = ["parallel", "parallel"]}}
      ins(%y : tensor<{m}x{n}xf32>) outs(%e1 : tensor<{m}x{n}xf32>) attrs = {{stc.name = "negation", stc.schedule = {negation}}} {{
  ^bb0(%a: f32, %o: f32):
    %t = arith.negf %a : f32
    linalg.yield %t : f32
  }} -> tensor<{m}x{n}xf32>
  %e2 = tensor.empty() : tensor<{m}xf32>
  %f2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<{m}xf32>) -> tensor<{m}xf32>
  %s = linalg.generic {{indexing_maps = [{id2}, {row}], iterator_types = ["parallel", "reduction"]}}
      ins(%y : tensor<{m}x{n}xf32>) outs(%f2 : tensor<{m}xf32>) attrs = {{stc.name = "total", stc.schedule = {total}}} {{
  ^bb0(%a: f32, %o: f32):
    %t = arith.addf %a, %o : f32
    linalg.yield %t : f32
  }} -> tensor<{m}xf32>
  %e3 = tensor.empty() : tensor<{m}x{n}xf32>
  %q = linalg.generic {{indexing_maps = [{id2}, {row}, {id2}], iterator_types = ["parallel", "parallel"]}}
      ins(%z, %s : tensor<{m}x{n}xf32>, tensor<{m}xf32>) outs(%e3 : tensor<{m}x{n}xf32>)
      attrs = {{stc.name = "scaled", stc.schedule = {scaled}}} {{
  ^bb0(%a: f32, %b: f32, %o: f32):
    %t = arith.mulf %a, %b : f32
    linalg.yield %t : f32
  }} -> tensor<{m}x{n}xf32>
  func.return %q, %y : tensor<{m}x{n}xf32>, tensor<{m}x{n}xf32>
}}"""


def striped_ports(module: ModuleOp) -> int:
    return sum(len(op.stripes) > 1 for op in module.walk() if isinstance(op, PackOp | UnpackOp))


@pytest.mark.parametrize("block", range(2))
def test_several_ports(block: int) -> None:
    """At every level; some programs of each block have striped tensors and streams side by side."""
    striped = split = 0
    for seed in seeds(3, 7 * block):
        module = parse_module(matmul_and_more(seed))
        inputs = inputs_of(module)
        expected = execute(module, inputs)
        apply(module, "tile-linalg,linalg-to-dataflow,choose-groups,merge-kernels,trim-boundaries,insert-converters")
        apply(module, "insert-forks,vectorize-streams{lanes=2 bits=64}")
        require_same(expected, module, inputs)
        apply(module, "split-ports")
        split += sum(isinstance(op, SplitOp | MergeOp) for op in module.walk())
        require_same(expected, module, inputs)
        apply(module, "simplify-routing,pack-interfaces{port_bits=64},cancel-packs,verify-streams")
        striped += striped_ports(module)
        require_same(expected, module, inputs)
        apply(module, TO_STREAMS)
        require_same(expected, module, inputs, depths=True)
    assert striped and split >= striped


# Packing and its cancellation -----------------------------------------------------------------------------------------


def random_order(numbers: random.Random, shape: tuple[int, ...]) -> StreamOrder:
    """An exact order over vectors of a tensor, loops in any order, with a reuse loop now and then."""
    element = [1] * (len(shape) - 1) + [largest_divisor(shape[-1], numbers.choice((1, 2, 3, 4)))]
    nest: list[tuple[Loop, int | None]] = []
    for dimension, extent in enumerate(shape):
        step = element[dimension]
        while step < extent:
            trip = numbers.choice([d for d in range(2, extent // step + 1) if (extent // step) % d == 0])
            nest.append((Loop(trip, step), dimension))
            step *= trip
    if numbers.random() < 0.4:
        nest.append((Loop(numbers.choice((1, 2, 3)), 1), None))
    if numbers.random() < 0.6:
        nest.sort(key=lambda entry: (-1 if entry[1] is None else entry[1], -entry[0].step))
    else:
        numbers.shuffle(nest)
    coordinates = tuple(Coordinate(tuple(i for i, (_, d) in enumerate(nest) if d == dim)) for dim in range(len(shape)))
    return StreamOrder(tuple(element), tuple(loop for loop, _ in nest), coordinates)


def typed(order: StreamOrder) -> str:
    head, rest = str(order).split(", ", 1)
    return f"!itensor.itensor<{head}xf32, {rest}>"


def chain(seed: int) -> str:
    """Three kernels that pass a tensor on, each taking it in an order of its own; the second result is wanted by the host too."""
    numbers = random.Random(seed)
    shape = numbers.choice(((6,), (2, 12), (3, 8), (4, 6), (2, 3, 8), (5, 7), (1, 16)))
    first = random_order(numbers, shape)
    orders = [first, *(random_order(numbers, shape) if numbers.random() < 0.7 else first for _ in range(3))]
    a, b, c, d = (typed(order) for order in (orders[0].without_reuse(), *orders[1:]))
    outer = f"tensor<{'x'.join(map(str, shape))}xf32>"
    return f"""
func.func @main(%x: {outer}) -> ({outer}, {outer}, {outer}) {{
  %p = dataflow.kernel @a(%s = %x : {outer} as {a}) -> ({outer} as {a}) {{ dataflow.yield %s : {a} }}
  %q = dataflow.kernel @b(%s = %p : {outer} as {b}) -> ({outer} as {b}) {{ dataflow.yield %s : {b} }}
  %r = dataflow.kernel @c(%s = %p : {outer} as {c}) -> ({outer} as {c}) {{ dataflow.yield %s : {c} }}
  %t = dataflow.kernel @d(%s = %q : {outer} as {d}) -> ({outer} as {d}) {{ dataflow.yield %s : {d} }}
  func.return %q, %r, %t : {outer}, {outer}, {outer}
}}"""


@pytest.mark.parametrize("port_bits", [64, 256])
@pytest.mark.parametrize("on_chip", [0, 100])
def test_packed_and_passed_on(port_bits: int, on_chip: int) -> None:
    """What stays on the host is only what needs a converter that does not fit."""
    before = after = 0
    for seed in seeds(7):
        module = parse_module(chain(seed))
        inputs = inputs_of(module)
        expected = execute(module, inputs)
        apply(module, f"pack-interfaces{{port_bits={port_bits}}}")
        before += len(host_trips(module))
        require_same(expected, module, inputs)
        apply(module, f"cancel-packs{{on-chip={on_chip}}},verify-streams")
        trips = host_trips(module)
        after += len(trips)
        assert not any("cancel-packs" in trip.reason for trip in trips), f"seed {seed}: {trips}"
        assert on_chip or not trips, f"seed {seed}: {trips}"
        require_same(expected, module, inputs)
        apply(module, "lower-converters,lower-layout,lower-dmas")
        require_same(expected, module, inputs)
    assert before > 2 * after
    assert on_chip == 0 or after, "no program is too big for the number of bytes on chip"


def test_words_hold_the_tensor_and_little_else() -> None:
    """Every packed operand has at most the padding of its slots and of one word."""
    for seed in seeds(15):
        module = apply(parse_module(chain(seed)), "pack-interfaces{port_bits=128}")
        for kernel in [op for op in module.walk() if isinstance(op, KernelOp)]:
            for value, port in zip(kernel.inputs, kernel.arguments, strict=True):
                assert isinstance(port.type, ItensorType)
                words, lanes = value.type.get_shape()[0], value.type.element_type.get_shape()[0]  # pyright: ignore
                entries = prod(port.type.tensor_shape)
                token = port.type.order.element_count
                slot = 1 << (token - 1).bit_length()
                assert lanes * 32 <= 128
                assert words * lanes == entries // token * slot


def two_readers(widths: tuple[int, int], stripes: int) -> str:
    """Two kernels that take one tensor row by row, in tokens of these widths, through as many ports as there are stripes."""
    rows, columns = 4, 24 * stripes
    outer = f"tensor<{rows}x{columns}xf32>"

    def kernel(name: str, width: int) -> str:
        whole = StreamOrder((1, width), (Loop(rows, 1), Loop(columns // width, width)), (Coordinate((0,)), Coordinate((1,))))
        parts = ", ".join(typed(part) for part in round_robin_parts(whole, stripes))
        values = ", ".join(f"%p{number}" for number in range(stripes))
        return f"""
  %{name} = dataflow.kernel @{name}(%s = %x : {outer} as {typed(whole)}) -> ({outer} as {typed(whole)}) {{
    {values} = itensor.split %s : {typed(whole)} to {parts}
    %j = itensor.merge {values} : {parts} to {typed(whole)}
    dataflow.yield %j : {typed(whole)}
  }}"""

    kernels = kernel("a", widths[0]) + kernel("b", widths[1])
    return f"func.func @main(%x: {outer}) -> ({outer}, {outer}) {{{kernels}\n  func.return %a, %b : {outer}, {outer}\n}}"


@pytest.mark.parametrize(
    ("widths", "stripes", "packs"),
    [((4, 4), 2, 1), ((4, 8), 2, 2), ((4, 8), 1, 1), ((3, 6), 1, 2), ((3, 3), 1, 1)],
)
def test_packs_are_shared_where_every_word_is_the_same(widths: tuple[int, int], stripes: int, packs: int) -> None:
    """Tokens of 4 and 8 are split differently; tokens of 3 and 6 have their padding in different lanes."""
    module = parse_module(two_readers(widths, stripes))
    inputs = inputs_of(module)
    expected = execute(module, inputs)
    apply(module, "simplify-routing,pack-interfaces{port_bits=256}" if stripes == 1 else "pack-interfaces{port_bits=256}")
    apply(module, "cancel-packs")
    assert sum(isinstance(op, PackOp) for op in module.walk()) == packs
    require_same(expected, module, inputs)
