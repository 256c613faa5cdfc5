"""A whole network of tasks in time, with FIFOs as large as needed: as early as possible, or as late as an end allows.

Control does not depend on data, so the earliest run is the least solution of what holds tasks up: an iteration issues `interval`
cycles after the one before and not before its tokens are there, a block is taken when there is one. The latest run is the same
backwards in time, where writers wait for their readers. The earliest run gives the cycles of the design without FIFO limits; the
latest one starts every task as late as its consumers permit, so that little is stored.

Tasks that wait for each other (such as feed each other between compute units, with all that share rings of blocks with them) walk
beside each other, each as far as is known of the others.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import cached_property

import networkx as nx
import numpy as np

from stc.diagnostics import UntimedError
from stc.fifo.curves import SLOT_LATENCY, latency_of
from stc.fifo.task_walk import Followed, RingTimes, TaskWalk
from stc.iteration.task_timeline import MIRRORED, Cycles, TaskTimeline, loops_of
from stc.iteration.trace import Moment, Port
from stc.network.graph import Channel, TaskGraph

ROUNDS = 6
"""After so many runs with bounded FIFOs none is tried any more."""


@dataclass(frozen=True)
class Network:
    """Tasks in time, and the channels between them, each of which answers as fast as one of its depth.

    UntimedError where a FIFO is not written by its producer, or not read by its consumer.
    """

    tasks: Sequence[TaskTimeline]
    graph: TaskGraph

    def __post_init__(self) -> None:
        late = {task.name: task.late for task in self.tasks}
        for fifo in self.graph.fifos:
            for task, writes in ((fifo.producer, True), (fifo.consumer, False)):
                if (fifo.name, writes) not in late[task]:
                    does = "writes nothing to" if writes else "reads nothing of"
                    raise UntimedError(f"task {task} {does} {fifo.name}", accepted="tasks that move a token at each end")

    def with_depths(self, depths: Mapping[str, int]) -> Network:
        """The same tasks, and channels of these depths where they name any."""
        return replace(self, graph=self.graph.with_depths(depths))


@dataclass(frozen=True)
class NetworkRun:
    """When each task begins and ends, and by FIFO when each token is written, has to be readable, and is taken.

    `rings[name]`: the cycles of each of its moments. `walked`: what it was made from, from which a later run may go on.
    """

    begins: dict[str, int]
    ends: dict[str, int]
    written: dict[str, Cycles]
    needed: dict[str, Cycles]
    taken: dict[str, Cycles]
    rings: dict[str, dict[Moment, list[int]]]
    walked: Walked

    @property
    def makespan(self) -> int:
        """When the last task ends."""
        return max(self.ends.values(), default=0)


def earliest_run(network: Network) -> NetworkRun:
    """Everything as soon as possible, from cycle 0 on; UntimedError where tasks wait for blocks of each other."""
    return _forwards(network, _Walker(network, 0, backwards=False).walked())


def bounded_run(network: Network, depths: Mapping[str, int], begin: NetworkRun, end: int) -> NetworkRun | None:
    """The earliest run if FIFOs have these `depths`, those not named as large as needed; `begin` is a run without these limits.

    Runs in which tokens wait for the room that the run before had are repeated until one is its own predecessor: each waits at
    least as long as the one before, so that it is the earliest. None where it does not end by cycle `end`, or after `ROUNDS` runs.
    """
    run, room = begin, _room(network, begin, depths)
    for _ in range(ROUNDS):
        if all((run.written[name] >= earliest).all() for name, earliest in room.items()):
            return run
        run = _forwards(network, _Walker(network, 0, backwards=False, room=room, before=run).walked(), run)
        if run.makespan > end:
            return None
        room = _room(network, run, depths)
    return None


def _room(network: Network, run: NetworkRun, depths: Mapping[str, int]) -> dict[str, Cycles]:
    """By FIFO the cycle in which there is room for each token: the slot of an earlier one has been free for a cycle, and that is
    known at the other die."""
    never = np.iinfo(np.int64).min // 2
    found: dict[str, Cycles] = {}
    for name, depth in depths.items():
        taken, back = run.taken[name], SLOT_LATENCY + network.graph.by_name[name].crossing
        empty = np.full(min(depth, len(taken)), never, dtype=np.int64)
        found[name] = np.concatenate([empty, taken[: len(taken) - len(empty)] + back])
    return found


def latest_run(network: Network, first: NetworkRun, end: int) -> NetworkRun:
    """Everything as late as possible, if all is to have ended by cycle `end`; `first` is the earliest run.

    Tasks that move bus words of external memory keep the issue rate they have there: those that write end at `end`, those that read
    do not move, because they wait for nobody.
    """
    retained: dict[str, TaskWalk] = {}
    for task in network.tasks:
        if memories := [loop.memory for loop in loops_of(task.program) if loop.memory is not None]:
            later = end - first.ends[task.name] if all(memory.writes for memory in memories) else 0
            retained[task.name] = first.walked.walks[task.name].mirrored(later)
    return _backwards(network, _Walker(network, -end, backwards=True, retained=retained).walked())


def own_rate_run(network: Network) -> NetworkRun:
    """Every task from cycle 0 on as if its inputs were always there: only rings hold it up."""
    rings_only = replace(network, graph=replace(network.graph, channels=network.graph.rings))
    return _forwards(network, _Walker(rings_only, 0, backwards=False).walked())


def _forwards(network: Network, walked: Walked, before: NetworkRun | None = None) -> NetworkRun:
    """The run that was walked; what `before` has of tasks that are the same is taken from there."""
    tokens = _tokens(network, lambda task, port: walked.walks[task].issues[port], walked.same, before)
    begins = {name: walk.begin for name, walk in walked.walks.items()}
    ends = {name: walk.now for name, walk in walked.walks.items()}
    return NetworkRun(begins, ends, *tokens, {name: ring.times for name, ring in walked.rings.items()}, walked)


def _backwards(network: Network, walked: Walked) -> NetworkRun:
    """The run that was walked backwards."""
    tokens = _tokens(network, lambda task, port: -walked.walks[task].issues[port][::-1])
    begins = {name: -walk.now for name, walk in walked.walks.items()}
    ends = {name: -walk.begin for name, walk in walked.walks.items()}
    rings: dict[str, dict[Moment, list[int]]] = {
        name: {MIRRORED[moment]: [-at for at in reversed(cycles)] for moment, cycles in ring.times.items()}
        for name, ring in walked.rings.items()
    }
    return NetworkRun(begins, ends, *tokens, rings, walked)


def _tokens(
    network: Network,
    issued: Callable[[str, Port], Cycles],
    same: Collection[str] = (),
    before: NetworkRun | None = None,
) -> tuple[dict[str, Cycles], dict[str, Cycles], dict[str, Cycles]]:
    """When each token is written, needed and taken; of the tasks that are the `same`, as in the run `before`."""
    late = {task.name: task.late for task in network.tasks}
    retained = {task.name: task.retained for task in network.tasks}
    written: dict[str, Cycles] = {}
    needed: dict[str, Cycles] = {}
    taken: dict[str, Cycles] = {}
    for fifo in network.graph.fifos:
        name, write, read = fifo.name, (fifo.name, True), (fifo.name, False)
        if before is not None and fifo.producer in same:
            written[name] = before.written[name]
        else:
            written[name] = issued(fifo.producer, write) + late[fifo.producer][write]
        if before is not None and fifo.consumer in same:
            needed[name], taken[name] = before.needed[name], before.taken[name]
        else:
            needed[name] = issued(fifo.consumer, read) + late[fifo.consumer][read]
            held = retained[fifo.consumer]
            taken[name] = needed[name] + held[read] if read in held else needed[name]
    return written, needed, taken


# Walking --------------------------------------------------------------------------------------------------------------


@dataclass
class Walked:
    """All tasks after their walk, and the rings between them. `same`: those that walked as in the run before."""

    walks: dict[str, TaskWalk]
    rings: dict[str, RingTimes]
    same: set[str] = field(default_factory=set[str])


_ENDED = object()


class _Walker:
    """Walks each task after those that hold it up; tasks that share rings in turns.

    `room`: by FIFO, no token is written before its cycle. `retained`: what tasks do that nobody holds up. `before`: an earliest run
    under limits that were no stricter. A task that keeps the new ones there, and whose inputs come in time for it, walks the same.
    """

    def __init__(
        self,
        network: Network,
        begin: int,
        backwards: bool,
        room: Mapping[str, Cycles] | None = None,
        retained: Mapping[str, TaskWalk] | None = None,
        before: NetworkRun | None = None,
    ) -> None:
        self.network, self.begin, self.backwards, self.room, self.before = network, begin, backwards, room or {}, before
        self.tasks = {task.name: task.mirrored if backwards else task for task in network.tasks}
        self.found = Walked(dict(retained or {}), {ring.name: RingTimes(ring.depth) for ring in network.graph.rings})
        self.incoming: dict[str, list[Channel]] = {name: [] for name in self.tasks}
        self.outgoing: dict[str, list[Channel]] = {name: [] for name in self.tasks}
        for fifo in network.graph.fifos:
            self.incoming[fifo.producer if backwards else fifo.consumer].append(fifo)
            self.outgoing[fifo.consumer if backwards else fifo.producer].append(fifo)
        self.retained = frozenset(self.found.walks)
        self.done = set(self.retained)
        self.partners = _partners(network.tasks) if before is not None else {}

    def walked(self) -> Walked:
        """All of them; UntimedError where tasks wait for blocks of each other."""
        under_way: dict[str, Iterator[None]] = {}
        while len(self.done) < len(self.tasks):
            progress = False
            for name, task in self.tasks.items():
                if name in self.found.walks or not all(self._other(fifo) in self.done for fifo in self.incoming[name]):
                    continue
                progress = True
                if not self._goes_as_before(name):
                    self.found.walks[name] = walk = self._walk(name)
                    under_way[name] = walk.walk(task.program)
            for name, steps in list(under_way.items()):
                moved = self.found.walks[name].moved
                if next(steps, _ENDED) is _ENDED:
                    del under_way[name]
                    self._end(name)
                progress = progress or name in self.done or self.found.walks[name].moved != moved
            if not progress and (around := self._cycle()):
                under_way = {name: steps for name, steps in under_way.items() if name not in around}
                self._walk_around(around)
                progress = True
            if not progress:
                names = ", ".join(name for name in self.tasks if name not in self.done)
                raise UntimedError(f"tasks {names} wait for blocks of each other", accepted="rings that end")
        return self.found

    def _cycle(self) -> list[str]:
        """Tasks that wait for each other, and for nobody else any more; in the order of the network."""
        for part in self.waiting:
            again = part - self.retained
            inputs = (self._other(fifo) for task in again for fifo in self.incoming[task])
            if not again <= self.done and all(other in part or other in self.done for other in inputs):
                return [name for name in self.tasks if name in again]
        return []

    @cached_property
    def waiting(self) -> list[set[str]]:
        """Tasks of which each waits, in the end, for each other one: for tokens, or for blocks of a ring, both ways."""
        graph: nx.DiGraph[str] = nx.DiGraph()
        graph.add_edges_from((self._other(fifo), name) for name, fifos in self.incoming.items() for fifo in fifos)
        ends = [(ring.producer, ring.consumer) for ring in self.network.graph.rings]
        graph.add_edges_from(edge for one, other in ends for edge in ((one, other), (other, one)))
        parts: Iterable[set[str]] = nx.strongly_connected_components(graph)
        return [part for part in parts if graph.subgraph(part).number_of_edges()]

    def _walk_around(self, around: Sequence[str]) -> None:
        """Walk tasks that wait for each other, each as far as is known of the others, and again, until all have ended.

        Behind an earlier run at first those that something holds up now, with all others as they were: none is earlier than that.
        Where they hold up others, these as well; all, once that has taken as many walks as there are tasks.
        """
        again, walks = set(around) if self.before is None else self._tied(filter(self._is_held_up, around)), 0
        while True:
            self._take_from_before(set(around) - again)
            self._walk_beside_each_other([name for name in around if name in again])
            walks += len(again)
            more = self._tied(name for name in around if name not in again and self._is_held_up(name))
            if not more:
                break
            again = again | more if walks < len(around) else set(around)
            self.done -= again
            self.found.same -= again

    def _walk_beside_each_other(self, around: Sequence[str]) -> None:
        """Walk these tasks to their ends; UntimedError where they wait for each other for ever."""
        for ring in self.network.graph.rings:
            if ring.producer in around:
                self.found.rings[ring.name] = RingTimes(ring.depth)
        self.found.walks.update({name: self._walk(name) for name in around})
        if still := self._still_waiting(around):
            waiting = ", ".join(name for name in around if name in still)
            raise UntimedError(f"tasks {waiting} wait for each other for ever", accepted="tasks, and rings, that end")
        for name in around:
            self._end(name)

    def _tied(self, tasks: Iterable[str]) -> set[str]:
        """`tasks`, and all with which they share rings."""
        return {other for name in tasks for other in self.partners.get(name, {name})}

    def _still_waiting(self, around: Sequence[str]) -> Set[str]:
        """Those that have not ended when none can go on, after each has gone on whenever one that it waits for had."""
        steps = {name: self.found.walks[name].walk(self.tasks[name].program) for name in around}
        waiting_for = self._waiting_for(around)
        due = set(around)
        while due:
            for name in (name for name in around if name in due):
                due.discard(name)
                walk = self.found.walks[name]
                moved = walk.moved
                if next(steps[name], _ENDED) is _ENDED:
                    del steps[name]
                if walk.moved != moved:
                    due |= waiting_for[name] & steps.keys()
        return steps.keys()

    def _waiting_for(self, around: Sequence[str]) -> dict[str, set[str]]:
        """By task of `around` those that may wait for what it does: for tokens, or for blocks of a ring, both ways."""
        found: dict[str, set[str]] = {name: set() for name in around}
        for name in around:
            for other in (self._other(fifo) for fifo in self.incoming[name]):
                if other in found:
                    found[other].add(name)
        for ring in self.network.graph.rings:
            if {ring.producer, ring.consumer} <= found.keys():
                found[ring.producer].add(ring.consumer)
                found[ring.consumer].add(ring.producer)
        return found

    def _other(self, fifo: Channel) -> str:
        return fifo.consumer if self.backwards else fifo.producer

    def _walk(self, name: str) -> TaskWalk:
        bounds, followed = dict[Port, Cycles](), dict[Port, Followed]()
        for fifo in self.incoming[name]:
            other, port = self._other(fifo), (fifo.name, not self.backwards)
            if other in self.done:
                bounds[fifo.name, self.backwards] = self.found.walks[other].issues[port] + self._apart(fifo)
            else:  # they wait for each other
                followed[fifo.name, self.backwards] = Followed(self.found.walks, other, port, self._apart(fifo))
        for fifo in self.outgoing[name]:
            if fifo.name in self.room:
                bounds[fifo.name, True] = self.room[fifo.name] - self.tasks[name].late[fifo.name, True]
        return TaskWalk(bounds, self.found.rings, self.begin, self.tasks[name].tokens, followed)

    def _apart(self, fifo: Channel) -> Cycles:
        """How many cycles lie at least between the issues of a token's iterations in its two tasks."""
        latency = latency_of(fifo.depth) + fifo.crossing
        return self.tasks[fifo.producer].late[fifo.name, True] + latency - self.tasks[fifo.consumer].late[fifo.name, False]

    def _goes_as_before(self, name: str) -> bool:
        """Take a task, with all that it shares rings with, from the run before, if nothing holds any of them up longer."""
        if self.before is None:
            return False
        together = self._tied([name])
        if any(task in self.found.walks or self._is_held_up(task) for task in together):
            return False
        if any(self._other(fifo) not in self.done | together for task in together for fifo in self.incoming[task]):
            return False
        self._take_from_before(together)
        return True

    def _take_from_before(self, tasks: Set[str]) -> None:
        """Take what these tasks, and the rings between them, did in the run before."""
        if self.before is None:  # and all of them are walked
            return
        for task in tasks:
            self.found.walks[task] = self.before.walked.walks[task]
        for ring in {ring for task in tasks for ring in self.tasks[task].rings}:
            self.found.rings[ring] = self.before.walked.rings[ring]
        self.done |= tasks
        self.found.same |= tasks

    def _is_held_up(self, name: str) -> bool:
        """Whether a task, as it went in the run before (no walk backwards has one), would move a token before it may, as far as is
        known by now."""
        assert self.before is not None
        walk = self.before.walked.walks[name]
        for fifo in self.incoming[name]:
            other = self._other(fifo)
            if other in self.done and other not in self.found.same:
                bounds = self.found.walks[other].issues[fifo.name, True] + self._apart(fifo)
                if (walk.issues[fifo.name, False] < bounds).any():
                    return True
        full = (fifo.name for fifo in self.outgoing[name] if fifo.name in self.room)
        return any((self.before.written[fifo] < self.room[fifo]).any() for fifo in full)

    def _end(self, name: str) -> None:
        self.done.add(name)
        if self.before is None or name in self.partners:
            return
        if _are_alike(self.found.walks[name], self.before.walked.walks[name]):
            self.found.same.add(name)


def _are_alike(one: TaskWalk, other: TaskWalk) -> bool:
    return one.now == other.now and all(np.array_equal(times, other.issues[port]) for port, times in one.issues.items())


def _partners(tasks: Sequence[TaskTimeline]) -> dict[str, set[str]]:
    """By task that shares a ring: all that are tied to it by rings."""
    graph: nx.Graph[str] = nx.Graph()
    graph.add_edges_from((f"task {task.name}", f"ring {ring}") for task in tasks for ring in task.rings)
    found: dict[str, set[str]] = {}
    for group in nx.connected_components(graph):
        names = {node.removeprefix("task ") for node in group if node.startswith("task ")}
        found |= dict.fromkeys(names, names)
    return found
