"""Text of nests over the dimensions of a tile, and of the streams that its tokens come from or go to."""

from __future__ import annotations

from collections.abc import Mapping

ITENSOR = "!itensor.itensor<{width}xf32, iter_space: [{trips}] * [{width}], iter_map: (d0) -> (d0)>"


def nest(order: str, extents: Mapping[str, int], steps: Mapping[str, int], body: str) -> str:
    """Loops %a, %b, ... in `order`, outermost first, each from %c0 to the constant of its extent; steps are 1 if none is given."""
    loops = [f"scf.for %{name} = %c0 to %c{extents[name]} step %c{steps.get(name, 1)} {{\n" for name in order]
    return "".join(loops) + body + "}" * len(order)
