"""Why designs deadlock: the FIFO that is named, and the least depth, against trying every depth."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from handmade import Handmade, fifo, fork_join, loop, manifest

from stc.manifest.schema import Manifest
from stc.simulation.explanation import Explanation, explain

pytestmark = pytest.mark.heavy

Make = Callable[..., Handmade]


@pytest.fixture
def make(tmp_path: Path, headers: Path) -> Make:
    return lambda kernel, content, **more: Handmade(kernel, content, tmp_path, headers, **more)


def explained(design: Handmade, depths: Mapping[str, int], **more: int) -> Explanation:
    """Explains the run at `depths`, which must not end."""
    result = design.run(depths).values
    found = explain(design.manifest, result, lambda change: design.run({**depths, **change}).values, **more)
    assert found is not None
    return found


FORK_JOIN_MANIFEST = manifest(
    [fifo("direct", "split", "join", 16), fifo("around", "split", "total", 16), fifo("sum", "total", "join", 1)]
)


@pytest.fixture(scope="module")
def design(tmp_path_factory: pytest.TempPathFactory, headers: Path) -> Handmade:
    return Handmade(fork_join(2), FORK_JOIN_MANIFEST, tmp_path_factory.mktemp("fork_join"), headers)


def test_the_full_side_of_a_fork_is_named_with_its_least_depth(design: Handmade) -> None:
    found = explained(design, {})
    assert found.cause == "depth" and found.culprits == ("direct",)
    assert [dict(fix.depths) for fix in found.fixes] == [{"direct": design.least("direct", {}, 16)}] == [{"direct": 16}]
    assert found.fixes[0].added_bits == 14 * 32
    (cycle,) = found.diagnosis.wait_cycles
    assert (cycle.parts, cycle.meets, cycle.full, cycle.empty) == (("split",), ("join",), ("direct",), ("sum", "around"))
    split = cycle.stops[0]
    assert (split.task, split.waits_to, split.on, split.loop) == ("split", "write", "join", "split_loop")
    assert (split.occupancy, split.depth, split.token, split.tokens) == (2, 2, 2, 16)
    assert "FIFO 'direct' is full (2 of 2, stopped at token 2): set its depth to at least 16" in found.text
    assert "paths part at split and meet at join: full on one side direct, empty on the other sum, around" in found.text
    assert "waits to read token 0 of 1 of 'sum', empty (0 of 2), for total" in found.text


def test_a_run_that_ends_needs_no_explanation(design: Handmade) -> None:
    assert explain(design.manifest, design.run({"direct": 16}).values, None) is None


def test_without_runs_the_cause_is_told_but_no_depth(design: Handmade) -> None:
    found = explain(design.manifest, design.run({}).values)
    assert found is not None and not found.searched and found.fixes == ()
    assert "too shallow: direct; the least depth was not looked for" in found.text
    few = explained(design, {}, most_runs=2)
    assert not few.searched and few.runs == 2 and "was not found within 2 runs" in few.text


NESTED = """
static void outer(hls::stream<int> &a, hls::stream<int> &b) {
  outer_loop: for (int i = 0; i < 24; i++) {
#pragma HLS pipeline II=1 style=flp
    a.write(i); b.write(i);
  }
}
static void inner(hls::stream<int> &a, hls::stream<int> &c, hls::stream<int> &d) {
  inner_loop: for (int i = 0; i < 24; i++) {
#pragma HLS pipeline II=1 style=flp
    const int v = a.read();
    c.write(v); d.write(v);
  }
}
static void gather(hls::stream<int> &c, hls::stream<int> &d, hls::stream<int> &e) {   // a group of 5 of c before its 5 of d
  gather_groups: for (int g = 0; g < 5; g++) {
    const int n = g < 4 ? 5 : 4;
    int sum = 0;
    for (int i = 0; i < n; i++) {
#pragma HLS pipeline II=1 style=flp
      sum += c.read();
    }
    for (int i = 0; i < n; i++) {
#pragma HLS pipeline II=1 style=flp
      e.write(d.read() + sum);
    }
  }
}
static void last(hls::stream<int> &b, hls::stream<int> &e, int *y) {                   // groups of 7 of e before their b
  last_groups: for (int g = 0; g < 24; g += 7) {
    const int n = g + 7 < 24 ? 7 : 24 - g;
    int sum = 0;
    for (int i = 0; i < n; i++) {
#pragma HLS pipeline II=1 style=flp
      sum += e.read();
    }
    for (int i = 0; i < n; i++) {
#pragma HLS pipeline II=1 style=flp
      y[i] = b.read() + sum;
    }
  }
}
extern "C" void top(const int *x, int *y) {
#pragma HLS dataflow
  hls::stream<int, 2> a("a"), b("b"), c("c"), d("d"), e("e");
  outer(a, b);
  inner(a, c, d);
  gather(c, d, e);
  last(b, e, y);
}
"""
NESTED_MANIFEST = manifest(
    [fifo("a", "outer", "inner", 24), fifo("b", "outer", "last", 24), fifo("c", "inner", "gather", 24),
     fifo("d", "inner", "gather", 24), fifo("e", "gather", "last", 24)]
)


@pytest.fixture(scope="module")
def nested(tmp_path_factory: pytest.TempPathFactory, headers: Path) -> Handmade:
    return Handmade(NESTED, NESTED_MANIFEST, tmp_path_factory.mktemp("nested"), headers)


@pytest.mark.parametrize(
    ("depths", "culprit", "parts", "meets"),
    [({"b": 24}, "d", "inner", "gather"), ({"d": 24}, "b", "outer", "last"), ({"b": 24, "c": 7}, "d", "inner", "gather")],
)
def test_nested_paths_name_their_own_fork_and_join(
    nested: Handmade, depths: dict[str, int], culprit: str, parts: str, meets: str
) -> None:
    found = explained(nested, depths)
    assert (found.diagnosis.wait_cycles[0].parts, found.diagnosis.wait_cycles[0].meets) == ((parts,), (meets,))
    assert culprit in found.culprits
    for fix in found.fixes:
        ((name, depth),) = fix.depths.items()
        assert depth == nested.least(name, depths, 24)


def test_where_two_fifos_are_too_shallow_the_smallest_set_is_said(nested: Handmade) -> None:
    found = explained(nested, {})
    assert "no single FIFO fixes this; the smallest set found: " in found.text
    (fix,) = found.fixes
    assert len(fix.depths) == 2 and set(found.culprits) == set(fix.depths)
    assert nested.ends(fix.depths)
    for name, depth in fix.depths.items():
        assert not nested.ends({**fix.depths, name: depth - 1})
        assert not nested.ends({other: depth for other, depth in fix.depths.items() if other != name})


SERIES = """
static void split(const int *x, hls::stream<int> &a, hls::stream<int> &b) {
  split_bursts: for (int i = 0; i < 20; i += 5) {          // 5 of a, then 5 of b
    for (int k = 0; k < 5; k++) {
#pragma HLS pipeline II=1 style=flp
      a.write(x[i + k]);
    }
    for (int k = 0; k < 5; k++) {
#pragma HLS pipeline II=1 style=flp
      b.write(x[i + k]);
    }
  }
}
static void relay(hls::stream<int> &a, hls::stream<int> &c) {
  relay_loop: for (int i = 0; i < 20; i++) {
#pragma HLS pipeline II=1 style=flp
    c.write(a.read());
  }
}
static void join(hls::stream<int> &b, hls::stream<int> &c, int *y) {
  join_loop: for (int i = 0; i < 20; i++) {
#pragma HLS pipeline II=1 style=flp
    y[i] = b.read() + c.read();
  }
}
extern "C" void top(const int *x, int *y) {
#pragma HLS dataflow
  hls::stream<int, 2> a("a"), b("b"), c("c");
  split(x, a, b);
  relay(a, c);
  join(b, c, y);
}
"""


def test_a_burst_may_be_held_by_either_fifo_on_its_side(make: Make) -> None:
    """5 tokens of one side come before the first of the other: 2 more slots are needed, in whichever of the two FIFOs."""
    content = manifest([fifo("a", "split", "relay", 20), fifo("b", "split", "join", 20), fifo("c", "relay", "join", 20)])
    design = make(SERIES, content)
    found = explained(design, {"a": 1, "c": 1})
    (cycle,) = found.diagnosis.wait_cycles
    assert set(found.culprits) == {"a", "c"} and cycle.full == ("a", "c") and cycle.empty == ("b",)
    for fix in found.fixes:
        ((name, depth),) = fix.depths.items()
        assert depth == design.least(name, {"a": 1, "c": 1}, 20)
    assert "\nor: FIFO" in found.text


def test_a_count_mismatch_is_not_a_matter_of_depth(make: Make) -> None:
    wrong = make(fork_join(2, summed=17), FORK_JOIN_MANIFEST)
    found = explained(wrong, {"direct": 16})
    assert found.cause == "token count" and found.culprits == ()
    assert [(stop.task, stop.on, stop.token) for stop in found.diagnosis.short] == [("total", "split", 16)]
    assert found.diagnosis.behind == ("join",)
    assert "no FIFO depth fixes this: split has ended after 16 tokens of 'around', but total wants more" in found.text
    behind = explained(wrong, {})   # the lack of depth comes first, but is not all
    assert behind.cause == "token count" and behind.fixes == () and behind.searched
    assert "with larger FIFOs it goes on, but not to its end:" in behind.text
    assert "no FIFO depth fixes this: split has ended after 16 tokens of 'around'" in behind.text


def test_a_reader_that_takes_too_few_is_a_mismatch(make: Make) -> None:
    design = make(fork_join(2, summed=11), FORK_JOIN_MANIFEST)
    found = explained(design, {"direct": 16})
    assert found.cause == "token count" and found.diagnosis.short[0].waits_to == "write"
    assert "total has ended, but split still has tokens of 'around' to write after 13" in found.text
    left = explained(design, {"direct": 16, "around": 16})
    assert left.cause == "token count" and "make the loops of both sides agree" in left.text


CYCLE = """
static void ping(hls::stream<int> &there, hls::stream<int> &back, int *y) {
  ping_loop: for (int i = 0; i < 12; i += 3) {
    if (READS_FIRST) for (int k = 0; k < 3; k++) y[i + k] = back.read();
    for (int k = 0; k < 3; k++) there.write(i);
    if (!READS_FIRST) for (int k = 0; k < 3; k++) y[i + k] = back.read();
  }
}
static void pong(hls::stream<int> &there, hls::stream<int> &back) {
  pong_loop: for (int i = 0; i < 12; i += 3) {
    if (READS_FIRST) for (int k = 0; k < 3; k++) there.read();
    for (int k = 0; k < 3; k++) back.write(i);
    if (!READS_FIRST) for (int k = 0; k < 3; k++) there.read();
  }
}
extern "C" void top(const int *x, int *y) {
#pragma HLS dataflow
  hls::stream<int, 2> there("there"), back("back");
  ping(there, back, y);
  pong(there, back);
}
"""
CYCLE_MANIFEST = manifest([fifo("there", "ping", "pong", 12), fifo("back", "pong", "ping", 12)])


def test_a_cycle_of_tasks_that_all_read_first_has_no_fix(make: Make) -> None:
    found = explained(make("#define READS_FIRST true" + CYCLE, CYCLE_MANIFEST), {})
    assert found.cause == "cycle of tasks" and found.culprits == () and found.diagnosis.wait_cycles[0].full == ()
    assert {stop.task for stop in found.diagnosis.wait_cycles[0].stops} == {"ping", "pong"}
    assert "no FIFO depth fixes this: each of these tasks needs a token from the next" in found.text


def test_a_cycle_of_tasks_that_all_write_first_needs_room(make: Make) -> None:
    design = make("#define READS_FIRST false" + CYCLE, CYCLE_MANIFEST)
    found = explained(design, {})
    assert set(found.diagnosis.wait_cycles[0].full) == {"there", "back"} and found.diagnosis.wait_cycles[0].empty == ()
    assert {(name, depth) for fix in found.fixes for name, depth in fix.depths.items()} == {("there", 3), ("back", 3)}
    assert design.least("there", {}, 12) == design.least("back", {}, 12) == 3


STP_MANIFEST = manifest(
    [fifo("a", "split", "pipe", 64), fifo("b", "split", "join", 64), fifo("o", "pipe", "join", 64)],
    [loop("split", "split_loop", 64, writes=("a", "b")), loop("pipe", "pipe_loop", 64, 9, ("a",), ("o",)),
     loop("join", "join_loop", 64, reads=("b", "o"))],
)
STP = """
static void split(const int *x, hls::stream<int> &a, hls::stream<int> &b) {
  split_loop: for (int i = 0; i < 64; i++) {
#pragma HLS pipeline II=1 style=flp
    a.write(x[i]); b.write(x[i]);
  }
}
static void pipe(hls::stream<int> &a, hls::stream<int> &o) {
  pipe_loop: for (int i = 0; i < 64; i++) {
#pragma HLS pipeline II=1 style=stp
    o.write(a.read() + 1);
  }
}
static void join(hls::stream<int> &b, hls::stream<int> &o, int *y) {
  join_loop: for (int i = 0; i < 64; i++) {
#pragma HLS pipeline II=1 style=flp
    y[i] = b.read() + o.read();
  }
}
extern "C" void top(const int *x, int *y) {
#pragma HLS dataflow
  hls::stream<int, 2> a("a"), b("b"), o("o");
  split(x, a, b);
  pipe(a, o);
  join(b, o, y);
}
"""


def test_a_pipeline_that_stops_as_a_whole_is_part_of_the_cause(make: Make) -> None:
    design = make(STP, STP_MANIFEST)
    found = explained(design, {})
    assert found.culprits == ("b",)
    # Tokens 0 to 7 are split when the first is in the last stage.
    assert dict(found.fixes[0].depths) == {"b": design.least("b", {}, 64)} == {"b": 8}
    waits_for_pipe = next(stop for stop in found.diagnosis.wait_cycles[0].stops if stop.channel == "o")
    assert (waits_for_pipe.held_back, waits_for_pipe.occupancy) == (2, 0)
    assert "pipe holds 2 tokens of 'o' back in the pipeline of pipe_loop (style stp, estimated depth 9)" in found.text
    assert design.run({}, style="flp").values.outcome == "finished"
    everywhere = explain(design.manifest, design.run({}, style="stp").values)   # the split waits for room: no style lets it go on
    assert everywhere is not None and "pipe holds" in everywhere.text and "split holds" not in everywhere.text


RING = """
typedef int block_t[4];
static void split(const int *x, hls::stream_of_blocks<block_t, 2> &blocks, hls::stream<int> &s) {
  for (int t = 0; t < 6; t++) {
    hls::write_lock<block_t> w(blocks);
    for (int k = 0; k < 4; k++) w[k] = x[t];
  }
  for (int t = 0; t < 6; t++) s.write(t);
}
static void join(hls::stream_of_blocks<block_t, 2> &blocks, hls::stream<int> &s, int *y) {
  for (int t = 0; t < 6; t++) {
    const int v = s.read();
    hls::read_lock<block_t> r(blocks);
    y[t] = r[v % 4];
  }
}
extern "C" void top(const int *x, int *y) {
#pragma HLS dataflow
  hls::stream_of_blocks<block_t, 2> blocks;
  hls::stream<int, 2> s("s");
  split(x, blocks, s);
  join(blocks, s, y);
}
"""


def test_a_full_ring_of_blocks_is_no_matter_of_depth(make: Make) -> None:
    content: Manifest = manifest([fifo("s", "split", "join", 6)])
    found = explained(make(RING, content), {})
    assert found.cause == "ring" and found.culprits == ()
    assert "no FIFO depth fixes this: what is full is blocks, a ring of blocks" in found.text


PIPELINED_RING = """
typedef int block_t[4];
static void fill(const int *x, hls::stream_of_blocks<block_t, 2> &blocks) {
  fill_loop: for (int t = 0; t < 6; t++) {
#pragma HLS pipeline II=1 style=flp
    hls::write_lock<block_t> w(blocks);
    for (int k = 0; k < 4; k++) w[k] = x[t];
  }
}
static void drain(hls::stream_of_blocks<block_t, 2> &blocks, hls::stream<int> &s) {
  for (int t = 0; t < 6; t++) {
    hls::read_lock<block_t> r(blocks);
    s.write(r[t % 4]);
  }
}
static void take(hls::stream<int> &s, int *y) {
  for (int t = 0; t < 6; t++) y[t] = s.read();
}
extern "C" void top(const int *x, int *y) {
#pragma HLS dataflow
  hls::stream_of_blocks<block_t, 2> blocks;
  hls::stream<int, 2> s("s");
  fill(x, blocks);
  drain(blocks, s);
  take(s, y);
}
"""


def test_a_pipeline_that_keeps_the_blocks_it_filled_is_named(make: Make) -> None:
    """Stopping as a whole, it waits for a third block with two of two in its own stages: the ring is not too small, it is kept."""
    content = manifest([fifo("s", "drain", "take", 6)], [loop("fill", "fill_loop", 6, depth=5)])
    design = make(PIPELINED_RING, content)
    assert design.run({}).values.outcome == "finished"
    found = explain(design.manifest, design.run({}, style="stp").values)
    assert found is not None and found.cause == "ring"
    assert "'blocks', full (0 of 2, and 2 in its pipeline), for drain" in found.text
    assert design.run({}, style="stp").interval is None, "it did not end"
    assert "fill keeps 2 filled blocks of 'blocks' in the pipeline of fill_loop (style stp)" in found.text
