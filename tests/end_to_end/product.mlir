#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
func.func @forward(%x: tensor<6x5xf32> {stc.name = "x"}, %w: tensor<5x7xf32> {stc.name = "fc.weight", stc.parameter})
    -> (tensor<6x7xf32> {stc.name = "y"}, tensor<6xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<6x7xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<6x7xf32>) -> tensor<6x7xf32>
  %y = linalg.matmul ins(%x, %w : tensor<6x5xf32>, tensor<5x7xf32>) outs(%f : tensor<6x7xf32>) -> tensor<6x7xf32>
  %e1 = tensor.empty() : tensor<6xf32>
  %f1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<6xf32>) -> tensor<6xf32>
  %s = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%y : tensor<6x7xf32>) outs(%f1 : tensor<6xf32>) {
  ^bb0(%in: f32, %out: f32):
    %sq = arith.mulf %in, %in : f32
    %a = arith.addf %sq, %out : f32
    linalg.yield %a : f32
  } -> tensor<6xf32>
  return %y, %s : tensor<6x7xf32>, tensor<6xf32>
}
