"""Tasks with fixed programs over bounded channels, and their execution: the oracle for FIFO depths.

A firing happens when all its reads and writes are possible (docs/design/method.md section 7), and then at once. Streams pass
tokens; a ring passes blocks, which a task acquires and releases in separate firings.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain

from stc.network.graph import Channel, TaskGraph


@dataclass(frozen=True)
class Access:
    """What a firing does to one channel: what it needs, and how that changes."""

    tokens_needed: int = 0
    slots_needed: int = 0
    tokens_added: int = 0
    slots_added: int = 0


Firing = dict[str, Access]


def reading(count: int) -> Access:
    return Access(tokens_needed=count, tokens_added=-count, slots_added=count)


def writing(count: int) -> Access:
    return Access(slots_needed=count, tokens_added=count, slots_added=-count)


FILL = (Access(slots_needed=1, slots_added=-1), Access(tokens_added=1))
DRAIN = (Access(tokens_needed=1, tokens_added=-1), Access(slots_added=1))


@dataclass
class Network:
    programs: dict[str, list[Firing]]
    streams: list[Channel] = field(default_factory=list)
    rings: dict[str, tuple[str, str, int]] = field(default_factory=dict)
    """Producer, consumer and number of blocks."""

    @property
    def graph(self) -> TaskGraph:
        rings = [Channel(name, a, b, blocks, blocks, is_ring=True) for name, (a, b, blocks) in self.rings.items()]
        return TaskGraph.of([*self.streams, *rings])

    def ends(self, depths: Mapping[str, int], chance: random.Random) -> bool:
        """Whether every task finishes; who fires next is left to chance."""
        slots = {**depths, **{name: blocks for name, (_, _, blocks) in self.rings.items()}}
        tokens = dict.fromkeys(slots, 0)
        position = dict.fromkeys(self.programs, 0)
        blocked: set[str] = set()
        while True:
            candidates = [task for task, at in position.items() if at < len(self.programs[task]) and task not in blocked]
            if not candidates:
                return not blocked
            task = chance.choice(candidates)
            firing = self.programs[task][position[task]]
            if any(tokens[c] < a.tokens_needed or slots[c] < a.slots_needed for c, a in firing.items()):
                blocked.add(task)
                continue
            for channel, access in firing.items():
                tokens[channel] += access.tokens_added
                slots[channel] += access.slots_added
            position[task] += 1
            blocked.clear()


def random_network(chance: random.Random) -> Network:
    """An acyclic network; each task moves all tokens of all its ports in some order."""
    tasks = [f"t{index}" for index in range(chance.randint(2, 6))]
    count = chance.randint(len(tasks) - 1, 2 * len(tasks))
    ends = [tuple(sorted(chance.sample(range(len(tasks)), 2))) for _ in range(count)]
    outputs = Counter(producer for producer, _ in ends)
    network = Network({})
    ports: dict[str, dict[str, list[Access]]] = {task: {} for task in tasks}
    for index, (producer, consumer) in enumerate((tasks[a], tasks[b]) for a, b in ends):
        name = f"s{index}"
        if outputs[tasks.index(producer)] == 1 and chance.random() < 0.3:
            blocks = chance.randint(1, 4)
            network.rings[name] = (producer, consumer, chance.randint(1, 2))
            ports[producer][name] = list(FILL) * blocks
            ports[consumer][name] = list(DRAIN) * blocks
            continue
        tokens = chance.randint(1, 9)
        written, read = (_parts(tokens, chance.choice([1, 1, 2, 3, 5]), chance) for _ in range(2))
        network.streams.append(Channel(name, producer, consumer, tokens, written=max(written), read=max(read)))
        ports[producer][name] = [writing(part) for part in written]
        ports[consumer][name] = [reading(part) for part in read]
    network.programs = {task: _program(accesses, chance) for task, accesses in ports.items()}
    return network


def _parts(total: int, most: int, chance: random.Random) -> list[int]:
    parts: list[int] = []
    while (rest := total - sum(parts)) > 0:
        parts.append(min(rest, chance.randint(max(1, most - 1), most)))
    return parts


def _program(ports: Mapping[str, Sequence[Access]], chance: random.Random) -> list[Firing]:
    """Port after port, or interleaved; neighbouring accesses of different ports may become one firing."""
    names = list(chain.from_iterable([name] * len(accesses) for name, accesses in _shuffled(ports, chance)))
    if chance.random() < 0.5:
        chance.shuffle(names)
    rest = {name: list(accesses) for name, accesses in ports.items()}
    together = chance.choice([0.0, 0.3, 0.8])
    program: list[Firing] = []
    for name in names:
        access = rest[name].pop(0)
        if program and name not in program[-1] and chance.random() < together:
            program[-1][name] = access
        else:
            program.append({name: access})
    return program


def _shuffled(ports: Mapping[str, Sequence[Access]], chance: random.Random) -> list[tuple[str, Sequence[Access]]]:
    items = list(ports.items())
    chance.shuffle(items)
    return items
