"""Copies that take the iterations of a loop in turn, as the parts do that read them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import networkx as nx
from xdsl.dialects.linalg.ops import GenericOp
from xdsl.ir import SSAValue

from stc.analysis.generic_loops import GenericLoops
from stc.dialects.facts import COPIES, DEALT
from stc.transforms.linalg.reshapes import RESHAPES


@dataclass(frozen=True)
class Division:
    """`loop` of a generic, of `extent` iterations, is divided into `count` copies, of several iterations each."""

    loop: int
    count: int
    extent: int


def _division_of(generic: GenericOp) -> Division | None:
    """Its only one; None where nothing or several loops are divided, or each copy has one iteration."""
    divided = [(loop, count) for loop, count in enumerate(COPIES.of(generic) or ()) if count > 1]
    if len(divided) != 1:
        return None
    (loop, count), = divided
    extent = GenericLoops(generic).extents[loop]
    return Division(loop, count, extent) if extent > count and extent % count == 0 else None


def dealt_copies(generics: Sequence[GenericOp]) -> Mapping[GenericOp, Division]:
    """Which copies are to take iterations in turn, not each so many on end.

    Those whose results as many parts read that take iterations of the same loop in turn: what they want next would come last,
    where each copy had so many on end. All generics that hand their copies on to one another must be divided alike, and hand them
    on as they are: what a copy makes of a reshape, or of a result of the function, stays on end.
    """
    found = {generic: division for generic in generics if (division := _division_of(generic)) is not None}
    neighbours = nx.Graph()
    neighbours.add_nodes_from(found)
    wanted: set[GenericOp] = set()
    apart: set[GenericOp] = set()
    for generic, division in found.items():
        if _reads_reshaped_copies(generic, division):
            apart.add(generic)
        for reader, loop in _readers(generic, division):
            if reader is None:
                apart.add(generic)
                continue
            copies, parts = COPIES.of(reader), DEALT.of(reader)
            if copies is None or copies[loop] == 1:
                if parts is not None and parts[loop] == division.count:
                    wanted.add(generic)
            elif found.get(reader) == Division(loop, division.count, division.extent):
                neighbours.add_edge(generic, reader)
            else:
                apart.add(generic)
    alike: set[GenericOp] = set()
    for members in nx.connected_components(neighbours):
        if members & wanted and not members & apart:
            alike |= members
    return {generic: division for generic, division in found.items() if generic in alike}


def _readers(generic: GenericOp, division: Division) -> Iterator[tuple[GenericOp | None, int]]:
    """Who reads what copies make, each with the loop that moves along what is divided; None for what is no generic."""
    for result, dims in zip(generic.results, GenericLoops(generic).output_dims, strict=True):
        if division.loop not in dims:
            continue
        dimension = dims.index(division.loop)
        for use in result.uses:
            reader = use.operation
            if isinstance(reader, GenericOp):
                yield reader, GenericLoops(reader).operand_dims[use.index][dimension]
            else:
                yield None, 0


def _reads_reshaped_copies(generic: GenericOp, division: Division) -> bool:
    """Whether it divides a reshape of what copies make."""
    inputs = zip(generic.inputs, GenericLoops(generic).input_dims, strict=True)
    return any(division.loop in dims and isinstance(value.owner, RESHAPES) and _is_of_copies(value) for value, dims in inputs)


def _is_of_copies(value: SSAValue) -> bool:
    while isinstance(made := value.owner, RESHAPES):
        value = made.src
    return isinstance(made, GenericOp) and any(count > 1 for count in COPIES.of(made) or ())
