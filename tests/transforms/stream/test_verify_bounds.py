"""Wrong indices, seeded into `lower-linalg-to-loops` itself: `verify-bounds` refuses each, and says which access of which line."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from xdsl.dialects import arith, memref

from stc.analysis.index_proofs import prove_indices, touched_by
from stc.diagnostics import CompileError
from stc.dialects.context import make_context
from stc.dialects.parsing import parse_module
from stc.transforms.stream import lower_linalg_to_loops
from stc.transforms.stream.lower_linalg_to_loops import LowerLinalgToLoops
from stc.transforms.stream.verify_bounds import VerifyBounds

MODULE = """
func.func @main(%x: memref<4x6xf32>, %whole: memref<8x6xf32>, %y: memref<4x6xf32>) {
  %c4 = arith.constant 4 : index
  %lower = memref.subview %whole[%c4, 0] [4, 6] [1, 1] : memref<8x6xf32> to memref<4x6xf32, strided<[6, 1], offset: ?>>
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
                  iterator_types = ["parallel", "parallel"]}
      ins(%x, %lower : memref<4x6xf32>, memref<4x6xf32, strided<[6, 1], offset: ?>>) outs(%y : memref<4x6xf32>)
      attrs = {stc.name = "sum", stc.schedule = #dataflow.schedule<tile = [4, 6], order = [0, 1], unroll = [1, 2], vector = []>} {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  }
  func.return
}
"""


def expanded() -> Any:
    module = parse_module(MODULE, "sums.mlir")
    LowerLinalgToLoops().apply(make_context(), module)
    return module


def subtracted(patch: pytest.MonkeyPatch) -> None:
    """`+` becomes `-`, so that reads and writes go to the same wrong entries."""
    patch.setattr(lower_linalg_to_loops, "arith", SimpleNamespace(AddiOp=arith.SubiOp))


def one_more(patch: pytest.MonkeyPatch) -> None:
    """Each loop runs one iteration too many."""
    healthy = lower_linalg_to_loops.PointLoop
    patch.setattr(lower_linalg_to_loops, "PointLoop", lambda name, extent, unroll: healthy(name, extent + 1, unroll))


def swapped(patch: pytest.MonkeyPatch) -> None:
    """Indices change places."""
    healthy = lower_linalg_to_loops._resolve  # pyright: ignore[reportPrivateUsage]
    patch.setattr(lower_linalg_to_loops, "_resolve", lambda b, buffer, indices: healthy(b, buffer, list(indices)[::-1]))


def offset_twice(patch: pytest.MonkeyPatch) -> None:
    """A view's offset is added twice."""
    healthy = lower_linalg_to_loops._resolve  # pyright: ignore[reportPrivateUsage]

    def resolve(builder: Any, buffer: Any, indices: Any) -> Any:
        base, shifted = healthy(builder, buffer, indices)
        if base is buffer:
            return base, shifted
        return base, healthy(builder, buffer, shifted)[1]

    patch.setattr(lower_linalg_to_loops, "_resolve", resolve)


def test_the_healthy_pass_is_proved() -> None:
    proofs = prove_indices(expanded())
    assert not proofs.failures and not proofs.at_run_time
    assert proofs.by_method == {"range": 6}
    assert proofs.report()["indices"] == 6


@pytest.mark.parametrize("seed", [subtracted, one_more, swapped, offset_twice], ids=lambda seed: seed.__name__)
def test_a_seeded_fault_is_an_error_with_its_place(seed: Callable[[pytest.MonkeyPatch], None]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        seed(patch)
        module = expanded()
    with pytest.raises(CompileError, match=r"sums\.mlir:5:3: .* dimension \d: the index ranges over .* outside 0 to \d") as raised:
        VerifyBounds().apply(make_context(), module)
    assert "entries" in str(raised.value)


def test_every_access_of_an_expanded_module_is_looked_at() -> None:
    module = expanded()
    accesses = [op for op in module.walk() if isinstance(op, memref.LoadOp | memref.StoreOp)]
    assert sum(len(list(touched_by(op))) for op in accesses) == 6


GUARDED = """
func.func @padded(%row: memref<8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c10 = arith.constant 10 : index
  %c8 = arith.constant 8 : index
  scf.for %i = %c0 to %c10 step %c1 {
    %moved = arith.subi %i, %c1 : index
    %inside = arith.cmpi ult, %moved, %c8 : index
    scf.if GUARD {
      %v = memref.load %row[%moved] : memref<8xf32>
    }
  }
  func.return
}
"""


def test_a_missing_guard_is_an_error_with_its_place() -> None:
    VerifyBounds().apply(make_context(), parse_module(GUARDED.replace("GUARD", "%inside"), "padded.mlir"))
    unguarded = GUARDED.replace("GUARD", "%always").replace("  %c8 =", "  %always = arith.constant true\n  %c8 =")
    with pytest.raises(CompileError, match=r"padded\.mlir:12:7: load from row\[8\], dimension 0: the index ranges over -1 to 8"):
        VerifyBounds().apply(make_context(), parse_module(unguarded, "padded.mlir"))
