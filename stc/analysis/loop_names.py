"""What loops are called: after the dimension they run along, so that an index says what it selects."""

from __future__ import annotations

from collections.abc import Sequence

from stc.analysis.generic_loops import GenericLoops
from stc.iteration.order import StreamOrder

_FROM_THE_LAST = ("column", "row", "plane", "batch")
REUSE = "visit"
TERM = "term"


def dimension_names(shape: Sequence[int]) -> tuple[str, ...]:
    """The names of the dimensions of an array.

    A matrix lies in the last two with more than one entry; further dimensions stack matrices; a vector has entries. A dimension
    of extent 1 comes last in this, so that a matrix is called the same wherever unit dimensions stand.
    """
    longer = [dim for dim, extent in enumerate(shape) if extent > 1]
    inward = [*reversed(longer), *(dim for dim in reversed(range(len(shape))) if dim not in longer)]
    names = {dim: _name(position) for position, dim in enumerate(inward)}
    if len(longer) == 1:
        names[longer[0]] = "entry"
    return tuple(names[dim] for dim in range(len(shape)))


def _name(position: int) -> str:
    last = len(_FROM_THE_LAST)
    return _FROM_THE_LAST[position] if position < last else f"{_FROM_THE_LAST[-1]}{position - last + 2}"


def first_of(name: str) -> str:
    """The index at which a tile begins along the dimension `name`."""
    return f"first_{name}"


def order_loop_names(order: StreamOrder) -> tuple[str, ...]:
    """The names of an order's loops, outermost first: of those along one dimension the innermost has its name."""
    names = dimension_names(order.largest.static_shape)
    found: list[str] = []
    for loop, dimension in enumerate(order.dimension_of_loop):
        if dimension is None:
            found.append(REUSE)
        else:
            is_innermost = order.loops_of(dimension)[-1] == loop
            found.append(names[dimension] if is_innermost else first_of(names[dimension]))
    return tuple(found)


def generic_loop_names(loops: GenericLoops, extents: Sequence[int]) -> tuple[str, ...]:
    """The names of a generic's loops on tiles of `extents`: the dimensions of its result, or of its widest operand.

    Of a product of matrices, what is summed are terms.
    """
    dims = _naming_operand(loops)
    known = dict(zip(dims, dimension_names([extents[dim] for dim in dims]), strict=True))
    others = [loop for loop in range(len(extents)) if loop not in known]
    terms = {loop: TERM if position == 0 else f"{TERM}{position + 1}" for position, loop in enumerate(reversed(others))}
    return tuple((known | terms)[loop] for loop in range(len(extents)))


def _naming_operand(loops: GenericLoops) -> tuple[int, ...]:
    """The loops of the operand whose dimensions name them: a matrix or more that is computed, else the one of highest rank."""
    widest = max((*loops.output_dims, *loops.input_dims), key=len)
    result = loops.output_dims[0]
    return result if len(widest) < len(loops.extents) and len(result) > 1 else widest
