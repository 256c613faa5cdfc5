"""`interleave-slices`: memory that the kernel updates has an entry of all slices side by side, so that one burst reads it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.builder import Builder
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import BlockArgument, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from stc.dialects.dataflow import KernelOp
from stc.dialects.itensor import ChunkOp, ConcatOp, ItensorType
from stc.iteration.interleaving import Slices


@dataclass(frozen=True)
class InterleaveSlices(ModulePass):
    """Read what a kernel updates in place, as much of each slice as a launch says, entry by entry in place of slice by slice.

    A cache has so many positions of each head. Head by head each is a burst of its own, which waits for the latency of memory; with
    the heads of a position side by side one burst brings all. Memory lies as it is read (`pack-interfaces`), and the row that is
    appended is one burst, too. What reads a slice, or several one after the other, takes them from a FIFO each, which has what
    comes before its turn: as many entries as there may be. How memory lies does not depend on who reads what.

    Only where the outermost loop counts slices and the next one entries, as many as a launch says from the first on, and nothing is
    read twice.

        %y, %u = dataflow.kernel @k(%c = %cache : tensor<4x8x16xf32> as !itensor.itensor<1x1x16xf32,
              iter_space: [4, pos<=7] * [1, 1], iter_map: (d0, d1) -> (d0, d1, 0)>, ...) -> (... into %c at [0, %pos, 0]) {
          %a, %b = itensor.chunk %c at [0, 0, 0], [2, 0, 0] : ... to !Two, !Two
      becomes
        %y, %u = dataflow.kernel @k(%c = %cache : tensor<4x8x16xf32> as !itensor.itensor<1x1x16xf32,
              iter_space: [pos<=7, 4] * [1, 1], iter_map: (d0, d1) -> (d1, d0, 0)>, ...) -> (... into %c at [0, %pos, 0]) {
          %0, %1, %2, %3 = itensor.chunk %c at [0, 0, 0], [1, 0, 0], [2, 0, 0], [3, 0, 0] : ... to !One, !One, !One, !One
          %a = itensor.concat %0, %1 at [0, 0, 0], [1, 0, 0] : !One, !One to !Two
          %b = itensor.concat %2, %3 at [0, 0, 0], [1, 0, 0] : !One, !One to !Two
    """

    name = "interleave-slices"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for kernel in [found for found in op.walk() if isinstance(found, KernelOp)]:
            for index in kernel.updated:
                _interleave(kernel, kernel.arguments[index])


def _interleave(kernel: KernelOp, port: BlockArgument) -> None:
    assert isinstance(port.type, ItensorType)
    before, element_type = port.type, port.type.element_type
    slices = Slices.of(before.order)
    if slices is None or slices.count == 1:
        return
    readers = list(port.uses)
    by_entry = Rewriter.replace_value_with_new_type(port, ItensorType.from_order(slices.side_by_side, element_type))
    one = ItensorType.from_order(slices.one, element_type)
    chunk = ChunkOp(by_entry, [one] * slices.count, [slices.begin(number) for number in range(slices.count)])
    Builder(InsertPoint.at_start(kernel.body.block)).insert(chunk)
    for use in readers:
        reader = use.operation
        parts = _parts(reader, slices) if isinstance(reader, ChunkOp) else None
        if parts is None:
            whole = ItensorType.from_order(before.order.from_its_begin, element_type)
            reader.operands[use.index] = _joined(reader, chunk.slices, whole, slices)
            continue
        for part, numbers in zip(reader.results, parts, strict=True):
            assert isinstance(part.type, ItensorType)
            joined = _joined(reader, [chunk.slices[number] for number in numbers], part.type, slices)
            joined.name_hint = part.name_hint
            part.replace_all_uses_with(joined)
        Rewriter.erase_op(reader)


def _parts(chunk: ChunkOp, slices: Slices) -> list[range] | None:
    """The slices that each result of `chunk` has; None where one has only a part of some."""
    parts: list[range] = []
    for part, begin in zip(chunk.slices, chunk.offsets, strict=True):
        assert isinstance(part.type, ItensorType)
        numbers = slices.part(part.type.order, begin)
        if numbers is None:
            return None
        parts.append(numbers)
    return parts


def _joined(reader: Operation, parts: Sequence[SSAValue], type_: ItensorType, slices: Slices) -> SSAValue:
    """Slices one after the other, in front of `reader`."""
    if len(parts) == 1:
        return parts[0]
    begins = [slices.begin(number) for number in range(len(parts))]
    return Builder(InsertPoint.before(reader)).insert(ConcatOp(parts, type_, begins)).result
