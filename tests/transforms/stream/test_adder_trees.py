"""`build-adder-trees` keeps sums of integers, for any number of lanes, orders those of floats, and the estimates know its trees."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, log2, prod

import numpy as np
import pytest
from xdsl.dialects import arith, memref, scf
from xdsl.dialects.builtin import MemRefType, ModuleOp

from stc.analysis.loop_estimates import LoopEstimate, innermost_loops, loop_estimate
from stc.analysis.loops import most_trips
from stc.analysis.resources import task_operators, task_resources
from stc.analysis.summed_products import summed_products
from stc.design_space.adder_trees import chain_length, tree_strides
from stc.dialects.context import make_context
from stc.dialects.dataflow import TaskOp
from stc.dialects.facts import LABEL, REGISTERED
from stc.dialects.parsing import parse_module
from stc.execution.run import execute
from stc.platforms.operators import find_operator
from stc.transforms.stream.build_adder_trees import BuildAdderTrees
from stc.transforms.stream.expand_partial_sums import ExpandPartialSums
from stc.transforms.stream.hls_directives import HlsDirectives

CLOCK = 3.33
ROWS = 5

DESIGN = """
func.func @main(%x: tensor<{n}xi{bits}>) -> tensor<5xi{out}> {{
  %p = dataflow.pack %x : tensor<{n}xi{bits}> as !X -> tensor<{n}x!W>
  %q = dataflow.kernel @k(%in = %p : tensor<{n}x!W> as memref<{n}x!W>) -> (tensor<5x!V> as memref<5x!V>) {{
    %out = dataflow.memory @out : memref<5x!V>
    dataflow.task @t ins(%m = %in : memref<{n}x!W>) outs(%o = %out : memref<5x!V>) {{
      %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %n = arith.constant {n} : index
      %rows = arith.constant 5 : index  %zero = arith.constant 0 : i{sum}
      %b = memref.alloc() : memref<{n}xi{bits}>
      %s = memref.alloc() : memref<5xi{sum}>
      scf.for %i = %c0 to %n step %c1 {{
        %w = memref.load %m[%i] : memref<{n}x!W>
        %e = vector.extract %w[0] : i{bits} from !W
        memref.store %e, %b[%i] : memref<{n}xi{bits}>
      }}
      scf.for %i = %c0 to %rows step %c1 {{ memref.store %zero, %s[%i] : memref<5xi{sum}> }}
      scf.for %turn = %c0 to %rows step %c1 {{
        scf.for %i = %c0 to %rows step %c1 {{
          scf.for %k = %c0 to %n step %c1 {{
            %e = memref.load %b[%k] : memref<{n}xi{bits}>
            %f = arith.extsi %e : i{bits} to i{sum}
            %g = arith.muli %f, %f {made_of} : i{sum}
            %before = memref.load %s[%i] : memref<5xi{sum}>
            %after = arith.addi %before, %g : i{sum}
            memref.store %after, %s[%i] : memref<5xi{sum}>
          }} {{stc.unroll = 0 : i32, stc.label = "fc_k"}}
        }} {{stc.label = "fc_i"}}
      }} {{stc.label = "fc_turn"}}
      scf.for %i = %c0 to %rows step %c1 {{
        %e = memref.load %s[%i] : memref<5xi{sum}>
        {widened}
        %w = vector.broadcast {result} : i{out} to !V
        memref.store %w, %o[%i] : memref<5x!V>
      }}
      dataflow.yield
    }}
    dataflow.yield %out : memref<5x!V>
  }}
  %y = dataflow.unpack %q : tensor<5x!V> as !Y -> tensor<5xi{out}>
  func.return %y : tensor<5xi{out}>
}}
"""
ITENSOR = "!itensor.itensor<1xi{}, iter_space: [{}] * [1], iter_map: (d0) -> (d0)>"


def design(n: int, bits: int, total: int, made_of: str = "") -> ModuleOp:
    """Five turns of five sums, each of all products of `n` integers of `bits` with themselves."""
    out = 64 if total == 48 else total
    result, widened = ("%f", "%f = arith.extsi %e : i48 to i64") if out > total else ("%e", "")
    text = DESIGN.format(n=n, bits=bits, sum=total, made_of=made_of, out=out, result=result, widened=widened)
    kinds = {"!W": f"vector<1xi{bits}>", "!V": f"vector<1xi{out}>", "!X": ITENSOR.format(bits, n), "!Y": ITENSOR.format(out, ROWS)}
    for name, kind in kinds.items():
        text = text.replace(name, kind)
    return parse_module(text, "tree.mlir")


def in_trees(module: ModuleOp) -> ModuleOp:
    BuildAdderTrees().apply(make_context(), module)
    module.verify()
    return module


LANES = [2, 3, 5, 7, 8, 11, 12, 16, 17, 31, 64]


@pytest.mark.parametrize("n", LANES)
@pytest.mark.parametrize(("bits", "total"), [(8, 32), (8, 16), (16, 48), (16, 64)])
def test_sums_are_the_same(n: int, bits: int, total: int) -> None:
    """In 16 bits they wrap around; products of 16 bits are added by the DSPs that make them, in chains."""
    x = np.random.default_rng(n).integers(-(1 << bits - 1), 1 << bits - 1, n).astype(f"int{bits}")
    before = execute(design(n, bits, total), [x])[0]
    assert np.array_equal(execute(in_trees(design(n, bits, total)), [x])[0], before)
    sums = ROWS * int(np.sum(x.astype(np.int64) ** 2))
    assert np.array_equal(before, [(sums + (1 << total - 1)) % (1 << total) - (1 << total - 1)] * ROWS)


@pytest.mark.parametrize("n", LANES)
def test_a_tree_adds_every_leaf_once_within_the_least_levels(n: int) -> None:
    leaves = [1 << entry for entry in range(n)]
    strides = tree_strides(n)
    for stride in strides:
        for entry in range(0, n - stride, 2 * stride):
            leaves[entry] += leaves[entry + stride]
    assert leaves[0] == (1 << n) - 1 and len(strides) == ceil(log2(n))


def test_chains_of_dsps_have_equal_lengths() -> None:
    assert [chain_length(n, adds_in_dsp=True) for n in (7, 8, 11, 12, 16, 64)] == [7, 8, 1, 6, 8, 8]
    assert chain_length(64, adds_in_dsp=False) == 1


def task_of(module: ModuleOp) -> TaskOp:
    HlsDirectives().apply(make_context(), module)
    return next(op for op in module.walk() if isinstance(op, TaskOp))


def estimate(task: TaskOp) -> LoopEstimate:
    """Of the loop that multiplies."""
    loops = list(innermost_loops(task))
    return loop_estimate(loops[2], task, CLOCK)


@pytest.mark.parametrize("n", LANES)
def test_estimates_know_the_tree(n: int) -> None:
    """Products of bytes in LUTs: a stage for each level, with two bits of control, n - 1 adders with their registers, one that
    accumulates; as many products as before, and an iteration in each cycle. What the adders hand on is no array."""
    chain, tree = task_of(design(n, 8, 32)), task_of(in_trees(design(n, 8, 32)))
    assert estimate(tree).depth == estimate(chain).depth + ceil(log2(n))
    assert estimate(chain).ii == estimate(tree).ii == 1
    assert task_operators(tree) == {"mul_u8_u9": n, "int_sum_32": n - 1, "int_logic_32": 1}
    assert summed_products(tree, CLOCK) == summed_products(chain, CLOCK)
    without, with_it = (task_resources(task, CLOCK) for task in (chain, tree))
    assert with_it.ff - without.ff == 32 * (n - 1) + 2 * ceil(log2(n)) and with_it.lut == without.lut


def test_dsps_add_in_chains_of_eight() -> None:
    """64 products of 16 bits: 8 chains, which take no LUTs, and 7 adders in 3 levels."""
    tree = in_trees(design(64, 16, 48))
    assert sum(REGISTERED.on(op) for op in tree.walk()) == 3
    task = task_of(tree)
    assert task_operators(task) == {"mul_u9_u11": 64, "dsp_chain_48": 64, "int_sum_64": 7, "int_logic_64": 1}
    assert find_operator("dsp_chain_48", CLOCK).lut == 0
    found = summed_products(task, CLOCK)
    assert found is not None and (found.at_once, found.dsp) == (64, 64)
    assert estimate(task).ii == 1
    assert estimate(task).depth == estimate(task_of(design(64, 16, 48))).depth + 8 + 3


def test_what_is_bound_to_a_dsp_by_name_is_added_in_luts() -> None:
    """The vendor's tool may not make one operator of the product and its sum then (UG1399, bind_op)."""
    task = task_of(in_trees(design(16, 16, 48, made_of='{stc.multipliers = "dsp"}')))
    assert task_operators(task) == {"mul_u9_u11": 16, "int_sum_64": 15, "int_logic_64": 1}


ROW = """
func.func @main(%x: tensor<{n}xf32>) -> tensor<1xf32> {{
  %p = dataflow.pack %x : tensor<{n}xf32> as !X -> tensor<{n}x!W>
  %q = dataflow.kernel @k(%in = %p : tensor<{n}x!W> as memref<{n}x!W>) -> (tensor<1x!W> as memref<1x!W>) {{
    %out = dataflow.memory @out : memref<1x!W>
    dataflow.task @t ins(%m = %in : memref<{n}x!W>) outs(%o = %out : memref<1x!W>) {{
      %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %n = arith.constant {n} : index
      %lanes = arith.constant {lanes} : index  %zero = arith.constant 0.0 : f32
      %b = memref.alloc() : memref<{n}xf32>
      %s = memref.alloc() : memref<f32>
      scf.for %i = %c0 to %n step %c1 {{
        %w = memref.load %m[%i] : memref<{n}x!W>
        %e = vector.extract %w[0] : f32 from !W
        memref.store %e, %b[%i] : memref<{n}xf32>
      }}
      memref.store %zero, %s[] : memref<f32>
      scf.for %k = %c0 to %n step %lanes {{
        scf.for %lane = %c0 to %lanes step %c1 {{
          %at = arith.addi %k, %lane : index
          %e = memref.load %b[%at] : memref<{n}xf32>
          %before = memref.load %s[] : memref<f32>
          %after = arith.addf %before, %e : f32
          memref.store %after, %s[] : memref<f32>
        }} {{stc.unroll = 0 : i32, stc.label = "norm_lane"}}
      }} {{stc.label = "norm_k"}}
      %e = memref.load %s[] : memref<f32>
      %w = vector.broadcast %e : f32 to !W
      memref.store %w, %o[%c0] : memref<1x!W>
      dataflow.yield
    }}
    dataflow.yield %out : memref<1x!W>
  }}
  %y = dataflow.unpack %q : tensor<1x!W> as !Y -> tensor<1xf32>
  func.return %y : tensor<1xf32>
}}
"""


def row(n: int, lanes: int) -> ModuleOp:
    """The sum of `n` floats, `lanes` of them at once."""
    text = ROW.format(n=n, lanes=lanes)
    for name, kind in {"!W": "vector<1xf32>", "!X": ITENSOR.format(0, n), "!Y": ITENSOR.format(0, 1)}.items():
        text = text.replace(name, kind.replace("i0", "f32"))
    return parse_module(text, "row.mlir")


def in_tree_order(x: np.ndarray, lanes: int, partials: int) -> np.float32:
    """`lanes` terms in a tree, added to one of `partials` sums in turn, and these in a tree."""
    sums = np.zeros(partials, np.float32)
    for turn, terms in enumerate(x.reshape(-1, lanes)):
        sums[turn % partials] += pairwise(terms)
    return pairwise(sums)


def pairwise(terms: np.ndarray) -> np.float32:
    """Neighbours, then neighbours of those, ..., in f32; what has none waits."""
    level = list(terms.astype(np.float32))
    while len(level) > 1:
        level = [np.add.reduce(level[at : at + 2], dtype=np.float32) for at in range(0, len(level), 2)]
    return level[0]


@pytest.mark.parametrize(("n", "lanes", "partials"), [(256, 4, 8), (256, 8, 8), (1024, 16, 8), (96, 3, 1), (60, 5, 1)])
def test_a_row_of_floats_in_the_order_that_is_documented(n: int, lanes: int, partials: int) -> None:
    """Partial sums for one adder, not for a chain of lanes; three or five terms at once are no power of two, and have one."""
    x = np.random.default_rng(n).standard_normal(n).astype(np.float32)
    module = in_trees(row(n, lanes))
    ExpandPartialSums().apply(make_context(), module)
    (shape,) = accumulating(module)
    assert prod(shape) == partials
    (sum_,) = execute(module, [x])[0]
    assert sum_ == in_tree_order(x, lanes, partials)


def test_lanes_of_a_row_start_in_every_cycle() -> None:
    module = in_trees(row(1024, 16))
    ExpandPartialSums().apply(make_context(), module)
    task = task_of(module)
    intervals = {most_trips(loop): loop_estimate(loop, task, CLOCK).ii for loop in innermost_loops(task)}
    assert intervals[64] == 1


def accumulating(module: ModuleOp) -> list[Sequence[int]]:
    """The shapes of what a row is added to."""
    loops = [loop for loop in module.walk() if isinstance(loop, scf.ForOp) and LABEL.of(loop) == "norm_k"]
    stores = [op for loop in loops for op in loop.body.block.ops if isinstance(op, memref.StoreOp)]
    kinds = [store.memref.type for store in stores if isinstance(store.value.owner, arith.AddfOp)]
    return [kind.get_shape() for kind in kinds if isinstance(kind, MemRefType)]
