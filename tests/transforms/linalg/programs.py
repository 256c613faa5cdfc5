"""Small tensor programs that between them contain what the linalg passes must keep apart: each is one function @main."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from xdsl.dialects import func
from xdsl.dialects.builtin import Float32Type, ModuleOp, TensorType

from stc.execution.run import execute
from stc.transforms.linalg import LINALG_PASSES, LINALG_STAGE

HERE = Path(__file__).parent
TOLERANCE = 1e-5

PROGRAMS = {
    "odd_matmul_with_bias_as_initial_value": """
func.func @main(%x: tensor<3x7xf32>, %w: tensor<7x5xf32>, %b: tensor<3x5xf32>) -> tensor<3x5xf32> {
  %y = linalg.matmul ins(%x, %w : tensor<3x7xf32>, tensor<7x5xf32>) outs(%b : tensor<3x5xf32>) -> tensor<3x5xf32>
  func.return %y : tensor<3x5xf32>
}""",
    "rank_zero": """
func.func @main(%x: tensor<1x1xf32>, %y: tensor<f32>) -> tensor<1x1xf32> {
  %e = tensor.empty() : tensor<1x1xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> ()>,
      affine_map<(d0, d1) -> (d0, d1)>],
      iterator_types = ["parallel", "parallel"]} ins(%x, %y : tensor<1x1xf32>, tensor<f32>) outs(%e : tensor<1x1xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %s = arith.divf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<1x1xf32>
  func.return %r : tensor<1x1xf32>
}""",
    "unit_reduction_reads_its_initial_value": """
func.func @main(%x: tensor<3x1xf32>, %i: tensor<3xf32>) -> tensor<3xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>],
      iterator_types = ["parallel", "reduction"]} ins(%x : tensor<3x1xf32>) outs(%i : tensor<3xf32>) {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<3xf32>
  func.return %r : tensor<3xf32>
}""",
    "broadcast_left_and_right_with_fan_out_and_reconvergence": """
func.func @main(%x: tensor<4x1xf32>, %y: tensor<1x6xf32>) -> tensor<4x6xf32> {
  %e = tensor.empty() : tensor<4x6xf32>
  %p = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, 0)>, affine_map<(d0, d1) -> (0, d1)>,
      affine_map<(d0, d1) -> (d0, d1)>],
      iterator_types = ["parallel", "parallel"]} ins(%x, %y : tensor<4x1xf32>, tensor<1x6xf32>) outs(%e : tensor<4x6xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %s = arith.subf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<4x6xf32>
  %q = linalg.exp ins(%p : tensor<4x6xf32>) outs(%e : tensor<4x6xf32>) -> tensor<4x6xf32>
  %r = linalg.mul ins(%p, %q : tensor<4x6xf32>, tensor<4x6xf32>) outs(%e : tensor<4x6xf32>) -> tensor<4x6xf32>
  %s = linalg.add ins(%r, %q : tensor<4x6xf32>, tensor<4x6xf32>) outs(%e : tensor<4x6xf32>) -> tensor<4x6xf32>
  func.return %s : tensor<4x6xf32>
}""",
    "square_plus_its_transpose": """
func.func @main(%x: tensor<5x5xf32>) -> tensor<5x5xf32> {
  %e = tensor.empty() : tensor<5x5xf32>
  %p = linalg.exp ins(%x : tensor<5x5xf32>) outs(%e : tensor<5x5xf32>) -> tensor<5x5xf32>
  %t = linalg.transpose ins(%p : tensor<5x5xf32>) outs(%e : tensor<5x5xf32>) permutation = [1, 0]
  %s = linalg.sub ins(%p, %t : tensor<5x5xf32>, tensor<5x5xf32>) outs(%e : tensor<5x5xf32>) -> tensor<5x5xf32>
  func.return %s : tensor<5x5xf32>
}""",
    "transposed_result": """
func.func @main(%x: tensor<2x3x5xf32>) -> tensor<5x2x3xf32> {
  %e = tensor.empty() : tensor<2x3x5xf32>
  %p = linalg.exp ins(%x : tensor<2x3x5xf32>) outs(%e : tensor<2x3x5xf32>) -> tensor<2x3x5xf32>
  %f = tensor.empty() : tensor<5x2x3xf32>
  %t = linalg.transpose ins(%p : tensor<2x3x5xf32>) outs(%f : tensor<5x2x3xf32>) permutation = [2, 0, 1]
  func.return %t : tensor<5x2x3xf32>
}""",
    "sum_of_a_broadcast": """
func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {
  %e = tensor.empty() : tensor<3x4xf32>
  %b = linalg.broadcast ins(%x : tensor<3xf32>) outs(%e : tensor<3x4xf32>) dimensions = [1]
  %z = arith.constant 0.0 : f32
  %f = tensor.empty() : tensor<3xf32>
  %i = linalg.fill ins(%z : f32) outs(%f : tensor<3xf32>) -> tensor<3xf32>
  %r = linalg.reduce ins(%b : tensor<3x4xf32>) outs(%i : tensor<3xf32>) dimensions = [1]
    (%a: f32, %c: f32) { %s = arith.addf %a, %c : f32
      linalg.yield %s : f32 }
  func.return %r : tensor<3xf32>
}""",
    "incompatible_reshape": """
func.func @main(%x: tensor<2x3xf32>) -> tensor<3x2xf32> {
  %e = tensor.empty() : tensor<2x3xf32>
  %p = linalg.exp ins(%x : tensor<2x3xf32>) outs(%e : tensor<2x3xf32>) -> tensor<2x3xf32>
  %c = tensor.collapse_shape %p [[0, 1]] : tensor<2x3xf32> into tensor<6xf32>
  %r = tensor.expand_shape %c [[0, 1]] output_shape [3, 2] : tensor<6xf32> into tensor<3x2xf32>
  %f = tensor.empty() : tensor<3x2xf32>
  %q = linalg.exp ins(%r : tensor<3x2xf32>) outs(%f : tensor<3x2xf32>) -> tensor<3x2xf32>
  func.return %q : tensor<3x2xf32>
}""",
    "refinable_reshape": """
func.func @main(%x: tensor<4x3xf32>) -> tensor<2x6xf32> {
  %e = tensor.empty() : tensor<4x3xf32>
  %p = linalg.exp ins(%x : tensor<4x3xf32>) outs(%e : tensor<4x3xf32>) -> tensor<4x3xf32>
  %c = tensor.collapse_shape %p [[0, 1]] : tensor<4x3xf32> into tensor<12xf32>
  %r = tensor.expand_shape %c [[0, 1]] output_shape [2, 6] : tensor<12xf32> into tensor<2x6xf32>
  %f = tensor.empty() : tensor<2x6xf32>
  %q = linalg.exp ins(%r : tensor<2x6xf32>) outs(%f : tensor<2x6xf32>) -> tensor<2x6xf32>
  func.return %q : tensor<2x6xf32>
}""",
    "unaligned_slice_of_heads": """
func.func @main(%x: tensor<3x10xf32>) -> tensor<3x2x3xf32> {
  %e = tensor.empty() : tensor<3x10xf32>
  %p = linalg.exp ins(%x : tensor<3x10xf32>) outs(%e : tensor<3x10xf32>) -> tensor<3x10xf32>
  %s = tensor.extract_slice %p[0, 1] [3, 6] [1, 1] : tensor<3x10xf32> to tensor<3x6xf32>
  %h = tensor.expand_shape %s [[0], [1, 2]] output_shape [3, 2, 3] : tensor<3x6xf32> into tensor<3x2x3xf32>
  %f = tensor.empty() : tensor<3x2x3xf32>
  %q = linalg.exp ins(%h : tensor<3x2x3xf32>) outs(%f : tensor<3x2x3xf32>) -> tensor<3x2x3xf32>
  func.return %q : tensor<3x2x3xf32>
}""",
    "index_of_a_split_and_a_dropped_loop": """
func.func @main(%x: tensor<1x6xf32>) -> tensor<2x3xf32> {
  %e = tensor.empty() : tensor<1x6xf32>
  %p = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>],
      iterator_types = ["parallel", "parallel"]} ins(%x : tensor<1x6xf32>) outs(%e : tensor<1x6xf32>) {
  ^bb0(%a: f32, %c: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %k = arith.addi %i, %j : index
    %l = arith.index_cast %k : index to i64
    %m = arith.sitofp %l : i64 to f32
    %s = arith.mulf %a, %m : f32
    linalg.yield %s : f32
  } -> tensor<1x6xf32>
  %c = tensor.collapse_shape %p [[0, 1]] : tensor<1x6xf32> into tensor<6xf32>
  %r = tensor.expand_shape %c [[0, 1]] output_shape [2, 3] : tensor<6xf32> into tensor<2x3xf32>
  %f = tensor.empty() : tensor<2x3xf32>
  %q = linalg.exp ins(%r : tensor<2x3xf32>) outs(%f : tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %q : tensor<2x3xf32>
}""",
    "dense_constants": """
func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %c = arith.constant dense<[[1.0, -2.0, 3.5]]> : tensor<1x3xf32>
  %two = arith.constant dense<2.0> : tensor<f32>
  %e = tensor.empty() : tensor<2x3xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (0, d1)>,
      affine_map<(d0, d1) -> ()>,
      affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
      ins(%x, %c, %two : tensor<2x3xf32>, tensor<1x3xf32>, tensor<f32>) outs(%e : tensor<2x3xf32>) {
  ^bb0(%a: f32, %b: f32, %p: f32, %o: f32):
    %s = arith.mulf %a, %b : f32
    %t = math.powf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<2x3xf32>
  func.return %r : tensor<2x3xf32>
}""",
    "maximum_with_position_in_use": """
func.func @main(%x: tensor<3x5xf32>) -> (tensor<3xf32>, tensor<3xi64>) {
  %m = arith.constant 0xFF800000 : f32
  %z = arith.constant 0 : i64
  %e = tensor.empty() : tensor<3xf32>
  %g = tensor.empty() : tensor<3xi64>
  %f = linalg.fill ins(%m : f32) outs(%e : tensor<3xf32>) -> tensor<3xf32>
  %i = linalg.fill ins(%z : i64) outs(%g : tensor<3xi64>) -> tensor<3xi64>
  %r:2 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>,
      affine_map<(d0, d1) -> (d0)>],
      iterator_types = ["parallel", "reduction"]} ins(%x : tensor<3x5xf32>) outs(%f, %i : tensor<3xf32>, tensor<3xi64>) {
  ^bb0(%a: f32, %b: f32, %c: i64):
    %n = linalg.index 1 : index
    %o = arith.index_cast %n : index to i64
    %p = arith.maximumf %a, %b : f32
    %q = arith.cmpf ogt, %a, %b : f32
    %s = arith.select %q, %o, %c : i64
    linalg.yield %p, %s : f32, i64
  } -> (tensor<3xf32>, tensor<3xi64>)
  func.return %r#0, %r#1 : tensor<3xf32>, tensor<3xi64>
}""",
    "concatenation_of_split_heads": """
func.func @main(%x: tensor<3x4xf32>, %y: tensor<3x6xf32>) -> tensor<3x10xf32> {
  %e = tensor.empty() : tensor<3x4xf32>
  %p = linalg.exp ins(%x : tensor<3x4xf32>) outs(%e : tensor<3x4xf32>) -> tensor<3x4xf32>
  %c = tensor.concat dim(1) %p, %y : (tensor<3x4xf32>, tensor<3x6xf32>) -> tensor<3x10xf32>
  %h = tensor.expand_shape %c [[0], [1, 2]] output_shape [3, 5, 2] : tensor<3x10xf32> into tensor<3x5x2xf32>
  %f = tensor.empty() : tensor<3x5x2xf32>
  %q = linalg.exp ins(%h : tensor<3x5x2xf32>) outs(%f : tensor<3x5x2xf32>) -> tensor<3x5x2xf32>
  %r = tensor.collapse_shape %q [[0], [1, 2]] : tensor<3x5x2xf32> into tensor<3x10xf32>
  func.return %r : tensor<3x10xf32>
}""",
    "same_result_twice_and_an_argument": """
func.func @main(%x: tensor<1x3xf32>) -> (tensor<1x3xf32>, tensor<1x3xf32>, tensor<1x3xf32>) {
  %e = tensor.empty() : tensor<1x3xf32>
  %p = linalg.exp ins(%x : tensor<1x3xf32>) outs(%e : tensor<1x3xf32>) -> tensor<1x3xf32>
  func.return %p, %x, %p : tensor<1x3xf32>, tensor<1x3xf32>, tensor<1x3xf32>
}""",
    "double_precision_inside": """
func.func @main(%x: tensor<4x3xf32>) -> tensor<4xf32> {
  %z = arith.constant 0.0 : f64
  %n = arith.constant 3.0 : f64
  %e = tensor.empty() : tensor<4x3xf64>
  %d = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>],
      iterator_types = ["parallel", "parallel"]} ins(%x : tensor<4x3xf32>) outs(%e : tensor<4x3xf64>) {
  ^bb0(%a: f32, %b: f64):
    %w = arith.extf %a : f32 to f64
    linalg.yield %w : f64
  } -> tensor<4x3xf64>
  %g = tensor.empty() : tensor<4xf64>
  %f = linalg.fill ins(%z : f64) outs(%g : tensor<4xf64>) -> tensor<4xf64>
  %s = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>],
      iterator_types = ["parallel", "reduction"]} ins(%d : tensor<4x3xf64>) outs(%f : tensor<4xf64>) {
  ^bb0(%a: f64, %b: f64):
    %w = arith.addf %a, %b : f64
    linalg.yield %w : f64
  } -> tensor<4xf64>
  %h = tensor.empty() : tensor<4xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%s : tensor<4xf64>) outs(%h : tensor<4xf32>) {
  ^bb0(%a: f64, %b: f32):
    %w = arith.divf %a, %n : f64
    %v = arith.truncf %w : f64 to f32
    linalg.yield %v : f32
  } -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}""",
}

FILES = {"gpt2_tiny": HERE / "gpt2_tiny.mlir", "grouped_attention": HERE / "grouped_attention.mlir"}


def source(name: str) -> str:
    """The text of a program by name."""
    return FILES[name].read_text() if name in FILES else PROGRAMS[name]


def main_of(module: ModuleOp) -> func.FuncOp:
    return next(op for op in module.walk() if isinstance(op, func.FuncOp))


def random_inputs(function: func.FuncOp, seed: int = 0) -> list[np.ndarray]:
    """Random arguments, masks with true -inf above the diagonal, gains around 1."""
    random = np.random.default_rng(seed)
    return [_random_input(argument.type, random) for argument in function.body.block.args]


def _random_input(kind: object, random: np.random.Generator) -> np.ndarray:
    assert isinstance(kind, TensorType) and isinstance(kind.element_type, Float32Type)
    shape = kind.get_shape()
    if len(shape) == 4 and shape[-1] == shape[-2]:
        return np.where(np.triu(np.ones(shape, bool), 1), -np.inf, 0.0).astype(np.float32)
    scale = 1 / np.sqrt(shape[0]) if len(shape) == 2 else 1
    return np.asarray(random.standard_normal(shape) * scale + (0.5 if len(shape) < 2 else 0), np.float32)


def outputs(module: ModuleOp) -> list[np.ndarray]:
    """The program's results on the standard inputs."""
    function = main_of(module)
    return execute(function, random_inputs(function))


def difference(expected: list[np.ndarray], found: list[np.ndarray]) -> float:
    """The largest error relative to the largest magnitude of the result concerned."""
    worst = 0.0
    for left, right in zip(expected, found, strict=True):
        assert left.shape == right.shape and left.dtype == right.dtype
        scale = max(float(np.abs(left).max()), float(np.finfo(np.float32).tiny))
        worst = max(worst, float(np.abs(left.astype(np.float64) - right.astype(np.float64)).max()) / scale)
    return worst


def run_stage(module: ModuleOp, names: tuple[str, ...] = LINALG_STAGE) -> None:
    """Run passes of the stage in order and verify."""
    from stc.dialects.context import make_context

    for name in names:
        LINALG_PASSES[name]()().apply(make_context(), module)
        module.verify()
