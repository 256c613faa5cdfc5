"""What a task waits for over time, and who is to blame."""

from __future__ import annotations

from pathlib import Path

import pytest
from handmade import Handmade, fifo, loop, manifest

from stc.diagnostics import CompileError
from stc.simulation.csim import CsimResult
from stc.simulation.simulate import FifoTime, SimulationResult, TaskTime, Wait
from stc.simulation.waiting import MOST_PHASES, waiting_of

pytestmark = pytest.mark.heavy

SLOW_MIDDLE = """
static void make(const int *x, hls::stream<int> &a) {
  make_loop: for (int i = 0; i < 100; i++) {
#pragma HLS pipeline II=1 style=flp
    a.write(x[i]);
  }
}
static void middle(hls::stream<int> &a, hls::stream<int> &b) {
  middle_loop: for (int i = 0; i < 100; i++) {
#pragma HLS pipeline II=5 style=flp
    b.write(a.read());
  }
}
static void pass(hls::stream<int> &b, hls::stream<int> &c) {
  pass_loop: for (int i = 0; i < 100; i++) {
#pragma HLS pipeline II=1 style=flp
    c.write(b.read());
  }
}
static void take(hls::stream<int> &c, int *y) {
  take_loop: for (int i = 0; i < 100; i++) {
#pragma HLS pipeline II=1 style=flp
    y[i] = c.read();
  }
}
extern "C" void top(const int *x, int *y) {
#pragma HLS dataflow
  hls::stream<int, 2> a("a"), b("b"), c("c");
  make(x, a); middle(a, b); pass(b, c); take(c, y);
}
"""
LOOPS = [loop("make", "make_loop", 100, writes="a"), loop("middle", "middle_loop", 100, reads="a", writes="b", ii=5),
         loop("pass", "pass_loop", 100, reads="b", writes="c"), loop("take", "take_loop", 100, reads="c")]


@pytest.fixture(scope="module")
def slow_middle(tmp_path_factory: pytest.TempPathFactory, headers: Path) -> SimulationResult:
    streams = [fifo("a", "make", "middle", 100), fifo("b", "middle", "pass", 100), fifo("c", "pass", "take", 100)]
    return Handmade(SLOW_MIDDLE, manifest(streams, LOOPS), tmp_path_factory.mktemp("waiting"), headers).run({})


@pytest.mark.parametrize(("task", "what"), [("make", "waits to write a"), ("take", "waits to read c")])
def test_the_slowest_task_is_to_blame_from_both_ends(slow_middle: SimulationResult, task: str, what: str) -> None:
    """Iterations of 5 cycles in the middle: everybody else loses four of five, and the chain of causes ends there."""
    found = waiting_of(slow_middle, task)
    assert next(iter(found.lost)) == what and 0.75 < found.lost[what] < 0.85
    assert 0.15 < found.busy < 0.25
    assert abs(found.busy + sum(found.lost.values()) - 1) < 1e-9
    assert next(iter(found.roots)) == "middle works"
    assert found.roots["middle works"] > 0.7
    assert 1 <= len(found.phases) <= MOST_PHASES


def test_the_chain_goes_through_the_tasks_between(slow_middle: SimulationResult) -> None:
    found = waiting_of(slow_middle, "take")
    longest = max(found.phases, key=lambda phase: phase.end - phase.begin)
    assert longest.text.endswith("% of the time waits to read c") and longest.activity == "works and waits"
    assert longest.roots[0].text == "pass waits to read b, because middle works"


def test_the_slowest_task_itself_works(slow_middle: SimulationResult) -> None:
    found = waiting_of(slow_middle, "middle")
    assert found.busy > 0.95 and found.phases[-1].activity == "works"


def test_an_unknown_task_is_refused_with_the_names(slow_middle: SimulationResult) -> None:
    with pytest.raises(CompileError, match="no task is called 'nobody'; accepted: make, middle, pass, take"):
        waiting_of(slow_middle, "nobody")


# Made-up runs: what each task does in each cycle is known -------------------------------------------------------------


def _task(name: str, end: int, *waits: Wait) -> TaskTime:
    reading = sum(wait.cycles for wait in waits if wait.reads)
    writing = sum(wait.cycles for wait in waits if not wait.reads)
    return TaskTime(name, ((0, end),), reading, writing, waits)


def _run(tasks: list[TaskTime], fifos: dict[str, tuple[str, str]]) -> SimulationResult:
    values = CsimResult("finished", True, None, 0.0, 0.0, False)
    times = tuple(FifoTime(name, 2, 1, 1, 0, 0, producer, consumer, (), ()) for name, (producer, consumer) in fifos.items())
    return SimulationResult(values, {}, None, 0, None, tuple(tasks), times)


def test_a_long_wait_is_divided_among_those_who_work_in_turn() -> None:
    """c waits 100 cycles for b, which waits 60 of them for a; a waits 20 for memory: 20 % memory, 40 % a, 40 % b."""
    tasks = [
        _task("a", 60, Wait("external memory", True, 0, 20, 20)),
        _task("b", 100, Wait("x", True, 0, 60, 60)),
        _task("c", 110, Wait("y", True, 0, 100, 100)),
    ]
    found = waiting_of(_run(tasks, {"x": ("a", "b"), "y": ("b", "c")}), "c")
    assert [(phase.begin, phase.end, phase.text) for phase in found.phases] == [(0, 100, "waits to read y"), (100, 110, "works")]
    assert {root.text: round(root.share, 6) for root in found.phases[0].roots} == {
        "b works": 0.4,
        "b waits to read x, because a works": 0.4,
        "b waits to read x, because a waits for external memory to deliver words": 0.2,
    }
    assert found.roots["a works"] == pytest.approx(40 / 110)
    assert found.lost == {"waits to read y": pytest.approx(100 / 110)} and found.busy == pytest.approx(10 / 110)


def test_waits_of_a_wait_cycle_end() -> None:
    """A fork that waits for room while the join waits for its tokens on the other side."""
    tasks = [_task("fork", 50, Wait("x", False, 0, 50, 50)), _task("join", 50, Wait("y", True, 0, 50, 50))]
    found = waiting_of(_run(tasks, {"x": ("fork", "join"), "y": ("fork", "join")}), "join")
    assert [root.text for root in found.phases[0].roots] == [
        "fork waits to write x, because join waits in turn for what is told here already"
    ]


def test_many_short_waits_are_told_in_few_phases_without_losing_cycles() -> None:
    waits = [Wait("x", True, 10 * k, 10 * k + 9, 9) for k in range(50)] + [Wait("y", False, 600, 1000, 400)]
    tasks = [_task("a", 1000), _task("b", 1000, *waits), _task("c", 1000)]
    found = waiting_of(_run(tasks, {"x": ("a", "b"), "y": ("b", "c")}), "b")
    assert len(found.phases) <= MOST_PHASES
    assert sum(phase.lost for phase in found.phases) == 50 * 9 + 400
    assert found.phases[0].begin == 0 and found.phases[-1].end == 1000
    assert all(first.end == second.begin for first, second in zip(found.phases, found.phases[1:], strict=False))
    assert (found.phases[-1].begin, found.phases[-1].text) == (600, "waits to write y")
