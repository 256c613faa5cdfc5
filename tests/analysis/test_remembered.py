"""What is found out about a task is found out once, for all tasks that read the same."""

from __future__ import annotations

import pytest

from stc.analysis.loop_estimates import estimated_anew, innermost_loops
from stc.analysis.remembered import Remembered, text_of
from stc.dialects.dataflow import TaskOp
from stc.dialects.parsing import parse_module

STREAM = "!stream.stream<vector<1xf32>, depth: 2>"
TEXT = f"""
%x = tensor.empty() : tensor<192xf32>
dataflow.kernel @k(%m = %x : tensor<192xf32> as memref<192xf32>) {{
  %s = stream.create @s : {STREAM}
  dataflow.task @sums ins(%p = %m : memref<192xf32>) outs(%o = %s : {STREAM}) {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    scf.for %i = %c0 to %c3 step %c1 {{
      %a = memref.load %p[%i] : memref<192xf32>
      %b = arith.addf %a, %a : f32
      %v = vector.broadcast %b : f32 to vector<1xf32>
      stream.write %v into %o : {STREAM}
    }} {{stc.pipeline = 1 : i32}}
  }}
}}"""


def task(*changes: tuple[str, str]) -> TaskOp:
    text = TEXT
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    return next(op for op in parse_module(text).walk() if isinstance(op, TaskOp))


ALIKE = {
    "another name": ("@sums", "@others"),
    "another depth": ("depth: 2", "depth: 64"),
    "another interval": ("stc.pipeline = 1", "stc.pipeline = 4"),
    "another style": ("{stc.pipeline", '{stc.style = "frp", stc.pipeline'),
}
DIFFERENT = {
    "trips": ("constant 3", "constant 4"),
    "operation": ("arith.addf", "arith.mulf"),
    "operand": ("%p[%i]", "%p[%c1]"),
    "type": ("192xf32", "64xf32"),
    "name of a value": ("%p", "%q"),
    "directive": ("{stc.pipeline", "{stc.drains, stc.pipeline"),
    "nesting": ("      %b = arith.addf %a, %a : f32\n", "%b = arith.addf %a, %a : f32\nscf.for %j = %c0 to %c3 step %c1 {}\n"),
}


@pytest.mark.parametrize("change", ALIKE)
def test_tasks_that_read_the_same(change: str) -> None:
    assert text_of(task(ALIKE[change])) == text_of(task())


@pytest.mark.parametrize("change", DIFFERENT)
def test_tasks_that_do_not(change: str) -> None:
    assert text_of(task(DIFFERENT[change])) != text_of(task())


def test_questions_are_answered_once() -> None:
    asked: list[str] = []

    def answer() -> int:
        asked.append("")
        return len(asked)

    remembered = Remembered[int](most=2)
    assert [remembered.of(task(), question, answer) for question in "aba"] == [1, 2, 1]
    assert remembered.of(task(ALIKE["another name"]), "b", answer) == 2
    assert remembered.of(task(DIFFERENT["trips"]), "a", answer) == 3
    assert remembered.of(task(DIFFERENT["operand"]), "a", answer) == 4  # all others are forgotten
    assert remembered.of(task(), "a", answer) == 5


@pytest.mark.parametrize("change", ALIKE)
def test_estimates_of_loops_do_not_depend_on_what_is_left_out(change: str) -> None:
    """Each with nothing remembered."""
    found: list[object] = []
    for one in (task(), task(ALIKE[change])):
        (loop,) = innermost_loops(one)
        found.append(estimated_anew(loop, one, 4.0))
    assert found[0] == found[1]
