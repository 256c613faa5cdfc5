"""What a pipelined loop is estimated to take, and why: initiation interval with what bounds it, depth with its longest chain.

Figures of operators are published or assumed (stc.analysis.operator_library says which); those of memory and streams are
assumed. They depend on the clock: an adder has 7 stages at 3.33 and 4 ns, 5 at 5 ns.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import groupby
from math import ceil, prod
from operator import or_
from typing import Literal

from xdsl.dialects import scf
from xdsl.ir import Block, SSAValue

from stc.analysis.loop_schedules import ChainLink, links
from stc.analysis.loops import declared_depth, is_unrolled, most_trips, pipeline_ii, trip_count
from stc.analysis.measured_loops import is_declared
from stc.analysis.operator_library import counter_stages
from stc.analysis.port_pressure import MAX_ACCESSES, accesses_per_bank, are_registers
from stc.analysis.recurrences import Recurrence, flattened_nest, pipeline_schedule, slowest_recurrence
from stc.analysis.remembered import Remembered
from stc.dialects import stream
from stc.dialects.dataflow import TaskOp

LimitKind = Literal["none", "tokens", "accumulation", "memory ports", "choice", "measured"]


@dataclass(frozen=True)
class Limit:
    """Something that keeps iterations `interval` cycles apart, with its reason in words."""

    kind: LimitKind
    interval: int
    reason: str


MEASURED = "measured: a synthesis reported it"
UNBOUND = Limit("none", 1, "one iteration per cycle")


@dataclass(frozen=True)
class LoopEstimate:
    """One pipelined loop at cycles of `clock_ns`.

    `limit` bounds `ii`. `depth` are the cycles of the longest way through an iteration, over `chain`, which a wide counter begins;
    where iterations wait for memory ports, one iteration's accesses are spread over the interval, which lengthens it. `origin`: of
    the chain's operators.
    """

    ii: int
    limit: Limit
    depth: int
    chain: tuple[ChainLink, ...]
    clock_ns: float

    def limit_at(self, interval: int) -> Limit:
        """What keeps iterations `interval` cycles apart, where that may be more than they have to be."""
        if interval == self.ii:
            return self.limit
        chosen = f"iterations do not overlap, or so it was asked for; the estimate is {self.ii}: {self.limit.reason}"
        return Limit("choice", interval, chosen)

    @property
    def origin(self) -> str:
        """assumed where any operator's figure on the chain is, else published; declared or measured; none without an operator."""
        origins = {link.origin for link in self.chain}
        return next((origin for origin in ("assumed", "published", "declared", "measured") if origin in origins), "none")

    @property
    def chain_text(self) -> str:
        """The chain in words: `load 2 + mulf 4 + 3 addf 21`."""
        return chain_text(self.chain)


_ESTIMATES = Remembered["LoopEstimate"]()


def loop_estimate(loop: scf.ForOp, task: TaskOp, clock_ns: float) -> LoopEstimate:
    """The estimate of `loop`, a loop of `task` whose inner loops are all unrolled; what an own kernel declares, or was measured."""
    if (depth := declared_depth(loop)) is not None and (ii := pipeline_ii(loop)) is not None:
        origin = "declared" if is_declared(loop) else "measured"
        limit = Limit("none", ii, "declared by an own kernel") if is_declared(loop) else Limit("measured", ii, MEASURED)
        return LoopEstimate(ii, limit, depth, (ChainLink(origin, depth, origin, None),), clock_ns)
    number = next(number for number, op in enumerate(task.walk()) if op is loop)
    return _ESTIMATES.of(task, (number, clock_ns), lambda: estimated_anew(loop, task, clock_ns))


def estimated_anew(loop: scf.ForOp, task: TaskOp, clock_ns: float) -> LoopEstimate:
    """The estimate of a loop of ours, whatever is remembered."""
    schedule = pipeline_schedule(loop, clock_ns)
    counter = counter_stages(prod(most_trips(around) for around in flattened_nest(loop)))
    limits = [UNBOUND, *_token_limits(loop), *_memory_limits(loop, task)]
    if (recurrence := slowest_recurrence(loop, schedule)) is not None:
        limits.append(Limit("accumulation", recurrence.interval, _why(recurrence)))
    bound = max(limits, key=lambda limit: limit.interval)
    spread = max((limit.interval - 1 for limit in limits if limit.kind == "memory ports"), default=0)
    begin = (ChainLink("counter", counter, "none", None),) if counter else ()
    chain = (*begin, *(ChainLink(link.operator, link.stages, link.origin, None) for link in links(schedule.longest.chain)))
    return LoopEstimate(bound.interval, bound, counter + schedule.depth + spread, chain, clock_ns)


def innermost_loops(task: TaskOp) -> Iterator[scf.ForOp]:
    """The loops to be pipelined: those left in hardware that hold no other such loop."""
    for loop in (op for op in task.walk() if isinstance(op, scf.ForOp) and not is_unrolled(op)):
        if all(is_unrolled(inner) for inner in loop.body.walk() if isinstance(inner, scf.ForOp)):
            yield loop


def chain_text(chain: Sequence[ChainLink]) -> str:
    """Operators with their cycles, neighbours of a kind together."""
    parts: list[str] = []
    for name, run in groupby(chain, key=lambda link: link.operator):
        members = list(run)
        count = f"{len(members)} " if len(members) > 1 else ""
        parts.append(f"{count}{name} {sum(link.stages for link in members)}")
    return " + ".join(parts)


def _token_limits(loop: scf.ForOp) -> Iterator[Limit]:
    """Each stream moves one token per cycle."""
    for port, count in _tokens(loop.body.block).items():
        yield Limit("tokens", count, f"tokens: {count} of %{port.name_hint or 'a stream'} per iteration, one per cycle")


def _tokens(block: Block) -> Counter[SSAValue]:
    """Tokens that one run of a block moves through each stream: all copies of unrolled loops, the larger branch of a guard."""
    counts = Counter[SSAValue]()
    for op in block.ops:
        match op:
            case stream.ReadOp() | stream.WriteOp():
                counts[op.stream] += 1
            case scf.ForOp():
                copies = trip_count(op)
                counts.update({port: copies * count for port, count in _tokens(op.body.block).items()})
            case scf.IfOp():
                branches = [_tokens(region.block) for region in op.regions if region.blocks]
                counts.update(reduce(or_, branches))
            case _:
                pass
    return counts


def _memory_limits(loop: scf.ForOp, task: TaskOp) -> Iterator[Limit]:
    for buffer, count in accesses_per_bank(loop, task):
        if are_registers(buffer):
            continue
        reason = f"memory ports: {_name(buffer)} is accessed {count} times in one bank and iteration, {MAX_ACCESSES} per cycle"
        yield Limit("memory ports", ceil(count / MAX_ACCESSES), reason)


def _why(recurrence: Recurrence) -> str:
    distance = "each iteration" if recurrence.distance == 1 else f"every {recurrence.distance} iterations"
    return (f"accumulation over {recurrence.what}: {chain_text(recurrence.operators)} = {recurrence.cycles} cycles, "
            f"continued {distance}")


def _name(buffer: SSAValue) -> str:
    return f"%{buffer.name_hint}" if buffer.name_hint else "a buffer"
