"""The `itensor` type: the slices of a tensor in the order in which they cross a stream."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import AnyFloat, ContainerType, IndexType, IntegerType, TensorType
from xdsl.ir import Attribute, Data, ParametrizedAttribute, TypeAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.hints import isa

from stc.dialects.itensor.syntax import parse_order_body, print_order_body
from stc.iteration.order import Coordinate, Loop, StreamOrder
from stc.iteration.size import Size, static


def canonical(order: StreamOrder) -> StreamOrder:
    """`order` with the loops of each sum ascending, so that equal orders are equal types."""
    coordinates = tuple(Coordinate(tuple(sorted(c.loops)), c.constant) for c in order.coordinates)
    return StreamOrder(order.element, order.loops, coordinates)


def at_largest(type: ItensorType) -> ItensorType:
    """An itensor where all symbols are at their maxima: as external memory holds it at any value of them."""
    return type if type.order.is_static else ItensorType.from_order(type.order.largest, type.element_type)


@irdl_attr_definition
class OrderAttr(Data[StreamOrder]):
    """A stream order: the itensor type without its scalar type.

    Example: `#itensor.order<4x4, iter_space: [2, 2, 3] * [4, 8, 4], iter_map: (d0, d1, d2) -> (d0, d2)>`; the element of a
    rank-0 tensor is written `[]`.
    """

    name = "itensor.order"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> StreamOrder:
        with parser.in_angle_brackets():
            if parser.parse_optional_punctuation("[") is not None:
                parser.parse_punctuation("]")
                element: list[int] = []
            else:
                element = parser.parse_dimension_list()
            return canonical(parse_order_body(parser, tuple(element)))

    def print_parameter(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string("x".join(str(extent) for extent in self.data.element) or "[]")
            print_order_body(printer, self.data)


@irdl_attr_definition
class ItensorType(ParametrizedAttribute, TypeAttribute, ContainerType[Attribute]):
    """A finite sequence of tokens, each a slice ("element") of a tensor, in an order fixed by the type.

    `!itensor.itensor<4x4xf32, iter_space: [2, 2, 3] * [4, 8, 4], iter_map: (d0, d1, d2) -> (d0, d2)>` is the sequence of the
    4x4 slices of a `tensor<8x12xf32>` (extent = (trip - 1) * step + element extent) under three loops with trips 2, 2, 3
    and steps 4, 8, 4; `d1` drives no data dimension, so that everything inside it is visited again. Map results are sums of
    loops plus a constant. Trips and constants are sizes: an integer, a symbol from 0 to its maximum (`pos<=127`), or
    a sum, minimum, maximum or ceiling division of sizes (`ceildiv(min(sum(pos<=127, 1), 64), 16)`). A loop of no iterations is a
    stream of no tokens. Entries of an element are row-major; the scalar type is a float, integer or index type.
    """

    name = "itensor.itensor"

    element_type: Attribute
    order_attr: OrderAttr

    def __init__(self, element_type: Attribute, order: StreamOrder | OrderAttr):
        if isinstance(order, StreamOrder):
            order = OrderAttr(canonical(order))
        super().__init__(element_type, order)

    @classmethod
    def from_order(cls, order: StreamOrder, element_type: Attribute) -> ItensorType:
        return cls(element_type, order)

    @classmethod
    def of(
        cls,
        element: Sequence[int],
        trips: Sequence[Size],
        steps: Sequence[int],
        results: Sequence[Sequence[int] | int],
        element_type: Attribute,
    ) -> ItensorType:
        """The type with map results that are sums of loops: `ItensorType.of([4, 2], [4, 2], [2, 4], [1, 0], f32)`.

        A result is a loop or a sequence of loops; an empty sequence is the constant 0. ValueError as `StreamOrder`.
        """
        loops = tuple(Loop(trip, step) for trip, step in zip(trips, steps, strict=True))
        coordinates = tuple(Coordinate((r,) if isinstance(r, int) else tuple(r)) for r in results)
        return cls(element_type, StreamOrder(tuple(element), loops, coordinates))

    # What it stands for -----------------------------------------------------------------------------------------------

    @property
    def order(self) -> StreamOrder:
        return self.order_attr.data

    @property
    def element_shape(self) -> tuple[int, ...]:
        """Shape of one token."""
        return self.order.element

    @property
    def rank(self) -> int:
        return self.order.rank

    @property
    def tile_type(self) -> TensorType[Attribute]:
        """The tensor type of one token."""
        return TensorType(self.element_type, self.element_shape)

    @property
    def tensor_shape(self) -> tuple[int, ...]:
        """Extents of the tensor enumerated; ValueError where one is symbolic."""
        return tuple(static(extent) for extent in self.order.shape)

    @property
    def tensor_type(self) -> TensorType[Attribute]:
        """The tensor enumerated; ValueError where an extent is symbolic."""
        return TensorType(self.element_type, self.tensor_shape)

    def get_element_type(self) -> Attribute:
        return self.element_type

    # Checks and syntax ------------------------------------------------------------------------------------------------

    def verify(self) -> None:
        if not isa(self.element_type, AnyFloat | IntegerType | IndexType):
            raise VerifyException(
                f"itensor has elements of type {self.element_type}, expected a float, integer or index type"
            )

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> tuple[Attribute, Attribute]:
        with parser.in_angle_brackets():
            position = parser.pos
            element, element_type = parser.parse_ranked_shape()
            if not isa(element_type, AnyFloat | IntegerType | IndexType):
                parser.raise_error(
                    f"itensor has elements of type {element_type}, expected a float, integer or index type", position
                )
            if any(extent < 0 for extent in element):
                parser.raise_error("itensor has a dynamic element extent, expected integers", position)
            order = canonical(parse_order_body(parser, tuple(element)))
        return element_type, OrderAttr(order)

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            for extent in self.element_shape:
                printer.print_string(f"{extent}x")
            printer.print_attribute(self.element_type)
            print_order_body(printer, self.order)
