"""FIFO depths from a bounded run without time: grow what blocks, until the run ends (Parks, 1995).

Control does not depend on data, so each task is a fixed sequence of firings (`stc.iteration.firings`). A network of such tasks with
bounded channels is a Kahn network itself (a free slot is a token that travels backwards): whether it deadlocks depends on the
depths only, not on the order in which tasks run or how fast they are. So depths at which *one* run ends are enough for every
run. The run starts with the least depths; whenever nobody can go on, the smallest full channel that somebody waits for grows.
The run up to then is also a run at the larger depths, so that it need not be repeated.

Tasks are not fired one by one. Take channels that connect tasks without an undirected cycle, a forest, each deep enough that
its writer and its reader never wait for it at the same time (`_keeps_one_going`). In a run that only these can stop, every task
comes as far as the largest numbers of firings go that agree with each other along all of them: else follow the tasks that
stopped earlier, each waiting at a channel for one that stopped earlier as well, and never back across the same channel: in a
forest that does not go on for ever. So all tasks first make one jump, what the other channels then hold is looked at, and so
on. A pair of tasks that hand a million tokens through two slots is one jump; what counts is how often channels outside the
forest fill and drain, and these are chosen to be the deep ones.

A jump that follows is that of a part of the tasks: those that such a channel stopped and stops no more, and those that they stopped
along the forest, and so on. Each other task is stopped by a channel that has not changed, or by another one of them, so that it
comes no further. Channels of a decoder's 732 tasks grow 20,419 times: most jumps are of a few tasks.
"""

from __future__ import annotations

import sys
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass

import networkx as nx
import numpy as np

from stc.diagnostics import CompileError
from stc.iteration.firings import READ, WRITTEN, Firings
from stc.iteration.task_timeline import Cycles
from stc.network.graph import Channel
from stc.network.waits import Diagnosis, Stop

ACCEPTED = "tasks that read and write in one order; in a cycle, loops that end (stc.drains) before they read what follows from them"

GROWTH = 32
"""A channel grows by this part of itself: fine enough to overshoot by some per cent only, coarse enough to be quick."""


BLOCK = 8
"""Of so many firings in a row it is looked up how many tokens come before them; the rest is searched for."""


NEVER = sys.maxsize
"""Stands for no firing: nothing stops the task."""


@dataclass(slots=True, eq=False)
class _Link:
    """The state of a channel in the run: its tasks by number, its depth so far, and the firing of each token's moments.
    A token takes 8 bytes, as in the array (a list of integers takes 40). `published_before`, `freed_before`: by block of firings,
    how many tokens have their moment before it (`_before`), so that `bisect` has few to look at; a firing takes a byte of each.
    `reader_stop`, `writer_stop`: the firings that its tasks cannot make as things are, found anew (`stop_reader`, `stop_writer`)
    whenever the other one has fired or the depth has grown. `in_forest`: whether it is one of those that tasks jump along."""

    channel: Channel
    depth: int
    writer: int
    reader: int
    room: memoryview
    published: memoryview
    taken: memoryview
    freed: memoryview
    published_before: memoryview
    freed_before: memoryview
    reader_stop: int = 0
    writer_stop: int = 0
    in_forest: bool = False

    def reader_limit(self, fired: int) -> int:
        """The firing that the reader cannot make when the writer has made so many."""
        block = fired // BLOCK
        there = bisect_left(self.published, fired, self.published_before[block], self.published_before[block + 1])
        return self.taken[there] if there < len(self.taken) else NEVER

    def writer_limit(self, fired: int) -> int:
        """The firing that the writer cannot make when the reader has made so many."""
        block = fired // BLOCK
        allowed = bisect_left(self.freed, fired, self.freed_before[block], self.freed_before[block + 1]) + self.depth
        return self.room[allowed] if allowed < len(self.room) else NEVER

    def stop_reader(self, fired: int) -> None:
        """The writer has made so many firings."""
        self.reader_stop = self.reader_limit(fired)

    def stop_writer(self, fired: int) -> None:
        """The reader has made so many firings."""
        self.writer_stop = self.writer_limit(fired)

    def required(self, writer: int, reader: int) -> int:
        """The depth that the next firing of the writer needs."""
        return bisect_left(self.room, writer + 1) - bisect_left(self.freed, reader)


def least_depth_of(writer: Firings, reader: Firings, name: str) -> int:
    """The depth from which on writer and reader of a channel never wait for it at the same time.

    A waiting writer needs room for one of its tokens while so many are on their way and not published; a waiting reader misses
    one of those that a firing takes at once, and frees in the same firing, as those of FIFOs do. 1 where one of them has no
    token for the channel: then it fills, or stays empty.
    """
    if (name, "write_acquire") not in writer.moments or (name, "read_acquire") not in reader.moments:
        return 1
    room, published = writer.moments[name, "write_acquire"], writer.moments[name, "write_release"]
    under_way = np.searchsorted(room, room, "right") - np.searchsorted(published, room, "left")
    return int(under_way.max(initial=1)) + _most_at_once(reader.moments[name, "read_acquire"]) - 1


def _most_at_once(at: Cycles) -> int:
    return int((np.searchsorted(at, at, "right") - np.arange(len(at))).max(initial=1))


def grown_depths(tasks: Sequence[Firings], channels: Sequence[Channel]) -> dict[str, int]:
    """Depths, in tokens, at which the network ends: at least those given. FIFOs grow up to all their tokens, rings do not.

    These are enough, not least: one run that grows on its way, where `stc.fifo.depth_search` finds least depths by many runs.

    CompileError where it cannot end at any depth (a task waits for tokens nobody writes, or rings of buffers block each
    other), naming the tasks that wait.
    """
    return _Run(tasks, channels).ended()


class _Run:
    """`fired`: how often each task has. `free`: tasks that may fire more often than they did, since what stopped them has changed;
    all others are stopped by a channel, or by a task that is."""

    def __init__(self, tasks: Sequence[Firings], channels: Sequence[Channel]) -> None:
        self.tasks, self.channels = tasks, channels
        self.counts = [task.count for task in tasks]
        self.fired = [0] * len(tasks)
        self.links = _links(tasks, channels)
        self.read: list[list[_Link]] = [[] for _ in tasks]
        self.written: list[list[_Link]] = [[] for _ in tasks]
        for link in self.links.values():
            self.read[link.reader].append(link)
            self.written[link.writer].append(link)
            link.stop_reader(0)
            link.stop_writer(0)
        for name in self._forest():
            self.links[name].in_forest = True
        self.short = {n for link in self.links.values() for n in self._short(link)}
        """Tasks that hold others up even when they have done all: they write too little, or read too little."""
        self.free = set(range(len(tasks)))

    def _short(self, link: _Link) -> Iterator[int]:
        if link.reader_limit(self.counts[link.writer]) != NEVER:
            yield link.writer
        if link.writer_limit(self.counts[link.reader]) != NEVER:
            yield link.reader

    def _forest(self) -> set[str]:
        """Channels without an undirected cycle, those that fill most often first."""
        graph: nx.Graph[int] = nx.Graph()
        for link in self.links.values():
            if link.writer != link.reader and not link.channel.is_ring and self._keeps_one_going(link):
                often = len(link.room) / link.depth
                if often > graph.get_edge_data(link.writer, link.reader, {"often": -1.0})["often"]:
                    graph.add_edge(link.writer, link.reader, often=often, name=link.channel.name)
        tree = nx.maximum_spanning_edges(graph, weight="often")
        return {data["name"] for _, _, data in tree}

    def _keeps_one_going(self, link: _Link) -> bool:
        return link.depth >= least_depth_of(self.tasks[link.writer], self.tasks[link.reader], link.channel.name)

    def ended(self) -> dict[str, int]:
        while True:
            while self.free:
                self._jump()
            waiting = [task for task in range(len(self.tasks)) if self._waits(task)]
            if not waiting:
                return {channel.name: self._depth(channel) for channel in self.channels}
            self._grow(waiting)

    def _depth(self, channel: Channel) -> int:
        return self.links[channel.name].depth if channel.name in self.links else channel.depth

    def _jump(self) -> None:
        """All free tasks, and those that these stop, as far as what the channels outside the forest hold allows."""
        reached = dict.fromkeys(self._with_stopped(self.free), NEVER)
        for task in reached:
            stops = [link.reader_stop for link in self.read[task] if not link.in_forest or link.writer not in reached]
            stops += [link.writer_stop for link in self.written[task] if not link.in_forest or link.reader not in reached]
            reached[task] = min([self.counts[task], *stops])
        lowered: list[tuple[int, _Link | None]] = [
            (task, None) for task, fired in reached.items() if fired < self.counts[task] or task in self.short
        ]
        while lowered:
            task, by = lowered.pop()  # `by`: along which it was lowered, whose other task need not be
            fired = reached[task]
            for link in self.written[task]:
                if not link.in_forest or link is by or link.reader not in reached:
                    continue
                if (limit := link.reader_limit(fired)) < reached[link.reader]:
                    reached[link.reader] = limit
                    lowered.append((link.reader, link))
            for link in self.read[task]:
                if not link.in_forest or link is by or link.writer not in reached:
                    continue
                if (limit := link.writer_limit(fired)) < reached[link.writer]:
                    reached[link.writer] = limit
                    lowered.append((link.writer, link))
        self._fire(reached)

    def _with_stopped(self, free: Set[int]) -> set[int]:
        """`free` tasks, and all whom one of these stops, along the forest."""
        found, left = set(free), list(free)
        while left:
            task = left.pop()
            stopped = [link.reader for link in self.written[task] if link.in_forest and self._stops_reader(link)]
            stopped += [link.writer for link in self.read[task] if link.in_forest and self._stops_writer(link)]
            left += [other for other in stopped if other not in found]
            found.update(stopped)
        return found

    def _stops_reader(self, link: _Link) -> bool:
        return link.reader_stop == self.fired[link.reader]

    def _stops_writer(self, link: _Link) -> bool:
        return link.writer_stop == self.fired[link.writer]

    def _fire(self, reached: Mapping[int, int]) -> None:
        """Tasks have fired so often; those are free then that a channel outside the forest stopped and does no more."""
        moved = [task for task, fired in reached.items() if fired != self.fired[task]]
        for task in moved:
            self.fired[task] = reached[task]
        self.free = set()
        for task in moved:
            for link in self.written[task]:
                was_stopped = self._stops_reader(link)
                link.stop_reader(self.fired[task])
                if was_stopped and not self._stops_reader(link) and not link.in_forest:
                    self.free.add(link.reader)
            for link in self.read[task]:
                was_stopped = self._stops_writer(link)
                link.stop_writer(self.fired[task])
                if was_stopped and not self._stops_writer(link) and not link.in_forest:
                    self.free.add(link.writer)

    # Growth -------------------------------------------------------------------------------------------------------------

    def _grow(self, waiting: Sequence[int]) -> None:
        """Enlarge one of the channels whose lack of room holds up a task that others wait for.

        A full channel that holds up nobody else is no cause: it is left alone. Of the channels that would help, the one that is
        smallest when it holds everything grows: scores rather than keys, say.
        """
        full = list(self._chain(set(self._required(waiting))))
        if not full:
            raise self._no_end(Diagnosis(self._stop(task) for task in waiting))
        link = min(full, key=lambda link: (link.channel.tokens * link.channel.bits, link.channel.name))
        grown = min(link.depth + max(1, link.depth // GROWTH), link.channel.tokens)
        link.depth = max(grown, link.required(self.fired[link.writer], self.fired[link.reader]))
        link.stop_writer(self.fired[link.reader])
        self.free = {link.writer}

    def _no_end(self, diagnosis: Diagnosis) -> CompileError:
        """Nobody can go on, and no FIFO whose room would help is full."""
        if diagnosis.short:
            return CompileError(diagnosis.short[0].disagreement, accepted="reads equal to writes")
        waits = "; ".join(stop.text for stop in diagnosis.wait_cycles[0].stops)
        return CompileError(f"tasks wait for each other at any FIFO depth: {waits}", accepted=ACCEPTED)

    def _stop(self, task: int) -> Stop:
        """What a task that cannot fire waits for: the first channel that lacks its token, or room."""
        for link in self.links.values():
            written, freed = bisect_left(link.published, self.fired[link.writer]), bisect_left(link.freed, self.fired[link.reader])
            misses = link.reader == task and self._stops_reader(link)
            if misses or (link.writer == task and self._stops_writer(link)):
                waits_to, other, token = ("read", link.writer, written) if misses else ("write", link.reader, freed + link.depth)
                at = (self.tasks[task].name, waits_to, link.channel.name, "ring" if link.channel.is_ring else "fifo")
                return Stop(*at, self.tasks[other].name, written - freed, link.depth, token, link.channel.tokens)
        raise AssertionError(f"{self.tasks[task].name} can fire")

    def _waits(self, task: int) -> bool:
        return self.fired[task] < self.counts[task]

    def _required(self, waiting: Sequence[int]) -> Iterator[int]:
        """The tasks that write what somebody waits to read."""
        for task in waiting:
            yield from (link.writer for link in self.read[task] if self._stops_reader(link) and self._waits(link.writer))

    def _chain(self, tasks: Set[int]) -> Iterator[_Link]:
        """The full channels that hold `tasks` up: their own, and those that hold up their readers in turn."""
        seen, left = set(tasks), list(tasks)
        while left:
            for link in self.written[left.pop()]:
                if self._stops_writer(link):
                    if not link.channel.is_ring:
                        yield link
                    if link.reader not in seen and self._waits(link.reader):
                        seen.add(link.reader)
                        left.append(link.reader)


def _links(tasks: Sequence[Firings], channels: Iterable[Channel]) -> dict[str, _Link]:
    """Those of channels that somebody reads, by name; where nobody writes one its reader stands for the writer."""
    ends = {key: number for number in reversed(range(len(tasks))) for key in tasks[number].moments}  # of several the first
    links: dict[str, _Link] = {}
    for channel in channels:
        name, depth = channel.name, channel.depth
        writer, reader = ends.get((name, "write_acquire")), ends.get((name, "read_acquire"))
        if reader is None:
            continue
        writer, nothing = reader if writer is None else writer, np.zeros(0, dtype=np.int64)
        room, published = (tasks[writer].moments.get((name, moment), nothing) for moment in WRITTEN)
        taken, freed = (tasks[reader].moments[name, moment] for moment in READ)
        before = _before(published, tasks[writer].count), _before(freed, tasks[reader].count)
        links[name] = _Link(channel, depth, writer, reader, room.data, published.data, taken.data, freed.data, *before)
    return links


def _before(at: Cycles, count: int) -> memoryview:
    """How many of the ascending firings `at` come before each block of `count` firings, and before the one behind the last."""
    return np.searchsorted(at, np.arange(0, count + 2 * BLOCK, BLOCK)).data
