"""Ends of streams, and tokens per loop iteration, on small tasks."""

from __future__ import annotations

import pytest
from xdsl.parser import Parser

from stc.analysis.task_graph import ends_of, task_graph
from stc.diagnostics import CompileError
from stc.dialects.context import make_context
from stc.dialects.dataflow import KernelOp, TaskOp
from stc.dialects.stream import CreateOp

READER = "dataflow.task @{name} ins(%i = %s : !S) {{ %r = stream.read %i : !S\n dataflow.yield }}"
WRITE = "stream.write %v into %o : !S"


def tasks(body: str, more: str = "", ports: str = "outs(%o = %s : !S)") -> tuple[CreateOp, list[TaskOp]]:
    text = f"""
!S = !stream.stream<f32, depth: 2>
func.func @main() {{
  dataflow.kernel @k() {{
    %s = stream.create @s : !S
    dataflow.task @writer {ports} {{
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c3 = arith.constant 3 : index
      %c4 = arith.constant 4 : index
      %c12 = arith.constant 12 : index
      %v = arith.constant 0.0 : f32
      {body}
      dataflow.yield
    }}
    {more}
  }}
  func.return
}}"""
    module = Parser(make_context(), text).parse_module()
    create = next(op for op in module.walk() if isinstance(op, CreateOp))
    return create, [op for op in module.walk() if isinstance(op, TaskOp)]


def loop(body: str, trip: int = 4, unroll: int | None = None, iv: str = "%i") -> str:
    attributes = "" if unroll is None else f" {{stc.unroll = {unroll} : i32}}"
    return f"scf.for {iv} = %c0 to %c{trip} step %c1 {{\n{body}\n}}{attributes}"


@pytest.mark.parametrize(
    ("body", "tokens"),
    [
        (WRITE, 1),
        (WRITE + "\n" + WRITE, 2),
        (loop(WRITE), 1),
        (loop(WRITE + "\n" + WRITE), 2),
        (loop(loop(WRITE, 3, 0, "%j")), 3),
        (loop(loop(loop(WRITE, 3, 0, "%k"), 4, 0, "%j")), 12),
        (loop(loop(WRITE, 3, 0, "%j") + "\n" + WRITE), 4),
        (loop(loop(WRITE, 3, 0, "%j")) + "\n" + loop(WRITE), 3),  # the larger of two loops
        (loop(loop(WRITE, 3, None, "%j") + "\n" + WRITE), 1),  # the inner loop has iterations of its own
        (loop(WRITE, 12, 4), 4),  # four iterations at a time
        (loop(loop(WRITE, 3, 0, "%j"), 12, 4), 12),
        (loop(WRITE, 3, 8), 3),
        (loop(WRITE, 3, 0), 3),  # unrolled into the task
        ("", 1),
    ],
)
def test_tokens_per_iteration(body: str, tokens: int):
    create, _ = tasks(body, READER.format(name="reader"))
    kernel = create.parent_op()
    assert isinstance(kernel, KernelOp)
    (channel,) = task_graph(kernel).channels
    assert channel.written == tokens


def test_ends():
    create, (writer, reader) = tasks(WRITE, READER.format(name="reader"))
    assert ends_of(create.result) == (writer, reader)


@pytest.mark.parametrize(("readers", "count"), [([], 0), (["a", "b"], 2)])
def test_a_stream_has_one_reader(readers: list[str], count: int):
    create, _ = tasks(WRITE, "\n".join(READER.format(name=name) for name in readers))
    create.result.name_hint = "s"
    with pytest.raises(CompileError) as raised:
        ends_of(create.result)
    expected = f"stream %s: has 1 writers and {count} readers; accepted: one of each (insert-forks duplicates a stream)"
    assert str(raised.value) == expected
