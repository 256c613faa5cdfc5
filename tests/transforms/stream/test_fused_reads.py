"""`fuse-reads`: values stay the same, bit for bit, whatever the sizes and orders; and nothing changes where it must not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
import pytest
from tile_nests import ITENSOR, nest
from xdsl.dialects.arith import AndIOp
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.memref import AllocOp
from xdsl.dialects.vector import StoreOp

from stc.analysis.loops import constant_of
from stc.dialects.context import make_context
from stc.dialects.parsing import parse_module
from stc.execution.run import execute
from stc.transforms.stream.fuse_reads import FuseReads

DESIGN = """
func.func @main(%x: tensor<{size}xf32>) -> tensor<{size}xf32> {{
  %p = dataflow.pack %x : tensor<{size}xf32> as !IN -> tensor<{words}x!W>
  %q = dataflow.kernel @k(%in = %p : tensor<{words}x!W> as memref<{words}x!W>)
      -> (tensor<{size}xvector<1xf32>> as memref<{size}xvector<1xf32>>) {{
    %out = dataflow.memory @out : memref<{size}xvector<1xf32>>
    {streams}
    dataflow.task @load ins(%m = %in : memref<{words}x!W>) outs({written}) {{
      {constants}
      scf.for %i = %c0 to %c{words} step %c{ports} {{
        {dealt}
      }}
      dataflow.yield
    }}
    dataflow.task @t ins({read}) outs(%o = %out : memref<{size}xvector<1xf32>>) {{
      {constants}
      %zero = arith.constant 0.0 : f32  %decay = arith.constant 0.7 : f32
      %tile = memref.alloc() : memref<{tile}xf32>
      %sum = memref.alloc() : memref<{shape}xf32>
      scf.for %i = %c0 to %c{A} step %c1 {{ scf.for %j = %c0 to %c{B} step %c1 {{ scf.for %k = %c0 to %c{C} step %c1 {{
        memref.store %zero, %sum[%i, %j, %k] : memref<{shape}xf32>
      }} }} }}
      {fill}
      {between}
      {use}
      {behind}
      scf.for %i = %c0 to %c{A} step %c1 {{ scf.for %j = %c0 to %c{B} step %c1 {{ scf.for %k = %c0 to %c{C} step %c1 {{
        %e = memref.load %sum[%i, %j, %k] : memref<{shape}xf32>
        %v = vector.broadcast %e : f32 to vector<1xf32>
        %cC = arith.constant {C} : index  %cB = arith.constant {B} : index
        %row = arith.muli %i, %cB : index  %rows = arith.addi %row, %j : index
        %first = arith.muli %rows, %cC : index  %at = arith.addi %first, %k : index
        memref.store %v, %o[%at] : memref<{size}xvector<1xf32>>
      }} }} }}
      dataflow.yield
    }}
    dataflow.yield %out : memref<{size}xvector<1xf32>>
  }}
  %y = dataflow.unpack %q : tensor<{size}xvector<1xf32>> as !OUT -> tensor<{size}xf32>
  func.return %y : tensor<{size}xf32>
}}
"""


@dataclass(frozen=True)
class Case:
    """A buffer of `extents`, filled in the order `fill` of its dimensions by tokens of `width` along the last; used in the order
    `use`, `at_once` entries in an iteration; sums run over the dimensions not in `kept`."""

    extents: tuple[int, int, int]
    width: int
    at_once: int
    fill: str = "abc"
    use: str = "abc"
    kept: str = "c"
    between: str = ""
    behind: str = ""
    guard: bool = False
    used: int | None = None
    """Entries along the last dimension that are used, where these are not all."""
    room: int = 0
    """Entries of the buffer along the last dimension that nothing is stored to."""
    again: int = 1
    """Iterations of a loop `r` of `use` that all use the same entries."""
    ports: int = 1
    """Streams that bring a token each in an iteration of the fill."""

    def nest(self, order: str, step: int, last: int, body: str) -> str:
        return nest(order, dict(zip("abcr", (*self.extents[:2], last, self.again), strict=True)), {"c": step}, body)

    def text(self) -> str:
        shape, size = "x".join(map(str, self.extents)), prod(self.extents)
        tile = "x".join(map(str, (*self.extents[:2], self.extents[2] + self.room)))
        word = f"vector<{self.width}xf32>"
        stream, ports = f"!stream.stream<!W, depth: {size // self.width}>", range(self.ports)
        fill = self.nest(self.fill, self.width * self.ports, self.extents[2], "\n".join(f"""
          %v{port} = stream.read %m{port} : {stream}
          %lane{port} = arith.constant {port * self.width} : index  %at{port} = arith.addi %c, %lane{port} : index
          vector.store %v{port}, %tile[%a, %b, %at{port}] : memref<{tile}xf32>, !W""" for port in ports))
        dealt = "\n".join(f"""
          %p{port} = arith.constant {port} : index  %i{port} = arith.addi %i, %p{port} : index
          %w{port} = memref.load %m[%i{port}] : memref<{size // self.width}x!W>
          stream.write %w{port} into %o{port} : {stream}""" for port in ports)
        if self.guard:
            fill = f"%true = arith.cmpi eq, %c0, %c0 : index\n scf.if %true {{ {fill} }}"
        at = ", ".join(index if name in self.kept else "%c0" for name, index in (("a", "%a"), ("b", "%b"), ("c", "%e")))
        use = self.nest(self.use, self.at_once, self.used or self.extents[2], f"""
          scf.for %lane = %c0 to %c{self.at_once} step %c1 {{
            %e = arith.addi %c, %lane : index
            %x = memref.load %tile[%a, %b, %e] : memref<{tile}xf32>
            %y = memref.load %sum[{at}] : memref<{shape}xf32>
            %d = arith.mulf %y, %decay : f32  %z = arith.addf %d, %x : f32
            memref.store %z, %sum[{at}] : memref<{shape}xf32>
          }} {{stc.unroll = 0 : i32}}""")
        words, numbers = size // self.width, {0, 1, self.at_once, self.width, *self.extents, self.used or 0, self.again}
        numbers |= {self.ports, self.width * self.ports}
        text = DESIGN.format(
            ports=self.ports, dealt=dealt, streams="\n".join(f"%s{port} = stream.create @s{port} : {stream}" for port in ports),
            written=", ".join(f"%o{port} = %s{port} : {stream}" for port in ports),
            read=", ".join(f"%m{port} = %s{port} : {stream}" for port in ports),
            size=size, words=words, shape=shape, tile=tile, fill=fill, use=use, between=self.between, behind=self.behind,
            constants="\n".join(f"%c{n} = arith.constant {n} : index" for n in sorted({*numbers, words})),
            **dict(zip("ABC", self.extents, strict=True)),
        )
        types = {"!W": word, "!IN": ITENSOR.format(width=self.width, trips=words), "!OUT": ITENSOR.format(width=1, trips=size)}
        for name, written in types.items():
            text = text.replace(name, written)
        return text


def executed(module: ModuleOp, size: int) -> np.ndarray:
    return execute(module, [np.random.default_rng(5).standard_normal(size).astype(np.float32)], depths=True)[0]


def buffers(module: ModuleOp) -> list[tuple[int, ...]]:
    """Shapes of the local arrays, without the sums."""
    return [op.memref.type.get_shape() for op in module.walk() if isinstance(op, AllocOp) and op.memref.name_hint == "tile"]


def fused(case: Case) -> Sequence[int]:
    """The shape of the operand's buffer behind the pass, whose result is executed."""
    module = parse_module(case.text(), "reads.mlir")
    before = executed(module, prod(case.extents))
    FuseReads().apply(make_context(), module)
    module.verify()
    np.testing.assert_array_equal(executed(module, prod(case.extents)).view(np.int32), before.view(np.int32))
    assert len(set(before.tolist())) > 1
    (shape,) = buffers(module)
    return shape


@pytest.mark.parametrize("extents", [(3, 5, 12), (1, 13, 8), (11, 2, 4)])
@pytest.mark.parametrize("fill", ["abc", "bac", "acb"])
@pytest.mark.parametrize("use", ["abc", "bac", "cab"])
@pytest.mark.parametrize("kept", ["c", "ac", "abc", "b"])
def test_orders(extents: tuple[int, int, int], fill: str, use: str, kept: str) -> None:
    """Sums along any loops, interchanged or not, see what they add in the same order; where they would not, nothing changes."""
    trips = dict(zip("abc", (*extents[:2], extents[2] // 4), strict=True))
    added = [[name for name in order if name not in kept and trips[name] > 1] for order in (fill, use)]
    shape = fused(Case(extents, 4, 4, fill, use, kept))
    assert shape in ((4,), extents)
    if added[0] != added[1]:
        assert shape == extents
    if fill == use:
        assert shape == (4,)


WIDTHS = [(4, 4), (4, 1), (4, 2), (2, 4), (1, 4), (1, 1), (8, 2), (3, 12), (12, 12), (24, 1), (24, 3), (1, 24)]


@pytest.mark.parametrize(("width", "at_once"), WIDTHS)
@pytest.mark.parametrize("extents", [(3, 7, 24), (1, 1, 24)])
def test_tokens_of_other_widths(width: int, at_once: int, extents: tuple[int, int, int]) -> None:
    """An iteration takes several tokens, or several share one."""
    assert fused(Case(extents, width, at_once, kept="abc")) == (max(width, at_once),)


@pytest.mark.parametrize(("width", "at_once"), [(4, 4), (4, 2), (12, 3), (12, 12), (1, 1)])
@pytest.mark.parametrize(("use", "dimensions"), [("rabc", 3), ("arbc", 2), ("abrc", 1), ("abcr", 1)])
def test_entries_that_are_used_again(width: int, at_once: int, use: str, dimensions: int) -> None:
    """The first of three iterations reads; what moves inside their loop is kept."""
    shape = fused(Case((3, 5, 12), width, at_once, use=use, kept="abc", again=3))
    within_by_division = at_once < width < 12 and width & (width - 1)
    assert shape == ((3, 5, 12) if within_by_division else (3, 5, 12)[3 - dimensions :])


@pytest.mark.parametrize(("width", "ports"), [(4, 2), (4, 3), (2, 4), (1, 3), (6, 2), (12, 2), (1, 24)])
@pytest.mark.parametrize("at_once", [1, 2, 4, 12])
@pytest.mark.parametrize(("use", "again"), [("abc", 1), ("acb", 1), ("abrc", 3), ("rabc", 3)])
def test_tokens_of_several_ports(width: int, ports: int, at_once: int, use: str, again: int) -> None:
    """What several streams bring side by side is one token, as wide as all of them."""
    together = width * ports
    fill = "acb" if use == "acb" else "abc"
    shape = fused(Case((3, 5, 24), width, at_once, fill=fill, use=use, kept="abc", again=again, ports=ports))
    if max(together, at_once) % min(together, at_once) or (at_once < together < 24 and together & (together - 1)):
        assert shape == (3, 5, 24)
    elif again == 1:
        assert shape in ((max(together, at_once),), (3, 5, 24))
    else:
        assert shape == ((3, 5, 24) if use == "rabc" else (24,))


def test_lanes_that_no_port_brings_stay_apart() -> None:
    """Two tokens side by side, where a gap is left or lanes are stored twice, are no wide one."""
    text = Case((3, 5, 12), 2, 4, kept="abc", ports=2).text()
    for lane in (0, 1):
        moved = text.replace("%lane1 = arith.constant 2 : index", f"%lane1 = arith.constant {lane} : index")
        module = parse_module(moved, "reads.mlir")
        FuseReads().apply(make_context(), module)
        assert buffers(module) == [(3, 5, 12)]


def test_tokens_are_stored_where_whole_tokens_are() -> None:
    """The tool does not use a guard to tell banks apart: the index itself is a multiple of the width."""
    module = parse_module(Case((3, 5, 12), 4, 2, use="abrc", kept="abc", again=3).text(), "reads.mlir")
    FuseReads().apply(make_context(), module)
    (store,) = [op for op in module.walk() if isinstance(op, StoreOp)]
    (position,) = store.indices
    assert isinstance(position.owner, AndIOp) and constant_of(position.owner.rhs) == -4


def test_entries_that_are_used_again_in_another_order_stay() -> None:
    assert fused(Case((3, 5, 12), 4, 4, "bac", "arbc", "c", again=3)) == (3, 5, 12)
    assert fused(Case((3, 5, 12), 4, 4, "bac", "brac", "c", again=3)) == (3, 12)


def test_the_order_of_sums_forbids_an_interchange() -> None:
    """`a` and `b` both add to one entry: in the order of the tokens they would be added otherwise."""
    assert fused(Case((3, 5, 4), 4, 4, "abc", "bac", "c")) == (3, 5, 4)


def test_sums_that_would_wait_stay_apart() -> None:
    """In the order of the tokens each sum would be continued in the next iteration, 11 cycles of waiting for one saved."""
    assert fused(Case((3, 64, 4), 4, 4, "abc", "bac", "ac")) == (3, 64, 4)
    assert fused(Case((64, 3, 4), 4, 4, "bac", "abc", "ac")) == (4,)


def test_widths_that_do_not_divide() -> None:
    assert fused(Case((3, 5, 12), 4, 6, kept="abc")) == (3, 5, 12)


@pytest.mark.parametrize(("width", "at_once"), [(12, 3), (6, 2), (3, 1)])
def test_remainders_need_no_divider(width: int, at_once: int) -> None:
    """Which lane of a token an iteration begins at would be a remainder: emission rule 16 refuses such a loop."""
    assert fused(Case((3, 5, 24), width, at_once, kept="abc")) == (3, 5, 24)


def test_a_part_that_is_not_used() -> None:
    assert fused(Case((3, 5, 12), 4, 4, kept="abc", used=8)) == (3, 5, 12)


def test_a_buffer_that_is_not_filled() -> None:
    assert fused(Case((3, 5, 12), 4, 4, kept="abc", room=4)) == (3, 5, 16)


def test_a_fill_under_a_condition() -> None:
    assert fused(Case((3, 5, 12), 4, 4, kept="abc", guard=True)) == (3, 5, 12)


def test_a_buffer_that_is_used_twice() -> None:
    again = """%again = memref.load %tile[%c0, %c0, %c1] : memref<3x5x12xf32>
      memref.store %again, %sum[%c0, %c0, %c1] : memref<3x5x12xf32>"""
    assert fused(Case((3, 5, 12), 4, 4, kept="abc", between=again)) == (3, 5, 12)
    assert fused(Case((3, 5, 12), 4, 4, kept="abc", behind=again)) == (3, 5, 12)


IN_TURN = """
func.func @main(%x: tensor<12xf32>) -> tensor<6xf32> {
  %p = dataflow.pack %x : tensor<12xf32> as !BOTH -> tensor<12x!T>
  %q = dataflow.kernel @k(%in = %p : tensor<12x!T> as memref<12x!T>) -> (tensor<6x!T> as memref<6x!T>) {
    %out = dataflow.memory @out : memref<6x!T>
    %a = stream.create @a : !stream.stream<!T, depth: 2>
    %b = stream.create @b : !stream.stream<!T, depth: 2>
    dataflow.task @load ins(%m = %in : memref<12x!T>)
        outs(%first = %a : !stream.stream<!T, depth: 2>, %second = %b : !stream.stream<!T, depth: 2>) {
      %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %c6 = arith.constant 6 : index
      %c12 = arith.constant 12 : index
      scf.for %i = %c0 to %c6 step %c1 {
        %v = memref.load %m[%i] : memref<12x!T>
        stream.write %v into %first : !stream.stream<!T, depth: 2>
      }
      scf.for %j = %c6 to %c12 step %c1 {
        %v = memref.load %m[%j] : memref<12x!T>
        stream.write %v into %second : !stream.stream<!T, depth: 2>
      }
      dataflow.yield
    }
    dataflow.task @add ins(%s = %a : !stream.stream<!T, depth: 2>, %t = %b : !stream.stream<!T, depth: 2>)
        outs(%o = %out : memref<6x!T>) {
      %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %c6 = arith.constant 6 : index
      %u = memref.alloc() : memref<6xf32>
      %w = memref.alloc() : memref<6xf32>
      scf.for %i = %c0 to %c6 step %c1 {
        %v = stream.read %s : !stream.stream<!T, depth: 2>
        vector.store %v, %u[%i] : memref<6xf32>, !T
      }
      scf.for %i = %c0 to %c6 step %c1 {
        %v = stream.read %t : !stream.stream<!T, depth: 2>
        vector.store %v, %w[%i] : memref<6xf32>, !T
      }
      scf.for %i = %c0 to %c6 step %c1 {
        %e = memref.load %u[%i] : memref<6xf32>
        %f = memref.load %w[%i] : memref<6xf32>
        %g = arith.subf %e, %f : f32
        %v = vector.broadcast %g : f32 to !T
        memref.store %v, %o[%i] : memref<6x!T>
      }
      dataflow.yield
    }
    dataflow.yield %out : memref<6x!T>
  }
  %y = dataflow.unpack %q : tensor<6x!T> as !ONE -> tensor<6xf32>
  func.return %y : tensor<6xf32>
}
"""


def test_fifos_hold_what_waits_for_the_other_operand() -> None:
    """All of the one comes before all of the other: consumed entry by entry, the first waits in its FIFO instead of in a buffer."""
    text = IN_TURN.replace("!T", "vector<1xf32>")
    for name, size in (("!BOTH", 12), ("!ONE", 6)):
        text = text.replace(name, ITENSOR.format(width=1, trips=size))
    module = parse_module(text, "in_turn.mlir")
    before = executed(module, 12)
    FuseReads().apply(make_context(), module)
    module.verify()
    assert not any(op.memref.type.get_shape() != (1,) for op in module.walk() if isinstance(op, AllocOp))
    np.testing.assert_array_equal(executed(module, 12), before)
