"""Each text rule accepts what is emitted and has a case it refuses."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from l6_examples import EXAMPLES

from stc.codegen.vitis_rules import check_project_text, connectivity_violations, kernel_violations
from stc.diagnostics import CompileError

HEADER = "typedef hls::vector<float, 8> float8;\n"
KERNEL = """#include "kernel.h"

static void load_x(const float8 *x, hls::stream<float8> &s) {
#pragma HLS inline off
  words: for (int i = 0; i < 6; i += 1) {
#pragma HLS pipeline II=1 style=flp
    s.write(x[i]);
  }
}

static void work(hls::stream<float8> &s, hls::stream<float8> &t) {
#pragma HLS inline off
  float acc[4][128];
#pragma HLS array_partition variable=acc type=complete dim=2
  rows: for (int i = 0; i < 6; i += 1) {
#pragma HLS pipeline II=1 style=flp
    const float8 v = s.read();
    const int n = i + 1;
    lanes: for (int j = 0; j < 8; j += 1) {
#pragma HLS unroll
      acc[0][j] = hls::exp(v[j] * 0.5f);
    }
    t.write(v);
  }
}

static void store_y(hls::stream<float8> &t, float8 *y) {
#pragma HLS inline off
  words: for (int i = 0; i < 6; i += 1) {
#pragma HLS pipeline II=1 style=flp
    y[i] = t.read();
  }
}

extern "C" void top(const float8 *x, float8 *y) {
#pragma HLS interface mode=m_axi port=x bundle=gmem0 offset=slave depth=6
#pragma HLS interface mode=m_axi port=y bundle=gmem1 offset=slave depth=6
#pragma HLS interface mode=s_axilite port=x bundle=control
#pragma HLS interface mode=s_axilite port=y bundle=control
#pragma HLS interface mode=s_axilite port=return bundle=control
#pragma HLS dataflow
  hls::stream<float8, 2> s("s");
  hls::stream<float8, 64> t("t");
#pragma HLS bind_storage variable=t type=fifo impl=lutram
  load_x(x, s);
  work(s, t);
  store_y(t, y);
}
"""
LINK = """[connectivity]
nk=top:1:top_1
sp=top_1.x:HBM[0]
sp=top_1.y:HBM[1]
"""


def test_a_dependence_with_its_proof_is_accepted() -> None:
    proved = f"#pragma HLS pipeline II=1 style=flp\n// acc: it is so\n{DEPENDENCE}\n    const float8 v"
    assert kernel_violations(KERNEL.replace(PIPELINE, proved), HEADER) == []


def test_a_good_kernel_has_no_violations() -> None:
    assert kernel_violations(KERNEL, HEADER) == []
    assert connectivity_violations(KERNEL, LINK) == []


@pytest.mark.parametrize("name", EXAMPLES)
def test_emitted_code_has_no_violations(name: str, emitted: Callable[[str], Path]) -> None:
    project = emitted(name)
    header, source, connectivity = ((project / file).read_text() for file in ("kernel.h", "kernel.cpp", "connectivity.cfg"))
    check_project_text(header, source, connectivity)


PIPELINE = "#pragma HLS pipeline II=1 style=flp\n    const float8 v"
DEPENDENCE = "#pragma HLS dependence variable=acc type=inter direction=RAW distance=4 dependent=true"
WORK_LOOP = "acc[0][j] = hls::exp(v[j] * 0.5f);"


@pytest.mark.parametrize(
    ("rule", "old", "new", "message"),
    [
        (4, "  work(s, t);", "  if (x) {\n    work(s, t);\n  }", "in the dataflow body of top"),
        (4, "  work(s, t);", "  work(s, t + 1);", "neither a stream nor a call"),
        (4, "  hls::stream<float8, 2> s(\"s\");", "  hls::stream<float8, 2> s(\"s\");\n  int n = 3;", "'int n = 3;'"),
        (4, "  float acc[4][128];", "  float acc[4][128];\n  static int count;", "static variable"),
        (6, "hls::stream<float8, 2> s", "hls::stream<float8> s", "s has no explicit depth"),
        (6, "#pragma HLS bind_storage variable=t type=fifo impl=lutram\n", "", "t of depth 64 has no bind_storage"),
        (8, "const int n = i + 1;", "const ap_uint<2048> n = i;", "integer of 2048 bit"),
        (8, "hls::stream<float8, 2> s", "hls::stream<hls::vector<float, 256>, 2> s", "8192 bit"),
        (9, "float8 *y)", "hls::vector<float, 3> *y)", "words of 96 bit"),
        (9, "float8 *y)", "hls::vector<float, 32> *y)", "words of 1024 bit"),
        (10, "hls::stream<float8, 2> s", "hls::stream<hls::vector<ap_int<4>, 16>, 2> s", "expected one ap_uint of all its bits"),
        (10, "const int n = i + 1;", "const ap_uint<64> w = i;\n  const int n = w.range(7, 4);", "a slice has no sign of its own"),
        (11, PIPELINE, "    const float8 v", "loop rows of work touches a stream"),
        (11, PIPELINE, "#pragma HLS pipeline II=1\n    const float8 v", "loop rows of work touches a stream"),
        (13, PIPELINE, f"{DEPENDENCE}\n{PIPELINE}", "dependence of acc without its proof"),
        (13, "  float acc[4][128];", f"  float acc[4][128];\n// acc: so\n{DEPENDENCE}", "outside a pipelined loop"),
        (13, PIPELINE, f"// acc: so\n#pragma HLS dependence variable=acc distance=4\n{PIPELINE}", "without type and dependent"),
        (27, PIPELINE, f"// sum: so\n{DEPENDENCE.replace('=acc', '=sum')}\n{PIPELINE}", "variable sum of pragma dependence"),
        (27, PIPELINE, f"// acc: so\n{DEPENDENCE.replace('RAW', 'RAR')}\n{PIPELINE}", "pragma dependence has direction=RAR"),
        (15, WORK_LOOP, "acc[0][i] = hls::exp(v[j] * 0.5f);", "acc is fully partitioned but indexed by i"),
        (16, "const int n = i + 1;", "const int n = i / 3;", "'/ 3' in a pipelined loop"),
        (16, "const int n = i + 1;", "const int n = 100 % i;", "'% i' in a pipelined loop"),
        (17, "0.5f", "0.5", "float literal 0.5 without suffix"),
        (17, "const int n = i + 1;", "const double n = i;", "double"),
        (17, "hls::exp", "expf", "expected hls::exp"),
        (17, "hls::exp", "std::exp", "expected hls::exp"),
        (19, "bundle=gmem1 ", "", "port y has no bundle"),
        (19, "#pragma HLS interface mode=m_axi port=y bundle=gmem1 offset=slave depth=6\n", "", "port y has no m_axi interface"),
        (21, "static void load_x(const float8 *x", "static void load_x(const volatile float8 *x", "volatile"),
        (21, "    s.write(x[i]);", "    if (i < 3) {\n      s.write(x[i]);\n    }", "accessed under a condition"),
        (21, "x[i]", "x[i % 2]", "indexed by 'i % 2'"),
        (26, "bundle=gmem1 offset=slave depth=6", "bundle=gmem1 offset=slave", "port y has no depth="),
        (26, 'extern "C" void top', "static void top", 'top is not extern "C"'),
        (26, "#pragma HLS interface mode=s_axilite port=return bundle=control\n", "", "no s_axilite port=return"),
        (6, '  hls::stream<float8, 2> s("s");', '  hls::stream<float8, 2> s("s");\n  hls::stream_of_blocks<rows, 2> b("b");',
         "stream of blocks b is given arguments"),
        (27, '  hls::stream<float8, 2> s("s");', '  hls::stream<float8, 2> s("s");\n  hls::stream_of_blocks<rows, 2> b;\n'
         "#pragma HLS array_partition variable=b type=complete dim=1", "b is a stream of blocks"),
        (27, "  float acc[4][128];", "  hls::write_lock<rows> acc(b);", "acc is a stream of blocks, or a block of one"),
        (27, "  float acc[4][128];", "  hls::read_lock<rows> acc(b);", "acc is a stream of blocks, or a block of one"),
        (27, "type=complete", "type=all", "pragma array_partition has type=all, expected cyclic|block|complete"),
        (27, "impl=lutram", "impl=dsp", "pragma bind_storage has impl=dsp"),
        (27, "type=fifo impl=lutram", "type=ram_2p impl=lutram latency=1", "t is a stream, and bind_storage has type=ram_2p"),
        (27, "  float acc[4][128];", "  float acc[4][128];\n#pragma HLS bind_storage variable=acc type=fifo impl=bram",
         "acc is an array, and bind_storage has type=fifo"),
        (27, "  float acc[4][128];", "  float acc[4][128] = {0.0f};\n#pragma HLS bind_storage variable=acc type=ram_s2p impl=uram "
         "latency=1", "acc has contents at power-up, which ultra RAM cannot have"),
        (27, "  float acc[4][128];", "  static float acc[4][128];\n#pragma HLS bind_storage variable=acc type=ram_s2p impl=uram "
         "latency=1", "acc has contents at power-up, which ultra RAM cannot have"),
        (27, "  float acc[4][128];", "  float acc[4][128];\n#pragma HLS bind_storage variable=acc type=ram_t2p impl=lutram "
         "latency=1", "pragma bind_storage has impl=lutram, expected bram|uram"),
        (27, "II=1 style=flp\n    y", "II=0 style=flp\n    y", "pragma pipeline has ii=0"),
        (27, "inline off", "inlined off", "pragma inlined is not known"),
        (27, "style=flp\n    y", "styles=flp\n    y", "no option styles"),
        (27, "variable=acc", "variable=sum", "variable sum of pragma array_partition is not declared"),
        (27, "port=y bundle=gmem1", "port=z bundle=gmem1", "port z is no parameter of top"),
        (27, PIPELINE, "const float8 v = s.read();\n#pragma HLS pipeline II=1 style=flp\n    const float8 u",
         "does not stand directly below the loop"),
    ],
)
def test_refused(rule: int, old: str, new: str, message: str) -> None:
    assert old in KERNEL
    found = [violation for violation in kernel_violations(KERNEL.replace(old, new), HEADER) if violation.rule == rule]
    assert any(message in violation.message for violation in found), found


@pytest.mark.parametrize("memory", ["lutram", "bram", "uram"])
def test_an_array_without_contents_may_be_any_memory(memory: str) -> None:
    pragma = f"#pragma HLS bind_storage variable=acc type=ram_s2p impl={memory} latency=1"
    assert kernel_violations(KERNEL.replace("  float acc[4][128];", f"  float acc[4][128];\n{pragma}"), HEADER) == []


def test_violations_name_their_line() -> None:
    (violation,) = kernel_violations(KERNEL.replace("0.5f", "0.5"), HEADER)
    assert KERNEL.splitlines()[violation.line - 1].strip() == WORK_LOOP


def test_more_than_32_ports() -> None:
    ports = "".join(f"#pragma HLS interface mode=m_axi port=x bundle=more{i}\n" for i in range(32))
    found = kernel_violations(KERNEL.replace("#pragma HLS dataflow", ports + "#pragma HLS dataflow"), HEADER)
    assert any(violation.rule == 19 and "34 memory ports" in violation.message for violation in found)


SHARED = KERNEL.replace("bundle=gmem1", "bundle=gmem2").replace(
    "#pragma HLS interface mode=m_axi port=y", "#pragma HLS interface mode=m_axi port=w bundle=gmem0 offset=slave depth=6\n"
    "#pragma HLS interface mode=s_axilite port=w bundle=control\n#pragma HLS interface mode=m_axi port=y"
).replace("const float8 *x,", "const float8 *x, const float8 *w,").replace("load_x(x, s)", "load_x(x, w, s)").replace(
    "static void load_x(const float8 *x, const float8 *w,", "static void load_x(const float8 *a, const float8 *b,"
)
LOADS = "  words: for (int i = 0; i < 3; i += 1) {\n#pragma HLS pipeline II=1 style=flp\n    s.write(%s[i]);\n  }\n"


@pytest.mark.parametrize(("pointers", "verb"), [("const float8 *x, const float8 *y", "reads"), ("float8 *x, float8 *y", "writes")])
def test_a_bundle_of_two_tasks(pointers: str, verb: str) -> None:
    """One that reads and one that writes may share it."""
    shared = KERNEL.replace("bundle=gmem1", "bundle=gmem0")
    assert "(const float8 *x, float8 *y)" in shared
    assert kernel_violations(shared, HEADER) == []
    changed = shared.replace("(const float8 *x, float8 *y)", f"({pointers})")
    found = [violation.message for violation in kernel_violations(changed, HEADER) if violation.rule == 19]
    assert found == [f"ports x, y share bundle 'gmem0', expected one task that {verb} them"]


def test_a_bundle_is_linked_to_one_channel() -> None:
    link = LINK + "sp=top_1.w:HBM[%d]\n"
    assert connectivity_violations(SHARED, link % 0) == []
    (violation,) = connectivity_violations(SHARED, link % 3)
    assert violation.message == "bundle gmem0 of top_1 is linked to HBM[0], HBM[3], expected one channel"


def shared_bundle(body: str, old: str = "", new: str = "") -> list[str]:
    """What is refused where `load_x(x, w, s)` reads a bundle of two pointers."""
    whole = LOADS.replace("i < 3", "i < 6") % "x"
    assert whole in SHARED and old in SHARED
    return [each.message for each in kernel_violations(SHARED.replace(whole, body).replace(old, new), HEADER) if each.rule == 19]


def test_a_bundle_of_one_task_that_reads_in_turn() -> None:
    assert shared_bundle(LOADS % "a" + (LOADS % "b").replace("words", "more")) == []


def test_a_bundle_that_one_loop_reads_twice() -> None:
    (message,) = shared_bundle((LOADS % "a").replace("a[i]", "a[i] + b[i]"))
    assert message == "ports x, w share bundle 'gmem0', and a loop of load_x reads a and b, expected a loop for each"


def test_a_bundle_of_words_of_two_types() -> None:
    (message,) = shared_bundle(LOADS % "a", "const float8 *w,", "const float *w,")
    assert message == "ports x, w share bundle 'gmem0', expected words of one type"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("sp=top_1.y:HBM[1]\n", "", "port y of top_1 has 0 sp="),
        ("sp=top_1.y:HBM[1]\n", "sp=top_1.y:HBM[1]\nsp=top_1.y:HBM[2]\n", "port y of top_1 has 2 sp="),
        ("HBM[1]", "HBM[32]", "expected sp=unit.port:HBM[0-31]"),
        ("nk=top:1:top_1\n", "", "kernel top has 0 units"),
        ("nk=top:1:top_1\n", "nk=top:1:top_1\nslr=top_1:SLR0\nslr=top_1:SLR1\n", "unit top_1 has 2 slr="),
    ],
)
def test_refused_link(old: str, new: str, message: str) -> None:
    found = connectivity_violations(KERNEL, LINK.replace(old, new))
    assert any(violation.rule == 25 and message in violation.message for violation in found), found


def test_everything_wrong_is_listed_in_one_error() -> None:
    with pytest.raises(CompileError, match=r"rule 17.*rule 25"):
        check_project_text(HEADER, KERNEL.replace("0.5f", "0.5"), LINK.replace("HBM[1]", "HBM[40]"))
