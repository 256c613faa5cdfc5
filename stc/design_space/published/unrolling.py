"""Intensity-aware unrolling: a heap of computations by what is left of them, the slowest is unrolled twice as far.

Against our `stc.design_space.parallelism.choose_parallelism`: one number, `overall_unroll_size`, bounds the sum of all unroll
factors, whatever operators cost; nothing is taken back from a computation that the next step made faster than needed; and tasks
are not copied. The publication unrolls one kernel without limit; here a task has at most `MOST_LANES_PER_TASK`.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence

from stc.design_space.parallelism import MOST_LANES_PER_TASK, Work


def published_unrolling(works: Sequence[Work], overall_unroll_size: int) -> dict[str, int]:
    """The unroll factor of each of `works`: powers of two that divide its loop, together at most `overall_unroll_size`.

    A computation that cannot be unrolled twice as far leaves the heap.
    """
    unroll = {work.name: 1 for work in works}
    heap = [(-work.points, index) for index, work in enumerate(works)]
    heapq.heapify(heap)
    while heap:
        _, index = heapq.heappop(heap)
        work = works[index]
        factor = 2 * unroll[work.name]
        if factor > MOST_LANES_PER_TASK or work.lane_extent % factor:
            continue
        if sum(unroll.values()) + unroll[work.name] > overall_unroll_size:
            break
        unroll[work.name] = factor
        heapq.heappush(heap, (-(work.points // factor), index))
    return unroll
