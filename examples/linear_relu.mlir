// relu(x * w + b), 8 x 12 by 12 x 16: linalg on tensors, as torch-mlir would give it.
#rows = affine_map<(d0, d1) -> (d0, d1)>
#bias = affine_map<(d0, d1) -> (d1)>
func.func @main(%x: tensor<8x12xf32> {stc.name = "x"},
                %w: tensor<12x16xf32> {stc.name = "fc.weight", stc.parameter},
                %b: tensor<16xf32> {stc.name = "fc.bias", stc.parameter}) -> (tensor<8x16xf32> {stc.name = "out"}) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x16xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<8x16xf32>) -> tensor<8x16xf32>
  %p = linalg.matmul {stc.module = "fc"} ins(%x, %w : tensor<8x12xf32>, tensor<12x16xf32>) outs(%f : tensor<8x16xf32>) -> tensor<8x16xf32>
  %y = linalg.generic {indexing_maps = [#rows, #bias, #rows], iterator_types = ["parallel", "parallel"]}
      ins(%p, %b : tensor<8x16xf32>, tensor<16xf32>) outs(%e : tensor<8x16xf32>) attrs = {stc.module = "act"} {
  ^bb0(%product: f32, %offset: f32, %unused: f32):
    %sum = arith.addf %product, %offset : f32
    %relu = arith.maximumf %sum, %zero : f32
    linalg.yield %relu : f32
  } -> tensor<8x16xf32>
  return %y : tensor<8x16xf32>
}
