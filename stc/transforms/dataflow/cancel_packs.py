"""`cancel-packs`: what one kernel makes and another takes stays on the device."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from xdsl.builder import Builder
from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp, TensorType, VectorType
from xdsl.ir import OpResult, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.utils.hints import isa

from stc.analysis.host_work import functions_of, host_values
from stc.analysis.kernel_memory import bytes_of_entries, local_bytes
from stc.diagnostics import CompileError
from stc.dialects.dataflow import KernelOp, PackOp, UnpackOp
from stc.dialects.dataflow.memory_ops import striped
from stc.dialects.itensor import ConverterOp, ForkOp, ItensorType
from stc.iteration.bus_words import common_word, packed_words
from stc.platforms.platform import load_platform
from stc.transforms.dataflow.connections import connect, converter_bytes
from stc.transforms.dataflow.kernel_results import with_results


@dataclass(frozen=True)
class CancelPacks(ModulePass):
    """Hand packed tensors from kernel to kernel without the host (after `pack-interfaces`).

    * A pack of an unpack goes where both lay the same entries in the same order, however their types spell it: with or without
      reuse loops, in wider or narrower tokens. Where the words differ in width, both kernels take the widest that suits both.
    * Where the orders differ, or tokens are padded differently, the kernel that makes the tensor gets a converter and yields it in
      the consumer's order, temporal reuse left out (memory is read again), if its tiles and converters then still fit in
      `on-chip`. The old order stays a result as long as somebody wants it.
    * Packs of one tensor in one order for several kernels are one.

    What remains is listed in report.json (`stc.analysis.host_trips`) with the reason. Packs of parameters are left alone: they are
    evaluated once; so are those of what a kernel updates in place: others want what was in it.

    Options: `on-chip` in bytes (default 0: what `platform` has on chip), `platform` (default u55c).

        %q = dataflow.kernel @a(...) -> (tensor<8xvector<16xf32>> as !X) {...}
        %h = dataflow.unpack %q : tensor<8xvector<16xf32>> as !X -> tensor<8x16xf32>
        %p = dataflow.pack %h : tensor<8x16xf32> as !Y -> tensor<8xvector<16xf32>>
        %r = dataflow.kernel @b(%s = %p : tensor<8xvector<16xf32>> as !Y) ...
      becomes, where !X and !Y are one sequence up to temporal reuse,
        %q = dataflow.kernel @a(...) -> (tensor<8xvector<16xf32>> as !X) {...}
        %r = dataflow.kernel @b(%s = %q : tensor<8xvector<16xf32>> as !Y) ...
    """

    name = "cancel-packs"

    on_chip: int = 0
    platform: str = "u55c"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if self.on_chip < 0:
            raise CompileError(f"on-chip is {self.on_chip}", where=self.name, accepted="0, or a number of bytes")
        on_chip = self.on_chip or load_platform(self.platform).usable_on_chip_bytes
        for function in functions_of(op):
            known = host_values(function)
            _share_packs(function, known)
            for pack in _packs(function, known):
                if (unpack := _unpack_before(pack)) is not None and not _pass_on(pack, unpack):
                    _convert_in_producer(pack, unpack, on_chip)
            for unpack in [found for found in function.body.block.ops if isinstance(found, UnpackOp)]:
                if not unpack.result.uses:
                    Rewriter.erase_op(unpack)


def _packs(function: func.FuncOp, known: set[SSAValue]) -> list[PackOp]:
    """The packs that the host does at every launch, but of what a kernel updates: that is a copy of its own."""
    packs = [op for op in function.body.block.ops if isinstance(op, PackOp) and op.source not in known]
    return [pack for pack in packs if not any(map(_is_updated, pack.stripes))]


def _is_updated(value: SSAValue) -> bool:
    users = [(use.operation, use.index) for use in value.uses]
    return any(
        place is not None and place.operand == index for user, index in users if isinstance(user, KernelOp) for place in user.places
    )


def _unpack_before(pack: PackOp) -> UnpackOp | None:
    """The unpack of a kernel's results that made what `pack` packs."""
    unpack = pack.source.owner
    if not isinstance(unpack, UnpackOp):
        return None
    if not all(isinstance(stripe.owner, KernelOp) and stripe.owner.in_place is None for stripe in unpack.stripes):
        return None
    return unpack


def _share_packs(function: func.FuncOp, known: set[SSAValue]) -> None:
    """One pack for all that lay the same tensor out alike."""
    first: list[PackOp] = []
    for pack in _packs(function, known):
        for other in first:
            if other.source is pack.source and _are_alike(other, pack):
                _replace_pack(pack, list(other.stripes))
                break
        else:
            first.append(pack)


def _are_alike(first: PackOp, second: PackOp) -> bool:
    """Whether both make the same words. Tokens of other widths, though in one order, may be split and padded differently."""
    if first.stripes.types != second.stripes.types:
        return False
    lanes = _lanes(first.stripes[0])
    stripes = zip(*(striped(pack.layout, len(pack.stripes)) for pack in (first, second)), strict=True)
    return all(common_word(one.order, other.order, lanes) == lanes for one, other in stripes)


def _replace_pack(pack: PackOp, values: list[SSAValue]) -> None:
    for old, new in zip(pack.stripes, values, strict=True):
        old.replace_all_uses_with(new)
    Rewriter.erase_op(pack)


# The same order -------------------------------------------------------------------------------------------------------


def _pass_on(pack: PackOp, unpack: UnpackOp) -> bool:
    """Give the kernels that read `pack` what `unpack` unpacks; whether the layouts and the words allow it."""
    if len(pack.stripes) != len(unpack.stripes):
        return False
    made, required = (striped(op.layout, len(op.stripes)) for op in (unpack, pack))
    most = max(_lanes(value) for value in (*pack.stripes, *unpack.stripes))
    words = {common_word(a.order, b.order, most) for a, b in zip(made, required, strict=True)}
    if len(words) != 1 or (lanes := words.pop()) is None:
        return False
    for value, part in zip(unpack.stripes, made, strict=True):
        others = [inside for use in value.uses if (inside := _inside(use.operation, use.index)) is not None]
        if any(common_word(part.order, other.order, lanes) != lanes for other in others):
            return False
    if any(_lanes(value) != lanes and not _is_private(value) for value in (*pack.stripes, *unpack.stripes)):
        return False
    values = [_in_words(value, part, lanes) for value, part in zip(unpack.stripes, made, strict=True)]
    _replace_pack(pack, values)
    return True


def _inside(user: object, index: int) -> ItensorType | None:
    """What a kernel sees of its operand `index`; None for other users."""
    inside = user.arguments[index].type if isinstance(user, KernelOp) else None
    return inside if isinstance(inside, ItensorType) else None


def _is_private(value: SSAValue) -> bool:
    """Whether only kernels and the host's unpacking use it, to which its words do not matter."""
    return all(isinstance(use.operation, KernelOp | UnpackOp) for use in value.uses)


def _in_words(value: SSAValue, part: ItensorType, lanes: int) -> SSAValue:
    """A result of a kernel in words of `lanes`."""
    if _lanes(value) == lanes:
        return value
    words = packed_words(part.order, lanes)
    assert words is not None and isa(value.type, TensorType) and isinstance(value.type.element_type, VectorType)
    scalar = value.type.element_type.element_type
    return Rewriter.replace_value_with_new_type(value, TensorType(VectorType(scalar, [lanes]), [words]))


def _lanes(value: SSAValue) -> int:
    assert isa(value.type, TensorType) and isinstance(value.type.element_type, VectorType)
    return value.type.element_type.get_shape()[0]


# Another order --------------------------------------------------------------------------------------------------------


def _convert_in_producer(pack: PackOp, unpack: UnpackOp, on_chip: int) -> None:
    """Let the kernel that makes the tensor yield it as `pack` would lay it out, if the converter fits."""
    if len(pack.stripes) != 1 or len(unpack.stripes) != 1:
        return
    result = unpack.stripes[0]
    assert isinstance(result, OpResult) and isinstance(result.op, KernelOp)
    kernel = result.op
    required = ItensorType.from_order(pack.layout.order.without_reuse(), pack.layout.element_type)
    value = kernel.terminator.arguments[result.index]
    assert isinstance(value.type, ItensorType)
    try:
        size = converter_bytes(value.type, required)
    except ValueError:
        return
    if _on_chip_bytes(kernel) + size > on_chip:
        return
    stays = len(list(result.uses)) > 1 or len(list(unpack.result.uses)) > 1
    builder = Builder(InsertPoint.before(kernel.terminator))
    retained, converted = value, value
    if stays:
        fork = builder.insert(ForkOp(value, 2))
        fork.copies[0].name_hint = fork.copies[1].name_hint = value.name_hint
        retained, converted = fork.copies
    converted = connect(builder, converted, required)
    inside, types = list(kernel.terminator.arguments), [output.type for output in kernel.outputs]
    inside[result.index : result.index + 1] = [retained, converted] if stays else [converted]
    types[result.index : result.index + 1] = [result.type, pack.result.type] if stays else [pack.result.type]
    new = with_results(kernel, inside, types)
    _replace_results(kernel, new, result, stays)
    packed = new.outputs[result.index + int(stays)]
    packed.name_hint = result.name_hint
    _replace_pack(pack, [packed])
    if not stays:
        Rewriter.erase_op(unpack)
    Rewriter.erase_op(kernel)


def _replace_results(kernel: KernelOp, new: KernelOp, result: OpResult, stays: bool) -> None:
    """Let users of the results of `kernel` use those of `new`, which has one more behind `result`, or another in its place."""
    for index, old in enumerate(kernel.outputs):
        if index == result.index and not stays:
            continue
        replacement = new.outputs[index + int(stays and index > result.index)]
        replacement.name_hint = old.name_hint
        old.replace_all_uses_with(replacement)


def _on_chip_bytes(kernel: KernelOp) -> int:
    """Bytes of the tiles and converters of `kernel`; FIFOs have no depth yet."""
    converters = [op for op in kernel.body.block.ops if isinstance(op, ConverterOp)]
    total = local_bytes(kernel)
    for converter in converters:
        assert isinstance(converter.source.type, ItensorType)
        total += bytes_of_entries(prod(converter.buffer_shape) * (converter.blocks or 2), converter.source.type.element_type)
    return total
