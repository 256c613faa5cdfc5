// RUN: stc-opt %s -p 'split-slices{budget="dsp=10,ports=4"}' --split-input-file | filecheck %s

// Results and inputs have a port each, and the second half of the weights would need a fifth: the whole stays.
// SHOW: extract_slice|linalg.generic .*ins\(.*? : ...|return
#x = affine_map<(d0, d1, d2) -> (d0, d2)>
#w = affine_map<(d0, d1, d2) -> (d2, d1)>
#y = affine_map<(d0, d1, d2) -> (d0, d1)>
func.func @too_few_ports(%x: tensor<4x8xf32>, %w: tensor<8x4xf32>) -> (tensor<4x2xf32>, tensor<4x2xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x4xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<4x4xf32>) -> tensor<4x4xf32>
  %p = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<4x8xf32>, tensor<8x4xf32>) outs(%z : tensor<4x4xf32>) attrs = {stc.name = "proj"} {
  ^bb0(%a: f32, %c: f32, %s: f32):
    %m = arith.mulf %a, %c : f32
    %t = arith.addf %s, %m : f32
    linalg.yield %t : f32
  } -> tensor<4x4xf32>
  %q = tensor.extract_slice %p[0, 0] [4, 2] [1, 1] : tensor<4x4xf32> to tensor<4x2xf32>
  %k = tensor.extract_slice %p[0, 2] [4, 2] [1, 1] : tensor<4x4xf32> to tensor<4x2xf32>
  func.return %q, %k : tensor<4x2xf32>, tensor<4x2xf32>
}

// CHECK: #map = affine_map<(d0, d1, d2) -> (d0, d2)>
// CHECK: #map1 = affine_map<(d0, d1, d2) -> (d2, d1)>
// CHECK: #map2 = affine_map<(d0, d1, d2) -> (d0, d1)>
// CHECK-LABEL: func.func @too_few_ports(
// CHECK: %p = linalg.generic {indexing_maps = [#map, #map1, #map2], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w :
// CHECK: %q = tensor.extract_slice %p[0, 0] [4, 2] [1, 1] : tensor<4x4xf32> to tensor<4x2xf32>
// CHECK-NEXT: %k = tensor.extract_slice %p[0, 2] [4, 2] [1, 1] : tensor<4x4xf32> to tensor<4x2xf32>
// CHECK-NEXT: func.return %q, %k : tensor<4x2xf32>, tensor<4x2xf32>
