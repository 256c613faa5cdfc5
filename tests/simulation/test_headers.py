"""The drop-in headers by themselves."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import pytest
from conftest import compile_program, run_program

from stc.simulation.ap_types import copy_ap_types
from stc.simulation.package import INCLUDE

pytestmark = pytest.mark.heavy

VECTORS_AND_MATHS = """
#include <cassert>
static_assert(sizeof(hls::vector<float, 8>) == 32 && alignof(hls::vector<float, 8>) == 32, "");
static_assert(sizeof(hls::vector<float, 6>) == 24 && alignof(hls::vector<float, 6>) == 8, "");
static_assert(sizeof(hls::vector<float, 3>) == 12 && alignof(hls::vector<float, 3>) == 4, "");
static_assert(sizeof(hls::vector<ap_int<4>, 128>) == 128, "");
static_assert(sizeof(ap_int<4>) == 1 && sizeof(ap_uint<512>) == 64, "");
static_assert(std::is_same<decltype(hls::exp(1.0f)), float>::value, "");
static_assert(std::is_same<decltype(hls::abs(-1)), int>::value, "");
static_assert(std::is_trivially_copyable<hls::vector<float, 8>>::value, "");
static_assert(!std::is_copy_constructible<hls::stream<int>>::value, "");
static_assert(!std::is_copy_constructible<hls::stream<int, 4>>::value, "");
int main() {
  hls::vector<float, 4> a{1, 2, 3, 4}, b(2.0f);
  a = a * b + 1.0f;
  a -= b;
  assert(a[0] == 1 && a[3] == 7 && a.reduce_add() == 16 && a < b && !(b < a));
  assert(hls::exp(0.1f) == std::exp(0.1f) && hls::rsqrt(4.0f) == 0.5f && hls::abs(-3) == 3 && hls::abs(-3.5f) == 3.5f);
  assert(hls::fmax(1.0f, -INFINITY) == 1.0f && hls::exp(-INFINITY) == 0.0f && hls::erf(0.0f) == 0.0f);
  assert(hls::round(2.5f) == 3.0f && hls::max(2, 3) == 3 && hls::isinf(-INFINITY));

  ap_int<8> minus = -1;
  assert(minus(3, 0) == 15 && ap_int<4>(minus(3, 0)) == -1);
  ap_uint<512> wide = 0;
  wide.range(511, 508) = 5;
  assert(wide(511, 508) == 5 && wide(507, 0) == 0);
  ap_fixed<8, 4> fixed = 1.28;
  assert(fixed.to_double() == 1.25);

  hls::stream<int, 4> s("s");   // outside a design: a queue without a bound
  for (int i = 0; i < 9; i++) s << i;
  int v = -1;
  assert(s.size() == 9 && !s.empty() && !s.full() && s.read_nb(v) && v == 0 && s.read() == 1);
  while (!s.empty()) s >> v;
  assert(v == 8 && !s.read_nb(v) && s.write_nb(1) && s.read() == 1);
  return 0;
}
"""


def test_vectors_mathematics_and_arbitrary_precision(tmp_path: Path, headers: Path) -> None:
    source = '#include "ap_int.h"\n#include "ap_fixed.h"\n' + VECTORS_AND_MATHS
    copy_ap_types(tmp_path / "ap_types")
    binary = compile_program(source, tmp_path, headers, "-Wno-error", "-I", str(tmp_path / "ap_types"))
    done = run_program(binary)
    assert done.returncode == 0, done.stderr


def test_headers_survive_the_macros_of_a_design(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("STC_TEST_PRECOMPILED")  # else they are read before the macros
    macros = "".join(
        f"#define {name} 8\n" for name in ("N", "T", "DEPTH", "I", "K", "A", "B", "W", "SIZE", "U")
    )
    (tmp_path / "empty.h").write_text("")
    source = (
        macros
        + '#include "hls_stream.h"\n#include "hls_vector.h"\n#include "hls_streamofblocks.h"\nint main() {}\n'
    )
    compile_program(source, tmp_path, tmp_path / "empty.h")


def test_uninstrumented_deadlock_ends_the_program(tmp_path: Path, headers: Path) -> None:
    done = run_program(
        compile_program('int main() { hls::stream<int> s("s"); return s.read(); }', tmp_path, headers)
    )
    assert done.returncode == 1
    assert "(testbench) waits to read fifo 's': 0 slots taken" in done.stderr


def test_missing_or_truncated_files_are_refused(tmp_path: Path, headers: Path) -> None:
    source = "int main(int c, char **v) { return int(stc_sim::load<float>(v[1], 3)[2]); }"
    binary = compile_program(source, tmp_path, headers)
    path = tmp_path / "x.bin"
    done = run_program(binary, str(path))
    assert (done.returncode, "cannot read" in done.stderr) == (2, True)
    path.write_bytes(b"\0" * 11)
    done = run_program(binary, str(path))
    assert (done.returncode, "has 11 bytes; accepted: 12" in done.stderr) == (2, True)


def test_stack_overflow_is_named(tmp_path: Path, headers: Path) -> None:
    source = """
static int deep(volatile int *n) { volatile int pad[4096]; pad[0] = *n; return pad[0] == 0 ? 0 : deep(n) + pad[0]; }
int main() { volatile int one = 1; stc_sim::run("top", [&] { deep(&one); }); }
"""
    done = run_program(
        compile_program(source, tmp_path, headers, "-Wno-error", "-DSTC_SIM_STACK_BYTES=1048576")
    )
    assert done.returncode == 3
    assert "task top: stack overflow" in done.stderr


HALVES = """
#include <cstdio>
int main() {
  float given;
  while (std::fread(&given, 4, 1, stdin)) {
    const half stored = half(given);
    const float widened = (float)stored;
    std::fwrite(&stored, 2, 1, stdout);
    std::fwrite(&widened, 4, 1, stdout);
  }
}
"""


def test_half_is_rounded_as_ieee_says(tmp_path: Path, headers: Path) -> None:
    """All halves, the midpoints between them with their neighbours, and random bits, against numpy."""
    binary = compile_program("#include <hls_half.h>\n" + HALVES, tmp_path, headers)
    with np.errstate(all="ignore"):
        halves = np.arange(1 << 16, dtype=np.uint16).view(np.float16).astype(np.float32)
        bits = halves.view(np.uint32)
        near = [bits + np.uint32(step) for step in (0, 1, 0xFFF, 0x1000, 0x1001)]
        tiny = (np.arange(1 << 12) * 2.0**-26).astype(np.float32).view(np.uint32)
        drawn = np.random.default_rng(0).integers(0, 1 << 32, 1 << 17, dtype=np.uint32)
        given = np.concatenate([*near, tiny, drawn]).view(np.float32)
        expected = given.astype(np.float16)
    done = subprocess.run([binary], input=given.tobytes(), capture_output=True, check=True)
    found = np.frombuffer(done.stdout, np.dtype([("stored", "<f2"), ("widened", "<f4")]))
    np.testing.assert_array_equal(found["stored"], expected)
    np.testing.assert_array_equal(found["widened"], expected.astype(np.float32))
    numbers = ~np.isnan(given)
    assert (found["stored"].view(np.uint16) == expected.view(np.uint16))[numbers].all()  # signs of zeros too


def test_half_has_no_arithmetic(tmp_path: Path) -> None:
    """It would be computed in float, which rounds otherwise."""
    source = tmp_path / "sum.cpp"
    source.write_text("#include \"hls_half.h\"\nhalf sum(half a, half b) { return a + b; }\n")
    done = subprocess.run(["g++", "-fsyntax-only", "-I", INCLUDE, source], capture_output=True, text=True, check=False)
    assert done.returncode and "no match for" in done.stderr
