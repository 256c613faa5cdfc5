// p = x * w, then p minus the sum of its row: a fork, and a FIFO that must hold what the sum has to see first.
#all = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
func.func @main(%x: tensor<5x12xf32> {stc.name = "x"}, %w: tensor<12x32xf32> {stc.name = "fc.weight", stc.parameter})
    -> (tensor<5x32xf32> {stc.name = "out"}) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<5x32xf32>
  %r = tensor.empty() : tensor<5xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<5x32xf32>) -> tensor<5x32xf32>
  %p = linalg.matmul {stc.module = "fc"} ins(%x, %w : tensor<5x12xf32>, tensor<12x32xf32>) outs(%f : tensor<5x32xf32>) -> tensor<5x32xf32>
  %g = linalg.fill ins(%zero : f32) outs(%r : tensor<5xf32>) -> tensor<5xf32>
  %s = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]}
      ins(%p : tensor<5x32xf32>) outs(%g : tensor<5xf32>) attrs = {stc.module = "norm"} {
  ^bb0(%entry: f32, %sum: f32):
    %more = arith.addf %sum, %entry : f32
    linalg.yield %more : f32
  } -> tensor<5xf32>
  %y = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel"]}
      ins(%p, %s : tensor<5x32xf32>, tensor<5xf32>) outs(%e : tensor<5x32xf32>) attrs = {stc.module = "norm"} {
  ^bb0(%entry: f32, %sum: f32, %unused: f32):
    %less = arith.subf %entry, %sum : f32
    linalg.yield %less : f32
  } -> tensor<5x32xf32>
  return %y : tensor<5x32xf32>
}
