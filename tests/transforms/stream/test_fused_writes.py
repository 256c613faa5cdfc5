"""`fuse-writes`, and `fuse-fills` before it where a tile is of sums: values stay the same, bit for bit, whatever the sizes and
orders; and nothing changes where it must not."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

import numpy as np
import pytest
from tile_nests import design, nest
from xdsl.dialects.arith import ConstantOp
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.memref import AllocOp, StoreOp

from stc.dialects.context import make_context
from stc.dialects.parsing import parse_module
from stc.dialects.stream import CreateOp
from stc.execution.run import execute
from stc.transforms.stream.fuse_fills import FuseFills
from stc.transforms.stream.fuse_writes import FuseWrites


@dataclass(frozen=True)
class Case:
    """A tile of `extents` that is computed in the order `compute` of its dimensions, `at_once` entries in an iteration, and drained
    in the order `drain` by tokens of `width` along the last dimension into each of `ports` streams."""

    extents: tuple[int, int, int]
    width: int
    at_once: int
    compute: str = "abc"
    drain: str = "abc"
    before: str = ""
    between: str = ""
    inside: str = ""
    guard: bool = False
    room: int = 0
    """Entries of the tile along the last dimension that are not drained."""
    ports: int = 1
    terms: int = 0
    """Of which each entry is the sum, in a loop `k` of the order `compute`; 0 where it is no sum."""
    fill: str = "0.0"
    """What sums are set to before."""

    def nest(self, order: str, step: int, body: str) -> str:
        return nest(order, dict(zip("abck", (*self.extents, self.terms), strict=True)), {"c": step}, body)

    def text(self) -> str:
        size, words, ports = prod(self.extents), prod(self.extents) // self.width, range(self.ports)
        tile = "x".join(map(str, (*self.extents[:2], self.extents[2] + self.room)))
        stream = f"!stream.stream<!W, depth: {words}>"
        stored = f"memref.store %r, %tile[%a, %b, %e] : memref<{tile}xf32>"
        setting, number = "", "%at = arith.addi %own, %c0 : index"
        if self.terms:
            stored = f"""%z = memref.load %tile[%a, %b, %e] : memref<{tile}xf32>  %r = arith.addf %z, %s : f32
              {stored}"""
            setting = f"%zero = arith.constant {self.fill} : f32\n" + self.nest("abc", 1, f"""
              memref.store %zero, %tile[%a, %b, %c] : memref<{tile}xf32>""")
            number = f"%behind = arith.addi %own, %k : index  %at = arith.remui %behind, %c{size} : index"
        if self.guard:
            stored = f"%true = arith.cmpi eq, %c0, %c0 : index\n scf.if %true {{ {stored} }}"
        compute = self.nest(self.compute, self.at_once, f"""
          scf.for %lane = %c0 to %c{self.at_once} step %c1 {{
            %e = arith.addi %c, %lane : index
            %row = arith.muli %a, %c{self.extents[1]} : index  %rows = arith.addi %row, %b : index
            %first = arith.muli %rows, %c{self.extents[2]} : index  %own = arith.addi %first, %e : index
            {number}
            %w = memref.load %m[%at] : memref<{size}xvector<1xf32>>
            %v = vector.extract %w[0] : f32 from vector<1xf32>
            %{"s" if self.terms else "r"} = arith.mulf %v, %v : f32
            {stored}
          }} {{stc.unroll = 0 : i32}}
          {self.inside}""")
        drain = self.nest(self.drain, self.width * self.ports, "\n".join(f"""
          %lane{port} = arith.constant {port * self.width} : index  %at{port} = arith.addi %c, %lane{port} : index
          %v{port} = vector.load %tile[%a, %b, %at{port}] : memref<{tile}xf32>, !W
          stream.write %v{port} into %o{port} : {stream}""" for port in ports))
        numbers = {1, self.at_once, self.width * self.ports, *self.extents, size, self.terms}
        body = f"""%tile = memref.alloc() : memref<{tile}xf32>
          {self.before} {setting} {compute} {self.between} {drain}"""
        return design(size, self.width, words, body, numbers, self.ports).replace("!W", f"vector<{self.width}xf32>")


def executed(module: ModuleOp, size: int) -> np.ndarray:
    return execute(module, [np.random.default_rng(7).standard_normal(size).astype(np.float32)], depths=True)[0]


def fused(case: Case) -> tuple[int, ...]:
    """The shape of the result's buffer behind the pass, whose result is executed."""
    module = parse_module(case.text(), "writes.mlir")
    before = executed(module, prod(case.extents))
    FuseWrites().apply(make_context(), module)
    assert_same(module, before)
    assert len(set(before.tolist())) > 1
    (shape,) = [op.memref.type.get_shape() for op in module.walk() if isinstance(op, AllocOp)]
    return shape


@pytest.mark.parametrize("extents", [(3, 5, 12), (1, 13, 8), (11, 1, 4)])
@pytest.mark.parametrize("compute", ["abc", "bac", "acb"])
@pytest.mark.parametrize("drain", ["abc", "bac", "acb"])
def test_orders(extents: tuple[int, int, int], compute: str, drain: str) -> None:
    """Fused where the nest computes in the order of the tokens, loops of one iteration left out."""
    trips = dict(zip("abc", (*extents[:2], extents[2] // 4), strict=True))
    of_several = [[name for name in order if trips[name] > 1] for order in (compute, drain)]
    assert fused(Case(extents, 4, 4, compute, drain)) == ((4,) if of_several[0] == of_several[1] else extents)


WIDTHS = [(4, 4), (4, 1), (4, 2), (2, 4), (1, 4), (1, 1), (8, 2), (12, 12), (24, 1), (24, 3), (1, 24)]


@pytest.mark.parametrize(("width", "at_once"), WIDTHS)
@pytest.mark.parametrize("extents", [(3, 7, 24), (1, 1, 24)])
def test_tokens_of_other_widths(width: int, at_once: int, extents: tuple[int, int, int]) -> None:
    """An iteration computes several tokens, or several share one."""
    assert fused(Case(extents, width, at_once)) == (max(width, at_once),)


@pytest.mark.parametrize(("width", "ports"), [(4, 2), (4, 3), (2, 4), (1, 3), (12, 2), (1, 24)])
@pytest.mark.parametrize("at_once", [1, 2, 4, 12])
def test_tokens_of_several_ports(width: int, ports: int, at_once: int) -> None:
    """What goes side by side into several streams is one token, as wide as all of them."""
    together = width * ports
    shape = fused(Case((3, 5, 24), width, at_once, ports=ports))
    divides = max(together, at_once) % min(together, at_once) == 0
    is_divided = at_once < together < 24 and together & (together - 1)
    assert shape == ((max(together, at_once),) if divides and not is_divided else (3, 5, 24))


def sums_fused(case: Case) -> tuple[bool, set[tuple[int, ...]]]:
    """Whether sums are set by the nest that adds to them, and the shapes of the buffers, behind both passes; each is executed."""
    module = parse_module(case.text(), "sums.mlir")
    before = executed(module, prod(case.extents))
    FuseFills().apply(make_context(), module)
    is_set = not [op for op in module.walk() if isinstance(op, StoreOp) and isinstance(op.value.owner, ConstantOp)]
    assert_same(module, before)
    FuseWrites().apply(make_context(), module)
    assert_same(module, before)
    assert len(set(before.tolist())) > 1
    return is_set, {op.memref.type.get_shape() for op in module.walk() if isinstance(op, AllocOp)}


def assert_same(module: ModuleOp, expected: np.ndarray) -> None:
    """Bit for bit."""
    module.verify()
    np.testing.assert_array_equal(executed(module, len(expected)).view(np.int32), expected.view(np.int32))


@pytest.mark.parametrize("extents", [(3, 5, 12), (1, 13, 8), (11, 1, 4)])
@pytest.mark.parametrize("compute", ["kabc", "akbc", "abkc", "abck", "kacb", "ackb"])
@pytest.mark.parametrize("terms", [1, 3])
def test_sums(extents: tuple[int, int, int], compute: str, terms: int) -> None:
    """Wherever the loop that reduces is, the first iteration sets a sum, and the last one sends it, where that is the order of the
    tokens. A sum of one term needs no buffer."""
    trips = dict(zip("abc", (*extents[:2], extents[2] // 4), strict=True))
    of_several = [[name for name in order if trips.get(name, 1) > 1] for order in (compute, "abc")]
    leaves = of_several[0] == of_several[1]
    token, tile = {(4,)} if leaves else set[tuple[int, ...]](), {extents} if terms > 1 or not leaves else set[tuple[int, ...]]()
    assert sums_fused(Case(extents, 4, 4, compute, terms=terms)) == (True, token | tile)


@pytest.mark.parametrize(("width", "at_once", "leaves"), [(4, 1, True), (4, 2, True), (4, 4, True), (1, 4, False), (2, 12, False)])
@pytest.mark.parametrize("compute", ["kabc", "akbc"])
def test_sums_of_other_widths(width: int, at_once: int, leaves: bool, compute: str) -> None:
    """Several iterations share a token; where one completes several tokens, it would write several in each iteration."""
    tile = (3, 5, 24)
    assert sums_fused(Case(tile, width, at_once, compute, terms=7)) == (True, {tile, (width,)} if leaves else {tile})


def test_few_sums_that_wait_for_the_adder_leave_at_the_same_interval() -> None:
    """12 entries that come up again in 3 iterations of 4 lanes."""
    assert sums_fused(Case((1, 1, 12), 4, 4, "kabc", terms=5)) == (True, {(1, 1, 12), (4,)})


@pytest.mark.parametrize("case", [
    Case((3, 5, 12), 4, 4, "kabc", terms=5, guard=True),
    Case((3, 5, 12), 4, 4, "kabc", terms=5, room=4),
    Case((3, 5, 12), 4, 4, "kabc", terms=5, fill="2.0"),
])  # fmt: skip
def test_sums_that_are_not_set(case: Case) -> None:
    """Under a condition, where some are set only, and where they begin with something that changes them: as they were."""
    assert not sums_fused(case)[0]


ENTRY = "memref<3x5x12xf32>"
OTHER = "%other = memref.alloc() : memref<4xf32>"


@pytest.mark.parametrize("case", [
    Case((3, 5, 12), 4, 4, guard=True),
    Case((3, 5, 12), 4, 6),
    Case((3, 5, 12), 6, 2),
    Case((3, 5, 12), 4, 4, room=4),
    Case((3, 5, 12), 4, 4, before=f"%f = arith.constant 1.0 : f32  memref.store %f, %tile[%c0, %c0, %c0] : {ENTRY}"),
    Case((3, 5, 12), 4, 4, between=f"%f = arith.constant 1.0 : f32  memref.store %f, %tile[%c0, %c1, %c0] : {ENTRY}"),
    Case((3, 5, 12), 4, 4, between=f"%f = memref.load %tile[%c0, %c1, %c0] : {ENTRY}"),
    Case((3, 5, 12), 4, 4, before=OTHER, between="%f = vector.load %other[%c0] : memref<4xf32>, !W  stream.write %f into %o0 : !S"),
    Case((3, 5, 12), 4, 4, before=OTHER, inside="%f = vector.load %other[%c0] : memref<4xf32>, !W  stream.write %f into %o0 : !S"),
])  # fmt: skip
def test_what_stays(case: Case) -> None:
    """A condition, widths that do not divide or take a divider, a part that is not drained, other accesses to the tile, and other
    tokens of the stream."""
    text = case.text().replace("!S", "!stream.stream<vector<4xf32>, depth: 45>")
    module = parse_module(text, "writes.mlir")
    FuseWrites().apply(make_context(), module)
    assert str(module) == str(parse_module(text, "writes.mlir"))


def test_entries_that_are_not_stored_to_stay() -> None:
    """Four lanes that all store to the first of four entries leave the others as they were."""
    text = Case((3, 5, 12), 4, 4).text().replace("%e = arith.addi %c, %lane : index", "%e = arith.addi %c, %c0 : index")
    module = parse_module(text, "writes.mlir")
    FuseWrites().apply(make_context(), module)
    assert str(module) == str(parse_module(text, "writes.mlir"))


NEST = """
dataflow.kernel @k() {{
  %in = stream.create @in : !stream.stream<vector<1xf32>, depth: 2>
  %out = stream.create @out : !stream.stream<{word}, depth: 2>
  dataflow.task @feed ins() outs(%o = %in : !stream.stream<vector<1xf32>, depth: 2>) {{
    %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %tokens = arith.constant 32 : index
    %zero = arith.constant 0.0 : f32  %token = vector.broadcast %zero : f32 to vector<1xf32>
    scf.for %i = %c0 to %tokens step %c1 {{ stream.write %token into %o : !stream.stream<vector<1xf32>, depth: 2> }}
  }}
  dataflow.task @t ins(%p = %in : !stream.stream<vector<1xf32>, depth: 2>) outs(%q = %out : !stream.stream<{word}, depth: 2>) {{
    %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %c4 = arith.constant 4 : index  %c8 = arith.constant 8 : index
    %none = arith.constant {trips} : index
    %x = memref.alloc() : memref<8x4xf32>
    %tile = memref.alloc() : memref<4x{columns}xf32>
    scf.for %i = %c0 to %c8 step %c1 {{ scf.for %j = %c0 to %c4 step %c1 {{
      %v = stream.read %p : !stream.stream<vector<1xf32>, depth: 2>
      vector.store %v, %x[%i, %j] : memref<8x4xf32>, vector<1xf32>
    }} }}
    scf.for %z = %c0 to %none step %c1 {{ scf.for %i = %c0 to %c4 step %c1 {{ scf.for %j = %c0 to %c{columns} step %c1 {{
      %a = memref.load %x[%j, %i] : memref<8x4xf32>
      memref.store %a, %tile[%i, {column}] : memref<4x{columns}xf32>
    }} }} }}
    scf.for %i = %c0 to %c4 step %c1 {{ scf.for %j = %c0 to %c{columns} step %c{width} {{
      %v = vector.load %tile[%i, %j] : memref<4x{columns}xf32>, {word}
      stream.write %v into %q : !stream.stream<{word}, depth: 2>
    }} }}
  }}
  dataflow.task @end ins(%p = %out : !stream.stream<{word}, depth: 2>) outs() {{
    %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %tokens = arith.constant {tokens} : index
    scf.for %i = %c0 to %tokens step %c1 {{ %v = stream.read %p : !stream.stream<{word}, depth: 2> }}
  }}
}}
"""


def turned(width: int, column: str = "%j", columns: int = 8, trips: int = 1) -> str:
    """A tile that is computed from an operand which comes in the other order, and drained by tokens of this width."""
    return NEST.format(
        width=width, column=column, columns=columns, trips=trips, word=f"vector<{width}xf32>", tokens=4 * columns // width
    )


@pytest.mark.parametrize(("width", "stays"), [(1, False), (4, True), (8, True)])
def test_a_nest_that_is_better_interchanged_stays(width: int, stays: bool) -> None:
    """32 tokens of an operand in another order: the nest takes it, and its results leave in 8 or 4 tokens of their own."""
    module = parse_module(turned(width), "writes.mlir")
    before = str(module)
    FuseWrites().apply(make_context(), module)
    assert (str(module) == before) is stays


DIAGONAL = turned(4, column="%i", columns=4).replace("scf.for %j = %c0 to %c4 step %c1 {\n      %a = memref.load %x[%j, %i]", """
      %a = memref.load %x[%i, %i]""").replace("} } }", "} }")


@pytest.mark.parametrize("text", [DIAGONAL, turned(1, trips=0)])
def test_a_diagonal_and_a_nest_that_never_runs_stay(text: str) -> None:
    module = parse_module(text, "writes.mlir")
    before = str(module)
    FuseWrites().apply(make_context(), module)
    assert str(module) == before


RECONVERGENT = """
!S = !stream.stream<vector<1xf32>, depth: 2>
dataflow.kernel @k() {
  %a = stream.create @a : !S
  %b = stream.create @b : !S
  %c = stream.create @c : !S
  dataflow.task @feed ins() outs(%o = %a : !S, %p = %b : !S) {
    %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %c16 = arith.constant 16 : index
    %zero = arith.constant 0.0 : f32  %token = vector.broadcast %zero : f32 to vector<1xf32>
    scf.for %i = %c0 to %c16 step %c1 {
      stream.write %token into %o : !S
    }
    scf.for %i = %c0 to %c16 step %c1 {
      stream.write %token into %p : !S
    }
  }
  dataflow.task @square ins(%m = %a : !S) outs(%o = %c : !S) {
    %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %c16 = arith.constant 16 : index
    %in = memref.alloc() : memref<1xf32>
    %tile = memref.alloc() : memref<16xf32>
    scf.for %i = %c0 to %c16 step %c1 {
      %v = stream.read %m : !S
      vector.store %v, %in[%c0] : memref<1xf32>, vector<1xf32>
      %x = memref.load %in[%c0] : memref<1xf32>
      %y = arith.mulf %x, %x : f32
      memref.store %y, %tile[%i] : memref<16xf32>
    }
    scf.for %i = %c0 to %c16 step %c1 {
      %v = vector.load %tile[%i] : memref<16xf32>, vector<1xf32>
      stream.write %v into %o : !S
    }
  }
  dataflow.task @join ins(%m = %b : !S, %n = %c : !S) outs() {
    %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %c16 = arith.constant 16 : index
    scf.for %i = %c0 to %c16 step %c1 {
      %v = stream.read %m : !S
      %w = stream.read %n : !S
    }
  }
}
"""


def test_fifos_have_room_for_what_leaves_sooner() -> None:
    """The tile had room for all of what waits for the other branch; now FIFOs on its way need it."""
    module = parse_module(RECONVERGENT, "writes.mlir")
    FuseWrites().apply(make_context(), module)
    depths = {op.sym_name.data: op.result.type.depth for op in module.walk() if isinstance(op, CreateOp)}
    assert depths["a"] + depths["c"] >= 15 and depths["b"] == 2
