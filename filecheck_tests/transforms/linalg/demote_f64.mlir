// RUN: stc-opt %s -p demote-f64 --split-input-file | filecheck %s

func.func @variance(%x: tensor<4x3xf32>) -> tensor<4x3xf32> {
  %eps = arith.constant 1.000000e-05 : f64
  %0 = tensor.empty() : tensor<4x3xf64>
  %1 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<4x3xf32>) outs(%0 : tensor<4x3xf64>) {
  ^bb0(%a: f32, %b: f64):  %e = arith.extf %a : f32 to f64  linalg.yield %e : f64
  } -> tensor<4x3xf64>
  %2 = tensor.empty() : tensor<4x3xf32>
  %3 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%1 : tensor<4x3xf64>) outs(%2 : tensor<4x3xf32>) {
  ^bb0(%a: f64, %b: f32):  %s = arith.addf %a, %eps : f64  %t = arith.truncf %s : f64 to f32  linalg.yield %t : f32
  } -> tensor<4x3xf32>
  func.return %3 : tensor<4x3xf32>
}

// CHECK: #map = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-LABEL: func.func @variance(
// CHECK-NEXT: %eps = arith.constant 1.000000e-05 : f32
// CHECK-NEXT: %[[EMPTY:.*]] = tensor.empty() : tensor<4x3xf32>
// CHECK-NEXT: %[[GENERIC:.*]] = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<4x3xf32>) outs(%[[EMPTY]] : tensor<4x3xf32>) {
// CHECK-NEXT: ^bb0(%a: f32, %b: f32):
// CHECK-NEXT: %s = arith.addf %a, %eps : f32
// CHECK-NEXT: linalg.yield %s : f32
// CHECK: func.return %[[GENERIC]] : tensor<4x3xf32>

// -----

// Other widths keep their casts, from and to f32 now.
func.func @half(%x: f16) -> f16 {
  %half = arith.constant 5.000000e-01 : f64
  %e = arith.extf %x : f16 to f64
  %m = arith.mulf %e, %half : f64
  %t = arith.truncf %m : f64 to f16
  func.return %t : f16
}

// CHECK-LABEL: func.func @half(
// CHECK-NEXT: %half = arith.constant 5.000000e-01 : f32
// CHECK-NEXT: %e = arith.extf %x : f16 to f32
// CHECK-NEXT: %m = arith.mulf %e, %half : f32
// CHECK-NEXT: %t = arith.truncf %m : f32 to f16
// CHECK-NEXT: func.return %t : f16
