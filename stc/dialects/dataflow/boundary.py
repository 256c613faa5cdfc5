"""What may meet at the boundary of a kernel: a tensor outside, and inside its itensor, its memref, or the same scalar."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import AnyFloat, IndexType, IntegerType, MemRefType, TensorType, VectorType, i8
from xdsl.ir import Attribute
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.hints import isa

from stc.dialects.itensor.size_ops import SymbolType
from stc.dialects.itensor.type import ItensorType
from stc.iteration.bus_words import packed_words
from stc.iteration.order import StreamOrder
from stc.iteration.size import Size, maximum

_BYTE = 8


def is_scalar(type: Attribute) -> bool:
    return isa(type, AnyFloat | IntegerType | IndexType)


def verify_boundary(what: str, outside: Attribute, inside: Attribute) -> None:
    """Check that `inside` is a view of all of `outside`; VerifyException naming `what` ("operand 0") otherwise.

    A plain tensor meets an exact itensor over the same shape and scalars; a packed tensor (`tensor<Nxvector<LxT>>`) an itensor
    of disjoint tokens with as many entries in words of L lanes; any tensor a memref of its shape; a scalar itself, and an integer a
    symbol. Memory has room for what a symbolic itensor has at its maximum, and holds it as `StreamOrder.largest` has it.
    """
    if is_scalar(outside) and inside == outside:
        return
    if isinstance(outside, IndexType | IntegerType) and isinstance(inside, SymbolType):
        return
    if not isinstance(outside, TensorType):
        raise VerifyException(f"{what} is a {outside} outside, expected a tensor, or a scalar of the same type inside")
    match inside:
        case ItensorType():
            verify_covers(what, outside, inside)
        case MemRefType():
            if inside.get_shape() != outside.get_shape() or inside.element_type != outside.element_type:
                raise VerifyException(
                    f"{what} is a {outside} outside but a {inside} inside, expected the same shape and elements"
                )
        case _:
            raise VerifyException(f"{what} is a {inside} inside, expected an itensor or a memref of {outside}")


def verify_covers(what: str, tensor: TensorType[Attribute], itensor: ItensorType) -> None:
    """Check that `itensor` enumerates all of `tensor`, and that it is exact where `tensor` is plain.

    A packed tensor may be one stripe of several: then its itensor is a part of what a split makes of an exact one.
    """
    if isinstance(tensor.element_type, VectorType):
        verify_packed(what, tensor, itensor)
        return
    if not _largest(what, itensor).is_exact:
        raise VerifyException(
            f"{what} has the inexact type {itensor}, expected one that visits every coordinate once up to temporal reuse"
        )
    if itensor.element_type != tensor.element_type:
        raise VerifyException(
            f"{what} has entries of type {itensor.element_type}, expected {tensor.element_type} of the tensor"
        )
    if itensor.order.largest.static_shape != tensor.get_shape():
        raise VerifyException(
            f"{what} enumerates {_spelled(itensor.order.shape)}, expected {_spelled(tensor.get_shape())} of the tensor"
        )


def _largest(what: str, itensor: ItensorType) -> StreamOrder:
    """How memory is laid out that holds `itensor`."""
    try:
        return itensor.order.largest
    except ValueError as error:
        raise VerifyException(f"{what} has type {itensor}, of which {error}") from None


def _spelled(shape: Sequence[Size]) -> str:
    return f"[{', '.join(str(extent) for extent in shape)}]"


def stored_type(scalar: Attribute, lanes: int) -> Attribute:
    """The scalar that words of `lanes` in external memory hold for one of an itensor.

    A byte for a truth value, else the integer of the next power of two of bits; but a byte where a word would be less than that.
    """
    if not isinstance(scalar, IntegerType):
        return scalar
    width = scalar.width.data
    bits = 1 << (width - 1).bit_length()
    return i8 if width == 1 or lanes * bits < _BYTE else IntegerType(bits)


def verify_packed(what: str, tensor: TensorType[Attribute], itensor: ItensorType) -> None:
    """Check that `tensor<Nxvector<LxT>>` holds the tokens of `itensor`, each once, in N words of L lanes."""
    largest = _largest(what, itensor)
    if not (itensor.order.is_exact or itensor.order.is_disjoint or (itensor.order.begins_at_run_time and largest.is_exact)):
        raise VerifyException(
            f"{what} has the inexact type {itensor}, expected one that visits no coordinate twice, up to temporal reuse"
        )
    vector = tensor.element_type
    if not isinstance(vector, VectorType) or len(tensor.get_shape()) != 1 or len(vector.get_shape()) != 1:
        raise VerifyException(f"{what} is packed as {tensor}, expected a tensor of one dimension of one-dimensional vectors")
    lanes = vector.get_shape()[0]
    if vector.element_type != (stored := stored_type(itensor.element_type, lanes)):
        raise VerifyException(
            f"{what} is packed in words of {vector.element_type}, expected {stored} of the itensor"
        )
    words = packed_words(largest, lanes)
    if words is None:
        raise VerifyException(
            f"{what} is packed in words of {lanes} lanes, which neither divide nor hold tokens of "
            f"{itensor.order.element_count} entries, expected a divisor, a multiple or the next power of two"
        )
    if tensor.get_shape()[0] != words:
        raise VerifyException(f"{what} is packed in {tensor.get_shape()[0]} words, expected {words} words of {lanes} lanes")


def verify_part(what: str, outside: Attribute, inside: ItensorType, layout: ItensorType | None) -> None:
    """Check that `inside` enumerates the tensor `outside` or the first entries of its dimensions; `layout` where it is packed."""
    tensor = _laid_out(what, outside, layout)
    if not _largest(what, inside).is_exact or inside.element_type != tensor.element_type:
        accepted = f"expected an exact itensor with entries of type {tensor.element_type}"
        raise VerifyException(f"{what} has type {inside}, {accepted}")
    shape, extents = inside.order.largest.static_shape, tensor.get_shape()
    if len(shape) != len(extents) or any(extent > total for extent, total in zip(shape, extents, strict=True)):
        raise VerifyException(f"{what} enumerates {_spelled(shape)}, expected at most {_spelled(extents)} of the tensor")


def _laid_out(what: str, outside: Attribute, layout: ItensorType | None) -> TensorType[Attribute]:
    """The tensor that `outside` holds, packed as `layout` says or plain."""
    assert isinstance(outside, TensorType)
    if isinstance(outside.element_type, VectorType) != (layout is not None):
        raise VerifyException(f"{what} is a {outside}, expected {'a packed' if layout else 'a plain'} tensor, or its layout")
    if layout is None:
        return outside
    verify_packed(f"the layout of {what}", outside, layout)
    return TensorType(layout.element_type, layout.order.static_shape)


def verify_slice_of(
    what: str, outside: TensorType[Attribute], inside: Attribute, offsets: Sequence[Size | None], layout: ItensorType | None
) -> None:
    """Check that `inside` enumerates a slice of `outside` at `offsets` (None: a scalar); `layout` where it is packed."""
    if isinstance(inside, MemRefType):
        verify_boundary(what, outside, inside)
        return
    tensor = _laid_out(what, outside, layout)
    if not isinstance(inside, ItensorType) or not inside.order.is_static:
        raise VerifyException(f"{what} is a {inside} inside, expected an itensor with integer sizes or a memref")
    if not inside.order.is_exact or inside.element_type != tensor.element_type:
        raise VerifyException(
            f"{what} has type {inside}, expected an exact itensor with entries of type {tensor.element_type}"
        )
    shape, extents = inside.tensor_shape, tensor.get_shape()
    if not len(shape) == len(extents) == len(offsets):
        raise VerifyException(
            f"{what} places {len(shape)} dimensions at {len(offsets)} offsets, expected {len(extents)} of each"
        )
    for dimension, (extent, total, offset) in enumerate(zip(shape, extents, offsets, strict=True)):
        if (last := maximum(offset or 0) + extent) > total:
            raise VerifyException(
                f"{what} covers {offset or 0} to {last} of dimension {dimension}, expected a slice of its {total} entries"
            )
