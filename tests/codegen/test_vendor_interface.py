"""Kernels use what the vendor documents, and the headers that run offer no more than that."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from l6_examples import EXAMPLES

from stc.codegen.project import emit_project
from stc.diagnostics import CompileError
from stc.scalars.table import ROWS
from stc.simulation.package import INCLUDE, INTERFACE
from stc.simulation.vendor_interface import check_interface

pytestmark = [pytest.mark.heavy, pytest.mark.skipif(shutil.which("g++") is None, reason="g++ is needed")]

HEADERS = '#include "hls_stream.h"\n#include "hls_streamofblocks.h"\n#include "hls_vector.h"\n#include "hls_math.h"\n'
TYPES = """
typedef hls::vector<float, 4> token;
typedef token block[8];
"""
PROBE = "static void use{0}(hls::stream<token> &s, hls::stream_of_blocks<block> &b, token v, token w) {{ {1} }}"
OFFERED = [
    "s.write(s.read()); s << v; s >> v;",
    "if (s.read_nb(v)) s.write_nb(v);",
    "if (!s.empty() && !s.full() && s.size() < s.capacity()) return;",
    'hls::stream<token, 2> t("t"); hls::stream<float> u; t.write(v);',
    "hls::stream_of_blocks<block> c; hls::stream_of_blocks<block, 2> d; hls::stream_of_blocks<block, 3> e;",
    "char name[] = {'c', 0}; hls::stream_of_blocks<block> c(2, name);",
    "hls::read_lock<block> l(b); v = l[3]; float f = l[3][1];",
    "hls::write_lock<block> l(b); l[3] = v; l[3][1] = 1.0f;",
    "hls::stream_of_blocks<block, 5> c; hls::write_lock<block> l(c);",
    "token u(2.0f); u = {1.0f, 2.0f, 3.0f, 4.0f}; u = u * v + w; u -= v; u[1] = u.reduce_add();",
    "bool less = v < w, same = v == w; int n = v.size();",
    "float f = hls::exp(v[0]) + hls::rsqrt(v[1]) + hls::fmax(v[2], hls::erf(v[3]));",
]
NOT_OFFERED = [
    'hls::stream_of_blocks<block, 2> c("c");',
    'hls::stream_of_blocks<block, 1> c("c");',
    "hls::stream_of_blocks<block, 3> c(3);",
    'std::string name("t"); hls::stream<token, 2> t(name);',
    "hls::stream<token, 2> t, u(t);",
    "v = v.data()[0];",
    "v = -v;",
    "v = ~v;",
    "bool less = (v < w)[0];",
    "constexpr int n = token::size();",
    "long n = s.depth();",
    "s.set_depth(4);",
    "bool n = s.is_named();",
    "long n = b.tokens_written();",
    "b.set_depth(4);",
    "b.acquire_to_read();",
    "float f = hls::sigmoid(v[0]);",
    "float f = hls::log2(v[0]);",
    "float f = hls::logb(v[0]);",
    "float f = hls::tgamma(v[0]);",
    "hls::stream<token, 2>::size_type n = 0;",
    "v.at(0);",
    "v.front();",
    "v.fill(1.0f);",
    "s.try_read(v);",
    "s.peek();",
    "s.read_dep(true);",
    "s.write(v, 1);",
    "b.read();",
    "hls::write_lock<block> l(b); l.release();",
    "hls::write_lock<block> l;",
]
LISTED = set(re.findall(r"\w+", """
    acos acospi asin asinpi atan atan2 atan2pi cos cospi sin sincos sinpi tan tanpi acosh asinh atanh cosh sinh tanh exp exp10 exp2
    expm1 frexp ldexp modf ilogb log log10 log1p cbrt hypot pow rsqrt sqrt erf erfc ceil floor llrint llround lrint lround nearbyint
    rint round trunc fmod remainder remquo copysign nan nextafter nexttoward fdim fmax fmin maxmag minmag abs divide fabs fma fract
    mad recip fpclassify isfinite isinf isnan isnormal signbit"""))
"""The functions that UG1399 2023.2 lists (HLS Math Library), those that compare apart."""
OF_LIBRARIES = {"max", "min"}
"""What the manual leaves out, and AMD's own libraries call, so that designs which others wrote run; no kernel of ours has them."""


def refused(headers: Path, bodies: list[str], folder: Path) -> list[str]:
    """The probes that do not compile, of one file with a line for each."""
    source = folder / "probes.cpp"
    before = HEADERS + "#include <string>" + TYPES
    source.write_text(before + "".join(PROBE.format(number, body) + "\n" for number, body in enumerate(bodies)))
    standard = "-std=c++14" if headers is INTERFACE else "-std=c++17"
    command = ["g++", standard, "-fsyntax-only", "-fmax-errors=0", "-w", "-I", str(headers), str(source)]
    done = subprocess.run(command, capture_output=True, text=True)
    lines = {int(found) for found in re.findall(r"probes\.cpp:(\d+):\d+:.*error", done.stderr)}
    lines |= {int(found) for found in re.findall(r"probes\.cpp:(\d+):\d+:   required from here", done.stderr)}
    return [body for number, body in enumerate(bodies) if number + before.count("\n") + 1 in lines]


@pytest.mark.parametrize("headers", [INTERFACE, INCLUDE], ids=["declared", "simulated"])
def test_what_is_documented_is_there_and_nothing_else(headers: Path, tmp_path: Path) -> None:
    assert refused(headers, OFFERED, tmp_path) == []
    assert refused(headers, NOT_OFFERED, tmp_path) == NOT_OFFERED


def functions_of(header: Path) -> set[str]:
    """What `hls_math.h` defines or declares in the namespace hls, the macros' arguments included."""
    text = subprocess.run(["g++", "-E", "-P", str(header)], capture_output=True, text=True, check=True).stdout
    inside = text[text.rindex("namespace hls {") :]
    return set(re.findall(r"\b(?:bool|int|long|half|float|double|Value_) (\w+)\(", inside))


@pytest.mark.parametrize("headers", [INTERFACE, INCLUDE], ids=["declared", "simulated"])
def test_mathematics_is_what_the_manual_lists(headers: Path) -> None:
    prefixed = {f"half_{name}" for name in LISTED} | {f"{name}f" for name in LISTED}
    offered = functions_of(headers / "hls_math.h")
    assert {"exp", "fmax", "abs", "isnan"} <= offered
    assert offered - {*LISTED, *prefixed} == (OF_LIBRARIES if headers is INCLUDE else set())


def test_every_function_that_can_be_printed_is_listed() -> None:
    printed = {found for row in ROWS.values() if row.cpp is not None for found in re.findall(r"hls::(\w+)", row.cpp.template)}
    assert {"exp", "rsqrt"} < printed <= LISTED


def test_emission_refuses_a_kernel_that_the_interface_does_not_have() -> None:
    kernel = '#include "kernel.h"\ntypedef int row[4];\nhls::stream_of_blocks<row, 2> rows("rows");\n'
    texts = {"kernel.h": HEADERS, "kernel.cpp": kernel}
    with pytest.raises(CompileError, match=r"kernel.cpp: the vendor's headers do not have this.*invalid conversion"):
        check_interface(texts)
    check_interface({**texts, "kernel.cpp": kernel.replace('("rows")', "")})


def test_every_emission_is_checked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    model = EXAMPLES["converter"].model()
    monkeypatch.setattr("stc.codegen.hls.VENDOR_HEADERS", {})
    with pytest.raises(CompileError, match="the vendor's headers do not have this"):
        emit_project(model.module, model, tmp_path / "out", {"platform": "u55c"}, {"name": "x"})
    assert not (tmp_path / "out").exists()


def test_make_csim_refuses_it_too(emitted: Callable[[str], Path], tmp_path: Path) -> None:
    project = tmp_path / "project"
    shutil.copytree(emitted("converter"), project)
    kernel = project / "kernel.cpp"
    kernel.write_text(kernel.read_text().replace(", 2> halves;", ', 2> halves("halves");'))
    done = subprocess.run(["make", "csim"], cwd=project, capture_output=True, text=True)
    assert done.returncode == 2
    assert "invalid conversion" in done.stderr
