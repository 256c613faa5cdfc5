"""How wide tokens are of sums, and of what is taken apart: never so that whoever takes a part of one needs a divider to find it."""

from __future__ import annotations

import pytest

from stc.dialects.context import make_context
from stc.dialects.itensor import ReadOp, WriteOp
from stc.dialects.parsing import parse_module
from stc.transforms.dataflow.vectorize_streams import VectorizeStreams

GENERIC = """linalg.generic {{indexing_maps = #{maps}, iterator_types = [{kinds}]}} ins({ins}) outs({outs})
      attrs = {{stc.schedule = #{schedule}}} {{ ^bb0(%s: {kind}, %o: {kind}): linalg.yield %s : {kind} }} -> !T"""
HEAD = """
#sums = [affine_map<(d0, d1) -> (d1, d0)>, affine_map<(d0, d1) -> (d0)>]
#same = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>]
#maker = #dataflow.schedule<tile = [{extent}{more}], order = [{order}], unroll = [{made}{one}], vector = []>
#taker = #dataflow.schedule<tile = [{extent}], order = [0], unroll = [{taken}], vector = []>
!T = tensor<{extent}x{kind}>
!P = !itensor.itensor<{extent}x{kind}, iter_space: [] * [], iter_map: () -> (0)>
"""


def reader(name: str, stream: str, kind: str) -> str:
    generic = GENERIC.format(
        maps="same", kinds='"parallel"', ins="%t : !T", outs="%n : !T", schedule="taker", kind=kind
    )
    return f"""
  dataflow.task @{name} ins(%q = %{stream} : !P) {{
    %t = itensor.read %q[] : !P -> !T  %n = tensor.empty() : !T
    %r = {generic}
    "test.op"(%r) : (!T) -> ()
  }}"""


def widths(text: str, lanes: int) -> tuple[set[int], set[int]]:
    """Of the tokens that are written, and of those that are read."""
    context = make_context()
    context.allow_unregistered = True
    module = parse_module(text, context=context)
    VectorizeStreams(lanes=lanes).apply(context, module)
    module.verify()
    written = {op.itensor_type.element_shape[-1] for op in module.walk() if isinstance(op, WriteOp)}
    return written, {op.itensor_type.element_shape[-1] for op in module.walk() if isinstance(op, ReadOp)}


@pytest.mark.parametrize(
    ("kind", "extent", "made", "taken", "width"),
    [
        ("f32", 48, 8, 1, 8),   # as many as are added
        ("f32", 48, 8, 4, 8),
        ("f32", 48, 8, 16, 8),  # who takes more takes several
        ("f32", 48, 6, 1, 1),   # one of six is no bits of a number
        ("f32", 12, 12, 4, 12),  # a row is found
        ("f32", 12, 8, 4, 4),   # eight do not make up twelve
        ("f32", 64, 32, 1, 1),  # 1,024 bits
        ("i8", 64, 32, 1, 32),
        ("i20", 24, 24, 8, 8),  # 20 bits are stored in 32
        ("i9", 48, 48, 16, 16),
        ("i33", 8, 8, 4, 8),
    ],
)
def test_sums(kind: str, extent: int, made: int, taken: int, width: int) -> None:
    head = HEAD.format(extent=extent, more=", 5", order="1, 0", made=made, one=", 1", taken=taken, kind=kind)
    ins = f"%p : tensor<5x{extent}x{kind}>"
    sums = GENERIC.format(
        maps="sums", kinds='"parallel", "reduction"', ins=ins, outs="%n : !T", schedule="maker", kind=kind
    )
    text = f"""{head}
dataflow.kernel @k() {{
  %a, %e = "test.op"() : () -> (tensor<5x{extent}x{kind}>, !P)
  %x = dataflow.task @sums ins(%p = %a : tensor<5x{extent}x{kind}>) outs(%out = %e : !P) -> !P {{
    %n = tensor.empty() : !T
    %r = {sums}
    %u = itensor.write %r into %out[] : !T -> !P
    dataflow.yield %u : !P
  }}
{reader("taker", "x", kind)}
}}
"""
    assert widths(text, 1) == ({width}, {width})


@pytest.mark.parametrize(
    ("extent", "parts", "made", "width"),
    [
        (16, 2, 8, 8),
        (16, 4, 16, 16),
        (48, 3, 16, 4),
        (48, 3, 48, 4),
        (60, 2, 20, 4),
        (20, 2, 20, 4),
        (12, 3, 12, 12),  # a row
        (20, 5, 20, 4),  # which is too long
        (16, 2, 4, 4),
    ],
)
def test_what_is_taken_apart(extent: int, parts: int, made: int, width: int) -> None:
    """Readers take four at once each; what is no power of two of those, nor a row, leaves them as they are."""
    head = HEAD.format(extent=extent, more="", order="0", made=made, one="", taken=4, kind="f32")
    copies = GENERIC.format(maps="same", kinds='"parallel"', ins="%p : !T", outs="%n : !T", schedule="maker", kind="f32")
    names = [f"c{part}" for part in range(parts)]
    at, types = ", ".join(f"[{part * extent}]" for part in range(parts)), ", ".join(["!P"] * parts)
    text = f"""{head}
!A = !itensor.itensor<{extent}xf32, iter_space: [{parts}] * [{extent}], iter_map: (d0) -> (d0)>
dataflow.kernel @k() {{
  %a, %e = "test.op"() : () -> (!T, !A)
  %x = dataflow.task @maker ins(%p = %a : !T) outs(%out = %e : !A) -> !A {{
    %k0 = arith.constant 0 : index  %k1 = arith.constant {extent} : index  %k2 = arith.constant {extent * parts} : index
    %w = scf.for %i = %k0 to %k2 step %k1 iter_args(%to = %out) -> (!A) {{
      %n = tensor.empty() : !T
      %r = {copies}
      %u = itensor.write %r into %to[%i] : !T -> !A
      scf.yield %u : !A
    }}
    dataflow.yield %w : !A
  }}
  {", ".join(f"%{name}" for name in names)} = itensor.chunk %x at {at} : !A to {types}
{"".join(reader(f"taker{name}", name, "f32") for name in names)}
}}
"""
    assert widths(text, 4) == ({width}, {width})
