module {
  func.func @main(%x: tensor<64x512xf32>, %w: tensor<512x512xf32>) -> tensor<64x512xf32> {
    %z = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<64x512xf32>
    %f = linalg.fill ins(%z : f32) outs(%e : tensor<64x512xf32>) -> tensor<64x512xf32>
    %m = linalg.matmul ins(%x, %w : tensor<64x512xf32>, tensor<512x512xf32>) outs(%f : tensor<64x512xf32>) -> tensor<64x512xf32>
    %a = linalg.add ins(%m, %x : tensor<64x512xf32>, tensor<64x512xf32>) outs(%e : tensor<64x512xf32>) -> tensor<64x512xf32>
    return %a : tensor<64x512xf32>
  }
}
