// A layer, relu(x w + b), that returns what the next one takes.
#rows = affine_map<(d0, d1) -> (d0, d1)>
#columns = affine_map<(d0, d1) -> (d1)>
func.func @main(%x: tensor<2x32xf32> {stc.name = "x"}, %w: tensor<32x32xf32> {stc.name = "w", stc.parameter},
    %b: tensor<32xf32> {stc.name = "b", stc.parameter}) -> (tensor<2x32xf32> {stc.name = "y"}) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x32xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<2x32xf32>) -> tensor<2x32xf32>
  %p = linalg.matmul ins(%x, %w : tensor<2x32xf32>, tensor<32x32xf32>) outs(%f : tensor<2x32xf32>) -> tensor<2x32xf32>
  %r = linalg.generic {indexing_maps = [#rows, #columns, #rows], iterator_types = ["parallel", "parallel"]}
      ins(%p, %b : tensor<2x32xf32>, tensor<32xf32>) outs(%e : tensor<2x32xf32>) {
  ^bb0(%a: f32, %c: f32, %o: f32):
    %s = arith.addf %a, %c : f32
    %m = arith.maximumf %s, %zero : f32
    linalg.yield %m : f32
  } -> tensor<2x32xf32>
  return %r : tensor<2x32xf32>
}
