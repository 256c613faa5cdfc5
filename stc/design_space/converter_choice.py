"""Which converter stands between two streams: the smallest one that costs no time worth mentioning.

Ping-pong blocks overlap filling and emptying, so that a converter is busy for the larger of its two token counts. A line buffer
and a single block receive and send in turn: they are busy for the sum. When that is acceptable:

* A single block of the whole tensor is filled before anything leaves it. A line buffer in its place moves the same tokens one
  after the other, and starts to send earlier; all it costs is `NEST_CYCLES` for each loop nest it starts.
* In place of ping-pong, the side that waits is held up by no more than the time of the other side. That is known where the
  other side is external memory (a token per cycle); a task that computes may take any time for its tokens.

Either cost is acceptable up to 1/`SHARE` of the time the kernel runs in any case: the most tokens that cross one stream, a cycle
each. Unknown times are never guessed: then two blocks stay.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from stc.iteration.converter import ConverterPlan, infer_converter, line_buffer_of, single_block_of

NEST_CYCLES = 10
"""Cycles to start a pipelined loop nest and to drain it: its depth, a load or store and a stream access."""
SHARE = 16

Serial: TypeAlias = Literal["never", "free", "always"]
"""Whether a converter may receive and send in turn: never, where it costs no more than 1/`SHARE` of the time, or always."""


@dataclass(frozen=True)
class Surroundings:
    """What is known of the time around a converter. `least_cycles`: the kernel runs at least so long. `from_memory`, `to_memory`:
    its tokens come straight from, or go straight to, external memory."""

    least_cycles: int
    from_memory: bool = False
    to_memory: bool = False


def smallest_plan(plan: ConverterPlan, around: Surroundings, serial: Serial) -> ConverterPlan:
    """`plan`, or a smaller one between the same orders that `serial` allows."""
    blocks = infer_converter(plan.source, plan.target)
    candidates = [plan, blocks]
    if serial != "never":
        in_turn = [single_block_of(blocks) if blocks.blocks == 2 else None, line_buffer_of(blocks)]
        found = [candidate for candidate in in_turn if candidate is not None]
        candidates += [one for one in found if serial == "always" or SHARE * _cost(one, blocks, around) <= around.least_cycles]
    return min(candidates, key=lambda candidate: candidate.buffer_entries)


def _cost(candidate: ConverterPlan, instead_of: ConverterPlan, around: Surroundings) -> float:
    """The most cycles that `candidate`, which receives and sends in turn, adds to a run."""
    started = NEST_CYCLES * loop_nests(candidate)
    if instead_of.blocks == 1:
        return started
    known = [(around.from_memory, candidate.source), (around.to_memory, candidate.target)]
    return started + min((order.token_count for is_known, order in known if is_known), default=float("inf"))


def loop_nests(plan: ConverterPlan) -> int:
    """Loop nests that a converter starts: two for each block, one for each tile of a line buffer."""
    schedule = plan.line_schedule
    steps = 2 if schedule is None else len(schedule.before) + len(schedule.body) * schedule.repeats + len(schedule.after)
    return steps * plan.iterations
