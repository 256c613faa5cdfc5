"""The critical path of runs small enough to follow by hand."""

from __future__ import annotations

import pytest

from stc.simulation.critical_path import PathShare, critical_path, summary
from stc.simulation.csim import CsimResult
from stc.simulation.simulate import MEMORY, FifoTime, SimulationResult, TaskTime, Wait

pytestmark = pytest.mark.heavy


def _run(tasks: list[TaskTime], fifos: list[FifoTime], *ends: int) -> SimulationResult:
    values = CsimResult("finished", True, None, 1.0, 0.0, False)
    names = tuple(task.name for task in tasks)
    return SimulationResult(values, {"top": ends}, None, 0, None, tuple(tasks), tuple(fifos), kernel_tasks={"top": names})


def _task(name: str, end: int, *waits: Wait, begin: int = 0) -> TaskTime:
    lost = {side: sum(w.cycles for w in waits if w.reads is side) for side in (True, False)}
    return TaskTime(name, ((begin, end),), lost[True], lost[False], waits)


def _fifo(name: str, producer: str, consumer: str, latency: int = 1, lead: int = 0) -> FifoTime:
    return FifoTime(name, 2, 9, 2, 0, 0, producer, consumer, (), (), latency=latency, lead=lead)


def _wait(channel: str, reads: bool, begin: int, end: int, cycles: int | None = None, peer: str = "") -> Wait:
    return Wait(channel, reads, begin, end, end - begin if cycles is None else cycles, peer)


def _told(result: SimulationResult) -> list[tuple[str, str, int, int]]:
    return [(part.kind, part.channel or part.task, part.begin, part.end) for part in critical_path(result)]


def test_a_consumer_that_waits_leads_to_its_producer() -> None:
    """The token was written at 58 by an iteration that issued 6 cycles before: the wait that ended at 55 is another iteration's."""
    slow = _task("slow", 60, _wait(MEMORY, True, 0, 20), _wait("in", True, 53, 55))
    last = _task("last", 90, _wait("s", True, 5, 60))
    run = _run([slow, last], [_fifo("s", "slow", "last", latency=2, lead=6), _fifo("in", "nobody", "slow")], 90)
    assert _told(run) == [("memory", "slow", 0, 20), ("work", "slow", 20, 58), ("fifo", "s", 58, 60), ("work", "last", 60, 90)]
    assert summary(critical_path(run)) == (
        PathShare("work", "slow", 38), PathShare("work", "last", 30), PathShare("memory", "slow", 20), PathShare("fifo", "s", 2)
    )


def test_a_producer_that_waits_for_room_leads_to_its_consumer() -> None:
    writer = _task("writer", 70, _wait("s", False, 10, 50))
    reader = _task("reader", 60)
    run = _run([writer, reader], [_fifo("s", "writer", "reader")], 70)
    assert _told(run) == [("work", "reader", 0, 49), ("fifo", "s", 49, 50), ("work", "writer", 50, 70)]


def test_a_released_variable_leads_to_the_task_that_wrote_it() -> None:
    run = _run([_task("first", 40), _task("second", 65, _wait("x", True, 0, 40, peer="first"))], [], 65)
    assert _told(run) == [("work", "first", 0, 40), ("work", "second", 40, 65)]


def test_tasks_that_wait_in_turn_are_told_as_one_wait_cycle() -> None:
    """Between 10 and 1010 each works a tenth of the time; the FIFOs' latencies are the rest."""
    there = _task("there", 1010, _wait("back", True, 10, 1009, 900))
    other = _task("other", 1000, _wait("forth", True, 5, 1010, 900))
    fifos = [_fifo("forth", "there", "other", latency=2), _fifo("back", "other", "there", latency=2)]
    parts = critical_path(_run([there, other], fifos, 1010))
    assert sum(part.cycles for part in parts) == 1010
    shares = {(share.kind, share.name): share.cycles for share in summary(parts)}
    assert shares["fifo", "forth"] + shares["fifo", "back"] == pytest.approx(800, abs=30)
    assert shares["work", "other"] == pytest.approx(100, abs=30)


def test_later_calls_lead_to_earlier_ones_and_inner_tasks_to_outer() -> None:
    again = TaskTime("again", ((0, 30), (30, 75)), 0, 0, ())
    assert _told(_run([again], [], 75)) == [("work", "again", 0, 75)]
    outer, inner = _task("outer", 80, begin=20), _task("outer.inner", 80, begin=35)
    before = _task("before", 20)
    parts = _told(_run([outer, inner, before], [], 80))
    assert parts[-1] == ("work", "outer.inner", 35, 80) and ("work", "outer", 20, 35) in parts
    assert sum(end - begin for *_, begin, end in parts) == 80


def test_only_the_first_invocation_counts_and_a_run_without_end_has_no_path() -> None:
    twice = TaskTime("twice", ((0, 30), (30, 60)), 0, 0, ())
    assert _told(_run([twice], [], 30, 60)) == [("work", "twice", 0, 30)]
    stuck = _run([twice], [], 30)
    values = CsimResult("deadlock", False, "why", 1.0, 0.0, False)
    assert critical_path(SimulationResult(values, {}, None, 0, None, stuck.tasks, (), kernel_tasks=stuck.kernel_tasks)) == ()
