"""Designs that run, designs that deadlock, and what the report says of them."""

from __future__ import annotations

import re

import pytest
from conftest import Run, channel
from handmade import fork_join

pytestmark = pytest.mark.heavy

FORK_JOIN_BODY = """
  int x[16], y[16], golden[16];
  for (int i = 0; i < 16; i++) { x[i] = i; golden[i] = i + 120; }
  report.run("top", [&] { top(x, y); });
  report.compare("y", y, golden, 16, 0.0);
"""


def test_reconvergence_with_room_runs_and_counts(design: Run) -> None:
    result = design(fork_join(16), FORK_JOIN_BODY)
    assert result["passed"] and result["outcome"] == "finished"
    assert result["outputs"][0]["max_abs_error"] == 0
    direct = channel(result, "direct")
    assert (direct["tokens"], direct["highest_occupancy"], direct["depth"]) == (16, 16, 16)
    assert (direct["producer"], direct["consumer"]) == ("split", "join")
    assert channel(result, "around")["highest_occupancy"] <= 2


def test_reconvergence_without_room_names_tasks_and_fifo(design: Run) -> None:
    result = design(fork_join(15), FORK_JOIN_BODY)
    assert result["outcome"] == "deadlock" and not result["passed"] and result["outputs"] == []
    blocked = {b["task"]: b for b in result["blocked"]}
    assert set(blocked) == {"top", "split", "total", "join"}
    split = blocked["split"]
    assert (split["waits_to"], split["channel"], split["peer"]) == ("write", "direct", "join")
    assert (split["occupancy"], split["depth"], split["tokens_written"], split["tokens_read"]) == (15, 15, 15, 0)
    assert split["loop"] == "split_loop" and split["line"] > 0
    assert (blocked["join"]["waits_to"], blocked["join"]["channel"]) == ("read", "sum")
    assert (blocked["total"]["waits_to"], blocked["total"]["channel"]) == ("read", "around")
    assert blocked["top"]["waits_to"] == "join"
    assert "split waits to write fifo 'direct': 15 of 15 slots taken" in result["printed"]
    assert "reader is join, which has not come to it; in loop split_loop at line" in result["printed"]
    assert result["explanation"] in result["printed"]


FIRING = """
static void source(hls::stream<int> &a, hls::stream<int> &b) {
  for (int i = 0; i < 8; i++) {
    PIPELINE_SOURCE
    a.write(i);
    b.write(i);
  }
}
static void relay(hls::stream<int> &a, hls::stream<int> &c) {
  for (int i = 0; i < 8; i++) {
#pragma HLS pipeline II=1 style=flp
    int v = a.read();
    c.write(v);
  }
}
static void sink(hls::stream<int> &b, hls::stream<int> &c, int *y) {
  int sum = 0;
  for (int i = 0; i < 8; i++) sum += b.read();
  for (int i = 0; i < 8; i++) sum += c.read();
  *y = sum;
}
extern "C" void top(int *y) {
#pragma HLS dataflow
  hls::stream<int, DEPTH_A> a("a");
  hls::stream<int, 2> b("b");
  hls::stream<int, DEPTH_C> c("c");
  source(a, b);
  relay(a, c);
  sink(b, c, y);
}
"""
FIRING_BODY = (
    'int y = 0, golden = 56; report.run("top", [&] { top(&y); }); report.compare("y", &y, &golden, 1, 0.0);'
)


@pytest.mark.parametrize(("depth_c", "ends"), [(6, True), (5, False)])
def test_read_keeps_its_slot_until_the_iteration_commits(design: Run, depth_c: int, ends: bool) -> None:
    """The relay holds the token it cannot pass on: 2 + c tokens fit, where a sequential run would fit 3 + c."""
    result = design(FIRING.replace("PIPELINE_SOURCE", ""), FIRING_BODY, "-DDEPTH_A=2", f"-DDEPTH_C={depth_c}")
    assert result["outcome"] == ("finished" if ends else "deadlock")
    if not ends:
        relay = next(b for b in result["blocked"] if b["task"] == "relay")
        assert (relay["waits_to"], relay["channel"]) == ("write", "c")
        source = next(b for b in result["blocked"] if b["task"] == "source")
        assert (source["channel"], source["occupancy"], source["uncommitted_reads"]) == ("a", 2, 1)


def test_without_a_guard_the_slot_is_free_at_once(design: Run) -> None:
    kernel = FIRING.replace("PIPELINE_SOURCE", "").replace("#pragma HLS pipeline II=1 style=flp", "")
    assert design(kernel, FIRING_BODY, "-DDEPTH_A=2", "-DDEPTH_C=5")["outcome"] == "finished"


def test_writes_of_one_iteration_appear_together(design: Run) -> None:
    """The write comes first in the text, but the iteration cannot fire before its read is possible."""
    kernel = """
static void a(hls::stream<int> &x, hls::stream<int> &y) {
  for (int i = 0; i < 3; i++) {
#pragma HLS pipeline II=1 style=flp
    x.write(i); y.write(i);
  }
}
static void b(hls::stream<int> &y, hls::stream<int> &z) {
  int seen = 0;
  for (int i = 0; i < 3; i++) {
#pragma HLS pipeline II=1 style=flp
    z.write(i); seen += y.read();
  }
}
static void c(hls::stream<int> &x, hls::stream<int> &z) {
  for (int i = 0; i < 3; i++) {
    z.read();
    x.read();
  }
}
extern "C" void top() {
#pragma HLS dataflow
  hls::stream<int, DEPTH> x("x"); hls::stream<int, 4> y("y"), z("z");
  a(x, y); b(y, z); c(x, z);
}
"""
    assert design(kernel, 'report.run("top", [] { top(); });', "-DDEPTH=1")["outcome"] == "finished"


def test_several_accesses_of_one_iteration_are_several_cycles(design: Run) -> None:
    kernel = """
static void narrow(hls::stream<int> &out) {
  for (int i = 0; i < 32; i++) out.write(i);
}
static void widen(hls::stream<int> &in, hls::stream<hls::vector<int, 8>> &out) {
  for (int i = 0; i < 4; i++) {
#pragma HLS pipeline II=8 style=flp
    hls::vector<int, 8> v;
    for (int k = 0; k < 8; k++) v[k] = in.read();
    out.write(v);
  }
}
static void store(hls::stream<hls::vector<int, 8>> &in, int *y) {
  for (int i = 0; i < 4; i++) {
    hls::vector<int, 8> v = in.read();
    for (int k = 0; k < 8; k++) y[i * 8 + k] = v[k];
  }
}
extern "C" void top(int *y) {
#pragma HLS dataflow
  hls::stream<int, 2> a("a"); hls::stream<hls::vector<int, 8>, 2> b("b");
  narrow(a); widen(a, b); store(b, y);
}
"""
    body = """int y[32], golden[32]; for (int i = 0; i < 32; i++) golden[i] = i;
  report.run("top", [&] { top(y); }); report.compare("y", y, golden, 32, 0.0);"""
    assert design(kernel, body)["passed"]


BLOCKS = """
typedef float block_t[4][4];
static void fill(const float *x, hls::stream_of_blocks<block_t, COUNT> &b) {
  for (int t = 0; t < 5; t++) {
    hls::write_lock<block_t> w(b);
    for (int k = 0; k < 16; k++) {
#pragma HLS pipeline II=1 style=flp
      w[k / 4][k % 4] = x[t * 16 + k];
    }
  }
}
static void drain(hls::stream_of_blocks<block_t, COUNT> &b, float *y) {
  for (int t = 0; t < 5; t++) {
    hls::read_lock<block_t> r(b);
    for (int k = 0; k < 16; k++) {
#pragma HLS pipeline II=1 style=flp
      y[t * 16 + k] = r[k % 4][k / 4];
    }
  }
}
extern "C" void top(const float *x, float *y) {
#pragma HLS dataflow
  hls::stream_of_blocks<block_t, COUNT> transpose;
  fill(x, transpose);
  drain(transpose, y);
}
"""
BLOCKS_BODY = """
  float x[80], y[80], golden[80];
  for (int i = 0; i < 80; i++) x[i] = float(i);
  for (int t = 0; t < 5; t++) for (int k = 0; k < 16; k++) golden[t * 16 + k] = x[t * 16 + (k % 4) * 4 + k / 4];
  report.run("top", [&] { top(x, y); });
  report.compare("y", y, golden, 80, 0.0, x);
"""


@pytest.mark.parametrize("count", [1, 2])
def test_stream_of_blocks(design: Run, count: int) -> None:
    result = design(BLOCKS, BLOCKS_BODY, f"-DCOUNT={count}")
    assert result["passed"]
    blocks = channel(result, "transpose")
    assert (blocks["kind"], blocks["depth"], blocks["tokens"]) == ("stream_of_blocks", count, 5)
    assert blocks["highest_occupancy"] == count
    assert result["outputs"][0]["max_abs_reference_minus_input"] == 9


def test_nested_dataflow_and_repeated_tasks_have_paths(design: Run) -> None:
    kernel = """
static void add(hls::stream<int> &in, hls::stream<int> &out, int d) {
  for (int i = 0; i < 4; i++) out.write(in.read() + d);
}
static void twice(hls::stream<int> &in, hls::stream<int> &out) {
#pragma HLS dataflow
  hls::stream<int> middle;
  add(in, middle, 1);
  add(middle, out, 10);
}
static void load(const int *x, hls::stream<int> &out) { for (int i = 0; i < 4; i++) out << x[i]; }
static void store(hls::stream<int> &in, int *y) { for (int i = 0; i < 4; i++) in >> y[i]; }
extern "C" void top(const int *x, int *y) {
#pragma HLS dataflow
  hls::stream<int> a, b, c;
  load(x, a);
  twice(a, b);
  twice(b, c);
  store(c, y);
}
"""
    body = """int x[4] = {0, 1, 2, 3}, y[4], golden[4] = {22, 23, 24, 25};
  report.run("top", [&] { top(x, y); }); report.compare("y", y, golden, 4, 0.0);"""
    result = design(kernel, body)
    assert result["passed"]
    names = {c["name"]: (c["producer"], c["consumer"]) for c in result["channels"]}
    assert names == {
        "a": ("load", "twice.add"),
        "b": ("twice.add#2", "twice#2.add"),
        "c": ("twice#2.add#2", "store"),
        "twice.middle": ("twice.add", "twice.add#2"),
        "twice#2.middle": ("twice#2.add", "twice#2.add#2"),
    }


def test_nested_pipelines_and_dataflow_in_a_loop(design: Run) -> None:
    kernel = """
static void make(int r, hls::stream<int> &a, hls::stream<int> &b) {
  for (int i = 0; i < 3; i++) {
#pragma HLS pipeline II=4
    a.write(r);
    b.write(r);
    for (int k = 0; k < 3; k++) {
#pragma HLS pipeline II=1
      b.write(k);
      a.write(k);
    }
    b.write(i);
  }
}
static void take(hls::stream<int> &a, hls::stream<int> &b, int *y) {
  for (int i = 0; i < 12; i++) {
#pragma HLS pipeline II=1
    *y += a.read() + b.read();
  }
  for (int i = 0; i < 3; i++) *y += b.read();
}
void top(int *y) {
  rounds: for (int r = 0; r < 3; r++) {
#pragma HLS dataflow
    hls::stream<int, 3> a;
    hls::stream<int, 8> b;
    make(r, a, b);
    take(a, b, y);
  }
}
"""
    body = """int y = 0, golden = 81; report.run("top", [&] { top(&y); });
  report.compare("y", &y, &golden, 1, 0.0);"""
    result = design(kernel, body)
    assert result["passed"], result
    assert (channel(result, "a")["tokens"], channel(result, "b")["tokens"]) == (36, 45)


def test_foreign_style(design: Run) -> None:
    """Arrays and scalars between tasks, templates, arrays of streams, a loop of tasks, polling, depths by pragma."""
    kernel = """
#define N 8
namespace lib {
template <typename T, int K>
void scale(T in[N], T out[N]) {
  for (int i = 0; i < N; i++)
#pragma HLS unroll
    out[i] = in[i] * K;
}
}
static void read_in(const int *x, int buffer[N], int &count) {
  count = 0;
L1:
  for (int i = 0; i < N; i++) { /* } */
#pragma HLS PIPELINE
    buffer[i] = x[i];
    count++;
  }
}
static void spread(int lane, const int buffer[N], int count, hls::stream<int> &out) {
  for (int i = lane; i < count; i += 2) out.write(buffer[i]);
}
static void gather(hls::stream<int> lanes[2], int n, int *y) {
  int i = 0;
  while (i < n) {
    for (int l = 0; l < 2; l++) {
      if (!lanes[l].empty()) {
        int v;
        if (lanes[l].read_nb(v)) y[i++] = v;
      }
    }
  }
}
void top(const int *x, int n, int *y) {
#pragma HLS INTERFACE m_axi port=x bundle=gmem0
#pragma HLS DATAFLOW
  int raw[N], scaled[N];
  int count;
  hls::stream<int> lanes[2];
#pragma HLS STREAM variable=lanes depth=4
  read_in(x, raw, count);
  lib::scale<int, 3>(raw, scaled);
  for (int l = 0; l < 2; l++) {
#pragma HLS unroll
    spread(l, scaled, count, lanes[l]);
  }
  gather(lanes, n, y);
}
"""
    body = """int x[8], y[8], sum = 0, golden = 84;
  for (int i = 0; i < 8; i++) x[i] = i;
  report.run("top", [&] { top(x, 8, y); });
  for (int v : y) sum += v;
  report.compare("sum", &sum, &golden, 1, 0.0);"""
    result = design(kernel, body)
    assert result["passed"], result
    lanes = [channel(result, f"lanes[{i}]") for i in range(2)]
    assert [(c["depth"], c["tokens"], c["producer"]) for c in lanes] == [(4, 4, "spread"), (4, 4, "spread#2")]


def test_streams_of_the_testbench_are_unbounded(design: Run) -> None:
    kernel = """
static void stage(hls::stream<int> &in, hls::stream<int> &out) { for (int i = 0; i < 50; i++) out.write(in.read() + 1); }
void top(hls::stream<int> &in, hls::stream<int> &out) {
#pragma HLS dataflow
  hls::stream<int> middle("middle");
  stage(in, middle);
  stage(middle, out);
}
"""
    body = """hls::stream<int> in("in"), out("out");
  for (int i = 0; i < 50; i++) in.write(i);
  report.run("top", [&] { top(in, out); });
  int got[50], golden[50];
  for (int i = 0; i < 50; i++) { got[i] = out.read(); golden[i] = i + 2; }
  report.compare("out", got, golden, 50, 0.0);"""
    result = design(kernel, body)
    assert result["passed"]
    assert channel(result, "in")["external"] and channel(result, "in")["depth"] is None
    assert channel(result, "middle")["highest_occupancy"] == 2


SHORT = """
static void make(hls::stream<int> &out) { for (int i = 0; i < 5; i++) out.write(i); }
static void take(hls::stream<int> &in) { for (int i = 0; i < 3; i++) in.read(); }
void top() {
#pragma HLS dataflow
  hls::stream<int, 4> s("s");
  make(s);
  take(s);
}
"""


def test_tokens_never_read_are_an_error(design: Run) -> None:
    result = design(SHORT, 'report.run("top", [] { top(); });')
    assert (result["outcome"], result["passed"]) == ("leftover", False)
    assert "fifo 's': 2 tokens never read (5 written by make, reader take)" in result["printed"]


def test_endless_polling_is_reported(design: Run) -> None:
    kernel = """
static void wait(hls::stream<int> &in) { while (in.empty()) {} in.read(); }
static void idle(hls::stream<int> &out) { (void)out; }
void top() {
#pragma HLS dataflow
  hls::stream<int> s("s");
  wait(s);
  idle(s);
}
"""
    result = design(kernel, 'report.run("top", [] { top(); });')
    assert result["outcome"] == "livelock"
    assert {b["task"]: b["waits_to"] for b in result["blocked"]} == {"wait": "poll", "top": "join"}


def test_two_readers_and_exceptions_are_explained(design: Run) -> None:
    kernel = """
static void take(hls::stream<int> &in) { in.read(); }
void two() {
#pragma HLS dataflow
  hls::stream<int> s("s");
  take(s);
  take(s);
}
"""
    result = design(kernel, 'report.run("two", [] { two(); });')
    assert result["outcome"] == "error"
    assert result["explanation"] == "fifo 's' has two readers: take and take#2"


def test_large_local_arrays_and_many_invocations(design: Run) -> None:
    kernel = """
static void make(hls::stream<int> &out) {
  static const int size = 8 << 20;
  int big[size];
  for (int i = 0; i < size; i += 1024) big[i] = i;
  volatile int last = size - 1024;
  out.write(big[last] - size + 2048);
}
static void take(hls::stream<int> &in, int *y) { *y += in.read(); }
void top(int *y) {
#pragma HLS dataflow
  hls::stream<int> s("s");
  make(s);
  take(s, y);
}
"""
    body = """int y = 0, golden = 3072; for (int i = 0; i < 3; i++) report.run("top", [&] { top(&y); });
  report.compare("y", &y, &golden, 1, 0.0);"""
    result = design(kernel, body)
    assert result["passed"] and result["runs"] == 3 and channel(result, "s")["tokens"] == 3


def test_comparison_counts_what_is_not_a_number(design: Run) -> None:
    body = """
  float nan = NAN, inf = INFINITY;
  float got[5] = {nan, 1, -inf, inf, 2}, golden[5] = {nan, nan, -inf, -inf, 2.5};
  report.compare("o", got, golden, 5, 0.5);
  float half[1] = {1.0f}, near[1] = {1.0001f};
  report.compare("close", half, near, 1, 1e-3);
"""
    result = design("", body)
    mixed, close = result["outputs"]
    assert (mixed["nan_mismatches"], mixed["max_abs_error"], mixed["passed"]) == (2, 0.5, False)
    assert close["passed"] and not result["passed"]
    assert re.search(r"o: MISMATCH.*2 NaN or infinite", result["printed"])


def test_integers_are_compared_exactly(design: Run) -> None:
    """Whatever the tolerance, and beyond what a double holds."""
    body = """
  std::int64_t got[3] = {1, (1LL << 60) + 1, -5}, golden[3] = {1, 1LL << 60, -5};
  report.compare("wide", got, golden, 3, 0.5);
  report.compare("same", got, got, 3);
  std::int32_t some[1] = {1000100}, million[1] = {1000000};
  report.compare("million", some, million, 1, 1e-4);
"""
    wide, same, million = design("", body)["outputs"]
    assert (wide["passed"], wide["wrong"], wide["max_abs_error"]) == (False, 1, 1)
    assert wide["worst"] == {
        "index": 1, "error": 1, "allowed": 0, "share": None, "got": str(2**60 + 1), "expected": str(2**60)
    }
    assert same["passed"] and same["wrong"] == 0
    assert not million["passed"] and million["max_abs_error"] == 100


def test_a_large_entry_hides_no_small_ones(design: Run) -> None:
    """`allowed` speaks of each entry; the same errors pass one bound on all."""
    body = """
  float golden[3] = {1e6f, 1.0f, 0.0f}, got[3] = {1e6f, 1.5f, 0.0f};
  double allowed[3] = {100, 1e-4, 0};
  report.compare("each", got, golden, 3, {1e-4, allowed});
  report.compare("all", got, golden, 3, 1e-4);
"""
    each, every = design("", body)["outputs"]
    assert (each["passed"], each["wrong"], each["worst"]["index"], each["worst"]["got"]) == (False, 1, 1, "1.5")
    assert each["worst"]["share"] == pytest.approx(5000) and every["passed"]


def test_what_is_undecided_is_neither_right_nor_wrong(design: Run) -> None:
    body = """
  float golden[3] = {1.0f, 1e-7f, NAN}, got[3] = {1.0f, -3e-7f, NAN}, far[3] = {1.0f, 1e-5f, NAN};
  double allowed[3] = {1e-4, -5e-7, -1};
  report.compare("near", got, golden, 3, {1e-4, allowed});
  report.compare("far", far, golden, 3, {1e-4, allowed});
"""
    near, far = (result := design("", body))["outputs"]
    assert (near["passed"], near["wrong"], near["undecided"]) == (True, 0, 1)
    assert (far["passed"], far["wrong"], far["undecided"]) == (False, 1, 1) and "near: UNDECIDED" in result["printed"]


def test_any_value_will_do_where_what_is_allowed_is_infinite(design: Run) -> None:
    body = """
  float golden[3] = {3e38f, INFINITY, 1.0f}, got[3] = {INFINITY, NAN, 1.0f};
  double allowed[3] = {-INFINITY, -INFINITY, 1e-4};
  report.compare("edge", got, golden, 3, {1e-4, allowed});
"""
    (edge,) = design("", body)["outputs"]
    assert (edge["passed"], edge["wrong"], edge["nan_mismatches"], edge["undecided"]) == (True, 0, 0, 2)


def test_the_portable_switch(design: Run) -> None:
    assert design(fork_join(16), FORK_JOIN_BODY, "-DSTC_SIM_UCONTEXT")["passed"]
