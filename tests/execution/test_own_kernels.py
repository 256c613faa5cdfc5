"""Own kernels run through their C++ or Python; one that does not do what it declares is found."""

from __future__ import annotations

import shutil

import numpy as np
import pytest
from xdsl.dialects.builtin import f32

from stc.diagnostics import CompileError
from stc.dialects.dataflow import KernelOp, OwnKernelOp, OwnLoop, TaskOp, YieldOp
from stc.dialects.itensor import EmptyOp, ItensorType
from stc.dialects.parsing import parse_module
from stc.execution.own_kernels import python_kernel
from stc.execution.run import execute

pytestmark = [pytest.mark.heavy, pytest.mark.skipif(shutil.which("g++") is None, reason="g++ is needed")]

SHAPE = (5, 6)
BY_ROWS = ItensorType.of([1, 3], [5, 2], [1, 3], [0, 1], f32)
BY_COLUMNS = ItensorType.of([1, 3], [2, 5], [3, 1], [1, 0], f32)
SOURCE = """
#include <hls_stream.h>
#include <hls_vector.h>
void running(hls::stream<hls::vector<float, 3>> &x, hls::stream<hls::vector<float, 3>> &out) {
  hls::vector<float, 3> sum = 0.0f;
  tokens: for (int t = 0; t < 10; ++t) {
#pragma HLS pipeline II=1 style=stp
    sum = sum + x.read();
    out.write(sum);
  }
}
"""


def running_sums(x: np.ndarray) -> np.ndarray:
    """What the C++ computes of a tensor whose tokens come by rows."""
    return x.reshape(10, 3).cumsum(axis=0, dtype=np.float32).reshape(SHAPE)


@python_kernel("running sums")
def _running(x: np.ndarray) -> np.ndarray:
    return running_sums(x)


@python_kernel("of another shape")
def _of_another_shape(x: np.ndarray) -> np.ndarray:
    return x[1:]


def _module(source: str = SOURCE, kind: ItensorType = BY_ROWS, python: str | None = None):
    module = parse_module("func.func @main(%x: tensor<5x6xf32>) -> tensor<5x6xf32> { func.return %x : tensor<5x6xf32> }")
    (function,) = module.body.block.ops
    block = function.regions[0].block
    kernel = KernelOp("k", [block.args[0]], [kind], [block.args[0].type])
    task = TaskOp("t", [kernel.arguments[0]], [empty := EmptyOp(kind)])
    task.input_ports[0].name_hint = "x"
    own = OwnKernelOp(
        "running", task.input_ports, task.output_ports, file="running.cpp", source=source, python=python,
        loops=[OwnLoop("tokens", (10,), 1, 9, (((0, 10),), ((0, 10),)))],
    )
    task.body.block.add_ops([own, YieldOp(*own.results)])
    kernel.body.block.add_ops([empty, task, YieldOp(*task.results)])
    last = block.last_op
    assert last is not None
    block.insert_op_before(kernel, last)
    last.operands[0] = kernel.results[0]
    module.verify()
    return module


def _input() -> np.ndarray:
    return np.random.default_rng(0).standard_normal(SHAPE).astype(np.float32)


@pytest.mark.parametrize("python", [None, "running sums"])
@pytest.mark.parametrize("depths", [False, True])
def test_it_is_executed(python: str | None, depths: bool) -> None:
    (found,) = execute(_module(python=python), [_input()], depths=depths)
    assert np.array_equal(found, running_sums(_input()))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("t < 10", "t < 9", "its C\\+\\+ reads 9 of 'x'; accepted: 10 tokens, as its port declares"),
        ("t < 10", "t < 11", "its C\\+\\+ reads one more of 'x'; accepted: 10 tokens"),
        ("out.write(sum);", "if (t) out.write(sum);", "its C\\+\\+ writes 9 of"),
        ("x.read()", "x.read(), __builtin_trap()", "ended with code"),
        ("x.read()", "y.read()", "g\\+\\+ rejects it: running.cpp:8"),
        ("<hls_stream.h>", '"mine.h"', "running.cpp:2: includes 'mine.h'"),
    ],
)
def test_a_fault_of_its_cpp_is_found(old: str, new: str, message: str) -> None:
    with pytest.raises(CompileError, match=message):
        execute(_module(SOURCE.replace(old, new)), [_input()])


def test_a_wrong_value_and_a_wrong_order_differ_from_what_is_wanted() -> None:
    (wrong,) = execute(_module(SOURCE.replace("+ x.read()", "- x.read()")), [_input()])
    (in_columns,) = execute(_module(kind=BY_COLUMNS), [_input()])
    assert np.array_equal(wrong, -running_sums(_input()))
    assert not np.allclose(in_columns, running_sums(_input()))


@pytest.mark.parametrize(
    ("python", "message"),
    [
        ("nobody", "no Python function is called 'nobody'"),
        ("of another shape", "is float32\\[4, 6\\]; accepted: float32\\[5, 6\\]"),
    ],
)
def test_a_fault_of_its_python_is_found(python: str, message: str) -> None:
    with pytest.raises(CompileError, match=message):
        execute(_module(python=python), [_input()])
