"""`pack-interfaces`: tensors in external memory lie in the order in which they stream, in words of the port's width."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from xdsl.builder import Builder
from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp, TensorType, VectorType
from xdsl.ir import Attribute, BlockArgument, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.utils.hints import isa

from stc.analysis.handed_on import handed_on
from stc.analysis.host_work import host_values
from stc.analysis.kernel_memory import bits_of
from stc.analysis.task_graph import leaves_by_one_port
from stc.diagnostics import CompileError
from stc.dialects.dataflow import KernelOp, PackOp, Place, UnpackOp
from stc.dialects.dataflow.boundary import stored_type
from stc.dialects.dataflow.memory_ops import striped
from stc.dialects.itensor import ItensorType, MergeOp, SplitOp
from stc.dialects.itensor.type import at_largest
from stc.iteration.bus_words import packed_words, power_of_two, word_lanes
from stc.iteration.memory_region import enlarged
from stc.iteration.normal_form import same_sequence
from stc.iteration.order import StreamOrder
from stc.iteration.round_robin import without_constants
from stc.platforms.platform import load_platform
from stc.transforms.dataflow.kernel_results import with_results
from stc.transforms.dataflow.narrow_words import NarrowWords, narrow_words


@dataclass(frozen=True)
class PackInterfaces(ModulePass):
    """Insert `dataflow.pack` and `dataflow.unpack` on the host, so that each DMA of a kernel is a flat burst.

    A word holds one token, padded to a power of two of lanes, or as many as fill a port of `port_bits` and come evenly between
    two reuse loops. Reuse loops are not stored: the DMA reads again, and ports of one tensor that differ only in reuse loops share
    what is packed. For parameters packing happens once. An integer takes the next power of two of bits (i3 lies as i4, i12 as i16),
    several to a byte where that is less than 8; a truth value (i1) is a byte, as is any entry of a word that were less than one.

    An operand that a result updates in place lies as it is read, in words of one token: any slice of tokens can be written. So does
    one of which a part is read that begins at run time.

    An operand that is only split, and a result that is a merge of as many, gets a memory port per part: the tensor is striped; but
    for a result of which generics say that one port is enough (`stc.ports`).

    Options: `port_bits` (default 512, a power of two); `narrow` (default false): whether small parameters that will share a port
    (`share-ports`) lie in narrower words where that port has the time, since what holds them is as wide as their words, and with
    them a large result that is made behind the last layer;
    `platform` (default u55c), whose ports these are; `layers` (default 1): how many a launch will compute. Of more than one, small
    inputs that are the same for all of them lie in words as narrow.

        %y = dataflow.kernel @f(%a = %x : tensor<8x16xf32> as !X) -> (tensor<8x16xf32> as !Y) {...}
      becomes
        %p = dataflow.pack %x : tensor<8x16xf32> as !X -> tensor<8xvector<16xf32>>
        %q = dataflow.kernel @f(%a = %p : tensor<8xvector<16xf32>> as !X) -> (tensor<8xvector<16xf32>> as !Y) {...}
        %y = dataflow.unpack %q : tensor<8xvector<16xf32>> as !Y -> tensor<8x16xf32>

        %y = dataflow.kernel @g(%a = %x : tensor<8x32xf32> as !X) -> ... { %b, %c = itensor.split %a : !X to !B, !C ... }
      becomes
        %p, %q = dataflow.pack %x : tensor<8x32xf32> as !X -> tensor<8xvector<16xf32>>, tensor<8xvector<16xf32>>
        %y = dataflow.kernel @g(%b = %p : tensor<8xvector<16xf32>> as !B, %c = %q : ... as !C) -> ... {...}
    """

    name = "pack-interfaces"

    port_bits: int = 512
    narrow: bool = False
    platform: str = "u55c"
    layers: int = 1

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if self.port_bits < 8 or self.port_bits & (self.port_bits - 1):
            raise CompileError(f"port_bits is {self.port_bits}", where=self.name, accepted="a power of two of at least 8")
        for kernel in [found for found in op.walk() if isinstance(found, KernelOp)]:
            narrow = self._narrow_words(kernel) if self.narrow else NarrowWords({}, {})
            places = self._pack_operands(kernel, narrow.operands)
            self._unpack_results(kernel, places, narrow.results)

    def _narrow_words(self, kernel: KernelOp) -> NarrowWords:
        """What has narrower words than a port."""
        function = kernel.parent_op()
        assert isinstance(function, func.FuncOp)
        pairs = enumerate(zip(kernel.inputs, kernel.arguments, strict=True))
        words = [
            self._packed_type(port.type) if isinstance(port.type, ItensorType) and _is_plain(value.type)
            and index not in kernel.updated and port.type.order.is_static else None
            for index, (value, port) in pairs
        ]  # fmt: skip
        parameters = host_values(function)
        others = {value for value in kernel.inputs if value not in parameters}
        apart = others if self.layers == 1 else handed_on(function, others, parameters, self.layers)
        return narrow_words(kernel, parameters, apart, load_platform(self.platform).memory, words)

    def _pack_operands(self, kernel: KernelOp, narrow: Mapping[int, int]) -> list[Place | None]:
        """Returns what results update now, for the operands as they are then. `narrow`: bits of words, by operand, fewer than a
        port has."""
        builder = Builder(InsertPoint.before(kernel))
        operands: list[SSAValue] = []
        packed: dict[tuple[SSAValue, StreamOrder, tuple[Attribute, ...]], PackOp] = {}
        places = {place.operand: place for place in kernel.places if place is not None}
        layouts: dict[int, ItensorType | None] = {}
        begins: list[int] = []
        for index, (operand, port) in enumerate(list(zip(kernel.inputs, kernel.arguments, strict=True))):
            begins.append(len(operands))
            if not (isinstance(port.type, ItensorType) and _is_plain(operand.type)):
                operands.append(operand)
                continue
            if index in places:
                layouts[index] = layout = _layout_of_updated(kernel, operand.type, port)
                operands.append(builder.insert(PackOp(operand, layout, self._packed_type(layout, one_token=True))).result)
                operands[-1].name_hint = operand.name_hint
                continue
            ports = _stripes_of_argument(port)
            bits = narrow.get(index, self.port_bits) if len(ports) == 1 else self.port_bits
            types = [packed_type(stripe.type, bits) for stripe in ports if isinstance(stripe.type, ItensorType)]
            key = (operand, port.type.order.largest.without_reuse(), tuple(types))
            if key not in packed:
                packed[key] = builder.insert(PackOp(operand, at_largest(port.type), *types))
                _name_stripes(packed[key].stripes, operand.name_hint)
            pack = packed[key]
            operands.extend(pack.stripes)
            if len(ports) > 1:
                kernel.body.block.erase_arg(port)
        moved = [
            place if place is None else replace(
                place,
                operand=begins[place.operand],
                offsets=tuple(begins[at] if scalar else at for at, scalar in zip(place.offsets, place.scalars, strict=True)),
                layout=layouts.get(place.operand, place.layout),
            )
            for place in kernel.places
        ]
        kernel.operands = operands
        return moved

    def _unpack_results(self, kernel: KernelOp, places: Sequence[Place | None], narrow: Mapping[int, int]) -> None:
        """`narrow`: bits of words, by result, fewer than a port has."""
        results = [
            _Result(outside, list(_stripes_of_result(value)) if place is None and _is_unpacked(outside, value) else [value],
                    value.type, place, narrow.get(index, self.port_bits))
            for index, (outside, value, place) in enumerate(zip(kernel.outputs, kernel.terminator.arguments, places, strict=True))
        ]  # fmt: skip
        if not any(_is_unpacked(result.outside, result.inside[0]) for result in results):
            return
        merges = [value.owner for value in kernel.terminator.arguments]
        types = [
            packed_type(inside.type, result.bits if len(result.inside) == 1 else self.port_bits)
            if _is_unpacked(result.outside, inside) and isinstance(inside.type, ItensorType) else result.outside.type
            for result in results
            for inside in result.inside
        ]
        values = [value for result in results for value in result.inside]
        placed = [result.place for result in results for _ in result.inside]
        types = [type if place is None else kernel.inputs[place.operand].type for type, place in zip(types, placed, strict=True)]
        packed = with_results(kernel, values, types, placed)
        for merge in merges:
            if isinstance(merge, MergeOp) and not merge.result.uses:
                Rewriter.erase_op(merge)
        builder = Builder(InsertPoint.before(kernel))
        produced = iter(packed.outputs)
        for result in results:
            old, values = result.outside, [next(produced) for _ in result.inside]
            _name_stripes(values, old.name_hint)
            new: SSAValue = values[0]
            layout = result.order if result.place is None else result.place.layout
            if isinstance(layout, ItensorType) and isa(old.type, TensorType) and new.type != old.type:
                new = builder.insert(UnpackOp(values, at_largest(layout), old.type)).result
                new.name_hint = old.name_hint
            old.replace_all_uses_with(new)
        Rewriter.erase_op(kernel)

    def _packed_type(self, type_: Attribute, one_token: bool = False) -> TensorType[VectorType]:
        assert isinstance(type_, ItensorType)
        return packed_type(type_, self.port_bits, one_token)


def packed_type(type_: ItensorType, port_bits: int, one_token: bool = False) -> TensorType[VectorType]:
    """The words, of at most `port_bits`, in which a tensor lies that streams as `type_` says; `one_token`: each in a word."""
    scalar = type_.element_type
    tokens = power_of_two(type_.order.element_count)
    any_begins = one_token or type_.order.begins_at_run_time
    lanes = tokens if any_begins else word_lanes(type_.order, port_bits // bits_of(stored_type(scalar, port_bits)))
    words = packed_words(type_.order.largest, lanes)
    assert words is not None
    return TensorType(VectorType(stored_type(scalar, lanes), [lanes]), [words])


@dataclass(frozen=True)
class _Result:
    """A result of a kernel: `inside` are the values that leave, more than one where they are stripes of the order `order`.

    `place`: what it updates, of an operand that is packed. `bits`: of its words at most, where one value leaves.
    """

    outside: SSAValue
    inside: list[SSAValue]
    order: Attribute
    place: Place | None
    bits: int


def _layout_of_updated(kernel: KernelOp, outside: Attribute, port: BlockArgument) -> ItensorType:
    """How all of a tensor lies that is read, from its beginning, as `port` says."""
    assert isinstance(port.type, ItensorType) and isa(outside, TensorType)
    try:
        order = enlarged(port.type.order.largest.without_reuse(), outside.get_shape())
        return ItensorType.from_order(order, port.type.element_type)
    except ValueError as error:
        what = f"{port.name_hint or 'an operand'} is updated in place and read as {port.type}: {error}"
        raise CompileError(what, where=f"@{kernel.sym_name.data}", accepted="dimensions read in part entry by entry") from None


def _is_unpacked(outside: SSAValue, inside: SSAValue) -> bool:
    return isinstance(inside.type, ItensorType) and _is_plain(outside.type)


def _stripes_of_argument(port: BlockArgument) -> list[SSAValue]:
    """The arguments that a port becomes: itself, or one per part where all it is for is to be split (the split goes)."""
    uses = list(port.uses)
    split = uses[0].operation if len(uses) == 1 else None
    if not isinstance(split, SplitOp) or not _are_stripes(port, split.parts):
        return [port]
    stripes: list[SSAValue] = []
    for number, part in enumerate(split.parts):
        argument = port.block.insert_arg(part.type, port.index)
        argument.name_hint = part.name_hint or (f"{port.name_hint}_{number}" if port.name_hint else None)
        part.replace_all_uses_with(argument)
        stripes.append(argument)
    Rewriter.erase_op(split)
    return stripes


def _stripes_of_result(value: SSAValue) -> Sequence[SSAValue]:
    """What leaves instead of `value`: itself, or the inputs of the merge that only makes it, unless generics say that one port is
    enough."""
    merge = value.owner
    if not isinstance(merge, MergeOp) or not value.has_one_use() or not _are_stripes(value, merge.inputs):
        return [value]
    return [value] if leaves_by_one_port(merge) else merge.inputs


def _are_stripes(full: SSAValue, parts: Sequence[SSAValue]) -> bool:
    """Whether `parts` are what packing `full` in as many stripes makes."""
    assert isinstance(full.type, ItensorType)
    try:
        stripes = striped(full.type, len(parts))
    except ValueError:
        return False
    return all(
        isinstance(part.type, ItensorType) and _is_stripe(part.type.order, stripe.order)
        for part, stripe in zip(parts, stripes, strict=True)
    )


def _is_stripe(part: StreamOrder, stripe: StreamOrder) -> bool:
    """Whether `part` is the tokens of `stripe`, at their coordinates in the whole or, as a tensor of its own, from 0."""
    return same_sequence(part, without_constants(stripe) if part.is_exact else stripe)


def _name_stripes(values: Sequence[SSAValue], name: str | None) -> None:
    for number, value in enumerate(values):
        value.name_hint = name if name is None or len(values) == 1 else f"{name}_{number}"


def _is_plain(type_: object) -> bool:
    return isa(type_, TensorType) and not isa(type_.element_type, VectorType)
