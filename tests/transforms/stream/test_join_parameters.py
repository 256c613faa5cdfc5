"""`join-parameters`: what a load brings one after the other lies so, whatever order the words of each have."""

from __future__ import annotations

import re
from itertools import permutations

import numpy as np
import pytest
from xdsl.builder import Builder
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp, TensorType, f32
from xdsl.ir import Block, Region
from xdsl.rewriter import InsertPoint

from stc.dialects.context import make_context
from stc.dialects.dataflow import KernelOp, TaskKind, TaskOp
from stc.dialects.parsing import parse_module
from stc.execution.layout import pack
from stc.execution.run import execute
from stc.iteration.order import Coordinate, Loop, StreamOrder
from stc.transforms.linalg.in_order import in_order
from stc.transforms.stream.join_parameters import JoinParameters

SIZES = {"up": (6, 4), "down": (10,), "head": (4,)}
W, S = "vector<2xf32>", "!stream.stream<vector<2xf32>, depth: 2>"
HEADER = """
!Up = !itensor.itensor<1x2xf32, iter_space: [2, 6] * [2, 1], iter_map: (c, r) -> (r, c)>
!Down = !itensor.itensor<2xf32, iter_space: [5] * [2], iter_map: (d) -> (d)>
!Head = !itensor.itensor<2xf32, iter_space: [2] * [2], iter_map: (d) -> (d)>
"""


def words(name: str) -> int:
    return int(np.prod(SIZES[name])) // 2


def loop(name: str, out: str, mark: str = "") -> str:
    count, kind = words(name), f"memref<{words(name)}x{W}>"
    return f"""
      %c_{name} = arith.constant {count} : index
      scf.for %i = %c0 to %c_{name} step %c1 {{
        %w = memref.load %p_{name}[%i] : {kind}
        stream.write %w into %{out} : {S}
      }}{mark}"""


def sends(out: str, count: int) -> str:
    """A task that stores all words of a stream."""
    kind = f"memref<{count}x{W}>"
    return f"""
    %m_{out} = dataflow.memory @m_{out} : {kind}
    dataflow.task @store_{out} ins(%i = %{out} : {S}) outs(%o = %m_{out} : {kind}) kind store {{
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %n = arith.constant {count} : index
      scf.for %k = %c0 to %n step %c1 {{
        %w = stream.read %i : {S}
        memref.store %w, %o[%k] : {kind}
      }}
      dataflow.yield
    }}"""


def program(loads: str, sent: dict[str, int], given: str = "{stc.parameter}", constant: str = "") -> ModuleOp:
    """A kernel of one load, which does `loads` for streams that have so many words each. `constant`: what is no argument."""
    shapes = {name: f"tensor<{'x'.join(map(str, shape))}xf32>" for name, shape in SIZES.items()}
    packs = "".join(
        f"\n  %w_{name} = dataflow.pack %{name} : {shapes[name]} as !{name.capitalize()} -> tensor<{words(name)}x{W}>"
        for name in SIZES
    )
    ports = ", ".join(f"%k_{name} = %w_{name} : tensor<{words(name)}x{W}> as memref<{words(name)}x{W}>" for name in SIZES)
    ins = ", ".join(f"%p_{name} = %k_{name} : memref<{words(name)}x{W}>" for name in SIZES)
    outs = ", ".join(f"%o_{out} = %{out} : {S}" for out in sent)
    results = ", ".join(f"tensor<{count}x{W}>" for count in sent.values())
    memories = ", ".join(f"tensor<{count}x{W}> as memref<{count}x{W}>" for count in sent.values())
    arguments = ", ".join(f"%{name}: {kind} {given}" for name, kind in shapes.items() if name != constant)
    known = f"\n  %{constant} = arith.constant dense<1.0> : {shapes[constant]}" if constant else ""
    names = ", ".join(f"%y_{out}" for out in sent)
    return parse_module(f"""{HEADER}
func.func @main({arguments}) -> ({results}) {{{known}{packs}
  {names} = dataflow.kernel @k({ports}) -> ({memories}) {{{"".join(f'''
    %{out} = stream.create @{out} : {S}''' for out in sent)}
    dataflow.task @load ins({ins}) outs({outs}) kind load {{
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index{loads}
      dataflow.yield
    }}{"".join(sends(out, count) for out, count in sent.items())}
    dataflow.yield {", ".join(f"%m_{out}" for out in sent)} : {", ".join(f"memref<{n}x{W}>" for n in sent.values())}
  }}
  return {names} : {results}
}}""")


def joined(module: ModuleOp) -> ModuleOp:
    """The module behind the pass."""
    made = module.clone()
    JoinParameters().apply(make_context(), made)
    made.verify()
    return made


INPUTS = [np.random.default_rng(7).normal(size=shape).astype(np.float32) for shape in SIZES.values()]


def inputs_of(module: ModuleOp) -> int:
    (kernel,) = [op for op in module.walk() if isinstance(op, KernelOp)]
    return len(kernel.inputs)


@pytest.mark.parametrize("names", permutations(SIZES))
def test_neighbours_become_one(names: tuple[str, ...]) -> None:
    """In the order in which they are loaded."""
    total = sum(words(name) for name in names)
    before = program("".join(loop(name, "o_s") for name in names), {"s": total})
    after = joined(before)
    assert inputs_of(after) == 1
    for one, other in zip(execute(before, INPUTS), execute(after, INPUTS), strict=True):
        np.testing.assert_array_equal(one, other)


def test_the_load_stays_in_its_unit() -> None:
    before = program("".join(loop(name, "o_s") for name in SIZES), {"s": 19})
    next(op for op in before.walk() if isinstance(op, TaskOp)).unit = "memory"
    (load,) = [op for op in joined(before).walk() if isinstance(op, TaskOp) and op.kind == TaskKind.LOAD]
    assert load.unit == "memory"


@pytest.mark.parametrize(("loads", "sent", "left"), [
    (loop("up", "o_s") + loop("down", "o_s") + loop("head", "o_s", " {stc.behind_layers}"), {"s": 19}, 2),
    (loop("up", "o_s") + loop("down", "o_t") + loop("head", "o_t"), {"s": 12, "t": 7}, 2),
    (loop("up", "o_s") + loop("down", "o_t") + loop("head", "o_s"), {"s": 14, "t": 5}, 3),
], ids=["behind layers", "two of one stream", "another between them"])  # fmt: skip
def test_what_is_no_neighbour_of_its_kind_stays(loads: str, sent: dict[str, int], left: int) -> None:
    before = program(loads, sent)
    after = joined(before)
    assert inputs_of(after) == left
    for one, other in zip(execute(before, INPUTS), execute(after, INPUTS), strict=True):
        np.testing.assert_array_equal(one, other)


def test_inputs_stay_as_they_are() -> None:
    """The host packs them in each launch, where they lie."""
    before = program("".join(loop(name, "o_s") for name in SIZES), {"s": 19}, given="")
    assert inputs_of(joined(before)) == 3


def word(name: str, index: str, out: str) -> str:
    return f"""
      %w_{name}_{index} = memref.load %p_{name}[%{index}] : memref<{words(name)}x{W}>
      stream.write %w_{name}_{index} into %{out} : {S}"""


def test_words_without_a_loop_keep_loops_apart() -> None:
    """A parameter of few words between two others: none of these is the neighbour of the other."""
    before = program(loop("up", "o_s") + word("head", "c0", "o_s") + word("head", "c1", "o_s") + loop("down", "o_s"), {"s": 19})
    after = joined(before)
    assert inputs_of(after) == 3
    for one, other in zip(execute(before, INPUTS), execute(after, INPUTS), strict=True):
        np.testing.assert_array_equal(one, other)


def test_a_constant_stays_apart() -> None:
    """Each layer has it: it is not one of what comes for all layers."""
    text = "".join(loop(name, "o_s") for name in SIZES)
    before = program(text, {"s": 19}, constant="head")
    assert inputs_of(joined(before)) == 2


@pytest.mark.parametrize(("kinds", "left"), [(("i3", "i4"), 2), (("i4", "i4"), 1)])
def test_only_entries_of_one_type_are_joined(kinds: tuple[str, str], left: int) -> None:
    """Which words of memory hold alike."""
    text = str(program(loop("down", "o_s") + loop("head", "o_s"), {"s": 7})).replace("f32", "i4")
    text = re.sub(r"(%head: tensor<4x)i4", rf"\g<1>{kinds[0]}", text)
    text = re.sub(r"(dataflow.pack %head : tensor<4x)i4(> as !itensor.itensor<2x)i4", rf"\g<1>{kinds[0]}\g<2>{kinds[0]}", text)
    before = parse_module(text)
    after = joined(before)
    assert inputs_of(after) == left + 1  # and what the load does not read
    draw = np.random.default_rng(3)
    inputs = [draw.integers(-4, 4, shape).astype(np.int8) for shape in SIZES.values()]
    for one, other in zip(execute(before, inputs), execute(after, inputs), strict=True):
        np.testing.assert_array_equal(one, other)


# In order -------------------------------------------------------------------------------------------------------------


def drawn_order(seed: int) -> StreamOrder:
    """Exact: each dimension is a token's part and up to two loops, in any order; some loops are of one iteration, one may reuse."""
    draw = np.random.default_rng(seed)
    element, loops, of_dimension = [], [], []
    for dimension in range(draw.integers(1, 4)):
        extent = int(draw.integers(1, 4))
        element.append(extent)
        for _ in range(draw.integers(0, 3)):
            trip = int(draw.integers(1, 4))
            loops.append(Loop(trip, extent))
            of_dimension.append(dimension)
            extent *= trip
    if draw.integers(2):
        loops.append(Loop(2, 1))
        of_dimension.append(None)
    order = draw.permutation(len(loops))
    moving = [tuple(at for at, loop in enumerate(order) if of_dimension[loop] == dimension) for dimension in range(len(element))]
    return StreamOrder(tuple(element), tuple(loops[loop] for loop in order), tuple(map(Coordinate, moving)))


@pytest.mark.parametrize("seed", range(40))
def test_entries_lie_as_tokens_come(seed: int) -> None:
    order = drawn_order(seed)
    assert order.is_exact
    shape = order.static_shape
    given = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
    block = Block(arg_types=[TensorType(f32, shape)])
    builder = Builder(InsertPoint.at_end(block))
    builder.insert(func.ReturnOp(found := in_order(builder, block.args[0], order)))
    kinds = [TensorType(f32, shape)], [found.type]
    module = ModuleOp([func.FuncOp("main", kinds, Region(block))])
    module.verify()
    (result,) = execute(module, [given])
    np.testing.assert_array_equal(result, pack(given, order, order.element_count).reshape(-1))
