#id = affine_map<(d0, d1) -> (d0, d1)>
func.func @forward(%x: tensor<6x10xf32> {stc.name = "x"}, %w: tensor<10x96xf32> {stc.name = "fc.weight", stc.parameter})
    -> (tensor<6x96xf32> {stc.name = "y"}) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<6x96xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<6x96xf32>) -> tensor<6x96xf32>
  %y = linalg.matmul ins(%x, %w : tensor<6x10xf32>, tensor<10x96xf32>) outs(%f : tensor<6x96xf32>) -> tensor<6x96xf32>
  %e1 = tensor.empty() : tensor<6x96xf32>
  %z = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%y : tensor<6x96xf32>) outs(%e1 : tensor<6x96xf32>) {
  ^bb0(%in: f32, %out: f32):
    %sq = arith.mulf %in, %in : f32
    linalg.yield %sq : f32
  } -> tensor<6x96xf32>
  return %z : tensor<6x96xf32>
}
