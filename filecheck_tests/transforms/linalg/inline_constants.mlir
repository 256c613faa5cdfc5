// RUN: stc-opt %s -p inline-constants --split-input-file | filecheck %s

func.func @scalar_and_splat(%x: tensor<5xf32>) -> tensor<5xf32> {
  %two = arith.constant 2.000000e+00 : f32
  %three = arith.constant dense<3.000000e+00> : tensor<f32>
  %four = arith.constant dense<4.000000e+00> : tensor<5xf32>
  %0 = tensor.empty() : tensor<5xf32>
  %1 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%x, %three, %four : tensor<5xf32>, tensor<f32>, tensor<5xf32>) outs(%0 : tensor<5xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    %q = arith.addf %p, %c : f32
    %r = arith.divf %q, %two : f32
    linalg.yield %r : f32
  } -> tensor<5xf32>
  func.return %1 : tensor<5xf32>
}

// CHECK: #map = affine_map<(d0) -> (d0)>
// CHECK-LABEL: func.func @scalar_and_splat(
// CHECK-NEXT: %[[EMPTY:.*]] = tensor.empty() : tensor<5xf32>
// CHECK-NEXT: %[[GENERIC:.*]] = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%x : tensor<5xf32>) outs(%[[EMPTY]] : tensor<5xf32>) {
// CHECK-NEXT: ^bb0(%a: f32, %o: f32):
// CHECK-NEXT: %c = arith.constant 4.000000e+00 : f32
// CHECK-NEXT: %b = arith.constant 3.000000e+00 : f32
// CHECK-NEXT: %[[CONSTANT:.*]] = arith.constant 2.000000e+00 : f32
// CHECK-NEXT: %p = arith.mulf %a, %b : f32
// CHECK-NEXT: %q = arith.addf %p, %c : f32
// CHECK-NEXT: %r = arith.divf %q, %[[CONSTANT]] : f32
// CHECK-NEXT: linalg.yield %r : f32
// CHECK: func.return %[[GENERIC]] : tensor<5xf32>

// -----

// Constants with different entries stay tensors.
func.func @table(%x: tensor<2xf32>) -> tensor<2xf32> {
  %t = arith.constant dense<[1.000000e+00, 0xFF800000]> : tensor<2xf32>
  %0 = tensor.empty() : tensor<2xf32>
  %1 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%x, %t : tensor<2xf32>, tensor<2xf32>) outs(%0 : tensor<2xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):  %p = arith.addf %a, %b : f32  linalg.yield %p : f32
  } -> tensor<2xf32>
  func.return %1 : tensor<2xf32>
}

// CHECK: #map = affine_map<(d0) -> (d0)>
// CHECK-LABEL: func.func @table(
// CHECK-NEXT: %t = arith.constant dense<[1.000000e+00, 0xFF800000]> : tensor<2xf32>
// CHECK-NEXT: %[[EMPTY:.*]] = tensor.empty() : tensor<2xf32>
// CHECK-NEXT: %[[GENERIC:.*]] = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel"]} ins(%x, %t : tensor<2xf32>, tensor<2xf32>) outs(%[[EMPTY]] : tensor<2xf32>) {
// CHECK-NEXT: ^bb0(%a: f32, %b: f32, %o: f32):
// CHECK-NEXT: %p = arith.addf %a, %b : f32
// CHECK-NEXT: linalg.yield %p : f32
// CHECK: func.return %[[GENERIC]] : tensor<2xf32>
