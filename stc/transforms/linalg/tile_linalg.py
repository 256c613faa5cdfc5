"""`tile-linalg`: cut scheduled generics into nests of tiles."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import cast

from xdsl.builder import Builder
from xdsl.context import Context
from xdsl.dialects import arith, linalg, scf, tensor
from xdsl.dialects.builtin import DYNAMIC_INDEX, IndexType, ModuleOp, StringAttr, TensorType, i1
from xdsl.ir import Attribute, Block, Region, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint
from xdsl.utils.hints import isa

from stc.analysis.generic_loops import GenericLoops, generics_in, name_of
from stc.analysis.loop_names import first_of, generic_loop_names
from stc.diagnostics import CompileError
from stc.dialects.dataflow import ScheduleAttr
from stc.transforms.index_constant import index_constant
from stc.transforms.linalg.dead_ops import erase_dead_ops


@dataclass(frozen=True)
class TileLinalg(ModulePass):
    """Cut every generic that carries a schedule into an `scf.for` nest over tiles.

    The tile loops run over values (0 to extent step tile) in the schedule's order; a loop covered by one tile disappears.
    An input's slice sits directly inside the innermost loop it depends on, so that it is not visited again for nothing.
    A reduction accumulates one tile where no parallel loop lies inside it, and is inserted after the last step:

        %r = linalg.generic {... "parallel", "reduction"} ins(%x : tensor<8x12xf32>) outs(%zero : tensor<8xf32>)
             attrs = {stc.schedule = #dataflow.schedule<tile = [4, 6], order = [0, 1], unroll = [1, 1], vector = []>}
      becomes
        %e = tensor.empty() : tensor<8xf32>
        %r = scf.for %i = %c0 to %c8 step %c4 iter_args(%o = %e) -> (tensor<8xf32>) {
          %init = linalg.fill ins(%cst : f32) outs(%t : tensor<4xf32>) -> tensor<4xf32>
          %sum = scf.for %k = %c0 to %c12 step %c6 iter_args(%acc = %init) -> (tensor<4xf32>) {
            %xt = tensor.extract_slice %x[%i, %k] [4, 6] [1, 1] : tensor<8x12xf32> to tensor<4x6xf32>
            %n = linalg.generic ... ins(%xt : tensor<4x6xf32>) outs(%acc : tensor<4xf32>) ...
            scf.yield %n : tensor<4xf32>
          }
          %o2 = tensor.insert_slice %sum into %o[%i] [4] [1] : tensor<4xf32> into tensor<8xf32>
          scf.yield %o2 : tensor<8xf32>
        }

    Where the order puts a parallel loop inside a reduction, the accumulator covers that loop whole and each tile is
    inserted in the last reduction step, guarded on the induction variables. A tile that does not divide is an error.
    """

    name = "tile-linalg"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for generic in generics_in(op):
            if isinstance(schedule := generic.attributes.get("stc.schedule"), ScheduleAttr) and not is_tiled(generic):
                _TiledNest(generic, schedule).replace()
        erase_dead_ops(op)


def is_tiled(generic: linalg.GenericOp) -> bool:
    """Whether `generic` already computes one tile of a nest."""
    return "stc.tile" in generic.attributes


def check_schedule(generic: linalg.GenericOp, schedule: ScheduleAttr) -> None:
    """CompileError unless `schedule` fits the loops of `generic`."""
    loops = GenericLoops(generic)
    count = len(loops.extents)
    where = name_of(generic)
    if len(schedule.tiles) != count:
        raise CompileError(f"schedule has {len(schedule.tiles)} tile sizes", where=where, accepted=f"one for each of {count} loops")
    if sorted(schedule.loop_order) != list(range(count)):
        raise CompileError(
            f"schedule order {list(schedule.loop_order)} is no permutation", where=where, accepted=f"each of 0..{count - 1} once"
        )
    for loop, (extent, tile) in enumerate(zip(loops.extents, schedule.tiles, strict=True)):
        if tile < 1 or extent % tile:
            divisors = ", ".join(str(d) for d in range(1, extent + 1) if extent % d == 0)
            raise CompileError(
                f"tile {tile} of loop {loop} does not divide its extent {extent}", where=where, accepted=f"one of {divisors}"
            )


def check_vectors(generic: linalg.GenericOp, schedule: ScheduleAttr) -> None:
    """CompileError unless the vector shapes of `schedule`, if it has any, are one per operand and cut the tiles of `generic`."""
    if not schedule.vectors:
        return
    loops, where = GenericLoops(generic), name_of(generic)
    if len(schedule.vectors) != len(loops.operand_dims):
        accepted = f"one for each of {len(loops.operand_dims)} operands"
        raise CompileError(f"schedule has {len(schedule.vectors)} vector shapes", where=where, accepted=accepted)
    for index, (shape, dims) in enumerate(zip(schedule.vectors, loops.operand_dims, strict=True)):
        if not dims:
            continue
        tile = schedule.tiles[dims[-1]]
        if len(shape) != len(dims) or any(extent != 1 for extent in shape[:-1]) or tile % shape[-1]:
            accepted = f"{', '.join([*['1'] * (len(dims) - 1), 'L'])} with L a divisor of the tile's {tile} entries"
            raise CompileError(f"vector shape {list(shape)} of operand {index}", where=where, accepted=accepted)


@dataclass
class _TiledNest:
    """Builds the nest that replaces one generic."""

    generic: linalg.GenericOp
    schedule: ScheduleAttr
    ivs: dict[int, SSAValue] = field(default_factory=dict)
    tiles_of_inputs: dict[int, SSAValue] = field(default_factory=dict)
    constants: dict[int, SSAValue] = field(default_factory=dict)

    def __post_init__(self) -> None:
        check_schedule(self.generic, self.schedule)
        check_vectors(self.generic, self.schedule)
        self._check_initial_values()
        self.loops = GenericLoops(self.generic)
        self.tile = self.schedule.tiles
        self.order = [loop for loop in self.schedule.loop_order if self.loops.extents[loop] != self.tile[loop]]
        tiled_reductions = [position for position, loop in enumerate(self.order) if loop in self.loops.reductions]
        self.first_reduction = tiled_reductions[0] if tiled_reductions else len(self.order)
        inside = self.order[self.first_reduction :]
        self.parallels_inside = [loop for loop in inside if loop in self.loops.parallels]
        self.entry = Builder(InsertPoint.before(self.generic))

    def _check_initial_values(self) -> None:
        """CompileError where a result starts from a tensor that would have to be streamed in."""
        started = zip(self.generic.outputs, self.generic.body.block.args[len(self.generic.inputs) :], strict=True)
        for index, (initial, argument) in enumerate(started):
            if argument.uses and not isinstance(initial.owner, linalg.FillOp | tensor.EmptyOp):
                raise CompileError(
                    f"result {index} starts from a computed tensor",
                    where=name_of(self.generic),
                    accepted="a fill with a constant (fold-fills makes the tensor an operand)",
                )

    # The nest ---------------------------------------------------------------------------------------------------------

    def replace(self) -> None:
        empties = [self.entry.insert(tensor.EmptyOp((), result.type)).results[0] for result in self.generic.results]
        results = self._once(empties) if self._needs_wrapper() else self._loop_nest(self.entry, 0, empties)
        for old, new in zip(self.generic.results, results, strict=True):
            new.name_hint = old.name_hint
            old.replace_all_uses_with(new)
        self.generic.parent_block().erase_op(self.generic)  # pyright: ignore[reportOptionalMemberAccess]

    def _needs_wrapper(self) -> bool:
        """Whether anything would stand in front of the outermost loop: accumulators, or a tile that is a whole input."""
        whole = any(not set(dims) & set(self.order) for dims in self.loops.input_dims)
        return whole or self.first_reduction == 0

    def _once(self, outs: Sequence[SSAValue]) -> list[SSAValue]:
        """A loop that runs once around the nest, so that it is one op with all that belongs to it."""
        bounds = [self._constant(value) for value in (0, 1, 1)]
        return self._for(self.entry, bounds, "once", outs, lambda b, _, carried: self._loop_nest(b, 0, carried), is_root=True)

    def _loop_nest(self, builder: Builder, depth: int, outs: Sequence[SSAValue]) -> list[SSAValue]:
        """The parallel loops outside every reduction; `outs` are the whole results so far."""
        self._slice_inputs(builder, depth)
        if depth == self.first_reduction:
            return self._reduce(builder, depth, outs)
        return self._loop(builder, depth, outs, lambda b, carried: self._loop_nest(b, depth + 1, carried))

    def _reduce(self, builder: Builder, depth: int, outs: Sequence[SSAValue]) -> list[SSAValue]:
        accumulators = [self._accumulator(builder, index) for index in range(len(outs))]
        if self.parallels_inside:
            carried = self._reduction_nest(builder, depth, [*accumulators, *outs])
            return carried[len(outs) :]
        tiles = self._reduction_nest(builder, depth, accumulators)
        return [self._insert_out(builder, index, tile, out) for index, (tile, out) in enumerate(zip(tiles, outs, strict=True))]

    def _reduction_nest(self, builder: Builder, depth: int, carried: Sequence[SSAValue]) -> list[SSAValue]:
        """The loops from the first reduction on. Carries the accumulators, and the results if tiles leave from inside."""
        if depth > self.first_reduction:
            self._slice_inputs(builder, depth)
        if depth < len(self.order):
            return self._loop(builder, depth, carried, lambda b, inner: self._reduction_nest(b, depth + 1, inner))
        if not self.parallels_inside:
            return self._compute(builder, carried)
        return self._compute_inside(builder, carried)

    def _compute_inside(self, builder: Builder, carried: Sequence[SSAValue]) -> list[SSAValue]:
        """One step on a tile of the larger accumulators; in the last reduction step the tile leaves."""
        count = len(self.generic.results)
        accumulators, outs = carried[:count], carried[count:]
        tiles = [
            self._extract(builder, value, *self._region(index, inside_only=True)) for index, value in enumerate(accumulators)
        ]
        tiles = self._compute(builder, tiles)
        updated = [
            self._insert(builder, tile, value, *self._region(index, inside_only=True))
            for index, (tile, value) in enumerate(zip(tiles, accumulators, strict=True))
        ]
        is_last = self._is_last_step(builder)
        then, otherwise = Block(), Block([scf.YieldOp(*outs)])
        inner = Builder(InsertPoint.at_end(then))
        written = [self._insert_out(inner, index, tile, out) for index, (tile, out) in enumerate(zip(tiles, outs, strict=True))]
        inner.insert(scf.YieldOp(*written))
        guarded = builder.insert(scf.IfOp(is_last, [out.type for out in outs], Region(then), Region(otherwise)))
        return [*updated, *guarded.results]

    def _loop(
        self,
        builder: Builder,
        depth: int,
        carried: Sequence[SSAValue],
        body: Callable[[Builder, Sequence[SSAValue]], Sequence[SSAValue]],
    ) -> list[SSAValue]:
        loop = self.order[depth]
        bounds = [self._constant(value) for value in (0, self.loops.extents[loop], self.tile[loop])]

        def entered(inner: Builder, iv: SSAValue, inside: Sequence[SSAValue]) -> Sequence[SSAValue]:
            self.ivs[loop] = iv
            return body(inner, inside)

        return self._for(builder, bounds, self._iv_name(loop), carried, entered, is_root=depth == 0 and not self._needs_wrapper())

    def _iv_name(self, loop: int) -> str:
        """A tile's first index along the loop's dimension; the index itself where tiles are one entry long."""
        name = generic_loop_names(self.loops, self.tile)[loop]
        return first_of(name) if self.tile[loop] > 1 else name

    def _for(
        self,
        builder: Builder,
        bounds: Sequence[SSAValue],
        hint: str,
        carried: Sequence[SSAValue],
        body: Callable[[Builder, SSAValue, Sequence[SSAValue]], Sequence[SSAValue]],
        *,
        is_root: bool,
    ) -> list[SSAValue]:
        block = Block(arg_types=[IndexType(), *(value.type for value in carried)])
        block.args[0].name_hint = hint
        inner = Builder(InsertPoint.at_end(block))
        inner.insert(scf.YieldOp(*body(inner, block.args[0], block.args[1:])))
        lower, upper, step = bounds
        for_op = builder.insert(scf.ForOp(lower, upper, step, carried, block))
        if is_root:
            for_op.attributes |= self._identity()
        return list(for_op.results)

    def _identity(self) -> dict[str, Attribute]:
        """The attributes that say where an op comes from."""
        kept = ("stc.name", "stc.module")
        return {key: self.generic.attributes[key] for key in kept if key in self.generic.attributes}

    # Tiles ------------------------------------------------------------------------------------------------------------

    def _slice_inputs(self, builder: Builder, depth: int) -> None:
        """Extract the tiles of all inputs whose innermost loop has just been entered."""
        available = set(self.order[:depth])
        for index, (value, dims) in enumerate(zip(self.generic.inputs, self.loops.input_dims, strict=True)):
            if index in self.tiles_of_inputs or not {dim for dim in dims if dim in self.order} <= available:
                continue
            if not isa(value.type, TensorType):
                self.tiles_of_inputs[index] = value
                continue
            self.tiles_of_inputs[index] = self._extract(builder, value, *self._slice(dims))

    def _slice(self, dims: Sequence[int]) -> tuple[list[SSAValue | int], list[int]]:
        offsets: list[SSAValue | int] = [self.ivs[dim] if dim in self.order else 0 for dim in dims]
        return offsets, [self.tile[dim] for dim in dims]

    def _region(self, index: int, *, inside_only: bool = False) -> tuple[list[SSAValue | int], list[int]]:
        """Offsets and sizes of result `index`'s tile in the whole result, or in an accumulator over the inside loops."""
        dims = self.loops.output_dims[index]
        offsets, sizes = self._slice(dims)
        if inside_only:
            offsets = [offset if dim in self.parallels_inside else 0 for offset, dim in zip(offsets, dims, strict=True)]
        return offsets, sizes

    def _accumulator(self, builder: Builder, index: int) -> SSAValue:
        """What result `index` starts from: a filled tile for reductions, an empty one otherwise."""
        dims = self.loops.output_dims[index]
        extents = self.loops.extents
        shape = [extents[dim] if dim in self.parallels_inside else self.tile[dim] for dim in dims]
        initial = self.generic.outputs[index]
        empty = builder.insert(tensor.EmptyOp((), TensorType(element_type(initial.type), shape))).results[0]
        fill = initial.owner
        if not isinstance(fill, linalg.FillOp):
            return empty
        filled = builder.insert(linalg.FillOp(fill.inputs, [empty], [empty.type]))
        filled.attributes |= self._identity()
        return filled.results[0]

    def _extract(self, builder: Builder, value: SSAValue, offsets: Sequence[SSAValue | int], sizes: Sequence[int]) -> SSAValue:
        result_type = TensorType(element_type(value.type), sizes)
        slice_op = tensor.ExtractSliceOp(value, offsets, sizes, [1] * len(sizes), result_type)
        return builder.insert(slice_op).result

    def _insert(
        self, builder: Builder, tile: SSAValue, into: SSAValue, offsets: Sequence[SSAValue | int], sizes: Sequence[int]
    ) -> SSAValue:
        return builder.insert(insert_slice(tile, into, offsets, sizes)).result

    def _insert_out(self, builder: Builder, index: int, tile: SSAValue, out: SSAValue) -> SSAValue:
        return self._insert(builder, tile, out, *self._region(index))

    def _compute(self, builder: Builder, outs: Sequence[SSAValue]) -> list[SSAValue]:
        """The generic itself, on tiles."""
        inputs = [self.tiles_of_inputs[index] for index in range(len(self.generic.inputs))]
        body = self.generic.body.clone()
        tiled = linalg.GenericOp(
            inputs, outs, body, self.generic.indexing_maps, self.generic.iterator_types, [out.type for out in outs]
        )
        tiled.attributes |= self.generic.attributes | {"stc.tile": StringAttr(name_of(self.generic) or "tile")}
        builder.insert(tiled)
        self._offset_indices(body)
        return list(tiled.results)

    def _offset_indices(self, body: Region) -> None:
        """`linalg.index` counts within the tile: add where the tile begins."""
        for found in list(body.walk()):
            if not isinstance(found, linalg.IndexOp):
                continue
            index = cast(linalg.IndexOp, found)
            iv = self.ivs.get(index.dim.value.data)
            if iv is not None:
                shifted = arith.AddiOp(index.result, iv)
                index.result.replace_all_uses_with(shifted.result)
                shifted.operands[0] = index.result
                Builder(InsertPoint.after(index)).insert(shifted)

    # Scalars ----------------------------------------------------------------------------------------------------------

    def _is_last_step(self, builder: Builder) -> SSAValue:
        """True in the last step of every tiled reduction."""
        tests: list[SSAValue] = []
        for loop in self.order:
            if loop in self.loops.reductions:
                last = self._constant(self.loops.extents[loop] - self.tile[loop])
                tests.append(builder.insert(arith.CmpiOp(self.ivs[loop], last, "eq")).result)
        result = tests[0]
        for test in tests[1:]:
            result = builder.insert(arith.AndIOp(result, test, i1)).result
        return result

    def _constant(self, value: int) -> SSAValue:
        if value not in self.constants:
            self.constants[value] = index_constant(self.entry, value)
        return self.constants[value]


def element_type(type_: Attribute) -> Attribute:
    """The scalar type of a tensor, or the type itself."""
    return type_.element_type if isa(type_, TensorType) else type_


def insert_slice(
    tile: SSAValue, into: SSAValue, offsets: Sequence[SSAValue | int], sizes: Sequence[int]
) -> tensor.InsertSliceOp:
    """A unit-stride `tensor.insert_slice` with mixed static and dynamic offsets."""
    dynamic = [offset for offset in offsets if isinstance(offset, SSAValue)]
    static = [DYNAMIC_INDEX if isinstance(offset, SSAValue) else offset for offset in offsets]
    return tensor.InsertSliceOp.get(tile, into, sizes, static, offsets=dynamic)
