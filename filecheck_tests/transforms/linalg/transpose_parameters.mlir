// RUN: stc-opt %s -p 'transpose-operands{parameters-only=true}' | filecheck %s

// %k is computed: to transpose it would take a buffer, though each of its entries is used 32 times.
// SHOW: linalg.generic .*ins\(.*? : ...|return
#x = affine_map<(d0, d1, d2) -> (d0, d2)>
#w = affine_map<(d0, d1, d2) -> (d1, d2)>
#y = affine_map<(d0, d1, d2) -> (d0, d1)>
func.func @scores(%q: tensor<32x4xf32>, %k: tensor<6x4xf32>, %z: tensor<32x6xf32>) -> tensor<32x6xf32> {
  %y = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "reduction"]} ins(%q, %k : tensor<32x4xf32>, tensor<6x4xf32>) outs(%z : tensor<32x6xf32>) {
  ^bb0(%a: f32, %c: f32, %s: f32):  %p = arith.mulf %a, %c : f32  %t = arith.addf %s, %p : f32  linalg.yield %t : f32
  } -> tensor<32x6xf32>
  return %y : tensor<32x6xf32>
}

// CHECK: #map = affine_map<(d0, d1, d2) -> (d0, d2)>
// CHECK: #map1 = affine_map<(d0, d1, d2) -> (d1, d2)>
// CHECK: #map2 = affine_map<(d0, d1, d2) -> (d0, d1)>
// CHECK-LABEL: func.func @scores(
// CHECK-NEXT: %y = linalg.generic {indexing_maps = [#map, #map1, #map2], iterator_types = ["parallel", "parallel", "reduction"]} ins(%q, %k :
// CHECK: func.return %y : tensor<32x6xf32>
