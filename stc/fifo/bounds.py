"""Which expensive FIFOs can be kept small without losing a cycle: an ASAP schedule with bounds for `stc.fifo.lp` to pick from.

A task that nobody holds up runs ahead of its slowest consumer in the earliest run, and waits for its fastest one in the latest;
with consumers of different speed neither is good for all FIFOs behind it. Bounding those FIFOs makes such a task wait in between:
a run that ends as early as without bounds offers the program what it takes to need no more.
"""

from __future__ import annotations

from collections.abc import Mapping

from stc.fifo.depth_search import DepthTest, Outcome, SizedFifo
from stc.fifo.network_run import Network, NetworkRun, bounded_run
from stc.fifo.pieces import share
from stc.platforms.fifo_storage import LUT_BITS
from stc.platforms.platform import Resources

EXPENSIVE = 0.1
"""FIFOs that cost more than this part of all FIFOs together are tried."""

LEAST = 4
"""The least bound that is tried: room for a token's way there and its slot's way back at one token per cycle."""

CHEAP = LUT_BITS
"""What other FIFOs may have at least: distributed RAM comes in this depth."""


def bounded_asap_schedule(
    network: Network, slots: Mapping[str, int], usable: Resources, first: NetworkRun, end: int
) -> tuple[dict[str, int], NetworkRun | None]:
    """Bounds of expensive FIFOs in slots, and the ASAP schedule with them; None for that where no bound is possible.

    `slots`: what FIFOs need so far. `first`: the ASAP schedule without bounds. `end`: the cycle by which everything has to end.
    FIFOs with the same source are bounded alike, the most expensive first, each by the least power of two at which the run does not
    end later (`stc.fifo.depth_search`, where a step to the next power stands for a slot). What else begins or ends at that source
    may not grow instead.
    """
    fifos = network.graph.sized
    costs = {fifo.name: share(fifo.bits, slots[fifo.name], usable) for fifo in fifos}
    least = EXPENSIVE * sum(costs.values())
    together: dict[str, list[str]] = {}
    for fifo in sorted(fifos, key=lambda fifo: -costs[fifo.name]):
        if costs[fifo.name] > least and slots[fifo.name] > LEAST:
            together.setdefault(fifo.producer, []).append(fifo.name)
    most = {source: max(slots[name] for name in names) for source, names in together.items()}
    tried = {source: [LEAST << n for n in range(count.bit_length()) if LEAST << n < count] for source, count in most.items()}
    around = {source: [fifo.name for fifo in fifos if source in (fifo.producer, fifo.consumer)] for source in together}
    runs: dict[tuple[int, ...], NetworkRun | None] = {}

    def bounds(steps: Mapping[str, int]) -> dict[str, int]:
        """Where each source is bounded to one of what is tried for it, or not at all in the step behind the last one."""
        bounded = {source: tried[source][step] for source, step in steps.items() if step < len(tried[source])}
        others = {name: max(CHEAP, slots[name]) for source in bounded for name in around[source]}
        return others | {name: bound for source, bound in bounded.items() for name in together[source]}

    def run(steps: Mapping[str, int]) -> Outcome:
        found = runs[tuple(steps.values())] = bounded_run(network, bounds(steps), first, end)
        return Outcome(None if found is None else found.makespan, {})

    steps = [SizedFifo(source, 1, len(tried[source]), floor=0) for source in together]
    test = DepthTest(steps, run, Outcome(first.makespan, {}), end)
    # The largest bound first: mostly either that is too little, or far less will do.
    least = test.lowered(test.all_tokens, test.floors, range(len(steps)), lambda index, too_few, enough: (enough - 1,))
    if least == test.all_tokens or not test.passes(least):
        return {}, None
    return bounds(test.named(least)), runs[least]
