"""Why a run that ended in a deadlock did so, and the least change of FIFO depths that cures it, in words a person can act on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from stc.manifest.schema import LoopSchedule, Manifest
from stc.network.graph import Channel
from stc.simulation.cures import MOST_RUNS, Cure, DepthsIgnored, OutOfRuns, Rerun, Run, Trials, joint_cure, single_cures
from stc.simulation.wait_circles import STUCK, Cause, Circle, Deadlock, Stop


@dataclass(frozen=True)
class Explanation:
    """Why nothing could go on.

    `circles` of waiting tasks; `short`: tasks that wait for one that has ended; `behind`: tasks held up by those. Where no
    depth helps, these are what is left with larger FIFOs. `cures`: each cures it alone, cheapest first; none where no depth
    does, or where the search was not finished (`searched`).
    """

    cause: Cause
    circles: tuple[Circle, ...]
    short: tuple[Stop, ...]
    behind: tuple[str, ...]
    cures: tuple[Cure, ...]
    searched: bool
    runs: int
    text: str

    @property
    def culprits(self) -> tuple[str, ...]:
        """The FIFOs whose depth is at fault: each that cures the deadlock alone, or the set that does so together."""
        return tuple(dict.fromkeys(name for cure in self.cures for name in cure.depths))

    def as_json(self) -> dict[str, Any]:
        circles = [
            {"stops": [asdict(stop) for stop in circle.stops], "parts": circle.parts, "meets": circle.meets,
             "full": circle.full, "empty": circle.empty}
            for circle in self.circles
        ]
        return {**asdict(self), "circles": circles, "culprits": self.culprits}


def explain(
    manifest: Manifest, result: Run, rerun: Rerun | None = None, most_runs: int = MOST_RUNS
) -> Explanation | None:
    """Why `result` could not go on, or left tokens behind; None where it is neither.

    `rerun` runs the same design with some FIFO depths replaced (the rest as in `result`), for the least depths that cure it;
    without it the cause is told, but no cure.
    """
    if result.outcome == "leftover":
        return Explanation("token count", (), (), (), (), False, 0, _leftover_words(result))
    if result.outcome not in STUCK:
        return None
    deadlock = Deadlock(manifest, result)
    if rerun is None or deadlock.cause != "depth":
        return _told(deadlock, (), False, 0)
    trials = Trials(rerun, most_runs)
    try:
        cures, final = _search(deadlock, trials)
    except (OutOfRuns, DepthsIgnored):
        return _told(deadlock, (), False, trials.runs)
    return _told(deadlock, cures, True, trials.runs, final)


def _search(deadlock: Deadlock, trials: Trials) -> tuple[tuple[Cure, ...], Deadlock | Run | None]:
    """The cures; and where there are none, the deadlock, or the run that failed otherwise, that is left with the FIFOs enlarged."""
    common = [name for name in deadlock.enlargeable(deadlock.circles[0])
              if all(name in circle.full for circle in deadlock.circles)]
    rooms = {name: deadlock.room(name) for name in common}
    if cures := single_cures(common, rooms, trials):
        return tuple(cures), None
    rooms, current = {}, deadlock
    while current.cause == "depth":
        full = [name for circle in current.circles for name in current.enlargeable(circle)]
        new = {name: current.room(name) for name in full if name not in rooms}
        if not new:
            return (), current
        rooms |= new
        result = trials.run({name: room.most for name, room in rooms.items()})
        if result.outcome == "finished":
            cure = joint_cure(list(rooms), rooms, trials)
            return ((cure,) if cure is not None else ()), None
        if result.outcome not in STUCK:
            return (), result
        current = Deadlock(deadlock.manifest, result)
    return (), current


# Words ----------------------------------------------------------------------------------------------------------------


def _told(
    deadlock: Deadlock, cures: tuple[Cure, ...], searched: bool, runs: int, final: Deadlock | Run | None = None
) -> Explanation:
    """`final`: what is left with larger FIFOs."""
    if final is not None and not isinstance(final, Deadlock):
        cause = "token count" if final.outcome == "leftover" else "unknown"
        text = [*_situation(deadlock), "with larger FIFOs it goes on, but fails:", _leftover_words(final)]
        return Explanation(cause, deadlock.circles, deadlock.short, deadlock.behind, (), searched, runs, "\n".join(text))
    told = final or deadlock
    lines = [*_situation(deadlock)]
    if final is not None:
        lines += ["with larger FIFOs it goes on, but not to its end:", *_situation(final)]
    lines += _verdict(told, cures, searched, runs)
    return Explanation(told.cause, told.circles, told.short, told.behind, cures, searched, runs, "\n".join(lines))


def _leftover_words(result: Run) -> str:
    words = result.explanation or result.outcome
    return f"{words}\nno FIFO depth cures this: make the loops of both sides agree" if result.outcome == "leftover" else words


def _situation(deadlock: Deadlock) -> Iterator[str]:
    for circle in deadlock.circles:
        yield f"{len(circle.stops)} tasks wait for each other:"
        yield from (f"  {_stop_words(stop)}" for stop in circle.stops)
        if circle.full and circle.empty:
            yield (f"paths part at {_names(circle.parts)} and meet at {_names(circle.meets)}: "
                   f"full on one side {_names(circle.full)}, empty on the other {_names(circle.empty)}")
        yield from _held_words(deadlock.manifest, circle)
    for stop in deadlock.short:
        yield f"{_stop_words(stop)}, which has ended"
    if deadlock.behind:
        yield f"held up behind them: {_names(deadlock.behind)}"


def _stop_words(stop: Stop) -> str:
    total = f" of {stop.tokens}" if stop.tokens is not None else ""
    state = "full" if stop.waits_to == "write" else "nothing to read" if stop.occupancy else "empty"
    taken = f"{stop.occupancy} of {stop.depth}" if stop.depth is not None else f"{stop.occupancy}"
    if stop.waits_to == "write" and stop.held_back and stop.depth is not None and stop.occupancy < stop.depth:
        taken += f", and {stop.held_back} in its pipeline"   # a block is taken from the ring before it is filled
    where = f" (loop {stop.loop}, line {stop.line})" if stop.loop else f" (line {stop.line})" if stop.line else ""
    token = f"token {stop.token}{total} of '{stop.channel}'"
    return f"{stop.task}{where} waits to {stop.waits_to} {token}, {state} ({taken}), for {stop.on}"


def _held_words(manifest: Manifest, circle: Circle) -> Iterator[str]:
    """A pipeline that stops as a whole keeps what it has computed while it waits to read; one that waits for room keeps it in any
    style."""
    loops = {(loop.task, loop.label): loop for kernel in manifest.kernels for loop in kernel.schedule}
    at = {stop.task: stop for stop in circle.stops}
    for stop in circle.stops:
        if stop.waits_to != "read" or not stop.held_back or stop.on not in at or at[stop.on].waits_to != "read":
            continue
        label = at[stop.on].loop
        loop = loops.get((stop.on, label))
        pipeline = f"the pipeline of {label or 'its loop'} (style stp{_depth_words(loop)})"
        yield (f"{stop.on} holds {stop.held_back} tokens of '{stop.channel}' back in {pipeline}: waiting to read itself, it lets "
               "them out only as further iterations push them. The deeper this pipeline, the deeper the FIFO must be; "
               "a flushing one (style=flp) would hold none")


def _depth_words(loop: LoopSchedule | None) -> str:
    return f", estimated depth {loop.depth}" if loop is not None and loop.depth is not None else ""


def _verdict(deadlock: Deadlock, cures: tuple[Cure, ...], searched: bool, runs: int) -> Iterator[str]:
    match deadlock.cause:
        case "token count":
            yield "no FIFO depth cures this: " + "; ".join(_count_words(stop, deadlock.links) for stop in deadlock.short)
        case "cycle of tasks":
            yield "no FIFO depth cures this: each of these tasks needs a token from the next before it can send its own"
        case "ring":
            yield from _ring_words(deadlock)
        case "unknown":
            yield "the run does not tell which tasks wait for which"
        case "depth":
            yield from _cure_words(deadlock, cures, searched, runs)


def _ring_words(deadlock: Deadlock) -> Iterator[str]:
    """A writer whose pipeline stops as a whole cannot hand over what it filled while it waits for the next block."""
    rings = [circle for circle in deadlock.circles if circle.full and not deadlock.enlargeable(circle)]
    stops = [stop for circle in rings for stop in circle.stops if stop.waits_to == "write"]
    keepers = [stop for stop in stops if stop.held_back]
    for stop in keepers:
        pipeline = f"the pipeline of {stop.loop or 'its loop'}"
        yield (f"no FIFO depth cures this: {stop.task} keeps {stop.held_back} filled blocks of '{stop.channel}' in {pipeline} "
               "(style stp), which stands still while it waits for another; a flushing one (style=flp) would hand them over")
    if not keepers:
        yield (f"no FIFO depth cures this: what is full is {_names(stop.channel for stop in stops)}, a ring of blocks, which holds "
               "one or two; its writer must have no other output whose path meets it again")


def _count_words(stop: Stop, links: Mapping[str, Channel]) -> str:
    if stop.waits_to == "read":
        return (f"{stop.on} has ended after {stop.token} tokens of '{stop.channel}', but {stop.task} wants more: "
                f"make their loops agree{_declared(stop, links)}")
    return (f"{stop.on} has ended, but {stop.task} still has tokens of '{stop.channel}' to write after {stop.token}: "
            f"make their loops agree{_declared(stop, links)}")


def _declared(stop: Stop, links: Mapping[str, Channel]) -> str:
    return f" (the manifest says {links[stop.channel].tokens})" if stop.channel in links else ""


def _cure_words(deadlock: Deadlock, cures: tuple[Cure, ...], searched: bool, runs: int) -> Iterator[str]:
    full = {stop.channel: stop for circle in deadlock.circles for stop in circle.stops if stop.waits_to == "write"}
    if not searched:
        known = f"the least depth was not found within {runs} runs" if runs else "the least depth was not looked for"
        yield f"too shallow: {_names(full)}; {known}"
        return
    if not cures:
        yield "no FIFO depth was found that cures this"
        return
    for number, cure in enumerate(cures):
        what = " and ".join(_enlarge(name, depth, full.get(name)) for name, depth in cure.depths.items())
        alone = "" if len(cure.depths) == 1 else "no single FIFO cures this; the smallest set found: "
        yield f"{'or: ' if number else alone}{what}"
    yield f"found by {runs} runs: with these depths the design ends, with any of them one less it does not"


def _enlarge(name: str, depth: int, stop: Stop | None) -> str:
    if stop is None:
        return f"set the depth of FIFO '{name}' to at least {depth}"
    state = f"{stop.occupancy} of {stop.depth}, stopped at token {stop.token}"
    return f"FIFO '{name}' is full ({state}): set its depth to at least {depth}"


def _names(names: Iterable[str]) -> str:
    shown = list(names)
    return ", ".join(shown[:MOST_NAMES]) + (f" and {len(shown) - MOST_NAMES} more" if len(shown) > MOST_NAMES else "")


MOST_NAMES = 12
