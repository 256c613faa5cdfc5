"""Small programs on which `stc fuzz` once failed, each reduced to what it was about."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from xdsl.dialects.builtin import IntegerType, MemRefType, f32

from stc.codegen.cpp_types import Typedefs
from stc.codegen.names import Scope
from stc.dialects.context import make_context
from stc.dialects.parsing import parse_module
from stc.dialects.printing import print_module
from stc.execution.run import execute
from stc.transforms.linalg.propagate_reshapes import PropagateReshapesPass
from stc_testing.fuzzing.levels import AGREED, Case, check_case, executed_by_mlir
from stc_testing.small import small_options

pytestmark = pytest.mark.heavy

ID, ROW = "affine_map<(d0, d1) -> (d0, d1)>", "affine_map<(d0, d1) -> (d0)>"


def _reduce(name: str, source: str, rows: int, columns: int, element: str, operation: str, start: str) -> str:
    """Text of a reduction of the last dimension."""
    return f"""
  %{name}_c = arith.constant {start} : {element}
  %{name}_e = tensor.empty() : tensor<{rows}x{element}>
  %{name}_f = linalg.fill ins(%{name}_c : {element}) outs(%{name}_e : tensor<{rows}x{element}>) -> tensor<{rows}x{element}>
  %{name} = linalg.generic {{indexing_maps = [{ID}, {ROW}], iterator_types = ["parallel", "reduction"]}}
      ins(%{source} : tensor<{rows}x{columns}x{element}>) outs(%{name}_f : tensor<{rows}x{element}>) {{
  ^bb0(%a0: {element}, %o0: {element}):
    %r = {operation} %a0, %o0 : {element}
    linalg.yield %r : {element}
  }} -> tensor<{rows}x{element}>"""


def _unary(name: str, source: str, shape: str, lines: str, last: str, result: str = "") -> str:
    """Text of an element-wise function of a matrix."""
    element = shape.rsplit("x", 1)[1]
    made = result or shape
    return f"""
  %{name}_e = tensor.empty() : tensor<{made}>
  %{name} = linalg.generic {{indexing_maps = [{ID}, {ID}], iterator_types = ["parallel", "parallel"]}}
      ins(%{source} : tensor<{shape}>) outs(%{name}_e : tensor<{made}>) {{
  ^bb0(%a0: {element}, %o0: {made.rsplit("x", 1)[1]}):
    {lines}
    linalg.yield {last} : {made.rsplit("x", 1)[1]}
  }} -> tensor<{made}>"""


def _function(arguments: str, results: dict[str, str], body: str) -> str:
    types = ", ".join(f'{kind} {{stc.name = "out{k}"}}' for k, kind in enumerate(results.values()))
    names, kinds = ", ".join(f"%{name}" for name in results), ", ".join(results.values())
    return f"func.func @main({arguments}) -> ({types}) {{{body}\n  return {names} : {kinds}\n}}\n"


X = '%x: tensor<6x4xf32> {stc.name = "x"}'
NEGATED = _unary("n", "x", "6x4xf32", "%r = arith.negf %a0 : f32", "%r")
TEST = "%z = arith.constant 0.0 : f32\n    %r = arith.cmpf ogt, %a0, %z : f32"

PROGRAMS: dict[str, tuple[str, dict[str, Any], str]] = {
    # merge-kernels: a host reshape between members that moved behind the group drew the function's end with it.
    "reshape_between_members": (
        _function(
            X,
            {"e": "tensor<24x1xf32>", "s": "tensor<6xf32>", "m": "tensor<6xf32>"},
            NEGATED
            + """
  %c = tensor.collapse_shape %n [[0, 1]] : tensor<6x4xf32> into tensor<24xf32>
  %e = tensor.expand_shape %c [[0, 1]] output_shape [24, 1] : tensor<24xf32> into tensor<24x1xf32>"""
            + _reduce("s", "n", 6, 4, "f32", "arith.addf", "0.0")
            + _reduce("m", "x", 6, 4, "f32", "arith.addf", "0.0"),
        ),
        {},
        "",
    ),
    # simplify-movements: strided slices that drop a dimension of extent 1.
    "strided_slice_of_lower_rank": (
        _function(
            '%x: tensor<6x4x5xf32> {stc.name = "x"}',
            {"y": "tensor<3x2xf32>"},
            """
  %o = tensor.empty() : tensor<6x4x5xf32>
  %n = linalg.exp ins(%x : tensor<6x4x5xf32>) outs(%o : tensor<6x4x5xf32>) -> tensor<6x4x5xf32>
  %y = tensor.extract_slice %n[1, 2, 0] [3, 1, 2] [2, 1, 3] : tensor<6x4x5xf32> to tensor<3x2xf32>""",
        ),
        {},
        "",
    ),
    # Executing dataflow.unpack: booleans lie in memory as bytes, and are booleans again on the host.
    "boolean_result": (_function(X, {"b": "tensor<6x4xi1>"}, _unary("b", "x", "6x4xf32", TEST, "%r", "6x4xi1")), {}, ""),
    # hls-directives: three accesses to one bank in one iteration need two cycles.
    "accumulators_read_twice_in_an_iteration": (
        _function(
            '%x: tensor<24x4xf32> {stc.name = "x"}',
            {"m#0": "tensor<24xf32>", "m#1": "tensor<24xf32>"},
            f"""
  %c = arith.constant 0xFF800000 : f32
  %d = arith.constant 0x7F800000 : f32
  %e = tensor.empty() : tensor<24xf32>
  %f = linalg.fill ins(%c : f32) outs(%e : tensor<24xf32>) -> tensor<24xf32>
  %g = linalg.fill ins(%d : f32) outs(%e : tensor<24xf32>) -> tensor<24xf32>
  %m:2 = linalg.generic {{indexing_maps = [{ID}, {ROW}, {ROW}], iterator_types = ["parallel", "reduction"]}}
      ins(%x : tensor<24x4xf32>) outs(%f, %g : tensor<24xf32>, tensor<24xf32>) {{
  ^bb0(%a0: f32, %o0: f32, %o1: f32):
    %r = arith.maximumf %a0, %o0 : f32
    %s = arith.minimumf %a0, %o1 : f32
    linalg.yield %r, %s : f32, f32
  }} -> (tensor<24xf32>, tensor<24xf32>)""",
        ),
        {"tile": 1, "lanes": 1},
        '["max"]\ntile = [1, 1]\norder = [1, 0]\n',
    ),
    # Packing parameters: what the host computes may have been tiled.
    "schedule_of_host_work": (
        _function(
            f'{X}, %p: tensor<6x4xf32> {{stc.name = "p", stc.parameter}}',
            {"y": "tensor<6x4xf32>", "z": "tensor<6xf32>"},
            _reduce("s", "p", 6, 4, "f32", "arith.addf", "0.0")
            + """
  %o = tensor.empty() : tensor<6x4xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>,
      affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
      ins(%x, %s : tensor<6x4xf32>, tensor<6xf32>) outs(%o : tensor<6x4xf32>) {
  ^bb0(%a0: f32, %a1: f32, %o0: f32):
    %r = arith.addf %a0, %a1 : f32
    linalg.yield %r : f32
  } -> tensor<6x4xf32>"""
            + _reduce("z", "y", 6, 4, "f32", "arith.maximumf", "0xFF800000"),
        ),
        {},
        '["sum"]\ntile = [2, 2]\norder = [0, 1]\n',
    ),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_found_by_fuzzing(name: str, tmp_path: Path) -> None:
    text, options, schedule = PROGRAMS[name]
    case = Case(0, text, (), small_options(kernel_name="main", **options), schedule=schedule)
    outcome = check_case(case, tmp_path / "project")
    assert outcome.verdict == AGREED, f"{outcome.place}: {outcome.message}"


def test_an_expansion_without_groups_changes_the_shape() -> None:
    text = """
  %c = arith.constant 1.5 : f32
  %e = tensor.empty() : tensor<f32>
  %f = linalg.fill ins(%c : f32) outs(%e : tensor<f32>) -> tensor<f32>
  %y = tensor.expand_shape %f [] output_shape [1] : tensor<f32> into tensor<1xf32>"""
    module = parse_module(_function("", {"y": "tensor<1xf32>"}, text))
    PropagateReshapesPass().apply(make_context(), module)
    module.verify()
    (result,) = execute(module, [])
    np.testing.assert_array_equal(result, np.full(1, 1.5, np.float32))


@pytest.mark.parametrize(("sizes", "shape"), [((1, 2, 2, 1), (1, 2, 2)), ((1, 1, 2), (2,)), ((2, 1, 1), (2, 1)), ((1, 3), (1, 3))])
def test_slices_of_lower_rank_are_executed(sizes: tuple[int, ...], shape: tuple[int, ...]) -> None:
    rank = len(sizes)
    whole, part = (f"tensor<{'x'.join(map(str, entries))}xf32>" for entries in ((4,) * rank, shape))
    text = f"\n  %y = tensor.extract_slice %x{[1] * rank} {list(sizes)} {[1] * rank} : {whole} to {part}"
    x = np.arange(4**rank, dtype=np.float32).reshape((4,) * rank)
    (result,) = execute(parse_module(_function(f"%x: {whole}", {"y": part}, text)), [x])
    np.testing.assert_array_equal(result, x[tuple(slice(1, 1 + size) for size in sizes)].reshape(shape))


def test_a_task_numbered_after_another_kernels_is_not_called_as_a_stream_beside_it() -> None:
    project = Scope()
    project.declare("branch")
    kernel = Scope(project)
    assert kernel.declare("branch") == "branch2"
    assert project.declare("branch", used_in=kernel) == "branch3"


def test_printed_names_are_given_once() -> None:
    """The second %a must not be called as another value is."""
    module = parse_module(_function("%x: tensor<1xf32>", {"x": "tensor<1xf32>"}, "\n  %a = arith.constant 1 : i32"))
    block = next(op for op in module.walk() if op.name == "func.func").regions[0].block
    constant = block.first_op
    assert constant is not None
    for hint in ("a_1_1", "a", "a_1_1"):  # xDSL takes one number off
        copy = constant.clone()
        copy.results[0].name_hint = hint
        block.insert_op_before(copy, constant)
    names = [line.split("=")[0].strip() for line in print_module(module).splitlines() if "arith.constant" in line]
    assert len(set(names)) == 4


@pytest.mark.parametrize("results", ["%v, %v", "%x, %v, %x"])
def test_values_that_are_returned_twice_are_executed_by_mlir(results: str) -> None:
    count = results.count("%")
    text = f"""func.func @main(%x: tensor<3xf32>) -> ({", ".join(["tensor<3xf32>"] * count)}) {{
  %e = tensor.empty() : tensor<3xf32>
  %v = linalg.exp ins(%x : tensor<3xf32>) outs(%e : tensor<3xf32>) -> tensor<3xf32>
  return {results} : {", ".join(["tensor<3xf32>"] * count)}
}}
"""
    x = np.arange(3, dtype=np.float32)
    found = executed_by_mlir(text, parse_module(text), [x])
    for name, result in zip(results.split(", "), found, strict=True):
        np.testing.assert_allclose(result, x if name == "%x" else np.exp(x), rtol=1e-6)


def test_sums_of_narrow_integers_stay_narrow() -> None:
    text = _function(
        '%x: tensor<6x4xi32> {stc.name = "x"}',
        {"y": "tensor<2x3xi32>"},
        _reduce("s", "x", 6, 4, "i32", "arith.addi", "0")
        + "\n  %y = tensor.expand_shape %s [[0, 1]] output_shape [2, 3] : tensor<6xi32> into tensor<2x3xi32>",
    )
    x = np.arange(24, dtype=np.int32).reshape(6, 4)
    (result,) = execute(parse_module(text), [x])
    assert result.dtype == np.int32
    np.testing.assert_array_equal(result, x.sum(axis=1).reshape(2, 3))


def test_blocks_of_one_name_in_two_kernels_have_types_of_their_own() -> None:
    typedefs = Typedefs()
    booleans, floats = MemRefType(IntegerType(1), [1, 5]), MemRefType(f32, [5])
    channels = Scope()   # of all kernels
    names = [typedefs.block_type(channels.declare("buffer_block"), kind) for kind in (booleans, floats)]
    assert names[0] != names[1]
    assert typedefs.lines[names[0]] == f"typedef bool {names[0]}[5];"
    assert typedefs.lines[names[1]] == f"typedef float {names[1]}[5];"
