"""Text of nests over the dimensions of a tile, and of the streams that its tokens come from or go to."""

from __future__ import annotations

from collections.abc import Collection, Mapping

ITENSOR = "!itensor.itensor<{width}xf32, iter_space: [{trips}] * [{width}], iter_map: (d0) -> (d0)>"


def nest(order: str, extents: Mapping[str, int], steps: Mapping[str, int], body: str) -> str:
    """Loops %a, %b, ... in `order`, outermost first, each from %c0 to the constant of its extent; steps are 1 if none is given."""
    loops = [f"scf.for %{name} = %c0 to %c{extents[name]} step %c{steps.get(name, 1)} {{\n" for name in order]
    return "".join(loops) + body + "}" * len(order)


DESIGN = """
func.func @main(%x: tensor<{size}xf32>) -> tensor<{size}xf32> {{
  %p = dataflow.pack %x : tensor<{size}xf32> as {packed} -> tensor<{size}xvector<1xf32>>
  %q = dataflow.kernel @k(%in = %p : tensor<{size}xvector<1xf32>> as memref<{size}xvector<1xf32>>)
      -> (tensor<{words}x{word}> as memref<{words}x{word}>) {{
    %out = dataflow.memory @out : memref<{words}x{word}>
    {streams}
    dataflow.task @t ins(%m = %in : memref<{size}xvector<1xf32>>) outs({written}) {{
      {constants}
      {body}
      dataflow.yield
    }}
    dataflow.task @store ins({read}) outs(%m = %out : memref<{words}x{word}>) {{
      {constants}
      scf.for %i = %c0 to %c{words} step %c{ports} {{
        {gathered}
      }}
      dataflow.yield
    }}
    dataflow.yield %out : memref<{words}x{word}>
  }}
  %y = dataflow.unpack %q : tensor<{words}x{word}> as {unpacked} -> tensor<{size}xf32>
  func.return %y : tensor<{size}xf32>
}}
"""


def design(size: int, width: int, depth: int, body: str, numbers: Collection[int], ports: int = 1) -> str:
    """A module in which a task with `body` reads `size` entries from memory %m, and writes as many in tokens of `width` into %o0,
    %o1, ..., one for each of `ports`, of `depth`; another stores these in turn. %c3 is a constant, if 3 is among `numbers`."""
    words, word = size // width, f"vector<{width}xf32>"
    stream = f"!stream.stream<{word}, depth: {depth}>"
    return DESIGN.format(
        size=size, words=words, word=word, ports=ports, body=body,
        packed=ITENSOR.format(width=1, trips=size), unpacked=ITENSOR.format(width=width, trips=words),
        constants="\n".join(f"%c{number} = arith.constant {number} : index" for number in sorted({0, ports, words, *numbers})),
        streams="\n".join(f"%s{port} = stream.create @s{port} : {stream}" for port in range(ports)),
        written=", ".join(f"%o{port} = %s{port} : {stream}" for port in range(ports)),
        read=", ".join(f"%n{port} = %s{port} : {stream}" for port in range(ports)),
        gathered="\n".join(f"""
          %p{port} = arith.constant {port} : index  %i{port} = arith.addi %i, %p{port} : index
          %w{port} = stream.read %n{port} : {stream}
          memref.store %w{port}, %m[%i{port}] : memref<{words}x{word}>""" for port in range(ports)),
    )  # fmt: skip
