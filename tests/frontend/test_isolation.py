"""Native crashes become sentences: `stc.frontend.isolation` and its two uses."""

import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import numpy as np
import pytest
import torch

from stc.diagnostics import CompileError, Obstacle, UnsupportedError
from stc.frontend import torch_import
from stc.frontend.export import export
from stc.frontend.isolation import IsolatedFunction, isolated
from stc.frontend.sources import load_model

pytestmark = pytest.mark.heavy

Result = TypeVar("Result")


def _run(work: Callable[[], Result]) -> Result:
    return isolated(work, "the work", where="here", accepted="other work")


def test_a_result_comes_back():
    array = np.arange(1 << 18)
    np.testing.assert_array_equal(_run(lambda: array * 2), array * 2)


def test_an_exception_comes_back_as_it_was():
    def refuse():
        raise UnsupportedError([Obstacle("a", "one", "x"), Obstacle("b", "two", "y")], "rest")

    with pytest.raises(UnsupportedError) as caught:
        _run(refuse)
    assert [obstacle.what for obstacle in caught.value.obstacles] == ["one", "two"] and caught.value.rest == "rest"


def test_a_signal_is_a_sentence():
    with pytest.raises(CompileError, match=r"here: the work crashed \(Segmentation fault\); accepted: other work"):
        _run(lambda: os.kill(os.getpid(), signal.SIGSEGV))


def test_an_exit_is_a_sentence():
    with pytest.raises(CompileError, match=r"here: the work ended its process \(exit code 3\); accepted: other work"):
        _run(lambda: os._exit(3))


def test_a_function_is_made_once_and_again_after_a_death():
    def make() -> Callable[[int], tuple[int, int]]:
        calls: list[int] = []

        def call(number: int) -> tuple[int, int]:
            if number < 0:
                os.kill(os.getpid(), signal.SIGKILL)
            calls.append(number // (number - 1))
            return os.getpid(), len(calls)

        return call

    function = IsolatedFunction(make, "the work", where="here", accepted="other work")
    child, count = function(5)
    assert count == 1 and child != os.getpid() and function(7) == (child, 2)
    with pytest.raises(ZeroDivisionError):
        function(1)
    assert function(3) == (child, 3)
    with pytest.raises(CompileError, match=r"here: the work crashed \(Killed\); accepted: other work"):
        function(-1)
    another, count = function(2)
    assert count == 1 and another != child
    del function
    with pytest.raises(ProcessLookupError):  # it has ended, and was waited for
        os.kill(another, 0)


DIVISION = """
func.func @main(%x: tensor<64xi32>) -> tensor<64xi32> {
  %e = tensor.empty() : tensor<64xi32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
    ins(%x : tensor<64xi32>) outs(%e : tensor<64xi32>) {
  ^bb0(%a: i32, %b: i32):
    %n = arith.constant 7 : i32
    %q = arith.divsi %n, %a : i32
    linalg.yield %q : i32
  } -> tensor<64xi32>
  return %r : tensor<64xi32>
}
"""


def test_a_division_by_zero_in_the_reference_run(tmp_path: Path):
    file = tmp_path / "division.mlir"
    file.write_text(DIVISION)
    with pytest.raises(CompileError, match=r"division.mlir: MLIR's execution of this module crashed \(Floating point exception\)"):
        load_model(str(file))


class Plus(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + 1


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        (lambda: os.kill(os.getpid(), signal.SIGSEGV), r"torch-mlir's import crashed \(Segmentation fault\)"),
        (lambda: os._exit(0), r"torch-mlir's import ended its process \(exit code 0\)"),
        (lambda: {}["missing"], r"torch-mlir cannot import this module: KeyError: 'missing'"),
        (lambda: [].pop(), r"torch-mlir cannot import this module: IndexError: pop from empty list"),
    ],
)
def test_whatever_happens_inside_torch_mlir_is_a_sentence(
    monkeypatch: pytest.MonkeyPatch, fault: Callable[[], object], message: str
):
    monkeypatch.setattr(torch_import.FxImporter, "import_frozen_program", lambda *_, **__: fault())
    with pytest.raises(CompileError, match=message):
        export(Plus(), [torch.arange(8)], name="plus")
