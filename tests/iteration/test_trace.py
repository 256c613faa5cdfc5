"""Traces by hand: trip counts known at run time only, and the rule of pipelines that stop as a whole."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from stc.diagnostics import CompileError
from stc.fifo.token_run import grown_depths
from stc.iteration.firings import firings
from stc.iteration.index_expressions import IndexExpression, Operator, computed, variable
from stc.iteration.size import Entry, Symbol, ceildiv, maximum, product_of, sum_of, value_at
from stc.iteration.task_timeline import loop_of
from stc.iteration.trace import Access, Branch, For, MemoryBeats, Nest, Pipeline, Style, TaskTrace, moving_symbols, steps
from stc.network.graph import Channel

ROWS = Symbol("rows", 12)
LAST = computed(Operator.EQUAL, variable("i"), variable("rows").plus(IndexExpression(-1)))
READ, WRITE = Access("s", False), Access("t", True)


def test_trip_counts_may_be_symbols_and_entries_of_a_table():
    phases = Entry(Symbol("phase", 2), (4, 0, 7))
    inner = For("k", phases, (READ,), merged=False)
    trace = TaskTrace("task", (For("i", ROWS, (inner, Branch(LAST, (WRITE,))), unroll=2), For("j", ceildiv(ROWS, 5), (WRITE,))))
    assert trace.symbols == {"rows", "phase"}
    assert trace.most_per_iteration("s", False) == 1, "known without any values"
    for rows in (0, 1, 7, 12):
        for phase, trips in enumerate(phases.entries):
            found = trace.at({"rows": rows, "phase": phase})
            assert not found.symbols
            assert found.tokens("s", False) == rows * trips
            assert found.tokens("t", True) == min(rows, 1) + -(-rows // 5)
            assert len(firings(found).moments.get(("s", "read_acquire"), ())) == rows * trips
    with pytest.raises(CompileError, match=r"known at run time only; accepted: TaskTrace\.at"):
        trace.tokens("s", False)
    for values, said in (
        ({"rows": 3}, "symbol 'phase' is None; accepted: a value from 0 to 2"),
        ({"rows": 3, "phase": -1}, "symbol 'phase' is -1; accepted: a value from 0 to 2"),
        ({"rows": 13, "phase": 0}, "symbol 'rows' is 13; accepted: a value from 0 to 12"),
        ({"phase": 0}, "symbol 'rows' is None; accepted: a value from 0 to 12"),
    ):
        with pytest.raises(CompileError) as raised:
            trace.at(values)
        assert str(raised.value) == said


def test_what_depends_on_no_symbol_is_the_same_at_all_its_values():
    """Neither trip counts nor guards do: then one trace is asked for tokens and firings, once."""
    at_rows = computed(Operator.EQUAL, variable("i"), variable("rows"))
    some = For("j", ROWS, (WRITE,))
    for body, counts, is_same in (
        (For("i", 3, (WRITE,)), [3, 3], True),
        (For("i", 3, (Branch(variable("i"), (WRITE,)),)), [2, 2], True),
        (For("i", sum_of(ROWS, 1), (WRITE,)), [2, 6], False),
        (For("i", 13, (some,)), [13, 65], False),
        (For("i", 13, (Branch(at_rows, (WRITE,)),)), [1, 1], False),
        (For("i", 13, (Branch(variable("i"), (), (some,)),)), [1, 5], False),
    ):
        trace = TaskTrace("task", (body,))
        found = [trace.at({"rows": rows}) for rows in (1, 5)]
        assert [at.tokens("t", True) for at in found] == counts
        assert [at is trace for at in found] == [is_same, is_same]
        assert moving_symbols([ROWS], [trace]) == (() if is_same else (ROWS,))


@pytest.mark.parametrize("step", [1, 3])
def test_a_guard_to_the_last_of_a_run_time_number_of_iterations(step: int):
    """Tokens under it are a size, in closed form; other guards on such a loop are counted at values only."""
    trips = sum_of(ROWS, 1)
    last = computed(Operator.EQUAL, variable("i"), variable("rows").times(step))
    third = computed(Operator.EQUAL, variable("k"), IndexExpression(3))
    both, other = computed(Operator.MIN, last, third), computed(Operator.EQUAL, variable("i"), IndexExpression(0))

    def trace(condition: IndexExpression[Any]) -> TaskTrace:
        inner = For("k", 5, (READ, Branch(condition, (WRITE,))))
        return TaskTrace("task", (For("j", ROWS, (For("i", trips, (inner,), step=step),)),))

    for condition, size in ((last, product_of(ROWS, 5)), (both, ROWS)):
        assert trace(condition).token_size("t", True) == size
        for rows in (0, 1, 7, 12):
            assert trace(condition).at({"rows": rows}).tokens("t", True) == value_at(size, {"rows": rows})
        assert trace(condition).largest.tokens("t", True) == maximum(size)
    with pytest.raises(CompileError, match="known at run time only"):
        trace(other).token_size("t", True)
    unguarded = For("i", ROWS, (Branch(LAST, (WRITE,)),))
    with pytest.raises(CompileError, match="control depends on data"):
        TaskTrace("task", (unguarded,)).token_size("t", True)


def nest(style: Style, interval: int = 1, depth: int = 10, count: int = 40, memory: MemoryBeats | None = None) -> Nest:
    loop = For("i", count, (READ, WRITE), pipeline=Pipeline(interval, depth, style, memory))
    found = steps(TaskTrace("task", (loop,)))
    assert isinstance(found, Nest)
    return found


@pytest.mark.parametrize("interval", [1, 2, 3])
def test_what_a_pipeline_that_stops_holds_back(interval: int):
    """Token by token: a token is as late as the pipeline has stood still for reads no later than its write."""
    depth, count = 10, 40
    stopping, flushing = loop_of(nest("stp", interval, depth, count)), loop_of(nest("flp", interval, depth, count))
    ready = np.zeros(count, dtype=np.int64)
    ready[20:] = 500  # the 21st token comes late
    read = flushing.issued(ready) + 1
    extended = np.concatenate([ready, np.zeros(stopping.count - count, dtype=np.int64)])
    issues = stopping.issued(extended)
    assert (issues[:count] + 1 == read).all(), "tokens are read when they come, whatever the style"
    written = issues[stopping.iterations["t", True]] + stopping.late["t", True]
    for token, at in enumerate(written.tolist()):
        due = token * interval + depth - 1                    # in cycles of the pipeline, which do not pass while it stands
        stopped = max((int(read[n]) - (n * interval + 1) for n in range(count) if n * interval + 1 <= due), default=0)
        assert at == due + stopped, token
    assert written[19] > 500 > (flushing.issued(ready)[19] + flushing.late["t", True][19])
    assert stopping.tail + int(stopping.unhindered[-1]) == flushing.tail + int(flushing.unhindered[-1]), "it ends as late"


def test_a_fifo_beside_a_pipeline_that_stops_bridges_it():
    every = For("i", 100, (Access("a", True), Access("b", True)), pipeline=Pipeline(1, 1))
    join = For("i", 100, (Access("p", False), Access("b", False)), pipeline=Pipeline(1, 3))
    depths: dict[Style, int] = {}
    for style in ("stp", "frp", "flp"):
        middle = For("i", 100, (Access("a", False), Access("p", True)), pipeline=Pipeline(1, 20, style))
        traces = [TaskTrace("fork", (every,)), TaskTrace("middle", (middle,)), TaskTrace("join", (join,))]
        channels = [Channel(name, "", "", 100, 2, 32) for name in "abp"]
        depths[style] = grown_depths([firings(trace) for trace in traces], channels)["b"]
    assert depths["frp"] == depths["flp"] == 2 and 18 <= depths["stp"] <= 20


def test_words_of_memory_are_held_back_as_well():
    cycles_per_beat = MemoryBeats(0, 1_500_000, True)
    stopping = loop_of(nest("stp", memory=cycles_per_beat))
    assert stopping.drain == 8 and stopping.count == 48
    taken = stopping.issued(np.zeros(48, dtype=np.int64))
    assert np.diff(taken)[:7].tolist() == [1] * 7 and int(taken[-1] - taken[8]) == -(-39 * 3 // 2)
