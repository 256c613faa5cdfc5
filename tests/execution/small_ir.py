"""Hand-written IR for the tests of the executor: types, and a kernel around tasks."""

from __future__ import annotations

import numpy as np

from stc.dialects.parsing import parse_module
from stc.execution.run import execute

F = np.float32
V = "!itensor.itensor<2xf32, iter_space: [4] * [2], iter_map: (d0) -> (d0)>"
"""A vector of 8 in tokens of 2."""
S = "!stream.stream<vector<2xf32>, depth: 2>"
MEMORY = "memref<4xvector<2xf32>>"
PACKED = "tensor<4xvector<2xf32>>"


def run(text: str, *inputs: np.ndarray, depths: bool = False, verify: bool = True) -> list[np.ndarray]:
    return execute(parse_module(text, verify=verify), list(inputs), depths=depths)


def streaming(tasks: str) -> str:
    """@main(%x) through a kernel over streams: tasks between the memory %in and the memory %out."""
    return f"""func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {{
      %p = dataflow.pack %x : tensor<8xf32> as {V} -> {PACKED}
      %q = dataflow.kernel @k(%in = %p : {PACKED} as {MEMORY}) -> ({PACKED} as {MEMORY}) {{
        %out = dataflow.memory @out : {MEMORY}
        {tasks}
        dataflow.yield %out : {MEMORY}
      }}
      %y = dataflow.unpack %q : {PACKED} as {V} -> tensor<8xf32>
      func.return %y : tensor<8xf32> }}"""


def loop(body: str, trips: int = 4) -> str:
    return f"""%c0 = arith.constant 0 : index
      %n = arith.constant {trips} : index
      %c1 = arith.constant 1 : index
      scf.for %i = %c0 to %n step %c1 {{ {body} }}"""


def load(target: str, trips: int = 4, name: str = "load") -> str:
    """A task that writes words of %in into a stream."""
    body = loop(f"%v = memref.load %m[%i] : {MEMORY} stream.write %v into %o : {S}", trips)
    return f"dataflow.task @{name} ins(%m = %in : {MEMORY}) outs(%o = {target} : {S}) {{ {body} dataflow.yield }}"


def store(source: str, trips: int = 4) -> str:
    """A task that stores a stream in %out."""
    body = loop(f"%v = stream.read %s : {S} memref.store %v, %m[%i] : {MEMORY}", trips)
    return f"dataflow.task @store ins(%s = {source} : {S}) outs(%m = %out : {MEMORY}) {{ {body} dataflow.yield }}"
