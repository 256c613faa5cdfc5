"""`grown_depths` on random networks: they end at its depths, under another scheduler than its own."""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

import numpy as np
import pytest
from kahn_network import DRAIN, FILL, Access, Firing, Network, random_network, reading, writing

from stc.diagnostics import CompileError
from stc.fifo.depths import SHALLOW, least_depth
from stc.fifo.token_run import GROWTH, grown_depths, least_depth_of
from stc.iteration import trace
from stc.iteration.firings import Firings, firings
from stc.iteration.index_expressions import IndexExpression, Operator, computed, variable
from stc.iteration.pipeline_style import STYLES, Style
from stc.iteration.trace import Branch, For, Moment, Pipeline, TaskTrace
from stc.network.graph import Channel
from stc.transforms.stream.size_fifos import what_is_proved
from stc_testing.drawn import seeds

SEEDS = seeds(300)


def moments_of(access: Access, is_ring: bool) -> tuple[tuple[Moment, int], ...]:
    """The same step in the terms of the token model, and for how many tokens."""
    if is_ring:
        changes = (access.slots_needed, access.slots_added, access.tokens_needed, access.tokens_added)
        moment: dict[tuple[int, ...], Moment] = {
            (1, -1, 0, 0): "write_acquire", (0, 0, 0, 1): "write_release",
            (0, 0, 1, -1): "read_acquire", (0, 1, 0, 0): "read_release",
        }
        return ((moment[changes], 1),)
    if access.slots_needed:
        return ("write_acquire", access.slots_needed), ("write_release", access.slots_needed)
    return ("read_acquire", access.tokens_needed), ("read_release", access.tokens_needed)


def firings_of(name: str, firings: list[Firing], rings: Collection[str]) -> Firings:
    moments: dict[tuple[str, Moment], list[int]] = {}
    for number, firing in enumerate(firings):
        for channel, access in firing.items():
            for moment, count in moments_of(access, channel in rings):
                moments.setdefault((channel, moment), []).extend([number] * count)
    return Firings(name, len(firings), {side: np.array(at) for side, at in moments.items()})


def ends_of(network: Network, unbounded: frozenset[str] = frozenset()) -> tuple[list[Firings], list[Channel]]:
    """Its tasks, and its channels with the least depths; the `unbounded` ones have room for everything."""
    tasks = [firings_of(name, firings, network.rings) for name, firings in network.programs.items()]
    least = {s.name: max(SHALLOW, s.tokens) if s.name in unbounded else least_depth(s) for s in network.streams}
    channels = [replace(s, depth=least[s.name], bits=32, tokens=max(SHALLOW, s.tokens)) for s in network.streams]
    return tasks, [*channels, *network.graph.rings]


def grown(network: Network, unbounded: frozenset[str] = frozenset()) -> dict[str, int]:
    """Depths of the streams."""
    depths = grown_depths(*ends_of(network, unbounded))
    return {stream.name: depths[stream.name] for stream in network.streams}


class NoEnd(Exception):
    """At no depth."""


@dataclass
class SingleFirings:
    """The same run, task by task and firing by firing, where nothing is remembered of what was possible before."""

    tasks: Mapping[str, Firings]
    channels: Mapping[str, Channel]
    fired: dict[str, int]
    depths: dict[str, int]

    @classmethod
    def grown(cls, tasks: list[Firings], channels: list[Channel]) -> dict[str, int]:
        named = {task.name: task for task in tasks}, {channel.name: channel for channel in channels}
        run = cls(*named, dict.fromkeys(named[0], 0), {channel.name: channel.depth for channel in channels})
        while True:
            while ready := [task for task in run.tasks if run.waits(task) and not run.lacking(task)]:
                run.fired[ready[0]] += 1
            if not any(map(run.waits, run.tasks)):
                return run.depths
            run.grow()

    def waits(self, task: str) -> bool:
        return self.fired[task] < self.tasks[task].count

    def done(self, task: str, channel: str, moment: Moment) -> int:
        return int((self.tasks[task].moments[channel, moment] < self.fired[task]).sum())

    def there(self, name: str, moment: Moment) -> int:
        """Tokens so far, or places for them."""
        channel = self.channels[name]
        if moment == "read_acquire":
            return self.done(channel.producer, name, "write_release")
        return self.done(channel.consumer, name, "read_release") + self.depths[name]

    def lacking(self, task: str) -> list[tuple[str, Moment]]:
        """Where the task cannot fire once more."""
        found: list[tuple[str, Moment]] = []
        for (name, moment), at in self.tasks[task].moments.items():
            if moment in ("read_acquire", "write_acquire") and int((at <= self.fired[task]).sum()) > self.there(name, moment):
                found.append((name, moment))
        return found

    def grow(self) -> None:
        """The smallest of the full channels that hold up a task that others wait for."""
        lacking = {task: self.lacking(task) for task in self.tasks if self.waits(task)}
        empty = [self.channels[name] for stops in lacking.values() for name, moment in stops if moment == "read_acquire"]
        held, full = {channel.producer for channel in empty} & set(lacking), set[str]()
        while more := {name for task in held for name, moment in lacking[task] if moment == "write_acquire"} - full:
            full |= more
            held |= {self.channels[name].consumer for name in more} & set(lacking)
        possible = [self.channels[name] for name in full if not self.channels[name].is_ring]
        if not possible:
            raise NoEnd
        channel = min(possible, key=lambda one: (one.tokens * one.bits, one.name))
        writes = self.tasks[channel.producer].moments[channel.name, "write_acquire"]
        required = int((writes <= self.fired[channel.producer]).sum()) - self.done(channel.consumer, channel.name, "read_release")
        deeper = self.depths[channel.name] + max(1, self.depths[channel.name] // GROWTH)
        self.depths[channel.name] = max(min(deeper, channel.tokens), required)


def ends_of_a_run(chance: random.Random) -> tuple[list[Firings], list[Channel]]:
    """Tasks that fired in some order, and channels between any two of them, or of one to itself, over which tokens went meanwhile:
    several in a firing, published some firings later; with depths that are too small, or not; some are rings."""
    order = chance.choices(range(chance.randint(2, 10)), k=chance.randint(10, 80))
    own = [order[:step].count(task) for step, task in enumerate(order)]
    steps = {task: [step for step, other in enumerate(order) if other == task] for task in sorted(set(order))}
    moments: dict[int, dict[tuple[str, Moment], np.ndarray]] = {task: {} for task in steps}
    channels: list[Channel] = []
    for number in range(chance.randint(len(steps), 3 * len(steps))):
        (writer, reader), name = chance.choices(list(steps), k=2), f"s{number}"
        is_ring, late, most = chance.random() < 0.15, chance.choice([0, 0, 2, 5]), chance.choice([12, 12, 200])
        tokens: list[tuple[int, int, int, int]] = []
        for step in sorted(chance.choices(steps[writer], k=chance.randint(1, most))):
            _, published, taken, freed = tokens[-1] if tokens else (0, 0, 0, 0)
            published = chance.choice([later for later in steps[writer] if later >= max(step, published)][: late + 1])
            possible = [later for later in steps[reader] if later > published and later >= taken]
            if not possible:
                break
            taken = chance.choice(possible) if chance.random() < 0.3 else possible[0]
            later = [later for later in steps[reader] if later >= max(taken, freed)]
            tokens.append((step, published, taken, chance.choice(later[: late + 1]) if is_ring else taken))
        if tokens:
            room, published, taken, freed = (np.array([own[step] for step in column]) for column in zip(*tokens, strict=True))
            moments[writer] |= {(name, "write_acquire"): room, (name, "write_release"): published}
            moments[reader] |= {(name, "read_acquire"): taken, (name, "read_release"): freed}
            count = len(tokens)
            depth = chance.choice([*[count] * 9, max(1, count - 1)] if is_ring else [1, 1, 2, 3, max(1, count // 2)])
            channels.append(Channel(name, f"t{writer}", f"t{reader}", count, depth, chance.choice([8, 32]), is_ring=is_ring))
    return [Firings(f"t{task}", len(steps[task]), moments[task]) for task in steps], channels


def test_jumps_grow_what_single_firings_grow():
    grew = refused = 0
    for seed in SEEDS:
        chance = random.Random(seed)
        tasks, channels = ends_of(random_network(chance)) if seed % 3 == 0 else ends_of_a_run(chance)
        try:
            depths = grown_depths(tasks, channels)
        except CompileError:
            refused += 1
            with pytest.raises(NoEnd):
                SingleFirings.grown(tasks, channels)
            continue
        assert depths == SingleFirings.grown(tasks, channels), f"seed {seed}"
        grew += any(depths[channel.name] > channel.depth + 1 for channel in channels)
    assert grew > 100 and refused < 100, (grew, refused)


def test_random_networks_end_at_grown_depths():
    grew = 0
    for seed in SEEDS:
        chance = random.Random(seed)
        network = random_network(chance)
        least = {stream.name: least_depth(stream) for stream in network.streams}
        depths = grown(network)
        assert network.ends(depths, chance), f"deadlock with seed {seed}"
        assert all(least[s.name] <= depths[s.name] <= max(SHALLOW, s.tokens) for s in network.streams)
        ends_at_least = network.ends(least, chance)
        assert (depths == least) == ends_at_least, f"seed {seed}: grows exactly where the least depths deadlock"
        grew += not ends_at_least
    assert grew > 30


def test_bridges_may_be_left_out_of_the_run():
    """As `set-fifo-depths` does: bridges of the undirected graph are unbounded in the run and least afterwards."""
    bridged = 0
    for seed in SEEDS:
        chance = random.Random(seed)
        network = random_network(chance)
        free = {s.name: least_depth(s) for s in network.streams if s.name in network.graph.bridges}
        assert network.ends(grown(network, frozenset(free)) | free, chance), f"deadlock with seed {seed}"
        bridged += bool(free)
    assert bridged > 30


def test_a_ring_that_waits_for_a_stream_nobody_asks_for():
    """`a` waits for the ring, `b` for room in `t`, `c` for `s` from `a`: only more room in `t` helps."""
    program: dict[str, list[Firing]] = {
        "a": [{"ring": access} for access in FILL * 4] + [{"s": writing(1)}] * 4,
        "b": [*({"ring": access} for access in DRAIN), *[{"t": writing(1)}] * 4, *({"ring": access} for access in DRAIN * 3)],
        "c": [{"s": reading(1)}] * 4 + [{"t": reading(1)}] * 4,
    }
    network = Network(program, [Channel("s", "a", "c", 4), Channel("t", "b", "c", 4)], {"ring": ("a", "b", 2)})
    depths = grown(network)
    assert depths["t"] == 4
    assert network.ends(depths, random.Random(0))


def test_a_network_that_ends_at_no_depth():
    tasks = [firings_of("a", [{"s": writing(1)}], ()), firings_of("b", [{"s": reading(1)}] * 2, ())]
    with pytest.raises(CompileError, match=r"a has ended after 1 tokens of 's', but b wants more; accepted: reads equal to writes"):
        grown_depths(tasks, [Channel("s", "a", "b", 2, 2, 32)])
    both = [{"s": reading(1)}, {"t": writing(1)}], [{"t": reading(1)}, {"s": writing(1)}]
    tasks = [firings_of(name, program, ()) for name, program in zip("ab", both, strict=True)]
    with pytest.raises(CompileError, match="wait for each other at any FIFO depth: ") as raised:
        grown_depths(tasks, [Channel("s", "b", "a", 1, 2, 32), Channel("t", "a", "b", 1, 2, 32)])
    for name, other, channel in ("abs", "bat"):
        assert f"{name} waits to read token 0 of 1 of '{channel}', empty (0 of 2), for {other}" in str(raised.value)


def test_a_million_tokens_through_two_slots_are_one_jump():
    """Of three tasks in a row; what the run costs is not the number of tokens."""
    every = np.arange(10**6)
    source = Firings("source", 10**6, {("s", "write_acquire"): every, ("s", "write_release"): every})
    middle: dict[tuple[str, Moment], np.ndarray] = {("s", "read_acquire"): every, ("s", "read_release"): every}
    middle |= {("t", "write_acquire"): every, ("t", "write_release"): every}
    sink = Firings("sink", 10**6, {("t", "read_acquire"): every, ("t", "read_release"): every})
    begin = time.process_time()
    tasks = [source, Firings("middle", 10**6, middle), sink]
    assert grown_depths(tasks, [Channel(name, "", "", 10**6, 2, 32) for name in "st"]) == {"s": 2, "t": 2}
    assert time.process_time() - begin < 5


# Pipelines --------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Loops:
    """An acyclic network of pipelined loops of random accesses: `stages` from reads to writes as they are estimated."""

    accesses: dict[str, dict[str, list[int]]]
    stages: dict[str, int]
    streams: dict[str, tuple[str, str, int]]

    def trace(self, task: str, style: Style = "stp") -> TaskTrace:
        iterations = max((at[-1] for at in self.accesses[task].values() if at), default=0) + 1
        items: list[Branch] = []
        for name, at in self.accesses[task].items():
            access = trace.Access(name, self.streams[name][0] == task)
            items += [Branch(computed(Operator.EQUAL, variable("i"), IndexExpression(n)), (access,)) for n in at]
        return TaskTrace(task, (For("i", iterations, tuple(items), pipeline=Pipeline(1, self.stages[task] + 2, style)),))

    def network(self, held: Mapping[str, int]) -> Network:
        """The firings of pipelines that hold back results for so many iterations: written out here once more, as an oracle."""
        programs: dict[str, list[Firing]] = {}
        for task, ports in self.accesses.items():
            writes = {name for name in ports if self.streams[name][0] == task}
            late = {name: held[task] if name in writes and len(writes) < len(ports) else 0 for name in ports}
            last = max((at[-1] + late[name] for name, at in ports.items() if at), default=0)
            program: list[Firing] = [{} for _ in range(last + 1)]
            for name, at in ports.items():
                for number, count in Counter(at).items():
                    program[number + late[name]][name] = writing(count) if name in writes else reading(count)
            programs[task] = [firing for firing in program if firing]
        streams = [Channel(name, a, b, tokens) for name, (a, b, tokens) in self.streams.items()]
        return Network(programs, streams)


def random_loops(chance: random.Random) -> Loops:
    tasks = [f"t{index}" for index in range(chance.randint(3, 5))]
    streams: dict[str, tuple[str, str, int]] = {}
    accesses: dict[str, dict[str, list[int]]] = {task: {} for task in tasks}
    for index in range(chance.randint(len(tasks), 2 * len(tasks))):
        a, b = sorted(chance.sample(range(len(tasks)), 2))
        tokens = chance.randint(3, 12)
        streams[f"s{index}"] = tasks[a], tasks[b], tokens
        for task in (tasks[a], tasks[b]):
            accesses[task][f"s{index}"] = sorted(chance.sample(range(chance.choice([tokens, 14])), tokens))
    return Loops(accesses, {task: chance.randint(0, 6) for task in tasks}, streams)


def depths_at_which_it_ends(loops: Loops, style: Style) -> dict[str, int]:
    tasks = {name: firings(loops.trace(name, style), 2) for name in loops.accesses}
    channels = [
        Channel(name, a, b, tokens, max(2, min(tokens, least_depth_of(tasks[a], tasks[b], name))), 32)
        for name, (a, b, tokens) in loops.streams.items()
    ]
    return grown_depths(list(tasks.values()), channels)


@pytest.mark.parametrize(("writes", "reads"), [(0, 3), (3, 0), (0, 0)])
def test_a_channel_that_one_end_does_not_use(writes: int, reads: int):
    moments: list[tuple[Moment, Moment]] = [("write_acquire", "write_release"), ("read_acquire", "read_release")]
    writer, reader = (
        Firings(task, 3, {("s", moment): np.arange(count) for moment in kinds if count})
        for task, count, kinds in zip("ab", (writes, reads), moments, strict=True)
    )
    assert least_depth_of(writer, reader, "s") == 1


def test_depths_of_flushing_pipelines_say_nothing_of_those_that_stop():
    """So the report of `size-fifos` must not say so: it claims the end for the style that loops have, or one that flushes."""
    stopped = 0
    for seed in range(50):
        chance = random.Random(seed)
        loops = random_loops(chance)
        depths = depths_at_which_it_ends(loops, "frp")
        assert loops.network(dict.fromkeys(loops.stages, 0)).ends(depths, chance), f"deadlock with seed {seed}"
        stopped += not loops.network(loops.stages).ends(depths, chance)
    assert stopped > 10
    assert "as long as they flush (frp, flp)" in what_is_proved(frozenset({"frp"}))
    assert "of the style they have, or of one that flushes (frp, flp)" in what_is_proved(frozenset({"stp", "frp"}))


def test_what_waits_for_a_block_holds_back_what_it_computed():
    """As if it waited to read: with `stp` its tokens are published when six more iterations had a block, or after the last."""
    body = trace.Hold("ring", False), trace.Access("out", True)
    for style, held in (("stp", 6), ("frp", 0), ("flp", 0)):
        task = TaskTrace("task", (For("i", 8, body, pipeline=Pipeline(1, 8, STYLES[style])),))
        assert firings(task).moments["out", "write_release"].tolist() == list(range(held, 8 + held))


def test_a_token_is_published_after_those_ahead_of_it():
    """Where an iteration writes `c` late, and the next one at once, in program order."""
    x, (a, b, c) = trace.Access("x", False), (trace.Access(name, True) for name in "abc")
    odd = computed(Operator.REM, variable("i"), IndexExpression(2))
    body = (x, Branch(odd, (c,), (a, a, b, b, c, c)))
    found = firings(TaskTrace("task", (For("i", 6, body, pipeline=Pipeline(2, 8)),))).moments["c", "write_release"]
    assert len(found) == 9 and (np.diff(found) >= 0).all()


def test_depths_hold_for_any_style_and_any_depth_up_to_twice_the_estimate():
    """Any results that pipelines hold back, from none to those of twice as many stages, each loop by itself."""
    too_few = 0
    for seed in range(150):
        chance = random.Random(seed)
        loops = random_loops(chance)
        depths = depths_at_which_it_ends(loops, "stp")
        for factor in (0, 1, 2, None, None, None):
            held = {
                name: factor * stages + (factor == 2) if factor is not None else chance.randint(0, 2 * stages + 1)
                for name, stages in loops.stages.items()
            }
            assert loops.network(held).ends(depths, chance), f"deadlock with seed {seed}, {held}"
            too_few += not loops.network(held).ends({name: max(2, depth // 2) for name, depth in depths.items()}, chance)
    assert too_few > 100
    assert "of any style (stp, frp, flp)" in what_is_proved(frozenset({"stp"}))
