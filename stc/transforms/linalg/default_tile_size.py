"""`default-tile-size`: give every generic without a schedule the default one."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.linalg import ops as linalg
from xdsl.passes import ModulePass

from stc.analysis.generic_loops import GenericLoops, generics_in
from stc.analysis.host_work import functions_of, host_values
from stc.design_space.tiling import default_order, default_tiles, default_unroll, reduction_unroll, row_loop
from stc.diagnostics import CompileError
from stc.dialects.dataflow import ScheduleAttr
from stc.dialects.facts import LANES, ROWS, SCHEDULE
from stc.iteration.vectorize import largest_divisor
from stc.transforms.linalg.term_lanes import lanes_are_terms


@dataclass(frozen=True)
class DefaultTileSize(ModulePass):
    """Fill in `stc.schedule` on every generic that will become hardware and has none.

    A loop's tile is the largest divisor of its extent that is at most `size` (one default for every loop of every op,
    docs/design/method.md section 4). Tile loops: parallel outside, reductions inside. Work on parameters alone stays without a
    schedule: the host does it.

    The last parallel loop is unrolled over the lanes of a vector where all operands have it as their last dimension. Where
    `choose-parallelism` decided, it is unrolled by a divisor of the tile that is at most `stc.lanes`, and the loop of the rows by
    one that is at most `stc.rows`.

    Options: `size` (default 16), at least 1; `lanes` (default 16), the most points unrolled.

        linalg.generic {... iterator_types = ["parallel", "reduction"]} ins(%x : tensor<8x36xf32>) ...
      becomes, with size=16,
        linalg.generic ... attrs = {stc.schedule = #dataflow.schedule<tile = [8, 12], order = [0, 1],
          unroll = [1, 1], vector = []>}
    """

    name = "default-tile-size"

    size: int = 16
    lanes: int = 16

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if self.size < 1:
            raise CompileError(f"size is {self.size}", where=self.name, accepted="a tile size of at least 1")
        for function in functions_of(op):
            known = host_values(function)
            for generic in generics_in(function):
                if not SCHEDULE.on(generic) and not set(generic.results) <= known:
                    SCHEDULE.put(generic, self.schedule_of(generic))

    def schedule_of(self, generic: linalg.GenericOp) -> ScheduleAttr:
        loops = GenericLoops(generic)
        tiles = default_tiles(loops.extents, self.size)
        given = tiles, loops.reductions, loops.operand_dims, LANES.of(generic) or self.lanes
        terms = LANES.on(generic) and lanes_are_terms(generic)
        unroll = reduction_unroll(*given, of_integers=True) if terms else default_unroll(*given)
        rows, row = ROWS.of(generic) or 1, row_loop(loops.extents, loops.reductions, loops.input_dims, loops.output_dims)
        if row is not None:
            unroll = (*unroll[:row], largest_divisor(tiles[row], rows), *unroll[row + 1 :])
        return ScheduleAttr.of(tiles, default_order(len(tiles), loops.reductions), unroll)
