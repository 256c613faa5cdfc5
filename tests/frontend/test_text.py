"""Upstream operations are read and printed as MLIR does; malformed IR is refused with its place."""

from __future__ import annotations

import subprocess

import pytest
from xdsl.dialects.linalg import ops
from xdsl.dialects.linalg.abstract_ops import NamedOperation

from stc.diagnostics import CompileError
from stc.dialects.locations import source_location
from stc.dialects.parsing import parse_module
from stc.dialects.printing import print_module
from stc.frontend.reference import optimiser_path
from stc.xdsl_gaps.linalg_named import CONTRACTION_OPS, POINTWISE_OPS

pytestmark = pytest.mark.heavy

OPERATIONS = """
func.func @main(%a: tensor<2x4x8xf32>, %b: tensor<2x8x4xf32>, %c: tensor<4x8xf32>, %v: tensor<8xf32>) -> tensor<2x4x4xf32> {
  %z = arith.constant {stc.module = "m"} 0.0 : f32
  %e = tensor.empty() {stc.module = "m"} : tensor<2x4x4xf32>
  %f = linalg.fill {stc.module = "m"} ins(%z : f32) outs(%e : tensor<2x4x4xf32>) -> tensor<2x4x4xf32>
  %m = linalg.batch_matmul {stc.module = "m"} ins(%a, %b : tensor<2x4x8xf32>, tensor<2x8x4xf32>)
    outs(%f : tensor<2x4x4xf32>) -> tensor<2x4x4xf32>
  %te = tensor.empty() : tensor<8x4xf32>
  %t = linalg.transpose ins(%c : tensor<4x8xf32>) outs(%te : tensor<8x4xf32>) permutation = [1, 0] {stc.module = "m"}
  %be = tensor.empty() : tensor<3x8x4xf32>
  %bb = linalg.broadcast ins(%t : tensor<8x4xf32>) outs(%be : tensor<3x8x4xf32>) dimensions = [0] {stc.module = "m"}
  %re = tensor.empty() : tensor<8xf32>
  %r = linalg.reduce ins(%t : tensor<8x4xf32>) outs(%re : tensor<8xf32>) dimensions = [1] {stc.module = "m"}
    (%x: f32, %y: f32) { %s = arith.addf %x, %y : f32  %s2 = arith.mulf %s, %y : f32  linalg.yield %s2 : f32 }
  %r2 = linalg.reduce { arith.subf } ins(%t : tensor<8x4xf32>) outs(%re : tensor<8xf32>) dimensions = [1]
  %cc = tensor.empty() : tensor<8x8xf32>
  %mt = linalg.matmul indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d1, d2)>,
    affine_map<(d0, d1, d2) -> (d0, d1)>] {stc.module = "m"} ins(%t, %t : tensor<8x4xf32>, tensor<8x4xf32>)
    outs(%cc : tensor<8x8xf32>) -> tensor<8x8xf32>
  %md = linalg.matmul {stc.module = "m"} ins(%t, %c : tensor<8x4xf32>, tensor<4x8xf32>)
    outs(%cc : tensor<8x8xf32>) -> tensor<8x8xf32>
  %ve = tensor.empty() : tensor<4xf32>
  %mv = linalg.matvec ins(%c, %v : tensor<4x8xf32>, tensor<8xf32>) outs(%ve : tensor<4xf32>) -> tensor<4xf32>
  %vm = linalg.vecmat ins(%v, %t : tensor<8xf32>, tensor<8x4xf32>) outs(%ve : tensor<4xf32>) -> tensor<4xf32>
  %de = tensor.empty() : tensor<f32>
  %d = linalg.dot ins(%v, %v : tensor<8xf32>, tensor<8xf32>) outs(%de : tensor<f32>) -> tensor<f32>
  %ex = linalg.exp {stc.module = "m"} ins(%t : tensor<8x4xf32>) outs(%te : tensor<8x4xf32>) -> tensor<8x4xf32>
  %rs = linalg.rsqrt ins(%t : tensor<8x4xf32>) outs(%te : tensor<8x4xf32>) -> tensor<8x4xf32>
  %dv = linalg.div ins(%t, %ex : tensor<8x4xf32>, tensor<8x4xf32>) outs(%te : tensor<8x4xf32>) -> tensor<8x4xf32>
  %co = tensor.collapse_shape %m [[0, 1], [2]] {stc.module = "m"} : tensor<2x4x4xf32> into tensor<8x4xf32>
  %xs = tensor.expand_shape %co [[0, 1], [2]] output_shape [2, 4, 4] {stc.module = "m"} : tensor<8x4xf32> into tensor<2x4x4xf32>
  %sl = tensor.extract_slice %co[0, 0] [4, 4] [1, 1] {stc.module = "m"} : tensor<8x4xf32> to tensor<4x4xf32>
  %si = tensor.insert_slice %sl into %co[0, 0] [4, 4] [1, 1] {stc.module = "m"} : tensor<4x4xf32> into tensor<8x4xf32>
  %ct = tensor.concat dim(0) %co, %sl {stc.module = "m"} : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<12x4xf32>
  %g:2 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>,
    affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]} ins(%t : tensor<8x4xf32>)
    outs(%re, %re : tensor<8xf32>, tensor<8xf32>) attrs = {stc.module = "m"} {
  ^bb0(%x: f32, %y: f32, %w: f32):
    linalg.yield %x, %x : f32, f32
  } -> (tensor<8xf32>, tensor<8xf32>)
  %q:2 = "linalg.generic"(%t, %re, %re) <{indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>,
    affine_map<(d0, d1) -> (d0)>], iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<reduction>],
    operandSegmentSizes = array<i32: 1, 2>}> ({
  ^bb0(%x: f32, %y: f32, %w: f32):
    "linalg.yield"(%x, %x) : (f32, f32) -> ()
  }) : (tensor<8x4xf32>, tensor<8xf32>, tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
  return %xs : tensor<2x4x4xf32>
}
"""


def through_mlir(text: str) -> str:
    command = [str(optimiser_path()), "-allow-unregistered-dialect", "-"]
    return subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout


def test_every_operation_round_trips_as_mlir_sees_it() -> None:
    printed = print_module(parse_module(OPERATIONS))
    assert through_mlir(printed) == through_mlir(OPERATIONS)
    assert print_module(parse_module(printed)) == printed
    assert print_module(parse_module(through_mlir(OPERATIONS))).count('stc.module = "m"') == OPERATIONS.count(
        'stc.module = "m"'
    )


def test_classes_stay_those_of_xdsl() -> None:
    kinds = {type(op) for op in parse_module(OPERATIONS).walk()}
    assert {ops.GenericOp, ops.ReduceOp, ops.TransposeOp, ops.BroadcastOp, ops.FillOp, ops.MatmulOp} <= kinds


def test_operations_remember_their_place() -> None:
    module = parse_module("func.func @f() {\n  return\n}", "dir/f.mlir")
    places = [source_location(op) for op in module.walk()]
    assert places == [None, "dir/f.mlir:1:1", "dir/f.mlir:2:3"]


@pytest.mark.parametrize("kind", CONTRACTION_OPS)
def test_contractions_carry_maps_iterators_and_a_body(kind: type[NamedOperation]) -> None:
    text = next(line for line in _contractions().splitlines() if f"{kind.name} " in line)
    function = f"func.func @f({_ARGUMENTS}) {{\n{text}\n  return\n}}"
    (op,) = [op for op in parse_module(function).walk() if isinstance(op, kind)]
    maps = op.get_indexing_maps()
    assert len(maps) == 3 and all(entry.data.num_dims == len(op.get_iterator_types()) for entry in maps)
    assert [inner.name for inner in op.body.block.ops] == ["arith.mulf", "arith.addf", "linalg.yield"]
    assert through_mlir(print_module(parse_module(function))) == through_mlir(function)


_ARGUMENTS = "%v: tensor<3xf32>, %m: tensor<3x3xf32>, %b: tensor<2x3x3xf32>, %w: tensor<2x3xf32>, %s: tensor<f32>"


def _contractions() -> str:
    vector, matrix, batch, rows, scalar = (f"tensor<{shape}f32>" for shape in ("3x", "3x3x", "2x3x3x", "2x3x", ""))
    return "\n".join(
        f"  %r = linalg.{name} ins({left[0]}, {right[0]} : {left[1]}, {right[1]}) outs({out[0]} : {out[1]}) -> {out[1]}"
        for name, left, right, out in (
            ("batch_matmul", ("%b", batch), ("%b", batch), ("%b", batch)),
            ("matvec", ("%m", matrix), ("%v", vector), ("%v", vector)),
            ("vecmat", ("%v", vector), ("%m", matrix), ("%v", vector)),
            ("batch_matvec", ("%b", batch), ("%w", rows), ("%w", rows)),
            ("batch_vecmat", ("%w", rows), ("%b", batch), ("%w", rows)),
            ("dot", ("%v", vector), ("%v", vector), ("%s", scalar)),
        )
    )


@pytest.mark.parametrize("kind", POINTWISE_OPS)
def test_pointwise_operations(kind: type[NamedOperation]) -> None:
    element = "i32" if kind.name == "linalg.div_unsigned" else "f32"
    tensor = f"tensor<2x3x{element}>"
    inputs = 2 if kind.name.split(".")[1] in ("div", "div_unsigned", "powf") else 1
    values, types = ", ".join(["%a"] * inputs), ", ".join([tensor] * inputs)
    line = f"%r = {kind.name} ins({values} : {types}) outs(%a : {tensor}) -> {tensor}"
    text = f"func.func @f(%a: {tensor}) {{\n  {line}\n  return\n}}"
    module = parse_module(text)
    (op,) = [op for op in module.walk() if isinstance(op, kind)]
    assert len(op.get_indexing_maps()) == inputs + 1
    assert through_mlir(print_module(module)) == through_mlir(text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("func.func @f() {\n  %a = tensor.empty( : tensor<2xf32>\n}", r"bad\.mlir:2:22: operand expected"),
        ("func.func @f() {\n  foo.bar\n}", r"bad\.mlir:2:3: operation foo\.bar is not registered"),
        ("func.func @f(%a: tensor<2xf33>) {\n  return\n}", r"bad\.mlir:1:\d+: "),
        (
            "func.func @f(%a: tensor<2x3xf32>, %b: tensor<2x3xf32>) {\n"
            "  %0 = linalg.matmul ins(%a, %a : tensor<2x3xf32>, tensor<2x3xf32>) outs(%b : tensor<2x3xf32>) -> tensor<2x3xf32>\n"
            "  return\n}",
            r"bad\.mlir:2:3: 'linalg\.matmul' op inferred input/output operand #1 has shape's dimension #0 to be 3, but found 2",
        ),
        (
            'func.func @f(%a: tensor<2xf32>) {\n  %0 = linalg.generic {indexing_maps = [], iterator_types = ["odd"]} outs(%a : '
            "tensor<2xf32>) {\n  } -> tensor<2xf32>\n  return\n}",
            r"bad\.mlir:2:\d+: unknown iterator type \"odd\"; accepted: parallel, reduction, window",
        ),
        ("func.func @f() {\n  return %a : f32\n}", r"bad\.mlir:2:10: %a is used but not defined"),
        ("", r"bad\.mlir:1:1: expected an operation, found the end of the text"),
        (
            'func.func @f() {\n  %a = arith.constant dense<"0xzz"> : tensor<3xf32>\n}',
            r"bad\.mlir:2:28: not a hexadecimal string of whole bytes: '0xzz'",
        ),
        ("func.func @f() {\n  %a = arith.constant 1.0e39 : f32\n  return\n}", r"bad\.mlir:2:23: 1\.0e39 is out of range"),
        ("func.func @f() {\n  %a = arith.constant 1000000000000.0 : f16\n  return\n}", r"bad\.mlir:2:23: 1000000000000\.0 is out"),
        ("func.func @f() {\n  %a = arith.constant dense<[1.0, 1.0e39]> : tensor<2xf32>\n}", r"bad\.mlir:2:35: 1\.0e39 is out"),
        (
            "func.func @f() {\n  %a = arith.constant dense<1.0> : tensor<1000000000000xf32>\n  return\n}",
            r"bad\.mlir:2:28: dense constant of tensor<1000000000000xf32>, expected a static shape and at most 2147483648 bytes",
        ),
        (
            "func.func @f(%a: tensor<2x2xf32>) {\n"
            "  %0 = linalg.matmul ins(%a : tensor<2x2xf32>) outs(%a : tensor<2x2xf32>) -> tensor<2x2xf32>\n  return\n}",
            r"bad\.mlir:2:22: linalg\.matmul does not take ins\(tensor<2x2xf32>\) outs\(tensor<2x2xf32>\); accepted: 2 inputs and",
        ),
        ("builtin.module {\n" * 5000 + "}\n" * 5000, r"bad\.mlir:65:16: nested more than 64 deep"),
        ("func.func @f(%a: " + "tensor<" * 5000 + "2xf32" + ">" * 5000 + ") {\n  return\n}", r"bad\.mlir:1:\d+: nested more"),
        (
            "func.func @f() attributes {a = affine_map<(d0) -> (d0" + " + d0" * 5000 + ")>} {\n  return\n}",
            r"bad\.mlir:1:\d+: (nested too deep|affine expression with more than 64 operators)",
        ),
        ("func.func @f() { ~ }", r"bad\.mlir:1:18: "),
    ],
)
def test_malformed_text_names_file_line_and_column(text: str, message: str) -> None:
    with pytest.raises(CompileError, match=message):
        parse_module(text, "bad.mlir")


def test_largest_values_of_sizes_nest_nothing() -> None:
    """A decoder layer has more than 64 bounds that say `pos<=255`; `<=` opens no bracket."""
    sizes = "".join(f"  %n{number} = itensor.size sum(pos<=255, 1) of %p\n" for number in range(100))
    module = parse_module("func.func @f(%p: !itensor.symbol<pos<=255>) {\n" + sizes + "  return\n}", "sizes.mlir")
    assert sum(op.name == "itensor.size" for op in module.walk()) == 100
