"""FIFO depths from a bounded run of the token model: grow what blocks, until the run ends (Parks, 1995).

Control does not depend on data, so each task is a fixed sequence of accesses to its channels. A network of such tasks with
bounded channels is a Kahn network itself (a free slot is a token that travels backwards): whether it deadlocks depends on the
depths only, not on the order in which tasks run or how fast they are. So depths at which *one* run ends are enough for every
run. The run starts with the least depths; whenever nobody can go on, the smallest full channel that somebody waits for grows.
The run up to then is also a run at the larger depths, so that it need not be repeated.

Firing rule: an iteration fires when all its reads and writes are possible (hardware-notes.md, flushing pipelines).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from stc.diagnostics import CompileError
from stc.iteration.task_program import Action, Channel, TaskProgram


@dataclass(slots=True)
class _State:
    depth: int
    bits: int
    most: int
    fixed: bool
    tokens: int = 0
    reader: _Task | None = None
    writer: _Task | None = None


@dataclass(slots=True)
class _Step:
    """An action with the channels themselves."""

    reads: list[tuple[_State, int]]
    writes: list[tuple[_State, int]]
    needs_token: list[_State]
    needs_room: list[_State]
    takes_blocks: bool


@dataclass(slots=True)
class _Task:
    name: str
    actions: Iterator[Action]
    steps: dict[tuple[object, ...], _Step] = field(default_factory=dict[tuple[object, ...], _Step])
    current: Action | None = None
    step: _Step | None = None
    waits: _State | None = None   # what held it up last
    remaining: int = 0
    queued: bool = True

    def goes_on(self, states: Mapping[str, _State]) -> _Step | None:
        """The next action, None at the end."""
        self.current = action = next(self.actions, None)
        if action is None:
            self.step = None
            return None
        key = (action.reads, action.writes, action.needs_token, action.needs_room)
        if (found := self.steps.get(key)) is None:
            found = self.steps[key] = _Step(
                [(states[name], count) for name, count in action.reads],
                [(states[name], count) for name, count in action.writes],
                [states[name] for name in action.needs_token],
                [states[name] for name in action.needs_room],
                bool(action.needs_token or action.needs_room),
            )
        self.step, self.remaining = found, action.iterations
        return found


def grown_depths(programs: Sequence[TaskProgram], channels: Sequence[Channel]) -> dict[str, int]:
    """Depths, in tokens, at which the network ends: at least the least ones given.

    CompileError where it cannot end at any depth (a task waits for tokens nobody writes, or rings of buffers block each
    other), naming the tasks that wait.
    """
    states = {channel.name: _State(channel.depth, channel.bits, channel.tokens, channel.fixed) for channel in channels}
    tasks = [_Task(program.name, iter(program.actions)) for program in programs]
    _connect(programs, tasks, states)
    ready = deque(tasks)
    while True:
        while ready:
            task = ready.popleft()
            task.queued = False
            _run(task, states, ready)
        waiting = [task for task in tasks if task.current is not None]
        if not waiting:
            return {channel.name: states[channel.name].depth for channel in channels}
        _wake(_grow(waiting, states), ready)


def _connect(programs: Sequence[TaskProgram], tasks: Sequence[_Task], states: Mapping[str, _State]) -> None:
    """Learn who reads and writes each channel by looking at every distinct action once."""
    for program, task in zip(programs, tasks, strict=True):
        for action in program.actions:
            for name, _ in action.reads:
                states[name].reader = task
            for name, _ in action.writes:
                states[name].writer = task


def _run(task: _Task, states: Mapping[str, _State], ready: deque[_Task]) -> None:
    """Fire as often as possible; wake whoever waits for what was written, or for the room of what was read."""
    while (step := task.step or task.goes_on(states)) is not None:
        firings = task.remaining
        for state, count in step.reads:
            if state.tokens < count * firings:
                firings, task.waits = state.tokens // count, state
        for state, count in step.writes:
            if state.depth - state.tokens < count * firings:
                firings, task.waits = (state.depth - state.tokens) // count, state
        if firings == 0 or (step.takes_blocks and _waits_for_block(task, step)):
            return
        for state, count in step.reads:
            state.tokens -= count * firings
            if (other := state.writer) is not None and other.waits is state and not other.queued:
                other.queued = True
                ready.append(other)
        for state, count in step.writes:
            state.tokens += count * firings
            if (other := state.reader) is not None and other.waits is state and not other.queued:
                other.queued = True
                ready.append(other)
        task.remaining -= firings
        if task.remaining == 0:
            task.step = None


def _waits_for_block(task: _Task, step: _Step) -> bool:
    """Whether a block that it needs is not there; then the task waits for that."""
    missing = [state for state in step.needs_token if state.tokens < 1]
    missing += [state for state in step.needs_room if state.tokens >= state.depth]
    if missing:
        task.waits = missing[0]
    return bool(missing)


def _wake(task: _Task | None, ready: deque[_Task]) -> None:
    if task is not None and not task.queued:
        task.queued = True
        ready.append(task)


def _grow(waiting: Sequence[_Task], states: Mapping[str, _State]) -> _Task:
    """Enlarge one of the channels whose lack of room holds up a task that others wait for; its writer can be tried again.

    A full channel that holds up nobody else is no cause: it is left alone. Of the channels that would help, the one that is
    smallest when it holds everything grows: scores rather than keys, say.
    """
    full = {(name, id(task)): task for wanted in _wanted(waiting, states) for name, task in _chain(wanted, states)}
    if not full:
        names = ", ".join(task.name for task in waiting)
        raise CompileError(
            f"tasks {names} wait for each other at any FIFO depth", accepted="an acyclic task graph, reads equal to writes"
        )
    (name, _), task = min(full.items(), key=lambda item: (states[item[0][0]].most * states[item[0][0]].bits, item[0][0]))
    state = states[name]
    assert task.current is not None
    count = dict(task.current.writes)[name]
    state.depth = max(min(state.depth + max(1, state.depth // GROWTH), state.most), state.tokens + count)
    return task


def _wanted(waiting: Sequence[_Task], states: Mapping[str, _State]) -> Iterator[_Task]:
    """The tasks that write what somebody waits to read."""
    for task in waiting:
        assert task.current is not None
        needs = [*task.current.reads, *((name, 1) for name in task.current.needs_token)]
        for name, count in needs:
            writer = states[name].writer
            if states[name].tokens < count and writer is not None and writer.current is not None:
                yield writer


def _chain(task: _Task, states: Mapping[str, _State]) -> Iterator[tuple[str, _Task]]:
    """The full channels that hold `task` up, with their writers: its own, and those that hold up their readers in turn."""
    assert task.current is not None
    rooms = [*task.current.writes, *((name, 1) for name in task.current.needs_room)]
    for name, count in rooms:
        state = states[name]
        if state.depth - state.tokens >= count:
            continue
        if not state.fixed:
            yield name, task
        if state.reader is not None and state.reader.current is not None:
            yield from _chain(state.reader, states)


GROWTH = 32
"""A channel grows by this part of itself: fine enough to overshoot by some per cent only, coarse enough to be quick."""
