// RUN: stc-opt %s -p 'quantize-linear{format="except=mlp.fx"}' --split-input-file --verify-diagnostics

// A path that names no layer of the module is refused, with near ones.
// expected-error @unknown {{--quantize: no linear layer is called 'mlp.fx', did you mean 'mlp.fc'?; accepted: head.fc, mlp.fc}}
#maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
func.func @excepted(%x: tensor<5x4xf32>, %w: tensor<3x4xf32> {stc.parameter}, %v: tensor<3x4xf32> {stc.parameter})
    -> (tensor<5x3xf32>, tensor<5x3xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<5x3xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<5x3xf32>) -> tensor<5x3xf32>
  %y = linalg.generic {indexing_maps = #maps, iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<5x4xf32>, tensor<3x4xf32>) outs(%f : tensor<5x3xf32>) attrs = {stc.module = "head.fc"} {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b : f32  %t = arith.addf %s, %p : f32  linalg.yield %t : f32
  } -> tensor<5x3xf32>
  %z = linalg.generic {indexing_maps = #maps, iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %v : tensor<5x4xf32>, tensor<3x4xf32>) outs(%f : tensor<5x3xf32>) attrs = {stc.module = "mlp.fc"} {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b : f32  %t = arith.addf %s, %p : f32  linalg.yield %t : f32
  } -> tensor<5x3xf32>
  return %y, %z : tensor<5x3xf32>, tensor<5x3xf32>
}
