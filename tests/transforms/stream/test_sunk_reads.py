"""`sink-reads` keeps values, whatever the sizes of the loops: the read stays before what uses it, once for each run of the nest."""

from __future__ import annotations

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.scf import IfOp

from stc.dialects.context import make_context
from stc.dialects.parsing import parse_module
from stc.execution.run import execute
from stc.transforms.stream.sink_reads import SinkReads

DESIGN = """
func.func @main(%x: tensor<{tokens}xf32>) -> tensor<{sums}xf32> {{
  %p = dataflow.pack %x : tensor<{tokens}xf32> as !X -> tensor<{tokens}x!W>
  %q = dataflow.kernel @k(%in = %p : tensor<{tokens}x!W> as memref<{tokens}x!W>) -> (tensor<{sums}x!W> as memref<{sums}x!W>) {{
    %out = dataflow.memory @out : memref<{sums}x!W>
    %s = stream.create @s : !stream.stream<!W, depth: 2>
    dataflow.task @load ins(%m = %in : memref<{tokens}x!W>) outs(%o = %s : !stream.stream<!W, depth: 2>) {{
      %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %n = arith.constant {tokens} : index
      scf.for %i = %c0 to %n step %c1 {{
        %w = memref.load %m[%i] : memref<{tokens}x!W>
        stream.write %w into %o : !stream.stream<!W, depth: 2>
      }}
      dataflow.yield
    }}
    dataflow.task @t ins(%m = %s : !stream.stream<!W, depth: 2>) outs(%o = %out : memref<{sums}x!W>) {{
      %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %n = arith.constant {tokens} : index
      %upper = arith.constant {inner} : index  %columns = arith.constant {columns} : index  %all = arith.constant {sums} : index
      %zero = arith.constant 0.0 : f32  %decay = arith.constant 0.7 : f32
      %x = memref.alloc() : memref<1xf32>
      %sum = memref.alloc() : memref<{sums}xf32>
      scf.for %i = %c0 to %all step %c1 {{ memref.store %zero, %sum[%i] : memref<{sums}xf32> }}
      scf.for %i = %c0 to %n step %c1 {{
        %v = stream.read %m : !stream.stream<!W, depth: 2>
        vector.store %v, %x[%c0] : memref<1xf32>, !W
        scf.for %j = %c0 to %upper step %c1 {{
          scf.for %k = %c0 to %columns step %c1 {{
            %row = arith.muli %j, %columns : index  %at = arith.addi %row, %k : index
            %a = memref.load %x[%c0] : memref<1xf32>
            %b = memref.load %sum[%at] : memref<{sums}xf32>
            %c = arith.mulf %b, %decay : f32  %d = arith.addf %c, %a : f32
            memref.store %d, %sum[%at] : memref<{sums}xf32>
          }}
        }}
      }}
      scf.for %i = %c0 to %all step %c1 {{
        %e = memref.load %sum[%i] : memref<{sums}xf32>  %w = vector.broadcast %e : f32 to !W
        memref.store %w, %o[%i] : memref<{sums}x!W>
      }}
      dataflow.yield
    }}
    dataflow.yield %out : memref<{sums}x!W>
  }}
  %y = dataflow.unpack %q : tensor<{sums}x!W> as !Y -> tensor<{sums}xf32>
  func.return %y : tensor<{sums}xf32>
}}
"""
ITENSOR = "!itensor.itensor<1xf32, iter_space: [{}] * [1], iter_map: (d0) -> (d0)>"


def design(tokens: int, inner: int, columns: int) -> ModuleOp:
    text = DESIGN.format(tokens=tokens, inner=inner, columns=columns, sums=inner * columns).replace("!W", "vector<1xf32>")
    return parse_module(text.replace("!X", ITENSOR.format(tokens)).replace("!Y", ITENSOR.format(inner * columns)), "sums.mlir")


SIZES = [(8, 2, 2), (5, 3, 7), (1, 2, 3), (7, 1, 5), (7, 5, 1), (1, 13, 1), (3, 1, 1)]


@pytest.mark.parametrize(("tokens", "inner", "columns"), SIZES)
def test_values(tokens: int, inner: int, columns: int) -> None:
    x = np.random.default_rng(2).standard_normal(tokens).astype(np.float32)
    module = design(tokens, inner, columns)
    before = execute(module, [x])[0]
    SinkReads().apply(make_context(), module)
    module.verify()
    assert any(isinstance(op, IfOp) for op in module.walk()) is (inner * columns > 1)
    np.testing.assert_array_equal(execute(module, [x])[0].view(np.int32), before.view(np.int32))
