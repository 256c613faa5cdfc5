"""A small simulator of tasks with time, as the objective of depth searches: token times are maxima of sums.

A task is a list of iterations, each of which reads and writes a number of tokens per FIFO and fires as a whole, `ii` cycles or more
after the one before it; what it writes enters the FIFO `latency` cycles later, or when a slot is free. A token can be read a
cycle after it was written, a slot be written a cycle after the read.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from stc.fifo.depth_search import Outcome, SizedFifo


@dataclass(frozen=True)
class Firing:
    reads: Mapping[str, int]
    writes: Mapping[str, int]


@dataclass(frozen=True)
class TimedTask:
    name: str
    ii: int
    latency: int
    firings: tuple[Firing, ...]


@dataclass
class _Fifo:
    depth: int
    writes: list[int] = field(default_factory=list[int])
    reads: list[int] = field(default_factory=list[int])


@dataclass(frozen=True)
class Network:
    """Tasks and the widths of the FIFOs between them."""

    tasks: tuple[TimedTask, ...]
    bits: Mapping[str, int]

    def tokens(self, name: str) -> int:
        return sum(firing.writes.get(name, 0) for task in self.tasks for firing in task.firings)

    def sized(self, start: Mapping[str, int] | None = None) -> list[SizedFifo]:
        return [SizedFifo(name, bits, self.tokens(name), (start or {}).get(name, self.tokens(name)))
                for name, bits in self.bits.items()]

    def run(self, depths: Mapping[str, int]) -> Outcome:
        """The latest time of any token, or None where nobody can fire before the end."""
        fifos = {name: _Fifo(depths[name]) for name in self.bits}
        times = [0] * len(self.tasks)
        done = [0] * len(self.tasks)
        moved = True
        while moved:
            moved = False
            for index, task in enumerate(self.tasks):
                while done[index] < len(task.firings) and _can_fire(task.firings[done[index]], fifos):
                    times[index] = _fire(task, task.firings[done[index]], fifos, times[index])
                    done[index] += 1
                    moved = True
        ended = all(count == len(task.firings) for count, task in zip(done, self.tasks, strict=True))
        occupancies = {name: _highest(fifo) for name, fifo in fifos.items()}
        return Outcome(max(times) if ended else None, occupancies)

    def reference(self) -> Outcome:
        return self.run({name: self.tokens(name) for name in self.bits})


def _can_fire(firing: Firing, fifos: Mapping[str, _Fifo]) -> bool:
    return all(len(fifos[n].writes) - len(fifos[n].reads) >= count for n, count in firing.reads.items()) and all(
        len(fifos[n].writes) + count - len(fifos[n].reads) <= fifos[n].depth for n, count in firing.writes.items()
    )


def _fire(task: TimedTask, firing: Firing, fifos: Mapping[str, _Fifo], now: int) -> int:
    """The cycle from which the next iteration may fire. A write that waits for a slot delays the whole iteration."""
    for name, count in firing.reads.items():
        fifo = fifos[name]
        now = max([now, *(fifo.writes[len(fifo.reads) + k] + 1 for k in range(count))])
    for name, count in firing.writes.items():
        fifo = fifos[name]
        slots = range(len(fifo.writes) - fifo.depth, len(fifo.writes) - fifo.depth + count)
        now = max([now, *(fifo.reads[slot] + 1 - task.latency for slot in slots if slot >= 0)])
    for name, count in firing.reads.items():
        fifos[name].reads += [now] * count
    for name, count in firing.writes.items():
        fifos[name].writes += [now + task.latency] * count
    return now + task.ii


def _highest(fifo: _Fifo) -> int:
    """Slots taken at the most: a token enters in its write cycle and leaves its slot a cycle after its read."""
    freed = [at + 1 for at in fifo.reads] + [1 << 60] * (len(fifo.writes) - len(fifo.reads))
    return max((count - sum(at <= write for at in freed[:count]) for count, write in enumerate(fifo.writes, 1)), default=0)


def random_network(seed: int, most_tasks: int = 5) -> Network:
    """A chain of tasks with further connections forward, of the rates and phases that compiled designs have."""
    numbers = random.Random(f"network {seed}")
    count = numbers.randint(2, most_tasks)
    pairs = [(k, k + 1) for k in range(count - 1)]
    pairs += [tuple(sorted(numbers.sample(range(count), 2))) for _ in range(numbers.randint(0, 3))]
    tokens = numbers.choice([3, 4, 6, 7])
    names = [f"f{k}_{a}_{b}" for k, (a, b) in enumerate(pairs)]
    ends = dict(zip(names, pairs, strict=True))
    tasks = tuple(_task(numbers, k, tokens, [n for n in names if ends[n][1] == k], [n for n in names if ends[n][0] == k])
                  for k in range(count))
    return Network(tasks, {name: numbers.choice([8, 16, 32, 512]) for name in names})


def _task(numbers: random.Random, index: int, tokens: int, reads: Sequence[str], writes: Sequence[str]) -> TimedTask:
    """One token of each FIFO per iteration; or all of some inputs before the rest; or inputs before outputs."""
    together = [Firing(dict.fromkeys(reads, 1), dict.fromkeys(writes, 1)) for _ in range(tokens)]
    first = [name for name in reads if numbers.random() < 0.5]
    phased = [Firing(dict.fromkeys(first, 1), {}) for _ in range(tokens)]
    phased += [Firing({name: 1 for name in reads if name not in first}, dict.fromkeys(writes, 1)) for _ in range(tokens)]
    burst = [Firing(dict.fromkeys(reads, tokens), {}), *(Firing({}, dict.fromkeys(writes, 1)) for _ in range(tokens))]
    firings = numbers.choice([together, together, phased, phased if len(reads) > 1 else together, burst if reads else together])
    return TimedTask(f"t{index}", numbers.choice([1, 1, 2, 3]), numbers.choice([1, 1, 4, 9]), tuple(firings))


def best_by_exhaustion(network: Network, allowed: int) -> int:
    """Bits of the cheapest depths that are enough, every vector tried."""
    names = list(network.bits)
    best = None
    for depths in itertools.product(*(range(1, network.tokens(name) + 1) for name in names)):
        bits = sum(network.bits[name] * depth for name, depth in zip(names, depths, strict=True))
        if best is not None and bits >= best:
            continue
        cycles = network.run(dict(zip(names, depths, strict=True))).cycles
        if cycles is not None and cycles <= allowed:
            best = bits
    assert best is not None
    return best
