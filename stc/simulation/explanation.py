"""Why a run that ended in a deadlock did so, and the least change of FIFO depths that fixes it, in words a person can act on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from stc.fifo.depth_search import SizedFifo
from stc.manifest.schema import OWN_KERNEL, LoopSchedule, Manifest
from stc.network.graph import Channel
from stc.network.waits import Cause, Diagnosis, Stop, WaitCycle
from stc.simulation.csim import BlockedTask
from stc.simulation.fixes import MOST_RUNS, DepthsIgnored, Fix, OutOfRuns, Rerun, Run, Trials, joint_fix, single_fixes
from stc.simulation.task_graphs import task_graphs

STUCK = ("deadlock", "livelock")
MOST_DEPTH = 1 << 20
"""The largest depth that is tried where the manifest does not say how many tokens there are."""


@dataclass(frozen=True)
class Explanation:
    """Why nothing could go on.

    `diagnosis`: who waits for whom; where no depth helps, what is left with larger FIFOs. `fixes`: each fixes it alone, cheapest
    first; none where no depth does, or where the search was not finished (`searched`).
    """

    cause: Cause
    diagnosis: Diagnosis
    fixes: tuple[Fix, ...]
    searched: bool
    runs: int
    text: str

    @property
    def culprits(self) -> tuple[str, ...]:
        """The FIFOs whose depth is at fault: each that fixes the deadlock alone, or the set that does so together."""
        return tuple(dict.fromkeys(name for fix in self.fixes for name in fix.depths))

    def as_json(self) -> dict[str, Any]:
        found = {"cause": self.cause, **self.diagnosis.as_json(), "fixes": [asdict(fix) for fix in self.fixes]}
        return {**found, "searched": self.searched, "runs": self.runs, "text": self.text, "culprits": self.culprits}


def explain(
    manifest: Manifest, result: Run, rerun: Rerun | None = None, most_runs: int = MOST_RUNS
) -> Explanation | None:
    """Why `result` could not go on, or left tokens behind; None where it is neither.

    `rerun` runs the same design with some FIFO depths replaced (the rest as in `result`), for the least depths that fix it;
    without it the cause is told, but no fix.
    """
    found = _explained(manifest, result, rerun, most_runs)
    if found is None or found.cause != "token count":
        return found
    return replace(found, text="\n".join([found.text, *_declarations(manifest, found.text)]))


def _explained(manifest: Manifest, result: Run, rerun: Rerun | None, most_runs: int) -> Explanation | None:
    if result.outcome == "leftover":
        return Explanation("token count", Diagnosis(()), (), False, 0, _leftover_words(result))
    if result.outcome not in STUCK:
        return None
    return _Deadlock(manifest, Trials(rerun or _no_run, most_runs)).explained(result, rerun is not None)


def _no_run(depths: Mapping[str, int]) -> Run:
    raise OutOfRuns


class _Deadlock:
    """The search for what fixes a run of the design of `manifest`."""

    def __init__(self, manifest: Manifest, trials: Trials):
        self.channels: dict[str, Channel] = {c.name: c for graph in task_graphs(manifest) for c in graph.channels}
        self.loops = {(loop.task, loop.label): loop for kernel in manifest.kernels for loop in kernel.schedule}
        self.trials = trials

    def explained(self, result: Run, may_run: bool) -> Explanation:
        """`may_run`: whether there is a way to run the design again."""
        first = left = self._diagnosed(result)
        fixes, searched = (), False
        if may_run and first.cause == "depth":
            try:
                fixes, left = self._search(first)
                searched = True
            except (OutOfRuns, DepthsIgnored):
                pass
        runs, text = self.trials.runs, list(self._situation(first))
        if not isinstance(left, Diagnosis):
            cause = "token count" if left.outcome == "leftover" else "unknown"
            text += ["with larger FIFOs it goes on, but fails:", _leftover_words(left)]
            return Explanation(cause, first, (), True, runs, "\n".join(text))
        if left is not first:
            text += ["with larger FIFOs it goes on, but not to its end:", *self._situation(left)]
        text += self._verdict(left, fixes, searched, runs)
        return Explanation(left.cause, left, fixes, searched, runs, "\n".join(text))

    def _diagnosed(self, result: Run) -> Diagnosis:
        return Diagnosis(self._stop(task) for task in result.blocked)

    def _stop(self, task: BlockedTask) -> Stop:
        channel = self.channels.get(task.channel)
        token = task.tokens_read if task.waits_to == "read" else task.tokens_written - task.held_back
        tokens = channel.tokens if channel is not None and channel.tokens > 0 else None
        at = (task.task, task.waits_to, task.channel, task.kind, task.peer, task.occupancy, task.depth)
        return Stop(*at, token, tokens, task.held_back, task.loop, task.line)

    def _fifo(self, stop: Stop) -> SizedFifo:
        """A FIFO that is full: as deep as its tokens are many is always enough."""
        assert stop.depth is not None
        channel = self.channels.get(stop.channel)
        return SizedFifo(stop.channel, channel.bits if channel is not None else 1, stop.tokens or MOST_DEPTH, floor=stop.depth)

    def _search(self, first: Diagnosis) -> tuple[tuple[Fix, ...], Diagnosis | Run]:
        """The fixes; and where there are none, what is left with the FIFOs enlarged: waits, or a run that failed otherwise."""
        everywhere = set(first.wait_cycles[0].full).intersection(*(cycle.full for cycle in first.wait_cycles))
        alone = [self._fifo(stop) for stop in first.wait_cycles[0].enlargeable if stop.channel in everywhere]
        if fixes := single_fixes(alone, self.trials):
            return tuple(fixes), first
        fifos: dict[str, SizedFifo] = {}
        left = first
        while left.cause == "depth":
            full = [stop for cycle in left.wait_cycles for stop in cycle.enlargeable]
            new = {stop.channel: self._fifo(stop) for stop in full if stop.channel not in fifos}
            if not new:
                break
            fifos |= new
            result = self.trials.run({name: fifo.tokens for name, fifo in fifos.items()})
            if result.outcome == "finished":
                fix = joint_fix(list(fifos.values()), self.trials)
                return ((fix,) if fix is not None else ()), first
            if result.outcome not in STUCK:
                return (), result
            left = self._diagnosed(result)
        return (), left

    # Words ------------------------------------------------------------------------------------------------------------

    def _situation(self, diagnosis: Diagnosis) -> Iterator[str]:
        for cycle in diagnosis.wait_cycles:
            yield f"{len(cycle.stops)} tasks wait for each other:"
            yield from (f"  {stop.text}" for stop in cycle.stops)
            if cycle.full and cycle.empty:
                yield (f"paths part at {_names(cycle.parts)} and meet at {_names(cycle.meets)}: "
                       f"full on one side {_names(cycle.full)}, empty on the other {_names(cycle.empty)}")
            yield from self._held_words(cycle)
        for stop in diagnosis.short:
            yield f"{stop.text}, which has ended"
        if diagnosis.behind:
            yield f"held up behind them: {_names(diagnosis.behind)}"

    def _held_words(self, cycle: WaitCycle) -> Iterator[str]:
        """A pipeline that stops as a whole keeps what it has computed while it waits to read; one that waits for room keeps it in
        any style."""
        at = {stop.task: stop for stop in cycle.stops}
        for stop in cycle.stops:
            if stop.waits_to != "read" or not stop.held_back or stop.on not in at or at[stop.on].waits_to != "read":
                continue
            label = at[stop.on].loop
            pipeline = f"the pipeline of {label or 'its loop'} (style stp{_depth_words(self.loops.get((stop.on, label)))})"
            yield (f"{stop.on} holds {stop.held_back} tokens of '{stop.channel}' back in {pipeline}: waiting to read itself, it "
                   "lets them out only as further iterations push them. The deeper this pipeline, the deeper the FIFO must be; "
                   "a flushing one (style=flp) would hold none")

    def _verdict(self, diagnosis: Diagnosis, fixes: tuple[Fix, ...], searched: bool, runs: int) -> Iterator[str]:
        match diagnosis.cause:
            case "token count":
                yield "no FIFO depth fixes this: " + "; ".join(self._count_words(stop) for stop in diagnosis.short)
            case "cycle of tasks":
                yield "no FIFO depth fixes this: each of these tasks needs a token from the next before it can send its own"
            case "ring":
                yield from _ring_words(diagnosis)
            case "unknown":
                yield "the run does not tell which tasks wait for which"
            case "depth":
                yield from _fix_words(diagnosis, fixes, searched, runs)

    def _count_words(self, stop: Stop) -> str:
        declared = f" (the manifest says {self.channels[stop.channel].tokens})" if stop.channel in self.channels else ""
        return f"{stop.disagreement}: make their loops agree{declared}"


def _leftover_words(result: Run) -> str:
    words = result.explanation or result.outcome
    return f"{words}\nno FIFO depth fixes this: make the loops of both sides agree" if result.outcome == "leftover" else words


def _declarations(manifest: Manifest, text: str) -> Iterator[str]:
    """Own kernels at the ends of the FIFOs that `text` names: what the manifest says of them is no more than declared."""
    for kernel in manifest.kernels:
        own = {task.name for task in kernel.tasks if task.kind == OWN_KERNEL}
        for stream in kernel.streams:
            for task, verb in ((stream.producer, "writes"), (stream.consumer, "reads")):
                if task in own and f"'{stream.name}'" in text:
                    yield f"own kernel {task} declares that it {verb} {stream.tokens} tokens of '{stream.name}': see its C++"


def _depth_words(loop: LoopSchedule | None) -> str:
    return f", estimated depth {loop.depth}" if loop is not None and loop.depth is not None else ""


def _ring_words(diagnosis: Diagnosis) -> Iterator[str]:
    """A writer whose pipeline stops as a whole cannot release what it filled while it waits for the next block."""
    rings = [cycle for cycle in diagnosis.wait_cycles if cycle.full and not cycle.enlargeable]
    stops = [stop for cycle in rings for stop in cycle.stops if stop.waits_to == "write"]
    keepers = [stop for stop in stops if stop.held_back]
    for stop in keepers:
        pipeline = f"the pipeline of {stop.loop or 'its loop'}"
        yield (f"no FIFO depth fixes this: {stop.task} keeps {stop.held_back} filled blocks of '{stop.channel}' in {pipeline} "
               "(style stp), which stands still while it waits for another; a flushing one (style=flp) would hand them over")
    if not keepers:
        yield (f"no FIFO depth fixes this: what is full is {_names(stop.channel for stop in stops)}, a ring of blocks, which holds "
               "one or two; its writer must have no other output whose path meets it again")


def _fix_words(diagnosis: Diagnosis, fixes: tuple[Fix, ...], searched: bool, runs: int) -> Iterator[str]:
    full = {stop.channel: stop for cycle in diagnosis.wait_cycles for stop in cycle.stops if stop.waits_to == "write"}
    if not searched:
        known = f"the least depth was not found within {runs} runs" if runs else "the least depth was not looked for"
        yield f"too shallow: {_names(full)}; {known}"
        return
    if not fixes:
        yield "no FIFO depth was found that fixes this"
        return
    for number, fix in enumerate(fixes):
        what = " and ".join(_enlarge(name, depth, full.get(name)) for name, depth in fix.depths.items())
        alone = "" if len(fix.depths) == 1 else "no single FIFO fixes this; the smallest set found: "
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
