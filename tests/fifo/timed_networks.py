"""Random networks of timed tasks, and their execution iteration by iteration with FIFOs of given depths: the oracle for sizing.

The rules are those of `stc_sim/clock.h` for flushing pipelines: an iteration issues `interval` cycles after the one before and when
its tokens are readable; what it writes leaves a fixed number of cycles later, and freezes the pipeline until there is a slot.
"""

from __future__ import annotations

import random
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from stc.fifo.network_run import Network
from stc.iteration.task_timeline import Loop, Node, Repeat, Row, TaskTimeline
from stc.iteration.trace import Port
from stc.network.graph import Channel, TaskGraph

LATENCY, SHALLOW_LATENCY, SHALLOW = 2, 1, 2
WIDTHS = (8, 32, 128, 512)


@dataclass
class Fifo:
    depth: int
    written: list[int] = field(default_factory=list)
    freed: list[int] = field(default_factory=list)

    @property
    def latency(self) -> int:
        return SHALLOW_LATENCY if self.depth <= SHALLOW else LATENCY


def run_bounded(network: Network, depths: Mapping[str, int]) -> int | None:
    """The cycle in which the last task ends, None where they block each other."""
    fifos = {fifo.name: Fifo(depths[fifo.name]) for fifo in network.graph.fifos}
    ends: dict[str, int] = {}
    alive = {task.name: _task(task, fifos, ends) for task in network.tasks}
    while alive:
        before = (len(alive), sum(len(fifo.written) + len(fifo.freed) for fifo in fifos.values()))
        for name, steps in list(alive.items()):
            if next(steps, ENDED) is ENDED:
                del alive[name]
        if before == (len(alive), sum(len(fifo.written) + len(fifo.freed) for fifo in fifos.values())):
            return None
    return max(ends.values())


ENDED = object()


def _task(task: TaskTimeline, fifos: Mapping[str, Fifo], ends: dict[str, int]) -> Iterator[None]:
    now = 0
    for loop in _loops(task.program):
        now = yield from _loop(loop, now, fifos)
    ends[task.name] = now


def _loops(node: Node) -> Iterator[Loop]:
    match node:
        case Loop():
            yield node
        case Row():
            for part in node.parts:
                yield from _loops(part)
        case Repeat():
            for _ in range(node.count):
                yield from _loops(node.body)
        case _:
            raise NotImplementedError(node)


def _loop(loop: Loop, now: int, fifos: Mapping[str, Fifo]) -> Generator[None, None, int]:
    """One loop; a freeze moves everything that has not left the pipeline by then."""
    issue, frozen, shift = now - loop.interval, [], 0  # in cycles of the pipeline, which do not pass while it is frozen
    last = now
    for iteration in range(loop.count):
        issue += loop.interval
        shift = sum(cycles for due, cycles in frozen if due <= issue)
        for name in _moved(loop, iteration, writes=False):
            fifo = fifos[name]
            while len(fifo.written) <= len(fifo.freed):
                yield
            while issue + shift < (there := fifo.written[len(fifo.freed)] + fifo.latency):
                issue += there - issue - shift
                shift = sum(cycles for due, cycles in frozen if due <= issue)
        for name in _moved(loop, iteration, writes=True):  # all at once: an iteration fires when all it does is possible
            while len(fifos[name].written) - len(fifos[name].freed) >= fifos[name].depth:
                yield
        for name in _moved(loop, iteration, writes=False):
            fifos[name].freed.append(issue + shift + 1)
        for name in _moved(loop, iteration, writes=True):
            fifo, due = fifos[name], issue + int(loop.late[name, True][0])
            slot = len(fifo.written) - fifo.depth
            free = fifo.freed[slot] if slot >= 0 else 0
            wanted = due + sum(cycles for _, cycles in frozen)
            if free > wanted:
                frozen.append((due, free - wanted))
            fifo.written.append(max(free, wanted))
        last = issue + loop.tail + sum(cycles for _, cycles in frozen)
    return last


def _moved(loop: Loop, iteration: int, writes: bool) -> list[str]:
    return [name for (name, is_write), at in loop.iterations.items() if is_write == writes and iteration in at]


def pipe(count: int, interval: int, reads: Sequence[str], writes: Sequence[str], depth: int = 0) -> Loop:
    """A loop that moves a token of each FIFO in each iteration, written `depth` cycles after it began."""
    ports: list[Port] = [*((fifo, False) for fifo in reads), *((fifo, True) for fifo in writes)]
    late = {port: np.full(count, depth if port[1] else 0) for port in ports}
    return Loop(count, interval, 0, depth + 1, dict.fromkeys(ports, np.arange(count)), late)


# Random networks ------------------------------------------------------------------------------------------------------


UNLIMITED = 10**6


def random_network(seed: int) -> Network:
    """An acyclic network of tasks that read and write all tokens of their FIFOs in bursts, in pipelines of any depth."""
    chance = random.Random(seed)
    tasks = [f"t{index}" for index in range(chance.randint(2, 6))]
    pairs = [tuple(sorted(chance.sample(range(len(tasks)), 2))) for _ in range(chance.randint(len(tasks) - 1, 2 * len(tasks)))]
    repeats = chance.choice([1, 2, 5])
    fifos = [Channel(f"s{n}", tasks[a], tasks[b], UNLIMITED, UNLIMITED, chance.choice(WIDTHS)) for n, (a, b) in enumerate(pairs)]
    tokens = {fifo.name: chance.randint(1, 7) for fifo in fifos}
    timelines = [TaskTimeline(task, _program(task, fifos, tokens, repeats, chance)) for task in tasks]
    return Network(timelines, TaskGraph.of(fifos))


def cyclic_network(seed: int, rounds: int) -> Network:
    """A random network, again and again, of which each round waits for what its last task sends back at the end of the one before.

    The first and the last task also wait for each other within two loops, token by token."""
    network, chance = random_network(seed), random.Random(seed)
    first, *_, last = (task.name for task in network.tasks)
    back, tokens = Channel("back", last, first, UNLIMITED, UNLIMITED, 32), chance.randint(1, 4)
    echo, answer = Channel("echo", first, last, UNLIMITED, UNLIMITED, 32), Channel("answer", last, first, UNLIMITED, UNLIMITED, 32)
    programs: dict[str, Node] = {task.name: task.program for task in network.tasks}
    taken, sent = _pipeline([("back", False)], tokens, chance), _pipeline([("back", True)], tokens, chance)
    # Of token k + 1 the one loop sends what it takes as token k of the other, whose loop takes it before it sends the same.
    ahead, beside = np.arange(tokens), np.arange(tokens) + 1
    asks = Loop(tokens + 1, 1, 0, 3, {("echo", True): ahead, ("answer", False): beside}, _late(("echo", "answer"), tokens, 2))
    answers = Loop(tokens, 1, 0, 3, {("echo", False): ahead, ("answer", True): ahead}, _late(("answer", "echo"), tokens, 2))
    programs[first] = Row((programs[first], asks, Repeat(Row((taken, programs[first], asks)), rounds - 1)))
    programs[last] = Row((Repeat(Row((programs[last], answers, sent)), rounds - 1), programs[last], answers))
    programs |= {name: Repeat(program, rounds) for name, program in programs.items() if name not in (first, last)}
    graph = TaskGraph.of([*network.graph.fifos, back, echo, answer])
    return Network([TaskTimeline(name, program) for name, program in programs.items()], graph)


def _late(names: tuple[str, str], tokens: int, depth: int) -> dict[Port, np.ndarray]:
    """Of a loop that writes the first of two channels, and reads the second."""
    return {(names[0], True): np.full(tokens, depth), (names[1], False): np.zeros(tokens, dtype=np.int64)}


def _program(task: str, fifos: list[Channel], tokens: Mapping[str, int], repeats: int, chance: random.Random) -> Node:
    """Loops over some ports at once, in some order, some that only compute, all of it again and again."""
    ports: list[Port] = [(fifo.name, False) for fifo in fifos if fifo.consumer == task]
    ports += [(fifo.name, True) for fifo in fifos if fifo.producer == task]
    chance.shuffle(ports)
    loops: list[Node] = []
    while ports:
        first, *others = ports
        together = [first, *(port for port in others if tokens[port[0]] == tokens[first[0]] and chance.random() < 0.6)]
        loops.append(_pipeline(together, tokens[first[0]], chance))
        ports = [port for port in ports if port not in together]
        if chance.random() < 0.3:
            loops.append(_pipeline([], chance.randint(1, 9), chance))
    return Repeat(Row(tuple(loops)), repeats)


def _pipeline(ports: list[Port], tokens: int, chance: random.Random) -> Loop:
    interval, depth = chance.choice([1, 1, 1, 2, 3]), chance.choice([1, 2, 5, 14])
    count = tokens + chance.choice([0, 0, 1, 4])
    iterations = np.array(sorted(chance.sample(range(count), tokens)))
    late = {port: np.full(tokens, depth if port[1] else 0) for port in ports}
    return Loop(count, interval, 0, depth + 1, dict.fromkeys(ports, iterations), late)


def stopping(network: Network) -> Network:
    """The same tasks in pipelines that stop as a whole, so that what is in flight keeps its distances: a token leaves in an
    iteration as many cycles after its own, which waits for the inputs of all between."""
    return replace(network, tasks=[replace(task, program=_stopping(task.program)) for task in network.tasks])


def _stopping(node: Node) -> Node:
    match node:
        case Loop():
            return _stopping_loop(node)
        case Row():
            return Row(tuple(map(_stopping, node.parts)))
        case Repeat():
            return Repeat(_stopping(node.body), node.count)
        case _:
            raise NotImplementedError(node)


def _stopping_loop(loop: Loop) -> Loop:
    """One that only reads, or only writes, keeps its iterations: nobody is held up by what he waits for himself."""
    ports, iterations, late = list(loop.iterations), dict(loop.iterations), dict(loop.late)
    drain = 0
    if len({writes for _, writes in ports}) == 2:
        for port in (port for port in ports if port[1]):
            held = late[port] // loop.interval
            iterations[port], late[port] = iterations[port] + held, late[port] - held * loop.interval
            drain = max(drain, int(held.max(initial=0)))
    tail = loop.tail - drain * loop.interval
    return replace(loop, count=loop.count + drain, tail=tail, iterations=iterations, late=late, drain=drain)
