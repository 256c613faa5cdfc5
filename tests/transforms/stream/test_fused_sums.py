"""`fuse-fills` and what follows it on random tiles of sums: tile after tile in one buffer, two loops that reduce anywhere among the
others, statements between the loops, FIFOs of two tokens. Values stay the same, bit for bit."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from random import Random

import numpy as np
import pytest
from tile_nests import design, nest
from xdsl.dialects.arith import SelectOp
from xdsl.dialects.memref import AllocOp

from stc.dialects.context import make_context
from stc.dialects.parsing import parse_module
from stc.execution.run import execute
from stc.transforms.stream.fuse_fills import FuseFills
from stc.transforms.stream.fuse_reads import FuseReads
from stc.transforms.stream.fuse_writes import FuseWrites
from stc.transforms.stream.sink_reads import SinkReads
from stc_testing.drawn import seeds


@dataclass(frozen=True)
class Sums:
    """`tiles` of `extents`, each entry the sum of `terms` in the loops k and l, in the nest `order`; an iteration computes
    `at_once` entries, tokens are of `width`. `between`: the loop that does something before the next one; empty for none."""

    tiles: int
    extents: tuple[int, int, int]
    terms: tuple[int, int]
    order: str
    at_once: int
    width: int
    between: str

    @property
    def entries(self) -> int:
        return self.tiles * prod(self.extents)

    def nest(self, order: str, step: int, body: str) -> str:
        extents = dict(zip("abckl", (*self.extents, *self.terms), strict=True))
        text = nest(order, extents, {"c": step}, body)
        if not self.between or "k" not in order:
            return text
        head = f"scf.for %{self.between} ="
        begin = text.index("{\n", text.index(head)) + 2
        return text[:begin] + f"""
          %h2 = memref.load %m[%{self.between}] : memref<{self.entries}xvector<1xf32>>
          %e2 = vector.extract %h2[0] : f32 from vector<1xf32>
          memref.store %e2, %side[%c0] : memref<1xf32>
        """ + text[begin:]

    def text(self) -> str:
        tile = "x".join(map(str, self.extents))
        compute = self.nest(self.order, self.at_once, f"""
          scf.for %lane = %c0 to %c{self.at_once} step %c1 {{
            %d = arith.addi %c, %lane : index
            %a1 = arith.muli %a, %c{self.extents[1]} : index  %b1 = arith.addi %a1, %b : index
            %b2 = arith.muli %b1, %c{self.extents[2]} : index  %d1 = arith.addi %b2, %d : index
            %k1 = arith.muli %k, %c7 : index  %l1 = arith.muli %l, %c13 : index  %t1 = arith.muli %t, %c31 : index
            %s1 = arith.addi %d1, %k1 : index  %s2 = arith.addi %s1, %l1 : index  %s3 = arith.addi %s2, %t1 : index
            %at = arith.remui %s3, %c{self.entries} : index
            %w = memref.load %m[%at] : memref<{self.entries}xvector<1xf32>>  %v = vector.extract %w[0] : f32 from vector<1xf32>
            %f = memref.load %side[%c0] : memref<1xf32>  %term = arith.mulf %v, %f : f32
            %z = memref.load %tile[%a, %b, %d] : memref<{tile}xf32>  %r = arith.addf %z, %term : f32
            memref.store %r, %tile[%a, %b, %d] : memref<{tile}xf32>
          }} {{stc.unroll = 0 : i32}}""")
        drain = self.nest("abc", self.width, f"""
          %u = vector.load %tile[%a, %b, %c] : memref<{tile}xf32>, vector<{self.width}xf32>
          stream.write %u into %o0 : !stream.stream<vector<{self.width}xf32>, depth: 2>""")
        fill = self.nest("abc", 1, f"memref.store %zero, %tile[%a, %b, %c] : memref<{tile}xf32>")
        body = f"""
          %zero = arith.constant 0.0 : f32  %tile = memref.alloc() : memref<{tile}xf32>  %side = memref.alloc() : memref<1xf32>
          scf.for %t = %c0 to %c{self.tiles} step %c1 {{
            %h = memref.load %m[%t] : memref<{self.entries}xvector<1xf32>>  %e = vector.extract %h[0] : f32 from vector<1xf32>
            memref.store %e, %side[%c0] : memref<1xf32>
            {fill} {compute} {drain}
          }}"""
        numbers = {1, 7, 13, 31, self.tiles, *self.extents, *self.terms, self.at_once, self.width, self.entries}
        return design(self.entries, self.width, 2, body, numbers)


def drawn(seed: int) -> Sums:
    """A random tile of sums, half of them in the order of their tokens."""
    random = Random(seed)
    order = list("abc")
    for name in "kl":
        order.insert(random.randrange(len(order) + 1), name)
    if random.random() < 0.5:
        random.shuffle(order)
    columns = random.choice([4, 8, 12])
    return Sums(
        tiles=random.choice([1, 2]), extents=(random.choice([1, 2, 3]), random.choice([1, 2, 5]), columns),
        terms=(random.choice([1, 2, 3]), random.choice([1, 3])), order="".join(order), at_once=random.choice([1, 2, 4, columns]),
        width=random.choice([1, 2, 4, columns]), between=random.choice(["", *order[:-1]]),
    )


@pytest.mark.parametrize("part", range(4))
def test_random_tiles_of_sums(part: int) -> None:
    is_set = leaves = 0
    for seed in seeds(25, 25 * part):
        sums = drawn(seed)
        module = parse_module(sums.text(), "sums.mlir")
        x = np.random.default_rng(seed).standard_normal(sums.entries).astype(np.float32)
        expected = execute(module, [x], depths=True)[0]
        assert np.isfinite(expected).all()
        for one_pass in (FuseFills(), FuseWrites(), FuseReads(), SinkReads()):
            one_pass.apply(make_context(), module)
            module.verify()
        np.testing.assert_array_equal(execute(module, [x], depths=True)[0].view(np.int32), expected.view(np.int32), str(sums))
        is_set += any(isinstance(op, SelectOp) for op in module.walk())
        leaves += any(isinstance(op, AllocOp) and op.memref.type.get_shape() != (1,) and "token" in (op.memref.name_hint or "")
                      for op in module.walk())
    assert is_set and leaves


OPERAND_IN_ANOTHER_ORDER = """
dataflow.kernel @k() {
  %in = stream.create @in : !stream.stream<vector<1xf32>, depth: 512>
  %out = stream.create @out : !stream.stream<vector<8xf32>, depth: 4>
  dataflow.task @feed ins() outs(%o = %in : !stream.stream<vector<1xf32>, depth: 512>) {
    %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %tokens = arith.constant 512 : index
    %zero = arith.constant 0.0 : f32  %token = vector.broadcast %zero : f32 to vector<1xf32>
    scf.for %i = %c0 to %tokens step %c1 { stream.write %token into %o : !stream.stream<vector<1xf32>, depth: 512> }
  }
  dataflow.task @t ins(%p = %in : !stream.stream<vector<1xf32>, depth: 512>)
      outs(%q = %out : !stream.stream<vector<8xf32>, depth: 4>) {
    %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %c4 = arith.constant 4 : index  %c8 = arith.constant 8 : index
    %c16 = arith.constant 16 : index  %x = memref.alloc() : memref<8x4xf32>  %tile = memref.alloc() : memref<4x8xf32>
    scf.for %k = %c0 to %c16 step %c1 {
      scf.for %j = %c0 to %c8 step %c1 { scf.for %i = %c0 to %c4 step %c1 {
        %v = stream.read %p : !stream.stream<vector<1xf32>, depth: 512>
        vector.store %v, %x[%j, %i] : memref<8x4xf32>, vector<1xf32>
      } }
      scf.for %i = %c0 to %c4 step %c1 { scf.for %j = %c0 to %c8 step %c1 {
        %a = memref.load %x[%j, %i] : memref<8x4xf32>
        %b = memref.load %tile[%i, %j] : memref<4x8xf32>
        %c = arith.addf %a, %b : f32
        memref.store %c, %tile[%i, %j] : memref<4x8xf32>
      } }
    }
    scf.for %i = %c0 to %c4 step %c1 {
      %v = vector.load %tile[%i, %c0] : memref<4x8xf32>, vector<8xf32>
      stream.write %v into %q : !stream.stream<vector<8xf32>, depth: 4>
    }
  }
  dataflow.task @end ins(%p = %out : !stream.stream<vector<8xf32>, depth: 4>) outs() {
    %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %c4 = arith.constant 4 : index
    scf.for %i = %c0 to %c4 step %c1 { %v = stream.read %p : !stream.stream<vector<8xf32>, depth: 4> }
  }
}
"""


def test_a_nest_around_which_an_operand_is_filled_is_better_interchanged() -> None:
    """Its 32 entries are filled 16 times: 512 iterations less where the nest takes them as they come, 4 where its sums leave."""
    module = parse_module(OPERAND_IN_ANOTHER_ORDER, "sums.mlir")
    before = str(module)
    FuseWrites().apply(make_context(), module)
    assert str(module) == before
    FuseReads().apply(make_context(), module)
    assert {op.memref.type.get_shape() for op in module.walk() if isinstance(op, AllocOp)} == {(1,), (4, 8)}
