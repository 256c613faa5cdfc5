"""Which expensive FIFOs can be kept small without losing a cycle: an ASAP schedule with bounds for `stc.fifo.lp` to pick from.

A task that nobody holds up runs ahead of its slowest consumer in the earliest run, and waits for its fastest one in the latest;
with consumers of different speed neither is good for all FIFOs behind it. Bounding those FIFOs makes such a task wait in between:
a run that ends as early as without bounds offers the program what it takes to need no more.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from stc.fifo.network_run import Network, NetworkRun, bounded_run
from stc.fifo.pieces import FifoEdge, share
from stc.platforms.fifo_storage import LUT_BITS
from stc.platforms.platform import Resources

EXPENSIVE = 0.1
"""FIFOs that cost more than this part of all FIFOs together are tried."""

LEAST = 4
"""The least bound that is tried: room for a token's way there and its slot's way back at one token per cycle."""

CHEAP = LUT_BITS
"""What other FIFOs may have at least: distributed RAM comes in this depth."""


def bounded_asap_schedule(
    network: Network, fifos: Sequence[FifoEdge], slots: Mapping[str, int], usable: Resources, first: NetworkRun, end: int
) -> tuple[dict[str, int], NetworkRun | None]:
    """Bounds of expensive FIFOs, and the run with them, which ends by cycle `end`; None where no bound is possible.

    `slots`: what FIFOs need so far; `first`: the earliest run. FIFOs with the same source are bounded alike, the most expensive
    first, each by the least power of two at which the run does not end later, all that was found before being kept. What else
    begins or ends at that source may not grow instead.
    """
    costs = {fifo.name: share(fifo.bits, slots[fifo.name], usable) for fifo in fifos}
    least = EXPENSIVE * sum(costs.values())
    together: dict[str, list[str]] = {}
    for fifo in sorted(fifos, key=lambda fifo: -costs[fifo.name]):
        if costs[fifo.name] > least and slots[fifo.name] > LEAST:
            together.setdefault(fifo.source, []).append(fifo.name)
    bounds: dict[str, int] = {}
    found: NetworkRun | None = None
    for source, names in together.items():
        around = {fifo.name: max(CHEAP, slots[fifo.name]) for fifo in fifos if source in (fifo.source, fifo.target)}
        most = max(slots[name] for name in names)
        tried = [bound for n in range(most.bit_length()) if (bound := LEAST << n) < most]
        low, high = 0, len(tried)
        middle = high - 1  # the largest first: mostly either that is too little, or far less will do
        while low < high:
            run = bounded_run(network, around | bounds | dict.fromkeys(names, tried[middle]), first, end)
            if run is None:
                low = middle + 1
            else:
                high, found = middle, run
            middle = (low + high) // 2
        if high < len(tried):
            bounds = around | bounds | dict.fromkeys(names, tried[high])
    return bounds, found
