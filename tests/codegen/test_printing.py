"""Literals, expressions and statements one by one."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from l6_examples import parse, source_of

from stc.codegen.design import design_of
from stc.codegen.hls import print_hls
from stc.codegen.literals import float_literal
from stc.codegen.names import Scope
from stc.codegen.source_lines import SourceLines
from stc.diagnostics import CompileError
from stc.platforms.platform import load_platform

FRAME = """
!X = !itensor.itensor<1xf32, iter_space: [4] * [1], iter_map: (d0) -> (d0)>
!S = !stream.stream<{kind}, depth: 2>
func.func @main(%x: tensor<4xf32> {{stc.name = "x"}}) -> (tensor<4xf32> {{stc.name = "out"}}) {{
  %xp = dataflow.pack %x : tensor<4xf32> as !X -> tensor<4xvector<1xf32>>
  %out = dataflow.kernel @k(%x_in = %xp : tensor<4xvector<1xf32>> as memref<4xvector<1xf32>>)
      -> (tensor<4xvector<1xf32>> as memref<4xvector<1xf32>>) {{
    %y = dataflow.memory @y : memref<4xvector<1xf32>>
    %a = stream.create @a : !S
    %b = stream.create @b : !S
    dataflow.task @body ins(%i = %a : !S) outs(%o = %b : !S) {{
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c4 = arith.constant 4 : index
      %two = arith.constant 2.0 : f32
      %minus = arith.constant -1.0 : f32
      scf.for %n = %c0 to %c4 step %c1 {{
        %v = stream.read %i : !S
        {body}
        stream.write %r into %o : !S
      }} {{stc.label = "n", stc.pipeline = 1 : i32}}
      dataflow.yield
    }}
    dataflow.yield %y : memref<4xvector<1xf32>>
  }}
  %r = dataflow.unpack %out : tensor<4xvector<1xf32>> as !X -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}}
"""


def printed(body: str, kind: str = "f32") -> list[str]:
    """The statements printed for `body`, which makes %r of %v."""
    lines = statements(body, kind)
    return lines[: next(number for number, line in enumerate(lines) if line.startswith("}"))]


def statements(body: str, kind: str = "f32") -> list[str]:
    """The same with all that follows in the file."""
    text = print_hls(design_of(parse(FRAME.format(body=body, kind=kind)), load_platform("u55c"))).source
    lines = [line.strip() for line in text.split("a.read();")[1].splitlines()]
    return [line for line in lines if line]


def test_a_product_of_no_pair_is_refused() -> None:
    """Edited IR: no multiplier is bound to half a DSP."""
    body = """%s = arith.fptosi %v : f32 to i32
        %p = arith.muli %s, %s {stc.multipliers = "pairs"} : i32
        %r = arith.sitofp %p : i32 to f32"""
    with pytest.raises(CompileError, match=r"is marked stc\.multipliers = 'pairs', and is none of two that share a DSP"):
        printed(body)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("%s = arith.addf %v, %two : f32\n %r = arith.mulf %s, %v : f32", "b.write((v + 2.0f) * v);"),
        ("%s = arith.mulf %v, %two : f32\n %r = arith.addf %v, %s : f32", "b.write(v + v * 2.0f);"),
        ("%s = arith.addf %v, %two : f32\n %r = arith.addf %v, %s : f32", "b.write(v + (v + 2.0f));"),
        ("%s = arith.subf %v, %two : f32\n %r = arith.subf %s, %v : f32", "b.write(v - 2.0f - v);"),
        ("%s = arith.negf %v : f32\n %r = arith.negf %s : f32", "b.write(-(-v));"),
        ("%r = arith.negf %minus : f32", "b.write(-(-1.0f));"),
        ("%r = arith.divf %v, %minus : f32", "b.write(v / -1.0f);"),
        ("%s = math.exp %v : f32\n %r = math.rsqrt %s : f32", "b.write(hls::rsqrt(hls::exp(v)));"),
        ("%unit = arith.constant 1.0 : f32\n %s = arith.addf %v, %two : f32\n %r = arith.divf %unit, %s : f32",
         "b.write(hls::recip(v + 2.0f));"),
        ("%unit = arith.constant 1.0 : f32\n %s = arith.divf %unit, %two : f32\n %r = arith.mulf %v, %s : f32",
         "b.write(v * (1.0f / 2.0f));"),
        ("%r = arith.divf %two, %v : f32", "b.write(2.0f / v);"),
        ("%r = arith.maximumf %v, %two : f32", "b.write(maximum(v, 2.0f));"),
        ("%g = arith.cmpf ogt, %v, %two : f32\n %r = arith.select %g, %v, %two : f32", "b.write(v > 2.0f ? v : 2.0f);"),
        ("%g = arith.cmpf ult, %v, %two : f32\n %r = arith.select %g, %v, %two : f32", "b.write(!(v >= 2.0f) ? v : 2.0f);"),
        ("%m = arith.index_cast %n : index to i32\n %r = arith.sitofp %m : i32 to f32", "b.write((float)n);"),
        ("%m = arith.divui %n, %c4 : index\n %c = arith.index_cast %m : index to i32\n %r = arith.sitofp %c : i32 to f32",
         "b.write((float)(n >> 2));"),
    ],
)
def test_expression(body: str, expected: str) -> None:
    assert printed(body)[-1] == expected
    assert len(printed(body)) == 1, "single-use values are part of the expression"


def test_a_value_used_twice_is_a_variable() -> None:
    assert printed("%s = arith.addf %v, %two : f32\n %r = arith.mulf %s, %s : f32") == [
        "const float s = v + 2.0f;", "b.write(s * s);"
    ]


def test_a_read_of_memory_does_not_move_past_a_write() -> None:
    body = """%m = memref.alloc() : memref<4xf32>
    %l = memref.load %m[%n] : memref<4xf32>
    memref.store %v, %m[%n] : memref<4xf32>
    %r = arith.addf %l, %v : f32"""
    assert printed(body) == ["float m[4];", "const float l = m[n];", "m[n] = v;", "b.write(l + v);"]


def test_swapped_loop_values_are_saved() -> None:
    body = """%p, %q = scf.for %k = %c0 to %c4 step %c1 iter_args(%f = %v, %g = %two) -> (f32, f32) {
      scf.yield %g, %f : f32, f32
    } {stc.label = "swap", stc.unroll = 0 : i32}
    %r = arith.addf %p, %q : f32"""
    lines = printed(body)
    first = lines.index("const float next_g = f;")
    assert lines[first : first + 3] == ["const float next_g = f;", "f = g;", "g = next_g;"]


def test_elementwise_vectors_become_lanes() -> None:
    lines = printed("%t = vector.broadcast %two : f32 to vector<4xf32>\n %r = arith.mulf %v, %t : vector<4xf32>", "vector<4xf32>")
    assert "r[lane] = v[lane] * 2.0f;" in lines


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("%h = arith.truncf %v : f32 to f16\n%w = arith.bitcast %h : f16 to i16\n%r = arith.sitofp %w : i16 to f32",
         "arith.bitcast of f16 to i16; accepted: i32 to f32, f32 to i32"),
        ("%w = arith.extf %v : f32 to f64\n %r = arith.truncf %w : f64 to f32", "type f64"),
        ("%c3 = arith.constant 3 : index\n%m = arith.floordivsi %n, %c3 : index\n %c = arith.index_cast %m : index to i32\n"
         "%r = arith.sitofp %c : i32 to f32", "power of two"),
    ],
)
def test_refused(body: str, message: str) -> None:
    with pytest.raises(CompileError, match=message):
        printed(body)


@given(st.floats(width=32))
def test_float_literals_read_back_exactly(value: float) -> None:
    text = float_literal(value)
    if math.isnan(value):
        assert text == "F32_NAN"
    elif math.isinf(value):
        assert text in ("F32_INFINITY", "-F32_INFINITY")
    else:
        back = np.float32(text.removesuffix("f"))
        assert back == np.float32(value) and np.signbit(back) == np.signbit(np.float32(value))


def test_names() -> None:
    scope = Scope()
    assert [scope.declare(name) for name in ("attn.c_proj", "double", "x")] == ["attn_c_proj", "double_", "x"]
    assert [Scope(scope).declare("x"), scope.declare("x"), scope.declare("X")] == ["x2", "x2", "X2_"]


def test_a_ring_of_blocks_is_declared_as_the_vendors_class_allows() -> None:
    """No name, and no partition: the class takes neither."""
    lines = print_hls(design_of(parse(source_of("converter")), load_platform("u55c"))).source.splitlines()
    declared = next(number for number, line in enumerate(lines) if line.startswith("  hls::stream_of_blocks<"))
    assert lines[declared] == "  hls::stream_of_blocks<halves_block, 2> halves;"
    assert not lines[declared + 1].startswith("#pragma")


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("%q = arith.cmpi ult, %n, %c4 : index", "n < 4"),
        ("%m = arith.addi %n, %c1 : index\n%q = arith.cmpi uge, %m, %c4 : index", "n + 1 >= 4"),
        ("%m = arith.subi %n, %c1 : index\n%q = arith.cmpi ult, %m, %c4 : index", "(unsigned)(n - 1) < (unsigned)4"),
    ],
    ids=["induction variable", "sum", "may be below 0"],
)
def test_a_comparison_of_indices_is_plain_where_none_is_negative(condition: str, expected: str) -> None:
    assert f"{expected} ? 2.0f : " in "".join(printed(f"{condition}\n%r = arith.select %q, %two, %v : f32"))


def test_a_short_index_is_written_where_it_is_used() -> None:
    """A name is for what is longer, or is data."""
    body = "%m = arith.addi %n, %c1 : index\n%q = arith.cmpi slt, %m, %c4 : index\n%p = arith.cmpi eq, %m, %c4 : index\n"
    body += "%s = arith.select %q, %two, %v : f32\n%r = arith.select %p, %s, %minus : f32"
    text = " ".join(printed(body))
    assert text.count("n + 1") == 2 and "int " not in text


def test_dimensions_of_one_entry_are_left_out() -> None:
    body = """%m = memref.alloc() {stc.partition = [[0 : i32, 0 : i32], [2 : i32, 0 : i32]]} : memref<1x4x8x1xf32>
      scf.for %k = %c0 to %c4 step %c1 {
        memref.store %v, %m[%c0, %k, %c1, %c0] : memref<1x4x8x1xf32>
      } {stc.label = "fill"}
      %r = memref.load %m[%c0, %c1, %c1, %c0] : memref<1x4x8x1xf32>"""
    lines = statements(body)
    assert "float m[4][8];" in lines and "m[k][1] = v;" in lines
    assert [line for line in lines if "partition" in line] == ["#pragma HLS array_partition variable=m type=complete dim=2"]


def test_a_choice_in_an_alternative_continues_it() -> None:
    body = """%m = memref.alloc() : memref<4xf32>
      scf.for %k = %c0 to %c4 step %c1 {
        %a = arith.cmpi slt, %k, %c1 : index
        scf.if %a { memref.store %v, %m[%k] : memref<4xf32> } else {
          %b = arith.cmpi eq, %k, %c1 : index
          scf.if %b { memref.store %two, %m[%k] : memref<4xf32> } else { memref.store %v, %m[%c0] : memref<4xf32> }
        }
      } {stc.label = "fill"}
      %r = memref.load %m[%c0] : memref<4xf32>"""
    lines = statements(body)
    begin = lines.index("if (k < 1) {")
    assert lines[begin : begin + 7] == [
        "if (k < 1) {", "m[k] = v;", "} else if (k == 1) {", "m[k] = 2.0f;", "} else {", "m[0] = v;", "}",
    ]
    assert lines[begin + 7] == "}", "the loop's"


def test_lines_are_broken_where_they_may_be() -> None:
    lines = SourceLines()
    lines.add(f"const float {'a' * 50} = {'b' * 40} + {'c' * 40} * {'d' * 40};")
    lines.add(f'call("{"x, " * 60}");')
    lines.comment("word " * 60)
    *code, quoted, first, second, third = lines.lines
    assert len(code) == 2 and all(len(line) <= 120 for line in code) and code[1].startswith("    ")
    assert quoted == f'call("{"x, " * 60}");', "not inside quotes"
    assert all(line.startswith("// word") and len(line) <= 120 for line in (first, second, third))
