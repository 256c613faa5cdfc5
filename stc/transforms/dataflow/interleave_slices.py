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

from stc.analysis.kernel_memory import bytes_of_entries
from stc.dialects.dataflow import KernelOp
from stc.dialects.itensor import CastOp, ChunkOp, ConcatOp, ItensorType
from stc.iteration.interleaving import Slices
from stc.platforms.platform import load_platform


@dataclass(frozen=True)
class InterleaveSlices(ModulePass):
    """Read what a kernel updates in place, as much of each slice as a launch says, entry by entry in place of slice by slice.

    A cache has so many positions of each head. Head by head each is a burst of its own, which waits for the latency of memory; with
    the heads of a position side by side one burst brings all. Memory lies as it is read (`pack-interfaces`), and the row that is
    appended is one burst, too. What reads a slice, or several one after the other, takes them from a FIFO each, which has what
    comes before its turn: as many entries as there may be.

    Only where the outermost loop counts slices and the next one entries, as many as a launch says, and nothing is read twice; and
    where FIFOs of all slices but one, which wait for their turn, are no more than a sixteenth of what the device has on chip. How
    memory lies depends on the sizes of the cache alone, so that all stages of a model have it alike, whoever reads it there.

    Options: `platform` (default u55c), whose memory that is.

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

    platform: str = "u55c"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        room = load_platform(self.platform).usable_on_chip_bytes // WAITING
        for kernel in [found for found in op.walk() if isinstance(found, KernelOp)]:
            for port in [kernel.arguments[index] for index in kernel.updated]:
                assert isinstance(port.type, ItensorType)
                slices = Slices.of(port.type.order)
                if slices is not None and slices.count > 1 and _waiting_bytes(slices, port.type) <= room:
                    _interleave(kernel, port, slices)


WAITING = 16
"""FIFOs of one cache, of four that a layer may have, take no more than this part of what is on chip."""


def _waiting_bytes(slices: Slices, type_: ItensorType) -> int:
    """Of all slices but the one whose turn it is, at their largest."""
    entries = slices.one.largest.token_count * slices.order.element_count
    return (slices.count - 1) * bytes_of_entries(entries, type_.element_type)


def _interleave(kernel: KernelOp, port: BlockArgument, slices: Slices) -> None:
    assert isinstance(port.type, ItensorType)
    element_type, readers = port.type.element_type, list(port.uses)
    by_entry = Rewriter.replace_value_with_new_type(port, ItensorType.from_order(slices.side_by_side, element_type))
    read = [_parts(use.operation, slices) for use in readers]
    numbers = sorted({number for parts in read for part in parts or (range(slices.count),) for number in part})
    if not numbers:
        return
    one = ItensorType.from_order(slices.one, element_type)
    chunk = ChunkOp(by_entry, [one] * len(numbers), [slices.begin(number) for number in numbers])
    Builder(InsertPoint.at_start(kernel.body.block)).insert(chunk)
    slice_of = dict(zip(numbers, chunk.slices, strict=True))
    for use, parts in zip(readers, read, strict=True):
        reader = use.operation
        if parts is None:
            whole = ItensorType.from_order(slices.order.from_its_begin, element_type)
            reader.operands[use.index] = _joined(reader, chunk.slices, whole, slices)
            continue
        for part, own in zip(reader.results, parts, strict=True):
            assert isinstance(part.type, ItensorType)
            joined = _joined(reader, [slice_of[number] for number in own], part.type, slices)
            joined.name_hint = part.name_hint
            part.replace_all_uses_with(joined)
        Rewriter.erase_op(reader)


def _parts(reader: Operation, slices: Slices) -> list[range] | None:
    """The slices that each result of a chunk takes; None where it takes some in part, or to several results, or is no chunk."""
    if not isinstance(reader, ChunkOp):
        return None
    found: list[range] = []
    for result, begin in zip(reader.slices, reader.offsets, strict=True):
        assert isinstance(result.type, ItensorType)
        part = slices.part(result.type.order, begin)
        if part is None or any(number in other for other in found for number in part):
            return None
        found.append(part)
    return found


def _joined(reader: Operation, parts: Sequence[SSAValue], type_: ItensorType, slices: Slices) -> SSAValue:
    """Slices one after the other, in front of `reader`."""
    builder = Builder(InsertPoint.before(reader))
    if len(parts) > 1:
        return builder.insert(ConcatOp(parts, type_, [slices.begin(number) for number in range(len(parts))])).result
    return parts[0] if parts[0].type == type_ else builder.insert(CastOp(parts[0], type_)).result
